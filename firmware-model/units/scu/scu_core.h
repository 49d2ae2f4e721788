/* SPDX-License-Identifier: MIT */
/*
 * The SCU's core: algorithm and timing of an operation (SCU, sections 3 and 4) over a memory that it reaches
 * through a struct scu_port. Nothing here allocates or knows of regions, rings, jobs or a device.
 *
 * An operation goes block by block: generation (scu_generate.c) turns input elements into the elements that
 * the operation selects, numbered in order (their ordinals); a sink (scu_sink.c) writes, filters, groups or
 * places them. scu_core.c is the schedule. Whatever decides an address is copied once into the block,
 * checked there and used from there.
 *
 * Timing is counted in slots, of which `lanes` make a beat, a cycle of work. Beats pass the stages of
 * scu_pipe.h one behind the other, and each stage that fetches adds the latency of the memory once. Where
 * the port answers every fetch after a fixed latency without limits, nothing else can delay a beat: the
 * cycles are stages * latency + beats, and the core runs as many beats a call as the caller wants. Where
 * the port sends requests, the pipeline takes the beats one by one, and waits for the replies.
 * Documentation/units-scu.md is the specification.
 */
#ifndef GTU_SCU_CORE_H
#define GTU_SCU_CORE_H

#include "scu_kernels.h"
#include "scu_pipe.h"

struct scu_port {
	void *ctx;
	/*
	 * Byte @byte of the operand in @slot, and in *got how many of the @want bytes are contiguous there (at
	 * least 1). Asked only of operands without a base, or beyond their end. NULL: there is no such memory;
	 * the port has recorded the error, as fail() does.
	 */
	uint8_t *(*span)(void *ctx, unsigned slot, uint64_t byte, uint64_t want, uint64_t *got);
	/* The operation ends in error GTU_CPL_* at an input element; @value is what was met there. The first one counts. */
	void (*fail)(void *ctx, unsigned status, unsigned slot, uint64_t element, uint64_t value);
	/*
	 * Observe sequential accesses, and 1 to GTU_WARP accesses of 1 << @width_log2 bytes that are made together.
	 * Not called where there is a pipeline.
	 */
	void (*stream)(void *ctx, unsigned slot, uint64_t byte, uint64_t bytes);
	void (*gather)(void *ctx, unsigned slot, const uint64_t *byte, unsigned n, unsigned width_log2, bool write);
	uint32_t latency;		/* cycles of every fetch; 0 with a pipeline: its memory has a latency */
	struct scu_pipe *pipe;		/* of a port that sends requests, or NULL */
};

/* An operand. */
struct scu_mem {
	/* set by scu_core_begin() */
	const struct scu_port *port;
	uint8_t slot, width_log2;
	uint8_t stage;			/* that reads it: enum scu_stage */
	/* set by the user of the core */
	bool given;
	bool watched;			/* report accesses to the observers or the pipeline */
	uint8_t *base;			/* byte 0, where all of it is contiguous; or NULL */
	uint64_t addr;			/* of byte 0, for the pipeline */
	uint64_t bytes, count;
};

#define SCU_BLOCK	2048u		/* elements a block, in and out */
#define SCU_WORDS	(SCU_BLOCK / 64)
#define SCU_STAGE	(16u << 10)	/* bytes of output collected before they are written */

enum scu_phase {
	SCU_CLEAR_FILTER,
	SCU_CLEAR_GROUP,
	SCU_MAIN,
	SCU_COUNT,			/* the output is full: only count what it would have to hold */
	SCU_DRAIN,			/* what the group table still holds */
	SCU_END,
};

/* What is kept of an operation from one scu_core_run() to the next. All zeros: it begins. */
struct scu_state {
	uint8_t phase;
	uint8_t pass;			/* 1: the applying half of a fused job with grouping */
	uint8_t bits;			/* of a bit vector's byte that is not yet whole */
	bool ended;			/* scu_core_beat() has no more */
	bool counting;			/* phase COUNT was needed */
	bool over;			/* some output is full: */
	uint8_t over_place;
	uint64_t over_element;
	uint64_t in;			/* input element at hand */
	uint64_t left, from;		/* of its run: still to come, and from where in the data */
	uint64_t ordinal;		/* elements selected so far */
	uint64_t kept, dropped;		/* of these */
	uint64_t out;			/* elements in OUT so far */
	uint64_t needed;		/* elements selected, in phase COUNT */
	uint64_t rank, groups;		/* of the group table */
	uint64_t table_at;		/* set: of clearing, draining */
	uint64_t units;			/* slots of work so far: `lanes` make a cycle */
	uint64_t probes, evictions;
	uint64_t cycles;		/* so far, of a port of fixed latency */
};

