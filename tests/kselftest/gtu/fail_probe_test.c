// SPDX-License-Identifier: MIT
/*
 * Tests error paths of the driver's probe: each allocation fails once; the bind returns a sensible
 * error or succeeds, and leaks nothing.
 *
 * Needs root and a kernel with fault injection (CONFIG_FAILSLAB, CONFIG_FAIL_PAGE_ALLOC,
 * CONFIG_FAULT_INJECTION_DEBUG_FS).
 *
 * GTU_FROM is the first failure point [1], GTU_SECONDS the time limit [none]. A test that reaches
 * the time limit is a skip whose reason names the failure point to continue with. The test runs
 * only if one of them is set, because Linux 6.1 does not survive every failure in probe:
 * irq_insert_desc() does not check its tree insertion, and irq_domain_alloc_irqs_locked() then uses
 * a missing descriptor.
 */
#include "gtu_trust.h"

FIXTURE(fail_probe)
{
	int nth, bind;			/* /proc/thread-self/fail-nth; the driver's bind file */
	char function[64];
};

FIXTURE_SETUP(fail_probe)
{
	char path[128];
	int fd;

	self->bind = self->nth = -1;
	if (!getenv("GTU_FROM") && !getenv("GTU_SECONDS"))
		SKIP(return, "the kernel itself may crash on an injected failure: set GTU_FROM=1 "
			     "to run the test");
	self->nth = fail_nth_open();
	if (self->nth < 0)
		SKIP(return, "needs root and a kernel with fault injection, as in the guest plan "
			     "debug");
	OPEN_OR_SKIP(fd);
	close(fd);
	ASSERT_EQ(0, bus_function(device_path(), self->function));
	driver_path(self->function, "bind", path);
	self->bind = open(path, O_WRONLY);
	ASSERT_LE(0, self->bind);
	ASSERT_EQ(0, driver_file(self->function, "unbind"));
}

FIXTURE_TEARDOWN(fail_probe)
{
	if (self->bind >= 0) {
		driver_file(self->function, "bind");
		close(self->bind);
	}
	if (self->nth >= 0)
		close(self->nth);
}

/*
 * Bind while allocation @n fails. Return 0, a positive errno of the bind, or a negative one of
 * fail-nth. *@unused: the bind made fewer than @n allocations.
 */
static int bind_with(int nth, int bind, const char *function, unsigned long n, bool *unused)
{
	char text[16];
	ssize_t done;
	int ret;

	snprintf(text, sizeof(text), "%lu", n);
	if (pwrite(nth, text, strlen(text), 0) < 0)
		return -errno;
	done = pwrite(bind, function, strlen(function), 0);
	ret = done < 0 ? errno : 0;
	memset(text, 0, sizeof(text));
	/* if all of the bind was done, these calls are the next that fail */
	*unused = pread(nth, text, sizeof(text) - 1, 0) < 0 || atoi(text);
	if (pwrite(nth, "0", 1, 0) < 0) {
		*unused = true;
		if (errno != EFAULT || pwrite(nth, "0", 1, 0) < 0)
			return -errno;
	}
	return ret;
}

/* Return 0 if a job completes on the bound device. */
static int works(void)
{
	struct gtu_hw_cpl c;
	struct queue q;
	int fd = open(device_path(), O_RDWR), ret;

	if (fd < 0)
		return -errno;
	ret = queue_create(fd, 2, 2, &q);
	if (!ret)
		ret = run(&q, &NO_JOB, &c);
	if (!ret)
		queue_unmap(&q);
	close(fd);
	return ret;
}

TEST_F_TIMEOUT(fail_probe, a_bind_with_a_failed_allocation_fails_or_works, 900)
{
	const uint64_t end = getenv("GTU_SECONDS") ? now_ns() + setting("GTU_SECONDS", 0) * SECOND : UINT64_MAX;
	unsigned long n, first = setting("GTU_FROM", 1), refused = 0, taken = 0;
	bool unused = false;
	int ret = 0;

	for (n = first; !unused && now_ns() < end; n++) {
		ret = bind_with(self->nth, self->bind, self->function, n, &unused);
		/*
		 * PCI returns EBUSY if it cannot record a BAR, EINVAL if MSI-X setup fails and
		 * there is no MSI to fall back to, and since 6.2 ENODEV if it cannot create the
		 * domain of the device's MSI-X interrupts
		 */
		ASSERT_TRUE(!ret || ret == ENOMEM || ret == EFAULT || ret == ENOSPC ||
			    ret == EBUSY || ret == EINVAL || ret == ENODEV) {
			TH_LOG("failure point %lu: unexpected error: %s", n, strerror(ret));
		}
		if (ret) {
			refused++;
			ASSERT_EQ(-1, access(device_path(), F_OK)) {
				TH_LOG("failure point %lu: the bind failed, but the device node "
				       "exists", n);
			}
			continue;
		}
		taken++;
		ASSERT_EQ(0, works()) {
			TH_LOG("failure point %lu: the bind succeeded, but a job fails", n);
		}
		ASSERT_EQ(0, driver_file(self->function, "unbind"));
	}
	TH_LOG("failure points %lu to %lu: %lu binds failed, %lu succeeded",
	       first, n - 1, refused, taken);
	/* the run in which nothing failed is one of the successful binds */
	EXPECT_LT(0u, taken);
	if (first == 1) {
		EXPECT_LT(10u, refused);
	}
	ASSERT_EQ(0, driver_file(self->function, "bind"));
	EXPECT_EQ(0, works());
	ASSERT_EQ(0, driver_file(self->function, "unbind"));
	if (!unused)
		SKIP(return, "failure points %lu to %lu passed within GTU_SECONDS: set "
			     "GTU_FROM=%lu to continue", first, n - 1, n);
}

TEST_HARNESS_MAIN
