/* SPDX-License-Identifier: MIT */
/*
 * A run of an algorithm over ranks. Every rank traverses its own edges by gtu_alg_for_each_edge(), with
 * any unit, and then exchanges messages: "fold" sends what it found about targets to their owners,
 * "expand" sends what an owner knows to the ranks that have edges of its vertices.
 */
#ifndef GTU_RANKS_RUN_H
#define GTU_RANKS_RUN_H

#include "libruntime/algorithm/for_each_edge.h"
#include "libruntime/device/backend.h"
#include "libruntime/support/ranked.h"
#include "partition.h"

struct gtu_ranked {
	struct gtu_alg a;
	struct gtu_graph head;		/* sizes of the whole graph, for a.g */
	struct gtu_exchange *x;
	struct gtu_part part;
	const struct gtu_graph *whole;	/* the caller's, of which this rank's edges may be read */
	struct gtu_part_edges local;
	struct gtu_alg_for_each_edge edges;
	/* the algorithm's, against edges: here, since a.buffers may list its buffers until the run's end */
	struct gtu_alg_for_each_edge back;
	struct gtu_alg_frontier rows;	/* rows to traverse; space for all */
	struct gtu_outbox box;
	void *result;			/* of this rank's vertices */
	struct gtu_algorithm_options opt;	/* the caller's, with `progress` */
	struct gtu_progress progress;	/* also says that this rank works */
	const struct gtu_progress *callers;
	bool silent;			/* in a device's job: do not say so */
};

/* Every rank calls the same algorithm; k->edges is ready, and the ranks agree on the options. */
int gtu_ranked_bfs(struct gtu_ranked *k);
int gtu_ranked_sssp(struct gtu_ranked *k);
int gtu_ranked_pagerank(struct gtu_ranked *k);
int gtu_ranked_components(struct gtu_ranked *k);
int gtu_ranked_betweenness(struct gtu_ranked *k);
int gtu_ranked_cores(struct gtu_ranked *k);
int gtu_ranked_labels(struct gtu_ranked *k);
int gtu_ranked_coloring(struct gtu_ranked *k);
int gtu_ranked_convolution(struct gtu_ranked *k);
int gtu_ranked_stcon(struct gtu_ranked *k);

/* Bytes of the result of a vertex; 0: all ranks have the same one value. */
uint64_t gtu_ranked_bytes(enum gtu_ranked_algorithm what, const struct gtu_algorithm_options *opt);

/* Run on one rank. @dev: its device, or NULL; @part: the graph placed on it, if it is a GPU. */
struct gtu_rank_graph;
int gtu_run_rank(struct gtu_exchange *x, struct gtu_device *dev, struct gtu_rank_graph *part, const struct gtu_graph *g,
		 enum gtu_ranked_algorithm what, const struct gtu_algorithm_options *opt, void *result,
		 struct gtu_algorithm_stats *stats);

/* gtu_graph_generate_part(). (generate.c) */
int gtu_generate_rank(struct gtu_exchange *x, const struct gtu_generate_options *opt,
		      const struct gtu_progress *progress, struct gtu_graph **out);

/* ---- traversal.c: GPUs as ranks ------------------------------------------------------------------ */

/* The graph that a GPU takes as this rank: its own edges, with the vertex numbers of the whole graph. */
struct gtu_rank_graph {
	struct gtu_graph graph;
	uint64_t *row;
	const struct gtu_graph *of;	/* NULL: none */
};

/* Whether @dev, which may be NULL, runs whole algorithms. */
static inline bool gtu_rank_traverses(const struct gtu_device *dev)
{
	return dev && dev->ops->traversal;
}

/* From @g, whose vertices @first up to @end are the rank's. */
int gtu_rank_graph_create(struct gtu_rank_graph *part, const struct gtu_graph *g, uint64_t first, uint64_t end,
			  struct gtu_error *err);
void gtu_rank_graph_destroy(struct gtu_rank_graph *part);
/* Run on one rank after the ranks have agreed, over the edges of @direction, made for this run if not as stored. Sets k->a.stats. */
int gtu_run_rank_traversal(struct gtu_ranked *k, struct gtu_device *dev, struct gtu_rank_graph *part,
			   enum gtu_ranked_algorithm what, enum gtu_part_direction direction,
			   struct gtu_algorithm_stats *stats);

/* gtu_alg_edges_begin() for gtu_ranked_traverse(). */
int gtu_ranked_edges_begin(struct gtu_ranked *k, struct gtu_alg_for_each_edge *edges, const struct gtu_graph *g,
			   uint32_t target_width);
/* Call @visitor for all edges of k->rows in @edges: k->edges, or others that begin at the same row. */
int gtu_ranked_traverse(struct gtu_ranked *k, struct gtu_alg_for_each_edge *edges, gtu_alg_edge_fn *visitor,
			void *context);

/* *array = zeroed memory for @count elements of @width bytes; touched pages alone take memory. */
int gtu_ranked_alloc(struct gtu_ranked *k, void *array, uint64_t count, uint32_t width);

/* Number of this rank's rows and vertices. */
static inline uint64_t gtu_ranked_rows(const struct gtu_ranked *k)
{
	return k->part.row_end - k->part.row_first;
}

static inline uint64_t gtu_ranked_own(const struct gtu_ranked *k)
{
	return k->part.end - k->part.first;
}

/*
 * The number of edges of this rank's vertex @v, 0 for the first one, in the whole graph; the rows that
 * it reads are those of this rank's part.
 */
static inline uint64_t gtu_ranked_degree(const struct gtu_ranked *k, uint64_t v)
{
	return k->whole->row[k->part.first + v + 1] - k->whole->row[k->part.first + v];
}

/*
 * Tell the other ranks of this row that the vertices of @own, which this rank owns, are in a set; @all =
 * those of all ranks of the row, as vertices of the whole graph. Collective; @rc as for
 * gtu_outbox_exchange().
 */
int gtu_ranked_expand(struct gtu_ranked *k, const struct gtu_list *own, struct gtu_list *all, int rc);

static inline bool gtu_bit(const uint64_t *bits, uint64_t i)
{
	return bits[i >> 6] >> (i & 63) & 1;
}

static inline void gtu_set_bit(uint64_t *bits, uint64_t i)
{
	bits[i >> 6] |= 1ull << (i & 63);
}

/* k->rows = all rows. */
static inline void gtu_ranked_take_all(struct gtu_ranked *k)
{
	k->rows.all = true;
	k->rows.count = gtu_ranked_rows(k);
}

/* k->rows = the rows of the vertices of @l. */
static inline void gtu_ranked_take_rows(struct gtu_ranked *k, const struct gtu_list *l)
{
	uint64_t i;

	k->rows.all = false;
	k->rows.count = 0;
	for (i = 0; i < l->count; i++)
		gtu_alg_push(&k->a, &k->rows, l->at[i] - k->part.row_first);
}

#endif
