// SPDX-License-Identifier: MIT
/* Tests of the laboratory's result tables: verdicts, rank order, bar charts. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"
#include "tools/report/lab_plot.h"
#include "tools/report/lab_table.h"
#include "tools/support/json.h"
#include "tools/support/svg.h"

TEST(spearman_correlation_has_its_known_values)
{
	static const double a[] = { 1, 2, 3, 4, 5 }, same[] = { 10, 20, 30, 400, 5000 }, back[] = { 5, 4, 3, 2, 1 };
	static const double swapped[] = { 1, 2, 3, 5, 4 }, ties[] = { 1, 1, 2, 3, 4 }, one[] = { 7, 7, 7, 7, 7 };

	CHECK(fabs(lab_spearman(a, same, 5) - 1) < 1e-12);
	CHECK(fabs(lab_spearman(a, back, 5) + 1) < 1e-12);
	/* 1 - 6 * sum of squares / (n (n^2 - 1)), with two rank differences of 1 */
	CHECK(fabs(lab_spearman(a, swapped, 5) - (1 - 6 * 2 / 120.0)) < 1e-12);
	/* ranks 1.5 1.5 3 4 5 against 1 to 5: covariance 9.5 of sums of squares 9.5 and 10 */
	CHECK(fabs(lab_spearman(a, ties, 5) - 9.5 / sqrt(9.5 * 10)) < 1e-12);
	CHECK(isnan(lab_spearman(a, one, 5)));
}

TEST(rank_order_needs_three_graphs)
{
	struct lab_table t = { 0 };
	unsigned i, ranks = 0;

	lab_table_add(&t, 10, "a", LAB_COUNT_RULE, 5.16, 4, "BFS UVM: bytes read");
	lab_table_add(&t, 10, "b", LAB_COUNT_RULE, 2.28, 3, "BFS UVM: bytes read");
	lab_table_add(&t, 10, "c", LAB_COUNT_RULE, 1.14, 2, "BFS UVM: bytes read");
	lab_table_add(&t, 10, "most", LAB_COUNT_RULE, 1, 9, "BFS UVM: bytes read");
	lab_table_add(&t, 10, "a", LAB_COUNT_RULE, 1, 1, "BFS: two only");
	lab_table_add(&t, 10, "b", LAB_COUNT_RULE, 2, 2, "BFS: two only");
	lab_table_add(&t, 9, "a", LAB_COUNT_RULE, 1, 3, "reversed: x");
	lab_table_add(&t, 9, "b", LAB_COUNT_RULE, 2, 2, "reversed: x");
	lab_table_add(&t, 9, "c", LAB_COUNT_RULE, 3, 1, "reversed: x");
	lab_table_add(&t, 8, "a", LAB_OPEN_RULE, 1, 3, "open: x");
	lab_table_add(&t, 8, "b", LAB_OPEN_RULE, 2, 2, "open: x");
	lab_table_add(&t, 8, "c", LAB_OPEN_RULE, 3, 1, "open: x");
	lab_table_rank(&t);
	for (i = 0; i < t.rows; i++) {
		if (t.row[i].rule != LAB_RANK_RULE)
			continue;
		ranks++;
		CHECK(t.row[i].ours == (t.row[i].figure == 10 ? 1 : -1));
		CHECK(!strcmp(lab_row_verdict(&t, &t.row[i]), t.row[i].figure == 10 ? "met" : "missed"));
		CHECK(lab_row_aggregate(&t.row[i]));
	}
	CHECKF(ranks == 2, "%u rank orders", ranks);
	lab_table_free(&t);
}

/* A table of one row. */
static struct lab_table one(enum lab_rule rule, double paper, double ours, double null, double high)
{
	struct lab_table t = { 0 };

	if (lab_table_add(&t, 5, "mean", rule, paper, ours, "x")) {
		t.row->null = null;
		t.row->high = high;
	}
	return t;
}

