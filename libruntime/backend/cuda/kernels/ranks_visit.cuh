/* SPDX-License-Identifier: MIT */
/* Betweenness, core numbers, label propagation and coloring of one of several GPUs; see ranks.cuh. */
#ifndef GTU_CUDA_RANKS_VISIT_CUH
#define GTU_CUDA_RANKS_VISIT_CUH

#include "paths.cuh"
#include "peel.cuh"
#include "ranks.cuh"

/*
 * ---- Betweenness: levels, paths and shares of all vertices ------------------------------------------
 *
 * Of another rank's vertex a rank has the level at which it saw it first, the paths that its own edges
 * lead there, and on the way back what the owner replies. An element of a message is a number and a double. The
 * outbox keeps the elements of all levels: a reply overwrites them.
 */
#define PATHS_WORDS	3u

__device__ static inline double double_at(const u32 *element)
{
	return __longlong_as_double((long long)(element[1] | (u64)element[2] << 32));
}

__device__ static inline void put_double(u32 *element, double x)
{
	const u64 bits = (u64)__double_as_longlong(x);

	element[1] = (u32)bits;
	element[2] = (u32)(bits >> 32);
}

/* As paths_count(); others' vertices go to the outbox. */
template <typename R>
__device__ static void ranks_count(const gpu_graph &g, const u64 *queue, u64 count, u32 *level, u32 next, double *paths,
				   u64 *out, const u64 *cut, u32 ranks, uint64_t *sent, u32 *outbox)
{
	u64 vertices = 0;

	each_item(g, queue, count, [&](u32 v, u32 chunk, tally &t) {
		const double own = paths[v];

		walk_item<R, no_weight>(g, v, chunk, t, [&](bool valid, R entry, no_weight) {
			const u32 to = target_of<R>(g, entry), was = valid ? reach(level, to, next) : 0;
			const bool found = valid && was == GPU_UNREACHED, mine = owns(g, to);

			if (valid && (found || was == next))
				atomicAdd(&paths[to], own);
			vertices += found && mine;
			push_warp(out, &counters_of(g)->items, to, found && mine ? items_of_vertex<R>(g, to) : 0);
			send_warp(cut, ranks, sent, to, found && !mine,
				  [&](u64 at, u32 id) { outbox[PATHS_WORDS * at] = id; });
		});
	});
	count_vertices(g, vertices);
}

/* Complete elements by the @paths of their owner's vertices. */
extern "C" __global__ void ranks_give_paths(u32 *elements, u64 count, const double *paths)
{
	for (u64 i = thread_id(); i < count; i += thread_count())
		put_double(elements + PATHS_WORDS * i, paths[elements[PATHS_WORDS * i]]);
}

/* Add the paths that another rank sent to own vertices. counters.changed: a number is bad. */
template <typename R>
__device__ static void ranks_take_paths(const gpu_graph &g, const u32 *elements, u64 count, u32 *level, u32 next,
					double *paths, u64 *out)
{
	u64 i, vertices = 0, padded = (count + 31) & ~31ull;

	for (i = thread_id(); i < padded; i += thread_count()) {
		const u32 *element = elements + PATHS_WORDS * i;
		const bool valid = i < count && *element < g.end - g.first;
		const u32 v = valid ? (u32)g.first + *element : 0, was = valid ? reach(level, v, next) : 0;
		const bool found = valid && was == GPU_UNREACHED;

		if (i < count && !valid)
			counters_of(g)->changed = 1;
		if (valid && (found || was == next))
			atomicAdd(&paths[v], double_at(element));
		vertices += found;
		push_warp(out, &counters_of(g)->items, v, found ? items_of_vertex<R>(g, v) : 0);
	}
	count_vertices(g, vertices);
}

/* The reply to the elements of a level: what an own vertex passes back along an edge; 0 for one of an earlier level. */
extern "C" __global__ void ranks_give_shares(gpu_graph g, u32 *elements, u64 count, const u32 *level, u32 next,
					     const double *paths, const double *share)
{
	for (u64 i = thread_id(); i < count; i += thread_count()) {
		const u64 v = g.first + elements[PATHS_WORDS * i];

		put_double(elements + PATHS_WORDS * i, v < g.end && level[v] == next ? (1 + share[v]) / paths[v] : 0);
	}
}

