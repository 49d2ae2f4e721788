/* SPDX-License-Identifier: MIT */
/*
 * Hostile contexts for test_hostile.c: their regions, which are mapped and unmapped, and their
 * descriptors. Values are invalid often enough to test every check, and valid often enough to reach
 * the inside of every unit.
 */
#ifndef GTU_HOSTILE_H
#define GTU_HOSTILE_H

#include "tests/unit/fixture.h"

#define CANARY		0xa7
#define LIMIT		64u		/* maximum limit of a job, x 1024 cycles */

/* Purpose of a region. A job uses any region for any operand, and the suitable one more often. */
enum { READ_ONLY, BLOCKS, GRAPH, TABLE, RINGS, SPARE, OUT, APERTURE, REGIONS };

struct region {
	struct fx_buffer *b, *lists;	/* b is NULL in the aperture; lists is NULL if not scattered */
	uint8_t *at;			/* its first byte in this process */
	uint64_t first, length;		/* offset of its first byte in the buffer; bytes */
	uint32_t key, rights;
	uint64_t sum;			/* checksum of READ_ONLY */
	bool mapped;
};

/* A context whose user and driver do everything that they can. */
struct hostile {
	struct fx *f;
	uint64_t context;
	struct fx_buffer *table;
	struct region region[REGIONS];
	uint64_t *seed;
};

static inline uint64_t draw(struct hostile *l, uint64_t n)
{
	return test_random(l->seed) % n;
}

/* Mostly small numbers: they reach further into the units than uniform random numbers. */
static inline uint64_t hostile_value(uint64_t *seed, uint64_t length)
{
	const uint64_t r = test_random(seed);

	switch (r & 7) {
	case 0:
		return r;
	case 1:
		return length + (r >> 8) % 5 - 2;
	case 2:
		return ~0ull - (r >> 8) % 3;
	default:
		return (r >> 8) % 64;
	}
}

/* ---- Regions --------------------------------------------------------------------------------- */

static inline uint64_t checksum(const struct region *p)
{
	uint64_t sum = 0, n;

	for (n = 0; n < p->length; n++)
		sum += p->at[n] * (n + 1);
	return sum;
}

/* Fill with mostly valid content; the rewriting thread degrades it over time. */
static inline void region_fill(struct hostile *l, unsigned i)
{
	struct region *p = &l->region[i];
	uint32_t *word = (uint32_t *)p->at, n, edges = 0;
	struct gtu_hw_registration *reg = (void *)p->at;

	switch (i) {
	case GRAPH:		/* 256 offsets, then edges */
		for (n = 0; n < 256; n++) {
			word[n] = edges;
			edges += (uint32_t)draw(l, 6);
		}
		for (; n < p->length / 4; n++)
			word[n] = (uint32_t)draw(l, 32);
		return;
	case TABLE:
		for (n = 0; n < p->length / sizeof(*reg); n++)
			reg[n] = (struct gtu_hw_registration){ .entry = n % 64, .vid = n, .start = 3 * n, .degree = draw(l, 6) };
		return;
	case RINGS:
		memset(p->at, 0, p->length);
		return;
	}
	for (n = 0; n < p->length / 4; n++) {
		const uint64_t r = test_random(l->seed);

		word[n] = r % 1024 == 0 ? (uint32_t)(r >> 32) : r % 8 ? 0 : r >> 16 & 63;
	}
	p->sum = checksum(p);
}

static inline struct gtu_hw_region *table_entry(struct hostile *l, unsigned i)
{
	return (struct gtu_hw_region *)(void *)l->table->at + i;
}

