// SPDX-License-Identifier: MIT
/*
 * Betweenness, ST-connectivity, coloring, cores and convolution with every unit, compared with the
 * reference code, over adversarial graphs, with chunks so small that vertices are split and
 * frontiers pass in pieces.
 */
#include <math.h>

#include "gtu/gtu.h"
#include "subjects.h"
#include "tests/unit/test.h"
#include "tools/reference/reference.h"

#define UNITS (GTU_WITH_WEAVER + 1)
static const char *const unit_name[UNITS] = { "none", "scu-basic", "scu", "iru", "peg", "weaver" };
static const uint32_t chunk_log2[] = { 0, 3 };
#define CHUNKS (sizeof(chunk_log2) / sizeof(chunk_log2[0]))

static void check_betweenness(const struct gtu_graph *g, const struct gtu_algorithm_options *opt)
{
	double *want = calloc(g->n, 8), *got = calloc(g->n, 8);
	struct gtu_error err;
	int rc;

	CHECK(!reference_betweenness(g, opt->sources, opt->source_count, want));
	rc = gtu_betweenness(dev, g, opt, got, NULL, &err);
	CHECKF(!rc, "betweenness by %s: %s", unit_name[opt->unit], err.text);
	for (uint64_t v = 0; v < g->n; v++)
		CHECKF(fabs(got[v] - want[v]) <= 1e-9 * want[v],
		       "betweenness by %s (chunk 2^%u): vertex %llu has %.17g, not %.17g",
		       unit_name[opt->unit], opt->chunk_log2, (unsigned long long)v, got[v], want[v]);
	free(want);
	free(got);
}

static void check_stcon(const struct gtu_graph *g, struct gtu_algorithm_options opt)
{
	uint64_t *level = calloc(g->n, 8), got, step = g->n / 7 + 1;
	struct gtu_error err;
	int rc;

	CHECK(!reference_bfs(g, opt.source, level));
	for (opt.target = 0; opt.target < g->n; opt.target += step) {
		rc = gtu_stcon(dev, g, &opt, &got, NULL, &err);
		CHECKF(!rc, "stcon by %s: %s", unit_name[opt.unit], err.text);
		CHECKF(got == level[opt.target],
		       "stcon by %s (chunk 2^%u): from %llu to %llu %llu edges, not %llu",
		       unit_name[opt.unit], opt.chunk_log2, (unsigned long long)opt.source,
		       (unsigned long long)opt.target, (unsigned long long)got,
		       (unsigned long long)level[opt.target]);
	}
	free(level);
}

static void check_cores(const struct gtu_graph *g, const struct gtu_algorithm_options *opt)
{
	uint64_t *want = calloc(g->n, 8), *got = calloc(g->n, 8);
	struct gtu_error err;
	int rc;

	CHECK(!reference_cores(g, want));
	rc = gtu_cores(dev, g, opt, got, NULL, &err);
	CHECKF(!rc, "cores by %s: %s", unit_name[opt->unit], err.text);
	for (uint64_t v = 0; v < g->n; v++)
		CHECKF(got[v] == want[v], "cores by %s (chunk 2^%u): vertex %llu has %llu, not %llu",
		       unit_name[opt->unit], opt->chunk_log2, (unsigned long long)v,
		       (unsigned long long)got[v], (unsigned long long)want[v]);
	free(want);
	free(got);
}

static void check_coloring(const struct gtu_graph *g, const struct gtu_algorithm_options *opt,
			   uint32_t *first)
{
	uint32_t *got = calloc(g->n, 4);
	struct gtu_error err;
	uint64_t most = 0;
	int rc = gtu_coloring(dev, g, opt, got, NULL, &err);

	CHECKF(!rc, "coloring by %s: %s", unit_name[opt->unit], err.text);
	CHECK_EQ(reference_same_color(g, got), UINT64_MAX);
	if (opt->unit == GTU_WITH_NONE)
		memcpy(first, got, g->n * 4);
	CHECKF(!memcmp(first, got, g->n * 4), "coloring by %s (chunk 2^%u) differs from none's",
	       unit_name[opt->unit], opt->chunk_log2);
	for (uint64_t v = 0; v < g->n; v++)
		most = got[v] > most ? got[v] : most;
	CHECK(most < g->n);
	free(got);
}

