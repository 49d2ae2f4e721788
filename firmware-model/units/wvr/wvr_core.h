/* SPDX-License-Identifier: MIT */
/*
 * Weaver (SparseWeaver, sections III-B to IV-A): the sparse work table, the dense id table and the
 * state machine of figure 6, independent of the memory that registrations come from and ids go to.
 * The specification is Documentation/units-weaver.md. A device reads registrations from a table; in a
 * laboratory a core's warps call it. The core does not allocate or block, and does not depend on
 * regions, rings or jobs.
 */
#ifndef GTU_WVR_CORE_H
#define GTU_WVR_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "uapi/gtu/hw.h"

#define WVR_LANES	GTU_WARP
#define WVR_ENTRIES_MAX	65536u
#define WVR_WARPS_MAX	1024u
#define WVR_NONE	UINT64_MAX	/* a lane without work: -1 */

struct wvr_shape {
	uint32_t entries;		/* of the sparse work table */
	uint32_t warps;			/* of the dense id table */
	uint32_t table_latency;		/* cycles of a table read */
	uint32_t lanes;			/* threads of a warp, at most WVR_LANES */
	/*
	 * laboratory only: S3 takes one cycle at any latency, because the next entries were read
	 * ahead
	 */
	bool read_ahead;
	/* laboratory only: a skip ends the current entry only, whose vertex it is compared with in a cycle */
	bool skips_current;
};

enum wvr_state {
	WVR_S0,				/* registering; no decode since */
	WVR_S1,				/* reads the first entry */
	WVR_S2,				/* fills lanes from the current entry */
	WVR_S3,				/* reads the next entry */
	WVR_S4,				/* makes it the current entry */
	WVR_S5,				/* writes a warp's ids to the dense id table */
	WVR_S6,				/* waits for a request */
	WVR_S7,				/* no entry is left: outputs the filled lanes */
	WVR_S8,				/* no work is left */
};

enum wvr_answer {
	WVR_OK,
	WVR_OUTSIDE,			/* no such entry */
	WVR_TWICE,			/* already registered in this round */
};

struct wvr_entry {
	uint64_t vid, start, degree;
};

/* The answer to a request. */
struct wvr_work {
	uint64_t vid[WVR_LANES], eid[WVR_LANES]; /* WVR_NONE in lanes without work */
	uint32_t active;
	uint64_t cycle;			/* of S5, S7 or S8 */
};

/* The unit's counters, in the order of GTU_WVR_COUNTER_ROWS; the caller keeps jobs, cycles, records and partial. */
struct wvr_counters {
	uint64_t jobs, cycles, rounds, registered, work, records, partial, skips, skipped, state[GTU_WVR_STATES];
};
_Static_assert(sizeof(struct wvr_counters) == GTU_WVR_COUNTERS * sizeof(uint64_t), "a field per counter");

struct wvr_core {
	struct wvr_shape shape;
	uint64_t cycle;			/* the next cycle */
	uint8_t state;			/* enum wvr_state between two requests: S0, S6 or S8 */
	struct wvr_counters count;
	struct wvr_entry now;		/* what remains of the current entry */
	uint32_t scanned;		/* entries below this one have been read */
	struct wvr_entry *table;	/* [entries] */
	uint64_t *valid;		/* bit mask of entries */
	uint64_t (*dense)[WVR_LANES];	/* [warps]: edge ids of the warp's last request */
};

/* NULL, or why a unit of this shape cannot be built. */
const char *wvr_shape_check(const struct wvr_shape *shape);
size_t wvr_core_bytes(const struct wvr_shape *shape);
struct wvr_core *wvr_core_init(void *memory, const struct wvr_shape *shape);

/* Reset to cycle 0, with nothing registered and no ids in the dense id table. */
void wvr_core_start(struct wvr_core *c);
/*
 * Advance the clock in the current state: S0 during registration, S6 while no request is pending.
 */
void wvr_core_pass(struct wvr_core *c, uint64_t cycles);

/*
 * WEAVER_REG of the thread that owns this entry; takes no cycles itself. The first one after a
 * request starts a round: all entries become invalid.
 */
enum wvr_answer wvr_core_register(struct wvr_core *c, uint32_t entry, uint64_t vid, uint64_t start,
				  uint64_t degree);
/* WEAVER_DEC_ID: serve a request, from its first to its last state. */
void wvr_core_decode(struct wvr_core *c, struct wvr_work *work);
/*
 * The same for warp @warp, whose ids WEAVER_DEC_LOC then returns: all -1 before its first request.
 */
void wvr_core_dec_id(struct wvr_core *c, uint32_t warp, struct wvr_work *work);
static inline const uint64_t *wvr_core_dec_loc(const struct wvr_core *c, uint32_t warp)
{
	return c->dense[warp];
}
/* WEAVER_SKIP: drop the remaining work of this vertex that no warp holds yet. */
void wvr_core_skip(struct wvr_core *c, uint64_t vid);

#endif
