// SPDX-License-Identifier: MIT
/*
 * The IRU as a unit of the device (IRU, sections 3 and 4): operands in, a ring of warp records out.
 * iru_core.c decides the records and their cycles. This file serves the core's fetches after a
 * fixed latency and passes its records to the consumer. Behind the core, the unit's state holds the
 * cursors of iru_ranges.c. Specification: Documentation/units-iru.md.
 */
#include "firmware-model/device/stream.h"
#include "iru_kernel.h"
#include "iru_ranges.h"

/* State of one stream, in the job. */
struct iru_job {
	struct gtu_stream s;
	uint8_t status;			/* enum iru_status of the core's last run */
};
_Static_assert(sizeof(struct iru_job) <= GTU_JOB_STATE_BYTES, "a stream fits into a job's state");

static struct iru_job *state(struct gtu_job *job)
{
	return (struct iru_job *)job->state;
}

static unsigned operation(const struct gtu_job *job)
{
	return job->desc.param >> GTU_IRU_OP_SHIFT & 7;
}

static bool needs_secondary(const struct gtu_job *job)
{
	return job->desc.param & GTU_IRU_WITH_SECONDARY || operation(job) >= GTU_IRU_OP_MIN_U32;
}

static uint64_t record_bytes(const struct gtu_job *job)
{
	const unsigned fields = 1u + !!(job->desc.param & GTU_IRU_WITH_SECONDARY) +
				!!(job->desc.param & GTU_IRU_WITH_POSITION);

	return GTU_WARP_BYTES((uint64_t)fields, 0);
}

/* ---- Build parameters --------------------------------------------------------------------------- */

static uint8_t log2_of(uint32_t x)
{
	return (uint8_t)(31 - __builtin_clz(x | 1));
}

static struct iru_shape shape_of(const struct gtu_dev_config *config)
{
	return (struct iru_shape){
		.sets_log2 = log2_of(config->iru_sets),
		.partitions_log2 = log2_of(config->iru_partitions),
		.banks_log2 = log2_of(config->iru_banks),
		.interleave_log2 = log2_of(config->iru_interleave),
		.index_bits = (uint8_t)config->iru_index_bits,
		.position_bits = (uint8_t)config->iru_position_bits,
		.prefetch = (uint16_t)config->iru_prefetch,
		.ring_depth = (uint16_t)config->iru_ring_depth,
		.queue_depth = (uint16_t)config->iru_queue_depth,
	};
}

static const char *check(const struct gtu_dev_config *config)
{
	const struct iru_shape shape = shape_of(config);

	return iru_shape_check(&shape) ? "iru_sets: at least iru_partitions x iru_banks, which is at most 64" : NULL;
}

static size_t ranges_at(const struct gtu_dev_config *config)
{
	const struct iru_shape shape = shape_of(config);

	return (iru_core_bytes(&shape) + 63) & ~(size_t)63;
}

static size_t state_bytes(const struct gtu_dev_config *config)
{
	return ranges_at(config) + sizeof(struct iru_ranges);
}

static bool has_ranges(const struct gtu_job *job)
{
	return job->desc.param & GTU_IRU_RANGES;
}

static struct iru_ranges *ranges(const struct gtu_job *job)
{
	return (void *)((char *)job->page->state + ranges_at(gtu_dev_config(job->dev)));
}

/* ---- Operands ----------------------------------------------------------------------------------- */

static bool operands(struct gtu_job *job)
{
	const struct gtu_hw_operand *op = job->operand;
	const uint32_t param = job->desc.param;
	const uint8_t listed = has_ranges(job) ? GTU_REQUIRE_READ : GTU_REQUIRE_NONE;
	const struct gtu_requirement want[] = {
		{ .slot = GTU_IRU_INDICES, .width_log2 = param & GTU_IRU_INDEX_8 ? 3 : 2,
		  .need = GTU_REQUIRE_READ | (has_ranges(job) ? GTU_REQUIRE_REST : 0) },
		{ .slot = GTU_IRU_SECONDARY, .width_log2 = 2,
		  .need = GTU_REQUIRE_READ | (needs_secondary(job) ? 0 : GTU_REQUIRE_MAYBE) },
		{ .slot = GTU_IRU_RING, .width_log2 = 6, .need = GTU_REQUIRE_BOTH,
		  .bytes = STREAM_HEADER + op[GTU_IRU_RING].count * record_bytes(job) },
		{ .slot = GTU_IRU_FIRST, .width_log2 = param & GTU_IRU_FIRST_8 ? 3 : 2, .need = listed },
		{ .slot = GTU_IRU_COUNT, .width_log2 = 2, .need = listed },
	};

	if (!gtu_job_operands(job, want, GTU_IRU_OPERANDS))
		return false;
	if (op[GTU_IRU_SECONDARY].key && op[GTU_IRU_SECONDARY].count != op[GTU_IRU_INDICES].count)
		return gtu_job_error(job, GTU_CPL_OPERAND, GTU_IRU_SECONDARY, 0), false;
	if (op[GTU_IRU_COUNT].count != op[GTU_IRU_FIRST].count)
		return gtu_job_error(job, GTU_CPL_OPERAND, GTU_IRU_COUNT, 0), false;
	return true;
}

