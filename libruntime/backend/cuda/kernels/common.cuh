/* SPDX-License-Identifier: MIT */
/* Reads of edge lists in 128-byte lines, work queues, and reductions over warps and blocks. */
#ifndef GTU_CUDA_COMMON_CUH
#define GTU_CUDA_COMMON_CUH

#include "libruntime/graph/compressed.h"
#include "libruntime/backend/cuda/kernels.h"

typedef uint32_t u32;
typedef uint64_t u64;
typedef unsigned long long ull;

#define ALL_LANES 0xffffffffu
#define LANE_ENTRIES	4		/* entries that a lane handles at a time */

__device__ static inline u32 lane_id(void)
{
	return threadIdx.x & 31;
}

__device__ static inline u64 thread_id(void)
{
	return (u64)blockIdx.x * GPU_BLOCK + threadIdx.x;
}

__device__ static inline u64 thread_count(void)
{
	return (u64)gridDim.x * GPU_BLOCK;
}

__device__ static inline struct gpu_counters *counters_of(const gpu_graph &g)
{
	return (struct gpu_counters *)g.counters;
}

__device__ static inline void add(uint64_t *to, u64 value)
{
	atomicAdd((ull *)to, (ull)value);
}

__device__ static inline void note_min(const gpu_graph &g, u64 value)
{
	atomicMax((ull *)&counters_of(g)->not_min, (ull)~value);
}

template <typename T> __device__ static inline T warp_sum(T x)
{
	for (int d = 16; d; d >>= 1)
		x += __shfl_xor_sync(ALL_LANES, x, d);
	return x;
}

/* Sum of the values of this lane and those before it. */
__device__ static inline u32 warp_prefix_sum(u32 x)
{
	for (u32 d = 1; d < 32; d <<= 1) {
		u32 other = __shfl_up_sync(ALL_LANES, x, d);

		if (lane_id() >= d)
			x += other;
	}
	return x;
}

/*
 * A decoded entry of a compressed list (compressed.cuh). Template parameter R is this type, or u32 or
 * u64 for a plain list.
 */
struct compressed {
	u32 to, weight;
};

/* ---- Rows ------------------------------------------------------------------------------------- */

__device__ static inline u64 row_at(const gpu_graph &g, u64 v)
{
	return ((const uint64_t *)g.row)[v];
}

/* The edges of @v as [*s, *e); empty outside of the run's vertex range. */
__device__ static inline void edges_of(const gpu_graph &g, u64 v, u64 *s, u64 *e)
{
	*s = row_at(g, v);
	*e = v >= g.first && v < g.end ? row_at(g, v + 1) : *s;
}

/* Number of work items of @v: pieces of its list of GPU_CHUNK bytes, from 128-byte boundaries. */
template <typename R> __device__ static inline u32 items_of(u64 s, u64 e)
{
	const u64 line = 128 / sizeof(R), per = GPU_CHUNK / sizeof(R);

	return e > s ? (u32)((e - (s & ~(line - 1)) + per - 1) / per) : 0;
}
template <> __device__ inline u32 items_of<compressed>(u64 s, u64 e)
{
	return (u32)gtu_compressed_pieces(e - s);
}

/* ---- Edge lists --------------------------------------------------------------------------------- */

template <typename R> __device__ static inline u32 target_of(const gpu_graph &g, R raw)
{
	return (u32)(raw >> g.weight_bits);
}
template <> __device__ inline u32 target_of<compressed>(const gpu_graph &, compressed raw)
{
	return raw.to;
}

template <typename R> __device__ static inline u32 packed_weight(const gpu_graph &g, R raw)
{
	return (u32)(raw & ((1u << g.weight_bits) - 1)) + g.weight_min;
}
template <> __device__ inline u32 packed_weight<compressed>(const gpu_graph &g, compressed raw)
{
	return raw.weight + g.weight_min;
}

template <typename R> __device__ static inline const R *entry_address(const gpu_graph &g, u64 e)
{
	return (const R *)(e < g.prefix_end ? g.prefix : g.list) + e;
}

template <typename R> __device__ static inline R entry_at(const gpu_graph &g, u64 e)
{
	return *entry_address<R>(g, e);
}

struct no_weight { };

template <typename W> __device__ static inline W weight_at(const gpu_graph &g, u64 e)
{
	return ((const W *)(e < g.weight_prefix_end ? g.weight_prefix : g.weight))[e];
}
template <> __device__ inline no_weight weight_at<no_weight>(const gpu_graph &, u64)
{
	return no_weight();
}

template <typename W> struct width_of { static const u32 bytes = sizeof(W); };
template <> struct width_of<no_weight> { static const u32 bytes = 0; };

/* 32-byte sectors requested by a warp; added to the run's counters at its end. */
struct tally {
	u64 list, cached;
};

