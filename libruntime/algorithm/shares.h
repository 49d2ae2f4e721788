/* SPDX-License-Identifier: MIT */
/*
 * Plain code on all CPUs: gtu_parallel_by() gives out the shares, this keeps what a thread needs for one, and counts
 * edges for the one thread that may call the user back.
 */
#ifndef GTU_ALGORITHM_SHARES_H
#define GTU_ALGORITHM_SHARES_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "common.h"
#include "libruntime/support/parallel.h"

/* What a thread works with; grows with what it meets, zeroed where it is new. */
struct gtu_alg_scratch {
	atomic_flag taken;
	void *memory[2];
	uint64_t bytes[2];
	atomic_bool *starved;		/* memory was asked for that there was not */
};

struct gtu_alg_shares {
	struct gtu_alg *a;
	pthread_t caller;
	atomic_uint_fast64_t edges;	/* of other threads, not yet counted */
	atomic_bool starved;
	struct gtu_alg_scratch scratch[GTU_THREADS_MOST];
};

static inline void gtu_alg_shares_begin(struct gtu_alg_shares *s, struct gtu_alg *a)
{
	unsigned i;

	s->a = a;
	s->caller = pthread_self();
	atomic_init(&s->edges, 0);
	atomic_init(&s->starved, false);
	for (i = 0; i < GTU_THREADS_MOST; i++) {
		atomic_flag_clear(&s->scratch[i].taken);
		s->scratch[i].starved = &s->starved;
	}
}

/* Count what is left, free what threads had; a thread that found no memory has said nothing yet. */
static inline int gtu_alg_shares_end(struct gtu_alg_shares *s, int rc)
{
	unsigned i;

	s->a->stats->edges += atomic_exchange(&s->edges, 0);
	for (i = 0; i < GTU_THREADS_MOST; i++) {
		free(s->scratch[i].memory[0]);
		free(s->scratch[i].memory[1]);
	}
	return rc == GTU_ERR_NOMEM && atomic_load(&s->starved) ?
		       gtu_fail(s->a->err, rc, "%s: no memory for a table of one vertex' neighbours", s->a->name) : rc;
}

/* There are no more threads than places: one is free, or about to be. */
static inline struct gtu_alg_scratch *gtu_alg_scratch_take(struct gtu_alg_shares *s)
{
	unsigned i;

	for (i = 0;; i = (i + 1) % GTU_THREADS_MOST)
		if (!atomic_flag_test_and_set(&s->scratch[i].taken))
			return &s->scratch[i];
}

static inline void gtu_alg_scratch_give(struct gtu_alg_scratch *c)
{
	atomic_flag_clear(&c->taken);
}

/* Memory @which (0 or 1) of at least @bytes, its content lost where it grows; NULL: there is none. */
static inline void *gtu_alg_scratch_room(struct gtu_alg_scratch *c, unsigned which, uint64_t bytes)
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

/* A share has gone along @edges more. Only the caller's thread looks at the clock and calls the user. */
static inline int gtu_alg_shares_progress(struct gtu_alg_shares *s, uint64_t edges)
{
	if (!pthread_equal(pthread_self(), s->caller)) {
		atomic_fetch_add_explicit(&s->edges, edges, memory_order_relaxed);
		return 0;
	}
	return gtu_alg_progress(s->a, edges + atomic_exchange_explicit(&s->edges, 0, memory_order_relaxed));
}

/* The same where no edges are to be counted. */
static inline int gtu_alg_shares_look(struct gtu_alg_shares *s)
{
	return pthread_equal(pthread_self(), s->caller) ? gtu_alg_look(s->a) : 0;
}

#endif
