/* SPDX-License-Identifier: MIT */
/* gtu lab run: the experiments of a paper, over its graphs' siblings or files. */
#ifndef GTU_LAB_RUN_H
#define GTU_LAB_RUN_H

#include "gtu/graph.h"
#include "firmware-model/lab/engine/machine.h"
#include "lab_sweep.h"
#include "tools/report/lab_table.h"

#define LAB_RUN_GRAPHS 16

struct lab_run {
	/* what was asked */
	const char *machine;		/* NULL: the paper's */
	const char *const *set;		/* key=value of it */
	unsigned sets;
	const char *const *file;	/* graphs; none: siblings */
	unsigned files;
	uint64_t scale;			/* log2 of a sibling's size, as the experiment says */
	uint64_t figure;		/* or LAB_TABLE(); 0: all */
	const char *json, *plot;
	struct lab_sweep *sweep;	/* NULL: one run */
	const char *algorithm;		/* NULL: all of the experiment's */
	const char *device;		/* a GPU that runs it, not the laboratory; NULL: none */
	const struct gtu_progress *progress;

	/* what it runs on */
	struct lab_machine m;
	struct gtu_graph *graph[LAB_RUN_GRAPHS];
	const char *symbol[LAB_RUN_GRAPHS]; /* the paper's graph that it stands for; "": a file */
	unsigned graphs;
	struct lab_table table;
	uint64_t checked;		/* results that were compared with the reference */
	uint64_t instructions;		/* warp instructions simulated */
};

struct lab_sibling {
	const char *symbol;
	struct gtu_generate_options how; /* scale and n are set by the function */
	double vertices;		/* of the 2^scale */
	unsigned density;		/* not 0: the degree is for this scale, and falls with it */
};

/* One of these runs: fills r->table. */
int lab_run_emogi(struct lab_run *r, struct gtu_error *err);
int lab_run_emogi_gpu(struct lab_run *r, struct gtu_error *err);
int lab_run_iru(struct lab_run *r, struct gtu_error *err);
int lab_run_sparseweaver(struct lab_run *r, struct gtu_error *err);
int lab_run_scu(struct lab_run *r, struct gtu_error *err);
int lab_run_graphpeg(struct lab_run *r, struct gtu_error *err);

/* The machine, and files or siblings as graphs. Keys of --set that begin with @unit are left to the caller. */
int lab_run_begin(struct lab_run *r, const char *machine, const char *unit, const struct lab_sibling *sibling,
		  unsigned siblings, struct gtu_error *err);
/*
 * Which of the algorithms name(0), name(1) and so on to NULL were asked for: their numbers, rising, to @number, as many
 * as *@count. GTU_ERR_USAGE, with the names, for one that is not among them.
 */
int lab_run_algorithms(const struct lab_run *r, const char *name(unsigned), unsigned *number, unsigned *count,
		       struct gtu_error *err);
static inline bool lab_run_wants(const struct lab_run *r, unsigned figure)
{
	return !r->figure || r->figure == figure;
}
/* The paper's symbol for a sibling, the graph's name for a file. */
const char *lab_run_label(const struct lab_run *r, unsigned g);

/* The experiment called @name, from what was asked to the report; GTU_ERR_USAGE for an unknown one or figure. */
int lab_run_experiment(struct lab_run *r, const char *name, struct gtu_error *err);
/* A line for each experiment. */
void lab_run_list(void);

#endif
