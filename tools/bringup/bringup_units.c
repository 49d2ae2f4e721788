// SPDX-License-Identifier: MIT
/*
 * bringup: runs each unit on inputs so small that the expected results follow from its page of the
 * documentation by hand, without a second implementation.
 */
#include <inttypes.h>
#include <string.h>

#include "bringup_rig.h"

/* Regions by their names in descriptors: index + 1. */
enum { IN = 1, IDX, CNT, MASK, OUT, TABLE, RING, GRAPH, REGIONS = GRAPH };
#define RW	(GTU_REGION_READ | GTU_REGION_WRITE)
static const struct side_region regions[REGIONS] = {
	{ 0x0000, 4096, GTU_REGION_READ }, { 0x1000, 4096, GTU_REGION_READ }, { 0x2000, 4096, GTU_REGION_READ },
	{ 0x3000, 4096, GTU_REGION_READ }, { 0x4000, 8192, RW }, { 0x8000, 8192, RW }, { 0x10000, 0x10000, RW },
	{ 0x6000, 8192, GTU_REGION_READ },
};
#define NONE	0xffffffffu

static uint32_t *words(struct side *s, unsigned region)
{
	return (uint32_t *)(void *)(s->arena + regions[region - 1].offset);
}

static void put(struct side *s, unsigned region, unsigned at, const uint32_t *value, unsigned n)
{
	memcpy(words(s, region) + at, value, 4 * n);
}

/* Run @d; compare the completion's counts, and the words at @got, with the expected values. */
static bool golden(struct bringup *b, struct side *s, const char *what, const struct gtu_hw_desc *d, uint64_t count, uint64_t dropped,
		   const uint32_t *got, const uint32_t *want, unsigned n)
{
	struct gtu_hw_cpl cpl;
	struct gtu_error err;
	unsigned i, lanes = 0;

	if (side_lacks(b, d->opcode, d->opcode))
		return true;
	if (s->run(s, d, 1, &cpl, &err)) {
		bringup_say(b, BRINGUP_FAIL, NULL, "%s: %s", what, err.text);
		return false;
	}
	if (cpl.status == GTU_CPL_ABSENT) {
		bringup_say(b, BRINGUP_SKIP, NULL, "%s is not in this build and reports ABSENT", what);
		return true;
	}
	if (cpl.status || cpl.count != count || cpl.dropped != dropped) {
		bringup_say(b, BRINGUP_FAIL, NULL, "%s: status %u (%s; operand %u, element %" PRIu64 "), count %" PRIu64 ", dropped %" PRIu64 "; OK, %" PRIu64 ", %" PRIu64
			    " expected", what, cpl.status, rig_status(cpl.status), cpl.operand, cpl.element, cpl.count, cpl.dropped, count, dropped);
		return false;
	}
	for (i = 0; i < n && got[i] == want[i]; i++)
		;
	if (i == n)
		return true;
	for (lanes = 0; d->opcode >= GTU_OP_IRU_STREAM && lanes + 1 < n && got[lanes] == want[lanes + 1] && got[lanes + 1] == want[lanes];)
		lanes += 2;
	bringup_say(b, BRINGUP_FAIL, lanes >= 4 && n - lanes < 2 ? "lanes" : NULL, "%s: word %u of the result is 0x%x, not 0x%x%s", what, i, got[i], want[i],
		    lanes >= 4 && n - lanes < 2 ? ": each lane has its neighbour's value" : "");
	return false;
}

/* ---- SCU --------------------------------------------------------------------------------------------------- */

#define W4		(2u << GTU_SCU_WIDTH_SHIFT)
#define I4		(2u << GTU_SCU_INDEX_SHIFT)
#define C4		(2u << GTU_SCU_COUNT_SHIFT)

