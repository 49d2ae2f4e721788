/* SPDX-License-Identifier: MIT */
/*
 * Kernels of one of several GPUs ("ranks"), each with the edges of its own vertices [first, end).
 * The graph has the vertex numbers of the whole graph, and empty lists for vertices of others. What
 * a rank finds about another rank's vertex v is sent to its owner as v - cut[owner], in the
 * owner's section of an outbox, which has an element for each of its vertices: a vertex is sent once in
 * a step. cut[] is followed by the element at which each section begins.
 */
#ifndef GTU_CUDA_RANKS_CUH
#define GTU_CUDA_RANKS_CUH

#include "bfs.cuh"
#include "bfs_card.cuh"
#include "cards.cuh"
#include "components.cuh"
#include "pagerank.cuh"
#include "sssp_final.cuh"
#include "visit.cuh"

__device__ static inline bool owns(const gpu_graph &g, u64 v)
{
	return v >= g.first && v < g.end;
}

/* The bits of vertices [first, end) among the 32 of word @w. */
__device__ static inline u32 bits_of_range(u64 first, u64 end, u64 w)
{
	const u64 low = first > 32 * w ? first - 32 * w : 0, high = end > 32 * w ? end - 32 * w : 0;

	if (low >= 32 || high <= low)
		return 0;
	return ALL_LANES << low & (high < 32 ? (1u << high) - 1 : ALL_LANES);
}

__device__ static inline u32 own_bits(const gpu_graph &g, u64 w)
{
	return bits_of_range(g.first, g.end, w);
}

/*
 * Add @v of each lane that @sends to its owner's section; f(element, v - cut[owner]) writes it. Called by
 * every lane of a warp.
 */
template <typename F>
__device__ static inline void send_warp(const u64 *cut, u32 ranks, uint64_t *count, u32 v, bool sends, F f)
{
	u32 left = __ballot_sync(ALL_LANES, sends), owner = sends ? owner_of(cut, ranks, v) : 0;

	while (left) {
		const u32 leader = (u32)__ffs((int)left) - 1, to = __shfl_sync(ALL_LANES, owner, (int)leader),
			  same = __ballot_sync(ALL_LANES, sends && owner == to);
		u64 at = 0;

		if (lane_id() == leader)
			at = atomicAdd((ull *)&count[to], (ull)__popc(same));
		at = __shfl_sync(ALL_LANES, at, (int)leader);
		if (same >> lane_id() & 1)
			f(cut[ranks + 1 + to] + at + (u32)__popc(same & ((1u << lane_id()) - 1)), (u32)(v - cut[to]));
		left &= ~same;
	}
}

/* ---- Breadth-first search: levels of own vertices, bits of all -------------------------------------- */

/* Give own vertex @v level @next, unless @level is 0, if it is new, and queue its items. Called by every lane of a warp. */
template <typename R>
__device__ static inline void settle_warp(const gpu_graph &g, u32 v, bool fresh, u32 *level, u32 next, u64 *out,
					  u64 &vertices, u64 &edges)
{
	u32 items = 0;
	u64 s, e;

	if (fresh) {
		if (level)
			level[v - g.first] = next;
		edges_of(g, v, &s, &e);
		items = items_of<R>(s, e);
		vertices++;
		edges += e - s;
	}
	push_warp(out, &counters_of(g)->items, v, items);
}

__device__ static inline bool set_bit(u32 *bits, u32 v)
{
	const u32 bit = 1u << (v & 31);

	return !(bits[v >> 5] & bit) && !(atomicOr(&bits[v >> 5], bit) & bit);
}

template <typename R>
__device__ static void ranks_push(const gpu_graph &g, const u64 *queue, u64 count, u32 *visited, u32 *level, u32 next,
				  u64 *out, const u64 *cut, u32 ranks, uint64_t *sent, u32 *outbox)
{
	u64 vertices = 0, edges = 0;
	tally t = { 0, 0 };

	each_in_order(g, count, [&](u64 i) {
		walk_item<R, no_weight>(g, (u32)queue[i], (u32)(queue[i] >> 32), t, [&](bool valid, R entry, no_weight) {
			const u32 to = target_of<R>(g, entry);
			const bool fresh = valid && set_bit(visited, to), own = owns(g, to);

			settle_warp<R>(g, to, fresh && own, level, next, out, vertices, edges);
			send_warp(cut, ranks, sent, to, fresh && !own, [&](u64 at, u32 id) { outbox[at] = id; });
		});
	});
	count_reached(g, warp_sum(vertices), warp_sum(edges));
	report(g, t);
}

