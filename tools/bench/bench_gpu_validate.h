/* SPDX-License-Identifier: MIT */
/* Validates results on undirected graphs by rules that need no other implementation. */
#ifndef GTU_BENCH_GPU_VALIDATE_H
#define GTU_BENCH_GPU_VALIDATE_H

#include "gtu/graph.h"

enum bench_validation_rule { BENCH_VALIDATE_BFS, BENCH_VALIDATE_SSSP, BENCH_VALIDATE_CC, BENCH_VALIDATE_PR };

/*
 * Check a result by all edges of as many vertices as @seconds permit, on all CPUs. BFS: Graph500's validation by
 * levels. SSSP: the triangle inequality, and a neighbour that gives each distance. CC: one label on both ends of
 * an edge, which is a vertex of that label and not above any. PR: one iteration by plain code, from the ranks
 * @before the last iteration, which it overwrites, gives the result; the others ignore @before.
 * *share: of the vertices, in units of 1 / 64. GTU_ERR_VERIFY names a vertex.
 */
int bench_validate(enum bench_validation_rule rule, const struct gtu_graph *g, uint64_t source, const void *result,
		   double *before, double seconds, double *share, struct gtu_error *err);

#endif
