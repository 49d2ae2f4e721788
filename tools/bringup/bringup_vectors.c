// SPDX-License-Identifier: MIT
/*
 * bringup: golden vectors for simulators, as text (Documentation/vectors.md): memory, descriptors, and what the model
 * wrote and completed. The check runs the same files on a function.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bringup_jobs.h"
#include "tools/support/atomic_file.h"
#include "tools/support/cli.h"

#define SUFFIX		".gtv"
#define LINE_WORDS	8u		/* words of memory in a line, at most */
#define VALUES		16u		/* numbers in a line, at most */
#define COMPLETION_WORDS (sizeof(struct gtu_hw_cpl) / 8)
#define PHASE_MASK	(~0ull >> 16)	/* of the last word: the phase depends on the ring's size */
#define LATENCY		200u		/* of COPY and FILL in a build without an SCU */
#define MEMORY_BYTES	JOBS_BYTES	/* more than any file of this tool uses */

/* A file of jobs that need the same part of a device. */
static const struct class {
	const char *name;
	uint32_t unit;			/* GTU_UNIT_*, or 0 */
	bool tables;			/* filtering and grouping */
} classes[] = {
	{ "basic", 0, false }, { "scu", GTU_UNIT_SCU, false }, { "tables", GTU_UNIT_SCU, true }, { "iru", GTU_UNIT_IRU, false },
	{ "peg", GTU_UNIT_PEG, false }, { "wvr", GTU_UNIT_WVR, false },
};
#define CLASSES (sizeof(classes) / sizeof(classes[0]))

static const uint32_t *ignored_bytes(unsigned n)
{
	/* tables have undefined ways; outputs of jobs in error are undefined; `changes` of the ring's header */
	static uint32_t range[3][2];

	range[0][0] = jobs_region[JOBS_TABLE - 1].offset, range[0][1] = jobs_region[JOBS_TABLE - 1].bytes;
	range[1][0] = jobs_region[JOBS_ERR - 1].offset, range[1][1] = jobs_region[JOBS_ERR - 1].bytes;
	range[2][0] = jobs_region[JOBS_RING - 1].offset + offsetof(struct gtu_hw_ring, changes), range[2][1] = 8;
	return n < 3 ? range[n] : NULL;
}

/* ---- Export ------------------------------------------------------------------------------------------------ */

static bool belongs(const struct job *job, const struct class *c)
{
	const unsigned page = job->desc.opcode / 16;
	const bool tables = job->cover == JOBS_COVER_FILTER || job->cover == JOBS_COVER_GROUP || job->cover == JOBS_COVER_KEEP;
	/* the units' opcodes are in the order of their bits, from 0x10 on; an unknown opcode needs no unit */
	const uint32_t unit = page && page < 5 ? 1u << (page - 1) : 0;

	return unit == c->unit && (c->unit != GTU_UNIT_SCU || tables == c->tables);
}

static void put_words(FILE *f, char letter, const uint8_t *memory, uint32_t at, unsigned n)
{
	uint64_t word;
	unsigned i;

	fprintf(f, "%c %x %x", letter, n + 1, at);
	for (i = 0; i < n; i++) {
		memcpy(&word, memory + at + 8 * i, 8);
		fprintf(f, " %" PRIx64, word);
	}
	fprintf(f, "\n");
}

/* Write the words of [at, at + bytes) in which @now differs from @before (NULL: zeros), and copy them there. */
static void put_changes(FILE *f, char letter, const uint8_t *now, uint8_t *before, uint32_t at, uint32_t bytes)
{
	uint32_t end, i;

	for (; bytes; at += 8, bytes -= 8) {
		if (!memcmp(now + at, before + at, 8))
			continue;
		for (end = 8; end < bytes && end < 8 * LINE_WORDS && memcmp(now + at + end, before + at + end, 8); end += 8)
			;
		put_words(f, letter, now, at, end / 8);
		for (i = 0; i < end; i++)
			before[at + i] = now[at + i];
	}
}

static void put_registers(FILE *f, const struct bringup *b, const struct class *c)
{
	unsigned u, n;

	for (u = 0; u < GTU_UNIT_COUNT; u++) {
		const struct gtu_unit_table *t = &gtu_unit_table[u];

		/* COPY and FILL take the SCU's fetch latency */
		if (!(t->bit & (c->unit ? c->unit : GTU_UNIT_SCU) & b->units))
			continue;
		for (n = 0; gtu_parameter_exists(&t->parameters[n]); n++)
			if (c->unit || n == GTU_SCU_P_LATENCY)
				fprintf(f, "p 2 %x %x\n", t->page + GTU_UREG_PARAM(n), b->param[u][n]);
		for (n = 0; c->unit && gtu_parameter_exists(&t->settings[n]); n++)
			fprintf(f, "p 2 %x %x\n", t->page + GTU_UREG_SET(n), b->setting[u][n]);
	}
}

