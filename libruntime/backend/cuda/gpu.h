/* SPDX-License-Identifier: MIT */
/*
 * State of one GPU behind a gtu_device: memory, launches, the placed graph, and one run of an
 * algorithm. All work goes to the default stream in order; an algorithm synchronizes once per level
 * to read the counters.
 */
#ifndef GTU_CUDA_GPU_H
#define GTU_CUDA_GPU_H

#include <stdbool.h>

#include "libruntime/device/backend.h"
#include "api.h"
#include "kernels.h"
#include "libruntime/graph/graph_compressed.h"
#include "gtu/gpu.h"
#include "libruntime/support/array.h"
#include "libruntime/support/clock.h"
#include "libruntime/support/distance.h"
#include "libruntime/support/parallel.h"
#include "libruntime/support/phases.h"

/* Memory that kernels read: @device is its GPU address, @host its CPU address (NULL: DEVICE). */
struct gpu_memory {
	uint32_t kind;			/* enum gtu_edges */
	uint64_t bytes;
	void *host;
	CUdeviceptr device;
	struct gtu_region region;	/* GTU_EDGES_APERTURE: of the board */
	bool in_parts;			/* GTU_EDGES_REGISTERED: by several registrations */
};

/*
 * Content of the cache. BITS: some tiles of the bit-packed list (copies.c). BLOCKS: none, but PageRank's edges in
 * blocks (pagerank_blocks.c).
 */
enum gpu_cache { GPU_CACHE_EMPTY, GPU_CACHE_NEIGHBOURS, GPU_CACHE_PREFIX, GPU_CACHE_BITS, GPU_CACHE_BLOCKS };

struct gpu_placed {
	const struct gtu_graph *graph;
	struct gtu_placement_options options;
	struct gpu_memory row, list, weight, cache;
	struct gpu_memory isolated;	/* a bit for each vertex without edges */
	struct gpu_memory index;	/* of a compressed list: one word per vertex, then the table of long lists */
	enum gpu_cache holds;
	struct gpu_graph args;		/* kernel arguments; each run sets counters and vertex range */
	uint32_t weight_type;		/* enum gtu_weight_type */
	double weight_min, weight_max, weight_mean;
	uint64_t bad_weight;		/* first edge whose weight is negative or no number; m: none */
	bool long_paths;		/* a search met a bound from which distances could need more than 32 bits */
	uint64_t connected;		/* vertices with edges */
	uint64_t busiest;		/* a vertex with the most edges */
	bool any_width;			/* the caller did not choose the entry width */
	struct gpu_memory bits_list;	/* the bit-packed list, allocated on first use */
	uint32_t bits;
	uint64_t cached_share;		/* share of its tiles in the cache, in units of 2^-32 */
	struct gpu_memory block_start, block_from, block_to; /* PageRank's edges in blocks, made on first use */
	uint64_t block_entries;
	bool no_blocks;			/* there was no memory for them, or they do not help */
};

struct gpu {
	struct cuda_api api;
	CUdevice device;
	CUcontext context;
	CUmodule module;
	struct gtu_gpu_info info;
	uint64_t shared_bytes;		/* most shared memory of a thread block */
	struct gpu_counters *counters;	/* a run's, as copied last, in pinned memory */
	struct gpu_placed placed, aside;	/* aside: see gpu_placement_swap() */
	struct gtu_placement placement, placement_aside;
	struct gpu_placed back;		/* the transposed lists of a directed graph, for pulling */
	struct gtu_placement back_placement;
	struct gtu_graph *transposed;	/* its graph */
	const struct gtu_graph *transposed_of; /* the placed graph; NULL: none */
	struct gpu_link *link;		/* to the other ranks' cards (ranks.h); NULL: not agreed on */
	struct gtu_device *board;	/* of the placement, for GTU_EDGES_APERTURE */
	double managed_gbps, pinned_gbps; /* probe results over probed_bytes; 0: not probed */
	uint64_t probed_bytes;
};

/* ---- gpu.c ------------------------------------------------------------------------------------ */

/* Push the GPU's context on this thread, and pop it. */
int gpu_enter(struct gpu *gpu, struct gtu_error *err);
void gpu_leave(struct gpu *gpu);

/*
 * Allocate memory of a kind. Errors name the call and the bytes. MANAGED is limited to the free GPU
 * memory.
 */
int gpu_memory_alloc(struct gpu *gpu, uint32_t kind, uint64_t bytes, struct gpu_memory *out, struct gtu_error *err);
/* Pin the caller's memory for GTU_EDGES_REGISTERED; @io: a board's memory (BAR) instead of RAM. */
int gpu_memory_register(struct gpu *gpu, void *addr, uint64_t bytes, bool io, struct gpu_memory *out,
			struct gtu_error *err);
