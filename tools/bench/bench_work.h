/* SPDX-License-Identifier: MIT */
/* gtu bench units: a case's data, prepared by bench_data.c and run by bench_units.c. */
#ifndef GTU_BENCH_WORK_H
#define GTU_BENCH_WORK_H

#include "bench.h"

#define FILTER_LINES	(1u << 18)	/* the larger published configuration: 2^18 lines, 2^15 groups */
#define GROUP_LINES	(1u << 15)

enum bench_slot {
	IN, INDEX, COUNT, MASK, OUT, FILTER, REORDER, FILTER_TABLE, GROUP_TABLE, COST,
	DEVICE_SLOTS,
	PLAIN_OUT = DEVICE_SLOTS, PLAIN_WORK, PLAIN_WORK2, COPY_FROM, COPY_TO,
	SLOTS
};

struct bench_work {
	const struct bench_case *c;
	struct gtu_queue *q;
	struct gtu_iru *iru;
	struct gtu_peg *peg;
	struct gtu_weaver *weaver;
	uint64_t n;			/* input elements */
	uint64_t data_n;		/* elements that indices choose from */
	uint64_t out_n;			/* elements that the unit output */
	uint64_t plain_n;		/* elements that plain software output */
	uint64_t bytes, cycles, seed;
	uint64_t sum, xor;		/* of a stream's elements, which are not stored */
	struct {
		void *p;
		uint64_t bytes;
		struct gtu_region region;
	} slot[SLOTS];
};

/*
 * Allocate a slot with all pages present, so that no page fault is timed, and register it with the
 * device.
 */
int bench_allocate(struct bench_work *w, enum bench_slot s, uint64_t bytes, struct gtu_error *err);
/* Allocate and fill the slots of w->c; sets w->n and w->data_n. */
int bench_make_data(struct bench_work *w, struct gtu_error *err);

#endif
