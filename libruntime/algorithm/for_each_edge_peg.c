// SPDX-License-Identifier: MIT
/*
 * The edges of a frontier, by GraphPEG: the unit gathers edges and their weights, and collects the
 * vertices that the algorithm pushes (GraphPEG, section 3.2). Vertex-list mode filters a list.
 */
#include "for_each_edge_internal.h"

/* *f = the part of the frontier in the range; unchanged if the range covers all vertices. */
static int inside(struct gtu_alg *a, struct gtu_alg_for_each_edge *edges, const struct gtu_alg_frontier **f)
{
	struct gtu_alg_frontier *in = &edges->inside;
	uint64_t i, v;
	int rc;

	if (!edges->w.first && edges->w.end >= edges->w.g->n)
		return 0;
	in->count = 0;
	rc = gtu_alg_reserve(a, &in->ids, (*f)->count * a->id_width, false);
	for (i = 0; i < (*f)->count && !rc; i++) {
		v = gtu_alg_vertex(a, *f, i);
		if (v >= edges->w.first && v < edges->w.end)
			gtu_alg_push(a, in, v);
	}
	*f = in;
	return rc;
}

/* ---- Output lists ---------------------------------------------------------------------------------- */

/* Use the free space of @out for the vertices that are pushed. */
static void begin_list(struct gtu_alg *a, struct gtu_alg_for_each_edge *edges, const struct gtu_alg_frontier *out,
		       struct gtu_peg_config *config)
{
	uint64_t space = out->ids.region.length / a->id_width - out->count;

	/* a list has at most 2^32 - 2 vertices */
	if (space >= GTU_COUNT_TO_END)
		space = GTU_COUNT_TO_END - 1;
	config->out = gtu_array(&out->ids.region, out->count * a->id_width, space, a->id_width);
	edges->pushing = true;
	edges->pushed = edges->lanes = 0;
}

int gtu_alg_push_lanes(struct gtu_alg *a, struct gtu_alg_for_each_edge *edges)
{
	const unsigned n = edges->lanes;

	edges->lanes = 0;
	edges->pushed += n;
	return n ? gtu_peg_push_vert(edges->peg, GTU_PEG_ANY, UINT32_MAX >> (GTU_WARP - n), edges->lane, a->err) : 0;
}

/* End the stream, and append what the unit has listed to @out, or NULL. */
static int finish(struct gtu_alg *a, struct gtu_alg_for_each_edge *edges, struct gtu_alg_frontier *out)
{
	uint64_t listed = 0, end, v;
	int rc = gtu_peg_finish(edges->peg, &listed, a->err);

	edges->pushing = false;
	if (rc)
		return rc;
	gtu_alg_job_done(a, gtu_peg_result(edges->peg));
	if (!out)
		return 0;
	if (listed != edges->pushed)
		return gtu_fail(a->err, GTU_ERR_FAIL,
				"%s listed %llu vertices, but %llu were pushed: it cannot be trusted",
				gtu_get_info(a->dev)->path, (unsigned long long)listed,
				(unsigned long long)edges->pushed);
	for (end = out->count + listed; out->count < end; out->count++) {
		v = gtu_alg_vertex(a, out, out->count);
		if (gtu_unlikely(v >= a->g->n))
			return gtu_fail(a->err, GTU_ERR_FAIL,
					"%s listed vertex %llu of %llu: it cannot be trusted",
					gtu_get_info(a->dev)->path, (unsigned long long)v,
					(unsigned long long)a->g->n);
	}
	return 0;
}

/* ---- Edges ----------------------------------------------------------------------------------------- */

