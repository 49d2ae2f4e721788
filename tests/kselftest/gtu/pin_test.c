// SPDX-License-Identifier: MIT
/*
 * Tests pinned memory: charges follow each call with page granularity for every kind of memory,
 * obey RLIMIT_MEMLOCK, and failed calls leave nothing pinned or charged.
 */
#include <linux/capability.h>
#include <linux/memfd.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "gtu_trust.h"

#define KIB		(PAGE / 1024)
#define HUGE		(2u << 20)
#define BYTES		(2 * HUGE)	/* per kind of memory */
#define PINNED()	status_kib("VmPin")

#ifndef F_ADD_SEALS
#define F_ADD_SEALS	1033
#define F_SEAL_WRITE	8
#endif

enum kind { ANONYMOUS, THP, MEMFD, SHARED_FILE, PRIVATE_FILE, HUGETLB };

/* Make @n huge pages available, or restore the previous number if @n is 0. */
static bool huge_pages(unsigned int n)
{
	static char before[16];
	char text[16] = "";
	int fd = open("/proc/sys/vm/nr_hugepages", O_RDWR);
	bool ok = fd >= 0;

	if (ok && n && !before[0])
		ok = pread(fd, before, sizeof(before) - 1, 0) > 0;
	if (ok && n)
		snprintf(text, sizeof(text), "%d", atoi(before) + (int)n);
	else
		strcpy(text, before);
	if (ok && text[0])
		ok = pwrite(fd, text, strlen(text), 0) > 0 &&
		     pread(fd, text, sizeof(text) - 1, 0) > 0 &&
		     atoi(text) >= atoi(before) + (int)n;
	if (fd >= 0)
		close(fd);
	return ok;
}

static void *memory_of(enum kind kind, int prot)
{
	const int shared = kind == PRIVATE_FILE ? MAP_PRIVATE : MAP_SHARED;
	char name[] = "/tmp/gtu-pin-XXXXXX";
	int fd;
	void *p;

	switch (kind) {
	case ANONYMOUS:
	case THP:
		p = pages(BYTES + HUGE);
		p = (void *)(((uintptr_t)p + HUGE - 1) & ~(uintptr_t)(HUGE - 1));
		madvise(p, BYTES, kind == THP ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
		mprotect(p, BYTES, prot);
		return p;
	case HUGETLB:
		return mmap(NULL, BYTES, prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
	case MEMFD:
		fd = memfd_create("gtu", 0);
		break;
	default:
		fd = mkstemp(name);
		unlink(name);
	}
	if (fd < 0 || ftruncate(fd, BYTES))
		return MAP_FAILED;
	p = mmap(NULL, BYTES, prot, shared, fd, 0);
	close(fd);
	return p;
}

FIXTURE(kinds)
{
	int fd;
	uint8_t *memory;
};

FIXTURE_VARIANT(kinds)
{
	enum kind kind;
	int prot;
	uint32_t rights;
};

#define KIND(name, ...) FIXTURE_VARIANT_ADD(kinds, name) { __VA_ARGS__ }
KIND(anonymous, ANONYMOUS, PROT_READ | PROT_WRITE, RW);
KIND(anonymous_to_read, ANONYMOUS, PROT_READ | PROT_WRITE, GTU_RIGHT_READ);
KIND(anonymous_write_protected, ANONYMOUS, PROT_READ, GTU_RIGHT_READ);
KIND(transparent_huge_pages, THP, PROT_READ | PROT_WRITE, RW);
KIND(memfd, MEMFD, PROT_READ | PROT_WRITE, RW);
KIND(memfd_write_protected, MEMFD, PROT_READ, GTU_RIGHT_READ);
KIND(shared_file, SHARED_FILE, PROT_READ | PROT_WRITE, RW);
KIND(private_file, PRIVATE_FILE, PROT_READ | PROT_WRITE, RW);
KIND(hugetlb, HUGETLB, PROT_READ | PROT_WRITE, RW);
KIND(hugetlb_to_read, HUGETLB, PROT_READ | PROT_WRITE, GTU_RIGHT_READ);

FIXTURE_SETUP(kinds)
{
	if (variant->kind == HUGETLB && !huge_pages(BYTES / HUGE + 2))
		SKIP(return, "needs root and enough free memory for huge pages");
	OPEN_OR_SKIP(self->fd);
	self->memory = memory_of(variant->kind, variant->prot);
	ASSERT_NE(MAP_FAILED, (void *)self->memory);
}

FIXTURE_TEARDOWN(kinds)
{
	close(self->fd);
	munmap(self->memory, BYTES);
	huge_pages(0);
}

TEST_F(kinds, each_region_is_charged_by_whole_pages)
{
	static const struct {
		uint32_t skip, length, charged;
	} c[] = {
		{ 0, 8, 1 },
		{ 8, 8, 1 },
		{ 0, PAGE, 1 },
		{ PAGE - 8, 16, 2 },
		{ 8, PAGE, 2 },
		{ 3 * PAGE, 5 * PAGE, 5 },
		{ 3 * PAGE + 16, 5 * PAGE, 6 },
		{ HUGE - PAGE, 2 * PAGE, 2 },
		{ 0, HUGE, HUGE / PAGE },
		{ 8, BYTES - 8, BYTES / PAGE },
		{ 0, BYTES, BYTES / PAGE },
	};
	const unsigned int n = sizeof(c) / sizeof(*c);
	uint32_t key[16], total = 0;
	unsigned int i;

	for (i = 0; i < n; i++) {
		ASSERT_EQ(0, region_add(self->fd, self->memory + c[i].skip, c[i].length,
					variant->rights, &key[0]));
		EXPECT_EQ((long)(c[i].charged * KIB), PINNED()) {
			TH_LOG("%u bytes at %u", c[i].length, c[i].skip);
		}
		ASSERT_EQ(0, region_remove(self->fd, key[0]));
		EXPECT_EQ(0, PINNED());
	}
	/* memory registered twice is charged twice */
	for (i = 0; i < 6; i++) {
		ASSERT_EQ(0, region_add(self->fd, self->memory + c[i].skip, c[i].length,
					variant->rights, &key[i]));
		total += c[i].charged;
		EXPECT_EQ((long)(total * KIB), PINNED());
	}
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, region_remove(self->fd, key[i]));
		total -= c[i].charged;
		EXPECT_EQ((long)(total * KIB), PINNED());
	}
	/* close() frees the rest */
	close(self->fd);
	EXPECT_EQ(0, PINNED());
}

