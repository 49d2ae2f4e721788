// SPDX-License-Identifier: MIT
/* The table of algorithms: options, functions that run them, and their verification. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/support/cli.h"
#include "tools/reference/reference.h"
#include "run.h"

/* Relative tolerances of ranks and of betweenness scores. */
#define RANK_TOLERANCE	1e-6
#define SCORE_TOLERANCE	1e-9
#define CDLP_ITERATIONS	10		/* default of gtu_label_propagation() */

/* ---- Running ------------------------------------------------------------------------------------ */

static int compute_bfs(struct run *r, struct gtu_error *err)
{
	return gtu_bfs(r->dev, &r->graph, &r->opt, r->integer, &r->stats, err);
}

static int compute_sssp(struct run *r, struct gtu_error *err)
{
	return gtu_sssp(r->dev, &r->graph, &r->opt, r->real, &r->stats, err);
}

static int compute_pr(struct run *r, struct gtu_error *err)
{
	return gtu_pagerank(r->dev, &r->graph, &r->opt, r->real, &r->stats, err);
}

static int compute_cc(struct run *r, struct gtu_error *err)
{
	return gtu_components(r->dev, &r->graph, &r->opt, r->integer, &r->stats, err);
}

static int compute_bc(struct run *r, struct gtu_error *err)
{
	return gtu_betweenness(r->dev, &r->graph, &r->opt, r->real, &r->stats, err);
}

static int compute_stcon(struct run *r, struct gtu_error *err)
{
	return gtu_stcon(r->dev, &r->graph, &r->opt, r->integer, &r->stats, err);
}

static int compute_gc(struct run *r, struct gtu_error *err)
{
	return gtu_coloring(r->dev, &r->graph, &r->opt, r->color, &r->stats, err);
}

static int compute_kc(struct run *r, struct gtu_error *err)
{
	return gtu_cores(r->dev, &r->graph, &r->opt, r->integer, &r->stats, err);
}

static int compute_cdlp(struct run *r, struct gtu_error *err)
{
	return gtu_label_propagation(r->dev, &r->graph, &r->opt, r->integer, &r->stats, err);
}

static int compute_lcc(struct run *r, struct gtu_error *err)
{
	return gtu_clustering(r->dev, &r->graph, &r->opt, r->real, &r->stats, err);
}

static int compute_gcn(struct run *r, struct gtu_error *err)
{
	return gtu_gcn(r->dev, &r->graph, &r->opt, r->real, &r->stats, err);
}

/* ---- Verifying ------------------------------------------------------------------------------------ */

/* Format a value as --output does, without the newline. */
static void text_of(const struct run *r, const void *values, uint64_t v, char text[64])
{
	FILE *f = fmemopen(text, 64, "w");

	*text = 0;
	if (!f)
		return;
	r->kind->write(r, values, v, f);
	fclose(f);
	text[63] = 0;
	text[strcspn(text, "\n")] = 0;
}

/* @tolerance: relative, for real values; below 0: all bits must be equal. */
static bool same(const struct run *r, const void *expected, uint64_t v, double tolerance)
{
	const double *real = expected;

	if (tolerance < 0)
		return !memcmp((const char *)r->result + v * r->kind->value_bytes,
			       (const char *)expected + v * r->kind->value_bytes, r->kind->value_bytes);
	return fabs(r->real[v] - real[v]) <= tolerance * fabs(real[v]);
}

static int compare(struct run *r, const void *expected, double tolerance, struct gtu_error *err)
{
	uint64_t v, first = 0, differing = 0;
	char got[64], want[64];

	for (v = 0; v < run_values(r); v++)
		if (!same(r, expected, v, tolerance) && !differing++)
			first = v;
	r->verdict = differing ? RUN_DIFFERENT : RUN_EQUAL;
	if (!differing)
		return 0;
	text_of(r, r->result, first, got);
	text_of(r, expected, first, want);
	return gtu_fail(err, GTU_ERR_VERIFY,
			"%s by %s gives vertex %llu the value %s, the reference code %s; %llu of %llu values differ",
			r->kind->name, r->unit,
			(unsigned long long)gtu_graph_id(&r->graph, r->kind->one ? r->opt.target : first),
			got, want, (unsigned long long)differing, (unsigned long long)run_values(r));
}

/* Compute the reference's values with @fill, then compare. */
static int verify_with(struct run *r, int (*fill)(struct run *r, void *expected), double tolerance,
		       struct gtu_error *err)
{
	void *expected = malloc((r->graph.n + 1) * 8);
	int rc;

