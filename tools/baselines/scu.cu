// SPDX-License-Identifier: MIT
/*
 * The GPU's kernels of the SCU's and the IRU's baselines, compiled only to count their instructions; they are
 * never run. BFS follows the description in Merrill, Garland and Grimshaw, "High-performance and scalable GPU
 * graph traversal" (two-phase: expansion with block, warp and scan gathering; contraction with bit mask, label, warp
 * and history culling); SSSP the near-far method of Davidson et al., "Work-efficient parallel GPU methods for
 * single-source shortest paths"; PageRank SCU, section 2.3. The programs of the laboratory in
 * firmware-model/lab/kernels/scu_kernels_gpu.c have the same structure.
 */
#include "count.cuh"
#include "scan.cuh"

#define CULL	128u		/* words of the warp's hash */
#define HISTORY	512u		/* words of the block's hash */

/* ---- Expansion: Merrill, section 5.1 ---------------------------------------------------------------------- */

/* PREPARED: ranges and costs are read from arrays that another kernel wrote (the split form). */
template <bool LIST, bool COSTS, bool ADD, bool PREPARED>
static __device__ __forceinline__ void expand(const u32 *__restrict__ from, u32 count, const u32 *__restrict__ row,
					      const u32 *__restrict__ label, const u32 *__restrict__ col,
					      const u32 *__restrict__ weight, u32 *__restrict__ edge, u32 *__restrict__ cost,
					      u32 *tail)
{
	__shared__ u32 owner, run[4], base, sums[2][WARPS], warp_run[WARPS][4], at[BLOCK], with[COSTS ? BLOCK : 1];
	u32 i, begin = 0, n = 0, self = 0, coarse, fine, coarse_total, fine_total, position, k, done, mine = 0, old;

	COUNT(0); /* load: a warp's vertices and their ranges */
	i = blockIdx.x * BLOCK + threadIdx.x;
	if (i < count) {
		if (PREPARED) {
			begin = row[i];
			n = from[i];
			if (COSTS)
				self = label[i];
		} else {
			u32 v = LIST ? from[i] : i;

			begin = row[v];
			n = row[v + 1] - begin;
			if (COSTS)
				self = label[v];
			if (!LIST)
				self = __float_as_uint(__fdividef(__uint_as_float(self), n ? n : 1));
		}
	}

	COUNT(1); /* reserve: a warp's part of two prefix sums of the block, and the block's atomic addition */
	coarse = block_scan(n >= 32 ? n : 0, 0, sums[0], &coarse_total);
	fine = block_scan(n < 32 ? n : 0, 0, sums[1], &fine_total);
	if (threadIdx.x == 0)
		base = atomicAdd(tail, coarse_total + fine_total);
	__syncthreads();
	position = base + (n >= 32 ? coarse : coarse_total + fine);
	fine += coarse_total;

	/* a whole block gathers a vertex of at least its size */
#pragma unroll 1
	for (;;) {
		COUNT(2); /* any_block: a warp's part of the search for a vertex that the block gathers */
		if (!__syncthreads_or(n >= BLOCK))
			break;
		COUNT(3); /* block: a warp's part of the selection of that vertex */
		if (n >= BLOCK)
			owner = threadIdx.x;
		__syncthreads();
		if (owner == threadIdx.x) {
			run[0] = begin;
			run[1] = n;
			run[2] = position;
			if (COSTS)
				run[3] = self;
			n = 0;
		}
		__syncthreads();
#pragma unroll 1
		for (k = threadIdx.x; k < run[1]; k += BLOCK) {
			COUNT(4); /* block_edges: a warp's next 32 edges of the vertex */
			edge[run[2] + k] = col[run[0] + k];
			if (COSTS)
				cost[run[2] + k] = run[3] + (ADD ? weight[run[0] + k] : 0);
		}
		COUNT(13); /* block_next: a warp's way to the next search */
	}
	COUNT(10); /* then_warps: a warp's way from one gathering to the next */
	/* a warp gathers a vertex of at least 32 edges */
#pragma unroll 1
	for (;;) {
		volatile u32 *mine_run = warp_run[threadIdx.x / 32];

		COUNT(5); /* any_warp: the search for a vertex that the warp gathers */
		if (!__any_sync(ALL, n >= 32))
			break;
		COUNT(6); /* warp: the selection of that vertex */
		if (n >= 32)
			mine_run[0] = lane();
		__syncwarp();
		old = mine_run[0];
		__syncwarp();
		if (old == lane()) {
			mine_run[0] = begin;
			mine_run[1] = n;
			mine_run[2] = position;
			if (COSTS)
				mine_run[3] = self;
			n = 0;
		}
		__syncwarp();
#pragma unroll 1
		for (k = lane(); k < mine_run[1]; k += 32) {
			COUNT(7); /* warp_edges: its next 32 edges */
			edge[mine_run[2] + k] = col[mine_run[0] + k];
			if (COSTS)
				cost[mine_run[2] + k] = mine_run[3] + (ADD ? weight[mine_run[0] + k] : 0);
		}
		COUNT(14); /* warp_next: the way to the next search */
	}
	/* the block gathers the edges of all others by their prefix sums */
	COUNT(11); /* then_scan: a warp's way from one gathering to the next */
	fine -= coarse_total;
#pragma unroll 1
	for (done = 0; done < fine_total; done += BLOCK) {
#pragma unroll 1
		while (mine < n && fine + mine < done + BLOCK) {
			COUNT(8); /* scatter: a warp's next edges, one of each lane, to shared memory */
			at[fine + mine - done] = begin + mine;
			if (COSTS)
				with[fine + mine - done] = self;
			mine++;
		}
		COUNT(9); /* scan_edges: a warp's 32 edges of the block's next, with two barriers */
		__syncthreads();
		if (done + threadIdx.x < fine_total) {
			k = at[threadIdx.x];
			edge[base + coarse_total + done + threadIdx.x] = col[k];
			if (COSTS)
				cost[base + coarse_total + done + threadIdx.x] = with[threadIdx.x] + (ADD ? weight[k] : 0);
		}
		__syncthreads();
	}
	COUNT(12); /* end: a warp's */
}

