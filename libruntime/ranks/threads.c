// SPDX-License-Identifier: MIT
/* Threads of one process as ranks: each publishes its data, and copies what it needs of the others'. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "exchange.h"
#include "libruntime/support/parallel.h"

#define SMALL 16			/* values that a reduction copies */

struct published {
	const void *data;
	uint64_t value[2][SMALL];	/* of two reductions in turn */
	const void *const *send;
};

struct gtu_thread_ranks {
	uint32_t size;
	pthread_mutex_t lock;
	pthread_cond_t arrival;
	bool polls;			/* there is a CPU for each rank: poll before sleeping */
	atomic_uint_fast64_t barriers;	/* passed by all ranks; changes under the lock */
	uint32_t arrived;
	atomic_bool aborted;
	uint32_t culprit;
	char why[GTU_ERROR_TEXT];
	struct published *of;
	struct thread_rank {
		struct gtu_thread_ranks *group;
		uint32_t rank;
		unsigned turn;		/* of value[] */
		/* the exchange under way: */
		void *const *receive;
		const uint64_t *receive_bytes;
		bool copied;
		uint64_t number;	/* of the barrier that it has arrived at */
	} *rank;
};

/* Arrive at the barrier without waiting; the number of the barrier, for await(). */
static uint64_t arrive(struct gtu_thread_ranks *t)
{
	uint64_t number;

	pthread_mutex_lock(&t->lock);
	number = t->barriers;
	if (++t->arrived == t->size && !t->aborted) {
		t->arrived = 0;
		t->barriers++;
		pthread_cond_broadcast(&t->arrival);
	}
	pthread_mutex_unlock(&t->lock);
	return number;
}

/* 1: all ranks have arrived at barrier @number; 0: not yet, without @wait. */
static int await(struct gtu_thread_ranks *t, uint64_t number, bool wait, struct gtu_error *err)
{
	bool passed, aborted;
	unsigned i;

	for (i = 0; wait && t->polls && atomic_load(&t->barriers) == number && !atomic_load(&t->aborted); i++)
		if (!gtu_wait_awake(i))
			break;
	pthread_mutex_lock(&t->lock);
	while (wait && t->barriers == number && !t->aborted)
		pthread_cond_wait(&t->arrival, &t->lock);
	passed = t->barriers != number;
	aborted = t->aborted;
	pthread_mutex_unlock(&t->lock);
	if (passed || !aborted)
		return passed;
	return gtu_fail(err, GTU_ERR_FAIL, "rank %u of %u ended the run: %.400s", t->culprit, t->size, t->why);
}

static int barrier(void *context, struct gtu_error *err)
{
	const struct thread_rank *self = context;
	int rc = await(self->group, arrive(self->group), true, err);

	return rc < 0 ? rc : 0;
}

static void end_group(void *context, const char *why)
{
	const struct thread_rank *self = context;
	struct gtu_thread_ranks *t = self->group;

	pthread_mutex_lock(&t->lock);
	if (!t->aborted) {
		t->aborted = true;
		t->culprit = self->rank;
		strncpy(t->why, why, sizeof(t->why) - 1);
	}
	pthread_cond_broadcast(&t->arrival);
	pthread_mutex_unlock(&t->lock);
}

static int broadcast(void *context, uint32_t root, void *data, uint64_t bytes, struct gtu_error *err)
{
	const struct thread_rank *self = context;
	struct gtu_thread_ranks *t = self->group;
	int rc;

	t->of[self->rank].data = data;
	rc = barrier(context, err);
	if (!rc && self->rank != root)
		memcpy(data, t->of[root].data, bytes);
	return rc ? rc : barrier(context, err);
}

static int all_gather(void *context, const void *mine, uint64_t bytes, void *all, struct gtu_error *err)
{
	const struct thread_rank *self = context;
	struct gtu_thread_ranks *t = self->group;
	uint32_t i;
	int rc;

	t->of[self->rank].data = mine;
	rc = barrier(context, err);
	for (i = 0; !rc && i < t->size; i++)
		memcpy((char *)all + i * bytes, t->of[i].data, bytes);
	return rc ? rc : barrier(context, err);
}

static int start_all_to_all_v(void *context, const void *const *send, const uint64_t *send_bytes, void *const *receive,
			      const uint64_t *receive_bytes, struct gtu_error *err)
{
	struct thread_rank *self = context;
	struct gtu_thread_ranks *t = self->group;

	(void)send_bytes, (void)err;
	t->of[self->rank].send = send;
	self->receive = receive;
	self->receive_bytes = receive_bytes;
	self->copied = false;
	self->number = arrive(t);
	return 0;
}

