// SPDX-License-Identifier: MIT
/*
 * Tests concurrent creation and removal of regions, queues, contexts, mappings and processes while
 * jobs run, also with signals.
 *
 * Freed memory is never accessed again, other memory stays intact, and nothing leaks.
 * GTU_ROUNDS scales the number of repetitions [12].
 */
#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>

#include "gtu_trust.h"

#define WORDS		32768u
#define BYTES		(WORDS * 4)
#define RECORDS		2048u
#define RING_BYTES	(64 + (size_t)RECORDS * GTU_WARP_BYTES(1, 0))
#define FREED		0xee

/* The operands that jobs use; each one is removed in turn. */
enum { COPY_FROM, COPY_TO, SCU_DATA, SCU_INDEX, SCU_MASK, SCU_OUT, IRU_INDICES, IRU_RING, VICTIMS };

struct worker {
	int fd, error;
	unsigned int rounds, done, revoked, line;
	uint64_t seed;
	pthread_t thread;
};

/* For worker threads: record the first failure and end the thread. */
#define MUST(w, condition)                                                                         \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			(w)->line = __LINE__;                                                      \
			(w)->error = errno;                                                        \
			return NULL;                                                               \
		}                                                                                  \
	} while (0)

#define JOIN(w, n)                                                                                 \
	do {                                                                                       \
		unsigned int w_;                                                                   \
                                                                                                   \
		for (w_ = 0; w_ < (n); w_++) {                                                     \
			pthread_join((w)[w_].thread, NULL);                                        \
			EXPECT_EQ(0u, (w)[w_].line) {                                              \
				TH_LOG("thread %u, round %u: errno %d", w_, (w)[w_].rounds,        \
				       (w)[w_].error);                                             \
			}                                                                          \
		}                                                                                  \
	} while (0)

FIXTURE(storm)
{
	int fd;
	struct queue q;
	uint8_t *memory;
	uint32_t key;
};

FIXTURE_SETUP(storm)
{
	OPEN_OR_SKIP(self->fd);
	self->memory = pages(BYTES);
	ASSERT_EQ(0, region_add(self->fd, self->memory, BYTES, RW, &self->key));
	ASSERT_EQ(0, queue_create(self->fd, 4, 4, &self->q));
}

NO_TEARDOWN(storm);

static void start_workers(struct worker *w, unsigned int n, int fd, unsigned int rounds,
			  void *(*fn)(void *))
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		w[i] = (struct worker){ .fd = fd, .rounds = rounds, .seed = i + 1 };
		pthread_create(&w[i].thread, NULL, fn, &w[i]);
	}
}

/* Return the number of free contexts, to detect leaks. */
static unsigned int contexts_free(void)
{
	struct gtu_ioctl_info info = { .size = sizeof(info) };
	unsigned int n = 0, i;
	static int fd[4096];

	fd[0] = open(device_path(), O_RDWR | O_CLOEXEC);
	if (fd[0] < 0 || call(fd[0], GTU_IOCTL_INFO, &info))
		return 0;
	for (n = 1; n < 4096; n++) {
		fd[n] = open(device_path(), O_RDWR | O_CLOEXEC);
		if (fd[n] < 0)
			break;
	}
	for (i = 0; i < n; i++)
		close(fd[i]);
	return n;
}

/*
 * ---- Revocation ---------------------------------------------------------------------------------
 */

/* One region of a thread: input, output, or a stream's ring. */
struct place_of {
	uint8_t *at;
	size_t bytes;
	uint32_t key;
};

static struct gtu_hw_desc victim_job(unsigned int victim, const struct place_of *m)
{
	struct gtu_hw_desc d;

