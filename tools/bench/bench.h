/* SPDX-License-Identifier: MIT */
/*
 * gtu bench units: cases (bench_cases.c), their data (bench_data.c) and runs (bench_units.c), the
 * plain software for comparison (bench_plain.c), and rounds, medians and tables (bench_rounds.c).
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

/* The position of an index relative to the previous one. */
enum bench_locality {
	BENCH_IN_ORDER,			/* ascending, with gaps */
	BENCH_WINDOW,			/* random within a window of 4 KiB that moves slowly */
	BENCH_RANDOM,			/* uniformly random */
	BENCH_SKEWED,			/* random by a power law: few positions are frequent */
};

/* A target of a case: a share of memcpy, or million elements per second; 0: none. */
struct bench_target {
	double share, rate;
};

struct bench_case {
	enum bench_kind kind;
	const char *unit, *operation;
	uint64_t set;			/* bytes read plus written, approximately */
	uint32_t width;			/* bytes of a data element */
	uint32_t ones;			/* set mask bits of 64; 0: no mask */
	uint32_t run;			/* REPLICATE, EXPAND: elements per run; PEG, WVR: edges per vertex */
	uint32_t engines;		/* PEG */
	bool vary;			/* runs have 1 to 2 * run - 1 elements instead */
	uint32_t locality;		/* enum bench_locality */
	uint32_t step;			/* GTU_STEP_*: UNIQUE, BEST, GROUP */
	uint32_t iru_op;		/* GTU_IRU_OP_* */
	bool carry;			/* IRU: records have secondary and position */
	bool position;			/* IRU: records have the position */
	struct bench_target target;
};

/* The cases; the last element has no unit. */
extern const struct bench_case bench_cases[];
/* Describe a case among those of its operation, for a table. */
void bench_variant(const struct bench_case *c, char *text, size_t size);

/* The command line of gtu bench units and ioctl. */
struct bench_request {
	const char *only, *device, *json, *plot;
	uint64_t pin;
	double seconds;
	uint64_t largest;
	bool portable, cycles;
};

/* Run the selected cases, or GTU_ERR_USAGE if there are none. */
int bench_units(const struct bench_request *rq, struct gtu_error *err);

/* ---- Output of all benchmarks (cmd_bench.c) ---------------------------------------------- */

struct report;
struct json_value;
/*
 * bench_has_table(): whether standard output is free for a table. bench_targets(): false, after a
 * message, if both names are one file.
 */
bool bench_has_table(const char *json, const char *plot);
bool bench_targets(const char *json, const char *plot);
/* Write JSON to @json, and the chart that @chart draws from it to @plot; either may be NULL. */
int bench_write(const char *json, const char *plot, void (*write)(const void *subject, FILE *to), const void *subject,
		void (*chart)(struct report *r, const struct json_value *doc), struct gtu_error *err);

/* A case with its data prepared. */
struct bench_work;

/*
 * Prepare the data, run unit and plain software once each and compare the results. Returns
 * GTU_ERR_VERIFY if they differ.
 */
int bench_prepare(struct gtu_queue *q, const struct bench_case *c, struct bench_work **out,
		  struct gtu_error *err);
void bench_release(struct bench_work *w);
uint64_t bench_bytes(const struct bench_work *w);	/* read plus written by one job */
uint64_t bench_elements(const struct bench_work *w);	/* input or output, whichever has more */
uint64_t bench_cycles(const struct bench_work *w);	/* logical cycles of the last job */

int bench_run_unit(struct bench_work *w, struct gtu_error *err);
void bench_run_plain(struct bench_work *w);
void bench_run_memcpy(struct bench_work *w);

/* ---- bench_plain.c: plain software for the same tasks; functions return the number of output elements ---- */

uint64_t plain_bitmask(const void *in, uint64_t n, uint32_t width, uint64_t reference,
		       uint64_t *bits);
uint64_t plain_data(const void *in, uint64_t n, uint32_t width, const uint64_t *mask, void *out);
uint64_t plain_access(const uint32_t *data, const uint32_t *index, uint64_t n,
		      const uint64_t *mask, uint32_t *out);
uint64_t plain_replicate(const uint32_t *in, const uint32_t *count, uint64_t n, uint32_t *out);
uint64_t plain_expand(const uint32_t *data, const uint32_t *index, const uint32_t *count,
		      uint64_t n, uint32_t *out);
/* Write the first occurrence of each id; @seen is a bitmap of @range ids, cleared here. */
uint64_t plain_unique(const uint32_t *id, uint64_t n, uint64_t *seen, uint64_t range, uint32_t *out);
/* Set the bit of each first occurrence instead. */
uint64_t plain_unique_bits(const uint32_t *id, uint64_t n, uint64_t *seen, uint64_t range,
			   uint64_t *bits);
/*
 * Write ids whose cost is below all earlier costs of the same id; @best has space for @range costs.
 */
uint64_t plain_best(const uint32_t *id, const uint32_t *cost, uint64_t n, uint32_t *best,
		    uint64_t range, uint32_t *out);
/* Write source and destination of each edge of the @n listed vertices (NULL: all). */
uint64_t plain_gather(const uint32_t *row, const uint32_t *col, const uint32_t *list, uint64_t n,
		      uint32_t *out);
/* Write vertex and edge id of all edges of @n registrations, in order. */
uint64_t plain_weave(const struct gtu_hw_registration *r, uint64_t n, uint32_t *out);
void plain_scatter(const uint32_t *in, const uint32_t *to, uint64_t n, uint32_t *out);
/*
 * LSD radix sort by line (index >> 5: 4-byte elements, 128-byte lines), 8 bits per pass, as many
 * passes as the greatest line needs. An element has 1 to 3 words of 4 bytes, the index first. @a
 * and @b have space for n elements each; @in may be @b. Returns the array with the result, @a or
 * @b.
 */
uint32_t *plain_sort_lines(const uint32_t *in, uint32_t *a, uint32_t *b, uint64_t n, unsigned words);

#endif
