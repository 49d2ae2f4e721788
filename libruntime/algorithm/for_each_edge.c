// SPDX-License-Identifier: MIT
/* Calls a function for all edges of a frontier, with any unit. for_each_edge_peg.c has GraphPEG's part. */
#include "for_each_edge_internal.h"

int gtu_alg_edges_begin(struct gtu_alg *a, struct gtu_alg_for_each_edge *edges, const struct gtu_graph *g,
			uint32_t target_width)
{
	edges->target_width = target_width;
	return gtu_alg_work_begin(a, &edges->w, g);
}

int gtu_alg_edges_end(struct gtu_alg *a, struct gtu_alg_for_each_edge *edges, int rc)
{
	gtu_peg_close(edges->peg);
	gtu_weaver_close(edges->weaver);
	edges->peg = NULL;
	edges->weaver = NULL;
	return gtu_alg_work_end(a, &edges->w, rc);
}

/* Whether the edges are in memory: a custom storage has functions instead. */
static inline bool has_targets(const struct gtu_alg_for_each_edge *edges)
{
	return edges->w.g->col;
}

int gtu_alg_check_entry(const struct gtu_weave_storage *s, uint64_t entry, uint64_t base, uint64_t first,
			uint64_t degree, struct gtu_error *err)
{
	if (gtu_likely(base < s->vertices && first <= s->edges && degree <= s->edges - first))
		return 0;
	return gtu_fail(err, GTU_ERR_INPUT,
			"entry %llu of the storage has %llu edges from %llu on and vertex "
			"%llu, but the storage has %llu edges and %llu vertices",
			(unsigned long long)entry, (unsigned long long)degree, (unsigned long long)first,
			(unsigned long long)base, (unsigned long long)s->edges, (unsigned long long)s->vertices);
}

/* Vertex and edges of entry @i of the frontier; no edges if it is outside the range. */
static inline int entry_of(struct gtu_alg *a, const struct gtu_alg_for_each_edge *edges,
			   const struct gtu_alg_frontier *f, uint64_t i, uint64_t *v, uint64_t *e, uint64_t *end)
{
	const struct gtu_weave_storage *s = edges->storage;
	uint64_t entry = gtu_alg_vertex(a, f, i), degree;
	int rc;

	*v = entry;
	*e = *end = 0;
	if (!s)
		return entry < edges->w.first || entry >= edges->w.end ?
			       0 : gtu_alg_edges(a, edges->w.g, entry, e, end);
	rc = s->get_neighbor(s, entry, v, e, &degree, a->err);
	if (rc)
		return rc;
	rc = gtu_alg_check_entry(s, entry, *v, *e, degree, a->err);
	if (rc)
		return rc;
	*end = *e + degree;
	return 0;
}

int gtu_alg_fail_edge(struct gtu_alg *a, const struct gtu_graph *g, uint64_t edge, uint64_t vertex)
{
	return gtu_fail(a->err, GTU_ERR_FAIL,
			"the unit returned edge %llu of vertex %llu, but the graph has %llu edges "
			"and %llu vertices: it cannot be trusted",
			(unsigned long long)edge, (unsigned long long)vertex, (unsigned long long)g->m,
			(unsigned long long)g->n);
}

int gtu_alg_fail_target(struct gtu_alg *a, const struct gtu_alg_work *w, uint64_t edge, uint64_t target)
{
	if (gtu_graph_target(w->g, edge) >= w->targets)
		return gtu_alg_bad_edge(a, w->g, edge);
	return gtu_fail(a->err, GTU_ERR_FAIL,
			"the unit returned edge %llu to vertex %llu, but there are %llu vertices: it cannot be trusted",
			(unsigned long long)edge, (unsigned long long)target, (unsigned long long)w->targets);
}

static int for_each_plain(struct gtu_alg *a, struct gtu_alg_for_each_edge *edges,
		       const struct gtu_alg_frontier *f, gtu_alg_edge_fn *visitor, void *context)
{
	const struct gtu_graph *g = edges->w.g;
	uint64_t i, v, e, end, first, target;
	int rc;

	for (i = 0; i < f->count; i++) {
		rc = entry_of(a, edges, f, i, &v, &e, &end);
		first = e;
		for (; !rc && e < end && !(edges->enough && edges->enough(context, v)); e++) {
			target = has_targets(edges) ? gtu_graph_target(g, e) : 0;
			if (gtu_alg_beyond(edges, target))
				return gtu_alg_bad_edge(a, g, e);
			rc = gtu_alg_put(edges, v, target, e, gtu_alg_weight_of(edges, e), visitor, context);
			if (!rc && edges->enough)
				rc = gtu_alg_flush(edges, visitor, context);
		}
		if (!rc)
			rc = gtu_alg_progress(a, e - first);
		if (rc)
			return rc;
	}
	return 0;
}

