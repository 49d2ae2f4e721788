// SPDX-License-Identifier: MIT
/* The algorithms of peg_graph.h on the host: the sequence of advances and filters. */
#include <math.h>
#include <stdlib.h>

#include "peg_graph_parts.h"

/* SEP-Graph's alpha and beta for kron_g500 in its artifact, the only family of its graphs that GraphPEG has. */
#define PULL_ALPHA	8u
#define PULL_BETA	5u

/* A list of vertices, in memory or in the unit. */
struct list {
	struct lab_array array;
	uint32_t first, count;
	bool pushed;
};

struct run {
	struct lab *lab;
	const struct lab_pg_config *config;
	const struct gtu_progress *progress;
	struct lab_pg_result *result;
	enum lab_pg_strategy strategy;	/* resolved for this graph if hybrid */
	bool may_pull, pulling;
	uint64_t frontier_edges, unexplored; /* edges of the next list; of unreached vertices */
	struct lab_array one, two;	/* list buffers, read and written alternately */
	struct pg_args a;
};

const char *const lab_pg_algorithm_name[LAB_PG_ALGORITHMS] = { "bfs", "sssp", "bc", "stcon", "gc", "kc" };

const char *const lab_pg_strategy_name[LAB_PG_STRATEGIES] = {
	"simple", "balanced", "cooperative", "hybrid", "hwwl", "peg",
};

static uint32_t *word(const struct run *r, unsigned which)
{
	return lab_words(&r->a.tail) + which;
}

static bool limit_reached(const struct run *r)
{
	return r->config->edges && r->result->edges >= r->config->edges;
}

static int launch(struct run *r, enum pg_kernel k, uint64_t threads, struct gtu_error *err)
{
	const struct lab_launch l = { &pg_kernel[k], &r->a, (threads + PG_BLOCK - 1) / PG_BLOCK, PG_BLOCK, r->progress };

	return lab_stopped(r->lab) ? 0 : lab_run(r->lab, &l, NULL, err);
}

/* As many blocks per SM as fit (PEG: at most peg_blocks), which run until the unit is empty. */
static int launch_persistent(struct run *r, enum pg_kernel k, struct gtu_error *err)
{
	const struct lab_machine *m = lab_machine_of(r->lab);
	uint64_t blocks = m->warps / (PG_BLOCK / LAB_LANES);

	if (r->strategy == LAB_PG_PEG && r->config->peg_blocks && r->config->peg_blocks < blocks)
		blocks = r->config->peg_blocks;
	return launch(r, k, blocks * m->sms * PG_BLOCK, err);
}

/* ---- One step under a strategy --------------------------------------------------------------- */

static int scan_degrees(struct run *r, struct gtu_error *err)
{
	uint64_t begun = lab_now(r->lab), tiles = (r->a.count + PG_TILE - 1ull) / PG_TILE, total;
	const struct lab_machine *m = lab_machine_of(r->lab);
	uint32_t blocks = m->sms * (m->warps / (PG_BLOCK / LAB_LANES));
	struct pg_args *a = &r->a;
	int rc = launch(r, PG_DEGREES, a->count, err);

	rc = rc ? rc : launch(r, PG_SCAN_TILES, tiles * PG_BLOCK, err);
	if (tiles > 1) {
		rc = rc ? rc : launch(r, PG_SCAN_SUMS, PG_BLOCK, err);
		rc = rc ? rc : launch(r, PG_SCAN_ADD, a->count, err);
	}
	total = *word(r, PG_TOTAL);
	a->chunk = (uint32_t)((total + blocks - 1) / blocks + PG_BLOCK - 1) / PG_BLOCK * PG_BLOCK;
	if (total && total >= r->config->light_edges)
		rc = rc ? rc : launch(r, PG_SEARCH, (total + a->chunk - 1) / a->chunk, err);
	r->result->balancing += lab_now(r->lab) - begun;
	return rc;
}

static int balanced(struct run *r, struct gtu_error *err)
{
	struct pg_args *a = &r->a;
	uint32_t count = a->count, total;
	int rc = scan_degrees(r, err);

	total = *word(r, PG_TOTAL);
	a->slots = a->visit->pushes;
	if (!rc && total)
		rc = total < r->config->light_edges ? launch(r, PG_COOPERATIVE, count, err) :
		     launch(r, PG_PARTITION, (total + a->chunk - 1ull) / a->chunk * PG_BLOCK, err);
	if (!rc && total && a->slots) {
		a->count = total;
		rc = launch(r, PG_COMPACT, total, err);
	}
	a->slots = false;
	return rc;
}

