/* SPDX-License-Identifier: MIT */
/* The steps of a cycle of the IRU's schedule, for the files that make it up. */
#ifndef GTU_IRU_STEPS_H
#define GTU_IRU_STEPS_H

#include "iru_core.h"
#include "iru_kernel.h"

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

#define IRU_SLOTS 16u			/* cycles ahead that the ring is planned for; more than its hops */

/* ---- iru_reply.c ---- */

/* Phase 1: requests are served. True when a record was put out. */
bool iru_reply(struct iru_core *c, const struct iru_kernel *k, uint64_t cycle);
/* Whether the last record is out. */
bool iru_finished(const struct iru_core *c);
/* Give a record, made in the order of their cycles, its number. */
void iru_number(struct iru_core *c, struct iru_record *r, uint64_t cycle, unsigned reason);
/* Put @count lanes out in @cycle; 0: a disabled record. */
void iru_put_out(struct iru_core *c, const struct iru_kernel *k, uint64_t cycle, unsigned reason,
		 const uint64_t *pair, const uint32_t *secondary, unsigned count);

/* ---- iru_fetch.c ---- */

#define IRU_SERVE_FAILED	-1	/* *why says how */
#define IRU_SERVE_UNSURE	-2

/*
 * Phases 4 and 5 of partition @p: 1 when something was done, 0 when nothing was. With @ahead, the
 * queues are as they were some cycles before: where that leaves open whether a line finds room,
 * nothing is done and the answer is IRU_SERVE_UNSURE.
 */
int iru_serve(struct iru_core *c, const struct iru_kernel *k, unsigned p, uint64_t cycle, bool ahead,
	      enum iru_status *why);
/* Bring fetch_next up to the partitions' service. */
void iru_fetch_next(struct iru_core *c);
/*
 * Nothing can move in @cycle, which will be run again: what finds no room now is then to be looked at
 * in that same cycle.
 */
void iru_look_again(struct iru_core *c, uint64_t cycle);
/*
 * Nothing moved in @cycle and nothing is on the ring: the next cycle in which time alone makes
 * something possible, or IRU_NEVER. A line that is there but finds no room needs more than time.
 */
uint64_t iru_next_event(const struct iru_core *c, uint64_t cycle);
/* The line at or behind @line that partition @p fetches. */
uint64_t iru_own_line(const struct iru_core *c, unsigned p, uint64_t line);
/* Move what queue @q holds to the beginning of its places. */
void iru_fifo_move(struct iru_core *c, unsigned q);

/* Make room behind the tail for @n more, which the queue's depth allows. */
static inline void iru_fifo_room(struct iru_core *c, unsigned q, unsigned n)
{
	if (unlikely(c->fifo_tail[q] + n + IRU_SPARE > c->places))
		iru_fifo_move(c, q);
}

/* ---- iru_core.c ---- */

/* The operation's effect of a newcomer on the element in place @at of the sets. */
void iru_merge(struct iru_core *c, size_t at, uint64_t pair, uint32_t secondary);

static inline void iru_set_filled(struct iru_core *c, unsigned b, unsigned set)
{
	c->full_set[b * c->sets_bank + (c->full_tail[b]++ & (c->sets_bank - 1))] = (uint16_t)set;
	c->full_some |= 1ull << b;
}

/* ---- iru_ahead.c ---- */

bool iru_can_run_ahead(void);

/*
 * Phases 2 and 3 of the cycles from @cycle to the one returned, and all that the earlier ones' phases
 * 1, 4 and 5 hold, at once: for the published build, where nothing needs to be looked at cycle by
 * cycle. Phase 1 of @cycle is done; 4 and 5 of the cycle returned remain. Without AVX-512, or where
 * that cannot be known beforehand, nothing is done, and the result is IRU_NEVER.
 */
uint64_t iru_run_ahead(struct iru_core *c, const struct iru_kernel *k, uint64_t cycle, uint64_t until);

#endif
