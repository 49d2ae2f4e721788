// SPDX-License-Identifier: MIT
/*
 * BFS and PageRank with GraphPEG, Weaver and no unit, pushing, pulling and by the rule, compared with the
 * reference code.
 */
#include "subjects.h"

static const uint32_t unit[] = { GTU_WITH_PEG, GTU_WITH_WEAVER, GTU_WITH_NONE };

static void check_bfs(const struct gtu_graph *g, const struct gtu_algorithm_options *opt)
{
	uint64_t *want = test_alloc(g->n, 8), *got = test_alloc(g->n, 8);
	struct gtu_algorithm_stats stats;

	CHECK(!reference_bfs(g, opt->source, want));
	RUNS("bfs", opt, gtu_bfs(dev, g, opt, got, &stats, &err));
	same_integers(got, want, g->n, run_name("bfs", opt));
	CHECK(stats.pull_first <= stats.pull_end && stats.pull_end <= stats.iterations);
	if (opt->direction == GTU_PUSH)
		CHECK_EQ(stats.pull_end, 0);
	if (opt->direction == GTU_PULL) {
		CHECK_EQ(stats.pull_first, 0);
		CHECK_EQ(stats.pull_end, stats.iterations);
	}
}

static void check_pagerank(const struct gtu_graph *g, const struct gtu_algorithm_options *opt)
{
	double *want = test_alloc(g->n, 8), *got = test_alloc(g->n, 8), change;
	struct gtu_algorithm_stats stats;

	RUNS("pagerank", opt, gtu_pagerank(dev, g, opt, got, &stats, &err));
	CHECK(!reference_pagerank(g, 0.85, stats.iterations, want, &change));
	same_reals(got, want, g->n, 1e-9, run_name("pagerank", opt));
	CHECK_EQ(stats.pull_first, 0);
	/* without a unit, ranks are always gathered */
	CHECK_EQ(stats.pull_end, opt->unit == GTU_WITH_NONE || opt->direction == GTU_PULL ||
				 (opt->direction == GTU_PUSH_OR_PULL && !(g->flags & GTU_GRAPH_DIRECTED)) ?
					 stats.iterations : 0);
	CHECK_EQ(stats.edges, g->m * stats.iterations);
}

static void check_all(const struct gtu_graph *g)
{
	for (unsigned u = 0; u < 3; u++)
		for (uint32_t d = GTU_PUSH; d <= GTU_PUSH_OR_PULL; d++) {
			struct gtu_algorithm_options opt = { .unit = unit[u], .direction = d, .iterations = 5,
							     .source = g->n / 3 };

			check_bfs(g, &opt);
			check_pagerank(g, &opt);
		}
}

TEST(results_on_tiny_graphs_match_the_reference) { tiny_graphs(check_all); }
TEST(results_on_a_long_path_match_the_reference) { each_graph(path(201), check_all); }

TEST(results_on_a_small_graph_match_the_reference)
{
	uint64_t src[] = { 0, 0, 1, 1, 2, 3, 3, 4, 6 }, dst[] = { 0, 1, 1, 2, 0, 1, 3, 2, 5 };

	each_graph((struct edges){ 9, 9, src, dst }, check_all);
}

TEST(results_on_random_graphs_match_the_reference)
{
	uint64_t seed = 3;

	for (unsigned round = 0; round < 4; round++)
		each_graph(skewed(round % 2 ? 3000 : 800, round < 2 ? 20000 : 2500, &seed), check_all);
}

/*
 * A graph of small diameter: the rule pulls in the middle levels, and Weaver skips most edges. The
 * direction of each level follows the rule in gtu.h.
 */
TEST(each_level_takes_the_direction_of_the_rule)
{
	struct gtu_graph *g = generate((struct gtu_generate_options){
		.kind = GTU_GEN_KRONECKER, .scale = 11, .degree = 16, .seed = 1 });
	struct gtu_algorithm_stats stats[3];
	uint64_t *level = test_alloc(g->n, 8), first, end;

	open_device();
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
}

TEST(invalid_directions_are_refused)
{
	const uint64_t src[] = { 0, 1 }, dst[] = { 1, 2 };
	struct gtu_graph *g = from_edges(3, 2, src, dst, GTU_DIRECTED, 4);
	uint64_t level[3];
	double rank[3];

	open_device();
	for (uint32_t u = GTU_WITH_SCU_BASIC; u <= GTU_WITH_IRU; u++) {
		struct gtu_algorithm_options opt = { .unit = u, .direction = GTU_PULL };

		FAILS(gtu_bfs(dev, g, &opt, level, NULL, &err), GTU_ERR_UNSUPPORTED, "bfs by pulling needs GraphPEG, Weaver or no unit; with ");
		CHECK_EQ(gtu_pagerank(dev, g, &opt, rank, NULL, &err), GTU_ERR_UNSUPPORTED);
	}
	for (unsigned u = 0; u < 3; u++) {
		struct gtu_algorithm_options opt = { .unit = unit[u], .direction = 3 };

		CHECK_EQ(gtu_bfs(dev, g, &opt, level, NULL, &err), GTU_ERR_USAGE);
		CHECK_EQ(gtu_pagerank(dev, g, &opt, rank, NULL, &err), GTU_ERR_USAGE);
		opt.direction = GTU_PUSH_OR_PULL;
		opt.end_vertex = 2;
		FAILS(gtu_bfs(dev, g, &opt, level, NULL, &err), GTU_ERR_UNSUPPORTED, "a part of the vertices");
	}
}

TEST(damaged_graphs_are_reported)
{
	uint64_t row[] = { 0, 2, 3, 4 }, level[3];
	uint32_t col[] = { 1, 2, 9, 0 };
	double rank[3];
	struct gtu_graph g = { .n = 3, .m = 4, .edge_bytes = 4, .row = row, .col = col, .name = "bad" };
	int rc;

	open_device();
	for (unsigned i = 0; i < 24; i++) {
		struct gtu_algorithm_options opt = { .unit = unit[i % 3],
						     .direction = i / 3 % 2 ? GTU_PULL : GTU_PUSH_OR_PULL };

		g.flags = i / 6 % 2 ? GTU_GRAPH_DIRECTED : 0;
		col[2] = i < 12 ? 9 : 1;
		row[2] = i < 12 ? 3 : 1ull << 40;
		rc = gtu_bfs(dev, &g, &opt, level, NULL, &err);
		/* the rule may never reach the invalid edge */
		CHECK(rc == GTU_ERR_INPUT || (!rc && opt.direction == GTU_PUSH_OR_PULL));
		CHECK_EQ(gtu_pagerank(dev, &g, &opt, rank, NULL, &err), GTU_ERR_INPUT);
	}
}

TEST_MAIN