FIXTURE(pin)
{
	int fd;
	uint8_t *memory;
};

FIXTURE_SETUP(pin)
{
	OPEN_OR_SKIP(self->fd);
	self->memory = pages(BYTES);
}

NO_TEARDOWN(pin);

/*
 * ---- The limit ----------------------------------------------------------------------------------
 */

/* Set or clear CAP_IPC_LOCK in the effective set only, so that root can set it again. */
static int ipc_lock(bool on)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];
	const uint32_t bit = 1u << CAP_IPC_LOCK;

	if (syscall(SYS_capget, &head, data))
		return errno;
	data[0].effective = on ? data[0].effective | bit : data[0].effective & ~bit;
	return syscall(SYS_capset, &head, data) ? errno : 0;
}

static int limit_pages(rlim_t soft, rlim_t hard)
{
	struct rlimit limit = { soft * PAGE, hard * PAGE };

	return setrlimit(RLIMIT_MEMLOCK, &limit) ? errno : 0;
}

TEST_F(pin, pinned_memory_obeys_rlimit_memlock)
{
	uint32_t key, other;
	unsigned int i;

	if (ipc_lock(false) || limit_pages(64, 128))
		SKIP(return, "needs root to drop CAP_IPC_LOCK and to raise RLIMIT_MEMLOCK");
	EXPECT_EQ(EDQUOT, region_add(self->fd, self->memory, 65 * PAGE, RW, &key));
	EXPECT_EQ(EDQUOT, region_add(self->fd, self->memory, 64 * PAGE + 1, RW, &key));
	EXPECT_EQ(EDQUOT, region_add(self->fd, self->memory + 8, 64 * PAGE, RW, &key));
	EXPECT_EQ(0, PINNED());
	/* exactly the limit, repeatedly */
	for (i = 0; i < 20; i++) {
		ASSERT_EQ(0, region_add(self->fd, self->memory, 64 * PAGE, RW, &key));
		ASSERT_EQ(64 * (long)KIB, PINNED());
		ASSERT_EQ(EDQUOT, region_add(self->fd, self->memory, 1, RW, &other));
		ASSERT_EQ(64 * (long)KIB, PINNED());
		ASSERT_EQ(0, region_remove(self->fd, key));
	}
	/* raise the soft limit */
	ASSERT_EQ(0, region_add(self->fd, self->memory, 64 * PAGE, RW, &key));
	ASSERT_EQ(0, limit_pages(65, 128));
	EXPECT_EQ(0, region_add(self->fd, self->memory, PAGE, RW, &other));
	EXPECT_EQ(EDQUOT, region_add(self->fd, self->memory, PAGE, RW, &other));
	/* lower the limit below the pinned amount: existing pins stay, new ones fail */
	ASSERT_EQ(0, limit_pages(10, 128));
	EXPECT_EQ(EDQUOT, region_add(self->fd, self->memory, PAGE, RW, &other));
	EXPECT_EQ(65 * (long)KIB, PINNED());
	EXPECT_EQ(0, region_remove(self->fd, key));
	EXPECT_EQ(1 * (long)KIB, PINNED());
	EXPECT_EQ(0, region_add(self->fd, self->memory, 9 * PAGE, RW, &other));
	EXPECT_EQ(EDQUOT, region_add(self->fd, self->memory, PAGE, RW, &other));
	/* another context of the same process shares the account */
	close(self->fd);
	self->fd = open(device_path(), O_RDWR | O_CLOEXEC);
	EXPECT_EQ(0, PINNED());
	i = (unsigned int)open(device_path(), O_RDWR | O_CLOEXEC);
	EXPECT_EQ(0, region_add(self->fd, self->memory, 6 * PAGE, RW, &key));
	EXPECT_EQ(EDQUOT, region_add((int)i, self->memory, 5 * PAGE, RW, &key));
	EXPECT_EQ(0, region_add((int)i, self->memory, 4 * PAGE, RW, &key));
	/* CAP_IPC_LOCK overrides the limit */
	ASSERT_EQ(0, ipc_lock(true));
	EXPECT_EQ(0, region_add(self->fd, self->memory, 100 * PAGE, RW, &key));
	EXPECT_EQ(110 * (long)KIB, PINNED());
	ASSERT_EQ(0, ipc_lock(false));
	EXPECT_EQ(EDQUOT, region_add(self->fd, self->memory, 8, RW, &other));
	EXPECT_EQ(0, region_remove(self->fd, key));
}

