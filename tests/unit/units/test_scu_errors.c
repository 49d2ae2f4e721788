// SPDX-License-Identifier: MIT
/* Tests the SCU with invalid descriptors, cycle limits, corrupt tables and memory that changes while it runs. */
#include <pthread.h>
#include <stdatomic.h>

#include "tests/unit/fixture.h"

#define N 1000u
#define RW (GTU_REGION_READ | GTU_REGION_WRITE)

/* One buffer per operand, and a descriptor whose block has all operands. */
struct rig {
	struct fx *f;
	struct fx_buffer *at[GTU_SCU_OPERANDS], *block;
	struct gtu_hw_operand op[GTU_SCU_OPERANDS];
	uint32_t block_key;
	struct gtu_hw_desc desc;
};

static void rig_open(struct rig *g)
{
	memset(g, 0, sizeof(*g));
	g->f = fx_open(NULL, 5);
	for (unsigned i = 0; i < GTU_SCU_OPERANDS; i++) {
		g->at[i] = fx_buffer(g->f, 64 << 10);
		g->op[i].key = fx_region(g->f, g->at[i], 0, 64 << 10, RW);
	}
	g->block = fx_buffer(g->f, 4096);
	g->block_key = fx_region(g->f, g->block, 0, 4096, RW);
}

/* Run with the operands whose bit is in @given. */
static struct gtu_hw_cpl rig_do(struct rig *g, uint32_t given)
{
	struct gtu_hw_operand *block = (void *)g->block->at;

	memset(block, 0, 4096);
	for (unsigned i = 0; i < GTU_SCU_OPERANDS; i++)
		if (given >> i & 1)
			block[i] = g->op[i];
	g->desc.flags = GTU_DESC_BLOCK;
	g->desc.operand[0] = (struct gtu_hw_operand){ g->block_key, GTU_SCU_OPERANDS, 0 };
	return fx_do(g->f, &g->desc, 1 << 20);
}

#define P(place) (1u << GTU_SCU_##place)

/* A valid EXPAND of N runs of one 4-byte element. Returns the mask of its operands. */
static uint32_t good_expand(struct rig *g)
{
	uint32_t *index = (void *)g->at[GTU_SCU_INDEX]->at, *count = (void *)g->at[GTU_SCU_COUNT]->at, i;

	for (i = 0; i < N; i++)
		index[i] = N - 1 - i, count[i] = 1;
	for (i = 0; i < GTU_SCU_OPERANDS; i++)
		g->op[i].count = N;
	g->op[GTU_SCU_FILTER_TABLE].count = g->op[GTU_SCU_GROUP_TABLE].count = 64;
	g->desc.opcode = GTU_OP_SCU_EXPAND;
	g->desc.param = 2 | 2 << GTU_SCU_INDEX_SHIFT | 2 << GTU_SCU_COUNT_SHIFT;
	g->desc.imm = 0;
	return P(DATA) | P(INDEX) | P(COUNT) | P(OUT);
}

