// SPDX-License-Identifier: MIT
/* Draws line, point and bar charts as SVG. */
#include "chart.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "svg.h"

#define WIDTH 900.0
#define HEIGHT 300.0			/* of the plot area */
#define LEFT 84.0
#define RIGHT 24.0
#define MARKED 80u			/* a line of more points has no markers */
#define ROW 15.0			/* height of a bar */
#define NAMES 330.0			/* greatest width of the row names */

struct range {
	double low, high;
	bool logarithmic, whole;
};

struct chart_number chart_number(double v)
{
	static const char unit[] = " kMGTPE";
	struct chart_number n;
	double a = fabs(v);
	unsigned k = 0;

	while (a >= 999.5 && k < 6) {
		a /= 1000;
		v /= 1000;
		k++;
	}
	if (k)
		snprintf(n.text, sizeof(n.text), "%.3g%c", v, unit[k]);
	else
		snprintf(n.text, sizeof(n.text), "%.3g", v);
	return n;
}

static bool can_show(double v, bool logarithmic)
{
	return isfinite(v) && (!logarithmic || v > 0);
}

static void widen(struct range *r, double v)
{
	if (!can_show(v, r->logarithmic))
		return;
	r->low = fmin(r->low, v);
	r->high = fmax(r->high, v);
}

/* Extend the range of the data to the range of the axis. Returns false if there are no data. */
static bool fit_axis(struct range *r, bool from_zero, bool round)
{
	bool any = r->low <= r->high;
	double step;

	if (!any) {
		r->low = 1;
		r->high = 10;
	}
	if (r->logarithmic) {
		r->low /= 1.15;
		r->high *= 1.25;
		/* an axis of less than a decade would have hardly any tick */
		if (r->high < 10 * r->low) {
			r->low = pow(10, floor(log10(r->low)));
			r->high = fmax(r->high, 10 * r->low);
		}
		return any;
	}
	if (from_zero)
		r->low = fmin(r->low, 0);
	if (!(r->high > r->low))
		r->high = r->low + 1;
	if (!round)
		return any;
	step = svg_step((r->high - r->low) / 6);
	r->high = ceil(r->high * (1 + 1e-12) / step) * step;
	r->low = floor(r->low / step) * step;
	return any;
}

static double position(const struct range *r, double v)
{
	return r->logarithmic ? log(v / r->low) / log(r->high / r->low) : (v - r->low) / (r->high - r->low);
}

static void ticks(const struct range *r, void (*tick)(void *user, double v), void *user)
{
	double v, step, decades = r->logarithmic ? log10(r->high / r->low) : 0;
	int k, every = decades > 12 ? 3 : 1;
	unsigned i;

	if (r->logarithmic) {
		for (k = (int)floor(log10(r->low)); k <= (int)ceil(log10(r->high)); k++)
			for (i = 0; i < (decades < 3 ? 3u : 1u); i++) {
				v = (i == 0 ? 1 : i == 1 ? 2 : 5) * pow(10, k);
				if (k % every == 0 && v >= r->low * (1 - 1e-9) && v <= r->high * (1 + 1e-9))
					tick(user, v);
			}
		return;
	}
	step = svg_step((r->high - r->low) / 8);
	step = r->whole ? fmax(step, 1) : step;
	for (k = 0; k <= 12; k++) {
		v = (ceil(r->low / step - 1e-6) + k) * step;
		if (v <= r->high + step / 1e6)
			tick(user, fabs(v) < step / 1e6 ? 0 : v);
	}
}

struct frame {
	const struct chart *c;
	struct range x, y;
	double top;
	FILE *to;
};

static double at_x(const struct frame *f, double v)
{
	return LEFT + (WIDTH - LEFT - RIGHT) * position(&f->x, v);
}

static double at_y(const struct frame *f, double v)
{
	return f->top + HEIGHT * (1 - position(&f->y, v));
}

static void tick_x(void *user, double v)
{
	const struct frame *f = user;

	fprintf(f->to, "<line x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f' " SVG_GRID "/><text x='%.1f' y='%.1f' font-size='12' text-anchor='middle'>%s</text>\n",
		at_x(f, v), f->top, at_x(f, v), f->top + HEIGHT, at_x(f, v), f->top + HEIGHT + 17, chart_number(v).text);
}

static void tick_y(void *user, double v)
{
	const struct frame *f = user;

	fprintf(f->to, "<line x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f' " SVG_GRID "/><text x='%.1f' y='%.1f' font-size='12' text-anchor='end'>%s</text>\n",
		LEFT, at_y(f, v), WIDTH - RIGHT, at_y(f, v), LEFT - 7, at_y(f, v) + 4, chart_number(v).text);
}

