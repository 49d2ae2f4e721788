/* SPDX-License-Identifier: MIT */
/* Access to the rows and weights of a graph. */
#ifndef GTU_GRAPH_ACCESS_H
#define GTU_GRAPH_ACCESS_H

#include "gtu/graph.h"

/* Element @e of an array of weights; 1 without weights. */
static inline double gtu_weight_number(uint32_t type, const void *weight, uint64_t e)
{
	switch (type) {
	case GTU_WEIGHT_U32: return ((const uint32_t *)weight)[e];
	case GTU_WEIGHT_F32: return ((const float *)weight)[e];
	case GTU_WEIGHT_F64: return ((const double *)weight)[e];
	}
	return 1;
}

/* The weight of edge @e; 1 without weights. */
static inline double gtu_graph_weight(const struct gtu_graph *g, uint64_t e)
{
	return gtu_weight_number(g->weight_type, g->weight, e);
}

/* Report that vertex @v of a graph with @m edges has the edges [@first, @end). */
static inline int gtu_fail_row(const char *graph, uint64_t v, uint64_t first, uint64_t end, uint64_t m,
			       struct gtu_error *err)
{
	return gtu_fail(err, GTU_ERR_INPUT,
			"%s: vertex %llu has edges [%llu, %llu) of %llu: the graph is damaged", graph,
			(unsigned long long)v, (unsigned long long)first, (unsigned long long)end,
			(unsigned long long)m);
}

#endif
