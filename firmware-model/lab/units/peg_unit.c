// SPDX-License-Identifier: MIT
/* GraphPEG attached to the SMs: the port, clock and host interface of struct peg_core. */
#include "peg_unit.h"
#include "spill.h"

const struct lab_peg_build lab_peg_published = {
	.entries = 24, .edge_bytes = 2048, .list_bytes = 46 << 10, .balance_edges = true, .shift = 4, .interval = 512, .floor = 2,
};

#define KINDS	3u			/* enum peg_kind */

struct waiting {			/* ring of warps waiting for an engine, oldest first */
	uint32_t warp[LAB_WARPS_MAX], head, count;
	uint64_t requested;
};

struct lab_peg {
	struct lab *lab;
	int unit;
	unsigned engines;
	struct lab_peg_build build;
	struct peg_core *core;
	struct lab_array region;	/* spill memory: one range per engine and list */
	uint64_t range;		/* words per range; longer lists wrap around */

	/* the stream */
	struct lab_peg_stream s;
	bool running, no_memory;
	enum peg_status failed;
	uint64_t start_cycle;			/* the lab's cycle at the core's cycle 0 */
	uint64_t left[PEG_ENGINES_MAX];
	unsigned fields;

	struct waiting waiting[PEG_ENGINES_MAX];
	struct spill_list in[PEG_ENGINES_MAX], out[PEG_ENGINES_MAX];
	unsigned which;			/* range of the output lists: 0 or 1 */
	uint8_t *parts[KINDS];		/* requests in flight of each fetch */
	unsigned slots[KINDS];
	struct lab_peg_counts counts;
};

/* ---- The core's port ------------------------------------------------------------------------- */

static void ask_memory(struct lab_peg *u, unsigned e, enum lab_kind kind, uint64_t addr, uint64_t words, uint64_t tag)
{
	u->counts.requests++;
	lab_unit_words(u->lab, u->unit, e, kind, addr, words, tag);
}

/* Fetch @words words at @addr, which may cross a line. */
static uint64_t fetch(struct lab_peg *u, enum peg_kind kind, unsigned e, unsigned slot, uint64_t addr, uint64_t words)
{
	uint64_t tag = (uint64_t)kind << 48 | (uint64_t)e << 32 | slot, rest = (LAB_LINE - addr % LAB_LINE) / 4;
	uint8_t *parts = &u->parts[kind][e * u->slots[kind] + slot];

	*parts += 1 + (words > rest);
	ask_memory(u, e, LAB_LOAD, addr, words < rest ? words : rest, tag);
	if (words > rest)
		ask_memory(u, e, LAB_LOAD, addr + 4 * rest, words - rest, tag);
	return PEG_NEVER;
}

/* Index in the whole list of the @i-th vertex assigned to engine @e. */
static uint64_t list_index(const struct lab_peg *u, unsigned e, uint64_t i)
{
	return u->s.first + (i / PEG_CHUNK * u->engines + e) * PEG_CHUNK + i % PEG_CHUNK;
}

static uint64_t spill_addr(const struct lab_peg *u, unsigned e, unsigned which, uint64_t i)
{
	return u->region.addr + 4 * ((2 * e + which) * u->range + i % u->range);
}

static uint64_t refill(void *ctx, unsigned e, unsigned slot, uint64_t first, unsigned count, uint64_t cycle)
{
	struct lab_peg *u = ctx;

	(void)cycle;
	return fetch(u, PEG_REFILL, e, slot, u->s.list ? u->s.list->addr + 4 * list_index(u, e, first) :
		     spill_addr(u, e, !u->which, first), count);
}

static uint64_t fetch_index(void *ctx, unsigned e, unsigned slot, uint64_t vertex, uint64_t cycle)
{
	struct lab_peg *u = ctx;

	(void)cycle;
	return fetch(u, PEG_INDEX, e, slot, u->s.row->addr + 4 * vertex, 2);
}

