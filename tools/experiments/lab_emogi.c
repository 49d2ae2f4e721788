// SPDX-License-Identifier: MIT
/* The figures of EMOGI, sections 3.3 and 5. HALO and Subway: lab_emogi_works.c. */
#include "lab_emogi_runs.h"
#include "lab_standins.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * GAP-kron and GAP-urand have 2^27 vertices of mean degree 32; Friendster has mean degree 55 and a
 * longest list of 5214 entries; MOLIERE has 222. All but the last have no duplicates. FS has
 * Friendster's effective diameter, and so the levels of its BFS. The numbers of vertices are in table
 * 2's proportion: 134.2, 65.6 and 30.2 million.
 */
static const struct lab_standin standins[] = {
	{ "GK", { .kind = GTU_GEN_KRONECKER, .degree = 16, .simplify = 1 }, 1, 0 },
	{ "GU", { .kind = GTU_GEN_UNIFORM, .degree = 16, .simplify = 1 }, 1, 0 },
	{ "FS", { .kind = LAB_STANDIN_FRIENDS, .degree = 55 }, 65.6 / 134.2, 0 },
	{ "ML", { .kind = GTU_GEN_POWERLAW, .degree = 222, .exponent = 2.9 }, 30.2 / 134.2, 0 },
};

static const char *const access_names[ACCESSES] = { "naive", "merged", "aligned", "UVM" };

/* GB/s over the link: zero-copy reads (from the monitor) or migrated pages. */
static double gbs(const struct lab_machine *m, const struct lab_emogi_counts *c)
{
	return (double)(c->monitor[GTU_ZCM_C_BYTES(GTU_ZCM_HOST_READ)] + c->lab.uvm_bytes_in) / lab_seconds(m, c->lab.cycles) / 1e9;
}

double emogi_paper_value(const char *symbol, const char *of)
{
	const char *at = *symbol ? strstr(of, symbol) : NULL;

	return at ? strtod(at + strlen(symbol) + 1, NULL) : NAN;
}

/*
 * Lower bound for the longest edge list's share of the run time: one round trip after another, for
 * a lane's sectors or a warp's 32 edges. It is large for small graphs; the paper's graphs have 2^27
 * vertices.
 */
static double longest_list(const struct emogi *e, unsigned g, unsigned access, const struct lab_emogi_counts *c)
{
	const struct lab_run *r = e->r;
	const struct gtu_graph *graph = r->graph[g];
	uint64_t v, most = 0;
	double trips;

	for (v = 0; v < graph->n; v++)
		most = graph->row[v + 1] - graph->row[v] > most ? graph->row[v + 1] - graph->row[v] : most;
	trips = ceil((double)most / (access == ACCESS_NAIVE ? 4 : 32));
	return e->sources * trips * r->m.link_round_trip_ns * 1e-9 / lab_seconds(&r->m, c->lab.cycles);
}

/*
 * Bytes of sectors that the lists of 8-byte entries touch, counted per list, over the bytes of all
 * lists: the amplification without any cache.
 */
static double lists_alone(const struct gtu_graph *g)
{
	uint64_t v, sectors = 0;

	for (v = 0; v < g->n; v++)
		if (g->row[v + 1] > g->row[v])
			sectors += (8 * g->row[v + 1] - 1) / 32 - 8 * g->row[v] / 32 + 1;
	return 32.0 * (double)sectors / (8.0 * (double)g->m);
}

/* Shares of the four request sizes. @paper: the published ones; 0: none */
static void request_sizes(struct lab_run *r, unsigned figure, const char *graph, enum lab_rule rule, const uint64_t *seen,
			  const double *paper, const char *series)
{
	unsigned n;

	for (n = 1; n <= 4; n++) {
		lab_run_row(r, figure, graph, rule, paper[n - 1] > 0 ? paper[n - 1] : NAN, emogi_share(seen, n),
			    "%s: share of %u-byte requests", series, 32 * n);
		if (n == 1)
			lab_run_null(r, 0);	/* loads of whole lines, as caches make them */
	}
}

