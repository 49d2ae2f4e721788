/* SPDX-License-Identifier: MIT */
/*
 * Kernels of a graph convolution (SparseWeaver, section V-I). A warp takes a piece of a list; its
 * lanes are the features, so that the row of a neighbour is read in whole lines. With fewer than 17
 * features the lanes form groups, which take edges by turns.
 */
#ifndef GTU_CUDA_CONVOLUTION_CUH
#define GTU_CUDA_CONVOLUTION_CUH

#include "visit.cuh"

#define FEATURE_STEP 0x9e3779b97f4a7c15ull	/* GTU_SPLITMIX64_STEP */

/* gtu_splitmix64_mix() and gtu_gcn_feature() of the public headers, which are not for devices. */
__device__ static inline u64 feature_mix(u64 x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

__device__ static inline double feature_of(u64 seed, u64 v, u32 f)
{
	u64 x = seed * FEATURE_STEP ^ (v * 65536 + f);

	x = feature_mix(feature_mix(x) + FEATURE_STEP) + FEATURE_STEP;
	return (double)(x >> 11) * (1. / (1ull << 52)) - 1;
}

extern "C" __global__ void gcn_begin(gpu_graph g, double *x, double *root, u32 features, u64 seed)
{
	for (u64 i = thread_id(); i < g.n * features; i += thread_count())
		x[i] = feature_of(seed, i / features, (u32)(i % features));
	for (u64 v = thread_id(); v < g.n; v += thread_count()) {
		const u64 degree = row_at(g, v + 1) - row_at(g, v);

		root[v] = 1 / sqrt((double)(degree > 1 ? degree : 1));
	}
}

/* The factor of an edge: its weight, or of GraphSum the target's root. */
struct factor_packed {
	typedef no_weight weight;
	template <typename R>
	__device__ static double of(const gpu_graph &g, R entry, no_weight, const double *)
	{
		return packed_weight<R>(g, entry);
	}
};
template <typename W> struct factor_separate {
	typedef W weight;
	template <typename R> __device__ static double of(const gpu_graph &, R, W weight, const double *)
	{
		return (double)weight;
	}
};
struct factor_root {
	typedef no_weight weight;
	template <typename R>
	__device__ static double of(const gpu_graph &g, R entry, no_weight, const double *root)
	{
		return root[target_of<R>(g, entry)];
	}
};

/* to[v] += factor * from[target] for each edge; @root 0: else times root[v]. Counters.changed: a factor is not finite. */
template <typename R, typename C>
__device__ static void gcn_pass(const gpu_graph &g, const u64 *queue, u64 count, const double *from, double *to, u32 features,
				const double *root)
{
	u32 width = 1, first;
	bool bad = false;

	while (width < 32 && width < features)
		width *= 2;
	each_item(g, queue, count, [&](u32 v, u32 chunk, tally &t) {
		for (first = 0; first < features; first += 32) {
			const u32 f = first + lane_id() % width;
			double sum = 0;

			walk_item<R, typename C::weight, true>(g, v, chunk, t, [&](bool valid, R entry, typename C::weight weight) {
				const double factor = valid ? C::template of<R>(g, entry, weight, root) : 0;
				const u32 target = target_of<R>(g, entry), lanes = __ballot_sync(ALL_LANES, valid);

				bad |= !(factor - factor == 0);
				for (u32 i = 0; i < width; i++) {
					const u32 lane = i * (32 / width) + lane_id() / width;
					const u32 u = __shfl_sync(ALL_LANES, target, (int)lane);
					const double by = __shfl_sync(ALL_LANES, factor, (int)lane);

					if (lanes >> lane & 1 && f < features)
						sum += by * from[(u64)u * features + f];
				}
			});
			for (u32 d = width; d < 32; d *= 2)
				sum += __shfl_xor_sync(ALL_LANES, sum, d);
			if (lane_id() < width && f < features)
				atomicAdd(&to[(u64)v * features + f], root ? sum * root[v] : sum);
		}
	});
	if (bad)
		counters_of(g)->changed = 1;
}

#define GCN(R, format, C, name)                                                                    \
	extern "C" __global__ void gcn_pass_##format##name(gpu_graph g, const u64 *queue,          \
							   u64 count, const double *from,          \
							   double *to, u32 features,               \
							   const double *root)                     \
	{                                                                                          \
		gcn_pass<R, C>(g, queue, count, from, to, features, root);                         \
	}
#define GCN_KERNELS(R, format)                                                                     \
	GCN(R, format, factor_root, _root)                                                         \
	GCN(R, format, factor_packed, _packed)                                                     \
	GCN(R, format, factor_separate<u32>, _u32)                                                 \
	GCN(R, format, factor_separate<float>, _f32)                                               \
	GCN(R, format, factor_separate<double>, _f64)

VISIT_FORMATS(GCN_KERNELS)

#endif
