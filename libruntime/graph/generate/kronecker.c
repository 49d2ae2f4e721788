// SPDX-License-Identifier: MIT
/*
 * Graph500 Kronecker graphs (Graph 500 benchmark 1, section "Generating the edge list"). Each of
 * the edge-factor * 2^scale edges chooses a quadrant of the matrix at each of `scale` levels, with
 * probabilities a .57, b .19, c .19, d .05. Then vertices are permuted. Self-loops and duplicates
 * are kept, as specified. The specification also permutes the edge list, which has no effect on a
 * CSR.
 */
#include "generate.h"

static const double A = 0.57, B = 0.19, C = 0.19;

static uint32_t threshold(double p)
{
	return (uint32_t)(p * 0x1p32);
}

static void fill(const void *arg, struct gtu_edge_list *l, uint64_t block, uint64_t first, uint64_t end)
{
	const struct gtu_generate_options *opt = ((const struct gtu_pairs *)arg)->opt;
	const uint32_t down = threshold(A + B), right[2] = { threshold(A / (A + B)),
							      threshold(C / (1 - (A + B))) };
	uint64_t state = gtu_rand_stream(opt->seed, block), n = 1ull << opt->scale, e;

	for (e = first; e < end; e++) {
		uint64_t u = 0, v = 0;
		uint32_t level;

		for (level = 0; level < opt->scale; level++) {
			uint64_t r = gtu_splitmix64_next(&state);
			uint64_t i = (uint32_t)r >= down, j = (uint32_t)(r >> 32) >= right[i];

			u = u << 1 | i;
			v = v << 1 | j;
		}
		gtu_put(l->src, l->id_bytes, e, gtu_permute(u, n, opt->seed));
		gtu_put(l->dst, l->id_bytes, e, gtu_permute(v, n, opt->seed));
	}
}

static void pairs(struct gtu_pairs *p)
{
	p->m = (uint64_t)((double)p->opt->n * p->opt->degree + 0.5);
	p->fill = fill;
}

const struct gtu_generator_entry gtu_generator_kronecker = { "kronecker", 1ull << 40, 16, 0, 4096, NULL, pairs };
