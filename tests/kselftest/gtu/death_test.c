// SPDX-License-Identifier: MIT
/*
 * Tests completion and death: what a program that polls sees of the end of its queue, events of
 * queues without doorbells, waits beside slow calls, and waits for several queues.
 *
 * GTU_FAULT names the fault that the device injects, for the tests that need one: no-invalidate,
 * no-queue-state, no-queue-enable=2, refuse-disable, refuse-queue-state, refuse-enable=2, or stuck-reset (no-invalidate
 * and stuck-reset=3).
 */
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>

#include "gtu_stream.h"

#define RW		(GTU_RIGHT_READ | GTU_RIGHT_WRITE)
#define MILLISECOND	1000000ull
#define EVENTS		20

DEVICE_FIXTURE(death);

/* Return whether memory of @bytes bytes is 0. */
static bool is_zero(const volatile void *at, size_t bytes)
{
	const volatile uint32_t *word = at;
	size_t i;

	for (i = 0; i < bytes / 4; i++)
		if (word[i])
			return false;
	return true;
}

static int by_value(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/*
 * ---- Death --------------------------------------------------------------------------------------
 */

/* Whatever a program writes to the rings and doorbells of a dead queue, its status is "disabled". */
TEST_F(death, writes_do_not_revive_the_status)
{
	static const uint32_t values[] = { GTU_QUEUE_ENABLED, ~0u, 0x00010001, 0x01000000 };
	struct queue q;
	uint32_t i, n;

	/* with 2^6 completions the status starts a page, as the doorbell does */
	ASSERT_EQ(0, queue_create(self->fd, 6, 6, &q));
	ASSERT_EQ(0, queue_call(&q, GTU_IOCTL_QUEUE_DESTROY));
	for (i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		for (n = 0; n < q.c.sq_bytes / 4; n++)
			((volatile uint32_t *)q.sq)[n] = values[i];
		for (n = 0; n < q.c.db_bytes / 4; n++)
			((volatile uint32_t *)q.db)[n] = values[i];
		EXPECT_EQ(GTU_QUEUE_DISABLED, queue_state(&q));
		EXPECT_FALSE(completed(&q, 0));
		EXPECT_TRUE(is_zero(q.cq, q.c.cq_bytes));
	}
	/* a doorbell does not show in the ring either */
	((volatile uint32_t *)q.db)[0] = 0x12345678;
	EXPECT_NE(0x12345678, ((volatile uint32_t *)q.sq)[0]);
	queue_unmap(&q);
}

/* The same when the device is removed, also for its memory: each mapping is on its own. */
TEST_F_TIMEOUT(death, writes_after_removal_reach_no_other_mapping, 60)
{
	struct gtu_ioctl_buffer_alloc a[2];
	volatile uint32_t *at[2];
	char function[64];
	struct queue q;
	unsigned int i;

	if (geteuid() || getenv("GTU_FAULT"))
		SKIP(return, "unbinds the device: needs root and a device without injected faults");
	ASSERT_EQ(0, bus_function(device_path(), function));
	ASSERT_EQ(0, queue_create(self->fd, 6, 6, &q));
	for (i = 0; i < 2; i++) {
		a[i] = (struct gtu_ioctl_buffer_alloc){ .size = sizeof(a[i]), .length = 4096,
							.flags = GTU_BUFFER_APERTURE, .rights = RW };
		if (call(self->fd, GTU_IOCTL_BUFFER_ALLOC, &a[i]))
			SKIP(return, "the device has no aperture");
		at[i] = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, self->fd,
			     (off_t)a[i].mmap_offset);
		ASSERT_NE(MAP_FAILED, (void *)at[i]);
		at[i][0] = 5 + i;
	}
	ASSERT_EQ(0, driver_file(function, "unbind"));
	for (i = 0; i < q.c.sq_bytes / 4; i++)
		((volatile uint32_t *)q.sq)[i] = GTU_QUEUE_ENABLED;
	at[0][0] = 0xabcd;
	EXPECT_EQ(GTU_QUEUE_DISABLED, queue_state(&q));
	EXPECT_TRUE(is_zero(q.cq, q.c.cq_bytes));
	EXPECT_EQ(0, at[1][0]);
	EXPECT_EQ(0xabcd, at[0][0]);
	EXPECT_EQ(0, driver_file(function, "bind"));
}

