/* SPDX-License-Identifier: MIT */
/*
 * The IRU's schedule: which records it outputs in which logical cycle, independent of memory. The
 * specification is Documentation/units-iru.md. A struct iru_port serves the core's fetches: a
 * device answers after a fixed latency, a laboratory when its memory system has the line. The core
 * does not allocate or block, and does not depend on regions, rings or jobs.
 */
#ifndef GTU_IRU_CORE_H
#define GTU_IRU_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "uapi/gtu/hw.h"

#define IRU_LANES		GTU_WARP
#define IRU_PARTITIONS_MAX	16u
#define IRU_BANKS_MAX		64u	/* in all partitions: the banks are bits of a word */
#define IRU_PREFETCH_MAX	256u
#define IRU_DEPTH_MAX		4096u
#define IRU_NEVER		UINT64_MAX
#define IRU_NO_SET		UINT32_MAX
#define IRU_SPARE		8u	/* slots past a queue's end that may be written but are never read */

/*
 * Capacity for records that the caller has not taken yet; a run stops at the mark. Beyond the mark
 * there is space for one record per bank, or for all that the published build's 8 banks can fill in
 * a span of 32 cycles.
 */
#define IRU_OUT_MARK		16u
#define IRU_OUT_SIZE		(IRU_OUT_MARK + 8u + 8u * 32u)

/* Build parameters. The ..._log2 sizes are powers of two. */
struct iru_shape {
	uint8_t sets_log2;
	uint8_t partitions_log2;
	uint8_t banks_log2;		/* per partition */
	uint8_t interleave_log2;	/* bytes; at least a line */
	uint8_t index_bits, position_bits;
	uint16_t prefetch;		/* lines a partition may hold or wait for */
	uint16_t ring_depth, queue_depth; /* elements; queue_depth is at least the elements of a line */
	/*
	 * An ablation (IRU, section 3.2): a partition inserts what it fetches into its own sets, and
	 * uses no ring. The device's hash is one, partitioned.
	 */
	bool private_hash;
};

/* Parameters of a stream. */
struct iru_stream {
	uint64_t n;			/* elements, below 2^32 */
	uint64_t addr;			/* region-relative address of index 0; a multiple of 4 */
	uint64_t base;			/* region-relative address of the target */
	uint64_t requested;			/* total records requested; IRU_NEVER: a request is always pending */
	uint64_t timeout;		/* cycles, at least 1 */
	uint8_t target_log2;		/* width of a target element */
	uint8_t op;			/* GTU_IRU_OP_* */
	bool all;			/* output ceil(n / 32) records */
	bool secondary, position;	/* optional fields of the records */
};

/* A record as the hardware writes it, without gaps: header, index, then the optional fields. */
struct iru_record {
	struct gtu_hw_warp head;
	uint32_t field[3][IRU_LANES];
};

struct iru_port {
	void *ctx;
	/*
	 * Partition @p fetches elements [first, first + count), which lie in one line, in @cycle.
	 * Returns the cycle (after @cycle) from which they are available, or IRU_NEVER if
	 * iru_core_reply() will report it; @slot identifies the fetch there.
	 */
	uint64_t (*fetch)(void *ctx, unsigned p, unsigned slot, uint64_t first, unsigned count,
			  uint64_t cycle);
	/*
	 * Return pointers to these elements: indices, and secondaries if the stream carries them
	 * (else *secondary stays NULL). Each is loaded once. The callee may use @copy as buffers
	 * for both. False if the elements cannot be read.
	 */
	bool (*load)(void *ctx, uint64_t first, unsigned count, const uint32_t **index,
		     const uint32_t **secondary, uint32_t (*copy)[IRU_LANES]);
	/*
	 * If not 0, fetch() always returns @cycle + latency and accepts the fetches of different
	 * partitions in any order (each partition's own are in order). The core may then run ahead.
	 */
	uint32_t latency;
	/*
	 * The partition whose memory holds line number @line of the indices, which it fetches. NULL:
	 * the partitions alternate every interleave bytes.
	 */
	unsigned (*owner)(void *ctx, uint64_t line);
};

enum iru_status {
	IRU_MORE,			/* reached `until` */
	IRU_OUT,			/* IRU_OUT_MARK records wait to be taken */
	IRU_IDLE,			/* no progress without a request or a reply */
	IRU_DONE,			/* the last record is out */
	IRU_UNREAD,			/* load() failed at element `bad` */
	IRU_WIDE,			/* index `bad_index` of element `bad` exceeds the build's index bits */
};

/* An element in flight to its set. */
struct iru_element {
	uint64_t pair;			/* index | position << 32, as in the sets */
	uint32_t secondary;
	uint16_t set;
};

/* The line that a partition's classifier is processing. */
struct iru_split {
	uint64_t pair[IRU_LANES] __attribute__((aligned(64)));
	uint32_t secondary[IRU_LANES];
	uint16_t set[IRU_LANES];
	uint32_t lanes[IRU_BANKS_MAX + 2]; /* lanes for each of the partition's queues: banks, then ring */
	uint8_t share[IRU_BANKS_MAX + 2]; /* number of lanes in each mask */
	uint16_t count;
	bool loaded;
};

struct iru_line {
	uint64_t first;
	uint64_t ready;			/* cycle from which it is available */
	uint32_t count;
};

struct iru_partition {
	uint64_t service;		/* next cycle in which fetch or classifier may act */
	uint64_t next_line;		/* next line to fetch; line_end: none left */
	uint32_t head, tail;		/* of the lines held or in flight, free-running */
	struct iru_line *line;		/* [line_mask + 1] */
	struct iru_split split;
};

