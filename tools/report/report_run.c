// SPDX-License-Identifier: MIT
/* gtu report: the section for `gtu run`: levels, requests, and comparisons of runs. */
#include <math.h>
#include <string.h>

#include "report.h"

#define RUNS_MAX 60u			/* in one chart */

static const char *string_of(const struct json_value *doc, const char *key)
{
	const char *s = json_get_string(doc, key);

	return s ? s : "?";
}

/* The last component of a path. */
static const char *file_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

void report_title_run(const struct json_value *doc, char *text, size_t size)
{
	snprintf(text, size, "%s by %s%s%s over %s", string_of(doc, "algorithm"), string_of(doc, "unit"),
		 json_get(doc, "kernel") ? ", kernel " : "", json_get(doc, "kernel") ? string_of(doc, "kernel") : "",
		 file_of(string_of(doc, "graph")));
}

static bool is_model(const struct json_value *doc)
{
	return !strncmp(string_of(doc, "device"), "model", 5);
}

static double seconds_of(const struct json_value *doc)
{
	double gpu = json_get_number(doc, "gpu_seconds", NAN);

	return isnan(gpu) ? json_get_number(json_get(doc, "seconds"), "total", NAN) : gpu;
}

static double rate_of(const struct json_value *doc)
{
	double s = seconds_of(doc);

	return s > 0 ? json_get_number(doc, "edges_traversed", NAN) / s : NAN;
}

static double cycles_of(const struct json_value *doc)
{
	return json_get_number(doc, "jobs", 0) > 0 ? json_get_number(doc, "job_cycles", NAN) : NAN;
}

/* The requests of --monitor for host memory. */
static double requests_of(const struct json_value *doc)
{
	static const char *const key[] = { "host_read", "host_write" };
	const struct json_value *zcm = json_get(json_get(doc, "counters"), "zcm");
	char member[32];
	double sum = 0;
	unsigned i;

	for (i = 0; i < 8; i++) {
		snprintf(member, sizeof(member), "%s_%u", key[i / 4], 32 * (i % 4 + 1));
		sum += json_get_number(zcm, member, 0);
	}
	return sum > 0 ? sum : NAN;
}

/* The bytes of host memory that units, or a GPU's reads of the edge list, moved. */
static double bytes_of(const struct json_value *doc)
{
	const struct json_value *zcm = json_get(json_get(doc, "counters"), "zcm");
	double sum = json_get_number(zcm, "host_read_bytes", 0) + json_get_number(zcm, "host_write_bytes", 0);

	return sum > 0 ? sum : json_get_number(doc, "list_bytes_read", NAN);
}

/*
 * The bandwidth of the edge list over the link, 10^9 bytes per second, measured by its placement;
 * NAN: no link, or not measured.
 */
static double link_of(const struct json_value *doc)
{
	const struct json_value *p = json_get(doc, "placement");
	const char *edges = json_get_string(p, "edges");
	double link;

	if (!edges || !strcmp(edges, "device"))
		return NAN;
	link = fmax(json_get_number(p, "managed_gbps", 0), json_get_number(p, "pinned_gbps", 0));
	return link > 0 ? link : NAN;
}

/* ---- Levels ------------------------------------------------------------------------------------------- */

struct levels {
	unsigned n;
	double *x, *frontier, *edges, *ms, *bandwidth;
	bool united, cycles;		/* steps have several iterations; bandwidth is in bytes per cycle */
};

static bool read_levels(struct report *r, const struct json_value *doc, struct levels *l)
{
	const struct json_value *steps = json_get_kind(doc, "steps", JSON_ARRAY), *s;
	double *all, iterations, bytes, over;

	*l = (struct levels){ .cycles = is_model(doc) };
	all = steps && steps->count ? report_alloc(r, 5 * steps->count, sizeof(*all)) : NULL;
	if (!all)
		return false;
	l->x = all;
	l->frontier = all + steps->count;
	l->edges = l->frontier + steps->count;
	l->ms = l->edges + steps->count;
	l->bandwidth = l->ms + steps->count;
	for json_each(s, steps) {
		iterations = fmax(json_get_number(s, "iterations", 1), 1);
		l->united |= iterations > 1;
		l->x[l->n] = json_get_number(s, "first", NAN) + (iterations - 1) / 2;
		l->frontier[l->n] = json_get_number(s, "frontier", NAN) / iterations;
		l->edges[l->n] = json_get_number(s, "edges", NAN) / iterations;
		l->ms[l->n] = json_get_number(s, "seconds", NAN) * 1e3 / iterations;
		bytes = json_get_number(s, "list_bytes_read", NAN);
		if (isnan(bytes))
			bytes = json_get_number(s, "bytes_read", NAN) + json_get_number(s, "bytes_written", NAN);
		over = l->cycles ? json_get_number(s, "job_cycles", NAN) : json_get_number(s, "seconds", NAN) * 1e9;
		l->bandwidth[l->n++] = over > 0 ? bytes / over : NAN;
	}
	return true;
}

