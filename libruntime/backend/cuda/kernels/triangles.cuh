/* SPDX-License-Identifier: MIT */
/*
 * Triangles of an oriented graph with sorted lists: for each edge (v, u), the targets that v and u
 * share. A warp takes a piece of v's list, keeps a slice of the list in shared memory, and reads the
 * lists of the piece's targets in whole lines, searching each entry in the slice. Orientation by degree
 * bounds every list, so pieces balance the work.
 *
 * An edge that is stored in both directions counts twice for the corner opposite to it: its weight.
 */
#ifndef GTU_CUDA_TRIANGLES_CUH
#define GTU_CUDA_TRIANGLES_CUH

#include "visit.cuh"

#define TRIANGLE_PIECE	256u		/* most entries of a work item */
#define TRIANGLE_SLICE	(2 * TRIANGLE_PIECE)	/* entries of the list in shared memory */

/* The times that an edge counts. */
struct counts_two {
	typedef no_weight weight;
	template <typename R> __device__ static u32 of(const gpu_graph &, R, no_weight) { return 2; }
};
struct counts_packed {
	typedef no_weight weight;
	template <typename R> __device__ static u32 of(const gpu_graph &g, R entry, no_weight) { return packed_weight<R>(g, entry); }
};
struct counts_separate {
	typedef u32 weight;
	template <typename R> __device__ static u32 of(const gpu_graph &, R, u32 weight) { return weight; }
};

/* Append the targets of an item, and what they count, to @have entries; the number of all. */
template <typename R, typename C>
__device__ static inline u32 keep_targets(const gpu_graph &g, u32 v, u32 chunk, tally &t, u32 *target, uint8_t *counts, u32 have)
{
	walk_item<R, typename C::weight, true>(g, v, chunk, t, [&](bool valid, R entry, typename C::weight weight) {
		const u32 lanes = __ballot_sync(ALL_LANES, valid), at = have + __popc(lanes & ((1u << lane_id()) - 1));

		if (valid) {
			target[at] = target_of<R>(g, entry);
			counts[at] = (uint8_t)C::template of<R>(g, entry, weight);
		}
		have += __popc(lanes);
	});
	__syncwarp();
	return have;
}

/* The place of @to in @n ascending targets, or @n. */
__device__ static inline u32 place_of(const u32 *target, u32 n, u32 to)
{
	u32 low = 0, high = n, middle;

	while (low < high) {
		middle = (low + high) / 2;
		if (target[middle] < to)
			low = middle + 1;
		else
			high = middle;
	}
	return low < n && target[low] == to ? low : n;
}

/* A warp's slice and piece in shared memory, outside of the templates so that it exists once. */
struct triangle_lists {
	u32 slice[TRIANGLE_SLICE], piece[TRIANGLE_PIECE];
	uint8_t in_slice[TRIANGLE_SLICE], in_piece[TRIANGLE_PIECE];
};
__device__ static inline triangle_lists &lists_of_warp(void)
{
	__shared__ triangle_lists lists[GPU_BLOCK / 32];

	return lists[threadIdx.x / 32];
}

template <typename R, typename C>
__device__ static void triangles(const gpu_graph &g, const u64 *queue, u64 count, u64 *closed)
{
	triangle_lists &lists = lists_of_warp();
	u32 *slice = lists.slice, *piece = lists.piece;
	uint8_t *in_slice = lists.in_slice, *in_piece = lists.in_piece;
	u64 edges = 0;

	each_item(g, queue, count, [&](u32 v, u32 chunk, tally &t) {
		const u32 items = items_of_vertex<R>(g, v), corners = keep_targets<R, C>(g, v, chunk, t, piece, in_piece, 0);
		u64 of_v = 0;

		for (u32 first = 0; first < items; first += TRIANGLE_SLICE / TRIANGLE_PIECE) {
			u32 have = 0;

			for (u32 i = first; i < items && i < first + TRIANGLE_SLICE / TRIANGLE_PIECE; i++)
				have = keep_targets<R, C>(g, v, i, t, slice, in_slice, have);
			for (u32 c = 0; c < corners; c++) {
				const u32 u = piece[c], through = in_piece[c], theirs = items_of_vertex<R>(g, u);
				u64 of_u = 0;

				for (u32 k = 0; k < theirs; k++)
					walk_item<R, typename C::weight, true>(g, u, k, t, [&](bool valid, R entry, typename C::weight weight) {
						const u32 to = target_of<R>(g, entry), at = valid ? place_of(slice, have, to) : have;

						if (at < have) {
							of_v += C::template of<R>(g, entry, weight);
							of_u += in_slice[at];
							add(&closed[to], through);
						}
						__syncwarp();
					});
				of_u = warp_sum(of_u);
				if (!lane_id() && of_u)
					add(&closed[u], of_u);
				if (!first)
					edges += row_at(g, u + 1ull) - row_at(g, u);
			}
			__syncwarp();
		}
		of_v = warp_sum(of_v);
		if (!lane_id() && of_v)
			add(&closed[v], of_v);
	});
	if (!lane_id() && edges)
		add(&counters_of(g)->edges, edges);
}

#define TRIANGLES(R, format, C, name)                                                              \
	extern "C" __global__ void triangles_##format##name(gpu_graph g, const u64 *queue,         \
							    u64 count, u64 *closed)                \
	{                                                                                          \
		triangles<R, C>(g, queue, count, closed);                                          \
	}
#define TRIANGLES_KERNELS(R, format)                                                               \
	TRIANGLES(R, format, counts_two, )                                                         \
	TRIANGLES(R, format, counts_packed, _packed)                                               \
	TRIANGLES(R, format, counts_separate, _separate)

VISIT_FORMATS(TRIANGLES_KERNELS)

#endif