void gpu_memory_free(struct gpu *gpu, struct gpu_memory *memory);
/* Free bytes of GPU memory. */
int gpu_free_bytes(struct gpu *gpu, uint64_t *bytes, struct gtu_error *err);
/* Read one word of each 4 KiB, so that mappings exist before a measurement. */
int gpu_touch(struct gpu *gpu, const struct gpu_memory *memory, struct gtu_error *err);

int gpu_upload(struct gpu *gpu, CUdeviceptr to, const void *from, uint64_t bytes, struct gtu_error *err);
int gpu_download(struct gpu *gpu, void *to, CUdeviceptr from, uint64_t bytes, struct gtu_error *err);
/* The copies are complete after gpu_wait(), if host memory is pinned. */
int gpu_upload_async(struct gpu *gpu, CUdeviceptr to, const void *from, uint64_t bytes, struct gtu_error *err);
int gpu_download_async(struct gpu *gpu, void *to, CUdeviceptr from, uint64_t bytes, struct gtu_error *err);
int gpu_fill(struct gpu *gpu, CUdeviceptr to, uint8_t value, uint64_t bytes, struct gtu_error *err);
int gpu_wait(struct gpu *gpu, const char *what, struct gtu_error *err);
/*
 * Launch @kernel with enough blocks for @threads, at most what the GPU holds at once; @args as for
 * cuLaunchKernel().
 */
int gpu_launch(struct gpu *gpu, const char *kernel, uint64_t threads, void **args, struct gtu_error *err);
/* Launch "<kernel>[_<format>]" with @blocks blocks of @threads and @shared bytes of shared memory each. */
int gpu_launch_shared(struct gpu *gpu, const char *kernel, const char *format, unsigned blocks, unsigned threads,
		      uint32_t shared, void **args, struct gtu_error *err);
/* Launch @blocks blocks that may wait for each other, or as many as the GPU holds at once. */
int gpu_launch_together(struct gpu *gpu, const char *kernel, unsigned blocks, void **args, struct gtu_error *err);

/* ---- plan.c ------------------------------------------------------------------------------------ */

struct gpu_plan_input {
	uint64_t n, m;
	uint32_t edge_bytes, weight_type; /* of the graph */
	double weight_min, weight_max;
	uint64_t free_bytes;		/* of GPU memory */
	bool managed, registered;	/* supported */
	double managed_gbps, pinned_gbps;
	bool compressed, compressed_weighted;	/* compressed list; weights included */
	uint64_t compressed_bytes, index_bytes;
};
/* Upper bound of the GPU memory that a run needs besides rows and edges. */
uint64_t gpu_run_bytes(uint64_t n, uint64_t m);
/*
 * Choose the list's placement, entry width and cache size; sets *out except `seconds`. A pure
 * function.
 */
int gpu_plan(const struct gpu_plan_input *in, const struct gtu_placement_options *opt, struct gtu_placement *out,
	     uint32_t *weight_bits, struct gtu_error *err);
/* Bytes for which gpu_plan() needs probe rates; 0: no probe. */
uint64_t gpu_plan_probes(const struct gpu_plan_input *in, const struct gtu_placement_options *opt);

/* ---- placement.c, placement_compressed.c, copies.c, link.c ------------------------------------ */

int gpu_placement_create(struct gtu_device *dev, const struct gtu_graph *g, const struct gtu_placement_options *opt,
	      struct gtu_error *err);
void gpu_placement_destroy(struct gtu_device *dev);
/* Place one graph, and release its memory; gpu_placement_create() does so for the graph and its transpose. */
int gpu_place(struct gpu *gpu, const struct gtu_graph *g, const struct gtu_placement_options *opt, struct gtu_error *err);
void gpu_unplace(struct gpu *gpu);
/* Place the transposed lists beside the placed graph. Without memory for them there are none, which is no error. */
int gpu_place_transposed(struct gpu *gpu, struct gtu_error *err);
void gpu_unplace_transposed(struct gpu *gpu);
/* Exchange the placement and the one put aside, which keeps its memory. */
void gpu_placement_swap(struct gtu_device *dev);
/*
 * Compress the lists of the graph to place, and set the plan's inputs. Call gtu_compressed_free()
 * afterwards in any case.
 */
int gpu_compressed_measure(struct gpu *gpu, const struct gtu_placement_options *opt, struct gtu_compressed *c,
		      struct gpu_plan_input *in, struct gtu_error *err);
/* Place the index in GPU memory and the list according to the placement. */
int gpu_compressed_upload(struct gpu *gpu, const struct gtu_compressed *c, struct gtu_error *err);
/* Bytes per entry (for a compressed list, the mean), and the suffix of kernel names. */
double gpu_entry_bytes(const struct gpu *gpu);
const char *gpu_entry_name(const struct gpu *gpu);
#define GPU_CACHE_LEAST	4096u		/* bytes of a cache that are tried at least */

