/* SPDX-License-Identifier: MIT */
/* gtu lab run: the experiments of a paper, on stand-ins for its graphs or on files. */
#ifndef GTU_LAB_RUN_H
#define GTU_LAB_RUN_H

#include "gtu/graph.h"
#include "firmware-model/lab/engine/machine.h"
#include "firmware-model/lab/engine/parameters.h"
#include "lab_sweep.h"
#include "tools/report/lab_table.h"

#define LAB_RUN_GRAPHS 16

/* A stage of gtu lab report, for its JSON. */
struct lab_stage_note {
	const char *name, *key, *command;
	double cpu_seconds;		/* of the run */
};

struct lab_run {
	/* options */
	const char *machine;		/* NULL: the paper's */
	const char *const *set;		/* key=value for the machine */
	unsigned sets;
	const char *const *file;	/* graphs; none: stand-ins */
	unsigned files;
	uint64_t scale; /* log2 of a stand-in's size; the experiment defines the unit; 0: its parameters' */
	uint64_t figure;		/* or LAB_TABLE(); 0: all */
	const char *json, *plot;
	struct lab_sweep *sweep;	/* NULL: one run */
	const char *algorithm;		/* NULL: all algorithms of the experiment */
	const char *device;		/* run on this GPU instead of the laboratory; NULL: none */
	const struct gtu_progress *progress;
	struct lab_stage_note *stage;	/* NULL: a run by the user, which is also printed */

	/* state and results */
	const char *experiment;
	struct lab_machine m;
	struct gtu_graph *graph[LAB_RUN_GRAPHS];
	/* symbol of the paper's graph that it stands for; "": a file */
	const char *symbol[LAB_RUN_GRAPHS];
	unsigned graphs;
	struct lab_table table;
	bool planning;			/* figures are evaluated to plan their runs */
	bool added;			/* the last lab_run_row() added a row */
	uint64_t checked;		/* results compared with the reference */
	uint64_t instructions;		/* warp instructions simulated */
};

struct lab_standin {
	const char *symbol;
	struct gtu_generate_options options; /* lab_run_begin() sets scale and n */
	double vertices;		/* as a multiple of 2^scale */
	unsigned density; /* not 0: the degree is for this scale, and shrinks with it */
};

/* The experiments; each fills r->table. */
int lab_run_emogi(struct lab_run *r, struct gtu_error *err);
int lab_run_emogi_gpu(struct lab_run *r, struct gtu_error *err);
int lab_run_iru(struct lab_run *r, struct gtu_error *err);
int lab_run_sparseweaver(struct lab_run *r, struct gtu_error *err);
int lab_run_scu(struct lab_run *r, struct gtu_error *err);
int lab_run_graphpeg(struct lab_run *r, struct gtu_error *err);

/* Open the machine and the graphs. --set keys that begin with @unit are left to the caller. */
int lab_run_begin(struct lab_run *r, const char *machine, const char *unit, const struct lab_standin *standin,
		  unsigned standins, struct gtu_error *err);
/*
 * Select the algorithms requested, of @name up to NULL. Their numbers go to @number
 * in ascending order, their count to *@count. GTU_ERR_USAGE lists the valid names.
 */
int lab_run_algorithms(const struct lab_run *r, const char *const *name, unsigned *number, unsigned *count,
		       struct gtu_error *err);
static inline bool lab_run_wants(const struct lab_run *r, unsigned figure)
{
	return !r->figure || r->figure == figure;
}
/* Add a row to the table, unless @figure is not wanted or the runs are being planned. */
void lab_run_row(struct lab_run *r, unsigned figure, const char *graph, enum lab_rule rule, double paper, double ours,
		 const char *what, ...) __attribute__((format(printf, 7, 8)));
/*
 * About the row of the last lab_run_row(), if that added one: its null value, a range's upper end, the
 * curve that it is a point of, why a published value is not judged or what it is calibrated on.
 */
void lab_run_null(struct lab_run *r, double value);
void lab_run_high(struct lab_run *r, double value);
void lab_run_curve(struct lab_run *r, const char *name, ...) __attribute__((format(printf, 2, 3)));
void lab_run_reason(struct lab_run *r, const char *why, ...) __attribute__((format(printf, 2, 3)));

/*
 * Read the experiment's parameters (firmware-model/machines/EXPERIMENT.parameters) into @keys, and the
 * key "scale" into r->scale unless the user gave one; then apply each --set that begins with @prefix
 * (NULL: none). To be called before lab_run_begin().
 */
int lab_run_parameters(struct lab_run *r, const char *prefix, const struct lab_key *keys, unsigned n, struct gtu_error *err);
/* Apply --set KEY=NUMBER, with a unit or without. GTU_ERR_USAGE */
int lab_run_key(const char *assignment, const struct lab_key *keys, unsigned n, struct gtu_error *err);
/* The paper's symbol of a stand-in, or a file's graph name. */
const char *lab_run_label(const struct lab_run *r, unsigned g);

/* Run and report the experiment @name. GTU_ERR_USAGE: unknown experiment or figure. */
int lab_run_experiment(struct lab_run *r, const char *name, struct gtu_error *err);
/* Print the parameters of the experiment @name with their sources. GTU_ERR_USAGE: unknown */
int lab_run_print_parameters(const char *name, struct gtu_error *err);
/* Print one line per experiment. */
void lab_run_list(void);

#endif
