// SPDX-License-Identifier: MIT
/*
 * SparseWeaver's framework (SparseWeaver, section IV): storages over graphs, and the gather kernel
 * of figure 9 with user functions. for_each_edge.c implements registration and distribution.
 */
#include <stdlib.h>
#include <string.h>

#include "for_each_edge.h"
#include "libruntime/support/graph_access.h"

/* ---- Storage ------------------------------------------------------------------------------------- */

struct gtu_weave_parts {
	const struct gtu_graph *g;	/* the graph with the edges; NULL: a copy of a custom storage */
	struct gtu_graph *transpose;	/* g, if the library created it */
	struct gtu_graph rows;		/* entries as vertices, for units that read rows */
	uint64_t *row, *vertex;		/* per entry; NULL: nothing is split */
	/* of a copy, by edge: the vertex at the other end, the index in the storage, the weight */
	uint64_t *other, *edge;
	double *weight;
};

static int neighbors(const struct gtu_weave_storage *s, uint64_t entry, uint64_t *base, uint64_t *first,
		     uint64_t *degree, struct gtu_error *err)
{
	const struct gtu_weave_parts *p = s->parts;
	const uint64_t end = p->rows.row[entry + 1];

	*base = p->vertex ? p->vertex[entry] : entry;
	*first = p->rows.row[entry];
	*degree = end - *first;
	if (gtu_likely(*first <= end && end <= s->edges))
		return 0;
	return gtu_fail_row(p->g->name, *base, *first, end, s->edges, err);
}

static int edge_of(const struct gtu_weave_storage *s, uint64_t edge, uint64_t *other, double *weight,
		   struct gtu_error *err)
{
	const struct gtu_graph *g = s->parts->g;

	(void)err;
	*other = gtu_graph_target(g, edge);
	*weight = gtu_graph_weight(g, edge);
	return 0;
}

/* Split rows into parts of at most @part edges. A vertex without edges is one part. */
static int split(struct gtu_weave_storage *s, uint64_t part, struct gtu_error *err)
{
	struct gtu_weave_parts *p = s->parts;
	const struct gtu_graph *g = p->g;
	uint64_t v, e, end, n = 0;

	for (v = 0; v < g->n; v++) {
		e = g->row[v];
		end = g->row[v + 1];
		if (e > end || end > g->m)
			return gtu_fail_row(g->name, v, e, end, g->m, err);
		n += end - e ? (end - e - 1) / part + 1 : 1;
	}
	p->row = malloc((n + 1) * sizeof(*p->row));
	p->vertex = malloc((n + 1) * sizeof(*p->vertex));
	if (!p->row || !p->vertex)
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for %llu parts of %llu vertices",
				(unsigned long long)n, (unsigned long long)g->n);
	p->rows.n = s->entries = n;
	p->rows.row = p->row;
	for (v = n = 0; v < g->n; v++) {
		e = g->row[v];
		end = g->row[v + 1];
		do {
			p->row[n] = e;
			p->vertex[n++] = v;
			e += end - e < part ? end - e : part;
		} while (e < end);
	}
	p->row[n] = g->n ? g->row[g->n] : 0;
	return 0;
}

static int store(const struct gtu_graph *g, uint64_t part, bool pull, struct gtu_weave_storage *s,
		 struct gtu_error *err)
{
	struct gtu_weave_parts *p = calloc(1, sizeof(*p));
	int rc = 0;

	memset(s, 0, sizeof(*s));
	s->parts = p;
	if (!p)
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for a storage");
	p->g = g;
	if (pull && (g->flags & GTU_GRAPH_DIRECTED || g->weight_type != GTU_WEIGHT_NONE)) {
		rc = gtu_graph_transpose(g, NULL, &p->transpose, err);
		p->g = p->transpose;
	}
	if (!rc) {
		p->rows = *p->g;
		s->vertices = s->entries = g->n;
		s->edges = g->m;
		s->pull = pull;
		s->get_neighbor = neighbors;
		s->get_edge = edge_of;
		rc = part ? split(s, part, err) : 0;
	}
	if (rc)
		gtu_weave_close(s);
	return rc;
}

