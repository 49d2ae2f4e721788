/* SPDX-License-Identifier: MIT */
/* Graphs by rule for gtu bench gpu: as large as host memory, and made as fast as it can be written. */
#ifndef GTU_BENCH_GPU_RULE_H
#define GTU_BENCH_GPU_RULE_H

#include <stdbool.h>

#include "gtu/graph.h"

/* Whether @name is rule:SCALE or rule:SCALE:DEGREE. */
bool bench_rule_is(const char *name);
/*
 * Make the undirected graph @name of 2^SCALE vertices. Its edges are those between v and p(v) for DEGREE / 3
 * (16) permutations p of all vertices and as many of the first half, so that the first half has 4 / 3 of DEGREE
 * stored entries a vertex and the other half 2 / 3, and lists are written without a sort. Release it with
 * bench_rule_free().
 */
int bench_rule_make(const char *name, struct gtu_graph *g, struct gtu_error *err);
void bench_rule_free(struct gtu_graph *g);

#endif
