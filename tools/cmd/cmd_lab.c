// SPDX-License-Identifier: MIT
/* gtu lab: lists machines, repeats the papers' experiments, checks the laboratory's counts. */
#include <errno.h>
#include <inttypes.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/support/cli.h"
#include "tools/support/json.h"
#include "firmware-model/lab/oracle/oracle.h"
#include "tools/experiments/lab_figures.h"
#include "tools/experiments/lab_report.h"
#include "tools/experiments/lab_run.h"
#include "tools/support/atomic_file.h"

static const char help[] =
	"usage: gtu lab list [--figures [--json FILE|-]]\n"
	"       gtu lab machine NAME|FILE [--set KEY=VALUE]...\n"
	"       gtu lab parameters PAPER\n"
	"       gtu lab check DIR [--only TEXT] [--json FILE|-]\n"
	"       gtu lab run PAPER [--figure N | --table N] [--graph FILE]... [--scale N] [--machine NAME|FILE]\n"
	"                   [--algorithm NAME] [--set KEY=VALUE]... [--sweep KEY=V1,V2,...] [--json FILE|-]\n"
	"                   [--plot FILE.svg|-] [--device cuda:N]\n"
	"       gtu lab report FOLDER [--short] [--commit TEXT] [--output FILE.md] [--causes FOLDER]\n"
	"                   [--complete]\n\n"
	"The laboratory: a model of a GPU's warps, coalescer, caches, crossbar, DRAM and link, in which the units\n"
	"are measured. Documentation/laboratory.md describes the model and its validation.\n\n"
	"  list                  list the machines and the experiments\n"
	"  list --figures        list every figure and table of the five papers: the command that repeats it, the\n"
	"                        file or the command that holds it, or why it is not repeated\n"
	"  machine               print a machine's parameters, checked; a name with '.' or '/' is a file\n"
	"  parameters            print the values that an experiment of a paper runs with, each with its source, and\n"
	"                        its scale; --set and --scale override them\n"
	"  check                 run the kernels of a folder of independent counts (counts.csv, graphs/) and compare:\n"
	"                        rows marked exact must be equal (else exit code 4), others are printed as ratios\n"
	"  run                   repeat a paper's experiments: prints its figures, ours and the difference; all results\n"
	"                        are compared with the reference's\n"
	"  report                run every experiment with its parameters (gtu lab parameters), a JSON file for each run in\n"
	"                        FOLDER, and write FOLDER/fidelity.md: all judged rows, misses with their causes. A run that\n"
	"                        was interrupted is repeated, others are kept. 'make lab-report' runs it on the sources, and\n"
	"                        'gtu report FOLDER/*.json' draws the papers' bars beside ours\n"
	"  --short               report: the smallest graphs, which show the page's structure in seconds\n"
	"  --commit TEXT         report: repeat runs of another TEXT, which names the sources\n"
	"  --output FILE.md      report: the page\n"
	"  --causes FOLDER       report: read further runs and causes of misses from FOLDER/PAPER.fidelity instead of the\n"
	"                        sources' tools/experiments; Documentation/laboratory.md explains these files\n"
	"  --complete            report: list the misses without a cause, and end with exit code 3 if there are any\n"
	"  --figure N, --table N  that figure or table only\n"
	"  --graph FILE          use these graphs instead of generated stand-ins for the paper's graphs\n"
	"  --scale N             generate stand-ins of about 2^N vertices\n"
	"  --algorithm NAME      iru and scu: only this one of bfs, sssp and pr\n"
	"  --machine M           another machine than the paper's\n"
	"  --only TEXT           only runs whose graph,kernel,config contains TEXT\n"
	"  --set KEY=VALUE       change a parameter of the machine, or with a unit's prefix (scu.width=8) of the unit\n"
	"  --sweep KEY=V1,V2,...  run once for each value of a parameter of the machine or unit: a column for each\n"
	"  --json FILE           the result as JSON; - is standard output, and then nothing else is printed\n"
	"  --device cuda:0       emogi on a real GPU: the paper's figures for one card on one link\n"
	"  --plot FILE.svg       the figures as bar charts: a panel for each, the paper's bars hatched beside ours\n\n"
	"  gtu lab check ../shared/oracles\n"
	"  gtu lab check ../shared/oracles --only rmat12,bfs_level\n"
	"  gtu lab parameters scu\n"
	"  gtu lab machine gtx980 --set 'l1.mshrs=32'\n"
	"  gtu lab run emogi --figure 8 --set 'link.round_trip=1600 ns'\n"
	"  gtu lab run iru --plot iru.svg\n"
	"  gtu lab run iru --figure 16 --scale 14 --sweep iru.prefetch=1,4,8,64 --plot prefetch.svg\n";

