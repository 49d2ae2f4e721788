// SPDX-License-Identifier: MIT
/*
 * Tests races in which one thread predicts another's action: a key is removed before its owner
 * receives it, and another process resets the function during a call.
 *
 * A kernel with KASAN is needed to detect memory errors.
 */
#include "gtu_trust.h"

#define PAGES	512u

DEVICE_FIXTURE(race);

static volatile bool stop;

struct guesser {
	int fd;
	uint32_t slots;
	unsigned int hits;
};

/* Remove each new key as soon as it exists: slots and generations are allocated in sequence. */
static void *guess(void *arg)
{
	struct guesser *g = arg;
	uint32_t generation[1024] = { 0 }, slot = 0;

	while (!stop) {
		if (region_remove(g->fd, (generation[slot] + 1) << 16 | slot))
			continue;
		generation[slot]++;
		slot = (slot + 1) % g->slots;
		g->hits++;
	}
	return NULL;
}

/* REGION_ADD returns a valid key, even if the key was removed before the call returned. */
TEST_F_TIMEOUT(race, guessed_key, 60)
{
	struct gtu_ioctl_info info = { .size = sizeof(info) };
	struct guesser g = { .fd = self->fd };
	uint8_t *memory = pages(PAGES * 4096);
	uint32_t key, n;
	uint64_t end = now_ns() + setting("GTU_SECONDS", 5) * SECOND;
	pthread_t thread;
	int ret;

	ASSERT_EQ(0, call(self->fd, GTU_IOCTL_INFO, &info));
	ASSERT_GE(10u, info.max_regions_log2);
	g.slots = 1u << info.max_regions_log2;
	pthread_create(&thread, NULL, guess, &g);
	for (n = 0; n < 20000 && now_ns() < end; n++) {
		ret = region_add(self->fd, memory + n % PAGES * 4096, 4096, RW, &key);
		ASSERT_TRUE(!ret || ret == ENOSPC);
		if (!ret) {
			EXPECT_GT(g.slots, key & 0xffff);
			EXPECT_LT(0u, key >> 16);
		}
	}
	stop = true;
	pthread_join(thread, NULL);
	TH_LOG("%u regions, %u of them removed by guessed keys", n, g.hits);
	EXPECT_LT(0u, g.hits);
}

/* Allocate aperture memory repeatedly; the driver's zeroing takes as long as a reset. */
static void *take_aperture(void *arg)
{
	struct gtu_ioctl_buffer_alloc a;
	unsigned int *n = arg;
	int fd;

	while (!stop) {
		fd = open(device_path(), O_RDWR | O_CLOEXEC);
		a = (struct gtu_ioctl_buffer_alloc){ .size = sizeof(a), .length = 64 * 4096,
						     .flags = GTU_BUFFER_APERTURE, .rights = RW };
		while (fd >= 0 && !stop) {
			++*n;
			if (call(fd, GTU_IOCTL_BUFFER_ALLOC, &a))
				break;
			region_remove(fd, a.key);
		}
		if (fd >= 0)
			close(fd);
	}
	return NULL;
}

/*
 * During a reset all registers read as ones; a call at that time must not declare the device
 * removed.
 */
TEST_F_TIMEOUT(race, reset_in_a_call, 120)
{
	struct gtu_ioctl_buffer_alloc a = { .size = sizeof(a), .flags = GTU_BUFFER_APERTURE,
					    .length = 4096, .rights = RW };
	char path[128];
	unsigned int n = 0, i;
	pthread_t thread;
	int fd = -1, ret;

	NEEDS_ROOT;
	if (call(self->fd, GTU_IOCTL_BUFFER_ALLOC, &a))
		SKIP(return, "the device has no aperture");
	NEEDS_RESET(path);
	stop = false;
	pthread_create(&thread, NULL, take_aperture, &n);
	for (i = 0; i < 10; i++) {
		usleep(100000 + i * 7000);
		ASSERT_EQ(0, write_to(path, "1"));
		fd = open(device_path(), O_RDWR | O_CLOEXEC);
		ret = fd < 0 ? errno : call(fd, GTU_IOCTL_BUFFER_ALLOC, &a);
		EXPECT_EQ(0, ret) {
			TH_LOG("reset %u: %s", i, strerror(ret));
		}
		close(fd);
		if (ret)
			break;
	}
	stop = true;
	pthread_join(thread, NULL);
	TH_LOG("%u calls during %u resets", n, i);
	EXPECT_LT(0u, n);
}

TEST_HARNESS_MAIN
