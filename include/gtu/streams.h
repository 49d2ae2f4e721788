/* SPDX-License-Identifier: MIT */
/*
 * The units that stream warp records to the caller: IRU, PEG and Weaver. gtu/gtu.h includes this
 * file.
 */
#ifndef GTU_STREAMS_H
#define GTU_STREAMS_H

#include "gtu/gtu.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- IRU: irregular accesses reorder unit (IRU, section 4) ------------------------------------- */

struct gtu_iru;

struct gtu_iru_config {
	uint64_t target_base;		/* region-relative byte address of the array that the indices access */
	uint32_t target_width;		/* bytes per element of that array: 1 .. 128, a power of two */
	uint32_t operation;		/* GTU_IRU_OP_* */
	struct gtu_array indices;	/* n elements of 4 bytes */
	/*
	 * If given, the n elements are ranges of an array at `indices` (of 4 or 8 bytes, up to its region's end), such
	 * as the edges of a frontier's vertices: range i has count[i] > 0 elements from element first[i] on. `first` has
	 * 4 or 8 bytes an element, `count` 4. The unit reads the array in place.
	 */
	struct gtu_array first, count;
	struct gtu_array secondary;	/* n elements of 4 bytes, or absent */
	bool positions;			/* include positions in the records */
	bool all;			/* mode ALL: ceil(n / 32) records; else stop when the input is exhausted */
	uint32_t timeout;		/* cycles; 0: the unit's setting */
	uint32_t ring_log2;		/* records in the ring; 0: 8 */
};

/* One warp's record from gtu_iru_load(). Pointers are into the ring and valid until the next call. */
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
 * Start reordering (IRU, figure 8). The stream owns the queue until it ends or
 * gtu_iru_close(). The first call allocates *out; later calls may reuse it for the next stream.
 */
int gtu_iru_configure(struct gtu_queue *q, const struct gtu_iru_config *config, struct gtu_iru **out,
		  struct gtu_error *err);
/* The next warp (load_iru). 1: *warp is filled; 0: the stream has ended; negative: an error. */
int gtu_iru_load(struct gtu_iru *iru, struct gtu_warp *warp, struct gtu_error *err);
/* The job's completion after the end of the stream (records, cycles, elements merged). */
const struct gtu_completion *gtu_iru_result(const struct gtu_iru *iru);
/* End the stream if it is still running; NULL is allowed. */
void gtu_iru_close(struct gtu_iru *iru);

/* ---- PEG: GraphPEG's edge gathering (GraphPEG, section 3.2) -------------------------------- */

struct gtu_peg;

struct gtu_peg_config {
	/*
	 * GTU_PEG_VERTEX_LIST, _PULL, _WITH_*, _DEMAND, _BALANCE_EDGES, _BALANCE_LISTS, _STAND_BY
	 */
	uint32_t flags;
	uint32_t engines;		/* 0: 1 */
	struct gtu_array row;		/* n + 1 offsets of 4 or 8 bytes */
	struct gtu_array col;		/* ids of 4 or 8 bytes; count may be UINT64_MAX: to the region's end */
	struct gtu_array weight;	/* 4 or 8 bytes, for WITH_WEIGHT; count likewise */
	struct gtu_array in;		/* active vertices, as wide as ids; absent: all, in order */
	struct gtu_array out;		/* buffer for pushed vertices; absent: push is not allowed */
	uint32_t ring_log2;		/* log2 of the records in an engine's ring; 0: 8 */
	uint32_t push_log2;		/* log2 of the vertices in its push ring, 5..20; 0: 10 */
	uint32_t list_bytes, edge_bytes; /* on-chip buffers of an engine; 0: all that the device has */
};

/*
 * All engines: records in order of cycle, and of engine within a cycle. The order does not depend
 * on the consumer's speed. With _DEMAND: any engine that has a record.
 */
#define GTU_PEG_ANY UINT32_MAX
#define GTU_PEG_LANES 32u

/*
 * Start gathering. The stream owns the queue until gtu_peg_finish() or gtu_peg_close(). The first
 * call allocates *out; later calls may reuse it for the next stream.
 *
 * All engines share one clock. Without _DEMAND it stops while any engine's ring is full: a thread
 * that serves several engines must use GTU_PEG_ANY or drain every engine.
 */
int gtu_peg_configure(struct gtu_queue *q, const struct gtu_peg_config *config, struct gtu_peg **out,
		  struct gtu_error *err);
/*
 * The intrinsics (GraphPEG, table 1), for the lanes of a warp that are set in @lanes. Each engine has one
 * consumer warp; GTU_PEG_ANY is one more. A lane keeps its edge until a field is popped a second
 * time: that pop fetches the lane's next edge, lowest lane first (Documentation/units-peg.md).
 * value[l] is -1 (all ones) if lane l has no edge. *valid (may be NULL) is the mask of lanes with
 * an edge, since a weight can be -1. 1: some lane has an edge; 0: all edges have been popped;
 * negative: an error. GTU_ERR_USAGE: the records do not carry this field.
 */
int gtu_peg_pop_edge_src(struct gtu_peg *peg, uint32_t engine, uint32_t lanes, uint64_t value[GTU_PEG_LANES],
		 uint32_t *valid, struct gtu_error *err);
int gtu_peg_pop_edge_dst(struct gtu_peg *peg, uint32_t engine, uint32_t lanes, uint64_t value[GTU_PEG_LANES],
		 uint32_t *valid, struct gtu_error *err);
