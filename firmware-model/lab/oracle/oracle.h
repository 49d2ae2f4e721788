/* SPDX-License-Identifier: MIT */
/*
 * Checks the laboratory against a folder of independent counts: counts.csv
 * (graph,kernel,config,counter,value,class) and graphs/NAME.mtx.xz.
 */
#ifndef GTU_LAB_ORACLE_H
#define GTU_LAB_ORACLE_H

#include "firmware-model/lab/engine/lab.h"

enum lab_verdict {
	LAB_EQUAL,
	LAB_DIFFERS,
	LAB_WITHIN, LAB_OUTSIDE,	/* class bound */
	LAB_NOT_MODELLED,		/* the laboratory lacks the counter */
	LAB_UNKNOWN_KERNEL, LAB_UNKNOWN_MACHINE, LAB_UNKNOWN_CLASS,
	LAB_NO_COUNT,			/* times of another machine and the like: not comparable */
};

struct lab_oracle_row {
	const char *graph, *kernel, *config, *counter, *class_name;
	double value;			/* the oracle's */
	uint64_t ours;
	enum lab_verdict verdict;
	double seconds;			/* host time of the run, in its first row; else 0 */
};

/*
 * Check the rows of @dir whose "graph,kernel,config" contains @only (NULL: all), in file order,
 * with one call of @row each. GTU_ERR_INPUT: malformed folder. GTU_ERR_VERIFY: a kernel computed a
 * wrong result, or lab_check() failed.
 */
int lab_oracle_check(const char *dir, const char *only,
		     void (*row)(void *user, const struct lab_oracle_row *row), void *user,
		     const struct gtu_progress *progress, struct gtu_error *err);

#endif
