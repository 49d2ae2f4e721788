/* SPDX-License-Identifier: MIT */
/*
 * Direction-optimizing breadth-first search (Beamer, Asanovic, Patterson, "Direction-Optimizing
 * Breadth-First Search", 2012). Top-down: a queue of work items divides long lists among warps; a
 * short list costs one read of a warp. Bottom-up: unvisited vertices check their cached neighbours
 * first, 32 vertices per bitmap word. Only vertices without a hit read their lists over the link,
 * line by line, until the first hit.
 * Lists on the card are searched in place (bfs_card.cuh).
 */
#ifndef GTU_CUDA_BFS_CUH
#define GTU_CUDA_BFS_CUH

#include "compressed.cuh"
#include "loop.cuh"

/* Add vertices reached by this warp, and the sum of their degrees, to the counters. */
__device__ static inline void count_reached(const gpu_graph &g, u64 vertices, u64 edges)
{
	if (!lane_id() && vertices) {
		add(&counters_of(g)->vertices, vertices);
		add(&counters_of(g)->edges, edges);
	}
}

/* A bit for each vertex without edges. */
extern "C" __global__ void bfs_isolated(gpu_graph g, u32 *isolated)
{
	u64 v, padded = (g.n + 31) & ~31ull;

	for (v = thread_id(); v < padded; v += thread_count()) {
		u32 word = __ballot_sync(ALL_LANES, v >= g.n || row_at(g, v) == row_at(g, v + 1));

		if (!lane_id())
			isolated[v >> 5] = word;
	}
}

/* Initialize visited: the vertices of @isolated count as visited, unless it is 0. */
extern "C" __global__ void bfs_begin(gpu_graph g, u32 *visited, const u32 *isolated)
{
	const u64 words = (g.n + 31) / 32;

	for (u64 i = thread_id(); i < words; i += thread_count())
		visited[i] = isolated ? isolated[i] : i == words - 1 && g.n % 32 ? ALL_LANES << g.n % 32 : 0;
}

extern "C" __global__ void bfs_bits(gpu_graph g, const u32 *level, u32 now, u32 *bits)
{
	u64 v, padded = (g.n + 31) & ~31ull;

	for (v = thread_id(); v < padded; v += thread_count()) {
		u32 word = __ballot_sync(ALL_LANES, v < g.n && level[v] == now);

		if (!lane_id())
			bits[v >> 5] = word;
	}
}

/* Begin at @source, and queue its items. */
template <typename R>
__device__ static void bfs_start(const gpu_graph &g, u32 source, u32 *visited, u32 *level, u64 *queue)
{
	u64 s, e, i;
	u32 items;

	edges_of(g, source, &s, &e);
	items = items_of<R>(s, e);
	for (i = thread_id(); i < items; i += thread_count())
		queue[i] = i << 32 | source;
	if (thread_id())
		return;
	visited[source >> 5] |= 1u << (source & 31);
	if (level)
		level[source] = 0;
	counters_of(g)->items = items;
}

/* Claim the unvisited among a lane's @N entries by @mask for level @next, and queue their items. */
template <typename R, u32 N>
__device__ static inline void claim(const gpu_graph &g, u32 mask, const R *entry, u32 *visited, u32 *level, u32 next,
				    stage &q, u64 &vertices, u64 &edges)
{
	u32 to[N], word[N], items = 0, i, pieces;
	u64 s[N], e[N], at;
	bool staged;

	/* independent accesses together: each takes a trip to memory */
#pragma unroll
	for (i = 0; i < N; i++) {
		to[i] = mask >> i & 1 ? target_of<R>(g, entry[i]) : 0;
		word[i] = mask >> i & 1 ? visited[to[i] >> 5] : ALL_LANES;
	}
#pragma unroll
	for (i = 0; i < N; i++)
		if (!(word[i] >> (to[i] & 31) & 1))
			word[i] = atomicOr(&visited[to[i] >> 5], 1u << (to[i] & 31));
#pragma unroll
	for (i = 0; i < N; i++) {
		s[i] = e[i] = 0;
		if (word[i] >> (to[i] & 31) & 1)
			mask &= ~(1u << i);
		else
			edges_of(g, to[i], &s[i], &e[i]);
	}
	if (!__any_sync(ALL_LANES, mask))
		return;
#pragma unroll
	for (i = 0; i < N; i++) {
		if (mask >> i & 1 && level)
			level[to[i]] = next;
		vertices += mask >> i & 1;
		edges += e[i] - s[i];
		items += items_of<R>(s[i], e[i]);
	}
	at = stage_reserve(q, items, &staged);
#pragma unroll
	for (i = 0; i < N; i++) {
		pieces = items_of<R>(s[i], e[i]);
		put_items(staged ? q.slots : q.queue, at, to[i], pieces);
		at += pieces;
	}
}

