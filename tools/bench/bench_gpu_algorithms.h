/* SPDX-License-Identifier: MIT */
/* The algorithms that gtu bench gpu measures, by one signature. */
#ifndef GTU_BENCH_GPU_ALGORITHMS_H
#define GTU_BENCH_GPU_ALGORITHMS_H

#include "gtu/gtu.h"

enum {
	BENCH_BFS, BENCH_SSSP, BENCH_CC, BENCH_PR, BENCH_BC, BENCH_LCC, BENCH_KC, BENCH_CDLP, BENCH_GC, BENCH_STCON,
	BENCH_GCN,
	BENCH_ALGORITHMS
};
#define BENCH_STANDARD	4u		/* the first are measured unless --only names others */
#define BENCH_FEATURES	4u		/* of GCN */

struct bench_algorithm {
	const char *name;
	bool by_source;			/* a run per source, as many as of SSSP; BFS has a number of its own */
	double tolerance;		/* of reals that are summed in any order; 0: results are equal */
	double least;			/* tolerances are relative to the value, or to this where it is larger */
	uint32_t words;			/* values of 8 bytes per vertex */
	int (*integers)(struct gtu_device *dev, const struct gtu_graph *g, const struct gtu_algorithm_options *opt,
			uint64_t *values, struct gtu_algorithm_stats *stats, struct gtu_error *err);
	int (*reals)(struct gtu_device *dev, const struct gtu_graph *g, const struct gtu_algorithm_options *opt,
		     double *values, struct gtu_algorithm_stats *stats, struct gtu_error *err);
};
extern const struct bench_algorithm bench_algorithm[BENCH_ALGORITHMS];

/* Run @algorithm from @source; @iterations of those that take a number. */
int bench_algorithm_run(struct gtu_device *dev, const struct gtu_graph *g, unsigned algorithm, uint32_t unit,
			uint32_t kernel, uint64_t source, uint32_t iterations, void *values,
			struct gtu_algorithm_stats *stats, struct gtu_error *err);

#endif
