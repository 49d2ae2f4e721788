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

/* The same of a block, with the work items that it queued. Edges are in two parts. */
struct found_by_block {
	u32 items, vertices, low, high;
};

#define LOW_BITS	24		/* of the edges: sums over the lanes of a block fit into 32 bits */

/*
 * Claim the unvisited ones among a lane's entries for level @next, and queue their lists in the block's
 * part of the queue, @out, which has space for @part items.
 */
template <typename R, typename M>
__device__ static inline void discover(const gpu_graph &g, M cards, u32 mask, const R *entry, u32 *visited, u32 *level,
				       u32 next, u64 *out, u32 part, u32 *queued, found &sum)
{
	u64 s[LANE_ENTRIES], e[LANE_ENTRIES];
	typename M::place at_card[LANE_ENTRIES];
	u32 old[LANE_ENTRIES], lists[LANE_ENTRIES], items = 0, at = 0, before, all, i, k, pieces;
	bool longs = false;

	/* independent reads first: each takes a trip to memory */
#pragma unroll
	for (i = 0; i < LANE_ENTRIES; i++) {
		u32 to;

		old[i] = ALL_LANES;
		s[i] = e[i] = 0;
		if (!(mask >> i & 1))
			continue;
		to = target_of<R>(g, entry[i]);
		at_card[i] = cards.of(to);
		old[i] = atomicOr(M::second(at_card[i], visited, to >> 5), 1u << (to & 31));
		M::template edges<R>(g, at_card[i], to, &s[i], &e[i]);
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
		*M::first(at_card[i], level, to) = next;
		sum.vertices++;
		sum.edges += e[i] - s[i];
		longs |= e[i] - s[i] > LANE_LIST;
		items += items_of<R>(s[i], e[i]);
	}
	if (!__any_sync(ALL_LANES, longs)) {
		/* lists of one piece each: the loops below would take longer than the reads */
#pragma unroll
		for (i = 0, all = 0; i < LANE_ENTRIES; i++) {
			lists[i] = __ballot_sync(ALL_LANES, e[i] > s[i]);
			all += __popc(lists[i]);
		}
		if (!all)
			return;
		if (!lane_id())
			at = atomicAdd(queued, all);
		at = __shfl_sync(ALL_LANES, at, 0);
#pragma unroll
		for (i = 0; i < LANE_ENTRIES; i++) {
			u32 to = at + __popc(lists[i] & ((1u << lane_id()) - 1));

			if (e[i] > s[i] && to < part) {
				out[to] = s[i] << PIECE_BITS | (e[i] - s[i]);
				prefetch(entry_address<R>(g, s[i]));
			}
			at += __popc(lists[i]);
		}
		return;
	}
	before = warp_prefix_sum(items);
	all = __shfl_sync(ALL_LANES, before, 31);
	if (!lane_id())
		at = atomicAdd(queued, all <= part ? all : part + 1);
	at = __shfl_sync(ALL_LANES, at, 0) + before - items;
	for (i = 0; i < LANE_ENTRIES; i++) {
		pieces = items_of<R>(s[i], e[i]);
		for (k = 0; k < pieces && at < part; k++, at++) {
			out[at] = piece_of<R>(s[i], e[i], k);
			prefetch(entry_address<R>(g, out[at] >> PIECE_BITS));
		}
	}
}

#define REPORT_BITS	17		/* of a report's items and of its edges: up to GPU_LOOP_ITEMS, and one more */

/* Work that the blocks have queued: items of each, and sums of alternate levels. */
struct shares {
	u32 items[GPU_LOOP_BLOCKS], all[2], edges[2];
	u32 full;			/* a part of the queue overflowed */
};

static_assert(GPU_LOOP_BLOCKS <= 32 && GPU_LOOP_BLOCKS < GPU_BLOCK && GPU_LOOP_ITEMS < (1u << REPORT_BITS) - 1 &&
	      (u64)GPU_BLOCK << LOW_BITS <= 1ull << 32, "a warp reads the reports, and sums fit");

