/* SPDX-License-Identifier: MIT */
/* PageRank of another code against ours at equal error: as far as each is from ranks that no longer change. */
#ifndef GTU_BENCH_GPU_RANKS_H
#define GTU_BENCH_GPU_RANKS_H

#include "gtu/gpu.h"
#include "tools/support/json.h"

#define BENCH_RANKS_MOST 8

struct bench_ranks {
	const char *name, *path;	/* the file: a float32 each vertex, in order, little-endian; of any sum */
	double error;			/* sum of the differences from the converged ranks, all of whose sum is 1 */
	/* ours with the fewest iterations that come as near; iterations 0: none did */
	uint32_t iterations;
	double own_error, seconds;	/* of the traversal */
};

/* Split NAME=FILE, in place; false, with the sentence said: it is none. */
bool bench_ranks_take(char *text, struct bench_ranks *to);
/* Measure ours on the graph that @dev has placed; @count 0: nothing. Errors: a file that is not of @g's size. */
int bench_ranks_run(struct gtu_device *dev, const struct gtu_graph *g, struct bench_ranks *ranks, unsigned count,
		    struct gtu_error *err);
void bench_ranks_print(const struct bench_ranks *ranks, unsigned count);
/* An array "ranks". */
void bench_ranks_json(struct json *j, const struct bench_ranks *ranks, unsigned count);

#endif
