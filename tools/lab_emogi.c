// SPDX-License-Identifier: MIT
/* The experiments of emogi.txt, sections 3.3 and 5, but for unified memory, HALO and Subway. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/emogi.h"
#include "lab_expect.h"
#include "lab_run.h"

#define SOURCES 2u
#define ITERATIONS 3u			/* of PageRank: each reads the same */

/* GAP-kron and GAP-urand have 2^27 vertices of mean degree 32; Friendster 55; MOLIERE 222. */
static const struct lab_sibling siblings[] = {
	{ "GK", { .kind = GTU_GEN_KRONECKER, .degree = 16 }, 1, 0 },
	{ "GU", { .kind = GTU_GEN_UNIFORM, .degree = 16 }, 1, 0 },
	{ "FS", { .kind = GTU_GEN_POWERLAW, .degree = 55 }, 0.5, 0 },
	{ "ML", { .kind = GTU_GEN_POWERLAW, .degree = 222 }, 0.125, 0 },
};

enum { PCIE3, PCIE4, LINKS };

/* A graph as the runs take it: either width, weights, sources, and what the reference says. */
struct subject {
	const struct gtu_graph *g;
	struct gtu_graph wide[2];	/* [0] of 4 bytes an edge, [1] of 8 */
	void *own[2];
	uint32_t *weight, *result;
	uint32_t source[SOURCES];
	bool done[LAB_EMOGI_ALGORITHMS][LAB_VARIANTS][2][LINKS];
	struct lab_stats stats[LAB_EMOGI_ALGORITHMS][LAB_VARIANTS][2][LINKS];
	uint64_t *whole[LAB_EMOGI_ALGORITHMS][SOURCES]; /* the reference's */
};

struct state {
	struct lab_run *r;
	struct lab_machine m[LINKS];
	struct subject s[LAB_RUN_GRAPHS];
};

static int subject_of(struct subject *s, const struct gtu_graph *g, struct gtu_error *err)
{
	uint64_t e;
	unsigned i, w;

	s->g = g;
	s->weight = malloc(4 * g->m + 4);
	s->result = malloc(4 * g->n + 4);
	if (!s->weight || !s->result)
		return gtu_fail(err, GTU_ERR_NOMEM, "no memory for %s", g->name);
	for (e = 0; e < g->m; e++)	/* as the paper weighs its graphs: 8 to 72 */
		s->weight[e] = 8 + (uint32_t)(lab_mix(e) % 65);
	for (w = 0; w < 2; w++) {
		s->wide[w] = *g;
		s->wide[w].weight = s->weight;
		s->wide[w].weight_type = GTU_WEIGHT_U32;
		if (g->edge_bytes == 4 + 4 * w)
			continue;
		s->own[w] = malloc((4 + 4 * w) * g->m + 8);
		if (!s->own[w])
			return gtu_fail(err, GTU_ERR_NOMEM, "no memory for %s", g->name);
		for (e = 0; e < g->m; e++) {
			if (w)
				((uint64_t *)s->own[w])[e] = gtu_graph_target(g, e);
			else
				((uint32_t *)s->own[w])[e] = (uint32_t)gtu_graph_target(g, e);
		}
		s->wide[w].col = s->own[w];
		s->wide[w].edge_bytes = 4 + 4 * w;
	}
	if (!g->m)
		return gtu_fail(err, GTU_ERR_INPUT, "%s has no edges", g->name);
	for (i = 0; i < SOURCES; i++)
		s->source[i] = lab_source(g, i);
	return 0;
}

static void subject_free(struct subject *s)
{
	unsigned a, i;

	for (a = 0; a < LAB_EMOGI_ALGORITHMS; a++)
		for (i = 0; i < SOURCES; i++)
			free(s->whole[a][i]);
	free(s->own[0]);
	free(s->own[1]);
	free(s->weight);
	free(s->result);
}

/* What a run has to give, found once for each algorithm and source; the algorithms are in the same order. */
static int compare(struct subject *s, unsigned a, unsigned source, struct gtu_error *err)
{
	static const enum lab_expect_what what[] = { LAB_LEVELS, LAB_DISTANCES, LAB_COMPONENTS, LAB_RANKS };
	uint64_t **whole = &s->whole[a][source];

	if (!*whole)
		*whole = lab_expect(&s->wide[0], what[a], s->source[source], ITERATIONS, err);
	return *whole ? lab_expect_same(&s->wide[0], what[a], *whole, s->result, err) : err->code;
}

