/* SPDX-License-Identifier: MIT */
/*
 * Direction-optimizing breadth-first search (Beamer, Asanovic, Patterson, "Direction-Optimizing
 * Breadth-First Search", 2012). Top-down: a queue of work items divides long lists among warps; a
 * short list costs one read of a warp. Bottom-up: unvisited vertices check their cached neighbours
 * first, 32 vertices per bitmap word. Only vertices without a hit read their lists over the link,
 * line by line, until the first hit. Before, a part of a large frontier is pushed, while a line of its lists
 * reaches more vertices than a line of theirs.
 * Lists on the card are searched in place (bfs_card.cuh).
 */
#ifndef GTU_CUDA_BFS_CUH
#define GTU_CUDA_BFS_CUH

#include "compressed.cuh"
#include "loop.cuh"

#define BFS_PUSHED	4096u		/* entries of the longest list that a step bottom-up pushes */

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

/* Whether one of the @k cached neighbours of vertex @v has a bit. */
__device__ static inline bool cache_hits(const u32 *cache, u64 v, u32 k, const u32 *bits)
{
	if (k == 4) {
		const uint4 four = ((const uint4 *)cache)[v];

		return (four.x != GPU_NO_VERTEX && bit_at(bits, four.x)) || (four.y != GPU_NO_VERTEX && bit_at(bits, four.y)) ||
		       (four.z != GPU_NO_VERTEX && bit_at(bits, four.z)) || (four.w != GPU_NO_VERTEX && bit_at(bits, four.w));
	}
	for (u32 i = 0; i < k; i++)
		if (cache[v * k + i] != GPU_NO_VERTEX && bit_at(bits, cache[v * k + i]))
			return true;
	return false;
}

/* Whether the 32 vertices from @v on have some of the run's range. */
__device__ static inline bool is_own(const gpu_graph &g, u64 v)
{
	return v + 31 >= g.first && v < g.end;
}

/*
 * Bottom-up step over the cache. Vertices that may still have a neighbour in the frontier go to
 * @left.
 */
extern "C" __global__ void bfs_bottom_up_cached(gpu_graph g, const u32 *frontier, u32 *visited, u32 *level,
				       u32 next, u32 *frontier_next, u64 *left)
{
	const u32 *cache = (const u32 *)g.cache;
	u64 vertices = 0, edges = 0;

	each_vertices(g, [&](u64 base) {
		u32 word[GPU_WORDS], asking = 0, k;
		u64 degree[GPU_WORDS];

		/* reads of all words together */
#pragma unroll
		for (k = 0; k < GPU_WORDS; k++)
			word[k] = is_own(g, base + 32 * k) ? visited[base / 32 + k] : ALL_LANES;
#pragma unroll
		for (k = 0; k < GPU_WORDS; k++) {
			const u64 v = word[k] >> lane_id() & 1 ? 0 : base + 32 * k + lane_id();

			degree[k] = row_at(g, v + 1) - row_at(g, v);
		}
#pragma unroll
		for (k = 0; k < GPU_WORDS; k++) {
			const u64 v = base + 32 * k + lane_id();
			const u32 cached = v < g.cache_end ? g.cache_degree : 0;
			const bool asks = !(word[k] >> lane_id() & 1), found = asks && cache_hits(cache, v, cached, frontier);
			const u32 hits = __ballot_sync(ALL_LANES, found);

			if (found) {
				level[v] = next;
				vertices++;
				edges += degree[k];
			}
			if (!lane_id() && is_own(g, base + 32 * k))
				frontier_next[base / 32 + k] = hits;
			if (!lane_id() && hits)
				visited[base / 32 + k] = word[k] | hits;
			asking |= (u32)(asks && !found && degree[k] > cached) << k;
		}
		push_words(left, &counters_of(g)->left, base, asking, [](u32) { return 1u; });
	});
	count_reached(g, warp_sum(vertices), warp_sum(edges));
}

