// SPDX-License-Identifier: MIT
/*
 * A real GPU compared with the reference code: every algorithm with every kernel, with edges in
 * every kind of memory, with 4 and 8 bytes and compressed, with and without a cache. Skips with the
 * reason if there is no GPU. test_gpu_cpu.c is the same with the kernels as CPU code and smaller
 * graphs.
 */
#include <pthread.h>
#include <unistd.h>

#include "gtu/gpu.h"
#include "gpu_algorithms.h"
#include "tests/fake/built.h"

/*
 * On a CPU the full set takes minutes: each graph uses a half of the placements in rotation, and a
 * twelfth under the sanitizers, which instrument the library but not the kernels.
 */
#if defined(ON_CPU) && defined(__SANITIZE_ADDRESS__)
#define SPARSE 12u
#elif defined(ON_CPU)
#define SPARSE 2u
#else
#define SPARSE 1u
#endif

#ifdef ON_CPU
#define SIMULATED true
#define SMALLER 6u			/* reduction of scales; counts are a tenth */
#define FEWER 10u
#define VISITS (3 * SPARSE)		/* one placement of this many is tested with the algorithms over visit.cuh */
#define PAPERS 3u			/* placements tested with the paper's kernels */
#define PATH 12u

static void choose_driver(void)
{
	setenv("GTU_CUDA_LIBRARY", simulated_gpu(), 1);
}

/* The simulated card has every kind of memory. */
static bool lacks(uint32_t edges)
{
	(void)edges;
	return false;
}
#else
#define SIMULATED false
#define SMALLER 0u
#define FEWER 1u
#define VISITS 1u
#define PAPERS PLACINGS
#define PATH 500u

static void choose_driver(void)
{
}

/* Whether the card has no memory of kind @edges, by its attributes. */
static bool lacks(uint32_t edges)
{
	const struct gtu_gpu_info *i = gtu_get_gpu_info(dev);

	return edges == GTU_EDGES_MANAGED || edges == GTU_EDGES_UVM ? !i->managed :
	       edges == GTU_EDGES_REGISTERED || edges == GTU_EDGES_APERTURE ? !i->registered : false;
}
#endif

static struct gtu_device *board;	/* host memory in place of a board's aperture */

static void open_gpu(void)
{
	if (dev)
		return;
	choose_driver();
	if (!SIMULATED && gtu_gpu_count(&err) < 0)
		SKIP("%s", err.text);
	CHECKF(gtu_gpu_count(&err) >= 0, "%s", err.text);
	OK(gtu_open("cuda:0", &dev, &err));
	OK(gtu_open("model:aperture_bytes=4294967296", &board, &err));
}

/* For tests that spend their time in kernels. */
static void open_for_kernels(void)
{
	if (SPARSE > 2)
		SKIP("runs without the sanitizers only: they do not instrument the kernels");
	open_gpu();
}

#define ITERATIONS	10		/* of PageRank: enough to divide lists on the card into blocks of edges */

struct placing {
	const char *name;
	struct gtu_placement_options place;
};

static const struct placing placings[] = {
	{ "auto", { 0 } },
	{ "device, 8", { .edges = GTU_EDGES_DEVICE, .edge_bytes = 8 } },
	{ "managed", { .edges = GTU_EDGES_MANAGED } },
	{ "managed, 8, separate weights", { .edges = GTU_EDGES_MANAGED, .edge_bytes = 8, .separate_weights = 1 } },
	{ "managed, separate weights", { .edges = GTU_EDGES_MANAGED, .separate_weights = 1 } },
	{ "managed, little cache", { .edges = GTU_EDGES_MANAGED, .gpu_memory = 40000 } },
	{ "managed, cache", { .edges = GTU_EDGES_MANAGED, .gpu_memory = 1 << 20 } },
	{ "pinned, 8, cache", { .edges = GTU_EDGES_PINNED, .edge_bytes = 8, .gpu_memory = 300000 } },
	{ "pinned, cache, separate weights", { .edges = GTU_EDGES_PINNED, .gpu_memory = 300000, .separate_weights = 1 } },
	{ "pinned", { .edges = GTU_EDGES_PINNED } },
	{ "pinned, 4", { .edges = GTU_EDGES_PINNED, .edge_bytes = 4, .gpu_memory = 30000 } },
	{ "pinned, neighbours of some", { .edges = GTU_EDGES_PINNED, .gpu_memory = 600 } },
	{ "registered", { .edges = GTU_EDGES_REGISTERED } },
	{ "uvm", { .edges = GTU_EDGES_UVM } },
	{ "aperture", { .edges = GTU_EDGES_APERTURE } },
	{ "aperture, 8, cache, separate weights", { .edges = GTU_EDGES_APERTURE, .edge_bytes = 8, .gpu_memory = 300000, .separate_weights = 1 } },
	{ "compressed, managed", { .edges = GTU_EDGES_MANAGED, .compressed = 1 } },
	{ "compressed, separate weights", { .edges = GTU_EDGES_PINNED, .compressed = 1, .separate_weights = 1, .gpu_memory = 3000 } },
	{ "compressed, cache", { .edges = GTU_EDGES_PINNED, .compressed = 1, .gpu_memory = 1 << 20 } },
	{ "compressed, aperture", { .edges = GTU_EDGES_APERTURE, .compressed = 1 } },
	{ "transposed", { .transpose = 1 } },
	{ "transposed, pinned, cache", { .edges = GTU_EDGES_PINNED, .gpu_memory = 20000, .transpose = 1 } },
	{ "transposed, 8", { .edges = GTU_EDGES_MANAGED, .edge_bytes = 8, .transpose = 1 } },
	{ "transposed, registered", { .edges = GTU_EDGES_REGISTERED, .transpose = 1 } },
	{ "transposed, compressed, cache", { .edges = GTU_EDGES_PINNED, .compressed = 1, .gpu_memory = 1 << 20, .transpose = 1 } },
	{ "compressed, device", { .edges = GTU_EDGES_DEVICE, .compressed = 1 } },
};
#define PLACINGS (LENGTH(placings))

