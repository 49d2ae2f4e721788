/* SPDX-License-Identifier: MIT */
/*
 * libgtu: the runtime library of the graph traversal unit.
 *
 * Open a device, register memory as regions, create queues, submit jobs and wait for their
 * completions. The units of the five papers have functions named as in the papers. Functions return
 * 0 or a negative enum gtu_status with a sentence in *err (see gtu/error.h).
 *
 * Threads: several threads may use a device; only one at a time may use a queue, its streams or a
 * mapped graph.
 */
#ifndef GTU_GTU_H
#define GTU_GTU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gtu/error.h"
#include "gtu/graph.h"
#include "gtu/splitmix64.h"
#include "uapi/gtu/hw.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Devices -------------------------------------------------------------------------------- */

struct gtu_device;

/* Device properties, read from its registers. */
struct gtu_info {
	char backend[16];		/* "model", "chardev", "cuda" */
	char path[112];			/* the name passed to gtu_open() */
	uint32_t version;		/* of the programming model */
	uint32_t units;			/* GTU_UNIT_* that are present */
	uint32_t epoch;
	uint32_t max_contexts, max_queues, max_regions_log2, max_ring_log2;
	uint32_t vectors, doorbell_stride_log2;
	uint64_t clock_hz, aperture_bytes, caps;
	uint32_t scu[GTU_UREG_PARAMS];	/* by GTU_SCU_P_* */
	uint32_t iru[GTU_UREG_PARAMS];	/* by GTU_IRU_P_* */
	uint32_t iru_timeout;		/* current setting */
	uint32_t peg[GTU_UREG_PARAMS];	/* by GTU_PEG_P_* */
	uint32_t peg_setting[GTU_UREG_SETS]; /* by GTU_PEG_S_* */
	uint32_t weaver[GTU_UREG_PARAMS];	/* by GTU_WVR_P_* */
	/* of every unit, the ones above too, by bit of GTU_UNIT_*, then by GTU_x_P_*, GTU_x_S_* */
	uint32_t param[GTU_UNIT_PAGES_MAX][GTU_UREG_PARAMS], setting[GTU_UNIT_PAGES_MAX][GTU_UREG_SETS];
};

/*
 * Open a device by name; NULL: "model". "model" is the device model in this process;
 * "model:KEY=VALUE,..." sets parameters, which `gtu info --tables UNIT` lists.
 * A path such as "/dev/gtu0" is a character device. "cuda:0" is a GPU: it has no units and no
 * queues, and runs whole algorithms (see gtu/gpu.h). A list such as "model,model" is one device
 * that runs whole algorithms over several (see gtu/ranks.h).
 *
 * A handle belongs to the process that opened it. After fork(), a child must open a character
 * device itself. It may only destroy and close the handles of its parent; the parent's state is not
 * affected, and running streams are not ended.
 */
int gtu_open(const char *name, struct gtu_device **out, struct gtu_error *err);
void gtu_close(struct gtu_device *dev);

const struct gtu_info *gtu_get_info(const struct gtu_device *dev);
/* The device's flattened device tree, already validated; *bytes may be NULL. */
const void *gtu_get_fdt(const struct gtu_device *dev, size_t *bytes);

/* Read all counters of a unit (GTU_UNIT_*, one bit) atomically; @clear resets them. */
int gtu_counters(struct gtu_device *dev, uint32_t unit, bool clear,
		 uint64_t counter[GTU_UREG_COUNTERS], struct gtu_error *err);
/* Names of a unit's counters, as in `gtu info` and JSON; the list ends with NULL. */
const char *const *gtu_counter_names(uint32_t unit);
/* Change a unit's setting (GTU_IRU_S_TIMEOUT, GTU_ZCM_S_ENABLE). */
int gtu_setting(struct gtu_device *dev, uint32_t unit, uint32_t setting, uint32_t value,
		struct gtu_error *err);

