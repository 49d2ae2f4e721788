/* SPDX-License-Identifier: MIT */
/*
 * Shortest paths over small frontiers in one launch (loop.cuh): delta-stepping with a queue of
 * vertices due below the bucket's bound and one of vertices due above it. The queues are hints:
 * a vertex is due while its distance is below that at its last expansion, so a vertex that a full
 * queue lost is found again by sssp_collect.
 */
#ifndef GTU_CUDA_SSSP_LOOP_CUH
#define GTU_CUDA_SSSP_LOOP_CUH

#include "loop.cuh"
#include "sssp.cuh"

/* Queue the run's vertices due from @least on, below and above @bound; counters.items and .left count them. */
template <typename D>
__device__ static void sssp_due(const gpu_graph &g, const D *distance, const D *expanded, u64 least, u64 bound, u32 *near,
				u32 *far)
{
	u64 v, at, padded = (g.end + 31) & ~31ull;

	for (v = (g.first & ~31ull) + thread_id(); v < padded; v += thread_count()) {
		bool due = v >= g.first && v < g.end && distance[v] >= least && distance[v] < expanded[v], now = due && distance[v] < bound;

		if (!__any_sync(ALL_LANES, due))
			continue;
		at = reserve(&counters_of(g)->items, now);
		if (now && at < GPU_LOOP_ITEMS)
			near[at] = (u32)v;
		at = reserve(&counters_of(g)->left, due && !now);
		if (due && !now && at < GPU_LOOP_FAR)
			far[at] = (u32)v;
	}
}

/*
 * The queues of a step. A block may begin the next step while another still decides whether to: only
 * the count of near vertices rotates by step, so that what ends the loop must show in it.
 */
struct sssp_queues {
	u32 *near, *far;
	uint64_t *nears, *fars;
};

/* End the loop after this step, as if the near queue had overflowed. */
__device__ static inline void end_loop(const sssp_queues &q)
{
	add(q.nears, GPU_LOOP_ITEMS + 1);
}

/* Lower the distances of a lane's targets, and queue those that fell. */
template <typename R, typename W, typename S, typename M>
__device__ static inline void lower_targets(const gpu_graph &g, M cards, typename S::bits from, u32 mask, const R *entry,
					    const W *weight, typename S::bits *distance,
					    const typename S::bits *expanded, u64 bound, const sssp_queues &q)
{
	typedef typename S::bits D;
	D d[LANE_ENTRIES], old[LANE_ENTRIES];
	u32 near = 0, far = 0, i;
	u64 at_near, at_far;

#pragma unroll
	for (i = 0; i < LANE_ENTRIES; i++) {
		const bool present = mask >> i & 1;
		const u32 to = present ? target_of<R>(g, entry[i]) : 0;

		d[i] = present ? S::template plus<R, W>(g, from, entry[i], weight[i]) : 0;
		old[i] = min_if(present, M::first(cards.of(to), distance, to), d[i], (D)0);
	}
#pragma unroll
	for (i = 0; i < LANE_ENTRIES; i++) {
		if (!(mask >> i & 1) || old[i] <= d[i])
			mask &= ~(1u << i);
		else if (d[i] < bound)
			near++;
		else
			far |= 1u << i;
	}
	if (!__any_sync(ALL_LANES, mask))
		return;
	at_near = reserve(q.nears, near);
	at_far = reserve(q.fars, (u32)__popc(far));
	if (far && at_far + __popc(far) > GPU_LOOP_FAR)
		end_loop(q);
#pragma unroll
	for (i = 0; i < LANE_ENTRIES; i++) {
		if (!(mask >> i & 1))
			continue;
		if (far >> i & 1) {
			if (at_far < GPU_LOOP_FAR)
				q.far[at_far] = target_of<R>(g, entry[i]);
			at_far++;
		} else {
			u32 to = target_of<R>(g, entry[i]);

			if (at_near < GPU_LOOP_ITEMS)
				q.near[at_near] = to;
			at_near++;
			prefetch(M::row(g, cards.of(to), to));
			prefetch(M::second(cards.of(to), expanded, to));
		}
	}
}

/* Expand the vertices of a queue, once each. */
template <typename R, typename W, typename S, typename M>
__device__ static inline void expand_near(const gpu_graph &g, M cards, const u32 *in, u64 count, typename S::bits *distance,
					  typename S::bits *expanded, u64 bound, const sssp_queues &q, tally &t)
{
	typedef typename S::bits D;

	share_items(count, [&](u64 at, bool valid) {
		typename M::place at_card;
		u32 v = 0, entries = 0;
		u64 s = 0, e, weights = 0;
		D d = 0;

		if (valid) {
			v = in[at];
			at_card = cards.of(v);
			d = *M::first(at_card, distance, v);
			M::template edges<R>(g, at_card, v, &s, &e);
			weights = M::template weights<R, W>(g, at_card);
			/* a long list is for all warps: sssp_relax divides it */
			if (items_of<R>(s, e) > 1)
				end_loop(q);
			else if (lower<D>(M::second(at_card, expanded, v), d) > d)
				entries = (u32)(e - s);
		}
		walk_pieces<R, W>(g, s, entries, weights, d, t, [&](D from, u32 mask, const R *entry, const W *weight) {
			lower_targets<R, W, S>(g, cards, from, mask, entry, weight, distance, expanded, bound, q);
		});
	});
}