/* Take replies for vertices of a range of @range. */
extern "C" __global__ void ranks_take_shares(const u32 *elements, u64 count, double *share, u64 range)
{
	for (u64 i = thread_id(); i < count; i += thread_count())
		if (elements[PATHS_WORDS * i] < range)
			share[elements[PATHS_WORDS * i]] = double_at(elements + PATHS_WORDS * i);
}

/* As paths_depend(); the share of another rank's vertex is what its owner replied. */
template <typename R>
__device__ static void ranks_depend(const gpu_graph &g, const u64 *queue, u64 count, const u32 *level, u32 next,
				    const double *paths, double *share)
{
	add_shares<R>(g, queue, count, level, next, paths, share, [&](double own, u32 to) {
		return owns(g, to) ? own / paths[to] * (1 + share[to]) : own * share[to];
	});
}

/* Add the shares of own vertices to the scores; counters.changed: a number of paths is infinite. */
extern "C" __global__ void ranks_score(gpu_graph g, u32 source, const double *paths, const double *share, double *score)
{
	for (u64 v = g.first + thread_id(); v < g.end; v += thread_count()) {
		if (paths[v] > 1.7976931348623157e308)
			counters_of(g)->changed = 1;
		if (v != source)
			score[v - g.first] += share[v];
	}
}

#define RANKS_PATHS(R, format)                                                                     \
	extern "C" __global__ void ranks_count_##format(                                           \
		gpu_graph g, const u64 *queue, u64 count, u32 *level, u32 next, double *paths, u64 *out, \
		const u64 *cut, u32 ranks, uint64_t *sent, u32 *outbox)                            \
	{                                                                                          \
		ranks_count<R>(g, queue, count, level, next, paths, out, cut, ranks, sent, outbox); \
	}                                                                                          \
	extern "C" __global__ void ranks_take_paths_##format(gpu_graph g, const u32 *elements, u64 count, \
							     u32 *level, u32 next, double *paths, u64 *out) \
	{                                                                                          \
		ranks_take_paths<R>(g, elements, count, level, next, paths, out);                  \
	}                                                                                          \
	extern "C" __global__ void ranks_depend_##format(gpu_graph g, const u64 *queue, u64 count, \
							 const u32 *level, u32 next,               \
							 const double *paths, double *share)       \
	{                                                                                          \
		ranks_depend<R>(g, queue, count, level, next, paths, share);                       \
	}

VISIT_FORMATS(RANKS_PATHS)

/*
 * ---- Cores: neighbours left of own vertices; of others' vertices, neighbours lost since the last message -----
 */

/* Remove the own vertices with @k neighbours or fewer. counters.left: those that stay; note_min(): the fewest neighbours of one. */
template <typename R>
__device__ static void ranks_cores_due(const gpu_graph &g, const u32 *left, u32 *core, u32 k, u64 *out)
{
	const u64 begin = g.first & ~31ull, padded = begin + ((g.end - begin + 31) & ~31ull);
	u64 v, vertices = 0, stay = 0, min = ~0ull;

	for (v = begin + thread_id(); v < padded; v += thread_count()) {
		const bool listed = owns(g, v) && core[v] == NO_CORE, due = listed && left[v] <= k;

		if (due)
			core[v] = k;
		else if (listed && left[v] < min)
			min = left[v];
		vertices += due;
		stay += listed && !due;
		push_warp(out, &counters_of(g)->items, (u32)v, due ? items_of_vertex<R>(g, (u32)v) : 0);
	}
	count_vertices(g, vertices);
	count_lanes(&counters_of(g)->left, stay);
	min = warp_min(min);
	if (!lane_id() && min != ~0ull)
		note_min(g, min);
}

