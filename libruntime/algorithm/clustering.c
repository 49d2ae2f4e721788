// SPDX-License-Identifier: MIT
/*
 * Local clustering coefficients as specified by LDBC Graphalytics (specification 1.0, section
 * 2.3.5).
 *
 * Each triangle is found once. Edges are oriented from the vertex with fewer neighbours to the one
 * with more, so that no vertex has more than sqrt(2 m) outgoing edges; two edges from one vertex
 * either are closed by a third or not (Chiba and Nishizeki; Schank and Wagner, "forward"). A
 * triangle counts 1 for a corner, or 2 if the opposite side is an edge in both directions.
 */
#include <string.h>

#include "clustering.h"
#include "libruntime/support/traverse.h"

#define SHARE		128u		/* vertices per work share */
#define SIEVE_LOG2	4
#define SIEVE		(1u << SIEVE_LOG2)	/* filter bits per table slot */
#define FEW		4u		/* edges up to which no table is built */
#define HITS		256u		/* entries looked up in the sieve at once */
#define GROUP		(1u << 16)	/* oriented edges per group, with a unit */

/* ---- Triangles, without a unit ------------------------------------------------------------------------ */

static inline uint64_t weight(const struct gtu_clustering_run *c, uint64_t e)
{
	return c->twice ? 1u + c->twice[e] : 2;
}

static inline void add(struct gtu_clustering_run *c, uint64_t v, uint64_t count)
{
	if (count)
		atomic_fetch_add_explicit(&c->closed[v], count, memory_order_relaxed);
}

/* A slot of a hash table: position of a neighbour in v's list, from 1; 0: the slot is free. */
struct slot {
	uint32_t key, position;
};

/* The low 32 bits identify a vertex if there are at most 2^32 - 1. */
static inline uint32_t key_of(uint64_t u)
{
	return (uint32_t)u + 1;
}

static inline uint64_t hash(uint64_t u)
{
	return u * 0x9e3779b97f4a7c15u;
}

static inline struct slot *find(struct slot *table, unsigned shift, uint64_t mask, uint64_t u)
{
	uint64_t at = hash(u) >> shift;

	while (table[at].position && table[at].key != key_of(u))
		at = (at + 1) & mask;
	return &table[at];
}

/* The neighbours of one vertex while its triangles are counted. */
struct corner {
	struct slot *table;
	uint64_t *sieve;		/* bits: most misses end at a clear one */
	uint64_t *closed;		/* triangles by neighbour */
	uint64_t mask;
	unsigned shift;
};

/*
 * Count the triangles of v's neighbour at entry @p; returns the edges traversed. Hits of the sieve are
 * collected without a branch, which would be predicted wrongly once per triangle.
 */
static inline __attribute__((always_inline)) uint64_t close_edge(struct gtu_clustering_run *c, const struct corner *of,
								 uint64_t first, uint64_t p, uint64_t *of_v,
								 uint32_t width)
{
	const struct gtu_graph *up = &c->up;
	const uint64_t u = gtu_get(up->col, width, first + p), start = up->row[u], end = up->row[u + 1];
	const unsigned shift = of->shift - SIEVE_LOG2;
	uint32_t hit[HITS];
	uint64_t e, q, hole, of_u = 0;
	unsigned i, n, hits;
	struct slot *at;

	for (e = start; e < end; e += n) {
		n = end - e < HITS ? (unsigned)(end - e) : HITS;
		for (i = hits = 0; i < n; i++) {
			hole = hash(gtu_get(up->col, width, e + i)) >> shift;
			hit[hits] = i;
			hits += of->sieve[hole >> 6] >> (hole & 63) & 1;
		}
		for (i = 0; i < hits; i++) {
			at = find(of->table, of->shift, of->mask, gtu_get(up->col, width, e + hit[i]));
			if (!at->position)
				continue;
			q = at->position - 1;
			*of_v += weight(c, e + hit[i]);
			of_u += weight(c, first + q);
			of->closed[q] += weight(c, first + p);
		}
	}
	of->closed[p] += of_u;
	return end - start;
}

/* close_from() for a vertex with few edges: compares lists instead of building a table. */
static uint64_t close_few(struct gtu_clustering_run *c, uint64_t v)
{
	const struct gtu_graph *up = &c->up;
	const uint64_t first = up->row[v], last = up->row[v + 1];
	uint64_t p, q, e, end, u, w, edges = 0;

	for (p = first; p < last; p++) {
		u = gtu_graph_target(up, p);
		end = up->row[u + 1];
		edges += end - up->row[u];
		for (q = first, e = up->row[u]; e < end && q < last; e++) {
			w = gtu_graph_target(up, e);
			while (q < last && gtu_graph_target(up, q) < w)
				q++;
			if (q == last || gtu_graph_target(up, q) != w)
				continue;
			add(c, v, weight(c, e));
			add(c, u, weight(c, q));
			add(c, w, weight(c, p));
		}
	}
	return edges;
}

