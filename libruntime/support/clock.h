/* SPDX-License-Identifier: MIT */
/* The monotonic clock. */
#ifndef GTU_CLOCK_H
#define GTU_CLOCK_H

#include <stdint.h>
#include <time.h>

/* CLOCK_MONOTONIC in nanoseconds. */
static inline uint64_t gtu_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline double gtu_now_s(void)
{
	return 1e-9 * (double)gtu_now_ns();
}

#endif
