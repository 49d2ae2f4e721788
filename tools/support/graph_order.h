/* SPDX-License-Identifier: MIT */
/* Locality of a graph's vertex order. */
#ifndef GTU_GRAPH_ORDER_H
#define GTU_GRAPH_ORDER_H

#include "gtu/graph.h"

/*
 * Measures of the order in which vertices are numbered. A random order has a distance of 1/3 and, in
 * a large sparse graph, 32 lines.
 */
struct graph_order {
	double distance;		/* mean |u - v| / n over the edges */
	double lines; /* 128-byte lines of 4-byte vertex data that 32 consecutive edges touch, mean */
};
/* GTU_ERR_INTERRUPTED if @progress stops it. Without edges, both are 0. */
int graph_order_measure(const struct gtu_graph *g, const struct gtu_progress *progress, struct graph_order *order,
			struct gtu_error *err);

#endif
