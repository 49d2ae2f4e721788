// SPDX-License-Identifier: MIT
/* Computes reference results with plain textbook algorithms. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "reference.h"

/* Allocate n + 1 zeroed elements: never a size of 0. */
static void *array(uint64_t n, size_t width)
{
	return calloc(n + 1, width);
}

int reference_bfs(const struct gtu_graph *g, uint64_t source, uint64_t *level)
{
	uint64_t *queue = array(g->n, sizeof(*queue)), head = 0, tail = 0, u, v, e;

	if (!queue)
		return -1;
	for (v = 0; v < g->n; v++)
		level[v] = UINT64_MAX;
	level[source] = 0;
	queue[tail++] = source;
	while (head < tail) {
		u = queue[head++];
		for (e = g->row[u]; e < g->row[u + 1]; e++) {
			v = gtu_graph_target(g, e);
			if (level[v] != UINT64_MAX)
				continue;
			level[v] = level[u] + 1;
			queue[tail++] = v;
		}
	}
	free(queue);
	return 0;
}

/* ---- Dijkstra --------------------------------------------------------------------------------- */

/* A path length in each type that sums may have; only the one for the graph's weights is used. */
struct length {
	uint64_t u;
	float f;
	double d;
};

static bool shorter(const struct gtu_graph *g, struct length a, struct length b)
{
	switch (g->weight_type) {
	case GTU_WEIGHT_F32: return a.f < b.f;
	case GTU_WEIGHT_F64: return a.d < b.d;
	}
	return a.u < b.u;
}

static struct length longer_by(const struct gtu_graph *g, struct length a, uint64_t e)
{
	switch (g->weight_type) {
	case GTU_WEIGHT_U32: a.u += ((const uint32_t *)g->weight)[e]; break;
	case GTU_WEIGHT_F32: a.f += ((const float *)g->weight)[e]; break;
	case GTU_WEIGHT_F64: a.d += ((const double *)g->weight)[e]; break;
	default: a.u++;
	}
	return a;
}

struct heap {
	const struct gtu_graph *g;
	struct length *length;		/* by vertex */
	uint64_t *vertex, count;	/* the heap */
	uint64_t *position;		/* by vertex: its index in the heap + 1; 0: not in the heap */
};

static void put(struct heap *h, uint64_t at, uint64_t v)
{
	h->vertex[at] = v;
	h->position[v] = at + 1;
}

static void sift_up(struct heap *h, uint64_t v)
{
	uint64_t at = h->position[v] - 1, above;

	for (; at; at = above) {
		above = (at - 1) / 2;
		if (!shorter(h->g, h->length[v], h->length[h->vertex[above]]))
			break;
		put(h, at, h->vertex[above]);
	}
	put(h, at, v);
}

static uint64_t take_first(struct heap *h)
{
	uint64_t first = h->vertex[0], last = h->vertex[--h->count], at = 0, below;

	for (; (below = 2 * at + 1) < h->count; at = below) {
		if (below + 1 < h->count && shorter(h->g, h->length[h->vertex[below + 1]],
						    h->length[h->vertex[below]]))
			below++;
		if (!shorter(h->g, h->length[h->vertex[below]], h->length[last]))
			break;
		put(h, at, h->vertex[below]);
	}
	if (h->count)
		put(h, at, last);
	h->position[first] = 0;
	return first;
}

static void dijkstra(struct heap *h, uint64_t source, bool *reached)
{
	const struct gtu_graph *g = h->g;
	struct length length;
	uint64_t u, v, e;

	reached[source] = true;
	h->count = 1;
	put(h, 0, source);
	while (h->count) {
		u = take_first(h);
		for (e = g->row[u]; e < g->row[u + 1]; e++) {
			v = gtu_graph_target(g, e);
			length = longer_by(g, h->length[u], e);
			if (reached[v] && !shorter(g, length, h->length[v]))
				continue;
			h->length[v] = length;
			if (!h->position[v]) {
				reached[v] = true;
				put(h, h->count++, v);
			}
			sift_up(h, v);
		}
	}
}

