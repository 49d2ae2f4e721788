/* SPDX-License-Identifier: MIT */
/*
 * Whole algorithms on devices that run them (GTU_WITH_GPU; struct gtu_traversal_ops in backend.h).
 */
#ifndef GTU_TRAVERSE_H
#define GTU_TRAVERSE_H

#include "gtu/gtu.h"

enum gtu_traversal {
	GTU_TRAVERSE_BFS, GTU_TRAVERSE_SSSP, GTU_TRAVERSE_PAGERANK, GTU_TRAVERSE_COMPONENTS, GTU_TRAVERSALS
};

/* One of them over the placed graph. @result: the array of the library's function, such as gtu_bfs(). */
typedef int gtu_traversal_fn(struct gtu_device *dev, const struct gtu_algorithm_options *opt, void *result,
			     struct gtu_algorithm_stats *stats, struct gtu_error *err);

/* Run over the placed graph, or place it for this run only. (api_placement.c) */
int gtu_traverse(struct gtu_device *dev, const struct gtu_graph *g, enum gtu_traversal what,
		 const struct gtu_algorithm_options *opt, void *result, struct gtu_algorithm_stats *stats,
		 struct gtu_error *err);

#endif