/* The ignored ranges have no expected words: take over what the model wrote there. */
static void forget_ignored(uint8_t *before, const uint8_t *now)
{
	unsigned i;

	for (i = 0; ignored_bytes(i); i++)
		memcpy(before + ignored_bytes(i)[0], now + ignored_bytes(i)[0], ignored_bytes(i)[1]);
}

static int export_job(FILE *f, struct side *s, const struct job *job, uint8_t *before, struct gtu_error *err)
{
	uint64_t word[sizeof(struct gtu_hw_desc) / 8];
	struct gtu_hw_cpl cpl;
	struct gtu_hw_desc d;
	unsigned i;
	int rc;

	if (job->desc.flags & GTU_DESC_BLOCK && job->desc.operand[0].key == JOBS_BLOCK)
		jobs_put_block(s, job);
	put_changes(f, 'w', s->arena, before, jobs_region[JOBS_BLOCK - 1].offset, jobs_region[JOBS_BLOCK - 1].bytes);
	rc = s->run(s, &job->desc, 1, &cpl, err);
	if (rc)
		return rc;
	side_put_keys(s, &d, &job->desc);
	memcpy(word, &d, sizeof(d));
	fprintf(f, "d %zx", sizeof(d) / 8);
	for (i = 0; i < sizeof(d) / 8; i++)
		fprintf(f, " %" PRIx64, word[i]);
	fprintf(f, "\n");
	forget_ignored(before, s->arena);
	put_changes(f, 'e', s->arena, before, 0, JOBS_BYTES);
	memcpy(word, &cpl, sizeof(cpl));
	word[COMPLETION_WORDS - 1] &= PHASE_MASK;
	fprintf(f, "c %zx", COMPLETION_WORDS);
	for (i = 0; i < COMPLETION_WORDS; i++)
		fprintf(f, " %" PRIx64, word[i]);
	fprintf(f, "\n");
	return 0;
}

static int export_class(FILE *f, struct bringup *b, const struct class *c, uint64_t count, struct gtu_error *err)
{
	struct jobs j = { .seed = b->seed, .units = b->units };
	uint8_t *before = calloc(1, JOBS_BYTES);
	uint64_t number = 0, done = 0;
	struct job job;
	struct side s;
	unsigned i;
	int rc = before ? side_of_model(&s, b, jobs_region, JOBS_REGIONS, err) : gtu_fail(err, GTU_ERR_NOMEM, "no memory");

	if (rc) {
		free(before);
		return rc;
	}
	fprintf(f, "# GTU vectors 1: %s, seed %" PRIu64 "; Documentation/vectors.md\n", c->name, b->seed);
	put_registers(f, b, c);
	for (i = 0; i < JOBS_REGIONS; i++)
		fprintf(f, "r 4 %x %x %x %x\n", s.key[i], jobs_region[i].offset, jobs_region[i].bytes, jobs_region[i].rights);
	for (i = 0; ignored_bytes(i); i++)
		fprintf(f, "i 2 %x %x\n", ignored_bytes(i)[0], ignored_bytes(i)[1]);
	jobs_fill(&j, s.arena);
	put_changes(f, 'w', s.arena, before, 0, JOBS_BYTES);
	for (; done < count && !rc; number++) {
		jobs_describe(&j, &job, number);
		if (!belongs(&job, c))
			continue;
		job.desc.cookie = done++;
		rc = export_job(f, &s, &job, before, err);
	}
	s.close(&s);
	free(before);
	return rc;
}

int bringup_vectors_export(struct bringup *b, const char *folder, uint64_t count, struct gtu_error *err)
{
	struct atomic_file out;
	char path[4096];
	unsigned i;
	int rc = 0;

	if (mkdir(folder, 0777) && errno != EEXIST)
		return gtu_fail(err, GTU_ERR_FAIL, "cannot create %s: %s", folder, strerror(errno));
	for (i = 0; i < CLASSES && !rc; i++) {
		if (classes[i].unit & ~b->units)
			continue;
		snprintf(path, sizeof(path), "%s/%s" SUFFIX, folder, classes[i].name);
		rc = atomic_file_open(&out, path, err);
		if (rc)
			break;
		rc = export_class(out.file, b, &classes[i], count, err);
		rc = atomic_file_close(&out, rc, err);
		if (!rc)
			bringup_say(b, BRINGUP_OK, NULL, "%s: %" PRIu64 " jobs", path, count);
	}
	return rc;
}

/* ---- Check ------------------------------------------------------------------------------------------------- */