int reference_sssp(const struct gtu_graph *g, uint64_t source, double *distance)
{
	struct heap h = { .g = g };
	bool *reached = array(g->n, sizeof(*reached));
	uint64_t v;
	int rc = -1;

	h.length = array(g->n, sizeof(*h.length));
	h.vertex = array(g->n, sizeof(*h.vertex));
	h.position = array(g->n, sizeof(*h.position));
	if (reached && h.length && h.vertex && h.position) {
		dijkstra(&h, source, reached);
		for (v = 0; v < g->n; v++)
			distance[v] = !reached[v] ? INFINITY :
				      g->weight_type == GTU_WEIGHT_F32 ? h.length[v].f :
				      g->weight_type == GTU_WEIGHT_F64 ? h.length[v].d :
									 (double)h.length[v].u;
		rc = 0;
	}
	free(h.position);
	free(h.vertex);
	free(h.length);
	free(reached);
	return rc;
}

/* ---- PageRank --------------------------------------------------------------------------------- */

/* One iteration from @rank to @next; in-edges of v: source[first[v]] .. source[first[v + 1] - 1]. */
static double iterate(const struct gtu_graph *g, const uint64_t *first, const uint64_t *source,
		      double damping, const double *rank, double *next)
{
	double n = (double)g->n, dangling = 0, change = 0, sum;
	uint64_t v, i, u;

	for (v = 0; v < g->n; v++)
		if (g->row[v] == g->row[v + 1])
			dangling += rank[v];
	for (v = 0; v < g->n; v++) {
		sum = 0;
		for (i = first[v]; i < first[v + 1]; i++) {
			u = source[i];
			sum += rank[u] / (double)(g->row[u + 1] - g->row[u]);
		}
		next[v] = (1 - damping) / n + damping * (sum + dangling / n);
		change = fmax(change, fabs(next[v] - rank[v]));
	}
	return change;
}

int reference_pagerank_from(const struct gtu_graph *g, double damping, uint64_t iterations, double *rank,
			    double *change)
{
	uint64_t *first = array(g->n + 1, sizeof(*first)), *source = array(g->m, sizeof(*source));
	double *next = array(g->n, sizeof(*next));
	uint64_t u, v, e, i;
	int rc = -1;

	if (first && source && next) {
		for (e = 0; e < g->m; e++)
			first[gtu_graph_target(g, e) + 1]++;
		for (v = 0; v < g->n; v++)
			first[v + 1] += first[v];
		/*
		 * filling advances first[v] to the start of v + 1; shift the array back afterwards
		 */
		for (u = 0; u < g->n; u++)
			for (e = g->row[u]; e < g->row[u + 1]; e++)
				source[first[gtu_graph_target(g, e)]++] = u;
		for (v = g->n; v > 0; v--)
			first[v] = first[v - 1];
		first[0] = 0;

		*change = 0;
		for (i = 0; i < iterations; i++) {
			*change = iterate(g, first, source, damping, rank, next);
			for (v = 0; v < g->n; v++)
				rank[v] = next[v];
		}
		rc = 0;
	}
	free(next);
	free(source);
	free(first);
	return rc;
}

int reference_pagerank(const struct gtu_graph *g, double damping, uint64_t iterations, double *rank,
		       double *change)
{
	uint64_t v;

	for (v = 0; v < g->n; v++)
		rank[v] = 1 / (double)g->n;
	return reference_pagerank_from(g, damping, iterations, rank, change);
}

/* ---- Components ------------------------------------------------------------------------------- */

static uint64_t root_of(const uint64_t *parent, uint64_t v)
{
	while (parent[v] != v)
		v = parent[v];
	return v;
}

