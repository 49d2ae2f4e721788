// SPDX-License-Identifier: MIT
/* The gtu tool: finds the verb and runs it. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/run/run.h"
#include "tools/support/cli.h"

static int cmd_help(int argc, char **argv);
static int cmd_version(int argc, char **argv);

static const struct verb {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *line;
} verbs[] = {
	{ "info", cmd_info, "show a device's units and parameters, and the backends" },
	{ "doctor", cmd_doctor, "check what a working device needs, and how to fix it" },
	{ "convert", cmd_convert, "convert a graph file of any format into one that is mapped in place" },
	{ "generate", cmd_generate, "generate a random graph" },
	{ "stat", cmd_stat, "show degrees and components of a graph" },
	{ "run", cmd_run, "run an algorithm on a graph by a unit, optionally verified" },
	{ "bench", cmd_bench, "measure the units beside memcpy and plain software" },
	{ "lab", cmd_lab, "repeat the papers' experiments in a model of a GPU's memory hierarchy" },
	{ "report", cmd_report, "make a page with charts from the output of run, lab, bench and stat" },
	{ "top", cmd_top, "watch devices: busy units, jobs, requests by size" },
	{ "bringup", cmd_bringup, "test a new board step by step, from configuration space to lock step" },
	{ "fdt", cmd_fdt, "show, check and compare device trees, and write an overlay" },
	{ "serve", cmd_serve, "run the device as a process that a virtual machine attaches to" },
	{ "help", cmd_help, "show this page, or that of one verb" },
	{ "version", cmd_version, "print the version of this program" },
};
#define VERBS (sizeof(verbs) / sizeof(verbs[0]))

static const struct verb *find_verb(const char *name)
{
	unsigned i;

	for (i = 0; i < VERBS; i++)
		if (!strcmp(verbs[i].name, name))
			return &verbs[i];
	return NULL;
}

static int unknown_verb(const char *name)
{
	const char *names[VERBS + 1], *nearest;
	unsigned i;

	for (i = 0; i < VERBS; i++)
		names[i] = verbs[i].name;
	names[VERBS] = NULL;
	if (run_has_kind(name))
		return cli_usage("unknown verb '%s'; did you mean 'run %s'?", name, name);
	nearest = cli_nearest(name, names);
	if (nearest)
		return cli_usage("unknown verb '%s'; did you mean '%s'?", name, nearest);
	if (!access(name, F_OK))
		return cli_usage("unknown verb '%s'; of a graph file, 'gtu stat %s' prints the properties", name, name);
	return cli_usage("unknown verb '%s'", name);
}

static void print_help(FILE *to)
{
	unsigned i;

	fputs("gtu: runs graph algorithms with the units of the graph traversal unit.\n\n"
	      "usage: gtu VERB [options]        gtu VERB --help describes a verb\n\n", to);
	for (i = 0; i < VERBS; i++)
		fprintf(to, "  %-10s %s\n", verbs[i].name, verbs[i].line);
	fputs("\nFirst steps:\n"
	      "  gtu info                                        the device in this process\n"
	      "  gtu generate kronecker --scale 16 k16.gtu       a graph for tests\n"
	      "  gtu stat k16.gtu                                its properties\n"
	      "  gtu run bfs k16.gtu --unit scu --verify         hops from one vertex, checked\n"
	      "  gtu run pagerank k16.gtu --unit iru --output ranks.txt\n"
	      "  gtu run bfs k16.gtu --monitor --json bfs.json\n"
	      "  gtu report bfs.json                             a page with charts: report.html\n"
	      "  gtu convert roads.gr.xz roads.gtu               your own graph, converted once\n"
	      "  gtu run sssp roads.gtu --source 42 --unit iru --json -\n"
	      "\n--quiet, with any verb: no progress bar, no output that was not requested.\n"
	      "Exit codes: 0 done, 1 failed at run time, 2 usage, 3 bad input, 4 verification failed,\n"
	      "130 interrupted.\n", to);
}

static bool asks_help(const char *word)
{
	return !strcmp(word, "--help") || !strcmp(word, "-h");
}

static int cmd_help(int argc, char **argv)
{
	const struct verb *v;
	char *help[] = { NULL, "--help", NULL };

	if (argc > 2)
		return cli_usage("takes one VERB, but %d names are given", argc - 1);
	if (argc < 2) {
		print_help(stdout);
		return CLI_DONE;
	}
	if (asks_help(argv[1])) {
		fputs("usage: gtu help [VERB]\n\nPrints the verbs, or the help of VERB.\n\n"
		      "  gtu help run\n", stdout);
		return CLI_DONE;
	}
	if (argv[1][0] == '-')
		return cli_usage("unknown option %s", argv[1]);
	v = find_verb(argv[1]);
	if (!v)
		return unknown_verb(argv[1]);
	help[0] = argv[1];
	cli_start(v->name, cli_quiet());
	return v->run(2, help);
}

static int cmd_version(int argc, char **argv)
{
	if (argc > 1 && asks_help(argv[1])) {
		fputs("usage: gtu version\n\nPrints the version of this program, 'gtu " GTU_VERSION "'.\n", stdout);
		return CLI_DONE;
	}
	if (argc > 1)
		return cli_usage("unexpected argument '%s'", argv[1]);
	puts("gtu " GTU_VERSION);
	return CLI_DONE;
}

/* Remove --quiet, which every verb has and which may stand anywhere before "--". */
static int take_quiet(int argc, char **argv, bool *quiet)
{
	int from, to = 1;
	bool options = true;

	for (from = 1; from < argc; from++) {
		options = options && strcmp(argv[from], "--");
		if (options && !strcmp(argv[from], "--quiet"))
			*quiet = true;
		else
			argv[to++] = argv[from];
	}
	argv[to] = NULL;
	return to;
}

static int run_tool(int argc, char **argv)
{
	const struct verb *v;
	bool quiet = false;

	argc = take_quiet(argc, argv, &quiet);
	cli_start(NULL, quiet);
	if (argc < 2) {
		print_help(stderr);
		return CLI_USAGE;
	}
	if (asks_help(argv[1])) {
		print_help(stdout);
		return CLI_DONE;
	}
	if (!strcmp(argv[1], "--version"))
		argv[1] = "version";
	v = find_verb(argv[1]);
	if (!v)
		return unknown_verb(argv[1]);
	cli_start(v->name, quiet);
	return v->run(argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
	int code;

	/* NCCL's multicast by NVLink switches has hung hosts: only on request. Set before there are threads that read it. */
	if (!getenv("NCCL_NVLS_ENABLE") || !*getenv("NCCL_NVLS_ENABLE"))
		setenv("NCCL_NVLS_ENABLE", "0", 1);
	/* at the limit on file sizes, let write() fail so that incomplete files are removed */
	signal(SIGXFSZ, SIG_IGN);
	code = run_tool(argc, argv);
	cli_clear_bar();
	errno = 0;
	/* lost output is a failure */
	if ((fflush(stdout) || ferror(stdout)) && code == CLI_DONE) {
		fprintf(stderr, "gtu: cannot write to standard output%s%s; redirect it to where there is space\n", errno ? ": " : "",
			errno ? strerror(errno) : "");
		code = CLI_FAILED;
	}
	return code;
}
