/* SPDX-License-Identifier: MIT */
/*
 * How long the device works before its door looks at who waits: steps of about 50 us of wall time, as many
 * cycles as that takes here.
 */
#ifndef GTU_PACE_H
#define GTU_PACE_H

#include <stdint.h>

#define PACE_QUANTUM_NS		50000u
#define PACE_BUDGET_FIRST	1024u
#define PACE_BUDGET_LEAST	64u
#define PACE_BUDGET_MOST	(1u << 22)
/* Where all work waits for its users, the device is told of the time that passed this often. */
#define PACE_IDLE_MS		10

/* The budget in cycles after a step of @budget cycles that took @took_ns. */
static inline uint64_t pace_next(uint64_t budget, uint64_t took_ns)
{
	if (took_ns < PACE_QUANTUM_NS / 2 && budget < PACE_BUDGET_MOST)
		return budget * 2;
	if (took_ns > PACE_QUANTUM_NS * 2 && budget > PACE_BUDGET_LEAST)
		return budget / 2;
	return budget;
}

#endif
