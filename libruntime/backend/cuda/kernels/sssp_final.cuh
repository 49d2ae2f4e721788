/* SPDX-License-Identifier: MIT */
/*
 * Shortest paths in buckets no wider than the least weight. All distances below the bucket's
 * bound are final, so a vertex is expanded once, and those above it lie within the greatest weight. A number T of one or
 * two bytes has them: 0 for a final distance, 1 + the distance above the bucket's base, or the greatest number for none.
 * These fit into the L2 cache, where distances do not, and an edge reads one at random.
 *
 * A bucket is pushed along its edges, or pulled: vertices whose distance is not final look for neighbours in the bucket,
 * by its bits, where their edges are fewer than the bucket's (Chakaravarthy et al., "Scalable Single Source Shortest Path
 * Algorithms for Massively Parallel Systems", 2014).
 */
#ifndef GTU_CUDA_SSSP_FINAL_CUH
#define GTU_CUDA_SSSP_FINAL_CUH

#include "bfs_card.cuh"
#include "sssp.cuh"

#define TEAM		8u		/* lanes that pull by one list, */
#define TEAM_READS	4u		/* entries that each of them reads at a time, */
#define TEAM_MOST	128u		/* and entries of the longest list that they read */

template <typename T> __device__ static inline T none_of(void)
{
	return (T)~(T)0;
}

/* The numbers of four adjacent vertices, as a lane reads them; a warp reads GROUPS of 128 vertices at a time. */
#define GROUPS	4u
template <typename T> struct __attribute__((aligned(4 * sizeof(T)))) four_numbers {
	T of[4];
};

/* Whether all of them are @value, 0 or none. */
template <typename T> __device__ static inline bool all_are(const four_numbers<T> &x, T value)
{
	return x.of[0] == value && x.of[1] == value && x.of[2] == value && x.of[3] == value;
}

/* Lower the number of @v to @value; @old: the word with it, as read before. */
template <typename T> __device__ static inline void lower_number(T *numbers, u32 v, u32 value, u32 old)
{
	const u32 many = 4 / sizeof(T), at = v % many * 8 * sizeof(T), mask = none_of<T>();
	u32 *word = (u32 *)numbers + v / many, was;

	while (value < (old >> at & mask)) {
		was = atomicCAS(word, old, (old & ~(mask << at)) | value << at);
		if (was == old)
			return;
		old = was;
	}
}

/*
 * Put the bits of four vertices of every lane of a warp, which begin at a multiple of 32 vertices, at those of group @i, into
 * words.
 */
__device__ static inline void put_bits(u32 *words, u64 i, bool valid, u32 four)
{
	if (__all_sync(ALL_LANES, !four)) {
		four = 0;
	} else {
		four <<= lane_id() % 8 * 4;
		for (u32 d = 1; d < 8; d <<= 1)
			four |= __shfl_xor_sync(ALL_LANES, four, (int)d);
	}
	if (valid && lane_id() % 8 == 0)
		words[i / 8] = four;
}

/* Read a lane's groups @base + 32 k of @numbers, if they are below @fours, together. */
template <typename T>
__device__ static inline void read_groups(const T *numbers, u64 base, u64 fours, four_numbers<T> *x)
{
#pragma unroll
	for (u32 k = 0; k < GROUPS; k++)
		if (base + 32 * k < fours)
			x[k] = ((const four_numbers<T> *)numbers)[base + 32 * k];
}

/*
 * f(i, valid, numbers) for every group i of four vertices in words with vertices of [first, end), by lanes of a warp with
 * adjacent groups. read(base, fours, x) is as read_groups(); f() is there once, because more registers would leave room for
 * fewer warps. Called by all lanes.
 */