TEST(parameters_without_meaning_are_refused)
{
	static const struct { uint8_t opcode; uint32_t param; uint64_t imm; uint16_t status; } wrong[] = {
		{ GTU_OP_SCU_EXPAND, 2 | 1 << 2 | 2 << 4, 0, GTU_CPL_PARAM },	/* indices of 2 bytes */
		{ GTU_OP_SCU_EXPAND, 2 | 2 << 2 | 1 << 4, 0, GTU_CPL_PARAM },	/* counts of 2 bytes */
		{ GTU_OP_SCU_EXPAND, 2 | 2 << 2 | 2 << 4 | 1 << 6, 0, GTU_CPL_PARAM },	/* a type */
		{ GTU_OP_SCU_EXPAND, 2 | 2 << 2 | 2 << 4 | 1 << 8, 0, GTU_CPL_PARAM },	/* a comparison */
		{ GTU_OP_SCU_EXPAND, 2 | 2 << 2 | 2 << 4, 1, GTU_CPL_PARAM },	/* imm */
		{ GTU_OP_SCU_EXPAND, 2 | 2 << 2 | 2 << 4 | 1u << 22, 0, GTU_CPL_RESERVED },
		{ GTU_OP_SCU_EXPAND, 2 | 2 << 2 | 2 << 4 | GTU_SCU_KEEP, 0, GTU_CPL_PARAM },
		{ GTU_OP_SCU_EXPAND, 2 | 2 << 2 | 2 << 4 | GTU_SCU_UNIQUE, 0, GTU_CPL_PARAM },	/* PLAIN */
		{ GTU_OP_SCU_EXPAND, 2 | 2 << 2 | 2 << 4 | GTU_STEP_FUSED << 11, 0, GTU_CPL_PARAM },
		{ GTU_OP_SCU_EXPAND, 2 | 2 << 2 | 2 << 4 | GTU_STEP_FUSED << 11 | GTU_SCU_UNIQUE | GTU_SCU_BEST,
		  0, GTU_CPL_PARAM },
		{ GTU_OP_SCU_EXPAND, 2 | 2 << 2 | 2 << 4 | GTU_STEP_FUSED << 11 | GTU_SCU_UNIQUE | 1 << 19, 0,
		  GTU_CPL_PARAM },					/* a target without grouping */
		{ GTU_OP_SCU_EXPAND, 2 | 2 << 2 | 2 << 4 | GTU_STEP_FUSED << 11 | GTU_SCU_BEST, 0, GTU_CPL_PARAM },
		{ GTU_OP_SCU_EXPAND, 2 | 2 << 2 | 2 << 4 | GTU_STEP_FUSED << 11 | GTU_SCU_BEST | 2 << 17 | 3 << 6, 0,
		  GTU_CPL_PARAM },
		{ GTU_OP_SCU_DATA, 2 | 2 << 2, 0, GTU_CPL_PARAM },
		{ GTU_OP_SCU_DATA, 2 | 2 << 4, 0, GTU_CPL_PARAM },
		{ GTU_OP_SCU_BITMASK, 1 | GTU_TYPE_FLOAT << 6, 0, GTU_CPL_PARAM },
		{ GTU_OP_SCU_BITMASK, 2 | 6 << 8, 0, GTU_CPL_PARAM },
		{ GTU_OP_SCU_BITMASK, 2 | GTU_STEP_APPLY << 11, 0, GTU_CPL_PARAM },
		{ GTU_OP_SCU_EXPAND + 1, 2, 0, GTU_CPL_OPCODE },
	};
	struct rig g;

	rig_open(&g);
	CHECK_EQ(rig_do(&g, good_expand(&g)).status, GTU_CPL_OK);
	for (unsigned i = 0; i < LENGTH(wrong); i++) {
		uint32_t given = good_expand(&g);
		struct gtu_hw_cpl c;

		g.desc.opcode = wrong[i].opcode;
		g.desc.param = wrong[i].param;
		g.desc.imm = wrong[i].imm;
		c = rig_do(&g, given);
		CHECKF(c.status == wrong[i].status, "case %u: status %u, expected %u", i, c.status, wrong[i].status);
		CHECK_EQ(c.count, 0);
	}
	/* access without data: the element is the index */
	good_expand(&g);
	g.desc.opcode = GTU_OP_SCU_ACCESS;
	g.desc.param = 2 | 3 << GTU_SCU_INDEX_SHIFT;
	CHECK_EQ(rig_do(&g, P(INDEX) | P(OUT)).status, GTU_CPL_PARAM);
	g.desc.param = 2 | 2 << GTU_SCU_INDEX_SHIFT;
	CHECK_EQ(rig_do(&g, P(INDEX) | P(OUT)).status, GTU_CPL_OK);
	g.desc.param2 = 1;
	CHECK_EQ(rig_do(&g, P(INDEX) | P(OUT)).status, GTU_CPL_RESERVED);
}

