/* SPDX-License-Identifier: MIT */
/*
 * All edges of a frontier, one after the other, by whichever unit the caller asked for: an algorithm
 * that does not care in which order they come is written once over this and runs with all of them.
 *
 * The SCU expands targets and replicates sources (scu.txt, section 3.3); the enhanced one groups both by
 * the target's line (section 4.2); the IRU reorders targets and gives back positions (iru.txt, section 3).
 * None of them drops an edge here.
 */
#ifndef GTU_ALGORITHM_VISIT_H
#define GTU_ALGORITHM_VISIT_H

#include "algorithm/common.h"

#define GTU_ALG_BATCH 1024

/* Edges that came together; targets are below n. */
struct gtu_alg_batch {
	unsigned n;
	uint64_t source[GTU_ALG_BATCH];
	uint64_t target[GTU_ALG_BATCH];
};

/* Called with 1 to GTU_ALG_BATCH edges; other than 0 ends the visit with that. */
typedef int gtu_alg_visitor(void *context, const struct gtu_alg_batch *batch);

struct gtu_alg_visit {
	struct gtu_alg_work w;
	struct gtu_alg_filter group;
	struct gtu_alg_buffer source;	/* of each edge of w.edge */
	uint32_t target_width;
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
 * Every edge that leaves a vertex of @f, once for each time that the vertex is in it. Rows and targets
 * out of bounds end it with their sentence. @f must not change meanwhile.
 */
int gtu_alg_visit(struct gtu_alg *a, struct gtu_alg_visit *visit, const struct gtu_alg_frontier *f,
		  gtu_alg_visitor *visitor, void *context);

#endif
