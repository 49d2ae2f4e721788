// SPDX-License-Identifier: MIT
/* What GraphPEG's text says about its bar charts, whose values are not published: directions. */
#include <math.h>
#include <string.h>

#include "lab_graphpeg.h"

#define ALL_ALGORITHMS	((1u << LAB_PG_ALGORITHMS) - 1)
#define ALL_GRAPHS	"AMAZ COM COP KRON NACA USAC"

static bool among(const struct graphpeg *x, unsigned g, const char *graphs)
{
	return *x->r->symbol[g] && strstr(graphs, x->r->symbol[g]);
}

static const struct graphpeg_outcome *run_of(struct graphpeg *x, unsigned g, unsigned algorithm, unsigned strategy, uint32_t sms)
{
	struct graphpeg_want w = graphpeg_want(x, g, algorithm, strategy, OVERALL);

	w.sms = sms;
	return graphpeg_outcome(x, &w);
}

/* Speed of one strategy, on so many SMs, over another one. */
static double faster(struct graphpeg *x, unsigned g, unsigned algorithm, unsigned a, uint32_t a_sms, unsigned b, uint32_t b_sms)
{
	struct graphpeg_want p = graphpeg_want(x, g, algorithm, a, OVERALL), q = graphpeg_want(x, g, algorithm, b, OVERALL);

	p.sms = a_sms;
	q.sms = b_sms;
	return graphpeg_faster(x, &p, &q);
}

/* Mean (geometric) of that on @graphs; @algorithms are bits. NAN: none of them is run. */
static double over(struct graphpeg *x, const char *graphs, unsigned algorithms, unsigned a, uint32_t a_sms, unsigned b, uint32_t b_sms)
{
	double sum = 0;
	unsigned g, k, n = 0;

	for (g = 0; g < x->graphs; g++) {
		for (k = 0; k < LAB_PG_ALGORITHMS; k++) {
			if (!among(x, g, graphs) || !(algorithms >> k & 1))
				continue;
			sum += log(faster(x, g, k, a, a_sms, b, b_sms));
			n++;
		}
	}
	return n ? exp(sum / n) : NAN;
}

/* Mean (geometric) of the rates on @graphs; @algorithms are bits. NAN: none of them is run. */
static double rate(struct graphpeg *x, const char *graphs, unsigned algorithms, unsigned strategy, uint32_t sms)
{
	double sum = 0;
	unsigned g, a, n = 0;

	for (g = 0; g < x->graphs; g++) {
		for (a = 0; a < LAB_PG_ALGORITHMS; a++) {
			if (!among(x, g, graphs) || !(algorithms >> a & 1))
				continue;
			sum += log(run_of(x, g, a, strategy, sms)->rate);
			n++;
		}
	}
	return n ? exp(sum / n) : NAN;
}

#define DIRECTION(x, figure, graph, way, ours, ...) lab_run_row((x)->r, figure, graph, LAB_DIRECTION_RULE, way, ours, __VA_ARGS__)

static void balancing(struct graphpeg *x)
{
	double gain[LAB_RUN_GRAPHS * LAB_PG_ALGORITHMS], share[LAB_RUN_GRAPHS * LAB_PG_ALGORITHMS], sum[2] = { 0 }, least = INFINITY;
	unsigned g, a, n = 0, in[2] = { 0 };

	for (g = 0; g < x->graphs; g++) {
		for (a = 0; a < LAB_PG_ALGORITHMS; a++) {
			const struct graphpeg_outcome *o = run_of(x, g, a, LAB_PG_BALANCED, 0);
			const bool sparse = among(x, g, "NACA USAC");

			gain[n] = faster(x, g, a, LAB_PG_BALANCED, 0, LAB_PG_SIMPLE, 0);
			share[n] = o->balancing;
			least = gain[n] < least ? gain[n] : least;
			sum[sparse] += share[n++];
			in[sparse]++;
		}
	}
	DIRECTION(x, 2, "all", LAB_MORE, sum[1] / in[1] / (sum[0] / in[0]), "share of balancing on NACA and USAC over the others'");
	DIRECTION(x, 2, "all", LAB_LESS, lab_spearman(gain, share, n), "rank correlation of gain and share of balancing");
	lab_run_null(x->r, 0);
	DIRECTION(x, 2, "least", LAB_LESS, least, "balanced over simple");
}