/*
 * ---- Completion ---------------------------------------------------------------------------------
 */

/*
 * Submit EVENTS jobs to a queue without doorbells, one by one, and measure from the completion in
 * the ring to POLLIN of @fd. Return the median in ns, or 0 if an event did not arrive within 5 s.
 */
static uint64_t event_delay(struct queue *q, uint32_t flags, int fd, bool eventfd)
{
	uint64_t delay[EVENTS], done, end, n;
	struct gtu_event event[4];
	uint32_t index;
	int i;

	for (i = 0; i < EVENTS; i++) {
		if (submit_one(q, flags, &index) || (!flags && queue_arm(q, index)))
			return 0;
		for (end = now_ns() + 5 * SECOND; !completed(q, index);)
			if (now_ns() > end)
				return 0;
		done = now_ns();
		if (polled(fd, 5000) != POLLIN)
			return 0;
		delay[i] = now_ns() - done;
		q->consumed++;
		if (eventfd ? read(fd, &n, sizeof(n)) != sizeof(n) : read(fd, event, sizeof(event)) <= 0)
			return 0;
	}
	qsort(delay, EVENTS, sizeof(*delay), by_value);
	return delay[EVENTS / 2];
}

/* eventfd, poll() and read() fire at the completion, not at the watchdog's next run. */
TEST_F_TIMEOUT(death, submitted_jobs_raise_events_at_completion, 60)
{
	struct gtu_ioctl_info info = { .size = sizeof(info) };
	int efd = eventfd(0, EFD_NONBLOCK), i;
	uint64_t null, delay[4], end;
	struct queue q;
	uint32_t index;

	ASSERT_EQ(0, queue_create_as(self->fd, GTU_QUEUE_SUBMIT, 4, 4, &q));
	null = now_ns();
	for (i = 0; i < 100; i++)
		ASSERT_EQ(0, call(self->fd, GTU_IOCTL_INFO, &info));
	null = (now_ns() - null) / 100;
	delay[0] = event_delay(&q, GTU_SUBMIT_ARM, self->fd, false);
	delay[1] = event_delay(&q, 0, self->fd, false);
	ASSERT_EQ(0, set_eventfd(&q, efd));
	delay[2] = event_delay(&q, GTU_SUBMIT_ARM, efd, true);
	delay[3] = event_delay(&q, 0, efd, true);
	for (i = 0; i < 4; i++) {
		/* a loaded machine stops an emulated processor for some ms; the watchdog takes a second at least */
		EXPECT_LT(0, delay[i]);
		EXPECT_GT(SECOND / 2, delay[i]) {
			TH_LOG("%d: %llu us, an ioctl takes %llu us", i, (unsigned long long)delay[i] / 1000,
			       (unsigned long long)null / 1000);
		}
	}
	/* a job without a request raises none */
	counted(efd);
	ASSERT_EQ(0, submit_one(&q, 0, &index));
	for (end = now_ns() + 5 * SECOND; !completed(&q, index) && now_ns() < end;)
		;
	EXPECT_EQ(0, polled(efd, 200));
	TH_LOG("events after the completion, median of %u: %llu, %llu, %llu, %llu us; an ioctl: %llu us",
	       EVENTS, (unsigned long long)delay[0] / 1000, (unsigned long long)delay[1] / 1000,
	       (unsigned long long)delay[2] / 1000, (unsigned long long)delay[3] / 1000,
	       (unsigned long long)null / 1000);
}

/*
 * Waits use the same doorbell of the device, and do not replace the user's request: its event does
 * not wait for the watchdog, which takes a second at least.
 */
