/* SPDX-License-Identifier: MIT */
/* Clustering coefficients: the state of a run, and the oriented graph in which triangles are counted. */
#ifndef GTU_ALGORITHM_CLUSTERING_H
#define GTU_ALGORITHM_CLUSTERING_H

#include "for_each_edge.h"
#include "shares.h"

#define GTU_CLUSTERING_LIGHT	2048u	/* vertices per work share where a vertex takes little work */

struct gtu_clustering_run {
	struct gtu_alg a;
	struct gtu_graph *transposed, *sorted;	/* transpose of a directed graph; copy with sorted lists, if they were not */
	const struct gtu_graph *out, *in;	/* in: NULL if edges are stored in both directions */
	struct gtu_device *gpu;		/* counts the triangles; or NULL */
	const struct gtu_algorithm_options *gpu_options;
	struct gtu_graph up;		/* oriented graph: edges to neighbours with more neighbours, sorted */
	uint64_t *up_row;		/* its arrays */
	void *up_col;
	uint8_t *twice;			/* per entry of up: edge in both directions; NULL: all are */
	uint64_t *degree;		/* number of neighbours */
	atomic_uint_fast64_t *closed;	/* ordered pairs of neighbours joined by an edge */
	atomic_bool descends;		/* a list is not sorted */
	atomic_bool irregular;		/* a list has duplicates or its own vertex, is not sorted or is damaged */
	bool simple;			/* each edge is stored in both directions, and no list is irregular */
	struct gtu_alg_shares shares;
	struct gtu_team team;
	double *coefficient;		/* output */
	/* with a unit: the vertices whose edges are requested */
	struct gtu_alg_for_each_edge edges;
	struct gtu_alg_frontier requested;
	struct gtu_alg_buffer slot;	/* n u32: position in requested, from 1; 0: absent */
	struct gtu_alg_buffer begin;	/* u64 per position: start of its requesters */
	struct gtu_alg_buffer requester;	/* u64: requesting entries of up */
	struct gtu_alg_buffer owner;	/* u32 per entry of the group: its vertex - first */
	uint64_t first, end, streamed;
};

/*
 * clustering_up.c: count the neighbours of every vertex; then set up c->up. The caller frees the
 * arrays and closes the graphs.
 */
int gtu_clustering_neighbours(struct gtu_clustering_run *c);
int gtu_clustering_point_up(struct gtu_clustering_run *c);
int gtu_clustering_no_memory(struct gtu_clustering_run *c);

#endif
