// SPDX-License-Identifier: MIT
/* gtu bench ioctl: one operation for each ioctl that no other operation measures. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "libruntime/device/backend.h"
#include "bench_ioctl.h"
#include "uapi/gtu/gtu.h"

#define PAGE		4096u
#define WAIT_MS		10000
#define FAR_AWAY	0x40000000u	/* completions ahead: never reached */

static int call(struct work *w, unsigned long request, void *arg, const char *what, struct gtu_error *err)
{
	return raw_ioctl(&w->b->raw, request, arg, what, err);
}

static int reg_read(struct work *w, struct gtu_error *err)
{
	struct gtu_ioctl_reg reg = { .size = sizeof(reg), .offset = GTU_REG_MAGIC };

	return call(w, GTU_IOCTL_REG_READ, &reg, "REG_READ", err);
}

static int reg_write(struct work *w, struct gtu_error *err)
{
	struct gtu_ioctl_reg reg = { .size = sizeof(reg), .offset = GTU_PAGE_SCU + GTU_UREG_CTRL, .value = GTU_CTRL_SNAPSHOT };

	return call(w, GTU_IOCTL_REG_WRITE, &reg, "REG_WRITE", err);
}

static int page(struct work *w, struct gtu_error *err)
{
	if (posix_memalign(&w->page, PAGE, PAGE))
		return gtu_fail(err, GTU_ERR_NOMEM, "no memory for a page");
	memset(w->page, 1, PAGE);
	return 0;
}

static int region_add(struct work *w, struct gtu_error *err)
{
	struct gtu_ioctl_region_add add = {
		.size = sizeof(add), .addr = (uintptr_t)w->page, .length = PAGE, .rights = GTU_RIGHT_READ,
	};
	int rc = call(w, GTU_IOCTL_REGION_ADD, &add, "REGION_ADD", err);

	w->key = add.key;
	return rc;
}

static int buffer_export(struct work *w, struct gtu_error *err)
{
	struct gtu_ioctl_buffer_export e = { .size = sizeof(e), .flags = O_CLOEXEC, .key = w->key, .rights = GTU_RIGHT_READ };
	int rc = call(w, GTU_IOCTL_BUFFER_EXPORT, &e, "BUFFER_EXPORT", err);

	if (!rc)
		w->dmabuf = e.fd;
	return rc;
}

static int close_dmabuf(struct work *w, struct gtu_error *err)
{
	(void)err;
	close(w->dmabuf);
	w->dmabuf = -1;
	return 0;
}

static int exported(struct work *w, struct gtu_error *err)
{
	int rc = work_buffer(w, err);

	if (!rc)
		rc = buffer_export(w, err);
	/* the dma-buf keeps the pages */
	return rc ? rc : work_remove(w, err);
}

static int region_import(struct work *w, struct gtu_error *err)
{
	struct gtu_ioctl_region_import i = { .size = sizeof(i), .fd = w->dmabuf, .rights = GTU_RIGHT_READ };
	int rc = call(w, GTU_IOCTL_REGION_IMPORT, &i, "REGION_IMPORT", err);

	w->key = i.key;
	return rc;
}

static int queue_create(struct work *w, struct gtu_error *err)
{
	struct gtu_ioctl_queue_create c = { .size = sizeof(c), .sq_log2 = 8, .cq_log2 = 8 };
	int rc = call(w, GTU_IOCTL_QUEUE_CREATE, &c, "QUEUE_CREATE", err);

	w->q.id = c.id;
	return rc;
}

static int queue_call(struct work *w, unsigned long request, const char *what, struct gtu_error *err)
{
	struct gtu_ioctl_queue q = { .size = sizeof(q), .id = w->q.id };

	return call(w, request, &q, what, err);
}

static int queue_destroy(struct work *w, struct gtu_error *err)
{
	return queue_call(w, GTU_IOCTL_QUEUE_DESTROY, "QUEUE_DESTROY", err);
}

static int queue_reset(struct work *w, struct gtu_error *err)
{
	return queue_call(w, GTU_IOCTL_QUEUE_RESET, "QUEUE_RESET", err);
}

static int queue_cancel(struct work *w, struct gtu_error *err)
{
	struct gtu_ioctl_queue_cancel c = { .size = sizeof(c), .flags = GTU_CANCEL_ALL, .id = w->q.id };

	return call(w, GTU_IOCTL_QUEUE_CANCEL, &c, "QUEUE_CANCEL", err);
}

static int with_eventfd(struct work *w, struct gtu_error *err)
{
	int rc = work_checked_queue(w, err);

	w->eventfd = rc ? -1 : eventfd(0, EFD_CLOEXEC);
	return rc || w->eventfd >= 0 ? rc : gtu_fail(err, GTU_ERR_FAIL, "cannot create an eventfd: %s", strerror(errno));
}

static int queue_eventfd(struct work *w, struct gtu_error *err)
{
	struct gtu_ioctl_queue_eventfd e = { .size = sizeof(e), .id = w->q.id, .fd = w->eventfd };

	return call(w, GTU_IOCTL_QUEUE_EVENTFD, &e, "QUEUE_EVENTFD", err);
}

