// SPDX-License-Identifier: MIT
/* Writes the results of `gtu run`: --output, --json and text. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/support/cli.h"
#include "tools/support/graph_options.h"
#include "tools/support/json.h"
#include "run.h"
#include "tools/support/atomic_file.h"

/* ---- Files ------------------------------------------------------------------------------------ */

int run_write_output(const struct run *r, struct gtu_error *err)
{
	struct atomic_file t;
	uint64_t v;
	int rc;

	rc = atomic_file_open(&t, r->output, err);
	if (rc)
		return rc;
	for (v = 0; v < run_values(r) && !rc && !ferror(t.file); v++) {
		if (r->kind->takes & RUN_TAKES_QUERIES)
			fprintf(t.file, "%" PRIu64 " ", v);
		else
			fprintf(t.file, "%s ", vertex_label(&r->graph, r->kind->one ? r->opt.target : v));
		r->kind->write(r, r->result, v, t.file);
		if (v % 65536 == 0 && gtu_tick(r->opt.progress, "writing", v, run_values(r)))
			rc = gtu_fail(err, GTU_ERR_INTERRUPTED, "interrupted; %s was not written",
				      r->output);
	}
	return atomic_file_close(&t, rc, err);
}

/* ---- JSON ---------------------------------------------------------------------------------------- */

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

/* Write the direction of iterations [@first, @end). */
static void json_direction(struct json *j, const char *direction, uint64_t first, uint64_t end)
{
	if (first >= end)
		return;
	json_begin_object(j, NULL);
	json_string(j, "direction", direction);
	json_u64(j, "first", first);
	json_u64(j, "iterations", end - first);
	json_end_object(j);
}

static void json_directions(struct json *j, const struct gtu_algorithm_stats *s)
{
	json_begin_array(j, "directions");
	json_direction(j, "push", 0, s->pull_first);
	json_direction(j, "pull", s->pull_first, s->pull_end);
	json_direction(j, "push", s->pull_end, s->iterations);
	json_end_array(j);
}

/* The id of a vertex and, if it has one, its name. */
static void json_vertex(struct json *j, const char *id_key, const char *name_key, const struct gtu_graph *g, uint64_t v)
{
	size_t bytes;

	json_u64(j, id_key, gtu_graph_id(g, v));
	if (gtu_graph_vertex_name(g, v, &bytes))
		json_string(j, name_key, vertex_label(g, v));
}

/* The share of the exchanges' time in which ranks computed. */
static double hidden_share(const struct gtu_ranks_traffic *t)
{
	return t->waited_ns < t->exchange_ns ? 1 - (double)t->waited_ns / (double)t->exchange_ns : 0;
}

/* Only of several ranks. */
static void json_ranks(struct json *j, const struct run *r)
{
	struct gtu_ranks_traffic t;
	uint32_t rank, size = 1;

	if (r->dev)
		gtu_ranks_of(r->dev, &rank, &size);
	if (size < 2)
		return;
	gtu_ranks_get_traffic(r->dev, &t);
	json_begin_object(j, "ranks");
	json_u64(j, "ranks", size);
	json_u64(j, "exchanges", t.exchanges);
	json_u64(j, "bytes", t.bytes);
	json_u64(j, "vertex_bytes", t.vertex_bytes);
	json_u64(j, "value_bytes", t.value_bytes);
	json_u64(j, "edge_bytes", t.edge_bytes);
	if (t.exchange_ns) {
		json_double(j, "exchange_seconds", 1e-9 * (double)t.exchange_ns);
		json_double(j, "hidden", hidden_share(&t));
	}
	if (gtu_ranks_link(r->dev))
		json_string(j, "link", gtu_ranks_link(r->dev));
	json_end_object(j);
}

