// SPDX-License-Identifier: MIT
/*
 * The engines of GraphPEG (graphpeg.txt, section 3.3.1; Documentation/units-peg.md). A cycle is run from
 * the end of the pipeline to its beginning, so that what one stage puts down is seen by the one before it in
 * the following cycle: hand-out, arrival of edges, edge fetch, arrival of offsets, offset fetch, refill.
 *
 * Engines touch each other through the control processor only. So each is run on its own from one of its
 * events to its next, up to a cycle in which the control processor does something.
 */
#include <string.h>

#include "peg_core.h"

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* ---- Shape and memory ------------------------------------------------------------------------- */

const char *peg_shape_check(const struct peg_shape *s)
{
	if (s->engines < 1 || s->engines > GTU_PEG_ENGINES_MAX)
		return "peg_engines: 1 to 32";
	if (s->entries < 1 || s->entries > PEG_ENTRIES_MAX)
		return "peg_entries: 1 to 4096";
	if (s->edge_bytes < PEG_EDGE_BYTES_MIN || s->edge_bytes > PEG_BYTES_MAX || s->edge_bytes % 32)
		return "peg_edge_bytes: 1024 (a warp of edges) to 2^20, a multiple of 32";
	if (s->list_bytes < 16 || s->list_bytes > PEG_BYTES_MAX || s->list_bytes % 16)
		return "peg_list_bytes: 16 (a vertex a list) to 2^20, a multiple of 16";
	return NULL;
}

static void *carve(uint8_t *base, size_t *at, size_t bytes)
{
	void *p = base ? base + *at : NULL;

	*at += (bytes + 63) & ~(size_t)63;
	return p;
}

static uint32_t mask_for(uint32_t n)
{
	uint32_t mask = 0;

	while (mask + 1 < n)
		mask = 2 * mask + 1;
	return mask;
}

/* Records that hold the edges gathered, the one being filled, and those that wait. */
static uint32_t record_mask(uint32_t edge_cap)
{
	return mask_for(edge_cap / PEG_LANES + 2 + PEG_OUT_MARK);
}

static size_t layout(struct peg_core *c, const struct peg_shape *s)
{
	/* the narrowest edge is 4 bytes; the widest has 4 fields of 8 */
	const uint32_t most = s->edge_bytes / 4;
	size_t record_room = 0, at = 0;
	uint8_t *base = (uint8_t *)c;
	struct peg_core none;

	for (uint32_t bytes = 4; bytes <= 32; bytes += 4) {
		const size_t room = (size_t)(record_mask(s->edge_bytes / bytes) + 1) *
				    (sizeof(struct gtu_hw_warp) + PEG_LANES * bytes);

		record_room = room > record_room ? room : record_room;
	}
	if (!c)
		c = &none;
	carve(base, &at, sizeof(*c));
	for (unsigned i = 0; i < s->engines; i++) {
		struct peg_engine *e = &c->engine[i];

		e->in.at = carve(base, &at, s->list_bytes / 2 + 64);
		e->out.at = carve(base, &at, s->list_bytes / 2 + 64);
		e->refill.mask = mask_for(s->list_bytes / 8 / PEG_CHUNK + 4);
		e->refill.at = carve(base, &at, (e->refill.mask + 1) * sizeof(struct peg_fetch));
		e->entry = carve(base, &at, s->entries * sizeof(struct peg_entry));
		e->free = carve(base, &at, (s->entries + 63) / 64 * sizeof(uint64_t));
		e->fi = carve(base, &at, (mask_for(s->entries) + 1) * sizeof(uint16_t));
		e->rd = carve(base, &at, (mask_for(s->entries) + 1) * sizeof(uint16_t));
		e->fetch.mask = mask_for(most + 1);
		e->fetch.at = carve(base, &at, (e->fetch.mask + 1) * sizeof(struct peg_fetch));
		e->record = carve(base, &at, record_room);
	}
	return at;
}

size_t peg_core_bytes(const struct peg_shape *shape)
{
	return layout(NULL, shape);
}

struct peg_core *peg_core_init(void *memory, const struct peg_shape *shape)
{
	struct peg_core *c = memory;