/* As cores_peel(). A message has each vertex of others once. */
template <typename R>
__device__ static void ranks_cores_peel(const gpu_graph &g, const u64 *queue, u64 count, u32 *left, u32 *core, u32 k,
					u64 *out, const u64 *cut, u32 ranks, uint64_t *sent, u32 *outbox)
{
	u64 vertices = 0;

	each_item(g, queue, count, [&](u32 v, u32 chunk, tally &t) {
		walk_item<R, no_weight>(g, v, chunk, t, [&](bool valid, R entry, no_weight) {
			const u32 to = target_of<R>(g, entry);
			const bool mine = owns(g, to),
				   falls = valid && mine && *(volatile u32 *)&core[to] == NO_CORE && atomicAdd(&left[to], 0u - 1) == k + 1,
				   fresh = valid && !mine && !atomicAdd(&left[to], 1u);

			if (falls)
				core[to] = k;
			vertices += falls;
			push_warp(out, &counters_of(g)->items, to, falls ? items_of_vertex<R>(g, to) : 0);
			send_warp(cut, ranks, sent, to, fresh, [&](u64 at, u32 id) { outbox[2 * at] = id; });
		});
	});
	count_vertices(g, vertices);
}

/* Complete elements by the counts of their owner's vertices, which begin anew. */
extern "C" __global__ void ranks_give_lost(u32 *elements, u64 count, u32 *lost)
{
	for (u64 i = thread_id(); i < count; i += thread_count()) {
		elements[2 * i + 1] = lost[elements[2 * i]];
		lost[elements[2 * i]] = 0;
	}
}

/* Take the neighbours that own vertices lost, and remove those that fall to @k. counters.changed: a number is bad. */
template <typename R>
__device__ static void ranks_take_lost(const gpu_graph &g, const u32 *elements, u64 count, u32 *left, u32 *core, u32 k,
				       u64 *out)
{
	u64 i, vertices = 0, padded = (count + 31) & ~31ull;

	for (i = thread_id(); i < padded; i += thread_count()) {
		const bool valid = i < count && elements[2 * i] < g.end - g.first;
		const u32 v = valid ? (u32)g.first + elements[2 * i] : 0, lost = valid ? elements[2 * i + 1] : 0;
		bool falls = false;

		if (i < count && !valid)
			counters_of(g)->changed = 1;
		if (valid && core[v] == NO_CORE) {
			const u32 before = atomicAdd(&left[v], 0u - lost);

			falls = before > k && (lost >= before || before - lost <= k);
		}
		if (falls)
			core[v] = k;
		vertices += falls;
		push_warp(out, &counters_of(g)->items, v, falls ? items_of_vertex<R>(g, v) : 0);
	}
	count_vertices(g, vertices);
}

#define RANKS_CORES(R, format)                                                                     \
	extern "C" __global__ void ranks_cores_due_##format(gpu_graph g, const u32 *left, u32 *core, u32 k, u64 *out) \
	{                                                                                          \
		ranks_cores_due<R>(g, left, core, k, out);                                         \
	}                                                                                          \
	extern "C" __global__ void ranks_cores_peel_##format(                                      \
		gpu_graph g, const u64 *queue, u64 count, u32 *left, u32 *core, u32 k, u64 *out,   \
		const u64 *cut, u32 ranks, uint64_t *sent, u32 *outbox)                            \
	{                                                                                          \
		ranks_cores_peel<R>(g, queue, count, left, core, k, out, cut, ranks, sent, outbox); \
	}                                                                                          \
	extern "C" __global__ void ranks_take_lost_##format(gpu_graph g, const u32 *elements, u64 count, \
							    u32 *left, u32 *core, u32 k, u64 *out) \
	{                                                                                          \
		ranks_take_lost<R>(g, elements, count, left, core, k, out);                        \
	}

VISIT_FORMATS(RANKS_CORES)

/* ---- Exchange by loads ------------------------------------------------------------------------------ */

#define FETCHED 4u			/* loads under way at a time: each takes a trip over the link between the cards */

