/* SPDX-License-Identifier: MIT */
/*
 * PageRank over blocks of edges ("propagation blocking", Beamer, Asanovic, Patterson, "Reducing PageRank
 * Communication via Propagation Blocking", 2017), for an undirected list on the card. Random reads of
 * contributions fetch 64 bytes of the card's memory each. Here ranges of vertices are as large as a multiprocessor's
 * shared memory, and a block has the edges from one range to another. One kernel reads a range's contributions into
 * shared memory and writes one value for each of its edges, in order; another adds the values of the blocks
 * that lead to a range in shared memory. An edge takes 20 bytes, all read or written in order.
 *
 * start[to * ranges + from] is the first entry of a block, and those of a range @from are adjacent, by @to;
 * start[ranges * ranges + from] ends them. Entries that fill a block up have the vertex 2^bits.
 */
#ifndef GTU_CUDA_PAGERANK_BLOCKS_CUH
#define GTU_CUDA_PAGERANK_BLOCKS_CUH

#include "compressed.cuh"

#define BLOCK_ALIGN	8u		/* a block has a multiple of so many entries */
#define LONG_LIST	1024u		/* a list is divided by a warp, or from this length on by all of them */
#define GATHERED	4u		/* pairs of entries that a lane reads at a time */

/* Shared memory of the size that the launch names. */
#ifdef CPU_DYNAMIC_SHARED
__shared__ u64 dynamic_shared[CPU_DYNAMIC_SHARED / 8];
#else
extern __shared__ u64 dynamic_shared[];
#endif

struct __attribute__((aligned(16))) two_values {
	double x, y;
};

__device__ static inline u64 range_row(const gpu_graph &g, u64 range, u32 bits)
{
	return row_at(g, range << bits < g.n ? range << bits : g.n);
}

/* Part @part of @parts of [s, e), in units of BLOCK_ALIGN. */
__device__ static inline void part_of(u64 *s, u64 *e, u32 part, u32 parts)
{
	const u64 units = (*e - *s) / BLOCK_ALIGN, first = *s;

	*s = first + units * part / parts * BLOCK_ALIGN;
	*e = part + 1 == parts ? *e : first + units * (part + 1) / parts * BLOCK_ALIGN;
}

/* Count the entries of the blocks that lead to a range, a part of them by each thread block; @start is 0 before. */
template <typename R>
__device__ static void blocks_count(const gpu_graph &g, uint64_t *start, u32 bits, u32 ranges, u32 parts)
{
	const u64 to = blockIdx.x / parts;
	u32 *count = (u32 *)dynamic_shared;
	u64 s = range_row(g, to, bits), e = range_row(g, to + 1, bits), i;

	part_of(&s, &e, blockIdx.x % parts, parts);
	for (i = threadIdx.x; i < ranges; i += blockDim.x)
		count[i] = 0;
	__syncthreads();
	for (i = s + threadIdx.x; i < e; i += blockDim.x)
		atomicAdd(&count[target_of<R>(g, entry_at<R>(g, i)) >> bits], 1u);
	__syncthreads();
	for (i = threadIdx.x; i < ranges; i += blockDim.x)
		if (count[i])
			add(&start[to * ranges + i], count[i]);
}

/* Entries of all blocks that start from a range, to start[ranges * ranges + from]. */
extern "C" __global__ void pagerank_blocks_total(uint64_t *start, u32 ranges)
{
	for (u64 from = thread_id(); from < ranges; from += thread_count()) {
		u64 sum = 0;

		for (u64 to = 0; to < ranges; to++)
			sum += (start[to * ranges + from] + BLOCK_ALIGN - 1) & ~(u64)(BLOCK_ALIGN - 1);
		start[(u64)ranges * ranges + from] = sum;
	}
}

