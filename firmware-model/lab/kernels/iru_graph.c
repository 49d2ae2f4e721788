// SPDX-License-Identifier: MIT
/* BFS, SSSP and PageRank of the IRU paper, with the IRU or with plain loads. */
#include "firmware-model/lab/engine/graph_kernels.h"
#include "iru_graph.h"

#define NEVER	0xffffffffu
#define BLOCK	256u

struct graph_args {
	uint32_t n, count, depth, threshold;
	uint32_t first; /* SSSP: number of this frontier's element 0 in the look-up table */
	float base;
	bool list, weights, share; /* expand: read a vertex list; carry costs; carry rank shares */
	bool in_place;			/* edges are read from the CSR, not copied to a frontier */
	bool again;			/* SSSP: the elements are the far pile's */
	bool check;			/* SSSP: expand lists only edges that lower a distance */
	struct lab_array row, col, weight;
	/* level, distance or rank; PageRank: sums, previous ranks */
	struct lab_array label, sum, old;
	struct lab_array from, near, far, far_cost; /* vertex lists: read; written */
	struct lab_array edge, cost;	/* the edge frontier and its secondary */
	struct lab_array lookup;	/* SSSP: which element of a frontier may list a vertex */
	struct lab_array tail;		/* list lengths: of edge, near, far; PageRank's flag */
	struct lab_iru *iru;
	struct lab_iru_times *times;
};
enum { EDGES, NEARS, FARS, CHANGED, TAILS };

enum { FROM, ROW, ROW1, SELF, TAIL, COL, WEIGHT, EDGE, COST, PUT, PUT_COST, LABEL, UPDATE, LOOKUP, STATEMENTS };
static const char *const names[STATEMENTS] = {
	"from[i]", "row[v]", "row[v+1]", "label[v]", "tail", "col[k]", "weight[k]", "edge[i]", "cost[i]", "edge[j]=",
	"cost[j]=", "label[c]", "label[c]=", "lookup[c]",
};

LAB_INLINE lab_u32 reserve(struct lab_warp *w, const struct graph_args *a, unsigned list, uint32_t total, lab_u32 rank)
{
	return lab_reserve(w, TAIL, &a->tail, list, total, rank);
}

/* One element for each active lane. */
LAB_INLINE lab_u32 reserve_each(struct lab_warp *w, const struct graph_args *a, unsigned list)
{
	return reserve(w, a, list, lab_popcount(w->mask), lab_rank(w->mask));
}

/* Write edge @k of a vertex with cost or share @self to @position of the frontier. */
LAB_INLINE void write_edge(struct lab_warp *w, const struct graph_args *a, lab_u32 k, lab_u32 self, lab_u32 position)
{
	lab_u32 c = { 0 };

	if (a->share) /* all edges of all vertices: the frontier has the CSR's order */
		position = k;
	if (!a->in_place)
		c = lab_load32(w, COL, &a->col, k);
	if (a->weights)
		self += lab_load32(w, WEIGHT, &a->weight, k);
	lab_wait(w);
	lab_alu(w, 2);
	if (a->check) {
		lab_u32 label = lab_load32(w, LABEL, &a->label, c);

		lab_wait(w);
		lab_alu(w, 2);
		LAB_IF(w, lab_lt(self, label)) {
			position = reserve_each(w, a, EDGES);
			lab_store32(w, PUT, &a->edge, position, c);
			lab_store32(w, PUT_COST, &a->cost, position, self);
		}
		return;
	}
	if (!a->in_place)
		lab_store32(w, PUT, &a->edge, position, c);
	if (a->weights || a->share)
		lab_store32(w, PUT_COST, &a->cost, position, self);
}

/*
 * Merrill's block-wide expansion: the block processes vertices with at least as many edges as it
 * has threads one at a time. Their threads write their number to shared memory; the winner
 * publishes its edge range. Returns the lanes whose vertices are done.
 */
