// SPDX-License-Identifier: MIT
/* gtu lab run: options, machine and graphs of an experiment, and its reports. */
#include "lab_run.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lab_standins.h"
#include "tools/support/cli.h"
#include "tools/report/lab_plot.h"
#include "tools/report/report.h"
#include "tools/support/atomic_file.h"

static const struct experiment {
	const char *name, *text;
	int (*run)(struct lab_run *r, struct gtu_error *err);
	uint64_t figures;		/* bits: figures and LAB_TABLE() */
	bool algorithms;		/* --algorithm is supported */
} experiments[] = {
	{ "emogi", "edge list over the link or in unified memory: figures 3 to 13, tables 2 to 4", lab_run_emogi,
	  0x7ff << 3 | 7ull << LAB_TABLE(2), false },
	{ "iru", "BFS, SSSP, PageRank with the IRU and without: figures 3, 12 to 16, tables 1, 3", lab_run_iru,
	  1ull << LAB_TABLE(1) | 1ull << LAB_TABLE(3) | 1 << 3 | 1 << 12 | 1 << 13 | 1 << 14 | 1 << 15 | 1 << 16, true },
	{ "scu", "BFS, SSSP, PageRank with the SCU and without, gtx980 and tx1: figures 1, 9 to 13", lab_run_scu,
	  1 << 1 | 1 << 9 | 1 << 10 | 1 << 11 | 1 << 12 | 1 << 13, true },
	{ "sparseweaver", "Weaver and software mappings: figures 2 to 4, 10 to 15, 17 to 19, tables 1, 5 (no area)",
	  lab_run_sparseweaver,
	  1ull << LAB_TABLE(1) | 1 << 2 | 1 << 3 | 1 << 4 | 1 << 10 | 1 << 11 | 1 << 12 | 1 << 13 | 1 << 14 | 1 << 15 | 1 << 17 | 1 << 18 | 1 << 19 | 1ull << LAB_TABLE(5),
	  false },
	{ "graphpeg", "six algorithms by edge gathering and five other strategies: figures 2, 7 to 11, tables 4, 5", lab_run_graphpeg,
	  1 << 2 | 1 << 7 | 1 << 8 | 1 << 9 | 1 << 10 | 1 << 11 | 1ull << LAB_TABLE(4) | 1ull << LAB_TABLE(5), false },
};
#define EXPERIMENTS (sizeof(experiments) / sizeof(experiments[0]))

/* --device: the experiment on a real GPU. */
static const struct experiment on_gpu = {
	"emogi", "on a real GPU and its link", lab_run_emogi_gpu,
	1 << 4 | 1 << 5 | 1 << 7 | 1 << 8 | 1 << 9 | 1 << 10 | 1 << 11 | 1 << 12, false
};
#define ON_GPU_SCALE 16u

void lab_run_list(void)
{
	unsigned i;

	for (i = 0; i < EXPERIMENTS; i++)
		printf("  gtu lab run %-12s %s\n", experiments[i].name, experiments[i].text);
}

const char *lab_run_label(const struct lab_run *r, unsigned g)
{
	return *r->symbol[g] ? r->symbol[g] : r->graph[g]->name;
}

void lab_run_row(struct lab_run *r, unsigned figure, const char *graph, enum lab_rule rule, double paper, double ours,
		 const char *what, ...)
{
	char text[sizeof(((struct lab_row *)NULL)->what)];
	va_list ap;

	r->added = false;
	if (r->planning || !lab_run_wants(r, figure))
		return;
	va_start(ap, what);
	vsnprintf(text, sizeof(text), what, ap);
	va_end(ap);
	r->added = lab_table_add(&r->table, figure, graph, rule, paper, ours, "%s", text);
}

static struct lab_row *last_row(struct lab_run *r)
{
	static struct lab_row none;

	return r->added ? &r->table.row[r->table.rows - 1] : &none;
}

