/* SPDX-License-Identifier: MIT */
/*
 * The algorithms of sparseweaver.txt, section V, each written once over interchangeable mappings of edges to lanes
 * (wvr_graph_map.h): BFS, SSSP, PageRank, connected components, the operators of a graph convolution, and the
 * hash lookup of its algorithm 1. As its figure 9 has it, a gather kernel registers base vertices, then goes through their
 * edges; sums are atomic under every mapping, since the framework generates one gather function for all of
 * them (section V-I: "can remove atomic" is said of a mapping made by hand). Settled, where the paper is silent:
 *
 *	BFS	pull, by levels: the destination not reached, the source of the level before; what is left of a
 *		destination that has been reached is skipped
 *	SSSP	push, Bellman-Ford by rounds: the sources are those whose distance fell in the round before
 *	PR	pull (push where it is asked for); a kernel of its own makes what a vertex gives each edge
 *	CC	pull: roots are hooked to the lowest component of a neighbour, then a kernel shortens all paths
 */
#ifndef GTU_LAB_WVR_GRAPH_H
#define GTU_LAB_WVR_GRAPH_H

#include "gtu/graph.h"
#include "firmware-model/lab/units/wvr_unit.h"

enum lab_wvr_algorithm {
	LAB_WVR_BFS, LAB_WVR_SSSP, LAB_WVR_PR, LAB_WVR_CC, LAB_WVR_GRAPH_ALGORITHMS,
	LAB_WVR_SPMM = LAB_WVR_GRAPH_ALGORITHMS, LAB_WVR_GRAPHSUM, LAB_WVR_HASH, LAB_WVR_ALGORITHMS
};
enum lab_wvr_mapping {
	LAB_MAP_VERTEX, LAB_MAP_EDGE, LAB_MAP_WARP, LAB_MAP_BLOCK, LAB_MAP_EGHW, LAB_MAP_WEAVER, LAB_WVR_MAPPINGS,
	LAB_MAP_FEATURE = LAB_WVR_MAPPINGS, /* GCN: a thread a vertex and feature, no atomics */
};
enum lab_wvr_stage {
	LAB_STAGE_INIT, LAB_STAGE_REGISTER, LAB_STAGE_WORK_ID, LAB_STAGE_EDGE, LAB_STAGE_GATHER, LAB_STAGES
};
const char *lab_wvr_algorithm_name(unsigned algorithm);
const char *lab_wvr_mapping_name(unsigned mapping);

struct lab_wvr_how {
	enum lab_wvr_mapping mapping;
	enum lab_wvr_algorithm algorithm;
	/* 4 bytes an edge, stored both ways; u32 weights for SSSP, SPMM. HASH: buckets, their entries' keys in col */
	const struct gtu_graph *graph;
	uint32_t source;		/* BFS, SSSP */
	uint32_t iterations;		/* PR, GCN */
	bool push;			/* PR */
	const float *in;		/* SPMM, GRAPHSUM: features of the vertices, 16 each */
	const uint32_t *key;		/* HASH: what is looked up, */
	uint32_t keys;			/* and how many */
	struct wvr_shape shape;
	bool leave_out;			/* Weaver: filtered vertices are not registered (figure 9), not with degree 0 (III-C) */
	uint32_t eghw_requests;
};

#define LAB_WVR_FEATURES 16u

/* What a run took, launches left out; @gather is of the gather kernels, the rest is in the others. */
struct lab_wvr_report {
	struct lab_stats stats;
	struct lab_weaver_counts weaver;
	uint64_t cycles, gather_cycles;
	uint64_t warp_iterations;	/* edges' loads, by warps */
	uint64_t stage[LAB_STAGES];	/* warp cycles of the gather kernels */
};

/*
 * Run to the end on @m, from cold caches; with Weaver half of the L1 holds its tables. @result: n levels, distances
 * (UINT32_MAX: not reached), components, or ranks (float, damping 0.85); GCN: n times 16 floats; HASH: a place of each
 * key in col, or UINT32_MAX. GTU_ERR_USAGE where the graph or the mapping does not fit; errors of lab_run().
 */
int lab_wvr_run(const struct lab_machine *m, const struct lab_wvr_how *how, const struct gtu_progress *progress,
		uint32_t *result, struct lab_wvr_report *report, struct gtu_error *err);

/* Bucket of a key among @buckets. */
static inline uint32_t lab_wvr_bucket(uint32_t key, uint32_t buckets)
{
	return (uint32_t)(((uint64_t)(key * 0x9e3779b1u) * buckets) >> 32);
}

#endif