#define EXPAND(name, list, costs, add, prepared)                                                                          \
extern "C" __global__ void name(const u32 *from, u32 count, const u32 *row, const u32 *label, const u32 *col,         \
				const u32 *weight, u32 *edge, u32 *cost, u32 *tail)                                   \
{                                                                                                                    \
	expand<list, costs, add, prepared>(from, count, row, label, col, weight, edge, cost, tail);                         \
}
EXPAND(bfs_expand, true, false, false, false)
EXPAND(sssp_expand, true, true, true, false)
EXPAND(pr_expand, false, true, false, false)
EXPAND(split_expand, true, false, false, true)
EXPAND(split_expand_add, true, true, true, true)
EXPAND(split_expand_copy, true, true, false, true)

/* ---- Contraction ------------------------------------------------------------------------------------------ */

/* The block's threads with @keep append @value to a list: prefix sums, one atomic addition, a store. */
static __device__ __forceinline__ u32 append(bool keep, u32 *tail, u32 *sums, u32 *base)
{
	u32 total, position = block_scan(keep, 0, sums, &total);

	if (threadIdx.x == 0)
		*base = atomicAdd(tail, total);
	__syncthreads();
	return *base + position;
}

/*
 * Merrill's contraction (back40computing, two_phase/contract_atomic). The grid fills the GPU once, and a block processes its
 * part of the edge frontier tile by tile, so that its history spans the part.
 */
