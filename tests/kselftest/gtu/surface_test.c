// SPDX-License-Identifier: MIT
/*
 * Tests the administrator's interfaces: sysfs, debugfs, tracepoints, and the state dump of a hung
 * queue.
 *
 * Needs root.
 */
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "gtu_stream.h"

#define BYTES	(1u << 20)
#define TEXT	(1u << 20)

FIXTURE(surface)
{
	int fd;
	struct gtu_ioctl_info info;
	struct queue q;
	uint8_t *memory;
	uint32_t key;
	char *text;
};

FIXTURE_SETUP(surface)
{
	NEEDS_ROOT;
	OPEN_OR_SKIP(self->fd);
	self->info.size = sizeof(self->info);
	ASSERT_EQ(0, call(self->fd, GTU_IOCTL_INFO, &self->info));
	self->text = malloc(TEXT);
	self->memory = pages(BYTES);
	ASSERT_EQ(0, region_add(self->fd, self->memory, BYTES, RW, &self->key));
	ASSERT_EQ(0, queue_create(self->fd, 4, 4, &self->q));
}

NO_TEARDOWN(surface);

/*
 * ---- sysfs --------------------------------------------------------------------------------------
 */

/* Return a number from the device's folder in sysfs, or all ones if the file is missing. */
static uint64_t sysfs(const char *format, ...)
{
	char path[256], text[64];
	va_list args;
	int n = snprintf(path, sizeof(path), "/sys/class/gtu/%s/", device_name());

	va_start(args, format);
	vsnprintf(path + n, sizeof(path) - (size_t)n, format, args);
	va_end(args);
	if (read_from(path, text, sizeof(text)) <= 0 || !strchr(text, '\n'))
		return ~0ull;
	return strtoull(text, NULL, 0);
}

TEST_F(surface, sysfs_shows_the_identity_of_the_device)
{
	const struct gtu_ioctl_info *i = &self->info;
	char path[128];

	EXPECT_EQ(i->uapi_version, sysfs("uapi_version"));
	EXPECT_EQ(i->caps, sysfs("caps"));
	EXPECT_EQ(i->units, sysfs("units"));
	EXPECT_EQ(i->epoch, sysfs("epoch"));
	EXPECT_EQ(i->max_contexts, sysfs("max_contexts"));
	EXPECT_EQ(i->max_queues, sysfs("max_queues"));
	EXPECT_EQ(i->max_regions_log2, sysfs("max_regions_log2"));
	EXPECT_EQ(i->max_ring_log2, sysfs("max_ring_log2"));
	EXPECT_EQ(i->vectors, sysfs("vectors"));
	EXPECT_EQ(i->doorbell_stride_log2, sysfs("doorbell_stride_log2"));
	EXPECT_EQ(i->clock_hz, sysfs("clock_hz"));
	EXPECT_EQ(i->aperture_bytes, sysfs("aperture_bytes"));
	EXPECT_EQ(i->ctx_queues, sysfs("ctx_queues"));
	snprintf(path, sizeof(path), "/sys/class/gtu/%s/hw_version", device_name());
	ASSERT_LT(0, read_from(path, self->text, TEXT));
	EXPECT_EQ(i->hw_version >> 16, strtoul(self->text, NULL, 10));
	EXPECT_EQ(i->hw_version & 0xffff, strtoul(strchr(self->text, '.') + 1, NULL, 10));
	snprintf(path, sizeof(path), "/sys/class/gtu/%s/state", device_name());
	ASSERT_LT(0, read_from(path, self->text, TEXT));
	EXPECT_EQ(0, strcmp("up\n", self->text));
}