/*
 * Count the triangles whose corner with the fewest neighbours is @v. Returns the edges traversed,
 * or GTU_NO_VERTEX if out of memory.
 */
static uint64_t close_from(struct gtu_clustering_run *c, struct gtu_alg_scratch *s, uint64_t v)
{
	const struct gtu_graph *up = &c->up;
	const uint64_t first = up->row[v], count = up->row[v + 1] - first;
	uint64_t p, u, hole, capacity, bytes, of_v = 0, edges = 0;
	struct corner of;
	struct slot *at;

	if (count < 2)
		return 0;
	if (count <= FEW)
		return close_few(c, v);
	of.shift = (unsigned)__builtin_clzll(2 * count - 1);
	capacity = 1ull << (64 - of.shift);
	of.mask = capacity - 1;
	bytes = capacity * (sizeof(*of.table) + SIEVE / 8) + 8;
	of.table = gtu_alg_scratch_reserve(s, 0, bytes);
	of.closed = gtu_alg_scratch_reserve(s, 1, count * sizeof(*of.closed));
	if (!of.table || !of.closed)
		return GTU_NO_VERTEX;
	of.sieve = (uint64_t *)(of.table + capacity);
	memset(of.table, 0, bytes);
	memset(of.closed, 0, count * sizeof(*of.closed));
	for (p = 0; p < count; p++) {
		u = gtu_graph_target(up, first + p);
		at = find(of.table, of.shift, of.mask, u);
		at->key = key_of(u);
		at->position = (uint32_t)p + 1;
		hole = hash(u) >> (of.shift - SIEVE_LOG2);
		of.sieve[hole >> 6] |= 1ull << (hole & 63);
	}
	for (p = 0; p < count; p++)
		edges += up->edge_bytes == 8 ? close_edge(c, &of, first, p, &of_v, 8) :
					       close_edge(c, &of, first, p, &of_v, 4);
	add(c, v, of_v);
	for (p = 0; p < count; p++)
		add(c, gtu_graph_target(up, first + p), of.closed[p]);
	return edges;
}

static int close_share(void *arg, uint64_t first, uint64_t end)
{
	struct gtu_clustering_run *c = arg;
	struct gtu_alg_scratch *s = gtu_alg_scratch_acquire(&c->shares);
	uint64_t v, some, edges = 0;
	int rc = 0;

	for (v = first; v < end && !rc; v++) {
		some = close_from(c, s, v);
		if (some == GTU_NO_VERTEX)
			rc = GTU_ERR_NOMEM;
		else
			edges += some;
	}
	gtu_alg_scratch_release(s);
	return rc ? rc : gtu_alg_shares_progress(&c->shares, edges);
}

/* ---- Triangles, with a unit that streams edges -------------------------------------------------------- */

/* The entry of @v's list with target @w, or GTU_NO_VERTEX. */
static uint64_t entry_to(const struct gtu_graph *up, uint64_t v, uint64_t w)
{
	uint64_t low = up->row[v], high = up->row[v + 1], middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (gtu_graph_target(up, middle) < w)
			low = middle + 1;
		else
			high = middle;
	}
	return low < up->row[v + 1] && gtu_graph_target(up, low) == w ? low : GTU_NO_VERTEX;
}

/*
 * Visitor: the edge from u to w closes a triangle for each vertex of the group with edges to both.
 */
static int close_streamed(void *context, const struct gtu_alg_batch *batch)
{
	struct gtu_clustering_run *c = context;
	const uint32_t *slot = c->slot.region.addr, *owner = c->owner.region.addr;
	const uint64_t *begin = c->begin.region.addr, *requester = c->requester.region.addr;
	uint64_t i, u, w, e, k, p, q, v;

	for (i = 0; i < batch->n; i++) {
		u = batch->source[i];
		w = batch->target[i];
		e = batch->edge[i];
		if (gtu_unlikely(u >= c->up.n || !slot[u] || e < c->up.row[u] || e >= c->up.row[u + 1]))
			return gtu_fail(c->a.err, GTU_ERR_FAIL,
					"the unit returned edge %llu of vertex %llu, which was not "
					"requested: it cannot be trusted",
					(unsigned long long)e, (unsigned long long)u);
		for (k = begin[slot[u] - 1]; k < begin[slot[u]]; k++) {
			p = requester[k];
			v = c->first + owner[p - c->up.row[c->first]];
			q = entry_to(&c->up, v, w);
			if (q == GTU_NO_VERTEX)
				continue;
			add(c, v, weight(c, e));
			add(c, u, weight(c, q));
			add(c, w, weight(c, p));
		}
	}
	c->streamed += batch->n;
	return 0;
}

