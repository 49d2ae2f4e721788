// SPDX-License-Identifier: MIT
/*
 * Tests a device that never completes INVALIDATE, whose reset then does not end, or that keeps bus
 * mastering enabled.
 *
 * Memory is unpinned as soon as that is safe, and otherwise never. The device must inject the
 * fault, and GTU_FAULT must name it:
 *   no-invalidate: gtu serve --fault no-invalidate
 *   stuck-reset: gtu serve --fault no-invalidate --fault stuck-reset=3
 *   keep-master: gtu serve --fault no-invalidate --fault stuck-reset=3 --fault keep-master
 * The last two leave the device unusable. Needs root.
 */
#include <poll.h>

#include "gtu_util.h"

#define BYTES	(1u << 20)

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

TEST_F_TIMEOUT(stuck, memory, 90)
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
