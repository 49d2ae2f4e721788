// SPDX-License-Identifier: MIT
/* Tests regions, queues and jobs directly on the UAPI, with valid and with invalid arguments. */
#include <pthread.h>
#include <sys/resource.h>

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
	ASSERT_NE(MAP_FAILED, (void *)self->in);
	ASSERT_NE(MAP_FAILED, (void *)self->out);
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

TEST_F(gtu, region_arguments)
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
	/* failed calls leave no memory pinned */
	EXPECT_EQ(2 * BYTES / 1024, status_kib("VmPin"));
}

/* The key of a removed region is never reused and is rejected. */
TEST_F(gtu, region_keys)
{
	uint32_t *seen = calloc(3000, sizeof(*seen)), i, j;
	struct gtu_hw_desc d;
	struct gtu_hw_cpl c;

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
		d = copy_job(seen[i], 0, self->out_key, 0, 1, 2);
		EXPECT_EQ(GTU_CPL_KEY, run(&self->q, &d, &c));
	}
	free(seen);
}

/* Each slot gets its own page, because debug kernels warn about many DMA mappings of one page. */
TEST_F(gtu, region_slots)
{
	char *memory = pages(2000 * 4096);
	uint32_t key[2000], n, i;
	int ret = 0;

	for (n = 0; n < 2000; n++) {
		ret = region_add(self->fd, memory + n * 4096, 64, RW, &key[n]);
		if (ret)
			break;
	}
	EXPECT_EQ(ENOSPC, ret);
	EXPECT_LT(500u, n);
	for (i = 0; i < n; i++)
		EXPECT_EQ(0, region_remove(self->fd, key[i]));
	EXPECT_EQ(0, region_add(self->fd, memory, 64, RW, &key[0]));
}

/*
 * RLIMIT_MEMLOCK applies to an unprivileged process with page granularity; removing a region frees
 * its charge at once.
 */
TEST_F(gtu, memlock)
{
	struct rlimit limit = { 1 << 20, 1 << 20 };
	char *memory = pages(2 << 20);
	uint32_t key, more;
	int fd, i;

	fd = open(device_path(), O_RDWR);
	ASSERT_LE(0, fd);
	/* a mapping keeps the file open, as its descriptor does */
	queue_unmap(&self->q);
	close(self->fd);
	ASSERT_EQ(0, status_kib("VmPin"));
	if (geteuid())
		SKIP(close(fd); return, "needs root to switch to an unprivileged user");
	ASSERT_EQ(0, setrlimit(RLIMIT_MEMLOCK, &limit));
	ASSERT_EQ(0, setuid(65534));
	EXPECT_EQ(EDQUOT, region_add(fd, memory, 2 << 20, RW, &key));
	EXPECT_EQ(EDQUOT, region_add(fd, memory, (1 << 20) + 1, RW, &key));
	EXPECT_EQ(EDQUOT, region_add(fd, memory + 8, 1 << 20, RW, &key));
	EXPECT_EQ(0, status_kib("VmPin"));
	for (i = 0; i < 100; i++) {
		ASSERT_EQ(0, region_add(fd, memory, 1 << 20, RW, &key));
		ASSERT_EQ(1024, status_kib("VmPin"));
		ASSERT_EQ(EDQUOT, region_add(fd, memory, 8, RW, &more));
		ASSERT_EQ(0, region_remove(fd, key));
		ASSERT_EQ(0, status_kib("VmPin"));
	}
	ASSERT_EQ(0, region_add(fd, memory, 1 << 20, RW, &key));
	/* driver buffers do not count towards RLIMIT_MEMLOCK */
	EXPECT_EQ(0, buffer_alloc(fd, 1 << 20, &more, &(uint64_t){ 0 }));
	close(fd);
	EXPECT_EQ(0, status_kib("VmPin"));
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
TEST_F(gtu, the_very_page)
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
TEST_F(gtu, scattered)
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
		d = copy_job(key, length - 8, self->out_key, 0, 2, 3);
		EXPECT_EQ(GTU_CPL_BOUNDS, run(&self->q, &d, &c));
		ASSERT_EQ(0, region_remove(self->fd, key));
	}
}