int gtu_weave_csr(const struct gtu_graph *g, uint64_t part, struct gtu_weave_storage *out,
		  struct gtu_error *err)
{
	return store(g, part, false, out, err);
}

int gtu_weave_csc(const struct gtu_graph *g, uint64_t part, struct gtu_weave_storage *out,
		  struct gtu_error *err)
{
	return store(g, part, true, out, err);
}

static void free_parts(struct gtu_weave_parts *p)
{
	gtu_graph_close(p->transpose);
	free(p->row);
	free(p->vertex);
	free(p->other);
	free(p->edge);
	free(p->weight);
}

void gtu_weave_close(struct gtu_weave_storage *s)
{
	if (s->parts) {
		free_parts(s->parts);
		free(s->parts);
	}
	memset(s, 0, sizeof(*s));
}

/* The rows of a copy: its entries' edges, one after the other. Vertices beyond the entries have none. */
static int copy_rows(const struct gtu_weave_storage *s, struct gtu_weave_parts *p, struct gtu_error *err)
{
	const uint64_t n = s->entries > s->vertices ? s->entries : s->vertices;
	uint64_t i, first, degree, m = 0;
	int rc = 0;

	p->row = calloc(n + 1, sizeof(*p->row));
	p->vertex = calloc(n + 1, sizeof(*p->vertex));
	if (!p->row || !p->vertex)
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for a copy of %llu entries", (unsigned long long)n);
	for (i = 0; i < s->entries && !rc; i++) {
		rc = s->get_neighbor(s, i, &p->vertex[i], &first, &degree, err);
		if (!rc)
			rc = gtu_alg_check_entry(s, i, p->vertex[i], first, degree, err);
		p->row[i] = m;
		m += rc ? 0 : degree;
	}
	for (; i <= n; i++)
		p->row[i] = m;
	p->rows = (struct gtu_graph){
		.n = n, .m = m, .stored = m, .edge_bytes = 8, .weight_type = GTU_WEIGHT_F64, .row = p->row,
		.name = "the storage",
	};
	return rc;
}

/* Copy a custom storage into rows, which every unit can read. */
static int copy(const struct gtu_weave_storage *s, struct gtu_weave_parts *p, struct gtu_error *err)
{
	uint64_t i, e, base, first, degree, at;
	int rc = copy_rows(s, p, err);

	if (rc)
		return rc;
	p->rows.col = p->other = calloc(p->rows.m + 1, sizeof(*p->other));
	p->rows.weight = p->weight = calloc(p->rows.m + 1, sizeof(*p->weight));
	p->edge = calloc(p->rows.m + 1, sizeof(*p->edge));
	if (!p->other || !p->weight || !p->edge)
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for a copy of %llu edges",
				(unsigned long long)p->rows.m);
	for (i = 0; i < s->entries && !rc; i++) {
		rc = s->get_neighbor(s, i, &base, &first, &degree, err);
		at = p->row[i];
		/* the storage may have changed since its edges were counted */
		for (e = first; !rc && at < p->row[i + 1]; e++, at++) {
			p->edge[at] = e;
			rc = e < s->edges ? s->get_edge(s, e, &p->other[at], &p->weight[at], err) :
					    gtu_alg_check_entry(s, i, base, first, degree, err);
			if (!rc && p->other[at] >= s->vertices)
				rc = gtu_fail(err, GTU_ERR_INPUT, "edge %llu of the storage has the vertex %llu, but "
					      "there are %llu", (unsigned long long)e, (unsigned long long)p->other[at],
					      (unsigned long long)s->vertices);
		}
	}
	return rc;
}

/* ---- The kernel ------------------------------------------------------------------------------------ */

struct weave {
	struct gtu_alg a;
	struct gtu_alg_for_each_edge edges;
	const struct gtu_weave_storage *s;
	const struct gtu_weave_parts *parts;	/* the storage's, or of its copy; NULL: edges by get_edge() */
	const struct gtu_weave_functions *f;
	struct gtu_weave_iteration now;
	struct gtu_alg_frontier list;	/* entries to register */
};

