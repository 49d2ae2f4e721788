// SPDX-License-Identifier: MIT
/* gtu bench gpu: graphs by rule are undirected and have the stated degrees; the validation finds one wrong value. */
#include <math.h>

#include "tests/unit/library.h"
#include "tools/bench/bench_gpu_rule.h"
#include "tools/bench/bench_gpu_validate.h"
#include "tools/experiments/end_weights.h"
#include "tools/reference/reference.h"

static int by_number(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* The edges as sorted pairs, from end to end or the other way round. */
static uint64_t *pairs(const struct gtu_graph *g, bool turned)
{
	uint64_t *p = test_alloc(g->m, 8), v, e;

	for (v = 0; v < g->n; v++)
		for (e = g->row[v]; e < g->row[v + 1]; e++)
			p[e] = turned ? gtu_graph_target(g, e) << 32 | v : v << 32 | gtu_graph_target(g, e);
	qsort(p, g->m, 8, by_number);
	return p;
}

TEST(rule_is_undirected)
{
	static const char *const names[] = { "rule:2:3", "rule:7:12", "rule:10", "rule:11:48" };
	struct gtu_graph g;

	for (unsigned i = 0; i < LENGTH(names); i++) {
		uint64_t *there, *back, least = UINT64_MAX, most = 0, v;

		OK(bench_rule_make(names[i], &g, &err));
		for (v = 0; v < g.n; v++) {
			const uint64_t degree = g.row[v + 1] - g.row[v];

			least = degree < least ? degree : least;
			most = degree > most ? degree : most;
		}
		CHECK_EQ(g.row[g.n], g.m);
		CHECK_EQ(most, 2 * least);
		CHECK_EQ(3 * least * g.n, 2 * g.m);
		there = pairs(&g, false);
		back = pairs(&g, true);
		CHECKF(!memcmp(there, back, 8 * g.m), "%s has an edge without its reverse", names[i]);
		bench_rule_free(&g);
	}
	FAILS(bench_rule_make("rule:9:10", &g, &err), GTU_ERR_USAGE, "must be a multiple of 3");
	FAILS(bench_rule_make("rule:40", &g, &err), GTU_ERR_USAGE, "not a valid graph");
}

/* A graph by rule, and vertices without edges and of a second component after it. */
static struct gtu_graph subject(void)
{
	struct gtu_graph g, some;
	uint64_t *row, v;
	uint32_t *col;

	OK(bench_rule_make("rule:8:6", &g, &err));
	some = g;
	some.n += 4;
	some.m += 2;
	row = test_alloc(some.n + 1, 8);
	col = test_alloc(some.m, 4);
	memcpy(row, g.row, 8 * (g.n + 1));
	memcpy(col, g.col, 4 * g.m);
	for (v = g.n + 1; v <= some.n; v++)
		row[v] = g.m + (v > g.n + 2) + (v > g.n + 3);
	col[g.m] = (uint32_t)g.n + 3;
	col[g.m + 1] = (uint32_t)g.n + 2;
	some.row = row;
	some.col = col;
	some.weight = end_weights(&some, 3, 9);
	some.weight_type = GTU_WEIGHT_U32;
	bench_rule_free(&g);
	return some;
}

static void check_values(enum bench_validation_rule rule, const struct gtu_graph *g, void *values, const double *before, bool real)
{
	double *own = test_alloc(g->n, 8), share = 0;
	uint64_t *integer = values, old, v;

	memcpy(own, before, 8 * g->n);
	OK(bench_validate(rule, g, 1, values, own, 60, &share, &err));
	CHECK(share == 1);
	for (v = 0; v < g->n; v += 3) {
		old = integer[v];
		if (real)
			((double *)values)[v] = isinf(((double *)values)[v]) ? 7 : ((double *)values)[v] * 1.001 + 0.001;
		else
			integer[v] = integer[v] == UINT64_MAX ? 2 : integer[v] + 1;
		memcpy(own, before, 8 * g->n);
		FAILS(bench_validate(rule, g, 1, values, own, 60, &share, &err), GTU_ERR_VERIFY, "is not valid");
		integer[v] = old;
	}
}

TEST(validation_finds_a_wrong_value)
{
	struct gtu_graph g = subject(), directed = g;
	double *rank = test_alloc(g.n, 8), *before = test_alloc(g.n, 8), change, share;
	uint64_t *level = test_alloc(g.n, 8);

	CHECK(!reference_bfs(&g, 1, level));
	check_values(BENCH_VALIDATE_BFS, &g, level, before, false);
	CHECK(!reference_components(&g, level));
	check_values(BENCH_VALIDATE_CC, &g, level, before, false);
	CHECK(!reference_sssp(&g, 1, rank));
	check_values(BENCH_VALIDATE_SSSP, &g, rank, before, true);
	CHECK(!reference_pagerank(&g, 0.85, 3, before, &change) && !reference_pagerank(&g, 0.85, 4, rank, &change));
	check_values(BENCH_VALIDATE_PR, &g, rank, before, true);
	directed.flags |= GTU_GRAPH_DIRECTED;
	FAILS(bench_validate(BENCH_VALIDATE_BFS, &directed, 1, level, before, 60, &share, &err), GTU_ERR_USAGE, "is directed");
	free((void *)(uintptr_t)g.weight);
}

TEST_MAIN
