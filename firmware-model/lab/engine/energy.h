/* SPDX-License-Identifier: MIT */
/*
 * Energy of a run: what was counted, times what each event costs. The costs are published measurements and estimates
 * of similar chips (energy.c has each with its source), none of them known better than to a factor; so every
 * result is a range, over all combinations of the costs' own ranges.
 */
#ifndef GTU_LAB_ENERGY_H
#define GTU_LAB_ENERGY_H

#include "lab.h"

enum lab_event {
	LAB_E_INSTRUCTION,		/* of a thread */
	LAB_E_L1,			/* a line's access of the L1 */
	LAB_E_SHARED,			/* a warp's access of shared memory */
	LAB_E_L2,			/* a sector looked up in L2, its way over the crossbar included */
	LAB_E_DRAM,			/* a sector */
	LAB_E_UNIT,			/* an element through a unit's buffers */
	LAB_E_SECOND,			/* of the whole chip and its memory doing nothing */
	LAB_EVENTS
};

struct lab_energy {
	double count[LAB_EVENTS];
};
struct lab_energy_range {
	double least, likely, most;
};

/* The costs in pJ of an event, in W of LAB_E_SECOND, and where they are from. */
struct lab_energy_cost {
	const char *name, *source;
	struct lab_energy_range cost;
};

/* Those for @m (LAB_EVENTS of them), or NULL: nothing is known of a machine like it. */
const struct lab_energy_cost *lab_energy_costs(const struct lab_machine *m);

/* Add @s, of @m, and @elements that passed through units; @cycles are those that count (without launches, say). */
void lab_energy_add(struct lab_energy *e, const struct lab_machine *m, const struct lab_stats *s, uint64_t cycles,
		    uint64_t elements);
/* Joules. */
struct lab_energy_range lab_energy_joules(const struct lab_energy_cost *cost, const struct lab_energy *e);
/* @a's energy over @b's, under the same costs for both. */
struct lab_energy_range lab_energy_ratio(const struct lab_energy_cost *cost, const struct lab_energy *a,
					 const struct lab_energy *b);

#endif