/* Settle the own vertices that another rank sent: @ids, or @bits if that is not NULL. counters.changed: an id is bad. */
template <typename R>
__device__ static void ranks_settle(const gpu_graph &g, const u32 *ids, const u32 *bits, u64 count, u32 *visited,
				    u32 *level, u32 next, u64 *out)
{
	const u64 own = g.end - g.first, limit = bits ? own : count, padded = (limit + 31) & ~31ull;
	u64 i, vertices = 0, edges = 0;

	for (i = thread_id(); i < padded; i += thread_count()) {
		const u64 id = i >= limit ? 0 : bits ? i : ids[i];
		bool valid = i < limit && (!bits || bit_at(bits, (u32)i));

		if (valid && id >= own) {
			counters_of(g)->changed = 1;
			valid = false;
		}
		valid = valid && set_bit(visited, (u32)(g.first + id));
		settle_warp<R>(g, (u32)(g.first + id), valid, level, next, out, vertices, edges);
	}
	count_reached(g, warp_sum(vertices), warp_sum(edges));
}

/* @bits, cleared before, of the @count numbers @ids. */
extern "C" __global__ void ranks_bits(const u32 *ids, u64 count, u32 *bits)
{
	for (u64 i = thread_id(); i < count; i += thread_count())
		atomicOr(&bits[ids[i] >> 5], 1u << (ids[i] & 31));
}

/*
 * Initialize visited: @source is, and vertices beyond the last one; with @skip, own vertices without edges, too, which
 * @isolated has.
 */
extern "C" __global__ void ranks_begin(gpu_graph g, const u32 *isolated, u32 skip, u64 source, u32 *visited)
{
	const u64 words = (g.n + 31) / 32;

	for (u64 w = thread_id(); w < words; w += thread_count()) {
		u32 word = skip ? isolated[w] & own_bits(g, w) : 0;

		if (w == words - 1 && g.n % 32)
			word |= ALL_LANES << g.n % 32;
		if (w == source / 32)
			word |= 1u << source % 32;
		visited[w] = word;
	}
}

/* The bits of own vertices at level @now, at the bits of their numbers. */
extern "C" __global__ void ranks_front(gpu_graph g, const u32 *level, u32 now, u32 *bits)
{
	const u64 padded = (g.end + 31) & ~31ull;

	for (u64 v = (g.first & ~31ull) + thread_id(); v < padded; v += thread_count()) {
		const u32 word = __ballot_sync(ALL_LANES, owns(g, v) && level[v - g.first] == now);

		if (!lane_id())
			bits[v >> 5] = word;
	}
}

/*
 * The own vertices that a rank has marked in the words at @marks[rank], maybe on another card, and that were not visited
 * @before: they are at level @next, unless @level is 0, and are the bits of @found.
 */
extern "C" __global__ void ranks_settle_marks(gpu_graph g, const u64 *marks, u32 ranks, const u32 *before, u32 *visited,
					      u32 *found, u32 *level, u32 next)
{
	u64 vertices = 0, edges = 0;

	each_word(g, [&](u64 w) {
		u32 word = 0, i;

		for (i = 0; i < ranks; i++)
			word |= ((const u32 *)marks[i])[w - g.first / 32];
		word &= own_bits(g, w) & ~before[w];
		visited[w] |= word;
		return found[w] = word;
	}, [&](u64 v, bool mine, u32) {
		if (!mine)
			return;
		if (level)
			level[v - g.first] = next;
		vertices++;
		edges += row_at(g, v + 1) - row_at(g, v);
	});
	count_reached_by_block(g, vertices, edges);
}

/* Count the own vertices at level @now that have a level in @other, too. */
extern "C" __global__ void ranks_meet(gpu_graph g, const u32 *level, u32 now, const u32 *other)
{
	const u64 own = g.end - g.first, padded = (own + 31) & ~31ull;
	u64 met = 0;

	for (u64 i = thread_id(); i < padded; i += thread_count())
		met += i < own && level[i] == now && other[i] != GPU_UNREACHED;
	count_vertices(g, met);
}

