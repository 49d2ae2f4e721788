// SPDX-License-Identifier: MIT
/*
 * The algorithms with every unit, compared with the reference code, over adversarial graphs. Each
 * runs with the default chunk and with tiny ones, so that vertices are split and frontiers pass in
 * pieces.
 */
#include <sys/mman.h>

#include "subjects.h"

/* ---- One algorithm with every unit ---------------------------------------------------------------- */

/* The results of the reference code from one source. */
struct wanted {
	uint64_t *level, *label, reached;
	double *distance, *rank;
};

static struct wanted want(const struct gtu_graph *g, uint64_t source)
{
	struct wanted w = { test_alloc(g->n, 8), test_alloc(g->n, 8), 0, test_alloc(g->n, 8), test_alloc(g->n, 8) };
	double change;

	CHECK(!reference_bfs(g, source, w.level) && !reference_components(g, w.label));
	CHECK(!reference_sssp(g, source, w.distance) && !reference_pagerank(g, 0.85, 15, w.rank, &change));
	for (uint64_t v = 0; v < g->n; v++)
		w.reached += w.level[v] != GTU_UNREACHED;
	return w;
}

static void check_bfs(const struct gtu_graph *g, const struct wanted *w, struct gtu_algorithm_options opt)
{
	uint64_t *got = test_alloc(g->n, 8);
	struct gtu_algorithm_stats stats;

	RUNS("bfs", &opt, gtu_bfs(dev, g, &opt, got, &stats, &err));
	same_integers(got, w->level, g->n, run_name("bfs", &opt));
	CHECK_EQ(stats.vertices, w->reached);
}

static void check_sssp(const struct gtu_graph *g, const struct wanted *w, struct gtu_algorithm_options opt, double delta)
{
	double *got = test_alloc(g->n, 8);

	opt.delta = delta;
	RUNS("sssp", &opt, gtu_sssp(dev, g, &opt, got, NULL, &err));
	same_reals(got, w->distance, g->n, 0, run_name("sssp", &opt));
}

static void check_pagerank(const struct gtu_graph *g, const struct wanted *w, struct gtu_algorithm_options opt)
{
	double *got = test_alloc(g->n, 8), sum = 0;
	struct gtu_algorithm_stats stats;

	opt.iterations = 15;
	RUNS("pagerank", &opt, gtu_pagerank(dev, g, &opt, got, &stats, &err));
	same_reals(got, w->rank, g->n, 1e-12, run_name("pagerank", &opt));
	for (uint64_t v = 0; v < g->n; v++)
		sum += got[v];
	CHECK(fabs(sum - 1) < 1e-9);
	CHECK_EQ(stats.iterations, 15);
	CHECK_EQ(stats.edges, 15 * g->m);
}

static void check_components(const struct gtu_graph *g, const struct wanted *w, struct gtu_algorithm_options opt)
{
	uint64_t *got = test_alloc(g->n, 8);

	RUNS("components", &opt, gtu_components(dev, g, &opt, got, NULL, &err));
	same_integers(got, w->label, g->n, run_name("components", &opt));
}

/* All four algorithms with all units and chunks, from @source. */
static void check_all(const struct gtu_graph *g, uint64_t source)
{
	static const double delta[] = { 0, 1, 7.5, 1e12 };
	static const uint32_t chunk_log2[] = { 0, 1, 4 };
	const struct wanted w = want(g, source);

	open_device();
	for (unsigned i = 0; i < UNITS * LENGTH(chunk_log2); i++) {
		const struct gtu_algorithm_options opt = { .unit = i / LENGTH(chunk_log2), .source = source,
							   .chunk_log2 = chunk_log2[i % LENGTH(chunk_log2)] };

		check_bfs(g, &w, opt);
		for (unsigned d = 0; d < LENGTH(delta); d++)
			check_sssp(g, &w, opt, delta[d]);
		check_pagerank(g, &w, opt);
		check_components(g, &w, opt);
	}
}

/* ---- Shapes --------------------------------------------------------------------------------------- */