/* Bandwidth over the link and of the host's DRAM, over time too. */
static void array_bandwidth(struct emogi *e, unsigned x, const char *text)
{
	const struct lab_machine *m = &e->m[SETUP_PCIE3];
	const struct lab_emogi_counts *c = &e->array[x];
	double asked = (double)c->monitor[GTU_ZCM_C_BYTES(GTU_ZCM_HOST_READ)], host = (double)c->lab.link_host_bytes;
	double seconds = lab_seconds(m, c->lab.cycles);
	unsigned p;

	lab_run_row(e->r, 4, "array", LAB_OPEN_RULE, NAN, host / seconds / 1e9, "%s: GB/s of the host's DRAM", text);
	lab_run_row(e->r, 4, "array", LAB_INPUT_RULE, x == ACCESS_MERGED ? NAN : x ? 1 : 2, host / asked,
		    "%s: bytes DRAM reads for each asked", text);
	lab_run_row(e->r, 4, "array", LAB_OPEN_RULE, NAN, asked / (double)(4 * c->lab.lanes[LAB_LOAD]),
		    "%s: bytes moved for each of the array", text);
	for (p = 0; p < LAB_MONITOR_PARTS; p++)
		lab_run_row(e->r, 4, "array", LAB_OPEN_RULE, NAN, (double)c->part[p] / (seconds / LAB_MONITOR_PARTS) / 1e9,
			    "%s: GB/s over the link, eighth %u", text, p + 1);
}

static void array_figures(struct emogi *e)
{
	static const char *const text[] = { "strided", "merged, 32 bytes off", "merged and aligned", "UVM" };
	static const double sizes[ACCESS_UVM][4] = { { 1, 0, 0, 0 }, { 0.5, 0, 0.5, 0 }, { 0, 0, 0, 1 } };
	const struct lab_machine *m = &e->m[SETUP_PCIE3];
	unsigned x;

	for (x = 0; x < ACCESSES; x++) {
		const struct lab_emogi_counts *c = &e->array[x];
		const uint64_t *seen = c->monitor;

		if (!seen[GTU_ZCM_C_BYTES(GTU_ZCM_HOST_READ)] && !c->lab.uvm_bytes_in)
			continue;	/* the machine has no unified memory */
		lab_run_row(e->r, 4, "array", x == ACCESS_ALIGNED || x == ACCESS_UVM ? LAB_CALIBRATED_RULE : LAB_OPEN_RULE, x == ACCESS_ALIGNED ? 12.23 :
				      x == ACCESS_UVM ? 9 : NAN, gbs(m, c), "%s: GB/s over the link", text[x]);
		if (x == ACCESS_UVM)
			continue;
		array_bandwidth(e, x, text[x]);
		request_sizes(e->r, 3, "array", LAB_INPUT_RULE, seen, sizes[x], text[x]);
		lab_run_row(e->r, 3, "array", LAB_OPEN_RULE, NAN, (double)seen[GTU_ZCM_C_FLIGHT_SUM] / (double)seen[GTU_ZCM_C_MONITORED],
			      "%s: requests outstanding, mean", text[x]);
		lab_run_row(e->r, 3, "array", LAB_OPEN_RULE, NAN, (double)seen[GTU_ZCM_C_FLIGHT_MAX],
			      "%s: requests outstanding, most", text[x]);
	}
}

/*
 * Section 3.3: items "can be evicted before all elements are traversed". A thread's line stays in
 * use for its 32 words, so that the lines of an SM's threads compete for its L1.
 */
static void strided_figure(struct emogi *e)
{
	const struct lab_machine *m = &e->m[SETUP_PCIE3];
	unsigned i;

	for (i = 0; i < EMOGI_WARPS; i++) {
		const struct lab_emogi_counts *c = &e->strided[i];

		lab_run_row(e->r, 4, "array", LAB_OPEN_RULE, NAN, 128.0 * LAB_LANES * emogi_warps[i] / m->l1_size,
			    "strided, %u warps an SM: lines in use over the L1's", emogi_warps[i]);
		lab_run_row(e->r, 4, "array", LAB_OPEN_RULE, NAN,
			    (double)c->monitor[GTU_ZCM_C_BYTES(GTU_ZCM_HOST_READ)] / (double)(4 * c->lab.lanes[LAB_LOAD]),
			    "strided, %u warps an SM: bytes moved for each", emogi_warps[i]);
	}
}

