// SPDX-License-Identifier: MIT
/*
 * CSR construction by counting sort.
 *
 * The one primitive is a stable O(n + m) transpose: it takes an edge list or a CSR and returns the
 * CSR of the opposite direction. Two transposes restore the direction and sort every list: a radix
 * sort by (source, target) with vertices as digits. The input is freed between them, so the peak is
 * two copies of the graph. One file, because the compiler instantiates the loops for each width.
 */
#include <stdlib.h>
#include <string.h>

#include "graph_build_parallel.h"
#include "graph_internal.h"

#define ALWAYS_INLINE inline __attribute__((always_inline))

struct csr {
	uint64_t m;
	uint64_t *row;			/* n + 1 */
	void *col, *weight;
};

/* Edges to transpose: an edge list (row NULL; src, dst) or a CSR (row; dst is col). */
struct source {
	uint64_t n, m, base;		/* vertices are ids - base */
	const uint64_t *row;
	const void *src, *dst, *weight;
	uint32_t id_bytes, weight_type;
	bool both, skew;
};

static void csr_free(struct csr *c)
{
	free(c->row);
	free(c->col);
	free(c->weight);
	memset(c, 0, sizeof(*c));
}

static int stopped(struct gtu_error *err)
{
	return gtu_fail(err, GTU_ERR_INTERRUPTED, "building the graph was stopped");
}

/*
 * A result of the passes below: a CSR has an edge outside the graph. It was checked before, so another
 * program has changed the mapped file since.
 */
#define CHANGED	(-2)

static int failed(int why, struct gtu_error *err)
{
	return why == CHANGED ? gtu_fail(err, GTU_ERR_INPUT, "the graph has changed since it was checked: does another program "
					 "write to its file?") : stopped(err);
}

static ALWAYS_INLINE int count_typed(const struct source *s, uint64_t *row,
				     const struct gtu_progress *progress, const uint32_t ib,
				     const bool is_csr)
{
	uint64_t e, end, u, v;

	for (e = 0; e < s->m; e = end) {
		end = s->m - e > GTU_TICK_ITEMS ? e + GTU_TICK_ITEMS : s->m;
		for (; e < end; e++) {
			v = gtu_get(s->dst, ib, e) - s->base;
			if (is_csr && gtu_unlikely(v >= s->n))
				return CHANGED;
			row[v]++;
			if (!is_csr && s->both) {
				u = gtu_get(s->src, ib, e) - s->base;
				row[u] += u != v;
			}
		}
		if (gtu_tick(progress, "counting edges", end, s->m))
			return -1;
	}
	if (!is_csr || !s->both)
		return 0;
	for (u = 0; u < s->n; u++) {
		e = s->row[u];
		end = s->row[u + 1];
		if (gtu_unlikely(end > s->m))
			return CHANGED;
		row[u] += end - e;
		for (; e < end; e++)
			row[u] -= gtu_get(s->dst, ib, e) == u;
	}
	return 0;
}

static ALWAYS_INLINE void put_edge(uint64_t *row, void *col, void *weight, uint64_t from, uint64_t to,
				   const void *weights, uint64_t e, const uint32_t ob,
				   const uint32_t wb)
{
	uint64_t at = row[from]++;

	gtu_put(col, ob, at, to);
	if (wb == 4)
		((uint32_t *)weight)[at] = ((const uint32_t *)weights)[e];
	else if (wb == 8)
		((uint64_t *)weight)[at] = ((const uint64_t *)weights)[e];
}

static ALWAYS_INLINE void transpose_edge(const struct source *s, struct csr *out, uint64_t u, uint64_t v,
				    uint64_t e, const uint32_t ob, const uint32_t wb)
{
	put_edge(out->row, out->col, out->weight, v, u, s->weight, e, ob, wb);
	if (!s->both || u == v)
		return;
	put_edge(out->row, out->col, out->weight, u, v, s->weight, e, ob, wb);
	if (s->skew && wb == 8) /* only doubles have a sign; gtu_raw_finish() widens skew weights */
		((double *)out->weight)[out->row[u] - 1] *= -1;
}

