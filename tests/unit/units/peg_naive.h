/* SPDX-License-Identifier: MIT */
/*
 * Reference model of GraphPEG for tests: the rules of Documentation/units-peg.md, cycle by cycle.
 * Every engine runs in every cycle and every stage loops over all entries; nothing is planned or
 * skipped.
 */
#ifndef PEG_NAIVE_H
#define PEG_NAIVE_H

#include "tests/unit/test.h"

#define NV_ENGINES 32
#define NV_ENTRIES 64
#define NV_LANES 32

struct nv_edge {
	uint64_t near, index;
};
struct nv_record {
	unsigned engine, lanes;
	uint64_t cycle;
	struct nv_edge lane[NV_LANES];	/* in vertex-list mode only `near` */
};
struct nv_ask {
	uint64_t cycle, requested;
	unsigned engine;
};

struct nv_config {
	unsigned engines, entries, message, shift;
	uint64_t edge_cap, list_cap;	/* edges, vertices */
	uint64_t interval, floor, latency;
	bool vertex_list, balance, stand_by;
	uint64_t vertices, addr;
	unsigned id_bytes;
	const uint64_t *row;
	uint64_t *input[NV_ENGINES], inputs[NV_ENGINES];
	const struct nv_ask *ask;	/* NULL: a request is always pending */
	unsigned asks;
};

enum { NV_IVD, NV_FI, NV_RD, NV_FE, NV_RESERVED };

struct nv_entry {
	int state;
	uint64_t v, start, end, ready, order;
};
struct nv_fetch {
	uint64_t v, first, count, ready;
};
/* A queue of any type: at[head .. tail). */
#define NV_QUEUE(type) struct { type *at; size_t head, tail, room; }
#define NV_PUT(q, ...)                                                                             \
	do {                                                                                       \
		if ((q)->tail == (q)->room) {                                                      \
			(q)->room = 2 * (q)->room + 64;                                            \
			(q)->at = test_grow((q)->at, (q)->room * sizeof(*(q)->at));                  \
		}                                                                                  \
		(q)->at[(q)->tail++] = (__VA_ARGS__);                                              \
	} while (0)
#define NV_COUNT(q) ((q)->tail - (q)->head)

struct nv_engine {
	uint64_t dealt, requested, records, end, efs;
	bool ended;
	NV_QUEUE(uint64_t) list;
	NV_QUEUE(struct nv_fetch) refill, fetch;
	NV_QUEUE(struct nv_edge) edges;
	struct nv_entry entry[NV_ENTRIES];
};

struct naive {
	const struct nv_config *c;
	uint64_t t, order, moves, moved, refused;
	struct nv_engine e[NV_ENGINES];
	NV_QUEUE(struct nv_record) out;
	/* the control processor */
	int step;			/* 0: no exchange */
	uint64_t at, size, bw0, bw1, bw2;
	unsigned donor, receiver;
	bool may_end;
};

static inline size_t nv_used(const struct naive *v, const struct nv_engine *e)
{
	size_t n = 0;

	for (unsigned i = 0; i < v->c->entries; i++)
		n += e->entry[i].state != NV_IVD;
	return n;
}

static inline uint64_t nv_flying(const struct nv_engine *e)
{
	uint64_t n = 0;

	for (size_t i = e->fetch.head; i < e->fetch.tail; i++)
		n += e->fetch.at[i].count;
	return n;
}

static inline uint64_t nv_coming(const struct nv_engine *e)
{
	uint64_t n = 0;

	for (size_t i = e->refill.head; i < e->refill.tail; i++)
		n += e->refill.at[i].count;
	return n;
}

static inline uint64_t nv_efs(const struct naive *v, const struct nv_engine *e)
{
	uint64_t n = NV_COUNT(&e->edges) + nv_flying(e);

	for (unsigned i = 0; i < v->c->entries; i++)
		if (e->entry[i].state == NV_RD || e->entry[i].state == NV_FE)
			n += e->entry[i].end - e->entry[i].start;
	return n;
}

static inline bool nv_nothing_to_fetch(const struct naive *v, unsigned n)
{
	const struct nv_engine *e = &v->e[n];

	return e->dealt == v->c->inputs[n] && !nv_coming(e) && !NV_COUNT(&e->list) && !nv_used(v, e);
}

static inline void nv_emit(struct naive *v, unsigned n, unsigned lanes)
{
	struct nv_engine *e = &v->e[n];
	struct nv_record r = { .engine = n, .lanes = lanes, .cycle = v->t };

	for (unsigned i = 0; i < lanes; i++)
		r.lane[i] = v->c->vertex_list ? (struct nv_edge){ e->list.at[e->list.head++], 0 } :
						e->edges.at[e->edges.head++];
	e->records++;
	NV_PUT(&v->out, r);
}

