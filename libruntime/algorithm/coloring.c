// SPDX-License-Identifier: MIT
/*
 * Graph coloring. Vertices have a fixed order: by descending degree, ties by a hash of their
 * number. Each takes the lowest color not used by an earlier neighbour. A round colors all vertices
 * whose earlier neighbours have colors (Jones and Plassmann), so all units give the colors of the
 * sequential greedy algorithm.
 */
#include <stdlib.h>
#include <string.h>

#include "for_each_edge.h"
#include "libruntime/support/coloring.h"
#include "libruntime/support/ranked.h"
#include "libruntime/support/traverse.h"

#define UNCOLORED UINT32_MAX
#define WINDOW 64			/* colors considered per pass */

struct coloring {
	struct gtu_alg a;
	struct gtu_graph *both;		/* symmetrized graph, if the graph is directed */
	struct gtu_alg_for_each_edge edges;
	uint32_t *color;
	uint32_t base;			/* first color of the window */
	struct gtu_alg_buffer rank;	/* n of 8 bytes: position in the order, lower first */
	struct gtu_alg_buffer color_of;	/* n of 4 bytes */
	struct gtu_alg_buffer waiting;	/* n of 8 bytes: earlier neighbours without a color */
	struct gtu_alg_buffer taken;	/* n of 8 bytes: colors of the window used by neighbours */
	struct gtu_alg_frontier ready, next;
	struct gtu_alg_buffer order, mark;	/* without a unit */
	uint64_t max;				/* maximum degree */
};

static uint64_t key_of(const struct gtu_graph *g, uint64_t v)
{
	uint64_t first, end;

	gtu_graph_edges(g, v, &first, &end);
	return gtu_color_key(end - first, v);
}

/* ---- Rounds ---------------------------------------------------------------------------------- */

static int count_before(void *context, const struct gtu_alg_batch *batch)
{
	struct coloring *c = context;
	const uint64_t *key = c->rank.region.addr;
	uint64_t *waiting = c->waiting.region.addr;
	unsigned i;

	for (i = 0; i < batch->n; i++)
		waiting[batch->source[i]] += batch->source[i] != batch->target[i] &&
					     gtu_color_before(key, batch->target[i], batch->source[i]);
	return 0;
}

/*
 * Visitor: sources have been colored; a vertex is ready when its last earlier neighbour has a
 * color.
 */
static int release(void *context, const struct gtu_alg_batch *batch)
{
	struct coloring *c = context;
	const uint64_t *key = c->rank.region.addr;
	uint64_t *waiting = c->waiting.region.addr;
	unsigned i;

	for (i = 0; i < batch->n; i++) {
		uint64_t u = batch->source[i], v = batch->target[i];

		if (u != v && waiting[v] && gtu_color_before(key, u, v) && !--waiting[v])
			gtu_alg_push(&c->a, &c->next, v);
	}
	return 0;
}

static int find_taken(void *context, const struct gtu_alg_batch *batch)
{
	struct coloring *c = context;
	uint64_t *taken = c->taken.region.addr;
	unsigned i;

	for (i = 0; i < batch->n; i++) {
		/*
		 * UNCOLORED is outside every window; with a self-loop the vertex itself is
		 * uncolored
		 */
		uint32_t color = c->color[batch->target[i]] - c->base;

		if (color < WINDOW && c->color[batch->target[i]] != UNCOLORED)
			taken[batch->source[i]] |= 1ull << color;
	}
	return 0;
}

/* Color the ready vertices, window by window. No two of them are neighbours. */
static int color_ready(struct coloring *c)
{
	uint64_t *taken = c->taken.region.addr;
	uint64_t i, v, kept;
	int rc;

	for (c->base = 0; c->ready.count; c->base += WINDOW) {
		for (i = 0; i < c->ready.count; i++)
			taken[gtu_alg_vertex(&c->a, &c->ready, i)] = 0;
		rc = gtu_alg_for_each_edge(&c->a, &c->edges, &c->ready, find_taken, c);
		if (rc)
			return rc;
		kept = c->ready.count;
		c->ready.count = 0;
		for (i = 0; i < kept; i++) {
			v = gtu_alg_vertex(&c->a, &c->ready, i);
			if (~taken[v])
				c->color[v] = c->base + (uint32_t)__builtin_ctzll(~taken[v]);
			else
				gtu_alg_push(&c->a, &c->ready, v);
		}
	}
	return 0;
}

static int rounds(struct coloring *c)
{
	const uint64_t *waiting = c->waiting.region.addr;
	struct gtu_alg_frontier all = { .count = c->a.g->n, .all = true };
	uint64_t v, colored = 0;
	int rc;

	gtu_phase(&c->a.phases, "count");
	rc = gtu_alg_for_each_edge(&c->a, &c->edges, &all, count_before, c);
	for (v = 0; v < c->a.g->n; v++)
		if (!waiting[v])
			gtu_alg_push(&c->a, &c->next, v);
	while (!rc && c->next.count) {
		colored += c->next.count;
		memcpy(c->ready.ids.region.addr, c->next.ids.region.addr, c->next.count * c->a.id_width);
		c->ready.count = c->next.count;
		gtu_phase(&c->a.phases, "color");
		rc = color_ready(c);
		if (rc)
			break;
		gtu_phase(&c->a.phases, "release");
		gtu_alg_swap(&c->a, &c->next.ids, &c->ready.ids);
		c->ready.count = c->next.count;
		c->next.count = 0;
		rc = gtu_alg_for_each_edge(&c->a, &c->edges, &c->ready, release, c);
		gtu_phases_iteration(&c->a.phases, c->a.opt, c->ready.count);
	}
	if (!rc && colored != c->a.g->n)
		return gtu_fail(c->a.err, GTU_ERR_INPUT,
				"%s: edges are declared undirected, but at least %llu vertices "
				"have edges stored in one direction only: the graph is damaged",
				c->edges.w.g->name, (unsigned long long)(c->a.g->n - colored));
	return rc;
}

