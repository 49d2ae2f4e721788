/* SPDX-License-Identifier: MIT */
/*
 * libgtu: the runtime of the graph traversal unit.
 *
 * Open a device, make memory reachable as regions, create queues, submit jobs, wait. The units of the
 * five papers have functions under the papers' names. Functions return 0 or a negative enum gtu_status
 * and put a sentence into *err (see gtu/error.h).
 *
 * Threads: a device may be used by several threads; a queue, its streams and a mapped graph by one at a time.
 */
#ifndef GTU_GTU_H
#define GTU_GTU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gtu/error.h"
#include "gtu/graph.h"
#include "uapi/gtu/hw.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Devices -------------------------------------------------------------------------------- */

struct gtu_device;

/* What the device says of itself; every field is read from registers. */
struct gtu_info {
	char backend[16];		/* "model", "chardev", "cuda" */
	char path[112];			/* what gtu_open() was given */
	uint32_t version;		/* of the programming model */
	uint32_t units;			/* GTU_UNIT_* present */
	uint32_t epoch;
	uint32_t max_contexts, max_queues, max_regions_log2, max_ring_log2;
	uint32_t vectors, doorbell_stride_log2;
	uint64_t clock_hz, aperture_bytes, caps;
	uint32_t scu[GTU_UREG_PARAMS];	/* by GTU_SCU_P_* */
	uint32_t iru[GTU_UREG_PARAMS];	/* by GTU_IRU_P_* */
	uint32_t iru_timeout;		/* the setting */
	uint32_t peg[GTU_UREG_PARAMS];	/* by GTU_PEG_P_* */
	uint32_t peg_setting[GTU_UREG_SETS]; /* by GTU_PEG_S_* */
	uint32_t wvr[GTU_UREG_PARAMS];	/* by GTU_WVR_P_* */
};

/*
 * Open "model" (the device in this process; "model:KEY=VALUE,..." sets parameters by the names in
 * gtu_model.h, as scu_width, iru_timeout), a character device such as "/dev/gtu0", or a GPU as "cuda:0" (see
 * gtu/gpu.h: it has no units and no queues, and runs whole algorithms). NULL: "model". What is opened is this
 * process's: a child of fork() opens a character device itself, and may only destroy and close what it has of its
 * parent's, which leaves the parent's as it is (a stream that runs is not looked after).
 */
int gtu_open(const char *name, struct gtu_device **out, struct gtu_error *err);
void gtu_close(struct gtu_device *dev);

const struct gtu_info *gtu_get_info(const struct gtu_device *dev);
/* The device's own description, a flattened device tree that has been checked; *bytes may be NULL. */
const void *gtu_get_fdt(const struct gtu_device *dev, size_t *bytes);

/* All counters of a unit (GTU_UNIT_*, one bit) at one moment; @clear starts them anew. */
int gtu_counters(struct gtu_device *dev, uint32_t unit, bool clear,
		 uint64_t counter[GTU_UREG_COUNTERS], struct gtu_error *err);
/* Names of a unit's counters, as in `gtu info` and JSON; NULL behind the last. */
const char *const *gtu_counter_names(uint32_t unit);
/* Change a unit's setting (GTU_IRU_S_TIMEOUT, GTU_ZCM_S_ENABLE). */
int gtu_setting(struct gtu_device *dev, uint32_t unit, uint32_t setting, uint32_t value,
		struct gtu_error *err);

/*
 * How long whatever waits without a deadline of its own (GTU_FOREVER, gtu_submit() into a full ring,
 * load_iru(), the SCU's functions, the algorithms) waits for one job or one record: then it ends with
 * GTU_ERR_TIMEOUT and a sentence. Nanoseconds; GTU_FOREVER, as after gtu_open(): without end.
 */
void gtu_set_timeout(struct gtu_device *dev, uint64_t timeout_ns);

/* ---- Regions -------------------------------------------------------------------------------- */

#define GTU_READ	1u
#define GTU_WRITE	2u

/* Memory that the device may reach. A descriptor names it by key. */
struct gtu_region {
	void *addr;
	uint64_t length;		/* bytes */
	uint32_t key;
	uint32_t rights;		/* GTU_READ | GTU_WRITE: what the device may do */
	uint32_t allocated;		/* by gtu_region_alloc() */
	uint32_t reserved;
};

/*
 * Make memory of the caller's reachable: @addr 8-byte aligned, @length > 0 bytes. Nothing is copied; the
 * memory must stay until gtu_region_remove().
 */
