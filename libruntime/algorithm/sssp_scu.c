// SPDX-License-Identifier: MIT
/* Shortest paths by the SCU: expansion, contraction, and the far pile (SCU, algorithms 2 and 5). */
#include "sssp.h"

/*
 * Expand the edge frontier and its cost[]. The enhanced unit drops edges to a vertex already
 * written at no greater cost, in any round (earlier output has been relaxed, so the table is kept
 * across rounds), and groups the rest by cache lines of distance[].
 */
int gtu_sssp_scu_expand(struct sssp *s)
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

int gtu_sssp_scu_contract(struct sssp *s, struct gtu_alg_frontier *next)
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

/*
 * Move the entries of the far pile below the threshold to near: the unit computes both masks by
 * comparing with the threshold. The enhanced unit
 * filters duplicates (a vertex is in the pile once per shortened path) and groups the output. The
 * CPU drops stale entries by their costs, which are compacted, too.
 */
int gtu_sssp_scu_split(struct sssp *s, struct gtu_alg_frontier *near)
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
