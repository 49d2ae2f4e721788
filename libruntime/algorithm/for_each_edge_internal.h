/* SPDX-License-Identifier: MIT */
/* Batches of edges, shared by the loops of for_each_edge.c and for_each_edge_peg.c. */
#ifndef GTU_FOR_EACH_EDGE_INTERNAL_H
#define GTU_FOR_EACH_EDGE_INTERNAL_H

#include "for_each_edge.h"

/* The weight of edge @e, if batches carry weights that no unit delivers. */
static inline uint64_t gtu_alg_weight_of(const struct gtu_alg_for_each_edge *edges, uint64_t e)
{
	return edges->batch.weight ? gtu_get(edges->w.g->weight, edges->weight_bytes, e) : 0;
}

static inline int gtu_alg_flush(struct gtu_alg_for_each_edge *edges, gtu_alg_edge_fn *visitor, void *context)
{
	struct gtu_alg_batch *b = &edges->batch;
	unsigned i;
	int rc;

	for (i = 0; edges->vertex && i < b->n; i++)
		b->source[i] = edges->vertex[b->source[i]];
	rc = b->n ? visitor(context, b) : 0;
	b->n = 0;
	return rc;
}

static inline int gtu_alg_put(struct gtu_alg_for_each_edge *edges, uint64_t source, uint64_t target, uint64_t edge,
			      uint64_t weight, gtu_alg_edge_fn *visitor, void *context)
{
	struct gtu_alg_batch *b = &edges->batch;

	b->source[b->n] = source;
	b->target[b->n] = target;
	b->edge[b->n] = edge;
	if (b->weight)
		gtu_put(edges->weight, edges->weight_bytes, b->n, weight);
	return ++b->n == GTU_ALG_BATCH ? gtu_alg_flush(edges, visitor, context) : 0;
}

/* Whether a target is out of range; never if col does not hold vertices. */
static inline bool gtu_alg_beyond(const struct gtu_alg_for_each_edge *edges, uint64_t target)
{
	return gtu_unlikely(target >= edges->w.targets) && !edges->values;
}

/* Reject values that a correct device cannot return, before they are used as indices. */
int gtu_alg_fail_edge(struct gtu_alg *a, const struct gtu_graph *g, uint64_t edge, uint64_t vertex);
/*
 * Fail because @target is out of range: by an input error if it is so in the graph, where it is the target of @edge, which is
 * below m, else because the unit cannot be trusted.
 */
int gtu_alg_fail_target(struct gtu_alg *a, const struct gtu_alg_work *w, uint64_t edge, uint64_t target);

int gtu_alg_for_each_peg(struct gtu_alg *a, struct gtu_alg_for_each_edge *edges, const struct gtu_alg_frontier *f,
			 gtu_alg_edge_fn *visitor, void *context);

#endif
