// SPDX-License-Identifier: MIT
/* Tests the aperture (device memory): as regions, as mappings, and isolation between contexts. */
#include "gtu_util.h"

#define BYTES	65536u

FIXTURE(aperture)
{
	int fd, other;
	struct queue q;
	uint32_t key, memory_key;
	uint64_t offset;
	uint32_t *memory;		/* BYTES of host memory */
};

FIXTURE_SETUP(aperture)
{
	struct gtu_ioctl_info info = { .size = sizeof(info) };

	OPEN_OR_SKIP(self->fd);
	ASSERT_EQ(0, call(self->fd, GTU_IOCTL_INFO, &info));
	if (info.aperture_bytes < 16 * BYTES)
		SKIP(return, "the device has no aperture of at least 1 MiB");
	self->other = open(device_path(), O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->other);
	self->memory = pages(BYTES);
	ASSERT_EQ(0, region_add(self->fd, self->memory, BYTES, RW, &self->memory_key));
	ASSERT_EQ(0, alloc_in(self->fd, GTU_BUFFER_APERTURE, BYTES, RW, &self->key, &self->offset));
	ASSERT_EQ(0, queue_create(self->fd, 4, 4, &self->q));
}

NO_TEARDOWN(aperture);

TEST_F(aperture, the_cpu_and_the_device_see_the_same_bytes)
{
	uint32_t i, *p = map_shared(self->fd, self->offset, BYTES);

	ASSERT_NE(MAP_FAILED, (void *)p);
	for (i = 0; i < BYTES / 4; i += 997)
		ASSERT_EQ(0, p[i]);
	for (i = 0; i < BYTES / 4; i++)
		self->memory[i] = i * 2654435761u;
	ASSERT_EQ(0, run_copy(&self->q, self->memory_key, 0, self->key, 0, BYTES / 8, 3));
	for (i = 0; i < BYTES / 4; i += 101)
		ASSERT_EQ(i * 2654435761u, p[i]);
	p[5] = 0x1234;
	p[BYTES / 4 - 1] = 0x5678;
	/*
	 * the doorbell flushes write-combined stores; the fence only orders the compiler and the
	 * CPU
	 */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	memset(self->memory, 0, BYTES);
	ASSERT_EQ(0, run_copy(&self->q, self->key, 0, self->memory_key, 0, BYTES / 8, 3));
	EXPECT_EQ(0x1234u, self->memory[5]);
	EXPECT_EQ(0x5678u, self->memory[BYTES / 4 - 1]);
	EXPECT_EQ(2654435761u, self->memory[1]);
}

TEST_F(aperture, invalid_allocations_and_mappings_are_refused)
{
	struct gtu_ioctl_buffer_export e = { .size = sizeof(e), .rights = RW, .key = self->key };
	struct gtu_ioctl_info info = { .size = sizeof(info) };
	uint64_t offset;
	uint32_t key;
	char *p;
	int ret;

	ASSERT_EQ(0, call(self->fd, GTU_IOCTL_INFO, &info));
	EXPECT_EQ(EINVAL, alloc_in(self->fd, GTU_BUFFER_APERTURE, 0, RW, &key, &offset));
	EXPECT_EQ(EINVAL, alloc_in(self->fd, GTU_BUFFER_APERTURE, 8, 0, &key, &offset));
	EXPECT_EQ(EOVERFLOW, alloc_in(self->fd, GTU_BUFFER_APERTURE, ~0ull, RW, &key, &offset));
	EXPECT_EQ(ENOSPC, alloc_in(self->fd, GTU_BUFFER_APERTURE, info.aperture_bytes + 1, RW, &key, &offset));
	/* this context has already allocated a part of the aperture */
	EXPECT_EQ(ENOSPC, alloc_in(self->fd, GTU_BUFFER_APERTURE, info.aperture_bytes, RW, &key, &offset));
	/* move_test tests exports, which need CONFIG_PCI_P2PDMA */
	ret = call(self->fd, GTU_IOCTL_BUFFER_EXPORT, &e);
	EXPECT_TRUE(!ret || ret == EOPNOTSUPP);
	if (!ret)
		close(e.fd);

	/* rights and bounds are checked as for any region */
	ASSERT_EQ(0, alloc_in(self->fd, GTU_BUFFER_APERTURE, 100, GTU_RIGHT_READ, &key, &offset));
	EXPECT_EQ(GTU_CPL_RIGHTS, run_copy(&self->q, self->memory_key, 0, key, 0, 1, 2));
	EXPECT_EQ(0, run_copy(&self->q, key, 96, self->memory_key, 0, 1, 2));
	EXPECT_EQ(GTU_CPL_BOUNDS, run_copy(&self->q, key, 100, self->memory_key, 0, 1, 2));

	EXPECT_EQ(MAP_FAILED, (void *)map_shared(self->fd, self->offset, BYTES - 4096));
	EXPECT_EQ(MAP_FAILED, (void *)map_shared(self->fd, self->offset, BYTES + 4096));
	EXPECT_EQ(MAP_FAILED, (void *)map_shared(self->fd, self->offset + 4096, BYTES - 4096));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, BYTES, PROT_READ, MAP_PRIVATE, self->fd,
				   (off_t)self->offset));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, BYTES, PROT_READ | PROT_EXEC, MAP_SHARED, self->fd,
				   (off_t)self->offset));
	/* the offset is not valid in another context */
	EXPECT_EQ(MAP_FAILED, (void *)map_shared(self->other, self->offset, BYTES));
	/* a mapping of the aperture cannot become a region */
	p = (char *)map_shared(self->fd, self->offset, BYTES);
	ASSERT_NE(MAP_FAILED, (void *)p);
	EXPECT_EQ(EFAULT, region_add(self->fd, p, BYTES, RW, &key));
	/* a part of a mapping can be unmapped; the rest keeps its contents */
	((uint32_t *)p)[2048] = 0xabcd;
	ASSERT_EQ(0, munmap(p, 8192));
	ASSERT_EQ(0, munmap(p + 12288, BYTES - 12288));
	EXPECT_EQ(0xabcdu, ((uint32_t *)p)[2048]);
}