static inline uint64_t nv_min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * Vertices of the next refill: never across a boundary of 32 dealt vertices; 0 if they do not all
 * fit.
 */
static inline uint64_t nv_refill(const struct naive *v, unsigned n)
{
	const struct nv_engine *e = &v->e[n];
	const uint64_t size = nv_min(nv_min(32 - e->dealt % 32, v->c->inputs[n] - e->dealt), v->c->list_cap);

	return NV_COUNT(&e->list) + nv_coming(e) + size <= v->c->list_cap ? size : 0;
}

static inline void nv_list_stages(struct naive *v, unsigned n)
{
	struct nv_engine *e = &v->e[n];
	uint64_t size;

	while (NV_COUNT(&e->refill) && e->refill.at[e->refill.head].ready <= v->t) {
		const struct nv_fetch f = e->refill.at[e->refill.head++];

		for (uint64_t i = 0; i < f.count; i++)
			NV_PUT(&e->list, v->c->input[n][f.first + i]);
	}
	size = nv_refill(v, n);
	if (size) {
		NV_PUT(&e->refill, (struct nv_fetch){ 0, e->dealt, size, v->t + v->c->latency });
		e->dealt += size;
	}
}

static inline void nv_fe(struct naive *v, unsigned n)
{
	const struct nv_config *c = v->c;
	struct nv_engine *e = &v->e[n];
	struct nv_entry *x = NULL;
	const uint64_t held = NV_COUNT(&e->edges) + nv_flying(e);
	uint64_t line, k;

	for (unsigned i = 0; i < c->entries; i++)
		if (e->entry[i].state == NV_FE)
			x = &e->entry[i];
	if (!x) {
		for (unsigned i = 0; i < c->entries; i++)
			if (e->entry[i].state == NV_RD && (!x || e->entry[i].order < x->order))
				x = &e->entry[i];
		if (!x)
			return;
		x->state = NV_FE;
	}
	line = (128 - (c->addr + x->start * c->id_bytes) % 128) / c->id_bytes;
	k = nv_min(line, x->end - x->start);
	if (held + k > c->edge_cap) {
		if (held >= NV_LANES)
			return;
		k = c->edge_cap - held;
	}
	NV_PUT(&e->fetch, (struct nv_fetch){ x->v, x->start, k, v->t + c->latency });
	x->start += k;
	if (x->start == x->end)
		x->state = NV_IVD;
}

static inline void nv_engine(struct naive *v, unsigned n)
{
	const struct nv_config *c = v->c;
	struct nv_engine *e = &v->e[n];
	const bool open = e->records < e->requested;

	if (e->ended)
		return;
	if (c->vertex_list) {
		const uint64_t there = NV_COUNT(&e->list);

		if (nv_nothing_to_fetch(v, n)) {
			e->ended = true;
			e->end = v->t;
			return;
		}
		if (open && there && (there >= NV_LANES || (!nv_coming(e) && !nv_refill(v, n))))
			nv_emit(v, n, (unsigned)nv_min(there, NV_LANES));
		nv_list_stages(v, n);
		return;
	}
	/* 1: output a record, or end */
	if (nv_nothing_to_fetch(v, n) && !nv_flying(e) && NV_COUNT(&e->edges) < NV_LANES) {
		if (NV_COUNT(&e->edges)) {
			if (open)
				nv_emit(v, n, (unsigned)NV_COUNT(&e->edges));
		} else if (v->may_end || !c->stand_by || !c->balance || c->engines == 1) {
			e->ended = true;
			e->end = v->t;
		}
		return;
	}
	if (open && NV_COUNT(&e->edges) >= NV_LANES)
		nv_emit(v, n, NV_LANES);
	/* 2: edges arrive */
	while (NV_COUNT(&e->fetch) && e->fetch.at[e->fetch.head].ready <= v->t) {
		const struct nv_fetch f = e->fetch.at[e->fetch.head++];

		for (uint64_t i = 0; i < f.count; i++)
			NV_PUT(&e->edges, (struct nv_edge){ f.v, f.first + i });
	}
	/* 3: fetch one line */
	nv_fe(v, n);
	/* 4: offsets arrive, in request order */
	for (;;) {
		struct nv_entry *x = NULL;

		for (unsigned i = 0; i < c->entries; i++)
			if (e->entry[i].state == NV_FI && (!x || e->entry[i].order < x->order))
				x = &e->entry[i];
		if (!x || x->ready > v->t)
			break;
		x->start = c->row[x->v];
		x->end = c->row[x->v + 1];
		x->state = x->start == x->end ? NV_IVD : NV_RD;
		x->order = v->order++;
	}
	/* 5: the first vertex of the list takes the first free entry */
	for (unsigned i = 0; NV_COUNT(&e->list) && i < c->entries; i++) {
		if (e->entry[i].state == NV_IVD) {
			e->entry[i] = (struct nv_entry){ NV_FI, e->list.at[e->list.head++], 0, 0,
							 v->t + c->latency, v->order++ };
			break;
		}
	}
	/* 6: refill the list */
	nv_list_stages(v, n);
}

