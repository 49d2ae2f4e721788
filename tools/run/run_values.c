// SPDX-License-Identifier: MIT
/* Formats the results of `gtu run`: single values, statistics, and text. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "tools/support/cli.h"
#include "tools/support/graph_options.h"
#include "tools/support/json.h"
#include "run.h"

#define BFS_NEVER	INT64_MAX	/* LDBC's value for unreachable vertices */
#define LEVELS_SHOWN	24
#define BAR_COLUMNS	40
#define TOP_SHOWN	10

/* ---- Values ------------------------------------------------------------------------------------- */

void run_write_hops(const struct run *r, const void *values, uint64_t v, FILE *f)
{
	const uint64_t *hops = values;

	(void)r;
	fprintf(f, "%" PRIu64 "\n", hops[v] == GTU_UNREACHED ? (uint64_t)BFS_NEVER : hops[v]);
}

void run_write_distance(const struct run *r, const void *values, uint64_t v, FILE *f)
{
	const double *distance = values;

	if (isinf(distance[v]))
		fputs("infinity\n", f);
	else	/* enough digits to read the same number back */
		fprintf(f, "%.*g\n", r->graph.weight_type == GTU_WEIGHT_F32 ? 9 : 17, distance[v]);
}

/* 17 significant digits. */
void run_write_real(const struct run *r, const void *values, uint64_t v, FILE *f)
{
	(void)r;
	fprintf(f, "%.16e\n", ((const double *)values)[v]);
}

/* All features of a vertex, formatted as by run_write_real(). */
void run_write_features(const struct run *r, const void *values, uint64_t v, FILE *f)
{
	const double *feature = (const double *)values + v * run_width(r);
	uint64_t i;

	for (i = 0; i < run_width(r); i++)
		fprintf(f, "%s%.16e", i ? " " : "", feature[i]);
	fputc('\n', f);
}

void run_write_vertex(const struct run *r, const void *values, uint64_t v, FILE *f)
{
	uint64_t vertex = ((const uint64_t *)values)[v];

	if (vertex < r->graph.n)
		fprintf(f, "%s\n", vertex_label(&r->graph, vertex));
	else
		fputs("no vertex\n", f);
}

void run_write_core(const struct run *r, const void *values, uint64_t v, FILE *f)
{
	(void)r;
	fprintf(f, "%" PRIu64 "\n", ((const uint64_t *)values)[v]);
}

void run_write_color(const struct run *r, const void *values, uint64_t v, FILE *f)
{
	(void)r;
	fprintf(f, "%" PRIu32 "\n", ((const uint32_t *)values)[v]);
}

/* ---- Shared functions ------------------------------------------------------------------------------------ */

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void bar(FILE *to, double value, double max)
{
	unsigned i, columns = max > 0 ? (unsigned)(BAR_COLUMNS * value / max + .5) : 0;

	if (columns)
		fputs("  ", to);
	for (i = 0; i < columns; i++)
		fputc('#', to);
	fputc('\n', to);
}

/*
 * Find the vertices with the greatest values, best first, the lower vertex on a tie. Returns their
 * number.
 */
static unsigned top_of(uint64_t n, double (*value)(const void *, uint64_t), const void *of,
		       uint64_t top[TOP_SHOWN])
{
	unsigned count = 0, i;
	uint64_t v;

	for (v = 0; v < n; v++) {
		if (count == TOP_SHOWN && value(of, v) <= value(of, top[count - 1]))
			continue;
		i = count < TOP_SHOWN ? count++ : count - 1;
		for (; i && value(of, v) > value(of, top[i - 1]); i--)
			top[i] = top[i - 1];
		top[i] = v;
	}
	return count;
}

static double real_at(const void *values, uint64_t v)
{
	return ((const double *)values)[v];
}

static double count_at(const void *values, uint64_t v)
{
	return (double)((const uint64_t *)values)[v];
}

