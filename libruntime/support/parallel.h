/* SPDX-License-Identifier: MIT */
/* Parallel loops over shares of a range. */
#ifndef GTU_PARALLEL_H
#define GTU_PARALLEL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define GTU_SHARE_LOG2	20		/* log2 of the elements per share */
#define GTU_THREADS_MAX 64		/* maximum threads per call, including the caller */

/*
 * Call fn(arg, first, end) for each share of [0, count) on all CPUs. Each share except the last has
 * 2^GTU_SHARE_LOG2 elements. The first non-zero return stops the loop and is returned.
 */
int gtu_parallel(int (*fn)(void *arg, uint64_t first, uint64_t end), void *arg, uint64_t count);
/* The same with shares of @share elements (above 0). */
int gtu_parallel_by(uint64_t share, int (*fn)(void *arg, uint64_t first, uint64_t end), void *arg, uint64_t count);

/* @thread: 0 is the caller, the others count from 1. */
typedef int gtu_team_fn(void *arg, unsigned thread, uint64_t first, uint64_t end);

/*
 * Threads for many short loops. They poll for some microseconds after each loop, then yield, then sleep. A
 * loop ends when its shares are done: it does not wait for a thread that the kernel has not
 * scheduled and that holds no share. A loop with enough shares gives each thread its own part, from
 * which others take when they have finished theirs: in the next loop over the same arrays, a thread
 * finds most of its part in its CPU's caches.
 */
struct gtu_team {
	unsigned threads;		/* including the caller and those that could not be started */
	struct gtu_team_thread {
		struct gtu_team *team;
		pthread_t id;
		bool exists;
	} thread[GTU_THREADS_MAX];
	pthread_mutex_t lock;
	pthread_cond_t work, done;
	/* the current loop; constant while a thread holds a share */
	gtu_team_fn *fn;
	void *arg;
	uint64_t count, share, shares;
	unsigned parts;			/* `threads`, or 1: thread 0's, for all */
	struct gtu_team_part {
		_Alignas(64) atomic_uint_fast64_t left; /* shares that no thread has taken */
	} part[GTU_THREADS_MAX];
	_Alignas(64) atomic_uint loops;	/* begun so far */
	_Alignas(64) atomic_uint_fast64_t finished;	/* shares */
	atomic_int rc;
	atomic_uint asleep;		/* threads in pthread_cond_wait(work) */
	atomic_bool waiting;		/* the caller is in pthread_cond_wait(done) */
	atomic_bool stop;
};

/*
 * Wait a little for the @i-th time; false: sleep instead. Waking a sleeping thread takes longer than a short
 * loop; a thread that yields leaves its CPU to others.
 */
bool gtu_wait_awake(unsigned i);
/* CPUs that this thread may run on (as set by taskset, cgroups), at most GTU_THREADS_MAX. */
unsigned gtu_cpus(void);
/* Start @threads - 1 threads (fewer if the system refuses). Always call gtu_team_end(). */
void gtu_team_begin(struct gtu_team *t, unsigned threads);
/* As gtu_parallel_by(), by the team. One share runs in the caller alone. */
int gtu_team_loop(struct gtu_team *t, uint64_t share, gtu_team_fn *fn, void *arg, uint64_t count);
/* The same for a function that does not need the thread's number. */
int gtu_team_parallel(struct gtu_team *t, uint64_t share, int (*fn)(void *arg, uint64_t first, uint64_t end), void *arg,
		      uint64_t count);
void gtu_team_end(struct gtu_team *t);

/* Within a loop of several threads: whether all shares have been taken. */
static inline bool gtu_team_is_out_of_work(struct gtu_team *t)
{
	unsigned i;

	for (i = 0; i < t->parts; i++)
		if (atomic_load_explicit(&t->part[i].left, memory_order_relaxed))
			return false;
	return t->threads > 1;
}

#endif