TEST_F_TIMEOUT(death, waits_do_not_replace_a_request_for_an_event, 60)
{
	int efd = eventfd(0, EFD_NONBLOCK);
	struct gtu_hw_cpl c;
	struct waiter w;
	struct queue q;
	uint64_t delay[5];
	int i;

	ASSERT_EQ(0, queue_create(self->fd, 5, 5, &q));
	ASSERT_EQ(0, set_eventfd(&q, efd));
	for (i = 0; i < 5; i++) {
		ASSERT_EQ(0, queue_arm(&q, q.submitted + 1));
		ASSERT_EQ(GTU_CPL_OK, run(&q, &NO_JOB, &c));
		/* the event of this wait signals the eventfd, too */
		usleep(20000);
		counted(efd);
		/* a wait for a later completion */
		start_waiter(&w, &q, 20, now_ns() + SECOND / 2);
		delay[i] = now_ns();
		submit(&q, &NO_JOB);
		ASSERT_EQ(POLLIN, polled(efd, 10000));
		delay[i] = now_ns() - delay[i];
		ASSERT_EQ(0, take(&q, &c));
		EXPECT_EQ(ETIMEDOUT, join_waiter(&w));
	}
	/* the host may stall a few times */
	qsort(delay, 5, sizeof(*delay), by_value);
	EXPECT_GT(SECOND / 2, delay[2]);
	queue_unmap(&q);
}

TEST_F(death, only_existing_queues_can_be_armed)
{
	struct queue q, none;

	ASSERT_EQ(0, queue_create(self->fd, 4, 4, &q));
	none = q;
	none.c.id = 77777;
	EXPECT_EQ(ENOENT, queue_arm(&none, 0));
	EXPECT_EQ(0, queue_arm(&q, 0));
	EXPECT_EQ(0, queue_call(&q, GTU_IOCTL_QUEUE_DESTROY));
	EXPECT_EQ(ENOENT, queue_arm(&q, 0));
	queue_unmap(&q);
}

static int wait_any(int fd, struct gtu_wait_entry *e, uint32_t n, uint64_t deadline, uint32_t *first)
{
	struct gtu_ioctl_wait_any a = { .size = sizeof(a), .entries = (uintptr_t)e, .count = n,
					.first = 99, .deadline_ns = deadline };
	int ret = call(fd, GTU_IOCTL_WAIT_ANY, &a);

	*first = a.first;
	return ret;
}

struct later {
	struct queue *q;
	unsigned int us;
	unsigned long cmd;		/* 0: submit a job */
};

static void *act_later(void *arg)
{
	struct later *l = arg;

	usleep(l->us);
	if (l->cmd)
		queue_call(l->q, l->cmd);
	else
		submit(l->q, &NO_JOB);
	return NULL;
}

TEST_F_TIMEOUT(death, wait_any_returns_the_first_completed_queue, 60)
{
	struct gtu_wait_entry e[4];
	struct queue q[4];
	struct later end = { &q[2], 30000, GTU_IOCTL_QUEUE_DESTROY };
	static char text[65536], path[128];
	uint32_t i, first;
	pthread_t thread;
	uint64_t start;

	for (i = 0; i < 4; i++) {
		ASSERT_EQ(0, queue_create(self->fd, 4, 4, &q[i]));
		e[i] = (struct gtu_wait_entry){ .id = q[i].c.id };
	}
	EXPECT_EQ(EINVAL, wait_any(self->fd, e, 0, 0, &first));
	EXPECT_EQ(EINVAL, wait_any(self->fd, e, GTU_WAIT_MAX + 1, 0, &first));
	EXPECT_EQ(EFAULT, wait_any(self->fd, NULL, 1, 0, &first));
	EXPECT_EQ(ETIMEDOUT, wait_any(self->fd, e, 4, 0, &first));
	start = now_ns();
	EXPECT_EQ(ETIMEDOUT, wait_any(self->fd, e, 4, start + 50 * MILLISECOND, &first));
	EXPECT_LE(50 * MILLISECOND, now_ns() - start);
	/* any of them ends the wait, at once and by itself */
	for (i = 0; i < 4; i++) {
		struct later l = { .q = &q[i], .us = 30000 };

		ASSERT_EQ(0, pthread_create(&thread, NULL, act_later, &l));
		EXPECT_EQ(0, wait_any(self->fd, e, 4, now_ns() + 5 * SECOND, &first));
		EXPECT_EQ(i, first);
		EXPECT_EQ(1, e[i].cq_tail);
		EXPECT_EQ(GTU_QUEUE_ENABLED, e[i].state);
		pthread_join(thread, NULL);
		e[i].index++;
	}
	/* of several completed entries the first counts */
	e[0].index = e[1].index = e[3].index = 0;
	EXPECT_EQ(0, wait_any(self->fd, e, 4, 0, &first));
	EXPECT_EQ(0, first);
	e[0].index = e[1].index = e[3].index = 1;
	/* no wait stays registered: the watchdog runs while there are any */
	if (!geteuid()) {
		snprintf(path, sizeof(path), "/sys/kernel/debug/gtu/%s/queues", device_name());
		ASSERT_LT(0, read_from(path, text, sizeof(text)));
		EXPECT_NE(NULL, strstr(text, "waiters 0,"));
		EXPECT_EQ(NULL, strstr(text, "waiters 1,"));
	}
	/* the end of one of them does, too */
	ASSERT_EQ(0, pthread_create(&thread, NULL, act_later, &end));
	start = now_ns();
	EXPECT_EQ(ECANCELED, wait_any(self->fd, e, 4, start + 5 * SECOND, &first));
	EXPECT_EQ(2, first);
	EXPECT_GT(2 * SECOND, now_ns() - start);
	pthread_join(thread, NULL);
	EXPECT_EQ(ENOENT, wait_any(self->fd, e, 4, 0, &first));
	for (i = 0; i < 4; i++)
		queue_unmap(&q[i]);
}