/* Choose the next group, from c->first on: at least one vertex, at most GROUP or chunk edges. */
static int choose_group(struct gtu_clustering_run *c)
{
	const uint64_t *row = c->up.row, n = c->up.n, max = c->a.chunk < GROUP ? c->a.chunk : GROUP;
	uint64_t entries;
	int rc;

	for (c->end = c->first + 1; c->end < n && row[c->end + 1] - row[c->first] <= max; c->end++)
		;
	entries = row[c->end] - row[c->first];
	rc = gtu_alg_reserve(&c->a, &c->requested.ids, entries * c->a.id_width, false);
	if (!rc)
		rc = gtu_alg_reserve(&c->a, &c->begin, (entries + 2) * 8, false);
	if (!rc)
		rc = gtu_alg_reserve(&c->a, &c->requester, entries * 8, false);
	if (!rc)
		rc = gtu_alg_reserve(&c->a, &c->owner, entries * 4, false);
	return rc;
}

/*
 * For each target of the group with edges of its own, list the entries of the group that request
 * it.
 */
static void list_requesters(struct gtu_clustering_run *c)
{
	const uint64_t *row = c->up.row, base = row[c->first];
	uint32_t *slot = c->slot.region.addr, *owner = c->owner.region.addr;
	uint64_t *begin = c->begin.region.addr, *requester = c->requester.region.addr, v, u, p, i;

	c->requested.count = 0;
	begin[0] = begin[1] = 0;
	for (v = c->first; v < c->end; v++)
		for (p = row[v]; p < row[v + 1]; p++) {
			u = gtu_graph_target(&c->up, p);
			owner[p - base] = (uint32_t)(v - c->first);
			if (row[v + 1] - row[v] < 2 || row[u + 1] == row[u])
				continue;
			if (!slot[u]) {
				gtu_alg_push(&c->a, &c->requested, u);
				slot[u] = (uint32_t)c->requested.count;
				begin[c->requested.count + 1] = 0;
			}
			begin[slot[u] + 1]++;
		}
	/* counts are stored two positions ahead, so that filling moves each start into place */
	for (i = 1; i <= c->requested.count; i++)
		begin[i + 1] += begin[i];
	for (v = c->first; v < c->end; v++)
		for (p = row[v]; row[v + 1] - row[v] > 1 && p < row[v + 1]; p++) {
			u = gtu_graph_target(&c->up, p);
			if (slot[u])
				requester[begin[slot[u]]++] = p;
		}
}

static int close_by_unit(struct gtu_clustering_run *c)
{
	uint32_t *slot;
	uint64_t i, u, wanted;
	int rc = gtu_alg_reserve(&c->a, &c->slot, c->up.n * 4, false);

	c->edges.edge_indices = true;
	if (!rc)
		rc = gtu_alg_edges_begin(&c->a, &c->edges, &c->up, c->up.edge_bytes);
	for (c->first = 0; c->first < c->up.n && !rc; c->first = c->end) {
		rc = choose_group(c);
		if (rc)
			break;
		list_requesters(c);
		c->streamed = wanted = 0;
		for (i = 0; i < c->requested.count; i++) {
			u = gtu_alg_vertex(&c->a, &c->requested, i);
			wanted += c->up.row[u + 1] - c->up.row[u];
		}
		if (c->requested.count)
			rc = gtu_alg_for_each_edge(&c->a, &c->edges, &c->requested, close_streamed, c);
		if (!rc && c->streamed != wanted)
			rc = gtu_fail(c->a.err, GTU_ERR_FAIL, "the unit returned %llu of %llu "
				      "edges: it cannot be trusted",
				      (unsigned long long)c->streamed, (unsigned long long)wanted);
		slot = c->slot.region.addr;
		for (i = 0; i < c->requested.count; i++)
			slot[gtu_alg_vertex(&c->a, &c->requested, i)] = 0;
	}
	return gtu_alg_edges_end(&c->a, &c->edges, rc);
}

/* ---- Triangles, on a GPU ------------------------------------------------------------------------------ */

