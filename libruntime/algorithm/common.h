/* SPDX-License-Identifier: MIT */
/*
 * What the algorithms share: a run (device, queue, mapped graph, clock), buffers that grow, frontiers,
 * and the expansion and contraction steps of the SCU paper (scu.txt, sections 3.3 and 4), bounded so
 * that an edge frontier of any size passes through buffers of one chunk.
 */
#ifndef GTU_ALGORITHM_COMMON_H
#define GTU_ALGORITHM_COMMON_H

#include "gtu/gtu.h"
#include "libruntime/graph/graph_internal.h"

#define GTU_ALG_CHUNK_LOG2	22
#define GTU_ALG_CHUNK_LOG2_MAX	31	/* a job of the SCU takes 2^32 - 2 elements, and ordinals are u32 */

/* Sizes of the tables, in lines: those of the larger GPU of the SCU paper (table 1). */
#define GTU_ALG_UNIQUE_LINES	(1u << 18)
#define GTU_ALG_BEST_LINES	(1u << 17)
#define GTU_ALG_GROUP_LINES	(1u << 15)

/* Zeroed memory that the device reaches (plain memory without a device). Given back by gtu_alg_end(). */
struct gtu_alg_buffer {
	struct gtu_region region;
	struct gtu_alg_buffer *next;	/* in the run's list */
	bool listed;
};

/* One run of one algorithm. */
struct gtu_alg {
	const char *name;		/* for progress: "bfs" */
	struct gtu_device *dev;
	const struct gtu_graph *g;
	const struct gtu_algorithm_options *opt;
	struct gtu_algorithm_stats *stats;
	struct gtu_error *err;
	uint64_t first, end;		/* vertices whose edges are traversed */
	uint64_t chunk;			/* edges at a time */
	uint32_t id_width;		/* bytes of a vertex in frontiers */
	struct gtu_queue *q;		/* NULL without a unit */
	struct gtu_iru *iru;
	uint64_t iru_edges, iru_lanes, iru_indices; /* reordering: elements, of these to come, their limit */
	bool iru_positions;
	struct gtu_alg_buffer *buffers;
	uint64_t started_ns, phase_ns;
	unsigned phase;
	uint64_t looked;		/* edges traversed when the clock was last looked at */
	uint64_t ticked_ns;		/* when tick() was last called */
	struct gtu_iteration before;	/* sums up to the last iteration that was told */
	struct gtu_algorithm_stats unused;	/* where the caller wants none */
};

/*
 * Check the options, start the clock in phase "setup", make a queue where a unit is asked for.
 * gtu_alg_end() must follow whatever is returned; it frees everything and returns @rc.
 */
int gtu_alg_begin(struct gtu_alg *a, const char *name, struct gtu_device *dev,
		  const struct gtu_graph *g, const struct gtu_algorithm_options *opt,
		  struct gtu_algorithm_stats *stats, struct gtu_error *err);
int gtu_alg_end(struct gtu_alg *a, int rc);

static inline bool gtu_alg_scu(const struct gtu_alg *a)
{
	return a->opt->unit == GTU_WITH_SCU_BASIC || a->opt->unit == GTU_WITH_SCU;
}

/* For algorithms that cannot run on a part of the vertices: GTU_ERR_UNSUPPORTED where one is asked for. */
int gtu_alg_whole(struct gtu_alg *a);
/*
 * For algorithms that go along edges either way: *both = the graph with every edge both ways, where it
 * is directed (the caller closes it), else NULL.
 */
int gtu_alg_both_ways(struct gtu_alg *a, struct gtu_graph **both);

/* Check opt->direction. GTU_ERR_UNSUPPORTED: pulling with a unit, or over a part of the vertices, that cannot. */
int gtu_alg_direction(struct gtu_alg *a);
/* *turned = the graph turned round, without weights (the caller closes it); NULL where edges are stored both ways. */
int gtu_alg_turn(struct gtu_alg *a, struct gtu_graph **turned);

/* A unit that brings edges one by one, which gtu_alg_visit() takes: nothing is expanded in memory. */
static inline bool gtu_alg_brings(const struct gtu_alg *a)
{
	return a->opt->unit == GTU_WITH_PEG || a->opt->unit == GTU_WITH_WEAVER;
}