/* Print the vertices with the greatest values; @format is that of a value. */
static void print_top(const struct run *r, const char *title, const char *format, FILE *to)
{
	uint64_t top[TOP_SHOWN];
	unsigned i, count = top_of(r->graph.n, real_at, r->real, top);

	fprintf(to, "\n      vertex    %s\n", title);
	for (i = 0; i < count; i++) {
		fprintf(to, "%12s    ", vertex_label(&r->graph, top[i]));
		fprintf(to, format, r->real[top[i]]);
		bar(to, r->real[top[i]], r->real[top[0]]);
	}
}

/* The number of vertices with each value from 0 to n. The caller frees size[]. */
struct histogram {
	uint64_t *size;			/* NULL: no memory, nothing is shown */
	uint64_t counted;		/* vertices whose value is at most n */
	uint64_t highest;		/* value; valid if counted is not 0 */
	uint64_t largest;		/* size */
};

static uint64_t value_of(const struct run *r, uint64_t v)
{
	return r->kind->value_bytes == 4 ? r->color[v] : r->integer[v];
}

/* Count integer values; values above n (unreachable) are left out. */
static struct histogram histogram_of(const struct run *r)
{
	struct histogram h = { calloc(r->graph.n + 1, sizeof(*h.size)), 0, 0, 0 };
	uint64_t v, value;

	for (v = 0; v < r->graph.n; v++) {
		value = value_of(r, v);
		if (value > r->graph.n)
			continue;
		h.counted++;
		h.highest = value > h.highest ? value : h.highest;
		if (h.size && ++h.size[value] > h.largest)
			h.largest = h.size[value];
	}
	return h;
}

static void print_histogram(const struct histogram *h, const char *title, FILE *to)
{
	uint64_t i, others = 0;

	if (!h->size)
		return;
	fprintf(to, "\n%8s     vertices\n", title);
	for (i = 0; i <= h->highest; i++) {
		if (i >= LEVELS_SHOWN && i < h->highest) {
			others += h->size[i];
			continue;
		}
		if (others)
			fprintf(to, "     ...  %11s not shown\n", grouped(others));
		fprintf(to, "%8" PRIu64 "  %11s", i, grouped(h->size[i]));
		bar(to, (double)h->size[i], (double)h->largest);
	}
}

/* ---- BFS, SSSP ------------------------------------------------------------------------------------ */

void run_json_bfs(const struct run *r, struct json *j)
{
	struct histogram h = histogram_of(r);

	json_u64(j, "reached", h.counted);
	json_u64(j, "max_hops", h.highest);
	free(h.size);
}

void run_print_bfs(const struct run *r, FILE *to)
{
	struct histogram h = histogram_of(r);

	print_histogram(&h, "hops", to);
	fprintf(to, "\nreached   %s of %s (%.1f %%), the farthest after %s\n",
		grouped(h.counted), vertices(r->graph.n), percent(h.counted, r->graph.n),
		counted(h.highest, "hop", "hops"));
	free(h.size);
}

static uint64_t reach_of(const struct run *r, double *max_distance)
{
	uint64_t v, reached = 0;

	*max_distance = 0;
	for (v = 0; v < r->graph.n; v++) {
		if (isinf(r->real[v]))
			continue;
		reached++;
		*max_distance = fmax(*max_distance, r->real[v]);
	}
	return reached;
}

void run_json_sssp(const struct run *r, struct json *j)
{
	double max_distance;

	json_u64(j, "reached", reach_of(r, &max_distance));
	json_double(j, "max_distance", max_distance);
}

void run_print_sssp(const struct run *r, FILE *to)
{
	double max_distance;
	uint64_t reached = reach_of(r, &max_distance);

	fprintf(to, "\nreached   %s of %s (%.1f %%), the farthest at distance %.9g\n",
		grouped(reached), vertices(r->graph.n), percent(reached, r->graph.n), max_distance);
}

/* ---- PageRank, betweenness -------------------------------------------------------------------------- */

