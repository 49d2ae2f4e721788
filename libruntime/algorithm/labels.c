// SPDX-License-Identifier: MIT
/*
 * Community detection by synchronous label propagation, as LDBC Graphalytics specifies it (specification 1.0,
 * section 2.3.4): deterministic, since ties go to the smallest label and all vertices change at once.
 *
 * Plain code goes along each vertex' list on all CPUs. With a unit a range of vertices is visited, whose edges are
 * a chunk: what comes, in whatever order, puts a neighbour's label into the edge's own place, and is counted then.
 */
#include <string.h>

#include "shares.h"
#include "visit.h"

#define ITERATIONS	10
#define SHARE		512u	/* vertices that a CPU takes at a time */
#define SORTED		12u	/* labels up to so many are sorted, more are hashed */

struct labels {
	struct gtu_alg a;
	struct gtu_graph *turned;	/* the edges that lead to each vertex; NULL: they are stored both ways */
	struct gtu_alg_buffer buffer[2];
	const void *now;		/* labels, as wide as an entry of the edge list */
	void *next;
	atomic_bool changed;
	struct gtu_alg_shares shares;
	/* with a unit: */
	struct gtu_alg_visit visit[2];	/* along the edges as they are, and turned round */
	struct gtu_alg_frontier range;	/* vertices [first, end) */
	struct gtu_alg_buffer gathered;	/* 8 bytes an edge of them: labels of those it leaves for, of those it comes from */
	uint64_t first, end, brought;
	bool leading;			/* the visit is of the edges turned round */
};

static inline uint64_t most_of_few(uint64_t *label, uint64_t count)
{
	uint64_t i, k, x, run = 0, most = 0, best = 0;

	for (i = 1; i < count; i++) {
		x = label[i];
		for (k = i; k && label[k - 1] > x; k--)
			label[k] = label[k - 1];
		label[k] = x;
	}
	for (i = 0; i < count; i++) {
		run = i && label[i] == label[i - 1] ? run + 1 : 1;
		if (run > most) {
			most = run;
			best = label[i];
		}
	}
	return best;
}

struct tally {
	uint64_t label, count;		/* count 0: free */
};

/*
 * The most frequent of @count labels, the smallest of several; @count > 0. The last time that a label is met
 * it has all its count, so whoever leads then leads in the end. GTU_NO_VERTEX: no memory.
 */
static inline uint64_t most_frequent(struct gtu_alg_scratch *s, uint64_t *label, uint64_t count)
{
	uint64_t i, at, most = 0, best = 0, room = 4 * SORTED;
	struct tally *t;
	unsigned shift;

	if (count <= SORTED)
		return most_of_few(label, count);
	shift = (unsigned)__builtin_clzll(2 * count - 1);
	room = 1ull << (64 - shift);
	t = gtu_alg_scratch_room(s, 1, room * sizeof(*t));
	if (!t)
		return GTU_NO_VERTEX;
	memset(t, 0, room * sizeof(*t));
	for (i = 0; i < count; i++) {
		for (at = label[i] * 0x9e3779b97f4a7c15u >> shift; t[at].count && t[at].label != label[i];)
			at = (at + 1) & (room - 1);
		t[at].label = label[i];
		if (++t[at].count > most || (t[at].count == most && label[i] < best)) {
			most = t[at].count;
			best = label[i];
		}
	}
	return best;
}

static inline void gather(const struct gtu_graph *g, const void *now, uint64_t v, uint64_t *to)
{
	const uint64_t end = g->row[v + 1];
	uint64_t e;

	if (g->edge_bytes == 4)
		for (e = g->row[v]; e < end; e++)
			*to++ = ((const uint32_t *)now)[((const uint32_t *)g->col)[e]];
	else
		for (e = g->row[v]; e < end; e++)
			*to++ = ((const uint64_t *)now)[((const uint64_t *)g->col)[e]];
}

static inline void settle(struct labels *l, uint64_t v, uint64_t label, bool *changed)
{
	*changed |= label != gtu_get(l->now, l->a.g->edge_bytes, v);
	gtu_put(l->next, l->a.g->edge_bytes, v, label);
}

