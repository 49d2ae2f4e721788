// SPDX-License-Identifier: MIT
/*
 * Tests error paths: each allocation and user copy of a chain of calls fails once, returns a
 * sensible error and leaks nothing.
 *
 * Needs root and a kernel with fault injection (CONFIG_FAILSLAB, CONFIG_FAIL_PAGE_ALLOC,
 * CONFIG_FAULT_INJECTION_USERCOPY, CONFIG_FAULT_INJECTION_DEBUG_FS).
 */
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>

#include "gtu_trust.h"

#define BYTES	(3u << 20)
/* a chain has a few thousand failure points; more than this means that it never succeeds */
#define PLACES_MAX 20000u

FIXTURE(fail_nth)
{
	int nth;			/* /proc/thread-self/fail-nth */
	char *memory;
};

FIXTURE_SETUP(fail_nth)
{
	int fd;

	self->nth = fail_nth_open();
	if (self->nth < 0)
		SKIP(return, "needs root and a kernel with fault injection, as in the guest plan "
			     "debug");
	OPEN_OR_SKIP(fd);
	close(fd);
	self->memory = pages(BYTES);
	memset(self->memory, 1, BYTES);
}

NO_TEARDOWN(fail_nth);

static void set_nth(int fd, unsigned int n)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", n);
	/* the failure left over from before may hit this write: try twice */
	if (pwrite(fd, text, strlen(text), 0) < 0 && pwrite(fd, text, strlen(text), 0) < 0)
		abort();
}

static unsigned int left(int fd)
{
	char text[16] = "";

	return pread(fd, text, sizeof(text) - 1, 0) > 0 ? (unsigned int)atoi(text) : 0;
}

/* munmap() itself can fail once for lack of memory. */
static void unmap(volatile const void *at, size_t bytes)
{
	if (munmap((void *)at, bytes) && munmap((void *)at, bytes))
		abort();
}

