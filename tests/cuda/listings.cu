// SPDX-License-Identifier: MIT
/*
 * The kernels of GraphPEG, figure 4 (a) and (b), and SparseWeaver, figure 9, as printed, and kernels
 * that use load_iru() as section 4.1 of the IRU's paper describes (its figures are pictures).
 */
#include "gtu/iru.cuh"
#include "gtu/peg.cuh"
#include "gtu/weaver.cuh"

struct Graph {
};

/* GraphPEG, figure 4 (a) */
extern "C" __global__ void BFSPush(int* level, int iteration, Graph graph,
				   int in_vl, int out_vl) {
	(void)graph;
	int dst=-1;
	do {
		__pop_edge_dst(in_vl, &dst);
		if(dst >= 0) {
			int alt_level = iteration;
			int old_level = atomicMin(&level[dst], alt_level);
			if(alt_level < old_level) {
				__push_vert(out_vl, dst);
			}
		}
	} while (dst >= 0);
}

/* GraphPEG, figure 4 (b) */
extern "C" __global__ void BFSPull(int* level, int iteration, Graph graph,
				   int in_vl, int out_vl, bool* active) {
	(void)graph;
	int src=-1, dst = -1;
	do {
		__pop_edge_src(in_vl, &src);
		__pop_edge_dst(in_vl, &dst);
		if(src >= 0 && active[src]) {
			if(level[dst] > iteration) {
				level[dst] = iteration;
				__push_vert(out_vl, dst);
			}
		}
	} while (src >= 0);
}

/* Each lane pops all fields of its edges by reference, after different numbers of earlier pops. */
extern "C" __global__ void edge_fields(int vl, uint64_t *out, uint32_t *n, uint32_t capacity)
{
	for (;;) {
		uint32_t dst, weight, at;
		uint64_t idx = 0;
		int src;

		if (threadIdx.x & 1)
			__pop_edge_idx(vl, idx);
		__pop_edge_src(vl, src);
		if (src < 0)
			break;
		__pop_edge_dst(vl, dst);
		__pop_edge_wt(vl, weight);
		if (!(threadIdx.x & 1))
			__pop_edge_idx(vl, idx);
		at = atomicAdd(n, 1u);
		if (at < capacity) {
			out[4 * at] = (uint64_t)src;
			out[4 * at + 1] = dst;
			out[4 * at + 2] = weight;
			out[4 * at + 3] = idx;
		}
	}
}

/* Keep the vertices whose value is below a threshold (GraphPEG, section 3.2, vertex-list mode). */
extern "C" __global__ void near_vertices(int in_vl, int out_vl, const uint32_t *value, uint32_t threshold)
{
	int v;

	for (__pop_vert(in_vl, &v); v >= 0; __pop_vert(in_vl, &v))
		if (value[v] < threshold)
			__push_vert(out_vl, v);
}

/* ---- IRU, section 4.1 ------------------------------------------------------------------------- */

/* BFS, figure 9: visit the labels of the edge frontier. */
extern "C" __global__ void iru_bfs(uint32_t n, uint32_t *label, uint32_t level)
{
	const uint32_t threads = gridDim.x * blockDim.x;

	for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < (n + 31) / 32 * 32; i += threads) {
		uint32_t edge;

		if (!load_iru(edge))
			continue;
		if (label[edge] > level)
			label[edge] = level;
	}
}

/* SSSP, figure 10: the weight and the position come with the index; @pos receives what won. */
extern "C" __global__ void iru_sssp(uint32_t n, uint32_t *distance, uint32_t *pos)
{
	const uint32_t threads = gridDim.x * blockDim.x;

	for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < (n + 31) / 32 * 32; i += threads) {
		uint32_t edge, weight, position;

		if (!load_iru(edge, weight, position))
			continue;
		atomicMin(&distance[edge], weight);
		pos[position] = edge;
	}
}

/* PageRank, figure 11: merged elements carry the sum of their weights. */
extern "C" __global__ void iru_pagerank(uint32_t n, float *label, uint32_t *adds)
{
	const uint32_t threads = gridDim.x * blockDim.x;

	for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < (n + 31) / 32 * 32; i += threads) {
		uint32_t edge;
		float weight;

		if (load_iru(edge, weight)) {
			atomicAdd(&label[edge], weight);
			atomicAdd(adds, 1u);
		}
	}
}

/* ---- SparseWeaver, figure 9 ------------------------------------------------------------------- */

/* The user's functions, which the compiler of section IV-B inserts, for a sum over in-edges. */
struct work_set {
	uint32_t base_id, bound, stride;
};
struct csr {
	const uint64_t *row;
	const uint32_t *col, *owner;	/* owner[e]: the vertex whose list has edge e */
	const uint8_t *skip_dest, *skip_src;
	unsigned long long *sum;	/* [n]: of (source + 1) * (edge + 1) */
	uint32_t *passed;		/* [n]: edges seen of vertices to skip */
};

#define getFrontier(id) (id)
#define getNeighbor(graph, vid) (graph).row[vid], end = (graph).row[(vid) + 1]
#define getEdge(eid) graph.col[eid], dest = graph.owner[eid], weight = (uint64_t)(eid) + 1
#define computeFn(loc, src, dest, weight) atomicAdd(&graph.sum[dest], (unsigned long long)((src) + 1) * (weight))

__device__ static bool dest_filter_at_start(const csr &graph, uint32_t vid) { return graph.skip_dest[vid] & 1; }
__device__ static bool dest_filter(const csr &graph, uint32_t vid) { return graph.skip_dest[vid] & 2; }
__device__ static bool src_filter(const csr &graph, uint32_t vid) { return graph.skip_src[vid]; }

extern "C" __global__ void weaver_gather(work_set wset, csr graph)
{
	const uint32_t tid = get_thread_id();
	uint64_t start, end, weight;
	uint32_t src, dest;
	int64_t vid, eid;

	for (uint32_t id = wset.base_id + tid; id < wset.bound;
	     id += wset.stride) {
		vid = getFrontier(id);
		if (dest_filter_at_start(graph, (uint32_t)vid))
			continue;
		start = getNeighbor(graph, vid);
		WEAVER_REG(vid, start, end - start); }
	synchronization();
	while (true) {
		vid = WEAVER_DEC_ID();
		if (vid == -1)
			break;
		eid = WEAVER_DEC_LOC();
		src = getEdge(eid);
		if (dest_filter(graph, dest)) {
			atomicAdd(&graph.passed[dest], 1u);
			WEAVER_SKIP(dest);
		}
		if (src_filter(graph, src))
			continue;
		computeFn(eid, src, dest, weight);
	}
}