/* Relative error of a rank: where the list is on the card, contributions have 32 bits. */
#define RANK_ERROR 1e-8

static void check_values(const void *got, const void *want, uint64_t n, bool rank, const char *what,
			 const char *placing, uint32_t kernel)
{
	const uint64_t *a = got, *b = want;
	const double *x = got, *y = want;

	for (uint64_t v = 0; v < n; v++)
		CHECKF(rank ? fabs(x[v] - y[v]) <= RANK_ERROR * y[v] : a[v] == b[v],
		       "%s, edges %s, kernel %s: vertex %llu has %llu (%g), not %llu (%g)", what, placing,
		       gtu_kernel_name(kernel), (unsigned long long)v, (unsigned long long)a[v], x[v],
		       (unsigned long long)b[v], y[v]);
}

/* The other algorithms, compared with the results of the plain path, which were computed before. */
static void check_visits(const struct gtu_graph *g, uint64_t source, uint64_t *const want[], uint64_t *got, const char *name)
{
	for (unsigned i = GPU_FIRST_VISIT; i < GPU_ALGORITHMS; i++) {
		const struct gpu_algorithm *a = &gpu_algorithms[i];

		CHECKF(!gpu_algorithm_run(a, dev, g, GTU_WITH_GPU, GTU_KERNEL_AUTO, source, got, NULL), "%s: %s: %s", name, a->name,
		       err.text);
		gpu_algorithm_check(a, g, got, want[i], name);
	}
}

/*
 * Four algorithms, also with the paper's kernels and on vertex ranges, and the others, compared with the
 * results of the CPU.
 */