/* Counts of a run, over all sources where it has one; NULL after an error. Each is run once and kept. */
static const struct lab_stats *stats_of(struct state *st, unsigned graph, unsigned a, unsigned variant, unsigned wide,
					unsigned link, struct gtu_error *err)
{
	struct subject *s = &st->s[graph];
	struct lab_stats *sum = &s->stats[a][variant][wide][link], one;
	unsigned sources = a == LAB_EMOGI_BFS || a == LAB_EMOGI_SSSP ? SOURCES : 1, i, k;

	if (s->done[a][variant][wide][link])
		return sum;
	for (i = 0; i < sources; i++) {
		struct lab_emogi how = { variant, a, &s->wide[wide], s->source[i], ITERATIONS, false };

		if (lab_emogi_run(&st->m[link], &how, st->r->progress, s->result, &one, err) ||
		    compare(s, a, i, err))
			return NULL;
		st->r->checked++;
		st->r->instructions += one.warp_instructions;
		for (k = 0; k < sizeof(one) / 8; k++)
			((uint64_t *)sum)[k] += ((uint64_t *)&one)[k];
	}
	s->done[a][variant][wide][link] = true;
	return sum;
}

static const struct lab_stats *bfs_of(struct state *st, unsigned graph, unsigned variant, struct gtu_error *err)
{
	return stats_of(st, graph, LAB_EMOGI_BFS, variant, 1, PCIE3, err);
}

static uint64_t requests(const struct lab_stats *s)
{
	return s->link_request[1] + s->link_request[2] + s->link_request[3] + s->link_request[4];
}

static double share(const struct lab_stats *s, unsigned sectors)
{
	return (double)s->link_request[sectors] / (double)requests(s);
}

static double gbs(const struct lab_machine *m, const struct lab_stats *s)
{
	return (double)s->link_bytes / lab_seconds(m, s->cycles) / 1e9;
}

/* What the paper gives for graph @symbol, of the ones named in @of ("GK=1.86 GU=1.25"). */
static double for_graph(const char *symbol, const char *of)
{
	const char *at = *symbol ? strstr(of, symbol) : NULL;

	return at ? strtod(at + strlen(symbol) + 1, NULL) : NAN;
}

/*
 * The part of a run's time that the longest edge list alone takes at least, one round trip after the other: a
 * lane's sectors, or a warp's 32 edges. In a small graph it is large: what the paper measured had 2^27 vertices.
 */
static double longest_list(const struct lab_run *r, unsigned g, unsigned variant, const struct lab_stats *s)
{
	const struct gtu_graph *graph = r->graph[g];
	uint64_t v, most = 0;
	double trips;

	for (v = 0; v < graph->n; v++)
		most = graph->row[v + 1] - graph->row[v] > most ? graph->row[v + 1] - graph->row[v] : most;
	trips = ceil((double)most / (variant == LAB_NAIVE ? 4 : 32));
	return SOURCES * trips * r->m.link_round_trip_ns * 1e-9 / lab_seconds(&r->m, s->cycles);
}

static int figure4(struct state *st, struct gtu_error *err)
{
	static const char *const text[] = { "strided", "merged, 32 bytes off", "merged and aligned" };
	struct lab_table *t = &st->r->table;
	uint32_t words = 1u << (st->r->scale < 16 ? st->r->scale + 6 : 22);
	struct lab_stats s;
	unsigned x;
	int rc;

	for (x = 0; x < LAB_VARIANTS; x++) {
		rc = lab_emogi_array(&st->m[PCIE3], x, false, words, st->r->progress, &s, err);
		if (rc)
			return rc;
		st->r->checked++;
		st->r->instructions += s.warp_instructions;
		lab_table_add(t, 4, "array", LAB_COUNT_RULE, x == LAB_ALIGNED ? 12.23 : NAN, gbs(&st->m[PCIE3], &s),
			      "%s: GB/s over the link", text[x]);
		lab_table_add(t, 4, "array", LAB_COUNT_RULE, x == LAB_MERGED ? NAN : x ? 1 : 2,
			      (double)s.link_host_bytes / (double)s.link_bytes, "%s: bytes DRAM reads for each asked", text[x]);
		lab_table_add(t, 3, "array", LAB_COUNT_RULE, x == LAB_ALIGNED ? 1 : NAN, share(&s, 4),
			      "%s: share of 128-byte requests", text[x]);
		lab_table_add(t, 3, "array", LAB_COUNT_RULE, x == LAB_NAIVE ? 1 : x == LAB_MERGED ? 0.5 : NAN, share(&s, 1),
			      "%s: share of 32-byte requests", text[x]);
		lab_table_add(t, 4, "array", LAB_OPEN_RULE, NAN, (double)s.link_bytes / (4.0 * words),
			      "%s: bytes moved for each of the array", text[x]);
	}
	return 0;
}

