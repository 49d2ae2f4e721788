// SPDX-License-Identifier: MIT
/*
 * The algorithms with every unit, compared with the reference code, over adversarial graphs. Each
 * runs with the default chunk and with tiny ones, so that vertices are split and frontiers pass in
 * pieces.
 */
#include <math.h>
#include <sys/mman.h>

#include "gtu/gtu.h"
#include "subjects.h"
#include "tests/unit/test.h"
#include "tools/reference/reference.h"

#define UNITS (GTU_WITH_WEAVER + 1)
static const char *const unit_name[UNITS] = { "none", "scu-basic", "scu", "iru", "peg", "weaver" };
static const uint32_t chunk_log2[] = { 0, 1, 4 };
#define CHUNKS (sizeof(chunk_log2) / sizeof(chunk_log2[0]))

/* ---- One algorithm with every unit ---------------------------------------------------------------- */

static void same_integers(const uint64_t *got, const uint64_t *want, uint64_t n, const char *what,
			  unsigned unit, uint32_t chunk)
{
	for (uint64_t v = 0; v < n; v++)
		CHECKF(got[v] == want[v], "%s by %s (chunk 2^%u): vertex %llu has %llu, not %llu", what,
		       unit_name[unit], chunk, (unsigned long long)v, (unsigned long long)got[v],
		       (unsigned long long)want[v]);
}

static void check_bfs(const struct gtu_graph *g, uint64_t source, unsigned unit, uint32_t chunk)
{
	struct gtu_algorithm_options opt = { .unit = unit, .source = source, .chunk_log2 = chunk };
	uint64_t *want = calloc(g->n, 8), *got = calloc(g->n, 8), reached = 0;
	struct gtu_algorithm_stats stats;
	struct gtu_error err;
	int rc;

	CHECK(!reference_bfs(g, source, want));
	rc = gtu_bfs(dev, g, &opt, got, &stats, &err);
	CHECKF(!rc, "bfs by %s: %s", unit_name[unit], err.text);
	same_integers(got, want, g->n, "bfs", unit, chunk);
	for (uint64_t v = 0; v < g->n; v++)
		reached += want[v] != GTU_UNREACHED;
	CHECK_EQ(stats.vertices, reached);
	free(want);
	free(got);
}

static void check_sssp(const struct gtu_graph *g, uint64_t source, double delta, unsigned unit,
		       uint32_t chunk)
{
	struct gtu_algorithm_options opt = { .unit = unit, .source = source, .delta = delta,
					     .chunk_log2 = chunk };
	double *want = calloc(g->n, 8), *got = calloc(g->n, 8);
	struct gtu_algorithm_stats stats;
	struct gtu_error err;
	int rc;

	CHECK(!reference_sssp(g, source, want));
	rc = gtu_sssp(dev, g, &opt, got, &stats, &err);
	CHECKF(!rc, "sssp by %s: %s", unit_name[unit], err.text);
	for (uint64_t v = 0; v < g->n; v++)
		CHECKF(got[v] == want[v], "sssp by %s (chunk 2^%u, delta %g): vertex %llu has %.17g, not %.17g",
		       unit_name[unit], chunk, delta, (unsigned long long)v, got[v], want[v]);
	free(want);
	free(got);
}

static void check_pagerank(const struct gtu_graph *g, unsigned unit, uint32_t chunk)
{
	struct gtu_algorithm_options opt = { .unit = unit, .iterations = 15, .chunk_log2 = chunk };
	double *want = calloc(g->n, 8), *got = calloc(g->n, 8), change, sum = 0;
	struct gtu_algorithm_stats stats;
	struct gtu_error err;
	int rc;

	CHECK(!reference_pagerank(g, 0.85, 15, want, &change));
	rc = gtu_pagerank(dev, g, &opt, got, &stats, &err);
	CHECKF(!rc, "pagerank by %s: %s", unit_name[unit], err.text);
	for (uint64_t v = 0; v < g->n; v++) {
		CHECKF(fabs(got[v] - want[v]) <= 1e-12 * want[v],
		       "pagerank by %s (chunk 2^%u): vertex %llu has %.17g, not %.17g", unit_name[unit],
		       chunk, (unsigned long long)v, got[v], want[v]);
		sum += got[v];
	}
	CHECK(fabs(sum - 1) < 1e-9);
	CHECK_EQ(stats.iterations, 15);
	CHECK_EQ(stats.edges, 15 * g->m);
	free(want);
	free(got);
}

