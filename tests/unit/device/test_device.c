// SPDX-License-Identifier: MIT
/*
 * The device core through its registers, rings and regions: identity, errors, order, fairness,
 * reset.
 */
#include <libfdt.h>
#include <zlib.h>

#include "firmware-model/device/gtu_units.h"
#include "tests/unit/fixture.h"

static uint64_t reg(struct fx *f, uint32_t offset, unsigned size)
{
	return gtu_dev_read(f->dev, GTU_BAR_REGS, offset, size);
}
static void put(struct fx *f, uint32_t offset, unsigned size, uint64_t value)
{
	gtu_dev_write(f->dev, GTU_BAR_REGS, offset, size, value);
}

static struct gtu_hw_desc copy(uint32_t from, uint64_t from_offset, uint32_t to, uint64_t to_offset,
			       uint32_t count, unsigned width_log2)
{
	struct gtu_hw_desc d = { .opcode = GTU_OP_COPY, .param = width_log2, .cookie = 0x1234567 };

	d.operand[0] = (struct gtu_hw_operand){ from, count, from_offset };
	d.operand[1] = (struct gtu_hw_operand){ to, count, to_offset };
	return d;
}

TEST(identity_and_reset_values)
{
	struct fx *f = fx_open(NULL, 1);

	CHECK_EQ(reg(f, GTU_REG_MAGIC, 4), GTU_MAGIC);
	CHECK_EQ(reg(f, GTU_REG_VERSION, 4), GTU_HW_VERSION);
	CHECK_EQ(reg(f, GTU_REG_EPOCH, 4), 1);
	CHECK_EQ(reg(f, GTU_REG_SCRATCH, 8), 0);
	CHECK_EQ(reg(f, GTU_REG_STATUS, 4), GTU_STATUS_READY);
	CHECK_EQ(reg(f, GTU_REG_DOORBELL_STRIDE, 4), 16);
	CHECK_EQ(reg(f, GTU_PAGE_PEG + GTU_UREG_ID, 4), GTU_ID_PEG);
	CHECK_EQ(reg(f, GTU_PAGE_WVR + GTU_UREG_ID, 4), GTU_ID_WVR);
	CHECK_EQ(reg(f, GTU_PAGE_WVR + GTU_UREG_STATUS, 4), 1);
	CHECK_EQ(reg(f, GTU_PAGE_ZCM + GTU_UREG_ID, 4), GTU_ID_ZCM);
	CHECK_EQ(reg(f, GTU_PAGE_SCU + GTU_UREG_PARAM(GTU_SCU_P_WIDTH), 4), 4);
	CHECK_EQ(reg(f, GTU_PAGE_IRU + GTU_UREG_PARAM(GTU_IRU_P_SETS), 4), 1024);
	CHECK_EQ(reg(f, GTU_REG_UNITS, 4), GTU_UNIT_SCU | GTU_UNIT_IRU | GTU_UNIT_PEG | GTU_UNIT_WVR |
					     GTU_UNIT_ZCM);
	CHECK_EQ(reg(f, GTU_REG_ERROR, 4), 0);
}

TEST(excluded_units_are_absent)
{
	const struct gtu_dev_config some = { .absent_units = GTU_UNIT_PEG | GTU_UNIT_WVR };
	struct fx *f = fx_open(&some, 1);
	struct gtu_hw_desc d = { .opcode = GTU_OP_PEG_STREAM };

	CHECK_EQ(reg(f, GTU_PAGE_PEG + GTU_UREG_ID, 4), 0);
	CHECK_EQ(reg(f, GTU_PAGE_WVR + GTU_UREG_STATUS, 4), 0);
	CHECK_EQ(reg(f, GTU_REG_UNITS, 4), GTU_UNIT_SCU | GTU_UNIT_IRU | GTU_UNIT_ZCM);
	CHECK_EQ(reg(f, GTU_REG_ERROR, 4), 0);
	CHECK_EQ(fx_do(f, &d, 0).status, GTU_CPL_ABSENT);
	d.opcode = GTU_OP_WVR_STREAM;
	CHECK_EQ(fx_do(f, &d, 0).status, GTU_CPL_ABSENT);
	CHECK_EQ(reg(f, GTU_PAGE_PEG + GTU_UREG_PARAM(0), 4), 0);
	CHECK_EQ(reg(f, GTU_REG_ERROR, 4), GTU_ERROR_REGISTER);
}

/*
 * An operation that the specification defines and this build lacks completes with ABSENT, for every
 * unit.
 */
TEST(absent_is_not_unknown)
{
	static const uint8_t known[] = { GTU_OP_SCU_BITMASK, GTU_OP_SCU_EXPAND, GTU_OP_IRU_STREAM, GTU_OP_PEG_STREAM, GTU_OP_WVR_STREAM };
	const struct gtu_dev_config none = { .absent_units = 0x1f };
	struct fx *f = fx_open(&none, 1);
	struct gtu_hw_desc d = { .opcode = GTU_OP_SCU_EXPAND + 1 };
	unsigned i;

	CHECK_EQ(fx_do(f, &d, 0).status, GTU_CPL_OPCODE);
	for (i = 0; i < sizeof(known); i++) {
		d.opcode = known[i];
		CHECK_EQ(fx_do(f, &d, 0).status, GTU_CPL_ABSENT);
	}
}

TEST(wide_registers_in_halves)
{
	struct fx *f = fx_open(NULL, 1);

	put(f, GTU_REG_SCRATCH, 8, 0x1122334455667788);
	CHECK_EQ(reg(f, GTU_REG_SCRATCH, 4), 0x55667788);
	put(f, GTU_REG_SCRATCH, 8, 0);
	CHECK_EQ(reg(f, GTU_REG_SCRATCH + 4, 4), 0x11223344);	/* latched when the low half was read */
	CHECK_EQ(reg(f, GTU_REG_SCRATCH + 4, 4), 0);
	put(f, GTU_REG_SCRATCH + 4, 4, 7);
	CHECK_EQ(reg(f, GTU_REG_SCRATCH, 8), 7ull << 32);
	CHECK_EQ(reg(f, GTU_REG_ERROR, 4), 0);
}