static ALWAYS_INLINE int transpose_typed(const struct source *s, struct csr *out,
				    const struct gtu_progress *progress, const uint32_t ib,
				    const uint32_t ob, const uint32_t wb, const bool is_csr)
{
	uint64_t e, end, u, v;

	if (is_csr) {
		for (u = 0; u < s->n; u++) {
			end = s->row[u + 1];
			if (gtu_unlikely(end > s->m))
				return CHANGED;
			for (e = s->row[u]; e < end; e++) {
				v = gtu_get(s->dst, ib, e);
				/* there must be space for the edge in both lists */
				if (gtu_unlikely(v >= s->n || out->row[v] >= out->m ||
						 (s->both && out->row[u] >= out->m)))
					return CHANGED;
				transpose_edge(s, out, u, v, e, ob, wb);
			}
			if (u % (GTU_TICK_ITEMS / 16) == 0 &&
			    gtu_tick(progress, "ordering edges", s->row[u], s->m))
				return -1;
		}
		return 0;
	}
	for (e = 0; e < s->m; e = end) {
		end = s->m - e > GTU_TICK_ITEMS ? e + GTU_TICK_ITEMS : s->m;
		for (; e < end; e++)
			transpose_edge(s, out, gtu_get(s->src, ib, e) - s->base,
				  gtu_get(s->dst, ib, e) - s->base, e, ob, wb);
		if (gtu_tick(progress, "placing edges", end, s->m))
			return -1;
	}
	return 0;
}

static int count(const struct source *s, uint64_t *row, const struct gtu_progress *progress)
{
	if (s->row)
		return s->id_bytes == 8 ? count_typed(s, row, progress, 8, true) :
					  count_typed(s, row, progress, 4, true);
	return s->id_bytes == 8 ? count_typed(s, row, progress, 8, false) :
				  count_typed(s, row, progress, 4, false);
}

#define TRANSPOSE_WEIGHTS(ib, ob, csr)                                                                  \
	(wb == 0   ? transpose_typed(s, out, progress, ib, ob, 0, csr) :                                \
	 wb == 4   ? transpose_typed(s, out, progress, ib, ob, 4, csr) :                                \
		     transpose_typed(s, out, progress, ib, ob, 8, csr))

static int transpose_all(const struct source *s, struct csr *out, uint32_t ob,
		    const struct gtu_progress *progress)
{
	size_t wb = gtu_weight_bytes(s->weight_type);

	if (s->row) {
		if (s->id_bytes == 4)
			return ob == 4 ? TRANSPOSE_WEIGHTS(4, 4, true) : TRANSPOSE_WEIGHTS(4, 8, true);
		return ob == 4 ? TRANSPOSE_WEIGHTS(8, 4, true) : TRANSPOSE_WEIGHTS(8, 8, true);
	}
	if (s->id_bytes == 4)
		return ob == 4 ? TRANSPOSE_WEIGHTS(4, 4, false) : TRANSPOSE_WEIGHTS(4, 8, false);
	return ob == 4 ? TRANSPOSE_WEIGHTS(8, 4, false) : TRANSPOSE_WEIGHTS(8, 8, false);
}

/* Compute the row offsets of the transpose. */
static int place_rows(const struct source *s, uint64_t *row, const struct gtu_progress *progress)
{
	int rc;

	memset(row, 0, (s->n + 1) * sizeof(*row));
	rc = count(s, row, progress);
	if (rc)
		return rc;
	gtu_prefix_sum(row, s->n + 1);
	return 0;
}

/*
 * Transpose @s into a CSR with entries of @ob bytes. @row, if not NULL, holds the row offsets of
 * the result: those of a symmetric graph do not change.
 */
