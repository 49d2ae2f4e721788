/* SPDX-License-Identifier: MIT */
/*
 * Shortest paths in buckets (delta-stepping without lists of far vertices). A vertex is due if its
 * distance fell below the distance at its last expansion; vertices due below the bucket's bound
 * form the queue. Distances are bit patterns of their type, which order as unsigned integers do.
 */
#ifndef GTU_CUDA_SSSP_CUH
#define GTU_CUDA_SSSP_CUH

#include "libruntime/support/distance.h"
#include "compressed.cuh"
#include "emogi.cuh"

template <typename D> __device__ static inline D lower(D *at, D value);
template <> __device__ inline u32 lower<u32>(u32 *at, u32 value)
{
	return atomicMin(at, value);
}
template <> __device__ inline u64 lower<u64>(u64 *at, u64 value)
{
	return atomicMin((ull *)at, (ull)value);
}

/* A distance type with its addition of weights, as in support/distance.h. */
template <typename B> struct sum_of {
	static const distance_type type = sizeof(B) == 4 ? DISTANCE_U32 : DISTANCE_U64;
};
template <typename B> struct sum_packed : sum_of<B> {
	typedef B bits;
	template <typename R, typename W>
	__device__ static bits plus(const gpu_graph &g, bits d, R entry, W)
	{
		return d + packed_weight<R>(g, entry);
	}
};
template <typename B> struct sum_separate : sum_of<B> {
	typedef B bits;
	template <typename R, typename W>
	__device__ static bits plus(const gpu_graph &, bits d, R, W w)
	{
		return d + w;
	}
};
struct sum_f32 {
	static const distance_type type = DISTANCE_F32;
	typedef u32 bits;
	template <typename R, typename W>
	__device__ static bits plus(const gpu_graph &, bits d, R, W w)
	{
		return __float_as_uint(__fadd_rn(__uint_as_float(d), w));
	}
};
struct sum_f64 {
	static const distance_type type = DISTANCE_F64;
	typedef u64 bits;
	template <typename R, typename W>
	__device__ static bits plus(const gpu_graph &, bits d, R, W w)
	{
		return (u64)__double_as_longlong(__dadd_rn(__longlong_as_double((long long)d), w));
	}
};

__device__ static inline void note_fallen(const gpu_graph &g, u32 *fell, u32 v)
{
	if ((v < g.first || v >= g.end) && !bit_at(fell, v))
		atomicOr(&fell[v >> 5], 1u << (v & 31));
}

/*
 * Expand the items of a bucket. @settled: 0, or a bit for each vertex whose distance is final. @fell: 0, or bits that this
 * sets for vertices out of the run's range whose distance falls.
 */
template <typename R, typename W, typename S>
__device__ static void sssp_relax(const gpu_graph &g, const u64 *queue, u64 count,
				  typename S::bits *distance, const u32 *settled, u32 *fell)
{
	typedef typename S::bits D;
	const u32 size = batches<R, W>::size;
	tally t = { 0, 0 };

	each_in_order(g, count, [&](u64 i) {
		const u64 item = queue[i];
		const D from = distance[(u32)item];

		batches<R, W>::walk(g, (u32)item, (u32)(item >> 32), t, [&](u32 mask, const R *entry, const W *weight) {
			D have[size];
			u32 k;

			/* independent reads together: each takes a trip to memory */
#pragma unroll
			for (k = 0; settled && k < size; k++)
				if (mask >> k & 1 && bit_at(settled, target_of<R>(g, entry[k])))
					mask &= ~(1u << k);
#pragma unroll
			for (k = 0; k < size; k++)
				have[k] = mask >> k & 1 ? distance[target_of<R>(g, entry[k])] : 0;
#pragma unroll
			for (k = 0; k < size; k++) {
				D d;

				if (!(mask >> k & 1))
					continue;
				d = S::template plus<R, W>(g, from, entry[k], weight[k]);
				if (!(d < have[k]))
					continue;
				lower<D>(&distance[target_of<R>(g, entry[k])], d);
				if (fell)
					note_fallen(g, fell, target_of<R>(g, entry[k]));
			}
		});
	});
	report(g, t);
}

/*
 * Queue vertices of the run due from @least on, below @bound; note_min() has the smallest distance due above it, and
 * counters.left the number of those vertices. @settled, unless 0: set the bits of all vertices below it.
 */
template <typename R, typename D>
__device__ static void sssp_collect(const gpu_graph &g, const D *distance, D *expanded, u64 least, u64 bound,
				    u64 *queue, u32 *settled)
{
	u64 min = ~0ull, left = 0, other;

	each_vertices(g, [&](u64 base) {
		D d[GPU_WORDS];
		u32 due = 0, k;

#pragma unroll
		for (k = 0; k < GPU_WORDS; k++) {
			const u64 v = base + 32 * k + lane_id();
			const bool own = v >= g.first && v < g.end;

			/* reads without a condition overlap */
			d[k] = distance[own ? v : g.first];
			d[k] = own ? d[k] : (D)~0ull;
		}
#pragma unroll
		for (k = 0; k < GPU_WORDS; k++) {
			const u64 v = base + 32 * k + lane_id();
			const bool reached = d[k] != (D)~0ull;
			const u32 below = settled ? __ballot_sync(ALL_LANES, reached && d[k] < bound) : 0;

			/* no other warp writes this word */
			if (below && !lane_id())
				settled[v >> 5] |= below;
			if (!reached || d[k] < least || !(d[k] < expanded[v]))
				continue;
			if (d[k] < bound) {
				expanded[v] = d[k];
				due |= 1u << k;
			} else {
				min = d[k] < min ? d[k] : min;
				left++;
			}
		}
		push_words(queue, &counters_of(g)->items, base, due, [&](u32 k) {
			u64 s, e;

			edges_of(g, base + 32 * k + lane_id(), &s, &e);
			return items_of<R>(s, e);
		});
	});
	for (int d = 16; d; d >>= 1) {
		other = __shfl_xor_sync(ALL_LANES, min, d);
		min = other < min ? other : min;
	}
	left = warp_sum(left);
	if (!lane_id() && left) {
		note_min(g, min);
		add(&counters_of(g)->left, left);
	}
}