/* A readable register of a unit, from the unit's table. */
struct gtu_register {
	char name[48];			/* "iru/timeout", "iru_counters/timeout", "peg/r_efs[3]" */
	const char *text;		/* "cycles of the timeout" */
	uint32_t unit;			/* GTU_UNIT_*, one bit */
	uint32_t offset;		/* in BAR0 */
	uint32_t bytes;			/* 4 or 8 */
	uint32_t fields;
	struct {
		const char *name;	/* "busy" */
		const char *values;	/* names of its values from 0 on, "none, ready, ..."; "": a number */
		uint32_t shift, bits;
	} field[4];
};

/*
 * Describe register @n, from 0, of the units that the device has: their id, version and status,
 * parameters, settings, counters, and the control registers of their own, such as the PEG's for
 * balancing its engines. Returns false after the last register, and for a GPU.
 */
bool gtu_register_describe(const struct gtu_device *dev, unsigned n, struct gtu_register *reg);
/* Find a register by its name. */
int gtu_register_find(const struct gtu_device *dev, const char *name, struct gtu_register *reg,
		      struct gtu_error *err);
/*
 * Read a register. A counter is as of the last snapshot, which gtu_counters() takes. Behind the
 * driver, counters, CYCLES, a unit's status and control registers need CAP_PERFMON or the module
 * parameter user_registers: GTU_ERR_PERMISSION.
 */
int gtu_register_read(struct gtu_device *dev, const struct gtu_register *reg, uint64_t *value,
		      struct gtu_error *err);

/*
 * Set the timeout, in nanoseconds, of waits without a deadline: GTU_FOREVER, gtu_submit() into a
 * full ring, gtu_iru_load(), the SCU's functions and the algorithms. It applies to one job or one
 * record; then the call returns GTU_ERR_TIMEOUT. GTU_FOREVER, the default, disables it. The
 * environment variable GTU_TIME_SCALE, a number that gtu_open() reads, multiplies all timeouts.
 */
void gtu_set_timeout(struct gtu_device *dev, uint64_t timeout_ns);

/* ---- Regions -------------------------------------------------------------------------------- */

#define GTU_READ	1u
#define GTU_WRITE	2u

/* Memory that the device may access. Descriptors name it by key. */
struct gtu_region {
	void *addr;
	uint64_t length;		/* bytes */
	uint32_t key;
	uint32_t rights;		/* GTU_READ | GTU_WRITE: access rights of the device */
	uint32_t allocated;		/* by gtu_region_alloc() or gtu_region_alloc_aperture() */
	uint32_t io_memory;		/* addr maps a board's memory over the bus, not host memory */
};

/*
 * Register the caller's memory: @addr 8-byte aligned, @length > 0 bytes. Nothing is copied; the
 * memory must stay valid until gtu_region_remove().
 */
int gtu_region_add(struct gtu_device *dev, void *addr, uint64_t length, uint32_t rights,
		   struct gtu_region *out, struct gtu_error *err);
/* Allocate zeroed, page-aligned memory that the device may read and write. */
int gtu_region_alloc(struct gtu_device *dev, uint64_t length, struct gtu_region *out,
		     struct gtu_error *err);
/*
 * Allocate zeroed, page-aligned memory of the device behind its aperture, contiguous. The CPU, and
 * other devices such as a GPU (GTU_EDGES_APERTURE of gtu/gpu.h), reach it over the bus. The model's
 * aperture is host memory. GTU_ERR_NOMEM: no range of that length is free.
 */
int gtu_region_alloc_aperture(struct gtu_device *dev, uint64_t length, struct gtu_region *out,
			      struct gtu_error *err);
/*
 * Unregister a region and free it if the library allocated it; zeroes *region. Does nothing for
 * key 0.
 */
int gtu_region_remove(struct gtu_device *dev, struct gtu_region *region, struct gtu_error *err);

/* ---- Queues and jobs ------------------------------------------------------------------------- */

struct gtu_queue;

