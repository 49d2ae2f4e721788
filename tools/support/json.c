// SPDX-License-Identifier: MIT
/* Writes JSON documents to a stream. */
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "json.h"

void json_start(struct json *j, FILE *file)
{
	*j = (struct json){ .file = file };
}

static void indent(struct json *j)
{
	fputc('\n', j->file);
	for (unsigned i = 0; i < j->depth; i++)
		fputs("  ", j->file);
}

unsigned json_utf8_length(const unsigned char *s)
{
	unsigned n = s[0] < 0x80 ? 1 : s[0] >= 0xc2 && s[0] < 0xe0 ? 2 :
		     s[0] >= 0xe0 && s[0] < 0xf0 ? 3 : s[0] >= 0xf0 && s[0] < 0xf5 ? 4 : 0;

	for (unsigned i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] >= 0xa0) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] >= 0x90))
		return 0;
	return n;
}

static void quote(FILE *f, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	fputc('"', f);
	while (*s) {
		unsigned n = json_utf8_length(s);

		if (!n) {
			fputs("\\ufffd", f);
			s++;
			continue;
		}
		if (*s == '"' || *s == '\\')
			fprintf(f, "\\%c", *s);
		else if (*s < 0x20 || *s == 0x7f)
			fprintf(f, "\\u%04x", *s);
		else
			fwrite(s, 1, n, f);
		s += n;
	}
	fputc('"', f);
}

/* Write what precedes a value: comma, line break and key. */
static void value_begins(struct json *j, const char *key)
{
	assert(!j->done);
	if (!j->depth) {
		assert(!key);
		return;
	}
	assert(!key == j->array[j->depth - 1]);
	if (j->any[j->depth - 1])
		fputc(',', j->file);
	j->any[j->depth - 1] = true;
	indent(j);
	if (key) {
		quote(j->file, key);
		fputs(": ", j->file);
	}
}

static void value_ends(struct json *j)
{
	j->done = !j->depth;
}

static void begin(struct json *j, const char *key, bool array)
{
	value_begins(j, key);
	assert(j->depth < JSON_DEPTH);
	j->array[j->depth] = array;
	j->any[j->depth++] = false;
	fputc(array ? '[' : '{', j->file);
}

static void end(struct json *j, bool array)
{
	assert(j->depth && j->array[j->depth - 1] == array);
	j->depth--;
	if (j->any[j->depth])
		indent(j);
	fputc(array ? ']' : '}', j->file);
	value_ends(j);
}

void json_begin_object(struct json *j, const char *key)
{
	begin(j, key, false);
}

void json_end_object(struct json *j)
{
	end(j, false);
}

void json_begin_array(struct json *j, const char *key)
{
	begin(j, key, true);
}

void json_end_array(struct json *j)
{
	end(j, true);
}

void json_string(struct json *j, const char *key, const char *value)
{
	value_begins(j, key);
	if (value)
		quote(j->file, value);
	else
		fputs("null", j->file);
	value_ends(j);
}

void json_u64(struct json *j, const char *key, uint64_t value)
{
	value_begins(j, key);
	fprintf(j->file, "%" PRIu64, value);
	value_ends(j);
}

void json_i64(struct json *j, const char *key, int64_t value)
{
	value_begins(j, key);
	fprintf(j->file, "%" PRId64, value);
	value_ends(j);
}

void json_double(struct json *j, const char *key, double value)
{
	char text[40];

	if (!isfinite(value)) {
		json_null(j, key);
		return;
	}
	for (int digits = 1; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	value_begins(j, key);
	fputs(text, j->file);
	value_ends(j);
}

void json_bool(struct json *j, const char *key, bool value)
{
	value_begins(j, key);
	fputs(value ? "true" : "false", j->file);
	value_ends(j);
}

void json_null(struct json *j, const char *key)
{
	value_begins(j, key);
	fputs("null", j->file);
	value_ends(j);
}

void json_finish(struct json *j)
{
	assert(j->done);
	fputc('\n', j->file);
}