static void check_components(const struct gtu_graph *g, unsigned unit, uint32_t chunk)
{
	struct gtu_algorithm_options opt = { .unit = unit, .chunk_log2 = chunk };
	uint64_t *want = calloc(g->n, 8), *got = calloc(g->n, 8);
	struct gtu_error err;
	int rc;

	CHECK(!reference_components(g, want));
	rc = gtu_components(dev, g, &opt, got, NULL, &err);
	CHECKF(!rc, "components by %s: %s", unit_name[unit], err.text);
	same_integers(got, want, g->n, "components", unit, chunk);
	free(want);
	free(got);
}

/* All four algorithms with all units and chunks, from @source. */
static void check_all(const struct gtu_graph *g, uint64_t source)
{
	static const double delta[] = { 0, 1, 7.5, 1e12 };

	open_device();
	for (unsigned unit = 0; unit < UNITS; unit++) {
		for (unsigned c = 0; c < CHUNKS; c++) {
			check_bfs(g, source, unit, chunk_log2[c]);
			for (unsigned d = 0; d < sizeof(delta) / sizeof(delta[0]); d++)
				check_sssp(g, source, delta[d], unit, chunk_log2[c]);
			check_pagerank(g, unit, chunk_log2[c]);
			check_components(g, unit, chunk_log2[c]);
		}
	}
}

/* ---- Shapes --------------------------------------------------------------------------------------- */

static void check_edges(uint64_t n, uint64_t m, const uint64_t *src, const uint64_t *dst)
{
	static const uint32_t direction[] = { GTU_DIRECTED, GTU_UNDIRECTED };

	for (unsigned i = 0; i < 2; i++) {
		for (uint32_t bytes = 4; bytes <= 8; bytes += 4) {
			struct gtu_graph *g = from_edges(n, m, src, dst, direction[i], bytes);

			check_all(g, 0);
			check_all(g, n - 1);
			gtu_graph_close(g);
		}
	}
}

TEST(one_vertex)
{
	const uint64_t loop[] = { 0, 0, 0 };

	check_edges(1, 0, loop, loop);
	check_edges(1, 3, loop, loop);
}

TEST(no_edges)
{
	check_edges(70, 0, NULL, NULL);
}

TEST(self_loops_and_duplicates)
{
	const uint64_t src[] = { 0, 0, 1, 1, 1, 2, 2, 3, 3, 3, 4, 0 };
	const uint64_t dst[] = { 0, 1, 1, 2, 2, 2, 0, 3, 3, 1, 4, 1 };

	check_edges(6, 12, src, dst);
}

TEST(long_path)
{
	uint64_t src[300], dst[300];

	/* numbers descend along the path, so that labels have far to travel */
	for (unsigned i = 0; i < 300; i++) {
		src[i] = (i * 7) % 301;
		dst[i] = ((i + 1) * 7) % 301;
	}
	check_edges(301, 300, src, dst);
}

TEST(star_symmetric)
{
	uint64_t src[400], dst[400];

	for (unsigned i = 0; i < 200; i++) {
		src[2 * i] = dst[2 * i + 1] = 100;
		dst[2 * i] = src[2 * i + 1] = i;
	}
	check_edges(201, 400, src, dst);
}

/* Many shortest paths: a vertex is found once per path, but frontiers must not grow. */
TEST(ladder_of_many_paths)
{
	uint64_t src[16 * 60], dst[16 * 60], m = 0;

	for (unsigned level = 0; level < 60; level++)
		for (unsigned i = 0; i < 16; i++) {
			src[m] = level * 4 + i / 4;
			dst[m++] = (level + 1) * 4 + i % 4;
		}
	check_edges(61 * 4, m, src, dst);
}

TEST(empty_graph)
{
	struct gtu_graph *g = from_edges(0, 0, NULL, NULL, GTU_DIRECTED, 4);
	struct gtu_algorithm_options opt = { 0 };
	struct gtu_error err;
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
	gtu_graph_close(g);
}

/* ---- Weights -------------------------------------------------------------------------------------- */

/* The vertex with the maximum degree, from which much of the graph is reached. */
static uint64_t hub_of(const struct gtu_graph *g)
{
	uint64_t hub = 0, *level = calloc(g->n, 8), reached = 0;

	for (uint64_t v = 0; v < g->n; v++)
		if (g->row[v + 1] - g->row[v] > g->row[hub + 1] - g->row[hub])
			hub = v;
	CHECK(!reference_bfs(g, hub, level));
	for (uint64_t v = 0; v < g->n; v++)
		reached += level[v] != GTU_UNREACHED;
	CHECK(reached > g->n / 3);
	free(level);
	return hub;
}