struct gtu_queue_options {
	uint32_t sq_log2;		/* log2 of the submission ring's entries; 0: 8 */
	uint32_t cq_log2;		/* log2 of the completion ring's entries; 0: as sq_log2 */
	uint32_t reserved[6];
};

/* How a job ended. */
struct gtu_completion {
	uint64_t job;			/* number returned by gtu_submit() */
	uint64_t count, needed, cycles, dropped, element; /* as in struct gtu_hw_cpl */
	uint32_t status;		/* GTU_CPL_* */
	uint32_t operand;		/* operand of an error, or 0xff */
};

int gtu_queue_create(struct gtu_device *dev, const struct gtu_queue_options *opt,
		     struct gtu_queue **out, struct gtu_error *err);
void gtu_queue_destroy(struct gtu_queue *q);
struct gtu_device *gtu_queue_device(struct gtu_queue *q);

/*
 * Write one descriptor to the submission ring and ring the doorbell, without a system call. The
 * library sets the cookie; all other fields are passed unchanged. *job numbers the jobs of a queue
 * from 0. Waits while the ring is full; GTU_ERR_USAGE if it can drain only after the caller takes
 * completions. gtu_submit_batch() rings the doorbell once for all.
 */
int gtu_submit(struct gtu_queue *q, const struct gtu_hw_desc *desc, uint64_t *job,
	       struct gtu_error *err);
int gtu_submit_batch(struct gtu_queue *q, const struct gtu_hw_desc *desc, unsigned n,
		     uint64_t *first_job, struct gtu_error *err);

/*
 * Make the queue's stream poll its rings again. For consumers that take a stream's records without
 * this library, such as a GPU kernel (gtu/warp_records.cuh): call it after writing the consumer's
 * half of a ring header while `waiting` is set.
 */
void gtu_stream_notify(struct gtu_queue *q);

#define GTU_FOREVER UINT64_MAX

/*
 * Take the next completion, in submission order, waiting at most @timeout_ns (0: poll once). 0:
 * *out is filled, whatever its status. GTU_ERR_TIMEOUT: none yet, the job continues. GTU_ERR_USAGE:
 * nothing is outstanding. GTU_ERR_FAIL: the ring entry is not a valid completion.
 */
int gtu_next(struct gtu_queue *q, uint64_t timeout_ns, struct gtu_completion *out,
	     struct gtu_error *err);

/* Describe a completion's status, with the operand and the reason. Returns its gtu_status. */
int gtu_completion_error(const struct gtu_hw_desc *desc, const struct gtu_completion *c,
			 struct gtu_error *err);

/* Submit, wait, and turn an error status into an error. The queue must have nothing outstanding. */
int gtu_do(struct gtu_queue *q, const struct gtu_hw_desc *desc, uint64_t timeout_ns,
	   struct gtu_completion *out, struct gtu_error *err);
/* gtu_do() with @n operands (up to GTU_BLOCK_OPERANDS) in the queue's parameter block. */
int gtu_do_operands(struct gtu_queue *q, const struct gtu_hw_desc *desc,
		    const struct gtu_hw_operand *operand, unsigned n, uint64_t timeout_ns,
		    struct gtu_completion *out, struct gtu_error *err);

#define GTU_ALL_JOBS UINT64_MAX

/*
 * Cancel job @job and all earlier ones (GTU_ALL_JOBS: all submitted jobs). Each unfinished one
 * completes in order with GTU_CPL_CANCELED; the caller takes its completion as usual. If a stream
 * owns the queue, gtu_iru_load() then returns GTU_ERR_INTERRUPTED. GTU_ERR_USAGE: no such job yet;
 * GTU_ERR_UNSUPPORTED: the device has no GTU_CAP_CANCEL.
 */
int gtu_cancel(struct gtu_queue *q, uint64_t job, struct gtu_error *err);

/* Reset the queue: running jobs are dropped, its sticky error is cleared. */
int gtu_queue_reset(struct gtu_queue *q, struct gtu_error *err);

/* ---- Arrays in regions ------------------------------------------------------------------------ */

