// SPDX-License-Identifier: MIT
#include "lab_table.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct lab_figure_name lab_figure_name(unsigned figure)
{
	struct lab_figure_name name;

	snprintf(name.text, sizeof(name.text), figure < LAB_TABLE(0) ? "%u" : "table %u", figure % LAB_TABLE(0));
	return name;
}

void lab_table_add(struct lab_table *t, unsigned figure, const char *graph, enum lab_rule rule, double paper,
		   double ours, const char *what, ...)
{
	struct lab_row *more = realloc(t->row, (t->rows + 1) * sizeof(*more));
	va_list ap;

	if (!more) {
		t->no_memory = true;
		return;
	}
	t->row = more;
	more += t->rows++;
	*more = (struct lab_row){ .figure = figure, .rule = rule, .paper = paper, .ours = ours };
	snprintf(more->graph, sizeof(more->graph), "%s", graph);
	va_start(ap, what);
	vsnprintf(more->what, sizeof(more->what), what, ap);
	va_end(ap);
}

const char *lab_row_verdict(const struct lab_row *r)
{
	bool met;

	if (r->rule == LAB_OPEN_RULE || isnan(r->paper))
		return "";
	if (!(r->ours > 0))
		return "missed";
	if (r->rule == LAB_COUNT_RULE)
		met = fabs(r->ours / r->paper - 1) <= 0.15;
	else if (fabs(r->paper - 1) < 0.1)
		return "";
	else
		met = (r->ours > 1) == (r->paper > 1) && fabs(log(r->ours / r->paper)) <= fabs(log(r->paper)) / 3;
	return met ? "met" : "missed";
}

void lab_table_sort(struct lab_table *t)
{
	struct lab_row row;
	unsigned i, k;

	for (i = 1; i < t->rows; i++) {
		row = t->row[i];
		for (k = i; k && t->row[k - 1].figure > row.figure; k--)
			t->row[k] = t->row[k - 1];
		t->row[k] = row;
	}
}

void lab_table_print(const struct lab_table *t)
{
	char paper[32], difference[32];
	unsigned i;

	printf("%8s  %-56s %-20.20s %9s %9s %10s  %s\n", "figure", "", "graph", "paper", "ours", "difference", "by the rule");
	for (i = 0; i < t->rows; i++) {
		const struct lab_row *r = &t->row[i];

		snprintf(paper, sizeof(paper), "-");
		snprintf(difference, sizeof(difference), "-");
		if (!isnan(r->paper)) {
			snprintf(paper, sizeof(paper), "%.3f", r->paper);
			snprintf(difference, sizeof(difference), "%+.0f%%", 100 * (r->ours / r->paper - 1));
		}
		printf("%8.8s  %-56s %-20.20s %9s %9.3f %10s  %s\n", lab_figure_name(r->figure).text, r->what, r->graph, paper, r->ours, difference,
		       lab_row_verdict(r));
	}
}

void lab_table_json(const struct lab_table *t, struct json *j)
{
	static const char *const rules[] = { "count", "speed-up", "open" };
	unsigned i;

	json_begin_array(j, "rows");
	for (i = 0; i < t->rows; i++) {
		const struct lab_row *r = &t->row[i];

		json_begin_object(j, NULL);
		json_u64(j, r->figure < LAB_TABLE(0) ? "figure" : "table", r->figure % LAB_TABLE(0));
		json_string(j, "what", r->what);
		json_string(j, "graph", r->graph);
		json_double(j, "paper", r->paper);
		json_double(j, "ours", r->ours);
		json_double(j, "difference", r->ours / r->paper - 1);
		json_string(j, "rule", rules[r->rule]);
		json_string(j, "verdict", *lab_row_verdict(r) ? lab_row_verdict(r) : NULL);
		json_end_object(j);
	}
	json_end_array(j);
}

void lab_table_free(struct lab_table *t)
{
	free(t->row);
	*t = (struct lab_table){ 0 };
}
