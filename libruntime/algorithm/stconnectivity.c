// SPDX-License-Identifier: MIT
/*
 * ST-connectivity: the number of edges on a shortest path between two vertices. If edges are stored
 * in both directions, it searches from both ends, one level of the smaller frontier at a time;
 * otherwise from the source only. Ends at the first level at which the searches meet.
 */
#include "for_each_edge.h"
#include "libruntime/support/ranked.h"
#include "libruntime/support/traverse.h"

#define UNVISITED UINT32_MAX

/* The search from one end. */
struct side {
	struct gtu_alg_buffer level;	/* n of 4 bytes */
	struct gtu_alg_frontier frontier[2];
	unsigned now;
	uint32_t depth;			/* depth of frontier[now] */
};

struct stcon {
	struct gtu_alg a;
	struct gtu_alg_for_each_edge edges;
	struct side side[2];		/* from the source, from the target */
	struct side *active, *passive;	/* the search that takes a step, and the other one */
	uint64_t reached, best;
};

static int step(void *context, const struct gtu_alg_batch *batch)
{
	struct stcon *s = context;
	const uint32_t *other = s->passive->level.region.addr;
	uint32_t *level = s->active->level.region.addr;
	unsigned i;
	int rc = 0;

	for (i = 0; i < batch->n && !rc; i++) {
		uint64_t v = batch->target[i], whole;

		if (level[v] != UNVISITED)
			continue;
		level[v] = s->active->depth + 1;
		rc = gtu_alg_emit(&s->a, &s->edges, v);
		if (other[v] == UNVISITED)
			continue;
		whole = (uint64_t)level[v] + other[v];
		if (whole < s->best)
			s->best = whole;
	}
	return rc;
}

static int start(struct stcon *s, struct side *side, uint64_t vertex)
{
	uint64_t v, n = s->a.g->n;
	uint32_t *level;
	unsigned i;
	int rc;

	rc = gtu_alg_reserve(&s->a, &side->level, n * 4, false);
	for (i = 0; i < 2 && !rc; i++)
		rc = gtu_alg_reserve(&s->a, &side->frontier[i].ids, n * s->a.id_width, false);
	if (rc)
		return rc;
	level = side->level.region.addr;
	for (v = 0; v < n; v++)
		level[v] = UNVISITED;
	level[vertex] = 0;
	gtu_alg_push(&s->a, &side->frontier[0], vertex);
	s->reached++;
	return 0;
}

static struct side *smaller(struct stcon *s)
{
	struct side *a = &s->side[0], *b = &s->side[1];

	/* searching from the target needs edges stored in both directions */
	if (s->a.g->flags & GTU_GRAPH_DIRECTED)
		return a;
	return a->frontier[a->now].count <= b->frontier[b->now].count ? a : b;
}

static int search(struct stcon *s)
{
	struct gtu_alg_frontier *next;
	int rc;

	if (s->a.opt->source == s->a.opt->target)
		s->best = 0;
	while (s->best == GTU_UNREACHED) {
		s->active = smaller(s);
		s->passive = &s->side[s->active == &s->side[0]];
		next = &s->active->frontier[!s->active->now];
		next->count = 0;
		s->edges.out = next;
		rc = gtu_alg_for_each_edge(&s->a, &s->edges, &s->active->frontier[s->active->now], step, s);
		if (rc)
			return rc;
		gtu_phases_iteration(&s->a.phases, s->a.opt, s->active->frontier[s->active->now].count);
		s->reached += next->count;
		s->active->now = !s->active->now;
		s->active->depth++;
		if (!next->count)
			break;
	}
	return 0;
}

int gtu_stcon(struct gtu_device *dev, const struct gtu_graph *g,
	      const struct gtu_algorithm_options *opt, uint64_t *distance,
	      struct gtu_algorithm_stats *stats, struct gtu_error *err)
{
	struct stcon s = { .best = GTU_UNREACHED };
	int rc;

	if (gtu_has_ranks(dev)) {
		*distance = GTU_UNREACHED;
		return gtu_run_ranked(dev, g, GTU_RANKED_STCON, opt, distance, stats, err);
	}
	if (opt->unit == GTU_WITH_GPU)
		return gtu_traverse(dev, g, GTU_TRAVERSE_STCON, opt, distance, stats, err);
	rc = gtu_alg_begin(&s.a, "stcon", dev, g, opt, stats, err);
	if (!rc)
		rc = gtu_alg_require_whole_graph(&s.a);
	if (!rc)
		rc = gtu_alg_check_vertex(&s.a, "source", opt->source);
	if (!rc)
		rc = gtu_alg_check_vertex(&s.a, "target", opt->target);
	if (!rc)
		rc = gtu_alg_edges_begin(&s.a, &s.edges, g, 4);
	if (!rc) {
		gtu_phase(&s.a.phases, "traverse");
		rc = start(&s, &s.side[0], opt->source);
	}
	if (!rc)
		rc = start(&s, &s.side[1], opt->target);
	if (!rc)
		rc = search(&s);
	if (!rc) {
		*distance = s.best;
		s.a.stats->vertices = s.reached;
	}
	rc = gtu_alg_edges_end(&s.a, &s.edges, rc);
	return gtu_alg_end(&s.a, rc);
}