/* A random graph of @n vertices with every weight type, drawn by @draw. */
static void check_weights(uint64_t n, uint64_t m, uint64_t seed, double (*draw)(uint64_t *))
{
	static const uint32_t type[] = { GTU_WEIGHT_U32, GTU_WEIGHT_F32, GTU_WEIGHT_F64 };
	uint64_t *src = calloc(m, 8), *dst = calloc(m, 8);
	uint32_t *u = calloc(m, 4);
	float *f = calloc(m, 4);
	double *d = calloc(m, 8);
	const void *weight[] = { u, f, d };
	struct gtu_graph *g;
	uint64_t hub;

	open_device();
	for (uint64_t e = 0; e < m; e++) {
		src[e] = test_random(&seed) % n;
		dst[e] = test_random(&seed) % n;
		d[e] = draw(&seed);
		f[e] = (float)d[e];
		u[e] = d[e] < UINT32_MAX ? (uint32_t)d[e] : UINT32_MAX;
	}
	for (unsigned t = 0; t < 3; t++) {
		for (uint32_t bytes = 4; bytes <= 8; bytes += 4) {
			g = weighted_edges(n, m, src, dst, type[t], weight[t], GTU_DIRECTED, bytes);
			hub = hub_of(g);
			for (unsigned unit = 0; unit < UNITS; unit++) {
				check_sssp(g, 0, 0, unit, 0);
				check_sssp(g, hub, 0, unit, 4);
				check_sssp(g, hub, 3, unit, 5);
				check_sssp(g, hub, 1e-3, unit, 0);
				check_sssp(g, hub, 1e10, unit, 0);
			}
			gtu_graph_close(g);
		}
	}
	free(src);
	free(dst);
	free(u);
	free(f);
	free(d);
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

TEST(weights_zero) { check_weights(60, 400, 1, draw_zero); }
TEST(weights_small) { check_weights(120, 500, 2, draw_small); }
TEST(weights_fractions) { check_weights(120, 500, 3, draw_fraction); }
TEST(weights_above_32_bits) { check_weights(80, 200, 4, draw_large); }
TEST(weights_extreme) { check_weights(80, 300, 5, draw_extreme); }

/* Only the last of many edges exceeds 2^32: the search must widen distances late. */
TEST(late_distance_overflow)
{
	enum { N = 200 };
	uint64_t src[N], dst[N];
	uint32_t weight[N];
	struct gtu_graph *g;

	open_device();
	for (unsigned i = 0; i < N; i++) {
		src[i] = i;
		dst[i] = i + 1;
		weight[i] = i < 100 ? 1 : 50000000;
	}
	g = weighted_edges(N + 1, N, src, dst, GTU_WEIGHT_U32, weight, GTU_UNDIRECTED, 4);
	for (unsigned unit = 0; unit < UNITS; unit++)
		check_sssp(g, 0, 0, unit, 0);
	gtu_graph_close(g);
}

TEST(negative_weights_rejected)
{
	const uint64_t src[] = { 0, 1, 2 }, dst[] = { 1, 2, 3 };
	const double bad[] = { -1, -INFINITY, NAN, -1e-300 };
	struct gtu_algorithm_options opt = { 0 };
	struct gtu_error err;
	double distance[4];

	open_device();
	for (unsigned i = 0; i < 4; i++) {
		const double weight[] = { 1, 2, bad[i] };
		struct gtu_graph *g = weighted_edges(4, 3, src, dst, GTU_WEIGHT_F64, weight,
							  GTU_DIRECTED, 4);

		for (opt.unit = 0; opt.unit < UNITS; opt.unit++) {
			CHECK_EQ(gtu_sssp(dev, g, &opt, distance, NULL, &err), GTU_ERR_INPUT);
			CHECK(strstr(err.text, "entry 2 ") && strstr(err.text, "weight"));
		}
		gtu_graph_close(g);
	}
}

/* ---- Random graphs ---------------------------------------------------------------------------------- */

TEST(random_graphs)
{
	uint64_t seed = 20;

	for (unsigned round = 0; round < 24; round++) {
		uint64_t n = 1 + test_random(&seed) % 150;
		uint64_t m = test_random(&seed) % (3 * n);
		uint64_t *src = calloc(m + 1, 8), *dst = calloc(m + 1, 8);
		uint32_t *weight = calloc(m + 1, 4);
		struct gtu_graph *g;

		for (uint64_t e = 0; e < m; e++) {
			src[e] = test_random(&seed) % n;
			/* half of the rounds have hubs */
			dst[e] = round % 2 ? test_random(&seed) % n : test_random(&seed) % n % 5 % n;
			weight[e] = (uint32_t)(test_random(&seed) % 100);
		}
		g = weighted_edges(n, m, src, dst, GTU_WEIGHT_U32, weight,
				   round % 3 ? GTU_DIRECTED : GTU_UNDIRECTED, round % 4 < 2 ? 4 : 8);
		check_all(g, test_random(&seed) % n);
		gtu_graph_close(g);
		free(src);
		free(dst);
		free(weight);
	}
}

/* Many small sparse graphs: rare orders of hooking and shortcutting. */
TEST(many_sparse_graphs)
{
	uint64_t seed = 1, src[120], dst[120];
	uint32_t weight[120];

	open_device();
	for (unsigned round = 0; round < 1000; round++) {
		uint64_t n = 3 + test_random(&seed) % 60, m = test_random(&seed) % (2 * n);
		struct gtu_graph *g;

		for (uint64_t e = 0; e < m; e++) {
			src[e] = test_random(&seed) % n;
			dst[e] = test_random(&seed) % n;
			weight[e] = (uint32_t)(test_random(&seed) % 16);
		}
		g = weighted_edges(n, m, src, dst, GTU_WEIGHT_U32, weight, GTU_DIRECTED + round % 2, 4);
		for (unsigned unit = 0; unit < UNITS; unit++) {
			uint32_t chunk = 1 + (uint32_t)(test_random(&seed) % 6);

			check_components(g, unit, chunk);
			check_bfs(g, test_random(&seed) % n, unit, chunk);
			check_sssp(g, test_random(&seed) % n, round % 20, unit, chunk);
		}
		gtu_graph_close(g);
	}
}

/* Larger than every filter table, so that entries are evicted. */
TEST(larger_than_the_tables)
{
	struct gtu_generate_options gen = { .kind = GTU_GEN_KRONECKER, .scale = 15, .degree = 8,
					    .seed = 3, .random_weights = 50 };
	struct gtu_error err;
	struct gtu_graph *g;
	int rc = gtu_graph_generate(&gen, NULL, &g, &err);

	CHECKF(!rc, "generator: %s", err.text);
	open_device();
	for (unsigned unit = 0; unit < UNITS; unit++) {
		check_bfs(g, 1, unit, 0);
		check_bfs(g, 1, unit, 12);
		check_sssp(g, 1, 0, unit, 0);
		check_sssp(g, 1, 5, unit, 13);
		check_pagerank(g, unit, 14);
		check_components(g, unit, 13);
	}
	gtu_graph_close(g);
}

/* ---- Damaged graphs ----------------------------------------------------------------------------------- */

/* Row and col as in an unchecked mapped container. */
TEST(targets_out_of_bounds)
{
	const uint64_t row[] = { 0, 2, 4, 4, 5 };
	double real[4];
	uint64_t integer[4];
	struct gtu_error err;

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
				err.text[0] = 0;
				CHECK_EQ(gtu_bfs(dev, &g, &opt, integer, NULL, &err), GTU_ERR_INPUT);
				CHECKF(strstr(err.text, entry), "%s", err.text);
				CHECK_EQ(gtu_sssp(dev, &g, &opt, real, NULL, &err), GTU_ERR_INPUT);
				CHECKF(strstr(err.text, entry), "%s", err.text);
				CHECK_EQ(gtu_pagerank(dev, &g, &opt, real, NULL, &err), GTU_ERR_INPUT);
				CHECKF(strstr(err.text, entry), "%s", err.text);
				CHECK_EQ(gtu_components(dev, &g, &opt, integer, NULL, &err),
					 GTU_ERR_INPUT);
			}
		}
	}
}

