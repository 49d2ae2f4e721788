/* SPDX-License-Identifier: MIT */
/*
 * Graph traversal with the edge list in host memory, read over the link (emogi.txt, sections 3 and 4): naive, a
 * thread a vertex (listing 1); merged, a warp a vertex; aligned, which also begins at the 128-byte boundary before
 * the list (listing 2). Vertex data is on the device. The kernels are those that the paper says it starts from, as
 * published: level-synchronous BFS, SSSP by relaxing the edges of all improved vertices, components by
 * propagating the least label, PageRank by pushing over all edges.
 */
#ifndef GTU_LAB_EMOGI_H
#define GTU_LAB_EMOGI_H

#include "gtu/graph.h"
#include "firmware-model/lab/engine/lab.h"
#include "firmware-model/lab/units/monitor.h"

enum lab_emogi_variant { LAB_NAIVE, LAB_MERGED, LAB_ALIGNED, LAB_VARIANTS };
enum lab_emogi_algorithm { LAB_EMOGI_BFS, LAB_EMOGI_SSSP, LAB_EMOGI_CC, LAB_EMOGI_PR, LAB_EMOGI_ALGORITHMS };

#define LAB_NEVER 0xffffffffu		/* level or distance of a vertex that is not reached */

struct lab_emogi {
	enum lab_emogi_variant variant;
	enum lab_emogi_algorithm algorithm;
	const struct gtu_graph *graph;	/* its edge_bytes decide the traffic; weights, for SSSP, are u32 */
	uint32_t source;		/* BFS, SSSP */
	uint32_t iterations;		/* PR */
	bool managed;			/* edges and weights in unified memory that migrates, not on the host */
};

/* Everything that was counted: by the laboratory, and by the device's monitor on its link (0: unified memory, no link watched). */
struct lab_emogi_counts {
	struct lab_stats lab;
	uint64_t monitor[GTU_ZCM_COUNTERS];
};

/* "naive", ..., "bfs", ...; NULL beyond the last. */
const char *lab_emogi_variant_name(unsigned variant);
const char *lab_emogi_algorithm_name(unsigned algorithm);

/*
 * Run to the end on @m, from cold caches. @result, n words: levels, distances, least vertex of the component, or
 * ranks (float; damping 0.85). GTU_ERR_USAGE where the graph is too large for 32-bit indices, has not the weights, or @m
 * has no link (or no unified memory); GTU_ERR_VERIFY of lab_monitor_check(); errors of lab_run().
 */
int lab_emogi_run(const struct lab_machine *m, const struct lab_emogi *how, const struct gtu_progress *progress,
		  uint32_t *result, struct lab_emogi_counts *counts, struct gtu_error *err);

/*
 * Figure 4: an array of @words 4-byte words (a multiple of 8192) in host memory is copied to the device. NAIVE: each thread copies a
 * block of 128 bytes; ALIGNED: a warp copies 128 bytes at a boundary; MERGED: 32 bytes off the boundary.
 * @managed: out of unified memory. GTU_ERR_VERIFY where the copy differs.
 */
int lab_emogi_array(const struct lab_machine *m, enum lab_emogi_variant variant, bool managed, uint32_t words,
		    const struct gtu_progress *progress, struct lab_emogi_counts *counts, struct gtu_error *err);

#endif
