// SPDX-License-Identifier: MIT
/*
 * Tests that regions copy nothing: the device reads and writes a mapped file in the pages of the
 * page cache.
 *
 * The evidence is the data after writes to the file, the page frames, and the page counts.
 */
#include "gtu_util.h"


FIXTURE(nocopy)
{
	int fd, file;
	struct queue q;
	uint64_t bytes;
	uint32_t *out;
	uint32_t out_key;
};

/* Storage of the edge list. */
FIXTURE_VARIANT(nocopy)
{
	const char *path;		/* NULL: a memfd */
	unsigned int memfd_flags;
	uint64_t bytes;
};

FIXTURE_VARIANT_ADD(nocopy, memfd) { .bytes = 6 << 20 };
FIXTURE_VARIANT_ADD(nocopy, memfd_huge) { .bytes = 8 << 20, .memfd_flags = MFD_HUGETLB };
FIXTURE_VARIANT_ADD(nocopy, tmpfs) { .bytes = 6 << 20, .path = "/dev/shm" };
FIXTURE_VARIANT_ADD(nocopy, file_system) { .bytes = 6 << 20, .path = "/root" };

static uint32_t edge(uint64_t i)
{
	return (uint32_t)(i * 2654435761u) >> 4;
}

static int huge_pages(long n)
{
	FILE *f = fopen("/proc/sys/vm/nr_hugepages", "w");

	if (!f)
		return -1;
	fprintf(f, "%ld\n", n);
	return fclose(f);
}

FIXTURE_SETUP(nocopy)
{
	char path[128];
	uint64_t i;
	uint32_t *e = pages(variant->bytes);

	self->fd = self->file = -1;
	OPEN_OR_SKIP(self->fd);
	if (variant->memfd_flags & MFD_HUGETLB)
		huge_pages(8);
	if (variant->path) {
		snprintf(path, sizeof(path), "%s/gtu-edges-XXXXXX", variant->path);
		self->file = mkstemp(path);
		if (self->file < 0)
			SKIP(return, "cannot create a file in %s: %s",
				     variant->path, strerror(errno));
		unlink(path);
	} else {
		self->file = memfd_create("edges", variant->memfd_flags);
		ASSERT_LE(0, self->file);
	}
	self->bytes = variant->bytes;
	for (i = 0; i < self->bytes / 4; i++)
		e[i] = edge(i);
	ASSERT_EQ(0, ftruncate(self->file, (off_t)self->bytes));
	if (variant->memfd_flags & MFD_HUGETLB) {
		/* hugetlbfs has no write() */
		void *p = mmap(NULL, self->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, self->file, 0);

		if (p == MAP_FAILED)
			SKIP(return, "huge pages are not available: %s", strerror(errno));
		memcpy(p, e, self->bytes);
		munmap(p, self->bytes);
	} else {
		ASSERT_EQ((ssize_t)self->bytes, pwrite(self->file, e, self->bytes, 0));
	}
	munmap(e, self->bytes);
	self->out = pages(self->bytes);
	memset(self->out, 0, self->bytes);
	ASSERT_EQ(0, region_add(self->fd, self->out, self->bytes, RW, &self->out_key));
	ASSERT_EQ(0, queue_create(self->fd, 4, 4, &self->q));
}

FIXTURE_TEARDOWN(nocopy)
{
	if (self->fd >= 0)
		close(self->fd);
	if (self->file >= 0)
		close(self->file);
	if (variant->memfd_flags & MFD_HUGETLB)
		huge_pages(0);
}

static int copy(struct queue *q, uint32_t from, uint64_t from_at, uint32_t to, uint64_t to_at,
		uint64_t bytes)
{
	struct gtu_hw_desc d = copy_job(from, from_at, to, to_at, (uint32_t)(bytes / 4), 2);
	struct gtu_hw_cpl c;

	return run(q, &d, &c);
}

/* Return the frame number of the page at @p, or 0 if it is unavailable. */
static uint64_t frame(const void *p)
{
	static int fd = -1;
	uint64_t entry = 0;

	if (fd < 0)
		fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	(void)*(volatile const char *)p;
	if (pread(fd, &entry, 8, (off_t)((uintptr_t)p / PAGE * 8)) != 8)
		return 0;
	return entry >> 63 ? entry & ((1ull << 55) - 1) : 0;
}