TEST(missing_unwanted_or_short_operands_are_refused)
{
	struct rig g;
	struct gtu_hw_cpl c;
	uint32_t given, place;

	rig_open(&g);
	given = good_expand(&g);
	for (place = 0; place < GTU_SCU_OPERANDS; place++) {
		if (place == GTU_SCU_MASK)
			continue;
		c = rig_do(&g, given ^ 1u << place);	/* a required operand is missing, or an extra one is given */
		CHECKF(c.status == GTU_CPL_OPERAND && c.operand == place, "place %u: status %u, operand %u", place,
		       c.status, c.operand);
	}
	for (place = GTU_SCU_COUNT; place <= GTU_SCU_MASK; place++) {
		good_expand(&g);
		g.op[place].count = N - 1;
		c = rig_do(&g, given | P(MASK));
		CHECK_EQ(c.status, GTU_CPL_OPERAND);
		CHECK_EQ(c.operand, place);
		CHECK_EQ(c.needed, N);
	}
	good_expand(&g);
	g.op[GTU_SCU_INDEX].count = GTU_COUNT_TO_END;
	CHECK_EQ(rig_do(&g, given).status, GTU_CPL_OPERAND);
	good_expand(&g);
	g.op[GTU_SCU_DATA].count = GTU_COUNT_TO_END;
	CHECK_EQ(rig_do(&g, given).status, GTU_CPL_OK);
	good_expand(&g);
	g.op[GTU_SCU_INDEX].offset = 2;
	CHECK_EQ(rig_do(&g, given).operand, GTU_SCU_INDEX);
	g.op[GTU_SCU_INDEX].offset = 0;
	/* tables: a power of two of lines, at least 16, aligned to 64 bytes */
	good_expand(&g);
	g.desc.param |= GTU_STEP_PRODUCE << GTU_SCU_STEP_SHIFT | GTU_SCU_UNIQUE;
	given = P(DATA) | P(INDEX) | P(COUNT) | P(FILTER) | P(FILTER_TABLE);
	CHECK_EQ(rig_do(&g, given).status, GTU_CPL_OK);
	g.op[GTU_SCU_FILTER_TABLE].count = 48;
	CHECK_EQ(rig_do(&g, given).operand, GTU_SCU_FILTER_TABLE);
	g.op[GTU_SCU_FILTER_TABLE].count = 8;
	CHECK_EQ(rig_do(&g, given).operand, GTU_SCU_FILTER_TABLE);
	g.op[GTU_SCU_FILTER_TABLE].count = 1 << 25;
	CHECK_EQ(rig_do(&g, given).status, GTU_CPL_OPERAND);
	g.op[GTU_SCU_FILTER_TABLE].count = 1 << 24;
	CHECK_EQ(rig_do(&g, given).status, GTU_CPL_BOUNDS);
	g.op[GTU_SCU_FILTER_TABLE] = (struct gtu_hw_operand){ g.op[GTU_SCU_FILTER_TABLE].key, 64, 32 };
	CHECK_EQ(rig_do(&g, given).status, GTU_CPL_OPERAND);
	/* BEST requires a cost */
	good_expand(&g);
	g.op[GTU_SCU_FILTER_TABLE].offset = 0;
	g.desc.param |= GTU_STEP_PRODUCE << GTU_SCU_STEP_SHIFT | GTU_SCU_BEST | 2 << GTU_SCU_COST_SHIFT;
	c = rig_do(&g, given);
	CHECK_EQ(c.status, GTU_CPL_OPERAND);
	CHECK_EQ(c.operand, GTU_SCU_COST_GATHERED);
	CHECK_EQ(rig_do(&g, given | P(COST_INPUT)).status, GTU_CPL_OK);
}

