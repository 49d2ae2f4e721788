// SPDX-License-Identifier: MIT
/*
 * Tests system sleep while the device is in use: users continue where they were, and jobs that
 * take too long are cancelled.
 *
 * The tests put the machine to sleep, so they run only if GTU_SLEEP is set. "devices" freezes users
 * and suspends devices for a moment; any other value of /sys/power/pm_test works too. "mem" enters
 * S3 and prints "@host wake" when another machine must wake this one. "alarm" sleeps until the RTC
 * alarm. Needs root.
 */
#include <poll.h>
#include <sys/eventfd.h>

#include "gtu_stream.h"

#define BYTES		(1u << 20)
#define APERTURE	(3u * 65536)
#define LIMIT_FILE	"/sys/module/gtu/parameters/suspend_timeout_ms"

static const char *sleep_kind(void)
{
	return getenv("GTU_SLEEP");
}

/*
 * Sleep until the RTC alarm. An alarm that fires before the machine sleeps is lost, unless the
 * kernel knows the previous wakeup count: it then refuses to sleep, and a later alarm is tried.
 */
static int sleep_until_alarm(void)
{
	char known[32], alarm[16];
	int seconds, ret;

	for (seconds = 2; seconds < 200; seconds *= 4) {
		if (read_from("/sys/power/wakeup_count", known, sizeof(known)) <= 0)
			return EIO;
		snprintf(alarm, sizeof(alarm), "+%d", seconds);
		write_to("/sys/class/rtc/rtc0/wakealarm", "0");
		ret = write_to("/sys/class/rtc/rtc0/wakealarm", alarm);
		if (!ret)
			ret = write_to("/sys/power/wakeup_count", known);
		if (!ret)
			ret = write_to("/sys/power/state", "mem");
		if (ret != EBUSY && ret != EINVAL)
			return ret;
		printf("# the alarm at %s s fired before the sleep: trying a later one\n", alarm);
	}
	return ret;
}

/* Sleep and wake. Return 0 or the errno of a refused sleep. */
static int system_sleep(void)
{
	bool mem = !strcmp(sleep_kind(), "mem"), alarm = !strcmp(sleep_kind(), "alarm");
	int ret;

	write_to("/sys/module/suspend/parameters/pm_test_delay", "0");
	write_to("/sys/power/mem_sleep", "deep");
	ret = write_to("/sys/power/pm_test", mem || alarm ? "none" : sleep_kind());
	if (ret)
		return ret;
	if (alarm)
		return sleep_until_alarm();
	if (mem) {
		printf("@host wake\n");
		fflush(stdout);
	}
	return write_to("/sys/power/state", "mem");
}

FIXTURE(sleep)
{
	int fd;
	struct queue q;
	uint8_t *memory;
	uint32_t key;
};

FIXTURE_SETUP(sleep)
{
	if (!sleep_kind())
		SKIP(return, "the test puts the machine to sleep: set GTU_SLEEP=devices, mem or "
			     "alarm, as the guest plan life does");
	NEEDS_ROOT;
	OPEN_OR_SKIP(self->fd);
	self->memory = pages(BYTES);
	ASSERT_EQ(0, region_add(self->fd, self->memory, BYTES, RW, &self->key));
	ASSERT_EQ(0, queue_create(self->fd, 3, 3, &self->q));
}

NO_TEARDOWN(sleep);

/* Copy a page of @value. Return true if it arrived. */
static bool copies(struct queue *q, uint8_t *memory, uint32_t key, uint8_t value)
{
	struct gtu_hw_desc d = copy_job(key, 0, key, 8192, 4096, 0);
	struct gtu_hw_cpl c;
	int ret;

	memset(memory, value, 4096);
	ret = run(q, &d, &c);
	if (ret != GTU_CPL_OK)
		return printf("# a job ended with %d: %s\n", ret, ret < 0 ? strerror(-ret) : "status") < 0;
	return !memcmp(memory, memory + 8192, 4096) && memory[8192] == value;
}

/*
 * Rings, keys, memory of both kinds, unit settings and the context's usage survive the sleep; only the device's counters
 * restart.
 */
