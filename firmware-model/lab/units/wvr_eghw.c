// SPDX-License-Identifier: MIT
/* Edge-generating hardware: an unpipelined unit that gathers edges for a warp. */
#include <stdlib.h>

#include "wvr_eghw.h"

#define VERTICES	(LAB_WARPS_MAX * LAB_LANES) /* of a round */
#define NO_CYCLE		UINT64_MAX

enum { PUT, GET };

/* Operands of a request, on the waiting warp's stack. */
struct operands {
	unsigned what;
	uint32_t warp;			/* warp index in its block */
	lab_mask mask;
	const uint32_t *vid;
	lab_mask got;
	uint64_t edge;			/* cycles of edge information while the warp waited */
};

struct sm {
	/* the round */
	uint32_t vid[VERTICES];
	uint64_t valid[VERTICES / 64];
	uint32_t next;			/* next entry to check */
	bool serving;			/* get() was called since the last put() */
	/* the current vertex */
	uint32_t now, start, degree;
	bool looking_up;		/* its row offsets are in flight */
	uint32_t row_unit;		/* last unit of row offsets read; 0: none */
	/* the current group */
	uint32_t lanes, group[4][LAB_LANES];
	uint32_t line[2 * LAB_LANES];	/* units to read for it */
	uint32_t lines, issued;
	bool fetching;
	uint64_t since, edge;		/* fetching since this cycle; cycles of earlier groups */
	uint32_t outstanding;
	uint64_t at;			/* cycle of the next step; NO_CYCLE: waiting */
	/* waiting warps */
	struct wait { uint32_t warp; struct operands *o; uint64_t edge; } waits[LAB_WARPS_MAX];
	uint32_t head, waiting;
};

struct lab_eghw {
	struct lab *lab;
	int unit;
	unsigned sms;
	uint32_t requests;
	const struct lab_machine *m;
	struct lab_array row, col, weight;
	struct sm *sm;
};

static uint32_t word(const struct lab_array *a, uint32_t i)
{
	return ((const uint32_t *)a->data)[i];
}

/* A request reads a unit of the machine's coalescer, as a load of a warp does. Units are numbered from 1. */
static uint32_t unit_of(const struct lab_eghw *u, const struct lab_array *a, uint32_t i)
{
	return (uint32_t)((a->addr + 4ull * i) / u->m->load_unit);
}

static uint64_t line_of(const struct lab_eghw *u, uint32_t unit)
{
	return (uint64_t)unit * u->m->load_unit & ~(uint64_t)(LAB_LINE - 1);
}

static unsigned sectors_of(const struct lab_eghw *u, uint32_t unit)
{
	const unsigned sectors = u->m->load_unit / LAB_SECTOR;

	return ((1u << sectors) - 1) << (unit * sectors % 4);
}

/* Add the unit of an element, unless it is the last one's. */
static void add_unit(const struct lab_eghw *u, struct sm *s, const struct lab_array *a, uint32_t i)
{
	const uint32_t unit = unit_of(u, a, i);

	if (!s->lines || s->line[s->lines - 1] != unit)
		s->line[s->lines++] = unit;
}

static void ask_memory(struct lab_eghw *u, unsigned at, uint32_t unit)
{
	u->sm[at].outstanding++;
	lab_unit_memory(u->lab, u->unit, at, LAB_LOAD, line_of(u, unit), sectors_of(u, unit), at);
}

static bool next_vertex(struct sm *s)
{
	for (; s->next < VERTICES; s->next++)
		if (s->valid[s->next / 64] >> (s->next % 64) & 1) {
			s->now = s->vid[s->next++];
			return true;
		}
	return false;
}

static void assign_lanes(struct sm *s)
{
	uint32_t space = LAB_LANES - s->lanes, n = s->degree < space ? s->degree : space, i;

	for (i = 0; i < n; i++) {
		s->group[0][s->lanes + i] = s->now;
		s->group[1][s->lanes + i] = s->start + i;
	}
	s->lanes += n;
	s->start += n;
	s->degree -= n;
}