	memset(c, 0, sizeof(*c));
	layout(c, shape);
	c->shape = *shape;
	c->entry_mask = mask_for(shape->entries);
	return c;
}

/* Records of this stream: where their fields are, and how many edges the space on chip holds. */
static bool fields(struct peg_core *c, const struct peg_stream *s)
{
	const uint8_t log2[PEG_FIELDS] = { s->id_log2, s->id_log2, s->weight_log2, s->offset_log2 };
	const uint32_t edge_bytes = s->edge_bytes ? s->edge_bytes : c->shape.edge_bytes;
	const uint32_t list_bytes = s->list_bytes ? s->list_bytes : c->shape.list_bytes;
	uint32_t edge = 0;

	if (edge_bytes > c->shape.edge_bytes || list_bytes > c->shape.list_bytes ||
	    s->engines < 1 || s->engines > c->shape.engines)
		return false;
	for (unsigned f = 0; f < PEG_FIELDS; f++) {
		c->at[f] = sizeof(struct gtu_hw_warp) + edge * PEG_LANES;
		c->log2[f] = log2[f];
		edge += s->field[f] ? 1u << log2[f] : 0;
	}
	if (!edge)
		return false;
	c->record_bytes = sizeof(struct gtu_hw_warp) + edge * PEG_LANES;
	c->edge_cap = edge_bytes / edge;
	c->list_cap = list_bytes / 2 >> s->id_log2;
	c->record_mask = record_mask(c->edge_cap);
	return c->edge_cap >= PEG_LANES && c->list_cap >= 1;
}

bool peg_core_start(struct peg_core *c, const struct peg_stream *s, const struct peg_port *port)
{
	const uint32_t list_was = c->list_cap;

	if (!fields(c, s) || (!s->left && c->list_cap != list_was))
		return false;
	c->stream = *s;
	c->port = *port;
	c->cycle = 0;
	c->live = s->engines;
	c->failed = c->let_end = false;
	memset(&c->count, 0, sizeof(c->count));
	c->balanced = (s->balance_edges || s->balance_lists) && s->engines > 1;
	c->control = c->balanced ? s->interval : PEG_NEVER;
	for (unsigned i = 0; i < 2; i++)
		c->exchange[i] = (struct peg_exchange){ .at = PEG_NEVER, .lists = i };
	for (unsigned i = 0; i < s->engines; i++) {
		struct peg_engine *e = &c->engine[i];
		const struct peg_list in = e->in;

		if (s->left) {
			e->in.head = e->in.count = 0;
			e->left = s->left[i];
		} else {
			e->in = e->out;
			e->out.at = in.at;
			e->left = e->spilled;
		}
		e->out.head = e->out.count = 0;
		e->spilled = e->dealt = e->taken = 0;
		e->coming = 0;
		e->next = e->clock = e->end = 0;
		e->asked = s->demand ? 0 : PEG_NEVER;
		e->records = e->gone = e->fill = 0;
		e->lane = e->flying = 0;
		e->ended = false;
		e->failed = 0;
		e->refill.head = e->refill.tail = e->fetch.head = e->fetch.tail = 0;
		e->fi_head = e->fi_tail = e->rd_head = e->rd_tail = e->used = 0;
		e->fe = e->reserved = -1;
		e->efs = e->bw[0] = e->bw[1] = e->bw[2] = 0;
		e->bc = e->bs = 0;
		for (unsigned n = 0; n < c->shape.entries; n++)
			e->entry[n].state = PEG_IVD;
		for (unsigned n = 0; n < (c->shape.entries + 63u) / 64; n++)
			e->free[n] = 0;
		for (unsigned n = 0; n < c->shape.entries; n++)
			e->free[n / 64] |= 1ull << (n % 64);
	}
	return true;
}

/* ---- Small parts --------------------------------------------------------------------------------- */

/* The free entry of the lowest number, or -1. */
int peg_entry_take(struct peg_core *c, struct peg_engine *e)
{
	for (unsigned w = 0; w < (c->shape.entries + 63u) / 64; w++) {
		if (e->free[w]) {
			const int bit = __builtin_ctzll(e->free[w]);

			e->free[w] &= e->free[w] - 1;
			e->used++;
			return (int)(64 * w) + bit;
		}
	}
	return -1;
}

