// SPDX-License-Identifier: MIT
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "graph_options.h"
#include "json.h"
#include "run.h"
#include "whole_file.h"

#define BFS_NEVER	INT64_MAX	/* what LDBC writes for "not reached" */
#define LEVELS_SHOWN	24
#define BAR_COLUMNS	40
#define TOP_SHOWN	10

const char *run_name(enum run_algorithm algorithm)
{
	static const char *const name[] = { "bfs", "sssp", "pr", "cc" };

	return name[algorithm];
}

/* ---- Files ------------------------------------------------------------------------------------ */

static void write_value(const struct run *r, uint64_t v, FILE *f)
{
	switch (r->algorithm) {
	case RUN_BFS:
		fprintf(f, "%" PRIu64 "\n",
			r->integer[v] == GTU_UNREACHED ? (uint64_t)BFS_NEVER : r->integer[v]);
		break;
	case RUN_CC:
		fprintf(f, "%" PRIu64 "\n", gtu_graph_id(&r->graph, r->integer[v]));
		break;
	case RUN_SSSP:
		if (isinf(r->real[v]))
			fputs("infinity\n", f);
		else	/* as many digits as give the same number back */
			fprintf(f, "%.*g\n", r->graph.weight_type == GTU_WEIGHT_F32 ? 9 : 17,
				r->real[v]);
		break;
	case RUN_PR:
		fprintf(f, "%.16e\n", r->real[v]);	/* 17 significant digits */
		break;
	}
}

int run_write_output(const struct run *r, struct gtu_error *err)
{
	struct whole_file t;
	uint64_t v;
	int rc;

	rc = whole_file_open(&t, r->output, err);
	if (rc)
		return rc;
	for (v = 0; v < r->graph.n && !rc; v++) {
		fprintf(t.file, "%" PRIu64 " ", gtu_graph_id(&r->graph, v));
		write_value(r, v, t.file);
		if (ferror(t.file))
			rc = whole_file_failed(&t, err);
		else if (v % 65536 == 0 && gtu_tick(r->opt.progress, "writing", v, r->graph.n))
			rc = gtu_fail(err, GTU_ERR_INTERRUPTED, "interrupted; %s is not written",
				      r->output);
	}
	return whole_file_close(&t, rc, err);
}

/* ---- What came out ------------------------------------------------------------------------------ */

/* Numbers about a result; which of them mean something depends on the algorithm. */
struct summary {
	uint64_t reached;		/* BFS, SSSP */
	uint64_t deepest;		/* BFS: hops of the farthest vertex */
	double farthest;		/* SSSP */
	double sum;			/* PR: of all ranks */
	uint64_t components, largest;	/* CC */
	uint64_t *size;			/* BFS: vertices by hops; CC: vertices by component; or NULL */
};

static void summarize(const struct run *r, struct summary *s)
{
	uint64_t v, n = r->graph.n, at;

	memset(s, 0, sizeof(*s));
	if (r->algorithm == RUN_BFS || r->algorithm == RUN_CC)
		s->size = calloc(n + 1, sizeof(*s->size));
	for (v = 0; v < n; v++) {
		switch (r->algorithm) {
		case RUN_BFS:
		case RUN_CC:
			at = r->integer[v];
			if (at >= n)
				break;
			s->reached++;
			s->components += at == v;
			if (at > s->deepest)
				s->deepest = at;
			if (s->size && ++s->size[at] > s->largest)
				s->largest = s->size[at];
			break;
		case RUN_SSSP:
			if (isinf(r->real[v]))
				break;
			s->reached++;
			s->farthest = fmax(s->farthest, r->real[v]);
			break;
		case RUN_PR:
			s->sum += r->real[v];
			break;
		}
	}
}

