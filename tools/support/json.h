/* SPDX-License-Identifier: MIT */
/*
 * A JSON writer: writes one indented document to a stream, with keys in the order of the calls.
 *
 *	struct json j;
 *
 *	json_start(&j, file);
 *	json_begin_object(&j, NULL);
 *	json_string(&j, "unit", "scu");
 *	json_u64(&j, "vertices", n);
 *	json_begin_array(&j, "phases");
 *	json_double(&j, NULL, 0.25);
 *	json_end_array(&j);
 *	json_end_object(&j);
 *	json_finish(&j);
 *
 * `key` is the member's name inside an object, and NULL inside an array and at the top level. Calls
 * that do not nest and keys in the wrong context are bugs in the caller and fail an assertion.
 */
#ifndef GTU_JSON_H
#define GTU_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define JSON_DEPTH 16

struct json {
	FILE *file;
	unsigned depth;
	bool array[JSON_DEPTH];		/* at each depth: an array is open, else an object */
	bool any[JSON_DEPTH];		/* it has a member already */
	bool done;			/* the top-level value is complete */
};

void json_start(struct json *j, FILE *file);

void json_begin_object(struct json *j, const char *key);
void json_end_object(struct json *j);
void json_begin_array(struct json *j, const char *key);
void json_end_array(struct json *j);

/* Bytes that are not UTF-8 (file names may contain any byte) become U+FFFD; NULL becomes null. */
void json_string(struct json *j, const char *key, const char *value);
void json_u64(struct json *j, const char *key, uint64_t value);
void json_i64(struct json *j, const char *key, int64_t value);
/* The fewest digits (at most 17) that read back as the same double; null if not finite. */
void json_double(struct json *j, const char *key, double value);
void json_bool(struct json *j, const char *key, bool value);
void json_null(struct json *j, const char *key);

/*
 * Length in bytes of the UTF-8 sequence at @s; 0 if it is overlong, a surrogate, truncated or
 * otherwise invalid.
 */
unsigned json_utf8_length(const unsigned char *s);

/* End the document with a newline. */
void json_finish(struct json *j);

#endif
