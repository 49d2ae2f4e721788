/* SPDX-License-Identifier: MIT */
/* Shared by oracle.c (counters, verdicts), oracle_read.c (files) and oracle_run.c (kernels). */
#ifndef GTU_LAB_ORACLE_PARTS_H
#define GTU_LAB_ORACLE_PARTS_H

#include "firmware-model/lab/kernels/kernels.h"
#include "oracle.h"

#define ORACLE_ARRAYS 6
#define ORACLE_FIELDS 6

struct oracle_line {
	const char *field[ORACLE_FIELDS]; /* graph, kernel, config, counter, value, class */
};

struct oracle_folder {
	char *text;
	struct oracle_line *line;
	size_t lines;
};

/* Entries in file order: not sorted, merged or dropped. */
struct oracle_graph {
	uint32_t n, m;
	uint32_t *row, *col;
};

/* One kernel on one graph and machine. */
struct oracle_run {
	const struct oracle_graph *g;
	struct lab *lab;
	const struct lab_kernel *kernel;
	struct lab_array array[ORACLE_ARRAYS];
	unsigned arrays;
	struct lab_count count[8];
	uint64_t launches;
	double seconds;
};

/* On error, free a partial result with oracle_folder_free(). */
int oracle_folder_read(const char *dir, struct oracle_folder *f, struct gtu_error *err);
void oracle_folder_free(struct oracle_folder *f);
int oracle_graph_read(const char *dir, const char *name, struct oracle_graph *g, struct gtu_error *err);
void oracle_graph_free(struct oracle_graph *g);

/* Runs the kernel @name in run->lab and verifies its result: GTU_ERR_VERIFY. */
typedef int oracle_kernel(struct oracle_run *run, const char *name, struct gtu_error *err);
oracle_kernel *oracle_kernel_of(const char *name);	/* NULL: unknown */

#endif