void lab_run_null(struct lab_run *r, double value)
{
	last_row(r)->null = value;
}

void lab_run_high(struct lab_run *r, double value)
{
	last_row(r)->high = value;
}

void lab_run_curve(struct lab_run *r, const char *name, ...)
{
	struct lab_row *row = last_row(r);
	va_list ap;

	va_start(ap, name);
	vsnprintf(row->curve, sizeof(row->curve), name, ap);
	va_end(ap);
}

void lab_run_reason(struct lab_run *r, const char *why, ...)
{
	struct lab_row *row = last_row(r);
	va_list ap;

	va_start(ap, why);
	vsnprintf(row->reason, sizeof(row->reason), why, ap);
	va_end(ap);
}

int lab_run_key(const char *assignment, const struct lab_key *keys, unsigned n, struct gtu_error *err)
{
	const char *equals = strchr(assignment, '=');
	size_t length = equals ? (size_t)(equals - assignment) : 0;
	char known[512] = "", why[200];
	unsigned i;
	double v;

	for (i = 0; i < n && (length != strlen(keys[i].name) || strncmp(assignment, keys[i].name, length)); i++)
		snprintf(known + strlen(known), sizeof(known) - strlen(known), "%s %s", i ? "," : "", keys[i].name);
	if (i == n)
		return gtu_fail(err, GTU_ERR_USAGE, "unknown key in '%.60s'; the keys are%s", assignment, known);
	if (!lab_value_parse(keys[i].name, keys[i].dimension, true, keys[i].min, keys[i].max, true, equals + 1, &v, why, sizeof(why)))
		return gtu_fail(err, GTU_ERR_USAGE, "%s", why);
	*keys[i].value = (uint32_t)v;
	return 0;
}

int lab_run_parameters(struct lab_run *r, const char *prefix, const struct lab_key *keys, unsigned n, struct gtu_error *err)
{
	struct lab_key *all = malloc((n + 1) * sizeof(*all));
	uint32_t scale;
	char file[64];
	size_t bytes;
	const char *text = lab_parameters_builtin(r->experiment, &bytes);
	unsigned i;
	int rc;

	if (!all || !text) {
		free(all);
		return gtu_fail(err, all ? GTU_ERR_FAIL : GTU_ERR_NOMEM, "no parameters for %s", r->experiment);
	}
	memcpy(all, keys, n * sizeof(*all));
	all[n] = (struct lab_key){ "scale", &scale, 8, 26, LAB_NUMBER };
	snprintf(file, sizeof(file), "%s.parameters", r->experiment);
	rc = lab_parameters_parse(text, bytes, file, all, n + 1, err);
	free(all);
	if (!rc && !r->scale)
		r->scale = scale;
	for (i = 0; prefix && i < r->sets && !rc; i++)
		if (!strncmp(r->set[i], prefix, strlen(prefix)))
			rc = lab_run_key(r->set[i], keys, n, err);
	return rc;
}

static int add_file(struct lab_run *r, const char *path, struct gtu_error *err)
{
	int rc = gtu_graph_open(path, NULL, r->progress, &r->graph[r->graphs], err);

	if (rc)
		return rc;
	r->symbol[r->graphs] = "";
	return gtu_graph_check(r->graph[r->graphs++], r->progress, err);
}

int lab_run_algorithms(const struct lab_run *r, const char *const *name, unsigned *number, unsigned *count,
		       struct gtu_error *err)
{
	char known[160] = "";
	unsigned i;

	*count = 0;
	for (i = 0; name[i]; i++) {
		if (!r->algorithm || !strcmp(r->algorithm, name[i]))
			number[(*count)++] = i;
		snprintf(known + strlen(known), sizeof(known) - strlen(known), "%s %s", i ? "," : "", name[i]);
	}
	return *count ? 0 : gtu_fail(err, GTU_ERR_USAGE, "unknown algorithm '%.40s'; use one of%s", r->algorithm, known);
}

