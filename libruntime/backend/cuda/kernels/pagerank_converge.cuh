/* SPDX-License-Identifier: MIT */
/*
 * Converged ranks of an undirected graph by conjugate gradients. With damping d, edges A and degrees D, ranks x solve
 * (I - d A D^-1) x = b, where b is the same for all vertices, as vertices without edges have the rank b. The matrix
 * is self-adjoint and positive for the product of u and v that adds up u(i) v(i) / degree(i). The direction p lies in
 * contrib as p / degree, so that the passes of pagerank.cuh compute A D^-1 p.
 */
#ifndef GTU_CUDA_PAGERANK_CONVERGE_CUH
#define GTU_CUDA_PAGERANK_CONVERGE_CUH

#include "pagerank.cuh"

__device__ static inline u64 degree_of(const gpu_graph &g, u64 v)
{
	return row_at(g, v + 1) - row_at(g, v);
}

/* The first target of @v, which has one. */
template <typename R> __device__ static inline u32 first_target(const gpu_graph &g, u64 v, tally &t)
{
	const u64 edge = row_at(g, v);

	count_sectors<R, no_weight>(g, t, edge, edge + 1);
	return target_of<R>(g, entry_at<R>(g, edge));
}
template <> __device__ inline u32 first_target<compressed>(const gpu_graph &g, u64 v, tally &t)
{
	const u64 at = gtu_compressed_word_at(((const u64 *)g.index)[v]);
	u32 word[2] = { stream_word(g, at / 32), 0 };

	if ((at & 31) + g.entry_bits > 32)
		word[1] = stream_word(g, at / 32 + 1);
	if (at / 32 < g.prefix_end)
		t.cached++;
	else
		t.list++;
	return gtu_compressed_take(word, at & 31, g.entry_bits);
}

/* Mark in @rank vertices of degree 1 whose neighbour has degree 1, and count them: the start gives them their final ranks. */
template <typename R> __device__ static void pagerank_pairs(const gpu_graph &g, double *rank)
{
	tally t = { 0, 0 };
	u64 count = 0;

	for (u64 v = thread_id(); v < g.n; v += thread_count()) {
		const bool pair = degree_of(g, v) == 1 && degree_of(g, first_target<R>(g, v, t)) == 1;

		rank[v] = pair;
		count += pair;
	}
	__syncwarp();
	t.list = warp_sum(t.list);
	t.cached = warp_sum(t.cached);
	count = warp_sum(count);
	report(g, t);
	if (!lane_id() && count)
		add(&counters_of(g)->vertices, count);
}

extern "C" __global__ void pagerank_pairs_4(gpu_graph g, double *rank)
{
	pagerank_pairs<u32>(g, rank);
}

extern "C" __global__ void pagerank_pairs_8(gpu_graph g, double *rank)
{
	pagerank_pairs<u64>(g, rank);
}

extern "C" __global__ void pagerank_pairs_compressed(gpu_graph g, double *rank)
{
	pagerank_pairs<compressed>(g, rank);
}

/* Start where the rank of marked vertices is @paired, and that of others @base + @share for each edge. */
extern "C" __global__ void pagerank_start(gpu_graph g, double *rank, double *contrib, double *sum, double base,
					  double paired, double share)
{
	for (u64 v = thread_id(); v < g.n; v += thread_count()) {
		const double degree = (double)degree_of(g, v), x = rank[v] != 0 ? paired : base + share * degree;

		rank[v] = x;
		contrib[v] = degree > 0 ? x / degree : 0;
		sum[v] = 0;
	}
}

/* Add up the product of the direction and its image, by which the step is chosen. */
extern "C" __global__ void pagerank_curvature(gpu_graph g, const double *contrib, const double *sum, double damping)
{
	double product = 0;

	for (u64 v = thread_id(); v < g.n; v += thread_count())
		product += contrib[v] * (contrib[v] * (double)degree_of(g, v) - damping * sum[v]);
	report_block(g, &counters_of(g)->product, product, 0);
}

/*
 * Go @step along the direction (@begin: compute the first residual instead). The residual is the change that a power
 * iteration would make. Add up its product with itself, and find its greatest value.
 */
extern "C" __global__ void pagerank_residual(gpu_graph g, double *rank, double *residual, const double *contrib, const double *sum,
					     double base, double damping, double step, u32 begin)
{
	double product = 0, max = 0;

	for (u64 v = thread_id(); v < g.n; v += thread_count()) {
		const double degree = (double)degree_of(g, v), direction = contrib[v] * degree;
		double left = 0;

		if (begin && degree > 0) {
			left = base + damping * sum[v] - rank[v];
		} else if (degree > 0) {
			left = residual[v] - step * (direction - damping * sum[v]);
			rank[v] += step * direction;
		}
		residual[v] = left;
		product += degree > 0 ? left * left / degree : 0;
		max = fabs(left) > max ? fabs(left) : max;
	}
	report_block(g, &counters_of(g)->product, product, max);
}

/* The next direction: the residual and @keep times the last one. */
extern "C" __global__ void pagerank_direction(gpu_graph g, const double *residual, double *contrib, double *sum, double keep)
{
	for (u64 v = thread_id(); v < g.n; v += thread_count()) {
		const double degree = (double)degree_of(g, v);

		contrib[v] = degree > 0 ? residual[v] / degree + keep * contrib[v] : 0;
		sum[v] = 0;
	}
}

/* The ranks after one power iteration more, which the residual gives without a pass. */
extern "C" __global__ void pagerank_finish(gpu_graph g, double *rank, const double *residual)
{
	for (u64 v = thread_id(); v < g.n; v += thread_count())
		rank[v] += residual[v];
}

#endif
