/* SPDX-License-Identifier: MIT */
/*
 * ZCM, the zero-copy monitor (emogi.txt, section 3): what requests a link carries, without the device whose link it
 * is. A device feeds it with the accesses of its units, the laboratory with the requests of its GPU. Nothing here
 * allocates or knows of registers.
 */
#ifndef GTU_ZCM_CORE_H
#define GTU_ZCM_CORE_H

#include <stdint.h>

#include "uapi/gtu/hw.h"

#define ZCM_SECTORS	(GTU_LINE_BYTES / GTU_SECTOR_BYTES)

/* Requests asked for one a cycle, answered one a cycle, the first in first_done. */
struct zcm_flight {
	uint64_t first_done, n;
};

struct zcm {
	uint64_t *count;		/* [GTU_ZCM_COUNTERS], the caller's */
	struct zcm_flight *flight;	/* [room], the caller's: a ring in the order of first_done */
	uint32_t room, head, flights;
	uint64_t under_way;		/* requests of all flights */
};

/*
 * @bytes (1 or more) at @addr are asked for in @cycle, in @direction (GTU_ZCM_HOST_READ...): per line, one request for
 * its run of sectors. They leave one a cycle and are each answered @latency cycles (1 or more) later. Calls come in the
 * order of cycles. Where there are more accesses than room, the last two count as one longer access: the sums stay right.
 */
void zcm_stream(struct zcm *z, unsigned direction, uint64_t addr, uint64_t bytes, uint64_t cycle, uint64_t latency);
/* The same of @n (at most GTU_WARP) elements of @width bytes (at most a sector), merged: per line, a request per run of contiguous sectors. */
void zcm_gather(struct zcm *z, unsigned direction, const uint64_t *addr, unsigned n, unsigned width, uint64_t cycle,
		uint64_t latency);
/* Requests not answered yet at @cycle, at or after that of the last call. */
uint64_t zcm_in_flight(struct zcm *z, uint64_t cycle);
/* Nothing is under way. Counters stay. */
void zcm_forget(struct zcm *z);

#endif
