/* SPDX-License-Identifier: MIT */
/*
 * Levels of a breadth-first search over small frontiers, top-down, in one launch (loop.cuh). A queue
 * entry holds the position and length of a list piece, so that a level begins by reading edges.
 */
#ifndef GTU_CUDA_BFS_LOOP_CUH
#define GTU_CUDA_BFS_LOOP_CUH

#include "loop.cuh"

#define PIECE_BITS	9		/* bits of a piece's length: at most GPU_CHUNK / 4 entries */

__device__ static inline u32 length_of(u64 piece)
{
	return (u32)piece & ((1u << PIECE_BITS) - 1);
}

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

/* The same of a block, with the work items that it queued, and whether some are of long lists. Edges are in two parts. */
struct found_by_block {
	u32 items, longs, vertices, low, high;
};

#define LOW_BITS	24		/* of the edges: sums over the lanes of a block fit into 32 bits */
#define REPORT_BITS	17		/* of a report's items and of its edges: more of either end the loop */
#define UNEVEN		128u		/* items of a block from which it may have too many */
#define UNEVEN_LONG	8u		/* the same where some are of long lists, which take a warp each */

/* A block's items of the present level and of the next, and sums over the reports of all blocks. */
struct bfs_block {
	u64 queue[2][GPU_LOOP_PART];
	found_by_block sums[2];
	u32 all, most, before, edges;	/* items of all blocks, of the one with most, and of the blocks before; edges of all */
	bool longs;			/* some items are of long lists */
};

static_assert(GPU_LOOP_BLOCKS <= 32 && GPU_BLOCK <= GPU_LOOP_PART && GPU_LOOP_PART < (1u << REPORT_BITS) - 1 &&
	      GPU_LOOP_EDGES < (1u << REPORT_BITS) - 1 &&
	      (u64)GPU_BLOCK << LOW_BITS <= 1ull << 32, "a warp reads the reports, and parts and sums fit");

__device__ static inline bfs_block &shared_block(void)
{
	__shared__ bfs_block block;

	return block;
}

/* Entries that a lane handles at once, and the edges of their targets, which are the same at any level. */
template <typename R, typename M> struct found_rows {
	u32 mask;
	R entry[LANE_ENTRIES];
	u64 s[LANE_ENTRIES], e[LANE_ENTRIES];

	__device__ void read(const gpu_graph &g, M cards, u32 of, const R *from)
	{
		u32 i;

		mask = of;
#pragma unroll
		for (i = 0; i < LANE_ENTRIES; i++) {
			const bool present = mask >> i & 1;
			const u32 v = present ? target_of<R>(g, from[i]) : 0;

			/* unconditional, so that all reads are in flight together */
			M::template edges<R>(g, cards.of(v), v, &s[i], &e[i]);
			entry[i] = from[i];
			s[i] = present ? s[i] : 0;
			e[i] = present ? e[i] : 0;
		}
	}

	/* The first entries of @item, if it is short; counts the sectors of all its entries. Returns the number of those read. */
	__device__ u32 read_piece(const gpu_graph &g, M cards, u64 item, tally &t)
	{
		const u64 first = item >> PIECE_BITS;
		const u32 entries = length_of(item) > LANE_LIST ? 0 : length_of(item),
			  count = entries < LANE_ENTRIES ? entries : LANE_ENTRIES;
		R of[LANE_ENTRIES] = { 0 };
		u32 i;

#pragma unroll
		for (i = 0; i < LANE_ENTRIES; i++)
			if (i < count)
				of[i] = entry_at<R>(g, first + i);
		read(g, cards, (1u << count) - 1, of);
		count_sectors<R, no_weight>(g, t, first, first + entries);
		return count;
	}
};

