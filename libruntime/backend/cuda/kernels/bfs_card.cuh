/* SPDX-License-Identifier: MIT */
/*
 * Parts of breadth-first search: large top-down steps, and steps bottom-up over lists on the card, in place. A large step
 * top-down only sets bits of visited vertices; levels and the next frontier follow from the bits that changed
 * (bfs_settle). Bottom-up, a lane searches the first entries of a list, some lanes together the next ones, and a warp
 * the rest of long lists.
 */
#ifndef GTU_CUDA_BFS_CARD_CUH
#define GTU_CUDA_BFS_CARD_CUH

#include "bfs.cuh"

#define FIRST	4u			/* entries that a lane searches in a list on the card, */
#define GROUP	8u			/* lanes that search together after them, and */
#define SEARCHED (FIRST + 16 * GROUP)	/* entries after which a warp goes on */

/*
 * As count_reached(), once a block: its warps end together, and atomic operations on one counter take turns. Called by all
 * threads.
 */
__device__ static inline void count_reached_by_block(const gpu_graph &g, u64 vertices, u64 edges)
{
	__shared__ u64 sums[2];

	if (!threadIdx.x)
		sums[0] = sums[1] = 0;
	__syncthreads();
	vertices = warp_sum(vertices);
	edges = warp_sum(edges);
	if (!lane_id() && vertices) {
		atomicAdd((ull *)&sums[0], (ull)vertices);
		atomicAdd((ull *)&sums[1], (ull)edges);
	}
	__syncthreads();
	if (threadIdx.x < 2 && sums[0])
		add(threadIdx.x ? &counters_of(g)->edges : &counters_of(g)->vertices, sums[threadIdx.x]);
}

extern "C" __global__ void bfs_copy(gpu_graph g, const u32 *from, u32 *to)
{
	for (u64 i = thread_id(); i < (g.n + 31) / 32; i += thread_count())
		to[i] = from[i];
}

/*
 * f(v, mine, word) for every word of 32 vertices of the run's range that is not 0, by a warp, of which each lane has a vertex;
 * @mine: its bit. word_of(i) is the word of index i. A warp reads 32 words at a time, so that empty ones cost little.
 */
template <typename W, typename F> __device__ static inline void each_word(const gpu_graph &g, W word_of, F f)
{
	const u64 begin = g.first / 32, words = (g.end + 31) / 32, padded = begin + ((words - begin + 31) & ~31ull);

	for (u64 i = begin + thread_id(); i < padded; i += thread_count()) {
		const u32 mine = i < words ? word_of(i) : 0;

		for (u32 some = __ballot_sync(ALL_LANES, mine != 0); some; some &= some - 1) {
			const int k = __ffs((int)some) - 1;
			const u32 word = __shfl_sync(ALL_LANES, mine, k);

			f((i - lane_id() + (u32)k) * 32 + lane_id(), word >> lane_id() & 1, word);
		}
	}
}

/*
 * The vertices visited since @before are the frontier: replace @before by their bits, and set their @level, unless it
 * is 0.
 */
extern "C" __global__ void bfs_settle(gpu_graph g, const u32 *visited, u32 *before, u32 *level, u32 next)
{
	u64 vertices = 0, edges = 0;

	each_word(g, [&](u64 i) { return before[i] = visited[i] & ~before[i]; }, [&](u64 v, bool mine, u32) {
		if (!mine)
			return;
		if (level)
			level[v] = next;
		vertices++;
		edges += row_at(g, v + 1) - row_at(g, v);
	});
	count_reached_by_block(g, vertices, edges);
}

/* The bits of a queue's vertices; 0 before. */
extern "C" __global__ void bfs_queue_bits(gpu_graph, const u64 *queue, u64 count, u32 *bits)
{
	for (u64 i = thread_id(); i < count; i += thread_count())
		atomicOr(&bits[(u32)queue[i] >> 5], 1u << (queue[i] & 31));
}

/* Queue the items of the vertices with a bit in @bits, inverted by @flip. */
template <typename R> __device__ static void bfs_collect_bits(const gpu_graph &g, const u32 *bits, u32 flip, u64 *queue)
{
	stage q = stage_of(queue, &counters_of(g)->items);

	each_word(g, [&](u64 i) { return bits[i] ^ flip; }, [&](u64 v, bool mine, u32) {
		stage_items(q, (u32)v, mine ? items_of<R>(row_at(g, v), row_at(g, v + 1)) : 0);
	});
	stage_flush(q);
}

