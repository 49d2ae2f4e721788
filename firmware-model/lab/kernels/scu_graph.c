// SPDX-License-Identifier: MIT
/* BFS, SSSP and PageRank of the SCU paper: the host part, compaction on GPU or SCU. */
#include "scu_graph.h"

#include "scu_kernels_gpu.h"

#define WIDTH4	(2u << GTU_SCU_WIDTH_SHIFT)
#define RUNS	(2u << GTU_SCU_COUNT_SHIFT)
#define INDEXED	(2u << GTU_SCU_INDEX_SHIFT)
#define STEP(s)	((uint32_t)(s) << GTU_SCU_STEP_SHIFT)
#define COST4	(2u << GTU_SCU_COST_SHIFT)
#define LABELS	(2u << GTU_SCU_TARGET_SHIFT)	/* grouped by the lines of label[] */

struct run {
	struct lab *lab;
	struct lab_scu *scu;
	const struct lab_scu_config *config;
	const struct gtu_progress *progress;
	struct lab_scu_result *out;
	struct scu_args a;
	uint64_t capacity;			/* capacity of an edge frontier in elements */
	/* next: of vertex lists; far: the far list and its successor */
	struct lab_array next, far[2], far_cost[2];
	uint32_t fars;			/* elements of far[0] */
	uint32_t numbered;		/* elements of the last contraction */
	struct lab_array filter, reorder; /* a bit, and a position, per element */
	struct lab_array table[2], group_table; /* filter tables: of expansion and of contraction */
	bool kept[2];			/* the filter table has content */
};

const char *const lab_scu_variant_name[LAB_SCU_VARIANTS] = {
	"GPU", "GPU, split", "basic SCU", "filtering SCU", "filtering and grouping SCU",
};

bool lab_scu_has_variant(enum lab_iru_algorithm algorithm, enum lab_scu_variant variant)
{
	return variant != LAB_SCU_FILTERED || algorithm != LAB_IRU_PR;
}

/* ---- Kernels and operations ------------------------------------------------------------------ */

static int launch(struct run *r, const struct lab_kernel *k, uint32_t count, bool compacts, struct gtu_error *err)
{
	struct lab_launch l = { k, &r->a, ((uint64_t)count + SCU_BLOCK_THREADS - 1) / SCU_BLOCK_THREADS, SCU_BLOCK_THREADS,
				r->progress };
	const uint64_t fills = lab_blocks_at_once(lab_machine_of(r->lab), k, SCU_BLOCK_THREADS);
	struct lab_stats before = *lab_stats(r->lab);
	uint64_t cycles;
	int rc;

	if (!count)
		return 0;
	if (k == &scu_kernel_bfs && l.grid > fills)
		l.grid = fills;
	r->a.blocks = (uint32_t)l.grid;
	r->a.count = count;
	rc = lab_run(r->lab, &l, NULL, err);
	lab_stats_add(&r->out->gpu, &before, lab_stats(r->lab));
	if (compacts)
		lab_stats_add(&r->out->compacting, &before, lab_stats(r->lab));
	cycles = lab_stats(r->lab)->cycles - before.cycles;
	cycles -= lab_machine_of(r->lab)->launch_latency;
	*(compacts ? &r->out->compaction : &r->out->processing) += cycles;
	r->out->elements += compacts ? 0 : count;
	return rc;
}

static int operate(struct run *r, const struct lab_scu_op *op, uint64_t *count, struct gtu_error *err)
{
	struct lab_stats before = *lab_stats(r->lab);
	struct lab_scu_op configured = *op;
	int rc;

	configured.skips_excluded = r->config->skips_excluded;
	rc = lab_scu_run(r->scu, &configured, count, err);

	lab_stats_add(&r->out->scu, &before, lab_stats(r->lab));
	return rc ? rc : gtu_tick(r->progress, "SCU", 0, 0) ? gtu_fail(err, GTU_ERR_INTERRUPTED, "interrupted") : 0;
}

/* Table lines for @elements: a larger table would only cost more to clear and drain. */
static uint64_t lines_for(uint64_t elements, uint64_t max_lines)
{
	uint64_t lines = GTU_TABLE_WAYS;

	while (lines < elements && lines < max_lines)
		lines *= 2;
	return lines < max_lines ? lines : max_lines;
}

