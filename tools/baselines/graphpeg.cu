// SPDX-License-Identifier: MIT
/*
 * The GPU's kernels of GraphPEG's experiments, compiled only to count their instructions; they are never run.
 * gunrock_*: load-balanced partitioning as described by Wang et al., "Gunrock: a high-performance graph processing
 * library on the GPU", section 4.4, and Davidson et al., "Work-efficient parallel GPU methods for single-source
 * shortest paths": degrees, their scan, a sorted search, a binary search per edge, and a filter with a scan per block.
 * cooperative: SEP-Graph's strategy for scale-free graphs. simple: GraphPEG, figure 1, also with hardware worklists.
 * peg: GraphPEG, figure 4. edge_*: the edge functions of the six algorithms, vertex_*: the filters' vertex functions.
 * The programs of the laboratory in firmware-model/lab/kernels/peg_advance.c and peg_visit.c have the same structure.
 */
#include "count.cuh"
#include "scan.cuh"

/* Where the marked code leaves its results, so that the compiler keeps it. */
#define KEEP(x)	asm volatile("" :: "r"(x))
/* Values that only the surrounding code knows: no instruction. */
#define KNOWN(x) asm volatile("" : "=r"(x))

/* The prefix sums of a block, which may use @parts again at once. */
static __device__ __forceinline__ u32 block_scan_again(u32 n, u32 *parts, u32 *total)
{
	u32 before = block_scan(n, 31, parts, total);

	__syncthreads();
	return before;
}

/* ---- Gunrock's balancing ---------------------------------------------------------------------------------- */

extern "C" __global__ void gunrock_degrees(const u32 *__restrict__ in, u32 count, const u32 *__restrict__ row, u32 *__restrict__ scan)
{
	COUNT(0); /* all: a warp's vertices */
	u32 i = blockIdx.x * BLOCK + threadIdx.x;

	if (i < count) {
		u32 v = in[i];

		scan[i] = row[v + 1] - row[v];
	}
}

extern "C" __global__ void gunrock_scan_tiles(u32 *__restrict__ scan, u32 count, u32 *__restrict__ sum)
{
	__shared__ u32 parts[WARPS];
	u32 first, x[4], total, before, all = 0;

	COUNT(0); /* all: 128 degrees of a warp */
	first = blockIdx.x * 4 * BLOCK + threadIdx.x * 4;
#pragma unroll
	for (u32 r = 0; r < 4; r++) {
		u32 n = first + r < count ? scan[first + r] : 0;

		x[r] = all;
		all += n;
	}
	before = block_scan_again(all, parts, &total);
#pragma unroll
	for (u32 r = 0; r < 4; r++)
		if (first + r < count)
			scan[first + r] = x[r] + before;
	if (threadIdx.x == 0)
		sum[blockIdx.x] = total;
}

extern "C" __global__ void gunrock_scan_sums(u32 *__restrict__ sum, u32 tiles)
{
	__shared__ u32 parts[WARPS];
	u32 carry = 0, total;

#pragma unroll 1
	for (u32 at = threadIdx.x; at - threadIdx.x < tiles; at += BLOCK) {
		COUNT(0); /* tile: 32 sums of a warp */
		u32 before = block_scan_again(at < tiles ? sum[at] : 0, parts, &total);

		if (at < tiles)
			sum[at] = before + carry;
		carry += total;
	}
	COUNT(1); /* end: nothing */
	if (threadIdx.x == 0)
		sum[tiles] = carry;
}

extern "C" __global__ void gunrock_scan_add(u32 *__restrict__ scan, u32 count, const u32 *__restrict__ sum)
{
	COUNT(0); /* all: 32 degrees of a warp */
	u32 i = blockIdx.x * BLOCK + threadIdx.x;

	if (i < count)
		scan[i] += sum[i / (4 * BLOCK)];
}

extern "C" __global__ void gunrock_search(const u32 *__restrict__ scan, u32 count, u32 *__restrict__ begin, u32 blocks, u32 chunk)
{
	COUNT(0); /* start: 32 blocks' first edges */
	u32 b = blockIdx.x * BLOCK + threadIdx.x, lo = 0, hi = count;

	if (b >= blocks)
		return;
#pragma unroll 1
	while (lo + 1 < hi) {
		COUNT(1); /* step: of the binary search of 32 blocks */
		u32 mid = (lo + hi) / 2;

		if (scan[mid] <= b * chunk)
			lo = mid;
		else
			hi = mid;
	}
	COUNT(2); /* end: nothing */
	begin[b] = lo;
}

