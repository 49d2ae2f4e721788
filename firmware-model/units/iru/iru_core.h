/* SPDX-License-Identifier: MIT */
/*
 * The schedule of the IRU: what it puts out and in which logical cycle, without the memory it reads
 * from and writes to. Documentation/units-iru.md is its specification. The core is fed through a
 * struct iru_port: a device answers every fetch after a fixed latency, a laboratory whenever its
 * memory system has the line. Nothing here allocates, blocks or knows of regions, rings or jobs.
 */
#ifndef GTU_IRU_CORE_H
#define GTU_IRU_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "uapi/gtu/hw.h"

#define IRU_LANES		GTU_WARP
#define IRU_PARTITIONS_MAX	16u
#define IRU_BANKS_MAX		64u	/* of all partitions: they are bits of a word */
#define IRU_SETS_MAX		65536u	/* a set's number travels in 16 bits */
#define IRU_PREFETCH_MAX	256u
#define IRU_DEPTH_MAX		4096u
#define IRU_NEVER		UINT64_MAX
#define IRU_SPARE		8u	/* places behind a queue's last that may be written, never read */

/*
 * Records kept until the user of the core takes them; a run stops at the mark. Behind it is room for
 * one of each bank, or for all that the published build's 8 banks may fill in 32 cycles run at once.
 */
#define IRU_OUT_MARK		16u
#define IRU_OUT_SIZE		(IRU_OUT_MARK + 8u + 8u * 32u)

/* How the unit is built. Sizes are powers of two where they are given as logarithms. */
struct iru_shape {
	uint8_t sets_log2;
	uint8_t partitions_log2;
	uint8_t banks_log2;		/* a partition */
	uint8_t interleave_log2;	/* bytes; at least a line */
	uint8_t index_bits, position_bits;
	uint16_t prefetch;		/* lines a partition may hold or wait for */
	uint16_t ring_depth, queue_depth; /* elements; a queue takes at least a line's */
};

/* One stream. */
struct iru_stream {
	uint64_t n;			/* elements, below 2^32 */
	uint64_t addr;			/* region-relative address of index 0; a multiple of 4 */
	uint64_t base;			/* region-relative address of the target */
	uint64_t asked;			/* records asked for so far; IRU_NEVER: a request is always pending */
	uint64_t timeout;		/* cycles, at least 1 */
	uint8_t target_log2;		/* width of a target element */
	uint8_t op;			/* GTU_IRU_OP_* */
	bool all;			/* ceil(n / 32) records */
	bool secondary, position;	/* fields of the records, besides the index */
};

/* A record as hardware writes it, without gaps: header, index, then the fields asked for. */
struct iru_record {
	struct gtu_hw_warp head;
	uint32_t field[3][IRU_LANES];
};

struct iru_port {
	void *ctx;
	/*
	 * Partition @p asks in @cycle for the elements [first, first + count), which lie in one line.
	 * Returns the cycle from which on they are there (later than @cycle), or IRU_NEVER where
	 * iru_core_reply() will tell; @slot names the fetch there.
	 */
	uint64_t (*fetch)(void *ctx, unsigned p, unsigned slot, uint64_t first, unsigned count,
			  uint64_t cycle);
	/*
	 * Where these elements are: indices, and secondaries unless the stream carries none (then
	 * *secondary stays NULL). Each is loaded once. @copy is room for both, for who needs it. False
	 * when they cannot be had.
	 */
	bool (*load)(void *ctx, uint64_t first, unsigned count, const uint32_t **index,
		     const uint32_t **secondary, uint32_t (*copy)[IRU_LANES]);
	/*
	 * Not 0: fetch() always returns @cycle + latency and does not mind in which order it hears of
	 * the partitions' fetches, each partition's being in order. The core may then run ahead.
	 */
	uint32_t latency;
};

enum iru_status {
	IRU_MORE,			/* reached `until` */
	IRU_OUT,			/* IRU_OUT_MARK records wait to be taken */
	IRU_IDLE,			/* nothing can happen without a request or a reply */
	IRU_DONE,			/* the last record is out */
	IRU_UNREAD,			/* load() failed, for element `bad` */
	IRU_WIDE,			/* index `bad_index` of element `bad` has more bits than the build */
};

/* An element on its way to its set. */
struct iru_element {
	uint64_t pair;			/* index | position << 32, as in the sets */
	uint32_t secondary;
	uint16_t set;
};

/* The line a partition's classifier has in hand. */
struct iru_split {
	uint64_t pair[IRU_LANES] __attribute__((aligned(64)));
	uint32_t secondary[IRU_LANES];
	uint16_t set[IRU_LANES];
	uint32_t lanes[IRU_BANKS_MAX + 2]; /* that go to each of the partition's queues: banks, then ring */
	uint8_t share[IRU_BANKS_MAX + 2]; /* how many those are */
	uint16_t count;
	bool loaded;
};

struct iru_line {
	uint64_t first;
	uint64_t ready;			/* cycle from which on it is there */
	uint32_t count;
};

struct iru_partition {
	uint64_t service;		/* next cycle in which fetch or classifier may act */
	uint64_t next_line;		/* to be fetched; line_end: none is left */
	uint32_t head, tail;		/* of the lines held or waited for, running freely */
	struct iru_line *line;		/* [line_mask + 1] */
	struct iru_split split;
};

struct iru_counters {
	uint64_t merged, full, timeout, end, disabled, lines, hops, blocked;
};