/* edge_index[order[k]] = index in col of the k-th edge taken; @order NULL: edge_index[k]. */
static int take_edge_indices(struct gtu_alg *a, struct gtu_alg_for_each_edge *edges, const uint32_t *order)
{
	const struct gtu_alg_work *w = &edges->w;
	const uint32_t *count = w->count.region.addr;
	uint64_t i, k, first, at, done = 0;
	int rc = gtu_alg_reserve(a, &edges->edge_index, w->edges * w->index_width, false);

	for (i = 0; i < w->n && !rc; i++) {
		first = gtu_get(w->index.region.addr, w->index_width, i);
		for (k = 0; k < count[i]; k++, done++) {
			at = order ? order[done] : done;
			if (gtu_unlikely(at >= w->edges))
				return gtu_fail(a->err, GTU_ERR_FAIL,
						"%s grouped edge %llu of %llu to position %llu, "
						"which is out of range",
						gtu_get_info(a->dev)->path, (unsigned long long)done,
						(unsigned long long)w->edges, (unsigned long long)at);
			gtu_put(edges->edge_index.region.addr, w->index_width, at, first + k);
		}
	}
	return rc;
}

static inline uint64_t edge_index_of(const struct gtu_alg_for_each_edge *edges, uint64_t i)
{
	return edges->edge_indices ? gtu_get(edges->edge_index.region.addr, edges->w.index_width, i) : 0;
}

/* Deliver the targets expanded by the SCU, with the replicated sources. */
static int for_each_scu(struct gtu_alg *a, struct gtu_alg_for_each_edge *edges, gtu_alg_edge_fn *visitor,
		     void *context)
{
	struct gtu_alg_filter *group = a->opt->unit == GTU_WITH_SCU && !edges->values ? &edges->group : NULL;
	struct gtu_alg_work *w = &edges->w;
	uint64_t i, source, target, edge;
	int rc = 0;

	if (group && !edges->grouping)
		rc = gtu_alg_filter_begin(a, group, GTU_SCU_GROUP, false, 0, 0, edges->target_width);
	edges->grouping = group && !rc;
	if (!rc && group)
		rc = gtu_alg_filter_fused(a, group, w->edges);
	if (!rc)
		rc = gtu_alg_expand(a, w, group);
	if (group)
		gtu_alg_filter_apply(group);
	if (!rc)
		rc = gtu_alg_replicate(a, w, &w->vertex, a->id_width, group, &edges->source);
	if (!rc && edges->edge_indices)
		rc = take_edge_indices(a, edges, group ? group->order.region.addr : NULL);
	for (i = 0; !rc && i < w->out; i++) {
		target = gtu_get(w->edge.region.addr, a->id_width, i);
		if (gtu_alg_beyond(edges, target))
			return gtu_alg_bad_work(a, w);
		source = gtu_get(edges->source.region.addr, a->id_width, i);
		if (gtu_unlikely(source >= w->g->n))
			return gtu_alg_fail_edge(a, w->g, edge_index_of(edges, i), source);
		edge = edge_index_of(edges, i);
		rc = gtu_alg_put(edges, source, target, edge, gtu_alg_weight_of(edges, edge), visitor, context);
	}
	return rc;
}

/*
 * w->edge = indices into col for the IRU, which returns them ordered by cache line; then their
 * values are read.
 */
static int list_edge_indices(struct gtu_alg *a, struct gtu_alg_for_each_edge *edges)
{
	struct gtu_alg_work *w = &edges->w;
	const uint32_t *count = w->count.region.addr;
	uint64_t i, k, first, done = 0;
	const uint32_t bits = gtu_get_info(a->dev)->iru[GTU_IRU_P_INDEX_BITS];
	int rc;

	if (w->g->m > 1ull << bits)
		return gtu_fail(a->err, GTU_ERR_UNSUPPORTED,
				"the IRU of %s has indices of %u bits, too few for %s with %llu "
				"entries",
				gtu_get_info(a->dev)->path, bits, w->g->name, (unsigned long long)w->g->m);
	rc = gtu_alg_reserve(a, &w->edge, w->edges * 4, false);

	for (i = 0; i < w->n && !rc; i++) {
		first = gtu_get(w->index.region.addr, w->index_width, i);
		for (k = 0; k < count[i]; k++)
			((uint32_t *)w->edge.region.addr)[done++] = (uint32_t)(first + k);
	}
	w->out = w->edges;
	return rc;
}

