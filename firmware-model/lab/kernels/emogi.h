/* SPDX-License-Identifier: MIT */
/*
 * EMOGI: graph traversal with the edge list in host memory, read over the link (EMOGI, sections 3
 * and 4). naive: one thread per vertex (listing 1). merged: one warp per vertex. aligned: also
 * starts at the 128-byte boundary before the list (listing 2). Vertex data is in device memory.
 *
 * The kernels follow those the paper starts from: level-synchronous BFS, SSSP by relaxing all edges
 * of improved vertices, components by propagating the least label, push PageRank over all edges.
 */
#ifndef GTU_LAB_EMOGI_H
#define GTU_LAB_EMOGI_H

#include "gtu/graph.h"
#include "firmware-model/lab/engine/lab.h"
#include "firmware-model/lab/units/monitor.h"

enum lab_emogi_variant { LAB_NAIVE, LAB_MERGED, LAB_ALIGNED, LAB_VARIANTS };
enum lab_emogi_algorithm { LAB_EMOGI_BFS, LAB_EMOGI_SSSP, LAB_EMOGI_CC, LAB_EMOGI_PR, LAB_EMOGI_ALGORITHMS };

#define LAB_NEVER 0xffffffffu		/* level or distance of an unreached vertex */

struct lab_emogi {
	enum lab_emogi_variant variant;
	enum lab_emogi_algorithm algorithm;
	/* edge_bytes determines the traffic; SSSP needs u32 weights */
	const struct gtu_graph *graph;
	uint32_t source;		/* BFS, SSSP */
	uint32_t iterations;		/* PR */
	bool managed; /* edges and weights in unified memory instead of host memory */
	bool apart;			/* data of edges' targets: each in a line of its own */
};

/* All counters: the lab's, and the device monitor's (0 with unified memory, which has no link). */
struct lab_emogi_counts {
	struct lab_stats lab;
	uint64_t monitor[GTU_ZCM_COUNTERS];
	uint64_t part[LAB_MONITOR_PARTS]; /* bytes over the link in equal parts of the time */
};

extern const char *const lab_emogi_variant_name[LAB_VARIANTS];
extern const char *const lab_emogi_algorithm_name[LAB_EMOGI_ALGORITHMS];

/*
 * Run to completion on @m, from cold caches. @result, n words: levels, distances, least vertex of
 * the component, or ranks (float; damping 0.85). GTU_ERR_USAGE: the graph exceeds 32-bit indices or
 * lacks weights, or @m has no link (or no unified memory). GTU_ERR_VERIFY from lab_monitor_check().
 * Errors of lab_run().
 */
int lab_emogi_run(const struct lab_machine *m, const struct lab_emogi *config, const struct gtu_progress *progress,
		  uint32_t *result, struct lab_emogi_counts *counts, struct gtu_error *err);

/*
 * Figure 4: copy an array of @words 4-byte words (a multiple of 8192) from host memory to the
 * device. NAIVE: each thread copies a 128-byte block. ALIGNED: a warp copies an aligned 128-byte
 * block. MERGED: the same, 32 bytes off the boundary. @managed: from unified memory.
 * GTU_ERR_VERIFY: the copy differs.
 */
int lab_emogi_array(const struct lab_machine *m, enum lab_emogi_variant variant, bool managed, uint32_t words,
		    const struct gtu_progress *progress, struct lab_emogi_counts *counts, struct gtu_error *err);

#endif
