// SPDX-License-Identifier: MIT
/* bringup: random jobs for lock step and vectors, with their memory. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bringup_jobs.h"
#include "gtu/splitmix64.h"

#define RW	(GTU_REGION_READ | GTU_REGION_WRITE)
const struct side_region jobs_region[JOBS_REGIONS] = {
	{ 0x00000, 0x8000, GTU_REGION_READ }, { 0x08000, 0x2000, GTU_REGION_READ }, { 0x0a000, 0x2000, GTU_REGION_READ },
	{ 0x0c000, 0x2000, GTU_REGION_READ }, { 0x0e000, 0x2000, GTU_REGION_READ }, { 0x10000, 0x8000, RW },
	{ 0x18000, 0x2000, RW }, { 0x1a000, 0x4000, GTU_REGION_READ }, { 0x1e000, 0x6000, GTU_REGION_READ },
	{ 0x24000, 0xa000, RW }, { 0x2e000, 0x1000, RW }, { 0x2f000, 0x8000, RW }, { 0x37000, 0x8000, RW },
	{ 0x40000, 0x20000, GTU_REGION_READ },
};
const char *const jobs_region_name[] = {
	"-", "source", "indices", "counts", "registrations", "graph", "output", "vectors", "costs", "8-byte indices and counts", "ring",
	"list", "tables", "errors", "blocks",
};
const char *const jobs_cover_name[] = {
#define NAME(NAME, name) name,
	JOBS_COVER_ROWS(NAME)
};

#define ELEMENTS	2048u		/* that indices name */
#define WIDE_COUNTS	0x4000u		/* offset of 8-byte counts in JOBS_WIDE, behind the indices */
#define WIDE_BAD	1024u		/* 8-byte indices: from here on they have high halves */
#define REORDER		0x400u		/* offset in JOBS_VEC, behind the filter mask */
#define VECTOR		256u		/* elements of each */
#define LINES		64u		/* of every table, so that KEEP finds its layout */
#define TABLE_BYTES	0x1000u		/* a table for each layout */
#define GROUP_TABLE	6u
#define BLOCK_BYTES	512u		/* a slot of JOBS_BLOCK for each job of a batch */
#define WVR_ENTRIES	64u
#define VERTICES	64u

uint64_t jobs_draw(struct jobs *j)
{
	return gtu_splitmix64_next(&j->seed);
}

uint32_t jobs_below(struct jobs *j, uint32_t n)
{
	return (uint32_t)((jobs_draw(j) >> 32) * n >> 32);
}

/* ---- Memory -------------------------------------------------------------------------------------------- */

/* Mostly numbers of similar size, of any type; also subnormal numbers, infinities and NaNs. */
static uint32_t cost(struct jobs *j)
{
	const uint32_t bits = (uint32_t)jobs_draw(j);

	switch (jobs_below(j, 32)) {
	case 0: return bits & 0x807fffff;
	case 1: return bits | 0x7f800000;
	default: return (bits & 0x81ffffff) | 0x3e000000;
	}
}

void jobs_fill(struct jobs *j, uint8_t *arena)
{
	uint64_t *source = jobs_at(arena, JOBS_SRC), *wide = jobs_at(arena, JOBS_WIDE);
	uint32_t *index = jobs_at(arena, JOBS_IDX), *count = jobs_at(arena, JOBS_CNT), *csr = jobs_at(arena, JOBS_CSR);
	uint32_t *costs = jobs_at(arena, JOBS_COST), i, edges = 0;
	struct gtu_hw_registration *reg = jobs_at(arena, JOBS_REG);

	for (i = 0; i < 0x8000 / 8; i++)
		source[i] = jobs_draw(j);
	for (i = 0; i < ELEMENTS; i++) {
		index[i] = jobs_below(j, jobs_below(j, 4) ? ELEMENTS : 64);
		count[i] = jobs_below(j, 4);
		wide[i] = jobs_below(j, jobs_below(j, 4) ? ELEMENTS : 64);
		if (i >= WIDE_BAD)
			wide[i] |= (uint64_t)jobs_below(j, 2) << 32;
	}
	for (i = ELEMENTS; i < 0x6000 / 8; i++)
		wide[i] = jobs_below(j, 4);
	for (i = 0; i < 0x4000 / 4; i++)
		costs[i] = cost(j);
	for (i = 0; i < WVR_ENTRIES; i++)
		reg[i] = (struct gtu_hw_registration){ .entry = i, .vid = jobs_below(j, 1000), .start = jobs_below(j, 100000),
						       .degree = jobs_below(j, 6) };
	for (i = 0; i <= VERTICES; i++) {
		csr[i] = edges;
		edges += jobs_below(j, 8);
	}
	for (i = 0; i < 512; i++)
		csr[128 + i] = jobs_below(j, VERTICES);
}

