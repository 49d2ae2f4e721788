// SPDX-License-Identifier: MIT
/* Draws a table of the laboratory as bar charts in SVG. */
#include "lab_plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/support/svg.h"

#define WIDTH 1000.0
#define LEFT 92.0
#define RIGHT 24.0
#define HIGH 270.0			/* height of the axes */
#define BAR_MOST 44.0
#define NULL_LINE "stroke='#cc0000' stroke-width='2' stroke-dasharray='4 2'"
#define NAMES 64u			/* most series, and groups, per panel */
struct panel {
	const struct lab_table *t;
	unsigned figure;
	const char *measure;
	const char *group[NAMES], *series[NAMES]; /* series: the text of its first row */
	unsigned bars[NAMES];		/* per group */
	/* aggregates: number of groups at the end that are means or extremes; numbers: of series */
	unsigned groups, aggregates, numbers, papers, nulls;
	double min, max, low, high, bar, top;
	bool speedup, logarithmic;
};

static const char *measure_of(const struct lab_row *r)
{
	const char *colon = strstr(r->what, ": ");

	return colon ? colon + 2 : r->what;
}

static size_t series_length(const char *what)
{
	const char *colon = strstr(what, ": ");

	return colon ? (size_t)(colon - what) : 0;
}

static bool of_panel(const struct panel *p, const struct lab_row *r)
{
	return r->figure == p->figure && !strcmp(measure_of(r), p->measure) && r->rule != LAB_RANK_RULE &&
	       strcmp(r->graph, "curve");
}

static unsigned series_of(struct panel *p, const struct lab_row *r)
{
	size_t n = series_length(r->what);
	unsigned i;

	for (i = 0; i < p->numbers; i++)
		if (series_length(p->series[i]) == n && !strncmp(p->series[i], r->what, n))
			return i;
	if (p->numbers == NAMES)
		return NAMES - 1;
	p->series[p->numbers] = r->what;
	return p->numbers++;
}

static unsigned group_of(struct panel *p, const char *graph)
{
	unsigned i;

	for (i = 0; i < p->groups; i++)
		if (!strcmp(p->group[i], graph))
			return i;
	if (p->groups == NAMES)
		return NAMES - 1;
	p->group[p->groups] = graph;
	return p->groups++;
}

static void seen(struct panel *p, double v)
{
	if (!isfinite(v))
		return;
	p->min = fmin(p->min, v);
	p->max = fmax(p->max, v);
}

/* Collect groups, series and the axis range; false without finite values. */
static bool measure_panel(struct panel *p)
{
	unsigned i, aggregate;
	double step;

	p->min = INFINITY;
	p->max = -INFINITY;
	for (aggregate = 0; aggregate < 2; aggregate++)
		for (i = 0; i < p->t->rows; i++) {
			const struct lab_row *r = &p->t->row[i];
			unsigned before = p->groups;

			if (!of_panel(p, r) || lab_row_aggregate(r) != (aggregate == 1))
				continue;
			series_of(p, r);
			p->bars[group_of(p, r->graph)] += 1 + !isnan(lab_row_published(r));
			p->aggregates += aggregate && p->groups > before;
			p->papers += !isnan(lab_row_published(r));
			p->nulls += !isnan(lab_row_null(p->t, r));
			seen(p, r->ours);
			seen(p, lab_row_published(r));
			seen(p, lab_row_null(p->t, r));
		}
	if (!(p->max >= p->min))
		return false;
	p->speedup = strstr(p->measure, "speed-up") != NULL;
	p->logarithmic = p->speedup && p->min > 0 && fmax(p->max, 1) / fmin(p->min, 1) > 8;
	if (p->logarithmic) {
		p->low = fmin(p->min, 1) / 1.25;
		p->high = fmax(p->max, 1) * 1.6; /* space for numbers above the bars */
		return true;
	}
	step = svg_step(fmax(fmax(p->max, -p->min), 1e-12) / 5);
	p->low = p->min < 0 ? floor(p->min / step) * step : 0;
	p->high = fmax(ceil(p->max * 1.15 / step) * step, p->low + step);
	return true;
}

static double y_of(const struct panel *p, double v)
{
	double part = p->logarithmic ? log(v / p->low) / log(p->high / p->low) : (v - p->low) / (p->high - p->low);

	return p->top + HIGH * (1 - part);
}

static void tick(const struct panel *p, double v, FILE *to)
{
	double y = y_of(p, v);

	fprintf(to, "<line x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f' " SVG_GRID "/>\n", LEFT, y, WIDTH - RIGHT, y);
	fprintf(to, "<text x='%.1f' y='%.1f' font-size='14' text-anchor='end'>%.4g</text>\n", LEFT - 7, y + 5, v);
}

