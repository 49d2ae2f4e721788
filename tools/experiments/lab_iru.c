// SPDX-License-Identifier: MIT
/* The experiments of IRU, section 6, except area. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "firmware-model/lab/kernels/iru_graph.h"
#include "lab_energy_rows.h"
#include "lab_jobs.h"
#include "lab_upc.h"
#include "tools/support/graph_order.h"

struct pair { /* of a graph and an algorithm: [0] without the IRU, [1] with it */
	struct lab_stats s[2];
	struct lab_iru_counts c;
	struct lab_iru_times t[2];
};

/* Measures of a run; the experiment compares with and without the IRU. */
static double l1_accesses(const struct pair *p, unsigned with)
{
	double n = 0;
	unsigned i;

	for (i = 0; i < LAB_STATUSES; i++)
		n += (double)(p->s[with].l1_load[i] + p->s[with].l1_store[i]);
	return n;
}

/* Requests, as counted by GPGPU-Sim 3.2, which has no sectors; includes the IRU's prefetches. */
static double l2_accesses(const struct pair *p, unsigned with)
{
	const struct lab_stats *s = &p->s[with];

	return (double)(s->arrived[LAB_LOAD] + s->arrived[LAB_STORE] + s->arrived[LAB_ATOMIC]) +
	       (with ? (double)p->c.fetches : 0);
}

static double traffic(const struct pair *p, unsigned with)
{
	return (double)(p->s[with].request_flits + p->s[with].reply_flits);
}

static double dram(const struct pair *p, unsigned with)
{
	return (double)(p->s[with].dram_reads + p->s[with].dram_writes);
}

/*
 * Figure 14's axis has requests sent to the L1 for each memory instruction. A load_iru() sends none
 * (section 3.1: it bypasses the L1). In the other reading, @loads, it is an instruction with one request.
 */
static double accesses_each(const struct pair *p, unsigned with, bool loads)
{
	const struct lab_stats *s = &p->s[with];
	double instructions = loads ? (double)s->unit_requests : 0, sent = instructions;
	unsigned k;

	for (k = 0; k < LAB_KINDS; k++) {
		instructions += (double)s->accesses[k];
		sent += (double)s->transactions[k];
	}
	return sent / instructions;
}

/* Cycles without launches, which take equal time with and without the unit (our choice). */
static double in_kernels(const struct lab_run *r, const struct pair *p, unsigned with)
{
	return (double)(p->s[with].cycles - p->s[with].launches * r->m.launch_latency);
}

/* The parameters; step is the near-far step in percent of Davidson's. */
struct build {
	struct iru_shape shape;
	uint32_t prefetch, timeout, step, ring_depth, queue_depth, sets_log2;
	uint32_t private_hash, bypass_l2, interleaved, check, l2_whole_lines;
};

static int parameters(struct lab_run *r, struct build *b, struct gtu_error *err)
{
	const struct lab_key keys[] = {
		{ "iru.prefetch", &b->prefetch, 1, UINT16_MAX, LAB_NUMBER },
		{ "iru.timeout", &b->timeout, 1, 1000000000, LAB_CYCLES },
		{ "iru.step", &b->step, 1, 1000000000, LAB_PERCENT },
		{ "iru.ring_depth", &b->ring_depth, 1, UINT16_MAX, LAB_NUMBER },
		{ "iru.queue_depth", &b->queue_depth, 1, UINT16_MAX, LAB_NUMBER },
		{ "iru.sets_log2", &b->sets_log2, 1, UINT8_MAX, LAB_NUMBER },
		{ "iru.private_hash", &b->private_hash, 0, 1, LAB_NUMBER },
		{ "iru.bypass_l2", &b->bypass_l2, 0, 1, LAB_NUMBER },
		{ "iru.interleaved", &b->interleaved, 0, 1, LAB_NUMBER },
		{ "iru.check", &b->check, 0, 1, LAB_NUMBER },
		{ "iru.l2_whole_lines", &b->l2_whole_lines, 0, 1, LAB_NUMBER },
	};
	const char *why;
	int rc = lab_run_parameters(r, "iru.", keys, sizeof(keys) / sizeof(keys[0]), err);

	b->shape = lab_iru_published;
	b->shape.private_hash = b->private_hash;
	b->shape.prefetch = (uint16_t)b->prefetch;
	b->shape.ring_depth = (uint16_t)b->ring_depth;
	b->shape.queue_depth = (uint16_t)b->queue_depth;
	b->shape.sets_log2 = (uint8_t)b->sets_log2;
	why = rc ? NULL : iru_shape_check(&b->shape);
	return why ? gtu_fail(err, GTU_ERR_USAGE, "%s", why) : rc;
}