static struct lab_peg_stream peg_stream(const struct run *r, const struct list *from)
{
	const struct pg_args *a = &r->a;
	const struct gtu_graph *g = r->config->graph;

	return (struct lab_peg_stream){
		.row = &a->row, .col = &a->col, .weight = &a->weight, .list = from->pushed ? NULL : &from->array, .vertices = g->n,
		.edges = g->m, .first = from->first, .count = from->count,
	};
}

/* Pop all of @s from the unit, by kernel @k. */
static int pop_all(struct run *r, const struct lab_peg_stream *s, enum pg_kernel k, struct gtu_error *err)
{
	struct pg_args *a = &r->a;
	int rc = a->peg ? lab_peg_begin(a->peg, s, err) : 0;

	if (!a->peg)
		lab_hwwl_begin(a->hwwl, s->list, s->first, s->count);
	rc = rc ? rc : launch_persistent(r, k, err);
	return rc || lab_stopped(r->lab) ? rc : a->peg ? lab_peg_end(a->peg, err) : lab_hwwl_end(a->hwwl, err);
}

/* Set the length of the list that kernels have pushed to. */
static void end_list(const struct run *r, struct list *to)
{
	const struct pg_args *a = &r->a;

	to->pushed = a->peg || a->hwwl;
	to->count = (uint32_t)(a->peg ? lab_peg_pushed(a->peg) : a->hwwl ? lab_hwwl_pushed(a->hwwl) :
			       *word(r, PG_LIST) - to->first);
}

/* Apply @visit to the edges of @from. *@to: vertices pushed, from to->first on or in the unit. */
static int advance(struct run *r, const struct pg_visit *visit, const struct list *from, struct list *to, struct gtu_error *err)
{
	struct pg_args *a = &r->a;
	struct lab_peg_stream s = peg_stream(r, from);
	int rc;

	a->visit = visit;
	a->in = from->array;
	a->first = from->first;
	a->count = from->count;
	a->out = to->array;
	*word(r, PG_LIST) = to->first;
	to->count = 0;
	r->result->iterations++;
	if (!from->count)
		return 0;
	switch (r->strategy) {
	case LAB_PG_PEG:
		s.pull = a->pull;
		s.source = visit->sources;
		s.destination = true;
		s.with_weight = visit->weights;
		rc = pop_all(r, &s, PG_PEG, err);
		break;
	case LAB_PG_HWWL:
		rc = pop_all(r, &s, PG_HWWL, err);
		break;
	case LAB_PG_BALANCED:
		rc = balanced(r, err);
		break;
	case LAB_PG_COOPERATIVE:
		rc = launch(r, PG_COOPERATIVE, a->count, err);
		break;
	default:
		rc = launch(r, PG_SIMPLE, a->count, err);
	}
	end_list(r, to);
	return rc;
}

/* Apply @filter to @from (NULL: all vertices). Lists in memory are read without the unit. */
static int filter(struct run *r, pg_filter *filter, const struct list *from, struct list *to, struct gtu_error *err)
{
	struct pg_args *a = &r->a;
	struct lab_array order = a->order;
	uint64_t *pushed = a->pushed_edges;
	struct lab_peg_stream s;
	int rc;

	a->filter = filter;
	a->all = !from;
	a->count = from ? from->count : a->n;
	a->first = from ? from->first : 0;
	a->in = from ? from->array : r->one;
	a->out = to->array;
	a->order.data = NULL;
	a->pushed_edges = NULL;
	*word(r, PG_LIST) = to->first;
	to->count = 0;
	if (from && from->pushed) {
		s = peg_stream(r, from);
		s.vertex_list = true;
		rc = pop_all(r, &s, a->peg ? PG_FILTER_PEG : PG_FILTER_HWWL, err);
	} else {
		if (a->peg)
			lab_peg_clear(a->peg);
		if (a->hwwl)
			lab_hwwl_clear(a->hwwl);
		rc = launch(r, PG_FILTER, a->count, err);
	}
	a->order = order;
	a->pushed_edges = pushed;
	end_list(r, to);
	return rc;
}

/*
 * One step from the frontier @list: @push, or @pull over @candidates if the frontier has many
 * edges. @to: the next frontier.
 */
