/* SPDX-License-Identifier: MIT */
/* Helpers shared by the graph kernels of several papers. */
#ifndef GTU_LAB_GRAPH_KERNELS_H
#define GTU_LAB_GRAPH_KERNELS_H

#include "gtu/graph.h"
#include "warp.h"

#define LAB_CULL	64u		/* words of shared memory per warp for lab_cull() */

/* ---- Host ------------------------------------------------------------------------------------ */

/* An array of zeros for lab_graph_arrays(); words 0: none. */
struct lab_want {
	struct lab_array *array;
	const char *name;
	uint64_t words;			/* of 4 bytes */
};
/*
 * Arrays in device memory, in this order: @col, @weight (NULL: none) with the graph's entries, then
 * @want, of which @row gets the row offsets in 32 bits.
 */
int lab_graph_arrays(struct lab *lab, const struct gtu_graph *g, struct lab_array *row, struct lab_array *col,
		     struct lab_array *weight, const struct lab_want *want, unsigned wants, struct gtu_error *err);
/* GTU_ERR_USAGE unless the graph has 32-bit integer weights, which @what needs. */
int lab_graph_weights(const struct gtu_graph *g, const char *what, struct gtu_error *err);

/* PageRank with damping 0.85: the first ranks; the base rank, with that of vertices without edges. */
#define LAB_DAMPING 0.85f
void lab_ranks_init(const struct gtu_graph *g, float *rank);
float lab_rank_base(const struct gtu_graph *g, const float *rank);

static inline uint32_t *lab_words(const struct lab_array *a)
{
	return a->data;
}

static inline void lab_array_swap(struct lab_array *a, struct lab_array *b)
{
	struct lab_array was = *a;

	*a = *b;
	*b = was;
}

/* The near-far step of Davidson et al.: 32 times the mean weight (u32) over the mean degree. */
uint32_t lab_near_far_step(const struct gtu_graph *g);

/* ---- Warps ----------------------------------------------------------------------------------- */

/*
 * Reserve space for the active lanes at the end of the list whose tail is tail[@list], with one
 * atomic per warp. Lane ranks are @rank, their number is @total. Returns each lane's index.
 */
LAB_INLINE lab_u32 lab_reserve(struct lab_warp *w, unsigned statement, const struct lab_array *tail, unsigned list,
			       uint32_t total, lab_u32 rank)
{
	lab_mask was = w->mask;
	lab_u32 base = { 0 };

	if (!was)
		return rank;
	lab_alu(w, 3);			/* ballot, popcount, leader election */
	w->mask = was & -was;
	base = lab_atomic(w, statement, tail, LAB_ADD_U32, lab_all(list), lab_all(total));
	lab_wait(w);
	w->mask = was;
	lab_alu(w, 1);			/* shuffle */
	return lab_all(base[__builtin_ctz(was)]) + rank;
}

/*
 * Lanes whose value no higher lane has, as far as a hash in shared memory detects (Merrill's warp
 * culling); collisions let some duplicates pass.
 */
LAB_INLINE lab_mask lab_cull(struct lab_warp *w, lab_u32 c)
{
	lab_u32 slot = (c & (LAB_CULL - 1)) + w->in_block * LAB_CULL, lane = lab_lane();
	lab_mask twin, lost;

	lab_alu(w, 6);
	lab_shared_store(w, slot, c);
	twin = lab_eq(lab_shared_load(w, slot), c) & w->mask;
	LAB_IF(w, twin)
		lab_shared_store(w, slot, lane);
	lost = twin & lab_ne(lab_shared_load(w, slot), lane);
	return w->mask & ~lost;
}

/* BFS: the active lanes of @c whose label they were first to set to @depth. */
LAB_INLINE lab_mask lab_reach(struct lab_warp *w, unsigned look_up, unsigned update, const struct lab_array *label,
			      lab_u32 c, uint32_t depth)
{
	lab_u32 old = lab_load32(w, look_up, label, c);
	lab_mask first = 0;

	lab_wait(w);
	lab_alu(w, 2);
	LAB_IF(w, lab_eq(old, lab_all(UINT32_MAX))) {
		LAB_IF(w, lab_cull(w, c)) {
			old = lab_atomic(w, update, label, LAB_MIN_U32, c, lab_all(depth));
			lab_wait(w);
			lab_alu(w, 2);
			first = lab_lt(lab_all(depth), old) & w->mask;
		}
	}
	return first;
}

/* A rank's share for each edge of [@b, @e). */
LAB_INLINE lab_u32 lab_rank_share(lab_u32 rank, lab_u32 b, lab_u32 e)
{
	return (lab_u32)((lab_f32)rank / lab_to_f32(lab_select(lab_ne(b, e), e - b, lab_all(1))));
}

/* Exclusive prefix sums of the lanes' values, and their total; the caller counts instructions. */
LAB_INLINE uint32_t lab_prefix_sums(lab_u32 x, lab_u32 *before)
{
	uint32_t sum = 0;
	unsigned l;

	for (l = 0; l < LAB_LANES; l++) {
		(*before)[l] = sum;
		sum += x[l];
	}
	return sum;
}

/* A warp's runs of elements, one run per lane, processed 32 elements at a time. */
struct lab_runs {
	/* exclusive prefix sums of the lanes' lengths, and the total */
	uint32_t before[LAB_LANES + 1];
	uint32_t next;			/* the run with the next 32 elements' first */
};
/* Returns the total number of elements. */
LAB_INLINE uint32_t lab_runs_begin(struct lab_warp *w, struct lab_runs *r, lab_u32 length)
{
	unsigned l;

	for (r->before[0] = r->next = l = 0; l < LAB_LANES; l++)
		r->before[l + 1] = r->before[l] + length[l];
	lab_alu(w, 10);			/* a scan by shuffles */
	return r->before[LAB_LANES];
}
/*
 * Map elements @at, ascending over lanes and calls, to *@position, their index in an array where
 * each run begins at @first, and to *@own, their run's @with.
 */
LAB_INLINE void lab_runs_take(struct lab_warp *w, struct lab_runs *r, lab_u32 at, lab_u32 first, lab_u32 with,
			      lab_u32 *position, lab_u32 *own)
{
	unsigned l;

	*position = *own = lab_all(0);
	for (l = 0; l < LAB_LANES && at[l] < r->before[LAB_LANES]; l++) {
		while (at[l] >= r->before[r->next + 1])
			r->next++;
		(*position)[l] = first[r->next] + at[l] - r->before[r->next];
		(*own)[l] = with[r->next];
	}
	lab_alu(w, 11);			/* a five-step search by shuffles */
}

#endif
