/* SPDX-License-Identifier: MIT */
/*
 * gtu report: presents the JSON output of the tool's verbs as one page. A row of report_kinds[]
 * (cmd_report.c) describes a kind of file: how to recognize it, and the section that shows it. `gtu
 * bench --plot` uses the benchmarks' charts, too.
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
	bool no_memory;			/* something is missing because memory was short */
	bool row_open;			/* a table row is open */
	struct report_memory *memory;
};

struct report_file {
	const char *path;
	const struct json_value *doc;
	struct json_tree *tree;
	const struct report_kind *kind;
};

struct report_kind {
	const char *verb;		/* that writes such files: "gtu run" */
	/* Members that identify such files, and their types. */
	struct {
		const char *key;
		enum json_kind kind;
	} has[4];
	/* The subject, for headings: "bfs by scu". */
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

/*
 * Compare the runs by logical cycles, requests, bytes, and edges per second; then edges per second over edges per
 * byte, with the limit of the link.
 */
void report_compare(struct report *r, const struct report_file *file, unsigned files);
void report_roofline(struct report *r, const struct report_file *file, unsigned files);
/* Count the rows that each experiment of the laboratory meets. */
void report_scores(struct report *r, const struct report_file *file, unsigned files);

/* The main chart of a benchmark, also for --plot. */
void report_chart_units(struct report *r, const struct json_value *doc);
void report_chart_ioctl(struct report *r, const struct json_value *doc);
void report_chart_gpu(struct report *r, const struct json_value *doc);
void report_chart_sweep(struct report *r, const struct json_value *doc);
/*
 * Vertices per degree over the degree, for @n bins: @vertices[i] have a degree of @low[i] to @low[i
 * + 1] - 1. @name: of the graph.
 */
void report_chart_degrees(struct report *r, const char *name, const double *low, const double *vertices, unsigned n);

/*
 * Free the report's memory and close @w. Returns GTU_ERR_NOMEM or GTU_ERR_FAIL if something failed.
 */
struct atomic_file;
int report_close(struct report *r, struct atomic_file *w, struct gtu_error *err);
/*
 * Write the chart of the JSON that @write writes to @path (atomic_file.h), as an SVG file. Returns
 * GTU_ERR_NOMEM or GTU_ERR_FAIL.
 */
int report_plot(const char *path, void (*write)(const void *subject, FILE *to), const void *subject,
		void (*chart)(struct report *r, const struct json_value *doc), struct gtu_error *err);

/* ---- report_html.c ---------------------------------------------------------------------------------- */

/* Allocate zeroed memory until report_free(). NULL, with r->no_memory set, if there is none. */
void *report_alloc(struct report *r, size_t count, size_t size);
void report_free(struct report *r);

void report_text(struct report *r, const char *s);
/* Write the text as a paragraph. */
void report_line(struct report *r, const char *s);
/* Format a text, for labels of charts; report_free() frees it. */
char *report_words(struct report *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Write a large figure, within <dl class="headline">; nothing for NAN. @name and @unit: of the tool, not of a file. */
void report_headline(struct report *r, const char *name, double value, const char *unit);
/* Rows "name, value" between report_facts() and report_end_table(). Values of NULL and NAN are left out. */
void report_facts(struct report *r);
void report_fact(struct report *r, const char *name, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void report_fact_text(struct report *r, const char *name, const char *value);
void report_fact_number(struct report *r, const char *name, double value, const char *unit);
/* @heads: the columns' names, separated by '|'; a '#' marks a column of numbers. */
void report_table(struct report *r, const char *heads);
void report_row(struct report *r, const char *row_class);
void report_cell(struct report *r, const char *value);
void report_cell_class(struct report *r, const char *cell_class, const char *value);
/* Write a number with four digits, or all digits if it is an integer; nothing for NAN. */
void report_cell_number(struct report *r, double value);
void report_end_table(struct report *r);
/* A number in the format of report_cell_number(). */
struct report_digits {
	char text[40];
};
struct report_digits report_digits(double value);
/* Write the computer that the figures depend on. */
void report_host(struct report *r, const struct json_value *doc);

#endif