template <typename T, typename G, typename F> __device__ static inline void each_group(u64 first, u64 end, G read, F f)
{
	const u64 fours = (end + 3) / 4, stride = thread_count() * GROUPS;

	for (u64 base = first / 32 * 8 + thread_id() / 32 * 32 * GROUPS + lane_id(); base - lane_id() < fours; base += stride) {
		four_numbers<T> x[GROUPS] = {};

		read(base, fours, x);
#pragma unroll 1
		for (u32 k = 0; k < GROUPS; k++) {
			f(base + 32 * k, base + 32 * k < fours, x[0]);
			/* an index would put them into memory */
#pragma unroll
			for (u32 next = 1; next < GROUPS; next++)
				x[next - 1] = x[next];
		}
	}
}

/* Give own vertices without edges, which @isolated has unless it is 0, a final distance, and no other vertex one. */
template <typename T> __device__ static void sssp_numbers(const gpu_graph &g, const u32 *isolated, T *numbers)
{
	for (u64 i = thread_id(); i < (g.n + 3) / 4; i += thread_count()) {
		const u32 bits = isolated ? isolated[i / 8] >> i % 8 * 4 : 0;
		four_numbers<T> x;

#pragma unroll
		for (u32 k = 0; k < 4; k++)
			x.of[k] = bits >> k & 1 && 4 * i + k >= g.first && 4 * i + k < g.end ? (T)0 : none_of<T>();
		((four_numbers<T> *)numbers)[i] = x;
	}
}

/*
 * Begin the bucket of @width from @base on, which is @above that of the numbers: distances below are final. Queue its
 * vertices, store their distances and set their bits in @bucket, and those of vertices whose distance is not final in @open
 * (@queue may be 0, and both bitmaps). All of the run's range: lower(base, fours, x) lowers numbers that read_groups() has
 * read, where another card has found lower ones.
 * counters.vertices: the bucket's; .edges: the sum of their degrees; .left: vertices reached beyond it; note_min(): the least of their numbers.
 */
template <typename R, typename T, typename F>
__device__ static void sssp_bucket(const gpu_graph &g, T *numbers, u32 above, u32 width, u64 base, u32 *distance, u64 *queue,
				   u32 *open, u32 *bucket, F lower)
{
	const T none = none_of<T>();
	stage q = stage_of(queue, &counters_of(g)->items);
	u64 vertices = 0, edges = 0, min = ~0ull, other, left = 0;

	each_group<T>(g.first, g.end, [&](u64 base, u64 fours, four_numbers<T> *x) {
		read_groups<T>(numbers, base, fours, x);
		lower(base, fours, x);
	}, [&](u64 i, bool valid, four_numbers<T> x) {
		u32 opens = 0, mine = 0, items = 0, k;
		u64 s[4], e[4], at;
		bool staged;

		/* in most buckets most vertices are final */
		if (valid && !all_are<T>(x, 0)) {
#pragma unroll
			for (k = 0; k < 4; k++) {
				if (4 * i + k < g.first || 4 * i + k >= g.end)
					continue;
				if (x.of[k] != none)
					x.of[k] = (T)(x.of[k] > above ? x.of[k] - above : 0);
				mine |= (u32)(x.of[k] && x.of[k] <= width) << k;
				opens |= (u32)(x.of[k] > width) << k;
				if (x.of[k] > width && x.of[k] != none) {
					min = x.of[k] < min ? x.of[k] : min;
					left++;
				}
			}
			if (!all_are<T>(x, none))
				((four_numbers<T> *)numbers)[i] = x;
		}
		if (open) {
			put_bits(open, i, valid, opens);
			put_bits(bucket, i, valid, mine);
		}
		if (!__any_sync(ALL_LANES, mine))
			return;
#pragma unroll
		for (k = 0; k < 4; k++) {
			s[k] = e[k] = 0;
			if (!(mine >> k & 1))
				continue;
			edges_of(g, 4 * i + k, &s[k], &e[k]);
			distance[4 * i + k] = (u32)base + x.of[k] - 1;
			items += items_of<R>(s[k], e[k]);
			edges += e[k] - s[k];
			vertices++;
		}
		if (!queue)
			return;
		at = stage_reserve(q, items, &staged);
#pragma unroll
		for (k = 0; k < 4; k++) {
			items = items_of<R>(s[k], e[k]);
			put_items(staged ? q.slots : q.queue, at, (u32)(4 * i + k), items);
			at += items;
		}
	});
	stage_flush(q);
	count_reached_by_block(g, vertices, edges);
	left = warp_sum(left);
	for (int d = 16; d; d >>= 1) {
		other = __shfl_xor_sync(ALL_LANES, min, d);
		min = other < min ? other : min;
	}
	if (lane_id() || !left)
		return;
	add(&counters_of(g)->left, left);
	if (~min > *(volatile uint64_t *)&counters_of(g)->not_min)
		note_min(g, min);
}