static int for_each_iru(struct gtu_alg *a, struct gtu_alg_for_each_edge *edges, gtu_alg_edge_fn *visitor,
		     void *context)
{
	struct gtu_alg_work *w = &edges->w;
	const uint32_t *source;
	struct gtu_warp warp;
	uint64_t target, edge;
	unsigned lane;
	uint32_t lanes;
	int rc, more;

	rc = edges->edge_indices ? take_edge_indices(a, edges, NULL) : 0;
	if (!rc)
		rc = gtu_alg_replicate_cpu(a, w, &w->vertex, 4, &edges->source);
	if (!rc && edges->values)
		rc = list_edge_indices(a, edges);
	if (!rc)
		rc = edges->values ? gtu_alg_reorder_list(a, w, &w->edge, w->g->m, edges->target_width) :
				     gtu_alg_reorder(a, w, GTU_IRU_OP_NONE, NULL, true, edges->target_width);
	if (rc)
		return rc;
	source = edges->source.region.addr;
	while ((more = gtu_alg_load(a, &warp)) > 0) {
		for (lanes = warp.active; !rc && lanes; lanes &= lanes - 1) {
			lane = (unsigned)__builtin_ctz(lanes);
			target = edges->values ? gtu_graph_target(w->g, warp.index[lane]) :
						 warp.index[lane];
			edge = edge_index_of(edges, warp.position[lane]);
			rc = gtu_alg_put(edges, source[warp.position[lane]], target, edge,
					 gtu_alg_weight_of(edges, edge), visitor, context);
		}
		if (rc)
			return rc;
	}
	return more;
}

/* ---- Weaver -------------------------------------------------------------------------------------- */

/*
 * Minimum of remaining edges for skipping a vertex. A skip searches all later entries for parts of
 * the vertex, one cycle each, so for fewer edges it costs more than it saves.
 */
#define SKIP_MIN 128
#define ROUNDS 64			/* rounds registered per job, to amortize its overhead */

/*
 * Deliver the edges of a warp, and skip its last vertex if it needs no more: earlier vertices have
 * no work left. *@skipped: the last vertex skipped.
 */
static int skip(struct gtu_alg *a, struct gtu_alg_for_each_edge *edges, const uint64_t vid[GTU_WARP],
		const uint64_t eid[GTU_WARP], uint32_t active, uint64_t *skipped, gtu_alg_edge_fn *visitor, void *context)
{
	const unsigned lane = active ? 31u - (unsigned)__builtin_clz(active) : 0;
	const uint64_t last = active ? vid[lane] : *skipped;
	int rc = gtu_alg_flush(edges, visitor, context);

	if (rc || last == *skipped || !edges->enough(context, last))
		return rc;
	/* a storage may have further parts of the vertex, of unknown length */
	if (!edges->storage && edges->w.g->row[last + 1] - eid[lane] <= SKIP_MIN)
		return 0;
	*skipped = last;
	return gtu_weaver_skip(edges->weaver, last, a->err);
}

/* Fetch all work of @rounds rounds: this thread runs all warps, which ask in turn. */
static int weave(struct gtu_alg *a, struct gtu_alg_for_each_edge *edges, unsigned rounds,
		 gtu_alg_edge_fn *visitor, void *context)
{
	const struct gtu_graph *g = edges->w.g;
	uint64_t vid[GTU_WARP], eid[GTU_WARP], target[GTU_WARP] = { 0 }, weight[GTU_WARP], skipped = UINT64_MAX;
	const uint32_t warps = gtu_get_info(a->dev)->weaver[GTU_WVR_P_WARPS];
	uint32_t warp = 0;
	uint32_t active, lanes;
	unsigned lane;
	int rc = 0, more;

	for (; rounds; warp = (warp + 1) % warps) {
		more = gtu_weaver_dec_id(edges->weaver, warp, vid, &active, a->err);
		if (more < 0)
			return more;
		rounds -= !more;
		rc = more ? gtu_weaver_dec_loc(edges->weaver, warp, eid, a->err) : 0;
		if (!rc && more && has_targets(edges))
			rc = gtu_weaver_dec_target(edges->weaver, warp, target, a->err);
		if (!rc && more)
			rc = gtu_weaver_dec_weight(edges->weaver, warp, weight, a->err);
		for (lanes = more ? active : 0; !rc && lanes; lanes &= lanes - 1) {
			lane = (unsigned)__builtin_ctz(lanes);
			if (gtu_unlikely(eid[lane] >= g->m || vid[lane] >= g->n))
				return gtu_alg_fail_edge(a, g, eid[lane], vid[lane]);
			if (gtu_alg_beyond(edges, target[lane]))
				return gtu_alg_fail_target(a, &edges->w, eid[lane], target[lane]);
			rc = gtu_alg_put(edges, vid[lane], target[lane], eid[lane], weight[lane], visitor, context);
		}
		if (!rc && more)
			rc = gtu_alg_progress(a, (uint64_t)__builtin_popcount(active));
		if (!rc && more && edges->enough)
			rc = skip(a, edges, vid, eid, active, &skipped, visitor, context);
		if (rc)
			return rc;
	}
	gtu_alg_job_done(a, gtu_weaver_result(edges->weaver));
	return 0;
}

