/* SPDX-License-Identifier: MIT */
/* What the graph kernels of several papers have in common. */
#ifndef GTU_LAB_GRAPH_KERNELS_H
#define GTU_LAB_GRAPH_KERNELS_H

#include "gtu/graph.h"
#include "lab/warp.h"

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

/* Near-far's step as Davidson et al. have it: 32 mean weights over the mean degree. Weights are u32. */
uint32_t lab_near_far_step(const struct gtu_graph *g);

#endif