/* Store the distances of the run's range that are not final. */
template <typename T> __device__ static void sssp_flush(const gpu_graph &g, const T *numbers, u64 base, u32 *distance)
{
	for (u64 v = g.first + thread_id(); v < g.end; v += thread_count())
		if (numbers[v] && numbers[v] != none_of<T>())
			distance[v] = (u32)base + numbers[v] - 1;
}

/* Expand the items of a bucket. */
template <typename R, typename W, typename S, typename T>
__device__ static void sssp_push(const gpu_graph &g, const u64 *queue, u64 count, T *numbers)
{
	const u32 size = batches<R, W>::size, many = 4 / sizeof(T);
	tally t = { 0, 0 };

	each_in_order(g, count, [&](u64 i) {
		const u64 item = queue[i];
		const u32 from = numbers[(u32)item];

		batches<R, W>::walk(g, (u32)item, (u32)(item >> 32), t, [&](u32 mask, const R *entry, const W *weight) {
			u32 word[size], k;

			/* independent reads together: each takes a trip to memory */
#pragma unroll
			for (k = 0; k < size; k++)
				word[k] = mask >> k & 1 ? ((const u32 *)numbers)[target_of<R>(g, entry[k]) / many] : 0;
#pragma unroll
			for (k = 0; k < size; k++)
				if (mask >> k & 1)
					lower_number<T>(numbers, target_of<R>(g, entry[k]), S::template plus<R, W>(g, from, entry[k], weight[k]),
							word[k]);
		});
	});
	report(g, t);
}

/* The position of set bit @nth, from 0 on, of a word that has it. */
__device__ static inline u32 nth_bit(u32 word, u32 nth)
{
	u32 at = 0;

	for (u32 d = 16; d; d >>= 1) {
		const u32 below = __popc(word >> at & ((1u << d) - 1));

		if (nth >= below) {
			nth -= below;
			at += d;
		}
	}
	return at;
}

/* f(valid, v) for the vertices with a bit in open, by TEAMs of lanes, of which a warp takes adjacent vertices, and all call it. */
template <typename F> __device__ static inline void each_open(const gpu_graph &g, const u32 *open, F f)
{
	const u64 words = (g.n + 31) / 32, warps = thread_count() / 32;

	for (u64 first = thread_id() / 32 * 32; first < words; first += warps * 32) {
		const u64 mine = first + lane_id();
		const u32 word = mine < words ? open[mine] : 0, count = __popc(word), sum = warp_prefix_sum(count),
			  all = __shfl_sync(ALL_LANES, sum, 31);

		for (u32 base = 0; base < all; base += 32 / TEAM) {
			const u32 nth = base + lane_id() / TEAM;
			u32 at = 0, theirs, before;

			/* the first word with more bits before its end */
			for (u32 d = 16; d; d >>= 1)
				at += __shfl_sync(ALL_LANES, sum, (int)(at + d - 1)) <= nth ? d : 0;
			theirs = __shfl_sync(ALL_LANES, word, (int)at);
			before = __shfl_sync(ALL_LANES, sum - count, (int)at);
			f(nth < all, (u32)((first + at) * 32) + nth_bit(theirs, nth - before));
		}
	}
}