extern "C" __global__ void bfs_contract(const u32 *__restrict__ edge, u32 count, u32 *mask, u32 *label,
					u32 depth, u32 *near, u32 *tail)
{
	__shared__ u32 sums[WARPS], base;
	__shared__ volatile u32 cull[WARPS][CULL], history[HISTORY];
	u32 i, v, at, bit, slot, word, tiles, tile, end;

	COUNT(0); /* begin: the block's hash, and its range of the edge frontier */
#pragma unroll
	for (i = threadIdx.x; i < HISTORY; i += BLOCK)
		history[i] = NEVER;
	tiles = (count + BLOCK - 1) / BLOCK;
	tile = tiles / gridDim.x * blockIdx.x + min(blockIdx.x, tiles % gridDim.x);
	end = tile + tiles / gridDim.x + (blockIdx.x < tiles % gridDim.x);
	__syncthreads();
#pragma unroll 1
	for (; tile < end; tile++) {
		COUNT(1); /* load: a warp's edges */
		v = NEVER;
		i = tile * BLOCK + threadIdx.x;
		if (i < count)
			v = edge[i];
		COUNT(2); /* mask: the look-up in the bit mask, and its update */
		if (v != NEVER) {
			word = mask[v / 32];
			bit = 1u << v % 32;
			if (word & bit)
				v = NEVER;
			else
				mask[v / 32] = word | bit;
		}
		COUNT(3); /* label: the look-up of the labels, and their update */
		if (v != NEVER) {
			if (label[v] != NEVER)
				v = NEVER;
			else
				label[v] = depth;
		}
		COUNT(4); /* cull: the culling within the warp */
		if (v != NEVER) {
			slot = v % CULL;
			cull[threadIdx.x / 32][slot] = v;
			if (cull[threadIdx.x / 32][slot] == v) {
				cull[threadIdx.x / 32][slot] = threadIdx.x;
				if (cull[threadIdx.x / 32][slot] != threadIdx.x)
					v = NEVER;
			}
		}
		COUNT(5); /* history: the culling by the block's history */
		if (v != NEVER) {
			slot = v % HISTORY;
			if (history[slot] == v)
				v = NEVER;
			else
				history[slot] = v;
		}
		COUNT(6); /* append: the prefix sums, the block's atomic addition and the store */
		at = append(v != NEVER, tail, sums, &base);
		if (v != NEVER)
			near[at] = v;
		COUNT(7); /* next: a warp's way to its block's next edges */
	}
}

/* Davidson: an element that lowers a distance writes its number to the vertex's look-up entry. */
extern "C" __global__ void sssp_relax(const u32 *__restrict__ edge, const u32 *__restrict__ cost, u32 count, u32 *label,
				      u32 *lookup)
{
	u32 i, v, c;
	bool lower = false;

	COUNT(0); /* load: a warp's edges, their costs, and the look-up of the labels */
	i = blockIdx.x * BLOCK + threadIdx.x;
	if (i < count) {
		v = edge[i];
		c = cost[i];
		lower = c < label[v];
	}
	COUNT(1); /* update: the atomic minimum and the entry of the look-up table */
	if (lower && atomicMin(&label[v], c) > c)
		lookup[v] = i;
}

/* The elements whose number is kept list their vertex as near or far. */
extern "C" __global__ void sssp_list(const u32 *__restrict__ edge, u32 count, const u32 *label, const u32 *lookup,
				     u32 threshold, u32 *near, u32 *far, u32 *far_cost, u32 *tail)
{
	__shared__ u32 sums[2][WARPS], base[2];
	u32 i, v = NEVER, c = 0, at;
	bool kept = false;

	COUNT(0); /* load: a warp's edges and the look-up of their numbers */
	i = blockIdx.x * BLOCK + threadIdx.x;
	if (i < count) {
		v = edge[i];
		kept = lookup[v] == i;
	}
	COUNT(1); /* cost: the label of those kept */
	if (kept)
		c = label[v];
	COUNT(2); /* append: prefix sums and atomic additions of both lists, and the stores */
	at = append(kept && c < threshold, &tail[0], sums[0], &base[0]);
	if (kept && c < threshold)
		near[at] = v;
	at = append(kept && c >= threshold, &tail[1], sums[1], &base[1]);
	if (kept && c >= threshold) {
		far[at] = v;
		far_cost[at] = c;
	}
}

/* ---- The split form: SCU, algorithms 1 to 3, with the compaction in kernels of its own -------------------------- */

