/* SPDX-License-Identifier: MIT */
/*
 * Hardware worklists (Kim and Batten, MICRO 2014) as graphpeg.txt, section 4.4, compares with them: a bank of
 * vertices in each SM, of half a given space for the list that is read and half for the one that is written, and
 * free balancing: an SM that has no more takes half of what the fullest has, one that is full puts into the emptiest, in no time.
 * What all banks together do not hold is in memory, and read back a line at a time. The vertices are
 * balanced, their edges are not.
 */
#ifndef GTU_LAB_HWWL_UNIT_H
#define GTU_LAB_HWWL_UNIT_H

#include "firmware-model/lab/engine/warp.h"

struct lab_hwwl;

struct lab_hwwl_counts {
	uint64_t popped, pushed, spilled, refills, moved, requests;
};

/* Stand a bank of @bytes (two vertices at least) in each SM of @lab, to be freed with lab_hwwl_free() after it. */
int lab_hwwl_attach(struct lab *lab, uint32_t bytes, struct lab_hwwl **out, struct gtu_error *err);
void lab_hwwl_free(struct lab_hwwl *u);
const struct lab_hwwl_counts *lab_hwwl_counts(const struct lab_hwwl *u);

/* The launch that follows pops what was pushed, or with @list elements [@first, @first + @count) of that, which are in memory. */
void lab_hwwl_begin(struct lab_hwwl *u, const struct lab_array *list, uint64_t first, uint64_t count);
/* After it: GTU_ERR_VERIFY where something was left. */
int lab_hwwl_end(struct lab_hwwl *u, struct gtu_error *err);
uint64_t lab_hwwl_pushed(const struct lab_hwwl *u);
/* Forget what was pushed. */
void lab_hwwl_clear(struct lab_hwwl *u);

/* Up to 32 vertices; the lanes that got one, none at the end. All lanes of @w are to be active. */
lab_mask lab_hwwl_pop(struct lab_warp *w, struct lab_hwwl *u, lab_u32 *vertex);
void lab_hwwl_push(struct lab_warp *w, struct lab_hwwl *u, lab_mask m, const lab_u32 *vertex);

#endif