template <typename R>
__device__ static void bfs_top_down(const gpu_graph &g, const u64 *queue, u64 count, u32 *visited,
				u32 *level, u32 next, u64 *out)
{
	stage q = stage_of(out, &counters_of(g)->items);
	u64 vertices = 0, edges = 0;
	tally t = { 0, 0 };

	each_in_order(g, count, [&](u64 i) {
		const u64 item = queue[i];

		batches<R, no_weight>::walk(g, (u32)item, (u32)(item >> 32), t, [&](u32 mask, const R *entry, const no_weight *) {
			claim<R, batches<R, no_weight>::size>(g, mask, entry, visited, level, next, q, vertices, edges);
		});
	});
	stage_flush(q);
	count_reached(g, warp_sum(vertices), warp_sum(edges));
	report(g, t);
}

/*
 * Bottom-up step over the cache. Vertices that may still have a neighbour in the frontier go to
 * @left.
 */
extern "C" __global__ void bfs_bottom_up_cached(gpu_graph g, const u32 *frontier, u32 *visited, u32 *level,
				       u32 next, u32 *frontier_next, u64 *left)
{
	const u32 *cache = (const u32 *)g.cache;
	u64 v, padded = (g.end + 31) & ~31ull, vertices = 0, edges = 0, degree;

	for (v = (g.first & ~31ull) + thread_id(); v < padded; v += thread_count()) {
		u32 word = visited[v >> 5], found = 0, i, u, k = v < g.cache_end ? g.cache_degree : 0;
		bool asks = !(word >> lane_id() & 1);

		if (word == ALL_LANES) {
			if (!lane_id())
				frontier_next[v >> 5] = 0;
			continue;
		}
		degree = asks ? row_at(g, v + 1) - row_at(g, v) : 0;
		if (asks && k == 4) {
			uint4 four = ((const uint4 *)cache)[v];

			found = (four.x != GPU_NO_VERTEX && bit_at(frontier, four.x)) ||
				(four.y != GPU_NO_VERTEX && bit_at(frontier, four.y)) ||
				(four.z != GPU_NO_VERTEX && bit_at(frontier, four.z)) ||
				(four.w != GPU_NO_VERTEX && bit_at(frontier, four.w));
		} else if (asks) {
			for (i = 0; i < k && !found; i++) {
				u = cache[v * k + i];
				found = u != GPU_NO_VERTEX && bit_at(frontier, u);
			}
		}
		if (found) {
			level[v] = next;
			vertices++;
			edges += degree;
		}
		found = __ballot_sync(ALL_LANES, found);
		if (!lane_id()) {
			frontier_next[v >> 5] = found;
			if (found)
				visited[v >> 5] = word | found;
		}
		push_warp(left, &counters_of(g)->left, (u32)v,
			  asks && !(found >> lane_id() & 1) && degree > k);
	}
	count_reached(g, warp_sum(vertices), warp_sum(edges));
}

/* Search a plain list line by line. */
template <typename R>
__device__ static inline bool list_hits(const gpu_graph &g, u64 v, const u32 *bits, tally &t)
{
	const u64 line = 128 / sizeof(R), s = row_at(g, v), e = row_at(g, v + 1);
	u64 at, mine;
	bool hit;

	for (at = s & ~(line - 1); at < e; at += 32) {
		mine = at + lane_id();
		hit = mine >= s && mine < e && bit_at(bits, target_of<R>(g, entry_at<R>(g, mine)));
		count_sectors<R, no_weight>(g, t, at > s ? at : s, e < at + 32 ? e : at + 32);
		if (__any_sync(ALL_LANES, hit))
			return true;
	}
	return false;
}
template <>
__device__ inline bool list_hits<compressed>(const gpu_graph &g, u64 v, const u32 *bits, tally &t)
{
	return compressed_hits(g, v, bits, t);
}