static inline uint64_t degree(const struct gtu_graph *g, uint64_t v)
{
	return g ? g->row[v + 1] - g->row[v] : 0;
}

static int propagate_share(void *arg, uint64_t first, uint64_t end)
{
	struct labels *l = arg;
	struct gtu_alg_scratch *s = gtu_alg_scratch_take(&l->shares);
	const struct gtu_graph *g = l->a.g, *t = l->turned;
	uint64_t v, d, label, edges = 0, *list;
	bool changed = false;
	int rc = 0;

	for (v = first; v < end; v++, edges += d) {
		d = degree(g, v) + degree(t, v);
		list = gtu_alg_scratch_room(s, 0, d * 8);
		if (d && !list) {
			rc = GTU_ERR_NOMEM;
			break;
		}
		gather(g, l->now, v, list);
		if (t)
			gather(t, l->now, v, list + degree(g, v));
		label = d ? most_frequent(s, list, d) : gtu_get(l->now, g->edge_bytes, v);
		if (label == GTU_NO_VERTEX) {
			rc = GTU_ERR_NOMEM;
			break;
		}
		settle(l, v, label, &changed);
	}
	if (changed)
		atomic_store_explicit(&l->changed, true, memory_order_relaxed);
	gtu_alg_scratch_give(s);
	return rc ? rc : gtu_alg_shares_progress(&l->shares, edges);
}

/* ---- With a unit ---------------------------------------------------------------------------------- */

/* Where the labels of @v's neighbours begin among those of the range. */
static inline uint64_t place_of(const struct labels *l, uint64_t v)
{
	return l->a.g->row[v] - l->a.g->row[l->first] +
	       (l->turned ? l->turned->row[v] - l->turned->row[l->first] : 0);
}

static int put_label(void *context, const struct gtu_alg_batch *batch)
{
	struct labels *l = context;
	const struct gtu_graph *g = l->leading ? l->turned : l->a.g;
	uint64_t *to = l->gathered.region.addr, v, e;
	unsigned i;

	for (i = 0; i < batch->n; i++) {
		v = batch->source[i];
		e = batch->edge[i];
		/* the place is made of what the device says */
		if (gtu_unlikely(v < l->first || v >= l->end || e < g->row[v] || e >= g->row[v + 1]))
			return gtu_fail(l->a.err, GTU_ERR_FAIL,
					"the unit gives edge %llu of vertex %llu, asked for the edges of vertices %llu up to %llu: it cannot be trusted",
					(unsigned long long)e, (unsigned long long)v, (unsigned long long)l->first,
					(unsigned long long)l->end);
		to[place_of(l, v) + (l->leading ? degree(l->a.g, v) : 0) + e - g->row[v]] =
			gtu_get(l->now, g->edge_bytes, batch->target[i]);
	}
	l->brought += batch->n;
	return 0;
}

/* From l->first on, the vertices whose edges are a chunk, or one. */
static int choose_range(struct labels *l)
{
	uint64_t edges = 0, d;
	int rc;

	for (l->end = l->first; l->end < l->a.g->n; l->end++) {
		d = degree(l->a.g, l->end) + degree(l->turned, l->end);
		if (l->end > l->first && (edges + d > l->a.chunk || l->end - l->first >= l->a.chunk))
			break;
		edges += d;
	}
	rc = gtu_alg_room(&l->a, &l->gathered, edges * 8, false);
	if (!rc)
		rc = gtu_alg_room(&l->a, &l->range.ids, (l->end - l->first) * l->a.id_width, false);
	for (l->range.count = 0; !rc && l->range.count < l->end - l->first;)
		gtu_alg_push(&l->a, &l->range, l->first + l->range.count);
	return rc;
}