/*
 * ---- Devices with injected faults ---------------------------------------------------------------
 */

/*
 * A call of another thread waits for the device's mailbox: WAIT keeps its deadline, and mmap() does
 * not wait. Calls that change the context, and SUBMIT, wait for each other.
 */
TEST_F_TIMEOUT(death, a_slow_call_delays_neither_wait_nor_mmap, 60)
{
	struct removal r = { .fd = self->fd, .ret = -1 };
	uint64_t start, waited, mapped;
	pthread_t thread;
	struct queue q;
	void *at;

	NEEDS_FAULT("no-invalidate", "faulty");
	ASSERT_EQ(0, queue_create(self->fd, 4, 4, &q));
	ASSERT_EQ(0, region_add(self->fd, pages(65536), 65536, RW, &r.key));
	start_call(&thread, remove_region, &r);
	start = now_ns();
	EXPECT_EQ(ETIMEDOUT, queue_wait(&q, 0, start + 100 * MILLISECOND));
	waited = now_ns() - start;
	start = now_ns();
	at = mmap(NULL, q.c.cq_bytes, PROT_READ, MAP_SHARED, self->fd, (off_t)q.c.cq_offset);
	mapped = now_ns() - start;
	EXPECT_NE(MAP_FAILED, at);
	EXPECT_LE(100 * MILLISECOND, waited);
	EXPECT_GT(600 * MILLISECOND, waited);
	EXPECT_GT(500 * MILLISECOND, mapped);
	EXPECT_EQ(-1, *(volatile int *)&r.ret);	/* all of this was during the call */
	pthread_join(thread, NULL);
	EXPECT_EQ(ENODEV, r.ret);
	queue_unmap(&q);
}

/*
 * The dump of a reset shows the context at fault, and names those whose calls wait for the device. They do not wait for
 * a time limit of their own: the first lasts for 2 s.
 */
TEST_F_TIMEOUT(death, a_dump_marks_contexts_whose_calls_wait, 60)
{
	struct removal r = { .ret = -1 };
	static char text[1 << 20];
	pthread_t thread;
	uint64_t start;
	uint32_t key, i;

	NEEDS_FAULT("no-invalidate", "faulty");
	NEEDS_ROOT;
	if (access("/sys/class/devcoredump", F_OK))
		SKIP(return, "the kernel has no CONFIG_DEV_COREDUMP");
	while (dump_file())
		write_to(dump_file(), "1");
	r.fd = open(device_path(), O_RDWR);
	ASSERT_LE(0, r.fd);
	ASSERT_EQ(0, region_add(self->fd, pages(65536), 65536, RW, &key));
	ASSERT_EQ(0, region_add(r.fd, pages(65536), 65536, RW, &r.key));
	start = now_ns();
	start_call(&thread, remove_region, &r);
	/* waits for the mailbox, and holds its context */
	EXPECT_EQ(ENODEV, region_remove(self->fd, key));
	pthread_join(thread, NULL);
	EXPECT_EQ(ENODEV, r.ret);
	EXPECT_GT(3500 * MILLISECOND, now_ns() - start);
	for (i = 0; i < 100 && !dump_file(); i++)
		usleep(20000);
	ASSERT_NE(NULL, dump_file());
	ASSERT_LT(0, read_from(dump_file(), text, sizeof(text)));
	EXPECT_NE(NULL, strstr(text, "busy, not shown\n"));
	EXPECT_NE(NULL, strstr(text, "1 region slots taken of"));
	write_to(dump_file(), "1");
	close(r.fd);
}

