/* SPDX-License-Identifier: MIT */
/* The GPU kernels of scu_graph.c and their arguments. */
#ifndef GTU_LAB_SCU_KERNELS_GPU_H
#define GTU_LAB_SCU_KERNELS_GPU_H

#include "firmware-model/lab/engine/graph_kernels.h"

#define SCU_NEVER	0xffffffffu
#define SCU_BLOCK_THREADS 256u

struct scu_args {
	uint32_t n, count, depth, threshold, round;
	float base;
	bool weights, share;		/* carry costs (SSSP), rank shares (PR) */
	bool list;			/* vertices are from a list; else all vertices */
	bool two_costs;			/* the cost is weight + the cost replicated by the SCU */
	bool once;			/* SSSP: the GPU lists a vertex once per round */
	struct lab_array row, col, weight, label, sum, seen;
	struct lab_array from;		/* vertex list, or the far list */
	struct lab_array index, counts, self; /* prepared: a vertex's edges, its cost or share */
	struct lab_array edge, cost, cost2; /* the edge frontier, and its costs */
	struct lab_array fell, near, far; /* masks over its elements */
	struct lab_array in, in2, bits, out, out2; /* of the GPU's compaction */
	struct lab_array tail;		/* word 0: elements written */
};

extern const struct lab_kernel scu_kernel_prepare, scu_kernel_expand, scu_kernel_compact, scu_kernel_bfs,
	scu_kernel_relax, scu_kernel_list, scu_kernel_far, scu_kernel_add, scu_kernel_finish;

#endif