static inline bool leaves_out(bool (*filter)(const struct gtu_weave_iteration *t, uint64_t v),
			      const struct gtu_weave_iteration *t, uint64_t v)
{
	return filter && filter(t, v);
}

/* Report a vertex that the storage does not have: the storage returned it, or the unit in its place. */
static int fail_vertex(const struct weave *w, uint64_t edge, uint64_t vertex)
{
	if (w->parts && gtu_graph_target(&w->parts->rows, edge) < w->s->vertices)
		return gtu_fail(w->a.err, GTU_ERR_FAIL,
				"the unit returned edge %llu to vertex %llu, of %llu: it cannot be trusted",
				(unsigned long long)edge, (unsigned long long)vertex, (unsigned long long)w->s->vertices);
	return gtu_fail(w->a.err, GTU_ERR_INPUT, "edge %llu of the storage has the vertex %llu, but there are %llu",
			(unsigned long long)edge, (unsigned long long)vertex, (unsigned long long)w->s->vertices);
}

/* Visitor for figure 9, lines 16 to 21. */
static int distribute(void *context, const struct gtu_alg_batch *batch)
{
	struct weave *w = context;
	uint64_t other;
	double weight;
	unsigned i;
	int rc = 0;

	for (i = 0; i < batch->n; i++) {
		const uint64_t base = batch->source[i];

		if (gtu_unlikely(base >= w->s->vertices))
			return gtu_fail(w->a.err, GTU_ERR_FAIL,
					"the unit gives an edge of vertex %llu, of %llu: it cannot be trusted",
					(unsigned long long)base, (unsigned long long)w->s->vertices);
		other = batch->target[i];
		weight = 1;
		if (w->parts)
			weight = gtu_weight_number(w->parts->rows.weight_type, batch->weight, i);
		else
			rc = w->s->get_edge(w->s, batch->edge[i], &other, &weight, w->a.err);
		if (rc)
			return rc;
		if (gtu_unlikely(other >= w->s->vertices))
			return fail_vertex(w, batch->edge[i], other);
		if (leaves_out(w->f->filter_target, &w->now, w->s->pull ? base : other) ||
		    (w->s->pull && leaves_out(w->f->filter_source, &w->now, other)))
			continue;
		w->now.edge = w->parts && w->parts->edge ? w->parts->edge[batch->edge[i]] : batch->edge[i];
		w->f->gather(&w->now, w->s->pull ? other : base, w->s->pull ? base : other, weight);
	}
	return 0;
}

static bool enough(void *context, uint64_t base)
{
	const struct weave *w = context;

	return w->f->filter_target(&w->now, base);
}

/* Figure 9, lines 4 to 9: list the entries with edges whose base vertex passes the filter. */
static int list_entries(struct weave *w)
{
	bool (*const filter)(const struct gtu_weave_iteration *t, uint64_t v) =
		w->s->pull ? w->f->filter_target : w->f->filter_source;
	const uint64_t count = w->f->frontier ? w->f->frontier(&w->now) : w->s->entries;
	uint64_t i, entry, base, first, degree;
	int rc;

	if (gtu_unlikely(count > w->s->entries))
		return gtu_fail(w->a.err, GTU_ERR_USAGE, "a frontier of %llu entries is too long: the storage has %llu",
				(unsigned long long)count, (unsigned long long)w->s->entries);
	w->list.count = 0;
	for (i = 0; i < count; i++) {
		entry = w->f->frontier ? w->f->get_frontier(&w->now, i) : i;
		if (gtu_unlikely(entry >= w->s->entries))
			return gtu_fail(w->a.err, GTU_ERR_USAGE, "entry %llu of the frontier does not exist: the "
					"storage has %llu",
					(unsigned long long)entry, (unsigned long long)w->s->entries);
		rc = w->s->get_neighbor(w->s, entry, &base, &first, &degree, w->a.err);
		if (rc)
			return rc;
		if (!degree || (base < w->s->vertices && leaves_out(filter, &w->now, base)))
			continue;
		gtu_alg_push(&w->a, &w->list, entry);
	}
	w->a.stats->vertices += w->list.count;
	return 0;
}

