// SPDX-License-Identifier: MIT
/* The IRU in the memory partitions: port, clock and host interface of struct iru_core. */
#include <stdlib.h>

#include "iru_unit.h"

const struct iru_shape lab_iru_published = {
	.sets_log2 = 10, .partitions_log2 = 2, .banks_log2 = 1, .interleave_log2 = 8, .index_bits = 32,
	.position_bits = 32, .prefetch = 8, .ring_depth = 64, .queue_depth = 64,
};

struct lab_iru {
	struct lab *lab;
	int unit;
	struct iru_core *core;
	uint64_t timeout;
	bool interleaved;

	/* the stream */
	bool running;
	uint64_t start_cycle;			/* the lab's cycle at the core's cycle 0 */
	struct lab_array index, secondary;
	uint64_t requested, answered, active;
	unsigned fields;
	uint32_t record_bytes;		/* of a reply's packet */

	uint32_t *queue;		/* warps with open requests, oldest first; a ring */
	uint32_t queue_size, queue_head, queue_count;
	uint8_t waiting[IRU_PARTITIONS_MAX][IRU_PREFETCH_MAX]; /* lines in flight of each fetch */
	struct lab_iru_counts counts;
};

/* ---- The core's port ------------------------------------------------------------------------- */

/* The partition that has the slice of the line at @addr. */
static unsigned partition_of(const struct lab_iru *u, uint64_t addr)
{
	return lab_slice_of(u->lab, addr) * u->core->partitions / lab_machine_of(u->lab)->l2_slices;
}

/* IRU, section 3.2.1: "Each IRU only prefetches information from its corresponding memory partition." */
static unsigned owner(void *ctx, uint64_t line)
{
	return partition_of(ctx, line * GTU_LINE_BYTES);
}

static void fetch_line(struct lab_iru *u, const struct lab_array *a, unsigned p, unsigned slot, uint64_t first,
		       unsigned count)
{
	u->waiting[p][slot]++;
	u->counts.fetches++;
	u->counts.foreign += partition_of(u, a->addr + 4 * first) != p;
	lab_unit_words(u->lab, u->unit, p, LAB_LOAD, a->addr + 4 * first, count, (uint64_t)p << 16 | slot);
}

/* Arrays are 256-byte aligned: indices in one line have their secondaries in one line. */
static uint64_t fetch(void *ctx, unsigned p, unsigned slot, uint64_t first, unsigned count, uint64_t cycle)
{
	struct lab_iru *u = ctx;

	(void)cycle;
	fetch_line(u, &u->index, p, slot, first, count);
	if (u->secondary.data)
		fetch_line(u, &u->secondary, p, slot, first, count);
	return IRU_NEVER;
}

static bool load(void *ctx, uint64_t first, unsigned count, const uint32_t **index, const uint32_t **secondary,
		 uint32_t (*copy)[IRU_LANES])
{
	struct lab_iru *u = ctx;

	(void)count, (void)copy;
	*index = (const uint32_t *)u->index.data + first;
	if (u->secondary.data)
		*secondary = (const uint32_t *)u->secondary.data + first;
	return true;
}

/* ---- Clock ----------------------------------------------------------------------------------- */

static void answer(struct lab_iru *u, const struct iru_record *r)
{
	struct lab_fields a = { .mask = r->head.active };
	uint32_t warp = u->queue[u->queue_head];
	unsigned f;

	/* the core replies in order, and never more than requested */
	u->queue_head = (u->queue_head + 1) % u->queue_size;
	u->queue_count--;
	u->answered++;
	u->active += lab_popcount(r->head.active);
	for (f = 0; f < u->fields; f++)
		memcpy(a.field[f], r->field[f], sizeof(a.field[f]));
	/* a disabled record is a header only */
	lab_unit_reply_packed(u->lab, u->unit, warp, &a, LAB_FIELDS_BYTES(r->head.active ? u->fields : 0),
			      r->head.active ? u->record_bytes : LAB_FIELDS_BYTES(0), lab_now(u->lab));
}

/* Run the core up to and including the lab's @cycle. */
static void run(struct lab_iru *u, uint64_t cycle)
{
	uint64_t until = cycle - u->start_cycle + 1;
	enum iru_status status;
	unsigned i;

	do {
		status = iru_core_run(u->core, until);
		for (i = 0; i < u->core->out_count; i++)
			answer(u, iru_core_out(u->core, i));
		iru_core_taken(u->core);
	} while (status == IRU_OUT);
	if (status == IRU_MORE)
		lab_unit_wake(u->lab, u->unit, cycle + 1);
}

static void on_clock(void *ctx, uint64_t cycle)
{
	struct lab_iru *u = ctx;

	if (u->running)
		run(u, cycle);
}

static void on_ask(void *ctx, uint32_t warp, unsigned at, uint64_t value, uint64_t cycle)
{
	struct lab_iru *u = ctx;

	(void)at, (void)value;
	u->queue[(u->queue_head + u->queue_count++) % u->queue_size] = warp;
	iru_core_advance(u->core, cycle - u->start_cycle);
	iru_core_request(u->core, ++u->requested);
	run(u, cycle);
}