/* Lower the numbers of open vertices by neighbours in the bucket. Items of lists too long for a team go to @longs. */
template <typename R, typename W, typename S, typename T>
__device__ static void sssp_pull(const gpu_graph &g, T *numbers, const u32 *open, const u32 *bucket, u64 *longs)
{
	stage q = stage_of(longs, &counters_of(g)->items);
	tally t = { 0, 0 };

	each_open(g, open, [&](bool valid, u32 v) {
		const bool leads = lane_id() % TEAM == 0;
		u64 s = 0, e = 0, i;
		u32 least = ~0u, items = 0, other, k;

		if (valid) {
			s = row_at(g, v);
			e = row_at(g, v + 1ull);
		}
		if (e - s > TEAM_MOST) {
			items = leads ? items_of<R>(s, e) : 0;
			e = s;
		}
		if (leads)
			count_sectors<R, W>(g, t, s, e);
		for (i = s + lane_id() % TEAM; __any_sync(ALL_LANES, i < e); i += TEAM * TEAM_READS) {
			R entry[TEAM_READS];
			W weight[TEAM_READS];
			u32 hits = 0;

#pragma unroll
			for (k = 0; k < TEAM_READS; k++)
				if (i + TEAM * k < e) {
					entry[k] = entry_at<R>(g, i + TEAM * k);
					weight[k] = weight_at<W>(g, i + TEAM * k);
				}
#pragma unroll
			for (k = 0; k < TEAM_READS; k++)
				if (i + TEAM * k < e)
					hits |= (u32)bit_at(bucket, target_of<R>(g, entry[k])) << k;
#pragma unroll
			for (k = 0; k < TEAM_READS; k++)
				if (hits >> k & 1) {
					other = S::template plus<R, W>(g, numbers[target_of<R>(g, entry[k])], entry[k], weight[k]);
					least = other < least ? other : least;
				}
		}
		for (int d = TEAM / 2; d; d >>= 1) {
			other = __shfl_xor_sync(ALL_LANES, least, d);
			least = other < least ? other : least;
		}
		if (leads && least != ~0u && least < numbers[v])
			numbers[v] = (T)least;
		if (__any_sync(ALL_LANES, items))
			stage_items(q, v, items);
	});
	stage_flush(q);
	report_lanes(g, t);
}

/* The same for the run's range of vertices and lists in host memory, read in order. */
template <typename R, typename W, typename S, typename T>
__device__ static void sssp_pull_list(const gpu_graph &g, T *numbers, const u32 *open, const u32 *bucket, u64 *longs)
{
	const u64 first = g.first / 32, end = (g.end + 31) / 32;
	tally t = { 0, 0 };

	each_in_order(g, end > first ? end - first : 0, [&](u64 i) {
		const u64 base = (first + i) * 32, v = base + lane_id();
		u64 s = 0, e = 0;
		bool longer;

		if (v < g.end && bit_at(open, (u32)v))
			edges_of(g, v, &s, &e);
		longer = e - s > TEAM_MOST;
		walk_together<R, W>(g, s, e, e > s && !longer, t, [&](bool valid, u32 owner, R entry, W weight) {
			const u32 to = target_of<R>(g, entry), own = (u32)base + owner;

			if (valid && bit_at(bucket, to))
				lower_number<T>(numbers, own, S::template plus<R, W>(g, numbers[to], entry, weight),
						((const u32 *)numbers)[own / (4 / sizeof(T))]);
			__syncwarp();
		});
		push_warp(longs, &counters_of(g)->items, (u32)v, longer ? items_of<R>(s, e) : 0);
	});
	report(g, t);
}