TEST_F_TIMEOUT(sleep, rings_keys_and_memory_survive_the_sleep, 120)
{
	struct gtu_ioctl_buffer_alloc a = { .size = sizeof(a), .flags = GTU_BUFFER_APERTURE, .length = APERTURE, .rights = RW };
	struct gtu_ioctl_reg setting = { .size = sizeof(setting), .offset = GTU_PAGE_IRU + GTU_UREG_SET(GTU_IRU_S_TIMEOUT) };
	struct gtu_ioctl_info info = { .size = sizeof(info) };
	struct gtu_ioctl_reg epoch = { .size = sizeof(epoch), .offset = GTU_REG_EPOCH };
	uint64_t *piece = MAP_FAILED, old = 0;
	long pinned;
	struct queue other;
	uint32_t i, key;

	NEEDS(GTU_CAP_SEEK);
	ASSERT_EQ(0, call(self->fd, GTU_IOCTL_INFO, &info));
	/* start at an odd ring index, after several passes */
	for (i = 0; i < 29; i++)
		ASSERT_TRUE(copies(&self->q, self->memory, self->key, (uint8_t)i));
	if (!call(self->fd, GTU_IOCTL_BUFFER_ALLOC, &a)) {
		piece = map_shared(self->fd, a.mmap_offset, APERTURE);
		ASSERT_NE(MAP_FAILED, (void *)piece);
		for (i = 0; i < APERTURE / 8; i++)
			piece[i] = i * 0x9e3779b97f4a7c15u;
	}
	if (!call(self->fd, GTU_IOCTL_REG_READ, &setting)) {
		old = setting.value;
		setting.value = old + 13;
		ASSERT_EQ(0, call(self->fd, GTU_IOCTL_REG_WRITE, &setting));
	}
	pinned = status_kib("VmPin");
	ASSERT_EQ(0, system_sleep());

	EXPECT_EQ(GTU_QUEUE_ENABLED, queue_state(&self->q));
	for (i = 0; i < 29; i++)
		ASSERT_TRUE(copies(&self->q, self->memory, self->key, (uint8_t)(i + 100)));
	EXPECT_EQ(58u, self->q.consumed);
	if (info.caps & GTU_CAP_CTX_COUNTERS) {
		usleep(50000);		/* the value is up to 20 ms old */
		EXPECT_EQ(58u, fdinfo(self->fd, "gtu-jobs"));
	}
	EXPECT_EQ(pinned, status_kib("VmPin"));
	if (piece != MAP_FAILED) {
		struct gtu_hw_desc d = copy_job(a.key, 0, self->key, 0, APERTURE / 8, 3);
		struct gtu_hw_cpl c;

		for (i = 0; i < APERTURE / 8; i++)
			ASSERT_EQ(i * 0x9e3779b97f4a7c15u, piece[i]);
		EXPECT_EQ(GTU_CPL_OK, run(&self->q, &d, &c));
		EXPECT_EQ(0, memcmp(self->memory, piece, 65536));
	}
	if (old) {
		setting.value = 0;
		EXPECT_EQ(0, call(self->fd, GTU_IOCTL_REG_READ, &setting));
		EXPECT_EQ(old + 13, setting.value);
		setting.value = old;
		EXPECT_EQ(0, call(self->fd, GTU_IOCTL_REG_WRITE, &setting));
	}
	/* the file is in the device's current epoch */
	EXPECT_EQ(0, call(self->fd, GTU_IOCTL_INFO, &info));
	EXPECT_EQ(0, call(self->fd, GTU_IOCTL_REG_READ, &epoch));
	EXPECT_EQ(epoch.value, info.epoch);
	/* a removed key is rejected, a new one works, and queues can be created and reset */
	EXPECT_EQ(0, region_remove(self->fd, self->key));
	EXPECT_FALSE(copies(&self->q, self->memory, self->key, 1));
	EXPECT_EQ(0, region_add(self->fd, self->memory, BYTES, RW, &key));
	EXPECT_EQ(0, queue_create(self->fd, 2, 2, &other));
	EXPECT_TRUE(copies(&other, self->memory, key, 2));
	EXPECT_EQ(0, queue_call(&self->q, GTU_IOCTL_QUEUE_RESET));
	EXPECT_TRUE(copies(&self->q, self->memory, key, 3));
}

