// SPDX-License-Identifier: MIT
/* gtu lab report: runs the stages of each paper, keeps those that are up to date, writes the page. */
#include "lab_report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lab_run.h"
#include "tools/report/fidelity.h"
#include "tools/support/atomic_file.h"

#define SHORT_SCALE	8u
#define OPTIONS		16u		/* --set, and --graph, of a stage */

/*
 * tools/experiments/NAME.fidelity has the further runs of a paper and the causes of its misses:
 *
 *	stage NAME reading|cause --OPTION VALUE...	of gtu lab run; @shared is the folder of graphs
 *	cause FIGURE | GRAPH | ROW | STAGE | TEXT	patterns of fnmatch(); STAGE - for none
 */
#define PAPERS(X)                                                                                  \
	X(emogi, "EMOGI", "v100", "v100-pcie4") X(iru, "IRU", "gtx980", NULL) X(scu, "SCU", "gtx980", "tx1") \
	X(graphpeg, "GraphPEG", "graphpeg", NULL) X(sparseweaver, "SparseWeaver", "vortex", NULL)
#define EMBED(id, title, ...)                                                                      \
	__asm__(".section .rodata\n"                                                               \
		".balign 16\n"                                                                     \
		"lab_fidelity_text_" #id ":\n"                                                     \
		".incbin \"tools/experiments/" #id ".fidelity\"\n"                                 \
		".byte 0\n"                                                                        \
		".previous\n");                                                                    \
	extern const char lab_fidelity_text_##id[] __attribute__((visibility("hidden")));
PAPERS(EMBED)

static const struct { const char *experiment, *title, *machine[2], *text; } papers[] = {
#define ROW(id, title, ...) { #id, title, { __VA_ARGS__ }, lab_fidelity_text_##id },
	PAPERS(ROW)
};
#define COUNT (sizeof(papers) / sizeof(papers[0]))

struct stage_options {
	struct lab_run run;
	const char *set[OPTIONS], *file[OPTIONS];
};

struct paper {
	struct fidelity_paper page;
	struct stage_options options[FIDELITY_STAGES];
	struct json_tree *tree[FIDELITY_STAGES];
	char *text;			/* storage of the file's words */
	const char *key;		/* of its runs, before their commands */
	char *words[1 + 4 * FIDELITY_STAGES + OPTIONS * FIDELITY_STAGES]; /* commands and names of files, to be freed */
	unsigned words_n;
};