void gpu_cache_drop(struct gpu_placed *p);
/* Free at least @bytes of the cache's memory, or all, and fill the rest again; false: there was none. */
bool gpu_cache_shrink(struct gpu *gpu, uint64_t bytes);
/* Fill the cache with the content that this algorithm needs. */
int gpu_cache_fill(struct gpu *gpu, enum gpu_cache what, struct gtu_error *err);
/* Whether a bit-packed copy of the list is useful; create it once, and cache some of its tiles. */
bool gpu_packed_helps(const struct gpu *gpu);
int gpu_packed_fill(struct gpu *gpu, struct gtu_error *err);
/* Whether the list's edges in blocks are useful for such a run; create them once; drop them (false: there are none). */
bool gpu_blocks_help(const struct gpu *gpu, bool undirected, uint64_t connected, uint64_t iterations, double damping);
int gpu_blocks_fill(struct gpu *gpu, struct gtu_error *err);
bool gpu_blocks_drop(struct gpu *gpu);
int gpu_link_measure(struct gpu *gpu, uint32_t edges, uint64_t bytes, uint32_t rounds,
		     double rate[GTU_LINK_ACCESSES], struct gtu_error *err);
/*
 * Measure random 128-byte reads from about @bytes of managed and pinned memory. Results are kept
 * per size.
 */
int gpu_probe(struct gpu *gpu, uint64_t bytes, struct gtu_error *err);

/* ---- run.c ------------------------------------------------------------------------------------- */

#define GPU_BUFFERS 20

struct gpu_run {
	const char *name;
	struct gpu *gpu;
	const struct gtu_graph *g;
	const struct gtu_algorithm_options *opt;
	struct gtu_phases phases;
	struct gtu_algorithm_stats *stats;	/* phases.stats */
	struct gtu_error *err;
	struct gpu_graph graph, back;	/* back: see gpu_run_back() */
	struct gpu_counters counters;	/* values of the last gpu_run_read() */
	struct gpu_memory buffer[GPU_BUFFERS], counter_memory;
	unsigned buffers;
	bool entered;
	bool whole;			/* the run covers all vertices */
	bool undirected;
};

/* @cache: content of the cache. Always call gpu_run_end() afterwards, even after an error. */
int gpu_run_begin(struct gpu_run *r, struct gtu_device *dev, const char *name, const struct gtu_algorithm_options *opt,
		  struct gtu_algorithm_stats *stats, enum gpu_cache cache, struct gtu_error *err);
int gpu_run_end(struct gpu_run *r, int rc);
/*
 * Set *back to the lists that lead to each vertex, with @cache in their cache: those of an undirected
 * graph, or transposed ones. *found: false: there are none, or the run covers a part.
 */
int gpu_run_back(struct gpu_run *r, enum gpu_cache cache, struct gpu_graph **back, bool *found);

/* GPU memory that a run needs: allocated to *to. */
struct gpu_part {
	const char *name;
	uint64_t bytes;
	CUdeviceptr *to;
};
/*
 * Allocate GPU memory until the run's end. Edges in the cache give way. GTU_ERR_NOMEM names the parts
 * and what is free, before anything is allocated where that is known.
 */
int gpu_run_allocate(struct gpu_run *r, const struct gpu_part *part, unsigned parts);
/* Free what was allocated since r->buffers was @buffers. */
void gpu_run_free(struct gpu_run *r, unsigned buffers);
static inline void gpu_swap(CUdeviceptr x[2])
{
	CUdeviceptr y = x[0];

	x[0] = x[1];
	x[1] = y;
}

/*
 * Pinned and registered memory serve random reads at a tenth of the link's rate, unless the reads under
 * way lie within GPU_WINDOW bytes. Whether the list is in such memory, so that a run must read it in order.
 */
#define GPU_WINDOW	(128ull << 20)
bool gpu_run_orders(const struct gpu_run *r);
/*
 * A step appends the vertices of the next frontier (counters.vertices) in the order in which it reached them. Whether that
 * will do; otherwise they are collected again, in ascending order.
 */
bool gpu_run_keeps_queue(const struct gpu_run *r);
/*
 * Launch "<kernel>_<entry name><suffix>" over @items items of the queue at @queue, its first two arguments, before
 * @args. Where the list must be read in order, its warps take the items in order (each_in_order), and there are as
 * many warps as half a window has items of an ascending queue.
 */
int gpu_run_launch_items(struct gpu_run *r, struct gpu_graph *graph, const char *kernel, const char *suffix,
			 CUdeviceptr queue, uint64_t items, void **args);
/*
 * gpu_run_launch_over() for a pass over vertices that fills a queue, whose warps take @each at a time:
 * GPU_STRIP, by each_vertices(), or GPU_RUN if it reads lists, by each_in_order(). In order, so that the
 * queue ascends but for some windows, if the list is read in order.
 */