static void json_result(struct json *j, const struct run *r)
{
	struct summary s;

	summarize(r, &s);
	json_begin_object(j, "result");
	switch (r->algorithm) {
	case RUN_BFS:
		json_u64(j, "reached", s.reached);
		json_u64(j, "deepest", s.deepest);
		break;
	case RUN_SSSP:
		json_u64(j, "reached", s.reached);
		json_double(j, "farthest", s.farthest);
		break;
	case RUN_PR:
		json_double(j, "sum", s.sum);
		break;
	case RUN_CC:
		json_u64(j, "components", s.components);
		json_u64(j, "largest", s.largest);
		break;
	}
	json_end_object(j);
	free(s.size);
}

static void json_counters(struct json *j, const struct run *r)
{
	const char *const *name;
	unsigned i, k;

	json_begin_object(j, "counters");
	for (i = 0; i < r->units; i++) {
		json_begin_object(j, r->counters[i].name);
		name = gtu_counter_names(r->counters[i].unit);
		for (k = 0; name && name[k]; k++)
			json_u64(j, name[k], r->counters[i].value[k]);
		json_end_object(j);
	}
	json_end_object(j);
}

static int json_run(const struct run *r, FILE *f)
{
	const struct gtu_algorithm_stats *s = &r->stats;
	struct json j;
	unsigned i;

	json_start(&j, f);
	json_begin_object(&j, NULL);
	json_string(&j, "algorithm", run_name(r->algorithm));
	json_string(&j, "unit", r->unit);
	json_string(&j, "device", r->device);
	json_string(&j, "graph", r->path);
	json_u64(&j, "vertices", r->graph.n);
	json_u64(&j, "edges", r->graph.m);
	json_u64(&j, "edges_stored", r->graph.stored);
	json_bool(&j, "directed", r->graph.flags & GTU_GRAPH_DIRECTED);
	if (r->algorithm == RUN_BFS || r->algorithm == RUN_SSSP)
		json_u64(&j, "source", gtu_graph_id(&r->graph, r->opt.source));
	if (r->algorithm == RUN_SSSP)
		json_string(&j, "weights", r->weights);
	json_u64(&j, "iterations", s->iterations);
	json_u64(&j, "edges_traversed", s->edges);
	json_begin_object(&j, "seconds");
	json_double(&j, "open", r->open_seconds);
	for (i = 0; i < s->phases; i++)
		json_double(&j, s->phase[i].name, s->phase[i].seconds);
	json_double(&j, "total", s->seconds);
	json_end_object(&j);
	json_u64(&j, "jobs", s->jobs);
	json_u64(&j, "job_cycles", s->job_cycles);
	json_counters(&j, r);
	json_result(&j, r);
	if (r->verdict == RUN_NOT_VERIFIED)
		json_null(&j, "verified");
	else
		json_bool(&j, "verified", r->verdict == RUN_EQUAL);
	json_end_object(&j);
	return json_finish(&j);
}

int run_write_json(const struct run *r, struct gtu_error *err)
{
	struct whole_file t;
	int rc = whole_file_open(&t, r->json, err);

	if (rc)
		return rc;
	if (json_run(r, t.file))
		rc = whole_file_failed(&t, err);
	return whole_file_close(&t, rc, err);
}

/* ---- For a person --------------------------------------------------------------------------------- */

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void bar(FILE *to, uint64_t value, uint64_t most)
{
	unsigned i, columns = most ? (unsigned)(BAR_COLUMNS * (double)value / (double)most + .5) : 0;

	if (columns)
		fputs("  ", to);
	for (i = 0; i < columns; i++)
		fputc('#', to);
	fputc('\n', to);
}

static void print_levels(const struct summary *s, FILE *to)
{
	uint64_t most = 0, i, others = 0;

	if (!s->size)
		return;
	for (i = 0; i <= s->deepest; i++)
		most = s->size[i] > most ? s->size[i] : most;
	fputs("\n    hops     vertices\n", to);
	for (i = 0; i <= s->deepest; i++) {
		if (i >= LEVELS_SHOWN && i < s->deepest) {
			others += s->size[i];
			continue;
		}
		if (others)
			fprintf(to, "     ...  %11s in between\n", grouped(others));
		fprintf(to, "%8" PRIu64 "  %11s", i, grouped(s->size[i]));
		bar(to, s->size[i], most);
	}
}