/* Threads wait in the ioctl and in read(); the sleep must not be visible to them. */
TEST_F_TIMEOUT(sleep, waiters_continue_after_the_sleep, 120)
{
	struct gtu_hw_desc nop = { .opcode = GTU_OP_NOP };
	struct waiter w;
	struct reader r;
	int efd = eventfd(0, EFD_NONBLOCK), i;
	uint64_t events = 0;
	struct gtu_hw_cpl c;
	long before;

	NEEDS(GTU_CAP_SEEK);
	ASSERT_TRUE(copies(&self->q, self->memory, self->key, 1));
	ASSERT_LE(0, efd);
	ASSERT_EQ(0, set_eventfd(&self->q, efd));
	start_waiter(&w, &self->q, self->q.submitted, GTU_WAIT_FOREVER);
	start_reader(&r, self->fd);
	ASSERT_EQ(0, system_sleep());
	usleep(100000);
	/* the sleep may lose an ARM, so the driver signals the eventfd */
	EXPECT_EQ((ssize_t)sizeof(events), read(efd, &events, sizeof(events)));
	EXPECT_EQ(0, w.returned_ns);
	arm(&self->q, self->q.submitted);
	submit(&self->q, &nop);
	EXPECT_EQ(0, join_waiter(&w));
	pthread_join(r.thread, NULL);
	EXPECT_EQ(1, r.ret);
	EXPECT_EQ(self->q.c.id, r.e[0].queue);
	EXPECT_EQ(0, take(&self->q, &c));
	/* interrupts work too, not only the driver's fallback poll */
	before = interrupts();
	for (i = 0; i < 200 && interrupts() == before; i++) {
		arm(&self->q, self->q.submitted);
		EXPECT_EQ(GTU_CPL_OK, run(&self->q, &nop, &c));
		usleep(1000);
	}
	EXPECT_LT(before, interrupts());
	close(efd);
}

static volatile bool stop;

struct user {
	pthread_t thread;
	bool submit;
	uint64_t jobs;
	const char *failed;
};

/* Run jobs without a pause on a separate file and check every byte. */
static void *busy_user(void *arg)
{
	struct user *u = arg;
	uint8_t *memory = pages(65536);
	struct gtu_ioctl_submit s;
	struct gtu_hw_desc d;
	struct queue q;
	uint32_t key;
	int fd = open(device_path(), O_RDWR);

	if (fd < 0 || region_add(fd, memory, 65536, RW, &key)) {
		u->failed = "no file or region";
		return NULL;
	}
	if (u->submit) {
		if (queue_create_as(fd, GTU_QUEUE_SUBMIT, 4, 4, &q))
			u->failed = "no queue";
		for (; !stop && !u->failed; q.consumed++) {
			d = copy_job(key, 0, key, 8192, 4096, 0);
			memset(memory, (int)q.consumed, 4096);
			if (submit_raw(&q, &d, 1, &s) || s.sq_index != q.consumed)
				u->failed = "SUBMIT";
			else if (queue_wait(&q, q.consumed, now_ns() + 60 * SECOND))
				u->failed = "WAIT";
			else if (memcmp(memory, memory + 8192, 4096))
				u->failed = "the bytes";
			u->jobs = q.consumed + 1;
		}
	} else {
		if (queue_create(fd, 2, 2, &q))
			u->failed = "no queue";
		while (!stop && !u->failed) {
			if (!copies(&q, memory, key, (uint8_t)u->jobs))
				u->failed = "a job";
			u->jobs++;
		}
	}
	close(fd);
	return NULL;
}

