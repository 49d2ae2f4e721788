/* SPDX-License-Identifier: MIT */
/*
 * Graphs on a GPU: where the edge list lies, how it is read, and what that cost.
 *
 * A device "cuda:N" runs whole algorithms (gtu_bfs() and the others with GTU_WITH_GPU) over a graph whose
 * vertex data is in the card's memory and whose edge list is read where it lies, over the link (emogi.txt,
 * section 4). gtu_bfs() and the others place the graph for one run; whoever runs many algorithms over one
 * graph places it once with gtu_place().
 */
#ifndef GTU_GPU_H
#define GTU_GPU_H

#include "gtu/gtu.h"

#ifdef __cplusplus
extern "C" {
#endif

enum gtu_edges {
	GTU_EDGES_AUTO,			/* the card if it fits; else what a probe finds faster */
	GTU_EDGES_MANAGED,		/* managed memory held on the host and accessed by the device */
	GTU_EDGES_PINNED,		/* a pinned copy */
	GTU_EDGES_REGISTERED,		/* the graph's own memory, pinned: no copy */
	GTU_EDGES_DEVICE,		/* a copy in the card's memory */
	GTU_EDGES_UVM,			/* managed memory that migrates, marked read-mostly: the paper's baseline */
	GTU_EDGES_KINDS,
};

/* How a warp reads an edge list: enum gtu_kernel, in gtu_algorithm_options.kernel. */
enum gtu_kernel {
	GTU_KERNEL_AUTO,		/* reads fewer edges than the paper's, see Documentation/gpu.md */
	GTU_KERNEL_NAIVE,		/* a thread a vertex (emogi.txt, listing 1) */
	GTU_KERNEL_MERGED,		/* a warp a vertex */
	GTU_KERNEL_ALIGNED,		/* from a 128-byte boundary on (emogi.txt, listing 2) */
	GTU_KERNELS,
};

/* Names as the tool and JSON have them; NULL beyond the last. */
const char *gtu_edges_name(uint32_t edges);
const char *gtu_kernel_name(uint32_t kernel);

#define GTU_GPU_MEMORY_ALL UINT64_MAX

struct gtu_place_options {
	uint32_t edges;			/* enum gtu_edges */
	uint32_t edge_bytes;		/* 4, 8; 0: 4 (the graph's own where it is registered) */
	/*
	 * Bytes of the card's memory that may hold edges: all of them, or those read most. GTU_GPU_MEMORY_ALL:
	 * what is free. 0: all that is free with GTU_EDGES_AUTO and _DEVICE, none with the others.
	 */
	uint64_t gpu_memory;
	uint32_t plain_weights;		/* non-zero: weights stay beside the edge list, never packed into it */
	/*
	 * Non-zero: lists are compressed (libruntime/graph/coded.h) and decoded by the kernels; edge_bytes must be 0. Graphs from
	 * a compressed container are without it, too, where edge_bytes is 0 and a plain list would not go to the card.
	 */
	uint32_t compressed;
	uint32_t reserved[4];		/* zero */
};

struct gtu_placement {
	uint32_t edges;			/* enum gtu_edges, never AUTO */
	uint32_t edge_bytes;		/* of an entry of the list; 0: compressed */
	uint32_t weight_bytes;		/* of a weight beside it: 0 without and where packed */
	uint32_t packed;		/* the weight is in the entry */
	uint64_t list_bytes;		/* of edge list and weights */
	uint64_t cache_bytes;		/* of the card's memory that may hold edges */
	uint64_t vertex_bytes;		/* of the card's memory for rows */
	double managed_gbps, pinned_gbps; /* the probe: random 128-byte blocks, 10^9 bytes a second; 0: not probed */
	double seconds;			/* that placing took */
	char why[160];			/* a sentence: why there */
};

/*
 * Place @g on the device, for all runs until gtu_unplace() or gtu_close(); what was placed before goes. @opt
 * NULL: all defaults. @g and its arrays must stay as they are until then. Errors: GTU_ERR_UNSUPPORTED: the
 * device runs no whole algorithms, or the graph has more than 2^32 - 2 vertices; GTU_ERR_USAGE: an option out
 * of range; GTU_ERR_INPUT: rows or targets out of bounds, a negative weight; GTU_ERR_NOMEM, with the bytes.
 */
int gtu_place(struct gtu_device *dev, const struct gtu_graph *g, const struct gtu_place_options *opt,
	      struct gtu_error *err);
/* Nothing placed: nothing happens. */
void gtu_unplace(struct gtu_device *dev);
/* What is placed; NULL: nothing, or no such device. Valid until the next call of one of the three. */
const struct gtu_placement *gtu_get_placement(const struct gtu_device *dev);

struct gtu_gpu_info {
	char name[96];
	uint32_t compute_major, compute_minor, multiprocessors;
	uint32_t driver_major, driver_minor; /* the CUDA version that the driver speaks */
	uint32_t kernels_major;		/* the CUDA version that built the kernels */
	uint64_t memory_bytes, free_bytes, l2_bytes;
	uint32_t managed, registered, registered_readonly; /* what it can do */
};
/* NULL for a device that is no GPU. */
const struct gtu_gpu_info *gtu_get_gpu_info(const struct gtu_device *dev);
/*
 * Whether this build has kernels for a GPU (it was made with nvcc) and this computer a driver and a GPU: the
 * number of GPUs, or a negative status with a sentence that says what is missing.
 */
int gtu_gpu_count(struct gtu_error *err);

enum gtu_link_access {
	GTU_LINK_COPY,			/* the copy engine, host to device */
	GTU_LINK_SEQUENTIAL,		/* warps read on, from 128-byte boundaries */
	GTU_LINK_SHIFTED,		/* the same, off by 32 bytes */
	GTU_LINK_STRIDED,		/* each thread its own 4 KiB (emogi.txt, figure 3 a) */
	GTU_LINK_RANDOM_128, GTU_LINK_RANDOM_64, GTU_LINK_RANDOM_32, /* random blocks of so many bytes */
	GTU_LINK_ACCESSES,
};
const char *gtu_link_access_name(uint32_t access);
/*
 * How fast the device reads memory of a kind (enum gtu_edges; UVM and AUTO are refused): @bytes of it, filled
 * with random numbers and read once in a first round and @rounds times after it; rate[access] is the median in
 * 10^9 bytes a second, 0 where the kind has no such access.
 */
int gtu_link_measure(struct gtu_device *dev, uint32_t edges, uint64_t bytes, uint32_t rounds,
		     double rate[GTU_LINK_ACCESSES], struct gtu_error *err);

#ifdef __cplusplus
}
#endif
#endif
