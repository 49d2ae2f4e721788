// SPDX-License-Identifier: MIT
/* Tests regions, queues and jobs directly on the UAPI, with valid and with invalid arguments. */
#include "gtu_trust.h"

FIXTURE(gtu)
{
	int fd;
	struct queue q;
	uint32_t *in, *out;		/* 1 MiB each, registered as regions */
	uint32_t in_key, out_key;
};

#define BYTES		(1u << 20)
#define ELEMENTS	(BYTES / 4)

FIXTURE_SETUP(gtu)
{
	uint32_t i;

	OPEN_OR_SKIP(self->fd);
	self->in = pages(BYTES);
	self->out = pages(BYTES);
	for (i = 0; i < ELEMENTS; i++)
		self->in[i] = i * 2654435761u;
	ASSERT_EQ(0, region_add(self->fd, self->in, BYTES, GTU_RIGHT_READ, &self->in_key));
	ASSERT_EQ(0, region_add(self->fd, self->out, BYTES, RW, &self->out_key));
	ASSERT_EQ(0, queue_create(self->fd, 4, 4, &self->q));
}

NO_TEARDOWN(gtu);

/*
 * ---- Regions ------------------------------------------------------------------------------------
 */

/* REGION_ADD of any address, also one that is no pointer of a 32-bit program. */
static int region_add_at(int fd, uint64_t addr, uint64_t length)
{
	struct gtu_ioctl_region_add a = { .size = sizeof(a), .addr = addr, .length = length,
					  .rights = GTU_RIGHT_READ };

	return call(fd, GTU_IOCTL_REGION_ADD, &a);
}

TEST_F(gtu, invalid_regions_are_refused)
{
	struct gtu_ioctl_region_add wraps = { .size = sizeof(wraps), .addr = -8ull, .length = 16,
					      .rights = RW };
	char *hole = pages(3 * 4096), *read_only = pages(4096);
	uint32_t key;

	EXPECT_EQ(EINVAL, region_add(self->fd, self->in, 0, RW, &key));
	EXPECT_EQ(EINVAL, region_add(self->fd, self->in, 8, 0, &key));
	EXPECT_EQ(EINVAL, region_add(self->fd, self->in, 8, 4, &key));
	EXPECT_EQ(EINVAL, region_add(self->fd, (char *)self->in + 4, 8, RW, &key));
	EXPECT_EQ(EOVERFLOW, region_add(self->fd, self->in, ~0ull, RW, &key));
	EXPECT_EQ(EOVERFLOW, call(self->fd, GTU_IOCTL_REGION_ADD, &wraps));
	EXPECT_EQ(EFAULT, region_add(self->fd, (void *)8, 8, RW, &key));
	munmap(hole + 4096, 4096);
	EXPECT_EQ(EFAULT, region_add(self->fd, hole, 3 * 4096, RW, &key));
	mprotect(read_only, 4096, PROT_READ);
	EXPECT_EQ(EFAULT, region_add(self->fd, read_only, 4096, RW, &key));
	EXPECT_EQ(0, region_add(self->fd, read_only, 4096, GTU_RIGHT_READ, &key));
	EXPECT_EQ(0, region_remove(self->fd, key));
	EXPECT_EQ(ENOENT, region_remove(self->fd, key));
	EXPECT_EQ(ENOENT, region_remove(self->fd, 0));
	EXPECT_EQ(ENOENT, region_remove(self->fd, ~0u));
	/* rings and doorbells cannot be pinned */
	EXPECT_EQ(EFAULT, region_add(self->fd, self->q.sq, 128, GTU_RIGHT_READ, &key));
	EXPECT_EQ(EFAULT, region_add(self->fd, (void *)self->q.db, 128, RW, &key));
	/* the last addresses that the driver considers at all, then those behind */
	EXPECT_EQ(EFAULT, region_add_at(self->fd, ~0ull - PAGE - 7, 7));
	EXPECT_EQ(EOVERFLOW, region_add_at(self->fd, ~0ull - PAGE - 7, 8));
	EXPECT_EQ(EOVERFLOW, region_add_at(self->fd, ~0ull - 7, 64));
	/* failed calls leave no memory pinned */
	EXPECT_EQ(2 * BYTES / 1024, status_kib("VmPin"));
}

