/* SPDX-License-Identifier: MIT */
/*
 * Bit format of compressed edge lists, used by containers and decoded by GPU kernels. Valid C and
 * CUDA C++.
 *
 * A list of d edges consists of ceil(d / 256) pieces; all but the last have 256 entries. A piece of
 * c entries may start at any bit of the stream. It contains the first target in `entry_bits` bits;
 * then c - 1 steps, each in `width` bits, from one target to the next, modulo 2^entry_bits; then c
 * weights minus the graph's minimum, each in `weight_bits` bits. Modular steps allow any order;
 * ascending lists are short. Bit i of the stream is bit i % 32 of word i / 32, little-endian.
 * `width` (0 to entry_bits) is stored separately, one byte per piece.
 *
 * Each piece can be decoded independently, 32 entries at a time by a warp: the equal widths give
 * each lane's position, and a prefix sum gives the targets.
 */
#ifndef GTU_COMPRESSED_H
#define GTU_COMPRESSED_H

#include <stdint.h>

#include "libruntime/support/host_device.h"

#define GTU_COMPRESSED_PIECE		256u	/* entries */
#define GTU_COMPRESSED_BITS_MAX	32u	/* entry_bits + weight_bits: a piece is then at most 1 KiB */

GTU_HOST_DEVICE uint64_t gtu_compressed_pieces(uint64_t degree)
{
	return (degree + GTU_COMPRESSED_PIECE - 1) / GTU_COMPRESSED_PIECE;
}

/* Bits of a piece of @count entries (at least 1). */
GTU_HOST_DEVICE uint32_t gtu_compressed_piece_bits(uint32_t count, uint32_t entry_bits, uint32_t width,
						     uint32_t weight_bits)
{
	return entry_bits + (count - 1) * width + count * weight_bits;
}

/*
 * Bit offset within a piece of the step of entry @i (not the first), and of the weight of entry @i
 * of @count.
 */
GTU_HOST_DEVICE uint32_t gtu_compressed_step_at(uint32_t i, uint32_t entry_bits, uint32_t width)
{
	return entry_bits + (i - 1) * width;
}
GTU_HOST_DEVICE uint32_t gtu_compressed_weight_at(uint32_t i, uint32_t count, uint32_t entry_bits, uint32_t width,
					  uint32_t weight_bits)
{
	return entry_bits + (count - 1) * width + i * weight_bits;
}

GTU_HOST_DEVICE uint32_t gtu_compressed_mask(uint32_t bits)
{
	return bits < 32 ? (1u << bits) - 1 : ~0u;
}

/* Extract @bits (0 to 32) bits at bit offset @at. Reads only words that contain such bits. */
GTU_HOST_DEVICE uint32_t gtu_compressed_take(const uint32_t *word, uint64_t at, uint32_t bits)
{
	const uint32_t shift = (uint32_t)at & 31;
	uint64_t pair;

	if (!bits)
		return 0;
	pair = word[at >> 5];
	if (shift + bits > 32)
		pair |= (uint64_t)word[(at >> 5) + 1] << 32;
	return (uint32_t)(pair >> shift) & gtu_compressed_mask(bits);
}

/*
 * Location of a list, in 8 bytes per vertex: bit offset << 6 | width of its only piece, or, for a
 * list of several pieces, the index of its first entry in a table of such words, one per piece.
 */
GTU_HOST_DEVICE uint64_t gtu_compressed_word(uint64_t at, uint32_t width)
{
	return at << 6 | width;
}
GTU_HOST_DEVICE uint64_t gtu_compressed_word_at(uint64_t word)
{
	return word >> 6;
}
GTU_HOST_DEVICE uint32_t gtu_compressed_word_width(uint64_t word)
{
	return (uint32_t)word & 63;
}

#endif
