// SPDX-License-Identifier: MIT
/* Parallel loops over shares of a range. */
#include <sched.h>
#include <unistd.h>

#include "parallel.h"

#define POLLS	2000		/* polls before a thread yields: tens of microseconds */
#define YIELDS	1000		/* yields before it sleeps: some hundred microseconds on an idle CPU */
#define OWN_FROM 4u		/* shares per thread from which on each has a part of the loop */

static inline void pause_cpu(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

bool gtu_wait_awake(unsigned i)
{
	if (i < POLLS)
		pause_cpu();
	else
		sched_yield();
	return i < POLLS + YIELDS;
}

unsigned gtu_cpus(void)
{
	cpu_set_t set;
	long cpus;

	/* the mask of a machine with more CPUs than cpu_set_t has bits cannot be read this way */
	cpus = sched_getaffinity(0, sizeof(set), &set) ? sysconf(_SC_NPROCESSORS_ONLN) : CPU_COUNT(&set);
	return cpus < 1 ? 1 : cpus > GTU_THREADS_MAX ? GTU_THREADS_MAX : (unsigned)cpus;
}

/* The first share of part @i of the current loop. */
static uint64_t part_begins(const struct gtu_team *t, unsigned i)
{
	return t->shares * i / t->parts;
}

/* Do the shares of part @i that @thread can take. */
static void take_part(struct gtu_team *t, unsigned thread, unsigned i)
{
	atomic_uint_fast64_t *of_part = &t->part[i].left;
	uint64_t first, share, shares, left;
	int rc, none;

	for (;;) {
		left = atomic_load_explicit(of_part, memory_order_relaxed);
		do {
			if (!left)
				return;
		} while (!atomic_compare_exchange_weak(of_part, &left, left - 1));
		/* only now are the fields of the loop constant: the caller waits for this share */
		share = t->share;
		shares = t->shares;
		first = (part_begins(t, i + 1) - left) * share;
		rc = atomic_load_explicit(&t->rc, memory_order_relaxed) ? 0 :
		     t->fn(t->arg, thread, first, t->count - first < share ? t->count : first + share);
		none = 0;
		if (rc)
			atomic_compare_exchange_strong(&t->rc, &none, rc);
		if (atomic_fetch_add(&t->finished, 1) + 1 == shares && atomic_load(&t->waiting)) {
			pthread_mutex_lock(&t->lock);
			pthread_cond_signal(&t->done);
			pthread_mutex_unlock(&t->lock);
		}
	}
}

/* Do the shares that @thread can take: those of its own part first. */
static void take_shares(struct gtu_team *t, unsigned thread)
{
	unsigned i;

	take_part(t, thread, thread);
	for (i = 0; i < t->threads; i++)
		take_part(t, thread, i);
}

/* Return when more loops than @seen have begun, or at the end. */
static void wait_for_work(struct gtu_team *t, unsigned seen)
{
	unsigned i;

	for (i = 0; gtu_wait_awake(i); i++)
		if (atomic_load_explicit(&t->loops, memory_order_relaxed) != seen || atomic_load(&t->stop))
			return;
	pthread_mutex_lock(&t->lock);
	atomic_fetch_add(&t->asleep, 1);
	while (atomic_load(&t->loops) == seen && !atomic_load(&t->stop))
		pthread_cond_wait(&t->work, &t->lock);
	atomic_fetch_sub(&t->asleep, 1);
	pthread_mutex_unlock(&t->lock);
}

static void start_threads(struct gtu_team *t, unsigned parent);

static void *work(void *arg)
{
	struct gtu_team_thread *self = arg;
	struct gtu_team *t = self->team;
	unsigned seen;

	start_threads(t, (unsigned)(self - t->thread));
	while (!atomic_load(&t->stop)) {
		seen = atomic_load(&t->loops);
		take_shares(t, (unsigned)(self - t->thread));
		wait_for_work(t, seen);
	}
	return NULL;
}

/*
 * Start the two threads below @parent in a binary tree: the caller alone would need longer than a
 * short loop takes. A failed pthread_create() only costs time.
 */
static void start_threads(struct gtu_team *t, unsigned parent)
{
	unsigned i;

	for (i = 2 * parent + 1; i <= 2 * parent + 2 && i < t->threads; i++) {
		t->thread[i].team = t;
		t->thread[i].exists = !pthread_create(&t->thread[i].id, NULL, work, &t->thread[i]);
	}
}

/* Wake the threads that sleep. Those that poll see the change without help. */
static void wake(struct gtu_team *t)
{
	if (!atomic_load(&t->asleep))
		return;
	pthread_mutex_lock(&t->lock);
	pthread_cond_broadcast(&t->work);
	pthread_mutex_unlock(&t->lock);
}

static void wait_until_done(struct gtu_team *t)
{
	unsigned i;

	if (atomic_load(&t->finished) == t->shares)
		return;
	for (i = 0; gtu_wait_awake(i); i++)
		if (atomic_load(&t->finished) == t->shares)
			return;
	pthread_mutex_lock(&t->lock);
	atomic_store(&t->waiting, true);
	while (atomic_load(&t->finished) != t->shares)
		pthread_cond_wait(&t->done, &t->lock);
	atomic_store(&t->waiting, false);
	pthread_mutex_unlock(&t->lock);
}

void gtu_team_begin(struct gtu_team *t, unsigned threads)
{
	unsigned i;

	pthread_mutex_init(&t->lock, NULL);
	pthread_cond_init(&t->work, NULL);
	pthread_cond_init(&t->done, NULL);
	atomic_init(&t->loops, 0);
	atomic_init(&t->finished, 0);
	atomic_init(&t->rc, 0);
	atomic_init(&t->asleep, 0);
	atomic_init(&t->waiting, false);
	atomic_init(&t->stop, false);
	t->threads = threads ? threads : 1;
	t->parts = 0;
	for (i = 0; i < t->threads; i++) {
		t->thread[i].exists = false;
		atomic_init(&t->part[i].left, 0);
	}
	start_threads(t, 0);
}

int gtu_team_loop(struct gtu_team *t, uint64_t share, gtu_team_fn *fn, void *arg, uint64_t count)
{
	unsigned i;

	if (count <= share || t->threads == 1) {
		uint64_t first;
		int rc = 0;

		for (first = 0; first < count && !rc; first += share)
			rc = fn(arg, 0, first, count - first < share ? count : first + share);
		return rc;
	}
	t->fn = fn;
	t->arg = arg;
	t->count = count;
	t->share = share;
	t->shares = count / share + !!(count % share);
	t->parts = t->shares / t->threads < OWN_FROM ? 1 : t->threads;
	atomic_store(&t->rc, 0);
	atomic_store(&t->finished, 0);
	for (i = 0; i < t->parts; i++)
		atomic_store_explicit(&t->part[i].left, part_begins(t, i + 1) - part_begins(t, i), memory_order_release);
	atomic_fetch_add(&t->loops, 1);
	wake(t);
	take_shares(t, 0);
	wait_until_done(t);
	return atomic_load(&t->rc);
}

void gtu_team_end(struct gtu_team *t)
{
	unsigned i;

	atomic_store(&t->stop, true);
	wake(t);
	/* a thread has started those below it when it ends */
	for (i = 1; i < t->threads; i++)
		if (t->thread[i].exists)
			pthread_join(t->thread[i].id, NULL);
	pthread_cond_destroy(&t->done);
	pthread_cond_destroy(&t->work);
	pthread_mutex_destroy(&t->lock);
}

/* ---- Functions without the thread's number ---------------------------------------------------------- */

struct plain_fn {
	int (*fn)(void *arg, uint64_t first, uint64_t end);
	void *arg;
};

static int call(void *arg, unsigned thread, uint64_t first, uint64_t end)
{
	const struct plain_fn *l = arg;

	(void)thread;
	return l->fn(l->arg, first, end);
}

int gtu_team_parallel(struct gtu_team *t, uint64_t share, int (*fn)(void *arg, uint64_t first, uint64_t end), void *arg,
		      uint64_t count)
{
	struct plain_fn l = { fn, arg };

	return gtu_team_loop(t, share, call, &l, count);
}

int gtu_parallel_by(uint64_t share, int (*fn)(void *arg, uint64_t first, uint64_t end), void *arg, uint64_t count)
{
	const uint64_t shares = count / share + !!(count % share), cpus = gtu_cpus();
	struct gtu_team t;
	int rc;

	gtu_team_begin(&t, (unsigned)(shares < cpus ? shares : cpus));
	rc = gtu_team_parallel(&t, share, fn, arg, count);
	gtu_team_end(&t);
	return rc;
}

int gtu_parallel(int (*fn)(void *arg, uint64_t first, uint64_t end), void *arg, uint64_t count)
{
	return gtu_parallel_by(1ull << GTU_SHARE_LOG2, fn, arg, count);
}
