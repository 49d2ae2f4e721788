// SPDX-License-Identifier: MIT
/* Energy rows of an experiment's table. */
#include "lab_energy_rows.h"

#include <math.h>

void lab_energy_rows_add(struct lab_energy_rows *rows, struct lab_run *r, unsigned figure, unsigned g,
			 const struct lab_machine *m, const struct lab_energy *a, const struct lab_energy *b, const char *what)
{
	const struct lab_energy_cost *cost = lab_energy_costs(m);
	struct lab_energy_range q;

	if (!cost)
		return;
	q = lab_energy_ratio(cost, a, b);
	lab_run_row(r, figure, lab_run_label(r, g), LAB_OPEN_RULE, NAN, q.likely, "%s", what);
	rows->min += rows->arithmetic ? q.min : log(q.min);
	rows->likely += rows->arithmetic ? q.likely : log(q.likely);
	rows->max += rows->arithmetic ? q.max : log(q.max);
	rows->n++;
}

static double mean(const struct lab_energy_rows *rows, double sum)
{
	return rows->arithmetic ? sum / rows->n : exp(sum / rows->n);
}

void lab_energy_rows_mean(const struct lab_energy_rows *rows, struct lab_run *r, unsigned figure, double paper, const char *what)
{
	if (!rows->n || !lab_run_wants(r, figure))
		return;
	lab_run_row(r, figure, "mean", LAB_SPEEDUP_RULE, paper, mean(rows, rows->likely), "%s", what);
	lab_run_row(r, figure, "mean", LAB_OPEN_RULE, NAN, mean(rows, rows->min), "%s, at least", what);
	lab_run_row(r, figure, "mean", LAB_OPEN_RULE, NAN, mean(rows, rows->max), "%s, at most", what);
}

void lab_energy_rows_all(struct lab_energy_rows *rows, const struct lab_energy_rows *of)
{
	rows->min += of->min;
	rows->likely += of->likely;
	rows->max += of->max;
	rows->n += of->n;
}