template <typename R, typename W>
__device__ static inline void count_sectors(const gpu_graph &g, tally &t, u64 s, u64 e)
{
	u64 sectors;

	if (e <= s)
		return;
	sectors = (e * sizeof(R) + 31) / 32 - s * sizeof(R) / 32;
	if (width_of<W>::bytes)
		sectors += (e * width_of<W>::bytes + 31) / 32 - s * width_of<W>::bytes / 32;
	if (s < g.prefix_end)
		t.cached += sectors;
	else
		t.list += sectors;
}

/* Add a tally, equal in all lanes of the warp, to the counters. */
__device__ static inline void report(const gpu_graph &g, const tally &t)
{
	auto *to = &counters_of(g)->tally[thread_id() / 32 % GPU_TALLIES];

	if (lane_id())
		return;
	if (t.list)
		add(&to->list, t.list);
	if (t.cached)
		add(&to->cached, t.cached);
}

/*
 * Process the entries [s, e) of at most GPU_CHUNK bytes from the 128-byte boundary @base on by a warp: f(valid, at, entry,
 * weight) for 32 edges at a time, called by every lane each time. All reads are issued before the first is used, to hide the
 * latency of the link.
 */
template <typename R, typename W, typename F>
__device__ static inline void walk_entries(const gpu_graph &g, u64 base, u64 s, u64 e, tally &t, F f)
{
	const int reads = GPU_CHUNK / 32 / sizeof(R);
	const u64 end = base + GPU_CHUNK / sizeof(R), stop = e < end ? e : end;
	u64 i;
	R entry[reads];
	W weight[reads];
	int k;

	count_sectors<R, W>(g, t, s > base ? s : base, stop);
#pragma unroll
	for (k = 0; k < reads; k++) {
		i = base + k * 32 + lane_id();
		entry[k] = 0;
		if (i >= s && i < stop) {
			entry[k] = entry_at<R>(g, i);
			weight[k] = weight_at<W>(g, i);
		}
	}
#pragma unroll
	for (k = 0; k < reads; k++) {
		if (base + k * 32 >= stop)
			break;
		i = base + k * 32 + lane_id();
		f(i >= s && i < stop, i, entry[k], weight[k]);
	}
}

/*
 * The same over the lists [s, e) of those of a warp's lanes that are @wanted, which have adjacent vertices: f(valid, owner, entry,
 * weight), with the lane that has the list. Lists of adjacent vertices are adjacent, and are read as one: short ones share
 * lines, and a line each would be several times the list.
 */
template <typename R, typename W, typename F>
__device__ static inline void walk_together(const gpu_graph &g, u64 s, u64 e, bool wanted, tally &t, F f)
{
	u32 left = __ballot_sync(ALL_LANES, wanted);

	while (left) {
		const u32 first = (u32)__ffs((int)left) - 1, gap = ~(left >> first),
			  last = first + (gap ? (u32)__ffs((int)gap) - 1 : 32) - 1;
		const u64 from = __shfl_sync(ALL_LANES, s, first), to = __shfl_sync(ALL_LANES, e, last);

		for (u64 base = from & ~(u64)(128 / sizeof(R) - 1); base < to; base += GPU_CHUNK / sizeof(R))
			walk_entries<R, W>(g, base, from, to, t, [&](bool valid, u64 at, R entry, W weight) {
				u32 owner = first, step;

				for (step = 16; step; step /= 2) {
					const u64 start = __shfl_sync(ALL_LANES, s, (owner + step) & 31);

					owner += owner + step <= last && start <= at ? step : 0;
				}
				f(valid, owner, entry, weight);
			});
		left &= last == 31 ? 0 : ALL_LANES << (last + 1);
	}
}

/* Process one work item by a warp: f(valid, entry, weight), as above. */
template <typename R, typename W, typename F>
__device__ static inline void walk_plain(const gpu_graph &g, u64 v, u32 chunk, tally &t, F f)
{
	const u64 line = 128 / sizeof(R), per = GPU_CHUNK / sizeof(R);
	u64 s, e;

	edges_of(g, v, &s, &e);
	walk_entries<R, W>(g, (s & ~(line - 1)) + chunk * per, s, e, t,
			   [&](bool valid, u64, R entry, W weight) { f(valid, entry, weight); });
}

template <typename W, bool WEIGHED, typename F>
__device__ static inline void walk_piece(const gpu_graph &g, u64 v, u32 k, tally &t, F f);

template <typename R, typename W, bool WEIGHED> struct walker {
	template <typename F>
	__device__ static inline void walk(const gpu_graph &g, u64 v, u32 chunk, tally &t, F f)
	{
		walk_plain<R, W>(g, v, chunk, t, f);
	}
};
template <typename W, bool WEIGHED> struct walker<compressed, W, WEIGHED> {
	template <typename F>
	__device__ static inline void walk(const gpu_graph &g, u64 v, u32 chunk, tally &t, F f)
	{
		walk_piece<W, WEIGHED>(g, v, chunk, t, f);
	}
};

