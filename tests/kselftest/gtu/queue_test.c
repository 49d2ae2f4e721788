// SPDX-License-Identifier: MIT
/* Tests queues: mappings, wrap-around, waits, errors, resets, and removal while jobs run. */
#include "gtu_util.h"

#define BYTES	(1u << 20)

FIXTURE(queue)
{
	int fd;
	struct queue q;
	uint32_t *memory, key;
};

FIXTURE_SETUP(queue)
{
	OPEN_OR_SKIP(self->fd);
	self->memory = pages(BYTES);
	ASSERT_EQ(0, region_add(self->fd, self->memory, BYTES, RW, &self->key));
	ASSERT_EQ(0, queue_create(self->fd, 4, 4, &self->q));
}

NO_TEARDOWN(queue);

/*
 * ---- Mappings -----------------------------------------------------------------------------------
 */

TEST_F(queue, invalid_queues_and_ids_are_refused)
{
	struct gtu_ioctl_info info = { .size = sizeof(info) };
	struct queue q, many[64];
	unsigned int n;
	int ret = 0;

	ASSERT_EQ(0, call(self->fd, GTU_IOCTL_INFO, &info));
	EXPECT_EQ(EINVAL, queue_create(self->fd, 0, 4, &q));
	EXPECT_EQ(EINVAL, queue_create(self->fd, 4, 0, &q));
	EXPECT_EQ(EINVAL, queue_create(self->fd, info.max_ring_log2 + 1, 4, &q));
	EXPECT_EQ(EINVAL, queue_create(self->fd, 4, 40, &q));
	ASSERT_EQ(0, queue_create(self->fd, info.max_ring_log2, info.max_ring_log2, &q));
	EXPECT_EQ(0, queue_call(&q, GTU_IOCTL_QUEUE_DESTROY));
	EXPECT_EQ(ENOENT, queue_call(&q, GTU_IOCTL_QUEUE_DESTROY));
	EXPECT_EQ(ENOENT, queue_call(&q, GTU_IOCTL_QUEUE_RESET));
	EXPECT_EQ(ENOENT, queue_wait(&q, 0, 0));
	for (n = 0; n < 64; n++) {
		ret = queue_create(self->fd, 1, 1, &many[n]);
		if (ret)
			break;
	}
	EXPECT_EQ(ENOSPC, ret);
	EXPECT_EQ(info.ctx_queues - 1, n);
	EXPECT_EQ(0, queue_call(&many[0], GTU_IOCTL_QUEUE_DESTROY));
	EXPECT_EQ(0, queue_create(self->fd, 1, 1, &many[0]));
}

#define REFUSED(error, bytes, rights, flags, offset)                                               \
	do {                                                                                       \
		errno = 0;                                                                         \
		EXPECT_EQ(MAP_FAILED, mmap(NULL, bytes, rights, flags, self->fd, (off_t)(offset))); \
		EXPECT_EQ(error, errno);                                                           \
	} while (0)