TEST(invalid_accesses_set_error)
{
	static const struct { uint32_t offset; unsigned size; } wrong[] = {
		{ 0x000, 2 }, { 0x002, 4 }, { 0x000, 8 }, { 0x098, 4 }, { 0xffc, 4 },
		{ GTU_PAGE_PEG + GTU_PEG_REG(16), 8 }, { GTU_PAGE_PEG + GTU_PEG_REG(3) + 0x28, 4 },
		{ (GTU_UNIT_COUNT + 1) * GTU_PAGE, 4 }, { GTU_REG_EVENT_HEAD(33), 4 },
	};
	struct fx *f = fx_open(NULL, 1);
	unsigned i;

	for (i = 0; i < LENGTH(wrong); i++) {
		CHECK_EQ(reg(f, wrong[i].offset, wrong[i].size), 0);
		CHECKF(reg(f, GTU_REG_ERROR, 4) == GTU_ERROR_REGISTER, "reading %u bytes at 0x%x set no error",
		       wrong[i].size, wrong[i].offset);
		CHECK_EQ(reg(f, GTU_REG_ERROR_INFO, 8), wrong[i].offset);
		put(f, GTU_REG_ERROR, 4, GTU_ERROR_REGISTER);
		CHECK_EQ(reg(f, GTU_REG_ERROR, 4), 0);
	}
	CHECK(f->irqs[0] == i);		/* vector 0, once per error */
	put(f, GTU_REG_MAGIC, 4, 0);	/* read-only: ignored without an error */
	CHECK_EQ(reg(f, GTU_REG_MAGIC, 4), GTU_MAGIC);
	CHECK_EQ(reg(f, GTU_REG_ERROR, 4), 0);
	CHECK_EQ(gtu_dev_read(f->dev, GTU_BAR_APERTURE, gtu_dev_bar_size(f->dev, 4) - 4, 8), 0);
	CHECK_EQ(gtu_dev_read(f->dev, 3, 0, 4), 0);
}

TEST(device_tree_equals_registers)
{
	static const struct { const char *node, *property; uint32_t offset; bool wide; } same[] = {
		{ "/", "gtu,version", GTU_REG_VERSION, 0 },
		{ "/", "gtu,contexts", GTU_REG_MAX_CONTEXTS, 0 },
		{ "/", "gtu,queues", GTU_REG_MAX_QUEUES, 0 },
		{ "/", "gtu,regions-log2", GTU_REG_MAX_REGIONS, 0 },
		{ "/", "gtu,ring-log2", GTU_REG_MAX_RING, 0 },
		{ "/", "gtu,vectors", GTU_REG_VECTORS, 0 },
		{ "/", "gtu,event-rings", GTU_REG_EVENT_RINGS, 0 },
		{ "/", "gtu,doorbell-stride-log2", GTU_REG_DOORBELL_STRIDE, 0 },
		{ "/", "clock-frequency", GTU_REG_CLOCK_HZ, 1 },
		{ "/", "gtu,aperture-bytes", GTU_REG_APERTURE_SIZE, 1 },
	};
	static const uint32_t page[] = { GTU_PAGE_SCU, GTU_PAGE_IRU, GTU_PAGE_ZCM };
	static uint8_t blob[GTU_FDT_WINDOW_SIZE];
	struct fx *f = fx_open(&(struct gtu_dev_config){ .scu_width = 1, .iru_sets = 256 }, 1);
	uint32_t length = (uint32_t)reg(f, GTU_REG_FDT_LENGTH, 4), i, n;
	int node, bytes, params = 0;

	CHECK(length <= sizeof(blob));
	for (i = 0; i < length; i++)
		blob[i] = (uint8_t)reg(f, GTU_FDT_WINDOW + i, 1);
	CHECK_EQ(crc32(0, blob, length), reg(f, GTU_REG_FDT_CRC, 4));
	CHECK_EQ(fdt_check_full(blob, length), 0);
	for (i = 0; i < LENGTH(same); i++) {
		const void *p = fdt_getprop(blob, 0, same[i].property, &bytes);

		CHECKF(p && bytes == (same[i].wide ? 8 : 4), "no property %s", same[i].property);
		CHECK_EQ(same[i].wide ? fdt64_ld(p) : fdt32_ld(p), reg(f, same[i].offset, same[i].wide ? 8 : 4));
	}
	/* every parameter in the tree equals a parameter register of that page */
	for (i = 0; i < 3; i++) {
		char path[32];

		snprintf(path, sizeof(path), "/%s@%x",
			 page[i] == GTU_PAGE_SCU ? "scu" : page[i] == GTU_PAGE_IRU ? "iru" : "zcm", page[i]);
		node = fdt_path_offset(blob, path);
		CHECKF(node >= 0, "no node %s", path);
		CHECK_EQ(fdt32_ld(fdt_getprop(blob, node, "reg", NULL)), page[i]);
		n = 0;
		for (int p = fdt_first_property_offset(blob, node); p >= 0; p = fdt_next_property_offset(blob, p)) {
			const char *name;
			const void *v = fdt_getprop_by_offset(blob, p, &name, &bytes);

			if (strncmp(name, "gtu,", 4) || !strcmp(name, "gtu,version"))
				continue;
			CHECKF(fdt32_ld(v) == reg(f, page[i] + GTU_UREG_PARAM(n), 4), "%s %s is %u, register %u", path,
			       name, fdt32_ld(v), (unsigned)reg(f, page[i] + GTU_UREG_PARAM(n), 4));
			n++, params++;
		}
		CHECK(n > 0);
	}
	CHECK(params >= 6 + 11 + 2);
}

