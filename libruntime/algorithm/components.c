// SPDX-License-Identifier: MIT
/*
 * Weakly connected components: every vertex takes the lowest vertex of its component as its label.
 *
 * The papers do not have this algorithm; it combines steps of their others. A vertex whose label
 * fell is in the frontier. Expansion writes its edges with the label replicated for each (as in
 * SCU, algorithm 3). Contraction lowers the labels of targets and builds the next frontier. The
 * enhanced unit filters by lowest label and groups as for shortest paths (SCU, algorithm 5); the
 * IRU merges by minimum (IRU, section 4). Labels also propagate against the edges: over the
 * transpose if the graph is directed.
 *
 * Pushing alone needs as many rounds as the diameter of a component. Therefore a vertex that takes
 * a lower label also passes it to the vertex named by its old label, and after each round labels
 * are replaced by their label's label (hooking and shortcutting, Shiloach and Vishkin): the number
 * of rounds is logarithmic.
 *
 * Without a unit: plain_components.c.
 */
#include <string.h>

#include "libruntime/support/ranked.h"
#include "libruntime/support/traverse.h"
#include "for_each_edge.h"
#include "plain.h"

/* One direction of propagation: the edges as stored, or their transpose. */
struct direction {
	struct gtu_alg_for_each_edge edges;
	struct gtu_alg_filter filter;	/* one per direction: their tables are independent */
	bool inside;			/* the vertex range applies to targets, not sources */
};

struct components {
	struct gtu_alg a;
	struct direction forth, back;
	struct gtu_graph *transpose;
	bool with_back;
	uint32_t round;
	struct gtu_alg_buffer label;	/* n of id_width bytes */
	struct gtu_alg_buffer queued;	/* n of 4 bytes: round in which a vertex entered the frontier */
	struct gtu_alg_frontier frontier[2];
	struct gtu_alg_buffer base;	/* label of each vertex taken */
	struct gtu_alg_buffer pushed;	/* label pushed along each edge */
	struct gtu_alg_buffer mask;
};

/* ---- With a unit ----------------------------------------------------------------------------------- */

static inline uint64_t label_of(const struct components *c, uint64_t v)
{
	return gtu_get(c->label.region.addr, c->a.id_width, v);
}

static inline void set_label(struct components *c, uint64_t v, uint64_t label)
{
	gtu_put(c->label.region.addr, c->a.id_width, v, label);
}

/* Mark @v as queued in the next frontier; false if it already is. */
static inline bool enters(struct components *c, uint64_t v)
{
	uint32_t *queued = c->queued.region.addr;

	if (queued[v] == c->round)
		return false;
	queued[v] = c->round;
	return true;
}

/*
 * Lower the label of @v to @label, and also that of the vertex named by the old label, which is
 * then pushed to the next frontier. True if the caller must push @v itself.
 */
static inline bool lower(struct components *c, struct direction *d, uint64_t v, uint64_t label, int *rc)
{
	uint64_t old = label_of(c, v);

	if (label >= old)
		return false;
	set_label(c, v, label);
	if (old != v && label < label_of(c, old)) {
		set_label(c, old, label);
		if (enters(c, old))
			*rc = gtu_alg_emit(&c->a, &d->edges, old);
	}
	return enters(c, v);
}

static inline bool counts(const struct components *c, const struct direction *d, uint64_t target)
{
	return !d->inside || (target >= c->a.first && target < c->a.end);
}

/*
 * Enhanced unit: drops an edge if its target was already written with a label as low. That write
 * lowered the target, so the table can be kept across rounds.
 */
static int scu_expand(struct components *c, struct direction *d)
{
	struct gtu_alg_filter *t = c->a.opt->unit == GTU_WITH_SCU ? &d->filter : NULL;
	int rc = 0;

	if (t) {
		rc = gtu_alg_filter_fused(&c->a, t, d->edges.w.edges);
		t->f.cost_input = gtu_alg_array(&c->base, d->edges.w.n, c->a.id_width);
	}
	if (!rc)
		rc = gtu_alg_expand(&c->a, &d->edges.w, t);
	if (t)
		gtu_alg_filter_apply(t);
	if (!rc)
		rc = gtu_alg_replicate(&c->a, &d->edges.w, &c->base, c->a.id_width, t, &c->pushed);
	return rc;
}

