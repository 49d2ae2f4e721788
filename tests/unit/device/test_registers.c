// SPDX-License-Identifier: MIT
/* The device core's registers: identity, access sizes, the device tree, the mailbox, configurations. */
#include <libfdt.h>
#include <zlib.h>

#include "firmware-model/device/gtu_units.h"
#include "tests/unit/fixture.h"

TEST(registers_have_their_identity_and_reset_values)
{
	struct fx *f = fx_open(NULL, 1);

	CHECK_EQ(fx_reg(f, GTU_REG_MAGIC, 4), GTU_MAGIC);
	CHECK_EQ(fx_reg(f, GTU_REG_VERSION, 4), GTU_HW_VERSION);
	CHECK_EQ(fx_reg(f, GTU_REG_EPOCH, 4), 1);
	CHECK_EQ(fx_reg(f, GTU_REG_SCRATCH, 8), 0);
	CHECK_EQ(fx_reg(f, GTU_REG_STATUS, 4), GTU_STATUS_READY);
	CHECK_EQ(fx_reg(f, GTU_REG_DOORBELL_STRIDE, 4), 16);
	CHECK_EQ(fx_reg(f, GTU_PAGE_PEG + GTU_UREG_ID, 4), GTU_ID_PEG);
	CHECK_EQ(fx_reg(f, GTU_PAGE_WVR + GTU_UREG_ID, 4), GTU_ID_WVR);
	CHECK_EQ(fx_reg(f, GTU_PAGE_WVR + GTU_UREG_STATUS, 4), 1);
	CHECK_EQ(fx_reg(f, GTU_PAGE_ZCM + GTU_UREG_ID, 4), GTU_ID_ZCM);
	CHECK_EQ(fx_reg(f, GTU_PAGE_SCU + GTU_UREG_PARAM(GTU_SCU_P_WIDTH), 4), 4);
	CHECK_EQ(fx_reg(f, GTU_PAGE_IRU + GTU_UREG_PARAM(GTU_IRU_P_SETS), 4), 1024);
	CHECK_EQ(fx_reg(f, GTU_REG_UNITS, 4), GTU_UNIT_SCU | GTU_UNIT_IRU | GTU_UNIT_PEG | GTU_UNIT_WVR |
					     GTU_UNIT_ZCM);
	CHECK_EQ(fx_reg(f, GTU_REG_ERROR, 4), 0);
}

TEST(excluded_units_are_absent)
{
	const struct gtu_dev_config some = { .absent_units = GTU_UNIT_PEG | GTU_UNIT_WVR };
	struct fx *f = fx_open(&some, 1);
	struct gtu_hw_desc d = { .opcode = GTU_OP_PEG_STREAM };

	CHECK_EQ(fx_reg(f, GTU_PAGE_PEG + GTU_UREG_ID, 4), 0);
	CHECK_EQ(fx_reg(f, GTU_PAGE_WVR + GTU_UREG_STATUS, 4), 0);
	CHECK_EQ(fx_reg(f, GTU_REG_UNITS, 4), GTU_UNIT_SCU | GTU_UNIT_IRU | GTU_UNIT_ZCM);
	CHECK_EQ(fx_reg(f, GTU_REG_ERROR, 4), 0);
	CHECK_EQ(fx_do(f, &d, 0).status, GTU_CPL_ABSENT);
	d.opcode = GTU_OP_WVR_STREAM;
	CHECK_EQ(fx_do(f, &d, 0).status, GTU_CPL_ABSENT);
	CHECK_EQ(fx_reg(f, GTU_PAGE_PEG + GTU_UREG_PARAM(0), 4), 0);
	CHECK_EQ(fx_reg(f, GTU_REG_ERROR, 4), GTU_ERROR_REGISTER);
}

/*
 * An operation that the specification defines and this build lacks completes with ABSENT, for every
 * unit.
 */
TEST(absent_operations_complete_with_absent_not_opcode)
{
	static const uint8_t known[] = { GTU_OP_SCU_BITMASK, GTU_OP_SCU_EXPAND, GTU_OP_IRU_STREAM, GTU_OP_PEG_STREAM, GTU_OP_WVR_STREAM };
	const struct gtu_dev_config none = { .absent_units = 0x1f };
	struct fx *f = fx_open(&none, 1);
	struct gtu_hw_desc d = { .opcode = GTU_OP_SCU_EXPAND + 1 };

	CHECK_EQ(fx_do(f, &d, 0).status, GTU_CPL_OPCODE);
	for (unsigned i = 0; i < sizeof(known); i++) {
		d.opcode = known[i];
		CHECK_EQ(fx_do(f, &d, 0).status, GTU_CPL_ABSENT);
	}
}

