/* SPDX-License-Identifier: MIT */
/*
 * Algorithms that count a vertex' neighbours down: core numbers by removing vertices with the fewest
 * neighbours, and colors in a fixed order (Jones and Plassmann, "A Parallel Graph Coloring Heuristic",
 * 1993), whose result is that of the sequential greedy algorithm.
 */
#ifndef GTU_CUDA_PEEL_CUH
#define GTU_CUDA_PEEL_CUH

#include "visit.cuh"

#define NO_CORE		0xffffffffu
#define UNCOLORED	0xffffffffu
#define COLOR_WINDOW	64u		/* colors considered at a time */

/* ---- Cores ------------------------------------------------------------------------------------- */

extern "C" __global__ void cores_begin(gpu_graph g, u32 *left, u32 *core)
{
	for (u64 v = thread_id(); v < g.n; v += thread_count()) {
		left[v] = (u32)(row_at(g, v + 1) - row_at(g, v));
		core[v] = NO_CORE;
	}
}

/* Self-loops are no neighbours. */
template <typename R>
__device__ static void cores_loops(const gpu_graph &g, const u64 *queue, u64 count, u32 *left)
{
	each_item(g, queue, count, [&](u32 v, u32 chunk, tally &t) {
		u32 loops = 0;

		walk_item<R, no_weight>(g, v, chunk, t, [&](bool valid, R entry, no_weight) {
			loops += valid && target_of<R>(g, entry) == v;
		});
		loops = warp_sum(loops);
		if (!lane_id() && loops)
			atomicAdd(&left[v], 0u - loops);
	});
}

/* counters.min: the fewest neighbours of a remaining vertex. */
extern "C" __global__ void cores_least(gpu_graph g, const u32 *left, const u32 *core)
{
	u64 min = ~0ull;

	for (u64 v = thread_id(); v < g.n; v += thread_count())
		if (core[v] == NO_CORE && left[v] < min)
			min = left[v];
	min = warp_min(min);
	if (!lane_id() && min != ~0ull)
		atomicMin((ull *)&counters_of(g)->min, (ull)min);
}

/* Remove the vertices with @k neighbours or fewer. */
template <typename R>
__device__ static void cores_take(const gpu_graph &g, const u32 *left, u32 *core, u32 k, u64 *queue)
{
	u64 vertices = 0;

	collect<R>(g, queue, [&](u32 v) {
		const bool due = core[v] == NO_CORE && left[v] <= k;

		if (due)
			core[v] = k;
		vertices += due;
		return due;
	});
	count_vertices(g, vertices);
}

/* Take the removed vertices from their neighbours' counts, and remove those that fall to @k. */
template <typename R>
__device__ static void cores_peel(const gpu_graph &g, const u64 *queue, u64 count, u32 *left, u32 *core, u32 k, u64 *out)
{
	u64 vertices = 0;

	each_item(g, queue, count, [&](u32 v, u32 chunk, tally &t) {
		walk_item<R, no_weight>(g, v, chunk, t, [&](bool valid, R entry, no_weight) {
			const u32 to = target_of<R>(g, entry);
			/* one decrement sees k + 1; later ones do no harm */
			const bool falls = valid && *(volatile u32 *)&core[to] == NO_CORE && atomicAdd(&left[to], 0u - 1) == k + 1;

			if (falls)
				core[to] = k;
			vertices += falls;
			push_warp(out, &counters_of(g)->items, to, falls ? items_of_vertex<R>(g, to) : 0);
		});
	});
	count_vertices(g, vertices);
}

#define CORES_KERNELS(R, format)                                                                   \
	extern "C" __global__ void cores_loops_##format(gpu_graph g, const u64 *queue, u64 count,  \
							u32 *left)                                 \
	{                                                                                          \
		cores_loops<R>(g, queue, count, left);                                             \
	}                                                                                          \
	extern "C" __global__ void cores_take_##format(gpu_graph g, const u32 *left, u32 *core,    \
						       u32 k, u64 *queue)                          \
	{                                                                                          \
		cores_take<R>(g, left, core, k, queue);                                            \
	}                                                                                          \
	extern "C" __global__ void cores_peel_##format(gpu_graph g, const u64 *queue, u64 count,   \
						       u32 *left, u32 *core, u32 k, u64 *out)      \
	{                                                                                          \
		cores_peel<R>(g, queue, count, left, core, k, out);                                \
	}

VISIT_FORMATS(CORES_KERNELS)

/* ---- Colors ------------------------------------------------------------------------------------ */

/* The order of algorithm/coloring.c: by descending degree, ties by a hash, then by number. */
__device__ static inline u64 color_key(const gpu_graph &g, u64 v)
{
	u64 degree = row_at(g, v + 1) - row_at(g, v), x = (v ^ v >> 33) * 0xff51afd7ed558ccdull;

	x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53ull;
	return (degree > 0xffffffff ? 0xffffffff : degree) << 32 | (u32)(x ^ x >> 33);
}