TEST(rows_out_of_bounds)
{
	static const uint64_t rows[][5] = {
		{ 0, 2, 1, 4, 5 }, { 0, 2, 4, 4, 6 }, { 0, 2, UINT64_MAX, 4, 5 },
		{ 0, UINT64_MAX - 1, UINT64_MAX, 4, 5 }, { 3, 2, 4, 4, 5 },
	};
	const uint32_t col[5] = { 1, 2, 3, 0, 2 };
	struct gtu_error err;
	uint64_t integer[4];
	double real[4];

	open_device();
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct gtu_graph g = { .n = 4, .m = 5, .flags = GTU_GRAPH_DIRECTED, .edge_bytes = 4,
				       .row = rows[i], .col = col, .name = "hand-made" };
		struct gtu_algorithm_options opt = { 0 };

		for (opt.unit = 0; opt.unit < UNITS; opt.unit++) {
			CHECK_EQ(gtu_bfs(dev, &g, &opt, integer, NULL, &err), GTU_ERR_INPUT);
			CHECK_EQ(gtu_sssp(dev, &g, &opt, real, NULL, &err), GTU_ERR_INPUT);
			CHECK_EQ(gtu_pagerank(dev, &g, &opt, real, NULL, &err), GTU_ERR_INPUT);
			CHECK_EQ(gtu_components(dev, &g, &opt, integer, NULL, &err), GTU_ERR_INPUT);
		}
	}
}

