/* SPDX-License-Identifier: MIT */
/* GraphPEG as a unit of the device: what its files share. */
#ifndef GTU_PEG_H
#define GTU_PEG_H

#include "firmware-model/device/device.h"
#include "peg_core.h"
#include "firmware-model/device/stream.h"

/* One stream, beside the engines' state: the unit is one job's at a time. */
struct peg_unit {
	struct peg_core *core;
	struct gtu_job *job;		/* set anew each step */
	bool begun, waits, done, blocked, flushing;
	uint8_t status;			/* enum peg_status of the core's last run */
	uint32_t return_size;		/* vertices a return ring holds */
	uint64_t stride, return_at;	/* bytes from ring to ring; of the return ring in one */
	uint64_t deliver;		/* records in the rings, of all engines */
	uint64_t left[GTU_PEG_ENGINES_MAX];
	uint32_t received[GTU_PEG_ENGINES_MAX];
	uint32_t ended, closed;		/* a bit an engine */
	uint32_t moved;			/* times that the consumers can see */

	/* off chip: lines of SPILL, numbers + 1; 0: none */
	uint32_t fresh;			/* lines never used begin here */
	uint32_t empty;			/* lines given back */
	uint32_t tail[GTU_PEG_ENGINES_MAX]; /* last line of a list */
	uint32_t in_tail[GTU_PEG_ENGINES_MAX]; /* vertices in it */
	bool lost;			/* SPILL was too small: what is missing is counted only */

	/* writing the output list */
	unsigned flush_engine;
	uint32_t flush_at, flush_line;	/* on chip: next; off chip: line, from the last one backwards */
	uint64_t flush_base, flush_left; /* where the engine's part begins; vertices off chip to go */
	uint64_t flush_cycles;

	struct {
		uint64_t cycles;
		struct peg_counters core;
	} told;				/* to the unit's counters */
};

static inline struct peg_unit *peg_unit_of(const struct gtu_job *job)
{
	return gtu_job_unit_state(job);
}

/* ---- peg_lists.c ---- */

/* The core's port, off chip. */
bool peg_spill(void *ctx, unsigned n, const uint64_t *vertex, unsigned count);
bool peg_unspill(void *ctx, unsigned n, uint64_t *vertex, unsigned count);
/* Take what was pushed: 1 when there was something, 0 when not, -1 on an error. */
int peg_take_pushes(struct gtu_job *job, struct peg_unit *u);
/* Go on writing the output list for about @budget cycles: true when it is written, or an error was met. */
bool peg_flush(struct gtu_job *job, struct peg_unit *u, uint64_t budget);

/* ---- peg_rings.c ---- */

/* All that goes between the core and its consumers: 1 when something did, -1 on an error. */
int peg_pump(struct gtu_job *job, struct peg_unit *u);
/* Say in all rings whether the unit waits for its consumers. */
bool peg_tell_all(struct gtu_job *job, struct peg_unit *u, bool waiting);

#endif
