// SPDX-License-Identifier: MIT
/*
 * Weaver as a unit of the device (SparseWeaver, sections III and IV): a table of registrations in,
 * a ring of warp records out, vertices to skip back. wvr_core.c decides the records and their
 * cycles. Specification: Documentation/units-weaver.md.
 */
#include "firmware-model/device/device.h"
#include "firmware-model/device/stream.h"
#include "wvr_core.h"

#define BATCH		64u		/* registrations, or vertices to skip, loaded at a time */
#define OUT_SIZE	16u		/* records buffered while the ring has no space */

struct wvr_unit {
	struct wvr_core *core;
	bool begun, waits, failed;
	uint32_t n, read;		/* registrations: total, taken so far */
	uint32_t return_size, received, changes;
	uint64_t requested, records, written; /* records: requested, made, in the ring */
	uint64_t record_bytes;
	uint32_t round;
	struct {
		uint64_t element, needed;
		unsigned status;
	} error;			/* in the table: reported once the ring holds all earlier records */
	struct {
		uint64_t cycles, records, partial;
		struct wvr_counters core;
	} added;			/* values already added to the unit's counters */
	uint64_t partial;
	uint8_t out[OUT_SIZE][GTU_WARP_BYTES(0, 2)] __attribute__((aligned(64)));
};

#define CORE_AT ((sizeof(struct wvr_unit) + 63) & ~(size_t)63)

/*
 * ---- Build parameters --------------------------------------------------------------------------
 */

static struct wvr_shape shape_of(const struct gtu_dev_config *config)
{
	return (struct wvr_shape){
		.entries = config->wvr_entries,
		.warps = config->wvr_warps,
		.table_latency = config->wvr_table_latency,
		.lanes = WVR_LANES,
	};
}

static size_t state_bytes(const struct gtu_dev_config *config)
{
	const struct wvr_shape shape = shape_of(config);

	return CORE_AT + wvr_core_bytes(&shape);
}

static uint32_t fetch_latency(const struct gtu_dev_config *config)
{
	return config->wvr_latency;
}

/*
 * ---- Operands ----------------------------------------------------------------------------------
 */

static uint64_t record_bytes(const struct gtu_job *job)
{
	const unsigned wide = !!(job->desc.param & GTU_WVR_VIDS_8) + !!(job->desc.param & GTU_WVR_EIDS_8);

	return GTU_WARP_BYTES(2u - wide, wide);
}

static bool operands(struct gtu_job *job)
{
	const uint64_t back = job->desc.param2 ? 8ull << job->desc.param2 : 0;
	const struct gtu_requirement want[] = {
		{ .slot = GTU_WVR_TABLE, .width_log2 = 5, .need = GTU_REQUIRE_READ },
		{ .slot = GTU_WVR_RING, .width_log2 = 6, .need = GTU_REQUIRE_BOTH,
		  .bytes = stream_bytes(job->operand[GTU_WVR_RING].count, record_bytes(job), back) },
	};

	return gtu_job_operands(job, want, GTU_WVR_OPERANDS);
}

static bool start(struct gtu_job *job)
{
	const uint32_t ring = job->operand[GTU_WVR_RING].count, log2 = job->desc.param2;

	((struct wvr_unit *)gtu_job_unit_state(job))->begun = false;
	if (job->desc.param & ~GTU_WVR_PARAM_MASK || job->desc.imm)
		return gtu_job_error(job, GTU_CPL_RESERVED, 0xff, 0), false;
	if (log2 && (log2 < 3 || log2 > 16))
		return gtu_job_error(job, GTU_CPL_PARAM, 0xff, 0), false;
	if (!ring || ring & (ring - 1))
		return gtu_job_error(job, GTU_CPL_OPERAND, GTU_WVR_RING, 0), false;
	return operands(job);
}

/*
 * ---- Registration -------------------------------------------------------------------------------
 */

static bool bad(struct wvr_unit *u, unsigned status, uint64_t element, uint64_t needed)
{
	u->failed = true;
	u->error.status = status;
	u->error.element = element;
	u->error.needed = needed;
	return false;
}