static bool scu(struct bringup *b, struct side *s)
{
	static const uint32_t data[8] = { 5, 1, 9, 5, 7, 0, 5, 3 }, index[4] = { 7, 0, 2, 2 }, count[4] = { 2, 0, 3, 1 };
	static const uint32_t mask[1] = { 0x96 };	/* 1, 2, 4, 7 */
	static const uint32_t ids[6] = { 3, 5, 3, 7, 5, 3 };
	struct gtu_hw_desc bits = { .opcode = GTU_OP_SCU_BITMASK, .param = W4 | GTU_CMP_EQ << GTU_SCU_CMP_SHIFT, .imm = 5,
				    .operand = { { IN, 8, 0 }, [GTU_SCU_OUT] = { OUT, 8, 0 } } };
	struct gtu_hw_desc some = { .opcode = GTU_OP_SCU_DATA, .param = W4,
				    .operand = { { IN, 8, 0 }, [GTU_SCU_MASK] = { MASK, 8, 0 }, [GTU_SCU_OUT] = { OUT, 8, 64 } } };
	struct gtu_hw_desc gather = { .opcode = GTU_OP_SCU_ACCESS, .param = W4 | I4,
				      .operand = { { IN, 8, 0 }, { IDX, 4, 0 }, [GTU_SCU_OUT] = { OUT, 8, 128 } } };
	struct gtu_hw_desc repeat = { .opcode = GTU_OP_SCU_REPLICATE, .param = W4 | C4,
				      .operand = { { IN, 4, 0 }, [GTU_SCU_COUNT] = { CNT, 4, 0 }, [GTU_SCU_OUT] = { OUT, 8, 192 } } };
	struct gtu_hw_desc expand = { .opcode = GTU_OP_SCU_EXPAND, .param = W4 | I4 | C4,
				      .operand = { { IN, 8, 0 }, { IDX, 4, 16 }, { CNT, 4, 0 }, [GTU_SCU_OUT] = { OUT, 8, 256 } } };
	const uint32_t *out = words(s, OUT);

	put(s, IN, 0, data, 8);
	put(s, IDX, 0, index, 4);
	put(s, IDX, 4, (const uint32_t[]){ 6, 99, 0, 4 }, 4);
	put(s, CNT, 0, count, 4);
	put(s, MASK, 0, mask, 1);
	put(s, IN, 16, ids, 6);
	return golden(b, s, "SCU BITMASK", &bits, 8, 0, out, (const uint32_t[]){ 0x49 }, 1) &&
	       golden(b, s, "SCU DATA", &some, 4, 0, out + 16, (const uint32_t[]){ 1, 9, 7, 3 }, 4) &&
	       golden(b, s, "SCU ACCESS", &gather, 4, 0, out + 32, (const uint32_t[]){ 3, 5, 9, 9 }, 4) &&
	       golden(b, s, "SCU REPLICATE", &repeat, 6, 0, out + 48, (const uint32_t[]){ 5, 5, 9, 9, 9, 5 }, 6) &&
	       golden(b, s, "SCU EXPAND", &expand, 6, 0, out + 64, (const uint32_t[]){ 5, 3, 5, 1, 9, 7 }, 6);
}

/* UNIQUE has more than six operands, which are in a block. */
static bool scu_unique(struct bringup *b, struct side *s)
{
	struct gtu_hw_operand *block = (struct gtu_hw_operand *)(void *)(words(s, GRAPH) + 1024);
	struct gtu_hw_desc d = { .opcode = GTU_OP_SCU_DATA, .flags = GTU_DESC_BLOCK, .param = W4 | GTU_STEP_FUSED << GTU_SCU_STEP_SHIFT | GTU_SCU_UNIQUE,
				 .operand = { { GRAPH, GTU_SCU_FILTER_TABLE + 1, 4096 } } };

	memset(block, 0, 16 * sizeof(*block));
	/* the device reads a block directly: it must have real keys */
	block[GTU_SCU_DATA] = (struct gtu_hw_operand){ s->key[IN - 1], 6, 64 };
	block[GTU_SCU_OUT] = (struct gtu_hw_operand){ s->key[OUT - 1], 6, 320 };
	block[GTU_SCU_FILTER_TABLE] = (struct gtu_hw_operand){ s->key[TABLE - 1], 16, 0 };
	return golden(b, s, "SCU DATA with UNIQUE", &d, 3, 3, words(s, OUT) + 80, (const uint32_t[]){ 3, 5, 7 }, 3);
}

