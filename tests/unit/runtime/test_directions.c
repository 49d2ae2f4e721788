// SPDX-License-Identifier: MIT
/*
 * BFS and PageRank with GraphPEG and Weaver, pushing, pulling and by the rule, compared with the
 * reference code.
 */
#include <math.h>

#include "gtu/gtu.h"
#include "subjects.h"
#include "tests/unit/test.h"
#include "tools/reference/reference.h"

static const uint32_t unit[] = { GTU_WITH_PEG, GTU_WITH_WEAVER };
static const char *const unit_name[] = { "peg", "weaver" };
static const char *const direction_name[] = { "push", "pull", "auto" };

static void check_bfs(const struct gtu_graph *g, const struct gtu_algorithm_options *opt, const char *name)
{
	uint64_t *want = calloc(g->n, 8), *got = calloc(g->n, 8);
	struct gtu_algorithm_stats stats;
	struct gtu_error err;
	int rc;

	CHECK(!reference_bfs(g, opt->source, want));
	rc = gtu_bfs(dev, g, opt, got, &stats, &err);
	CHECKF(!rc, "bfs by %s, %s: %s", name, direction_name[opt->direction], err.text);
	for (uint64_t v = 0; v < g->n; v++)
		CHECKF(got[v] == want[v], "bfs by %s, %s: vertex %llu at %lld, not %lld", name,
		       direction_name[opt->direction], (unsigned long long)v, (long long)got[v],
		       (long long)want[v]);
	CHECK(stats.pull_first <= stats.pull_end && stats.pull_end <= stats.iterations);
	if (opt->direction == GTU_PUSH)
		CHECK_EQ(stats.pull_end, 0);
	if (opt->direction == GTU_PULL) {
		CHECK_EQ(stats.pull_first, 0);
		CHECK_EQ(stats.pull_end, stats.iterations);
	}
	free(want);
	free(got);
}

static void check_pagerank(const struct gtu_graph *g, const struct gtu_algorithm_options *opt, const char *name)
{
	double *want = calloc(g->n, 8), *got = calloc(g->n, 8), change;
	struct gtu_algorithm_stats stats;
	struct gtu_error err;
	int rc = gtu_pagerank(dev, g, opt, got, &stats, &err);

	CHECKF(!rc, "pagerank by %s, %s: %s", name, direction_name[opt->direction], err.text);
	CHECK(!reference_pagerank(g, 0.85, stats.iterations, want, &change));
	for (uint64_t v = 0; v < g->n; v++)
		CHECKF(fabs(got[v] - want[v]) <= 1e-9 * want[v], "pagerank by %s, %s: vertex %llu has %.17g, not %.17g",
		       name, direction_name[opt->direction], (unsigned long long)v, got[v], want[v]);
	CHECK_EQ(stats.pull_first, 0);
	CHECK_EQ(stats.pull_end, opt->direction == GTU_PULL ||
				 (opt->direction == GTU_PUSH_OR_PULL && !(g->flags & GTU_GRAPH_DIRECTED)) ?
					 stats.iterations : 0);
	CHECK_EQ(stats.edges, g->m * stats.iterations);
	free(want);
	free(got);
}

static void check_all(uint64_t n, uint64_t m, const uint64_t *src, const uint64_t *dst)
{
	static const uint32_t stored[] = { GTU_DIRECTED, GTU_UNDIRECTED };

	open_device();
	for (unsigned i = 0; i < 4; i++) {
		struct gtu_graph *g = from_edges(n, m, src, dst, stored[i / 2], i % 2 ? 8 : 4);

		for (unsigned u = 0; u < 2; u++)
			for (uint32_t d = GTU_PUSH; d <= GTU_PUSH_OR_PULL; d++) {
				struct gtu_algorithm_options opt = { .unit = unit[u], .direction = d, .iterations = 5,
								     .source = n / 3 };

				check_bfs(g, &opt, unit_name[u]);
				check_pagerank(g, &opt, unit_name[u]);
			}
		gtu_graph_close(g);
	}
}

TEST(small)
{
	const uint64_t src[] = { 0, 0, 1, 1, 2, 3, 3, 4, 6 }, dst[] = { 0, 1, 1, 2, 0, 1, 3, 2, 5 };

	check_all(1, 0, NULL, NULL);
	check_all(1, 1, src, dst);
	check_all(9, 0, NULL, NULL);
	check_all(9, 9, src, dst);
}

TEST(path)
{
	uint64_t src[200], dst[200];

	for (unsigned i = 0; i < 200; i++) {
		src[i] = i * 7 % 201;
		dst[i] = (i + 1) * 7 % 201;
	}
	check_all(201, 200, src, dst);
}

TEST(random_graphs)
{
	static uint64_t src[20000], dst[20000];
	uint64_t seed = 3;

	for (unsigned round = 0; round < 4; round++) {
		const uint64_t n = round % 2 ? 3000 : 800, m = round < 2 ? 20000 : 2500;

		for (uint64_t e = 0; e < m; e++) {
			src[e] = test_random(&seed) % n * (test_random(&seed) % n) / n;
			dst[e] = test_random(&seed) % n;
		}
		check_all(n, m, src, dst);
	}
}