static int propagate_range(struct labels *l, struct gtu_alg_scratch *s, bool *changed)
{
	uint64_t *gathered, v, d, label, edges;
	unsigned way;
	int rc = choose_range(l);

	l->brought = 0;
	for (way = 0; !rc && way < (l->turned ? 2 : 1); way++) {
		l->leading = way;
		rc = gtu_alg_visit(&l->a, &l->visit[way], &l->range, put_label, l);
	}
	if (rc)
		return rc;
	edges = place_of(l, l->end - 1) + degree(l->a.g, l->end - 1) + degree(l->turned, l->end - 1);
	if (l->brought != edges)
		return gtu_fail(l->a.err, GTU_ERR_FAIL, "the unit brought %llu of %llu edges: it cannot be trusted",
				(unsigned long long)l->brought, (unsigned long long)edges);
	gathered = l->gathered.region.addr;
	for (v = l->first; v < l->end; v++) {
		d = degree(l->a.g, v) + degree(l->turned, v);
		label = d ? most_frequent(s, gathered + place_of(l, v), d) : gtu_get(l->now, l->a.g->edge_bytes, v);
		if (label == GTU_NO_VERTEX)
			return GTU_ERR_NOMEM;
		settle(l, v, label, changed);
	}
	return 0;
}

static int propagate_by_unit(struct labels *l)
{
	struct gtu_alg_scratch *s = gtu_alg_scratch_take(&l->shares);
	bool changed = false;
	int rc = 0;

	for (l->first = 0; l->first < l->a.g->n && !rc; l->first = l->end)
		rc = propagate_range(l, s, &changed);
	atomic_store(&l->changed, changed);
	gtu_alg_scratch_give(s);
	return rc;
}

/* ---- The whole ------------------------------------------------------------------------------------- */

static int set_up(struct labels *l)
{
	const struct gtu_graph *g = l->a.g;
	struct gtu_graph view = *g;
	unsigned way;
	uint64_t v;
	int rc;

	/* every iteration goes along every edge: what is checked once is checked for all */
	rc = gtu_graph_check(&view, l->a.opt->progress, l->a.err);
	if (!rc)
		rc = gtu_alg_turn(&l->a, &l->turned);
	for (way = 0; way < (l->turned ? 2 : 1) && !rc && l->a.q; way++) {
		l->visit[way].places = true;
		rc = gtu_alg_visit_begin(&l->a, &l->visit[way], way ? l->turned : g, g->edge_bytes);
	}
	for (way = 0; way < 2 && !rc; way++)
		rc = gtu_alg_room(&l->a, &l->buffer[way], g->n * g->edge_bytes, false);
	for (v = 0; v < g->n && !rc; v++)
		gtu_put(l->buffer[0].region.addr, g->edge_bytes, v, v);
	return rc;
}

static int propagate(struct labels *l)
{
	const uint32_t iterations = l->a.opt->iterations ? l->a.opt->iterations : ITERATIONS;
	uint32_t i;
	int rc = 0;

	gtu_alg_phase(&l->a, "propagate");
	atomic_store(&l->changed, true);
	/* where none changes, none ever will again */
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
			gtu_alg_iteration(&l->a, l->a.g->n);
	}
	return rc;
}

int gtu_label_propagation(struct gtu_device *dev, const struct gtu_graph *g,
			  const struct gtu_algorithm_options *opt, uint64_t *label,
			  struct gtu_algorithm_stats *stats, struct gtu_error *err)
{
	struct labels *l = calloc(1, sizeof(*l));
	uint64_t v;
	int rc;

	if (!l)
		return gtu_fail(err, GTU_ERR_NOMEM, "no memory to propagate labels");
	rc = gtu_alg_begin(&l->a, "label propagation", dev, g, opt, stats, err);
	gtu_alg_shares_begin(&l->shares, &l->a);
	if (!rc)
		rc = gtu_alg_whole(&l->a);
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
	rc = gtu_alg_visit_end(&l->a, &l->visit[1], rc);
	rc = gtu_alg_visit_end(&l->a, &l->visit[0], rc);
	gtu_graph_close(l->turned);
	rc = gtu_alg_end(&l->a, rc);
	free(l);
	return rc;
}
