/* SPDX-License-Identifier: MIT */
/*
 * Connected components by hooking: of two roots the higher is linked to the lower, so a component's
 * final label is its lowest vertex. Sampling (Sutton, Ben-Nun, Barak, "Optimizing Parallel Graph
 * Connectivity Computation via Subgraph Sampling", 2018): the cached neighbours join most of the
 * giant component without link traffic; then only lists of vertices outside it are read. If the
 * cache is too small, the whole lists of a slice of the vertices serve as the sample: one neighbour
 * per vertex would request as many lines as a pass over all lists of up to 128 bytes. In lists on the card, a
 * breadth-first search finds the giant component; where paths are long, they are sampled in place: each vertex is
 * linked to a lower neighbour, then joined with one or more.
 */
#ifndef GTU_CUDA_COMPONENTS_CUH
#define GTU_CUDA_COMPONENTS_CUH

#include "compressed.cuh"
#include "loop.cuh"

#define LINKED	4u			/* neighbours considered by components_link */

__device__ static inline u32 label_at(const u32 *label, u32 v)
{
	return *(volatile const u32 *)&label[v];
}

/*
 * Find the root of @v and compress the path. A vertex that is not a root never becomes one again,
 * and its label only moves towards the root, so plain stores are safe.
 */
__device__ static inline u32 root_of(u32 *label, u32 v)
{
	u32 up = label_at(label, v), above;

	while (up != v) {
		above = label_at(label, up);
		if (above == up)
			return up;
		label[v] = above;
		v = above;
		up = label_at(label, v);
	}
	return v;
}

__device__ static inline void join(u32 *label, u32 a, u32 b)
{
	u32 swap;

	for (;;) {
		a = root_of(label, a);
		b = root_of(label, b);
		if (a == b)
			return;
		if (a < b) {
			swap = a;
			a = b;
			b = swap;
		}
		if (atomicCAS(&label[a], a, b) == a)
			return;
	}
}

extern "C" __global__ void components_begin(gpu_graph g, u32 *label)
{
	for (u64 v = thread_id(); v < g.n; v += thread_count())
		label[v] = (u32)v;
}

/* The lowest vertex with a bit in @visited and none in @isolated; *least is GPU_NO_VERTEX before. */
extern "C" __global__ void components_least(gpu_graph g, const u32 *visited, const u32 *isolated, u32 *least)
{
	u32 mine = GPU_NO_VERTEX;

	for (u64 i = thread_id(); i < (g.n + 31) / 32 && mine == GPU_NO_VERTEX; i += thread_count()) {
		const u32 word = visited[i] & ~isolated[i];

		if (word)
			mine = (u32)i * 32 + (u32)__ffs((int)word) - 1;
	}
	if (mine < *(volatile u32 *)least)
		atomicMin(least, mine);
}

/* Label those vertices *least, and the others by themselves. */
extern "C" __global__ void components_paint(gpu_graph g, const u32 *visited, const u32 *isolated, const u32 *least, u32 *label)
{
	const u32 lowest = *least;

	for (u64 v = thread_id(); v < g.n; v += thread_count())
		label[v] = (visited[v >> 5] & ~isolated[v >> 5]) >> (v & 31) & 1 ? lowest : (u32)v;
}

/* Join each vertex not labeled @giant with its cached neighbour @i. */
extern "C" __global__ void components_sample(gpu_graph g, u32 *label, u32 i, u32 giant)
{
	const u32 *cache = (const u32 *)g.cache;
	u32 u;

	for (u64 v = thread_id(); v < g.cache_end; v += thread_count()) {
		if (giant != GPU_NO_VERTEX && label_at(label, (u32)v) == giant)
			continue;
		u = cache[v * g.cache_degree + i];
		if (u != GPU_NO_VERTEX)
			join(label, (u32)v, u);
	}
}

/*
 * The root above @v, by reads that a cache serves: most go to the same root. A label that is out of date is one further down on
 * the same way.
 */
__device__ static inline u32 top_of(const u32 *label, u32 v)
{
	u32 up;

	while ((up = label[v]) != v)
		v = up;
	return v;
}

/*
 * Replace every label by its root. No path compression here: a delayed store could overwrite a root
 * that another thread has already written.
 */
extern "C" __global__ void components_flatten(gpu_graph g, u32 *label)
{
	for (u64 v = thread_id(); v < g.n; v += thread_count()) {
		const u32 root = top_of(label, (u32)v);

		if (root != label[v])
			label[v] = root;
	}
}

/* Collect the labels of GPU_SAMPLES vertices for the host. */
extern "C" __global__ void components_ask(gpu_graph g, const u32 *label, u32 *answer)
{
	u64 i = thread_id();

	if (i < GPU_SAMPLES)
		answer[i] = label[(i * 0x9e3779b97f4a7c15ull >> 16) % g.n];
}

/* Whether a list of @degree entries is read together with the lists beside it. */
template <typename R> __device__ static inline bool is_short(u64 degree)
{
	return degree <= GPU_CHUNK / sizeof(R);
}
template <> __device__ inline bool is_short<compressed>(u64)
{
	return false;
}