static void check_ends(const struct gtu_graph *g)
{
	check_all(g, 0);
	check_all(g, g->n - 1);
}

TEST(results_on_tiny_graphs_match_the_reference) { tiny_graphs(check_ends); }
TEST(results_on_a_long_path_match_the_reference) { each_graph(path(301), check_ends); }
/* frontiers must not grow with the number of paths */
TEST(results_on_a_ladder_of_paths_match_the_reference) { each_graph(ladder(30), check_ends); }

TEST(results_on_a_star_match_the_reference)
{
	struct edges e = edges(201, 400);

	for (unsigned i = 0; i < 200; i++) {
		add_edge(&e, 100, i);
		add_edge(&e, i, 100);
	}
	each_graph(e, check_ends);
}

/* ---- Calls that fail ------------------------------------------------------------------------------ */

/* All four algorithms fail with @code, and the messages of those that stream edges have @words. */
static void all_fail(const struct gtu_graph *g, const struct gtu_algorithm_options *opt, int code, const char *words)
{
	uint64_t *integer = test_alloc(g->n < 100000 ? g->n : 100000, 8);
	double *real = (double *)integer;

	err.text[0] = 0;
	FAILS(gtu_bfs(dev, g, opt, integer, NULL, &err), code, words);
	FAILS(gtu_sssp(dev, g, opt, real, NULL, &err), code, words);
	/* without a unit, the transpose of a directed graph finds an invalid target */
	FAILS(gtu_pagerank(dev, g, opt, real, NULL, &err), code, opt->unit ? words : "");
	FAILS(gtu_components(dev, g, opt, integer, NULL, &err), code, "");
}

TEST(only_searches_refuse_a_graph_without_vertices)
{
	struct gtu_graph *g = from_edges(0, 0, NULL, NULL, GTU_DIRECTED, 4);
	struct gtu_algorithm_options opt = { 0 };
	uint64_t integer = 7;
	double real = 7;

	open_device();
	for (opt.unit = 0; opt.unit < UNITS; opt.unit++) {
		CHECK_EQ(gtu_bfs(dev, g, &opt, &integer, NULL, &err), GTU_ERR_USAGE);
		CHECK_EQ(gtu_sssp(dev, g, &opt, &real, NULL, &err), GTU_ERR_USAGE);
		CHECK_EQ(gtu_pagerank(dev, g, &opt, &real, NULL, &err), 0);
		CHECK_EQ(gtu_components(dev, g, &opt, &integer, NULL, &err), 0);
		CHECK(integer == 7 && real == 7);
	}
}

/* ---- Weights -------------------------------------------------------------------------------------- */

/* A random graph of @n vertices with every weight type, drawn by @draw. */
static void check_weights(uint64_t n, uint64_t m, uint64_t seed, double (*draw)(uint64_t *))
{
	static const uint32_t type[] = { GTU_WEIGHT_U32, GTU_WEIGHT_F32, GTU_WEIGHT_F64 };
	static const struct { uint32_t chunk; double delta; } run[] = { { 4, 0 }, { 5, 3 }, { 0, 1e-3 }, { 0, 1e10 } };
	uint32_t *u = test_alloc(m, 4);
	float *f = test_alloc(m, 4);
	double *d = test_alloc(m, 8);
	const void *weight[] = { u, f, d };
	struct edges e = edges(n, m);

	open_device();
	for (uint64_t i = 0; i < m; i++) {
		const uint64_t from = test_random(&seed) % n;

		add_edge(&e, from, test_random(&seed) % n);
		d[i] = draw(&seed);
		f[i] = (float)d[i];
		u[i] = d[i] < UINT32_MAX ? (uint32_t)d[i] : UINT32_MAX;
	}
	for (unsigned t = 0; t < 6; t++) {
		struct gtu_graph *g = weighted_edges(n, m, e.src, e.dst, type[t / 2], weight[t / 2], GTU_DIRECTED, t % 2 ? 8 : 4);
		const struct wanted zero = want(g, 0), hub = want(g, busiest(g));

		CHECK(hub.reached > n / 3);
		for (unsigned unit = 0; unit < UNITS; unit++) {
			check_sssp(g, &zero, (struct gtu_algorithm_options){ .unit = unit }, 0);
			for (unsigned i = 0; i < LENGTH(run); i++)
				check_sssp(g, &hub, (struct gtu_algorithm_options){ .unit = unit, .source = busiest(g),
					   .chunk_log2 = run[i].chunk }, run[i].delta);
		}
	}
}

