// SPDX-License-Identifier: MIT
/* Reads an oracle folder: the counts, and graphs in file order. */
#include <stdlib.h>

#include "oracle_parts.h"
#include "libruntime/support/text/input.h"
#include "libruntime/support/text/scan.h"

static int grow(void **array, size_t *capacity, size_t used, size_t bytes)
{
	size_t more = *capacity ? 2 * *capacity : 4096;
	void *bigger;

	if (used < *capacity)
		return 0;
	bigger = realloc(*array, more * bytes);
	if (!bigger)
		return -1;
	*array = bigger;
	*capacity = more;
	return 0;
}

/* Lines point into one copy of the file. */
int oracle_folder_read(const char *dir, struct oracle_folder *f, struct gtu_error *err)
{
	static const char head[] = "graph,kernel,config,statement_or_counter,value,class";
	char path[4096], *p, *end, *next;
	struct gtu_input in;
	size_t capacity = 0, bytes, number = 0;
	unsigned i;
	int rc;

	memset(f, 0, sizeof(*f));
	snprintf(path, sizeof(path), "%s/counts.csv", dir);
	rc = gtu_input_open(&in, path, NULL, err);
	if (rc)
		return rc;
	rc = gtu_input_all(&in, err);
	bytes = rc ? 0 : (size_t)(in.end - in.cur);
	f->text = rc ? NULL : malloc(bytes + 1);
	if (f->text)
		memcpy(f->text, in.cur, bytes);
	gtu_input_close(&in);
	if (rc)
		return rc;
	if (!f->text)
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for %s", path);
	f->text[bytes] = 0;
	if (memchr(f->text, 0, bytes))
		return gtu_fail(err, GTU_ERR_INPUT, "%s: the file contains a NUL byte", path);
	for (p = f->text; *p; p = next) {
		end = p + strcspn(p, "\r\n");
		next = end + strspn(end, "\r\n");
		*end = 0;
		if (!number++) {
			if (strcmp(p, head))
				return gtu_fail(err, GTU_ERR_INPUT, "%s:1: the head is not '%s'", path, head);
			continue;
		}
		if (grow((void **)&f->line, &capacity, f->lines, sizeof(*f->line)))
			return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for line %zu of %s", number, path);
		for (i = 0; i < ORACLE_FIELDS; i++) {
			f->line[f->lines].field[i] = p;
			p += strcspn(p, ",");
			if ((*p == ',') != (i + 1 < ORACLE_FIELDS))
				return gtu_fail(err, GTU_ERR_INPUT, "%s:%zu: a line has %d fields", path, number,
						ORACLE_FIELDS);
			*p++ = 0;
		}
		f->lines++;
	}
	if (!f->lines)
		return gtu_fail(err, GTU_ERR_INPUT, "%s: no counts", path);
	return 0;
}

void oracle_folder_free(struct oracle_folder *f)
{
	free(f->line);
	free(f->text);
	memset(f, 0, sizeof(*f));
}

/* Exactly @count numbers. */
static bool numbers(const uint8_t *p, const uint8_t *end, unsigned count, uint64_t *v)
{
	while (count--) {
		p = gtu_skip_blanks(p, end);
		if (!gtu_scan_u64(&p, end, v++))
			return false;
	}
	p = gtu_skip_blanks(p, end);
	return p == end || *p == '\r';
}

static int entries(struct gtu_input *in, struct oracle_graph *g, struct gtu_error *err)
{
	const uint8_t *p, *end;
	uint64_t v[3];
	size_t capacity = 0;
	uint32_t at = 0, m = 0;
	int rc;

	rc = gtu_input_line(in, &p, &end, err);
	/* the first line has one or two percent signs */
	while (rc > 0 && end - p > 1 && p[0] == '%' && p[1] == '%')
		p++;
	if (rc > 0 && (end - p < 47 || memcmp(p, "%MatrixMarket matrix coordinate pattern general", 47)))
		return gtu_input_fail_line(in, err, p, end, "not '%%%%MatrixMarket matrix coordinate pattern general'");
	while (rc > 0 && (rc = gtu_input_line(in, &p, &end, err)) > 0 && p < end && *p == '%')
		;
	if (rc <= 0)
		return rc ? rc : gtu_fail(err, GTU_ERR_INPUT, "%s: ends before the size line", in->path);
	if (!numbers(p, end, 3, v) || v[0] != v[1] || !v[0] || v[0] > 1u << 28 || v[2] > 1u << 30)
		return gtu_input_fail_line(in, err, p, end, "the size line must have rows, equally many columns (at most 2^28) and entries (at most 2^30)");
	g->n = (uint32_t)v[0];
	g->m = (uint32_t)v[2];
	rc = gtu_input_check_declared(in, g->n, err);
	if (rc)
		return rc;
	g->row = calloc(g->n + 1ull, 4);
	if (!g->row)
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for the %u rows of %s", g->n, in->path);
	for (; m < g->m; m++) {
		rc = gtu_input_line(in, &p, &end, err);
		if (rc <= 0)
			return rc ? rc : gtu_fail(err, GTU_ERR_INPUT, "%s: ends after %u of %u entries", in->path, m, g->m);
		if (!numbers(p, end, 2, v) || !v[0] || v[0] > g->n || !v[1] || v[1] > g->n)
			return gtu_input_fail_line(in, err, p, end, "an entry must have a row and a column between 1 and %u", g->n);
		if (v[0] - 1 < at)
			return gtu_input_fail_line(in, err, p, end, "rows must be ascending, but this one is before row %u", at + 1);
		for (; at < v[0] - 1; at++)
			g->row[at + 1] = m;
		if (grow((void **)&g->col, &capacity, m, 4))
			return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for the %u entries of %s", g->m, in->path);
		g->col[m] = (uint32_t)(v[1] - 1);
	}
	for (; at < g->n; at++)
		g->row[at + 1] = m;
	return 0;
}

int oracle_graph_read(const char *dir, const char *name, struct oracle_graph *g, struct gtu_error *err)
{
	char path[4096];
	struct gtu_input in;
	int rc;

	memset(g, 0, sizeof(*g));
	if (strpbrk(name, "/"))
		return gtu_fail(err, GTU_ERR_INPUT, "%s/counts.csv: '%.80s' is not a valid graph name", dir, name);
	snprintf(path, sizeof(path), "%s/graphs/%s.mtx.xz", dir, name);
	rc = gtu_input_open(&in, path, NULL, err);
	if (rc)
		return rc;
	rc = entries(&in, g, err);
	gtu_input_close(&in);
	return rc;
}

void oracle_graph_free(struct oracle_graph *g)
{
	free(g->row);
	free(g->col);
	memset(g, 0, sizeof(*g));
}
