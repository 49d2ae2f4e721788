/* SPDX-License-Identifier: MIT */
/*
 * Loops over small frontiers that stay on the GPU. A level of a road network has so few vertices
 * that launching a kernel and reading its counters takes longer than the level. Here one cooperative
 * launch runs many steps, with a barrier of all blocks after each. It ends when a queue overflows;
 * the host's loops then collect the frontier from the vertex arrays, which are always complete.
 */
#ifndef GTU_CUDA_LOOP_CUH
#define GTU_CUDA_LOOP_CUH

#include "cards.cuh"

#define LANE_LIST	16u		/* a longer list is read by a whole warp */

__device__ static inline struct gpu_loop *loop_of(const gpu_graph &g)
{
	return &counters_of(g)->loop;
}

#ifdef __CUDA_ARCH__
__device__ static inline void arrive(u32 *at)
{
	asm volatile("red.release.gpu.global.add.u32 [%0], 1;" :: "l"(at) : "memory");
}

__device__ static inline u32 arrived_blocks(const u32 *at)
{
	u32 count;

	asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(count) : "l"(at) : "memory");
	return count;
}

__device__ static inline void store_release(uint64_t *at, u64 value)
{
	asm volatile("st.release.gpu.global.u64 [%0], %1;" :: "l"(at), "l"(value) : "memory");
}

__device__ static inline u64 load_acquire(const uint64_t *at)
{
	u64 value;

	asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(at) : "memory");
	return value;
}

/*
 * Atomic operations on global memory if @valid; they return @otherwise if not. Several of them are in flight together: the
 * compiler puts a wait for the result at the end of a branch, but not behind a predicated instruction.
 */
#define ATOMIC_IF(name, type, operation, bits)                                                      \
	__device__ static inline type name(bool valid, type *at, type value, type otherwise)        \
	{                                                                                          \
		asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.u32 p, %1, 0;\n\t"                     \
			     "@p atom.global." operation " %0, [%2], %3;\n\t}"                     \
			     : "+" bits(otherwise) : "r"((u32)valid), "l"(at), bits(value) : "memory"); \
		return otherwise;                                                                  \
	}

ATOMIC_IF(or_if, u32, "or.b32", "r")
ATOMIC_IF(min_if, u32, "min.u32", "r")
ATOMIC_IF(min_if, u64, "min.u64", "l")

/* Ask for the line at @at: the next step reads it after the barrier, which takes as long. */
__device__ static inline void prefetch(const void *at)
{
	asm volatile("prefetch.global.L2 [%0];" :: "l"(at));
}
#else
__device__ static inline void arrive(u32 *at)
{
	atomicAdd(at, 1u);
}

__device__ static inline u32 arrived_blocks(const u32 *at)
{
	__nanosleep(20);
	return *at;
}

__device__ static inline void store_release(uint64_t *at, u64 value)
{
	*(volatile uint64_t *)at = value;
}

__device__ static inline u64 load_acquire(const uint64_t *at)
{
	__nanosleep(20);
	return *(const volatile uint64_t *)at;
}

__device__ static inline u32 or_if(bool valid, u32 *at, u32 bits, u32 otherwise)
{
	return valid ? atomicOr(at, bits) : otherwise;
}

template <typename T> __device__ static inline T min_if(bool valid, T *at, T value, T otherwise)
{
	return valid ? (T)atomicMin(at, value) : otherwise;
}

__device__ static inline void prefetch(const void *)
{
}
#endif

/* Wait until all blocks of a cooperative launch arrive; @arrived counts on from @epoch. */
__device__ static inline void grid_barrier(u32 *arrived, u32 &epoch)
{
	epoch += gridDim.x;
	__syncthreads();
	if (!threadIdx.x) {
		arrive(arrived);
		while ((int)(arrived_blocks(arrived) - epoch) < 0)
			;
	}
	__syncthreads();
}

/* Read a counter that other blocks wrote before the last barrier. */
__device__ static inline u64 settled(const uint64_t *counter)
{
	return *(const volatile uint64_t *)counter;
}

