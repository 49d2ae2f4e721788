/* SPDX-License-Identifier: MIT */
/* The clock of an algorithm's run: seconds per phase, and statistics per iteration. */
#ifndef GTU_PHASES_H
#define GTU_PHASES_H

#include "gtu/gtu.h"

struct gtu_phases {
	struct gtu_algorithm_stats *stats;
	uint64_t started_ns, phase_ns;
	unsigned phase;
	struct gtu_iteration before;	/* totals at the last reported iteration */
	struct gtu_algorithm_stats unused;	/* used if the caller passed none */
};

/* Clear @stats (may be NULL; p->stats is never) and start the clock in phase "setup". */
void gtu_phases_begin(struct gtu_phases *p, struct gtu_algorithm_stats *stats);
/* Switch the clock to phase @name; times of equal names add up. */
void gtu_phase(struct gtu_phases *p, const char *name);
/* Count an iteration over @frontier vertices, and call the iteration callback of @opt. */
void gtu_phases_iteration(struct gtu_phases *p, const struct gtu_algorithm_options *opt, uint64_t frontier);
/* Stop the clock and set stats->seconds. */
void gtu_phases_end(struct gtu_phases *p);

#endif
