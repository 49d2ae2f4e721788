// SPDX-License-Identifier: MIT
/* Writes the page of judged rows as Markdown. */
#include "fidelity.h"

#include <fnmatch.h>
#include <math.h>
#include <string.h>

const struct fidelity_cause *fidelity_cause_of(const struct fidelity_paper *p, const struct lab_row *row)
{
	unsigned i;

	for (i = 0; i < p->causes; i++)
		if (p->cause[i].figure == row->figure && !fnmatch(p->cause[i].graph, row->graph, 0) &&
		    !fnmatch(p->cause[i].what, row->what, 0))
			return &p->cause[i];
	return NULL;
}

const struct fidelity_stage *fidelity_stage_of(const struct fidelity_paper *p, const char *name)
{
	unsigned i;

	for (i = 0; i < p->stages; i++)
		if (!strcmp(p->stage[i].name, name))
			return &p->stage[i];
	return NULL;
}

int fidelity_check(const struct fidelity_paper *p, struct gtu_error *err)
{
	const struct lab_table *t = &p->stage[0].table;
	unsigned i, k;

	for (i = 0; i < p->causes; i++) {
		const struct fidelity_cause *c = &p->cause[i];
		const struct fidelity_paper one = { .cause = &p->cause[i], .causes = 1 };
		const struct fidelity_stage *s = c->stage ? fidelity_stage_of(p, c->stage) : NULL;

		for (k = 0; k < t->rows && (!*lab_row_verdict(t, &t->row[k]) || !fidelity_cause_of(&one, &t->row[k])); k++)
			;
		if (k == t->rows)
			return gtu_fail(err, GTU_ERR_INPUT, "%s.fidelity:%u: no judged row has figure %s, text '%s' and graph '%s'", p->experiment,
					c->line, lab_figure_name(c->figure).text, c->what, c->graph);
		if (c->stage && (!s || s->kind != FIDELITY_CAUSE))
			return gtu_fail(err, GTU_ERR_INPUT, "%s.fidelity:%u: '%s' is not a stage of the kind cause", p->experiment, c->line,
					c->stage);
	}
	return 0;
}

/* The row of @t with the subject of @row, or NULL. */
static const struct lab_row *same_row(const struct lab_table *t, const struct lab_row *row)
{
	unsigned i;

	for (i = 0; i < t->rows; i++)
		if (t->row[i].figure == row->figure && !strcmp(t->row[i].graph, row->graph) && !strcmp(t->row[i].what, row->what))
			return &t->row[i];
	return NULL;
}

static void put_number(double v, FILE *to)
{
	fprintf(to, isnan(v) ? "-" : fabs(v) >= 1000 ? "%.0f" : fabs(v) < 0.01 && v != 0 ? "%.2g" : "%.3f", v);
}

/* The columns that every table of rows begins with. */
static void put_row(const struct lab_row *r, FILE *to)
{
	fprintf(to, "| %s | %s | %s | %s | ", lab_figure_name(r->figure).text, r->what, r->graph, lab_row_paper(r).text);
	put_number(r->ours, to);
}

static void put_heads(const char *more, unsigned columns, FILE *to)
{
	fprintf(to, "| figure | row | graph | paper | ours | %s |\n|---|---|---|---|---|", more);
	for (; columns; columns--)
		fputs("---|", to);
	fputc('\n', to);
}

static void put_share(unsigned part, unsigned of, FILE *to)
{
	if (of)
		fprintf(to, "%.0f%%", 100.0 * part / of);
	else
		fputs("-", to);
}

unsigned fidelity_unstated(const struct fidelity_paper *p, FILE *to)
{
	const struct lab_table *t = &p->stage[0].table;
	unsigned i, n = 0;

	for (i = 0; i < t->rows; i++) {
		const struct lab_row *r = &t->row[i];
		const struct fidelity_cause *c = fidelity_cause_of(p, r);
		const struct fidelity_stage *s = c && c->stage ? fidelity_stage_of(p, c->stage) : NULL;

		if (strcmp(lab_row_verdict(t, r), "missed") || (!c && lab_row_null_meets(r)) || (c && (!s || !s->doc || same_row(&s->table, r))))
			continue;
		n++;
		fprintf(to, "%s.fidelity: figure %s | %s | %s: ", p->experiment, lab_figure_name(r->figure).text, r->graph, r->what);
		if (c)
			fprintf(to, "missed, and the run '%s' lacks the row\n", c->stage);
		else
			fputs("missed without a cause\n", to);
	}
	return n;
}

/* Misses of a paper: with a run that removes the cause, with a cause in words, without a statement. */
struct misses {
	unsigned measured, stated, unstated;
};

static struct misses misses_of(const struct fidelity_paper *p)
{
	const struct lab_table *t = &p->stage[0].table;
	struct misses m = { 0 };
	unsigned i;

	for (i = 0; i < t->rows; i++) {
		const struct fidelity_cause *c = fidelity_cause_of(p, &t->row[i]);
		const bool stated = (c && !c->stage) || (!c && lab_row_null_meets(&t->row[i]));

		if (strcmp(lab_row_verdict(t, &t->row[i]), "missed"))
			continue;
		m.measured += c && c->stage;
		m.stated += stated;
		m.unstated += !c && !stated;
	}
	return m;
}