/* Replace counts by first entries: start[ranges * ranges + from] is that of the range before, and its end after. */
extern "C" __global__ void pagerank_blocks_place(uint64_t *start, u32 ranges)
{
	for (u64 from = thread_id(); from < ranges; from += thread_count()) {
		u64 at = start[(u64)ranges * ranges + from];

		for (u64 to = 0; to < ranges; to++) {
			const u64 count = start[to * ranges + from];

			start[to * ranges + from] = at;
			at += (count + BLOCK_ALIGN - 1) & ~(u64)(BLOCK_ALIGN - 1);
		}
		start[(u64)ranges * ranges + from] = at;
	}
}

/* Divide the lists of a range's vertices among the blocks that lead to it, by one thread block. */
template <typename R>
__device__ static void blocks_divide(const gpu_graph &g, const uint64_t *start, uint16_t *from, uint16_t *to, u32 bits,
				     u32 ranges)
{
	const u64 range = blockIdx.x, first = range << bits, end = first + (1ull << bits) < g.n ? first + (1ull << bits) : g.n;
	u64 *base = dynamic_shared, v, s, e, i;
	u32 *used = (u32 *)(base + ranges), *longs = used + ranges, k;
	uint16_t *list = (uint16_t *)(longs + 1);

	const auto divide = [&](u64 v, u64 at) {
		const u32 target = target_of<R>(g, entry_at<R>(g, at));
		const u64 slot = base[target >> bits] + atomicAdd(&used[target >> bits], 1u);

		from[slot] = (uint16_t)(target & ((1u << bits) - 1));
		to[slot] = (uint16_t)(v - first);
	};

	for (i = threadIdx.x; i < ranges; i += blockDim.x) {
		base[i] = start[range * ranges + i];
		used[i] = 0;
	}
	if (!threadIdx.x)
		*longs = 0;
	__syncthreads();
	for (v = first + threadIdx.x / 32; v < end; v += blockDim.x / 32) {
		s = row_at(g, v);
		e = row_at(g, v + 1);
		if (e - s < LONG_LIST)
			for (i = s + lane_id(); i < e; i += 32)
				divide(v, i);
		else if (!lane_id())
			list[atomicAdd(longs, 1u)] = (uint16_t)(v - first);
	}
	__syncthreads();
	for (k = 0; k < *longs; k++) {
		v = first + list[k];
		e = row_at(g, v + 1);
		for (i = row_at(g, v) + threadIdx.x; i < e; i += blockDim.x)
			divide(v, i);
	}
	__syncthreads();
	for (i = threadIdx.x; i < ranges; i += blockDim.x)
		for (s = base[i] + used[i]; s % BLOCK_ALIGN; s++) {
			from[s] = 0;
			to[s] = (uint16_t)(1u << bits);
		}
}

/* 2-byte entries read by this thread block. */
__device__ static inline void report_entries(const gpu_graph &g, u64 entries)
{
	if (!threadIdx.x && entries)
		add(&counters_of(g)->tally[blockIdx.x % GPU_TALLIES].list, (2 * entries + 31) / 32);
}

/* Write the contributions of a part of a range's edges. */
extern "C" __global__ void __launch_bounds__(GPU_BLOCKS_THREADS)
pagerank_blocks_spread(gpu_graph g, const uint16_t *from, const uint64_t *start, u32 bits, u32 ranges, u32 parts,
		       const double *contrib, double *value)
{
	const u64 range = blockIdx.x / parts, first = range << bits;
	u64 s = start[range], e = start[(u64)ranges * ranges + range], at;
	const u32 *pair = (const u32 *)from;
	double *own = (double *)dynamic_shared;

	part_of(&s, &e, blockIdx.x % parts, parts);
	if (s == e)
		return;
	for (u32 i = threadIdx.x; i < 1u << bits && first + i < g.n; i += blockDim.x)
		own[i] = contrib[first + i];
	__syncthreads();
#pragma unroll 4
	for (at = s / 2 + threadIdx.x; at < e / 2; at += blockDim.x) {
		const u32 both = pair[at];

		((two_values *)value)[at] = { own[both & 0xffff], own[both >> 16] };
	}
	report_entries(g, e - s);
}

/*
 * Add the lanes' values to sum[to]; called by every lane of a warp. A list's entries of a block are adjacent: adjacent
 * lanes with one target add their values first, because atomic operations on one address take turns.
 */