/* First all ranks have started, and this one copies what they send; then all have copied. */
static int finish_all_to_all_v(void *context, int wait, struct gtu_error *err)
{
	struct thread_rank *self = context;
	struct gtu_thread_ranks *t = self->group;
	uint32_t i;
	int rc = await(t, self->number, wait, err);

	if (rc < 1 || self->copied)
		return rc;
	for (i = 0; i < t->size; i++)
		if (self->receive_bytes[i])
			memcpy(self->receive[i], t->of[i].send[self->rank], self->receive_bytes[i]);
	self->copied = true;
	self->number = arrive(t);
	return await(t, self->number, wait, err);
}

static int all_to_all_v(void *context, const void *const *send, const uint64_t *send_bytes, void *const *receive,
			const uint64_t *receive_bytes, struct gtu_error *err)
{
	int rc = start_all_to_all_v(context, send, send_bytes, receive, receive_bytes, err);

	rc = rc ? rc : finish_all_to_all_v(context, 1, err);
	return rc < 0 ? rc : 0;
}

static void combine(enum gtu_reduction how, void *into, const void *values, uint64_t count)
{
	const uint64_t *integer = values;
	const double *real = values;
	uint64_t *sum = into, i;
	double *total = into;

	for (i = 0; i < count; i++)
		switch (how) {
		case GTU_SUM_U64: sum[i] += integer[i]; break;
		case GTU_MIN_U64: sum[i] = integer[i] < sum[i] ? integer[i] : sum[i]; break;
		case GTU_MAX_U64: sum[i] = integer[i] > sum[i] ? integer[i] : sum[i]; break;
		case GTU_SUM_F64: total[i] += real[i]; break;
		case GTU_MAX_F64: total[i] = real[i] > total[i] ? real[i] : total[i]; break;
		}
}

/*
 * Reduce few values with one barrier: they are copies, so no rank needs to wait until the others have read
 * its own. The copies of the reduction before stay, which others may still read.
 */
static int reduce_few(struct thread_rank *self, enum gtu_reduction how, void *values, uint64_t count,
		      struct gtu_error *err)
{
	struct gtu_thread_ranks *t = self->group;
	const unsigned turn = self->turn ^= 1;
	uint32_t i;
	int rc;

	memcpy(t->of[self->rank].value[turn], values, count * 8);
	rc = barrier(self, err);
	if (rc)
		return rc;
	memcpy(values, t->of[0].value[turn], count * 8);
	for (i = 1; i < t->size; i++)
		combine(how, values, t->of[i].value[turn], count);
	return 0;
}

static int all_reduce(void *context, enum gtu_reduction how, void *values, uint64_t count, struct gtu_error *err)
{
	struct thread_rank *self = context;
	struct gtu_thread_ranks *t = self->group;
	uint64_t *result;
	uint32_t i;
	int rc;

	if (count <= SMALL)
		return reduce_few(self, how, values, count, err);
	result = malloc(count * sizeof(*result));
	if (!result)
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for %llu values", (unsigned long long)count);
	t->of[self->rank].data = values;
	rc = barrier(context, err);
	if (!rc)
		memcpy(result, t->of[0].data, count * sizeof(*result));
	for (i = 1; !rc && i < t->size; i++)
		combine(how, result, t->of[i].data, count);
	if (!rc)
		rc = barrier(context, err);
	if (!rc)
		memcpy(values, result, count * sizeof(*result));
	free(result);
	return rc;
}

struct gtu_thread_ranks *gtu_thread_ranks_create(uint32_t size, struct gtu_error *err)
{
	struct gtu_thread_ranks *t = calloc(1, sizeof(*t));
	uint32_t i;

	if (t) {
		pthread_mutex_init(&t->lock, NULL);
		pthread_cond_init(&t->arrival, NULL);
		t->size = size;
		t->polls = size <= gtu_cpus();
		t->of = calloc(size, sizeof(*t->of));
		t->rank = calloc(size, sizeof(*t->rank));
	}
	if (!t || !t->of || !t->rank) {
		gtu_thread_ranks_destroy(t);
		gtu_fail(err, GTU_ERR_NOMEM, "out of memory for %u ranks", size);
		return NULL;
	}
	for (i = 0; i < size; i++)
		t->rank[i] = (struct thread_rank){ .group = t, .rank = i };
	return t;
}

void gtu_thread_ranks_destroy(struct gtu_thread_ranks *t)
{
	if (!t)
		return;
	pthread_mutex_destroy(&t->lock);
	pthread_cond_destroy(&t->arrival);
	free(t->of);
	free(t->rank);
	free(t);
}

void gtu_thread_ranks_of(struct gtu_thread_ranks *t, uint32_t rank, struct gtu_ranks *ranks)
{
	*ranks = (struct gtu_ranks){
		.bytes = sizeof(*ranks), .rank = rank, .size = t->size, .context = &t->rank[rank], .broadcast = broadcast,
		.all_gather = all_gather, .all_to_all_v = all_to_all_v, .all_reduce = all_reduce, .barrier = barrier,
		.abort = end_group, .start_all_to_all_v = start_all_to_all_v,
		.finish_all_to_all_v = finish_all_to_all_v,
	};
}