extern "C" __global__ void gunrock_partition(const u32 *__restrict__ in, u32 count, const u32 *__restrict__ row, const u32 *__restrict__ col,
					     const u32 *__restrict__ scan, const u32 *__restrict__ begin, u32 chunk, u32 total, u32 *__restrict__ slot)
{
	__shared__ u32 vertex[BLOCK], start[BLOCK], sums[BLOCK];
	u32 at, end, lo, stop, i, owner, half, push;

	COUNT(0); /* start: a warp's part of a block */
	at = blockIdx.x * chunk;
	end = min(at + chunk, total);
	lo = begin[blockIdx.x];
#pragma unroll 1
	for (; at < end; lo += BLOCK) {
		COUNT(1); /* stage: a warp's part of 256 vertices */
		i = lo + threadIdx.x;
		sums[threadIdx.x] = scan[min(i, count)];
		if (i < count) {
			u32 v = in[i];

			vertex[threadIdx.x] = v;
			start[threadIdx.x] = row[v];
		}
		stop = min(scan[min(lo + BLOCK, count)], end);
		__syncthreads();
		i = at + threadIdx.x;
#pragma unroll 1
		for (; i < stop; i += BLOCK) {
			COUNT(2); /* edge: 32 edges, without search, edge function and output */
			owner = 0;
			half = BLOCK / 2;
#pragma unroll 1
			while (half) {
				COUNT(3); /* step: of the search for the vertices of 32 edges */
				if (sums[owner + half] <= i)
					owner += half;
				half /= 2;
			}
			COUNT(4); /* found: 32 edges, from the vertex to the neighbour */
			u32 c = col[start[owner] + i - sums[owner]];

			KEEP(c);
			KEEP(vertex[owner]);
			KNOWN(push);
			COUNT(5); /* slot: 32 edges' output */
			slot[i] = push ? c : NEVER;
		}
		COUNT(6); /* next: a warp's part of 256 vertices, after the last edge */
		at = stop;
		__syncthreads();
	}
}

extern "C" __global__ void gunrock_filter(const u32 *__restrict__ slot, u32 count, u32 *__restrict__ out, u32 *tail)
{
	__shared__ u32 parts[WARPS], base;
	u32 i, v, total, at;

	COUNT(0); /* all: 32 slots of a warp, with a scan of the block */
	i = blockIdx.x * BLOCK + threadIdx.x;
	v = i < count ? slot[i] : NEVER;
	at = block_scan_again(v != NEVER, parts, &total);
	if (threadIdx.x == 0)
		base = atomicAdd(tail, total);
	__syncthreads();
	if (v != NEVER)
		out[base + at] = v;
}

/* ---- Other strategies ------------------------------------------------------------------------------------- */

extern "C" __global__ void cooperative(const u32 *__restrict__ in, u32 count, const u32 *__restrict__ row, const u32 *__restrict__ col)
{
	__shared__ u32 vertex[BLOCK], start[BLOCK], sums[BLOCK], parts[WARPS];
	u32 i, v = 0, begin = 0, n = 0, total, owner, half;

	COUNT(0); /* stage: a warp's part of 256 vertices, with a scan of the block */
	i = blockIdx.x * BLOCK + threadIdx.x;
	if (i < count) {
		v = in[i];
		begin = row[v];
		n = row[v + 1] - begin;
	}
	vertex[threadIdx.x] = v;
	start[threadIdx.x] = begin;
	sums[threadIdx.x] = block_scan_again(n, parts, &total);
	__syncthreads();
#pragma unroll 1
	for (i = threadIdx.x; i < total; i += BLOCK) {
		COUNT(1); /* edge: 32 edges, without search and edge function */
		owner = 0;
		half = BLOCK / 2;
#pragma unroll 1
		while (half) {
			COUNT(2); /* step: of the search for the vertices of 32 edges */
			if (sums[owner + half] <= i)
				owner += half;
			half /= 2;
		}
		COUNT(3); /* found: 32 edges, from the vertex to the neighbour, and the loop's end */
		u32 c = col[start[owner] + i - sums[owner]];

		KEEP(c);
		KEEP(vertex[owner]);
	}
}