/*
 * `count` elements of `width` bytes at byte `offset` of a region. A NULL pointer or key 0 means
 * absent.
 */
struct gtu_array {
	uint32_t key;
	uint32_t width;			/* bytes per element: 1, 2, 4, 8; 0: single bits */
	uint64_t offset;		/* bytes from the region's start; a multiple of width */
	uint64_t count;			/* elements */
};

static inline struct gtu_array gtu_array(const struct gtu_region *r, uint64_t offset,
					 uint64_t count, uint32_t width)
{
	struct gtu_array a = { r->key, width, offset, count };

	return a;
}

int gtu_copy(struct gtu_queue *q, const struct gtu_array *from, const struct gtu_array *to,
	     struct gtu_completion *out, struct gtu_error *err);

/* ---- SCU: the five operations of the stream compaction unit (SCU, sections 3.1 and 4) ----------- */

/* Filtering and grouping tables. All zero: none, the basic unit. */
struct gtu_scu_filter {
	uint32_t step;			/* GTU_STEP_*; PLAIN without filtering and grouping */
	uint32_t flags;			/* GTU_SCU_UNIQUE, _BEST, _GROUP, _KEEP */
	uint32_t cost_type;		/* GTU_TYPE_*, for BEST */
	uint32_t cost_width;		/* 4 or 8 */
	uint32_t target_log2;		/* GROUP: log2 of the target's element width */
	uint32_t reserved;
	uint64_t target_base;		/* GROUP: region-relative byte address of target[0] */
	struct gtu_array filter;	/* bits: output of PRODUCE and FUSED, input of APPLY and grouping */
	struct gtu_array reorder;	/* 4 bytes: likewise */
	struct gtu_array filter_table;	/* bytes, 64-byte aligned; count = lines, width = 1 */
	struct gtu_array group_table;	/* likewise */
	struct gtu_array cost_gathered;	/* one per gathered element, selected like the data */
	struct gtu_array cost_input;	/* one per input element */
};

/*
 * Each call waits for its job and stores the completion in *out (may be NULL). @mask and @f may be
 * NULL. Arrays longer than one job accepts (2^32 - 2 elements) are split into several jobs if that
 * gives the same result (not with filters). GTU_ERR_SPACE: out->needed is the number of elements
 * that @to must hold.
 */
/* to[i] (a bit) = in[i] cmp reference */
int gtu_scu_bitmask(struct gtu_queue *q, const struct gtu_array *in, uint32_t cmp, uint32_t type,
		    uint64_t reference, const struct gtu_array *to, struct gtu_completion *out,
		    struct gtu_error *err);
/* in[i] if mask[i] */
int gtu_scu_data(struct gtu_queue *q, const struct gtu_array *in, const struct gtu_array *mask,
		 const struct gtu_scu_filter *f, const struct gtu_array *to,
		 struct gtu_completion *out, struct gtu_error *err);
/* data[index[i]] if mask[i]; data NULL: index[i] itself */
int gtu_scu_access(struct gtu_queue *q, const struct gtu_array *data,
		   const struct gtu_array *index, const struct gtu_array *mask,
		   const struct gtu_scu_filter *f, const struct gtu_array *to,
		   struct gtu_completion *out, struct gtu_error *err);
/* in[i], count[i] times, if mask[i] */
int gtu_scu_replicate(struct gtu_queue *q, const struct gtu_array *in,
		      const struct gtu_array *count, const struct gtu_array *mask,
		      const struct gtu_scu_filter *f, const struct gtu_array *to,
		      struct gtu_completion *out, struct gtu_error *err);
/*
 * data[index[i] .. index[i] + count[i]) if mask[i]; data->count may be UINT64_MAX: to the region's
 * end
 */
int gtu_scu_expand(struct gtu_queue *q, const struct gtu_array *data,
		   const struct gtu_array *index, const struct gtu_array *count,
		   const struct gtu_array *mask, const struct gtu_scu_filter *f,
		   const struct gtu_array *to, struct gtu_completion *out, struct gtu_error *err);