static int transpose(const struct source *s, uint32_t ob, const uint64_t *row,
		const struct gtu_progress *progress, struct csr *out, struct gtu_error *err)
{
	size_t wb = gtu_weight_bytes(s->weight_type);
	uint64_t sum;
	int rc = 0;

	memset(out, 0, sizeof(*out));
	if (s->n < UINT64_MAX / 16)
		out->row = gtu_array_alloc((s->n + 1) * sizeof(*out->row));
	if (!out->row)
		goto no_memory;
	if (row)
		memcpy(out->row, row, (s->n + 1) * sizeof(*row));
	else
		rc = place_rows(s, out->row, progress);
	if (rc) {
		csr_free(out);
		return failed(rc, err);
	}
	out->m = sum = out->row[s->n];
	out->col = gtu_array_alloc(sum * ob);
	out->weight = wb ? gtu_array_alloc(sum * wb) : NULL;
	if (!out->col || (wb && !out->weight))
		goto no_memory;
	rc = transpose_all(s, out, ob, progress);
	if (rc) {
		csr_free(out);
		return failed(rc, err);
	}
	/* each row was a cursor and now is the start of the next list */
	memmove(out->row + 1, out->row, s->n * sizeof(*out->row));
	out->row[0] = 0;
	return 0;
no_memory:
	csr_free(out);
	return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for a graph of %llu vertices and %llu "
			"edges",
			(unsigned long long)s->n, (unsigned long long)s->m);
}

static struct source source_of_csr(uint64_t n, const struct csr *c, uint32_t id_bytes,
				   uint32_t weight_type)
{
	return (struct source){ .n = n, .m = c->m, .row = c->row, .dst = c->col, .weight = c->weight,
				.id_bytes = id_bytes, .weight_type = weight_type };
}

static struct source source_of_graph(const struct gtu_graph *g)
{
	return (struct source){ .n = g->n, .m = g->m, .row = g->row, .dst = g->col,
				.weight = g->weight, .id_bytes = g->edge_bytes,
				.weight_type = g->weight_type };
}

/* Whether the source is large and simple enough for the parallel builder. */
static bool is_plain(const struct source *s, uint32_t ob)
{
	return !s->weight && s->id_bytes == 4 && ob == 4 && gtu_build_is_parallel(s->m);
}

/* The sorted CSR of an edge list, or the transpose of a CSR. */
static int plain_csr(const struct source *s, const struct gtu_progress *progress, struct csr *out,
		     struct gtu_error *err)
{
	uint32_t *col;
	int rc;

	*out = (struct csr){ .m = s->m };
	rc = s->row ? gtu_transpose_parallel(s->row, s->dst, s->m, s->n, progress, &out->row, &col) :
		      gtu_build_parallel(s->src, s->dst, s->m, s->n, s->base, s->both, progress, &out->row, &col, &out->m);
	if (rc == GTU_ERR_INTERRUPTED || rc == GTU_ERR_INPUT)
		return failed(rc == GTU_ERR_INPUT ? CHANGED : -1, err);
	if (rc)
		return gtu_fail(err, rc, "out of memory for a graph of %llu vertices and %llu "
				"edges",
				(unsigned long long)s->n, (unsigned long long)s->m);
	out->col = col;
	return 0;
}

/* Build the CSR of @s with sorted lists; frees @release (may be NULL) as soon as possible. */
static int sorted_csr(const struct source *s, uint32_t ob, struct gtu_edge_list *release,
		      const struct gtu_progress *progress, struct csr *out, struct gtu_error *err)
{
	struct source transposed_source;
	struct csr transposed;
	int rc;

	if (!s->row && is_plain(s, ob)) {
		rc = plain_csr(s, progress, out, err);
		if (release)
			gtu_edges_free(release);
		return rc;
	}
	rc = transpose(s, ob, NULL, progress, &transposed, err);
	if (release)
		gtu_edges_free(release);
	if (rc)
		return rc;
	transposed_source = source_of_csr(s->n, &transposed, ob, s->weight_type);
	rc = transpose(&transposed_source, ob, s->both ? transposed.row : NULL, progress, out, err);
	csr_free(&transposed);
	return rc;
}

static void take_csr(struct gtu_graph *g, struct csr *c, uint32_t edge_bytes)
{
	free(g->backing->row);
	free(g->backing->col);
	free(g->backing->weight);
	g->row = g->backing->row = c->row;
	g->col = g->backing->col = c->col;
	g->weight = g->backing->weight = c->weight;
	g->m = c->m;
	g->edge_bytes = edge_bytes;
	memset(c, 0, sizeof(*c));
}

