/* SPDX-License-Identifier: MIT */
/*
 * Decoding of compressed edge lists (compressed.h) by a warp. The lines of a piece are read together,
 * from 128-byte boundaries, into shared memory. Then the warp decodes 32 entries at a time: each
 * lane extracts its step, and a prefix sum turns steps into targets.
 */
#ifndef GTU_CUDA_COMPRESSED_CUH
#define GTU_CUDA_COMPRESSED_CUH

#include "common.cuh"

#define PIECE_LINES 9			/* lines of an unaligned piece of 1 KiB */

struct compressed_piece {
	u64 at;				/* bit offset of the piece */
	u64 edge;			/* index of its first edge */
	u32 width, count;
	u32 *word;			/* the warp's shared memory; word 0 starts the line of the first bit */
	u32 have;			/* end of the words fetched (or before the piece) */
};

__device__ static inline u32 stream_word(const gpu_graph &g, u64 i)
{
	return ((const u32 *)(i < g.prefix_end ? g.prefix : g.list))[i];
}

/* Piece @k of the list of @v; it must exist. */
__device__ static inline compressed_piece piece_of(const gpu_graph &g, u64 v, u32 k)
{
	__shared__ u32 lines[GPU_BLOCK / 32][PIECE_LINES * 32];
	u64 s = row_at(g, v), degree = row_at(g, v + 1) - s, done = (u64)k * GTU_COMPRESSED_PIECE,
	    word = ((const u64 *)g.index)[v];
	compressed_piece p;

	if (degree > GTU_COMPRESSED_PIECE)
		word = ((const u64 *)g.table)[word + k];
	p.at = gtu_compressed_word_at(word);
	p.width = gtu_compressed_word_width(word);
	p.edge = s + done;
	p.count = degree - done < GTU_COMPRESSED_PIECE ? (u32)(degree - done) : GTU_COMPRESSED_PIECE;
	p.word = lines[threadIdx.x / 32];
	p.have = (u32)(p.at & 1023) / 32;
	return p;
}

/* End of the words that hold the piece's first @bits bits, as an index into p.word. */
__device__ static inline u32 words_for(const compressed_piece &p, u32 bits)
{
	return ((u32)(p.at & 1023) + bits + 31) / 32;
}

/* Fetch the words up to @end; all loads are issued before the first is used. */
__device__ static inline void fetch_words(const gpu_graph &g, compressed_piece &p, u32 end, tally &t)
{
	const u64 base = p.at / 1024 * 32;
	const u32 begin = p.have & ~31u;
	u32 got[PIECE_LINES], i;
	u64 sectors;

	if (end <= p.have)
		return;
#pragma unroll
	for (int k = 0; k < PIECE_LINES; k++) {
		i = begin + k * 32 + lane_id();
		got[k] = i >= p.have && i < end ? stream_word(g, base + i) : 0;
	}
	/* other lanes may still read the words fetched earlier */
	__syncwarp();
#pragma unroll
	for (int k = 0; k < PIECE_LINES; k++) {
		i = begin + k * 32 + lane_id();
		if (i >= p.have && i < end)
			p.word[i] = got[k];
	}
	__syncwarp();
	sectors = (end + 7) / 8 - p.have / 8;
	if (base + p.have < g.prefix_end)
		t.cached += sectors;
	else
		t.list += sectors;
	p.have = end;
}

/*
 * Targets of entries @first to @first + 31, one per lane. *carry is the last target before them;
 * updated.
 */
__device__ static inline u32 targets_of(const gpu_graph &g, const compressed_piece &p, u32 first, u32 *carry)
{
	const u32 i = first + lane_id(), start = (u32)(p.at & 1023);
	u32 sum = 0;

	if (!i)
		sum = gtu_compressed_take(p.word, start, g.entry_bits);
	else if (i < p.count)
		sum = gtu_compressed_take(p.word, start + gtu_compressed_step_at(i, g.entry_bits, p.width), p.width);
	sum = warp_prefix_sum(sum) + *carry;
	*carry = __shfl_sync(ALL_LANES, sum, 31);
	return sum & gtu_compressed_mask(g.entry_bits);
}

/* Bits of the targets of entries 0 to @count - 1, without weights. */
__device__ static inline u32 step_bits(const gpu_graph &g, const compressed_piece &p, u32 count)
{
	return g.entry_bits + (count - 1) * p.width;
}

/* walk_item() for a compressed list: item @k is its piece @k. @WEIGHED: also decode weights. */
template <typename W, bool WEIGHED, typename F>
__device__ static inline void walk_piece(const gpu_graph &g, u64 v, u32 k, tally &t, F f)
{
	compressed_piece p = piece_of(g, v, k);
	u32 bits = WEIGHED ? gtu_compressed_piece_bits(p.count, g.entry_bits, p.width, g.weight_bits) :
			     step_bits(g, p, p.count), first, carry = 0;

	fetch_words(g, p, words_for(p, bits), t);
	if (width_of<W>::bytes)
		t.list += ((p.edge + p.count) * width_of<W>::bytes + 31) / 32 - p.edge * width_of<W>::bytes / 32;
	for (first = 0; first < p.count; first += 32) {
		const u32 i = first + lane_id();
		const bool valid = i < p.count;
		compressed entry = { targets_of(g, p, first, &carry), 0 };
		W weight = W();

		if (WEIGHED && valid)
			entry.weight = gtu_compressed_take(p.word, (u32)(p.at & 1023) +
						      gtu_compressed_weight_at(i, p.count, g.entry_bits, p.width,
									  g.weight_bits), g.weight_bits);
		if (valid)
			weight = weight_at<W>(g, p.edge + i);
		f(valid, entry, weight);
	}
}

/* Whether any target of @v has its bit set in @bits; decodes 32 targets at a time until one has. */
__device__ static inline bool compressed_hits(const gpu_graph &g, u64 v, const u32 *bits, tally &t)
{
	u64 pieces = gtu_compressed_pieces(row_at(g, v + 1) - row_at(g, v));
	u32 k, first, to, carry;

	for (k = 0; k < pieces; k++) {
		compressed_piece p = piece_of(g, v, k);

		for (first = 0, carry = 0; first < p.count; first += 32) {
			fetch_words(g, p, words_for(p, step_bits(g, p, first + 32 < p.count ? first + 32 : p.count)), t);
			to = targets_of(g, p, first, &carry);
			if (__any_sync(ALL_LANES, first + lane_id() < p.count && bits[to >> 5] >> (to & 31) & 1))
				return true;
		}
	}
	return false;
}

#endif