TEST_F_TIMEOUT(sleep, a_sleep_under_load_loses_no_job, 180)
{
	struct user u[4] = { { .submit = true }, { .submit = false }, { .submit = true }, { .submit = false } };
	uint64_t before[4];
	int i, n;

	NEEDS(GTU_CAP_SEEK);
	stop = false;
	for (i = 0; i < 4; i++)
		pthread_create(&u[i].thread, NULL, busy_user, &u[i]);
	for (n = 0; n < 3; n++) {
		usleep(300000);
		for (i = 0; i < 4; i++)
			before[i] = u[i].jobs;
		EXPECT_EQ(0, system_sleep());
	}
	for (n = 0; n < 200 && !stop; n++) {
		usleep(50000);
		for (i = 0; i < 4 && (u[i].failed || u[i].jobs > before[i] + 2); i++)
			;
		stop = i == 4;
	}
	stop = true;
	for (i = 0; i < 4; i++) {
		pthread_join(u[i].thread, NULL);
		EXPECT_EQ(NULL, u[i].failed) {
			TH_LOG("user %d after %llu jobs: %s", i, (unsigned long long)u[i].jobs, u[i].failed);
		}
		EXPECT_LT(before[i], u[i].jobs);
	}
}

/* Jobs that wait for completion entries keep waiting across the sleep, and none is lost. */
TEST_F_TIMEOUT(sleep, jobs_behind_a_full_completion_ring_survive, 120)
{
	struct gtu_hw_desc nop = { .opcode = GTU_OP_NOP };
	struct gtu_hw_cpl c;
	struct queue q;
	uint32_t i;

	NEEDS(GTU_CAP_SEEK);
	ASSERT_EQ(0, queue_create(self->fd, 4, 2, &q));
	for (i = 0; i < 11; i++)
		put(&q, &nop);
	doorbell(&q, q.submitted, 0);
	ASSERT_EQ(0, queue_wait(&q, 3, now_ns() + 10 * SECOND));
	ASSERT_EQ(0, system_sleep());
	for (i = 0; i < 11; i++) {
		ASSERT_EQ(0, queue_wait(&q, i, now_ns() + 10 * SECOND));
		ASSERT_EQ(0, take(&q, &c));
		EXPECT_EQ(0x1000 + i, c.cookie);
		doorbell(&q, q.submitted, q.consumed);
	}
	EXPECT_FALSE(completed(&q, 11));
}

/*
 * After the sleep the device knows the waiting jobs without another doorbell: all can be cancelled.
 */
TEST_F_TIMEOUT(sleep, waiting_jobs_can_be_cancelled_after_the_sleep, 120)
{
	struct gtu_ioctl_queue_cancel cancel = { .size = sizeof(cancel), .flags = GTU_CANCEL_ALL };
	struct gtu_ioctl_info info = { .size = sizeof(info) };
	struct gtu_hw_desc nop = { .opcode = GTU_OP_NOP };
	struct gtu_hw_cpl c;
	struct queue q;
	uint32_t i;

	NEEDS(GTU_CAP_SEEK);
	NEEDS(GTU_CAP_CANCEL);
	ASSERT_EQ(0, queue_create(self->fd, 4, 2, &q));
	for (i = 0; i < 9; i++)
		put(&q, &nop);
	doorbell(&q, q.submitted, 0);
	ASSERT_EQ(0, queue_wait(&q, 3, now_ns() + 10 * SECOND));
	ASSERT_EQ(0, system_sleep());
	cancel.id = q.c.id;
	ASSERT_EQ(0, call(self->fd, GTU_IOCTL_QUEUE_CANCEL, &cancel));
	for (i = 0; i < 9; i++) {
		ASSERT_EQ(0, queue_wait(&q, i, now_ns() + 10 * SECOND));
		ASSERT_EQ(0, take(&q, &c));
		EXPECT_EQ(i < 4 ? GTU_CPL_OK : GTU_CPL_CANCELED, c.status);
		doorbell(&q, q.submitted, q.consumed);
	}
}

/* A queue error lasts until the queue is reset, also across a sleep. */
TEST_F_TIMEOUT(sleep, a_queue_error_stays_across_a_sleep, 120)
{
	struct queue q;

	NEEDS(GTU_CAP_SEEK);
	ASSERT_EQ(0, queue_create(self->fd, 2, 2, &q));
	doorbell(&q, 1000, 0);
	EXPECT_EQ(EIO, queue_wait(&q, 0, now_ns() + 10 * SECOND));
	ASSERT_EQ(0, system_sleep());
	EXPECT_EQ(GTU_QUEUE_E_TAIL, queue_state(&q));
	EXPECT_EQ(EIO, queue_wait(&q, 0, now_ns() + SECOND));
	EXPECT_EQ(0, queue_call(&q, GTU_IOCTL_QUEUE_RESET));
	EXPECT_TRUE(copies(&q, self->memory, self->key, 9));
}