static double draw_zero(uint64_t *seed)
{
	(void)seed;
	return 0;
}

static double draw_small(uint64_t *seed)
{
	return (double)(test_random(seed) % 10);
}

static double draw_fraction(uint64_t *seed)
{
	return (double)(test_random(seed) >> 11) * 0x1p-50;
}

/* Path lengths exceed 32 bits after two or three edges. */
static double draw_large(uint64_t *seed)
{
	return 0x70000000 + (double)(test_random(seed) % 0x8fffffff);
}

/* Weights so large that only one fits, and infinity among the floats. */
static double draw_extreme(uint64_t *seed)
{
	switch (test_random(seed) % 4) {
	case 0: return INFINITY;
	case 1: return 4294967295.0;
	case 2: return 0;
	}
	return 1;
}

TEST(distances_with_zero_weights_match_the_reference) { check_weights(60, 400, 1, draw_zero); }
TEST(distances_with_small_weights_match_the_reference) { check_weights(120, 500, 2, draw_small); }
TEST(distances_with_fractional_weights_match_the_reference) { check_weights(120, 500, 3, draw_fraction); }
TEST(distances_with_weights_above_32_bits_match_the_reference) { check_weights(80, 200, 4, draw_large); }
TEST(distances_with_extreme_weights_match_the_reference) { check_weights(80, 300, 5, draw_extreme); }

/* Only the last of many edges exceeds 2^32: the search must widen distances late. */
TEST(a_late_distance_above_2_32_matches_the_reference)
{
	enum { N = 200 };
	uint32_t weight[N];
	struct edges e = edges(N + 1, N);
	struct gtu_graph *g;
	struct wanted w;

	open_device();
	for (unsigned i = 0; i < N; i++) {
		add_edge(&e, i, i + 1);
		weight[i] = i < 100 ? 1 : 50000000;
	}
	g = weighted_edges(e.n, e.m, e.src, e.dst, GTU_WEIGHT_U32, weight, GTU_UNDIRECTED, 4);
	w = want(g, 0);
	for (unsigned unit = 0; unit < UNITS; unit++)
		check_sssp(g, &w, (struct gtu_algorithm_options){ .unit = unit }, 0);
}

TEST(negative_weights_are_refused)
{
	const uint64_t src[] = { 0, 1, 2 }, dst[] = { 1, 2, 3 };
	const double bad[] = { -1, -INFINITY, NAN, -1e-300 };
	struct gtu_algorithm_options opt = { 0 };
	double distance[4];

	open_device();
	for (unsigned i = 0; i < 4; i++) {
		const double weight[] = { 1, 2, bad[i] };
		struct gtu_graph *g = weighted_edges(4, 3, src, dst, GTU_WEIGHT_F64, weight, GTU_DIRECTED, 4);

		for (opt.unit = 0; opt.unit < UNITS; opt.unit++) {
			FAILS(gtu_sssp(dev, g, &opt, distance, NULL, &err), GTU_ERR_INPUT, "from vertex 2 to vertex 3 has weight");
		}
	}
}

/* ---- Random graphs ---------------------------------------------------------------------------------- */

