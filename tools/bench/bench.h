/* SPDX-License-Identifier: MIT */
/*
 * gtu bench units: the cases (bench_cases.c), what each does (bench_units.c), the plain software beside
 * them (bench_plain.c), and the rounds, medians and tables (cmd_bench.c).
 */
#ifndef GTU_BENCH_H
#define GTU_BENCH_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "gtu/gtu.h"

enum bench_kind {
	BENCH_BITMASK, BENCH_DATA, BENCH_ACCESS, BENCH_REPLICATE, BENCH_EXPAND,
	BENCH_UNIQUE, BENCH_BEST, BENCH_GROUP, BENCH_IRU, BENCH_PEG, BENCH_WVR,
};

/* Where the next index lies, seen from the last one. */
enum bench_locality {
	BENCH_IN_ORDER,			/* ascending, with gaps */
	BENCH_WINDOW,			/* anywhere within 4 KiB that move on slowly */
	BENCH_RANDOM,			/* anywhere */
	BENCH_SKEWED,			/* anywhere, few of them very often (power law) */
};

/* A number that was asked for: a share of memcpy, or million elements a second. */
struct bench_target {
	double share, rate;
};

struct bench_case {
	enum bench_kind kind;
	const char *unit, *operation;
	uint64_t set;			/* bytes read plus written, about */
	uint32_t width;			/* bytes of a data element */
	uint32_t ones;			/* of 64 mask bits; 0: no mask */
	uint32_t run;			/* REPLICATE, EXPAND: elements a run; PEG, WVR: edges a vertex */
	uint32_t engines;		/* PEG */
	bool vary;			/* runs of 1 .. 2 * run - 1 elements instead */
	uint32_t locality;		/* enum bench_locality */
	uint32_t step;			/* GTU_STEP_*: UNIQUE, BEST, GROUP */
	uint32_t iru_op;		/* GTU_IRU_OP_* */
	bool carry;			/* IRU: secondary and position along */
	bool position;			/* IRU: position along */
	struct bench_target target;
};

/* The cases, ended by one without a unit. */
extern const struct bench_case bench_cases[];
/* What sets a case apart from others of its operation, for a table. */
void bench_variant(const struct bench_case *c, char *text, size_t size);

/* ---- What is written, of all benchmarks (cmd_bench.c) ---------------------------------------------- */

struct report;
struct json_value;
/* Whether standard output is free for a table; whether the two names are not of one file (else after a complaint). */
bool bench_has_table(const char *json, const char *plot);
bool bench_targets(const char *json, const char *plot);
/* JSON to @json, and @chart of it to @plot; either may be NULL. */
int bench_write(const char *json, const char *plot, void (*write)(const void *subject, FILE *to), const void *subject,
		void (*chart)(struct report *r, const struct json_value *doc), struct gtu_error *err);

/* A case with its data laid out. */
struct bench_work;

/*
 * Lays out the data, runs unit and plain software once each and compares what they gave:
 * GTU_ERR_VERIFY where that differs.
 */
int bench_prepare(struct gtu_queue *q, const struct bench_case *c, struct bench_work **out,
		  struct gtu_error *err);
void bench_release(struct bench_work *w);
uint64_t bench_bytes(const struct bench_work *w);	/* read plus written by one job */
uint64_t bench_elements(const struct bench_work *w);	/* elements: the more of in and out */
uint64_t bench_cycles(const struct bench_work *w);	/* logical cycles of the last job */

int bench_run_unit(struct bench_work *w, struct gtu_error *err);
void bench_run_plain(struct bench_work *w);
void bench_run_memcpy(struct bench_work *w);

/* ---- bench_plain.c: what one would write without a unit; each returns the elements put out -------- */

uint64_t plain_bitmask(const void *in, uint64_t n, uint32_t width, uint64_t reference,
		       uint64_t *bits);
uint64_t plain_data(const void *in, uint64_t n, uint32_t width, const uint64_t *mask, void *out);
uint64_t plain_access(const uint32_t *data, const uint32_t *index, uint64_t n,
		      const uint64_t *mask, uint32_t *out);
uint64_t plain_replicate(const uint32_t *in, const uint32_t *count, uint64_t n, uint32_t *out);
uint64_t plain_expand(const uint32_t *data, const uint32_t *index, const uint32_t *count,
		      uint64_t n, uint32_t *out);
/* First of each id, by a bitmap of the @range ids there are (cleared here). */
uint64_t plain_unique(const uint32_t *id, uint64_t n, uint64_t *seen, uint64_t range, uint32_t *out);
/* As the bits that say which. */
uint64_t plain_unique_bits(const uint32_t *id, uint64_t n, uint64_t *seen, uint64_t range,
			   uint64_t *bits);
/* Those cheaper than all before of their id; @best holds @range costs. */
uint64_t plain_best(const uint32_t *id, const uint32_t *cost, uint64_t n, uint32_t *best,
		    uint64_t range, uint32_t *out);
/* Source and destination of each edge of the @n listed vertices (NULL: all), one behind the other. */
uint64_t plain_gather(const uint32_t *row, const uint32_t *col, const uint32_t *list, uint64_t n,
		      uint32_t *out);
/* Vertex and edge id of all that @n registrations hold, in their order. */
uint64_t plain_weave(const struct gtu_hw_registration *r, uint64_t n, uint32_t *out);
void plain_scatter(const uint32_t *in, const uint32_t *to, uint64_t n, uint32_t *out);
/*
 * LSD radix sort by line (index >> 5: 4-byte elements, 128-byte lines), 8 bits a pass, as many passes as
 * the greatest line needs. An element is @words of 4 bytes (1 to 3), the index first. @a and @b are room
 * for n elements each; @in may be @b. Returns where the result is: @a or @b.
 */
uint32_t *plain_sort_lines(const uint32_t *in, uint32_t *a, uint32_t *b, uint64_t n, unsigned words);

#endif
