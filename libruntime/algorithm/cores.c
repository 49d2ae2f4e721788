// SPDX-License-Identifier: MIT
/*
 * K-core decomposition: core[v] is the largest k such that v is in a subgraph in which every vertex
 * has at least k neighbours. Peels the vertices with the fewest neighbours, level by level; without
 * a unit one by one, using buckets of vertices by degree (Batagelj and Zaversnik).
 */
#include <string.h>

#include "libruntime/support/ranked.h"
#include "for_each_edge.h"
#include "libruntime/support/traverse.h"

struct cores {
	struct gtu_alg a;
	struct gtu_graph *both;		/* symmetrized graph, if the graph is directed */
	struct gtu_alg_for_each_edge edges;
	uint64_t k;
	uint64_t *core;			/* remaining neighbours; the core number after removal */
	struct gtu_alg_buffer removed;	/* n bytes */
	struct gtu_alg_frontier left, peel[2], *next;
	struct gtu_alg_buffer begin, position, sorted;	/* without a unit: see buckets() */
};

/* Count the neighbours of every vertex, except itself. */
static int count_neighbours(struct cores *c, const struct gtu_graph *g, uint64_t *max)
{
	uint64_t v, e, first, end, target;
	int rc;

	gtu_phase(&c->a.phases, "degrees");
	*max = 0;
	for (v = 0; v < g->n; v++) {
		rc = gtu_alg_edges(&c->a, g, v, &first, &end);
		if (!rc)
			rc = gtu_alg_progress(&c->a, 0);
		if (rc)
			return rc;
		c->core[v] = end - first;
		for (e = first; e < end; e++) {
			target = gtu_graph_target(g, e);
			if (gtu_unlikely(target >= g->n))
				return gtu_alg_bad_edge(&c->a, g, e);
			c->core[v] -= target == v;
		}
		if (c->core[v] > *max)
			*max = c->core[v];
	}
	return 0;
}

/* ---- Rounds ------------------------------------------------------------------------------------ */

static int decrement(void *context, const struct gtu_alg_batch *batch)
{
	struct cores *c = context;
	const uint8_t *removed = c->removed.region.addr;
	unsigned i;
	int rc = 0;

	for (i = 0; i < batch->n && !rc; i++) {
		uint64_t v = batch->target[i];

		if (removed[v] || c->core[v] <= c->k)
			continue;
		if (--c->core[v] == c->k)
			rc = gtu_alg_emit(&c->a, &c->edges, v);
	}
	return rc;
}

/* Rebuild the list of remaining vertices; *now: those with the fewest neighbours, c->k. */
static void choose(struct cores *c, struct gtu_alg_frontier *now)
{
	const uint8_t *removed = c->removed.region.addr;
	uint64_t i, v, count = c->left.count;

	c->left.count = 0;
	c->k = UINT64_MAX;
	for (i = 0; i < count; i++) {
		v = gtu_alg_vertex(&c->a, &c->left, i);
		if (removed[v])
			continue;
		gtu_alg_push(&c->a, &c->left, v);
		if (c->core[v] < c->k)
			c->k = c->core[v];
	}
	now->count = 0;
	for (i = 0; i < c->left.count; i++) {
		v = gtu_alg_vertex(&c->a, &c->left, i);
		if (c->core[v] == c->k)
			gtu_alg_push(&c->a, now, v);
	}
}

static int rounds(struct cores *c)
{
	uint8_t *removed = c->removed.region.addr;
	struct gtu_alg_frontier *now = &c->peel[0], *swap;
	uint64_t i;
	int rc;

	c->next = &c->peel[1];
	for (c->left.count = 0; c->left.count < c->a.g->n;)
		gtu_alg_push(&c->a, &c->left, c->left.count);
	for (;;) {
		gtu_phase(&c->a.phases, "choose");
		choose(c, now);
		if (!now->count)
			return 0;
		gtu_phase(&c->a.phases, "peel");
		while (now->count) {
			for (i = 0; i < now->count; i++)
				removed[gtu_alg_vertex(&c->a, now, i)] = 1;
			c->next->count = 0;
			c->edges.out = c->next;
			rc = gtu_alg_for_each_edge(&c->a, &c->edges, now, decrement, c);
			if (rc)
				return rc;
			gtu_phases_iteration(&c->a.phases, c->a.opt, now->count);
			swap = now;
			now = c->next;
			c->next = swap;
		}
	}
}

/* ---- Without a unit ---------------------------------------------------------------------------- */

/*
 * Sort vertices by remaining neighbours: begin[d] is the start of bucket d, position[v] the
 * index of v in sorted.
 */
