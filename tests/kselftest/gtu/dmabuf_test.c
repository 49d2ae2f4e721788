// SPDX-License-Identifier: MIT
/*
 * Tests dma-bufs: export of driver buffers, and import of dma-bufs as regions.
 *
 * The importer is the same device in another context or, if GTU_SECOND is set, a second GTU.
 */
#include <linux/dma-buf.h>
#include <linux/memfd.h>
#include <linux/udmabuf.h>

#include "gtu_trust.h"

#define BYTES	(3u << 20)

FIXTURE(dmabuf)
{
	int fd, other;
	struct queue q, other_q;
	uint32_t key;			/* of a buffer of BYTES */
	uint64_t offset;
	uint32_t *memory;		/* its mapping */
};

FIXTURE_SETUP(dmabuf)
{
	uint32_t i;

	OPEN_OR_SKIP(self->fd);
	self->other = open(getenv("GTU_SECOND") ?: device_path(), O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->other);
	ASSERT_EQ(0, queue_create(self->fd, 4, 4, &self->q));
	ASSERT_EQ(0, queue_create(self->other, 4, 4, &self->other_q));
	ASSERT_EQ(0, buffer_alloc(self->fd, BYTES, &self->key, &self->offset));
	self->memory = map_shared(self->fd, self->offset, BYTES);
	ASSERT_NE(MAP_FAILED, (void *)self->memory);
	for (i = 0; i < BYTES / 4; i++)
		self->memory[i] = i * 2654435761u;
}

NO_TEARDOWN(dmabuf);

static int export_buffer(int fd, uint32_t key, uint32_t rights, uint32_t flags, int *out)
{
	struct gtu_ioctl_buffer_export a = { .size = sizeof(a), .flags = flags, .key = key,
					     .rights = rights };
	int ret = call(fd, GTU_IOCTL_BUFFER_EXPORT, &a);

	*out = a.fd;
	return ret;
}

TEST_F(dmabuf, invalid_exports_are_refused)
{
	uint32_t pinned;
	int out, input;

	EXPECT_EQ(EINVAL, export_buffer(self->fd, self->key, 0, 0, &out));
	EXPECT_EQ(EINVAL, export_buffer(self->fd, self->key, 4, 0, &out));
	EXPECT_EQ(ENOENT, export_buffer(self->fd, 0, RW, 0, &out));
	EXPECT_EQ(ENOENT, export_buffer(self->fd, self->key + 0x10000, RW, 0, &out));
	EXPECT_EQ(ENOENT, export_buffer(self->fd, self->key + 1, RW, 0, &out));
	EXPECT_EQ(EOPNOTSUPP, export_buffer(self->fd, self->key, RW, O_NONBLOCK, &out));
	ASSERT_EQ(0, region_add(self->fd, pages(4096), 4096, RW, &pinned));
	EXPECT_EQ(EINVAL, export_buffer(self->fd, pinned, RW, 0, &out));
	/* a key of another context is not valid in this one */
	EXPECT_EQ(ENOENT, export_buffer(self->other, self->key, RW, 0, &out));

	ASSERT_EQ(0, export_buffer(self->fd, self->key, RW, O_CLOEXEC, &out));
	EXPECT_EQ(FD_CLOEXEC, fcntl(out, F_GETFD));
	EXPECT_EQ(O_RDWR, fcntl(out, F_GETFL) & O_ACCMODE);
	EXPECT_EQ((off_t)BYTES, lseek(out, 0, SEEK_END));
	close(out);
	ASSERT_EQ(0, export_buffer(self->fd, self->key, GTU_RIGHT_READ, 0, &out));
	EXPECT_EQ(0, fcntl(out, F_GETFD));
	EXPECT_EQ(O_RDONLY, fcntl(out, F_GETFL) & O_ACCMODE);
	close(out);
	/* the lowest descriptor is one, too */
	input = dup(0);
	close(0);
	ASSERT_EQ(0, export_buffer(self->fd, self->key, GTU_RIGHT_READ, 0, &out));
	EXPECT_EQ(0, out);
	EXPECT_EQ(O_RDONLY, fcntl(0, F_GETFL) & O_ACCMODE);
	EXPECT_EQ((off_t)BYTES, lseek(0, 0, SEEK_END));
	dup2(input, 0);
	close(input);
}