enum { WINNER, WINNER2, BEGIN, END, OWN, POSITION, WORDS };
LAB_INLINE lab_mask expand_large(struct lab_warp *w, const struct graph_args *a, lab_u32 b, lab_u32 e, lab_u32 self)
{
	lab_mask large = lab_ge(e - b, lab_all(BLOCK)), done = 0, mine;
	lab_u32 winner, first, degree, own, at, position, base = { 0 };
	unsigned round;

	/* two alternating words: one is written while the other is still read */
	for (round = 0;; round++) {
		LAB_IF(w, large & ~done)
			lab_shared_store(w, lab_all(WINNER + round % 2), lab_lane() + w->in_block * LAB_LANES + 1);
		lab_barrier(w);
		winner = lab_shared_load(w, lab_all(WINNER + round % 2));
		lab_alu(w, 1);
		if (!winner[0])
			return done;
		mine = (winner[0] - 1) / LAB_LANES == w->in_block ? 1u << (winner[0] - 1) % LAB_LANES : 0;
		LAB_IF(w, mine) {
			if (!a->share && !a->check) {
				base = lab_atomic(w, TAIL, &a->tail, LAB_ADD_U32, lab_all(EDGES), e - b);
				lab_wait(w);
			}
			lab_shared_store(w, lab_all(BEGIN), b);
			lab_shared_store(w, lab_all(END), e);
			lab_shared_store(w, lab_all(OWN), self);
			lab_shared_store(w, lab_all(POSITION), base);
		}
		done |= mine;
		lab_barrier(w);
		LAB_IF(w, mine)
			lab_shared_store(w, lab_all(WINNER + round % 2), lab_all(0));
		first = lab_shared_load(w, lab_all(BEGIN));
		degree = lab_shared_load(w, lab_all(END)) - first;
		own = lab_shared_load(w, lab_all(OWN));
		position = lab_shared_load(w, lab_all(POSITION));
		at = lab_lane() + w->in_block * LAB_LANES;
		LAB_WHILE(w, lab_lt(at, degree)) {
			lab_alu(w, 3);
			write_edge(w, a, first + at, own, position + at);
			at += BLOCK;
		}
	}
}

/* Expand 32 vertices, 32 edges at a time: lanes search their vertex in the degrees' prefix sums. */
LAB_PROGRAM static void expand(struct lab_warp *w, const void *p)
{
	const struct graph_args *a = p;
	lab_u32 i = lab_thread(w), v = i, b = { 0 }, e = { 0 }, self = { 0 }, k, cost, at, position = { 0 };
	struct lab_runs runs;
	uint32_t total;

	lab_alu(w, 5);
	LAB_IF(w, lab_lt(i, lab_all(a->count))) {
		if (a->list) {
			v = lab_load32(w, FROM, &a->from, i);
			lab_wait(w);
		}
		b = lab_load32(w, ROW, &a->row, v);
		e = lab_load32(w, ROW1, &a->row, v + 1);
		if (a->weights || a->share)
			self = lab_load32(w, SELF, &a->label, v);
		lab_wait(w);
		lab_alu(w, a->share ? 11 : 1); /* with a division */
	}
	if (a->share)
		self = lab_rank_share(self, b, e);
	e = lab_select(expand_large(w, a, b, e, self), b, e);
	total = lab_runs_begin(w, &runs, e - b);
	if (!total)
		return;
	at = lab_lane();
	if (!a->share && !a->check)
		position = reserve(w, a, EDGES, total, at);
	LAB_WHILE(w, lab_lt(at, lab_all(total))) {
		lab_runs_take(w, &runs, at, b, self, &k, &cost);
		write_edge(w, a, k, cost, position);
		at += 32;
		position += 32;
	}
}

