/* SPDX-License-Identifier: MIT */
/* The algorithms that a GPU runs, by one signature, and the comparison of their results. */
#ifndef GTU_GPU_ALGORITHMS_H
#define GTU_GPU_ALGORITHMS_H

#include "subjects.h"

#define TEST_FEATURES	5u		/* of GCN: groups of lanes with unused ones */

struct gpu_algorithm {
	const char *name;
	bool one;			/* one value in all */
	double tolerance;		/* relative, of reals */
	int (*integers)(struct gtu_device *dev, const struct gtu_graph *g, const struct gtu_algorithm_options *opt,
			uint64_t *values, struct gtu_algorithm_stats *stats, struct gtu_error *err);
	int (*reals)(struct gtu_device *dev, const struct gtu_graph *g, const struct gtu_algorithm_options *opt,
		     double *values, struct gtu_algorithm_stats *stats, struct gtu_error *err);
	int (*colors)(struct gtu_device *dev, const struct gtu_graph *g, const struct gtu_algorithm_options *opt,
		      uint32_t *values, struct gtu_algorithm_stats *stats, struct gtu_error *err);
};

static const struct gpu_algorithm gpu_algorithms[] = {
	{ "bfs", .integers = gtu_bfs },
	{ "sssp", .reals = gtu_sssp, .tolerance = 1e-12 },
	{ "components", .integers = gtu_components },
	{ "pagerank", .reals = gtu_pagerank, .tolerance = 1e-8 },
#define GPU_FIRST_VISIT 4u		/* those from here on have kernels of the library only */
	{ "betweenness", .reals = gtu_betweenness, .tolerance = 1e-9 },
	{ "stcon", .one = true, .integers = gtu_stcon },
	{ "coloring", .colors = gtu_coloring },
	{ "cores", .integers = gtu_cores },
	{ "label propagation", .integers = gtu_label_propagation },
	{ "clustering", .reals = gtu_clustering, .tolerance = 1e-12 },
	{ "gcn", .reals = gtu_gcn, .tolerance = 1e-9 },
};
#define GPU_ALGORITHMS LENGTH(gpu_algorithms)

static uint64_t gpu_iterations = 3;	/* of PageRank and label propagation */

/* @values: n * TEST_FEATURES of 8 bytes. */
static inline int gpu_algorithm_run(const struct gpu_algorithm *a, struct gtu_device *on, const struct gtu_graph *g,
				    uint32_t unit, uint32_t kernel, uint64_t source, void *values,
				    struct gtu_algorithm_stats *stats)
{
	const uint64_t sources[] = { source, g->n / 2, g->n - 1 };
	struct gtu_algorithm_options opt = { .unit = unit, .kernel = kernel, .source = source, .target = g->n / 3, .iterations = gpu_iterations,
					     .sources = sources, .source_count = LENGTH(sources),
					     .features = TEST_FEATURES, .seed = 7 };

	memset(values, 0xab, g->n * 8);
	return a->integers ? a->integers(on, g, &opt, values, stats, &err) :
	       a->reals ? a->reals(on, g, &opt, values, stats, &err) : a->colors(on, g, &opt, values, stats, &err);
}

static inline void gpu_algorithm_check(const struct gpu_algorithm *a, const struct gtu_graph *g, const void *got, const void *want,
				       const char *when)
{
	const uint64_t n = a->one ? 1 : a->reals == gtu_gcn ? g->n * TEST_FEATURES : g->n;
	const double *x = got, *y = want;

	/* terms of GCN cancel out: relative to 1, about their magnitude */
	for (uint64_t v = 0; a->reals && v < n; v++)
		CHECKF(x[v] == y[v] || fabs(x[v] - y[v]) <= a->tolerance * (a->reals == gtu_gcn ? 1 + fabs(y[v]) : fabs(y[v])),
		       "%s, %s: value %" PRIu64 " is %.17g, not %.17g", a->name, when, v, x[v], y[v]);
	for (uint64_t v = 0; a->integers && v < n; v++)
		CHECKF(((const uint64_t *)got)[v] == ((const uint64_t *)want)[v], "%s, %s: value %" PRIu64 " is %" PRId64 ", not %" PRId64,
		       a->name, when, v, ((const uint64_t *)got)[v], ((const uint64_t *)want)[v]);
	for (uint64_t v = 0; a->colors && v < n; v++)
		CHECKF(((const uint32_t *)got)[v] == ((const uint32_t *)want)[v], "%s, %s: vertex %" PRIu64 " has color %u, not %u", a->name,
		       when, v, ((const uint32_t *)got)[v], ((const uint32_t *)want)[v]);
}

#endif
