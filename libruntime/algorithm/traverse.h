/* SPDX-License-Identifier: MIT */
/* GTU_WITH_GPU: an algorithm as a whole on a device that has its own (backend.h, struct gtu_traversal_ops). */
#ifndef GTU_ALGORITHM_TRAVERSE_H
#define GTU_ALGORITHM_TRAVERSE_H

#include "gtu/gtu.h"

enum gtu_traversal { GTU_TRAVERSE_BFS, GTU_TRAVERSE_SSSP, GTU_TRAVERSE_PAGERANK, GTU_TRAVERSE_COMPONENTS };

/* Over the graph as placed; one that is not is placed for this run alone. (api_place.c) */
int gtu_traverse(struct gtu_device *dev, const struct gtu_graph *g, enum gtu_traversal what,
		 const struct gtu_algorithm_options *opt, void *result, struct gtu_algorithm_stats *stats,
		 struct gtu_error *err);

#endif
