// SPDX-License-Identifier: MIT
/*
 * Errors of PEG streams: invalid descriptors, memory that changes while they run, cancelation and
 * limits.
 */
#include "peg_bed.h"

/* A stream of one engine: source and destination, 4-byte ids and offsets, an output list. */
static void plain(struct bed *b, uint64_t seed)
{
	make(b, NULL, seed);
	b->param = GTU_PEG_WITH_SRC | GTU_PEG_WITH_DST | 1 << GTU_PEG_ENGINES_SHIFT;
	b->engines = 1;
	b->imm = 0;
	b->return_log2 = 5;
	b->outputs = b->m + 64;
	b->spill_lines = b->outputs / 15 + 40;
	lay_out(b, false, seed);
}

static struct gtu_hw_operand *block(struct bed *b)
{
	return (void *)(b->buffer[BLOCK]->at + 8);
}

/* Run a descriptor with a consumer that takes every record and pushes nothing. */
static struct gtu_hw_cpl run(struct bed *b, const struct gtu_hw_desc *d)
{
	struct gtu_hw_cpl c;

	for (unsigned e = 0; e < b->engines; e++) {
		memset(ring(b, e), 0, 64);
		ring(b, e)->closed = 1;
	}
	fx_submit_to(b->f, 0, d);
	for (unsigned i = 0; !fx_poll(b->f, 0, &c); i++) {
		CHECK(i < 1000000);
		gtu_dev_step(b->f->dev, 1000);
		for (unsigned e = 0; e < b->engines; e++)
			ring(b, e)->consumer = ring(b, e)->producer;
		fx_doorbell(b->f, 0, GTU_DB_KICK, 1);
	}
	return c;
}

#define EXPECT(change, what, place)                                                                \
	do {                                                                                       \
		change;                                                                            \
		const struct gtu_hw_cpl c_ = run(&b, &d);                                          \
		CHECKF(c_.status == (what) && c_.operand == (place), "status %u operand %u, expected %u %u", \
		       c_.status, c_.operand, what, place);                                        \
		d = describe(&b);                                                                  \
	} while (0)

TEST(descriptors_are_checked)
{
	struct gtu_hw_desc d;
	struct bed b;

	plain(&b, 2);
	EXPECT(d = describe(&b), GTU_CPL_OK, 0xff);
	EXPECT(d.param |= 1u << 13, GTU_CPL_RESERVED, 0xff);
	EXPECT(d.param |= 1u << 22, GTU_CPL_RESERVED, 0xff);
	EXPECT(d.param &= ~(GTU_PEG_WITH_SRC | GTU_PEG_WITH_DST), GTU_CPL_PARAM, 0xff);
	EXPECT(d.param |= 17 << GTU_PEG_ENGINES_SHIFT, GTU_CPL_PARAM, 0xff);
	EXPECT(d.param |= GTU_PEG_STAND_BY, GTU_CPL_PARAM, 0xff);
	EXPECT(d.param |= GTU_PEG_VERTEX_LIST, GTU_CPL_PARAM, 0xff);
	EXPECT(d.imm = 46 * 1024 + 16, GTU_CPL_PARAM, 0xff);
	EXPECT(d.imm = 2049ull << 32, GTU_CPL_PARAM, 0xff);
	EXPECT(d.imm = 255ull << 32, GTU_CPL_PARAM, 0xff);	/* a warp of 8-byte edges has 256 bytes */
	EXPECT(d.imm = 256ull << 32 | 8, GTU_CPL_OK, 0xff);
	EXPECT(d.imm = 7, GTU_CPL_PARAM, 0xff);
	EXPECT(d.param2 = 4, GTU_CPL_PARAM, 0xff);
	EXPECT(d.param2 = 21, GTU_CPL_PARAM, 0xff);
	EXPECT(d.param2 = 0, GTU_CPL_OPERAND, GTU_PEG_OUTPUT);
	EXPECT(memset(&block(&b)[GTU_PEG_OUTPUT], 0, 16), GTU_CPL_OPERAND, GTU_PEG_OUTPUT);
	memset(&block(&b)[GTU_PEG_OUTPUT], 0, 16);
	EXPECT(d.param2 = 0, GTU_CPL_OPERAND, GTU_PEG_SPILL);
	EXPECT(block(&b)[GTU_PEG_RINGS].count = 48, GTU_CPL_OPERAND, GTU_PEG_RINGS);
	EXPECT(block(&b)[GTU_PEG_RINGS].count = 1 << 20, GTU_CPL_BOUNDS, GTU_PEG_RINGS);
	EXPECT(block(&b)[GTU_PEG_RINGS].key = b.key[ROW], GTU_CPL_RIGHTS, GTU_PEG_RINGS);
	EXPECT(block(&b)[GTU_PEG_VERTICES].count = 0, GTU_CPL_OPERAND, GTU_PEG_VERTICES);
	EXPECT(memset(&block(&b)[GTU_PEG_EDGES], 0, 16), GTU_CPL_OPERAND, GTU_PEG_EDGES);
	EXPECT(block(&b)[GTU_PEG_EDGES].key ^= 1u << 16, GTU_CPL_KEY, GTU_PEG_EDGES);
	EXPECT(block(&b)[GTU_PEG_SPILL].offset = 64, GTU_CPL_OPERAND, GTU_PEG_SPILL);
}