TEST_F(queue, invalid_mappings_of_a_queue_are_refused)
{
	const struct gtu_ioctl_queue_create *c = &self->q.c;
	uint64_t offset;

	EXPECT_EQ(0, c->sq_bytes % 4096);
	EXPECT_LE(GTU_SQ_BYTES(4), c->sq_bytes);
	EXPECT_LE(GTU_CQ_BYTES(4), c->cq_bytes);
	REFUSED(EINVAL, c->sq_bytes + 4096, PROT_READ, MAP_SHARED, c->sq_offset);
	REFUSED(EINVAL, c->cq_bytes + 4096, PROT_READ, MAP_SHARED, c->cq_offset);
	REFUSED(EINVAL, c->db_bytes + 4096, PROT_WRITE, MAP_SHARED, c->db_offset);
	REFUSED(EINVAL, c->sq_bytes, PROT_READ, MAP_SHARED, c->sq_offset + 4096);
	REFUSED(EINVAL, c->db_bytes, PROT_WRITE, MAP_SHARED, c->db_offset + 65536);
	REFUSED(EINVAL, c->sq_bytes, PROT_READ, MAP_PRIVATE, c->sq_offset);
	REFUSED(EINVAL, c->db_bytes, PROT_WRITE, MAP_PRIVATE, c->db_offset);
	REFUSED(EACCES, c->sq_bytes, PROT_READ | PROT_EXEC, MAP_SHARED, c->sq_offset);
	REFUSED(EACCES, c->cq_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, c->cq_offset);
	EXPECT_EQ(-1, mprotect((void *)self->q.cq, c->cq_bytes, PROT_READ | PROT_WRITE));
	EXPECT_EQ(-1, mprotect(self->q.sq, c->sq_bytes, PROT_READ | PROT_EXEC));
	EXPECT_EQ(MAP_FAILED, mremap(self->q.sq, c->sq_bytes, c->sq_bytes + 4096, MREMAP_MAYMOVE));
	for (offset = 0; offset < 1ull << 46; offset += 1ull << 36) {
		void *p = mmap(NULL, 4096, PROT_WRITE, MAP_SHARED, self->fd,
			       (off_t)(offset + (1 << 20)));

		EXPECT_EQ(MAP_FAILED, p) {
			TH_LOG("offset 0x%llx", (unsigned long long)offset);
		}
	}
}

/* A large ring is faulted in page by page, but cannot be unmapped in parts. */
TEST_F(queue, a_ring_cannot_be_unmapped_in_parts)
{
	struct queue q;

	ASSERT_EQ(0, queue_create(self->fd, 8, 8, &q));
	EXPECT_EQ(-1, munmap(q.sq, 4096));
	EXPECT_EQ(EINVAL, errno);
	memset(q.sq, 0, q.c.sq_bytes);
	EXPECT_EQ(GTU_QUEUE_ENABLED, queue_state(&q));
	EXPECT_EQ(0, munmap(q.sq, q.c.sq_bytes));
}

static void bad_address(int sig)
{
	_exit(sig);
}

/* A child inherits the file but none of the mappings. */
TEST_F(queue, a_child_does_not_inherit_rings_and_doorbell)
{
	const volatile uint32_t *at[] = { (void *)self->q.sq, (void *)self->q.cq,
		(void *)self->q.status };
	struct gtu_hw_cpl c;
	unsigned int i;
	int status;

	fflush(stdout);
	for (i = 0; i < 4; i++) {
		if (!fork()) {
			signal(SIGSEGV, bad_address);
			if (i < 3)
				*at[i];
			else
				doorbell(&self->q, 1, 0);
			_exit(0);
		}
		ASSERT_LT(0, wait(&status));
		EXPECT_TRUE(WIFEXITED(status));
		EXPECT_EQ(SIGSEGV, WEXITSTATUS(status));
	}
	EXPECT_EQ(0, self->q.status->sq_head);
	EXPECT_EQ(GTU_CPL_OK, run(&self->q, &NO_JOB, &c));
}

/* A queue id is reused: the old queue's mappings must not reach the new queue. */
TEST_F(queue, mappings_of_a_queue_never_reach_the_next_one)
{
	struct queue old = self->q, next;
	struct gtu_hw_cpl c;

	doorbell(&old, 0, 0);
	ASSERT_EQ(0, queue_call(&self->q, GTU_IOCTL_QUEUE_DESTROY));
	ASSERT_EQ(0, queue_create(self->fd, 4, 4, &next));
	ASSERT_EQ(old.c.id, next.c.id) {
		TH_LOG("the id was not reused, so the test proves nothing");
	}
	put(&next, &NO_JOB);
	EXPECT_EQ(GTU_QUEUE_DISABLED, queue_state(&old));
	memset(old.sq, 0xff, old.c.sq_bytes);
	doorbell(&old, 1, 0);
	doorbell(&old, 1000, 0);
	EXPECT_EQ(ETIMEDOUT, queue_wait(&next, 0, now_ns() + SECOND / 10));
	EXPECT_EQ(GTU_QUEUE_ENABLED, queue_state(&next));
	doorbell(&next, next.submitted, 0);
	ASSERT_EQ(0, take(&next, &c));
	EXPECT_EQ(GTU_CPL_OK, c.status);
}