int reference_components(const struct gtu_graph *g, uint64_t *component)
{
	uint64_t *parent = array(g->n, sizeof(*parent)), *size = array(g->n, sizeof(*size));
	uint64_t *lowest = array(g->n, sizeof(*lowest)), u, v, e, a, b, small;
	int rc = -1;

	if (parent && size && lowest) {
		for (v = 0; v < g->n; v++) {
			parent[v] = v;
			size[v] = 1;
			lowest[v] = UINT64_MAX;
		}
		for (u = 0; u < g->n; u++) {
			for (e = g->row[u]; e < g->row[u + 1]; e++) {
				a = root_of(parent, u);
				b = root_of(parent, gtu_graph_target(g, e));
				if (a == b)
					continue;
				small = size[a] < size[b] ? a : b;
				parent[small] = small == a ? b : a;
				size[parent[small]] += size[small];
			}
		}
		/*
		 * vertices are visited in ascending order: the first of each component is its
		 * lowest
		 */
		for (v = 0; v < g->n; v++) {
			a = root_of(parent, v);
			if (lowest[a] == UINT64_MAX)
				lowest[a] = v;
			component[v] = lowest[a];
		}
		rc = 0;
	}
	free(lowest);
	free(size);
	free(parent);
	return rc;
}

/* ---- Betweenness --------------------------------------------------------------------------------- */

struct brandes {
	uint64_t *level, *order;
	struct paths {
		long double m;
		int e;			/* m 2^e */
	} *paths;
	double *share;
};

static void add_paths(struct paths *to, struct paths x)
{
	struct paths more = *to;
	int e;

	if (more.m == 0 || x.e > more.e) {
		more = x;
		x = *to;
	}
	to->m = frexpl(more.m + ldexpl(x.m, x.e - more.e), &e);
	to->e = more.e + e;
}

static void brandes_from(const struct gtu_graph *g, uint64_t source, struct brandes *b, double *score)
{
	uint64_t v, e, target, head, tail = 0;

	for (v = 0; v < g->n; v++) {
		b->level[v] = UINT64_MAX;
		b->paths[v] = (struct paths){ 0 };
		b->share[v] = 0;
	}
	b->level[source] = 0;
	b->paths[source].m = 1;
	b->order[tail++] = source;
	for (head = 0; head < tail; head++) {
		v = b->order[head];
		for (e = g->row[v]; e < g->row[v + 1]; e++) {
			target = gtu_graph_target(g, e);
			if (b->level[target] == UINT64_MAX) {
				b->level[target] = b->level[v] + 1;
				b->order[tail++] = target;
			}
			if (b->level[target] == b->level[v] + 1)
				add_paths(&b->paths[target], b->paths[v]);
		}
	}
	while (head-- > 0) {
		v = b->order[head];
		for (e = g->row[v]; e < g->row[v + 1]; e++) {
			target = gtu_graph_target(g, e);
			if (b->level[target] == b->level[v] + 1)
				b->share[v] += (double)ldexpl(b->paths[v].m / b->paths[target].m,
							      b->paths[v].e - b->paths[target].e) * (1 + b->share[target]);
		}
		if (v != source)
			score[v] += b->share[v];
	}
}

int reference_betweenness(const struct gtu_graph *g, const uint64_t *sources, uint64_t count,
			  double *score)
{
	struct brandes b = { array(g->n, 8), array(g->n, 8), array(g->n, sizeof(*b.paths)), array(g->n, 8) };
	uint64_t i;
	int rc = -1;

	if (b.level && b.order && b.paths && b.share) {
		for (i = 0; i < g->n; i++)
			score[i] = 0;
		for (i = 0; i < (sources ? count : g->n); i++)
			brandes_from(g, sources ? sources[i] : i, &b, score);
		rc = 0;
	}
	free(b.level);
	free(b.order);
	free(b.paths);
	free(b.share);
	return rc;
}

/* ---- Core numbers ---------------------------------------------------------------------------------- */

/*
 * Remove the vertex with the fewest neighbours repeatedly; core[v] is the greatest such count so
 * far.
 */