static double seconds_of(const struct fidelity_stage *s)
{
	return json_get_number(json_get(s->doc, "stage"), "cpu_seconds", 0);
}

static void put_score(const char *title, const struct lab_score *s, const struct misses *m, double seconds, FILE *to)
{
	fprintf(to, "| %s | %u | %u | ", title, s->judged, s->met);
	put_share(s->met, s->judged, to);
	fprintf(to, " | %u | %u | %u | %u | %u | %.0f s |\n", s->null_met, m->measured, m->stated, m->unstated, s->unjudged, seconds);
}

static void summary(const struct fidelity_paper *paper, unsigned papers, FILE *to)
{
	struct lab_score all = { 0 };
	struct misses all_misses = { 0 };
	double seconds = 0;
	unsigned i, k;

	fputs("## Summary\n\n| paper | judged rows | met | share | met by the null model | misses with a measured cause | misses with a "
	      "statement | misses without | not judged | processor time |\n|---|---|---|---|---|---|---|---|---|---|\n", to);
	for (i = 0; i < papers; i++) {
		const struct lab_score s = lab_table_score(&paper[i].stage[0].table);
		const struct misses m = misses_of(&paper[i]);
		double own = 0;

		for (k = 0; k < paper[i].stages; k++)
			own += seconds_of(&paper[i].stage[k]);
		put_score(paper[i].title, &s, &m, own, to);
		lab_score_add(&all, &s);
		all_misses.measured += m.measured;
		all_misses.stated += m.stated;
		all_misses.unstated += m.unstated;
		seconds += own;
	}
	put_score("all", &all, &all_misses, seconds, to);
}

/* Met and judged rows by rule: a direction says less than a number. */
static void by_rule(const struct fidelity_paper *paper, unsigned papers, FILE *to)
{
	static const enum lab_rule rules[] = { LAB_COUNT_RULE, LAB_SPEEDUP_RULE, LAB_RANK_RULE, LAB_CURVE_RULE, LAB_RANGE_RULE,
					       LAB_DIRECTION_RULE };
	const unsigned n = sizeof(rules) / sizeof(rules[0]);
	unsigned sum[LAB_RULES][2] = { { 0 } }, i, k, row;

	fputs("\nRows met, of those judged, by rule:\n\n| paper |", to);
	for (k = 0; k < n; k++)
		fprintf(to, " %s |", lab_rule_name(rules[k]));
	fputs("\n|---|---|---|---|---|---|---|\n", to);
	for (i = 0; i <= papers; i++) {
		const struct lab_table *t = i < papers ? &paper[i].stage[0].table : NULL;
		unsigned own[LAB_RULES][2] = { { 0 } };

		for (row = 0; t && row < t->rows; row++) {
			const char *verdict = lab_row_verdict(t, &t->row[row]);
			enum lab_rule rule = t->row[row].rule;

			own[rule][0] += !strcmp(verdict, "met");
			own[rule][1] += *verdict != 0;
			sum[rule][0] += !strcmp(verdict, "met");
			sum[rule][1] += *verdict != 0;
		}
		fprintf(to, "| %s |", t ? paper[i].title : "all");
		for (k = 0; k < n; k++)
			fprintf(to, " %u of %u |", t ? own[rules[k]][0] : sum[rules[k]][0], t ? own[rules[k]][1] : sum[rules[k]][1]);
		fputc('\n', to);
	}
}

static void graphs(const struct json_value *doc, FILE *to)
{
	const struct json_value *g;

	fputs("| graph | what it is | vertices | edges |\n|---|---|---|---|\n", to);
	for json_each(g, json_get_kind(doc, "graphs", JSON_ARRAY)) {
		const char *name = json_get_string(g, "name"), *graph = json_get_string(g, "graph");

		fprintf(to, "| %s | %s | %.0f | %.0f |\n", name ? name : "", graph ? graph : "", json_get_number(g, "vertices", 0),
			json_get_number(g, "edges", 0));
	}
	fputc('\n', to);
}

static void judged(const struct lab_table *t, FILE *to)
{
	unsigned i;

	put_heads("null model | rule | verdict", 3, to);
	for (i = 0; i < t->rows; i++) {
		const struct lab_row *r = &t->row[i];

		if (!*lab_row_verdict(t, r))
			continue;
		put_row(r, to);
		fputs(" | ", to);
		put_number(lab_row_null(t, r), to);
		fprintf(to, " | %s | %s |\n", lab_rule_name(r->rule), lab_row_verdict(t, r));
	}
}

