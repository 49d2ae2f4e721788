// SPDX-License-Identifier: MIT
/* The table of an experiment: verdicts, rank correlation, text and JSON output. */
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
	struct lab_row *more;
	va_list ap;

	if (!isfinite(ours)) {
		t->without_value++;
		return;
	}
	more = realloc(t->row, (t->rows + 1) * sizeof(*more));
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

bool lab_row_aggregate(const struct lab_row *r)
{
	static const char *const names[] = { "all", "mean", "least", "most", "best", "rank order" };
	unsigned i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(r->graph, names[i]))
			return true;
	return false;
}

/* Rank of v[i] among @n: the number of smaller values, plus half of the equal ones. */
static double rank_of(const double *v, unsigned n, unsigned i)
{
	double rank = 0;
	unsigned k;

	for (k = 0; k < n; k++)
		rank += v[k] < v[i] ? 1 : v[k] == v[i] ? 0.5 : 0;
	return rank;
}

double lab_spearman(const double *a, const double *b, unsigned n)
{
	double ab = 0, aa = 0, bb = 0, x, y;
	unsigned i;

	for (i = 0; i < n; i++) {
		x = rank_of(a, n, i) - n / 2.0;
		y = rank_of(b, n, i) - n / 2.0;
		ab += x * y;
		aa += x * x;
		bb += y * y;
	}
	return aa > 0 && bb > 0 ? ab / sqrt(aa * bb) : NAN;
}

void lab_table_rank(struct lab_table *t)
{
	unsigned rows = t->rows, i, k, n;
	double *paper = calloc(2 * rows + 1, sizeof(*paper)), *ours = paper + rows;
	bool first;

	if (!paper) {
		t->no_memory = true;
		return;
	}
	for (i = 0; i < rows; i++) {
		struct lab_row of = t->row[i];

		for (n = k = 0, first = true; k < rows; k++) {
			const struct lab_row *r = &t->row[k];

			if (r->figure != of.figure || strcmp(r->what, of.what) || lab_row_aggregate(r) || isnan(r->paper) ||
			    r->rule == LAB_OPEN_RULE || r->rule == LAB_RANK_RULE)
				continue;
			first &= n || k == i;
			paper[n] = r->paper;
			ours[n++] = r->ours;
		}
		if (n >= 3 && first)
			lab_table_add(t, of.figure, "rank order", LAB_RANK_RULE, NAN, lab_spearman(paper, ours, n), "%s", of.what);
	}
	free(paper);
}

const char *lab_row_verdict(const struct lab_row *r)
{
	bool met;

	if (r->rule == LAB_RANK_RULE)
		return r->ours >= 0.8 ? "met" : "missed";
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

	printf("%8s  %-56s %-20.20s %9s %9s %10s  %s\n", "figure", "", "graph", "paper", "ours", "difference", "verdict");
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
	if (t->without_value)
		printf("%u %s no value over these graphs.\n", t->without_value, t->without_value == 1 ? "row has" : "rows have");
}

void lab_table_json(const struct lab_table *t, struct json *j)
{
	static const char *const rules[] = { "count", "speed-up", "open", "rank" };
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
	json_u64(j, "rows_without_value", t->without_value);
}

void lab_table_free(struct lab_table *t)
{
	free(t->row);
	*t = (struct lab_table){ 0 };
}
