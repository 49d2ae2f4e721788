/* SPDX-License-Identifier: MIT */
/*
 * Streams over ranges of an array, such as the edges of a frontier's vertices: element k of the
 * stream is found by the first elements and the counts of the ranges, so that no list of the
 * elements exists in memory.
 */
#ifndef GTU_IRU_RANGES_H
#define GTU_IRU_RANGES_H

#include "firmware-model/device/device.h"
#include "iru_core.h"

/* The position of a partition in the ranges; it only moves forward. */
struct iru_cursor {
	uint64_t next;			/* range that will be read next */
	uint64_t start;			/* number of the current range's first element in the stream */
	uint64_t first;			/* the same element's number in the array */
	uint32_t count;			/* elements of the current range */
	uint8_t status, slot;		/* error in range `next`: reported when its elements are loaded */
	uint64_t needed;
};

struct iru_ranges {
	struct iru_cursor fetch[IRU_PARTITIONS_MAX], load[IRU_PARTITIONS_MAX];
	uint64_t reported;		/* ranges whose read the observers know */
};

void iru_ranges_start(struct iru_ranges *r);
/* Report to the observers that partition @p fetches elements [first, first + count) in @cycle. */
void iru_ranges_request(struct iru_ranges *r, struct gtu_job *job, unsigned p, uint64_t first,
			unsigned count, uint64_t cycle);
/* Copy these elements to @to and return it; NULL with the job's error set. */
const uint32_t *iru_ranges_load(struct iru_ranges *r, struct gtu_job *job, unsigned p, uint64_t first,
				unsigned count, uint32_t to[IRU_LANES]);

#endif