TEST(each_rule_gives_its_verdict)
{
	static const struct { enum lab_rule rule; double paper, ours, null, high; const char *verdict; bool null_meets; } of[] = {
		{ LAB_COUNT_RULE, 2, 2.3, 1, NAN, "met", false }, { LAB_COUNT_RULE, 2, 2.31, 1, NAN, "missed", false },
		{ LAB_COUNT_RULE, 2, 1.71, 1, NAN, "met", false }, { LAB_COUNT_RULE, 2, 1.69, 1, NAN, "missed", false },
		{ LAB_COUNT_RULE, 2, 0, 1, NAN, "missed", false }, { LAB_COUNT_RULE, 2, -2, 1, NAN, "missed", false },
		/* the null model prints 1, or its own value */
		{ LAB_COUNT_RULE, 1.05, 1.05, 1, NAN, "missed", true }, { LAB_COUNT_RULE, 1.05, 1.05, 0, NAN, "met", false },
		{ LAB_COUNT_RULE, 4, 4, 3.5, NAN, "missed", true }, { LAB_COUNT_RULE, NAN, 4, 1, NAN, "", false },
		{ LAB_SPEEDUP_RULE, 8, 4, 1, NAN, "met", false }, { LAB_SPEEDUP_RULE, 8, 3.99, 1, NAN, "missed", false },
		{ LAB_SPEEDUP_RULE, 8, 15.9, 1, NAN, "met", false }, { LAB_SPEEDUP_RULE, 8, 16.1, 1, NAN, "missed", false },
		{ LAB_SPEEDUP_RULE, 0.5, 0.6, 1, NAN, "met", false }, { LAB_SPEEDUP_RULE, 0.5, 1.01, 1, NAN, "missed", false },
		{ LAB_SPEEDUP_RULE, 1.05, 1, 1, NAN, "missed", false }, { LAB_SPEEDUP_RULE, 1.05, 1.04, 1, NAN, "met", false },
		{ LAB_SPEEDUP_RULE, 8, 4, 4, NAN, "missed", false }, { LAB_SPEEDUP_RULE, 8, 7, 4, NAN, "met", false },
		{ LAB_SPEEDUP_RULE, 8, 0, 1, NAN, "missed", false },
		{ LAB_RANGE_RULE, 0.25, 0.25, 0, 0.55, "met", false }, { LAB_RANGE_RULE, 0.25, 0.55, 0, 0.55, "met", false },
		{ LAB_RANGE_RULE, 0.25, 0.24, 0, 0.55, "missed", false }, { LAB_RANGE_RULE, 0.25, 0.56, 0, 0.55, "missed", false },
		{ LAB_RANGE_RULE, 0.9, 1, 1, 1.1, "missed", true }, { LAB_RANGE_RULE, 0.9, 1, 1.6, 1.1, "met", false },
		{ LAB_DIRECTION_RULE, LAB_MORE, 1.01, 1, NAN, "met", false }, { LAB_DIRECTION_RULE, LAB_MORE, 1.009, 1, NAN, "missed", false },
		{ LAB_DIRECTION_RULE, LAB_LESS, 0.99, 1, NAN, "met", false }, { LAB_DIRECTION_RULE, LAB_LESS, 0.991, 1, NAN, "missed", false },
		{ LAB_DIRECTION_RULE, LAB_LESS, 1.5, 1, NAN, "missed", false }, { LAB_DIRECTION_RULE, LAB_LESS, 1.5, 2, NAN, "met", false },
		{ LAB_DIRECTION_RULE, LAB_LESS, -0.4, 0, NAN, "met", false }, { LAB_DIRECTION_RULE, LAB_LESS, 0, 0, NAN, "missed", false },
		{ LAB_DIRECTION_RULE, LAB_MORE, 0.4, 0, NAN, "met", false },
		/* too few points for a curve */
		{ LAB_CURVE_RULE, 1.05, 1.04, 1, NAN, "met", false }, { LAB_CURVE_RULE, 1.05, 1, 1, NAN, "missed", false },
		{ LAB_RANK_RULE, NAN, 0.8, 1, NAN, "met", false }, { LAB_RANK_RULE, NAN, 0.79, 1, NAN, "missed", false },
		{ LAB_OPEN_RULE, 2, 2, 1, NAN, "", false }, { LAB_CALIBRATED_RULE, 2, 2, 1, NAN, "", false },
		{ LAB_INPUT_RULE, 2, 2, 1, NAN, "", false },
	};
	unsigned i;

	for (i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		struct lab_table t = one(of[i].rule, of[i].paper, of[i].ours, of[i].null, of[i].high);
		struct lab_score score = lab_table_score(&t);
		bool judged = *of[i].verdict;

		CHECKF(!strcmp(lab_row_verdict(&t, t.row), of[i].verdict), "%u, %s: paper %g, ours %g: '%s'", i, lab_rule_name(of[i].rule),
		       of[i].paper, of[i].ours, lab_row_verdict(&t, t.row));
		CHECKF(score.judged == judged && score.unjudged == !judged && score.met == !strcmp(of[i].verdict, "met") &&
		       score.null_met == of[i].null_meets, "%u: %s", i, lab_score_text(&score).text);
		CHECKF(!of[i].null_meets || strstr(lab_row_reason(&t, t.row), "null model"), "%u: '%s'", i, lab_row_reason(&t, t.row));
		CHECKF(judged || *lab_row_reason(&t, t.row), "%u: no reason", i);
		lab_table_free(&t);
	}
}

/* Three points of one curve and two of another; @ours of the three. */
static struct lab_table curves(const double *ours)
{
	static const double paper[] = { 0.93, 0.97, 0.99, 1.02, 1.04 };
	struct lab_table t = { 0 };
	unsigned i;