static void check_graph(const struct gtu_graph *g, uint64_t source)
{
	uint64_t *got = test_alloc(g->n, 8 * TEST_FEATURES), *visit[GPU_ALGORITHMS], *bfs = test_alloc(g->n, 8), *cc = test_alloc(g->n, 8);
	double *sssp = test_alloc(g->n, 8), *pr = test_alloc(g->n, 8), change;
	uint64_t *part_bfs = test_alloc(g->n, 8), *part_cc = test_alloc(g->n, 8), *none_bfs = test_alloc(g->n, 8),
		 *none_cc = test_alloc(g->n, 8);
	struct gtu_algorithm_options part = { .source = source, .first_vertex = g->n / 4, .end_vertex = g->n };
	/* at the end, and between two words of a bitmap */
	struct gtu_algorithm_options none[] = {
		{ .source = source, .first_vertex = g->n, .end_vertex = g->n },
		{ .source = source, .first_vertex = (g->n + 1) / 2, .end_vertex = (g->n + 1) / 2 },
	};
	struct gtu_algorithm_stats stats;
	static unsigned graph;

	graph++;
	open_gpu();
	CHECK(!reference_bfs(g, source, bfs) && !reference_sssp(g, source, sssp) && !reference_components(g, cc));
	CHECK(!reference_pagerank(g, 0.85, ITERATIONS, pr, &change));
	CHECK(!gtu_bfs(NULL, g, &part, part_bfs, NULL, &err) && !gtu_components(NULL, g, &part, part_cc, NULL, &err));
	CHECK(!gtu_bfs(NULL, g, &none[0], none_bfs, NULL, &err) && !gtu_components(NULL, g, &none[0], none_cc, NULL, &err));
	part.unit = none[0].unit = none[1].unit = GTU_WITH_GPU;
	for (unsigned i = GPU_FIRST_VISIT; i < GPU_ALGORITHMS; i++) {
		visit[i] = test_alloc(g->n, 8 * TEST_FEATURES);
		CHECKF(!gpu_algorithm_run(&gpu_algorithms[i], NULL, g, GTU_WITH_NONE, 0, source, visit[i], NULL), "%s: %s",
		       gpu_algorithms[i].name, err.text);
	}
	for (unsigned p = 0; p < PLACINGS; p++) {
		struct gtu_placement_options place = placings[p].place;
		const char *name = placings[p].name;
		int rc;

		if ((p + graph) % SPARSE)
			continue;
		place.board = place.edges == GTU_EDGES_APERTURE ? board : NULL;
		rc = gtu_placement_create(dev, g, &place, &err);
		if (rc == GTU_ERR_UNSUPPORTED && lacks(place.edges))
			continue;
		CHECKF(!rc, "placing %s: %s", name, err.text);
		if (placings[p].place.compressed) {
			part.kernel = GTU_KERNEL_MERGED;
			CHECK(gtu_bfs(dev, g, &part, got, &stats, &err) == GTU_ERR_UNSUPPORTED);
			CHECKF(strstr(err.text, "merged") && strstr(err.text, "compressed"), "%s", err.text);
		}
		for (uint32_t k = 0; k < (placings[p].place.compressed || p >= PAPERS ? 1 : GTU_KERNELS); k++) {
			struct gtu_algorithm_options opt = { .unit = GTU_WITH_GPU, .kernel = k, .source = source,
							     .iterations = ITERATIONS };

			CHECKF(!gtu_bfs(dev, g, &opt, got, &stats, &err), "%s: bfs: %s", name, err.text);
			check_values(got, bfs, g->n, false, "bfs", name, k);
			CHECKF(!gtu_sssp(dev, g, &opt, (double *)got, &stats, &err), "%s: sssp: %s", name, err.text);
			check_values(got, sssp, g->n, false, "sssp", name, k);
			CHECKF(!gtu_components(dev, g, &opt, got, &stats, &err), "%s: cc: %s", name, err.text);
			check_values(got, cc, g->n, false, "cc", name, k);
			CHECKF(!gtu_pagerank(dev, g, &opt, (double *)got, &stats, &err), "%s: pr: %s", name, err.text);
			check_values(got, pr, g->n, true, "pr", name, k);
			part.kernel = k;
			CHECKF(!gtu_bfs(dev, g, &part, got, &stats, &err), "%s: part: %s", name, err.text);
			check_values(got, part_bfs, g->n, false, "bfs of a part", name, k);
			CHECKF(!gtu_components(dev, g, &part, got, &stats, &err), "%s: part: %s", name, err.text);
			check_values(got, part_cc, g->n, false, "cc of a part", name, k);
			for (unsigned i = 0; i < LENGTH(none); i++) {
				none[i].kernel = k;
				CHECKF(!gtu_bfs(dev, g, &none[i], got, &stats, &err), "%s: none: %s", name, err.text);
				check_values(got, none_bfs, g->n, false, "bfs of no lists", name, k);
				CHECKF(!gtu_components(dev, g, &none[i], got, &stats, &err), "%s: none: %s", name, err.text);
				check_values(got, none_cc, g->n, false, "cc of no lists", name, k);
			}
		}
		if ((p + graph) % VISITS == 0)
			check_visits(g, source, visit, got, name);
		gtu_placement_destroy(dev);
	}
}

static void check_generated(uint32_t kind, uint32_t scale, uint32_t directed, uint32_t weights)
{
	struct gtu_graph *g;

	open_gpu();
	scale -= SMALLER;
	g = generate((struct gtu_generate_options){ .kind = kind, .scale = scale, .n = 1ull << scale, .seed = scale + 1,
						    .directed = directed, .random_weights = weights });
	check_graph(g, busiest(g));
}

TEST(results_on_a_kronecker_graph_match_the_reference) { check_generated(GTU_GEN_KRONECKER, 14, 0, 0); }
TEST(results_on_a_weighted_kronecker_graph_match_the_reference) { check_generated(GTU_GEN_KRONECKER, 13, 0, 200); }
TEST(results_on_a_directed_kronecker_graph_match_the_reference) { check_generated(GTU_GEN_KRONECKER, 12, 1, 9); }
TEST(results_on_a_uniform_graph_match_the_reference) { check_generated(GTU_GEN_UNIFORM, 13, 0, 64); }
TEST(results_on_a_directed_uniform_graph_match_the_reference) { check_generated(GTU_GEN_UNIFORM, 12, 1, 0); }
TEST(results_on_a_powerlaw_graph_match_the_reference) { check_generated(GTU_GEN_POWERLAW, 13, 0, 0xfffffff); }
TEST(results_on_a_road_graph_match_the_reference) { check_generated(GTU_GEN_ROAD, 12, 0, 0); }

/*
 * Random edges over few vertices with one weight type: many duplicates, self-loops, and vertices
 * without edges.
 */