TEST(mailbox_rejects_invalid_commands)
{
	static const struct { uint32_t command; uint64_t arg[6]; uint32_t status; } bad[] = {
		{ 99, { 0 }, GTU_MBOX_E_COMMAND },
		{ GTU_MBOX_CTX_ENABLE, { 256, 4096, 4, 1 }, GTU_MBOX_E_INDEX },
		{ GTU_MBOX_CTX_ENABLE, { 1, 4097, 4, 1 }, GTU_MBOX_E_ARG },
		{ GTU_MBOX_CTX_ENABLE, { 1, 4096, 13, 1 }, GTU_MBOX_E_ARG },
		{ GTU_MBOX_CTX_ENABLE, { 1, 4096, 4, 17 }, GTU_MBOX_E_ARG },
		{ GTU_MBOX_CTX_ENABLE, { 0, 4096, 4, 1 }, GTU_MBOX_E_STATE },
		{ GTU_MBOX_CTX_DISABLE, { 5 }, GTU_MBOX_E_STATE },
		{ GTU_MBOX_INVALIDATE, { 0, 1 << FX_TABLE_LOG2 }, GTU_MBOX_E_INDEX },
		{ GTU_MBOX_INVALIDATE, { 3, 0 }, GTU_MBOX_E_STATE },
		{ GTU_MBOX_QUEUE_ENABLE, { 256, 0, 4096, 4096, 0x404, 0 }, GTU_MBOX_E_INDEX },
		{ GTU_MBOX_QUEUE_ENABLE, { 1, 9, 4096, 4096, 0x404, 0 }, GTU_MBOX_E_STATE },
		{ GTU_MBOX_QUEUE_ENABLE, { 0, 0, 4096, 4096, 0x404, 0 }, GTU_MBOX_E_STATE },
		{ GTU_MBOX_QUEUE_ENABLE, { 1, 0, 4100, 4096, 0x404, 0 }, GTU_MBOX_E_ARG },
		{ GTU_MBOX_QUEUE_ENABLE, { 1, 0, 4096, 4096, 0x400, 0 }, GTU_MBOX_E_ARG },
		{ GTU_MBOX_QUEUE_ENABLE, { 1, 0, 4096, 4096, 0xd04, 0 }, GTU_MBOX_E_ARG },
		{ GTU_MBOX_QUEUE_ENABLE, { 1, 0, 4096, 4096, 0x10404, 0 }, GTU_MBOX_E_ARG },
		{ GTU_MBOX_QUEUE_ENABLE, { 1, 0, 4096, 4096, 0x404, 33 }, GTU_MBOX_E_INDEX },
		{ GTU_MBOX_QUEUE_DISABLE, { 1 }, GTU_MBOX_E_STATE },
		{ GTU_MBOX_QUEUE_RESET, { 300 }, GTU_MBOX_E_INDEX },
		{ GTU_MBOX_QUEUE_SEEK, { 300, 0, 0 }, GTU_MBOX_E_INDEX },
		{ GTU_MBOX_QUEUE_SEEK, { 100, 0, 0 }, GTU_MBOX_E_STATE },
		{ GTU_MBOX_EVENT_ENABLE, { 33, 4096, 4, 1 }, GTU_MBOX_E_INDEX },
		{ GTU_MBOX_EVENT_ENABLE, { 1, 4096, 4, 33 }, GTU_MBOX_E_INDEX },
		{ GTU_MBOX_EVENT_ENABLE, { 1, 4098, 4, 1 }, GTU_MBOX_E_ARG },
		{ GTU_MBOX_EVENT_DISABLE, { 1 }, GTU_MBOX_E_STATE },
	};
	struct fx *f = fx_open(NULL, 1);
	unsigned i;

	for (i = 0; i < LENGTH(bad); i++) {
		fx_mailbox(f, bad[i].command, 6, bad[i].arg);
		CHECKF(fx_mailbox_status(f) == bad[i].status, "command %u (row %u) gave %u, expected %u",
		       bad[i].command, i, fx_mailbox_status(f), bad[i].status);
	}
}

/*
 * SEEK resumes a queue after it was set up again: no completion is repeated or lost, phases
 * continue.
 */
TEST(seek_resumes_a_queue)
{
	const struct gtu_hw_desc nop = { .opcode = GTU_OP_NOP };
	const uint32_t slots = 1u << FX_RING_LOG2, first = 3 * slots - 2;
	const uint64_t busy[] = { 0, 0, 0 }, far[] = { 1, first, first - slots - 1 }, wide[] = { 1, 1ull << 32, 1 },
		       seek[] = { 1, first, first - 1 };
	struct fx *f = fx_open(NULL, 1);
	uint32_t i;

	fx_queue_open(f, 1, 0, GTU_RING_NONE);
	CHECK(reg(f, GTU_REG_CAPS, 8) & GTU_CAP_SEEK);
	fx_submit_to(f, 0, &nop);
	while (gtu_dev_step(f->dev, 100))
		;
	fx_mailbox(f, GTU_MBOX_QUEUE_SEEK, 3, busy);
	CHECK_EQ(fx_mailbox_status(f), GTU_MBOX_E_STATE);
	fx_mailbox(f, GTU_MBOX_QUEUE_SEEK, 3, far);
	CHECK_EQ(fx_mailbox_status(f), GTU_MBOX_E_ARG);
	fx_mailbox(f, GTU_MBOX_QUEUE_SEEK, 3, wide);
	CHECK_EQ(fx_mailbox_status(f), GTU_MBOX_E_ARG);
	fx_mailbox(f, GTU_MBOX_QUEUE_SEEK, 3, seek);
	CHECK_EQ(fx_mailbox_status(f), GTU_MBOX_E_OK);
	CHECK_EQ(f->queue[1].status->sq_head, first);
	CHECK_EQ(f->queue[1].status->cq_tail, first);
	fx_mailbox(f, GTU_MBOX_QUEUE_SEEK, 3, seek);
	CHECK_EQ(fx_mailbox_status(f), GTU_MBOX_E_STATE);

	/* one completion is not consumed yet: one less than the ring's size can run */
	memset(f->queue[1].cq, 0xff, slots * sizeof(*f->queue[1].cq));
	f->queue[1].tail = first;
	f->queue[1].head = first - 1;
	for (i = 0; i < slots; i++)
		fx_submit_to(f, 1, &nop);
	while (gtu_dev_step(f->dev, 100))
		;
	CHECK_EQ(f->queue[1].status->cq_tail, first + slots - 1);
	for (i = first; i < first + slots - 1; i++) {
		CHECK_EQ(f->queue[1].cq[i % slots].sq_index, i);
		CHECK_EQ(f->queue[1].cq[i % slots].phase, i & slots ? 0 : 1);
	}
	CHECK_EQ(f->queue[1].cq[(first + slots - 1) % slots].phase, 0xffff);
}

