/* SPDX-License-Identifier: MIT */
/*
 * The SCU's pipeline (SCU, figures 7 and 8) over a memory that is sent requests. The schedule (scu_core.c) says
 * what happens in a cycle (a beat: as many slots as the unit is wide, with the accesses that they make); the
 * pipeline says when the next beat can proceed:
 *
 *	vector		mask, indices, counts, sequential data: whole lines, each once, fetched ahead into the buffers
 *	data		what indices select, through the coalescing unit, into the FIFO of requests; whole lines ("requests to
 *			the same cache memory block", section 3.2.3)
 *	filter, group	sets of the tables, through the second coalescing unit, into the buffer of hash requests; of a
 *			line only the sectors that the set has
 *	write		outputs and tables, coalesced likewise; nobody waits for them but the operation's end
 *
 * A beat passes the stages in order, one behind the other. It asks a stage's lines when what the stage before it
 * asked is there, and waits where a coalescing unit has no space or the buffer behind the stage is full. With a
 * memory that always answers after L cycles, and buffers long enough for it, an operation takes L cycles a stage that
 * fetches, and its beats: what scu_core.c charges a port of fixed latency (Documentation/units-scu.md, cycles).
 */
#ifndef GTU_SCU_PIPE_H
#define GTU_SCU_PIPE_H

#include <stdbool.h>
#include <stdint.h>

#include "uapi/gtu/hw.h"

enum scu_stage { SCU_VECTOR, SCU_DATA, SCU_FILTER, SCU_GROUP, SCU_WRITE, SCU_STAGES };

struct scu_pipe_shape {
	uint32_t width;			/* slots a cycle: 1 to 32 */
	uint32_t merge;			/* accesses behind which one of the same line is still merged with it */
	uint32_t in_flight;		/* read requests of each of the two coalescing units */
	uint32_t vector_bytes, fifo_bytes, hash_bytes;
	uint32_t entry_bytes;		/* of an element in FIFO and hash buffer */
};
/* A sentence that says what is wrong with it, or NULL. */
const char *scu_pipe_check(const struct scu_pipe_shape *s);

struct scu_pipe;
struct scu_pipe_port {
	void *ctx;
	/*
	 * The operation's next cycles: tell scu_pipe_access() what they touch, and in *cycles how many they are (one; more or
	 * none where the schedule charges so). False: the operation has ended.
	 */
	bool (*beat)(void *ctx, struct scu_pipe *p, uint32_t *cycles);
	/* Ask for @sectors (bits) of the line at @addr; scu_pipe_reply() with @tag later, or at once. */
	void (*send)(void *ctx, uint32_t tag, uint64_t addr, unsigned sectors, bool write);
};

struct scu_pipe_counts {
	uint64_t beats, reads, writes;	/* requests sent */
	uint64_t read_accesses, write_accesses; /* of beats, before they were coalesced; vector streams: lines */
	uint64_t cycles;		/* from start to end, summed over operations */
	uint64_t full[2];		/* cycles in which a coalescing unit had no room for the beat at hand */
};

/* NULL without memory. */
struct scu_pipe *scu_pipe_create(const struct scu_pipe_shape *s, const struct scu_pipe_port *port);
void scu_pipe_free(struct scu_pipe *p);
const struct scu_pipe_counts *scu_pipe_counts(const struct scu_pipe *p);

/* Begin an operation at @cycle. The pipeline is empty: scu_pipe_ended(). */
void scu_pipe_start(struct scu_pipe *p, uint64_t cycle);
bool scu_pipe_ended(const struct scu_pipe *p);
/* Do what can be done in @cycle; the next cycle to be called in, UINT64_MAX: after a reply, or never. */
uint64_t scu_pipe_run(struct scu_pipe *p, uint64_t cycle);
void scu_pipe_reply(struct scu_pipe *p, uint32_t tag);

/* From beat(): @bytes (above 0) at @addr of operand @place are touched; @limit: the operand's end, which bounds its last line. */
void scu_pipe_access(struct scu_pipe *p, enum scu_stage stage, unsigned place, uint64_t addr, uint64_t bytes, uint64_t limit);

#endif
