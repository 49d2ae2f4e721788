// SPDX-License-Identifier: MIT
/* The algorithms that gtu bench gpu measures, by one signature. */
#include "bench_gpu_algorithms.h"
#include "tools/support/cli.h"

/* Colors of 4 bytes, widened in place. */
static int coloring(struct gtu_device *dev, const struct gtu_graph *g, const struct gtu_algorithm_options *opt,
		    uint64_t *values, struct gtu_algorithm_stats *stats, struct gtu_error *err)
{
	uint32_t *color = (uint32_t *)values;
	int rc = gtu_coloring(dev, g, opt, color, stats, err);
	uint64_t v;

	for (v = g->n; v-- > 0 && !rc;)
		values[v] = color[v];
	return rc;
}

/* One distance for all vertices. */
static int stcon(struct gtu_device *dev, const struct gtu_graph *g, const struct gtu_algorithm_options *opt,
		 uint64_t *values, struct gtu_algorithm_stats *stats, struct gtu_error *err)
{
	uint64_t distance = 0, v;
	int rc = gtu_stcon(dev, g, opt, &distance, stats, err);

	for (v = 0; v < g->n; v++)
		values[v] = distance;
	return rc;
}

const struct bench_algorithm bench_algorithm[BENCH_ALGORITHMS] = {
	[BENCH_BFS] = { "bfs", true, 0, 0, 1, .integers = gtu_bfs },
	[BENCH_SSSP] = { "sssp", true, 0, 0, 1, .reals = gtu_sssp },
	[BENCH_CC] = { "cc", false, 0, 0, 1, .integers = gtu_components },
	[BENCH_PR] = { "pr", false, 1e-6, 0, 1, .reals = gtu_pagerank },
	[BENCH_BC] = { "bc", true, 1e-6, 0, 1, .reals = gtu_betweenness },
	[BENCH_LCC] = { "lcc", false, 1e-6, 0, 1, .reals = gtu_clustering },
	[BENCH_KC] = { "kc", false, 0, 0, 1, .integers = gtu_cores },
	[BENCH_CDLP] = { "cdlp", false, 0, 0, 1, .integers = gtu_label_propagation },
	[BENCH_GC] = { "gc", false, 0, 0, 1, .integers = coloring },
	[BENCH_STCON] = { "stcon", true, 0, 0, 1, .integers = stcon },
	[BENCH_GCN] = { "gcn", false, 1e-6, 1, BENCH_FEATURES, .reals = gtu_gcn },
};

int bench_algorithm_run(struct gtu_device *dev, const struct gtu_graph *g, unsigned algorithm, uint32_t unit,
			uint32_t kernel, uint64_t source, uint32_t iterations, void *values,
			struct gtu_algorithm_stats *stats, struct gtu_error *err)
{
	const struct bench_algorithm *a = &bench_algorithm[algorithm];
	const struct gtu_algorithm_options opt = {
		.unit = unit, .kernel = kernel, .source = source, .target = g->n - 1 - source, .sources = &source,
		.source_count = 1, .features = BENCH_FEATURES, .progress = cli_progress(),
		.iterations = algorithm == BENCH_PR || algorithm == BENCH_CDLP ? iterations : 0,
	};

	return a->integers ? a->integers(dev, g, &opt, values, stats, err) : a->reals(dev, g, &opt, values, stats, err);
}
