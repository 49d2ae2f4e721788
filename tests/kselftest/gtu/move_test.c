// SPDX-License-Identifier: MIT
/*
 * Tests regions of dma-bufs that move, of the exporter in tests/guest/programs/moving: keys stay,
 * jobs see the memory at its new place or fail with GTU_CPL_KEY, and never use the old place.
 */
#include "gtu_util.h"

#define MOVING_CREATE	1
#define MOVING_MOVE	2
#define MOVING_WORD	3
#define PAGES		64u
#define BYTES		(PAGES * PAGE)
#define PATTERN		0x1234567800000000ull

struct moving_word {
	int32_t fd;
	uint32_t write;
	uint64_t offset, value;
};

FIXTURE(move)
{
	int fd, exporter, buffer;
	struct queue q;
	uint32_t key, out_key;
	uint64_t length, *out;
};

static int move(int exporter, int buffer)
{
	struct moving_word w = { .fd = buffer };

	return call(exporter, MOVING_MOVE, &w);
}

static uint64_t word(int exporter, int buffer, uint64_t offset)
{
	struct moving_word w = { .fd = buffer, .offset = offset };

	return call(exporter, MOVING_WORD, &w) ? ~0ull : w.value;
}

FIXTURE_SETUP(move)
{
	struct moving_word w = { .write = 1 };

	OPEN_OR_SKIP(self->fd);
	NEEDS(GTU_CAP_REGIONS);
	self->exporter = open("/dev/gtu_moving", O_RDWR | O_CLOEXEC);
	if (self->exporter < 0)
		SKIP(return, "no /dev/gtu_moving: needs root and tests/guest/programs/moving");
	self->buffer = ioctl(self->exporter, MOVING_CREATE, PAGES);
	ASSERT_LE(0, self->buffer);
	for (w.fd = self->buffer; w.offset < BYTES; w.offset += 8) {
		w.value = PATTERN + w.offset;
		ASSERT_EQ(0, call(self->exporter, MOVING_WORD, &w));
	}
	self->out = pages(BYTES);
	ASSERT_EQ(0, region_add(self->fd, self->out, BYTES, RW, &self->out_key));
	ASSERT_EQ(0, queue_create(self->fd, 4, 4, &self->q));
	ASSERT_EQ(0, import(self->fd, self->buffer, RW, &self->key, &self->length));
	ASSERT_EQ(BYTES, self->length);
}

NO_TEARDOWN(move);

/* Copy the buffer to user memory. Return the job's status. */
static int copy_out(struct queue *q, uint32_t key, uint32_t out_key)
{
	return run_copy(q, key, 0, out_key, 0, BYTES / 8, 3);
}

/* The same, until the memory has been mapped again after a move, for 5 s at most. */
static int copy_out_later(struct queue *q, uint32_t key, uint32_t out_key)
{
	const uint64_t end = now_ns() + 5 * SECOND;
	int status;

	do {
		status = copy_out(q, key, out_key);
		if (status == GTU_CPL_KEY)
			usleep(1000);
	} while (status == GTU_CPL_KEY && now_ns() < end);
	return status;
}

static bool is_pattern(const uint64_t *p)
{
	uint64_t i;

	for (i = 0; i < BYTES / 8; i++)
		if (p[i] != PATTERN + i * 8)
			return false;
	return true;
}

TEST_F(move, follows)
{
	uint32_t i;

	ASSERT_EQ(GTU_CPL_OK, copy_out(&self->q, self->key, self->out_key));
	EXPECT_TRUE(is_pattern(self->out));
	for (i = 0; i < 5; i++) {
		memset(self->out, 0, BYTES);
		ASSERT_EQ(0, move(self->exporter, self->buffer));
		ASSERT_EQ(GTU_CPL_OK, copy_out_later(&self->q, self->key, self->out_key));
		ASSERT_TRUE(is_pattern(self->out));
	}
	/* the device writes to the new place */
	self->out[0] = 42 + i;
	ASSERT_EQ(GTU_CPL_OK, run_copy(&self->q, self->out_key, 0, self->key, 8 * PAGE, 1, 3));
	EXPECT_EQ(42u + i, word(self->exporter, self->buffer, 8 * PAGE));
	ASSERT_EQ(0, region_remove(self->fd, self->key));
	EXPECT_EQ(0, move(self->exporter, self->buffer));
	EXPECT_EQ(GTU_CPL_KEY, copy_out(&self->q, self->key, self->out_key));
}

struct mover {
	int exporter, buffer;
	volatile bool stop;
	unsigned int moves, failed;
};

static void *move_repeatedly(void *arg)
{
	struct mover *m = arg;

	while (!m->stop) {
		m->failed += !!move(m->exporter, m->buffer);
		m->moves++;
		usleep(3000);
	}
	return NULL;
}

TEST_F_TIMEOUT(move, under_jobs, 60)
{
	struct mover m = { .exporter = self->exporter, .buffer = self->buffer };
	const uint64_t end = now_ns() + 3 * SECOND;
	unsigned int ok = 0, refused = 0;
	pthread_t thread;
	int status;

	pthread_create(&thread, NULL, move_repeatedly, &m);
	while (now_ns() < end) {
		memset(self->out, 0, BYTES);
		status = copy_out(&self->q, self->key, self->out_key);
		ASSERT_TRUE(status == GTU_CPL_OK || status == GTU_CPL_KEY);
		if (status == GTU_CPL_OK)
			ASSERT_TRUE(is_pattern(self->out));
		ok += status == GTU_CPL_OK;
		refused += status == GTU_CPL_KEY;
	}
	m.stop = true;
	pthread_join(thread, NULL);
	TH_LOG("%u moves, %u jobs, %u of them during a move", m.moves, ok + refused, refused);
	EXPECT_EQ(0u, m.failed);
	EXPECT_LT(0u, m.moves);
	EXPECT_EQ(GTU_CPL_OK, copy_out_later(&self->q, self->key, self->out_key));
	EXPECT_TRUE(is_pattern(self->out));
}

/* Regions are added and removed, and contexts closed, while the memory moves. */
TEST_F_TIMEOUT(move, beside_the_end, 60)
{
	struct mover m = { .exporter = self->exporter, .buffer = self->buffer };
	const uint64_t end = now_ns() + 3 * SECOND;
	unsigned int rounds = 0;
	pthread_t thread;
	uint64_t length;
	uint32_t key;
	int fd;

	pthread_create(&thread, NULL, move_repeatedly, &m);
	for (; now_ns() < end; rounds++) {
		fd = open(device_path(), O_RDWR | O_CLOEXEC);
		ASSERT_LE(0, fd);
		ASSERT_EQ(0, import(fd, self->buffer, RW, &key, &length));
		if (rounds % 2)
			ASSERT_EQ(0, region_remove(fd, key));
		close(fd);
	}
	m.stop = true;
	pthread_join(thread, NULL);
	TH_LOG("%u rounds, %u moves", rounds, m.moves);
	EXPECT_EQ(0u, m.failed);
	EXPECT_EQ(GTU_CPL_OK, copy_out_later(&self->q, self->key, self->out_key));
}

TEST_HARNESS_MAIN
