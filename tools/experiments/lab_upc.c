// SPDX-License-Identifier: MIT
/* The graphs that the IRU and SCU papers share. */
#include "lab_upc.h"

#include <stdlib.h>

#include "lab_expect.h"

/* The graphs at --scale 18 (SCU, table 5: vertices and entries); smaller ones keep the degree. */
const struct lab_standin lab_upc_standins[LAB_UPC_STANDINS] = {
	{ "ca", { .kind = GTU_GEN_PLANAR, .degree = 4.9 }, 2.71, 0 },
	{ "cond", { .kind = GTU_GEN_POWERLAW, .degree = 8.7 }, 0.154, 0 },
	{ "delaunay", { .kind = GTU_GEN_DELAUNAY }, 2, 0 },
	/* keeps its density */
	{ "human", { .kind = GTU_GEN_POWERLAW, .degree = 1118 }, 0.085, 18 },
	{ "kron", { .kind = GTU_GEN_KRONECKER, .degree = 48, .simplify = 1 }, 1, 0 },
	{ "msdoor", { .kind = GTU_GEN_FEM3D, .degree = 48.7 }, 1.58, 0 },
};

int lab_upc_prepare(const struct gtu_graph *g, struct gtu_graph *to, uint32_t **weight, uint32_t **col,
		    bool weights, struct gtu_error *err)
{
	bool narrow = g->edge_bytes == 4;
	uint64_t e;

	if (!g->m)
		return gtu_fail(err, GTU_ERR_INPUT, "%s has no edges", g->name);
	*to = *g;
	*weight = weights ? malloc(4 * g->m) : NULL;
	*col = narrow ? NULL : malloc(4 * g->m);
	if ((weights && !*weight) || (!narrow && !*col))
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for %s", g->name);
	for (e = 0; e < g->m && !narrow; e++)
		(*col)[e] = (uint32_t)gtu_graph_target(g, e);
	for (e = 0; e < g->m && weights; e++)
		(*weight)[e] = 1 + (uint32_t)(gtu_splitmix64_mix(e) % 64);
	to->col = narrow ? g->col : *col;
	to->edge_bytes = 4;
	to->weight = *weight;
	to->weight_type = weights ? GTU_WEIGHT_U32 : GTU_WEIGHT_NONE;
	return 0;
}
