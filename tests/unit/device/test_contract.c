// SPDX-License-Identifier: MIT
/*
 * Rules of Documentation/hardware.md that a second implementation would otherwise decide for itself:
 * alignment, the order of errors, arithmetic of special values, cycles, INVALIDATE, small builds.
 */
#include "firmware-model/device/core.h"
#include "tests/unit/fixture.h"

static const struct gtu_hw_desc nop = { .opcode = GTU_OP_NOP };

/* A COPY of @n bytes from byte @from of region @key to a new buffer. */
static struct gtu_hw_desc copy_from(struct fx *f, uint32_t key, uint64_t from, uint32_t n)
{
	struct fx_buffer *to;

	return (struct gtu_hw_desc){
		.opcode = GTU_OP_COPY,
		.operand = { { key, n, from }, { fx_memory(f, n, FX_RW, &to), n, 0 } },
	};
}

static struct gtu_hw_region *entry(struct fx *f, uint32_t key)
{
	return &f->table[GTU_KEY_SLOT(key)];
}

/* ---- Regions ------------------------------------------------------------------------------------ */

TEST(a_contiguous_region_starts_at_a_multiple_of_8)
{
	struct fx *f = fx_open(NULL, 1);
	struct fx_buffer *b;
	const uint32_t key = fx_memory(f, 4096, GTU_REGION_READ, &b);
	const struct gtu_hw_desc d = copy_from(f, key, 0, 16);

	for (unsigned low = 0; low < 16; low++) {
		entry(f, key)->base = b->bus + low;
		CHECK_EQ(fx_do(f, &d, 0).status, low % 8 ? GTU_CPL_KEY : GTU_CPL_OK);
	}
}

TEST(a_page_list_starts_at_a_multiple_of_4096)
{
	struct fx *f = fx_open(NULL, 1);
	struct fx_buffer *b = fx_buffer(f, 8192);
	const uint32_t key = fx_region_scattered(f, b, 0, 4096, GTU_REGION_READ, 1);
	const struct gtu_hw_desc d = copy_from(f, key, 0, 16);

	CHECK_EQ(fx_do(f, &d, 0).status, GTU_CPL_OK);
	entry(f, key)->base += 8;
	CHECK_EQ(fx_do(f, &d, 0).status, GTU_CPL_KEY);
}

/* The address of a page, or of a chunk, in a list: the access that needs it fails, at its element. */
TEST(addresses_in_page_lists_are_aligned)
{
	for (unsigned levels = 1; levels <= 3; levels++) {
		struct fx *f = fx_open(NULL, levels);
		struct fx_buffer *b = fx_buffer(f, 3 * 4096), *list;
		const uint32_t key = fx_region_scattered(f, b, 0, 3 * 4096, GTU_REGION_READ, levels);
		struct gtu_hw_desc d = copy_from(f, key, 0, 3 * 4096);
		struct gtu_hw_cpl c;

		CHECK_EQ(fx_do(f, &d, 0).status, GTU_CPL_OK);
		list = &f->buffer[f->buffers - 2];	/* before the destination */
		((uint64_t *)list->at)[1] += 512;
		c = fx_do(f, &d, 0);
		CHECK_EQ(c.status, GTU_CPL_KEY);
		CHECK_EQ(c.operand, 0);
		CHECK_EQ(c.element, 4096);
		((uint64_t *)list->at)[1] -= 512;
		/* an entry of 0 is an address as any other, which the host may not have mapped */
		((uint64_t *)list->at)[2] = 0;
		c = fx_do(f, &d, 0);
		CHECK_EQ(c.status, GTU_CPL_DMA);
		CHECK_EQ(c.element, 2 * 4096);
	}
}