/* The paper's kernel: expands every vertex whose distance fell in the previous round. */
template <typename R, typename W, typename S, int MODE>
__device__ static void emogi_sssp(const gpu_graph &g, typename S::bits *distance,
				  const uint8_t *active, uint8_t *active_next)
{
	typedef typename S::bits D;
	tally t = { 0, 0 };
	bool any = false;

	each_active<MODE>(g, [&](u64 v) { return active[v]; }, [&](u64 v) {
		D from = distance[v];

		walk_list<R, W, MODE>(g, v, t, [&](R entry, W weight) {
			u32 to = target_of<R>(g, entry);
			D d = S::template plus<R, W>(g, from, entry, weight);

			if (d < distance[to] && d < lower<D>(&distance[to], d)) {
				active_next[to] = 1;
				any = true;
			}
		});
	});
	report_workers<MODE>(g, t, any);
}

#define SSSP_EMOGI(R, W, S, name, MODE, mode)                                                      \
	extern "C" __global__ void emogi_sssp_##name##_##mode(                                     \
		gpu_graph g, S::bits *distance, const uint8_t *active, uint8_t *next)               \
	{                                                                                          \
		emogi_sssp<R, W, S, MODE>(g, distance, active, next);                               \
	}
#define SSSP_RELAX(R, W, S, name)                                                                  \
	extern "C" __global__ void sssp_relax_##name(gpu_graph g, const u64 *queue, u64 count,     \
						     S::bits *distance, const u32 *settled, u32 *fell) \
	{                                                                                          \
		sssp_relax<R, W, S>(g, queue, count, distance, settled, fell);                     \
	}
#define SSSP_KERNELS(R, W, S, name)                                                                \
	SSSP_RELAX(R, W, S, name)                                                                  \
	SSSP_EMOGI(R, W, S, name, GPU_NAIVE, naive)                                                \
	SSSP_EMOGI(R, W, S, name, GPU_MERGED, merged)                                              \
	SSSP_EMOGI(R, W, S, name, GPU_ALIGNED, aligned)

/* plain lists: named by entry width, distance type, and "separate" for weights in a separate array */
#define SSSP_PLAIN(X)                                                                       \
	X(u32, no_weight, sum_packed<u32>, 4_u32)                                           \
	X(u64, no_weight, sum_packed<u32>, 8_u32)                                           \
	X(u32, no_weight, sum_packed<u64>, 4_u64)                                           \
	X(u64, no_weight, sum_packed<u64>, 8_u64)                                           \
	X(u32, u32, sum_separate<u32>, 4_u32_separate)                                      \
	X(u64, u32, sum_separate<u32>, 8_u32_separate)                                      \
	X(u32, u32, sum_separate<u64>, 4_u64_separate)                                      \
	X(u64, u32, sum_separate<u64>, 8_u64_separate)                                      \
	X(u32, float, sum_f32, 4_f32_separate)                                              \
	X(u64, float, sum_f32, 8_f32_separate)                                              \
	X(u32, double, sum_f64, 4_f64_separate)                                             \
	X(u64, double, sum_f64, 8_f64_separate)

SSSP_PLAIN(SSSP_KERNELS)
SSSP_RELAX(compressed, no_weight, sum_packed<u32>, compressed_u32)
SSSP_RELAX(compressed, no_weight, sum_packed<u64>, compressed_u64)
SSSP_RELAX(compressed, u32, sum_separate<u32>, compressed_u32_separate)
SSSP_RELAX(compressed, u32, sum_separate<u64>, compressed_u64_separate)
SSSP_RELAX(compressed, float, sum_f32, compressed_f32_separate)
SSSP_RELAX(compressed, double, sum_f64, compressed_f64_separate)

#define SSSP_COLLECT(R, width, D, bits)                                                            \
	extern "C" __global__ void sssp_collect_##width##_##bits(                                  \
		gpu_graph g, const D *distance, D *expanded, u64 least, u64 bound, u64 *queue, u32 *settled) \
	{                                                                                          \
		sssp_collect<R, D>(g, distance, expanded, least, bound, queue, settled);           \
	}
SSSP_COLLECT(u32, 4, u32, 32)
SSSP_COLLECT(u32, 4, u64, 64)
SSSP_COLLECT(u64, 8, u32, 32)
SSSP_COLLECT(u64, 8, u64, 64)
SSSP_COLLECT(compressed, compressed, u32, 32)
SSSP_COLLECT(compressed, compressed, u64, 64)

#endif
