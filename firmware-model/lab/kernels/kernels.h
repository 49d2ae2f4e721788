/* SPDX-License-Identifier: MIT */
/*
 * The kernels of the oracle counts, as their README specifies them. PageRank and BFS also serve as
 * the laboratory's benchmark. lab_alu() counts are fitted per kernel to the compiled PTX there (the
 * rows warp_instructions).
 */
#ifndef GTU_LAB_KERNELS_H
#define GTU_LAB_KERNELS_H

#include "firmware-model/lab/engine/lab.h"

#define LAB_BFS_INF 0x7fffffffu

/* Arrays, named as in the statements; a kernel uses those it needs. */
struct lab_csr_args {
	uint32_t n, m;
	struct lab_array row, col, rank, next, deg, level;
	uint32_t current;		/* bfs_level: the level of this launch */
};
struct lab_gather_args {
	uint32_t m;			/* elements to gather */
	struct lab_array idx, data, out;
};

extern const struct lab_kernel lab_pr_push_vm, lab_pr_push_wm, lab_pr_push_wm_aligned, lab_pr_pull_vm;
extern const struct lab_kernel lab_bfs_level;
extern const struct lab_kernel lab_gather, lab_gather_1warp, lab_rmw_1warp;

#endif
