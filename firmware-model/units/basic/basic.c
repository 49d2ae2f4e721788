// SPDX-License-Identifier: MIT
/*
 * NOP, COPY, FILL and FENCE, which every build has. COPY and FILL move one sector per cycle after
 * the latency of the first fetch.
 */
#include "firmware-model/device/core.h"

struct basic_state {
	uint64_t done;			/* bytes */
};
struct fence_state {
	uint8_t waits[GTU_QUEUES_MAX];
	uint16_t generation[GTU_QUEUES_MAX];
	uint32_t tail[GTU_QUEUES_MAX];
};
_Static_assert(sizeof(struct fence_state) <= GTU_JOB_STATE_BYTES, "a fence fits into a job's state");

/* ---- FENCE ----------------------------------------------------------------------------------- */

static struct fence_state *fence(struct gtu_job *job)
{
	return (struct fence_state *)job->state;
}

static bool waits_in_fence(const struct gtu_hwq *q)
{
	return q->active && q->job.started && q->job.desc.opcode == GTU_OP_FENCE;
}

static void fence_start(struct gtu_job *job)
{
	struct fence_state *f = fence(job);
	uint32_t i;

	for (i = 0; i < job->dev->config.queues; i++) {
		const struct gtu_hwq *q = &job->dev->queue[i];

		f->waits[i] = q->enabled && &job->dev->context[q->context] == job->context &&
			      &q->job != job && q->cq_tail != q->sq_tail;
		f->generation[i] = q->generation;
		f->tail[i] = q->sq_tail;
	}
}

/*
 * The fence passes once every other queue of the context has completed the jobs that its doorbell
 * had announced when the fence started. A queue that waits in a fence itself, was reset or is in
 * error does not count, so fences never wait for each other.
 */
static int fence_run(struct gtu_job *job)
{
	struct fence_state *f = fence(job);
	uint32_t i;

	for (i = 0; i < job->dev->config.queues; i++) {
		const struct gtu_hwq *q = &job->dev->queue[i];

		if (!f->waits[i])
			continue;
		if (!q->enabled || q->state != GTU_QUEUE_ENABLED || waits_in_fence(q) ||
		    q->generation != f->generation[i] || (int32_t)(q->cq_tail - f->tail[i]) >= 0)
			f->waits[i] = 0;
		else
			return GTU_RUN_STALLED;
	}
	job->cycles = 1;
	return GTU_RUN_DONE;
}

/* ---- COPY, FILL ------------------------------------------------------------------------------ */

static bool operands(struct gtu_job *job)
{
	const unsigned width = job->desc.param & 3;
	struct gtu_requirement want[2] = {
		{ .slot = 0, .width_log2 = width, .need = GTU_REQUIRE_READ },
		{ .slot = 1, .width_log2 = width, .need = GTU_REQUIRE_WRITE },
	};

	if (job->desc.opcode == GTU_OP_FILL)
		want[0].need = GTU_REQUIRE_NONE;
	return gtu_job_operands(job, want, 2);
}

static bool start(struct gtu_job *job)
{
	const struct gtu_hw_desc *d = &job->desc;
	const bool moves = d->opcode == GTU_OP_COPY || d->opcode == GTU_OP_FILL;

	if (d->param2 || (d->imm && d->opcode != GTU_OP_FILL) || d->param & ~(moves ? 3u : 0u))
		return gtu_job_error(job, GTU_CPL_RESERVED, 0xff, 0), false;
	if (moves ? !operands(job) : !gtu_job_operands(job, NULL, 0))
		return false;
	if (d->opcode == GTU_OP_FENCE)
		fence_start(job);
	if (d->opcode == GTU_OP_COPY && job->mem[0].count > job->mem[1].count) {
		job->needed = job->mem[0].count;
		return gtu_job_error(job, GTU_CPL_OVERFLOW, 1, job->mem[1].count), false;
	}
	return true;
}

static void fill(uint8_t *to, uint64_t bytes, uint64_t value, unsigned width, uint64_t phase)
{
	uint8_t pattern[8];
	uint64_t i, head;
	unsigned b;

	for (b = 0; b < 8; b++)
		pattern[b] = value >> 8 * (b & (width - 1));
	head = (8 - phase % 8) % 8;
	for (i = 0; i < bytes && i < head; i++)
		to[i] = pattern[(phase + i) & 7];
	for (; i + 8 <= bytes; i += 8)
		memcpy(to + i, pattern, 8);
	for (; i < bytes; i++)
		to[i] = pattern[(phase + i) & 7];
}

static int run(struct gtu_job *job, uint64_t budget)
{
	struct basic_state *s = (struct basic_state *)job->state;
	const bool is_fill = job->desc.opcode == GTU_OP_FILL, cut = s->done;
	const unsigned width = 1u << (job->desc.param & 3);
	struct gtu_mem *from, *to;
	uint64_t total, part, got;

	if (job->desc.opcode == GTU_OP_NOP) {
		job->cycles = 1;
		return GTU_RUN_DONE;
	}
	if (job->desc.opcode == GTU_OP_FENCE)
		return fence_run(job);
	if (!operands(job))
		return GTU_RUN_DONE;
	from = &job->mem[0];
	to = &job->mem[1];
	total = is_fill ? to->bytes : from->bytes;
	if (gtu_bug(job->dev, GTU_BUG_LENGTH_4K) && total && total % 4096 == 0)
		total--;
	/* the cycle count is known in advance: do not start a job that would exceed its limit */
	if (job->limit < job->dev->config.scu_latency ||
	    (total + GTU_SECTOR_BYTES - 1) / GTU_SECTOR_BYTES > job->limit - job->dev->config.scu_latency)
		return gtu_job_error(job, GTU_CPL_LIMIT, 0xff, 0);
	part = budget > total ? total : budget * GTU_SECTOR_BYTES;
	for (; s->done < total && part; s->done += got, part -= got) {
		uint64_t want = total - s->done < part ? total - s->done : part;
		uint8_t *src = NULL, *dst = gtu_mem_span(to, s->done, want, &got);

		if (dst && !is_fill)
			src = gtu_mem_span(from, s->done, got, &got);
		if (!dst || (!is_fill && !src))
			return GTU_RUN_DONE;
		if (is_fill)
			fill(dst, got, gtu_bug(job->dev, GTU_BUG_BYTE_ORDER) ?
				       __builtin_bswap64(job->desc.imm) >> (64 - 8 * width) : job->desc.imm,
			     width, s->done);
		else
			memmove(dst, src, got);
		if (gtu_bug(job->dev, GTU_BUG_DATA) && !is_fill && width == 2 && from->addr % 64 == 6 && got > 64)
			dst[64] &= 0xfe;
		if (from->monitored && !is_fill)
			gtu_watch_stream(from, s->done, got, job->cycles);
		if (to->monitored)
			gtu_watch_stream(to, s->done, got, job->cycles);
	}
	job->count = s->done / width;
	job->cycles = job->dev->config.scu_latency + (s->done + GTU_SECTOR_BYTES - 1) / GTU_SECTOR_BYTES;
	job->cycles += gtu_bug(job->dev, GTU_BUG_CUT) && s->done == total && cut && !is_fill;
	return s->done < total ? GTU_RUN_MORE : GTU_RUN_DONE;
}

const struct gtu_unit gtu_unit_basic = {
	.start = start,
	.run = run,
};