static void measure(const struct chart *c, struct frame *f, bool *any)
{
	unsigned s, i;

	*f = (struct frame){ .c = c, .x = { INFINITY, -INFINITY, c->log_x, c->whole_x },
			     .y = { INFINITY, -INFINITY, c->log_y, false } };
	for (s = 0; s < c->count; s++)
		for (i = 0; i < c->series[s].n; i++) {
			if (!can_show(c->series[s].x[i], c->log_x) || !can_show(c->series[s].y[i], c->log_y))
				continue;
			widen(&f->x, c->series[s].x[i]);
			widen(&f->y, c->series[s].y[i]);
		}
	*any = fit_axis(&f->x, false, false);
	fit_axis(&f->y, true, true);
}

bool chart_has(const struct chart *c)
{
	struct frame f;
	bool any;

	measure(c, &f, &any);
	return any;
}

static void put_stroke(const struct chart_series *s, unsigned number, FILE *to)
{
	if (s->mark == CHART_LIMIT)
		fputs(" " SVG_AXIS " stroke-dasharray='6 4'", to);
	else
		fprintf(to, " stroke='%s'", svg_colour[number % SVG_COLOURS]);
}

static void draw_series(const struct frame *f, unsigned number)
{
	const struct chart_series *s = &f->c->series[number];
	bool open = false;
	unsigned i;

	if (s->mark != CHART_POINTS) {
		fputs("<path fill='none' stroke-width='1.8'", f->to);
		put_stroke(s, number, f->to);
		fputs(" d='", f->to);
		for (i = 0; i < s->n; i++) {
			if (!can_show(s->x[i], f->c->log_x) || !can_show(s->y[i], f->c->log_y)) {
				open = false;
				continue;
			}
			fprintf(f->to, "%c%.1f %.1f", open ? 'L' : 'M', at_x(f, s->x[i]), at_y(f, s->y[i]));
			open = true;
		}
		if (!s->n)
			fputs("M0 0", f->to);
		fputs("'/>\n", f->to);
	}
	if (s->mark == CHART_LIMIT || (s->mark == CHART_LINE && s->n > MARKED))
		return;
	for (i = 0; i < s->n; i++) {
		if (!can_show(s->x[i], f->c->log_x) || !can_show(s->y[i], f->c->log_y))
			continue;
		fprintf(f->to, "<circle cx='%.1f' cy='%.1f' r='%.1f' fill='%s'><title>", at_x(f, s->x[i]), at_y(f, s->y[i]),
			s->mark == CHART_POINTS ? 3.5 : 2.6, svg_colour[number % SVG_COLOURS]);
		if (s->label)
			svg_text(f->to, s->label[i], 200);
		else
			fprintf(f->to, "%s, %s", chart_number(s->x[i]).text, chart_number(s->y[i]).text);
		fputs("</title></circle>\n", f->to);
	}
}

static double text_width(const char *text, double size)
{
	size_t n = strlen(text);

	return (double)(n < 60 ? n : 60) * size * SVG_CHARACTER;
}

/*
 * Draw the legend and return its number of lines; with @to NULL only count. Series without a name
 * have no entry.
 */
static unsigned legend(const char *const *name, const bool *limit, unsigned count, double y, FILE *to)
{
	double x = LEFT, wide;
	unsigned i, lines = 0;

	for (i = 0; i < count; i++) {
		if (!name[i] || !*name[i])
			continue;
		lines += !lines;
		wide = text_width(name[i], 13) + 40;
		if (x > LEFT && x + wide > WIDTH - RIGHT) {
			x = LEFT;
			y += 19;
			lines++;
		}
		if (to) {
			if (limit && limit[i])
				fprintf(to, "<line x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f' " SVG_AXIS " stroke-dasharray='4 3' stroke-width='1.8'/>", x,
					y - 4, x + 14, y - 4);
			else
				fprintf(to, "<rect x='%.1f' y='%.1f' width='12' height='12' fill='%s'/>", x, y - 11, svg_colour[i % SVG_COLOURS]);
			fprintf(to, "<text x='%.1f' y='%.1f' font-size='13'>", x + 18, y);
			svg_text(to, name[i], 60);
			fputs("</text>\n", to);
		}
		x += wide;
	}
	return lines;
}

#define LEGEND 24u

static void put_title(const char *title, double y, FILE *to)
{
	fprintf(to, "<text x='%.1f' y='%.1f' font-size='16' font-weight='bold'>", LEFT, y);
	svg_text(to, title, 110);
	fputs("</text>\n", to);
}