void peg_entry_free(struct peg_engine *e, unsigned n)
{
	e->entry[n].state = PEG_IVD;
	e->free[n / 64] |= 1ull << (n % 64);
	e->used--;
}

static bool fail(struct peg_core *c, struct peg_engine *e, enum peg_status why, uint64_t number,
		 uint64_t value, uint64_t cycle)
{
	e->failed = (uint8_t)why;
	e->bad = number;
	e->bad_value = value;
	e->failed_at = cycle;
	c->failed = true;
	return false;
}

/* Edges in shared memory that have not gone out. */
static inline uint32_t gathered(const struct peg_engine *e)
{
	return (uint32_t)(e->fill - e->records) * PEG_LANES + e->lane;
}

/* Nothing is left to be gathered. */
static inline bool all_gathered(const struct peg_engine *e)
{
	return !e->used && !e->flying && !e->left && !e->coming && !e->in.count;
}

static inline uint8_t *record_at(const struct peg_core *c, const struct peg_engine *e, uint64_t n)
{
	return e->record + (n & c->record_mask) * (size_t)c->record_bytes;
}

static inline void fill_lanes(uint8_t *to, unsigned log2, uint64_t value, uint64_t step, unsigned n)
{
	if (log2 == 2)
		for (unsigned i = 0; i < n; i++)
			((uint32_t *)(void *)to)[i] = (uint32_t)(value + step * i);
	else
		for (unsigned i = 0; i < n; i++)
			((uint64_t *)(void *)to)[i] = value + step * i;
}

/* Number and date the record whose turn it is; lanes from @lanes on hold nothing. */
static void put_out(struct peg_core *c, struct peg_engine *e, uint64_t cycle, unsigned lanes)
{
	uint8_t *r = record_at(c, e, e->records);
	struct gtu_hw_warp *w = (void *)r;

	memset(w, 0, sizeof(*w));
	w->active = lanes == PEG_LANES ? ~0u : (1u << lanes) - 1;
	w->sequence = (uint32_t)e->records++;
	w->reason = lanes == PEG_LANES ? GTU_WARP_FULL : GTU_WARP_END;
	w->cycle = cycle;
	if (lanes < PEG_LANES) {
		for (unsigned f = 0; f < PEG_FIELDS; f++)
			if (c->stream.field[f])
				memset(r + c->at[f] + ((size_t)lanes << c->log2[f]), 0xff,
				       (size_t)(PEG_LANES - lanes) << c->log2[f]);
		c->count.partial++;
	}
	c->count.records++;
}

/* A line of edges has arrived: lane by lane into the record being filled, then the next. */
static bool arrive(struct peg_core *c, struct peg_engine *e, unsigned n, const struct peg_fetch *f)
{
	const bool pull = c->stream.pull;
	const unsigned base = pull ? 1 : 0, far = pull ? 0 : 1;
	uint64_t first = f->first;
	uint32_t count = f->count;

	while (count) {
		uint8_t *r = record_at(c, e, e->fill);
		const uint32_t lane = e->lane, room = PEG_LANES - lane;
		const uint32_t k = count < room ? count : room;
		void *ids = c->stream.field[far] ? r + c->at[far] + (lane << c->log2[far]) : NULL;
		void *weights = c->stream.field[2] ? r + c->at[2] + (lane << c->log2[2]) : NULL;

		if (c->stream.field[base])
			fill_lanes(r + c->at[base] + (lane << c->log2[base]), c->log2[base], f->vertex, 0, k);
		if (c->stream.field[3])
			fill_lanes(r + c->at[3] + (lane << c->log2[3]), c->log2[3], first, 1, k);
		if ((ids || weights) && !c->port.load_edges(c->port.ctx, n, first, k, ids, weights))
			return false;
		e->lane = lane + k;
		if (e->lane == PEG_LANES) {
			e->lane = 0;
			e->fill++;
		}
		first += k;
		count -= k;
	}
	e->flying -= f->count;
	return true;
}

