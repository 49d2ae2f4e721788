/* SPDX-License-Identifier: MIT */
/* The order in which coloring takes vertices: by descending degree, ties by a hash of their number, then by number. */
#ifndef GTU_COLORING_H
#define GTU_COLORING_H

#include <stdbool.h>
#include <stdint.h>

static inline uint32_t gtu_color_scatter(uint64_t v)
{
	v = (v ^ v >> 33) * 0xff51afd7ed558ccdu;
	v = (v ^ v >> 33) * 0xc4ceb9fe1a85ec53u;
	return (uint32_t)(v ^ v >> 33);
}

/* Sort key of a vertex: degree in the high half, hash in the low half; higher keys come first. */
static inline uint64_t gtu_color_key(uint64_t degree, uint64_t v)
{
	return (degree > UINT32_MAX ? UINT32_MAX : degree) << 32 | gtu_color_scatter(v);
}

static inline bool gtu_color_before(const uint64_t *key, uint64_t u, uint64_t v)
{
	return key[u] != key[v] ? key[u] > key[v] : u < v;
}

#endif
