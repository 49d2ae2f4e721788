/* SPDX-License-Identifier: MIT */
/*
 * A JSON writer: one document to a stream, indented, keys in the order of the calls.
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
 *	if (json_finish(&j))
 *		...errno says why the stream did not take it
 *
 * `key` is the member's name inside an object and NULL inside an array and at the top. Calls that do
 * not nest, and keys that do not belong, are mistakes of the program and stop it (assert).
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
	bool array[JSON_DEPTH];		/* what is open at each depth */
	bool any[JSON_DEPTH];		/* it has a member already */
	bool done;			/* the one top value is complete */
};

void json_start(struct json *j, FILE *file);

void json_begin_object(struct json *j, const char *key);
void json_end_object(struct json *j);
void json_begin_array(struct json *j, const char *key);
void json_end_array(struct json *j);

/* Bytes that are not UTF-8 (a file name may hold any) become U+FFFD; NULL becomes null. */
void json_string(struct json *j, const char *key, const char *value);
void json_u64(struct json *j, const char *key, uint64_t value);
void json_i64(struct json *j, const char *key, int64_t value);
/* 17 significant digits at most, as few as give the same double back; not finite: null. */
void json_double(struct json *j, const char *key, double value);
void json_bool(struct json *j, const char *key, bool value);
void json_null(struct json *j, const char *key);

/* Bytes of the UTF-8 sequence at @s, 0 if it is none (overlong, surrogate or cut short included). */
unsigned json_utf8_length(const unsigned char *s);

/* End the document with a newline and flush. -1, with errno, when the stream has failed. */
int json_finish(struct json *j);

#endif
