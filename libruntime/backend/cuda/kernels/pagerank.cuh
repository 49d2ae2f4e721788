/* SPDX-License-Identifier: MIT */
/*
 * PageRank over an undirected graph by pulling: each iteration reads the edge list once, in order.
 * A block takes a tile of edges regardless of row boundaries, gathers the contributions of their
 * targets into shared memory, and sums them by rows. Rows that cross a tile boundary are added
 * atomically.
 */
#ifndef GTU_CUDA_PAGERANK_CUH
#define GTU_CUDA_PAGERANK_CUH

#include "compressed.cuh"

#define LONG_ROW 64u

/* first[tile]: the row that contains the tile's first edge, or the end of the run's range. */
extern "C" __global__ void pagerank_tiles(gpu_graph g, u32 *first, u64 tiles)
{
	u64 tile, edge, low, high, middle;

	for (tile = thread_id(); tile <= tiles; tile += thread_count()) {
		edge = tile * GPU_TILE;
		if (edge >= g.m) {
			/* vertices of other ranks, which follow, have no edges */
			first[tile] = (u32)g.end;
			continue;
		}
		for (low = 0, high = g.n; high - low > 1;) {
			middle = (low + high) / 2;
			if (row_at(g, middle) <= edge)
				low = middle;
			else
				high = middle;
		}
		first[tile] = (u32)low;
	}
}

/* @x of vertex @v as a fixed-point number. The rounding depends on the vertex, so that errors of neighbours cancel out. */
__device__ static inline u32 fixed_point(double x, double scale, u32 v)
{
	return (u32)(x * scale + (double)(v * 0x9e3779b1u) * 0x1p-32);
}

/* Add the sum of all threads' @sum to *@to, and take the greatest @max into the counters. Called by all threads of a block. */
__device__ static inline void report_block(const gpu_graph &g, double *to, double sum, double max)
{
	__shared__ double sums[GPU_BLOCK / 32], most[GPU_BLOCK / 32];
	double other;

	__syncwarp();
	sum = warp_sum(sum);
	for (int d = 16; d; d >>= 1) {
		other = __shfl_xor_sync(ALL_LANES, max, d);
		max = other > max ? other : max;
	}
	if (!lane_id()) {
		sums[threadIdx.x / 32] = sum;
		most[threadIdx.x / 32] = max;
	}
	__syncthreads();
	if (threadIdx.x)
		return;
	/* one atomic operation a block: those on one address take turns */
	for (u32 i = 1; i < GPU_BLOCK / 32; i++) {
		sum += sums[i];
		max = most[i] > max ? most[i] : max;
	}
	if (sum != 0)
		atomicAdd(to, sum);
	/* non-negative doubles order as their bit patterns */
	if (max > 0)
		atomicMax((ull *)&counters_of(g)->max, (ull)__double_as_longlong(max));
}

struct __attribute__((aligned(16))) two_doubles {
	double of[2];
};

/*
 * Compute ranks from sums (except in the first round), contributions per edge, the dangling sum and
 * the largest change. @scale, unless 0: contributions are fixed-point numbers in its unit. A thread takes two vertices,
 * and reads all that it needs of them before it writes.
 */
extern "C" __global__ void pagerank_update(gpu_graph g, double *rank, double *sum, double *contrib, double scale,
					   double damping, double dangling, u32 begin)
{
	const double n = (double)g.n, base = (1 - damping) / n, share = dangling / n, none = 1 / n;
	double dangling_sum = 0, max = 0;

	for (u64 pair = thread_id(); 2 * pair < g.n; pair += thread_count()) {
		const u64 v = 2 * pair;
		const u32 count = v + 1 < g.n ? 2 : 1;
		two_doubles had = { { 0, 0 } }, now = { { none, none } }, contribution = { { 0, 0 } };
		u64 row[3];
		u32 k;

		for (k = 0; k < 3; k++)
			row[k] = row_at(g, v + (k < count ? k : count));
		if (!begin && count == 2) {
			now = ((const two_doubles *)sum)[pair];
			had = ((const two_doubles *)rank)[pair];
		} else if (!begin) {
			now.of[0] = sum[v];
			had.of[0] = rank[v];
		}
#pragma unroll
		for (k = 0; k < 2; k++) {
			const u64 degree = row[k + 1] - row[k];
			double change;

			if (k >= count)
				break;
			if (!begin) {
				now.of[k] = __dadd_rn(base, damping * (now.of[k] + share));
				change = fabs(now.of[k] - had.of[k]);
				max = change > max ? change : max;
			}
			dangling_sum += degree ? 0 : now.of[k];
			contribution.of[k] = degree ? now.of[k] / (double)degree : 0;
		}
		for (k = 0; k < count; k++)
			if (scale > 0)
				((u32 *)contrib)[v + k] = fixed_point(contribution.of[k], scale, (u32)v + k);
			else
				contrib[v + k] = contribution.of[k];
		if (count == 2) {
			((two_doubles *)rank)[pair] = now;
			((two_doubles *)sum)[pair] = { { 0, 0 } };
		} else {
			rank[v] = now.of[0];
			sum[v] = 0;
		}
	}
	report_block(g, &counters_of(g)->dangling, dangling_sum, max);
}

