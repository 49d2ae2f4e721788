/* SPDX-License-Identifier: MIT */
/*
 * Shortest paths counted in edges: betweenness centrality (Brandes, "A Faster Algorithm for
 * Betweenness Centrality", 2001), and the search from both ends of ST-connectivity. The queues of all
 * levels lie behind each other, so betweenness takes them in reverse without a search.
 */
#ifndef GTU_CUDA_PATHS_CUH
#define GTU_CUDA_PATHS_CUH

#include "libruntime/support/wide.h"
#include "visit.cuh"

/* Numbers of paths: doubles, or wide numbers if those overflow. Both are ordered as integers. */
struct double_paths {
	typedef double number;

	__device__ static void add(double *at, double x) { atomicAdd(at, x); }
	__device__ static double ratio(double a, double b) { return a / b; }
	__device__ static bool infinite(double a) { return a > 1.7976931348623157e308; }
};

struct wide_paths {
	typedef gtu_wide number;

	__device__ static void add(gtu_wide *at, gtu_wide x)
	{
		ull old = *(volatile ull *)at, seen;

		do {
			seen = old;
			old = atomicCAS((ull *)at, seen, (ull)gtu_wide_add(seen, x));
		} while (old != seen);
	}

	__device__ static double ratio(gtu_wide a, gtu_wide b) { return gtu_wide_double(gtu_wide_quotient(a, b)); }
	__device__ static bool infinite(gtu_wide a) { return a == GTU_WIDE_MOST; }
};

/* @one: the number 1. */
extern "C" __global__ void paths_begin(gpu_graph g, u32 source, u64 one, u32 *level, u64 *paths, double *share)
{
	for (u64 v = thread_id(); v < g.n; v += thread_count()) {
		level[v] = v == source ? 0 : GPU_UNREACHED;
		paths[v] = v == source ? one : 0;
		share[v] = 0;
	}
}

/* counters.changed: a number of paths is @most or more. */
extern "C" __global__ void paths_check(gpu_graph g, u64 most, const u64 *paths)
{
	for (u64 v = thread_id(); v < g.n; v += thread_count())
		if (paths[v] >= most)
			counters_of(g)->changed = 1;
}

/* Reach the next level, and add up the paths to its vertices. counters.changed: as paths_check(), of this level. */
template <typename R, typename P>
__device__ static void paths_count(const gpu_graph &g, const u64 *queue, u64 count, u32 *level, u32 next,
				   typename P::number *paths, u64 *out)
{
	u64 vertices = 0;

	each_item(g, queue, count, [&](u32 v, u32 chunk, tally &t) {
		const typename P::number own = paths[v];

		if (P::infinite(own))
			counters_of(g)->changed = 1;

		walk_item<R, no_weight>(g, v, chunk, t, [&](bool valid, R entry, no_weight) {
			const u32 to = target_of<R>(g, entry), was = valid ? reach(level, to, next) : 0;
			const bool found = valid && was == GPU_UNREACHED;

			if (valid && (found || was == next))
				P::add(&paths[to], own);
			vertices += found;
			push_warp(out, &counters_of(g)->items, to, found ? items_of_vertex<R>(g, to) : 0);
		});
	});
	count_vertices(g, vertices);
}

/*
 * each(): f(v, mask, to) for the edges of the @count items of @queue, called by every lane: up to
 * LANE_ENTRIES targets of vertex v, by @mask, and v for the others. Short lists are read by a lane each:
 * a level takes as long as one list.
 */
template <typename R> struct edges_of_items {
	template <typename F>
	__device__ static inline void each(const gpu_graph &g, const u64 *queue, u64 count, tally &t, F f)
	{
		share_items(count, [&](u64 i, bool valid) {
			const u64 item = valid ? queue[i] : 0;
			u64 first = 0, end = 0;

			if (valid) {
				edges_of(g, (u32)item, &first, &end);
				piece_bounds<R>(first, end, (u32)(item >> 32), &first, &end);
			}
			walk_pieces<R, no_weight>(g, first, (u32)(end - first), 0, (u32)item, t,
						  [&](u32 v, u32 mask, const R *entry, const no_weight *) {
				u32 to[LANE_ENTRIES], k;

#pragma unroll
				for (k = 0; k < LANE_ENTRIES; k++)
					to[k] = mask >> k & 1 ? target_of<R>(g, entry[k]) : v;
				f(v, mask, to);
			});
		});
	}
};