static int take_record(struct gtu_alg *a, struct gtu_alg_for_each_edge *edges, const struct gtu_peg_edges *record,
		       gtu_alg_edge_fn *visitor, void *context)
{
	const struct gtu_alg_work *w = &edges->w;
	uint64_t source, target, edge, weight;
	unsigned lane;
	uint32_t lanes;
	int rc = 0;

	for (lanes = record->active; !rc && lanes; lanes &= lanes - 1) {
		lane = (unsigned)__builtin_ctz(lanes);
		target = gtu_get(edges->pull ? record->src : record->dst, a->id_width, lane);
		edge = gtu_get(record->index, w->map.row.width, lane);
		source = gtu_get(edges->pull ? record->dst : record->src, a->id_width, lane);
		weight = record->weight ? gtu_get(record->weight, edges->weight_bytes, lane) : 0;
		if (gtu_unlikely(edge >= w->g->m || source >= w->g->n))
			return gtu_alg_fail_edge(a, w->g, edge, source);
		if (gtu_alg_beyond(edges, target))
			return gtu_alg_fail_target(a, w, edge, target);
		rc = gtu_alg_put(edges, source, target, edge, weight, visitor, context);
	}
	/* what the visitor pushes belongs to the engine of this record */
	if (!rc && edges->pushing)
		rc = gtu_alg_flush(edges, visitor, context);
	if (!rc && edges->pushing)
		rc = gtu_alg_push_lanes(a, edges);
	return rc ? rc : gtu_alg_progress(a, (uint64_t)__builtin_popcount(record->active));
}

int gtu_alg_for_each_peg(struct gtu_alg *a, struct gtu_alg_for_each_edge *edges, const struct gtu_alg_frontier *f,
			 gtu_alg_edge_fn *visitor, void *context)
{
	const struct gtu_alg_work *w = &edges->w;
	struct gtu_peg_config config = {
		.flags = GTU_PEG_WITH_SRC | GTU_PEG_WITH_DST | GTU_PEG_WITH_INDEX | GTU_PEG_BALANCE_EDGES |
			 (edges->pull ? GTU_PEG_PULL : 0),
		.engines = gtu_get_info(a->dev)->peg[GTU_PEG_P_ENGINES],
		.row = w->map.row,
		.col = w->map.col,
	};
	struct gtu_peg_edges record;
	int rc, more;

	rc = inside(a, edges, &f);
	if (rc || !f->count || !w->g->m)
		return rc;
	if (!f->all)
		config.in = gtu_alg_array(&f->ids, f->count, a->id_width);
	config.col.count = UINT64_MAX;
	if (edges->batch.weight) {
		config.flags |= GTU_PEG_WITH_WEIGHT;
		config.weight = w->map.weight;
		config.weight.count = UINT64_MAX;
	}
	if (edges->out)
		begin_list(a, edges, edges->out, &config);
	rc = gtu_peg_configure(a->q, &config, &edges->peg, a->err);
	if (rc)
		return rc;
	while ((more = gtu_peg_next(edges->peg, GTU_PEG_ANY, &record, a->err)) > 0) {
		rc = take_record(a, edges, &record, visitor, context);
		if (rc)
			return rc;
	}
	return more ? more : finish(a, edges, edges->out);
}

/* ---- Vertex-list mode ------------------------------------------------------------------------------- */

int gtu_alg_filter_list(struct gtu_alg *a, struct gtu_alg_for_each_edge *edges, const struct gtu_alg_frontier *in,
			struct gtu_alg_frontier *out, bool (*keep)(void *context, uint64_t v), void *context)
{
	struct gtu_peg_config config = {
		.flags = GTU_PEG_VERTEX_LIST,
		.engines = gtu_get_info(a->dev)->peg[GTU_PEG_P_ENGINES],
		.in = gtu_alg_array(&in->ids, in->count, a->id_width),
	};
	uint64_t v, taken = 0;
	struct gtu_peg_edges record;
	unsigned lane;
	uint32_t lanes;
	int rc, more;

	if (!in->count)
		return 0;
	begin_list(a, edges, out, &config);
	rc = gtu_peg_configure(a->q, &config, &edges->peg, a->err);
	if (rc)
		return rc;
	while ((more = gtu_peg_next(edges->peg, GTU_PEG_ANY, &record, a->err)) > 0) {
		for (lanes = record.active; lanes; lanes &= lanes - 1, taken++) {
			lane = (unsigned)__builtin_ctz(lanes);
			v = gtu_get(record.src, a->id_width, lane);
			if (gtu_unlikely(v >= a->g->n || taken >= in->count))
				return gtu_fail(a->err, GTU_ERR_FAIL,
						"the unit returned vertex %llu of %llu, number %llu of a list "
						"of %llu: it cannot be trusted",
						(unsigned long long)v, (unsigned long long)a->g->n,
						(unsigned long long)taken, (unsigned long long)in->count);
			if (keep(context, v))
				edges->lane[edges->lanes++] = v;
		}
		rc = gtu_alg_push_lanes(a, edges);
		if (rc)
			return rc;
	}
	return more ? more : finish(a, edges, out);
}
