// SPDX-License-Identifier: MIT
/*
 * Tests details of the interface: what SUBMIT does for queues without doorbells, memory that ends
 * with a queue, requests that end with a reset, and devices that lack something.
 */
#include <pthread.h>

#include "gtu_stream.h"

EVENT_FIXTURE(detail);

/* Submit one descriptor. Return 0 or the errno. */
static int submit_desc(struct queue *q, const struct gtu_hw_desc *d, struct gtu_ioctl_submit *a)
{
	int ret = submit_raw(q, d, 1, a);

	q->submitted += !ret;
	return ret;
}

static int wait_any(struct queue *q, uint32_t index, uint64_t deadline)
{
	struct gtu_wait_entry e = { .id = q->c.id, .index = index };
	struct gtu_ioctl_wait_any a = { .size = sizeof(a), .entries = (uintptr_t)&e, .count = 1,
					.deadline_ns = deadline };

	return call(q->fd, GTU_IOCTL_WAIT_ANY, &a);
}

TEST_F(detail, submit_refuses_operations_of_an_absent_unit)
{
	static const uint8_t op[] = { GTU_OP_SCU_DATA, GTU_OP_IRU_STREAM, GTU_OP_PEG_STREAM,
				      GTU_OP_WVR_STREAM };
	struct gtu_ioctl_info info = { .size = sizeof(info) };
	struct gtu_ioctl_submit a;
	struct gtu_hw_desc d = { 0 };
	unsigned int unit, absent = 0;
	struct queue q;

	ASSERT_EQ(0, call(self->fd, GTU_IOCTL_INFO, &info));
	ASSERT_EQ(0, queue_create_as(self->fd, GTU_QUEUE_SUBMIT, 2, 2, &q));
	for (unit = 0; unit < sizeof(op); unit++) {
		if (info.units >> unit & 1)
			continue;
		d.opcode = op[unit];
		EXPECT_EQ(EINVAL, submit_desc(&q, &d, &a));
		EXPECT_EQ(GTU_CPL_ABSENT, a.status);
		absent++;
	}
	if (!absent)
		SKIP(return, "the device has all units, see the guest plan faulty");
	EXPECT_EQ(0u, q.status->cq_tail);
}

/*
 * SUBMIT refuses a descriptor that is invalid by itself. It does not reach the device, which would
 * report the same.
 */
TEST_F(detail, an_invalid_descriptor_does_not_reach_the_device)
{
	const struct gtu_hw_desc good = copy_job(self->key, 0, self->key, 8192, 16, 2);
	struct gtu_ioctl_info info = { .size = sizeof(info) };
	struct gtu_hw_desc bad[10];
	static const int status[] = {
		GTU_CPL_OPCODE, GTU_CPL_RESERVED, GTU_CPL_RESERVED, GTU_CPL_RESERVED,
		GTU_CPL_RESERVED, GTU_CPL_OPERAND, GTU_CPL_OPERAND, GTU_CPL_KEY, GTU_CPL_BOUNDS,
		GTU_CPL_OVERFLOW,
	};
	struct gtu_ioctl_submit a;
	struct queue q;
	unsigned int i;

	ASSERT_EQ(0, call(self->fd, GTU_IOCTL_INFO, &info));
	ASSERT_EQ(0, queue_create_as(self->fd, GTU_QUEUE_SUBMIT, 2, 2, &q));
	for (i = 0; i < 10; i++)
		bad[i] = good;
	bad[0].opcode = 0xff;
	bad[1].flags = 0x8000;
	bad[2].reserved0 = 1;
	bad[3].param |= 1u << 31;
	bad[4].imm = 1;
	bad[5].operand[2].key = self->key;
	bad[6].operand[1].key = 0;
	bad[7].operand[0].key = self->key + 0x10000;
	bad[8].operand[1].offset = EVENT_BYTES - 8;
	bad[9].operand[1].count = 8;
	for (i = 0; i < 10; i++) {
		EXPECT_EQ(EINVAL, submit_desc(&q, &bad[i], &a)) {
			TH_LOG("descriptor %u", i);
		}
		EXPECT_EQ(status[i], (int)a.status) {
			TH_LOG("descriptor %u", i);
		}
	}
	/* a stream's ring has a power of two of records, and its operation exists */
	if (info.units & GTU_UNIT_IRU) {
		bad[0] = bad[1] = stream_job(self->memory, self->key);
		bad[0].operand[GTU_IRU_RING].count = 3;
		bad[1].param |= 7u << GTU_IRU_OP_SHIFT;
		for (i = 0; i < 2; i++) {
			EXPECT_EQ(EINVAL, submit_desc(&q, &bad[i], &a));
			EXPECT_EQ(i ? GTU_CPL_PARAM : GTU_CPL_OPERAND, (int)a.status);
		}
	}
	EXPECT_EQ(0u, q.status->sq_head);
	EXPECT_EQ(0, submit_desc(&q, &good, &a));
	EXPECT_EQ(0, queue_wait(&q, 0, now_ns() + 10 * SECOND));
}

