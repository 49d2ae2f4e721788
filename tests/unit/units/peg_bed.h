/* SPDX-License-Identifier: MIT */
/*
 * Test bed for PEG streams in a device: a random graph, input list and rings, and consumers of any
 * speed.
 */
#ifndef PEG_BED_H
#define PEG_BED_H

#include "tests/unit/fixture.h"
#include "firmware-model/units/peg/peg_core.h"

#define N_MAX		3000u
#define RING_LOG2	6u

enum { ROW, COL, WEIGHT, INPUT, RINGS, OUTPUT, SPILL, BLOCK, BUFFERS };

struct bed {
	struct fx *f;
	struct fx_buffer *buffer[BUFFERS];
	uint32_t key[BUFFERS];
	uint64_t row[N_MAX + 1], n, m, inputs, outputs, spill_lines;
	uint32_t *input;
	uint32_t param, ring, return_log2;
	uint64_t imm, limit;
	unsigned engines;
	size_t stride, record_bytes;
};

struct run {
	uint8_t *records[32];
	size_t count[32], room[32];
	uint64_t *list, listed;
	struct gtu_hw_cpl cpl;
};

static inline unsigned pick(uint64_t *r, unsigned low, unsigned high)
{
	return low + (unsigned)(test_random(r) % (high - low + 1));
}

static inline unsigned id_log2(const struct bed *b)
{
	return b->param & GTU_PEG_IDS_8 ? 3 : 2;
}

static inline void put(uint8_t *at, uint64_t i, bool wide, uint64_t value)
{
	if (wide)
		((uint64_t *)(void *)at)[i] = value;
	else
		((uint32_t *)(void *)at)[i] = (uint32_t)value;
}

static inline uint64_t get(const uint8_t *at, uint64_t i, bool wide)
{
	return wide ? ((const uint64_t *)(const void *)at)[i] : ((const uint32_t *)(const void *)at)[i];
}

/*
 * Byte offset of field @f (source, destination, weight, index) in a record, and whether it is wide.
 */
static inline size_t field(const struct bed *b, unsigned f, bool *wide)
{
	const uint32_t wides[4] = { GTU_PEG_IDS_8, GTU_PEG_IDS_8, GTU_PEG_WEIGHTS_8, GTU_PEG_OFFSETS_8 };
	size_t at = 64;

	for (unsigned i = 0; i < f; i++)
		at += b->param & GTU_PEG_WITH_SRC << i ? (b->param & wides[i] ? 256 : 128) : 0;
	*wide = b->param & wides[f];
	return at;
}

/* Create all buffers for the widths in b->param. */
static inline void lay_out(struct bed *b, bool scattered, uint64_t seed)
{
	const size_t bytes[BUFFERS] = { 8 * (N_MAX + 1), 8 * b->m + 8, 8 * b->m + 8, 8 * N_MAX + 8, 0,
					8 * b->outputs + 8, 128 * b->spill_lines + 128, 4096 };
	const uint32_t both = GTU_REGION_READ | GTU_REGION_WRITE;
	const uint32_t rights[BUFFERS] = { GTU_REGION_READ, GTU_REGION_READ, GTU_REGION_READ, GTU_REGION_READ, both,
					   GTU_REGION_WRITE, both, GTU_REGION_READ };
	bool wide;

	b->record_bytes = b->param & GTU_PEG_VERTEX_LIST ? 64 + (32u << id_log2(b)) : field(b, 3, &wide);
	if (b->param & GTU_PEG_WITH_INDEX)
		b->record_bytes += b->param & GTU_PEG_OFFSETS_8 ? 256 : 128;
	b->stride = GTU_PEG_STRIDE(b->ring, b->record_bytes, b->return_log2 ? 1ull << b->return_log2 << id_log2(b) : 0);
	for (unsigned i = 0; i < BUFFERS; i++) {
		const size_t size = (i == RINGS ? 16 * b->stride : bytes[i]) + 8;

		b->buffer[i] = fx_buffer(b->f, size);
		b->key[i] = scattered && i != BLOCK && size < 1 << 20 ?
			fx_region_scattered(b->f, b->buffer[i], 8, b->buffer[i]->bytes - 8, rights[i], 1 + (unsigned)(seed + i) % 3) :
			fx_region(b->f, b->buffer[i], 8, b->buffer[i]->bytes - 8, rights[i]);
	}
	for (uint64_t v = 0; v <= b->n; v++)
		put(b->buffer[ROW]->at + 8, v, b->param & GTU_PEG_OFFSETS_8, b->row[v]);
	for (uint64_t i = 0; i < b->m; i++) {
		put(b->buffer[COL]->at + 8, i, b->param & GTU_PEG_IDS_8, i * 7 % b->n);
		put(b->buffer[WEIGHT]->at + 8, i, b->param & GTU_PEG_WEIGHTS_8, ~i * 5);
	}
	for (uint64_t i = 0; i < b->inputs; i++)
		put(b->buffer[INPUT]->at + 8, i, b->param & GTU_PEG_IDS_8, b->input[i]);
}

