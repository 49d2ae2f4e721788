/* SPDX-License-Identifier: MIT */
/* Disjoint sets of vertices (union-find with path halving); a set's root is its lowest vertex. */
#ifndef GTU_UNION_FIND_H
#define GTU_UNION_FIND_H

#include <stdbool.h>
#include <stdint.h>

/* parent[v] is v at first. */
static inline uint64_t gtu_find_root(uint64_t *parent, uint64_t v)
{
	while (parent[v] != v) {
		parent[v] = parent[parent[v]];
		v = parent[v];
	}
	return v;
}

/* Join the sets of @u and @v; false if they are one already. */
static inline bool gtu_join(uint64_t *parent, uint64_t u, uint64_t v)
{
	u = gtu_find_root(parent, u);
	v = gtu_find_root(parent, v);
	if (u == v)
		return false;
	parent[u < v ? v : u] = u < v ? u : v;
	return true;
}

#endif
