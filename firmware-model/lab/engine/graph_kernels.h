/* SPDX-License-Identifier: MIT */
/* What the graph kernels of several papers have in common. */
#ifndef GTU_LAB_GRAPH_KERNELS_H
#define GTU_LAB_GRAPH_KERNELS_H

#include "gtu/graph.h"
#include "warp.h"

#define LAB_CULL	64u		/* words of shared memory that lab_cull() needs, a warp */

/* Room for the active lanes behind the list that ends at tail[@list]: the place of each, @rank among @total. One atomic a warp. */
LAB_INLINE lab_u32 lab_reserve(struct lab_warp *w, unsigned statement, const struct lab_array *tail, unsigned list,
			       uint32_t total, lab_u32 rank)
{
	lab_mask was = w->mask;
	lab_u32 base = { 0 };

	if (!was)
		return rank;
	lab_alu(w, 3);			/* ballot, count, who is first */
	w->mask = was & -was;
	base = lab_atomic_add(w, statement, tail, lab_all(list), lab_all(total));
	lab_wait(w);
	w->mask = was;
	lab_alu(w, 1);			/* shuffle */
	return lab_all(base[__builtin_ctz(was)]) + rank;
}

/* Lanes whose value no higher lane has, as a hash in shared memory finds (Merrill's warp culling): collisions let some pass. */
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

/* A warp's runs of elements, one a lane, gone through 32 elements at a time. */
struct lab_runs {
	uint32_t before[LAB_LANES + 1];	/* elements of the lanes below each, and of all */
	uint32_t next;			/* the run where the next 32 begin */
};
/* The answer: elements in all. */
LAB_INLINE uint32_t lab_runs_begin(struct lab_warp *w, struct lab_runs *r, lab_u32 length)
{
	unsigned l;

	for (r->before[0] = r->next = l = 0; l < LAB_LANES; l++)
		r->before[l + 1] = r->before[l] + length[l];
	lab_alu(w, 10);			/* a scan by shuffles */
	return r->before[LAB_LANES];
}
/* Elements @at, rising from lane to lane and call to call: their places in arrays where runs begin at @first, and their run's @with. */
LAB_INLINE void lab_runs_take(struct lab_warp *w, struct lab_runs *r, lab_u32 at, lab_u32 first, lab_u32 with,
			      lab_u32 *place, lab_u32 *own)
{
	unsigned l;

	*place = *own = lab_all(0);
	for (l = 0; l < LAB_LANES && at[l] < r->before[LAB_LANES]; l++) {
		while (at[l] >= r->before[r->next + 1])
			r->next++;
		(*place)[l] = first[r->next] + at[l] - r->before[r->next];
		(*own)[l] = with[r->next];
	}
	lab_alu(w, 11);			/* five steps of a search by shuffles */
}

/* Near-far's step as Davidson et al. have it: 32 mean weights over the mean degree. Weights are u32. */
uint32_t lab_near_far_step(const struct gtu_graph *g);

#endif