/* A job of a unit has ended: count it and its cycles. */
void gtu_alg_job_done(struct gtu_alg *a, const struct gtu_completion *c);

/* The clock goes on under this name; times of equal names add up. */
void gtu_alg_phase(struct gtu_alg *a, const char *name);
/* An iteration over @frontier vertices has ended: count it, and tell who asked. */
void gtu_alg_iteration(struct gtu_alg *a, uint64_t frontier);
/* The user may look in, and stop it, if that was not so lately. */
int gtu_alg_look(struct gtu_alg *a);
/* Count @edges as traversed; every few milliseconds the user may look in, and stop it. */
int gtu_alg_progress(struct gtu_alg *a, uint64_t edges);

/* Room for @bytes. What was there is kept with @keep, lost (and zero or not) without. */
int gtu_alg_room(struct gtu_alg *a, struct gtu_alg_buffer *b, uint64_t bytes, bool keep);

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

/* Append without a look at the room: the caller has made it. */
static inline void gtu_alg_push(const struct gtu_alg *a, struct gtu_alg_frontier *f, uint64_t v)
{
	gtu_put(f->ids.region.addr, a->id_width, f->count++, v);
}

/* An edge list with the part of a frontier that is being expanded. */
struct gtu_alg_work {
	const struct gtu_graph *g;
	struct gtu_mapped_graph map;	/* SCU and PEG only */
	uint64_t first, end;		/* vertices outside have no edges here */
	uint64_t n;			/* entries of vertex, index and count, none of them 0 long */
	uint64_t edges;			/* sum of the counts, at most a chunk */
	uint32_t index_width;
	struct gtu_alg_buffer vertex;	/* id_width bytes */
	struct gtu_alg_buffer index;	/* index_width bytes: where in col its edges begin */
	struct gtu_alg_buffer count;	/* 4 bytes */
	struct gtu_alg_buffer edge;	/* the edge frontier: `out` targets of id_width bytes */
	uint64_t out;
};

/* How far a frontier has been expanded; zeroed: not at all. Ends where at = frontier's count. */
struct gtu_alg_cursor {
	uint64_t at;			/* entry of the frontier */
	uint64_t done;			/* edges of that vertex taken before */
};

/* Set up *w for @g, mapped for the SCU. gtu_alg_work_end() before gtu_alg_end(). */
int gtu_alg_work_begin(struct gtu_alg *a, struct gtu_alg_work *w, const struct gtu_graph *g);
int gtu_alg_work_end(struct gtu_alg *a, struct gtu_alg_work *w, int rc);

/*
 * Take the next vertices of a frontier, edges for one chunk at most (a vertex with more is taken in
 * pieces), into vertex, index and count: the preparation of the papers' algorithms. Counts the edges
 * as traversed, as gtu_alg_progress() does. w->n = 0: only vertices without edges were left.
 */
int gtu_alg_take(struct gtu_alg *a, struct gtu_alg_work *w, const struct gtu_alg_frontier *f,
		 struct gtu_alg_cursor *c);

/* Rows as bounds of v's edges in col; an error where they are not within it. */
int gtu_alg_bad_row(struct gtu_alg *a, const struct gtu_graph *g, uint64_t v);
static inline int gtu_alg_edges(struct gtu_alg *a, const struct gtu_graph *g, uint64_t v,
				uint64_t *first, uint64_t *end)
{
	*first = g->row[v];
	*end = g->row[v + 1];
	return gtu_likely(*first <= *end && *end <= g->m) ? 0 : gtu_alg_bad_row(a, g, v);
}

/* The error for edge @e of the edge list, whose target is no vertex. */
int gtu_alg_bad_edge(struct gtu_alg *a, const struct gtu_graph *g, uint64_t e);
/* The same where only an edge frontier is known: looks for the edge in what was expanded. */
int gtu_alg_bad_work(struct gtu_alg *a, const struct gtu_alg_work *w);

/*
 * The enhanced SCU's filter and grouping for one place of an algorithm, with its tables. The first job
 * of a place is FUSED (filter, group and write in one), further ones that must select and order alike
 * are APPLY.
 */