static void draw_levels(struct report *r, const struct json_value *doc)
{
	double link = link_of(doc), ends[2], roof[2] = { link, link };
	struct levels l;

	if (!read_levels(r, doc, &l) || l.n < 2)
		return;
	ends[0] = l.x[0];
	ends[1] = l.x[l.n - 1];
	{
		struct chart_series s[] = {
			{ .name = "vertices of the frontier", .x = l.x, .y = l.frontier, .n = l.n },
			{ .name = "edges traversed", .x = l.x, .y = l.edges, .n = l.n },
		};
		struct chart c = { .title = l.united ? "Frontier over levels (means of neighbouring levels)" : "Frontier over levels",
				   .x_name = "level or iteration, from 0", .whole_x = true, .y_name = "vertices, edges", .log_y = true, .series = s, .count = 2 };

		if (chart_has(&c))
			chart_draw(&c, r->page, r->to);
	}
	{
		struct chart_series s[] = {
			{ .name = l.cycles ? "" : "read and written", .x = l.x, .y = l.bandwidth, .n = l.n },
			{ .name = "the link, as measured", .x = ends, .y = roof, .n = 2, .mark = CHART_LIMIT },
		};
		struct chart c = { .title = "Bandwidth over levels", .x_name = "level or iteration, from 0", .whole_x = true,
				   .y_name = l.cycles ? "bytes per logical cycle" : "GB/s", .series = s, .count = isnan(link) ? 1 : 2 };

		/* do not draw the limit without measurements */
		struct chart measured = { .series = s, .count = 1 };

		if (chart_has(&measured))
			chart_draw(&c, r->page, r->to);
		else
			fputs("<p class=\"soft\">No bandwidth over levels: the run did not count bytes; use <code>gtu run --monitor</code> with a "
			      "unit.</p>\n", r->to);
	}
	{
		struct chart_series s = { .name = "", .x = l.x, .y = l.ms, .n = l.n };
		struct chart c = { .title = is_model(doc) ? "Host time over levels (of the model, a program on this computer)" : "Time over levels",
				   .x_name = "level or iteration, from 0", .whole_x = true, .y_name = "ms", .series = &s, .count = 1 };

		if (chart_has(&c))
			chart_draw(&c, r->page, r->to);
	}
}

/* ---- Requests ------------------------------------------------------------------------------------------ */

static void draw_requests(struct report *r, const struct json_value *doc)
{
	static const char *const size[] = { "32 bytes", "64 bytes", "96 bytes", "128 bytes" };
	static const char *const key[] = { "host_read", "host_write", "aperture_read", "aperture_write" };
	static const char *const name[] = { "reads of host memory", "writes of host memory", "reads of device memory", "writes of device memory" };
	const struct json_value *zcm = json_get(json_get(doc, "counters"), "zcm");
	const char *series[4], *trip[16];
	double value[16], all = 0, trips[16];
	unsigned used = 0, d, i, from = 16, to = 0;
	char member[32];

	for (d = 0; d < 4; d++) {
		double sum = 0, n[4];

		for (i = 0; i < 4; i++) {
			snprintf(member, sizeof(member), "%s_%u", key[d], 32 * (i + 1));
			n[i] = json_get_number(zcm, member, 0);
			sum += n[i];
		}
		if (!(sum > 0))
			continue;
		all += sum;
		for (i = 0; i < 4; i++)
			value[4 * used + i] = n[i];
		series[used++] = name[d];
	}
	if (!(all > 0))
		return;
	{
		double by_size[16];
		struct chart_bars c = { .title = "Requests by size", .x_name = "requests", .row = size, .rows = 4, .series = series, .count = used,
					.value = by_size };

		for (i = 0; i < 4; i++)
			for (d = 0; d < used; d++)
				by_size[i * used + d] = value[4 * d + i];
		chart_draw_bars(&c, r->page, r->to);
	}
	for (i = 0; i < 16; i++) {
		snprintf(member, sizeof(member), "trip_%u", 1u << i);
		trips[i] = json_get_number(zcm, member, 0);
		trip[i] = report_words(r, i < 15 ? "%u to %u cycles" : "%u cycles or more", 1u << i, (2u << i) - 1);
		if (!trip[i])
			return;
		if (trips[i] > 0) {
			from = from < i ? from : i;
			to = i + 1;
		}
	}
	if (from < to) {
		const char *none[] = { "" };
		struct chart_bars c = { .title = "Round trips by length", .x_name = "requests", .row = trip + from, .rows = to - from, .series = none,
					.count = 1, .value = trips + from };

		chart_draw_bars(&c, r->page, r->to);
	}
}