int lab_run_begin(struct lab_run *r, const char *machine, const char *unit, const struct lab_standin *standin,
		  unsigned standins, struct gtu_error *err)
{
	struct gtu_generate_options o;
	unsigned i;
	int rc = lab_machine_open(r->machine ? r->machine : machine, &r->m, err);

	for (i = 0; i < r->sets && !rc; i++)
		if (!unit || strncmp(r->set[i], unit, strlen(unit)))
			rc = lab_machine_set(&r->m, r->set[i], err);
	for (i = 0; i < r->files && !rc; i++)
		rc = add_file(r, r->file[i], err);
	for (i = 0; i < standins && !r->files && !rc; i++) {
		o = standin[i].options;
		o.n = (uint64_t)(standin[i].vertices * (double)(1ull << r->scale));
		o.scale = (uint32_t)lround(log2((double)o.n));
		o.seed = 1;
		if (standin[i].density)
			o.degree *= exp2((double)r->scale - standin[i].density);
		rc = lab_standin_generate(&o, r->progress, &r->graph[r->graphs], err);
		r->symbol[r->graphs] = standin[i].symbol;
		r->graphs += !rc;
	}
	return rc;
}

static void print_report(const struct lab_run *r)
{
	struct lab_score score;
	unsigned g;

	printf("machine %s\n", r->m.name);
	for (g = 0; g < r->graphs; g++)
		printf("graph   %-12s %s%s (%" PRIu64 " vertices, %" PRIu64 " edges)\n", lab_run_label(r, g),
		       *r->symbol[g] ? "stand-in: " : "", r->graph[g]->name, r->graph[g]->n, r->graph[g]->m);
	putchar('\n');
	if (r->sweep) {
		lab_sweep_print(r->sweep);
		printf("\n%" PRIu64 " results equal the reference's; %.1f M warp instructions simulated.\n", r->checked,
		       (double)r->instructions / 1e6);
		return;
	}
	score = lab_table_score(&r->table);
	lab_table_print(&r->table);
	printf("\nCriteria: counts within 15%% of the paper's; speed-ups on its side of the null value, their logarithm within a\n"
	       "third; ranges; directions by 1%%; rank order (Spearman's) at least 0.8; curves by rank order, and nearer than the\n"
	       "null model's. A row that the null model (a simulator without the effect) meets is missed.\n"
	       "%s\n%" PRIu64 " results equal the reference's; %.1f M warp instructions simulated.\n", lab_score_text(&score).text,
	       r->checked, (double)r->instructions / 1e6);
}

struct subject {
	const struct lab_run *r;
	const char *name;		/* experiment name */
};

static void put_json(const struct lab_run *r, const char *name, struct json *j)
{
	unsigned g;

	json_begin_object(j, NULL);
	json_string(j, "experiment", name);
	json_string(j, "machine", r->m.name);
	if (!r->files)
		json_u64(j, "scale", r->scale);
	json_begin_array(j, "set");
	for (g = 0; g < r->sets; g++)
		json_string(j, NULL, r->set[g]);
	json_end_array(j);
	json_begin_array(j, "graphs");
	for (g = 0; g < r->graphs; g++) {
		json_begin_object(j, NULL);
		json_string(j, "name", lab_run_label(r, g));
		json_string(j, "graph", r->graph[g]->name);
		json_bool(j, "stand_in", *r->symbol[g]);
		json_u64(j, "vertices", r->graph[g]->n);
		json_u64(j, "edges", r->graph[g]->m);
		json_end_object(j);
	}
	json_end_array(j);
	if (r->sweep)
		lab_sweep_json(r->sweep, j);
	else
		lab_table_json(&r->table, j);
	json_u64(j, "results_checked", r->checked);
	json_u64(j, "warp_instructions", r->instructions);
	if (r->stage) {
		json_begin_object(j, "stage");
		json_string(j, "name", r->stage->name);
		json_string(j, "key", r->stage->key);
		json_string(j, "command", r->stage->command);
		json_double(j, "cpu_seconds", r->stage->cpu_seconds);
		json_end_object(j);
	}
	json_end_object(j);
}

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int write_report(const struct lab_run *r, const char *name, struct gtu_error *err)
{
	struct atomic_file w;
	struct json j;
	int rc = atomic_file_open(&w, r->json, err);

	if (rc)
		return rc;
	json_start(&j, w.file);
	put_json(r, name, &j);
	json_finish(&j);
	return atomic_file_close(&w, rc, err);
}