/* Edges from @first on that lie in its line. */
static inline uint64_t line_rest(const struct peg_core *c, uint64_t first)
{
	const uint64_t addr = c->stream.edges_addr + (first << c->stream.id_log2);

	return (GTU_LINE_BYTES - addr % GTU_LINE_BYTES) >> c->stream.id_log2;
}

/* ---- The cycle of an engine ----------------------------------------------------------------------- */

/* How many vertices the next refill takes; 0: none. In pieces that no chunk's border cuts. */
static inline uint32_t refill_size(const struct peg_core *c, const struct peg_engine *e)
{
	const uint32_t room = c->list_cap - e->in.count - e->coming;
	uint64_t n = PEG_CHUNK - e->dealt % PEG_CHUNK;

	n = n < e->left ? n : e->left;
	n = n < c->list_cap ? n : c->list_cap;
	return n <= room ? (uint32_t)n : 0;
}

static bool refill(struct peg_core *c, struct peg_engine *e, unsigned n, uint64_t t)
{
	struct peg_fifo *q = &e->refill;
	uint32_t size;

	while (q->head != q->tail && q->at[q->head & q->mask].ready <= t) {
		const struct peg_fetch *f = &q->at[q->head & q->mask];
		uint64_t first = f->first;
		uint32_t count = f->count;

		while (count) {
			uint32_t at = e->in.head + e->in.count, k;

			at -= at >= c->list_cap ? c->list_cap : 0;
			k = c->list_cap - at < count ? c->list_cap - at : count;
			if (!c->port.load_vertices(c->port.ctx, n, first, k,
						   (uint8_t *)e->in.at + ((size_t)at << c->stream.id_log2)))
				return fail(c, e, PEG_UNREAD, first, 0, t);
			e->in.count += k;
			first += k;
			count -= k;
		}
		e->coming -= f->count;
		q->head++;
	}
	size = e->left ? refill_size(c, e) : 0;
	if (size) {
		const unsigned slot = q->tail++ & q->mask;

		q->at[slot] = (struct peg_fetch){ .first = e->dealt, .count = size };
		q->at[slot].ready = c->port.refill(c->port.ctx, n, slot, e->dealt, size, t);
		e->dealt += size;
		e->left -= size;
		e->coming += size;
		c->count.refills++;
	}
	return true;
}

static inline uint64_t list_pop(struct peg_core *c, struct peg_engine *e)
{
	const uint64_t v = peg_list_get(c, &e->in, 0);

	e->in.head = e->in.head + 1 == c->list_cap ? 0 : e->in.head + 1;
	e->in.count--;
	e->taken++;
	c->count.vertices++;
	return v;
}

/* FE: the entry that fetches asks for its next line, as far as shared memory has room. */
static void fetch_edges(struct peg_core *c, struct peg_engine *e, unsigned n, uint64_t t)
{
	const uint32_t held = gathered(e) + e->flying, room = c->edge_cap - held;
	struct peg_entry *x;
	unsigned slot;
	uint64_t k;

	if (e->fe < 0) {
		if (e->rd_head == e->rd_tail)
			return;
		e->fe = e->rd[e->rd_head++ & c->entry_mask];
		e->entry[e->fe].state = PEG_FE;
	}
	x = &e->entry[e->fe];
	k = line_rest(c, x->start);
	k = k < x->end - x->start ? k : x->end - x->start;
	if (k > room) {
		if (held >= PEG_LANES)
			return;
		k = room;	/* less than a line: else a warp's worth might never be there */
	}
	slot = e->fetch.tail++ & e->fetch.mask;
	e->fetch.at[slot] = (struct peg_fetch){
		.first = x->start, .count = (uint32_t)k, .vertex = x->vertex,
	};
	e->fetch.at[slot].ready = c->port.edges(c->port.ctx, n, slot, x->start, (unsigned)k, t);
	e->flying += (uint32_t)k;
	x->start += k;
	c->count.edge_fetches++;
	if (x->start == x->end) {
		peg_entry_free(e, (unsigned)e->fe);
		e->fe = -1;
	}
}

