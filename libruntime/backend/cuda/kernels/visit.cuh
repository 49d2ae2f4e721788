/* SPDX-License-Identifier: MIT */
/*
 * The frontier and edge visits that algorithms share. A frontier is a queue of work items, pieces of
 * edge lists, so a hub's list is divided among warps; a warp reads a piece in whole lines, all of it
 * before the first use. An algorithm gives what happens at an item and at an edge.
 */
#ifndef GTU_CUDA_VISIT_CUH
#define GTU_CUDA_VISIT_CUH

#include "compressed.cuh"
#include "loop.cuh"

/* Instances of a kernel for each format of an entry: M(entry type, name). */
#define VISIT_FORMATS(M) M(u32, 4) M(u64, 8) M(compressed, compressed)

/* f(v, chunk, tally) for each item, by one warp: the vertex and the piece for walk_item(). */
template <typename F>
__device__ static inline void each_item(const u64 *queue, u64 count, tally &t, F f)
{
	for (u64 i = thread_id() / 32; i < count; i += thread_count() / 32)
		f((u32)queue[i], (u32)(queue[i] >> 32), t);
}

template <typename F>
__device__ static inline void each_item(const gpu_graph &g, const u64 *queue, u64 count, F f)
{
	tally t = { 0, 0 };

	each_item(queue, count, t, f);
	report(g, t);
}

template <typename R> __device__ static inline u32 items_of_vertex(const gpu_graph &g, u32 v)
{
	u64 s, e;

	edges_of(g, v, &s, &e);
	return items_of<R>(s, e);
}

/* Queue the items of vertices in the run's range with due(v). */
template <typename R, typename P>
__device__ static inline void collect(const gpu_graph &g, u64 *queue, P due)
{
	each_vertices(g, [&](u64 base) {
		u32 some = 0, k;

#pragma unroll
		for (k = 0; k < GPU_WORDS; k++) {
			const u64 v = base + 32 * k + lane_id();
			const bool own = v >= g.first && v < g.end;

			/* reads without a condition overlap */
			some |= (u32)(due((u32)(own ? v : g.first)) & own) << k;
		}
		push_words(queue, &counters_of(g)->items, base, some, [&](u32 k) {
			return items_of_vertex<R>(g, (u32)(base + 32 * k + lane_id()));
		});
	});
}

/* Give @to the label @next unless it has one: the label before. */
__device__ static inline u32 reach(u32 *label, u32 to, u32 next)
{
	u32 was = *(volatile u32 *)&label[to];

	return was == GPU_UNREACHED ? atomicCAS(&label[to], GPU_UNREACHED, next) : was;
}

/* Add the lanes' values to a counter. */
__device__ static inline void count_lanes(uint64_t *to, u64 value)
{
	value = warp_sum(value);
	if (!lane_id() && value)
		add(to, value);
}

__device__ static inline void count_vertices(const gpu_graph &g, u64 vertices)
{
	count_lanes(&counters_of(g)->vertices, vertices);
}

template <typename T> __device__ static inline T warp_max(T x)
{
	for (int d = 16; d; d >>= 1) {
		T other = __shfl_xor_sync(ALL_LANES, x, d);

		x = other > x ? other : x;
	}
	return x;
}

template <typename T> __device__ static inline T warp_min(T x)
{
	for (int d = 16; d; d >>= 1) {
		T other = __shfl_xor_sync(ALL_LANES, x, d);

		x = other < x ? other : x;
	}
	return x;
}

/* Queue all vertices whose @state is @value; @state 0: all. */
#define VISIT_COLLECT(R, format)                                                                   \
	extern "C" __global__ void visit_collect_##format(gpu_graph g, const u32 *state, u32 value, \
							  u64 *queue)                              \
	{                                                                                          \
		collect<R>(g, queue, [&](u32 v) { return !state || state[v] == value; });          \
	}

/* Queue all vertices with a bit. */
#define VISIT_COLLECT_BITS(R, format)                                                              \
	extern "C" __global__ void visit_collect_bits_##format(gpu_graph g, const u32 *bits, u64 *queue) \
	{                                                                                          \
		collect<R>(g, queue, [&](u32 v) { return bit_at(bits, v); });                      \
	}

VISIT_FORMATS(VISIT_COLLECT)
VISIT_FORMATS(VISIT_COLLECT_BITS)

#endif