/* Compressed lists are read by a warp each. */
template <> struct edges_of_items<compressed> {
	template <typename F>
	__device__ static inline void each(const gpu_graph &g, const u64 *queue, u64 count, tally &t, F f)
	{
		tally all = { 0, 0 };

		each_item(queue, count, all, [&](u32 v, u32 chunk, tally &all) {
			walk_item<compressed, no_weight>(g, v, chunk, all, [&](bool valid, compressed entry, no_weight) {
				u32 to[LANE_ENTRIES], k;

				for (k = 0; k < LANE_ENTRIES; k++)
					to[k] = valid && !k ? target_of<compressed>(g, entry) : v;
				f(v, (u32)valid, to);
			});
		});
		if (!lane_id())
			t = { t.list + all.list, t.cached + all.cached };
	}
};

/*
 * The levels after the one of the @count items of @queue, which fill the queue behind it, until one has no
 * items or too many. log[i], zero before: vertices and items of level next + i. counters.changed: as paths_count().
 */
template <typename R, typename P>
__device__ static void paths_forth(const gpu_graph &g, u64 *queue, u64 count, u32 *level, u32 next,
				   typename P::number *paths, struct gpu_level *log)
{
	struct gpu_loop *loop = loop_of(g);
	tally t = { 0, 0 };
	u32 epoch = 0, step;

	for (step = 0; count && count <= GPU_LOOP_PATHS && step < GPU_LOOP_STEPS; step++) {
		uint64_t *fill = &log[step].edges;
		u64 *out = queue + count, vertices = 0;

		edges_of_items<R>::each(g, queue, count, t, [&](u32 v, u32 mask, const u32 *to) {
			const typename P::number own = paths[v];
			u32 was[LANE_ENTRIES], items[LANE_ENTRIES], all = 0, k;
			u64 at;

			/* reads and atomic operations without conditions overlap */
#pragma unroll
			for (k = 0; k < LANE_ENTRIES; k++) {
				was[k] = min_if(mask >> k & 1, &level[to[k]], next + step, 0u);
				items[k] = items_of_vertex<R>(g, to[k]);
			}
#pragma unroll
			for (k = 0; k < LANE_ENTRIES; k++) {
				if (was[k] >= next + step)
					P::add(&paths[to[k]], own);
				items[k] = was[k] == GPU_UNREACHED ? items[k] : 0;
				vertices += was[k] == GPU_UNREACHED;
				all += items[k];
			}
			at = reserve(fill, all);
#pragma unroll
			for (k = 0; k < LANE_ENTRIES; at += items[k++])
				put_items(out, at, to[k], items[k]);
			if (P::infinite(own))
				counters_of(g)->changed = 1;
		});
		count_lanes(&log[step].vertices, vertices);
		grid_barrier(&loop->arrived, epoch);
		queue += count;
		count = settled(fill);
	}
	if (!thread_id())
		loop->steps = step;
	report_lanes(g, t);
}

/* share[v] += the sum of part(paths[v], to) over the edges to vertices @to of level @next. */
template <typename R, typename N, typename F>
__device__ static inline void add_shares(const gpu_graph &g, const u64 *queue, u64 count, const u32 *level, u32 next,
					 const N *paths, double *share, F part)
{
	each_item(g, queue, count, [&](u32 v, u32 chunk, tally &t) {
		const N own = paths[v];
		double sum = 0;

		walk_item<R, no_weight>(g, v, chunk, t, [&](bool valid, R entry, no_weight) {
			const u32 to = target_of<R>(g, entry);

			if (valid && level[to] == next)
				sum += part(own, to);
			__syncwarp();
		});
		sum = warp_sum(sum);
		if (!lane_id() && sum != 0)
			atomicAdd(&share[v], sum);
	});
}

/* The dependencies of a level on the next: share[v] += paths[v] / paths[to] (1 + share[to]). */
template <typename R, typename P>
__device__ static void paths_depend(const gpu_graph &g, const u64 *queue, u64 count, const u32 *level, u32 next,
				    const typename P::number *paths, double *share)
{
	add_shares<R>(g, queue, count, level, next, paths, share,
		      [&](typename P::number own, u32 to) { return P::ratio(own, paths[to]) * (1 + share[to]); });
}

