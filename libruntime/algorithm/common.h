/* SPDX-License-Identifier: MIT */
/*
 * Infrastructure of the algorithms: a run (device, queue, mapped graph, clock), growing buffers,
 * frontiers, and the expansion and contraction steps of the SCU paper (SCU, sections 3.3 and 4).
 * Steps are chunked, so that an edge frontier of any size passes through buffers of one chunk.
 */
#ifndef GTU_ALGORITHM_COMMON_H
#define GTU_ALGORITHM_COMMON_H

#include "gtu/gtu.h"
#include "libruntime/support/array.h"
#include "libruntime/support/phases.h"

#define GTU_ALG_CHUNK_LOG2	22
#define GTU_ALG_CHUNK_LOG2_MAX	31	/* an SCU job takes 2^32 - 2 elements, and ordinals are u32 */

/* Table sizes in lines: those of the larger GPU (SCU, table 1). */
#define GTU_ALG_UNIQUE_LINES	(1u << 18)
#define GTU_ALG_BEST_LINES	(1u << 17)
#define GTU_ALG_GROUP_LINES	(1u << 15)

/* Zeroed memory accessible to the device (plain memory without one). Released by gtu_alg_end(). */
struct gtu_alg_buffer {
	struct gtu_region region;
	struct gtu_alg_buffer *next;	/* in the run's list */
	bool listed;
};

/* One run of one algorithm. */
struct gtu_alg {
	const char *name;		/* for progress reports: "bfs" */
	struct gtu_device *dev;
	const struct gtu_graph *g;
	const struct gtu_algorithm_options *opt;
	struct gtu_algorithm_stats *stats;	/* phases.stats */
	struct gtu_error *err;
	uint64_t first, end;		/* vertices whose edges are traversed */
	uint64_t chunk;			/* maximum edges per step */
	uint32_t id_width;		/* bytes of a vertex in frontiers */
	struct gtu_queue *q;		/* NULL without a unit */
	struct gtu_iru *iru;
	uint64_t iru_edges, iru_lanes, iru_indices; /* reordering: elements, elements left, upper bound of indices */
	const struct gtu_alg_work *iru_work;	/* whose targets are reordered; NULL: a list of indices */
	bool iru_positions;
	struct gtu_alg_buffer *buffers;
	struct gtu_phases phases;
	uint64_t polled_edges;		/* edges traversed at the last reading of the clock */
	uint64_t ticked_ns;		/* time of the last tick() */
};

/*
 * Check the options, start the clock in phase "setup", and create a queue if a unit is used. Always
 * call gtu_alg_end() afterwards, even after an error; it frees everything and returns @rc.
 */
int gtu_alg_begin(struct gtu_alg *a, const char *name, struct gtu_device *dev,
		  const struct gtu_graph *g, const struct gtu_algorithm_options *opt,
		  struct gtu_algorithm_stats *stats, struct gtu_error *err);
int gtu_alg_end(struct gtu_alg *a, int rc);

static inline bool gtu_alg_scu(const struct gtu_alg *a)
{
	return a->opt->unit == GTU_WITH_SCU_BASIC || a->opt->unit == GTU_WITH_SCU;
}

/* GTU_ERR_USAGE if the @what ("source") vertex @v is out of range. */
int gtu_alg_check_vertex(struct gtu_alg *a, const char *what, uint64_t v);
/* Check all weights (no negative, no NaN), and compute their mean and maximum; 1 without weights. */
int gtu_alg_scan_weights(struct gtu_alg *a, double *mean, double *max);
/* GTU_ERR_UNSUPPORTED if a vertex range is set; for algorithms that need the whole graph. */
int gtu_alg_require_whole_graph(struct gtu_alg *a);
/*
 * For algorithms that ignore edge directions: *both = the symmetrized graph if the graph is
 * directed (the caller closes it), else NULL.
 */
int gtu_alg_symmetrize(struct gtu_alg *a, struct gtu_graph **both);

/*
 * Check opt->direction. GTU_ERR_UNSUPPORTED: this unit, or a vertex range, does not support
 * pulling.
 */
int gtu_alg_direction(struct gtu_alg *a);
/*
 * *transpose = the transpose without weights (the caller closes it); NULL if edges are stored in both
 * directions.
 */
int gtu_alg_transpose(struct gtu_alg *a, struct gtu_graph **transpose);

/* Whether the unit streams edges to gtu_alg_for_each_edge() instead of expanding them in memory. */
static inline bool gtu_alg_streams_edges(const struct gtu_alg *a)
{
	return a->opt->unit == GTU_WITH_PEG || a->opt->unit == GTU_WITH_WEAVER;
}

/* Add a finished job and its cycles to the statistics. */
void gtu_alg_job_done(struct gtu_alg *a, const struct gtu_completion *c);

/*
 * Call the progress callback, at most once per TICK_NS; GTU_ERR_INTERRUPTED if it cancels the run.
 */