/* If the watchdog gets no answer about a queue with a waiter, that counts as a hang. */
TEST_F_TIMEOUT(death, an_unanswered_queue_query_counts_as_a_hang, 60)
{
	static const char hang[] = "/sys/module/gtu/parameters/hang_ms";
	int log = kernel_log();
	unsigned int hangs = 0;
	struct waiter w;
	uint32_t key, i;
	struct queue q;

	NEEDS_FAULT("no-queue-state", "faulty");
	NEEDS_ROOT;
	ASSERT_EQ(0, region_add(self->fd, pages(65536), 65536, RW, &key));
	ASSERT_EQ(0, queue_create(self->fd, 2, 2, &q));
	ASSERT_EQ(0, write_to(hang, "200"));
	start_waiter(&w, &q, 0, GTU_WAIT_FOREVER);
	for (i = 0; i < 500 && !hangs; i++) {
		usleep(20000);
		hangs += logged(log, "made no progress for 200 ms");
	}
	ASSERT_EQ(0, write_to(hang, "10000"));
	EXPECT_EQ(1, hangs);
	/* The next command finds the mailbox busy, and the driver resets the device. */
	EXPECT_EQ(ENODEV, region_remove(self->fd, key));
	EXPECT_EQ(ENODEV, join_waiter(&w));
}

/* A suspend resets a device that does not tell it a queue's position. It is not refused. */
static void suspend_and_reopen(struct __test_metadata *_metadata, FIXTURE_DATA(death) *self)
{
	struct queue q;
	uint32_t key;

	if (write_to("/sys/power/pm_test", "devices"))
		SKIP(return, "the kernel has no CONFIG_PM_SLEEP_DEBUG");
	write_to("/sys/module/suspend/parameters/pm_test_delay", "0");
	ASSERT_EQ(0, queue_create(self->fd, 2, 2, &q));
	EXPECT_EQ(0, write_to("/sys/power/state", "mem"));
	write_to("/sys/power/pm_test", "none");
	EXPECT_EQ(ENODEV, region_add(self->fd, pages(65536), 65536, RW, &key));
	close(self->fd);
	self->fd = open(device_path(), O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->fd);
	EXPECT_EQ(0, region_add(self->fd, pages(65536), 65536, RW, &key));
}

TEST_F_TIMEOUT(death, suspend_resets_a_device_that_ignores_a_query, 60)
{
	NEEDS_FAULT("no-queue-state", "life");
	NEEDS_ROOT;
	suspend_and_reopen(_metadata, self);
}

TEST_F_TIMEOUT(death, suspend_resets_a_device_that_refuses_a_query, 60)
{
	NEEDS_FAULT("refuse-queue-state", "life");
	NEEDS_ROOT;
	suspend_and_reopen(_metadata, self);
}

/* Every second CTX_ENABLE or QUEUE_ENABLE is refused: the call fails, and nothing of it is left. */
TEST_F_TIMEOUT(death, a_refused_enable_leaves_nothing_behind, 60)
{
	struct gtu_ioctl_info info = { .size = sizeof(info) }, after = info;
	unsigned int i, refused = 0;
	struct gtu_hw_cpl c;
	struct queue q;
	int fd, ret;

	NEEDS_FAULT("refuse-enable", "faulty");
	ASSERT_EQ(0, call(self->fd, GTU_IOCTL_INFO, &info));
	for (i = 0; i < 8; i++) {
		fd = open(device_path(), O_RDWR | O_CLOEXEC);
		if (fd < 0) {
			EXPECT_EQ(EIO, errno);
			refused++;
		}
		close(fd);
	}
	EXPECT_EQ(4, refused);
	for (i = refused = 0; i < 80; i++) {
		ret = queue_create(self->fd, 2, 2, &q);
		if (ret) {
			EXPECT_EQ(EIO, ret);
			refused++;
			continue;
		}
		ASSERT_EQ(GTU_CPL_OK, run(&q, &NO_JOB, &c));
		queue_unmap(&q);
		ASSERT_EQ(0, queue_call(&q, GTU_IOCTL_QUEUE_DESTROY));
	}
	EXPECT_EQ(40, refused);
	ret = queue_create(self->fd, 2, 2, &q);
	if (ret)
		ret = queue_create(self->fd, 2, 2, &q);
	ASSERT_EQ(0, ret);
	/* a reset that cannot enable the queue again leaves it disabled, until the next */
	for (i = refused = 0; i < 4; i++) {
		ret = queue_call(&q, GTU_IOCTL_QUEUE_RESET);
		refused += ret == EIO;
		EXPECT_EQ(ret ? GTU_QUEUE_DISABLED : GTU_QUEUE_ENABLED, queue_state(&q));
		q.submitted = q.consumed = 0;
		EXPECT_EQ(ret ? -EIO : GTU_CPL_OK, run(&q, &NO_JOB, &c));
	}
	EXPECT_EQ(2, refused);
	/* no other context has lost anything */
	ASSERT_EQ(0, call(self->fd, GTU_IOCTL_INFO, &after));
	EXPECT_EQ(info.epoch, after.epoch);
}

