/* SPDX-License-Identifier: MIT */
/*
 * Inside the SCU. A job goes block by block: generation (scu_generate.c) turns input elements into the
 * elements that the operation selects, numbered in order (their ordinals); a sink (scu_sink.c) writes,
 * filters, groups or places them. scu.c checks descriptors and runs the schedule.
 *
 * Whatever decides an address is copied once into the block, checked there and used from there.
 * Documentation/units-scu.md says what is computed and what it costs.
 */
#ifndef GTU_SCU_H
#define GTU_SCU_H

#include "firmware-model/device/device.h"
#include "scu_kernels.h"
#include "scu_table.h"

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

/* What is kept from one run() to the next, in job->state. */
struct scu_state {
	uint8_t phase;
	uint8_t pass;			/* 1: the applying half of a fused job with grouping */
	uint8_t bits;			/* of a bit vector's byte that is not yet whole */
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
	uint64_t units;			/* of work so far: the width in units is a cycle */
	uint64_t probes, evictions;
	uint64_t counted[GTU_SCU_COUNTERS]; /* what the unit's counters already have of this job */
};
_Static_assert(sizeof(struct scu_state) <= GTU_JOB_STATE_BYTES, "the SCU's state fits a job");

/* What the descriptor says, taken apart. */
struct scu_params {
	uint8_t op, step;
	uint8_t width, index_width, count_width, cost_width; /* log2 of bytes */
	uint8_t type, cmp, target;
	bool unique, best, group, keep;
	bool filters;			/* unique or best */
	bool runs;			/* REPLICATE, EXPAND */
	bool indexed;			/* ACCESS, EXPAND */
};

enum scu_sink {
	SINK_PLAIN,
	SINK_FILTER,
	SINK_GROUP,
	SINK_APPLY_FILTER,
	SINK_APPLY_REORDER,
};

/* One call of run(); scratch memory of the unit, nothing in it outlives the call. */
struct scu_run {
	struct gtu_job *job;
	struct scu_state *s;
	const struct scu_kernels *k;
	struct scu_params p;
	struct gtu_mem *mem;
	enum scu_sink sink;
	uint64_t n;			/* input elements */
	uint32_t lanes;			/* the unit's width */
	uint32_t latency;		/* cycles of a fetch */
	uint32_t merge;			/* merge window */
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

/*
 * Generate the next block, using at most @slots. False: host memory did not answer. m may be 0 with slots
 * used (nothing selected), or with `full` or `error` set.
 */
bool scu_generate(struct scu_run *r, uint64_t slots);
/* Input element of element @k of the block, and the slots used before it. */
uint64_t scu_where(const struct scu_run *r, size_t k, uint64_t *slots);
/* Count what the inputs from the one at hand on would put out, at most @slots of them. */
bool scu_count(struct scu_run *r, uint64_t slots);
/* BITMASK: compare the next inputs, at most @slots, and put their bits out. */
bool scu_compare(struct scu_run *r, uint64_t slots);
/* @n bits from bit @first of a bit vector on, zeros behind them. */
bool scu_load_bits(struct gtu_mem *m, uint64_t first, size_t n, uint64_t *bits);

/* Hand the block to the sink. False: the job has ended in error. */
bool scu_sink(struct scu_run *r);
/* Append @n bits at bit @at of a bit vector; the last byte is held back until it is whole. */
bool scu_append_bits(struct scu_run *r, struct gtu_mem *m, uint64_t at, const uint64_t *bits, size_t n);
/* Write that byte, zeros behind bit @at. */
bool scu_finish_bits(struct scu_run *r, struct gtu_mem *m, uint64_t at);
/* Write the output that was collected. */
bool scu_flush(struct scu_run *r);
/* Emit from one set of the group table; false as above. */
bool scu_drain_set(struct scu_run *r, uint64_t set);

/* End the job in an error met at input element @element; @value is what was met there. */
bool scu_fail(struct scu_run *r, unsigned status, unsigned place, uint64_t element, uint64_t value);

static inline struct scu_filter scu_filter_of(const struct scu_run *r)
{
	struct gtu_mem *m = &r->mem[GTU_SCU_FILTER_TABLE];

	return (struct scu_filter){
		.mem = m,
		.id_log2 = r->p.width < 2 ? 2 : r->p.width,
		.cost_log2 = r->p.best ? r->p.cost_width : 0,
		.type = r->p.type,
		.sets_log2 = m->count ? __builtin_ctzll(m->count / SCU_WAYS) : 0,
		.merge = r->merge,
	};
}

static inline struct scu_group scu_group_of(const struct scu_run *r)
{
	struct gtu_mem *m = &r->mem[GTU_SCU_GROUP_TABLE];

	return (struct scu_group){
		.mem = m,
		.reorder = &r->mem[GTU_SCU_REORDER],
		.target = r->job->desc.imm,
		.target_log2 = r->p.target,
		.id_log2 = r->p.width,
		.sets_log2 = m->count ? __builtin_ctzll(m->count / SCU_WAYS) : 0,
		.merge = r->merge,
		.rank = r->s->rank,
		.groups = r->s->groups,
	};
}

#endif
