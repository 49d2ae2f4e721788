/* SPDX-License-Identifier: MIT */
/*
 * The graph kernels of the IRU paper (section 4.1). Expansion writes an edge frontier; a kernel
 * with irregular accesses consumes it, through load_iru() if the IRU is attached. The paper names
 * the implementations it starts from (Merrill's BFS, near-far SSSP, PageRank of Geil et al.) and
 * shows three excerpts. The rest follows the description of the same code in SCU, sections 2.1 to
 * 2.3:
 *
 *	expansion	a block processes each high-degree vertex;
 *			a warp 32 others, 32 edges at a time
 *	BFS contract	label look-up, warp culling by a hash in shared memory, then
 *			an atomic minimum.
 *			Merrill has plain stores, a bit mask and history culling; with these alone,
 *			warps list a vertex again before a store is visible and visit half of all
 *			edges twice
 *	SSSP relax	look-up, atomic minimum, element number to a per-vertex table without
 *			atomics; the element kept lists the vertex as near or far; the
 *			far pile likewise
 *	PageRank	edge and weight frontier, one atomic addition per edge, damping,
 *			convergence check
 */
#ifndef GTU_LAB_IRU_GRAPH_H
#define GTU_LAB_IRU_GRAPH_H

#include "gtu/graph.h"
#include "firmware-model/lab/units/iru_unit.h"

enum lab_iru_algorithm { LAB_IRU_BFS, LAB_IRU_SSSP, LAB_IRU_PR, LAB_IRU_ALGORITHMS };

/* Warp cycles of the kernels that load elements: until the load is served, and from then to the end. */
struct lab_iru_times {
	uint64_t before, after;
};

struct lab_iru_config {
	enum lab_iru_algorithm algorithm;
	const struct gtu_graph *graph;	/* 4-byte edges; u32 weights for SSSP */
	uint32_t source;		/* BFS, SSSP */
	uint32_t iterations;		/* PR */
	bool frontier; /* PR: copy edges to a frontier (SCU); else read them in place */
	bool iru;			/* false: the baseline */
	struct iru_shape shape;
	uint64_t timeout;
	double step;			/* SSSP: factor of lab_near_far_step(); 0: 1 */
	struct lab_iru_options options;
	struct lab_iru_times *times;	/* added to; NULL: not wanted */
	bool check; /* SSSP: the expansion leaves out edges that do not lower a distance (not in the paper's text) */
};

extern const char *const lab_iru_algorithm_name[LAB_IRU_ALGORITHMS + 1];	/* then NULL */

/*
 * Run to completion on @m, from cold caches. @result, n words: levels, distances (UINT32_MAX:
 * unreached), or ranks (float, damping 0.85). @counts may be NULL. GTU_ERR_USAGE: unsuitable graph.
 * Errors of lab_run().
 */
int lab_iru_run(const struct lab_machine *m, const struct lab_iru_config *config, const struct gtu_progress *progress,
		uint32_t *result, struct lab_stats *stats, struct lab_iru_counts *counts, struct gtu_error *err);

#endif