/* Bytes of a filter table and of a group table with @lines lines (a power of two, 16 or more). */
uint64_t gtu_scu_filter_table_bytes(uint64_t lines, uint32_t id_width, uint32_t cost_width);
uint64_t gtu_scu_group_table_bytes(uint64_t lines);

#include "gtu/streams.h"

/* ---- Graphs on a device ------------------------------------------------------------------------ */

/*
 * A graph whose arrays the device accesses in place. col and weight may have more than 2^32
 * elements; use them only as data that an index selects from.
 */
struct gtu_mapped_graph {
	const struct gtu_graph *graph;
	struct gtu_device *dev;
	struct gtu_region row_region, col_region, weight_region;
	struct gtu_array row;		/* n + 1 elements of 8 bytes */
	struct gtu_array col;		/* m elements of edge_bytes */
	struct gtu_array weight;	/* m elements, or absent */
};
int gtu_graph_map(struct gtu_device *dev, const struct gtu_graph *g, struct gtu_mapped_graph *out,
		  struct gtu_error *err);
int gtu_graph_unmap(struct gtu_mapped_graph *mg, struct gtu_error *err);

/* ---- Algorithms -------------------------------------------------------------------------------- */

enum gtu_unit_choice {
	GTU_WITH_NONE,			/* CPU only, no unit */
	GTU_WITH_SCU_BASIC,		/* the five operations (SCU, section 3) */
	GTU_WITH_SCU,			/* with filtering and grouping (SCU, section 4) */
	GTU_WITH_IRU,
	GTU_WITH_PEG,			/* edge gathering (GraphPEG, section 3) by all engines */
	GTU_WITH_WEAVER,		/* dense work distribution (SparseWeaver, section III) */
	GTU_WITH_GPU = 64,		/* the GPU "cuda:N" (EMOGI; gtu/gpu.h) */
};

/* A finished level or round. */
struct gtu_iteration {
	uint64_t number;		/* from 0 */
	uint64_t frontier;		/* its vertices, or queries; 0: unknown (the paper's kernels on a GPU) */
	uint64_t edges;			/* edges traversed */
	uint64_t jobs, job_cycles;	/* unit jobs and their logical cycles */
	uint64_t list_bytes, cached_bytes; /* GTU_WITH_GPU: as in struct gtu_algorithm_stats */
	double seconds;			/* of all phases except "setup" and "cache" */
};

struct gtu_algorithm_options {
	uint32_t unit;			/* enum gtu_unit_choice */
	uint32_t chunk_log2;		/* expand at most 2^chunk_log2 edges at a time (1..31); 0: 22 */
	uint64_t source;		/* vertex (not id): BFS, SSSP, ST-connectivity */
	double damping;			/* PageRank, 0 < damping < 1; 0: 0.85 */
	double epsilon;			/* PageRank: stop when an iteration changes no rank by more; 0: never */
	uint32_t iterations;		/* PageRank; 0: 20 without epsilon, 1000 with. Label propagation; 0: 10 */
	uint32_t kernel;		/* GTU_WITH_GPU: enum gtu_kernel of gtu/gpu.h; others ignore it */
	double delta;			/* SSSP: increment of the near-far threshold; GTU_WITH_NONE: width of a
					   bucket; 0: from the weights */
	/*
	 * Part of a partition by vertex ranges: traverse only edges that leave a vertex of
	 * [first_vertex, end_vertex). Results cover all n vertices over these edges. The union of
	 * the parts' components gives the graph's components. PageRank, and searches that pull, need
	 * what other parts find: over ranks (gtu/ranks.h) each rank has its part. 0, 0: all vertices.
	 */
	uint64_t first_vertex, end_vertex;
	const struct gtu_progress *progress;
	uint64_t target;		/* vertex: ST-connectivity */
	const uint64_t *sources;	/* betweenness: vertices; NULL: all */
	uint64_t source_count;
	uint32_t direction;		/* BFS, PageRank with PEG, Weaver, no unit: enum gtu_push_pull */
	uint32_t features;		/* GCN: features per vertex, up to GTU_FEATURES_MAX; 0: 16 */
	uint64_t seed;			/* GCN: seed of the features */
	/*
	 * Called after each iteration with @iteration_user; may be NULL. Betweenness and GCN never
	 * call it, nor do shortest paths and components with GTU_WITH_GPU and GTU_KERNEL_AUTO: they
	 * have no such steps.
	 */
	void (*iteration)(void *user, const struct gtu_iteration *it);
	void *iteration_user;
	/*
	 * PageRank with the IRU: the unit adds contributions with equal targets as 32-bit floats (IRU,
	 * figure 11). A sum of k contributions then has a relative error of up to k * 2^-24.
	 */
	bool float_sums;
};

