/* SPDX-License-Identifier: MIT */
/*
 * The compressed form of edge lists, as bits: what the container holds, what kernels of a GPU decode. C and CUDA C++
 * both read this.
 *
 * A list of d edges is ceil(d / 256) pieces, all of 256 entries but the last. A piece of c entries is, from any bit of
 * the stream on: its first target in `entry_bits` bits; c - 1 steps from one target to the next, each in `width` bits,
 * modulo 2^entry_bits (so that any order can be written, and an ascending one is short); c weights less the least of
 * the graph, each in `weight_bits` bits. Bit i of the stream is bit i % 32 of its word i / 32, little-endian.
 * `width`, 0 to entry_bits, is a byte a piece, kept beside. A piece stands by itself: whoever knows where it begins
 * decodes it, 32 entries at a time by a warp: equal widths say where each lane reads, a sum over lanes does the rest.
 */
#ifndef GTU_CODED_H
#define GTU_CODED_H

#include <stdint.h>

#ifdef __CUDACC__
#define GTU_CODED_FN __host__ __device__ static inline
#else
#define GTU_CODED_FN static inline
#endif

#define GTU_CODED_PIECE		256u	/* entries */
#define GTU_CODED_BITS_MOST	32u	/* entry_bits + weight_bits: a piece is then at most 1 KiB */

GTU_CODED_FN uint64_t gtu_coded_pieces(uint64_t degree)
{
	return (degree + GTU_CODED_PIECE - 1) / GTU_CODED_PIECE;
}

/* Bits that a piece of @count entries (not 0) takes. */
GTU_CODED_FN uint32_t gtu_coded_piece_bits(uint32_t count, uint32_t entry_bits, uint32_t width, uint32_t weight_bits)
{
	return entry_bits + (count - 1) * width + count * weight_bits;
}

/* Where, within its piece, the step of entry @i (not the first) and the weight of entry @i of @count begin. */
GTU_CODED_FN uint32_t gtu_coded_step_at(uint32_t i, uint32_t entry_bits, uint32_t width)
{
	return entry_bits + (i - 1) * width;
}
GTU_CODED_FN uint32_t gtu_coded_weight_at(uint32_t i, uint32_t count, uint32_t entry_bits, uint32_t width,
					  uint32_t weight_bits)
{
	return entry_bits + (count - 1) * width + i * weight_bits;
}

GTU_CODED_FN uint32_t gtu_coded_mask(uint32_t bits)
{
	return bits < 32 ? (1u << bits) - 1 : ~0u;
}

/* @bits (0 to 32) bits from bit @at of @word on; no word is read that holds none of them. */
GTU_CODED_FN uint32_t gtu_coded_take(const uint32_t *word, uint64_t at, uint32_t bits)
{
	const uint32_t shift = (uint32_t)at & 31;
	uint64_t pair;

	if (!bits)
		return 0;
	pair = word[at >> 5];
	if (shift + bits > 32)
		pair |= (uint64_t)word[(at >> 5) + 1] << 32;
	return (uint32_t)(pair >> shift) & gtu_coded_mask(bits);
}

/*
 * Where a list lies, in 8 bytes a vertex: its only piece as bit << 6 | width, or, of a list with more, the number of its
 * first in a table of the same words, a piece each.
 */
GTU_CODED_FN uint64_t gtu_coded_word(uint64_t at, uint32_t width)
{
	return at << 6 | width;
}
GTU_CODED_FN uint64_t gtu_coded_word_at(uint64_t word)
{
	return word >> 6;
}
GTU_CODED_FN uint32_t gtu_coded_word_width(uint64_t word)
{
	return (uint32_t)word & 63;
}

#endif
