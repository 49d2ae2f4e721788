/* SPDX-License-Identifier: MIT */
/*
 * Hardware worklists (Kim and Batten, MICRO 2014), GraphPEG's baseline in section 4.4. Each SM has
 * a bank of vertices: half of its space is for the list being read, half for the list being
 * written. Balancing is ideal and takes no time: an empty bank takes half of the fullest one; a
 * full bank pushes to the emptiest. The overflow of all banks is in memory and read back line by
 * line. Vertices are balanced, but not their edges.
 */
#ifndef GTU_LAB_HWWL_UNIT_H
#define GTU_LAB_HWWL_UNIT_H

#include "firmware-model/lab/engine/warp.h"

struct lab_hwwl;

/* Attach a bank of @bytes to each SM of @lab. Free it with lab_hwwl_free() after the lab. */
int lab_hwwl_attach(struct lab *lab, uint32_t bytes, struct lab_hwwl **out, struct gtu_error *err);
void lab_hwwl_free(struct lab_hwwl *u);
uint64_t lab_hwwl_requests(const struct lab_hwwl *u);	/* to memory */

/* The next launch pops the vertices pushed before, or @count elements of @list from @first on. */
void lab_hwwl_begin(struct lab_hwwl *u, const struct lab_array *list, uint64_t first, uint64_t count);
/* After the launch: GTU_ERR_VERIFY if vertices or warps are left. */
int lab_hwwl_end(struct lab_hwwl *u, struct gtu_error *err);
uint64_t lab_hwwl_pushed(const struct lab_hwwl *u);
/* Empty the list of pushed vertices. */
void lab_hwwl_clear(struct lab_hwwl *u);

/* Pop up to 32 vertices. Returns the lanes that got one; 0 at the end. All lanes must be active. */
lab_mask lab_hwwl_pop(struct lab_warp *w, struct lab_hwwl *u, lab_u32 *vertex);
void lab_hwwl_push(struct lab_warp *w, struct lab_hwwl *u, lab_mask m, const lab_u32 *vertex);

#endif