TEST_F(gtu, a_removed_key_is_rejected_and_not_reused)
{
	uint32_t *seen = calloc(3000, sizeof(*seen)), i, j;

	for (i = 0; i < 3000; i++) {
		ASSERT_EQ(0, region_add(self->fd, self->in, 4096, RW, &seen[i]));
		ASSERT_NE(0, GTU_KEY_GENERATION(seen[i]));
		for (j = 0; j < i; j++)
			if (seen[j] == seen[i])
				break;
		ASSERT_EQ(i, j);
		ASSERT_EQ(0, region_remove(self->fd, seen[i]));
	}
	for (i = 0; i < 3000; i += 500) {
		EXPECT_EQ(GTU_CPL_KEY, run_copy(&self->q, seen[i], 0, self->out_key, 0, 1, 2));
	}
	free(seen);
}

/* Copy one word of a region with the device, and return the word that it read. */
static int device_reads(struct queue *q, uint32_t key, uint64_t offset, uint32_t out_key,
			const uint32_t *out, uint32_t *value)
{
	struct gtu_hw_desc d = copy_job(key, offset, out_key, 0, 1, 2);
	struct gtu_hw_cpl c;
	int ret = run(q, &d, &c);

	*value = *(volatile const uint32_t *)out;
	return ret;
}

/* The device reads the owner's own page, for each kind of memory. */
TEST_F(gtu, the_device_reads_the_page_of_the_owner)
{
	uint32_t key, value, *anon, *shared, word;
	int file = memfd_create("gtu", 0), again;
	char path[64];

	/* The page was never touched: the shared zero page must not be pinned instead. */
	anon = pages(4096);
	ASSERT_EQ(0, region_add(self->fd, anon, 4096, GTU_RIGHT_READ, &key));
	anon[3] = 0x1234;
	ASSERT_EQ(0, device_reads(&self->q, key, 12, self->out_key, self->out, &value));
	EXPECT_EQ(0x1234u, value);
	/* nor a page that copy-on-write replaces later */
	if (!fork())
		_exit(0);
	wait(NULL);
	anon[3] = 0x5678;
	ASSERT_EQ(0, device_reads(&self->q, key, 12, self->out_key, self->out, &value));
	EXPECT_EQ(0x5678u, value);
	mprotect(anon, 4096, PROT_READ);
	ASSERT_EQ(0, region_remove(self->fd, key));
	ASSERT_EQ(0, region_add(self->fd, anon, 4096, GTU_RIGHT_READ, &key));
	mprotect(anon, 4096, PROT_READ | PROT_WRITE);
	anon[3] = 0x9abc;
	ASSERT_EQ(0, device_reads(&self->q, key, 12, self->out_key, self->out, &value));
	EXPECT_EQ(0x9abcu, value);

	/* A file mapped through a read-only descriptor, while another descriptor writes to it. */
	ASSERT_LE(0, file);
	ASSERT_EQ(0, ftruncate(file, 8192));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	again = open(path, O_RDONLY);
	ASSERT_LE(0, again);
	shared = mmap(NULL, 8192, PROT_READ, MAP_SHARED, again, 0);
	ASSERT_NE(MAP_FAILED, (void *)shared);
	ASSERT_EQ(0, region_add(self->fd, shared, 8192, GTU_RIGHT_READ, &key));
	word = 0xfeed;
	ASSERT_EQ(4, pwrite(file, &word, 4, 4096));
	ASSERT_EQ(0, device_reads(&self->q, key, 4096, self->out_key, self->out, &value));
	EXPECT_EQ(0xfeedu, value);
	EXPECT_EQ(EFAULT, region_add(self->fd, shared, 8192, RW, &key));

	/*
	 * A private file mapping would be copied on write: REGION_ADD refuses it for reading; with
	 * write access the region is the owner's copy.
	 */
	shared = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
	ASSERT_NE(MAP_FAILED, (void *)shared);
	EXPECT_EQ(EOPNOTSUPP, region_add(self->fd, shared, 8192, GTU_RIGHT_READ, &key));
	ASSERT_EQ(0, region_add(self->fd, shared, 8192, RW, &key));
	shared[0] = 0xbeef;
	ASSERT_EQ(0, device_reads(&self->q, key, 0, self->out_key, self->out, &value));
	EXPECT_EQ(0xbeefu, value);
}