/* A filter has one bit an element: this one just fits at the end of its region. */
TEST_F(detail, a_filter_takes_one_bit_an_element)
{
	struct gtu_hw_desc d = { .opcode = GTU_OP_SCU_DATA,
				 .param = 2 << GTU_SCU_WIDTH_SHIFT |
					  GTU_STEP_APPLY << GTU_SCU_STEP_SHIFT };
	struct gtu_ioctl_submit a;
	struct gtu_hw_cpl c;
	struct queue q;

	d.operand[GTU_SCU_DATA] = (struct gtu_hw_operand){ self->key, 4096, 0 };
	d.operand[GTU_SCU_OUT] = (struct gtu_hw_operand){ self->key, 4096, 65536 };
	d.operand[GTU_SCU_FILTER] = (struct gtu_hw_operand){ self->key, 4096, EVENT_BYTES - 512 };
	memset(self->memory + EVENT_BYTES - 512, 0xff, 512);
	memset(self->memory, 7, 16384);
	ASSERT_EQ(0, queue_create_as(self->fd, GTU_QUEUE_SUBMIT, 2, 2, &q));
	EXPECT_EQ(0, submit_desc(&q, &d, &a)) {
		TH_LOG("status %u", a.status);
	}
	ASSERT_EQ(0, queue_wait(&q, 0, now_ns() + 10 * SECOND));
	ASSERT_EQ(0, take(&q, &c));
	EXPECT_EQ(GTU_CPL_OK, c.status);
	EXPECT_EQ(7, self->memory[65536 + 16383]);
	d.operand[GTU_SCU_FILTER].offset += 8;
	EXPECT_EQ(EINVAL, submit_desc(&q, &d, &a));
	EXPECT_EQ(GTU_CPL_BOUNDS, a.status);
}

TEST_F(detail, a_device_without_stream_events_refuses_them)
{
	struct gtu_ioctl_info info = { .size = sizeof(info) };
	struct gtu_ioctl_queue_arm a = { .size = sizeof(a), .flags = GTU_ARM_STREAM,
					 .id = self->q.c.id };

	ASSERT_EQ(0, call(self->fd, GTU_IOCTL_INFO, &info));
	if (info.caps & GTU_CAP_STREAM_EVENTS)
		SKIP(return, "the device has GTU_CAP_STREAM_EVENTS, see the guest plan faulty");
	EXPECT_EQ(EOPNOTSUPP, call(self->fd, GTU_IOCTL_QUEUE_ARM, &a));
	EXPECT_EQ(EOPNOTSUPP, wait_stream(&self->q, 0, 0, 0));
	a.flags = 0;
	EXPECT_EQ(0, call(self->fd, GTU_IOCTL_QUEUE_ARM, &a));
}

/* WAIT_ANY takes as many entries as it says, also of one queue. */
TEST_F(detail, wait_any_accepts_its_maximum_number_of_entries)
{
	struct gtu_wait_entry e[GTU_WAIT_MAX + 1];
	struct gtu_ioctl_wait_any a = { .size = sizeof(a), .entries = (uintptr_t)e,
					.count = GTU_WAIT_MAX };
	struct gtu_hw_cpl c;
	unsigned int i;

	for (i = 0; i <= GTU_WAIT_MAX; i++)
		e[i] = (struct gtu_wait_entry){ .id = self->q.c.id, .index = GTU_WAIT_MAX - i };
	EXPECT_EQ(ETIMEDOUT, call(self->fd, GTU_IOCTL_WAIT_ANY, &a));
	for (i = 0; i < 2; i++)
		ASSERT_EQ(GTU_CPL_OK, run(&self->q, &NO_JOB, &c));
	/* completion 1 is the last entry's */
	EXPECT_EQ(0, call(self->fd, GTU_IOCTL_WAIT_ANY, &a));
	EXPECT_EQ(GTU_WAIT_MAX - 1, a.first);
	a.count++;
	EXPECT_EQ(EINVAL, call(self->fd, GTU_IOCTL_WAIT_ANY, &a));
}