/*
 * Bring the rows of a queued @item's first neighbours, which the next level reads, to the L2 cache. Its
 * entries are on the way there already (discover()).
 */
template <typename R, typename M> __device__ static inline void fetch_rows(const gpu_graph &g, M cards, u64 item)
{
	const u64 first = item >> PIECE_BITS;
	const u32 count = (u32)item & ((1u << PIECE_BITS) - 1);
	R entry[LANE_ENTRIES];
	u32 i;

#pragma unroll
	for (i = 0; i < LANE_ENTRIES; i++)
		if (i < count)
			entry[i] = entry_at<R>(g, first + i);
#pragma unroll
	for (i = 0; i < LANE_ENTRIES; i++)
		if (i < count)
			prefetch(M::row(g, cards.of(target_of<R>(g, entry[i])), target_of<R>(g, entry[i])));
}

/*
 * End level @step (from 1 on) of a cooperative launch. A block reports what it has queued, in @out, in a word
 * of its own, so that the barrier costs no atomic operation and brings the sizes of the next level.
 * While a warp waits for the other blocks' reports, the others fetch rows, @ahead.
 * @log: the level's, if any. Reports of two levels alternate, because a block may be one level ahead, and so
 * do the block's sums, @sums.
 */
template <typename R, typename M>
__device__ static inline void end_level(const gpu_graph &g, M cards, u32 step, const u64 *out, u32 part, bool ahead,
					found_by_block *sums, shares &of, struct gpu_level *log)
{
	const u32 most = (1u << REPORT_BITS) - 1;
	uint64_t *report = loop_of(g)->reports[step & 1];
	const found_by_block &mine = sums[step & 1];

	__syncthreads();
	if (!threadIdx.x) {
		const u64 edges = ((u64)mine.high << LOW_BITS) + mine.low;

		store_release(&report[blockIdx.x], (u64)step << 2 * REPORT_BITS |
			      (edges < most ? edges : most) << REPORT_BITS | (mine.items < most ? mine.items : most));
		/* after the report, which would wait for it */
		if (log && mine.vertices) {
			add(&log->vertices, mine.vertices);
			add(&log->edges, edges);
		}
		sums[~step & 1] = { 0, 0, 0, 0 };
	}
	if (threadIdx.x < 32) {
		const bool valid = threadIdx.x < gridDim.x;
		u64 word = 0;
		u32 items, all, edges;

		while (valid && (word = load_acquire(&report[threadIdx.x])) >> 2 * REPORT_BITS != step)
			;
		__syncwarp();
		items = (u32)word & most;
		if (valid)
			of.items[threadIdx.x] = items;
		if (items > part)
			of.full = 1;
		all = __reduce_add_sync(ALL_LANES, items);
		edges = __reduce_add_sync(ALL_LANES, (u32)(word >> REPORT_BITS) & most);
		if (!lane_id()) {
			of.all[step & 1] = all;
			of.edges[step & 1] = edges;
		}
	} else if (ahead && threadIdx.x - 32 < mine.items && mine.items <= part) {
		fetch_rows<R>(g, cards, out[threadIdx.x - 32]);
	}
	__syncthreads();
}

/*
 * Run levels from @next on, over the @count work items of @queue, until the search ends, the next
 * level has more items than a part of the queue or more than GPU_LOOP_EDGES edges, or @levels are done.
 * @space: two queues of GPU_LOOP_ITEMS. log[i]: what level next + i reached, zero before.
 * @ahead: entries are on the card, so that to read them twice costs little.
 */
