// SPDX-License-Identifier: MIT
/* gtu report, gtu bench --plot: sections and charts of benchmarks. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

static const char *string_of(const struct json_value *doc, const char *key)
{
	const char *s = json_get_string(doc, key);

	return s ? s : "?";
}

void report_title_bench(const struct json_value *doc, char *text, size_t size)
{
	snprintf(text, size, "device %s", string_of(doc, "device"));
}

void report_title_bench_lab(const struct json_value *doc, char *text, size_t size)
{
	snprintf(text, size, "the laboratory's speed, machine %s", string_of(doc, "machine"));
}

/* ---- units ---------------------------------------------------------------------------------------------- */

static char *set_words(struct report *r, const struct json_value *row)
{
	double set = json_get_number(row, "working_set", NAN);

	return set >= 1 << 20 ? report_words(r, "%.4g MiB", set / (1 << 20)) : report_words(r, "%.4g KiB", set / 1024);
}

void report_chart_units(struct report *r, const struct json_value *doc)
{
	static const char *const series[] = { "unit", "memcpy of the same size", "plain software" };
	const struct json_value *results = json_get_kind(doc, "results", JSON_ARRAY), *row;
	size_t capacity = results ? results->count : 0;
	const char **name = report_alloc(r, capacity, sizeof(*name));
	double *value = report_alloc(r, 3 * capacity, sizeof(*value));
	char title[200];
	unsigned n = 0;

	snprintf(title, sizeof(title), "Bytes read and written per second, device %s", string_of(doc, "device"));
	for json_each(row, name && value ? results : NULL) {
		name[n] = report_words(r, "%s %s %s, %s", string_of(row, "unit"), string_of(row, "operation"), string_of(row, "variant"),
				       set_words(r, row));
		if (!name[n])
			return;
		value[3 * n] = json_get_number(row, "unit_gbps", NAN);
		value[3 * n + 1] = json_get_number(row, "memcpy_gbps", NAN);
		value[3 * n++ + 2] = json_get_number(row, "bytes", NAN) / json_get_number(row, "plain_seconds", NAN) * 1e-9;
	}
	{
		struct chart_bars c = { .title = title, .x_name = "GB/s", .row = name, .rows = n, .series = series, .count = 3, .value = value };

		chart_draw_bars(&c, r->page, r->to);
	}
}

static void put_target(struct report *r, const struct json_value *row)
{
	const struct json_value *target = json_get(row, "target"), *met = json_get_kind(target, "met", JSON_BOOL);
	double share = json_get_number(target, "share_of_memcpy", NAN), rate = json_get_number(target, "unit_melements", NAN);
	bool reached = met && met->number > 0;

	if (!met)
		report_cell(r, "");
	else if (!isnan(share))
		report_cell_class(r, reached ? "met" : "missed", report_words(r, "%s %.0f%%", reached ? "reaches" : "below", share * 100));
	else
		report_cell_class(r, reached ? "met" : "missed", report_words(r, "%s %.0f M/s", reached ? "reaches" : "below", rate));
}

void report_bench_units(struct report *r, const struct json_value *doc)
{
	const struct json_value *row;

	report_facts(r);
	report_fact_text(r, "device", json_get_string(doc, "device"));
	report_host(r, doc);
	report_fact_text(r, "SCU's code", json_get_string(doc, "scu_code"));
	report_fact_text(r, "IRU's code", json_get_string(doc, "iru_code"));
	report_fact_number(r, "took", json_get_number(doc, "seconds", NAN), "s");
	report_end_table(r);
	report_chart_units(r, doc);
	report_table(r, "operation||#set|#unit GB/s|#memcpy GB/s|#share|#unit M/s|#plain M/s|#unit / plain|target");
	for json_each(row, json_get(doc, "results")) {
		report_row(r, "");
		report_cell(r, report_words(r, "%s %s", string_of(row, "unit"), string_of(row, "operation")));
		report_cell(r, json_get_string(row, "variant"));
		report_cell_class(r, "n", set_words(r, row));
		report_cell_number(r, json_get_number(row, "unit_gbps", NAN));
		report_cell_number(r, json_get_number(row, "memcpy_gbps", NAN));
		report_cell_class(r, "n", report_words(r, "%.0f%%", 100 * json_get_number(row, "share_of_memcpy", NAN)));
		report_cell_number(r, json_get_number(row, "unit_melements", NAN));
		report_cell_number(r, json_get_number(row, "plain_melements", NAN));
		report_cell_number(r, json_get_number(row, "speedup_over_plain", NAN));
		put_target(r, row);
	}
	report_end_table(r);
}

