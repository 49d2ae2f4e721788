// SPDX-License-Identifier: MIT
/* Runs independent simulations on all CPUs. */
#include "lab_jobs.h"

#include <pthread.h>
#include <stdatomic.h>

#include "libruntime/support/parallel.h"

struct jobs {
	const char *what;
	lab_job *job;
	void *ctx;
	unsigned n, done;
	const struct gtu_progress *progress;
	struct gtu_error *err;
	pthread_mutex_t lock;		/* protects @done, @err, @progress */
	atomic_int rc;
};

/* Progress of a job: polls for interruption; the progress bar counts jobs. */
static int tick(void *user, const char *what, uint64_t done, uint64_t total)
{
	struct jobs *j = user;
	int rc = 0;

	(void)what, (void)done, (void)total;
	if (!atomic_load(&j->rc) && !pthread_mutex_trylock(&j->lock)) {
		rc = gtu_tick(j->progress, j->what, j->done, j->n);
		pthread_mutex_unlock(&j->lock);
	}
	return rc ? rc : atomic_load(&j->rc) != 0;
}

static int take(void *arg, uint64_t first, uint64_t end)
{
	struct jobs *j = arg;
	const struct gtu_progress progress = { tick, j };
	struct gtu_error err = { 0 };
	int rc = j->job(j->ctx, (unsigned)first, &progress, &err);

	(void)end;
	pthread_mutex_lock(&j->lock);
	j->done++;
	if (rc && !atomic_load(&j->rc)) {
		*j->err = err;
		atomic_store(&j->rc, rc);
	}
	pthread_mutex_unlock(&j->lock);
	return rc;
}

int lab_jobs(unsigned n, const char *what, lab_job *job, void *ctx, const struct gtu_progress *progress,
	     struct gtu_error *err)
{
	struct jobs j = { .what = what, .job = job, .ctx = ctx, .n = n, .progress = progress, .err = err,
			  .lock = PTHREAD_MUTEX_INITIALIZER };

	gtu_parallel_by(1, take, &j, n);
	return atomic_load(&j.rc);
}
