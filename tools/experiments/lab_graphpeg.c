// SPDX-License-Identifier: MIT
/*
 * The experiments of GraphPEG, sections 2.2 and 4. The figures are evaluated twice: first to plan
 * the runs; after these were run in parallel, to add rows.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab_energy_rows.h"
#include "lab_graphpeg.h"
#include "lab_jobs.h"
#include "lab_standins.h"

#define ALL	    LAB_PG_ALGORITHMS

/*
 * The exponents give table 3's maximum degrees (2752, 549) at the paper's number of vertices. KRON, the
 * paper's smallest graph and figure 11's only one, has four times the share of its vertices that the
 * others have, so that it fills 60 SMs, up to the paper's.
 */
static const struct lab_standin standins[] = {
	{ "AMAZ", { .kind = GTU_GEN_POWERLAW, .degree = 12, .exponent = 3.05 }, 0.385, 0 },
	{ "COM", { .kind = GTU_GEN_POWERLAW, .degree = 5.5, .exponent = 3.4 }, 0.319, 0 },
	{ "COP", { .kind = LAB_STANDIN_COPAPERS, .degree = 74 }, 0.414, 0 },
	{ "KRON", { .kind = GTU_GEN_KRONECKER, .degree = 48, .simplify = 1 }, 4 * 0.125, 0 },
	{ "NACA", { .kind = GTU_GEN_DELAUNAY }, 0.991, 0 },
	{ "USAC", { .kind = GTU_GEN_ROAD }, 1.803, 0 },
};
#define STANDINS (sizeof(standins) / sizeof(standins[0]))
#define KRON	 3
#define KRON_VERTICES 0x1p17

/* By algorithm and graph, in the order of standins[]. */
static const double table_4[ALL][STANDINS] = {
	[LAB_PG_BFS] = { 1.08, 1.10, 1.07, 0.99, 1.34, 1.91 }, [LAB_PG_SSSP] = { 1.04, 1.05, 1.01, 0.99, 1.04, 1.28 },
	[LAB_PG_BC] = { 1.01, 0.96, 1.01, 0.99, 0.98, 1.16 }, [LAB_PG_STCON] = { 0.99, 0.94, 0.99, 0.94, 0.87, 1.11 },
	[LAB_PG_GC] = { 0.96, 1.01, 1.02, 1.01, 0.82, 1.19 }, [LAB_PG_KC] = { 1.00, 1.02, 1.22, 1.02, 1.03, 1.48 },
};
static const struct hard_pair {
	unsigned algorithm;
	const char *graph;
	double paper[4];
} table_5[] = {
	{ LAB_PG_BFS, "COM", { 0.96, 0.97, 0.97, 0.97 } }, { LAB_PG_BFS, "NACA", { 1.03, 0.98, 0.98, 1.03 } },
	{ LAB_PG_BFS, "USAC", { 1.35, 1.12, 1.02, 1.00 } }, { LAB_PG_SSSP, "USAC", { 1.11, 1.05, 1.02, 1.01 } },
	{ LAB_PG_BC, "USAC", { 1.01, 1.02, 1.02, 1.02 } }, { LAB_PG_STCON, "USAC", { 0.92, 0.95, 0.97, 0.98 } },
	{ LAB_PG_GC, "USAC", { 0.95, 0.91, 0.90, 0.92 } }, { LAB_PG_KC, "COP", { 1.15, 1.14, 1.12, 1.09 } },
	{ LAB_PG_KC, "USAC", { 1.14, 0.98, 0.90, 0.89 } },
};

/* ---- Figures --------------------------------------------------------------------------------- */

struct mean {				/* over graphs and algorithms */
	double log_sum, sum, min, max;
	unsigned n;
};

static void mean_add(struct mean *m, double v)
{
	m->min = m->n && m->min < v ? m->min : v;
	m->max = m->n && m->max > v ? m->max : v;
	m->log_sum += log(v);
	m->sum += v;
	m->n++;
}