TEST(results_on_random_graphs_match_the_reference)
{
	uint64_t seed = 20;

	for (unsigned round = 0; round < 24; round++) {
		uint64_t n = 1 + test_random(&seed) % 150, m = test_random(&seed) % (3 * n);
		uint32_t *weight = test_alloc(m, 4);
		struct edges e = edges(n, m);
		struct gtu_graph *g;

		while (e.m < m) {
			const uint64_t from = test_random(&seed) % n, to = test_random(&seed) % n;

			/* half of the rounds have hubs */
			add_edge(&e, from, round % 2 ? to : to % 5);
			weight[e.m - 1] = (uint32_t)(test_random(&seed) % 100);
		}
		g = weighted_edges(n, m, e.src, e.dst, GTU_WEIGHT_U32, weight, round % 3 ? GTU_DIRECTED : GTU_UNDIRECTED,
				   round % 4 < 2 ? 4 : 8);
		check_all(g, test_random(&seed) % n);
	}
}

/* Many small sparse graphs: rare orders of hooking and shortcutting. */
TEST(results_on_many_sparse_graphs_match_the_reference)
{
	uint64_t seed = 1;
	uint32_t weight[120];

	open_device();
	for (unsigned round = 0; round < TEST_CASES(1000); round++) {
		uint64_t n = 3 + test_random(&seed) % 60, m = test_random(&seed) % (2 * n), source = test_random(&seed) % n;
		struct edges e = edges(n, m);
		struct gtu_graph *g;
		struct wanted w;

		while (e.m < m) {
			const uint64_t from = test_random(&seed) % n;

			weight[e.m] = (uint32_t)(test_random(&seed) % 16);
			add_edge(&e, from, test_random(&seed) % n);
		}
		g = weighted_edges(n, m, e.src, e.dst, GTU_WEIGHT_U32, weight, GTU_DIRECTED + round % 2, 4);
		w = want(g, source);
		for (unsigned unit = 0; unit < UNITS; unit++) {
			const struct gtu_algorithm_options opt = { .unit = unit, .source = source,
								   .chunk_log2 = 1 + (uint32_t)(test_random(&seed) % 6) };

			check_components(g, &w, opt);
			check_bfs(g, &w, opt);
			check_sssp(g, &w, opt, round % 20);
		}
		test_end(NULL);
	}
}

/* Larger than every filter table, so that entries are evicted. */
TEST(a_graph_larger_than_the_tables_matches_the_reference)
{
	struct gtu_graph *g = generate((struct gtu_generate_options){
		.kind = GTU_GEN_KRONECKER, .scale = 15, .degree = 8, .seed = 3, .random_weights = 50 });
	const struct wanted w = want(g, 1);

	open_device();
	for (unsigned unit = 0; unit < UNITS; unit++) {
		struct gtu_algorithm_options opt = { .unit = unit, .source = 1 };

		check_bfs(g, &w, opt);
		check_sssp(g, &w, opt, 0);
		opt.chunk_log2 = 12;
		check_bfs(g, &w, opt);
		opt.chunk_log2 = 13;
		check_sssp(g, &w, opt, 5);
		check_components(g, &w, opt);
		opt.chunk_log2 = 14;
		check_pagerank(g, &w, opt);
	}
}

/* ---- Damaged graphs ----------------------------------------------------------------------------------- */

/* Row and col as in an unchecked mapped container. */
TEST(targets_out_of_bounds_are_reported)
{
	const uint64_t row[] = { 0, 2, 4, 4, 5 };

	open_device();
	for (unsigned bad = 0; bad < 5; bad++) {
		for (uint32_t bytes = 4; bytes <= 8; bytes += 4) {
			uint32_t col4[5] = { 1, 2, 3, 0, 2 };
			uint64_t col8[5] = { 1, 2, 3, 0, 2 };
			struct gtu_graph g = { .n = 4, .m = 5, .flags = GTU_GRAPH_DIRECTED,
					       .edge_bytes = bytes, .row = row, .name = "hand-made" };
			struct gtu_algorithm_options opt = { 0 };
			char entry[32];

			col4[bad] = bad % 2 ? 4 : UINT32_MAX;
			col8[bad] = bad % 2 ? 4 : UINT64_MAX;
			g.col = bytes == 4 ? (void *)col4 : (void *)col8;
			snprintf(entry, sizeof(entry), "entry %u ", bad);
			for (unsigned c = 0; c < 2 * UNITS; c++) {
				opt.unit = c / 2;
				opt.chunk_log2 = c % 2;
				all_fail(&g, &opt, GTU_ERR_INPUT, entry);
			}
		}
	}
}