/* Claim the unvisited ones among a lane's targets for level @next, and queue their lists, at @out. */
template <typename R, typename M>
__device__ static inline void discover(const gpu_graph &g, M cards, found_rows<R, M> &to, u32 *visited, u32 *level, u32 next,
				       u64 *out, found_by_block &queued, found &sum)
{
	u32 old[LANE_ENTRIES], lists[LANE_ENTRIES], items = 0, at = 0, before, all, i, k, pieces;
	bool longs = false;

	/* independent operations first: each takes a trip to memory */
#pragma unroll
	for (i = 0; i < LANE_ENTRIES; i++) {
		const bool present = to.mask >> i & 1;
		const u32 v = present ? target_of<R>(g, to.entry[i]) : 0;

		old[i] = or_if(present, M::second(cards.of(v), visited, v >> 5), 1u << (v & 31), ALL_LANES);
	}
#pragma unroll
	for (i = 0; i < LANE_ENTRIES; i++) {
		const u32 v = target_of<R>(g, to.entry[i]);
		const bool won = to.mask >> i & 1 && !(old[i] >> (v & 31) & 1);

		if (!won) {
			to.e[i] = to.s[i];
			continue;
		}
		*M::first(cards.of(v), level, v) = next;
		sum.vertices++;
		sum.edges += to.e[i] - to.s[i];
		longs |= to.e[i] - to.s[i] > LANE_LIST;
	}
	if (!__any_sync(ALL_LANES, longs)) {
		/* lists of one piece each: the loops below would take longer than the reads */
#pragma unroll
		for (i = 0, all = 0; i < LANE_ENTRIES; i++) {
			lists[i] = __ballot_sync(ALL_LANES, to.e[i] > to.s[i]);
			all += __popc(lists[i]);
		}
		if (!all)
			return;
		if (!lane_id())
			at = atomicAdd(&queued.items, all);
		at = __shfl_sync(ALL_LANES, at, 0);
#pragma unroll
		for (i = 0; i < LANE_ENTRIES; i++) {
			k = at + __popc(lists[i] & ((1u << lane_id()) - 1));
			if (to.e[i] > to.s[i] && k < GPU_LOOP_PART)
				out[k] = to.s[i] << PIECE_BITS | (to.e[i] - to.s[i]);
			at += __popc(lists[i]);
		}
		return;
	}
	for (i = 0; i < LANE_ENTRIES; i++)
		items += items_of<R>(to.s[i], to.e[i]);
	before = warp_prefix_sum(items);
	all = __shfl_sync(ALL_LANES, before, 31);
	if (!lane_id()) {
		at = atomicAdd(&queued.items, all <= GPU_LOOP_PART ? all : GPU_LOOP_PART + 1);
		queued.longs = 1;
	}
	at = __shfl_sync(ALL_LANES, at, 0) + before - items;
	for (i = 0; i < LANE_ENTRIES; i++) {
		pieces = items_of<R>(to.s[i], to.e[i]);
		for (k = 0; k < pieces && at < GPU_LOOP_PART; k++, at++)
			out[at] = piece_of<R>(to.s[i], to.e[i], k);
	}
}

/*
 * Report what the block has queued before step @step of the loop, in a word of its own, so that the barrier costs no atomic
 * operation and brings the sizes of the next level. Reports of two steps alternate, because a block may be one step ahead.
 */
__device__ static inline void report_level(const gpu_graph &g, u32 step, const found_by_block &mine, struct gpu_level *log)
{
	const u64 most = (1u << REPORT_BITS) - 1, edges = ((u64)mine.high << LOW_BITS) + mine.low;

	store_release(&loop_of(g)->reports[step & 1][blockIdx.x],
		      (u64)(step + 1) << (2 * REPORT_BITS + 1) | (u64)!!mine.longs << 2 * REPORT_BITS |
		      (edges < most ? edges : most) << REPORT_BITS | (mine.items < most ? mine.items : most));
	/* the release would wait for these additions */
	if (log && mine.vertices) {
		add(&log->vertices, mine.vertices);
		add(&log->edges, edges);
	}
}