/* Regions with offsets inside a page and non-contiguous pages: page lists of all lengths. */
TEST_F(gtu, jobs_read_scattered_regions_of_all_lengths)
{
	const size_t most = 9 << 20;
	uint8_t *memory = pages(most);
	const uint32_t pages_of[] = { 1, 2, 3, 511, 512, 513, 1500, 2304 };
	struct gtu_hw_desc d;
	struct gtu_hw_cpl c;
	unsigned int i, part;
	uint32_t key;
	size_t at;

	/* Fault the pages from the end, every other page first, so that they are not contiguous. */
	madvise(memory, most, MADV_NOHUGEPAGE);
	for (part = 0; part < 2; part++)
		for (at = part * 4096; at < most; at += 8192)
			*(uint64_t *)(memory + most - 4096 - at) = 0;
	for (at = 0; at < most; at += 8)
		*(uint64_t *)(memory + at) = at * 0x9E3779B97F4A7C15ull;
	for (i = 0; i < sizeof(pages_of) / sizeof(*pages_of); i++) {
		const uint64_t skip = 8 * (i % 3) * 7,
			       length = pages_of[i] * 4096ull - skip - 8 * i;
		uint64_t done;

		ASSERT_EQ(0, region_add(self->fd, memory + skip, length, GTU_RIGHT_READ, &key));
		for (done = 0; done < length; done += BYTES) {
			const uint64_t n = length - done < BYTES ? length - done : BYTES;

			memset(self->out, 0xaa, BYTES);
			d = copy_job(key, done, self->out_key, 0, (uint32_t)(n / 8), 3);
			ASSERT_EQ(GTU_CPL_OK, run(&self->q, &d, &c));
			ASSERT_EQ(n / 8, c.count);
			ASSERT_EQ(0, memcmp(self->out, memory + skip + done, n)) {
				TH_LOG("%u pages, at %llu", pages_of[i], (unsigned long long)done);
			}
		}
		EXPECT_EQ(GTU_CPL_BOUNDS, run_copy(&self->q, key, length - 8, self->out_key, 0, 2,
			      3));
		ASSERT_EQ(0, region_remove(self->fd, key));
	}
}

TEST_F(gtu, buffers_can_be_mapped_and_used_by_jobs)
{
	uint32_t key, again;
	uint64_t offset, none;
	uint8_t *p;
	size_t i;

	ASSERT_EQ(0, buffer_alloc(self->fd, BYTES - 100, &key, &offset));
	EXPECT_EQ(MAP_FAILED,
		  mmap(NULL, BYTES / 2, PROT_READ, MAP_SHARED, self->fd, (off_t)offset));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(MAP_FAILED,
		  mmap(NULL, 2 * BYTES, PROT_READ, MAP_SHARED, self->fd, (off_t)offset));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(MAP_FAILED, mmap(NULL, BYTES, PROT_READ, MAP_PRIVATE, self->fd, (off_t)offset));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(MAP_FAILED,
		  mmap(NULL, BYTES, PROT_READ | PROT_EXEC, MAP_SHARED, self->fd, (off_t)offset));
	EXPECT_EQ(EACCES, errno);
	p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, self->fd, (off_t)offset);
	ASSERT_NE(MAP_FAILED, (void *)p);
	EXPECT_EQ(-1, mprotect(p, BYTES, PROT_READ | PROT_EXEC));
	for (i = 0; i < BYTES; i++)
		ASSERT_EQ(0, p[i]);
	ASSERT_EQ(GTU_CPL_OK, run_copy(&self->q, self->in_key, 0, key, 0, (BYTES - 100) / 4, 2));
	EXPECT_EQ(0, memcmp(p, self->in, BYTES - 100));
	/* the region ends at its last byte, not at the end of the page */
	EXPECT_EQ(GTU_CPL_BOUNDS, run_copy(&self->q, self->in_key, 0, key, 0,
		      (BYTES - 100) / 4 + 1, 2));
	ASSERT_EQ(0, region_remove(self->fd, key));
	EXPECT_EQ(GTU_CPL_KEY, run_copy(&self->q, self->in_key, 0, key, 0, 1, 2));
	EXPECT_EQ(0, memcmp(p, self->in, BYTES - 100));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, BYTES, PROT_READ, MAP_SHARED, self->fd, (off_t)offset));
	EXPECT_EQ(ENOENT, errno);
	munmap(p, BYTES);
	EXPECT_EQ(ENOSPC, buffer_alloc(self->fd, 1ull << 40, &again, &none));
	EXPECT_EQ(EOVERFLOW, buffer_alloc(self->fd, ~0ull, &again, &none));
	EXPECT_EQ(EINVAL, buffer_alloc(self->fd, 0, &again, &none));
}

