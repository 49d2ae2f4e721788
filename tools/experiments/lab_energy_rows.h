/* SPDX-License-Identifier: MIT */
/* Rows of energy for an experiment's table: shown, never judged, with the range that the events' costs leave. */
#ifndef GTU_LAB_ENERGY_ROWS_H
#define GTU_LAB_ENERGY_ROWS_H

#include "firmware-model/lab/engine/energy.h"
#include "lab_run.h"

/* Zeroed: geometric means over graphs. */
struct lab_energy_rows {
	double least, likely, most;	/* sums of logarithms */
	unsigned n;
};

/*
 * @a's energy over @b's on machine @m, as a row of graph @g in @figure (where that is wanted), and into the means. @what names
 * the row. Nothing where no costs are known for the machine.
 */
void lab_energy_rows_add(struct lab_energy_rows *rows, struct lab_run *r, unsigned figure, unsigned g,
			 const struct lab_machine *m, const struct lab_energy *a, const struct lab_energy *b, const char *what);
/* The mean beside @paper (NAN: no number), and its range. */
void lab_energy_rows_mean(const struct lab_energy_rows *rows, struct lab_run *r, unsigned figure, double paper, const char *what);

#endif