#define DEGREE_STEP	8u		/* figure 6 ends at a degree of 96 */
#define DEGREES		12u

/* Figure 6 and table 2: properties of the graphs. */
static void graph_figures(struct emogi *e)
{
	struct lab_run *r = e->r;
	uint64_t below[DEGREES], middle, v, degree;
	unsigned g, i;

	for (g = 0; g < r->graphs; g++) {
		const struct gtu_graph *graph = r->graph[g];
		const char *label = lab_run_label(r, g), *symbol = r->symbol[g];

		memset(below, 0, sizeof(below));
		for (middle = v = 0; v < graph->n; v++) {
			degree = graph->row[v + 1] - graph->row[v];
			for (i = 0; i < DEGREES; i++)
				below[i] += degree <= DEGREE_STEP * (i + 1) ? degree : 0;
			middle += degree >= 16 && degree <= 48 ? degree : 0;
		}
		lab_run_row(r, LAB_TABLE(2), label, LAB_INPUT_RULE, emogi_paper_value(symbol, "GK=31.4 GU=32 FS=55 ML=221"),
				      (double)graph->m / (double)graph->n, "edges a vertex");
		for (i = 0; i < DEGREES; i++)
			lab_run_row(r, 6, label, LAB_OPEN_RULE, NAN, (double)below[i] / (double)graph->m,
				      "degree up to %u: share of the edges", DEGREE_STEP * (i + 1));
		lab_run_row(r, 6, label, LAB_INPUT_RULE, emogi_paper_value(symbol, "GU=1"), (double)middle / (double)graph->m,
			      "degree 16 to 48: share of the edges");
	}
}

/* Sums over graphs. */
struct bfs_sums {
	double removed[2], merged_share, bandwidth[ACCESSES], gain[2], over_uvm[3], at20, at50, amplified[2];
};