/* Units that are present have their folders, others have none; values match the registers. */
TEST_F(surface, sysfs_has_folders_only_of_present_units)
{
	static const char *const unit[] = { "scu", "iru", "peg", "wvr", "zcm" };
	struct stat st;
	char path[160];
	unsigned int u;

	for (u = 0; u < 5; u++) {
		const int present = self->info.units >> u & 1 ? 0 : -1;

		snprintf(path, sizeof(path), "/sys/class/gtu/%s/%s", device_name(), unit[u]);
		EXPECT_EQ(present, stat(path, &st));
		snprintf(path, sizeof(path), "/sys/class/gtu/%s/%s_counters", device_name(),
			 unit[u]);
		EXPECT_EQ(present, stat(path, &st));
	}
	if (self->info.units & GTU_UNIT_SCU) {
		EXPECT_EQ(reg_read(self->fd, GTU_PAGE_SCU + GTU_UREG_PARAM(GTU_SCU_P_WIDTH)),
			  sysfs("scu/width"));
		EXPECT_EQ(reg_read(self->fd, GTU_PAGE_SCU + GTU_UREG_PARAM(GTU_SCU_P_LINES_LOG2)),
			  sysfs("scu/lines_log2"));
	}
	if (self->info.units & GTU_UNIT_IRU) {
		EXPECT_EQ(reg_read(self->fd, GTU_PAGE_IRU + GTU_UREG_PARAM(GTU_IRU_P_SETS)),
			  sysfs("iru/sets"));
		EXPECT_EQ(reg_read(self->fd, GTU_PAGE_IRU + GTU_UREG_PARAM(GTU_IRU_P_QUEUE_DEPTH)),
			  sysfs("iru/queue_depth"));
		EXPECT_EQ(reg_read(self->fd, GTU_PAGE_IRU + GTU_UREG_SET(GTU_IRU_S_TIMEOUT)),
			  sysfs("iru/timeout"));
	}
	EXPECT_EQ(~0ull, sysfs("scu/no_such"));
}

/* Copy @n elements with the SCU, so that the in and out counters grow equally. */
static struct gtu_hw_desc scu_job(uint32_t key, uint32_t n)
{
	struct gtu_hw_desc d = { .opcode = GTU_OP_SCU_DATA, .param = 2 << GTU_SCU_WIDTH_SHIFT };

	d.operand[GTU_SCU_DATA] = (struct gtu_hw_operand){ key, n, 0 };
	d.operand[GTU_SCU_OUT] = (struct gtu_hw_operand){ key, n, BYTES / 2 };
	return d;
}

static volatile bool stop;

static void *scu_user(void *arg)
{
	struct queue *q = arg;
	struct gtu_hw_desc d = scu_job(*(uint32_t *)(q + 1), 1000);
	struct gtu_hw_cpl c;

	while (!stop)
		run(q, &d, &c);
	return NULL;
}

/*
 * The counters of a group come from one snapshot, never decrease, and reading them raises no error.
 */
TEST_F(surface, counters_come_from_one_snapshot)
{
	struct { struct queue q; uint32_t key; } user = { self->q, self->key };
	uint64_t in, out, jobs, last = 0, same = 0, moved = 0, lead;
	struct gtu_hw_desc d = scu_job(self->key, 1000);
	struct gtu_hw_cpl c;
	pthread_t thread;
	unsigned int i;

	if (!(self->info.units & GTU_UNIT_SCU))
		SKIP(return, "the device has no SCU");
	/*
	 * earlier jobs may have produced more elements than they consumed, but jobs of this test do
	 * not
	 */
	in = sysfs("scu_counters/in");
	lead = sysfs("scu_counters/out") - in;
	jobs = sysfs("scu_counters/jobs");
	ASSERT_EQ(GTU_CPL_OK, run(&user.q, &d, &c));
	usleep(50000);
	EXPECT_EQ(in + 1000, sysfs("scu_counters/in"));
	EXPECT_EQ(jobs + 1, sysfs("scu_counters/jobs"));
	pthread_create(&thread, NULL, scu_user, &user);
	/* a slow kernel seldom reads three files while one snapshot is valid */
	for (i = 0; i < 5000 && (same < 50 || moved < 6); i++) {
		in = sysfs("scu_counters/in");
		out = sysfs("scu_counters/out");
		if (in == sysfs("scu_counters/in")) {
			EXPECT_EQ(in + lead, out);
			same++;
		}
		EXPECT_LE(last, in);
		moved += in != last;
		last = in;
	}
	stop = true;
	pthread_join(thread, NULL);
	TH_LOG("%llu of %u rounds within one snapshot, %llu snapshots", (unsigned long long)same, i,
	       (unsigned long long)moved);
	EXPECT_LE(50, same);
	EXPECT_LT(5, moved);
	snprintf(self->text, TEXT, "/sys/kernel/debug/gtu/%s/registers", device_name());
	ASSERT_LT(0, read_from(self->text, self->text + 256, TEXT - 256));
	EXPECT_NE(NULL, strstr(self->text + 256, " error 0x0\n"));
}

