// SPDX-License-Identifier: MIT
/*
 * Road-like graphs: junctions on a grid, each displaced at random by up to 0.3 of a cell, with
 * streets to the right and down, thinned around a spanning tree to the mean degree of road maps
 * (2.6). Weights are street lengths; a cell is 1000 wide.
 */
#include <math.h>
#include <stdlib.h>

#include "generate.h"

static double coordinate(uint64_t seed, uint64_t v, uint64_t axis, uint64_t cell)
{
	uint64_t state = gtu_rand_stream(seed, 2 * v + axis);

	return 1000 * ((double)cell + 0.6 * (gtu_rand_unit(&state) - 0.5));
}

static int push_street(struct gtu_raw_graph *raw, uint64_t seed, uint64_t width, uint64_t u, uint64_t v,
		       struct gtu_error *err)
{
	double dx = coordinate(seed, u, 0, u % width) - coordinate(seed, v, 0, v % width);
	double dy = coordinate(seed, u, 1, u / width) - coordinate(seed, v, 1, v / width);
	int rc = gtu_edges_push(&raw->edges, u, v, err);

	return rc ? rc : gtu_edges_weight_u64(&raw->edges, (uint64_t)(sqrt(dx * dx + dy * dy) + 0.5), err);
}

static int generate(const struct gtu_generate_options *opt, const struct gtu_progress *progress,
		    struct gtu_raw_graph *raw, struct gtu_error *err)
{
	uint64_t width = (uint64_t)ceil(sqrt((double)opt->n)), height = (opt->n + width - 1) / width, v;
	int rc = 0;

	raw->n = width * height;
	gtu_edges_init(&raw->edges, true);
	for (v = 0; v < raw->n && !rc; v++) {
		if (v % width + 1 < width)
			rc = push_street(raw, opt->seed, width, v, v + 1, err);
		if (!rc && v + width < raw->n)
			rc = push_street(raw, opt->seed, width, v, v + width, err);
		if (!rc && v % GTU_TICK_ITEMS == 0 && gtu_tick(progress, "laying out streets", v, raw->n))
			rc = gtu_fail(err, GTU_ERR_INTERRUPTED, "generating was stopped");
	}
	if (rc)
		return rc;
	return gtu_sparsify(&raw->edges, raw->n, (uint64_t)((double)raw->n * opt->degree / 2 + 0.5),
			      opt->seed, progress, err);
}

const struct gtu_generator_entry gtu_generator_road = { "road", 1ull << 36, 2.6, 2, 4, generate, NULL };