static uint64_t fetch_edges(void *ctx, unsigned e, unsigned slot, uint64_t first, unsigned count, uint64_t cycle)
{
	struct lab_peg *u = ctx;

	(void)cycle;
	if (u->s.with_weight)
		fetch(u, PEG_EDGES, e, slot, u->s.weight->addr + 4 * first, count);
	return fetch(u, PEG_EDGES, e, slot, u->s.col->addr + 4 * first, count);
}

static bool load_vertices(void *ctx, unsigned e, uint64_t first, unsigned count, void *to)
{
	const struct lab_peg *u = ctx;

	memcpy(to, u->s.list ? (const uint32_t *)u->s.list->data + list_index(u, e, first) : u->in[e].at + first, 4ull * count);
	return true;
}

static bool load_index(void *ctx, unsigned e, uint64_t vertex, uint64_t *start, uint64_t *end)
{
	const struct lab_peg *u = ctx;
	const uint32_t *row = u->s.row->data;

	(void)e;
	*start = row[vertex];
	*end = row[vertex + 1];
	return true;
}

static bool load_edges(void *ctx, unsigned e, uint64_t first, unsigned count, void *ids, void *weights)
{
	const struct lab_peg *u = ctx;

	(void)e;
	if (ids)
		memcpy(ids, (const uint32_t *)u->s.col->data + first, 4ull * count);
	if (weights)
		memcpy(weights, (const uint32_t *)u->s.weight->data + first, 4ull * count);
	return true;
}

/* Write the vertices to memory that are not there yet; a request does not cross a line. */
static void send_words(struct lab_peg *u, unsigned e, struct spill_list *p, unsigned which)
{
	uint64_t words;

	while ((words = spill_next(p, true))) {
		ask_memory(u, e, LAB_STORE, spill_addr(u, e, which, p->sent), words, NO_WAITER);
		p->sent += words;
	}
}

static bool spill(void *ctx, unsigned e, const uint64_t *vertex, unsigned count)
{
	struct lab_peg *u = ctx;
	struct spill_list *p = &u->out[e];

	if (!spill_reserve(p, count)) {
		u->no_memory = true;
		return false;
	}
	while (count--)
		p->at[p->count++] = (uint32_t)*vertex++;
	/* "directly" (section 3.3.1): each push_vert() is a store, as the engine has no buffer for a line */
	send_words(u, e, p, u->which);
	return true;
}

/* Words already in memory are read back, in the background: no warp waits. */
static bool unspill(void *ctx, unsigned e, uint64_t *vertex, unsigned count)
{
	struct lab_peg *u = ctx;
	struct spill_list *p = &u->out[e];
	unsigned i;

	p->count -= count;
	for (i = 0; i < count; i++)
		vertex[i] = p->at[p->count + i];
	while (p->sent > p->count) {
		uint64_t first = (p->sent - 1) / LINE_WORDS * LINE_WORDS;

		first = first > p->count ? first : p->count;
		ask_memory(u, e, LAB_LOAD, spill_addr(u, e, u->which, first), p->sent - first, NO_WAITER);
		p->sent = first;
	}
	return true;
}

/* ---- Clock ----------------------------------------------------------------------------------- */

static void answer(struct lab_peg *u, unsigned e, const uint8_t *record)
{
	struct waiting *q = &u->waiting[e];
	uint32_t warp = q->warp[q->head];
	struct lab_fields a = { 0 };

	q->head = (q->head + 1) % LAB_WARPS_MAX;
	q->count--;
	if (record) {
		a.mask = ((const struct gtu_hw_warp *)(const void *)record)->active;
		memcpy(a.field, record + sizeof(struct gtu_hw_warp), u->fields * sizeof(a.field[0]));
	}
	lab_unit_reply(u->lab, u->unit, warp, &a, LAB_FIELDS_BYTES(u->fields), lab_now(u->lab));
}

