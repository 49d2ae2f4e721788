// SPDX-License-Identifier: MIT
/*
 * Single-source shortest paths with near and far sets (SCU, algorithms 2 and 5; IRU, figure 10).
 *
 * The near set is expanded round by round. An edge that shortens a path puts its target into the
 * next near set if the new distance is below the threshold; otherwise target and distance go to the
 * far pile. When the near set is empty, the threshold is raised and the far pile is split by it.
 * sssp_scu.c and sssp_peg.c have the steps of these units.
 *
 * Sums use the weights' type (for u32 weights 32 bits, restarting with 64 bits if a path could be
 * longer). Addition is monotone, including rounding, so the fixpoint does not depend on the order
 * of relaxations.
 */
#include <math.h>
#include <string.h>

#include "libruntime/support/ranked.h"
#include "libruntime/support/traverse.h"
#include "sssp.h"
#include "plain.h"

/*
 * Default step of the threshold, in mean weights / mean degree: about one warp of work per vertex
 * (Davidson et al.).
 */
#define DELTA_FACTOR	32.0
/*
 * Width of a bucket without a unit, in the same measure: narrow buckets save relaxations. With fewer
 * edges per vertex than PLAIN_DEGREE they are wider, so that a bucket has work for all threads.
 */
#define PLAIN_FACTOR	2.0
#define PLAIN_DEGREE	32.0

/* ---- Distances ------------------------------------------------------------------------------- */

static double default_delta(const struct sssp *s, double mean)
{
	const double degree = (double)s->a.g->m / (double)s->a.g->n;

	if (!s->a.g->m)
		return 1;
	if (s->a.opt->unit != GTU_WITH_NONE)
		return DELTA_FACTOR * mean / degree;
	return PLAIN_FACTOR * mean / degree * fmax(1, PLAIN_DEGREE / degree);
}

static int choose_type(struct sssp *s)
{
	const struct gtu_graph *g = s->a.g;
	double mean, max;
	int rc;

	if (g->weight_type > GTU_WEIGHT_F64 || (g->weight_type && !g->weight && g->m))
		return gtu_fail(s->a.err, GTU_ERR_USAGE, "%s: weights of type %u are missing",
				g->name, g->weight_type);
	rc = gtu_alg_scan_weights(&s->a, &mean, &max);
	if (rc)
		return rc;
	s->type = g->weight_type == GTU_WEIGHT_F32 ? DISTANCE_F32 :
		  g->weight_type == GTU_WEIGHT_F64 ? DISTANCE_F64 : DISTANCE_U32;
	s->expand_limit = UINT64_MAX;
	if (s->type == DISTANCE_U32)
		s->expand_limit = UINT32_MAX - 1 - (uint64_t)max;
	if (s->type == DISTANCE_U32 && max >= UINT32_MAX)
		s->type = DISTANCE_U64;
	s->delta = s->a.opt->delta;
	if (isnan(s->delta) || s->delta < 0)
		return gtu_fail(s->a.err, GTU_ERR_USAGE, "a near-far step of %g is invalid: it "
				"must be a positive number", s->delta);
	if (s->delta == 0)
		s->delta = default_delta(s, mean);
	if (s->type <= DISTANCE_U64 && s->delta < 1)
		s->delta = 1;
	return 0;
}

static int far_capacity(struct sssp *s, uint64_t more)
{
	int rc = gtu_alg_reserve(&s->a, &s->far.ids, (s->far.count + more) * s->a.id_width, true);

	if (!rc)
		rc = gtu_alg_reserve(&s->a, &s->far_cost, (s->far.count + more) * s->width, true);
	return rc;
}

