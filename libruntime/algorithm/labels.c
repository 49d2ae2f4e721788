// SPDX-License-Identifier: MIT
/*
 * Community detection by synchronous label propagation as specified by LDBC Graphalytics
 * (specification 1.0, section 2.3.4). It is deterministic: ties go to the smallest label, and all
 * vertices change at once.
 *
 * Without a unit, all CPUs process the vertices' lists. With a unit, each step reads a range of
 * vertices with a chunk of edges. The visitor writes each neighbour's label to the slot of its
 * edge, so the order of edges does not matter; then the labels are counted.
 */
#include <string.h>

#include "shares.h"
#include "for_each_edge.h"
#include "libruntime/support/ranked.h"
#include "libruntime/support/traverse.h"

#define ITERATIONS	10
#define SHARE		512u	/* vertices per work share */
#define SORTED		12u	/* up to this many labels are sorted, more are hashed */

struct labels {
	struct gtu_alg a;
	struct gtu_graph *transposed;	/* transpose; NULL if edges are stored in both directions */
	struct gtu_alg_buffer buffer[2];
	const void *now;		/* labels, as wide as an entry of the edge list */
	void *next;
	atomic_bool changed;
	struct gtu_alg_shares shares;
	/* with a unit */
	struct gtu_alg_for_each_edge edges[2];	/* the edges as stored, and the transpose */
	struct gtu_alg_frontier range;	/* vertices [first, end) */
	struct gtu_alg_buffer gathered;	/* 8 bytes per edge: labels of out-neighbours, then in-neighbours, per vertex */
	uint64_t first, end, streamed;
	bool inward;			/* the edges of the transpose are delivered */
};

static inline uint64_t most_of_few(uint64_t *label, uint64_t count)
{
	uint64_t i, k, x;

	for (i = 1; i < count; i++) {
		x = label[i];
		for (k = i; k && label[k - 1] > x; k--)
			label[k] = label[k - 1];
		label[k] = x;
	}
	return gtu_longest_run(label, count);
}

struct tally {
	uint64_t label, count;		/* count 0: free */
};

/*
 * The most frequent of @count labels (count > 0), the smallest in a tie. When the last occurrence
 * of a label is processed its count is final, so the maximum is tracked in one pass. GTU_NO_VERTEX:
 * out of memory.
 */
static inline uint64_t most_frequent(struct gtu_alg_scratch *s, uint64_t *label, uint64_t count)
{
	uint64_t i, at, max = 0, best = 0, slots = 4 * SORTED;
	struct tally *t;
	unsigned shift;

	if (count <= SORTED)
		return most_of_few(label, count);
	shift = (unsigned)__builtin_clzll(2 * count - 1);
	slots = 1ull << (64 - shift);
	t = gtu_alg_scratch_reserve(s, 1, slots * sizeof(*t));
	if (!t)
		return GTU_NO_VERTEX;
	memset(t, 0, slots * sizeof(*t));
	for (i = 0; i < count; i++) {
		for (at = label[i] * 0x9e3779b97f4a7c15u >> shift; t[at].count && t[at].label != label[i];)
			at = (at + 1) & (slots - 1);
		t[at].label = label[i];
		if (++t[at].count > max || (t[at].count == max && label[i] < best)) {
			max = t[at].count;
			best = label[i];
		}
	}
	return best;
}

/*
 * The labels of the @count targets of @v. The edges were checked, but another program may have changed
 * a mapped file since: rows and targets are read once and stay in bounds.
 */
static inline void gather(const struct gtu_graph *g, const void *now, uint64_t v, uint64_t count, uint64_t *to)
{
	const uint64_t row = g->row[v], first = row <= g->m - count ? row : 0;
	uint64_t e, u;

	if (g->edge_bytes == 4)
		for (e = first; e < first + count; e++) {
			u = ((const uint32_t *)g->col)[e];
			*to++ = ((const uint32_t *)now)[u < g->n ? u : v];
		}
	else
		for (e = first; e < first + count; e++) {
			u = ((const uint64_t *)g->col)[e];
			*to++ = ((const uint64_t *)now)[u < g->n ? u : v];
		}
}

