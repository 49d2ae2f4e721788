/* SPDX-License-Identifier: MIT */
/*
 * Weaver (sparseweaver.txt, sections III-B to IV-A): the sparse work table, the dense id table and the state
 * machine of figure 6 between them, without the memory that registrations come from and ids go to.
 * Documentation/units-wvr.md is its specification. A device feeds it from a table; in a laboratory a core's
 * warps call it. Nothing here allocates, blocks or knows of regions, rings or jobs.
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
	uint32_t table_latency;		/* cycles of a read of a table */
	uint32_t lanes;			/* threads of a warp, at most WVR_LANES */
	/* a laboratory's: S3 takes a cycle whatever the latency, the next entries having been read meanwhile */
	bool read_ahead;
};

enum wvr_state {
	WVR_S0,				/* registering; no decode since */
	WVR_S1,				/* the first entry is read */
	WVR_S2,				/* lanes are filled from the current entry */
	WVR_S3,				/* the next entry is read */
	WVR_S4,				/* and is the current one */
	WVR_S5,				/* a warp's ids go to the dense id table */
	WVR_S6,				/* waits for a request */
	WVR_S7,				/* no entry is left: what lanes hold goes out */
	WVR_S8,				/* nothing is left */
};

enum wvr_answer {
	WVR_OK,
	WVR_OUTSIDE,			/* no such entry */
	WVR_TWICE,			/* registered before in this round */
};

struct wvr_entry {
	uint64_t vid, start, degree;
};

/* What a request is answered. */
struct wvr_work {
	uint64_t vid[WVR_LANES], eid[WVR_LANES]; /* WVR_NONE in lanes without work */
	uint32_t active;
	uint64_t cycle;			/* of S5, S7 or S8 */
};

struct wvr_counters {
	uint64_t rounds, registered, work, skips, skipped, state[GTU_WVR_STATES];
};

struct wvr_core {
	struct wvr_shape shape;
	uint64_t cycle;			/* the next one */
	uint8_t state;			/* enum wvr_state, between two requests: S0, S6 or S8 */
	struct wvr_counters count;
	struct wvr_entry now;		/* current entry data: what is left of it */
	uint32_t scanned;		/* entries before this one have been read */
	struct wvr_entry *table;	/* [entries] */
	uint64_t *valid;		/* a bit an entry */
	uint64_t (*dense)[WVR_LANES];	/* [warps]: ids of the warp's last request */
};

/* NULL, or why no such unit can be built. */
const char *wvr_shape_check(const struct wvr_shape *shape);
size_t wvr_core_bytes(const struct wvr_shape *shape);
struct wvr_core *wvr_core_init(void *memory, const struct wvr_shape *shape);

/* Cycle 0, nothing registered, no warp has ids. */
void wvr_core_start(struct wvr_core *c);
/* Let the clock go on, in the state it is in: S0 while registrations come, S6 while no request does. */
void wvr_core_pass(struct wvr_core *c, uint64_t cycles);

/*
 * WEAVER_REG of the thread whose entry this is; takes no time of its own. The first after a request begins
 * a round: all entries become invalid.
 */
enum wvr_answer wvr_core_register(struct wvr_core *c, uint32_t entry, uint64_t vid, uint64_t start,
				  uint64_t degree);
/* WEAVER_DEC_ID: serve a request, from its first state to its last. */
void wvr_core_decode(struct wvr_core *c, struct wvr_work *work);
/* The same for warp @warp, whose ids WEAVER_DEC_LOC then finds: all -1 before its first request. */
void wvr_core_dec_id(struct wvr_core *c, uint32_t warp, struct wvr_work *work);
static inline const uint64_t *wvr_core_dec_loc(const struct wvr_core *c, uint32_t warp)
{
	return c->dense[warp];
}
/* WEAVER_SKIP: nothing more of this vertex that no warp holds yet. */
void wvr_core_skip(struct wvr_core *c, uint64_t vid);

#endif
