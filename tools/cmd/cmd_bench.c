// SPDX-License-Identifier: MIT
/*
 * gtu bench: the command line of its subjects, and the output that they share. gtu bench gpu has a
 * command line of its own.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/bench/bench.h"
#include "tools/bench/bench_gpu.h"
#include "tools/bench/bench_ioctl.h"
#include "tools/bench/bench_lab.h"
#include "tools/support/cli.h"
#include "tools/report/report.h"
#include "tools/support/atomic_file.h"

static const char help[] =
	"usage: gtu bench units [--seconds S] [--only NAME,...] [--max-set BYTES] [--device D]\n"
	"                       [--portable] [--cycles] [--json FILE|-] [--plot FILE.svg|-]\n"
	"       gtu bench ioctl [--seconds S] [--pin BYTES] [--device D] [--json FILE|-] [--plot FILE.svg|-]\n"
	"       gtu bench lab [--scale N] [--machine NAME|FILE] [--json FILE|-]\n"
	"       gtu bench gpu [...]      the link and the traversals of a GPU: gtu bench gpu --help\n\n"
	"units: throughput of the units, each job as a whole through the runtime, compared with memcpy of\n"
	"the same bytes and with plain software for the same task. The three are measured in turn, round\n"
	"after round, so that noise of the computer affects all alike; the medians are printed.\n\n"
	"  --seconds S      total time, approximately (default 60; at least three rounds per case)\n"
	"  --only NAMES     units or operations: scu, iru, peg, wvr, bitmask, data, access, replicate, expand,\n"
	"                   unique, best, group, reorder, filter, minimum, add, gather, weave\n"
	"  --max-set BYTES  leave out larger working sets (1M, 64M; default: none)\n"
	"  --device D       as in gtu info (default model)\n"
	"  --portable       use the model's portable C instead of the processor's vector code\n"
	"  --cycles         no times: elements, bytes and logical cycles of one job each; they are the same\n"
	"                   on every computer\n"
	"  --json FILE      all results as JSON; - is standard output, and then no table is printed\n"
	"  --plot FILE.svg  a bar chart; of units: GB/s beside memcpy and plain software; of ioctl: times; - likewise\n\n"
	"set       working set: bytes that one job reads and writes, approximately\n"
	"unit      GB/s of these bytes: input, index, count, mask, gathered data and output, each once\n"
	"memcpy    GB/s read plus written by memcpy of the same number of bytes\n"
	"share     unit / memcpy: the median of the rounds' ratios, not the ratio of the two medians beside it\n"
	"M/s       million elements per second, of input or output, whichever is more: of the unit, and of\n"
	"          plain software. Plain software is an LSD radix sort by line for reordering and grouping,\n"
	"          and a bitmap of the elements seen for filtering.\n\n"
	"ioctl: the cost of the path to the device: a system call, every ioctl, a job by doorbell and by ioctl,\n"
	"the ways of waiting for it, mmap, queues, contexts, with the medians as multiples of an empty ioctl and\n"
	"of an empty job; CPU time per job by batch; jobs per second by batch, by depth and by threads, contexts\n"
	"and queues; interrupts and wake-ups per second; REGION_ADD and REGION_REMOVE by size and kind of page,\n"
	"idle and under load; pinning compared with copying. With percentiles and histograms. The first line\n"
	"says how the IOMMU invalidates: off, strict, lazy or passthrough. A case that the device or its driver\n"
	"does not support is reported as such.\n\n"
	"  --device D       /dev/gtu0 for all cases (default model: the cases that need no driver)\n"
	"  --pin BYTES      memory to pin at a time (default 128M; needs twice as much), and the largest region:\n"
	"                   4K, 64K, 2M, 64M or 1G\n"
	"  --seconds S      total time, approximately (default 60), not counting the cases that pin\n\n"
	"lab: how fast the laboratory simulates BFS and PageRank over a Kronecker graph of 2^N vertices and edge\n"
	"factor 16: CPU time of one core, simulated warp instructions and sector requests per second.\n\n"
	"  --scale N        default 18\n"
	"  --machine M      a name from 'gtu lab list', or a file (default gtx980)\n";

/* Check that every name in --only is a unit or an operation. */
static bool only_is_known(const char *only)
{
	const char *names[40], *nearest;
	char word[32];
	unsigned n = 0, i, c;

	for (c = 0; bench_cases[c].unit; c++) {
		const char *both[] = { bench_cases[c].unit, bench_cases[c].operation };
		unsigned k;

		for (k = 0; k < 2; k++) {
			for (i = 0; i < n && strcmp(names[i], both[k]); i++)
				;
			if (i == n && n < 39)
				names[n++] = both[k];
		}
	}
	names[n] = NULL;
	while (*only) {
		size_t length = strcspn(only, ",");

		snprintf(word, sizeof(word), "%.*s", (int)(length < 31 ? length : 31), only);
		for (i = 0; i < n && strcmp(names[i], word); i++)
			;
		if (i == n) {
			nearest = cli_nearest(word, names);
			cli_usage("--only '%s' is neither a unit nor an operation%s%s%s", word,
				  nearest ? "; did you mean " : "", nearest ? nearest : "",
				  nearest ? "?" : "");
			return false;
		}
		only += length + (only[length] == ',');
	}
	return true;
}

bool bench_has_table(const char *json, const char *plot)
{
	return !(json && atomic_file_is_stdout(json)) && !(plot && atomic_file_is_stdout(plot));
}

bool bench_targets(const char *json, const char *plot)
{
	if (atomic_file_same(json, plot))
		cli_usage("--json and --plot cannot both go to %s", atomic_file_is_stdout(json) ? "standard output" : json);
	return !atomic_file_same(json, plot);
}