/*
 * COPY through every kind of region, at unaligned offsets, in steps of any size: bytes, count and
 * cycles.
 */
TEST(copy_through_all_regions)
{
	uint64_t seed = 42, cycles = 0;
	unsigned round;

	for (round = 0; round < 400; round++) {
		struct fx *f = fx_open(NULL, seed);
		const unsigned width = test_random(&seed) % 4, levels_a = test_random(&seed) % 4,
			       levels_b = test_random(&seed) % 4;
		const uint64_t n = test_random(&seed) % 3000, off_a = (test_random(&seed) % 700) << width,
			       off_b = (test_random(&seed) % 700) << width, first = 8 * (test_random(&seed) % 300);
		const uint64_t bytes = n << width, length = (700 << width) + bytes;
		struct fx_buffer *a = fx_buffer(f, first + length), *b = fx_buffer(f, first + length);
		struct gtu_hw_desc d;
		struct gtu_hw_cpl c;
		uint32_t ka, kb;
		uint64_t i;

		for (i = 0; i < a->bytes; i++)
			a->at[i] = (uint8_t)test_random(&seed);
		memset(b->at, 0xee, b->bytes);
		ka = levels_a ? fx_region_scattered(f, a, first, length, GTU_REGION_READ, levels_a) :
				fx_region(f, a, first, length, GTU_REGION_READ);
		kb = levels_b ? fx_region_scattered(f, b, first, length, GTU_REGION_WRITE, levels_b) :
				fx_region(f, b, first, length, GTU_REGION_WRITE);
		d = copy(ka, off_a, kb, off_b, (uint32_t)n, width);
		c = fx_do(f, &d, 0);
		CHECK_EQ(c.status, GTU_CPL_OK);
		CHECK_EQ(c.count, n);
		CHECK_EQ(c.cookie, 0x1234567);
		cycles = 200 + (bytes + 31) / 32;
		CHECK_EQ(c.cycles, cycles);
		CHECK(!memcmp(a->at + first + off_a, b->at + first + off_b, bytes));
		for (i = 0; i < first + off_b; i++)
			CHECK(b->at[i] == 0xee);
		for (i = first + off_b + bytes; i < b->bytes; i++)
			CHECK(b->at[i] == 0xee);
		test_end(NULL);
	}
}

TEST(fill_patterns)
{
	struct fx *f = fx_open(NULL, 3);
	struct fx_buffer *b = fx_buffer(f, 8192);
	const uint32_t key = fx_region_scattered(f, b, 24, 8000, GTU_REGION_WRITE, 1);
	unsigned width;

	for (width = 0; width < 4; width++) {
		struct gtu_hw_desc d = { .opcode = GTU_OP_FILL, .param = width, .imm = 0x8877665544332211 };
		uint64_t i, n = 900;

		memset(b->at, 0, b->bytes);
		d.operand[1] = (struct gtu_hw_operand){ key, (uint32_t)n, 1ull << width };
		CHECK_EQ(fx_do(f, &d, 0).status, GTU_CPL_OK);
		for (i = 0; i < n << width; i++)
			CHECKF(b->at[24 + (1 << width) + i] == (uint8_t)(0x8877665544332211 >> 8 * (i % (1u << width))),
			       "width %u byte %" PRIu64, width, i);
		CHECK(!b->at[24 + (1 << width) + (n << width)] && !b->at[24 + (1 << width) - 1]);
	}
}