/* FI to RD, for entry @i: its offsets are there. */
static bool index_arrives(struct peg_core *c, struct peg_engine *e, unsigned n, unsigned i, uint64_t t)
{
	struct peg_entry *x = &e->entry[i];

	if (!c->port.load_index(c->port.ctx, n, x->vertex, &x->start, &x->end))
		return fail(c, e, PEG_UNREAD, x->vertex, 0, t);
	if (unlikely(x->start > x->end))
		return fail(c, e, PEG_BAD_OFFSET, x->vertex, x->start, t);
	if (unlikely(x->end > c->stream.edges))
		return fail(c, e, PEG_BAD_OFFSET, x->vertex + 1, x->end, t);
	if (x->start == x->end) {
		peg_entry_free(e, i);
		return true;
	}
	x->state = PEG_RD;
	e->rd[e->rd_tail++ & c->entry_mask] = (uint16_t)i;
	e->efs += x->end - x->start;
	return true;
}

static bool indices_arrive(struct peg_core *c, struct peg_engine *e, unsigned n, uint64_t t)
{
	const uint32_t mask = c->entry_mask;

	if (c->port.latency) {
		while (e->fi_head != e->fi_tail && e->entry[e->fi[e->fi_head & mask]].ready <= t)
			if (!index_arrives(c, e, n, e->fi[e->fi_head++ & mask], t))
				return false;
		return true;
	}
	/* in any order: what stays moves up */
	for (uint32_t at = e->fi_head, to = e->fi_head, end = e->fi_tail; at != end; at++) {
		const uint16_t i = e->fi[at & mask];

		if (e->entry[i].ready > t)
			e->fi[to++ & mask] = i;
		else if (!index_arrives(c, e, n, i, t))
			return false;
		if (at + 1 == end)
			e->fi_tail = to;
	}
	return true;
}

static bool fetch_index(struct peg_core *c, struct peg_engine *e, unsigned n, uint64_t t)
{
	const uint64_t v = peg_list_get(c, &e->in, 0);
	struct peg_entry *x;
	int i;

	if (unlikely(v >= c->stream.vertices))
		return fail(c, e, PEG_BAD_VERTEX, e->taken, v, t);
	i = peg_entry_take(c, e);
	if (i < 0)
		return true;
	list_pop(c, e);
	x = &e->entry[i];
	x->vertex = v;
	x->state = PEG_FI;
	x->ready = c->port.index(c->port.ctx, n, (unsigned)i, v, t);
	e->fi[e->fi_tail++ & c->entry_mask] = (uint16_t)i;
	c->count.index_fetches++;
	return true;
}

static inline uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* When refills let something happen after cycle @t. */
static inline uint64_t refill_next(const struct peg_core *c, const struct peg_engine *e, uint64_t t)
{
	uint64_t next = PEG_NEVER;

	if (e->left && refill_size(c, e))
		return t + 1;
	if (e->refill.head != e->refill.tail)
		next = e->refill.at[e->refill.head & e->refill.mask].ready;
	return next > t ? next : t + 1;
}

static bool end(struct peg_core *c, struct peg_engine *e, uint64_t t)
{
	if (c->stream.stand_by && c->balanced && !c->let_end)
		return false;
	e->ended = true;
	e->end = t;
	c->live--;
	return true;
}

