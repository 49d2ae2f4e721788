/* SPDX-License-Identifier: MIT */
/* gtu lab run --sweep KEY=V1,V2,...: runs an experiment per value, a column each. */
#ifndef GTU_LAB_SWEEP_H
#define GTU_LAB_SWEEP_H

#include "gtu/error.h"
#include "tools/report/lab_table.h"

#define LAB_SWEEP_VALUES 16u

struct lab_sweep_row {
	struct lab_row row;		/* ours: of the first value with this row */
	double ours[LAB_SWEEP_VALUES];	/* NAN: this value's run lacks the row */
};
struct lab_sweep {
	char *text;			/* storage of key and values */
	const char *key, *value[LAB_SWEEP_VALUES];
	char *set[LAB_SWEEP_VALUES];	/* "key=value" for --set */
	unsigned values, done;		/* done: values whose run has completed */
	struct lab_sweep_row *row;
	unsigned rows;
};

/* Parse "key=a,b,c": at least two different values. GTU_ERR_USAGE with a message, GTU_ERR_NOMEM. */
int lab_sweep_parse(const char *text, struct lab_sweep *s, struct gtu_error *err);
void lab_sweep_free(struct lab_sweep *s);
/* Add the rows of the next value's run. GTU_ERR_NOMEM. */
int lab_sweep_take(struct lab_sweep *s, const struct lab_table *t, struct gtu_error *err);
void lab_sweep_print(const struct lab_sweep *s);
/* Write "sweep" and "rows" to the open object. */
void lab_sweep_json(const struct lab_sweep *s, struct json *j);

#endif
