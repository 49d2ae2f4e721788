// SPDX-License-Identifier: MIT
/*
 * Uniform random graphs (Erdos-Renyi G(n, m) with replacement): both ends of each edge are drawn
 * uniformly.
 */
#include "generate.h"

static void fill(const void *arg, struct gtu_edge_list *l, uint64_t block, uint64_t first, uint64_t end)
{
	const struct gtu_generate_options *opt = ((const struct gtu_pairs *)arg)->opt;
	uint64_t state = gtu_rand_stream(opt->seed, block), e;

	for (e = first; e < end; e++) {
		gtu_put(l->src, l->id_bytes, e, gtu_rand_below(&state, opt->n));
		gtu_put(l->dst, l->id_bytes, e, gtu_rand_below(&state, opt->n));
	}
}

static void pairs(struct gtu_pairs *p)
{
	p->m = (uint64_t)((double)p->opt->n * p->opt->degree + 0.5);
	p->fill = fill;
}

const struct gtu_generator_entry gtu_generator_uniform = { "uniform", 1ull << 40, 16, 0, 4096, NULL, pairs };
