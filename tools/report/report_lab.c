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

	lab_table_read(&t, doc);
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
		    "that the null model (a simulator without the effect) meets is missed. The paper's bars are hatched; dashed lines are the null model's.");
	put_graphs(r, doc);
	report_title_lab(doc, head, sizeof(head));
	if (t.rows)
		lab_plot(&t, head, r->page, r->to);
	fputs("<details open><summary>All rows</summary>\n", r->to);
	put_rows(r, &t);
	fputs("</details>\n", r->to);
	lab_table_free(&t);
}

void report_scores(struct report *r, const struct report_file *file, unsigned files)
{
	struct lab_score all = { 0 };
	unsigned i, n = 0;

	for (i = 0; i < files; i++)
		n += file[i].kind->section == report_lab;
	if (n < 2)
		return;
	fputs("<h2 id=\"scores\">Rows of the papers</h2>\n", r->to);
	report_table(r, "paper|#judged|#met|#share|#met by the null model|#not judged");
	for (i = 0; i <= files; i++) {
		struct lab_table t = { 0 };
		struct lab_score score;

		if (i < files && file[i].kind->section != report_lab)
			continue;
		if (i < files)
			lab_table_read(&t, file[i].doc);
		r->no_memory |= t.no_memory;
		score = i < files ? lab_table_score(&t) : all;
		lab_table_free(&t);
		lab_score_add(&all, &score);
		report_row(r, "");
		report_cell(r, i < files ? json_get_string(file[i].doc, "experiment") : "all");
		report_cell_number(r, score.judged);
		report_cell_number(r, score.met);
		report_cell_class(r, "n", score.judged ? report_words(r, "%.0f%%", 100.0 * score.met / score.judged) : "");
		report_cell_number(r, score.null_met);
		report_cell_number(r, score.unjudged);
	}
	report_end_table(r);
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
