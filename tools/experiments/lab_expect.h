/* SPDX-License-Identifier: MIT */
/* Reference results for the laboratory's graph kernels. */
#ifndef GTU_LAB_EXPECT_H
#define GTU_LAB_EXPECT_H

#include "gtu/error.h"
#include "gtu/graph.h"
#include "gtu/splitmix64.h"

enum lab_expect_what { LAB_LEVELS, LAB_DISTANCES, LAB_COMPONENTS, LAB_RANKS, LAB_CORES, LAB_SHARES };

/*
 * Compute n values, to be freed. Ranks, and LAB_SHARES (dependencies on @source), are doubles.
 * Damping is 0.85. NULL and GTU_ERR_NOMEM without memory.
 */
uint64_t *lab_expect(const struct gtu_graph *g, enum lab_expect_what what, uint64_t source, uint64_t iterations,
		     struct gtu_error *err);
/*
 * Compare @result (32-bit). GTU_ERR_VERIFY names the first vertex that differs. Unreached is all
 * ones. Ranks and shares are floats summed in any order: the tolerance is 1/1000, or the rounding
 * bound of a vertex with more than 16,000 edges.
 */
int lab_expect_same(const struct gtu_graph *g, enum lab_expect_what what, const uint64_t *expected,
		    const uint32_t *result, struct gtu_error *err);

/*
 * Convert @g to 4-byte edges in @to and, unless @values is 0, add pseudo-random weights of @min to
 * @min + @values - 1. *weight and *col must be freed, also after an error; they are NULL where
 * @g's own arrays are used. GTU_ERR_INPUT: the graph has no edges.
 */
int lab_narrow(const struct gtu_graph *g, uint32_t min, uint32_t values, struct gtu_graph *to, uint32_t **weight,
	       uint32_t **col, struct gtu_error *err);
/* The @i-th random vertex with edges; the graph must have an edge. */
uint32_t lab_source(const struct gtu_graph *g, unsigned i);

#endif