/* Map a region at a new address with a new length; one in three is scattered. */
static inline void region_map(struct hostile *l, unsigned i)
{
	static const uint32_t both = GTU_REGION_READ | GTU_REGION_WRITE;
	struct region *p = &l->region[i];
	struct gtu_hw_region *e = table_entry(l, i);
	const uint32_t generation = (GTU_KEY_GENERATION(p->key) + 1) & 0xffff;
	const bool scattered = draw(l, 3) == 0;
	uint64_t *list, page, pages;

	p->rights = i == READ_ONLY ? GTU_REGION_READ : i == OUT && draw(l, 2) ? GTU_REGION_WRITE : both;
	p->key = GTU_KEY(generation ? generation : 1, i);
	if (i == APERTURE) {
		p->first = 8 * (1 + draw(l, 100)) + 16384 * l->context;
		p->length = 8 * (500 + draw(l, 1400));
		p->at = (uint8_t *)gtu_dev_config(l->f->dev)->aperture + p->first;
		*e = (struct gtu_hw_region){ .base = p->first & ~7ull, .flags = GTU_REGION_APERTURE };
	} else {
		p->b = fx_buffer(l->f, i % 2 ? 12000 : 20000);
		p->first = 8 * draw(l, 200);
		p->length = p->b->bytes - p->first - 8 * draw(l, 200);
		p->at = p->b->at + p->first;
		memset(p->b->at, CANARY, p->b->bytes);
		p->b->writable = i != READ_ONLY;
		*e = (struct gtu_hw_region){ .base = p->b->bus, .offset = p->first };
		if (scattered) {
			pages = p->b->bytes / FX_PAGE;
			p->lists = fx_buffer(l->f, GTU_CHUNK_BYTES);
			p->lists->writable = false;
			p->b->page_bus = calloc(pages, sizeof(*p->b->page_bus));
			CHECK(p->b->page_bus);
			list = (void *)p->lists->at;
			/* in descending order, and never contiguous */
			for (page = 0; page < pages; page++)
				list[page] = p->b->page_bus[page] = l->f->next_bus + 2 * (pages - page) * FX_PAGE;
			l->f->next_bus += 2 * (pages + 2) * FX_PAGE;
			p->b->bus = 0;
			e->base = p->lists->bus;
			e->flags = 1u << GTU_REGION_LEVELS_SHIFT;
		}
	}
	region_fill(l, i);
	e->key = p->key;
	e->length = p->length;
	e->flags |= GTU_REGION_VALID | p->rights | 12u << GTU_REGION_PAGE_SHIFT;
	p->mapped = true;
}

/*
 * Unmap as a driver does: the entry, INVALIDATE, then the memory. @after_reset: a reset makes
 * INVALIDATE unnecessary.
 */
static inline void region_unmap(struct hostile *l, unsigned i, bool after_reset)
{
	const uint64_t arg[2] = { l->context, i };
	struct region *p = &l->region[i];

	table_entry(l, i)->flags = 0;
	if (!after_reset) {
		fx_mailbox(l->f, GTU_MBOX_INVALIDATE, 2, arg);
		CHECK_EQ(fx_mailbox_status(l->f), GTU_MBOX_E_OK);
	}
	if (p->b)
		fx_buffer_free(p->b);
	else if (p->mapped)
		memset(p->at, CANARY, p->length);
	if (p->lists)
		fx_buffer_free(p->lists);
	p->b = p->lists = NULL;
	p->mapped = false;
	p->length = 0;
}

/*
 * ---- Descriptors -------------------------------------------------------------------------------
 */

static inline struct gtu_hw_operand any_operand(struct hostile *l)
{
	const struct region *p = &l->region[draw(l, REGIONS)];
	struct gtu_hw_operand op = { p->key, (uint32_t)hostile_value(l->seed, p->length), hostile_value(l->seed, p->length) & ~7ull };

	switch (draw(l, 16)) {
	case 0 ... 4:
		return (struct gtu_hw_operand){ 0 };
	case 5:
		op.key = (uint32_t)test_random(l->seed);
		break;
	case 6 ... 12:
		op.offset = draw(l, 4) * 64;
		op.count = 16u << draw(l, 5);
		break;
	}
	return op;
}

/* Offset of rings, mostly of unused (zeroed) ones. */
static inline uint64_t ring_offset(struct hostile *l)
{
	const struct region *p = &l->region[RINGS];
	const uint64_t at = draw(l, 6) * 1024;

	if (p->mapped && draw(l, 16))
		memset(p->at + at, 0, 4096);
	return at;
}

/* @count elements of region @i, in nearly all cases. */
static inline struct gtu_hw_operand fitting(struct hostile *l, unsigned i, uint32_t count, uint64_t offset)
{
	const uint64_t r = test_random(l->seed);

	if (r % 64 == 0)
		return any_operand(l);
	if (r % 32 == 1)	/* to the region's end, give or take 8 bytes */
		offset = l->region[i].length - ((uint64_t)count << (r >> 8) % 4) + 8 * ((r >> 16) % 3) - 8;
	return (struct gtu_hw_operand){ l->region[i].key, count, offset };
}

/* A region for an output; rarely one that other jobs read. */
static inline unsigned writable(struct hostile *l)
{
	static const uint8_t usual[] = { SPARE, OUT, APERTURE };

	return draw(l, 64) ? usual[draw(l, 3)] : 1 + (unsigned)draw(l, REGIONS - 1);
}

/* A region for an input; rarely one that may not be read. */
static inline unsigned readable(struct hostile *l)
{
	static const uint8_t usual[] = { READ_ONLY, SPARE, APERTURE, READ_ONLY };

	return draw(l, 64) ? usual[draw(l, 4)] : (unsigned)draw(l, REGIONS);
}

