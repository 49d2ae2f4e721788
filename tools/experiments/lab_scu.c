// SPDX-License-Identifier: MIT
/* The experiments of SCU, section 6, and figure 1; no area. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "firmware-model/lab/kernels/scu_graph.h"
#include "lab_energy_rows.h"
#include "lab_jobs.h"
#include "lab_upc.h"

#define MACHINES	2u
/* An extra column: the other reading of scu.skips_excluded. */
#define OTHER		LAB_SCU_VARIANTS
/* An extra column of SSSP: groups of 32 elements, of a line's, in the same bytes (section 4.3). */
#define GROUPS_OF_32	(LAB_SCU_VARIANTS + 1u)
#define ALL		((1u << LAB_IRU_ALGORITHMS) - 1)
#define COLUMNS		(LAB_SCU_VARIANTS + 2u)

/* The published results. */
static const struct build {
	const char *machine;
	/* as published: speed-up over all; energy by algorithm, then over all */
	double speed, energy[LAB_IRU_ALGORITHMS + 1];
} builds[MACHINES] = {
	{ "gtx980", 1.37, { 12.3, 11, 4.65, 6.55 } },
	{ "tx1", 2.32, { 5.35, 4.54, 1.5, 3.24 } },
};

struct experiment {
	struct lab_run *r;
	unsigned machines;
	struct lab_machine m[MACHINES];
	const struct build *build[MACHINES]; /* published figures to compare with; NULL: none */
	struct lab_scu_config config[MACHINES];
	struct gtu_graph graph[LAB_RUN_GRAPHS];
	uint32_t *weight[LAB_RUN_GRAPHS], *col[LAB_RUN_GRAPHS];
	uint64_t *expected[LAB_RUN_GRAPHS][LAB_IRU_ALGORITHMS];
	unsigned algorithms;		/* requested ones, as bits */
	struct lab_scu_result *result;	/* [machine][graph][algorithm][column] */
};

static struct lab_scu_result *result_of(const struct experiment *e, unsigned m, unsigned g, unsigned a, unsigned c)
{
	return &e->result[((m * e->r->graphs + g) * LAB_IRU_ALGORITHMS + a) * COLUMNS + c];
}

/* The variant with most SCU features for the algorithm. */
static unsigned best_variant(unsigned algorithm)
{
	return algorithm == LAB_IRU_BFS ? LAB_SCU_FILTERED : algorithm == LAB_IRU_SSSP ? LAB_SCU_GROUPED : LAB_SCU_BASIC;
}

/* ---- Runs ------------------------------------------------------------------------------------ */

/* The keys of the units of all machines, then those with a value for each machine. */
#define UNIT_KEYS	16u
#define COMMON_KEYS	(UNIT_KEYS + SCU_REGION_COUNT)
#define MACHINE_KEYS	6u

