// SPDX-License-Identifier: MIT
/*
 * An engine of GraphPEG (GraphPEG, section 3.3.1; Documentation/units-peg.md). A cycle runs the
 * stages from the end of the pipeline to its start (record output, arrival of edges, edge fetch,
 * arrival of offsets, offset fetch, refill), so that a stage sees the output of the one before it
 * in the next cycle.
 */
#include <string.h>

#include "peg_core.h"

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* ---- Helpers --------------------------------------------------------------------------------- */

/* Allocate the lowest free entry; -1 if none is free. */
int peg_entry_take(struct peg_core *c, struct peg_engine *e)
{
	for (; e->first_free < (c->shape.entries + 63u) / 64; e->first_free++) {
		uint64_t *word = &e->free[e->first_free];

		if (*word) {
			const int bit = __builtin_ctzll(*word);

			*word &= *word - 1;
			e->used++;
			return (int)(64 * e->first_free) + bit;
		}
	}
	return -1;
}

void peg_entry_free(const struct peg_core *c, struct peg_engine *e, unsigned n)
{
	e->entry[n].state = PEG_IVD;
	e->free[n / 64] |= 1ull << (n % 64);
	e->first_free = n / 64 < e->first_free ? n / 64 : e->first_free;
	peg_entry_has(c, e, n, 0);
	e->used--;
}

