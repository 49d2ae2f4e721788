/* SPDX-License-Identifier: MIT */
/*
 * The common part of the streams of IRU, PEG and Weaver: one job that owns its queue and writes records
 * to rings.
 */
#ifndef GTU_STREAM_H
#define GTU_STREAM_H

#include "queue.h"

struct gtu_stream {
	struct gtu_queue *q;
	struct gtu_region rings;
	struct gtu_hw_ring *ring;	/* the first one: its header has the wake-up fields of all */
	struct gtu_hw_desc desc;
	struct gtu_completion result;
	uint32_t records;		/* capacity of a ring, a power of two */
	uint64_t record_bytes;
	bool running;
};

/* Fail if @s (may be NULL) belongs to another queue than @q, or with the message @remedy if it is running. */
int gtu_stream_check(const struct gtu_stream *s, const struct gtu_queue *q, const char *remedy,
		     struct gtu_error *err);
/* Make region @r at least @bytes long, with undefined content; it is reused from stream to stream. */
int gtu_stream_reserve(struct gtu_stream *s, struct gtu_region *r, uint64_t bytes, struct gtu_error *err);
/* Submit s->desc. @owner: kind of the stream and how to end it, for messages of the queue. */
int gtu_stream_start(struct gtu_stream *s, const char *owner, struct gtu_error *err);
/* Take the completion: the stream has ended, with or without an error. 0 if it was not running. */
int gtu_stream_end(struct gtu_stream *s, struct gtu_error *err);
/* End a running stream, discard its records, and release the rings. */
void gtu_stream_close(struct gtu_stream *s);
/*
 * Wake the device if it waits for this thread, and sleep until @wait may be over; may return early.
 * *@deadline is 0 at first. GTU_ERR_TIMEOUT, without a message: the deadline has passed.
 */
int gtu_stream_wait(struct gtu_stream *s, const struct gtu_record_wait *wait, uint64_t *deadline,
		    struct gtu_error *err);
/* *@count = the records in @ring from record @taken on; an error if they cannot all be in the ring. */
int gtu_stream_count(const struct gtu_stream *s, const struct gtu_hw_ring *ring, uint32_t taken,
		     uint32_t *count, struct gtu_error *err);

static inline bool gtu_stream_completed(const struct gtu_stream *s)
{
	return gtu_completed(&s->q->rings, (uint32_t)s->q->consumed);
}

static inline const struct gtu_hw_warp *gtu_stream_record(const struct gtu_stream *s,
							  const struct gtu_hw_ring *ring, uint32_t record)
{
	return (const void *)((const char *)(ring + 1) + (record & (s->records - 1)) * s->record_bytes);
}

/* Behind the records of @ring: the ring of values that go back to the device. */
static inline void *gtu_stream_returns(const struct gtu_stream *s, struct gtu_hw_ring *ring)
{
	return (char *)(ring + 1) + s->records * s->record_bytes;
}

static inline double gtu_stream_timeout_s(const struct gtu_stream *s)
{
	return (double)s->q->dev->timeout_ns * 1e-9;
}

static inline struct gtu_hw_operand gtu_stream_operand(const struct gtu_array *a)
{
	const uint32_t count = a->count == UINT64_MAX ? GTU_COUNT_TO_END : (uint32_t)a->count;

	return (struct gtu_hw_operand){ .key = a->key, .count = count, .offset = a->offset };
}

#endif
