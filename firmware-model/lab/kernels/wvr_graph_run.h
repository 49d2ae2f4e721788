/* SPDX-License-Identifier: MIT */
/*
 * Arguments and kernels shared by wvr_graph.c, wvr_graph_ops.c and wvr_graph_run.c. Instruction
 * counts are for RISC-V: two for the address of a memory operation (no scaled index), three for a
 * loop iteration (step, compare, branch); and for Vortex, which has no hidden control of its lanes:
 * SPLIT and JOIN around a branch that lanes may take apart, PRED in each iteration of a loop that
 * they may leave apart. SparseWeaver's distribution loop needs none: the unit returns the lanes'
 * mask (section III-C).
 */
#ifndef GTU_LAB_WVR_GRAPH_RUN_H
#define GTU_LAB_WVR_GRAPH_RUN_H

#include "firmware-model/lab/engine/graph_kernels.h"
#include "firmware-model/lab/units/wvr_eghw.h"
#include "wvr_graph.h"

#define NEVER		0xffffffffu
/* most vertices per block in the mappings that share them */
#define BLOCK		(32 * LAB_LANES)
/* words of a block's three lists in S_twc: vertex, begin and degree of each entry */
#define LAB_WVR_BIN_WORDS (3ull * 3 * BLOCK)

struct gather_args {
	uint32_t n, m;			/* base vertices, edges */
	uint32_t depth, features, coefficient;
	bool push, leave_out;
	bool add_loop;			/* a sum of floats is a loop: sm.atomics = load */
	struct lab_array row, col, base, weight; /* base: of each edge, for edge mapping */
	/* level, distance, component, or a vertex's share per edge */
	struct lab_array value, sum, stamp, changed;
	struct lab_array out;		/* GCN: by vertex and feature; hash: positions */
	/* S_twc's lists, three per block; both: their lengths */
	struct lab_array bins, tails;
	float rest;			/* PR */
	struct lab_weaver *weaver;
	struct lab_eghw *eghw;
	uint64_t *stage;		/* warp cycles, by enum lab_wvr_stage */
};

enum {
	ROW, ROW1, BASE, COL, WEIGHT, OWN, OTHER, FILTER, UPDATE, STAMP, CHANGED, DEGREE, DEGREE1, KEY, OUT, BIN, STATEMENTS
};
extern const char *const lab_wvr_statements[STATEMENTS];

struct edge {
	lab_u32 base, id, other, weight;
};

LAB_INLINE lab_mask split(struct lab_warp *w, lab_mask cond)
{
	lab_alu(w, 2);
	return cond;
}
LAB_INLINE lab_mask pred(struct lab_warp *w, lab_mask cond)
{
	lab_alu(w, 1);
	return cond;
}

LAB_INLINE lab_u32 load(struct lab_warp *w, unsigned s, const struct lab_array *a, lab_u32 i)
{
	lab_alu(w, 2);
	return lab_load32(w, s, a, i);
}

/*
 * Add to floats. RISC-V has no atomic for them: a library's loop loads the old value with a reservation
 * (LR), adds, stores if the reservation holds (SC), and branches on SC's result. It is executed once, whatever
 * the number of lanes that add to one word: how the paper's library combines them is not published.
 */
LAB_INLINE void add_f32(struct lab_warp *w, const struct gather_args *a, const struct lab_array *to, lab_u32 i, lab_f32 value)
{
	lab_u32 bits = (lab_u32)value;

	if (!a->add_loop) {
		lab_atomic_add_f32(w, UPDATE, to, i, value);
		return;
	}
	lab_load32(w, UPDATE, to, i);
	lab_wait(w);
	lab_alu(w, 1);
	lab_atomic(w, UPDATE, to, LAB_ADD_F32, i, bits);
	lab_wait(w);
	lab_alu(w, 1);
}

LAB_INLINE uint32_t threads_of(const struct lab_warp *w)
{
	return (uint32_t)(w->grid * w->block_warps * LAB_LANES);
}

/* Row offsets of the vertices @v, for most algorithms. */
LAB_INLINE void csr_neighbor(struct lab_warp *w, const struct gather_args *a, const lab_u32 *v, lab_u32 *begin, lab_u32 *end)
{
	*begin = load(w, ROW, &a->row, *v);
	*end = lab_load32(w, ROW1, &a->row, *v + 1); /* the same address with an offset */
	lab_wait(w);
}

extern const struct lab_kernel lab_wvr_bfs[LAB_WVR_MAPPINGS], lab_wvr_sssp[LAB_WVR_MAPPINGS],
	lab_wvr_pr[LAB_WVR_MAPPINGS], lab_wvr_cc[LAB_WVR_MAPPINGS], lab_wvr_spmm[LAB_WVR_MAPPINGS],
	lab_wvr_graphsum[LAB_WVR_MAPPINGS], lab_wvr_hash[LAB_WVR_MAPPINGS];
/* SPMM, GRAPHSUM by LAB_MAP_FEATURE and LAB_MAP_VERTEX_FEATURE */
extern const struct lab_kernel lab_wvr_feature[2][2];
extern const struct lab_kernel lab_wvr_pr_apply, lab_wvr_cc_apply, lab_wvr_initialize;

#endif
