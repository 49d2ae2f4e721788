/* SPDX-License-Identifier: MIT */
/* What the IRU and SCU papers (UPC) have in common: their graphs. */
#ifndef GTU_LAB_UPC_H
#define GTU_LAB_UPC_H

#include "lab_run.h"

#define LAB_UPC_SIBLINGS 6u
extern const struct lab_sibling lab_upc_siblings[LAB_UPC_SIBLINGS];

/*
 * @to: the graph with 4 bytes an edge and, with @weights, weights of 1 to 64 (settled: the papers do not say), which lie
 * in *weight and *col, to be freed (also after an error; NULL where the graph's own serve). GTU_ERR_INPUT where it has
 * no edges.
 */
int lab_upc_prepare(const struct gtu_graph *g, struct gtu_graph *to, uint32_t **weight, uint32_t **col,
		    bool weights, struct gtu_error *err);

#endif
