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

#include "shares.h"
#include "libruntime/support/array.h"
#include "for_each_edge.h"

#define SHARE		128u		/* vertices per work share */
#define SIEVE_LOG2	4
#define SIEVE		(1u << SIEVE_LOG2)	/* filter bits per table slot */
#define FEW		4u		/* edges up to which no table is built */
#define HITS		256u		/* entries looked up in the sieve at once */
#define GROUP		(1u << 16)	/* oriented edges per group, with a unit */

struct clustering {
	struct gtu_alg a;
	struct gtu_graph *transposed, *sorted;	/* transpose of a directed graph; copy with sorted lists, if they were not */
	const struct gtu_graph *out, *in;	/* in: NULL if edges are stored in both directions */
	struct gtu_graph up;		/* oriented graph: edges to neighbours with more neighbours, sorted */
	uint64_t *up_row;		/* its arrays */
	void *up_col;
	uint8_t *twice;			/* per entry of up: edge in both directions; NULL: all are */
	uint64_t *degree;		/* number of neighbours */
	atomic_uint_fast64_t *closed;	/* ordered pairs of neighbours joined by an edge */
	atomic_bool descends;		/* a list is not sorted */
	atomic_bool irregular;		/* a list has duplicates or its own vertex, is not sorted or is damaged */
	bool simple;			/* each edge is stored in both directions, and no list is irregular */
	struct gtu_alg_shares shares;
	/* with a unit: the vertices whose edges are requested */
	struct gtu_alg_for_each_edge edges;
	struct gtu_alg_frontier requested;
	struct gtu_alg_buffer slot;	/* n u32: position in requested, from 1; 0: absent */
	struct gtu_alg_buffer begin;	/* u64 per position: start of its requesters */
	struct gtu_alg_buffer requester;	/* u64: requesting entries of up */
	struct gtu_alg_buffer owner;	/* u32 per entry of the group: its vertex - first */
	uint64_t first, end, streamed;
};

/* ---- Neighbours -------------------------------------------------------------------------------------- */

/* Iterator over a vertex' neighbours: ascending, each once, without the vertex itself. */
struct walk {
	const struct clustering *c;
	uint64_t v, i, i_end, k, k_end, last;
	bool descends;
};

static struct walk walk_from(const struct clustering *c, uint64_t v)
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
	struct clustering *c = arg;
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
	struct clustering *c = arg;
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

static inline bool is_up(const struct clustering *c, uint64_t v, uint64_t u)
{
	return c->degree[v] < c->degree[u] || (c->degree[v] == c->degree[u] && v < u);
}

/*
 * The same for a simple graph: the number of v's entries that point up, written to @to unless that is
 * NULL, at most @most.
 */
