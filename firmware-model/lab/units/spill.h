/* SPDX-License-Identifier: MIT */
/* Lists of vertices that PEG and the hardware worklists spill to memory: values, and the part sent. */
#ifndef GTU_LAB_SPILL_H
#define GTU_LAB_SPILL_H

#include <stdlib.h>

#include "firmware-model/lab/engine/internal.h"

#define LINE_WORDS	(LAB_LINE / 4)
#define NO_WAITER	UINT64_MAX	/* tag of accesses without a waiter */

struct spill_list {
	uint32_t *at;
	uint64_t count, capacity, sent;	/* sent: how many are in memory already */
};

/* Make space for @more values. False: out of memory. */
static inline bool spill_reserve(struct spill_list *p, uint64_t more)
{
	uint64_t capacity = 2 * p->capacity + more + 1024;
	uint32_t *bigger;

	if (p->count + more <= p->capacity)
		return true;
	bigger = realloc(p->at, 4 * capacity);
	if (!bigger)
		return false;
	p->at = bigger;
	p->capacity = capacity;
	return true;
}

/* Words of the next line to send, from p->sent on; with @all, also of a partial line. 0: none. */
static inline uint64_t spill_next(const struct spill_list *p, bool all)
{
	uint64_t words = LINE_WORDS - p->sent % LINE_WORDS, left = p->count - p->sent;

	return left >= LINE_WORDS || all ? (words < left ? words : left) : 0;
}

/* A push or pop by a warp accesses shared memory without conflicts. */
static inline void shared_access(struct lab_warp *w, uint32_t cycles)
{
	w->lab->stats.shared_accesses++;
	w->extra += cycles;
}

#endif