void jobs_put_block(struct side *s, const struct job *job)
{
	struct gtu_hw_operand *to = (void *)((uint8_t *)jobs_at(s->arena, JOBS_BLOCK) + job->desc.operand[0].offset);
	unsigned i;

	for (i = 0; i < job->desc.operand[0].count; i++) {
		to[i] = job->block[i];
		if (to[i].key)
			to[i].key = s->key[to[i].key - 1];
	}
}

const char *jobs_region_at(uint32_t offset, uint32_t *inside)
{
	unsigned i;

	for (i = 0; i < JOBS_REGIONS; i++) {
		*inside = offset - jobs_region[i].offset;
		if (offset >= jobs_region[i].offset && *inside < jobs_region[i].bytes)
			return jobs_region_name[i + 1];
	}
	*inside = offset;
	return "no region";
}

/* ---- Plain operations ------------------------------------------------------------------------------------------- */

/* A random aligned operand of up to @max elements of 2^@width bytes within @bytes of a region. */
static struct gtu_hw_operand part(struct jobs *j, unsigned region, uint32_t from, uint32_t bytes, unsigned width, uint32_t max)
{
	const uint32_t elements = bytes >> width, n = 1 + jobs_below(j, max < elements ? max : elements);

	return (struct gtu_hw_operand){ region, n, from + ((uint64_t)jobs_below(j, elements - n + 1) << width) };
}

static void basic(struct jobs *j, struct gtu_hw_desc *d)
{
	const unsigned width = jobs_below(j, 4);
	/* overwriting all of the output would hide earlier errors */
	const uint32_t max = jobs_below(j, 40) ? 200 : 0x8000;

	switch (jobs_below(j, 4)) {
	case 0:
		d->opcode = jobs_below(j, 8) ? GTU_OP_NOP : GTU_OP_FENCE;
		return;
	case 1:
		d->opcode = GTU_OP_FILL;
		d->imm = jobs_draw(j);
		break;
	default:
		d->opcode = GTU_OP_COPY;
		d->operand[0] = part(j, JOBS_SRC, 0, 0x8000, width, max);
	}
	d->param = width;
	d->operand[1] = part(j, JOBS_OUT, 0, 0x8000, width, max);
	if (d->opcode == GTU_OP_COPY && d->operand[0].count > d->operand[1].count)
		d->operand[0].count = d->operand[1].count;
}

/* @n elements of 4 bytes from a random one of @region on. */
static struct gtu_hw_operand words(struct jobs *j, unsigned region, uint32_t n)
{
	return (struct gtu_hw_operand){ region, n, 4ull * jobs_below(j, 1024) };
}

