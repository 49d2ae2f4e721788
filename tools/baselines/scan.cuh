/* SPDX-License-Identifier: MIT */
/* The block's shape and its prefix sums, which the baselines' kernels share. */
#ifndef SCAN_CUH
#define SCAN_CUH

typedef unsigned u32;

#define BLOCK	256u
#define WARPS	(BLOCK / 32)
#define NEVER	0xffffffffu
#define ALL	0xffffffffu

static __device__ __forceinline__ u32 lane(void)
{
	return threadIdx.x % 32;
}

/* Exclusive prefix sums of a warp. */
static __device__ __forceinline__ u32 warp_scan(u32 n, u32 *total)
{
	u32 sum = n;
#pragma unroll
	for (u32 d = 1; d < 32; d *= 2) {
		u32 other = __shfl_up_sync(ALL, sum, d);

		sum += lane() >= d ? other : 0;
	}
	*total = __shfl_sync(ALL, sum, 31);
	return sum - n;
}

/* Exclusive prefix sums of a block: a scan by each warp, whose sums @writer stores, then the sums of the warps before. */
static __device__ __forceinline__ u32 block_scan(u32 n, u32 writer, u32 *parts, u32 *total)
{
	u32 all, before = warp_scan(n, &all), sum = 0;

	if (lane() == writer)
		parts[threadIdx.x / 32] = all;
	__syncthreads();
#pragma unroll
	for (u32 w = 0; w < WARPS; w++) {
		before += w < threadIdx.x / 32 ? parts[w] : 0;
		sum += parts[w];
	}
	*total = sum;
	return before;
}

#endif