TEST(a_unit_may_lack_operations)
{
	/* the second and the last operation of the tables: SCU DATA and the WVR stream */
	const struct gtu_dev_config config = { .absent_operations = 1u << 1 | 1u << 7 };
	struct fx *f = fx_open(&config, 1);
	struct gtu_hw_desc d = { .opcode = GTU_OP_SCU_DATA };

	CHECK_EQ(fx_reg(f, GTU_REG_UNITS, 4), 0x1f);
	CHECK_EQ(fx_do(f, &d, 0).status, GTU_CPL_ABSENT);
	d.opcode = GTU_OP_WVR_STREAM;
	CHECK_EQ(fx_do(f, &d, 0).status, GTU_CPL_ABSENT);
	d.opcode = GTU_OP_SCU_BITMASK;
	CHECK_EQ(fx_do(f, &d, 0).status, GTU_CPL_OPERAND);
}

TEST(an_unknown_unit_has_a_page_with_its_identity)
{
	const struct gtu_dev_config config = { .unknown_unit = true };
	const uint32_t page = (GTU_UNIT_COUNT + 1) * GTU_PAGE;
	struct fx *f = fx_open(&config, 1);

	CHECK_EQ(fx_reg(f, GTU_REG_UNITS, 4), 0x3f);
	CHECK(fx_reg(f, page + GTU_UREG_ID, 4) != 0);
	CHECK_EQ(fx_reg(f, page + GTU_UREG_VERSION, 4), 1);
	CHECK_EQ(fx_reg(f, page + GTU_UREG_STATUS, 4), 1);
	fx_put(f, page + GTU_UREG_CTRL, 4, GTU_CTRL_SNAPSHOT | GTU_CTRL_CLEAR);
	CHECK_EQ(fx_reg(f, GTU_REG_ERROR, 4), 0);
	/* there is one such unit at most */
	CHECK_EQ(fx_reg(f, page + GTU_PAGE + GTU_UREG_ID, 4), 0);
	CHECK_EQ(fx_reg(f, GTU_REG_ERROR, 4), GTU_ERROR_REGISTER);
}

TEST(accesses_of_an_absent_aperture_are_register_errors)
{
	const struct gtu_dev_config config = { .no_aperture = true };
	struct fx *f = fx_open(&config, 1);

	CHECK_EQ(fx_reg(f, GTU_REG_APERTURE_SIZE, 8), 0);
	CHECK_EQ(gtu_dev_bar_size(f->dev, GTU_BAR_APERTURE), 0);
	CHECK_EQ(gtu_dev_read(f->dev, GTU_BAR_APERTURE, 0, 4), 0);
	CHECK_EQ(fx_reg(f, GTU_REG_ERROR, 4), GTU_ERROR_REGISTER);
}