int gtu_peg_pop_edge_wt(struct gtu_peg *peg, uint32_t engine, uint32_t lanes, uint64_t value[GTU_PEG_LANES],
		uint32_t *valid, struct gtu_error *err);
int gtu_peg_pop_edge_idx(struct gtu_peg *peg, uint32_t engine, uint32_t lanes, uint64_t value[GTU_PEG_LANES],
		 uint32_t *valid, struct gtu_error *err);
/* Likewise, for a stream with GTU_PEG_VERTEX_LIST. */
int gtu_peg_pop_vert(struct gtu_peg *peg, uint32_t engine, uint32_t lanes, uint64_t value[GTU_PEG_LANES],
	     uint32_t *valid, struct gtu_error *err);
/*
 * Push one vertex per lane of @lanes to the output list of @engine, or of the engine whose record
 * was taken last (GTU_PEG_ANY). Waits for space in the push ring. Allowed until gtu_peg_finish().
 */
int gtu_peg_push_vert(struct gtu_peg *peg, uint32_t engine, uint32_t lanes, const uint64_t vertex[GTU_PEG_LANES],
	      struct gtu_error *err);

/*
 * A whole record, an alternative to the intrinsics. Pointers are into the ring and valid until the
 * next call.
 */
struct gtu_peg_edges {
	uint32_t active, engine;
	uint64_t cycle;
	const void *src, *dst, *weight, *index; /* 32 lanes, as wide as ids, weights, offsets; or NULL */
};
/* 1: *edges is filled; 0: all have been taken; negative: an error. */
int gtu_peg_next(struct gtu_peg *peg, uint32_t engine, struct gtu_peg_edges *edges, struct gtu_error *err);
/*
 * End pushing: write the output list and store its length in *listed (may be NULL). All edges must
 * have been taken. GTU_ERR_SPACE: the list does not fit; *listed is the required length.
 */
int gtu_peg_finish(struct gtu_peg *peg, uint64_t *listed, struct gtu_error *err);
/* The job's completion after gtu_peg_finish() (records, cycles). */
const struct gtu_completion *gtu_peg_result(const struct gtu_peg *peg);
/* End the stream if it is still running; NULL is allowed. */
void gtu_peg_close(struct gtu_peg *peg);

/* ---- Weaver (SparseWeaver, table II) ----------------------------------------------------------- */

struct gtu_weaver;

struct gtu_weaver_config {
	bool wide_vids, wide_eids;	/* 8-byte ids, else 4-byte */
	bool demand;			/* produce on request only; else ahead, while the ring has space */
	/*
	 * If given, 4 or 8 bytes an element: the unit reads the element of each edge id, for
	 * gtu_weaver_dec_target() and gtu_weaver_dec_weight(). count may be UINT64_MAX: to the region's end.
	 */
	struct gtu_array col, weight;
	uint32_t ring_log2;		/* log2 of the records in the ring; 0: 8 */
	uint32_t skip_log2;		/* log2 of the vertices in the skip ring, 3..16; 0: 8 */
};

/*
 * The first call allocates *out; later calls may reuse it. The stream owns the queue during a
 * round.
 */
int gtu_weaver_configure(struct gtu_queue *q, const struct gtu_weaver_config *config, struct gtu_weaver **out,
		     struct gtu_error *err);
/*
 * WEAVER_REG for the lanes of warp @warp that are set in @lanes: entry warp * 32 + lane. Each entry
 * can be registered once per round. GTU_ERR_USAGE: the device has no such entry, it is already
 * registered, or work is left.
 */
int gtu_weaver_reg(struct gtu_weaver *w, uint32_t warp, uint32_t lanes, const uint64_t vid[32],
	       const uint64_t start[32], const uint64_t degree[32], struct gtu_error *err);
/*
 * The barrier between registration and distribution. Later registrations belong to the next round.
 */
int gtu_weaver_sync(struct gtu_weaver *w, struct gtu_error *err);
/*
 * WEAVER_DEC_ID for warp @warp: vid[l] of the next work item, -1 in idle lanes; *active (may be
 * NULL) is the lane mask. 1: there is work; 0: the round is over and all lanes are -1; the next
 * call starts the next round if entries were registered; negative: an error.
 */
int gtu_weaver_dec_id(struct gtu_weaver *w, uint32_t warp, uint64_t vid[32], uint32_t *active,
		  struct gtu_error *err);
/* WEAVER_DEC_LOC: edge ids of the same warp's last WEAVER_DEC_ID; all -1 before the first. */
int gtu_weaver_dec_loc(struct gtu_weaver *w, uint32_t warp, uint64_t eid[32], struct gtu_error *err);
/* Elements of config.col and config.weight for the same edges; all -1 in idle lanes, or if not configured. */
int gtu_weaver_dec_target(struct gtu_weaver *w, uint32_t warp, uint64_t target[32], struct gtu_error *err);
int gtu_weaver_dec_weight(struct gtu_weaver *w, uint32_t warp, uint64_t weight[32], struct gtu_error *err);
/*
 * WEAVER_SKIP: drop the vertex's remaining work, except items already held by a warp or produced
 * ahead.
 */
int gtu_weaver_skip(struct gtu_weaver *w, uint64_t vid, struct gtu_error *err);
/* The job's completion after the last round (records, cycles, work skipped). */
const struct gtu_completion *gtu_weaver_result(const struct gtu_weaver *w);
void gtu_weaver_close(struct gtu_weaver *w);

#ifdef __cplusplus
}
#endif

#ifndef GTU_NO_PAPER_NAMES
#include "gtu/paper_names.h"
#endif

#endif