	if (victim <= COPY_TO)
		return copy_job(m[SCU_DATA].key, 0, m[SCU_OUT].key, 0, WORDS, 2);
	if (victim <= SCU_OUT) {
		d = job(GTU_OP_SCU_ACCESS, SCU_WORDS | SCU_INDEX_WORDS);
		d.operand[GTU_SCU_DATA] = place(m[SCU_DATA].key, WORDS, 0);
		d.operand[GTU_SCU_INDEX] = place(m[SCU_INDEX].key, WORDS, 0);
		d.operand[GTU_SCU_MASK] = place(m[SCU_MASK].key, WORDS, 0);
		d.operand[GTU_SCU_OUT] = place(m[SCU_OUT].key, WORDS, 0);
		return d;
	}
	d = job(GTU_OP_IRU_STREAM, GTU_IRU_OP_NONE | 2u << GTU_IRU_TARGET_SHIFT);
	d.operand[GTU_IRU_INDICES] = place(m[SCU_INDEX].key, WORDS, 0);
	d.operand[GTU_IRU_RING] = place(m[IRU_RING].key, RECORDS, 0);
	return d;
}

/* Return the index of the region that holds operand @victim. */
static unsigned int place_number(unsigned int victim)
{
	static const uint8_t is[VICTIMS] = { SCU_DATA, SCU_OUT,	  SCU_DATA,  SCU_INDEX,
					     SCU_MASK, SCU_OUT, SCU_INDEX, IRU_RING };

	return is[victim];
}

static bool holds(const uint8_t *at, size_t n, uint8_t byte)
{
	return memmem(at, n, (uint8_t[]){ byte, byte, byte, byte }, 4) != NULL;
}

static void contents(struct place_of *m)
{
	uint32_t i;

	for (i = 0; i < WORDS; i++) {
		((uint32_t *)m[SCU_DATA].at)[i] = i % 251 * 0x01010001;
		((uint32_t *)m[SCU_INDEX].at)[i] = i * 7 % WORDS;
	}
	memset(m[SCU_MASK].at, 0xff, m[SCU_MASK].bytes);
	memset(m[SCU_OUT].at, 0, m[SCU_OUT].bytes);
	memset(m[IRU_RING].at, 0, m[IRU_RING].bytes);
}

/*
 * Remove a region while jobs use it. After REGION_REMOVE returns, its memory keeps what the owner
 * writes, and none of that appears in the output of the jobs.
 */
static void *revoke_thread(void *arg)
{
	struct worker *w = arg;
	struct place_of m[VICTIMS] = {
		[SCU_DATA] = { .bytes = BYTES },
		[SCU_INDEX] = { .bytes = BYTES },
		[SCU_MASK] = { .bytes = WORDS / 8 },
		[SCU_OUT] = { .bytes = BYTES },
		[IRU_RING] = { .bytes = RING_BYTES },
	};
	unsigned int rounds = w->rounds, i, v;
	struct gtu_hw_desc d;
	struct gtu_hw_cpl c;
	struct queue q;

	MUST(w, !queue_create(w->fd, 3, 3, &q));
	for (i = 0; i < VICTIMS; i++) {
		if (!m[i].bytes)
			continue;
		m[i].at = pages(m[i].bytes);
		MUST(w, m[i].at != MAP_FAILED);
		MUST(w, !region_add(w->fd, m[i].at, m[i].bytes, RW, &m[i].key));
	}
	for (w->rounds = 0; w->rounds < rounds; w->rounds++) {
		struct place_of *victim = &m[place_number(w->rounds % VICTIMS)];

		contents(m);
		d = victim_job(w->rounds % VICTIMS, m);
		for (i = 0; i < 4; i++)
			put(&q, &d);
		doorbell(&q, q.submitted, q.consumed);
		/* remove during the first to the last job, or before any job completes */
		for (i = (unsigned int)next_random(&w->seed) % 5; i && i < 5;)
			i = completed(&q, q.consumed + i - 1) ? 0 : i;
		MUST(w, !region_remove(w->fd, victim->key));
		memset(victim->at, FREED, victim->bytes);
		for (i = 0; i < 4; i++) {
			MUST(w, !take(&q, &c));
			MUST(w, c.status == GTU_CPL_OK || c.status == GTU_CPL_KEY);
			w->done += c.status == GTU_CPL_OK;
			w->revoked += c.status == GTU_CPL_KEY;
		}
		MUST(w, all_bytes(victim->at, victim->bytes, FREED));
		for (v = 0; v < VICTIMS; v++)
			MUST(w, !m[v].at || &m[v] == victim ||
					(v != SCU_OUT && v != IRU_RING) ||
					!holds(m[v].at, m[v].bytes, FREED));
		MUST(w, !region_add(w->fd, victim->at, victim->bytes, RW, &victim->key));
	}
	return NULL;
}

