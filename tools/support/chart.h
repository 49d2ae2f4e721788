/* SPDX-License-Identifier: MIT */
/*
 * Charts as SVG: lines and points over two axes, and bars.
 *
 * Values that are not finite, or not above 0 on a logarithmic axis, are left out.
 */
#ifndef GTU_CHART_H
#define GTU_CHART_H

#include <stdbool.h>
#include <stdio.h>

enum chart_mark {
	CHART_LINE,			/* joined points, with markers if there are few */
	CHART_POINTS,
	CHART_LIMIT,			/* an upper bound: dashed, in the colour of the axes */
};

struct chart_series {
	const char *name;
	const double *x, *y;
	unsigned n;
	enum chart_mark mark;
	const char *const *label;	/* tooltips of the points; NULL: the coordinates */
};

struct chart {
	const char *title, *x_name, *y_name;
	bool log_x, log_y;
	bool whole_x;			/* x is a count: no ticks at fractions */
	const struct chart_series *series;
	unsigned count;
};

/* A bar chart: @rows groups of @count bars each. A value of NAN leaves its bar out. */
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
/* Draw a chart; without data, the title and the axes. @page: as for svg_begin(). */
void chart_draw(const struct chart *c, bool page, FILE *to);
void chart_draw_bars(const struct chart_bars *c, bool page, FILE *to);

/* A number with three digits and an SI suffix: 12.3k, 4M, 0.05. */
struct chart_number {
	char text[24];
};
struct chart_number chart_number(double v);

#endif
