// SPDX-License-Identifier: MIT
/*
 * Tests removal of the device while memory is shared or mapped and jobs are submitted: dma-bufs,
 * the aperture and SUBMIT.
 *
 * Needs root. Each test leaves the device bound and working.
 */
#include "gtu_util.h"

#define BYTES	(1u << 20)

FIXTURE(memory_removal)
{
	int fd;
	char function[64];
};

FIXTURE_SETUP(memory_removal)
{
	NEEDS_ROOT;
	OPEN_OR_SKIP(self->fd);
	ASSERT_EQ(0, bus_function(device_path(), self->function));
}

NO_TEARDOWN(memory_removal);

/*
 * A dma-buf survives the removal of its exporter and can be imported after the device is bound
 * again.
 */
TEST_F_TIMEOUT(memory_removal, a_dmabuf_survives_removal_of_its_exporter, 60)
{
	struct gtu_ioctl_buffer_export e = { .size = sizeof(e), .flags = O_CLOEXEC, .rights = RW };
	struct gtu_hw_desc d;
	struct gtu_hw_cpl c;
	struct queue q;
	uint32_t key, *p, *out = pages(4096), out_key, i;
	uint64_t offset, length;
	int other = reopen();

	ASSERT_LE(0, other);
	ASSERT_EQ(0, buffer_alloc(self->fd, BYTES, &e.key, &offset));
	ASSERT_EQ(0, call(self->fd, GTU_IOCTL_BUFFER_EXPORT, &e));
	ASSERT_EQ(0, import(other, e.fd, RW, &key, &length));
	ASSERT_EQ(0, import(self->fd, e.fd, RW, &key, &length));
	p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, e.fd, 0);
	ASSERT_NE(MAP_FAILED, (void *)p);
	for (i = 0; i < BYTES / 4; i++)
		p[i] = i ^ 0x1111;
	ASSERT_EQ(0, driver_file(self->function, "unbind"));
	for (i = 0; i < BYTES / 4; i++)
		ASSERT_EQ(i ^ 0x1111, p[i]);
	EXPECT_EQ(ENODEV, call(self->fd, GTU_IOCTL_BUFFER_EXPORT, &e));
	EXPECT_EQ(ENODEV, import(other, e.fd, RW, &key, &length));
	close(other);
	close(self->fd);
	p[7] = 0x2222;
	ASSERT_EQ(0, driver_file(self->function, "bind"));
	self->fd = reopen();
	ASSERT_LE(0, self->fd);
	/* the exporting device was removed, so the new one treats the dma-buf as foreign memory */
	ASSERT_EQ(0, import(self->fd, e.fd, RW, &key, &length));
	ASSERT_EQ(0, region_add(self->fd, out, 4096, RW, &out_key));
	ASSERT_EQ(0, queue_create(self->fd, 2, 2, &q));
	d = copy_job(key, 0, out_key, 0, 1024, 2);
	ASSERT_EQ(0, run(&q, &d, &c));
	EXPECT_EQ(0x2222u, out[7]);
	EXPECT_EQ(8u ^ 0x1111, out[8]);
	close(e.fd);
	munmap(p, BYTES);
	EXPECT_EQ(0, run(&q, &d, &c));
	queue_unmap(&q);
}

static volatile bool stop;

/* Access an aperture mapping while the device is removed. There must be no signal. */
static void *toucher(void *arg)
{
	volatile uint32_t *p = arg;
	uint32_t i, sum = 0;

	while (!stop)
		for (i = 0; i < 4096 / 4 * 14; i += 1024) {
			sum += p[i];
			p[i + 1] = sum;
		}
	return NULL;
}

/*
 * After removal the mapping reads as zeroes and does not reach the aperture of the device bound
 * next.
 */