int gtu_region_add(struct gtu_device *dev, void *addr, uint64_t length, uint32_t rights,
		   struct gtu_region *out, struct gtu_error *err);
/* Memory of the backend's, zeroed and page-aligned, reachable for reading and writing. */
int gtu_region_alloc(struct gtu_device *dev, uint64_t length, struct gtu_region *out,
		     struct gtu_error *err);
/* The device lets go of it (and allocated memory is given back); *region is zeroed. NULL key: nothing. */
int gtu_region_remove(struct gtu_device *dev, struct gtu_region *region, struct gtu_error *err);

/* ---- Queues and jobs ------------------------------------------------------------------------- */

struct gtu_queue;

struct gtu_queue_options {
	uint32_t sq_log2;		/* log2 of the submission ring's entries; 0: 8 */
	uint32_t cq_log2;		/* of the completion ring's; 0: as sq_log2 */
	uint32_t reserved[6];
};

/* How a job ended. */
struct gtu_completion {
	uint64_t job;			/* as gtu_submit() returned it */
	uint64_t count, needed, cycles, dropped, element; /* as in struct gtu_hw_cpl */
	uint32_t status;		/* GTU_CPL_* */
	uint32_t operand;		/* of an error, or 0xff */
};

int gtu_queue_create(struct gtu_device *dev, const struct gtu_queue_options *opt,
		     struct gtu_queue **out, struct gtu_error *err);
void gtu_queue_destroy(struct gtu_queue *q);
struct gtu_device *gtu_queue_device(struct gtu_queue *q);

/*
 * Put one descriptor into the ring and ring the doorbell (without a system call). The cookie is the
 * library's; all other fields are taken as they are. *job numbers jobs of a queue from 0. Waits for
 * room when the ring is full (GTU_ERR_USAGE where only taking completions would make room).
 * gtu_submit_batch() rings the doorbell once for all.
 */
int gtu_submit(struct gtu_queue *q, const struct gtu_hw_desc *desc, uint64_t *job,
	       struct gtu_error *err);
int gtu_submit_batch(struct gtu_queue *q, const struct gtu_hw_desc *desc, unsigned n,
		     uint64_t *first_job, struct gtu_error *err);

/*
 * Have the queue's stream look at its rings again: for who takes a stream's records without this library, after its half of
 * a ring header was written and while `waiting` is set (a kernel of a GPU, gtu/warp_records.cuh).
 */
void gtu_stream_kick(struct gtu_queue *q);

#define GTU_FOREVER UINT64_MAX

/*
 * Take the next completion, in submission order, waiting at most @timeout_ns (0: only look).
 * 0: *out is filled, whatever its status is. GTU_ERR_TIMEOUT: none yet; the job goes on.
 * GTU_ERR_USAGE: nothing is outstanding. GTU_ERR_FAIL: what is in the ring cannot be a completion.
 */
int gtu_next(struct gtu_queue *q, uint64_t timeout_ns, struct gtu_completion *out,
	     struct gtu_error *err);

/* A sentence about a completion's status: what was wrong in which operand. Returns its gtu_status. */
int gtu_completion_error(const struct gtu_hw_desc *desc, const struct gtu_completion *c,
			 struct gtu_error *err);

/* Submit, wait, and turn a bad status into an error. The queue must have nothing outstanding. */
int gtu_do(struct gtu_queue *q, const struct gtu_hw_desc *desc, uint64_t timeout_ns,
	   struct gtu_completion *out, struct gtu_error *err);
/* As gtu_do(), with @n operands (up to GTU_BLOCK_OPERANDS) through the queue's parameter block. */
int gtu_do_operands(struct gtu_queue *q, const struct gtu_hw_desc *desc,
		    const struct gtu_hw_operand *operand, unsigned n, uint64_t timeout_ns,
		    struct gtu_completion *out, struct gtu_error *err);

#define GTU_ALL_JOBS UINT64_MAX

/*
 * End job @job and those before it (GTU_ALL_JOBS: all that were submitted) wherever they are: each that has
 * not ended does so with GTU_CPL_CANCELED, in order, and its completion is to be taken as ever. For a
 * queue that a stream has, load_iru() then ends with GTU_ERR_INTERRUPTED. GTU_ERR_USAGE: no such job
 * yet; GTU_ERR_UNSUPPORTED: the device cannot (GTU_CAP_CANCEL).
 */
int gtu_cancel(struct gtu_queue *q, uint64_t job, struct gtu_error *err);