/* base[i] = the distance of entry i; stops if a path may need more than 32 bits. */
static int take_bases(struct sssp *s)
{
	uint64_t i, from;
	int rc;

	rc = gtu_alg_reserve(&s->a, &s->base, s->edges.w.n * s->width, false);
	for (i = 0; i < s->edges.w.n && !rc; i++) {
		from = distance_of(s, gtu_get(s->edges.w.vertex.region.addr, s->a.id_width, i));
		if (may_overflow(s, from))
			return 0;
		gtu_put(s->base.region.addr, s->width, i, from);
	}
	return rc;
}

/* ---- IRU ---------------------------------------------------------------------------------------- */

/* Compute cost[] for every edge taken, in their order. */
static int compute_costs(struct sssp *s)
{
	const uint32_t *count = s->edges.w.count.region.addr;
	uint64_t i, e, first, from, at = 0;
	int rc;

	rc = gtu_alg_reserve(&s->a, &s->cost, s->edges.w.edges * s->width, false);
	for (i = 0; i < s->edges.w.n && !rc; i++) {
		first = gtu_get(s->edges.w.index.region.addr, s->edges.w.index_width, i);
		from = gtu_get(s->base.region.addr, s->width, i);
		for (e = first; e < first + count[i]; e++)
			gtu_put(s->cost.region.addr, s->width, at++,
				distance_add(s->type, from, s->a.g->weight, e));
	}
	return rc;
}

/*
 * The IRU carries a 32-bit value with each index. It merges 4-byte distances by minimum; 8-byte
 * distances stay in memory and are looked up by position.
 */
static int iru_contract(struct sssp *s, struct gtu_alg_frontier *next)
{
	const bool narrow = s->width == 4;
	struct gtu_warp warp;
	unsigned lane;
	uint32_t lanes;
	uint64_t cost;
	int rc;

	rc = far_capacity(s, s->edges.w.edges);
	if (!rc)
		rc = gtu_alg_reorder(&s->a, &s->edges.w, narrow ? GTU_IRU_OP_MIN_U32 : GTU_IRU_OP_NONE,
				     narrow ? &s->cost : NULL, !narrow, s->width);
	if (rc)
		return rc;
	while ((rc = gtu_alg_load(&s->a, &warp)) > 0) {
		for (lanes = warp.active; lanes; lanes &= lanes - 1) {
			lane = (unsigned)__builtin_ctz(lanes);
			cost = narrow ? warp.secondary[lane] :
					gtu_get(s->cost.region.addr, 8, warp.position[lane]);
			relax_into(s, next, warp.index[lane], cost);
		}
	}
	return rc;
}

/* ---- Weaver --------------------------------------------------------------------- */

static int relax_edges(void *context, const struct gtu_alg_batch *batch)
{
	struct sssp *s = context;
	uint64_t from;
	unsigned i;
	int rc = far_capacity(s, batch->n);

	for (i = 0; i < batch->n && !rc && !s->too_narrow; i++) {
		from = distance_of(s, batch->source[i]);
		if (!may_overflow(s, from))
			relax_into(s, s->next, batch->target[i], distance_add(s->type, from, batch->weight, i));
	}
	return rc;
}

static int unit_round(struct sssp *s, const struct gtu_alg_frontier *now,
		      struct gtu_alg_frontier *next)
{
	struct gtu_alg_cursor c = { 0 };
	int rc;

	if (s->a.opt->unit == GTU_WITH_PEG)
		return gtu_sssp_peg_round(s, now, next);
	if (s->a.opt->unit == GTU_WITH_WEAVER) {
		gtu_phase(&s->a.phases, "traverse");
		s->next = next;
		return gtu_alg_for_each_edge(&s->a, &s->edges, now, relax_edges, s);
	}
	while (c.at < now->count) {
		gtu_phase(&s->a.phases, "prepare");
		rc = gtu_alg_take(&s->a, &s->edges.w, now, &c);
		if (!rc)
			rc = take_bases(s);
		if (rc || s->too_narrow)
			return rc;
		if (!s->edges.w.n)
			continue;
		gtu_phase(&s->a.phases, "expand");
		rc = gtu_alg_scu(&s->a) ? gtu_sssp_scu_expand(s) : compute_costs(s);
		gtu_phase(&s->a.phases, "contract");
		if (!rc)
			rc = gtu_alg_scu(&s->a) ? gtu_sssp_scu_contract(s, next) : iru_contract(s, next);
		if (rc)
			return rc;
	}
	return 0;
}

