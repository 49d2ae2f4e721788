/* SPDX-License-Identifier: MIT */
/* Shared by peg_graph.c (host), peg_visit.c (edge functions) and peg_advance.c (strategies). */
#ifndef GTU_LAB_PEG_GRAPH_PARTS_H
#define GTU_LAB_PEG_GRAPH_PARTS_H

#include "firmware-model/lab/engine/graph_kernels.h"
#include "peg_graph.h"

#define PG_NEVER	0xffffffffu
#define PG_BLOCK	256u

/* Statements of all kernels. */
enum { PG_IN, PG_ROW, PG_ROW1, PG_COL, PG_WEIGHT, PG_VALUE, PG_LABEL, PG_UPDATE, PG_OTHER, PG_TAIL, PG_PUT, PG_SLOT, PG_DEGREE,
       PG_SCAN, PG_SUM, PG_BEGIN, PG_SEEN, PG_ACTIVE, PG_MARK,
       PG_NUMBER, PG_NUMBERS, PG_STATEMENTS };
extern const char *const pg_names[PG_STATEMENTS];

/* Words of the array tail. */
enum { PG_LIST, PG_FAR, PG_ORDER, PG_MET, PG_TOTAL, PG_TAILS };

struct pg_args;

/* Edges of the active lanes. */
struct pg_edges {
	lab_u32 source, target, weight;
	lab_u32 value;			/* of the source, if the visit uses values */
};

/* An algorithm's edge function. Returns the lanes that push, and the pushed vertices in @push. */
struct pg_visit {
	bool weights, values, sources;	/* uses the edge's weight, the source's value, the source */
	bool pushes;
	void (*value)(struct lab_warp *w, const struct pg_args *a, const lab_u32 *source, lab_u32 *value);
	lab_mask (*edge)(struct lab_warp *w, const struct pg_args *a, const struct pg_edges *e, lab_u32 *push);
};

/* An algorithm's vertex function for a list. Returns the lanes whose vertices are pushed. */
typedef lab_mask pg_filter(struct lab_warp *w, const struct pg_args *a, const lab_u32 *v);

struct pg_args {
	uint32_t n, first, count;	/* list: elements [first, first + count) of in */
	uint32_t depth, threshold, floor, round;
	uint32_t chunk;			/* edges per block of a partition */
	bool pull, all;			/* all: the list is 0 .. count - 1, without an array */
	bool slots;			/* pushes go to slot[], one slot per edge */
	struct lab_array row, col, weight;
	/* level, distance, colour, ...; paths or random numbers; dependency */
	struct lab_array label, other, third;
	struct lab_array in, out, far, seen, order, tail;
	struct lab_array active;	/* pull: a byte per vertex, 1 for those of the frontier */
	struct lab_array scan, sum, slot, begin;
	const struct pg_visit *visit;
	pg_filter *filter;
	struct lab_peg *peg;		/* unit for pushes and pops, or NULL */
	struct lab_hwwl *hwwl;
	uint64_t *edges, *pushed_edges;	/* counted on the host */
	/* BC: path counts, of which the array other has the accesses; they exceed a float on long-diameter graphs */
	double *paths;
	uint64_t limit;			/* of *edges; 0: none */
};

extern const struct pg_visit pg_bfs, pg_bfs_pull, pg_sssp, pg_bc, pg_bc_pull, pg_bc_back, pg_stcon, pg_stcon_pull, pg_gc,
	pg_kc_count, pg_kc;
extern pg_filter pg_unreached, pg_unmet, pg_near, pg_far, pg_peel, pg_mark;

enum pg_kernel { PG_SIMPLE, PG_COOPERATIVE, PG_PARTITION, PG_HWWL, PG_PEG, PG_DEGREES, PG_SCAN_TILES, PG_SCAN_SUMS, PG_SCAN_ADD,
		 PG_SEARCH, PG_COMPACT, PG_CLEAR, PG_FILTER, PG_FILTER_HWWL, PG_FILTER_PEG, PG_KERNELS };
extern const struct lab_kernel pg_kernel[PG_KERNELS];
#define PG_TILE 1024u			/* degrees scanned by a block of 256 threads */

#define PG_RESERVE_ALU 4u		/* counted by lab_reserve() */

/* Reserve space for the active lanes in list @word of tail. Returns each lane's index. */
LAB_INLINE lab_u32 pg_reserve(struct lab_warp *w, const struct pg_args *a, unsigned word)
{
	return lab_reserve(w, PG_TAIL, &a->tail, word, lab_popcount(w->mask), lab_rank(w->mask));
}

#endif