TEST_F_TIMEOUT(memory_removal, mappings_of_the_aperture_read_zero_after_removal, 60)
{
	struct gtu_ioctl_buffer_alloc a = { .size = sizeof(a), .flags = GTU_BUFFER_APERTURE,
					    .length = 16 * 4096, .rights = RW }, b = a;
	uint32_t *p, *kept, *now;
	pthread_t thread;
	int ret = call(self->fd, GTU_IOCTL_BUFFER_ALLOC, &a);

	if (ret == EOPNOTSUPP)
		SKIP(return, "the device has no aperture");
	ASSERT_EQ(0, ret);
	ASSERT_EQ(0, call(self->fd, GTU_IOCTL_BUFFER_ALLOC, &b));
	p = map_shared(self->fd, a.mmap_offset, a.length);
	kept = map_shared(self->fd, b.mmap_offset, b.length);
	ASSERT_NE(MAP_FAILED, (void *)p);
	ASSERT_NE(MAP_FAILED, (void *)kept);
	kept[0] = kept[1024] = 0xbeef;
	/* a mapping that lost a part counts as one */
	ASSERT_EQ(0, munmap(kept + 15 * 1024, 4096));
	ASSERT_EQ(0, munmap(p + 14 * 1024, 2 * 4096));
	/* remove the region before the device; its mapping stays */
	ASSERT_EQ(0, region_remove(self->fd, b.key));
	EXPECT_EQ(0xbeefu, kept[1024]);
	pthread_create(&thread, NULL, toucher, p);
	usleep(50000);
	ASSERT_EQ(0, driver_file(self->function, "unbind"));
	stop = true;
	pthread_join(thread, NULL);
	EXPECT_EQ(0, kept[0]);
	EXPECT_EQ(0, kept[1024]);
	EXPECT_EQ(MAP_FAILED, mmap(NULL, a.length, PROT_READ, MAP_SHARED, self->fd,
				   (off_t)a.mmap_offset));
	EXPECT_EQ(ENODEV, errno);
	ASSERT_EQ(0, driver_file(self->function, "bind"));
	ret = reopen();
	ASSERT_LE(0, ret);
	ASSERT_EQ(0, call(ret, GTU_IOCTL_BUFFER_ALLOC, &a));
	now = map_shared(ret, a.mmap_offset, a.length);
	ASSERT_NE(MAP_FAILED, (void *)now);
	p[3] = kept[3] = 0x77;
	EXPECT_EQ(0, now[3]);
	now[4] = 0x99;
	EXPECT_EQ(0, p[4]);
	close(ret);
	munmap(p, 14 * 4096);
	munmap(kept, 15 * 4096);
}

struct submitter {
	struct queue q;
	uint32_t in, out;
	int ret;
};

static void *submit_for_ever(void *arg)
{
	struct submitter *s = arg;
	struct gtu_hw_desc d[8];
	struct gtu_ioctl_submit a;
	int i;

	for (i = 0; i < 8; i++)
		d[i] = copy_job(s->in, 0, s->out, 0, 4096, 2);
	while (!s->ret) {
		s->ret = submit_raw(&s->q, d, 8, &a);
		if (!s->ret)
			s->ret = queue_wait(&s->q, s->q.consumed + a.done - 1, GTU_WAIT_FOREVER);
		if (!s->ret)
			s->q.consumed += a.done;
	}
	return NULL;
}

TEST_F_TIMEOUT(memory_removal, removal_ends_submit_and_unpins_memory, 60)
{
	uint32_t *memory = pages(65536), round;

	for (round = 0; round < 8; round++) {
		struct submitter s = { .ret = 0 };
		pthread_t thread;

		ASSERT_EQ(0, region_add(self->fd, memory, 32768, RW, &s.in));
		ASSERT_EQ(0, region_add(self->fd, memory + 8192, 32768, RW, &s.out));
		ASSERT_EQ(0, queue_create_as(self->fd, GTU_QUEUE_SUBMIT, 4, 4, &s.q));
		pthread_create(&thread, NULL, submit_for_ever, &s);
		/* a busy machine may take longer for the first jobs */
		while (!__atomic_load_n(&s.q.consumed, __ATOMIC_RELAXED) && !__atomic_load_n(&s.ret, __ATOMIC_RELAXED))
			usleep(1000);
		usleep(20000 + round * 7000);
		ASSERT_EQ(0, driver_file(self->function, "unbind"));
		pthread_join(thread, NULL);
		EXPECT_EQ(ENODEV, s.ret);
		EXPECT_LT(0, s.q.consumed);
		EXPECT_EQ(0, status_kib("VmPin"));
		munmap((void *)s.q.cq, s.q.c.cq_bytes);
		close(self->fd);
		ASSERT_EQ(0, driver_file(self->function, "bind"));
		self->fd = reopen();
		ASSERT_LE(0, self->fd);
	}
}

TEST_HARNESS_MAIN