/* The device was reset since @info was read, which is read again. */
static void expect_reset(struct __test_metadata *_metadata, FIXTURE_DATA(death) *self,
			 struct gtu_ioctl_info *info)
{
	const uint32_t epoch = info->epoch;

	close(self->fd);
	self->fd = reopen();
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, call(self->fd, GTU_IOCTL_INFO, info));
	EXPECT_NE(epoch, info->epoch);
}

/* The second QUEUE_ENABLE and all later ones are not answered: the device is reset, and the caller's files are dead. */
TEST_F_TIMEOUT(death, an_unanswered_enable_resets_the_device, 60)
{
	struct gtu_ioctl_info info = { .size = sizeof(info) };
	struct queue q;

	NEEDS_FAULT("no-queue-enable", "faulty");
	ASSERT_EQ(0, call(self->fd, GTU_IOCTL_INFO, &info));
	ASSERT_EQ(0, queue_create(self->fd, 2, 2, &q));
	EXPECT_EQ(ENODEV, queue_call(&q, GTU_IOCTL_QUEUE_RESET));
	EXPECT_EQ(GTU_QUEUE_DISABLED, queue_state(&q));
	queue_unmap(&q);
	expect_reset(_metadata, self, &info);
	EXPECT_EQ(ENODEV, queue_create(self->fd, 2, 2, &q));
	expect_reset(_metadata, self, &info);
}

/*
 * A device refuses to disable a queue, for another reason than that it is disabled: it may still
 * access the rings, so it is reset.
 */
TEST_F_TIMEOUT(death, a_refused_disable_resets_the_device, 60)
{
	static const unsigned long cmd[] = { GTU_IOCTL_QUEUE_DESTROY, GTU_IOCTL_QUEUE_RESET };
	struct gtu_ioctl_info info = { .size = sizeof(info) }, before;
	struct gtu_hw_cpl c;
	struct queue q;
	unsigned int i;
	int fd;

	NEEDS_FAULT("refuse-disable", "faulty");
	for (i = 0; i < 2; i++) {
		fd = open(device_path(), O_RDWR);
		ASSERT_LE(0, fd);
		ASSERT_EQ(0, call(fd, GTU_IOCTL_INFO, &info));
		before = info;
		ASSERT_EQ(0, queue_create(fd, 4, 4, &q));
		EXPECT_EQ(ENODEV, queue_call(&q, cmd[i]));
		EXPECT_EQ(GTU_QUEUE_DISABLED, queue_state(&q));
		queue_unmap(&q);
		close(fd);
		fd = open(device_path(), O_RDWR);
		ASSERT_LE(0, fd);
		ASSERT_EQ(0, call(fd, GTU_IOCTL_INFO, &info));
		EXPECT_NE(before.epoch, info.epoch);
		ASSERT_EQ(0, queue_create(fd, 4, 4, &q));
		EXPECT_EQ(GTU_CPL_OK, run(&q, &NO_JOB, &c));
		queue_unmap(&q);
		close(fd);
	}
}

/*
 * The same for a device that does not check accesses: a job that cannot be stopped may still write
 * to a region that is removed.
 */