static void check_random(uint64_t n, uint64_t m, uint32_t weight_type, uint32_t direction, uint32_t edge_bytes)
{
	uint64_t state = n * 77 + m, i;
	uint32_t *u32;
	float *f32;
	double *f64;
	struct edges e;
	struct gtu_graph *g;

	open_gpu();
	n = (n + FEWER - 1) / FEWER;
	m /= FEWER;
	e = edges(n, m);
	u32 = test_alloc(m, 8);
	f32 = (float *)u32;
	f64 = (double *)u32;
	for (i = 0; i < m; i++) {
		const uint64_t from = test_random(&state) % n;

		add_edge(&e, from, test_random(&state) % (n / 2 + 1));
		if (weight_type == GTU_WEIGHT_U32)
			u32[i] = test_random(&state) % 5 ? (uint32_t)(test_random(&state) % 1000) : 0;
		else if (weight_type == GTU_WEIGHT_F32)
			f32[i] = (float)(test_random(&state) % 100000) * 1e-3f;
		else if (weight_type == GTU_WEIGHT_F64)
			f64[i] = (double)(test_random(&state) % 100000) * 1e-5;
	}
	g = weighted_edges(n, m, e.src, e.dst, weight_type, weight_type ? u32 : NULL, direction, edge_bytes);
	check_graph(g, busiest(g));
}

TEST(results_with_u32_weights_match_the_reference) { check_random(3000, 20000, GTU_WEIGHT_U32, GTU_UNDIRECTED, 4); }
TEST(results_with_f32_weights_match_the_reference) { check_random(2000, 9000, GTU_WEIGHT_F32, GTU_UNDIRECTED, 4); }
TEST(results_with_f64_weights_match_the_reference) { check_random(2000, 9000, GTU_WEIGHT_F64, GTU_DIRECTED, 8); }
TEST(results_with_8_byte_edges_match_the_reference) { check_random(1500, 30000, GTU_WEIGHT_U32, GTU_DIRECTED, 8); }
TEST(results_on_a_sparse_graph_match_the_reference) { check_random(5000, 2500, GTU_WEIGHT_NONE, GTU_UNDIRECTED, 4); }
TEST(results_on_one_vertex_match_the_reference) { check_random(1, 3, GTU_WEIGHT_U32, GTU_UNDIRECTED, 4); }
TEST(results_without_edges_match_the_reference) { check_random(40, 0, GTU_WEIGHT_NONE, GTU_UNDIRECTED, 4); }

/*
 * Shortest paths in buckets of final distances: lists that end loops on the GPU, so that buckets are pushed and pulled, and
 * vertices with short lists, which are pulled by lanes, or read together over the link.
 */
TEST(buckets_of_final_distances_match_the_reference)
{
	static const struct gtu_placement_options place[] = {
		{ .edges = GTU_EDGES_DEVICE }, { .edges = GTU_EDGES_DEVICE, .edge_bytes = 8 },
		{ .edges = GTU_EDGES_DEVICE, .separate_weights = 1 }, { .edges = GTU_EDGES_PINNED },
		{ .edges = GTU_EDGES_PINNED, .edge_bytes = 8, .gpu_memory = 4096 },
		{ .edges = GTU_EDGES_PINNED, .separate_weights = 1 }, { .edges = GTU_EDGES_MANAGED },
	};
	const uint64_t n = 500, dense = 300, m = 60000;
	uint64_t state = 11, i, k, *weight = test_alloc(m, 8), *want = test_alloc(n, 8), *got = test_alloc(n, 8);
	struct edges e = edges(n, m);

	open_gpu();
	for (i = 0; i < m; i++) {
		const uint64_t from = test_random(&state) % (i < 600 ? n : dense);

		add_edge(&e, from, test_random(&state) % dense);
		((uint32_t *)weight)[i] = (uint32_t)(8 + test_random(&state) % 65);
	}
	for (k = 0; k < 3; k++) {
		struct gtu_algorithm_options opt = { .unit = GTU_WITH_GPU, .source = 1 };
		struct gtu_graph *g;

		/* distances above a bucket are numbers of one byte, then of two */
		for (i = 0; i < m && k == 2; i++)
			((uint32_t *)weight)[i] = (uint32_t)(300 + test_random(&state) % 700);
		g = weighted_edges(n, m, e.src, e.dst, GTU_WEIGHT_U32, weight, k == 1 ? GTU_DIRECTED : GTU_UNDIRECTED, 4);
		CHECK(!reference_sssp(g, opt.source, (double *)want));
		for (i = 0; i < LENGTH(place); i++) {
			struct gtu_algorithm_stats stats;

			OK(gtu_placement_create(dev, g, &place[i], &err));
			OK(gtu_sssp(dev, g, &opt, (double *)got, &stats, &err));
			check_values(got, want, n, false, "sssp", k == 1 ? "directed" : "undirected", 0);
			CHECK(stats.iterations > 1);
		}
		gtu_placement_destroy(dev);
	}
}

/*
 * Weights with which the longest path would need more than 32 bits: distances have 32 where the shortest paths are short, and
 * a search that meets longer ones starts again with 64.
 */