static bool enter(struct gtu_job *job, struct wvr_unit *u, const struct gtu_hw_registration *r)
{
	const uint64_t most_vid = job->desc.param & GTU_WVR_VIDS_8 ? WVR_NONE - 1 : UINT32_MAX - 1;
	const uint64_t most_eid = job->desc.param & GTU_WVR_EIDS_8 ? WVR_NONE - 1 : UINT32_MAX - 1;

	if (r->flags & ~GTU_WVR_LAST)
		return bad(u, GTU_CPL_RESERVED, u->read, r->flags);
	if (r->vid > most_vid)		/* -1 marks an unused lane */
		return bad(u, GTU_CPL_WIDTH, u->read, r->vid);
	if (r->degree && r->start > most_eid)
		return bad(u, GTU_CPL_WIDTH, u->read, r->start);
	if (r->degree && r->degree - 1 > most_eid - r->start)
		return bad(u, GTU_CPL_WIDTH, u->read, r->degree);
	if (wvr_core_register(u->core, r->entry, r->vid, r->start, r->degree) != WVR_OK)
		return bad(u, GTU_CPL_INDEX, u->read, r->entry);
	return true;
}

/*
 * Read the next round's registrations: the latency of a fetch, then a line per cycle. False: memory
 * failed.
 */
static bool register_round(struct gtu_job *job, struct wvr_unit *u)
{
	struct gtu_mem *m = &job->mem[GTU_WVR_TABLE];
	const uint32_t first = u->read;
	struct gtu_hw_registration r[BATCH];
	bool last = false;

	while (!last && !u->failed && u->read < u->n) {
		const uint32_t left = u->n - u->read, k = left < BATCH ? left : BATCH;

		if (!gtu_mem_load(m, (uint64_t)u->read * sizeof(*r), r, k * sizeof(*r)))
			return false;
		for (uint32_t i = 0; i < k && !last && enter(job, u, &r[i]); i++) {
			last = r[i].flags & GTU_WVR_LAST;
			u->read++;
		}
	}
	if (m->monitored)
		gtu_watch_stream(m, (uint64_t)first * sizeof(*r), (uint64_t)(u->read - first) * sizeof(*r),
				 u->core->cycle);
	wvr_core_pass(u->core, gtu_job_params(job)[GTU_WVR_P_LATENCY] +
			       (u->read - first + GTU_LINE_BYTES / sizeof(*r) - 1) /
			       (GTU_LINE_BYTES / sizeof(*r)));
	u->round++;
	return true;
}

/* ---- Records --------------------------------------------------------------------------------- */

static uint8_t *put_lanes(uint8_t *to, bool wide, const uint64_t *value)
{
	uint32_t *narrow = (void *)to;

	if (wide) {
		memcpy(to, value, 8 * WVR_LANES);
		return to + 8 * WVR_LANES;
	}
	for (unsigned i = 0; i < WVR_LANES; i++)
		narrow[i] = (uint32_t)value[i];
	return to + 4 * WVR_LANES;
}

static void make_record(struct gtu_job *job, struct wvr_unit *u, const struct wvr_work *w)
{
	uint8_t *r = u->out[u->records % OUT_SIZE], *to;
	struct gtu_hw_warp *head = (void *)r;

	memset(head, 0, sizeof(*head));
	head->active = w->active;
	head->sequence = (uint32_t)u->records++;
	head->reason = ~w->active ? GTU_WARP_END : GTU_WARP_FULL;
	head->lines = u->round - 1;
	head->cycle = w->cycle;
	to = put_lanes(r + sizeof(*head), job->desc.param & GTU_WVR_VIDS_8, w->vid);
	put_lanes(to, job->desc.param & GTU_WVR_EIDS_8, w->eid);
	u->partial += head->reason == GTU_WARP_END;
}

/* Move records to the ring while it has space: 1 if any moved, 0 if not, -1 on an error. */
static int deliver(struct gtu_job *job, struct wvr_unit *u)
{
	struct gtu_mem *ring = &job->mem[GTU_WVR_RING];
	const uint32_t count = job->operand[GTU_WVR_RING].count;
	const uint64_t before = u->written;
	uint32_t free;

	if (u->written == u->records)
		return 0;
	if (!stream_space(ring, 0, count, u->written, &free))
		return -1;
	for (; u->written < u->records && free; u->written++, free--) {
		const uint8_t *r = u->out[u->written % OUT_SIZE];
		const uint64_t at = STREAM_HEADER + (u->written & (count - 1)) * u->record_bytes;

		if (!stream_put(ring, at, r, u->record_bytes))
			return -1;
	}
	if (u->written == before)
		return 0;
	job->count = u->written;
	return STREAM_STORE(ring, 0, producer, (uint32_t)u->written) && stream_notify(ring, &u->changes) ? 1 : -1;
}

