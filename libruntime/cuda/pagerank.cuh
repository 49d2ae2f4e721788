/* SPDX-License-Identifier: MIT */
/*
 * PageRank over an undirected graph by pulling: the edge list is read once an iteration, every line once and in
 * order. A block takes a tile of edges whatever rows it spans, gathers what their ends give into shared memory, and
 * sums it by rows; rows that reach beyond the tile are added atomically.
 */
#ifndef GTU_CUDA_PAGERANK_CUH
#define GTU_CUDA_PAGERANK_CUH

#include "common.cuh"

#define LONG_ROW 64u

/* first[tile]: the row that the tile's first edge lies in. */
extern "C" __global__ void pagerank_tiles(gpu_graph g, u32 *first, u64 tiles)
{
	u64 tile, edge, low, high, middle;

	for (tile = thread_id(); tile <= tiles; tile += thread_count()) {
		edge = tile * GPU_TILE;
		if (edge >= g.m) {
			first[tile] = (u32)g.n;
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

/* rank from sum (not in the first round), what each edge of v carries, what is dangling, the greatest change. */
extern "C" __global__ void pagerank_update(gpu_graph g, double *rank, double *sum, double *give,
					   double damping, double dangling, u32 begin)
{
	double n = (double)g.n, hangs = 0, most = 0, now, change, other;
	u64 v, degree;

	for (v = thread_id(); v < g.n; v += thread_count()) {
		now = begin ? 1 / n : __dadd_rn((1 - damping) / n, damping * (sum[v] + dangling / n));
		if (!begin) {
			change = fabs(now - rank[v]);
			most = change > most ? change : most;
		}
		rank[v] = now;
		sum[v] = 0;
		degree = row_at(g, v + 1) - row_at(g, v);
		give[v] = degree ? now / (double)degree : 0;
		hangs += degree ? 0 : now;
	}
	hangs = warp_sum_real(hangs);
	for (int d = 16; d; d >>= 1) {
		other = __shfl_xor_sync(ALL_LANES, most, d);
		most = other > most ? other : most;
	}
	if (!lane_id()) {
		atomicAdd(&counters_of(g)->dangling, hangs);
		/* not negative: orders as its bits do */
		atomicMax((ull *)&counters_of(g)->most, (ull)__double_as_longlong(most));
	}
}

template <typename R>
__device__ static void pagerank_pull(const gpu_graph &g, const u32 *first, u64 tiles,
				     const double *give, double *sum)
{
	__shared__ double part[GPU_TILE];
	u32 lane = lane_id(), warp = threadIdx.x / 32;
	tally t = { 0, 0 };
	u64 tile, v, last, s, e;
	double x;

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
			part[k * GPU_BLOCK + threadIdx.x] = give[target_of<R>(g, entry[k])];
		if (!warp)
			count_sectors<R, no_weight>(g, t, begin, end);
		__syncthreads();
		last = first[tile + 1] < g.n ? first[tile + 1] + 1ull : g.n;
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
			x = warp_sum_real(x);
			if (!lane)
				atomicAdd(&sum[v], x);
		}
		__syncthreads();
	}
	if (!warp)
		report(g, t);
}

extern "C" __global__ void __launch_bounds__(GPU_BLOCK)
pagerank_pull_4(gpu_graph g, const u32 *first, u64 tiles, const double *give, double *sum)
{
	pagerank_pull<u32>(g, first, tiles, give, sum);
}

extern "C" __global__ void __launch_bounds__(GPU_BLOCK)
pagerank_pull_8(gpu_graph g, const u32 *first, u64 tiles, const double *give, double *sum)
{
	pagerank_pull<u64>(g, first, tiles, give, sum);
}

#endif