static void missed(const struct fidelity_paper *p, FILE *to)
{
	const struct lab_table *t = &p->stage[0].table;
	unsigned i;

	put_heads("cause | run without the cause | ours without the cause", 3, to);
	for (i = 0; i < t->rows; i++) {
		const struct lab_row *r = &t->row[i], *without = NULL;
		const struct fidelity_cause *c = fidelity_cause_of(p, r);
		const struct fidelity_stage *s = c && c->stage ? fidelity_stage_of(p, c->stage) : NULL;

		if (strcmp(lab_row_verdict(t, r), "missed"))
			continue;
		without = s ? same_row(&s->table, r) : NULL;
		put_row(r, to);
		fprintf(to, " | %s%s%s | %s | ", lab_row_null_meets(r) ? "the null model meets it" : "", lab_row_null_meets(r) && c ? "; " : "",
			c ? c->text : lab_row_null_meets(r) ? "" : "not stated", s ? s->name : "-");
		put_number(without ? without->ours : NAN, to);
		fputs(" |\n", to);
	}
}

/* Rows with a published value that are printed only, and why. */
static void unjudged(const struct lab_table *t, FILE *to)
{
	unsigned i;

	put_heads("rule | reason", 2, to);
	for (i = 0; i < t->rows; i++) {
		const struct lab_row *r = &t->row[i];

		if (*lab_row_verdict(t, r) || isnan(r->paper))
			continue;
		put_row(r, to);
		fprintf(to, " | %s | %s |\n", lab_rule_name(r->rule), lab_row_reason(t, r));
	}
}

/* All readings of the judged rows, beside each other. Rows that no reading has are left out. */
static void readings(const struct fidelity_paper *p, FILE *to)
{
	const struct lab_table *t = &p->stage[0].table;
	char heads[512] = "";
	unsigned i, k, n = 0;

	for (k = 1; k < p->stages; k++) {
		if (p->stage[k].kind != FIDELITY_READING || !p->stage[k].doc)
			continue;
		snprintf(heads + strlen(heads), sizeof(heads) - strlen(heads), "%s%s | verdict", n++ ? " | " : "", p->stage[k].name);
	}
	if (!n)
		return;
	fputs("\n### Other readings\n\n", to);
	put_heads(heads, 2 * n, to);
	for (i = 0; i < t->rows; i++) {
		bool any = false;

		for (k = 1; k < p->stages; k++)
			any |= p->stage[k].kind == FIDELITY_READING && same_row(&p->stage[k].table, &t->row[i]);
		if (!any || !*lab_row_verdict(t, &t->row[i]))
			continue;
		put_row(&t->row[i], to);
		for (k = 1; k < p->stages; k++) {
			const struct lab_table *other = &p->stage[k].table;
			const struct lab_row *r = same_row(other, &t->row[i]);

			if (p->stage[k].kind != FIDELITY_READING || !p->stage[k].doc)
				continue;
			fputs(" | ", to);
			put_number(r ? r->ours : NAN, to);
			fprintf(to, " | %s", r ? lab_row_verdict(other, r) : "");
		}
		fputs(" |\n", to);
	}
}

static void stages(const struct fidelity_paper *p, FILE *to)
{
	static const char *const kinds[FIDELITY_KINDS] = { "judged", "another reading", "a cause removed" };
	unsigned k;

	fputs("| run | purpose | command | processor time |\n|---|---|---|---|\n", to);
	for (k = 0; k < p->stages; k++) {
		const struct fidelity_stage *s = &p->stage[k];

		fprintf(to, "| %s | %s | `%s` | ", s->name, kinds[s->kind], s->command);
		if (s->doc)
			fprintf(to, "%.1f s |\n", seconds_of(s));
		else
			fprintf(to, "not run: %s is missing |\n", s->missing);
	}
	fputc('\n', to);
}

static void paper_section(const struct fidelity_paper *p, FILE *to)
{
	const struct json_value *doc = p->stage[0].doc;
	const struct lab_score score = lab_table_score(&p->stage[0].table);
	const char *machine = json_get_string(doc, "machine");

	fprintf(to, "\n## %s\n\n%s.\nMachine %s, scale %.0f; %.0f results equal the reference's.\n\n", p->title, lab_score_text(&score).text,
		machine ? machine : "?", json_get_number(doc, "scale", 0), json_get_number(doc, "results_checked", 0));
	stages(p, to);
	graphs(doc, to);
	fputs("### Judged rows\n\n", to);
	judged(&p->stage[0].table, to);
	fputs("\n### Misses\n\n", to);
	missed(p, to);
	fputs("\n### Printed, not judged\n\n", to);
	unjudged(&p->stage[0].table, to);
	readings(p, to);
}

void fidelity_write(const struct fidelity_paper *paper, unsigned papers, const char *commit, const char *form, FILE *to)
{
	unsigned i;

	fputs("<!-- SPDX-License-Identifier: MIT -->\n# Fidelity\n\n"
	      "This page compares every number of the papers' figures and tables with the laboratory's. The command\n"
	      "`make lab-report` writes it; no number is typed. [laboratory.md](laboratory.md) explains the rules, and a\n"
	      "page for each paper discusses its rows.\n\n", to);
	fprintf(to, "- commit of the simulator and the experiments: %s; machines and parameters are those beside this page\n"
		"- scale: %s\n\n", commit, form);
	summary(paper, papers, to);
	by_rule(paper, papers, to);
	for (i = 0; i < papers; i++)
		paper_section(&paper[i], to);
}