/* ---- A run ----------------------------------------------------------------------------------------------- */

static void put_counters(struct report *r, const struct json_value *doc)
{
	const struct json_value *counters = json_get_kind(doc, "counters", JSON_OBJECT), *unit, *c;

	if (!counters || !counters->count)
		return;
	fputs("<details><summary>Counters of the units</summary>\n", r->to);
	report_table(r, "unit|counter|#value");
	for json_each(unit, counters)
		for json_each(c, unit) {
			if (!c->key || c->kind != JSON_NUMBER || !(c->number > 0))
				continue;
			report_row(r, "");
			report_cell(r, unit->key);
			report_cell(r, c->key);
			report_cell_number(r, c->number);
		}
	report_end_table(r);
	fputs("</details>\n", r->to);
}

static void put_id(struct report *r, const char *name, double id)
{
	if (!isnan(id))
		report_fact(r, name, "%.0f", id);
}

static void put_time(struct report *r, const char *name, double seconds)
{
	if (!isnan(seconds) && name)
		report_fact(r, name, seconds < 1e-3 ? "%.4g us" : seconds < 1 ? "%.4g ms" : "%.4g s",
			    seconds * (seconds < 1e-3 ? 1e6 : seconds < 1 ? 1e3 : 1));
}

void report_run(struct report *r, const struct json_value *doc)
{
	const struct json_value *seconds = json_get(doc, "seconds"), *verified = json_get(doc, "verified"), *s, *result;
	const char *time = is_model(doc) ? "host seconds" : "time";

	fputs("<dl class=\"headline\">\n", r->to);
	report_headline(r, "logical cycles", cycles_of(doc), "");
	report_headline(r, "requests", requests_of(doc), "");
	report_headline(r, "bytes of host memory", bytes_of(doc), "");
	report_headline(r, "edges traversed", json_get_number(doc, "edges_traversed", NAN), "");
	if (!is_model(doc))
		report_headline(r, "time", seconds_of(doc), " s");
	fputs("</dl>\n", r->to);
	draw_levels(r, doc);
	draw_requests(r, doc);
	fputs("<details open><summary>Parameters and times</summary>\n", r->to);
	report_facts(r);
	report_fact_text(r, "device", json_get_string(doc, "device"));
	report_fact_text(r, "gpu", json_get_string(json_get(doc, "gpu"), "name"));
	report_fact_text(r, "graph", json_get_string(doc, "graph"));
	report_fact_number(r, "vertices", json_get_number(doc, "vertices", NAN), "");
	report_fact_number(r, "edges", json_get_number(doc, "edges", NAN), "");
	put_id(r, "source", json_get_number(doc, "source", NAN));
	put_id(r, "target", json_get_number(doc, "target", NAN));
	report_fact_text(r, "weights", json_get_string(doc, "weights"));
	report_fact_text(r, "edge list", json_get_string(json_get(doc, "placement"), "why"));
	report_fact_number(r, "iterations", json_get_number(doc, "iterations", NAN), "");
	report_fact_number(r, "edges traversed", json_get_number(doc, "edges_traversed", NAN), "");
	for json_each(result, json_get_kind(doc, "result", JSON_OBJECT))
		if (result->kind == JSON_NUMBER)
			report_fact_number(r, result->key, result->number, "");
	if (cycles_of(doc) > 0) {
		report_fact_number(r, "unit jobs", json_get_number(doc, "jobs", NAN), "");
		report_fact_number(r, "logical cycles of the jobs", cycles_of(doc), "");
	}
	put_time(r, time, seconds_of(doc));
	for json_each(s, seconds)
		if (s->key && s->kind == JSON_NUMBER && strcmp(s->key, "total") && s->number > 0)
			put_time(r, strcmp(s->key, "open") ? report_words(r, "%s in phase %s", time, s->key) : "opening the graph (not included)",
				 s->number);
	if (rate_of(doc) > 0)
		report_fact(r, is_model(doc) ? "edges per host second" : "edges per second", "%s", chart_number(rate_of(doc)).text);
	report_fact_text(r, "verified", !verified || verified->kind != JSON_BOOL ? "no" :
			 verified->number > 0 ? "equal to the reference code's result" : "THE RESULT DIFFERS FROM THE REFERENCE CODE'S");
	report_end_table(r);
	fputs("</details>\n", r->to);
	put_counters(r, doc);
}

