/* SPDX-License-Identifier: MIT */
/*
 * ZCM, the zero-copy monitor (EMOGI, section 3): counts the requests on a link, independent of the
 * device. A device feeds it with the accesses of its units, the laboratory with the requests of its
 * GPU. It does not allocate and has no registers of its own.
 */
#ifndef GTU_ZCM_CORE_H
#define GTU_ZCM_CORE_H

#include <stdint.h>

#include "uapi/gtu/hw.h"

#define ZCM_SECTORS	(GTU_LINE_BYTES / GTU_SECTOR_BYTES)

/* @n requests, sent one per cycle and answered one per cycle, the first in first_done. */
struct zcm_flight {
	uint64_t first_done, n;
};

struct zcm {
	uint64_t *count;		/* [GTU_ZCM_COUNTERS], owned by the caller */
	struct zcm_flight *flight;	/* [capacity], owned by the caller: a ring sorted by first_done */
	uint32_t capacity, head, flights;	/* capacity, first, count */
	uint64_t in_flight;		/* requests in flight, all flights */
};

/*
 * Count the requests for @bytes (1 or more) at @addr in @cycle, in @direction
 * (GTU_ZCM_HOST_READ...): one request per line, for its run of sectors. One request is sent per
 * cycle; each is answered @latency cycles (1 or more) later. @cycle must not decrease between
 * calls. If `flight` is full, the last two accesses are merged; sums stay correct.
 */
void zcm_stream(struct zcm *z, unsigned direction, uint64_t addr, uint64_t bytes, uint64_t cycle, uint64_t latency);
/*
 * Count the requests for @n (at most GTU_WARP) elements of @width bytes (at most a sector), merged:
 * one request per run of contiguous sectors in a line.
 */
void zcm_gather(struct zcm *z, unsigned direction, const uint64_t *addr, unsigned n, unsigned width, uint64_t cycle,
		uint64_t latency);
/* Number of unanswered requests at @cycle, which must not precede the last call's. */
uint64_t zcm_in_flight(struct zcm *z, uint64_t cycle);
/* Drop all requests in flight; the counters stay. */
void zcm_reset(struct zcm *z);

#endif