/* The unit's counters; the caller keeps those that the core has elsewhere (jobs, cycles, in, records). */
struct iru_counters {
#define IRU_COUNTER(UNIT, NAME, name, ...) uint64_t name;
	GTU_IRU_COUNTER_ROWS(IRU_COUNTER, IRU_COUNTER)
};

struct iru_kernel;

struct iru_core {
	struct iru_shape shape;
	struct iru_stream stream;
	struct iru_port port;

	/* outputs */
	uint64_t cycle;			/* next cycle to run */
	uint64_t records;		/* records output so far */
	uint64_t bad;			/* IRU_UNREAD, IRU_WIDE: number of the element */
	uint32_t bad_index;
	struct iru_counters count;
	uint32_t out_count;
	struct iru_record *out;		/* [IRU_OUT_SIZE] */
	uint16_t out_order[IRU_OUT_SIZE]; /* indices into out[], oldest first */

	/* derived from the shape */
	uint32_t partitions, banks, all_banks, sets_partition, sets_bank;
	uint32_t slots;		/* slots per queue in memory: twice its capacity, plus IRU_SPARE */
	uint32_t line_mask;		/* of a partition's lines */
	/* derived from the stream */
	uint64_t line_end;		/* of the indices; region-relative */
	uint64_t all_records;		/* records in mode ALL */
	bool published;			/* sizes as in IRU, table 1 */
	bool carry, merge;
	bool ahead;			/* iru_ahead.c may be used */
	const struct iru_kernel *kernel;

	/* state of the schedule */
	uint64_t left;			/* elements not yet in a set */
	uint64_t deadline;		/* when the oldest open request times out; IRU_NEVER: none is open */
	uint64_t fetch_next;		/* minimum of the partitions' `service` */
	uint64_t local_some, ring_some;	/* banks whose own queue, ring input is not empty */
	uint64_t full_some;		/* banks that have full sets */
	uint64_t blocked;		/* banks whose next element waits for a full set */
	uint32_t out_some;		/* non-empty queues to the ring, by direction and partition */
	uint32_t flying;		/* elements on the ring */
	/* the final merge: sets by number of elements, lowest first; IRU_NO_SET ends a list */
	bool ending;
	uint32_t end_left;		/* elements */
	uint32_t end_first[IRU_LANES];	/* [elements] */
	uint32_t credit[IRU_PARTITIONS_MAX]; /* elements that the ring inputs can still accept */
	uint32_t busy[16];		/* [cycle % 16]: occupied ring slots */
	uint32_t landing_some[16];
	struct iru_element landing[16][2 * IRU_PARTITIONS_MAX];
	uint64_t waiting_own, waiting_ring; /* banks whose own queue, ring input has counted its wait */

	/* routes [from partition][to partition]; queues are numbered as in struct iru_split */
	uint8_t route_dir[IRU_PARTITIONS_MAX][IRU_PARTITIONS_MAX]; /* 0: upwards, 1: downwards */
	uint32_t route_queue[IRU_PARTITIONS_MAX][IRU_PARTITIONS_MAX];

	/*
	 * Queues: the banks' own, the banks' ring inputs, then those to the ring, by direction and
	 * partition. Each uses slots [head, tail) of its own array. When the end is reached, the
	 * contents move to the start, so that they are always contiguous.
	 */
	uint32_t *fifo_head, *fifo_tail;
	uint64_t *fifo_pair;
	uint32_t *fifo_secondary;
	uint16_t *fifo_set;

	/* sets */
	uint8_t *set_count;
	uint8_t *set_lines;		/* distinct lines, valid during a time-out's choice */
	uint32_t *end_next;
	uint64_t *set_pair;		/* [set][lane]: index | position << 32 */
	uint32_t *set_secondary;	/* [set][lane], if the stream carries one */
	uint32_t full_head[IRU_BANKS_MAX], full_tail[IRU_BANKS_MAX]; /* free-running */
	uint16_t *full_set;		/* [bank][sets_bank]: full sets, oldest first */

	struct iru_partition partition[IRU_PARTITIONS_MAX];
};

/* NULL, or why a unit of this shape cannot be built. */
const char *iru_shape_check(const struct iru_shape *shape);

/* Bytes that a core of this shape needs; create a core in that much memory (64-byte aligned). */
size_t iru_core_bytes(const struct iru_shape *shape);
struct iru_core *iru_core_init(void *memory, const struct iru_shape *shape);

/* Start a stream at cycle 0 and discard any earlier one. */
void iru_core_start(struct iru_core *c, const struct iru_stream *stream, const struct iru_port *port);

/* Run until the next cycle is @until, or until another status must be returned. */
enum iru_status iru_core_run(struct iru_core *c, uint64_t until);

/* Advance an idle core's clock to @cycle (for a caller that keeps the clock). */
void iru_core_advance(struct iru_core *c, uint64_t cycle);

/* Set the total number of records requested; it never decreases. */
void iru_core_request(struct iru_core *c, uint64_t requested);

/* The fetch in @slot of partition @p is available from @cycle on (not before the core's clock). */
void iru_core_reply(struct iru_core *c, unsigned p, unsigned slot, uint64_t cycle);

/* Record @i of the out_count pending records, oldest first. */
static inline const struct iru_record *iru_core_out(const struct iru_core *c, unsigned i)
{
	return &c->out[c->out_order[i]];
}

/* The caller has taken all pending records. */
static inline void iru_core_taken(struct iru_core *c)
{
	c->out_count = 0;
}

/* Number of fields of the records. */
static inline unsigned iru_fields(const struct iru_stream *s)
{
	return 1u + s->secondary + s->position;
}

#endif