static inline __attribute__((always_inline)) uint64_t point_up_simply(const struct clustering *c, uint64_t v, void *to,
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
	struct clustering *c = arg;
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
	struct clustering *c = arg;
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

static int no_memory(struct clustering *c)
{
	return gtu_fail(c->a.err, GTU_ERR_NOMEM, "%s: out of memory for the neighbours of %llu "
			"vertices", c->a.name,
			(unsigned long long)c->a.g->n);
}

/* Sort the lists: transposing twice restores the graph with sorted lists. */
static int sort_lists(struct clustering *c)
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

static int count_neighbours(struct clustering *c)
{
	struct gtu_graph view = *c->a.g;
	int rc = 0;

	c->out = c->a.g;
	c->degree = gtu_array_alloc(c->a.g->n * sizeof(*c->degree));
	if (!c->degree)
		return no_memory(c);
	if (!(c->a.g->flags & GTU_GRAPH_DIRECTED)) {
		rc = gtu_parallel_by(SHARE, regular_share, c, c->a.g->n);
		c->simple = !atomic_load(&c->irregular);
		if (rc || c->simple)
			return rc;
	}
	rc = gtu_graph_check(&view, c->a.opt->progress, c->a.err);
	if (!rc)
		rc = gtu_alg_transpose(&c->a, &c->transposed);
	c->in = c->transposed;
	if (!rc)
		rc = gtu_parallel_by(SHARE, count_share, c, c->a.g->n);
	if (rc || !atomic_load(&c->descends))
		return rc;
	rc = sort_lists(c);
	return rc ? rc : gtu_parallel_by(SHARE, count_share, c, c->a.g->n);
}

static int point_up(struct clustering *c)
{
	const uint64_t n = c->a.g->n;
	struct gtu_graph *up = &c->up;
	uint64_t v, *row;
	int rc;

	row = c->up_row = gtu_array_alloc((n + 1) * sizeof(*row));
	if (!row)
		return no_memory(c);
	memset(row, 0, (n + 1) * sizeof(*row));
	up->row = row;
	rc = gtu_parallel_by(SHARE, count_up_share, c, n);
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
		return no_memory(c);
	return gtu_parallel_by(SHARE, fill_up_share, c, n);
}

/* ---- Triangles, without a unit ------------------------------------------------------------------------ */

static inline uint64_t weight(const struct clustering *c, uint64_t e)
{
	return c->twice ? 1u + c->twice[e] : 2;
}

static inline void add(struct clustering *c, uint64_t v, uint64_t count)
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
static inline __attribute__((always_inline)) uint64_t close_edge(struct clustering *c, const struct corner *of,
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
static uint64_t close_few(struct clustering *c, uint64_t v)
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
static uint64_t close_from(struct clustering *c, struct gtu_alg_scratch *s, uint64_t v)
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
	struct clustering *c = arg;
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
	struct clustering *c = context;
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
static int choose_group(struct clustering *c)
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
static void list_requesters(struct clustering *c)
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

static int close_by_unit(struct clustering *c)
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

/* ---- Entry point ---------------------------------------------------------------------------------------- */

static int cluster(struct clustering *c, double *coefficient)
{
	const uint64_t n = c->a.g->n;
	uint64_t v, d;
	int rc;

	gtu_phase(&c->a.phases, "neighbours");
	rc = count_neighbours(c);
	if (!rc)
		rc = point_up(c);
	c->closed = rc ? NULL : gtu_array_alloc(n * sizeof(*c->closed));
	if (!rc && !c->closed)
		rc = no_memory(c);
	if (rc)
		return rc;
	for (v = 0; v < n; v++)
		atomic_init(&c->closed[v], 0);
	gtu_phase(&c->a.phases, "triangles");
	rc = c->a.q ? close_by_unit(c) : gtu_parallel_by(SHARE, close_share, c, n);
	for (v = 0; v < n && !rc; v++) {
		d = c->degree[v];
		coefficient[v] = d < 2 ? 0 : (double)atomic_load(&c->closed[v]) / ((double)d * (double)(d - 1));
	}
	return rc;
}

int gtu_clustering(struct gtu_device *dev, const struct gtu_graph *g,
		   const struct gtu_algorithm_options *opt, double *coefficient,
		   struct gtu_algorithm_stats *stats, struct gtu_error *err)
{
	struct clustering *c;
	int rc;

	if (opt->unit == GTU_WITH_IRU)
		return gtu_fail(err, GTU_ERR_UNSUPPORTED,
				"clustering does not run on the IRU: it searches sorted lists and "
				"has no indexed accesses to reorder; use GraphPEG, Weaver or the "
				"SCU");
	c = calloc(1, sizeof(*c));
	if (!c)
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for clustering");
	rc = gtu_alg_begin(&c->a, "clustering", dev, g, opt, stats, err);
	gtu_alg_shares_begin(&c->shares, &c->a);
	if (!rc)
		rc = gtu_alg_require_whole_graph(&c->a);
	/* 32-bit keys must be unique */
	if (!rc && g->n > UINT32_MAX)
		rc = gtu_fail(err, GTU_ERR_UNSUPPORTED, "clustering supports up to 2^32 - 1 "
			      "vertices, but the graph has %llu",
			      (unsigned long long)g->n);
	if (!rc && g->n)
		rc = cluster(c, coefficient);
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
