// SPDX-License-Identifier: MIT
/*
 * Every allocation while the driver takes a device fails once: it is refused with a sensible error, or
 * taken all the same, and nothing is left behind. Needs root and a kernel with fault injection
 * (CONFIG_FAILSLAB, CONFIG_FAIL_PAGE_ALLOC, CONFIG_FAULT_INJECTION_DEBUG_FS).
 *
 * GTU_FROM is the failure to begin with [1], GTU_SECONDS when to stop [at the last one]. A test that stopped before the
 * last failure is a skip that says where to go on. Only when one of them is set: 6.1 itself does not survive every failure
 * here (irq_insert_desc() does not look whether the descriptor went into its tree, and irq_domain_alloc_irqs_locked()
 * then uses what is not there).
 */
#include "gtu_util.h"

FIXTURE(fail_probe)
{
	int nth, bind;			/* /proc/thread-self/fail-nth; the driver's bind */
	char function[64];
};

static unsigned long number(const char *name, unsigned long otherwise)
{
	const char *text = getenv(name);

	return text ? strtoul(text, NULL, 10) : otherwise;
}

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

FIXTURE_SETUP(fail_probe)
{
	char path[128];
	int fd;

	self->bind = self->nth = -1;
	if (!getenv("GTU_FROM") && !getenv("GTU_SECONDS"))
		SKIP(return, "kernels can fall over failures of their own in here: GTU_FROM=1 does it");
	self->nth = open("/proc/thread-self/fail-nth", O_RDWR);
	if (self->nth < 0 || arm("failslab") || arm("fail_page_alloc"))
		SKIP(return, "needs root and a kernel with fault injection");
	arm("fail_usercopy");
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

/* Bind with the @n-th allocation failing: 0 or an errno; *@unused: there were fewer. */
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
	*unused = pread(nth, text, sizeof(text) - 1, 0) > 0 && atoi(text);
	if (pwrite(nth, "0", 1, 0) < 0)
		return -errno;
	return ret;
}

/* A device that was taken works. */
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

TEST_F_TIMEOUT(fail_probe, sweep, 900)
{
	const uint64_t end = getenv("GTU_SECONDS") ? now_ns() + number("GTU_SECONDS", 0) * SECOND : UINT64_MAX;
	unsigned long n, first = number("GTU_FROM", 1), refused = 0, taken = 0;
	bool unused = false;
	int ret = 0;

	for (n = first; !unused && now_ns() < end; n++) {
		ret = bind_with(self->nth, self->bind, self->function, n, &unused);
		/*
		 * EBUSY is the bus's own word for a BAR that could not be entered in its lists, EINVAL
		 * for MSI-X that could not be set up where there is no MSI to fall back to
		 */
		ASSERT_TRUE(!ret || ret == ENOMEM || ret == EFAULT || ret == ENOSPC ||
			    ret == EBUSY || ret == EINVAL) {
			TH_LOG("failure %lu: %s", n, strerror(ret));
		}
		if (ret) {
			refused++;
			ASSERT_EQ(-1, access(device_path(), F_OK)) {
				TH_LOG("failure %lu: refused, but there is a device", n);
			}
			continue;
		}
		taken++;
		ASSERT_EQ(0, works()) {
			TH_LOG("failure %lu: taken, but it does not work", n);
		}
		ASSERT_EQ(0, driver_file(self->function, "unbind"));
	}
	TH_LOG("failures %lu to %lu: %lu refused, %lu taken", first, n - 1, refused, taken);
	/* the run in which nothing failed is one of those taken */
	EXPECT_LT(0u, taken);
	if (first == 1) {
		EXPECT_LT(10u, refused);
	}
	ASSERT_EQ(0, driver_file(self->function, "bind"));
	EXPECT_EQ(0, works());
	ASSERT_EQ(0, driver_file(self->function, "unbind"));
	if (!unused)
		SKIP(return, "failures %lu to %lu passed within GTU_SECONDS: go on with GTU_FROM=%lu", first, n - 1, n);
}

TEST_HARNESS_MAIN