TEST(every_status)
{
	struct fx *f = fx_open(NULL, 5);
	struct fx_buffer *a = fx_buffer(f, 4096), *b = fx_buffer(f, 4096), *gone = fx_buffer(f, 4096);
	const uint32_t ka = fx_region(f, a, 0, 4096, GTU_REGION_READ);
	const uint32_t kb = fx_region(f, b, 8, 4000, GTU_REGION_WRITE);
	const uint32_t kg = fx_region(f, gone, 0, 4096, GTU_REGION_READ);
	const uint32_t kx = fx_region(f, a, 0, 4096, GTU_REGION_READ);
	struct gtu_hw_desc d;
	struct gtu_hw_cpl c;

#define EXPECT(what, place)                                                                        \
	do {                                                                                       \
		c = fx_do(f, &d, 0);                                                               \
		CHECKF(c.status == (what) && c.operand == (place), "status %u operand %u, expected %u %u", \
		       c.status, c.operand, what, place);                                          \
	} while (0)

	d = copy(ka, 0, kb, 0, 10, 0), d.opcode = 0xf0;
	EXPECT(GTU_CPL_OPCODE, 0xff);
	d = copy(ka, 0, kb, 0, 10, 0), d.reserved0 = 1;
	EXPECT(GTU_CPL_RESERVED, 0xff);
	d = copy(ka, 0, kb, 0, 10, 0), d.flags = 0x8000;
	EXPECT(GTU_CPL_RESERVED, 0xff);
	d = copy(ka, 0, kb, 0, 10, 4);
	EXPECT(GTU_CPL_RESERVED, 0xff);
	d = copy(0, 0, kb, 0, 10, 0);
	EXPECT(GTU_CPL_OPERAND, 0);
	d = copy(ka, 2, kb, 0, 10, 2);
	EXPECT(GTU_CPL_OPERAND, 0);
	d = copy(ka, 0, kb, 0, 10, 0), d.operand[4].offset = 1;
	EXPECT(GTU_CPL_OPERAND, 4);
	d = copy(ka + 0x10000, 0, kb, 0, 10, 0);
	EXPECT(GTU_CPL_KEY, 0);
	d = copy(GTU_KEY(1, 200), 0, kb, 0, 10, 0);
	EXPECT(GTU_CPL_KEY, 0);
	d = copy(GTU_KEY(1, 60000), 0, kb, 0, 10, 0);
	EXPECT(GTU_CPL_KEY, 0);
	d = copy(GTU_KEY(0, 0), 0, kb, 0, 10, 0), d.operand[0].key = 1;	/* generation 0 */
	EXPECT(GTU_CPL_KEY, 0);
	d = copy(ka, 0, ka, 0, 10, 0);
	EXPECT(GTU_CPL_RIGHTS, 1);
	d = copy(kb, 0, kb, 0, 10, 0);
	EXPECT(GTU_CPL_RIGHTS, 0);
	d = copy(ka, 4090, kb, 0, 10, 0);
	EXPECT(GTU_CPL_BOUNDS, 0);
	d = copy(ka, 0, kb, 3999, 2, 0);
	EXPECT(GTU_CPL_BOUNDS, 1);
	d = copy(ka, ~0ull, kb, 0, 1, 0);
	EXPECT(GTU_CPL_BOUNDS, 0);
	d = copy(ka, 0, kb, 0, 0xfffffffe, 3);
	EXPECT(GTU_CPL_BOUNDS, 0);
	d = copy(ka, 0, kb, 0, GTU_COUNT_TO_END, 0);
	EXPECT(GTU_CPL_OPERAND, 0);
	d = copy(ka, 0, kb, 0, 10, 0), d.operand[1].count = 9;
	EXPECT(GTU_CPL_OVERFLOW, 1);
	CHECK_EQ(c.needed, 10);
	fx_buffer_free(gone);
	d = copy(kg, 0, kb, 0, 10, 0);
	EXPECT(GTU_CPL_DMA, 0);
	f->table[GTU_KEY_SLOT(kx)].flags = 0;
	d = copy(kx, 0, kb, 0, 10, 0);
	EXPECT(GTU_CPL_KEY, 0);
	f->table[GTU_KEY_SLOT(kx)].flags = GTU_REGION_VALID | GTU_REGION_READ | 11u << GTU_REGION_PAGE_SHIFT;
	EXPECT(GTU_CPL_KEY, 0);
	f->table[GTU_KEY_SLOT(kx)].flags = GTU_REGION_VALID | GTU_REGION_READ | GTU_REGION_APERTURE;
	EXPECT(GTU_CPL_KEY, 0);		/* its base is outside the aperture */
	put(f, GTU_REG_CYCLE_LIMIT, 8, 100);
	d = copy(ka, 0, kb, 0, 4000, 0);
	EXPECT(GTU_CPL_LIMIT, 0xff);
	d.limit = 1;
	EXPECT(GTU_CPL_OK, 0xff);
	d = (struct gtu_hw_desc){ .opcode = GTU_OP_NOP };
	EXPECT(GTU_CPL_OK, 0xff);
	CHECK_EQ(c.cycles, 1);
	CHECK_EQ(reg(f, GTU_REG_ERROR, 4), 0);	/* user errors set no device error */
}

TEST(parameter_block)
{
	struct fx *f = fx_open(NULL, 5);
	struct fx_buffer *a = fx_buffer(f, 4096), *b = fx_buffer(f, 4096);
	const uint32_t ka = fx_region(f, a, 0, 4096, GTU_REGION_READ);
	const uint32_t kb = fx_region(f, b, 0, 4096, GTU_REGION_WRITE);
	struct gtu_hw_operand *op = (void *)(a->at + 1024);
	struct gtu_hw_desc d = { .opcode = GTU_OP_COPY, .flags = GTU_DESC_BLOCK };
	struct gtu_hw_cpl c;

	memset(a->at, 0x5a, 1024);
	op[0] = (struct gtu_hw_operand){ ka, 1024, 0 };
	op[1] = (struct gtu_hw_operand){ kb, 1024, 0 };
	d.operand[0] = (struct gtu_hw_operand){ ka, 2, 1024 };
	EXPECT(GTU_CPL_OK, 0xff);
	CHECK(!memcmp(a->at, b->at, 1024));
	d.operand[0].count = 0;
	EXPECT(GTU_CPL_OPERAND, 0);
	d.operand[0].count = 17;
	EXPECT(GTU_CPL_OPERAND, 0);
	d.operand[0] = (struct gtu_hw_operand){ ka, 2, 1032 };
	EXPECT(GTU_CPL_OPERAND, 0);
	d.operand[0] = (struct gtu_hw_operand){ ka, 16, 4096 - 16 };
	EXPECT(GTU_CPL_BOUNDS, 0);
	d.operand[0] = (struct gtu_hw_operand){ kb, 2, 1024 };
	EXPECT(GTU_CPL_RIGHTS, 0);
	d.operand[0] = (struct gtu_hw_operand){ ka, 3, 1024 };
	d.operand[5].key = ka;
	EXPECT(GTU_CPL_OPERAND, 5);
}

