/* SPDX-License-Identifier: MIT */
/* The coalescer: which lines or sectors a warp memory instruction touches. */
#ifndef GTU_LAB_COALESCE_H
#define GTU_LAB_COALESCE_H

#include "lab.h"

/* Number of set bits in the 4-bit @x. */
static inline uint32_t lab_sectors(uint32_t x)
{
	return (uint32_t)(0x4332322132212110ull >> (4 * x) & 15);
}

struct lab_coalesced {
	uint32_t n;			/* transactions */
	uint32_t sectors;		/* of all transactions */
	uint64_t unit[LAB_LANES];	/* address of each transaction, descending */
	uint8_t bits[LAB_LANES];	/* sectors touched in its 128-byte line */
	uint8_t partial[LAB_LANES];	/* STORE: sectors that are written only in part */
};

/*
 * Lanes of @mask (not 0) access element index[lane] of an array at @base (a multiple of 128).
 * Elements have 1 << @width_log2 bytes, 4 or 8.
 *
 * Loads and stores: one transaction per distinct block of @unit bytes (32, 64 or 128); of 64, both
 * sectors are transferred. Atomics with a
 * unit of 32: for each sector, as many as the most lanes on one word. Atomics with a unit of 128:
 * the same for each line and half warp; every transaction has the sectors of its words.
 */
void lab_coalesce(const uint32_t *index, uint32_t mask, unsigned width_log2, uint64_t base, unsigned unit,
		  enum lab_kind kind, struct lab_coalesced *out);

/* The portable implementation, with the same result (for tests). */
void lab_coalesce_plain(const uint32_t *index, uint32_t mask, unsigned width_log2, uint64_t base,
			unsigned unit, enum lab_kind kind, struct lab_coalesced *out);

#endif