static uint64_t take_all(int fd, uint32_t *key, unsigned int room, unsigned int *n)
{
	uint64_t offset, bytes = 0;

	for (*n = 0; *n < room; ++*n) {
		if (alloc_in(fd, GTU_BUFFER_APERTURE, 16 * BYTES, RW, &key[*n], &offset))
			break;
		bytes += 16 * BYTES;
	}
	return bytes;
}

TEST_F(aperture, memory_is_zeroed_before_it_is_allocated_again)
{
	struct gtu_hw_desc d = { .opcode = GTU_OP_FILL, .param = 2, .imm = 0xdeadbeef };
	struct gtu_hw_cpl c;
	uint32_t key, round, i;
	uint64_t offset;

	for (round = 0; round < 8; round++) {
		ASSERT_EQ(0, alloc_in(self->fd, GTU_BUFFER_APERTURE, BYTES, RW, &key, &offset));
		ASSERT_EQ(0, run_copy(&self->q, key, 0, self->memory_key, 0, BYTES / 8, 3));
		for (i = 0; i < BYTES / 4; i++)
			ASSERT_EQ(0, self->memory[i]);
		d.operand[1] = (struct gtu_hw_operand){ key, BYTES / 4, 0 };
		ASSERT_EQ(0, run(&self->q, &d, &c));
		ASSERT_EQ(0, region_remove(self->fd, key));
	}
}

/* REGION_REMOVE revokes the device's access; a mapping keeps the pages allocated. */
TEST_F(aperture, a_mapping_keeps_removed_memory_allocated)
{
	uint32_t *p = map_shared(self->fd, self->offset, BYTES), i, round, key;
	uint64_t offset;

	ASSERT_NE(MAP_FAILED, (void *)p);
	memset(self->memory, 0x11, BYTES);
	ASSERT_EQ(0, run_copy(&self->q, self->memory_key, 0, self->key, 0, BYTES / 8, 3));
	EXPECT_EQ(0, region_remove(self->fd, self->key));
	EXPECT_EQ(GTU_CPL_KEY, run_copy(&self->q, self->memory_key, 0, self->key, 0, BYTES / 8, 3));
	/*
	 * the allocator searches from the start, so other contexts allocate and free the adjacent
	 * pages
	 */
	for (round = 0; round < 4; round++) {
		ASSERT_EQ(0, alloc_in(self->other, GTU_BUFFER_APERTURE, BYTES, RW, &key, &offset));
		ASSERT_EQ(0, region_remove(self->other, key));
	}
	for (i = 0; i < BYTES / 4; i += 31)
		ASSERT_EQ(0x11111111u, p[i]);
	p[3] = 0x2222;
	EXPECT_EQ(0x2222u, p[3]);
	munmap(p, BYTES);
	/* after munmap() the pages are free and zeroed */
	ASSERT_EQ(0, alloc_in(self->fd, GTU_BUFFER_APERTURE, BYTES, RW, &key, &offset));
	p = map_shared(self->fd, offset, BYTES);
	ASSERT_NE(MAP_FAILED, (void *)p);
	EXPECT_EQ(0, p[3]);
	EXPECT_EQ(0, p[0]);
}

/*
 * All of the aperture can be allocated once, only in contiguous runs, and all of it is freed again.
 */
TEST_F(aperture, the_whole_aperture_can_be_allocated_and_freed)
{
	struct gtu_ioctl_info info = { .size = sizeof(info) };
	uint32_t key[64], more;
	unsigned int n, again;
	uint64_t bytes, offset;

	ASSERT_EQ(0, call(self->fd, GTU_IOCTL_INFO, &info));
	if (info.aperture_bytes > 64ull * 16 * BYTES)
		SKIP(return, "the aperture is larger than 64 MiB and would take too long to fill");
	if (!getenv("GTU_APERTURE_MAPPED") && info.aperture_bytes > 1 << 20)
		SKIP(return, "zeroing the aperture twice is slow: set GTU_APERTURE_MAPPED if BAR "
			     "4 is fast");
	bytes = take_all(self->fd, key, 64, &n);
	EXPECT_LE(bytes + BYTES, info.aperture_bytes);
	EXPECT_GT(bytes + 17 * BYTES, info.aperture_bytes);
	EXPECT_EQ(ENOSPC, alloc_in(self->other, GTU_BUFFER_APERTURE, 16 * BYTES, RW, &more, &offset));
	ASSERT_LE(5u, n);
	/* two separate free runs of 16 * BYTES do not satisfy an allocation of 32 * BYTES */
	EXPECT_EQ(0, region_remove(self->fd, key[1]));
	EXPECT_EQ(0, region_remove(self->fd, key[3]));
	EXPECT_EQ(ENOSPC, alloc_in(self->other, GTU_BUFFER_APERTURE, 32 * BYTES, RW, &more, &offset));
	EXPECT_EQ(0, region_remove(self->fd, key[2]));
	EXPECT_EQ(0, alloc_in(self->other, GTU_BUFFER_APERTURE, 48 * BYTES, RW, &more, &offset));
	EXPECT_EQ(0, region_remove(self->other, more));
	queue_unmap(&self->q);
	close(self->fd);
	/* this includes the fixture's allocation */
	EXPECT_EQ(info.aperture_bytes, take_all(self->other, key, 64, &again));
}

TEST_HARNESS_MAIN
