/* SPDX-License-Identifier: MIT */
/* Input of the programs in tests/cuda/weave_programs.h. */
#ifndef WEAVE_INPUTS_H
#define WEAVE_INPUTS_H

#include "library.h"
#include "tests/cuda/weave_programs.h"

/* Arrays for @g, @seen calls at most; *weighted: the graph with weights of 1 to 32. */
static inline struct weave_data weave_inputs(const struct gtu_graph *g, uint64_t seen, struct gtu_graph *weighted)
{
	uint32_t *weight = test_alloc(g->m, 4);

	for (uint64_t e = 0; e < g->m; e++)
		weight[e] = 1 + (uint32_t)(gtu_graph_target(g, e) * 7 % 32);
	*weighted = *g;
	weighted->weight = weight;
	weighted->weight_type = GTU_WEIGHT_U32;
	/* the laboratory takes arrays of whole 8 bytes */
	return (struct weave_data){
		.source = (uint32_t)busiest(g),
		.level = test_alloc(g->n, 8), .active = test_alloc(g->n, 8), .next = test_alloc(g->n, 8),
		.rank = test_alloc(g->n, 8), .sum = test_alloc(g->n, 8), .seen = test_alloc(seen, 8),
	};
}

#endif