/*
 * @all, unless it is 0, gets the bits that the ranks have set for their own vertices, and @also joins them: @at[rank] is the
 * address of a rank's first word, maybe on another card, less @offset bytes.
 */
extern "C" __global__ void ranks_join_bits(gpu_graph g, const u64 *at, u64 offset, const u64 *cut, u32 ranks, u32 *all,
					   u32 *also)
{
	for (u64 w = thread_id(); w < (g.n + 31) / 32; w += thread_count()) {
		u32 word = 0, i;

		/* a word may have vertices of several ranks, of which each may go on to set bits of the others */
		for (i = owner_of(cut, ranks, 32 * w); i < ranks && cut[i] < 32 * w + 32; i++)
			if (cut[i + 1] > 32 * w && cut[i + 1] > cut[i])
				word |= ((const u32 *)(at[i] + offset))[w - cut[i] / 32] & bits_of_range(cut[i], cut[i + 1], w);
		if (all)
			all[w] = word;
		also[w] |= word;
	}
}

#define RANKS_BFS(R, format)                                                                       \
	extern "C" __global__ void ranks_push_##format(                                            \
		gpu_graph g, const u64 *queue, u64 count, u32 *visited, u32 *level, u32 next, u64 *out,       \
		const u64 *cut, u32 ranks, uint64_t *sent, u32 *outbox)                            \
	{                                                                                          \
		ranks_push<R>(g, queue, count, visited, level, next, out, cut, ranks, sent, outbox);          \
	}                                                                                          \
	extern "C" __global__ void ranks_settle_##format(gpu_graph g, const u32 *ids, const u32 *bits,        \
							 u64 count, u32 *visited, u32 *level, u32 next, u64 *out) \
	{                                                                                          \
		ranks_settle<R>(g, ids, bits, count, visited, level, next, out);                   \
	}

VISIT_FORMATS(RANKS_BFS)

/* ---- Shortest paths: distances of all vertices, those of others as far as this rank knows ------------ */

/*
 * Send the distances below @bound of other ranks' vertices in @fell to their owners; note_min() has the smallest one
 * above it, and counters.left their number. An element of the outbox is a number and a distance, in words of 4 bytes.
 * @settled: 0, or gets the bits of the vertices sent.
 */
template <typename D>
__device__ static void ranks_send(const gpu_graph &g, const D *distance, u32 *fell, u64 bound, u32 *settled, const u64 *cut,
				  u32 ranks, uint64_t *sent, u32 *outbox)
{
	const u32 words = 1 + sizeof(D) / 4;
	const u64 padded = ((g.n + 31) / 32 + 31) & ~31ull;
	u64 min = ~0ull, stay = 0;

	for (u64 w = thread_id(); w < padded; w += thread_count()) {
		u32 left = 32 * w < g.n ? fell[w] : 0, gone = 0;

		if (!__any_sync(ALL_LANES, left))
			continue;
		while (__any_sync(ALL_LANES, left)) {
			const u32 bit = left ? (u32)__ffs((int)left) - 1 : 0, v = (u32)(32 * w) + bit;
			const D d = left ? distance[v] : 0;
			const bool due = left && d < bound;

			if (due)
				gone |= 1u << bit;
			else if (left && d < min)
				min = d;
			stay += left && !due;
			send_warp(cut, ranks, sent, v, due, [&](u64 at, u32 id) {
				outbox[at * words] = id;
				outbox[at * words + 1] = (u32)d;
				if (words == 3)
					outbox[at * words + 2] = (u32)((u64)d >> 32);
			});
			left &= left - 1;
		}
		if (gone) {
			fell[w] &= ~gone;
			if (settled)
				settled[w] |= gone;
		}
	}
	min = warp_min(min);
	stay = warp_sum(stay);
	if (!lane_id() && stay) {
		note_min(g, min);
		add(&counters_of(g)->left, stay);
	}
}

