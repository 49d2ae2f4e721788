/* SPDX-License-Identifier: MIT */
/*
 * Runs of SparseWeaver's experiment. Its figures (lab_sparseweaver.c) are gone through twice: first they say which runs they
 * need, each once whoever needs it; these are made side by side; then they take the numbers.
 */
#ifndef GTU_LAB_SPARSEWEAVER_H
#define GTU_LAB_SPARSEWEAVER_H

#include "firmware-model/lab/kernels/wvr_graph.h"
#include "lab_run.h"

#define WEAVER_GRAPHS	16		/* 9 siblings, 6 of the skew generator, or files */

/* What is run. */
struct weaver_key {
	unsigned graph;
	enum lab_wvr_algorithm algorithm;
	enum lab_wvr_mapping mapping;
	bool push;
	uint32_t latency;		/* of the tables; 0: as built */
	bool ahead, leave_out;		/* Weaver reads entries ahead, leaves filtered vertices out, however it is built */
	const char *set[2];		/* of the machine, literals; NULL: none */
};

struct weaver_run {
	struct weaver_key key;
	struct lab_wvr_report report;
};

/* A graph with 4 bytes an edge and weights, and what the reference says. */
struct weaver_subject {
	const char *label, *symbol;
	struct gtu_graph g;
	uint32_t *col, *weight;
	uint64_t *expected[LAB_WVR_GRAPH_ALGORITHMS];
	double *z, *magnitude;		/* GCN */
};

struct weaver {
	struct lab_run *r;
	struct wvr_shape shape;
	uint32_t eghw_requests;
	bool leave_out;
	struct weaver_subject subject[WEAVER_GRAPHS];
	unsigned subjects;
	struct weaver_run *run;
	unsigned runs, room;
	bool planning;
	bool no_memory;
};

/* The run of a key; while planning one of all ones. The pointer is good until the next is asked for. */
const struct lab_wvr_report *weaver_report(struct weaver *s, struct weaver_key key);
/* Add @g, which outlives it, under its label. */
int weaver_add(struct weaver *s, const struct gtu_graph *g, const char *label, const char *symbol, struct gtu_error *err);
/* All that was planned. GTU_ERR_VERIFY where a result is not the reference's. */
int weaver_run_all(struct weaver *s, struct gtu_error *err);
void weaver_free(struct weaver *s);
/* --set wvr.KEY=NUMBER */
int weaver_set(struct weaver *s, const char *assignment, struct gtu_error *err);

#endif