/* Opcode and parameters of an operation (GTU_SCU_*), taken apart. */
struct scu_params {
	uint8_t op, step;
	uint8_t width, index_width, count_width, cost_width; /* log2 of bytes */
	uint8_t type, cmp, target;
	bool unique, best, group, keep;
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

/* An operation at work. Behind `limit` all is scratch: nothing there outlives a call of scu_core_run(). */
struct scu_run {
	/* set by the user of the core */
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
	bool watched;			/* any operand is */
	bool to_stage;			/* elements are generated right where the output is collected */

	/* ordinals have places up to here; beyond: OVERFLOW or INDEX at that operand */
	uint64_t cap;
	uint8_t cap_place, cap_status;
	uint64_t data_limit;		/* elements that an index selects from */

	/* the block */
	uint64_t first;			/* input element where it starts */
	size_t inputs;			/* DATA, ACCESS: elements of the mask window */
	size_t m;			/* elements generated */
	uint64_t slots;			/* used */
	bool full;			/* the next element is beyond `cap` */
	uint8_t error, error_place;	/* met after the m elements */
	uint64_t error_value;
	uint8_t *value;			/* m elements */
	size_t segments;

	/* the window of input elements of REPLICATE and EXPAND */
	uint64_t window, window_end;

	/* the output collected: bytes [out_at, out_at + fill) of OUT */
	uint64_t out_at;
	size_t fill;
	bool streamed;

	uint64_t mask[SCU_WORDS] __attribute__((aligned(64)));
	uint64_t keep[SCU_WORDS];
	uint64_t index[SCU_BLOCK + SCU_PAD / 8];
	uint64_t count[SCU_BLOCK + SCU_PAD / 8];
	uint64_t zeros[SCU_BLOCK];	/* stay so */
	struct scu_segment segment[SCU_BLOCK + 1];
	uint8_t bounce[SCU_BLOCK * 8 + SCU_PAD] __attribute__((aligned(64)));
	uint8_t values[SCU_BLOCK * 8 + SCU_PAD] __attribute__((aligned(64)));
	uint8_t ids[SCU_BLOCK * 4 + SCU_PAD] __attribute__((aligned(64)));
	uint8_t cost[2][SCU_BLOCK * 8 + SCU_PAD] __attribute__((aligned(64)));
	uint8_t stage[SCU_STAGE + SCU_BLOCK * 8 + 2 * SCU_PAD] __attribute__((aligned(64)));
};

/* What @param says; of APPLY without what it ignores. */
struct scu_params scu_params_of(unsigned opcode, uint32_t param);
/* Bytes of an operand of @count elements, bits or table lines. */
uint64_t scu_operand_bytes(const struct scu_params *p, unsigned slot, uint64_t count);
/* Lines that a table may have. */
static inline bool scu_table_lines_valid(uint64_t lines)
{
	return lines >= GTU_TABLE_WAYS && lines <= GTU_TABLE_LINES_MAX && !(lines & (lines - 1));
}

/* Check the operands' counts against each other, once an operation. False: it has failed. */
bool scu_core_start(struct scu_run *r);
/* Take up an operation whose operands (they may have moved) have been set. False: it has failed. */
bool scu_core_begin(struct scu_run *r);
/* Go on for about @cycles. False: it has ended, or failed. To be called once behind scu_core_begin(). */
bool scu_core_run(struct scu_run *r, uint64_t cycles);
/* Cycles so far without any fetch. */
uint64_t scu_core_beats(const struct scu_run *r);
/* The same for a pipeline's port: the next beat, and its cycles. False: there is none. */
bool scu_core_beat(struct scu_run *r, uint32_t *cycles);
/* Elements put out, or kept by PRODUCE. */
uint64_t scu_core_count(const struct scu_run *r);
/* The unit's counters of this operation, apart from jobs and cycles. */
void scu_core_counters(const struct scu_run *r, uint64_t count[GTU_SCU_COUNTERS]);

#endif
