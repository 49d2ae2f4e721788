/* SPDX-License-Identifier: MIT */
/* Arguments, counters and constants shared by host code and kernels; valid C and CUDA C++. */
#ifndef GTU_CUDA_KERNELS_H
#define GTU_CUDA_KERNELS_H

#include <stdint.h>

#define GPU_BLOCK	256u		/* threads per block, in every kernel */
#define GPU_WORDS	4u		/* words of 32 vertices that a warp takes at a time in a pass over vertices */
#define GPU_STRIP	(32 * GPU_WORDS)
#define GPU_RUN		32u		/* vertices that a warp takes at a time in a pass that reads their lists */
#define GPU_CHUNK	1024u		/* bytes of edge list per work item, from a 128-byte boundary */
#define GPU_UNREACHED	0xffffffffu
#define GPU_NO_VERTEX	0xffffffffu	/* no vertex: ends a short cache entry */
#define GPU_BLOCKS_THREADS 1024u	/* most threads per block of the kernels over blocks of edges (PageRank) */
#define GPU_TILE	2048u		/* edges that a block sums at a time (PageRank) */
#define GPU_CACHE_MAX	4u		/* maximum cached neighbours per vertex */
#define GPU_CACHE_CANDIDATES	1024u		/* neighbours of a vertex considered for the cache */
#define GPU_TALLIES	64u
#define GPU_LOOP_BLOCKS	32u		/* blocks of a loop that stays on the GPU */
#define GPU_LOOP_ITEMS	65536u		/* capacity of its queue, if all blocks have one */
#define GPU_LOOP_PART	1024u		/* capacity of a block's own queue, in shared memory */
#define GPU_LOOP_EDGES	65536u		/* edges that leave a frontier for which it pays */
#define GPU_LOOP_PATHS	4096u		/* items of a level for which betweenness stays on the GPU */
#define GPU_LOOP_FAR	(1u << 20)	/* capacity of its queue of far vertices */
#define GPU_LOOP_STEPS	4096u		/* most steps of one launch */
#define GPU_LOOP_CARDS	16u		/* most cards over whose memories it goes */
#define GPU_LOOP_WORK	(1u << 24)	/* work items after which a loop of large steps lets the host look */
#define GPU_SAMPLES	1024u		/* vertices sampled to find the giant component */

/* Addresses are GPU addresses. */
struct gpu_graph {
	uint64_t row;			/* n + 1 offsets of 8 bytes */
	uint64_t list, weight;		/* as placed; weight 0: none, or packed */
	uint64_t prefix, weight_prefix;	/* their cached prefixes in GPU memory */
	uint64_t prefix_end;		/* cached entries; compressed list: 4-byte words */
	uint64_t weight_prefix_end;	/* cached weights */
	uint64_t index, table;		/* compressed list: the words of compressed.h */
	uint64_t cache;			/* cache_degree neighbours of each vertex below cache_end, 4 bytes each */
	uint64_t cache_end;
	uint64_t n, m;
	uint64_t first, end;		/* vertex range of this run */
	uint64_t counters;		/* struct gpu_counters */
	uint64_t ticket;		/* a counter, by which warps or blocks take work in order; 0: none */
	uint32_t cache_degree;
	uint32_t weight_bits;		/* low bits of an entry; the vertex is above them */
	uint32_t weight_min;		/* offset of packed weights */
	uint32_t entry_bits;		/* compressed list: bits of a target */
};

/* One of several cards: where its rows, lists and weights lie, and two arrays by the vertices' numbers. */
struct gpu_card {
	uint64_t row, list, weight;
	uint64_t first, second;
};

/*
 * Vertices that components_collect processes: all, every k-th run of 32 (k), or those of the other runs
 * (GPU_SLICE_REST | k).
 */
#define GPU_SLICE_ALL		0u
#define GPU_SLICE_REST		0x80000000u

/* Vertices that a level of a search reached, and the sum of their degrees. */
struct gpu_level {
	uint64_t vertices, edges;
};

/*
 * A loop that stays on the GPU (loop.cuh). Counts of queues rotate by step, because blocks still
 * read the last one while the next is filled.
 */
struct gpu_loop {
	uint32_t arrived;		/* blocks at the barrier, over all steps */
	uint32_t steps;
	uint32_t done;			/* shortest paths: no vertex is due */
	uint64_t items[3], far[3], min[3];
	uint64_t bound;
	uint64_t reports[2][GPU_LOOP_BLOCKS]; /* breadth-first search: what each block queued */
};

struct gpu_counters {
	uint64_t items;			/* work items in the queue that a kernel fills */
	uint64_t left;			/* vertices in the second queue */
	uint64_t vertices, edges;	/* vertices reached, and the sum of their degrees */
	uint64_t not_min;		/* complement of the minimum of the values not taken: 0 for none */
	uint64_t changed;
	uint64_t ticket;		/* the next piece of work, counted from the number of warps or blocks */
	double dangling, max, product;	/* PageRank */
	struct gpu_loop loop;
	/*
	 * Sectors requested from the list and from its copy in GPU memory; never cleared within a
	 * run. An array, because a single counter for all warps would be slower than the link.
	 */
	struct gpu_tally {
		uint64_t list, cached;
		uint64_t reserved[2];
	} tally[GPU_TALLIES];
};

/* Distribution of an edge list over threads: MODE of the paper's kernels. */
enum gpu_mode { GPU_NAIVE, GPU_MERGED, GPU_ALIGNED };

#endif
