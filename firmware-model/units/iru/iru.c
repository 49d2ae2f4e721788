// SPDX-License-Identifier: MIT
/*
 * The IRU as a unit of the device (IRU, sections 3 and 4): operands in, a ring of warp records out.
 * iru_core.c decides the records and their cycles. This file serves the core's fetches after a
 * fixed latency and passes its records to the consumer. Specification: Documentation/units-iru.md.
 */
#include "firmware-model/device/device.h"
#include "iru_core.h"
#include "firmware-model/device/stream.h"

/* State of one stream, in the job. */
struct iru_job {
	bool begun, waits;
	uint8_t status;			/* enum iru_status of the core's last run */
	uint32_t sent;			/* records delivered of those the core holds */
	uint64_t written;		/* records in the ring so far */
	uint64_t record_bytes;
	struct {
		uint64_t cycles, in, records;
		struct iru_counters core;
	} added;				/* values already added to the unit's counters */
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

static unsigned fields(const struct gtu_job *job)
{
	return 1u + !!(job->desc.param & GTU_IRU_WITH_SECONDARY) +
	       !!(job->desc.param & GTU_IRU_WITH_POSITION);
}

/*
 * ---- Build parameters --------------------------------------------------------------------------
 */

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

static size_t state_bytes(const struct gtu_dev_config *config)
{
	const struct iru_shape shape = shape_of(config);

	return iru_core_bytes(&shape);
}

/*
 * ---- Operands ----------------------------------------------------------------------------------
 */

static bool operands(struct gtu_job *job)
{
	const struct gtu_hw_operand *op = job->operand;
	const uint64_t record = GTU_WARP_BYTES((uint64_t)fields(job), 0);
	const struct gtu_requirement want[] = {
		{ .slot = GTU_IRU_INDICES, .width_log2 = 2, .need = GTU_REQUIRE_READ },
		{ .slot = GTU_IRU_SECONDARY, .width_log2 = 2,
		  .need = GTU_REQUIRE_READ | (needs_secondary(job) ? 0 : GTU_REQUIRE_MAYBE) },
		{ .slot = GTU_IRU_RING, .width_log2 = 6, .need = GTU_REQUIRE_BOTH,
		  .bytes = STREAM_HEADER + op[GTU_IRU_RING].count * record },
	};

	if (!gtu_job_operands(job, want, GTU_IRU_OPERANDS))
		return false;
	if (op[GTU_IRU_SECONDARY].key && op[GTU_IRU_SECONDARY].count != op[GTU_IRU_INDICES].count)
		return gtu_job_error(job, GTU_CPL_OPERAND, GTU_IRU_SECONDARY, 0), false;
	return true;
}

static bool start(struct gtu_job *job)
{
	const uint32_t param = job->desc.param, *build = gtu_job_params(job);
	const uint32_t ring = job->operand[GTU_IRU_RING].count;
	const uint64_t n = job->operand[GTU_IRU_INDICES].count;
	const unsigned position_bits = build[GTU_IRU_P_POSITION_BITS];
	const struct iru_shape shape = shape_of(gtu_dev_config(job->dev));

	if (iru_shape_check(&shape))
		return gtu_job_error(job, GTU_CPL_ABSENT, 0xff, 0), false;
	if (param & ~GTU_IRU_PARAM_MASK)
		return gtu_job_error(job, GTU_CPL_RESERVED, 0xff, 0), false;
	if (operation(job) > GTU_IRU_OP_ADD_F32)
		return gtu_job_error(job, GTU_CPL_PARAM, 0xff, 0), false;
	if (!ring || ring & (ring - 1))
		return gtu_job_error(job, GTU_CPL_OPERAND, GTU_IRU_RING, 0), false;
	if (!operands(job))
		return false;
	if (n > 1ull << position_bits) {
		job->needed = 1ull << position_bits;
		return gtu_job_error(job, GTU_CPL_WIDTH, GTU_IRU_INDICES, job->needed), false;
	}
	return true;
}

/* ---- Memory port of the core ----------------------------------------------------------------- */

static uint64_t fetch(void *ctx, unsigned p, unsigned slot, uint64_t first, unsigned count,
		      uint64_t cycle)
{
	struct gtu_job *job = ctx;

	(void)p, (void)slot;
	for (unsigned slot = GTU_IRU_INDICES; slot <= GTU_IRU_SECONDARY; slot++) {
		struct gtu_mem *m = &job->mem[slot];

		if (slot == GTU_IRU_SECONDARY && !needs_secondary(job))
			break;
		if (m->monitored)
			gtu_watch_stream(m, 4 * first, 4 * count, cycle);
		if (m->base) {
			__builtin_prefetch(m->base + 4 * first);
			__builtin_prefetch(m->base + 4 * first + 64);
		}
	}
	return cycle + gtu_job_params(job)[GTU_IRU_P_LATENCY];
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

static bool load(void *ctx, uint64_t first, unsigned count, const uint32_t **index,
		 const uint32_t **secondary, uint32_t (*copy)[IRU_LANES])
{
	struct gtu_job *job = ctx;

	*index = elements(&job->mem[GTU_IRU_INDICES], first, count, copy[0]);
	if (*index && needs_secondary(job)) {
		*secondary = elements(&job->mem[GTU_IRU_SECONDARY], first, count, copy[1]);
		return *secondary;
	}
	return *index;
}

/* ---- The ring -------------------------------------------------------------------------------- */

static struct gtu_mem *ring_of(struct gtu_job *job)
{
	return &job->mem[GTU_IRU_RING];
}

static bool space(struct gtu_job *job, uint32_t *records)
{
	return stream_space(ring_of(job), 0, job->operand[GTU_IRU_RING].count, state(job)->written, records);
}

static bool poll_requests(struct gtu_job *job, struct iru_core *c)
{
	uint64_t requested;

	if (!(job->desc.param & GTU_IRU_DEMAND))
		return true;
	if (!stream_requested(ring_of(job), 0, c->records, &requested))
		return false;
	iru_core_request(c, requested);
	return true;
}

/* Move records from the core to the ring while it has space; false on an error. */
static bool deliver(struct gtu_job *job, struct iru_core *c)
{
	struct iru_job *s = state(job);
	struct gtu_mem *ring = &job->mem[GTU_IRU_RING];
	const uint32_t mask = job->operand[GTU_IRU_RING].count - 1;
	uint32_t free = 0;

	if (!c->out_count)
		return true;
	if (!space(job, &free))
		return false;
	if (!free)
		return true;
	for (; s->sent < c->out_count && free; s->sent++, free--, s->written++) {
		const struct iru_record *r = iru_core_out(c, s->sent);
		const uint64_t at = STREAM_HEADER + (s->written & mask) * s->record_bytes;

		if (!stream_put(ring, at, r, s->record_bytes))
			return false;
	}
	if (s->sent == c->out_count) {
		s->sent = 0;
		iru_core_taken(c);
	}
	job->count = s->written;
	if (!STREAM_STORE(ring_of(job), 0, producer, (uint32_t)s->written))
		return false;
	gtu_job_produced(job, (uint32_t)s->written);
	return true;
}

/*
 * Before the stream waits, set `waiting`, then poll once more: either this poll sees the consumer's
 * update, or the consumer sees `waiting` and rings the doorbell. 1: wait, 0: continue, -1: error.
 */
static int wait_for_consumer(struct gtu_job *job, struct iru_core *c)
{
	uint32_t free;

	if (!STREAM_STORE(ring_of(job), 0, waiting, 1))
		return -1;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (!space(job, &free) || !poll_requests(job, c))
		return -1;
	if (c->out_count ? !free : c->records >= c->stream.requested)
		return 1;
	return STREAM_STORE(ring_of(job), 0, waiting, 0) ? 0 : -1;
}

/* ---- The job --------------------------------------------------------------------------------- */

static bool begin(struct gtu_job *job, struct iru_core *c)
{
	struct iru_job *s = state(job);
	const uint32_t param = job->desc.param, latency = gtu_job_params(job)[GTU_IRU_P_LATENCY];
	const struct iru_shape shape = shape_of(gtu_dev_config(job->dev));
	const struct iru_stream stream = {
		.n = job->operand[GTU_IRU_INDICES].count,
		.addr = job->mem[GTU_IRU_INDICES].addr,
		.base = job->desc.imm,
		.requested = param & GTU_IRU_DEMAND ? 0 : IRU_NEVER,
		.timeout = job->desc.param2 ? job->desc.param2 :
					      gtu_job_settings(job)[GTU_IRU_S_TIMEOUT],
		.target_log2 = param >> GTU_IRU_TARGET_SHIFT & 7,
		.op = (uint8_t)operation(job),
		.all = param & GTU_IRU_ALL,
		.secondary = param & GTU_IRU_WITH_SECONDARY,
		.position = param & GTU_IRU_WITH_POSITION,
	};
	const struct iru_port port = { .ctx = job, .fetch = fetch, .load = load, .latency = latency };

	if (!c->partitions)
		iru_core_init(c, &shape);
	iru_core_start(c, &stream, &port);
	s->begun = true;
	s->status = IRU_MORE;
	s->record_bytes = GTU_WARP_BYTES(fields(job), 0);
	gtu_job_counters(job)[GTU_IRU_C_JOBS]++;
	return stream_begin(ring_of(job), 0);
}

/* Update the completion and the counters from the core. */
static void account(struct gtu_job *job, const struct iru_core *c)
{
	struct iru_job *s = state(job);
	uint64_t *count = gtu_job_counters(job);
	const uint64_t in = c->stream.n - c->left;

	job->cycles = c->cycle;
	job->dropped = c->count.merged;
#define ADD(counter, value, field_)                                                                \
	do {                                                                                       \
		count[counter] += (value) - s->added.field_;                                       \
		s->added.field_ = (value);                                                         \
	} while (0)
	ADD(GTU_IRU_C_CYCLES, c->cycle, cycles);
	ADD(GTU_IRU_C_IN, in, in);
	ADD(GTU_IRU_C_RECORDS, c->records, records);
	ADD(GTU_IRU_C_MERGED, c->count.merged, core.merged);
	ADD(GTU_IRU_C_FULL, c->count.full, core.full);
	ADD(GTU_IRU_C_TIMEOUT, c->count.timeout, core.timeout);
	ADD(GTU_IRU_C_END, c->count.end, core.end);
	ADD(GTU_IRU_C_DISABLED, c->count.disabled, core.disabled);
	ADD(GTU_IRU_C_LINES, c->count.lines, core.lines);
	ADD(GTU_IRU_C_HOPS, c->count.hops, core.hops);
	ADD(GTU_IRU_C_BLOCKED, c->count.blocked, core.blocked);
#undef ADD
}

/* The core has no more records, and the ring holds every record. */
static int finish(struct gtu_job *job, const struct iru_core *c)
{
	switch (state(job)->status) {
	case IRU_UNREAD:	/* gtu_mem_span() normally has set the error already */
		gtu_job_error(job, GTU_CPL_DMA, GTU_IRU_INDICES, c->bad);
		break;
	case IRU_WIDE:
		job->needed = c->bad_index;
		gtu_job_error(job, GTU_CPL_WIDTH, GTU_IRU_INDICES, c->bad);
		break;
	}
	return GTU_RUN_DONE;
}

static int run_until(struct gtu_job *job, struct iru_core *c, uint64_t until)
{
	struct iru_job *s = state(job);

	for (;;) {
		int wait;

		if (!deliver(job, c))
			return GTU_RUN_DONE;
		if (c->out_count) {
			wait = wait_for_consumer(job, c);
		} else if (s->status == IRU_DONE || s->status == IRU_UNREAD || s->status == IRU_WIDE) {
			return finish(job, c);
		} else {
			if (!poll_requests(job, c))
				return GTU_RUN_DONE;
			if (c->cycle >= until)
				return GTU_RUN_MORE;
			s->status = (uint8_t)iru_core_run(c, until);
			if (s->status != IRU_IDLE || c->out_count)
				continue;
			wait = wait_for_consumer(job, c);
		}
		if (wait)
			return wait < 0 ? GTU_RUN_DONE : GTU_RUN_STALLED;
	}
}

static int run_job(struct gtu_job *job, uint64_t budget)
{
	struct iru_job *s = state(job);
	struct iru_core *c = gtu_job_unit_state(job);
	int ran;

	if (!operands(job))
		return GTU_RUN_DONE;
	if (!s->begun && !begin(job, c))
		return GTU_RUN_DONE;
	/* a fixed latency lets the core run ahead; an observer needs accesses in cycle order */
	c->port.latency = job->mem[GTU_IRU_INDICES].monitored ? 0 : gtu_job_params(job)[GTU_IRU_P_LATENCY];
	if (s->waits)
		s->waits = !STREAM_STORE(ring_of(job), 0, waiting, 0);
	/*
	 * run one cycle past the limit, so that exceeding it does not depend on how run() calls are
	 * cut
	 */
	if (budget > job->limit - c->cycle)
		budget = job->limit - c->cycle + 1;
	ran = run_until(job, c, c->cycle + budget);
	account(job, c);
	if (c->cycle > job->limit) {
		job->cycles = job->limit;
		ran = gtu_job_error(job, GTU_CPL_LIMIT, 0xff, 0);
	}
	/* also in error: a consumer that reads only its ring learns that no records will follow */
	if (ran == GTU_RUN_DONE)
		STREAM_STORE(ring_of(job), 0, ended, 1);
	s->waits = ran == GTU_RUN_STALLED;
	return ran;
}

/* The job ends while it waits for its consumer, which may read only the ring. */
static void stop_job(struct gtu_job *job)
{
	if (operands(job) && STREAM_STORE(ring_of(job), 0, waiting, 0))
		STREAM_STORE(ring_of(job), 0, ended, 1);
}

static uint32_t fetch_latency(const struct gtu_dev_config *config)
{
	return config->iru_latency;
}

const struct gtu_unit gtu_unit_iru = {
	.version = 1,
	.exclusive = true,
	.check = check,
	.state_bytes = state_bytes,
	.latency = fetch_latency,
	.start = start,
	.run = run_job,
	.stop = stop_job,
};