TEST_F_TIMEOUT(death, a_job_that_cannot_be_stopped_resets_the_device, 60)
{
	struct gtu_ioctl_info info = { .size = sizeof(info) };
	uint8_t *memory = pages(1 << 20);
	struct gtu_ioctl_submit a = { .size = sizeof(a), .count = 1 };
	struct gtu_hw_desc d;
	struct queue q;
	uint32_t key;

	ASSERT_EQ(0, call(self->fd, GTU_IOCTL_INFO, &info));
	NEEDS_FAULT("refuse-disable", "faulty");
	if (info.caps & GTU_CAP_REGIONS)
		SKIP(return, "needs a device without regions");
	ASSERT_EQ(0, region_add(self->fd, memory, 1 << 20, RW, &key));
	ASSERT_EQ(0, queue_create_as(self->fd, GTU_QUEUE_SUBMIT, 4, 4, &q));
	d = stream_job(memory, key);
	a.id = q.c.id;
	a.descs = (uintptr_t)&d;
	ASSERT_EQ(0, call(self->fd, GTU_IOCTL_SUBMIT, &a));
	/* the stream waits for its consumer */
	EXPECT_EQ(ENODEV, region_remove(self->fd, key));
	EXPECT_EQ(GTU_QUEUE_DISABLED, queue_state(&q));
	expect_reset(_metadata, self, &info);
}

/* A command that is not answered holds up other users no longer than the administrator says. */
TEST_F_TIMEOUT(death, the_mailbox_timeout_bounds_an_unanswered_command, 60)
{
	static const char file[] = "/sys/module/gtu/parameters/mailbox_timeout_ms";
	uint64_t start;
	uint32_t key;

	NEEDS_FAULT("no-invalidate", "faulty");
	ASSERT_EQ(0, region_add(self->fd, pages(65536), 65536, RW, &key));
	ASSERT_EQ(0, write_to(file, "200"));
	start = now_ns();
	EXPECT_EQ(ENODEV, region_remove(self->fd, key));
	EXPECT_LE(200 * MILLISECOND, now_ns() - start);
	EXPECT_GT(1500 * MILLISECOND, now_ns() - start);
	/* 0 is not "for ever" */
	close(self->fd);
	self->fd = reopen();
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, region_add(self->fd, pages(65536), 65536, RW, &key));
	ASSERT_EQ(0, write_to(file, "0"));
	start = now_ns();
	EXPECT_EQ(ENODEV, region_remove(self->fd, key));
	EXPECT_GT(1500 * MILLISECOND, now_ns() - start);
	ASSERT_EQ(0, write_to(file, "2000"));
}

/* Before a reset line is asserted, no context can reach a doorbell or the aperture: not only the one at fault. */
TEST_F_TIMEOUT(death, a_reset_takes_doorbells_and_aperture_from_all_contexts, 60)
{
	volatile uint32_t *at, *memory;
	struct queue q;
	uint64_t offset;
	uint32_t key;
	int other;

	NEEDS_FAULT("stuck-reset", "faulty");
	other = open(device_path(), O_RDWR);
	ASSERT_LE(0, other);
	ASSERT_EQ(0, queue_create(other, 4, 4, &q));
	at = mmap(NULL, q.c.db_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, other,
		  (off_t)q.c.db_offset);
	ASSERT_NE(MAP_FAILED, (void *)at);
	at[16] = 0x5a5a;
	EXPECT_NE(0x5a5a, at[16]);		/* the device's doorbell cannot be read */
	ASSERT_EQ(0, alloc_in(other, GTU_BUFFER_APERTURE, PAGE, RW, &key, &offset));
	memory = map_shared(other, offset, PAGE);
	ASSERT_NE(MAP_FAILED, (void *)memory);
	memory[7] = 0x77;
	EXPECT_EQ(0x77u, memory[7]);
	ASSERT_EQ(0, region_add(self->fd, pages(65536), 65536, RW, &key));
	EXPECT_EQ(ENODEV, region_remove(self->fd, key));
	at[16] = 0x5a5a;
	EXPECT_EQ(0x5a5a, at[16]);		/* memory took its place */
	EXPECT_EQ(0u, memory[7]);
	EXPECT_EQ(GTU_QUEUE_DISABLED, queue_state(&q));
	close(other);
}

TEST_HARNESS_MAIN
