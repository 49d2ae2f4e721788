/* SPDX-License-Identifier: MIT */
/*
 * PageRank over blocks of edges ("propagation blocking", Beamer, Asanovic, Patterson, "Reducing PageRank
 * Communication via Propagation Blocking", 2017), for an undirected list on the card. Random reads of
 * contributions fetch 64 bytes of the card's memory each. Here ranges of vertices are as large as a multiprocessor's
 * shared memory, and a block has the edges from one range to another. One kernel reads a range's contributions into
 * shared memory and writes one value for each of its edges, in order; another adds the values of the blocks
 * that lead to a range in shared memory. An edge takes 12 bytes, all read or written in order.
 *
 * Values are fixed-point numbers of 32 bits, because shared memory adds integers in one instruction, and doubles in a
 * loop of compare-and-swap. Sums have 64 bits and do not depend on the order.
 *
 * start[to * ranges + from] is the first entry of a block, and those of a range @from are adjacent, by @to;
 * start[ranges * ranges + from] ends them. Entries that fill a block up have the vertex 2^bits.
 */
#ifndef GTU_CUDA_PAGERANK_BLOCKS_CUH
#define GTU_CUDA_PAGERANK_BLOCKS_CUH

#include "compressed.cuh"

#define BLOCK_ALIGN	8u		/* a block has a multiple of so many entries */
#define LONG_LIST	1024u		/* a list is divided by a warp, or from this length on by all of them */
#define FOUR		4u		/* entries that a lane reads and writes at a time */
#define GATHERED	2u		/* reads of a lane under way */

/* Shared memory of the size that the launch names. */
#ifdef CPU_DYNAMIC_SHARED
__shared__ u64 dynamic_shared[CPU_DYNAMIC_SHARED / 8];
#else
extern __shared__ u64 dynamic_shared[];
#endif

