// SPDX-License-Identifier: MIT
/*
 * Tests the device's counters as events of perf (gtu0/scu_jobs/), and that a file keeps its own
 * snapshot of counters.
 */
#include <linux/perf_event.h>
#include <sys/syscall.h>

#include "gtu_util.h"

#define BYTES		(64u << 10)

FIXTURE(pmu)
{
	int fd;
	struct queue q;
	uint32_t key;
	char folder[96];
};

FIXTURE_SETUP(pmu)
{
	OPEN_OR_SKIP(self->fd);
	NEEDS_ROOT;
	snprintf(self->folder, sizeof(self->folder), "/sys/bus/event_source/devices/%s", device_name());
	if (access("/sys/bus/event_source", F_OK))
		SKIP(return, "the kernel has no performance events");
	ASSERT_EQ(0, region_add(self->fd, pages(BYTES), BYTES, RW, &self->key));
	ASSERT_EQ(0, queue_create(self->fd, 4, 4, &self->q));
}

NO_TEARDOWN(pmu);

/* A job of the SCU over @n elements. */
static int scu_job(struct queue *q, uint32_t key, uint32_t n)
{
	struct gtu_hw_desc d = { .opcode = GTU_OP_SCU_BITMASK, .param = 2u };
	struct gtu_hw_cpl c;

	d.operand[GTU_SCU_DATA] = (struct gtu_hw_operand){ key, n, 0 };
	d.operand[GTU_SCU_OUT] = (struct gtu_hw_operand){ key, n, BYTES / 2 };
	return run(q, &d, &c);
}

static int number_in(const char *folder, const char *name)
{
	char path[200], text[64];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return read_from(path, text, sizeof(text)) > 0 ? atoi(text) : -1;
}

/* Open the event @name. Return the file, or -errno. */
static int event_open(const char *folder, const char *name, int pid, int cpu, uint64_t period)
{
	struct perf_event_attr a = { .size = sizeof(a), .sample_period = period };
	char path[200], text[64];
	unsigned int unit, counter;
	int fd;

	snprintf(path, sizeof(path), "%s/events/%s", folder, name);
	if (read_from(path, text, sizeof(text)) <= 0 ||
	    sscanf(text, "unit=%x,counter=%x", &unit, &counter) != 2)
		return -ENOENT;
	a.type = (uint32_t)number_in(folder, "type");
	a.config = unit | counter << 8;
	fd = (int)syscall(SYS_perf_event_open, &a, pid, cpu, -1, 0);
	return fd < 0 ? -errno : fd;
}

static uint64_t count_of(int event)
{
	uint64_t value = 0;

	return read(event, &value, sizeof(value)) == sizeof(value) ? value : ~0ull;
}

static int control(int fd, uint32_t value)
{
	struct gtu_ioctl_reg r = { .size = sizeof(r), .offset = GTU_PAGE_SCU + GTU_UREG_CTRL,
				   .value = value };

	return call(fd, GTU_IOCTL_REG_WRITE, &r);
}

static uint64_t jobs_register(int fd)
{
	return reg_read(fd, GTU_PAGE_SCU + GTU_UREG_COUNTER(GTU_SCU_C_JOBS));
}

TEST_F(pmu, sysfs_describes_the_events_for_perf)
{
	char path[200], text[64];

	snprintf(path, sizeof(path), "%s/format/unit", self->folder);
	ASSERT_LT(0, read_from(path, text, sizeof(text)));
	EXPECT_EQ(0, strcmp(text, "config:0-7\n"));
	snprintf(path, sizeof(path), "%s/format/counter", self->folder);
	ASSERT_LT(0, read_from(path, text, sizeof(text)));
	EXPECT_EQ(0, strcmp(text, "config:8-15\n"));
	EXPECT_LE(0, number_in(self->folder, "cpumask"));
	snprintf(path, sizeof(path), "%s/events/iru_in", self->folder);
	EXPECT_EQ(0, access(path, R_OK));
	/* a level is no event */
	snprintf(path, sizeof(path), "%s/events/zcm_in_flight", self->folder);
	EXPECT_NE(0, access(path, F_OK));
}