/*
 * ---- Completions and waits
 * -----------------------------------------------------------------------
 */

TEST_F(queue, rings_wrap_without_losing_a_completion)
{
	struct queue q;
	struct gtu_hw_cpl c;
	uint32_t i, n;

	for (n = 1; n <= 3; n++) {
		ASSERT_EQ(0, queue_create(self->fd, n, 4 - n, &q));
		for (i = 0; i < 200; i++) {
			ASSERT_EQ(i, submit(&q, &NO_JOB));
			ASSERT_EQ(0, take(&q, &c));
			ASSERT_EQ(0x1000 + i, c.cookie);
			ASSERT_EQ(i, c.sq_index);
			ASSERT_EQ(GTU_CPL_OK, c.status);
		}
		ASSERT_EQ(0, queue_call(&q, GTU_IOCTL_QUEUE_DESTROY));
	}
}

/* More jobs than completion entries: no completion is lost or overwritten. */
TEST_F(queue, a_full_completion_ring_loses_no_completion)
{
	struct queue q;
	struct gtu_hw_cpl c;
	uint32_t i;

	ASSERT_EQ(0, queue_create(self->fd, 5, 2, &q));
	for (i = 0; i < 32; i++)
		put(&q, &NO_JOB);
	doorbell(&q, 32, 0);
	ASSERT_EQ(0, queue_wait(&q, 3, now_ns() + 10 * SECOND));
	EXPECT_EQ(ETIMEDOUT, queue_wait(&q, 4, now_ns() + SECOND / 10));
	for (i = 0; i < 32; i++) {
		ASSERT_EQ(0, take(&q, &c));
		ASSERT_EQ(0x1000 + i, c.cookie);
		doorbell(&q, 32, q.consumed);
	}
}

TEST_F(queue, a_wait_ends_at_its_deadline)
{
	struct gtu_ioctl_wait w = { .size = sizeof(w), .id = self->q.c.id };
	uint64_t start = now_ns();
	struct gtu_hw_cpl c;

	EXPECT_EQ(ETIMEDOUT, queue_wait(&self->q, 0, 0));
	EXPECT_EQ(ETIMEDOUT, queue_wait(&self->q, 0, start));
	EXPECT_EQ(ETIMEDOUT, queue_wait(&self->q, 0, start + SECOND / 3));
	EXPECT_LE(start + SECOND / 3, now_ns());
	EXPECT_GT(start + 5 * SECOND, now_ns());
	EXPECT_EQ(GTU_CPL_OK, run(&self->q, &NO_JOB, &c));
	/* an existing completion is reported even after the deadline */
	EXPECT_EQ(0, queue_wait(&self->q, 0, 0));
	w.index = 0;
	EXPECT_EQ(0, call(self->fd, GTU_IOCTL_WAIT, &w));
	EXPECT_EQ(1, w.cq_tail);
	EXPECT_EQ(GTU_QUEUE_ENABLED, w.state);
}

/* Each of several waiters is woken by its own completion, in any order of arrival. */
TEST_F(queue, each_waiter_is_woken_by_its_own_completion)
{
	struct waiter w[5];
	static const uint32_t index[5] = { 3, 1, 4, 0, 2 };
	uint64_t submitted[5];
	unsigned int i;

	for (i = 0; i < 5; i++)
		start_waiter(&w[i], &self->q, index[i], now_ns() + 10 * SECOND);
	for (i = 0; i < 5; i++) {
		submitted[i] = now_ns();
		submit(&self->q, &NO_JOB);
		usleep(20000);
	}
	for (i = 0; i < 5; i++) {
		EXPECT_EQ(0, join_waiter(&w[i]));
		EXPECT_LE(submitted[index[i]], w[i].returned_ns);
	}
}