TEST(each_operand_needs_its_access_rights)
{
	struct rig g;
	uint32_t given, place;

	rig_open(&g);
	good_expand(&g);
	g.desc.param |= GTU_STEP_FUSED << GTU_SCU_STEP_SHIFT | GTU_SCU_UNIQUE | GTU_SCU_GROUP;
	given = P(DATA) | P(INDEX) | P(COUNT) | P(MASK) | P(OUT) | P(FILTER) | P(REORDER) | P(FILTER_TABLE) |
		P(GROUP_TABLE);
	CHECK_EQ(rig_do(&g, given).status, GTU_CPL_OK);
	for (place = 0; place < GTU_SCU_OPERANDS; place++) {
		uint32_t *flags = &g.f->table[GTU_KEY_SLOT(g.op[place].key)].flags;
		bool reads = place != GTU_SCU_OUT && place != GTU_SCU_FILTER;
		bool writes = place >= GTU_SCU_OUT;
		struct gtu_hw_cpl c;

		if (!(given >> place & 1))
			continue;
		*flags &= ~GTU_REGION_WRITE;
		c = rig_do(&g, given);
		CHECK_EQ(c.status, writes ? GTU_CPL_RIGHTS : GTU_CPL_OK);
		*flags = (*flags | GTU_REGION_WRITE) & ~GTU_REGION_READ;
		c = rig_do(&g, given);
		CHECK_EQ(c.status, reads ? GTU_CPL_RIGHTS : GTU_CPL_OK);
		*flags |= GTU_REGION_READ;
	}
}

/* With a cycle limit, a job ends at the same element with the same bytes, however its run is divided into calls. */
TEST(a_limit_ends_a_job_at_the_same_element)
{
	static const uint32_t steps[] = {
		0, GTU_STEP_PRODUCE << 11 | GTU_SCU_UNIQUE, GTU_STEP_FUSED << 11 | GTU_SCU_UNIQUE,
		GTU_STEP_FUSED << 11 | GTU_SCU_GROUP, GTU_STEP_FUSED << 11 | GTU_SCU_UNIQUE | GTU_SCU_GROUP,
	};
	static uint8_t first[64 << 10];
	const uint64_t budgets[] = { 1ull << 30, 1, 7, 100, 1000 };
	struct rig g;
	unsigned s, b, limited = 0, ended = 0;
	uint64_t limit;

	rig_open(&g);
	for (s = 0; s < 5; s++) {
		for (limit = 1; limit < 1600; limit += 61) {
			struct gtu_hw_cpl c0 = { 0 };

			for (b = 0; b < 5; b++) {
				uint32_t given = good_expand(&g) | P(MASK);
				struct gtu_hw_cpl c;
				struct gtu_hw_operand *block = (void *)g.block->at;

				if (s)
					given |= (s == 1 ? 0 : P(OUT)) | (s == 3 ? 0 : P(FILTER) | P(FILTER_TABLE)) |
						 (s > 2 ? P(REORDER) | P(GROUP_TABLE) : 0);
				if (s == 1)
					given &= ~P(OUT);
				memset(g.at[GTU_SCU_MASK]->at, 0xff, N / 8);
				memset(g.at[GTU_SCU_OUT]->at, 0x77, 64 << 10);
				memset(block, 0, 4096);
				for (unsigned i = 0; i < GTU_SCU_OPERANDS; i++)
					if (given >> i & 1)
						block[i] = g.op[i];
				g.desc.flags = GTU_DESC_BLOCK;
				g.desc.param |= steps[s];
				g.desc.operand[0] = (struct gtu_hw_operand){ g.block_key, GTU_SCU_OPERANDS, 0 };
				/* the device's limit is exact; a descriptor's is a multiple of 1024 */
				fx_put(g.f, GTU_REG_CYCLE_LIMIT, 8, limit);
				c = fx_do(g.f, &g.desc, budgets[b]);
				CHECK(c.status == GTU_CPL_OK || c.status == GTU_CPL_LIMIT);
				CHECK(c.cycles <= limit);
				CHECK(c.status != GTU_CPL_LIMIT || c.cycles == limit);
				limited += c.status == GTU_CPL_LIMIT;
				ended += c.status == GTU_CPL_OK;
				if (!b) {
					c0 = c;
					memcpy(first, g.at[GTU_SCU_OUT]->at, 64 << 10);
					continue;
				}
				CHECK_EQ(c.status, c0.status);
				CHECK_EQ(c.count, c0.count);
				CHECK_EQ(c.dropped, c0.dropped);
				CHECK_EQ(c.cycles, c0.cycles);
				CHECK(!memcmp(first, g.at[GTU_SCU_OUT]->at, 64 << 10));
			}
		}
	}
	CHECK(limited > 100 && ended > 100);
}

