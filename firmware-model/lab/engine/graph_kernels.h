/* SPDX-License-Identifier: MIT */
/* Helpers shared by the graph kernels of several papers. */
#ifndef GTU_LAB_GRAPH_KERNELS_H
#define GTU_LAB_GRAPH_KERNELS_H

#include "gtu/graph.h"
#include "warp.h"

#define LAB_CULL	64u		/* words of shared memory per warp for lab_cull() */

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
	base = lab_atomic_add(w, statement, tail, lab_all(list), lab_all(total));
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

/*
 * The near-far step of Davidson et al.: 32 times the mean weight over the mean degree. Weights are
 * u32.
 */
uint32_t lab_near_far_step(const struct gtu_graph *g);

#endif