static int peel(const struct gtu_graph *g, uint64_t *core)
{
	const struct gtu_graph plain = { .weight_type = GTU_WEIGHT_NONE };
	struct heap h = { &plain, array(g->n, sizeof(*h.length)), array(g->n, 8), 0, array(g->n, 8) };
	uint64_t u, v, e, k = 0;
	int rc = h.length && h.vertex && h.position ? 0 : -1;

	for (v = 0; !rc && v < g->n; v++) {
		for (e = g->row[v]; e < g->row[v + 1]; e++)
			h.length[v].u += gtu_graph_target(g, e) != v;
		put(&h, h.count++, v);
		sift_up(&h, v);
	}
	while (!rc && h.count) {
		u = take_first(&h);
		k = h.length[u].u > k ? h.length[u].u : k;
		core[u] = k;
		for (e = g->row[u]; e < g->row[u + 1]; e++) {
			v = gtu_graph_target(g, e);
			if (!h.position[v])
				continue;
			h.length[v].u--;
			sift_up(&h, v);
		}
	}
	free(h.length);
	free(h.vertex);
	free(h.position);
	return rc;
}

int reference_cores(const struct gtu_graph *g, uint64_t *core)
{
	struct gtu_graph *both = NULL;
	struct gtu_error err;
	int rc;

	if (g->flags & GTU_GRAPH_DIRECTED && gtu_graph_symmetrize(g, NULL, &both, &err))
		return -1;
	rc = peel(both ? both : g, core);
	gtu_graph_close(both);
	return rc;
}

/* ---- Graph convolution -------------------------------------------------------------------------------- */

static long double weight_at(const struct gtu_graph *g, uint64_t e)
{
	switch (g->weight_type) {
	case GTU_WEIGHT_U32: return ((const uint32_t *)g->weight)[e];
	case GTU_WEIGHT_F32: return ((const float *)g->weight)[e];
	case GTU_WEIGHT_F64: return ((const double *)g->weight)[e];
	}
	return 1;
}

static long double degree_of(const struct gtu_graph *g, uint64_t v)
{
	return g->row[v + 1] > g->row[v] ? g->row[v + 1] - g->row[v] : 1;
}

/* Features are independent: compute z one feature at a time. */
int reference_gcn(const struct gtu_graph *g, uint32_t features, uint64_t seed, double *z, double *magnitude)
{
	long double *y = array(g->n, sizeof(*y)), *size = array(g->n, sizeof(*size)), x, sum, all, factor;
	uint64_t v, u, e;
	uint32_t f;
	int rc = y && size ? 0 : -1;

	for (f = 0; !rc && f < features; f++) {
		for (v = 0; v < g->n; v++) {
			y[v] = size[v] = 0;
			for (e = g->row[v]; e < g->row[v + 1]; e++) {
				x = weight_at(g, e) * gtu_gcn_feature(seed, gtu_graph_target(g, e), f);
				y[v] += x;
				size[v] += x < 0 ? -x : x;
			}
		}
		for (v = 0; v < g->n; v++) {
			sum = all = 0;
			for (e = g->row[v]; e < g->row[v + 1]; e++) {
				u = gtu_graph_target(g, e);
				factor = 1 / sqrtl(degree_of(g, v) * degree_of(g, u));
				sum += y[u] * factor;
				all += size[u] * factor;
			}
			z[v * features + f] = (double)sum;
			magnitude[v * features + f] = (double)all;
		}
	}
	free(y);
	free(size);
	return rc;
}

/* ---- Labels, clustering ------------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/*
 * Sorted neighbours of v, in either direction: of[at[v] .. at[v + 1]). Sizes: @at n + 2, @of 2 m.
 */