template <bool LIST, bool COSTS, bool SHARES>
static __device__ __forceinline__ void prepare(const u32 *__restrict__ from, u32 count, const u32 *__restrict__ row,
					       const u32 *__restrict__ label, u32 *index, u32 *counts, u32 *self)
{
	u32 i, v, begin, n;

	COUNT(0); /* all: a warp's vertices */
	i = blockIdx.x * BLOCK + threadIdx.x;
	if (i < count) {
		v = LIST ? from[i] : i;
		begin = row[v];
		n = row[v + 1] - begin;
		index[i] = begin;
		counts[i] = n;
		if (SHARES)
			self[i] = __float_as_uint(__fdividef(__uint_as_float(label[v]), n ? n : 1));
		else if (COSTS)
			self[i] = label[v];
	}
}

#define PREPARE(name, list, costs, shares)                                                                           \
extern "C" __global__ void name(const u32 *from, u32 count, const u32 *row, const u32 *label, u32 *index, u32 *counts, \
				u32 *self)                                                                            \
{                                                                                                                     \
	prepare<list, costs, shares>(from, count, row, label, index, counts, self);                                    \
}
PREPARE(bfs_prepare, true, false, false)
PREPARE(sssp_prepare, true, true, false)
PREPARE(pr_prepare, false, false, true)

/*
 * Contraction that writes a bit mask instead of a list. Only the region of the mask word is counted; the others are those of
 * bfs_contract, whose blocks loop over their parts.
 */
extern "C" __global__ void bfs_mark(const u32 *__restrict__ edge, u32 count, u32 *mask, u32 *label, u32 depth,
				    u32 *bits)
{
	__shared__ volatile u32 cull[WARPS][CULL], history[HISTORY];
	u32 i, v = NEVER, bit, slot, word;

	i = blockIdx.x * BLOCK + threadIdx.x;
	if (i < count)
		v = edge[i];
	if (v != NEVER) {
		word = mask[v / 32];
		bit = 1u << v % 32;
		if (word & bit)
			v = NEVER;
		else
			mask[v / 32] = word | bit;
	}
	if (v != NEVER) {
		if (label[v] != NEVER)
			v = NEVER;
		else
			label[v] = depth;
	}
	if (v != NEVER) {
		slot = v % CULL;
		cull[threadIdx.x / 32][slot] = v;
		if (cull[threadIdx.x / 32][slot] == v) {
			cull[threadIdx.x / 32][slot] = threadIdx.x;
			if (cull[threadIdx.x / 32][slot] != threadIdx.x)
				v = NEVER;
		}
	}
	if (v != NEVER) {
		slot = v % HISTORY;
		if (history[slot] == v)
			v = NEVER;
		else
			history[slot] = v;
	}
	COUNT(0); /* bits: the warp's mask word */
	word = __ballot_sync(ALL, v != NEVER);
	if (lane() == 0)
		bits[i / 32] = word;
}

/* SSSP's relaxation of an edge frontier with the costs of the edges and of their sources (basic SCU), or with their sums. */
extern "C" __global__ void sssp_mark(const u32 *__restrict__ edge, u32 *cost, const u32 *__restrict__ source, u32 count,
				     u32 *label, u32 *lookup)
{
	u32 i, v, c;
	bool lower = false;

	COUNT(0); /* load: a warp's edges, two costs, and the look-up of the labels */
	i = blockIdx.x * BLOCK + threadIdx.x;
	if (i < count) {
		v = edge[i];
		c = cost[i] + source[i];
		lower = c < label[v];
	}
	COUNT(1); /* update: the atomic minimum, the entry of the look-up table and the sum of the costs */
	if (lower && atomicMin(&label[v], c) > c) {
		lookup[v] = i;
		cost[i] = c;
	}
}