static int scu_contract(struct components *c, struct direction *d, struct gtu_alg_frontier *next)
{
	const uint32_t width = c->a.id_width;
	uint64_t i, v, ones = 0;
	int rc, pushed = 0;

	rc = gtu_alg_mask(&c->a, &c->mask, d->edges.w.out);
	if (rc)
		return rc;
	for (i = 0; i < d->edges.w.out; i++) {
		v = gtu_get(d->edges.w.edge.region.addr, width, i);
		if (gtu_unlikely(v >= c->a.g->n))
			return gtu_alg_bad_work(&c->a, &d->edges.w);
		if (counts(c, d, v) &&
		    lower(c, d, v, gtu_get(c->pushed.region.addr, width, i), &pushed)) {
			gtu_alg_set(&c->mask, i);
			ones++;
		}
	}
	gtu_phase(&c->a.phases, "compact");
	return gtu_alg_compact_frontier(&c->a, &d->edges.w.edge, d->edges.w.out, &c->mask, ones, NULL, next);
}

static int iru_contract(struct components *c, struct direction *d, struct gtu_alg_frontier *next)
{
	struct gtu_warp warp;
	unsigned lane;
	uint32_t lanes, v;
	int rc, pushed = 0;

	rc = gtu_alg_reorder(&c->a, &d->edges.w, GTU_IRU_OP_MIN_U32, &c->pushed, false, 4);
	if (rc)
		return rc;
	while ((rc = gtu_alg_load(&c->a, &warp)) > 0) {
		for (lanes = warp.active; lanes; lanes &= lanes - 1) {
			lane = (unsigned)__builtin_ctz(lanes);
			v = warp.index[lane];
			if (counts(c, d, v) && lower(c, d, v, warp.secondary[lane], &pushed))
				gtu_alg_push(&c->a, next, v);
		}
	}
	return rc;
}

/* Context of the visitor of streamed edges. */
struct pushing {
	struct components *c;
	struct direction *d;
};

static int push_label(void *context, const struct gtu_alg_batch *batch)
{
	const struct pushing *p = context;
	unsigned i;
	int rc = 0;

	for (i = 0; i < batch->n && !rc; i++) {
		uint64_t v = batch->target[i];

		if (counts(p->c, p->d, v) && lower(p->c, p->d, v, label_of(p->c, batch->source[i]), &rc) && !rc)
			rc = gtu_alg_emit(&p->c->a, &p->d->edges, v);
	}
	return rc;
}

/* Push the labels of @now along the edges of one direction. */
static int push(struct components *c, struct direction *d, const struct gtu_alg_frontier *now,
		struct gtu_alg_frontier *next)
{
	const bool iru = c->a.opt->unit == GTU_WITH_IRU;
	struct gtu_alg_cursor at = { 0 };
	struct pushing pushing = { c, d };
	uint64_t i, v;
	int rc;

	d->edges.out = next;

	if (gtu_alg_streams_edges(&c->a)) {
		gtu_phase(&c->a.phases, "traverse");
		return gtu_alg_for_each_edge(&c->a, &d->edges, now, push_label, &pushing);
	}
	while (at.at < now->count) {
		gtu_phase(&c->a.phases, "prepare");
		rc = gtu_alg_take(&c->a, &d->edges.w, now, &at);
		if (!rc)
			rc = gtu_alg_reserve(&c->a, &c->base, d->edges.w.n * c->a.id_width, false);
		if (rc)
			return rc;
		if (!d->edges.w.n)
			continue;
		for (i = 0; i < d->edges.w.n; i++) {
			v = gtu_get(d->edges.w.vertex.region.addr, c->a.id_width, i);
			gtu_put(c->base.region.addr, c->a.id_width, i, label_of(c, v));
		}
		gtu_phase(&c->a.phases, "expand");
		if (iru) {
			rc = gtu_alg_replicate_cpu(&c->a, &d->edges.w, &c->base, 4, &c->pushed);
		} else {
			rc = scu_expand(c, d);
		}
		gtu_phase(&c->a.phases, "contract");
		if (!rc)
			rc = iru ? iru_contract(c, d, next) : scu_contract(c, d, next);
		if (rc)
			return rc;
	}
	return 0;
}

/*
 * Replace every label by its label's label. A vertex with a lower label must push it: a neighbour
 * whose own decrease is still to be pushed would otherwise see the lower label and never propagate
 * it.
 */
