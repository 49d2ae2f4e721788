/* SPDX-License-Identifier: MIT */
/*
 * The SCU's core: algorithm and timing of an operation (SCU, sections 3 and 4) over memory that it accesses
 * through a struct scu_port. The core allocates nothing and is independent of regions, rings, jobs and the device.
 *
 * An operation is processed in blocks. Generation (scu_generate.c) selects elements from the input and numbers
 * them in order (their ordinals). A sink (scu_sink.c) writes, filters, groups or scatters them. scu_core.c is the
 * schedule. Every value that determines an address is copied into the block once, and checked and used there.
 *
 * Work is counted in slots; `lanes` slots are a beat, one cycle of work. Beats pass the stages of scu_pipe.h in
 * order, and each stage that fetches adds the memory's latency once. If the port has a fixed latency and no limit
 * on requests, nothing else delays a beat: an operation takes stages * latency + beats cycles, and a call runs as
 * many beats as the caller requests. If the port sends requests, the pipeline takes the beats one at a time and
 * waits for the replies. Documentation/units-scu.md is the specification.
 */
#ifndef GTU_SCU_CORE_H
#define GTU_SCU_CORE_H

#include "scu_kernels.h"
#include "scu_pipe.h"

struct scu_port {
	void *ctx;
	/*
	 * Address of byte @byte of the operand in @slot. *got is set to the number of contiguous bytes there: 1 to
	 * @want. Called only for operands without a base, or beyond their end. NULL: the memory is not accessible, and
	 * the port has recorded the error, as fail() does.
	 */
	uint8_t *(*span)(void *ctx, unsigned slot, uint64_t byte, uint64_t want, uint64_t *got);
	/* Record error @status (GTU_CPL_*) at input element @element with the offending @value. Only the first is kept. */
	void (*fail)(void *ctx, unsigned status, unsigned slot, uint64_t element, uint64_t value);
	/*
	 * Report a sequential access, or 1 to GTU_WARP simultaneous accesses of 1 << @width_log2 bytes, to observers.
	 * Not called for a port with a pipeline.
	 */
	void (*stream)(void *ctx, unsigned slot, uint64_t byte, uint64_t bytes);
	void (*gather)(void *ctx, unsigned slot, const uint64_t *byte, unsigned n, unsigned width_log2, bool write);
	uint32_t latency;		/* cycles per fetch; 0 with a pipeline, whose memory has its own latency */
	struct scu_pipe *pipe;		/* for a port that sends requests; else NULL */
};

/* An operand. */
struct scu_mem {
	/* set by scu_core_begin() */
	const struct scu_port *port;
	uint8_t slot, width_log2;
	uint8_t stage;			/* enum scu_stage that reads it */
	/* set by the caller */
	bool given;
	bool monitored;			/* report accesses to observers or the pipeline */
	uint8_t *base;			/* of byte 0 if the operand is contiguous; else NULL */
	uint64_t addr;			/* device address of byte 0, for the pipeline */
	uint64_t bytes, count;
};

#define SCU_BLOCK	2048u		/* elements per block, input and output */
#define SCU_WORDS	(SCU_BLOCK / 64)
#define SCU_STAGE	(16u << 10)	/* bytes of output collected before they are written */

enum scu_phase {
	SCU_CLEAR_FILTER,
	SCU_CLEAR_GROUP,
	SCU_MAIN,
	SCU_COUNT,			/* the output is full: only count the elements that it would need */
	SCU_DRAIN,			/* emit the elements left in the group table */
	SCU_END,
};

/* State of an operation that persists between calls of scu_core_run(). All zeros before the first call. */
struct scu_state {
	uint8_t phase;
	uint8_t pass;			/* 1: second pass of a fused operation with grouping */
	uint8_t bits;			/* of a bit vector's partial last byte */
	bool ended;			/* scu_core_beat() has no more beats */
	bool counting;			/* phase COUNT was entered */
	bool over;			/* an output is full: its slot, and the input element */
	uint8_t over_slot;
	uint64_t over_element;
	uint64_t in;			/* current input element */
	uint64_t left, from;		/* of its run: remaining elements, and the next element of the data */
	uint64_t ordinal;		/* elements selected so far */
	uint64_t kept, dropped;		/* of the selected */
	uint64_t out;			/* elements written to OUT */
	uint64_t needed;		/* elements selected, in phase COUNT */
	uint64_t rank, groups;		/* of the group table */
	uint64_t table_at;		/* next set to clear or drain */
	uint64_t units;			/* slots of work so far, `lanes` per cycle */
	uint64_t probes, evictions;
	uint64_t cycles;		/* so far, for a port of fixed latency */
};

/* Decoded opcode and parameters of an operation (GTU_SCU_*). */
struct scu_params {
	uint8_t op, step;
	uint8_t width, index_width, count_width, cost_width; /* log2 of bytes */
	uint8_t type, cmp, target;
	bool unique, best, group, keep;
	uint8_t group_max;		/* elements per group: GTU_GROUP_MAX on the device */
	/* report no accesses to a filter's state bytes: a set's state is in its lines, in the laboratory */
	bool state_in_set;
	/* elements that a mask or an applied filter excludes take no slot, but a cycle for each 32: in the laboratory */
	bool skips_excluded;
	bool any_lines;			/* the tables need not have a power of two of lines: in the laboratory */
	bool filters;			/* unique or best */
	bool runs;			/* REPLICATE, EXPAND */
	bool indexed;			/* ACCESS, EXPAND */
	uint8_t log2[GTU_SCU_OPERANDS];	/* of the bytes of each operand's elements; 0 for bits */
};

