// SPDX-License-Identifier: MIT
/*
 * Tests that aligned pieces of 2 MiB of buffers and of the aperture are mapped by huge entries, that
 * a part of one can be unmapped, and that buffers remain ordinary memory for system calls.
 */
#include <sys/utsname.h>

#include "gtu_util.h"

#define HUGE		(2ul << 20)
#define BYTES		(2 * HUGE)

DEVICE_FIXTURE(huge);

/* The version of the running kernel, for example 0x60c for 6.12. */
static int kernel_version(void)
{
	int major = 0, minor = 0;
	struct utsname name;

	uname(&name);
	sscanf(name.release, "%d.%d", &major, &minor);
	return major << 8 | minor;
}

/* Reserve @bytes of addresses, aligned to 2 MiB. */
static char *reserve(size_t bytes)
{
	char *p = mmap(NULL, bytes + HUGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : (char *)(((uintptr_t)p + HUGE - 1) & ~(HUGE - 1));
}

/*
 * Set the system's choice of huge pages: "always", "madvise" or "never". Returns the one before in
 * @old, or -errno. A machine of less than 512 MiB begins with "never".
 */
static int choose_huge_pages(const char *choice, char old[16])
{
	static const char path[] = "/sys/kernel/mm/transparent_hugepage/enabled";
	char text[64] = "", *from;
	int fd = open(path, O_RDWR), ret = 0;

	if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0)
		ret = -errno;
	from = strchr(text, '[');
	if (!ret && (!from || sscanf(from, "[%15[a-z]]", old) != 1))
		ret = -EINVAL;
	if (!ret && pwrite(fd, choice, strlen(choice), 0) < 0)
		ret = -errno;
	if (fd >= 0)
		close(fd);
	return ret;
}