enum { EXACT, ISA, TOLERANCE, INPUT, BOUND, OTHER, CLASSES };
static const char *const class_names[] = { "exact", "isa", "tolerance", "input", "bound", "other" };

struct ratios {
	uint64_t n;
	double log_sum, min, max;
};

struct group {			/* results of one kernel on one machine */
	char kernel[64], config[64];
	bool unknown;
	uint64_t runs, rows[CLASSES], equal[CLASSES], equal_warps;
	struct ratios warps, cycles, l1_misses, l2_accesses;
};

struct mismatch {
	char text[256];
	double value;
	uint64_t ours;
};

struct report {
	struct group *group;
	unsigned groups;
	struct mismatch *mismatch;
	unsigned mismatches;
	uint64_t rows[CLASSES], equal[CLASSES], not_modelled, skipped, outside;
	double seconds;
	bool no_memory;
};

static unsigned class_of(const char *name)
{
	unsigned i;

	for (i = 0; i < OTHER; i++)
		if (!strcmp(name, class_names[i]))
			return i;
	return OTHER;
}

static struct group *group_of(struct report *r, const struct lab_oracle_row *row)
{
	struct group *more;
	unsigned i;

	for (i = 0; i < r->groups; i++)
		if (!strcmp(r->group[i].kernel, row->kernel) && !strcmp(r->group[i].config, row->config))
			return &r->group[i];
	more = realloc(r->group, (r->groups + 1) * sizeof(*more));
	if (!more) {
		r->no_memory = true;
		return NULL;
	}
	r->group = more;
	more += r->groups++;
	memset(more, 0, sizeof(*more));
	snprintf(more->kernel, sizeof(more->kernel), "%s", row->kernel);
	snprintf(more->config, sizeof(more->config), "%s", row->config);
	return more;
}

static void add_ratio(struct ratios *r, const struct lab_oracle_row *row)
{
	double q;

	if (!row->ours || row->value <= 0)
		return;
	q = (double)row->ours / row->value;
	r->min = r->n && r->min < q ? r->min : q;
	r->max = r->n && r->max > q ? r->max : q;
	r->log_sum += log(q);
	r->n++;
}

static void add_mismatch(struct report *r, const struct lab_oracle_row *row)
{
	struct mismatch *more = realloc(r->mismatch, (r->mismatches + 1) * sizeof(*more));

	if (!more) {
		r->no_memory = true;
		return;
	}
	r->mismatch = more;
	more += r->mismatches++;
	snprintf(more->text, sizeof(more->text), "%s %s %s %s%s", row->graph, row->kernel, row->config, row->counter,
		 row->verdict == LAB_NOT_MODELLED ? " (the laboratory has no such counter)" : "");
	more->value = row->value;
	more->ours = row->ours;
}

static void take_row(void *user, const struct lab_oracle_row *row)
{
	struct report *r = user;
	struct group *g = group_of(r, row);
	unsigned c = class_of(row->class_name);

	if (!g)
		return;
	g->runs += !strcmp(row->counter, "cycles");
	r->seconds += row->seconds;
	switch (row->verdict) {
	case LAB_UNKNOWN_KERNEL: case LAB_UNKNOWN_MACHINE:
		g->unknown = true;
		/* fall through */
	case LAB_NO_COUNT: case LAB_UNKNOWN_CLASS:
		r->skipped++;
		return;
	case LAB_NOT_MODELLED:
		r->not_modelled++;
		if (c == EXACT)
			break;
		return;
	default:
		break;
	}
	r->rows[c]++;
	g->rows[c]++;
	if (row->verdict == LAB_EQUAL || row->verdict == LAB_WITHIN) {
		r->equal[c]++;
		g->equal[c]++;
	} else if (c == EXACT || c == INPUT || c == BOUND) {
		add_mismatch(r, row);
	}
	if (!strcmp(row->counter, "warp_instructions")) {
		add_ratio(&g->warps, row);
		g->equal_warps += row->verdict == LAB_EQUAL;
	}
	if (!strcmp(row->counter, "cycles"))
		add_ratio(&g->cycles, row);
	if (!strcmp(row->counter, "l1d[GLOBAL_ACC_R][MISS]"))
		add_ratio(&g->l1_misses, row);
	if (!strcmp(row->counter, "l2_accesses"))
		add_ratio(&g->l2_accesses, row);
}

