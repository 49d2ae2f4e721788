/* SPDX-License-Identifier: MIT */
/*
 * A JSON reader: one document of a file as a tree. It takes what RFC 8259 has and nothing else; a number is a double, which
 * is exact up to 2^53. Each getter takes NULL for "there is none", so that a.b.c is asked for in one expression.
 */
#ifndef GTU_JSON_READ_H
#define GTU_JSON_READ_H

#include <stdbool.h>
#include <stddef.h>

#include "gtu/error.h"

enum json_kind { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

struct json_value {
	enum json_kind kind;
	const char *key;		/* of a member of an object, else NULL */
	const char *string;
	double number;			/* BOOL: 0 or 1 */
	const struct json_value *first, *next; /* members or elements, in the file's order */
	unsigned long count;		/* of them */
};

struct json_tree;			/* memory of a document */

#define JSON_READ_MOST	(256ul << 20)	/* bytes of a file */
#define JSON_READ_DEPTH	64

/*
 * Read @path, "-" for standard input. GTU_ERR_INPUT with file, line and column for what is no JSON, more than
 * JSON_READ_MOST or deeper than JSON_READ_DEPTH, or cannot be read. json_read_free() takes *tree.
 */
int json_read(const char *path, struct json_tree **tree, const struct json_value **top, struct gtu_error *err);
/* The same of @size bytes; @name is what sentences call them. */
int json_read_text(const char *name, const char *text, size_t size, struct json_tree **tree, const struct json_value **top,
		   struct gtu_error *err);
void json_read_free(struct json_tree *tree);

/* The member called @key (the first), or NULL. */
const struct json_value *json_get(const struct json_value *object, const char *key);
/* Its value where it is of that kind, else NULL, NULL, @otherwise. */
const struct json_value *json_get_kind(const struct json_value *object, const char *key, enum json_kind kind);
const char *json_get_string(const struct json_value *object, const char *key);
double json_get_number(const struct json_value *object, const char *key, double otherwise);
/* Of an array or object; NULL, NULL behind the last. */
#define json_each(v, of) (v = (of) ? (of)->first : NULL; v; v = v->next)

#endif
