/* SPDX-License-Identifier: MIT */
/* Interface between the files that implement the stages of the IRU's schedule. */
#ifndef GTU_IRU_STEPS_H
#define GTU_IRU_STEPS_H

#include "iru_core.h"
#include "iru_kernel.h"

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

#define IRU_SLOTS 16u			/* cycles of ring schedule kept; more than the ring's hops */

/* ---- iru_reply.c ---- */

/* Phase 1: serve requests. True if a record was output. */
bool iru_reply(struct iru_core *c, const struct iru_kernel *k, uint64_t cycle);
/* True if the last record is out. */
bool iru_finished(const struct iru_core *c);
/* Number a record; call in the order of the records' cycles. */
void iru_number(struct iru_core *c, struct iru_record *r, uint64_t cycle, unsigned reason);
/* Output @count lanes in @cycle; 0: a disabled record. */
void iru_output(struct iru_core *c, const struct iru_kernel *k, uint64_t cycle, unsigned reason,
		 const uint64_t *pair, const uint32_t *secondary, unsigned count);

/* ---- iru_fetch.c ---- */

#define IRU_SERVE_FAILED	-1	/* *why holds the status */
#define IRU_SERVE_UNSURE	-2

/*
 * Phases 4 and 5 of partition @p: 1 if something was done, else 0. With @ahead, the queues are in
 * the state of some cycles before; if it is then unknown whether a line finds space, nothing is
 * done and the result is IRU_SERVE_UNSURE.
 */
int iru_serve(struct iru_core *c, const struct iru_kernel *k, unsigned p, uint64_t cycle, bool ahead,
	      enum iru_status *why);
/* Set fetch_next to the minimum of the partitions' `service`. */
void iru_fetch_next(struct iru_core *c);
/*
 * No progress is possible in @cycle, which will run again: lines that found no space must be
 * checked again in that same cycle.
 */
void iru_check_again(struct iru_core *c, uint64_t cycle);
/*
 * Nothing moved in @cycle and the ring is empty: the next cycle in which time alone allows
 * progress, or IRU_NEVER. A line that is available but finds no space needs more than time.
 */
uint64_t iru_next_event(const struct iru_core *c, uint64_t cycle);
/* The first line from @line on that partition @p fetches. */
uint64_t iru_own_line(const struct iru_core *c, unsigned p, uint64_t line);
/* Move the contents of queue @q to the start of its slots. */
void iru_fifo_move(struct iru_core *c, unsigned q);

/* Ensure space for @n more elements after the tail; the queue's depth permits them. */
static inline void iru_fifo_reserve(struct iru_core *c, unsigned q, unsigned n)
{
	if (unlikely(c->fifo_tail[q] + n + IRU_SPARE > c->slots))
		iru_fifo_move(c, q);
}

/* ---- iru_core.c ---- */

/* Apply the operation to the element at index @at of the sets and a new element. */
void iru_merge(struct iru_core *c, size_t at, uint64_t pair, uint32_t secondary);

static inline void iru_set_filled(struct iru_core *c, unsigned b, unsigned set)
{
	c->full_set[b * c->sets_bank + (c->full_tail[b]++ & (c->sets_bank - 1))] = (uint16_t)set;
	c->full_some |= 1ull << b;
}

/* ---- iru_ahead.c ---- */

bool iru_can_run_ahead(void);

/*
 * Run phases 2 and 3 of the cycles from @cycle to the returned one, and phases 1, 4 and 5 of all
 * but the first and last, at once. Only for the published build, in spans where no stage can be
 * refused. The caller has run phase 1 of @cycle and runs phases 4 and 5 of the returned cycle.
 * Returns IRU_NEVER, with nothing done, without AVX-512 or if the outcome is not known in advance.
 */
uint64_t iru_run_ahead(struct iru_core *c, const struct iru_kernel *k, uint64_t cycle, uint64_t until);

#endif
