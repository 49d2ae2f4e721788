// SPDX-License-Identifier: MIT
/* SparseWeaver, sections V-C to V-E: clock ratio, table latency and cache sizes. */
#include <math.h>

#include "lab_sparseweaver.h"

/*
 * A row that says "no effect": @ours is within @low and @high. It is judged only where @null, what a
 * simulator without the effect prints, is outside: elsewhere the row says nothing.
 */
static void no_effect(struct weaver *s, unsigned figure, const char *graph, double low, double high, double ours, double null,
		      const char *what, const char *name, const char *why)
{
	const bool judged = !(null >= low && null <= high);

	lab_run_row(s->r, figure, graph, judged ? LAB_RANGE_RULE : LAB_OPEN_RULE, judged ? low : 1, ours, "pr: %s%s", name, what);
	lab_run_null(s->r, null);
	if (judged)
		lab_run_high(s->r, high);
	else
		lab_run_reason(s->r, "%s: %.3f", why, null);
}

/* ---- Figure 12: the core clock rises, the memory clock is constant --------------------------- */

static double at_ratio(struct weaver *s, unsigned g, enum lab_wvr_mapping m, const char *clock)
{
	return weaver_cycles(s, WEAVER_KEY(g, LAB_WVR_PR, m, .set = { clock }));
}

/*
 * The first is simx's own ratio, two ticks of DRAM per core cycle; the paper has 1 to 6. The figure is
 * a chart: its text says that cycles rise, and that SparseWeaver is better in all cases.
 */
void weaver_figure12(struct weaver *s)
{
	static const char *const clocks[] = { "core.clock=500 MHz", NULL, "core.clock=2000 MHz", "core.clock=4000 MHz",
					      "core.clock=6000 MHz" };
	static const double ratio[] = { 0.5, 1, 2, 4, 6 };
	static const enum lab_wvr_mapping to[] = { LAB_MAP_VERTEX, LAB_MAP_EDGE, LAB_MAP_WEAVER };
	unsigned g[2], n = weaver_pick(s, "hw uk", g), i, k, c;
	double rise[3] = { 0 }, least[2] = { INFINITY, INFINITY }, q;

	for (i = 0; i < n; i++)
		for (k = 0; k < 3; k++)
			for (c = 0; c < 5; c++) {
				q = at_ratio(s, g[i], to[k], clocks[c]) / at_ratio(s, g[i], LAB_MAP_VERTEX, NULL);
				lab_run_row(s->r, 12, s->subject[g[i]].label, LAB_OPEN_RULE, NAN, q,
					    "pr: %s, clock ratio %g: cycles over vertex at 1", lab_wvr_mapping_name[to[k]], ratio[c]);
				if (c == 4)
					rise[k] += log(at_ratio(s, g[i], to[k], clocks[4]) / at_ratio(s, g[i], to[k], NULL)) / n;
				if (k < 2 && c) {
					q = at_ratio(s, g[i], to[k], clocks[c]) / at_ratio(s, g[i], LAB_MAP_WEAVER, clocks[c]);
					least[k] = q < least[k] ? q : least[k];
				}
			}
	for (k = 0; k < 3 && n; k++)
		lab_run_row(s->r, 12, "mean", LAB_DIRECTION_RULE, LAB_MORE, exp(rise[k]), "pr: %s, cycles at ratio 6 over 1",
			    lab_wvr_mapping_name[to[k]]);
	for (k = 0; k < 2 && n; k++)
		lab_run_row(s->r, 12, "least", LAB_DIRECTION_RULE, LAB_MORE, least[k], "pr: SparseWeaver over %s, at any ratio",
			    lab_wvr_mapping_name[to[k]]);
}

/* ---- Figure 13 ------------------------------------------------------------------------------- */

static double latency_over_10(struct weaver *s, unsigned g, uint32_t latency, bool serial)
{
	struct weaver_key key = WEAVER_KEY(g, LAB_WVR_PR, LAB_MAP_WEAVER, .latency = 10, .serial = serial, .set = { EIGHT_CORES });
	double base = weaver_cycles(s, key);

	key.latency = latency;
	return weaver_cycles(s, key) / base;
}

/* "Consistent": within 5%. A simulator that reads entries one after the other (figure 6) exposes the latency. */
void weaver_figure13(struct weaver *s)
{
	unsigned g[4], n = weaver_pick(s, "hw uk co rn", g), i;

	for (i = 0; i < n; i++) {
		const char *label = s->subject[g[i]].label;
		double exposed = latency_over_10(s, g[i], 160, true);

		lab_run_row(s->r, 13, label, LAB_OPEN_RULE, NAN, latency_over_10(s, g[i], 40, false), "pr: table latency 40 over 10, cycles");
		no_effect(s, 13, label, 0.95, 1.05, latency_over_10(s, g[i], 160, false), exposed, "table latency 160 over 10, cycles", "",
			  "hidden even one entry at a time");
		lab_run_row(s->r, 13, label, LAB_OPEN_RULE, 1, exposed, "pr: table latency 160 over 10, one entry at a time");
		lab_run_reason(s->r, "the other reading (figure 6)");
	}
}

