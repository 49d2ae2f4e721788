// SPDX-License-Identifier: MIT
/*
 * Breadth-first search, level by level (SCU, algorithms 1 and 4; IRU, figure 9).
 *
 * SCU: expansion fills the edge frontier; contraction on the CPU reads the labels and builds a mask
 * of unvisited targets; data compaction builds the node frontier. The mask is best-effort, as in
 * the paper: it is built before any label of the chunk is written, so duplicates in a chunk pass.
 * The enhanced unit drops most duplicates and vertices visited in earlier levels, with one table per
 * phase that is kept across levels. The rest is dropped when labels are written.
 *
 * IRU: the edge frontier is reordered so that label accesses of a warp coalesce.
 *
 * GraphPEG: reached vertices are pushed into the unit's output list, which is the next frontier
 * (GraphPEG, figure 4).
 *
 * GraphPEG and Weaver also pull, over the transpose. The frontier then lists the unreached
 * vertices, rebuilt for each level; a vertex is reached by an edge from the previous level.
 * GraphPEG gathers all their edges; Weaver skips a vertex once it is reached (SparseWeaver, figure
 * 9).
 */
#include "libruntime/support/ranked.h"
#include "libruntime/support/traverse.h"
#include "for_each_edge.h"
#include "plain.h"

/* Labels are 4-byte levels, as in the papers, which halves the memory of the random accesses. */
#define UNVISITED UINT32_MAX

struct bfs {
	struct gtu_alg a;
	struct gtu_alg_for_each_edge edges;
	struct gtu_alg_frontier frontier[2];
	struct gtu_alg_buffer label;	/* n of 4 bytes */
	struct gtu_alg_buffer mask;
	struct gtu_alg_filter expansion, contraction;
	uint32_t next_level;
	uint64_t reached;
	/* pulling */
	struct gtu_graph *transposed;	/* transpose; NULL: the graph itself */
	struct gtu_alg_for_each_edge back;
	bool back_ready, pulling, pulled;	/* back is initialized; current level pulls; pulling has ended */
	struct gtu_alg_frontier candidates;
	uint64_t unreached_edges;	/* edges that leave unreached vertices */
};

/* Bit i of the mask: the target of edge i is unvisited. *ones: number of bits set. */
static int mask_unvisited(struct bfs *b, uint64_t *ones)
{
	const uint32_t *label = b->label.region.addr;
	const void *edge = b->edges.w.edge.region.addr;
	uint64_t i, target, n = b->a.g->n;
	int rc;

	rc = gtu_alg_mask(&b->a, &b->mask, b->edges.w.out);
	if (rc)
		return rc;
	*ones = 0;
	for (i = 0; i < b->edges.w.out; i++) {
		target = gtu_get(edge, b->a.id_width, i);
		if (gtu_unlikely(target >= n))
			return gtu_alg_bad_work(&b->a, &b->edges.w);
		if (label[target] == UNVISITED) {
			gtu_alg_set(&b->mask, i);
			++*ones;
		}
	}
	return 0;
}

/* Label the new entries of the frontier from @from on, dropping duplicates. */
static void label_new(struct bfs *b, struct gtu_alg_frontier *next, uint64_t from)
{
	uint32_t *label = b->label.region.addr;
	uint64_t i, v, end = next->count;

	next->count = from;
	for (i = from; i < end; i++) {
		v = gtu_alg_vertex(&b->a, next, i);
		if (label[v] == UNVISITED) {
			label[v] = b->next_level;
			gtu_alg_push(&b->a, next, v);
		}
	}
}

static int scu_chunk(struct bfs *b, struct gtu_alg_frontier *next)
{
	struct gtu_alg_filter *expansion = NULL, *contraction = NULL;
	uint64_t ones, from = next->count;
	int rc = 0;

	gtu_phase(&b->a.phases, "expand");
	if (b->a.opt->unit == GTU_WITH_SCU) {
		expansion = &b->expansion;
		contraction = &b->contraction;
		rc = gtu_alg_filter_fused(&b->a, expansion, b->edges.w.edges);
	}
	if (!rc)
		rc = gtu_alg_expand(&b->a, &b->edges.w, expansion);
	gtu_phase(&b->a.phases, "contract");
	if (!rc)
		rc = mask_unvisited(b, &ones);
	gtu_phase(&b->a.phases, "compact");
	if (!rc && contraction)
		rc = gtu_alg_filter_fused(&b->a, contraction, ones);
	if (!rc)
		rc = gtu_alg_compact_frontier(&b->a, &b->edges.w.edge, b->edges.w.out, &b->mask, ones,
					      contraction, next);
	gtu_phase(&b->a.phases, "contract");
	if (!rc)
		label_new(b, next, from);
	return rc;
}