/* Load element *@i of the edge frontier for the active lanes, by load_iru() or by plain loads. */
LAB_INLINE lab_mask element(struct lab_warp *w, const struct graph_args *a, const struct lab_array *edge, lab_u32 *i,
			    lab_u32 *c, lab_u32 *cost)
{
	struct lab_iru_lanes lanes;

	if (a->iru) {
		if ((*i)[0] >= a->count)	/* a warp of the last block without elements */
			return 0;
		lab_load_iru(w, a->iru, &lanes);
		*c = lanes.index;
		*cost = lanes.secondary;
		*i = lanes.position;
		return lanes.active;
	}
	w->mask &= lab_lt(*i, lab_all(a->count));
	*c = lab_load32(w, EDGE, edge, *i);
	if (a->cost.data)
		*cost = lab_load32(w, COST, &a->cost, *i);
	lab_wait(w);
	return w->mask;
}

/* The warp's time since @since, which advances to now. */
LAB_INLINE uint64_t elapsed(const struct lab_warp *w, uint64_t *since)
{
	uint64_t now = lab_now(w->lab), was = *since;

	*since = now;
	return now - was;
}

/* element(), with its time noted. */
LAB_INLINE lab_mask timed_element(struct lab_warp *w, const struct graph_args *a, const struct lab_array *edge, lab_u32 *i,
				  lab_u32 *c, lab_u32 *cost, uint64_t *since)
{
	lab_mask some = element(w, a, edge, i, c, cost);

	a->times->before += elapsed(w, since);
	return some;
}

LAB_PROGRAM static void bfs_contract(struct lab_warp *w, const void *p)
{
	const struct graph_args *a = p;
	lab_u32 i = lab_thread(w), c, none = { 0 };
	uint64_t since = lab_now(w->lab);

	lab_alu(w, 5);
	LAB_IF(w, timed_element(w, a, &a->edge, &i, &c, &none, &since)) {
		LAB_IF(w, lab_reach(w, LABEL, UPDATE, &a->label, c, a->depth))
			lab_store32(w, PUT, &a->near, reserve_each(w, a, NEARS), c);
	}
	a->times->after += elapsed(w, &since);
}

/*
 * An element that lowers its vertex's distance writes its number to the vertex's look-up entry; one
 * is kept. The far pile's elements do so if their cost is still the vertex's distance.
 */
LAB_PROGRAM static void sssp_relax(struct lab_warp *w, const void *p)
{
	const struct graph_args *a = p;
	lab_u32 i = lab_thread(w), c, cost = { 0 }, label;
	uint64_t since = lab_now(w->lab);

	lab_alu(w, 5);
	LAB_IF(w, timed_element(w, a, &a->edge, &i, &c, &cost, &since)) {
		label = lab_load32(w, LABEL, &a->label, c);
		lab_wait(w);
		lab_alu(w, 2);
		LAB_IF(w, a->again ? lab_eq(cost, label) : lab_lt(cost, label)) {
			if (!a->again)
				lab_do_atomic(w, UPDATE, &a->label, LAB_MIN_U32, &c, &cost, NULL, NULL);
			lab_store32(w, LOOKUP, &a->lookup, c, i + a->first);
		}
	}
	a->times->after += elapsed(w, &since);
}

/* The elements kept list their vertices as near or far. */
LAB_PROGRAM static void sssp_list(struct lab_warp *w, const void *p)
{
	const struct graph_args *a = p;
	lab_u32 i = lab_thread(w), c, cost, winner, at;
	lab_mask near, all;

	lab_alu(w, 5);
	LAB_IF(w, lab_lt(i, lab_all(a->count))) {
		c = lab_load32(w, EDGE, &a->edge, i);
		lab_wait(w);
		winner = lab_load32(w, LOOKUP, &a->lookup, c);
		lab_wait(w);
		lab_alu(w, 2);
		LAB_IF(w, lab_eq(winner, i + a->first)) {
			cost = lab_load32(w, LABEL, &a->label, c);
			lab_wait(w);
			lab_alu(w, 2);
			near = lab_lt(cost, lab_all(a->threshold));
			all = w->mask;
			LAB_IF(w, near)
				lab_store32(w, PUT, &a->near, reserve_each(w, a, NEARS), c);
			LAB_IF(w, all & ~near) {
				at = reserve_each(w, a, FARS);
				lab_store32(w, PUT, &a->far, at, c);
				lab_store32(w, PUT_COST, &a->far_cost, at, cost);
			}
		}
	}
}

