/* SPDX-License-Identifier: MIT */
/* Programs over gtu/weave.h, compiled as C for the processor and the laboratory, and as CUDA for a GPU. */
#ifndef GTU_TEST_WEAVE_PROGRAMS_H
#define GTU_TEST_WEAVE_PROGRAMS_H

#include "gtu/weave.h"

#define WEAVE_FAR 0xffffffffu

struct weave_data {
	uint32_t *level, *active, *next; /* a word per vertex */
	double *rank, *sum;
	uint64_t *seen;			/* by edge: calls of gather */
	uint32_t source;
};

/* ---- Breadth-first search ---------------------------------------------------------------------------- */

GTU_WEAVE_FUNCTION void bfs_init(const struct gtu_weave_iteration *t, uint64_t v)
{
	struct weave_data *d = (struct weave_data *)t->context;

	GTU_WEAVE_STORE(t, &d->level[v], v == d->source ? 0 : WEAVE_FAR);
}

GTU_WEAVE_FUNCTION bool bfs_old(const struct gtu_weave_iteration *t, uint64_t v)
{
	struct weave_data *d = (struct weave_data *)t->context;

	return GTU_WEAVE_LOAD(t, &d->level[v]) != t->iteration;
}

GTU_WEAVE_FUNCTION bool bfs_reached(const struct gtu_weave_iteration *t, uint64_t v)
{
	struct weave_data *d = (struct weave_data *)t->context;

	return GTU_WEAVE_LOAD(t, &d->level[v]) != WEAVE_FAR;
}

GTU_WEAVE_FUNCTION void bfs_gather(const struct gtu_weave_iteration *t, uint64_t source, uint64_t target, double weight)
{
	struct weave_data *d = (struct weave_data *)t->context;

	(void)source, (void)weight;
	GTU_WEAVE_STORE(t, &d->level[target], (uint32_t)t->iteration + 1);
}

GTU_WEAVE_FUNCTION bool bfs_apply(const struct gtu_weave_iteration *t, uint64_t v)
{
	struct weave_data *d = (struct weave_data *)t->context;

	return GTU_WEAVE_LOAD(t, &d->level[v]) == t->iteration + 1;
}

/* ---- Shortest paths ----------------------------------------------------------------------------------- */

GTU_WEAVE_FUNCTION void sssp_init(const struct gtu_weave_iteration *t, uint64_t v)
{
	struct weave_data *d = (struct weave_data *)t->context;

	GTU_WEAVE_STORE(t, &d->level[v], v == d->source ? 0 : WEAVE_FAR);
	GTU_WEAVE_STORE(t, &d->active[v], v == d->source);
	GTU_WEAVE_STORE(t, &d->next[v], 0);
}

GTU_WEAVE_FUNCTION bool sssp_sleeps(const struct gtu_weave_iteration *t, uint64_t v)
{
	struct weave_data *d = (struct weave_data *)t->context;

	return !GTU_WEAVE_LOAD(t, &d->active[v]);
}

GTU_WEAVE_FUNCTION void sssp_gather(const struct gtu_weave_iteration *t, uint64_t source, uint64_t target, double weight)
{
	struct weave_data *d = (struct weave_data *)t->context;
	const uint32_t cost = GTU_WEAVE_LOAD(t, &d->level[source]) + (uint32_t)weight;

	if (cost < GTU_WEAVE_LOAD(t, &d->level[target]) && GTU_WEAVE_LOWER(t, &d->level[target], cost))
		GTU_WEAVE_STORE(t, &d->next[target], 1);
}

GTU_WEAVE_FUNCTION bool sssp_apply(const struct gtu_weave_iteration *t, uint64_t v)
{
	struct weave_data *d = (struct weave_data *)t->context;
	const uint32_t wakes = GTU_WEAVE_LOAD(t, &d->next[v]);

	GTU_WEAVE_STORE(t, &d->active[v], wakes);
	GTU_WEAVE_STORE(t, &d->next[v], 0);
	return wakes;
}

/* ---- Sums over edges, which count the calls by edge; exact, whatever their order --------------------------- */

GTU_WEAVE_FUNCTION void sum_init(const struct gtu_weave_iteration *t, uint64_t v)
{
	struct weave_data *d = (struct weave_data *)t->context;

	GTU_WEAVE_STORE(t, &d->rank[v], (double)(v % 5));
	GTU_WEAVE_STORE(t, &d->sum[v], 0);
}

GTU_WEAVE_FUNCTION void sum_gather(const struct gtu_weave_iteration *t, uint64_t source, uint64_t target, double weight)
{
	struct weave_data *d = (struct weave_data *)t->context;

	d->seen[t->edge]++;
	GTU_WEAVE_ADD(t, &d->sum[target], GTU_WEAVE_LOAD(t, &d->rank[source]) * weight);
}

GTU_WEAVE_FUNCTION bool sum_apply(const struct gtu_weave_iteration *t, uint64_t v)
{
	struct weave_data *d = (struct weave_data *)t->context;

	GTU_WEAVE_STORE(t, &d->rank[v], GTU_WEAVE_LOAD(t, &d->sum[v]) / 64);
	GTU_WEAVE_STORE(t, &d->sum[v], 0);
	return true;
}

#endif
