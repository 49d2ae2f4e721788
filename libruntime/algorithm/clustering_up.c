// SPDX-License-Identifier: MIT
/*
 * The oriented graph of clustering coefficients: every edge once, from the vertex with fewer
 * neighbours to the one with more.
 */
#include <string.h>

#include "clustering.h"

/* Iterator over a vertex' neighbours: ascending, each once, without the vertex itself. */
struct walk {
	const struct gtu_clustering_run *c;
	uint64_t v, i, i_end, k, k_end, last;
	bool descends;
};

static struct walk walk_from(const struct gtu_clustering_run *c, uint64_t v)
{
	struct walk w = { .c = c, .v = v, .i = c->out->row[v], .i_end = c->out->row[v + 1], .last = GTU_NO_VERTEX };

	if (c->in) {
		w.k = c->in->row[v];
		w.k_end = c->in->row[v + 1];
	}
	/* another program may have changed a mapped file since it was checked */
	w.i_end = w.i_end <= c->out->m ? w.i_end : 0;
	w.k_end = c->in && w.k_end > c->in->m ? 0 : w.k_end;
	return w;
}

/* Skip entries equal to @u; returns whether there was one. */
static inline bool pass(const struct gtu_graph *g, uint64_t *at, uint64_t end, uint64_t u)
{
	const uint64_t start = *at;

	while (*at < end && gtu_graph_target(g, *at) == u)
		++*at;
	return *at > start;
}

static inline bool walk(struct walk *w, uint64_t *neighbour, bool *both)
{
	const struct gtu_graph *out = w->c->out, *in = w->c->in;
	uint64_t u, x;
	bool leaves, leads;

	while (w->i < w->i_end || w->k < w->k_end) {
		u = w->i < w->i_end ? gtu_graph_target(out, w->i) : GTU_NO_VERTEX;
		x = w->k < w->k_end ? gtu_graph_target(in, w->k) : GTU_NO_VERTEX;
		u = x < u ? x : u;
		leaves = pass(out, &w->i, w->i_end, u);
		leads = in && pass(in, &w->k, w->k_end, u);
		w->descends |= w->last != GTU_NO_VERTEX && u <= w->last;
		w->last = u;
		if (u == w->v || u >= out->n)
			continue;
		*neighbour = u;
		*both = !in || (leaves && leads);
		return true;
	}
	return false;
}

/* Whether the lists of an undirected graph can be used as they are: ascending, without the vertex itself. */
static inline __attribute__((always_inline)) bool is_regular(const struct gtu_graph *g, uint64_t first, uint64_t end,
							     uint32_t width)
{
	uint64_t v, e, e_end, u, last;
	bool fine = true;

	for (v = first; v < end && fine; v++) {
		e = g->row[v];
		e_end = g->row[v + 1];
		fine = e <= e_end && e_end <= g->m;
		for (last = GTU_NO_VERTEX; fine && e < e_end; e++) {
			u = gtu_get(g->col, width, e);
			fine = u < g->n && u != v && (u > last || last == GTU_NO_VERTEX);
			last = u;
		}
	}
	return fine;
}

static int regular_share(void *arg, uint64_t first, uint64_t end)
{
	struct gtu_clustering_run *c = arg;
	const struct gtu_graph *g = c->out;
	uint64_t v;

	if (atomic_load_explicit(&c->irregular, memory_order_relaxed))
		return 0;
	if (!(g->edge_bytes == 8 ? is_regular(g, first, end, 8) : is_regular(g, first, end, 4)))
		atomic_store(&c->irregular, true);
	for (v = first; v < end; v++)
		c->degree[v] = g->row[v + 1] - g->row[v];
	return gtu_alg_shares_poll(&c->shares);
}

static int count_share(void *arg, uint64_t first, uint64_t end)
{
	struct gtu_clustering_run *c = arg;
	uint64_t v, u, d;
	bool both;

	for (v = first; v < end; v++) {
		struct walk w = walk_from(c, v);

		for (d = 0; walk(&w, &u, &both); d++)
			;
		c->degree[v] = d;
		if (w.descends)
			atomic_store_explicit(&c->descends, true, memory_order_relaxed);
	}
	return gtu_alg_shares_poll(&c->shares);
}

static inline bool is_up(const struct gtu_clustering_run *c, uint64_t v, uint64_t u)
{
	return c->degree[v] < c->degree[u] || (c->degree[v] == c->degree[u] && v < u);
}

/*
 * The same for a simple graph: the number of v's entries that point up, written to @to unless that is
 * NULL, at most @most.
 */
static inline __attribute__((always_inline)) uint64_t point_up_simply(const struct gtu_clustering_run *c, uint64_t v, void *to,
								      uint64_t at, uint64_t most, uint32_t width)
{
	const struct gtu_graph *g = c->out;
	uint64_t e, end, u, n = 0;

	gtu_graph_edges(g, v, &e, &end);
	for (; e < end && n < most; e++) {
		u = gtu_get(g->col, width, e);
		/* another program may have changed a mapped file since it was checked */
		if (gtu_unlikely(u >= g->n) || !is_up(c, v, u))
			continue;
		if (to)
			gtu_put(to, width, at + n, u);
		n++;
	}
	return n;
}

