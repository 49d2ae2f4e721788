// SPDX-License-Identifier: MIT
/* The graphs that the IRU and SCU papers share. */
#include "lab_upc.h"

#include "lab_standins.h"

/* The graphs at --scale 18 (SCU, table 5: vertices and entries); smaller ones keep the degree. */
const struct lab_standin lab_upc_standins[LAB_UPC_STANDINS] = {
	{ "ca", { .kind = GTU_GEN_PLANAR, .degree = 4.9 }, 2.71, 0 },
	{ "cond", { .kind = LAB_STANDIN_COAUTHORS, .degree = 8.7 }, 0.154, 0 },
	{ "delaunay", { .kind = LAB_STANDIN_DELAUNAY }, 2, 0 },
	/* keeps its density */
	{ "human", { .kind = LAB_STANDIN_MODULES, .degree = 1118 }, 0.085, 18 },
	{ "kron", { .kind = GTU_GEN_KRONECKER, .degree = 48, .simplify = 1 }, 1, 0 },
	{ "msdoor", { .kind = GTU_GEN_FEM3D, .degree = 48.7 }, 1.58, 0 },
};

const enum lab_expect_what lab_upc_expect[] = { LAB_LEVELS, LAB_DISTANCES, LAB_RANKS };
