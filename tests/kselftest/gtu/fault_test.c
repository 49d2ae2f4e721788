// SPDX-License-Identifier: MIT
/*
 * Tests a device that fails while it is used: all waiters return, and all memory is unpinned.
 *
 * The device must inject the fault (gtu serve --fault), and GTU_FAULT must name it: "removed" (the
 * server exits or reads return all ones after some accesses) or "stalled" (the device answers but
 * completes no jobs).
 */
#include "gtu_util.h"

#define BYTES	(1u << 20)

FIXTURE(fault)
{
	int fd;
	struct queue q;
	uint32_t key;
};

FIXTURE_VARIANT(fault)
{
	const char *kind;
};
FIXTURE_VARIANT_ADD(fault, removed) { .kind = "removed" };
FIXTURE_VARIANT_ADD(fault, stalled) { .kind = "stalled" };

FIXTURE_SETUP(fault)
{
	NEEDS_FAULT(variant->kind, "faulty");
	OPEN_OR_SKIP(self->fd);
	ASSERT_EQ(0, region_add(self->fd, pages(BYTES), BYTES, RW, &self->key));
	ASSERT_EQ(0, queue_create(self->fd, 4, 4, &self->q));
}

NO_TEARDOWN(fault);

TEST_F_TIMEOUT(fault, waiters_are_notified, 60)
{
	const bool removed = !strcmp(variant->kind, "removed");
	struct gtu_ioctl_info info = { .size = sizeof(info) };
	const struct gtu_hw_desc nothing = { 0 };
	unsigned int jobs = 0;
	struct gtu_hw_cpl c;
	uint64_t start;
	int ret;

	do {
		uint32_t index = submit(&self->q, &nothing);

		start = now_ns();
		/*
		 * A wait without a deadline on a dead device tests that the driver detects the
		 * failure.
		 */
		ret = queue_wait(&self->q, index, removed ? GTU_WAIT_FOREVER : start + SECOND / 2);
		jobs += !ret && !take(&self->q, &c);
	} while (!ret && jobs < 100000);
	TH_LOG("%u jobs, then: %s, after %llu ms", jobs, strerror(ret),
	       (unsigned long long)(now_ns() - start) / 1000000);
	EXPECT_EQ(removed ? ENODEV : ETIMEDOUT, ret);
	EXPECT_GT(5 * SECOND, now_ns() - start);

	start = now_ns();
	if (removed) {
		EXPECT_EQ(ENODEV, call(self->fd, GTU_IOCTL_INFO, &info));
		EXPECT_EQ(ENODEV, region_remove(self->fd, self->key));
		EXPECT_EQ(GTU_QUEUE_DISABLED, queue_state(&self->q));
		EXPECT_GT(0, open(device_path(), O_RDWR));
		EXPECT_EQ(ENODEV, errno);
	} else {
		/*
		 * The jobs of the queue never complete; their memory can be unpinned nevertheless.
		 */
		EXPECT_EQ(0, region_remove(self->fd, self->key));
		EXPECT_EQ(0, queue_call(&self->q, GTU_IOCTL_QUEUE_RESET));
	}
	queue_unmap(&self->q);
	close(self->fd);
	EXPECT_EQ(0, status_kib("VmPin"));
	EXPECT_GT(10 * SECOND, now_ns() - start);
}

TEST_HARNESS_MAIN