/* Cycle @t of engine @n; returns the next in which something can happen. */
static uint64_t gather_cycle(struct peg_core *c, struct peg_engine *e, unsigned n, uint64_t t)
{
	const uint32_t mask = c->entry_mask;
	uint64_t next = PEG_NEVER;
	uint32_t held = gathered(e);
	bool go;

	if (held < PEG_LANES && unlikely(all_gathered(e))) {
		if (!held)
			return end(c, e, t), PEG_NEVER;
		if (e->records < e->asked) {
			put_out(c, e, t, held);
			c->count.edges += held;
			e->efs -= held;
			e->fill++;
			e->lane = 0;
			return t + 1;
		}
		return PEG_NEVER;
	}
	if (held >= PEG_LANES && e->records < e->asked) {
		put_out(c, e, t, PEG_LANES);
		c->count.edges += PEG_LANES;
		e->efs -= PEG_LANES;
	}
	while (e->fetch.head != e->fetch.tail && e->fetch.at[e->fetch.head & e->fetch.mask].ready <= t) {
		const struct peg_fetch *f = &e->fetch.at[e->fetch.head & e->fetch.mask];

		if (!arrive(c, e, n, f))
			return fail(c, e, PEG_UNREAD, f->first, 0, t), PEG_NEVER;
		e->fetch.head++;
	}
	if (e->fe >= 0 || e->rd_head != e->rd_tail)
		fetch_edges(c, e, n, t);
	if (e->fi_head != e->fi_tail && !indices_arrive(c, e, n, t))
		return PEG_NEVER;
	if (e->in.count && e->used < c->shape.entries && !fetch_index(c, e, n, t))
		return PEG_NEVER;
	if ((e->left || e->coming) && !refill(c, e, n, t))
		return PEG_NEVER;

	/* what can happen next, and when */
	held = gathered(e);
	go = held >= PEG_LANES && e->records < e->asked;
	go |= e->in.count && e->used < c->shape.entries;
	if (!go && (e->fe >= 0 || e->rd_head != e->rd_tail)) {
		const struct peg_entry *x = &e->entry[e->fe >= 0 ? (unsigned)e->fe : e->rd[e->rd_head & mask]];
		const uint64_t k = least(line_rest(c, x->start), x->end - x->start);

		go = held + e->flying < PEG_LANES || k <= c->edge_cap - held - e->flying;
	}
	if (go)
		return t + 1;
	if (e->fetch.head != e->fetch.tail)
		next = e->fetch.at[e->fetch.head & e->fetch.mask].ready;
	if (e->fi_head != e->fi_tail) {
		next = least(next, e->entry[e->fi[e->fi_head & mask]].ready);
		for (uint32_t i = e->fi_head + 1; !c->port.latency && i != e->fi_tail; i++)
			next = least(next, e->entry[e->fi[i & mask]].ready);
	}
	if (e->left || e->coming)
		next = least(next, refill_next(c, e, t));
	if (held < PEG_LANES && all_gathered(e))
		next = t + 1;
	return next > t ? next : t + 1;
}

/* A warp's worth of the list is there, or all that can be without taking some, and it is asked for. */
static bool list_ready(const struct peg_core *c, const struct peg_engine *e)
{
	return e->records < e->asked && e->in.count &&
	       (e->in.count >= PEG_LANES || (!e->coming && !(e->left && refill_size(c, e))));
}

/* The same in vertex-list mode: the table is off, vertices go out as they are. */
static uint64_t list_cycle(struct peg_core *c, struct peg_engine *e, unsigned n, uint64_t t)
{
	if (!e->left && !e->coming && !e->in.count)
		return end(c, e, t), PEG_NEVER;
	if (list_ready(c, e)) {
		uint8_t *r = record_at(c, e, e->records);
		const unsigned k = e->in.count < PEG_LANES ? e->in.count : PEG_LANES;

		for (unsigned i = 0; i < k; i++)
			fill_lanes(r + c->at[0] + (i << c->log2[0]), c->log2[0], list_pop(c, e), 0, 1);
		put_out(c, e, t, k);
		e->fill++;
	}
	if ((e->left || e->coming) && !refill(c, e, n, t))
		return PEG_NEVER;
	if ((!e->left && !e->coming && !e->in.count) || list_ready(c, e))
		return t + 1;
	return e->left || e->coming ? refill_next(c, e, t) : PEG_NEVER;
}

/* ---- All of them ---------------------------------------------------------------------------------- */

/* Run engine @n up to cycle @limit; false: its records have to be taken first. */
static bool engine_run(struct peg_core *c, unsigned n, uint64_t limit)
{
	struct peg_engine *e = &c->engine[n];

	while (e->next < limit) {
		const uint64_t t = e->next;

		if (unlikely(e->records - e->gone >= PEG_OUT_MARK))
			return false;
		e->next = c->stream.vertex_list ? list_cycle(c, e, n, t) : gather_cycle(c, e, n, t);
		e->clock = t + 1;
		if (unlikely(e->failed))
			e->next = PEG_NEVER;
	}
	return true;
}

