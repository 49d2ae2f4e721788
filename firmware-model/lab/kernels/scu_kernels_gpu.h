/* SPDX-License-Identifier: MIT */
/*
 * The GPU kernels of scu_graph.c, their arguments and their instructions. They have the structure of the kernels in
 * tools/baselines/scu.cu, whose compiled instructions they count region by region.
 */
#ifndef GTU_LAB_SCU_KERNELS_GPU_H
#define GTU_LAB_SCU_KERNELS_GPU_H

#include "firmware-model/lab/engine/graph_kernels.h"

#define SCU_NEVER	0xffffffffu
#define SCU_BLOCK_THREADS 256u

/*
 * The regions of each kernel: a warp's instructions in one execution of a region, without accesses to memory and barriers,
 * which the laboratory counts itself. "entry" precedes the first region.
 */
#define SCU_EXPAND_REGIONS(X, kernel)                                                                                 \
	X(kernel, entry) X(kernel, load) X(kernel, reserve) X(kernel, any_block) X(kernel, block) X(kernel, block_edges) \
	X(kernel, then_warps) X(kernel, any_warp) X(kernel, warp) X(kernel, warp_edges) X(kernel, then_scan)            \
	X(kernel, scatter) X(kernel, scan_edges) X(kernel, end) X(kernel, block_next) X(kernel, warp_next)
#define SCU_REGIONS(X)                                                                                                \
	SCU_EXPAND_REGIONS(X, bfs_expand) SCU_EXPAND_REGIONS(X, sssp_expand) SCU_EXPAND_REGIONS(X, pr_expand)            \
	SCU_EXPAND_REGIONS(X, split_expand) SCU_EXPAND_REGIONS(X, split_expand_add) SCU_EXPAND_REGIONS(X, split_expand_copy) \
	X(bfs_contract, entry) X(bfs_contract, begin) X(bfs_contract, load) X(bfs_contract, mask) X(bfs_contract, label) \
	X(bfs_contract, cull) X(bfs_contract, history) X(bfs_contract, append) X(bfs_contract, next) X(bfs_mark, bits)   \
	X(sssp_relax, entry) X(sssp_relax, load) X(sssp_relax, update)                                                  \
	X(sssp_mark, entry) X(sssp_mark, load) X(sssp_mark, update)                                                     \
	X(sssp_again, entry) X(sssp_again, all)                                                                         \
	X(sssp_list, entry) X(sssp_list, load) X(sssp_list, cost) X(sssp_list, append)                                  \
	X(sssp_masks, entry) X(sssp_masks, load) X(sssp_masks, cost) X(sssp_masks, bits)                                \
	X(sssp_far, entry) X(sssp_far, load) X(sssp_far, bits)                                                          \
	X(bfs_prepare, entry) X(bfs_prepare, all) X(sssp_prepare, entry) X(sssp_prepare, all) X(pr_prepare, entry)       \
	X(pr_prepare, all) X(split_compact, entry) X(split_compact, load) X(split_compact, append)                      \
	X(pr_add, entry) X(pr_add, all) X(pr_finish, entry) X(pr_finish, all) X(pr_check, entry) X(pr_check, all)
#define SCU_REGION(kernel, region) SCU_X_##kernel##_##region,
enum scu_region { SCU_REGIONS(SCU_REGION) SCU_REGION_COUNT };
#undef SCU_REGION
/* "bfs_expand.load" */
extern const char *const scu_region_name[SCU_REGION_COUNT];

struct scu_args {
	const uint32_t *instructions;	/* [SCU_REGION_COUNT] */
	uint32_t n, count, depth;
	uint32_t blocks;		/* of the grid */
	uint32_t threshold, floor;	/* of near-far: of this round, and of the last */
	uint32_t first;			/* SSSP: number of this frontier's element 0 in the look-up table */
	float base;
	bool weights, share;		/* carry costs (SSSP), rank shares (PR) */
	bool list;			/* vertices are from a list; else all vertices */
	bool prepared;			/* the expansion reads index, counts, self */
	bool masks;			/* a contraction writes masks instead of lists */
	bool exact;			/* BFS: an atomic minimum instead of mask and label */
	bool two_costs;			/* the cost is weight + the cost replicated by the SCU */
	struct lab_array row, col, weight, label, sum, old, lookup, visited;
	struct lab_array from;		/* vertex list */
	struct lab_array index, counts, self; /* prepared: a vertex's edges, its cost or share */
	struct lab_array edge, cost, cost2; /* the edge frontier, and its costs */
	struct lab_array near, far;	/* masks over its elements */
	struct lab_array near_list, far_list, far_cost; /* lists that a contraction appends to */
	struct lab_array in, in2, bits, out, out2; /* of the GPU's compaction */
	struct lab_array tail;		/* elements written: of the edge frontier, near, far; a flag of PageRank */
};
enum { SCU_EDGES, SCU_NEARS, SCU_FARS, SCU_CHANGED, SCU_TAILS };

extern const struct lab_kernel scu_kernel_prepare, scu_kernel_expand, scu_kernel_compact, scu_kernel_bfs,
	scu_kernel_relax, scu_kernel_again, scu_kernel_list, scu_kernel_far, scu_kernel_add, scu_kernel_finish,
	scu_kernel_check;

#endif