/* Join those of a warp's 32 vertices that are @wanted with their neighbours: a lane has the list [s, e) of vertex @v. */
template <typename R>
__device__ static inline void join_together(const gpu_graph &g, u32 *label, u32 v, u64 s, u64 e, bool wanted, tally &t)
{
	walk_together<R, no_weight>(g, s, e, wanted, t, [&](bool valid, u32 owner, R entry, no_weight) {
		if (valid)
			join(label, (v & ~31u) + owner, target_of<R>(g, entry));
		__syncwarp();
	});
}
template <>
__device__ inline void join_together<compressed>(const gpu_graph &, u32 *, u32, u64, u64, bool, tally &)
{
}

/*
 * Join the vertices of a slice (kernels.h) not labeled @giant (GPU_NO_VERTEX: all) whose lists are short, and collect
 * work items of the others, except vertices whose whole list is cached. The lists of a run of 32 vertices are adjacent. A warp
 * takes a run, and waits for no other: how long it takes depends on the labels.
 */
template <typename R>
__device__ static void components_collect(const gpu_graph &g, u32 *label, u32 giant, u32 slice, u64 *queue)
{
	const u32 slices = slice & ~GPU_SLICE_REST, step = slice && slice == slices ? slices : 1;
	const u64 first = (g.first / 32 + step - 1) / step, end = ((g.end + 31) / 32 + step - 1) / step;
	tally t = { 0, 0 };

	each_in_order(g, end > first ? end - first : 0, [&](u64 i) {
		const u64 run = (first + i) * step, v = run * 32 + lane_id();
		bool wanted = (slice == slices || run % slices) && v < g.n;
		u64 s = 0, e = 0;

		/* the giant component may have got another label meanwhile */
		if (wanted && giant != GPU_NO_VERTEX)
			wanted = label_at(label, (u32)v) != giant && label_at(label, (u32)v) != label_at(label, giant);
		if (wanted)
			edges_of(g, v, &s, &e);
		wanted = e - s > (v < g.cache_end ? g.cache_degree : 0);
		join_together<R>(g, label, (u32)v, s, e, wanted && is_short<R>(e - s), t);
		push_warp(queue, &counters_of(g)->items, (u32)v, wanted && !is_short<R>(e - s) ? items_of<R>(s, e) : 0);
	});
	report(g, t);
}

template <typename R>
__device__ static void components_join(const gpu_graph &g, const u64 *queue, u64 count, u32 *label)
{
	tally t = { 0, 0 };

	each_in_order(g, count, [&](u64 i) {
		const u64 item = queue[i];
		const u32 v = (u32)item;

		walk_item<R, no_weight>(g, v, (u32)(item >> 32), t, [&](bool valid, R entry, no_weight) {
			if (valid)
				join(label, v, target_of<R>(g, entry));
			__syncwarp();
		});
	});
	report(g, t);
}

/*
 * Link each vertex to the lowest of itself and its first neighbours. Labels only point down, so this
 * needs no atomic operations, and few roots are left for components_join_one.
 */
template <typename R> __device__ static void components_link(const gpu_graph &g, u32 *label)
{
	tally t = { 0, 0 };
	u64 v, s, e, i;

	for (v = thread_id(); v < g.n; v += thread_count()) {
		u32 least = (u32)v;

		s = row_at(g, v);
		e = row_at(g, v + 1) < s + LINKED ? row_at(g, v + 1) : s + LINKED;
		for (i = s; i < e; i++) {
			const u32 to = target_of<R>(g, entry_at<R>(g, i));

			least = to < least ? to : least;
		}
		label[v] = least;
		count_sectors<R, no_weight>(g, t, s, e);
	}
	__syncwarp();
	report_lanes(g, t);
}

/* Join each vertex not labeled @giant with one neighbour: its last one, then those before it. */
template <typename R> __device__ static void components_join_one(const gpu_graph &g, u32 *label, u32 round, u32 giant)
{
	tally t = { 0, 0 };

	for (u64 v = thread_id(); v < g.n; v += thread_count()) {
		const u64 e = row_at(g, v + 1);

		if (row_at(g, v) + round >= e || (giant != GPU_NO_VERTEX && label_at(label, (u32)v) == giant))
			continue;
		join(label, (u32)v, target_of<R>(g, entry_at<R>(g, e - 1 - round)));
		count_sectors<R, no_weight>(g, t, e - 1 - round, e - round);
	}
	__syncwarp();
	report_lanes(g, t);
}

#define COMPONENTS_PLAIN(R, width)                                                                 \
	extern "C" __global__ void components_link_##width(gpu_graph g, u32 *label)                \
	{                                                                                          \
		components_link<R>(g, label);                                                      \
	}                                                                                          \
	extern "C" __global__ void components_join_one_##width(gpu_graph g, u32 *label, u32 round, \
							       u32 giant)                          \
	{                                                                                          \
		components_join_one<R>(g, label, round, giant);                                    \
	}

COMPONENTS_PLAIN(u32, 4)
COMPONENTS_PLAIN(u64, 8)

#define COMPONENTS_KERNELS(R, width)                                                               \
	extern "C" __global__ void components_collect_##width(gpu_graph g, u32 *label, u32 giant,  \
							      u32 slice, u64 *queue)               \
	{                                                                                          \
		components_collect<R>(g, label, giant, slice, queue);                              \
	}                                                                                          \
	extern "C" __global__ void components_join_##width(gpu_graph g, const u64 *queue,          \
							   u64 count, u32 *label)                  \
	{                                                                                          \
		components_join<R>(g, queue, count, label);                                        \
	}

COMPONENTS_KERNELS(u32, 4)
COMPONENTS_KERNELS(u64, 8)
COMPONENTS_KERNELS(compressed, compressed)

#endif
