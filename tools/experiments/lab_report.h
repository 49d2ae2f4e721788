/* SPDX-License-Identifier: MIT */
/* gtu lab report: all experiments, a file for each run, and the page of their rows. */
#ifndef GTU_LAB_REPORT_H
#define GTU_LAB_REPORT_H

#include <stdbool.h>

#include "gtu/error.h"
#include "gtu/graph.h"

struct lab_report {
	const char *folder;		/* of a JSON file for each run */
	const char *page;		/* the Markdown file; NULL: fidelity.md in the folder */
	const char *commit;		/* of the sources; a run of another commit is repeated */
	const char *causes;		/* folder of NAME.fidelity; NULL: those of the sources */
	bool short_form;		/* the smallest graphs: shows structure, not fidelity */
	bool complete;			/* every miss must have a cause */
	const struct gtu_progress *progress;
};

/*
 * Run what the folder lacks, then write the page. GTU_ERR_INPUT names a line of tools/experiments/
 * NAME.fidelity that is invalid, or a cause that belongs to no row; @complete: after the page is written and the misses
 * without a cause are listed on stderr, their number. GTU_ERR_INTERRUPTED: the runs that ended are kept.
 */
int lab_report(const struct lab_report *o, struct gtu_error *err);

#endif