/* Take distances that another rank sent. counters.changed: a number is bad. */
template <typename D> __device__ static void ranks_lower(const gpu_graph &g, const u32 *inbox, u64 count, D *distance)
{
	const u32 words = 1 + sizeof(D) / 4;

	for (u64 i = thread_id(); i < count; i += thread_count()) {
		const u32 *pair = inbox + i * words;
		u64 d = pair[1];

		if (words == 3)
			d |= (u64)pair[2] << 32;
		if (pair[0] < g.end - g.first)
			lower<D>(&distance[g.first + pair[0]], (D)d);
		else
			counters_of(g)->changed = 1;
	}
}

extern "C" __global__ void ranks_lower_32(gpu_graph g, const u32 *inbox, u64 count, u32 *distance)
{
	ranks_lower<u32>(g, inbox, count, distance);
}

extern "C" __global__ void ranks_lower_64(gpu_graph g, const u32 *inbox, u64 count, u64 *distance)
{
	ranks_lower<u64>(g, inbox, count, distance);
}

extern "C" __global__ void ranks_send_32(gpu_graph g, const u32 *distance, u32 *fell, u64 bound, u32 *settled, const u64 *cut,
					 u32 ranks, uint64_t *sent, u32 *outbox)
{
	ranks_send<u32>(g, distance, fell, bound, settled, cut, ranks, sent, outbox);
}

extern "C" __global__ void ranks_send_64(gpu_graph g, const u64 *distance, u32 *fell, u64 bound, u32 *settled, const u64 *cut,
					 u32 ranks, uint64_t *sent, u32 *outbox)
{
	ranks_send<u64>(g, distance, fell, bound, settled, cut, ranks, sent, outbox);
}

/*
 * sssp_bucket() of own vertices, which become the lowest of their numbers on all cards: @at[rank] is the address of a rank's
 * numbers. Those of other ranks' vertices stay.
 */
template <typename R, typename T>
__device__ static void ranks_bucket(const gpu_graph &g, T *numbers, const u64 *at, u32 ranks, u32 above, u32 width, u64 base,
				    u32 *distance, u64 *queue)
{
	sssp_bucket<R, T>(g, numbers, above, width, base, distance, queue, (u32 *)0, (u32 *)0,
			  [&](u64 first, u64 fours, four_numbers<T> *x) {
		/* to read the groups together takes longer: more registers, fewer warps */
#pragma unroll
		for (u32 i = 0; i < GROUPS; i++) {
			const u64 at_four = first + 32 * i;

			for (u32 rank = 0; at_four < fours && !all_are<T>(x[i], 0) && rank < ranks; rank++) {
				const T *theirs = (const T *)at[rank];
				four_numbers<T> y;

				if (theirs == numbers)
					continue;
				y = ((const four_numbers<T> *)theirs)[at_four];
#pragma unroll
				for (u32 k = 0; k < 4; k++)
					if (y.of[k] < x[i].of[k] && owns(g, 4 * at_four + k))
						x[i].of[k] = y.of[k];
			}
		}
	});
}

/*
 * Take the numbers of other ranks' vertices from their owners' cards. @bucket gets the bits of all vertices of a bucket of
 * @width, @open those of own vertices beyond it.
 */
template <typename T>
__device__ static void ranks_numbers(const gpu_graph &g, T *numbers, const u64 *at, const u64 *cut, u32 ranks, u32 width,
				     u32 *open, u32 *bucket)
{
	each_group<T>(0, g.n, [&](u64 first, u64 fours, four_numbers<T> *x) {
		const u64 past = 4 * (first + 32 * GROUPS), last = past < g.n ? past - 1 : g.n - 1;
		const u32 owner = owner_of(cut, ranks, last);

		if (cut[owner] <= 4 * first) {
			read_groups<T>((const T *)at[owner], first, fours, x);
			return;
		}
		/* about a boundary, vertices of several ranks */
#pragma unroll
		for (u32 k = 0; k < 4 * GROUPS; k++) {
			const u64 v = 4 * (first + 32 * (k / 4)) + k % 4;

			x[k / 4].of[k % 4] = v < g.n ? ((const T *)at[owner_of(cut, ranks, v)])[v] : none_of<T>();
		}
	}, [&](u64 i, bool valid, const four_numbers<T> &x) {
		u32 opens = 0, members = 0, own = 0, k;

#pragma unroll
		for (k = 0; valid && k < 4; k++) {
			own |= (u32)owns(g, 4 * i + k) << k;
			members |= (u32)(x.of[k] && x.of[k] <= width) << k;
			opens |= (u32)(x.of[k] > width && owns(g, 4 * i + k)) << k;
		}
		if (valid && own != 15)
			((four_numbers<T> *)numbers)[i] = x;
		put_bits(open, i, valid, opens);
		put_bits(bucket, i, valid, members);
	});
}