/* Figures 5 and 7 to 10: BFS, 8 bytes an edge. */
static int bfs_figures(struct state *st, struct gtu_error *err)
{
	double removed[2] = { 0 }, merged_share = 0, bandwidth[LAB_VARIANTS] = { 0 }, gain[2] = { 0 }, amplified = 0, most = 0;
	struct lab_run *r = st->r;
	struct lab_table *t = &r->table;
	const struct lab_machine *m = &st->m[PCIE3];
	unsigned g, x;

	for (g = 0; g < r->graphs; g++) {
		const struct lab_stats *s[LAB_VARIANTS];
		const char *label = lab_run_label(r, g), *symbol = r->symbol[g];
		double q;

		for (x = 0; x < LAB_VARIANTS; x++)
			if (!(s[x] = bfs_of(st, g, x, err)))
				return err->code;
		if (lab_run_wants(r, 5)) {
			lab_table_add(t, 5, label, LAB_COUNT_RULE, for_graph(symbol, "FS=0.987"), share(s[0], 1),
				      "BFS naive: share of 32-byte requests");
			lab_table_add(t, 5, label, LAB_COUNT_RULE, for_graph(symbol, "ML=0.467"), share(s[1], 4),
				      "BFS merged: share of 128-byte requests");
			lab_table_add(t, 5, label, LAB_SPEEDUP_RULE, for_graph(symbol, "GK=1.86 GU=1.25"),
				      share(s[2], 4) / share(s[1], 4), "BFS aligned over merged: 128-byte share");
		}
		merged_share += share(s[1], 4) / r->graphs;
		for (x = 0; x < 2; x++) {
			q = 1 - (double)requests(s[x + 1]) / (double)requests(s[x]);
			removed[x] = fmax(removed[x], q);
			if (lab_run_wants(r, 7))
				lab_table_add(t, 7, label, LAB_COUNT_RULE, x ? for_graph(symbol, "ML=0.288") : NAN, q,
					      "BFS: requests removed, %s", x ? "aligned from merged" : "merged from naive");
			gain[x] += log((double)s[x]->cycles / (double)s[x + 1]->cycles) / r->graphs;
			if (lab_run_wants(r, 9))
				lab_table_add(t, 9, label, LAB_OPEN_RULE, NAN, (double)s[x]->cycles / (double)s[x + 1]->cycles,
					      "BFS: speed-up, %s", x ? "aligned over merged" : "merged over naive");
		}
		for (x = 0; x < LAB_VARIANTS; x++) {
			bandwidth[x] = fmax(bandwidth[x], gbs(m, s[x]));
			if (lab_run_wants(r, 8))
				lab_table_add(t, 8, label, LAB_OPEN_RULE, NAN, gbs(m, s[x]), "BFS %s: GB/s over the link",
					      lab_emogi_variant_name(x));
		}
		for (x = 0; x < LAB_VARIANTS; x++)
			if (lab_run_wants(r, 8))
				lab_table_add(t, 8, label, LAB_OPEN_RULE, NAN, longest_list(r, g, x, s[x]),
					      "BFS %s: share of the time of the longest list", lab_emogi_variant_name(x));
		amplified = (double)s[2]->link_bytes / SOURCES / (8.0 * (double)r->graph[g]->m);
		most = fmax(most, amplified);
		if (lab_run_wants(r, 10))
			lab_table_add(t, 10, label, LAB_OPEN_RULE, NAN, amplified, "BFS aligned: bytes read over those of the edge list");
	}
	if (lab_run_wants(r, 5))
		lab_table_add(t, 5, "mean", LAB_COUNT_RULE, 0.40, merged_share, "BFS merged: share of 128-byte requests");
	if (lab_run_wants(r, 7)) {
		lab_table_add(t, 7, "most", LAB_COUNT_RULE, 0.833, removed[0], "BFS: requests removed, merged from naive");
		lab_table_add(t, 7, "most", LAB_COUNT_RULE, 0.288, removed[1], "BFS: requests removed, aligned from merged");
	}
	if (lab_run_wants(r, 8)) {
		lab_table_add(t, 8, "most", LAB_COUNT_RULE, 4.7, bandwidth[0], "BFS naive: GB/s over the link");
		lab_table_add(t, 8, "most", LAB_COUNT_RULE, 11, bandwidth[1], "BFS merged: GB/s over the link");
		lab_table_add(t, 8, "most", LAB_COUNT_RULE, 12, bandwidth[2], "BFS aligned: GB/s over the link");
	}
	if (lab_run_wants(r, 9)) {
		lab_table_add(t, 9, "mean", LAB_SPEEDUP_RULE, 3.24 / 0.73, exp(gain[0]), "BFS: speed-up, merged over naive (3.24 / 0.73)");
		lab_table_add(t, 9, "mean", LAB_SPEEDUP_RULE, 1.10, exp(gain[1]), "BFS: speed-up, aligned over merged");
	}
	if (lab_run_wants(r, 10))
		lab_table_add(t, 10, "most", LAB_COUNT_RULE, 1.31, most, "BFS aligned: bytes read over those of the edge list");
	return 0;
}