/* Format a text that lives as long as the paper; NULL without memory. */
static char __attribute__((format(printf, 2, 3))) *words(struct paper *p, const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (p->words_n == sizeof(p->words) / sizeof(p->words[0]) || vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	if (text)
		p->words[p->words_n++] = text;
	return text;
}

/* Take the word at *@at, which ends at one of @ends; NULL: there is none. */
static char *take(char **at, const char *ends)
{
	char *word = *at ? *at + strspn(*at, " \t") : NULL, *end;

	if (!word || !*word)
		return NULL;
	*at = word + strcspn(word, ends);
	end = *at;
	if (**at)
		++*at;
	do
		*end = 0;
	while (end > word && (end[-1] == ' ' || end[-1] == '\t') && end--);
	return word;
}

static int figure_of(const char *text, unsigned *figure)
{
	unsigned base = strncmp(text, "table ", 6) ? 0 : LAB_TABLE(0);
	char *end;
	unsigned long n = strtoul(text + (base ? 6 : 0), &end, 10);

	*figure = base + (unsigned)n;
	return *end || !n || n >= LAB_TABLE(0);
}

/* "--set KEY=VALUE": the value ends before the next " --". */
static int take_option(struct paper *p, struct stage_options *o, char **at)
{
	struct lab_run *run = &o->run;
	char *name = take(at, " "), *value = *at ? *at + strspn(*at, " ") : NULL, *next = value ? strstr(value, " --") : NULL;
	const char *shared = getenv("GTU_SHARED");

	if (!name || !value || !*value)
		return -1;
	*at = next ? next + 1 : value + strlen(value);
	if (next)
		*next = 0;
	if (!strcmp(name, "--set") && run->sets < OPTIONS)
		o->set[run->sets++] = value;
	else if (!strcmp(name, "--graph") && run->files < OPTIONS)
		o->file[run->files++] = strncmp(value, "@shared/", 8) ? value : words(p, "%s%s", shared ? shared : "../shared", value + 7);
	else if (!strcmp(name, "--algorithm"))
		run->algorithm = value;
	else if (!strcmp(name, "--machine"))
		run->machine = value;
	else if (!strcmp(name, "--scale"))
		run->scale = strtoul(value, NULL, 10);
	else if (!strcmp(name, "--figure") || !strcmp(name, "--table"))
		run->figure = strtoul(value, NULL, 10) + (name[2] == 't' ? LAB_TABLE(0) : 0);
	else
		return -1;
	return 0;
}

static int add_stage(struct paper *p, char *line)
{
	struct stage_options *o = &p->options[p->page.stages];
	struct fidelity_stage *s = &p->page.stage[p->page.stages];
	const char *name, *kind;
	unsigned i;

	if (p->page.stages == FIDELITY_STAGES)
		return -1;
	name = take(&line, " ");
	kind = take(&line, " ");
	if (!name || !kind || fidelity_stage_of(&p->page, name) || strchr(name, '/'))
		return -1;
	s->kind = !strcmp(kind, "reading") ? FIDELITY_READING : !strcmp(kind, "cause") ? FIDELITY_CAUSE : FIDELITY_KINDS;
	if (s->kind == FIDELITY_KINDS)
		return -1;
	s->name = name;
	s->command = words(p, "gtu lab run %s %s", p->page.experiment, line);
	while (*(line += strspn(line, " ")))
		if (take_option(p, o, &line))
			return -1;
	for (i = 0; i < o->run.files; i++)
		if (!s->missing && (!o->file[i] || access(o->file[i], R_OK)))
			s->missing = o->file[i] ? o->file[i] : "a file";
	p->page.stages++;
	return s->command ? 0 : -1;
}

static int add_cause(struct paper *p, unsigned line_number, char *line)
{
	struct fidelity_cause *more = realloc(p->page.cause, (p->page.causes + 1) * sizeof(*more)), c = { .line = line_number };
	const char *figure;

	if (!more)
		return -1;
	p->page.cause = more;
	figure = take(&line, "|");
	c.graph = take(&line, "|");
	c.what = take(&line, "|");
	c.stage = take(&line, "|");
	c.text = take(&line, "");
	if (!figure || !c.text || figure_of(figure, &c.figure))
		return -1;
	if (!strcmp(c.stage, "-"))
		c.stage = NULL;
	more[p->page.causes++] = c;
	return 0;
}

/* The text of FOLDER/NAME.fidelity, or of the sources'; NULL with a message. */
static char *text_of(unsigned i, const char *folder, struct gtu_error *err)
{
	char path[4096], *text = NULL;
	size_t size = 0;
	FILE *f;

	if (!folder) {
		text = strdup(papers[i].text);
		if (!text)
			gtu_fail(err, GTU_ERR_NOMEM, "out of memory for %s.fidelity", papers[i].experiment);
		return text;
	}
	snprintf(path, sizeof(path), "%s/%s.fidelity", folder, papers[i].experiment);
	f = fopen(path, "r");
	if (!f || (getdelim(&text, &size, 0, f) < 0 && ferror(f))) {
		gtu_fail(err, GTU_ERR_FAIL, "%s: cannot be read: %s", path, strerror(errno));
		free(text);
		text = NULL;
	} else if (feof(f) && !text) {
		text = strdup("");
	}
	if (f)
		fclose(f);
	return text;
}

/* The judged stage, then those of the paper's file. */
static int read_paper(struct paper *p, unsigned i, const struct lab_report *o, struct gtu_error *err)
{
	char *line, *rest;
	unsigned number = 0;

	p->page.experiment = papers[i].experiment;
	p->page.title = papers[i].title;
	p->page.stage[0] = (struct fidelity_stage){ .name = papers[i].experiment, .kind = FIDELITY_JUDGED,
						    .command = words(p, "gtu lab run %s", papers[i].experiment) };
	p->page.stages = 1;
	if (!p->page.stage[0].command)
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for %s.fidelity", papers[i].experiment);
	rest = p->text = text_of(i, o->causes, err);
	if (!p->text)
		return err->code;
	while ((line = strsep(&rest, "\n"))) {
		bool stage = !strncmp(line, "stage ", 6);

		number++;
		if (!*line || *line == '#')
			continue;
		if ((!stage && strncmp(line, "cause ", 6)) || (stage ? add_stage(p, line + 6) : add_cause(p, number, line + 6)))
			return gtu_fail(err, GTU_ERR_INPUT, "%s.fidelity:%u: not a stage or a cause", papers[i].experiment, number);
	}
	return 0;
}

/* FNV-1a of @bytes of @text after what gave @hash. */
static uint64_t hash_on(uint64_t hash, const char *text, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		hash = (hash ^ (unsigned char)text[i]) * 1099511628211ull;
	return hash;
}

/* Add the values of a machine to *hash. */
static int hash_machine(uint64_t *hash, const char *name, struct gtu_error *err)
{
	struct lab_machine m;
	size_t bytes = 0;
	char *text = NULL;
	FILE *to;
	int rc = lab_machine_open(name, &m, err);

	if (rc)
		return rc;
	to = open_memstream(&text, &bytes);
	if (to)
		lab_machine_print(&m, to);
	if (!to || fclose(to))
		rc = gtu_fail(err, GTU_ERR_NOMEM, "out of memory for the values of machine %s", name);
	else
		*hash = hash_on(*hash, text, bytes);
	free(text);
	return rc;
}

/*
 * The paper's part of the keys of its runs, which are run again if it changes: the sources, the parameters, and the
 * machines. The sources are those of the simulator and of all experiments.
 */
static int key_of_paper(struct paper *p, unsigned i, const struct lab_report *o, struct gtu_error *err)
{
	size_t bytes = 0;
	const char *text = lab_parameters_builtin(papers[i].experiment, &bytes);
	uint64_t hash = hash_on(14695981039346656037ull, text, bytes);
	int rc = 0;

	for (unsigned m = 0; m < 2 && papers[i].machine[m] && !rc; m++)
		rc = hash_machine(&hash, papers[i].machine[m], err);
	p->key = rc ? NULL : words(p, "%s, parameters %016llx%s", o->commit, (unsigned long long)hash, o->short_form ? ", short" : "");
	return rc ? rc : p->key ? 0 : gtu_fail(err, GTU_ERR_NOMEM, "out of memory for %s", papers[i].experiment);
}

/* Read the stage's file if it is complete and of this key. */
static bool keep(struct paper *p, unsigned k, const char *path, const char *key)
{
	struct fidelity_stage *s = &p->page.stage[k];
	const char *has;

	if (access(path, R_OK) || json_read(path, &p->tree[k], &s->doc, NULL))
		return false;
	has = json_get_string(json_get(s->doc, "stage"), "key");
	if (has && !strcmp(has, key))
		return true;
	json_read_free(p->tree[k]);
	p->tree[k] = NULL;
	s->doc = NULL;
	return false;
}

static int run_stage(struct paper *p, unsigned k, const struct lab_report *o, struct gtu_error *err)
{
	struct fidelity_stage *s = &p->page.stage[k];
	struct stage_options *options = &p->options[k];
	const bool small = o->short_form && !options->run.files;
	const char *path = words(p, k ? "%s/%s.%s.json" : "%s/%s.json", o->folder, p->page.experiment, s->name);
	const char *key = words(p, "%s, %s", p->key, s->command);
	struct lab_stage_note note = { .name = s->name, .key = key };
	int rc;

	s->command = small ? words(p, "%s --scale %u", s->command, SHORT_SCALE) : s->command;
	note.command = s->command;
	if (!path || !key || !s->command)
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for the stage %s of %s", s->name, p->page.experiment);
	if (s->missing) {
		fprintf(stderr, "gtu: %s, %s: not run, %s is missing\n", p->page.experiment, s->name, s->missing);
		return 0;
	}
	if (keep(p, k, path, key)) {
		fprintf(stderr, "gtu: %s, %s: kept\n", p->page.experiment, s->name);
		return 0;
	}
	options->run.set = options->set;
	options->run.file = options->file;
	options->run.json = path;
	options->run.stage = &note;
	options->run.progress = o->progress;
	if (small)
		options->run.scale = SHORT_SCALE;
	rc = lab_run_experiment(&options->run, p->page.experiment, err);
	if (rc)
		return rc;
	fprintf(stderr, "gtu: %s, %s: %.1f s of processor time\n", p->page.experiment, s->name, note.cpu_seconds);
	return json_read(path, &p->tree[k], &s->doc, err);
}

static int run_paper(struct paper *p, const struct lab_report *o, struct gtu_error *err)
{
	unsigned k;
	int rc = 0;

	for (k = 0; k < p->page.stages && !rc; k++) {
		rc = run_stage(p, k, o, err);
		if (!rc && p->page.stage[k].doc)
			lab_table_read(&p->page.stage[k].table, p->page.stage[k].doc);
		if (p->page.stage[k].table.no_memory)
			rc = gtu_fail(err, GTU_ERR_NOMEM, "out of memory for the rows of %s", p->page.experiment);
	}
	return rc ? rc : fidelity_check(&p->page, err);
}

static int write_page(const struct paper *p, const struct lab_report *o, struct gtu_error *err)
{
	struct fidelity_paper page[COUNT];
	struct atomic_file w;
	char path[4096];
	unsigned i;
	int rc;

	for (i = 0; i < COUNT; i++)
		page[i] = p[i].page;
	snprintf(path, sizeof(path), "%s/fidelity.md", o->folder);
	rc = atomic_file_open(&w, o->page ? o->page : path, err);
	if (rc)
		return rc;
	fidelity_write(page, COUNT, o->commit, o->short_form ? "short: the smallest graphs, which show the page's structure, not fidelity" :
		       "that of each experiment's parameters", w.file);
	return atomic_file_close(&w, rc, err);
}

/* List the misses without a cause; GTU_ERR_INPUT if there are any. */
static int all_stated(const struct paper *p, struct gtu_error *err)
{
	unsigned i, n = 0;

	for (i = 0; i < COUNT; i++)
		n += fidelity_unstated(&p[i].page, stderr);
	return n ? gtu_fail(err, GTU_ERR_INPUT, "%u missed row%s no cause in tools/experiments/*.fidelity: add one, or \"not known: tried ...\"",
			    n, n == 1 ? " has" : "s have") : 0;
}

int lab_report(const struct lab_report *o, struct gtu_error *err)
{
	struct paper *p = calloc(COUNT, sizeof(*p));
	unsigned i, k;
	int rc = 0;

	if (!p)
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for the report");
	if (mkdir(o->folder, 0777) && errno != EEXIST)
		rc = gtu_fail(err, GTU_ERR_FAIL, "%s: cannot be created: %s", o->folder, strerror(errno));
	for (i = 0; i < COUNT && !rc; i++)
		rc = read_paper(&p[i], i, o, err) ?: key_of_paper(&p[i], i, o, err);
	for (i = 0; i < COUNT && !rc; i++)
		rc = run_paper(&p[i], o, err);
	rc = rc ? rc : write_page(p, o, err);
	if (!rc && o->complete)
		rc = all_stated(p, err);
	for (i = 0; i < COUNT; i++) {
		for (k = 0; k < p[i].page.stages; k++) {
			lab_table_free(&p[i].page.stage[k].table);
			json_read_free(p[i].tree[k]);
		}
		while (p[i].words_n)
			free(p[i].words[--p[i].words_n]);
		free(p[i].page.cause);
		free(p[i].text);
	}
	free(p);
	return rc;
}