/* An interrupt ends a wait, mostly well before the driver's fallback poll. */
TEST_F(queue, wait_is_interrupt_driven)
{
	uint64_t total = 0, start;
	unsigned int i, slow = 0;
	struct waiter w;

	for (i = 0; i < 20; i++) {
		start_waiter(&w, &self->q, i, now_ns() + 10 * SECOND);
		start = now_ns();
		submit(&self->q, &NO_JOB);
		ASSERT_EQ(0, join_waiter(&w));
		total += w.returned_ns - start;
		/*
		 * the host may stall a few times; the driver's fallback poll would make every
		 * wake-up slow
		 */
		slow += w.returned_ns - start > SECOND / 50;
		self->q.consumed++;
	}
	TH_LOG("mean wake-up: %llu us", (unsigned long long)(total / 20 / 1000));
	EXPECT_GE(5u, slow);
}

/*
 * A signal ends a wait with EINTR, even with SA_RESTART, and never with an internal code of the
 * kernel.
 */
TEST_F(queue, a_signal_ends_a_wait_with_eintr)
{
	unsigned int i;

	for (i = 0; i < 5; i++) {
		signal_every(50000, i ? 0 : SA_RESTART);
		EXPECT_EQ(EINTR, queue_wait(&self->q, 0, GTU_WAIT_FOREVER));
	}
	signal_every(0, 0);
}

TEST_F(queue, a_process_in_an_unlimited_wait_can_be_killed)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		queue_wait(&self->q, 0, GTU_WAIT_FOREVER);
		_exit(0);
	}
	until_in_call(pid);
	ASSERT_EQ(0, kill(pid, SIGKILL));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_TRUE(WIFSIGNALED(status));
}

TEST_F(queue, wait_ends_with_the_queue)
{
	struct waiter w[2];

	start_waiter(&w[0], &self->q, 0, now_ns() + 10 * SECOND);
	ASSERT_EQ(0, queue_call(&self->q, GTU_IOCTL_QUEUE_RESET));
	EXPECT_EQ(ECANCELED, join_waiter(&w[0]));
	start_waiter(&w[0], &self->q, 0, now_ns() + 10 * SECOND);
	start_waiter(&w[1], &self->q, 7, now_ns() + 10 * SECOND);
	ASSERT_EQ(0, queue_call(&self->q, GTU_IOCTL_QUEUE_DESTROY));
	pthread_join(w[0].thread, NULL);
	pthread_join(w[1].thread, NULL);
	EXPECT_EQ(ECANCELED, w[0].ret);
	EXPECT_EQ(ECANCELED, w[1].ret);
}

/* A wait for a later completion repeats its request from time to time. That does not replace the request of an earlier one. */
TEST_F_TIMEOUT(queue, a_later_wait_is_no_obstacle, 60)
{
	struct waiter early, late;
	uint64_t start;

	start_waiter(&early, &self->q, 0, now_ns() + 20 * SECOND);
	usleep(50000);
	start_waiter(&late, &self->q, 1, now_ns() + 20 * SECOND);
	/* each has checked after 2.5 s, and will again after 3.5 s */
	usleep(2800000);
	start = now_ns();
	submit(&self->q, &NO_JOB);
	EXPECT_EQ(0, join_waiter(&early));
	EXPECT_GT(SECOND / 2, early.returned_ns - start);
	submit(&self->q, &NO_JOB);
	EXPECT_EQ(0, join_waiter(&late));
}

