// SPDX-License-Identifier: MIT
/* Coverage of the driver: KCOV's addresses, and pairs of consecutive addresses. */
#include <errno.h>
#include <fcntl.h>
#include <linux/kcov.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz_ioctl.h"

#define COVER_WORDS	(32u << 10)	/* of a program's trace; further addresses are lost */
#define PAIRS_LOG2	20u
#define PLACES_LOG2	16u
#define KEEP_FREE	4u		/* one entry of the table in KEEP_FREE stays free */

static struct reached {
	uint8_t pair[1u << PAIRS_LOG2];
	uint64_t place[1u << PLACES_LOG2];
	unsigned places;
} *reached;
static unsigned long *cover;
static int kcov = -1;

bool fuzz_cover_share(void)
{
	reached = mmap(NULL, sizeof(*reached), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return reached != MAP_FAILED;
}

bool fuzz_cover_open(void)
{
	kcov = open("/sys/kernel/debug/kcov", O_RDWR | O_CLOEXEC);
	if (kcov < 0 || ioctl(kcov, KCOV_INIT_TRACE, COVER_WORDS))
		return false;
	cover = mmap(NULL, COVER_WORDS * sizeof(*cover), PROT_READ | PROT_WRITE, MAP_SHARED, kcov, 0);
	if (cover == MAP_FAILED)
		cover = NULL;
	/* otherwise each fork would copy its page table entries */
	return cover && !madvise(cover, COVER_WORDS * sizeof(*cover), MADV_DONTFORK);
}

void fuzz_cover_begin(void)
{
	if (cover)
		__atomic_store_n(&cover[0], 0, __ATOMIC_RELAXED);
}

void fuzz_cover_on(void)
{
	if (kcov < 0)
		return;
	ioctl(kcov, KCOV_ENABLE, KCOV_TRACE_PC);
	/* programs guess file descriptors: close this one */
	close(kcov);
	kcov = -1;
}

static bool new_place(uint64_t at)
{
	unsigned i = (unsigned)(at * 0x9e3779b97f4a7c15u >> (64 - PLACES_LOG2));
	uint64_t there;

	for (;; i = (i + 1) % (1u << PLACES_LOG2)) {
		there = __atomic_load_n(&reached->place[i], __ATOMIC_RELAXED);
		if (there == at || reached->places > (1u << PLACES_LOG2) / KEEP_FREE * (KEEP_FREE - 1))
			return false;
		if (!there && __atomic_compare_exchange_n(&reached->place[i], &there, at, false, __ATOMIC_RELAXED,
							  __ATOMIC_RELAXED))
			break;
		if (there == at)
			return false;
	}
	__atomic_fetch_add(&reached->places, 1, __ATOMIC_RELAXED);
	return true;
}

unsigned fuzz_cover_new(void)
{
	unsigned long n = cover ? __atomic_load_n(&cover[0], __ATOMIC_RELAXED) : 0, i, before = 0;
	unsigned found = 0;

	for (i = 1; i <= n && i < COVER_WORDS; i++) {
		uint64_t h = (cover[i] ^ before) * 0x9e3779b97f4a7c15u >> (64 - PAIRS_LOG2);

		before = cover[i] << 1;
		/* a new address is in a new pair, apart from hash collisions */
		if (reached->pair[h])
			continue;
		reached->pair[h] = 1;
		new_place(cover[i]);
		found++;
	}
	return found;
}

unsigned fuzz_cover_pairs(void)
{
	unsigned n = 0, i;

	for (i = 0; i < sizeof(reached->pair); i++)
		n += reached->pair[i];
	return n;
}

unsigned fuzz_cover_places(void)
{
	return reached->places;
}

static int by_address(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

bool fuzz_cover_write(const char *file, const char *name)
{
	char path[128];
	unsigned long base = 0;
	unsigned i;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/module/%s/sections/.text", name);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%lx", &base) != 1) {
		fprintf(stderr, "fuzz_ioctl: %s: where the module is cannot be read: %s\n", path, strerror(errno));
		if (f)
			fclose(f);
		return false;
	}
	fclose(f);
	f = fopen(file, "w");
	if (!f) {
		fprintf(stderr, "fuzz_ioctl: %s: %s\n", file, strerror(errno));
		return false;
	}
	qsort(reached->place, 1u << PLACES_LOG2, sizeof(*reached->place), by_address);
	for (i = 0; i < 1u << PLACES_LOG2; i++)
		if (reached->place[i] >= base)
			fprintf(f, "%lx\n", (unsigned long)reached->place[i] - base);
	return !fclose(f);
}