TEST(a_region_has_at_most_2_to_the_62_bytes_and_offset)
{
	struct fx *f = fx_open(NULL, 1);
	struct fx_buffer *b;
	const uint32_t key = fx_memory(f, 4096, GTU_REGION_READ, &b);
	const struct gtu_hw_desc d = copy_from(f, key, 0, 16);

	entry(f, key)->length = 1ull << 62;
	CHECK_EQ(fx_do(f, &d, 0).status, GTU_CPL_OK);
	entry(f, key)->length++;
	CHECK_EQ(fx_do(f, &d, 0).status, GTU_CPL_KEY);
	entry(f, key)->length = 4096;
	/* addresses are computed modulo 2^64 */
	entry(f, key)->offset = 1ull << 62;
	entry(f, key)->base = b->bus - (1ull << 62);
	CHECK_EQ(fx_do(f, &d, 0).status, GTU_CPL_OK);
	entry(f, key)->offset += 8;
	entry(f, key)->base -= 8;
	CHECK_EQ(fx_do(f, &d, 0).status, GTU_CPL_KEY);
}

/* ---- Order of errors ---------------------------------------------------------------------------- */

/* Which of two errors of one element is reported, and what is written before it. */
TEST(one_error_of_an_element_wins)
{
	static const struct {
		const char *what;
		uint8_t opcode;
		uint32_t index, count, out;	/* the third of 4 elements; capacity */
		uint8_t status, operand;
		uint64_t element, done;
	} cases[] = {
		{ "no space, wrong index", GTU_OP_SCU_ACCESS, 99, 0, 2, GTU_CPL_OVERFLOW, GTU_SCU_OUT, 2, 2 },
		{ "space, wrong index", GTU_OP_SCU_ACCESS, 99, 0, 3, GTU_CPL_INDEX, GTU_SCU_INDEX, 2, 2 },
		{ "no space, wrong range", GTU_OP_SCU_EXPAND, 15, 2, 2, GTU_CPL_OVERFLOW, GTU_SCU_OUT, 2, 2 },
		{ "space for a part of a wrong range", GTU_OP_SCU_EXPAND, 15, 2, 3, GTU_CPL_INDEX, GTU_SCU_COUNT, 2, 2 },
		{ "wrong index and count", GTU_OP_SCU_EXPAND, 16, 2, 9, GTU_CPL_INDEX, GTU_SCU_INDEX, 2, 2 },
		{ "wrong index, count 0", GTU_OP_SCU_EXPAND, 99, 0, 9, GTU_CPL_OK, 0xff, 0, 3 },
		{ "space for a part of a right range", GTU_OP_SCU_EXPAND, 3, 2, 3, GTU_CPL_OVERFLOW, GTU_SCU_OUT, 2, 3 },
	};

	for (unsigned i = 0; i < LENGTH(cases); i++) {
		const bool expand = cases[i].opcode == GTU_OP_SCU_EXPAND;
		struct fx *f = fx_open(NULL, i + 1);
		struct fx_buffer *data, *index, *count, *out;
		struct gtu_hw_desc d = { .opcode = cases[i].opcode, .param = 2u << GTU_SCU_WIDTH_SHIFT | 2u << GTU_SCU_INDEX_SHIFT };
		struct gtu_hw_cpl c;

		d.operand[GTU_SCU_DATA] = (struct gtu_hw_operand){ fx_memory(f, 64, GTU_REGION_READ, &data), 16, 0 };
		d.operand[GTU_SCU_INDEX] = (struct gtu_hw_operand){ fx_memory(f, 64, GTU_REGION_READ, &index), 4, 0 };
		d.operand[GTU_SCU_OUT] = (struct gtu_hw_operand){ fx_memory(f, 64, FX_RW, &out), cases[i].out, 0 };
		if (expand) {
			d.param |= 2u << GTU_SCU_COUNT_SHIFT;
			d.operand[GTU_SCU_COUNT] = (struct gtu_hw_operand){ fx_memory(f, 64, GTU_REGION_READ, &count), 4, 0 };
			for (unsigned k = 0; k < 4; k++)
				((uint32_t *)count->at)[k] = k == 2 ? cases[i].count : 1;
		}
		((uint32_t *)index->at)[2] = cases[i].index;
		c = fx_do(f, &d, 0);
		CHECKF(c.status == cases[i].status && c.operand == cases[i].operand && c.element == cases[i].element &&
		       c.count == cases[i].done, "%s: status %u, operand %u, element %" PRIu64 ", count %" PRIu64, cases[i].what,
		       c.status, c.operand, c.element, c.count);
	}
}