struct check {
	struct bringup *b;
	const char *file;
	struct rig rig;
	uint8_t *memory, *expected;	/* MEMORY_BYTES: the function's, and that of the file */
	uint32_t ignored[VALUES][2];
	unsigned ignores;
	uint64_t line, jobs;
	bool limited;			/* the last job has a limit */
	struct gtu_hw_cpl cpl;
};

enum verdict { GO_ON, WRONG, SKIPPED };

static enum verdict malformed(struct check *k, const char *what)
{
	bringup_say(k->b, BRINGUP_FAIL, NULL, "%s:%" PRIu64 ": %s", k->file, k->line, what);
	return WRONG;
}

static bool inside(uint64_t at, uint64_t bytes)
{
	return at % 8 == 0 && bytes % 8 == 0 && at <= MEMORY_BYTES && bytes <= MEMORY_BYTES - at;
}

static enum verdict needs_register(struct check *k, const uint64_t *v)
{
	const uint64_t unit = v[0] / GTU_PAGE - 1;
	uint32_t is = 0;

	if (unit < GTU_UNIT_COUNT && k->b->units >> unit & 1)
		is = access_reg(k->b->a, (uint32_t)v[0]);
	else if (v[0] == GTU_PAGE_SCU + GTU_UREG_PARAM(GTU_SCU_P_LATENCY))
		is = LATENCY;
	if (is == v[1])
		return GO_ON;
	bringup_say(k->b, BRINGUP_SKIP, NULL, "%s is for a build whose register 0x%" PRIx64 " is %" PRIu64 "; this one has %u", k->file, v[0], v[1], is);
	return SKIPPED;
}

static enum verdict run_job(struct check *k, const uint64_t *v)
{
	struct gtu_hw_desc d;
	struct gtu_error err;

	memcpy(&d, v, sizeof(d));
	if (d.opcode >= GTU_OP_IRU_STREAM && d.opcode < 0x50 && !(k->b->caps & GTU_CAP_LOGICAL_CYCLES)) {
		bringup_say(k->b, BRINGUP_SKIP, NULL, "%s: without LOGICAL_CYCLES the records of streams are not determined", k->file);
		return SKIPPED;
	}
	k->jobs++;
	k->limited = d.limit;
	if (rig_do(&k->rig, &d, &k->cpl, &err))
		return GO_ON;
	bringup_say(k->b, BRINGUP_FAIL, NULL, "%s:%" PRIu64 ": job %" PRIu64 ": %s", k->file, k->line, k->jobs - 1, err.text);
	return WRONG;
}

/* Compare the completion, and all of memory with what the file says. */
static enum verdict completed(struct check *k, const uint64_t *v)
{
	uint64_t is[COMPLETION_WORDS];
	const bool logical = k->b->caps & GTU_CAP_LOGICAL_CYCLES;
	unsigned i;
	uint32_t at;

	if (k->cpl.status == GTU_CPL_ABSENT && (v[COMPLETION_WORDS - 1] >> 32 & 0xffff) != GTU_CPL_ABSENT) {
		bringup_say(k->b, BRINGUP_SKIP, NULL, "%s: job %" PRIu64 " is not in this build and reports ABSENT", k->file, k->jobs - 1);
		return SKIPPED;
	}
	memcpy(is, &k->cpl, sizeof(is));
	is[COMPLETION_WORDS - 1] &= PHASE_MASK;
	if (!logical)
		is[offsetof(struct gtu_hw_cpl, cycles) / 8] = v[offsetof(struct gtu_hw_cpl, cycles) / 8];
	if (!logical && k->limited)		/* where it ends depends on the device's clocks */
		memcpy(is, v, sizeof(is));
	for (i = 0; i < COMPLETION_WORDS && is[i] == v[i]; i++)
		;
	if (i < COMPLETION_WORDS) {
		bringup_say(k->b, BRINGUP_FAIL, NULL, "%s:%" PRIu64 ": job %" PRIu64 ": word %u of the completion is 0x%" PRIx64 ", not 0x%" PRIx64, k->file, k->line,
			    k->jobs - 1, i, is[i], v[i]);
		return WRONG;
	}
	for (i = 0; i < k->ignores; i++)
		memcpy(k->expected + k->ignored[i][0], k->memory + k->ignored[i][0], k->ignored[i][1]);
	for (at = 0; at < MEMORY_BYTES && k->memory[at] == k->expected[at]; at++)
		;
	if (at == MEMORY_BYTES)
		return GO_ON;
	bringup_say(k->b, BRINGUP_FAIL, NULL, "%s:%" PRIu64 ": job %" PRIu64 ": byte 0x%x of memory is 0x%02x, not 0x%02x", k->file, k->line, k->jobs - 1, at,
		    k->memory[at], k->expected[at]);
	return WRONG;
}