static void scu(struct jobs *j, struct gtu_hw_desc *d)
{
	const unsigned width = jobs_below(j, 2) ? 2 : jobs_below(j, 4);
	uint32_t n = 1 + jobs_below(j, 128);

	d->param = width << GTU_SCU_WIDTH_SHIFT;
	d->opcode = (uint8_t)(GTU_OP_SCU_BITMASK + jobs_below(j, 5));
	d->operand[GTU_SCU_DATA] = (struct gtu_hw_operand){ JOBS_SRC, d->opcode >= GTU_OP_SCU_ACCESS && d->opcode != GTU_OP_SCU_REPLICATE ?
								      ELEMENTS + 8 : n, 0 };
	d->operand[GTU_SCU_OUT] = (struct gtu_hw_operand){ JOBS_OUT, 512, (uint64_t)jobs_below(j, 64) * 64 };
	if (d->opcode != GTU_OP_SCU_BITMASK && jobs_below(j, 2))
		d->operand[GTU_SCU_MASK] = (struct gtu_hw_operand){ JOBS_SRC, n, jobs_below(j, 1024) };
	switch (d->opcode) {
	case GTU_OP_SCU_BITMASK:
		d->param |= jobs_below(j, 6) << GTU_SCU_CMP_SHIFT | jobs_below(j, 2) << GTU_SCU_TYPE_SHIFT;
		d->imm = jobs_below(j, 2) ? jobs_draw(j) : 0;
		break;
	case GTU_OP_SCU_EXPAND:
		d->param |= 2 << GTU_SCU_COUNT_SHIFT | 2 << GTU_SCU_INDEX_SHIFT;
		d->operand[GTU_SCU_INDEX] = words(j, JOBS_IDX, n);
		d->operand[GTU_SCU_COUNT] = words(j, JOBS_CNT, n);
		break;
	case GTU_OP_SCU_ACCESS:
		d->param |= 2 << GTU_SCU_INDEX_SHIFT;
		d->operand[GTU_SCU_INDEX] = words(j, JOBS_IDX, n);
		break;
	case GTU_OP_SCU_REPLICATE:
		d->param |= 2 << GTU_SCU_COUNT_SHIFT;
		d->operand[GTU_SCU_COUNT] = words(j, JOBS_CNT, n);
		break;
	}
}

void jobs_stream(struct jobs *j, struct gtu_hw_desc *d, uint32_t unit)
{
	if (unit == GTU_UNIT_IRU) {
		d->opcode = GTU_OP_IRU_STREAM;
		d->param = jobs_below(j, 4) << GTU_IRU_OP_SHIFT | jobs_below(j, 4) << GTU_IRU_TARGET_SHIFT | GTU_IRU_WITH_POSITION;
		d->operand[0] = words(j, JOBS_IDX, 1 + jobs_below(j, 200));
		d->operand[1] = words(j, JOBS_CNT, d->operand[0].count);
		d->param |= jobs_below(j, 2) ? GTU_IRU_WITH_SECONDARY : 0;
		d->operand[2] = (struct gtu_hw_operand){ JOBS_RING, JOBS_RING_COUNT, 0 };
	} else if (unit == GTU_UNIT_PEG) {
		d->opcode = GTU_OP_PEG_STREAM;
		d->param = GTU_PEG_WITH_SRC | GTU_PEG_WITH_DST | 1u << GTU_PEG_ENGINES_SHIFT;
		d->operand[0] = (struct gtu_hw_operand){ JOBS_CSR, 2 + jobs_below(j, VERTICES), 0 };
		d->operand[1] = (struct gtu_hw_operand){ JOBS_CSR, 512, 512 };
		d->operand[GTU_PEG_RINGS] = (struct gtu_hw_operand){ JOBS_RING, JOBS_RING_COUNT, 0 };
	} else {
		d->opcode = GTU_OP_WVR_STREAM;
		d->operand[0] = (struct gtu_hw_operand){ JOBS_REG, 1 + jobs_below(j, WVR_ENTRIES), 0 };
		d->operand[1] = (struct gtu_hw_operand){ JOBS_RING, JOBS_RING_COUNT, 0 };
	}
	/* if the unit is absent, device and model both answer ABSENT */
}

static void stream(struct jobs *j, struct gtu_hw_desc *d)
{
	static const uint8_t unit[] = { GTU_UNIT_IRU, GTU_UNIT_IRU, GTU_UNIT_PEG, GTU_UNIT_WVR };

	jobs_stream(j, d, unit[jobs_below(j, 4)]);
}

/* Make a descriptor that must be refused without effect. */
static void wrong(struct jobs *j, struct gtu_hw_desc *d)
{
	d->opcode = GTU_OP_COPY;
	d->operand[0] = (struct gtu_hw_operand){ JOBS_SRC, 16, 0 };
	d->operand[1] = (struct gtu_hw_operand){ JOBS_ERR, 16, 0 };
	switch (jobs_below(j, 9)) {
	case 0: d->opcode = (uint8_t)(0x50 + jobs_below(j, 100)); break;
	case 1: d->reserved0 = 1; break;
	case 2: d->flags = 0x8000; break;
	case 3: d->param = 0x10 << jobs_below(j, 20); break;
	case 4: d->operand[0].key = 0xfff0fff0u; break;
	case 5: d->operand[1].key = JOBS_SRC; break;
	case 6: d->operand[1].offset = 0x8000 - jobs_below(j, 16); break;
	case 7: d->operand[1].count = jobs_below(j, 16); break;
	case 8: d->operand[2 + jobs_below(j, 4)].count = 1; break;
	}
}