/* The same for the items that these queued: counters.items, at most @most. */
template <typename R, typename W, typename S, typename T>
__device__ static void sssp_pull_long(const gpu_graph &g, const u64 *queue, u64 most, T *numbers, const u32 *bucket)
{
	const u64 queued = counters_of(g)->items;
	tally t = { 0, 0 };

	each_in_order(g, queued < most ? queued : most, [&](u64 i) {
		const u32 v = (u32)queue[i];
		u32 least = ~0u, other;

		walk_item<R, W, true>(g, v, (u32)(queue[i] >> 32), t, [&](bool valid, R entry, W weight) {
			const u32 to = target_of<R>(g, entry);
			u32 d;

			if (!valid || !bit_at(bucket, to))
				return;
			d = S::template plus<R, W>(g, numbers[to], entry, weight);
			least = d < least ? d : least;
		});
		__syncwarp();
		for (int k = 16; k; k >>= 1) {
			other = __shfl_xor_sync(ALL_LANES, least, k);
			least = other < least ? other : least;
		}
		if (!lane_id())
			lower_number<T>(numbers, v, least, ((const u32 *)numbers)[v / (4 / sizeof(T))]);
	});
	report(g, t);
}

#define SSSP_BUCKET(R, width_name, T, bits)                                                        \
	extern "C" __global__ void sssp_bucket_##width_name##_##bits(                              \
		gpu_graph g, T *numbers, u32 above, u32 width, u64 base, u32 *distance, u64 *queue, \
		u32 *open, u32 *bucket)                                                            \
	{                                                                                          \
		sssp_bucket<R, T>(g, numbers, above, width, base, distance, queue, open, bucket,   \
				  [](u64, u64, four_numbers<T> *) { });                            \
	}
SSSP_BUCKET(u32, 4, uint8_t, 8)
SSSP_BUCKET(u64, 8, uint8_t, 8)
SSSP_BUCKET(u32, 4, uint16_t, 16)
SSSP_BUCKET(u64, 8, uint16_t, 16)

#define SSSP_FLUSH(T, bits)                                                                        \
	extern "C" __global__ void sssp_flush_##bits(gpu_graph g, const T *numbers, u64 base, u32 *distance) \
	{                                                                                          \
		sssp_flush<T>(g, numbers, base, distance);                                         \
	}                                                                                          \
	extern "C" __global__ void sssp_numbers_##bits(gpu_graph g, const u32 *isolated, T *numbers) \
	{                                                                                          \
		sssp_numbers<T>(g, isolated, numbers);                                             \
	}
SSSP_FLUSH(uint8_t, 8)
SSSP_FLUSH(uint16_t, 16)

#define SSSP_FINAL(R, W, S, T, name)                                                               \
	extern "C" __global__ void sssp_push_##name(gpu_graph g, const u64 *queue, u64 count, T *numbers) \
	{                                                                                          \
		sssp_push<R, W, S, T>(g, queue, count, numbers);                                   \
	}                                                                                          \
	extern "C" __global__ void sssp_pull_##name(gpu_graph g, T *numbers, const u32 *open,      \
						    const u32 *bucket, u64 *longs)                 \
	{                                                                                          \
		sssp_pull<R, W, S, T>(g, numbers, open, bucket, longs);                            \
	}                                                                                          \
	extern "C" __global__ void sssp_pull_list_##name(gpu_graph g, T *numbers, const u32 *open, \
							 const u32 *bucket, u64 *longs)            \
	{                                                                                          \
		sssp_pull_list<R, W, S, T>(g, numbers, open, bucket, longs);                       \
	}                                                                                          \
	extern "C" __global__ void sssp_pull_long_##name(gpu_graph g, const u64 *queue, u64 most,  \
							 T *numbers, const u32 *bucket)            \
	{                                                                                          \
		sssp_pull_long<R, W, S, T>(g, queue, most, numbers, bucket);                       \
	}
#define SSSP_FINALS(R, W, S, name)                                                                 \
	SSSP_FINAL(R, W, S, uint8_t, name##_8)                                                     \
	SSSP_FINAL(R, W, S, uint16_t, name##_16)
SSSP_FINALS(u32, no_weight, sum_packed<u32>, 4_u32)
SSSP_FINALS(u64, no_weight, sum_packed<u32>, 8_u32)
SSSP_FINALS(u32, u32, sum_separate<u32>, 4_u32_separate)
SSSP_FINALS(u64, u32, sum_separate<u32>, 8_u32_separate)

#endif