static int take_skips(struct gtu_job *job, struct wvr_unit *u)
{
	struct gtu_mem *ring = &job->mem[GTU_WVR_RING];
	const uint64_t at = STREAM_HEADER + job->operand[GTU_WVR_RING].count * u->record_bytes;
	uint64_t vid[BATCH];
	uint32_t sent;

	if (!u->return_size)
		return 0;
	if (!stream_sent(ring, 0, u->return_size, u->received, &sent))
		return -1;
	if (!sent)
		return 0;
	while (sent) {
		const uint32_t from = u->received & (u->return_size - 1);
		uint32_t k = sent < BATCH ? sent : BATCH;

		k = k < u->return_size - from ? k : u->return_size - from;
		if (!gtu_mem_load(ring, at + 8ull * from, vid, 8ull * k))
			return -1;
		for (uint32_t i = 0; i < k; i++)
			wvr_core_skip(u->core, vid[i]);
		u->received += k;
		sent -= k;
	}
	return STREAM_STORE(ring, 0, received, u->received) && stream_notify(ring, &u->changes) ? 1 : -1;
}

static int poll_requests(struct gtu_job *job, struct wvr_unit *u)
{
	const uint64_t before = u->requested;

	if (!(job->desc.param & GTU_WVR_DEMAND))
		return 0;
	if (!stream_requested(&job->mem[GTU_WVR_RING], 0, u->records, &u->requested))
		return -1;
	if (u->requested < before)		/* a request cannot be withdrawn */
		u->requested = before;
	return u->requested != before;
}

static int pump(struct gtu_job *job, struct wvr_unit *u)
{
	const int out = deliver(job, u), requested = out < 0 ? -1 : poll_requests(job, u);
	const int skipped = requested < 0 ? -1 : take_skips(job, u);

	return skipped < 0 ? -1 : out | requested | skipped;
}

/* ---- The job --------------------------------------------------------------------------------- */

static bool begin(struct gtu_job *job, struct wvr_unit *u)
{
	const struct wvr_shape shape = shape_of(gtu_dev_config(job->dev));
	struct wvr_core *core = u->core ? u->core : wvr_core_init((uint8_t *)u + CORE_AT, &shape);

	memset(u, 0, offsetof(struct wvr_unit, out));
	u->core = core;
	wvr_core_start(core);
	core->state = WVR_S8;	/* as after a round: the first registration starts one */
	u->begun = true;
	u->n = job->operand[GTU_WVR_TABLE].count;
	u->record_bytes = record_bytes(job);
	u->return_size = job->desc.param2 ? 1u << job->desc.param2 : 0;
	u->requested = job->desc.param & GTU_WVR_DEMAND ? 0 : UINT64_MAX;
	gtu_job_counters(job)[GTU_WVR_C_JOBS]++;
	return stream_begin(&job->mem[GTU_WVR_RING], 0) &&
	       STREAM_STORE(&job->mem[GTU_WVR_RING], 0, received, 0) &&
	       STREAM_STORE(&job->mem[GTU_WVR_RING], 0, changes, 0);
}

static void account(struct gtu_job *job, struct wvr_unit *u)
{
	const struct wvr_counters *core = &u->core->count;
	uint64_t *count = gtu_job_counters(job);

	job->cycles = u->core->cycle;
	job->dropped = core->skipped;
#define ADD(counter, value, field_)                                                                \
	do {                                                                                       \
		count[counter] += (value) - u->added.field_;                                       \
		u->added.field_ = (value);                                                         \
	} while (0)
	ADD(GTU_WVR_C_CYCLES, u->core->cycle, cycles);
	ADD(GTU_WVR_C_RECORDS, u->records, records);
	ADD(GTU_WVR_C_PARTIAL, u->partial, partial);
	ADD(GTU_WVR_C_ROUNDS, core->rounds, core.rounds);
	ADD(GTU_WVR_C_REGISTERED, core->registered, core.registered);
	ADD(GTU_WVR_C_WORK, core->work, core.work);
	ADD(GTU_WVR_C_SKIPS, core->skips, core.skips);
	ADD(GTU_WVR_C_SKIPPED, core->skipped, core.skipped);
	for (unsigned s = 0; s < GTU_WVR_STATES; s++)
		ADD(GTU_WVR_C_STATE(s), core->state[s], core.state[s]);
#undef ADD
}

