// SPDX-License-Identifier: MIT
#include "algorithm/visit.h"

int gtu_alg_visit_begin(struct gtu_alg *a, struct gtu_alg_visit *visit, const struct gtu_graph *g,
			uint32_t target_width)
{
	int rc;

	visit->target_width = target_width;
	rc = gtu_alg_work_begin(a, &visit->w, g);
	if (!rc && a->opt->unit == GTU_WITH_SCU)
		rc = gtu_alg_filter_begin(a, &visit->group, GTU_SCU_GROUP, false, 0, 0, target_width);
	return rc;
}

int gtu_alg_visit_end(struct gtu_alg *a, struct gtu_alg_visit *visit, int rc)
{
	return gtu_alg_work_end(a, &visit->w, rc);
}

static int flush(struct gtu_alg_visit *visit, gtu_alg_visitor *visitor, void *context)
{
	int rc = visit->batch.n ? visitor(context, &visit->batch) : 0;

	visit->batch.n = 0;
	return rc;
}

static inline int put(struct gtu_alg_visit *visit, uint64_t source, uint64_t target,
		      gtu_alg_visitor *visitor, void *context)
{
	struct gtu_alg_batch *b = &visit->batch;

	b->source[b->n] = source;
	b->target[b->n] = target;
	return ++b->n == GTU_ALG_BATCH ? flush(visit, visitor, context) : 0;
}

static int visit_plain(struct gtu_alg *a, struct gtu_alg_visit *visit,
		       const struct gtu_alg_frontier *f, gtu_alg_visitor *visitor, void *context)
{
	const struct gtu_graph *g = visit->w.g;
	uint64_t i, v, e, end, target;
	int rc;

	for (i = 0; i < f->count; i++) {
		v = gtu_alg_vertex(a, f, i);
		rc = gtu_alg_edges(a, g, v, &e, &end);
		if (!rc)
			rc = gtu_alg_progress(a, end - e);
		for (; !rc && e < end; e++) {
			target = gtu_graph_target(g, e);
			if (gtu_unlikely(target >= g->n))
				return gtu_alg_bad_edge(a, g, e);
			rc = put(visit, v, target, visitor, context);
		}
		if (rc)
			return rc;
	}
	return 0;
}

/* What the SCU expanded, with the sources it replicated. */
static int visit_scu(struct gtu_alg *a, struct gtu_alg_visit *visit, gtu_alg_visitor *visitor,
		     void *context)
{
	struct gtu_alg_filter *group = a->opt->unit == GTU_WITH_SCU ? &visit->group : NULL;
	struct gtu_alg_work *w = &visit->w;
	uint64_t i, target;
	int rc = 0;

	if (group)
		rc = gtu_alg_filter_fused(a, group, w->edges);
	if (!rc)
		rc = gtu_alg_expand(a, w, group);
	if (group)
		gtu_alg_filter_apply(group);
	if (!rc)
		rc = gtu_alg_replicate(a, w, &w->vertex, a->id_width, group, &visit->source);
	for (i = 0; !rc && i < w->out; i++) {
		target = gtu_get(w->edge.region.addr, a->id_width, i);
		if (gtu_unlikely(target >= w->g->n))
			return gtu_alg_bad_work(a, w);
		rc = put(visit, gtu_get(visit->source.region.addr, a->id_width, i), target, visitor,
			 context);
	}
	return rc;
}

static int visit_iru(struct gtu_alg *a, struct gtu_alg_visit *visit, gtu_alg_visitor *visitor,
		     void *context)
{
	struct gtu_alg_work *w = &visit->w;
	const uint32_t *source;
	struct gtu_warp warp;
	unsigned lane;
	uint32_t lanes;
	int rc, more;

	rc = gtu_alg_gather(a, w);
	if (!rc)
		rc = gtu_alg_spread(a, w, &w->vertex, 4, &visit->source);
	if (!rc)
		rc = gtu_alg_reorder(a, w, GTU_IRU_OP_NONE, NULL, true, visit->target_width);
	if (rc)
		return rc;
	source = visit->source.region.addr;
	while ((more = load_iru(a->iru, &warp, a->err)) > 0) {
		for (lanes = warp.active; !rc && lanes; lanes &= lanes - 1) {
			lane = (unsigned)__builtin_ctz(lanes);
			rc = put(visit, source[warp.position[lane]], warp.index[lane], visitor,
				 context);
		}
		if (rc)
			return rc;
	}
	if (!more)
		gtu_alg_reordered(a);
	return more;
}

int gtu_alg_visit(struct gtu_alg *a, struct gtu_alg_visit *visit, const struct gtu_alg_frontier *f,
		  gtu_alg_visitor *visitor, void *context)
{
	struct gtu_alg_cursor c = { 0 };
	int rc = 0;

	visit->batch.n = 0;
	if (a->opt->unit == GTU_WITH_NONE)
		rc = visit_plain(a, visit, f, visitor, context);
	while (!rc && a->opt->unit != GTU_WITH_NONE && c.at < f->count) {
		rc = gtu_alg_take(a, &visit->w, f, &c);
		if (!rc && visit->w.n)
			rc = a->opt->unit == GTU_WITH_IRU ? visit_iru(a, visit, visitor, context) :
							    visit_scu(a, visit, visitor, context);
	}
	return rc ? rc : flush(visit, visitor, context);
}