static void neighbours_of(const struct gtu_graph *g, uint64_t *at, uint64_t *of)
{
	const int ways = g->flags & GTU_GRAPH_DIRECTED ? 2 : 1;
	uint64_t v, e;

	for (v = 0; v < g->n; v++)
		for (e = g->row[v]; e < g->row[v + 1]; e++) {
			at[v + 2]++;
			if (ways == 2)
				at[gtu_graph_target(g, e) + 2]++;
		}
	for (v = 0; v < g->n; v++)
		at[v + 2] += at[v + 1];
	for (v = 0; v < g->n; v++)
		for (e = g->row[v]; e < g->row[v + 1]; e++) {
			of[at[v + 1]++] = gtu_graph_target(g, e);
			if (ways == 2)
				of[at[gtu_graph_target(g, e) + 1]++] = v;
		}
	for (v = 0; v < g->n; v++)
		qsort(of + at[v], at[v + 1] - at[v], sizeof(*of), ascending);
}

/*
 * The value of the longest run of equal values in a sorted array; the first if several are longest.
 */
static uint64_t longest_run(const uint64_t *x, uint64_t count)
{
	uint64_t i, run = 0, max = 0, found = 0;

	for (i = 0; i < count; i++) {
		run = i && x[i] == x[i - 1] ? run + 1 : 1;
		if (run > max) {
			max = run;
			found = x[i];
		}
	}
	return found;
}

int reference_labels(const struct gtu_graph *g, uint64_t iterations, uint64_t *label)
{
	uint64_t *at = array(g->n + 1, 8), *of = array(2 * g->m, 8), *next = array(g->n, 8), *list = array(2 * g->m, 8);
	uint64_t v, i, count;
	int rc = at && of && next && list ? 0 : -1;

	if (!rc)
		neighbours_of(g, at, of);
	for (v = 0; !rc && v < g->n; v++)
		label[v] = v;
	for (; !rc && iterations; iterations--) {
		for (v = 0; v < g->n; v++) {
			count = at[v + 1] - at[v];
			for (i = 0; i < count; i++)
				list[i] = label[of[at[v] + i]];
			qsort(list, count, sizeof(*list), ascending);
			next[v] = count ? longest_run(list, count) : label[v];
		}
		for (v = 0; v < g->n; v++)
			label[v] = next[v];
	}
	free(at);
	free(of);
	free(next);
	free(list);
	return rc;
}

int reference_clustering(const struct gtu_graph *g, double *coefficient)
{
	uint64_t *at = array(g->n + 1, 8), *of = array(2 * g->m, 8), *mark = array(g->n, 8), *met = array(g->n, 8);
	uint64_t v, u, w, i, e, count, closed, stamp = 0;
	int rc = at && of && mark && met ? 0 : -1;

	if (!rc)
		neighbours_of(g, at, of);
	for (v = 0; !rc && v < g->n; v++) {
		for (count = closed = 0, i = at[v]; i < at[v + 1]; i++)
			if (of[i] != v && mark[of[i]] != v + 1) {
				mark[of[i]] = v + 1;
				count++;
			}
		for (i = at[v]; i < at[v + 1]; i++) {
			u = of[i];
			if (u == v || (i > at[v] && u == of[i - 1]))
				continue;
			/* count each of u's targets once, whatever its multiplicity */
			for (stamp++, e = g->row[u]; e < g->row[u + 1]; e++) {
				w = gtu_graph_target(g, e);
				closed += w != u && mark[w] == v + 1 && met[w] != stamp;
				met[w] = stamp;
			}
		}
		coefficient[v] = count < 2 ? 0 : (double)closed / ((double)count * (double)(count - 1));
	}
	free(at);
	free(of);
	free(mark);
	free(met);
	return rc;
}

uint64_t reference_same_color(const struct gtu_graph *g, const uint32_t *color)
{
	uint64_t v, e;

	for (v = 0; v < g->n; v++)
		for (e = g->row[v]; e < g->row[v + 1]; e++)
			if (gtu_graph_target(g, e) != v && color[gtu_graph_target(g, e)] == color[v])
				return e;
	return UINT64_MAX;
}
