/* SPDX-License-Identifier: MIT */
/* Independent runs of the laboratory on as many CPUs as there are. */
#ifndef GTU_LAB_JOBS_H
#define GTU_LAB_JOBS_H

#include "gtu/error.h"

/*
 * Job @i of those given to lab_jobs(): on some thread, beside others; what it changes is its own. It hands @progress
 * on to lab_run() and all that may take long, so that an interrupt ends it.
 */
typedef int lab_job(void *ctx, unsigned i, const struct gtu_progress *progress, struct gtu_error *err);

/*
 * Jobs 0 to @n - 1, begun in this order: results go where the caller finds them by number, so that a report does
 * not depend on who was first. @what is shown to @progress with the jobs that are done. The first failure ends
 * all, and is the answer.
 */
int lab_jobs(unsigned n, const char *what, lab_job *job, void *ctx, const struct gtu_progress *progress,
	     struct gtu_error *err);

#endif