/* Figures 12 (4 bytes an edge over 8) and 13 (PCIe 4.0 over 3.0): the speed-up of the second run over the first. */
static int pairs(struct state *st, unsigned figure, double paper, const char *text, struct gtu_error *err)
{
	struct lab_run *r = st->r;
	double sum = 0;
	unsigned g, a, n = 0;

	for (a = 0; a < LAB_EMOGI_ALGORITHMS; a++)
		for (g = 0; g < r->graphs; g++) {
			const struct lab_stats *from, *to;

			if (a == LAB_EMOGI_CC && r->graph[g]->flags & GTU_GRAPH_DIRECTED)
				continue; /* as in the paper: labels follow edges one way only */
			from = stats_of(st, g, a, LAB_ALIGNED, 1, PCIE3, err);
			to = from ? stats_of(st, g, a, LAB_ALIGNED, figure == 13, figure == 13 ? PCIE4 : PCIE3, err) : NULL;
			if (!to)
				return err->code;
			lab_table_add(&r->table, figure, lab_run_label(r, g), LAB_OPEN_RULE, NAN,
				      (double)from->cycles / (double)to->cycles, "%s aligned: %s", lab_emogi_algorithm_name(a), text);
			sum += log((double)from->cycles / (double)to->cycles);
			n++;
		}
	lab_table_add(&r->table, figure, "mean", LAB_SPEEDUP_RULE, paper, exp(sum / n), "%s", text);
	return 0;
}

int lab_run_emogi(struct lab_run *r, struct gtu_error *err)
{
	struct state *st = calloc(1, sizeof(*st));
	struct lab_machine pcie4;
	unsigned g;
	int rc;

	if (!st)
		return gtu_fail(err, GTU_ERR_NOMEM, "no memory for an experiment");
	st->r = r;
	rc = lab_run_begin(r, "v100", NULL, siblings, sizeof(siblings) / sizeof(siblings[0]), err);
	rc = rc ? rc : lab_machine_open("v100-pcie4", &pcie4, err);
	if (!rc && !r->m.link)
		rc = gtu_fail(err, GTU_ERR_USAGE, "machine %s has no link to host memory, which emogi is about", r->m.name);
	st->m[PCIE3] = st->m[PCIE4] = r->m;
	st->m[PCIE4].link_gbs = pcie4.link_gbs;
	for (g = 0; g < r->graphs && !rc; g++)
		rc = subject_of(&st->s[g], r->graph[g], err);
	if (!rc && (lab_run_wants(r, 3) || lab_run_wants(r, 4)))
		rc = figure4(st, err);
	if (!rc && (lab_run_wants(r, 5) || lab_run_wants(r, 7) || lab_run_wants(r, 8) || lab_run_wants(r, 9) ||
		    lab_run_wants(r, 10)))
		rc = bfs_figures(st, err);
	if (!rc && lab_run_wants(r, 12))
		rc = pairs(st, 12, 1.57, "4 bytes an edge over 8: speed-up", err);
	if (!rc && lab_run_wants(r, 13))
		rc = pairs(st, 13, 1.88, "PCIe 4.0 over 3.0: speed-up", err);
	for (g = 0; g < r->graphs; g++)
		subject_free(&st->s[g]);
	free(st);
	return rc;
}