LAB_PROGRAM static void pr_add(struct lab_warp *w, const void *p)
{
	const struct graph_args *a = p;
	lab_u32 i = lab_thread(w), c, share = { 0 };
	uint64_t since = lab_now(w->lab);

	lab_alu(w, 5);
	LAB_IF(w, timed_element(w, a, a->in_place ? &a->col : &a->edge, &i, &c, &share, &since)) {
		lab_alu(w, 2);
		lab_atomic_add_f32(w, UPDATE, &a->sum, c, (lab_f32)share);
	}
	a->times->after += elapsed(w, &since);
}

LAB_PROGRAM static void pr_finish(struct lab_warp *w, const void *p)
{
	const struct graph_args *a = p;
	lab_u32 v = lab_thread(w);
	lab_u32 old;
	lab_f32 sum;

	lab_alu(w, 5);
	LAB_IF(w, lab_lt(v, lab_all(a->n))) {
		sum = lab_load_f32(w, LABEL, &a->sum, v);
		old = lab_load32(w, SELF, &a->label, v);
		lab_wait(w);
		lab_alu(w, 2);
		lab_store_f32(w, UPDATE, &a->label, v, lab_all_f32(a->base) + sum * LAB_DAMPING);
		lab_store32(w, PUT_COST, &a->old, v, old);
		lab_store_f32(w, PUT, &a->sum, v, lab_all_f32(0));
	}
}

/* Set the flag if any rank changed by more than a hundredth of the mean. */
LAB_PROGRAM static void pr_check(struct lab_warp *w, const void *p)
{
	const struct graph_args *a = p;
	lab_f32 now, was, bound = lab_all_f32(0.01f / (float)a->n);
	lab_u32 v = lab_thread(w);
	lab_mask changed;

	lab_alu(w, 5);
	LAB_IF(w, lab_lt(v, lab_all(a->n))) {
		now = lab_load_f32(w, LABEL, &a->label, v);
		was = lab_load_f32(w, SELF, &a->old, v);
		lab_wait(w);
		lab_alu(w, 5);		/* difference, absolute value, comparison, ballot */
		changed = (lab_lt_f32(bound, now - was) | lab_lt_f32(bound, was - now)) & w->mask;
		LAB_IF(w, changed & -changed)
			lab_store32(w, TAIL, &a->tail, lab_all(CHANGED), lab_all(1));
	}
}

#define KERNEL(id, bytes) static const struct lab_kernel kernel_##id = LAB_KERNEL(id, names, bytes)
KERNEL(expand, 4 * WORDS);
KERNEL(bfs_contract, 4 * LAB_CULL * BLOCK / LAB_LANES);
KERNEL(sssp_relax, 0);
KERNEL(sssp_list, 0);
KERNEL(pr_add, 0);
KERNEL(pr_finish, 0);
KERNEL(pr_check, 0);

const char *const lab_iru_algorithm_name[LAB_IRU_ALGORITHMS + 1] = { "bfs", "sssp", "pr", NULL };

/* ---- Host ------------------------------------------------------------------------------------ */

struct run {
	struct lab *lab;
	struct lab_iru *iru;
	const struct lab_iru_config *config;
	const struct gtu_progress *progress;
	struct graph_args a;
};

static int launch(struct run *r, const struct lab_kernel *k, uint32_t count, struct gtu_error *err)
{
	struct lab_launch l = { k, &r->a, ((uint64_t)count + BLOCK - 1) / BLOCK, BLOCK, r->progress };

	r->a.count = count;
	return lab_run(r->lab, &l, NULL, err);
}

/* Launch a kernel that consumes @count elements of the edge frontier; one warp per IRU reply. */
static int consume(struct run *r, const struct lab_kernel *k, const struct lab_array *target,
		   const struct lab_array *edge, uint32_t count, unsigned op, bool secondary, bool position,
		   struct gtu_error *err)
{
	int rc;

