// SPDX-License-Identifier: MIT
/* gtu report: presents JSON files of the other verbs as one HTML page. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/support/cli.h"
#include "tools/support/graph_options.h"
#include "tools/support/html.h"
#include "tools/report/report.h"
#include "tools/support/svg.h"
#include "tools/support/atomic_file.h"

static const char help[] =
	"usage: gtu report RUN.json... [-o FILE.html]\n\n"
	"Makes one page of the files that other verbs have written with --json: gtu run, gtu lab run, gtu lab check,\n"
	"gtu bench units, ioctl, lab and gpu, and gtu stat. Files are recognized by content, not by name. The page is one\n"
	"file that needs no network and no scripts; it follows the browser's light or dark setting.\n\n"
	"  --output FILE, -o FILE  the page (report.html); - is standard output\n\n"
	"Of a run it shows: frontier, edges, bandwidth and time over its levels, requests by size (with --monitor),\n"
	"runs beside each other, and for a GPU the roofline of the link. Of the laboratory: the paper's bars beside\n"
	"ours, the null model's values as dashed lines, the table, and the rows met by paper. A run has measured its link if --edges was auto; otherwise a gtu bench gpu of the same GPU\n"
	"on the page supplies the bandwidth of the link. A file - is standard input.\n\n"
	"  gtu generate kronecker --scale 16 k16.gtu\n"
	"  gtu run bfs k16.gtu --unit scu --monitor --json scu.json\n"
	"  gtu run bfs k16.gtu --unit iru --monitor --json iru.json\n"
	"  gtu stat k16.gtu --json stat.json\n"
	"  gtu report scu.json iru.json stat.json -o bfs.html\n"
	"  gtu lab run emogi --figure 5 --json emogi.json\n"
	"  gtu report emogi.json -o emogi.html\n";

#define FILES_MAX 256

static const struct report_kind report_kinds[] = {
	{ "gtu lab run --sweep", { { "experiment", JSON_STRING }, { "sweep", JSON_OBJECT }, { "rows", JSON_ARRAY } }, report_title_sweep, report_sweep },
	{ "gtu lab run", { { "experiment", JSON_STRING }, { "rows", JSON_ARRAY } }, report_title_lab, report_lab },
	{ "gtu lab check", { { "folder", JSON_STRING }, { "classes", JSON_OBJECT }, { "kernels", JSON_ARRAY } }, report_title_check, report_check },
	{ "gtu run", { { "algorithm", JSON_STRING }, { "unit", JSON_STRING }, { "graph", JSON_STRING }, { "seconds", JSON_OBJECT } }, report_title_run,
	  report_run },
	{ "gtu bench gpu", { { "device", JSON_STRING }, { "gpu", JSON_OBJECT }, { "link_gbps", JSON_OBJECT }, { "results", JSON_ARRAY } },
	  report_title_bench, report_bench_gpu },
	{ "gtu bench units", { { "device", JSON_STRING }, { "host", JSON_OBJECT }, { "seconds", JSON_NUMBER }, { "results", JSON_ARRAY } },
	  report_title_bench, report_bench_units },
	{ "gtu bench ioctl", { { "device", JSON_STRING }, { "series", JSON_ARRAY }, { "submit_cpu", JSON_ARRAY }, { "rates", JSON_ARRAY } },
	  report_title_bench, report_bench_ioctl },
	{ "gtu bench lab", { { "machine", JSON_STRING }, { "cases", JSON_ARRAY } }, report_title_bench_lab, report_bench_lab },
	{ "gtu stat", { { "graph", JSON_STRING }, { "vertices", JSON_NUMBER }, { "degree_histogram", JSON_ARRAY } }, report_title_stat, report_stat },
};
#define KINDS (sizeof(report_kinds) / sizeof(report_kinds[0]))

static bool is_of(const struct report_kind *k, const struct json_value *doc)
{
	unsigned i;

	for (i = 0; i < 4 && k->has[i].key; i++)
		if (!json_get_kind(doc, k->has[i].key, k->has[i].kind))
			return false;
	return true;
}

/* Describe an unknown document for a message. */
static void describe(const struct json_value *doc, char *text, size_t size)
{
	static const char *const what[] = { "null", "true or false", "a number", "a string" };
	const struct json_value *m;
	unsigned i;
	char *c;

	if (doc->kind < JSON_ARRAY) {
		snprintf(text, size, "%s", what[doc->kind]);
	} else if (doc->kind == JSON_ARRAY) {
		snprintf(text, size, "an array of %lu", doc->count);
	} else if (!doc->count) {
		snprintf(text, size, "an object without members");
	} else {
		snprintf(text, size, "an object with");
		for (i = 0, m = doc->first; m && i < 5; m = m->next, i++)
			snprintf(text + strlen(text), size - strlen(text), "%s '%.24s'", i ? "," : "", m->key);
		if (m)
			snprintf(text + strlen(text), size - strlen(text), " and %lu more", doc->count - 5);
	}
	for (c = text; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
}

static int open_file(struct report_file *f, struct gtu_error *err)
{
	char found[256];
	unsigned i;
	int rc = json_read(f->path, &f->tree, &f->doc, err);

	if (rc)
		return rc;
	for (i = 0; i < KINDS && !is_of(&report_kinds[i], f->doc); i++)
		;
	if (i < KINDS) {
		const struct json_value *rows = json_get_kind(f->doc, "rows", JSON_ARRAY);

		f->kind = &report_kinds[i];
		return !rows || rows->count ? 0 :
		       gtu_fail(err, GTU_ERR_INPUT, "%s of %s has no rows", f->path, f->kind->verb);
	}
	describe(f->doc, found, sizeof(found));
	return gtu_fail(err, GTU_ERR_INPUT,
			"%s is JSON, but not of gtu run, gtu lab run, gtu lab check, gtu bench or gtu stat: it is %s", f->path, found);
}

static void contents(struct report *r, const struct report_file *file, unsigned files)
{
	char title[256];
	unsigned i;

	report_table(r, "#|what|written by|file");
	for (i = 0; i < files; i++) {
		report_row(r, "");
		report_cell_number(r, i + 1);
		file[i].kind->title(file[i].doc, title, sizeof(title));
		fprintf(r->to, "<td><a href=\"#f%u\">", i + 1);
		report_text(r, title);
		fputs("</a></td>", r->to);
		report_cell(r, file[i].kind->verb);
		report_cell(r, strcmp(file[i].path, "-") ? file[i].path : "standard input");
	}
	report_end_table(r);
}

static void page(struct report *r, const struct report_file *file, unsigned files)
{
	char title[256], day[64] = "";
	time_t now = time(NULL);
	struct tm tm;
	unsigned i;

	file[0].kind->title(file[0].doc, title, sizeof(title));
	html_begin(r->to, files > 1 ? "GTU report" : title);
	fputs("<h1>GTU report</h1>\n", r->to);
	if (gmtime_r(&now, &tm))
		strftime(day, sizeof(day), "%Y-%m-%d %H:%M UTC", &tm);
	fprintf(r->to, "<p class=\"soft\">Created by gtu " GTU_VERSION ", %s</p>\n", day);
	contents(r, file, files);
	report_compare(r, file, files);
	report_roofline(r, file, files);
	report_scores(r, file, files);
	for (i = 0; i < files; i++) {
		file[i].kind->title(file[i].doc, title, sizeof(title));
		fprintf(r->to, "<h2 id=\"f%u\">%u. ", i + 1, i + 1);
		report_text(r, title);
		fprintf(r->to, "</h2>\n<p class=\"soft\"><code>%s</code>, ", file[i].kind->verb);
		report_text(r, strcmp(file[i].path, "-") ? file[i].path : "standard input");
		fputs("</p>\n", r->to);
		file[i].kind->section(r, file[i].doc);
	}
	html_end(r->to);
}

static int write_page(const char *path, const struct report_file *file, unsigned files, struct gtu_error *err)
{
	struct report r = { .page = true };
	struct atomic_file w;
	int rc = atomic_file_open(&w, path, err);

	if (rc)
		return rc;
	r.to = w.file;
	page(&r, file, files);
	return report_close(&r, &w, err);
}

int cmd_report(int argc, char **argv)
{
	static const struct option options[] = {
		{ "output", required_argument, NULL, 'o' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	static struct report_file file[FILES_MAX];
	const char *output = "report.html";
	unsigned files, i, inputs = 0;
	struct gtu_error err = { 0 };
	int c, rc = 0;

	while ((c = getopt_long(argc, argv, ":ho:", options, NULL)) != -1) {
		switch (c) {
		case 'o': output = optarg; break;
		case 'h': fputs(help, stdout); return CLI_DONE;
		default: return cli_option(argc, argv, c, options);
		}
	}
	if (optind == argc)
		return cli_usage("expects JSON files, as in: gtu run bfs g.gtu --json run.json; gtu report run.json");
	if (argc - optind > FILES_MAX)
		return cli_usage("takes at most %d files, but %d are given", FILES_MAX, argc - optind);
	files = (unsigned)(argc - optind);
	for (i = 0; i < files; i++) {
		file[i].path = argv[optind + (int)i];
		inputs += !strcmp(file[i].path, "-");
		/* "-" as input is not the same file as "-" as output */
		if (strcmp(file[i].path, "-") && atomic_file_same(file[i].path, output))
			return cli_usage("-o %s is an input file of the page, which would be lost", output);
	}
	if (inputs > 1)
		return cli_usage("standard input can be read only once, but - is given %u times", inputs);
	rc = atomic_file_try(output, &err);
	for (i = 0; i < files && !rc; i++)
		rc = open_file(&file[i], &err);
	if (!rc)
		rc = write_page(output, file, files, &err);
	if (!rc && !cli_quiet() && !atomic_file_is_stdout(output))
		printf("%s: %s\n", output, counted(files, "file", "files"));
	for (i = 0; i < files; i++)
		json_read_free(file[i].tree);
	return cli_exit(&err, rc);
}