static void keys_of(struct lab_scu_config *c, const char *const *machine_names, struct lab_key *keys)
{
	unsigned i;
	const struct lab_key unit[UNIT_KEYS] = {
		{ "scu.merge", &c->shape.merge, 1, 1 << 24, LAB_NUMBER },
		{ "scu.in_flight", &c->shape.in_flight, 1, 1 << 24, LAB_NUMBER },
		{ "scu.vector_bytes", &c->shape.vector_bytes, 1, 1 << 24, LAB_BYTES },
		{ "scu.fifo_bytes", &c->shape.fifo_bytes, 1, 1 << 24, LAB_BYTES },
		{ "scu.hash_bytes", &c->shape.hash_bytes, 1, 1 << 24, LAB_BYTES },
		{ "scu.entry_bytes", &c->shape.entry_bytes, 1, 1 << 24, LAB_BYTES },
		{ "scu.group", &c->group_max, 1, 1 << 24, LAB_NUMBER },
		{ "scu.state_bytes", &c->state_bytes, 0, 1, LAB_NUMBER },
		{ "scu.in_flight_merge", &c->shape.in_flight_merge, 0, 4096, LAB_NUMBER },
		{ "scu.l2_latency", &c->path.l2_latency, 0, 10000, LAB_CYCLES },
		{ "scu.l2_blocks", &c->path.l2_blocks, 0, 1, LAB_NUMBER },
		{ "scu.skips_dram_latency", &c->path.skips_dram_latency, 0, 1, LAB_NUMBER },
		{ "scu.skips_excluded", &c->skips_excluded, 0, 1, LAB_NUMBER },
		{ "scu.lane_buffers", &c->lane_buffers, 0, 1, LAB_NUMBER },
		{ "scu.exact", &c->exact, 0, 1, LAB_NUMBER },
		{ "scu.l2_whole_lines", &c->l2_whole_lines, 0, 1, LAB_NUMBER },
	};
	const struct lab_key machine[MACHINE_KEYS] = {
		{ machine_names[0], &c->shape.width, 1, 1 << 24, LAB_NUMBER },
		{ machine_names[1], &c->bfs_bytes, 1, 1 << 24, LAB_BYTES },
		{ machine_names[2], &c->sssp_bytes, 1, 1 << 24, LAB_BYTES },
		{ machine_names[3], &c->group_bytes, 1, 1 << 24, LAB_BYTES },
		{ machine_names[4], &c->design_power, 0, 1000, LAB_NUMBER },
		{ machine_names[5], &c->path.packets, 0, LAB_UNITS, LAB_NUMBER },
	};

	memcpy(keys, unit, sizeof(unit));
	for (i = 0; i < SCU_REGION_COUNT; i++)
		keys[UNIT_KEYS + i] = (struct lab_key){ scu_region_name[i], &c->instructions[i], 0, 10000, LAB_INSTRUCTIONS };
	memcpy(&keys[COMMON_KEYS], machine, sizeof(machine));
}

/* Read the parameters of each published build. */
static int parameters(struct lab_run *r, struct lab_scu_config built[MACHINES], struct gtu_error *err)
{
	static const char *const names[MACHINES][MACHINE_KEYS] = {
		{ "gtx980.width", "gtx980.bfs_bytes", "gtx980.sssp_bytes", "gtx980.group_bytes",
		  "gtx980.design_power", "gtx980.packets" },
		{ "tx1.width", "tx1.bfs_bytes", "tx1.sssp_bytes", "tx1.group_bytes", "tx1.design_power",
		  "tx1.packets" },
	};
	struct lab_key first[COMMON_KEYS + MACHINE_KEYS], keys[COMMON_KEYS + MACHINES * MACHINE_KEYS];
	unsigned i;
	int rc;

	for (i = 0; i < MACHINES; i++) {
		built[i] = (struct lab_scu_config){ .iterations = 1, .shape = lab_scu_published };
		keys_of(&built[i], names[i], first);
		memcpy(keys, first, i ? 0 : sizeof(first));
		memcpy(&keys[COMMON_KEYS + i * MACHINE_KEYS], &first[COMMON_KEYS], MACHINE_KEYS * sizeof(*keys));
	}
	rc = lab_run_parameters(r, NULL, keys, COMMON_KEYS + MACHINES * MACHINE_KEYS, err);
	for (i = 1; i < MACHINES; i++) {
		const struct lab_scu_config own = built[i];

		built[i] = built[0];
		built[i].shape.width = own.shape.width;
		built[i].bfs_bytes = own.bfs_bytes;
		built[i].sssp_bytes = own.sssp_bytes;
		built[i].group_bytes = own.group_bytes;
		built[i].design_power = own.design_power;
		built[i].path.packets = own.path.packets;
	}
	return rc;
}

static int set_key(struct lab_scu_config *c, const char *assignment, struct gtu_error *err)
{
	static const char *const names[MACHINE_KEYS] = { "scu.width", "scu.bfs_bytes", "scu.sssp_bytes", "scu.group_bytes",
							 "scu.design_power", "scu.packets" };
	struct lab_key keys[COMMON_KEYS + MACHINE_KEYS];

	keys_of(c, names, keys);
	return lab_run_key(assignment, keys, COMMON_KEYS + MACHINE_KEYS, err);
}