/* Run a typical sequence from open to close. Return 0 or the first errno. */
static int chain(char *memory)
{
	struct gtu_ioctl_info info = { .size = sizeof(info) };
	struct gtu_hw_desc d;
	struct gtu_hw_cpl c;
	struct queue q = { .fd = -1 };
	uint32_t key, buffer;
	uint64_t offset;
	void *p = MAP_FAILED;
	int fd, ret;

	fd = open(device_path(), O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return errno;
	ret = call(fd, GTU_IOCTL_INFO, &info);
	if (!ret)
		ret = region_add(fd, memory, BYTES, RW, &key);
	if (!ret)
		ret = buffer_alloc(fd, 65536, &buffer, &offset);
	if (!ret) {
		p = map_shared(fd, offset, 65536);
		ret = p == MAP_FAILED ? errno : 0;
	}
	if (!ret)
		ret = queue_create(fd, 7, 7, &q);
	if (!ret) {
		d = copy_job(key, 0, buffer, 0, 8192, 3);
		ret = run(&q, &d, &c);
		ret = ret < 0 ? -ret : ret ? EIO : memcmp(p, memory, 65536) ? EBADMSG : 0;
	}
	if (!ret)
		ret = queue_call(&q, GTU_IOCTL_QUEUE_RESET);
	if (!ret)
		ret = region_remove(fd, key);
	if (q.fd >= 0) {
		/* unmap also what a partly failed queue_create() mapped */
		if (q.sq && q.sq != MAP_FAILED)
			unmap(q.sq, q.c.sq_bytes);
		if (q.cq && q.cq != MAP_FAILED)
			unmap(q.cq, q.c.cq_bytes);
		if (q.db && q.db != MAP_FAILED)
			unmap(q.db, q.c.db_bytes);
	}
	if (p != MAP_FAILED)
		unmap(p, 65536);
	close(fd);
	return ret;
}

/* Run a copy through a GTU_QUEUE_SUBMIT queue, with its operands in a parameter block. */
static const char *step;			/* the step of chain_more() that was begun last */
static int moving = -1;				/* a dma-buf that can move, for chain_more() */

static int chain_submit(int fd, struct queue *q, uint32_t from, uint32_t to, struct gtu_hw_operand *block,
			uint32_t block_key)
{
	struct gtu_ioctl_queue_eventfd e = { .size = sizeof(e) };
	struct gtu_ioctl_queue_cancel cancel = { .size = sizeof(cancel), .flags = GTU_CANCEL_ALL };
	struct gtu_ioctl_submit a = { .size = sizeof(a), .count = 1 };
	struct gtu_hw_desc d = copy_job(from, 0, to, 0, 1024, 2);
	struct gtu_hw_cpl c;
	int ret;

	ret = queue_create_as(fd, GTU_QUEUE_SUBMIT, 5, 5, q);
	if (ret)
		return ret;
	step = "events and jobs";
	e.id = cancel.id = a.id = q->c.id;
	e.fd = eventfd(0, EFD_CLOEXEC);
	if (e.fd < 0)
		return errno;
	ret = call(fd, GTU_IOCTL_QUEUE_EVENTFD, &e);
	close(e.fd);
	memcpy(block, d.operand, 2 * sizeof(*block));
	memset(d.operand, 0, sizeof(d.operand));
	d.flags = GTU_DESC_BLOCK;
	d.operand[0] = (struct gtu_hw_operand){ .key = block_key, .count = 2, .offset = BYTES - 256 };
	a.descs = (uintptr_t)&d;
	if (!ret)
		ret = call(fd, GTU_IOCTL_SUBMIT, &a);
	if (ret)
		return ret;
	q->submitted = 1;
	step = "WAIT";
	ret = queue_wait(q, 0, now_ns() + 10 * SECOND);
	if (ret)
		return ret;
	step = "completion";
	ret = take(q, &c);
	ret = ret < 0 ? -ret : ret ? EIO : c.status ? EBADMSG : 0;
	step = "QUEUE_CANCEL";
	if (!ret)
		ret = call(fd, GTU_IOCTL_QUEUE_CANCEL, &cancel);
	return ret == EOPNOTSUPP ? 0 : ret;
}

/* Run the other calls: dma-bufs, the aperture, SUBMIT and events. Return 0 or the first errno. */
static int chain_more(char *memory)
{
	struct gtu_ioctl_buffer_alloc aperture = { .size = sizeof(aperture), .flags = GTU_BUFFER_APERTURE,
						   .length = 16384, .rights = RW };
	struct gtu_ioctl_buffer_export out = { .size = sizeof(out), .flags = O_CLOEXEC, .rights = RW, .fd = -1 };
	struct gtu_ioctl_region_import in = { .size = sizeof(in), .rights = RW };
	struct gtu_ioctl_reg snapshot = { .size = sizeof(snapshot), .value = GTU_CTRL_SNAPSHOT,
					  .offset = GTU_PAGE_ZCM + GTU_UREG_CTRL };
	struct gtu_event event;
	struct queue q = { .fd = -1 };
	volatile uint32_t *p = MAP_FAILED;
	struct pollfd poller;
	uint64_t offset;
	uint32_t key, moved;
	int fd, ret;

	fd = open(device_path(), O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return errno;
	step = "memory";
	poller = (struct pollfd){ .fd = fd, .events = POLLIN };
	ret = region_add(fd, memory, BYTES, RW, &key);
	if (!ret)
		ret = buffer_alloc(fd, 65536, &out.key, &offset);
	/* counters of a file's own */
	if (!ret)
		ret = call(fd, GTU_IOCTL_REG_WRITE, &snapshot);
	/* a page has no smaller allocation to fall back to */
	if (!ret)
		ret = buffer_alloc(fd, 4096, &moved, &offset);
	if (!ret)
		ret = call(fd, GTU_IOCTL_BUFFER_EXPORT, &out);
	in.fd = out.fd;
	if (!ret)
		ret = call(fd, GTU_IOCTL_REGION_IMPORT, &in);
	/* a dma-buf that can move, if the module of tests/guest/programs/moving is loaded */
	if (!ret && moving >= 0)
		ret = import(fd, moving, RW, &moved, &offset);
	if (!ret && moving >= 0)
		ret = region_remove(fd, moved);
	if (!ret) {
		ret = call(fd, GTU_IOCTL_BUFFER_ALLOC, &aperture);
		/* the aperture is optional */
		ret = ret == EOPNOTSUPP ? 0 : ret;
	}
	if (!ret && aperture.key) {
		p = map_shared(fd, aperture.mmap_offset, 16384);
		ret = p == MAP_FAILED ? errno : 0;
	}
	if (!ret)
		ret = chain_submit(fd, &q, key, in.key, (void *)(memory + BYTES - 256), key);
	if (!ret && (poll(&poller, 1, 0) < 0 || (read(fd, &event, sizeof(event)) < 0 && errno != EAGAIN)))
		ret = errno;
	if (q.cq && q.cq != MAP_FAILED)
		unmap(q.cq, q.c.cq_bytes);
	if (p != MAP_FAILED)
		unmap(p, 16384);
	if (out.fd >= 0)
		close(out.fd);
	close(fd);
	return ret;
}

/* Return the numbers of a new context and of a queue in it, which are the lowest free ones. */
static uint64_t free_numbers(void)
{
	const int fd = open(device_path(), O_RDWR | O_CLOEXEC);
	uint64_t context;
	struct queue q;

	if (fd < 0 || queue_create(fd, 4, 4, &q))
		return UINT64_MAX;
	context = fdinfo(fd, "gtu-context");
	queue_unmap(&q);
	close(fd);
	return context << 32 | q.c.id;
}

/*
 * Fail each failure point of @chain in turn, until the chain completes without reaching the
 * failure.
 */
static void sweep(struct __test_metadata *_metadata, int nth, char *memory, int (*chain)(char *memory),
		  unsigned int least)
{
	const uint64_t numbers = free_numbers();
	unsigned int n, no_memory = 0, fault = 0, unused = 0;
	int ret;

	ASSERT_NE(UINT64_MAX, numbers);
	ASSERT_EQ(0, chain(memory));
	for (n = 1; n < PLACES_MAX && !unused; n++) {
		set_nth(nth, n);
		ret = chain(memory);
		unused = left(nth);
		set_nth(nth, 0);
		ASSERT_TRUE(!ret || ret == ENOMEM || ret == EFAULT || ret == ENOSPC) {
			TH_LOG("failure point %u: %s (%s)", n, strerror(ret),
			       step ? step : "chain");
		}
		ASSERT_EQ(0, status_kib("VmPin")) {
			TH_LOG("failure point %u: memory is still pinned", n);
		}
		no_memory += ret == ENOMEM;
		fault += ret == EFAULT;
	}
	/*
	 * Some allocations have a fallback, such as smaller or non-contiguous pages, so not every
	 * failure is ENOMEM.
	 */
	TH_LOG("%u failure points: ENOMEM at %u, EFAULT at %u", n - 2, no_memory, fault);
	EXPECT_NE(0u, unused) {
		TH_LOG("the chain has more than %u failure points: raise PLACES_MAX", n - 1);
	}
	EXPECT_LT(least, no_memory);
	/* how many depends on the allocations before: 4 to 8 of a chain under a debug kernel */
	EXPECT_LT(0u, fault);
	EXPECT_EQ(0, chain(memory));
	EXPECT_EQ(numbers, free_numbers());
}

#define CLOCK_SOURCE "/sys/devices/system/clocksource/clocksource0/current_clocksource"

/* Return the length of the name that was read from or written to CLOCK_SOURCE, or -1. */
static ssize_t clock_source(char *name, size_t length, int write_it)
{
	const int fd = open(CLOCK_SOURCE, write_it ? O_WRONLY : O_RDONLY);
	const ssize_t done = write_it ? write(fd, name, length) : read(fd, name, length);

	if (fd >= 0)
		close(fd);
	return done;
}

/*
 * The deadlines of this file are right under fault injection. A busy host makes the kernel distrust
 * the TSC; reading another clock is a system call, which can fail.
 */
TEST_F(fail_nth, now_ns_is_right_under_fault_injection)
{
	char usual[64], slow[64] = "acpi_pm";
	uint64_t before, now, after;
	ssize_t length = clock_source(usual, sizeof(usual), 0);
	struct timespec t;
	int ret;

	if (length <= 0 || clock_source(slow, strlen(slow), 1) < 0 || clock_source(slow, sizeof(slow), 0) < 7 ||
	    strncmp(slow, "acpi_pm", 7))
		SKIP(return, "the kernel has no clock acpi_pm");
	set_nth(self->nth, 1);
	ret = clock_gettime(CLOCK_MONOTONIC, &t);
	before = now_ns();
	set_nth(self->nth, 1);
	now = now_ns();
	set_nth(self->nth, 0);
	after = now_ns();
	clock_source(usual, (size_t)length, 1);
	EXPECT_EQ(-1, ret) {
		TH_LOG("reading the clock is no system call");
	}
	/* a clock that was not read has its value of before */
	EXPECT_LT(before, now);
	EXPECT_LT(now, after);
}

TEST_F_TIMEOUT(fail_nth, each_failure_of_the_basic_calls_leaks_nothing, 600)
{
	sweep(_metadata, self->nth, self->memory, chain, 10);
}

TEST_F_TIMEOUT(fail_nth, each_failure_of_the_other_calls_leaks_nothing, 600)
{
	int exporter = open("/dev/gtu_moving", O_RDWR | O_CLOEXEC);

	if (exporter >= 0)
		moving = ioctl(exporter, _IO(0xE8, 1), 16);
	sweep(_metadata, self->nth, self->memory, chain_more, 10);
}

TEST_HARNESS_MAIN