template <typename R, typename M>
__device__ static void bfs_levels(const gpu_graph &g, M cards, const u64 *queue, u64 count, u32 *visited, u32 *level,
				  u32 next, u32 levels, u64 *space, struct gpu_level *log, u32 ahead)
{
	__shared__ found_by_block sums[2];
	__shared__ shares of;
	const u32 blocks = gridDim.x, part = GPU_LOOP_ITEMS / blocks, share = (u32)((count + blocks - 1) / blocks);
	const u64 first = (u64)blockIdx.x * share, left = count > first ? count - first : 0;
	/*
	 * The block's threads take items of every block's part, a different range of each, so that parts of
	 * any lengths are shared evenly without sums over them.
	 */
	const u32 turns = GPU_BLOCK / blocks, from = threadIdx.x % blocks, turn = threadIdx.x / blocks,
		  start = turn < turns ? (blockIdx.x + blocks - from) % blocks * turns + turn : ALL_LANES;
	u64 *in = space, *out = space + GPU_LOOP_ITEMS, s, e;
	u32 step, i;
	tally t = { 0, 0 };

	if (!threadIdx.x) {
		sums[1] = { left < share ? (u32)left : share, 0, 0, 0 };
		of.full = 0;
	}
	for (i = threadIdx.x; i < share && i < left; i += GPU_BLOCK) {
		M::template edges<R>(g, cards.of((u32)queue[first + i]), (u32)queue[first + i], &s, &e);
		in[(u64)blockIdx.x * part + i] = piece_of<R>(s, e, (u32)(queue[first + i] >> 32));
	}
	end_level<R>(g, cards, 1, in + (u64)blockIdx.x * part, part, false, sums, of, NULL);
	for (step = 0; of.all[~step & 1] && !of.full && of.edges[~step & 1] <= GPU_LOOP_EDGES && step < levels; step++) {
		const u32 items = start == ALL_LANES ? 0 : of.items[from];
		const u64 *theirs = in + (u64)from * part;
		u64 *own = out + (u64)blockIdx.x * part;
		found_by_block &mine = sums[step & 1];
		found sum = { 0, 0 };
		u64 *other = in;
		u32 at, vertices, low, high;

		for (at = start; __any_sync(ALL_LANES, at < items); at += turns * blocks) {
			u64 item = at < items ? theirs[at] : 0;

			walk_pieces<R, no_weight>(g, item >> PIECE_BITS, (u32)item & ((1u << PIECE_BITS) - 1), 0, 0u, t,
						  [&](u32, u32 mask, const R *entry, const no_weight *) {
				discover<R>(g, cards, mask, entry, visited, level, next + step, own, part, &mine.items, sum);
			});
		}
		vertices = __reduce_add_sync(ALL_LANES, sum.vertices);
		low = __reduce_add_sync(ALL_LANES, (u32)sum.edges & ((1u << LOW_BITS) - 1));
		high = __reduce_add_sync(ALL_LANES, (u32)(sum.edges >> LOW_BITS));
		if (!lane_id() && vertices) {
			atomicAdd(&mine.vertices, vertices);
			atomicAdd(&mine.low, low);
			atomicAdd(&mine.high, high);
		}
		end_level<R>(g, cards, step + 2, own, part, ahead, sums, of, &log[step]);
		in = out;
		out = other;
	}
	if (!thread_id())
		loop_of(g)->steps = step;
	report_lanes(g, t);
}

#define BFS_LEVELS(R, width)                                                                       \
	extern "C" __global__ void bfs_levels_##width(gpu_graph g, const u64 *queue, u64 count,     \
						      u32 *visited, u32 *level, u32 next, u32 levels, \
						      u64 *space, struct gpu_level *log, u32 ahead) \
	{                                                                                          \
		bfs_levels<R>(g, one_card(), queue, count, visited, level, next, levels, space, log, ahead); \
	}                                                                                          \
	extern "C" __global__ void bfs_levels_cards_##width(                                       \
		gpu_graph g, const u64 *queue, u64 count, u32 next, u32 levels, u64 *space,        \
		struct gpu_level *log, const struct gpu_card *cards, const u64 *cut, u32 ranks)    \
	{                                                                                          \
		bfs_levels<R>(g, share_cards(cards, cut, ranks), queue, count, (u32 *)0, (u32 *)0, next, levels, \
			      space, log, false);                                                  \
	}

BFS_LEVELS(u32, 4)
BFS_LEVELS(u64, 8)

#endif
