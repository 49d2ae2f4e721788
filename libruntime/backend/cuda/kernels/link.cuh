/* SPDX-License-Identifier: MIT */
/* Kernels that measure link bandwidth with the access patterns of traversals. */
#ifndef GTU_CUDA_LINK_CUH
#define GTU_CUDA_LINK_CUH

#include "common.cuh"

#define UNROLL 4

__device__ static inline u64 mix(u64 x)
{
	x += 0x9e3779b97f4a7c15ull;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

/* Keeps the compiler from optimizing reads away. */
__device__ static inline void use(u32 x, u32 *sink)
{
	if (x == 0x5eed5eed)
		*sink = x;
}

/* Read @words of 4 bytes in order, starting @shift words in. */
extern "C" __global__ void link_sequential(const u32 *from, u64 words, u32 shift, u32 *sink)
{
	u64 step = thread_count() * UNROLL, i;
	u32 x = 0;

	for (i = (thread_id() / 32 * UNROLL) * 32 + lane_id(); i + 32 * (UNROLL - 1) + shift < words; i += step)
#pragma unroll
		for (int k = 0; k < UNROLL; k++)
			x ^= from[i + 32 * k + shift];
	use(x, sink);
}

/* Each thread reads its own 4 KiB. */
extern "C" __global__ void link_strided(const u32 *from, u64 words, u32 *sink)
{
	u64 piece, i;
	u32 x = 0;

	for (piece = thread_id(); piece < words / 1024; piece += thread_count())
		for (i = 0; i < 1024; i++)
			x ^= from[piece * 1024 + i];
	use(x, sink);
}

/* Read @reads random blocks of 4 << @log2 bytes out of @words. */
extern "C" __global__ void link_random(const u32 *from, u64 words, u32 log2, u64 seed, u64 reads, u32 *sink)
{
	u64 blocks = words >> log2, group = thread_id() >> log2, groups = thread_count() >> log2, b;
	u32 x = 0, word = threadIdx.x & ((1u << log2) - 1);

	for (b = group; b < reads; b += groups * UNROLL)
#pragma unroll
		for (int k = 0; k < UNROLL; k++)
			if (b + k * groups < reads)
				x ^= from[(mix(b + k * groups + seed) % blocks << log2) + word];
	use(x, sink);
}

/* Read one word of each 4 KiB, so that the device's mappings exist before a measurement. */
extern "C" __global__ void link_touch(const u32 *from, u64 words, u32 *sink)
{
	u32 x = 0;

	for (u64 i = thread_id() * 1024; i < words; i += thread_count() * 1024)
		x ^= from[i];
	use(x, sink);
}

#endif