TEST(long_paths_restart_a_search_with_64_bits)
{
	static const struct gtu_placement_options place[] = {
		{ .edges = GTU_EDGES_DEVICE }, { .edges = GTU_EDGES_PINNED, .compressed = 1 },
	};
	const uint64_t n = 140, short_edges = 700;
	struct gtu_algorithm_options opt = { .unit = GTU_WITH_GPU };
	uint64_t *got = test_alloc(n, 8), *want = test_alloc(n, 8), seed = 3;
	uint32_t *weight = test_alloc(short_edges, 4);

	open_gpu();
	for (unsigned is_path = 0; is_path < 2; is_path++) {
		struct edges e = edges(n, short_edges);
		struct gtu_graph *g;

		for (uint64_t i = 0; i < (is_path ? n - 1 : short_edges); i++)
			add_edge(&e, is_path ? i : test_random(&seed) % n, is_path ? i + 1 : test_random(&seed) % n);
		for (uint64_t i = 0; i < e.m; i++)
			weight[i] = (uint32_t)(33000000 - test_random(&seed) % 1000);
		g = weighted_edges(n, e.m, e.src, e.dst, GTU_WEIGHT_U32, weight, GTU_UNDIRECTED, 4);
		CHECK(!reference_sssp(g, 0, (double *)want));
		for (unsigned i = 0; i < LENGTH(place); i++) {
			OK(gtu_placement_create(dev, g, &place[i], &err));
			/* the second search knows; before the third one, in buckets of the caller's width, it is forgotten */
			for (unsigned k = 0; k < 3; k++) {
				struct gtu_algorithm_stats stats;

				opt.delta = k == 2 ? 33000000 : 0;
				if (k == 2)
					OK(gtu_placement_create(dev, g, &place[i], &err));
				OK(gtu_sssp(dev, g, &opt, (double *)got, &stats, &err));
				check_values(got, want, n, false, "sssp", is_path ? "path" : "short", 0);
				CHECKF(!is_path || k == 1 || stats.iterations > n, "a search that starts again: %llu steps",
				       (unsigned long long)stats.iterations);
				CHECK(!is_path || k != 1 || stats.iterations < 3 * n / 2);
			}
		}
		gtu_placement_destroy(dev);
	}
}

/* A hub whose list takes many work items, and a path as deep as the graph is long. */
TEST(results_on_a_star_and_path_match_the_reference)
{
	uint64_t n = 9000 / FEWER, hub = n - PATH;
	struct edges e = edges(n, n);
	struct gtu_graph *g;

	open_gpu();
	while (e.m < n - 1)
		add_edge(&e, e.m < hub ? 17 : e.m, e.m < hub ? e.m : e.m + 1);
	g = from_edges(n, e.m, e.src, e.dst, GTU_UNDIRECTED, 4);
	if (FEWER == 1)
		check_graph(g, 17);
	check_graph(g, n - 2);
}

TEST(every_link_rate_is_measured)
{
	double rate[GTU_LINK_ACCESSES];
	uint32_t kind, a;

	open_gpu();
#ifdef ON_CPU
	SKIP("link rates cannot be measured on a CPU");
#endif
	for (kind = GTU_EDGES_MANAGED; kind < GTU_EDGES_UVM; kind++) {
		int rc = gtu_link_measure(dev, kind, 16 << 20, 1, rate, &err);

		if (rc == GTU_ERR_UNSUPPORTED && lacks(kind))
			continue;
		CHECKF(!rc, "%s: %s", gtu_edges_name(kind), err.text);
		for (a = kind == GTU_EDGES_DEVICE; a < GTU_LINK_ACCESSES; a++)
			CHECKF(rate[a] > 0, "%s %s", gtu_edges_name(kind), gtu_link_access_name(a));
	}
	CHECK_EQ(gtu_link_measure(dev, GTU_EDGES_UVM, 16 << 20, 1, rate, &err), GTU_ERR_USAGE);
	CHECK_EQ(gtu_link_measure(dev, GTU_EDGES_PINNED, 16, 1, rate, &err), GTU_ERR_USAGE);
}

/*
 * More than 2^32 edges in a few very long lists, which are built in seconds; needs at least 18 GB.
 */