static int iru_chunk(struct bfs *b, struct gtu_alg_frontier *next)
{
	uint32_t *label = b->label.region.addr, lanes, v;
	struct gtu_warp warp;
	int rc;

	gtu_phase(&b->a.phases, "contract");
	rc = gtu_alg_reorder(&b->a, &b->edges.w, GTU_IRU_OP_NONE, NULL, false, 4);
	if (rc)
		return rc;
	while ((rc = gtu_alg_load(&b->a, &warp)) > 0) {
		for (lanes = warp.active; lanes; lanes &= lanes - 1) {
			v = warp.index[__builtin_ctz(lanes)];
			if (label[v] == UNVISITED) {
				label[v] = b->next_level;
				gtu_alg_push(&b->a, next, v);
			}
		}
	}
	return rc;
}

static int reach(void *context, const struct gtu_alg_batch *batch)
{
	struct bfs *b = context;
	uint32_t *label = b->label.region.addr;
	unsigned i;
	int rc = 0;

	for (i = 0; i < batch->n && !rc; i++) {
		if (label[batch->target[i]] != UNVISITED)
			continue;
		label[batch->target[i]] = b->next_level;
		rc = gtu_alg_emit(&b->a, &b->edges, batch->target[i]);
	}
	return rc;
}

static int unit_level(struct bfs *b, const struct gtu_alg_frontier *now,
		      struct gtu_alg_frontier *next)
{
	struct gtu_alg_cursor c = { 0 };
	int rc;

	if (gtu_alg_streams_edges(&b->a)) {
		gtu_phase(&b->a.phases, "traverse");
		b->edges.out = next;
		return gtu_alg_for_each_edge(&b->a, &b->edges, now, reach, b);
	}
	while (c.at < now->count) {
		gtu_phase(&b->a.phases, "prepare");
		rc = gtu_alg_take(&b->a, &b->edges.w, now, &c);
		if (!rc && b->edges.w.n)
			rc = b->a.opt->unit == GTU_WITH_IRU ? iru_chunk(b, next) : scu_chunk(b, next);
		if (rc)
			return rc;
	}
	return 0;
}

/* ---- Pulling --------------------------------------------------------------------------------------- */

static int pull_edges(void *context, const struct gtu_alg_batch *batch)
{
	struct bfs *b = context;
	uint32_t *label = b->label.region.addr;
	unsigned i;
	int rc = 0;

	for (i = 0; i < batch->n && !rc; i++) {
		if (label[batch->source[i]] != UNVISITED || label[batch->target[i]] != b->next_level - 1)
			continue;
		label[batch->source[i]] = b->next_level;
		rc = gtu_alg_emit(&b->a, &b->back, batch->source[i]);
	}
	return rc;
}

static bool is_reached(void *context, uint64_t v)
{
	const struct bfs *b = context;

	return ((const uint32_t *)b->label.region.addr)[v] != UNVISITED;
}

static int set_up_pulling(struct bfs *b)
{
	int rc;

	gtu_phase(&b->a.phases, "setup");
	rc = gtu_alg_transpose(&b->a, &b->transposed);
	if (!rc)
		rc = gtu_alg_reserve(&b->a, &b->candidates.ids, b->a.g->n * b->a.id_width, false);
	if (!rc) {
		rc = gtu_alg_edges_begin(&b->a, &b->back, b->transposed ? b->transposed : b->a.g, 4);
		b->back_ready = true;
	}
	b->back.pull = true;
	b->back.enough = b->a.opt->unit == GTU_WITH_WEAVER ? is_reached : NULL;
	b->candidates.count = b->a.g->n;
	b->candidates.all = true;
	return rc;
}

/* Remove reached vertices from the list of candidates. */
static void list_candidates(struct bfs *b)
{
	struct gtu_alg_frontier *c = &b->candidates;
	uint64_t i, v, end = c->count;

	for (c->count = 0, i = 0; i < end; i++) {
		v = gtu_alg_vertex(&b->a, c, i);
		if (!is_reached(b, v))
			gtu_alg_push(&b->a, c, v);
	}
	c->all = false;
}

static int pull_level(struct bfs *b, struct gtu_alg_frontier *next)
{
	int rc = b->back_ready ? 0 : set_up_pulling(b);

	gtu_phase(&b->a.phases, "pull");
	b->back.out = next;
	if (!rc)
		list_candidates(b);
	return rc ? rc : gtu_alg_for_each_edge(&b->a, &b->back, &b->candidates, pull_edges, b);
}

/*
 * Choose the direction by the rule of GTU_PUSH_OR_PULL (gtu.h). The cost of a level is the number
 * of edges that leave the frontier (push), or about that of the unreached vertices (pull).
 */