TEST(reading_the_low_half_latches_the_high_half)
{
	struct fx *f = fx_open(NULL, 1);

	fx_put(f, GTU_REG_SCRATCH, 8, 0x1122334455667788);
	CHECK_EQ(fx_reg(f, GTU_REG_SCRATCH, 4), 0x55667788);
	fx_put(f, GTU_REG_SCRATCH, 8, 0);
	CHECK_EQ(fx_reg(f, GTU_REG_SCRATCH + 4, 4), 0x11223344);	/* latched when the low half was read */
	CHECK_EQ(fx_reg(f, GTU_REG_SCRATCH + 4, 4), 0);
	fx_put(f, GTU_REG_SCRATCH + 4, 4, 7);
	CHECK_EQ(fx_reg(f, GTU_REG_SCRATCH, 8), 7ull << 32);
	CHECK_EQ(fx_reg(f, GTU_REG_ERROR, 4), 0);
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
		CHECK_EQ(fx_reg(f, wrong[i].offset, wrong[i].size), 0);
		CHECKF(fx_reg(f, GTU_REG_ERROR, 4) == GTU_ERROR_REGISTER, "reading %u bytes at 0x%x set no error",
		       wrong[i].size, wrong[i].offset);
		CHECK_EQ(fx_reg(f, GTU_REG_ERROR_INFO, 8), wrong[i].offset);
		fx_put(f, GTU_REG_ERROR, 4, GTU_ERROR_REGISTER);
		CHECK_EQ(fx_reg(f, GTU_REG_ERROR, 4), 0);
	}
	CHECK(f->irqs[0] == i);		/* vector 0, once per error */
	for (i = 0; i < 2; i++) {	/* likewise for writes */
		fx_put(f, wrong[i].offset, wrong[i].size, 0);
		CHECK_EQ(fx_reg(f, GTU_REG_ERROR, 4), GTU_ERROR_REGISTER);
		CHECK_EQ(fx_reg(f, GTU_REG_ERROR_INFO, 8), wrong[i].offset);
		fx_put(f, GTU_REG_ERROR, 4, GTU_ERROR_REGISTER);
	}
	fx_put(f, GTU_REG_MAGIC, 4, 0);	/* read-only: ignored without an error */
	CHECK_EQ(fx_reg(f, GTU_REG_MAGIC, 4), GTU_MAGIC);
	CHECK_EQ(fx_reg(f, GTU_REG_ERROR, 4), 0);
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
	struct fx *f = fx_open(&(struct gtu_dev_config){ .scu_width = 1, .iru_sets = 256, .unknown_unit = true }, 1);
	uint32_t length = (uint32_t)fx_reg(f, GTU_REG_FDT_LENGTH, 4), i, n;
	int node, bytes, params = 0;

	CHECK(length <= sizeof(blob));
	for (i = 0; i < length; i++)
		blob[i] = (uint8_t)fx_reg(f, GTU_FDT_WINDOW + i, 1);
	CHECK_EQ(crc32(0, blob, length), fx_reg(f, GTU_REG_FDT_CRC, 4));
	CHECK_EQ(fdt_check_full(blob, length), 0);
	CHECK(fdt_getprop(blob, 0, "model", NULL));
	for (i = 0; i < LENGTH(same); i++) {
		const void *p = fdt_getprop(blob, 0, same[i].property, &bytes);

		CHECKF(p && bytes == (same[i].wide ? 8 : 4), "no property %s", same[i].property);
		CHECK_EQ(same[i].wide ? fdt64_ld(p) : fdt32_ld(p), fx_reg(f, same[i].offset, same[i].wide ? 8 : 4));
	}
	/* every parameter in the tree equals a parameter register of that page */
	for (i = 0; i < 3; i++) {
		char path[32];

		snprintf(path, sizeof(path), "/%s@%x",
			 page[i] == GTU_PAGE_SCU ? "scu" : page[i] == GTU_PAGE_IRU ? "iru" : "zcm", page[i]);
		node = fdt_path_offset(blob, path);
		CHECKF(node >= 0, "no node %s", path);
		CHECK_EQ(fdt32_ld(fdt_getprop(blob, node, "reg", NULL)), page[i]);
		CHECK_EQ(fdt32_ld(fdt_getprop(blob, node, "gtu,version", NULL)), fx_reg(f, page[i] + GTU_UREG_VERSION, 4));
		n = 0;
		for (int p = fdt_first_property_offset(blob, node); p >= 0; p = fdt_next_property_offset(blob, p)) {
			const char *name;
			const void *v = fdt_getprop_by_offset(blob, p, &name, &bytes);

			if (strncmp(name, "gtu,", 4) || !strcmp(name, "gtu,version"))
				continue;
			CHECKF(fdt32_ld(v) == fx_reg(f, page[i] + GTU_UREG_PARAM(n), 4), "%s %s is %u, register %u", path,
			       name, fdt32_ld(v), (unsigned)fx_reg(f, page[i] + GTU_UREG_PARAM(n), 4));
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
		{ GTU_MBOX_CTX_ENABLE, { 1, 4096, 4, 1 | 257 << 16 }, GTU_MBOX_E_ARG },
		{ GTU_MBOX_CTX_ENABLE, { 1, 4096, 4, 1ull << 63 | 1 }, GTU_MBOX_E_ARG },
		{ GTU_MBOX_CTX_ENABLE, { 0, 4096, 4, 1 }, GTU_MBOX_E_STATE },
		{ GTU_MBOX_CTX_DISABLE, { 5 }, GTU_MBOX_E_STATE },
		{ GTU_MBOX_CTX_DISABLE, { 256 }, GTU_MBOX_E_INDEX },
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
		{ GTU_MBOX_CTX_COUNTERS, { 100000 }, GTU_MBOX_E_INDEX },
		{ GTU_MBOX_CTX_COUNTERS, { 3 }, GTU_MBOX_E_STATE },
		{ GTU_MBOX_EVENT_ENABLE, { 33, 4096, 4, 1 }, GTU_MBOX_E_INDEX },
		{ GTU_MBOX_EVENT_ENABLE, { 1, 4096, 4, 33 }, GTU_MBOX_E_INDEX },
		{ GTU_MBOX_EVENT_ENABLE, { 1, 4098, 4, 1 }, GTU_MBOX_E_ARG },
		{ GTU_MBOX_EVENT_DISABLE, { 1 }, GTU_MBOX_E_STATE },
		{ GTU_MBOX_EVENT_DISABLE, { 33 }, GTU_MBOX_E_INDEX },
	};
	const struct gtu_dev_config few_caps = { .caps_off = GTU_CAP_CTX_COUNTERS | GTU_CAP_CTX_GROUPS };
	const uint64_t context = 0;
	struct fx *f = fx_open(NULL, 1);

	for (unsigned i = 0; i < LENGTH(bad); i++) {
		fx_mailbox(f, bad[i].command, 6, bad[i].arg);
		CHECKF(fx_mailbox_status(f) == bad[i].status, "command %u (row %u) gave %u, expected %u",
		       bad[i].command, i, fx_mailbox_status(f), bad[i].status);
	}
	/* the largest ring is none of them */
	fx_event_ring_open(f, 1, fx_reg(f, GTU_REG_MAX_RING, 4), 1);
	fx_mailbox(f, GTU_MBOX_EVENT_ENABLE, 4, (uint64_t[]){ 1, 4096, 4, 1 });	/* enabled already */
	CHECK_EQ(fx_mailbox_status(f), GTU_MBOX_E_STATE);
	f = fx_open(&few_caps, 1);
	fx_mailbox(f, GTU_MBOX_CTX_COUNTERS, 1, &context);
	CHECK_EQ(fx_mailbox_status(f), GTU_MBOX_E_COMMAND);
	fx_mailbox(f, GTU_MBOX_CTX_ENABLE, 4, (uint64_t[]){ 1, 4096, 4, GTU_MBOX_CTX_GROUP(1) });
	CHECK_EQ(fx_mailbox_status(f), GTU_MBOX_E_ARG);
}