#define RANKS_BUCKET(R, width_name, T, bits)                                                       \
	extern "C" __global__ void ranks_bucket_##width_name##_##bits(                             \
		gpu_graph g, T *numbers, const u64 *at, u32 ranks, u32 above, u32 width, u64 base,  \
		u32 *distance, u64 *queue)                                                         \
	{                                                                                          \
		ranks_bucket<R, T>(g, numbers, at, ranks, above, width, base, distance, queue);    \
	}
RANKS_BUCKET(u32, 4, uint8_t, 8)
RANKS_BUCKET(u64, 8, uint8_t, 8)
RANKS_BUCKET(u32, 4, uint16_t, 16)
RANKS_BUCKET(u64, 8, uint16_t, 16)

#define RANKS_NUMBERS(T, bits)                                                                     \
	extern "C" __global__ void ranks_numbers_##bits(gpu_graph g, T *numbers, const u64 *at, const u64 *cut, u32 ranks, \
							u32 width, u32 *open, u32 *bucket)         \
	{                                                                                          \
		ranks_numbers<T>(g, numbers, at, cut, ranks, width, open, bucket);                 \
	}
RANKS_NUMBERS(uint8_t, 8)
RANKS_NUMBERS(uint16_t, 16)

/*
 * ---- Components: labels of all vertices -------------------------------------------------------------
 *
 * After a search a rank has labels of its own vertices and of the vertices "outside": those with edges that the search has not
 * reached. The label of all that it has reached is the lowest of these vertices, which counts as one outside. Bits of vertices
 * inside include those without edges: they are in no list.
 */

/* Add a pair of each lane that @sends to @pairs, at most @most; counters.items: their number. Called by every lane of a warp. */
__device__ static inline void put_pair_warp(const gpu_graph &g, bool sends, u32 number, u32 value, u32 *pairs, u64 most)
{
	const u32 all = __ballot_sync(ALL_LANES, sends);
	u64 at = 0;

	if (!lane_id() && all)
		at = atomicAdd((ull *)&counters_of(g)->items, (ull)__popc(all));
	at = __shfl_sync(ALL_LANES, at, 0) + (u32)__popc(all & ((1u << lane_id()) - 1));
	if (sends && at < most) {
		pairs[2 * at] = number;
		pairs[2 * at + 1] = value;
	}
}

/*
 * Queue the items of own vertices that are not @visited, and copy the words with own vertices to @bits. note_min(): the number of
 * the lowest own vertex that is visited and has edges, plus 1.
 */
template <typename R>
__device__ static void ranks_outside(const gpu_graph &g, const u32 *visited, const u32 *isolated, u32 *bits, u64 *queue)
{
	u64 least = ~0ull;

	each_word(g, [&](u64 w) {
		const u32 own = own_bits(g, w), word = visited[w], reached = word & ~isolated[w] & own;

		if (reached && least == ~0ull)
			least = 32 * w + (u32)__ffs((int)reached);
		bits[w] = word;
		return ~word & own;
	}, [&](u64 v, bool mine, u32) {
		push_warp(queue, &counters_of(g)->items, (u32)v, mine ? items_of_vertex<R>(g, (u32)v) : 0);
	});
	least = warp_min(least);
	/* the first blocks have the lowest */
	if (!lane_id() && ~least > *(volatile uint64_t *)&counters_of(g)->not_min)
		note_min(g, least);
}

/* Give each vertex outside its own label; @lowest leaves @inside. The graph's range is all vertices. */
extern "C" __global__ void ranks_begin_outside(gpu_graph g, u32 *inside, u32 lowest, u32 *label)
{
	each_word(g, [&](u64 w) {
		if (w == lowest / 32)
			inside[w] &= ~(1u << lowest % 32);
		return ~inside[w] & own_bits(g, w);
	}, [&](u64 v, bool mine, u32) {
		if (mine)
			label[v] = (u32)v;
	});
}