static const char *ratio_text(const struct ratios *r, char *text, size_t size)
{
	if (!r->n)
		snprintf(text, size, "-");
	else
		snprintf(text, size, "%.2f (%.2f-%.2f)", exp(r->log_sum / (double)r->n), r->min, r->max);
	return text;
}

static void print_report(const struct report *r)
{
	char a[64], b[64], c[64], d[32], e[64];
	unsigned i;

	printf("%-20s %-13s %5s %9s  %-21s  %-18s %-18s %s\n", "kernel", "machine", "runs", "exact", "warp instructions", "cycles",
	       "L1 read misses", "L2 accesses");
	for (i = 0; i < r->groups; i++) {
		const struct group *g = &r->group[i];

		if (g->unknown) {
			printf("%-20s %-13s unknown to the laboratory: not run\n", g->kernel, g->config);
			continue;
		}
		snprintf(d, sizeof(d), "%" PRIu64 "/%" PRIu64, g->equal[EXACT], g->rows[EXACT]);
		snprintf(e, sizeof(e), g->warps.n ? "%" PRIu64 "/%" PRIu64 " (%.4f-%.4f)" : "-", g->equal_warps, g->warps.n,
			 g->warps.min, g->warps.max);
		printf("%-20s %-13s %5" PRIu64 " %9s  %-21s  %-18s %-18s %s\n", g->kernel, g->config, g->runs, d, e,
		       ratio_text(&g->cycles, a, sizeof(a)), ratio_text(&g->l1_misses, b, sizeof(b)),
		       ratio_text(&g->l2_accesses, c, sizeof(c)));
	}
	printf("\nRatios are our count / the independent count: geometric mean (least-greatest) over the graphs.\n"
	       "Ratios of warp instructions: the number of equal runs, of all, and the least and greatest.\n\n");
	for (i = 0; i < CLASSES; i++)
		if (r->rows[i])
			printf("%-10s %6" PRIu64 " of %6" PRIu64 " equal%s\n", class_names[i], r->equal[i], r->rows[i],
			       i == BOUND ? " (within)" : "");
	printf("%" PRIu64 " rows have counters that the laboratory does not model, %" PRIu64 " have nothing to compare; %.2f s\n",
	       r->not_modelled, r->skipped, r->seconds);
	for (i = 0; i < r->mismatches && i < 20; i++)
		printf("differs: %s is %.15g, ours %" PRIu64 "\n", r->mismatch[i].text, r->mismatch[i].value,
		       r->mismatch[i].ours);
	if (r->mismatches > 20)
		printf("... and %u more\n", r->mismatches - 20);
}

static void json_ratios(struct json *j, const char *key, const struct ratios *r)
{
	if (!r->n)
		return;
	json_begin_object(j, key);
	json_double(j, "geometric_mean", exp(r->log_sum / (double)r->n));
	json_double(j, "min", r->min);
	json_double(j, "max", r->max);
	json_end_object(j);
}