__device__ static inline void gather(double *sum, u32 to, double value)
{
	const u32 before = __shfl_up_sync(ALL_LANES, to, 1), heads = __ballot_sync(ALL_LANES, !lane_id() || before != to),
		  rest = lane_id() == 31 ? 0 : heads >> (lane_id() + 1), end = rest ? lane_id() + (u32)__ffs((int)rest) : 32;

	for (u32 d = 1; d < 32 && heads != ALL_LANES; d <<= 1) {
		const double other = __shfl_sync(ALL_LANES, value, (int)(lane_id() + d) & 31);

		if (lane_id() + d < end)
			value += other;
	}
	if (heads >> lane_id() & 1)
		atomicAdd(&sum[to], value);
}

/* Add the values of a part of the blocks that lead to a range. */
extern "C" __global__ void __launch_bounds__(GPU_BLOCKS_THREADS)
pagerank_blocks_gather(gpu_graph g, const uint16_t *to, const uint64_t *start, u32 bits, u32 ranges, u32 parts,
		       const double *value, double *sum)
{
	const u64 range = blockIdx.x / parts, first = range << bits, warps = blockDim.x / 32;
	const u32 part = blockIdx.x % parts, none = (1u << bits) << 16 | 1u << bits;
	const u64 last = (u64)ranges * (part + 1) / parts;
	u64 from = (u64)ranges * part / parts + threadIdx.x / 32, at, entries = 0;
	const two_values *values = (const two_values *)value;
	const u32 *pairs = (const u32 *)to;
	double *own = (double *)dynamic_shared;

	for (u32 i = threadIdx.x; i <= 1u << bits; i += blockDim.x)
		own[i] = 0;
	__syncthreads();
	for (; from < last; from += warps) {
		const u64 end = start[(range + 1) * ranges + from] / 2;

		for (at = start[range * ranges + from] / 2; at < end; at += 32 * GATHERED) {
			u32 both[GATHERED], k;
			two_values read[GATHERED];

#pragma unroll
			for (k = 0; k < GATHERED; k++) {
				const u64 mine = at + 32 * k + lane_id();

				both[k] = none;
				read[k] = { 0, 0 };
				if (mine < end) {
					both[k] = pairs[mine];
					read[k] = values[mine];
				}
			}
#pragma unroll
			for (k = 0; k < GATHERED; k++)
				if (at + 32 * k < end) {
					gather(own, both[k] & 0xffff, read[k].x);
					gather(own, both[k] >> 16, read[k].y);
				}
			entries += 2 * (end - at < 32 * GATHERED ? end - at : 32 * GATHERED);
		}
	}
	if (!lane_id() && entries)
		add(&counters_of(g)->tally[(blockIdx.x + threadIdx.x / 32) % GPU_TALLIES].list, (2 * entries + 31) / 32);
	__syncthreads();
	for (u32 i = threadIdx.x; i < 1u << bits && first + i < g.n; i += blockDim.x)
		if (own[i] != 0)
			atomicAdd(&sum[first + i], own[i]);
}

#define PAGERANK_BLOCKS(R, width)                                                                  \
	extern "C" __global__ void __launch_bounds__(GPU_BLOCKS_THREADS)                           \
	pagerank_blocks_count_##width(gpu_graph g, uint64_t *start, u32 bits, u32 ranges, u32 parts) \
	{                                                                                          \
		blocks_count<R>(g, start, bits, ranges, parts);                                    \
	}                                                                                          \
	extern "C" __global__ void __launch_bounds__(GPU_BLOCKS_THREADS)                           \
	pagerank_blocks_divide_##width(gpu_graph g, const uint64_t *start, uint16_t *from, uint16_t *to, \
				       u32 bits, u32 ranges)                                       \
	{                                                                                          \
		blocks_divide<R>(g, start, from, to, bits, ranges);                                \
	}

PAGERANK_BLOCKS(u32, 4)
PAGERANK_BLOCKS(u64, 8)

#endif
