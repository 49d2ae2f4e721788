// SPDX-License-Identifier: MIT
/*
 * Betweenness, ST-connectivity, coloring, cores and convolution with every unit, compared with the
 * reference code, over adversarial graphs, with chunks so small that vertices are split and
 * frontiers pass in pieces.
 */
#include "subjects.h"

static const uint32_t chunk_log2[] = { 0, 3 };

static void check_betweenness(const struct gtu_graph *g, const struct gtu_algorithm_options *opt)
{
	double *want = test_alloc(g->n, 8), *got = test_alloc(g->n, 8);

	CHECK(!reference_betweenness(g, opt->sources, opt->source_count, want));
	RUNS("betweenness", opt, gtu_betweenness(dev, g, opt, got, NULL, &err));
	same_reals(got, want, g->n, 1e-9, run_name("betweenness", opt));
}

static void check_stcon(const struct gtu_graph *g, struct gtu_algorithm_options opt)
{
	uint64_t *level = test_alloc(g->n, 8), got, step = g->n / 7 + 1;

	CHECK(!reference_bfs(g, opt.source, level));
	for (opt.target = 0; opt.target < g->n; opt.target += step) {
		RUNS("stcon", &opt, gtu_stcon(dev, g, &opt, &got, NULL, &err));
		same_integers(&got, &level[opt.target], 1, run_name("stcon", &opt));
	}
}

static void check_cores(const struct gtu_graph *g, const struct gtu_algorithm_options *opt)
{
	uint64_t *want = test_alloc(g->n, 8), *got = test_alloc(g->n, 8);

	CHECK(!reference_cores(g, want));
	RUNS("cores", opt, gtu_cores(dev, g, opt, got, NULL, &err));
	same_integers(got, want, g->n, run_name("cores", opt));
}

static void check_coloring(const struct gtu_graph *g, const struct gtu_algorithm_options *opt,
			   uint32_t *first)
{
	uint32_t *got = test_alloc(g->n, 4);
	uint64_t most = 0;

	RUNS("coloring", opt, gtu_coloring(dev, g, opt, got, NULL, &err));
	CHECK_EQ(reference_same_color(g, got), UINT64_MAX);
	if (opt->unit == GTU_WITH_NONE)
		memcpy(first, got, g->n * 4);
	CHECKF(!memcmp(first, got, g->n * 4), "%s differs from none's", run_name("coloring", opt));
	for (uint64_t v = 0; v < g->n; v++)
		most = got[v] > most ? got[v] : most;
	CHECK(most < g->n);
}

/* With and without weights, which are read by edge index. */
static void check_gcn(const struct gtu_graph *g, struct gtu_algorithm_options opt, uint32_t features)
{
	const uint64_t count = g->n * features;
	double *want = test_alloc(count, 8), *magnitude = test_alloc(count, 8), *got = test_alloc(count, 8);
	double *weight = test_alloc(g->m, 8);
	struct gtu_graph weighted = *g;
	uint64_t seed = 5;

	for (uint64_t e = 0; e < g->m; e++)
		weight[e] = (double)(test_random(&seed) % 1000) - 300;
	opt.features = features;
	opt.seed = 9;
	for (unsigned i = 0; i < 2; i++) {
		CHECK(!reference_gcn(&weighted, features, opt.seed, want, magnitude));
		RUNS("gcn", &opt, gtu_gcn(dev, &weighted, &opt, got, NULL, &err));
		for (uint64_t v = 0; v < count; v++)
			CHECKF(fabs(got[v] - want[v]) <= 1e-9 * magnitude[v],
			       "%s, weights %u: feature %" PRIu64 " of vertex %" PRIu64 " is %.17g, not %.17g",
			       run_name("gcn", &opt), i, v % features, v / features, got[v], want[v]);
		weighted.weight = weight;
		weighted.weight_type = GTU_WEIGHT_F64;
	}
}

/* From the last vertex. */
static void check_all(const struct gtu_graph *g)
{
	const uint64_t some[] = { 0, g->n - 1, g->n / 2 };
	uint32_t *first = test_alloc(g->n, 4);

	for (unsigned i = 0; i < UNITS * LENGTH(chunk_log2); i++) {
		const unsigned c = i % LENGTH(chunk_log2);
		struct gtu_algorithm_options opt = { .unit = i / LENGTH(chunk_log2), .source = g->n - 1,
						     .chunk_log2 = chunk_log2[c] };

		if (g->n <= 128 && !c)
			check_betweenness(g, &opt);
		opt.sources = some;
		opt.source_count = 3;
		check_betweenness(g, &opt);
		check_stcon(g, opt);
		check_cores(g, &opt);
		check_coloring(g, &opt, first);
		check_gcn(g, opt, c ? 3 : 1);
	}
}

