/* SPDX-License-Identifier: MIT */
/*
 * The step budget of a device in software: a step of as many cycles as fit into about 50 us, after
 * which its transport polls for requests.
 */
#ifndef GTU_PACE_H
#define GTU_PACE_H

#include <stdint.h>

#define STEP_QUANTUM_NS		50000u
#define STEP_BUDGET_FIRST	1024u
#define STEP_BUDGET_MIN	64u
#define STEP_BUDGET_MAX	(1u << 22)
/*
 * Interval at which the idle time is reported to a device all of whose work waits for its users,
 * ms.
 */
#define STEP_IDLE_MS		10

/* The next budget after a step of @budget cycles that took @took_ns. */
static inline uint64_t step_budget_next(uint64_t budget, uint64_t took_ns)
{
	if (took_ns < STEP_QUANTUM_NS / 2 && budget < STEP_BUDGET_MAX)
		return budget * 2;
	if (took_ns > STEP_QUANTUM_NS * 2 && budget > STEP_BUDGET_MIN)
		return budget / 2;
	return budget;
}

#endif