static int write_report(const char *path, const char *dir, const struct report *r, struct gtu_error *err)
{
	struct atomic_file w;
	struct json j;
	unsigned i, c;
	int rc = atomic_file_open(&w, path, err);

	if (rc)
		return rc;
	json_start(&j, w.file);
	json_begin_object(&j, NULL);
	json_string(&j, "folder", dir);
	json_begin_object(&j, "classes");
	for (c = 0; c < CLASSES; c++) {
		json_begin_object(&j, class_names[c]);
		json_u64(&j, "rows", r->rows[c]);
		json_u64(&j, "equal", r->equal[c]);
		json_end_object(&j);
	}
	json_end_object(&j);
	json_u64(&j, "not_modelled", r->not_modelled);
	json_double(&j, "seconds", r->seconds);
	json_begin_array(&j, "kernels");
	for (i = 0; i < r->groups; i++) {
		json_begin_object(&j, NULL);
		json_string(&j, "kernel", r->group[i].kernel);
		json_string(&j, "machine", r->group[i].config);
		json_bool(&j, "known", !r->group[i].unknown);
		json_u64(&j, "exact_rows", r->group[i].rows[EXACT]);
		json_u64(&j, "exact_equal", r->group[i].equal[EXACT]);
		json_u64(&j, "warp_instructions_equal", r->group[i].equal_warps);
		json_ratios(&j, "warp_instructions", &r->group[i].warps);
		json_ratios(&j, "cycles", &r->group[i].cycles);
		json_ratios(&j, "l1_read_misses", &r->group[i].l1_misses);
		json_ratios(&j, "l2_accesses", &r->group[i].l2_accesses);
		json_end_object(&j);
	}
	json_end_array(&j);
	json_begin_array(&j, "mismatches");
	for (i = 0; i < r->mismatches; i++) {
		json_begin_object(&j, NULL);
		json_string(&j, "row", r->mismatch[i].text);
		json_double(&j, "value", r->mismatch[i].value);
		json_u64(&j, "ours", r->mismatch[i].ours);
		json_end_object(&j);
	}
	json_end_array(&j);
	json_end_object(&j);
	json_finish(&j);
	return atomic_file_close(&w, rc, err);
}

static int check(const char *dir, const char *only, const char *json, struct gtu_error *err)
{
	struct report r = { 0 };
	uint64_t compared = 0;
	unsigned i;
	int rc = json ? atomic_file_try(json, err) : 0;

	if (!rc)
		rc = lab_oracle_check(dir, only, take_row, &r, cli_progress(), err);
	cli_clear_bar();
	if (!rc && r.no_memory)
		rc = gtu_fail(err, GTU_ERR_NOMEM, "no memory for the report");
	for (i = 0; i < CLASSES; i++)
		compared += r.rows[i];
	if (!rc && !r.groups)
		rc = gtu_fail(err, GTU_ERR_USAGE, "no run in %s contains '%s' in its graph,kernel,config", dir, only);
	if (!rc && json)
		rc = write_report(json, dir, &r, err);
	if (!rc && (!json || !atomic_file_is_stdout(json))) {
		print_report(&r);
		if (fflush(stdout))
			rc = gtu_fail(err, GTU_ERR_FAIL, "cannot write: %s", strerror(errno));
	}
	if (!rc && !compared)
		rc = gtu_fail(err, GTU_ERR_INPUT, "%s has no kernel and machine that the laboratory knows: no row was compared", dir);
	if (!rc && r.mismatches)
		rc = gtu_fail(err, GTU_ERR_VERIFY, "%u rows that must be equal (exact, input) or within (bound) are not",
			      r.mismatches);
	free(r.group);
	free(r.mismatch);
	return rc;
}

static int list(void)
{
	struct lab_machine m;
	unsigned i;

	printf("Machines (gtu lab machine NAME prints one):\n");
	for (i = 0; lab_machine_builtin(i); i++) {
		struct gtu_error err = { 0 };
		int rc = lab_machine_open(lab_machine_builtin(i), &m, &err);

		if (rc)
			return cli_exit(&err, rc);
		printf("  %-15s %3u SMs of %4u threads at %4.0f MHz, L1 %u KiB, L2 %u KiB in %u slices, DRAM %g GB/s%s\n", m.name,
		       m.sms, m.warps * LAB_LANES, m.core_mhz, m.l1_size >> 10, m.l2_slices * m.l2_size >> 10, m.l2_slices,
		       m.dram_gbs, m.link ? ", link" : "");
	}
	printf("\nTests and experiments:\n"
	       "  gtu lab check DIR     counts of a folder like ../shared/oracles, on oracle-gtx980 and oracle-titanx\n"
	       "  gtu bench lab         how fast the laboratory simulates\n");
	lab_run_list();
	return CLI_DONE;
}

