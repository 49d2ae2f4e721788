// SPDX-License-Identifier: MIT
/* Parses --sweep and merges the tables of its runs. */
#include "lab_sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static char *trimmed(char *text)
{
	size_t n;

	text += strspn(text, " ");
	for (n = strlen(text); n && text[n - 1] == ' '; n--)
		text[n - 1] = 0;
	return text;
}

static int add_value(struct lab_sweep *s, char *value, struct gtu_error *err)
{
	unsigned i;

	value = trimmed(value);
	if (!*value)
		return gtu_fail(err, GTU_ERR_USAGE, "--sweep %s has an empty value", s->key);
	if (s->values == LAB_SWEEP_VALUES)
		return gtu_fail(err, GTU_ERR_USAGE, "--sweep takes at most %u values", LAB_SWEEP_VALUES);
	for (i = 0; i < s->values; i++)
		if (!strcmp(s->value[i], value))
			return gtu_fail(err, GTU_ERR_USAGE, "--sweep %s has the value %s twice", s->key, value);
	s->set[s->values] = malloc(strlen(s->key) + strlen(value) + 2);
	if (!s->set[s->values])
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for --sweep");
	sprintf(s->set[s->values], "%s=%s", s->key, value);
	s->value[s->values++] = value;
	return 0;
}

int lab_sweep_parse(const char *text, struct lab_sweep *s, struct gtu_error *err)
{
	char *value, *rest;
	int rc = 0;

	*s = (struct lab_sweep){ .text = strdup(text) };
	if (!s->text)
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for --sweep");
	rest = strchr(s->text, '=');
	if (!rest || rest == s->text)
		return gtu_fail(err, GTU_ERR_USAGE, "--sweep is KEY=VALUE,VALUE,..., not '%s'", text);
	*rest++ = 0;
	s->key = trimmed(s->text);
	while (!rc && (value = strsep(&rest, ",")))
		rc = add_value(s, value, err);
	if (!rc && s->values < 2)
		rc = gtu_fail(err, GTU_ERR_USAGE, "--sweep %s has only one value: use --set", s->key);
	return rc;
}

void lab_sweep_free(struct lab_sweep *s)
{
	unsigned i;

	for (i = 0; i < s->values; i++)
		free(s->set[i]);
	free(s->text);
	free(s->row);
	*s = (struct lab_sweep){ 0 };
}

/* The first row with this text that lacks the current value, or a new one. */
static struct lab_sweep_row *row_of(struct lab_sweep *s, const struct lab_row *r)
{
	struct lab_sweep_row *more;
	unsigned i;

	for (i = 0; i < s->rows; i++)
		if (s->row[i].row.figure == r->figure && isnan(s->row[i].ours[s->done]) && !strcmp(s->row[i].row.what, r->what) &&
		    !strcmp(s->row[i].row.graph, r->graph))
			return &s->row[i];
	more = realloc(s->row, (s->rows + 1) * sizeof(*more));
	if (!more)
		return NULL;
	s->row = more;
	more += s->rows++;
	more->row = *r;
	for (i = 0; i < LAB_SWEEP_VALUES; i++)
		more->ours[i] = NAN;
	return more;
}

int lab_sweep_take(struct lab_sweep *s, const struct lab_table *t, struct gtu_error *err)
{
	struct lab_sweep_row *at;
	unsigned i;

	for (i = 0; i < t->rows; i++) {
		at = row_of(s, &t->row[i]);
		if (!at)
			return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for the table");
		at->ours[s->done] = t->row[i].ours;
	}
	s->done++;
	return 0;
}

void lab_sweep_print(const struct lab_sweep *s)
{
	unsigned i, v;

	printf("%8s  %-56s %-20.20s %9s  %s =\n%8s  %-56s %-20.20s %9s ", "", "", "", "", s->key, "figure", "", "graph", "paper");
	for (v = 0; v < s->done; v++)
		printf(" %10.10s", s->value[v]);
	putchar('\n');
	for (i = 0; i < s->rows; i++) {
		const struct lab_row *r = &s->row[i].row;

		printf("%8.8s  %-56s %-20.20s ", lab_figure_name(r->figure).text, r->what, r->graph);
		printf("%9s ", lab_row_paper(r).text);
		for (v = 0; v < s->done; v++)
			if (isnan(s->row[i].ours[v]))
				printf(" %10s", "-");
			else
				printf(" %10.3f", s->row[i].ours[v]);
		putchar('\n');
	}
}

void lab_sweep_json(const struct lab_sweep *s, struct json *j)
{
	unsigned i, v;

	json_begin_object(j, "sweep");
	json_string(j, "key", s->key);
	json_begin_array(j, "values");
	for (v = 0; v < s->done; v++)
		json_string(j, NULL, s->value[v]);
	json_end_array(j);
	json_end_object(j);
	json_begin_array(j, "rows");
	for (i = 0; i < s->rows; i++) {
		const struct lab_row *r = &s->row[i].row;

		json_begin_object(j, NULL);
		json_u64(j, r->figure < LAB_TABLE(0) ? "figure" : "table", r->figure % LAB_TABLE(0));
		json_string(j, "what", r->what);
		json_string(j, "graph", r->graph);
		json_double(j, "paper", r->paper);
		json_begin_array(j, "ours");
		for (v = 0; v < s->done; v++)
			json_double(j, NULL, s->row[i].ours[v]);
		json_end_array(j);
		json_end_object(j);
	}
	json_end_array(j);
}
