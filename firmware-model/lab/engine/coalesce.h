/* SPDX-License-Identifier: MIT */
/* The coalescer: which lines or sectors a warp's memory instruction touches. */
#ifndef GTU_LAB_COALESCE_H
#define GTU_LAB_COALESCE_H

#include "lab.h"

/* How many of the four bits of @x are set. */
static inline uint32_t lab_sectors(uint32_t x)
{
	return (uint32_t)(0x4332322132212110ull >> (4 * x) & 15);
}

struct lab_coalesced {
	uint32_t n;			/* transactions */
	uint32_t sectors;		/* of all of them */
	uint64_t unit[LAB_LANES];	/* address of each; descending */
	uint8_t bits[LAB_LANES];	/* sectors it touches, of its 128-byte line */
	uint8_t partial[LAB_LANES];	/* STORE: those of them not written to the last byte */
};

/*
 * Lanes of @mask (not 0) access element index[lane] of 1 << @width_log2 (4 or 8) bytes of an array at @base (a
 * multiple of 128). Loads and stores: one transaction a distinct unit of @unit (32 or 128) bytes. Atomics:
 * with a unit of 32, for each sector as many as the most lanes on one and the same word of it; with 128 the same for
 * each line and each half of the warp, every transaction with the sectors of its words.
 */
void lab_coalesce(const uint32_t *index, uint32_t mask, unsigned width_log2, uint64_t base, unsigned unit,
		  enum lab_kind kind, struct lab_coalesced *out);

/* The portable form of the above, which gives the same (for tests). */
void lab_coalesce_plain(const uint32_t *index, uint32_t mask, unsigned width_log2, uint64_t base,
			unsigned unit, enum lab_kind kind, struct lab_coalesced *out);

#endif
