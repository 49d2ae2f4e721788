/* SPDX-License-Identifier: MIT */
/* Charts as SVG: lines and points over two axes, and bars. Numbers that are not finite, or not above 0 on a logarithmic axis, are left out. */
#ifndef GTU_CHART_H
#define GTU_CHART_H

#include <stdbool.h>
#include <stdio.h>

enum chart_mark {
	CHART_LINE,			/* points where they are few, joined */
	CHART_POINTS,
	CHART_LIMIT,			/* dashed, in the colour of the axes: what cannot be exceeded */
};

struct chart_series {
	const char *name;
	const double *x, *y;
	unsigned n;
	enum chart_mark mark;
	const char *const *label;	/* what a point says when it is pointed at; NULL: its numbers */
};

struct chart {
	const char *title, *x_name, *y_name;
	bool log_x, log_y;
	bool whole_x;			/* x counts: no half of it */
	const struct chart_series *series;
	unsigned count;
};

/* Of so many bars (some may be missing), the series beside each other in each row. */
struct chart_bars {
	const char *title, *x_name;
	bool log_x;
	const char *const *row;
	unsigned rows;
	const char *const *series;
	unsigned count;
	const double *value;		/* [row * count + series] */
};

/* Whether there is anything to draw. */
bool chart_has(const struct chart *c);
bool chart_bars_has(const struct chart_bars *c);
/* @page: svg.h. Without anything to draw it is the title and the axes. */
void chart_draw(const struct chart *c, bool page, FILE *to);
void chart_draw_bars(const struct chart_bars *c, bool page, FILE *to);

/* A number as a person reads it: 12.3k, 4M, 0.05. */
struct chart_number {
	char text[24];
};
struct chart_number chart_number(double v);

#endif