TEST(results_on_tiny_graphs_match_the_reference) { tiny_graphs(check_all); }
TEST(results_on_a_long_path_match_the_reference) { each_graph(path(151), check_all); }
/* 4^33 shortest paths exceed a 64-bit integer */
TEST(results_on_a_ladder_of_paths_match_the_reference) { each_graph(ladder(34), check_all); }

/* A clique needs as many colors as vertices: more than one window of colors. */
TEST(a_clique_gets_as_many_colors_as_vertices)
{
	const struct edges e = clique(90);
	struct gtu_graph *g = from_edges(e.n, e.m, e.src, e.dst, GTU_UNDIRECTED, 4);
	uint32_t color[90];

	each_graph(e, check_all);
	for (uint32_t unit = 0; unit < UNITS; unit++) {
		struct gtu_algorithm_options opt = { .unit = unit };
		uint64_t sum = 0;

		OK(gtu_coloring(dev, g, &opt, color, NULL, &err));
		for (unsigned v = 0; v < 90; v++)
			sum += color[v];
		CHECK_EQ(sum, 90 * 89 / 2);
	}
}

TEST(results_on_random_graphs_match_the_reference)
{
	uint64_t seed = 77;

	for (unsigned round = 0; round < 4; round++)
		each_graph(skewed(round < 2 ? 100 : 700, round % 2 ? 3000 : round < 2 ? 100 : 700, &seed), check_all);
}

/* 4^529 paths exceed a double. A quarter of those to each vertex beyond a level lead through each vertex of the level. */
TEST(betweenness_counts_more_paths_than_a_double_holds)
{
	enum { LEVELS = 530 };
	struct gtu_algorithm_options opt = { .source_count = 1, .sources = (uint64_t[]){ 0 } };
	const struct edges e = ladder(LEVELS);
	const struct gtu_graph *g = from_edges(e.n, e.m, e.src, e.dst, GTU_DIRECTED, 4);
	double *got = test_alloc(e.n, 8);

	open_device();
	for (opt.unit = 0; opt.unit < UNITS; opt.unit++) {
		RUNS("betweenness", &opt, gtu_betweenness(dev, g, &opt, got, NULL, &err));
		for (unsigned v = 0; v < e.n; v++)
			CHECKF(fabs(got[v] - (v < 4 ? 0 : LEVELS - v / 4)) <= 1e-9 * LEVELS, "%s: vertex %u is %.17g",
			       run_name("betweenness", &opt), v, got[v]);
	}
}

/* 2^45 paths and more, beyond the precision of short fractions, to each of many vertices that lead to one. */
TEST(betweenness_of_many_equal_path_counts_is_precise)
{
	enum { CHAIN = 40, BESIDE = 1 << 18 };
	struct gtu_algorithm_options opt = { .source_count = 1, .sources = (uint64_t[]){ 0 } };
	struct edges e = edges(CHAIN + BESIDE + 2, 3 * CHAIN + 2 * BESIDE);
	struct gtu_graph *g;

	for (unsigned v = 0; v < CHAIN; v++)
		for (unsigned i = 0; i < 3; i++)
			add_edge(&e, v, v + 1);
	for (unsigned v = CHAIN + 1; v <= CHAIN + BESIDE; v++) {
		add_edge(&e, CHAIN, v);
		add_edge(&e, v, CHAIN + BESIDE + 1);
	}
	g = from_edges(e.n, e.m, e.src, e.dst, GTU_DIRECTED, 4);
	open_device();
	for (opt.unit = GTU_WITH_NONE; opt.unit <= GTU_WITH_SCU; opt.unit++)
		check_betweenness(g, &opt);
}

/* A chain of 16 edges in parallel, 16^131073 paths from end to end. */
TEST(too_many_shortest_paths_are_reported)
{
	struct gtu_algorithm_options opt = { .source_count = 1, .sources = (uint64_t[]){ 0 } };
	struct edges e = edges(131074, 16 * 131073);
	struct gtu_graph *g;

	for (unsigned v = 0; v + 1 < e.n; v++)
		for (unsigned i = 0; i < 16; i++)
			add_edge(&e, v, v + 1);
	g = from_edges(e.n, e.m, e.src, e.dst, GTU_DIRECTED, 4);
	open_device();
	for (opt.unit = GTU_WITH_NONE; opt.unit <= GTU_WITH_SCU_BASIC; opt.unit++)
		FAILS(gtu_betweenness(dev, g, &opt, test_alloc(e.n, 8), NULL, &err), GTU_ERR_UNSUPPORTED, "exceeds 2^524287");
}