TEST(rows_out_of_bounds_are_reported)
{
	static const uint64_t rows[][5] = {
		{ 0, 2, 1, 4, 5 }, { 0, 2, 4, 4, 6 }, { 0, 2, UINT64_MAX, 4, 5 },
		{ 0, UINT64_MAX - 1, UINT64_MAX, 4, 5 }, { 3, 2, 4, 4, 5 },
	};
	const uint32_t col[5] = { 1, 2, 3, 0, 2 };

	open_device();
	for (unsigned i = 0; i < LENGTH(rows); i++) {
		struct gtu_graph g = { .n = 4, .m = 5, .flags = GTU_GRAPH_DIRECTED, .edge_bytes = 4,
				       .row = rows[i], .col = col, .name = "hand-made" };
		struct gtu_algorithm_options opt = { 0 };

		for (opt.unit = 0; opt.unit < UNITS; opt.unit++)
			all_fail(&g, &opt, GTU_ERR_INPUT, "");
	}
}

/* ---- Options ------------------------------------------------------------------------------------------- */

TEST(each_algorithm_stops_at_the_first_interruption)
{
	struct gtu_graph *g = generate((struct gtu_generate_options){
		.kind = GTU_GEN_UNIFORM, .n = 100000, .degree = 16, .seed = 1, .random_weights = 9 });
	unsigned asked;
	const struct gtu_progress progress = { stop_at_once, &asked };
	struct gtu_algorithm_options opt = { .progress = &progress };

	open_device();
	for (opt.unit = 0; opt.unit < UNITS; opt.unit++) {
		asked = 0;
		all_fail(g, &opt, GTU_ERR_INTERRUPTED, "");
		CHECK_EQ(asked, 4);
	}
}

TEST(invalid_options_are_refused)
{
	const uint64_t src[] = { 0 }, dst[] = { 1 };
	struct gtu_graph *g = from_edges(3, 1, src, dst, GTU_DIRECTED, 4);
	const struct gtu_algorithm_options wrong_source = { .source = 3 }, part = { .end_vertex = 2 };
	const struct gtu_algorithm_options no_bfs[] = {
		{ .source = 3 }, { .unit = UNITS }, { .chunk_log2 = 32 }, { .first_vertex = 2, .end_vertex = 1 }, { .end_vertex = 4 },
	}, no_pagerank[] = { { .damping = 1 }, { .epsilon = NAN } }, no_sssp = { .delta = -1 };
	uint64_t integer[3];
	double real[3];

	open_device();
	for (unsigned i = 0; i < LENGTH(no_bfs); i++)
		FAILS(gtu_bfs(dev, g, &no_bfs[i], integer, NULL, &err), GTU_ERR_USAGE, "");
	for (unsigned i = 0; i < LENGTH(no_pagerank); i++)
		FAILS(gtu_pagerank(dev, g, &no_pagerank[i], real, NULL, &err), GTU_ERR_USAGE, "");
	FAILS(gtu_bfs(NULL, g, &(struct gtu_algorithm_options){ .unit = GTU_WITH_SCU }, integer, NULL, &err), GTU_ERR_USAGE, "");
	FAILS(gtu_sssp(dev, g, &wrong_source, real, NULL, &err), GTU_ERR_USAGE, "");
	FAILS(gtu_sssp(dev, g, &no_sssp, real, NULL, &err), GTU_ERR_USAGE, "");
	FAILS(gtu_components(dev, g, &no_bfs[4], integer, NULL, &err), GTU_ERR_USAGE, "");
	FAILS(gtu_pagerank(dev, g, &part, real, NULL, &err), GTU_ERR_UNSUPPORTED, "");
}