	if (!count)
		return 0;
	if (!r->config->iru)
		return launch(r, k, count, err);
	r->a.iru = r->iru;
	lab_iru_configure(r->iru, target, edge, secondary ? &r->a.cost : NULL, count, op, position);
	rc = launch(r, k, count, err);
	r->a.iru = NULL;
	return rc ? rc : lab_iru_finish(r->iru, err);
}

static int bfs(struct run *r, struct gtu_error *err)
{
	struct graph_args *a = &r->a;
	uint32_t count = 1, *tail = a->tail.data;
	int rc = 0;

	a->list = true;
	for (a->depth = 1; count && !rc; a->depth++) {
		tail[EDGES] = tail[NEARS] = 0;
		rc = launch(r, &kernel_expand, count, err);
		rc = rc ? rc : consume(r, &kernel_bfs_contract, &a->label, &a->edge, tail[EDGES], GTU_IRU_OP_NONE, false, false, err);
		count = tail[NEARS];
		lab_array_swap(&a->from, &a->near);
	}
	return rc;
}

/* Contract @count elements of a->edge and a->cost: lower distances, list improved vertices. */
static int contract(struct run *r, uint32_t count, struct gtu_error *err)
{
	struct graph_args *a = &r->a;
	int rc;

	if (!count)
		return 0;
	if (count > UINT32_MAX - a->first) { /* element numbers restart; old ones must not match */
		memset(a->lookup.data, 0, a->lookup.bytes);
		a->first = 1;
	}
	rc = consume(r, &kernel_sssp_relax, &a->label, &a->edge, count, GTU_IRU_OP_MIN_U32, true, true, err);
	rc = rc ? rc : launch(r, &kernel_sssp_list, count, err);
	a->first += count;
	return rc;
}

/* The near list is empty: contract the far pile under the next threshold. */
static int next_far(struct run *r, uint32_t step, struct lab_array *other, struct lab_array *other_cost,
		    struct gtu_error *err)
{
	struct graph_args *a = &r->a;
	struct lab_array edge = a->edge, cost = a->cost;
	uint32_t *tail = a->tail.data, count = tail[FARS];
	int rc;

	a->threshold = a->threshold > NEVER - step ? NEVER : a->threshold + step;
	tail[FARS] = 0;
	lab_array_swap(&a->far, other);
	lab_array_swap(&a->far_cost, other_cost);
	a->edge = *other;
	a->cost = *other_cost;
	a->again = true;
	rc = contract(r, count, err);
	a->again = false;
	a->edge = edge;
	a->cost = cost;
	return rc;
}

static int sssp(struct run *r, struct lab_array *other, struct lab_array *other_cost, struct gtu_error *err)
{
	struct graph_args *a = &r->a;
	double factor = r->config->step ? r->config->step : 1, wide = factor * lab_near_far_step(r->config->graph);
	uint32_t count = 1, step = wide < 1 ? 1 : wide > 1e9 ? 1000000000u : (uint32_t)wide, *tail = a->tail.data;
	int rc = 0;

	a->list = a->weights = true;
	a->check = r->config->check;
	a->threshold = step;
	a->first = 1;
	while (!rc && (count || tail[FARS])) {
		tail[NEARS] = 0;
		if (count) {
			tail[EDGES] = 0;
			rc = launch(r, &kernel_expand, count, err);
			rc = rc ? rc : contract(r, tail[EDGES], err);
		} else {
			rc = next_far(r, step, other, other_cost, err);
		}
		count = tail[NEARS];
		lab_array_swap(&a->from, &a->near);
	}
	return rc;
}