/*
 * Add part[], the contributions of the edges [begin, end), to the sums of their rows. Called by all
 * threads of a block.
 */
__device__ static void sum_tile(const gpu_graph &g, const u32 *first, u64 tile, u64 begin, u64 end,
				const double *part, double *sum)
{
	u32 lane = lane_id(), warp = threadIdx.x / 32;
	u64 v, last = first[tile + 1] < g.n ? first[tile + 1] + 1ull : g.n, s, e;
	double x;

	for (v = first[tile] + (u64)threadIdx.x; v < last; v += GPU_BLOCK) {
		s = row_at(g, v) > begin ? row_at(g, v) : begin;
		e = row_at(g, v + 1) < end ? row_at(g, v + 1) : end;
		if (e <= s || e - s >= LONG_ROW)
			continue;
		for (x = 0; s < e; s++)
			x += part[s - begin];
		atomicAdd(&sum[v], x);
	}
	for (v = first[tile] + (u64)warp; v < last; v += GPU_BLOCK / 32) {
		s = row_at(g, v) > begin ? row_at(g, v) : begin;
		e = row_at(g, v + 1) < end ? row_at(g, v + 1) : end;
		if (e <= s || e - s < LONG_ROW)
			continue;
		for (x = 0, s += lane; s < e; s += 32)
			x += part[s - begin];
		x = warp_sum(x);
		if (!lane)
			atomicAdd(&sum[v], x);
	}
}

template <typename R>
__device__ static void pagerank_pull(const gpu_graph &g, const u32 *first, u64 tiles,
				     const double *contrib, double *sum)
{
	__shared__ double part[GPU_TILE];
	tally t = { 0, 0 };
	u64 tile;

	for (tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
		u64 begin = tile * GPU_TILE, end = begin + GPU_TILE < g.m ? begin + GPU_TILE : g.m;
		R entry[GPU_TILE / GPU_BLOCK];

#pragma unroll
		for (u32 k = 0; k < GPU_TILE / GPU_BLOCK; k++) {
			u64 i = begin + k * GPU_BLOCK + threadIdx.x;

			entry[k] = i < end ? entry_at<R>(g, i) : 0;
		}
#pragma unroll
		for (u32 k = 0; k < GPU_TILE / GPU_BLOCK; k++)
			part[k * GPU_BLOCK + threadIdx.x] = contrib[target_of<R>(g, entry[k])];
		count_sectors<R, no_weight>(g, t, begin, end);
		__syncthreads();
		sum_tile(g, first, tile, begin, end, part, sum);
		__syncthreads();
	}
	if (threadIdx.x < 32)
		report(g, t);
}

/*
 * GPU memory caches some tiles of a bit-packed list, evenly spaced so that the link stays busy
 * while they are summed. @share is in units of 2^-32. The number of cached tiles below @tile is
 * also the slot of @tile.
 */
__device__ static inline u64 cached_below(u64 tile, u64 share)
{
	return tile * share >> 32;
}

/* Copy the cached tiles out of the list, one per block. */
extern "C" __global__ void pagerank_cached_fill(const u32 *list, u32 *cache, u64 share, u32 bits, u64 tiles)
{
	const u32 words = GPU_TILE / 32 * bits;
	u64 tile, at;

	for (tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
		at = cached_below(tile, share);
		if (at == cached_below(tile + 1, share))
			continue;
		for (u32 i = threadIdx.x; i < words; i += GPU_BLOCK)
			cache[at * words + i] = list[tile * words + i];
	}
}