/* Counters are readable only by root, because they reveal the activity of other users. */
TEST_F(surface, only_root_can_read_counters)
{
	static const struct {
		const char *path;
		mode_t mode;
	} file[] = {
		{ "/sys/class/gtu/%s/caps", 0444 }, { "/sys/class/gtu/%s/state", 0444 },
		{ "/sys/class/gtu/%s/scu/width", 0444 }, { "/sys/class/gtu/%s/iru/timeout", 0444 },
		{ "/sys/class/gtu/%s/scu_counters/jobs", 0400 },
		{ "/sys/kernel/debug/gtu/%s/registers", 0400 },
		{ "/sys/kernel/debug/gtu/%s/dump", 0400 },
	};
	struct stat st;
	char path[128];
	unsigned int i;

	for (i = 0; i < sizeof(file) / sizeof(*file); i++) {
		snprintf(path, sizeof(path), file[i].path, device_name());
		ASSERT_EQ(0, stat(path, &st));
		EXPECT_EQ(file[i].mode, st.st_mode & 07777);
		EXPECT_EQ(0, st.st_uid);
	}
}

/*
 * ---- debugfs ------------------------------------------------------------------------------------
 */

static ssize_t debugfs(const char *name, char *text)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/kernel/debug/gtu/%s/%s", device_name(), name);
	return read_from(path, text, TEXT);
}

#define SHOWS(part)                                                                                \
	EXPECT_NE(NULL, strstr(self->text, part)) {                                                \
		TH_LOG("missing in the file: %s", part);                                           \
	}

TEST_F(surface, debugfs_shows_queues_regions_and_contexts)
{
	struct gtu_hw_desc d = copy_job(self->key, 0, self->key, BYTES / 2, 16, 2);
	struct gtu_hw_cpl c;
	char what[128], name[16];
	uint64_t snapshot, offset;
	uint32_t buffer;

	if (access("/sys/kernel/debug/devices_deferred", F_OK))
		SKIP(return, "no debugfs: mount -t debugfs none /sys/kernel/debug");
	ASSERT_LT(0, debugfs("registers", self->text));
	SHOWS("0x0000 magic 0x31555447\n");
	SHOWS("mbox_status 0x0\n");
	if (self->info.units & GTU_UNIT_PEG) {
		SHOWS(" peg.r_efs[0] 0x0\n");
	}
	ASSERT_EQ(GTU_CPL_OK, run(&self->q, &d, &c));
	d.operand[1].key = 0x7fff0000;
	ASSERT_EQ(GTU_CPL_KEY, run(&self->q, &d, &c));
	ASSERT_LT(0, debugfs("queues", self->text));
	snprintf(what, sizeof(what), "queue %u: enabled (1) epoch %u sq_head 2 of 16", self->q.c.id,
		 self->info.epoch);
	SHOWS(what);
	SHOWS("job 0: copy (0x1)");
	snprintf(what, sizeof(what), "operand 0: key %#x offset 0x0 count 16", self->key);
	SHOWS(what);
	SHOWS("waiters 0, events");
	EXPECT_EQ(self->text, strstr(self->text, "context "));
	SHOWS("completion 0: job 0 ok (0)");
	SHOWS("completion 1: job 1 key (5) operand 1");
	ASSERT_LT(0, debugfs("regions", self->text));
	snprintf(what, sizeof(what), "key %#x: rw, %u bytes, 256 pages of user space", self->key,
		 BYTES);
	SHOWS(what);
	/* contiguous memory needs no page list */
	ASSERT_EQ(0, buffer_alloc(self->fd, 4096, &buffer, &offset));
	ASSERT_LT(0, debugfs("regions", self->text));
	snprintf(what, sizeof(what), "key %#x: rw, 4096 bytes, 1 pages of the driver, %u levels of 2^%u",
		 buffer, self->info.caps & GTU_CAP_LINEAR ? 0 : 1, self->info.caps & GTU_CAP_LINEAR ? 12 : 40);
	SHOWS(what);
	ASSERT_EQ(0, region_remove(self->fd, buffer));
	ASSERT_LT(0, debugfs("contexts", self->text));
	ASSERT_EQ(0, prctl(PR_GET_NAME, name));
	snprintf(what, sizeof(what), "pid %d (%s) epoch %u, 1 queues, 1 region slots", getpid(), name,
		 self->info.epoch);
	SHOWS(what);
	ASSERT_LT(0, debugfs("events", self->text));
	SHOWS("vector 0: irq ");
	ASSERT_LT(0, debugfs("dump", self->text));
	SHOWS("[registers]\n");
	SHOWS("[events]\n");
	SHOWS("completion 1: job 1 key (5) operand 1");
	/* reading debugfs takes no snapshot of the counters and raises no error */
	if (self->info.units & GTU_UNIT_SCU) {
		snapshot = reg_read(self->fd, GTU_PAGE_SCU + GTU_UREG_COUNTER(GTU_SCU_C_JOBS));
		d = scu_job(self->key, 16);
		ASSERT_EQ(GTU_CPL_OK, run(&self->q, &d, &c));
		ASSERT_LT(0, debugfs("registers", self->text));
		EXPECT_EQ(snapshot,
			  reg_read(self->fd, GTU_PAGE_SCU + GTU_UREG_COUNTER(GTU_SCU_C_JOBS)));
	}
	ASSERT_LT(0, debugfs("registers", self->text));
	SHOWS(" error 0x0\n");
}