/* Empty the queue: running jobs are dropped, its sticky error is cleared. */
int gtu_queue_reset(struct gtu_queue *q, struct gtu_error *err);

/* ---- Arrays in regions ------------------------------------------------------------------------ */

/* `count` elements of `width` bytes at byte `offset` of a region. A NULL pointer or key 0: not given. */
struct gtu_array {
	uint32_t key;
	uint32_t width;			/* bytes of an element: 1, 2, 4, 8; 0: single bits */
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

/* ---- SCU: the five operations of the stream compaction unit (scu.txt, sections 3.1 and 4) ------- */

/* The tables and what to do with them; zeroed: none of it (the basic unit). */
struct gtu_scu_filter {
	uint32_t step;			/* GTU_STEP_*; PLAIN where nothing is filtered or grouped */
	uint32_t flags;			/* GTU_SCU_UNIQUE, _BEST, _GROUP, _KEEP */
	uint32_t cost_type;		/* GTU_TYPE_*, for BEST */
	uint32_t cost_width;		/* 4 or 8 */
	uint32_t target_log2;		/* GROUP: log2 of the target's element width */
	uint32_t reserved;
	uint64_t target_base;		/* GROUP: region-relative byte address of target[0] */
	struct gtu_array filter;	/* bits: out of PRODUCE and FUSED, into APPLY and grouping */
	struct gtu_array reorder;	/* 4 bytes: likewise */
	struct gtu_array filter_table;	/* bytes at a 64-byte boundary; count = lines, width = 1 */
	struct gtu_array group_table;	/* likewise */
	struct gtu_array cost_gathered;	/* selected like the data */
	struct gtu_array cost_input;	/* one an input element */
};

/*
 * Each runs to its end and puts the completion into *out (may be NULL). mask and f may be NULL. Arrays
 * longer than one job takes (2^32 - 2 elements) are done in several, where that gives the same result
 * (not with filters). GTU_ERR_SPACE: *out says in `needed` how many elements @to would have to hold.
 */
/* to (bits)[i] = in[i] cmp reference */
int gtu_scu_bitmask(struct gtu_queue *q, const struct gtu_array *in, uint32_t cmp, uint32_t type,
		    uint64_t reference, const struct gtu_array *to, struct gtu_completion *out,
		    struct gtu_error *err);
/* in[i] where mask[i] */
int gtu_scu_data(struct gtu_queue *q, const struct gtu_array *in, const struct gtu_array *mask,
		 const struct gtu_scu_filter *f, const struct gtu_array *to,
		 struct gtu_completion *out, struct gtu_error *err);
/* data[index[i]] where mask[i]; data NULL: index[i] itself */
int gtu_scu_access(struct gtu_queue *q, const struct gtu_array *data,
		   const struct gtu_array *index, const struct gtu_array *mask,
		   const struct gtu_scu_filter *f, const struct gtu_array *to,
		   struct gtu_completion *out, struct gtu_error *err);
/* in[i], count[i] times, where mask[i] */
int gtu_scu_replicate(struct gtu_queue *q, const struct gtu_array *in,
		      const struct gtu_array *count, const struct gtu_array *mask,
		      const struct gtu_scu_filter *f, const struct gtu_array *to,
		      struct gtu_completion *out, struct gtu_error *err);
/* data[index[i] .. index[i] + count[i]) where mask[i]; data->count may be UINT64_MAX: to the region's end */
int gtu_scu_expand(struct gtu_queue *q, const struct gtu_array *data,
		   const struct gtu_array *index, const struct gtu_array *count,
		   const struct gtu_array *mask, const struct gtu_scu_filter *f,
		   const struct gtu_array *to, struct gtu_completion *out, struct gtu_error *err);

/* Bytes of a filter table of @lines (power of two, 16 or more) and of a group table. */
uint64_t gtu_scu_filter_table_bytes(uint64_t lines, uint32_t id_width, uint32_t cost_width);
uint64_t gtu_scu_group_table_bytes(uint64_t lines);

/* ---- IRU: irregular accesses reorder unit (iru.txt, section 4) --------------------------------- */

struct gtu_iru;

struct gtu_iru_config {
	uint64_t target_base;		/* region-relative byte address of what the indices will access */
	uint32_t target_width;		/* bytes of its elements: 1 .. 128, a power of two */
	uint32_t operation;		/* GTU_IRU_OP_* */
	struct gtu_array indices;	/* n of 4 bytes */
	struct gtu_array secondary;	/* n of 4 bytes, or not given */
	bool positions;			/* records carry positions */
	bool all;			/* mode ALL: ceil(n / 32) records; else stop when data is out */
	uint32_t timeout;		/* cycles; 0: the unit's setting */
	uint32_t ring_log2;		/* records in the ring; 0: 8 */
};

/* One warp's worth, as load_iru() gives it; pointers are into the ring, valid until the next call. */
struct gtu_warp {
	uint32_t active;		/* bit l: lane l holds an element */
	uint32_t reason;		/* GTU_WARP_* */
	uint32_t lines;			/* distinct target lines */
	uint32_t sequence;
	uint64_t cycle;
	const uint32_t *index;		/* 32 lanes */
	const uint32_t *secondary;	/* 32 lanes, or NULL */
	const uint32_t *position;	/* 32 lanes, or NULL */
};

/*
 * configure_iru: start reordering (iru.txt, figure 8). Takes the queue for itself until the stream has
 * ended or gtu_iru_close(). *out is made on the first call and may be given again for the next stream.
 */
int configure_iru(struct gtu_queue *q, const struct gtu_iru_config *config, struct gtu_iru **out,
		  struct gtu_error *err);
/* load_iru: the next warp. 1: *warp is filled; 0: the stream has ended; negative: an error. */
int load_iru(struct gtu_iru *iru, struct gtu_warp *warp, struct gtu_error *err);
/* After the end: how the job ended (records, cycles, elements merged). */
const struct gtu_completion *gtu_iru_result(const struct gtu_iru *iru);
/* Ends a stream that still runs; NULL is allowed. */
void gtu_iru_close(struct gtu_iru *iru);

/* ---- PEG: GraphPEG's edge gathering (graphpeg.txt, section 3.2) -------------------------------- */

struct gtu_peg;

struct gtu_peg_config {
	/* GTU_PEG_VERTEX_LIST, _PULL, _WITH_*, _DEMAND, _BALANCE_EDGES, _BALANCE_LISTS, _STAND_BY */
	uint32_t flags;
	uint32_t engines;		/* 0: 1 */
	struct gtu_array row;		/* offsets of 4 or 8 bytes, one more than vertices */
	struct gtu_array col;		/* ids of 4 or 8; count may be UINT64_MAX: to the region's end */
	struct gtu_array weight;	/* of 4 or 8, with WITH_WEIGHT; likewise */
	struct gtu_array in;		/* vertices as wide as ids; not given: all, in order */
	struct gtu_array out;		/* room for what is pushed; not given: nothing can be */
	uint32_t ring_log2;		/* records in an engine's ring; 0: 8 */
	uint32_t push_log2;		/* vertices in its ring back, 5..20; 0: 10 */
	uint32_t list_bytes, edge_bytes; /* on chip, of an engine; 0: all that the build has */
};

/*
 * All engines: their records by cycle, those of one cycle by engine, the same order whoever takes them and
 * however fast. With _DEMAND whichever engine has something.
 */
#define GTU_PEG_ANY UINT32_MAX
#define GTU_PEG_LANES 32u

/*
 * Start gathering. Takes the queue for itself until gtu_peg_finish() or gtu_peg_close(). *out is made on the
 * first call and may be given again for the next stream.
 *
 * All engines have one clock. Without _DEMAND it stands still while any engine's ring is full: who serves
 * several engines from one thread takes GTU_PEG_ANY, or sees to all of them.
 */
int configure_peg(struct gtu_queue *q, const struct gtu_peg_config *config, struct gtu_peg **out,
		  struct gtu_error *err);
/*
 * The intrinsics of table 1, for the lanes of a warp that are set in @lanes. A consumer is a warp an engine,
 * and one of GTU_PEG_ANY. A lane holds an edge until all pops ask for more: popping a field that was popped
 * of it before fetches the lane's next edge, lowest lane first (units.md). value[l] is -1 (all ones) where
 * there is none; *valid (may be NULL) says which lanes hold one, as a weight may be -1. 1: some lane holds an
 * edge; 0: all edges have been popped; negative: an error. GTU_ERR_USAGE: a field that records do not carry.
 */
int pop_edge_src(struct gtu_peg *peg, uint32_t engine, uint32_t lanes, uint64_t value[GTU_PEG_LANES],
		 uint32_t *valid, struct gtu_error *err);
int pop_edge_dst(struct gtu_peg *peg, uint32_t engine, uint32_t lanes, uint64_t value[GTU_PEG_LANES],
		 uint32_t *valid, struct gtu_error *err);
int pop_edge_wt(struct gtu_peg *peg, uint32_t engine, uint32_t lanes, uint64_t value[GTU_PEG_LANES],
		uint32_t *valid, struct gtu_error *err);
int pop_edge_idx(struct gtu_peg *peg, uint32_t engine, uint32_t lanes, uint64_t value[GTU_PEG_LANES],
		 uint32_t *valid, struct gtu_error *err);
/* Likewise, of a stream with GTU_PEG_VERTEX_LIST. */
int pop_vert(struct gtu_peg *peg, uint32_t engine, uint32_t lanes, uint64_t value[GTU_PEG_LANES],
	     uint32_t *valid, struct gtu_error *err);
/*
 * Push one vertex a lane of @lanes into the output list: of @engine, or of the engine whose record was taken
 * last (GTU_PEG_ANY). Waits for room in the ring back. Allowed until gtu_peg_finish().
 */
int push_vert(struct gtu_peg *peg, uint32_t engine, uint32_t lanes, const uint64_t vertex[GTU_PEG_LANES],
	      struct gtu_error *err);

/* A whole record at once, beside the intrinsics; pointers are into the ring, valid until the next call. */
struct gtu_peg_edges {
	uint32_t active, engine;
	uint64_t cycle;
	const void *src, *dst, *weight, *index; /* 32 lanes, as wide as ids, weights, offsets are; or NULL */
};
/* 1: *edges is filled; 0: all have been taken; negative: an error. */
int gtu_peg_next(struct gtu_peg *peg, uint32_t engine, struct gtu_peg_edges *edges, struct gtu_error *err);
/*
 * No more will be pushed: the output list is written, and *listed (may be NULL) how long it is. All edges must
 * have been taken. GTU_ERR_SPACE: it does not fit; *listed says how long it would be.
 */
int gtu_peg_finish(struct gtu_peg *peg, uint64_t *listed, struct gtu_error *err);
/* After that: how the job ended (records, cycles). */
const struct gtu_completion *gtu_peg_result(const struct gtu_peg *peg);
/* Ends a stream that still runs; NULL is allowed. */
void gtu_peg_close(struct gtu_peg *peg);

/* ---- Weaver (sparseweaver.txt, table II) ---------------------------------------------------------- */

struct gtu_weaver;

struct gtu_weaver_config {
	bool wide_vids, wide_eids;	/* ids of 8 bytes, else 4 */
	bool demand;			/* serve when asked only; else work is made ahead, as the ring has room */
	uint32_t ring_log2;		/* records in the ring; 0: 8 */
	uint32_t skip_log2;		/* vertices in the ring back, 3..16; 0: 8 */
};

/* *out is made on the first call and may be given again. The queue is taken while work is being given out. */
int configure_weaver(struct gtu_queue *q, const struct gtu_weaver_config *config, struct gtu_weaver **out,
		     struct gtu_error *err);
/*
 * WEAVER_REG of the lanes of warp @warp that are set in @lanes: entry warp * 32 + lane. A round takes each
 * entry once. GTU_ERR_USAGE: an entry that the build does not have, or that is registered, or work is left.
 */
int weaver_reg(struct gtu_weaver *w, uint32_t warp, uint32_t lanes, const uint64_t vid[32],
	       const uint64_t start[32], const uint64_t degree[32], struct gtu_error *err);
/* The barrier between registration and distribution: what is registered now belongs to the next round. */
int weaver_sync(struct gtu_weaver *w, struct gtu_error *err);
/*
 * WEAVER_DEC_ID of warp @warp: vid[l] of the next work, -1 in lanes without; *active (may be NULL) the mask.
 * 1: there is work; 0: all lanes are -1, the round is over (a call after that begins the next one, if any was
 * registered); negative: an error.
 */
int weaver_dec_id(struct gtu_weaver *w, uint32_t warp, uint64_t vid[32], uint32_t *active,
		  struct gtu_error *err);
/* WEAVER_DEC_LOC: edge ids of the same warp's last WEAVER_DEC_ID; before any, all -1. */
int weaver_dec_loc(struct gtu_weaver *w, uint32_t warp, uint64_t eid[32], struct gtu_error *err);
/* WEAVER_SKIP: no more of this vertex, as far as no warp holds it and it was not made ahead. */
int weaver_skip(struct gtu_weaver *w, uint64_t vid, struct gtu_error *err);
/* After the last round: how the job ended (records, cycles, work skipped). */
const struct gtu_completion *gtu_weaver_result(const struct gtu_weaver *w);
void gtu_weaver_close(struct gtu_weaver *w);

/* ---- Graphs on a device ------------------------------------------------------------------------ */

/*
 * A graph whose arrays the device reaches where they are: nothing is copied. col and weight may be more
 * than 2^32 elements long; arrays here may therefore only be used as data that an index selects from.
 */
struct gtu_mapped_graph {
	const struct gtu_graph *graph;
	struct gtu_device *dev;
	struct gtu_region row_region, col_region, weight_region;
	struct gtu_array row;		/* n + 1 of 8 bytes */
	struct gtu_array col;		/* m of edge_bytes */
	struct gtu_array weight;	/* m, or not given */
};
int gtu_graph_map(struct gtu_device *dev, const struct gtu_graph *g, struct gtu_mapped_graph *out,
		  struct gtu_error *err);
int gtu_graph_unmap(struct gtu_mapped_graph *mg, struct gtu_error *err);

/* ---- Algorithms -------------------------------------------------------------------------------- */

enum gtu_unit_choice {
	GTU_WITH_NONE,			/* plain code on the CPU, no unit */
	GTU_WITH_SCU_BASIC,		/* the five operations (scu.txt, section 3) */
	GTU_WITH_SCU,			/* with filtering and grouping (section 4) */
	GTU_WITH_IRU,
	GTU_WITH_PEG,			/* edges gathered (graphpeg.txt, section 3), by all engines there are */
	GTU_WITH_WEAVER,		/* work ids made dense (sparseweaver.txt, section III) */
	GTU_WITH_GPU = 64,		/* the GPU of a "cuda:N" (emogi.txt; gtu/gpu.h) */
};

/* A level or round that has ended. */
struct gtu_iteration {
	uint64_t number;		/* from 0 */
	uint64_t frontier;		/* vertices it began with, or queries; 0: not known (the paper's kernels on a GPU) */
	uint64_t edges;			/* traversed in it */
	uint64_t jobs, job_cycles;	/* unit jobs and their logical cycles */
	uint64_t list_bytes, cached_bytes; /* GTU_WITH_GPU: as in struct gtu_algorithm_stats */
	double seconds;			/* of all phases but "setup" and "cache" */
};

struct gtu_algorithm_options {
	uint32_t unit;			/* enum gtu_unit_choice */
	uint32_t chunk_log2;		/* at most 2^chunk_log2 edges are expanded at a time (1..31); 0: 22 */
	uint64_t source;		/* vertex (not id): BFS, SSSP, ST-connectivity */
	double damping;			/* PageRank, 0 < damping < 1; 0: 0.85 */
	double epsilon;			/* PageRank: stop when no rank changes by more; 0: never */
	uint32_t iterations;		/* PageRank; 0: 20 without epsilon, 1000 with. Label propagation; 0: 10 */
	uint32_t kernel;		/* GTU_WITH_GPU: enum gtu_kernel of gtu/gpu.h; others ignore it */
	double delta;			/* SSSP: step of the near-far threshold; 0: chosen from the weights */
	/*
	 * The part of a partition by vertex ranges that is run: edges that leave a vertex of
	 * [first_vertex, end_vertex) are traversed, no others; results are still those of all n
	 * vertices over these edges. Components of the parts, united, are the graph's components.
	 * PageRank over a part is refused. 0, 0: all vertices.
	 */
	uint64_t first_vertex, end_vertex;
	const struct gtu_progress *progress;
	uint64_t target;		/* vertex, ST-connectivity */
	const uint64_t *sources;	/* betweenness: vertices; NULL: all */
	uint64_t source_count;
	uint32_t direction;		/* BFS, PageRank with PEG and Weaver: enum gtu_push_pull */
	uint32_t features;		/* GCN: of a vertex, up to GTU_FEATURES_MAX; 0: 16 */
	uint64_t seed;			/* GCN: of the features */
	/*
	 * Called behind each iteration, with @iteration_user; NULL: not. Betweenness, GCN and, with GTU_WITH_GPU and
	 * GTU_KERNEL_AUTO, shortest paths and components have no such steps and never call it.
	 */
	void (*iteration)(void *user, const struct gtu_iteration *it);
	void *iteration_user;
};

#define GTU_FEATURES_MAX 65536u

/* Which edges of a vertex are gone along: those that leave it, or those that lead to it. */
enum gtu_push_pull {
	GTU_PUSH,
	GTU_PULL,
	GTU_PUSH_OR_PULL,		/* by a rule, stated at the function */
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
	/* GTU_WITH_GPU; 0 with others. Bytes are those of the 32-byte sectors that kernels asked for. */
	uint64_t list_bytes;		/* of edge list and weights where they lie */
	uint64_t cached_bytes;		/* of those that the card's memory holds */
	double gpu_seconds;		/* of the traversal: no placing, no results */
	uint64_t pull_first, pull_end;	/* iterations [first, end), from 0, pulled, all others pushed */
};

#define GTU_UNREACHED UINT64_MAX

/*
 * The four below: @dev may be NULL with GTU_WITH_NONE; @stats may be NULL. Results do not depend on the
 * unit, the chunk or the device. The caller's array is complete when they return 0 and of no meaning
 * otherwise. Errors, each with its sentence: GTU_ERR_INPUT: the graph has rows or targets beyond its own
 * (an unchecked container; the edge is named), or a weight below 0; GTU_ERR_USAGE: an option out of
 * range, a source that is no vertex; GTU_ERR_UNSUPPORTED: no such unit on the device, or more vertices
 * than the IRU's indices can name (2^32 at most); GTU_ERR_NOMEM; GTU_ERR_INTERRUPTED.
 *
 * Breadth-first search: level[v] (n entries of the caller's) = hops from the source, GTU_UNREACHED
 * where there is no path. (scu.txt, algorithms 1 and 4; iru.txt, figure 9)
 *
 * GTU_PUSH_OR_PULL pulls one run of levels: from the first whose frontier is n / GTU_PULL_SHARE vertices or more
 * and has more edges than 1 / FACTOR of those of the vertices not reached, until a frontier is smaller.
 */
#define GTU_PULL_SHARE		24u
#define GTU_PULL_FACTOR_PEG	1u	/* all edges of the vertices not reached are gathered */
#define GTU_PULL_FACTOR_WEAVER	14u	/* a vertex that is reached is skipped: few of its edges are gone along */
int gtu_bfs(struct gtu_device *dev, const struct gtu_graph *g,
	    const struct gtu_algorithm_options *opt, uint64_t *level,
	    struct gtu_algorithm_stats *stats, struct gtu_error *err);
/*
 * Shortest paths by near-far sets (scu.txt, algorithms 2 and 5; iru.txt, figure 10). distance[v] (n
 * entries): infinity where there is no path. No weights: every edge is 1. Sums are made in the weights'
 * type: integers are exact (up to 2^53, which a double holds), f32 weights add in float.
 */
int gtu_sssp(struct gtu_device *dev, const struct gtu_graph *g,
	     const struct gtu_algorithm_options *opt, double *distance,
	     struct gtu_algorithm_stats *stats, struct gtu_error *err);
/*
 * PageRank: rank[v] (n entries), dangling rank spread evenly, together 1 (scu.txt, algorithm 3; iru.txt,
 * figure 11). Units agree but for the order of sums in double. GTU_WITH_SCU does what _BASIC does.
 * Every iteration goes along all edges, so GTU_PUSH_OR_PULL pulls where that takes no second edge list.
 */
int gtu_pagerank(struct gtu_device *dev, const struct gtu_graph *g,
		 const struct gtu_algorithm_options *opt, double *rank,
		 struct gtu_algorithm_stats *stats, struct gtu_error *err);
/*
 * Weakly connected components: component[v] (n entries) = the lowest vertex of v's component. With a
 * unit, a directed graph is transposed for it (memory for another edge list).
 */
int gtu_components(struct gtu_device *dev, const struct gtu_graph *g,
		   const struct gtu_algorithm_options *opt, uint64_t *component,
		   struct gtu_algorithm_stats *stats, struct gtu_error *err);

/*
 * The four algorithms that GraphPEG's evaluation adds (graphpeg.txt, section 4.1), on the same terms. They
 * run on whole graphs: a vertex range is GTU_ERR_UNSUPPORTED.
 *
 * Betweenness centrality (Brandes): score[v] (n entries) = sum over the sources s and all t of the share of
 * shortest paths from s to t that pass through v, neither of them being v. Edges count 1 each, as stored:
 * what is entered twice is two paths, and where edges are stored both ways each pair counts twice if both
 * ends are sources. Units agree but for the order of sums in double (1e-9, relatively).
 * GTU_ERR_UNSUPPORTED: more shortest paths than a double counts.
 */
int gtu_betweenness(struct gtu_device *dev, const struct gtu_graph *g,
		    const struct gtu_algorithm_options *opt, double *score,
		    struct gtu_algorithm_stats *stats, struct gtu_error *err);
/*
 * ST-connectivity: *distance = edges on a shortest path from opt->source to opt->target, GTU_UNREACHED
 * where there is no path. Where edges are stored both ways it searches from both ends.
 */
int gtu_stcon(struct gtu_device *dev, const struct gtu_graph *g,
	      const struct gtu_algorithm_options *opt, uint64_t *distance,
	      struct gtu_algorithm_stats *stats, struct gtu_error *err);
/*
 * Graph colouring: color[v] (n entries), from 0; ends of an edge have different ones, whatever its
 * direction (a loop is no edge here). The same for every unit. Directed graphs take memory for another
 * edge list, here and below.
 */
int gtu_coloring(struct gtu_device *dev, const struct gtu_graph *g,
		 const struct gtu_algorithm_options *opt, uint32_t *color,
		 struct gtu_algorithm_stats *stats, struct gtu_error *err);
/*
 * K-core decomposition: core[v] (n entries) = the greatest k for which v is in a part of the graph in
 * which every vertex has k edges or more to others. Edges count whatever their direction; between two
 * vertices of a directed graph there is one at most, else as many as are stored.
 */
int gtu_cores(struct gtu_device *dev, const struct gtu_graph *g,
	      const struct gtu_algorithm_options *opt, uint64_t *core,
	      struct gtu_algorithm_stats *stats, struct gtu_error *err);

/*
 * The two that LDBC Graphalytics adds (specification 1.0, sections 2.3.4 and 2.3.5), on the terms of the four above.
 * Without a unit they run on all CPUs. Directed graphs take memory for another edge list.
 *
 * Community detection by label propagation: label[v] (n entries) begins as v and becomes, opt->iterations times and
 * for all vertices at once, the most frequent label of v's neighbours, the smallest of several; a vertex without
 * edges keeps its own. Every edge stored counts, in a directed graph for both its ends. stats->iterations is less
 * than asked for where no label changed any more.
 */
int gtu_label_propagation(struct gtu_device *dev, const struct gtu_graph *g,
			  const struct gtu_algorithm_options *opt, uint64_t *label,
			  struct gtu_algorithm_stats *stats, struct gtu_error *err);
/*
 * Local clustering coefficient: coefficient[v] (n entries) = edges between v's neighbours over d (d - 1), d being
 * how many there are; 0 where d is less than 2. Neighbours are those that an edge leads to or comes from, each once
 * and v not; between two of them there are as many edges as directions. stats->edges: of the lists that were looked
 * through. GTU_ERR_UNSUPPORTED: GTU_WITH_IRU, more than 2^32 - 1 vertices.
 */
int gtu_clustering(struct gtu_device *dev, const struct gtu_graph *g,
		   const struct gtu_algorithm_options *opt, double *coefficient,
		   struct gtu_algorithm_stats *stats, struct gtu_error *err);

/* Feature @f of vertex @v that gtu_gcn() begins with: -1 or more, less than 1, by the numbers alone. */
static inline double gtu_gcn_feature(uint64_t seed, uint64_t v, uint32_t f)
{
	uint64_t x = seed * 0x9e3779b97f4a7c15u ^ (v * GTU_FEATURES_MAX + f);
	int i;

	for (i = 0; i < 2; i++) {	/* the finishing of splitmix64, twice: neighbours have nothing in common */
		x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
		x = (x ^ x >> 27) * 0x94d049bb133111ebu;
		x = (x ^ x >> 31) + 0x9e3779b97f4a7c15u;
	}
	return (double)(x >> 11) * (1. / (1ull << 52)) - 1;
}

/*
 * The three kernels of a graph convolution (sparseweaver.txt, section V-I), on the terms of the four above:
 * initialisation, x = gtu_gcn_feature() of opt->seed; SpMM, y[v] = sum over the edges (v, u) as stored of
 * weight(v, u) * x[u], without weights 1; GraphSum, out[v] = sum over the same edges of
 * y[u] / sqrt(d(v) d(u)), d being the number of edges stored for a vertex, at least 1. @out: F doubles a
 * vertex, v * F + f. Sums are made in double; units agree but for their order, within 1e-9 of the sum of
 * magnitudes. GTU_ERR_INPUT: a weight that is no finite number; GTU_ERR_UNSUPPORTED: sums beyond a double.
 */
int gtu_gcn(struct gtu_device *dev, const struct gtu_graph *g,
	    const struct gtu_algorithm_options *opt, double *out,
	    struct gtu_algorithm_stats *stats, struct gtu_error *err);

#ifdef __cplusplus
}
#endif
#endif
