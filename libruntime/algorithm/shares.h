/* SPDX-License-Identifier: MIT */
/*
 * Parallel CPU code of the algorithms. gtu_parallel_by() distributes the shares; this header keeps
 * per-thread scratch memory, and counts edges on behalf of the one thread that may call the
 * progress callback.
 */
#ifndef GTU_ALGORITHM_SHARES_H
#define GTU_ALGORITHM_SHARES_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "common.h"
#include "libruntime/support/parallel.h"

/* Scratch memory of a thread; grows on demand, new memory is zeroed. */
struct gtu_alg_scratch {
	atomic_flag taken;
	void *memory[2];
	uint64_t bytes[2];
	atomic_bool *starved;		/* set when an allocation fails */
};

struct gtu_alg_shares {
	struct gtu_alg *a;
	pthread_t caller;
	atomic_uint_fast64_t edges;	/* edges of other threads, not yet counted */
	atomic_bool starved;
	struct gtu_alg_scratch scratch[GTU_THREADS_MAX];
};

static inline void gtu_alg_shares_begin(struct gtu_alg_shares *s, struct gtu_alg *a)
{
	unsigned i;

	s->a = a;
	s->caller = pthread_self();
	atomic_init(&s->edges, 0);
	atomic_init(&s->starved, false);
	for (i = 0; i < GTU_THREADS_MAX; i++) {
		atomic_flag_clear(&s->scratch[i].taken);
		s->scratch[i].starved = &s->starved;
	}
}

/*
 * Add the remaining edges, free scratch memory, and report a failed allocation, which threads do
 * not.
 */
static inline int gtu_alg_shares_end(struct gtu_alg_shares *s, int rc)
{
	unsigned i;

	s->a->stats->edges += atomic_exchange(&s->edges, 0);
	for (i = 0; i < GTU_THREADS_MAX; i++) {
		free(s->scratch[i].memory[0]);
		free(s->scratch[i].memory[1]);
	}
	return rc == GTU_ERR_NOMEM && atomic_load(&s->starved) ?
		       gtu_fail(s->a->err, rc, "%s: out of memory for a table of one vertex' "
				"neighbours", s->a->name) : rc;
}

/* Take a free scratch slot. There are as many slots as threads, so one is or becomes free. */
static inline struct gtu_alg_scratch *gtu_alg_scratch_acquire(struct gtu_alg_shares *s)
{
	unsigned i;

	for (i = 0;; i = (i + 1) % GTU_THREADS_MAX)
		if (!atomic_flag_test_and_set(&s->scratch[i].taken))
			return &s->scratch[i];
}

static inline void gtu_alg_scratch_release(struct gtu_alg_scratch *c)
{
	atomic_flag_clear(&c->taken);
}

/*
 * Memory @which (0 or 1) of at least @bytes; its content is lost if it grows. NULL: out of memory.
 */
static inline void *gtu_alg_scratch_reserve(struct gtu_alg_scratch *c, unsigned which, uint64_t bytes)
{
	if (bytes <= c->bytes[which])
		return c->memory[which];
	free(c->memory[which]);
	c->memory[which] = calloc(1, bytes + bytes / 2);
	c->bytes[which] = c->memory[which] ? bytes + bytes / 2 : 0;
	if (!c->memory[which])
		atomic_store(c->starved, true);
	return c->memory[which];
}

/*
 * Add @edges of a share. Only the caller's thread reads the clock and calls the progress callback.
 */
static inline int gtu_alg_shares_progress(struct gtu_alg_shares *s, uint64_t edges)
{
	if (!pthread_equal(pthread_self(), s->caller)) {
		atomic_fetch_add_explicit(&s->edges, edges, memory_order_relaxed);
		return 0;
	}
	return gtu_alg_progress(s->a, edges + atomic_exchange_explicit(&s->edges, 0, memory_order_relaxed));
}

/* The same without edges to count. */
static inline int gtu_alg_shares_poll(struct gtu_alg_shares *s)
{
	return pthread_equal(pthread_self(), s->caller) ? gtu_alg_poll_progress(s->a) : 0;
}

#endif