/* Search the plain list [s, e) line by line, except in line @seen. */
template <typename R>
__device__ static inline bool list_hits(const gpu_graph &g, u64 s, u64 e, const u32 *bits, u64 seen, tally &t)
{
	const u64 per = 128 / sizeof(R);
	u64 line, mine;
	bool hit;

	for (line = s / per; line * per < e; line++) {
		if (line == seen)
			continue;
		mine = line * per + lane_id();
		hit = lane_id() < per && mine >= s && mine < e && bit_at(bits, target_of<R>(g, entry_at<R>(g, mine)));
		count_sectors<R, no_weight>(g, t, line * per > s ? line * per : s, e < line * per + per ? e : line * per + per);
		if (__any_sync(ALL_LANES, hit))
			return true;
	}
	return false;
}

/* Entries of the list [s, e) in a line. */
template <typename R> __device__ static inline u64 entries_in(u64 line, u64 s, u64 e)
{
	const u64 per = 128 / sizeof(R), from = s > line * per ? s : line * per, to = e < line * per + per ? e : line * per + per;

	return to > from ? to - from : 0;
}

/* Whether a line has @enough entries of the list, or all. */
template <typename R> __device__ static inline bool has_enough(u64 line, u64 s, u64 e, u32 enough)
{
	return entries_in<R>(line, s, e) >= (e - s < enough ? e - s : enough);
}

/* The line in which to search the list [s, e) first; [s2, e2): the one searched after it, if it is not empty. */
template <typename R> __device__ static inline u64 first_line(u64 s, u64 e, u64 s2, u64 e2, u32 enough)
{
	const u64 head = s / (128 / sizeof(R)), tail = (e - 1) / (128 / sizeof(R));

	if (e2 > s2 && has_enough<R>(tail, s, e, enough) && has_enough<R>(tail, s2, e2, enough))
		return tail;
	return head + (!has_enough<R>(head, s, e, enough) && entries_in<R>(head + 1, s, e) > entries_in<R>(head, s, e));
}

/*
 * The lanes whose plain list [s, e) has an entry with a bit. The link serves requests, and a line has the end of one list and
 * the start of the next: first, each list is searched in one line, if possible in one with @enough entries of it and of the
 * list of the lane before or after it.
 */
template <typename R>
__device__ static inline u32 lists_hit(const gpu_graph &g, u64 s, u64 e, const u32 *bits, u32 enough, tally &t)
{
	const u64 per = 128 / sizeof(R), none = ~0ull;
	const u32 all = __ballot_sync(ALL_LANES, e > s);
	u64 line = none, seen = none, from = 0, to = 0;
	u32 hits = 0, owner = 32, left;
	auto search = [&](void) {
		u32 hit = owner < 32 && bit_at(bits, target_of<R>(g, entry_at<R>(g, line * per + lane_id()))) ? 1u << owner : 0;

		for (int d = 16; d; d >>= 1)
			hit |= __shfl_xor_sync(ALL_LANES, hit, d);
		hits |= hit;
		count_sectors<R, no_weight>(g, t, from, to);
	};

	for (left = all; left; left &= left - 1) {
		const u32 i = (u32)__ffs((int)left) - 1, next = left & (left - 1) ? (u32)__ffs((int)(left & (left - 1))) - 1 : i;
		const u64 si = __shfl_sync(ALL_LANES, s, i), ei = __shfl_sync(ALL_LANES, e, i),
			  sn = __shfl_sync(ALL_LANES, s, next), en = __shfl_sync(ALL_LANES, e, next);

		if (line == none || !has_enough<R>(line, si, ei, enough)) {
			search();
			line = first_line<R>(si, ei, sn, next == i ? sn : en, enough);
			from = none;
			to = 0;
			owner = 32;
		}
		from = si < from ? si : from;
		from = from > line * per ? from : line * per;
		to = ei > to ? ei : to;
		to = to < line * per + per ? to : line * per + per;
		if (lane_id() < per && line * per + lane_id() >= si && line * per + lane_id() < ei)
			owner = i;
		if (lane_id() == i)
			seen = line;
	}
	search();
	for (left = all & ~hits; left; left &= left - 1) {
		const u32 i = (u32)__ffs((int)left) - 1;

		if (list_hits<R>(g, __shfl_sync(ALL_LANES, s, i), __shfl_sync(ALL_LANES, e, i), bits,
				 __shfl_sync(ALL_LANES, seen, i), t))
			hits |= 1u << i;
	}
	return hits;
}

