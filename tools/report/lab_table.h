/* SPDX-License-Identifier: MIT */
/* The table of an experiment: the paper's value, ours, the difference, and a verdict. */
#ifndef GTU_LAB_TABLE_H
#define GTU_LAB_TABLE_H

#include <math.h>

#include "tools/support/json.h"
#include "tools/support/json_read.h"

/*
 * How a row is judged. Every judged row has a null value: what a simulator without the effect
 * prints, 1 unless the row says otherwise.
 *
 * COUNT: within 15% of the published value, and the null value is not.
 * SPEEDUP: on the paper's side of the null value; log(ours / paper) within a third of log(paper / null).
 * RANK: Spearman's coefficient of our and the paper's order of the graphs, at least 0.8.
 * RANGE: from paper to high, and the null value is outside.
 * DIRECTION: the paper says only more (LAB_MORE) or less (LAB_LESS) than the null value: by 1% at least.
 * CURVE: an effect below 10%, or a point of a chart. Three points or more of a curve are judged in one
 * row: Spearman's coefficient at least 0.8, and the points' mean |log(ours / paper)| below the null
 * model's. Points of a shorter curve are judged as SPEEDUP.
 *
 * Printed, but never judged: OPEN (the paper has no number or direction, or the reason given),
 * CALIBRATED (the machine was fitted to this value) and INPUT (an input of the run, or a definition).
 */
enum lab_rule { LAB_COUNT_RULE, LAB_SPEEDUP_RULE, LAB_OPEN_RULE, LAB_RANK_RULE, LAB_RANGE_RULE, LAB_DIRECTION_RULE, LAB_CURVE_RULE,
		LAB_CALIBRATED_RULE, LAB_INPUT_RULE, LAB_RULES };
#define LAB_MORE	((double)INFINITY)
#define LAB_LESS	((double)-INFINITY)

/* Figures and tables share one number space: below LAB_TABLE(0) it is a figure. */
#define LAB_TABLE(n)	(32u + (n))

struct lab_row {
	unsigned figure;		/* of the paper, or LAB_TABLE() */
	/* what: "series: measure"; graph: "mean", "most", ... for rows over all graphs */
	char what[80], graph[24];
	enum lab_rule rule;
	double paper, ours;		/* paper NAN: no published value */
	double null;			/* what a simulator without the effect prints */
	/* RANGE: the upper end; a judged curve: the points' distance from the paper over the null model's; else NAN */
	double high;
	char curve[40];			/* the curve that the row is a point of; "": its text's */
	char reason[120];		/* why the row is not judged; "": the rule says it all */
};
struct lab_table {
	struct lab_row *row;
	unsigned rows;
	unsigned without_value;		/* rows left out, since their value is not a finite number */
	bool no_memory;
};

/*
 * Without a finite @ours, for example a ratio over 0 requests, the row is counted and left out. True
 * if it was added: null, high, curve and reason of the last row may then be set.
 */
bool lab_table_add(struct lab_table *t, unsigned figure, const char *graph, enum lab_rule rule, double paper,
		   double ours, const char *what, ...) __attribute__((format(printf, 7, 8)));
/* "8", "table 4" */
struct lab_figure_name {
	char text[16];
};
struct lab_figure_name lab_figure_name(unsigned figure);
/* True for a row over all graphs: a mean, an extreme or a rank order. */
bool lab_row_aggregate(const struct lab_row *r);
/*
 * Spearman's rank correlation of @n pairs; ties share their mean rank. NAN if one side is constant.
 */
double lab_spearman(const double *a, const double *b, unsigned n);
/*
 * Add a "rank order" row for each figure and text with COUNT or SPEEDUP rows of three graphs at
 * least, and a "curve" row for each curve of three points at least.
 */
void lab_table_rank(struct lab_table *t);
/*
 * "met", "missed", or "" for a row that is not judged. A row that the null model meets is missed.
 * @t has the other points of the row's curve.
 */
const char *lab_row_verdict(const struct lab_table *t, const struct lab_row *r);
/* Whether a simulator without the effect would meet the row. */
bool lab_row_null_meets(const struct lab_row *r);
/* Why the row is not judged, or that the null model meets it; "": it is judged as its rule says. */
const char *lab_row_reason(const struct lab_table *t, const struct lab_row *r);
/* "count", "speed-up", ... */
const char *lab_rule_name(enum lab_rule rule);
/* LAB_RULES: unknown */
enum lab_rule lab_rule_named(const char *name);
/* The published value: "1.410", "0.25-0.55", "more", "-" */
struct lab_paper_text {
	char text[32];
};
struct lab_paper_text lab_row_paper(const struct lab_row *r);
/* The null value to print; NAN: the row has none. */
double lab_row_null(const struct lab_table *t, const struct lab_row *r);
/* ours / paper - 1; NAN if the paper has no single number. */
double lab_row_difference(const struct lab_row *r);
/* The published value as a number, a range by its middle; NAN: none. */
double lab_row_published(const struct lab_row *r);

struct lab_score {
	unsigned judged, met, null_met, unjudged;
};
struct lab_score lab_table_score(const struct lab_table *t);
void lab_score_add(struct lab_score *to, const struct lab_score *s);
/* "12 of 20 judged rows met (60%), null model 3" */
struct lab_score_text {
	char text[80];
};
struct lab_score_text lab_score_text(const struct lab_score *s);
/* The first row that breaks a rule's demands: a range without its end, a published value open without reason; or NULL. */
const struct lab_row *lab_table_incomplete(const struct lab_table *t);
/* Sort by figure; stable. */
void lab_table_sort(struct lab_table *t);
void lab_table_print(const struct lab_table *t);
void lab_table_json(const struct lab_table *t, struct json *j);
/* Read the rows that lab_table_json() wrote; invalid rows are left out. */
void lab_table_read(struct lab_table *t, const struct json_value *doc);
void lab_table_free(struct lab_table *t);

#endif