TEST_F(gtu, buffers)
{
	struct gtu_hw_desc d;
	struct gtu_hw_cpl c;
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
	d = copy_job(self->in_key, 0, key, 0, (BYTES - 100) / 4, 2);
	ASSERT_EQ(GTU_CPL_OK, run(&self->q, &d, &c));
	EXPECT_EQ(0, memcmp(p, self->in, BYTES - 100));
	/* the region ends at its last byte, not at the end of the page */
	d = copy_job(self->in_key, 0, key, 0, (BYTES - 100) / 4 + 1, 2);
	EXPECT_EQ(GTU_CPL_BOUNDS, run(&self->q, &d, &c));
	ASSERT_EQ(0, region_remove(self->fd, key));
	d = copy_job(self->in_key, 0, key, 0, 1, 2);
	EXPECT_EQ(GTU_CPL_KEY, run(&self->q, &d, &c));
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

TEST_F(gtu, copy)
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

TEST_F(gtu, scu)
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

TEST_F(gtu, bad_operands)
{
	struct gtu_hw_desc good = copy_job(self->in_key, 0, self->out_key, 0, 16, 2), d;
	struct gtu_hw_cpl c;

	d = good;
	d.operand[0].key += 1u << 16;		/* another generation */
	EXPECT_EQ(GTU_CPL_KEY, run(&self->q, &d, &c));
	EXPECT_EQ(0, c.operand);
	d = good;
	d.operand[1].key += 900;		/* another slot */
	EXPECT_EQ(GTU_CPL_KEY, run(&self->q, &d, &c));
	EXPECT_EQ(1, c.operand);
	d = good;
	d.operand[1].key = self->in_key;	/* read-only region */
	EXPECT_EQ(GTU_CPL_RIGHTS, run(&self->q, &d, &c));
	d = good;
	d.operand[0].offset = BYTES - 60;
	EXPECT_EQ(GTU_CPL_BOUNDS, run(&self->q, &d, &c));
	d = good;
	d.operand[1].offset = ~0ull << 6;
	EXPECT_EQ(GTU_CPL_BOUNDS, run(&self->q, &d, &c));
	d = good;
	d.operand[0].offset = 2;
	EXPECT_EQ(GTU_CPL_OPERAND, run(&self->q, &d, &c));
	d = good;
	d.opcode = 0xff;
	EXPECT_EQ(GTU_CPL_OPCODE, run(&self->q, &d, &c));
	d = good;
	d.flags = 0x8000;
	EXPECT_EQ(GTU_CPL_RESERVED, run(&self->q, &d, &c));
	/* the queue still works after all of these errors */
	EXPECT_EQ(GTU_CPL_OK, run(&self->q, &good, &c));
	EXPECT_EQ(GTU_QUEUE_ENABLED, queue_state(&self->q));
}

/* A context cannot name resources of another one. */
TEST_F(gtu, isolation)
{
	struct queue q;
	struct gtu_hw_desc d;
	struct gtu_hw_cpl c;
	int other = open(device_path(), O_RDWR);
	uint32_t slot, generation;

	ASSERT_LE(0, other);
	ASSERT_EQ(0, queue_create(other, 2, 2, &q));
	for (slot = 0; slot < 4; slot++)
		for (generation = 0; generation < 4; generation++) {
			d = copy_job(GTU_KEY(generation, slot), 0, GTU_KEY(generation, slot), 0, 1,
				     2);
			EXPECT_NE(GTU_CPL_OK, run(&q, &d, &c));
		}
	EXPECT_EQ(ENOENT, region_remove(other, self->in_key));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, self->q.c.sq_bytes, PROT_READ, MAP_SHARED, other,
				   (off_t)self->q.c.sq_offset));
	EXPECT_EQ(ENOENT, errno);
	EXPECT_EQ(MAP_FAILED, mmap(NULL, self->q.c.db_bytes, PROT_WRITE, MAP_SHARED, other,
				   (off_t)self->q.c.db_offset));
	q.c.id = self->q.c.id;
	EXPECT_EQ(ENOENT, queue_call(&q, GTU_IOCTL_QUEUE_RESET));
	EXPECT_EQ(ENOENT, queue_call(&q, GTU_IOCTL_QUEUE_DESTROY));
	EXPECT_EQ(ENOENT, queue_wait(&q, 0, 0));
	close(other);
	d = copy_job(self->in_key, 0, self->out_key, 0, 16, 2);
	EXPECT_EQ(GTU_CPL_OK, run(&self->q, &d, &c));
}

/* Random descriptors, mostly with valid keys, change nothing outside the regions. */
TEST_F_TIMEOUT(gtu, random_descriptors, 60)
{
	const size_t whole = 16 * 4096, inner = 7 * 4096 + 512, from = 4096 + 104;
	uint8_t *memory = pages(whole);
	uint64_t seed = 0x9E3779B97F4A7C15ull;
	struct gtu_hw_desc d;
	struct gtu_hw_cpl c;
	unsigned int i, n;
	uint32_t key;
	size_t b;
	int status;

	memset(memory, 0x5a, whole);
	ASSERT_EQ(0, region_add(self->fd, memory + from, inner, RW, &key));
	for (i = 0; i < 1500; i++) {
		for (n = 0; n < sizeof(d) / 8; n++)
			((uint64_t *)(void *)&d)[n] = next_random(&seed);
		d.opcode =
			(uint8_t)(next_random(&seed) % 8 ? GTU_OP_COPY + next_random(&seed) % 0x1f
							 : d.opcode);
		d.reserved0 = 0;
		d.flags &= next_random(&seed) % 4 ? 0 : 0xffff;
		d.param &= next_random(&seed) % 2 ? 3 : 0x3fffff;
		d.limit = 1 + next_random(&seed) % 64;
		if (d.opcode == GTU_OP_IRU_STREAM)
			d.opcode = GTU_OP_COPY;	/* IRU_STREAM would wait for its consumer */
		for (n = 0; n < GTU_DESC_OPERANDS; n++) {
			if (next_random(&seed) % 8)
				d.operand[n].key = next_random(&seed) % 3 ? key : 0;
			if (next_random(&seed) % 8)
				d.operand[n].count = next_random(&seed) % (inner / 4 + 64);
			if (next_random(&seed) % 8)
				d.operand[n].offset = next_random(&seed) % 3
							      ? 0
							      : next_random(&seed) % inner & ~7ull;
			if (!d.operand[n].key)
				d.operand[n].count = d.operand[n].offset = 0;
		}
		status = run(&self->q, &d, &c);
		ASSERT_LE(0, status);
		ASSERT_GT(GTU_CPL_COUNT, status);
	}
	for (b = 0; b < whole; b++)
		if (b < from || b >= from + inner)
			ASSERT_EQ(0x5a, memory[b]) {
				TH_LOG("byte %zu outside the region was written", b);
			}
}

TEST_HARNESS_MAIN