TEST(values_in_memory_are_checked)
{
	struct gtu_hw_desc d;
	struct gtu_hw_cpl c;
	uint32_t *row, *input;
	struct bed b;

	for (uint64_t seed = 1;; seed++) {
		plain(&b, seed);
		if (b.inputs > 40 && b.m > 1000)
			break;
		test_end(NULL);
	}
	d = describe(&b);
	row = (void *)(b.buffer[ROW]->at + 8);
	input = (void *)(b.buffer[INPUT]->at + 8);
	input[37] = (uint32_t)b.n;
	c = run(&b, &d);
	CHECK_EQ(c.status, GTU_CPL_INDEX);
	CHECK_EQ(c.operand, GTU_PEG_INPUT);
	CHECK_EQ(c.element, 37);
	CHECK_EQ(c.needed, b.n);
	input[37] = 0xffffffff;
	CHECK_EQ(run(&b, &d).needed, 0xffffffff);
	input[37] = input[0];
	row[input[0] + 1] = (uint32_t)b.m + 1;
	c = run(&b, &d);
	CHECK_EQ(c.status, GTU_CPL_INDEX);
	CHECK_EQ(c.operand, GTU_PEG_VERTICES);
	CHECK_EQ(c.element, input[0] + 1);
	CHECK_EQ(c.needed, b.m + 1);
	row[input[0]] = (uint32_t)b.m + 5;	/* greater than the next offset */
	c = run(&b, &d);
	CHECK_EQ(c.element, input[0]);
	CHECK_EQ(c.needed, b.m + 5);
	/* the error's cycle does not depend on the step size */
	for (unsigned i = 0; i < 5; i++) {
		struct run r;

		drive(&b, &r, i ? 0 : 1 << 20, i, i);
		CHECK_EQ(r.cpl.status, GTU_CPL_INDEX);
		CHECK_EQ(r.cpl.cycles, c.cycles);
		CHECK_EQ(r.cpl.count, c.count);
	}
}

TEST(invalid_ring_headers_end_their_stream)
{
	static const struct { size_t byte; uint32_t value; } invalid[] = {
		{ offsetof(struct gtu_hw_ring, consumer), 1 },
		{ offsetof(struct gtu_hw_ring, consumer), 0x80000000 },
		{ offsetof(struct gtu_hw_ring, returned), 33 },
		{ offsetof(struct gtu_hw_ring, returned), 0xffffffff },
	};
	struct gtu_hw_desc d;
	struct gtu_hw_cpl c;
	struct bed b;

	plain(&b, 4);
	d = describe(&b);
	for (unsigned i = 0; i < LENGTH(invalid); i++) {
		memset(ring(&b, 0), 0, 64);
		memcpy((uint8_t *)ring(&b, 0) + invalid[i].byte, &invalid[i].value, 4);
		c = fx_do(b.f, &d, 0);
		CHECK_EQ(c.status, GTU_CPL_INDEX);
		CHECK_EQ(c.operand, GTU_PEG_RINGS);
		CHECK_EQ(c.needed, invalid[i].value);
		CHECK_EQ(ring(&b, 0)->ended, 1);
	}
	/* pushes are accepted until the ring is closed, even after `ended` */
	b.inputs = 0;
	d = describe(&b);
	memset(ring(&b, 0), 0, 64);
	fx_submit_to(b.f, 0, &d);
	while (gtu_dev_pending(b.f->dev))
		gtu_dev_step(b.f->dev, 100);
	CHECK_EQ(ring(&b, 0)->ended, 1);	/* the list is still open */
	CHECK_EQ(ring(&b, 0)->waiting, 1);
	ring(&b, 0)->returned = 3;
	fx_doorbell(b.f, 0, GTU_DB_KICK, 1);
	gtu_dev_step(b.f->dev, 100);
	CHECK_EQ(ring(&b, 0)->received, 3);
	ring(&b, 0)->closed = 1;
	fx_doorbell(b.f, 0, GTU_DB_KICK, 1);
	while (!fx_poll(b.f, 0, &c))
		gtu_dev_step(b.f->dev, 100);
	CHECK_EQ(c.status, GTU_CPL_OK);
	CHECK_EQ(c.needed, 3);
}

