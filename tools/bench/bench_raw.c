// SPDX-License-Identifier: MIT
/* Drives queues of the driver directly, without the library, to measure the driver alone. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "libruntime/support/advice.h"
#include "libruntime/support/clock.h"
#include "bench_ioctl.h"
#include "uapi/gtu/gtu.h"

#define RING_LOG2	8u
#define SPIN_LIMIT_S	10

int raw_open(struct raw_device *d, const char *path, struct gtu_error *err)
{
	d->path = path;
	d->fd = open(path, O_RDWR | O_CLOEXEC);
	d->calls++;
	if (d->fd < 0)
		return gtu_fail(err, GTU_ERR_FAIL, "cannot open %s: %s", path, strerror(errno));
	return 0;
}

void raw_close(struct raw_device *d)
{
	if (d->fd >= 0)
		close(d->fd);
	d->calls++;
	d->fd = -1;
}

int raw_ioctl(struct raw_device *d, unsigned long request, void *arg, const char *what, struct gtu_error *err)
{
	d->calls++;
	if (!ioctl(d->fd, request, arg))
		return 0;
	switch (errno) {
	case ENOTTY:
	case EOPNOTSUPP:
		return gtu_fail(err, GTU_ERR_UNSUPPORTED, "the driver of %s or the device does not support: %s", d->path, what);
	case EPERM:
		return gtu_fail(err, GTU_ERR_UNSUPPORTED, "%s needs a privilege that this process lacks", what);
	case ENODEV:
		return gtu_advise_removed(d->path, err);
	case ETIMEDOUT:
		return gtu_advise_timeout(d->path, SPIN_LIMIT_S, err);
	}
	return gtu_fail(err, GTU_ERR_FAIL, "%s: %s: %s", d->path, what, strerror(errno));
}

static void *map(struct raw_device *d, uint64_t bytes, uint64_t offset, int rights)
{
	void *at = bytes ? mmap(NULL, bytes, rights, MAP_SHARED, d->fd, (off_t)offset) : NULL;

	return at == MAP_FAILED ? NULL : at;
}

int raw_queue_create(struct raw_device *d, bool checked, struct raw_queue *q, struct gtu_error *err)
{
	struct gtu_ioctl_queue_create c = {
		.size = sizeof(c), .sq_log2 = RING_LOG2, .cq_log2 = RING_LOG2,
		.flags = checked ? GTU_QUEUE_SUBMIT : 0,
	};
	int rc = raw_ioctl(d, GTU_IOCTL_QUEUE_CREATE, &c,
			    checked ? "queue that takes jobs by ioctl (SUBMIT)" : "queue", err);

	if (rc)
		return rc;
	*q = (struct raw_queue){
		.device = d, .id = c.id, .sq_log2 = RING_LOG2, .cq_log2 = RING_LOG2, .checked = checked,
		.sq_bytes = c.sq_bytes, .cq_bytes = c.cq_bytes, .db_bytes = c.db_bytes,
	};
	q->sq = map(d, c.sq_bytes, c.sq_offset, PROT_READ | PROT_WRITE);
	q->cq = map(d, c.cq_bytes, c.cq_offset, PROT_READ);
	q->doorbell = map(d, c.db_bytes, c.db_offset, PROT_WRITE);
	if (q->cq && (checked || (q->sq && q->doorbell)))
		return 0;
	raw_queue_destroy(q);
	return gtu_fail(err, GTU_ERR_FAIL, "%s: cannot map the rings of a queue: %s", d->path, strerror(errno));
}

void raw_queue_destroy(struct raw_queue *q)
{
	struct gtu_ioctl_queue d = { .size = sizeof(d) };

	if (!q->device)
		return;
	d.id = q->id;
	if (q->sq)
		munmap(q->sq, q->sq_bytes);
	if (q->cq)
		munmap(q->cq, q->cq_bytes);
	if (q->doorbell)
		munmap((void *)(uintptr_t)q->doorbell, q->db_bytes);
	raw_ioctl(q->device, GTU_IOCTL_QUEUE_DESTROY, &d, "QUEUE_DESTROY", NULL);
	q->device = NULL;
}

static const struct gtu_hw_desc nops[1u << RING_LOG2];

static int submit_checked(struct raw_queue *q, unsigned n, uint32_t flags, struct gtu_error *err)
{
	struct gtu_ioctl_submit s = {
		.size = sizeof(s), .flags = flags, .id = q->id, .count = n, .descs = (uintptr_t)nops,
		.cq_head = q->head,
	};
	int rc = raw_ioctl(q->device, GTU_IOCTL_SUBMIT, &s, flags ? "SUBMIT with ARM" : "SUBMIT", err);

	if (!rc && s.done != n)
		rc = gtu_fail(err, GTU_ERR_FAIL, "%s: SUBMIT took %u of %u jobs", q->device->path, s.done, n);
	q->tail += n;
	return rc;
}

int raw_submit_flags(struct raw_queue *q, uint32_t flags, struct gtu_error *err)
{
	return submit_checked(q, 1, flags, err);
}

int raw_submit(struct raw_queue *q, unsigned n, struct gtu_error *err)
{
	unsigned i;

	if (q->checked)
		return submit_checked(q, n, 0, err);
	for (i = 0; i < n; i++)
		q->sq[q->tail++ & ((1u << q->sq_log2) - 1)] = nops[i];
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	*(volatile uint64_t *)(uintptr_t)q->doorbell = q->tail | (uint64_t)q->head << 32;
	return 0;
}

bool raw_ready(const struct raw_queue *q)
{
	const uint32_t size = 1u << q->cq_log2;

	return __atomic_load_n(&q->cq[q->head & (size - 1)].phase, __ATOMIC_ACQUIRE) == (q->head & size ? 0 : 1);
}

int raw_spin(struct raw_queue *q, struct gtu_error *err)
{
	uint64_t start = 0, now;
	unsigned polls;

	for (polls = 1; !raw_ready(q); polls++) {
		if (polls % (1u << 20))
			continue;
		now = gtu_now_ns();
		if (polls == 1u << 20)
			start = now;
		else if (now - start > SPIN_LIMIT_S * 1000000000ull)
			return gtu_advise_timeout(q->device->path, SPIN_LIMIT_S, err);
	}
	q->head++;
	return 0;
}

void raw_arm(struct raw_queue *q)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	q->doorbell[GTU_DB_ARM / 4] = q->head;
}