/* Set the visited bits of the targets of items only, for a large step (bfs_settle). */
template <typename R>
__device__ static void bfs_mark(const gpu_graph &g, const u64 *queue, u64 count, u32 *visited)
{
	const u32 size = batches<R, no_weight>::size;
	tally t = { 0, 0 };

	each_in_order(g, count, [&](u64 i) {
		const u64 item = queue[i];

		batches<R, no_weight>::walk(g, (u32)item, (u32)(item >> 32), t, [&](u32 mask, const R *entry, const no_weight *) {
			u32 word[size], k;

#pragma unroll
			for (k = 0; k < size; k++)
				word[k] = mask >> k & 1 ? visited[target_of<R>(g, entry[k]) >> 5] : ALL_LANES;
#pragma unroll
			for (k = 0; k < size; k++) {
				const u32 to = mask >> k & 1 ? target_of<R>(g, entry[k]) : 0;

				if (!(word[k] >> (to & 31) & 1))
					atomicOr(&visited[to >> 5], 1u << (to & 31));
			}
		});
	});
	report(g, t);
}

/* A vertex found bottom-up by a lane: what a step does with it. */
struct found_up {
	u32 *visited, *frontier_next, *level;
	u32 next;
	u64 vertices, edges;
};

__device__ static inline void take_found(const gpu_graph &g, found_up &f, u32 v)
{
	if (f.level)
		f.level[v] = f.next;
	atomicOr(&f.visited[v >> 5], 1u << (v & 31));
	atomicOr(&f.frontier_next[v >> 5], 1u << (v & 31));
	f.vertices++;
	f.edges += row_at(g, v + 1ull) - row_at(g, v);
}

/*
 * Bottom-up step over lists in GPU memory, the FIRST entries of each. Vertices with more entries and no hit go to
 * @left; counters.left counts them. @frontier_next is 0 before.
 */
template <typename R>
__device__ static void bfs_up_first(const gpu_graph &g, const u32 *frontier, u32 *visited, u32 *level,
				    u32 next, u32 *frontier_next, u64 *left)
{
	stage q = stage_of(left, &counters_of(g)->left);
	u64 vertices = 0, edges = 0;
	tally t = { 0, 0 };

	each_word(g, [&](u64 i) { return ~visited[i]; }, [&](u64 v, bool asks, u32 word) {
		u64 s = 0, e = 0, at;
		u32 to[FIRST], k;
		bool found = false, staged;

		if (asks) {
			s = row_at(g, v);
			e = row_at(g, v + 1);
		}
		if (s < e) {
#pragma unroll
			for (k = 0; k < FIRST; k++)
				to[k] = target_of<R>(g, entry_at<R>(g, s + k < e ? s + k : s));
			/* the first is enough for most vertices next to hubs */
			found = bit_at(frontier, to[0]);
			if (!found)
#pragma unroll
				for (k = 1; k < FIRST; k++)
					found |= bit_at(frontier, to[k]);
			count_sectors<R, no_weight>(g, t, s, e < s + FIRST ? e : s + FIRST);
		}
		if (found) {
			if (level)
				level[v] = next;
			vertices++;
			edges += e - s;
		}
		__syncwarp();
		k = __ballot_sync(ALL_LANES, found);
		if (!lane_id() && k) {
			frontier_next[v >> 5] = k;
			visited[v >> 5] = ~word | k;
		}
		k = asks && !found && e > s + FIRST;
		if (__any_sync(ALL_LANES, k)) {
			at = stage_reserve(q, k, &staged);
			if (k)
				stage_put(q, at, staged, v);
		}
	});
	stage_flush(q);
	count_reached_by_block(g, vertices, edges);
	report_lanes(g, t);
}