/* ---- Options ------------------------------------------------------------------------------------------- */

static int stop_at_once(void *user, const char *what, uint64_t done, uint64_t total)
{
	(void)what, (void)done, (void)total;
	++*(unsigned *)user;
	return 1;
}

TEST(interruption)
{
	struct gtu_generate_options gen = { .kind = GTU_GEN_UNIFORM, .n = 100000, .degree = 16,
					    .seed = 1, .random_weights = 9 };
	unsigned ticks = 0;
	const struct gtu_progress progress = { stop_at_once, &ticks };
	struct gtu_algorithm_options opt = { .progress = &progress };
	uint64_t *integer = calloc(100000, 8);
	double *real = calloc(100000, 8);
	struct gtu_error err;
	struct gtu_graph *g;

	CHECK(!gtu_graph_generate(&gen, NULL, &g, &err));
	open_device();
	for (opt.unit = 0; opt.unit < UNITS; opt.unit++) {
		ticks = 0;
		CHECK_EQ(gtu_bfs(dev, g, &opt, integer, NULL, &err), GTU_ERR_INTERRUPTED);
		CHECK_EQ(gtu_sssp(dev, g, &opt, real, NULL, &err), GTU_ERR_INTERRUPTED);
		CHECK_EQ(gtu_pagerank(dev, g, &opt, real, NULL, &err), GTU_ERR_INTERRUPTED);
		CHECK_EQ(gtu_components(dev, g, &opt, integer, NULL, &err), GTU_ERR_INTERRUPTED);
		CHECK_EQ(ticks, 4);
	}
	gtu_graph_close(g);
	free(integer);
	free(real);
}

TEST(invalid_options)
{
	const uint64_t src[] = { 0 }, dst[] = { 1 };
	struct gtu_graph *g = from_edges(3, 1, src, dst, GTU_DIRECTED, 4);
	struct gtu_algorithm_options opt = { 0 };
	struct gtu_error err;
	uint64_t integer[3];
	double real[3];

	open_device();
	opt.source = 3;
	CHECK_EQ(gtu_bfs(dev, g, &opt, integer, NULL, &err), GTU_ERR_USAGE);
	CHECK_EQ(gtu_sssp(dev, g, &opt, real, NULL, &err), GTU_ERR_USAGE);
	opt = (struct gtu_algorithm_options){ .unit = UNITS };
	CHECK_EQ(gtu_bfs(dev, g, &opt, integer, NULL, &err), GTU_ERR_USAGE);
	opt = (struct gtu_algorithm_options){ .unit = GTU_WITH_SCU };
	CHECK_EQ(gtu_bfs(NULL, g, &opt, integer, NULL, &err), GTU_ERR_USAGE);
	opt = (struct gtu_algorithm_options){ .chunk_log2 = 32 };
	CHECK_EQ(gtu_bfs(dev, g, &opt, integer, NULL, &err), GTU_ERR_USAGE);
	opt = (struct gtu_algorithm_options){ .first_vertex = 2, .end_vertex = 1 };
	CHECK_EQ(gtu_bfs(dev, g, &opt, integer, NULL, &err), GTU_ERR_USAGE);
	opt = (struct gtu_algorithm_options){ .end_vertex = 4 };
	CHECK_EQ(gtu_components(dev, g, &opt, integer, NULL, &err), GTU_ERR_USAGE);
	opt = (struct gtu_algorithm_options){ .end_vertex = 2 };
	CHECK_EQ(gtu_pagerank(dev, g, &opt, real, NULL, &err), GTU_ERR_UNSUPPORTED);
	opt = (struct gtu_algorithm_options){ .damping = 1 };
	CHECK_EQ(gtu_pagerank(dev, g, &opt, real, NULL, &err), GTU_ERR_USAGE);
	opt = (struct gtu_algorithm_options){ .epsilon = NAN };
	CHECK_EQ(gtu_pagerank(dev, g, &opt, real, NULL, &err), GTU_ERR_USAGE);
	opt = (struct gtu_algorithm_options){ .delta = -1 };
	CHECK_EQ(gtu_sssp(dev, g, &opt, real, NULL, &err), GTU_ERR_USAGE);
	gtu_graph_close(g);
}