static ALWAYS_INLINE uint64_t squeeze_typed(struct gtu_graph *g, bool drop_loops, const uint32_t eb,
					    const uint32_t wb)
{
	uint64_t *row = g->backing->row, v, e, first = 0, end, kept = 0, t, last;
	void *col = g->backing->col, *weight = g->backing->weight;

	for (v = 0; v < g->n; v++) {
		end = row[v + 1];
		row[v] = kept;
		for (e = first, last = GTU_NO_VERTEX; e < end; e++) {
			t = gtu_get(col, eb, e);
			if (t == last || (drop_loops && t == v))
				continue;
			last = t;
			gtu_put(col, eb, kept, t);
			if (wb)
				gtu_put(weight, wb, kept, gtu_get(weight, wb, e));
			kept++;
		}
		first = end;
	}
	row[g->n] = kept;
	return kept;
}

static void shrink(void **array, const void **view, uint64_t bytes)
{
	void *p = *array ? realloc(*array, bytes ? bytes : 1) : NULL;

	if (p)
		*view = *array = p;
}

/*
 * Merge duplicates of a sorted graph that owns its arrays; with @drop_loops also drop self-loops.
 */
static void squeeze(struct gtu_graph *g, bool drop_loops)
{
	uint32_t wb = (uint32_t)gtu_weight_bytes(g->weight_type), eb = g->edge_bytes;

	if (eb == 4)
		g->m = wb == 0 ? squeeze_typed(g, drop_loops, 4, 0) :
		       wb == 4 ? squeeze_typed(g, drop_loops, 4, 4) :
				 squeeze_typed(g, drop_loops, 4, 8);
	else
		g->m = wb == 0 ? squeeze_typed(g, drop_loops, 8, 0) :
		       wb == 4 ? squeeze_typed(g, drop_loops, 8, 4) :
				 squeeze_typed(g, drop_loops, 8, 8);
	shrink(&g->backing->col, &g->col, g->m * eb);
	if (wb)
		shrink(&g->backing->weight, &g->weight, g->m * wb);
}

/* Replace ids by vertices in place, and move the map's ids to @raw. */
static int number_vertices(struct gtu_raw_graph *raw, const struct gtu_progress *progress,
			   struct gtu_error *err)
{
	struct gtu_edge_list *l = &raw->edges;
	const void *arrays[2] = { l->src, l->dst };
	struct gtu_id_map map;
	uint64_t e;
	int rc;

	rc = gtu_id_map_build(&map, arrays, 2, l->m, l->id_bytes, err);
	if (rc)
		return rc;
	raw->n = map.n;
	raw->id_base = map.base;
	raw->declared = true;
	if (map.ids) {
		for (e = 0; e < l->m; e++) {
			gtu_put(l->src, l->id_bytes, e,
				gtu_id_map_find(&map, gtu_get(l->src, l->id_bytes, e)));
			gtu_put(l->dst, l->id_bytes, e,
				gtu_id_map_find(&map, gtu_get(l->dst, l->id_bytes, e)));
			if (e % GTU_TICK_ITEMS == 0 && gtu_tick(progress, "numbering vertices", e, l->m)) {
				rc = stopped(err);
				break;
			}
		}
		raw->id_base = 0;
		raw->ids = map.ids;
		map.ids = NULL;
	}
	gtu_id_map_free(&map);
	return rc;
}

int gtu_raw_finish(struct gtu_raw_graph *raw, const struct gtu_read_options *opt,
		   const struct gtu_progress *progress, struct gtu_graph **out,
		   struct gtu_error *err)
{
	static const struct gtu_read_options plain;
	struct gtu_edge_list *l = &raw->edges;
	struct gtu_graph *g = NULL;
	struct source s;
	struct csr csr;
	uint32_t ob;
	bool both;
	int rc;

