/* SPDX-License-Identifier: MIT */
/* The table of an experiment: the paper's value, ours, the difference, and a verdict. */
#ifndef GTU_LAB_TABLE_H
#define GTU_LAB_TABLE_H

#include "tools/support/json.h"

/*
 * Criteria. COUNT: within 15% of the published value. SPEEDUP: on the same side of 1, with log(ours
 * / paper) within a third of log(paper); an effect below 10% gets no verdict. OPEN: no verdict,
 * since the paper has no number or does not publish its basis. RANK: Spearman's coefficient of our
 * and the paper's order of the graphs, at least 0.8.
 */
enum lab_rule { LAB_COUNT_RULE, LAB_SPEEDUP_RULE, LAB_OPEN_RULE, LAB_RANK_RULE };

/* Figures and tables share one number space: below LAB_TABLE(0) it is a figure. */
#define LAB_TABLE(n)	(32u + (n))

struct lab_row {
	unsigned figure;		/* of the paper, or LAB_TABLE() */
	/* what: "series: measure"; graph: "mean", "most", ... for rows over all graphs */
	char what[80], graph[24];
	enum lab_rule rule;
	double paper, ours;		/* paper NAN: no published value */
};
struct lab_table {
	struct lab_row *row;
	unsigned rows;
	unsigned without_value;		/* rows left out, since their value is not a finite number */
	bool no_memory;
};

/* Without a finite @ours, for example a ratio over 0 requests, the row is counted and left out. */
void lab_table_add(struct lab_table *t, unsigned figure, const char *graph, enum lab_rule rule, double paper,
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
 * Add a "rank order" row for each figure and text with a criterion and at least three published
 * values.
 */
void lab_table_rank(struct lab_table *t);
/* "met", "missed", or "" without a criterion. */
const char *lab_row_verdict(const struct lab_row *r);
/* Sort by figure; stable. */
void lab_table_sort(struct lab_table *t);
void lab_table_print(const struct lab_table *t);
void lab_table_json(const struct lab_table *t, struct json *j);
void lab_table_free(struct lab_table *t);

#endif
