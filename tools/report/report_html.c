// SPDX-License-Identifier: MIT
/* gtu report: writes tables and text of the page, and owns its memory. */
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"
#include "tools/support/svg.h"

struct report_memory {
	struct report_memory *next;
	_Alignas(16) char data[];
};

void *report_alloc(struct report *r, size_t count, size_t size)
{
	struct report_memory *m = NULL;
	size_t bytes;

	if (!__builtin_mul_overflow(count + 1, size, &bytes) && bytes < SIZE_MAX - sizeof(*m))
		m = calloc(1, sizeof(*m) + bytes);
	if (!m) {
		r->no_memory = true;
		return NULL;
	}
	m->next = r->memory;
	r->memory = m;
	return m->data;
}

void report_free(struct report *r)
{
	struct report_memory *m = r->memory, *next;

	for (; m; m = next) {
		next = m->next;
		free(m);
	}
	r->memory = NULL;
}

void report_text(struct report *r, const char *s)
{
	svg_text(r->to, s, SIZE_MAX);
}

void report_line(struct report *r, const char *s)
{
	fputs("<p class=\"soft\">", r->to);
	report_text(r, s);
	fputs("</p>\n", r->to);
}

char *report_words(struct report *r, const char *fmt, ...)
{
	char text[256], *copy;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	copy = report_alloc(r, strlen(text), 1);
	return copy ? strcpy(copy, text) : NULL;
}

struct report_digits report_digits(double v)
{
	struct report_digits d = { "" };
	char plain[40];
	unsigned n, to = 0, i;

	if (isnan(v))
		return d;
	if (v != floor(v) || fabs(v) >= 1e15) {
		snprintf(d.text, sizeof(d.text), "%.4g", v);
		return d;
	}
	n = (unsigned)snprintf(plain, sizeof(plain), "%.0f", v);
	for (i = 0; i < n; i++) {
		d.text[to++] = plain[i];
		if (plain[i] != '-' && i + 1 < n && (n - i - 1) % 3 == 0)
			d.text[to++] = ',';
	}
	d.text[to] = 0;
	return d;
}

void report_facts(struct report *r)
{
	fputs("<table class=\"facts\"><tbody>\n", r->to);
}

void report_headline(struct report *r, const char *name, double value, const char *unit)
{
	if (isnan(value))
		return;
	fprintf(r->to, "<div><dt>%s</dt><dd>%s%s</dd></div>\n", name, report_digits(value).text, unit);
}

void report_fact_text(struct report *r, const char *name, const char *value)
{
	if (!value || !*value)
		return;
	fputs("<tr><th>", r->to);
	report_text(r, name);
	fputs("</th><td>", r->to);
	report_text(r, value);
	fputs("</td></tr>\n", r->to);
}

void report_fact(struct report *r, const char *name, const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0) {
		text = NULL;
		r->no_memory = true;
	}
	va_end(ap);
	report_fact_text(r, name, text);
	free(text);
}

void report_fact_number(struct report *r, const char *name, double value, const char *unit)
{
	if (!isnan(value))
		report_fact(r, name, "%s%s%s", report_digits(value).text, *unit ? " " : "", unit);
}

void report_table(struct report *r, const char *heads)
{
	size_t n;

	fputs("<table><thead><tr>", r->to);
	for (; *heads; heads += n + (heads[n] == '|')) {
		n = strcspn(heads, "|");
		fputs(*heads == '#' ? "<th class=\"n\">" : "<th>", r->to);
		svg_text(r->to, heads + (*heads == '#'), n - (*heads == '#'));
		fputs("</th>", r->to);
	}
	fputs("</tr></thead><tbody>", r->to);
}

void report_row(struct report *r, const char *row_class)
{
	if (r->row_open)
		fputs("</tr>", r->to);
	r->row_open = true;
	if (row_class && *row_class)
		fprintf(r->to, "\n<tr class=\"%s\">", row_class);
	else
		fputs("\n<tr>", r->to);
}

void report_cell_class(struct report *r, const char *cell_class, const char *value)
{
	if (*cell_class)
		fprintf(r->to, "<td class=\"%s\">", cell_class);
	else
		fputs("<td>", r->to);
	report_text(r, value ? value : "");
	fputs("</td>", r->to);
}

void report_cell(struct report *r, const char *value)
{
	report_cell_class(r, "", value);
}

void report_cell_number(struct report *r, double value)
{
	report_cell_class(r, "n", report_digits(value).text);
}

void report_end_table(struct report *r)
{
	fputs(r->row_open ? "</tr></tbody></table>\n" : "</tbody></table>\n", r->to);
	r->row_open = false;
}

void report_host(struct report *r, const struct json_value *doc)
{
	const struct json_value *host = json_get(doc, "host");

	report_fact_text(r, "processor", json_get_string(host, "cpu"));
	report_fact_text(r, "system", json_get_string(host, "system"));
}
