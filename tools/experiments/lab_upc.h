/* SPDX-License-Identifier: MIT */
/* The graphs that the IRU and SCU papers (UPC) share. */
#ifndef GTU_LAB_UPC_H
#define GTU_LAB_UPC_H

#include "lab_expect.h"
#include "lab_run.h"

#define LAB_UPC_STANDINS 6u
extern const struct lab_standin lab_upc_standins[LAB_UPC_STANDINS];
/* Their algorithms' results, by enum lab_iru_algorithm. */
extern const enum lab_expect_what lab_upc_expect[];

#endif