/* ---- Arithmetic --------------------------------------------------------------------------------- */

/* The cost that BEST stores for one id whose two costs are @a and @b. */
static uint64_t best_sum(uint64_t a, uint64_t b, unsigned log2)
{
	struct fx *f = fx_open(NULL, 1);
	struct fx_buffer *data, *table, *x, *y, *out;
	struct gtu_hw_operand op[GTU_SCU_OPERANDS] = { 0 };
	struct fx_buffer *block;
	struct gtu_hw_desc d = {
		.opcode = GTU_OP_SCU_DATA, .flags = GTU_DESC_BLOCK,
		.param = 2u << GTU_SCU_WIDTH_SHIFT | GTU_TYPE_FLOAT << GTU_SCU_TYPE_SHIFT | GTU_STEP_FUSED << GTU_SCU_STEP_SHIFT |
			 GTU_SCU_BEST | log2 << GTU_SCU_COST_SHIFT,
	};
	uint64_t stored = 0;

	op[GTU_SCU_DATA] = (struct gtu_hw_operand){ fx_memory(f, 64, GTU_REGION_READ, &data), 1, 0 };
	op[GTU_SCU_OUT] = (struct gtu_hw_operand){ fx_memory(f, 64, FX_RW, &out), 1, 0 };
	op[GTU_SCU_FILTER_TABLE] = (struct gtu_hw_operand){ fx_memory(f, 4096, FX_RW, &table), 16, 0 };
	op[GTU_SCU_COST_GATHERED] = (struct gtu_hw_operand){ fx_memory(f, 64, GTU_REGION_READ, &x), 1, 0 };
	op[GTU_SCU_COST_INPUT] = (struct gtu_hw_operand){ fx_memory(f, 64, GTU_REGION_READ, &y), 1, 0 };
	memcpy(x->at, &a, 8);
	memcpy(y->at, &b, 8);
	d.operand[0] = (struct gtu_hw_operand){ fx_memory(f, sizeof(op), GTU_REGION_READ, &block), GTU_SCU_OPERANDS, 0 };
	memcpy(block->at, op, sizeof(op));
	CHECK_EQ(fx_do(f, &d, 0).status, GTU_CPL_OK);
	memcpy(&stored, table->at + 16 * 4, 1u << log2);
	return stored;
}

TEST(sums_of_costs_keep_subnormals_and_have_one_nan)
{
	/* subnormal numbers are kept, of operands and of sums */
	CHECK_EQ(best_sum(1, 2, 2), 3);
	CHECK_EQ(best_sum(0x00800000, 0x80000001, 2), 0x007fffff);
	CHECK_EQ(best_sum(1, 0x000fffffffffffff, 3), 0x0010000000000000);
	/* round to nearest, ties to even */
	CHECK_EQ(best_sum(0x4b800000, 0x3f800000, 2), 0x4b800000);
	/* a sum that is not a number has one pattern, whatever its operands */
	CHECK_EQ(best_sum(0x7fa01234, 0x3f800000, 2), 0x7fc00000);
	CHECK_EQ(best_sum(0x3f800000, 0xffc01234, 2), 0x7fc00000);
	CHECK_EQ(best_sum(0x7f800000, 0xff800000, 2), 0x7fc00000);
	CHECK_EQ(best_sum(0xfff8000000001234, 0x3ff0000000000000, 3), 0x7ff8000000000000);
}

