/* SPDX-License-Identifier: MIT */
/* One run of `gtu run`: what cmd_run.c fills in and run_report.c writes out. */
#ifndef GTU_RUN_H
#define GTU_RUN_H

#include <stdio.h>

#include "gtu/gtu.h"

enum run_algorithm { RUN_BFS, RUN_SSSP, RUN_PR, RUN_CC };

enum run_verdict { RUN_NOT_VERIFIED, RUN_EQUAL, RUN_DIFFERENT };

struct run {
	enum run_algorithm algorithm;
	const char *path;		/* of the graph */
	const char *unit, *device;	/* as named; device is "none" without a unit */
	const char *output, *json;	/* files, "-", or NULL */
	struct gtu_graph graph;		/* as opened, with the weights that were asked for */
	struct gtu_device *dev;
	struct gtu_algorithm_options opt;
	struct gtu_algorithm_stats stats;
	bool source_chosen;		/* by us */
	bool monitor;			/* ZCM watches */
	const char *weights;		/* what they are, for a person; SSSP */
	double open_seconds;
	union {
		uint64_t *integer;	/* BFS levels, CC vertices */
		double *real;		/* SSSP distances, PR ranks */
		void *result;
	};
	struct {
		uint32_t unit;
		const char *name;
		uint64_t value[GTU_UREG_COUNTERS];
	} counters[3];
	unsigned units;			/* of them */
	enum run_verdict verdict;
	double verify_seconds;
};

const char *run_name(enum run_algorithm algorithm);

/* --output and --json. Whole or not at all: a temporary file is renamed. */
int run_write_output(const struct run *r, struct gtu_error *err);
int run_write_json(const struct run *r, struct gtu_error *err);
/* What a person wants to see. */
void run_print(const struct run *r, FILE *to);

#endif
