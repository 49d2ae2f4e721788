// SPDX-License-Identifier: MIT
/* gtu_iru_configure and gtu_iru_load: a stream of warp records through a ring (IRU, section 4). */
#include <stdlib.h>
#include <string.h>

#include "queue.h"

struct gtu_iru {
	struct gtu_queue *q;
	struct gtu_region ring_region;
	struct gtu_hw_ring *ring;
	struct gtu_hw_desc desc;
	struct gtu_completion result;
	uint32_t records;		/* capacity of the ring, a power of two */
	uint32_t stride;		/* bytes per record */
	uint32_t taken;			/* consumer index: records returned to the caller, modulo 2^32 */
	bool secondary, position, running;
};

/* Take the completion; the stream has ended, with or without an error. */
static int finish(struct gtu_iru *iru, struct gtu_error *err)
{
	struct gtu_queue *q = iru->q;
	int rc;

	if (!iru->running)
		return 0;
	iru->running = false;
	q->stream = NULL;
	rc = gtu_next(q, GTU_FOREVER, &iru->result, err);
	if (!rc && iru->result.status)
		rc = gtu_completion_error(&iru->desc, &iru->result, err);
	return rc;
}

/* End a stream that is still running and discard its records. */
static void abandon(struct gtu_iru *iru)
{
	if (!iru->running)
		return;
	iru->running = false;
	iru->q->stream = NULL;
	gtu_queue_reset(iru->q, NULL);
}

static int check(const struct gtu_iru_config *c, struct gtu_error *err)
{
	const bool needs = c->operation >= GTU_IRU_OP_MIN_U32;

	if (!c->target_width || c->target_width > 128 || c->target_width & (c->target_width - 1))
		return gtu_fail(err, GTU_ERR_USAGE, "target elements of %u bytes are not "
				"supported: use a power of two from 1 to 128",
				c->target_width);
	if (c->operation > GTU_IRU_OP_ADD_F32)
		return gtu_fail(err, GTU_ERR_USAGE, "the IRU has no operation %u", c->operation);
	if (c->indices.key && c->indices.width != 4)
		return gtu_fail(err, GTU_ERR_UNSUPPORTED, "indices of %u bytes are not supported: "
				"the IRU takes 4-byte indices", c->indices.width);
	if (c->secondary.key && (c->secondary.width != 4 || c->secondary.count != c->indices.count))
		return gtu_fail(err, GTU_ERR_USAGE, "%llu secondary values of %u bytes do not "
				"match %llu indices: "
				"use as many values, of 4 bytes",
				(unsigned long long)c->secondary.count, c->secondary.width,
				(unsigned long long)c->indices.count);
	if (needs && !c->secondary.key)
		return gtu_fail(err, GTU_ERR_USAGE, "the operation needs a secondary array, and "
				"none was passed");
	if (c->indices.count >= GTU_COUNT_TO_END)
		return gtu_fail(err, GTU_ERR_UNSUPPORTED, "%llu indices are too many: a stream "
				"takes less than 2^32 - 1",
				(unsigned long long)c->indices.count);
	if (c->ring_log2 > 16)
		return gtu_fail(err, GTU_ERR_USAGE, "a ring of 2^%u records is too large: the "
				"maximum is 2^16", c->ring_log2);
	return 0;
}

static struct gtu_hw_operand operand(const struct gtu_array *a)
{
	return (struct gtu_hw_operand){ .key = a->key, .count = (uint32_t)a->count, .offset = a->offset };
}

/* Allocate a ring of the configured size; it is reused from stream to stream. */
static int make_ring(struct gtu_iru *iru, const struct gtu_iru_config *c, struct gtu_error *err)
{
	const uint32_t fields = 1 + (c->secondary.key != 0) + c->positions;
	uint64_t bytes;
	int rc;

	iru->records = 1u << (c->ring_log2 ? c->ring_log2 : 8);
	iru->stride = GTU_WARP_BYTES(fields, 0);
	bytes = sizeof(struct gtu_hw_ring) + (uint64_t)iru->records * iru->stride;
	if (iru->ring_region.length < bytes) {
		rc = gtu_region_remove(gtu_queue_device(iru->q), &iru->ring_region, err);
		if (!rc)
			rc = gtu_region_alloc(gtu_queue_device(iru->q), bytes, &iru->ring_region, err);
		if (rc)
			return rc;
		iru->ring = iru->ring_region.addr;
	}
	memset(iru->ring, 0, sizeof(*iru->ring));
	iru->taken = 0;
	return 0;
}

int gtu_iru_configure(struct gtu_queue *q, const struct gtu_iru_config *config, struct gtu_iru **out,
		  struct gtu_error *err)
{
	struct gtu_iru *iru = *out;
	int rc = check(config, err);