/* Copy @words words of 4 bytes from another card's memory, 16 bytes at a time if both addresses permit. */
extern "C" __global__ void ranks_fetch(u32 *to, const u32 *from, u64 words)
{
	const u64 head = (u64)to & 15 ? 4 - ((u64)to & 15) / 4 : 0, even = ((u64)to ^ (u64)from) & 15 || words < head ? 0 : (words - head) / 4;
	const uint4 *source = (const uint4 *)(from + head);
	uint4 *target = (uint4 *)(to + head), four[FETCHED];

	for (u64 i = thread_id(); i < even; i += FETCHED * thread_count()) {
#pragma unroll
		for (u32 k = 0; k < FETCHED; k++)
			if (i + k * thread_count() < even)
				four[k] = source[i + k * thread_count()];
#pragma unroll
		for (u32 k = 0; k < FETCHED; k++)
			if (i + k * thread_count() < even)
				target[i + k * thread_count()] = four[k];
	}
	/* before and after these, or all */
	for (u64 i = thread_id(); i < words - 4 * even; i += thread_count()) {
		const u64 at = !even || i < head ? i : i + 4 * even;

		to[at] = from[at];
	}
}

/* ---- Label propagation: labels of all vertices ------------------------------------------------------- */

/* Take the labels found for own vertices, as labels_take(); pairs of v - first and its label, for those that changed. */
extern "C" __global__ void ranks_take_labels(gpu_graph g, u32 *label, u64 *best, u32 *pairs, u64 most)
{
	const u64 own = g.end - g.first, padded = (own + 31) & ~31ull;

	for (u64 i = thread_id(); i < padded; i += thread_count()) {
		const u64 v = g.first + i, key = i < own ? best[v] : 0;
		const u32 found = ~(u32)key;
		const bool changed = key && found != label[v];

		if (key)
			best[v] = 0;
		if (changed)
			label[v] = found;
		put_pair_warp(g, changed, (u32)i, found, pairs, most);
	}
}

/*
 * Take the labels of another rank's @range vertices from @first on: @count pairs, or all in @labels.
 * counters.changed: a number is bad.
 */
extern "C" __global__ void ranks_settle_labels(gpu_graph g, const u32 *pairs, const u32 *labels, u64 count, u64 first,
					       u64 range, u32 *label)
{
	for (u64 i = thread_id(); i < count; i += thread_count()) {
		const u64 v = labels ? i : pairs[2 * i];
		const u32 found = labels ? labels[i] : pairs[2 * i + 1];

		if (v < range && found < g.n)
			label[first + v] = found;
		else
			counters_of(g)->changed = 1;
	}
}

/* ---- Coloring: orders and colors of all vertices ------------------------------------------------------ */

/* As color_begin(); others' vertices have no color. counters.vertices: own vertices without edges. */
extern "C" __global__ void ranks_color_begin(gpu_graph g, u64 *key, u32 *waiting, u32 *color, u64 *taken)
{
	const u64 padded = (g.n + 31) & ~31ull;
	u64 vertices = 0;

	for (u64 v = thread_id(); v < padded; v += thread_count()) {
		const bool alone = v < g.n && owns(g, v) && row_at(g, v + 1) == row_at(g, v);

		if (v < g.n) {
			waiting[v] = 0;
			color[v] = alone ? 0 : UNCOLORED;
		}
		if (v < g.n && owns(g, v)) {
			key[v] = color_key(g, v);
			taken[v] = 0;
		}
		vertices += alone;
	}
	count_vertices(g, vertices);
}

/* Mark the colors from @base on that neighbours of the queue's vertices have. @taken is as in color_longs(). */
template <typename R>
__device__ static void ranks_colors_used(const gpu_graph &g, const u64 *queue, u64 count, u32 base, u32 inverted,
					 const u32 *color, u64 *taken)
{
	each_item(g, queue, count, [&](u32 v, u32 chunk, tally &t) {
		u64 mask;

		/* colored by an earlier window */
		if (color[v] < base)
			return;
		mask = colors_used<R>(g, v, chunk, base, color, t);
		if (!lane_id() && mask && inverted)
			atomicAnd((ull *)&taken[v], (ull)~mask);
		else if (!lane_id() && mask)
			atomicOr((ull *)&taken[v], (ull)mask);
	});
}

/*
 * Give the queue's vertices the lowest free color of the window; pairs of v - first and its color, counters.left in number.
 * counters.changed: the window is full for one.
 */
