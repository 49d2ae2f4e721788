/* SPDX-License-Identifier: MIT */
/* Shared by lab_graphpeg.c (figures), lab_graphpeg_text.c and lab_graphpeg_runs.c (runs and their verification). */
#ifndef GTU_LAB_GRAPHPEG_H
#define GTU_LAB_GRAPHPEG_H

#include "firmware-model/lab/kernels/peg_graph.h"
#include "lab_run.h"

#define PAPER_SCALE 20 /* scale at which stand-in graphs have the papers' number of vertices */
/* edges after which runs stop: of figures 7, 8 and tables 4, 5; of figures 2, 9, 10, 11 */
#define PARAMETERS  4000000u
#define OVERALL	    40000000u

/* A graph as the kernels take it, and its reference results. */
struct graphpeg_subject {
	struct gtu_graph graph, *both;	/* both: symmetrized input, if that is directed */
	uint32_t *col, *weight, source, target;
	uint64_t *levels, *distances, *shares, *cores;
};

struct graphpeg_want {
	struct lab_pg_config config;
	uint32_t graph, sms;		/* sms 0: the machine's */
};
struct graphpeg_outcome {
	double rate;			/* edges per second */
	double balancing, instructions, requests; /* share of the cycles; per edge */
	uint64_t warp_instructions;
	struct lab_pg_result r;		/* without its arrays */
};
struct graphpeg {
	struct lab_run *r;
	struct lab_peg_build build;	/* the published build, modified by --set */
	uint32_t blocks, light_edges, end_polled, ends, overall_scale, parameters_pull;
	/* the graphs of figures 7, 8, tables 4, 5 are the first; those of the other figures from @overall on */
	unsigned graphs, overall;
	struct graphpeg_subject subject[LAB_RUN_GRAPHS];
	struct graphpeg_want *want;
	struct graphpeg_outcome *outcome;
	unsigned wants, capacity;
	bool no_memory;
};

/* Plans the run the first time; returns its result after all runs. */
const struct graphpeg_outcome *graphpeg_outcome(struct graphpeg *x, const struct graphpeg_want *w);
/*
 * Speed of @a over @b. The ratio of their times if both ended; else of the edges that they visited a second, since
 * they stopped after different parts of the work.
 */
double graphpeg_faster(struct graphpeg *x, const struct graphpeg_want *a, const struct graphpeg_want *b);
/* A run of an algorithm on a graph. On stand-in graphs, the edge limit is scaled with the graph. */
struct graphpeg_want graphpeg_want(const struct graphpeg *x, unsigned g, unsigned algorithm, unsigned strategy, uint64_t edges);
/* Job @i: one run, verified against the reference. */
int graphpeg_run(void *ctx, unsigned i, const struct gtu_progress *progress, struct gtu_error *err);
/* Symmetrize, with 4-byte edges. STCON's target is random vertex number @ends, its source number 0. Without u32 weights, weights are 1 to 64, equal both ways. */
int graphpeg_prepare(const struct gtu_graph *in, uint32_t ends, struct graphpeg_subject *s, struct gtu_error *err);
/* Job @i of 4 per graph: a reference result. */
int graphpeg_expect(void *ctx, unsigned i, const struct gtu_progress *progress, struct gtu_error *err);
/* Rows for the text's statements about the bar charts, on stand-in graphs (lab_graphpeg_text.c). */
void graphpeg_text(struct graphpeg *x);
void graphpeg_free(struct graphpeg *x);

#endif