/* ---- Covers ----------------------------------------------------------------------------------------------------- */

static bool may(const struct jobs *j, enum jobs_cover cover)
{
	const uint32_t absent = (j->units & GTU_UNIT_SCU ? 0 : ~0u) | j->absent_scu;

	switch (cover) {
	case JOBS_COVER_FILTER:
	case JOBS_COVER_KEEP: return !(absent & GTU_ABSENT_SCU_FILTER);
	case JOBS_COVER_GROUP: return !(absent & GTU_ABSENT_SCU_GROUP);
	case JOBS_COVER_LIMIT: return !j->real_clocks;
	default: return true;
	}
}

/* Move the operands, @n slots, into a block at a slot of the batch's own. */
static void into_block(struct jobs *j, struct job *job, const struct gtu_hw_operand *op, unsigned n, bool anywhere, uint64_t number)
{
	const uint32_t spare = BLOCK_BYTES / sizeof(*op) - GTU_BLOCK_OPERANDS;

	memcpy(job->block, op, n * sizeof(*op));
	memset(job->desc.operand, 0, sizeof(job->desc.operand));
	job->desc.flags |= GTU_DESC_BLOCK;
	job->desc.operand[0] = (struct gtu_hw_operand){ JOBS_BLOCK, n, number % SIDE_BATCH * BLOCK_BYTES +
						       (anywhere ? 1 + jobs_below(j, spare) : 0) * sizeof(*op) };
}

static void block(struct jobs *j, struct job *job, uint64_t number)
{
	struct gtu_hw_operand op[GTU_BLOCK_OPERANDS] = { 0 };

	scu(j, &job->desc);
	memcpy(op, job->desc.operand, sizeof(job->desc.operand));
	into_block(j, job, op, GTU_DESC_OPERANDS + jobs_below(j, GTU_BLOCK_OPERANDS - GTU_DESC_OPERANDS + 1), true, number);
}