/* Run the core up to and including the lab's @cycle. */
static void run(struct lab_peg *u, uint64_t cycle)
{
	uint64_t until = cycle - u->start_cycle + 1, next;
	struct peg_core *c = u->core;
	enum peg_status status;
	unsigned e;

	do {
		status = peg_core_run(c, until);
		next = c->control;
		for (e = 0; e < u->engines; e++) {
			struct peg_engine *g = &c->engine[e];

			while (peg_core_waiting(c, e)) {
				answer(u, e, peg_core_out(c, e));
				peg_core_taken(c, e);
			}
			while (g->ended && u->waiting[e].count)
				answer(u, e, NULL);
			next = g->next < next ? g->next : next;
		}
	} while (status == PEG_OUT);
	if (status == PEG_MORE && next != PEG_NEVER)
		lab_unit_wake(u->lab, u->unit, u->start_cycle + (next > until ? next : until));
	else if (status > PEG_DONE)
		u->failed = status;
}

static void on_clock(void *ctx, uint64_t cycle)
{
	struct lab_peg *u = ctx;

	if (u->running && !u->failed)
		run(u, cycle);
}

static void on_ask(void *ctx, uint32_t warp, unsigned e, uint64_t value, uint64_t cycle)
{
	struct lab_peg *u = ctx;
	struct waiting *q = &u->waiting[e];

	(void)value;
	q->warp[(q->head + q->count++) % LAB_WARPS_MAX] = warp;
	if (u->failed)
		return;
	if (u->core->engine[e].ended) {
		answer(u, e, NULL);
		return;
	}
	peg_core_advance(u->core, cycle - u->start_cycle);
	peg_core_request(u->core, e, ++q->requested);
	run(u, cycle);
}

static void on_reply(void *ctx, uint64_t tag, uint64_t cycle)
{
	struct lab_peg *u = ctx;
	unsigned kind = (unsigned)(tag >> 48), e = tag >> 32 & 0xffff, slot = (uint32_t)tag;

	if (tag == NO_WAITER || u->failed || --u->parts[kind][e * u->slots[kind] + slot])
		return;
	peg_core_advance(u->core, cycle - u->start_cycle);
	peg_core_reply(u->core, e, (enum peg_kind)kind, slot, u->core->cycle);
	run(u, cycle);
}

/* ---- Host interface -------------------------------------------------------------------------- */

static struct peg_shape shape_of(const struct lab_machine *m, const struct lab_peg_build *b)
{
	return (struct peg_shape){ .engines = (uint16_t)m->sms, .entries = b->entries, .edge_bytes = b->edge_bytes,
				   .list_bytes = b->list_bytes };
}

const char *lab_peg_check(const struct lab_machine *m, const struct lab_peg_build *b)
{
	struct peg_shape shape = shape_of(m, b);

	if (m->sms > PEG_ENGINES_MAX)
		return "the machine has more than 64 SMs: one control processor balances at most 64 engines";
	if (b->entries > LAB_PEG_UNLIMITED)
		return "peg.entries: 1 to 131072";
	if (b->entries > PEG_ENTRIES_MAX)
		shape.entries = PEG_ENTRIES_MAX;
	if (b->edge_bytes > m->shared || b->list_bytes > m->shared - b->edge_bytes)
		return "peg.edge_bytes and peg.list_bytes together exceed an SM's shared memory";
	if (!b->interval || b->shift > 63 || b->floor < 2)
		return "the balancing interval must be at least 1 cycle, N at most 63, the floor at least 2";
	return peg_shape_check(&shape);
}

/* Start an empty stream, so that the output lists exist and accept pushes. */
static bool first_lists(struct lab_peg *u)
{
	const struct peg_stream none = { .engines = (uint16_t)u->engines, .vertex_list = true, .demand = true, .id_log2 = 2,
					 .offset_log2 = 2, .weight_log2 = 2, .field = { true }, .left = u->left };
	const struct peg_port port = { .ctx = u, .spill = spill, .unspill = unspill };

	return peg_core_start(u->core, &none, &port);
}

