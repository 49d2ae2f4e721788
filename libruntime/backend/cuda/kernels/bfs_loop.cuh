/* SPDX-License-Identifier: MIT */
/*
 * Levels of a breadth-first search over small frontiers, top-down, in one launch (loop.cuh). A queue
 * entry holds the position and length of a list piece, so that a level begins by reading edges.
 */
#ifndef GTU_CUDA_BFS_LOOP_CUH
#define GTU_CUDA_BFS_LOOP_CUH

#include "loop.cuh"

#define PIECE_BITS	9		/* bits of a piece's length: at most GPU_CHUNK / 4 entries */

template <typename R> __device__ static inline u64 piece_of(u64 s, u64 e, u32 chunk)
{
	u64 first, end;

	piece_bounds<R>(s, e, chunk, &first, &end);
	return first << PIECE_BITS | (end - first);
}

/* Vertices that a lane found in a level, and the sum of their degrees. */
struct found {
	u32 vertices;
	u64 edges;
};

/* Claim the unvisited ones among a lane's entries for level @next, and queue their lists. */
template <typename R>
__device__ static inline void discover(const gpu_graph &g, u32 mask, const R *entry, u32 *visited, u32 *level,
				       u32 next, u64 *out, uint64_t *count, found &sum)
{
	u64 s[LANE_ENTRIES], e[LANE_ENTRIES], at;
	u32 old[LANE_ENTRIES], items = 0, i, k, pieces;

	/* independent reads first: each takes a trip to memory */
#pragma unroll
	for (i = 0; i < LANE_ENTRIES; i++) {
		u32 to;

		old[i] = ALL_LANES;
		s[i] = e[i] = 0;
		if (!(mask >> i & 1))
			continue;
		to = target_of<R>(g, entry[i]);
		old[i] = atomicOr(&visited[to >> 5], 1u << (to & 31));
		edges_of(g, to, &s[i], &e[i]);
	}
#pragma unroll
	for (i = 0; i < LANE_ENTRIES; i++) {
		u32 to;

		if (!(mask >> i & 1))
			continue;
		to = target_of<R>(g, entry[i]);
		if (old[i] >> (to & 31) & 1) {
			e[i] = s[i];
			continue;
		}
		level[to] = next;
		sum.vertices++;
		sum.edges += e[i] - s[i];
		items += items_of<R>(s[i], e[i]);
	}
	if (!__any_sync(ALL_LANES, items))
		return;
	at = reserve(count, items);
#pragma unroll
	for (i = 0; i < LANE_ENTRIES; i++) {
		pieces = items_of<R>(s[i], e[i]);
		for (k = 0; k < pieces && at < GPU_LOOP_ITEMS; k++, at++) {
			out[at] = piece_of<R>(s[i], e[i], k);
			prefetch(entry_address<R>(g, out[at] >> PIECE_BITS));
		}
	}
}

/* Add what the block found to the log, once a block: atomic operations on one address take turns. */
__device__ static inline void log_level(struct gpu_level *log, const found &sum)
{
	const u32 half = 24;		/* bits of the lower part: sums of 32 lanes fit into 32 bits */
	__shared__ u32 vertices, low, high;
	u32 warp_vertices = __reduce_add_sync(ALL_LANES, sum.vertices),
	    warp_low = __reduce_add_sync(ALL_LANES, (u32)sum.edges & ((1u << half) - 1)),
	    warp_high = __reduce_add_sync(ALL_LANES, (u32)(sum.edges >> half));

	if (!threadIdx.x)
		vertices = low = high = 0;
	__syncthreads();
	if (!lane_id() && warp_vertices) {
		atomicAdd(&vertices, warp_vertices);
		atomicAdd(&low, warp_low);
		atomicAdd(&high, warp_high);
	}
	__syncthreads();
	if (!threadIdx.x && vertices) {
		add(&log->vertices, vertices);
		add(&log->edges, ((u64)high << half) + low);
	}
}

/*
 * Run levels from @next on, over the @count work items of @queue, until the search ends, the next
 * level has more than GPU_LOOP_ITEMS items or GPU_LOOP_EDGES edges, or @levels are done. @space:
 * two queues of GPU_LOOP_ITEMS. log[i]: what level next + i reached, zero before.
 */
template <typename R>
__device__ static void bfs_levels(const gpu_graph &g, const u64 *queue, u64 count, u32 *visited, u32 *level,
				  u32 next, u32 levels, u64 *space, struct gpu_level *log)
{
	struct gpu_loop *loop = loop_of(g);
	u64 *in = space, *out = space + GPU_LOOP_ITEMS, i, s, e, edges = 0;
	u32 epoch = 0, step;
	tally t = { 0, 0 };

	for (i = thread_id(); i < count; i += thread_count()) {
		edges_of(g, (u32)queue[i], &s, &e);
		in[i] = piece_of<R>(s, e, (u32)(queue[i] >> 32));
	}
	grid_barrier(&loop->arrived, epoch);
	for (step = 0; count && count <= GPU_LOOP_ITEMS && edges <= GPU_LOOP_EDGES && step < levels; step++) {
		uint64_t *fill = &loop->items[(step + 1) % 3];
		found sum = { 0, 0 };
		u64 *other = in;

		if (!thread_id())
			loop->items[(step + 2) % 3] = 0;
		share_items(count, [&](u64 at, bool valid) {
			u64 item = valid ? in[at] : 0;

			walk_pieces<R, no_weight>(g, item >> PIECE_BITS, (u32)item & ((1u << PIECE_BITS) - 1), 0u, t,
						  [&](u32, u32 mask, const R *entry, const no_weight *) {
				discover<R>(g, mask, entry, visited, level, next + step, out, fill, sum);
			});
		});
		log_level(&log[step], sum);
		grid_barrier(&loop->arrived, epoch);
		count = settled(fill);
		edges = settled(&log[step].edges);
		in = out;
		out = other;
	}
	if (!thread_id())
		loop->steps = step;
	report_lanes(g, t);
}

#define BFS_LEVELS(R, width)                                                                       \
	extern "C" __global__ void bfs_levels_##width(gpu_graph g, const u64 *queue, u64 count,     \
						      u32 *visited, u32 *level, u32 next, u32 levels, \
						      u64 *space, struct gpu_level *log)            \
	{                                                                                          \
		bfs_levels<R>(g, queue, count, visited, level, next, levels, space, log);          \
	}

BFS_LEVELS(u32, 4)
BFS_LEVELS(u64, 8)

#endif