	*out = NULL;
	if (!opt)
		opt = &plain;
	both = !raw->symmetric && (opt->direction == GTU_UNDIRECTED ||
				   (opt->direction == GTU_AS_STORED && raw->undirected));
	rc = raw->declared ? 0 : number_vertices(raw, progress, err);
	if (!rc && both && raw->skew && l->weight_type == GTU_WEIGHT_U32)
		rc = gtu_edges_widen_weights(l, err);
	ob = rc ? 0 : gtu_edge_bytes_for(raw->n, opt->edge_bytes, err);
	g = ob ? gtu_graph_new() : NULL;
	if (!g) {
		rc = rc ? rc : !ob ? GTU_ERR_USAGE : gtu_fail(err, GTU_ERR_NOMEM, "out of memory "
							      "for a graph");
		goto fail;
	}
	g->n = raw->n;
	g->stored = raw->stored ? raw->stored : l->m;
	g->weight_type = l->weight_type;
	g->id_base = raw->ids ? 0 : raw->id_base;
	g->ids = g->backing->ids = raw->ids;
	raw->ids = NULL;
	g->backing->names = g->backing->own_names = raw->names;
	g->backing->names_bytes = raw->names_bytes;
	raw->names = NULL;
	s = (struct source){
		.n = raw->n, .m = l->m, .base = g->id_base, .src = l->src, .dst = l->dst,
		.weight = l->weight, .id_bytes = l->id_bytes, .weight_type = l->weight_type,
		.both = both,
		.skew = raw->skew,
	};
	rc = sorted_csr(&s, ob, l, progress, &csr, err);
	if (rc)
		goto fail;
	take_csr(g, &csr, ob);
	g->flags = GTU_GRAPH_SORTED | GTU_GRAPH_CHECKED;
	if (opt->direction == GTU_DIRECTED || (!both && !raw->symmetric))
		g->flags |= GTU_GRAPH_DIRECTED;
	if (opt->simplify || (both && !raw->undirected))
		squeeze(g, opt->simplify != 0);
	*out = g;
	return 0;
fail:
	gtu_edges_free(l);
	free(raw->ids);
	raw->ids = NULL;
	free(raw->names);
	raw->names = NULL;
	gtu_graph_close(g);
	return rc;
}

int gtu_graph_from_edges(uint64_t n, uint64_t m, const uint64_t *src, const uint64_t *dst,
			 uint32_t weight_type, const void *weight,
			 const struct gtu_read_options *opt, struct gtu_graph **out,
			 struct gtu_error *err)
{
	struct gtu_raw_graph raw = { .declared = true, .n = n };
	uint64_t e;

	*out = NULL;
	if (weight_type > GTU_WEIGHT_F64 || (weight_type && !weight && m) || (m && (!src || !dst)))
		return gtu_fail(err, GTU_ERR_USAGE,
				"edges need sources, targets and, with weight type %u, weights", weight_type);
	for (e = 0; e < m; e++)
		if (src[e] >= n || dst[e] >= n)
			return gtu_fail(err, GTU_ERR_USAGE, "edge %llu joins %llu and %llu; there are %llu vertices",
					(unsigned long long)e, (unsigned long long)src[e],
					(unsigned long long)dst[e], (unsigned long long)n);
	raw.edges = (struct gtu_edge_list){
		.m = m, .capacity = m, .src = (void *)src, .dst = (void *)dst, .weight = (void *)weight,
		.id_bytes = 8, .weight_type = weight_type, .borrowed = true,
	};
	raw.undirected = opt && opt->direction == GTU_UNDIRECTED;
	return gtu_raw_finish(&raw, opt, NULL, out, err);
}

/* A new graph with everything of @g except its edges. */
static struct gtu_graph *copy_without_edges(const struct gtu_graph *g, struct gtu_error *err)
{
	struct gtu_graph *new = gtu_graph_new();

	if (new && g->ids) {
		new->backing->ids = gtu_array_alloc(g->n * sizeof(*g->ids));
		if (!new->backing->ids) {
			gtu_graph_close(new);
			new = NULL;
		} else {
			memcpy(new->backing->ids, g->ids, g->n * sizeof(*g->ids));
			new->ids = new->backing->ids;
		}
	}
	if (new && g->backing && g->backing->names) {
		new->backing->own_names = malloc(g->backing->names_bytes);
		if (!new->backing->own_names) {
			gtu_graph_close(new);
			new = NULL;
		} else {
			memcpy(new->backing->own_names, g->backing->names, g->backing->names_bytes);
			new->backing->names = new->backing->own_names;
			new->backing->names_bytes = g->backing->names_bytes;
		}
	}
	if (!new) {
		gtu_fail(err, GTU_ERR_NOMEM, "out of memory for a graph of %llu vertices",
			 (unsigned long long)g->n);
		return NULL;
	}
	new->n = g->n;
	new->stored = g->stored;
	new->weight_type = g->weight_type;
	new->id_base = g->id_base;
	memcpy(new->name, g->name, sizeof(new->name));
	return new;
}

