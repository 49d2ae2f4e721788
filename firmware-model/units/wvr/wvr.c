// SPDX-License-Identifier: MIT
/*
 * Weaver as a unit of the device (SparseWeaver, sections III and IV): a table of registrations in,
 * a ring of warp records out, vertices to skip back. wvr_core.c decides the records and their
 * cycles. Specification: Documentation/units-weaver.md.
 */
#include "firmware-model/device/device.h"
#include "firmware-model/device/stream.h"
#include "wvr_core.h"

#define BATCH		64u		/* registrations loaded at a time */
#define OUT_SIZE	16u		/* records buffered while the ring has no space */
#define FIELDS		4u		/* of a record: vid, eid, target, weight */

struct wvr_unit {
	struct wvr_core *core;
	bool failed;
	uint32_t n, read;		/* registrations: total, taken so far */
	uint32_t received;		/* entries of the return ring */
	uint64_t requested, records;	/* records: requested, made */
	uint32_t round;
	struct {
		uint64_t element, needed;
		unsigned status, slot;
	} error;			/* in an operand: reported once the ring holds all earlier records */
	uint8_t out[OUT_SIZE][GTU_WARP_BYTES(0, FIELDS)] __attribute__((aligned(64)));
};

#define CORE_AT ((sizeof(struct wvr_unit) + 63) & ~(size_t)63)

/* ---- Build parameters --------------------------------------------------------------------------- */

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

/* ---- Operands ----------------------------------------------------------------------------------- */

static uint64_t record_bytes(const struct gtu_job *job)
{
	const uint32_t p = job->desc.param;
	const bool target = p & GTU_WVR_WITH_TARGET, weight = p & GTU_WVR_WITH_WEIGHT;
	const unsigned wide = !!(p & GTU_WVR_VIDS_8) + !!(p & GTU_WVR_EIDS_8) +
			      (target && p & GTU_WVR_TARGETS_8) + (weight && p & GTU_WVR_WEIGHTS_8);

	return GTU_WARP_BYTES(2u + target + weight - wide, wide);
}

static bool operands(struct gtu_job *job)
{
	const uint64_t return_bytes = job->desc.param2 ? 8ull << job->desc.param2 : 0;
	const uint32_t p = job->desc.param;
	const struct gtu_requirement want[] = {
		{ .slot = GTU_WVR_TABLE, .width_log2 = 5, .need = GTU_REQUIRE_READ },
		{ .slot = GTU_WVR_RING, .width_log2 = 6, .need = GTU_REQUIRE_BOTH,
		  .bytes = GTU_PEG_STRIDE(job->operand[GTU_WVR_RING].count, record_bytes(job), return_bytes) },
		{ .slot = GTU_WVR_EDGES, .width_log2 = p & GTU_WVR_TARGETS_8 ? 3 : 2, .rest = 1,
		  .need = p & GTU_WVR_WITH_TARGET ? GTU_REQUIRE_READ : GTU_REQUIRE_NONE },
		{ .slot = GTU_WVR_WEIGHTS, .width_log2 = p & GTU_WVR_WEIGHTS_8 ? 3 : 2, .rest = 1,
		  .need = p & GTU_WVR_WITH_WEIGHT ? GTU_REQUIRE_READ : GTU_REQUIRE_NONE },
	};

	return gtu_job_operands(job, want, GTU_WVR_OPERANDS);
}

static bool start(struct gtu_job *job)
{
	const uint32_t ring = job->operand[GTU_WVR_RING].count, log2 = job->desc.param2;
	const uint32_t param = job->desc.param;

	if (param & ~GTU_WVR_PARAM_MASK || job->desc.imm)
		return gtu_job_error(job, GTU_CPL_RESERVED, 0xff, 0), false;
	if ((log2 && (log2 < 3 || log2 > 16)) ||
	    (param & GTU_WVR_TARGETS_8 && !(param & GTU_WVR_WITH_TARGET)) ||
	    (param & GTU_WVR_WEIGHTS_8 && !(param & GTU_WVR_WITH_WEIGHT)))
		return gtu_job_error(job, GTU_CPL_PARAM, 0xff, 0), false;
	if (!ring || ring & (ring - 1))
		return gtu_job_error(job, GTU_CPL_OPERAND, GTU_WVR_RING, 0), false;
	return operands(job);
}