/* A limit of 0 refuses every region; driver buffers and queues are not charged. */
TEST_F(pin, a_limit_of_0_refuses_every_region)
{
	struct queue q;
	uint64_t offset;
	uint32_t key;

	if (ipc_lock(false) || limit_pages(0, 0))
		SKIP(return, "needs root to drop CAP_IPC_LOCK");
	EXPECT_EQ(EDQUOT, region_add(self->fd, self->memory, 8, RW, &key));
	EXPECT_EQ(0, buffer_alloc(self->fd, 16 * PAGE, &key, &offset));
	EXPECT_EQ(0, queue_create(self->fd, 6, 6, &q));
	EXPECT_EQ(0, PINNED());
}

/*
 * ---- Failed calls -------------------------------------------------------------------------------
 */

/*
 * Return whether pages of a memfd are pinned, because sealing against writes then fails. The memfd
 * must have no writable mapping.
 */
static bool is_pinned(int memfd)
{
	return fcntl(memfd, F_ADD_SEALS, F_SEAL_WRITE) && errno == EBUSY;
}

/* The last or a middle page is missing or not writable: all pages before it are unpinned. */
TEST_F(pin, a_hole_in_a_region_leaves_nothing_pinned)
{
	enum { UNMAPPED, NO_ACCESS, READ_ONLY, BEHIND_THE_END, HOLES };
	const size_t bytes = 1200 * PAGE;	/* more than two batches of pins */
	unsigned int hole, middle;
	uint32_t key;

	for (hole = 0; hole < HOLES; hole++)
		for (middle = 0; middle < (hole == BEHIND_THE_END ? 1 : 2); middle++) {
			int file = memfd_create("gtu", MFD_ALLOW_SEALING);
			uint8_t *p, *at;

			ASSERT_LE(0, file);
			ASSERT_EQ(0, ftruncate(file, (off_t)bytes -
						     (hole == BEHIND_THE_END ? PAGE : 0)));
			p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
			ASSERT_NE(MAP_FAILED, (void *)p);
			at = p + (middle ? 700 : 1199) * PAGE;
			if (hole == UNMAPPED)
				munmap(at, PAGE);
			else if (hole != BEHIND_THE_END)
				mprotect(at, PAGE, hole == NO_ACCESS ? PROT_NONE : PROT_READ);
			EXPECT_EQ(EFAULT, region_add(self->fd, p, bytes, RW, &key)) {
				TH_LOG("hole %u, in the middle: %u", hole, middle);
			}
			EXPECT_EQ(0, PINNED());
			munmap(p, bytes);
			EXPECT_FALSE(is_pinned(file)) {
				TH_LOG("hole %u, in the middle: %u: still pinned", hole, middle);
			}
			close(file);
		}
}