static inline void settle(struct labels *l, uint64_t v, uint64_t label, bool *changed)
{
	*changed |= label != gtu_get(l->now, l->a.g->edge_bytes, v);
	gtu_put(l->next, l->a.g->edge_bytes, v, label);
}

static inline uint64_t degree(const struct gtu_graph *g, uint64_t v)
{
	const uint64_t d = g ? g->row[v + 1] - g->row[v] : 0;

	return g && d <= g->m ? d : 0;
}

static int propagate_share(void *arg, uint64_t first, uint64_t end)
{
	struct labels *l = arg;
	struct gtu_alg_scratch *s = gtu_alg_scratch_acquire(&l->shares);
	const struct gtu_graph *g = l->a.g, *t = l->transposed;
	uint64_t v, d, own, label, edges = 0, *list;
	bool changed = false;
	int rc = 0;

	for (v = first; v < end; v++, edges += d) {
		own = degree(g, v);
		d = own + degree(t, v);
		list = gtu_alg_scratch_reserve(s, 0, d * 8);
		if (d && !list) {
			rc = GTU_ERR_NOMEM;
			break;
		}
		gather(g, l->now, v, own, list);
		if (t)
			gather(t, l->now, v, d - own, list + own);
		label = d ? most_frequent(s, list, d) : gtu_get(l->now, g->edge_bytes, v);
		if (label == GTU_NO_VERTEX) {
			rc = GTU_ERR_NOMEM;
			break;
		}
		settle(l, v, label, &changed);
	}
	if (changed)
		atomic_store_explicit(&l->changed, true, memory_order_relaxed);
	gtu_alg_scratch_release(s);
	return rc ? rc : gtu_alg_shares_progress(&l->shares, edges);
}

/* ---- With a unit ---------------------------------------------------------------------------------- */

/* Index of the first label of @v's neighbours in the gathered array. */
static inline uint64_t label_index(const struct labels *l, uint64_t v)
{
	return l->a.g->row[v] - l->a.g->row[l->first] +
	       (l->transposed ? l->transposed->row[v] - l->transposed->row[l->first] : 0);
}

static int store_label(void *context, const struct gtu_alg_batch *batch)
{
	struct labels *l = context;
	const struct gtu_graph *g = l->inward ? l->transposed : l->a.g;
	uint64_t *to = l->gathered.region.addr, v, e;
	unsigned i;

	for (i = 0; i < batch->n; i++) {
		v = batch->source[i];
		e = batch->edge[i];
		/* bounds check: the index is computed from the device's values */
		if (gtu_unlikely(v < l->first || v >= l->end || e < g->row[v] || e >= g->row[v + 1]))
			return gtu_fail(l->a.err, GTU_ERR_FAIL,
					"the unit returned edge %llu of vertex %llu, but the "
					"request was for vertices %llu up to %llu: it cannot be "
					"trusted",
					(unsigned long long)e, (unsigned long long)v, (unsigned long long)l->first,
					(unsigned long long)l->end);
		to[label_index(l, v) + (l->inward ? degree(l->a.g, v) : 0) + e - g->row[v]] =
			gtu_get(l->now, g->edge_bytes, batch->target[i]);
	}
	l->streamed += batch->n;
	return 0;
}

/* Choose the next range, from l->first on: at least one vertex, at most a chunk of edges. */
static int choose_range(struct labels *l)
{
	uint64_t edges = 0, d;
	int rc;

	for (l->end = l->first; l->end < l->a.g->n; l->end++) {
		d = degree(l->a.g, l->end) + degree(l->transposed, l->end);
		if (l->end > l->first && (edges + d > l->a.chunk || l->end - l->first >= l->a.chunk))
			break;
		edges += d;
	}
	rc = gtu_alg_reserve(&l->a, &l->gathered, edges * 8, false);
	if (!rc)
		rc = gtu_alg_reserve(&l->a, &l->range.ids, (l->end - l->first) * l->a.id_width, false);
	for (l->range.count = 0; !rc && l->range.count < l->end - l->first;)
		gtu_alg_push(&l->a, &l->range, l->first + l->range.count);
	return rc;
}