struct gtu_alg_filter {
	uint32_t flags;			/* GTU_SCU_UNIQUE, _BEST, _GROUP */
	bool keep;			/* later jobs see what earlier ones put into the filter table */
	bool used;
	uint64_t lines;
	struct gtu_scu_filter f;
	struct gtu_alg_buffer table, groups, bits, order;
};

/* @cost_type, @cost_width: for BEST; @target_width: bytes of what the vertices will index, for GROUP. */
int gtu_alg_filter_begin(struct gtu_alg *a, struct gtu_alg_filter *t, uint32_t flags, bool keep,
			 uint32_t cost_type, uint32_t cost_width, uint32_t target_width);
/* From here on t->f filters and groups a job of at most @elements before filtering, with its operands. */
int gtu_alg_filter_fused(struct gtu_alg *a, struct gtu_alg_filter *t, uint64_t elements);
/* From here on t->f selects and orders as the last FUSED job did. */
void gtu_alg_filter_apply(struct gtu_alg_filter *t);

/* w->edge = the targets of what was taken, w->out of them (access expansion compaction). @t may be NULL. */
int gtu_alg_expand(struct gtu_alg *a, struct gtu_alg_work *w, const struct gtu_alg_filter *t);
/* As gtu_alg_expand(), from another array with an element an edge (weights) into @to. */
int gtu_alg_expand_from(struct gtu_alg *a, struct gtu_alg_work *w, const struct gtu_array *data,
			const struct gtu_alg_filter *t, struct gtu_alg_buffer *to);
/* to[] = in[i] for every edge of entry i (replication compaction); @in has w->n of @width bytes. */
int gtu_alg_replicate(struct gtu_alg *a, struct gtu_alg_work *w, const struct gtu_alg_buffer *in,
		      uint32_t width, const struct gtu_alg_filter *t, struct gtu_alg_buffer *to);
/*
 * Append in[i] (of @n, @width bytes) where bit i of @mask is set to the *count elements of @to (data
 * compaction), at most @ones; *count grows by what came out.
 */
int gtu_alg_compact(struct gtu_alg *a, const struct gtu_alg_buffer *in, uint64_t n, uint32_t width,
		    const struct gtu_alg_buffer *mask, uint64_t ones,
		    const struct gtu_alg_filter *t, struct gtu_alg_buffer *to, uint64_t *count);

/* Bitmasks: room for and zero @n bits; set one. */
int gtu_alg_mask(struct gtu_alg *a, struct gtu_alg_buffer *mask, uint64_t n);
static inline void gtu_alg_set(struct gtu_alg_buffer *mask, uint64_t i)
{
	((uint8_t *)mask->region.addr)[i >> 3] |= (uint8_t)(1u << (i & 7));
}

/* *ones bits of @mask, those i where in[i] (of @n, @width bytes) compares with @reference, unsigned. */
int gtu_alg_compare(struct gtu_alg *a, const struct gtu_alg_buffer *in, uint64_t n, uint32_t width,
		    uint32_t cmp, uint64_t reference, struct gtu_alg_buffer *mask, uint64_t *ones);

/* w->edge = the targets as 4-byte indices, by the CPU: what the IRU reorders. Bad edges are refused. */
int gtu_alg_gather(struct gtu_alg *a, struct gtu_alg_work *w);
/* As gtu_alg_replicate(), by the CPU. */
int gtu_alg_spread(struct gtu_alg *a, const struct gtu_alg_work *w, const struct gtu_alg_buffer *in,
		   uint32_t width, struct gtu_alg_buffer *to);
/*
 * configure_iru() over the w->edges indices of w->edge, each below @indices, for accesses to @target_width wide
 * elements. @secondary: as many 4-byte values, or NULL. Then gtu_alg_load() until it returns 0, then
 * gtu_alg_reordered().
 */
int gtu_alg_reorder(struct gtu_alg *a, const struct gtu_alg_work *w, uint64_t indices, uint32_t operation,
		    const struct gtu_alg_buffer *secondary, bool positions, uint32_t target_width);
/*
 * load_iru(). What the unit gives is used to index memory: lanes beyond what was sent, or with an index or a
 * position that no sound device gives, are GTU_ERR_FAIL.
 */
int gtu_alg_load(struct gtu_alg *a, struct gtu_warp *warp);
void gtu_alg_reordered(struct gtu_alg *a);

#endif