struct subject {
	struct gtu_graph graph;		/* with 4-byte edges and weights */
	uint32_t *weight, *col;
	struct pair pair[LAB_IRU_ALGORITHMS];
};

struct state {
	struct lab_run *r;
	struct build build;
	struct subject *subject;
	unsigned algorithm[LAB_IRU_ALGORITHMS], algorithms; /* requested algorithms */
};

/* Job @i: a graph and an algorithm, with or without the IRU. */
static int run_one(void *ctx, unsigned i, const struct gtu_progress *progress, struct gtu_error *err)
{
	const struct state *st = ctx;
	unsigned with = i % 2, algorithm = st->algorithm[i / 2 % st->algorithms];
	struct subject *s = &st->subject[i / (2 * st->algorithms)];
	const struct gtu_graph *g = &s->graph;
	struct lab_iru_config config = { .algorithm = algorithm, .graph = g, .source = lab_source(g, 0), .iterations = 1,
				   .frontier = true, .iru = with, .shape = st->build.shape, .timeout = st->build.timeout,
				   .step = (double)st->build.step / 100, .times = &s->pair[algorithm].t[with],
				   .check = st->build.check,
				   .options = { .bypass_l2 = st->build.bypass_l2, .interleaved = st->build.interleaved } };
	uint64_t *expected = lab_expect(g, lab_upc_expect[algorithm], config.source, config.iterations, err);
	uint32_t *result = malloc(4 * g->n + 4);
	int rc = expected ? 0 : err->code;

	if (!rc && !result)
		rc = gtu_fail(err, GTU_ERR_NOMEM, "out of memory for %s", g->name);
	rc = rc ? rc : lab_iru_run(&st->r->m, &config, progress, result, &s->pair[algorithm].s[with],
				   with ? &s->pair[algorithm].c : NULL, err);
	rc = rc ? rc : lab_expect_same(g, lab_upc_expect[algorithm], expected, result, err);
	free(expected);
	free(result);
	return rc;
}

static const struct measure {
	unsigned figure;
	const char *text;
	double (*of)(const struct pair *p, unsigned with);
	double mean, best;		/* as published */
	const char *best_graph;
	unsigned best_algorithm;
	enum lab_rule rule;
} measures[] = {
	{ 12, "L1 accesses, normalized", l1_accesses, 0.67, 0.35, "cond", LAB_IRU_BFS, LAB_COUNT_RULE },
	{ 12, "L2 accesses, normalized", l2_accesses, 0.56, 0.36, "cond", LAB_IRU_PR, LAB_COUNT_RULE },
	{ 12, "DRAM accesses, normalized", dram, 0.96, NAN, "", 0, LAB_CURVE_RULE },
	{ 13, "SM to partition traffic, normalized", traffic, 0.54, 0.23, "human", LAB_IRU_PR, LAB_COUNT_RULE },
};
#define MEASURES (sizeof(measures) / sizeof(measures[0]))

/* Sums over all graphs. */
struct sums {
	double time[LAB_IRU_ALGORITHMS][2][2], foreign, own_energy; /* time: without and with; before and after the load */
	struct lab_energy_rows energy[LAB_IRU_ALGORITHMS];
	double of[MEASURES], each[2], with_loads, filtered[LAB_IRU_ALGORITHMS], speed[LAB_IRU_ALGORITHMS], issued;
	unsigned n, runs;		/* graphs; pairs of graph and algorithm */
};

/* Energy with the IRU over energy without. */
static void energy_of(struct lab_run *r, unsigned g, const char *name, const struct pair *p, struct lab_energy_rows *sum)
{
	struct lab_energy e[2] = { 0 };
	char what[80];
	unsigned i;

	for (i = 0; i < 2; i++)
		lab_energy_add(&e[i], &r->m, &p->s[i], (uint64_t)in_kernels(r, p, i), i ? p->c.elements : 0);
	snprintf(what, sizeof(what), "%s: energy, normalized", name);
	lab_energy_rows_add(sum, r, 16, g, &r->m, &e[1], &e[0], what);
}