static int pagerank(struct run *r, struct gtu_error *err)
{
	struct graph_args *a = &r->a;
	uint32_t i;
	int rc = 0;

	a->share = true;
	a->in_place = !r->config->frontier;
	lab_ranks_init(r->config->graph, a->label.data);
	for (i = 0; i < r->config->iterations && !rc; i++) {
		a->base = lab_rank_base(r->config->graph, a->label.data);
		rc = launch(r, &kernel_expand, a->n, err);
		rc = rc ? rc : consume(r, &kernel_pr_add, &a->sum, a->in_place ? &a->col : &a->edge,
				       (uint32_t)r->config->graph->m, GTU_IRU_OP_ADD_F32, true, false, err);
		rc = rc ? rc : launch(r, &kernel_pr_finish, a->n, err);
		rc = rc ? rc : launch(r, &kernel_pr_check, a->n, err);
	}
	return rc;
}

static int arrays(struct run *r, struct lab_array *other, struct lab_array *other_cost, struct gtu_error *err)
{
	const struct gtu_graph *g = r->config->graph;
	bool paths = r->config->algorithm == LAB_IRU_SSSP, ranks = r->config->algorithm == LAB_IRU_PR;
	uint64_t lists = g->n + g->m, vertices = ranks ? 1 : g->n + 32;
	struct graph_args *a = &r->a;
	const struct lab_want want[] = {
		{ &a->cost, "cost", paths || ranks ? g->m : 0 },
		{ &a->row, "row", g->n + 1 }, { &a->label, "label", g->n }, { &a->tail, "tail", TAILS },
		{ &a->from, "from", vertices }, { &a->near, "near", vertices },
		{ &a->edge, "edge", ranks && !r->config->frontier ? 1 : g->m },
		{ &a->sum, "sum", ranks ? g->n : 1 }, { &a->old, "old", ranks ? g->n : 1 },
		{ &a->lookup, "lookup", paths ? g->n : 1 },
		{ &a->far, "far", paths ? lists : 1 }, { &a->far_cost, "far_cost", paths ? lists : 1 },
		{ other, "far'", paths ? lists : 1 }, { other_cost, "far_cost'", paths ? lists : 1 },
	};
	int rc;

	if (g->edge_bytes != 4 || g->n >= 1u << 31 || g->m >= 1ull << 31 || r->config->source >= g->n)
		return gtu_fail(err, GTU_ERR_USAGE, "%s: the laboratory's IRU needs 4-byte edges, fewer than 2^31 vertices and edges, and an existing source",
				g->name);
	a->n = (uint32_t)g->n;
	rc = paths ? lab_graph_weights(g, "SSSP", err) : 0;
	rc = rc ? rc : lab_graph_arrays(r->lab, g, &a->row, &a->col, paths ? &a->weight : NULL, want,
					sizeof(want) / sizeof(want[0]), err);
	if (rc)
		return rc;
	memset(a->label.data, 0xff, 4 * g->n);
	lab_words(&a->label)[r->config->source] = 0;
	lab_words(&a->from)[0] = r->config->source;
	return 0;
}

int lab_iru_run(const struct lab_machine *m, const struct lab_iru_config *config, const struct gtu_progress *progress,
		uint32_t *result, struct lab_stats *stats, struct lab_iru_counts *counts, struct gtu_error *err)
{
	struct lab_iru_times unwanted;
	struct run r = { .config = config, .progress = progress, .a.times = config->times ? config->times : &unwanted };
	struct lab_array other, other_cost;
	int rc = lab_create(m, &r.lab, err);

	rc = rc || !config->iru ? rc : lab_iru_attach(r.lab, &config->shape, config->timeout, &config->options, &r.iru, err);
	rc = rc ? rc : arrays(&r, &other, &other_cost, err);
	if (!rc)
		rc = config->algorithm == LAB_IRU_BFS ? bfs(&r, err) : config->algorithm == LAB_IRU_PR ? pagerank(&r, err) :
		     sssp(&r, &other, &other_cost, err);
	if (!rc) {
		memcpy(result, r.a.label.data, 4 * config->graph->n);
		*stats = *lab_stats(r.lab);
		if (counts && r.iru)
			*counts = *lab_iru_counts(r.iru);
	}
	lab_destroy(r.lab);
	lab_iru_free(r.iru);
	return rc;
}
