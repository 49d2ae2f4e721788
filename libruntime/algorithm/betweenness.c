// SPDX-License-Identifier: MIT
/*
 * Betweenness centrality with Brandes' algorithm: a breadth-first search from each source counts
 * shortest paths, then dependencies are accumulated backwards, level by level. Both passes follow
 * the edges as stored (the second one from a vertex to its successors), so no transpose is needed.
 */
#include <string.h>

#include "libruntime/support/ranked.h"
#include "for_each_edge.h"
#include "libruntime/support/traverse.h"
#include "libruntime/support/wide.h"
#include "plain.h"

#define UNVISITED UINT32_MAX

struct betweenness {
	struct gtu_alg a;
	struct gtu_alg_for_each_edge edges;
	uint32_t next_level;
	struct gtu_alg_buffer level;	/* n of 4 bytes */
	struct gtu_alg_buffer paths;	/* n struct gtu_wide_sum: shortest paths from the source */
	struct gtu_alg_buffer share;	/* n doubles: dependency of the source on the vertex */
	struct gtu_alg_frontier order;	/* vertices in the order of their discovery */
	struct gtu_alg_buffer begin;	/* start of each level in order, 8 bytes each */
	struct gtu_alg_frontier now;	/* the current level */
};

static int count_paths(void *context, const struct gtu_alg_batch *batch)
{
	struct betweenness *b = context;
	uint32_t *level = b->level.region.addr;
	struct gtu_wide_sum *paths = b->paths.region.addr;
	unsigned i;
	int rc = 0;

	for (i = 0; i < batch->n && !rc; i++) {
		uint64_t v = batch->target[i];

		if (level[v] == UNVISITED) {
			level[v] = b->next_level;
			rc = gtu_alg_emit(&b->a, &b->edges, v);
		}
		if (level[v] == b->next_level)
			gtu_wide_sum_add(&paths[v], paths[batch->source[i]]);
	}
	return rc;
}

static int take_shares(void *context, const struct gtu_alg_batch *batch)
{
	struct betweenness *b = context;
	const uint32_t *level = b->level.region.addr;
	const struct gtu_wide_sum *paths = b->paths.region.addr;
	double *share = b->share.region.addr;
	unsigned i;

	for (i = 0; i < batch->n; i++) {
		uint64_t u = batch->source[i], v = batch->target[i];

		if (level[v] == level[u] + 1)
			share[u] += paths[u].m / paths[v].m * gtu_power_of_2(paths[u].e - paths[v].e) * (1 + share[v]);
	}
	return 0;
}

/* Set b->now to level @l of the order. */
static int level_of(struct betweenness *b, uint32_t l, uint64_t end)
{
	const uint64_t first = ((const uint64_t *)b->begin.region.addr)[l];
	const uint32_t width = b->a.id_width;
	int rc;

	b->now.count = end - first;
	rc = gtu_alg_reserve(&b->a, &b->now.ids, b->now.count * width, false);
	if (!rc)
		memcpy(b->now.ids.region.addr, (char *)b->order.ids.region.addr + first * width,
		       b->now.count * width);
	return rc;
}

static int too_many_paths(struct betweenness *b, uint64_t source)
{
	return gtu_fail(b->a.err, GTU_ERR_UNSUPPORTED,
			"the number of shortest paths from vertex %llu exceeds 2^524287",
			(unsigned long long)gtu_graph_id(b->a.g, source));
}

static int forth(struct betweenness *b, uint64_t source, uint32_t *levels)
{
	struct gtu_wide_sum *paths = b->paths.region.addr;
	uint64_t at = 0, end, i;
	uint32_t l;
	int rc;

	gtu_phase(&b->a.phases, "count");
	memset(b->level.region.addr, 0xff, b->a.g->n * 4);
	memset(paths, 0, b->a.g->n * sizeof(*paths));
	((uint32_t *)b->level.region.addr)[source] = 0;
	paths[source].m = 1;
	b->order.count = 0;
	gtu_alg_push(&b->a, &b->order, source);
	for (l = 0; at < b->order.count; l++) {
		end = b->order.count;
		rc = gtu_alg_reserve(&b->a, &b->begin, (l + 1) * 8ull, true);
		if (rc)
			return rc;
		((uint64_t *)b->begin.region.addr)[l] = at;
		rc = level_of(b, l, end);
		b->next_level = l + 1;
		b->edges.out = &b->order;
		if (!rc)
			rc = gtu_alg_for_each_edge(&b->a, &b->edges, &b->now, count_paths, b);
		if (rc)
			return rc;
		for (i = end; i < b->order.count; i++)
			if (paths[gtu_alg_vertex(&b->a, &b->order, i)].e >= GTU_WIDE_BIAS - 1)
				return too_many_paths(b, source);
		at = end;
	}
	*levels = l;
	return 0;
}