void peg_index_known(const struct peg_core *c, struct peg_engine *e, uint32_t n, uint64_t ready)
{
	struct peg_entry *x = &e->entry[n];
	uint32_t at = e->fi_tail++;

	x->ready = ready;
	for (; at != e->fi_head; at--) {
		const uint32_t before = e->fi[(at - 1) & c->entry_mask];
		const struct peg_entry *y = &e->entry[before];

		if (y->ready < ready || (y->ready == ready && (int32_t)(y->asked - x->asked) < 0))
			break;
		e->fi[at & c->entry_mask] = before;
	}
	e->fi[at & c->entry_mask] = n;
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

/* Edges in shared memory that are not yet output. */
static inline uint32_t gathered(const struct peg_engine *e)
{
	return (uint32_t)(e->fill - e->records) * PEG_LANES + e->lane;
}

/* No edge remains to be gathered. */
static inline bool all_gathered(const struct peg_engine *e)
{
	return !e->used && !e->flying && !e->left && !e->coming && !e->in.count;
}

static inline uint8_t *record_at(const struct peg_core *c, const struct peg_engine *e, uint64_t n)
{
	return e->record + (n & c->record_mask) * (size_t)c->record_bytes;
}

/* Number and date the next record; lanes from @lanes on are unused. */
static void output(struct peg_core *c, struct peg_engine *e, uint64_t cycle, unsigned lanes)
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

/* A line of edges arrives: fill the lanes of the current record, then of the next. */
static bool arrive(struct peg_core *c, struct peg_engine *e, unsigned n, const struct peg_fetch *f)
{
	const bool pull = c->stream.pull;
	const unsigned base = pull ? 1 : 0, far = pull ? 0 : 1;
	uint64_t first = f->first;
	uint32_t count = f->count;

	while (count) {
		uint8_t *r = record_at(c, e, e->fill);
		const uint32_t lane = e->lane, space = PEG_LANES - lane;
		const uint32_t k = count < space ? count : space;
		void *ids = c->stream.field[far] ? r + c->at[far] + (lane << c->log2[far]) : NULL;
		void *weights = c->stream.field[2] ? r + c->at[2] + (lane << c->log2[2]) : NULL;

		if (c->stream.field[base])
			peg_fill_lanes(r + c->at[base] + (lane << c->log2[base]), c->log2[base], f->vertex, 0, k);
		if (c->stream.field[3])
			peg_fill_lanes(r + c->at[3] + (lane << c->log2[3]), c->log2[3], first, 1, k);
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

/* Number of edges from @first to the end of its line. */
static inline uint64_t line_rest(const struct peg_core *c, uint64_t first)
{
	const uint64_t addr = c->stream.edges_addr + (first << c->stream.id_log2);

	return (GTU_LINE_BYTES - addr % GTU_LINE_BYTES) >> c->stream.id_log2;
}

/* ---- The cycle of an engine ------------------------------------------------------------------ */

/* Number of vertices of the next refill; 0: none. A refill does not cross a chunk boundary. */
static inline uint32_t refill_size(const struct peg_core *c, const struct peg_engine *e)
{
	const uint32_t space = c->list_cap - e->in.count - e->coming;
	uint64_t n = PEG_CHUNK - e->dealt % PEG_CHUNK;

	n = n < e->left ? n : e->left;
	n = n < c->list_cap ? n : c->list_cap;
	return n <= space ? (uint32_t)n : 0;
}

/* Whether vertices arrive in cycle @t, or more can be requested. */
static inline bool refill_acts(const struct peg_core *c, const struct peg_engine *e, uint64_t t)
{
	const struct peg_fifo *q = &e->refill;

	return (q->head != q->tail && q->at[q->head & q->mask].ready <= t) || (e->left && refill_size(c, e));
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

/* FE: the fetching entry requests its next line if shared memory has space. */
static void fetch_edges(struct peg_core *c, struct peg_engine *e, unsigned n, uint64_t t)
{
	const uint32_t held = gathered(e) + e->flying, space = c->edge_cap - held;
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
	if (k > space) {
		if (held >= PEG_LANES)
			return;
		k = space;	/* fetch part of a line, or a full warp might never gather */
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
		peg_entry_free(c, e, (unsigned)e->fe);
		e->fe = -1;
	} else {
		peg_entry_has(c, e, (uint32_t)e->fe, x->end - x->start);
	}
}

/* FI to RD for entry @i: its offsets have arrived. */
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
		peg_entry_free(c, e, i);
		return true;
	}
	x->state = PEG_RD;
	e->rd[e->rd_tail++ & c->entry_mask] = i;
	peg_entry_has(c, e, i, x->end - x->start);
	e->efs += x->end - x->start;
	return true;
}

static bool indices_arrive(struct peg_core *c, struct peg_engine *e, unsigned n, uint64_t t)
{
	const uint32_t mask = c->entry_mask;

	while (e->fi_head != e->fi_tail && e->entry[e->fi[e->fi_head & mask]].ready <= t)
		if (!index_arrives(c, e, n, e->fi[e->fi_head++ & mask], t))
			return false;
	return true;
}

static bool fetch_index(struct peg_core *c, struct peg_engine *e, unsigned n, uint64_t t)
{
	const uint64_t v = peg_list_get(c, &e->in, 0);
	struct peg_entry *x;
	uint64_t ready;
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
	x->asked = (uint32_t)c->count.index_fetches;
	ready = c->port.index(c->port.ctx, n, (unsigned)i, v, t);
	if (ready != PEG_NEVER)
		peg_index_known(c, e, (uint32_t)i, ready);
	c->count.index_fetches++;
	return true;
}

/* The first cycle after @t in which a refill allows progress. */
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
	if (c->stream.stand_by && c->balanced && !c->may_terminate)
		return false;
	e->ended = true;
	e->end = t;
	c->live--;
	return true;
}

/* Run cycle @t of engine @n; returns the next cycle with progress. */
static uint64_t gather_cycle(struct peg_core *c, struct peg_engine *e, unsigned n, uint64_t t)
{
	const uint32_t mask = c->entry_mask;
	uint64_t next = PEG_NEVER;
	uint32_t held = gathered(e);
	bool go;

	if (held < PEG_LANES && unlikely(all_gathered(e))) {
		if (!held)
			return end(c, e, t), PEG_NEVER;
		if (e->records < e->requested) {
			output(c, e, t, held);
			c->count.edges += held;
			e->efs -= held;
			e->fill++;
			e->lane = 0;
			return t + 1;
		}
		return PEG_NEVER;
	}
	if (held >= PEG_LANES && e->records < e->requested) {
		output(c, e, t, PEG_LANES);
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
	if (refill_acts(c, e, t) && !refill(c, e, n, t))
		return PEG_NEVER;

	/* the next cycle with progress */
	held = gathered(e);
	go = held >= PEG_LANES && e->records < e->requested;
	go |= e->in.count && e->used < c->shape.entries;
	if (!go && (e->fe >= 0 || e->rd_head != e->rd_tail)) {
		const struct peg_entry *x = &e->entry[e->fe >= 0 ? (unsigned)e->fe : e->rd[e->rd_head & mask]];
		const uint64_t k = peg_min(line_rest(c, x->start), x->end - x->start);

		go = held + e->flying < PEG_LANES || k <= c->edge_cap - held - e->flying;
	}
	if (go)
		return t + 1;
	if (e->fetch.head != e->fetch.tail)
		next = e->fetch.at[e->fetch.head & e->fetch.mask].ready;
	if (e->fi_head != e->fi_tail)
		next = peg_min(next, e->entry[e->fi[e->fi_head & mask]].ready);
	if (e->left || e->coming)
		next = peg_min(next, refill_next(c, e, t));
	if (held < PEG_LANES && all_gathered(e))
		next = t + 1;
	return next > t ? next : t + 1;
}

/*
 * A record is requested, and the list holds a full warp or all that fits before some is consumed.
 */
static bool list_ready(const struct peg_core *c, const struct peg_engine *e)
{
	return e->records < e->requested && e->in.count &&
	       (e->in.count >= PEG_LANES || (!e->coming && !(e->left && refill_size(c, e))));
}

/* As gather_cycle(), in vertex-list mode: the table is unused and vertices are output directly. */
static uint64_t list_cycle(struct peg_core *c, struct peg_engine *e, unsigned n, uint64_t t)
{
	if (!e->left && !e->coming && !e->in.count)
		return end(c, e, t), PEG_NEVER;
	if (list_ready(c, e)) {
		uint8_t *r = record_at(c, e, e->records);
		const unsigned k = e->in.count < PEG_LANES ? e->in.count : PEG_LANES;

		for (unsigned i = 0; i < k; i++)
			peg_fill_lanes(r + c->at[0] + (i << c->log2[0]), c->log2[0], list_pop(c, e), 0, 1);
		output(c, e, t, k);
		e->fill++;
	}
	if (refill_acts(c, e, t) && !refill(c, e, n, t))
		return PEG_NEVER;
	if ((!e->left && !e->coming && !e->in.count) || list_ready(c, e))
		return t + 1;
	return e->left || e->coming ? refill_next(c, e, t) : PEG_NEVER;
}

/* Run engine @n up to cycle @limit; false: the caller must take its records first. */
bool peg_engine_run(struct peg_core *c, unsigned n, uint64_t limit)
{
	struct peg_engine *e = &c->engine[n];

	while (e->next < limit) {
		const uint64_t t = e->next;

		if (unlikely(e->records - e->delivered >= PEG_OUT_MARK))
			return false;
		e->next = c->stream.vertex_list ? list_cycle(c, e, n, t) : gather_cycle(c, e, n, t);
		e->clock = t + 1;
		if (unlikely(e->failed))
			e->next = PEG_NEVER;
	}
	return true;
}
