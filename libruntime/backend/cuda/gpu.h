/* SPDX-License-Identifier: MIT */
/*
 * One GPU behind a gtu_device: its memory, launches, the placed graph, and one run of an algorithm. All work goes
 * to the default stream in order; an algorithm waits once a level, when it reads the counters.
 */
#ifndef GTU_CUDA_GPU_H
#define GTU_CUDA_GPU_H

#include <stdbool.h>

#include "libruntime/algorithm/common.h"
#include "libruntime/algorithm/distance.h"
#include "libruntime/device/backend.h"
#include "api.h"
#include "kernels.h"
#include "libruntime/graph/graph_coded.h"
#include "gtu/gpu.h"
#include "libruntime/support/parallel.h"

/* Memory that kernels read: of a kind, at @device for them and at @host for us (NULL: DEVICE). */
struct gpu_memory {
	uint32_t kind;			/* enum gtu_edges */
	uint64_t bytes;
	void *host;
	CUdeviceptr device;
};

/* Of the list in as many bits as it needs: some of its tiles, for BITS (packed.c). */
enum gpu_cache { GPU_CACHE_EMPTY, GPU_CACHE_NEIGHBOURS, GPU_CACHE_PREFIX, GPU_CACHE_BITS };

struct gpu_placed {
	const struct gtu_graph *graph;
	struct gpu_memory row, list, weight, cache;
	struct gpu_memory index;	/* of a compressed list: its words, then the table of long ones */
	enum gpu_cache holds;
	struct gpu_graph args;		/* for the kernels; counters and vertex range are a run's */
	uint32_t weight_type;		/* enum gtu_weight_type */
	double weight_least, weight_most, weight_mean;
	uint64_t connected;		/* vertices that have edges */
	bool any_width;			/* nobody asked for a width of entries */
	struct gpu_memory bits_list;	/* entries of `bits` bits, or none yet */
	uint32_t bits;
	uint64_t near_share;		/* of its tiles, that the cache holds, of 2^32 */
};

struct gpu {
	struct cuda_api api;
	CUdevice device;
	CUcontext context;
	CUmodule module;
	struct gtu_gpu_info info;
	struct gpu_placed placed;
	struct gtu_placement placement;
	double managed_gbps, pinned_gbps; /* the probe's, out of probed_bytes; 0: not made */
	uint64_t probed_bytes;
};

/* ---- gpu.c ------------------------------------------------------------------------------------ */

/* Make the GPU's context this thread's, and give it back. */
int gpu_enter(struct gpu *gpu, struct gtu_error *err);
void gpu_leave(struct gpu *gpu);

/* Errors name the kind and the bytes. MANAGED never asks for more than the card has free. */
int gpu_memory_get(struct gpu *gpu, uint32_t kind, uint64_t bytes, struct gpu_memory *out, struct gtu_error *err);
/* Pin memory of the caller's for GTU_EDGES_REGISTERED; @io: a device's aperture rather than RAM. */
int gpu_memory_register(struct gpu *gpu, void *addr, uint64_t bytes, bool io, struct gpu_memory *out,
			struct gtu_error *err);
void gpu_memory_give(struct gpu *gpu, struct gpu_memory *memory);
/* Bytes free on the card. */
int gpu_free_bytes(struct gpu *gpu, uint64_t *bytes, struct gtu_error *err);
/* One word of each 4 KiB is read, so that mappings exist before anybody is timed. */
int gpu_touch(struct gpu *gpu, const struct gpu_memory *memory, struct gtu_error *err);

int gpu_upload(struct gpu *gpu, CUdeviceptr to, const void *from, uint64_t bytes, struct gtu_error *err);
int gpu_download(struct gpu *gpu, void *to, CUdeviceptr from, uint64_t bytes, struct gtu_error *err);
int gpu_fill(struct gpu *gpu, CUdeviceptr to, uint8_t value, uint64_t bytes, struct gtu_error *err);
int gpu_wait(struct gpu *gpu, const char *what, struct gtu_error *err);
/* Launch @kernel with enough blocks for @threads, at most what the GPU holds at once; args as cuLaunchKernel(). */
int gpu_launch(struct gpu *gpu, const char *kernel, uint64_t threads, void **args, struct gtu_error *err);

/* ---- plan.c ------------------------------------------------------------------------------------ */

struct gpu_plan_input {
	uint64_t n, m;
	uint32_t edge_bytes, weight_type; /* the graph's */
	double weight_least, weight_most;
	uint64_t free_bytes;		/* of the card */
	bool managed, registered;	/* can be */
	double managed_gbps, pinned_gbps;
	bool coded, coded_weighted;	/* the list is compressed; weights are in it */
	uint64_t coded_bytes, index_bytes;
};
/* Bytes that runs over a graph need on the card beside rows and edges, at most. */
uint64_t gpu_run_bytes(uint64_t n, uint64_t m);
/* Where the list goes, how wide, what of it is cached: fills *out but for `seconds`. Pure. */
int gpu_plan(const struct gpu_plan_input *in, const struct gtu_place_options *opt, struct gtu_placement *out,
	     uint32_t *weight_bits, struct gtu_error *err);
