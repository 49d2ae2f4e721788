/* SPDX-License-Identifier: MIT */
/*
 * The graph kernels of iru.txt, section 4.1: an edge frontier is made by expansion and consumed by a kernel whose
 * accesses by its indices are irregular; that one reads it by load_iru() where the IRU is there. The paper names the
 * implementations it starts from (Merrill's BFS, near-far SSSP, PageRank of Geil et al.) and shows three excerpts; its
 * authors describe the same code in scu.txt, sections 2.1 to 2.3, and the rest is after that:
 *
 *	expansion	a block takes vertices of many edges one by one, a warp 32 others, 32 edges at a time
 *	BFS contract	label look-up, culling within the warp by a hash in shared memory, then an atomic minimum, where
 *			Merrill has plain stores, a bit mask and culling by history: with these alone warps that look a
 *			vertex up before another's store is there list it again, and half of all edges are met twice
 *	SSSP relax	look-up, atomic minimum, the element's number into a table by vertex, without atomics; who stays
 *			there lists the vertex as near or far; the far pile is contracted in the same way
 *	PageRank	edge and weight frontier, one atomic addition an edge, dampening, convergence check
 */
#ifndef GTU_LAB_IRU_GRAPH_H
#define GTU_LAB_IRU_GRAPH_H

#include "gtu/graph.h"
#include "firmware-model/lab/units/iru_unit.h"

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
	double step;			/* SSSP: times lab_near_far_step(); 0: 1 */
};

const char *lab_iru_algorithm_name(unsigned algorithm);

/*
 * Run to the end on @m, from cold caches. @result, n words: levels, distances (UINT32_MAX: not reached), or ranks (float,
 * damping 0.85). @counts may be NULL. GTU_ERR_USAGE where the graph does not fit; errors of lab_run().
 */
int lab_iru_run(const struct lab_machine *m, const struct lab_iru_how *how, const struct gtu_progress *progress,
		uint32_t *result, struct lab_stats *stats, struct lab_iru_counts *counts, struct gtu_error *err);

#endif
