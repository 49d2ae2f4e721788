/* SPDX-License-Identifier: MIT */
/* Runs independent simulations on all CPUs. */
#ifndef GTU_LAB_JOBS_H
#define GTU_LAB_JOBS_H

#include "gtu/error.h"

/*
 * Job @i of lab_jobs(): runs on any thread, in parallel with others, and changes only its own data.
 * It passes @progress to lab_run() and all long operations, so that an interrupt ends it.
 */
typedef int lab_job(void *ctx, unsigned i, const struct gtu_progress *progress, struct gtu_error *err);

/*
 * Run jobs 0 to @n - 1, started in this order. Results are indexed by job number, so that a report
 * is deterministic. @what is shown to @progress with the number of completed jobs. The first
 * failure stops all jobs and is returned.
 */
int lab_jobs(unsigned n, const char *what, lab_job *job, void *ctx, const struct gtu_progress *progress,
	     struct gtu_error *err);

#endif
