/* SPDX-License-Identifier: MIT */
/* Edge weights as a function of the two endpoints: equal in both directions, and reproducible. */
#ifndef GTU_END_WEIGHTS_H
#define GTU_END_WEIGHTS_H

#include "gtu/graph.h"

/* The finalizer of splitmix64, a bijection of 64-bit words. */
static inline uint64_t mix_bits(uint64_t x)
{
	x += 0x9e3779b97f4a7c15u;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

/*
 * For each of the g->m entries: @least + mix_bits(min(u, v) << 32 ^ max(u, v)) % (@most - @least +
 * 1). NULL: out of memory.
 */
uint32_t *end_weights(const struct gtu_graph *g, uint32_t least, uint32_t most);

#endif