static int propagate_range(struct labels *l, struct gtu_alg_scratch *s, bool *changed)
{
	uint64_t *gathered, v, d, label, edges;
	unsigned direction;
	int rc = choose_range(l);

	l->streamed = 0;
	for (direction = 0; !rc && direction < (l->transposed ? 2 : 1); direction++) {
		l->inward = direction;
		rc = gtu_alg_for_each_edge(&l->a, &l->edges[direction], &l->range, store_label, l);
	}
	if (rc)
		return rc;
	edges = label_index(l, l->end - 1) + degree(l->a.g, l->end - 1) + degree(l->transposed, l->end - 1);
	if (l->streamed != edges)
		return gtu_fail(l->a.err, GTU_ERR_FAIL, "the unit returned %llu of %llu edges: it "
				"cannot be trusted",
				(unsigned long long)l->streamed, (unsigned long long)edges);
	gathered = l->gathered.region.addr;
	for (v = l->first; v < l->end; v++) {
		d = degree(l->a.g, v) + degree(l->transposed, v);
		label = d ? most_frequent(s, gathered + label_index(l, v), d) : gtu_get(l->now, l->a.g->edge_bytes, v);
		if (label == GTU_NO_VERTEX)
			return GTU_ERR_NOMEM;
		settle(l, v, label, changed);
	}
	return 0;
}

static int propagate_by_unit(struct labels *l)
{
	struct gtu_alg_scratch *s = gtu_alg_scratch_acquire(&l->shares);
	bool changed = false;
	int rc = 0;

	for (l->first = 0; l->first < l->a.g->n && !rc; l->first = l->end)
		rc = propagate_range(l, s, &changed);
	atomic_store(&l->changed, changed);
	gtu_alg_scratch_release(s);
	return rc;
}

/* ---- Entry point ----------------------------------------------------------------------------------- */

static int set_up(struct labels *l)
{
	const struct gtu_graph *g = l->a.g;
	struct gtu_graph view = *g;
	unsigned direction;
	uint64_t v;
	int rc;

	/* every iteration traverses every edge, so check the graph once */
	rc = gtu_graph_check(&view, l->a.opt->progress, l->a.err);
	if (!rc)
		rc = gtu_alg_transpose(&l->a, &l->transposed);
	for (direction = 0; direction < (l->transposed ? 2 : 1) && !rc && l->a.q; direction++) {
		l->edges[direction].edge_indices = true;
		rc = gtu_alg_edges_begin(&l->a, &l->edges[direction], direction ? l->transposed : g, g->edge_bytes);
	}
	for (direction = 0; direction < 2 && !rc; direction++)
		rc = gtu_alg_reserve(&l->a, &l->buffer[direction], g->n * g->edge_bytes, false);
	for (v = 0; v < g->n && !rc; v++)
		gtu_put(l->buffer[0].region.addr, g->edge_bytes, v, v);
	return rc;
}

static int propagate(struct labels *l)
{
	const uint32_t iterations = l->a.opt->iterations ? l->a.opt->iterations : ITERATIONS;
	uint32_t i;
	int rc = 0;

	gtu_phase(&l->a.phases, "propagate");
	atomic_store(&l->changed, true);
	/* converged once no label changes */
	for (i = 0; i < iterations && !rc && atomic_load(&l->changed); i++) {
		atomic_store(&l->changed, false);
		l->now = l->buffer[i & 1].region.addr;
		l->next = l->buffer[~i & 1].region.addr;
		rc = l->a.q ? propagate_by_unit(l) :
			      gtu_parallel_by(SHARE, propagate_share, l, l->a.g->n);
		l->now = l->next;
		if (!rc)
			rc = gtu_alg_shares_progress(&l->shares, 0);
		if (!rc)
			gtu_phases_iteration(&l->a.phases, l->a.opt, l->a.g->n);
	}
	return rc;
}

/* ---- On a GPU ---------------------------------------------------------------------------------------- */

struct joining {
	const struct gtu_graph *g, *t;
	uint64_t *row;
	void *col;
};

