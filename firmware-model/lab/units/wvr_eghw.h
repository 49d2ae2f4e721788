/* SPDX-License-Identifier: MIT */
/*
 * Edge-generating hardware, SparseWeaver's baseline in section V-H: a unit per SM that takes base
 * vertices from a buffer and reads the graph itself. For each vertex it reads two row offsets and
 * assigns edges to the 32 lanes of a group. Then it reads their neighbors (and weights), writes the
 * group to shared memory and replies to the waiting warp.
 *
 * The unit is not pipelined: it processes one group, with a configurable number of requests in
 * flight. The default of one is our choice; the paper says only that latency is not hidden. The
 * last row offset line is kept. Reads bypass the L1.
 */
#ifndef GTU_LAB_WVR_EGHW_H
#define GTU_LAB_WVR_EGHW_H

#include "firmware-model/lab/engine/warp.h"

struct lab_eghw;

/* A group in shared memory: base vertices, edges, neighbors, weights; 32 words each. */
#define LAB_EGHW_WORDS	(4 * LAB_LANES)

/* @requests: most requests in flight, 1 to 64. GTU_ERR_USAGE, GTU_ERR_NOMEM. */
int lab_eghw_attach(struct lab *lab, uint32_t requests, struct lab_eghw **out, struct gtu_error *err);
void lab_eghw_free(struct lab_eghw *u);
/* Set the graph to read; @weight NULL: none. */
void lab_eghw_graph(struct lab_eghw *u, const struct lab_array *row, const struct lab_array *col,
		    const struct lab_array *weight);

/* Add the active lanes' vertices in warp and lane order. Puts precede a round's first get(). */
void lab_eghw_put(struct lab_warp *w, struct lab_eghw *u, const lab_u32 *vid);
/*
 * Get the next group in @words of shared memory. Returns the lanes with an edge; 0 at the end.
 * *@edge: the part of the wait in which the unit read edge information and wrote it to its buffer.
 */
lab_mask lab_eghw_get(struct lab_warp *w, struct lab_eghw *u, uint32_t *words, uint64_t *edge);

#endif
