/* SPDX-License-Identifier: MIT */
/*
 * The IRU in the memory partitions of a laboratory's machine (iru.txt, section 3): the schedule is struct
 * iru_core, the one the device runs, a cycle of it a core cycle. Its fetches go to the L2 slices without the
 * crossbar, requests and records of warps over it. A warp sends its request to the partitions in turn.
 */
#ifndef GTU_LAB_IRU_UNIT_H
#define GTU_LAB_IRU_UNIT_H

#include "firmware-model/units/iru/iru_core.h"
#include "firmware-model/lab/engine/warp.h"

struct lab_iru;

/* Sums over all streams. */
struct lab_iru_counts {
	uint64_t elements, merged, records, full, timeout, end, disabled;
	uint64_t fetches;		/* requests to L2 */
	uint64_t cycles;		/* from a stream's begin to its last record */
	uint64_t lines;			/* distinct target lines of the records' lanes */
};

/* The published build (iru.txt, table 1; Documentation/units-iru.md for what the paper leaves open). */
extern const struct iru_shape lab_iru_published;
#define LAB_IRU_TIMEOUT 1024u		/* cycles; settled */

/* Stand an IRU of @shape in the partitions of @lab, to be freed with lab_iru_free() after it. */
int lab_iru_attach(struct lab *lab, const struct iru_shape *shape, uint64_t timeout, struct lab_iru **out,
		   struct gtu_error *err);
void lab_iru_free(struct lab_iru *u);
const struct lab_iru_counts *lab_iru_counts(const struct lab_iru *u);

/*
 * configure_iru(): the launch that follows reads the first @n (above 0) elements of @index by lab_load_iru(), each of its
 * ceil(n / 32) warps once. @secondary NULL: none. Elements of the target are 4 bytes. Arrays outlive the launch.
 */
void lab_iru_configure(struct lab_iru *u, const struct lab_array *target, const struct lab_array *index,
		       const struct lab_array *secondary, uint64_t n, unsigned op, bool position);
/* After the launch: GTU_ERR_VERIFY where elements or requests are left, or do not add up; else the counts are in. */
int lab_iru_finish(struct lab_iru *u, struct gtu_error *err);

struct lab_iru_lanes {
	lab_mask active;		/* lanes with an element; others were merged into these, or there are no more */
	lab_u32 index, secondary, position; /* those that were configured */
};
/* load_iru(): ask, and stop until the answer is there. All lanes of @w are to be active. */
void lab_load_iru(struct lab_warp *w, struct lab_iru *u, struct lab_iru_lanes *lanes);

#endif
