// SPDX-License-Identifier: MIT
/* Parallel loops over shares of a range. */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "parallel.h"

struct work {
	int (*fn)(void *arg, uint64_t first, uint64_t end);
	void *arg;
	uint64_t count, share;
	atomic_uint_fast64_t next;
	atomic_int rc;
};

static void *take_shares(void *arg)
{
	struct work *w = arg;
	const uint64_t share = w->share;
	uint64_t first;
	int rc, none = 0;

	while (!atomic_load(&w->rc)) {
		first = atomic_fetch_add(&w->next, share);
		if (first >= w->count)
			break;
		rc = w->fn(w->arg, first, w->count - first < share ? w->count : first + share);
		if (rc)
			atomic_compare_exchange_strong(&w->rc, &none, rc);
	}
	return NULL;
}

int gtu_parallel_by(uint64_t share, int (*fn)(void *arg, uint64_t first, uint64_t end), void *arg, uint64_t count)
{
	struct work w = { .fn = fn, .arg = arg, .count = count, .share = share };
	long cpus = sysconf(_SC_NPROCESSORS_ONLN), i, started = 0;
	uint64_t shares = count / share + !!(count % share);
	pthread_t thread[GTU_THREADS_MAX];

	if (cpus > GTU_THREADS_MAX)
		cpus = GTU_THREADS_MAX;
	if (cpus > (long)(shares < GTU_THREADS_MAX ? shares : GTU_THREADS_MAX))
		cpus = (long)shares;
	/* a failed pthread_create() only costs time */
	for (i = 1; i < cpus; i++)
		if (!pthread_create(&thread[started], NULL, take_shares, &w))
			started++;
	take_shares(&w);
	for (i = 0; i < started; i++)
		pthread_join(thread[i], NULL);
	return atomic_load(&w.rc);
}

int gtu_parallel(int (*fn)(void *arg, uint64_t first, uint64_t end), void *arg, uint64_t count)
{
	return gtu_parallel_by(1ull << GTU_SHARE_LOG2, fn, arg, count);
}