static inline uint32_t scu_param(struct hostile *l, unsigned opcode)
{
	const uint64_t r = test_random(l->seed);
	uint32_t p = (r & 3) << GTU_SCU_WIDTH_SHIFT;
	const uint32_t how = r >> 16 & 7;

	if (opcode == GTU_OP_SCU_BITMASK)
		return p | (r >> 8 & 1) << GTU_SCU_TYPE_SHIFT | (r >> 9) % 6 << GTU_SCU_CMP_SHIFT;
	if (opcode == GTU_OP_SCU_ACCESS || opcode == GTU_OP_SCU_EXPAND)
		p |= (2 + (r >> 8 & 1)) << GTU_SCU_INDEX_SHIFT;
	if (opcode == GTU_OP_SCU_REPLICATE || opcode == GTU_OP_SCU_EXPAND)
		p |= (2 + (r >> 9 & 1)) << GTU_SCU_COUNT_SHIFT;
	if (how == 0)
		return p;
	if (how == 1)
		return p | GTU_STEP_APPLY << GTU_SCU_STEP_SHIFT;
	p |= (r >> 10 & 1 ? GTU_STEP_PRODUCE : GTU_STEP_FUSED) << GTU_SCU_STEP_SHIFT;
	p |= how & 1 ? GTU_SCU_KEEP : 0;
	p |= how & 2 ? GTU_SCU_GROUP | (r >> 20 & 7) << GTU_SCU_TARGET_SHIFT : 0;
	if (how & 4 || !(how & 2))
		p |= r >> 11 & 1 ? GTU_SCU_UNIQUE :
				   GTU_SCU_BEST | (r >> 12) % 3 << GTU_SCU_TYPE_SHIFT | (2 + (r >> 14 & 1)) << GTU_SCU_COST_SHIFT;
	return p;
}

static inline void scu_operands(struct hostile *l, const struct gtu_hw_desc *d, struct gtu_hw_operand *op)
{
	const bool filters = d->param & (GTU_SCU_UNIQUE | GTU_SCU_BEST);
	const uint32_t n = 1u + (uint32_t)draw(l, 300), step = d->param >> GTU_SCU_STEP_SHIFT & 3, lines = 16u << draw(l, 2);
	uint32_t need = 1u << GTU_SCU_DATA | 1u << GTU_SCU_OUT, i;

	if (d->opcode != GTU_OP_SCU_BITMASK && draw(l, 2))
		need |= 1u << GTU_SCU_MASK;
	if (d->opcode == GTU_OP_SCU_ACCESS || d->opcode == GTU_OP_SCU_EXPAND)
		need |= 1u << GTU_SCU_INDEX;
	if (d->opcode == GTU_OP_SCU_REPLICATE || d->opcode == GTU_OP_SCU_EXPAND)
		need |= 1u << GTU_SCU_COUNT;
	if (step) {
		need |= filters || step == GTU_STEP_APPLY ? 1u << GTU_SCU_FILTER : 0;
		need |= filters ? 1u << GTU_SCU_FILTER_TABLE : 0;
		need |= d->param & GTU_SCU_GROUP ? 1u << GTU_SCU_GROUP_TABLE | 1u << GTU_SCU_REORDER : 0;
		need |= d->param & GTU_SCU_BEST ? 1u << GTU_SCU_COST_INPUT : 0;
		need &= step == GTU_STEP_PRODUCE ? ~(1u << GTU_SCU_OUT) : ~0u;
	}
	for (i = 0; i < GTU_SCU_OPERANDS; i++) {
		const bool table = i == GTU_SCU_FILTER_TABLE || i == GTU_SCU_GROUP_TABLE;

		op[i] = (struct gtu_hw_operand){ 0 };
		if (need >> i & 1)
			op[i] = fitting(l, i == GTU_SCU_OUT ? writable(l) : table || i >= GTU_SCU_FILTER ? SPARE : readable(l), table ? lines : n, draw(l, 8) * 64);
	}
}