int lab_peg_attach(struct lab *lab, const struct lab_peg_build *build, struct lab_peg **out, struct gtu_error *err)
{
	const struct lab_machine *m = lab_machine_of(lab);
	static const struct lab_unit unit = { "peg", LAB_IN_SM, on_ask, on_reply, on_clock, false };
	const struct peg_shape shape = shape_of(m, build);
	const char *why = lab_peg_check(m, build);
	struct lab_peg *u;
	unsigned k;
	bool ok;
	int rc;

	*out = NULL;
	if (why)
		return gtu_fail(err, GTU_ERR_USAGE, "PEG: %s", why);
	u = calloc(1, sizeof(*u));
	if (!u)
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for GraphPEG");
	u->lab = lab;
	u->build = *build;
	u->engines = m->sms;
	u->core = aligned_alloc(64, (peg_core_bytes(&shape) + 63) & ~(size_t)63);
	ok = u->core != NULL;
	if (ok) {
		peg_core_init(u->core, &shape);
		u->slots[PEG_REFILL] = u->core->engine[0].refill.mask + 1;
		u->slots[PEG_INDEX] = build->entries;
		u->slots[PEG_EDGES] = u->core->engine[0].fetch.mask + 1;
	}
	for (k = 0; k < KINDS && ok; k++) {
		u->parts[k] = calloc((size_t)u->engines * u->slots[k], 1);
		ok = u->parts[k] != NULL;
	}
	u->range = 1 << 16;
	rc = ok && first_lists(u) ? lab_alloc(lab, "spilled", 8 * u->range * u->engines, LAB_DEVICE, &u->region, err) :
	     gtu_fail(err, GTU_ERR_NOMEM, "out of memory for GraphPEG");
	rc = rc ? rc : lab_attach(lab, &unit, u, &u->unit, err);
	if (rc)
		lab_peg_free(u);
	else
		*out = u;
	return rc;
}

void lab_peg_free(struct lab_peg *u)
{
	unsigned i;

	if (!u)
		return;
	for (i = 0; i < PEG_ENGINES_MAX; i++) {
		free(u->in[i].at);
		free(u->out[i].at);
	}
	for (i = 0; i < KINDS; i++)
		free(u->parts[i]);
	free(u->core);
	free(u);
}

const struct lab_peg_counts *lab_peg_counts(const struct lab_peg *u)
{
	return &u->counts;
}

/* Output lists become input lists, or are dropped if the stream reads a list from memory. */
static void swap_lists(struct lab_peg *u)
{
	unsigned e;

	for (e = 0; e < u->engines; e++) {
		struct spill_list was = u->in[e];

		if (!u->s.list) {
			u->in[e] = u->out[e];
			u->out[e] = was;
		}
		u->out[e].count = u->out[e].sent = 0;
		u->left[e] = 0;
	}
	u->which ^= !u->s.list;
	for (e = 0; u->s.list && e < u->engines; e++) {
		uint64_t chunks = u->s.count / PEG_CHUNK, mine = chunks / u->engines + (e < chunks % u->engines);

		u->left[e] = mine * PEG_CHUNK + (e == chunks % u->engines ? u->s.count % PEG_CHUNK : 0);
	}
}

int lab_peg_begin(struct lab_peg *u, const struct lab_peg_stream *s, struct gtu_error *err)
{
	const struct lab_machine *m = lab_machine_of(u->lab);
	const struct lab_peg_build *b = &u->build;
	struct peg_stream stream = {
		.engines = (uint16_t)u->engines, .vertex_list = s->vertex_list, .pull = s->pull, .demand = true,
		.balance_edges = b->balance_edges && !s->vertex_list, .balance_lists = b->balance_lists, .id_log2 = 2,
		.offset_log2 = 2, .weight_log2 = 2, .field = { s->source || s->vertex_list, s->destination, s->with_weight },
		.edges_addr = s->vertex_list ? 0 : s->col->addr % LAB_LINE, .vertices = s->vertices, .edges = s->edges,
		.interval = b->free ? 1 : b->interval, .floor = b->floor, .shift = b->shift,
		.message = (uint16_t)(b->free ? 0 : m->noc_latency + 1), .left = s->list ? u->left : NULL,
	};
	const struct peg_port port = {
		.ctx = u, .refill = refill, .index = fetch_index, .edges = fetch_edges, .load_vertices = load_vertices,
		.load_index = load_index, .load_edges = load_edges, .spill = spill, .unspill = unspill,
	};
	unsigned e;

	stream.stand_by = stream.balance_edges;
	stream.end_reported = stream.stand_by && !b->end_polled && !b->free;
	u->s = *s;
	swap_lists(u);
	if (!peg_core_start(u->core, &stream, &port))
		return gtu_fail(err, GTU_ERR_USAGE, "PEG: %u bytes of gathered edges do not hold one warp's edges with all fields",
				b->edge_bytes);
	u->fields = stream.field[0] + stream.field[1] + stream.field[2];
	for (e = 0; e < u->engines; e++)
		u->waiting[e].head = u->waiting[e].count = 0, u->waiting[e].requested = 0;
	u->failed = PEG_MORE;
	u->running = true;
	u->start_cycle = lab_now(u->lab) + m->launch_latency;
	lab_unit_wake(u->lab, u->unit, u->start_cycle);
	return 0;
}

