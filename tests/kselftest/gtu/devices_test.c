// SPDX-License-Identifier: MIT
/*
 * Tests two devices in one machine: they share no state, they work concurrently, and the removal of
 * one does not affect the other.
 *
 * GTU_SECOND names the second device [/dev/gtu1].
 */
#include "gtu_trust.h"

#define BYTES	(1u << 18)

struct side {
	int fd;
	struct queue q;
	struct guarded m;
	uint32_t key;
	unsigned int rounds;	/* of keep_busy() */
};

FIXTURE(devices)
{
	struct side one, two;
	char function[64];		/* bus name of the second device */
};

static const char *second_path(void)
{
	return getenv("GTU_SECOND") ?: "/dev/gtu1";
}

static int side_open(struct side *s)
{
	int ret;

	guarded_new(&s->m, BYTES, 0);
	ret = region_add(s->fd, s->m.at, BYTES, RW, &s->key);
	return ret ? ret : queue_create(s->fd, 4, 4, &s->q);
}

FIXTURE_SETUP(devices)
{
	OPEN_OR_SKIP(self->one.fd);
	self->two.fd = open(second_path(), O_RDWR | O_CLOEXEC);
	if (self->two.fd < 0 && errno == ENOENT && !getenv("GTU_SECOND"))
		SKIP(return, "needs a second device: %s does not exist; set GTU_SECOND",
			     second_path());
	ASSERT_LE(0, self->two.fd);
	ASSERT_EQ(0, side_open(&self->one));
	ASSERT_EQ(0, side_open(&self->two));
	ASSERT_EQ(0, bus_function(second_path(), self->function));
}

NO_TEARDOWN(devices);

/* The first device rejects the keys, queue ids and mmap offsets of the second one. */
TEST_F(devices, a_device_rejects_keys_and_ids_of_another)
{
	struct queue more[3];
	struct gtu_hw_desc d;
	struct gtu_hw_cpl c;
	uint32_t key[8], i;
	void *p;

	for (i = 0; i < 8; i++)
		ASSERT_EQ(0, region_add(self->two.fd, self->two.m.at + i * PAGE, PAGE, RW,
					&key[i]));
	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, queue_create(self->two.fd, 4, 4, &more[i]));
	for (i = 0; i < 8; i++) {
		ASSERT_NE(key[i], self->one.key);
		d = copy_job(self->one.key, 0, key[i], 0, 16, 2);
		EXPECT_EQ(GTU_CPL_KEY, run(&self->one.q, &d, &c));
		EXPECT_EQ(ENOENT, region_remove(self->one.fd, key[i]));
	}
	for (i = 0; i < 3; i++) {
		p = mmap(NULL, more[i].c.db_bytes, PROT_WRITE, MAP_SHARED, self->one.fd,
			 (off_t)more[i].c.db_offset);
		EXPECT_EQ(MAP_FAILED, p);
		more[i].fd = self->one.fd;
		EXPECT_EQ(ENOENT, queue_call(&more[i], GTU_IOCTL_QUEUE_DESTROY));
		EXPECT_EQ(ENOENT, queue_wait(&more[i], 0, 0));
		EXPECT_EQ(GTU_QUEUE_ENABLED, queue_state(&more[i]));
	}
	/* even if the keys are equal, each device accesses its own region */
	fill_pattern(self->one.m.at, BYTES / 2, 1);
	fill_pattern(self->two.m.at, BYTES / 2, 2);
	EXPECT_EQ(GTU_CPL_OK, run_copy(&self->one.q, self->one.key, 0, self->one.key, BYTES / 2,
		      BYTES / 8, 2));
	EXPECT_TRUE(is_pattern(self->one.m.at + BYTES / 2, BYTES / 2, 1));
	EXPECT_TRUE(all_bytes(self->two.m.at + BYTES / 2, BYTES / 2, GUARD));
	EXPECT_TRUE(guarded_ok(&self->one.m) && guarded_ok(&self->two.m));
}

/*
 * The same memory can be registered with both devices; removing it from one leaves the other's
 * region.
 */
TEST_F(devices, two_devices_can_share_memory)
{
	struct gtu_hw_desc d;
	struct gtu_hw_cpl c;
	uint8_t *shared = pages(BYTES);
	uint32_t key_one, key_two, i;

	ASSERT_EQ(0, region_add(self->one.fd, shared, BYTES, RW, &key_one));
	ASSERT_EQ(0, region_add(self->two.fd, shared, BYTES, RW, &key_two));
	EXPECT_EQ(4 * (long)BYTES / 1024, status_kib("VmPin"));
	for (i = 0; i < 20; i++) {
		fill_pattern(self->one.m.at, BYTES, i);
		ASSERT_EQ(GTU_CPL_OK, run_copy(&self->one.q, self->one.key, 0, key_one, 0,
			      BYTES / 8, 3));
		d = copy_job(key_two, 0, self->two.key, 0, BYTES / 8, 3);
		ASSERT_EQ(GTU_CPL_OK, run(&self->two.q, &d, &c));
		ASSERT_TRUE(is_pattern(self->two.m.at, BYTES, i));
	}
	ASSERT_EQ(0, region_remove(self->one.fd, key_one));
	EXPECT_EQ(3 * (long)BYTES / 1024, status_kib("VmPin"));
	memset(self->two.m.at, 0, BYTES);
	ASSERT_EQ(GTU_CPL_OK, run(&self->two.q, &d, &c));
	EXPECT_TRUE(is_pattern(self->two.m.at, BYTES, i - 1));
}