/*
 * A function reset kills a file. It stays dead across sleeps, even if a reset restarts the epochs
 * so that the file's own epoch recurs.
 */
TEST_F_TIMEOUT(sleep, a_dead_file_stays_dead, 120)
{
	struct gtu_ioctl_info info = { .size = sizeof(info) };
	char path[128];
	int fd, n;

	NEEDS(GTU_CAP_SEEK);
	NEEDS_RESET(path);
	ASSERT_EQ(0, write_to(path, "1"));
	fd = open(device_path(), O_RDWR);
	ASSERT_LE(0, fd);
	for (n = 0; n < 2; n++) {
		ASSERT_EQ(0, system_sleep());
		EXPECT_EQ(n ? ENODEV : 0, call(fd, GTU_IOCTL_INFO, &info));
		ASSERT_EQ(0, write_to(path, "1"));
		EXPECT_EQ(ENODEV, call(fd, GTU_IOCTL_INFO, &info));
	}
	EXPECT_EQ(0, system_sleep());
	EXPECT_EQ(ENODEV, call(fd, GTU_IOCTL_INFO, &info));
	close(fd);
	EXPECT_EQ(ENODEV, call(self->fd, GTU_IOCTL_INFO, &info));
	EXPECT_EQ(GTU_QUEUE_DISABLED, queue_state(&self->q));
}

/* Return how many copies of aperture pages the driver keeps. */
static int saved_extents(void)
{
	FILE *f = fopen("/proc/vmallocinfo", "r");
	char line[256];
	int n = 0;

	if (!f)
		return -1;
	while (fgets(line, sizeof(line), f))
		n += strstr(line, "gtu_aperture_save") || strstr(line, "gtu_extent_save");
	fclose(f);
	return n;
}

/*
 * If the device does not resume, its memory is unpinned, its ring and doorbell mappings read as zeroes, and the copies of its
 * aperture are freed, although the file stays open.
 */
TEST_F_TIMEOUT(sleep, a_failed_resume_leaves_no_memory_pinned_or_saved, 120)
{
	struct gtu_ioctl_info info = { .size = sizeof(info) };
	uint64_t offset;
	uint32_t key;

	NEEDS_FAULT("no-resume", "power-resources");
	NEEDS_ROOT;
	ASSERT_EQ(0, alloc_in(self->fd, GTU_BUFFER_APERTURE, APERTURE, RW, &key, &offset));
	/* the pages stay allocated as long as they are mapped */
	ASSERT_NE(MAP_FAILED, map_shared(self->fd, offset, APERTURE));
	ASSERT_TRUE(copies(&self->q, self->memory, self->key, 1));
	EXPECT_NE(0, self->q.sq[0].opcode);
	EXPECT_LT(0, status_kib("VmPin"));
	ASSERT_EQ(0, system_sleep());
	EXPECT_EQ(ENODEV, call(self->fd, GTU_IOCTL_INFO, &info));
	EXPECT_EQ(0, self->q.sq[0].opcode);
	EXPECT_EQ(GTU_QUEUE_DISABLED, queue_state(&self->q));
	doorbell(&self->q, 1, 0);
	EXPECT_EQ(0, status_kib("VmPin"));
	EXPECT_EQ(0, saved_extents());
}

/* Return the kernel's estimate of available memory in KiB. */
static long available_kib(void)
{
	static char text[8192];
	const char *at;

	if (read_from("/proc/meminfo", text, sizeof(text)) <= 0)
		return -1;
	at = strstr(text, "MemAvailable:");
	return at ? atol(at + strlen("MemAvailable:")) : -1;
}

/*
 * A user whose aperture pages do not fit into memory cannot keep the machine awake: his context ends, and that of others is
 * restored.
 */
