/* SPDX-License-Identifier: MIT */
/*
 * Runs a program of gtu/weave.h on a GPU, from the source that gtu_weave() and the laboratory run
 * (SparseWeaver, figure 8: one program everywhere). Include this file before the program's functions,
 * which then become device functions, and define the kernels by GTU_WEAVE_KERNELS(). CUDA C++ for
 * compute capability 6.0 and later; tests also compile it for a processor.
 *
 *	#include "gtu/weave.cuh"
 *	#include "bfs.h"
 *	GTU_WEAVE_KERNELS(bfs, bfs_init, bfs_old, bfs_reached, bfs_gather, bfs_apply)
 *
 * The kernels are bfs_run_init, bfs_run_gather and bfs_run_apply, with one argument each. The host
 * launches init once; then, for t.iteration from 0 on, clears *again and launches gather and apply,
 * until *again stays 0. A thread takes an entry with all its edges; a grid may have any size.
 */
#ifndef GTU_WEAVE_CUH
#define GTU_WEAVE_CUH

#define GTU_WEAVE_FUNCTION __device__ static
#define GTU_WEAVE_LOAD(t, pointer) ((void)(t), *(pointer))
#define GTU_WEAVE_STORE(t, pointer, value) ((void)(t), (void)(*(pointer) = (value)))
#define GTU_WEAVE_ADD(t, pointer, x) ((void)(t), gtu_weave_add(pointer, x))
#define GTU_WEAVE_LOWER(t, pointer, x) ((void)(t), gtu_weave_lower(pointer, x))
#include "gtu/weave.h"

template <typename T, typename U> __device__ static inline void gtu_weave_add(T *at, U x)
{
	atomicAdd(at, (T)x);
}
__device__ static inline void gtu_weave_add(uint64_t *at, uint64_t x)
{
	atomicAdd((unsigned long long *)at, (unsigned long long)x);
}
template <typename T, typename U> __device__ static inline bool gtu_weave_lower(T *at, U x)
{
	return (T)x < atomicMin(at, (T)x);
}
__device__ static inline bool gtu_weave_lower(uint64_t *at, uint64_t x)
{
	return x < atomicMin((unsigned long long *)at, (unsigned long long)x);
}

/* The storage in memory of the GPU, and where the program is. */
struct gtu_weave_gpu {
	struct gtu_weave_iteration t;	/* context: an address of the GPU */
	uint64_t vertices, entries;
	uint64_t pull;			/* the base vertex of an entry is the target of its edges */
	const uint64_t *first;		/* [entries + 1]: an entry's first edge */
	const uint64_t *base;		/* [entries]: its base vertex; NULL: its number */
	const uint32_t *other;		/* by edge: the vertex at the other end */
	const double *weight;		/* by edge; NULL: 1 */
	uint32_t *again;		/* set if apply has returned true */
};

typedef void gtu_weave_vertex_fn(const struct gtu_weave_iteration *t, uint64_t v);
typedef bool gtu_weave_test_fn(const struct gtu_weave_iteration *t, uint64_t v);
typedef void gtu_weave_edge_fn(const struct gtu_weave_iteration *t, uint64_t source, uint64_t target, double weight);

/* For programs without a filter. */
__device__ static inline bool gtu_weave_no_filter(const struct gtu_weave_iteration *t, uint64_t v)
{
	(void)t, (void)v;
	return false;
}

__device__ static inline uint64_t gtu_weave_thread(void)
{
	return (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
}

template <gtu_weave_vertex_fn *init> __device__ static void gtu_weave_init(const gtu_weave_gpu &a)
{
	for (uint64_t v = gtu_weave_thread(); v < a.vertices; v += (uint64_t)gridDim.x * blockDim.x)
		init(&a.t, v);
}

/* Figure 9, lines 16 to 21, for edge @e of vertex @base; true: the vertex needs no more edges. */
template <gtu_weave_test_fn *filter_source, gtu_weave_test_fn *filter_target, gtu_weave_edge_fn *gather>
__device__ static bool gtu_weave_edge(const gtu_weave_gpu &a, uint64_t base, uint64_t e)
{
	struct gtu_weave_iteration t = a.t;
	const uint64_t other = a.other[e];

	t.edge = e;
	if (filter_target(&t, a.pull ? base : other))
		return a.pull;
	if (!a.pull || !filter_source(&t, other))
		gather(&t, a.pull ? other : base, a.pull ? base : other, a.weight ? a.weight[e] : 1);
	return false;
}

template <gtu_weave_test_fn *filter_source, gtu_weave_test_fn *filter_target, gtu_weave_edge_fn *gather>
__device__ static void gtu_weave_gather(const gtu_weave_gpu &a)
{
	for (uint64_t i = gtu_weave_thread(); i < a.entries; i += (uint64_t)gridDim.x * blockDim.x) {
		const uint64_t base = a.base ? a.base[i] : i;

		if (a.pull ? filter_target(&a.t, base) : filter_source(&a.t, base))
			continue;
		for (uint64_t e = a.first[i]; e < a.first[i + 1]; e++)
			if (gtu_weave_edge<filter_source, filter_target, gather>(a, base, e))
				break;
	}
}

template <gtu_weave_test_fn *apply> __device__ static void gtu_weave_apply(const gtu_weave_gpu &a)
{
	for (uint64_t v = gtu_weave_thread(); v < a.vertices; v += (uint64_t)gridDim.x * blockDim.x)
		if (apply(&a.t, v))
			*a.again = 1;
}

#define GTU_WEAVE_KERNELS(name, init, filter_source, filter_target, gather, apply)                 \
	extern "C" __global__ void name##_run_init(gtu_weave_gpu a)                                \
	{                                                                                          \
		gtu_weave_init<init>(a);                                                           \
	}                                                                                          \
	extern "C" __global__ void name##_run_gather(gtu_weave_gpu a)                              \
	{                                                                                          \
		gtu_weave_gather<filter_source, filter_target, gather>(a);                         \
	}                                                                                          \
	extern "C" __global__ void name##_run_apply(gtu_weave_gpu a)                               \
	{                                                                                          \
		gtu_weave_apply<apply>(a);                                                         \
	}

#endif