static bool start(struct gtu_job *job)
{
	const uint64_t positions = 1ull << job->page->param[GTU_IRU_P_POSITION_BITS];
	const uint32_t ring = job->operand[GTU_IRU_RING].count;

	if (job->desc.param & ~GTU_IRU_PARAM_MASK)
		return gtu_job_error(job, GTU_CPL_RESERVED, 0xff, 0), false;
	if (operation(job) > GTU_IRU_OP_ADD_F32 ||
	    (!has_ranges(job) && job->desc.param & (GTU_IRU_INDEX_8 | GTU_IRU_FIRST_8)))
		return gtu_job_error(job, GTU_CPL_PARAM, 0xff, 0), false;
	if (!ring || ring & (ring - 1))
		return gtu_job_error(job, GTU_CPL_OPERAND, GTU_IRU_RING, 0), false;
	if (!operands(job))
		return false;
	if (job->operand[GTU_IRU_INDICES].count > positions) {
		job->needed = positions;
		return gtu_job_error(job, GTU_CPL_WIDTH, GTU_IRU_INDICES, positions), false;
	}
	return true;
}

/* ---- Memory port of the core ----------------------------------------------------------------- */

static uint64_t fetch(void *ctx, unsigned p, unsigned slot, uint64_t first, unsigned count,
		      uint64_t cycle)
{
	struct gtu_job *job = ctx;

	(void)slot;
	if (has_ranges(job))
		iru_ranges_request(ranges(job), job, p, first, count, cycle);
	else
		gtu_mem_request(&job->mem[GTU_IRU_INDICES], first, count, cycle);
	if (needs_secondary(job))
		gtu_mem_request(&job->mem[GTU_IRU_SECONDARY], first, count, cycle);
	return cycle + gtu_job_latency(job, GTU_IRU_P_LATENCY);
}

/* @count elements of an operand: a pointer to them, or to @copy if they span two pages. */
static const uint32_t *elements(struct gtu_mem *m, uint64_t first, unsigned count, uint32_t *copy)
{
	uint64_t got;
	const uint8_t *p = gtu_mem_span(m, 4 * first, 4 * count, &got);

	if (!p)
		return NULL;
	if (got == 4 * count)
		return (const uint32_t *)(const void *)p;
	return gtu_mem_load(m, 4 * first, copy, 4 * count) ? copy : NULL;
}

/* The partition that fetches element @first of a stream over ranges, which counts as at byte 4 * @first. */
static unsigned partition_of(const struct iru_core *c, uint64_t first)
{
	return (unsigned)(4 * first >> c->shape.interleave_log2) & (c->partitions - 1);
}

static bool load(void *ctx, uint64_t first, unsigned count, const uint32_t **index,
		 const uint32_t **secondary, uint32_t (*copy)[IRU_LANES])
{
	struct gtu_job *job = ctx;
	const struct iru_core *c = job->page->state;

	if (has_ranges(job))
		*index = iru_ranges_load(ranges(job), job, partition_of(c, first), first, count, copy[0]);
	else
		*index = elements(&job->mem[GTU_IRU_INDICES], first, count, copy[0]);
	if (*index && needs_secondary(job)) {
		*secondary = elements(&job->mem[GTU_IRU_SECONDARY], first, count, copy[1]);
		return *secondary;
	}
	return *index;
}

/* ---- The job --------------------------------------------------------------------------------- */

/* Record @i of the stream, which the core still holds. */
static const void *record(const struct gtu_job *job, uint64_t i)
{
	const struct iru_core *c = job->page->state;

	return iru_core_out(c, (unsigned)(i - (c->records - c->out_count)));
}