static int iterate(struct weave *w)
{
	bool again = true;
	uint64_t v;
	int rc;

	rc = gtu_alg_reserve(&w->a, &w->list.ids, w->s->entries * w->a.id_width, false);
	for (v = 0; !rc && w->f->init && v < w->s->vertices; v++)
		w->f->init(&w->now, v);
	while (!rc && again && (!w->a.opt->iterations || w->now.iteration < w->a.opt->iterations)) {
		gtu_phase(&w->a.phases, "register");
		rc = list_entries(w);
		gtu_phase(&w->a.phases, "gather");
		if (!rc)
			rc = gtu_alg_for_each_edge(&w->a, &w->edges, &w->list, distribute, w);
		gtu_phase(&w->a.phases, "apply");
		for (again = false, v = 0; !rc && w->f->apply && v < w->s->vertices; v++)
			again |= w->f->apply(&w->now, v);
		if (!rc) {
			gtu_phases_iteration(&w->a.phases, w->a.opt, w->list.count);
			w->now.iteration = w->a.stats->iterations;
		}
	}
	w->a.stats->pull_end = w->s->pull ? w->a.stats->iterations : 0;
	return rc;
}

int gtu_weave(struct gtu_device *dev, const struct gtu_weave_storage *s,
	      const struct gtu_weave_functions *functions, void *context,
	      const struct gtu_algorithm_options *opt, struct gtu_algorithm_stats *stats,
	      struct gtu_error *err)
{
	const struct gtu_algorithm_options only = {
		.unit = opt->unit, .chunk_log2 = opt->chunk_log2, .iterations = opt->iterations,
		.progress = opt->progress, .iteration = opt->iteration, .iteration_user = opt->iteration_user,
	};
	/* a custom storage has sizes, but no rows */
	const struct gtu_graph own = {
		.n = s->entries > s->vertices ? s->entries : s->vertices, .m = s->edges, .edge_bytes = 8,
		.name = "the storage",
	};
	const struct gtu_graph *g;
	const bool by_entry = opt->unit == GTU_WITH_NONE || opt->unit == GTU_WITH_WEAVER;
	struct gtu_weave_parts copied = { 0 };
	struct weave w = { .s = s, .parts = s->parts, .f = functions, .now.context = context };
	int rc = 0;

	if (!functions->frontier != !functions->get_frontier)
		return gtu_fail(err, GTU_ERR_USAGE, "%s is NULL: a frontier needs its length and its entries",
				functions->frontier ? "get_frontier" : "frontier");
	if (!functions->gather || !s->get_neighbor || !s->get_edge)
		return gtu_fail(err, GTU_ERR_USAGE, "%s is NULL: it must be set",
				!functions->gather ? "gather" : !s->get_neighbor ? "get_neighbor" : "get_edge");
	if (!s->parts && !by_entry && opt->unit != GTU_WITH_GPU) {
		rc = copy(s, &copied, err);
		w.parts = &copied;
	}
	if (rc) {
		free_parts(&copied);
		return rc;
	}
	g = w.parts ? &w.parts->rows : &own;
	rc = gtu_alg_begin(&w.a, "weave", dev, g, &only, stats, err);
	w.edges.edge_indices = w.edges.weights = true;
	w.edges.pull = s->pull;
	w.edges.enough = s->pull && functions->filter_target ? enough : NULL;
	if (by_entry)
		w.edges.storage = s;
	else if (w.parts)
		w.edges.vertex = w.parts->vertex;
	if (!rc)
		rc = gtu_alg_edges_begin(&w.a, &w.edges, g, 8);
	if (!rc)
		rc = iterate(&w);
	rc = gtu_alg_edges_end(&w.a, &w.edges, rc);
	rc = gtu_alg_end(&w.a, rc);
	free_parts(&copied);
	return rc;
}
