/* SPDX-License-Identifier: MIT */
/* gtu lab run --sweep KEY=V1,V2,...: an experiment once for each value of a number, its rows with a column for each. */
#ifndef GTU_LAB_SWEEP_H
#define GTU_LAB_SWEEP_H

#include "gtu/error.h"
#include "tools/report/lab_table.h"

#define LAB_SWEEP_VALUES 16u

struct lab_sweep_row {
	struct lab_row row;		/* ours: of the first value that has it */
	double ours[LAB_SWEEP_VALUES];	/* NAN where a value's run has no such row */
};
struct lab_sweep {
	char *text;			/* what follows lies in it */
	const char *key, *value[LAB_SWEEP_VALUES];
	char *set[LAB_SWEEP_VALUES];	/* "key=value", as --set takes it */
	unsigned values, done;		/* done: values whose run has ended */
	struct lab_sweep_row *row;
	unsigned rows;
};

/* "key=a,b,c", two values at the least, none twice. GTU_ERR_USAGE with what is wrong, GTU_ERR_NOMEM. */
int lab_sweep_parse(const char *text, struct lab_sweep *s, struct gtu_error *err);
void lab_sweep_free(struct lab_sweep *s);
/* The rows of the next value's run. GTU_ERR_NOMEM. */
int lab_sweep_take(struct lab_sweep *s, const struct lab_table *t, struct gtu_error *err);
void lab_sweep_print(const struct lab_sweep *s);
/* "sweep" and "rows" of the object that is open. */
void lab_sweep_json(const struct lab_sweep *s, struct json *j);

#endif