static void check_long(uint32_t compressed)
{
	uint64_t n = 1 << 16, degree = (1ull << 32) / n + 8, m = n * degree, v, e, *row;
	struct gtu_graph g = { .n = n, .m = m, .flags = GTU_GRAPH_DIRECTED | GTU_GRAPH_CHECKED, .edge_bytes = 4 };
	struct gtu_algorithm_options opt = { .unit = GTU_WITH_GPU, .source = 0 };
	struct gtu_placement_options place = { .edges = GTU_EDGES_PINNED, .compressed = compressed };
	struct gtu_algorithm_stats stats;
	uint64_t *level, last;
	uint32_t *col;

	if (!getenv("GTU_TEST_LARGE"))
		SKIP("needs 36 GB of memory: set GTU_TEST_LARGE=1 to run it");
	open_gpu();
	row = malloc(8 * (n + 1));
	col = malloc(4 * m);
	level = malloc(8 * n);
	CHECK(row && col && level);
	for (v = 0; v <= n; v++)
		row[v] = v * degree;
	/*
	 * all edges are self-loops except the last of each list, which has the next vertex as
	 * target
	 */
	for (v = 0; v < n; v++)
		for (e = row[v]; e < row[v + 1]; e++)
			col[e] = (uint32_t)(e + 1 < row[v + 1] || v % 64 == 63 ? v : v + 1);
	g.row = row;
	g.col = col;
	OK(gtu_placement_create(dev, &g, &place, &err));
	for (last = n / 64, v = 0; v < 2; v++) {
		opt.source = v ? (last - 1) * 64 : 0;
		OK(gtu_bfs(dev, &g, &opt, level, &stats, &err));
		for (e = 0; e < n; e++)
			CHECK(level[e] == (e / 64 == opt.source / 64 ? e % 64 : GTU_UNREACHED));
	}
	gtu_placement_destroy(dev);
	free(row), free(col), free(level);
}

TEST(long_offsets_give_the_expected_levels) { check_long(0); }
TEST(long_offsets_of_compressed_lists_give_the_expected_levels) { check_long(1); }

/*
 * A graph from a compressed container stays compressed, unless it goes to GPU memory or a width is
 * requested.
 */
TEST(a_compressed_container_stays_compressed)
{
	struct gtu_placement_options place = { .edges = GTU_EDGES_PINNED };
	struct gtu_algorithm_options opt = { .unit = GTU_WITH_GPU };
	struct gtu_graph *made, *g;
	uint64_t *level, *want;
	char path[400];

	open_gpu();
	made = generate((struct gtu_generate_options){ .kind = GTU_GEN_KRONECKER, .scale = 8, .seed = 9, .random_weights = 100 });
	snprintf(path, sizeof(path), "%s/g.gtu", test_tmpdir());
	OK(gtu_graph_save_compressed(made, path, NULL, &err));
	g = open_graph(path, NULL);
	level = test_alloc(2 * g->n, 8);
	want = level + g->n;
	opt.source = busiest(g);
	CHECK(!reference_bfs(made, opt.source, want));
	CHECK(!gtu_placement_create(dev, g, &place, &err) && !gtu_get_placement(dev)->edge_bytes);
	CHECK(gtu_get_placement(dev)->packed && gtu_get_placement(dev)->list_bytes < 4 * g->m);
	CHECK(!gtu_bfs(dev, g, &opt, level, NULL, &err) && !memcmp(level, want, 8 * g->n));
	place.edge_bytes = 4;
	CHECK(!gtu_placement_create(dev, g, &place, &err) && gtu_get_placement(dev)->edge_bytes == 4);
	CHECK(!gtu_placement_create(dev, g, NULL, &err) && gtu_get_placement(dev)->edge_bytes == 4);
	CHECK(gtu_get_placement(dev)->edges == GTU_EDGES_DEVICE);
	place.compressed = 1;
	CHECK(gtu_placement_create(dev, g, &place, &err) == GTU_ERR_USAGE);
	place = (struct gtu_placement_options){ .edges = GTU_EDGES_REGISTERED, .compressed = 1 };
	CHECK(gtu_placement_create(dev, g, &place, &err) == GTU_ERR_USAGE);
}

TEST(negative_weights_fail_shortest_paths_only)
{
	float weight[] = { 2, -5.5f, 1, -1 };
	struct edges e = edges(5, 4);
	struct gtu_algorithm_options opt = { .unit = GTU_WITH_GPU, .iterations = 7 };
	struct gtu_graph *g;
	uint64_t got[5], want[5];
	double rank[5], ranks[5], change;

	open_gpu();
	for (uint64_t v = 0; v < 4; v++)
		add_edge(&e, v, v + 1);
	g = weighted_edges(5, 4, e.src, e.dst, GTU_WEIGHT_F32, weight, GTU_DIRECTED, 4);
	CHECK(!reference_bfs(g, 0, want) && !gtu_bfs(dev, g, &opt, got, NULL, &err));
	check_values(got, want, g->n, false, "bfs", "auto", 0);
	CHECK(!reference_components(g, want) && !gtu_components(dev, g, &opt, got, NULL, &err));
	check_values(got, want, g->n, false, "cc", "auto", 0);
	CHECK(!reference_pagerank(g, 0.85, 7, ranks, &change) && !gtu_pagerank(dev, g, &opt, rank, NULL, &err));
	check_values(rank, ranks, g->n, true, "pr", "auto", 0);
	FAILS(gtu_sssp(dev, g, &opt, rank, NULL, &err), GTU_ERR_INPUT, "the weight of edge 1 is -5.5: weights must be 0 or more");
}