static int back(struct betweenness *b, uint64_t source, uint32_t levels, double *score)
{
	const double *share = b->share.region.addr;
	uint64_t end = b->order.count, i, v;
	uint32_t l;
	int rc;

	gtu_phase(&b->a.phases, "depend");
	memset(b->share.region.addr, 0, b->a.g->n * 8);
	b->edges.out = NULL;
	for (l = levels; l-- > 0;) {
		rc = level_of(b, l, end);
		/* there are no edges beyond the last level */
		if (!rc && l + 1 < levels)
			rc = gtu_alg_for_each_edge(&b->a, &b->edges, &b->now, take_shares, b);
		if (rc)
			return rc;
		end = ((const uint64_t *)b->begin.region.addr)[l];
	}
	for (i = 0; i < b->order.count; i++) {
		v = gtu_alg_vertex(&b->a, &b->order, i);
		if (v != source)
			score[v] += share[v];
	}
	return 0;
}

static int set_up(struct betweenness *b)
{
	uint64_t n = b->a.g->n;
	int rc;

	rc = gtu_alg_edges_begin(&b->a, &b->edges, b->a.g, 8);
	if (!rc)
		rc = gtu_alg_reserve(&b->a, &b->level, n * 4, false);
	if (!rc)
		rc = gtu_alg_reserve(&b->a, &b->paths, n * sizeof(struct gtu_wide_sum), false);
	if (!rc)
		rc = gtu_alg_reserve(&b->a, &b->share, n * 8, false);
	if (!rc)
		rc = gtu_alg_reserve(&b->a, &b->order.ids, n * b->a.id_width, false);
	return rc;
}

static int from_source(struct betweenness *b, uint64_t source, double *score)
{
	uint32_t levels = 0;
	int rc = gtu_alg_check_vertex(&b->a, "source", source);

	if (!rc)
		rc = forth(b, source, &levels);
	if (!rc)
		rc = back(b, source, levels, score);
	if (rc)
		return rc;
	b->a.stats->iterations += levels;
	b->a.stats->vertices += b->order.count;
	return 0;
}

int gtu_betweenness(struct gtu_device *dev, const struct gtu_graph *g,
		    const struct gtu_algorithm_options *opt, double *score,
		    struct gtu_algorithm_stats *stats, struct gtu_error *err)
{
	struct betweenness b = { 0 };
	uint64_t i, count;
	int rc;

	if (gtu_has_ranks(dev))
		return gtu_run_ranked(dev, g, GTU_RANKED_BETWEENNESS, opt, score, stats, err);
	if (opt->unit == GTU_WITH_GPU)
		return gtu_traverse(dev, g, GTU_TRAVERSE_BETWEENNESS, opt, score, stats, err);
	rc = gtu_alg_begin(&b.a, "betweenness", dev, g, opt, stats, err);
	if (!rc)
		rc = gtu_alg_require_whole_graph(&b.a);
	if (!rc && opt->source_count && !opt->sources)
		rc = gtu_fail(err, GTU_ERR_USAGE, "source_count is %llu, but sources is NULL: pass "
			      "a list",
			      (unsigned long long)opt->source_count);
	if (!rc && opt->unit == GTU_WITH_NONE)
		return gtu_alg_end(&b.a, gtu_plain_betweenness(&b.a, score));
	if (!rc)
		rc = set_up(&b);
	if (!rc)
		memset(score, 0, g->n * 8);
	count = opt->sources ? opt->source_count : g->n;
	for (i = 0; !rc && i < count; i++)
		rc = from_source(&b, opt->sources ? opt->sources[i] : i, score);
	rc = gtu_alg_edges_end(&b.a, &b.edges, rc);
	return gtu_alg_end(&b.a, rc);
}