/* Add the units of all neighbors, then of weights: lanes of one vertex are adjacent. */
static void list_lines(struct lab_eghw *u, struct sm *s, uint64_t cycle)
{
	const struct lab_array *array[2] = { &u->col, &u->weight };
	unsigned k;
	uint32_t i;

	s->lines = s->issued = 0;
	for (k = 0; k < 2; k++)
		for (i = 0; i < s->lanes && array[k]->data; i++) {
			add_unit(u, s, array[k], s->group[1][i]);
			s->group[2 + k][i] = word(array[k], s->group[1][i]);
		}
	s->fetching = true;
	s->since = cycle;
}

/* Cycles spent on edge information up to @cycle. */
static uint64_t edge_cycles(const struct sm *s, uint64_t cycle)
{
	return s->edge + (s->fetching ? cycle - s->since : 0);
}

static void answer(struct lab_eghw *u, unsigned at, uint64_t cycle)
{
	struct sm *s = &u->sm[at];
	struct operands *o = s->waits[s->head].o;

	s->edge = edge_cycles(s, cycle);
	o->edge = s->edge - s->waits[s->head].edge;
	o->got = s->lanes == LAB_LANES ? ~0u : (1u << s->lanes) - 1;
	lab_unit_reply(u->lab, u->unit, s->waits[s->head].warp, s->group, s->lanes ? sizeof(s->group) : 0, cycle);
	s->head = (s->head + 1) % LAB_WARPS_MAX;
	s->waiting--;
	s->lanes = 0;
	s->fetching = false;
}

/* One step in @cycle. Returns the next step's cycle, or NO_CYCLE to wait for a reply or a warp. */
static uint64_t step(struct lab_eghw *u, unsigned at, uint64_t cycle)
{
	struct sm *s = &u->sm[at];
	uint32_t first, words = u->weight.data ? 4 : 3;

	if (!s->waiting)
		return NO_CYCLE;
	if (s->fetching) {
		while (s->issued < s->lines && s->outstanding < u->requests) {
			ask_memory(u, at, s->line[s->issued++]);
		}
		if (s->outstanding)
			return NO_CYCLE;
		cycle += words - 1 + u->m->shared_latency; /* one row of the buffer per cycle */
		answer(u, at, cycle);
		return cycle + 1;
	}
	if (s->looking_up) {
		if (s->outstanding)
			return NO_CYCLE;
		s->start = word(&u->row, s->now);
		s->degree = word(&u->row, s->now + 1) - s->start;
		s->row_unit = unit_of(u, &u->row, s->now + 1);
		s->looking_up = false;
	}
	if (s->degree) {
		assign_lanes(s);
		if (s->lanes == LAB_LANES)
			list_lines(u, s, cycle);
		return cycle + 1;
	}
	if (next_vertex(s)) {
		first = unit_of(u, &u->row, s->now);
		if (first != s->row_unit)
			ask_memory(u, at, first);
		if (unit_of(u, &u->row, s->now + 1) != first)
			ask_memory(u, at, first + 1);
		s->looking_up = true;
		/* read the vertex from the buffer */
		return s->outstanding ? NO_CYCLE : cycle + u->m->shared_latency;
	}
	if (s->lanes) {
		list_lines(u, s, cycle);
		return cycle + 1;
	}
	answer(u, at, cycle);
	return cycle + 1;
}

static void run(struct lab_eghw *u, unsigned at, uint64_t cycle)
{
	struct sm *s = &u->sm[at];

	s->at = step(u, at, cycle);
	if (s->at != NO_CYCLE)
		lab_unit_wake(u->lab, u->unit, s->at);
}

static void on_clock(void *ctx, uint64_t cycle)
{
	struct lab_eghw *u = ctx;
	uint64_t next = NO_CYCLE;
	unsigned i;

	for (i = 0; i < u->sms; i++) {
		if (u->sm[i].at <= cycle)
			u->sm[i].at = step(u, i, cycle);
		next = u->sm[i].at < next ? u->sm[i].at : next;
	}
	if (next != NO_CYCLE)
		lab_unit_wake(u->lab, u->unit, next);
}

