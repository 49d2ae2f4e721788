/* SPDX-License-Identifier: MIT */
/*
 * Reference results for --verify and the tests: the shortest code that is obviously right, sharing
 * nothing with the library's algorithms. Slow is fine.
 *
 * The graph has been checked (gtu_graph_check(), or GTU_GRAPH_CHECKED): these index with what it holds.
 * Each returns 0 or -1 when there is no memory.
 */
#ifndef GTU_REFERENCE_H
#define GTU_REFERENCE_H

#include <stdint.h>

#include "gtu/gtu.h"

/* Queue. level[v]: hops from @source, UINT64_MAX where there is no path. */
int reference_bfs(const struct gtu_graph *g, uint64_t source, uint64_t *level);

/*
 * Dijkstra with a binary heap. distance[v]: INFINITY where there is no path. Sums are made in the type
 * that gtu_sssp() documents: float for F32 weights, exact integers (u64) for u32 and none, else double.
 */
int reference_sssp(const struct gtu_graph *g, uint64_t source, double *distance);

/*
 * Power iteration, pulling over the transpose in double. *change: the greatest change of a rank in the
 * last iteration.
 */
int reference_pagerank(const struct gtu_graph *g, double damping, uint64_t iterations, double *rank,
		       double *change);

/* Union-find. component[v]: lowest vertex of v's weakly connected component. */
int reference_components(const struct gtu_graph *g, uint64_t *component);

/*
 * By the definition: searches from @count sources (NULL: all), then for every pair the share of shortest
 * paths through each vertex by Brandes' recurrence over a queue's order.
 */
int reference_betweenness(const struct gtu_graph *g, const uint64_t *sources, uint64_t count,
			  double *score);

/* The vertex of fewest neighbours is removed, one by one, from a heap. Edges either way count. */
int reference_cores(const struct gtu_graph *g, uint64_t *core);

/*
 * Graph convolution by the definition, in long double, features of gtu_gcn_feature(): z[v * features + f], and
 * in magnitude[] the sum of the magnitudes of what was added up for it.
 */
int reference_gcn(const struct gtu_graph *g, uint32_t features, uint64_t seed, double *z, double *magnitude);

/*
 * Label propagation by the definition: every round, each vertex lists its neighbours' labels (an edge gives one to
 * both its ends, where edges are not stored both ways already), sorts them, and takes the longest run.
 */
int reference_labels(const struct gtu_graph *g, uint64_t iterations, uint64_t *label);

/*
 * Local clustering coefficient by the definition: all edges of each of a vertex' neighbours are looked at, and those
 * that lead to another of them are counted, once each.
 */
int reference_clustering(const struct gtu_graph *g, double *coefficient);

/* Entry of col whose ends have the same colour (a loop is none), or UINT64_MAX: the colouring is valid. */
uint64_t reference_same_color(const struct gtu_graph *g, const uint32_t *color);

#endif
