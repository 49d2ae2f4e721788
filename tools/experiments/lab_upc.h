/* SPDX-License-Identifier: MIT */
/* The graphs that the IRU and SCU papers (UPC) share. */
#ifndef GTU_LAB_UPC_H
#define GTU_LAB_UPC_H

#include "lab_run.h"

#define LAB_UPC_STANDINS 6u
extern const struct lab_standin lab_upc_standins[LAB_UPC_STANDINS];

/*
 * Convert @g to 4-byte edges in @to and, with @weights, add weights of 1 to 64 (our choice; the
 * papers do not say). *weight and *col must be freed, also after an error; they are NULL if @g's
 * own arrays are used. GTU_ERR_INPUT: the graph has no edges.
 */
int lab_upc_prepare(const struct gtu_graph *g, struct gtu_graph *to, uint32_t **weight, uint32_t **col,
		    bool weights, struct gtu_error *err);

#endif
