/* SPDX-License-Identifier: MIT */
/*
 * The paper's own kernels (emogi.txt, sections 4.2 and 4.3): every launch looks at all vertices; a thread
 * (naive) or a warp (merged, aligned) goes through the list of an active one, as its listings do.
 */
#ifndef GTU_CUDA_EMOGI_CUH
#define GTU_CUDA_EMOGI_CUH

#include "common.cuh"

/* f(entry, weight) for each edge of @v, by one thread (NAIVE) or one warp. */
template <typename R, typename W, int MODE, typename F>
__device__ static inline void walk_list(const gpu_graph &g, u64 v, tally &t, F f)
{
	const u64 line = 128 / sizeof(R);
	u64 s, e, i;

	edges_of(g, v, &s, &e);
	count_sectors<R, W>(g, t, s, e);
	if (MODE == GPU_NAIVE) {
		for (i = s; i < e; i++)
			f(entry_at<R>(g, i), weight_at<W>(g, i));
	} else {
		for (i = (MODE == GPU_ALIGNED ? s & ~(line - 1) : s) + lane_id(); i < e; i += 32)
			if (i >= s)
				f(entry_at<R>(g, i), weight_at<W>(g, i));
	}
}

/*
 * visit(v) for each vertex that active(v) names, by one thread (NAIVE) or one warp. A warp looks at 32 vertices at once and then
 * takes the active ones in turn: with a warp for each vertex, levels of few took a tenth of the time to find them.
 */
template <int MODE, typename P, typename F> __device__ static inline void each_active(const gpu_graph &g, P active, F visit)
{
	u64 v, padded = (g.n + 31) & ~31ull;

	for (v = thread_id(); v < padded; v += thread_count()) {
		bool due = v < g.n && active(v);

		if constexpr (MODE == GPU_NAIVE) {
			if (due)
				visit(v);
		} else {
			for (u32 left = __ballot_sync(ALL_LANES, due); left; left &= left - 1) {
				/* its reads are merged only if all lanes ask at once */
				__syncwarp();
				visit((v & ~31ull) + (u32)__ffs((int)left) - 1);
			}
		}
	}
}

template <int MODE> __device__ static inline void report_workers(const gpu_graph &g, tally t)
{
	if (MODE == GPU_NAIVE) {
		t.far = warp_sum(t.far);
		t.near = warp_sum(t.near);
	}
	report(g, t);
}

template <typename R, int MODE>
__device__ static void emogi_bfs(const gpu_graph &g, u32 *level, u32 now)
{
	tally t = { 0, 0 };
	bool any = false;

	each_active<MODE>(g, [&](u64 v) { return level[v] == now; }, [&](u64 v) {
		walk_list<R, no_weight, MODE>(g, v, t, [&](R entry, no_weight) {
			u32 to = target_of<R>(g, entry);

			if (level[to] == GPU_UNREACHED) {
				level[to] = now + 1;
				any = true;
			}
		});
	});
	__syncwarp();
	if (any)
		counters_of(g)->changed = 1;
	report_workers<MODE>(g, t);
}

/* Labels fall along an edge in whichever way there is a difference; @visit says whose list is read. */
template <typename R, int MODE>
__device__ static void emogi_components(const gpu_graph &g, u32 *label, const uint8_t *visit,
					uint8_t *visit_next, u32 everybody)
{
	tally t = { 0, 0 };
	bool any = false;

	each_active<MODE>(g, [&](u64 v) { return everybody || visit[v]; }, [&](u64 v) {
		walk_list<R, no_weight, MODE>(g, v, t, [&](R entry, no_weight) {
			u32 to = target_of<R>(g, entry), a = label[v], b = label[to];

			if (a == b)
				return;
			if (a < b) {
				atomicMin(&label[to], a);
				visit_next[to] = 1;
			} else {
				atomicMin(&label[v], b);
				visit_next[v] = 1;
			}
			any = true;
		});
	});
	__syncwarp();
	if (any)
		counters_of(g)->changed = 1;
	report_workers<MODE>(g, t);
}

/* sum[target] += what the source gives each of its edges. */
template <typename R, int MODE>
__device__ static void emogi_push(const gpu_graph &g, const double *give, double *sum)
{
	tally t = { 0, 0 };

	each_active<MODE>(g, [](u64) { return true; }, [&](u64 v) {
		double x = give[v];

		walk_list<R, no_weight, MODE>(g, v, t, [&](R entry, no_weight) {
			atomicAdd(&sum[target_of<R>(g, entry)], x);
		});
	});
	__syncwarp();
	report_workers<MODE>(g, t);
}

#define EMOGI_KERNELS(R, width, MODE, mode)                                                        \
	extern "C" __global__ void emogi_bfs_##width##_##mode(gpu_graph g, u32 *level, u32 now)    \
	{                                                                                          \
		emogi_bfs<R, MODE>(g, level, now);                                                 \
	}                                                                                          \
	extern "C" __global__ void emogi_components_##width##_##mode(                              \
		gpu_graph g, u32 *label, const uint8_t *visit, uint8_t *next, u32 everybody)       \
	{                                                                                          \
		emogi_components<R, MODE>(g, label, visit, next, everybody);                       \
	}                                                                                          \
	extern "C" __global__ void emogi_push_##width##_##mode(gpu_graph g, const double *give,    \
							       double *sum)                        \
	{                                                                                          \
		emogi_push<R, MODE>(g, give, sum);                                                 \
	}
#define EMOGI_WIDTHS(MODE, mode)                                                                   \
	EMOGI_KERNELS(u32, 4, MODE, mode)                                                          \
	EMOGI_KERNELS(u64, 8, MODE, mode)

EMOGI_WIDTHS(GPU_NAIVE, naive)
EMOGI_WIDTHS(GPU_MERGED, merged)
EMOGI_WIDTHS(GPU_ALIGNED, aligned)

#endif