#define EACH(x, g, a) for (g = 0; g < (x)->graphs; g++) for (a = 0; a < ALL; a++)

/* Gunrock's gain over the simple code, and the share of its balancing. */
static void figure_2(struct graphpeg *x)
{
	struct mean gain = { 0 }, share = { 0 };
	unsigned g, a;

	EACH(x, g, a) {
		struct graphpeg_want simple = graphpeg_want(x, g, a, LAB_PG_SIMPLE, OVERALL), gunrock = graphpeg_want(x, g, a, LAB_PG_BALANCED, OVERALL);
		const char *name = lab_pg_algorithm_name[a], *label = lab_run_label(x->r, g);
		double q = graphpeg_faster(x, &gunrock, &simple), part = graphpeg_outcome(x, &gunrock)->balancing;

		lab_run_row(x->r, 2, label, LAB_OPEN_RULE, NAN, q, "%s: balanced over simple", name);
		lab_run_row(x->r, 2, label, LAB_OPEN_RULE, NAN, part, "%s: share of balancing", name);
		mean_add(&gain, q);
		mean_add(&share, part);
	}
	lab_run_row(x->r, 2, "mean", LAB_OPEN_RULE, NAN, exp(gain.log_sum / gain.n), "balanced over simple");
	lab_run_row(x->r, 2, "mean", LAB_CALIBRATED_RULE, 0.1803, share.sum / share.n, "share of balancing");
	lab_run_row(x->r, 2, "least", LAB_COUNT_RULE, 0.0105, share.min, "share of balancing");
	lab_run_null(x->r, 0);
	lab_run_row(x->r, 2, "most", LAB_COUNT_RULE, 0.5395, share.max, "share of balancing");
	lab_run_null(x->r, 0);
}

/* 1 to 8 KB of shared memory for edges: gap to the best, with unlimited table, ideal balancing. */
static void figure_7(struct graphpeg *x)
{
	double rate[4], best, all[4] = { 0 }, most_of_all[4] = { 0 };
	unsigned g, a, i;

	for (g = 0; g < x->graphs; g++) {
		double sum[4] = { 0 }, most[4] = { 0 };

		for (a = 0; a < ALL; a++) {
			for (best = 0, i = 0; i < 4; i++) {
				struct graphpeg_want w = graphpeg_want(x, g, a, LAB_PG_PEG, PARAMETERS);

				w.config.peg.entries = LAB_PEG_UNLIMITED;
				w.config.peg.free = true;
				w.config.peg.list_bytes += w.config.peg.edge_bytes;
				w.config.peg.edge_bytes = 1024u << i;
				w.config.peg.list_bytes -= w.config.peg.edge_bytes;
				rate[i] = graphpeg_outcome(x, &w)->rate;
				best = rate[i] > best ? rate[i] : best;
			}
			for (i = 0; i < 4; i++) {
				double gap = (best - rate[i]) / best;

				sum[i] += gap;
				most[i] = gap > most[i] ? gap : most[i];
			}
		}
		for (i = 0; i < 4; i++) {
			lab_run_row(x->r, 7, lab_run_label(x->r, g), LAB_OPEN_RULE, NAN, sum[i] / ALL, "%u KB of edges: behind the best", 1u << i);
			lab_run_row(x->r, 7, lab_run_label(x->r, g), LAB_OPEN_RULE, NAN, most[i], "%u KB of edges: behind the best, at most", 1u << i);
			all[i] += sum[i];
			most_of_all[i] = most[i] > most_of_all[i] ? most[i] : most_of_all[i];
		}
		/* 1 KB "outperforms others for AMAZ and COM" and is the worst "for the other four" */
		if (*x->r->symbol[g])
			lab_run_row(x->r, 7, lab_run_label(x->r, g), LAB_DIRECTION_RULE,
				    strstr("AMAZ COM", x->r->symbol[g]) ? LAB_LESS : LAB_MORE, 3 * sum[0] / (sum[1] + sum[2] + sum[3]),
				    "1 KB of edges: behind the best, over the mean of 2, 4 and 8 KB");
	}
	lab_run_row(x->r, 7, "mean", LAB_DIRECTION_RULE, LAB_MORE, 3 * all[0] / (all[1] + all[2] + all[3]),
		    "1 KB of edges: behind the best, over the mean of 2, 4 and 8 KB");
	for (i = 0; i < 4; i++) {
		lab_run_row(x->r, 7, "mean", LAB_OPEN_RULE, NAN, all[i] / (ALL * x->graphs), "%u KB of edges: behind the best", 1u << i);
		lab_run_row(x->r, 7, "most", LAB_COUNT_RULE, i == 1 ? 0.12 : NAN, most_of_all[i], "%u KB of edges: behind the best, at most", 1u << i);
		lab_run_null(x->r, 0);
	}
}

