/* SPDX-License-Identifier: MIT */
/*
 * The paper's kernels (EMOGI, sections 4.2 and 4.3). Every launch checks all vertices; one thread
 * (naive) or one warp (merged, aligned) processes the list of an active vertex, as in its listings.
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
 * process(v) for each vertex with active(v), by one thread (NAIVE) or one warp. A warp tests 32
 * vertices at once, then processes the active ones in sequence: with one warp per vertex, levels
 * with few vertices took a tenth of the time just to find them.
 */
template <int MODE, typename P, typename F>
__device__ static inline void each_active(const gpu_graph &g, P active, F process)
{
	u64 v, padded = (g.n + 31) & ~31ull;

	for (v = thread_id(); v < padded; v += thread_count()) {
		bool due = v < g.n && active(v);

		if constexpr (MODE == GPU_NAIVE) {
			if (due)
				process(v);
		} else {
			for (u32 left = __ballot_sync(ALL_LANES, due); left; left &= left - 1) {
				/* reads are merged only if all lanes issue them together */
				__syncwarp();
				process((v & ~31ull) + (u32)__ffs((int)left) - 1);
			}
		}
	}
}

/* End of a kernel: report the tally and whether a thread has changed a value. */
template <int MODE> __device__ static inline void report_workers(const gpu_graph &g, tally t, bool changed)
{
	__syncwarp();
	if (changed)
		counters_of(g)->changed = 1;
	if (MODE == GPU_NAIVE) {
		t.list = warp_sum(t.list);
		t.cached = warp_sum(t.cached);
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
	report_workers<MODE>(g, t, any);
}

/*
 * Labels propagate along an edge in both directions; @active selects the vertices whose lists are
 * read.
 */
template <typename R, int MODE>
__device__ static void emogi_components(const gpu_graph &g, u32 *label, const uint8_t *active,
					uint8_t *active_next, u32 all_vertices)
{
	tally t = { 0, 0 };
	bool any = false;

	each_active<MODE>(g, [&](u64 v) { return all_vertices || active[v]; }, [&](u64 v) {
		walk_list<R, no_weight, MODE>(g, v, t, [&](R entry, no_weight) {
			u32 to = target_of<R>(g, entry), a = label[v], b = label[to];

			if (a == b)
				return;
			if (a < b) {
				atomicMin(&label[to], a);
				active_next[to] = 1;
			} else {
				atomicMin(&label[v], b);
				active_next[v] = 1;
			}
			any = true;
		});
	});
	report_workers<MODE>(g, t, any);
}

/* sum[target] += the source's contribution, for each edge. */
template <typename R, int MODE>
__device__ static void emogi_push(const gpu_graph &g, const double *contrib, double *sum)
{
	tally t = { 0, 0 };

	each_active<MODE>(g, [](u64) { return true; }, [&](u64 v) {
		double x = contrib[v];

		walk_list<R, no_weight, MODE>(g, v, t, [&](R entry, no_weight) {
			atomicAdd(&sum[target_of<R>(g, entry)], x);
		});
	});
	report_workers<MODE>(g, t, false);
}

#define EMOGI_KERNELS(R, width, MODE, mode)                                                        \
	extern "C" __global__ void emogi_bfs_##width##_##mode(gpu_graph g, u32 *level, u32 now)    \
	{                                                                                          \
		emogi_bfs<R, MODE>(g, level, now);                                                 \
	}                                                                                          \
	extern "C" __global__ void emogi_components_##width##_##mode(                              \
		gpu_graph g, u32 *label, const uint8_t *active, uint8_t *next, u32 all_vertices)       \
	{                                                                                          \
		emogi_components<R, MODE>(g, label, active, next, all_vertices);                       \
	}                                                                                          \
	extern "C" __global__ void emogi_push_##width##_##mode(gpu_graph g, const double *contrib,    \
							       double *sum)                        \
	{                                                                                          \
		emogi_push<R, MODE>(g, contrib, sum);                                                 \
	}
#define EMOGI_WIDTHS(MODE, mode)                                                                   \
	EMOGI_KERNELS(u32, 4, MODE, mode)                                                          \
	EMOGI_KERNELS(u64, 8, MODE, mode)

EMOGI_WIDTHS(GPU_NAIVE, naive)
EMOGI_WIDTHS(GPU_MERGED, merged)
EMOGI_WIDTHS(GPU_ALIGNED, aligned)

#endif