#define GTU_FEATURES_MAX 65536u

/* Direction of a traversal: along the edges that leave a vertex, or those that enter it. */
enum gtu_push_pull {
	GTU_PUSH,
	GTU_PULL,
	GTU_PUSH_OR_PULL,		/* by a rule described with the function */
};

#define GTU_PHASES 8
struct gtu_algorithm_stats {
	uint64_t iterations;		/* levels, rounds */
	uint64_t edges;			/* edges traversed */
	uint64_t vertices;		/* vertices reached */
	uint64_t jobs, job_cycles;	/* unit jobs and their logical cycles */
	unsigned phases;
	struct { const char *name; double seconds; } phase[GTU_PHASES];
	double seconds;			/* all phases */
	/* GTU_WITH_GPU, else 0. Bytes are those of the 32-byte sectors that kernels requested. */
	uint64_t list_bytes;		/* edge list and weights, read in place */
	uint64_t cached_bytes;		/* edges and weights read from GPU memory */
	double gpu_seconds;		/* traversal only, without placement and result copies */
	uint64_t pull_first, pull_end;	/* iterations [first, end), from 0, that pulled; the others pushed */
};

#define GTU_UNREACHED UINT64_MAX

/*
 * For the next four functions @dev may be NULL with GTU_WITH_NONE, and @stats may be NULL. Results
 * do not depend on the unit, the chunk or the device, except for PageRank with an epsilon. The
 * caller's array is complete if they return 0 and undefined otherwise. Errors: GTU_ERR_INPUT: rows or
 * targets out of bounds (an unchecked container; the edge is named), or a negative weight;
 * GTU_ERR_USAGE: an option out of range, or a source that is not a vertex; GTU_ERR_UNSUPPORTED: the
 * device lacks the unit, or the graph has more vertices than the IRU's indices can address (2^32);
 * GTU_ERR_NOMEM; GTU_ERR_INTERRUPTED.
 *
 * Breadth-first search: level[v] (n entries) = hops from the source, GTU_UNREACHED if there is no
 * path. (SCU, algorithms 1 and 4; IRU, figure 9)
 *
 * GTU_PUSH_OR_PULL pulls for one run of levels. It starts at the first frontier with at least n /
 * GTU_PULL_SHARE vertices and more than 1 / FACTOR of the edges of the unreached vertices. It ends
 * when a frontier is smaller. GTU_WITH_NONE: the first frontier may have any size, and pulling goes on
 * while frontiers grow.
 */
#define GTU_PULL_SHARE		24u
#define GTU_PULL_FACTOR_PEG	1u	/* all edges of unreached vertices are gathered */
#define GTU_PULL_FACTOR_WEAVER	14u	/* reached vertices are skipped: few of their edges are traversed */
#define GTU_PULL_FACTOR_NONE	15u	/* likewise */
int gtu_bfs(struct gtu_device *dev, const struct gtu_graph *g,
	    const struct gtu_algorithm_options *opt, uint64_t *level,
	    struct gtu_algorithm_stats *stats, struct gtu_error *err);
