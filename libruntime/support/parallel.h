/* SPDX-License-Identifier: MIT */
#ifndef GTU_PARALLEL_H
#define GTU_PARALLEL_H

#include <stdint.h>

#define GTU_SHARE_LOG2	20		/* log2 of the elements that a CPU takes at a time */
#define GTU_THREADS_MOST 64		/* that work on one call, the caller among them */

/*
 * fn(arg, first, end) over the shares of [0, count), by as many CPUs as there are; each share but the last is
 * 2^GTU_SHARE_LOG2 long. The first answer that is not 0 ends it and is returned.
 */
int gtu_parallel(int (*fn)(void *arg, uint64_t first, uint64_t end), void *arg, uint64_t count);
/* The same with shares of @share (above 0). */
int gtu_parallel_by(uint64_t share, int (*fn)(void *arg, uint64_t first, uint64_t end), void *arg, uint64_t count);

#endif