TEST_F_TIMEOUT(sleep, an_aperture_that_does_not_fit_ends_its_context, 120)
{
	struct gtu_ioctl_info info = { .size = sizeof(info) };
	int log = kernel_log(), hog = open(device_path(), O_RDWR | O_CLOEXEC);
	volatile uint32_t *small, *large;
	uint64_t offset, bytes;
	uint32_t key;
	void *more;

	ASSERT_EQ(0, call(self->fd, GTU_IOCTL_INFO, &info));
	if (info.aperture_bytes < 128 << 20)
		SKIP(return, "needs an aperture of 128 MiB, as in the guest plan life");
	bytes = info.aperture_bytes / 4 * 3;
	ASSERT_EQ(0, alloc_in(hog, GTU_BUFFER_APERTURE, bytes, RW, &key, &offset));
	large = map_shared(hog, offset, bytes);
	ASSERT_NE(MAP_FAILED, (void *)large);
	large[5] = 77;
	ASSERT_EQ(0, alloc_in(self->fd, GTU_BUFFER_APERTURE, APERTURE, RW, &key, &offset));
	small = map_shared(self->fd, offset, APERTURE);
	ASSERT_NE(MAP_FAILED, (void *)small);
	small[5] = 88;
	/* leave half as much memory as the pages take */
	while (available_kib() > (long)(bytes >> 11)) {
		more = mmap(NULL, 2 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
		ASSERT_NE(MAP_FAILED, more);
	}
	EXPECT_EQ(0, system_sleep());
	EXPECT_EQ(1, logged(log, "no memory to save aperture pages"));
	EXPECT_EQ(ENODEV, call(hog, GTU_IOCTL_INFO, &info));
	EXPECT_EQ(0, large[5]);
	EXPECT_EQ(88, small[5]);
	EXPECT_TRUE(copies(&self->q, self->memory, self->key, 1));
}

/* With lost interrupts, the driver's fallback poll still signals an eventfd after the sleep. */
TEST_F_TIMEOUT(sleep, lost_interrupts_cost_time_only, 120)
{
	struct gtu_hw_desc nop = { .opcode = GTU_OP_NOP };
	struct pollfd p = { .events = POLLIN };
	uint64_t events;

	NEEDS_FAULT("lose-irq", "life");
	p.fd = eventfd(0, EFD_NONBLOCK);
	ASSERT_LE(0, p.fd);
	ASSERT_EQ(0, set_eventfd(&self->q, p.fd));
	ASSERT_EQ(0, system_sleep());
	/* consume the signal that the driver sends to all eventfds after a sleep */
	usleep(100000);
	ASSERT_EQ((ssize_t)sizeof(events), read(p.fd, &events, sizeof(events)));
	arm(&self->q, self->q.submitted);
	submit(&self->q, &nop);
	EXPECT_EQ(1, poll(&p, 1, 5000));
	close(p.fd);
}

/*
 * A stream with a frozen consumer cannot end: it is cancelled, and cannot keep the machine awake.
 * The queue works after the sleep or, if the device cannot cancel, after a reset.
 */
TEST_F_TIMEOUT(sleep, stuck_job_is_cancelled, 120)
{
	volatile struct gtu_hw_ring *ring = (void *)self->memory;
	struct gtu_hw_desc d = stream_job(self->memory, self->key);
	struct gtu_ioctl_info info = { .size = sizeof(info) };
	uint8_t *memory = pages(BYTES);
	const struct gtu_hw_desc nop = { .opcode = GTU_OP_NOP };
	struct gtu_ioctl_submit a;
	char limit[32] = "";
	struct gtu_hw_cpl c;
	struct queue other;
	uint32_t index, key;

	ASSERT_EQ(0, call(self->fd, GTU_IOCTL_INFO, &info));
	NEEDS(GTU_CAP_SEEK);
	if (!(info.units & GTU_UNIT_IRU))
		SKIP(return, "the device has no IRU");
	read_from(LIMIT_FILE, limit, sizeof(limit));
	ASSERT_EQ(0, write_to(LIMIT_FILE, "300"));
	index = submit(&self->q, &d);
	while (ring->producer != RECORDS)
		usleep(1000);
	/* the same in a queue without doorbells */
	ASSERT_EQ(0, region_add(self->fd, memory, BYTES, RW, &key));
	ASSERT_EQ(0, queue_create_as(self->fd, GTU_QUEUE_SUBMIT, 2, 2, &other));
	d = stream_job(memory, key);
	ASSERT_EQ(0, submit_raw(&other, &d, 1, &a));
	EXPECT_EQ(0, system_sleep());
	EXPECT_EQ(0, write_to(LIMIT_FILE, limit));
	if (!(info.caps & GTU_CAP_CANCEL)) {
		EXPECT_EQ(GTU_QUEUE_DISABLED, queue_state(&other));
		EXPECT_EQ(EIO, submit_raw(&other, &nop, 1, &a));
		ASSERT_EQ(0, queue_call(&other, GTU_IOCTL_QUEUE_RESET));
	}
	EXPECT_EQ(0, submit_raw(&other, &nop, 1, &a));
	if (info.caps & GTU_CAP_CANCEL) {
		EXPECT_TRUE(completed(&self->q, index));
		EXPECT_EQ(0, take(&self->q, &c));
		/* the other stream waits for the same unit: on a slow host, the device ends this one first */
		EXPECT_TRUE(c.status == GTU_CPL_CANCELED || c.status == GTU_CPL_STALLED);
		EXPECT_EQ(0, take(&other, &c));
		EXPECT_EQ(GTU_CPL_CANCELED, c.status);
	} else {
		EXPECT_EQ(GTU_QUEUE_DISABLED, queue_state(&self->q));
		EXPECT_EQ(0, queue_call(&self->q, GTU_IOCTL_QUEUE_RESET));
	}
	EXPECT_TRUE(copies(&self->q, self->memory, self->key, 4));
}

/*
 * Without GTU_CAP_SEEK, a file with used queues is dead after the sleep, and a file with unused
 * queues works. Nothing of the dead file stays on the device, although its first queue could be
 * restored before the second could not.
 */
TEST_F_TIMEOUT(sleep, queues_are_lost_without_seek, 120)
{
	struct gtu_ioctl_info info = { .size = sizeof(info) };
	struct pollfd p = { .events = POLLIN };
	struct queue fresh, used;
	struct waiter w;
	struct gtu_hw_desc d;
	uint8_t *memory = pages(65536);
	uint32_t key;
	int fd;

	ASSERT_EQ(0, call(self->fd, GTU_IOCTL_INFO, &info));
	if (info.caps & GTU_CAP_SEEK)
		SKIP(return, "the device has GTU_CAP_SEEK");
	fd = open(device_path(), O_RDWR);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, region_add(fd, memory, 65536, RW, &key));
	ASSERT_EQ(0, queue_create(fd, 2, 2, &fresh));
	ASSERT_EQ(0, queue_create(self->fd, 3, 3, &used));
	ASSERT_LT(self->q.c.id, used.c.id);
	ASSERT_TRUE(copies(&used, self->memory, self->key, 4));
	start_waiter(&w, &used, used.submitted, GTU_WAIT_FOREVER);
	ASSERT_EQ(0, system_sleep());
	EXPECT_EQ(ENODEV, join_waiter(&w));
	EXPECT_EQ(ENODEV, call(self->fd, GTU_IOCTL_INFO, &info));
	EXPECT_EQ(GTU_QUEUE_DISABLED, queue_state(&used));
	EXPECT_EQ(GTU_QUEUE_DISABLED, queue_state(&self->q));
	p.fd = self->fd;
	EXPECT_EQ(1, poll(&p, 1, 1000));
	EXPECT_EQ(POLLERR | POLLHUP, p.revents);
	memset(self->memory, 5, 4096);
	d = copy_job(self->key, 0, self->key, 8192, 4096, 0);
	submit(&self->q, &d);
	usleep(300000);
	EXPECT_EQ(4, self->memory[8192]);
	EXPECT_TRUE(copies(&fresh, memory, key, 5));
	close(fd);
}

TEST_HARNESS_MAIN
