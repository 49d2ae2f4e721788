/* SPDX-License-Identifier: MIT */
/*
 * Helpers for tests of events and streams: their fixture, eventfd, poll, ARM, and a stream that
 * stalls until its records are consumed.
 */
#ifndef GTU_STREAM_H
#define GTU_STREAM_H

#include <poll.h>
#include <sys/eventfd.h>

#include "gtu_util.h"

static inline int set_eventfd(struct queue *q, int efd)
{
	struct gtu_ioctl_queue_eventfd a = { .size = sizeof(a), .id = q->c.id, .fd = efd };

	return call(q->fd, GTU_IOCTL_QUEUE_EVENTFD, &a);
}

static inline void arm(struct queue *q, uint32_t index)
{
	*(volatile uint32_t *)(q->db + GTU_DB_ARM) = index;
}

#define RECORDS		4u
#define INDICES		(40u * GTU_WARP)
#define INDICES_AT	65536u

/* Build a stream of INDICES indices into a ring of RECORDS records at offset 0 of @memory. */
static inline struct gtu_hw_desc stream_job(uint8_t *memory, uint32_t key)
{
	struct gtu_hw_desc d = { .opcode = GTU_OP_IRU_STREAM,
				 .param = GTU_IRU_OP_NONE | 2 << GTU_IRU_TARGET_SHIFT };
	uint32_t i, *index = (uint32_t *)(memory + INDICES_AT);

	memset(memory, 0, INDICES_AT);
	for (i = 0; i < INDICES; i++)
		index[i] = i * 7 % INDICES;
	d.operand[GTU_IRU_INDICES] = (struct gtu_hw_operand){ key, INDICES, INDICES_AT };
	d.operand[GTU_IRU_RING] = (struct gtu_hw_operand){ key, RECORDS, 0 };
	return d;
}

/* A device with a queue, an eventfd, and EVENT_BYTES of memory that is a region. */
#define EVENT_BYTES	(1u << 20)
#define EVENT_FIXTURE(name)                                                                        \
	FIXTURE(name)                                                                              \
	{                                                                                          \
		int fd, efd;                                                                       \
		struct queue q;                                                                    \
		uint8_t *memory;                                                                   \
		uint32_t key;                                                                      \
	};                                                                                         \
	FIXTURE_SETUP(name)                                                                        \
	{                                                                                          \
		OPEN_OR_SKIP(self->fd);                                                            \
		self->memory = pages(EVENT_BYTES);                                                 \
		ASSERT_EQ(0, region_add(self->fd, self->memory, EVENT_BYTES, RW, &self->key));     \
		ASSERT_EQ(0, queue_create(self->fd, 4, 4, &self->q));                              \
		self->efd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);                                \
		ASSERT_LE(0, self->efd);                                                           \
	}                                                                                          \
	NO_TEARDOWN(name)

/* Return the events that poll() reports for @fd within @ms. */
static inline int polled(int fd, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, ms) > 0 ? p.revents : 0;
}

/* Read and reset the counter of an eventfd. */
static inline uint64_t counted(int efd)
{
	uint64_t n = 0;

	return read(efd, &n, sizeof(n)) == sizeof(n) ? n : 0;
}

struct reader {
	int fd, ret;
	struct gtu_event e[4];
	pthread_t thread;
};

static inline void *reader_thread(void *arg)
{
	struct reader *r = arg;
	ssize_t n = read(r->fd, r->e, sizeof(r->e));

	r->ret = n < 0 ? -errno : (int)(n / (ssize_t)sizeof(*r->e));
	return NULL;
}

static inline void start_reader(struct reader *r, int fd)
{
	*r = (struct reader){ .fd = fd, .ret = -1 };
	start_call(&r->thread, reader_thread, r);
}

static inline int wait_stream(struct queue *q, uint32_t index, uint32_t record, uint64_t deadline_ns)
{
	struct gtu_ioctl_wait w = { .size = sizeof(w), .flags = GTU_WAIT_STREAM, .id = q->c.id,
				    .index = index, .record = record,
				    .deadline_ns = deadline_ns };

	return call(q->fd, GTU_IOCTL_WAIT, &w);
}

static inline int cancel(struct queue *q, uint32_t flags, uint32_t until)
{
	struct gtu_ioctl_queue_cancel a = { .size = sizeof(a), .flags = flags, .id = q->c.id,
					    .until = until };

	return call(q->fd, GTU_IOCTL_QUEUE_CANCEL, &a);
}

#endif