TEST_F_TIMEOUT(storm, jobs_never_access_revoked_memory, 120)
{
	const unsigned int rounds = (unsigned int)setting("GTU_ROUNDS", 12) * VICTIMS;
	unsigned int i, done = 0, revoked = 0;
	struct worker w[4];
	int other;

	other = open(device_path(), O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, other);
	start_workers(w, 2, self->fd, rounds, revoke_thread);
	start_workers(w + 2, 2, other, rounds, revoke_thread);
	JOIN(w, 4);
	for (i = 0; i < 4; i++) {
		done += w[i].done;
		revoked += w[i].revoked;
	}
	TH_LOG("%u jobs done, %u revoked", done, revoked);
	EXPECT_LT(rounds / 4, done);
	EXPECT_LT(rounds / 4, revoked);
}

/*
 * ---- Queues, contexts ---------------------------------------------------------------------------
 */

static void *queue_thread(void *arg)
{
	struct worker *w = arg;
	uint32_t key, *memory = pages(2 * PAGE), i;
	struct gtu_hw_desc d;
	struct gtu_hw_cpl c;
	struct queue q;

	MUST(w, !region_add(w->fd, memory, 2 * PAGE, RW, &key));
	d = copy_job(key, 0, key, PAGE, PAGE / 8, 3);
	for (; w->rounds; w->rounds--) {
		MUST(w, !queue_create(w->fd, 2 + w->rounds % 4, 2, &q));
		memset(memory, (int)w->rounds, PAGE);
		if (w->rounds % 2) {
			for (i = 0; i < 3; i++)
				MUST(w, run(&q, &d, &c) == GTU_CPL_OK && c.sq_index == i);
			MUST(w, !memcmp(memory, memory + PAGE / 4, PAGE));
		}
		for (i = 0; i < 4; i++)		/* jobs in flight when the queue is destroyed */
			submit(&q, &d);
		MUST(w, !queue_call(&q, GTU_IOCTL_QUEUE_DESTROY));
		memset(memory, 0, 2 * PAGE);
		MUST(w, queue_state(&q) == GTU_QUEUE_DISABLED);
		doorbell(&q, 2, 0);
		queue_unmap(&q);
		MUST(w, all_bytes((uint8_t *)memory, 2 * PAGE, 0));
	}
	return NULL;
}

TEST_F_TIMEOUT(storm, destroyed_queues_access_no_memory, 60)
{
	const unsigned int rounds = 5 * (unsigned int)setting("GTU_ROUNDS", 12);
	struct worker w[6];
	struct gtu_hw_cpl c;
	int other = open(device_path(), O_RDWR | O_CLOEXEC);

	ASSERT_LE(0, other);
	start_workers(w, 3, self->fd, rounds, queue_thread);
	start_workers(w + 3, 3, other, rounds, queue_thread);
	JOIN(w, 6);
	EXPECT_EQ(GTU_CPL_OK, run(&self->q, &NO_JOB, &c));
}