/* Speed of an unlimited table over one with @entries entries. */
static double unlimited_over(struct graphpeg *x, unsigned g, unsigned a, uint32_t entries)
{
	struct graphpeg_want w = graphpeg_want(x, g, a, LAB_PG_PEG, PARAMETERS), all;

	w.config.peg.entries = entries;
	w.config.peg.free = true;
	all = w;
	all.config.peg.entries = LAB_PEG_UNLIMITED;
	return graphpeg_faster(x, &all, &w);
}

static double paper_4(const struct graphpeg *x, unsigned g, unsigned a)
{
	unsigned i;

	for (i = 0; i < STANDINS; i++)
		if (!strcmp(x->r->symbol[g], standins[i].symbol))
			return table_4[a][i];
	return NAN;
}

/* A count that the null value, 1, would meet is judged as a point of its curve. */
static enum lab_rule rule_of(double paper)
{
	return fabs(1 / paper - 1) <= 0.15 ? LAB_CURVE_RULE : LAB_COUNT_RULE;
}

/* Tables of 12 to 24 entries: the paper's pairs of algorithm and graph; of a file, every algorithm. */
static void table_5_of(struct graphpeg *x, unsigned g)
{
	unsigned a, i, e;

	for (a = 0; a < ALL; a++) {
		const struct hard_pair *pair = NULL;

		for (i = 0; i < sizeof(table_5) / sizeof(table_5[0]); i++)
			if (table_5[i].algorithm == a && !strcmp(x->r->symbol[g], table_5[i].graph))
				pair = &table_5[i];
		for (e = 0; e < 4 && (pair || !*x->r->symbol[g]); e++) {
			lab_run_row(x->r, LAB_TABLE(5), lab_run_label(x->r, g), pair ? rule_of(pair->paper[e]) : LAB_OPEN_RULE,
			    pair ? pair->paper[e] : NAN, unlimited_over(x, g, a, 12 + 4 * e), "%s: unlimited over %u entries",
			    lab_pg_algorithm_name[a], 12 + 4 * e);
			lab_run_curve(x->r, "%s on %s, by entries", lab_pg_algorithm_name[a], lab_run_label(x->r, g));
		}
	}
}

static void tables(struct graphpeg *x)
{
	unsigned g, a, within = 0, hard = 0, all = 0;

	if (lab_run_wants(x->r, LAB_TABLE(4))) {
		EACH(x, g, a) {
			double q = unlimited_over(x, g, a, 8), paper = paper_4(x, g, a);

			lab_run_row(x->r, LAB_TABLE(4), lab_run_label(x->r, g), rule_of(paper), paper, q, "%s: unlimited over 8 entries",
			    lab_pg_algorithm_name[a]);
			lab_run_curve(x->r, "unlimited over 8 entries");
			within += fabs(q / paper - 1) <= 0.15;
			hard += q > 1.1;
			all++;
		}
		lab_run_row(x->r, LAB_TABLE(4), "count", LAB_OPEN_RULE, NAN, within, "values within 15%% of the paper's, of %u", all);
		lab_run_row(x->r, LAB_TABLE(4), "count", LAB_OPEN_RULE, 9, hard, "values above 1.1, of %u", all);
		lab_run_reason(x->r, "the values are judged above");
	}
	for (g = 0; g < x->graphs && lab_run_wants(x->r, LAB_TABLE(5)); g++)
		table_5_of(x, g);
}

