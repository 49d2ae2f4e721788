// SPDX-License-Identifier: MIT
/* The common part of the streams of IRU, PEG and Weaver. */
#include "stream.h"

int gtu_stream_check(const struct gtu_stream *s, const struct gtu_queue *q, const char *remedy,
		     struct gtu_error *err)
{
	if (s && s->q != q)
		return gtu_fail(err, GTU_ERR_USAGE, "this stream belongs to another queue");
	return s && s->running ? gtu_fail(err, GTU_ERR_USAGE, "%s", remedy) : 0;
}

int gtu_stream_reserve(struct gtu_stream *s, struct gtu_region *r, uint64_t bytes, struct gtu_error *err)
{
	int rc;

	if (r->length >= bytes)
		return 0;
	rc = gtu_region_remove(s->q->dev, r, err);
	return rc ? rc : gtu_region_alloc(s->q->dev, bytes, r, err);
}

int gtu_stream_start(struct gtu_stream *s, const char *owner, struct gtu_error *err)
{
	int rc = gtu_submit(s->q, &s->desc, NULL, err);

	if (rc)
		return rc;
	s->running = true;
	s->q->stream = owner;
	return 0;
}

int gtu_stream_end(struct gtu_stream *s, struct gtu_error *err)
{
	int rc;

	if (!s->running)
		return 0;
	s->running = false;
	s->q->stream = NULL;
	rc = gtu_next(s->q, GTU_FOREVER, &s->result, err);
	return rc || !s->result.status ? rc : gtu_completion_error(&s->desc, &s->result, err);
}

void gtu_stream_close(struct gtu_stream *s)
{
	if (s->running) {
		s->running = false;
		s->q->stream = NULL;
		gtu_queue_reset(s->q, NULL);
	}
	gtu_region_remove(s->q->dev, &s->rings, NULL);
}

int gtu_stream_wait(struct gtu_stream *s, const struct gtu_record_wait *wait, uint64_t *deadline,
		    struct gtu_error *err)
{
	struct gtu_queue *q = s->q;
	int rc = gtu_queue_check(q, err);

	if (rc)
		return rc;
	gtu_device_fence();	/* the device sees the writes, or this thread sees `waiting` */
	if (gtu_load_acquire(&s->ring->waiting))
		gtu_ring_doorbell(q, GTU_DB_KICK, 1);
	if (!*deadline)
		*deadline = gtu_deadline(q->dev, GTU_FOREVER);
	else if (*deadline != UINT64_MAX && gtu_now_ns() >= *deadline)
		return GTU_ERR_TIMEOUT;
	return q->dev->ops->wait(q->dev, &q->rings, (uint32_t)q->consumed, wait, *deadline, err);
}

int gtu_stream_count(const struct gtu_stream *s, const struct gtu_hw_ring *ring, uint32_t taken,
		     uint32_t *count, struct gtu_error *err)
{
	const uint32_t producer = gtu_load_acquire(&ring->producer);

	*count = producer - taken;
	if (*count <= s->records)
		return 0;
	return gtu_fail(err, GTU_ERR_FAIL,
			"%s reports %u records written to a ring of %u, of which %u were taken: its streams cannot be trusted",
			s->q->dev->info.path, producer, s->records, taken);
}