/* The secondary of the only element left of two with the same index. */
static uint32_t add_f32(uint32_t a, uint32_t b)
{
	struct fx *f = fx_open(NULL, 1);
	struct gtu_hw_desc d = fx_stream(f, 2, 2, GTU_IRU_OP_ADD_F32, NULL);
	struct fx_buffer *in, *ring, *values;
	const struct gtu_hw_warp *record;

	d.operand[0].key = fx_memory(f, 8, GTU_REGION_READ, &in);
	d.operand[1] = (struct gtu_hw_operand){ fx_memory(f, 8, GTU_REGION_READ, &values), 2, 0 };
	d.operand[2].key = fx_memory(f, 4096, FX_RW, &ring);
	d.param |= GTU_IRU_WITH_SECONDARY;
	((uint32_t *)values->at)[0] = a;
	((uint32_t *)values->at)[1] = b;
	CHECK_EQ(fx_do(f, &d, 0).status, GTU_CPL_OK);
	record = (void *)(ring->at + sizeof(struct gtu_hw_ring));
	CHECK_EQ(record->active, 1);
	return ((const uint32_t *)(record + 1))[GTU_WARP];
}

TEST(sums_of_secondaries_keep_subnormals_and_have_one_nan)
{
	CHECK_EQ(add_f32(1, 2), 3);
	CHECK_EQ(add_f32(0x00800000, 0x80000001), 0x007fffff);
	CHECK_EQ(add_f32(0x7fa01234, 0x3f800000), 0x7fc00000);
	CHECK_EQ(add_f32(0x80000000, 0x80000000), 0x80000000);
}

/* ---- Cycles ------------------------------------------------------------------------------------- */

TEST(the_register_cycles_is_the_sum_of_all_jobs)
{
	const struct gtu_hw_desc bad = { .opcode = 0xff };
	struct fx *f = fx_open(NULL, 1);
	struct gtu_hw_desc d = fx_fill(f, 1 << 20), s = fx_stream(f, 1000, 1024, 0, NULL);
	uint64_t sum = 0, at;

	sum += fx_do(f, &nop, 0).cycles;
	sum += fx_do(f, &d, 0).cycles;
	sum += fx_do(f, &s, 0).cycles;
	sum += fx_do(f, &bad, 0).cycles;
	CHECK_EQ(fx_reg(f, GTU_REG_CYCLES, 8), sum);
	/* a job that is dropped counts as far as it ran; time without a job does not count */
	fx_submit_to(f, 0, &d);
	gtu_dev_step(f->dev, 1000);
	gtu_dev_idle(f->dev, 1 << 20);
	fx_queue_restart(f, GTU_MBOX_QUEUE_RESET, 0);
	at = fx_reg(f, GTU_REG_CYCLES, 8);
	CHECK(at >= sum + 1000 && at < sum + 20000);
}

static struct gtu_hw_warp *record(struct gtu_hw_ring *ring, uint32_t i)
{
	return (void *)((char *)(ring + 1) + i * GTU_WARP_BYTES(1, 0));
}

/* A build that reports real clocks: other cycles, and otherwise the same results. */
TEST(a_build_with_real_clocks_reports_other_cycles)
{
	struct fx *f = fx_open(NULL, 1);
	struct fx *g = fx_open(&(struct gtu_dev_config){ .caps_off = GTU_CAP_LOGICAL_CYCLES }, 1);
	struct gtu_hw_ring *a, *b;
	struct gtu_hw_desc d = fx_stream(f, 1000, 1024, 0, &a), e = fx_stream(g, 1000, 1024, 0, &b);
	const struct gtu_hw_cpl c = fx_do(f, &d, 0), k = fx_do(g, &e, 0);
	struct gtu_hw_cpl again;
	uint32_t i;

	CHECK(a->producer > 0 && a->producer == b->producer);
	for (i = 0; i < a->producer; i++) {
		struct gtu_hw_warp *of[2] = { record(a, i), record(b, i) };

		CHECK(of[0]->cycle != of[1]->cycle);
		of[0]->cycle = of[1]->cycle = 0;
		CHECK(!memcmp(of[0], of[1], GTU_WARP_BYTES(1, 0)));
	}
	again = fx_do(g, &e, 0);
	CHECK(fx_reg(f, GTU_REG_CAPS, 8) & GTU_CAP_LOGICAL_CYCLES);
	CHECK(!(fx_reg(g, GTU_REG_CAPS, 8) & GTU_CAP_LOGICAL_CYCLES));
	CHECK(c.status == GTU_CPL_OK && k.status == GTU_CPL_OK);
	CHECK(k.cycles != c.cycles && k.cycles != again.cycles);
}