/* The vertices of FOUR entries, and their values. */
struct __attribute__((aligned(8))) four_vertices {
	uint16_t at[FOUR];
};
struct __attribute__((aligned(16))) four_values {
	u32 of[FOUR];
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

/*
 * Entries of all blocks that start from a range, to start[ranges * ranges + from]. Behind these sums: how many entries lead to a
 * range no farther than @near ranges; 0 before.
 */
extern "C" __global__ void pagerank_blocks_total(uint64_t *start, u32 ranges, u32 near)
{
	for (u64 from = thread_id(); from < ranges; from += thread_count()) {
		u64 sum = 0, close = 0;

		for (u64 to = 0; to < ranges; to++) {
			const u64 count = start[to * ranges + from];

			sum += (count + BLOCK_ALIGN - 1) & ~(u64)(BLOCK_ALIGN - 1);
			close += (to < from ? from - to : to - from) <= near ? count : 0;
		}
		start[(u64)ranges * ranges + from] = sum;
		add(&start[(u64)ranges * (ranges + 1)], close);
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
		       const u32 *contrib, u32 *value)
{
	const u64 range = blockIdx.x / parts, first = range << bits;
	u64 s = start[range], e = start[(u64)ranges * ranges + range], at;
	const four_vertices *vertices = (const four_vertices *)from;
	four_values *values = (four_values *)value;
	u32 *own = (u32 *)dynamic_shared;

	part_of(&s, &e, blockIdx.x % parts, parts);
	if (s == e)
		return;
	for (u32 i = threadIdx.x; i < 1u << bits && first + i < g.n; i += blockDim.x)
		own[i] = contrib[first + i];
	__syncthreads();
#pragma unroll 4
	for (at = s / FOUR + threadIdx.x; at < e / FOUR; at += blockDim.x) {
		const four_vertices v = vertices[at];

		values[at] = { own[v.at[0]], own[v.at[1]], own[v.at[2]], own[v.at[3]] };
	}
	report_entries(g, e - s);
}

/* Add @x to the sum of 64 bits whose halves are *low and *high. */
__device__ static inline void add_wide(u32 *low, u32 *high, u64 x)
{
	const u32 part = (u32)x, old = atomicAdd(low, part), carry = (u32)(x >> 32) + (old + part < part);

	if (carry)
		atomicAdd(high, carry);
}

/*
 * The entries that a warp reads: those of up to 32 blocks, in FOURs. Lane i holds the first FOUR of block i and the
 * number of FOURs in the blocks up to it.
 */
struct warp_blocks {
	u32 first, sum, now;		/* now: the block that the warp has come to */
};

/* The FOUR at @x of the warp's blocks, for ascending x of adjacent lanes; ALL_LANES: none. Called by every lane. */
__device__ static inline u32 four_at(warp_blocks &b, u32 x)
{
	const u32 last = __shfl_sync(ALL_LANES, x, 31);
	u32 at = ALL_LANES, first, sum, before;

	for (;; b.now++) {
		sum = __shfl_sync(ALL_LANES, b.sum, (int)b.now);
		before = __shfl_sync(ALL_LANES, b.sum, (int)(b.now + 31) & 31);
		before = b.now ? before : 0;
		first = __shfl_sync(ALL_LANES, b.first, (int)b.now);
		at = x >= before && x < sum ? first + x - before : at;
		if (last < sum || b.now == 31)
			return at;
	}
}

/* Add the values of a part of the blocks that lead to a range; a sum's unit is @unit. */
extern "C" __global__ void __launch_bounds__(GPU_BLOCKS_THREADS)
pagerank_blocks_gather(gpu_graph g, const uint16_t *to, const uint64_t *start, u32 bits, u32 ranges, u32 parts,
		       const u32 *value, double *sum, double unit)
{
	const u64 range = blockIdx.x / parts, first = range << bits;
	const u32 size = 1u << bits, warps = blockDim.x / 32 * parts, warp = blockIdx.x % parts * (blockDim.x / 32) + threadIdx.x / 32,
		  last = (u32)((u64)ranges * (warp + 1) / warps);
	const four_vertices *vertices = (const four_vertices *)to;
	const four_values *values = (const four_values *)value;
	u32 *low = (u32 *)dynamic_shared, *high = low + size, from, k, i;
	u64 fours = 0;

	for (i = threadIdx.x; i < 2 * size; i += blockDim.x)
		low[i] = 0;
	__syncthreads();
	for (from = (u32)((u64)ranges * warp / warps); from < last; from += 32) {
		const u32 mine = from + lane_id();
		const u64 s = mine < last ? start[range * ranges + mine] / FOUR : 0,
			  e = mine < last ? start[(range + 1) * ranges + mine] / FOUR : 0;
		warp_blocks b = { (u32)s, warp_prefix_sum((u32)(e - s)), 0 };
		const u32 all = __shfl_sync(ALL_LANES, b.sum, 31);

		for (u32 x = lane_id(); x - lane_id() < all; x += 32 * GATHERED) {
			four_vertices v[GATHERED];
			four_values read[GATHERED];
			u32 at[GATHERED];

#pragma unroll
			for (k = 0; k < GATHERED; k++) {
				at[k] = four_at(b, x + 32 * k);
				v[k] = vertices[at[k] == ALL_LANES ? 0 : at[k]];
				read[k] = values[at[k] == ALL_LANES ? 0 : at[k]];
			}
#pragma unroll
			for (k = 0; k < GATHERED; k++) {
				u32 now = v[k].at[0];
				u64 part = read[k].of[0];

				if (at[k] == ALL_LANES)
					continue;
				/* a list's entries of a block are adjacent */
#pragma unroll
				for (i = 1; i < FOUR; i++) {
					if (v[k].at[i] != now) {
						if (now < size)
							add_wide(&low[now], &high[now], part);
						now = v[k].at[i];
						part = 0;
					}
					part += read[k].of[i];
				}
				if (now < size)
					add_wide(&low[now], &high[now], part);
			}
			__syncwarp();
		}
		fours += all;
	}
	if (!lane_id() && fours)
		add(&counters_of(g)->tally[(blockIdx.x + threadIdx.x / 32) % GPU_TALLIES].list, (2 * FOUR * fours + 31) / 32);
	__syncthreads();
	for (i = threadIdx.x; i < size && first + i < g.n; i += blockDim.x)
		if (low[i] || high[i])
			atomicAdd(&sum[first + i], ((double)high[i] * 0x1p32 + low[i]) * unit);
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