static int list_figures(const char *json, struct gtu_error *err)
{
	static const char *const kind[] = { "command", "place", "not repeated" };
	struct lab_figure f[128];
	const unsigned n = lab_figures(f, 128);
	struct atomic_file w;
	struct json j;
	int rc;

	for (unsigned i = 0; i < n && !json; i++) {
		if (!i || strcmp(f[i].paper, f[i - 1].paper))
			printf("%s%s\n", i ? "\n" : "", f[i].paper);
		printf("  %s %-3u %-42s %s%s%s%s\n", f[i].table ? "table " : "figure", f[i].number, f[i].title,
		       f[i].kind == LAB_FIGURE_NONE ? "not repeated: " : "", f[i].command,
		       *f[i].command && *f[i].text ? ": " : "", f[i].text);
	}
	if (!json)
		return 0;
	rc = atomic_file_open(&w, json, err);
	if (rc)
		return rc;
	json_start(&j, w.file);
	json_begin_array(&j, NULL);
	for (unsigned i = 0; i < n; i++) {
		json_begin_object(&j, NULL);
		json_string(&j, "paper", f[i].paper);
		json_u64(&j, f[i].table ? "table" : "figure", f[i].number);
		json_string(&j, "title", f[i].title);
		json_string(&j, "kind", kind[f[i].kind]);
		json_string(&j, f[i].kind == LAB_FIGURE_RUN ? "command" : f[i].kind == LAB_FIGURE_PLACE ? "place" : "reason",
			    f[i].kind == LAB_FIGURE_RUN ? f[i].command : f[i].text);
		if (f[i].kind == LAB_FIGURE_RUN && *f[i].text)
			json_string(&j, "differs", f[i].text);
		json_end_object(&j);
	}
	json_end_array(&j);
	json_finish(&j);
	return atomic_file_close(&w, rc, err);
}

static int experiment(struct lab_run *run, const char *name, const char *sweep, struct gtu_error *err)
{
	struct lab_sweep values = { 0 };
	int rc = 0;

	if (sweep) {
		rc = run->device ? gtu_fail(err, GTU_ERR_USAGE, "--sweep changes the laboratory's machine and cannot be used with --device") :
		     lab_sweep_parse(sweep, &values, err);
		run->sweep = &values;
	}
	rc = rc ? rc : lab_run_experiment(run, name, err);
	lab_sweep_free(&values);
	return rc;
}

/*
 * An experiment makes a machine for each of its runs, of some tens of MiB. Keep that memory for the next one: its page
 * faults took longer than the simulation of a small graph.
 */
static void keep_memory(void)
{
#ifdef __GLIBC__
	mallopt(M_MMAP_THRESHOLD, 32 << 20);	/* the largest value that glibc takes */
	mallopt(M_TRIM_THRESHOLD, 1 << 30);
#endif
}

