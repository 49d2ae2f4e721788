// SPDX-License-Identifier: MIT
/* The table of an experiment: rows, text and JSON output. */
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

bool lab_table_add(struct lab_table *t, unsigned figure, const char *graph, enum lab_rule rule, double paper,
		   double ours, const char *what, ...)
{
	struct lab_row *more;
	va_list ap;

	if (!isfinite(ours)) {
		t->without_value++;
		return false;
	}
	more = realloc(t->row, (t->rows + 1) * sizeof(*more));
	if (!more) {
		t->no_memory = true;
		return false;
	}
	t->row = more;
	more += t->rows++;
	*more = (struct lab_row){ .figure = figure, .rule = rule, .paper = paper, .ours = ours, .null = 1, .high = NAN };
	snprintf(more->graph, sizeof(more->graph), "%s", graph);
	va_start(ap, what);
	vsnprintf(more->what, sizeof(more->what), what, ap);
	va_end(ap);
	return true;
}

bool lab_row_aggregate(const struct lab_row *r)
{
	static const char *const names[] = { "all", "mean", "least", "most", "best", "rank order", "curve" };
	unsigned i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(r->graph, names[i]))
			return true;
	return false;
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
	char null[32], difference[32];
	unsigned i;

	printf("%8s  %-56s %-20.20s %9s %9s %9s %10s  %-10s  %-7s %s\n", "figure", "", "graph", "paper", "ours", "null", "difference", "rule",
	       "verdict", "reason");
	for (i = 0; i < t->rows; i++) {
		const struct lab_row *r = &t->row[i];
		const char *verdict = lab_row_verdict(t, r), *reason = lab_row_reason(t, r);

		if (isnan(r->paper) && !*verdict)
			reason = r->reason; /* the table shows that there is no number */
		snprintf(null, sizeof(null), isnan(lab_row_null(t, r)) ? "-" : "%.3f", lab_row_null(t, r));
		snprintf(difference, sizeof(difference), isnan(lab_row_difference(r)) ? "-" : "%+.0f%%", 100 * lab_row_difference(r));
		printf("%8.8s  %-56s %-20.20s %9s %9.3f %9s %10s  %-10s  %s", lab_figure_name(r->figure).text, r->what, r->graph,
		       lab_row_paper(r).text, r->ours, null, difference, lab_rule_name(r->rule), verdict);
		printf(*reason ? "%*s%s\n" : "\n", 8 - (int)strlen(verdict), "", reason);
	}
	if (t->without_value)
		printf("%u %s no value over these graphs.\n", t->without_value, t->without_value == 1 ? "row has" : "rows have");
}

void lab_table_json(const struct lab_table *t, struct json *j)
{
	const struct lab_score score = lab_table_score(t);
	unsigned i;

	json_begin_array(j, "rows");
	for (i = 0; i < t->rows; i++) {
		const struct lab_row *r = &t->row[i];
		const char *verdict = lab_row_verdict(t, r), *reason = lab_row_reason(t, r);

		json_begin_object(j, NULL);
		json_u64(j, r->figure < LAB_TABLE(0) ? "figure" : "table", r->figure % LAB_TABLE(0));
		json_string(j, "what", r->what);
		json_string(j, "graph", r->graph);
		json_double(j, "paper", r->paper);
		if (isfinite(r->high))
			json_double(j, r->rule == LAB_RANGE_RULE ? "high" : "distance", r->high);
		if (r->rule == LAB_DIRECTION_RULE)
			json_string(j, "direction", lab_row_paper(r).text);
		json_double(j, "ours", r->ours);
		json_double(j, "null", lab_row_null(t, r));
		json_double(j, "difference", lab_row_difference(r));
		json_string(j, "rule", lab_rule_name(r->rule));
		json_string(j, "verdict", *verdict ? verdict : NULL);
		json_string(j, "reason", *reason ? reason : NULL);
		if (*r->curve)
			json_string(j, "curve", r->curve);
		json_end_object(j);
	}
	json_end_array(j);
	json_u64(j, "rows_without_value", t->without_value);
	json_begin_object(j, "score");
	json_u64(j, "judged", score.judged);
	json_u64(j, "met", score.met);
	json_u64(j, "null_met", score.null_met);
	json_end_object(j);
}

static void copy_text(char *to, size_t size, const char *from)
{
	snprintf(to, size, "%s", from ? from : "");
}

void lab_table_read(struct lab_table *t, const struct json_value *doc)
{
	const struct json_value *row;
	struct lab_row *last;

	for json_each(row, json_get(doc, "rows")) {
		const char *what = json_get_string(row, "what"), *graph = json_get_string(row, "graph"), *rule = json_get_string(row, "rule");
		const char *direction = json_get_string(row, "direction");
		double figure = json_get_number(row, "figure", NAN), table = json_get_number(row, "table", NAN);
		double paper = json_get_number(row, "paper", NAN);
		bool is_table = isnan(figure);

		if (is_table)
			figure = table;
		if (!what || !graph || !rule || !(figure >= 1 && figure < LAB_TABLE(0)) || lab_rule_named(rule) == LAB_RULES)
			continue;
		if (direction)
			paper = !strcmp(direction, "more") ? LAB_MORE : !strcmp(direction, "less") ? LAB_LESS : NAN;
		if (!lab_table_add(t, is_table ? LAB_TABLE((unsigned)figure) : (unsigned)figure, graph, lab_rule_named(rule), paper,
				   json_get_number(row, "ours", NAN), "%s", what))
			continue;
		last = &t->row[t->rows - 1];
		last->null = json_get_number(row, "null", 1);
		last->high = json_get_number(row, "high", json_get_number(row, "distance", NAN));
		copy_text(last->curve, sizeof(last->curve), json_get_string(row, "curve"));
		copy_text(last->reason, sizeof(last->reason), json_get_string(row, "reason"));
	}
}

void lab_table_free(struct lab_table *t)
{
	free(t->row);
	*t = (struct lab_table){ 0 };
}