static inline void peg_operands(struct hostile *l, struct gtu_hw_desc *d, struct gtu_hw_operand *op)
{
	const bool list = draw(l, 4) == 0;
	const uint32_t n = 32 + (uint32_t)draw(l, 60);

	memset(op, 0, GTU_PEG_OPERANDS * sizeof(*op));
	d->param = (draw(l, 2) ? GTU_PEG_WITH_SRC : 0) | GTU_PEG_WITH_DST | (draw(l, 4) ? 0 : GTU_PEG_WITH_INDEX) |
		   (draw(l, 2) ? GTU_PEG_BALANCE_EDGES : 0) | (draw(l, 4) ? 0 : GTU_PEG_BALANCE_LISTS) |
		   (draw(l, 8) ? 0 : GTU_PEG_STAND_BY) | (draw(l, 8) ? 0 : GTU_PEG_PULL) | (uint32_t)draw(l, 4) << GTU_PEG_ENGINES_SHIFT;
	if (draw(l, 16) == 0)
		d->param |= (uint32_t)test_random(l->seed) & GTU_PEG_PARAM_MASK;
	op[GTU_PEG_VERTICES] = fitting(l, GRAPH, n + 1, 0);
	op[GTU_PEG_EDGES] = fitting(l, GRAPH, 512, 1024);
	op[GTU_PEG_RINGS] = fitting(l, RINGS, 4u << draw(l, 3), ring_offset(l));
	if (list)
		op[GTU_PEG_INPUT] = fitting(l, GRAPH, n, 1024);
	if (d->param & GTU_PEG_WITH_WEIGHT)
		op[GTU_PEG_WEIGHTS] = fitting(l, readable(l), 512, 0);
	if (draw(l, 4) == 0) {
		op[GTU_PEG_OUTPUT] = fitting(l, OUT, 300, 0);
		op[GTU_PEG_SPILL] = fitting(l, SPARE, 40, 0);
		d->param2 = 5 + (uint32_t)draw(l, 2);
	}
}

static inline uint8_t any_opcode(struct hostile *l)
{
	static const uint8_t often[32] = {
		GTU_OP_NOP, GTU_OP_COPY, GTU_OP_COPY, GTU_OP_COPY, GTU_OP_FILL, GTU_OP_FILL, GTU_OP_FENCE,
		GTU_OP_SCU_BITMASK, GTU_OP_SCU_BITMASK, GTU_OP_SCU_DATA, GTU_OP_SCU_DATA, GTU_OP_SCU_DATA, GTU_OP_SCU_ACCESS,
		GTU_OP_SCU_ACCESS, GTU_OP_SCU_ACCESS, GTU_OP_SCU_REPLICATE, GTU_OP_SCU_REPLICATE, GTU_OP_SCU_REPLICATE,
		GTU_OP_SCU_EXPAND, GTU_OP_SCU_EXPAND, GTU_OP_SCU_EXPAND, GTU_OP_SCU_EXPAND, GTU_OP_IRU_STREAM, GTU_OP_IRU_STREAM,
		GTU_OP_IRU_STREAM, GTU_OP_PEG_STREAM, GTU_OP_PEG_STREAM, GTU_OP_PEG_STREAM, GTU_OP_WVR_STREAM, GTU_OP_WVR_STREAM,
		GTU_OP_WVR_STREAM, 0xff,
	};
	const uint8_t opcode = often[draw(l, 32)];

	return opcode == 0xff ? (uint8_t)test_random(l->seed) : opcode;
}