/*
 * A queue without doorbells cannot tell the device that its consumer made space in the ring of a
 * stream: each wait does it.
 */
TEST_F(detail, waits_kick_streams)
{
	volatile struct gtu_hw_ring *ring = (void *)self->memory;
	struct gtu_ioctl_submit a;
	struct gtu_hw_desc d;
	struct queue q;
	unsigned int any;
	uint64_t end;
	int ret;

	NEEDS(GTU_CAP_STREAMS | GTU_CAP_REGIONS);
	ASSERT_EQ(0, queue_create_as(self->fd, GTU_QUEUE_SUBMIT, 2, 2, &q));
	for (any = 0; any < 2; any++) {
		d = stream_job(self->memory, self->key);
		ASSERT_EQ(0, submit_desc(&q, &d, &a));
		end = now_ns() + 20 * SECOND;
		do {
			__atomic_store_n(&ring->consumer, ring->producer, __ATOMIC_SEQ_CST);
			ret = any ? wait_any(&q, a.sq_index, now_ns() + SECOND / 50) :
				    queue_wait(&q, a.sq_index, now_ns() + SECOND / 50);
		} while (ret == ETIMEDOUT && now_ns() < end);
		EXPECT_EQ(0, ret) {
			TH_LOG("%s: %u records", any ? "WAIT_ANY" : "WAIT", ring->producer);
		}
		q.consumed++;
	}
}

TEST_F(detail, signal_ends_wait_any)
{
	signal_every(50000, 0);
	EXPECT_EQ(EINTR, wait_any(&self->q, 0, now_ns() + 20 * SECOND));
	signal_every(0, 0);
}

/* The driver's region for the parameter blocks of a queue ends with the queue. */
TEST_F(detail, blocks_end_with_the_queue)
{
	struct gtu_hw_desc d = copy_job(self->key, 0, self->key, 8192, 16, 2);
	const uint64_t before = fdinfo(self->fd, "drm-total-memory");
	struct gtu_ioctl_submit a;
	struct queue q;

	NEEDS(GTU_CAP_REGIONS);
	memcpy(self->memory, d.operand, 2 * sizeof(*d.operand));
	d.flags = GTU_DESC_BLOCK;
	d.operand[0] = (struct gtu_hw_operand){ .key = self->key, .count = 2 };
	d.operand[1] = (struct gtu_hw_operand){ 0 };
	ASSERT_EQ(0, queue_create_as(self->fd, GTU_QUEUE_SUBMIT, 2, 2, &q));
	ASSERT_EQ(0, submit_desc(&q, &d, &a));
	ASSERT_EQ(0, queue_wait(&q, 0, now_ns() + 10 * SECOND));
	EXPECT_LT(before, fdinfo(self->fd, "drm-total-memory"));
	ASSERT_EQ(0, queue_call(&q, GTU_IOCTL_QUEUE_DESTROY));
	EXPECT_EQ(before, fdinfo(self->fd, "drm-total-memory"));
}

/* Without a free slot for that region SUBMIT fails, and works once there is one. */
TEST_F(detail, submit_fails_without_a_slot_for_blocks)
{
	struct gtu_hw_desc d = copy_job(self->key, 0, self->key, 8192, 16, 2);
	uint32_t key, last = 0;
	struct gtu_ioctl_submit a;
	struct queue q;
	int ret;

	NEEDS(GTU_CAP_REGIONS);
	memcpy(self->memory, d.operand, 2 * sizeof(*d.operand));
	d.flags = GTU_DESC_BLOCK;
	d.operand[0] = (struct gtu_hw_operand){ .key = self->key, .count = 2 };
	d.operand[1] = (struct gtu_hw_operand){ 0 };
	ASSERT_EQ(0, queue_create_as(self->fd, GTU_QUEUE_SUBMIT, 2, 2, &q));
	for (;;) {
		ret = region_add(self->fd, self->memory, 8, GTU_RIGHT_READ, &key);
		if (ret)
			break;
		last = key;
	}
	if (ret == EDQUOT)
		SKIP(return, "RLIMIT_MEMLOCK is too small");
	ASSERT_EQ(ENOSPC, ret);
	EXPECT_EQ(ENOSPC, submit_desc(&q, &d, &a));
	EXPECT_EQ(0u, a.done);
	ASSERT_EQ(0, region_remove(self->fd, last));
	EXPECT_EQ(0, submit_desc(&q, &d, &a));
	EXPECT_EQ(0, queue_wait(&q, 0, now_ns() + 10 * SECOND));
}