static void json_run(const struct run *r, FILE *f)
{
	const struct gtu_algorithm_stats *s = &r->stats;
	struct json j;
	uint64_t run;
	unsigned i;

	json_start(&j, f);
	json_begin_object(&j, NULL);
	json_string(&j, "algorithm", r->kind->name);
	json_string(&j, "unit", r->unit);
	json_string(&j, "device", r->device);
	json_string(&j, "graph", r->path);
	json_u64(&j, "vertices", r->graph.n);
	json_u64(&j, "edges", r->graph.m);
	json_u64(&j, "edges_stored", r->graph.stored);
	json_bool(&j, "directed", r->graph.flags & GTU_GRAPH_DIRECTED);
	if (run_has_source(r))
		json_vertex(&j, "source", "source_name", &r->graph, r->opt.source);
	if (r->kind->takes & RUN_TAKES_TARGET)
		json_vertex(&j, "target", "target_name", &r->graph, r->opt.target);
	if (r->kind->takes & RUN_TAKES_WEIGHTS)
		json_string(&j, "weights", r->weights);
	json_u64(&j, "iterations", s->iterations);
	json_u64(&j, "edges_traversed", s->edges);
	if (r->kind->takes & RUN_TAKES_DIRECTION)
		json_directions(&j, s);
	json_begin_object(&j, "seconds");
	json_double(&j, "open", r->open_seconds);
	for (i = 0; i < s->phases; i++)
		json_double(&j, s->phase[i].name, s->phase[i].seconds);
	json_double(&j, "total", s->seconds);
	json_end_object(&j);
	if (r->runs > 1) {
		json_begin_array(&j, "runs");
		for (run = 0; run < r->runs; run++)
			json_double(&j, NULL, r->run_seconds[run]);
		json_end_array(&j);
	}
	run_steps_json(r, &j);
	if (r->dev && gtu_get_placement(r->dev)) {
		gpu_json_info(&j, gtu_get_gpu_info(r->dev));
		gpu_json_placement(&j, gtu_get_placement(r->dev));
		json_string(&j, "kernel", gtu_kernel_name(r->opt.kernel));
		json_double(&j, "gpu_seconds", s->gpu_seconds);
		json_u64(&j, "list_bytes_read", s->list_bytes);
		json_u64(&j, "cached_bytes_read", s->cached_bytes);
	}
	json_ranks(&j, r);
	json_u64(&j, "jobs", s->jobs);
	json_u64(&j, "job_cycles", s->job_cycles);
	json_counters(&j, r);
	json_begin_object(&j, "result");
	/* with --output-parts this rank has only its own values */
	if (r->kind->json && !r->parts)
		r->kind->json(r, &j);
	json_end_object(&j);
	if (r->verdict == RUN_NOT_VERIFIED)
		json_null(&j, "verified");
	else
		json_bool(&j, "verified", r->verdict == RUN_EQUAL);
	json_end_object(&j);
	json_finish(&j);
}

int run_write_json(const struct run *r, struct gtu_error *err)
{
	struct atomic_file t;
	int rc = atomic_file_open(&t, r->json, err);

	if (rc)
		return rc;
	json_run(r, t.file);
	return atomic_file_close(&t, 0, err);
}