static void scu_counters(struct bringup *b, struct side *s)
{
	struct gtu_hw_desc d = { .opcode = GTU_OP_SCU_DATA, .param = W4, .operand = { { IN, 8, 0 }, [GTU_SCU_OUT] = { OUT, 8, 64 } } };
	const uint32_t ctrl = GTU_PAGE_SCU + GTU_UREG_CTRL;
	uint64_t jobs = 0, in = 0, again = 0;
	struct gtu_hw_cpl cpl;
	struct gtu_error err;
	int rc;

	rc = s->write(s, ctrl, GTU_CTRL_SNAPSHOT | GTU_CTRL_CLEAR, &err);
	if (!rc)
		rc = s->run(s, &d, 1, &cpl, &err);
	if (!rc)
		rc = s->write(s, ctrl, GTU_CTRL_SNAPSHOT | GTU_CTRL_CLEAR, &err);
	if (!rc)
		rc = s->read(s, GTU_PAGE_SCU + GTU_UREG_COUNTER(GTU_SCU_C_JOBS), &jobs, &err);
	if (!rc)
		rc = s->read(s, GTU_PAGE_SCU + GTU_UREG_COUNTER(GTU_SCU_C_IN), &in, &err);
	if (!rc)
		rc = s->write(s, ctrl, GTU_CTRL_SNAPSHOT, &err);
	if (!rc)
		rc = s->read(s, GTU_PAGE_SCU + GTU_UREG_COUNTER(GTU_SCU_C_JOBS), &again, &err);
	if (rc)
		bringup_say(b, BRINGUP_FAIL, NULL, "counters: %s", err.text);
	else if (cpl.status == GTU_CPL_ABSENT)
		bringup_say(b, BRINGUP_SKIP, NULL, "counters: SCU DATA is not in this build");
	else if (again)
		bringup_say(b, BRINGUP_FAIL, "counter-clear", "after CLEAR and no job JOBS of scu is %" PRIu64 ", not 0", again);
	else if (jobs != 1 || in != 8)
		bringup_say(b, BRINGUP_FAIL, NULL, "after one job of 8 elements JOBS is %" PRIu64 " and IN %" PRIu64, jobs, in);
	else
		bringup_say(b, BRINGUP_OK, NULL, "counters: SNAPSHOT and CLEAR");
}

/* ---- Streams ---------------------------------------------------------------------------------------------------- */

static struct gtu_hw_ring *fresh_ring(struct side *s)
{
	memset(words(s, RING), 0, 0x10000);
	return (struct gtu_hw_ring *)(void *)words(s, RING);
}

/* 32 indices of one line: they fill one set in order, and are output in the same order. */
static bool iru(struct bringup *b, struct side *s)
{
	struct gtu_hw_desc d = { .opcode = GTU_OP_IRU_STREAM, .param = 2 << GTU_IRU_TARGET_SHIFT | GTU_IRU_WITH_POSITION,
				 .operand = { { IDX, 32, 512 }, { 0 }, { RING, 4, 0 } } };
	uint32_t want[64], i;

	fresh_ring(s);
	for (i = 0; i < 32; i++) {
		want[i] = 32 + (i * 5 + 3) % 32;
		want[32 + i] = i;
	}
	put(s, IDX, 128, want, 32);
	return golden(b, s, "IRU stream", &d, 1, 0, words(s, RING) + 16 + 16, want, 64);
}

/* Two registrations of three edges and of two: five lanes. */
static bool wvr(struct bringup *b, struct side *s)
{
	const struct gtu_hw_registration reg[2] = {
		{ .entry = 0, .vid = 7, .start = 100, .degree = 3 }, { .entry = 1, .flags = GTU_WVR_LAST, .vid = 9, .start = 200, .degree = 2 },
	};
	struct gtu_hw_desc d = { .opcode = GTU_OP_WVR_STREAM, .operand = { { GRAPH, 2, 0 }, { RING, 4, 0 } } };
	uint32_t want[64], i;

	fresh_ring(s);
	memcpy(words(s, GRAPH), reg, sizeof(reg));
	for (i = 0; i < 32; i++) {
		want[i] = i < 3 ? 7 : i < 5 ? 9 : NONE;
		want[32 + i] = i < 3 ? 100 + i : i < 5 ? 200 + i - 3 : NONE;
	}
	return golden(b, s, "WVR stream", &d, 1, 0, words(s, RING) + 32, want, 64);
}

