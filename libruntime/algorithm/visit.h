/* SPDX-License-Identifier: MIT */
/*
 * All edges of a frontier, one after the other, by whichever unit the caller asked for: an algorithm
 * that does not care in which order they come is written once over this and runs with all of them.
 *
 * The SCU expands targets and replicates sources (scu.txt, section 3.3); the enhanced one groups both by
 * the target's line (section 4.2); the IRU reorders targets and gives back positions (iru.txt, section 3);
 * GraphPEG gathers edges (graphpeg.txt, section 3.3); Weaver gives out the numbers of edges, whose targets
 * are then read here (sparseweaver.txt, figure 9). None of them drops an edge here.
 */
#ifndef GTU_ALGORITHM_VISIT_H
#define GTU_ALGORITHM_VISIT_H

#include "common.h"
#include "gtu/weave.h"

#define GTU_ALG_BATCH 1024

/* Edges that came together; targets are below n (but see values). */
struct gtu_alg_batch {
	unsigned n;
	uint64_t source[GTU_ALG_BATCH];	/* the vertex of the frontier, also where the graph is turned round */
	uint64_t target[GTU_ALG_BATCH];	/* the other end; 0 with a storage, which its getEdge knows */
	uint64_t edge[GTU_ALG_BATCH];	/* its place in col; with SCU and IRU only if visit->places */
};

/* Called with 1 to GTU_ALG_BATCH edges; other than 0 ends the visit with that. */
typedef int gtu_alg_visitor(void *context, const struct gtu_alg_batch *batch);

/* No more of the edges of @vertex (a source of batches) is wanted: a unit that can leaves the rest out. */
typedef bool gtu_alg_enough(void *context, uint64_t vertex);

struct gtu_alg_visit {
	struct gtu_alg_work w;
	struct gtu_alg_filter group;	/* SCU */
	bool grouping;			/* it is set up */
	struct gtu_alg_buffer source;	/* SCU, IRU: of each edge of w.edge */
	struct gtu_alg_frontier inside;	/* PEG: what of a frontier is in the run's range */
	struct gtu_peg *peg;
	struct gtu_weaver *weaver;
	uint32_t target_width;
	/* Set by the caller before the first visit: */
	bool places;			/* SCU and IRU bring places, too: memory for one an edge of a chunk */
	bool values;			/* col holds no vertices: targets are of no bound, and the IRU reorders places */
	bool pull;			/* the graph is turned round: sources of batches are where edges lead */
	gtu_alg_enough *enough;		/* or NULL; Weaver skips, plain code breaks off, others bring all */
	/* or NULL: frontiers are of its entries, sources of batches its vertices; the graph has its numbers */
	const struct gtu_weave_storage *storage;
	const uint64_t *vertex;		/* storage: of each entry, for units that know none; NULL: the same */
	struct gtu_alg_buffer place;	/* index_width bytes, of each edge of w.edge */
	struct gtu_alg_batch batch;
};

/*
 * Prepare to visit edges of @g for accesses to elements of @target_width bytes (1 to 128, a power of
 * two) by their targets. gtu_alg_visit_end() before gtu_alg_end().
 */
int gtu_alg_visit_begin(struct gtu_alg *a, struct gtu_alg_visit *visit, const struct gtu_graph *g,
			uint32_t target_width);
int gtu_alg_visit_end(struct gtu_alg *a, struct gtu_alg_visit *visit, int rc);

/*
 * Every edge that leaves a vertex of @f within the work's range, once for each time that the vertex is in
 * it. Rows and targets out of bounds end it with their sentence. @f must not change meanwhile.
 */
int gtu_alg_visit(struct gtu_alg *a, struct gtu_alg_visit *visit, const struct gtu_alg_frontier *f,
		  gtu_alg_visitor *visitor, void *context);

#endif