/* Return the KiB of a line of /proc/meminfo. */
static long meminfo(const char *name)
{
	FILE *f = fopen("/proc/meminfo", "r");
	char line[128];
	long kib = -1;

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, name, strlen(name)))
			kib = atol(line + strlen(name) + 1);
	if (f)
		fclose(f);
	return kib;
}

static uint32_t *map(int file, uint64_t bytes, int prot)
{
	return mmap(NULL, bytes, prot, MAP_SHARED, file, 0);
}

/* The device reads an edge list through a read-only descriptor. */
TEST_F(nocopy, device_reads_the_cache)
{
	const bool huge = variant->memfd_flags & MFD_HUGETLB;
	const uint64_t middle = self->bytes / 2 & ~4095ull;
	uint32_t *mine, *others, key, word = 0xedededed, fresh[2 * PAGE / 4];
	char path[64];
	uint64_t i;
	int again;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", self->file);
	again = open(path, O_RDONLY | O_CLOEXEC);
	ASSERT_LE(0, again);
	mine = map(again, self->bytes, PROT_READ);
	others = map(self->file, self->bytes, PROT_READ | PROT_WRITE);
	ASSERT_NE(MAP_FAILED, (void *)mine);
	ASSERT_NE(MAP_FAILED, (void *)others);
	ASSERT_EQ(0, region_add(self->fd, mine, self->bytes, GTU_RIGHT_READ, &key));
	ASSERT_EQ(0, copy(&self->q, key, 0, self->out_key, 0, self->bytes));
	for (i = 0; i < self->bytes / 4; i++)
		ASSERT_EQ(edge(i), self->out[i]);

	/* write through another mapping, in every page */
	for (i = 0; i < self->bytes; i += PAGE)
		others[i / 4] = (uint32_t)~i;
	ASSERT_EQ(0, copy(&self->q, key, 0, self->out_key, 0, self->bytes));
	for (i = 0; i < self->bytes; i += PAGE)
		ASSERT_EQ((uint32_t)~i, self->out[i / 4]);
	/* write through write(2) */
	if (!huge) {
		ASSERT_EQ(4, pwrite(self->file, &word, 4, (off_t)middle + 12));
		ASSERT_EQ(0, copy(&self->q, key, middle, self->out_key, 0, PAGE));
		EXPECT_EQ(word, self->out[3]);
		/* read(2) returns the bytes written through a mapping, because both use one page */
		others[middle / 4 + 5] = 0x12345678;
		ASSERT_EQ((ssize_t)sizeof(fresh), pread(self->file, fresh, sizeof(fresh),
							(off_t)middle));
		ASSERT_EQ(0, copy(&self->q, key, middle, self->out_key, 0, sizeof(fresh)));
		EXPECT_EQ(0, memcmp(fresh, self->out, sizeof(fresh)));
	}
	/* the region stays read-only */
	EXPECT_EQ(GTU_CPL_RIGHTS, copy(&self->q, self->out_key, 0, key, 0, PAGE));
	close(again);
}

/* The device writes to the file. */
TEST_F(nocopy, device_writes_the_cache)
{
	uint32_t *mine = map(self->file, self->bytes, PROT_READ | PROT_WRITE), key, *fresh;
	const uint64_t half = self->bytes / 2;
	uint64_t i;
	int ret;

	ASSERT_NE(MAP_FAILED, (void *)mine);
	/*
	 * Linux 6.5 and later refuse writable long-term pins of file systems that track dirty pages
	 */
	ret = region_add(self->fd, mine, self->bytes, RW, &key);
	if (ret == EFAULT && variant->path)
		SKIP(return, "this kernel does not pin pages of %s for writing", variant->path);
	ASSERT_EQ(0, ret);
	for (i = 0; i < half / 4; i++)
		self->out[i] = (uint32_t)i ^ 0x5555;
	ASSERT_EQ(0, copy(&self->q, self->out_key, 0, key, half, half));
	ASSERT_EQ(0, region_remove(self->fd, key));
	munmap(mine, self->bytes);
	/* as a process that maps the file later sees it */
	fresh = map(self->file, self->bytes, PROT_READ);
	ASSERT_NE(MAP_FAILED, (void *)fresh);
	EXPECT_EQ(edge(half / 4 - 1), fresh[half / 4 - 1]);
	EXPECT_EQ(0, memcmp(fresh + half / 4, self->out, half));
	if (!(variant->memfd_flags & MFD_HUGETLB)) {
		memset(self->out, 0, half);
		ASSERT_EQ((ssize_t)half, pread(self->file, self->out, half, (off_t)half));
		EXPECT_EQ(0, memcmp(fresh + half / 4, self->out, half));
	}
}

