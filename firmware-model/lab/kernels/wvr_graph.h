/* SPDX-License-Identifier: MIT */
/*
 * The algorithms of SparseWeaver, section V, each written once over interchangeable mappings of
 * edges to lanes (wvr_graph_map.h): BFS, SSSP, PageRank, connected components, the operators of a
 * graph convolution, and the hash lookup of algorithm 1. As in figure 9, a gather kernel registers
 * base vertices, then processes their edges. Sums are atomic under every mapping, since the
 * framework generates one gather function for all (section V-I's "can remove atomic" is about a
 * hand-written mapping). Our choices where the paper is silent:
 *
 *	BFS	pull, by levels: destination unreached, source of the previous level; the rest of a
 *		destination that was reached is skipped
 *	SSSP	push, Bellman-Ford by rounds: sources are vertices improved in the previous round
 *	PR	pull (push on request); a separate kernel computes each vertex's share per edge
 *	CC	pull: roots are hooked to a neighbor's lowest component, then a kernel
 *		shortens all paths
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
	LAB_MAP_VERTEX, LAB_MAP_EDGE, LAB_MAP_WARP, LAB_MAP_BLOCK, LAB_MAP_TWC, LAB_MAP_TWCE, LAB_MAP_EGHW, LAB_MAP_WEAVER, LAB_WVR_MAPPINGS,
	/* GCN: a thread per feature and vertex, no atomics; the vertex or the feature changes from lane to lane */
	LAB_MAP_FEATURE = LAB_WVR_MAPPINGS, LAB_MAP_VERTEX_FEATURE, LAB_WVR_ALL_MAPPINGS
};
enum lab_wvr_stage {
	LAB_STAGE_INIT, LAB_STAGE_REGISTER, LAB_STAGE_WORK_ID, LAB_STAGE_EDGE, LAB_STAGE_GATHER, LAB_STAGES
};
extern const char *const lab_wvr_algorithm_name[LAB_WVR_ALGORITHMS];
extern const char *const lab_wvr_mapping_name[LAB_WVR_ALL_MAPPINGS];

struct lab_wvr_config {
	enum lab_wvr_mapping mapping;
	enum lab_wvr_algorithm algorithm;
	/* 4-byte edges, both ways; u32 weights for SSSP, SPMM. HASH: buckets, keys in col */
	const struct gtu_graph *graph;
	uint32_t source;		/* BFS, SSSP */
	uint32_t iterations;		/* PR, GCN */
	bool push;			/* PR */
	const float *in;		/* SPMM, GRAPHSUM: 16 features per vertex */
	const uint32_t *key;		/* HASH: the keys to look up */
	uint32_t keys;			/* and their number */
	struct wvr_shape shape;
	bool leave_out;			/* Weaver: do not register filtered vertices (figure 9);
					 * else register degree 0 (section III-C) */
	uint32_t eghw_requests;
	uint32_t coefficient;		/* GRAPHSUM: instructions of an edge's coefficient; 0: LAB_WVR_COEFFICIENT */
};

/* conversion, product, square root and division of 32 lanes on 4 units */
#define LAB_WVR_COEFFICIENT (4u + 1 + 8 + 8)
#define LAB_WVR_FEATURES 16u

/* Results without launch latencies; gather_cycles are the gather kernels' part. */
struct lab_wvr_report {
	struct lab_stats stats;
	struct lab_weaver_counts weaver;
	uint64_t cycles, gather_cycles;
	uint64_t init_cycles;		/* of the convolution's initialization, which is in cycles too */
	uint64_t warp_iterations;	/* edge loads, counted per warp */
	uint64_t stage[LAB_STAGES];	/* warp cycles of the gather kernels */
};

/*
 * Run to completion on @m, from cold caches; with Weaver, half of the L1 holds its tables. @result:
 * n levels, distances (UINT32_MAX: unreached), components, or ranks (float, damping 0.85). GCN: 16
 * n floats. HASH: an index of each key in col, or UINT32_MAX. GTU_ERR_USAGE: unsuitable graph or
 * mapping. Errors of lab_run().
 */
int lab_wvr_run(const struct lab_machine *m, const struct lab_wvr_config *config, const struct gtu_progress *progress,
		uint32_t *result, struct lab_wvr_report *report, struct gtu_error *err);

/* Bucket of a key among @buckets. */
static inline uint32_t lab_wvr_bucket(uint32_t key, uint32_t buckets)
{
	return (uint32_t)(((uint64_t)(key * 0x9e3779b1u) * buckets) >> 32);
}

#endif
