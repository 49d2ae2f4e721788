// SPDX-License-Identifier: MIT
/*
 * Shortest paths by GraphPEG. The unit gathers edges with their weights, and collects the vertices
 * whose distance a round has shortened in an output list. Vertex-list mode splits this list, and
 * later the far pile, into near and far vertices (GraphPEG, section 3.2): a stream for each, because
 * a stream has one output list.
 *
 * The far pile is a list of vertices without costs. An entry is stale if its vertex's distance is
 * below the threshold, since the vertex then entered near when the distance was shortened, or if the
 * vertex is in the list again.
 */
#include "sssp.h"

/* A round, or a split, puts a vertex into a list once. */
static bool first_in_round(struct sssp *s, uint64_t v)
{
	uint32_t *queued = s->queued.region.addr;

	if (queued[v] == s->round)
		return false;
	queued[v] = s->round;
	return true;
}

static int shorten(void *context, const struct gtu_alg_batch *batch)
{
	struct sssp *s = context;
	uint64_t from, cost, v;
	unsigned i;
	int rc = 0;

	for (i = 0; i < batch->n && !rc && !s->too_narrow; i++) {
		v = batch->target[i];
		from = distance_of(s, batch->source[i]);
		if (may_overflow(s, from))
			break;
		cost = distance_add(s->type, from, batch->weight, i);
		if (cost >= distance_of(s, v))
			continue;
		gtu_put(s->distance.region.addr, s->width, v, cost);
		s->mixed |= cost >= s->threshold;
		if (first_in_round(s, v))
			rc = gtu_alg_emit(&s->a, &s->edges, v);
	}
	return rc;
}

static bool is_near(void *context, uint64_t v)
{
	const struct sssp *s = context;

	return distance_of(s, v) < s->threshold;
}

static bool is_far(void *context, uint64_t v)
{
	return !is_near(context, v);
}

static int reserve(struct sssp *s, struct gtu_alg_frontier *list, uint64_t count, bool keep)
{
	return gtu_alg_reserve(&s->a, &list->ids, count * s->a.id_width, keep);
}

int gtu_sssp_peg_round(struct sssp *s, const struct gtu_alg_frontier *now, struct gtu_alg_frontier *next)
{
	int rc;

	gtu_phase(&s->a.phases, "traverse");
	s->mixed = false;
	s->edges.out = next;
	rc = gtu_alg_for_each_edge(&s->a, &s->edges, now, shorten, s);
	if (rc || s->too_narrow || !s->mixed)
		return rc;
	gtu_phase(&s->a.phases, "split");
	s->other.count = next->count;
	rc = reserve(s, &s->other, s->a.g->n, false);
	if (!rc)
		rc = reserve(s, &s->far, s->far.count + next->count, true);
	if (rc)
		return rc;
	gtu_alg_swap(&s->a, &s->other.ids, &next->ids);
	next->count = 0;
	rc = gtu_alg_filter_list(&s->a, &s->edges, &s->other, next, is_near, s);
	return rc ? rc : gtu_alg_filter_list(&s->a, &s->edges, &s->other, &s->far, is_far, s);
}

static bool comes_near(void *context, uint64_t v)
{
	struct sssp *s = context;

	return distance_of(s, v) >= s->below && is_near(s, v) && first_in_round(s, v);
}

static bool stays_far(void *context, uint64_t v)
{
	return is_far(context, v) && first_in_round(context, v);
}

int gtu_sssp_peg_keep_far(struct sssp *s)
{
	int rc = reserve(s, &s->other, s->far.count > s->a.g->n ? s->far.count : s->a.g->n, false);

	if (rc)
		return rc;
	gtu_sssp_next_round(s);
	s->other.count = 0;
	rc = gtu_alg_filter_list(&s->a, &s->edges, &s->far, &s->other, stays_far, s);
	gtu_alg_swap(&s->a, &s->far.ids, &s->other.ids);
	s->far.count = s->other.count;
	return rc;
}

int gtu_sssp_peg_threshold(struct sssp *s, struct gtu_alg_frontier *near, bool *more)
{
	uint64_t i, cost, min = s->infinity;
	int rc;

	for (i = 0; i < s->far.count; i++) {
		cost = distance_of(s, gtu_alg_vertex(&s->a, &s->far, i));
		if (cost < min && cost >= s->threshold)
			min = cost;
	}
	near->count = 0;
	*more = min < s->infinity;
	if (!*more)
		return 0;
	s->below = s->threshold;
	s->threshold = distance_above(s->type, min, s->delta);
	gtu_sssp_next_round(s);
	rc = gtu_alg_filter_list(&s->a, &s->edges, &s->far, near, comes_near, s);
	return rc ? rc : gtu_sssp_peg_keep_far(s);
}