/* Each waiter returns at its own event. On one processor, the one that came last runs first, and requests the last event. */
TEST_F_TIMEOUT(queue, waiters_on_one_processor_return_in_turn, 60)
{
	unsigned int i, round, slow = 0;
	struct waiter w[4];
	struct gtu_hw_cpl c;
	cpu_set_t before, one;
	uint64_t start;

	ASSERT_EQ(0, sched_getaffinity(0, sizeof(before), &before));
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	ASSERT_EQ(0, sched_setaffinity(0, sizeof(one), &one));
	for (round = 0; round < 10; round++) {
		for (i = 0; i < 4; i++)
			start_waiter(&w[i], &self->q, self->q.submitted + i, now_ns() + 10 * SECOND);
		for (i = 0; i < 4; i++) {
			start = now_ns();
			submit(&self->q, &NO_JOB);
			EXPECT_EQ(0, join_waiter(&w[i]));
			slow += w[i].returned_ns - start > SECOND / 20;
			ASSERT_EQ(0, take(&self->q, &c));
		}
	}
	ASSERT_EQ(0, sched_setaffinity(0, sizeof(before), &before));
	TH_LOG("%u of 40 waits ended more than 50 ms late", slow);
	/* the host may stall a few times */
	EXPECT_GE(4u, slow);
}

/* Events that users cause take little of a processor: interrupts a second are limited. */
TEST_F_TIMEOUT(queue, interrupts_are_limited, 60)
{
	static const char limit[] = "/sys/module/gtu/parameters/interrupt_rate";
	uint64_t before, end, next, taken[4];
	char kept[32] = "";
	struct gtu_hw_cpl c;
	unsigned int i;

	NEEDS_ROOT;
	ASSERT_EQ(GTU_CPL_OK, run(&self->q, &NO_JOB, &c));
	ASSERT_LT(0, read_from(limit, kept, sizeof(kept)));
	for (i = 0; i < 4; i++) {
		EXPECT_EQ(0, write_to(limit, i < 2 ? "0" : "500"));
		before = interrupts();
		for (end = now_ns() + SECOND; now_ns() < end;) {
			/* accesses without a pause stop an emulated machine's clock */
			for (next = now_ns() + 50000; now_ns() < next;)
				;
			/* a completion that is there, or a register that is not */
			if (i % 2)
				*(volatile uint32_t *)(self->q.db + GTU_DB_ARM) = 0;
			else
				*(volatile uint32_t *)(self->q.db + 0x40) = 0;
		}
		taken[i] = interrupts() - before;
	}
	EXPECT_EQ(0, write_to(limit, kept));
	TH_LOG("interrupts a second: without a limit %llu and %llu, with a limit of 500 %llu and %llu", (unsigned long long)taken[0],
	       (unsigned long long)taken[1], (unsigned long long)taken[2], (unsigned long long)taken[3]);
	for (i = 2; i < 4; i++) {
		EXPECT_LT(0u, taken[i]);
		EXPECT_GT(1000u, taken[i]);
	}
	/* they go on */
	EXPECT_EQ(GTU_CPL_OK, run(&self->q, &NO_JOB, &c));
}

TEST_F(queue, a_wrong_arm_index_delays_only_its_own_queue)
{
	struct waiter w, on_other;
	struct queue other;
	uint64_t start;

	ASSERT_EQ(0, queue_create(self->fd, 4, 4, &other));
	start_waiter(&w, &self->q, 0, now_ns() + 10 * SECOND);
	*(volatile uint32_t *)(self->q.db + GTU_DB_ARM) = 1000;
	start_waiter(&on_other, &other, 0, now_ns() + 10 * SECOND);
	start = now_ns();
	submit(&other, &NO_JOB);
	EXPECT_EQ(0, join_waiter(&on_other));
	/* the watchdog would take a second */
	EXPECT_GT(SECOND / 2, on_other.returned_ns - start);
	submit(&self->q, &NO_JOB);
	EXPECT_EQ(0, join_waiter(&w));
}

/*
 * ---- Errors, resets and close -------------------------------------------------------------------
 */

