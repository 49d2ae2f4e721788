// SPDX-License-Identifier: MIT
/* gtu report, gtu stat --plot: the section and the chart of a graph. */
#include <math.h>

#include "report.h"

void report_title_stat(const struct json_value *doc, char *text, size_t size)
{
	const char *graph = json_get_string(doc, "graph");

	snprintf(text, size, "the graph %s", graph ? graph : "?");
}

void report_chart_degrees(struct report *r, const char *name, const double *low, const double *vertices, unsigned n)
{
	double *x = report_alloc(r, 2 * (size_t)n, sizeof(*x)), *y = x ? x + n : NULL, wide;
	struct chart_series s = { .name = "", .x = x, .y = y, .mark = CHART_POINTS };
	struct chart c = { .x_name = "degree (edges that leave a vertex)", .y_name = "vertices for each degree", .log_x = true, .log_y = true,
			   .series = &s, .count = 1 };
	unsigned i;

	c.title = report_words(r, "Degrees of %s", name);
	if (!x || !c.title)
		return;
	for (i = 0; i < n; i++) {
		wide = low[i + 1] - low[i];
		/* the geometric mean of the bin's least and greatest degree */
		x[i] = sqrt(low[i] * (low[i + 1] - 1));
		y[i] = vertices[i] / wide;
	}
	s.n = n;
	chart_draw(&c, r->page, r->to);
}

void report_stat(struct report *r, const struct json_value *doc)
{
	static const struct {
		const char *key, *name;
	} numbers[] = {
		{ "vertices", "vertices" }, { "edges", "edges, directed, as stored" }, { "stored", "entries of the input" },
		{ "mean_degree", "mean degree" }, { "min_degree", "least degree" }, { "max_degree", "greatest degree" },
{ "self_loops", "self loops" }, { "duplicates", "duplicates" },
		{ "isolated", "isolated vertices" }, { "components", "components" }, { "largest_component", "vertices of the largest" },
	};
	const struct json_value *directed = json_get(doc, "directed"), *bins = json_get_kind(doc, "degree_histogram", JSON_ARRAY), *v;
	double *low, *vertices, greatest = json_get_number(doc, "max_degree", INFINITY);
	const char *name = json_get_string(doc, "graph");
	unsigned i, n = 0;

	report_facts(r);
	report_fact_text(r, "kind", directed && directed->kind == JSON_BOOL ? directed->number > 0 ? "directed" : "undirected, each edge both ways" : NULL);
	report_fact_text(r, "weights", json_get_string(doc, "weights"));
	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		report_fact_number(r, numbers[i].name, json_get_number(doc, numbers[i].key, NAN), "");
	report_end_table(r);
	/* element k > 0: degrees from 2^(k-1) to 2^k - 1, limited by the greatest degree */
	low = bins && bins->count > 1 && bins->count <= 65 ? report_alloc(r, 65, sizeof(*low)) : NULL;
	vertices = low ? report_alloc(r, 65, sizeof(*vertices)) : NULL;
	if (!vertices)
		return;
	for (v = bins->first->next; v; v = v->next) {
		low[n] = exp2(n);
		vertices[n++] = v->kind == JSON_NUMBER ? v->number : NAN;
	}
	low[n] = fmin(exp2(n), greatest + 1);
	if (low[n] > low[n - 1])
		report_chart_degrees(r, name ? name : "the graph", low, vertices, n);
}