TEST(vertex_ranges_and_invalid_options_are_refused)
{
	const uint64_t src[] = { 0, 1 }, dst[] = { 1, 2 };
	struct gtu_graph *g = from_edges(3, 2, src, dst, GTU_DIRECTED, 4);
	struct gtu_algorithm_options opt = { .end_vertex = 2 };
	double score[3];
	uint64_t value[3];
	uint32_t color[3];

	CHECK_EQ(gtu_betweenness(NULL, g, &opt, score, NULL, &err), GTU_ERR_UNSUPPORTED);
	CHECK_EQ(gtu_stcon(NULL, g, &opt, value, NULL, &err), GTU_ERR_UNSUPPORTED);
	CHECK_EQ(gtu_coloring(NULL, g, &opt, color, NULL, &err), GTU_ERR_UNSUPPORTED);
	CHECK_EQ(gtu_cores(NULL, g, &opt, value, NULL, &err), GTU_ERR_UNSUPPORTED);
	CHECK_EQ(gtu_gcn(NULL, g, &opt, score, NULL, &err), GTU_ERR_UNSUPPORTED);
	opt = (struct gtu_algorithm_options){ .features = 65537 };
	FAILS(gtu_gcn(NULL, g, &opt, score, NULL, &err), GTU_ERR_USAGE, "65537 features per vertex are too many: the maximum is 65536");
	opt = (struct gtu_algorithm_options){ .target = 3 };
	FAILS(gtu_stcon(NULL, g, &opt, value, NULL, &err), GTU_ERR_USAGE, "target vertex 3 is out of range: the graph has 3 vertices");
	opt = (struct gtu_algorithm_options){ .source_count = 1, .sources = (uint64_t[]){ 3 } };
	CHECK_EQ(gtu_betweenness(NULL, g, &opt, score, NULL, &err), GTU_ERR_USAGE);
	opt.sources = NULL;
	CHECK_EQ(gtu_betweenness(NULL, g, &opt, score, NULL, &err), GTU_ERR_USAGE);
}

/*
 * A graph declared undirected but stored in one direction is reported, instead of looping in
 * coloring.
 */
TEST(missing_reverse_edges_are_reported)
{
	/* 0 - 1 is stored at 0 only, and 1 comes first in the order, having more edges */
	uint64_t row[] = { 0, 1, 3, 5 };
	uint32_t col[] = { 1, 2, 2, 1, 1 }, color[3];
	struct gtu_graph g = { .n = 3, .m = 5, .edge_bytes = 4, .row = row, .col = col, .name = "one" };
	struct gtu_algorithm_options opt = { .unit = GTU_WITH_SCU };

	open_device();
	FAILS(gtu_coloring(dev, &g, &opt, color, NULL, &err), GTU_ERR_INPUT, "at least 1 vertices have edges stored in one direction only");
}

/* NaN weights, and weights whose sums overflow, are reported with every unit. */
TEST(invalid_weights_are_reported)
{
	const uint64_t src[] = { 0, 1 }, dst[] = { 1, 2 };
	struct gtu_graph *g = from_edges(3, 2, src, dst, GTU_UNDIRECTED, 4), weighted = *g;
	double weight[4] = { 1, NAN, 1, 1 }, out[6];

	open_device();
	weighted.weight = weight;
	weighted.weight_type = GTU_WEIGHT_F64;
	for (uint32_t unit = 0; unit < UNITS; unit++) {
		struct gtu_algorithm_options opt = { .unit = unit, .features = 2 };

		weight[1] = NAN;
		FAILS(gtu_gcn(dev, &weighted, &opt, out, NULL, &err), GTU_ERR_INPUT, "edge 1 has the weight nan");
		for (unsigned e = 0; e < 4; e++)
			weight[e] = 1.7e308;
		CHECK_EQ(gtu_gcn(dev, &weighted, &opt, out, NULL, &err), GTU_ERR_UNSUPPORTED);
	}
}

/* Targets and rows out of bounds are reported, and nothing is read out of bounds. */
TEST(damaged_graphs_are_reported)
{
	uint64_t row[] = { 0, 2, 3, 4 }, value[3];
	uint32_t col[] = { 1, 2, 9, 0 }, color[3];
	double score[3];
	struct gtu_graph g = { .n = 3, .m = 4, .edge_bytes = 4, .row = row, .col = col, .name = "bad" };

	open_device();
	for (unsigned twice = 0; twice < 2; twice++) {
		for (uint32_t unit = 0; unit < UNITS; unit++) {
			struct gtu_algorithm_options opt = { .unit = unit, .target = 2, .source = 1 };

			CHECK_EQ(gtu_betweenness(dev, &g, &opt, score, NULL, &err), GTU_ERR_INPUT);
			CHECK_EQ(gtu_stcon(dev, &g, &opt, value, NULL, &err), GTU_ERR_INPUT);
			CHECK_EQ(gtu_coloring(dev, &g, &opt, color, NULL, &err), GTU_ERR_INPUT);
			CHECK_EQ(gtu_cores(dev, &g, &opt, value, NULL, &err), GTU_ERR_INPUT);
			opt.features = 1;
			CHECK_EQ(gtu_gcn(dev, &g, &opt, score, NULL, &err), GTU_ERR_INPUT);
		}
		col[2] = 1;
		row[2] = 1ull << 40;
	}
}

TEST_MAIN