/* A path with @hubs, 40 vertices apart. Each has @tails: other paths of @length vertices. */
static void search_hubs(uint64_t hubs, uint64_t tails, uint64_t length)
{
	const uint64_t apart = 40, path = (hubs + 1) * apart, n = path + 1 + hubs * tails * length;
	struct gtu_algorithm_options opt = { .unit = GTU_WITH_GPU };
	struct edges e = edges(n, n);
	uint32_t *weight = test_alloc(n, 4);
	uint64_t *got = test_alloc(n, 8), *want = test_alloc(n, 8), v, at;
	struct gtu_graph *g;

	open_gpu();
	for (v = 0; v < path; v++)
		add_edge(&e, v, v + 1);
	for (v = path + 1; v < n; v++) {
		at = v - path - 1;
		add_edge(&e, at % (tails * length) < tails ? (at / (tails * length) + 1) * apart : v - tails, v);
	}
	for (v = 0; v < e.m; v++)
		weight[v] = 1 + (uint32_t)(v * 7 % 50);
	g = weighted_edges(n, e.m, e.src, e.dst, GTU_WEIGHT_U32, weight, GTU_UNDIRECTED, 4);
	CHECK(!reference_bfs(g, 0, want) && !gtu_bfs(dev, g, &opt, got, NULL, &err));
	check_values(got, want, n, false, "bfs", "auto", 0);
	CHECK(!reference_sssp(g, 0, (double *)want) && !gtu_sssp(dev, g, &opt, (double *)got, NULL, &err));
	check_values(got, want, n, false, "sssp", "auto", 0);
}

/* Levels and steps that stay on the GPU end at a hub, whose list is too long for them, and go on after it. */
TEST(searches_continue_after_a_hub_on_a_path)
{
	search_hubs(1, 70000, 1);
}

/* One block finds a frontier that all blocks share from then on; and again, while it still has the paths of the first hub. */
TEST(searches_continue_after_hubs_of_many_paths)
{
	search_hubs(2, 600, 50);
}

/* More rounds of peeling, and more levels forth and back, than one launch takes; a clique takes colors of several windows. */
TEST(many_rounds_and_levels_match_the_cpu)
{
	const uint64_t path = 8300, clique = 300, n = path + clique;
	const uint64_t source = path / 2;
	struct gtu_algorithm_options opt = { .unit = GTU_WITH_NONE, .sources = &source, .source_count = 1 };
	struct edges e = edges(n, path + clique * clique);
	uint64_t *got = test_alloc(n, 8), *want = test_alloc(n, 8);
	struct gtu_graph *g;

	open_for_kernels();
	for (uint64_t v = 0; v + 1 < path; v++)
		add_edge(&e, v, v + 1);
	for (uint64_t u = path; u < n; u++)
		for (uint64_t v = path; v < u; v++)
			add_edge(&e, u, v);
	g = from_edges(n, e.m, e.src, e.dst, GTU_UNDIRECTED, 4);
	OK(gtu_cores(NULL, g, &opt, want, NULL, &err));
	opt.unit = GTU_WITH_GPU;
	OK(gtu_cores(dev, g, &opt, got, NULL, &err));
	check_values(got, want, n, false, "cores", "auto", 0);
	opt.unit = GTU_WITH_NONE;
	OK(gtu_betweenness(NULL, g, &opt, (double *)want, NULL, &err));
	opt.unit = GTU_WITH_GPU;
	OK(gtu_betweenness(dev, g, &opt, (double *)got, NULL, &err));
	check_values(got, want, n, true, "betweenness", "auto", 0);
	opt.unit = GTU_WITH_NONE;
	OK(gtu_coloring(NULL, g, &opt, (uint32_t *)want, NULL, &err));
	opt.unit = GTU_WITH_GPU;
	OK(gtu_coloring(dev, g, &opt, (uint32_t *)got, NULL, &err));
	CHECK(!memcmp(got, want, 4 * n));
}

/* Betweenness where numbers of shortest paths exceed a double, and where they do not quite. */
TEST(betweenness_of_many_paths_matches_the_reference)
{
	struct gtu_algorithm_options opt = { .sources = (uint64_t[]){ 0, 5 }, .source_count = 2, .unit = GTU_WITH_GPU };

	/* 4^512 paths overflow at the last level, from which no edge leads on */
	static const struct many {
		uint64_t levels, copies;
		uint32_t direction;
		struct gtu_placement_options place;
	} many[] = {
		{ 490, 1, GTU_UNDIRECTED, { .edges = GTU_EDGES_DEVICE } },
		{ 513, 1, GTU_DIRECTED, { .edges = GTU_EDGES_DEVICE } },
		{ 270, 5, GTU_UNDIRECTED, { .edges = GTU_EDGES_PINNED, .edge_bytes = 8 } },
		{ 270, 5, GTU_DIRECTED, { .edges = GTU_EDGES_PINNED, .compressed = 1 } },
	};

	open_for_kernels();
	for (unsigned i = 0; i < LENGTH(many); i++) {
		const struct edges of = ladder(many[i].levels);
		struct edges e = edges(of.n, many[i].copies * of.m);
		double *got = test_alloc(e.n, 8), *want = test_alloc(e.n, 8);
		struct gtu_graph *g;

		for (uint64_t k = 0; k < many[i].copies * of.m; k++)
			add_edge(&e, of.src[k % of.m], of.dst[k % of.m]);
		g = from_edges(e.n, e.m, e.src, e.dst, many[i].direction, 4);
		OK(gtu_placement_create(dev, g, &many[i].place, &err));
		CHECK(!reference_betweenness(g, opt.sources, opt.source_count, want));
		OK(gtu_betweenness(dev, g, &opt, got, NULL, &err));
		same_reals(got, want, e.n, 1e-9, "betweenness");
	}
}