/* The vertices of the greatest values, best first; the lower vertex on a tie. Returns how many. */
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

static void print_result(const struct run *r, FILE *to)
{
	uint64_t n = r->graph.n, top[TOP_SHOWN];
	struct summary s;
	unsigned i, count;

	summarize(r, &s);
	switch (r->algorithm) {
	case RUN_BFS:
		print_levels(&s, to);
		fprintf(to, "\nreached   %s of %s vertices (%.1f %%), the farthest in %" PRIu64 " hops\n",
			grouped(s.reached), grouped(n), percent(s.reached, n), s.deepest);
		break;
	case RUN_SSSP:
		fprintf(to, "\nreached   %s of %s vertices (%.1f %%), the farthest at distance %.9g\n",
			grouped(s.reached), grouped(n), percent(s.reached, n), s.farthest);
		break;
	case RUN_PR:
		count = top_of(n, real_at, r->real, top);
		fputs("\n      vertex    rank\n", to);
		for (i = 0; i < count; i++) {
			fprintf(to, "%12" PRIu64 "    %.6f", gtu_graph_id(&r->graph, top[i]),
				r->real[top[i]]);
			bar(to, (uint64_t)(r->real[top[i]] * 1e15),
			    (uint64_t)(r->real[top[0]] * 1e15));
		}
		fprintf(to, "\nranks     of %s vertices, together %.9f\n", grouped(n), s.sum);
		break;
	case RUN_CC:
		count = s.size ? top_of(n, count_at, s.size, top) : 0;
		fputs("\n   component     vertices\n", to);
		for (i = 0; i < count && s.size[top[i]]; i++) {
			fprintf(to, "%12" PRIu64 "  %11s", gtu_graph_id(&r->graph, top[i]),
				grouped(s.size[top[i]]));
			bar(to, s.size[top[i]], s.largest);
		}
		fprintf(to, "\nfound     %s components, the largest with %s of %s vertices (%.1f %%)\n",
			grouped(s.components), grouped(s.largest), grouped(n),
			percent(s.largest, n));
		break;
	}
	free(s.size);
}

static void print_time(const struct run *r, FILE *to)
{
	const struct gtu_algorithm_stats *s = &r->stats;
	unsigned i;

	fprintf(to, "time      %.6f s:", s->seconds);
	for (i = 0; i < s->phases; i++)
		fprintf(to, "%s %s %.6f", i ? "," : "", s->phase[i].name, s->phase[i].seconds);
	fprintf(to, "; opening the graph took %.6f s\n", r->open_seconds);
	fprintf(to, "edges     %s traversed in %s %s", grouped(s->edges), grouped(s->iterations),
		r->algorithm == RUN_BFS ? "levels" : "iterations");
	if (s->seconds > 0)
		fprintf(to, ", %.1f million a second", 1e-6 * (double)s->edges / s->seconds);
	fputc('\n', to);
}

static const uint64_t *counters_of(const struct run *r, uint32_t unit)
{
	unsigned i;

	for (i = 0; i < r->units; i++)
		if (r->counters[i].unit == unit)
			return r->counters[i].value;
	return NULL;
}