TEST_F(dmabuf, invalid_imports_are_refused)
{
	uint64_t length;
	uint32_t key;
	int out;

	ASSERT_EQ(0, export_buffer(self->fd, self->key, RW, O_CLOEXEC, &out));
	EXPECT_EQ(EINVAL, import(self->other, out, 0, &key, &length));
	EXPECT_EQ(EINVAL, import(self->other, out, 8 | RW, &key, &length));
	EXPECT_EQ(EBADF, import(self->other, -1, RW, &key, &length));
	EXPECT_EQ(EBADF, import(self->other, 1000000, RW, &key, &length));
	/* files that are not dma-bufs */
	EXPECT_EQ(EBADF, import(self->other, self->fd, RW, &key, &length));
	EXPECT_EQ(EBADF, import(self->other, memfd_create("gtu", 0), RW, &key, &length));
	ASSERT_EQ(0, import(self->other, out, RW, &key, &length));
	EXPECT_EQ(BYTES, length);
	close(out);
	EXPECT_EQ(0, region_remove(self->other, key));
	EXPECT_EQ(ENOENT, region_remove(self->other, key));
}

#define PEER_WORD	_IO(0xE8, 19)

TEST_F(dmabuf, the_kernel_can_map_a_buffer_for_another_driver)
{
	struct { int32_t fd; uint32_t write; uint64_t offset, value; } w = { .offset = 8 };
	int peer = open("/dev/gtu_peer", O_RDWR | O_CLOEXEC);

	if (peer < 0)
		SKIP(return, "no /dev/gtu_peer: needs root and tests/guest/programs/peer");
	ASSERT_EQ(0, export_buffer(self->fd, self->key, RW, O_CLOEXEC, &w.fd));
	ASSERT_EQ(0, call(peer, PEER_WORD, &w));
	EXPECT_EQ(self->memory[2], (uint32_t)w.value);
	w.write = 1;
	w.value = 0x123456789abcdefull;
	ASSERT_EQ(0, call(peer, PEER_WORD, &w));
	EXPECT_EQ(0x89abcdefu, self->memory[2]);
	EXPECT_EQ(0x1234567u, self->memory[3]);
	close(w.fd);
	close(peer);
}

/* Through a writable file of another driver, the mode of the dma-buf limits a mapping. */
TEST_F(dmabuf, a_dmabuf_limits_mappings_by_another_driver)
{
	int peer = open("/dev/gtu_peer", O_RDWR | O_CLOEXEC), out;
	uint32_t *p;

	if (peer < 0)
		SKIP(return, "no /dev/gtu_peer: needs root and tests/guest/programs/peer");
	ASSERT_EQ(0, export_buffer(self->fd, self->key, GTU_RIGHT_READ, O_CLOEXEC, &out));
	EXPECT_EQ(MAP_FAILED, map_shared(peer, (uint64_t)out * PAGE, BYTES));
	EXPECT_EQ(EACCES, errno);
	EXPECT_EQ(MAP_FAILED, mmap(NULL, BYTES, PROT_READ | PROT_EXEC, MAP_SHARED, peer,
				   (off_t)out * (off_t)PAGE));
	EXPECT_EQ(EACCES, errno);
	EXPECT_EQ(MAP_FAILED, mmap(NULL, BYTES, PROT_READ, MAP_PRIVATE, peer, (off_t)out * (off_t)PAGE));
	EXPECT_EQ(EINVAL, errno);
	p = mmap(NULL, BYTES, PROT_READ, MAP_SHARED, peer, (off_t)out * (off_t)PAGE);
	ASSERT_NE(MAP_FAILED, (void *)p);
	EXPECT_EQ(self->memory[7], p[7]);
	EXPECT_EQ(-1, mprotect(p, BYTES, PROT_READ | PROT_WRITE));
	munmap(p, BYTES);
	close(out);
	ASSERT_EQ(0, export_buffer(self->fd, self->key, RW, O_CLOEXEC, &out));
	p = map_shared(peer, (uint64_t)out * PAGE, BYTES);
	ASSERT_NE(MAP_FAILED, (void *)p);
	p[7] = 0x4321;
	EXPECT_EQ(0x4321u, self->memory[7]);
	munmap(p, BYTES);
	close(out);
	close(peer);
}

