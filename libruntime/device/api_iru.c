// SPDX-License-Identifier: MIT
/* gtu_iru_configure and gtu_iru_load: a stream of warp records through a ring (IRU, section 4). */
#include <stdlib.h>
#include <string.h>

#include "stream.h"

struct gtu_iru {
	struct gtu_stream s;
	uint32_t taken;			/* consumer index: records returned to the caller, modulo 2^32 */
	bool secondary, position;
};

static int check(const struct gtu_iru_config *c, struct gtu_error *err)
{
	const bool needs = c->operation >= GTU_IRU_OP_MIN_U32;

	if (!c->target_width || c->target_width > 128 || c->target_width & (c->target_width - 1))
		return gtu_fail(err, GTU_ERR_USAGE, "target elements of %u bytes are not "
				"supported: use a power of two from 1 to 128",
				c->target_width);
	if (c->operation > GTU_IRU_OP_ADD_F32)
		return gtu_fail(err, GTU_ERR_USAGE, "the IRU has no operation %u", c->operation);
	if (c->indices.key && c->indices.width != 4 && !(c->first.key && c->indices.width == 8))
		return gtu_fail(err, GTU_ERR_UNSUPPORTED, "indices of %u bytes are not supported: "
				"the IRU takes 4-byte indices, or 8-byte edges with ranges", c->indices.width);
	if (c->first.key && ((c->first.width != 4 && c->first.width != 8) || c->count.width != 4 ||
			     c->first.count != c->count.count || c->first.count >= GTU_COUNT_TO_END))
		return gtu_fail(err, GTU_ERR_USAGE, "%llu first elements of %u bytes and %llu counts of %u do not "
				"describe ranges: use as many of both, below 2^32 - 1, of 4 or 8 bytes and of 4",
				(unsigned long long)c->first.count, c->first.width,
				(unsigned long long)c->count.count, c->count.width);
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

int gtu_iru_configure(struct gtu_queue *q, const struct gtu_iru_config *config, struct gtu_iru **out,
		  struct gtu_error *err)
{
	struct gtu_iru *iru = *out;
	uint32_t lanes;
	int rc = check(config, err);

	if (!rc)
		rc = gtu_stream_check(iru ? &iru->s : NULL, q, "the stream is still running: "
				      "call gtu_iru_load() until it ends, or gtu_iru_close()", err);
	if (rc)
		return rc;
	if (q->submitted != q->consumed)
		return gtu_fail(err, GTU_ERR_USAGE, "the queue still has jobs outstanding");
	if (!iru) {
		iru = calloc(1, sizeof(*iru));
		if (!iru)
			return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for a stream");
		iru->s.q = q;
	}
	iru->secondary = config->secondary.key;
	iru->position = config->positions;
	lanes = 1u + iru->secondary + iru->position;
	iru->s.records = 1u << (config->ring_log2 ? config->ring_log2 : 8);
	iru->s.record_bytes = GTU_WARP_BYTES(lanes, 0);
	rc = gtu_stream_reserve(&iru->s, &iru->s.rings,
				sizeof(*iru->s.ring) + iru->s.records * iru->s.record_bytes, err);
	if (rc)
		goto fail;
	iru->s.ring = iru->s.rings.addr;
	memset(iru->s.ring, 0, sizeof(*iru->s.ring));
	iru->taken = 0;
	iru->s.desc = (struct gtu_hw_desc){
		.opcode = GTU_OP_IRU_STREAM,
		.param = config->operation << GTU_IRU_OP_SHIFT |
			 (uint32_t)__builtin_ctz(config->target_width) << GTU_IRU_TARGET_SHIFT |
			 (config->all ? GTU_IRU_ALL : 0) | (iru->secondary ? GTU_IRU_WITH_SECONDARY : 0) |
			 (iru->position ? GTU_IRU_WITH_POSITION : 0) |
			 (!config->first.key ? 0 : GTU_IRU_RANGES |
			  (config->indices.width == 8 ? GTU_IRU_INDEX_8 : 0) |
			  (config->first.width == 8 ? GTU_IRU_FIRST_8 : 0)),
		.imm = config->target_base,
		.param2 = config->timeout,
		.operand = {
			[GTU_IRU_INDICES] = gtu_stream_operand(&config->indices),
			[GTU_IRU_SECONDARY] = gtu_stream_operand(&config->secondary),
			[GTU_IRU_RING] = { .key = iru->s.rings.key, .count = iru->s.records },
			[GTU_IRU_FIRST] = gtu_stream_operand(&config->first),
			[GTU_IRU_COUNT] = gtu_stream_operand(&config->count),
		},
	};
	rc = gtu_stream_start(&iru->s, "IRU stream: call gtu_iru_load() until it ends, or gtu_iru_close()", err);
	if (rc)
		goto fail;
	*out = iru;
	return 0;
fail:
	if (!*out)
		gtu_iru_close(iru);
	return rc;
}

int gtu_iru_load(struct gtu_iru *iru, struct gtu_warp *warp, struct gtu_error *err)
{
	struct gtu_hw_ring *ring = iru->s.ring;
	const struct gtu_record_wait wait = { &ring->producer, iru->taken };
	const struct gtu_hw_warp *w;
	const uint32_t *lanes;
	uint64_t deadline = 0;
	uint32_t there;
	int rc;

	if (!iru->s.running)
		return 0;
	/* The record of the last call is free from here on. */
	gtu_store_release(&ring->consumer, iru->taken);
	while (gtu_load_acquire(&ring->producer) == iru->taken) {
		if (gtu_load_acquire(&ring->ended) || gtu_stream_completed(&iru->s)) {
			if (gtu_load_acquire(&ring->producer) != iru->taken)
				break;
			return gtu_stream_end(&iru->s, err);
		}
		rc = gtu_stream_wait(&iru->s, &wait, &deadline, err);
		if (rc == GTU_ERR_TIMEOUT)
			return gtu_fail(err, rc, "%s has not written record %u of a stream within %g s",
					iru->s.q->dev->info.path, iru->taken, gtu_stream_timeout_s(&iru->s));
		if (rc)
			return rc;
	}
	rc = gtu_stream_count(&iru->s, ring, iru->taken, &there, err);
	if (rc)
		return rc;
	w = gtu_stream_record(&iru->s, ring, iru->taken);
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
	return &iru->s.result;
}

struct gtu_hw_ring *gtu_iru_ring(const struct gtu_iru *iru)
{
	return iru->s.ring;
}

void gtu_iru_close(struct gtu_iru *iru)
{
	if (!iru)
		return;
	gtu_stream_close(&iru->s);
	free(iru);
}

GTU_PAPER_NAME(configure_iru, gtu_iru_configure);
GTU_PAPER_NAME(load_iru, gtu_iru_load);
