/* SPDX-License-Identifier: MIT */
/* Every figure and table of the five papers. */
#ifndef GTU_LAB_FIGURES_H
#define GTU_LAB_FIGURES_H

#include <stdbool.h>

enum lab_figure_kind {
	LAB_FIGURE_RUN,			/* repeated by a command */
	LAB_FIGURE_PLACE,		/* a mechanism or a setting: a file or a command */
	LAB_FIGURE_NONE,		/* not repeated: the reason */
};

struct lab_figure {
	const char *paper, *title;
	bool table;
	unsigned number;
	enum lab_figure_kind kind;
	char command[48];		/* of RUN */
	const char *text;		/* place; reason; of RUN: what its rows lack, or "" */
};

/* Fill the first @capacity rows. Returns the number of all. */
unsigned lab_figures(struct lab_figure *out, unsigned capacity);

#endif