TEST(no_completion_is_lost)
{
	struct fx *f = fx_open(NULL, 5);
	struct fx_queue *q = &f->queue[0];
	struct gtu_hw_desc d = { .opcode = GTU_OP_NOP };
	struct gtu_hw_cpl c;
	unsigned i, taken = 0;

	/* Do not consume completions: the device fills the ring and waits. */
	for (i = 0; i < 16; i++) {
		d.cookie = i;
		q->sq[i] = d;
	}
	q->tail = 16;
	fx_doorbell(f, 0, GTU_DB_SUBMIT, 16);
	while (gtu_dev_step(f->dev, 3))
		;
	CHECK_EQ(q->status->cq_tail, 16);
	for (i = 0; i < 8; i++) {
		d.cookie = 16 + i;
		q->sq[i] = d;
	}
	q->tail = 24;
	fx_doorbell(f, 0, GTU_DB_SUBMIT, 24);
	CHECK(!gtu_dev_pending(f->dev));
	CHECK_EQ(q->status->cq_tail, 16);
	/* Consume three: three more jobs run, however long the device steps. */
	while (taken < 3)
		CHECK(fx_poll(f, 0, &c) && c.cookie == taken++);
	fx_doorbell(f, 0, GTU_DB_SUBMIT, 24 | 3ull << 32);
	while (gtu_dev_step(f->dev, 1000))
		;
	CHECK_EQ(q->status->cq_tail, 19);
	while (taken < 24) {
		CHECK(fx_poll(f, 0, &c));
		CHECK_EQ(c.cookie, taken);
		CHECK_EQ(c.sq_index, taken);
		taken++;
		fx_doorbell(f, 0, GTU_DB_SUBMIT, 24 | (uint64_t)taken << 32);
		while (gtu_dev_step(f->dev, 1000))
			;
	}
	CHECK(!fx_poll(f, 0, &c));
}

TEST(queue_errors_are_sticky)
{
	const uint64_t queue = 0;
	struct gtu_hw_desc nop = { .opcode = GTU_OP_NOP };
	struct fx *f = fx_open(NULL, 5);
	struct fx_queue *q = &f->queue[0];

	fx_doorbell(f, 0, GTU_DB_SUBMIT, 17);
	CHECK_EQ(q->status->state, GTU_QUEUE_E_TAIL);
	CHECK_EQ(reg(f, GTU_REG_ERROR, 4), GTU_ERROR_QUEUE);
	CHECK_EQ(reg(f, GTU_REG_ERROR_INFO, 8), (uint64_t)GTU_QUEUE_E_TAIL << 32);
	fx_doorbell(f, 0, GTU_DB_SUBMIT, 1);
	CHECK(!gtu_dev_pending(f->dev));
	memset(q->cq, 0, GTU_CQ_BYTES(FX_RING_LOG2));
	fx_mailbox(f, GTU_MBOX_QUEUE_RESET, 1, &queue);
	CHECK_EQ(fx_mailbox_status(f), 0);
	CHECK_EQ(q->status->state, GTU_QUEUE_ENABLED);
	CHECK_EQ(fx_do(f, &nop, 0).status, GTU_CPL_OK);
	fx_doorbell(f, 0, GTU_DB_SUBMIT, 1 | 2ull << 32);	/* claims two consumed of one completed */
	CHECK_EQ(q->status->state, GTU_QUEUE_E_HEAD);
	/* A ring that the host unmaps */
	memset(q->cq, 0, GTU_CQ_BYTES(FX_RING_LOG2));
	q->tail = q->head = 0;
	fx_mailbox(f, GTU_MBOX_QUEUE_RESET, 1, &queue);
	fx_submit_to(f, 0, &nop);
	for (unsigned i = 0; i < f->buffers; i++)
		if (f->buffer[i].at == (uint8_t *)q->sq)
			fx_buffer_free(&f->buffer[i]);
	while (gtu_dev_step(f->dev, 100))
		;
	CHECK_EQ(q->status->state, GTU_QUEUE_E_DMA);
}

TEST(events_are_raised_when_armed)
{
	struct fx *f = fx_open(NULL, 5);
	struct fx_buffer *ring = fx_buffer(f, 4096);
	const uint32_t *event = (const uint32_t *)ring->at;
	const uint64_t arg[4] = { 2, ring->bus, 1, 7 };
	struct gtu_hw_desc nop = { .opcode = GTU_OP_NOP };
	struct gtu_hw_cpl c;

	fx_mailbox(f, GTU_MBOX_EVENT_ENABLE, 4, arg);
	CHECK_EQ(fx_mailbox_status(f), 0);
	fx_queue_open(f, 3, 0, 2);
	fx_submit_to(f, 3, &nop);
	while (gtu_dev_step(f->dev, 100))
		;
	CHECK(f->irqs[7] == 0 && event[0] == 0);	/* not armed */
	fx_doorbell(f, 3, GTU_DB_ARM, 0);		/* completion 0 exists: raised at once */
	CHECK_EQ(f->irqs[7], 1);
	CHECK_EQ(event[0], 3u | GTU_EVENT_PHASE);
	fx_doorbell(f, 3, GTU_DB_ARM, 1);
	CHECK_EQ(f->irqs[7], 1);
	fx_submit_to(f, 3, &nop);
	while (gtu_dev_step(f->dev, 100))
		;
	CHECK_EQ(f->irqs[7], 2);
	CHECK_EQ(event[1], 3u | GTU_EVENT_PHASE);
	/* The ring of two is full: the next event stays pending until the head moves. */
	fx_doorbell(f, 3, GTU_DB_ARM, 0);
	CHECK_EQ(f->irqs[7], 2);
	put(f, GTU_REG_EVENT_HEAD(2), 4, 3);		/* beyond the tail */
	CHECK_EQ(reg(f, GTU_REG_ERROR, 4), GTU_ERROR_REGISTER);
	put(f, GTU_REG_EVENT_HEAD(2), 4, 1);
	CHECK_EQ(f->irqs[7], 3);
	CHECK_EQ(event[0], 3u);				/* second pass: phase 0 */
	put(f, GTU_REG_EVENT_HEAD(2), 4, 3);
	fx_doorbell(f, 3, GTU_DB_SUBMIT, 1000);		/* an error raises an event unarmed */
	CHECK_EQ(event[1], 3u | GTU_EVENT_ERROR);
	CHECK(fx_poll(f, 3, &c) && fx_poll(f, 3, &c) && !fx_poll(f, 3, &c));
}

static void run_all(struct fx *f, uint64_t budget)
{
	while (gtu_dev_step(f->dev, budget))
		;
}