static void bfs_of_graph(struct emogi *e, unsigned g, struct bfs_sums *sum)
{
	struct lab_run *r = e->r;
	const struct lab_machine *m = &e->m[SETUP_PCIE3];
	const char *label = lab_run_label(r, g), *symbol = r->symbol[g];
	double list = 8.0 * (double)r->graph[g]->m * e->sources, q, edges = 0;
	double sizes[ACCESS_UVM][4] = { { emogi_paper_value(symbol, "FS=0.987") }, { 0, 0, 0, emogi_paper_value(symbol, "ML=0.467") } };
	struct lab_emogi_counts s[ACCESSES], other;
	unsigned x, accesses = m->uvm ? ACCESSES : ACCESS_UVM;
	char series[24];

	for (x = 0; x < accesses; x++)
		s[x] = emogi_counts(e, g, LAB_EMOGI_BFS, x, WIDTH_8, SETUP_PCIE3);
	for (x = 0; x < ACCESS_UVM; x++) {
		snprintf(series, sizeof(series), "BFS %s", access_names[x]);
		request_sizes(r, 5, label, LAB_COUNT_RULE, s[x].monitor, sizes[x], series);
	}
	lab_run_row(r, 5, label, LAB_SPEEDUP_RULE, emogi_paper_value(symbol, "GK=1.86 GU=1.25"), emogi_share(s[2].monitor, 4) / emogi_share(s[1].monitor, 4),
		      "BFS aligned: 128-byte share over merged's");
	sum->merged_share += emogi_share(s[1].monitor, 4) / r->graphs;
	for (x = 0; x < ACCESS_UVM; x++)
		lab_run_row(r, 7, label, LAB_OPEN_RULE, NAN, (double)emogi_requests(s[x].monitor) / 1e6 / e->sources,
			      "BFS %s: millions of requests", access_names[x]);
	for (x = 0; x < e->sources; x++)
		edges += (double)e->s[g].traversed[x];
	for (x = 0; x < accesses; x++)
		lab_run_row(r, 9, label, LAB_OPEN_RULE, NAN, edges / lab_seconds(m, s[x].lab.cycles) / 1e9,
			      "BFS %s: billions of edges a second", access_names[x]);
	for (x = 0; x < 2; x++) {
		q = 1 - (double)emogi_requests(s[x + 1].monitor) / (double)emogi_requests(s[x].monitor);
		sum->removed[x] = fmax(sum->removed[x], q);
		lab_run_row(r, 7, label, LAB_COUNT_RULE, x ? emogi_paper_value(symbol, "ML=0.288") : NAN, q,
				      "BFS %s: requests removed", x ? "aligned from merged" : "merged from naive");
		lab_run_null(r, 0);
		q = (double)s[x].lab.cycles / (double)s[x + 1].lab.cycles;
		sum->gain[x] += log(q) / r->graphs;
		lab_run_row(r, 9, label, LAB_OPEN_RULE, NAN, q, "BFS %s: speed-up", x ? "aligned over merged" : "merged over naive");
	}
	for (x = 0; x < accesses; x++) {
		sum->bandwidth[x] = fmax(sum->bandwidth[x], gbs(m, &s[x]));
		lab_run_row(r, 8, label, LAB_OPEN_RULE, NAN, gbs(m, &s[x]), "BFS %s: GB/s over the link", access_names[x]);
	}
	for (x = 0; x < ACCESS_UVM; x++)
		lab_run_row(r, 8, label, LAB_OPEN_RULE, NAN, longest_list(e, g, x, &s[x]),
			      "BFS %s: share of the time of the longest list", access_names[x]);
	q = (double)s[2].monitor[GTU_ZCM_C_BYTES(GTU_ZCM_HOST_READ)] / list;
	sum->amplified[0] = fmax(sum->amplified[0], q);
	lab_run_row(r, 10, label, LAB_OPEN_RULE, NAN, q, "BFS aligned: bytes read over the edge list's");
	lab_run_row(r, 10, label, LAB_OPEN_RULE, NAN, q + (double)s[2].lab.link_header_bytes / list,
			      "BFS aligned: bytes and packet headers over the edge list's");
	lab_run_row(r, 10, label, LAB_OPEN_RULE, NAN, lists_alone(r->graph[g]),
			      "no sector shared by lists: bytes read over the edge list's");
	if (!m->uvm)
		return;
	q = (double)s[ACCESS_UVM].lab.uvm_bytes_in / list;
	sum->amplified[1] = fmax(sum->amplified[1], q);
	lab_run_row(r, 10, label, LAB_COUNT_RULE, emogi_paper_value(symbol, "FS=5.16 ML=2.28"), q,
			      "BFS UVM: bytes read over the edge list's");
	for (x = 0; x < ACCESS_UVM; x++) {
		q = (double)s[ACCESS_UVM].lab.cycles / (double)s[x].lab.cycles;
		sum->over_uvm[x] += log(q) / r->graphs;
		lab_run_row(r, 9, label, LAB_OPEN_RULE, NAN, q, "BFS %s: speed-up over UVM", access_names[x]);
	}
	for (x = SETUP_FAULT20; x <= SETUP_FAULT50 && lab_run_wants(r, 9); x++) {
		other = emogi_counts(e, g, LAB_EMOGI_BFS, ACCESS_UVM, WIDTH_8, x);
		*(x == SETUP_FAULT20 ? &sum->at20 : &sum->at50) += log((double)other.lab.cycles / (double)s[1].lab.cycles) / r->graphs;
	}
}