TEST_F(pin, memory_beyond_all_mappings_cannot_be_pinned)
{
	unsigned long long begin, end, last = 0;
	char line[512];
	FILE *maps = fopen("/proc/self/maps", "r");
	uint32_t key;

	ASSERT_NE(NULL, maps);
	while (fgets(line, sizeof(line), maps))
		if (!strstr(line, "[vsyscall]") && sscanf(line, "%llx-%llx", &begin, &end) == 2)
			last = end;
	fclose(maps);
	EXPECT_EQ(EFAULT, region_add(self->fd, (void *)(uintptr_t)last, PAGE, GTU_RIGHT_READ, &key));
	EXPECT_EQ(EFAULT, region_add(self->fd, (void *)(uintptr_t)last, PAGE, RW, &key));
	EXPECT_EQ(0, PINNED());
}

/* A region needs read access by the caller, to private and shared memory, for all pages. */
TEST_F(pin, a_region_needs_read_access_to_all_pages)
{
	unsigned int kind;
	uint32_t key;
	uint8_t *p;

	for (kind = 0; kind < 2; kind++) {
		p = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE,
			 (kind ? MAP_SHARED : MAP_PRIVATE) | MAP_ANONYMOUS, -1, 0);
		ASSERT_NE(MAP_FAILED, (void *)p);
		memset(p, 7, 4 * PAGE);
		ASSERT_EQ(0, mprotect(p + 2 * PAGE, PAGE, PROT_NONE));
		EXPECT_EQ(EFAULT, region_add(self->fd, p, 4 * PAGE, GTU_RIGHT_READ, &key)) {
			TH_LOG("kind %u", kind);
		}
		EXPECT_EQ(EFAULT, region_add(self->fd, p + 2 * PAGE, 8, GTU_RIGHT_READ, &key));
		EXPECT_EQ(0, PINNED());
		/* a page that the caller can read can become a read-only region */
		ASSERT_EQ(0, mprotect(p + 2 * PAGE, PAGE, PROT_READ));
		EXPECT_EQ(0, region_add(self->fd, p, 4 * PAGE, GTU_RIGHT_READ, &key));
		EXPECT_EQ(0, region_remove(self->fd, key));
		munmap(p, 4 * PAGE);
	}
}