/* Two contexts share the same pages: each sees the other's writes. */
TEST_F(dmabuf, an_importer_shares_the_pages_of_the_exporter)
{
	uint32_t back, key, mine, *copy = pages(BYTES), to;
	uint64_t length;
	int out;

	ASSERT_EQ(0, export_buffer(self->fd, self->key, RW, O_CLOEXEC, &out));
	ASSERT_EQ(0, import(self->other, out, RW, &key, &length));
	ASSERT_EQ(0, region_add(self->other, copy, BYTES, RW, &to));
	ASSERT_EQ(0, run_copy(&self->other_q, key, 0, to, 0, BYTES / 8, 3));
	EXPECT_EQ(0, memcmp(copy, self->memory, BYTES));
	/* later stores by the CPU are visible too */
	memset(self->memory, 0x5a, BYTES);
	ASSERT_EQ(0, run_copy(&self->other_q, key, 0, to, 0, BYTES / 8, 3));
	EXPECT_EQ(0, memcmp(copy, self->memory, BYTES));
	/* writes by the other context are visible here */
	memset(copy, 0xa5, BYTES);
	ASSERT_EQ(0, run_copy(&self->other_q, to, 0, key, 0, BYTES / 8, 3));
	EXPECT_EQ(0, memcmp(copy, self->memory, BYTES));

	/* import into the exporting context */
	ASSERT_EQ(0, import(self->fd, out, GTU_RIGHT_READ, &mine, &length));
	ASSERT_EQ(0, buffer_alloc(self->fd, BYTES, &back, &self->offset));
	EXPECT_EQ(0, run_copy(&self->q, mine, 0, back, 0, BYTES / 8, 3));
	EXPECT_EQ(GTU_CPL_RIGHTS, run_copy(&self->q, back, 0, mine, 0, BYTES / 8, 3));
	close(out);
	/* an imported region can be neither mapped nor exported */
	EXPECT_EQ(EINVAL, export_buffer(self->other, key, RW, 0, &out));
}

/* A read-only dma-buf never becomes writable, neither for the CPU nor for a device. */
TEST_F(dmabuf, a_read_only_dmabuf_never_becomes_writable)
{
	char path[64];
	uint64_t length;
	uint32_t key;
	void *p;
	int out;

	ASSERT_EQ(0, export_buffer(self->fd, self->key, GTU_RIGHT_READ, O_CLOEXEC, &out));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, out, 0));
	EXPECT_EQ(EACCES, errno);
	p = mmap(NULL, BYTES, PROT_READ, MAP_SHARED, out, 0);
	ASSERT_NE(MAP_FAILED, p);
	EXPECT_EQ(0, memcmp(p, self->memory, BYTES));
	EXPECT_EQ(-1, mprotect(p, BYTES, PROT_READ | PROT_WRITE));
	EXPECT_EQ(EACCES, errno);
	EXPECT_EQ(-1, mprotect(p, BYTES, PROT_READ | PROT_EXEC));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE, out, 0));
	/* reopening the file does not make it writable */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", out);
	EXPECT_EQ(-1, open(path, O_RDWR));
	EXPECT_EQ(EACCES, import(self->other, out, RW, &key, &length));
	EXPECT_EQ(EACCES, import(self->other, out, GTU_RIGHT_WRITE, &key, &length));
	ASSERT_EQ(0, import(self->other, out, GTU_RIGHT_READ, &key, &length));
	EXPECT_EQ(GTU_CPL_RIGHTS, run_copy(&self->other_q, key, 0, key, 0, BYTES / 8, 3));
	close(out);
}