static int join_share(void *arg, uint64_t first, uint64_t end)
{
	const struct joining *j = arg;
	const uint32_t width = j->g->edge_bytes;
	uint64_t v, own, other;

	for (v = first; v < end; v++) {
		own = degree(j->g, v);
		other = degree(j->t, v);
		memcpy((char *)j->col + j->row[v] * width, (const char *)j->g->col + j->g->row[v] * width, own * width);
		memcpy((char *)j->col + (j->row[v] + own) * width, (const char *)j->t->col + j->t->row[v] * width, other * width);
	}
	return 0;
}

/* A directed graph's edges at both of their ends; duplicates stay. */
static int join_directions(const struct gtu_graph *g, const struct gtu_graph *t, struct gtu_graph *both,
			   struct gtu_error *err)
{
	struct joining j = { g, t, gtu_array_alloc((g->n + 1) * 8), gtu_array_alloc((2 * g->m + 1) * g->edge_bytes) };
	uint64_t v;

	memset(both, 0, sizeof(*both));
	both->row = j.row;
	both->col = j.col;
	if (!j.row || !j.col)
		return gtu_fail(err, GTU_ERR_NOMEM, "label propagation: out of memory for %llu edges in both directions",
				(unsigned long long)g->m);
	for (j.row[0] = v = 0; v < g->n; v++)
		j.row[v + 1] = j.row[v] + degree(g, v) + degree(t, v);
	gtu_parallel_by(SHARE, join_share, &j, g->n);
	both->n = g->n;
	both->m = j.row[g->n];
	both->edge_bytes = g->edge_bytes;
	memcpy(both->name, g->name, sizeof(both->name));
	return 0;
}

static int propagate_on_gpu(struct gtu_device *dev, const struct gtu_graph *g, const struct gtu_algorithm_options *opt,
			    uint64_t *label, struct gtu_algorithm_stats *stats, struct gtu_error *err)
{
	struct gtu_graph plain = *g, both, *transposed = NULL;
	int rc;

	if (!dev || !(g->flags & GTU_GRAPH_DIRECTED))
		return gtu_traverse(dev, g, GTU_TRAVERSE_LABELS, opt, label, stats, err);
	plain.weight = NULL;
	plain.weight_type = GTU_WEIGHT_NONE;
	rc = gtu_graph_transpose(&plain, opt->progress, &transposed, err);
	if (rc)
		return rc;
	rc = join_directions(g, transposed, &both, err);
	gtu_graph_close(transposed);
	if (!rc)
		rc = gtu_traverse_derived(dev, g, &both, GTU_TRAVERSE_LABELS, opt, label, stats, err);
	free((void *)(uintptr_t)both.row);
	free((void *)(uintptr_t)both.col);
	return rc;
}

int gtu_label_propagation(struct gtu_device *dev, const struct gtu_graph *g,
			  const struct gtu_algorithm_options *opt, uint64_t *label,
			  struct gtu_algorithm_stats *stats, struct gtu_error *err)
{
	struct labels *l;
	uint64_t v;
	int rc;

	if (gtu_has_ranks(dev))
		return gtu_run_ranked(dev, g, GTU_RANKED_LABELS, opt, label, stats, err);
	if (opt->unit == GTU_WITH_GPU)
		return propagate_on_gpu(dev, g, opt, label, stats, err);
	l = calloc(1, sizeof(*l));
	if (!l)
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for label propagation");
	rc = gtu_alg_begin(&l->a, "label propagation", dev, g, opt, stats, err);
	gtu_alg_shares_begin(&l->shares, &l->a);
	if (!rc)
		rc = gtu_alg_require_whole_graph(&l->a);
	if (!rc && g->n)
		rc = set_up(l);
	if (!rc && g->n)
		rc = gtu_alg_shares_end(&l->shares, propagate(l));
	else
		gtu_alg_shares_end(&l->shares, 0);
	for (v = 0; !rc && v < g->n; v++)
		label[v] = gtu_get(l->now, g->edge_bytes, v);
	if (!rc)
		l->a.stats->vertices = g->n;
	rc = gtu_alg_edges_end(&l->a, &l->edges[1], rc);
	rc = gtu_alg_edges_end(&l->a, &l->edges[0], rc);
	gtu_graph_close(l->transposed);
	rc = gtu_alg_end(&l->a, rc);
	free(l);
	return rc;
}