#define CONFIGS 5u
/* Balancing between SMs relative to ideal balancing (every cycle, no latency). */
static void figure_8(struct graphpeg *x)
{
	/* the last: section 3.3.2's other threshold, a number of edges; N = 63 leaves the floor alone */
	static const struct { const char *text; uint8_t shift; uint32_t floor; bool edges, lists; } config[CONFIGS] = {
		{ "edges, N = 4", 4, 0, true, false }, { "edges, N = 2", 2, 0, true, false }, { "edges and lists", 4, 0, true, true },
		{ "lists", 4, 0, false, true }, { "edges, threshold of 512", 63, 512, true, false },
	};
	struct mean mean[CONFIGS] = { { 0 } }, usac = { 0 }, others = { 0 };
	unsigned g, a, i, slower = 0;

	EACH(x, g, a) {
		double of[CONFIGS];
		struct graphpeg_want ideal = graphpeg_want(x, g, a, LAB_PG_PEG, PARAMETERS), w;

		ideal.config.peg.free = true;
		for (i = 0; i < CONFIGS; i++) {
			bool named = !strcmp(x->r->symbol[g], "KRON") && a == LAB_PG_STCON;
			double q;

			w = graphpeg_want(x, g, a, LAB_PG_PEG, PARAMETERS);
			w.config.peg.shift = config[i].shift;
			w.config.peg.floor = config[i].floor ? config[i].floor : w.config.peg.floor;
			w.config.peg.balance_edges = config[i].edges;
			w.config.peg.balance_lists = config[i].lists;
			of[i] = q = graphpeg_faster(x, &w, &ideal);
			mean_add(&mean[i], q);
			lab_run_row(x->r, 8, lab_run_label(x->r, g), named && i == 0 ? LAB_CURVE_RULE : named && i == 3 ? LAB_COUNT_RULE : LAB_OPEN_RULE,
			    named && i == 0 ? 1.0103 : named && i == 3 ? 0.1733 : NAN, q, "%s: %s against ideal",
			    lab_pg_algorithm_name[a], config[i].text);
		}
		slower += of[3] < of[0];
		mean_add(strcmp(x->r->symbol[g], "USAC") ? &others : &usac, of[0]);
		if (a == LAB_PG_BFS && !strcmp(x->r->symbol[g], "NACA"))
			lab_run_row(x->r, 8, "NACA", LAB_DIRECTION_RULE, LAB_MORE, of[3] / of[0], "bfs: lists against edges, N = 4");
	}
	/* "in most cases" lists are slower; "the overhead is relatively higher" on USAC */
	lab_run_row(x->r, 8, "all", LAB_DIRECTION_RULE, LAB_MORE, (double)slower / mean[0].n, "share of the runs that lists slow down against edges");
	lab_run_null(x->r, 0.5);
	if (usac.n && others.n)
		lab_run_row(x->r, 8, "USAC", LAB_DIRECTION_RULE, LAB_LESS, exp(usac.log_sum / usac.n - others.log_sum / others.n),
			    "edges, N = 4, against ideal, over the other graphs' mean");
	for (i = 0; i < CONFIGS; i++)
		lab_run_row(x->r, 8, "mean", LAB_OPEN_RULE, NAN, exp(mean[i].log_sum / mean[i].n), "%s against ideal", config[i].text);
}