/* ---- Registration ------------------------------------------------------------------------------- */

static bool bad_at(struct wvr_unit *u, unsigned slot, unsigned status, uint64_t element, uint64_t needed)
{
	u->failed = true;
	u->error.status = status;
	u->error.slot = slot;
	u->error.element = element;
	u->error.needed = needed;
	return false;
}

static bool bad(struct wvr_unit *u, unsigned status, uint64_t element, uint64_t needed)
{
	return bad_at(u, GTU_WVR_TABLE, status, element, needed);
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
	wvr_core_pass(u->core, gtu_job_latency(job, GTU_WVR_P_LATENCY) +
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

/* value[l] = element eid[l] of operand @slot, and report the access. False: it does not exist, or memory failed. */
static bool load_lanes(struct gtu_job *job, struct wvr_unit *u, unsigned slot, const struct wvr_work *w,
		       uint64_t value[WVR_LANES])
{
	struct gtu_mem *m = &job->mem[slot];
	uint64_t byte[WVR_LANES];
	unsigned l, n = 0;

	for (l = 0; l < WVR_LANES; l++) {
		value[l] = WVR_NONE;
		if (!(w->active >> l & 1))
			continue;
		if (w->eid[l] >= m->count)
			return bad_at(u, slot, GTU_CPL_INDEX, w->eid[l], w->vid[l]);
		value[l] = 0;
		byte[n] = w->eid[l] << m->width_log2;
		if (!gtu_mem_load(m, byte[n++], &value[l], 1u << m->width_log2))
			return false;
	}
	if (m->monitored)
		gtu_watch_gather(m, byte, n, w->cycle);
	return true;
}

/* False: an edge of the record does not exist (u->failed), or memory failed. */
static bool make_record(struct gtu_job *job, struct wvr_unit *u, const struct wvr_work *w)
{
	const uint32_t param = job->desc.param;
	const bool with_target = param & GTU_WVR_WITH_TARGET, with_weight = param & GTU_WVR_WITH_WEIGHT;
	uint8_t *r = u->out[u->records % OUT_SIZE], *to;
	uint64_t target[WVR_LANES], weight[WVR_LANES];
	struct gtu_hw_warp *head = (void *)r;

	if ((with_target && !load_lanes(job, u, GTU_WVR_EDGES, w, target)) ||
	    (with_weight && !load_lanes(job, u, GTU_WVR_WEIGHTS, w, weight)))
		return false;
	memset(head, 0, sizeof(*head));
	head->active = w->active;
	head->sequence = (uint32_t)u->records++;
	head->reason = ~w->active ? GTU_WARP_END : GTU_WARP_FULL;
	head->lines = u->round - 1;
	head->cycle = w->cycle;
	to = put_lanes(r + sizeof(*head), param & GTU_WVR_VIDS_8, w->vid);
	to = put_lanes(to, param & GTU_WVR_EIDS_8, w->eid);
	if (with_target)
		to = put_lanes(to, param & GTU_WVR_TARGETS_8, target);
	if (with_weight)
		put_lanes(to, param & GTU_WVR_WEIGHTS_8, weight);
	u->core->count.partial += head->reason == GTU_WARP_END;
	return true;
}

static const void *record(const struct gtu_job *job, uint64_t i)
{
	const struct wvr_unit *u = job->page->state;

	return u->out[i % OUT_SIZE];
}

static bool deliver(const struct wvr_unit *u, struct gtu_stream *s)
{
	const uint64_t before = s->written;

	return stream_deliver(s, u->records, record) && (s->written == before || stream_notify(s));
}

static bool skip(struct gtu_job *job, unsigned n, uint64_t byte, unsigned count)
{
	struct wvr_unit *u = job->page->state;
	uint64_t vid[STREAM_BATCH];

	(void)n;
	if (!gtu_mem_load(&job->mem[GTU_WVR_RING], byte, vid, 8ull * count))
		return false;
	for (unsigned i = 0; i < count; i++)
		wvr_core_skip(u->core, vid[i]);
	return true;
}

static bool take_skips(struct wvr_unit *u, struct gtu_stream *s)
{
	uint32_t entries;

	if (!s->return_size)
		return true;
	if (!stream_returned(s, 0, u->received, &entries, NULL))
		return false;
	return !entries || (stream_receive(s, 0, &u->received, entries, skip) && stream_notify(s));
}

static bool poll_requests(struct wvr_unit *u, struct gtu_stream *s)
{
	const uint64_t before = u->requested;

	if (!stream_requested(s, 0, u->records, &u->requested))
		return false;
	if (u->requested < before)		/* a request cannot be withdrawn */
		u->requested = before;
	s->moved |= u->requested != before;
	return true;
}

static bool pump(struct gtu_job *job, struct gtu_stream *s)
{
	struct wvr_unit *u = job->page->state;

	return deliver(u, s) && (!(job->desc.param & GTU_WVR_DEMAND) || poll_requests(u, s)) && take_skips(u, s);
}

/* ---- The job --------------------------------------------------------------------------------- */

static bool begin(struct gtu_job *job, struct gtu_stream *s)
{
	struct wvr_unit *u = job->page->state;
	const struct wvr_shape shape = shape_of(gtu_dev_config(job->dev));
	struct wvr_core *core = u->core ? u->core : wvr_core_init((uint8_t *)u + CORE_AT, &shape);

	memset(u, 0, offsetof(struct wvr_unit, out));
	u->core = core;
	wvr_core_start(core);
	core->state = WVR_S8;	/* as after a round: the first registration starts one */
	u->n = job->operand[GTU_WVR_TABLE].count;
	u->requested = job->desc.param & GTU_WVR_DEMAND ? 0 : UINT64_MAX;
	s->ring = &job->mem[GTU_WVR_RING];
	s->rings = 1;
	s->count = job->operand[GTU_WVR_RING].count;
	s->record_bytes = record_bytes(job);
	s->return_size = job->desc.param2 ? 1u << job->desc.param2 : 0;
	s->return_width = 8;
	s->counts_changes = true;
	job->page->live[GTU_WVR_C_JOBS]++;
	return true;
}

static const uint64_t *account(struct gtu_job *job)
{
	const struct wvr_unit *u = job->page->state;
	struct wvr_counters *count = &u->core->count;

	job->cycles = count->cycles = u->core->cycle;
	job->dropped = count->skipped;
	count->records = u->records;
	return (const uint64_t *)count;
}

/* Serve requests until cycle @until while records have space; @written are in the ring. False: memory failed. */
static bool serve(struct gtu_job *job, struct wvr_unit *u, uint64_t written, uint64_t until)
{
	struct wvr_core *c = u->core;
	struct wvr_work work;

	while (c->cycle < until && u->records - written < OUT_SIZE && !u->failed) {
		if (c->state == WVR_S8) {
			if (u->read == u->n)
				return true;
			if (!register_round(job, u))
				return false;
		}
		if (u->failed || u->records >= u->requested)
			return true;
		wvr_core_decode(c, &work);
		if (work.active && !make_record(job, u, &work))
			return u->failed;
	}
	return true;
}

static int advance(struct gtu_job *job, const struct gtu_stream *s, uint64_t until)
{
	struct wvr_unit *u = job->page->state;
	const struct wvr_core *c = u->core;

	/* while a record waits for ring space, the clock stops */
	if (s->written != u->records)
		return GTU_RUN_STALLED;
	if (u->failed) {
		job->needed = u->error.needed;
		return gtu_job_error(job, u->error.status, u->error.slot, u->error.element);
	}
	if (c->state == WVR_S8 && u->read == u->n)
		return GTU_RUN_DONE;
	if (u->records >= u->requested && c->state != WVR_S8)
		return GTU_RUN_STALLED;
	if (c->cycle >= until)
		return GTU_RUN_MORE;
	return serve(job, u, s->written, until) ? STREAM_AGAIN : GTU_RUN_DONE;
}

static const struct gtu_stream_ops stream = {
	.operands = operands,
	.begin = begin,
	.pump = pump,
	.advance = advance,
	.account = account,
	.counters = GTU_WVR_COUNTERS,
};

const struct gtu_unit gtu_unit_wvr = {
	.version = 2,
	.exclusive = true,
	.state_bytes = state_bytes,
	.latency = offsetof(struct gtu_dev_config, wvr_latency),
	.start = start,
	.run = stream_run,
	.stop = stream_stop,
	.stream = &stream,
};