__device__ static inline bool colors_before(const u64 *key, u32 u, u32 v)
{
	return key[u] != key[v] ? key[u] > key[v] : u < v;
}

extern "C" __global__ void color_begin(gpu_graph g, u64 *key, u32 *waiting, u32 *color, u64 *taken)
{
	for (u64 v = thread_id(); v < g.n; v += thread_count()) {
		key[v] = color_key(g, v);
		waiting[v] = 0;
		color[v] = row_at(g, v + 1) == row_at(g, v) ? 0 : UNCOLORED;
		taken[v] = 0;
	}
}

/* Count the neighbours that are colored before a vertex. */
template <typename R>
__device__ static void color_count(const gpu_graph &g, const u64 *queue, u64 count, const u64 *key, u32 *waiting)
{
	each_item(g, queue, count, [&](u32 v, u32 chunk, tally &t) {
		u32 earlier = 0;

		walk_item<R, no_weight>(g, v, chunk, t, [&](bool valid, R entry, no_weight) {
			const u32 to = target_of<R>(g, entry);

			earlier += valid && to != v && colors_before(key, to, v);
		});
		earlier = warp_sum(earlier);
		if (!lane_id() && earlier)
			atomicAdd(&waiting[v], earlier);
	});
}

/* Collect the neighbours' colors from @base on, for vertices without a color. */
template <typename R>
__device__ static void color_taken(const gpu_graph &g, const u64 *queue, u64 count, u32 base, const u32 *color, u64 *taken)
{
	each_item(g, queue, count, [&](u32 v, u32 chunk, tally &t) {
		u64 mask = 0;

		if (color[v] != UNCOLORED)
			return;
		walk_item<R, no_weight>(g, v, chunk, t, [&](bool valid, R entry, no_weight) {
			const u32 used = valid ? color[target_of<R>(g, entry)] : UNCOLORED;

			if (used != UNCOLORED && used - base < COLOR_WINDOW)
				mask |= 1ull << (used - base);
		});
		for (int d = 16; d; d >>= 1)
			mask |= __shfl_xor_sync(ALL_LANES, mask, d);
		if (!lane_id() && mask)
			atomicOr((ull *)&taken[v], (ull)mask);
	});
}

/* Give the ready vertices their lowest free color; counters.left: vertices without one in this window. */
extern "C" __global__ void color_assign(gpu_graph g, const u64 *queue, u64 count, u32 base, u32 *color, u64 *taken)
{
	u64 vertices = 0;

	for (u64 i = thread_id(); i < count; i += thread_count()) {
		const u32 v = (u32)queue[i];
		u64 free_ones;

		/* a vertex once, by its first piece */
		if (queue[i] >> 32 || color[v] != UNCOLORED)
			continue;
		free_ones = ~taken[v];
		taken[v] = 0;
		if (!free_ones) {
			add(&counters_of(g)->left, 1);
			continue;
		}
		color[v] = base;
		while (!(free_ones & 1)) {
			free_ones >>= 1;
			color[v]++;
		}
		vertices++;
	}
	__syncwarp();
	count_vertices(g, vertices);
}

/* Count down for the later neighbours, and queue those that wait for no other. */
template <typename R>
__device__ static void color_release(const gpu_graph &g, const u64 *queue, u64 count, const u64 *key, u32 *waiting, u64 *out)
{
	each_item(g, queue, count, [&](u32 v, u32 chunk, tally &t) {
		walk_item<R, no_weight>(g, v, chunk, t, [&](bool valid, R entry, no_weight) {
			const u32 to = target_of<R>(g, entry);
			const bool last = valid && to != v && colors_before(key, v, to) && atomicAdd(&waiting[to], 0u - 1) == 1;

			push_warp(out, &counters_of(g)->items, to, last ? items_of_vertex<R>(g, to) : 0);
		});
	});
}

#define COLOR_KERNELS(R, format)                                                                   \
	extern "C" __global__ void color_count_##format(gpu_graph g, const u64 *queue, u64 count,  \
							const u64 *key, u32 *waiting)              \
	{                                                                                          \
		color_count<R>(g, queue, count, key, waiting);                                     \
	}                                                                                          \
	extern "C" __global__ void color_taken_##format(gpu_graph g, const u64 *queue, u64 count,  \
							u32 base, const u32 *color, u64 *taken)    \
	{                                                                                          \
		color_taken<R>(g, queue, count, base, color, taken);                               \
	}                                                                                          \
	extern "C" __global__ void color_release_##format(gpu_graph g, const u64 *queue,           \
							  u64 count, const u64 *key, u32 *waiting, \
							  u64 *out)                                \
	{                                                                                          \
		color_release<R>(g, queue, count, key, waiting, out);                              \
	}

VISIT_FORMATS(COLOR_KERNELS)

#endif