/* The lines of a table of @bytes, in whole sets (SCU, table 2: bytes, 16 ways, bytes per line). */
static uint64_t lines_in(uint64_t bytes, uint32_t line_bytes)
{
	return bytes / line_bytes / GTU_TABLE_WAYS * GTU_TABLE_WAYS;
}

static uint64_t filter_lines(const struct lab_scu_config *config)
{
	return config->algorithm == LAB_IRU_SSSP ? lines_in(config->sssp_bytes, 8) : lines_in(config->bfs_bytes, 4);
}

static uint64_t group_lines(const struct lab_scu_config *config)
{
	return lines_in(config->group_bytes, 4 * config->group_max);
}

/* Filtering and grouping of one compaction. */
struct extras {
	int table; /* -1: no filter; else the table index (SSSP: filter by best cost) */
	bool keep;			/* the filter keeps elements of earlier operations */
	bool group;
};

/*
 * Run the PRODUCE steps for @op's filter and grouping, and set @op's parameters to APPLY them.
 * *@count: elements kept, or @elements without a filter.
 */
static int produce(struct run *r, struct lab_scu_op *op, const struct extras *x, const struct lab_array *gathered,
		   const struct lab_array *input, uint64_t elements, uint64_t *count, struct gtu_error *err)
{
	const bool best = r->config->algorithm == LAB_IRU_SSSP;
	const uint64_t n = op->operand[op->operand[GTU_SCU_INDEX].array ? GTU_SCU_INDEX : GTU_SCU_DATA].count;
	struct lab_scu_op step = *op;
	int rc = 0;

	if (x->table >= 0) {
		const uint64_t max_lines = filter_lines(r->config);
		const bool keep = x->keep && r->kept[x->table];

		step.param |= STEP(GTU_STEP_PRODUCE) | (best ? GTU_SCU_BEST | COST4 : GTU_SCU_UNIQUE) | (keep ? GTU_SCU_KEEP : 0);
		step.state_in_set = !r->config->state_bytes;
		step.operand[GTU_SCU_FILTER] = (struct lab_scu_operand){ &r->filter, r->capacity };
		step.operand[GTU_SCU_FILTER_TABLE] =
			(struct lab_scu_operand){ &r->table[x->table], x->keep ? max_lines : lines_for(elements, max_lines) };
		if (gathered)
			step.operand[GTU_SCU_COST_GATHERED] =
				(struct lab_scu_operand){ gathered, op->operand[GTU_SCU_INDEX].array ? gathered->bytes / 4 : n };
		if (input)
			step.operand[GTU_SCU_COST_INPUT] = (struct lab_scu_operand){ input, n };
		r->kept[x->table] = true;
		rc = operate(r, &step, count, err);
		op->operand[GTU_SCU_FILTER] = step.operand[GTU_SCU_FILTER];
	}
	if (x->group && !rc) {
		step = *op;		/* reads the filter, if there is one */
		step.param |= STEP(GTU_STEP_PRODUCE) | GTU_SCU_GROUP | LABELS;
		step.imm = (r->config->algorithm == LAB_IRU_PR ? &r->a.sum : &r->a.label)->addr;
		step.group_max = (uint8_t)r->config->group_max;
		step.state_in_set = !r->config->state_bytes;
		step.operand[GTU_SCU_REORDER] = (struct lab_scu_operand){ &r->reorder, r->capacity };
		step.operand[GTU_SCU_GROUP_TABLE] =
			(struct lab_scu_operand){ &r->group_table, lines_for(x->table >= 0 ? *count : elements, group_lines(r->config)) };
		rc = operate(r, &step, count, err);
		op->operand[GTU_SCU_REORDER] = step.operand[GTU_SCU_REORDER];
		if (!r->config->skips_excluded)
			op->operand[GTU_SCU_FILTER] = (struct lab_scu_operand){ 0 };
	}
	if (x->table >= 0 || x->group)
		op->param |= STEP(GTU_STEP_APPLY);
	return rc;
}

/* ---- Expansion ------------------------------------------------------------------------------- */