/* The same for the levels from @next down, each @begin[i] to @begin[i + 1] of the queue, i from @levels down. */
template <typename R, typename P>
__device__ static void paths_back(const gpu_graph &g, const u64 *queue, const u64 *begin, u32 levels, const u32 *level,
				  u32 next, const typename P::number *paths, double *share)
{
	tally t = { 0, 0 };
	u32 epoch = 0;

	for (; levels; levels--, next--) {
		const u64 from = begin[levels - 1];

		edges_of_items<R>::each(g, queue + from, begin[levels] - from, t, [&](u32 v, u32 mask, const u32 *to) {
			const typename P::number own = paths[v];
			typename P::number theirs[LANE_ENTRIES];
			u32 at[LANE_ENTRIES], k;
			double their[LANE_ENTRIES], sum = 0;

#pragma unroll
			for (k = 0; k < LANE_ENTRIES; k++) {
				at[k] = level[to[k]];
				theirs[k] = paths[to[k]];
				their[k] = share[to[k]];
			}
#pragma unroll
			for (k = 0; k < LANE_ENTRIES; k++)
				if (mask >> k & 1 && at[k] == next)
					sum += P::ratio(own, theirs[k]) * (1 + their[k]);
			/* a long list is in all lanes */
			if (!__any_sync(ALL_LANES, v != __shfl_sync(ALL_LANES, v, 0))) {
				sum = warp_sum(sum);
				sum = lane_id() ? 0 : sum;
			}
			if (sum != 0)
				atomicAdd(&share[v], sum);
		});
		grid_barrier(&loop_of(g)->arrived, epoch);
	}
	report_lanes(g, t);
}

/* Add the shares to the scores. */
extern "C" __global__ void paths_end(gpu_graph g, u32 source, const double *share, double *score)
{
	for (u64 v = thread_id(); v < g.n; v += thread_count())
		if (v != source)
			score[v] += share[v];
}

/* One level of a search; note_min(): the fewest edges to a vertex that the @other search reached. */
template <typename R>
__device__ static void paths_meet(const gpu_graph &g, const u64 *queue, u64 count, u32 *level, const u32 *other,
				  u32 next, u64 *out)
{
	u64 vertices = 0, edges = 0, best = ~0ull;

	each_item(g, queue, count, [&](u32 v, u32 chunk, tally &t) {
		walk_item<R, no_weight>(g, v, chunk, t, [&](bool valid, R entry, no_weight) {
			const u32 to = target_of<R>(g, entry);
			const bool found = valid && reach(level, to, next) == GPU_UNREACHED;

			if (found && other[to] != GPU_UNREACHED && (u64)next + other[to] < best)
				best = (u64)next + other[to];
			edges += valid;
			vertices += found;
			push_warp(out, &counters_of(g)->items, to, found ? items_of_vertex<R>(g, to) : 0);
		});
	});
	count_vertices(g, vertices);
	edges = warp_sum(edges);
	best = warp_min(best);
	if (lane_id())
		return;
	if (edges)
		add(&counters_of(g)->edges, edges);
	if (best != ~0ull)
		note_min(g, best);
}

#define PATHS_KERNELS_OF(P, name, R, format)                                                       \
	extern "C" __global__ void name##count_##format(gpu_graph g, const u64 *queue, u64 count,  \
							u32 *level, u32 next, P::number *paths,    \
							u64 *out)                                  \
	{                                                                                          \
		paths_count<R, P>(g, queue, count, level, next, paths, out);                       \
	}                                                                                          \
	extern "C" __global__ void name##forth_##format(gpu_graph g, u64 *queue, u64 count,        \
							u32 *level, u32 next, P::number *paths,    \
							struct gpu_level *log)                     \
	{                                                                                          \
		paths_forth<R, P>(g, queue, count, level, next, paths, log);                       \
	}                                                                                          \
	extern "C" __global__ void name##depend_##format(gpu_graph g, const u64 *queue, u64 count, \
							 const u32 *level, u32 next,               \
							 const P::number *paths, double *share)    \
	{                                                                                          \
		paths_depend<R, P>(g, queue, count, level, next, paths, share);                    \
	}                                                                                          \
	extern "C" __global__ void name##back_##format(gpu_graph g, const u64 *queue,              \
						       const u64 *begin, u32 levels,               \
						       const u32 *level, u32 next,                 \
						       const P::number *paths, double *share)      \
	{                                                                                          \
		paths_back<R, P>(g, queue, begin, levels, level, next, paths, share);              \
	}

#define PATHS_KERNELS(R, format)                                                                   \
	PATHS_KERNELS_OF(double_paths, paths_, R, format)                                          \
	PATHS_KERNELS_OF(wide_paths, paths_wide_, R, format)                                       \
	extern "C" __global__ void paths_meet_##format(gpu_graph g, const u64 *queue, u64 count,   \
						       u32 *level, const u32 *other, u32 next,     \
						       u64 *out)                                   \
	{                                                                                          \
		paths_meet<R>(g, queue, count, level, other, next, out);                           \
	}

VISIT_FORMATS(PATHS_KERNELS)

#endif