/* ---- INVALIDATE --------------------------------------------------------------------------------- */

/* A job ends at the element where it finds its region revoked; the mailbox does not wait for the job. */
TEST(a_revoked_region_ends_a_job_in_flight)
{
	struct fx *f = fx_open(NULL, 1);
	struct gtu_hw_desc d = fx_fill(f, 1 << 20);
	const uint32_t key = d.operand[1].key;
	struct gtu_hw_cpl c;

	fx_submit_to(f, 0, &d);
	gtu_dev_step(f->dev, 1000);
	entry(f, key)->flags &= ~GTU_REGION_VALID;
	fx_command(f, GTU_MBOX_INVALIDATE, 2, (uint64_t[]){ 0, GTU_KEY_SLOT(key) });
	fx_run(f, 1 << 16);
	CHECK(fx_poll(f, 0, &c));
	CHECK_EQ(c.status, GTU_CPL_KEY);
	CHECK_EQ(c.operand, 1);
	CHECK(c.count > 0 && c.count < 1 << 20);
	/* another entry of the slot, with another key, changes nothing for an old key */
	entry(f, key)->flags |= GTU_REGION_VALID;
	entry(f, key)->key += 1u << 16;
	fx_command(f, GTU_MBOX_INVALIDATE, 2, (uint64_t[]){ 0, GTU_KEY_SLOT(key) });
	CHECK_EQ(fx_do(f, &d, 0).status, GTU_CPL_KEY);
}

/* ---- Small builds ------------------------------------------------------------------------------- */

TEST(operations_and_options_may_be_absent)
{
	/* the fifth operation of the tables: SCU EXPAND */
	const struct gtu_dev_config config = { .absent_operations = 1u << 4, .absent_scu = GTU_ABSENT_SCU_FILTER };
	struct fx *f = fx_open(&config, 1);
	struct gtu_hw_desc d = { .opcode = GTU_OP_SCU_EXPAND, .flags = GTU_DESC_BLOCK };

	CHECK(fx_reg(f, GTU_REG_UNITS, 4) & GTU_UNIT_SCU);
	/* before the block and the parameters, as an opcode */
	CHECK_EQ(fx_do(f, &d, 0).status, GTU_CPL_ABSENT);
	/* an option after the parameters, before the operands */
	d = (struct gtu_hw_desc){ .opcode = GTU_OP_SCU_DATA, .param = GTU_SCU_UNIQUE };
	CHECK_EQ(fx_do(f, &d, 0).status, GTU_CPL_PARAM);
	d.param |= GTU_STEP_FUSED << GTU_SCU_STEP_SHIFT;
	CHECK_EQ(fx_do(f, &d, 0).status, GTU_CPL_ABSENT);
	d.param = GTU_STEP_FUSED << GTU_SCU_STEP_SHIFT | GTU_SCU_GROUP;
	CHECK_EQ(fx_do(f, &d, 0).status, GTU_CPL_OPERAND);
}

TEST(the_smallest_build_runs_a_job)
{
	struct fx *f = fx_open(&(struct gtu_dev_config){ .contexts = 1, .queues = 1, .ring_log2 = FX_RING_LOG2, .vectors = 1,
							 .regions_log2 = FX_TABLE_LOG2, .event_rings = 1, .absent_units = 0x1f }, 1);
	struct gtu_hw_desc d = fx_fill(f, 64);

	CHECK_EQ(fx_do(f, &d, 0).status, GTU_CPL_OK);
	CHECK_EQ(gtu_dev_bar_size(f->dev, GTU_BAR_DOORBELL), 1u << 16);
}

TEST_MAIN