/* is_pinned() detects pins, and both REGION_REMOVE and close() unpin. */
TEST_F(pin, region_remove_and_close_unpin_memory)
{
	unsigned int way;
	uint32_t key;

	for (way = 0; way < 2; way++) {
		int file = memfd_create("gtu", MFD_ALLOW_SEALING);
		uint8_t *p;

		ASSERT_EQ(0, ftruncate(file, 600 * PAGE));
		p = mmap(NULL, 600 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
		ASSERT_EQ(0, region_add(self->fd, p, 600 * PAGE, RW, &key));
		munmap(p, 600 * PAGE);
		EXPECT_TRUE(is_pinned(file));
		EXPECT_EQ(600 * (long)KIB, PINNED());
		if (way)
			close(self->fd);
		else
			ASSERT_EQ(0, region_remove(self->fd, key));
		EXPECT_EQ(0, PINNED());
		EXPECT_FALSE(is_pinned(file));
		close(file);
	}
}

/* If the key cannot be copied to the caller, the region and its pins are removed. */
TEST_F_TIMEOUT(pin, a_region_whose_key_cannot_be_returned_is_removed, 60)
{
	struct gtu_ioctl_region_add *a = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
					      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned int i;

	*a = (struct gtu_ioctl_region_add){ .size = sizeof(*a), .length = 2 * PAGE, .rights = RW,
					    .addr = (uintptr_t)self->memory };
	mprotect(a, PAGE, PROT_READ);
	for (i = 0; i < 1100; i++) {	/* more often than there are slots */
		ASSERT_EQ(EFAULT, call(self->fd, GTU_IOCTL_REGION_ADD, a));
		ASSERT_EQ(0, PINNED());
	}
}

TEST_F(pin, a_child_is_not_charged_for_its_parents_pins)
{
	uint32_t key, other;
	pid_t child;

	ASSERT_EQ(0, region_add(self->fd, self->memory, 100 * PAGE, RW, &key));
	ASSERT_EQ(0, region_add(self->fd, self->memory, 50 * PAGE, RW, &other));
	fflush(stdout);
	child = fork();
	if (!child) {
		/* the parent's pins are not charged to the child, but the child can remove them */
		if (PINNED() || region_remove(self->fd, other) || PINNED())
			_exit(1);
		if (region_add(self->fd, self->memory, 7 * PAGE, RW, &other) || PINNED() != 7 * KIB)
			_exit(2);
		_exit(0);
	}
	ASSERT_EQ(0, child_end(child));
	EXPECT_EQ(100 * (long)KIB, PINNED());
	ASSERT_EQ(0, region_remove(self->fd, key));
	EXPECT_EQ(0, PINNED());
	close(self->fd);
	EXPECT_EQ(0, PINNED());
}

/*
 * ---- Many regions, and a large one --------------------------------------------------------------
 */

/* One page per region until no slot is free: each add and remove changes the charge by one page. */
TEST_F_TIMEOUT(pin, every_region_slot_can_be_used_and_freed, 60)
{
	enum { MOST = 70000 };
	static uint32_t key[MOST];
	struct gtu_ioctl_info info = { .size = sizeof(info) };
	uint64_t seed = random_seed();
	uint8_t *memory;
	uint32_t n, i, j;
	int ret = 0;

	ASSERT_EQ(0, call(self->fd, GTU_IOCTL_INFO, &info));
	memory = pages((PAGE << info.max_regions_log2) + PAGE);
	for (n = 0; n < MOST; n++) {
		ret = region_add(self->fd, memory + n * PAGE, PAGE, RW, &key[n]);
		if (ret)
			break;
		ASSERT_EQ((long)((n + 1) * KIB), PINNED());
	}
	EXPECT_EQ(ENOSPC, ret);
	EXPECT_EQ(1u << info.max_regions_log2, n);
	EXPECT_EQ((long)(n * KIB), PINNED());
	while (n) {
		i = (uint32_t)(next_random(&seed) >> 33) % n;
		j = key[i];
		key[i] = key[--n];
		ASSERT_EQ(0, region_remove(self->fd, j));
		ASSERT_EQ((long)(n * KIB), PINNED());
	}
}

/* One region of more than 4 GiB that maps the same 32 MiB repeatedly. */
TEST_F_TIMEOUT(pin, a_region_may_exceed_4_gib, 120)
{
	const uint64_t piece = 16 * HUGE, length = (4ull << 30) + 2 * piece;
	const uint64_t far = (4ull << 30) + piece + 12344;
	struct queue q;
	uint32_t key;
	uint64_t at;
	uint8_t *p;
	int file;

	if (sizeof(void *) < 8)
		SKIP(return, "needs a 64-bit address space");
	if (!access("/sys/kernel/debug/dma-api", F_OK))
		SKIP(return, "needs a kernel without DMA-API debugging, which warns if a page is "
			     "mapped more than 7 times");
	if (!huge_pages(16))
		SKIP(return, "needs root and enough free memory for huge pages");
	file = memfd_create("gtu", MFD_HUGETLB);
	ASSERT_LE(0, file);
	ASSERT_EQ(0, ftruncate(file, (off_t)piece));
	p = mmap(NULL, (size_t)(length + HUGE), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	ASSERT_NE(MAP_FAILED, (void *)p);
	p = (void *)(((uintptr_t)p + HUGE - 1) & ~(uintptr_t)(HUGE - 1));
	for (at = 0; at < length; at += piece)
		ASSERT_NE(MAP_FAILED, mmap(p + at, piece, PROT_READ | PROT_WRITE,
					   MAP_SHARED | MAP_FIXED, file, 0));
	fill_pattern(p, piece, 0x21);
	ASSERT_EQ(0, region_add(self->fd, p, length, RW, &key));
	EXPECT_EQ((long)(length / 1024), PINNED());
	ASSERT_EQ(0, queue_create(self->fd, 2, 2, &q));
	/*
	 * the source is beyond 4 GiB at a different offset in the piece, so a truncated offset is
	 * detected
	 */
	ASSERT_EQ(GTU_CPL_OK, run_copy(&q, key, far, key, 0, 1000, 3));
	EXPECT_EQ(0, memcmp(p, p + 12344, 8000));
	ASSERT_EQ(GTU_CPL_OK, run_copy(&q, key, 65536, key, far + 8000, 1000, 3));
	EXPECT_EQ(0, memcmp(p + 12344 + 8000, p + 65536, 8000));
	EXPECT_EQ(GTU_CPL_BOUNDS, run_copy(&q, key, 0, key, length - 8, 2, 3));
	EXPECT_EQ(GTU_CPL_OK, run_copy(&q, key, 0, key, length - 8, 1, 3));
	ASSERT_EQ(0, region_remove(self->fd, key));
	EXPECT_EQ(0, PINNED());
	munmap(p, (size_t)length);
	close(file);
	huge_pages(0);
}

TEST_HARNESS_MAIN