	for (i = 0; i < 5; i++)
		if (lab_table_add(&t, 10, "mean", LAB_CURVE_RULE, paper[i], i < 3 ? ours[i] : paper[i], "%u KB", 8u << i))
			snprintf(t.row[i].curve, sizeof(t.row[i].curve), i < 3 ? "three" : "two");
	lab_table_rank(&t);
	return t;
}

TEST(curve_is_judged_by_order_and_distance)
{
	static const struct { double ours[3]; const char *verdict; } of[] = {
		{ { 0.93, 0.97, 0.99 }, "met" }, { { 0.95, 0.98, 0.985 }, "met" },
		{ { 1, 1, 1 }, "missed" },	/* the null model */
		{ { 0.97, 0.93, 0.99 }, "missed" }, /* Spearman's 0.5 */
		{ { 0.80, 0.85, 0.90 }, "missed" }, /* in order, but farther away than the null model */
	};
	unsigned i;

	for (i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		struct lab_table t = curves(of[i].ours);
		struct lab_score score = lab_table_score(&t);

		CHECKF(t.rows == 6, "%u rows", t.rows);
		CHECK(!*lab_row_verdict(&t, &t.row[0]) && !strcmp(lab_row_verdict(&t, &t.row[3]), "met"));
		CHECK(!strcmp(t.row[5].graph, "curve") && !strcmp(t.row[5].what, "three") && lab_row_aggregate(&t.row[5]));
		CHECKF(!strcmp(lab_row_verdict(&t, &t.row[5]), of[i].verdict), "%u: Spearman's %g, distance %g", i, t.row[5].ours, t.row[5].high);
		CHECKF(score.judged == 3 && score.null_met == 0, "%s", lab_score_text(&score).text);
		lab_table_free(&t);
	}
}

TEST(a_row_without_what_its_rule_needs_is_incomplete)
{
	static const struct { enum lab_rule rule; double paper, high; bool complete; } of[] = {
		{ LAB_OPEN_RULE, NAN, NAN, true }, { LAB_OPEN_RULE, 2, NAN, false },
		{ LAB_RANGE_RULE, 1, 2, true }, { LAB_RANGE_RULE, 1, NAN, false }, { LAB_RANGE_RULE, 1, 1, false },
		{ LAB_DIRECTION_RULE, LAB_MORE, NAN, true }, { LAB_DIRECTION_RULE, 2, NAN, false }, { LAB_COUNT_RULE, LAB_LESS, NAN, false },
	};
	unsigned i;

	for (i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		struct lab_table t = one(of[i].rule, of[i].paper, 1, 1, of[i].high);

		CHECKF((lab_table_incomplete(&t) == NULL) == of[i].complete, "%u", i);
		snprintf(t.row->reason, sizeof(t.row->reason), "the other reading");
		CHECKF((lab_table_incomplete(&t) == NULL) == (of[i].complete || of[i].rule == LAB_OPEN_RULE), "%u with a reason", i);
		lab_table_free(&t);
	}
}

TEST(scores_and_published_values_are_written_as_text)
{
	const struct lab_score score = { .judged = 20, .met = 12, .null_met = 3, .unjudged = 5 }, none = { 0 };
	struct lab_row row = { .rule = LAB_RANGE_RULE, .paper = 0.25, .high = 0.55, .ours = 0.4 };

	CHECK(!strcmp(lab_score_text(&score).text, "12 of 20 judged rows met (60%), null model 3"));
	CHECK(!strcmp(lab_score_text(&none).text, "0 of 0 judged rows met (0%), null model 0"));
	CHECK(!strcmp(lab_row_paper(&row).text, "0.25-0.55") && fabs(lab_row_published(&row) - 0.4) < 1e-12 && isnan(lab_row_difference(&row)));
	row = (struct lab_row){ .rule = LAB_DIRECTION_RULE, .paper = LAB_LESS };
	CHECK(!strcmp(lab_row_paper(&row).text, "less") && isnan(lab_row_published(&row)));
	CHECK(lab_rule_named("calibrated") == LAB_CALIBRATED_RULE && lab_rule_named("tuned") == LAB_RULES);
}