/* The next entries of the lists of @left, GROUP lanes a list, up to SEARCHED; those with more go to @rest, and counters.items. */
template <typename R>
__device__ static void bfs_up_next(const gpu_graph &g, const u64 *left, const u32 *frontier, u32 *visited, u32 *level,
				   u32 next, u32 *frontier_next, u64 *rest)
{
	const u64 count = counters_of(g)->left, groups = thread_count() / GROUP, padded = (count + 32 / GROUP - 1) & ~(32ull / GROUP - 1);
	const u32 own = lane_id() & ~(GROUP - 1), group = ((1u << GROUP) - 1) << own;
	found_up f = { visited, frontier_next, level, next, 0, 0 };
	tally t = { 0, 0 };

	for (u64 i = thread_id() / GROUP; i < padded; i += groups) {
		const u32 v = i < count ? (u32)left[i] : 0;
		u64 at = 0, e = 0, stop = 0;
		u32 hits = 0;

		if (i < count) {
			at = row_at(g, v) + FIRST;
			e = row_at(g, v + 1ull);
			stop = e < at + SEARCHED - FIRST ? e : at + SEARCHED - FIRST;
		}
		while (__any_sync(ALL_LANES, at < stop && !hits)) {
			const u64 mine = at + (lane_id() - own);
			const bool reads = !hits && mine < stop;

			hits |= __ballot_sync(ALL_LANES, reads && bit_at(frontier, target_of<R>(g, entry_at<R>(g, reads ? mine : 0)))) & group;
			if (lane_id() == own && at < stop)
				count_sectors<R, no_weight>(g, t, at, at + GROUP < stop ? at + GROUP : stop);
			at = hits ? at : at + GROUP;
		}
		if (lane_id() == own && hits)
			take_found(g, f, v);
		push_warp(rest, &counters_of(g)->items, v, lane_id() == own && !hits && stop < e);
	}
	count_reached(g, warp_sum(f.vertices), warp_sum(f.edges));
	report_lanes(g, t);
}

/* The last entries of long lists, a warp each. */
template <typename R>
__device__ static void bfs_up_rest(const gpu_graph &g, const u64 *rest, const u32 *frontier, u32 *visited, u32 *level,
				   u32 next, u32 *frontier_next)
{
	const u64 count = counters_of(g)->items;
	found_up f = { visited, frontier_next, level, next, 0, 0 };
	tally t = { 0, 0 };

	for (u64 i = thread_id() / 32; i < count; i += thread_count() / 32) {
		const u32 v = (u32)rest[i];
		const u64 s = row_at(g, v), e = row_at(g, v + 1ull);
		bool found = false;

		for (u64 at = s + SEARCHED; at < e && !found; at += 32) {
			const u64 mine = at + lane_id();

			found = __any_sync(ALL_LANES, mine < e && bit_at(frontier, target_of<R>(g, entry_at<R>(g, mine < e ? mine : s))));
			count_sectors<R, no_weight>(g, t, at, e < at + 32 ? e : at + 32);
		}
		if (found && !lane_id())
			take_found(g, f, v);
	}
	count_reached(g, warp_sum(f.vertices), warp_sum(f.edges));
	report(g, t);
}

#define BFS_IN_PLACE(R, width)                                                                     \
	extern "C" __global__ void bfs_collect_bits_##width(gpu_graph g, const u32 *bits, u32 flip, \
							    u64 *queue)                            \
	{                                                                                          \
		bfs_collect_bits<R>(g, bits, flip, queue);                                         \
	}                                                                                          \
	extern "C" __global__ void bfs_mark_##width(gpu_graph g, const u64 *queue, u64 count,      \
						    u32 *visited)                                  \
	{                                                                                          \
		bfs_mark<R>(g, queue, count, visited);                                             \
	}                                                                                          \
	extern "C" __global__ void bfs_up_first_##width(gpu_graph g, const u32 *frontier, u32 *visited, \
							u32 *level, u32 next, u32 *frontier_next,  \
							u64 *left)                                 \
	{                                                                                          \
		bfs_up_first<R>(g, frontier, visited, level, next, frontier_next, left);           \
	}                                                                                          \
	extern "C" __global__ void bfs_up_next_##width(gpu_graph g, const u64 *left,               \
						       const u32 *frontier, u32 *visited, u32 *level, \
						       u32 next, u32 *frontier_next, u64 *rest)    \
	{                                                                                          \
		bfs_up_next<R>(g, left, frontier, visited, level, next, frontier_next, rest);      \
	}                                                                                          \
	extern "C" __global__ void bfs_up_rest_##width(gpu_graph g, const u64 *rest,               \
						       const u32 *frontier, u32 *visited, u32 *level, \
						       u32 next, u32 *frontier_next)               \
	{                                                                                          \
		bfs_up_rest<R>(g, rest, frontier, visited, level, next, frontier_next);            \
	}

BFS_IN_PLACE(u32, 4)
BFS_IN_PLACE(u64, 8)

#endif