static void axis(const struct panel *p, FILE *to)
{
	static const double in_ten[] = { 1, 2, 5 };
	double v, step;
	size_t n = strlen(p->measure), cut = n;
	int k;
	unsigned i;

	if (p->logarithmic) {
		for (k = (int)floor(log10(p->low)); k <= (int)ceil(log10(p->high)); k++)
			for (i = 0; i < 3; i++) {
				v = in_ten[i] * pow(10, k);
				if (v >= p->low && v <= p->high)
					tick(p, v, to);
			}
	} else {
		step = svg_step((p->high - p->low) / 6);
		for (v = p->low; v <= p->high + step / 1e6; v += step)
			tick(p, fabs(v) < step / 1e6 ? 0 : v, to);
	}
	/* break long labels into two lines */
	if (n > 34)
		for (cut = n / 2; cut < n && p->measure[cut] != ' '; cut++)
			;
	fprintf(to, "<g transform='translate(%.1f %.1f) rotate(-90)' font-size='14' text-anchor='middle'>", cut < n ? 20.0 : 30.0,
		p->top + HIGH / 2);
	fputs("<text>", to);
	svg_text(to, p->measure, cut);
	fputs("</text>", to);
	if (cut < n) {
		fputs("<text y='17'>", to);
		svg_text(to, p->measure + cut + 1, n);
		fputs("</text>", to);
	}
	fputs("</g>\n", to);
}

static void bar(const struct panel *p, double x, double v, unsigned colour, bool paper, FILE *to)
{
	double base = p->logarithmic ? 1 : 0, y, from = y_of(p, base), end;
	char number[32];

	snprintf(number, sizeof(number), isfinite(v) ? "%.3g" : "no number", v);
	if (!isfinite(v) || (p->logarithmic && v <= 0))
		v = base;
	y = y_of(p, v);
	end = fmin(y, from);
	fprintf(to, "<rect x='%.1f' y='%.1f' width='%.1f' height='%.1f' stroke='%s' fill='", x, end, p->bar * 0.92,
		fmax(fabs(from - y), 0.5), svg_colour[colour % SVG_COLOURS]);
	if (paper)
		fprintf(to, "url(#p%u)'/>\n", (unsigned)(colour % SVG_COLOURS));
	else
		fprintf(to, "%s'/>\n", svg_colour[colour % SVG_COLOURS]);
	if ((double)strlen(number) * 12 * SVG_CHARACTER <= p->bar)
		fprintf(to, "<text x='%.1f' y='%.1f' font-size='12' text-anchor='middle' " SVG_HALO ">%s</text>\n", x + p->bar * 0.46,
			end - 4, number);
	else if (p->bar >= 9)
		fprintf(to, "<text transform='translate(%.1f %.1f) rotate(-90)' font-size='%.0f' " SVG_HALO ">%s</text>\n",
			x + p->bar * 0.46 + fmin(p->bar, 12) * 0.35, end - 4, fmin(fmax(p->bar, 9), 12), number);
}

static void name_group(const struct panel *p, const char *name, double middle, double wide, FILE *to)
{
	double y = p->top + HIGH + 19;

	if ((double)strlen(name) * 14 * SVG_CHARACTER <= wide)
		fprintf(to, "<text x='%.1f' y='%.1f' font-size='14' text-anchor='middle'>", middle, y);
	else
		fprintf(to, "<text transform='translate(%.1f %.1f) rotate(-25)' font-size='13' text-anchor='end'>", middle + 8, y - 2);
	svg_text(to, name, 24);
	fputs("</text>\n", to);
}

/* A dashed line at the null value, over the bars from @x to @end. */
static void null_line(const struct panel *p, double x, double end, double v, FILE *to)
{
	if (!isfinite(v) || (p->logarithmic && v <= 0))
		return;
	fprintf(to, "<line x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f' " NULL_LINE "/>\n", x, y_of(p, v), end, y_of(p, v));
}

static void groups(struct panel *p, FILE *to)
{
	unsigned g, i, all = 0, aggregate;
	double units, x, begin, row;

	for (g = 0; g < p->groups; g++)
		all += p->bars[g];
	units = all + p->groups + (p->aggregates && p->aggregates < p->groups ? 1.5 : 0);
	p->bar = fmin((WIDTH - LEFT - RIGHT) / units, BAR_MOST);
	x = LEFT + (WIDTH - LEFT - RIGHT - p->bar * units) / 2 + p->bar / 2;
	for (g = 0; g < p->groups; g++) {
		aggregate = g >= p->groups - p->aggregates;
		if (aggregate && g && g == p->groups - p->aggregates) {
			fprintf(to, "<line x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f' stroke='#888888' stroke-dasharray='3 3'/>\n",
				x + p->bar * 0.25, p->top, x + p->bar * 0.25, p->top + HIGH);
			x += p->bar * 1.5;
		}
		begin = x;
		for (i = 0; i < p->t->rows; i++) {
			const struct lab_row *r = &p->t->row[i];

			if (!of_panel(p, r) || group_of(p, r->graph) != g)
				continue;
			row = x;
			bar(p, x, r->ours, series_of(p, r), false, to);
			x += p->bar;
			if (!isnan(lab_row_published(r))) {
				bar(p, x, lab_row_published(r), series_of(p, r), true, to);
				x += p->bar;
			}
			null_line(p, row - p->bar * 0.04, x - p->bar * 0.04, lab_row_null(p->t, r), to);
		}
		name_group(p, p->group[g], (begin + x) / 2, x - begin + p->bar, to);
		x += p->bar;
	}
}