/* ---- The far pile --------------------------------------------------------------------------------- */

/* An entry of the far pile is stale if a shorter path to its vertex has been found since. */
static inline bool far_stale(const struct sssp *s, uint64_t i)
{
	return gtu_get(s->far_cost.region.addr, s->width, i) !=
	       distance_of(s, gtu_alg_vertex(&s->a, &s->far, i));
}

/*
 * Remove stale entries, so that at most one per vertex remains, and move those below the threshold to
 * @near; NULL: none.
 */
static void plain_split(struct sssp *s, struct gtu_alg_frontier *near)
{
	uint64_t i, v, cost, end = s->far.count;

	s->far.count = 0;
	for (i = 0; i < end; i++) {
		if (far_stale(s, i))
			continue;
		v = gtu_alg_vertex(&s->a, &s->far, i);
		cost = gtu_get(s->far_cost.region.addr, s->width, i);
		if (near && cost < s->threshold) {
			gtu_alg_push(&s->a, near, v);
		} else {
			gtu_put(s->far_cost.region.addr, s->width, s->far.count, cost);
			gtu_alg_push(&s->a, &s->far, v);
		}
	}
}

/*
 * Raise the threshold above the nearest far vertex and refill near; *more: whether there was one.
 */
static int next_threshold(struct sssp *s, struct gtu_alg_frontier *near, bool *more)
{
	uint64_t i, cost, min = s->infinity;

	gtu_phase(&s->a.phases, "far");
	if (s->a.opt->unit == GTU_WITH_PEG)
		return gtu_sssp_peg_threshold(s, near, more);
	for (i = 0; i < s->far.count; i++) {
		cost = gtu_get(s->far_cost.region.addr, s->width, i);
		if (cost < min && !far_stale(s, i))
			min = cost;
	}
	near->count = 0;
	*more = min < s->infinity;
	if (!*more)
		return 0;
	s->threshold = distance_above(s->type, min, s->delta);
	if (gtu_alg_scu(&s->a))
		return gtu_sssp_scu_split(s, near);
	plain_split(s, near);
	return 0;
}

/* ---- The search ------------------------------------------------------------------------------------ */

static int set_up(struct sssp *s)
{
	uint64_t v, n = s->a.g->n;
	uint32_t cost_type, flags = GTU_SCU_GROUP;
	unsigned i;
	int rc;

	s->width = distance_width(s->type);
	s->infinity = distance_infinity(s->type);
	cost_type = s->type >= DISTANCE_F32 ? GTU_TYPE_FLOAT : GTU_TYPE_UNSIGNED;
	rc = gtu_alg_reserve(&s->a, &s->distance, n * s->width, false);
	if (!rc)
		rc = gtu_alg_reserve(&s->a, &s->queued, n * 4, false);
	for (i = 0; i < 2 && !rc; i++)
		rc = gtu_alg_reserve(&s->a, &s->near[i].ids, n * s->a.id_width, false);
	if (rc)
		return rc;
	for (v = 0; v < n; v++)
		gtu_put(s->distance.region.addr, s->width, v, s->infinity);
	memset(s->queued.region.addr, 0, n * 4);
	s->near[0].count = s->near[1].count = s->far.count = 0;
	if (s->a.opt->unit != GTU_WITH_SCU)
		return 0;
	/*
	 * the unit adds costs of one width: 4-byte weights with 8-byte distances are only grouped
	 */
	if (!s->a.g->weight || gtu_weight_bytes(s->a.g->weight_type) == s->width)
		flags |= GTU_SCU_BEST;
	rc = gtu_alg_filter_begin(&s->a, &s->expansion, flags, true, cost_type, s->width, s->width);
	if (!rc)
		rc = gtu_alg_filter_begin(&s->a, &s->grouping, GTU_SCU_GROUP, false, 0, 0, s->width);
	if (!rc)
		rc = gtu_alg_filter_begin(&s->a, &s->far_filter, GTU_SCU_BEST | GTU_SCU_GROUP, false,
					  cost_type, s->width, s->width);
	return rc;
}

