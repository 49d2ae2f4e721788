// SPDX-License-Identifier: MIT
/*
 * Tests a device that fails while it is used: all waiters return, and memory is unpinned as soon as
 * that is safe, and otherwise never.
 *
 * The device must inject the fault (gtu serve --fault), and GTU_FAULT must name it:
 *   removed: the server exits, or reads return all ones after some accesses
 *   stalled: the device answers but completes no jobs
 *   no-invalidate: --fault no-invalidate
 *   stuck-reset: --fault no-invalidate --fault stuck-reset=3
 *   keep-master: --fault no-invalidate --fault stuck-reset=3 --fault keep-master
 * The last two leave the device unusable. Those from no-invalidate on need root.
 */
#include <poll.h>

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

/*
 * ---- A device that does not confirm that it does not access a region ----------------------------
 */

FIXTURE(stuck)
{
	int fd;
	struct queue q;
	uint8_t *memory;
	uint32_t key, other;
	char function[64];
};

FIXTURE_VARIANT(stuck)
{
	const char *kind;
	bool comes_back, keeps_master;
};
FIXTURE_VARIANT_ADD(stuck, no_invalidate) { .kind = "no-invalidate", .comes_back = true };
FIXTURE_VARIANT_ADD(stuck, stuck_reset) { .kind = "stuck-reset" };
FIXTURE_VARIANT_ADD(stuck, keep_master) { .kind = "keep-master", .keeps_master = true };

FIXTURE_SETUP(stuck)
{
	NEEDS_FAULT(variant->kind, "faulty");
	NEEDS_ROOT;
	OPEN_OR_SKIP(self->fd);
	ASSERT_EQ(0, bus_function(device_path(), self->function));
	self->memory = pages(BYTES);
	memset(self->memory, 0x5a, BYTES);
	ASSERT_EQ(0, region_add(self->fd, self->memory, BYTES / 2, RW, &self->key));
	ASSERT_EQ(0, region_add(self->fd, self->memory + BYTES / 2, BYTES / 2, RW, &self->other));
	ASSERT_EQ(0, queue_create(self->fd, 4, 4, &self->q));
}

NO_TEARDOWN(stuck);

TEST_F_TIMEOUT(stuck, memory_is_unpinned_only_when_that_is_safe, 90)
{
	const uint64_t start = now_ns();
	struct gtu_hw_cpl c;
	char path[128], text[64];
	struct pollfd p;
	int fd;

	ASSERT_EQ(GTU_CPL_OK, run(&self->q, &NO_JOB, &c));
	/* the driver no longer trusts the device and ends this context */
	EXPECT_EQ(ENODEV, region_remove(self->fd, self->key));
	EXPECT_GT(10 * SECOND, now_ns() - start);
	EXPECT_EQ(ENODEV, region_remove(self->fd, self->other));
	EXPECT_EQ(ENODEV, queue_wait(&self->q, 1, GTU_WAIT_FOREVER));
	EXPECT_EQ(GTU_QUEUE_DISABLED, queue_state(&self->q));
	p = (struct pollfd){ .fd = self->fd, .events = POLLIN };
	EXPECT_EQ(1, poll(&p, 1, 0));
	EXPECT_EQ(POLLERR | POLLHUP, p.revents);
	if (!access("/sys/class/devcoredump", F_OK))
		EXPECT_NE(NULL, dump_file());
	snprintf(path, sizeof(path), "/sys/class/gtu/%s/state", device_name());
	ASSERT_LT(0, read_from(path, text, sizeof(text)));
	EXPECT_EQ(0, strcmp(text, variant->comes_back ? "up\n" : "dead\n"));

	/* only the first region was removed; pages that the device may still access stay pinned */
	EXPECT_EQ((variant->keeps_master ? BYTES : BYTES / 2) / 1024, status_kib("VmPin"));
	queue_unmap(&self->q);
	close(self->fd);
	EXPECT_EQ((variant->keeps_master ? BYTES : 0) / 1024, status_kib("VmPin"));
	EXPECT_EQ(0x5a, self->memory[BYTES - 1]);

	fd = open(device_path(), O_RDWR);
	if (variant->comes_back) {
		ASSERT_LE(0, fd);
		ASSERT_EQ(0, queue_create(fd, 2, 2, &self->q));
		EXPECT_EQ(GTU_CPL_OK, run(&self->q, &NO_JOB, &c));
		queue_unmap(&self->q);
		close(fd);
		return;
	}
	EXPECT_EQ(-1, fd);
	EXPECT_EQ(ENODEV, errno);
	/* the reset during probe fails too, so there is no device */
	EXPECT_EQ(0, driver_file(self->function, "unbind"));
	EXPECT_NE(0, driver_file(self->function, "bind"));
	EXPECT_EQ(-1, open(device_path(), O_RDWR));
}

TEST_HARNESS_MAIN
