/* SPDX-License-Identifier: MIT */
/* A graph's vertices numbered by its communities. */
#ifndef GTU_GRAPH_COMMUNITY_H
#define GTU_GRAPH_COMMUNITY_H

#include "gtu/graph.h"

/*
 * Rabbit Order (Arai and others, IPDPS 2016), without its threads: each vertex, by ascending degree, is
 * merged into the neighbor with the largest gain in modularity, if any has one; the trees of merges
 * are numbered in depth-first order. @g is undirected, without weights and self loops.
 */
int graph_community_order(const struct gtu_graph *g, struct gtu_graph **out, struct gtu_error *err);

#endif