extern "C" __global__ void simple(const u32 *__restrict__ in, u32 count, const u32 *__restrict__ row, const u32 *__restrict__ col)
{
	COUNT(0); /* thread: a warp's list elements */
	u32 i = blockIdx.x * BLOCK + threadIdx.x, v, end;

	if (i >= count)
		return;
	v = in[i];
	COUNT(1); /* vertex: 32 vertices */
	end = row[v + 1];
#pragma unroll 1
	for (u32 k = row[v]; k < end; k++) {
		COUNT(2); /* edge: an edge each, without edge function */
		u32 c = col[k];

		KEEP(c);
	}
}

extern "C" __global__ void clear(u32 *active, u32 count)
{
	COUNT(0); /* all: 128 flags of a warp, before a pull */
	u32 i = blockIdx.x * BLOCK + threadIdx.x;

	if (i < count)
		active[i] = 0;
}

extern "C" __global__ void append(u32 *tail, u32 *__restrict__ out, u32 v)
{
	if (v == NEVER)
		return;
	COUNT(0); /* push: the pushing lanes' vertices, with one atomic of the warp */
	u32 active = __activemask(), leader = __ffs(active) - 1, base = 0;

	if (lane() == leader)
		base = atomicAdd(tail, __popc(active));
	base = __shfl_sync(active, base, leader);
	out[base + __popc(active & ((1u << lane()) - 1))] = v;
}

/* Pop and push are instructions of the unit, which the laboratory counts itself; here one volatile instruction each. */
extern "C" __global__ void peg(void)
{
	int destination;

	COUNT(0); /* pop: 32 edges, with the test, which ends the loop */
	asm volatile("mov.u32 %0, %%clock;" : "=r"(destination));
	if (destination < 0)
		return;
	COUNT(1); /* push: the pushing lanes' vertices, or none */
	asm volatile("nanosleep.u32 %0;" :: "r"(destination));
	COUNT(2); /* end: nothing */
}

/* ---- Edge functions: between the arrival of edges and the test whether they push --------------------------- */

extern "C" __global__ void edge_bfs(u32 *label, u32 depth, u32 target)
{
	COUNT(0); /* edge: 32 edges */
	u32 old = atomicMin(&label[target], depth);

	COUNT(1); /* test: nothing */
	if (depth < old)
		label[0] = 0;
}

extern "C" __global__ void edge_sssp(u32 *label, u32 value, u32 weight, u32 target)
{
	COUNT(0); /* edge: 32 edges */
	u32 distance = value + weight, old = atomicMin(&label[target], distance);

	COUNT(1); /* test: nothing */
	if (distance < old)
		label[0] = 0;
}

extern "C" __global__ void edge_bc(u32 *label, float *paths, float value, u32 depth, u32 target)
{
	COUNT(0); /* edge: 32 edges */
	u32 old = atomicMin(&label[target], depth);

	if (old >= depth) {
		COUNT(1); /* add: edges to the next level */
		atomicAdd(&paths[target], value);
	}
	COUNT(2); /* test: nothing */
	if (depth < old)
		label[0] = 0;
}

extern "C" __global__ void edge_bc_back(const u32 *__restrict__ label, const float *__restrict__ paths, float *third, float value, u32 depth,
					u32 source, u32 target)
{
	COUNT(0); /* edge: 32 edges */
	if (label[target] == depth + 1) {
		COUNT(1); /* share: edges to the next level */
		float share = __fdividef(value, paths[target]) * (third[target] + 1);

		atomicAdd(&third[source], share);
	}
	COUNT(2); /* end: nothing */
}

extern "C" __global__ void edge_stcon(u32 *owner, u32 value, u32 target, u32 *met)
{
	COUNT(0); /* edge: 32 edges */
	u32 old = atomicCAS(&owner[target], 0, value);

	if (old && old != value) {
		COUNT(1); /* meet: edges between the sides */
		*met = 1;
	}
	COUNT(2); /* test: nothing */
	if (!old)
		owner[0] = 0;
}

