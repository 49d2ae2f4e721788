/* SPDX-License-Identifier: MIT */
/* Edge weights as a function of the two endpoints: equal in both directions, and reproducible. */
#ifndef GTU_END_WEIGHTS_H
#define GTU_END_WEIGHTS_H

#include "gtu/graph.h"

/*
 * For each of the g->m entries: @min + gtu_splitmix64_hash(min(u, v) << 32 ^ max(u, v)) % (@max - @min +
 * 1). NULL: out of memory.
 */
uint32_t *end_weights(const struct gtu_graph *g, uint32_t min, uint32_t max);

#endif
