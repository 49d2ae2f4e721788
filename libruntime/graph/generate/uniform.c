// SPDX-License-Identifier: MIT
/*
 * Uniform random graphs (Erdos-Renyi G(n, m) with replacement): both ends of each edge are drawn
 * uniformly.
 */
#include "generate.h"

static void fill(const void *arg, struct gtu_edge_list *l, uint64_t block, uint64_t first, uint64_t end)
{
	const struct gtu_generate_options *opt = arg;
	uint64_t state = gtu_rand_stream(opt->seed, block), e;

	for (e = first; e < end; e++) {
		gtu_put(l->src, l->id_bytes, e, gtu_rand_below(&state, opt->n));
		gtu_put(l->dst, l->id_bytes, e, gtu_rand_below(&state, opt->n));
	}
}

static int generate(const struct gtu_generate_options *opt, const struct gtu_progress *progress,
		    struct gtu_raw_graph *raw, struct gtu_error *err)
{
	raw->n = opt->n;
	return gtu_draw_pairs(&raw->edges, opt->n, (uint64_t)((double)opt->n * opt->degree + 0.5), fill, opt,
			      opt->threads, progress, err);
}

const struct gtu_generator_entry gtu_generator_uniform = { "uniform", 1ull << 40, 16, 0, 4096, generate };