/*
 * Single-source shortest paths by near-far worklists (SCU, algorithms 2 and 5; IRU, figure 10);
 * GTU_WITH_NONE: by delta-stepping, whose iterations and edges depend on the number of threads.
 * distance[v] (n entries): infinity if there is no path. Without weights every edge counts 1. Sums
 * use the weights' type: integers are exact (up to 2^53, the limit of a double); f32 weights are
 * added in float.
 */
int gtu_sssp(struct gtu_device *dev, const struct gtu_graph *g,
	     const struct gtu_algorithm_options *opt, double *distance,
	     struct gtu_algorithm_stats *stats, struct gtu_error *err);
/*
 * PageRank: rank[v] (n entries), sum 1; the rank of dangling vertices is distributed evenly (SCU,
 * algorithm 3; IRU, figure 11). Units differ only in the order of sums in double. GTU_WITH_SCU runs
 * as GTU_WITH_SCU_BASIC. Every iteration traverses all edges, so GTU_PUSH_OR_PULL pulls if that
 * needs no second edge list. GTU_WITH_NONE always pulls: it transposes a directed graph first, which
 * takes memory for another edge list. With 2^17 vertices or more, no epsilon and a damping factor up
 * to 0.89 it rounds contributions to float: the relative error of a rank stays below 5e-7.
 *
 * Iterations are power iterations from 1/n. If a run stops by its epsilon, a rank differs from the
 * converged rank r by at most r * n * epsilon / (1 - damping), but for rounding and float_sums. To
 * stop by an epsilon without a given number of iterations, one GPU takes conjugate gradients instead
 * on an undirected graph with GTU_KERNEL_AUTO, unless it has the list in blocks. Their iterations
 * traverse the same edges and are usually fewer; the ranks differ from those of other units, within
 * this bound.
 */
int gtu_pagerank(struct gtu_device *dev, const struct gtu_graph *g,
		 const struct gtu_algorithm_options *opt, double *rank,
		 struct gtu_algorithm_stats *stats, struct gtu_error *err);
/*
 * Weakly connected components: component[v] (n entries) = the lowest vertex of v's component. With
 * a unit, a directed graph is transposed first, which takes memory for another edge list.
 */
int gtu_components(struct gtu_device *dev, const struct gtu_graph *g,
		   const struct gtu_algorithm_options *opt, uint64_t *component,
		   struct gtu_algorithm_stats *stats, struct gtu_error *err);

/*
 * The four algorithms that GraphPEG's evaluation adds (GraphPEG, section 4.1), with the same
 * conventions. They run on whole graphs: a vertex range is GTU_ERR_UNSUPPORTED.
 *
 * Betweenness centrality (Brandes): score[v] (n entries) = sum over the sources s and all t of the
 * fraction of shortest paths from s to t that pass through v, with v not an end. Edges count 1
 * each, as stored: a duplicate edge is a second path. If edges are stored in both directions, each
 * pair counts twice if both ends are sources. Units differ only in rounding (relative difference
 * 1e-9). Numbers of shortest paths reach 2^524287, over several ranks the range of a double, and
 * more are GTU_ERR_UNSUPPORTED. Where they overflow a double on a GPU, each level adds a relative
 * error of d 2^-45 at most to those of a vertex to which d edges lead; on the CPUs alone, 2^-45.
 */
int gtu_betweenness(struct gtu_device *dev, const struct gtu_graph *g,
		    const struct gtu_algorithm_options *opt, double *score,
		    struct gtu_algorithm_stats *stats, struct gtu_error *err);
/*
 * ST-connectivity: *distance = edges on a shortest path from opt->source to opt->target,
 * GTU_UNREACHED if there is no path. If edges are stored in both directions, it searches from both
 * ends.
 */
int gtu_stcon(struct gtu_device *dev, const struct gtu_graph *g,
	      const struct gtu_algorithm_options *opt, uint64_t *distance,
	      struct gtu_algorithm_stats *stats, struct gtu_error *err);
/*
 * Graph coloring: color[v] (n entries), from 0; the ends of an edge differ, whatever its direction
 * (self-loops are ignored). All units give the same colors. Directed graphs take memory for another
 * edge list, here and below.
 */
