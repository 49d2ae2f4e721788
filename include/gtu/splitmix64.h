/* SPDX-License-Identifier: MIT */
/*
 * splitmix64: a counter and a bijective mix (Steele, Lea, Flood, "Fast splittable pseudorandom
 * number generators", 2014). gtu_hash_bucket() and gtu_gcn_feature() are defined by it.
 */
#ifndef GTU_SPLITMIX64_H
#define GTU_SPLITMIX64_H

#include <stdint.h>

#define GTU_SPLITMIX64_STEP 0x9e3779b97f4a7c15u

/* The mix alone: a bijection that maps 0 to 0. */
static inline uint64_t gtu_splitmix64_mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

/* A pseudo-random function of @x. */
static inline uint64_t gtu_splitmix64_hash(uint64_t x)
{
	return gtu_splitmix64_mix(x + GTU_SPLITMIX64_STEP);
}

/* The next number of the sequence that *@state, any number, starts. */
static inline uint64_t gtu_splitmix64_next(uint64_t *state)
{
	return gtu_splitmix64_mix(*state += GTU_SPLITMIX64_STEP);
}

#endif
