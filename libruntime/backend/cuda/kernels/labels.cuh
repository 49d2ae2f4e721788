/* SPDX-License-Identifier: MIT */
/*
 * Label propagation: every vertex takes its neighbours' most frequent label, the lowest of several. A
 * list of one piece is counted in a table in shared memory; longer lists in tables in GPU memory, by
 * all warps that have a piece. The count after an addition, with the label, is a key whose maximum
 * is the answer: a label's last addition has its final count.
 */
#ifndef GTU_CUDA_LABELS_CUH
#define GTU_CUDA_LABELS_CUH

#include "visit.cuh"

#define LABEL_SLOTS 512u		/* of a table in shared memory: twice the entries of a piece */

struct label_slot {
	u32 label, count;		/* label + 1; 0: free */
};

__device__ static inline u32 label_hash(u32 label)
{
	return label * 0x9e3779b1u;
}

/* Count @label in a table of @slots, not full; the key of its count so far. */
__device__ static inline u64 count_label(label_slot *table, u64 slots, u32 label)
{
	u64 at = (u64)label_hash(label) * slots >> 32;

	for (;;) {
		const u32 was = atomicCAS(&table[at].label, 0u, label + 1);

		if (!was || was == label + 1)
			return (u64)(atomicAdd(&table[at].count, 1u) + 1) << 32 | (u32)~label;
		at = at + 1 == slots ? 0 : at + 1;
	}
}

extern "C" __global__ void labels_begin(gpu_graph g, u32 *label, u64 *best)
{
	for (u64 v = thread_id(); v < g.n; v += thread_count()) {
		label[v] = (u32)v;
		if (v >= g.first && v < g.end)
			best[v] = 0;
	}
}

/* Queue the vertices of the run's range whose lists have one piece (@few), or more. */
template <typename R> __device__ static void labels_collect(const gpu_graph &g, u32 few, u64 *queue)
{
	collect<R>(g, queue, [&](u32 v) { return (items_of_vertex<R>(g, v) == 1) == (few != 0); });
}

/* A warp's table, outside of the template so that it exists once. */
__device__ static inline label_slot *table_of_warp(void)
{
	__shared__ label_slot tables[GPU_BLOCK / 32][LABEL_SLOTS];

	return tables[threadIdx.x / 32];
}

/* Count the labels of an item's neighbours, by a warp; the greatest key. */
template <typename R>
__device__ static inline u64 count_item(const gpu_graph &g, u32 v, u32 chunk, tally &t, label_slot *table, u64 slots,
					const u32 *label)
{
	u64 key = 0, other;

	walk_item<R, no_weight>(g, v, chunk, t, [&](bool valid, R entry, no_weight) {
		if (valid) {
			other = count_label(table, slots, label[target_of<R>(g, entry)]);
			key = other > key ? other : key;
		}
		__syncwarp();
	});
	return warp_max(key);
}

/* Lists of one piece. */
template <typename R>
__device__ static void labels_few(const gpu_graph &g, const u64 *queue, u64 count, const u32 *label, u64 *best)
{
	label_slot *table = table_of_warp();

	each_item(g, queue, count, [&](u32 v, u32 chunk, tally &t) {
		const u64 degree = row_at(g, v + 1ull) - row_at(g, v);
		const u32 slots = 2 * degree < 32 ? 32 : (u32)(2 * degree);
		u64 key;

		for (u32 i = lane_id(); i < slots; i += 32)
			table[i] = { 0, 0 };
		__syncwarp();
		key = count_item<R>(g, v, chunk, t, table, slots, label);
		if (!lane_id())
			best[v] = key;
		__syncwarp();
	});
}

/* Longer lists: tables of twice a list's entries, at twice its place in the lists from @base on. */
template <typename R>
__device__ static void labels_many(const gpu_graph &g, const u64 *queue, u64 count, const u32 *label, u64 *best,
				   label_slot *tables, u64 base)
{
	each_item(g, queue, count, [&](u32 v, u32 chunk, tally &t) {
		const u64 start = row_at(g, v), slots = 2 * (row_at(g, v + 1ull) - start);
		const u64 key = count_item<R>(g, v, chunk, t, tables + 2 * (start - base), slots, label);

		if (!lane_id())
			atomicMax((ull *)&best[v], (ull)key);
	});
}

/* Take the labels found; counters.changed: one differs from before. */
extern "C" __global__ void labels_take(gpu_graph g, u32 *label, u64 *best)
{
	for (u64 v = thread_id(); v < g.n; v += thread_count()) {
		const u32 found = ~(u32)best[v];

		if (!best[v])
			continue;
		best[v] = 0;
		if (found == label[v])
			continue;
		label[v] = found;
		counters_of(g)->changed = 1;
	}
}

#define LABELS_KERNELS(R, format)                                                                  \
	extern "C" __global__ void labels_collect_##format(gpu_graph g, u32 few, u64 *queue)       \
	{                                                                                          \
		labels_collect<R>(g, few, queue);                                                  \
	}                                                                                          \
	extern "C" __global__ void labels_few_##format(gpu_graph g, const u64 *queue, u64 count,   \
						       const u32 *label, u64 *best)                \
	{                                                                                          \
		labels_few<R>(g, queue, count, label, best);                                       \
	}                                                                                          \
	extern "C" __global__ void labels_many_##format(gpu_graph g, const u64 *queue, u64 count,  \
							const u32 *label, u64 *best,               \
							label_slot *tables, u64 base)              \
	{                                                                                          \
		labels_many<R>(g, queue, count, label, best, tables, base);                        \
	}

VISIT_FORMATS(LABELS_KERNELS)

#endif