TEST(fences_order_queues)
{
	struct fx *f = fx_open(NULL, 5);
	struct fx_buffer *a = fx_buffer(f, 1 << 16), *b = fx_buffer(f, 1 << 16);
	const uint32_t ka = fx_region(f, a, 0, 1 << 16, GTU_REGION_READ);
	const uint32_t kb = fx_region(f, b, 0, 1 << 16, GTU_REGION_WRITE);
	struct gtu_hw_desc fence = { .opcode = GTU_OP_FENCE }, d = copy(ka, 0, kb, 0, 1 << 16, 0);
	struct gtu_hw_cpl c;
	int i;

	fx_queue_open(f, 1, 0, GTU_RING_NONE);
	for (i = 0; i < 5; i++)
		fx_submit_to(f, 0, &d);
	fx_submit_to(f, 1, &fence);
	for (i = 0; i < 5; i++) {
		while (!fx_poll(f, 0, &c)) {
			CHECKF(!fx_poll(f, 1, &c), "the fence passed before %d earlier jobs completed", 5 - i);
			CHECK(gtu_dev_pending(f->dev));
			gtu_dev_step(f->dev, 50);
		}
	}
	run_all(f, 50);
	CHECK(fx_poll(f, 1, &c) && c.status == GTU_CPL_OK && c.cycles == 1);
	/* Fences in both queues do not wait for each other. */
	fx_submit_to(f, 0, &fence);
	fx_submit_to(f, 1, &fence);
	fx_submit_to(f, 0, &d);
	fx_submit_to(f, 1, &d);
	run_all(f, 50);
	for (i = 0; i < 2; i++)
		CHECK(fx_poll(f, i, &c) && fx_poll(f, i, &c) && c.status == GTU_CPL_OK);
	/* A fence does not wait for a queue that is reset. */
	fx_submit_to(f, 0, &d);
	fx_submit_to(f, 1, &fence);
	gtu_dev_step(f->dev, 300);
	CHECK(!fx_poll(f, 1, &c));
	fx_mailbox(f, GTU_MBOX_QUEUE_RESET, 1, &(uint64_t){ 0 });
	run_all(f, 50);
	CHECK(fx_poll(f, 1, &c));
}

/*
 * Three contexts with endless work: each gets its share of cycles, and its jobs' own cycles do not
 * change.
 */
TEST(contexts_share_by_weight)
{
	struct fx *f = fx_open(NULL, 5);
	struct fx_buffer *a = fx_buffer(f, 1 << 20), *b = fx_buffer(f, 1 << 20);
	const uint32_t ka = fx_region(f, a, 0, 1 << 20, GTU_REGION_READ);
	const uint32_t kb = fx_region(f, b, 0, 1 << 20, GTU_REGION_WRITE);
	struct gtu_hw_desc d = copy(ka, 0, kb, 0, 1 << 18, 0), large = copy(ka, 0, kb, 0, 1 << 20, 0);
	uint64_t alone = fx_do(f, &d, 1000).cycles, done[3] = { 0 };
	struct gtu_hw_cpl c;
	uint64_t table = 0;
	unsigned i, round;

	for (i = 0; i < f->buffers; i++)
		if (f->buffer[i].at == (uint8_t *)f->table)
			table = f->buffer[i].bus;
	for (i = 1; i < 3; i++) {
		const uint64_t arg[4] = { i, table, FX_TABLE_LOG2, i == 2 ? 2 : 1 };

		fx_mailbox(f, GTU_MBOX_CTX_ENABLE, 4, arg);
		CHECK_EQ(fx_mailbox_status(f), 0);
		fx_queue_open(f, i, i, GTU_RING_NONE);
	}
	for (round = 0; round < 4000; round++) {
		for (i = 0; i < 3; i++) {
			while (fx_poll(f, i, &c)) {
				done[i] += c.cycles;
				CHECK(i == 1 ? c.cycles == 200 + (1 << 20) / 32 : c.cycles == alone);
			}
			while (f->queue[i].tail - f->queue[i].head < 4)
				fx_submit_to(f, i, i == 1 ? &large : &d);
		}
		gtu_dev_step(f->dev, 10000);
	}
	/*
	 * context 2 has twice the weight of the others; the long jobs of context 1 gain it no share
	 */
	CHECKF(done[0] > done[1] * 9 / 10 && done[0] < done[1] * 11 / 10, "%" PRIu64 " and %" PRIu64, done[0],
	       done[1]);
	CHECKF(done[2] > done[0] * 18 / 10 && done[2] < done[0] * 22 / 10, "%" PRIu64 " and %" PRIu64, done[2],
	       done[0]);
}

TEST(reset_clears_all_state)
{
	struct fx *f = fx_open(NULL, 5);
	struct fx_buffer *a = fx_buffer(f, 1 << 16);
	const uint32_t ka = fx_region(f, a, 0, 1 << 16, GTU_REGION_READ | GTU_REGION_WRITE);
	struct gtu_hw_desc d = copy(ka, 0, ka, 0, 1 << 16, 0);
	struct gtu_hw_cpl c;

	fx_submit_to(f, 0, &d);
	gtu_dev_step(f->dev, 10);
	put(f, GTU_REG_SCRATCH, 8, 99);
	put(f, GTU_REG_RESET, 4, 1);			/* not the key */
	CHECK_EQ(reg(f, GTU_REG_SCRATCH, 8), 99);
	put(f, GTU_REG_RESET, 4, GTU_RESET_KEY);
	CHECK_EQ(reg(f, GTU_REG_EPOCH, 4), 2);
	CHECK_EQ(reg(f, GTU_REG_SCRATCH, 8), 0);
	CHECK_EQ(reg(f, GTU_REG_CYCLES, 8), 0);
	CHECK(!gtu_dev_pending(f->dev));
	fx_doorbell(f, 0, GTU_DB_SUBMIT, 1);
	CHECK(!gtu_dev_step(f->dev, 1000) && !fx_poll(f, 0, &c));
	gtu_dev_reset(f->dev);
	CHECK_EQ(reg(f, GTU_REG_EPOCH, 4), 3);
}