static int expand(struct run *r, const struct pg_visit *push, const struct pg_visit *pull, pg_filter *candidates,
		  const struct list *list, struct list *to, struct gtu_error *err)
{
	struct list open = { .array = r->two }, none = open;
	int rc;

	if (r->may_pull) {
		r->pulling = (r->pulling && list->count > r->a.n / PULL_BETA) || r->frontier_edges > r->unexplored / PULL_ALPHA;
		if (!r->pulling)
			r->unexplored -= r->frontier_edges < r->unexplored ? r->frontier_edges : r->unexplored;
		r->frontier_edges = 0;
	}
	if (!r->pulling)
		return advance(r, push, list, to, err);
	r->result->pulled++;
	rc = launch(r, PG_CLEAR, (r->a.n + 3) / 4, err);
	rc = rc ? rc : filter(r, pg_mark, list, &none, err);
	rc = rc ? rc : filter(r, candidates, NULL, &open, err);
	r->a.pull = true;
	rc = rc ? rc : advance(r, pull, &open, to, err);
	r->a.pull = false;
	return rc;
}

/* ---- Algorithms ------------------------------------------------------------------------------ */

/* A list in memory with the vertices @v. */
static struct list start_with(struct run *r, const uint32_t *v, uint32_t count)
{
	struct list l = { .array = r->one, .count = count };
	uint32_t i;

	for (i = 0; i < count; i++) {
		lab_words(&r->one)[i] = v[i];
		r->frontier_edges += r->config->graph->row[v[i] + 1] - r->config->graph->row[v[i]];
	}
	return l;
}

/* The list written is read next; the one read is written next. */
static void swap_lists(struct list *list, struct list *next)
{
	struct lab_array was = list->array;

	*list = *next;
	next->array = was;
	next->first = 0;
}

static int bfs(struct run *r, struct gtu_error *err)
{
	struct list list = start_with(r, &r->config->source, 1), next = { .array = r->a.far };
	int rc = 0;

	memset(r->a.label.data, 0xff, 4ull * r->a.n);
	lab_words(&r->a.label)[r->config->source] = 0;
	for (r->a.depth = 1; list.count && !rc && !limit_reached(r); r->a.depth++) {
		rc = expand(r, &pg_bfs, &pg_bfs_pull, pg_unreached, &list, &next, err);
		swap_lists(&list, &next);
	}
	r->result->whole = !list.count;
	return rc;
}

static int sssp(struct run *r, struct gtu_error *err)
{
	struct list near = start_with(r, &r->config->source, 1), fell = { .array = r->two }, far = { .array = r->a.other };
	struct pg_args *a = &r->a;
	uint32_t step = lab_near_far_step(r->config->graph);
	int rc = 0;

	memset(a->label.data, 0xff, 4ull * a->n);
	lab_words(&a->label)[r->config->source] = 0;
	a->threshold = step;
	while (!rc && (near.count || *word(r, PG_FAR)) && !limit_reached(r)) {
		a->round++;
		if (near.count) {
			rc = advance(r, &pg_sssp, &near, &fell, err);
			near = (struct list){ .array = r->one };
			if (!rc && fell.count)
				rc = filter(r, pg_near, &fell, &near, err);
			fell.pushed = false;
			continue;
		}
		a->floor = a->threshold;
		a->threshold = a->threshold > PG_NEVER - step ? PG_NEVER : a->threshold + step;
		lab_array_swap(&a->far, &far.array);
		far.count = *word(r, PG_FAR);
		*word(r, PG_FAR) = 0;
		rc = filter(r, pg_far, &far, &near, err);
	}
	r->result->whole = !near.count && !*word(r, PG_FAR);
	return rc;
}

/* Forward, keeping all levels in one array; then backward over them. */
static int bc(struct run *r, struct gtu_error *err)
{
	struct pg_args *a = &r->a;
	const bool unit = a->peg || a->hwwl;
	struct lab_array order = a->seen, none = { 0 };
	struct list list = { .array = order, .count = 1 }, next = { .array = order, .first = 1 };
	uint32_t *first = NULL, *more, levels = 0, capacity = 0, at = 0;
	double *paths = calloc(a->n, sizeof(*paths));
	int rc = paths ? 0 : gtu_fail(err, GTU_ERR_NOMEM, "out of memory for the paths of a search");

	if (rc)
		return rc;
	start_with(r, &r->config->source, 1);
	memset(a->label.data, 0xff, 4ull * a->n);
	lab_words(&a->label)[r->config->source] = 0;
	lab_words(&order)[0] = r->config->source;
	/* only ratios matter, and path counts grow large */
	paths[r->config->source] = ldexp(1, -900);
	a->paths = paths;
	*word(r, PG_ORDER) = 1;
	a->order = unit ? order : none;
	for (a->depth = 1; list.count && !rc && !limit_reached(r); a->depth++) {
		if (levels == capacity) {
			more = realloc(first, 8 * (capacity = 2 * capacity + 64));
			rc = more ? 0 : gtu_fail(err, GTU_ERR_NOMEM, "out of memory for the levels of a search");
			first = more ? more : first;
		}
		if (rc)
			break;
		first[2 * levels] = at;
		first[2 * levels++ + 1] = list.count;
		at += list.count;
		next.first = at;
		rc = expand(r, &pg_bc, &pg_bc_pull, pg_unreached, &list, &next, err);
		list = next;
	}
	a->order = none;
	r->result->whole = !list.count;
	for (; !rc && r->result->whole && levels > 1; levels--) {
		list = (struct list){ .array = order, .first = first[2 * (levels - 1)], .count = first[2 * (levels - 1) + 1] };
		a->depth = levels - 1;
		next = (struct list){ .array = r->two };
		rc = limit_reached(r) ? 0 : advance(r, &pg_bc_back, &list, &next, err);
		r->result->whole = !limit_reached(r) || levels == 2;
	}
	free(first);
	free(paths);
	a->paths = NULL;
	return rc;
}