/* Rejected before the graph's arrays are accessed. */
TEST(too_many_vertices_are_refused)
{
	struct gtu_graph g = { .n = (1ull << 32) + 1, .edge_bytes = 8, .name = "vast" };
	struct gtu_algorithm_options opt = { .unit = GTU_WITH_IRU };
	uint64_t integer;

	open_device();
	all_fail(&g, &opt, GTU_ERR_UNSUPPORTED, "4294967297");
	g.edge_bytes = 4;
	for (opt.unit = 0; opt.unit < UNITS; opt.unit++)
		FAILS(gtu_bfs(dev, &g, &opt, &integer, NULL, &err), GTU_ERR_USAGE, "");
}

/*
 * More than 2^32 edges, almost all in pages that are never touched: those of vertex 1, which is
 * outside the vertex range. The others follow them.
 */
TEST(searches_use_edge_indices_above_2_32)
{
	enum { N = 9 };
	const uint64_t behind = (1ull << 32) + 8, m = behind + 2 * (N - 2);
	const uint64_t bytes = m * sizeof(uint32_t);
	uint64_t row[N + 1] = { 0, 0 }, level[N];
	uint32_t *col = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct gtu_graph g = { .n = N, .m = m, .flags = GTU_GRAPH_DIRECTED, .edge_bytes = 4,
			       .row = row, .col = col, .name = "long" };
	struct gtu_algorithm_options opt = { .source = 2, .first_vertex = 2, .end_vertex = N };
	struct gtu_algorithm_stats stats;
	double distance[N];

	if (col == MAP_FAILED)
		SKIP("cannot reserve 16 GiB of address space");
	open_device();
	/* 2 .. N - 1 are a path in both directions; its first vertex also has an edge to 0 */
	row[2] = behind;
	for (uint64_t v = 2; v < N; v++) {
		col[row[v]] = v == 2 ? 0 : (uint32_t)v - 1;
		col[row[v] + 1] = v == N - 1 ? (uint32_t)v : (uint32_t)v + 1;
		row[v + 1] = row[v] + 2;
	}
	for (opt.unit = 0; opt.unit < UNITS; opt.unit++) {
		OK(gtu_bfs(dev, &g, &opt, level, &stats, &err));
		CHECK_EQ(stats.edges, 2 * (N - 2));
		OK(gtu_sssp(dev, &g, &opt, distance, &stats, &err));
		for (uint64_t v = 0; v < N; v++) {
			uint64_t want = v == 0 ? 1 : v == 1 ? GTU_UNREACHED : v - 2;

			CHECK_EQ(level[v], want);
			CHECK(want == GTU_UNREACHED ? isinf(distance[v]) : distance[v] == (double)want);
		}
	}
	munmap(col, bytes);
}

static uint64_t root_of(const uint64_t *parent, uint64_t v)
{
	while (parent[v] != v)
		v = parent[v];
	return v;
}

/* The union of the parts gives the components. */
TEST(a_vertex_range_traverses_only_its_own_edges)
{
	enum { N = 90, M = 110 };
	uint64_t seed = 5, src[M], dst[M], part_src[M], part_dst[M], integer[N], whole[N], united[N];

	open_device();
	for (unsigned e = 0; e < M; e++) {
		src[e] = test_random(&seed) % N;
		dst[e] = test_random(&seed) % N;
	}
	for (unsigned d = GTU_DIRECTED; d <= GTU_UNDIRECTED; d++) {
		struct gtu_graph *g = from_edges(N, M, src, dst, d, 4);

		CHECK(!reference_components(g, whole));
		for (unsigned unit = 0; unit < UNITS; unit++) {
			for (unsigned v = 0; v < N; v++)
				united[v] = v;
			for (unsigned first = 0; first < N; first += 30) {
				struct gtu_algorithm_options opt = {
					.unit = unit, .source = first + 1, .first_vertex = first,
					.end_vertex = first + 30, .chunk_log2 = 3,
				};
				uint64_t m = 0, want[N];
				struct gtu_graph *part;
				double real[N];

				for (uint64_t v = first; v < first + 30; v++)
					for (uint64_t e = g->row[v]; e < g->row[v + 1]; e++) {
						CHECK(m < M);
						part_src[m] = v;
						part_dst[m++] = gtu_graph_target(g, e);
					}
				part = from_edges(N, m, part_src, part_dst, GTU_DIRECTED, 4);
				CHECK(!reference_bfs(part, opt.source, want));
				CHECK(!gtu_bfs(dev, g, &opt, integer, NULL, &err));
				same_integers(integer, want, N, run_name("part of bfs", &opt));
				CHECK(!gtu_sssp(dev, g, &opt, real, NULL, &err));
				for (unsigned v = 0; v < N; v++)
					CHECK(want[v] == GTU_UNREACHED ? isinf(real[v]) :
									 real[v] == (double)want[v]);
				CHECK(!reference_components(part, want));
				CHECK(!gtu_components(dev, g, &opt, integer, NULL, &err));
				same_integers(integer, want, N, run_name("part of components", &opt));
				for (unsigned v = 0; v < N; v++) {
					uint64_t a = root_of(united, v), b = root_of(united, integer[v]);

					united[a < b ? b : a] = a < b ? a : b;
				}
			}
			for (unsigned v = 0; v < N; v++)
				CHECK_EQ(root_of(united, v), whole[v]);
		}
	}
}

