/* SPDX-License-Identifier: MIT */
/*
 * Whole algorithms on devices that run them (GTU_WITH_GPU; struct gtu_traversal_ops in backend.h).
 */
#ifndef GTU_TRAVERSE_H
#define GTU_TRAVERSE_H

#include "gtu/gtu.h"

enum gtu_traversal {
	GTU_TRAVERSE_BFS, GTU_TRAVERSE_SSSP, GTU_TRAVERSE_PAGERANK, GTU_TRAVERSE_COMPONENTS,
	GTU_TRAVERSE_BETWEENNESS, GTU_TRAVERSE_STCON, GTU_TRAVERSE_GCN,
	/* of graphs with edges stored in both directions: */
	GTU_TRAVERSE_COLORING, GTU_TRAVERSE_CORES, GTU_TRAVERSE_LABELS,
	/*
	 * Of a graph oriented by degree, with sorted lists: the weighted triangles at each vertex, 8
	 * bytes each, for gtu_clustering(). An edge counts its weight, 1 or 2, or without weights 2.
	 */
	GTU_TRAVERSE_TRIANGLES,
	GTU_TRAVERSALS
};

/* One of them over the placed graph. @result: the array of the library's function, such as gtu_bfs(). */
typedef int gtu_traversal_fn(struct gtu_device *dev, const struct gtu_algorithm_options *opt, void *result,
			     struct gtu_algorithm_stats *stats, struct gtu_error *err);

/* Run over the placed graph, or place it for this run only. (api_placement.c) */
int gtu_traverse(struct gtu_device *dev, const struct gtu_graph *g, enum gtu_traversal what,
		 const struct gtu_algorithm_options *opt, void *result, struct gtu_algorithm_stats *stats,
		 struct gtu_error *err);
/*
 * Run over @derived, made from @g for this run. It is placed like @g, if that is placed, beside which
 * it takes memory: if that is refused, as with GTU_EDGES_AUTO.
 */
int gtu_traverse_derived(struct gtu_device *dev, const struct gtu_graph *g, const struct gtu_graph *derived,
			 enum gtu_traversal what, const struct gtu_algorithm_options *opt, void *result,
			 struct gtu_algorithm_stats *stats, struct gtu_error *err);
/* Run over @g, symmetrized if it is directed. */
int gtu_traverse_both_ways(struct gtu_device *dev, const struct gtu_graph *g, enum gtu_traversal what,
			   const struct gtu_algorithm_options *opt, void *result, struct gtu_algorithm_stats *stats,
			   struct gtu_error *err);

#endif
