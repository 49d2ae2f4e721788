// SPDX-License-Identifier: MIT
/*
 * Devices that run whole algorithms (GPUs) as ranks. Each places a graph with the vertex numbers of the
 * whole one, in which vertices of other ranks have no edges, so that its kernels need no other numbers.
 */
#include <stdlib.h>
#include <string.h>

#include "gtu/gpu.h"
#include "run.h"

int gtu_rank_graph_create(struct gtu_rank_graph *part, const struct gtu_graph *g, uint64_t first, uint64_t end,
			  struct gtu_error *err)
{
	const uint64_t base = first < end ? g->row[first] : 0, stop = first < end ? g->row[end] : 0;
	struct gtu_graph *to = &part->graph;
	uint64_t v;

	memset(part, 0, sizeof(*part));
	if (base > stop || stop > g->m)
		return gtu_fail(err, GTU_ERR_INPUT, "%s: the rows of vertices %llu up to %llu are damaged", g->name,
				(unsigned long long)first, (unsigned long long)end);
	part->row = malloc((g->n + 1) * sizeof(*part->row));
	if (!part->row)
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for the rows of %llu vertices", (unsigned long long)g->n);
	for (v = 0; v <= g->n; v++)
		part->row[v] = v < first ? 0 : v < end ? g->row[v] - base : stop - base;
	*to = *g;
	to->row = part->row;
	to->m = stop - base;
	to->flags = (g->flags & ~(uint32_t)GTU_GRAPH_PART) | GTU_GRAPH_DIRECTED;
	to->ids = NULL;
	to->backing = NULL;
	if (to->m)
		to->col = (const char *)g->col + base * g->edge_bytes;
	if (to->m && g->weight)
		to->weight = (const char *)g->weight + base * gtu_weight_bytes(g->weight_type);
	part->of = g;
	return 0;
}

void gtu_rank_graph_destroy(struct gtu_rank_graph *part)
{
	free(part->row);
	memset(part, 0, sizeof(*part));
}

int gtu_run_rank_traversal(struct gtu_ranked *k, struct gtu_device *dev, struct gtu_rank_graph *part,
			   enum gtu_ranked_algorithm what, struct gtu_algorithm_stats *stats)
{
	const struct gtu_rank_run run = {
		.x = k->x, .graph = k->whole, .cut = k->part.cut, .what = what, .opt = k->a.opt, .result = k->result,
		.stats = stats ? stats : k->a.stats,
	};
	const bool placed = part->of == k->whole;
	uint64_t none = 0;
	int rc = 0;

	if (!placed) {
		rc = gtu_rank_graph_create(part, k->whole, k->part.first, k->part.end, k->x->err);
		if (!rc)
			rc = gtu_placement_create(dev, &part->graph, NULL, k->x->err);
	}
	rc = gtu_agree(k->x, rc, &none, 1);
	if (!rc)
		rc = dev->ops->traversal->ranked(dev, &run);
	k->a.stats = run.stats;
	if (!placed) {
		gtu_placement_destroy(dev);
		gtu_rank_graph_destroy(part);
	}
	return rc;
}
