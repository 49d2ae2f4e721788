// SPDX-License-Identifier: MIT
/* Teams of threads: every element once, errors, many short loops, more threads than CPUs. */
#include <stdlib.h>
#include <unistd.h>

#include "libruntime/support/parallel.h"
#include "tests/unit/test.h"

#define N 10000u

static atomic_uint seen[N];
static atomic_uint thread_mask, entered;

static int see(void *arg, unsigned thread, uint64_t first, uint64_t end)
{
	const struct gtu_team *t = arg;

	if (thread >= t->threads || first >= end || end > N)
		return -1;
	for (; first < end; first++)
		atomic_fetch_add(&seen[first], 1);
	return 0;
}

/* Wait, at most a minute, until every thread has a share. */
static int meet(void *arg, unsigned thread, uint64_t first, uint64_t end)
{
	const struct gtu_team *t = arg;

	if (thread >= t->threads || end != first + 1)
		return -1;
	atomic_fetch_or(&thread_mask, 1u << thread);
	atomic_fetch_add(&entered, 1);
	for (unsigned i = 0; i < 60000 && atomic_load(&entered) < t->threads; i++)
		usleep(1000);
	return atomic_load(&entered) == t->threads ? 0 : -1;
}

static int fail_at_77(void *arg, unsigned thread, uint64_t first, uint64_t end)
{
	(void)arg;
	(void)thread;
	return first <= 77 && 77 < end ? -42 : 0;
}

static void each_once(struct gtu_team *t, uint64_t share, uint64_t count)
{
	uint64_t i;

	for (i = 0; i < N; i++)
		atomic_store(&seen[i], 0);
	CHECK_EQ(gtu_team_loop(t, share, see, t, count), 0);
	for (i = 0; i < N; i++)
		CHECK_EQ(atomic_load(&seen[i]), i < count);
}

TEST(every_element_is_visited_once)
{
	static const unsigned threads[] = { 0, 1, 2, 3, 7, GTU_THREADS_MAX };
	struct gtu_team t;

	for (unsigned i = 0; i < 6; i++) {
		gtu_team_begin(&t, threads[i]);
		CHECK_EQ(t.threads, threads[i] ? threads[i] : 1);
		for (uint64_t share = 1; share <= 2 * N; share *= 10) {
			each_once(&t, share, N);
			each_once(&t, share, N - 1);
			each_once(&t, share, 1);
			each_once(&t, share, 0);
		}
		gtu_team_end(&t);
	}
}

TEST(all_threads_run_at_the_same_time)
{
	struct gtu_team t;

	gtu_team_begin(&t, 7);
	for (unsigned i = 0; i < 20; i++) {
		atomic_store(&thread_mask, 0);
		atomic_store(&entered, 0);
		CHECK_EQ(gtu_team_loop(&t, 1, meet, &t, t.threads), 0);
		CHECK_EQ(atomic_load(&thread_mask), (1 << 7) - 1);
	}
	gtu_team_end(&t);
}

TEST(short_loops_take_no_share_of_an_earlier_loop)
{
	struct gtu_team t;

	gtu_team_begin(&t, 4);
	for (unsigned i = 0; i < 3000; i++) {
		const uint64_t count = 1 + i % 64;

		for (uint64_t k = 0; k < 64; k++)
			atomic_store(&seen[k], 0);
		CHECK_EQ(gtu_team_loop(&t, 1 + i % 3, see, &t, count), 0);
		for (uint64_t k = 0; k < 64; k++)
			CHECK_EQ(atomic_load(&seen[k]), k < count);
	}
	gtu_team_end(&t);
}

TEST(a_loop_returns_the_error_of_an_element)
{
	struct gtu_team t;

	gtu_team_begin(&t, 3);
	for (unsigned i = 0; i < 100; i++) {
		CHECK_EQ(gtu_team_loop(&t, 10, fail_at_77, NULL, 1000), -42);
		CHECK_EQ(gtu_team_loop(&t, 10, fail_at_77, NULL, 70), 0);
	}
	gtu_team_end(&t);
	CHECK(gtu_cpus() >= 1 && gtu_cpus() <= GTU_THREADS_MAX);
}

TEST_MAIN
