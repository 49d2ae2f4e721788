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

/*
 * Take the vertices with @k neighbours or fewer out of @rest, or of all vertices (@rest 0). With @kept, copy
 * the others to @keep. *least: the fewest neighbours of any other.
 */
template <typename R>
__device__ static void cores_take(const gpu_graph &g, const u32 *rest, u64 rests, const u32 *left, u32 *core, u32 k,
				  u64 *out, uint64_t *fill, uint64_t *least, u32 *keep, uint64_t *kept, struct gpu_level *log)
{
	u64 vertices = 0, min = ~0ull, base, at;

	for (base = thread_id() & ~31ull; base < rests; base += thread_count()) {
		bool stays = base + lane_id() < rests, due;
		const u32 v = !stays ? 0 : rest ? rest[base + lane_id()] : (u32)(base + lane_id());
		u32 count = 0;

		stays = stays && core[v] == NO_CORE;
		if (stays)
			count = left[v];
		due = stays && count <= k;
		stays = stays && !due;
		if (due)
			core[v] = k;
		if (stays && count < min)
			min = count;
		vertices += due;
		push_warp(out, fill, v, due ? items_of_vertex<R>(g, v) : 0);
		if (!kept)
			continue;
		at = reserve(kept, stays);
		if (stays)
			keep[at] = v;
	}
	count_lanes(&log->vertices, vertices);
	min = warp_min(min);
	if (!lane_id() && min != ~0ull)
		atomicMin((ull *)least, (ull)min);
}

/* Take the removed vertices from their neighbours' counts, and remove those that fall to @k. */
template <typename R>
__device__ static void cores_peel(const gpu_graph &g, const u64 *queue, u64 count, u32 *left, u32 *core, u32 k, u64 *out,
				  uint64_t *fill, tally &t, struct gpu_level *log)
{
	u64 vertices = 0;

	each_item(queue, count, t, [&](u32 v, u32 chunk, tally &t) {
		walk_item<R, no_weight>(g, v, chunk, t, [&](bool valid, R entry, no_weight) {
			const u32 to = target_of<R>(g, entry);
			/* one decrement sees k + 1; later ones do no harm */
			const bool falls = valid && *(volatile u32 *)&core[to] == NO_CORE && atomicAdd(&left[to], 0u - 1) == k + 1;

			if (falls)
				core[to] = k;
			vertices += falls;
			push_warp(out, fill, to, falls ? items_of_vertex<R>(g, to) : 0);
		});
	});
	count_lanes(&log->vertices, vertices);
}

/*
 * Remove vertices in rounds until none of @remaining is left, @steps are done or enough is read; @k: the
 * least core number from here on. A round takes the @count items of @queue from the counts or, where there
 * are none, the vertices that are due. Those that stay are listed anew in @rest (n / 2, then n / 4)
 * whenever half are removed. log[i], zero before: the vertices and items of a round.
 */
template <typename R>
__device__ static void cores_rounds(const gpu_graph &g, u32 *left, u32 *core, u64 *queue, u64 *other, u64 count,
				    u64 remaining, u32 k, u32 *rest, u32 steps, struct gpu_level *log)
{
	struct gpu_loop *loop = loop_of(g);
	u32 *listed = NULL, *keep = rest, epoch = 0, step, takes = 0, next = count ? k + 1 : k;
	u64 rests = g.n, work = 0;
	tally t = { 0, 0 };

	if (!thread_id())
		loop->min[0] = ~0ull;
	grid_barrier(&loop->arrived, epoch);
	for (step = 0; remaining && step < steps && work < GPU_LOOP_WORK; step++) {
		uint64_t *fill = &loop->items[(step + 1) % 3], *least = &loop->min[takes % 3], *kept = &loop->far[takes % 3];
		const bool takes_now = !count, lists = remaining <= rests / 2;
		u64 removed, *swap = queue;

		if (!thread_id()) {
			loop->items[(step + 2) % 3] = 0;
			log[step].edges = count;
		}
		if (takes_now) {
			if (!thread_id()) {
				loop->min[(takes + 1) % 3] = ~0ull;
				loop->far[(takes + 1) % 3] = 0;
			}
			k = next;
			cores_take<R>(g, listed, rests, left, core, k, other, fill, least, keep, lists ? kept : NULL, &log[step]);
		} else {
			cores_peel<R>(g, queue, count, left, core, k, other, fill, t, &log[step]);
		}
		grid_barrier(&loop->arrived, epoch);
		removed = settled(&log[step].vertices);
		if (takes_now) {
			next = removed ? k + 1 : (u32)settled(least);
			takes++;
		}
		if (takes_now && lists) {
			rests = settled(kept);
			listed = keep;
			keep = keep == rest ? rest + g.n / 2 : rest;
		}
		work += count;
		remaining -= removed;
		count = settled(fill);
		queue = other;
		other = swap;
	}
	if (!thread_id()) {
		loop->steps = step;
		loop->bound = count ? k : next;
	}
	report(g, t);
}