/* The same for plain and compressed lists; @WEIGHED: f uses the weight in the entry. */
template <typename R, typename W, bool WEIGHED = false, typename F>
__device__ static inline void walk_item(const gpu_graph &g, u64 v, u32 chunk, tally &t, F f)
{
	walker<R, W, WEIGHED>::walk(g, v, chunk, t, f);
}

/*
 * The same with f(mask, entries, weights): up to @size entries of every lane at a time, by @mask, so that
 * what f does with them overlaps.
 */
template <typename R, typename W> struct batches {
	static const u32 size = LANE_ENTRIES;

	template <typename F>
	__device__ static inline void walk(const gpu_graph &g, u64 v, u32 chunk, tally &t, F f)
	{
		const u64 line = 128 / sizeof(R), per = GPU_CHUNK / sizeof(R);
		const u32 reads = GPU_CHUNK / 32 / sizeof(R);
		u64 s, e, base, stop, at;
		R entry[reads];
		W weight[reads];
		u32 mask = 0, k;

		edges_of(g, v, &s, &e);
		base = (s & ~(line - 1)) + chunk * per;
		stop = e < base + per ? e : base + per;
		count_sectors<R, W>(g, t, s > base ? s : base, stop);
#pragma unroll
		for (k = 0; k < reads; k++) {
			at = base + k * 32 + lane_id();
			entry[k] = 0;
			if (at < s || at >= stop)
				continue;
			mask |= 1u << k;
			entry[k] = entry_at<R>(g, at);
			weight[k] = weight_at<W>(g, at);
		}
#pragma unroll
		for (k = 0; k < reads; k += size)
			if (base + k * 32 < stop)
				f(mask >> k & ((1u << size) - 1), entry + k, weight + k);
	}
};
template <typename W> struct batches<compressed, W> {
	static const u32 size = 1;

	template <typename F>
	__device__ static inline void walk(const gpu_graph &g, u64 v, u32 chunk, tally &t, F f)
	{
		walk_item<compressed, W, true>(g, v, chunk, t, [&](bool valid, compressed entry, W weight) {
			f(valid, &entry, &weight);
		});
	}
};

__device__ static inline bool bit_at(const u32 *bits, u32 v)
{
	return bits[v >> 5] >> (v & 31) & 1;
}

/* ---- Queues ----------------------------------------------------------------------------------- */

/*
 * f(i) for 0 to @count, items of a queue or runs of vertices, by a warp each. With a ticket counter, warps take them in order,
 * so that those under way at a time are neighbours.
 */
template <typename F> __device__ static inline void each_in_order(const gpu_graph &g, u64 count, F f)
{
	const u64 warps = thread_count() / 32;
	u64 i = thread_id() / 32, next;

	while (i < count) {
		next = i + warps;
		if (g.ticket && !lane_id())
			next = warps + atomicAdd((ull *)g.ticket, 1ull);
		f(i);
		i = __shfl_sync(ALL_LANES, next, 0);
	}
}

/*
 * f(v) for the first vertex @v of a strip of each warp, until all of the run's range are taken: by
 * blocks, in order as above. All threads of a block call this and f(), also for vertices outside the
 * range; f() has a barrier of the block, as push_words() has.
 */
template <typename F> __device__ static inline void each_vertices(const gpu_graph &g, F f)
{
	const u64 size = GPU_BLOCK / 32 * GPU_STRIP, first = g.first / size, end = (g.end + size - 1) / size;
	__shared__ u64 taken;
	u64 i = first + blockIdx.x, next;

	while (i < end) {
		next = i + gridDim.x;
		if (g.ticket && !threadIdx.x)
			next = first + gridDim.x + atomicAdd((ull *)g.ticket, 1ull);
		f(i * size + threadIdx.x / 32 * GPU_STRIP);
		if (!threadIdx.x)
			taken = next;
		__syncthreads();
		i = taken;
	}
}

#define LANE_ITEMS	8u		/* more work items of a vertex are written by all lanes: a hub has thousands */

/* Write the @items work items of vertex @v (0: none) from @queue[at] on. Called by every lane of a warp. */
__device__ static inline void put_items(u64 *queue, u64 at, u32 v, u32 items)
{
	u32 many = __ballot_sync(ALL_LANES, items > LANE_ITEMS), i;

	if (items <= LANE_ITEMS)
		for (i = 0; i < items; i++)
			queue[at + i] = (u64)i << 32 | v;
	for (; many; many &= many - 1) {
		const int lane = __ffs((int)many) - 1;
		const u32 hub = __shfl_sync(ALL_LANES, v, lane), all = __shfl_sync(ALL_LANES, items, lane);
		const u64 first = __shfl_sync(ALL_LANES, at, lane);

		for (i = lane_id(); i < all; i += 32)
			queue[first + i] = (u64)i << 32 | hub;
	}
}