/* The error of the earliest cycle, of the lowest engine in it. */
static enum peg_status first_error(struct peg_core *c)
{
	uint64_t at = PEG_NEVER;

	for (unsigned n = 0; n < c->stream.engines; n++) {
		if (c->engine[n].failed && c->engine[n].failed_at < at) {
			at = c->engine[n].failed_at;
			c->bad_engine = n;
		}
	}
	return (enum peg_status)c->engine[c->bad_engine].failed;
}

enum peg_status peg_core_run(struct peg_core *c, uint64_t until)
{
	for (;;) {
		const unsigned engines = c->stream.engines;
		uint64_t limit, next = PEG_NEVER, last = 0;
		bool blocked = false;

		/* an error is told at a cycle that does not depend on how the run was cut */
		if (unlikely(c->failed) && !(c->cycle % PEG_WINDOW))
			return first_error(c);
		if (c->cycle >= until && c->live)
			return PEG_MORE;
		if (c->cycle == c->control && c->live && !peg_control(c))
			return PEG_UNREAD;
		limit = least((c->cycle / PEG_WINDOW + 1) * PEG_WINDOW, least(until, c->control));
		for (unsigned n = 0; n < engines; n++)
			blocked |= !engine_run(c, n, limit);
		if (blocked)
			return PEG_OUT;
		for (unsigned n = 0; n < engines; n++) {
			next = least(next, c->engine[n].next);
			if (!c->live)
				last = c->engine[n].end > last ? c->engine[n].end : last;
			else
				last = c->engine[n].clock > last ? c->engine[n].clock : last;
		}
		if (!c->live) {
			c->cycle = last;
			return PEG_DONE;
		}
		if (next == PEG_NEVER && c->control == PEG_NEVER && !c->failed) {
			c->cycle = last > c->cycle ? last : c->cycle;
			return PEG_IDLE;
		}
		c->cycle = limit;
	}
}

void peg_core_advance(struct peg_core *c, uint64_t cycle)
{
	if (cycle <= c->cycle)
		return;
	c->cycle = cycle;
	for (unsigned n = 0; n < c->stream.engines; n++)
		if (c->engine[n].clock < cycle)
			c->engine[n].clock = cycle;
}

void peg_core_ask(struct peg_core *c, unsigned n, uint64_t asked)
{
	struct peg_engine *e = &c->engine[n];

	if (asked <= e->asked || e->ended)
		return;
	if (e->records >= e->asked)
		peg_wake(c, n, c->cycle);
	e->asked = asked;
}

void peg_core_reply(struct peg_core *c, unsigned n, enum peg_kind kind, unsigned slot, uint64_t cycle)
{
	struct peg_engine *e = &c->engine[n];

	if (kind == PEG_REFILL)
		e->refill.at[slot & e->refill.mask].ready = cycle;
	else if (kind == PEG_EDGES)
		e->fetch.at[slot & e->fetch.mask].ready = cycle;
	else if (slot < c->shape.entries)
		e->entry[slot].ready = cycle;
	peg_wake(c, n, cycle);
}

/* ---- Output lists --------------------------------------------------------------------------------- */

/* On chip as long as there is room and nothing was spilled before: a list stays in order. */
bool peg_out_append(struct peg_core *c, unsigned n, const uint64_t *vertex, unsigned count)
{
	struct peg_engine *e = &c->engine[n];

	while (count && !e->spilled && e->out.count < c->list_cap) {
		uint32_t at = e->out.head + e->out.count;

		at -= at >= c->list_cap ? c->list_cap : 0;
		fill_lanes((uint8_t *)e->out.at + ((size_t)at << c->stream.id_log2), c->stream.id_log2,
			   *vertex, 0, 1);
		e->out.count++;
		vertex++;
		count--;
	}
	if (!count)
		return true;
	e->spilled += count;
	c->count.spilled += count;
	return c->port.spill(c->port.ctx, n, vertex, count);
}

bool peg_core_push(struct peg_core *c, unsigned n, const uint64_t *vertex, unsigned count)
{
	c->count.pushed += count;
	return peg_out_append(c, n, vertex, count);
}
