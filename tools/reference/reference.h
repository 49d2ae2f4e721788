/* SPDX-License-Identifier: MIT */
/*
 * Reference results for --verify and the tests: the simplest code that is obviously correct. It
 * shares no code with the library's algorithms and need not be fast.
 *
 * The functions require a checked graph (gtu_graph_check(), or GTU_GRAPH_CHECKED) because they use
 * its values as indices. Each returns 0, or -1 if memory is short.
 */
#ifndef GTU_REFERENCE_H
#define GTU_REFERENCE_H

#include <stdint.h>

#include "gtu/gtu.h"

/* BFS with a queue. level[v]: hops from @source, UINT64_MAX if unreachable. */
int reference_bfs(const struct gtu_graph *g, uint64_t source, uint64_t *level);

/*
 * Dijkstra with a binary heap. distance[v]: INFINITY if unreachable. Sums have the type that
 * gtu_sssp() documents: float for F32 weights, u64 for u32 and no weights, otherwise double.
 */
int reference_sssp(const struct gtu_graph *g, uint64_t source, double *distance);

/*
 * Power iteration, pulling over the transpose in double. *change: the greatest change of a rank in the
 * last iteration.
 */
int reference_pagerank(const struct gtu_graph *g, double damping, uint64_t iterations, double *rank,
		       double *change);
/* The same number of iterations from the ranks that @rank has. */
int reference_pagerank_from(const struct gtu_graph *g, double damping, uint64_t iterations, double *rank,
			    double *change);

/* Union-find. component[v]: lowest vertex of v's weakly connected component. */
int reference_components(const struct gtu_graph *g, uint64_t *component);

/*
 * Betweenness by Brandes' recurrence from @count sources (NULL: all vertices): for every pair, the
 * share of the shortest paths that pass through each vertex.
 */
int reference_betweenness(const struct gtu_graph *g, const uint64_t *sources, uint64_t count,
			  double *score);

/*
 * Core numbers: remove the vertex with the fewest neighbours until none is left. Directions are
 * ignored.
 */
int reference_cores(const struct gtu_graph *g, uint64_t *core);

/*
 * Graph convolution by the definition, in long double, on the features of gtu_gcn_feature(). The
 * result is z[v * features + f]; magnitude[] has the sum of the absolute values of its terms.
 */
int reference_gcn(const struct gtu_graph *g, uint32_t features, uint64_t seed, double *z, double *magnitude);

/*
 * Label propagation by the definition. Every round, each vertex takes the most frequent label of
 * its neighbours, the lowest if several are equally frequent. An edge connects both of its ends.
 */
int reference_labels(const struct gtu_graph *g, uint64_t iterations, uint64_t *label);

/*
 * Local clustering coefficient by the definition: for each neighbour of a vertex, count the
 * distinct edges that lead to another neighbour of the vertex.
 */
int reference_clustering(const struct gtu_graph *g, double *coefficient);

/*
 * The index of an edge whose ends have the same colour (self loops excepted); UINT64_MAX: valid
 * colouring.
 */
uint64_t reference_same_color(const struct gtu_graph *g, const uint32_t *color);

#endif