/* Three vertices, six edges, one engine. */
static bool peg(struct bringup *b, struct side *s)
{
	static const uint32_t offset[4] = { 0, 2, 5, 6 }, edge[6] = { 1, 2, 0, 2, 1, 0 }, source[6] = { 0, 0, 1, 1, 1, 2 };
	struct gtu_hw_desc d = { .opcode = GTU_OP_PEG_STREAM, .param = GTU_PEG_WITH_SRC | GTU_PEG_WITH_DST | 1u << GTU_PEG_ENGINES_SHIFT,
				 .operand = { { GRAPH, 4, 256 }, { GRAPH, 6, 512 }, [GTU_PEG_RINGS] = { RING, 4, 0 } } };
	uint32_t want[64], i;

	fresh_ring(s);
	put(s, GRAPH, 64, offset, 4);
	put(s, GRAPH, 128, edge, 6);
	for (i = 0; i < 32; i++) {
		want[i] = i < 6 ? source[i] : NONE;
		want[32 + i] = i < 6 ? edge[i] : NONE;
	}
	if (!golden(b, s, "PEG stream", &d, 1, 0, words(s, RING) + 32, want, 64))
		return false;
	d.param |= GTU_PEG_DEMAND;
	return bringup_engine_registers(b, s, &d, fresh_ring(s), 6);
}

/* Report the operations that the units lack, which partial gateware may. */
static void absent_operations(struct bringup *b, struct side *s)
{
	const struct gtu_operation *op;
	unsigned n;

	b->absent_operations = side_find_absent(s, b->units);
	for (n = 0; (op = gtu_unit_operation(n)); n++)
		if (b->absent_operations >> n & 1)
			bringup_say(b, BRINGUP_SKIP, NULL, "%s (0x%02x) is not in this build and reports ABSENT, although its unit is there",
				    op->name, op->opcode);
}

static bool absent(struct bringup *b, struct side *s, const char *name, unsigned opcode)
{
	struct gtu_hw_desc d = { .opcode = (uint8_t)opcode };
	struct gtu_hw_cpl cpl;
	struct gtu_error err;

	if (s->run(s, &d, 1, &cpl, &err)) {
		bringup_say(b, BRINGUP_FAIL, NULL, "%s is not in this build; its operation 0x%02x: %s", name, opcode, err.text);
		return false;
	}
	if (cpl.status == GTU_CPL_ABSENT || cpl.status == GTU_CPL_OPCODE) {
		bringup_say(b, BRINGUP_SKIP, NULL, "%s is not in this build and reports ABSENT", name);
		return true;
	}
	bringup_say(b, BRINGUP_FAIL, NULL, "%s is not in this build; its operation 0x%02x ends with status %u (%s), not ABSENT", name, opcode, cpl.status, rig_status(cpl.status));
	return false;
}

static void present(struct bringup *b, struct side *s, const char *name, bool (*run)(struct bringup *b, struct side *s))
{
	const unsigned before = b->shown;

	/* nothing of it was skipped */
	if (run(b, s) && b->shown == before)
		bringup_say(b, BRINGUP_OK, NULL, "%s: golden vectors", name);
}

void bringup_units(struct bringup *b)
{
	static const struct {
		const char *name;
		uint32_t bit;
		unsigned opcode, last;
		bool (*run)(struct bringup *b, struct side *s);
	} unit[] = {
		{ "SCU", GTU_UNIT_SCU, GTU_OP_SCU_BITMASK, GTU_OP_SCU_EXPAND, scu },
		{ "SCU's tables", GTU_UNIT_SCU, GTU_OP_SCU_DATA, GTU_OP_SCU_DATA, scu_unique },
		{ "IRU", GTU_UNIT_IRU, GTU_OP_IRU_STREAM, GTU_OP_IRU_STREAM, iru },
		{ "PEG", GTU_UNIT_PEG, GTU_OP_PEG_STREAM, GTU_OP_PEG_STREAM, peg },
		{ "WVR", GTU_UNIT_WVR, GTU_OP_WVR_STREAM, GTU_OP_WVR_STREAM, wvr },
	};
	struct gtu_error err = { .text = "" };
	struct side s;
	unsigned i;

	if (side_of_device(&s, b, regions, REGIONS, &err)) {
		bringup_say(b, err.code == GTU_ERR_FAIL ? BRINGUP_FAIL : BRINGUP_SKIP, NULL, "%s", err.text);
		return;
	}
	absent_operations(b, &s);
	for (i = 0; i < sizeof(unit) / sizeof(unit[0]); i++) {
		if (!(b->units & unit[i].bit))
			absent(b, &s, unit[i].name, unit[i].opcode);
		else if (!side_lacks(b, unit[i].opcode, unit[i].last))
			present(b, &s, unit[i].name, unit[i].run);
	}
	if (b->units & GTU_UNIT_SCU && !side_lacks(b, GTU_OP_SCU_DATA, GTU_OP_SCU_DATA))
		scu_counters(b, &s);
	s.close(&s);
}