/* Register the next warp of the frontier from *@at on as warp @warp; *any: set if it has edges. */
static int register_warp(struct gtu_alg *a, struct gtu_alg_for_each_edge *edges, const struct gtu_alg_frontier *f,
			 uint64_t *at, uint32_t warp, bool *any)
{
	uint64_t vid[GTU_WARP], start[GTU_WARP] = { 0 }, degree[GTU_WARP] = { 0 }, end;
	uint32_t lanes = 0;
	unsigned lane;
	int rc;

	for (lane = 0; lane < GTU_WARP && *at < f->count; lane++, ++*at) {
		rc = entry_of(a, edges, f, *at, &vid[lane], &start[lane], &end);
		if (rc)
			return rc;
		degree[lane] = end - start[lane];
		if (degree[lane])
			lanes |= 1u << lane;
	}
	*any |= lanes;
	return lanes ? gtu_weaver_reg(edges->weaver, warp, lanes, vid, start, degree, a->err) : 0;
}

/* The stride loop over vertices is the outermost (SparseWeaver, figure 9). */
static int for_each_weaver(struct gtu_alg *a, struct gtu_alg_for_each_edge *edges, const struct gtu_alg_frontier *f,
			gtu_alg_edge_fn *visitor, void *context)
{
	const uint32_t warps = gtu_get_info(a->dev)->weaver[GTU_WVR_P_ENTRIES] / GTU_WARP;
	struct gtu_weaver_config config = {
		/* all ones is not a valid id */
		.wide_vids = edges->w.g->n > UINT32_MAX,
		.wide_eids = edges->w.g->m > UINT32_MAX,
		/* work produced ahead cannot be skipped */
		.demand = edges->enough,
		.col = edges->w.map.col,
	};
	uint64_t at = 0;
	unsigned rounds;
	uint32_t warp;
	bool any;
	int rc = 0;

	config.col.count = config.col.key ? UINT64_MAX : 0;
	if (edges->weights && edges->w.map.weight.key) {
		config.weight = edges->w.map.weight;
		config.weight.count = UINT64_MAX;
	}
	while (!rc && at < f->count) {
		rc = gtu_weaver_configure(a->q, &config, &edges->weaver, a->err);
		for (rounds = 0; !rc && rounds < ROUNDS && at < f->count; rounds += any) {
			any = false;
			for (warp = 0; !rc && warp < warps && at < f->count; warp++)
				rc = register_warp(a, edges, f, &at, warp, &any);
			if (!rc)
				rc = gtu_weaver_sync(edges->weaver, a->err);
		}
		if (!rc && rounds)
			rc = weave(a, edges, rounds, visitor, context);
	}
	return rc;
}

/* ---- Dispatch ------------------------------------------------------------------------------------ */

int gtu_alg_for_each_edge(struct gtu_alg *a, struct gtu_alg_for_each_edge *edges, const struct gtu_alg_frontier *f,
		  gtu_alg_edge_fn *visitor, void *context)
{
	const uint32_t unit = a->opt->unit;
	struct gtu_alg_cursor c = { 0 };
	int rc = 0;

	edges->batch.n = 0;
	edges->batch.weight = edges->weights && edges->w.g->weight ? edges->weight : NULL;
	edges->weight_bytes = (uint32_t)gtu_weight_bytes(edges->w.g->weight_type);
	if (unit == GTU_WITH_NONE)
		rc = for_each_plain(a, edges, f, visitor, context);
	else if (unit == GTU_WITH_PEG)
		rc = gtu_alg_for_each_peg(a, edges, f, visitor, context);
	else if (unit == GTU_WITH_WEAVER)
		rc = for_each_weaver(a, edges, f, visitor, context);
	while (!rc && (gtu_alg_scu(a) || unit == GTU_WITH_IRU) && c.at < f->count) {
		rc = gtu_alg_take(a, &edges->w, f, &c);
		if (!rc && edges->w.n)
			rc = a->opt->unit == GTU_WITH_IRU ? for_each_iru(a, edges, visitor, context) :
							    for_each_scu(a, edges, visitor, context);
	}
	return rc ? rc : gtu_alg_flush(edges, visitor, context);
}
