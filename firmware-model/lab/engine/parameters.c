// SPDX-License-Identifier: MIT
/* The parser of text files of values with units and sources. */
#include "parameters.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct { const char *name; enum lab_dimension of; double factor; } units[] = {
	{ "", LAB_NUMBER, 1 }, { "B", LAB_BYTES, 1 }, { "KiB", LAB_BYTES, 1024 }, { "MiB", LAB_BYTES, 1048576 },
	{ "GiB", LAB_BYTES, 1073741824 }, { "cycles", LAB_CYCLES, 1 }, { "instructions", LAB_INSTRUCTIONS, 1 }, { "%", LAB_PERCENT, 1 },
	{ "MHz", LAB_MHZ, 1 }, { "GB/s", LAB_GBS, 1 }, { "ns", LAB_NS, 1 },
};
#define UNITS (sizeof(units) / sizeof(units[0]))

const char *lab_unit(enum lab_dimension dimension)
{
	unsigned i;

	for (i = 0; i < UNITS; i++)
		if (units[i].of == dimension)
			return units[i].name;
	return "";
}

bool lab_text_bad(char *why, size_t size, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, size, fmt, ap);
	va_end(ap);
	return false;
}

char *lab_text_trim(char *s)
{
	char *end;

	while (*s == ' ' || *s == '\t')
		s++;
	end = s + strlen(s);
	while (end > s && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
		*--end = 0;
	return s;
}

bool lab_value_parse(const char *name, enum lab_dimension dimension, bool bare, double min, double max, bool whole,
		     const char *text, double *v, char *why, size_t size)
{
	const char *unit = lab_unit(dimension);
	char *end;
	unsigned i;

	*v = strtod(text, &end);
	if (end == text || !(isdigit((unsigned char)*text) || *text == '.'))
		return lab_text_bad(why, size, "'%s' needs a number, not '%.40s'", name, text);
	while (*end == ' ' || *end == '\t')
		end++;
	for (i = 0; i < UNITS; i++)
		if ((units[i].of == dimension && !strcmp(units[i].name, end)) || (bare && !*end))
			break;
	if (i == UNITS)
		return lab_text_bad(why, size, *unit ? "'%s' is given in %s, not in '%.40s'" : "'%s' has no unit%s, but '%.40s' was given",
				    name, unit, end);
	if (*end)
		*v *= units[i].factor;
	if (!(*v >= min && *v <= max))
		return lab_text_bad(why, size, "'%s' must be between %.15g and %.15g%s%s, not %.15g", name, min, max, *unit ? " " : "", unit,
				    *v);
	if (whole && *v != (double)(uint32_t)*v)
		return lab_text_bad(why, size, "'%s' is a whole number, not %.15g", name, *v);
	return true;
}

static bool parse_line(char *line, unsigned number, lab_line *take, void *ctx, char *why, size_t size)
{
	char *hash, *equals, *source = NULL;

	line = lab_text_trim(line);
	if (!*line || *line == '#')
		return true;
	hash = strchr(line, '#');
	if (hash) {
		*hash = 0;
		source = lab_text_trim(hash + 1);
	}
	equals = strchr(line, '=');
	if (!equals)
		return lab_text_bad(why, size, "'%.60s' is not 'key = value'", line);
	*equals = 0;
	return take(ctx, number, lab_text_trim(line), lab_text_trim(equals + 1), source, why, size);
}

int lab_lines_parse(const char *text, size_t bytes, const char *file, lab_line *take, void *ctx, struct gtu_error *err)
{
	const char *end = text + bytes, *newline;
	unsigned number = 0;
	char line[512], why[200];
	size_t length;

	for (; text < end; text += length + (newline != NULL)) {
		newline = memchr(text, '\n', (size_t)(end - text));
		length = newline ? (size_t)(newline - text) : (size_t)(end - text);
		number++;
		if (length >= sizeof(line) || memchr(text, 0, length))
			return gtu_fail(err, GTU_ERR_INPUT, "%s:%u: a line has at most %zu characters, none of them NUL",
					file, number, sizeof(line) - 1);
		memcpy(line, text, length);
		line[length] = 0;
		if (!parse_line(line, number, take, ctx, why, sizeof(why)))
			return gtu_fail(err, GTU_ERR_INPUT, "%s:%u: %s", file, number, why);
	}
	return 0;
}

const char *lab_source_text(char *source)
{
	if (!source || strncmp(source, "source:", 7) || !*lab_text_trim(source + 7))
		return NULL;
	return lab_text_trim(source + 7);
}

struct taking {
	const struct lab_key *keys;
	unsigned n, given[256];		/* line numbers */
};

static bool has_kind(const char *source)
{
	static const char *const kinds[] = { "paper: ", "vendor: ", "oracle: ", "compiled: ", "calibrated on: ", "settled: " };
	unsigned i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strncmp(source, kinds[i], strlen(kinds[i])))
			return true;
	return false;
}

static bool take_parameter(void *ctx, unsigned number, char *name, char *value, char *source, char *why, size_t size)
{
	struct taking *t = ctx;
	const char *text = lab_source_text(source);
	double v;
	unsigned i;

	for (i = 0; i < t->n && strcmp(t->keys[i].name, name); i++)
		;
	if (i == t->n)
		return lab_text_bad(why, size, "unknown key '%.60s'", name);
	if (t->given[i])
		return lab_text_bad(why, size, "'%s' was given in line %u already", name, t->given[i]);
	if (!text)
		return lab_text_bad(why, size, "'%s' has no '# source: ...' behind its value", name);
	if (!has_kind(text))
		return lab_text_bad(why, size, "the source of '%s' is 'paper: ', 'vendor: ', 'oracle: ', 'compiled: ', 'calibrated on: ' or "
				    "'settled: ' and a text, not '%.40s'", name, text);
	t->given[i] = number;
	if (!lab_value_parse(name, t->keys[i].dimension, false, t->keys[i].min, t->keys[i].max, true, value, &v, why, size))
		return false;
	*t->keys[i].value = (uint32_t)v;
	return true;
}

int lab_parameters_parse(const char *text, size_t bytes, const char *file, const struct lab_key *keys, unsigned n,
			 struct gtu_error *err)
{
	struct taking t = { .keys = keys, .n = n };
	unsigned i;
	int rc = n <= 256 ? lab_lines_parse(text, bytes, file, take_parameter, &t, err) :
		 gtu_fail(err, GTU_ERR_FAIL, "%s: %u keys, of at most 256", file, n);

	for (i = 0; i < n && !rc; i++)
		if (!t.given[i])
			rc = gtu_fail(err, GTU_ERR_INPUT, "%s: the key '%s' is missing", file, keys[i].name);
	return rc;
}