int bench_write(const char *json, const char *plot, void (*write)(const void *subject, FILE *to), const void *subject,
		void (*chart)(struct report *r, const struct json_value *doc), struct gtu_error *err)
{
	struct atomic_file w;
	int rc = 0;

	if (json) {
		rc = atomic_file_open(&w, json, err);
		if (rc)
			return rc;
		write(subject, w.file);
		rc = atomic_file_close(&w, 0, err);
	}
	return !rc && plot ? report_plot(plot, write, subject, chart, err) : rc;
}

static int bench_ioctl(const struct bench_request *rq, struct gtu_error *err)
{
	struct ioctl_bench *b = calloc(1, sizeof(*b));
	int ret;

	if (!b)
		return gtu_fail(err, GTU_ERR_NOMEM, "no memory for the results");
	b->device = rq->device ? rq->device : "model";
	b->seconds = rq->seconds;
	b->pin_bytes = rq->pin & ~((2ull << 20) - 1);
	ret = ioctl_bench_run(b, err);
	cli_clear_bar();
	if (!ret && bench_has_table(rq->json, rq->plot))
		ioctl_bench_print(b);
	if (!ret)
		ret = bench_write(rq->json, rq->plot, ioctl_bench_json, b, report_chart_ioctl, err);
	ioctl_bench_free(b);
	free(b);
	return ret;
}

int cmd_bench(int argc, char **argv)
{
	static const struct option options[] = {
		{ "seconds", required_argument, NULL, 's' },
		{ "only", required_argument, NULL, 'o' },
		{ "max-set", required_argument, NULL, 'l' },
		{ "pin", required_argument, NULL, 'p' },
		{ "device", required_argument, NULL, 'd' },
		{ "portable", no_argument, NULL, 'C' },
		{ "cycles", no_argument, NULL, 'y' },
		{ "scale", required_argument, NULL, 'c' },
		{ "machine", required_argument, NULL, 'm' },
		{ "json", required_argument, NULL, 'j' },
		{ "plot", required_argument, NULL, 'P' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 }
	};
	static const char *const subjects[] = { "units", "ioctl", "lab", "gpu", NULL };
	struct bench_lab lab = { .scale = 18, .machine = "gtx980" };
	struct bench_request rq = { .seconds = 60, .largest = UINT64_MAX, .pin = 128 << 20 };
	bool for_units = false, for_ioctl = false, for_lab = false;
	struct gtu_error err = { 0 };
	int opt, subject, ret;

	if (argc > 1 && !strcmp(argv[1], "gpu"))
		return bench_gpu(argc - 1, argv + 1);
	while ((opt = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		switch (opt) {
		case 's':
			if (!cli_double("--seconds", optarg, 0, 86400, &rq.seconds))
				return CLI_USAGE;
			break;
		case 'l':
			if (!cli_u64("--max-set", optarg, 1, UINT64_MAX, &rq.largest))
				return CLI_USAGE;
			for_units = true;
			break;
		case 'C':
			rq.portable = true;
			for_units = true;
			break;
		case 'y':
			rq.cycles = true;
			for_units = true;
			break;
		case 'p':
			if (!cli_u64("--pin", optarg, 2 << 20, 1ull << 40, &rq.pin))
				return CLI_USAGE;
			for_ioctl = true;
			break;
		case 'o':
			rq.only = optarg;
			for_units = true;
			break;
		case 'c':
			if (!cli_u64("--scale", optarg, 4, 26, &lab.scale))
				return CLI_USAGE;
			for_lab = true;
			break;
		case 'm':
			lab.machine = optarg;
			for_lab = true;
			break;
		case 'd': rq.device = optarg; break;
		case 'j': rq.json = lab.json = optarg; break;
		case 'P': rq.plot = optarg; break;
		case 'h': fputs(help, stdout); return CLI_DONE;
		default: return cli_option(argc, argv, opt, options);
		}
	}
	if (optind == argc)
		return cli_usage("expects a subject: 'gtu bench units', 'gtu bench ioctl', 'gtu bench lab' or 'gtu bench gpu'");
	subject = cli_choice("the subject", argv[optind], subjects);
	if (subject < 0)
		return CLI_USAGE;
	if (subject == 3)
		return cli_usage("'gpu' comes first: gtu bench gpu [options]");
	if (for_lab && subject != 2)
		return cli_usage("--scale and --machine are for 'gtu bench lab'");
	if (subject == 2 && (for_units || for_ioctl || rq.device || rq.plot))
		return cli_usage("'gtu bench lab' takes --scale, --machine and --json");
	if (subject ? for_units : for_ioctl)
		return cli_usage(subject ? "--only, --max-set, --portable and --cycles are for 'gtu bench units'" :
					   "--pin is for 'gtu bench ioctl'");
	if (optind + 1 < argc)
		return cli_usage("unexpected argument '%s'", argv[optind + 1]);
	if (rq.cycles && (rq.json || rq.plot))
		return cli_usage("--cycles prints a table only: leave out --json and --plot, or leave out --cycles");
	if (rq.only && !only_is_known(rq.only))
		return CLI_USAGE;
	if (!bench_targets(rq.json, rq.plot))
		return CLI_USAGE;
	ret = rq.json ? atomic_file_try(rq.json, &err) : 0;
	if (!ret && rq.plot)
		ret = atomic_file_try(rq.plot, &err);
	if (!ret)
		ret = subject == 2 ? bench_lab(&lab, cli_progress(), &err) :
		      subject ? bench_ioctl(&rq, &err) : bench_units(&rq, &err);
	return cli_exit(&err, ret);
}
