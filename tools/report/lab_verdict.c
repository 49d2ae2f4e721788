// SPDX-License-Identifier: MIT
/* Judges the rows of an experiment's table: verdicts, rank correlation, curves, the null model. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab_table.h"

#define CURVE_POINTS	3u		/* of a curve that is judged as one row */

static const char *const rule_names[LAB_RULES] = {
	"count", "speed-up", "open", "rank", "range", "direction", "curve", "calibrated", "input",
};

const char *lab_rule_name(enum lab_rule rule)
{
	return rule_names[rule];
}

enum lab_rule lab_rule_named(const char *name)
{
	unsigned i;

	for (i = 0; i < LAB_RULES && strcmp(rule_names[i], name); i++)
		;
	return (enum lab_rule)i;
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

/* The row that lab_table_rank() adds for a curve. */
static bool is_judged_curve(const struct lab_row *r)
{
	return r->rule == LAB_CURVE_RULE && !strcmp(r->graph, "curve");
}

static const char *curve_of(const struct lab_row *r)
{
	return *r->curve ? r->curve : r->what;
}

/* A point may also be judged by a rule of its own. */
static bool is_point(const struct lab_row *r)
{
	return isfinite(r->paper) && !is_judged_curve(r) && (r->rule == LAB_CURVE_RULE || *r->curve);
}

static bool same_curve(const struct lab_row *a, const struct lab_row *b)
{
	return a->figure == b->figure && is_point(a) && is_point(b) && !strcmp(curve_of(a), curve_of(b));
}

static unsigned points_of(const struct lab_table *t, const struct lab_row *r)
{
	unsigned i, n = 0;

	for (i = 0; i < t->rows; i++)
		n += same_curve(r, &t->row[i]);
	return n;
}

static bool in_rank(const struct lab_row *of, const struct lab_row *r)
{
	return r->figure == of->figure && !strcmp(r->what, of->what) && !lab_row_aggregate(r) && isfinite(r->paper) &&
	       (r->rule == LAB_COUNT_RULE || r->rule == LAB_SPEEDUP_RULE);
}

static double distance(double a, double b)
{
	return a > 0 && b > 0 ? fabs(log(a / b)) : INFINITY;
}

/* Add the judged row of a curve whose first point is row @i. */
static void add_curve(struct lab_table *t, unsigned i, unsigned rows, double *paper, double *ours)
{
	const struct lab_row first = t->row[i];
	double away = 0, null_away = 0;
	unsigned k, n = 0;

	for (k = 0; k < rows; k++) {
		const struct lab_row *r = &t->row[k];

		if (!same_curve(&first, r))
			continue;
		if (k < i)
			return;
		paper[n] = r->paper;
		ours[n++] = r->ours;
		away += distance(r->ours, r->paper);
		null_away += distance(r->null, r->paper);
	}
	if (n < CURVE_POINTS)
		return;
	if (!lab_table_add(t, first.figure, "curve", LAB_CURVE_RULE, NAN, fmax(lab_spearman(paper, ours, n), -1), "%s", curve_of(&first)))
		return;
	t->row[t->rows - 1].null = 0;
	t->row[t->rows - 1].high = fmin(away / null_away, 1e6);
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

			if (!in_rank(&of, r))
				continue;
			first &= n || k == i;
			paper[n] = r->paper;
			ours[n++] = r->ours;
		}
		if (n >= 3 && first)
			lab_table_add(t, of.figure, "rank order", LAB_RANK_RULE, NAN, lab_spearman(paper, ours, n), "%s", of.what);
		if (is_point(&of))
			add_curve(t, i, rows, paper, ours);
	}
	free(paper);
}

/* Whether @ours meets a row without regard to the null model. */
static bool meets(const struct lab_row *r, double ours)
{
	switch (r->rule) {
	case LAB_COUNT_RULE:
		return fabs(ours / r->paper - 1) <= 0.15;
	case LAB_RANGE_RULE:
		return ours >= r->paper && ours <= r->high;
	case LAB_DIRECTION_RULE:
		return ours != r->null && (r->paper > 0 ? ours >= 1.01 * r->null : ours <= r->null / 1.01);
	case LAB_RANK_RULE:
		return ours >= 0.8;
	default:
		if (is_judged_curve(r))
			return ours >= 0.8 && r->high < 1;
		return ours > 0 && (ours > r->null) == (r->paper > r->null) && distance(ours, r->paper) <= distance(r->paper, r->null) / 3;
	}
}