TEST(rows_are_read_back_from_json)
{
	static const double ours[] = { 0.93, 0.97, 0.99 };
	struct lab_table t = curves(ours), back = { 0 };
	const struct json_value *doc;
	struct json_tree *tree;
	struct gtu_error err;
	struct json j;
	size_t bytes;
	char *text;
	FILE *f;
	unsigned i;

	lab_table_add(&t, 1, "mean", LAB_RANGE_RULE, 0.25, 0.5, "share");
	t.row[t.rows - 1].high = 0.55;
	t.row[t.rows - 1].null = 0;
	lab_table_add(&t, LAB_TABLE(2), "mean", LAB_DIRECTION_RULE, LAB_LESS, 0.9, "slower");
	lab_table_add(&t, 3, "mean", LAB_DIRECTION_RULE, LAB_MORE, 0.9, "faster");
	lab_table_add(&t, 3, "mean", LAB_OPEN_RULE, 4, 0.9, "open");
	strcpy(t.row[t.rows - 1].reason, "the other reading");
	lab_table_add(&t, 3, "mean", LAB_COUNT_RULE, 1.05, 1.05, "null");
	f = open_memstream(&text, &bytes);
	json_start(&j, f);
	json_begin_object(&j, NULL);
	lab_table_json(&t, &j);
	json_end_object(&j);
	json_finish(&j);
	fclose(f);
	CHECKF(!json_read_text("rows", text, bytes, &tree, &doc, &err), "%s", err.text);
	lab_table_read(&back, doc);
	CHECK(back.rows == t.rows);
	for (i = 0; i < t.rows; i++) {
		const struct lab_row *a = &t.row[i], *b = &back.row[i];

		CHECKF(a->figure == b->figure && a->rule == b->rule && !strcmp(a->what, b->what) && !strcmp(a->graph, b->graph) &&
		       !strcmp(a->curve, b->curve) && !strcmp(lab_row_paper(a).text, lab_row_paper(b).text), "row %u", i);
		CHECKF(a->ours == b->ours && (a->null == b->null || isnan(a->null)) && (a->high == b->high || isnan(a->high)),
		       "row %u: %.17g, not %.17g", i, b->ours, a->ours);
		CHECKF(!strcmp(lab_row_verdict(&t, a), lab_row_verdict(&back, b)) && !strcmp(lab_row_reason(&t, a), lab_row_reason(&back, b)),
		       "row %u: '%s', '%s'", i, lab_row_verdict(&back, b), lab_row_reason(&back, b));
	}
	json_read_free(tree);
	free(text);
	lab_table_free(&back);
	lab_table_free(&t);
}

TEST(row_without_a_value_is_left_out_and_counted)
{
	struct lab_table t = { 0 };

	lab_table_add(&t, 5, "a", LAB_COUNT_RULE, 1, NAN, "x");
	lab_table_add(&t, 5, "b", LAB_COUNT_RULE, 1, INFINITY, "x");
	lab_table_add(&t, 5, "c", LAB_COUNT_RULE, 1, 0, "x");
	CHECKF(t.rows == 1 && t.without_value == 2, "%u rows, %u without a value", t.rows, t.without_value);
	CHECK(!strcmp(t.row[0].graph, "c"));
	lab_table_free(&t);
}

static char *plotted(const struct lab_table *t)
{
	size_t bytes;
	char *s;
	FILE *f = open_memstream(&s, &bytes);

	lab_plot(t, "emogi <on> a & b", false, f);
	fclose(f);
	return s;
}

static unsigned count(const char *s, const char *what)
{
	unsigned n = 0;

	for (; (s = strstr(s, what)); s += strlen(what))
		n++;
	return n;
}

TEST(plot_has_one_bar_per_value)
{
	struct lab_table t = { 0 };
	char *s;

	lab_table_add(&t, 9, "GK", LAB_SPEEDUP_RULE, 2, 0.5, "naive: speed-up");
	lab_table_add(&t, 9, "GK", LAB_SPEEDUP_RULE, NAN, 6, "merged: speed-up");
	lab_table_add(&t, 9, "mean", LAB_SPEEDUP_RULE, 3, 2, "merged: speed-up");
	lab_table_add(&t, LAB_TABLE(4), "a<b", LAB_COUNT_RULE, NAN, -1, "lost");
	lab_table_rank(&t);
	s = plotted(&t);
	CHECKF(count(s, "Figure 9: speed-up") == 1, "%s", s);
	CHECK(count(s, ">Table 4: lost<") == 1);
	/* bars, and a sample of each in the legends: naive, merged, paper; total */
	CHECK(count(s, "fill='url(#p0)'") == 1 && count(s, "fill='url(#p1)'") == 1 && count(s, "fill='url(#grey)'") == 1);
	/* the null values of two rows, and of no row without a published value */
	CHECK(count(s, "stroke-dasharray='4 2'") == 2 && count(s, "null model (dashed)") == 1);
	CHECK(count(s, "fill='#0072b2'") == 2 + 2 + 1 && count(s, "fill='#e69f00'") == 2 + 1 + 1);
	CHECK(count(s, "(the axis is logarithmic)") == 1); /* 0.5 to 6 */
	/* the title occurs above the drawing and as its label */
	CHECK(count(s, "a&lt;b") == 1 && count(s, "&lt;on&gt; a &amp; b") == 2);
	CHECK(!strstr(s, "nan") && !strstr(s, "inf"));
	free(s);
	lab_table_free(&t);
}

TEST_MAIN