void chart_draw(const struct chart *c, bool page, FILE *to)
{
	unsigned count = c->count < LEGEND ? c->count : LEGEND, lines, i;
	const char *name[LEGEND];
	bool limit[LEGEND], any;
	struct frame f;

	for (i = 0; i < count; i++) {
		name[i] = c->series[i].name;
		limit[i] = c->series[i].mark == CHART_LIMIT;
	}
	measure(c, &f, &any);
	lines = legend(name, limit, count, 0, NULL);
	f.top = 46 + 19 * lines;
	f.to = to;
	svg_begin(to, WIDTH, f.top + HEIGHT + 52, c->title, page);
	put_title(c->title, 24, to);
	legend(name, limit, count, 48, to);
	ticks(&f.x, tick_x, &f);
	ticks(&f.y, tick_y, &f);
	fprintf(to, "<path d='M%.1f %.1fV%.1fH%.1f' fill='none' " SVG_AXIS "/>\n", LEFT, f.top, f.top + HEIGHT, WIDTH - RIGHT);
	for (i = 0; i < c->count; i++)
		draw_series(&f, i);
	fprintf(to, "<text x='%.1f' y='%.1f' font-size='13' text-anchor='middle'>", (LEFT + WIDTH - RIGHT) / 2, f.top + HEIGHT + 38);
	svg_text(to, c->x_name, 100);
	fprintf(to, "</text><text transform='translate(20 %.1f) rotate(-90)' font-size='13' text-anchor='middle'>", f.top + HEIGHT / 2);
	svg_text(to, c->y_name, 60);
	fputs("</text>\n", to);
	svg_end(to, page);
}

/* ---- Bars ------------------------------------------------------------------------------------------- */

static void measure_bars(const struct chart_bars *c, struct range *r, bool *any)
{
	unsigned i;

	*r = (struct range){ INFINITY, -INFINITY, c->log_x, false };
	for (i = 0; i < c->rows * c->count; i++)
		widen(r, c->value[i]);
	*any = fit_axis(r, true, true);
	/* keep the shortest bar visible */
	if (c->log_x && r->low > 0)
		r->low = pow(10, floor(log10(r->low)));
}

bool chart_bars_has(const struct chart_bars *c)
{
	struct range r;
	bool any;

	measure_bars(c, &r, &any);
	return any;
}

struct bar_ticks {
	const struct range *r;
	double left, top, bottom;
	FILE *to;
};

static double bar_x(const struct bar_ticks *t, double v)
{
	return t->left + (WIDTH - RIGHT - 50 - t->left) * fmin(fmax(position(t->r, v), 0), 1);
}

static void bar_tick(void *user, double v)
{
	const struct bar_ticks *t = user;

	fprintf(t->to, "<line x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f' " SVG_GRID "/><text x='%.1f' y='%.1f' font-size='12' text-anchor='middle'>%s</text>\n",
		bar_x(t, v), t->top, bar_x(t, v), t->bottom, bar_x(t, v), t->bottom + 16, chart_number(v).text);
}

void chart_draw_bars(const struct chart_bars *c, bool page, FILE *to)
{
	double names = 0, y, step = ROW * c->count + 7, zero;
	struct bar_ticks t = { .to = to };
	struct range r;
	unsigned i, k, lines;
	bool any;

	for (i = 0; i < c->rows; i++)
		names = fmax(names, text_width(c->row[i], 12.5));
	names = fmin(names, NAMES);
	measure_bars(c, &r, &any);
	lines = legend(c->series, NULL, c->count < LEGEND ? c->count : LEGEND, 0, NULL);
	t.r = &r;
	t.left = fmax(names + 20, LEFT);
	t.top = 42 + 19 * lines;
	t.bottom = t.top + step * c->rows + 4;
	svg_begin(to, WIDTH, t.bottom + 46, c->title, page);
	put_title(c->title, 24, to);
	legend(c->series, NULL, c->count < LEGEND ? c->count : LEGEND, 48, to);
	ticks(&r, bar_tick, &t);
	zero = bar_x(&t, r.logarithmic ? r.low : 0);
	for (i = 0; i < c->rows; i++) {
		y = t.top + 5 + step * i;
		fprintf(to, "<text x='%.1f' y='%.1f' font-size='12.5' text-anchor='end'>", t.left - 8, y + ROW * c->count / 2 + 4);
		svg_text(to, c->row[i], 60);
		fputs("</text>\n", to);
		for (k = 0; k < c->count; k++, y += ROW) {
			double v = c->value[i * c->count + k], x;

			if (!can_show(v, c->log_x))
				continue;
			x = bar_x(&t, v);
			fprintf(to, "<rect x='%.1f' y='%.1f' width='%.1f' height='%.1f' fill='%s'/><text x='%.1f' y='%.1f' font-size='11' " SVG_HALO ">%s</text>\n",
				fmin(x, zero), y, fmax(fabs(x - zero), 0.5), ROW - 2, svg_colour[k % SVG_COLOURS], fmax(x, zero) + 4, y + 10.5,
				chart_number(v).text);
		}
	}
	fprintf(to, "<path d='M%.1f %.1fV%.1f' fill='none' " SVG_AXIS "/>\n", zero, t.top, t.bottom);
	fprintf(to, "<text x='%.1f' y='%.1f' font-size='13' text-anchor='middle'>", (t.left + WIDTH - RIGHT - 50) / 2, t.bottom + 36);
	svg_text(to, c->x_name, 100);
	fputs("</text>\n", to);
	svg_end(to, page);
}