struct iru_kernel;

struct iru_core {
	struct iru_shape shape;
	struct iru_stream stream;
	struct iru_port port;

	/* what the user of the core reads */
	uint64_t cycle;			/* the next one to be run */
	uint64_t records;		/* put out so far */
	uint64_t bad;			/* IRU_UNREAD, IRU_WIDE: number of the element */
	uint32_t bad_index;
	struct iru_counters count;
	uint32_t out_count;
	struct iru_record *out;		/* [IRU_OUT_SIZE] */
	uint16_t out_order[IRU_OUT_SIZE]; /* place in out[] of each, oldest first */

	/* derived from the shape */
	uint32_t partitions, banks, all_banks, sets_partition, sets_bank;
	uint32_t places;		/* a queue has in memory: twice what it may hold, and spare ones */
	uint32_t line_mask;		/* of a partition's lines */
	/* derived from the stream */
	uint64_t line_first, line_end;	/* of the indices; region-relative */
	uint64_t all_records;		/* records in mode ALL */
	bool published;			/* sizes as in iru.txt, table 1 */
	bool carry, merge;
	bool ahead;			/* iru_ahead.c may be used */
	const struct iru_kernel *kernel;

	/* state of the schedule */
	uint64_t left;			/* elements not yet in a set */
	uint64_t oldest;		/* cycle in which the oldest open request became that */
	uint64_t deadline;		/* when it times out; IRU_NEVER: none is open */
	uint64_t fetch_next;		/* the least of the partitions' service */
	uint64_t local_some, ring_some;	/* banks whose queues hold something */
	uint64_t full_some;		/* banks that have full sets */
	uint64_t blocked;		/* banks whose next element waits for a full set */
	uint32_t out_some;		/* queues to the ring that hold something: direction, partition */
	uint32_t flying;		/* elements on the ring */
	uint32_t end_set, end_at;	/* what the final merge has taken */
	uint32_t credit[IRU_PARTITIONS_MAX]; /* elements that its ring inputs can still be sent */
	uint32_t busy[16];		/* [cycle % 16]: places of the ring that are taken */
	uint32_t landing_some[16];
	struct iru_element landing[16][2 * IRU_PARTITIONS_MAX];
	uint64_t waiting_own, waiting_ring; /* banks whose queues' first element has waited before */

	/* routes: of a partition, to a partition; the queue is counted as in struct iru_split */
	uint8_t route_dir[IRU_PARTITIONS_MAX][IRU_PARTITIONS_MAX]; /* 0: to the next, 1: to the one before */
	uint32_t route_queue[IRU_PARTITIONS_MAX][IRU_PARTITIONS_MAX];

	/*
	 * Queues: the banks' own, the banks' ring inputs, then those to the ring, by direction and
	 * partition. Each holds places [head, tail) of its own; when the end is reached, what it holds
	 * is moved to the beginning, so that it always lies in one run.
	 */
	uint32_t *fifo_head, *fifo_tail;
	uint64_t *fifo_pair;
	uint32_t *fifo_secondary;
	uint16_t *fifo_set;

	/* sets */
	uint8_t *set_count;
	uint64_t *set_pair;		/* [set][lane]: index | position << 32 */
	uint32_t *set_secondary;	/* [set][lane], where the stream carries one */
	uint32_t full_head[IRU_BANKS_MAX], full_tail[IRU_BANKS_MAX]; /* running freely */
	uint16_t *full_set;		/* [bank][sets_bank]: full ones, oldest first */

	struct iru_partition partition[IRU_PARTITIONS_MAX];
};

/* NULL, or why no such unit can be built. */
const char *iru_shape_check(const struct iru_shape *shape);

/* Bytes that a core of this shape takes, and a core made in so many at @memory (64-byte aligned). */
size_t iru_core_bytes(const struct iru_shape *shape);
struct iru_core *iru_core_init(void *memory, const struct iru_shape *shape);

/* Begin a stream at cycle 0; what was there of another is forgotten. */
void iru_core_start(struct iru_core *c, const struct iru_stream *stream, const struct iru_port *port);

/* Run until cycle @until is next, or something else is to be said. */
enum iru_status iru_core_run(struct iru_core *c, uint64_t until);

/* Let an idle core's clock go on to @cycle, as a clock does that someone else keeps. */
void iru_core_advance(struct iru_core *c, uint64_t cycle);

/* Records asked for so far, in all; never fewer than before. */
void iru_core_ask(struct iru_core *c, uint64_t asked);

/* The fetch in @slot of partition @p will be there from @cycle on (not before the core's clock). */
void iru_core_reply(struct iru_core *c, unsigned p, unsigned slot, uint64_t cycle);

/* Record @i of the out_count that wait, oldest first. */
static inline const struct iru_record *iru_core_out(const struct iru_core *c, unsigned i)
{
	return &c->out[c->out_order[i]];
}

/* They were all taken. */
static inline void iru_core_taken(struct iru_core *c)
{
	c->out_count = 0;
}

/* Fields of the records, and their bytes. */
static inline unsigned iru_fields(const struct iru_stream *s)
{
	return 1u + s->secondary + s->position;
}

/* The bank of set @set among all banks. */
static inline unsigned iru_bank(const struct iru_core *c, unsigned set)
{
	return ((set >> (c->shape.sets_log2 - c->shape.partitions_log2)) << c->shape.banks_log2) |
	       (set & (c->banks - 1));
}

#endif
