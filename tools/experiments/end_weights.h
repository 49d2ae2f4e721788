/* SPDX-License-Identifier: MIT */
/* Weights made of an edge's two ends, by all CPUs: both directions agree, and whoever knows the rule can make them again. */
#ifndef GTU_END_WEIGHTS_H
#define GTU_END_WEIGHTS_H

#include "gtu/graph.h"

/* A bijection of 64-bit words without a pattern (the finalizer of splitmix64). */
static inline uint64_t mix_bits(uint64_t x)
{
	x += 0x9e3779b97f4a7c15u;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

/* @least + mix_bits(lower end << 32 ^ higher end) % (@most - @least + 1) for each of g->m entries; NULL: no memory. */
uint32_t *end_weights(const struct gtu_graph *g, uint32_t least, uint32_t most);

#endif