enum arrangement { TRANSPOSED, SYMMETRIZED, SORTED };

/*
 * *out = @g arranged anew in its own memory, with entries of @edge_bytes and sorted lists, optionally
 * without weights. Edges are scattered by col, so an unchecked graph is checked first.
 */
static int arrange(const struct gtu_graph *g, enum arrangement how, uint32_t edge_bytes, bool weights,
		   const struct gtu_progress *progress, struct gtu_graph **out, struct gtu_error *err)
{
	struct gtu_graph view = *g, *new;
	struct source s = source_of_graph(g);
	struct csr csr;
	int rc;

	*out = NULL;
	rc = gtu_graph_check(&view, progress, err);
	if (rc)
		return rc;
	new = copy_without_edges(g, err);
	if (!new)
		return GTU_ERR_NOMEM;
	if (!weights) {
		s.weight = NULL;
		s.weight_type = new->weight_type = GTU_WEIGHT_NONE;
	}
	s.both = how == SYMMETRIZED;
	if (how != TRANSPOSED)
		rc = sorted_csr(&s, edge_bytes, NULL, progress, &csr, err);
	else if (is_plain(&s, edge_bytes))
		rc = plain_csr(&s, progress, &csr, err);
	else
		rc = transpose(&s, edge_bytes, NULL, progress, &csr, err);
	if (rc) {
		gtu_graph_close(new);
		return rc;
	}
	take_csr(new, &csr, edge_bytes);
	new->flags = GTU_GRAPH_SORTED | GTU_GRAPH_CHECKED;
	if (how == SYMMETRIZED)
		squeeze(new, false);
	else
		new->flags |= g->flags & GTU_GRAPH_DIRECTED;
	*out = new;
	return 0;
}

int gtu_graph_transpose(const struct gtu_graph *g, const struct gtu_progress *progress,
			struct gtu_graph **out, struct gtu_error *err)
{
	return arrange(g, TRANSPOSED, g->edge_bytes, true, progress, out, err);
}

int gtu_graph_symmetrize(const struct gtu_graph *g, const struct gtu_progress *progress,
			 struct gtu_graph **out, struct gtu_error *err)
{
	return arrange(g, SYMMETRIZED, g->edge_bytes, true, progress, out, err);
}

/* Put @new in the place of *@g if @rc is 0. */
static int replace(struct gtu_graph **g, struct gtu_graph *new, int rc)
{
	if (rc)
		return rc;
	gtu_graph_close(*g);
	*g = new;
	return 0;
}

int gtu_graph_reshape(struct gtu_graph **g, const struct gtu_read_options *opt,
		      const struct gtu_progress *progress, struct gtu_error *err)
{
	struct gtu_graph *new;
	uint32_t edge_bytes;
	bool drop_weights;
	int rc = 0;

	if (!opt)
		return 0;
	drop_weights = opt->weight_column < 0 && (*g)->weight_type;
	edge_bytes = opt->edge_bytes ? gtu_edge_bytes_for((*g)->n, opt->edge_bytes, err) :
				       (*g)->edge_bytes;
	if (!edge_bytes)
		rc = GTU_ERR_USAGE;
	if (!rc && opt->direction == GTU_UNDIRECTED && (*g)->flags & GTU_GRAPH_DIRECTED) {
		rc = gtu_graph_symmetrize(*g, progress, &new, err);
		rc = replace(g, new, rc);
	}
	if (!rc && (drop_weights || edge_bytes != (*g)->edge_bytes ||
		    (opt->simplify && ((*g)->backing->map || !((*g)->flags & GTU_GRAPH_SORTED))))) {
		rc = arrange(*g, SORTED, edge_bytes, !drop_weights, progress, &new, err);
		rc = replace(g, new, rc);
	}
	if (!rc && opt->simplify)
		squeeze(*g, true);
	if (!rc && opt->direction == GTU_DIRECTED)
		(*g)->flags |= GTU_GRAPH_DIRECTED;
	if (rc) {
		gtu_graph_close(*g);
		*g = NULL;
	}
	return rc;
}