static bool is_judged(const struct lab_table *t, const struct lab_row *r)
{
	if (r->rule == LAB_OPEN_RULE || r->rule == LAB_CALIBRATED_RULE || r->rule == LAB_INPUT_RULE)
		return false;
	if (r->rule == LAB_RANK_RULE || is_judged_curve(r))
		return true;
	return !isnan(r->paper) && (r->rule != LAB_CURVE_RULE || points_of(t, r) < CURVE_POINTS);
}

bool lab_row_null_meets(const struct lab_row *r)
{
	/* a constant has no order */
	return r->rule != LAB_RANK_RULE && !is_judged_curve(r) && meets(r, r->null);
}

const char *lab_row_verdict(const struct lab_table *t, const struct lab_row *r)
{
	if (!is_judged(t, r))
		return "";
	return meets(r, r->ours) && !lab_row_null_meets(r) ? "met" : "missed";
}

const char *lab_row_reason(const struct lab_table *t, const struct lab_row *r)
{
	if (*r->reason)
		return r->reason;
	if (is_judged(t, r))
		return lab_row_null_meets(r) ? "the null model meets it" : "";
	if (isnan(r->paper))
		return "the paper has no number";
	if (r->rule == LAB_CALIBRATED_RULE)
		return "the machine is calibrated on it";
	if (r->rule == LAB_INPUT_RULE)
		return "an input or a definition";
	return r->rule == LAB_CURVE_RULE ? "a point of a curve" : "no reason is given";
}

struct lab_paper_text lab_row_paper(const struct lab_row *r)
{
	struct lab_paper_text to = { "-" };

	if (isinf(r->paper))
		snprintf(to.text, sizeof(to.text), "%s", r->paper > 0 ? "more" : "less");
	else if (r->rule == LAB_RANGE_RULE && !isnan(r->paper))
		snprintf(to.text, sizeof(to.text), "%.4g-%.4g", r->paper, r->high);
	else if (!isnan(r->paper))
		snprintf(to.text, sizeof(to.text), "%.3f", r->paper);
	return to;
}

double lab_row_null(const struct lab_table *t, const struct lab_row *r)
{
	return r->rule != LAB_RANK_RULE && (is_judged(t, r) || is_point(r)) ? r->null : NAN;
}

double lab_row_difference(const struct lab_row *r)
{
	return isfinite(r->paper) && r->rule != LAB_RANGE_RULE ? r->ours / r->paper - 1 : NAN;
}

double lab_row_published(const struct lab_row *r)
{
	return isinf(r->paper) ? NAN : r->rule == LAB_RANGE_RULE ? (r->paper + r->high) / 2 : r->paper;
}

struct lab_score lab_table_score(const struct lab_table *t)
{
	struct lab_score s = { 0 };
	unsigned i;

	for (i = 0; i < t->rows; i++) {
		const char *verdict = lab_row_verdict(t, &t->row[i]);

		s.judged += *verdict != 0;
		s.unjudged += !*verdict;
		s.met += !strcmp(verdict, "met");
		s.null_met += *verdict && lab_row_null_meets(&t->row[i]);
	}
	return s;
}

void lab_score_add(struct lab_score *to, const struct lab_score *s)
{
	to->judged += s->judged;
	to->met += s->met;
	to->null_met += s->null_met;
	to->unjudged += s->unjudged;
}

struct lab_score_text lab_score_text(const struct lab_score *s)
{
	struct lab_score_text to;

	snprintf(to.text, sizeof(to.text), "%u of %u judged rows met (%.0f%%), null model %u", s->met, s->judged,
		 s->judged ? 100.0 * s->met / s->judged : 0, s->null_met);
	return to;
}

const struct lab_row *lab_table_incomplete(const struct lab_table *t)
{
	unsigned i;

	for (i = 0; i < t->rows; i++) {
		const struct lab_row *r = &t->row[i];

		if ((r->rule == LAB_OPEN_RULE && !isnan(r->paper) && !*r->reason) ||
		    (r->rule == LAB_RANGE_RULE && !isnan(r->paper) && !(r->high > r->paper)) ||
		    (isinf(r->paper) && r->rule != LAB_DIRECTION_RULE) || (isfinite(r->paper) && r->rule == LAB_DIRECTION_RULE))
			return r;
	}
	return NULL;
}
