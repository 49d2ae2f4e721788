/* SPDX-License-Identifier: MIT */
/*
 * Weaver attached to each SM (SparseWeaver, sections III and IV): one struct wvr_core, the device
 * model's own, per SM. Its tables are in shared memory. A registration writes three words per
 * thread and occupies the tables' port for three cycles. WEAVER_DEC_ID requests are served in order
 * with the state machine of figure 6. WEAVER_DEC_LOC reads the dense ID table in parallel. The
 * tables occupy half of the L1; the caller reduces l1.size.
 */
#ifndef GTU_LAB_WVR_UNIT_H
#define GTU_LAB_WVR_UNIT_H

#include "firmware-model/lab/engine/warp.h"
#include "firmware-model/units/wvr/wvr_core.h"

#define LAB_NO_WORK 0xffffffffu		/* value of lanes without work */

struct lab_weaver;

/* Sums over all SMs. */
struct lab_weaver_counts {
	uint64_t requests;
	struct wvr_counters core;
};

/* 512 entries; table latency 10 cycles, the lowest of figure 13. */
extern const struct wvr_shape lab_weaver_published;

/*
 * Attach a Weaver of @shape to each SM of @lab; @shape's warps and lanes are replaced by the
 * machine's. Free it with lab_weaver_free() after the lab. GTU_ERR_USAGE if the shape is invalid or
 * has less than one warp's entries.
 */
int lab_weaver_attach(struct lab *lab, const struct wvr_shape *shape, struct lab_weaver **out,
		      struct gtu_error *err);
void lab_weaver_free(struct lab_weaver *u);
void lab_weaver_counts(const struct lab_weaver *u, struct lab_weaver_counts *counts);
/* Warps per SM that can register in a round: an entry is warp of the block * 32 + lane. */
uint32_t lab_weaver_warps(const struct lab_weaver *u);

/*
 * The four instructions, for the warps of an SM's only block. Registering an entry twice, or
 * outside the table, ends the launch with an error. REG: register the active lanes' vertices.
 * DEC_ID: base vertices of the next work; returns the lanes with work. DEC_LOC: the edges of that
 * work. SKIP: drop the rest of a vertex of the active lanes, which the unit is decoding.
 */
void lab_weaver_reg(struct lab_warp *w, struct lab_weaver *u, const lab_u32 *vid, const lab_u32 *start,
		    const lab_u32 *degree);
lab_mask lab_weaver_dec_id(struct lab_warp *w, struct lab_weaver *u, lab_u32 *vid);
void lab_weaver_dec_loc(struct lab_warp *w, struct lab_weaver *u, lab_u32 *eid);
void lab_weaver_skip(struct lab_warp *w, struct lab_weaver *u, const lab_u32 *vid);

#endif