TEST_F(dmabuf, parts_of_a_dmabuf_can_be_mapped)
{
	struct dma_buf_sync sync = { .flags = DMA_BUF_SYNC_START | DMA_BUF_SYNC_RW };
	uint64_t length;
	uint32_t key, *p, *part;
	int out;

	ASSERT_EQ(0, export_buffer(self->fd, self->key, RW, O_CLOEXEC, &out));
	ASSERT_EQ(0, import(self->other, out, RW, &key, &length));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, BYTES, PROT_READ | PROT_EXEC, MAP_SHARED, out, 0));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, BYTES + 4096, PROT_READ, MAP_SHARED, out, 0));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, 4096, PROT_READ, MAP_SHARED, out, BYTES));
	p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, out, 0);
	ASSERT_NE(MAP_FAILED, (void *)p);
	/* map a part from the middle */
	part = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, out, 1 << 20);
	ASSERT_NE(MAP_FAILED, (void *)part);
	EXPECT_EQ(0, ioctl(out, DMA_BUF_IOCTL_SYNC, &sync));
	part[1] = 0x1234;
	sync.flags = DMA_BUF_SYNC_END | DMA_BUF_SYNC_RW;
	EXPECT_EQ(0, ioctl(out, DMA_BUF_IOCTL_SYNC, &sync));
	EXPECT_EQ(0x1234u, p[(1 << 18) + 1]);
	EXPECT_EQ(0x1234u, self->memory[(1 << 18) + 1]);
	EXPECT_EQ(MAP_FAILED, mremap(part, 8192, 16384, MREMAP_MAYMOVE));
	close(out);
}

/*
 * The pages live as long as the dma-buf has a user, independent of the region, context and mapping.
 */
TEST_F(dmabuf, a_dmabuf_outlives_its_region_and_context)
{
	uint32_t key, to, *copy = pages(BYTES), *p;
	uint64_t length;
	int out;

	ASSERT_EQ(0, export_buffer(self->fd, self->key, RW, O_CLOEXEC, &out));
	p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, out, 0);
	ASSERT_NE(MAP_FAILED, (void *)p);
	ASSERT_EQ(0, import(self->other, out, RW, &key, &length));
	ASSERT_EQ(0, region_add(self->other, copy, BYTES, RW, &to));
	EXPECT_EQ(0, region_remove(self->fd, self->key));
	self->memory[5] = 0x77;
	EXPECT_EQ(0, run_copy(&self->other_q, key, 0, to, 0, BYTES / 8, 3));
	EXPECT_EQ(0x77u, copy[5]);
	munmap(self->memory, BYTES);
	queue_unmap(&self->q);
	close(self->fd);
	p[6] = 0x88;
	EXPECT_EQ(0, run_copy(&self->other_q, key, 0, to, 0, BYTES / 8, 3));
	EXPECT_EQ(0x77u, copy[5]);
	EXPECT_EQ(0x88u, copy[6]);
	close(out);
	munmap(p, BYTES);
	/* now only the importer holds the pages */
	EXPECT_EQ(0, run_copy(&self->other_q, key, 0, to, 0, BYTES / 8, 3));
	EXPECT_EQ(0x88u, copy[6]);
	EXPECT_EQ(0, region_remove(self->other, key));
	EXPECT_EQ(GTU_CPL_KEY, run_copy(&self->other_q, key, 0, to, 0, BYTES / 8, 3));
}

/*
 * Another process receives the dma-buf over a socket and imports it; its context ends with the
 * process.
 */
TEST_F(dmabuf, another_process_can_import_a_passed_dmabuf)
{
	int pair[2], out;
	pid_t child;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	child = fork();
	ASSERT_LE(0, child);
	if (!child) {
		struct queue q;
		uint64_t length;
		uint32_t key;
		int fd = open(device_path(), O_RDWR);
		struct gtu_hw_desc d = { .opcode = GTU_OP_FILL, .param = 2, .imm = 0x600d };
		struct gtu_hw_cpl c;

		out = receive_fd(pair[1]);
		if (fd < 0 || out < 0)
			_exit(1);
		if (import(fd, out, RW, &key, &length) || queue_create(fd, 2, 2, &q))
			_exit(2);
		d.operand[1] = (struct gtu_hw_operand){ key, (uint32_t)(length / 4), 0 };
		_exit(run(&q, &d, &c) ? 3 : 0);
	}
	ASSERT_EQ(0, export_buffer(self->fd, self->key, RW, O_CLOEXEC, &out));
	ASSERT_EQ(0, send_fd(pair[0], out));
	close(out);
	EXPECT_EQ(0, child_end(child));
	EXPECT_EQ(0x600du, self->memory[0]);
	EXPECT_EQ(0x600du, self->memory[BYTES / 4 - 1]);
}