/* Append the @items work items of vertex @v (0: none). Called by every lane of a warp. */
__device__ static inline void push_warp(u64 *queue, uint64_t *count, u32 v, u32 items)
{
	u32 sum;
	u64 at = 0;

	if (!__any_sync(ALL_LANES, items))
		return;
	sum = warp_prefix_sum(items);
	if (lane_id() == 31)
		at = atomicAdd((ull *)count, (ull)sum);
	put_items(queue, __shfl_sync(ALL_LANES, at, 31) + sum - items, v, items);
}

/*
 * Work items that a warp has found, in shared memory until there are many: atomic operations on the
 * count of a queue take turns.
 */
#define STAGE 128u
struct stage {
	u64 *slots, *queue;
	uint64_t *total;
	u32 count;
};

__device__ static inline stage stage_of(u64 *queue, uint64_t *total)
{
	__shared__ u64 slots[GPU_BLOCK / 32][STAGE];

	return { slots[threadIdx.x / 32], queue, total, 0 };
}

/* Called by every lane of a warp, as the next one is. */
__device__ static inline void stage_flush(stage &q)
{
	u64 at = 0;
	u32 i;

	__syncwarp();
	if (!lane_id() && q.count)
		at = atomicAdd((ull *)q.total, (ull)q.count);
	at = __shfl_sync(ALL_LANES, at, 0);
	for (i = lane_id(); i < q.count; i += 32)
		q.queue[at + i] = q.slots[i];
	q.count = 0;
	__syncwarp();
}

/* Positions for @items of this lane, which the caller fills. *staged: whether they are in the stage. */
__device__ static inline u64 stage_reserve(stage &q, u32 items, bool *staged)
{
	const u32 sum = warp_prefix_sum(items), all = __shfl_sync(ALL_LANES, sum, 31);
	u64 at = 0;

	*staged = all <= STAGE;
	if (*staged && q.count + all > STAGE)
		stage_flush(q);
	if (*staged) {
		at = q.count;
		q.count += all;
	} else {
		if (lane_id() == 31)
			at = atomicAdd((ull *)q.total, (ull)sum);
		at = __shfl_sync(ALL_LANES, at, 31);
	}
	return at + sum - items;
}

__device__ static inline void stage_put(const stage &q, u64 at, bool staged, u64 item)
{
	(staged ? q.slots : q.queue)[at] = item;
}

/* Append the @items work items of vertex @v (0: none). Called by every lane of a warp. */
__device__ static inline void stage_items(stage &q, u32 v, u32 items)
{
	bool staged;
	const u64 at = stage_reserve(q, items, &staged);

	put_items(staged ? q.slots : q.queue, at, v, items);
}

/*
 * Append items(k) work items of each vertex @base + 32 k + lane with bit k in @due, in the order of their numbers and with one
 * atomic operation for a block, because those on one counter take turns. Called by all threads of a block in each_vertices().
 */
template <typename F> __device__ static inline void push_words(u64 *queue, uint64_t *count, u64 base, u32 due, F items)
{
	__shared__ u32 sums[GPU_BLOCK / 32];
	__shared__ u64 start;
	const u32 warp = threadIdx.x / 32;
	u32 mine[GPU_WORDS], before[GPU_WORDS], sum = 0, k;
	u64 at;

#pragma unroll
	for (k = 0; k < GPU_WORDS; k++) {
		mine[k] = due >> k & 1 ? items(k) : 0;
		before[k] = __any_sync(ALL_LANES, mine[k]) ? warp_prefix_sum(mine[k]) : 0;
		sum += __shfl_sync(ALL_LANES, before[k], 31);
		before[k] += sum - __shfl_sync(ALL_LANES, before[k], 31) - mine[k];
	}
	if (!lane_id())
		sums[warp] = sum;
	if (!__syncthreads_or(sum != 0))
		return;
	/* the items of each warp and those before it */
	sum = warp_prefix_sum(lane_id() < GPU_BLOCK / 32 ? sums[lane_id()] : 0);
	if (threadIdx.x == 31)
		start = atomicAdd((ull *)count, (ull)sum);
	__syncthreads();
	at = start + (warp ? __shfl_sync(ALL_LANES, sum, (int)warp - 1) : 0);
#pragma unroll
	for (k = 0; k < GPU_WORDS; k++)
		put_items(queue, at + before[k], (u32)(base + 32 * k + lane_id()), mine[k]);
}

#endif