static void on_reply(void *ctx, uint64_t tag, uint64_t cycle)
{
	struct lab_eghw *u = ctx;

	u->sm[tag].outstanding--;
	run(u, (unsigned)tag, cycle);
}

static void on_ask(void *ctx, uint32_t warp, unsigned at, uint64_t value, uint64_t cycle)
{
	struct operands *o = (struct operands *)(uintptr_t)value;
	struct lab_eghw *u = ctx;
	struct sm *s = &u->sm[at];
	lab_mask m;

	if (o->what == PUT) {
		if (s->serving) {
			memset(s->valid, 0, sizeof(s->valid));
			s->next = 0;
			s->serving = false;
		}
		for (m = o->mask; m; m &= m - 1) {
			uint32_t entry = o->warp * LAB_LANES + (uint32_t)__builtin_ctz(m);

			s->vid[entry] = o->vid[__builtin_ctz(m)];
			s->valid[entry / 64] |= 1ull << (entry % 64);
		}
		lab_unit_reply(u->lab, u->unit, warp, o, 0, cycle + u->m->shared_latency - 1);
		return;
	}
	s->serving = true;
	s->waits[(s->head + s->waiting) % LAB_WARPS_MAX] = (struct wait){ warp, o, edge_cycles(s, cycle) };
	if (!s->waiting++ && s->at == NO_CYCLE)
		run(u, at, cycle);
}

/* ---- Host and warp interface ----------------------------------------------------------------- */

int lab_eghw_attach(struct lab *lab, uint32_t requests, struct lab_eghw **out, struct gtu_error *err)
{
	static const struct lab_unit unit = { "eghw", LAB_IN_SM, on_ask, on_reply, on_clock, false };
	struct lab_eghw *u;
	unsigned i;
	int rc;

	*out = NULL;
	if (requests < 1 || requests > 64)
		return gtu_fail(err, GTU_ERR_USAGE, "edge-generating hardware has 1 to 64 requests in flight, not %u", requests);
	u = calloc(1, sizeof(*u));
	if (u)
		u->sm = calloc(lab_machine_of(lab)->sms, sizeof(*u->sm));
	if (!u || !u->sm) {
		lab_eghw_free(u);
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for edge-generating hardware");
	}
	u->lab = lab;
	u->m = lab_machine_of(lab);
	u->sms = u->m->sms;
	u->requests = requests;
	for (i = 0; i < u->sms; i++)
		u->sm[i].at = NO_CYCLE;
	rc = lab_attach(lab, &unit, u, &u->unit, err);
	if (rc)
		lab_eghw_free(u);
	else
		*out = u;
	return rc;
}

void lab_eghw_free(struct lab_eghw *u)
{
	if (u)
		free(u->sm);
	free(u);
}

void lab_eghw_graph(struct lab_eghw *u, const struct lab_array *row, const struct lab_array *col,
		    const struct lab_array *weight)
{
	u->row = *row;
	u->col = *col;
	u->weight = weight ? *weight : (struct lab_array){ 0 };
}

void lab_eghw_put(struct lab_warp *w, struct lab_eghw *u, const lab_u32 *vid)
{
	struct operands o = { .what = PUT, .warp = w->in_block, .mask = w->mask, .vid = (const uint32_t *)vid };

	lab_unit_request(w, u->unit, w->sm, (uintptr_t)&o, &o, 0);
}

lab_mask lab_eghw_get(struct lab_warp *w, struct lab_eghw *u, uint32_t *words, uint64_t *edge)
{
	struct operands o = { .what = GET, .warp = w->in_block };

	lab_unit_request(w, u->unit, w->sm, (uintptr_t)&o, words, 4 * LAB_EGHW_WORDS);
	*edge = o.edge;
	return o.got;
}
