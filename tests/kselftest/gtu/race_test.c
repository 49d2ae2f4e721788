// SPDX-License-Identifier: MIT
/*
 * Tests races in which one thread predicts another's action: a key is removed before its owner
 * receives it, and another process resets the function during a call. Tests that long calls of one
 * thread do not delay those of another.
 *
 * A kernel with KASAN is needed to detect memory errors. GTU_SECONDS: of the first of these [5];
 * GTU_ROUNDS: of calls beside page lists [6].
 */
#include <sched.h>
#include <sys/resource.h>

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
TEST_F_TIMEOUT(race, region_add_returns_a_valid_key_despite_its_removal, 60)
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
TEST_F_TIMEOUT(race, a_call_during_reset_does_not_kill_the_device, 120)
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

#define PIECE		(4u << 20)
#define PIECES		256u
#define FEW_PIECES	4u	/* behind an IOMMU, which maps each page: an emulated one takes a minute for all */

struct caller {
	int fd;
	unsigned int calls;
	long sleeps;			/* in its calls */
};

/* Call an ioctl that takes the context's lock and returns at once: it sleeps only for the lock. */
static void *call_repeatedly(void *arg)
{
	struct caller *c = arg;
	struct rusage r;

	while (!stop) {
		region_remove(c->fd, 0);
		getrusage(RUSAGE_THREAD, &r);
		__atomic_store_n(&c->sleeps, r.ru_nvcsw, __ATOMIC_RELAXED);
		__atomic_add_fetch(&c->calls, 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

static unsigned int calls_of(const struct caller *c)
{
	return __atomic_load_n(&c->calls, __ATOMIC_ACQUIRE);
}

/* The caller's sleeps so far, also in the call that it makes now, which may be waiting for the lock. */
static long sleeps_of(const struct caller *c)
{
	const unsigned int calls = calls_of(c);

	while (calls_of(c) == calls)
		sched_yield();
	return __atomic_load_n(&c->sleeps, __ATOMIC_RELAXED);
}

/*
 * The page list of a region of 1 GiB of scattered pages is built without the context's lock. Both
 * threads are on one CPU: when the scheduler switches to the caller while the other thread holds the
 * lock, the caller must sleep.
 */
TEST_F_TIMEOUT(race, page_lists_delay_no_call, 120)
{
	const unsigned int rounds = (unsigned int)setting("GTU_ROUNDS", 6);
	struct caller c = { .fd = self->fd };
	char function[64];
	uint64_t pieces;
	int file = memfd_create("gtu", 0);
	unsigned int calls, during = 0;
	long before, slept = 0;
	uint32_t key, i, at;
	pthread_t thread;
	cpu_set_t one;
	uint8_t *p;

	NEEDS_ROOT;
	if (sizeof(void *) < 8)
		SKIP(return, "needs a 64-bit address space");
	if (!access("/sys/kernel/debug/dma-api", F_OK))
		SKIP(return, "needs a kernel without DMA-API debugging, which warns if a page is "
			     "mapped more than 7 times");
	CPU_ZERO(&one);
	CPU_SET(0, &one);
	ASSERT_EQ(0, sched_setaffinity(0, sizeof(one), &one));
	pieces = !bus_function(device_path(), function) && is_translated(function) ? FEW_PIECES : PIECES;
	ASSERT_EQ(0, ftruncate(file, PIECE));
	p = mmap(NULL, (size_t)(PIECE * pieces), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	ASSERT_NE(MAP_FAILED, (void *)p);
	for (i = 0; i < pieces; i++)
		ASSERT_NE(MAP_FAILED, mmap(p + (size_t)i * PIECE, PIECE, PROT_READ | PROT_WRITE,
					   MAP_SHARED | MAP_FIXED, file, 0));
	/* the kernel allocates pages in the order of their first use */
	for (i = 0, at = 0; i < PIECE / PAGE; i++, at = (at + 333) % (PIECE / PAGE))
		p[(size_t)at * PAGE] = 1;
	stop = false;
	pthread_create(&thread, NULL, call_repeatedly, &c);
	for (i = 0; i < rounds; i++) {
		before = sleeps_of(&c);
		calls = calls_of(&c);
		ASSERT_EQ(0, region_add(self->fd, p, PIECE * pieces, RW, &key));
		during += calls_of(&c) - calls;
		slept += sleeps_of(&c) - before;
		/* not counted: this waits for the device under the lock */
		ASSERT_EQ(0, region_remove(self->fd, key));
	}
	stop = true;
	pthread_join(thread, NULL);
	TH_LOG("%u calls during the additions, %ld sleeps", during, slept);
	/* publishing takes the lock, for less than a microsecond */
	EXPECT_GE(1, slept);
	if (!during && !slept && pieces == FEW_PIECES)
		SKIP(return, "the scheduler did not switch to the caller during the short additions behind an IOMMU");
	EXPECT_LT(0u, during);
	munmap(p, (size_t)(PIECE * pieces));
	close(file);
}

TEST_HARNESS_MAIN