static int by_value(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* A wait for an earlier completion than another wait's gets an event of its own. */
TEST_F(detail, an_earlier_wait_gets_an_event_of_its_own)
{
	uint64_t delay[9], submitted;
	struct waiter later, earlier;
	struct gtu_hw_cpl c;
	unsigned int i;

	for (i = 0; i < 9; i++) {
		start_waiter(&later, &self->q, i + 1, GTU_WAIT_FOREVER);
		start_waiter(&earlier, &self->q, i, GTU_WAIT_FOREVER);
		submitted = now_ns();
		submit(&self->q, &NO_JOB);
		ASSERT_EQ(0, join_waiter(&earlier));
		delay[i] = earlier.returned_ns - submitted;
		ASSERT_EQ(0, queue_call(&self->q, GTU_IOCTL_QUEUE_RESET));
		ASSERT_EQ(ECANCELED, join_waiter(&later));
		/* the next round's indices are higher than those that were armed */
		while (self->q.submitted < i + 1) {
			submit(&self->q, &NO_JOB);
			ASSERT_EQ(0, take(&self->q, &c));
		}
	}
	qsort(delay, 9, sizeof(*delay), by_value);
	TH_LOG("median %llu us", (unsigned long long)delay[4] / 1000);
	/* without the event it checks 100 ms after its begin */
	EXPECT_GT(50000000u, delay[4]);
}

TEST_F(detail, a_queue_reset_drops_a_request_for_an_event)
{
	struct gtu_ioctl_queue_arm a = { .size = sizeof(a), .id = self->q.c.id, .index = 2 };
	struct gtu_hw_cpl c;
	unsigned int i;

	ASSERT_EQ(0, set_eventfd(&self->q, self->efd));
	ASSERT_EQ(0, call(self->fd, GTU_IOCTL_QUEUE_ARM, &a));
	ASSERT_EQ(0, queue_call(&self->q, GTU_IOCTL_QUEUE_RESET));
	usleep(50000);
	EXPECT_NE(0, counted(self->efd));	/* the event of the reset itself */
	for (i = 0; i < 4; i++) {
		submit(&self->q, &NO_JOB);
		ASSERT_EQ(0, take(&self->q, &c));
	}
	EXPECT_EQ(0, polled(self->efd, 200));
}

TEST_F(detail, a_device_without_cancel_refuses_it)
{
	struct gtu_ioctl_info info = { .size = sizeof(info) };
	struct gtu_hw_cpl c;

	ASSERT_EQ(0, call(self->fd, GTU_IOCTL_INFO, &info));
	if (info.caps & GTU_CAP_CANCEL)
		SKIP(return, "the device has GTU_CAP_CANCEL");
	EXPECT_EQ(EOPNOTSUPP, cancel(&self->q, 0, 0));
	EXPECT_EQ(EOPNOTSUPP, cancel(&self->q, GTU_CANCEL_ALL, 0));
	EXPECT_EQ(GTU_CPL_OK, run(&self->q, &NO_JOB, &c));
}

/* The smallest aperture has one page. */
TEST_F(detail, an_aperture_of_one_page_can_be_allocated)
{
	struct gtu_ioctl_info info = { .size = sizeof(info) };
	uint32_t key, other, *p;
	uint64_t offset;

	NEEDS_ROOT;		/* the whole aperture */
	ASSERT_EQ(0, call(self->fd, GTU_IOCTL_INFO, &info));
	if (info.aperture_bytes != 4096)
		SKIP(return, "the device has no aperture of 4096 bytes, see the guest plan faulty");
	ASSERT_EQ(0, alloc_in(self->fd, GTU_BUFFER_APERTURE, 4096, RW, &key, &offset));
	p = map_shared(self->fd, offset, 4096);
	ASSERT_NE(MAP_FAILED, (void *)p);
	p[1023] = 5;
	EXPECT_EQ(5, p[1023]);
	EXPECT_EQ(ENOSPC, alloc_in(self->fd, GTU_BUFFER_APERTURE, 1, RW, &other, &offset));
	munmap(p, 4096);
	EXPECT_EQ(0, region_remove(self->fd, key));
	EXPECT_EQ(0, alloc_in(self->fd, GTU_BUFFER_APERTURE, 1, RW, &other, &offset));
}

/* fdinfo reads the device's counters at most every 20 ms, because every user may ask. */
TEST_F(detail, usage_is_read_seldom)
{
	uint64_t before, after, start;
	struct gtu_hw_cpl c;
	unsigned int i;

	NEEDS(GTU_CAP_CTX_COUNTERS);
	for (i = 0; i < 100; i++) {
		usleep(25000);
		start = now_ns();
		before = fdinfo(self->fd, "gtu-jobs");
		ASSERT_EQ(GTU_CPL_OK, run(&self->q, &NO_JOB, &c));
		after = fdinfo(self->fd, "gtu-jobs");
		/* a slow machine needs several attempts */
		if (now_ns() - start < SECOND / 50)
			break;
	}
	if (i == 100)
		SKIP(return, "a job and two reads take more than 20 ms here");
	EXPECT_EQ(before, after);
	usleep(25000);
	EXPECT_EQ(before + 1, fdinfo(self->fd, "gtu-jobs"));
}

/* Errors that users provoke are cleared and do not fill the kernel's log. */
TEST_F(detail, errors_of_users_do_not_fill_the_log)
{
	static char path[128], text[1 << 18];
	int log = kernel_log();
	unsigned int i;

	NEEDS_ROOT;
	for (i = 0; i < 5; i++) {
		doorbell(&self->q, 1000, 0);
		while (queue_state(&self->q) == GTU_QUEUE_ENABLED)
			usleep(1000);
		ASSERT_EQ(0, queue_call(&self->q, GTU_IOCTL_QUEUE_RESET));
	}
	usleep(50000);
	snprintf(path, sizeof(path), "/sys/kernel/debug/gtu/%s/registers", device_name());
	ASSERT_LT(0, read_from(path, text, sizeof(text)));
	EXPECT_NE(NULL, strstr(text, " error 0x0\n"));
	if (log >= 0) {
		EXPECT_EQ(0u, logged(log, "the device reports"));
	}
}

DEVICE_FIXTURE(detail_of_any);

/* Return the size of a function's BAR 2, the doorbells, or 0 if it is no GTU. */
static uint64_t doorbells_of(const char *function)
{
	unsigned long long start = 0, end = 0;
	char path[300], text[1024], *line = text;
	int i;

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/device", function);
	if (read_from(path, text, sizeof(text)) <= 0 || strcmp(text, "0x4754\n"))
		return 0;
	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/resource", function);
	if (read_from(path, text, sizeof(text)) <= 0)
		return 0;
	for (i = 0; i < 2 && line; i++) {
		line = strchr(line, '\n');
		line += !!line;
	}
	return line && sscanf(line, "%llx %llx", &start, &end) == 2 ? end - start + 1 : 0;
}

TEST_F(detail_of_any, a_function_with_too_few_doorbells_is_refused)
{
	DIR *dir = opendir("/sys/bus/pci/devices");
	char function[64], small[300] = "";
	int log = kernel_log();
	struct dirent *e;

	NEEDS_ROOT;
	ASSERT_LE(0, log);
	ASSERT_EQ(0, bus_function(device_path(), function));
	while (dir && (e = readdir(dir)))
		if (doorbells_of(e->d_name) && doorbells_of(e->d_name) < doorbells_of(function))
			snprintf(small, sizeof(small), "%s", e->d_name);
	if (dir)
		closedir(dir);
	if (!*small)
		SKIP(return, "no function with a smaller BAR 2, see the guest plan faulty");
	EXPECT_EQ(ENODEV, driver_file(small, "bind"));
	EXPECT_EQ(1u, logged(log, "the doorbell range is too small"));
}

/* The log says why programs cannot use doorbells. */
TEST_F(detail_of_any, unchecked_device_is_logged)
{
	struct gtu_ioctl_info info = { .size = sizeof(info) };
	int log = kernel_log();
	char function[64];
	unsigned int n;

	NEEDS_ROOT;
	ASSERT_LE(0, log);
	ASSERT_EQ(0, call(self->fd, GTU_IOCTL_INFO, &info));
	ASSERT_EQ(0, bus_function(device_path(), function));
	ASSERT_EQ(0, driver_file(function, "unbind"));
	ASSERT_EQ(0, driver_file(function, "bind"));
	n = logged(log, "the device does not check accesses: jobs are submitted by ioctl only");
	EXPECT_EQ(info.caps & GTU_CAP_REGIONS ? 0u : 1u, n);
}

TEST_HARNESS_MAIN