/* ---- ioctl ------------------------------------------------------------------------------------------------ */

void report_chart_ioctl(struct report *r, const struct json_value *doc)
{
	static const char *const series[] = { "median", "99th percentile" };
	const struct json_value *all = json_get_kind(doc, "series", JSON_ARRAY), *s;
	size_t capacity = all ? all->count : 0;
	const char **name = report_alloc(r, capacity, sizeof(*name));
	double *value = report_alloc(r, 2 * capacity, sizeof(*value));
	char title[200];
	unsigned n = 0;

	snprintf(title, sizeof(title), "Time of each path to the device, %s", string_of(doc, "device"));
	for json_each(s, name && value ? all : NULL) {
		if (isnan(json_get_number(s, "p50_ns", NAN)))
			continue;
		name[n] = string_of(s, "name");
		value[2 * n] = json_get_number(s, "p50_ns", NAN);
		value[2 * n++ + 1] = json_get_number(s, "p99_ns", NAN);
	}
	{
		struct chart_bars c = { .title = title, .x_name = "ns, done within", .log_x = true, .row = name, .rows = n, .series = series,
					.count = 2, .value = value };

		chart_draw_bars(&c, r->page, r->to);
	}
}

struct point {
	double x, y;
};

static int by_x(const void *a, const void *b)
{
	const struct point *p = a, *q = b;

	return (p->x > q->x) - (p->x < q->x);
}

/* Jobs per second in @list over @x, for entries whose @other is @wanted. */
static struct chart_series rates_over(struct report *r, const struct json_value *list, const char *x, const char *other, double wanted,
				      const char *name)
{
	struct point *p = report_alloc(r, list->count, sizeof(*p));
	double *xs = report_alloc(r, 2 * list->count, sizeof(*xs));
	struct chart_series s = { .name = name, .x = xs, .y = xs ? xs + list->count : NULL };
	const struct json_value *v;
	unsigned i;

	if (!p || !xs)
		return s;
	for json_each(v, list) {
		double at = json_get_number(v, x, NAN), rate = json_get_number(v, "jobs_per_second", NAN);

		if (json_get_number(v, other, NAN) == wanted && at > 0 && rate > 0)
			p[s.n++] = (struct point){ at, rate };
	}
	qsort(p, s.n, sizeof(*p), by_x);
	for (i = 0; i < s.n; i++) {
		xs[i] = p[i].x;
		xs[list->count + i] = p[i].y;
	}
	return s;
}

/* The benchmark varies batch and depth one at a time: draw a line for each. */
static void draw_rates(struct report *r, const struct json_value *doc)
{
	const struct json_value *list = json_get_kind(doc, "rates", JSON_ARRAY), *v;
	struct chart_series series[2];
	struct chart c = { .title = "Jobs per second (one queue, one thread)", .x_name = "jobs in a batch, jobs in flight", .y_name = "jobs per second",
			   .log_x = true, .log_y = true, .series = series, .count = 2 };
	double max_depth = 0;

	if (!list)
		return;
	for json_each(v, list)
		max_depth = fmax(max_depth, json_get_number(v, "depth", 0));
	series[0] = rates_over(r, list, "batch", "depth", max_depth, report_words(r, "over the batch, %.0f in flight", max_depth));
	series[1] = rates_over(r, list, "depth", "batch", 1, "over the jobs in flight, submitted one by one");
	if (chart_has(&c))
		chart_draw(&c, r->page, r->to);
}

/* Draw @y over @x of the members of @list, with a line for each value of @by. */
static void draw_lines(struct report *r, const struct json_value *list, const char *by, const char *x, const char *y, struct chart c)
{
	struct chart_series series[8];
	const struct json_value *v;
	unsigned n = 0, k;

	for json_each(v, list) {
		const char *name = json_get_string(v, by);
		double *xs;

		for (k = 0; name && k < n && strcmp(series[k].name, name); k++)
			;
		if (!name || k == 8)
			continue;
		if (k == n) {
			xs = report_alloc(r, 2 * list->count, sizeof(*xs));
			if (!xs)
				return;
			series[n++] = (struct chart_series){ .name = name, .x = xs, .y = xs + list->count };
		}
		xs = (double *)series[k].x;
		xs[series[k].n] = json_get_number(v, x, NAN);
		xs[list->count + series[k].n++] = json_get_number(v, y, NAN);
	}
	c.series = series;
	c.count = n;
	if (chart_has(&c))
		chart_draw(&c, r->page, r->to);
}