/* Each entry of the oriented graph counts its weight: 2 if the edge is stored in both directions. */
static int close_on_gpu(struct gtu_clustering_run *c)
{
	struct gtu_algorithm_stats stats, *all = c->a.stats;
	struct gtu_graph up = c->up;
	uint32_t *counts = NULL;
	uint64_t e;
	int rc;

	if (c->twice) {
		counts = gtu_array_alloc((up.m + 1) * sizeof(*counts));
		if (!counts)
			return gtu_clustering_no_memory(c);
		for (e = 0; e < up.m; e++)
			counts[e] = (uint32_t)weight(c, e);
		up.weight = counts;
		up.weight_type = GTU_WEIGHT_U32;
	}
	rc = gtu_traverse_derived(c->gpu, c->a.g, &up, GTU_TRAVERSE_TRIANGLES, c->gpu_options, c->closed, &stats, c->a.err);
	free(counts);
	if (rc)
		return rc;
	all->edges += stats.edges;
	all->list_bytes = stats.list_bytes;
	all->cached_bytes = stats.cached_bytes;
	all->gpu_seconds = stats.gpu_seconds;
	return 0;
}

/* ---- Entry point ---------------------------------------------------------------------------------------- */

static int clear_share(void *arg, uint64_t first, uint64_t end)
{
	struct gtu_clustering_run *c = arg;
	uint64_t v;

	for (v = first; v < end; v++)
		atomic_init(&c->closed[v], 0);
	return 0;
}

static int divide_share(void *arg, uint64_t first, uint64_t end)
{
	struct gtu_clustering_run *c = arg;
	uint64_t v, d, closed;

	for (v = first; v < end; v++) {
		d = c->degree[v];
		closed = atomic_load_explicit(&c->closed[v], memory_order_relaxed);
		c->coefficient[v] = closed ? (double)closed / ((double)d * (double)(d - 1)) : 0;
	}
	return 0;
}

static int cluster(struct gtu_clustering_run *c)
{
	const uint64_t n = c->a.g->n;
	int rc;

	gtu_phase(&c->a.phases, "neighbours");
	rc = gtu_clustering_neighbours(c);
	if (!rc)
		rc = gtu_clustering_point_up(c);
	c->closed = rc ? NULL : gtu_array_alloc(n * sizeof(*c->closed));
	if (!rc && !c->closed)
		rc = gtu_clustering_no_memory(c);
	if (!rc)
		rc = gtu_team_parallel(&c->team, GTU_CLUSTERING_LIGHT, clear_share, c, n);
	if (rc)
		return rc;
	gtu_phase(&c->a.phases, "triangles");
	rc = c->gpu ? close_on_gpu(c) : c->a.q ? close_by_unit(c) : gtu_team_parallel(&c->team, SHARE, close_share, c, n);
	return rc ? rc : gtu_team_parallel(&c->team, GTU_CLUSTERING_LIGHT, divide_share, c, n);
}

int gtu_clustering(struct gtu_device *dev, const struct gtu_graph *g,
		   const struct gtu_algorithm_options *opt, double *coefficient,
		   struct gtu_algorithm_stats *stats, struct gtu_error *err)
{
	struct gtu_algorithm_options plain = *opt;
	struct gtu_clustering_run *c;
	int rc;

	if (opt->unit == GTU_WITH_IRU)
		return gtu_fail(err, GTU_ERR_UNSUPPORTED,
				"clustering does not run on the IRU: it searches sorted lists and "
				"has no indexed accesses to reorder; use GraphPEG, Weaver or the "
				"SCU");
	c = calloc(1, sizeof(*c));
	if (!c)
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for clustering");
	/* on a GPU, the CPUs orient the graph */
	if (opt->unit == GTU_WITH_GPU) {
		plain.unit = GTU_WITH_NONE;
		c->gpu = dev;
		c->gpu_options = opt;
	}
	rc = gtu_alg_begin(&c->a, "clustering", dev, g, &plain, stats, err);
	if (!rc && opt->unit == GTU_WITH_GPU && !dev)
		rc = gtu_fail(err, GTU_ERR_USAGE, "clustering on a GPU needs a device");
	c->coefficient = coefficient;
	gtu_alg_shares_begin(&c->shares, &c->a);
	gtu_team_begin(&c->team, gtu_cpus());
	if (!rc)
		rc = gtu_alg_require_whole_graph(&c->a);
	/* 32-bit keys must be unique */
	if (!rc && g->n > UINT32_MAX)
		rc = gtu_fail(err, GTU_ERR_UNSUPPORTED, "clustering supports up to 2^32 - 1 "
			      "vertices, but the graph has %llu",
			      (unsigned long long)g->n);
	if (!rc && g->n)
		rc = cluster(c);
	gtu_team_end(&c->team);
	rc = gtu_alg_shares_end(&c->shares, rc);
	if (!rc) {
		gtu_phases_iteration(&c->a.phases, c->a.opt, g->n);
		c->a.stats->vertices = g->n;
	}
	gtu_graph_close(c->transposed);
	gtu_graph_close(c->sorted);
	free(c->up_row);
	free(c->up_col);
	free(c->twice);
	free(c->degree);
	free(c->closed);
	rc = gtu_alg_end(&c->a, rc);
	free(c);
	return rc;
}
