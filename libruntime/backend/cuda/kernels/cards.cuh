/* SPDX-License-Identifier: MIT */
/*
 * Where the lists and the values of a vertex lie: on this card, or, in a loop that one card runs for several (loop.cuh), on
 * the card of its owner, which it reads and writes over the link between them.
 */
#ifndef GTU_CUDA_CARDS_CUH
#define GTU_CUDA_CARDS_CUH

#include "common.cuh"

/* The last rank whose range starts at or before @v: those before it may be empty. */
__device__ static inline u32 owner_of(const u64 *cut, u32 ranks, u64 v)
{
	u32 low = 0, high = ranks, mid;

	while (high - low > 1) {
		mid = low + (high - low) / 2;
		if (cut[mid] <= v)
			low = mid;
		else
			high = mid;
	}
	return low;
}

struct one_card {
	struct place { };

	__device__ place of(u32) const
	{
		return place();
	}
	__device__ static const uint64_t *row(const gpu_graph &g, place, u32 v)
	{
		return (const uint64_t *)g.row + v;
	}
	/* The edges of @v, as positions from g.list on. Both reads are unconditional, so that they are in flight together. */
	template <typename R> __device__ static void edges(const gpu_graph &g, place at, u32 v, u64 *s, u64 *e)
	{
		const u64 end = row(g, at, v)[1];

		*s = row(g, at, v)[0];
		*e = v >= g.first && v < g.end ? end : *s;
	}
	/* The difference between the positions of an edge's weight and of the edge. */
	template <typename R, typename W> __device__ static u64 weights(const gpu_graph &, place)
	{
		return 0;
	}
	/* Element @i of two arrays, which this card has at @values. */
	template <typename T> __device__ static T *first(place, T *values, u64 i)
	{
		return values + i;
	}
	template <typename T> __device__ static T *second(place, T *values, u64 i)
	{
		return values + i;
	}
};

/* g.list is the lowest list of all cards, from which positions in all of them count. */
struct all_cards {
	typedef const gpu_card *place;
	const gpu_card *card;
	const u64 *cut;
	u32 ranks;

	__device__ place of(u32 v) const
	{
		return card + owner_of(cut, ranks, v);
	}
	__device__ static const uint64_t *row(const gpu_graph &, place at, u32 v)
	{
		return (const uint64_t *)at->row + v;
	}
	/* The elements between two addresses: modulo 2^64 if they are negative, as the sums of positions are. */
	template <typename R> __device__ static u64 apart(u64 there, u64 here)
	{
		return (u64)((int64_t)(there - here) / (int64_t)sizeof(R));
	}
	template <typename R> __device__ static void edges(const gpu_graph &g, place at, u32 v, u64 *s, u64 *e)
	{
		const u64 lists = apart<R>(at->list, g.list);

		*s = row(g, at, v)[0] + lists;
		*e = row(g, at, v)[1] + lists;
	}
	template <typename R, typename W> __device__ static u64 weights(const gpu_graph &g, place at)
	{
		return apart<W>(at->weight, g.weight) - apart<R>(at->list, g.list);
	}
	template <typename T> __device__ static T *first(place at, T *, u64 i)
	{
		return (T *)at->first + i;
	}
	template <typename T> __device__ static T *second(place at, T *, u64 i)
	{
		return (T *)at->second + i;
	}
};

/* @cards and @cut, as all threads of the block find them in shared memory. Called by all threads, once. */
__device__ static inline all_cards share_cards(const gpu_card *cards, const u64 *cut, u32 ranks)
{
	__shared__ gpu_card card[GPU_LOOP_CARDS];
	__shared__ u64 cuts[GPU_LOOP_CARDS + 1];

	if (threadIdx.x <= ranks)
		cuts[threadIdx.x] = cut[threadIdx.x];
	if (threadIdx.x < ranks)
		card[threadIdx.x] = cards[threadIdx.x];
	__syncthreads();
	return { card, cuts, ranks };
}

#endif