template <typename R>
__device__ static void bfs_bottom_up_list(const gpu_graph &g, const u64 *left, u64 count,
				  const u32 *frontier, u32 *visited, u32 *level, u32 next,
				  u32 *frontier_next)
{
	u64 vertices = 0, edges = 0;
	tally t = { 0, 0 };

	each_in_order(g, count, [&](u64 i) {
		const u32 v = (u32)left[i];

		if (list_hits<R>(g, v, frontier, t)) {
			vertices++;
			edges += row_at(g, v + 1ull) - row_at(g, v);
			if (!lane_id()) {
				level[v] = next;
				atomicOr(&visited[v >> 5], 1u << (v & 31));
				atomicOr(&frontier_next[v >> 5], 1u << (v & 31));
			}
		}
	});
	count_reached(g, vertices, edges);
	report(g, t);
}

#define BFS_KERNELS(R, width)                                                                      \
	extern "C" __global__ void bfs_start_##width(gpu_graph g, u32 source, u32 *visited,        \
						     u32 *level, u64 *queue)                       \
	{                                                                                          \
		bfs_start<R>(g, source, visited, level, queue);                                    \
	}                                                                                          \
	extern "C" __global__ void bfs_top_down_##width(gpu_graph g, const u64 *queue, u64 count,      \
						    u32 *visited, u32 *level, u32 next, u64 *out)  \
	{                                                                                          \
		bfs_top_down<R>(g, queue, count, visited, level, next, out);                           \
	}                                                                                          \
	extern "C" __global__ void bfs_bottom_up_list_##width(gpu_graph g, const u64 *left, u64 count,     \
						      const u32 *frontier, u32 *visited,           \
						      u32 *level, u32 next, u32 *frontier_next)    \
	{                                                                                          \
		bfs_bottom_up_list<R>(g, left, count, frontier, visited, level, next, frontier_next);      \
	}

BFS_KERNELS(u32, 4)
BFS_KERNELS(u64, 8)
BFS_KERNELS(compressed, compressed)

/*
 * Fill the cache: for each vertex, the neighbours of highest degree among about the first
 * GPU_CACHE_CANDIDATES. Each lane keeps its best candidate, which is exact for lists of up to 32. A hub
 * is the neighbour most likely in a frontier, and links the vertex to the giant component.
 */
template <typename R> __device__ static void cache_fill(const gpu_graph &g, u32 *cache)
{
	u32 k = g.cache_degree, i, item, items;
	tally t = { 0, 0 };
	u64 v, s, e;

	for (v = thread_id() / 32; v < g.cache_end; v += thread_count() / 32) {
		u64 best = 0;

		edges_of(g, v, &s, &e);
		items = items_of<R>(s, e < s + GPU_CACHE_CANDIDATES ? e : s + GPU_CACHE_CANDIDATES);
		for (item = 0; item < items; item++)
			walk_item<R, no_weight>(g, v, item, t, [&](bool valid, R entry, no_weight) {
				u32 to = target_of<R>(g, entry);
				u64 degree = valid ? row_at(g, to + 1ull) - row_at(g, to) : 0, key;

				if (degree > 0xfffffffe)
					degree = 0xfffffffe;
				key = valid ? (degree + 1) << 32 | to : 0;
				if (key > best)
					best = key;
			});
		for (i = 0; i < k; i++) {
			u64 max = best;

			for (int d = 16; d; d >>= 1) {
				u64 other = __shfl_xor_sync(ALL_LANES, max, d);

				max = other > max ? other : max;
			}
			if (!lane_id())
				cache[v * k + i] = max ? (u32)max : GPU_NO_VERTEX;
			if (best == max)
				best = 0;
		}
	}
}

extern "C" __global__ void cache_fill_4(gpu_graph g, u32 *cache)
{
	cache_fill<u32>(g, cache);
}

extern "C" __global__ void cache_fill_8(gpu_graph g, u32 *cache)
{
	cache_fill<u64>(g, cache);
}

extern "C" __global__ void cache_fill_compressed(gpu_graph g, u32 *cache)
{
	cache_fill<compressed>(g, cache);
}

#endif