static void *context_thread(void *arg)
{
	struct worker *w = arg;
	uint8_t *memory = pages(BYTES);
	struct gtu_hw_desc d;
	struct gtu_hw_cpl c;
	struct queue q;
	uint32_t key, i;
	int fd;

	for (; w->rounds; w->rounds--) {
		fd = open(device_path(), O_RDWR | O_CLOEXEC);
		MUST(w, fd >= 0);
		MUST(w, !region_add(fd, memory, BYTES, RW, &key));
		MUST(w, !queue_create(fd, 3, 3, &q));
		memset(memory, 1 + w->rounds % 250, BYTES / 2);
		d = copy_job(key, 0, key, BYTES / 2, BYTES / 16, 3);
		MUST(w, run(&q, &d, &c) == GTU_CPL_OK);
		MUST(w, all_bytes(memory, BYTES, (uint8_t)(1 + w->rounds % 250)));
		for (i = 0; i < 4; i++)
			submit(&q, &d);
		/* otherwise the context lives until its mappings are removed */
		if (w->rounds % 3)
			queue_unmap(&q);
		close(fd);
		if (!(w->rounds % 3))
			queue_unmap(&q);
		memset(memory, 0, BYTES);
		usleep(500);
		MUST(w, all_bytes(memory, BYTES, 0));
	}
	munmap(memory, BYTES);
	return NULL;
}

TEST_F_TIMEOUT(storm, closed_contexts_leak_nothing_and_write_nothing, 60)
{
	struct rlimit files = { 4200, 4200 };
	struct worker w[4];
	unsigned int before;

	setrlimit(RLIMIT_NOFILE, &files);
	before = contexts_free();
	start_workers(w, 4, -1, 5 * (unsigned int)setting("GTU_ROUNDS", 12), context_thread);
	JOIN(w, 4);
	EXPECT_LT(1u, before);
	EXPECT_EQ(before, contexts_free());
	EXPECT_EQ((long)BYTES / 1024, status_kib("VmPin"));
}

/*
 * ---- Memory and processes under jobs ------------------------------------------------------------
 */