/* The IRU's own share of the likely energy; 0 without costs for the machine. */
static double own_energy(const struct lab_run *r, const struct pair *p)
{
	const struct lab_energy_cost *cost = lab_energy_costs(&r->m);
	struct lab_energy all = { 0 }, own = { 0 };

	if (!cost)
		return 0;
	lab_energy_add(&all, &r->m, &p->s[1], (uint64_t)in_kernels(r, p, 1), p->c.elements);
	own.count[LAB_E_UNIT] = all.count[LAB_E_UNIT];
	return lab_energy_joules(cost, &own).likely / lab_energy_joules(cost, &all).likely;
}

/* Figure 3: a warp's time until the load is served, and after it, over the baseline's whole. */
static void times_of(struct lab_run *r, unsigned g, unsigned a, const struct pair *p, struct sums *sum)
{
	double whole = (double)(p->t[0].before + p->t[0].after), q;
	unsigned with, after;

	for (with = 0; with < 2; with++)
		for (after = 0; after < 2; after++) {
			q = (double)(after ? p->t[with].after : p->t[with].before) / whole;
			sum->time[a][with][after] += q;
			lab_run_row(r, 3, lab_run_label(r, g), LAB_OPEN_RULE, NAN, q, "%s: %s the load, %s", lab_iru_algorithm_name[a],
				    after ? "after" : "until", with ? "IRU" : "baseline");
		}
}

/* Table 1, per partition: an element has 24 bits of index, 32 of secondary and 24 of position. */
static void storage(struct lab_run *r, const struct build *b)
{
	const double element = 10, sets = (double)(1u << b->shape.sets_log2 >> b->shape.partitions_log2);
	const unsigned queues = (1u << b->shape.banks_log2) + 2;

	lab_run_row(r, LAB_TABLE(1), "all", LAB_INPUT_RULE, 80, sets * 32 * element / 1024, "KB of the reordering hash");
	lab_run_row(r, LAB_TABLE(1), "all", LAB_INPUT_RULE, 1.7, b->shape.prefetch * 32 * 7.0 / 1024, "KB of the prefetching buffer");
	lab_run_row(r, LAB_TABLE(1), "all", LAB_INPUT_RULE, 1.2, b->shape.queue_depth * queues * element / 1024,
		    "KB of the classifier's queues");
	lab_run_row(r, LAB_TABLE(1), "all", LAB_INPUT_RULE, 2.8, b->shape.ring_depth * element / 1024,
		    "KB of the ring's buffers");
}

/* Table 3: the graphs, and the locality of their order. */
static int graphs(struct lab_run *r, struct gtu_error *err)
{
	struct graph_order order;
	unsigned g;
	int rc = 0;

	for (g = 0; g < r->graphs && lab_run_wants(r, LAB_TABLE(3)) && !rc; g++) {
		const struct gtu_graph *graph = r->graph[g];
		const char *label = lab_run_label(r, g);

		rc = graph_order_measure(graph, r->progress, &order, err);
		lab_run_row(r, LAB_TABLE(3), label, LAB_OPEN_RULE, NAN, (double)graph->n / 1e3, "thousands of vertices");
		lab_run_row(r, LAB_TABLE(3), label, LAB_OPEN_RULE, NAN, (double)graph->m / 1e6, "millions of edges");
		lab_run_row(r, LAB_TABLE(3), label, LAB_OPEN_RULE, NAN, order.distance, "mean distance of an edge's ends, of all vertices");
		lab_run_row(r, LAB_TABLE(3), label, LAB_OPEN_RULE, NAN, order.lines, "lines that 32 consecutive edges touch");
	}
	return rc;
}