TEST_F(pmu, unsupported_events_are_refused)
{
	struct perf_event_attr a = { .size = sizeof(a) };
	int cpu = number_in(self->folder, "cpumask");

	ASSERT_LE(0, cpu);
	/* not of a task, and without samples */
	EXPECT_EQ(-EOPNOTSUPP, event_open(self->folder, "scu_jobs", 0, -1, 0));
	EXPECT_EQ(-EOPNOTSUPP, event_open(self->folder, "scu_jobs", -1, cpu, 1000));
	/* no such unit, counter or bit */
	a.type = (uint32_t)number_in(self->folder, "type");
	for (a.config = 0; a.config < 1ull << 40; a.config = a.config ? a.config << 8 | 0xf9 : 0xf9) {
		EXPECT_EQ(-1, syscall(SYS_perf_event_open, &a, -1, cpu, -1, 0));
		EXPECT_EQ(EINVAL, errno);
	}
	a.config = 0x3f01;
	EXPECT_EQ(-1, syscall(SYS_perf_event_open, &a, -1, cpu, -1, 0));
	EXPECT_EQ(EINVAL, errno);
	/* the kernel asks every driver for a type that no driver has */
	a.type = INT32_MAX;
	a.config = 0;
	EXPECT_GT(0, syscall(SYS_perf_event_open, &a, -1, cpu, -1, 0));
	EXPECT_EQ(ENOENT, errno);
}

TEST_F(pmu, events_count_jobs_and_elements)
{
	int cpu = number_in(self->folder, "cpumask"), jobs, in, i;

	jobs = event_open(self->folder, "scu_jobs", -1, cpu, 0);
	in = event_open(self->folder, "scu_in", -1, cpu, 0);
	ASSERT_LE(0, jobs);
	ASSERT_LE(0, in);
	EXPECT_EQ(0u, count_of(jobs));
	for (i = 0; i < 5; i++)
		ASSERT_EQ(GTU_CPL_OK, scu_job(&self->q, self->key, 100));
	EXPECT_EQ(5u, count_of(jobs));
	EXPECT_EQ(500u, count_of(in));
	/* another user clears the counters: events go on */
	ASSERT_EQ(0, control(self->fd, GTU_CTRL_CLEAR));
	EXPECT_EQ(5u, count_of(jobs));
	ASSERT_EQ(GTU_CPL_OK, scu_job(&self->q, self->key, 100));
	EXPECT_EQ(6u, count_of(jobs));
	ASSERT_EQ(0, ioctl(jobs, PERF_EVENT_IOC_DISABLE, 0));
	ASSERT_EQ(GTU_CPL_OK, scu_job(&self->q, self->key, 100));
	EXPECT_EQ(6u, count_of(jobs));
	ASSERT_EQ(0, ioctl(jobs, PERF_EVENT_IOC_ENABLE, 0));
	ASSERT_EQ(GTU_CPL_OK, scu_job(&self->q, self->key, 100));
	EXPECT_EQ(7u, count_of(jobs));
	EXPECT_EQ(800u, count_of(in));
}

/* The device loses its counters in a reset, also those that a user has cleared before: events go on. */
TEST_F_TIMEOUT(pmu, events_keep_counting_across_a_reset, 60)
{
	int cpu = number_in(self->folder, "cpumask"), event, i;
	char path[128];
	uint32_t key;

	NEEDS_RESET(path);
	event = event_open(self->folder, "scu_jobs", -1, cpu, 0);
	ASSERT_LE(0, event);
	for (i = 0; i < 7; i++)
		ASSERT_EQ(GTU_CPL_OK, scu_job(&self->q, self->key, 100));
	ASSERT_EQ(0, control(self->fd, GTU_CTRL_CLEAR));
	ASSERT_EQ(GTU_CPL_OK, scu_job(&self->q, self->key, 100));
	/* the event was not read before */
	ASSERT_EQ(0, write_to(path, "1"));
	EXPECT_EQ(8u, count_of(event));
	queue_unmap(&self->q);
	close(self->fd);
	self->fd = reopen();
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, region_add(self->fd, pages(BYTES), BYTES, RW, &key));
	ASSERT_EQ(0, queue_create(self->fd, 4, 4, &self->q));
	/* more jobs than before the reset: a larger value is not the same counter either */
	for (i = 0; i < 10; i++)
		ASSERT_EQ(GTU_CPL_OK, scu_job(&self->q, key, 100));
	EXPECT_EQ(18u, count_of(event));
}