int gtu_coloring(struct gtu_device *dev, const struct gtu_graph *g,
		 const struct gtu_algorithm_options *opt, uint32_t *color,
		 struct gtu_algorithm_stats *stats, struct gtu_error *err);
/*
 * K-core decomposition: core[v] (n entries) = the largest k such that v is in a subgraph in which
 * every vertex has at least k edges to others. Edge direction is ignored. A pair of vertices counts
 * at most one edge in a directed graph, and every stored edge in an undirected one.
 */
int gtu_cores(struct gtu_device *dev, const struct gtu_graph *g,
	      const struct gtu_algorithm_options *opt, uint64_t *core,
	      struct gtu_algorithm_stats *stats, struct gtu_error *err);

/*
 * The two algorithms that LDBC Graphalytics adds (specification 1.0, sections 2.3.4 and 2.3.5),
 * with the conventions of the four above. Without a unit they use all CPUs. Directed graphs take
 * memory for another edge list.
 *
 * Community detection by label propagation (CDLP): label[v] (n entries) starts as v. In each of
 * opt->iterations synchronous rounds it becomes the most frequent label of v's neighbours, the
 * smallest if several tie. A vertex without edges keeps its own. Every stored edge counts, in a
 * directed graph for both its ends. It stops early, with fewer stats->iterations, when no label
 * changes.
 */
int gtu_label_propagation(struct gtu_device *dev, const struct gtu_graph *g,
			  const struct gtu_algorithm_options *opt, uint64_t *label,
			  struct gtu_algorithm_stats *stats, struct gtu_error *err);
/*
 * Local clustering coefficient (LCC): coefficient[v] (n entries) = edges between v's neighbours /
 * (d (d - 1)), where d is their number; 0 if d is less than 2. Neighbours are joined to v by an
 * edge in either direction; each counts once, and v does not count. Each direction between two
 * neighbours counts as one edge. stats->edges counts the entries of the lists searched.
 * GTU_ERR_UNSUPPORTED: GTU_WITH_IRU, or more than 2^32 - 1 vertices.
 */
int gtu_clustering(struct gtu_device *dev, const struct gtu_graph *g,
		   const struct gtu_algorithm_options *opt, double *coefficient,
		   struct gtu_algorithm_stats *stats, struct gtu_error *err);

/* Initial feature @f of vertex @v for gtu_gcn(): in [-1, 1), a function of the arguments only. */
static inline double gtu_gcn_feature(uint64_t seed, uint64_t v, uint32_t f)
{
	uint64_t x = seed * GTU_SPLITMIX64_STEP ^ (v * GTU_FEATURES_MAX + f);

	/* mixed twice, to decorrelate adjacent inputs */
	x = gtu_splitmix64_hash(gtu_splitmix64_mix(x)) + GTU_SPLITMIX64_STEP;
	return (double)(x >> 11) * (1. / (1ull << 52)) - 1;
}

/*
 * The three kernels of a graph convolution (SparseWeaver, section V-I), with the conventions of the
 * four above. Initialization: x = gtu_gcn_feature() of opt->seed. SpMM: y[v] = sum over the stored
 * edges (v, u) of weight(v, u) * x[u]; the weight is 1 without weights. GraphSum: out[v] = sum over
 * the same edges of y[u] / sqrt(d(v) d(u)), where d is a vertex's number of stored edges, at least
 * 1. @out holds F doubles per vertex, at v * F + f. Sums are in double; units differ only in their
 * order, within 1e-9 of the sum of magnitudes. GTU_ERR_INPUT: a weight is not finite;
 * GTU_ERR_UNSUPPORTED: sums overflow a double.
 */
int gtu_gcn(struct gtu_device *dev, const struct gtu_graph *g,
	    const struct gtu_algorithm_options *opt, double *out,
	    struct gtu_algorithm_stats *stats, struct gtu_error *err);

#ifdef __cplusplus
}
#endif

#endif
