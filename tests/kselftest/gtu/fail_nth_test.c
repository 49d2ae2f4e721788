// SPDX-License-Identifier: MIT
/*
 * Every allocation and user copy of a chain of calls fails once: each call returns a sensible error, and
 * nothing is left behind. Needs a kernel with fault injection (CONFIG_FAILSLAB, CONFIG_FAIL_PAGE_ALLOC,
 * CONFIG_FAULT_INJECTION_USERCOPY, CONFIG_FAULT_INJECTION_DEBUG_FS) and root.
 */
#include <fcntl.h>

#include "gtu_util.h"

#define RW	(GTU_RIGHT_READ | GTU_RIGHT_WRITE)
#define BYTES	(3u << 20)

FIXTURE(fail_nth)
{
	int nth;			/* /proc/thread-self/fail-nth */
	char *memory;
};

/* All kinds of allocation may fail, silently. */
static int arm(const char *what)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/kernel/debug/%s/verbose", what);
	if (write_to(path, "0"))
		return ENOENT;
	snprintf(path, sizeof(path), "/sys/kernel/debug/%s/ignore-gfp-wait", what);
	write_to(path, "N");
	snprintf(path, sizeof(path), "/sys/kernel/debug/%s/min-order", what);
	write_to(path, "0");
	return 0;
}

FIXTURE_SETUP(fail_nth)
{
	int fd;

	self->nth = open("/proc/thread-self/fail-nth", O_RDWR);
	if (self->nth < 0 || arm("failslab") || arm("fail_page_alloc"))
		SKIP(return, "needs root and a kernel with fault injection");
	arm("fail_usercopy");
	OPEN_OR_SKIP(fd);
	close(fd);
	self->memory = pages(BYTES);
	memset(self->memory, 1, BYTES);
}

FIXTURE_TEARDOWN(fail_nth)
{
	if (self->nth >= 0)
		close(self->nth);
}

static void set_nth(int fd, unsigned int n)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", n);
	if (pwrite(fd, text, strlen(text), 0) < 0)
		abort();
}

static unsigned int left(int fd)
{
	char text[16] = "";

	return pread(fd, text, sizeof(text) - 1, 0) > 0 ? (unsigned int)atoi(text) : 0;
}

/* What a user does from open to close; 0 or the first error. */
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
		p = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);
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
		/* what was mapped of a queue that failed half way too */
		if (q.sq && q.sq != MAP_FAILED)
			munmap(q.sq, q.c.sq_bytes);
		if (q.cq && q.cq != MAP_FAILED)
			munmap((void *)q.cq, q.c.cq_bytes);
		if (q.db && q.db != MAP_FAILED)
			munmap((void *)q.db, q.c.db_bytes);
	}
	if (p != MAP_FAILED)
		munmap(p, 65536);
	close(fd);
	return ret;
}

TEST_F_TIMEOUT(fail_nth, chain, 600)
{
	unsigned int n, no_memory = 0, fault = 0, unused;
	int ret;

	ASSERT_EQ(0, chain(self->memory));
	for (n = 1; n < 20000; n++) {
		set_nth(self->nth, n);
		ret = chain(self->memory);
		unused = left(self->nth);
		set_nth(self->nth, 0);
		ASSERT_TRUE(!ret || ret == ENOMEM || ret == EFAULT || ret == ENOSPC) {
			TH_LOG("failure %u: %s", n, strerror(ret));
		}
		ASSERT_EQ(0, status_kib("VmPin")) {
			TH_LOG("failure %u", n);
		}
		no_memory += ret == ENOMEM;
		fault += ret == EFAULT;
		if (unused)
			break;
	}
	/* Others have a second way: smaller pieces, pages that need not be neighbours. */
	TH_LOG("%u places: ENOMEM at %u, EFAULT at %u", n - 1, no_memory, fault);
	EXPECT_LT(10u, no_memory);
	EXPECT_LT(5u, fault);
	EXPECT_EQ(0, chain(self->memory));
}

TEST_HARNESS_MAIN