TEST(aperture_regions)
{
	struct fx *f = fx_open(&(struct gtu_dev_config){ .aperture_bytes = 65536 }, 5);
	struct fx_buffer *a = fx_buffer(f, 4096);
	const uint32_t ka = fx_region(f, a, 0, 4096, GTU_REGION_READ);
	const uint32_t kp = fx_region(f, a, 0, 4096, GTU_REGION_READ | GTU_REGION_WRITE);
	struct gtu_hw_region *r = &f->table[GTU_KEY_SLOT(kp)];
	struct gtu_hw_desc d = copy(ka, 0, kp, 0, 4096, 0);
	struct gtu_hw_cpl c;
	unsigned i;

	r->flags |= GTU_REGION_APERTURE;
	r->base = 65536 - 4096;
	for (i = 0; i < 4096; i++)
		a->at[i] = (uint8_t)(i * 7);
	EXPECT(GTU_CPL_OK, 0xff);
	for (i = 0; i < 4096; i += 8) {
		uint64_t v;

		memcpy(&v, a->at + i, 8);
		CHECK(gtu_dev_read(f->dev, GTU_BAR_APERTURE, 65536 - 4096 + i, 8) == v);
	}
	r->base += 1;
	EXPECT(GTU_CPL_KEY, 1);
}

TEST(monitor_counts_requests)
{
	struct fx *f = fx_open(NULL, 5);
	struct fx_buffer *a = fx_buffer(f, 8192), *b = fx_buffer(f, 8192);
	const uint32_t ka = fx_region(f, a, 0, 8192, GTU_REGION_READ);
	const uint32_t kb = fx_region(f, b, 0, 8192, GTU_REGION_WRITE);
	/*
	 * bytes 96 .. 96+1000: sector 3 alone, 7 whole lines, then sectors 0 to 2 of the last line
	 */
	struct gtu_hw_desc d = copy(ka, 96, kb, 0, 1000, 0);
	const struct gtu_hw_cpl quiet = fx_do(f, &d, 0);
	uint64_t *shown = calloc(GTU_ZCM_COUNTERS, 8);
	struct gtu_hw_cpl c;
	unsigned i;

	put(f, GTU_PAGE_ZCM + GTU_UREG_SET(GTU_ZCM_S_ENABLE), 4, 1);
	c = fx_do(f, &d, 1 << 20);
	CHECK(c.cycles == quiet.cycles && c.count == quiet.count);
	for (i = 0; i < 3; i++)
		gtu_dev_read(f->dev, GTU_BAR_APERTURE, 64 * i, 8);
	put(f, GTU_PAGE_ZCM + GTU_UREG_CTRL, 4, GTU_CTRL_SNAPSHOT | GTU_CTRL_CLEAR);
	for (i = 0; i < GTU_ZCM_COUNTERS; i++)
		shown[i] = reg(f, GTU_PAGE_ZCM + GTU_UREG_COUNTER(i), 8);
	CHECK_EQ(shown[GTU_ZCM_C_REQUESTS(GTU_ZCM_HOST_READ, 1)], 1);
	CHECK_EQ(shown[GTU_ZCM_C_REQUESTS(GTU_ZCM_HOST_READ, 3)], 1);
	CHECK_EQ(shown[GTU_ZCM_C_REQUESTS(GTU_ZCM_HOST_READ, 4)], 7);
	CHECK_EQ(shown[GTU_ZCM_C_BYTES(GTU_ZCM_HOST_READ)], 32 + 7 * 128 + 96);
	CHECK_EQ(shown[GTU_ZCM_C_REQUESTS(GTU_ZCM_HOST_WRITE, 4)], 8);	/* 7 lines and 104 bytes: 4 sectors */
	CHECK_EQ(shown[GTU_ZCM_C_REQUESTS(GTU_ZCM_APERTURE_READ, 1)], 3);
	CHECK_EQ(shown[GTU_ZCM_C_TRIP(7)], 17);		/* 200 cycles */
	CHECK_EQ(shown[GTU_ZCM_C_FLIGHT_SUM], 17 * 200 + 3);
	CHECK(shown[GTU_ZCM_C_FLIGHT_MAX] == 17 && shown[GTU_ZCM_C_MONITORED] == c.cycles);
	put(f, GTU_PAGE_ZCM + GTU_UREG_CTRL, 4, GTU_CTRL_SNAPSHOT);
	for (i = 0; i < GTU_ZCM_COUNTERS; i++)
		CHECK_EQ(reg(f, GTU_PAGE_ZCM + GTU_UREG_COUNTER(i), 8), 0);
	put(f, GTU_PAGE_ZCM + GTU_UREG_SET(0), 4, 2);
	CHECK_EQ(reg(f, GTU_REG_ERROR, 4), GTU_ERROR_REGISTER);
	free(shown);
}

TEST(invalid_configurations_are_rejected)
{
	static const struct gtu_dev_config bad[] = {
		{ .contexts = 5000 }, { .queues = 257 }, { .regions_log2 = 17 }, { .aperture_bytes = 5000 },
		{ .scu_width = 65 }, { .iru_partitions = 3 }, { .iru_sets = 100 }, { .iru_interleave = 64 },
		{ .iru_index_bits = 33 }, { .iru_partitions = 16, .iru_banks = 16 }, { .iru_queue_depth = 31 },
		{ .iru_ring_depth = 5000 }, { .doorbell_stride_log2 = 17 }, { .iru_sets = 4, .iru_banks = 8 },
	};
	static const struct gtu_host_ops ops = { .dma = fx_dma };
	unsigned i;

	for (i = 0; i < LENGTH(bad); i++) {
		const char *why = NULL;

		CHECKF(!gtu_dev_create(&bad[i], &ops, NULL, &why) && why, "configuration %u was accepted", i);
	}
}

TEST_MAIN
