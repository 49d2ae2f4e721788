/* SPDX-License-Identifier: MIT */
/* Between lab_graphpeg.c, what its figures need and say, and lab_graphpeg_runs.c, the runs and what they have to compute. */
#ifndef GTU_LAB_GRAPHPEG_H
#define GTU_LAB_GRAPHPEG_H

#include "firmware-model/lab/kernels/peg_graph.h"
#include "lab_run.h"

#define PAPER_SCALE 20			/* at which siblings have the papers' vertices */
#define PARAMETERS  4000000u		/* edges after which figures 7 and 8 and tables 4 and 5 stop; figures 2, 9, 10, 11 */
#define OVERALL	    40000000u

/* A graph as the kernels take it, and what they have to compute. */
struct graphpeg_subject {
	struct gtu_graph graph, *both;	/* both: where the input is directed */
	uint32_t *col, *weight, source, target;
	uint64_t *levels, *distances, *shares, *cores;
};

struct graphpeg_want {
	struct lab_pg_how how;
	uint32_t graph, sms;		/* sms 0: the machine's */
};
struct graphpeg_outcome {
	double rate;			/* edges a second */
	double balancing, instructions, requests; /* of the cycles; an edge */
	uint64_t warp_instructions;
	struct lab_pg_result r;		/* without its arrays */
};
struct graphpeg {
	struct lab_run *r;
	struct lab_peg_build build;	/* the published one, and what --set says */
	uint32_t blocks;
	struct graphpeg_subject subject[LAB_RUN_GRAPHS];
	struct graphpeg_want *want;
	struct graphpeg_outcome *outcome;
	unsigned wants, room;
	bool planned, no_memory;
};

/* Noted the first time; what it gave the second, when all runs were made. */
const struct graphpeg_outcome *graphpeg_outcome(struct graphpeg *x, const struct graphpeg_want *w);
/* An algorithm over a graph; siblings that are smaller than the paper's graphs stop after so many times fewer edges. */
struct graphpeg_want graphpeg_want(const struct graphpeg *x, unsigned g, unsigned algorithm, unsigned strategy, uint64_t edges);
/* Job @i: that run, checked against the reference. */
int graphpeg_run(void *ctx, unsigned i, const struct gtu_progress *progress, struct gtu_error *err);
/* Both ways, 4 bytes an edge, weights of 1 to 64 the same both ways unless it has u32 ones. */
int graphpeg_prepare(const struct gtu_graph *in, struct graphpeg_subject *s, struct gtu_error *err);
/* Job @i of 4 a graph: what it gives by the reference. */
int graphpeg_expect(void *ctx, unsigned i, const struct gtu_progress *progress, struct gtu_error *err);
void graphpeg_free(struct graphpeg *x);

#endif
