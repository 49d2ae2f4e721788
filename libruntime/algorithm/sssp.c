// SPDX-License-Identifier: MIT
/*
 * Single-source shortest paths with near and far sets (SCU, algorithms 2 and 5; IRU, figure 10).
 *
 * The near set is expanded round by round. An edge that shortens a path puts its target into the
 * next near set if the new distance is below the threshold; otherwise target and distance go to the
 * far pile. When the near set is empty, the threshold is raised and the far pile is split by it.
 *
 * Sums use the weights' type (for u32 weights 32 bits, restarting with 64 bits if a path could be
 * longer). Addition is monotone, including rounding, so the fixpoint does not depend on the order
 * of relaxations.
 */
#include <math.h>
#include <string.h>

#include "libruntime/support/distance.h"
#include "libruntime/support/traverse.h"
#include "for_each_edge.h"

/*
 * Default step of the threshold, in mean weights / mean degree: about one warp of work per vertex
 * (Davidson et al.).
 */
#define DELTA_FACTOR	32.0

struct sssp {
	struct gtu_alg a;
	struct gtu_alg_for_each_edge edges;
	struct gtu_alg_frontier *next;	/* output of the visitor */
	enum distance_type type;
	uint32_t width;			/* bytes of a distance */
	uint64_t infinity;
	uint64_t expand_limit;		/* DISTANCE_U32: a greater distance plus a weight could overflow */
	double delta;
	uint64_t threshold;
	uint32_t round;
	struct gtu_alg_buffer distance;	/* n */
	struct gtu_alg_buffer queued;	/* n of 4 bytes: round in which a vertex entered near */
	struct gtu_alg_frontier near[2], far;
	struct gtu_alg_buffer far_cost;	/* distance of each entry of far */
	struct gtu_alg_buffer base;	/* distance of each vertex taken */
	struct gtu_alg_buffer cost;	/* distance over each edge of the edge frontier */
	struct gtu_alg_buffer weights;	/* weights of the edge frontier */
	struct gtu_alg_buffer near_mask, far_mask, near_cost;
	struct gtu_alg_filter expansion, grouping, far_filter;
	bool too_narrow;
};

/* ---- Distances ------------------------------------------------------------------------------- */

static inline uint64_t distance_of(const struct sssp *s, uint64_t v)
{
	return gtu_get(s->distance.region.addr, s->width, v);
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
		s->delta = g->m ? DELTA_FACTOR * mean * (double)g->n / (double)g->m : 1;
	if (s->type <= DISTANCE_U64 && s->delta < 1)
		s->delta = 1;
	return 0;
}

/* ---- Relaxation ------------------------------------------------------------------------------- */

enum set { SET_NONE, SET_NEAR, SET_FAR };

/*
 * Apply a path of length @cost to @v, and return the set that @v must enter. A vertex enters near
 * once per round.
 */
static inline enum set relax(struct sssp *s, uint64_t v, uint64_t cost)
{
	uint32_t *queued = s->queued.region.addr;

	if (cost >= distance_of(s, v))
		return SET_NONE;
	gtu_put(s->distance.region.addr, s->width, v, cost);
	if (cost >= s->threshold)
		return SET_FAR;
	if (queued[v] == s->round)
		return SET_NONE;
	queued[v] = s->round;
	return SET_NEAR;
}

/* relax(), and append to the sets; the caller must have reserved the space. */
static inline void relax_into(struct sssp *s, struct gtu_alg_frontier *next, uint64_t v,
			      uint64_t cost)
{
	const enum set set = relax(s, v, cost);

	if (set == SET_NEAR) {
		gtu_alg_push(&s->a, next, v);
	} else if (set == SET_FAR) {
		gtu_put(s->far_cost.region.addr, s->width, s->far.count, cost);
		gtu_alg_push(&s->a, &s->far, v);
	}
}

static int far_capacity(struct sssp *s, uint64_t more)
{
	int rc = gtu_alg_reserve(&s->a, &s->far.ids, (s->far.count + more) * s->a.id_width, true);

	if (!rc)
		rc = gtu_alg_reserve(&s->a, &s->far_cost, (s->far.count + more) * s->width, true);
	return rc;
}

/* Set too_narrow and return true if a path over this vertex may need more than 32 bits. */
static inline bool may_overflow(struct sssp *s, uint64_t distance)
{
	if (gtu_likely(s->type != DISTANCE_U32 || distance <= s->expand_limit))
		return false;
	s->too_narrow = true;
	return true;
}

static int plain_round(struct sssp *s, const struct gtu_alg_frontier *now,
		       struct gtu_alg_frontier *next)
{
	const struct gtu_graph *g = s->a.g;
	uint64_t i, v, e, end, target, from;
	int rc;

