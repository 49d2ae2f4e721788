/* SPDX-License-Identifier: MIT */
/*
 * A JSON reader: parses one document into a tree. It accepts exactly RFC 8259; numbers are doubles,
 * exact up to 2^53. Every getter accepts NULL for a missing value, so that calls can be nested.
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
	unsigned long count;		/* of members or elements */
};

struct json_tree;			/* owns the memory of a document */

#define JSON_READ_MAX	(256ul << 20)	/* greatest size of a document, bytes */
#define JSON_READ_DEPTH	64

/*
 * Read @path, "-" for standard input. Returns GTU_ERR_INPUT with file, line and column if the text
 * is not JSON, is larger than JSON_READ_MAX, is nested deeper than JSON_READ_DEPTH, or cannot be
 * read. The caller frees *tree with json_read_free().
 */
int json_read(const char *path, struct json_tree **tree, const struct json_value **top, struct gtu_error *err);
/* Parse @size bytes of @text in the same way; error messages call them @name. */
int json_read_text(const char *name, const char *text, size_t size, struct json_tree **tree, const struct json_value **top,
		   struct gtu_error *err);
void json_read_free(struct json_tree *tree);

/* The first member called @key, or NULL. */
const struct json_value *json_get(const struct json_value *object, const char *key);
/* The value of that member if it has the right kind, otherwise NULL, NULL and @otherwise. */
const struct json_value *json_get_kind(const struct json_value *object, const char *key, enum json_kind kind);
const char *json_get_string(const struct json_value *object, const char *key);
double json_get_number(const struct json_value *object, const char *key, double otherwise);
/* Iterate over the elements of an array or the members of an object; @v is NULL after the last. */
#define json_each(v, of) (v = (of) ? (of)->first : NULL; v; v = v->next)

#endif