/* ---- Figures 14 and 15 ----------------------------------------------------------------------- */

static double dram(const struct lab_wvr_report *r)
{
	return (double)(r->stats.dram_reads + r->stats.dram_writes);
}

/* Sectors at the L2. */
static double traffic(const struct lab_wvr_report *r)
{
	double sum = 0;
	unsigned i;

	for (i = 0; i < LAB_STATUSES; i++)
		sum += (double)(r->stats.l2_read[i] + r->stats.l2_write[i]);
	return sum;
}

/*
 * "No significant impact": the speed of a large cache over a small one is within 10%, mean over the graphs.
 * The null model is limited by what the cache misses: it prints the ratio of traffic behind it, @measure.
 */
static void no_impact(struct weaver *s, unsigned figure, const unsigned *g, unsigned n, enum lab_wvr_mapping m, const char *small,
		      const char *large, double measure(const struct lab_wvr_report *r), const char *what)
{
	double ours = 0, null = 0;
	unsigned i;

	for (i = 0; i < n; i++) {
		const struct lab_wvr_report a = *weaver_report(s, WEAVER_KEY(g[i], LAB_WVR_PR, m, .set = { small }));
		const struct lab_wvr_report b = *weaver_report(s, WEAVER_KEY(g[i], LAB_WVR_PR, m, .set = { large }));

		ours += log((double)a.cycles / (double)b.cycles) / n;
		null += log(measure(&a) / measure(&b)) / n;
	}
	if (n)
		no_effect(s, figure, "mean", 0.9, 1.1, exp(ours), exp(null), what, lab_wvr_mapping_name[m],
			  "the cache does not change the traffic");
}

/* The model has no L3: an L2 of four times the size is an upper bound of its benefit. */
void weaver_figure14(struct weaver *s)
{
	static const enum lab_wvr_mapping to[] = { LAB_MAP_VERTEX, LAB_MAP_EDGE, LAB_MAP_WEAVER };
	unsigned g[4], n = weaver_pick(s, "hw uk co rn", g), k;

	for (k = 0; k < 3; k++)
		no_impact(s, 14, g, n, to[k], NULL, "l2.size=2048 KiB", dram, ", L2 of 4 MB (for an L3) over 1 MB");
}

void weaver_figure15(struct weaver *s)
{
	static const char *const l1[] = { "l1.size=16 KiB", "l1.size=32 KiB", NULL };
	static const char *const l2[] = { "l2.size=128 KiB", "l2.size=256 KiB", NULL, "l2.size=1024 KiB", "l2.size=2048 KiB",
					  "l2.size=4096 KiB" };
	static const enum lab_wvr_mapping to[] = { LAB_MAP_VERTEX, LAB_MAP_WEAVER };
	unsigned g[2], n = weaver_pick(s, "hw uk", g), i, k, c;

	for (i = 0; i < n; i++)
		for (k = 0; k < 2; k++) {
			const char *name = lab_wvr_mapping_name[to[k]], *label = s->subject[g[i]].label;
			double base = weaver_cycles(s, WEAVER_KEY(g[i], LAB_WVR_PR, LAB_MAP_VERTEX, .set = { l1[0] }));

			for (c = 0; c < 3; c++)
				lab_run_row(s->r, 15, label, LAB_OPEN_RULE, NAN,
					    base / weaver_cycles(s, WEAVER_KEY(g[i], LAB_WVR_PR, to[k], .set = { l1[c] })),
					    "pr: %s, L1 %u KB, over vertex at 16 KB", name, 16u << c);
			for (c = 0; c < 6; c++)
				lab_run_row(s->r, 15, label, LAB_OPEN_RULE, NAN,
					    base / weaver_cycles(s, WEAVER_KEY(g[i], LAB_WVR_PR, to[k], .set = { l2[c] })),
					    "pr: %s, L2 %g MB, over vertex at 16 KB of L1", name, 0.25 * (1 << c));
		}
	for (k = 0; k < 2; k++) {
		no_impact(s, 15, g, n, to[k], l1[0], l1[2], traffic, ", L1 of 64 over 16 KB");
		no_impact(s, 15, g, n, to[k], l2[0], l2[5], dram, ", L2 of 8 over 0.25 MB");
	}
}
