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

TEST(spearman_correlation)
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
		CHECK(!strcmp(lab_row_verdict(&t.row[i]), t.row[i].figure == 10 ? "met" : "missed"));
		CHECK(lab_row_aggregate(&t.row[i]));
	}
	CHECKF(ranks == 2, "%u rank orders", ranks);
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
	CHECK(count(s, "fill='#0072b2'") == 2 + 2 + 1 && count(s, "fill='#e69f00'") == 2 + 1 + 1);
	CHECK(count(s, "(the axis is logarithmic)") == 1); /* 0.5 to 6 */
	/* the title occurs above the drawing and as its label */
	CHECK(count(s, "a&lt;b") == 1 && count(s, "&lt;on&gt; a &amp; b") == 2);
	CHECK(!strstr(s, "nan") && !strstr(s, "inf"));
	free(s);
	lab_table_free(&t);
}

TEST_MAIN