static void figure_9(struct graphpeg *x)
{
	static const unsigned by[] = { LAB_PG_BALANCED, LAB_PG_HYBRID, LAB_PG_HWWL, LAB_PG_PEG };
	unsigned g, a, i;

	EACH(x, g, a) {
		for (i = 0; i < 4; i++) {
			struct graphpeg_want w = graphpeg_want(x, g, a, by[i], OVERALL);

			lab_run_row(x->r, 9, lab_run_label(x->r, g), LAB_OPEN_RULE, NAN, graphpeg_outcome(x, &w)->rate / 1e6, "%s: M edges a second, %s",
			    lab_pg_algorithm_name[a], lab_pg_strategy_name[by[i]]);
		}
	}
}

/* Per edge, since runs stop after different numbers; or per cycle, without static power. */
static struct lab_energy energy_of(const struct graphpeg *x, const struct graphpeg_outcome *o, bool dynamic_power)
{
	double by = dynamic_power ? (double)o->r.cycles : (double)o->r.edges;
	struct lab_energy e = { { 0 } };
	unsigned k;

	lab_energy_add(&e, &x->r->m, &o->r.stats, o->r.cycles, o->r.peg.core.edges + o->r.peg.core.pushed);
	for (k = 0; k < LAB_EVENTS; k++)
		e.count[k] /= by > 0 ? by : 1;
	if (dynamic_power)
		e.count[LAB_E_SECOND] = 0;
	return e;
}

/* Section 4.6: an entry has 98 bits; "additional control states" make it about 1 KB an SM. */
static void storage(struct graphpeg *x)
{
	lab_run_row(x->r, 10, "all", LAB_INPUT_RULE, 294, x->build.entries * 98 / 8.0, "bytes of the working table an SM, of 98 bits an entry");
	lab_run_row(x->r, 10, "all", LAB_INPUT_RULE, 0.0039, 1.0 / 256, "1 KB of storage over the 256 KB of registers");
}

static void energy(struct graphpeg *x)
{
	static const struct { unsigned by; bool power; const char *text; double paper; } of[] = {
		{ LAB_PG_BALANCED, false, "energy an edge, PEG's of Gunrock's", 0.526 },
		{ LAB_PG_HYBRID, false, "energy an edge, PEG's of SEP-Graph's", 0.693 },
		{ LAB_PG_BALANCED, true, "dynamic power, PEG's of Gunrock's", 1.114 },
		{ LAB_PG_HYBRID, true, "dynamic power, PEG's of SEP-Graph's", 1.148 },
	};
	unsigned g, a, i;

	for (i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		struct lab_energy_rows rows = { .arithmetic = true };	/* as all means of figure 10 */

		EACH(x, g, a) {
			struct graphpeg_want peg = graphpeg_want(x, g, a, LAB_PG_PEG, OVERALL), base = graphpeg_want(x, g, a, of[i].by, OVERALL);
			const struct graphpeg_outcome *p = graphpeg_outcome(x, &peg), *b = graphpeg_outcome(x, &base);
			struct lab_energy e[2] = { energy_of(x, p, of[i].power), energy_of(x, b, of[i].power) };
			char what[80];

			snprintf(what, sizeof(what), "%s: %s", lab_pg_algorithm_name[a], of[i].text);
			if (!x->r->planning)
				lab_energy_rows_add(&rows, x->r, 10, g, &x->r->m, &e[0], &e[1], what);
		}
		if (!x->r->planning)
			lab_energy_rows_mean(&rows, x->r, 10, of[i].paper, of[i].text);
	}
}