static int set_machine(struct experiment *e, unsigned i, const struct lab_scu_config built[MACHINES], struct gtu_error *err)
{
	struct lab_run *r = e->r;
	const char *name = r->machine ? r->machine : builds[i].machine, *why;
	const struct build *b = NULL;
	unsigned k;
	int rc = lab_machine_open(name, &e->m[i], err);

	for (k = 0; k < MACHINES; k++)
		b = strcmp(name, builds[k].machine) ? b : &builds[k];
	e->build[i] = b;
	e->config[i] = built[b ? b - builds : 0];
	for (k = 0; k < r->sets && !rc; k++)
		rc = strncmp(r->set[k], "scu.", 4) ? lab_machine_set(&e->m[i], r->set[k], err) :
		     set_key(&e->config[i], r->set[k], err);
	why = rc ? NULL : scu_pipe_check(&e->config[i].shape);
	return why ? gtu_fail(err, GTU_ERR_USAGE, "%s", why) : rc;
}

/* The ablations run if figure 12 is asked for: grouping where the paper has none, and larger groups. */
static bool is_wanted(const struct experiment *e, unsigned algorithm, unsigned column)
{
	if (column == OTHER)		/* PageRank's has no mask and no filter */
		return algorithm != LAB_IRU_PR;
	if (column == GROUPS_OF_32)
		return algorithm == LAB_IRU_SSSP && e->r->figure == 12;
	return lab_scu_has_variant(algorithm, column) && (column <= best_variant(algorithm) || e->r->figure == 12);
}

static int one(void *ctx, unsigned i, const struct gtu_progress *progress, struct gtu_error *err)
{
	struct experiment *e = ctx;
	/* largest graph first, so that all CPUs are busy until the end */
	unsigned c = i % COLUMNS, a = i / COLUMNS % LAB_IRU_ALGORITHMS, m = i / COLUMNS / LAB_IRU_ALGORITHMS % e->machines;
	unsigned g = e->r->graphs - 1 - i / COLUMNS / LAB_IRU_ALGORITHMS / e->machines;
	struct lab_scu_config config = e->config[m];
	uint32_t *values;
	int rc;

	if (!(e->algorithms >> a & 1) || !is_wanted(e, a, c))
		return 0;
	config.graph = &e->graph[g];
	config.algorithm = a;
	config.variant = c >= LAB_SCU_VARIANTS ? best_variant(a) : c;
	if (c == GROUPS_OF_32)
		config.group_max = 32;
	config.source = lab_source(config.graph, 0);
	if (c == OTHER)
		config.skips_excluded = !config.skips_excluded;
	values = malloc(4 * config.graph->n + 4);
	rc = values ? lab_scu_graph_run(&e->m[m], &config, progress, values, result_of(e, m, g, a, c), err) :
	     gtu_fail(err, GTU_ERR_NOMEM, "out of memory for %s", config.graph->name);
	rc = rc ? rc : lab_expect_same(config.graph, lab_upc_expect[a], e->expected[g][a], values, err);
	free(values);
	return rc;
}