static void buckets(struct cores *c, uint64_t max)
{
	uint64_t *begin = c->begin.region.addr, *position = c->position.region.addr;
	uint64_t *sorted = c->sorted.region.addr, v, d, n = c->a.g->n;

	for (v = 0; v < n; v++)
		begin[c->core[v] + 1]++;
	for (d = 1; d <= max; d++)
		begin[d] += begin[d - 1];
	for (v = 0; v < n; v++) {
		position[v] = begin[c->core[v]]++;
		sorted[position[v]] = v;
	}
	for (d = max + 1; d > 0; d--)
		begin[d] = begin[d - 1];
	begin[0] = 0;
}

/* Decrement v's degree: swap it to the front of its bucket and advance the bucket's start. */
static void lower(struct cores *c, uint64_t v)
{
	uint64_t *begin = c->begin.region.addr, *position = c->position.region.addr;
	uint64_t *sorted = c->sorted.region.addr;
	uint64_t front = begin[c->core[v]], other = sorted[front];

	sorted[position[v]] = other;
	position[other] = position[v];
	sorted[front] = v;
	position[v] = front;
	begin[c->core[v]--]++;
}

static int plain_cores(struct cores *c, uint64_t max)
{
	const struct gtu_graph *g = c->edges.w.g;
	const uint64_t *sorted;
	uint64_t i, v, e, end, target;
	int rc;

	gtu_phase(&c->a.phases, "peel");
	rc = gtu_alg_reserve(&c->a, &c->begin, (max + 2) * 8, false);
	if (!rc)
		rc = gtu_alg_reserve(&c->a, &c->position, g->n * 8, false);
	if (!rc)
		rc = gtu_alg_reserve(&c->a, &c->sorted, g->n * 8, false);
	if (rc)
		return rc;
	buckets(c, max);
	sorted = c->sorted.region.addr;
	for (i = 0; i < g->n; i++) {
		v = sorted[i];
		rc = gtu_alg_take_row(&c->a, g, v, &e, &end);
		if (rc)
			return rc;
		for (; e < end; e++) {
			target = gtu_graph_target(g, e);
			if (gtu_unlikely(target >= g->n))
				return gtu_alg_bad_edge(&c->a, g, e);
			if (c->core[target] > c->core[v])
				lower(c, target);
		}
	}
	gtu_phases_iteration(&c->a.phases, c->a.opt, g->n);
	return 0;
}

/* ---- Entry point ---------------------------------------------------------------------------------- */

static int set_up(struct cores *c)
{
	uint64_t n = c->a.g->n;
	int rc;

	rc = gtu_alg_reserve(&c->a, &c->removed, n, false);
	if (!rc)
		rc = gtu_alg_reserve(&c->a, &c->left.ids, n * c->a.id_width, false);
	if (!rc)
		rc = gtu_alg_reserve(&c->a, &c->peel[0].ids, n * c->a.id_width, false);
	if (!rc)
		rc = gtu_alg_reserve(&c->a, &c->peel[1].ids, n * c->a.id_width, false);
	return rc;
}

int gtu_cores(struct gtu_device *dev, const struct gtu_graph *g,
	      const struct gtu_algorithm_options *opt, uint64_t *core,
	      struct gtu_algorithm_stats *stats, struct gtu_error *err)
{
	struct cores c = { .core = core };
	uint64_t max;
	int rc;

	if (gtu_has_ranks(dev))
		return gtu_run_ranked(dev, g, GTU_RANKED_CORES, opt, core, stats, err);
	if (opt->unit == GTU_WITH_GPU)
		return gtu_traverse_both_ways(dev, g, GTU_TRAVERSE_CORES, opt, core, stats, err);
	rc = gtu_alg_begin(&c.a, "cores", dev, g, opt, stats, err);
	if (!rc)
		rc = gtu_alg_require_whole_graph(&c.a);
	if (!rc && g->n) {
		rc = gtu_alg_symmetrize(&c.a, &c.both);
		if (!rc)
			rc = gtu_alg_edges_begin(&c.a, &c.edges, c.both ? c.both : g, 8);
		if (!rc)
			rc = count_neighbours(&c, c.edges.w.g, &max);
		if (!rc && opt->unit == GTU_WITH_NONE)
			rc = plain_cores(&c, max);
		else if (!rc)
			rc = set_up(&c) ?: rounds(&c);
	}
	if (!rc)
		c.a.stats->vertices = g->n;
	rc = gtu_alg_edges_end(&c.a, &c.edges, rc);
	gtu_graph_close(c.both);
	return gtu_alg_end(&c.a, rc);
}