	gtu_phase(&s->a.phases, "traverse");
	for (i = 0; i < now->count; i++) {
		v = gtu_alg_vertex(&s->a, now, i);
		if (v < s->a.first || v >= s->a.end)
			continue;
		from = distance_of(s, v);
		if (may_overflow(s, from))
			return 0;
		rc = gtu_alg_take_row(&s->a, g, v, &e, &end);
		if (!rc)
			rc = far_capacity(s, end - e);
		if (rc)
			return rc;
		for (; e < end; e++) {
			target = gtu_graph_target(g, e);
			if (gtu_unlikely(target >= g->n))
				return gtu_alg_bad_edge(&s->a, g, e);
			relax_into(s, next, target, distance_add(s->type, from, g->weight, e));
		}
	}
	return 0;
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

/* ---- SCU ---------------------------------------------------------------------------------------- */

/*
 * Expand the edge frontier and its cost[]. The enhanced unit drops edges to a vertex already
 * written at no greater cost, in any round (earlier output has been relaxed, so the table is kept
 * across rounds), and groups the rest by cache lines of distance[].
 */
static int scu_expand(struct sssp *s)
{
	struct gtu_alg_filter *t = s->a.opt->unit == GTU_WITH_SCU ? &s->expansion : NULL;
	const uint32_t weight_width = s->edges.w.map.weight.width;
	void *cost;
	uint64_t i;
	int rc = 0;

	if (t) {
		rc = gtu_alg_filter_fused(&s->a, t, s->edges.w.edges);
		if (t->flags & GTU_SCU_BEST) {
			t->f.cost_input = gtu_alg_array(&s->base, s->edges.w.n, s->width);
			t->f.cost_gathered = s->edges.w.map.weight;
		}
	}
	if (!rc)
		rc = gtu_alg_expand(&s->a, &s->edges.w, t);
	if (t)
		gtu_alg_filter_apply(t);
	if (!rc && weight_width)
		rc = gtu_alg_expand_from(&s->a, &s->edges.w, &s->edges.w.map.weight, t, &s->weights);
	if (!rc)
		rc = gtu_alg_replicate(&s->a, &s->edges.w, &s->base, s->width, t, &s->cost);
	if (rc)
		return rc;
	gtu_phase(&s->a.phases, "contract");
	cost = s->cost.region.addr;
	for (i = 0; i < s->edges.w.out; i++)
		gtu_put(cost, s->width, i, distance_add(s->type, gtu_get(cost, s->width, i),
					       weight_width ? s->weights.region.addr : NULL, i));
	return 0;
}

static int scu_contract(struct sssp *s, struct gtu_alg_frontier *next)
{
	struct gtu_alg_filter *t = s->a.opt->unit == GTU_WITH_SCU ? &s->grouping : NULL;
	uint64_t i, v, near = 0, far = 0, far_end = s->far.count;
	enum set set;
	int rc;

	rc = gtu_alg_mask(&s->a, &s->near_mask, s->edges.w.out);
	if (!rc)
		rc = gtu_alg_mask(&s->a, &s->far_mask, s->edges.w.out);
	if (rc)
		return rc;
	for (i = 0; i < s->edges.w.out; i++) {
		v = gtu_get(s->edges.w.edge.region.addr, s->a.id_width, i);
		if (gtu_unlikely(v >= s->a.g->n))
			return gtu_alg_bad_work(&s->a, &s->edges.w);
		set = relax(s, v, gtu_get(s->cost.region.addr, s->width, i));
		if (set == SET_NEAR) {
			gtu_alg_set(&s->near_mask, i);
			near++;
		} else if (set == SET_FAR) {
			gtu_alg_set(&s->far_mask, i);
			far++;
		}
	}
	gtu_phase(&s->a.phases, "compact");
	if (t)
		rc = gtu_alg_filter_fused(&s->a, t, near);
	if (!rc)
		rc = gtu_alg_compact_frontier(&s->a, &s->edges.w.edge, s->edges.w.out, &s->near_mask, near, t,
					      next);
	if (!rc)
		rc = gtu_alg_compact_frontier(&s->a, &s->edges.w.edge, s->edges.w.out, &s->far_mask, far, NULL,
					      &s->far);
	if (!rc)
		rc = gtu_alg_compact(&s->a, &s->cost, s->edges.w.out, s->width, &s->far_mask, far, NULL,
				     &s->far_cost, &far_end);
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

/* ---- Units that stream edges --------------------------------------------------------------------- */

static int relax_edges(void *context, const struct gtu_alg_batch *batch)
{
	struct sssp *s = context;
	uint64_t from;
	unsigned i;
	int rc = far_capacity(s, batch->n);

	for (i = 0; i < batch->n && !rc && !s->too_narrow; i++) {
		from = distance_of(s, batch->source[i]);
		if (!may_overflow(s, from))
			relax_into(s, s->next, batch->target[i],
				   distance_add(s->type, from, s->a.g->weight, batch->edge[i]));
	}
	return rc;
}

static int unit_round(struct sssp *s, const struct gtu_alg_frontier *now,
		      struct gtu_alg_frontier *next)
{
	struct gtu_alg_cursor c = { 0 };
	int rc;

	if (gtu_alg_streams_edges(&s->a)) {
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
		rc = gtu_alg_scu(&s->a) ? scu_expand(s) : compute_costs(s);
		gtu_phase(&s->a.phases, "contract");
		if (!rc)
			rc = gtu_alg_scu(&s->a) ? scu_contract(s, next) : iru_contract(s, next);
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
 * The same with the SCU: it computes both masks by comparing with the threshold. The enhanced unit
 * filters duplicates (a vertex is in the pile once per shortened path) and groups the output. The
 * CPU drops stale entries by their costs, which are compacted, too.
 */
static int scu_split(struct sssp *s, struct gtu_alg_frontier *near)
{
	struct gtu_alg_filter *t = s->a.opt->unit == GTU_WITH_SCU ? &s->far_filter : NULL;
	uint64_t below, rest, costs = 0, i, v, end, kept = 0;
	int rc;

	rc = gtu_alg_compare(&s->a, &s->far_cost, s->far.count, s->width, GTU_CMP_LT, s->threshold,
			     &s->near_mask, &below);
	if (!rc)
		rc = gtu_alg_compare(&s->a, &s->far_cost, s->far.count, s->width, GTU_CMP_GE,
				     s->threshold, &s->far_mask, &rest);
	/* the nearest vertex is below the threshold, or this would never end */
	if (!rc && (!below || below + rest != s->far.count))
		rc = gtu_fail(s->a.err, GTU_ERR_FAIL,
			      "%s found %llu of %llu distances below a threshold and %llu above it: it cannot be trusted",
			      gtu_get_info(s->a.dev)->path, (unsigned long long)below,
			      (unsigned long long)s->far.count, (unsigned long long)rest);
	if (!rc && t) {
		rc = gtu_alg_filter_fused(&s->a, t, below);
		t->f.cost_input = gtu_alg_array(&s->far_cost, s->far.count, s->width);
	}
	if (!rc)
		rc = gtu_alg_compact_frontier(&s->a, &s->far.ids, s->far.count, &s->near_mask, below, t, near);
	if (t)
		gtu_alg_filter_apply(t);
	if (!rc)
		rc = gtu_alg_compact(&s->a, &s->far_cost, s->far.count, s->width, &s->near_mask,
				     below, t, &s->near_cost, &costs);
	if (rc)
		return rc;
	end = near->count;
	near->count = 0;
	for (i = 0; i < end; i++) {
		v = gtu_alg_vertex(&s->a, near, i);
		if (gtu_get(s->near_cost.region.addr, s->width, i) == distance_of(s, v))
			gtu_alg_push(&s->a, near, v);
	}
	/*
	 * the edge frontier is empty now: compact the rest into its buffers, and swap them with the
	 * pile's
	 */
	rc = gtu_alg_compact(&s->a, &s->far.ids, s->far.count, s->a.id_width, &s->far_mask, rest,
			     NULL, &s->edges.w.edge, &kept);
	costs = 0;
	if (!rc)
		rc = gtu_alg_compact(&s->a, &s->far_cost, s->far.count, s->width, &s->far_mask, rest,
				     NULL, &s->cost, &costs);
	if (rc)
		return rc;
	gtu_alg_swap(&s->a, &s->far.ids, &s->edges.w.edge);
	gtu_alg_swap(&s->a, &s->far_cost, &s->cost);
	s->far.count = kept;
	return 0;
}

/*
 * Raise the threshold above the nearest far vertex and refill near; *more: whether there was one.
 */
static int next_threshold(struct sssp *s, struct gtu_alg_frontier *near, bool *more)
{
	uint64_t i, cost, min = s->infinity;

	gtu_phase(&s->a.phases, "far");
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
		return scu_split(s, near);
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
			if (!++s->round) {
				memset(s->queued.region.addr, 0, s->a.g->n * 4);
				s->round = 1;
			}
			next->count = 0;
			rc = s->a.opt->unit == GTU_WITH_NONE ? plain_round(s, now, next) :
							       unit_round(s, now, next);
			if (rc || s->too_narrow)
				return rc;
			gtu_phases_iteration(&s->a.phases, s->a.opt, now->count);
			if (s->far.count > 2 * s->a.g->n + s->a.chunk) {
				gtu_phase(&s->a.phases, "far");
				plain_split(s, NULL);
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

int gtu_sssp(struct gtu_device *dev, const struct gtu_graph *g,
	     const struct gtu_algorithm_options *opt, double *distance,
	     struct gtu_algorithm_stats *stats, struct gtu_error *err)
{
	struct sssp s = { 0 };
	uint64_t v;
	int rc;

	if (opt->unit == GTU_WITH_GPU)
		return gtu_traverse(dev, g, GTU_TRAVERSE_SSSP, opt, distance, stats, err);
	rc = gtu_alg_begin(&s.a, "sssp", dev, g, opt, stats, err);
	if (!rc)
		rc = gtu_alg_check_vertex(&s.a, "source", opt->source);
	if (!rc)
		rc = choose_type(&s);
	if (!rc)
		rc = gtu_alg_edges_begin(&s.a, &s.edges, g, 4);
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