static int stcon(struct run *r, struct gtu_error *err)
{
	const uint32_t ends[2] = { r->config->source, r->config->target };
	struct list list, next = { .array = r->a.far };
	uint32_t *owner = r->a.label.data;
	int rc = 0;

	if (ends[0] == ends[1]) {
		owner[ends[0]] = 1;
		r->result->met = r->result->whole = true;
		return 0;
	}
	list = start_with(r, ends, 2);
	for (unsigned i = 0; i < 2; i++)
		owner[ends[i]] = i + 1;
	for (r->a.depth = 1; list.count && !*word(r, PG_MET) && !rc && !limit_reached(r); r->a.depth++) {
		rc = expand(r, &pg_stcon, &pg_stcon_pull, pg_unmet, &list, &next, err);
		swap_lists(&list, &next);
	}
	r->result->met = *word(r, PG_MET);
	r->result->whole = r->result->met || !list.count;
	return rc;
}

/* All vertices, in memory. */
static struct list everything(struct run *r)
{
	struct list all = { .array = r->one, .count = r->a.n };
	uint32_t v;

	for (v = 0; v < r->a.n; v++)
		lab_words(&r->one)[v] = v;
	return all;
}

/* A vertex's random number. */
static uint32_t number_of(uint32_t v)
{
	v *= 0x9e3779b1u;
	v ^= v >> 15;
	v *= 0x85ebca77u;
	return v ^ v >> 13;
}

static int gc(struct run *r, struct gtu_error *err)
{
	struct list list = everything(r), next = { .array = r->two };
	int rc = 0;

	for (uint32_t v = 0; v < r->a.n; v++)
		lab_words(&r->a.other)[v] = number_of(v);
	for (r->a.round = 0; list.count && !rc && !limit_reached(r); r->a.round++) {
		rc = advance(r, &pg_gc, &list, &next, err);
		swap_lists(&list, &next);
	}
	r->result->whole = !list.count;
	return rc;
}

static int kc(struct run *r, struct gtu_error *err)
{
	struct list list = everything(r), next = { .array = r->two };
	uint32_t peeled = 0;
	int rc = advance(r, &pg_kc_count, &list, &next, err);

	for (r->a.depth = 0; peeled < r->a.n && !rc && !limit_reached(r); r->a.depth++) {
		list = (struct list){ .array = r->one };
		next = (struct list){ .array = r->two };
		rc = filter(r, pg_peel, NULL, &list, err);
		for (; list.count && !rc && !limit_reached(r); swap_lists(&list, &next)) {
			peeled += list.count;
			rc = advance(r, &pg_kc, &list, &next, err);
		}
		peeled += list.count;
		r->result->whole = !list.count;
	}
	r->result->whole &= peeled == r->a.n;
	return rc;
}

/* ---- Run ------------------------------------------------------------------------------------- */

static int arrays(struct run *r, struct gtu_error *err)
{
	const struct gtu_graph *g = r->config->graph;
	const struct lab_machine *m = lab_machine_of(r->lab);
	const bool paths = r->config->algorithm == LAB_PG_SSSP, balance = r->strategy == LAB_PG_BALANCED;
	struct pg_args *a = &r->a;
	uint64_t long_list = g->n + (paths ? 2 * g->m : 0) + 32;
	const struct lab_want want[] = {
		{ &a->row, "row", g->n + 1 }, { &a->label, "label", g->n }, { &a->tail, "tail", PG_TAILS },
		{ &r->one, "list", g->n + 32 }, { &r->two, "list'", long_list }, { &a->far, "far", long_list },
		{ &a->other, "other", long_list }, { &a->third, "third", g->n }, { &a->seen, "seen", g->n + 32 },
		{ &a->active, "active", r->may_pull ? g->n / 4 + 1 : 1 },
		{ &a->scan, "scan", balance ? g->n + 1 : 1 }, { &a->sum, "sum", balance ? g->n / PG_TILE + 2 : 1 },
		{ &a->slot, "slot", balance ? g->m + 1 : 1 }, { &a->begin, "begin", balance ? m->sms * m->warps + 1 : 1 },
	};

	a->n = (uint32_t)g->n;
	r->unexplored = g->m;
	return lab_graph_arrays(r->lab, g, &a->row, &a->col, paths ? &a->weight : NULL, want, sizeof(want) / sizeof(want[0]), err);
}