/* With its transposed lists, a directed graph is searched in both directions; a part of it only along its edges. */
TEST(transposed_lists_let_directed_searches_pull)
{
	struct gtu_placement_options place = { .edges = GTU_EDGES_PINNED };
	struct gtu_graph *g;
	uint64_t *got, *want, bytes[2];
	double change;

	open_gpu();
	g = generate((struct gtu_generate_options){ .kind = GTU_GEN_KRONECKER, .scale = 9, .degree = 32, .seed = 2, .directed = 1 });
	got = test_alloc(2 * g->n, 8);
	want = got + g->n;
	for (place.transpose = 0; place.transpose < 2; place.transpose++) {
		struct gtu_algorithm_options opt = { .unit = GTU_WITH_GPU, .source = busiest(g), .iterations = 5 };
		struct gtu_algorithm_stats stats;

		OK(gtu_placement_create(dev, g, &place, &err));
		CHECK_EQ(gtu_get_placement(dev)->transposed_bytes, place.transpose * 4 * g->m);
		CHECK(!reference_bfs(g, opt.source, want));
		OK(gtu_bfs(dev, g, &opt, got, &stats, &err));
		check_values(got, want, g->n, false, "bfs", "transposed", 0);
		CHECK(!stats.pull_end == !place.transpose);
		bytes[place.transpose] = stats.list_bytes;
		CHECK(!reference_pagerank(g, 0.85, 5, (double *)want, &change));
		OK(gtu_pagerank(dev, g, &opt, (double *)got, &stats, &err));
		check_values(got, want, g->n, true, "pr", "transposed", 0);
		CHECK_EQ(stats.pull_end, place.transpose * 5);
		opt.first_vertex = g->n / 4;
		opt.end_vertex = g->n;
		OK(gtu_bfs(dev, g, &opt, got, &stats, &err));
		CHECK(!stats.pull_end);
	}
	CHECKF(bytes[1] < bytes[0], "%llu bytes with pulling, %llu without", (unsigned long long)bytes[1], (unsigned long long)bytes[0]);
	gtu_placement_destroy(dev);
}

struct runner {
	const struct gtu_graph *g;
	bool rank;
	int rc;
	uint64_t value[1 << 8];
	struct gtu_error err;
};

static void *run_often(void *arg)
{
	struct runner *r = arg;
	struct gtu_algorithm_options opt = { .unit = GTU_WITH_GPU, .iterations = 7 };

	for (unsigned i = 0; i < 4 && !r->rc; i++)
		r->rc = r->rank ? gtu_pagerank(dev, r->g, &opt, (double *)r->value, NULL, &r->err) :
				  gtu_bfs(dev, r->g, &opt, r->value, NULL, &r->err);
	return NULL;
}

/* One run must not take the other's cache or placement. */
TEST(two_threads_on_a_device_get_their_own_results)
{
	struct runner r[2] = { { .rank = false }, { .rank = true } };
	uint64_t want[1 << 8];
	double ranks[1 << 8], change;
	pthread_t thread[2];

	open_gpu();
	for (unsigned i = 0; i < 2; i++)
		r[i].g = generate((struct gtu_generate_options){ .kind = GTU_GEN_UNIFORM, .n = 256, .seed = i + 1 });
	for (unsigned i = 0; i < 2; i++)
		CHECK(!pthread_create(&thread[i], NULL, run_often, &r[i]));
	for (unsigned i = 0; i < 2; i++)
		CHECK(!pthread_join(thread[i], NULL));
	CHECKF(!r[0].rc, "%s", r[0].err.text);
	CHECKF(!r[1].rc, "%s", r[1].err.text);
	CHECK(!reference_bfs(r[0].g, 0, want) && !reference_pagerank(r[1].g, 0.85, 7, ranks, &change));
	check_values(r[0].value, want, 1 << 8, false, "bfs", "auto", 0);
	check_values(r[1].value, ranks, 1 << 8, true, "pr", "auto", 0);
}

TEST_MAIN