static int search(struct sssp *s)
{
	struct gtu_alg_frontier *now = &s->near[0], *next = &s->near[1], *swap;
	bool more = true;
	int rc;

	rc = set_up(s);
	if (rc)
		return rc;
	gtu_put(s->distance.region.addr, s->width, s->a.opt->source, 0);
	gtu_alg_push(&s->a, now, s->a.opt->source);
	s->threshold = distance_above(s->type, 0, s->delta);
	s->round = 0;
	while (more) {
		while (now->count) {
			gtu_sssp_next_round(s);
			next->count = 0;
			rc = unit_round(s, now, next);
			if (rc || s->too_narrow)
				return rc;
			gtu_phases_iteration(&s->a.phases, s->a.opt, now->count);
			if (s->far.count > 2 * s->a.g->n + s->a.chunk) {
				gtu_phase(&s->a.phases, "far");
				if (s->a.opt->unit == GTU_WITH_PEG)
					rc = gtu_sssp_peg_keep_far(s);
				else
					plain_split(s, NULL);
				if (rc)
					return rc;
			}
			swap = now;
			now = next;
			next = swap;
		}
		rc = next_threshold(s, now, &more);
		if (rc)
			return rc;
	}
	return 0;
}

static int plain(struct sssp *s, double *distance)
{
	struct gtu_plain_paths options = { s->type, s->delta, s->expand_limit };
	int rc = gtu_plain_sssp(&s->a, &options, distance, &s->too_narrow);

	if (rc || !s->too_narrow)
		return rc;
	options.type = DISTANCE_U64;
	return gtu_plain_sssp(&s->a, &options, distance, &s->too_narrow);
}

int gtu_sssp(struct gtu_device *dev, const struct gtu_graph *g,
	     const struct gtu_algorithm_options *opt, double *distance,
	     struct gtu_algorithm_stats *stats, struct gtu_error *err)
{
	struct sssp s = { 0 };
	uint64_t v;
	int rc;

	if (gtu_has_ranks(dev))
		return gtu_run_ranked(dev, g, GTU_RANKED_SSSP, opt, distance, stats, err);
	if (opt->unit == GTU_WITH_GPU)
		return gtu_traverse(dev, g, GTU_TRAVERSE_SSSP, opt, distance, stats, err);
	rc = gtu_alg_begin(&s.a, "sssp", dev, g, opt, stats, err);
	if (!rc)
		rc = gtu_alg_check_vertex(&s.a, "source", opt->source);
	if (!rc)
		rc = choose_type(&s);
	if (!rc && opt->unit == GTU_WITH_NONE)
		return gtu_alg_end(&s.a, plain(&s, distance));
	if (!rc)
		rc = gtu_alg_edges_begin(&s.a, &s.edges, g, 4);
	s.edges.weights = gtu_alg_streams_edges(&s.a);
	if (!rc)
		rc = search(&s);
	if (!rc && s.too_narrow) {
		s.too_narrow = false;
		s.type = DISTANCE_U64;
		rc = search(&s);
	}
	if (!rc) {
		gtu_phase(&s.a.phases, "setup");
		for (v = 0; v < g->n; v++) {
			distance[v] = distance_number(s.type, distance_of(&s, v));
			s.a.stats->vertices += distance_of(&s, v) != s.infinity;
		}
	}
	rc = gtu_alg_edges_end(&s.a, &s.edges, rc);
	return gtu_alg_end(&s.a, rc);
}