int lab_peg_end(struct lab_peg *u, struct gtu_error *err)
{
	unsigned e;

	u->running = false;
	if (u->no_memory)
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for GraphPEG's spilled lists");
	if (u->failed)
		return gtu_fail(err, GTU_ERR_VERIFY, "PEG: engine %u stopped with status %d", u->core->bad_engine, u->failed);
	for (e = 0; e < u->engines; e++)
		if (!u->core->engine[e].ended || u->waiting[e].count)
			return gtu_fail(err, GTU_ERR_VERIFY, "PEG: warps stopped popping from the engine of SM %u before its end", e);
	u->counts.streams++;
	u->counts.cycles += u->core->cycle;
	lab_add_words(&u->counts.core, &u->core->count, sizeof(u->counts.core));
	return 0;
}

uint64_t lab_peg_pushed(const struct lab_peg *u)
{
	uint64_t n = 0;
	unsigned e;

	for (e = 0; e < u->engines; e++)
		n += peg_core_pushed(u->core, e);
	return n;
}

uint64_t lab_peg_listed(const struct lab_peg *u, unsigned e, uint32_t *to)
{
	const struct peg_list *l = &u->core->engine[e].out;
	uint64_t n = 0, i;

	while (n < l->count) {
		to[n] = (uint32_t)peg_list_get(u->core, l, (uint32_t)n);
		n++;
	}
	for (i = 0; i < u->out[e].count; i++)
		to[n++] = u->out[e].at[i];
	return n;
}

void lab_peg_clear(struct lab_peg *u)
{
	unsigned e;

	for (e = 0; e < u->engines; e++) {
		u->core->engine[e].out.count = 0;
		u->core->engine[e].spilled = 0;
		u->out[e].count = u->out[e].sent = 0;
	}
}

/* ---- Warp interface -------------------------------------------------------------------------- */

void lab_pop(struct lab_warp *w, struct lab_peg *u, struct lab_peg_lanes *lanes)
{
	lab_u32 *const field[3] = { &lanes->source, &lanes->destination, &lanes->weight };
	const bool *gathered = u->core->stream.field;
	struct lab_fields a = { 0 };
	unsigned i, f = 0;

	lab_unit_request(w, u->unit, w->sm, 0, &a, sizeof(a));
	lanes->active = a.mask;
	for (i = 0; i < 3; i++) {
		*field[i] = (lab_u32){ 0 };
		if (!gathered[i])
			continue;
		memcpy(field[i], a.field[f++], sizeof(*field[i]));
		if (f > 1)		/* each further field takes one more instruction */
			lab_alu(w, 1);
		shared_access(w, f == 1 ? lab_machine_of(w->lab)->shared_latency : 1);
	}
}

void lab_push(struct lab_warp *w, struct lab_peg *u, lab_mask m, const lab_u32 *vertex)
{
	lab_mask was = w->mask;
	uint64_t out[LAB_LANES];
	unsigned n = 0;

	w->mask &= m;
	if (w->mask) {
		lab_alu(w, 1);
		shared_access(w, 1);
	}
	for (m = w->mask; m; m &= m - 1)
		out[n++] = (*vertex)[__builtin_ctz(m)];
	w->mask = was;
	if (n && !peg_core_push(u->core, w->sm, out, n))
		lab_fault(w, "out of memory for GraphPEG's spilled lists");
}