static bool stop;

/* Run jobs without a pause. Return NULL if all results are correct. */
static void *keep_busy(void *arg)
{
	struct side *s = arg;
	struct gtu_hw_desc d = copy_job(s->key, 0, s->key, BYTES / 2, BYTES / 16, 3);
	struct gtu_hw_cpl c;
	uint32_t i;

	for (i = 0; !__atomic_load_n(&stop, __ATOMIC_RELAXED); i++) {
		fill_pattern(s->m.at, BYTES / 2, i);
		if (run(&s->q, &d, &c) != GTU_CPL_OK ||
		    !is_pattern(s->m.at + BYTES / 2, BYTES / 2, i))
			return "wrong";
		__atomic_add_fetch(&s->rounds, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

TEST_F_TIMEOUT(devices, two_devices_run_jobs_at_the_same_time, 60)
{
	pthread_t thread[2];
	void *end[2];

	pthread_create(&thread[0], NULL, keep_busy, &self->one);
	pthread_create(&thread[1], NULL, keep_busy, &self->two);
	sleep(1);
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	pthread_join(thread[0], &end[0]);
	pthread_join(thread[1], &end[1]);
	EXPECT_EQ(NULL, end[0]);
	EXPECT_EQ(NULL, end[1]);
	TH_LOG("%u and %u jobs", self->one.rounds, self->two.rounds);
	EXPECT_LT(10u, self->one.rounds);
	EXPECT_LT(10u, self->two.rounds);
	EXPECT_TRUE(guarded_ok(&self->one.m) && guarded_ok(&self->two.m));
}

/* Unbinding and rebinding the second device does not affect the first one's jobs and waiters. */
TEST_F_TIMEOUT(devices, removing_one_device_does_not_affect_the_other, 90)
{
	struct gtu_ioctl_info info = { .size = sizeof(info) };
	struct waiter w;
	unsigned int i, before, tries;
	pthread_t busy;
	struct gtu_hw_cpl c;
	void *end;

	NEEDS_ROOT;
	ASSERT_EQ(0, call(self->one.fd, GTU_IOCTL_INFO, &info));
	before = info.epoch;
	pthread_create(&busy, NULL, keep_busy, &self->one);
	start_waiter(&w, &self->two.q, 1u << 20, GTU_WAIT_FOREVER);
	for (i = 0; i < 5; i++) {
		const unsigned int done = __atomic_load_n(&self->one.rounds, __ATOMIC_RELAXED);

		usleep(50000);
		ASSERT_EQ(0, driver_file(self->function, "unbind"));
		EXPECT_EQ(ENODEV, call(self->two.fd, GTU_IOCTL_INFO, &info));
		EXPECT_EQ(0, call(self->one.fd, GTU_IOCTL_INFO, &info));
		/* the first device works while the second one is unbound */
		for (tries = 0; tries < 500 && __atomic_load_n(&self->one.rounds, __ATOMIC_RELAXED) < done + 3; tries++)
			usleep(10000);
		EXPECT_LE(done + 3, __atomic_load_n(&self->one.rounds, __ATOMIC_RELAXED));
		ASSERT_EQ(0, driver_file(self->function, "bind"));
		for (tries = 0; tries < 100 && access(second_path(), F_OK); tries++)
			usleep(20000);
		queue_unmap(&self->two.q);
		close(self->two.fd);
		self->two.fd = open(second_path(), O_RDWR | O_CLOEXEC);
		ASSERT_LE(0, self->two.fd);
		if (!i)
			EXPECT_EQ(ENODEV, join_waiter(&w));
		ASSERT_EQ(0, queue_create(self->two.fd, 4, 4, &self->two.q));
		EXPECT_EQ(GTU_CPL_OK, run(&self->two.q, &NO_JOB, &c));
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	pthread_join(busy, &end);
	EXPECT_EQ(NULL, end);
	ASSERT_EQ(0, call(self->one.fd, GTU_IOCTL_INFO, &info));
	EXPECT_EQ(before, info.epoch);
	/* unbinding the second device unpinned its memory */
	EXPECT_EQ((long)BYTES / 1024, status_kib("VmPin"));
}

TEST_HARNESS_MAIN