	if (rc)
		return rc;
	if (iru && iru->q != q)
		return gtu_fail(err, GTU_ERR_USAGE, "this stream belongs to another queue");
	if (iru && iru->running)
		return gtu_fail(err, GTU_ERR_USAGE, "the stream is still running: call gtu_iru_load() "
				"until it ends, or gtu_iru_close()");
	if (q->submitted != q->consumed)
		return gtu_fail(err, GTU_ERR_USAGE, "the queue still has jobs outstanding");
	if (!iru) {
		iru = calloc(1, sizeof(*iru));
		if (!iru)
			return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for a stream");
		iru->q = q;
	}
	rc = make_ring(iru, config, err);
	if (rc)
		goto fail;
	iru->secondary = config->secondary.key;
	iru->position = config->positions;
	iru->desc = (struct gtu_hw_desc){
		.opcode = GTU_OP_IRU_STREAM,
		.param = config->operation << GTU_IRU_OP_SHIFT |
			 (uint32_t)__builtin_ctz(config->target_width) << GTU_IRU_TARGET_SHIFT |
			 (config->all ? GTU_IRU_ALL : 0) | (iru->secondary ? GTU_IRU_WITH_SECONDARY : 0) |
			 (iru->position ? GTU_IRU_WITH_POSITION : 0),
		.imm = config->target_base,
		.param2 = config->timeout,
		.operand = {
			[GTU_IRU_INDICES] = operand(&config->indices),
			[GTU_IRU_SECONDARY] = operand(&config->secondary),
			[GTU_IRU_RING] = { .key = iru->ring_region.key, .count = iru->records },
		},
	};
	rc = gtu_submit(q, &iru->desc, NULL, err);
	if (rc)
		goto fail;
	iru->running = true;
	q->stream = "IRU stream: call gtu_iru_load() until it ends, or gtu_iru_close()";
	*out = iru;
	return 0;
fail:
	if (!*out)
		gtu_iru_close(iru);
	return rc;
}

static int no_record(const struct gtu_iru *iru, struct gtu_error *err)
{
	const struct gtu_device *dev = iru->q->dev;

	return gtu_fail(err, GTU_ERR_TIMEOUT, "%s has not written record %u of a stream within %g s", dev->info.path,
			iru->taken, (double)dev->timeout_ns * 1e-9);
}

int gtu_iru_load(struct gtu_iru *iru, struct gtu_warp *warp, struct gtu_error *err)
{
	struct gtu_hw_ring *ring = iru->ring;
	struct gtu_queue *q = iru->q;
	const struct gtu_record_wait wait = { &ring->producer, iru->taken };
	const struct gtu_hw_warp *w;
	const uint32_t *lanes;
	uint64_t deadline = 0;
	int rc;

	if (!iru->running)
		return 0;
	/* The record of the last call is free from here on. */
	gtu_store_release(&ring->consumer, iru->taken);
	while (gtu_load_acquire(&ring->producer) == iru->taken) {
		if (gtu_load_acquire(&ring->ended) ||
		    gtu_completed(&q->rings, (uint32_t)q->consumed)) {
			if (gtu_load_acquire(&ring->producer) != iru->taken)
				break;
			return finish(iru, err);
		}
		rc = gtu_queue_check(q, err);
		if (rc)
			return rc;
		gtu_device_fence();	/* the device sees the consumer index, or this thread sees `waiting` */
		if (gtu_load_acquire(&ring->waiting))
			gtu_ring_doorbell(q, GTU_DB_KICK, 1);
		/* wait() may return early any number of times */
		if (!deadline)
			deadline = gtu_deadline(q->dev, GTU_FOREVER);
		else if (deadline != UINT64_MAX && gtu_now_ns() >= deadline)
			return no_record(iru, err);
		rc = q->dev->ops->wait(q->dev, &q->rings, (uint32_t)q->consumed, &wait, deadline, err);
		if (rc == GTU_ERR_TIMEOUT)
			return no_record(iru, err);
		if (rc)
			return rc;
	}
	if (__atomic_load_n(&ring->producer, __ATOMIC_RELAXED) - iru->taken > iru->records)
		return gtu_fail(err, GTU_ERR_FAIL, "%s reports %u records written to a ring of %u, "
				"of which %u were "
				"taken: its streams cannot be trusted", q->dev->info.path, ring->producer, iru->records,
				iru->taken);
	w = (const void *)((const char *)(ring + 1) + (uint64_t)(iru->taken & (iru->records - 1)) * iru->stride);
	lanes = (const uint32_t *)(w + 1);
	*warp = (struct gtu_warp){
		.active = w->active,
		.reason = w->reason,
		.lines = w->lines,
		.sequence = w->sequence,
		.cycle = w->cycle,
		.index = lanes,
		.secondary = iru->secondary ? lanes + 32 : NULL,
		.position = iru->position ? lanes + (iru->secondary ? 64 : 32) : NULL,
	};
	iru->taken++;
	return 1;
}

const struct gtu_completion *gtu_iru_result(const struct gtu_iru *iru)
{
	return &iru->result;
}

struct gtu_hw_ring *gtu_iru_ring(const struct gtu_iru *iru)
{
	return iru->ring;
}

void gtu_iru_close(struct gtu_iru *iru)
{
	if (!iru)
		return;
	abandon(iru);
	gtu_region_remove(gtu_queue_device(iru->q), &iru->ring_region, NULL);
	free(iru);
}

GTU_PAPER_NAME(configure_iru, gtu_iru_configure);
GTU_PAPER_NAME(load_iru, gtu_iru_load);