/* Wait for the reports of all blocks, by a warp. */
__device__ static inline void await_level(const gpu_graph &g, u32 step, bfs_block &block)
{
	const uint64_t *report = loop_of(g)->reports[step & 1];
	const bool valid = lane_id() < gridDim.x;
	u64 word = 0;
	u32 items, all, most, before, edges;
	bool longs;

	while (valid && (word = load_acquire(&report[lane_id()])) >> (2 * REPORT_BITS + 1) != step + 1)
		;
	__syncwarp();
	items = (u32)word & ((1u << REPORT_BITS) - 1);
	all = __reduce_add_sync(ALL_LANES, items);
	most = __reduce_max_sync(ALL_LANES, items);
	before = __reduce_add_sync(ALL_LANES, lane_id() < blockIdx.x ? items : 0);
	edges = __reduce_add_sync(ALL_LANES, (u32)(word >> REPORT_BITS) & ((1u << REPORT_BITS) - 1));
	longs = __any_sync(ALL_LANES, (u32)(word >> 2 * REPORT_BITS) & 1);
	if (!lane_id()) {
		block.longs = longs;
		block.all = all;
		block.most = most;
		block.edges = edges;
		block.before = before;
	}
}

/* This block's share of @count items: the first one, and their number. Neighbours stay together, as they lie on the same pages. */
__device__ static inline u32 share_of(u64 count, u32 *items)
{
	const u32 share = (u32)((count + gridDim.x - 1) / gridDim.x), first = blockIdx.x * share;

	*items = first < count ? count - first < share ? (u32)(count - first) : share : 0;
	return first;
}

/* Divide the items of all blocks evenly, by way of @space. This block has @items, in @in. */
__device__ static inline void deal(const gpu_graph &g, const bfs_block &block, u64 *in, u32 &items, u64 *space, u32 &epoch)
{
	u32 i, first, share;

	for (i = threadIdx.x; i < items; i += GPU_BLOCK)
		space[block.before + i] = in[i];
	grid_barrier(&loop_of(g)->arrived, epoch);
	first = share_of(block.all, &share);
	for (i = threadIdx.x; i < share; i += GPU_BLOCK)
		in[i] = *(const volatile u64 *)&space[first + i];
	if (!threadIdx.x)
		items = share;
	__syncthreads();
}

/*
 * Run levels from @next on, over the @count work items of @queue, until the search ends, the next
 * level has more items than a block's queue or more than GPU_LOOP_EDGES edges, or @levels are done.
 * @space: for the parts of all blocks. log[i]: what level next + i reached, zero before.
 *
 * A block expands what it has queued itself, unless it has much more than others. So it can read
 * lists and rows while it waits for the other blocks: only the visited bits depend on them.
 */
