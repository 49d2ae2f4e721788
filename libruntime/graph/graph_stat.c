// SPDX-License-Identifier: MIT
/* Measures degrees and components of a graph. */
#include <stdlib.h>
#include <string.h>

#include "graph_internal.h"
#include "libruntime/support/union_find.h"

struct measure {
	const struct gtu_graph *g;
	struct gtu_graph_stat *stat;
	uint64_t *parent;		/* union-find forest; initially each vertex is a root */
	uint64_t *seen;			/* unsorted graphs: the last vertex with this target, + 1 */
	uint64_t *has_in;		/* one bit per vertex */
};

static void measure_vertex(struct measure *s, uint64_t v)
{
	const struct gtu_graph *g = s->g;
	uint64_t first = g->row[v], end = g->row[v + 1], e, t, last = GTU_NO_VERTEX;
	uint64_t degree = end - first;
	struct gtu_graph_stat *stat = s->stat;

	stat->histogram[degree ? 64 - __builtin_clzll(degree) : 0]++;
	if (degree < stat->min_degree)
		stat->min_degree = degree;
	if (degree > stat->max_degree) {
		stat->max_degree = degree;
		stat->max_vertex = v;
	}
	for (e = first; e < end; e++) {
		t = gtu_graph_target(g, e);
		s->has_in[t / 64] |= 1ull << (t % 64);
		stat->self_loops += t == v;
		if (s->seen) {
			stat->duplicates += s->seen[t] == v + 1;
			s->seen[t] = v + 1;
		} else {
			stat->duplicates += t == last;
		}
		if (t != last)
			gtu_join(s->parent, v, t);
		last = t;
	}
}

/* @size holds n elements; cleared here. */
static void count_components(struct measure *s, uint64_t *size)
{
	struct gtu_graph_stat *stat = s->stat;
	uint64_t v, root;

	/*
	 * parents are never greater than their children, so in ascending order every parent is
	 * already a root
	 */
	for (v = 0; v < s->g->n; v++) {
		root = s->parent[v] = s->parent[s->parent[v]];
		if (root == v) {
			stat->components++;
			size[v] = 0;
		}
		if (++size[root] > stat->largest_component)
			stat->largest_component = size[root];
		stat->isolated += s->g->row[v] == s->g->row[v + 1] && !(s->has_in[v / 64] >> (v % 64) & 1);
	}
}

int gtu_graph_measure(const struct gtu_graph *g, const struct gtu_progress *progress,
		      struct gtu_graph_stat *stat, struct gtu_error *err)
{
	struct measure s = { .g = g, .stat = stat };
	struct gtu_graph view = *g;
	uint64_t v, *seen;
	int rc;

	memset(stat, 0, sizeof(*stat));
	rc = gtu_graph_check(&view, progress, err);
	if (rc)
		return rc;
	stat->n = g->n;
	stat->m = g->m;
	stat->stored = g->stored;
	if (!g->n)
		return 0;
	stat->mean_degree = (double)g->m / (double)g->n;
	stat->min_degree = UINT64_MAX;
	s.parent = malloc(g->n * sizeof(*s.parent));
	seen = calloc(g->n, sizeof(*seen));
	s.has_in = calloc(g->n / 64 + 1, sizeof(*s.has_in));
	/* do not trust a container's GTU_GRAPH_SORTED for counting duplicates */
	s.seen = g->flags & GTU_GRAPH_SORTED && !g->backing->map ? NULL : seen;
	if (!s.parent || !seen || !s.has_in)
		rc = gtu_fail(err, GTU_ERR_NOMEM, "out of memory measuring %llu vertices",
			      (unsigned long long)g->n);
	for (v = 0; v < g->n && !rc; v++)
		s.parent[v] = v;
	for (v = 0; v < g->n && !rc; v++) {
		measure_vertex(&s, v);
		if (v % 65536 == 0 && gtu_tick(progress, "measuring", v, g->n))
			rc = gtu_fail(err, GTU_ERR_INTERRUPTED, "measuring %s was stopped", g->name);
	}
	if (!rc)
		count_components(&s, seen);
	free(s.parent);
	free(seen);
	free(s.has_in);
	return rc;
}