/* ---- Text --------------------------------------------------------------------------------- */

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void print_time(const struct run *r, FILE *to)
{
	const struct gtu_algorithm_stats *s = &r->stats;
	unsigned i;

	fprintf(to, "time      %.6f s:", s->seconds);
	for (i = 0; i < s->phases; i++)
		fprintf(to, "%s %s %.6f", i ? "," : "", s->phase[i].name, s->phase[i].seconds);
	fprintf(to, "; opening the graph %.6f s%s\n", r->open_seconds,
		r->monitor && r->dev ? "; --monitor slows the model" : "");
	/* use the singular for one iteration: "passes" loses "es", others "s" */
	fprintf(to, "edges     %s traversed in %s %.*s", grouped(s->edges), grouped(s->iterations),
		(int)(strlen(r->kind->rounds) - (s->iterations != 1 ? 0 : !strcmp(r->kind->rounds, "passes") ? 2 : 1)),
		r->kind->rounds);
	if (s->pull_end > s->pull_first)
		fprintf(to, " (%s by pull, starting with number %s)", grouped(s->pull_end - s->pull_first),
			grouped(s->pull_first + 1));
	if (s->seconds > 0)
		fprintf(to, ", %.1f million per second", 1e-6 * (double)s->edges / s->seconds);
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

static void print_gpu(const struct run *r, FILE *to)
{
	const struct gtu_algorithm_stats *s = &r->stats;

	fprintf(to, "gpu       %s, kernel %s: %.6f s", gtu_get_gpu_info(r->dev)->name,
		gtu_kernel_name(r->opt.kernel), s->gpu_seconds);
	if (s->gpu_seconds > 0)
		fprintf(to, ", %.1f million edges per second; %s bytes of the list requested (%.1f GB/s), %s more from the card's copy",
			1e-6 * (double)s->edges / s->gpu_seconds, grouped(s->list_bytes),
			1e-9 * (double)s->list_bytes / s->gpu_seconds, grouped(s->cached_bytes));
	fputc('\n', to);
	gpu_print_placement(gtu_get_placement(r->dev), to);
}

static void print_units(const struct run *r, FILE *to)
{
	const uint64_t *c = counters_of(r, GTU_UNIT_SCU);
	uint64_t clock;

	if (!r->dev || r->opt.unit == GTU_WITH_NONE)
		return;
	if (gtu_get_placement(r->dev)) {
		print_gpu(r, to);
		return;
	}
	clock = gtu_get_info(r->dev)->clock_hz;
	fprintf(to, "unit      %s on %s: %s jobs, %s logical cycles", r->unit, r->device,
		grouped(r->stats.jobs), grouped(r->stats.job_cycles));
	if (clock)
		fprintf(to, " (%.3f ms at %.0f MHz)",
			1e3 * (double)r->stats.job_cycles / (double)clock, 1e-6 * (double)clock);
	fputs(r->unit_chosen ? "; --unit selects another\n" : "\n", to);
	if (c && c[GTU_SCU_C_JOBS]) {
		fprintf(to, "          %s elements output", grouped(c[GTU_SCU_C_OUT]));
		if (c[GTU_SCU_C_PROBES])
			fprintf(to, "; %s of %s looked up were filtered out (%.1f %%)",
				grouped(c[GTU_SCU_C_DROPPED]), grouped(c[GTU_SCU_C_PROBES]),
				percent(c[GTU_SCU_C_DROPPED], c[GTU_SCU_C_PROBES]));
		if (c[GTU_SCU_C_GROUPS])
			fprintf(to, "; groups by line have %.2f elements on average",
				(double)c[GTU_SCU_C_GROUPED] / (double)c[GTU_SCU_C_GROUPS]);
		fputc('\n', to);
	}
	c = counters_of(r, GTU_UNIT_IRU);
	if (c && c[GTU_IRU_C_JOBS]) {
		fprintf(to, "          %s indices in, %s merged (%.1f %%), %s warps with %.2f lines on average\n",
			grouped(c[GTU_IRU_C_IN]), grouped(c[GTU_IRU_C_MERGED]),
			percent(c[GTU_IRU_C_MERGED], c[GTU_IRU_C_IN]),
			grouped(c[GTU_IRU_C_RECORDS]),
			c[GTU_IRU_C_RECORDS] ? (double)c[GTU_IRU_C_LINES] /
					       (double)c[GTU_IRU_C_RECORDS] : 0);
	}
}

/* The requests that a link would have carried (EMOGI, section 3). */
static void print_requests(const struct run *r, FILE *to)
{
	static const char *const what[] = { "reads", "writes" };
	const uint64_t *c = counters_of(r, GTU_UNIT_ZCM);
	uint64_t all;
	unsigned dir, size;

	if (!r->monitor)
		return;
	if (!c) {
		fprintf(to, "monitor   no unit ran: there were no requests\n");
		return;
	}
	for (dir = GTU_ZCM_HOST_READ; dir <= GTU_ZCM_HOST_WRITE; dir++) {
		for (size = 1, all = 0; size <= 4; size++)
			all += c[GTU_ZCM_C_REQUESTS(dir, size)];
		fprintf(to, "%s%s %s requests, %s bytes of host memory:", dir ? "          " : "monitor   ", what[dir],
			grouped(all), grouped(c[GTU_ZCM_C_BYTES(dir)]));
		for (size = 1; size <= 4; size++)
			fprintf(to, " %.1f %% of %u%s", percent(c[GTU_ZCM_C_REQUESTS(dir, size)], all), 32 * size,
				size < 4 ? "," : " bytes\n");
	}
}

static void print_ranks(const struct run *r, FILE *to)
{
	struct gtu_ranks_traffic t;
	uint32_t rank, size;

	if (!r->dev)
		return;
	gtu_ranks_of(r->dev, &rank, &size);
	if (size < 2)
		return;
	gtu_ranks_get_traffic(r->dev, &t);
	fprintf(to, "ranks     %u; %s sent %s bytes to others in %s exchanges\n", size, r->ranks ? "rank 0" : "all", grouped(t.bytes),
		grouped(t.exchanges));
	if (gtu_ranks_link(r->dev))
		fprintf(to, "exchange  by %s\n", gtu_ranks_link(r->dev));
}

void run_print(const struct run *r, FILE *to)
{
	const struct gtu_graph *g = &r->graph;

	fprintf(to, "graph     %s: %s, %s (%s)\n", cli_printable(r->graph_name), vertices(g->n),
		edges(g->m), g->flags & GTU_GRAPH_DIRECTED ? "directed" : "undirected, each both ways");
	if (run_has_source(r))
		fprintf(to, "source    %s%s\n", vertex_label(g, r->opt.source),
			r->source_chosen ? ", the vertex with most edges; --source ID selects another" : "");
	else if (r->kind->takes & RUN_TAKES_SOURCES)
		fprintf(to, "sources   %s: %s\n", grouped(r->opt.sources ? r->opt.source_count : g->n), r->sources_text);
	if (r->kind->takes & RUN_TAKES_WEIGHTS)
		fprintf(to, "weights   %s\n", r->weights);
	if (r->parts)
		fprintf(to, "parts     %u files in %s\n", r->ranks->size, cli_printable(r->parts));
	else if (r->kind->print)
		r->kind->print(r, to);
	print_ranks(r, to);
	print_time(r, to);
	print_units(r, to);
	print_requests(r, to);
	if (r->verdict == RUN_EQUAL)
		fprintf(to, "verified  equal to the reference code's result (%.6f s)\n",
			r->verify_seconds);
}
