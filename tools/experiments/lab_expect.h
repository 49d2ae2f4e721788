/* SPDX-License-Identifier: MIT */
/* What a graph kernel of the laboratory has to compute, by the tool's reference code. */
#ifndef GTU_LAB_EXPECT_H
#define GTU_LAB_EXPECT_H

#include "gtu/error.h"
#include "gtu/graph.h"

enum lab_expect_what { LAB_LEVELS, LAB_DISTANCES, LAB_COMPONENTS, LAB_RANKS, LAB_CORES, LAB_SHARES };

/* n values (ranks and LAB_SHARES, the dependencies on @source: doubles), to be freed; NULL and a sentence where there is no memory. Damping is 0.85. */
uint64_t *lab_expect(const struct gtu_graph *g, enum lab_expect_what what, uint64_t source, uint64_t iterations,
		     struct gtu_error *err);
/*
 * GTU_ERR_VERIFY with the first vertex whose 32-bit @result is another. Not reached is all ones. Ranks and shares are floats, summed in any
 * order: within a thousandth, or what so many roundings can come to at a vertex with over 16,000 edges.
 */
int lab_expect_same(const struct gtu_graph *g, enum lab_expect_what what, const uint64_t *expected,
		    const uint32_t *result, struct gtu_error *err);

/* The same pseudo-random number for the same @x. */
uint64_t lab_mix(uint64_t x);
/* The @i-th random vertex with edges; the graph has an edge. */
uint32_t lab_source(const struct gtu_graph *g, unsigned i);

#endif