/* ---- Without a unit ---------------------------------------------------------------------------- */

struct entry {
	uint64_t key, vertex;
};

static int by_order(const void *x, const void *y)
{
	const struct entry *a = x, *b = y;

	if (a->key != b->key)
		return a->key > b->key ? -1 : 1;
	return a->vertex < b->vertex ? -1 : a->vertex > b->vertex;
}

/* Give @v the lowest color that no neighbour has; @mark[c] = v + 1 if a neighbour has color c. */
static int greedy_vertex(struct coloring *c, const struct gtu_graph *g, uint64_t v, uint64_t *mark)
{
	uint64_t e, end, first, target;
	uint32_t color;
	int rc = gtu_alg_take_row(&c->a, g, v, &first, &end);

	if (rc)
		return rc;
	for (e = first; e < end; e++) {
		target = gtu_graph_target(g, e);
		if (gtu_unlikely(target >= g->n))
			return gtu_alg_bad_edge(&c->a, g, e);
		color = c->color[target];
		if (color <= c->max)
			mark[color] = v + 1;
	}
	for (color = 0; mark[color] == v + 1; color++)
		;
	c->color[v] = color;
	return 0;
}

static int plain_coloring(struct coloring *c)
{
	const struct gtu_graph *g = c->edges.w.g;
	const uint64_t *key = c->rank.region.addr;
	struct entry *entry;
	uint64_t i, n = g->n;
	int rc;

	gtu_phase(&c->a.phases, "order");
	rc = gtu_alg_reserve(&c->a, &c->order, n * sizeof(*entry), false);
	if (rc)
		return rc;
	entry = c->order.region.addr;
	for (i = 0; i < n; i++) {
		entry[i] = (struct entry){ key[i], i };
		if (key[i] >> 32 > c->max)
			c->max = key[i] >> 32;
	}
	qsort(entry, n, sizeof(*entry), by_order);
	/* a vertex with d neighbours uses one of the first d + 1 colors */
	gtu_phase(&c->a.phases, "color");
	rc = gtu_alg_reserve(&c->a, &c->mark, (c->max + 2) * 8, false);
	for (i = 0; i < n && !rc; i++)
		rc = greedy_vertex(c, g, entry[i].vertex, c->mark.region.addr);
	gtu_phases_iteration(&c->a.phases, c->a.opt, n);
	return rc;
}

/* ---- Entry point ---------------------------------------------------------------------------------- */

static int set_up(struct coloring *c)
{
	const struct gtu_graph *g;
	uint64_t v, n = c->a.g->n, *key;
	int rc = gtu_alg_symmetrize(&c->a, &c->both);

	if (rc)
		return rc;
	g = c->both ? c->both : c->a.g;
	rc = gtu_alg_edges_begin(&c->a, &c->edges, g, 4);
	if (!rc)
		rc = gtu_alg_reserve(&c->a, &c->rank, n * 8, false);
	if (!rc)
		rc = gtu_alg_reserve(&c->a, &c->color_of, n * 4, false);
	if (rc)
		return rc;
	key = c->rank.region.addr;
	c->color = c->color_of.region.addr;
	for (v = 0; v < n; v++) {
		key[v] = key_of(g, v);
		c->color[v] = UNCOLORED;
	}
	if (c->a.opt->unit == GTU_WITH_NONE)
		return 0;
	rc = gtu_alg_reserve(&c->a, &c->waiting, n * 8, false);
	if (!rc)
		rc = gtu_alg_reserve(&c->a, &c->taken, n * 8, false);
	if (!rc)
		rc = gtu_alg_reserve(&c->a, &c->next.ids, n * c->a.id_width, false);
	if (!rc)
		rc = gtu_alg_reserve(&c->a, &c->ready.ids, n * c->a.id_width, false);
	return rc;
}

int gtu_coloring(struct gtu_device *dev, const struct gtu_graph *g,
		 const struct gtu_algorithm_options *opt, uint32_t *color,
		 struct gtu_algorithm_stats *stats, struct gtu_error *err)
{
	struct coloring c = { 0 };
	int rc;

	if (gtu_has_ranks(dev))
		return gtu_run_ranked(dev, g, GTU_RANKED_COLORING, opt, color, stats, err);
	if (opt->unit == GTU_WITH_GPU)
		return gtu_traverse_both_ways(dev, g, GTU_TRAVERSE_COLORING, opt, color, stats, err);
	rc = gtu_alg_begin(&c.a, "coloring", dev, g, opt, stats, err);
	if (!rc)
		rc = gtu_alg_require_whole_graph(&c.a);
	if (!rc && g->n) {
		rc = set_up(&c);
		if (!rc)
			rc = opt->unit == GTU_WITH_NONE ? plain_coloring(&c) : rounds(&c);
		if (!rc)
			memcpy(color, c.color, g->n * 4);
	}
	if (!rc)
		c.a.stats->vertices = g->n;
	rc = gtu_alg_edges_end(&c.a, &c.edges, rc);
	gtu_graph_close(c.both);
	return gtu_alg_end(&c.a, rc);
}