#define CAP "/sys/module/gtu/parameters/buffer_mib"

/*
 * A dma-buf's memory counts towards the cap and is freed with it: allocate more than the cap in
 * turn.
 */
TEST_F(dmabuf, memory_of_a_dmabuf_counts_towards_the_cap)
{
	const size_t bytes = 4 << 20;
	uint32_t key, mine, i;
	uint64_t length, offset;
	int cap = open(CAP, O_RDWR), out[16];
	char before[16] = "";

	if (cap < 0 || read(cap, before, sizeof(before) - 1) <= 0 || pwrite(cap, "24", 2, 0) != 2)
		SKIP(return, "needs root to lower %s", CAP);
	for (i = 0; i < 12; i++) {
		ASSERT_EQ(0, buffer_alloc(self->fd, bytes, &mine, &offset)) {
			TH_LOG("round %d", i);
		}
		ASSERT_EQ(0, export_buffer(self->fd, mine, RW, O_CLOEXEC, &out[0]));
		ASSERT_EQ(0, region_remove(self->fd, mine));
		ASSERT_EQ(0, import(self->other, out[0], RW, &key, &length));
		close(out[0]);
		ASSERT_EQ(0, region_remove(self->other, key));
	}
	/* open dma-bufs keep their memory, up to the cap, which includes the fixture's buffer */
	for (i = 0; i < 16; i++) {
		if (buffer_alloc(self->fd, bytes, &mine, &offset))
			break;
		ASSERT_EQ(0, export_buffer(self->fd, mine, RW, O_CLOEXEC, &out[i]));
		ASSERT_EQ(0, region_remove(self->fd, mine));
	}
	EXPECT_EQ(5, i);
	while (i)
		close(out[--i]);
	EXPECT_EQ(0, buffer_alloc(self->fd, bytes, &mine, &offset));
	EXPECT_EQ((ssize_t)strlen(before), pwrite(cap, before, strlen(before), 0));
	close(cap);
}

/* A dma-buf of another exporter: the device reads and writes the pages of a memfd, scattered. */
TEST_F(dmabuf, the_device_accesses_a_dmabuf_of_another_exporter)
{
	struct udmabuf_create c = { .memfd = (uint32_t)memfd_create("gtu", MFD_ALLOW_SEALING), .size = BYTES };
	int device = open("/dev/udmabuf", O_RDWR | O_CLOEXEC), buffer;
	uint32_t key, i, *p;
	uint64_t length;

	if (device < 0)
		SKIP(return, "no /dev/udmabuf: needs root and CONFIG_UDMABUF");
	ASSERT_EQ(0, ftruncate((int)c.memfd, BYTES));
	ASSERT_EQ(0, fcntl((int)c.memfd, F_ADD_SEALS, F_SEAL_SHRINK));
	p = map_shared((int)c.memfd, 0, BYTES);
	ASSERT_NE(MAP_FAILED, (void *)p);
	buffer = ioctl(device, UDMABUF_CREATE, &c);
	ASSERT_LE(0, buffer);
	ASSERT_EQ(0, import(self->other, buffer, RW, &key, &length));
	EXPECT_EQ(BYTES, length);
	close(buffer);
	for (i = 0; i < BYTES / 4; i++)
		p[i] = i ^ 0x5a5a;
	ASSERT_EQ(GTU_CPL_OK, run_copy(&self->other_q, key, 0, key, BYTES / 2, BYTES / 16, 3));
	for (i = 0; i < BYTES / 8; i++)
		ASSERT_EQ(i ^ 0x5a5a, p[BYTES / 8 + i]);
	EXPECT_EQ(GTU_CPL_BOUNDS, run_copy(&self->other_q, key, BYTES - 8, key, 0, 2, 3));
	EXPECT_EQ(0, region_remove(self->other, key));
}

TEST_HARNESS_MAIN
