/* SPDX-License-Identifier: MIT */
/*
 * Graph algorithms as user functions over a storage, without a word of the unit that brings the edges
 * (sparseweaver.txt, section IV): init, gather, apply and filters on one side, getNeighbor and getEdge on the
 * other, and between them the kernel of figure 9. Weaver is what it was made for; every other unit runs it, too.
 */
#ifndef GTU_WEAVE_H
#define GTU_WEAVE_H

#include "gtu/gtu.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Storage ------------------------------------------------------------------------------------- */

/*
 * Where edges are. Entries are what is registered: a vertex, or a part of one, with a range of edge numbers.
 * The base vertex is the one whose edges those are: the source where the storage pushes, else the target.
 * gtu_weave_csr() and gtu_weave_csc() make one of a graph. A caller's own (zeroed, then filled in; `parts`
 * NULL) has the two functions read whatever it likes and is run by GTU_WITH_NONE and GTU_WITH_WEAVER; other
 * units read rows in memory. Functions return 0, or a negative enum gtu_status with a sentence, which ends the run.
 */
struct gtu_weave_storage {
	uint64_t vertices, edges, entries; /* numbers of each are below these */
	bool pull;
	/* getNeighbor: the base vertex of @entry, its first edge, and how many there are */
	int (*get_neighbor)(const struct gtu_weave_storage *s, uint64_t entry, uint64_t *base,
			    uint64_t *first, uint64_t *degree, struct gtu_error *err);
	/* getEdge: the vertex at the other end of @edge, and its weight (1 without weights) */
	int (*get_edge)(const struct gtu_weave_storage *s, uint64_t edge, uint64_t *other,
			double *weight, struct gtu_error *err);
	void *context;			/* the caller's */
	struct gtu_weave_parts *parts;	/* the library's */
};

/*
 * The edges that leave a vertex (CSR: push) or lead to it (CSC: pull). A vertex of more than @part edges is
 * split into entries of at most so many; 0: none is. @g must stay as it is until gtu_weave_close(). A CSC is a
 * second edge list in memory, unless edges are stored both ways and have no weights. GTU_ERR_INPUT: rows that are
 * damaged.
 */
int gtu_weave_csr(const struct gtu_graph *g, uint64_t part, struct gtu_weave_storage *out,
		  struct gtu_error *err);
int gtu_weave_csc(const struct gtu_graph *g, uint64_t part, struct gtu_weave_storage *out,
		  struct gtu_error *err);
void gtu_weave_close(struct gtu_weave_storage *s);

/* ---- User functions -------------------------------------------------------------------------------- */

/* What every function is told: the caller's data, and the iteration, from 0. */
struct gtu_weave_turn {
	void *context;
	uint64_t iteration;
};

/*
 * All run on the caller's thread, one after the other: a gather that adds needs no atomics. Any but gather
 * may be NULL.
 */
struct gtu_weave_functions {
	/* each vertex, before the first iteration */
	void (*init)(const struct gtu_weave_turn *t, uint64_t v);
	/*
	 * True: v's edges are not wanted as a source, or as a target. The base vertex' filter is asked as it is
	 * registered; the other's, of each edge. Pulling, the target's is asked of each edge, too, and ends what is
	 * left of a vertex: it may turn true as the iteration goes (section IV-B). Pushing, the source's
	 * must not depend on what gather does.
	 */
	bool (*filter_source)(const struct gtu_weave_turn *t, uint64_t v);
	bool (*filter_target)(const struct gtu_weave_turn *t, uint64_t v);
	/* each edge that passes, in no order that may be relied on */
	void (*gather)(const struct gtu_weave_turn *t, uint64_t source, uint64_t target, double weight);
	/* each vertex, ascending, after the edges of an iteration; true: there is to be another one. NULL: never */
	bool (*apply)(const struct gtu_weave_turn *t, uint64_t v);
};

/*
 * Run until apply is true of no vertex, or opt->iterations iterations (0: no limit). Of the options, `unit`,
 * `chunk_log2`, `iterations` and `progress` count. stats->vertices: entries registered in all iterations; edges: edges that the
 * unit brought, pull_end: iterations, where the storage pulls. Errors as of the algorithms in gtu.h, and GTU_ERR_INPUT
 * for what a storage says that is out of its bounds.
 */
int gtu_weave(struct gtu_device *dev, const struct gtu_weave_storage *s,
	      const struct gtu_weave_functions *functions, void *context,
	      const struct gtu_algorithm_options *opt, struct gtu_algorithm_stats *stats,
	      struct gtu_error *err);

#ifdef __cplusplus
}
#endif
#endif
