/* SPDX-License-Identifier: MIT */
/*
 * Calls a function for all edges of a frontier, with the unit chosen by the caller. An algorithm that
 * does not depend on the order of edges is written once over this interface and runs with every unit.
 *
 * The SCU expands targets and replicates sources (SCU, section 3.3); the enhanced unit groups both
 * by the target's line (SCU, section 4.2). The IRU reorders targets and returns positions (IRU,
 * section 3). GraphPEG gathers edges (GraphPEG, section 3.3). Weaver distributes edge ids with their
 * targets (SparseWeaver, figure 9). Every unit reads the edge list in place, and no edge is dropped.
 */
#ifndef GTU_ALGORITHM_FOR_EACH_EDGE_H
#define GTU_ALGORITHM_FOR_EACH_EDGE_H

#include "common.h"
#include "gtu/weave.h"

#define GTU_ALG_BATCH 1024

/* A batch of edges; targets are below n (except with `values`). */
struct gtu_alg_batch {
	unsigned n;
	uint64_t source[GTU_ALG_BATCH];	/* the frontier's vertex, also with a transpose */
	uint64_t target[GTU_ALG_BATCH];	/* the other end; 0 with a custom storage (use getEdge) */
	uint64_t edge[GTU_ALG_BATCH];	/* index in col; with SCU and IRU only if edge_indices is set */
	const void *weight;		/* with `weights`: of the graph's weight type; else, or without weights, NULL */
};

/* Called with 1 to GTU_ALG_BATCH edges; a non-zero return ends the loop and is returned. */
typedef int gtu_alg_edge_fn(void *context, const struct gtu_alg_batch *batch);

/* Whether @vertex (a source of batches) needs no more edges; units that can will skip the rest. */
typedef bool gtu_alg_enough(void *context, uint64_t vertex);

struct gtu_alg_for_each_edge {
	struct gtu_alg_work w;
	struct gtu_alg_filter group;	/* SCU */
	bool grouping;			/* group is initialized */
	struct gtu_alg_buffer source;	/* SCU, IRU: source of each edge of w.edge */
	struct gtu_alg_frontier inside;	/* PEG: part of the frontier in the run's range */
	struct gtu_peg *peg;
	struct gtu_weaver *weaver;
	uint32_t target_width;
	/* set by the caller before the first loop: */
	bool edge_indices;		/* SCU and IRU also return edge indices, which takes memory per edge */
	bool weights;			/* batches carry weights, by PEG and Weaver; SCU and IRU need edge_indices */
	bool values;			/* col does not hold vertices: targets are not checked, and the IRU reorders indices */
	bool pull;			/* the graph is a transpose: sources of batches are the edges' targets */
	struct gtu_alg_frontier *out;	/* or NULL; takes the vertices of gtu_alg_emit(), whose space is reserved */
	gtu_alg_enough *enough;		/* or NULL; Weaver skips, CPU code stops, others deliver all */
	/*
	 * or NULL: frontiers hold its entries, sources of batches are its vertices; the graph has
	 * its sizes
	 */
	const struct gtu_weave_storage *storage;
	const uint64_t *vertex;		/* storage: vertex of each entry, for the other units; NULL: identical */
	struct gtu_alg_buffer edge_index;	/* index_width bytes: index of each edge of w.edge */
	struct gtu_alg_batch batch;
	uint64_t weight[GTU_ALG_BATCH];	/* storage of batch.weight */
	uint32_t weight_bytes;
	/* PEG: vertices for the output list of the running stream */
	bool pushing;
	unsigned lanes;			/* in lane[] */
	uint64_t lane[GTU_WARP], pushed;	/* not pushed yet; number of those pushed */
};

/*
 * Prepare loops over edges of @g; their targets will index elements of @target_width bytes (1 to 128,
 * a power of two). Call gtu_alg_edges_end() before gtu_alg_end().
 */
int gtu_alg_edges_begin(struct gtu_alg *a, struct gtu_alg_for_each_edge *edges, const struct gtu_graph *g,
			uint32_t target_width);
int gtu_alg_edges_end(struct gtu_alg *a, struct gtu_alg_for_each_edge *edges, int rc);

/*
 * Call @visitor for every edge that leaves a vertex of @f within the work's range, once per occurrence
 * of the vertex. Rows and targets out of bounds end it with an error. @f must not change meanwhile.
 */
int gtu_alg_for_each_edge(struct gtu_alg *a, struct gtu_alg_for_each_edge *edges, const struct gtu_alg_frontier *f,
		  gtu_alg_edge_fn *visitor, void *context);

/* GTU_ERR_INPUT if what a storage's get_neighbor() has returned is out of its bounds. */
int gtu_alg_check_entry(const struct gtu_weave_storage *s, uint64_t entry, uint64_t base, uint64_t first,
			uint64_t degree, struct gtu_error *err);

/*
 * Append @v to edges->out, for visitors. With PEG it is pushed into the unit's output list, which
 * is appended when the loop ends, in the unit's order: the visitor must not read edges->out.
 */
int gtu_alg_push_lanes(struct gtu_alg *a, struct gtu_alg_for_each_edge *edges);
static inline int gtu_alg_emit(struct gtu_alg *a, struct gtu_alg_for_each_edge *edges, uint64_t v)
{
	if (!edges->pushing) {
		gtu_alg_push(a, edges->out, v);
		return 0;
	}
	edges->lane[edges->lanes++] = v;
	return edges->lanes == GTU_WARP ? gtu_alg_push_lanes(a, edges) : 0;
}

/*
 * PEG's vertex-list mode: append the vertices of @in that @keep accepts to @out, another list with
 * enough space.
 */
int gtu_alg_filter_list(struct gtu_alg *a, struct gtu_alg_for_each_edge *edges, const struct gtu_alg_frontier *in,
			struct gtu_alg_frontier *out, bool (*keep)(void *context, uint64_t v), void *context);

#endif