/* Rejected before the graph's arrays are accessed. */
TEST(too_many_vertices)
{
	struct gtu_graph g = { .n = (1ull << 32) + 1, .edge_bytes = 8, .name = "vast" };
	struct gtu_algorithm_options opt = { .unit = GTU_WITH_IRU };
	struct gtu_error err;
	uint64_t integer;
	double real;

	open_device();
	CHECK_EQ(gtu_bfs(dev, &g, &opt, &integer, NULL, &err), GTU_ERR_UNSUPPORTED);
	CHECKF(strstr(err.text, "4294967297"), "%s", err.text);
	CHECK_EQ(gtu_sssp(dev, &g, &opt, &real, NULL, &err), GTU_ERR_UNSUPPORTED);
	CHECK_EQ(gtu_pagerank(dev, &g, &opt, &real, NULL, &err), GTU_ERR_UNSUPPORTED);
	CHECK_EQ(gtu_components(dev, &g, &opt, &integer, NULL, &err), GTU_ERR_UNSUPPORTED);
	g.edge_bytes = 4;
	for (opt.unit = 0; opt.unit < UNITS; opt.unit++)
		CHECK_EQ(gtu_bfs(dev, &g, &opt, &integer, NULL, &err), GTU_ERR_USAGE);
}

/*
 * More than 2^32 edges, almost all in pages that are never touched: those of vertex 1, which is
 * outside the vertex range. The others follow them.
 */
TEST(edge_indices_above_2_32)
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
	struct gtu_error err;
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
		CHECKF(!gtu_bfs(dev, &g, &opt, level, &stats, &err), "%s", err.text);
		CHECK_EQ(stats.edges, 2 * (N - 2));
		CHECKF(!gtu_sssp(dev, &g, &opt, distance, &stats, &err), "%s", err.text);
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

/* A vertex range traverses only its own edges, and the union of the parts gives the components. */
TEST(vertex_ranges)
{
	enum { N = 90, M = 110 };
	uint64_t seed = 5, src[M], dst[M], part_src[M], part_dst[M], integer[N], whole[N], united[N];
	struct gtu_error err;

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
				same_integers(integer, want, N, "part of bfs", unit, 3);
				CHECK(!gtu_sssp(dev, g, &opt, real, NULL, &err));
				for (unsigned v = 0; v < N; v++)
					CHECK(want[v] == GTU_UNREACHED ? isinf(real[v]) :
									 real[v] == (double)want[v]);
				CHECK(!reference_components(part, want));
				CHECK(!gtu_components(dev, g, &opt, integer, NULL, &err));
				same_integers(integer, want, N, "part of components", unit, 3);
				for (unsigned v = 0; v < N; v++) {
					uint64_t a = root_of(united, v), b = root_of(united, integer[v]);

					united[a < b ? b : a] = a < b ? a : b;
				}
				gtu_graph_close(part);
			}
			for (unsigned v = 0; v < N; v++)
				CHECK_EQ(root_of(united, v), whole[v]);
		}
		gtu_graph_close(g);
	}
}

/* The enhanced unit and the IRU reduce the work of the CPU without changing the result. */
TEST(units_reduce_cpu_work)
{
	struct gtu_generate_options gen = { .kind = GTU_GEN_KRONECKER, .scale = 12, .degree = 16,
					    .seed = 9, .random_weights = 20 };
	struct gtu_algorithm_options opt = { .source = 1 };
	struct gtu_algorithm_stats stats;
	uint64_t counter[GTU_UREG_COUNTERS], *integer;
	struct gtu_error err;
	struct gtu_graph *g;
	double *real;

	CHECK(!gtu_graph_generate(&gen, NULL, &g, &err));
	open_device();
	integer = calloc(g->n, 8);
	real = calloc(g->n, 8);
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
	free(integer);
	free(real);
	gtu_graph_close(g);
}

TEST_MAIN
