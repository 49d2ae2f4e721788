// SPDX-License-Identifier: MIT
/*
 * Matrix graphs of three-dimensional finite elements: hexahedra on a box of nodes. Every node is
 * coupled with its 26 neighbours and stands for several unknowns, all coupled with each other. The
 * mean degree approaches 80 with 3 unknowns and 107 with 4. A smaller degree drops couplings at
 * random.
 */
#include <math.h>

#include "generate.h"

struct box {
	uint64_t size[3], nodes;
	uint64_t unknowns;
};

/* Choose a nearly cubic box of nodes for at least @n vertices. */
static struct box choose_box(uint64_t n, uint64_t unknowns)
{
	uint64_t nodes = (n + unknowns - 1) / unknowns;
	struct box b = { .unknowns = unknowns };

	b.size[0] = (uint64_t)ceil(cbrt((double)nodes) - 1e-9);
	b.size[1] = (uint64_t)ceil(sqrt((double)nodes / (double)b.size[0]) - 1e-9);
	b.size[2] = (nodes + b.size[0] * b.size[1] - 1) / (b.size[0] * b.size[1]);
	b.nodes = b.size[0] * b.size[1] * b.size[2];
	return b;
}

/* Mean number of other nodes coupled with a node. */
static double mean_couplings(const struct box *b)
{
	double pairs = 1;
	int i;

	for (i = 0; i < 3; i++)
		pairs *= 3 * (double)b->size[i] - 2;
	return pairs / (double)b->nodes - 1;
}

static double full_degree(const struct box *b)
{
	return (mean_couplings(b) + 1) * (double)b->unknowns - 1;
}

/* Couple all unknowns of node @a with all of node @c (c >= a). */
static int couple(struct gtu_raw_graph *raw, uint64_t unknowns, uint64_t a, uint64_t c,
		  struct gtu_error *err)
{
	uint64_t i, j;
	int rc = 0;

	for (i = 0; i < unknowns; i++)
		for (j = a == c ? i + 1 : 0; j < unknowns && !rc; j++)
			rc = gtu_edges_push(&raw->edges, a * unknowns + i, c * unknowns + j, err);
	return rc;
}

/* Couple a node with the 13 neighbours of higher number. */
static int couple_node(struct gtu_raw_graph *raw, const struct box *b, uint64_t node, uint64_t seed,
		       uint64_t keep, struct gtu_error *err)
{
	uint64_t x = node % b->size[0], y = node / b->size[0] % b->size[1], z = node / b->size[0] / b->size[1];
	uint64_t state = gtu_rand_stream(seed, node);
	int rc = couple(raw, b->unknowns, node, node, err), k;

	for (k = 14; k < 27 && !rc; k++) {
		/* the offset is -1, 0 or 1 in each direction; an underflow is out of range, too */
		uint64_t nx = x + (uint64_t)(k % 3) - 1, ny = y + (uint64_t)(k / 3 % 3) - 1;
		uint64_t nz = z + (uint64_t)(k / 9) - 1;

		if (nx < b->size[0] && ny < b->size[1] && nz < b->size[2] && gtu_splitmix64_next(&state) <= keep)
			rc = couple(raw, b->unknowns, node, (nz * b->size[1] + ny) * b->size[0] + nx, err);
	}
	return rc;
}

static int generate(const struct gtu_generate_options *opt, const struct gtu_progress *progress,
		    struct gtu_raw_graph *raw, struct gtu_error *err)
{
	uint64_t unknowns = opt->unknowns ? opt->unknowns : opt->degree > 0 ? 1 : 3, node, keep = UINT64_MAX;
	struct box b = choose_box(opt->n, unknowns);
	double wanted;
	int rc = 0;

	while (!opt->unknowns && opt->degree > full_degree(&b) && unknowns < 64)
		b = choose_box(opt->n, ++unknowns);
	if (opt->degree > 0) {
		/* Mean degree = (kept couplings + 1) * unknowns - 1. */
		wanted = (opt->degree + 1) / (double)unknowns - 1;
		if (wanted > mean_couplings(&b) + 1e-9 || wanted < 0)
			return gtu_fail(err, GTU_ERR_USAGE,
					"a mean degree of %g is out of range: it must be %llu to "
					"%g with %llu unknowns per node",
					opt->degree, (unsigned long long)unknowns - 1, full_degree(&b),
					(unsigned long long)unknowns);
		if (wanted < mean_couplings(&b))
			keep = (uint64_t)(wanted / mean_couplings(&b) * 0x1p64);
	}
	raw->n = b.nodes * unknowns;
	for (node = 0; node < b.nodes && !rc; node++) {
		rc = couple_node(raw, &b, node, opt->seed, keep, err);
		if (!rc && node % 65536 == 0 && gtu_tick(progress, "coupling nodes", node, b.nodes))
			rc = gtu_fail(err, GTU_ERR_INTERRUPTED, "generating was stopped");
	}
	return rc;
}

const struct gtu_generator_entry gtu_generator_fem3d = { "fem3d", 1ull << 36, 0, 0, 27 * 64, generate, NULL };
