/* SPDX-License-Identifier: MIT */
/* Energy rows of an experiment's table: with their range of uncertainty, without a verdict. */
#ifndef GTU_LAB_ENERGY_ROWS_H
#define GTU_LAB_ENERGY_ROWS_H

#include "firmware-model/lab/engine/energy.h"
#include "lab_run.h"

/* Means over graphs: arithmetic or geometric. Initialize the rest with zeros. */
struct lab_energy_rows {
	bool arithmetic;
	double min, likely, max;	/* sums, or sums of logarithms */
	unsigned n;
};

/*
 * Add @a's energy divided by @b's on machine @m to the means, and as a row of graph @g if @figure
 * is wanted. @what labels the row. Does nothing if the costs for the machine are unknown.
 */
void lab_energy_rows_add(struct lab_energy_rows *rows, struct lab_run *r, unsigned figure, unsigned g,
			 const struct lab_machine *m, const struct lab_energy *a, const struct lab_energy *b, const char *what);
/* Add the mean, beside @paper (NAN: no published value), and its range. */
void lab_energy_rows_mean(const struct lab_energy_rows *rows, struct lab_run *r, unsigned figure, double paper, const char *what);

/* Add the rows of @of to those of @rows. */
void lab_energy_rows_all(struct lab_energy_rows *rows, const struct lab_energy_rows *of);

#endif
