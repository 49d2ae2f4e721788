/* SPDX-License-Identifier: MIT */
/*
 * Energy model: event counts times a cost per event. The costs are published measurements and
 * estimates of similar chips (sources in energy.c), accurate only to within a factor. Every
 * result is therefore a range over all combinations of the costs' own ranges.
 */
#ifndef GTU_LAB_ENERGY_H
#define GTU_LAB_ENERGY_H

#include "lab.h"

enum lab_energy_event {
	LAB_E_INSTRUCTION,		/* of one thread */
	LAB_E_L1,			/* L1 access to one line */
	LAB_E_SHARED,			/* shared memory access of one warp */
	LAB_E_L2,			/* L2 lookup of one sector, with its crossbar transfer */
	LAB_E_L2_WRITE,			/* store of an SM at the L2, beside its sectors */
	LAB_E_DRAM,			/* one sector */
	LAB_E_UNIT,			/* one element through a unit's buffers */
	LAB_E_UNIT_L2,			/* L2 lookup of one sector for a unit beside the SMs */
	LAB_E_SECOND,			/* static energy of chip and memory */
	LAB_EVENTS
};

struct lab_energy {
	double count[LAB_EVENTS];
};
struct lab_energy_range {
	double min, likely, max;
};

/* Costs in pJ per event, in W for LAB_E_SECOND, with their sources. */
struct lab_energy_cost {
	const char *name, *source;
	struct lab_energy_range cost;
};

/* The LAB_EVENTS costs for @m, or NULL if no similar chip is known. */
const struct lab_energy_cost *lab_energy_costs(const struct lab_machine *m);

/*
 * Add the counters @s of a run on @m and @elements that passed through units. @cycles is the time
 * to charge (for example without launches).
 */
void lab_energy_add(struct lab_energy *e, const struct lab_machine *m, const struct lab_stats *s, uint64_t cycles,
		    uint64_t elements);
/* As lab_energy_add(), for the counters of a unit beside the SMs alone: its L2 accesses pass no SM. */
void lab_energy_add_unit(struct lab_energy *e, const struct lab_machine *m, const struct lab_stats *s, uint64_t cycles,
			 uint64_t elements);
/* In joules. */
struct lab_energy_range lab_energy_joules(const struct lab_energy_cost *cost, const struct lab_energy *e);
/* @a's energy divided by @b's, under the same costs for both. */
struct lab_energy_range lab_energy_ratio(const struct lab_energy_cost *cost, const struct lab_energy *a,
					 const struct lab_energy *b);

#endif