static void on_reply(void *ctx, uint64_t tag, uint64_t cycle)
{
	struct lab_iru *u = ctx;
	unsigned p = (unsigned)(tag >> 16), slot = tag & 0xffff;

	if (--u->waiting[p][slot])
		return;
	iru_core_advance(u->core, cycle - u->start_cycle);
	iru_core_reply(u->core, p, slot, u->core->cycle);
	run(u, cycle);
}

/* ---- Host interface -------------------------------------------------------------------------- */

int lab_iru_attach(struct lab *lab, const struct iru_shape *shape, uint64_t timeout, const struct lab_iru_options *options,
		   struct lab_iru **out, struct gtu_error *err)
{
	const struct lab_machine *m = lab_machine_of(lab);
	const struct lab_unit unit = { "iru", LAB_IN_PARTITION, on_ask, on_reply, on_clock, options && options->bypass_l2 };
	const char *why = iru_shape_check(shape);
	struct lab_iru *u;
	int rc;

	*out = NULL;
	if (why)
		return gtu_fail(err, GTU_ERR_USAGE, "%s", why);
	u = calloc(1, sizeof(*u));
	if (!u)
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for an IRU");
	u->lab = lab;
	u->timeout = timeout ? timeout : 1;
	u->interleaved = options && options->interleaved;
	u->queue_size = m->sms * m->warps; /* at most one request per warp */
	u->queue = calloc(u->queue_size, sizeof(*u->queue));
	u->core = aligned_alloc(64, (iru_core_bytes(shape) + 63) & ~(size_t)63);
	if (u->core)
		iru_core_init(u->core, shape);
	rc = u->queue && u->core ? lab_attach(lab, &unit, u, &u->unit, err) :
	     gtu_fail(err, GTU_ERR_NOMEM, "out of memory for an IRU");
	if (rc)
		lab_iru_free(u);
	else
		*out = u;
	return rc;
}

void lab_iru_free(struct lab_iru *u)
{
	if (!u)
		return;
	free(u->queue);
	free(u->core);
	free(u);
}

const struct lab_iru_counts *lab_iru_counts(const struct lab_iru *u)
{
	return &u->counts;
}

void lab_iru_configure(struct lab_iru *u, const struct lab_array *target, const struct lab_array *index,
		       const struct lab_array *secondary, uint64_t n, unsigned op, bool position)
{
	const struct iru_stream stream = {
		.n = n, .addr = index->addr, .base = target->addr, .timeout = u->timeout, .target_log2 = 2,
		.op = (uint8_t)op, .all = true, .secondary = secondary != NULL, .position = position,
	};
	const struct iru_port port = { .ctx = u, .fetch = fetch, .load = load, .owner = u->interleaved ? NULL : owner };

	u->index = *index;
	u->secondary = secondary ? *secondary : (struct lab_array){ 0 };
	u->requested = u->answered = u->active = 0;
	u->queue_head = u->queue_count = 0;
	u->fields = iru_fields(&stream);
	/* IRU, section 4: indices of 24 bits (a position has as many: table 1's 10 bytes an element), secondaries of 32 */
	u->record_bytes = LAB_FIELDS_BYTES(0) + LAB_LANES * (3 + (secondary ? 4 : 0) + (position ? 3 : 0));
	u->start_cycle = lab_now(u->lab);
	u->running = true;
	iru_core_start(u->core, &stream, &port);
	/* "when the kernel is launched, the IRU triggers the prefetching": its warps can run */
	u->start_cycle += lab_machine_of(u->lab)->launch_latency;
	lab_unit_wake(u->lab, u->unit, u->start_cycle);
}

int lab_iru_finish(struct lab_iru *u, struct gtu_error *err)
{
	const struct iru_core *c = u->core;
	uint64_t n = c->stream.n, warps = (n + LAB_LANES - 1) / LAB_LANES;

	u->running = false;
	if (u->requested != warps || u->answered != warps || u->queue_count || c->left || u->active + c->count.merged != n)
		return gtu_fail(err, GTU_ERR_VERIFY,
				"IRU: %llu elements in, %llu out, %llu merged; %llu records for %llu requests of %llu warps",
				(unsigned long long)n, (unsigned long long)u->active, (unsigned long long)c->count.merged,
				(unsigned long long)u->answered, (unsigned long long)u->requested, (unsigned long long)warps);
	u->counts.elements += n;
	u->counts.records += u->answered;
	u->counts.cycles += c->cycle;
	lab_add_words(&u->counts.core, &c->count, sizeof(c->count));
	return 0;
}

void lab_load_iru(struct lab_warp *w, struct lab_iru *u, struct lab_iru_lanes *lanes)
{
	struct lab_fields a = { 0 };
	unsigned p = (unsigned)((w->block * w->block_warps + w->in_block) & (u->core->partitions - 1)), f = 1;

	lab_unit_request(w, u->unit, p, 0, &a, sizeof(a));
	lanes->active = a.mask;
	memcpy(&lanes->index, a.field[0], sizeof(lanes->index));
	lanes->secondary = lanes->position = (lab_u32){ 0 };
	if (u->secondary.data)
		memcpy(&lanes->secondary, a.field[f++], sizeof(lanes->secondary));
	if (f < u->fields)
		memcpy(&lanes->position, a.field[f], sizeof(lanes->position));
}
