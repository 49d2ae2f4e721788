// SPDX-License-Identifier: MIT
/* Allocation of large arrays. */
#include <stdlib.h>
#include <sys/mman.h>

#include "array.h"

#define HUGE_PAGE (2u << 20)

void *gtu_array_alloc(uint64_t bytes)
{
	void *p;

	if (bytes > SIZE_MAX / 2)
		return NULL;
	if (posix_memalign(&p, bytes >= 2 * HUGE_PAGE ? HUGE_PAGE : 64, bytes ? bytes : 1))
		return NULL;
	if (bytes >= 2 * HUGE_PAGE)
		madvise(p, bytes, MADV_HUGEPAGE); /* best effort: only affects speed */
	return p;
}