static int expand_by_scu(struct run *r, uint32_t count, uint32_t *edges, struct gtu_error *err)
{
	struct scu_args *a = &r->a;
	const bool costs = a->weights;
	struct extras x = { .table = r->config->variant >= LAB_SCU_FILTERED && !a->share ? 0 : -1, .keep = true,
			    .group = r->config->variant == LAB_SCU_GROUPED };
	struct lab_scu_op op = { .opcode = GTU_OP_SCU_EXPAND, .param = WIDTH4 | RUNS | INDEXED };
	uint64_t n = 0, again = 0;
	int rc;

	op.operand[GTU_SCU_DATA] = (struct lab_scu_operand){ &a->col, a->col.bytes / 4 };
	op.operand[GTU_SCU_INDEX] = (struct lab_scu_operand){ &a->index, count };
	op.operand[GTU_SCU_COUNT] = (struct lab_scu_operand){ &a->counts, count };
	rc = produce(r, &op, &x, costs ? &a->weight : NULL, costs ? &a->self : NULL, r->capacity, &n, err);
	op.operand[GTU_SCU_OUT] = (struct lab_scu_operand){ &a->edge, r->capacity };
	rc = rc ? rc : operate(r, &op, &n, err);
	if (costs && !rc) {
		op.operand[GTU_SCU_DATA].array = &a->weight;
		op.operand[GTU_SCU_OUT].array = &a->cost;
		rc = operate(r, &op, &again, err);
		if (!rc && again != n)
			rc = gtu_fail(err, GTU_ERR_VERIFY, "the SCU wrote %llu edges, but %llu weights", (unsigned long long)n,
				      (unsigned long long)again);
	}
	if ((costs || a->share) && !rc) {
		op.opcode = GTU_OP_SCU_REPLICATE;
		op.param &= ~INDEXED;
		op.operand[GTU_SCU_INDEX].array = NULL;
		op.operand[GTU_SCU_DATA] = (struct lab_scu_operand){ &a->self, count };
		op.operand[GTU_SCU_OUT].array = costs ? &a->cost2 : &a->cost;
		rc = operate(r, &op, &again, err);
	}
	*edges = (uint32_t)n;
	return rc;
}

/* Expand @count vertices into the edge frontier; *@edges: its length. */
static int expand(struct run *r, uint32_t count, uint32_t *edges, struct gtu_error *err)
{
	const enum lab_scu_variant variant = r->config->variant;
	int rc = variant == LAB_SCU_MIXED ? 0 : launch(r, &scu_kernel_prepare, count, false, err);

	if (rc || variant >= LAB_SCU_BASIC)
		return rc ? rc : expand_by_scu(r, count, edges, err);
	lab_words(&r->a.tail)[SCU_EDGES] = 0;
	rc = launch(r, &scu_kernel_expand, count, variant == LAB_SCU_SPLIT, err);
	*edges = lab_words(&r->a.tail)[SCU_EDGES];
	return rc;
}

/* ---- Compaction of lists by masks ------------------------------------------------------------ */

/* The part of an array after its first @from elements. */
static struct lab_array tail_of(const struct lab_array *a, uint64_t from)
{
	struct lab_array rest = *a;

	rest.addr += 4 * from;
	rest.bytes -= 4 * from;
	rest.data = (uint8_t *)rest.data + 4 * from;
	return rest;
}

/*
 * Append the elements of @in whose mask bits are set, of @count, to @out at *@n, which is advanced;
 * the same from @in2 to @out2 unless that is NULL. @extras may be NULL; a filter by cost reads
 * @in2.
 */
static int compact(struct run *r, const struct lab_array *in, const struct lab_array *in2, const struct lab_array *bits,
		   uint32_t count, const struct lab_array *out, const struct lab_array *out2, uint32_t *n,
		   const struct extras *extras, struct gtu_error *err)
{
	struct lab_scu_op op = { .opcode = GTU_OP_SCU_DATA, .param = WIDTH4 };
	struct lab_array to = tail_of(out, *n), to2;
	struct extras none = { .table = -1 };
	uint64_t put = 0, elements = count;
	int rc;

	if (!count)
		return 0;
	if (r->config->variant == LAB_SCU_SPLIT) {
		r->a.in = *in;
		r->a.in2 = out2 ? *in2 : (struct lab_array){ 0 };
		r->a.bits = *bits;
		r->a.out = *out;
		r->a.out2 = out2 ? *out2 : (struct lab_array){ 0 };
		lab_words(&r->a.tail)[SCU_EDGES] = *n;
		rc = launch(r, &scu_kernel_compact, count, true, err);
		*n = lab_words(&r->a.tail)[SCU_EDGES];
		return rc;
	}
	op.operand[GTU_SCU_DATA] = (struct lab_scu_operand){ in, count };
	op.operand[GTU_SCU_MASK] = (struct lab_scu_operand){ bits, count };
	rc = produce(r, &op, extras ? extras : &none, extras && extras->table >= 0 && r->config->algorithm == LAB_IRU_SSSP ? in2 : NULL,
		     NULL, elements, &put, err);
	op.operand[GTU_SCU_OUT] = (struct lab_scu_operand){ &to, to.bytes / 4 };
	rc = rc ? rc : operate(r, &op, &put, err);
	if (out2 && !rc) {
		to2 = tail_of(out2, *n);
		op.operand[GTU_SCU_DATA].array = in2;
		op.operand[GTU_SCU_OUT].array = &to2;
		rc = operate(r, &op, &put, err);
	}
	*n += (uint32_t)put;
	return rc;
}