static int count_up_share(void *arg, uint64_t first, uint64_t end)
{
	struct gtu_clustering_run *c = arg;
	uint64_t v, u, *row = c->up_row;
	bool both;

	for (v = first; v < end && c->simple; v++)
		row[v + 1] = c->out->edge_bytes == 8 ? point_up_simply(c, v, NULL, 0, UINT64_MAX, 8) :
						       point_up_simply(c, v, NULL, 0, UINT64_MAX, 4);
	for (; v < end; v++) {
		struct walk w = walk_from(c, v);

		while (walk(&w, &u, &both))
			row[v + 1] += is_up(c, v, u);
	}
	return gtu_alg_shares_poll(&c->shares);
}

static int fill_up_share(void *arg, uint64_t first, uint64_t end)
{
	struct gtu_clustering_run *c = arg;
	uint64_t v, u, at, most;
	bool both;

	for (v = first; v < end && c->simple; v++) {
		at = c->up.row[v];
		most = c->up.row[v + 1] - at;
		at += c->up.edge_bytes == 8 ? point_up_simply(c, v, c->up_col, at, most, 8) :
					      point_up_simply(c, v, c->up_col, at, most, 4);
		/* the rest of a list that has changed since: a target that is no neighbour of anything */
		for (; at < c->up.row[v + 1]; at++)
			gtu_put(c->up_col, c->up.edge_bytes, at, v);
	}
	for (; v < end; v++) {
		struct walk w = walk_from(c, v);

		/* bounded by the count: another process may modify the file meanwhile */
		for (at = c->up.row[v]; at < c->up.row[v + 1] && walk(&w, &u, &both);) {
			if (!is_up(c, v, u))
				continue;
			gtu_put(c->up_col, c->up.edge_bytes, at, u);
			if (c->twice)
				c->twice[at] = both;
			at++;
		}
	}
	return gtu_alg_shares_poll(&c->shares);
}

int gtu_clustering_no_memory(struct gtu_clustering_run *c)
{
	return gtu_fail(c->a.err, GTU_ERR_NOMEM, "%s: out of memory for the neighbours of %llu "
			"vertices", c->a.name,
			(unsigned long long)c->a.g->n);
}

/* Sort the lists: transposing twice restores the graph with sorted lists. */
static int sort_lists(struct gtu_clustering_run *c)
{
	const struct gtu_progress *progress = c->a.opt->progress;
	struct gtu_graph plain = *c->a.g, *transposed = NULL;
	int rc;

	plain.weight = NULL;
	plain.weight_type = GTU_WEIGHT_NONE;
	rc = c->transposed ? 0 : gtu_graph_transpose(&plain, progress, &transposed, c->a.err);
	if (!rc)
		rc = gtu_graph_transpose(c->transposed ? c->transposed : transposed, progress, &c->sorted, c->a.err);
	gtu_graph_close(transposed);
	c->out = c->sorted;
	return rc;
}

int gtu_clustering_neighbours(struct gtu_clustering_run *c)
{
	struct gtu_graph view = *c->a.g;
	int rc = 0;

	c->out = c->a.g;
	c->degree = gtu_array_alloc(c->a.g->n * sizeof(*c->degree));
	if (!c->degree)
		return gtu_clustering_no_memory(c);
	if (!(c->a.g->flags & GTU_GRAPH_DIRECTED)) {
		rc = gtu_team_parallel(&c->team, GTU_CLUSTERING_LIGHT, regular_share, c, c->a.g->n);
		c->simple = !atomic_load(&c->irregular);
		if (rc || c->simple)
			return rc;
	}
	rc = gtu_graph_check(&view, c->a.opt->progress, c->a.err);
	if (!rc)
		rc = gtu_alg_transpose(&c->a, &c->transposed);
	c->in = c->transposed;
	if (!rc)
		rc = gtu_team_parallel(&c->team, GTU_CLUSTERING_LIGHT, count_share, c, c->a.g->n);
	if (rc || !atomic_load(&c->descends))
		return rc;
	rc = sort_lists(c);
	return rc ? rc : gtu_team_parallel(&c->team, GTU_CLUSTERING_LIGHT, count_share, c, c->a.g->n);
}

int gtu_clustering_point_up(struct gtu_clustering_run *c)
{
	const uint64_t n = c->a.g->n;
	struct gtu_graph *up = &c->up;
	uint64_t v, *row;
	int rc;

	row = c->up_row = gtu_array_alloc((n + 1) * sizeof(*row));
	if (!row)
		return gtu_clustering_no_memory(c);
	memset(row, 0, (n + 1) * sizeof(*row));
	up->row = row;
	rc = gtu_team_parallel(&c->team, GTU_CLUSTERING_LIGHT, count_up_share, c, n);
	if (rc)
		return rc;
	for (v = 0; v < n; v++)
		row[v + 1] += row[v];
	up->n = n;
	up->m = row[n];
	up->edge_bytes = c->a.g->edge_bytes;
	up->flags = GTU_GRAPH_DIRECTED | GTU_GRAPH_SORTED | GTU_GRAPH_CHECKED;
	memcpy(up->name, c->a.g->name, sizeof(up->name));
	up->col = c->up_col = gtu_array_alloc((up->m + 1) * up->edge_bytes);
	c->twice = c->in ? gtu_array_alloc(up->m + 1) : NULL;
	if (!up->col || (c->in && !c->twice))
		return gtu_clustering_no_memory(c);
	return gtu_team_parallel(&c->team, GTU_CLUSTERING_LIGHT, fill_up_share, c, n);
}