/* The lanes whose vertex @v has a neighbour with a bit; [s, e): its list, or an empty one. */
template <typename R>
__device__ static inline u32 vertices_hit(const gpu_graph &g, u32, u64 s, u64 e, const u32 *bits, u32 enough, tally &t)
{
	return lists_hit<R>(g, s, e, bits, enough, t);
}
template <>
__device__ inline u32 vertices_hit<compressed>(const gpu_graph &g, u32 v, u64 s, u64 e, const u32 *bits, u32, tally &t)
{
	u32 hits = 0, left = __ballot_sync(ALL_LANES, e > s);

	for (; left; left &= left - 1) {
		const u32 i = (u32)__ffs((int)left) - 1;

		if (compressed_hits(g, __shfl_sync(ALL_LANES, v, i), bits, t))
			hits |= 1u << i;
	}
	return hits;
}

/* Bottom-up step over the lists of the @count vertices of @left, @per (at most 32) by a warp. */
template <typename R>
__device__ static void bfs_bottom_up_list(const gpu_graph &g, const u64 *left, u64 groups, u64 count, u32 per, u32 enough,
				  const u32 *frontier, u32 *visited, u32 *level, u32 next,
				  u32 *frontier_next)
{
	u64 vertices = 0, edges = 0;
	tally t = { 0, 0 };

	each_in_order(g, groups, [&](u64 group) {
		const bool has = lane_id() < per && group * per + lane_id() < count;
		const u32 v = has ? (u32)left[group * per + lane_id()] : 0;
		/* it may have been pushed to */
		const bool asks = has && !bit_at(visited, v);
		const u64 s = asks ? row_at(g, v) : 0, e = asks ? row_at(g, v + 1ull) : 0;

		if (vertices_hit<R>(g, v, s, e, frontier, enough, t) >> lane_id() & 1) {
			vertices++;
			edges += e - s;
			level[v] = next;
			atomicOr(&visited[v >> 5], 1u << (v & 31));
			atomicOr(&frontier_next[v >> 5], 1u << (v & 31));
		}
		__syncwarp();
	});
	count_reached(g, warp_sum(vertices), warp_sum(edges));
	report(g, t);
}

/*
 * Reach from the run's range of the frontier, along lists of at most BFS_PUSHED entries. Bits of vertices reached are added to
 * @frontier_next.
 */
template <typename R>
__device__ static void bfs_push(const gpu_graph &g, const u32 *frontier, u32 *visited, u32 *level, u32 next, u32 *frontier_next)
{
	const u64 padded = (g.end + 31) & ~31ull;
	u64 vertices = 0, edges = 0;
	tally t = { 0, 0 };

	for (u64 v = (g.first & ~31ull) + thread_id(); v < padded; v += thread_count()) {
		u64 s = 0, e = 0;

		if (v < g.end && bit_at(frontier, (u32)v))
			edges_of(g, v, &s, &e);
		walk_together<R, no_weight>(g, s, e, e > s && e - s <= BFS_PUSHED, t, [&](bool valid, u32, R entry, no_weight) {
			const u32 to = target_of<R>(g, entry), bit = 1u << (to & 31);

			if (valid && !bit_at(visited, to) && !(atomicOr(&visited[to >> 5], bit) & bit)) {
				atomicOr(&frontier_next[to >> 5], bit);
				level[to] = next;
				vertices++;
				edges += row_at(g, to + 1ull) - row_at(g, to);
			}
			__syncwarp();
		});
	}
	count_reached(g, warp_sum(vertices), warp_sum(edges));
	report(g, t);
}

#define BFS_PUSH(R, width)                                                                         \
	extern "C" __global__ void bfs_push_##width(gpu_graph g, const u32 *frontier, u32 *visited, u32 *level, \
						    u32 next, u32 *frontier_next)                  \
	{                                                                                          \
		bfs_push<R>(g, frontier, visited, level, next, frontier_next);                     \
	}
BFS_PUSH(u32, 4)
BFS_PUSH(u64, 8)

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
	extern "C" __global__ void bfs_bottom_up_list_##width(gpu_graph g, const u64 *left, u64 groups,    \
						      u64 count, u32 per, u32 enough,              \
						      const u32 *frontier, u32 *visited,           \
						      u32 *level, u32 next, u32 *frontier_next)    \
	{                                                                                          \
		bfs_bottom_up_list<R>(g, left, groups, count, per, enough, frontier, visited, level, next, \
				      frontier_next);                                              \
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
