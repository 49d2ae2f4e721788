/* SPDX-License-Identifier: MIT */
/* Compares results of the IRU's and the SCU's kernels with the tool's reference. */
#ifndef LAB_SAME_H
#define LAB_SAME_H

#include <math.h>

#include "firmware-model/lab/kernels/iru_graph.h"
#include "tools/reference/reference.h"

static bool same(const struct gtu_graph *g, unsigned algorithm, uint32_t source, uint32_t iterations,
		 const uint32_t *got)
{
	uint64_t *whole = calloc(g->n, 8), v;
	double *real = calloc(g->n, 8), change;
	bool equal = true;

	if (algorithm == LAB_IRU_BFS)
		reference_bfs(g, source, whole);
	if (algorithm == LAB_IRU_SSSP)
		reference_sssp(g, source, real);
	if (algorithm == LAB_IRU_PR)
		reference_pagerank(g, 0.85, iterations, real, &change);
	for (v = 0; v < g->n; v++) {
		if (algorithm == LAB_IRU_SSSP)
			whole[v] = isinf(real[v]) ? UINT64_MAX : (uint64_t)real[v];
		if (algorithm == LAB_IRU_PR)
			equal &= fabs((double)((const float *)got)[v] - real[v]) <= 1e-5 * real[v] + 1e-9;
		else
			equal &= got[v] == (uint32_t)whole[v];
	}
	free(whole);
	free(real);
	return equal;
}

#endif