/*
 * ---- Jobs
 * ----------------------------------------------------------------------------------------
 */

TEST_F(gtu, a_copy_writes_only_its_destination)
{
	struct gtu_hw_desc d;
	struct gtu_hw_cpl c;
	uint32_t log2;

	for (log2 = 0; log2 < 4; log2++) {
		memset(self->out, 0, BYTES);
		d = copy_job(self->in_key, 8, self->out_key, 64, (BYTES - 128) >> log2, log2);
		ASSERT_EQ(GTU_CPL_OK, run(&self->q, &d, &c));
		EXPECT_EQ((BYTES - 128) >> log2, c.count);
		EXPECT_LT(0, c.cycles);
		EXPECT_EQ(0, memcmp((char *)self->out + 64, (char *)self->in + 8, BYTES - 128));
		EXPECT_EQ(0, ((char *)self->out)[63]);
		EXPECT_EQ(0, ((char *)self->out)[BYTES - 64]);
	}
}

TEST_F(gtu, the_scu_compacts_elements_below_a_threshold)
{
	struct gtu_hw_desc d = { .opcode = GTU_OP_SCU_BITMASK };
	uint32_t mask_key, kept = 0, i, *mask = pages(ELEMENTS / 8);
	struct gtu_hw_cpl c;

	ASSERT_EQ(0, region_add(self->fd, mask, ELEMENTS / 8, RW, &mask_key));
	d.param = 2u << GTU_SCU_WIDTH_SHIFT | (uint32_t)GTU_CMP_LT << GTU_SCU_CMP_SHIFT;
	d.imm = 1u << 30;
	d.operand[GTU_SCU_DATA] = (struct gtu_hw_operand){ self->in_key, ELEMENTS, 0 };
	d.operand[GTU_SCU_OUT] = (struct gtu_hw_operand){ mask_key, ELEMENTS, 0 };
	ASSERT_EQ(GTU_CPL_OK, run(&self->q, &d, &c));
	EXPECT_EQ(ELEMENTS, c.count);
	for (i = 0; i < ELEMENTS; i++)
		ASSERT_EQ(self->in[i] < 1u << 30, mask[i / 32] >> i % 32 & 1) {
			TH_LOG("element %u", i);
		}

	d = (struct gtu_hw_desc){ .opcode = GTU_OP_SCU_DATA, .param = 2u << GTU_SCU_WIDTH_SHIFT };
	d.operand[GTU_SCU_DATA] = (struct gtu_hw_operand){ self->in_key, ELEMENTS, 0 };
	d.operand[GTU_SCU_MASK] = (struct gtu_hw_operand){ mask_key, ELEMENTS, 0 };
	d.operand[GTU_SCU_OUT] = (struct gtu_hw_operand){ self->out_key, ELEMENTS, 0 };
	ASSERT_EQ(GTU_CPL_OK, run(&self->q, &d, &c));
	for (i = 0; i < ELEMENTS; i++)
		if (self->in[i] < 1u << 30)
			ASSERT_EQ(self->in[i], self->out[kept++]);
	EXPECT_EQ(kept, c.count);
}

TEST_HARNESS_MAIN