static void rates(struct graphpeg *x)
{
	static const unsigned by[] = { LAB_PG_BALANCED, LAB_PG_HYBRID, LAB_PG_HWWL, LAB_PG_PEG };
	unsigned i, g;

	for (i = 0; i < 4; i++) {
		double cop = rate(x, "COP", ALL_ALGORITHMS, by[i], 0), other = 0;

		for (g = 0; g < x->graphs; g++)
			if (!among(x, g, "COP"))
				other = fmax(other, rate(x, x->r->symbol[g], ALL_ALGORITHMS, by[i], 0));
		DIRECTION(x, 9, "all", LAB_MORE, rate(x, "AMAZ COM COP KRON", ALL_ALGORITHMS, by[i], 0) /
			  rate(x, "NACA USAC", ALL_ALGORITHMS, by[i], 0), "%s: rate on the first four graphs over the others'",
			  lab_pg_strategy_name[by[i]]);
		DIRECTION(x, 9, "COP", LAB_MORE, cop / other, "%s: rate over the highest of the others", lab_pg_strategy_name[by[i]]);
	}
}

static void comparisons(struct graphpeg *x)
{
	static const char *const skewed[] = { "AMAZ", "COP", "KRON" };
	double least = INFINITY, push = 0;
	unsigned g, a, i, n = 0;

	for (a = LAB_PG_GC; a <= LAB_PG_KC; a++)
		DIRECTION(x, 10, "all", LAB_MORE, over(x, ALL_GRAPHS, 1u << a, LAB_PG_BALANCED, 0, LAB_PG_HYBRID, 0),
			  "%s: Gunrock over SEP-Graph", lab_pg_algorithm_name[a]);
	DIRECTION(x, 10, "COP", LAB_MORE, over(x, "COP", ALL_ALGORITHMS, LAB_PG_BALANCED, 0, LAB_PG_HYBRID, 0), "Gunrock over SEP-Graph");
	for (i = 0; i < 3; i++)
		DIRECTION(x, 10, skewed[i], LAB_MORE, over(x, skewed[i], ALL_ALGORITHMS, LAB_PG_BALANCED, 0, LAB_PG_HWWL, 0),
			  "Gunrock over hardware worklists");
	for (g = 0; g < x->graphs; g++) {
		for (a = 0; a < LAB_PG_ALGORITHMS; a++) {
			struct graphpeg_want w = graphpeg_want(x, g, a, LAB_PG_PEG, OVERALL);
			const struct graphpeg_outcome *hybrid = graphpeg_outcome(x, &w), *alone;

			least = fmin(least, faster(x, g, a, LAB_PG_HWWL, 0, LAB_PG_SIMPLE, 0));
			if (!among(x, g, "COP") || a >= LAB_PG_GC || a == LAB_PG_SSSP)
				continue;
			w.config.push_only = true;
			alone = graphpeg_outcome(x, &w);
			if (hybrid->r.whole && alone->r.whole) {
				push += log((double)alone->r.cycles / (double)hybrid->r.cycles);
				n++;
			}
		}
	}
	DIRECTION(x, 10, "least", LAB_LESS, least, "hardware worklists over simple");
	DIRECTION(x, 10, "COP", LAB_LESS, n ? exp(push / n) : NAN, "PEG: time by push alone over push and pull");
}

static void scaling(struct graphpeg *x)
{
	static const unsigned of[] = { LAB_PG_BFS, LAB_PG_SSSP, LAB_PG_KC }, by[] = { LAB_PG_BALANCED, LAB_PG_HYBRID, LAB_PG_PEG };
	unsigned a, i;

	for (a = 0; a < 3; a++) {
		const char *name = lab_pg_algorithm_name[of[a]];
		double more[3];

		for (i = 0; i < 3; i++) {
			more[i] = over(x, "KRON", 1u << of[a], by[i], 60, by[i], 20);
			if (of[a] == LAB_PG_KC && by[i] != LAB_PG_PEG)
				continue;
			DIRECTION(x, 11, "KRON", LAB_MORE, more[i], "%s: %s on 60 SMs over 20", name, lab_pg_strategy_name[by[i]]);
		}
		for (i = 0; i < 2; i++) {
			if (of[a] != LAB_PG_KC && by[i] == LAB_PG_HYBRID)
				continue;
			DIRECTION(x, 11, "KRON", LAB_MORE, over(x, "KRON", 1u << of[a], LAB_PG_PEG, 60, by[i], 60),
				  "%s: PEG over %s, 60 SMs", name, lab_pg_strategy_name[by[i]]);
		}
		for (i = 0; i < 2 && of[a] == LAB_PG_KC; i++)
			DIRECTION(x, 11, "KRON", LAB_MORE, more[2] / more[i], "%s: PEG's scaling over that of %s", name,
				  lab_pg_strategy_name[by[i]]);
	}
}

void graphpeg_text(struct graphpeg *x)
{
	static const struct { unsigned figure; void (*rows)(struct graphpeg *x); } all[] = {
		{ 2, balancing }, { 9, rates }, { 10, comparisons }, { 11, scaling },
	};
	unsigned i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]) && !x->r->files; i++)
		if (lab_run_wants(x->r, all[i].figure))
			all[i].rows(x);
}