static void figure_10(struct graphpeg *x)
{
	static const struct { unsigned by; const char *text; double mean, min, max; } over[] = {
		{ LAB_PG_BALANCED, "Gunrock's balancing", 2.8, 1.18, 7.3 }, { LAB_PG_HYBRID, "SEP-Graph's hybrid", 2.5, 1.14, 7.0 },
		{ LAB_PG_HWWL, "hardware worklists", 3.9, 1.2, 29.5 },
	};
	static const struct { uint32_t bytes; double paper; } shared[] = { { 8 << 10, 0.9343 }, { 16 << 10, 0.9726 }, { 32 << 10, 0.9932 } };
	struct mean mean[3] = { { 0 } }, instructions = { 0 }, requests = { 0 }, less[3] = { { 0 } }, examined[3] = { { 0 } };
	unsigned g, a, i;

	EACH(x, g, a) {
		const char *name = lab_pg_algorithm_name[a], *label = lab_run_label(x->r, g);
		struct graphpeg_want peg = graphpeg_want(x, g, a, LAB_PG_PEG, OVERALL), w;
		const struct graphpeg_outcome *with = graphpeg_outcome(x, &peg), *gunrock;

		for (i = 0; i < 3; i++) {
			double q;

			w = graphpeg_want(x, g, a, over[i].by, OVERALL);
			q = graphpeg_faster(x, &peg, &w);
			mean_add(&mean[i], q);
			lab_run_row(x->r, 10, label, LAB_OPEN_RULE, NAN, q, "%s: PEG over %s", name, over[i].text);
			mean_add(&examined[i], with->rate / graphpeg_outcome(x, &w)->rate);
		}
		w = graphpeg_want(x, g, a, LAB_PG_BALANCED, OVERALL);
		gunrock = graphpeg_outcome(x, &w);
		mean_add(&instructions, with->instructions / gunrock->instructions);
		mean_add(&requests, with->requests / gunrock->requests);
		lab_run_row(x->r, 10, label, LAB_OPEN_RULE, NAN, with->instructions / gunrock->instructions, "%s: instructions an edge, of Gunrock's",
		    name);
		lab_run_row(x->r, 10, label, LAB_OPEN_RULE, NAN, with->requests / gunrock->requests, "%s: memory requests an edge, of Gunrock's",
		    name);
		w = graphpeg_want(x, g, a, LAB_PG_PEG, OVERALL);
		w.config.push_only = true;
		if (a < LAB_PG_GC && a != LAB_PG_SSSP && graphpeg_outcome(x, &w)->r.whole && with->r.pulled)
			lab_run_row(x->r, 10, label, LAB_OPEN_RULE, NAN, (double)graphpeg_outcome(x, &w)->r.cycles / (double)with->r.cycles,
			    "%s: time by push alone over push and pull", name);
		for (i = 0; i < 3; i++) {
			w = graphpeg_want(x, g, a, LAB_PG_PEG, OVERALL);
			w.config.peg.list_bytes = shared[i].bytes - w.config.peg.edge_bytes;
			mean_add(&less[i], graphpeg_faster(x, &w, &peg));
			/* "up to 18.36% on the BFS benchmark" */
			if (a == LAB_PG_BFS && !i && !strcmp(x->r->symbol[g], "COP"))
				lab_run_row(x->r, 10, label, LAB_COUNT_RULE, 0.8164, graphpeg_faster(x, &w, &peg), "bfs: 8 KB of shared memory against all");
			else
				lab_run_row(x->r, 10, label, LAB_OPEN_RULE, NAN, graphpeg_faster(x, &w, &peg), "%s: %u KB of shared memory against all",
					    name, shared[i].bytes >> 10);
		}
	}
	for (i = 0; i < 3; i++) {
		lab_run_row(x->r, 10, "mean", LAB_SPEEDUP_RULE, over[i].mean, mean[i].sum / mean[i].n, "PEG over %s", over[i].text);
		lab_run_row(x->r, 10, "least", LAB_SPEEDUP_RULE, over[i].min, mean[i].min, "PEG over %s", over[i].text);
		lab_run_row(x->r, 10, "most", LAB_SPEEDUP_RULE, over[i].max, mean[i].max, "PEG over %s", over[i].text);
	}
	for (i = 0; i < 3; i++) {	/* pull visits other edges than push: a rate of edges is not a speed of runs that end */
		const struct { const char *of; double paper, ours; } value[] = {
			{ "mean", over[i].mean, examined[i].sum / examined[i].n }, { "least", over[i].min, examined[i].min },
			{ "most", over[i].max, examined[i].max },
		};
		unsigned k;

		for (k = 0; k < 3; k++) {
			lab_run_row(x->r, 10, value[k].of, LAB_OPEN_RULE, value[k].paper, value[k].ours, "PEG over %s, edges examined a second",
				    over[i].text);
			lab_run_reason(x->r, "the other reading of the edges a second");
		}
	}
	lab_run_row(x->r, 10, "mean", LAB_COUNT_RULE, 0.125, instructions.sum / instructions.n, "instructions an edge, of Gunrock's");
	lab_run_row(x->r, 10, "mean", LAB_COUNT_RULE, 1 - 0.2739, requests.sum / requests.n, "memory requests an edge, of Gunrock's");
	for (i = 0; i < 3; i++) {
		lab_run_row(x->r, 10, "mean", LAB_CURVE_RULE, shared[i].paper, less[i].sum / less[i].n, "%u KB of shared memory against all",
		    shared[i].bytes >> 10);
		lab_run_curve(x->r, "shared memory against all");
	}
}