static void print_units(const struct run *r, FILE *to)
{
	const uint64_t *c = counters_of(r, GTU_UNIT_SCU);
	uint64_t clock;

	if (!r->dev)
		return;
	clock = gtu_get_info(r->dev)->clock_hz;
	fprintf(to, "unit      %s on %s: %s jobs, %s logical cycles", r->unit, r->device,
		grouped(r->stats.jobs), grouped(r->stats.job_cycles));
	if (clock)
		fprintf(to, " (%.3f ms at %.0f MHz)",
			1e3 * (double)r->stats.job_cycles / (double)clock, 1e-6 * (double)clock);
	fputc('\n', to);
	if (c && c[GTU_SCU_C_JOBS]) {
		fprintf(to, "          %s elements put out", grouped(c[GTU_SCU_C_OUT]));
		if (c[GTU_SCU_C_PROBES])
			fprintf(to, "; %s of %s looked up were filtered out (%.1f %%)",
				grouped(c[GTU_SCU_C_DROPPED]), grouped(c[GTU_SCU_C_PROBES]),
				percent(c[GTU_SCU_C_DROPPED], c[GTU_SCU_C_PROBES]));
		if (c[GTU_SCU_C_GROUPS])
			fprintf(to, "; groups by line hold %.2f of them on average",
				(double)c[GTU_SCU_C_GROUPED] / (double)c[GTU_SCU_C_GROUPS]);
		fputc('\n', to);
	}
	c = counters_of(r, GTU_UNIT_IRU);
	if (c && c[GTU_IRU_C_JOBS]) {
		fprintf(to, "          %s indices in, %s merged (%.1f %%), %s warps of %.2f lines each\n",
			grouped(c[GTU_IRU_C_IN]), grouped(c[GTU_IRU_C_MERGED]),
			percent(c[GTU_IRU_C_MERGED], c[GTU_IRU_C_IN]),
			grouped(c[GTU_IRU_C_RECORDS]),
			c[GTU_IRU_C_RECORDS] ? (double)c[GTU_IRU_C_LINES] /
					       (double)c[GTU_IRU_C_RECORDS] : 0);
	}
}

/* What a link would have carried: emogi.txt, section 3. */
static void print_requests(const struct run *r, FILE *to)
{
	static const char *const what[] = { "reads", "writes" };
	const uint64_t *c = counters_of(r, GTU_UNIT_ZCM);
	uint64_t all;
	unsigned dir, size;

	if (!r->monitor)
		return;
	if (!c) {
		fprintf(to, "monitor   no unit worked: nothing was asked of memory\n");
		return;
	}
	for (dir = GTU_ZCM_HOST_READ; dir <= GTU_ZCM_HOST_WRITE; dir++) {
		for (size = 1, all = 0; size <= 4; size++)
			all += c[GTU_ZCM_C_REQUESTS(dir, size)];
		fprintf(to, "%s%s %s requests, %s bytes of memory:", dir ? "          " : "monitor   ", what[dir],
			grouped(all), grouped(c[GTU_ZCM_C_BYTES(dir)]));
		for (size = 1; size <= 4; size++)
			fprintf(to, " %.1f %% of %u%s", percent(c[GTU_ZCM_C_REQUESTS(dir, size)], all), 32 * size,
				size < 4 ? "," : " bytes\n");
	}
}

void run_print(const struct run *r, FILE *to)
{
	const struct gtu_graph *g = &r->graph;

	fprintf(to, "graph     %s: %s vertices, %s edges (%s)\n", g->name, grouped(g->n),
		grouped(g->m), g->flags & GTU_GRAPH_DIRECTED ? "directed" : "undirected, each both ways");
	if (r->algorithm == RUN_BFS || r->algorithm == RUN_SSSP)
		fprintf(to, "source    %" PRIu64 "%s\n", gtu_graph_id(g, r->opt.source),
			r->source_chosen ? ", the vertex of most edges; --source ID takes another" : "");
	if (r->algorithm == RUN_SSSP)
		fprintf(to, "weights   %s\n", r->weights);
	print_result(r, to);
	print_time(r, to);
	print_units(r, to);
	print_requests(r, to);
	if (r->verdict == RUN_EQUAL)
		fprintf(to, "verified  the plain reference code gives the same (%.6f s)\n",
			r->verify_seconds);
}
