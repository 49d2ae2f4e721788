/* SPDX-License-Identifier: MIT */
/* A table of the laboratory as bar charts, like those in papers. */
#ifndef GTU_LAB_PLOT_H
#define GTU_LAB_PLOT_H

#include <stdio.h>

#include "lab_table.h"

/*
 * Write SVG of all rows. Each figure and measure (a row's text after its first ": ") is a panel,
 * each graph a group of bars, and each series (the text before) a colour. The paper's bar is
 * hatched beside ours. Means and extremes are at the right. Speed-ups with a large range have a
 * logarithmic axis with bars from 1. @head is the title (@page: the page has it already, svg.h).
 * The caller must check @to for write errors.
 */
void lab_plot(const struct lab_table *t, const char *head, bool page, FILE *to);

#endif