/*
 * The page frames do not change, no page is added, and the pages are charged as pinned, not as
 * locked.
 */
/* every frame is looked up four times, which is slow on debug kernels */
TEST_F_TIMEOUT(nocopy, pages_are_counted_once, 180)
{
	const long kib = (long)(self->bytes >> 10);
	uint32_t *mine = map(self->file, self->bytes, PROT_READ | PROT_WRITE), key;
	uint64_t *before = calloc(self->bytes / PAGE, sizeof(*before)), i;
	long pinned, locked, cached, free_huge, anon;

	ASSERT_NE(MAP_FAILED, (void *)mine);
	for (i = 0; i < self->bytes; i += PAGE)
		before[i / PAGE] = frame((char *)mine + i);
	pinned = status_kib("VmPin");
	locked = status_kib("VmLck");
	anon = status_kib("RssAnon");
	cached = meminfo("Cached");
	free_huge = meminfo("HugePages_Free");
	ASSERT_EQ(0, region_add(self->fd, mine, self->bytes, GTU_RIGHT_READ, &key));
	EXPECT_EQ(pinned + kib, status_kib("VmPin"));
	EXPECT_EQ(locked, status_kib("VmLck"));
	/* a copy would add as much as the list; other changes stay below half of that */
	EXPECT_GT(anon + kib / 2, status_kib("RssAnon"));
	EXPECT_GT(cached + kib / 2, meminfo("Cached"));
	EXPECT_EQ(free_huge, meminfo("HugePages_Free"));
	for (i = 0; i < self->bytes; i += PAGE)
		ASSERT_EQ(before[i / PAGE], frame((char *)mine + i));
	ASSERT_EQ(0, copy(&self->q, key, 0, self->out_key, 0, self->bytes));
	for (i = 0; i < self->bytes; i += PAGE)
		ASSERT_EQ(before[i / PAGE], frame((char *)mine + i));
	ASSERT_EQ(0, region_remove(self->fd, key));
	EXPECT_EQ(pinned, status_kib("VmPin"));
	for (i = 0; i < self->bytes; i += PAGE)
		ASSERT_EQ(before[i / PAGE], frame((char *)mine + i));
	if (geteuid() == 0)
		EXPECT_NE(0u, before[0]);
	free(before);
}

/* Regions of parts of huge pages, some across the boundary between two. */
TEST_F(nocopy, any_part_of_a_file_can_be_a_region)
{
	uint32_t *mine = map(self->file, self->bytes, PROT_READ | PROT_WRITE), key, n;
	static const struct {
		uint64_t at, bytes;
	} part[] = {
		{ 0, 8 }, { 8, PAGE }, { PAGE - 8, 16 }, { (2 << 20) - PAGE, 2 * PAGE },
		{ (2 << 20) - 8, 16 }, { (1 << 20) + 24, 3 << 20 }, { 2 << 20, 2 << 20 },
		{ (2 << 20) + PAGE, PAGE },
	};

	ASSERT_NE(MAP_FAILED, (void *)mine);
	for (n = 0; n < sizeof(part) / sizeof(*part); n++) {
		const long kib = status_kib("VmPin");

		ASSERT_EQ(0, region_add(self->fd, (char *)mine + part[n].at, part[n].bytes,
					GTU_RIGHT_READ, &key));
		ASSERT_EQ(kib + (long)((part[n].at % PAGE + part[n].bytes + PAGE - 1) / PAGE * 4),
			  status_kib("VmPin"));
		memset(self->out, 0, self->bytes);
		ASSERT_EQ(0, copy(&self->q, key, 0, self->out_key, 0, part[n].bytes));
		EXPECT_EQ(0, memcmp(self->out, (char *)mine + part[n].at, part[n].bytes));
		EXPECT_EQ(GTU_CPL_BOUNDS, copy(&self->q, key, 0, self->out_key, 0,
					       part[n].bytes + 8));
		ASSERT_EQ(0, region_remove(self->fd, key));
	}
}

TEST_HARNESS_MAIN