/* Figures 5 and 7 to 10: BFS, 8-byte edges. */
static void bfs_figures(struct emogi *e)
{
	struct bfs_sums sum = { 0 };
	struct lab_run *r = e->r;
	static const double over_uvm[] = { 0.73, 3.24, NAN };
	unsigned g, x;

	for (g = 0; g < r->graphs; g++)
		bfs_of_graph(e, g, &sum);
	lab_run_row(r, 5, "mean", LAB_COUNT_RULE, 0.40, sum.merged_share, "BFS merged: share of 128-byte requests");
	lab_run_row(r, 7, "most", LAB_COUNT_RULE, 0.833, sum.removed[0], "BFS merged from naive: requests removed");
	lab_run_null(r, 0);
	lab_run_row(r, 7, "most", LAB_COUNT_RULE, 0.288, sum.removed[1], "BFS aligned from merged: requests removed");
	lab_run_null(r, 0);
	lab_run_row(r, 8, "most", LAB_COUNT_RULE, 4.7, sum.bandwidth[0], "BFS naive: GB/s over the link");
	lab_run_null(r, 12.3);		/* cudaMemcpy()'s: without the cost of a request */
	lab_run_row(r, 8, "most", LAB_COUNT_RULE, 11, sum.bandwidth[1], "BFS merged: GB/s over the link");
	lab_run_null(r, sum.bandwidth[0]);	/* without merging */
	lab_run_row(r, 8, "most", LAB_COUNT_RULE, 12, sum.bandwidth[2], "BFS aligned: GB/s over the link");
	lab_run_null(r, sum.bandwidth[0]);
	if (e->m[0].uvm)
		lab_run_row(r, 8, "most", LAB_CALIBRATED_RULE, 9, sum.bandwidth[ACCESS_UVM], "BFS UVM: GB/s over the link");
	lab_run_row(r, 9, "mean", LAB_SPEEDUP_RULE, 3.24 / 0.73, exp(sum.gain[0]), "BFS merged over naive: speed-up");
	lab_run_row(r, 9, "mean", LAB_SPEEDUP_RULE, 1.10, exp(sum.gain[1]), "BFS aligned over merged: speed-up");
	for (x = 0; x < 3 && e->m[0].uvm; x++)
		lab_run_row(r, 9, "mean", LAB_SPEEDUP_RULE, over_uvm[x], exp(sum.over_uvm[x]), "BFS %s: speed-up over UVM",
			      access_names[x]);
	if (e->m[0].uvm) {
		lab_run_row(r, 9, "mean", LAB_OPEN_RULE, 3.24, exp(sum.at20), "merged, faults of 20 us: speed-up over UVM");
		lab_run_reason(r, "sensitivity to the time of a batch of faults");
		lab_run_row(r, 9, "mean", LAB_OPEN_RULE, 3.24, exp(sum.at50), "merged, faults of 50 us: speed-up over UVM");
		lab_run_reason(r, "sensitivity to the time of a batch of faults");
	}
	lab_run_row(r, 10, "most", LAB_COUNT_RULE, 1.31, sum.amplified[0], "BFS aligned: bytes read over the edge list's");
	if (e->m[0].uvm)
		lab_run_row(r, 10, "most", LAB_COUNT_RULE, 5.16, sum.amplified[1], "BFS UVM: bytes read over the edge list's");
}

/* Excluded as in the paper: labels follow edges one way only; MOLIERE is a multigraph. */
bool emogi_excluded(const struct lab_run *r, unsigned g, unsigned a)
{
	return (a == LAB_EMOGI_CC && r->graph[g]->flags & GTU_GRAPH_DIRECTED) || (a == LAB_EMOGI_PR && !strcmp(r->symbol[g], "ML"));
}