extern "C" __global__ void ranks_color(gpu_graph g, const u64 *queue, u64 count, u32 base, u32 inverted, const u64 *taken,
				       u32 *color, u32 *pairs, u64 most)
{
	for (u64 i = thread_id(); i < count; i += thread_count()) {
		const u32 v = (u32)queue[i];
		u64 free_ones, at;

		if (queue[i] >> 32 || color[v] < base)
			continue;
		free_ones = inverted ? taken[v] : ~taken[v];
		if (!free_ones) {
			counters_of(g)->changed = 1;
			continue;
		}
		color[v] = base + lowest_bit(free_ones);
		at = atomicAdd((ull *)&counters_of(g)->left, 1ull);
		if (at < most) {
			pairs[2 * at] = (u32)(v - g.first);
			pairs[2 * at + 1] = color[v];
		}
	}
}

/* Count down for the later neighbours, and queue own ones that wait for no other. A message has each vertex of others once. */
template <typename R>
__device__ static void ranks_color_release(const gpu_graph &g, const u64 *queue, u64 count, const u64 *key, u32 *waiting,
					   u64 *out, const u64 *cut, u32 ranks, uint64_t *sent, u32 *outbox)
{
	each_item(g, queue, count, [&](u32 v, u32 chunk, tally &t) {
		walk_item<R, no_weight>(g, v, chunk, t, [&](bool valid, R entry, no_weight) {
			const u32 to = target_of<R>(g, entry);
			const bool later = valid && to != v && colors_before(key, v, to), mine = owns(g, to),
				   ready = later && mine && atomicAdd(&waiting[to], 0u - 1) == 1,
				   fresh = later && !mine && !atomicAdd(&waiting[to], 1u);

			push_warp(out, &counters_of(g)->items, to, ready ? items_of_vertex<R>(g, to) : 0);
			send_warp(cut, ranks, sent, to, fresh, [&](u64 at, u32 id) { outbox[2 * at] = id; });
		});
	});
}

/* Count down for own vertices by what other ranks colored. counters.changed: a number is bad. */
template <typename R>
__device__ static void ranks_color_take(const gpu_graph &g, const u32 *elements, u64 count, u32 *waiting, u64 *out)
{
	const u64 padded = (count + 31) & ~31ull;

	for (u64 i = thread_id(); i < padded; i += thread_count()) {
		const bool valid = i < count && elements[2 * i] < g.end - g.first;
		const u32 v = valid ? (u32)g.first + elements[2 * i] : 0, colored = valid ? elements[2 * i + 1] : 0,
			  before = valid ? atomicAdd(&waiting[v], 0u - colored) : 0;

		if (i < count && (!valid || !colored || colored > before))
			counters_of(g)->changed = 1;
		push_warp(out, &counters_of(g)->items, v, valid && colored && colored == before ? items_of_vertex<R>(g, v) : 0);
	}
}

#define RANKS_COLORING(R, format)                                                                  \
	extern "C" __global__ void ranks_colors_used_##format(gpu_graph g, const u64 *queue, u64 count, u32 base, \
							      u32 inverted, const u32 *color, u64 *taken) \
	{                                                                                          \
		ranks_colors_used<R>(g, queue, count, base, inverted, color, taken);               \
	}                                                                                          \
	extern "C" __global__ void ranks_color_release_##format(                                   \
		gpu_graph g, const u64 *queue, u64 count, const u64 *key, u32 *waiting, u64 *out, const u64 *cut, \
		u32 ranks, uint64_t *sent, u32 *outbox)                                            \
	{                                                                                          \
		ranks_color_release<R>(g, queue, count, key, waiting, out, cut, ranks, sent, outbox); \
	}                                                                                          \
	extern "C" __global__ void ranks_color_take_##format(gpu_graph g, const u32 *elements, u64 count, \
							     u32 *waiting, u64 *out)               \
	{                                                                                          \
		ranks_color_take<R>(g, elements, count, waiting, out);                             \
	}

VISIT_FORMATS(RANKS_COLORING)

#endif