/*
 * All memory that a stream reads changes while it runs. The stream completes and the unit still
 * works.
 */
TEST(hostile_memory_does_not_affect_later_streams)
{
	unsigned status[GTU_CPL_COUNT] = { 0 };

	for (uint64_t seed = 1; seed <= 400; seed++) {
		uint64_t r = seed;
		struct gtu_hw_cpl c;
		struct gtu_hw_desc d;
		struct run after;
		struct bed b;

		make(&b, NULL, seed);
		b.ring = 1u << seed % 5;
		b.imm = seed % 2 ? 64 : 0;
		if (seed % 3 == 0) {
			b.return_log2 = 6;
			b.outputs = b.m + 64;
			b.spill_lines = b.outputs / 15 + 40;
		}
		lay_out(&b, seed % 4 == 0, seed);
		d = describe(&b);
		d.limit = 200;
		for (unsigned e = 0; e < b.engines; e++)
			memset(ring(&b, e), 0, 64);
		fx_submit_to(b.f, 0, &d);
		for (unsigned i = 0; !fx_poll(b.f, 0, &c); i++) {
			static const unsigned touched[] = { ROW, COL, INPUT, SPILL, SPILL };
			struct fx_buffer *any = b.buffer[touched[test_random(&r) % 5]];
			const unsigned hard = seed % 4;

			CHECK(i < 1000000);
			gtu_dev_step(b.f->dev, 1 + test_random(&r) % 3000);
			for (unsigned k = 0; k < hard; k++)
				((uint32_t *)(void *)(any->at + 8))[test_random(&r) % (any->bytes / 4 - 2)] =
					(uint32_t)(test_random(&r) >> test_random(&r) % 40);
			for (unsigned e = 0; e < b.engines; e++) {
				struct gtu_hw_ring *h = ring(&b, e);

				h->consumer = h->producer;
				while (b.return_log2 && !h->closed && h->returned - h->received < 20 && i < 300)
					push(&b, e, test_random(&r));
				h->closed = i > 300;
				if (seed % 16 == 1 && test_random(&r) % 400 == 0)
					((uint32_t *)(void *)h)[test_random(&r) % 16] = (uint32_t)test_random(&r);
			}
			fx_doorbell(b.f, 0, GTU_DB_KICK, 1);
		}
		status[c.status]++;
		test_end(NULL);
		make(&b, NULL, seed);
		lay_out(&b, false, seed);
		drive(&b, &after, 0, 0, seed);
		CHECK_EQ(after.cpl.status, GTU_CPL_OK);
		test_end(NULL);
	}
	CHECK(status[GTU_CPL_OK] > 50 && status[GTU_CPL_INDEX] > 20);
}