static int run_all(struct experiment *e, struct gtu_error *err)
{
	struct lab_run *r = e->r;
	unsigned g, a, n = e->machines * r->graphs * LAB_IRU_ALGORITHMS * COLUMNS, i;
	int rc = 0;

	e->result = calloc(n ? n : 1, sizeof(*e->result));
	if (!e->result)
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for %u results", n);
	for (g = 0; g < r->graphs && !rc; g++) {
		rc = lab_narrow(r->graph[g], 1, e->algorithms >> LAB_IRU_SSSP & 1 ? 64 : 0, &e->graph[g], &e->weight[g],
				&e->col[g], err);
		for (a = 0; a < LAB_IRU_ALGORITHMS && !rc; a++) {
			if (!(e->algorithms >> a & 1))
				continue;
			e->expected[g][a] = lab_expect(&e->graph[g], lab_upc_expect[a], lab_source(&e->graph[g], 0), 1, err);
			rc = e->expected[g][a] ? 0 : err->code;
		}
	}
	rc = rc ? rc : lab_jobs(n, "runs of BFS, SSSP and PageRank", one, e, r->progress, err);
	for (i = 0; i < n && !rc; i++) {
		r->checked += e->result[i].gpu.launches != 0;
		r->instructions += e->result[i].gpu.warp_instructions;
	}
	return rc;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* Cycles of GPU and SCU without launches (our choice: the paper gives no launch cost). */
static double cycles(const struct lab_scu_result *x)
{
	return (double)(x->processing + x->compaction + x->scu.cycles);
}

static double accesses_each(const struct lab_stats *s)
{
	double instructions = 0, sent = 0;
	unsigned k;

	for (k = 0; k < LAB_KINDS; k++) {
		instructions += (double)s->accesses[k];
		sent += (double)s->transactions[k];
	}
	return sent / instructions;
}

/* Share of the peak DRAM bandwidth, over the measured time. */
static double bandwidth(const struct lab_machine *m, const struct lab_scu_result *x)
{
	double bytes = (double)LAB_SECTOR * (double)(x->gpu.dram_reads + x->gpu.dram_writes + x->scu.dram_reads + x->scu.dram_writes);

	return bytes / (1e9 * m->dram_gbs * cycles(x) / (m->core_mhz * 1e6));
}

static uint64_t elements_of(const struct lab_scu_result *x)
{
	return x->unit.count[GTU_SCU_C_IN] + x->unit.count[GTU_SCU_C_OUT] + x->unit.count[GTU_SCU_C_DROPPED];
}

static struct lab_energy energy(const struct lab_machine *m, const struct lab_scu_result *x)
{
	struct lab_energy e = { 0 };

	lab_energy_add(&e, m, &x->gpu, x->processing + x->compaction, 0);
	lab_energy_add_unit(&e, m, &x->scu, x->scu.cycles, elements_of(x));
	return e;
}

/* The likely energy of the compaction kernels over that of all; NAN without costs for the machine. */
static double energy_share(const struct experiment *e, unsigned m, const struct lab_scu_result *split)
{
	const struct lab_energy_cost *cost = lab_energy_costs(&e->m[m]);
	struct lab_energy all = energy(&e->m[m], split), part = { 0 };

	if (!cost)
		return NAN;
	lab_energy_add(&part, &e->m[m], &split->compacting, split->compaction, 0);
	return lab_energy_joules(cost, &part).likely / lab_energy_joules(cost, &all).likely;
}

/* A value per graph and their mean: geometric for ratios of times, else arithmetic. */
struct series {
	struct lab_run *r;
	unsigned figure;
	double sum;
	unsigned n;
	bool geometric;
};

static void add(struct series *s, unsigned g, double value, const char *what)
{
	lab_run_row(s->r, s->figure, lab_run_label(s->r, g), LAB_OPEN_RULE, NAN, value, "%s", what);
	s->sum += s->geometric ? log(value) : value;
	s->n++;
}

static double mean(const struct series *s)
{
	return s->geometric ? exp(s->sum / s->n) : s->sum / s->n;
}

static void add_mean(const struct series *s, enum lab_rule rule, double paper, const char *what)
{
	s->r->added = false;
	if (s->n)
		lab_run_row(s->r, s->figure, "mean", rule, paper, mean(s), "%s", what);
}

/* Value of a row for one machine, graph and algorithm. */
enum measure { SHARE, SHARE_LAUNCHES, ENERGY_SHARE, SPEED, SPLIT_SPEED, SPEED_LAUNCHES, SCU_SHARE, SLOTS, FULL, OTHER_SPEED, SLOT_SPEED, BASIC_SPEED, REMOVED, LEFT,
	       GROUPING, GROUPED_LEFT, GROUPED_SPEED, GROUPING_32, SPEED_32, USED_GPU, USED_SCU, USED_RATIO };

static double measure(const struct experiment *e, enum measure what, unsigned m, unsigned g, unsigned a)
{
	const struct lab_scu_result *gpu = result_of(e, m, g, a, LAB_SCU_MIXED), *split = result_of(e, m, g, a, LAB_SCU_SPLIT);
	const struct lab_scu_result *basic = result_of(e, m, g, a, LAB_SCU_BASIC), *best = result_of(e, m, g, a, best_variant(a));
	const struct lab_scu_result *grouped = result_of(e, m, g, a, LAB_SCU_GROUPED), *by_32 = result_of(e, m, g, a, GROUPS_OF_32);
	/* without grouping; PageRank is not filtered */
	const struct lab_scu_result *filtered = result_of(e, m, g, a, a == LAB_IRU_PR ? LAB_SCU_BASIC : LAB_SCU_FILTERED);

	switch (what) {
	case SHARE:
		return (double)split->compaction / cycles(split);
	case SHARE_LAUNCHES:
		return (double)split->compacting.cycles / (double)split->gpu.cycles;
	case ENERGY_SHARE:
		return energy_share(e, m, split);
	case SPEED:
		return cycles(gpu) / cycles(best);
	case SPLIT_SPEED:
		return cycles(split) / cycles(best);
	case SPEED_LAUNCHES:
		return (double)gpu->gpu.cycles / (double)(best->gpu.cycles + best->scu.cycles);
	case SCU_SHARE:
		return (double)best->scu.cycles / cycles(best);
	case SLOTS:
		return (double)best->unit.slots / (double)best->unit.cycles;
	case FULL:
		return (double)(best->unit.pipe.full[0] + best->unit.pipe.full[1]) / (double)best->unit.pipe.cycles;
	case OTHER_SPEED:
		return cycles(gpu) / cycles(result_of(e, m, g, a, OTHER));
	case SLOT_SPEED:
		return cycles(gpu) / (double)(best->processing + best->compaction + best->unit.slots);
	case BASIC_SPEED:
		return cycles(gpu) / cycles(basic);
	case REMOVED:
		return 1 - (double)filtered->gpu.thread_instructions / (double)basic->gpu.thread_instructions;
	case LEFT:
		return (double)best->elements / (double)basic->elements;
	case GROUPING:
		return accesses_each(&filtered->gpu) / accesses_each(&grouped->gpu);
	case GROUPED_LEFT:
		return grouped->elements ? (double)grouped->elements / (double)filtered->elements : NAN;
	case GROUPED_SPEED:
		return cycles(filtered) / cycles(grouped);
	case GROUPING_32:
		return accesses_each(&grouped->gpu) / accesses_each(&by_32->gpu);
	case SPEED_32:
		return cycles(grouped) / cycles(by_32);
	case USED_GPU:
		return bandwidth(&e->m[m], gpu);
	case USED_RATIO:
		return bandwidth(&e->m[m], best) / bandwidth(&e->m[m], gpu);
	default:
		return bandwidth(&e->m[m], best);
	}
}

static const struct measured {
	enum measure what;
	unsigned figure;
	const char *text;
	bool geometric;
	uint8_t algorithms;		/* bits */
	enum lab_rule rule;
	double paper[MACHINES][LAB_IRU_ALGORITHMS]; /* of the mean; 0: none */
	double high, null;		/* the end of a range; what a simulator without the SCU prints */
	const char *reason;		/* why it is not judged */
} measured[] = {
	{ SHARE, 1, "time in compaction, GPU", false, 7, LAB_RANGE_RULE, { { 0.25, 0.25, 0.25 }, { 0.25, 0.25, 0.25 } }, .high = 0.55 },
	{ SHARE_LAUNCHES, 1, "time in compaction, launches included", false, 7, LAB_OPEN_RULE, { { 0 } }, .null = 0 },
	{ SPEED, 10, "speed-up", true, 7, LAB_SPEEDUP_RULE, { { 1.41, 1.65, LAB_LESS }, { 3.83, 3.24, 1.05 } }, .null = 1 },
	{ SPLIT_SPEED, 10, "speed-up over the split GPU", true, 7, LAB_OPEN_RULE, { { 1.41, 1.65, 0 }, { 3.83, 3.24, 1.05 } },
	  .reason = "the paper splits the baseline for figure 1 only" },
	{ SPEED_LAUNCHES, 10, "speed-up, launches included", true, 7, LAB_OPEN_RULE, { { 0 } }, .null = 1 },
	{ SCU_SHARE, 10, "time in the SCU", false, 7, LAB_OPEN_RULE, { { 0 } }, .null = 1 },
	{ SLOTS, 10, "the SCU's slots used", false, 7, LAB_OPEN_RULE, { { 0 } }, .null = 1 },
	{ FULL, 10, "the SCU's coalescing units full", false, 7, LAB_OPEN_RULE, { { 0 } }, .null = 1 },
	{ OTHER_SPEED, 10, "speed-up, other reading of skips_excluded", true, 3, LAB_OPEN_RULE, { { 1.41, 1.65, 0 }, { 3.83, 3.24, 1.05 } },
	  .reason = "the text has two readings; the other one is judged" },
	{ SLOT_SPEED, 10, "speed-up, if memory never held the SCU up", true, 7, LAB_OPEN_RULE, { { 1.41, 1.65, 0 }, { 3.83, 3.24, 1.05 } },
	  .reason = "not the paper's build" },
	{ ENERGY_SHARE, 1, "energy of compaction, GPU", false, 7, LAB_RANGE_RULE, { { 0.45, 0.45, 0.45 }, { 0.45, 0.45, 0.45 } }, .high = 1 },
	{ BASIC_SPEED, 11, "speed-up, basic SCU", true, 3, LAB_SPEEDUP_RULE, { { 1.5, 1.5 }, { 1.5, 1.5 } }, .null = 1 },
	{ REMOVED, 11, "GPU instructions removed by filtering", false, 3, LAB_COUNT_RULE, { { 0.71, 0.76 }, { 0.71, 0.76 } }, .null = 0 },
	{ LEFT, 11, "nodes and edges left to the GPU", false, 3, LAB_COUNT_RULE, { { 0.14, 0.22 }, { 0.14, 0.22 } }, .null = 1 },
	{ GROUPING, 12, "coalescing by grouping over filtering", false, 2, LAB_COUNT_RULE, { { 0 }, { 0, 1.27 } }, .null = 1 },
	{ GROUPING, 12, "coalescing by grouping (paper: not used)", false, 5, LAB_OPEN_RULE, { { 0 } }, .null = 1 },
	{ GROUPED_LEFT, 12, "nodes and edges of grouping over without", false, 7, LAB_OPEN_RULE, { { 0 } }, .null = 1 },
	{ GROUPED_SPEED, 12, "speed-up by grouping", true, 7, LAB_OPEN_RULE, { { 0 } }, .null = 1 },
	{ GROUPING_32, 12, "coalescing of groups of 32 over 8", false, 2, LAB_OPEN_RULE, { { 0 } }, .null = 1 },
	{ SPEED_32, 12, "speed-up of groups of 32 over 8", true, 2, LAB_OPEN_RULE, { { 0 } }, .null = 1 },
	{ USED_GPU, 13, "DRAM bandwidth used, GPU", false, 7, LAB_OPEN_RULE, { { 0 } }, .null = 1 },
	{ USED_SCU, 13, "DRAM bandwidth used, with the SCU", false, 7, LAB_OPEN_RULE, { { 0 } }, .null = 1 },
	/* section 6.3: less on the GTX 980, more on the TX1 "in BFS and SSSP" */
	{ USED_RATIO, 13, "DRAM bandwidth used, with the SCU over without", true, 7, LAB_OPEN_RULE,
	  { { LAB_LESS, LAB_LESS, LAB_LESS }, { LAB_MORE, LAB_MORE, 0 } }, .null = 1 },
};

/* Energy without the SCU over energy with @variant (LAB_SCU_VARIANTS: the best), by algorithm. */
static void energy_rows(const struct experiment *e, unsigned m, unsigned figure, unsigned variant, unsigned algorithms,
			const char *text)
{
	const struct build *b = e->build[m];
	struct lab_run *r = e->r;
	struct lab_energy_rows all = { 0 };
	double paper;
	char what[80];
	unsigned a, g;

	for (a = 0; a < LAB_IRU_ALGORITHMS; a++) {
		struct lab_energy_rows rows = { 0 };

		if (!(algorithms & e->algorithms & 1u << a))
			continue;
		snprintf(what, sizeof(what), "%.30s %s: %s", e->m[m].name, lab_iru_algorithm_name[a], text);
		for (g = 0; g < r->graphs; g++) {
			struct lab_energy x = energy(&e->m[m], result_of(e, m, g, a, LAB_SCU_MIXED));
			struct lab_energy y = energy(&e->m[m], result_of(e, m, g, a, variant == LAB_SCU_VARIANTS ? best_variant(a) : variant));

			lab_energy_rows_add(&rows, r, figure, g, &e->m[m], &x, &y, what);
		}
		paper = !b ? NAN : variant == LAB_SCU_VARIANTS ? b->energy[a] : 2;
		lab_energy_rows_mean(&rows, r, figure, paper, what);
		all.min += rows.min;
		all.likely += rows.likely;
		all.max += rows.max;
		all.n += rows.n;
	}
	snprintf(what, sizeof(what), "%.30s: %s", e->m[m].name, text);
	/* the published means are not means of their parts */
	if (variant == LAB_SCU_VARIANTS && e->algorithms == ALL)
		lab_energy_rows_mean(&all, r, figure, b ? b->energy[LAB_IRU_ALGORITHMS] : NAN, what);
}

/*
 * A named alternative to the costs of events: the GPU takes its design power while kernels run, and nothing while the SCU
 * runs, as if its idle SMs were gated; the SCU's accesses and the chip's static power in that time cost what they do above.
 */
static double gated_energy(const struct experiment *e, unsigned m, const struct lab_scu_result *gpu, const struct lab_scu_result *best)
{
	const double power = e->config[m].design_power;
	struct lab_energy part = { 0 };

	lab_energy_add_unit(&part, &e->m[m], &best->scu, best->scu.cycles, elements_of(best));
	return power * lab_seconds(&e->m[m], gpu->processing) /
	       (power * lab_seconds(&e->m[m], best->processing) + lab_energy_joules(lab_energy_costs(&e->m[m]), &part).likely);
}

/* The other reading of section 5: an access of the SCU to the L2 costs what an SM's does. */
static double equal_costs_energy(const struct experiment *e, unsigned m, const struct lab_scu_result *gpu, const struct lab_scu_result *best)
{
	struct lab_energy alone = energy(&e->m[m], gpu), with = energy(&e->m[m], best);

	with.count[LAB_E_L2] += with.count[LAB_E_UNIT_L2];
	with.count[LAB_E_UNIT_L2] = 0;
	return lab_energy_ratio(lab_energy_costs(&e->m[m]), &alone, &with).likely;
}

/* Further energy reductions, by @reduction of a graph's results; @reason: why they are not judged. */
static void other_energy(const struct experiment *e, unsigned m, const char *text, const char *reason,
			 double (*reduction)(const struct experiment *e, unsigned m, const struct lab_scu_result *gpu,
					     const struct lab_scu_result *best))
{
	struct lab_run *r = e->r;
	unsigned a, g;

	for (a = 0; a < LAB_IRU_ALGORITHMS && lab_energy_costs(&e->m[m]); a++) {
		struct series s = { r, 9, 0, 0, true };
		char what[80];

		if (!(e->algorithms & 1u << a))
			continue;
		snprintf(what, sizeof(what), "%.30s %s: energy reduction, %s", e->m[m].name, lab_iru_algorithm_name[a], text);
		for (g = 0; g < r->graphs; g++)
			add(&s, g, reduction(e, m, result_of(e, m, g, a, LAB_SCU_MIXED), result_of(e, m, g, a, best_variant(a))), what);
		add_mean(&s, LAB_OPEN_RULE, e->build[m] ? e->build[m]->energy[a] : NAN, what);
		lab_run_reason(r, reason);
	}
}

/* Figure 9's split: the energy of the GPU and of the SCU, with its memory accesses, over that without the SCU. */
static void energy_split(const struct experiment *e, unsigned m)
{
	const struct lab_energy_cost *cost = lab_energy_costs(&e->m[m]);
	struct lab_run *r = e->r;
	unsigned a, g;

	for (a = 0; a < LAB_IRU_ALGORITHMS && cost; a++) {
		struct series gpu = { r, 9, 0, 0, false }, scu = gpu;
		char what[2][80];

		if (!(e->algorithms & 1u << a))
			continue;
		for (g = 0; g < 2; g++)
			snprintf(what[g], sizeof(what[g]), "%.30s %s: energy of the %s over the GPU's alone", e->m[m].name,
				 lab_iru_algorithm_name[a], g ? "SCU" : "GPU");
		for (g = 0; g < r->graphs; g++) {
			const struct lab_scu_result *best = result_of(e, m, g, a, best_variant(a));
			struct lab_energy alone = energy(&e->m[m], result_of(e, m, g, a, LAB_SCU_MIXED)), all = energy(&e->m[m], best);
			struct lab_energy part = { 0 };
			double of = lab_energy_joules(cost, &alone).likely, j;

			lab_energy_add(&part, &e->m[m], &best->gpu, best->processing + best->compaction, 0);
			j = lab_energy_joules(cost, &part).likely;
			add(&gpu, g, j / of, what[0]);
			add(&scu, g, (lab_energy_joules(cost, &all).likely - j) / of, what[1]);
		}
		add_mean(&gpu, LAB_OPEN_RULE, NAN, what[0]);
		add_mean(&scu, LAB_OPEN_RULE, NAN, what[1]);
	}
}

static void rows_of(const struct experiment *e, unsigned m)
{
	struct lab_run *r = e->r;
	double all = 0;			/* logarithm of the speed-up over everything */
	char what[80];
	unsigned i, a, g, b = e->build[m] ? (unsigned)(e->build[m] - builds) : MACHINES;

	for (i = 0; i < sizeof(measured) / sizeof(measured[0]); i++) {
		const struct measured *x = &measured[i];

		for (a = 0; a < LAB_IRU_ALGORITHMS; a++) {
			struct series s = { r, x->figure, 0, 0, x->geometric };
			double paper = b < MACHINES && x->paper[b][a] != 0 ? x->paper[b][a] : NAN;
			enum lab_rule rule = isinf(paper) ? LAB_DIRECTION_RULE : x->rule;

			if (!(x->algorithms & e->algorithms & 1u << a))
				continue;
			snprintf(what, sizeof(what), "%.24s %s: %s", e->m[m].name, lab_iru_algorithm_name[a], x->text);
			for (g = 0; g < r->graphs; g++)
				add(&s, g, measure(e, x->what, m, g, a), what);
			add_mean(&s, rule, paper, what);
			lab_run_null(r, x->null);
			if (x->high > 0)
				lab_run_high(r, x->high);
			if (x->reason)
				lab_run_reason(r, "%s", x->reason);
			all += x->what == SPEED ? s.sum / s.n / LAB_IRU_ALGORITHMS : 0;
		}
	}
	if (e->algorithms == ALL)
		lab_run_row(r, 10, "mean", LAB_SPEEDUP_RULE, b < MACHINES ? builds[b].speed : NAN, exp(all),
			      "%.30s: speed-up", e->m[m].name);
	energy_rows(e, m, 9, LAB_SCU_VARIANTS, 7, "energy reduction");
	other_energy(e, m, "L2 accesses as an SM's", "the other reading of section 5's costs", equal_costs_energy);
	other_energy(e, m, "design power, gated SMs", "an alternative to the costs that are judged", gated_energy);
	energy_split(e, m);
	energy_rows(e, m, 11, LAB_SCU_BASIC, 3, "energy reduction, basic SCU");
}

int lab_run_scu(struct lab_run *r, struct gtu_error *err)
{
	struct experiment e = { .r = r, .machines = r->machine ? 1 : MACHINES };
	struct lab_scu_config built[MACHINES];
	unsigned i, a, asked[LAB_IRU_ALGORITHMS], n;
	int rc = lab_run_algorithms(r, lab_iru_algorithm_name, asked, &n, err);

	for (i = 0; i < n && !rc; i++)
		e.algorithms |= 1u << asked[i];
	rc = rc ? rc : parameters(r, built, err);
	for (i = 0; i < e.machines && !rc; i++)
		rc = set_machine(&e, i, built, err);
	rc = rc ? rc : lab_run_begin(r, builds[0].machine, "scu.", lab_upc_standins, LAB_UPC_STANDINS, err);
	rc = rc ? rc : run_all(&e, err);
	for (i = 0; i < e.machines && !rc; i++)
		rows_of(&e, i);
	if (e.machines > 1)
		snprintf(r->m.name, sizeof(r->m.name), "%s and %s", builds[0].machine, builds[1].machine);
	for (i = 0; i < r->graphs; i++) {
		free(e.weight[i]);
		free(e.col[i]);
		for (a = 0; a < LAB_IRU_ALGORITHMS; a++)
			free(e.expected[i][a]);
	}
	free(e.result);
	return rc;
}
