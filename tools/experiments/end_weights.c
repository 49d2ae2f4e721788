// SPDX-License-Identifier: MIT
/* Edge weights as a function of the two endpoints, computed in parallel. */
#include <stdlib.h>

#include "end_weights.h"
#include "gtu/splitmix64.h"
#include "libruntime/support/array.h"
#include "libruntime/support/parallel.h"

struct filling {
	const struct gtu_graph *g;
	uint32_t *weight, min;
	uint64_t values;
};

static int fill(void *arg, uint64_t first, uint64_t end)
{
	struct filling *f = arg;
	uint64_t v, e, stop, to;

	for (v = first; v < end; v++) {
		gtu_graph_edges(f->g, v, &e, &stop);
		for (; e < stop; e++) {
			to = gtu_graph_target(f->g, e);
			f->weight[e] = f->min + (uint32_t)(gtu_splitmix64_hash((v < to ? v : to) << 32 ^ (v < to ? to : v)) % f->values);
		}
	}
	return 0;
}

uint32_t *end_weights(const struct gtu_graph *g, uint32_t min, uint32_t max)
{
	struct filling f = { .g = g, .min = min, .values = (uint64_t)max - min + 1 };

	f.weight = gtu_array_alloc((g->m + 1) * sizeof(*f.weight));
	/* adjacency lists differ widely in length: use small shares */
	if (f.weight)
		gtu_parallel_by(1 << 14, fill, &f, g->n);
	return f.weight;
}