int gtu_alg_poll_progress(struct gtu_alg *a);
/* Count @edges as traversed, and call gtu_alg_poll_progress() from time to time. */
int gtu_alg_progress(struct gtu_alg *a, uint64_t edges);

/* Grow the buffer to @bytes. @keep preserves the content; otherwise it is undefined. */
int gtu_alg_reserve(struct gtu_alg *a, struct gtu_alg_buffer *b, uint64_t bytes, bool keep);

/* Exchange the memory of two buffers. */
void gtu_alg_swap(struct gtu_alg *a, struct gtu_alg_buffer *x, struct gtu_alg_buffer *y);

static inline struct gtu_array gtu_alg_array(const struct gtu_alg_buffer *b, uint64_t count,
					     uint32_t width)
{
	return gtu_array(&b->region, 0, count, width);
}

/* A list of vertices of id_width bytes, or all vertices. */
struct gtu_alg_frontier {
	struct gtu_alg_buffer ids;
	uint64_t count;
	bool all;			/* vertices 0 .. count - 1; ids is not used */
};

static inline uint64_t gtu_alg_vertex(const struct gtu_alg *a, const struct gtu_alg_frontier *f,
				      uint64_t i)
{
	return f->all ? i : gtu_get(f->ids.region.addr, a->id_width, i);
}

/* Append a vertex; the caller must have reserved the space. */
static inline void gtu_alg_push(const struct gtu_alg *a, struct gtu_alg_frontier *f, uint64_t v)
{
	gtu_put(f->ids.region.addr, a->id_width, f->count++, v);
}

/* An edge list, and the part of a frontier that is being expanded. */
struct gtu_alg_work {
	const struct gtu_graph *g;
	struct gtu_mapped_graph map;	/* with a unit: the edge list, which the unit reads in place */
	uint64_t first, end;		/* vertices outside this range count as without edges */
	uint64_t targets;		/* targets are below: n of the run's graph; a part of it has fewer rows */
	uint64_t n;			/* entries of vertex, index and count; all counts are above 0 */
	uint64_t edges;			/* sum of the counts, at most a chunk */
	uint32_t index_width;
	struct gtu_alg_buffer vertex;	/* id_width bytes */
	struct gtu_alg_buffer index;	/* index_width bytes: index of its first edge in col */
	struct gtu_alg_buffer count;	/* 4 bytes */
	struct gtu_alg_buffer edge;	/* SCU: the edge frontier, `out` targets of id_width bytes */
	uint64_t out;
};

/*
 * Progress of a frontier's expansion, initially zero. Complete when `at` is the frontier's count.
 */
struct gtu_alg_cursor {
	uint64_t at;			/* entry of the frontier */
	uint64_t done;			/* edges of that vertex already taken */
};

/* Set up *w for @g, mapped if a unit is used. Call gtu_alg_work_end() before gtu_alg_end(). */
int gtu_alg_work_begin(struct gtu_alg *a, struct gtu_alg_work *w, const struct gtu_graph *g);
int gtu_alg_work_end(struct gtu_alg *a, struct gtu_alg_work *w, int rc);

/*
 * Take the next vertices of a frontier, with at most one chunk of edges (a vertex with more is
 * split), into vertex, index and count: the preparation step of the papers' algorithms. Counts the
 * edges with gtu_alg_progress(). w->n = 0: only vertices without edges were left.
 */
int gtu_alg_take(struct gtu_alg *a, struct gtu_alg_work *w, const struct gtu_alg_frontier *f,
		 struct gtu_alg_cursor *c);

/* The bounds of v's edges in col; an error if they are out of bounds. */
int gtu_alg_bad_row(struct gtu_alg *a, const struct gtu_graph *g, uint64_t v);
static inline int gtu_alg_edges(struct gtu_alg *a, const struct gtu_graph *g, uint64_t v,
				uint64_t *first, uint64_t *end)
{
	*first = g->row[v];
	*end = g->row[v + 1];
	return gtu_likely(*first <= *end && *end <= g->m) ? 0 : gtu_alg_bad_row(a, g, v);
}

/* The same, and count the edges with gtu_alg_progress(). */
static inline int gtu_alg_take_row(struct gtu_alg *a, const struct gtu_graph *g, uint64_t v, uint64_t *first,
				   uint64_t *end)
{
	int rc = gtu_alg_edges(a, g, v, first, end);

	return rc ? rc : gtu_alg_progress(a, *end - *first);
}

/* Report edge @e, whose target is not a vertex. */
int gtu_alg_bad_edge(struct gtu_alg *a, const struct gtu_graph *g, uint64_t e);
/* Whether an edge taken has an invalid target; *e: the first one. */
bool gtu_alg_find_bad(const struct gtu_alg_work *w, uint64_t *e);
/* Report it, when a unit has returned an invalid target. */
int gtu_alg_bad_work(struct gtu_alg *a, const struct gtu_alg_work *w);

/*
 * Filtering and grouping of the enhanced SCU for one step of an algorithm, with its tables. The
 * first job of a step is FUSED (filter, group and write at once); further jobs that must select and
 * order alike are APPLY.
 */