/* Move the far vertices that are due below @bound to the near queue, keep those due above it. */
template <typename D, typename M>
__device__ static inline void divide_far(M cards, const u32 *in, u64 count, const D *distance, const D *expanded, u64 bound,
					 const sssp_queues &q, uint64_t *least)
{
	u64 base, at, min = ~0ull, other;

	for (base = thread_id() & ~31ull; base < count; base += thread_count()) {
		bool due = false, now;
		u32 v = 0;
		D d = 0;

		if (base + lane_id() < count) {
			v = in[base + lane_id()];
			d = *M::first(cards.of(v), distance, v);
			due = d < *M::second(cards.of(v), expanded, v);
		}
		now = due && d < bound;
		if (due && !now && d < min)
			min = d;
		at = reserve(q.nears, now);
		if (now && at < GPU_LOOP_ITEMS)
			q.near[at] = v;
		at = reserve(q.fars, due && !now);
		if (due && !now)
			q.far[at] = v;
	}
	for (int d = 16; d; d >>= 1) {
		other = __shfl_xor_sync(ALL_LANES, min, d);
		min = other < min ? other : min;
	}
	if (!lane_id() && min != ~0ull)
		atomicMin((ull *)least, (ull)min);
}

/*
 * Run steps from the bound on, over the vertices that sssp_due queued, until nothing is due, a queue
 * overflows, a list needs several warps, or @steps are done. @near and @far: two queues each.
 */
template <typename R, typename W, typename S, typename M>
__device__ static void sssp_steps(const gpu_graph &g, M cards, typename S::bits *distance, typename S::bits *expanded,
				  u32 *near, u32 *far, u64 nears, u64 fars, u64 bound, double delta, u32 steps)
{
	struct gpu_loop *loop = loop_of(g);
	u32 epoch = 0, step, round = 0;
	bool divided = false;
	tally t = { 0, 0 };

	if (!thread_id()) {
		loop->far[0] = fars;
		loop->min[0] = loop->min[1] = loop->min[2] = ~0ull;
	}
	grid_barrier(&loop->arrived, epoch);
	for (step = 0; (nears || fars) && nears <= GPU_LOOP_ITEMS && step < steps; step++) {
		const u32 *in = near + (step & 1) * GPU_LOOP_ITEMS;
		sssp_queues q = { near + (~step & 1) * GPU_LOOP_ITEMS, far + (round & 1) * GPU_LOOP_FAR,
				  &loop->items[(step + 1) % 3], &loop->far[round % 3] };

		if (!thread_id())
			loop->items[(step + 2) % 3] = 0;
		if (nears) {
			expand_near<R, W, S>(g, cards, in, nears, distance, expanded, bound, q, t);
			divided = false;
		} else {
			bound = distance_above(S::type, divided ? settled(&loop->min[round % 3]) : bound, delta);
			if (!thread_id()) {
				loop->far[(round + 2) % 3] = 0;
				loop->min[(round + 2) % 3] = ~0ull;
			}
			round++;
			in = q.far;
			q.far = far + (round & 1) * GPU_LOOP_FAR;
			q.fars = &loop->far[round % 3];
			divide_far(cards, in, fars, distance, expanded, bound, q, &loop->min[round % 3]);
			divided = true;
		}
		grid_barrier(&loop->arrived, epoch);
		nears = settled(q.nears);
		/* settled only if nothing is near, and used only then */
		fars = settled(q.fars);
	}
	if (!thread_id()) {
		loop->steps = step;
		loop->bound = bound;
		loop->done = !nears && !fars;
	}
	report_lanes(g, t);
}

#define SSSP_STEPS(R, W, S, name)                                                                  \
	extern "C" __global__ void sssp_steps_##name(                                               \
		gpu_graph g, S::bits *distance, S::bits *expanded, u32 *near, u32 *far, u64 nears,   \
		u64 fars, u64 bound, double delta, u32 steps)                                       \
	{                                                                                          \
		sssp_steps<R, W, S>(g, one_card(), distance, expanded, near, far, nears, fars, bound, delta, steps); \
	}                                                                                          \
	extern "C" __global__ void sssp_steps_cards_##name(                                         \
		gpu_graph g, u32 *near, u32 *far, u64 nears, u64 fars, u64 bound, double delta, u32 steps, \
		const struct gpu_card *cards, const u64 *cut, u32 ranks)                            \
	{                                                                                          \
		sssp_steps<R, W, S>(g, share_cards(cards, cut, ranks), (S::bits *)0, (S::bits *)0, near, far, \
				    nears, fars, bound, delta, steps);                              \
	}
SSSP_PLAIN(SSSP_STEPS)

#define SSSP_DUE(D, bits)                                                                          \
	extern "C" __global__ void sssp_due_##bits(gpu_graph g, const D *distance, const D *expanded, \
						   u64 least, u64 bound, u32 *near, u32 *far)      \
	{                                                                                          \
		sssp_due<D>(g, distance, expanded, least, bound, near, far);                       \
	}
SSSP_DUE(u32, 32)
SSSP_DUE(u64, 64)

#endif
