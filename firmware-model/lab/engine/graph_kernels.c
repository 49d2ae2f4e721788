// SPDX-License-Identifier: MIT
/* The host's part of the graph kernels: arrays, ranks, the near-far step. */
#include "graph_kernels.h"

int lab_graph_arrays(struct lab *lab, const struct gtu_graph *g, struct lab_array *row, struct lab_array *col,
		     struct lab_array *weight, const struct lab_want *want, unsigned wants, struct gtu_error *err)
{
	int rc = lab_map(lab, "col", g->col, 4 * g->m, LAB_DEVICE, col, err);
	uint64_t v;

	if (!rc && weight)
		rc = lab_map(lab, "weight", g->weight, 4 * g->m, LAB_DEVICE, weight, err);
	for (; wants-- && !rc; want++)
		rc = want->words ? lab_alloc(lab, want->name, 4 * want->words, LAB_DEVICE, want->array, err) : 0;
	for (v = 0; v <= g->n && !rc; v++)
		lab_words(row)[v] = (uint32_t)g->row[v];
	return rc;
}

int lab_graph_weights(const struct gtu_graph *g, const char *what, struct gtu_error *err)
{
	return g->weight_type == GTU_WEIGHT_U32 && g->weight ? 0 :
	       gtu_fail(err, GTU_ERR_USAGE, "%s: %s in the laboratory needs 32-bit integer weights", g->name, what);
}

void lab_ranks_init(const struct gtu_graph *g, float *rank)
{
	uint64_t v;

	for (v = 0; v < g->n; v++)
		rank[v] = (float)(1 / (double)g->n);
}

float lab_rank_base(const struct gtu_graph *g, const float *rank)
{
	double lost = 0;
	uint64_t v;

	for (v = 0; v < g->n; v++)
		lost += g->row[v] == g->row[v + 1] ? rank[v] : 0;
	return (float)((0.15 + 0.85 * lost) / (double)g->n);
}

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
