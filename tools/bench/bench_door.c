// SPDX-License-Identifier: MIT
/* Queues of the driver's, driven by hand: what the library does between a call and the driver is left out. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "libruntime/support/advice.h"
#include "bench_ioctl.h"
#include "uapi/gtu/gtu.h"

#define RING_LOG2	8u
#define SPIN_LIMIT_S	10

int door_open(struct door *d, const char *path, struct gtu_error *err)
{
	d->path = path;
	d->fd = open(path, O_RDWR | O_CLOEXEC);
	d->calls++;
	if (d->fd < 0)
		return gtu_fail(err, GTU_ERR_FAIL, "%s cannot be opened: %s", path, strerror(errno));
	return 0;
}

void door_close(struct door *d)
{
	if (d->fd >= 0)
		close(d->fd);
	d->calls++;
	d->fd = -1;
}

int door_ioctl(struct door *d, unsigned long request, void *arg, const char *what, struct gtu_error *err)
{
	d->calls++;
	if (!ioctl(d->fd, request, arg))
		return 0;
	switch (errno) {
	case ENOTTY:
	case EOPNOTSUPP:
		return gtu_fail(err, GTU_ERR_UNSUPPORTED, "the driver of %s, or its device, has no %s", d->path, what);
	case ENODEV:
		return gtu_advise_removed(d->path, err);
	case ETIMEDOUT:
		return gtu_advise_silent(d->path, SPIN_LIMIT_S, err);
	}
	return gtu_fail(err, GTU_ERR_FAIL, "%s: %s: %s", d->path, what, strerror(errno));
}

static void *map(struct door *d, uint64_t bytes, uint64_t offset, int rights)
{
	void *at = bytes ? mmap(NULL, bytes, rights, MAP_SHARED, d->fd, (off_t)offset) : NULL;

	return at == MAP_FAILED ? NULL : at;
}

int door_queue_create(struct door *d, bool checked, struct door_queue *q, struct gtu_error *err)
{
	struct gtu_ioctl_queue_create c = {
		.size = sizeof(c), .sq_log2 = RING_LOG2, .cq_log2 = RING_LOG2,
		.flags = checked ? GTU_QUEUE_SUBMIT : 0,
	};
	int rc = door_ioctl(d, GTU_IOCTL_QUEUE_CREATE, &c,
			    checked ? "queue that takes jobs by ioctl (SUBMIT)" : "queue", err);

	if (rc)
		return rc;
	*q = (struct door_queue){
		.door = d, .id = c.id, .sq_log2 = RING_LOG2, .cq_log2 = RING_LOG2, .checked = checked,
		.sq_bytes = c.sq_bytes, .cq_bytes = c.cq_bytes, .db_bytes = c.db_bytes,
	};
	q->sq = map(d, c.sq_bytes, c.sq_offset, PROT_READ | PROT_WRITE);
	q->cq = map(d, c.cq_bytes, c.cq_offset, PROT_READ);
	q->bell = map(d, c.db_bytes, c.db_offset, PROT_WRITE);
	if (q->cq && (checked || (q->sq && q->bell)))
		return 0;
	door_queue_destroy(q);
	return gtu_fail(err, GTU_ERR_FAIL, "%s: a queue's rings cannot be mapped: %s", d->path, strerror(errno));
}

void door_queue_destroy(struct door_queue *q)
{
	struct gtu_ioctl_queue d = { .size = sizeof(d) };

	if (!q->door)
		return;
	d.id = q->id;
	if (q->sq)
		munmap(q->sq, q->sq_bytes);
	if (q->cq)
		munmap(q->cq, q->cq_bytes);
	if (q->bell)
		munmap((void *)(uintptr_t)q->bell, q->db_bytes);
	door_ioctl(q->door, GTU_IOCTL_QUEUE_DESTROY, &d, "end of a queue", NULL);
	q->door = NULL;
}

int door_submit(struct door_queue *q, unsigned n, struct gtu_error *err)
{
	static struct gtu_hw_desc nops[1u << RING_LOG2];
	struct gtu_ioctl_submit s = {
		.size = sizeof(s), .id = q->id, .count = n, .descs = (uintptr_t)nops, .cq_head = q->head,
	};
	unsigned i;
	int rc;

	if (q->checked) {
		rc = door_ioctl(q->door, GTU_IOCTL_SUBMIT, &s, "SUBMIT", err);
		if (!rc && s.done != n)
			rc = gtu_fail(err, GTU_ERR_FAIL, "%s: SUBMIT took %u of %u jobs", q->door->path, s.done, n);
		q->tail += n;
		return rc;
	}
	for (i = 0; i < n; i++)
		q->sq[q->tail++ & ((1u << q->sq_log2) - 1)] = nops[i];
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	*(volatile uint64_t *)(uintptr_t)q->bell = q->tail | (uint64_t)q->head << 32;
	return 0;
}

bool door_there(const struct door_queue *q)
{
	const uint32_t size = 1u << q->cq_log2;

	return __atomic_load_n(&q->cq[q->head & (size - 1)].phase, __ATOMIC_ACQUIRE) == (q->head & size ? 0 : 1);
}

int door_spin(struct door_queue *q, struct gtu_error *err)
{
	struct timespec start = { 0 }, now;
	unsigned looks;

	for (looks = 1; !door_there(q); looks++) {
		if (looks % (1u << 20))
			continue;
		clock_gettime(CLOCK_MONOTONIC, &now);
		if (looks == 1u << 20)
			start = now;
		else if (now.tv_sec - start.tv_sec > SPIN_LIMIT_S)
			return gtu_advise_silent(q->door->path, SPIN_LIMIT_S, err);
	}
	q->head++;
	return 0;
}

void door_arm(struct door_queue *q)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	q->bell[GTU_DB_ARM / 4] = q->head;
}