static void put_subject(const void *subject, FILE *to)
{
	const struct subject *s = subject;
	struct json j;

	json_start(&j, to);
	put_json(s->r, s->name, &j);
	json_finish(&j);
}

static int write_plot(const struct lab_run *r, const char *name, struct gtu_error *err)
{
	struct atomic_file w;
	char head[160];
	struct subject sweep = { r, name };
	int rc;

	if (r->sweep)
		return report_plot(r->plot, put_subject, &sweep, report_chart_sweep, err);
	rc = atomic_file_open(&w, r->plot, err);
	if (rc)
		return rc;
	snprintf(head, sizeof(head), "%s on machine %s, %s", name, r->m.name, r->files ? "on the user's graphs" :
		 "on stand-ins for the paper's graphs");
	lab_plot(&r->table, head, false, w.file);
	return atomic_file_close(&w, rc, err);
}

static int figure_known(const struct experiment *e, uint64_t figure, struct gtu_error *err)
{
	char known[320] = "";
	unsigned i;

	if (!figure || (figure < 64 && e->figures >> figure & 1))
		return 0;
	for (i = 0; i < 64; i++)
		if (e->figures >> i & 1)
			snprintf(known + strlen(known), sizeof(known) - strlen(known), "%s %s", *known ? "," : "",
				 lab_figure_name(i).text);
	return gtu_fail(err, GTU_ERR_USAGE, "%s does not reproduce %s%s; it has%s", e->name, figure < LAB_TABLE(0) ? "figure " : "",
			lab_figure_name((unsigned)figure).text, known);
}

static int run_table(struct lab_run *r, const struct experiment *e, struct gtu_error *err)
{
	const struct lab_row *incomplete;
	int rc = e->run(r, err);

	incomplete = lab_table_incomplete(&r->table);
	if (!rc && incomplete)
		rc = gtu_fail(err, GTU_ERR_FAIL, "%s: figure %s, '%s' (%s): the rule %s needs a %s", e->name,
			      lab_figure_name(incomplete->figure).text, incomplete->what, incomplete->graph, lab_rule_name(incomplete->rule),
			      incomplete->rule == LAB_OPEN_RULE ? "reason" : "published value of its kind");
	lab_table_rank(&r->table);
	lab_table_sort(&r->table);
	if (!rc && r->table.no_memory)
		rc = gtu_fail(err, GTU_ERR_NOMEM, "out of memory for the table");
	if (!rc && !r->table.rows)
		rc = gtu_fail(err, GTU_ERR_USAGE, "%s%s has no row over these graphs and algorithms: leave out --figure, --table "
			      "or --algorithm", r->figure && r->figure < LAB_TABLE(0) ? "figure " : "",
			      r->figure ? lab_figure_name((unsigned)r->figure).text : e->name);
	return rc;
}

static void close_graphs(struct lab_run *r)
{
	while (r->graphs)
		gtu_graph_close(r->graph[--r->graphs]);
}