/* One engine's consumer stops, which stalls the others; then the job is ended. */
TEST(a_stream_ends_by_cancel_reset_stall_or_revocation)
{
	for (unsigned how = 0; how < 4; how++) {
		const uint64_t arg[2] = { 0, 1 };
		struct gtu_hw_desc d;
		struct gtu_hw_cpl c;
		struct run after;
		struct bed b;

		for (uint64_t seed = 60;; seed++) {
			make(&b, NULL, seed);
			b.ring = 2;
			b.return_log2 = 0;
			lay_out(&b, false, 1);
			if (b.engines > 3 && b.m > 3000 && b.inputs > 200 && !(b.param & GTU_PEG_VERTEX_LIST))
				break;
			test_end(NULL);
		}
		d = describe(&b);
		for (unsigned e = 0; e < b.engines; e++)
			memset(ring(&b, e), 0, 64);
		fx_submit_to(b.f, 0, &d);
		while (gtu_dev_pending(b.f->dev))
			gtu_dev_step(b.f->dev, 100);
		CHECK(fx_reg(b.f, GTU_PAGE_PEG + GTU_PEG_REG(0) + GTU_PEG_R_EFS, 8) > 0);
		CHECK_EQ(fx_reg(b.f, GTU_PAGE_PEG + GTU_UREG_STATUS, 4), 3);
		switch (how) {
		case 0:
			fx_mailbox(b.f, GTU_MBOX_QUEUE_CANCEL, 2, arg);
			CHECK(fx_poll(b.f, 0, &c));
			CHECK_EQ(c.status, GTU_CPL_CANCELED);
			CHECK_EQ(ring(&b, 1)->ended, 1);
			CHECK_EQ(ring(&b, 1)->waiting, 0);
			break;
		case 1:
			fx_mailbox(b.f, GTU_MBOX_QUEUE_RESET, 1, arg);
			b.f->queue[0].tail = b.f->queue[0].head = 0;
			break;
		case 2:		/* another job waits for the unit: it gets it after 2^30 cycles */
			fx_queue_open(b.f, 1, 0, GTU_RING_NONE);
			fx_submit_to(b.f, 1, &d);
			gtu_dev_step(b.f->dev, 100);
			gtu_dev_idle(b.f->dev, 1ull << 30);
			CHECK(fx_poll(b.f, 0, &c));
			CHECK_EQ(c.status, GTU_CPL_STALLED);
			CHECK_EQ(ring(&b, 0)->ended, 1);
			fx_mailbox(b.f, GTU_MBOX_QUEUE_RESET, 1, (uint64_t[]){ 1 });
			break;
		case 3:		/* the edges' region is revoked */
			b.f->table[GTU_KEY_SLOT(b.key[COL])].flags = 0;
			for (unsigned e = 0; e < b.engines; e++)
				ring(&b, e)->consumer = ring(&b, e)->producer;
			fx_doorbell(b.f, 0, GTU_DB_KICK, 1);
			gtu_dev_step(b.f->dev, 100);
			CHECK(fx_poll(b.f, 0, &c));
			CHECK_EQ(c.status, GTU_CPL_KEY);
			CHECK_EQ(c.operand, GTU_PEG_EDGES);
			b.f->table[GTU_KEY_SLOT(b.key[COL])].flags = GTU_REGION_VALID | GTU_REGION_READ |
								   12u << GTU_REGION_PAGE_SHIFT;
			break;
		}
		CHECK_EQ(fx_reg(b.f, GTU_PAGE_PEG + GTU_UREG_STATUS, 4), 1);
		for (unsigned reg = 0; reg < 0x28; reg += 8)
			CHECK_EQ(fx_reg(b.f, GTU_PAGE_PEG + GTU_PEG_REG(1) + reg, 4), 0);
		drive(&b, &after, 0, 0, 1);
		CHECK_EQ(after.cpl.status, GTU_CPL_OK);
		test_end(NULL);
	}
}

TEST(a_limit_ends_a_stream_at_any_step_size)
{
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct run a, got;
		struct bed b;

		make(&b, NULL, seed + 10);
		b.return_log2 = 0;
		b.limit = 1;
		lay_out(&b, false, seed);
		drive(&b, &a, 1 << 20, 0, seed);
		drive(&b, &got, 0, 2, seed);
		CHECK_EQ(a.cpl.status, got.cpl.status);
		CHECK_EQ(a.cpl.cycles, got.cpl.cycles);
		CHECK(a.cpl.status == GTU_CPL_OK || (a.cpl.status == GTU_CPL_LIMIT && a.cpl.cycles == 1024));
		test_end(NULL);
	}
}

TEST_MAIN
