/* SPDX-License-Identifier: MIT */
/* Documentation/fidelity.md: the judged rows of all experiments, written from the JSON of their runs. */
#ifndef GTU_FIDELITY_H
#define GTU_FIDELITY_H

#include "gtu/error.h"
#include "lab_table.h"

#define FIDELITY_STAGES	24u		/* of a paper */

/*
 * A run of an experiment. JUDGED: with the experiment's parameters. READING: another reading of an
 * ambiguous text. CAUSE: with a cause of misses removed.
 */
enum fidelity_kind { FIDELITY_JUDGED, FIDELITY_READING, FIDELITY_CAUSE, FIDELITY_KINDS };

struct fidelity_stage {
	const char *name, *command;
	enum fidelity_kind kind;
	const char *missing;		/* a file that the run needs and that does not exist, else NULL */
	const struct json_value *doc;	/* NULL: not run */
	struct lab_table table;
};

/* Why rows miss. @graph and @what are patterns of fnmatch(). */
struct fidelity_cause {
	unsigned line, figure;
	const char *graph, *what;
	const char *stage;		/* the run without the cause; NULL: none */
	const char *text;
};

struct fidelity_paper {
	const char *experiment, *title;
	struct fidelity_stage stage[FIDELITY_STAGES]; /* the first is the judged one */
	unsigned stages;
	struct fidelity_cause *cause;
	unsigned causes;
};

/* The first cause that matches @row, or NULL. */
const struct fidelity_cause *fidelity_cause_of(const struct fidelity_paper *p, const struct lab_row *row);
const struct fidelity_stage *fidelity_stage_of(const struct fidelity_paper *p, const char *name);
/* GTU_ERR_INPUT: a cause belongs to no judged row, or names a run that is not one without a cause. */
int fidelity_check(const struct fidelity_paper *p, struct gtu_error *err);
/* Write a line for each miss without a cause, and for each whose run without the cause lacks the row; returns their number. */
unsigned fidelity_unstated(const struct fidelity_paper *p, FILE *to);
/* The caller checks @to for errors. @form describes the scale of the runs. */
void fidelity_write(const struct fidelity_paper *paper, unsigned papers, const char *commit, const char *form, FILE *to);

#endif