/* Serve requests until cycle @until while records have space. False: memory failed. */
static bool serve(struct gtu_job *job, struct wvr_unit *u, uint64_t until)
{
	struct wvr_core *c = u->core;
	struct wvr_work work;

	while (c->cycle < until && u->records - u->written < OUT_SIZE && !u->failed) {
		if (c->state == WVR_S8) {
			if (u->read == u->n)
				return true;
			if (!register_round(job, u))
				return false;
		}
		if (u->failed || u->records >= u->requested)
			return true;
		wvr_core_decode(c, &work);
		if (work.active)
			make_record(job, u, &work);
	}
	return true;
}

static int run_until(struct gtu_job *job, struct wvr_unit *u, uint64_t until)
{
	const struct wvr_core *c = u->core;

	for (;;) {
		const int moved = pump(job, u);
		const bool over = u->failed || (c->state == WVR_S8 && u->read == u->n);
		const bool requested = u->records < u->requested || (c->state == WVR_S8 && !over);

		if (moved < 0)
			return GTU_RUN_DONE;
		if (moved && u->waits) {
			if (!STREAM_STORE(&job->mem[GTU_WVR_RING], 0, waiting, 0))
				return GTU_RUN_DONE;
			u->waits = false;
		}
		if (over && u->written == u->records) {
			if (u->failed) {
				job->needed = u->error.needed;
				gtu_job_error(job, u->error.status, GTU_WVR_TABLE, u->error.element);
			}
			return GTU_RUN_DONE;
		}
		/* while a record waits for ring space, the clock stops */
		if (u->written == u->records && requested) {
			if (c->cycle >= until)
				return GTU_RUN_MORE;
			if (!serve(job, u, until))
				return GTU_RUN_DONE;
			continue;
		}
		if (u->waits)
			return GTU_RUN_STALLED;
		/* set `waiting`, then poll once more (see wait_for_consumer() in iru.c) */
		if (!STREAM_STORE(&job->mem[GTU_WVR_RING], 0, waiting, 1))
			return GTU_RUN_DONE;
		u->waits = true;
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
	}
}

static void end_rings(struct gtu_job *job)
{
	struct wvr_unit *u = gtu_job_unit_state(job);

	if (STREAM_STORE(&job->mem[GTU_WVR_RING], 0, waiting, 0) &&
	    STREAM_STORE(&job->mem[GTU_WVR_RING], 0, ended, 1))
		stream_notify(&job->mem[GTU_WVR_RING], &u->changes);
}

static int run_job(struct gtu_job *job, uint64_t budget)
{
	struct wvr_unit *u = gtu_job_unit_state(job);
	int ran;

	if (!operands(job))
		return GTU_RUN_DONE;
	if (!u->begun && !begin(job, u))
		return GTU_RUN_DONE;
	/* run one cycle past the limit, so that exceeding it does not depend on how run() calls are cut */
	if (budget > job->limit - u->core->cycle)
		budget = job->limit - u->core->cycle + 1;
	ran = run_until(job, u, u->core->cycle + budget);
	account(job, u);
	if (u->core->cycle > job->limit) {
		job->cycles = job->limit;
		ran = gtu_job_error(job, GTU_CPL_LIMIT, 0xff, 0);
	}
	/* also in error: a consumer that reads only its ring learns that no records will follow */
	if (ran == GTU_RUN_DONE)
		end_rings(job);
	return ran;
}

static void stop_job(struct gtu_job *job)
{
	if (((struct wvr_unit *)gtu_job_unit_state(job))->begun && operands(job))
		end_rings(job);
}

const struct gtu_unit gtu_unit_wvr = {
	.version = 1,
	.exclusive = true,
	.state_bytes = state_bytes,
	.latency = fetch_latency,
	.start = start,
	.run = run_job,
	.stop = stop_job,
};
