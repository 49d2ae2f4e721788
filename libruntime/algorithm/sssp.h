/* SPDX-License-Identifier: MIT */
/* State and relaxation of shortest paths, for sssp.c and the files of its units. */
#ifndef GTU_SSSP_H
#define GTU_SSSP_H

#include <string.h>

#include "libruntime/support/distance.h"
#include "for_each_edge.h"

struct sssp {
	struct gtu_alg a;
	struct gtu_alg_for_each_edge edges;
	struct gtu_alg_frontier *next;	/* output of the visitor */
	enum distance_type type;
	uint32_t width;			/* bytes of a distance */
	uint64_t infinity;
	uint64_t expand_limit;		/* DISTANCE_U32: a greater distance plus a weight could overflow */
	double delta;
	uint64_t threshold;
	uint32_t round;
	struct gtu_alg_buffer distance;	/* n */
	struct gtu_alg_buffer queued;	/* n of 4 bytes: round in which a vertex entered near */
	struct gtu_alg_frontier near[2], far;
	struct gtu_alg_frontier other;	/* PEG: the list that a list is split from or into */
	uint64_t below;			/* PEG: the threshold before it was raised */
	bool mixed;			/* PEG: this round has reached the far set */
	struct gtu_alg_buffer far_cost;	/* distance of each entry of far; not with PEG */
	struct gtu_alg_buffer base;	/* distance of each vertex taken */
	struct gtu_alg_buffer cost;	/* distance over each edge of the edge frontier */
	struct gtu_alg_buffer weights;	/* weights of the edge frontier */
	struct gtu_alg_buffer near_mask, far_mask, near_cost;
	struct gtu_alg_filter expansion, grouping, far_filter;
	bool too_narrow;
};

static inline uint64_t distance_of(const struct sssp *s, uint64_t v)
{
	return gtu_get(s->distance.region.addr, s->width, v);
}

/* ---- Relaxation ------------------------------------------------------------------------------- */

enum set { SET_NONE, SET_NEAR, SET_FAR };

/*
 * Apply a path of length @cost to @v, and return the set that @v must enter. A vertex enters near
 * once per round.
 */
static inline enum set relax(struct sssp *s, uint64_t v, uint64_t cost)
{
	uint32_t *queued = s->queued.region.addr;

	if (cost >= distance_of(s, v))
		return SET_NONE;
	gtu_put(s->distance.region.addr, s->width, v, cost);
	if (cost >= s->threshold)
		return SET_FAR;
	if (queued[v] == s->round)
		return SET_NONE;
	queued[v] = s->round;
	return SET_NEAR;
}

/* relax(), and append to the sets; the caller must have reserved the space. */
static inline void relax_into(struct sssp *s, struct gtu_alg_frontier *next, uint64_t v,
			      uint64_t cost)
{
	const enum set set = relax(s, v, cost);

	if (set == SET_NEAR) {
		gtu_alg_push(&s->a, next, v);
	} else if (set == SET_FAR) {
		gtu_put(s->far_cost.region.addr, s->width, s->far.count, cost);
		gtu_alg_push(&s->a, &s->far, v);
	}
}

/* Set too_narrow and return true if a path over this vertex may need more than 32 bits. */
static inline bool may_overflow(struct sssp *s, uint64_t distance)
{
	if (gtu_likely(s->type != DISTANCE_U32 || distance <= s->expand_limit))
		return false;
	s->too_narrow = true;
	return true;
}

/* Start a round: no vertex has entered near in it. */
static inline void gtu_sssp_next_round(struct sssp *s)
{
	if (++s->round)
		return;
	memset(s->queued.region.addr, 0, s->a.g->n * 4);
	s->round = 1;
}

/* SCU: expand the edge frontier and its costs; relax and compact them; split the far pile by the threshold. */
int gtu_sssp_scu_expand(struct sssp *s);
int gtu_sssp_scu_contract(struct sssp *s, struct gtu_alg_frontier *next);
int gtu_sssp_scu_split(struct sssp *s, struct gtu_alg_frontier *near);

/*
 * PEG: a round; raising the threshold, as next_threshold() in sssp.c; removing stale entries of the
 * far pile.
 */
int gtu_sssp_peg_round(struct sssp *s, const struct gtu_alg_frontier *now, struct gtu_alg_frontier *next);
int gtu_sssp_peg_threshold(struct sssp *s, struct gtu_alg_frontier *near, bool *more);
int gtu_sssp_peg_keep_far(struct sssp *s);

#endif