struct gtu_alg_filter {
	uint32_t flags;			/* GTU_SCU_UNIQUE, _BEST, _GROUP */
	bool keep;			/* keep the filter table across jobs */
	bool used;
	uint64_t lines;
	struct gtu_scu_filter f;
	struct gtu_alg_buffer table, groups, bits, order;
};

/*
 * @cost_type, @cost_width: for BEST; @target_width: bytes per element indexed by the vertices, for
 * GROUP.
 */
int gtu_alg_filter_begin(struct gtu_alg *a, struct gtu_alg_filter *t, uint32_t flags, bool keep,
			 uint32_t cost_type, uint32_t cost_width, uint32_t target_width);
/* Set t->f to filter and group the next job, which has at most @elements before filtering. */
int gtu_alg_filter_fused(struct gtu_alg *a, struct gtu_alg_filter *t, uint64_t elements);
/* Set t->f to select and order as the last FUSED job did. */
void gtu_alg_filter_apply(struct gtu_alg_filter *t);

/* w->edge = the w->out targets of the edges taken (access expansion compaction). @t may be NULL. */
int gtu_alg_expand(struct gtu_alg *a, struct gtu_alg_work *w, const struct gtu_alg_filter *t);
/* gtu_alg_expand() from another array with one element per edge (weights) into @to. */
int gtu_alg_expand_from(struct gtu_alg *a, struct gtu_alg_work *w, const struct gtu_array *data,
			const struct gtu_alg_filter *t, struct gtu_alg_buffer *to);
/*
 * to[] = in[i] for every edge of entry i (replication compaction); @in has w->n elements of @width
 * bytes.
 */
int gtu_alg_replicate(struct gtu_alg *a, struct gtu_alg_work *w, const struct gtu_alg_buffer *in,
		      uint32_t width, const struct gtu_alg_filter *t, struct gtu_alg_buffer *to);
/*
 * Append in[i] (of @n, @width bytes) to the *count elements of @to if bit i of @mask is set (data
 * compaction). At most @ones elements; *count grows by the number appended.
 */
int gtu_alg_compact(struct gtu_alg *a, const struct gtu_alg_buffer *in, uint64_t n, uint32_t width,
		    const struct gtu_alg_buffer *mask, uint64_t ones,
		    const struct gtu_alg_filter *t, struct gtu_alg_buffer *to, uint64_t *count);
/* As gtu_alg_compact(), of vertices to the end of @f. Refuses what is no vertex. */
int gtu_alg_compact_frontier(struct gtu_alg *a, const struct gtu_alg_buffer *in, uint64_t n,
			     const struct gtu_alg_buffer *mask, uint64_t ones,
			     const struct gtu_alg_filter *t, struct gtu_alg_frontier *f);

/* Bitmasks: allocate and clear @n bits; set one. */
int gtu_alg_mask(struct gtu_alg *a, struct gtu_alg_buffer *mask, uint64_t n);
static inline void gtu_alg_set(struct gtu_alg_buffer *mask, uint64_t i)
{
	((uint8_t *)mask->region.addr)[i >> 3] |= (uint8_t)(1u << (i & 7));
}

/*
 * Set the bits i of @mask for which in[i] (of @n, @width bytes) compares with @reference, unsigned;
 * *ones: their number.
 */
int gtu_alg_compare(struct gtu_alg *a, const struct gtu_alg_buffer *in, uint64_t n, uint32_t width,
		    uint32_t cmp, uint64_t reference, struct gtu_alg_buffer *mask, uint64_t *ones);

/* gtu_alg_replicate() on the CPU. */
int gtu_alg_replicate_cpu(struct gtu_alg *a, const struct gtu_alg_work *w, const struct gtu_alg_buffer *in,
		   uint32_t width, struct gtu_alg_buffer *to);
/*
 * gtu_iru_configure() over the targets of the edges taken, which the unit reads in place, for
 * accesses to elements of @target_width bytes. @secondary: as many 4-byte values, or NULL. Then
 * call gtu_alg_load() until it returns 0.
 */
int gtu_alg_reorder(struct gtu_alg *a, const struct gtu_alg_work *w, uint32_t operation,
		    const struct gtu_alg_buffer *secondary, bool positions, uint32_t target_width);
/* The same over @list, w->edges indices of 4 bytes, each below @indices, with positions. */
int gtu_alg_reorder_list(struct gtu_alg *a, const struct gtu_alg_work *w, const struct gtu_alg_buffer *list,
			 uint64_t indices, uint32_t target_width);
/*
 * gtu_iru_load() with validation, since its values are used as memory indices: surplus lanes and
 * indices or positions out of range are GTU_ERR_FAIL, invalid targets in the edge list
 * GTU_ERR_INPUT. At the end, the job is added to the statistics.
 */
int gtu_alg_load(struct gtu_alg *a, struct gtu_warp *warp);

#endif