#define CORES_KERNELS(R, format)                                                                   \
	extern "C" __global__ void cores_loops_##format(gpu_graph g, const u64 *queue, u64 count,  \
							u32 *left)                                 \
	{                                                                                          \
		cores_loops<R>(g, queue, count, left);                                             \
	}                                                                                          \
	extern "C" __global__ void cores_rounds_##format(gpu_graph g, u32 *left, u32 *core,        \
							 u64 *queue, u64 *other, u64 count,        \
							 u64 remaining, u32 k, u32 *rest,          \
							 u32 steps, struct gpu_level *log)         \
	{                                                                                          \
		cores_rounds<R>(g, left, core, queue, other, count, remaining, k, rest, steps, log); \
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

__device__ static inline u32 lowest_bit(u64 x)
{
	return (u32)((u32)x ? __ffs((int)(u32)x) : 32 + __ffs((int)(u32)(x >> 32))) - 1;
}

/* The colors from @base on of the neighbours in a piece, in all lanes: a set bit is one in use. */
template <typename R>
__device__ static inline u64 colors_used(const gpu_graph &g, u32 v, u32 chunk, u32 base, const u32 *color, tally &t)
{
	u64 mask = 0;

	walk_item<R, no_weight>(g, v, chunk, t, [&](bool valid, R entry, no_weight) {
		const u32 used = valid ? *(volatile const u32 *)&color[target_of<R>(g, entry)] : UNCOLORED;

		if (used != UNCOLORED && used - base < COLOR_WINDOW)
			mask |= 1ull << (used - base);
	});
	for (int d = 16; d; d >>= 1)
		mask |= __shfl_xor_sync(ALL_LANES, mask, d);
	return mask;
}

/* The queue that a round of coloring fills; *longs: it has vertices of several items. */
struct color_queue {
	u64 *out;
	uint64_t *fill, *longs;
};

/* Count down for the later neighbours, and queue those that wait for no other. */
template <typename R>
__device__ static inline void color_release(const gpu_graph &g, u32 v, u32 chunk, const u64 *key, u32 *waiting,
					    const color_queue &q, tally &t)
{
	walk_item<R, no_weight>(g, v, chunk, t, [&](bool valid, R entry, no_weight) {
		const u32 to = target_of<R>(g, entry);
		const bool last = valid && to != v && colors_before(key, v, to) && atomicAdd(&waiting[to], 0u - 1) == 1;
		const u32 items = last ? items_of_vertex<R>(g, to) : 0;

		if (items > 1)
			*q.longs = 1;
		push_warp(q.out, q.fill, to, items);
	});
}

/*
 * Color the vertices of several items, whose neighbours' colors of the first window are in @taken. A set
 * bit there is a color in use in every other window, a free one in those between: a full window is an
 * empty one for the next.
 */
template <typename R>
__device__ static void color_longs(const gpu_graph &g, const u64 *queue, u64 count, const u64 *key, u32 *waiting,
				   u32 *color, u64 *taken, const color_queue &q, u32 &epoch, u32 &windows, tally &t,
				   u64 &vertices)
{
	struct gpu_loop *loop = loop_of(g);
	bool inverted = false;
	u32 base = 0;

	for (;;) {
		uint64_t *full = &loop->min[windows % 3];

		if (!thread_id())
			loop->min[(windows + 1) % 3] = 0;
		each_item(queue, count, t, [&](u32 v, u32 chunk, tally &t) {
			u64 free_ones;

			/* colored by an earlier window */
			if (items_of_vertex<R>(g, v) < 2 || *(volatile u32 *)&color[v] < base)
				return;
			free_ones = inverted ? *(volatile u64 *)&taken[v] : ~*(volatile u64 *)&taken[v];
			if (!free_ones) {
				*full = 1;
				return;
			}
			if (!chunk && !lane_id()) {
				color[v] = base + lowest_bit(free_ones);
				vertices++;
			}
			color_release<R>(g, v, chunk, key, waiting, q, t);
		});
		grid_barrier(&loop->arrived, epoch);
		windows++;
		if (!settled(full))
			return;
		base += COLOR_WINDOW;
		inverted = !inverted;
		each_item(queue, count, t, [&](u32 v, u32 chunk, tally &t) {
			u64 mask;

			if (items_of_vertex<R>(g, v) < 2 || color[v] < base)
				return;
			mask = colors_used<R>(g, v, chunk, base, color, t);
			if (!lane_id() && mask && inverted)
				atomicAnd((ull *)&taken[v], (ull)~mask);
			else if (!lane_id() && mask)
				atomicOr((ull *)&taken[v], (ull)mask);
		});
		grid_barrier(&loop->arrived, epoch);
	}
}

/*
 * Color in rounds until no vertex is ready, @steps are done or enough is read. The ready vertices, the
 * @count items of @queue, are no neighbours of each other. A warp colors a vertex of one item.
 */
template <typename R>
__device__ static void color_rounds(const gpu_graph &g, const u64 *key, u32 *waiting, u32 *color, u64 *taken,
				    u64 *queue, u64 *other, u64 count, u32 steps)
{
	struct gpu_loop *loop = loop_of(g);
	u64 work = 0, vertices = 0, longs = 1;
	u32 epoch = 0, step, windows = 0;
	tally t = { 0, 0 };

	for (step = 0; count && step < steps && work < GPU_LOOP_WORK; step++) {
		const color_queue q = { other, &loop->items[(step + 1) % 3], &loop->far[(step + 1) % 3] };
		u64 *swap = queue;

		if (!thread_id()) {
			loop->items[(step + 2) % 3] = 0;
			loop->far[(step + 2) % 3] = 0;
		}
		each_item(queue, count, t, [&](u32 v, u32 chunk, tally &t) {
			const bool alone = items_of_vertex<R>(g, v) == 1;
			u32 base = 0;
			u64 mask;

			while (!~(mask = colors_used<R>(g, v, chunk, base, color, t)) && alone)
				base += COLOR_WINDOW;
			if (!alone) {
				if (!lane_id() && mask)
					atomicOr((ull *)&taken[v], (ull)mask);
				return;
			}
			if (!lane_id()) {
				color[v] = base + lowest_bit(~mask);
				vertices++;
			}
			color_release<R>(g, v, chunk, key, waiting, q, t);
		});
		grid_barrier(&loop->arrived, epoch);
		if (longs)
			color_longs<R>(g, queue, count, key, waiting, color, taken, q, epoch, windows, t, vertices);
		work += count;
		count = settled(q.fill);
		longs = settled(q.longs);
		queue = other;
		other = swap;
	}
	if (!thread_id())
		loop->steps = step;
	count_vertices(g, vertices);
	report(g, t);
}

#define COLOR_KERNELS(R, format)                                                                   \
	extern "C" __global__ void color_count_##format(gpu_graph g, const u64 *queue, u64 count,  \
							const u64 *key, u32 *waiting)              \
	{                                                                                          \
		color_count<R>(g, queue, count, key, waiting);                                     \
	}                                                                                          \
	extern "C" __global__ void color_rounds_##format(gpu_graph g, const u64 *key, u32 *waiting, \
							 u32 *color, u64 *taken, u64 *queue,       \
							 u64 *other, u64 count, u32 steps)         \
	{                                                                                          \
		color_rounds<R>(g, key, waiting, color, taken, queue, other, count, steps);        \
	}

VISIT_FORMATS(COLOR_KERNELS)

#endif