int cmd_lab(int argc, char **argv)
{
	static const struct option options[] = {
		{ "only", required_argument, NULL, 'o' },
		{ "set", required_argument, NULL, 's' },
		{ "sweep", required_argument, NULL, 'w' },
		{ "figures", no_argument, NULL, 'F' },
		{ "figure", required_argument, NULL, 'f' },
		{ "table", required_argument, NULL, 't' },
		{ "graph", required_argument, NULL, 'g' },
		{ "algorithm", required_argument, NULL, 'a' },
		{ "scale", required_argument, NULL, 'S' },
		{ "machine", required_argument, NULL, 'm' },
		{ "json", required_argument, NULL, 'j' },
		{ "plot", required_argument, NULL, 'p' },
		{ "device", required_argument, NULL, 'd' },
		{ "short", no_argument, NULL, 'H' },
		{ "commit", required_argument, NULL, 'C' },
		{ "output", required_argument, NULL, 'O' },
		{ "causes", required_argument, NULL, 'A' },
		{ "complete", no_argument, NULL, 'M' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	static const char *const subjects[] = { "list", "machine", "check", "run", "parameters", "report", NULL };
	const char *only = NULL, *json = NULL, *sweep = NULL, *set[64], *file[LAB_RUN_GRAPHS];
	struct lab_run run = { .set = set, .file = file };
	struct lab_report report = { 0 };
	struct gtu_error err = { 0 };
	struct lab_machine m;
	unsigned sets = 0, i;
	bool figures = false;
	int c, rc, what;

	keep_memory();
	while ((c = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		switch (c) {
		case 'F': figures = true; break;
		case 'o': only = optarg; break;
		case 'j': json = optarg; break;
		case 'p': run.plot = optarg; break;
		case 'd': run.device = optarg; break;
		case 'H': report.short_form = true; break;
		case 'C': report.commit = optarg; break;
		case 'O': report.page = optarg; break;
		case 'A': report.causes = optarg; break;
		case 'M': report.complete = true; break;
		case 'w':
			if (sweep)
				return cli_usage("--sweep can be given only once; change other parameters with --set");
			sweep = optarg;
			break;
		case 's':
			if (sets == 64)
				return cli_usage("--set can be given at most 64 times");
			set[sets++] = optarg;
			break;
		case 'f':
			if (!cli_u64("--figure", optarg, 1, LAB_TABLE(0) - 1, &run.figure))
				return CLI_USAGE;
			break;
		case 't':
			if (!cli_u64("--table", optarg, 1, 63 - LAB_TABLE(0), &run.figure))
				return CLI_USAGE;
			run.figure += LAB_TABLE(0);
			break;
		case 'S':
			if (!cli_u64("--scale", optarg, 8, 26, &run.scale))
				return CLI_USAGE;
			break;
		case 'a': run.algorithm = optarg; break;
		case 'm': run.machine = optarg; break;
		case 'g':
			if (run.files == LAB_RUN_GRAPHS)
				return cli_usage("--graph can be given at most %d times", LAB_RUN_GRAPHS);
			file[run.files++] = optarg;
			break;
		case 'h': fputs(help, stdout); return CLI_DONE;
		default: return cli_option(argc, argv, c, options);
		}
	}
	if (optind == argc)
		return cli_usage("expects a subject: list, machine, check, run, parameters or report");
	what = cli_choice("the subject", argv[optind], subjects);
	if (what < 0)
		return CLI_USAGE;
	if (argc - optind != (what ? 2 : 1))
		return cli_usage(what ? "%s takes one name, but %d are given" : "%s takes no name, but %d are given", subjects[what],
				 argc - optind - 1);
	if (what && figures)
		return cli_usage("--figures is for 'gtu lab list'");
	if ((what != 2 && only) || (what != 2 && what != 3 && json && !figures) || (what != 1 && what != 3 && sets))
		return cli_usage("%s does not take %s", subjects[what], sets ? "--set" : only ? "--only" : "--json");
	if (what != 3 && (run.figure || run.scale || run.machine || run.files || run.plot || run.device || run.algorithm || sweep))
		return cli_usage("--figure, --table, --algorithm, --graph, --scale, --machine, --sweep, --plot and --device are for 'gtu lab run'");
	if (what != 5 && (report.short_form || report.commit || report.page || report.causes || report.complete))
		return cli_usage("--short, --commit, --output, --causes and --complete are for 'gtu lab report'");
	if (run.files && run.scale)
		return cli_usage("--scale is for generated graphs, not for --graph");
	if (!what)
		return figures ? cli_exit(&err, list_figures(json, &err)) : list();
	if (what == 2)
		return cli_exit(&err, check(argv[optind + 1], only, json, &err));
	if (what == 3) {
		run.sets = sets;
		run.json = json;
		run.progress = cli_progress();
		return cli_exit(&err, experiment(&run, argv[optind + 1], sweep, &err));
	}
	if (what == 5) {
		report.folder = argv[optind + 1];
		report.commit = report.commit ? report.commit : "gtu " GTU_VERSION;
		report.progress = cli_progress();
		return cli_exit(&err, lab_report(&report, &err));
	}
	if (what == 4)
		return cli_exit(&err, lab_run_print_parameters(argv[optind + 1], &err));
	rc = lab_machine_open(argv[optind + 1], &m, &err);
	for (i = 0; i < sets && !rc; i++)
		rc = lab_machine_set(&m, set[i], &err);
	if (!rc)
		lab_machine_print(&m, stdout);
	return cli_exit(&err, rc);
}
