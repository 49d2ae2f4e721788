// SPDX-License-Identifier: MIT
/* gtu report: the section for `gtu lab run --sweep`; --plot uses its chart, too. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab_table.h"
#include "report.h"

#define LINES 8u			/* most lines that a chart can distinguish */

struct line {
	const struct json_value *row;
	double change;			/* logarithm of greatest / least value */
	bool aggregate;
};

static const struct json_value *values_of(const struct json_value *doc)
{
	return json_get_kind(json_get_kind(doc, "sweep", JSON_OBJECT), "values", JSON_ARRAY);
}

static const char *key_of(const struct json_value *doc)
{
	const char *key = json_get_string(json_get_kind(doc, "sweep", JSON_OBJECT), "key");

	return key ? key : "?";
}

void report_title_sweep(const struct json_value *doc, char *text, size_t size)
{
	const char *machine = json_get_string(doc, "machine");

	snprintf(text, size, "%s on machine %s, over %s", json_get_string(doc, "experiment"), machine ? machine : "?", key_of(doc));
}

/*
 * Prepare a row for the chart; false if a number is missing or not above 0, or a name is missing.
 */
static bool line_of(const struct json_value *row, size_t values, struct line *l)
{
	const struct json_value *ours = json_get_kind(row, "ours", JSON_ARRAY), *v;
	double min = INFINITY, max = 0;
	struct lab_row r = { 0 };
	const char *graph = json_get_string(row, "graph");

	if (!ours || ours->count != values || !graph || !json_get_string(row, "what"))
		return false;
	for json_each(v, ours) {
		if (v->kind != JSON_NUMBER || !(v->number > 0))
			return false;
		min = fmin(min, v->number);
		max = fmax(max, v->number);
	}
	snprintf(r.graph, sizeof(r.graph), "%s", graph);
	*l = (struct line){ row, log(max / min), lab_row_aggregate(&r) };
	return true;
}

/* Order: means and extremes before single graphs, then the greatest change first. */
static int by_change(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	if (x->aggregate != y->aggregate)
		return x->aggregate ? -1 : 1;
	return (x->change < y->change) - (x->change > y->change);
}

/* The values as numbers if all are numbers with the same unit, otherwise 1, 2, 3. */
static void positions(const struct json_value *values, double *x)
{
	const char *unit = NULL;
	const struct json_value *v;
	bool numbers = true;
	unsigned i = 0;
	char *end;

	for json_each(v, values) {
		x[i++] = v->string ? strtod(v->string, &end) : NAN;
		numbers &= v->string && end != v->string && (!unit || !strcmp(unit, end));
		unit = v->string ? end : "";
	}
	for (i = 0; !numbers && i < values->count; i++)
		x[i] = i + 1;
}

/* Draw the lines with the greatest changes, relative to their first values. */
void report_chart_sweep(struct report *r, const struct json_value *doc)
{
	const struct json_value *values = values_of(doc), *rows = json_get_kind(doc, "rows", JSON_ARRAY), *row, *v;
	size_t n = values ? values->count : 0, max = rows ? rows->count : 0, lines = 0, i, k;
	struct chart_series *series = report_alloc(r, LINES, sizeof(*series));
	struct line *line = report_alloc(r, max, sizeof(*line));
	double *x = report_alloc(r, n, sizeof(*x)), *y;
	char title[200];
	struct chart c = { .title = title, .x_name = key_of(doc), .y_name = "relative to the first value", .log_y = true, .series = series };

	snprintf(title, sizeof(title), "%s: greatest changes with %s", json_get_string(doc, "experiment"), key_of(doc));
	if (!n || !series || !line || !x)
		return;
	positions(values, x);
	for json_each(row, rows)
		lines += line_of(row, n, &line[lines]);
	qsort(line, lines, sizeof(*line), by_change);
	for (i = 0; i < lines && i < LINES; i++) {
		char *name = report_words(r, "%s, %s", json_get_string(line[i].row, "what"), json_get_string(line[i].row, "graph"));

		y = report_alloc(r, n, sizeof(*y));
		if (!name || !y)
			return;
		k = 0;
		for json_each(v, json_get(line[i].row, "ours"))
			y[k++] = v->number / json_get(line[i].row, "ours")->first->number;
		series[c.count++] = (struct chart_series){ .name = name, .x = x, .y = y, .n = (unsigned)n, .mark = CHART_LINE };
	}
	chart_draw(&c, r->page, r->to);
}

static void put_rows(struct report *r, const struct json_value *doc)
{
	const struct json_value *row, *v;
	char heads[1024] = "figure||graph|#paper";
	double figure;

	for json_each(v, values_of(doc))
		if (v->string && strlen(heads) + strlen(v->string) + 3 < sizeof(heads))
			sprintf(heads + strlen(heads), "|#%s", v->string);
	report_table(r, heads);
	for json_each(row, json_get_kind(doc, "rows", JSON_ARRAY)) {
		figure = json_get_number(row, "figure", json_get_number(row, "table", 0) + LAB_TABLE(0));
		if (!(figure >= 1 && figure < 2 * LAB_TABLE(0)))
			continue;
		report_row(r, "");
		report_cell(r, lab_figure_name((unsigned)figure).text);
		report_cell(r, json_get_string(row, "what"));
		report_cell(r, json_get_string(row, "graph"));
		report_cell_number(r, json_get_number(row, "paper", NAN));
		for json_each(v, json_get_kind(row, "ours", JSON_ARRAY))
			report_cell_number(r, v->kind == JSON_NUMBER ? v->number : NAN);
	}
	report_end_table(r);
}

void report_sweep(struct report *r, const struct json_value *doc)
{
	const struct json_value *set;

	report_facts(r);
	report_fact_text(r, "machine", json_get_string(doc, "machine"));
	for json_each(set, json_get_kind(doc, "set", JSON_ARRAY))
		report_fact_text(r, "changed", set->string);
	report_fact_number(r, "checked", json_get_number(doc, "results_checked", NAN), "results equal to the reference's");
	report_fact_number(r, "simulated", json_get_number(doc, "warp_instructions", NAN), "warp instructions");
	report_end_table(r);
	report_chart_sweep(r, doc);
	fputs("<details open><summary>All rows</summary>\n", r->to);
	put_rows(r, doc);
	fputs("</details>\n", r->to);
}