static double sum_of(const struct run *r)
{
	double sum = 0;
	uint64_t v;

	for (v = 0; v < r->graph.n; v++)
		sum += r->real[v];
	return sum;
}

void run_json_pr(const struct run *r, struct json *j)
{
	json_double(j, "sum", sum_of(r));
}

void run_print_pr(const struct run *r, FILE *to)
{
	print_top(r, "rank", "%.6f", to);
	fprintf(to, "\nranks     of %s, sum %.9f\n", vertices(r->graph.n), sum_of(r));
}

void run_json_bc(const struct run *r, struct json *j)
{
	uint64_t i;

	json_begin_array(j, "sources");
	for (i = 0; i < r->opt.source_count; i++)
		json_u64(j, NULL, gtu_graph_id(&r->graph, r->opt.sources[i]));
	json_end_array(j);
	json_double(j, "sum", sum_of(r));
}

void run_print_bc(const struct run *r, FILE *to)
{
	print_top(r, "shortest paths through it", "%16.3f", to);
	fprintf(to, "\nscores    of %s, sum %.9g\n", vertices(r->graph.n), sum_of(r));
}

/* Find the value of greatest magnitude. Returns the sum of all magnitudes. */
static double features_of(const struct run *r, uint64_t *greatest)
{
	const uint64_t count = r->graph.n * run_width(r);
	double sum = 0;
	uint64_t i;

	*greatest = 0;
	for (i = 0; i < count; i++) {
		sum += fabs(r->real[i]);
		if (fabs(r->real[i]) > fabs(r->real[*greatest]))
			*greatest = i;
	}
	return sum;
}

void run_json_gcn(const struct run *r, struct json *j)
{
	uint64_t greatest;

	json_u64(j, "features", run_width(r));
	json_u64(j, "seed", r->opt.seed);
	json_double(j, "sum_of_magnitudes", features_of(r, &greatest));
}

void run_print_gcn(const struct run *r, FILE *to)
{
	const uint64_t width = run_width(r);
	uint64_t at;
	double sum = features_of(r, &at);

	fprintf(to, "\nfeatures  %s of each of %s, seed %" PRIu64 ", sum of magnitudes %.9g\n",
		grouped(width), vertices(r->graph.n), r->opt.seed, sum);
	if (r->graph.n)
		fprintf(to, "greatest  %.9g, feature %" PRIu64 " of vertex %s\n", r->real[at], at % width,
			vertex_label(&r->graph, at / width));
}

/* ---- Components ------------------------------------------------------------------------------------- */

static uint64_t components_in(const struct run *r)
{
	uint64_t v, found = 0;

	for (v = 0; v < r->graph.n; v++)
		found += r->integer[v] == v;
	return found;
}

void run_json_cc(const struct run *r, struct json *j)
{
	struct histogram h = histogram_of(r);

	json_u64(j, "components", components_in(r));
	json_u64(j, "largest", h.largest);
	free(h.size);
}

/* Print the values that most vertices have; the values are vertices. */
static void print_largest(const struct run *r, const struct histogram *h, const char *title, FILE *to)
{
	uint64_t top[TOP_SHOWN];
	unsigned i, count = h->size ? top_of(r->graph.n, count_at, h->size, top) : 0;

	fprintf(to, "\n%12s     vertices\n", title);
	for (i = 0; i < count && h->size[top[i]]; i++) {
		fprintf(to, "%12s  %11s", vertex_label(&r->graph, top[i]),
			grouped(h->size[top[i]]));
		bar(to, (double)h->size[top[i]], (double)h->largest);
	}
}

void run_print_cc(const struct run *r, FILE *to)
{
	struct histogram h = histogram_of(r);

	print_largest(r, &h, "component", to);
	fprintf(to, "\nfound     %s, the largest with %s of %s (%.1f %%)\n",
		counted(components_in(r), "component", "components"), grouped(h.largest), vertices(r->graph.n),
		percent(h.largest, r->graph.n));
	free(h.size);
}