	if (!expected || fill(r, expected))
		rc = gtu_fail(err, GTU_ERR_NOMEM, "no memory for verification");
	else if (cli_interrupted())
		rc = gtu_fail(err, GTU_ERR_INTERRUPTED, "interrupted while verifying");
	else
		rc = compare(r, expected, tolerance, err);
	free(expected);
	return rc;
}

static int fill_bfs(struct run *r, void *expected)
{
	return reference_bfs(&r->graph, r->opt.source, expected);
}

static int verify_bfs(struct run *r, struct gtu_error *err)
{
	return verify_with(r, fill_bfs, -1, err);
}

static int fill_sssp(struct run *r, void *expected)
{
	return reference_sssp(&r->graph, r->opt.source, expected);
}

/* Distances must be equal to the last bit: see sssp.c. */
static int verify_sssp(struct run *r, struct gtu_error *err)
{
	return verify_with(r, fill_sssp, -1, err);
}

static int fill_cc(struct run *r, void *expected)
{
	return reference_components(&r->graph, expected);
}

static int verify_cc(struct run *r, struct gtu_error *err)
{
	return verify_with(r, fill_cc, -1, err);
}

static int fill_pr(struct run *r, void *expected)
{
	return reference_pagerank(&r->graph, r->opt.damping > 0 ? r->opt.damping : 0.85,
				  r->stats.iterations, expected, &r->change);
}

static int verify_pr(struct run *r, struct gtu_error *err)
{
	int rc = verify_with(r, fill_pr, RANK_TOLERANCE, err);

	/* a run that stopped by --epsilon must have converged */
	if (rc || !(r->opt.epsilon > 0) ||
	    r->stats.iterations >= (r->opt.iterations ? r->opt.iterations : 1000) ||
	    r->change <= r->opt.epsilon * (1 + RANK_TOLERANCE))
		return rc;
	r->verdict = RUN_DIFFERENT;
	return gtu_fail(err, GTU_ERR_VERIFY,
			"pr by %s stopped after %llu iterations although ranks still change by %g",
			r->unit, (unsigned long long)r->stats.iterations, r->change);
}

static int fill_bc(struct run *r, void *expected)
{
	return reference_betweenness(&r->graph, r->opt.sources, r->opt.source_count, expected);
}

static int verify_bc(struct run *r, struct gtu_error *err)
{
	return verify_with(r, fill_bc, SCORE_TOLERANCE, err);
}

static int fill_stcon(struct run *r, void *expected)
{
	int rc = reference_bfs(&r->graph, r->opt.source, expected);

	if (!rc)
		*(uint64_t *)expected = ((uint64_t *)expected)[r->opt.target];
	return rc;
}

static int verify_stcon(struct run *r, struct gtu_error *err)
{
	return verify_with(r, fill_stcon, -1, err);
}

static int verify_gc(struct run *r, struct gtu_error *err)
{
	uint64_t v, e = reference_same_color(&r->graph, r->color);

	r->verdict = e == UINT64_MAX ? RUN_EQUAL : RUN_DIFFERENT;
	if (e == UINT64_MAX)
		return 0;
	for (v = 0; r->graph.row[v + 1] <= e; v++)
		;
	return gtu_fail(err, GTU_ERR_VERIFY,
			"gc by %s gives the neighbours %llu and %llu the same colour %u",
			r->unit, (unsigned long long)gtu_graph_id(&r->graph, v),
			(unsigned long long)gtu_graph_id(&r->graph, gtu_graph_target(&r->graph, e)),
			r->color[v]);
}

static int fill_kc(struct run *r, void *expected)
{
	return reference_cores(&r->graph, expected);
}

static int verify_kc(struct run *r, struct gtu_error *err)
{
	return verify_with(r, fill_kc, -1, err);
}

/* Compute all requested rounds: the algorithm may stop earlier, when no label changes. */
static int fill_cdlp(struct run *r, void *expected)
{
	return reference_labels(&r->graph, r->opt.iterations ? r->opt.iterations : CDLP_ITERATIONS, expected);
}

static int verify_cdlp(struct run *r, struct gtu_error *err)
{
	return verify_with(r, fill_cdlp, -1, err);
}

static int fill_lcc(struct run *r, void *expected)
{
	return reference_clustering(&r->graph, expected);
}

static int verify_lcc(struct run *r, struct gtu_error *err)
{
	return verify_with(r, fill_lcc, SCORE_TOLERANCE, err);
}