/* Operands and parameters that suit the operation, of about the right size. */
static inline void sensible(struct hostile *l, struct gtu_hw_desc *d, struct gtu_hw_operand *op)
{
	const uint32_t n = 1u + (uint32_t)draw(l, 300);

	if (d->opcode >= GTU_OP_SCU_BITMASK && d->opcode <= GTU_OP_SCU_EXPAND) {
		d->param = scu_param(l, d->opcode);
		d->imm = d->param & GTU_SCU_GROUP || d->opcode == GTU_OP_SCU_BITMASK ? hostile_value(l->seed, 4096) : 0;
		scu_operands(l, d, op);
		return;
	}
	switch (d->opcode) {
	case GTU_OP_FILL:
		d->imm = test_random(l->seed);
		/* fall through */
	case GTU_OP_COPY:
		d->param = (uint32_t)draw(l, 4);
		op[1] = fitting(l, writable(l), n, draw(l, 16) * 64);
		if (d->opcode == GTU_OP_COPY)
			op[0] = fitting(l, readable(l), n, draw(l, 16) * 64);
		break;
	case GTU_OP_IRU_STREAM:
		d->param = (uint32_t)draw(l, 5) << GTU_IRU_OP_SHIFT | (uint32_t)draw(l, 8) << GTU_IRU_TARGET_SHIFT |
			   (draw(l, 4) ? 0 : GTU_IRU_ALL) | (draw(l, 8) ? 0 : GTU_IRU_DEMAND) |
			   (draw(l, 2) ? GTU_IRU_WITH_SECONDARY : 0) | (draw(l, 2) ? GTU_IRU_WITH_POSITION : 0);
		d->imm = draw(l, 4) ? 0 : hostile_value(l->seed, 4096);
		d->param2 = (uint32_t)draw(l, 256);
		op[GTU_IRU_INDICES] = fitting(l, readable(l), n, draw(l, 8) * 64);
		op[GTU_IRU_SECONDARY] = fitting(l, readable(l), n, draw(l, 8) * 64);
		op[GTU_IRU_RING] = fitting(l, RINGS, 4u << draw(l, 3), ring_offset(l));
		if (!draw(l, 4)) {
			const uint32_t ranges = 1 + (uint32_t)draw(l, 64);

			d->param |= GTU_IRU_RANGES | (draw(l, 2) ? GTU_IRU_INDEX_8 : 0);
			op[GTU_IRU_FIRST] = fitting(l, GRAPH, ranges, draw(l, 4) * 64);
			op[GTU_IRU_COUNT] = fitting(l, draw(l, 2) ? GRAPH : readable(l), ranges, draw(l, 4) * 64);
		}
		break;
	case GTU_OP_PEG_STREAM:
		peg_operands(l, d, op);
		break;
	case GTU_OP_WVR_STREAM:
		d->param = (uint32_t)draw(l, 4) & (draw(l, 8) ? 3 : 7);
		d->param2 = draw(l, 4) ? 0 : 3 + (uint32_t)draw(l, 4);
		op[GTU_WVR_TABLE] = fitting(l, TABLE, 1 + (uint32_t)draw(l, 64), draw(l, 4) * 64);
		op[GTU_WVR_RING] = fitting(l, RINGS, 8u << draw(l, 2), ring_offset(l));
		if (!draw(l, 4)) {
			d->param |= GTU_WVR_WITH_TARGET | (draw(l, 2) ? GTU_WVR_TARGETS_8 : 0);
			op[GTU_WVR_EDGES] = fitting(l, readable(l), draw(l, 2) ? GTU_COUNT_TO_END : n, draw(l, 4) * 64);
		}
		if (!draw(l, 4)) {
			d->param |= GTU_WVR_WITH_WEIGHT | (draw(l, 2) ? GTU_WVR_WEIGHTS_8 : 0);
			op[GTU_WVR_WEIGHTS] = fitting(l, readable(l), draw(l, 2) ? GTU_COUNT_TO_END : n, 0);
		}
		break;
	}
}

static inline struct gtu_hw_desc descriptor(struct hostile *l)
{
	const uint64_t r = test_random(l->seed);
	struct gtu_hw_operand op[GTU_BLOCK_OPERANDS] = { 0 }, *block;
	struct gtu_hw_desc d = { 0 };
	struct region *p = &l->region[BLOCKS];
	uint64_t where;
	unsigned i;

	if (r % 16 == 0) {
		for (i = 0; i < sizeof(d) / 8; i++)
			((uint64_t *)&d)[i] = test_random(l->seed);
		d.limit = LIMIT;
		return d;
	}
	d.opcode = any_opcode(l);
	d.limit = 1 + (uint32_t)draw(l, LIMIT);
	d.cookie = r;
	if (r >> 8 & 7) {
		sensible(l, &d, op);
	} else {
		d.param = (uint32_t)test_random(l->seed) & GTU_SCU_PARAM_MASK;
		for (i = 0; i < GTU_BLOCK_OPERANDS; i++)
			op[i] = any_operand(l);
	}
	for (i = GTU_DESC_OPERANDS; i < GTU_BLOCK_OPERANDS && !op[i].key; i++)
		;
	if (i == GTU_BLOCK_OPERANDS && r >> 12 & 3) {
		memcpy(d.operand, op, sizeof(d.operand));
		return d;
	}
	d.flags = GTU_DESC_BLOCK;
	where = 64 * draw(l, 8);
	i = d.opcode == GTU_OP_IRU_STREAM ? GTU_IRU_OPERANDS : d.opcode == GTU_OP_PEG_STREAM ? GTU_PEG_OPERANDS :
	    d.opcode == GTU_OP_WVR_STREAM ? GTU_WVR_OPERANDS : d.opcode >= GTU_OP_SCU_BITMASK ? GTU_SCU_OPERANDS : 2;
	d.operand[0] = (struct gtu_hw_operand){ p->key, i, where };
	if (p->mapped) {
		block = (struct gtu_hw_operand *)(void *)(p->at + where);
		for (i = 0; i < GTU_BLOCK_OPERANDS; i++)
			block[i] = op[i];
	}
	return d;
}

#endif