/* ---- Communities, clustering -------------------------------------------------------------------------- */

/* The number of labels that vertices have. */
static uint64_t communities_in(const struct histogram *h)
{
	uint64_t i, found = 0;

	for (i = 0; h->counted && h->size && i <= h->highest; i++)
		found += h->size[i] > 0;
	return found;
}

void run_json_cdlp(const struct run *r, struct json *j)
{
	struct histogram h = histogram_of(r);

	json_u64(j, "communities", communities_in(&h));
	json_u64(j, "largest", h.largest);
	free(h.size);
}

void run_print_cdlp(const struct run *r, FILE *to)
{
	struct histogram h = histogram_of(r);

	print_largest(r, &h, "community", to);
	fprintf(to, "\nfound     %s, the largest with %s of %s (%.1f %%)\n",
		counted(communities_in(&h), "community", "communities"), grouped(h.largest), vertices(r->graph.n),
		percent(h.largest, r->graph.n));
	free(h.size);
}

static double mean_of(const struct run *r)
{
	return r->graph.n ? sum_of(r) / (double)r->graph.n : 0;
}

void run_json_lcc(const struct run *r, struct json *j)
{
	json_double(j, "mean", mean_of(r));
}

void run_print_lcc(const struct run *r, FILE *to)
{
	print_top(r, "clustering coefficient", "%.6f", to);
	fprintf(to, "\nmean      %.9f over %s\n", mean_of(r), counted(r->graph.n, "vertex", "vertices"));
}

/* ---- ST-connectivity, colours, cores ------------------------------------------------------------------ */

void run_json_stcon(const struct run *r, struct json *j)
{
	json_bool(j, "connected", *r->integer != GTU_UNREACHED);
	if (*r->integer == GTU_UNREACHED)
		json_null(j, "hops");
	else
		json_u64(j, "hops", *r->integer);
}

void run_print_stcon(const struct run *r, FILE *to)
{
	const char *from = vertex_label(&r->graph, r->opt.source), *target = vertex_label(&r->graph, r->opt.target);

	if (*r->integer == GTU_UNREACHED)
		fprintf(to, "\nno path   from %s to %s\n", from, target);
	else
		fprintf(to, "\nconnected %s to %s by a path of %s\n", from, target,
			edges(*r->integer));
}

void run_json_gc(const struct run *r, struct json *j)
{
	struct histogram h = histogram_of(r);

	json_u64(j, "colors", h.counted ? h.highest + 1 : 0);
	json_u64(j, "largest", h.largest);
	free(h.size);
}

void run_print_gc(const struct run *r, FILE *to)
{
	struct histogram h = histogram_of(r);

	print_histogram(&h, "colour", to);
	fprintf(to, "\ncoloured  %s with %s\n", vertices(r->graph.n),
		counted(h.counted ? h.highest + 1 : 0, "colour", "colours"));
	free(h.size);
}

/* The highest core and its number of vertices. Parallel edges can make it exceed n. */
static uint64_t highest_core(const struct run *r, uint64_t *vertices)
{
	uint64_t v, highest = 0;

	*vertices = 0;
	for (v = 0; v < r->graph.n; v++) {
		if (r->integer[v] > highest) {
			highest = r->integer[v];
			*vertices = 0;
		}
		*vertices += r->integer[v] == highest;
	}
	return highest;
}

void run_json_kc(const struct run *r, struct json *j)
{
	uint64_t vertices;

	json_u64(j, "highest", highest_core(r, &vertices));
	json_u64(j, "vertices_of_highest", vertices);
}

void run_print_kc(const struct run *r, FILE *to)
{
	struct histogram h = histogram_of(r);
	uint64_t held, highest = highest_core(r, &held);

	print_histogram(&h, "core", to);
	fprintf(to, "\ncores     up to %s, which has %s of %s\n", grouped(highest), grouped(held),
		vertices(r->graph.n));
	free(h.size);
}
