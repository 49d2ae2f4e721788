/* SPDX-License-Identifier: MIT */
/* Large arrays: allocation, elements of 4 or 8 bytes, and branch hints for the loops over them. */
#ifndef GTU_ARRAY_H
#define GTU_ARRAY_H

#include <stdint.h>

#define GTU_NO_VERTEX UINT64_MAX	/* above every vertex and id */

#define gtu_likely(x) __builtin_expect(!!(x), 1)
#define gtu_unlikely(x) __builtin_expect(!!(x), 0)

/*
 * Allocate @bytes, aligned for vector loads and, if large, for huge pages: the scatter of a CSR
 * build is bound by TLB misses. Release with free(). NULL on failure.
 */
void *gtu_array_alloc(uint64_t bytes);

/* Replace counts by the sums of those before them; returns the sum of all @n. */
static inline uint64_t gtu_prefix_sum(uint64_t *count, uint64_t n)
{
	uint64_t i, c, sum = 0;

	for (i = 0; i < n; i++) {
		c = count[i];
		count[i] = sum;
		sum += c;
	}
	return sum;
}

/* The value of the longest run of equal values in @value, the first of several. @count > 0. */
static inline uint64_t gtu_longest_run(const uint64_t *value, uint64_t count)
{
	uint64_t i, run = 0, longest = 0, best = 0;

	for (i = 0; i < count; i++) {
		run = i && value[i] == value[i - 1] ? run + 1 : 1;
		if (run > longest) {
			longest = run;
			best = value[i];
		}
	}
	return best;
}

/* Bits of the numbers up to @max. */
static inline uint32_t gtu_bits_for(uint64_t max)
{
	return max ? 64 - (uint32_t)__builtin_clzll(max) : 0;
}

static inline uint64_t gtu_get(const void *array, uint32_t bytes, uint64_t i)
{
	return bytes == 8 ? ((const uint64_t *)array)[i] : ((const uint32_t *)array)[i];
}

static inline void gtu_put(void *array, uint32_t bytes, uint64_t i, uint64_t value)
{
	if (bytes == 8)
		((uint64_t *)array)[i] = value;
	else
		((uint32_t *)array)[i] = (uint32_t)value;
}

#endif
