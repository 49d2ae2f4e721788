/* SPDX-License-Identifier: MIT */
/*
 * Edge-generating hardware, what SparseWeaver is compared with (sparseweaver.txt, section V-H): a unit in each SM that is
 * given base vertices in a buffer and reads the graph itself. It takes the next vertex from the buffer, reads its two
 * row offsets, deals edges out to the 32 lanes of a group, reads their other ends (and weights), writes the group to
 * the buffer in shared memory and answers the warp that waits for it. It has no pipeline: one group is in hand, and as
 * many requests are on their way as it is built with (settled: one; the paper says only that latency is not
 * concealed). The line of row offsets that was read last is kept. It reads past the L1.
 */
#ifndef GTU_LAB_WVR_EGHW_H
#define GTU_LAB_WVR_EGHW_H

#include "firmware-model/lab/engine/warp.h"

struct lab_eghw;

struct lab_eghw_counts {
	uint64_t groups, edges, requests;
};

/* A group in the block's shared memory: base vertices, edges, other ends, weights; 32 words each. */
#define LAB_EGHW_WORDS	(4 * LAB_LANES)

/* @requests on their way at once, 1 to 64. GTU_ERR_USAGE, GTU_ERR_NOMEM. */
int lab_eghw_attach(struct lab *lab, uint32_t requests, struct lab_eghw **out, struct gtu_error *err);
void lab_eghw_free(struct lab_eghw *u);
void lab_eghw_counts(const struct lab_eghw *u, struct lab_eghw_counts *counts);
/* The graph that it reads; @weight NULL: none. */
void lab_eghw_graph(struct lab_eghw *u, const struct lab_array *row, const struct lab_array *col,
		    const struct lab_array *weight);

/* The active lanes' vertices go to the buffer, in the order of warps and lanes. All of a round before the first get(). */
void lab_eghw_put(struct lab_warp *w, struct lab_eghw *u, const lab_u32 *vid);
/* The next group, into @words of shared memory; the mask is of lanes with an edge, 0 when nothing is left. */
lab_mask lab_eghw_get(struct lab_warp *w, struct lab_eghw *u, uint32_t *words);

#endif