/* The far pile's elements that have not been processed. */
extern "C" __global__ void sssp_again(const u32 *__restrict__ edge, u32 count, const u32 *__restrict__ label, u32 floor,
				      u32 *lookup)
{
	u32 i, v;

	COUNT(0); /* all: a warp's elements */
	i = blockIdx.x * BLOCK + threadIdx.x;
	if (i < count) {
		v = edge[i];
		if (label[v] >= floor)
			lookup[v] = i;
	}
}

/* The same as two masks, where the SCU removes the duplicates. */
extern "C" __global__ void sssp_far(const u32 *__restrict__ edge, u32 count, const u32 *__restrict__ label, u32 floor,
				    u32 threshold, u32 *near, u32 *far)
{
	u32 i, c = 0, word;

	COUNT(0); /* load: a warp's elements and their labels */
	i = blockIdx.x * BLOCK + threadIdx.x;
	if (i < count)
		c = label[edge[i]];
	COUNT(1); /* bits: both mask words */
	word = __ballot_sync(ALL, i < count && c >= floor && c < threshold);
	if (lane() == 0)
		near[i / 32] = word;
	word = __ballot_sync(ALL, i < count && c >= threshold);
	if (lane() == 0)
		far[i / 32] = word;
}

/* The elements kept, as two masks. */
extern "C" __global__ void sssp_masks(const u32 *__restrict__ edge, u32 count, const u32 *label, const u32 *lookup,
				      u32 threshold, u32 *near, u32 *far)
{
	u32 i, v, c = 0, word;
	bool kept = false;

	COUNT(0); /* load: a warp's edges and the look-up of their numbers */
	i = blockIdx.x * BLOCK + threadIdx.x;
	if (i < count) {
		v = edge[i];
		kept = lookup[v] == i;
	}
	COUNT(1); /* cost: the label of those kept */
	if (kept)
		c = label[v];
	COUNT(2); /* bits: both mask words */
	word = __ballot_sync(ALL, kept && c < threshold);
	if (lane() == 0)
		near[i / 32] = word;
	word = __ballot_sync(ALL, kept && c >= threshold);
	if (lane() == 0)
		far[i / 32] = word;
}

/* The compaction of an array by a mask: prefix sums of a block, one atomic addition. */
extern "C" __global__ void split_compact(const u32 *__restrict__ in, const u32 *__restrict__ bits, u32 count, u32 *out,
					 u32 *tail)
{
	__shared__ u32 sums[WARPS], base;
	u32 i, at, x = 0;
	bool keep = false;

	COUNT(0); /* load: a warp's mask word and the elements kept */
	i = blockIdx.x * BLOCK + threadIdx.x;
	if (i < count) {
		keep = bits[i / 32] >> lane() & 1;
		if (keep)
			x = in[i];
	}
	COUNT(1); /* append: the prefix sums, the block's atomic addition and the store */
	at = append(keep, tail, sums, &base);
	if (keep)
		out[at] = x;
}

/* ---- PageRank ----------------------------------------------------------------------------------------------- */

extern "C" __global__ void pr_add(const u32 *__restrict__ edge, const float *__restrict__ cost, u32 count, float *sum)
{
	u32 i;

	COUNT(0); /* all: a warp's elements */
	i = blockIdx.x * BLOCK + threadIdx.x;
	if (i < count)
		atomicAdd(&sum[edge[i]], cost[i]);
}

extern "C" __global__ void pr_finish(float *sum, float *label, float *old, u32 n, float base)
{
	u32 v;

	COUNT(0); /* all: a warp's vertices */
	v = blockIdx.x * BLOCK + threadIdx.x;
	if (v < n) {
		old[v] = label[v];
		label[v] = base + sum[v] * 0.85f;
		sum[v] = 0;
	}
}

extern "C" __global__ void pr_check(const float *__restrict__ label, const float *__restrict__ old, u32 n, float bound,
				    u32 *changed)
{
	u32 v;
	bool moved = false;

	COUNT(0); /* all: a warp's vertices */
	v = blockIdx.x * BLOCK + threadIdx.x;
	if (v < n)
		moved = fabsf(label[v] - old[v]) > bound;
	if (__any_sync(ALL, moved) && lane() == 0)
		*changed = 1;
}