static void rows_of(struct lab_run *r, unsigned g, unsigned a, const struct pair *p, struct sums *sum)
{
	const char *label = lab_run_label(r, g), *name = lab_iru_algorithm_name[a];
	double q, issued;
	unsigned i;

	for (i = 0; i < MEASURES; i++) {
		const struct measure *m = &measures[i];
		bool best = a == m->best_algorithm && !strcmp(r->symbol[g], m->best_graph);

		q = m->of(p, 1) / m->of(p, 0);
		sum->of[i] += q;
		lab_run_row(r, m->figure, label, m->rule, best ? m->best : NAN, q, "%s: %s", name, m->text);
	}
	for (i = 0; i < 2; i++) {
		sum->each[i] += accesses_each(p, i, false);
		lab_run_row(r, 14, label, LAB_OPEN_RULE, NAN, accesses_each(p, i, false), "%s: accesses a memory instruction, %s",
				      name, i ? "IRU" : "baseline");
	}
	sum->with_loads += accesses_each(p, 1, true);
	q = (double)p->c.core.merged / (double)p->c.elements;
	sum->filtered[a] += q;
	if (a != LAB_IRU_BFS)
		lab_run_row(r, 15, label, LAB_OPEN_RULE, NAN, q, "%s: elements filtered", name);
	lab_run_row(r, 15, label, LAB_OPEN_RULE, NAN, (double)p->c.core.timeout / (double)p->c.records,
		      "%s: answers that a time-out gave", name);
	energy_of(r, g, name, p, &sum->energy[a]);
	times_of(r, g, a, p, sum);
	q = own_energy(r, p);
	sum->own_energy += q;
	lab_run_row(r, 16, label, LAB_OPEN_RULE, NAN, q, "%s: the IRU's share of the energy", name);
	q = (double)p->c.foreign / (double)p->c.fetches;
	sum->foreign += q;
	lab_run_row(r, 13, label, LAB_OPEN_RULE, NAN, q, "%s: fetches from other partitions' slices", name);
	lab_run_row(r, 15, label, LAB_OPEN_RULE, NAN, (double)p->c.core.end / (double)p->c.records,
		      "%s: answers of the final merge", name);
	lab_run_row(r, 14, label, LAB_OPEN_RULE, NAN, (double)p->c.core.lines / (double)(p->c.records - p->c.core.disabled),
		      "%s: lines a record", name);
	q = in_kernels(r, p, 0) / in_kernels(r, p, 1);
	sum->speed[a] += log(q);
	sum->runs++;
	issued = (double)p->s[0].warp_instructions / (in_kernels(r, p, 0) * r->m.sms);
	sum->issued += issued;
	lab_run_row(r, 16, label, LAB_OPEN_RULE, NAN, q, "%s: speed-up in kernels", name);
	lab_run_row(r, 16, label, LAB_OPEN_RULE, NAN, (double)p->s[0].cycles / (double)p->s[1].cycles,
		      "%s: speed-up, launches included", name);
	lab_run_row(r, 16, label, LAB_OPEN_RULE, NAN, (double)p->c.elements / (double)p->c.cycles,
		      "%s: elements a cycle through the IRU", name);
	lab_run_row(r, 16, label, LAB_OPEN_RULE, NAN, issued, "%s: instructions a cycle and SM, baseline", name);
}

/* The published means over all algorithms are shown only if all were run. */
static void means(const struct state *st, const struct sums *sum)
{
	static const double speed[] = { 1.16, 1.14, 1.40 }, energy[] = { 0.83, 0.95, 0.85 };
	struct lab_run *r = st->r;
	bool whole = st->algorithms == LAB_IRU_ALGORITHMS;
	struct lab_energy_rows energy_all = { 0 };
	double n = sum->n, all = sum->runs, log_all = 0;
	char what[80];
	unsigned i, k;

	for (k = 0; k < st->algorithms; k++) {
		i = st->algorithm[k];
		snprintf(what, sizeof(what), "%s: energy, normalized", lab_iru_algorithm_name[i]);
		lab_energy_rows_mean(&sum->energy[i], r, 16, energy[i], what);
		lab_energy_rows_all(&energy_all, &sum->energy[i]);
	}
	lab_energy_rows_mean(&energy_all, r, 16, whole ? 0.87 : NAN, "energy, normalized");
	for (k = 0; k < st->algorithms; k++)
		for (i = 0; i < 4; i++)
			lab_run_row(r, 3, "mean", LAB_OPEN_RULE, NAN, sum->time[st->algorithm[k]][i / 2][i % 2] / n, "%s: %s the load, %s",
				    lab_iru_algorithm_name[st->algorithm[k]], i % 2 ? "after" : "until", i / 2 ? "IRU" : "baseline");
	lab_run_row(r, 13, "mean", LAB_OPEN_RULE, NAN, sum->foreign / all, "fetches from other partitions' slices");
	lab_run_row(r, 16, "mean", LAB_COUNT_RULE, whole ? 0.005 : NAN, sum->own_energy / all, "the IRU's share of the energy");
	lab_run_null(r, 0);
	storage(r, &st->build);
	for (i = 0; i < MEASURES; i++)
		lab_run_row(r, measures[i].figure, "mean", measures[i].rule,
				      whole ? measures[i].mean : NAN, sum->of[i] / all, "%s",
				      measures[i].text);
	lab_run_row(r, 14, "mean", LAB_CALIBRATED_RULE, whole ? 4 : NAN, sum->each[0] / all, "accesses a memory instruction, baseline");
	lab_run_row(r, 14, "mean", LAB_COUNT_RULE, whole ? 3 : NAN, sum->each[1] / all, "accesses a memory instruction, IRU");
	lab_run_null(r, sum->each[0] / all);
	lab_run_row(r, 14, "mean", LAB_OPEN_RULE, whole ? 3 : NAN, sum->with_loads / all, "with load_iru() as an access of the L1, IRU");
	lab_run_reason(r, "another reading of the figure's axis");
	lab_run_row(r, 14, "mean", LAB_COUNT_RULE, whole ? 1.32 : NAN, sum->each[0] / sum->each[1], "improvement in coalescing");
	for (k = 0; k < st->algorithms; k++) {
		i = st->algorithm[k];
		if (i != LAB_IRU_BFS) {
			lab_run_row(r, 15, "mean", LAB_COUNT_RULE, i == LAB_IRU_SSSP ? 0.23 : 0.79, sum->filtered[i] / n,
				      "%s: elements filtered", lab_iru_algorithm_name[i]);
			lab_run_null(r, 0);
		}
		log_all += sum->speed[i];
		lab_run_row(r, 16, "mean", LAB_SPEEDUP_RULE, speed[i], exp(sum->speed[i] / n), "%s: speed-up in kernels",
				      lab_iru_algorithm_name[i]);
	}
	if (whole) {
		lab_run_row(r, 15, "mean", LAB_COUNT_RULE, 0.485, (sum->filtered[LAB_IRU_SSSP] + sum->filtered[LAB_IRU_PR]) / (2 * n),
			    "elements filtered");
		lab_run_null(r, 0);
	}
	lab_run_row(r, 16, "mean", LAB_OPEN_RULE, whole ? 1.33 : NAN, exp(log_all / all), "speed-up in kernels");
	lab_run_reason(r, "the published 1.33 is no mean of its parts");
	if (whole)
		lab_run_row(r, 16, "rank order", LAB_RANK_RULE, 1, lab_spearman(speed, sum->speed, LAB_IRU_ALGORITHMS),
			      "speed-up in kernels, of the algorithms");
	lab_run_row(r, 16, "mean", LAB_CALIBRATED_RULE, whole ? 0.135 : NAN, sum->issued / all, "instructions a cycle and SM, baseline");
}

