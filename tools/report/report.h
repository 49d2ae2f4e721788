/* SPDX-License-Identifier: MIT */
/*
 * gtu report: what the tool's verbs have written as JSON, as one page. A kind of file is a row of report_kinds[] (cmd_report.c):
 * how it is known, and the section that shows it. The charts of benchmarks are also those of `gtu bench --plot`.
 */
#ifndef GTU_REPORT_H
#define GTU_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "tools/support/chart.h"
#include "tools/support/json_read.h"

struct report {
	FILE *to;
	bool page;			/* drawings are parts of a page (svg.h) */
	bool no_memory;			/* something is missing for want of it */
	bool row_open;			/* of a table */
	struct report_memory *memory;
};

struct report_file {
	const char *path;
	const struct json_value *doc;
	struct json_tree *tree;
	const struct report_kind *kind;
};

struct report_kind {
	const char *verb;		/* that writes it: "gtu run" */
	/* Members that it has, and of which kind. */
	struct {
		const char *key;
		enum json_kind kind;
	} has[4];
	/* What it is of, for headings: "bfs by scu". */
	void (*title)(const struct json_value *doc, char *text, size_t size);
	void (*section)(struct report *r, const struct json_value *doc);
};

void report_title_lab(const struct json_value *doc, char *text, size_t size);
void report_title_sweep(const struct json_value *doc, char *text, size_t size);
void report_title_check(const struct json_value *doc, char *text, size_t size);
void report_title_run(const struct json_value *doc, char *text, size_t size);
void report_title_bench(const struct json_value *doc, char *text, size_t size);
void report_title_bench_lab(const struct json_value *doc, char *text, size_t size);
void report_title_stat(const struct json_value *doc, char *text, size_t size);
void report_lab(struct report *r, const struct json_value *doc);
void report_sweep(struct report *r, const struct json_value *doc);
void report_check(struct report *r, const struct json_value *doc);
void report_run(struct report *r, const struct json_value *doc);
void report_bench_units(struct report *r, const struct json_value *doc);
void report_bench_ioctl(struct report *r, const struct json_value *doc);
void report_bench_gpu(struct report *r, const struct json_value *doc);
void report_bench_lab(struct report *r, const struct json_value *doc);
void report_stat(struct report *r, const struct json_value *doc);

/* Edges a second of all runs beside each other; edges a second over edges a byte under what the link can bring. */
void report_rates(struct report *r, const struct report_file *file, unsigned files);
void report_roofline(struct report *r, const struct report_file *file, unsigned files);

/* The one chart of a benchmark that says most, also for --plot. */
void report_chart_units(struct report *r, const struct json_value *doc);
void report_chart_ioctl(struct report *r, const struct json_value *doc);
void report_chart_gpu(struct report *r, const struct json_value *doc);
void report_chart_sweep(struct report *r, const struct json_value *doc);
/*
 * Vertices a degree over the degree: @vertices[i] have a degree of @low[i] up to @low[i + 1] - 1, @n times. @name: the graph's.
 */
void report_chart_degrees(struct report *r, const char *name, const double *low, const double *vertices, unsigned n);

/* All has been written to @w: what it took is freed, and the file put in its place. GTU_ERR_NOMEM, GTU_ERR_FAIL. */
struct whole_file;
int report_close(struct report *r, struct whole_file *w, struct gtu_error *err);
/*
 * The chart of what @write puts into a file as JSON, as a drawing of its own at @path (whole_file.h): GTU_ERR_NOMEM, GTU_ERR_FAIL.
 */
int report_plot(const char *path, void (*write)(const void *subject, FILE *to), const void *subject,
		void (*chart)(struct report *r, const struct json_value *doc), struct gtu_error *err);

/* ---- report_html.c ---------------------------------------------------------------------------------- */

/* Zeroed; NULL, with r->no_memory, where there is none. report_free() gives back all that there is. */
void *report_room(struct report *r, size_t count, size_t size);
void report_free(struct report *r);

void report_text(struct report *r, const char *s);
/* The same as a paragraph. */
void report_line(struct report *r, const char *s);
/* Text that a number of words make; for labels of charts. */
char *report_words(struct report *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Rows "name, value" between report_facts() and report_end_table(). A value of NULL or NAN has no row. */
void report_facts(struct report *r);
void report_fact(struct report *r, const char *name, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void report_fact_text(struct report *r, const char *name, const char *value);
void report_fact_number(struct report *r, const char *name, double value, const char *unit);
/* @heads: columns, one behind the other with a '|' between; those that begin with '#' are of numbers. */
void report_table(struct report *r, const char *heads);
void report_row(struct report *r, const char *row_class);
void report_cell(struct report *r, const char *value);
void report_cell_class(struct report *r, const char *cell_class, const char *value);
/* With four digits, or all where it is a whole number; nothing for NAN. */
void report_cell_number(struct report *r, double value);
void report_end_table(struct report *r);
/* A number as report_cell_number() has it. */
struct report_digits {
	char text[40];
};
struct report_digits report_digits(double value);
/* "Intel ..., one core": what the figures depend on. */
void report_host(struct report *r, const struct json_value *doc);

#endif