extern "C" __global__ void edge_gc(u32 *label, const u32 *__restrict__ number, u32 round, u32 source, u32 target)
{
	COUNT(0); /* edge: 32 edges */
	u32 theirs = label[target], mine = label[source], one = number[source], two = number[target];

	if ((one < two || (one == two && source < target)) && theirs >= round && mine <= round) {
		COUNT(1); /* yield: edges to a greater number */
		u32 was = atomicMax(&label[source], round + 1);

		if (was <= round)
			label[0] = 0;
	}
	COUNT(2); /* end: nothing */
}

extern "C" __global__ void edge_kc_count(u32 *label, u32 source, u32 target)
{
	COUNT(0); /* edge: 32 edges */
	if (source != target)
		atomicAdd(&label[target], 1);
	COUNT(1); /* end: nothing */
}

extern "C" __global__ void edge_kc(u32 *label, u32 level, u32 target)
{
	COUNT(0); /* edge: 32 edges */
	if (label[target] > level) {
		COUNT(1); /* peel: edges to vertices that are left */
		u32 degree = atomicAdd(&label[target], NEVER);

		if (degree == level + 1)
			label[0] = 0;
		if (degree <= level)
			atomicAdd(&label[target], 1);
	}
	COUNT(2); /* end: nothing */
}

/* GraphPEG, figure 4(b): a pulled edge comes from a candidate's neighbour, which must be active: in the last level. */
extern "C" __global__ void edge_bfs_pull(u32 *label, const bool *__restrict__ active, u32 depth, u32 source, u32 target)
{
	COUNT(0); /* edge: 32 edges */
	if (active[source]) {
		COUNT(1); /* reach: edges from the last level */
		if (label[target] > depth) {
			COUNT(2); /* lower: edges from the last level to vertices that nothing reached */
			if (atomicMin(&label[target], depth) > depth)
				label[0] = 0;
		}
	}
	COUNT(3); /* end: nothing */
}

extern "C" __global__ void edge_bc_pull(u32 *label, const bool *__restrict__ active, float *paths, u32 depth, u32 source, u32 target)
{
	COUNT(0); /* edge: 32 edges */
	if (active[source]) {
		COUNT(1); /* reach: edges from the last level */
		float value = paths[source];
		u32 old = atomicMin(&label[target], depth);

		if (old >= depth) {
			COUNT(2); /* add: edges to the next level */
			atomicAdd(&paths[target], value);
		}
		COUNT(3); /* test: nothing */
		if (depth < old)
			label[0] = 0;
	}
}

extern "C" __global__ void edge_stcon_pull(u32 *owner, const bool *__restrict__ active, u32 source, u32 target)
{
	COUNT(0); /* edge: 32 edges */
	if (active[source]) {
		COUNT(1); /* claim: edges from the last level */
		if (!atomicCAS(&owner[target], 0, owner[source]))
			owner[0] = 0;
	}
	COUNT(2); /* end: nothing */
}

/* ---- Vertex functions of filters: from the vertex to the test whether it stays ----------------------------- */

extern "C" __global__ void vertex_equal(const u32 *__restrict__ label, u32 value, u32 v, u32 *out)
{
	COUNT(0); /* vertex: 32 vertices; BFS's and BC's candidates, KC's peeling */
	if (label[v] == value) {
		COUNT(1); /* end: nothing */
		out[0] = 0;
	}
}

extern "C" __global__ void vertex_unmet(const u32 *__restrict__ owner, const bool *__restrict__ active, u32 v, u32 *out)
{
	COUNT(0); /* vertex: 32 vertices; STCON's candidates */
	if (!owner[v] || active[v]) {
		COUNT(1); /* end: nothing */
		out[0] = 0;
	}
}

extern "C" __global__ void vertex_mark(bool *active, u32 v)
{
	COUNT(0); /* vertex: 32 vertices of the frontier, before a pull */
	active[v] = true;
	COUNT(1); /* end: nothing */
}

extern "C" __global__ void vertex_near(const u32 *__restrict__ label, u32 *seen, u32 round, u32 floor, u32 threshold, u32 v, u32 *out)
{
	u32 distance;

	COUNT(0); /* load: 32 vertices' distances */
	distance = label[v];
	COUNT(1); /* floor: of vertices of the far list */
	if (distance < floor)
		return;
	COUNT(2); /* once: vertices in each round */
	if (atomicMax(&seen[v], round) >= round)
		return;
	COUNT(3); /* split: vertices into near and far */
	out[distance < threshold ? 0 : 1] = v;
}