static int queue_arm(struct work *w, struct gtu_error *err)
{
	struct gtu_ioctl_queue_arm a = { .size = sizeof(a), .id = w->q.id, .index = w->q.head + FAR_AWAY };

	return call(w, GTU_IOCTL_QUEUE_ARM, &a, "QUEUE_ARM", err);
}

static int submit_arm(struct work *w, struct gtu_error *err)
{
	return raw_submit_flags(&w->q, GTU_SUBMIT_ARM, err);
}

static int armed_eventfd(struct work *w, struct gtu_error *err)
{
	int rc = with_eventfd(w, err);

	return rc ? rc : queue_eventfd(w, err);
}

static int trip_submit_arm(struct work *w, struct gtu_error *err)
{
	uint64_t count;
	int rc = raw_submit_flags(&w->q, GTU_SUBMIT_ARM, err);

	if (rc)
		return rc;
	w->b->raw.calls++;
	if (read(w->eventfd, &count, sizeof(count)) != sizeof(count))
		return gtu_fail(err, GTU_ERR_FAIL, "cannot read an eventfd: %s", strerror(errno));
	return raw_spin(&w->q, err);
}

static int done_job(struct work *w, struct gtu_error *err)
{
	int rc = work_plain_queue(w, err);

	if (!rc)
		rc = raw_submit(&w->q, 1, err);
	return rc ? rc : raw_spin(&w->q, err);
}

static int wait_done(struct work *w, struct gtu_error *err)
{
	struct gtu_ioctl_wait wait = { .size = sizeof(wait), .id = w->q.id, .index = w->q.head - 1 };

	return call(w, GTU_IOCTL_WAIT, &wait, "WAIT", err);
}

static int two_queues(struct work *w, struct gtu_error *err)
{
	int rc = work_plain_queue(w, err);

	return rc ? rc : raw_queue_create(&w->b->raw, false, &w->other, err);
}

static int submit_and_wait_any(struct work *w, struct gtu_error *err)
{
	struct gtu_wait_entry entry[] = { { .id = w->other.id, .index = w->other.head }, { .id = w->q.id, .index = w->q.head } };
	struct gtu_ioctl_wait_any any = {
		.size = sizeof(any), .entries = (uintptr_t)entry, .count = 2, .deadline_ns = gtu_now_ns() + WAIT_MS * 1000000ull,
	};
	int rc = raw_submit(&w->q, 1, err);

	if (!rc)
		rc = call(w, GTU_IOCTL_WAIT_ANY, &any, "WAIT_ANY", err);
	return rc ? rc : raw_spin(&w->q, err);
}

const struct operation ioctl_calls[] = {
	{ "reg_read", "ioctl(REG_READ) of an identity register", true, NULL, reg_read, NULL, NULL },
	{ "reg_write", "ioctl(REG_WRITE): a unit's SNAPSHOT", true, NULL, reg_write, NULL, NULL },
	{ "region_add", "ioctl(REGION_ADD) of a page", true, page, region_add, work_remove, NULL },
	{ "region_remove", "ioctl(REGION_REMOVE) of a page", true, page, work_remove, NULL, region_add },
	{ "buffer_alloc", "ioctl(BUFFER_ALLOC) of 2 MiB", true, NULL, work_buffer, work_remove, NULL },
	{ "buffer_export", "ioctl(BUFFER_EXPORT) of 2 MiB", true, work_buffer, buffer_export, close_dmabuf, NULL },
	{ "region_import", "ioctl(REGION_IMPORT) of 2 MiB", true, exported, region_import, work_remove, NULL },
	{ "queue_create", "ioctl(QUEUE_CREATE)", true, NULL, queue_create, queue_destroy, NULL },
	{ "queue_destroy", "ioctl(QUEUE_DESTROY)", true, NULL, queue_destroy, NULL, queue_create },
	{ "queue_reset", "ioctl(QUEUE_RESET) of an idle queue", true, work_plain_queue, queue_reset, NULL, NULL },
	{ "queue_cancel", "ioctl(QUEUE_CANCEL) of an idle queue", true, work_plain_queue, queue_cancel, NULL, NULL },
	{ "queue_eventfd", "ioctl(QUEUE_EVENTFD)", true, with_eventfd, queue_eventfd, NULL, NULL },
	{ "queue_arm", "ioctl(QUEUE_ARM) for a later completion", true, work_checked_queue, queue_arm, NULL, NULL },
	{ "submit_arm", "one job by ioctl(SUBMIT) with ARM", true, work_checked_queue, submit_arm, work_spin, NULL },
	{ "wait_done", "ioctl(WAIT) for a completion that is written", true, done_job, wait_done, NULL, NULL },
	{ "trip_wait_any", "doorbell, then ioctl(WAIT_ANY) for two queues", true, two_queues, submit_and_wait_any, NULL, NULL },
	{ "trip_submit_arm", "ioctl(SUBMIT) with ARM, then read() of an eventfd", true, armed_eventfd, trip_submit_arm, NULL,
	  NULL },
};
const unsigned ioctl_calls_count = sizeof(ioctl_calls) / sizeof(ioctl_calls[0]);