/* With and without weights, which are read by edge index. */
static void check_gcn(const struct gtu_graph *g, struct gtu_algorithm_options opt, uint32_t features)
{
	const uint64_t count = g->n * features;
	double *want = calloc(count, 8), *magnitude = calloc(count, 8), *got = calloc(count, 8);
	double *weight = calloc(g->m + 1, 8);
	struct gtu_graph weighted = *g;
	uint64_t seed = 5;
	struct gtu_error err;
	int rc;

	for (uint64_t e = 0; e < g->m; e++)
		weight[e] = (double)(test_random(&seed) % 1000) - 300;
	opt.features = features;
	opt.seed = 9;
	for (unsigned i = 0; i < 2; i++) {
		CHECK(!reference_gcn(&weighted, features, opt.seed, want, magnitude));
		rc = gtu_gcn(dev, &weighted, &opt, got, NULL, &err);
		CHECKF(!rc, "gcn by %s: %s", unit_name[opt.unit], err.text);
		for (uint64_t v = 0; v < count; v++)
			CHECKF(fabs(got[v] - want[v]) <= 1e-9 * magnitude[v],
			       "gcn by %s (chunk 2^%u), weights %u: feature %llu of vertex %llu is %.17g, not %.17g",
			       unit_name[opt.unit], opt.chunk_log2, i, (unsigned long long)(v % features),
			       (unsigned long long)(v / features), got[v], want[v]);
		weighted.weight = weight;
		weighted.weight_type = GTU_WEIGHT_F64;
	}
	free(want);
	free(magnitude);
	free(got);
	free(weight);
}

