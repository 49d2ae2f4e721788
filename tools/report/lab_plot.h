/* SPDX-License-Identifier: MIT */
/* A table of the laboratory as the bar charts that papers print. */
#ifndef GTU_LAB_PLOT_H
#define GTU_LAB_PLOT_H

#include <stdio.h>

#include "lab_table.h"

/*
 * SVG of all rows: a panel for each figure and measure (the part of a row's text behind its first ": "), in it a
 * group of bars for each graph, a colour for each series (the part before), the paper's bar hatched beside ours
 * where it gives a number, means and extremes apart at the right. Speed-ups that differ much have a logarithmic
 * axis, with bars from 1. @head is the line above all (@page: it
 * stands in the page already, svg.h). What cannot be written is for the caller to find on @to.
 */
void lab_plot(const struct lab_table *t, const char *head, bool page, FILE *to);

#endif