static void shortcut(struct components *c, struct gtu_alg_frontier *next)
{
	uint64_t v, label, further;

	gtu_phase(&c->a.phases, "shortcut");
	for (v = 0; v < c->a.g->n; v++) {
		label = label_of(c, v);
		further = label_of(c, label);
		if (further < label) {
			set_label(c, v, further);
			if (enters(c, v))
				gtu_alg_push(&c->a, next, v);
		}
	}
}

static int set_up_direction(struct components *c, struct direction *d, const struct gtu_graph *g)
{
	const uint32_t width = c->a.id_width;
	int rc;

	rc = gtu_alg_edges_begin(&c->a, &d->edges, g, width);
	if (!rc && c->a.opt->unit == GTU_WITH_SCU)
		rc = gtu_alg_filter_begin(&c->a, &d->filter, GTU_SCU_BEST | GTU_SCU_GROUP, true,
					  GTU_TYPE_UNSIGNED, width, width);
	return rc;
}

static int set_up(struct components *c)
{
	const struct gtu_graph *g = c->a.g;
	uint64_t v;
	unsigned i;
	int rc;

	rc = gtu_alg_reserve(&c->a, &c->label, g->n * c->a.id_width, false);
	if (!rc)
		rc = gtu_alg_reserve(&c->a, &c->queued, g->n * 4, false);
	for (i = 0; i < 2 && !rc; i++)
		rc = gtu_alg_reserve(&c->a, &c->frontier[i].ids, g->n * c->a.id_width, false);
	if (rc)
		return rc;
	for (v = 0; v < g->n; v++)
		set_label(c, v, v);
	rc = set_up_direction(c, &c->forth, g);
	/*
	 * an undirected graph stores every edge in both directions, but a vertex range need not
	 * contain both
	 */
	c->with_back = g->flags & GTU_GRAPH_DIRECTED || c->a.first || c->a.end != g->n;
	if (rc || !c->with_back)
		return rc;
	if (g->flags & GTU_GRAPH_DIRECTED)
		rc = gtu_graph_transpose(g, c->a.opt->progress, &c->transpose, c->a.err);
	if (!rc)
		rc = set_up_direction(c, &c->back, c->transpose ? c->transpose : g);
	c->back.inside = true;
	c->back.edges.w.first = 0;
	c->back.edges.w.end = g->n;
	return rc;
}

static int unit_components(struct components *c)
{
	struct gtu_alg_frontier all = { .count = c->a.g->n, .all = true };
	struct gtu_alg_frontier *now = &all, *next = &c->frontier[0];
	int rc;

	rc = set_up(c);
	while (!rc && now->count) {
		if (!++c->round) {
			memset(c->queued.region.addr, 0, c->a.g->n * 4);
			c->round = 1;
		}
		next->count = 0;
		rc = push(c, &c->forth, now, next);
		if (!rc && c->with_back)
			rc = push(c, &c->back, now, next);
		if (rc)
			break;
		shortcut(c, next);
		gtu_phases_iteration(&c->a.phases, c->a.opt, now->count);
		now = next;
		next = now == &c->frontier[0] ? &c->frontier[1] : &c->frontier[0];
	}
	return rc;
}

int gtu_components(struct gtu_device *dev, const struct gtu_graph *g,
		   const struct gtu_algorithm_options *opt, uint64_t *component,
		   struct gtu_algorithm_stats *stats, struct gtu_error *err)
{
	struct components c = { 0 };
	uint64_t v;
	int rc;

	if (gtu_has_ranks(dev))
		return gtu_run_ranked(dev, g, GTU_RANKED_COMPONENTS, opt, component, stats, err);
	if (opt->unit == GTU_WITH_GPU)
		return gtu_traverse(dev, g, GTU_TRAVERSE_COMPONENTS, opt, component, stats, err);
	rc = gtu_alg_begin(&c.a, "components", dev, g, opt, stats, err);
	if (!rc && opt->unit == GTU_WITH_NONE) {
		rc = gtu_plain_components(&c.a, component);
	} else if (!rc && g->n) {
		rc = unit_components(&c);
		for (v = 0; v < g->n && !rc; v++)
			component[v] = label_of(&c, v);
	}
	if (!rc)
		c.a.stats->vertices = g->n;
	rc = gtu_alg_edges_end(&c.a, &c.forth.edges, rc);
	rc = gtu_alg_edges_end(&c.a, &c.back.edges, rc);
	gtu_graph_close(c.transpose);
	return gtu_alg_end(&c.a, rc);
}