static int choose(struct bfs *b, const struct gtu_alg_frontier *now)
{
	const uint64_t factor = b->a.opt->unit == GTU_WITH_WEAVER ? GTU_PULL_FACTOR_WEAVER : GTU_PULL_FACTOR_PEG;
	const bool wide = now->count >= b->a.g->n / GTU_PULL_SHARE;
	uint64_t i, e, end, edges = 0;
	int rc;

	b->pulling = b->a.opt->direction == GTU_PULL;
	if (b->a.opt->direction != GTU_PUSH_OR_PULL || b->pulled)
		return 0;
	for (i = 0; i < now->count; i++) {
		rc = gtu_alg_edges(&b->a, b->a.g, gtu_alg_vertex(&b->a, now, i), &e, &end);
		if (rc)
			return rc;
		edges += end - e;
	}
	b->unreached_edges -= edges < b->unreached_edges ? edges : b->unreached_edges;
	b->pulling = wide && (b->a.stats->pull_end || edges > b->unreached_edges / factor);
	b->pulled = b->a.stats->pull_end && !b->pulling;
	return 0;
}

static int set_up(struct bfs *b)
{
	uint64_t v, n = b->a.g->n;
	uint32_t *label;
	unsigned i;
	int rc;

	rc = gtu_alg_reserve(&b->a, &b->label, n * 4, false);
	/* a frontier holds each vertex once; only the SCU temporarily writes duplicates */
	for (i = 0; i < 2 && !rc; i++)
		rc = gtu_alg_reserve(&b->a, &b->frontier[i].ids, n * b->a.id_width, false);
	if (!rc && b->a.opt->unit == GTU_WITH_SCU) {
		rc = gtu_alg_filter_begin(&b->a, &b->expansion, GTU_SCU_UNIQUE, true, 0, 0, 0);
		if (!rc)
			rc = gtu_alg_filter_begin(&b->a, &b->contraction, GTU_SCU_UNIQUE, true, 0,
						  0, 0);
	}
	if (rc)
		return rc;
	label = b->label.region.addr;
	for (v = 0; v < n; v++)
		label[v] = UNVISITED;
	return 0;
}

static int search(struct bfs *b)
{
	struct gtu_alg_frontier *now = &b->frontier[0], *next = &b->frontier[1], *swap;
	uint32_t *label;
	int rc;

	rc = set_up(b);
	if (rc)
		return rc;
	label = b->label.region.addr;
	label[b->a.opt->source] = 0;
	gtu_alg_push(&b->a, now, b->a.opt->source);
	for (b->next_level = 1; now->count; b->next_level++) {
		if (b->next_level == UNVISITED)
			return gtu_fail(b->a.err, GTU_ERR_UNSUPPORTED,
					"the search has more than %u levels, the maximum of a "
					"label",
					UNVISITED);
		b->reached += now->count;
		next->count = 0;
		rc = choose(b, now);
		if (!rc)
			rc = b->pulling ? pull_level(b, next) : unit_level(b, now, next);
		if (rc)
			return rc;
		if (b->pulling && !b->a.stats->pull_end)
			b->a.stats->pull_first = b->a.stats->iterations;
		gtu_phases_iteration(&b->a.phases, b->a.opt, now->count);
		if (b->pulling)
			b->a.stats->pull_end = b->a.stats->iterations;
		swap = now;
		now = next;
		next = swap;
	}
	return 0;
}

int gtu_bfs(struct gtu_device *dev, const struct gtu_graph *g,
	    const struct gtu_algorithm_options *opt, uint64_t *level,
	    struct gtu_algorithm_stats *stats, struct gtu_error *err)
{
	struct bfs b = { 0 };
	const uint32_t *label;
	uint64_t v;
	int rc;

	if (gtu_has_ranks(dev))
		return gtu_run_ranked(dev, g, GTU_RANKED_BFS, opt, level, stats, err);
	if (opt->unit == GTU_WITH_GPU)
		return gtu_traverse(dev, g, GTU_TRAVERSE_BFS, opt, level, stats, err);
	rc = gtu_alg_begin(&b.a, "bfs", dev, g, opt, stats, err);
	if (!rc)
		rc = gtu_alg_check_vertex(&b.a, "source", opt->source);
	if (!rc)
		rc = gtu_alg_direction(&b.a);
	if (!rc && opt->unit == GTU_WITH_NONE)
		return gtu_alg_end(&b.a, gtu_plain_search(&b.a, level));
	if (!rc)
		rc = gtu_alg_edges_begin(&b.a, &b.edges, g, 4);
	b.unreached_edges = g->m;
	if (!rc)
		rc = search(&b);
	if (!rc) {
		gtu_phase(&b.a.phases, "setup");
		label = b.label.region.addr;
		for (v = 0; v < g->n; v++)
			level[v] = label[v] == UNVISITED ? GTU_UNREACHED : label[v];
		b.a.stats->vertices = b.reached;
	}
	if (b.back_ready)
		rc = gtu_alg_edges_end(&b.a, &b.back, rc);
	rc = gtu_alg_edges_end(&b.a, &b.edges, rc);
	gtu_graph_close(b.transposed);
	return gtu_alg_end(&b.a, rc);
}