/* With random bytes in kept tables, every job ends and accesses nothing outside its operands (guard pages). */
TEST(jobs_with_corrupt_tables_end_inside_their_operands)
{
	struct rig g;
	uint64_t seed = 11;
	unsigned i, k, index = 0, ok = 0;

	rig_open(&g);
	for (i = 0; i < 600; i++) {
		uint32_t given = good_expand(&g) | P(FILTER) | P(FILTER_TABLE) | P(REORDER) | P(GROUP_TABLE);
		struct gtu_hw_cpl c;

		for (k = 0; k < 8192; k++) {
			g.at[GTU_SCU_FILTER_TABLE]->at[k] = (uint8_t)test_random(&seed);
			g.at[GTU_SCU_GROUP_TABLE]->at[k] = (uint8_t)test_random(&seed);
		}
		if (i % 2)		/* entries that are valid except for their ordinals or order */
			for (k = 0; k < 4; k++) {
				uint8_t *set = g.at[GTU_SCU_GROUP_TABLE]->at + 1024 * k;
				uint64_t in_use = test_random(&seed) % 18;

				memcpy(set + 664, &in_use, 8);
				for (unsigned j = 0; j < 16; j++)
					set[640 + j] = i % 4 == 3 ? 0 : test_random(&seed) % 10;
				if (i % 4 == 1)
					for (unsigned j = 0; j < 512; j++)
						set[128 + j] = j % 4 ? 0 : (uint8_t)test_random(&seed);
			}
		for (k = 0; k < N; k++)
			((uint32_t *)g.at[GTU_SCU_DATA]->at)[k] = test_random(&seed) % 4000;
		g.desc.param |= GTU_STEP_FUSED << GTU_SCU_STEP_SHIFT | GTU_SCU_UNIQUE | GTU_SCU_GROUP | GTU_SCU_KEEP |
				2 << GTU_SCU_TARGET_SHIFT;
		c = rig_do(&g, given);
		CHECK(c.status == GTU_CPL_OK || (c.status == GTU_CPL_INDEX &&
						 (c.operand == GTU_SCU_GROUP_TABLE || c.operand == GTU_SCU_REORDER)));
		ok += c.status == GTU_CPL_OK;
		index += c.status == GTU_CPL_INDEX;
	}
	CHECK(index > 0 && ok > 0);
}

/* ---- Memory that another thread rewrites -------------------------------------------------------- */

struct scribbler {
	struct rig *g;
	atomic_bool stop;
};

static void *scribble(void *arg)
{
	struct scribbler *s = arg;
	uint64_t seed = 99;

	while (!atomic_load_explicit(&s->stop, memory_order_relaxed)) {
		const unsigned place = test_random(&seed) % GTU_SCU_OPERANDS;
		uint64_t x = test_random(&seed), *at = (void *)s->g->at[place]->at;

		/* half of the values are plausible indices, counts and ordinals */
		__atomic_store_n(&at[x % (64 << 10) / 8 % 1024], x & 1 ? (x >> 20) % 1024 : x, __ATOMIC_RELAXED);
	}
	return NULL;
}