/*
 * Join @v, which is outside, with the vertices inside. A root may be linked to a lower vertex that is no root any more: labels
 * still only point down. So few threads read the label of @lowest.
 */
__device__ static inline void join_inside(u32 *label, u32 v, u32 lowest)
{
	if (v > lowest) {
		const u32 was = atomicCAS(&label[v], v, lowest);

		if (was == v || was == lowest)
			return;
	}
	join(label, v, lowest);
}

/* Join vertices outside with their neighbours. */
template <typename R>
__device__ static void ranks_join_outside(const gpu_graph &g, const u64 *queue, u64 count, const u32 *inside, u32 lowest,
					  u32 *label)
{
	tally t = { 0, 0 };

	each_in_order(g, count, [&](u64 i) {
		const u64 item = queue[i];
		const u32 v = (u32)item;

		walk_item<R, no_weight>(g, v, (u32)(item >> 32), t, [&](bool valid, R entry, no_weight) {
			const u32 to = valid ? target_of<R>(g, entry) : v;
			const bool in = bit_at(inside, to);

			if (!in && to != v)
				join(label, v, to);
			if (__any_sync(ALL_LANES, in) && !lane_id())
				join_inside(label, v, lowest);
			__syncwarp();
		});
	});
	report(g, t);
}

/* Pairs of a vertex and its label, for vertices outside that are no roots any more. The graph's range is all vertices. */
extern "C" __global__ void ranks_moved(gpu_graph g, const u32 *inside, const u32 *label, u32 *pairs, u64 most)
{
	each_word(g, [&](u64 w) { return ~inside[w] & own_bits(g, w); }, [&](u64 v, bool mine, u32) {
		const u32 up = mine ? label[v] : (u32)v;

		put_pair_warp(g, up != v, (u32)v, up, pairs, most);
	});
}

/* Join the ends of pairs of another rank. counters.changed: one is bad. */
extern "C" __global__ void ranks_join_moved(gpu_graph g, const u32 *pairs, u64 count, const u32 *inside, u32 *label)
{
	for (u64 i = thread_id(); i < count; i += thread_count()) {
		const u32 v = pairs[2 * i], up = pairs[2 * i + 1];

		if (v < g.n && up < v && !bit_at(inside, v) && !bit_at(inside, up))
			join(label, v, up);
		else
			counters_of(g)->changed = 1;
	}
}

/*
 * Label own vertices: those without edges by themselves, those visited by the root of @lowest, and others by theirs. Unless
 * @joined, there is none outside, and @lowest is that root. A warp stores the labels of 32 words in turn.
 */
extern "C" __global__ void ranks_label(gpu_graph g, const u32 *visited, const u32 *isolated, u32 lowest, u32 joined, u32 *label)
{
	const u64 begin = g.first / 32, words = (g.end + 31) / 32, padded = begin + ((words - begin + 31) & ~31ull);
	const u32 root = joined ? top_of(label, lowest) : lowest;

	for (u64 i = begin + thread_id(); i < padded; i += thread_count()) {
		const u32 in = i < words ? visited[i] : 0, alone = i < words ? isolated[i] : 0;

#pragma unroll 8
		for (u32 k = 0; k < 32; k++) {
			const u32 is_in = __shfl_sync(ALL_LANES, in, (int)k) >> lane_id() & 1,
				  is_alone = __shfl_sync(ALL_LANES, alone, (int)k) >> lane_id() & 1;
			const u64 v = (i - lane_id() + k) * 32 + lane_id();

			if (owns(g, v))
				label[v] = is_alone ? (u32)v : is_in ? root : top_of(label, (u32)v);
		}
	}
}

#define RANKS_COMPONENTS(R, format)                                                                \
	extern "C" __global__ void ranks_outside_##format(gpu_graph g, const u32 *visited, const u32 *isolated, \
							  u32 *bits, u64 *queue)                   \
	{                                                                                          \
		ranks_outside<R>(g, visited, isolated, bits, queue);                               \
	}                                                                                          \
	extern "C" __global__ void ranks_join_outside_##format(gpu_graph g, const u64 *queue, u64 count, \
							       const u32 *inside, u32 lowest, u32 *label) \
	{                                                                                          \
		ranks_join_outside<R>(g, queue, count, inside, lowest, label);                     \
	}