/* ---- Comparison ------------------------------------------------------------------------------------ */

static bool is_run(const struct report_file *f)
{
	return f->kind->section == report_run;
}

/* One bar per run for which @value_of has a value; nothing for fewer than two. */
static void compare(struct report *r, const struct report_file *file, unsigned files, const char *name, const char *unit,
		    double (*value_of)(const struct json_value *doc))
{
	const char **row = report_alloc(r, files, sizeof(*row)), *none[] = { "" };
	double *value = report_alloc(r, files, sizeof(*value));
	char title[160];
	unsigned i, n = 0;

	for (i = 0; row && value && i < files && n < RUNS_MAX; i++) {
		if (!is_run(&file[i]) || !(value_of(file[i].doc) > 0))
			continue;
		report_title_run(file[i].doc, title, sizeof(title));
		value[n] = value_of(file[i].doc);
		row[n] = report_words(r, "%u. %s", i + 1, title);
		n += row[n] != NULL;
	}
	if (n > 1) {
		struct chart_bars c = { .title = name, .x_name = unit, .row = row, .rows = n, .series = none, .count = 1, .value = value };

		chart_draw_bars(&c, r->page, r->to);
	}
}

void report_compare(struct report *r, const struct report_file *file, unsigned files)
{
	unsigned i, runs = 0, models = 0;

	for (i = 0; i < files; i++) {
		runs += is_run(&file[i]);
		models += is_run(&file[i]) && is_model(file[i].doc);
	}
	if (runs < 2)
		return;
	fputs("<h2 id=\"runs\">Runs beside each other</h2>\n", r->to);
	compare(r, file, files, "Logical cycles", "cycles of the units' jobs", cycles_of);
	compare(r, file, files, "Requests", "requests for host memory (--monitor)", requests_of);
	compare(r, file, files, "Bytes", "bytes of host memory read and written", bytes_of);
	if (models)
		fputs("<p class=\"soft\">The device \"model\" is a program on this computer: its seconds say nothing about a board's.</p>\n", r->to);
	compare(r, file, files, models ? "Edges per host second" : "Edges per second", "edges traversed per second of wall-clock time", rate_of);
}

/* ---- The roofline -------------------------------------------------------------------------------------------- */

#define POINTS_MAX 400u
#define ROOFS_MAX 4u
#define NAMES_MAX 12u			/* algorithms */

struct roofline {
	struct report *r;
	struct {
		const char *name;
		double x[POINTS_MAX], y[POINTS_MAX];
		const char *label[POINTS_MAX];
		unsigned points;
	} of[NAMES_MAX];
	unsigned names;
	double roof[ROOFS_MAX];
	unsigned roofs;
};

/* Add a point. @bytes: over the link; @link: 10^9 bytes per second. */
static void add_point(struct roofline *f, const char *algorithm, double edges, double bytes, double seconds, double link, const char *label)
{
	unsigned i, n;

	if (!(edges > 0 && bytes > 0 && seconds > 0 && link > 0) || !label)
		return;
	for (i = 0; i < f->names && strcmp(f->of[i].name, algorithm); i++)
		;
	if (i == NAMES_MAX || f->of[i].points == POINTS_MAX)
		return;
	f->names += i == f->names;
	n = f->of[i].points++;
	f->of[i].name = algorithm;
	f->of[i].x[n] = edges / bytes;
	f->of[i].y[n] = edges / seconds;
	f->of[i].label[n] = label;
	/* links within 2% of each other count as one */
	for (i = 0; i < f->roofs; i++)
		if (fabs(f->roof[i] / link - 1) < 0.02)
			return;
	if (f->roofs < ROOFS_MAX)
		f->roof[f->roofs++] = link;
}

