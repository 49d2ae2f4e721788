// SPDX-License-Identifier: MIT
/* Edge frontiers: takes the vertices of a frontier chunk by chunk. */
#include <string.h>

#include "common.h"
#include "libruntime/support/graph_access.h"

int gtu_alg_bad_row(struct gtu_alg *a, const struct gtu_graph *g, uint64_t v)
{
	return gtu_fail_row(g->name, v, g->row[v], g->row[v + 1], g->m, a->err);
}

int gtu_alg_bad_edge(struct gtu_alg *a, const struct gtu_graph *g, uint64_t e)
{
	return gtu_fail(a->err, GTU_ERR_INPUT,
			"%s: entry %llu of the edge list is vertex %llu, but there are %llu: the "
			"graph is damaged",
			g->name, (unsigned long long)e,
			(unsigned long long)gtu_graph_target(g, e), (unsigned long long)a->g->n);
}

bool gtu_alg_find_bad(const struct gtu_alg_work *w, uint64_t *e)
{
	const uint32_t *count = w->count.region.addr;
	uint64_t i, first;

	for (i = 0; i < w->n; i++) {
		first = gtu_get(w->index.region.addr, w->index_width, i);
		for (*e = first; *e < first + count[i]; ++*e)
			if (gtu_graph_target(w->g, *e) >= w->targets)
				return true;
	}
	return false;
}

int gtu_alg_bad_work(struct gtu_alg *a, const struct gtu_alg_work *w)
{
	uint64_t e;

	if (gtu_alg_find_bad(w, &e))
		return gtu_alg_bad_edge(a, w->g, e);
	return gtu_fail(a->err, GTU_ERR_INPUT,
			"%s: the edge list contained an invalid vertex and has changed since",
			w->g->name);
}

int gtu_alg_work_begin(struct gtu_alg *a, struct gtu_alg_work *w, const struct gtu_graph *g)
{
	memset(w, 0, sizeof(*w));
	w->g = g;
	w->targets = a->g->n;
	w->first = a->first;
	w->end = a->end;
	w->index_width = g->m >> 32 ? 8 : 4;
	/* a region cannot be empty: without edges nothing is mapped or expanded; a custom storage has no arrays */
	if (!a->q || !g->m || !g->col)
		return 0;
	return gtu_graph_map(a->dev, g, &w->map, a->err);
}

int gtu_alg_work_end(struct gtu_alg *a, struct gtu_alg_work *w, int rc)
{
	int end_rc = w->map.dev ? gtu_graph_unmap(&w->map, rc ? NULL : a->err) : 0;

	return rc ? rc : end_rc;
}

int gtu_alg_take(struct gtu_alg *a, struct gtu_alg_work *w, const struct gtu_alg_frontier *f,
		 struct gtu_alg_cursor *c)
{
	uint64_t inputs = f->count - c->at, v, first, end, take;
	int rc;

	/* every entry has at least one edge, so a chunk never needs more entries than edges */
	if (inputs > a->chunk)
		inputs = a->chunk;
	rc = gtu_alg_reserve(a, &w->vertex, inputs * a->id_width, false);
	if (!rc)
		rc = gtu_alg_reserve(a, &w->index, inputs * w->index_width, false);
	if (!rc)
		rc = gtu_alg_reserve(a, &w->count, inputs * 4, false);
	if (rc)
		return rc;
	w->n = 0;
	w->edges = 0;
	w->out = 0;
	while (c->at < f->count && w->edges < a->chunk) {
		v = gtu_alg_vertex(a, f, c->at);
		rc = gtu_alg_edges(a, w->g, v, &first, &end);
		if (rc)
			return rc;
		if (v < w->first || v >= w->end)
			end = first;
		/* another process may modify the file: the rest may be shorter than before */
		first = c->done < end - first ? first + c->done : end;
		take = end - first;
		if (take > a->chunk - w->edges)
			take = a->chunk - w->edges;
		if (take) {
			gtu_put(w->vertex.region.addr, a->id_width, w->n, v);
			gtu_put(w->index.region.addr, w->index_width, w->n, first);
			((uint32_t *)w->count.region.addr)[w->n++] = (uint32_t)take;
			w->edges += take;
		}
		if (first + take < end) {
			c->done += take;
		} else {
			c->at++;
			c->done = 0;
		}
	}
	a->stats->edges += w->edges;
	return gtu_alg_poll_progress(a);
}

int gtu_alg_replicate_cpu(struct gtu_alg *a, const struct gtu_alg_work *w, const struct gtu_alg_buffer *in,
		   uint32_t width, struct gtu_alg_buffer *to)
{
	const uint32_t *count = w->count.region.addr;
	uint64_t i, value, at = 0;
	uint32_t k;
	int rc;

	rc = gtu_alg_reserve(a, to, w->edges * width, false);
	for (i = 0; i < w->n && !rc; i++) {
		value = gtu_get(in->region.addr, width, i);
		for (k = 0; k < count[i]; k++)
			gtu_put(to->region.addr, width, at++, value);
	}
	return rc;
}