VISIT_FORMATS(RANKS_COMPONENTS)

/* Pairs of a vertex and its label, for vertices that were roots in @base and are not any more. */
extern "C" __global__ void ranks_changed(gpu_graph g, const u32 *label, const u32 *base, u32 *pairs, u64 most)
{
	enum { WORDS = 8 };		/* of 32 vertices for each addition to the counter */
	const u64 warp = thread_id() / 32, warps = thread_count() / 32;

	for (u64 from = warp * 32 * WORDS; from < g.n; from += warps * 32 * WORDS) {
		u32 up[WORDS], sending[WORDS], total = 0, k;
		u64 at = 0;

#pragma unroll
		for (k = 0; k < WORDS; k++) {
			const u64 v = from + 32 * k + lane_id();

			up[k] = v < g.n ? label[v] : (u32)v;
			sending[k] = __ballot_sync(ALL_LANES, v < g.n && up[k] != v && base[v] == v);
			total += (u32)__popc(sending[k]);
		}
		if (!lane_id() && total)
			at = atomicAdd((ull *)&counters_of(g)->items, (ull)total);
		at = __shfl_sync(ALL_LANES, at, 0);
#pragma unroll
		for (k = 0; k < WORDS; k++) {
			const u64 mine = at + (u32)__popc(sending[k] & ((1u << lane_id()) - 1));

			if (sending[k] >> lane_id() & 1 && mine < most) {
				pairs[2 * mine] = (u32)(from + 32 * k + lane_id());
				pairs[2 * mine + 1] = up[k];
			}
			at += (u32)__popc(sending[k]);
		}
	}
}

/* Join the ends of @count pairs, or of each vertex and its label in @labels. counters.changed: a number is bad. */
extern "C" __global__ void ranks_join(gpu_graph g, const u32 *pairs, const u32 *labels, u64 count, u32 *label)
{
	for (u64 i = thread_id(); i < count; i += thread_count()) {
		const u32 v = labels ? (u32)i : pairs[2 * i], root = labels ? labels[i] : pairs[2 * i + 1];

		if (v < g.n && root <= v)
			join(label, v, root);
		else
			counters_of(g)->changed = 1;
	}
}

extern "C" __global__ void ranks_copy(gpu_graph g, const u32 *from, u32 *to)
{
	for (u64 v = thread_id(); v < g.n; v += thread_count())
		to[v] = from[v];
}

/* ---- PageRank: ranks of own vertices, contributions and sums of all ---------------------------------- */

/* As pagerank_update(), for own vertices. */
extern "C" __global__ void ranks_update(gpu_graph g, double *rank, const double *sum, double *contrib, double scale,
					double damping, double dangling, u32 begin)
{
	const double n = (double)g.n;
	double dangling_sum = 0, max = 0;

	for (u64 v = g.first + thread_id(); v < g.end; v += thread_count()) {
		const u64 degree = row_at(g, v + 1) - row_at(g, v);
		const double now = begin ? 1 / n : __dadd_rn((1 - damping) / n, damping * (sum[v] + dangling / n)),
			     change = begin ? 0 : fabs(now - rank[v - g.first]), share = degree ? now / (double)degree : 0;

		max = change > max ? change : max;
		rank[v - g.first] = now;
		if (scale > 0)
			((u32 *)contrib)[v] = fixed_point(share, scale, (u32)v);
		else
			contrib[v] = share;
		dangling_sum += degree ? 0 : now;
	}
	__syncwarp();
	dangling_sum = warp_sum(dangling_sum);
	max = warp_max(max);
	if (!lane_id()) {
		atomicAdd(&counters_of(g)->dangling, dangling_sum);
		/* non-negative doubles order as their bit patterns */
		atomicMax((ull *)&counters_of(g)->max, (ull)__double_as_longlong(max));
	}
}

/* Add another rank's sums to own vertices. */
extern "C" __global__ void ranks_add(gpu_graph g, const double *inbox, double *sum)
{
	for (u64 i = thread_id(); i < g.end - g.first; i += thread_count())
		sum[g.first + i] += inbox[i];
}

#endif
