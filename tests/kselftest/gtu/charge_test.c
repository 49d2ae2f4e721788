// SPDX-License-Identifier: MIT
/*
 * Tests that the kernel charges a user's rings and region tables to the user's memory control group.
 *
 * Pages that the platform takes from CMA are not charged to any group, but CMA bounds them. The
 * test therefore adds both amounts. Needs root and cgroup v2.
 */
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "gtu_util.h"

#define GROUPS	"/tmp/gtu-groups"
#define GROUP	GROUPS "/test"

FIXTURE(charge)
{
	int fd;
	bool mounted;
};

FIXTURE_SETUP(charge)
{
	NEEDS_ROOT;
	OPEN_OR_SKIP(self->fd);
	mkdir(GROUPS, 0700);
	if (mount("none", GROUPS, "cgroup2", 0, NULL))
		SKIP(return, "cgroup v2 cannot be mounted: %s", strerror(errno));
	self->mounted = true;
	if (write_to(GROUPS "/cgroup.subtree_control", "+memory"))
		SKIP(return, "the kernel has no memory control group");
	mkdir(GROUP, 0700);
}

FIXTURE_TEARDOWN(charge)
{
	if (self->mounted) {
		write_to(GROUPS "/cgroup.procs", "0");
		rmdir(GROUP);
		umount(GROUPS);
	}
}

/* Return the bytes charged to the group. */
static long long charged(void)
{
	char text[64];

	return read_from(GROUP "/memory.current", text, sizeof(text)) > 0 ? atoll(text) : -1;
}

/* Return the free bytes of CMA; 0 without CMA. */
static long long cma_free(void)
{
	char line[128];
	long long kib = 0;
	FILE *f = fopen("/proc/meminfo", "r");

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "CmaFree: %lld", &kib) == 1)
			break;
	if (f)
		fclose(f);
	return kib * 1024;
}

/* Return the bytes charged to the group plus the bytes taken from CMA, up to a constant. */
static long long accounted(void)
{
	return charged() - cma_free();
}

/* Store the bytes taken by queues and by contexts in @told. Runs in a process of the group. */
static void take_and_tell(int fd, long long *told)
{
	struct gtu_ioctl_info info = { .size = sizeof(info) };
	struct gtu_ioctl_queue_create q = { .size = sizeof(q) };
	long long before, group, cma;
	unsigned int i;

	if (write_to(GROUP "/cgroup.procs", "0") || call(fd, GTU_IOCTL_INFO, &info))
		return;
	q.sq_log2 = q.cq_log2 = info.max_ring_log2 < 12 ? info.max_ring_log2 : 12;
	group = charged();
	cma = cma_free();
	before = accounted();
	for (i = 0; i < 4; i++)
		if (call(fd, GTU_IOCTL_QUEUE_CREATE, &q))
			return;
	told[0] = accounted() - before;
	told[1] = 4ll * (128 + 64) << q.sq_log2;
	before = accounted();
	for (i = 0; i < 64; i++)
		if (open(device_path(), O_RDWR | O_CLOEXEC) < 0)
			return;
	told[2] = accounted() - before;
	told[4] = charged() - group;
	told[5] = cma - cma_free();
	told[3] = 64ll * 64 << info.max_regions_log2;
}

TEST_F_TIMEOUT(charge, a_group_is_charged_for_rings_and_region_tables, 60)
{
	long long *told = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status;
	pid_t pid;

	ASSERT_NE(MAP_FAILED, (void *)told);
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		take_and_tell(self->fd, told);
		_exit(0);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_LT(0, told[3]);
	TH_LOG("%lld bytes charged, %lld taken from CMA", told[4], told[5]);
	/* the kernel keeps a per-CPU stock of pages already charged to the group */
	EXPECT_LE(told[1] * 3 / 4, told[0]) {
		TH_LOG("rings of %lld bytes, %lld charged", told[1], told[0]);
	}
	EXPECT_LE(told[3] * 3 / 4, told[2]) {
		TH_LOG("region tables of %lld bytes, %lld charged", told[3], told[2]);
	}
}

TEST_HARNESS_MAIN
