/* SPDX-License-Identifier: MIT */
/*
 * The SCU's pipeline (SCU, figures 7 and 8) over a memory that is accessed by requests. The schedule (scu_core.c)
 * decides the work of a cycle: a beat, with as many slots as the unit is wide, and their accesses. The pipeline
 * decides when the next beat can proceed. Its stages:
 *
 *	vector		mask, indices, counts, sequential data: whole lines, fetched once each and ahead of use
 *	data		indexed data, through the first coalescing unit into the FIFO of requests; whole lines ("requests to
 *			the same cache memory block", section 3.2.3)
 *	filter, group	sets of the tables, through the second coalescing unit into the buffer of hash requests; only
 *			the sectors of a line that contain the set
 *	write		outputs and tables, coalesced likewise; only the end of the operation waits for them
 *
 * A beat passes the stages in order. It sends a stage's requests when the replies of the previous stage have
 * arrived. It waits while a coalescing unit has no space or the buffer after the stage is full. If the memory always
 * replies after L cycles and the buffers are large enough, an operation takes its beats plus L cycles per stage that
 * fetches. That equals the cycles of a port of fixed latency (Documentation/units-scu.md, cycles).
 */
#ifndef GTU_SCU_PIPE_H
#define GTU_SCU_PIPE_H

#include <stdbool.h>
#include <stdint.h>

#include "uapi/gtu/hw.h"

enum scu_stage { SCU_VECTOR, SCU_DATA, SCU_FILTER, SCU_GROUP, SCU_WRITE, SCU_STAGES };

struct scu_pipe_shape {
	uint32_t width;			/* slots per cycle: 1 to 32 */
	uint32_t merge;			/* merge window: number of recent accesses that a new one can merge with */
	uint32_t in_flight;		/* outstanding read requests per coalescing unit */
	/*
	 * Accesses that an outstanding request answers, the first included, as in the MSHRs of a cache, besides those of
	 * the window; 0: none. One more sends a request of its own.
	 */
	uint32_t in_flight_merge;
	uint32_t vector_bytes, fifo_bytes, hash_bytes;
	uint32_t entry_bytes;		/* bytes of an element in the FIFO and in the hash buffer */
};
/* Check a configuration. Returns an error message, or NULL if it is valid. */
const char *scu_pipe_check(const struct scu_pipe_shape *s);

struct scu_pipe;
struct scu_pipe_port {
	void *ctx;
	/*
	 * Run the operation's next beat: report its accesses by scu_pipe_access(), and set *cycles to its cycles (usually
	 * 1; the schedule may charge more or none). False: the operation has ended.
	 */
	bool (*beat)(void *ctx, struct scu_pipe *p, uint32_t *cycles);
	/* Request @sectors (a bit mask) of the line at @addr. The reply is scu_pipe_reply() with @tag, now or later. */
	void (*send)(void *ctx, uint32_t tag, uint64_t addr, unsigned sectors, bool write);
};

struct scu_pipe_counts {
	uint64_t beats, reads, writes;	/* requests sent */
	uint64_t read_accesses;		/* of beats, before coalescing; lines for vector streams */
	uint64_t cycles;		/* from start to end, summed over all operations */
	uint64_t full[2];		/* cycles in which a coalescing unit had no space for the current beat */
};

/* Returns NULL if out of memory. */
struct scu_pipe *scu_pipe_create(const struct scu_pipe_shape *s, const struct scu_pipe_port *port);
void scu_pipe_free(struct scu_pipe *p);
const struct scu_pipe_counts *scu_pipe_counts(const struct scu_pipe *p);

/* Begin an operation at @cycle. The pipeline must be empty: scu_pipe_ended(). */
void scu_pipe_start(struct scu_pipe *p, uint64_t cycle);
bool scu_pipe_ended(const struct scu_pipe *p);
/* Advance all stages in @cycle. Returns the next cycle to call it in; UINT64_MAX: after a reply, or never. */
uint64_t scu_pipe_run(struct scu_pipe *p, uint64_t cycle);
void scu_pipe_reply(struct scu_pipe *p, uint32_t tag);

/* Called by beat(): report an access to @bytes (at least 1) at @addr of operand @slot, which ends at @limit. */
void scu_pipe_access(struct scu_pipe *p, enum scu_stage stage, unsigned slot, uint64_t addr, uint64_t bytes, uint64_t limit);

#endif