/*
 * A graph of small diameter: the rule pulls in the middle levels, and Weaver skips most edges. The
 * direction of each level follows the rule in gtu.h.
 */
TEST(rule)
{
	const struct gtu_generate_options make = { .kind = GTU_GEN_KRONECKER, .scale = 11, .degree = 16, .seed = 1 };
	struct gtu_algorithm_stats stats[3];
	struct gtu_graph *g;
	struct gtu_error err;
	uint64_t *level, first, end;

	open_device();
	CHECK(!gtu_graph_generate(&make, NULL, &g, &err));
	level = calloc(g->n, 8);
	for (unsigned u = 0; u < 2; u++) {
		struct gtu_algorithm_options opt = { .unit = unit[u] };
		const uint64_t factor = unit[u] == GTU_WITH_PEG ? 1 : 14;
		uint64_t left = g->m, l = 0, count, edges;

		for (opt.source = 0; g->row[opt.source] == g->row[opt.source + 1]; opt.source++)
			;
		for (opt.direction = 0; opt.direction < 3; opt.direction++)
			CHECK(!gtu_bfs(dev, g, &opt, level, &stats[opt.direction], &err));
		for (first = end = 0; l < stats[0].iterations; l++) {
			for (uint64_t v = count = edges = 0; v < g->n; v++)
				if (level[v] == l) {
					count++;
					edges += g->row[v + 1] - g->row[v];
				}
			left -= edges;
			if (count >= g->n / 24 && (end ? end == l : edges > left / factor)) {
				first = end ? first : l;
				end = l + 1;
			}
		}
		CHECK(end > first);
		CHECK_EQ(stats[GTU_PUSH_OR_PULL].pull_first, first);
		CHECK_EQ(stats[GTU_PUSH_OR_PULL].pull_end, end);
		CHECK(first > 0);
		if (unit[u] == GTU_WITH_WEAVER) {
			CHECK(stats[GTU_PUSH_OR_PULL].edges < stats[GTU_PUSH].edges / 2);
			CHECK(stats[GTU_PUSH_OR_PULL].edges < stats[GTU_PULL].edges);
		}
	}
	gtu_graph_close(g);
	free(level);
}

TEST(refusals)
{
	const uint64_t src[] = { 0, 1 }, dst[] = { 1, 2 };
	struct gtu_graph *g = from_edges(3, 2, src, dst, GTU_DIRECTED, 4);
	struct gtu_error err;
	uint64_t level[3];
	double rank[3];

	open_device();
	for (uint32_t u = GTU_WITH_NONE; u <= GTU_WITH_IRU; u++) {
		struct gtu_algorithm_options opt = { .unit = u, .direction = GTU_PULL };

		CHECK_EQ(gtu_bfs(dev, g, &opt, level, NULL, &err), GTU_ERR_UNSUPPORTED);
		CHECKF(strstr(err.text, "bfs by pulling needs GraphPEG or Weaver; with "), "%s", err.text);
		CHECK_EQ(gtu_pagerank(dev, g, &opt, rank, NULL, &err), GTU_ERR_UNSUPPORTED);
	}
	for (unsigned u = 0; u < 2; u++) {
		struct gtu_algorithm_options opt = { .unit = unit[u], .direction = 3 };

		CHECK_EQ(gtu_bfs(dev, g, &opt, level, NULL, &err), GTU_ERR_USAGE);
		CHECK_EQ(gtu_pagerank(dev, g, &opt, rank, NULL, &err), GTU_ERR_USAGE);
		opt.direction = GTU_PUSH_OR_PULL;
		opt.end_vertex = 2;
		CHECK_EQ(gtu_bfs(dev, g, &opt, level, NULL, &err), GTU_ERR_UNSUPPORTED);
		CHECKF(strstr(err.text, "a part of the vertices"), "%s", err.text);
	}
	gtu_graph_close(g);
}

TEST(damaged_graphs)
{
	uint64_t row[] = { 0, 2, 3, 4 }, level[3];
	uint32_t col[] = { 1, 2, 9, 0 };
	double rank[3];
	struct gtu_graph g = { .n = 3, .m = 4, .edge_bytes = 4, .row = row, .col = col, .name = "bad" };
	struct gtu_error err;
	int rc;

	open_device();
	for (unsigned i = 0; i < 16; i++) {
		struct gtu_algorithm_options opt = { .unit = unit[i % 2],
						     .direction = i / 2 % 2 ? GTU_PULL : GTU_PUSH_OR_PULL };

		g.flags = i / 4 % 2 ? GTU_GRAPH_DIRECTED : 0;
		col[2] = i < 8 ? 9 : 1;
		row[2] = i < 8 ? 3 : 1ull << 40;
		rc = gtu_bfs(dev, &g, &opt, level, NULL, &err);
		/* the rule may never reach the invalid edge */
		CHECK(rc == GTU_ERR_INPUT || (!rc && opt.direction == GTU_PUSH_OR_PULL));
		CHECK_EQ(gtu_pagerank(dev, &g, &opt, rank, NULL, &err), GTU_ERR_INPUT);
	}
}

TEST_MAIN
