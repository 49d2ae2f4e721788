/* SPDX-License-Identifier: MIT */
/*
 * The IRU attached to the memory partitions (IRU, section 3). struct iru_core, the device model's
 * own, defines the schedule; one of its cycles is one core cycle. It fetches from the L2 slices
 * without the crossbar; requests and records of warps cross it. Warps send requests to the
 * partitions round-robin.
 */
#ifndef GTU_LAB_IRU_UNIT_H
#define GTU_LAB_IRU_UNIT_H

#include "firmware-model/units/iru/iru_core.h"
#include "firmware-model/lab/engine/warp.h"

struct lab_iru;

/* Sums over all streams. */
struct lab_iru_counts {
	uint64_t elements, records;
	uint64_t fetches, foreign;	/* requests to the L2; of these, to slices of other partitions */
	uint64_t cycles;		/* from a stream's start to its last record */
	struct iru_counters core;
};

/* IRU, table 1; Documentation/units-iru.md lists the values that the paper leaves open. */
extern const struct iru_shape lab_iru_published;
#define LAB_IRU_TIMEOUT 1024u		/* cycles; our choice */

/* Alternatives that the paper mentions or excludes. All false: as published. */
struct lab_iru_options {
	bool bypass_l2;			/* section 3.2: "could be beneficial for streaming kernels" */
	/* partitions fetch in turn, wherever the slice is, instead of from their own slices */
	bool interleaved;
};

/*
 * Attach an IRU of @shape to the partitions of @lab; @options may be NULL. Free it with
 * lab_iru_free() after the lab.
 */
int lab_iru_attach(struct lab *lab, const struct iru_shape *shape, uint64_t timeout, const struct lab_iru_options *options,
		   struct lab_iru **out, struct gtu_error *err);
void lab_iru_free(struct lab_iru *u);
const struct lab_iru_counts *lab_iru_counts(const struct lab_iru *u);

/*
 * configure_iru(): the next launch reads the first @n (above 0) elements of @index by
 * lab_load_iru(), once in each of its ceil(n / 32) warps. @secondary NULL: none. Target elements
 * have 4 bytes. The arrays outlive the launch.
 */
void lab_iru_configure(struct lab_iru *u, const struct lab_array *target, const struct lab_array *index,
		       const struct lab_array *secondary, uint64_t n, unsigned op, bool position);
/* After the launch: update the counts. GTU_ERR_VERIFY: elements or requests are unaccounted for. */
int lab_iru_finish(struct lab_iru *u, struct gtu_error *err);

struct lab_iru_lanes {
	lab_mask active; /* lanes with an element; the others were merged or are past the end */
	lab_u32 index, secondary, position; /* as configured */
};
/* load_iru(): send a request and stall until its reply. All lanes must be active. */
void lab_load_iru(struct lab_warp *w, struct lab_iru *u, struct lab_iru_lanes *lanes);

#endif