/* The bytes of which gpu_plan() will want the probe's rates; 0: it will not. */
uint64_t gpu_plan_probes(const struct gpu_plan_input *in, const struct gtu_place_options *opt);

/* ---- place.c, place_coded.c, packed.c, link.c ------------------------------------------------------------------------------ */

int gpu_place(struct gtu_device *dev, const struct gtu_graph *g, const struct gtu_place_options *opt,
	      struct gtu_error *err);
void gpu_unplace(struct gtu_device *dev);
/* Code the lists of the graph to be placed: what the plan needs of it. gtu_coded_free() afterwards, in any case. */
int gpu_coded_measure(struct gpu *gpu, const struct gtu_place_options *opt, struct gtu_coded *c,
		      struct gpu_plan_input *in, struct gtu_error *err);
/* The index onto the card, the list where the placement says. */
int gpu_coded_place(struct gpu *gpu, const struct gtu_coded *c, struct gtu_error *err);
/* Bytes of an entry, which of a compressed list is a mean; what names of kernels end with. */
double gpu_entry_bytes(const struct gpu *gpu);
const char *gpu_entry_name(const struct gpu *gpu);
/* Have the cache hold what this algorithm gains most from. */
int gpu_cache_hold(struct gpu *gpu, enum gpu_cache what, struct gtu_error *err);
/* Whether a list in fewer bits may be kept beside; make it, once, and have the cache hold its beginning. */
bool gpu_packed_helps(const struct gpu *gpu);
int gpu_packed_hold(struct gpu *gpu, struct gtu_error *err);
int gpu_link_measure(struct gpu *gpu, uint32_t edges, uint64_t bytes, uint32_t rounds,
		     double rate[GTU_LINK_ACCESSES], struct gtu_error *err);
/* Random blocks of 128 bytes out of managed and pinned memory of about so many bytes; once for as many. */
int gpu_probe(struct gpu *gpu, uint64_t bytes, struct gtu_error *err);

/* ---- run.c ------------------------------------------------------------------------------------- */

#define GPU_BUFFERS 10

struct gpu_run {
	struct gtu_alg a;		/* clock, options, statistics, error */
	struct gpu *gpu;
	struct gpu_graph graph;
	struct gpu_counters counters;	/* as last read */
	struct gpu_memory buffer[GPU_BUFFERS], counter_memory;
	unsigned buffers;
	bool entered;
	bool whole;			/* all vertices have their edges */
	bool undirected;
};

/* @cache: what the cache is to hold. gpu_run_end() must follow whatever is returned. */
int gpu_run_begin(struct gpu_run *r, struct gtu_device *dev, const char *name, const struct gtu_algorithm_options *opt,
		  struct gtu_algorithm_stats *stats, enum gpu_cache cache, struct gtu_error *err);
int gpu_run_end(struct gpu_run *r, int rc);
/* The card's memory until the run's end. */
int gpu_run_buffer(struct gpu_run *r, uint64_t bytes, CUdeviceptr *out);
/* Room for the work items of all vertices. */
int gpu_run_queue(struct gpu_run *r, CUdeviceptr *out);
/* Launch "<kernel>" or, with @widths, "<kernel>_<entry's width>[<suffix>]". The graph is put in as first argument. */
int gpu_run_launch(struct gpu_run *r, const char *kernel, const char *suffix, bool widths, uint64_t threads,
		   void **args);
/* Counters of a step to zero (least to its most), before; read, after, which waits for all that was launched. */
int gpu_run_clear(struct gpu_run *r);
int gpu_run_read(struct gpu_run *r);
/* As gtu_alg_iteration(), behind gpu_run_read(); @frontier 0: not known. */
void gpu_run_iteration(struct gpu_run *r, uint64_t frontier);
/* "_naive", "_merged", "_aligned"; NULL for AUTO. */
const char *gpu_run_mode(const struct gpu_run *r);

int gpu_bfs(struct gtu_device *dev, const struct gtu_algorithm_options *opt, uint64_t *level,
	    struct gtu_algorithm_stats *stats, struct gtu_error *err);
int gpu_sssp(struct gtu_device *dev, const struct gtu_algorithm_options *opt, double *distance,
	     struct gtu_algorithm_stats *stats, struct gtu_error *err);
int gpu_pagerank(struct gtu_device *dev, const struct gtu_algorithm_options *opt, double *rank,
		 struct gtu_algorithm_stats *stats, struct gtu_error *err);
int gpu_components(struct gtu_device *dev, const struct gtu_algorithm_options *opt, uint64_t *component,
		   struct gtu_algorithm_stats *stats, struct gtu_error *err);

#endif