int gpu_run_launch_vertices(struct gpu_run *r, struct gpu_graph *graph, const char *kernel, const char *suffix, bool widths,
			    uint32_t each, void **args);
/* The same with cleared counters before, and the counters read afterwards. */
int gpu_run_pass(struct gpu_run *r, struct gpu_graph *graph, const char *kernel, const char *suffix, bool widths, uint32_t each,
		 void **args);
/* Bytes of a queue for the work items of all vertices. */
uint64_t gpu_run_queue_bytes(const struct gpu_run *r);
/*
 * Launch "<kernel>" or, with @widths, "<kernel>_<entry name>[<suffix>]". The graph is passed as the
 * first argument.
 */
int gpu_run_launch(struct gpu_run *r, const char *kernel, const char *suffix, bool widths, uint64_t threads,
		   void **args);
/* The same over the lists of @graph. */
int gpu_run_launch_over(struct gpu_run *r, struct gpu_graph *graph, const char *kernel, const char *suffix, bool widths,
			uint64_t threads, void **args);
/* The same for a loop of @blocks that stays on the GPU, for the entry's width. */
int gpu_run_loop(struct gpu_run *r, const char *kernel, const char *suffix, unsigned blocks, void **args);
/* Reset a step's counters before it; read them after it, which synchronizes. */
int gpu_run_clear(struct gpu_run *r);
int gpu_run_read(struct gpu_run *r);
/* gtu_phases_iteration() after gpu_run_read(); @frontier 0: unknown. */
void gpu_run_iteration(struct gpu_run *r, uint64_t frontier);
/*
 * Widen @n results of 4 bytes, downloaded to the upper half of an array of as many 8-byte results, in
 * place, so that a result needs no other memory: fn(arg, first, end) converts a range. It runs in
 * parallel where no result overwrites an input of another.
 */
int gpu_widen(int (*fn)(void *arg, uint64_t first, uint64_t end), void *arg, uint64_t n);
/* "_naive", "_merged", "_aligned"; NULL for AUTO. */
const char *gpu_run_mode(const struct gpu_run *r);
/* Allocate 4 bytes for each entry of the blocks until the run's end; false: there are none, or no memory. */
bool gpu_blocks_values(struct gpu_run *r, CUdeviceptr *value);
#define GPU_FIXED_MOST	4294900000.0	/* of a fixed-point number: a little below 2^32, for rounding */
/* Add to @sum[v] the contributions of the neighbours of v, by the blocks. @contrib: fixed-point numbers in units of 1 / @scale. */
int gpu_blocks_pass(struct gpu_run *r, CUdeviceptr value, double scale, CUdeviceptr contrib, CUdeviceptr sum);

/* ---- visit.c: what the algorithms over visit.cuh share ------------------------------------------ */

/*
 * gpu_run_begin() for an algorithm over whole graphs with kernels of the library only. Always call
 * gpu_run_end() afterwards.
 */
int gpu_visit_begin(struct gpu_run *r, struct gtu_device *dev, const char *name, const struct gtu_algorithm_options *opt,
		    struct gtu_algorithm_stats *stats, struct gtu_error *err);
/* Clear the counters, launch a kernel of the entry's format (@format) or of none, and read the counters. */
int gpu_visit_step(struct gpu_run *r, const char *kernel, const char *suffix, bool format, uint64_t threads, void **args);
/*
 * Many rounds in one launch, with the counters cleared before and read after it. A round takes the items of
 * queue[0] and fills queue[1]; both are exchanged after an odd number of rounds, and *items are left.
 */
int gpu_visit_rounds(struct gpu_run *r, const char *kernel, void **args, CUdeviceptr queue[2], uint64_t *items);
/* Queue the items of the vertices whose @state is @value, or of all (@state 0); *items: their number. */
int gpu_visit_collect(struct gpu_run *r, CUdeviceptr state, uint32_t value, CUdeviceptr queue, uint64_t *items);
/* Copy @n values of 4 bytes into an array of 8 bytes each; one for each vertex. */
int gpu_visit_values(struct gpu_run *r, uint64_t *result, CUdeviceptr values, uint64_t n);
int gpu_visit_result(struct gpu_run *r, uint64_t *result, CUdeviceptr values);
/* GTU_ERR_USAGE if vertex @v, the @what, is out of range. */
int gpu_visit_check_vertex(struct gpu_run *r, const char *what, uint64_t v);

gtu_traversal_fn gpu_bfs, gpu_sssp, gpu_pagerank, gpu_components;
/* over visit.cuh */
gtu_traversal_fn gpu_betweenness, gpu_stcon, gpu_coloring, gpu_cores, gpu_labels, gpu_triangles, gpu_gcn;

#endif
