/* SPDX-License-Identifier: MIT */
/* Shared by the files that implement GraphPEG as a unit of the device. */
#ifndef GTU_PEG_H
#define GTU_PEG_H

#include "firmware-model/device/device.h"
#include "peg_core.h"
#include "firmware-model/device/stream.h"

/* State of one stream, without the engines'; the unit runs one job at a time. */
struct peg_unit {
	struct peg_core *core;
	struct gtu_job *job;
	bool blocked, flushing;
	uint8_t status;			/* enum peg_status of the core's last run */
	uint64_t left[GTU_PEG_ENGINES_MAX];
	uint32_t received[GTU_PEG_ENGINES_MAX];
	uint32_t ended, closed;		/* bit masks of engines */

	/* off-chip lists: lines of SPILL, by number + 1; 0: none */
	uint32_t fresh;			/* lines used so far; those beyond were never used */
	uint32_t empty;			/* list of freed lines */
	uint32_t tail[GTU_PEG_ENGINES_MAX]; /* last line of a list */
	uint32_t in_tail[GTU_PEG_ENGINES_MAX]; /* vertices in it */
	bool lost;			/* SPILL was too small: further vertices are only counted */

	/* writing the output list */
	unsigned flush_engine;
	uint32_t flush_at, flush_line;	/* next on-chip vertex; off-chip line, from the last backwards */
	uint64_t flush_base, flush_left; /* start of the engine's part; off-chip vertices left */
	uint64_t flush_cycles;
};

/* ---- peg_lists.c ---- */

/* The core's port for off-chip list entries. */
bool peg_spill(void *ctx, unsigned n, const uint64_t *vertex, unsigned count);
bool peg_unspill(void *ctx, unsigned n, uint64_t *vertex, unsigned count);
/* Take pushed vertices from the return rings. */
bool peg_take_pushes(struct gtu_job *job, struct peg_unit *u, struct gtu_stream *s);
/* Write the output list until cycle @until: true if it is complete or an error occurred. */
bool peg_flush(struct gtu_job *job, struct peg_unit *u, uint64_t until);

/* ---- peg_rings.c ---- */

/* Exchange all pending data between the core and its consumers. */
bool peg_pump(struct gtu_job *job, struct gtu_stream *s);

#endif
