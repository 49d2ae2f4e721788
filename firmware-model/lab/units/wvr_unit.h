/* SPDX-License-Identifier: MIT */
/*
 * Weaver in the SMs of a laboratory's machine (sparseweaver.txt, sections III and IV): one struct wvr_core, the
 * device's own, in each. Its tables are in shared memory: a registration writes a row of three words a thread,
 * which takes the tables' only port a cycle a word; WEAVER_DEC_ID takes the states of figure 6, one request after
 * the other in the order they come; WEAVER_DEC_LOC is a read of the dense id table, which goes on beside them.
 * That the tables take half of the L1 is the machine's business (l1.size).
 */
#ifndef GTU_LAB_WVR_UNIT_H
#define GTU_LAB_WVR_UNIT_H

#include "firmware-model/lab/engine/warp.h"
#include "firmware-model/units/wvr/wvr_core.h"

#define LAB_NO_WORK 0xffffffffu		/* in lanes without work */

struct lab_weaver;

/* Sums over all SMs. */
struct lab_weaver_counts {
	uint64_t rounds, registered, work, requests, skips, skipped;
	uint64_t state[GTU_WVR_STATES];	/* cycles in each */
};

/* 512 entries, the tables' latency the least of figure 13, 10 cycles. */
extern const struct wvr_shape lab_weaver_published;

/*
 * Stand a Weaver of @shape in each SM of @lab, to be freed with lab_weaver_free() after it; warps and lanes of
 * @shape are the machine's. GTU_ERR_USAGE where no such unit can be built, or no warp could register.
 */
int lab_weaver_attach(struct lab *lab, const struct wvr_shape *shape, struct lab_weaver **out,
		      struct gtu_error *err);
void lab_weaver_free(struct lab_weaver *u);
void lab_weaver_counts(const struct lab_weaver *u, struct lab_weaver_counts *counts);
/* Warps of an SM that can register a round: an entry is warp of the block * 32 + thread. */
uint32_t lab_weaver_warps(const struct lab_weaver *u);

/*
 * The four instructions, for the warps of an SM's only block. Registering twice, or beyond the table, ends the launch with
 * a sentence. WEAVER_REG: the active lanes' vertices. DEC_ID: base vertices of the next work, LAB_NO_WORK in lanes
 * without; the mask is of those with. DEC_LOC: the edges that belong to them. SKIP: one vertex.
 */
void lab_weaver_reg(struct lab_warp *w, struct lab_weaver *u, const lab_u32 *vid, const lab_u32 *start,
		    const lab_u32 *degree);
lab_mask lab_weaver_dec_id(struct lab_warp *w, struct lab_weaver *u, lab_u32 *vid);
void lab_weaver_dec_loc(struct lab_warp *w, struct lab_weaver *u, lab_u32 *eid);
void lab_weaver_skip(struct lab_warp *w, struct lab_weaver *u, uint32_t vid);

#endif