/* A snapshot is the file's own: other files, sysfs and perf take theirs meanwhile. */
TEST_F(pmu, a_snapshot_belongs_to_one_file)
{
	int cpu = number_in(self->folder, "cpumask"), event, other = open(device_path(), O_RDWR);
	uint64_t before;
	char path[200], text[64];

	ASSERT_LE(0, other);
	event = event_open(self->folder, "scu_jobs", -1, cpu, 0);
	ASSERT_LE(0, event);
	snprintf(path, sizeof(path), "/sys/class/gtu/%s/scu_counters/jobs", device_name());
	ASSERT_EQ(0, control(self->fd, GTU_CTRL_SNAPSHOT));
	before = jobs_register(self->fd);
	ASSERT_EQ(GTU_CPL_OK, scu_job(&self->q, self->key, 100));
	usleep(30000);		/* sysfs takes a snapshot if the last one is 20 ms old */
	ASSERT_LT(0, read_from(path, text, sizeof(text)));
	EXPECT_EQ(before + 1, strtoull(text, NULL, 10));
	ASSERT_EQ(1u, count_of(event));
	EXPECT_EQ(before, jobs_register(self->fd));
	ASSERT_EQ(0, control(other, GTU_CTRL_SNAPSHOT | GTU_CTRL_CLEAR));
	EXPECT_EQ(before + 1, jobs_register(other));
	EXPECT_EQ(before, jobs_register(self->fd));
	ASSERT_EQ(0, control(self->fd, GTU_CTRL_SNAPSHOT));
	EXPECT_EQ(0u, jobs_register(self->fd));
}

/* An open event of a removed device does no harm, and counts again when it is back. */
TEST_F_TIMEOUT(pmu, an_event_survives_removal_of_the_device, 60)
{
	int cpu = number_in(self->folder, "cpumask"), event;
	char function[64];
	uint32_t key;

	ASSERT_EQ(0, bus_function(device_path(), function));
	event = event_open(self->folder, "scu_jobs", -1, cpu, 0);
	ASSERT_LE(0, event);
	ASSERT_EQ(GTU_CPL_OK, scu_job(&self->q, self->key, 100));
	EXPECT_EQ(1u, count_of(event));
	/* also what came after the last read */
	ASSERT_EQ(GTU_CPL_OK, scu_job(&self->q, self->key, 100));
	ASSERT_EQ(0, driver_file(function, "unbind"));
	EXPECT_EQ(2u, count_of(event));
	EXPECT_EQ(-ENODEV, event_open(self->folder, "scu_jobs", -1, cpu, 0));
	close(self->fd);
	queue_unmap(&self->q);
	ASSERT_EQ(0, driver_file(function, "bind"));
	self->fd = reopen();
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, region_add(self->fd, pages(BYTES), BYTES, RW, &key));
	ASSERT_EQ(0, queue_create(self->fd, 4, 4, &self->q));
	ASSERT_EQ(GTU_CPL_OK, scu_job(&self->q, key, 100));
	ASSERT_EQ(GTU_CPL_OK, scu_job(&self->q, key, 100));
	EXPECT_EQ(4u, count_of(event));
	close(event);
}

/* A number's events are of the units of the device that has it now. GTU_SMALL: a board without IRU. */
TEST_F_TIMEOUT(pmu, events_match_the_board_that_has_the_number, 60)
{
	int cpu = number_in(self->folder, "cpumask"), event;
	const char *small = getenv("GTU_SMALL");
	char function[64], other[64];

	if (!small)
		SKIP(return, "needs GTU_SMALL, as in the guest plan faulty");
	ASSERT_EQ(0, bus_function(device_path(), function));
	ASSERT_EQ(0, bus_function(small, other));
	queue_unmap(&self->q);
	close(self->fd);
	ASSERT_EQ(0, driver_file(other, "unbind"));
	ASSERT_EQ(0, driver_file(function, "unbind"));
	ASSERT_EQ(0, driver_file(other, "bind"));
	event = event_open(self->folder, "scu_jobs", -1, cpu, 0);
	EXPECT_LE(0, event);
	EXPECT_EQ(-ENODEV, event_open(self->folder, "iru_in", -1, cpu, 0));
	close(event);
	ASSERT_EQ(0, driver_file(other, "unbind"));
	ASSERT_EQ(0, driver_file(function, "bind"));
	ASSERT_EQ(0, driver_file(other, "bind"));
	event = event_open(self->folder, "iru_in", -1, cpu, 0);
	EXPECT_LE(0, event);
	close(event);
}

TEST_HARNESS_MAIN