static enum verdict obey(struct check *k, char letter, unsigned n, const uint64_t *v)
{
	switch (letter) {
	case 'p':
		return n == 2 ? needs_register(k, v) : malformed(k, "p takes 2 numbers");
	case 'r':
		if (n != 4 || !inside(v[1], v[2]))
			return malformed(k, "r takes a key and a region inside the memory");
		if (rig_region(&k->rig, RIG_DATA + v[1], v[2], (uint32_t)v[3]) != v[0])
			return malformed(k, "the keys must have generation 1 and slots 0, 1, ...");
		return GO_ON;
	case 'i':
		if (n != 2 || !inside(v[0], v[1]) || k->ignores == VALUES)
			return malformed(k, "i takes a range of the memory, 16 at most");
		k->ignored[k->ignores][0] = (uint32_t)v[0];
		k->ignored[k->ignores++][1] = (uint32_t)v[1];
		return GO_ON;
	case 'w':
	case 'e':
		if (n < 2 || !inside(v[0], 8 * (n - 1)))
			return malformed(k, "w and e take an address and words inside the memory");
		memcpy(k->expected + v[0], v + 1, 8 * (n - 1));
		if (letter == 'w')
			memcpy(k->memory + v[0], v + 1, 8 * (n - 1));
		return GO_ON;
	case 'd':
		return n == sizeof(struct gtu_hw_desc) / 8 ? run_job(k, v) : malformed(k, "d takes 16 words");
	case 'c':
		return n == COMPLETION_WORDS ? completed(k, v) : malformed(k, "c takes 8 words");
	}
	return GO_ON;		/* a letter of a later version */
}

static enum verdict check_lines(struct check *k, FILE *f)
{
	enum verdict verdict = GO_ON;
	uint64_t v[VALUES];
	char line[1024], *at, *end;
	unsigned n, i;

	while (verdict == GO_ON && fgets(line, sizeof(line), f)) {
		k->line++;
		if (*line == '#' || *line == '\n')
			continue;
		n = (unsigned)strtoul(line + 1, &at, 16);
		if (at == line + 1 || n > VALUES)
			return malformed(k, "a letter and a number up to 10 (hexadecimal) must begin a line");
		for (i = 0; i < n; i++, at = end) {
			v[i] = strtoull(at, &end, 16);
			if (end == at)
				return malformed(k, "the line has fewer numbers than it says");
		}
		verdict = obey(k, *line, n, v);
	}
	return verdict;
}

static void check_file(struct bringup *b, const char *folder, const char *name)
{
	struct check *k = calloc(1, sizeof(*k));
	struct gtu_error err = { .text = "no memory" };
	enum verdict verdict = WRONG;
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "r");
	if (!f)
		bringup_say(b, BRINGUP_FAIL, NULL, "cannot read %s: %s", path, strerror(errno));
	if (k)
		k->expected = calloc(1, MEMORY_BYTES);
	if (f && (!k || !k->expected || rig_open(&k->rig, b, b->a, 0, &err))) {
		bringup_say(b, BRINGUP_FAIL, NULL, "%s", err.text);
	} else if (f) {
		k->b = b;
		k->file = name;
		k->memory = k->rig.at + RIG_DATA;
		memset(k->memory, 0, MEMORY_BYTES);
		verdict = check_lines(k, f);
		rig_close(&k->rig);
	}
	if (verdict == GO_ON)
		bringup_say(b, BRINGUP_OK, NULL, "%s: %" PRIu64 " jobs, every completion and byte as in the file%s", name, k->jobs,
			    b->caps & GTU_CAP_LOGICAL_CYCLES ? "" : ", except for cycles");
	if (f)
		fclose(f);
	free(k ? k->expected : NULL);
	free(k);
}

static int is_vectors(const struct dirent *d)
{
	const size_t length = strlen(d->d_name), suffix = sizeof(SUFFIX) - 1;

	return length > suffix && !strcmp(d->d_name + length - suffix, SUFFIX);
}

void bringup_vectors_check(struct bringup *b, const char *folder)
{
	struct dirent **file;
	int n = scandir(folder, &file, is_vectors, alphasort), i;

	if (n <= 0)
		bringup_say(b, BRINGUP_FAIL, NULL, "%s has no files *" SUFFIX "%s%s", folder, n < 0 ? ": " : "", n < 0 ? strerror(errno) : "");
	for (i = 0; i < n; i++) {
		if (!cli_interrupted() && !b->lost)
			check_file(b, folder, file[i]->d_name);
		free(file[i]);
	}
	if (n >= 0)
		free(file);
}
