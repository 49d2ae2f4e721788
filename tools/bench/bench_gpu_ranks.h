/* SPDX-License-Identifier: MIT */
/* Compares PageRank with another program at equal error: the distance from converged ranks. */
#ifndef GTU_BENCH_GPU_RANKS_H
#define GTU_BENCH_GPU_RANKS_H

#include "gtu/gpu.h"
#include "tools/support/json.h"

#define BENCH_RANKS_MAX 8

struct bench_ranks {
	const char *name, *path;	/* file: a little-endian float32 per vertex, with any sum */
	double error;			/* sum of the differences from converged ranks, whose sum is 1 */
	/* our run with the fewest iterations and at most that error; iterations 0: none */
	uint32_t iterations;
	double own_error, seconds;	/* seconds of the traversal */
};

/* Split NAME=FILE in place; false after a message if it has no such form. */
bool bench_ranks_take(char *text, struct bench_ranks *to);
/*
 * Measure our PageRank on the graph that @dev has placed. Fails if a file does not match the size
 * of @g.
 */
int bench_ranks_run(struct gtu_device *dev, const struct gtu_graph *g, struct bench_ranks *ranks, unsigned count,
		    struct gtu_error *err);
void bench_ranks_print(const struct bench_ranks *ranks, unsigned count);
/* Write the array "ranks". */
void bench_ranks_json(struct json *j, const struct bench_ranks *ranks, unsigned count);

#endif