/* ---- Algorithms ------------------------------------------------------------------------------ */

static int bfs(struct run *r, struct gtu_error *err)
{
	/* algorithm 4: the vertices of earlier iterations stay in the table */
	const struct extras x = { .table = r->config->variant >= LAB_SCU_FILTERED && !r->config->exact ? 1 : -1, .keep = true };
	struct scu_args *a = &r->a;
	uint32_t count = 1, edges;
	int rc = 0;

	a->list = true;
	a->exact = r->config->exact;
	for (a->depth = 1; count && !rc; a->depth++) {
		rc = expand(r, count, &edges, err);
		lab_words(&a->tail)[SCU_NEARS] = count = 0;
		a->near_list = r->next;
		rc = rc ? rc : launch(r, &scu_kernel_bfs, edges, false, err);
		if (a->masks)
			rc = rc ? rc : compact(r, &a->edge, NULL, &a->near, edges, &r->next, NULL, &count, &x, err);
		else
			count = lab_words(&a->tail)[SCU_NEARS];
		lab_array_swap(&a->from, &r->next);
	}
	return rc;
}

/* Elements get new numbers, so that entries of the look-up table of earlier ones do not match. */
static void number(struct run *r, uint32_t count)
{
	struct scu_args *a = &r->a;

	a->first += r->numbered;
	r->numbered = count;
	if (count > UINT32_MAX - a->first) {
		memset(a->lookup.data, 0, a->lookup.bytes);
		a->first = 1;
	}
}

/*
 * List the @count elements of a->edge that the look-up table keeps as near and far; costs are in a->cost. @unfiltered:
 * the far pile's, whose duplicates the SCU removes.
 */
static int split_lists(struct run *r, uint32_t count, bool unfiltered, const struct extras *x, uint32_t *near, struct gtu_error *err)
{
	struct scu_args *a = &r->a;
	int rc;

	lab_words(&a->tail)[SCU_NEARS] = *near;
	lab_words(&a->tail)[SCU_FARS] = r->fars;
	a->near_list = r->next;
	a->far_list = r->far[0];
	a->far_cost = r->far_cost[0];
	rc = launch(r, unfiltered ? &scu_kernel_far : &scu_kernel_list, count, false, err);
	if (a->masks) {
		rc = rc ? rc : compact(r, &a->edge, &a->cost, &a->near, count, &r->next, NULL, near, x, err);
		return rc ? rc : compact(r, &a->edge, &a->cost, &a->far, count, &r->far[0], &r->far_cost[0], &r->fars, NULL, err);
	}
	*near = lab_words(&a->tail)[SCU_NEARS];
	r->fars = lab_words(&a->tail)[SCU_FARS];
	return rc;
}

/* The near list is empty: select the far elements below the next threshold. */
static int next_far(struct run *r, uint32_t step, uint32_t *near, struct gtu_error *err)
{
	const bool filters = r->config->variant >= LAB_SCU_FILTERED;
	const struct extras x = { .table = filters ? 1 : -1, .group = r->config->variant == LAB_SCU_GROUPED };
	struct scu_args *a = &r->a;
	struct lab_array edge = a->edge, cost = a->cost;
	uint32_t count = r->fars;
	int rc = 0;

	a->floor = a->threshold;
	a->threshold = a->threshold > SCU_NEVER - step ? SCU_NEVER : a->threshold + step;
	lab_array_swap(&r->far[0], &r->far[1]);
	lab_array_swap(&r->far_cost[0], &r->far_cost[1]);
	r->fars = 0;
	a->edge = r->far[1];
	a->cost = r->far_cost[1];
	number(r, count);
	if (!filters)
		rc = launch(r, &scu_kernel_again, count, false, err);
	rc = rc ? rc : split_lists(r, count, filters, &x, near, err);
	a->edge = edge;
	a->cost = cost;
	return rc;
}