/* The part of a list that a work item covers, as in walk_plain(). */
template <typename R>
__device__ static inline void piece_bounds(u64 s, u64 e, u32 chunk, u64 *first, u64 *end)
{
	const u64 line = 128 / sizeof(R), per = GPU_CHUNK / sizeof(R);
	u64 base = (s & ~(line - 1)) + chunk * per;

	*first = s > base ? s : base;
	*end = e < base + per ? e : base + per;
}

/*
 * Process list pieces, one per lane: [first, first + count), no more than GPU_CHUNK bytes.
 * f(mine, mask, entry, weight) is called by every lane, with up to LANE_ENTRIES entries by @mask, and
 * with the lane's own @mine of the piece's lane. Short pieces are read by their lanes, long ones by
 * the warp. @weights: one_card::weights().
 */
template <typename R, typename W, typename D, typename F>
__device__ static inline void walk_pieces(const gpu_graph &g, u64 first, u32 count, u64 weights, D mine, tally &t, F f)
{
	u32 longs = __ballot_sync(ALL_LANES, count > LANE_LIST), limit = count > LANE_LIST ? 0 : count, k, i, mask;
	R entry[LANE_ENTRIES];
	W weight[LANE_ENTRIES];
	u64 at;

	count_sectors<R, W>(g, t, first, first + count);
	for (k = 0; __any_sync(ALL_LANES, k < limit); k += LANE_ENTRIES) {
		mask = 0;
#pragma unroll
		for (i = 0; i < LANE_ENTRIES; i++) {
			if (k + i >= limit)
				continue;
			mask |= 1u << i;
			entry[i] = entry_at<R>(g, first + k + i);
			weight[i] = weight_at<W>(g, first + weights + k + i);
		}
		f(mine, mask, entry, weight);
	}
	for (; longs; longs &= longs - 1) {
		int lane = __ffs((int)longs) - 1;
		u64 from = __shfl_sync(ALL_LANES, first, lane);
		u64 apart = width_of<W>::bytes ? __shfl_sync(ALL_LANES, weights, lane) : 0;
		u32 entries = __shfl_sync(ALL_LANES, count, lane);
		D theirs = __shfl_sync(ALL_LANES, mine, lane);

		for (k = 0; k < entries; k += 32 * LANE_ENTRIES) {
			mask = 0;
#pragma unroll
			for (i = 0; i < LANE_ENTRIES; i++) {
				at = k + 32 * i + lane_id();
				if (at >= entries)
					continue;
				mask |= 1u << i;
				entry[i] = entry_at<R>(g, from + at);
				weight[i] = weight_at<W>(g, from + apart + at);
			}
			f(theirs, mask, entry, weight);
		}
	}
}

/* Positions for @items of this lane in a queue that may overflow; called by every lane of a warp. */
__device__ static inline u64 reserve(uint64_t *count, u32 items)
{
	u32 sum = warp_prefix_sum(items);
	u64 at = 0;

	if (lane_id() == 31 && sum)
		at = atomicAdd((ull *)count, (ull)sum);
	return __shfl_sync(ALL_LANES, at, 31) + sum - items;
}

/*
 * f(i, valid) for items 0 to @count, by all lanes of a warp at a time: every warp gets its share,
 * because the pieces of long lists in one warp take turns.
 */
template <typename F> __device__ static inline void share_items(u64 count, F f)
{
	u64 warps = thread_count() / 32, share = (count + warps - 1) / warps, base;

	share = share < 32 ? share : 32;
	for (base = thread_id() / 32 * share; base < count; base += warps * share)
		f(base + lane_id(), lane_id() < share && base + lane_id() < count);
}

/* Add the tallies of all lanes to the counters. */
__device__ static inline void report_lanes(const gpu_graph &g, tally t)
{
	t.list = warp_sum(t.list);
	t.cached = warp_sum(t.cached);
	report(g, t);
}

#endif