TEST(invalid_configurations_are_rejected)
{
	static const struct gtu_dev_config bad[] = {
		{ .contexts = 5000 }, { .queues = 257 }, { .regions_log2 = 17 }, { .aperture_bytes = 5000 },
		{ .scu_width = 65 }, { .scu_width = 3 }, { .iru_partitions = 3 }, { .iru_sets = 100 }, { .iru_interleave = 64 },
		{ .iru_index_bits = 33 }, { .iru_partitions = 16, .iru_banks = 16 }, { .iru_queue_depth = 31 },
		{ .iru_ring_depth = 5000 }, { .doorbell_stride_log2 = 17 }, { .iru_sets = 4, .iru_banks = 8 },
	};
	static const struct gtu_host_ops ops = { .dma = fx_dma };

	for (unsigned i = 0; i < LENGTH(bad); i++) {
		const char *why = NULL;

		CHECKF(!gtu_dev_create(&bad[i], &ops, NULL, &why) && why, "configuration %u was accepted", i);
	}
}

TEST(a_rejected_parameter_is_named_with_its_limits)
{
	static const struct gtu_host_ops ops = { .dma = fx_dma };
	const char *why = NULL;

	CHECK(!gtu_dev_create(&(struct gtu_dev_config){ .iru_queue_depth = 31 }, &ops, NULL, &why));
	CHECKF(strstr(why, "is 31: it must be at least "), "%s", why);
	CHECK(!gtu_dev_create(&(struct gtu_dev_config){ .scu_width = 3 }, &ops, NULL, &why));
	CHECKF(strstr(why, "is 3: it must be a power of two, at least "), "%s", why);
	CHECK(!gtu_dev_create(&(struct gtu_dev_config){ .scu_fifo_bytes = 5000 }, &ops, NULL, &why));
	CHECKF(strstr(why, "is 5000: it must be a multiple of 128, at least "), "%s", why);
}

TEST(every_page_is_readable_but_lacks_its_last_register)
{
	static const struct gtu_dev_config build[] = { { 0 }, { .absent_units = 0x1f }, { .unknown_unit = 1 } };
	unsigned i, offset, size, write;

	for (i = 0; i < LENGTH(build); i++) {
		struct fx *f = fx_open(&build[i], 1);

		for (offset = GTU_PAGE; offset < GTU_FDT_WINDOW; offset += 4)
			for (size = 4; size <= 8; size += 4)
				fx_reg(f, offset, size);
		CHECK_EQ(fx_reg(f, GTU_REG_MAGIC, 4), GTU_MAGIC);
		/* the last register of a page does not exist, whether it is read or written */
		for (offset = 2 * GTU_PAGE - 4; offset < GTU_FDT_WINDOW; offset += GTU_PAGE)
			for (write = 0; write < 2; write++) {
				fx_put(f, GTU_REG_ERROR, 4, GTU_ERROR_REGISTER);
				if (write)
					fx_put(f, offset, 4, 1);
				else
					CHECK_EQ(fx_reg(f, offset, 4), 0);
				CHECK_EQ(fx_reg(f, GTU_REG_ERROR_INFO, 8), offset);
			}
	}
}

TEST_MAIN
