// SPDX-License-Identifier: MIT
/*
 * Devices that run whole algorithms (GPUs) as ranks. Each places a graph with the vertex numbers of the
 * whole one, in which vertices of other ranks have no edges, so that its kernels need no other numbers.
 */
#include <stdlib.h>
#include <string.h>

#include "gtu/gpu.h"
#include "run.h"

/* The lists of vertices @first up to @end of @n in @lists, where their rows begin at @row. */
static int create(struct gtu_rank_graph *part, const struct gtu_graph *lists, uint64_t n, const uint64_t *row,
		  uint64_t first, uint64_t end, struct gtu_error *err)
{
	const uint64_t base = first < end ? row[0] : 0, stop = first < end ? row[end - first] : 0;
	struct gtu_graph *to = &part->graph;
	uint64_t v;

	memset(part, 0, sizeof(*part));
	if (base > stop || stop > lists->m)
		return gtu_fail(err, GTU_ERR_INPUT, "%s: the rows of vertices %llu up to %llu are damaged", lists->name,
				(unsigned long long)first, (unsigned long long)end);
	part->row = malloc((n + 1) * sizeof(*part->row));
	if (!part->row)
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for the rows of %llu vertices", (unsigned long long)n);
	for (v = 0; v <= n; v++)
		part->row[v] = v < first ? 0 : v < end ? row[v - first] - base : stop - base;
	*to = *lists;
	to->n = n;
	to->row = part->row;
	to->m = stop - base;
	to->flags = (lists->flags & ~(uint32_t)GTU_GRAPH_PART) | GTU_GRAPH_DIRECTED;
	to->ids = NULL;
	to->backing = NULL;
	if (to->m)
		to->col = (const char *)lists->col + base * lists->edge_bytes;
	if (to->m && lists->weight)
		to->weight = (const char *)lists->weight + base * gtu_weight_bytes(lists->weight_type);
	return 0;
}

int gtu_rank_graph_create(struct gtu_rank_graph *part, const struct gtu_graph *g, uint64_t first, uint64_t end,
			  struct gtu_error *err)
{
	int rc = create(part, g, g->n, g->row + first, first, end, err);

	part->of = g;
	return rc;
}

void gtu_rank_graph_destroy(struct gtu_rank_graph *part)
{
	free(part->row);
	memset(part, 0, sizeof(*part));
}

/* Place the lists of both directions beside the placed graph. Collective. */
static int place_both(struct gtu_ranked *k, struct gtu_device *dev, struct gtu_rank_graph *part,
		      enum gtu_part_direction direction)
{
	static const struct gtu_placement_options usual;
	int rc = gtu_part_edges_begin(&k->part, &k->local, k->whole, direction, false);

	if (!rc)
		rc = create(part, &k->local.graph, k->whole->n, k->local.graph.row, k->part.first, k->part.end, k->x->err);
	return rc ? rc : dev->ops->traversal->placement_create(dev, &part->graph, &usual, k->x->err);
}

int gtu_run_rank_traversal(struct gtu_ranked *k, struct gtu_device *dev, struct gtu_rank_graph *part,
			   enum gtu_ranked_algorithm what, enum gtu_part_direction direction,
			   struct gtu_algorithm_stats *stats)
{
	const struct gtu_rank_run run = {
		.x = k->x, .graph = k->whole, .cut = k->part.cut, .what = what, .opt = k->a.opt, .result = k->result,
		.stats = stats ? stats : k->a.stats,
	};
	const struct gtu_traversal_ops *ops = dev->ops->traversal;
	const bool both = direction != GTU_PART_STORED, placed = !both && part->of == k->whole;
	struct gtu_rank_graph derived = { 0 };
	uint64_t none = 0;
	int rc = 0, placing = 0;

	if (both) {
		ops->placement_swap(dev);
		rc = placing = place_both(k, dev, &derived, direction);
	} else if (!placed) {
		rc = gtu_rank_graph_create(part, k->whole, k->part.first, k->part.end, k->x->err);
		if (!rc)
			rc = gtu_placement_create(dev, &part->graph, NULL, k->x->err);
	}
	rc = gtu_agree(k->x, rc, &none, 1);
	if (!rc)
		rc = ops->ranked(dev, &run);
	k->a.stats = run.stats;
	if (both) {
		if (!placing)
			ops->placement_destroy(dev);
		ops->placement_swap(dev);
		gtu_rank_graph_destroy(&derived);
	} else if (!placed) {
		gtu_placement_destroy(dev);
		gtu_rank_graph_destroy(part);
	}
	return rc;
}
