// SPDX-License-Identifier: MIT
/* Parses JSON documents into trees. */
#include "json_read.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"

#define BLOCK (64u << 10)

struct block {
	struct block *next;
	size_t used, size;
	_Alignas(16) char data[];
};

struct json_tree {
	struct block *blocks;
};

struct reader {
	const char *name, *text, *at, *end;
	struct json_tree *tree;
	struct gtu_error *err;
	unsigned depth;
};

static void *allocate(struct reader *r, size_t bytes)
{
	struct block *b = r->tree->blocks;
	size_t size = bytes > BLOCK ? bytes : BLOCK;

	bytes = (bytes + 15) & ~(size_t)15;
	if (!b || b->size - b->used < bytes) {
		size = (size + 15) & ~(size_t)15;
		b = malloc(sizeof(*b) + size);
		if (!b) {
			gtu_fail(r->err, GTU_ERR_NOMEM, "no memory for %s", r->name);
			return NULL;
		}
		*b = (struct block){ .next = r->tree->blocks, .size = size };
		r->tree->blocks = b;
	}
	b->used += bytes;
	return b->data + b->used - bytes;
}

static int bad(struct reader *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static int bad(struct reader *r, const char *fmt, ...)
{
	const char *p, *line = r->text;
	unsigned long lines = 1;
	char what[160];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	for (p = r->text; p < r->at; p++)
		if (*p == '\n') {
			lines++;
			line = p + 1;
		}
	return gtu_fail(r->err, GTU_ERR_INPUT, "%s:%lu:%lu: %s: this is not valid JSON", r->name, lines, (unsigned long)(r->at - line) + 1,
			what);
}

/* Report the character at the current position. */
static int unexpected(struct reader *r, const char *wanted)
{
	unsigned char c = r->at < r->end ? (unsigned char)*r->at : 0;

	if (r->at == r->end)
		return bad(r, "it ends where %s should be", wanted);
	if (c > ' ' && c < 0x7f)
		return bad(r, "'%c' where %s should be", c, wanted);
	return bad(r, "the byte 0x%02x where %s should be", c, wanted);
}

static void blanks(struct reader *r)
{
	while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r'))
		r->at++;
}

static bool digit(const struct reader *r)
{
	return r->at < r->end && *r->at >= '0' && *r->at <= '9';
}

static int read_number(struct reader *r, struct json_value *v)
{
	const char *from = r->at;
	char text[64];
	size_t n;

	r->at += *r->at == '-';
	if (!digit(r))
		return unexpected(r, "a digit");
	if (*r->at++ != '0')
		while (digit(r))
			r->at++;
	if (r->at < r->end && *r->at == '.') {
		r->at++;
		if (!digit(r))
			return unexpected(r, "a digit");
		while (digit(r))
			r->at++;
	}
	if (r->at < r->end && (*r->at == 'e' || *r->at == 'E')) {
		r->at++;
		r->at += r->at < r->end && (*r->at == '+' || *r->at == '-');
		if (!digit(r))
			return unexpected(r, "a digit");
		while (digit(r))
			r->at++;
	}
	n = (size_t)(r->at - from);
	if (n >= sizeof(text))
		return bad(r, "a number has %zu characters, more than 63", n);
	memcpy(text, from, n);
	text[n] = 0;
	v->kind = JSON_NUMBER;
	v->number = strtod(text, NULL);
	return isfinite(v->number) ? 0 : bad(r, "%s is more than a double holds", text);
}

/* Read four hexadecimal digits. */
static int read_unit(struct reader *r, unsigned *out)
{
	unsigned i, c;

	for (*out = 0, i = 0; i < 4; i++, r->at++) {
		c = r->at < r->end ? (unsigned char)*r->at : 0;
		if (c >= '0' && c <= '9')
			c -= '0';
		else if ((c | 32) >= 'a' && (c | 32) <= 'f')
			c = (c | 32) - 'a' + 10;
		else
			return unexpected(r, "a hexadecimal digit");
		*out = *out << 4 | c;
	}
	return 0;
}

/* Read what follows "\u". Lone surrogates and U+0000 become U+FFFD. */
static int read_escaped(struct reader *r, char **to)
{
	unsigned u, low;
	int rc = read_unit(r, &u);

	if (rc)
		return rc;
	if (u >= 0xd800 && u < 0xdc00 && r->end - r->at >= 6 && r->at[0] == '\\' && r->at[1] == 'u') {
		const char *before = r->at;

		r->at += 2;
		rc = read_unit(r, &low);
		if (rc)
			return rc;
		if (low >= 0xdc00 && low < 0xe000)
			u = 0x10000 + ((u - 0xd800) << 10) + (low - 0xdc00);
		else
			r->at = before;
	}
	if (!u || (u >= 0xd800 && u < 0xe000))
		u = 0xfffd;
	if (u < 0x80) {
		*(*to)++ = (char)u;
	} else if (u < 0x800) {
		*(*to)++ = (char)(0xc0 | u >> 6);
		*(*to)++ = (char)(0x80 | (u & 63));
	} else if (u < 0x10000) {
		*(*to)++ = (char)(0xe0 | u >> 12);
		*(*to)++ = (char)(0x80 | (u >> 6 & 63));
		*(*to)++ = (char)(0x80 | (u & 63));
	} else {
		*(*to)++ = (char)(0xf0 | u >> 18);
		*(*to)++ = (char)(0x80 | (u >> 12 & 63));
		*(*to)++ = (char)(0x80 | (u >> 6 & 63));
		*(*to)++ = (char)(0x80 | (u & 63));
	}
	return 0;
}

static int read_string(struct reader *r, const char **out)
{
	static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
	const char *p, *which;
	unsigned n;
	char *to;
	int rc;

	if (r->at == r->end || *r->at != '"')
		return unexpected(r, "a string");
	/* the decoded string is never longer: \uXXXX has six bytes and decodes to three at most */
	for (p = ++r->at; p < r->end && *p != '"'; p++)
		p += *p == '\\' && p + 1 < r->end;
	to = allocate(r, (size_t)(p - r->at) + 1);
	if (!to)
		return GTU_ERR_NOMEM;
	*out = to;
	while (r->at < r->end && *r->at != '"') {
		unsigned char c = (unsigned char)*r->at;

		if (c < ' ')
			return unexpected(r, "a character of a string");
		/* the text is followed by a 0, so that a truncated sequence is detected */
		n = json_utf8_length((const unsigned char *)r->at);
		if (!n)
			return bad(r, "the byte 0x%02x, which is no UTF-8", c);
		if (c != '\\') {
			memcpy(to, r->at, n);
			to += n;
			r->at += n;
			continue;
		}
		if (++r->at == r->end)
			break;
		if (*r->at == 'u') {
			r->at++;
			rc = read_escaped(r, &to);
			if (rc)
				return rc;
			continue;
		}
		which = *r->at ? strchr(from, *r->at) : NULL;
		if (!which)
			return unexpected(r, "one of \"\\/bfnrtu");
		*to++ = into[which - from];
		r->at++;
	}
	if (r->at == r->end)
		return bad(r, "a string without end");
	r->at++;
	*to = 0;
	return 0;
}

static int read_value(struct reader *r, struct json_value *v);

static int read_members(struct reader *r, struct json_value *v, char close)
{
	struct json_value *last = NULL, *m;
	int rc;

	if (++r->depth > JSON_READ_DEPTH)
		return bad(r, "more than %d levels", JSON_READ_DEPTH);
	r->at++;
	blanks(r);
	while (r->at == r->end || *r->at != close) {
		m = allocate(r, sizeof(*m));
		if (!m)
			return GTU_ERR_NOMEM;
		*m = (struct json_value){ 0 };
		rc = close == '}' ? read_string(r, &m->key) : 0;
		if (rc)
			return rc;
		if (close == '}') {
			blanks(r);
			if (r->at == r->end || *r->at != ':')
				return unexpected(r, "':'");
			r->at++;
		}
		rc = read_value(r, m);
		if (rc)
			return rc;
		if (last)
			last->next = m;
		else
			v->first = m;
		last = m;
		v->count++;
		blanks(r);
		if (r->at < r->end && *r->at == close)
			break;
		if (r->at == r->end || *r->at != ',')
			return unexpected(r, close == '}' ? "',' or '}'" : "',' or ']'");
		r->at++;
		blanks(r);
		if (r->at < r->end && *r->at == close)
			return unexpected(r, "a value");
	}
	r->at++;
	r->depth--;
	return 0;
}

static bool word(struct reader *r, const char *text)
{
	size_t n = strlen(text);

	if ((size_t)(r->end - r->at) < n || memcmp(r->at, text, n))
		return false;
	r->at += n;
	return true;
}

static int read_value(struct reader *r, struct json_value *v)
{
	blanks(r);
	if (r->at == r->end)
		return unexpected(r, "a value");
	if (*r->at == '{' || *r->at == '[') {
		v->kind = *r->at == '{' ? JSON_OBJECT : JSON_ARRAY;
		return read_members(r, v, *r->at == '{' ? '}' : ']');
	}
	if (*r->at == '"') {
		v->kind = JSON_STRING;
		return read_string(r, &v->string);
	}
	if (*r->at == '-' || digit(r))
		return read_number(r, v);
	if (word(r, "null"))
		return 0;
	v->kind = JSON_BOOL;
	v->number = word(r, "true");
	return v->number > 0 || word(r, "false") ? 0 : unexpected(r, "a value");
}

int json_read_text(const char *name, const char *text, size_t size, struct json_tree **tree, const struct json_value **top,
		   struct gtu_error *err)
{
	struct reader r = { .name = name, .err = err };
	struct json_value *v;
	char *copy;
	int rc;

	*tree = r.tree = calloc(1, sizeof(*r.tree));
	if (!r.tree)
		return gtu_fail(err, GTU_ERR_NOMEM, "no memory for %s", name);
	copy = allocate(&r, size + 1);
	v = copy ? allocate(&r, sizeof(*v)) : NULL;
	rc = v ? 0 : GTU_ERR_NOMEM;
	if (!rc) {
		memcpy(copy, text, size);
		copy[size] = 0;
		r.text = r.at = copy;
		r.end = copy + size;
		*v = (struct json_value){ 0 };
		rc = read_value(&r, v);
	}
	if (!rc) {
		blanks(&r);
		rc = r.at < r.end ? unexpected(&r, "the end") : 0;
	}
	*top = v;
	if (rc) {
		json_read_free(r.tree);
		*tree = NULL;
	}
	return rc;
}

int json_read(const char *path, struct json_tree **tree, const struct json_value **top, struct gtu_error *err)
{
	bool in = !strcmp(path, "-");
	FILE *f = in ? stdin : fopen(path, "rb");
	size_t size = 0, capacity = 0, got;
	char *text = NULL, *more;
	int rc = 0;

	*tree = NULL;
	if (!f)
		return gtu_fail(err, GTU_ERR_INPUT, "%s: %s; check its name and directory", path, strerror(errno));
	do {
		if (size == capacity) {
			capacity = capacity ? 2 * capacity : BLOCK;
			more = realloc(text, capacity);
			if (!more) {
				rc = gtu_fail(err, GTU_ERR_NOMEM, "no memory for %s", path);
				break;
			}
			text = more;
		}
		got = fread(text + size, 1, capacity - size, f);
		size += got;
		if (size > JSON_READ_MAX)
			rc = gtu_fail(err, GTU_ERR_INPUT, "%s is larger than %lu MiB: it is not a report of this tool", path,
				      JSON_READ_MAX >> 20);
	} while (got && !rc);
	if (!rc && ferror(f))
		rc = gtu_fail(err, GTU_ERR_INPUT, "%s: %s", path, strerror(errno));
	if (!rc)
		rc = json_read_text(in ? "standard input" : path, text, size, tree, top, err);
	if (!in)
		fclose(f);
	free(text);
	return rc;
}

void json_read_free(struct json_tree *tree)
{
	struct block *b, *next;

	for (b = tree ? tree->blocks : NULL; b; b = next) {
		next = b->next;
		free(b);
	}
	free(tree);
}

const struct json_value *json_get(const struct json_value *object, const char *key)
{
	const struct json_value *v;

	if (!object || object->kind != JSON_OBJECT)
		return NULL;
	for json_each(v, object)
		if (!strcmp(v->key, key))
			return v;
	return NULL;
}

const struct json_value *json_get_kind(const struct json_value *object, const char *key, enum json_kind kind)
{
	const struct json_value *v = json_get(object, key);

	return v && v->kind == kind ? v : NULL;
}

const char *json_get_string(const struct json_value *object, const char *key)
{
	const struct json_value *v = json_get_kind(object, key, JSON_STRING);

	return v ? v->string : NULL;
}

double json_get_number(const struct json_value *object, const char *key, double otherwise)
{
	const struct json_value *v = json_get_kind(object, key, JSON_NUMBER);

	return v ? v->number : otherwise;
}