enum scu_sink {
	SINK_PLAIN,
	SINK_FILTER,
	SINK_GROUP,
	SINK_APPLY_FILTER,
	SINK_APPLY_REORDER,
};

/* A running operation. The fields after `limit` are scratch: they do not persist between calls of scu_core_run(). */
struct scu_run {
	/* set by the caller */
	struct scu_port port;
	struct scu_mem mem[GTU_SCU_OPERANDS];
	struct scu_params p;
	uint64_t imm;			/* reference of BITMASK, target of GROUP */
	struct scu_state *s;
	uint32_t lanes;			/* the unit's width */
	uint32_t merge;			/* merge window of gathers: 1 to GTU_WARP */
	uint64_t limit;			/* cycles that the operation may take */

	const struct scu_kernels *k;
	enum scu_sink sink;
	uint64_t n;			/* input elements */
	bool monitored;			/* any operand is monitored */
	bool to_stage;			/* elements are generated directly into `stage` */

	/* number of ordinals that the operands can hold; the next one is an error (cap_status) at operand cap_slot */
	uint64_t cap;
	uint8_t cap_slot, cap_status;
	uint64_t data_limit;		/* elements that an index can select */

	/* the block */
	uint64_t first;			/* its first input element */
	size_t inputs;			/* DATA, ACCESS: elements of the mask window */
	size_t m;			/* elements generated */
	uint64_t slots;			/* used */
	bool full;			/* the next element is beyond `cap` */
	uint8_t error, error_slot;	/* occurred after the m elements */
	uint64_t error_value;
	uint8_t *value;			/* m elements */
	size_t segments;

	/* the window of input elements of REPLICATE and EXPAND */
	uint64_t window, window_end;

	/* buffered output: bytes [out_at, out_at + fill) of OUT */
	uint64_t out_at;
	size_t fill;
	bool streamed;

	uint64_t mask[SCU_WORDS] __attribute__((aligned(64)));
	uint64_t keep[SCU_WORDS];
	uint64_t index[SCU_BLOCK + SCU_PAD / 8];
	uint64_t count[SCU_BLOCK + SCU_PAD / 8];
	uint64_t zeros[SCU_BLOCK];	/* never written */
	struct scu_segment segment[SCU_BLOCK + 1];
	uint8_t bounce[SCU_BLOCK * 8 + SCU_PAD] __attribute__((aligned(64)));
	uint8_t values[SCU_BLOCK * 8 + SCU_PAD] __attribute__((aligned(64)));
	uint8_t ids[SCU_BLOCK * 4 + SCU_PAD] __attribute__((aligned(64)));
	uint8_t cost[2][SCU_BLOCK * 8 + SCU_PAD] __attribute__((aligned(64)));
	uint8_t stage[SCU_STAGE + SCU_BLOCK * 8 + 2 * SCU_PAD] __attribute__((aligned(64)));
};

/* Decode @param. For APPLY, fields that it ignores are cleared. */
struct scu_params scu_params_of(unsigned opcode, uint32_t param);
/* Size in bytes of an operand of @count elements, bits or table lines. */
uint64_t scu_operand_bytes(const struct scu_params *p, unsigned slot, uint64_t count);
#define SCU_GROUP_LIMIT	32u		/* elements per group that the core supports */
/* Bytes of a group set: GTU_GROUP_SET_BYTES with GTU_GROUP_MAX elements per group. */
static inline uint32_t scu_group_set_bytes(uint32_t max)
{
	return (16 * 8 + 16 * 4 * max + 16 + 16 + 1023) / 1024 * 1024;
}
/* Is this a valid number of lines of a table? */
static inline bool scu_table_lines_valid(uint64_t lines)
{
	return lines >= GTU_TABLE_WAYS && lines <= GTU_TABLE_LINES_MAX && !(lines & (lines - 1));
}

/* Check the operands' counts against each other, once per operation. False: the operation has failed. */
bool scu_core_start(struct scu_run *r);
/* Begin or resume an operation after its operands were set; they may have moved. False: the operation has failed. */
bool scu_core_begin(struct scu_run *r);
/* Run for about @cycles. False: the operation has ended or failed. Call once after each scu_core_begin(). */
bool scu_core_run(struct scu_run *r, uint64_t cycles);
/* Cycles so far without the latency of fetches. */
uint64_t scu_core_beats(const struct scu_run *r);
/* For a port with a pipeline: run the next beat and return its cycles. False: there is none. */
bool scu_core_beat(struct scu_run *r, uint32_t *cycles);
/* Number of elements written, or kept by PRODUCE. */
uint64_t scu_core_count(const struct scu_run *r);
/* The unit's counters for this operation, except jobs and cycles. */
void scu_core_counters(const struct scu_run *r, uint64_t count[GTU_SCU_COUNTERS]);

#endif