static inline void nv_control(struct naive *v)
{
	const struct nv_config *c = v->c;
	int entry = -1;
	struct nv_engine *d = &v->e[v->donor], *r = &v->e[v->receiver];

	if (!c->balance || c->engines == 1 || !v->t)
		return;
	if (v->step && v->t == v->at) {
		v->at += c->message;
		if (v->step == 1) {
			for (unsigned i = 0; i < c->entries && entry < 0 && !r->ended; i++)
				if (r->entry[i].state == NV_IVD)
					entry = (int)i;
			if (entry >= 0)
				r->entry[entry].state = NV_RESERVED;
			v->refused += entry < 0;
			v->step = entry < 0 ? 0 : 2;
		} else if (v->step == 2) {
			for (unsigned i = 0; i < c->entries; i++) {
				const struct nv_entry *x = &d->entry[i];

				if ((x->state == NV_RD || x->state == NV_FE) &&
				    (entry < 0 || x->end - x->start > d->entry[entry].end - d->entry[entry].start))
					entry = (int)i;
			}
			v->size = entry < 0 ? 0 : nv_min(v->size, d->entry[entry].end - d->entry[entry].start);
			if (v->size) {
				v->bw0 = d->entry[entry].start;
				v->bw1 = d->entry[entry].start += v->size;
				v->bw2 = d->entry[entry].v;
				if (v->bw1 == d->entry[entry].end)
					d->entry[entry].state = NV_IVD;
			}
			v->step = 3;
		} else {
			for (unsigned i = 0; i < c->entries; i++)
				if (r->entry[i].state == NV_RESERVED)
					r->entry[i] = v->size ? (struct nv_entry){ NV_RD, v->bw2, v->bw0, v->bw1, 0,
										   v->order++ } :
								(struct nv_entry){ .state = NV_IVD };
			v->moves += v->size != 0;
			v->refused += !v->size;
			v->moved += v->size;
			v->step = 0;
		}
	}
	if (v->t % c->interval)
		return;
	if (!v->step) {
		uint64_t most = 0, fewest = 0;
		bool some = false;

		for (unsigned n = 0; n < c->engines; n++) {
			const uint64_t has = nv_efs(v, &v->e[n]);

			if (v->e[n].ended)
				continue;
			if (!some || has > most) {
				most = has;
				v->donor = n;
			}
			if (!some || has < fewest) {
				fewest = has;
				v->receiver = n;
			}
			some = true;
		}
		if (some && v->donor != v->receiver &&
		    most - fewest >= (most >> c->shift > c->floor ? most >> c->shift : c->floor)) {
			v->size = (most - fewest) / 2;
			v->step = 1;
			v->at = v->t + c->message;
		}
	}
	if (c->stand_by && !v->may_end) {
		v->may_end = true;
		for (unsigned n = 0; n < c->engines; n++)
			v->may_end &= nv_nothing_to_fetch(v, n);
	}
}

/* Run to completion; false if it does not complete. */
static inline bool naive_run(struct naive *v, const struct nv_config *c)
{
	unsigned left = c->engines, ask = 0;

	memset(v, 0, sizeof(*v));
	v->c = c;
	for (unsigned n = 0; n < c->engines; n++)
		v->e[n].requested = c->ask ? 0 : UINT64_MAX;
	for (; v->t < 50000000; v->t++) {
		for (; ask < c->asks && c->ask[ask].cycle <= v->t; ask++)
			if (c->ask[ask].requested > v->e[c->ask[ask].engine].requested)
				v->e[c->ask[ask].engine].requested = c->ask[ask].requested;
		nv_control(v);
		left = 0;
		for (unsigned n = 0; n < c->engines; n++) {
			nv_engine(v, n);
			left += !v->e[n].ended;
		}
		if (!left)
			return true;
	}
	return false;
}

#endif