static void figure_11(struct graphpeg *x)
{
	static const unsigned by[] = { LAB_PG_BALANCED, LAB_PG_HYBRID, LAB_PG_PEG }, of[] = { LAB_PG_BFS, LAB_PG_SSSP, LAB_PG_KC };
	unsigned g, a, i, n;

	for (g = 0; g < x->graphs; g++) {
		if (*x->r->symbol[g] && strcmp(x->r->symbol[g], "KRON"))
			continue;
		for (a = 0; a < 3; a++) {
			for (i = 0; i < 3; i++) {
				for (n = 20; n <= 60; n += 20) {
					struct graphpeg_want w = graphpeg_want(x, g, of[a], by[i], OVERALL), simple = graphpeg_want(x, g, of[a], LAB_PG_SIMPLE, OVERALL);

					w.sms = simple.sms = n;
					lab_run_row(x->r, 11, lab_run_label(x->r, g), LAB_OPEN_RULE, NAN, graphpeg_faster(x, &w, &simple),
					    "%s: %s over simple, %u SMs", lab_pg_algorithm_name[of[a]], lab_pg_strategy_name[by[i]], n);
					simple.sms = 20;
					lab_run_row(x->r, 11, lab_run_label(x->r, g), LAB_OPEN_RULE, NAN, graphpeg_faster(x, &w, &simple),
					    "%s: %s on %u SMs over simple on 20", lab_pg_algorithm_name[of[a]], lab_pg_strategy_name[by[i]], n);
				}
			}
		}
	}
}

static void figures(struct graphpeg *x)
{
	static const struct { unsigned figure; void (*rows)(struct graphpeg *x); } all[] = {
		{ 2, figure_2 }, { 7, figure_7 }, { 8, figure_8 }, { 9, figure_9 }, { 10, figure_10 }, { 10, energy }, { 10, storage }, { 11, figure_11 },
	};
	unsigned i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (lab_run_wants(x->r, all[i].figure))
			all[i].rows(x);
	graphpeg_text(x);
	tables(x);
}

static bool wants_any(const struct lab_run *r, const unsigned *figure, unsigned n)
{
	bool any = false;

	while (n--)
		any |= lab_run_wants(r, figure[n]);
	return any;
}

/* Append stand-ins of @scale to the run's graphs. */
static int begin_standins(struct lab_run *r, uint64_t scale, struct gtu_error *err)
{
	struct lab_standin s[STANDINS];
	const uint64_t was = r->scale;
	int rc;

	memcpy(s, standins, sizeof(s));
	s[KRON].vertices = fmin(s[KRON].vertices, KRON_VERTICES / exp2((double)scale));
	r->scale = scale;
	rc = lab_run_begin(r, "graphpeg", "peg.", s, STANDINS, err);
	r->scale = was;
	return rc;
}