static bool pump(struct gtu_job *job, struct gtu_stream *s)
{
	struct iru_core *c = job->page->state;
	const uint64_t before = c->stream.requested;
	uint64_t requested;

	if (!stream_deliver(s, c->records, record))
		return false;
	if (s->written == c->records)
		iru_core_taken(c);
	if (!(job->desc.param & GTU_IRU_DEMAND))
		return true;
	if (!stream_requested(s, 0, c->records, &requested))
		return false;
	iru_core_request(c, requested);
	s->moved |= c->stream.requested != before;
	return true;
}

static bool begin(struct gtu_job *job, struct gtu_stream *s)
{
	struct iru_core *c = job->page->state;
	const uint32_t param = job->desc.param;
	const struct iru_shape shape = shape_of(gtu_dev_config(job->dev));
	const struct iru_stream stream = {
		.n = job->operand[GTU_IRU_INDICES].count,
		.addr = has_ranges(job) ? 0 : job->mem[GTU_IRU_INDICES].addr,
		.base = job->desc.imm,
		.requested = param & GTU_IRU_DEMAND ? 0 : IRU_NEVER,
		.timeout = job->desc.param2 ? job->desc.param2 :
					      job->page->setting[GTU_IRU_S_TIMEOUT],
		.target_log2 = param >> GTU_IRU_TARGET_SHIFT & 7,
		.op = (uint8_t)operation(job),
		.all = param & GTU_IRU_ALL,
		.secondary = param & GTU_IRU_WITH_SECONDARY,
		.position = param & GTU_IRU_WITH_POSITION,
	};
	const struct iru_port port = { .ctx = job, .fetch = fetch, .load = load,
				       .latency = gtu_job_latency(job, GTU_IRU_P_LATENCY) };

	if (!c->partitions)
		iru_core_init(c, &shape);
	iru_core_start(c, &stream, &port);
	if (has_ranges(job))
		iru_ranges_start(ranges(job));
	state(job)->status = IRU_MORE;
	s->ring = &job->mem[GTU_IRU_RING];
	s->rings = 1;
	s->count = job->operand[GTU_IRU_RING].count;
	s->record_bytes = record_bytes(job);
	job->page->live[GTU_IRU_C_JOBS]++;
	return true;
}

static const uint64_t *account(struct gtu_job *job)
{
	struct iru_core *c = job->page->state;

	job->cycles = c->count.cycles = c->cycle;
	job->dropped = c->count.merged;
	c->count.in = c->stream.n - c->left;
	c->count.records = c->records;
	return (const uint64_t *)&c->count;
}

static int advance(struct gtu_job *job, const struct gtu_stream *s, uint64_t until)
{
	struct iru_core *c = job->page->state;
	struct iru_job *j = state(job);

	if (c->out_count || (j->status == IRU_IDLE && !s->moved))
		return GTU_RUN_STALLED;
	switch (j->status) {
	case IRU_UNREAD:	/* gtu_mem_span() normally has set the error already */
		return gtu_job_error(job, GTU_CPL_DMA, GTU_IRU_INDICES, c->bad);
	case IRU_WIDE:
		job->needed = c->bad_index;
		return gtu_job_error(job, GTU_CPL_WIDTH, GTU_IRU_INDICES, c->bad);
	case IRU_DONE:
		return GTU_RUN_DONE;
	}
	if (c->cycle >= until)
		return GTU_RUN_MORE;
	/* a fixed latency lets the core run ahead; an observer needs accesses in cycle order */
	c->port.latency = job->mem[GTU_IRU_INDICES].monitored ? 0 : gtu_job_latency(job, GTU_IRU_P_LATENCY);
	j->status = (uint8_t)iru_core_run(c, until);
	return STREAM_AGAIN;
}

static const struct gtu_stream_ops stream = {
	.operands = operands,
	.begin = begin,
	.pump = pump,
	.advance = advance,
	.account = account,
	.counters = GTU_IRU_COUNTERS,
};

static const char *code(bool portable)
{
	if (portable)
		iru_kernel_use_portable();
	return iru_kernel_best()->name;
}

const struct gtu_unit gtu_unit_iru = {
	.version = 2,
	.code = code,
	.exclusive = true,
	.check = check,
	.state_bytes = state_bytes,
	.latency = offsetof(struct gtu_dev_config, iru_latency),
	.start = start,
	.run = stream_run,
	.stop = stream_stop,
	.stream = &stream,
};