/* Unmapped memory stays pinned: jobs succeed, and their output does not reach a new mapping. */
TEST_F(storm, unmapped_memory_stays_pinned)
{
	struct gtu_hw_desc d;
	struct gtu_hw_cpl c;
	unsigned int round, i;
	uint8_t *gone, *next;
	uint32_t key;

	for (round = 0; round < 30; round++) {
		gone = pages(BYTES);
		memset(self->memory, 0x40 + round, BYTES);
		ASSERT_EQ(0, region_add(self->fd, gone, BYTES, RW, &key));
		d = copy_job(self->key, 0, key, 0, BYTES / 8, 3);
		for (i = 0; i < 8; i++)
			put(&self->q, &d);
		doorbell(&self->q, self->q.submitted, self->q.consumed);
		ASSERT_EQ(0, munmap(gone, BYTES));
		next = mmap(gone, BYTES, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		memset(next, 0x11, BYTES);
		for (i = 0; i < 8; i++) {
			ASSERT_EQ(0, take(&self->q, &c));
			ASSERT_EQ(GTU_CPL_OK, c.status);
		}
		ASSERT_TRUE(all_bytes(next, BYTES, 0x11));
		/* the pages are still accessible to the device, and still charged */
		ASSERT_EQ(2 * (long)BYTES / 1024, status_kib("VmPin"));
		memset(self->memory, 0, BYTES);
		ASSERT_EQ(GTU_CPL_OK, run_copy(&self->q, key, 0, self->key, 0, BYTES / 8, 3));
		ASSERT_TRUE(all_bytes(self->memory, BYTES, (uint8_t)(0x40 + round)));
		ASSERT_EQ(0, region_remove(self->fd, key));
		munmap(next, BYTES);
	}
}

/*
 * Children are forked while jobs run: results reach the parent; the child does not see later
 * writes.
 */
TEST_F(storm, a_child_does_not_see_later_device_writes)
{
	uint8_t *from = pages(BYTES);
	struct gtu_hw_desc d;
	struct gtu_hw_cpl c;
	uint32_t key;
	unsigned int round, i;
	int go[2];
	pid_t child;
	char byte;

	ASSERT_EQ(0, region_add(self->fd, from, BYTES, GTU_RIGHT_READ, &key));
	for (round = 1; round <= 10; round++) {
		memset(from, (int)round, BYTES);
		memset(self->memory, 0, BYTES);
		d = copy_job(key, 0, self->key, 0, BYTES / 8, 3);
		for (i = 0; i < 6; i++)
			put(&self->q, &d);
		ASSERT_EQ(0, pipe(go));
		doorbell(&self->q, self->q.submitted, self->q.consumed);
		fflush(stdout);
		child = fork();
		if (!child) {
			close(go[1]);
			while (read(go[0], &byte, 1) < 0)
				;
			/*
			 * the device's writes after the parent continued must not be visible here
			 */
			_exit(memchr(self->memory, 0xf0, BYTES) ? 1 : 0);
		}
		close(go[0]);
		for (i = 0; i < 6; i++) {
			ASSERT_EQ(0, take(&self->q, &c));
			ASSERT_EQ(GTU_CPL_OK, c.status);
		}
		ASSERT_TRUE(all_bytes(self->memory, BYTES, (uint8_t)round));
		memset(from, 0xf0, BYTES);
		ASSERT_EQ(GTU_CPL_OK, run(&self->q, &d, &c));
		ASSERT_TRUE(all_bytes(self->memory, BYTES, 0xf0));
		close(go[1]);
		ASSERT_EQ(0, child_end(child));
		ASSERT_EQ(2 * (long)BYTES / 1024, status_kib("VmPin"));
	}
}

/* The program that exec() runs. A constructor, so that it runs before the harness. */
static void __attribute__((constructor)) behind_exec(void)
{
	if (getenv("GTU_STORM_EXEC"))
		_exit(0);
}

/* exec() and SIGKILL with mapped rings and running jobs free all resources. */
TEST_F_TIMEOUT(storm, exec_and_kill_free_all_resources, 60)
{
	struct rlimit files = { 4200, 4200 };
	unsigned int round, before;
	struct gtu_hw_cpl c;
	pid_t child;

	setrlimit(RLIMIT_NOFILE, &files);
	before = contexts_free();
	fflush(stdout);
	for (round = 0; round < 12; round++) {
		child = fork();
		if (!child) {
			struct gtu_hw_desc d;
			uint8_t *memory = pages(BYTES);
			struct queue q;
			uint32_t key, i;
			int fd = open(device_path(), O_RDWR | O_CLOEXEC);

			if (fd < 0 || region_add(fd, memory, BYTES, RW, &key) ||
			    queue_create(fd, 4, 4, &q))
				_exit(1);
			d = copy_job(key, 0, key, BYTES / 2, BYTES / 16, 3);
			for (i = 0; i < 16; i++)
				put(&q, &d);
			doorbell(&q, 16, 0);
			if (round % 2) {
				raise(SIGKILL);
			} else {
				setenv("GTU_STORM_EXEC", "1", 1);
				execl("/proc/self/exe", "storm_test", (char *)NULL);
			}
			_exit(2);
		}
		ASSERT_EQ(round % 2 ? 256 + SIGKILL : 0, child_end(child));
	}
	EXPECT_LT(1u, before);
	EXPECT_EQ(before, contexts_free());
	EXPECT_EQ(GTU_CPL_OK, run(&self->q, &NO_JOB, &c));
}

/*
 * ---- Signals, threads ---------------------------------------------------------------------------
 */

static volatile sig_atomic_t alarms;
static void count_alarm(int sig)
{
	(void)sig;
	alarms++;
}

/* With a signal every 300 us, each call succeeds or returns EINTR and can be repeated. */
TEST_F_TIMEOUT(storm, interrupted_calls_can_be_repeated, 60)
{
	struct itimerval often = { { 0, 300 }, { 0, 300 } }, never = { 0 };
	struct sigaction act = { .sa_handler = count_alarm };
	const uint64_t end = now_ns() + 2 * SECOND;
	unsigned int interrupted = 0, jobs = 0;
	struct gtu_hw_desc d;
	struct gtu_hw_cpl c;
	uint8_t *more = pages(BYTES);
	struct queue q;
	uint32_t key, index;
	int ret;

	sigaction(SIGALRM, &act, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	while (now_ns() < end) {
		while ((ret = region_add(self->fd, more, BYTES, RW, &key)) == EINTR)
			interrupted++;
		ASSERT_EQ(0, ret);
		while ((ret = queue_create(self->fd, 2, 2, &q)) == EINTR)
			interrupted++;
		ASSERT_EQ(0, ret);
		memset(self->memory, (int)jobs, BYTES);
		d = copy_job(self->key, 0, key, 0, BYTES / 4, 2);
		put(&q, &d);
		put(&q, &d);
		put(&q, &d);
		index = submit(&q, &d);
		while ((ret = queue_wait(&q, index, now_ns() + 10 * SECOND)) == EINTR)
			interrupted++;
		ASSERT_EQ(0, ret);
		for (index = 0; index < 4; index++) {
			ASSERT_EQ(0, take(&q, &c));
			ASSERT_EQ(GTU_CPL_OK, c.status);
		}
		ASSERT_TRUE(all_bytes(more, BYTES, (uint8_t)jobs));
		/* no job is pending, so only a signal ends the wait */
		ret = queue_wait(&q, 4, now_ns() + SECOND);
		ASSERT_EQ(EINTR, ret);
		interrupted++;
		ASSERT_EQ(0, queue_call(&q, GTU_IOCTL_QUEUE_RESET));
		ASSERT_EQ(0, queue_call(&q, GTU_IOCTL_QUEUE_DESTROY));
		queue_unmap(&q);
		ASSERT_EQ(0, region_remove(self->fd, key));
		jobs += 4;
	}
	setitimer(ITIMER_REAL, &never, NULL);
	TH_LOG("%d signals, %u calls interrupted, %u jobs", (int)alarms, interrupted, jobs);
	EXPECT_LT(8u, jobs);
	EXPECT_LE(jobs / 4, interrupted);
	EXPECT_EQ((long)BYTES / 1024, status_kib("VmPin"));
}

static struct {
	pthread_mutex_t lock;
	struct queue *q;
	/* long enough to expose a thread that does not wait for it */
	struct gtu_hw_desc job;
	uint32_t done;
} shared = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Submit under a lock and wait without it: each thread waits for its own completion. */
static void *sharing_thread(void *arg)
{
	struct worker *w = arg;
	const struct gtu_hw_cpl *c;
	uint32_t index;

	for (; w->rounds; w->rounds--) {
		pthread_mutex_lock(&shared.lock);
		index = submit(shared.q, &shared.job);
		pthread_mutex_unlock(&shared.lock);
		MUST(w, !queue_wait(shared.q, index, now_ns() + 20 * SECOND));
		c = &shared.q->cq[index & ((1u << shared.q->c.cq_log2) - 1)];
		MUST(w, c->sq_index == index && c->cookie == 0x1000 + index);
		MUST(w, c->status == GTU_CPL_OK);
		pthread_mutex_lock(&shared.lock);
		shared.done++;
		/* all threads have read their completions, so the entries can be reused */
		if (shared.done == shared.q->submitted)
			shared.q->consumed = shared.done;
		pthread_mutex_unlock(&shared.lock);
	}
	return NULL;
}

TEST_F_TIMEOUT(storm, threads_share_a_queue, 60)
{
	struct worker w[8];
	struct queue q;

	/* space for all completions, so that a slow thread still finds its own */
	ASSERT_EQ(0, queue_create(self->fd, 10, 10, &q));
	shared.q = &q;
	shared.job = copy_job(self->key, 0, self->key, BYTES / 2, BYTES / 2, 0);
	start_workers(w, 8, self->fd, 120, sharing_thread);
	JOIN(w, 8);
	EXPECT_EQ(960u, shared.done);
	EXPECT_EQ(960u, q.status->cq_tail);
}

TEST_HARNESS_MAIN
