// SPDX-License-Identifier: MIT
/* A growing edge list. realloc() remaps large blocks, so growing copies little. */
#include <stdlib.h>
#include <string.h>

#include "graph_internal.h"
#include "libruntime/support/memory.h"

#define FIRST_CAPACITY 1024

void gtu_edges_init(struct gtu_edge_list *l, bool weighted)
{
	memset(l, 0, sizeof(*l));
	l->id_bytes = 4;
	l->weight_type = weighted ? GTU_WEIGHT_U32 : GTU_WEIGHT_NONE;
}

void gtu_edges_free(struct gtu_edge_list *l)
{
	if (!l->borrowed) {
		free(l->src);
		free(l->dst);
		free(l->weight);
	}
	gtu_edges_init(l, false);
}

static int no_memory(const struct gtu_edge_list *l, uint64_t capacity, struct gtu_error *err)
{
	return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for %llu edges (%llu so far)",
			(unsigned long long)capacity, (unsigned long long)l->m);
}

static int resize(void **array, uint64_t count, uint64_t bytes)
{
	void *p;

	if (count > SIZE_MAX / 2 / bytes)
		return -1;
	p = realloc(*array, count * bytes);
	if (!p)
		return -1;
	*array = p;
	return 0;
}

int gtu_edges_reserve(struct gtu_edge_list *l, uint64_t capacity, struct gtu_error *err)
{
	uint64_t each = 2 * l->id_bytes + gtu_weight_bytes(l->weight_type);

	if (capacity <= l->capacity)
		return 0;
	if (capacity > UINT64_MAX / each)
		return no_memory(l, capacity, err);
	if (gtu_check_memory(capacity * each, NULL, "the list of edges", err))
		return GTU_ERR_NOMEM;
	if (resize(&l->src, capacity, l->id_bytes) || resize(&l->dst, capacity, l->id_bytes) ||
	    (l->weight_type && resize(&l->weight, capacity, gtu_weight_bytes(l->weight_type))))
		return no_memory(l, capacity, err);
	l->capacity = capacity;
	return 0;
}

int gtu_edges_grow(struct gtu_edge_list *l, struct gtu_error *err)
{
	return gtu_edges_reserve(l, l->capacity ? l->capacity * 2 : FIRST_CAPACITY, err);
}

int gtu_edges_widen_ids(struct gtu_edge_list *l, struct gtu_error *err)
{
	uint64_t i;

	if (resize(&l->src, l->capacity, 8) || resize(&l->dst, l->capacity, 8))
		return no_memory(l, l->capacity, err);
	for (i = l->m; i-- > 0;) {
		((uint64_t *)l->src)[i] = ((uint32_t *)l->src)[i];
		((uint64_t *)l->dst)[i] = ((uint32_t *)l->dst)[i];
	}
	l->id_bytes = 8;
	return 0;
}

int gtu_edges_widen_weights(struct gtu_edge_list *l, struct gtu_error *err)
{
	uint64_t i;

	if (resize(&l->weight, l->capacity, 8))
		return no_memory(l, l->capacity, err);
	for (i = l->m; i-- > 0;)
		((double *)l->weight)[i] = ((uint32_t *)l->weight)[i];
	l->weight_type = GTU_WEIGHT_F64;
	return 0;
}
