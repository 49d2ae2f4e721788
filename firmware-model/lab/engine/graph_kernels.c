// SPDX-License-Identifier: MIT
/* The near-far step width. */
#include "graph_kernels.h"

uint32_t lab_near_far_step(const struct gtu_graph *g)
{
	const uint32_t *weight = g->weight;
	double sum = 0;
	uint64_t e;

	for (e = 0; e < g->m; e++)
		sum += weight[e];
	sum = g->m ? LAB_LANES * (sum / (double)g->m) * (double)g->n / (double)g->m : 1;
	return sum < 1 ? 1 : sum > 1e9 ? 1000000000u : (uint32_t)sum;
}