static double legend_item(double x, double y, const char *fill, const char *stroke, const char *name, size_t length, FILE *to)
{
	fprintf(to, "<rect x='%.1f' y='%.1f' width='14' height='14' fill='%s' stroke='%s'/><text x='%.1f' y='%.1f' font-size='14'>", x,
		y - 12, fill, stroke, x + 20, y);
	svg_text(to, name, length);
	fputs("</text>\n", to);
	return x + 20 + (double)length * 14 * SVG_CHARACTER + 22;
}

/* Draw the legend above the axes. Returns the number of lines; @to NULL only counts. */
static unsigned legend(const struct panel *p, double y, FILE *to)
{
	double x = LEFT, wide;
	unsigned i, lines = 1;

	for (i = 0; i < p->numbers + (p->papers != 0); i++) {
		bool paper = i == p->numbers;
		const char *name = !paper ? p->series[i] : p->nulls ? "the paper's (hatched), null model (dashed)" : "the paper's (hatched)";
		size_t n = paper ? strlen(name) : series_length(name);

		if (!paper && !n) {
			name = "all";
			n = 3;
		}
		wide = 42 + (double)n * 14 * SVG_CHARACTER;
		if (x > LEFT && x + wide > WIDTH - RIGHT) {
			x = LEFT;
			y += 20;
			lines++;
		}
		if (to)
			legend_item(x, y, paper ? "url(#grey)" : svg_colour[i % SVG_COLOURS], paper ? "#555555" : svg_colour[i % SVG_COLOURS], name,
				    n, to);
		x += wide;
	}
	return lines;
}

static double names_high(const struct panel *p)
{
	size_t longest = 0;
	unsigned g;

	for (g = 0; g < p->groups; g++)
		longest = strlen(p->group[g]) > longest ? strlen(p->group[g]) : longest;
	return longest > 8 ? 24 + (double)longest * 13 * SVG_CHARACTER * 0.43 : 30;
}

/* Draw a panel at @y and return its end; @to NULL only measures. */
static double panel(struct panel *p, double y, FILE *to)
{
	unsigned lines = legend(p, 0, NULL);
	double bottom;

	p->top = y + 36 + 20 * lines;
	bottom = p->top + HIGH + names_high(p);
	if (!to)
		return bottom + 44;
	fprintf(to, "<text x='%.1f' y='%.1f' font-size='17' font-weight='bold'>%s %u: ", LEFT, y + 18,
		p->figure < LAB_TABLE(0) ? "Figure" : "Table", p->figure % LAB_TABLE(0));
	svg_text(to, p->measure, 80);
	fputs("</text>\n", to);
	legend(p, y + 42, to);
	axis(p, to);
	if (p->speedup && y_of(p, 1) > p->top && p->low <= 1)
		fprintf(to, "<line x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f' " SVG_AXIS " stroke-dasharray='6 3'/>\n", LEFT, y_of(p, 1),
			WIDTH - RIGHT, y_of(p, 1));
	groups(p, to);
	fprintf(to, "<path d='M%.1f %.1fV%.1fH%.1f' fill='none' " SVG_AXIS "/>\n", LEFT, p->top, p->top + HIGH, WIDTH - RIGHT);
	fprintf(to, "<text x='%.1f' y='%.1f' font-size='14' text-anchor='middle'>graph%s</text>\n", (LEFT + WIDTH - RIGHT) / 2,
		bottom + 12, p->logarithmic ? " (the axis is logarithmic)" : "");
	return bottom + 44;
}

/* Draw all panels. Returns the height. */
static double panels(const struct lab_table *t, FILE *to)
{
	double y = 44;
	unsigned i, k;

	for (i = 0; i < t->rows; i++) {
		struct panel p = { .t = t, .figure = t->row[i].figure, .measure = measure_of(&t->row[i]) };

		if (!of_panel(&p, &t->row[i]))
			continue;
		for (k = 0; k < i && !of_panel(&p, &t->row[k]); k++)
			;
		if (k == i && measure_panel(&p))
			y = panel(&p, y, to);
	}
	return y;
}

void lab_plot(const struct lab_table *t, const char *head, bool page, FILE *to)
{
	svg_begin(to, WIDTH, panels(t, NULL), head, page);
	if (!page) {
		fprintf(to, "<text x='%.1f' y='28' font-size='15'>", LEFT);
		svg_text(to, head, strlen(head));
		fputs("</text>\n", to);
	}
	panels(t, to);
	svg_end(to, page);
}