/* The same over bit-packed entries (copies.c): a tile is 64 * bits words, whole lines. */
extern "C" __global__ void __launch_bounds__(GPU_BLOCK)
pagerank_pull_bits(gpu_graph g, const u32 *list, const u32 *cache, u64 share, u32 bits, const u32 *first, u64 tiles,
		   const double *contrib, double *sum)
{
	__shared__ double part[GPU_TILE];
	__shared__ u32 word[GPU_TILE + 1];
	const u32 words = GPU_TILE / 32 * bits, mask = bits < 32 ? (1u << bits) - 1 : ~0u,
		  rounds = (words + GPU_BLOCK - 1) / GPU_BLOCK;
	tally t = { 0, 0 };
	u64 tile;

	for (tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
		u64 begin = tile * GPU_TILE, end = begin + GPU_TILE < g.m ? begin + GPU_TILE : g.m;
		const u64 at = cached_below(tile, share);
		const bool cached = at != cached_below(tile + 1, share);
		const u32 *from = cached ? cache + at * words : list + tile * words;
		u32 got[GPU_TILE / GPU_BLOCK];

#pragma unroll
		for (u32 k = 0; k < GPU_TILE / GPU_BLOCK; k++)
			if (k < rounds && k * GPU_BLOCK + threadIdx.x < words)
				got[k] = from[k * GPU_BLOCK + threadIdx.x];
#pragma unroll
		for (u32 k = 0; k < GPU_TILE / GPU_BLOCK; k++)
			if (k < rounds && k * GPU_BLOCK + threadIdx.x < words)
				word[k * GPU_BLOCK + threadIdx.x] = got[k];
		__syncthreads();
#pragma unroll
		for (u32 k = 0; k < GPU_TILE / GPU_BLOCK; k++) {
			u32 i = k * GPU_BLOCK + threadIdx.x, at = i * bits;

			/* bits of the word after the last one are masked off */
			if (begin + i < end)
				part[i] = contrib[__funnelshift_r(word[at >> 5], word[(at >> 5) + 1], at & 31) & mask];
		}
		if (cached)
			t.cached += words / 8;
		else
			t.list += words / 8;
		__syncthreads();
		sum_tile(g, first, tile, begin, end, part, sum);
		__syncthreads();
	}
	if (threadIdx.x < 32)
		report(g, t);
}

/*
 * Process work items of a compressed list. @PULL: sum each list into its vertex; else add the
 * vertex's contribution to each target.
 */
template <bool PULL>
__device__ static void pagerank_items(const gpu_graph &g, const u64 *queue, u64 count, const double *contrib, double *sum)
{
	tally t = { 0, 0 };
	u64 i;

	for (i = thread_id() / 32; i < count; i += thread_count() / 32) {
		const u64 item = queue[i];
		const u32 v = (u32)item;
		double x = 0, own_contrib = PULL ? 0 : contrib[v];

		walk_item<compressed, no_weight>(g, v, (u32)(item >> 32), t, [&](bool valid, compressed entry, no_weight) {
			if (valid && PULL)
				x += contrib[entry.to];
			else if (valid)
				atomicAdd(&sum[entry.to], own_contrib);
			__syncwarp();
		});
		if (PULL) {
			x = warp_sum(x);
			if (!lane_id())
				atomicAdd(&sum[v], x);
		}
	}
	report(g, t);
}

extern "C" __global__ void pagerank_pull_compressed(gpu_graph g, const u64 *queue, u64 count, const double *contrib, double *sum)
{
	pagerank_items<true>(g, queue, count, contrib, sum);
}

extern "C" __global__ void pagerank_push_compressed(gpu_graph g, const u64 *queue, u64 count, const double *contrib, double *sum)
{
	pagerank_items<false>(g, queue, count, contrib, sum);
}

extern "C" __global__ void __launch_bounds__(GPU_BLOCK)
pagerank_pull_4(gpu_graph g, const u32 *first, u64 tiles, const double *contrib, double *sum)
{
	pagerank_pull<u32>(g, first, tiles, contrib, sum);
}

extern "C" __global__ void __launch_bounds__(GPU_BLOCK)
pagerank_pull_8(gpu_graph g, const u32 *first, u64 tiles, const double *contrib, double *sum)
{
	pagerank_pull<u64>(g, first, tiles, contrib, sum);
}

#endif