/* Ratios of two runs: figures 11 to 13. */
static const struct ratio {
	unsigned figure;
	enum lab_rule rule;
	double paper;
	struct { unsigned access, width, setup; } from, to;
	const char *text;
} ratios[] = {
	{ 11, LAB_SPEEDUP_RULE, 2.60, { ACCESS_UVM, WIDTH_8, SETUP_PCIE3 }, { ACCESS_ALIGNED, WIDTH_8, SETUP_PCIE3 }, "speed-up over UVM" },
	{ 12, LAB_SPEEDUP_RULE, 1.57, { ACCESS_ALIGNED, WIDTH_8, SETUP_PCIE3 }, { ACCESS_ALIGNED, WIDTH_4, SETUP_PCIE3 },
	  "speed-up by 4 bytes an edge" },
	{ 13, LAB_SPEEDUP_RULE, 1.88, { ACCESS_ALIGNED, WIDTH_8, SETUP_PCIE3 }, { ACCESS_ALIGNED, WIDTH_8, SETUP_PCIE4 },
	  "EMOGI's speed-up by PCIe 4.0" },
	{ 13, LAB_SPEEDUP_RULE, 1.53, { ACCESS_UVM, WIDTH_8, SETUP_PCIE3 }, { ACCESS_UVM, WIDTH_8, SETUP_PCIE4 }, "UVM's speed-up by PCIe 4.0" },
	{ 13, LAB_OPEN_RULE, NAN, { ACCESS_UVM, WIDTH_8, SETUP_PCIE3 }, { ACCESS_ALIGNED, WIDTH_8, SETUP_PCIE3 },
	  "EMOGI with PCIe 3.0 over UVM with 3.0" },
	{ 13, LAB_OPEN_RULE, NAN, { ACCESS_UVM, WIDTH_8, SETUP_PCIE3 }, { ACCESS_ALIGNED, WIDTH_8, SETUP_PCIE4 },
	  "EMOGI with PCIe 4.0 over UVM with 3.0" },
	{ 13, LAB_OPEN_RULE, NAN, { ACCESS_UVM, WIDTH_8, SETUP_PCIE4 }, { ACCESS_ALIGNED, WIDTH_8, SETUP_PCIE4 },
	  "speed-up over UVM, both with PCIe 4.0" },
};
#define RATIOS (sizeof(ratios) / sizeof(ratios[0]))

static bool is_available(const struct emogi *e, const struct ratio *q)
{
	return lab_run_wants(e->r, q->figure) && (e->m[0].uvm || (q->from.access != ACCESS_UVM && q->to.access != ACCESS_UVM));
}

static void ratio_figure(struct emogi *e, const struct ratio *q)
{
	struct lab_run *r = e->r;
	struct lab_emogi_counts from, to;
	double all = 0, sum, x;
	unsigned g, a, n, each;

	for (a = n = 0; a < LAB_EMOGI_ALGORITHMS; a++) {
		for (g = each = 0, sum = 0; g < r->graphs; g++) {
			if (emogi_excluded(r, g, a))
				continue;
			from = emogi_counts(e, g, a, q->from.access, q->from.width, q->from.setup);
			to = emogi_counts(e, g, a, q->to.access, q->to.width, q->to.setup);
			x = (double)from.lab.cycles / (double)to.lab.cycles;
			lab_run_row(r, q->figure, lab_run_label(r, g), LAB_OPEN_RULE, NAN, x, "%s: %s",
				      lab_emogi_algorithm_name[a], q->text);
			sum += log(x);
			each++;
		}
		if (each)
			lab_run_row(r, q->figure, "mean", LAB_OPEN_RULE, NAN, exp(sum / each), "%s: %s",
				      lab_emogi_algorithm_name[a], q->text);
		all += sum;
		n += each;
	}
	lab_run_row(r, q->figure, "mean", q->rule, q->paper, exp(all / n), "all: %s", q->text);
}

/* Plan the runs that the figures need. */
static void plan_runs(struct emogi *e)
{
	const struct lab_run *r = e->r;
	bool bfs = lab_run_wants(r, 5) || lab_run_wants(r, 7) || lab_run_wants(r, 8) || lab_run_wants(r, 9) || lab_run_wants(r, 10);
	unsigned g, a, x, i;

	e->array_wanted = lab_run_wants(r, 3) || lab_run_wants(r, 4);
	e->strided_wanted = lab_run_wants(r, 4);
	e->halo_wanted = lab_run_wants(r, LAB_TABLE(3)) && e->m[0].uvm;
	e->subway_wanted = lab_run_wants(r, LAB_TABLE(4));
	for (g = 0; g < r->graphs; g++) {
		struct emogi_subject *s = &e->s[g];

		for (x = 0; x < (e->m[0].uvm ? ACCESSES : ACCESS_UVM); x++)
			s->wanted[LAB_EMOGI_BFS][x][WIDTH_8][SETUP_PCIE3] |= bfs;
		if (lab_run_wants(r, 9) && e->m[0].uvm)
			s->wanted[LAB_EMOGI_BFS][ACCESS_UVM][WIDTH_8][SETUP_FAULT20] = s->wanted[LAB_EMOGI_BFS][ACCESS_UVM][WIDTH_8][SETUP_FAULT50] = true;
		s->wanted[LAB_EMOGI_BFS][ACCESS_ALIGNED][WIDTH_8][SETUP_PCIE3] |= e->halo_wanted;
		for (a = 0; a < EMOGI_SUBWAYS; a++)
			s->wanted[a][ACCESS_ALIGNED][WIDTH_4][SETUP_PCIE3] |= e->subway_wanted && !emogi_excluded(r, g, a);
		for (i = 0; i < RATIOS; i++)
			for (a = 0; a < LAB_EMOGI_ALGORITHMS; a++)
				if (is_available(e, &ratios[i]) && !emogi_excluded(r, g, a)) {
					s->wanted[a][ratios[i].from.access][ratios[i].from.width][ratios[i].from.setup] = true;
					s->wanted[a][ratios[i].to.access][ratios[i].to.width][ratios[i].to.setup] = true;
				}
	}
}