static inline void make(struct bed *b, const struct gtu_dev_config *config, uint64_t seed)
{
	uint64_t r = seed * 77 + 5;
	const unsigned kind = pick(&r, 0, 3);

	memset(b, 0, sizeof(*b));
	b->f = fx_open(config, seed);
	b->n = pick(&r, 1, pick(&r, 0, 3) ? 300 : N_MAX);
	for (unsigned v = 0; v < b->n; v++)
		b->row[v + 1] = b->row[v] + (kind == 0 ? pick(&r, 0, 5) : kind == 1 ? pick(&r, 0, 60) :
					     pick(&r, 0, 100) ? pick(&r, 0, 4) : pick(&r, 500, 2000));
	b->m = b->row[b->n];
	b->input = test_alloc(b->n + 1, 4);
	b->inputs = pick(&r, 0, 5) ? pick(&r, 0, (unsigned)b->n) : pick(&r, 0, 2);
	for (unsigned i = 0; i < b->inputs; i++)
		b->input[i] = pick(&r, 0, (unsigned)b->n - 1);
	b->engines = pick(&r, 1, 16);
	b->ring = 1u << RING_LOG2;
	b->param = (pick(&r, 0, 1) ? GTU_PEG_PULL : 0) | (pick(&r, 0, 1) ? GTU_PEG_OFFSETS_8 : 0) |
		   (pick(&r, 0, 1) ? GTU_PEG_IDS_8 : 0) | (pick(&r, 0, 1) ? GTU_PEG_WEIGHTS_8 : 0) |
		   (pick(&r, 0, 3) ? GTU_PEG_BALANCE_EDGES : 0) | b->engines << GTU_PEG_ENGINES_SHIFT;
	b->param |= b->param & GTU_PEG_BALANCE_EDGES && pick(&r, 0, 1) ? GTU_PEG_STAND_BY : 0;
	b->param |= (pick(&r, 1, 15) * GTU_PEG_WITH_SRC);
	if (!pick(&r, 0, 6))
		b->param = GTU_PEG_VERTEX_LIST | (b->param & GTU_PEG_IDS_8) | b->engines << GTU_PEG_ENGINES_SHIFT;
	if (pick(&r, 0, 1)) {
		b->return_log2 = pick(&r, 5, 8);
		b->outputs = b->m + b->n + 64;
		b->spill_lines = b->outputs / 15 + 40;
	}
	b->imm = (pick(&r, 0, 1) ? 0 : 16 * pick(&r, 1, 100)) | (pick(&r, 0, 1) ? 0ull : (1024ull + 32 * pick(&r, 0, 32)) << 32);
	b->limit = 0;
}

static inline struct gtu_hw_desc describe(struct bed *b)
{
	struct gtu_hw_operand *op = (void *)(b->buffer[BLOCK]->at + 8);
	const bool list = b->param & GTU_PEG_VERTEX_LIST;

	memset(op, 0, 7 * sizeof(*op));
	if (!list) {
		op[0] = (struct gtu_hw_operand){ b->key[ROW], (uint32_t)b->n + 1, 0 };
		op[1] = (struct gtu_hw_operand){ b->key[COL], (uint32_t)b->m, 0 };
		if (b->param & GTU_PEG_WITH_WEIGHT)
			op[2] = (struct gtu_hw_operand){ b->key[WEIGHT], GTU_COUNT_TO_END, 0 };
	}
	op[3] = (struct gtu_hw_operand){ b->key[INPUT], (uint32_t)b->inputs, 0 };
	op[4] = (struct gtu_hw_operand){ b->key[RINGS], b->ring, 0 };
	if (b->return_log2)
		op[5] = (struct gtu_hw_operand){ b->key[OUTPUT], (uint32_t)b->outputs, 0 };
	if (b->return_log2 && b->spill_lines)
		op[6] = (struct gtu_hw_operand){ b->key[SPILL], (uint32_t)b->spill_lines, 0 };
	return (struct gtu_hw_desc){
		.opcode = GTU_OP_PEG_STREAM, .flags = GTU_DESC_BLOCK, .param = b->param, .imm = b->imm,
		.param2 = b->return_log2, .limit = (uint32_t)b->limit,
		.operand = { { b->key[BLOCK], 7, 0 } },
	};
}

