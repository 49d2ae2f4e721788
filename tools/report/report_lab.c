// SPDX-License-Identifier: MIT
/* gtu report: sections for `gtu lab run` and `gtu lab check`. */
#include <math.h>
#include <string.h>

#include "lab_plot.h"
#include "lab_table.h"
#include "report.h"

void report_title_lab(const struct json_value *doc, char *text, size_t size)
{
	const char *machine = json_get_string(doc, "machine");

	snprintf(text, size, "%s on machine %s", json_get_string(doc, "experiment"), machine ? machine : "?");
}

void report_title_check(const struct json_value *doc, char *text, size_t size)
{
	snprintf(text, size, "counts of %s", json_get_string(doc, "folder"));
}

static void copy_text(char *to, size_t size, const char *from)
{
	snprintf(to, size, "%s", from ? from : "");
}

/* Rebuild the laboratory's table; invalid rows are left out. */
static void rebuild(struct lab_table *t, const struct json_value *doc)
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

static void put_rows(struct report *r, const struct lab_table *t)
{
	char difference[32];
	unsigned i;

	report_table(r, "figure||graph|#paper|#ours|#null model|#difference|rule|verdict|reason");
	for (i = 0; i < t->rows; i++) {
		const struct lab_row *row = &t->row[i];
		const char *verdict = lab_row_verdict(t, row);

		report_row(r, "");
		report_cell(r, lab_figure_name(row->figure).text);
		report_cell(r, row->what);
		report_cell(r, row->graph);
		if (isfinite(row->paper) && row->rule != LAB_RANGE_RULE)
			report_cell_number(r, row->paper);
		else
			report_cell_class(r, "n", isnan(row->paper) ? "" : lab_row_paper(row).text);
		report_cell_number(r, row->ours);
		report_cell_number(r, lab_row_null(t, row));
		*difference = 0;
		if (isfinite(lab_row_difference(row)))
			snprintf(difference, sizeof(difference), "%+.0f%%", 100 * lab_row_difference(row));
		report_cell_class(r, "n", difference);
		report_cell(r, lab_rule_name(row->rule));
		report_cell_class(r, verdict, verdict);
		report_cell(r, lab_row_reason(t, row));
	}
	report_end_table(r);
}

static void put_graphs(struct report *r, const struct json_value *doc)
{
	const struct json_value *graphs = json_get_kind(doc, "graphs", JSON_ARRAY), *g;

	if (!graphs || !graphs->count)
		return;
	report_table(r, "graph||#vertices|#edges");
	for json_each(g, graphs) {
		const struct json_value *stand_in = json_get_kind(g, "stand_in", JSON_BOOL);

		report_row(r, "");
		report_cell(r, json_get_string(g, "name"));
		report_cell(r, report_words(r, "%s%s", stand_in && stand_in->number > 0 ? "stand-in: " : "",
					    json_get_string(g, "graph") ? json_get_string(g, "graph") : ""));
		report_cell_number(r, json_get_number(g, "vertices", NAN));
		report_cell_number(r, json_get_number(g, "edges", NAN));
	}
	report_end_table(r);
}

void report_lab(struct report *r, const struct json_value *doc)
{
	const struct json_value *set;
	struct lab_table t = { 0 };
	struct lab_score score;
	char head[200];

	rebuild(&t, doc);
	r->no_memory |= t.no_memory;
	score = lab_table_score(&t);
	report_facts(r);
	report_fact_text(r, "machine", json_get_string(doc, "machine"));
	for json_each(set, json_get(doc, "set"))
		report_fact_text(r, "changed", set->string);
	report_fact(r, "by the rule", "%s; %u not judged", lab_score_text(&score).text, score.unjudged);
	report_fact_number(r, "checked", json_get_number(doc, "results_checked", NAN), "results equal to the reference's");
	report_fact_number(r, "simulated", json_get_number(doc, "warp_instructions", NAN), "warp instructions");
	report_end_table(r);
	report_line(r, "Criteria: counts within 15% of the paper's; speed-ups on its side of the null value and within a third of its logarithm; "
		    "ranges; directions by 1%; rank order (Spearman's) at least 0.8; curves by rank order, and nearer than the null model's. A row "
		    "that the null model (a simulator without the effect) meets is missed. The paper's bars are hatched.");
	put_graphs(r, doc);
	report_title_lab(doc, head, sizeof(head));
	if (t.rows)
		lab_plot(&t, head, r->page, r->to);
	fputs("<details open><summary>All rows</summary>\n", r->to);
	put_rows(r, &t);
	fputs("</details>\n", r->to);
	lab_table_free(&t);
}

static void put_ratio(struct report *r, const struct json_value *kernel, const char *key)
{
	const struct json_value *ratio = json_get_kind(kernel, key, JSON_OBJECT);
	double mean = json_get_number(ratio, "geometric_mean", NAN);

	if (isnan(mean))
		report_cell_class(r, "n", "");
	else
		report_cell_class(r, "n", report_words(r, "%.2f (%.2f-%.2f)", mean, json_get_number(ratio, "min", NAN),
						       json_get_number(ratio, "max", NAN)));
}

void report_check(struct report *r, const struct json_value *doc)
{
	const struct json_value *v;

	report_table(r, "class|#rows|#equal");
	for json_each(v, json_get(doc, "classes")) {
		if (!v->key || !(json_get_number(v, "rows", 0) > 0))
			continue;
		report_row(r, "");
		report_cell(r, v->key);
		report_cell_number(r, json_get_number(v, "rows", NAN));
		report_cell_number(r, json_get_number(v, "equal", NAN));
	}
	report_end_table(r);
	report_line(r, "Ratios are our count / the independent count: geometric mean (least-greatest) over the graphs.");
	report_table(r, "kernel|machine|#exact rows|#equal|#cycles|#L1 read misses|#L2 accesses");
	for json_each(v, json_get(doc, "kernels")) {
		report_row(r, "");
		report_cell(r, json_get_string(v, "kernel"));
		report_cell(r, json_get_string(v, "machine"));
		report_cell_number(r, json_get_number(v, "exact_rows", NAN));
		report_cell_number(r, json_get_number(v, "exact_equal", NAN));
		put_ratio(r, v, "cycles");
		put_ratio(r, v, "l1_read_misses");
		put_ratio(r, v, "l2_accesses");
	}
	report_end_table(r);
	for json_each(v, json_get(doc, "mismatches")) {
		fputs("<p class=\"missed\">differs: ", r->to);
		report_text(r, json_get_string(v, "row") ? json_get_string(v, "row") : "");
		fprintf(r->to, " is %s, ", report_digits(json_get_number(v, "value", NAN)).text);
		fprintf(r->to, "ours %s</p>\n", report_digits(json_get_number(v, "ours", NAN)).text);
	}
}