/* Scale the machine's link to PCIe 4.0 by the ratio of v100-pcie4's link to v100's. */
static int machines(struct emogi *e, struct gtu_error *err)
{
	struct lab_machine pcie3, pcie4, *m = &e->m[SETUP_PCIE4];
	int rc = lab_machine_open("v100", &pcie3, err);
	unsigned i;

	rc = rc ? rc : lab_machine_open("v100-pcie4", &pcie4, err);
	if (!rc && !e->r->m.link)
		rc = gtu_fail(err, GTU_ERR_USAGE, "machine %s has no link to host memory, which the emogi experiment needs", e->r->m.name);
	for (i = 0; i < SETUPS; i++)
		e->m[i] = e->r->m;
	m->link_gbs *= pcie4.link_gbs / pcie3.link_gbs;
	m->uvm_gbs *= pcie4.uvm_gbs / pcie3.uvm_gbs;
	m->link_requests = m->link_requests * pcie4.link_requests / pcie3.link_requests;
	m->link_request_ns *= pcie4.link_request_ns / pcie3.link_request_ns;
	e->m[SETUP_FAULT20].uvm_fault_ns = 20000;
	e->m[SETUP_FAULT50].uvm_fault_ns = 50000;
	return rc;
}

int lab_run_emogi(struct lab_run *r, struct gtu_error *err)
{
	struct emogi *e = calloc(1, sizeof(*e));
	const struct lab_key keys[] = {
		{ "emogi.sources", e ? &e->sources : NULL, 1, EMOGI_SOURCES_MAX, LAB_NUMBER },
		{ "emogi.apart", e ? &e->apart : NULL, 0, 1, LAB_NUMBER },
		{ "emogi.cpu_bandwidth", e ? &e->cpu_gbs : NULL, 1, 10000, LAB_GBS },
	};
	unsigned g, i;
	int rc = 0;

	if (!e)
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for the experiment");
	e->r = r;
	rc = lab_run_parameters(r, "emogi.", keys, sizeof(keys) / sizeof(keys[0]), err);
	rc = rc ? rc : lab_run_begin(r, "v100", "emogi.", standins, sizeof(standins) / sizeof(standins[0]), err);
	rc = rc ? rc : machines(e, err);
	for (g = 0; g < r->graphs && !rc; g++)
		rc = emogi_subject_of(e, g, err);
	plan_runs(e);
	rc = rc ? rc : emogi_run_all(e, err);
	if (!rc && e->array_wanted)
		array_figures(e);
	if (!rc && e->strided_wanted)
		strided_figure(e);
	if (!rc)
		graph_figures(e);
	if (!rc && e->s[0].wanted[LAB_EMOGI_BFS][ACCESS_NAIVE][WIDTH_8][SETUP_PCIE3])
		bfs_figures(e);
	for (i = 0; i < RATIOS && !rc; i++)
		if (is_available(e, &ratios[i]))
			ratio_figure(e, &ratios[i]);
	if (!rc)
		emogi_other_works(e);
	emogi_free(e);
	return rc;
}