/* Reserve addresses for 15 pieces of 2 MiB whose table of such pieces exists. */
static char *reserve_beside(void)
{
	char *area = reserve(32 * HUGE), *beside = area + 16 * HUGE;

	/* the table above those of the mapping exists from now on, if it is of the same 1 GiB */
	if (!area || mmap(beside, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != beside)
		return NULL;
	*beside = 1;
	return (uintptr_t)area >> 30 != (uintptr_t)beside >> 30 ? beside + HUGE : area;
}

/*
 * Map @bytes at @offset, write to each page, and return by how many KiB the page tables grew: not at
 * all for huge entries, by 4 KiB for each 2 MiB of small ones. Negative: an error.
 */
static long growth_of_tables(int fd, uint64_t offset, size_t bytes, char **p)
{
	char *area = reserve_beside();
	long before;
	size_t at;

	if (!area)
		return -ENOMEM;
	before = status_kib("VmPTE");
	*p = mmap(area, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, (off_t)offset);
	if (*p != area)
		return -errno;
	for (at = 0; at < bytes; at += PAGE)
		*(volatile char *)(area + at) = (char)(at / PAGE % 113);
	return status_kib("VmPTE") - before;
}

/* The same with huge pages chosen for the whole system meanwhile, whatever the result. */
static long mapped_tables(int fd, uint64_t offset, size_t bytes, char **p)
{
	char choice[16], now[16];
	int ret = choose_huge_pages("always", choice);
	long grown;

	if (ret)
		return ret;
	grown = growth_of_tables(fd, offset, bytes, p);
	ret = choose_huge_pages(choice, now);
	return ret ? ret : grown;
}

/* The kernel gives mappings of at least 2 MiB addresses at which huge entries fit. */
TEST_F(huge, large_mappings_are_aligned_to_2_mib)
{
	uint64_t offset;
	uint32_t key;
	char *p;

	if (sizeof(p) == 4)
		SKIP(return, "Linux aligns no addresses of 32-bit programs, as 6.1.192");
	ASSERT_EQ(0, buffer_alloc(self->fd, BYTES + PAGE, &key, &offset));
	p = map_shared(self->fd, offset, BYTES + PAGE);
	ASSERT_NE(MAP_FAILED, p);
	EXPECT_EQ(0u, (uintptr_t)p % HUGE);
}

TEST_F(huge, buffers_are_mapped_by_huge_entries)
{
	const size_t bytes = BYTES + 3 * PAGE;	/* the tail has small entries */
	uint64_t offset, at;
	int file = memfd_create("gtu", 0);
	uint32_t key, out;
	struct queue q;
	long grown;
	char *p, *copy = pages(bytes);

	write_to("/proc/sys/vm/compact_memory", "1");	/* so that there are huge blocks */
	ASSERT_EQ(0, buffer_alloc(self->fd, bytes, &key, &offset));
	grown = mapped_tables(self->fd, offset, bytes, &p);
	/* kernels between them map pages of a device's file by small entries */
	if (kernel_version() < 0x602 || kernel_version() >= 0x610) {
		EXPECT_EQ(4, grown);
	} else {
		EXPECT_EQ(12, grown);
	}
	/* the device sees the same memory */
	ASSERT_EQ(0, region_add(self->fd, copy, bytes, RW, &out));
	ASSERT_EQ(0, queue_create(self->fd, 2, 2, &q));
	ASSERT_EQ(GTU_CPL_OK, run_copy(&q, key, 0, out, 0, bytes / 8, 3));
	EXPECT_EQ(0, memcmp(p, copy, bytes));
	/* system calls that pin memory work on it */
	ASSERT_EQ((ssize_t)bytes, write(file, p, bytes));
	memset(p + 64, 0x55, HUGE);
	ASSERT_EQ((ssize_t)bytes, pread(file, p, bytes, 0));
	EXPECT_EQ(0, memcmp(p, copy, bytes));
	EXPECT_EQ(0, region_add(self->fd, p + PAGE, HUGE, RW, &out));
	EXPECT_EQ(0, region_remove(self->fd, out));
	/* a part of a huge entry is unmapped: the rest keeps its contents */
	ASSERT_EQ(0, munmap(p + 8 * PAGE, 4 * PAGE));
	for (at = 0; at < bytes; at += PAGE)
		if (at / PAGE < 8 || at / PAGE >= 12)
			ASSERT_EQ((char)(at / PAGE % 113), p[at]);
	/* the mapping keeps the memory */
	ASSERT_EQ(0, region_remove(self->fd, key));
	close(self->fd);
	EXPECT_EQ((char)(300 % 113), p[300 * PAGE]);
	p[300 * PAGE] = 7;
	EXPECT_EQ(7, p[300 * PAGE]);
}

TEST_F_TIMEOUT(huge, the_aperture_is_mapped_by_huge_entries, 120)
{
	struct gtu_ioctl_info info = { .size = sizeof(info) };
	uint64_t offset;
	uint32_t key;
	long grown;
	char *p;

	ASSERT_EQ(0, call(self->fd, GTU_IOCTL_INFO, &info));
	if (info.aperture_bytes < BYTES)
		SKIP(return, "the device has no aperture of at least 4 MiB");
	ASSERT_EQ(0, alloc_in(self->fd, GTU_BUFFER_APERTURE, HUGE, RW, &key, &offset));
	grown = mapped_tables(self->fd, offset, HUGE, &p);
	if (kernel_version() < 0x60c) {
		/* without a mark for such entries, get_user_pages_fast() would use them */
		EXPECT_EQ(4, grown);
	} else {
		EXPECT_EQ(0, grown);
	}
	EXPECT_EQ((char)(300 % 113), p[300 * PAGE]);
	EXPECT_EQ(EFAULT, region_add(self->fd, p, HUGE, RW, &key));
	ASSERT_EQ(0, munmap(p + 8 * PAGE, 4 * PAGE));
	EXPECT_EQ((char)(300 % 113), p[300 * PAGE]);
	EXPECT_EQ(7, p[7 * PAGE]);
}

/* Small entries are inserted up to a huge one, not into it. The mapping begins within a piece of 2 MiB. */
TEST_F_TIMEOUT(huge, small_entries_are_inserted_beside_huge_ones, 60)
{
	struct gtu_ioctl_info info = { .size = sizeof(info) };
	char *area = reserve_beside(), choice[16], now[16];
	uint64_t offset, first;
	uint32_t key;
	long before;

	ASSERT_EQ(0, call(self->fd, GTU_IOCTL_INFO, &info));
	if (info.aperture_bytes != BYTES)
		SKIP(return, "needs a device whose aperture is of 4 MiB: a larger one takes minutes to clear");
	if (kernel_version() < 0x60c)
		SKIP(return, "before Linux 6.12 the aperture has small entries");
	ASSERT_NE(NULL, area);
	ASSERT_EQ(0, alloc_in(self->fd, GTU_BUFFER_APERTURE, PAGE, RW, &key, &first));
	ASSERT_EQ(0, alloc_in(self->fd, GTU_BUFFER_APERTURE, BYTES - PAGE, RW, &key, &offset));
	ASSERT_EQ(area + PAGE, mmap(area + PAGE, BYTES - PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, self->fd,
				    (off_t)offset));
	ASSERT_EQ(0, choose_huge_pages("always", choice));
	before = status_kib("VmPTE");
	area[HUGE] = 5;
	EXPECT_EQ(before, status_kib("VmPTE")) {
		TH_LOG("the entry is not huge");
	}
	area[HUGE - PAGE] = 6;
	ASSERT_EQ(0, choose_huge_pages(choice, now));
	EXPECT_EQ(5, area[HUGE]);
	EXPECT_EQ(6, area[HUGE - PAGE]);
	area[2 * HUGE - 1] = 7;
	EXPECT_EQ(5, area[HUGE]);
}

TEST_HARNESS_MAIN
