// SPDX-License-Identifier: MIT
/*
 * Connected planar meshes of a given mean degree: a Delaunay triangulation, whose mean degree is
 * just below 6, thinned at random around a spanning tree. A degree of 4.9 resembles the
 * census-block graphs of DIMACS10.
 */
#include "generate.h"

static int generate(const struct gtu_generate_options *opt, const struct gtu_progress *progress,
		    struct gtu_raw_graph *raw, struct gtu_error *err)
{
	int rc = gtu_delaunay(opt->n, opt->seed, progress, &raw->edges, err);

	raw->n = opt->n;
	if (rc)
		return rc;
	return gtu_sparsify(&raw->edges, opt->n, (uint64_t)((double)opt->n * opt->degree / 2 + 0.5),
			      opt->seed, progress, err);
}

const struct gtu_generator_entry gtu_generator_planar = { "planar", 1ull << 29, 4.9, 2, 6, generate, NULL };
