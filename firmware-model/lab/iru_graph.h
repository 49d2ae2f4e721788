/* SPDX-License-Identifier: MIT */
/*
 * The graph kernels of iru.txt, section 4.1: an edge frontier is made by expansion and consumed by a kernel whose
 * accesses by its indices are irregular; that one reads it by load_iru() where the IRU is there. The paper names the
 * implementations it starts from (Merrill's BFS, near-far SSSP, PageRank of Geil et al.) and shows three excerpts;
 * the rest is written after those publications' descriptions and simplified:
 *
 *	expansion	a warp takes 32 vertices and goes through all their edges, 32 at a time
 *	BFS contract	label look-up, culling within the warp by a hash in shared memory, then an atomic minimum
 *	SSSP relax	look-up, atomic minimum, a note whether it fell; then near or far, once a vertex and round
 *	PageRank	weights of all edges, then one atomic addition an edge
 */
#ifndef GTU_LAB_IRU_GRAPH_H
#define GTU_LAB_IRU_GRAPH_H

#include "gtu/graph.h"
#include "lab/iru_unit.h"

enum lab_iru_algorithm { LAB_IRU_BFS, LAB_IRU_SSSP, LAB_IRU_PR, LAB_IRU_ALGORITHMS };

struct lab_iru_how {
	enum lab_iru_algorithm algorithm;
	const struct gtu_graph *graph;	/* 4 bytes an edge; u32 weights for SSSP */
	uint32_t source;		/* BFS, SSSP */
	uint32_t iterations;		/* PR */
	bool frontier;			/* PR: edges are copied to a frontier, as scu.txt has it; else read in place */
	bool iru;			/* else the baseline */
	struct iru_shape shape;
	uint64_t timeout;
};

const char *lab_iru_algorithm_name(unsigned algorithm);

/*
 * Run to the end on @m, from cold caches. @result, n words: levels, distances (UINT32_MAX: not reached), or ranks (float,
 * damping 0.85). @counts may be NULL. GTU_ERR_USAGE where the graph does not fit; errors of lab_run().
 */
int lab_iru_run(const struct lab_machine *m, const struct lab_iru_how *how, const struct gtu_progress *progress,
		uint32_t *result, struct lab_stats *stats, struct lab_iru_counts *counts, struct gtu_error *err);

#endif