/* Graphs of the scale for the parameters' figures, and of at most overall_scale for the comparisons'. */
static int begin_graphs(struct graphpeg *x, struct gtu_error *err)
{
	static const unsigned parameters[] = { 7, 8, LAB_TABLE(4), LAB_TABLE(5) }, comparisons[] = { 2, 9, 10, 11 };
	struct lab_run *r = x->r;
	const uint64_t scale = r->scale, overall = scale < x->overall_scale ? scale : x->overall_scale;
	const bool first = wants_any(r, parameters, 4), second = wants_any(r, comparisons, 4);
	int rc;

	r->scale = first ? scale : overall;
	rc = begin_standins(r, r->scale, err);
	x->graphs = r->graphs;
	if (rc || !first || !second || overall == scale)
		return rc;
	x->overall = x->graphs;
	return begin_standins(r, overall, err);
}

static int begin(struct graphpeg *x, struct gtu_error *err)
{
	uint32_t shift = 0;
	const struct lab_key keys[] = {
		{ "peg.entries", &x->build.entries, 1, PEG_ENTRIES_MAX, LAB_NUMBER },
		{ "peg.edge_bytes", &x->build.edge_bytes, 1, PEG_BYTES_MAX, LAB_BYTES },
		{ "peg.list_bytes", &x->build.list_bytes, 1, PEG_BYTES_MAX, LAB_BYTES },
		{ "peg.interval", &x->build.interval, 1, 1 << 20, LAB_CYCLES },
		{ "peg.floor", &x->build.floor, 2, 1 << 20, LAB_NUMBER },
		{ "peg.shift", &shift, 0, 63, LAB_NUMBER },
		{ "peg.blocks", &x->blocks, 1, 64, LAB_NUMBER },
		{ "peg.end_polled", &x->end_polled, 0, 1, LAB_NUMBER },
		{ "peg.light_edges", &x->light_edges, 0, 1 << 20, LAB_NUMBER },
		{ "peg.ends", &x->ends, 1, 1000, LAB_NUMBER },
		{ "peg.overall_scale", &x->overall_scale, 8, PAPER_SCALE, LAB_NUMBER },
		{ "peg.parameters_pull", &x->parameters_pull, 0, 1, LAB_NUMBER },
	};
	struct lab_run *r = x->r;
	const char *why;
	unsigned i;
	int rc = lab_run_parameters(r, "peg.", keys, sizeof(keys) / sizeof(keys[0]), err);

	x->build.shift = (uint8_t)shift;
	x->build.end_polled = x->end_polled;
	/* the machine, and files; stand-ins take time and come after the check */
	rc = rc ? rc : lab_run_begin(r, "graphpeg", "peg.", NULL, 0, err);
	if (rc)
		return rc;
	why = lab_peg_check(&r->m, &x->build);
	if (why)
		return gtu_fail(err, GTU_ERR_USAGE, "PEG on %s: %s", r->m.name, why);
	x->graphs = r->graphs;
	rc = r->files ? 0 : begin_graphs(x, err);
	for (i = 0; i < r->graphs && !rc; i++)
		rc = graphpeg_prepare(r->graph[i], x->ends, &x->subject[i], err);
	return rc ? rc : lab_jobs(4 * r->graphs, "reference", graphpeg_expect, x, r->progress, err);
}

int lab_run_graphpeg(struct lab_run *r, struct gtu_error *err)
{
	struct graphpeg x = { .r = r, .build = lab_peg_published };
	unsigned i;
	int rc = begin(&x, err);

	r->planning = true;
	if (!rc) {
		figures(&x);
		x.outcome = calloc(x.wants + 1, sizeof(*x.outcome));
		if (x.no_memory || !x.outcome)
			rc = gtu_fail(err, GTU_ERR_NOMEM, "out of memory for %u runs", x.wants);
	}
	rc = rc ? rc : lab_jobs(x.wants, "run", graphpeg_run, &x, r->progress, err);
	if (!rc) {
		r->planning = false;
		figures(&x);
		r->checked = x.wants;
		for (i = 0; i < x.wants; i++)
			r->instructions += x.outcome[i].warp_instructions;
	}
	graphpeg_free(&x);
	return rc;
}