void report_bench_ioctl(struct report *r, const struct json_value *doc)
{
	const struct json_value *s;
	unsigned i;

	report_facts(r);
	report_fact_text(r, "device", json_get_string(doc, "device"));
	report_host(r, doc);
	report_fact_number(r, "took", json_get_number(doc, "seconds", NAN), "s");
	report_end_table(r);
	report_chart_ioctl(r, doc);
	draw_rates(r, doc);
	draw_lines(r, json_get(doc, "submit_cpu"), "path", "batch", "cpu_ns",
		   (struct chart){ .title = "CPU time of submission per job", .x_name = "jobs in a batch", .y_name = "ns", .log_x = true, .log_y = true });
	report_table(r, "what||#50% ns|#90% ns|#99% ns|#max ns|#system calls");
	for json_each(s, json_get(doc, "series")) {
		report_row(r, "");
		report_cell(r, json_get_string(s, "name"));
		if (json_get_string(s, "unsupported")) {
			report_cell_class(r, "soft", report_words(r, "unsupported: %s", json_get_string(s, "unsupported")));
			for (i = 0; i < 5; i++)
				report_cell(r, "");
			continue;
		}
		report_cell(r, json_get_string(s, "what"));
		report_cell_number(r, json_get_number(s, "p50_ns", NAN));
		report_cell_number(r, json_get_number(s, "p90_ns", NAN));
		report_cell_number(r, json_get_number(s, "p99_ns", NAN));
		report_cell_number(r, json_get_number(s, "max_ns", NAN));
		report_cell_number(r, json_get_number(s, "system_calls", NAN));
	}
	report_end_table(r);
}

/* ---- gpu --------------------------------------------------------------------------------------------------- */

static char *gpu_row(struct report *r, const struct json_value *row)
{
	const struct json_value *p = json_get(row, "placement");
	double bytes = json_get_number(p, "edge_bytes", NAN), cache = json_get_number(p, "cache_bytes", 0);

	return report_words(r, "%s %s, %s %s%s, %s", string_of(row, "algorithm"), string_of(row, "kernel"), string_of(p, "edges"),
			    bytes > 0 ? bytes > 4 ? "8" : "4" : "compressed", cache > 0 ? " and card" : "", string_of(row, "graph"));
}

static void draw_link(struct report *r, const struct json_value *doc)
{
	const struct json_value *link = json_get_kind(doc, "link_gbps", JSON_OBJECT), *kind, *access;
	const char *name[16], *series[8];
	unsigned rows = 0, count = 0, k;
	double value[16 * 8];

	/* the members of the first kind are the accesses */
	for json_each(access, link ? link->first : NULL)
		if (access->key && count < 8)
			series[count++] = access->key;
	for json_each(kind, link) {
		bool any = false;

		if (rows == 16 || !count)
			break;
		name[rows] = kind->key;
		for (k = 0; k < count; k++) {
			value[rows * count + k] = json_get_number(kind, series[k], NAN);
			any |= value[rows * count + k] > 0;
		}
		rows += any;	/* skip kinds that were not measured, which are 0 */
	}
	if (rows) {
		struct chart_bars c = { .title = "Bandwidth of the link, by placement and access pattern", .x_name = "GB/s", .row = name,
					.rows = rows, .series = series, .count = count, .value = value };

		chart_draw_bars(&c, r->page, r->to);
	}
}

void report_chart_gpu(struct report *r, const struct json_value *doc)
{
	const struct json_value *results = json_get_kind(doc, "results", JSON_ARRAY), *row;
	size_t capacity = results ? results->count : 0;
	const char **name = report_alloc(r, capacity, sizeof(*name)), *none[] = { "" };
	double *value = report_alloc(r, capacity, sizeof(*value));
	char title[200];
	unsigned n = 0;

	if (!capacity) {
		draw_link(r, doc);
		return;
	}
	snprintf(title, sizeof(title), "Traversals on %s", json_get_string(json_get(doc, "gpu"), "name") ?
		 json_get_string(json_get(doc, "gpu"), "name") : "a GPU");
	for json_each(row, name && value ? results : NULL) {
		name[n] = gpu_row(r, row);
		if (!name[n])
			return;
		value[n++] = json_get_number(row, "edges", NAN) / json_get_number(row, "seconds", NAN);
	}
	{
		struct chart_bars c = { .title = title, .x_name = "edges per second", .row = name, .rows = n, .series = none, .count = 1, .value = value };

		chart_draw_bars(&c, r->page, r->to);
	}
}