static void check_all(const struct gtu_graph *g, uint64_t source)
{
	const uint64_t some[] = { 0, source, g->n / 2 };
	uint32_t *first = calloc(g->n, 4);

	open_device();
	for (uint32_t unit = 0; unit < UNITS; unit++) {
		for (unsigned c = 0; c < CHUNKS; c++) {
			struct gtu_algorithm_options opt = { .unit = unit, .source = source,
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
	free(first);
}

static void check_edges(uint64_t n, uint64_t m, const uint64_t *src, const uint64_t *dst)
{
	static const uint32_t direction[] = { GTU_DIRECTED, GTU_UNDIRECTED };

	for (unsigned i = 0; i < 2; i++) {
		for (uint32_t bytes = 4; bytes <= 8; bytes += 4) {
			struct gtu_graph *g = from_edges(n, m, src, dst, direction[i], bytes);

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
	uint64_t src[150], dst[150];

	for (unsigned i = 0; i < 150; i++) {
		src[i] = (i * 7) % 151;
		dst[i] = ((i + 1) * 7) % 151;
	}
	check_edges(151, 150, src, dst);
}

/* 16^29 shortest paths, which exceeds a 64-bit integer. */
TEST(ladder_of_many_paths)
{
	uint64_t src[16 * 30], dst[16 * 30], m = 0;

	for (unsigned level = 0; level < 30; level++)
		for (unsigned i = 0; i < 16; i++) {
			src[m] = level * 4 + i / 4;
			dst[m++] = (level + 1) * 4 + i % 4;
		}
	check_edges(31 * 4, m, src, dst);
}

/* A clique needs as many colors as vertices: more than one window of colors. */
TEST(clique)
{
	uint64_t src[90 * 89], dst[90 * 89], m = 0;
	uint32_t color[90];
	struct gtu_error err;

	for (unsigned u = 0; u < 90; u++)
		for (unsigned v = 0; v < u; v++) {
			src[m] = u;
			dst[m++] = v;
		}
	check_edges(90, m, src, dst);
	for (uint32_t unit = 0; unit < UNITS; unit++) {
		struct gtu_algorithm_options opt = { .unit = unit };
		struct gtu_graph *g = from_edges(90, m, src, dst, GTU_UNDIRECTED, 4);
		uint64_t sum = 0;

		CHECK(!gtu_coloring(dev, g, &opt, color, NULL, &err));
		for (unsigned v = 0; v < 90; v++)
			sum += color[v];
		CHECK_EQ(sum, 90 * 89 / 2);
		gtu_graph_close(g);
	}
}

TEST(random_graphs)
{
	uint64_t seed = 77, src[3000], dst[3000];

	for (unsigned round = 0; round < 4; round++) {
		const uint64_t n = round < 2 ? 100 : 700, m = round % 2 ? 3000 : n;

		for (uint64_t e = 0; e < m; e++) {
			uint64_t a = test_random(&seed) % n, b = test_random(&seed) % n;

			/* skewed: low numbers have most edges */
			src[e] = a * b / n;
			dst[e] = test_random(&seed) % n;
		}
		check_edges(n, m, src, dst);
	}
}

/* 2^1024 paths exceed a double. */
TEST(too_many_paths)
{
	enum { LEVELS = 1030 };
	static uint64_t src[4 * LEVELS], dst[4 * LEVELS];
	static double score[2 * LEVELS + 2];
	struct gtu_algorithm_options opt = { .source_count = 1, .sources = (uint64_t[]){ 0 } };
	struct gtu_graph *g;
	struct gtu_error err;
	uint64_t m = 0;

	for (unsigned l = 0; l < LEVELS; l++)
		for (unsigned i = 0; i < 4; i++) {
			src[m] = 2 * l + i / 2;
			dst[m++] = 2 * (l + 1) + i % 2;
		}
	g = from_edges(2 * LEVELS + 2, m, src, dst, GTU_DIRECTED, 4);
	CHECK_EQ(gtu_betweenness(dev, g, &opt, score, NULL, &err), GTU_ERR_UNSUPPORTED);
	CHECKF(strstr(err.text, "1.8e308"), "%s", err.text);
	gtu_graph_close(g);
}

TEST(refusals)
{
	const uint64_t src[] = { 0, 1 }, dst[] = { 1, 2 };
	struct gtu_graph *g = from_edges(3, 2, src, dst, GTU_DIRECTED, 4);
	struct gtu_algorithm_options opt = { .end_vertex = 2 };
	struct gtu_error err;
	double score[3];
	uint64_t value[3];
	uint32_t color[3];

	CHECK_EQ(gtu_betweenness(NULL, g, &opt, score, NULL, &err), GTU_ERR_UNSUPPORTED);
	CHECK_EQ(gtu_stcon(NULL, g, &opt, value, NULL, &err), GTU_ERR_UNSUPPORTED);
	CHECK_EQ(gtu_coloring(NULL, g, &opt, color, NULL, &err), GTU_ERR_UNSUPPORTED);
	CHECK_EQ(gtu_cores(NULL, g, &opt, value, NULL, &err), GTU_ERR_UNSUPPORTED);
	CHECK_EQ(gtu_gcn(NULL, g, &opt, score, NULL, &err), GTU_ERR_UNSUPPORTED);
	opt = (struct gtu_algorithm_options){ .features = 65537 };
	CHECK_EQ(gtu_gcn(NULL, g, &opt, score, NULL, &err), GTU_ERR_USAGE);
	CHECKF(strstr(err.text, "65537 features per vertex are too many: the maximum is 65536"), "%s", err.text);
	opt = (struct gtu_algorithm_options){ .target = 3 };
	CHECK_EQ(gtu_stcon(NULL, g, &opt, value, NULL, &err), GTU_ERR_USAGE);
	CHECKF(strstr(err.text, "target vertex 3 is out of range: the graph has 3 vertices"), "%s", err.text);
	opt = (struct gtu_algorithm_options){ .source_count = 1, .sources = (uint64_t[]){ 3 } };
	CHECK_EQ(gtu_betweenness(NULL, g, &opt, score, NULL, &err), GTU_ERR_USAGE);
	opt.sources = NULL;
	CHECK_EQ(gtu_betweenness(NULL, g, &opt, score, NULL, &err), GTU_ERR_USAGE);
	gtu_graph_close(g);
}

/*
 * A graph declared undirected but stored in one direction is reported, instead of looping in
 * coloring.
 */
TEST(missing_reverse_edges)
{
	/* 0 - 1 is stored at 0 only, and 1 comes first in the order, having more edges */
	uint64_t row[] = { 0, 1, 3, 5 };
	uint32_t col[] = { 1, 2, 2, 1, 1 }, color[3];
	struct gtu_graph g = { .n = 3, .m = 5, .edge_bytes = 4, .row = row, .col = col, .name = "one" };
	struct gtu_algorithm_options opt = { .unit = GTU_WITH_SCU };
	struct gtu_error err;

	open_device();
	CHECK_EQ(gtu_coloring(dev, &g, &opt, color, NULL, &err), GTU_ERR_INPUT);
	CHECKF(strstr(err.text, "at least 1 vertices have edges stored in one direction only"), "%s", err.text);
}

/* NaN weights, and weights whose sums overflow, are reported with every unit. */
TEST(invalid_weights)
{
	const uint64_t src[] = { 0, 1 }, dst[] = { 1, 2 };
	struct gtu_graph *g = from_edges(3, 2, src, dst, GTU_UNDIRECTED, 4), weighted = *g;
	double weight[4] = { 1, NAN, 1, 1 }, out[6];
	struct gtu_error err;

	open_device();
	weighted.weight = weight;
	weighted.weight_type = GTU_WEIGHT_F64;
	for (uint32_t unit = 0; unit < UNITS; unit++) {
		struct gtu_algorithm_options opt = { .unit = unit, .features = 2 };

		weight[1] = NAN;
		CHECK_EQ(gtu_gcn(dev, &weighted, &opt, out, NULL, &err), GTU_ERR_INPUT);
		CHECKF(strstr(err.text, "edge 1 has the weight nan"), "%s", err.text);
		for (unsigned e = 0; e < 4; e++)
			weight[e] = 1.7e308;
		CHECK_EQ(gtu_gcn(dev, &weighted, &opt, out, NULL, &err), GTU_ERR_UNSUPPORTED);
	}
	gtu_graph_close(g);
}

/* Targets and rows out of bounds are reported, and nothing is read out of bounds. */
TEST(damaged_graphs)
{
	uint64_t row[] = { 0, 2, 3, 4 }, value[3];
	uint32_t col[] = { 1, 2, 9, 0 }, color[3];
	double score[3];
	struct gtu_graph g = { .n = 3, .m = 4, .edge_bytes = 4, .row = row, .col = col, .name = "bad" };
	struct gtu_error err;

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