static int sssp(struct run *r, struct gtu_error *err)
{
	const struct extras x = { .table = -1, .group = r->config->variant == LAB_SCU_GROUPED };
	struct scu_args *a = &r->a;
	uint32_t count = 1, step = lab_near_far_step(r->config->graph), edges, near;
	int rc = 0;

	a->list = a->weights = true;
	a->two_costs = r->config->variant >= LAB_SCU_BASIC;
	a->threshold = step;
	a->first = 1;
	while (!rc && (count || r->fars)) {
		near = 0;
		if (count) {
			rc = expand(r, count, &edges, err);
			number(r, edges);
			rc = rc ? rc : launch(r, &scu_kernel_relax, edges, false, err);
			rc = rc ? rc : split_lists(r, edges, false, &x, &near, err);
		} else {
			rc = next_far(r, step, &near, err);
		}
		count = near;
		lab_array_swap(&a->from, &r->next);
	}
	return rc;
}

static int pagerank(struct run *r, struct gtu_error *err)
{
	struct scu_args *a = &r->a;
	uint32_t i, edges;
	int rc = 0;

	a->share = true;
	lab_ranks_init(r->config->graph, a->label.data);
	for (i = 0; i < r->config->iterations && !rc; i++) {
		a->base = lab_rank_base(r->config->graph, a->label.data);
		rc = expand(r, a->n, &edges, err);
		rc = rc ? rc : launch(r, &scu_kernel_add, edges, false, err);
		rc = rc ? rc : launch(r, &scu_kernel_finish, a->n, false, err);
		rc = rc ? rc : launch(r, &scu_kernel_check, a->n, false, err);
	}
	return rc;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static int arrays(struct run *r, struct gtu_error *err)
{
	const struct lab_scu_config *config = r->config;
	const struct gtu_graph *g = config->graph;
	const bool paths = config->algorithm == LAB_IRU_SSSP, ranks = config->algorithm == LAB_IRU_PR;
	const bool filters = config->variant >= LAB_SCU_FILTERED && !ranks;
	/* a best-effort contraction lists vertices more than once, and far elements pass the SCU's filter; overflow is an error */
	const uint64_t m = 8 * g->m + 1024, list = g->n + 8 * g->m + 1024, words = m / 32 + 2;
	const uint64_t lines = filter_lines(config), groups = group_lines(config) / GTU_TABLE_WAYS * scu_group_set_bytes(config->group_max);
	struct scu_args *a = &r->a;
	const struct lab_want want[] = {
		{ &a->row, "row", g->n + 1 }, { &a->label, "label", g->n }, { &a->tail, "tail", SCU_TAILS },
		{ &a->from, "from", ranks ? 1 : list }, { &r->next, "from'", ranks ? 1 : list },
		{ &a->index, "index", list }, { &a->counts, "count", list }, { &a->self, "self", list },
		{ &a->edge, "edge", m }, { &a->cost, "cost", paths || ranks ? m : 1 },
		{ &a->cost2, "cost2", paths ? m : 1 }, { &a->sum, "sum", ranks ? g->n : 1 }, { &a->old, "old", ranks ? g->n : 1 },
		{ &a->lookup, "lookup", paths ? g->n : 1 }, { &a->visited, "visited", paths || ranks ? 1 : g->n / 32 + 1 },
		{ &a->near, "near", words }, { &a->far, "far", words },
		{ &r->far[0], "far", paths ? m : 1 }, { &r->far[1], "far'", paths ? m : 1 },
		{ &r->far_cost[0], "far_cost", paths ? m : 1 }, { &r->far_cost[1], "far_cost'", paths ? m : 1 },
		{ &r->filter, "filter", filters ? words : 1 },
		{ &r->reorder, "reorder", config->variant == LAB_SCU_GROUPED ? m : 1 },
		{ &r->table[0], "table", filters ? (GTU_FILTER_TABLE_BYTES(lines, 4, paths ? 4 : 0) + 3) / 4 : 1 },
		{ &r->table[1], "table'", filters ? (GTU_FILTER_TABLE_BYTES(lines, 4, paths ? 4 : 0) + 3) / 4 : 1 },
		{ &r->group_table, "groups", config->variant == LAB_SCU_GROUPED ? groups / 4 : 1 },
	};
	int rc = lab_graph_arrays(r->lab, g, &a->row, &a->col, paths ? &a->weight : NULL, want,
				  sizeof(want) / sizeof(want[0]), err);

	if (rc)
		return rc;
	r->capacity = m;
	a->n = (uint32_t)g->n;
	memset(a->label.data, 0xff, 4 * g->n);
	lab_words(&a->label)[config->source] = 0;
	lab_words(&a->from)[0] = config->source;
	lab_words(&a->visited)[config->source / 32 % (a->visited.bytes / 4)] |= 1u << config->source % 32;
	a->instructions = config->instructions;
	a->prepared = config->variant != LAB_SCU_MIXED;
	a->masks = config->variant != LAB_SCU_MIXED;
	return 0;
}

static bool lines_valid(uint64_t lines)
{
	return lines >= GTU_TABLE_WAYS && lines <= GTU_TABLE_LINES_MAX;
}

static int check(const struct lab_scu_config *config, struct gtu_error *err)
{
	const struct gtu_graph *g = config->graph;

	if (!lab_scu_has_variant(config->algorithm, config->variant))
		return gtu_fail(err, GTU_ERR_USAGE, "%s has no variant with a %s", lab_iru_algorithm_name[config->algorithm],
				lab_scu_variant_name[config->variant]);
	if (g->edge_bytes != 4 || g->n >= 1u << 30 || g->m >= 1ull << 30 || config->source >= g->n)
		return gtu_fail(err, GTU_ERR_USAGE, "%s: the laboratory's SCU needs 4-byte edges, fewer than 2^30 vertices and edges, and an existing source",
				g->name);
	if (config->algorithm == LAB_IRU_SSSP && lab_graph_weights(g, "SSSP", err))
		return GTU_ERR_USAGE;
	if (!config->group_max || config->group_max > SCU_GROUP_LIMIT)
		return gtu_fail(err, GTU_ERR_USAGE, "the SCU's groups must have 1 to %u elements, not %u", SCU_GROUP_LIMIT, config->group_max);
	if (!lines_valid(filter_lines(config)) || !lines_valid(group_lines(config)))
		return gtu_fail(err, GTU_ERR_USAGE, "the SCU's tables must have %u to %u lines, of 4 bytes (BFS), 8 (SSSP), and 4 per element of "
				"a group", GTU_TABLE_WAYS, GTU_TABLE_LINES_MAX);
	return 0;
}

int lab_scu_graph_run(const struct lab_machine *m, const struct lab_scu_config *config, const struct gtu_progress *progress,
		      uint32_t *result, struct lab_scu_result *out, struct gtu_error *err)
{
	struct run r = { .config = config, .progress = progress, .out = out };
	struct lab_machine machine = *m;
	struct scu_pipe_shape shape = config->shape;
	const uint32_t times = config->lane_buffers ? shape.width : 1;
	int rc = check(config, err);

	*out = (struct lab_scu_result){ 0 };
	if (rc)
		return rc;
	machine.l2_whole_lines |= config->l2_whole_lines;
	rc = lab_create(&machine, &r.lab, err);
	shape.in_flight *= times;
	shape.vector_bytes *= times;
	shape.fifo_bytes *= times;
	shape.hash_bytes *= times;
	if (!rc && config->variant >= LAB_SCU_BASIC)
		rc = lab_scu_attach(r.lab, &shape, &config->path, &r.scu, err);
	rc = rc ? rc : arrays(&r, err);
	if (!rc)
		rc = config->algorithm == LAB_IRU_BFS ? bfs(&r, err) : config->algorithm == LAB_IRU_PR ? pagerank(&r, err) : sssp(&r, err);
	if (!rc) {
		memcpy(result, r.a.label.data, 4 * config->graph->n);
		if (r.scu)
			out->unit = *lab_scu_counts(r.scu);
	}
	lab_destroy(r.lab);
	lab_scu_free(r.scu);
	return rc;
}