/* Filtering, grouping or both: fused, the first of two steps, or the second step. */
static void tables(struct jobs *j, struct job *job, uint64_t number)
{
	const bool wide = jobs_below(j, 2), indexed = jobs_below(j, 2), apply = !jobs_below(j, 8);
	const bool group = job->cover == JOBS_COVER_GROUP, filter = !group || (may(j, JOBS_COVER_FILTER) && jobs_below(j, 2));
	const bool best = job->cover == JOBS_COVER_FILTER && jobs_below(j, 2), fused = jobs_below(j, 2);
	const unsigned width = wide ? 3 : 2, cost_width = 2 + jobs_below(j, 2), layout = best ? 2 + 2 * wide + (cost_width - 2) : wide;
	const uint32_t n = 1 + jobs_below(j, 128), ids = wide ? JOBS_WIDE : JOBS_IDX;
	struct gtu_hw_operand op[GTU_BLOCK_OPERANDS] = { 0 };
	struct gtu_hw_desc *d = &job->desc;

	d->opcode = indexed ? GTU_OP_SCU_ACCESS : GTU_OP_SCU_DATA;
	d->param = width << GTU_SCU_WIDTH_SHIFT | (indexed ? 2u << GTU_SCU_INDEX_SHIFT : 0);
	op[GTU_SCU_DATA] = (struct gtu_hw_operand){ ids, indexed ? ELEMENTS : n, indexed ? 0 : (uint64_t)jobs_below(j, 1024) << width };
	if (indexed)
		op[GTU_SCU_INDEX] = words(j, JOBS_IDX, n);
	if (jobs_below(j, 2))
		op[GTU_SCU_MASK] = (struct gtu_hw_operand){ JOBS_SRC, n, jobs_below(j, 1024) };
	if (apply || fused)
		op[GTU_SCU_OUT] = (struct gtu_hw_operand){ JOBS_OUT, 512, (uint64_t)jobs_below(j, 64) * 64 };
	if (apply) {
		d->param |= GTU_STEP_APPLY << GTU_SCU_STEP_SHIFT;
		op[group ? GTU_SCU_REORDER : GTU_SCU_FILTER] = (struct gtu_hw_operand){ JOBS_VEC, VECTOR, group ? REORDER : 0 };
	} else {
		d->param |= (fused ? GTU_STEP_FUSED : GTU_STEP_PRODUCE) << GTU_SCU_STEP_SHIFT |
			    (job->cover == JOBS_COVER_KEEP ? GTU_SCU_KEEP : 0);
		if (filter) {
			d->param |= best ? GTU_SCU_BEST | cost_width << GTU_SCU_COST_SHIFT | jobs_below(j, 3) << GTU_SCU_TYPE_SHIFT : GTU_SCU_UNIQUE;
			op[GTU_SCU_FILTER_TABLE] = (struct gtu_hw_operand){ JOBS_TABLE, LINES, layout * TABLE_BYTES };
			op[GTU_SCU_FILTER] = (struct gtu_hw_operand){ JOBS_VEC, VECTOR, 0 };
		}
		if (best) {
			const unsigned which = 1 + jobs_below(j, 3);

			if (which & 1)
				op[GTU_SCU_COST_GATHERED] = (struct gtu_hw_operand){ JOBS_COST, ELEMENTS, 0 };
			if (which & 2)
				op[GTU_SCU_COST_INPUT] = (struct gtu_hw_operand){ JOBS_COST, n, (uint64_t)jobs_below(j, 1024) << cost_width };
		}
		if (group) {
			d->param |= GTU_SCU_GROUP | jobs_below(j, 8) << GTU_SCU_TARGET_SHIFT;
			d->imm = jobs_below(j, 2) ? jobs_draw(j) : 0;
			op[GTU_SCU_GROUP_TABLE] = (struct gtu_hw_operand){ JOBS_TABLE, LINES, GROUP_TABLE * TABLE_BYTES };
			op[GTU_SCU_REORDER] = (struct gtu_hw_operand){ JOBS_VEC, VECTOR, REORDER };
		}
	}
	into_block(j, job, op, GTU_SCU_OPERANDS, false, number);
}

static void real(struct jobs *j, struct gtu_hw_desc *d)
{
	const unsigned width = 2 + jobs_below(j, 2);
	const uint32_t n = 1 + jobs_below(j, 256);

	d->opcode = GTU_OP_SCU_BITMASK;
	d->param = width << GTU_SCU_WIDTH_SHIFT | GTU_TYPE_FLOAT << GTU_SCU_TYPE_SHIFT | jobs_below(j, 6) << GTU_SCU_CMP_SHIFT;
	d->imm = (uint64_t)cost(j) << 32 | cost(j);
	d->operand[GTU_SCU_DATA] = (struct gtu_hw_operand){ JOBS_COST, n, (uint64_t)jobs_below(j, 1024) << width };
	d->operand[GTU_SCU_OUT] = (struct gtu_hw_operand){ JOBS_OUT, 512, jobs_below(j, 4096) };
}

/* Indices and counts of 8 bytes; some indices have high halves, which end the job with INDEX. */
static void wide(struct jobs *j, struct gtu_hw_desc *d)
{
	const bool expand = jobs_below(j, 2), bad = !jobs_below(j, 4);
	const uint32_t n = 1 + jobs_below(j, 128);

	d->opcode = expand ? GTU_OP_SCU_EXPAND : GTU_OP_SCU_ACCESS;
	d->param = 2u << GTU_SCU_WIDTH_SHIFT | 3u << GTU_SCU_INDEX_SHIFT | (expand ? 3u << GTU_SCU_COUNT_SHIFT : 0);
	d->operand[GTU_SCU_DATA] = (struct gtu_hw_operand){ JOBS_SRC, ELEMENTS + 8, 0 };
	d->operand[GTU_SCU_INDEX] = (struct gtu_hw_operand){ JOBS_WIDE, n, 8ull * ((bad ? WIDE_BAD : 0) + jobs_below(j, WIDE_BAD - 128)) };
	if (expand)
		d->operand[GTU_SCU_COUNT] = (struct gtu_hw_operand){ JOBS_WIDE, n, WIDE_COUNTS + 8ull * jobs_below(j, 512) };
	d->operand[GTU_SCU_OUT] = (struct gtu_hw_operand){ bad ? JOBS_ERR : JOBS_OUT, 512, 0 };
}