TEST_F(queue, a_queue_error_lasts_until_a_reset)
{
	struct gtu_hw_cpl c;
	struct waiter w;

	EXPECT_EQ(GTU_CPL_OK, run(&self->q, &NO_JOB, &c));
	start_waiter(&w, &self->q, 1, now_ns() + 10 * SECOND);
	doorbell(&self->q, 1 + 17, 1);		/* the ring has 16 entries */
	EXPECT_EQ(EIO, join_waiter(&w));
	EXPECT_EQ(GTU_QUEUE_E_TAIL, queue_state(&self->q));
	/* the error is sticky and reported to later waits; earlier completions stay valid */
	doorbell(&self->q, 2, 1);
	EXPECT_EQ(EIO, queue_wait(&self->q, 1, now_ns() + 10 * SECOND));
	EXPECT_EQ(0, queue_wait(&self->q, 0, now_ns() + 10 * SECOND));
	ASSERT_EQ(0, queue_call(&self->q, GTU_IOCTL_QUEUE_RESET));
	EXPECT_EQ(GTU_QUEUE_ENABLED, queue_state(&self->q));
	EXPECT_FALSE(completed(&self->q, 0));
	EXPECT_EQ(GTU_CPL_OK, run(&self->q, &NO_JOB, &c));
	EXPECT_EQ(0, c.sq_index);

	/* five completions consumed, but there is only one */
	doorbell(&self->q, 1, 5);
	EXPECT_EQ(EIO, queue_wait(&self->q, 1, now_ns() + 10 * SECOND));
	EXPECT_EQ(GTU_QUEUE_E_HEAD, queue_state(&self->q));
	ASSERT_EQ(0, queue_call(&self->q, GTU_IOCTL_QUEUE_RESET));
	EXPECT_EQ(GTU_CPL_OK, run(&self->q, &NO_JOB, &c));
}

TEST_F(queue, a_queue_can_be_reset_while_jobs_run)
{
	unsigned int i, in_flight = 0;
	struct gtu_hw_cpl c;

	for (i = 0; i < 20; i++) {
		submit_long(&self->q, self->key, BYTES / 2);
		in_flight += !completed(&self->q, self->q.submitted - 1);
		ASSERT_EQ(0, queue_call(&self->q, GTU_IOCTL_QUEUE_RESET));
		ASSERT_EQ(GTU_CPL_OK, run(&self->q, &NO_JOB, &c));
		ASSERT_EQ(0, c.sq_index);
		ASSERT_EQ(0, queue_call(&self->q, GTU_IOCTL_QUEUE_RESET));
	}
	EXPECT_LT(0u, in_flight);
}

/* Many contexts run jobs concurrently, each with its own memory and results. */
TEST_F_TIMEOUT(queue, many_contexts_run_jobs_at_the_same_time, 60)
{
	enum { CONTEXTS = 64 };
	static struct queue q[CONTEXTS];
	static uint32_t *memory[CONTEXTS];
	struct gtu_hw_desc d;
	struct gtu_hw_cpl c;
	uint32_t key, n, i;

	for (n = 0; n < CONTEXTS; n++) {
		int fd = open(device_path(), O_RDWR);

		ASSERT_LE(0, fd);
		memory[n] = pages(32768);
		for (i = 0; i < 4096; i++)
			memory[n][i] = n << 16 | i;
		ASSERT_EQ(0, region_add(fd, memory[n], 32768, RW, &key));
		ASSERT_EQ(0, queue_create(fd, 3, 3, &q[n]));
		d = copy_job(key, 0, key, 16384, 4096, 2);
		for (i = 0; i < 8; i++)
			put(&q[n], &d);
	}
	for (n = 0; n < CONTEXTS; n++)
		doorbell(&q[n], 8, 0);
	for (n = 0; n < CONTEXTS; n++) {
		ASSERT_EQ(0, queue_wait(&q[n], 7, now_ns() + 20 * SECOND));
		for (i = 0; i < 8; i++) {
			ASSERT_EQ(0, take(&q[n], &c));
			ASSERT_EQ(GTU_CPL_OK, c.status);
			ASSERT_EQ(4096, c.count);
		}
		for (i = 0; i < 4096; i++)
			ASSERT_EQ(n << 16 | i, memory[n][4096 + i]);
		close(q[n].fd);
	}
}

TEST_HARNESS_MAIN