static int run_all(struct state *st, struct gtu_error *err)
{
	struct lab_run *r = st->r;
	struct sums sum = { 0 };
	unsigned g, a, k, i, jobs = r->graphs * st->algorithms * 2;
	bool weights = false;
	int rc = 0;

	for (k = 0; k < st->algorithms; k++)
		weights |= st->algorithm[k] == LAB_IRU_SSSP;

	for (g = 0; g < r->graphs && !rc; g++)
		rc = lab_narrow(r->graph[g], 1, weights ? 64 : 0, &st->subject[g].graph, &st->subject[g].weight, &st->subject[g].col,
				err);
	rc = rc ? rc : lab_jobs(jobs, "runs of the IRU", run_one, st, r->progress, err);
	for (g = 0; g < r->graphs && !rc; g++)
		for (k = 0; k < st->algorithms; k++) {
			a = st->algorithm[k];
			rows_of(r, g, a, &st->subject[g].pair[a], &sum);
			for (i = 0; i < 2; i++)
				r->instructions += st->subject[g].pair[a].s[i].warp_instructions;
		}
	if (!rc) {
		r->checked = jobs;
		sum.n = r->graphs;
		means(st, &sum);
	}
	return rc ? rc : graphs(r, err);
}

int lab_run_iru(struct lab_run *r, struct gtu_error *err)
{
	struct state st = { .r = r };
	unsigned g;
	int rc = lab_run_algorithms(r, lab_iru_algorithm_name, st.algorithm, &st.algorithms, err);

	rc = rc ? rc : parameters(r, &st.build, err);
	rc = rc ? rc : lab_run_begin(r, "gtx980", "iru.", lab_upc_standins, LAB_UPC_STANDINS, err);
	if (rc)
		return rc;
	r->m.l2_whole_lines |= st.build.l2_whole_lines;
	st.subject = calloc(r->graphs, sizeof(*st.subject));
	rc = st.subject ? run_all(&st, err) : gtu_fail(err, GTU_ERR_NOMEM, "out of memory for %u graphs", r->graphs);
	for (g = 0; g < r->graphs && st.subject; g++) {
		free(st.subject[g].weight);
		free(st.subject[g].col);
	}
	free(st.subject);
	return rc;
}
