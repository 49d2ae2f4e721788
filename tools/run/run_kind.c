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
#define FLOAT_TOLERANCE	1e-3		/* of ranks with --float-sums */
#define SCORE_TOLERANCE	1e-9
#define CDLP_ITERATIONS	10		/* default of gtu_label_propagation() */

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

static bool same(const struct run *r, const void *expected, uint64_t v)
{
	const double *real = expected, tolerance = r->opt.float_sums ? FLOAT_TOLERANCE : r->kind->tolerance;

	if (!tolerance)
		return !memcmp((const char *)r->result + v * r->kind->value_bytes,
			       (const char *)expected + v * r->kind->value_bytes, r->kind->value_bytes);
	return fabs(r->real[v] - real[v]) <= tolerance * fabs(real[v]);
}

static int compare(struct run *r, const void *expected, struct gtu_error *err)
{
	uint64_t v, first = 0, differing = 0;
	char got[64], want[64];

	for (v = 0; v < run_values(r); v++)
		if (!same(r, expected, v) && !differing++)
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

static int verify_values(struct run *r, struct gtu_error *err)
{
	void *expected = malloc((r->graph.n + 1) * 8);
	int rc;

	if (!expected || r->kind->reference(r, expected))
		rc = gtu_fail(err, GTU_ERR_NOMEM, "no memory for verification");
	else if (cli_interrupted())
		rc = gtu_fail(err, GTU_ERR_INTERRUPTED, "interrupted while verifying");
	else
		rc = compare(r, expected, err);
	free(expected);
	return rc;
}

static int fill_bfs(struct run *r, void *expected)
{
	return reference_bfs(&r->graph, r->opt.source, expected);
}

static int fill_sssp(struct run *r, void *expected)
{
	return reference_sssp(&r->graph, r->opt.source, expected);
}

static int fill_cc(struct run *r, void *expected)
{
	return reference_components(&r->graph, expected);
}

static double damping_of(const struct run *r)
{
	return r->opt.damping > 0 ? r->opt.damping : 0.85;
}

static int fill_pr(struct run *r, void *expected)
{
	return reference_pagerank(&r->graph, damping_of(r), r->stats.iterations, expected, &r->change);
}

/* Whether the run stopped by --epsilon, not at the most iterations. */
static bool stopped_by_epsilon(const struct run *r)
{
	return r->opt.epsilon > 0 && r->stats.iterations < (r->opt.iterations ? r->opt.iterations : 1000);
}

/* Whether one GPU may have taken other steps to converged ranks than power iterations (gtu_pagerank()). */
static bool may_differ(const struct run *r)
{
	return r->opt.unit == GTU_WITH_GPU && r->opt.kernel == GTU_KERNEL_AUTO && !r->ranks && !r->opt.iterations &&
	       !(r->graph.flags & GTU_GRAPH_DIRECTED) && stopped_by_epsilon(r);
}

/*
 * @next: the ranks after a power iteration more. @reach: what an iteration makes of changes of 1 at all vertices. If all
 * ranks were changed by epsilon at most before, this one changes each by @reach * epsilon at most. Then they are as close
 * to the converged ranks as gtu_pagerank() promises.
 */
static int compare_changes(struct run *r, const double *next, const double *reach, struct gtu_error *err)
{
	double sum = 0, change, most;
	uint64_t v;

	r->verdict = RUN_DIFFERENT;
	for (v = 0; v < r->graph.n; v++) {
		change = fabs(next[v] - r->real[v]);
		most = r->opt.epsilon * reach[v] + RANK_TOLERANCE * next[v];
		sum += r->real[v];
		if (!(change <= most))
			return gtu_fail(err, GTU_ERR_VERIFY,
					"pr by %s has not converged: an iteration changes the rank of vertex %llu by %g, the limit is %g",
					r->unit, (unsigned long long)gtu_graph_id(&r->graph, v), change, most);
	}
	if (!(fabs(sum - 1) <= RANK_TOLERANCE))
		return gtu_fail(err, GTU_ERR_VERIFY, "pr by %s gives ranks whose sum is %.9g, not 1", r->unit, sum);
	r->verdict = RUN_EQUAL;
	return 0;
}

static int verify_converged(struct run *r, struct gtu_error *err)
{
	const double damping = damping_of(r), n = (double)r->graph.n;
	double *next = malloc((r->graph.n + 1) * 8), *reach = malloc((r->graph.n + 1) * 8), change;
	uint64_t v;
	int rc = next && reach ? 0 : -1;

	for (v = 0; v < r->graph.n && !rc; v++) {
		next[v] = r->real[v];
		reach[v] = 1;
	}
	if (!rc)
		rc = reference_pagerank_from(&r->graph, damping, 1, next, &change);
	if (!rc)
		rc = reference_pagerank_from(&r->graph, damping, 1, reach, &change);
	/* an iteration also adds a constant */
	for (v = 0; v < r->graph.n && !rc; v++)
		reach[v] -= (1 - damping) / n;
	rc = rc ? gtu_fail(err, GTU_ERR_NOMEM, "no memory for verification") :
	     cli_interrupted() ? gtu_fail(err, GTU_ERR_INTERRUPTED, "interrupted while verifying") :
				 compare_changes(r, next, reach, err);
	free(reach);
	free(next);
	return rc;
}

static int verify_pr(struct run *r, struct gtu_error *err)
{
	int rc;

	if (may_differ(r))
		return verify_converged(r, err);
	rc = verify_values(r, err);
	/* a run that stopped by --epsilon must have converged */
	if (rc || !stopped_by_epsilon(r) ||
	    r->change <= r->opt.epsilon * (1 + (r->opt.float_sums ? FLOAT_TOLERANCE : RANK_TOLERANCE)))
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

static int fill_stcon(struct run *r, void *expected)
{
	int rc = reference_bfs(&r->graph, r->opt.source, expected);

	if (!rc)
		*(uint64_t *)expected = ((uint64_t *)expected)[r->opt.target];
	return rc;
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

/* Compute all requested rounds: the algorithm may stop earlier, when no label changes. */
static int fill_cdlp(struct run *r, void *expected)
{
	return reference_labels(&r->graph, r->opt.iterations ? r->opt.iterations : CDLP_ITERATIONS, expected);
}

static int fill_lcc(struct run *r, void *expected)
{
	return reference_clustering(&r->graph, expected);
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
	{ "bfs", NULL, "hops from a source (breadth-first search)", "levels",
	  RUN_TAKES_SOURCE | RUN_TAKES_DIRECTION, 8, .integers = gtu_bfs, .reference = fill_bfs,
	  .write = run_write_hops, .json = run_json_bfs, .print = run_print_bfs },
	/* distances are the same to the last bit: see sssp.c */
	{ "sssp", NULL, "distances from a source (near and far sets)", "iterations",
	  RUN_TAKES_SOURCE | RUN_TAKES_WEIGHTS | RUN_TAKES_DELTA, 8, .reals = gtu_sssp, .reference = fill_sssp,
	  .write = run_write_distance, .json = run_json_sssp, .print = run_print_sssp },
	{ "pr", "pagerank", "ranks", "iterations",
	  RUN_TAKES_RANKS | RUN_TAKES_ITERATIONS | RUN_TAKES_DIRECTION, 8, .reals = gtu_pagerank,
	  .reference = fill_pr, .tolerance = RANK_TOLERANCE, .verify = verify_pr,
	  .write = run_write_real, .json = run_json_pr, .print = run_print_pr },
	{ "cc", "wcc", "weakly connected components", "iterations",
	  0, 8, .integers = gtu_components, .reference = fill_cc,
	  .write = run_write_vertex, .json = run_json_cc, .print = run_print_cc },
	{ "bc", NULL, "betweenness centrality over shortest paths from some sources", "levels",
	  RUN_TAKES_SOURCE | RUN_TAKES_SOURCES, 8, .reals = gtu_betweenness,
	  .reference = fill_bc, .tolerance = SCORE_TOLERANCE,
	  .write = run_write_real, .json = run_json_bc, .print = run_print_bc },
	{ "stcon", NULL, "whether, and by how few edges, a path leads from a source to a target", "levels",
	  RUN_TAKES_SOURCE | RUN_TAKES_TARGET, 8, .one = true, .integers = gtu_stcon, .reference = fill_stcon,
	  .write = run_write_hops, .json = run_json_stcon, .print = run_print_stcon },
	{ "gc", NULL, "colours, no two neighbours the same", "rounds",
	  0, 4, .colors = gtu_coloring, .verify = verify_gc,
	  .write = run_write_color, .json = run_json_gc, .print = run_print_gc },
	{ "kc", NULL, "core numbers", "rounds",
	  0, 8, .integers = gtu_cores, .reference = fill_kc,
	  .write = run_write_core, .json = run_json_kc, .print = run_print_kc },
	{ "cdlp", NULL, "communities by label propagation, as LDBC Graphalytics has it", "iterations",
	  RUN_TAKES_ITERATIONS, 8, .integers = gtu_label_propagation, .reference = fill_cdlp,
	  .write = run_write_vertex, .json = run_json_cdlp, .print = run_print_cdlp },
	{ "lcc", NULL, "local clustering coefficients, likewise", "passes",
	  0, 8, .reals = gtu_clustering, .reference = fill_lcc, .tolerance = SCORE_TOLERANCE,
	  .write = run_write_real, .json = run_json_lcc, .print = run_print_lcc },
	{ "gcn", NULL, "a graph convolution of features of each vertex: SpMM, then GraphSum", "passes",
	  RUN_TAKES_WEIGHTS | RUN_TAKES_FEATURES | RUN_TAKES_SEED, 8, .reals = gtu_gcn, .verify = verify_gcn,
	  .write = run_write_features, .json = run_json_gcn, .print = run_print_gcn },
	{ "hash", NULL, "lookups in a hash table whose keys are the graph's edges", "blocks",
	  RUN_TAKES_QUERIES | RUN_TAKES_SEED, 8, .compute = run_compute_hash, .verify = run_verify_hash,
	  .write = run_write_slot, .json = run_json_hash, .print = run_print_hash },
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

int run_compute(struct run *r, struct gtu_error *err)
{
	const struct run_kind *k = r->kind;

	if (k->compute)
		return k->compute(r, err);
	if (k->integers)
		return k->integers(r->dev, &r->graph, &r->opt, r->integer, &r->stats, err);
	if (k->reals)
		return k->reals(r->dev, &r->graph, &r->opt, r->real, &r->stats, err);
	return k->colors(r->dev, &r->graph, &r->opt, r->color, &r->stats, err);
}

int run_verify(struct run *r, struct gtu_error *err)
{
	return r->kind->verify ? r->kind->verify(r, err) : verify_values(r, err);
}

void run_print_kinds(FILE *to)
{
	char names[32];
	unsigned i;

	for (i = 0; i < KINDS; i++) {
		snprintf(names, sizeof(names), "%s%s%s", kinds[i].name, kinds[i].alias ? ", " : "",
			 kinds[i].alias ? kinds[i].alias : "");
		fprintf(to, "  %-13s  %s\n", names, kinds[i].text);
	}
}

void run_kind_names(char *names, size_t bytes)
{
	unsigned i;

	for (*names = i = 0; i < KINDS; i++)
		snprintf(names + strlen(names), bytes - strlen(names), "%s%s", i ? ", " : "", kinds[i].name);
}

bool run_has_kind(const char *word)
{
	unsigned i;

	for (i = 0; i < KINDS; i++)
		if (!strcmp(kinds[i].name, word) || (kinds[i].alias && !strcmp(kinds[i].alias, word)))
			return true;
	return false;
}

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
