/* SPDX-License-Identifier: MIT */
/*
 * Runs of SparseWeaver's experiment. The figures (lab_sparseweaver.c) are evaluated twice: first to
 * plan the runs, each once; after these were run in parallel, to take their results.
 */
#ifndef GTU_LAB_SPARSEWEAVER_H
#define GTU_LAB_SPARSEWEAVER_H

#include "firmware-model/lab/kernels/wvr_graph.h"
#include "lab_run.h"

#define WEAVER_GRAPHS	16		/* 9 stand-ins, 6 of the skew generator, or files */

/* Identifies a run. */
struct weaver_key {
	unsigned graph;
	enum lab_wvr_algorithm algorithm;
	enum lab_wvr_mapping mapping;
	bool push;
	uint32_t latency, entries;	/* of the tables; 0: as built */
	/* read an entry when the previous one is used up; do not register filtered vertices */
	bool serial, leave_out;
	const char *set[2];		/* machine settings, literals; NULL: none */
};

struct weaver_run {
	struct weaver_key key;
	struct lab_wvr_report report;
};

/* A graph with 4-byte edges and weights, and reference results. */
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
	uint32_t eghw_requests, coefficient;
	bool leave_out;
	struct weaver_subject subject[WEAVER_GRAPHS];
	unsigned subjects;
	struct weaver_run *run;
	unsigned runs, capacity;
	bool no_memory;
};

/* The report of a run; all ones while planning. The pointer is valid until the next call. */
const struct lab_wvr_report *weaver_report(struct weaver *s, struct weaver_key key);
/* Add @g, which must outlive @s, under its label. */
int weaver_add(struct weaver *s, const struct gtu_graph *g, const char *label, const char *symbol, struct gtu_error *err);
/* Run all planned runs. GTU_ERR_VERIFY: a result differs from the reference's. */
int weaver_run_all(struct weaver *s, struct gtu_error *err);
void weaver_free(struct weaver *s);

/* ---- Figures (lab_sparseweaver.c) ------------------------------------------------------------ */

#define WEAVER_KEY(g, a, m, ...) ((struct weaver_key){ .graph = (g), .algorithm = (a), .mapping = (m), ##__VA_ARGS__ })
/* Vortex puts four cores into a socket by default */
#define EIGHT_CORES	"sm.count=8", "sm.socket=4"

static inline double weaver_cycles(struct weaver *s, struct weaver_key key)
{
	return (double)weaver_report(s, key)->cycles;
}

static inline double weaver_over_vertex(struct weaver *s, unsigned g, enum lab_wvr_algorithm a, enum lab_wvr_mapping m)
{
	double base = weaver_cycles(s, WEAVER_KEY(g, a, LAB_MAP_VERTEX));

	return base / weaver_cycles(s, WEAVER_KEY(g, a, m));
}

/* Subjects with these symbols, separated by blanks. With files: as many, the first ones. */
unsigned weaver_pick(const struct weaver *s, const char *symbols, unsigned *index);
/* Sensitivity to memory and caches (lab_sparseweaver_memory.c). */
void weaver_figure12(struct weaver *s);
void weaver_figure13(struct weaver *s);
void weaver_figure14(struct weaver *s);
void weaver_figure15(struct weaver *s);

/* Read the parameters, and --set wvr.KEY=NUMBER. */
int weaver_parameters(struct weaver *s, struct gtu_error *err);

#endif
