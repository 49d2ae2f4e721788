// SPDX-License-Identifier: MIT
/* Renumber the vertices of a graph by its communities. */
#include "graph_community.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

/* Edges from a community to others; a target may since have been merged into another one. */
struct link {
	uint32_t to, edges;
};

struct forest {
	const struct gtu_graph *g;
	uint32_t *up;			/* union-find: the community that a vertex was merged into; itself: a root */
	uint32_t *child, *last, *next;	/* the tree of merges: first and last child, next sibling */
	double *degree;			/* of a root's community */
	struct link *link;		/* links of the vertices that were handled */
	uint64_t *first;		/* of a vertex in link; its number is in count */
	uint32_t *count;
	uint64_t links, capacity;
	uint32_t *edges;		/* from the current community, by root */
	uint32_t *touched;		/* roots whose edges are not 0 */
	uint32_t touches;
};

static uint32_t root_of(struct forest *f, uint32_t v)
{
	for (; f->up[v] != v; v = f->up[v])
		f->up[v] = f->up[f->up[v]];
	return v;
}

static void count_edges(struct forest *f, uint32_t own, uint32_t to, uint32_t edges)
{
	to = root_of(f, to);
	if (to == own)
		return;
	if (!f->edges[to])
		f->touched[f->touches++] = to;
	f->edges[to] += edges;
}

/* Keep the links of @v, and return the root with the largest gain in modularity, or NONE. */
static uint32_t best_neighbor(struct forest *f, uint32_t v, bool *ok)
{
	const double all = (double)f->g->m;
	double gain, most = 0;
	uint32_t best = NONE, i, c;
	uint64_t e, k;

	f->touches = 0;
	for (e = f->g->row[v]; e < f->g->row[v + 1]; e++)
		count_edges(f, v, (uint32_t)gtu_graph_target(f->g, e), 1);
	for (c = f->child[v]; c != NONE; c = f->next[c])
		for (k = f->first[c]; k < f->first[c] + f->count[c]; k++)
			count_edges(f, v, f->link[k].to, f->link[k].edges);
	if (f->links + f->touches > f->capacity) {
		struct link *more = realloc(f->link, (2 * f->capacity + f->touches) * sizeof(*more));

		*ok = more;
		if (!more)
			return NONE;
		f->link = more;
		f->capacity = 2 * f->capacity + f->touches;
	}
	f->first[v] = f->links;
	f->count[v] = f->touches;
	for (i = 0; i < f->touches; i++) {
		uint32_t to = f->touched[i];

		gain = f->edges[to] - f->degree[v] * f->degree[to] / all;
		if (gain > most) {
			most = gain;
			best = to;
		}
		f->link[f->links++] = (struct link){ to, f->edges[to] };
		f->edges[to] = 0;
	}
	return best;
}

static void merge(struct forest *f, uint32_t v, uint32_t into)
{
	f->up[v] = into;
	f->degree[into] += f->degree[v];
	if (f->child[into] == NONE)
		f->child[into] = v;
	else
		f->next[f->last[into]] = v;
	f->last[into] = v;
}

/* Number each tree in depth-first order: a vertex, then what was merged into it. */
static void number(struct forest *f, uint32_t *stack, uint32_t *id)
{
	uint32_t v, at, n = 0, depth;

	for (v = 0; v < f->g->n; v++) {
		if (f->up[v] != v)
			continue;
		stack[0] = v;
		for (depth = 1; depth;) {
			at = stack[--depth];
			id[at] = n++;
			if (at != v && f->next[at] != NONE)
				stack[depth++] = f->next[at];
			if (f->child[at] != NONE)
				stack[depth++] = f->child[at];
		}
	}
}

/* The vertices by ascending degree; counting sort. False: out of memory. */
static bool by_degree(const struct gtu_graph *g, uint32_t *order)
{
	uint64_t v, d, most = 0, *begin;

	for (v = 0; v < g->n; v++)
		most = g->row[v + 1] - g->row[v] > most ? g->row[v + 1] - g->row[v] : most;
	begin = calloc(most + 2, 8);
	if (!begin)
		return false;
	for (v = 0; v < g->n; v++)
		begin[g->row[v + 1] - g->row[v] + 1]++;
	for (d = 0; d <= most; d++)
		begin[d + 1] += begin[d];
	for (v = 0; v < g->n; v++)
		order[begin[g->row[v + 1] - g->row[v]]++] = (uint32_t)v;
	free(begin);
	return true;
}

static int renumber(const struct gtu_graph *g, const uint32_t *id, struct gtu_graph **out, struct gtu_error *err)
{
	const struct gtu_read_options build = { .direction = GTU_UNDIRECTED };
	uint64_t *from = malloc(8 * (g->m / 2 + 1)), *to = malloc(8 * (g->m / 2 + 1)), v, e, t, n = 0;
	int rc = from && to ? 0 : gtu_fail(err, GTU_ERR_NOMEM, "out of memory for the edges of %s", g->name);

	for (v = 0; v < g->n && !rc; v++)
		for (e = g->row[v]; e < g->row[v + 1]; e++) {
			t = gtu_graph_target(g, e);
			if (v < t) {
				from[n] = id[v];
				to[n++] = id[t];
			}
		}
	rc = rc ? rc : gtu_graph_from_edges(g->n, n, from, to, GTU_WEIGHT_NONE, NULL, &build, out, err);
	if (!rc)
		snprintf((*out)->name, sizeof((*out)->name), "%.100s by communities", g->name);
	free(from);
	free(to);
	return rc;
}

int graph_community_order(const struct gtu_graph *g, struct gtu_graph **out, struct gtu_error *err)
{
	const size_t n = (size_t)g->n + 1;
	struct forest f = { .g = g, .up = malloc(4 * n), .child = malloc(4 * n), .last = malloc(4 * n), .next = malloc(4 * n),
			    .degree = malloc(8 * n), .first = malloc(8 * n), .count = malloc(4 * n), .edges = calloc(n, 4),
			    .touched = malloc(4 * n) };
	uint32_t *order = malloc(4 * n), *id = malloc(4 * n), v, i, best;
	bool ok = f.up && f.child && f.last && f.next && f.degree && f.first && f.count && f.edges && f.touched && order && id;
	int rc;

	ok = ok && g->n < NONE && by_degree(g, order);
	for (v = 0; v < g->n && ok; v++) {
		f.up[v] = v;
		f.child[v] = f.next[v] = NONE;
		f.degree[v] = (double)(g->row[v + 1] - g->row[v]);
	}
	for (i = 0; i < g->n && ok; i++) {
		best = best_neighbor(&f, order[i], &ok);
		if (best != NONE)
			merge(&f, order[i], best);
	}
	if (ok)
		number(&f, order, id);
	rc = ok ? renumber(g, id, out, err) : gtu_fail(err, GTU_ERR_NOMEM, "out of memory for the communities of %s", g->name);
	free(f.up);
	free(f.child);
	free(f.last);
	free(f.next);
	free(f.degree);
	free(f.link);
	free(f.first);
	free(f.count);
	free(f.edges);
	free(f.touched);
	free(order);
	free(id);
	return rc;
}