static int check(const struct lab_pg_config *config, struct gtu_error *err)
{
	const struct gtu_graph *g = config->graph;

	if (g->edge_bytes != 4 || g->n >= 1u << 31 || g->m >= 1ull << 30 || config->source >= g->n || config->target >= g->n)
		return gtu_fail(err, GTU_ERR_USAGE, "%s: PEG in the laboratory needs 4-byte edges, fewer than 2^31 vertices and 2^30 edges, and existing source and target",
				g->name);
	if (g->flags & GTU_GRAPH_DIRECTED)
		return gtu_fail(err, GTU_ERR_USAGE, "%s: PEG in the laboratory needs an undirected graph, with each edge stored both ways", g->name);
	return config->algorithm == LAB_PG_SSSP ? lab_graph_weights(g, "SSSP", err) : 0;
}

/* Resolve hybrid for this graph, and whether it may pull. */
static void resolve_strategy(struct run *r)
{
	const struct gtu_graph *g = r->config->graph;
	uint64_t max_degree = 0, v;
	bool skewed;

	for (v = 0; v < g->n; v++)
		max_degree = g->row[v + 1] - g->row[v] > max_degree ? g->row[v + 1] - g->row[v] : max_degree;
	skewed = max_degree * g->n >= LAB_PG_SKEWED * g->m;
	r->strategy = r->config->strategy;
	r->may_pull = skewed && !r->config->push_only && (r->strategy == LAB_PG_HYBRID || r->strategy == LAB_PG_PEG);
	if (r->strategy == LAB_PG_HYBRID)
		r->strategy = skewed ? LAB_PG_COOPERATIVE : LAB_PG_SIMPLE;
	if (r->may_pull)
		r->a.pushed_edges = &r->frontier_edges;
}

int lab_pg_run(const struct lab_machine *m, const struct lab_pg_config *config, const struct gtu_progress *progress,
	       struct lab_pg_result *result, struct gtu_error *err)
{
	static int (*const run_algorithm[])(struct run *, struct gtu_error *) = { bfs, sssp, bc, stcon, gc, kc };
	struct run r = { .config = config, .progress = progress, .result = result };
	struct lab_peg_build peg = config->peg;
	struct pg_args *a = &r.a;
	uint64_t n = config->graph->n;
	int rc = check(config, err);

	*result = (struct lab_pg_result){ .value = result->value, .score = result->score };
	if (rc)
		return rc;
	resolve_strategy(&r);
	if (peg.entries == LAB_PEG_UNLIMITED && n < peg.entries)
		peg.entries = (uint32_t)n;	/* as unlimited, and less to allocate */
	rc = lab_create(m, &r.lab, err);
	if (!rc && r.strategy == LAB_PG_PEG)
		rc = lab_peg_attach(r.lab, &peg, &a->peg, err);
	if (!rc && r.strategy == LAB_PG_HWWL)
		rc = lab_hwwl_attach(r.lab, config->worklist_bytes, &a->hwwl, err);
	rc = rc ? rc : arrays(&r, err);
	a->edges = &result->edges;
	a->limit = config->edges;
	rc = rc ? rc : run_algorithm[config->algorithm](&r, err);
	if (!rc) {
		result->inside = lab_stopped(r.lab);
		result->whole &= !result->inside;
		memcpy(result->value, a->label.data, 4 * n);
		if (config->algorithm == LAB_PG_BC && result->score)
			memcpy(result->score, a->third.data, 4 * n);
		result->stats = *lab_stats(r.lab);
		result->cycles = result->stats.cycles;
		if (a->peg)
			result->peg = *lab_peg_counts(a->peg);
		if (a->hwwl)
			result->hwwl_requests = lab_hwwl_requests(a->hwwl);
	}
	lab_destroy(r.lab);
	lab_peg_free(a->peg);
	lab_hwwl_free(a->hwwl);
	return rc;
}