TEST(jobs_end_while_their_memory_changes)
{
	struct rig g;
	struct scribbler s = { .g = &g };
	uint64_t seed = 3;
	pthread_t thread;
	unsigned i, ended[GTU_CPL_COUNT] = { 0 };

	rig_open(&g);
	CHECK(!pthread_create(&thread, NULL, scribble, &s));
	for (i = 0; i < 4000; i++) {
		static const uint32_t steps[] = {
			0, GTU_STEP_PRODUCE << 11 | GTU_SCU_UNIQUE, GTU_STEP_FUSED << 11 | GTU_SCU_BEST | 2 << 17,
			GTU_STEP_FUSED << 11 | GTU_SCU_GROUP, GTU_STEP_FUSED << 11 | GTU_SCU_UNIQUE | GTU_SCU_GROUP |
			GTU_SCU_KEEP, GTU_STEP_APPLY << 11, GTU_STEP_APPLY << 11,
		};
		const unsigned step = test_random(&seed) % 7, op = test_random(&seed) % 4;
		uint32_t given = good_expand(&g) | P(MASK);
		struct gtu_hw_cpl c;

		g.desc.opcode = GTU_OP_SCU_DATA + op;
		g.desc.param = 2 | (op & 1 ? 2 << 2 : 0) | (op & 2 ? 2 << 4 : 0) | steps[step];
		given &= ~(op & 1 ? 0 : P(INDEX)) & ~(op & 2 ? 0 : P(COUNT)) & ~(step == 1 ? P(OUT) : 0);
		if (step == 1 || step == 4 || step == 5)
			given |= P(FILTER);
		if (step == 1 || step == 2 || step == 4)
			given |= P(FILTER_TABLE);
		if (step == 2)
			given |= P(COST_INPUT) | P(COST_GATHERED);
		if (step == 3 || step == 4)
			given |= P(REORDER) | P(GROUP_TABLE);
		if (step == 6)
			given |= P(REORDER);
		g.desc.limit = 64;
		c = rig_do(&g, given);
		CHECKF(c.status == GTU_CPL_OK || c.status == GTU_CPL_INDEX || c.status == GTU_CPL_OVERFLOW ||
		       c.status == GTU_CPL_LIMIT, "job %u (operation %u, step %u) ended with status %u, operand %u", i,
		       op, step, c.status, c.operand);
		ended[c.status]++;
	}
	atomic_store(&s.stop, true);
	pthread_join(thread, NULL);
	CHECK(ended[GTU_CPL_INDEX] > 0);
}

/* ---- Counters ---------------------------------------------------------------------------------- */

static uint64_t counter(struct rig *g, unsigned n)
{
	return fx_reg(g->f, GTU_PAGE_SCU + GTU_UREG_COUNTER(n), 8);
}

TEST(counters_match_the_elements_of_a_job)
{
	struct rig g;
	uint32_t given, i;
	struct gtu_hw_cpl c;

	rig_open(&g);
	given = good_expand(&g);
	for (i = 0; i < N; i++)
		((uint32_t *)g.at[GTU_SCU_DATA]->at)[i] = i / 2;
	g.desc.param |= GTU_STEP_FUSED << GTU_SCU_STEP_SHIFT | GTU_SCU_UNIQUE | GTU_SCU_GROUP |
			2 << GTU_SCU_TARGET_SHIFT;
	g.op[GTU_SCU_FILTER_TABLE].count = 2048;
	c = rig_do(&g, given | P(FILTER_TABLE) | P(REORDER) | P(GROUP_TABLE));
	CHECK_EQ(c.status, GTU_CPL_OK);
	fx_put(g.f, GTU_PAGE_SCU + GTU_UREG_CTRL, 4, GTU_CTRL_SNAPSHOT);
	CHECK_EQ(counter(&g, GTU_SCU_C_JOBS), 1);
	CHECK_EQ(counter(&g, GTU_SCU_C_CYCLES), c.cycles);
	CHECK_EQ(counter(&g, GTU_SCU_C_IN), 2 * N);
	CHECK_EQ(counter(&g, GTU_SCU_C_OUT), N / 2);
	CHECK_EQ(counter(&g, GTU_SCU_C_DROPPED), N / 2);
	CHECK_EQ(counter(&g, GTU_SCU_C_PROBES), N);
	CHECK_EQ(counter(&g, GTU_SCU_C_EVICTIONS), 0);
	CHECK_EQ(counter(&g, GTU_SCU_C_GROUPED), N / 2);
	CHECK(counter(&g, GTU_SCU_C_GROUPS) >= N / 2 / 8);
}

TEST_MAIN
