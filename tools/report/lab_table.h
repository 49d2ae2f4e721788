/* SPDX-License-Identifier: MIT */
/* What an experiment of the laboratory prints: the paper's figure, ours, the difference, and a verdict. */
#ifndef GTU_LAB_TABLE_H
#define GTU_LAB_TABLE_H

#include "tools/support/json.h"

/*
 * How a figure is judged. COUNT: within 15% of the published value. SPEEDUP: on the same side of 1, and the
 * logarithm of ours over theirs within a third of theirs; an effect of under 10% is not judged by its mean.
 * OPEN: shown without a verdict (the paper has no number, or it rests on what is not published). RANK: Spearman's
 * coefficient of our order of the graphs and the paper's, at least 0.8.
 */
enum lab_rule { LAB_COUNT_RULE, LAB_SPEEDUP_RULE, LAB_OPEN_RULE, LAB_RANK_RULE };

/* Numbers of figures and tables in one: below LAB_TABLE(0) a figure. */
#define LAB_TABLE(n)	(32u + (n))

struct lab_row {
	unsigned figure;		/* of the paper, or LAB_TABLE() */
	char what[80], graph[24];	/* what: "series: measure"; graph: "mean", "most", ... for what is of all of them */
	enum lab_rule rule;
	double paper, ours;		/* paper NAN: it gives no number */
};
struct lab_table {
	struct lab_row *row;
	unsigned rows;
	bool no_memory;
};

void lab_table_add(struct lab_table *t, unsigned figure, const char *graph, enum lab_rule rule, double paper,
		   double ours, const char *what, ...) __attribute__((format(printf, 7, 8)));
/* "8", "table 4" */
struct lab_figure_name {
	char text[16];
};
struct lab_figure_name lab_figure_name(unsigned figure);
/* Of all graphs: a mean, an extreme or a rank order. */
bool lab_row_aggregate(const struct lab_row *r);
/* Spearman's rank correlation of @n pairs, equal values sharing the mean of their ranks; NAN where one side has one value. */
double lab_spearman(const double *a, const double *b, unsigned n);
/* A row "rank order" for each figure and text that is judged and has the paper's value for three graphs or more. */
void lab_table_rank(struct lab_table *t);
/* "met", "missed", "" where it is not judged. */
const char *lab_row_verdict(const struct lab_row *r);
/* By figure; rows of one stay in the order they came in. */
void lab_table_sort(struct lab_table *t);
void lab_table_print(const struct lab_table *t);
void lab_table_json(const struct lab_table *t, struct json *j);
void lab_table_free(struct lab_table *t);

#endif