static inline struct gtu_hw_ring *ring(struct bed *b, unsigned e)
{
	return (void *)(b->buffer[RINGS]->at + 8 + e * b->stride);
}

/* Push @vertex to engine @e's return ring; false if the ring is full. */
static inline bool push(struct bed *b, unsigned e, uint64_t vertex)
{
	struct gtu_hw_ring *h = ring(b, e);
	const uint32_t size = 1u << b->return_log2;

	if (h->returned - h->received == size)
		return false;
	put((uint8_t *)h + 64 + b->ring * b->record_bytes, h->returned & (size - 1), b->param & GTU_PEG_IDS_8, vertex);
	h->returned++;
	return true;
}

/*
 * Run a stream to completion, pushing every third lane's number. Consumers poll once in @lazy
 * rounds; 0: always.
 */
static inline void drive(struct bed *b, struct run *r, uint64_t budget, unsigned lazy, uint64_t seed)
{
	const struct gtu_hw_desc d = describe(b);
	size_t pushed[32] = { 0 };	/* lanes of the engine that were considered for pushing */
	unsigned rounds = 0;

	memset(r, 0, sizeof(*r));
	for (unsigned e = 0; e < b->engines; e++)
		memset(ring(b, e), 0, 64);
	fx_submit_to(b->f, 0, &d);
	for (bool done = false; !done;) {
		bool waits = false;

		done = fx_poll(b->f, 0, &r->cpl);
		if (gtu_dev_pending(b->f->dev))
			gtu_dev_step(b->f->dev, budget ? budget : 1 + test_random(&seed) % 3000);
		CHECKF(rounds++ < 3000000, "seed %" PRIu64 ": the stream does not end", seed);
		for (unsigned e = 0; e < b->engines; e++) {
			struct gtu_hw_ring *h = ring(b, e);

			CHECK(h->producer - h->consumer <= b->ring);
			waits |= h->waiting;
			if (!done && lazy && test_random(&seed) % lazy)
				continue;
			while (h->consumer != h->producer) {
				if (r->count[e] == r->room[e]) {
					r->room[e] = 2 * r->room[e] + 64;
					r->records[e] = test_grow(r->records[e], r->room[e] * b->record_bytes);
				}
				memcpy(r->records[e] + r->count[e]++ * b->record_bytes,
				       (uint8_t *)h + 64 + (h->consumer & (b->ring - 1)) * b->record_bytes,
				       b->record_bytes);
				h->consumer++;
			}
			for (; b->return_log2 && pushed[e] < 32 * r->count[e]; pushed[e]++) {
				const uint8_t *rec = r->records[e] + pushed[e] / 32 * b->record_bytes;
				const struct gtu_hw_warp *w = (const void *)rec;

				if (w->active >> pushed[e] % 32 & 1 && pushed[e] % 3 == 0 &&
				    !push(b, e, 1000000 * e + pushed[e]))
					break;
			}
			if (b->return_log2 && h->ended && pushed[e] == 32 * r->count[e] &&
			    h->consumer == h->producer)
				h->closed = 1;
			if (b->param & GTU_PEG_DEMAND)
				h->requested = h->producer + pick(&seed, 0, 3) + 1;
		}
		if (waits)
			fx_doorbell(b->f, 0, GTU_DB_KICK, 1);
	}
	for (unsigned e = 0; e < b->engines; e++)
		CHECK(ring(b, e)->ended == 1 && ring(b, e)->waiting == 0);
	r->listed = r->cpl.needed;
	if (b->return_log2 && r->cpl.status == GTU_CPL_OK) {
		CHECK(r->listed <= b->outputs);
		r->list = test_alloc(r->listed + 1, 8);
		for (uint64_t i = 0; i < r->listed; i++)
			r->list[i] = get(b->buffer[OUTPUT]->at + 8, i, b->param & GTU_PEG_IDS_8);
	}
}

static inline int by_value(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

#endif