/* Terms may cancel out, so the tolerance is relative to the sum of their magnitudes. */
static int verify_gcn(struct run *r, struct gtu_error *err)
{
	const uint64_t features = r->opt.features;
	double *expected = calloc(r->graph.n + 1, features * 8), *magnitude = calloc(r->graph.n + 1, features * 8);
	uint64_t i, first = 0, differing = 0;
	int rc = 0;

	if (!expected || !magnitude ||
	    reference_gcn(&r->graph, r->opt.features, r->opt.seed, expected, magnitude))
		rc = gtu_fail(err, GTU_ERR_NOMEM, "no memory for verification");
	for (i = 0; !rc && i < r->graph.n * features; i++)
		if (!(fabs(r->real[i] - expected[i]) <= SCORE_TOLERANCE * magnitude[i]) && !differing++)
			first = i;
	if (!rc)
		r->verdict = differing ? RUN_DIFFERENT : RUN_EQUAL;
	if (differing)
		rc = gtu_fail(err, GTU_ERR_VERIFY,
			      "gcn by %s gives feature %llu of vertex %llu the value %.17g, the reference code %.17g; %llu of %llu values differ",
			      r->unit, (unsigned long long)(first % features),
			      (unsigned long long)gtu_graph_id(&r->graph, first / features), r->real[first],
			      expected[first], (unsigned long long)differing,
			      (unsigned long long)(r->graph.n * features));
	free(expected);
	free(magnitude);
	return rc;
}

/* ---- The table -------------------------------------------------------------------------------------- */

static const struct run_kind kinds[] = {
	{ "bfs", NULL, RUN_TAKES_SOURCE | RUN_TAKES_DIRECTION, 8, false, "levels",
	  compute_bfs, verify_bfs, run_write_hops, run_json_bfs, run_print_bfs },
	{ "sssp", NULL, RUN_TAKES_SOURCE | RUN_TAKES_WEIGHTS | RUN_TAKES_DELTA, 8, false, "iterations",
	  compute_sssp, verify_sssp, run_write_distance, run_json_sssp, run_print_sssp },
	{ "pr", "pagerank", RUN_TAKES_RANKS | RUN_TAKES_ITERATIONS | RUN_TAKES_DIRECTION, 8, false, "iterations",
	  compute_pr, verify_pr, run_write_real, run_json_pr, run_print_pr },
	{ "cc", "wcc", 0, 8, false, "iterations",
	  compute_cc, verify_cc, run_write_vertex, run_json_cc, run_print_cc },
	{ "bc", NULL, RUN_TAKES_SOURCE | RUN_TAKES_SOURCES, 8, false, "levels",
	  compute_bc, verify_bc, run_write_real, run_json_bc, run_print_bc },
	{ "stcon", NULL, RUN_TAKES_SOURCE | RUN_TAKES_TARGET, 8, true, "levels",
	  compute_stcon, verify_stcon, run_write_hops, run_json_stcon, run_print_stcon },
	{ "gc", NULL, 0, 4, false, "rounds",
	  compute_gc, verify_gc, run_write_color, run_json_gc, run_print_gc },
	{ "kc", NULL, 0, 8, false, "rounds",
	  compute_kc, verify_kc, run_write_core, run_json_kc, run_print_kc },
	{ "cdlp", NULL, RUN_TAKES_ITERATIONS, 8, false, "iterations",
	  compute_cdlp, verify_cdlp, run_write_vertex, run_json_cdlp, run_print_cdlp },
	{ "lcc", NULL, 0, 8, false, "passes",
	  compute_lcc, verify_lcc, run_write_real, run_json_lcc, run_print_lcc },
	{ "gcn", NULL, RUN_TAKES_WEIGHTS | RUN_TAKES_FEATURES | RUN_TAKES_SEED, 8, false, "passes",
	  compute_gcn, verify_gcn, run_write_features, run_json_gcn, run_print_gcn },
	{ "hash", NULL, RUN_TAKES_QUERIES | RUN_TAKES_SEED, 8, false, "blocks",
	  run_compute_hash, run_verify_hash, run_write_slot, run_json_hash, run_print_hash },
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

const struct run_kind *run_kind(const char *word)
{
	const char *names[2 * KINDS + 1];
	unsigned i, n = 0;
	int at;

	for (i = 0; i < KINDS; i++) {
		if (kinds[i].alias && !strcmp(word, kinds[i].alias))
			return &kinds[i];
		names[n++] = kinds[i].name;
	}
	/* suggest aliases, too; they follow the names, so that an index is still one of kinds[] */
	for (i = 0; i < KINDS; i++)
		if (kinds[i].alias)
			names[n++] = kinds[i].alias;
	names[n] = NULL;
	at = cli_choice("algorithm", word, names);
	return at < 0 ? NULL : &kinds[at];
}