void report_bench_gpu(struct report *r, const struct json_value *doc)
{
	const struct json_value *row, *gpu = json_get(doc, "gpu"), *results = json_get(doc, "results");

	report_facts(r);
	report_fact_text(r, "device", json_get_string(doc, "device"));
	report_fact_text(r, "gpu", json_get_string(gpu, "name"));
	report_fact_number(r, "gpu memory", json_get_number(gpu, "memory_bytes", NAN), "bytes");
	report_host(r, doc);
	report_end_table(r);
	draw_link(r, doc);
	if (!results || !results->count)
		return;
	report_chart_gpu(r, doc);
	report_table(r, "run|#ms|#min|#max|#steps|#share of link|#M edges/s|#GB link|#GB card");
	for json_each(row, results) {
		report_row(r, "");
		report_cell(r, gpu_row(r, row));
		report_cell_number(r, 1e3 * json_get_number(row, "seconds", NAN));
		report_cell_number(r, 1e3 * json_get_number(row, "seconds_min", NAN));
		report_cell_number(r, 1e3 * json_get_number(row, "seconds_max", NAN));
		report_cell_number(r, json_get_number(row, "iterations", NAN));
		report_cell_class(r, "n", report_words(r, "%.1f%%", 100 * json_get_number(row, "share_of_link", NAN)));
		report_cell_number(r, 1e-6 * json_get_number(row, "edges", NAN) / json_get_number(row, "seconds", NAN));
		report_cell_number(r, 1e-9 * json_get_number(row, "list_bytes_read", NAN));
		report_cell_number(r, 1e-9 * json_get_number(row, "cached_bytes_read", NAN));
	}
	report_end_table(r);
}

/* ---- lab ---------------------------------------------------------------------------------------------------- */

void report_bench_lab(struct report *r, const struct json_value *doc)
{
	static const char *const series[] = { "million warp instructions per second", "million sector requests per second" };
	const struct json_value *cases = json_get_kind(doc, "cases", JSON_ARRAY), *row, *part;
	size_t capacity = cases ? cases->count : 0;
	const char **name = report_alloc(r, capacity, sizeof(*name));
	double *value = report_alloc(r, 2 * capacity, sizeof(*value)), seconds;
	unsigned n = 0;

	report_facts(r);
	report_fact_text(r, "graph", json_get_string(doc, "graph"));
	report_fact_number(r, "graph memory", json_get_number(doc, "graph_bytes", NAN), "bytes");
	report_fact_number(r, "laboratory memory", json_get_number(doc, "lab_bytes", NAN), "bytes");
	report_end_table(r);
	for json_each(row, name && value ? cases : NULL) {
		seconds = json_get_number(row, "cpu_seconds", NAN);
		name[n] = string_of(row, "kernel");
		value[2 * n] = json_get_number(row, "warp_instructions", NAN) / seconds * 1e-6;
		value[2 * n++ + 1] = json_get_number(row, "sector_requests", NAN) / seconds * 1e-6;
	}
	{
		struct chart_bars c = { .title = "Simulation speed on one core", .x_name = "million per second", .row = name, .rows = n,
					.series = series, .count = 2, .value = value };

		chart_draw_bars(&c, r->page, r->to);
	}
	report_table(r, "kernel|#seconds|#cycles|#warp instructions|#sector requests|#at L2|share of time");
	for json_each(row, cases) {
		char shares[200] = "";

		for json_each(part, json_get_kind(row, "share", JSON_OBJECT))
			if (part->kind == JSON_NUMBER && part->number >= 0.005)
				snprintf(shares + strlen(shares), sizeof(shares) - strlen(shares), "%s%s %.0f%%", *shares ? ", " : "", part->key,
					 100 * part->number);
		report_row(r, "");
		report_cell(r, json_get_string(row, "kernel"));
		report_cell_number(r, json_get_number(row, "cpu_seconds", NAN));
		report_cell_number(r, json_get_number(row, "cycles", NAN));
		report_cell_number(r, json_get_number(row, "warp_instructions", NAN));
		report_cell_number(r, json_get_number(row, "sector_requests", NAN));
		report_cell_number(r, json_get_number(row, "l2_sectors", NAN));
		report_cell(r, shares);
	}
	report_end_table(r);
}