template <typename R, typename M>
__device__ static void bfs_levels(const gpu_graph &g, M cards, const u64 *queue, u64 count, u32 *visited, u32 *level,
				  u32 next, u32 levels, u64 *space, struct gpu_level *log)
{
	bfs_block &block = shared_block();
	u32 step, i, given, done, epoch = 0, vertices, low, high;
	found_rows<R, M> ahead;
	tally t = { 0, 0 }, counted;

	given = share_of(count, &i);
	if (!threadIdx.x)
		block.sums[1] = { i, 1, 0, 0, 0 };
	__syncthreads();
	for (step = 0;; step++) {
		found_by_block &before = block.sums[~step & 1], &mine = block.sums[step & 1];
		u64 *in = block.queue[~step & 1], *out = block.queue[step & 1];
		found sum = { 0, 0 };
		auto item_at = [&](u32 at) -> u64 {
			u64 item, s, e;

			if (at >= before.items)
				return 0;
			if (step)
				return in[at];
			item = queue[given + at];
			M::template edges<R>(g, cards.of((u32)item), (u32)item, &s, &e);
			return piece_of<R>(s, e, (u32)(item >> 32));
		};
		auto expand = [&](u64 first, u32 entries) {
			walk_pieces<R, no_weight>(g, first, entries, 0, 0u, t,
						  [&](u32, u32 mask, const R *entry, const no_weight *) {
				found_rows<R, M> to;

				to.read(g, cards, mask, entry);
				discover<R>(g, cards, to, visited, level, next + step, out, mine, sum);
			});
		};

		/* the last warp, which has no items in most levels */
		if (threadIdx.x == GPU_BLOCK - 1) {
			report_level(g, step, before, step ? &log[step - 1] : NULL);
			mine = { 0, 0, 0, 0, 0 };
		}
		done = ahead.read_piece(g, cards, item_at(threadIdx.x), t);
		if (threadIdx.x >= GPU_BLOCK - 32)
			await_level(g, step, block);
		__syncthreads();
		if (!block.all || (step && block.most > GPU_LOOP_PART) || block.edges > GPU_LOOP_EDGES || step == levels)
			break;
		if (block.most > (block.longs ? UNEVEN_LONG : UNEVEN) && block.most > 2 * (block.all / gridDim.x + 1)) {
			deal(g, block, in, before.items, space, epoch);
			done = ahead.read_piece(g, cards, item_at(threadIdx.x), t);
		}
		for (i = threadIdx.x; __any_sync(ALL_LANES, i < before.items); i += GPU_BLOCK) {
			const u64 item = item_at(i);
			u32 rest = length_of(item) > LANE_LIST ? 0 : length_of(item);

			if (i < GPU_BLOCK) {
				discover<R>(g, cards, ahead, visited, level, next + step, out, mine, sum);
				rest -= done;
			}
			if (!__any_sync(ALL_LANES, rest))
				continue;
			counted = t;
			expand((item >> PIECE_BITS) + length_of(item) - rest, rest);
			/* read_piece() has counted all of the list */
			if (i < GPU_BLOCK)
				t = counted;
		}
		/* neighbours in the queue, which are the pieces of a list, to different warps */
		for (i = threadIdx.x / 32; block.longs && i < before.items; i += GPU_BLOCK / 32) {
			const u64 item = item_at(i);

			if (length_of(item) > LANE_LIST)
				expand(item >> PIECE_BITS, lane_id() ? 0 : length_of(item));
		}
		vertices = __reduce_add_sync(ALL_LANES, sum.vertices);
		low = __reduce_add_sync(ALL_LANES, (u32)sum.edges & ((1u << LOW_BITS) - 1));
		high = __reduce_add_sync(ALL_LANES, (u32)(sum.edges >> LOW_BITS));
		if (!lane_id() && vertices) {
			atomicAdd(&mine.vertices, vertices);
			atomicAdd(&mine.low, low);
			atomicAdd(&mine.high, high);
		}
		__syncthreads();
	}
	if (!thread_id())
		loop_of(g)->steps = step;
	report_lanes(g, t);
}

#define BFS_LEVELS(R, width)                                                                       \
	extern "C" __global__ void bfs_levels_##width(gpu_graph g, const u64 *queue, u64 count,     \
						      u32 *visited, u32 *level, u32 next, u32 levels, \
						      u64 *space, struct gpu_level *log) \
	{                                                                                          \
		bfs_levels<R>(g, one_card(), queue, count, visited, level, next, levels, space, log); \
	}                                                                                          \
	extern "C" __global__ void bfs_levels_cards_##width(                                       \
		gpu_graph g, const u64 *queue, u64 count, u32 next, u32 levels, u64 *space,        \
		struct gpu_level *log, const struct gpu_card *cards, const u64 *cut, u32 ranks)    \
	{                                                                                          \
		bfs_levels<R>(g, share_cards(cards, cut, ranks), queue, count, (u32 *)0, (u32 *)0, next, levels, \
			      space, log);                                                         \
	}

BFS_LEVELS(u32, 4)
BFS_LEVELS(u64, 8)

#endif
