/* SPDX-License-Identifier: MIT */
/* What host and kernels agree on: arguments, counters, constants. Plain C and CUDA C++ both read it. */
#ifndef GTU_CUDA_KERNELS_H
#define GTU_CUDA_KERNELS_H

#include <stdint.h>

#define GPU_BLOCK	256u		/* threads a block, of every kernel */
#define GPU_CHUNK	1024u		/* bytes of the edge list that one work item covers, from a 128-byte boundary */
#define GPU_UNREACHED	0xffffffffu
#define GPU_NOBODY	0xffffffffu	/* no vertex: ends a short cache entry */
#define GPU_TILE	2048u		/* edges that a block sums at a time (PageRank) */
#define GPU_CACHE_MOST	4u		/* neighbours a vertex in the cache, at most */
#define GPU_CACHE_LOOKS	1024u		/* of this many of a vertex, those of highest degree are cached */
#define GPU_TALLIES	64u
#define GPU_SLICES	8u		/* of the vertices, one is joined whole before the giant component is looked for */
#define GPU_SAMPLES	1024u		/* vertices asked which component is the giant */

/* Addresses are the device's. */
struct gpu_graph {
	uint64_t row;			/* n + 1 of 8 bytes */
	uint64_t list, weight;		/* where they lie; weight 0: none, or in the entry */
	uint64_t near, near_weight;	/* the first of both in the card's memory */
	uint64_t near_end;		/* entries; of a coded list: words of 4 bytes */
	uint64_t near_weight_end;	/* weights */
	uint64_t index, table;		/* of a coded list: the words of coded.h */
	uint64_t cache;			/* cache_degree neighbours of each vertex below cache_end, 4 bytes each */
	uint64_t cache_end;
	uint64_t n, m;
	uint64_t first, end;		/* vertices that have edges in this run */
	uint64_t counters;		/* struct gpu_counters */
	uint32_t cache_degree;
	uint32_t weight_bits;		/* of an entry, lowest; the vertex is above them */
	uint32_t weight_least;		/* added to them */
	uint32_t entry_bits;		/* of a coded list */
};

/* Which vertices components_collect takes. */
enum gpu_slice { GPU_SLICE_ALL, GPU_SLICE_ONE, GPU_SLICE_OTHERS };

struct gpu_counters {
	uint64_t items;			/* in the queue that a kernel fills */
	uint64_t left;			/* vertices in the second queue */
	uint64_t vertices, edges;	/* entered, and their degrees */
	uint64_t least;			/* of what was not taken */
	uint64_t changed;
	double dangling, most;		/* PageRank */
	/*
	 * Sectors asked for of the list and of the card's copy; never cleared within a run. Many, because all warps adding
	 * to one would take longer than the link.
	 */
	struct gpu_tally {
		uint64_t far, near;
		uint64_t reserved[2];
	} tally[GPU_TALLIES];
};

/* How a warp shares an edge list out: MODE of the kernels of emogi.txt. */
enum gpu_mode { GPU_NAIVE, GPU_MERGED, GPU_ALIGNED };

#endif
