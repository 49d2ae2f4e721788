// SPDX-License-Identifier: MIT
/*
 * Power-law graphs (Chung and Lu, "Connected components in random graphs with given expected degree
 * sequences", 2002). Vertex i has weight (i + 1)^(-1 / (exponent - 1)). Both ends of an edge are
 * drawn by weight, through the inverse of the continuous distribution. Vertices are permuted.
 */
#include <math.h>

#include "generate.h"

static uint64_t draw(const struct gtu_pairs *p, uint64_t *state)
{
	double x = pow(p->low + gtu_rand_unit(state) * p->span, p->inverse) - 1;
	uint64_t i = x > 0 ? (uint64_t)x : 0;

	return gtu_permute(i < p->opt->n ? i : p->opt->n - 1, p->opt->n, p->opt->seed);
}

static void fill(const void *arg, struct gtu_edge_list *l, uint64_t block, uint64_t first, uint64_t end)
{
	const struct gtu_pairs *p = arg;
	uint64_t state = gtu_rand_stream(p->opt->seed, block), e;

	for (e = first; e < end; e++) {
		gtu_put(l->src, l->id_bytes, e, draw(p, &state));
		gtu_put(l->dst, l->id_bytes, e, draw(p, &state));
	}
}

/* p->inverse: 1 / (1 - 1 / (exponent - 1)); p->low, p->span: value at the first vertex, and range up to the last. */
static void pairs(struct gtu_pairs *p)
{
	const struct gtu_generate_options *opt = p->opt;
	const double rise = 1 - 1 / (opt->exponent - 1), m = (double)opt->n * opt->degree;

	p->inverse = 1 / rise;
	p->low = 1;
	p->span = pow((double)opt->n + 1, rise) - 1;
	p->m = (uint64_t)(opt->directed ? m + 0.5 : m / 2 + 0.5);
	p->fill = fill;
}

const struct gtu_generator_entry gtu_generator_powerlaw = { "powerlaw", 1ull << 40, 16, 0, 4096, NULL, pairs };