/* The enhanced unit and the IRU reduce the work of the CPU without changing the result. */
TEST(units_reduce_cpu_work)
{
	struct gtu_graph *g = generate((struct gtu_generate_options){
		.kind = GTU_GEN_KRONECKER, .scale = 12, .degree = 16, .seed = 9, .random_weights = 20 });
	struct gtu_algorithm_options opt = { .source = 1 };
	struct gtu_algorithm_stats stats;
	uint64_t counter[GTU_UREG_COUNTERS], *integer = test_alloc(g->n, 8);
	double *real = test_alloc(g->n, 8);

	open_device();
	opt.unit = GTU_WITH_SCU;
	CHECK(!gtu_counters(dev, GTU_UNIT_SCU, true, counter, &err));
	CHECK(!gtu_bfs(dev, g, &opt, integer, &stats, &err));
	CHECK(!gtu_counters(dev, GTU_UNIT_SCU, true, counter, &err));
	CHECK_EQ(counter[GTU_SCU_C_JOBS], stats.jobs);
	CHECK_EQ(counter[GTU_SCU_C_CYCLES], stats.job_cycles);
	/* every reached vertex passes expansion once: the other edges are filtered out */
	CHECK(counter[GTU_SCU_C_DROPPED] >= stats.edges - stats.vertices - 1);
	CHECK_EQ(counter[GTU_SCU_C_GROUPS], 0);
	CHECK(!gtu_sssp(dev, g, &opt, real, &stats, &err));
	CHECK(!gtu_counters(dev, GTU_UNIT_SCU, true, counter, &err));
	CHECK(counter[GTU_SCU_C_DROPPED] > stats.edges / 2);
	CHECK(counter[GTU_SCU_C_GROUPED] > counter[GTU_SCU_C_GROUPS]);
	opt.unit = GTU_WITH_SCU_BASIC;
	CHECK(!gtu_sssp(dev, g, &opt, real, &stats, &err));
	CHECK(!gtu_counters(dev, GTU_UNIT_SCU, true, counter, &err));
	CHECK_EQ(counter[GTU_SCU_C_PROBES], 0);
	CHECK_EQ(counter[GTU_SCU_C_GROUPS], 0);
	opt.unit = GTU_WITH_IRU;
	CHECK(!gtu_counters(dev, GTU_UNIT_IRU, true, counter, &err));
	CHECK(!gtu_components(dev, g, &opt, integer, &stats, &err));
	CHECK(!gtu_counters(dev, GTU_UNIT_IRU, true, counter, &err));
	CHECK_EQ(counter[GTU_IRU_C_IN], stats.edges);
	CHECK(counter[GTU_IRU_C_MERGED] > 0);
	CHECK_EQ(counter[GTU_IRU_C_JOBS], stats.jobs);
}

TEST_MAIN
