/* SPDX-License-Identifier: MIT */
/* Parallel loops over shares of a range. */
#ifndef GTU_PARALLEL_H
#define GTU_PARALLEL_H

#include <stdint.h>

#define GTU_SHARE_LOG2	20		/* log2 of the elements per share */
#define GTU_THREADS_MAX 64		/* maximum threads per call, including the caller */

/*
 * Call fn(arg, first, end) for each share of [0, count) on all CPUs. Each share except the last has
 * 2^GTU_SHARE_LOG2 elements. The first non-zero return stops the loop and is returned.
 */
int gtu_parallel(int (*fn)(void *arg, uint64_t first, uint64_t end), void *arg, uint64_t count);
/* The same with shares of @share elements (above 0). */
int gtu_parallel_by(uint64_t share, int (*fn)(void *arg, uint64_t first, uint64_t end), void *arg, uint64_t count);

#endif