/* A job that ends at its limit, or shortly before it. */
static void limit(struct jobs *j, struct gtu_hw_desc *d)
{
	d->limit = 1 + jobs_below(j, 2);
	switch (jobs_below(j, 3)) {
	case 0:
		d->opcode = GTU_OP_FILL;
		d->operand[1] = (struct gtu_hw_operand){ JOBS_ERR, 0x4000 + jobs_below(j, 0x4000), 0 };
		break;
	case 1:
		d->opcode = GTU_OP_SCU_DATA;
		d->operand[GTU_SCU_DATA] = (struct gtu_hw_operand){ JOBS_SRC, 0x8000, 0 };
		d->operand[GTU_SCU_OUT] = (struct gtu_hw_operand){ JOBS_ERR, 0x8000, 0 };
		break;
	default:
		d->opcode = GTU_OP_IRU_STREAM;
		d->operand[0] = (struct gtu_hw_operand){ JOBS_IDX, 1800, 0 };
		d->operand[2] = (struct gtu_hw_operand){ JOBS_RING, 2 * JOBS_RING_COUNT, 0 };
	}
}

static void covered(struct jobs *j, struct job *job, uint64_t number)
{
	const enum jobs_cover cover = JOBS_COVER_FILTER + jobs_below(j, JOBS_COVER_LIMIT - JOBS_COVER_NONE);

	job->cover = may(j, cover) ? cover : JOBS_COVER_BLOCK;
	switch (job->cover) {
	case JOBS_COVER_BLOCK: block(j, job, number); break;
	case JOBS_COVER_FLOAT: real(j, &job->desc); break;
	case JOBS_COVER_WIDE: wide(j, &job->desc); break;
	case JOBS_COVER_LIMIT: limit(j, &job->desc); break;
	default: tables(j, job, number);
	}
}

void jobs_describe(struct jobs *j, struct job *job, uint64_t number)
{
	const uint32_t kind = jobs_below(j, 100);

	memset(job, 0, sizeof(*job));
	if (kind < 35)
		basic(j, &job->desc);
	else if (kind < 60)
		scu(j, &job->desc);
	else if (kind < 80)
		covered(j, job, number);
	else if (kind < 90)
		stream(j, &job->desc);
	else
		wrong(j, &job->desc);
	job->desc.cookie = number;
}

/* ---- Text -------------------------------------------------------------------------------------------------------- */

const char *jobs_text(const struct job *job)
{
	static char text[480];
	const struct gtu_hw_desc *d = &job->desc;
	const struct gtu_operation *op = gtu_operation(d->opcode, NULL);
	const bool is_block = d->flags & GTU_DESC_BLOCK && d->operand[0].key == JOBS_BLOCK;
	const struct gtu_hw_operand *o = is_block ? job->block : d->operand;
	const unsigned n = is_block ? d->operand[0].count : GTU_DESC_OPERANDS;
	char name[24];
	size_t used;
	unsigned i;

	for (i = 0; op && op->name[i] && i < sizeof(name) - 1; i++)
		name[i] = op->name[i] == '-' ? ' ' : (char)(op->name[i] & ~0x20);
	name[op ? i : 0] = 0;
	used = (size_t)snprintf(text, sizeof(text), "%s (0x%02x) param 0x%x", op ? name : "no operation", d->opcode, d->param);
	if (d->imm)
		used += (size_t)snprintf(text + used, sizeof(text) - used, " imm 0x%" PRIx64, d->imm);
	if (d->limit)
		used += (size_t)snprintf(text + used, sizeof(text) - used, " limit %u", d->limit);
	if (is_block)
		used += (size_t)snprintf(text + used, sizeof(text) - used, " block at 0x%" PRIx64, d->operand[0].offset);
	for (i = 0; i < n && used < sizeof(text); i++)
		if (o[i].key)
			used += (size_t)snprintf(text + used, sizeof(text) - used, ", %u: %u of %s + 0x%" PRIx64, i, o[i].count,
						 o[i].key <= JOBS_REGIONS ? jobs_region_name[o[i].key] : "no region", o[i].offset);
	return text;
}