/* Read all files continuously, and count how often they are there. */
static void *looker(void *arg)
{
	static const char *const file[] = { "registers", "contexts", "queues", "regions", "events",
					    "dump" };
	char *text = malloc(TEXT);
	unsigned int i = 0;
	bool there;

	while (!stop) {
		there = debugfs(file[i++ % 6], text) > 0;
		sysfs("scu_counters/jobs");
		sysfs("scu/width");
		there &= sysfs("state") != ~0ull;
		__atomic_add_fetch((unsigned int *)arg, there, __ATOMIC_RELAXED);
	}
	free(text);
	return NULL;
}

/* Create and remove contexts, queues and regions continuously. */
static void *comer(void *arg)
{
	uint32_t key;
	struct queue q;
	int fd;

	while (!stop) {
		fd = open(device_path(), O_RDWR);
		if (fd < 0) {
			usleep(1000);
			continue;
		}
		if (!region_add(fd, arg, 8192, RW, &key) && !queue_create(fd, 2, 2, &q)) {
			submit(&q, &NO_JOB);
			queue_wait(&q, 0, now_ns() + SECOND / 10);
			queue_unmap(&q);
		}
		close(fd);
	}
	return NULL;
}

TEST_F_TIMEOUT(surface, the_device_can_be_removed_while_files_are_read, 90)
{
	char function[64], path[128], byte;
	pthread_t thread[3];
	unsigned int i, looks = 0;
	int held;

	ASSERT_EQ(0, bus_function(device_path(), function));
	snprintf(path, sizeof(path), "/sys/kernel/debug/gtu/%s/dump", device_name());
	held = open(path, O_RDONLY);
	ASSERT_LE(0, held);
	pthread_create(&thread[0], NULL, looker, &looks);
	pthread_create(&thread[1], NULL, looker, &looks);
	pthread_create(&thread[2], NULL, comer, self->memory);
	/* until enough reads have succeeded, or the test's time limit */
	for (i = 0; i < 8 || __atomic_load_n(&looks, __ATOMIC_RELAXED) <= 20; i++) {
		usleep(60000 + i * 7000);
		ASSERT_EQ(0, driver_file(function, "unbind"));
		ASSERT_EQ(0, driver_file(function, "bind"));
	}
	stop = true;
	for (i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	TH_LOG("%u reads", looks);
	/* a file opened before the removal fails to read */
	EXPECT_EQ(-1, read(held, &byte, 1));
	close(held);
	EXPECT_LT(0, debugfs("registers", self->text));
	EXPECT_EQ(self->info.max_queues, sysfs("max_queues"));
}

/*
 * ---- Tracepoints --------------------------------------------------------------------------------
 */

#define TRACING "/sys/kernel/tracing/"

TEST_F(surface, tracepoints_record_regions_waits_and_events)
{
	struct waiter w;
	uint32_t key;
	struct gtu_hw_cpl c;
	char what[128];

	if (write_to(TRACING "events/gtu/enable", "1"))
		SKIP(return, "no tracefs: mount -t tracefs none /sys/kernel/tracing");
	write_to(TRACING "trace", "");
	ASSERT_EQ(0, region_add(self->fd, self->memory, 8192, GTU_RIGHT_READ, &key));
	ASSERT_EQ(ETIMEDOUT, queue_wait(&self->q, 0, now_ns() + SECOND / 50));
	/*
	 * a wait that starts before the submission ends by an interrupt; a later one may find the
	 * job completed
	 */
	start_waiter(&w, &self->q, 0, now_ns() + 20 * SECOND);
	submit(&self->q, &NO_JOB);
	ASSERT_EQ(0, join_waiter(&w));
	ASSERT_EQ(0, take(&self->q, &c));
	ASSERT_EQ(0, region_remove(self->fd, key));
	write_to(TRACING "events/gtu/enable", "0");
	ASSERT_LT(0, read_from(TRACING "trace", self->text, TEXT));
	SHOWS("gtu_pin: gtu0 pages=2 rights=r\n");
	SHOWS("gtu_unpin: gtu0 pages=2 rights=r\n");
	snprintf(what, sizeof(what), " key=%#x length=8192 rights=r\n", key);
	SHOWS(what);
	snprintf(what, sizeof(what), " key=%#x ret=0\n", key);
	SHOWS(what);
	snprintf(what, sizeof(what), "queue=%u index=0 ret=-110\n", self->q.c.id);
	SHOWS(what);
	snprintf(what, sizeof(what), "queue=%u index=0 ret=0\n", self->q.c.id);
	SHOWS(what);
	snprintf(what, sizeof(what), "queue=%u cq_tail=1 sq_head=1 state=1\n", self->q.c.id);
	SHOWS(what);
	SHOWS("gtu_interrupt: gtu0 irq=");
}

/*
 * ---- A state dump when a queue hangs ------------------------------------------------------------
 */

#define HANG_MS "/sys/module/gtu/parameters/hang_ms"

static bool dump_comes(unsigned int ms)
{
	for (; ms && !dump_file(); ms -= ms < 20 ? ms : 20)
		usleep(20000);
	return dump_file();
}

static void dump_forget(void)
{
	while (dump_file()) {
		write_to(dump_file(), "1");
		usleep(10000);
	}
}

TEST_F_TIMEOUT(surface, a_hang_with_a_waiter_makes_one_dump, 60)
{
	struct gtu_hw_desc d = stream_job(self->memory, self->key);
	char what[128];
	uint32_t i;

	if (!(self->info.units & GTU_UNIT_IRU))
		SKIP(return, "the device has no IRU");
	if (access("/sys/class/devcoredump", F_OK))
		SKIP(return, "the kernel has no CONFIG_DEV_COREDUMP");
	dump_forget();
	ASSERT_EQ(0, write_to(HANG_MS, "200"));
	/* an idle queue is not a hang, and neither is a full completion ring */
	EXPECT_EQ(ETIMEDOUT, queue_wait(&self->q, 0, now_ns() + SECOND));
	for (i = 0; i < 16; i++)
		put(&self->q, &NO_JOB);
	doorbell(&self->q, 16, 0);
	ASSERT_EQ(0, queue_wait(&self->q, 15, now_ns() + SECOND));
	put(&self->q, &NO_JOB);
	doorbell(&self->q, 17, 0);
	EXPECT_EQ(ETIMEDOUT, queue_wait(&self->q, 16, now_ns() + SECOND));
	EXPECT_EQ(NULL, dump_file());
	ASSERT_EQ(0, queue_call(&self->q, GTU_IOCTL_QUEUE_RESET));
	/* a stalled job without a waiter is not a hang either */
	submit(&self->q, &d);
	EXPECT_FALSE(dump_comes(1000));
	/* a stalled job with a waiter is a hang; a busy machine may detect it late */
	for (i = 0; i < 20 && !dump_file(); i++)
		EXPECT_EQ(ETIMEDOUT, queue_wait(&self->q, 0, now_ns() + SECOND));
	ASSERT_TRUE(dump_comes(500));
	ASSERT_LT(0, read_from(dump_file(), self->text, TEXT));
	snprintf(what, sizeof(what), "queue %u of context", self->q.c.id);
	EXPECT_EQ(self->text, strstr(self->text, what));
	SHOWS("made no progress for 200 ms\n");
	SHOWS("[registers]\n0x0000 magic 0x31555447\n");
	snprintf(what, sizeof(what), "key %#x: rw, %u bytes, 256 pages of user space", self->key,
		 BYTES);
	SHOWS(what);
	SHOWS("job 0: iru-stream (0x20)");
	SHOWS("[events]\n");
	/* one dump per hang */
	dump_forget();
	EXPECT_EQ(ETIMEDOUT, queue_wait(&self->q, 0, now_ns() + SECOND));
	EXPECT_EQ(NULL, dump_file());
	/* a new hang makes a new dump; poll() counts as waiting */
	ASSERT_EQ(0, queue_call(&self->q, GTU_IOCTL_QUEUE_RESET));
	read(self->fd, self->text, TEXT);
	d = stream_job(self->memory, self->key);
	submit(&self->q, &d);
	for (i = 0; i < 20 && !dump_file(); i++)
		poll(&(struct pollfd){ .fd = self->fd, .events = POLLIN }, 1, 1000);
	EXPECT_TRUE(dump_comes(100));
	dump_forget();
	/* hang detection is off */
	ASSERT_EQ(0, write_to(HANG_MS, "0"));
	ASSERT_EQ(0, queue_call(&self->q, GTU_IOCTL_QUEUE_RESET));
	d = stream_job(self->memory, self->key);
	submit(&self->q, &d);
	EXPECT_EQ(ETIMEDOUT, queue_wait(&self->q, 0, now_ns() + 2 * SECOND));
	EXPECT_EQ(NULL, dump_file());
	EXPECT_EQ(0, write_to(HANG_MS, "10000"));
}

/* A hang is measured from the last progress of a queue, not from the begin of a wait. */
TEST_F_TIMEOUT(surface, a_hang_is_measured_from_the_last_progress, 60)
{
	struct gtu_hw_desc d = stream_job(self->memory, self->key);
	struct waiter w;
	uint64_t progress;
	bool early;

	if (!(self->info.units & GTU_UNIT_IRU) || access("/sys/class/devcoredump", F_OK))
		SKIP(return, "the device has no IRU, or the kernel no CONFIG_DEV_COREDUMP");
	dump_forget();
	ASSERT_EQ(0, write_to(HANG_MS, "2000"));
	start_waiter(&w, &self->q, 9, now_ns() + 20 * SECOND);
	usleep(1700000);
	progress = now_ns();
	submit(&self->q, &NO_JOB);
	usleep(700000);
	submit(&self->q, &d);
	/* more than the limit since the wait began, but not since the progress, unless the host stalls */
	early = dump_comes(700) && now_ns() < progress + 2 * SECOND;
	EXPECT_FALSE(early);
	EXPECT_TRUE(dump_comes(10000));
	dump_forget();
	ASSERT_EQ(0, queue_call(&self->q, GTU_IOCTL_QUEUE_RESET));
	EXPECT_EQ(ECANCELED, join_waiter(&w));
	EXPECT_EQ(0, write_to(HANG_MS, "10000"));
}

TEST_F_TIMEOUT(surface, idle_waiters_do_not_hide_a_hang, 90)
{
	struct gtu_hw_desc d = stream_job(self->memory, self->key);
	struct waiter w[13];
	struct queue q[13];
	unsigned int i;

	if (!(self->info.units & GTU_UNIT_IRU) || access("/sys/class/devcoredump", F_OK))
		SKIP(return, "the device has no IRU, or the kernel no CONFIG_DEV_COREDUMP");
	dump_forget();
	ASSERT_EQ(0, write_to(HANG_MS, "1000"));
	for (i = 0; i < 13; i++) {
		ASSERT_EQ(0, queue_create(self->fd, 2, 2, &q[i]));
		start_waiter(&w[i], &q[i], 0, now_ns() + 60 * SECOND);
	}
	submit(&q[12], &d);
	EXPECT_TRUE(dump_comes(15000));
	dump_forget();
	EXPECT_EQ(0, write_to(HANG_MS, "10000"));
	for (i = 0; i < 13; i++) {
		ASSERT_EQ(0, queue_call(&q[i], GTU_IOCTL_QUEUE_RESET));
		EXPECT_EQ(ECANCELED, join_waiter(&w[i]));
	}
}

/* The largest limits, scaled, are long. */
TEST_F_TIMEOUT(surface, limits_do_not_overflow, 60)
{
	static const char scale[] = "/sys/module/gtu/parameters/time_scale";
	struct gtu_hw_desc d = stream_job(self->memory, self->key);

	if (!(self->info.units & GTU_UNIT_IRU) || access("/sys/class/devcoredump", F_OK))
		SKIP(return, "the device has no IRU, or the kernel no CONFIG_DEV_COREDUMP");
	dump_forget();
	ASSERT_EQ(0, write_to(HANG_MS, "4294967295"));
	ASSERT_EQ(0, write_to(scale, "1000"));
	submit(&self->q, &d);
	EXPECT_EQ(ETIMEDOUT, queue_wait(&self->q, 0, now_ns() + 3 * SECOND));
	EXPECT_EQ(NULL, dump_file());
	EXPECT_EQ(0, write_to(scale, "1"));
	EXPECT_EQ(0, write_to(HANG_MS, "10000"));
}

/* Users can provoke state dumps: at most eight are taken a minute. */
TEST_F_TIMEOUT(surface, at_most_eight_state_dumps_are_taken_a_minute, 60)
{
	int log = kernel_log();
	char function[64];
	unsigned int i, n;

	NEEDS_ROOT;
	if (!(self->info.units & GTU_UNIT_IRU) || log < 0)
		SKIP(return, "the device has no IRU, or the caller may not read the log");
	ASSERT_EQ(0, write_to(HANG_MS, "80"));
	for (i = 0; i < 12; i++) {
		struct gtu_hw_desc d = stream_job(self->memory, self->key);

		submit(&self->q, &d);
		EXPECT_EQ(ETIMEDOUT, queue_wait(&self->q, 0, now_ns() + SECOND / 2));
		ASSERT_EQ(0, queue_call(&self->q, GTU_IOCTL_QUEUE_RESET));
		dump_forget();
	}
	ASSERT_EQ(0, write_to(HANG_MS, "10000"));
	n = logged(log, "made no progress for 80 ms");
	TH_LOG("%u of 12 hangs were logged", n);
	EXPECT_LT(0u, n);
	EXPECT_GE(8u, n);
	close(log);
	/* later tests need dumps: a device that is bound again counts from 0 */
	ASSERT_EQ(0, bus_function(device_path(), function));
	ASSERT_EQ(0, driver_file(function, "unbind"));
	ASSERT_EQ(0, driver_file(function, "bind"));
}

/* The driver works without a valid device tree blob, and reports a corrupt one. */
TEST_F(surface, a_corrupt_device_tree_is_reported_and_not_used)
{
	int log = kernel_log();
	char function[64], path[128];
	struct gtu_hw_cpl c;
	struct queue q;
	int fd;

	NEEDS_FAULT("fdt-crc", "faulty");
	ASSERT_LE(0, log);
	snprintf(path, sizeof(path), "/sys/class/gtu/%s/fdt", device_name());
	EXPECT_EQ(0u, self->info.fdt_bytes);
	EXPECT_NE(0, access(path, F_OK));
	ASSERT_EQ(0, bus_function(device_path(), function));
	ASSERT_EQ(0, driver_file(function, "unbind"));
	ASSERT_EQ(0, driver_file(function, "bind"));
	EXPECT_EQ(1u, logged(log, "the device tree blob is corrupt"));
	fd = reopen();
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, queue_create(fd, 2, 2, &q));
	EXPECT_EQ(GTU_CPL_OK, run(&q, &NO_JOB, &c));
	close(log);
}

TEST_HARNESS_MAIN
