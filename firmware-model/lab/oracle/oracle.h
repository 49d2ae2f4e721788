/* SPDX-License-Identifier: MIT */
/*
 * A folder of independent counts: counts.csv (graph,kernel,config,counter,value,class) and
 * graphs/NAME.mtx.xz. Its kernels are run and every number is put beside ours.
 */
#ifndef GTU_LAB_ORACLE_H
#define GTU_LAB_ORACLE_H

#include "firmware-model/lab/engine/lab.h"

enum lab_verdict {
	LAB_EQUAL,
	LAB_DIFFERS,
	LAB_WITHIN, LAB_OUTSIDE,	/* class bound */
	LAB_NOT_MODELLED,		/* a counter the laboratory has not */
	LAB_UNKNOWN_KERNEL, LAB_UNKNOWN_MACHINE, LAB_UNKNOWN_CLASS,
	LAB_NO_COUNT,			/* time of another machine and the like: nothing to compare */
};

struct lab_oracle_row {
	const char *graph, *kernel, *config, *counter, *class_name;
	double value;			/* theirs */
	uint64_t ours;
	enum lab_verdict verdict;
	double seconds;			/* of ours for the whole run, in its first row; else 0 */
};

/*
 * All rows of @dir whose "graph,kernel,config" contains @only (NULL: all), in the order of the file, one
 * call of @row each. GTU_ERR_INPUT where the folder is not of that form, GTU_ERR_VERIFY where a kernel
 * computed something wrong or a law of conservation was broken.
 */
int lab_oracle_check(const char *dir, const char *only,
		     void (*row)(void *user, const struct lab_oracle_row *row), void *user,
		     const struct gtu_progress *progress, struct gtu_error *err);

#endif
