/* SPDX-License-Identifier: MIT */
/*
 * Edge list placement and whole-graph algorithms on a GPU.
 *
 * A device "cuda:N" runs whole algorithms: gtu_bfs() and the others with GTU_WITH_GPU. Vertex data
 * is in GPU memory; kernels read the edge list in place, over the link (EMOGI, section 4). By
 * default each algorithm places the graph for one run. To run several algorithms over one graph,
 * call gtu_placement_create() first. Several threads may share a device: their runs take turns.
 */
#ifndef GTU_GPU_H
#define GTU_GPU_H

#include "gtu/gtu.h"

#ifdef __cplusplus
extern "C" {
#endif

enum gtu_edges {
	GTU_EDGES_AUTO,			/* GPU memory if the list fits, else the faster kind by a probe */
	GTU_EDGES_MANAGED,		/* managed memory, resident on the host and mapped by the GPU */
	GTU_EDGES_PINNED,		/* a pinned copy */
	GTU_EDGES_REGISTERED,		/* the graph's own memory, pinned in place (no copy) */
	GTU_EDGES_DEVICE,		/* a copy in GPU memory */
	GTU_EDGES_UVM,			/* migrating managed memory, advised read-mostly: the paper's baseline */
	GTU_EDGES_APERTURE,		/* a copy in a board's memory, read over the bus (EMOGI, figure 2) */
	GTU_EDGES_KINDS,
};

/* Edge access pattern of a warp: enum gtu_kernel, in gtu_algorithm_options.kernel. */
enum gtu_kernel {
	GTU_KERNEL_AUTO,		/* reads fewer edges than the paper's kernels, see Documentation/gpu.md */
	GTU_KERNEL_NAIVE,		/* one thread per vertex (EMOGI, listing 1) */
	GTU_KERNEL_MERGED,		/* one warp per vertex */
	GTU_KERNEL_ALIGNED,		/* merged, from a 128-byte boundary on (EMOGI, listing 2) */
	GTU_KERNELS,
};

/* Names used by the tool and in JSON; NULL for values out of range. */
const char *gtu_edges_name(uint32_t edges);
const char *gtu_kernel_name(uint32_t kernel);

#define GTU_GPU_MEMORY_ALL UINT64_MAX
#define GTU_GPU_MEMORY_NONE 1u		/* too little for an edge */

struct gtu_placement;
struct gtu_placement_options {
	uint32_t edges;			/* enum gtu_edges */
	uint32_t edge_bytes;		/* 4 or 8; 0: 4, or the graph's own width with _REGISTERED */
	/*
	 * GPU memory that may hold edges, in bytes: the whole list, or the most frequently read
	 * edges. GTU_GPU_MEMORY_ALL: all free memory; GTU_GPU_MEMORY_NONE: none. 0: all free memory with GTU_EDGES_AUTO and
	 * _DEVICE, none with the other kinds.
	 */
	uint64_t gpu_memory;
	uint32_t separate_weights;		/* non-zero: keep weights in an array of their own, never packed into entries */
	/*
	 * Non-zero: compress the adjacency lists; kernels decode them. edge_bytes must be 0. A
	 * graph from a compressed container stays compressed even if this is 0, provided that
	 * edge_bytes is 0 and a plain list would not be placed in GPU memory.
	 */
	uint32_t compressed;
	/*
	 * Non-zero: also place the transposed lists of a directed graph, without weights, so that BFS
	 * and PageRank can pull. They take as much memory again as the lists (half of gpu_memory each,
	 * if that is limited), and the time of gtu_graph_transpose(). Without memory for them, runs
	 * push, which gtu_placement.given_up reports. Ignored for undirected graphs.
	 */
	uint32_t transpose;
	uint32_t reserved;		/* zero */
	/*
	 * With GTU_EDGES_APERTURE: the board, such as "/dev/gtu0", whose aperture takes the list. It
	 * must stay open until the placement is destroyed. The GPU must be able to reach the board's
	 * BAR: both behind one root complex or switch that permits peer-to-peer reads. With the
	 * model, host memory stands for the BAR.
	 */
	struct gtu_device *board;
	/*
	 * Called with the plan before anything is allocated, also before each other plan that is tried
	 * because memory was refused. May be NULL.
	 */
	void (*planned)(void *user, const struct gtu_placement *plan);
	void *planned_user;
};

struct gtu_placement {
	uint32_t edges;			/* enum gtu_edges, never AUTO */
	uint32_t edge_bytes;		/* bytes per entry; 0: compressed */
	uint32_t weight_bytes;		/* bytes per weight in the separate array; 0: no weights, or packed */
	uint32_t packed;		/* weights are packed into the entries */
	uint64_t list_bytes;		/* edge list and weights */
	uint64_t cache_bytes;		/* GPU memory that may hold edges */
	uint64_t vertex_bytes;		/* GPU memory for row offsets */
	double managed_gbps, pinned_gbps; /* probe: random 128-byte blocks, GB/s (10^9); 0: not probed */
	double seconds;			/* time that placement took */
	char why[160];			/* the reason for the choice, a sentence */
	/* The parts of GPU memory: vertex_bytes, the list (GTU_EDGES_DEVICE), cache_bytes, and these: */
	uint64_t run_bytes;		/* a run of BFS, which needs most of the four original algorithms */
	uint64_t reserved_bytes;	/* left to the driver and the kernels */
	uint64_t free_bytes;		/* free before placement */
	uint64_t transposed_bytes;	/* of the transposed lists; 0: none */
	uint32_t transposed_edges;	/* enum gtu_edges: their kind */
	uint32_t unused;
	char given_up[160];		/* what was given up because memory was refused; "": nothing */
};

/*
 * Place @g on the device for all runs until gtu_placement_destroy() or gtu_close(); replaces an earlier
 * placement. @opt NULL: all defaults. @g and its arrays must not change or move until then. Errors:
 * GTU_ERR_UNSUPPORTED: the device does not run whole algorithms, or the graph has more than 2^32 -
 * 2 vertices; GTU_ERR_USAGE: an option is out of range; GTU_ERR_INPUT: rows or targets out of
 * bounds; GTU_ERR_NOMEM, with the bytes required by part. If memory is refused, fewer edges are
 * cached, and GTU_EDGES_AUTO takes another kind: pinned, then registered. Negative weights are
 * refused by gtu_sssp() only.
 */
int gtu_placement_create(struct gtu_device *dev, const struct gtu_graph *g, const struct gtu_placement_options *opt,
	      struct gtu_error *err);
/* Drop the placement. Does nothing if no graph is placed. */
void gtu_placement_destroy(struct gtu_device *dev);
/*
 * The current placement, or NULL if no graph is placed. Valid until the next call of these three
 * functions.
 */
const struct gtu_placement *gtu_get_placement(const struct gtu_device *dev);

struct gtu_gpu_info {
	char name[96];
	uint32_t compute_major, compute_minor, multiprocessors;
	uint32_t driver_major, driver_minor; /* CUDA version supported by the driver */
	uint32_t kernels_major;		/* CUDA version that built the kernels */
	uint64_t memory_bytes, free_bytes, l2_bytes;
	uint32_t managed, registered, registered_readonly; /* supported kinds of memory */
};
/* NULL if the device is not a GPU. */
const struct gtu_gpu_info *gtu_get_gpu_info(const struct gtu_device *dev);
/*
 * Number of usable GPUs, or a negative status. An error names what is missing: GPU kernels in this
 * build (they need nvcc), a driver, or a GPU.
 */
int gtu_gpu_count(struct gtu_error *err);

enum gtu_link_access {
	GTU_LINK_COPY,			/* copy engine, host to device */
	GTU_LINK_SEQUENTIAL,		/* warps read sequentially from 128-byte boundaries */
	GTU_LINK_SHIFTED,		/* the same, shifted by 32 bytes */
	GTU_LINK_STRIDED,		/* each thread reads its own 4 KiB (EMOGI, figure 3 a) */
	GTU_LINK_RANDOM_128, GTU_LINK_RANDOM_64, GTU_LINK_RANDOM_32, /* random blocks of that many bytes */
	GTU_LINK_ACCESSES,
};
const char *gtu_link_access_name(uint32_t access);
/*
 * Measure how fast the device reads @bytes of random data in memory of kind @edges (enum gtu_edges;
 * UVM and AUTO are refused). One warm-up round is followed by @rounds measured rounds. rate[access]
 * is the median in GB/s (10^9); 0 if the access is not available for that kind.
 */
int gtu_link_measure(struct gtu_device *dev, uint32_t edges, uint64_t bytes, uint32_t rounds,
		     double rate[GTU_LINK_ACCESSES], struct gtu_error *err);

#ifdef __cplusplus
}
#endif
#endif