/* Run once per value. The report names the graphs and the machine of the first run. */
static int run_sweep(struct lab_run *r, const struct experiment *e, struct gtu_error *err)
{
	const char **set = malloc((r->sets + 1) * sizeof(*set));
	struct lab_run first = *r;
	unsigned i;
	int rc = 0;

	if (!set)
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for --sweep");
	for (i = 0; i < r->sets; i++)
		set[i] = r->set[i];
	for (i = 0; i < r->sweep->values && !rc; i++) {
		struct lab_run one = first;

		set[one.sets++] = r->sweep->set[i];
		one.set = set;
		rc = run_table(&one, e, err);
		rc = rc ? rc : lab_sweep_take(r->sweep, &one.table, err);
		lab_table_free(&one.table);
		r->checked += one.checked;
		r->instructions += one.instructions;
		if (i) {
			close_graphs(&one);
		} else {
			r->m = one.m;
			r->graphs = one.graphs;
			memcpy(r->graph, one.graph, sizeof(r->graph));
			memcpy(r->symbol, one.symbol, sizeof(r->symbol));
		}
	}
	free(set);
	return rc;
}

/* Write and print all requested reports. */
static int put_all(const struct lab_run *r, const char *name, struct gtu_error *err)
{
	int rc = r->json ? write_report(r, name, err) : 0;

	if (!rc && r->plot)
		rc = write_plot(r, name, err);
	if (rc || r->stage || (r->json && atomic_file_is_stdout(r->json)) || (r->plot && atomic_file_is_stdout(r->plot)))
		return rc;
	print_report(r);
	return fflush(stdout) ? gtu_fail(err, GTU_ERR_FAIL, "cannot write: %s", strerror(errno)) : 0;
}

int lab_run_print_parameters(const char *name, struct gtu_error *err)
{
	size_t bytes;
	const char *text = lab_parameters_builtin(name, &bytes);

	if (!text)
		return gtu_fail(err, GTU_ERR_USAGE, "unknown experiment '%.40s'; 'gtu lab list' shows all", name);
	fwrite(text, 1, bytes, stdout);
	return fflush(stdout) ? gtu_fail(err, GTU_ERR_FAIL, "cannot write: %s", strerror(errno)) : 0;
}

int lab_run_experiment(struct lab_run *r, const char *name, struct gtu_error *err)
{
	const struct experiment *e = NULL;
	unsigned i;
	int rc;

	for (i = 0; i < EXPERIMENTS; i++)
		if (!strcmp(experiments[i].name, name))
			e = &experiments[i];
	if (!e)
		return gtu_fail(err, GTU_ERR_USAGE, "unknown experiment '%.40s'; 'gtu lab list' shows all", name);
	if (r->device && strcmp(e->name, on_gpu.name))
		return gtu_fail(err, GTU_ERR_USAGE, "%s runs only in the laboratory: --device is for emogi", e->name);
	if (r->device)
		e = &on_gpu;
	if (r->algorithm && !e->algorithms)
		return gtu_fail(err, GTU_ERR_USAGE, "%s compares its algorithms: --algorithm is for iru and scu", e->name);
	if (!r->scale && r->device)
		r->scale = ON_GPU_SCALE;
	r->experiment = e->name;
	rc = figure_known(e, r->figure, err);
	if (!rc && r->json && r->plot && atomic_file_same(r->json, r->plot))
		rc = gtu_fail(err, GTU_ERR_USAGE, "--json and --plot cannot both go to %s", r->plot);
	rc = !rc && r->json ? atomic_file_try(r->json, err) : rc;
	rc = !rc && r->plot ? atomic_file_try(r->plot, err) : rc;
	if (!rc) {
		double begin = cpu_seconds();

		rc = r->sweep ? run_sweep(r, e, err) : run_table(r, e, err);
		cli_clear_bar();
		if (r->stage)
			r->stage->cpu_seconds = cpu_seconds() - begin;
		/* if a value of a sweep fails, report the values before it */
		if (!rc)
			rc = put_all(r, e->name, err);
		else if (r->sweep && r->sweep->done)
			put_all(r, e->name, NULL);
	}
	lab_table_free(&r->table);
	close_graphs(r);
	return rc;
}