/* The highest bandwidth that gtu bench gpu measured; NAN: not measured. */
static double measured_link(const struct json_value *doc)
{
	const struct json_value *kind, *access;
	double link = 0;

	for json_each(kind, json_get(doc, "link_gbps"))
		if (kind->key && strcmp(kind->key, "device"))
			for json_each(access, kind)
				if (access->kind == JSON_NUMBER)
					link = fmax(link, access->number);
	return link > 0 ? link : NAN;
}

/*
 * The bandwidth for a run: its own measurement, or that of a benchmark of the same GPU on the page.
 */
static double link_for(const struct json_value *doc, const struct report_file *file, unsigned files)
{
	const char *gpu = json_get_string(json_get(doc, "gpu"), "name"), *edges = json_get_string(json_get(doc, "placement"), "edges"), *other;
	double link = link_of(doc);
	unsigned i;

	for (i = 0; isnan(link) && gpu && edges && strcmp(edges, "device") && i < files; i++) {
		other = json_get_string(json_get(file[i].doc, "gpu"), "name");
		if (other && !strcmp(gpu, other))
			link = measured_link(file[i].doc);
	}
	return link;
}

static void add_bench(struct roofline *f, const struct json_value *doc)
{
	const struct json_value *row;
	double link = measured_link(doc);

	for json_each(row, json_get(doc, "results")) {
		const char *edges = json_get_string(json_get(row, "placement"), "edges");

		if (edges && strcmp(edges, "device"))
			add_point(f, string_of(row, "algorithm"), json_get_number(row, "edges", NAN), json_get_number(row, "list_bytes_read", NAN),
				  json_get_number(row, "seconds", NAN), isnan(link) ? link_of(row) : link,
				  report_words(f->r, "%s, kernel %s, edges %s, over %s", string_of(row, "algorithm"), string_of(row, "kernel"), edges,
					       file_of(string_of(row, "graph"))));
	}
}

void report_roofline(struct report *r, const struct report_file *file, unsigned files)
{
	struct roofline *f = report_alloc(r, 1, sizeof(*f));
	struct chart_series series[NAMES_MAX + ROOFS_MAX];
	double ends[2] = { INFINITY, 0 }, (*high)[2];
	char title[160];
	unsigned i, k;

	high = report_alloc(r, ROOFS_MAX, sizeof(*high));
	if (!f || !high)
		return;
	f->r = r;
	for (i = 0; i < files; i++) {
		const struct json_value *doc = file[i].doc;

		report_title_run(doc, title, sizeof(title));
		if (is_run(&file[i]))
			add_point(f, string_of(doc, "algorithm"), json_get_number(doc, "edges_traversed", NAN), json_get_number(doc, "list_bytes_read", NAN), seconds_of(doc),
				  link_for(doc, file, files), report_words(r, "%s", title));
		if (file[i].kind->section == report_bench_gpu)
			add_bench(f, doc);
	}
	for (i = 0; i < f->names; i++)
		for (k = 0; k < f->of[i].points; k++) {
			ends[0] = fmin(ends[0], f->of[i].x[k] / 1.5);
			ends[1] = fmax(ends[1], f->of[i].x[k] * 1.5);
		}
	if (!f->names)
		return;
	for (i = 0; i < f->roofs; i++) {
		high[i][0] = ends[0] * f->roof[i] * 1e9;
		high[i][1] = ends[1] * f->roof[i] * 1e9;
		series[f->names + i] = (struct chart_series){ .name = report_words(r, "the link at %.1f GB/s", f->roof[i]), .x = ends, .y = high[i], .n = 2,
						   .mark = CHART_LIMIT };
	}
	for (i = 0; i < f->names; i++)
		series[i] = (struct chart_series){ .name = f->of[i].name, .x = f->of[i].x, .y = f->of[i].y, .n = f->of[i].points,
						   .mark = CHART_POINTS, .label = f->of[i].label };
	{
		struct chart c = { .title = "Roofline against the link", .x_name = "edges per byte of the edge list read over the link",
				   .y_name = "edges per second", .log_x = true, .log_y = true, .series = series, .count = f->names + f->roofs };

		fputs("<h2 id=\"roofline\">Roofline</h2>\n<p class=\"soft\">The link limits a point on the line; of two points of the same height, the left one needs "
		      "more bytes per edge. Tooltips of the points name their runs.</p>\n", r->to);
		chart_draw(&c, r->page, r->to);
	}
}
