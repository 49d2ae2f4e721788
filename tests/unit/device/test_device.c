// SPDX-License-Identifier: MIT
/* The device core through its rings and regions: jobs, errors, order, fairness, events, reset. */
#include "tests/unit/fixture.h"

static struct gtu_hw_desc copy(uint32_t from, uint64_t from_offset, uint32_t to, uint64_t to_offset,
			       uint32_t count, unsigned width_log2)
{
	struct gtu_hw_desc d = { .opcode = GTU_OP_COPY, .param = width_log2, .cookie = 0x1234567 };

	d.operand[0] = (struct gtu_hw_operand){ from, count, from_offset };
	d.operand[1] = (struct gtu_hw_operand){ to, count, to_offset };
	return d;
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
	struct fx *f = fx_open_queues(2);

	CHECK(fx_reg(f, GTU_REG_CAPS, 8) & GTU_CAP_SEEK);
	fx_submit_to(f, 0, &nop);
	fx_run(f, 100);
	fx_mailbox(f, GTU_MBOX_QUEUE_SEEK, 3, busy);
	CHECK_EQ(fx_mailbox_status(f), GTU_MBOX_E_STATE);
	fx_mailbox(f, GTU_MBOX_QUEUE_SEEK, 3, far);
	CHECK_EQ(fx_mailbox_status(f), GTU_MBOX_E_ARG);
	fx_mailbox(f, GTU_MBOX_QUEUE_SEEK, 3, wide);
	CHECK_EQ(fx_mailbox_status(f), GTU_MBOX_E_ARG);
	fx_command(f, GTU_MBOX_QUEUE_SEEK, 3, seek);
	CHECK_EQ(f->queue[1].status->sq_head, first);
	CHECK_EQ(f->queue[1].status->cq_tail, first);
	fx_mailbox(f, GTU_MBOX_QUEUE_SEEK, 3, seek);
	CHECK_EQ(fx_mailbox_status(f), GTU_MBOX_E_STATE);

	/* one completion is not consumed yet: one less than the ring's size can run */
	memset(f->queue[1].cq, 0xff, slots * sizeof(*f->queue[1].cq));
	f->queue[1].tail = first;
	f->queue[1].head = first - 1;
	fx_submit_many(f, 1, &nop, slots);
	fx_run(f, 100);
	CHECK_EQ(f->queue[1].status->cq_tail, first + slots - 1);
	for (uint32_t i = first; i < first + slots - 1; i++) {
		CHECK_EQ(f->queue[1].cq[i % slots].sq_index, i);
		CHECK_EQ(f->queue[1].cq[i % slots].phase, i & slots ? 0 : 1);
	}
	CHECK_EQ(f->queue[1].cq[(first + slots - 1) % slots].phase, 0xffff);
}

/*
 * COPY through every kind of region, at unaligned offsets, in steps of any size: bytes, count and
 * cycles.
 */
TEST(copies_are_exact_in_every_kind_of_region)
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

		for (uint64_t i = 0; i < a->bytes; i++)
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
		for (uint64_t i = 0; i < first + off_b; i++)
			CHECK(b->at[i] == 0xee);
		for (uint64_t i = first + off_b + bytes; i < b->bytes; i++)
			CHECK(b->at[i] == 0xee);
		test_end(NULL);
	}
}

TEST(fill_repeats_its_pattern_at_every_width)
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

TEST(errors_of_a_copy_have_their_status_and_operand)
{
	struct fx *f = fx_open(NULL, 5);
	struct fx_buffer *a = fx_buffer(f, 4096), *b = fx_buffer(f, 4096), *gone = fx_buffer(f, 4096);
	const uint32_t ka = fx_region(f, a, 0, 4096, GTU_REGION_READ);
	const uint32_t kb = fx_region(f, b, 8, 4000, GTU_REGION_WRITE);
	const uint32_t kg = fx_region(f, gone, 0, 4096, GTU_REGION_READ);
	const uint32_t kx = fx_region(f, a, 0, 4096, GTU_REGION_READ);
	struct gtu_hw_desc d;
	struct gtu_hw_cpl c;

#define EXPECT(change, what, place)                                                                \
	do {                                                                                       \
		change;                                                                            \
		c = fx_do(f, &d, 0);                                                               \
		CHECKF(c.status == (what) && c.operand == (place), "status %u operand %u, expected %u %u", \
		       c.status, c.operand, what, place);                                          \
	} while (0)

	struct { uint8_t status, operand; struct gtu_hw_desc desc; } wrong[] = {
		{ GTU_CPL_OPCODE, 0xff, copy(ka, 0, kb, 0, 10, 0) },
		{ GTU_CPL_RESERVED, 0xff, copy(ka, 0, kb, 0, 10, 0) },
		{ GTU_CPL_RESERVED, 0xff, copy(ka, 0, kb, 0, 10, 0) },
		{ GTU_CPL_OPERAND, 4, copy(ka, 0, kb, 0, 10, 0) },
		{ GTU_CPL_RESERVED, 0xff, copy(ka, 0, kb, 0, 10, 4) },
		{ GTU_CPL_OPERAND, 0, copy(0, 0, kb, 0, 10, 0) },
		{ GTU_CPL_OPERAND, 0, copy(ka, 2, kb, 0, 10, 2) },
		{ GTU_CPL_KEY, 0, copy(ka + 0x10000, 0, kb, 0, 10, 0) },
		{ GTU_CPL_KEY, 0, copy(GTU_KEY(1, 200), 0, kb, 0, 10, 0) },
		{ GTU_CPL_KEY, 0, copy(GTU_KEY(1, 60000), 0, kb, 0, 10, 0) },
		{ GTU_CPL_KEY, 0, copy(1, 0, kb, 0, 10, 0) },		/* generation 0 */
		{ GTU_CPL_RIGHTS, 1, copy(ka, 0, ka, 0, 10, 0) },
		{ GTU_CPL_RIGHTS, 0, copy(kb, 0, kb, 0, 10, 0) },
		{ GTU_CPL_BOUNDS, 0, copy(ka, 4090, kb, 0, 10, 0) },
		{ GTU_CPL_BOUNDS, 1, copy(ka, 0, kb, 3999, 2, 0) },
		{ GTU_CPL_BOUNDS, 0, copy(ka, ~0ull, kb, 0, 1, 0) },
		{ GTU_CPL_BOUNDS, 0, copy(ka, 0, kb, 0, 0xfffffffe, 3) },
		{ GTU_CPL_OPERAND, 0, copy(ka, 0, kb, 0, GTU_COUNT_TO_END, 0) },
	};

	wrong[0].desc.opcode = 0xf0;
	wrong[1].desc.reserved0 = 1;
	wrong[2].desc.flags = 0x8000;
	wrong[3].desc.operand[4].offset = 1;
	for (unsigned i = 0; i < LENGTH(wrong); i++) {
		EXPECT(d = wrong[i].desc, wrong[i].status, wrong[i].operand);
	}
	EXPECT((d = copy(ka, 0, kb, 0, 10, 0), d.operand[1].count = 9), GTU_CPL_OVERFLOW, 1);
	CHECK_EQ(c.needed, 10);
	fx_buffer_free(gone);
	EXPECT(d = copy(kg, 0, kb, 0, 10, 0), GTU_CPL_DMA, 0);
	f->table[GTU_KEY_SLOT(kx)].flags = 0;
	EXPECT(d = copy(kx, 0, kb, 0, 10, 0), GTU_CPL_KEY, 0);
	EXPECT(f->table[GTU_KEY_SLOT(kx)].flags = GTU_REGION_VALID | GTU_REGION_READ | 11u << GTU_REGION_PAGE_SHIFT, GTU_CPL_KEY, 0);
	/* its base is outside the aperture */
	EXPECT(f->table[GTU_KEY_SLOT(kx)].flags = GTU_REGION_VALID | GTU_REGION_READ | GTU_REGION_APERTURE, GTU_CPL_KEY, 0);
	fx_put(f, GTU_REG_CYCLE_LIMIT, 8, 100);
	EXPECT(d = copy(ka, 0, kb, 0, 4000, 0), GTU_CPL_LIMIT, 0xff);
	EXPECT(d.limit = 1, GTU_CPL_OK, 0xff);
	EXPECT((d = (struct gtu_hw_desc){ .opcode = GTU_OP_NOP }), GTU_CPL_OK, 0xff);
	CHECK_EQ(c.cycles, 1);
	CHECK_EQ(fx_reg(f, GTU_REG_ERROR, 4), 0);	/* user errors set no device error */
}

TEST(operands_in_a_parameter_block_are_used_and_checked)
{
	struct fx *f = fx_open(NULL, 5);
	struct fx_buffer *a, *b;
	const uint32_t ka = fx_memory(f, 4096, GTU_REGION_READ, &a), kb = fx_memory(f, 4096, GTU_REGION_WRITE, &b);
	struct gtu_hw_operand *op = (void *)(a->at + 1024);
	struct gtu_hw_desc d = { .opcode = GTU_OP_COPY, .flags = GTU_DESC_BLOCK };
	struct gtu_hw_cpl c;

	memset(a->at, 0x5a, 1024);
	op[0] = (struct gtu_hw_operand){ ka, 1024, 0 };
	op[1] = (struct gtu_hw_operand){ kb, 1024, 0 };
	EXPECT((d.operand[0] = (struct gtu_hw_operand){ ka, 2, 1024 }), GTU_CPL_OK, 0xff);
	CHECK(!memcmp(a->at, b->at, 1024));
	EXPECT(d.operand[0].count = 0, GTU_CPL_OPERAND, 0);
	EXPECT(d.operand[0].count = 17, GTU_CPL_OPERAND, 0);
	EXPECT((d.operand[0] = (struct gtu_hw_operand){ ka, 2, 1032 }), GTU_CPL_OPERAND, 0);
	EXPECT((d.operand[0] = (struct gtu_hw_operand){ ka, 16, 4096 - 16 }), GTU_CPL_BOUNDS, 0);
	EXPECT((d.operand[0] = (struct gtu_hw_operand){ kb, 2, 1024 }), GTU_CPL_RIGHTS, 0);
	d.operand[0] = (struct gtu_hw_operand){ ka, 3, 1024 };
	EXPECT(d.operand[5].key = ka, GTU_CPL_OPERAND, 5);
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
	fx_run(f, 3);
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
	fx_run(f, 1000);
	CHECK_EQ(q->status->cq_tail, 19);
	while (taken < 24) {
		CHECK(fx_poll(f, 0, &c));
		CHECK_EQ(c.cookie, taken);
		CHECK_EQ(c.sq_index, taken);
		taken++;
		fx_doorbell(f, 0, GTU_DB_SUBMIT, 24 | (uint64_t)taken << 32);
		fx_run(f, 1000);
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
	CHECK_EQ(fx_reg(f, GTU_REG_ERROR, 4), GTU_ERROR_QUEUE);
	CHECK_EQ(fx_reg(f, GTU_REG_ERROR_INFO, 8), (uint64_t)GTU_QUEUE_E_TAIL << 32);
	fx_doorbell(f, 0, GTU_DB_SUBMIT, 1);
	CHECK(!gtu_dev_pending(f->dev));
	memset(q->cq, 0, GTU_CQ_BYTES(FX_RING_LOG2));
	fx_command(f, GTU_MBOX_QUEUE_RESET, 1, &queue);
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
	fx_run(f, 100);
	CHECK_EQ(q->status->state, GTU_QUEUE_E_DMA);
}

TEST(events_are_raised_when_armed)
{
	struct fx *f = fx_open(NULL, 5);
	const uint32_t *event = fx_event_ring_open(f, 2, 1, 7);
	struct gtu_hw_desc nop = { .opcode = GTU_OP_NOP };
	struct gtu_hw_cpl c;

	fx_queue_open(f, 3, 0, 2);
	fx_submit_to(f, 3, &nop);
	fx_run(f, 100);
	CHECK(f->irqs[7] == 0 && event[0] == 0);	/* not armed */
	fx_doorbell(f, 3, GTU_DB_ARM, 0);		/* completion 0 exists: raised at once */
	CHECK_EQ(f->irqs[7], 1);
	CHECK_EQ(event[0], 3u | GTU_EVENT_PHASE);
	fx_doorbell(f, 3, GTU_DB_ARM, 1);
	CHECK_EQ(f->irqs[7], 1);
	fx_submit_to(f, 3, &nop);
	fx_run(f, 100);
	CHECK_EQ(f->irqs[7], 2);
	CHECK_EQ(event[1], 3u | GTU_EVENT_PHASE);
	/* The ring of two is full: the next event stays pending until the head moves. */
	fx_doorbell(f, 3, GTU_DB_ARM, 0);
	CHECK_EQ(f->irqs[7], 2);
	fx_put(f, GTU_REG_EVENT_HEAD(2), 4, 3);		/* beyond the tail */
	CHECK_EQ(fx_reg(f, GTU_REG_ERROR, 4), GTU_ERROR_REGISTER);
	fx_put(f, GTU_REG_EVENT_HEAD(2), 4, 1);
	CHECK_EQ(f->irqs[7], 3);
	CHECK_EQ(event[0], 3u);				/* second pass: phase 0 */
	fx_put(f, GTU_REG_EVENT_HEAD(2), 4, 3);
	fx_doorbell(f, 3, GTU_DB_SUBMIT, 1000);		/* an error raises an event unarmed */
	CHECK_EQ(event[1], 3u | GTU_EVENT_ERROR);
	CHECK(fx_poll(f, 3, &c) && fx_poll(f, 3, &c) && !fx_poll(f, 3, &c));
}

TEST(fences_order_queues)
{
	struct fx *f = fx_open(NULL, 5);
	struct fx_buffer *a, *b;
	const uint32_t ka = fx_memory(f, 1 << 16, GTU_REGION_READ, &a), kb = fx_memory(f, 1 << 16, GTU_REGION_WRITE, &b);
	struct gtu_hw_desc fence = { .opcode = GTU_OP_FENCE }, d = copy(ka, 0, kb, 0, 1 << 16, 0);
	struct gtu_hw_cpl c;

	fx_queue_open(f, 1, 0, GTU_RING_NONE);
	fx_submit_many(f, 0, &d, 5);
	fx_submit_to(f, 1, &fence);
	for (int i = 0; i < 5; i++) {
		while (!fx_poll(f, 0, &c)) {
			CHECKF(!fx_poll(f, 1, &c), "the fence passed before %d earlier jobs completed", 5 - i);
			CHECK(gtu_dev_pending(f->dev));
			gtu_dev_step(f->dev, 50);
		}
	}
	fx_run(f, 50);
	CHECK(fx_poll(f, 1, &c) && c.status == GTU_CPL_OK && c.cycles == 1);
	/* Fences in both queues do not wait for each other. */
	fx_submit_to(f, 0, &fence);
	fx_submit_to(f, 1, &fence);
	fx_submit_to(f, 0, &d);
	fx_submit_to(f, 1, &d);
	fx_run(f, 50);
	for (int i = 0; i < 2; i++)
		CHECK(fx_poll(f, i, &c) && fx_poll(f, i, &c) && c.status == GTU_CPL_OK);
	/* A fence does not wait for a queue that is reset. */
	fx_submit_to(f, 0, &d);
	fx_submit_to(f, 1, &fence);
	gtu_dev_step(f->dev, 300);
	CHECK(!fx_poll(f, 1, &c));
	fx_mailbox(f, GTU_MBOX_QUEUE_RESET, 1, &(uint64_t){ 0 });
	fx_run(f, 50);
	CHECK(fx_poll(f, 1, &c));
}

/*
 * Three contexts with endless work: each gets its share of cycles, and its jobs' own cycles do not
 * change.
 */
TEST(contexts_share_by_weight)
{
	struct fx *f = fx_open(NULL, 5);
	struct fx_buffer *a, *b;
	const uint32_t ka = fx_memory(f, 1 << 20, GTU_REGION_READ, &a), kb = fx_memory(f, 1 << 20, GTU_REGION_WRITE, &b);
	struct gtu_hw_desc d = copy(ka, 0, kb, 0, 1 << 18, 0), large = copy(ka, 0, kb, 0, 1 << 20, 0);
	uint64_t alone = fx_do(f, &d, 1000).cycles, done[3] = { 0 };
	struct gtu_hw_cpl c;
	unsigned i, round;

	for (i = 1; i < 3; i++) {
		fx_context_open(f, i, i == 2 ? 2 : 1);
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

TEST(queues_without_jobs_take_no_turns)
{
	struct fx *f = fx_open(NULL, 1);
	const struct gtu_hw_desc job = fx_fill(f, 32000);
	struct gtu_hw_cpl c;

	fx_context_open(f, 1, 16 | GTU_MBOX_CTX_GROUP(1));	/* that of context 0 */
	fx_queue_open(f, 1, 1, GTU_RING_NONE);
	fx_submit_run(f, 1, &job);
	CHECK(fx_poll(f, 1, &c));
	fx_submit_to(f, 0, &job);
	gtu_dev_step(f->dev, c.cycles);
	CHECK(fx_poll(f, 0, &c));
}

/* The counters of contexts add up to the device's cycles, also with failed, running and dropped jobs. */
TEST(contexts_count_their_jobs)
{
	const struct gtu_hw_desc wrong = { .opcode = 0xff };
	struct fx *f = fx_open(NULL, 5);
	struct gtu_hw_desc d = fx_fill(f, 32000), bad_key = d;
	uint64_t result[2][3], ctx, before;
	struct gtu_hw_cpl c;
	unsigned i;

	CHECK(fx_reg(f, GTU_REG_CAPS, 8) & GTU_CAP_CTX_COUNTERS);
	fx_context_open(f, 1, 1);
	fx_queue_open(f, 1, 1, GTU_RING_NONE);
	before = fx_reg(f, GTU_REG_CYCLES, 8);
	for (i = 0; i < 3; i++)
		CHECK_EQ(fx_do(f, &d, 1000).status, GTU_CPL_OK);
	CHECK_EQ(fx_do(f, &wrong, 1000).status, GTU_CPL_OPCODE);
	bad_key.operand[1].key = GTU_KEY(9, 5);
	fx_submit_run(f, 1, &bad_key);
	CHECK(fx_poll(f, 1, &c) && c.status == GTU_CPL_KEY);
	/* runs in part, then its queue is disabled */
	fx_submit_to(f, 0, &d);
	gtu_dev_step(f->dev, 10);
	fx_queue_restart(f, GTU_MBOX_QUEUE_DISABLE, 0);
	for (ctx = 0; ctx < 2; ctx++) {
		fx_command(f, GTU_MBOX_CTX_COUNTERS, 1, &ctx);
		for (i = 0; i < 3; i++)
			result[ctx][i] = fx_reg(f, GTU_REG_MBOX_RESULT(i), 8);
	}
	CHECK_EQ(result[0][0], 4);
	CHECK_EQ(result[0][1], 1);
	CHECK_EQ(result[1][0], 1);
	CHECK_EQ(result[1][1], 1);
	CHECK_EQ(result[1][2], c.cycles);
	CHECK_EQ(result[0][2] + result[1][2], fx_reg(f, GTU_REG_CYCLES, 8) - before);
	/* they begin at 0 when the context is enabled again */
	ctx = 1;
	fx_command(f, GTU_MBOX_CTX_DISABLE, 1, &ctx);
	fx_context_open(f, 1, 1);
	fx_command(f, GTU_MBOX_CTX_COUNTERS, 1, &ctx);
	CHECK_EQ(fx_reg(f, GTU_REG_MBOX_RESULT(0), 8), 0);
	CHECK_EQ(fx_reg(f, GTU_REG_MBOX_RESULT(2), 8), 0);
}

TEST(reset_clears_all_state)
{
	struct fx *f = fx_open(NULL, 5);
	struct fx_buffer *a;
	const uint32_t ka = fx_memory(f, 1 << 16, GTU_REGION_READ | GTU_REGION_WRITE, &a);
	struct gtu_hw_desc d = copy(ka, 0, ka, 0, 1 << 16, 0);
	struct gtu_hw_cpl c;

	fx_submit_to(f, 0, &d);
	gtu_dev_step(f->dev, 10);
	fx_put(f, GTU_REG_SCRATCH, 8, 99);
	fx_put(f, GTU_REG_RESET, 4, 1);			/* not the key */
	CHECK_EQ(fx_reg(f, GTU_REG_SCRATCH, 8), 99);
	fx_put(f, GTU_REG_RESET, 4, GTU_RESET_KEY);
	CHECK_EQ(fx_reg(f, GTU_REG_EPOCH, 4), 2);
	CHECK_EQ(fx_reg(f, GTU_REG_SCRATCH, 8), 0);
	CHECK_EQ(fx_reg(f, GTU_REG_CYCLES, 8), 0);
	CHECK(!gtu_dev_pending(f->dev));
	fx_doorbell(f, 0, GTU_DB_SUBMIT, 1);
	CHECK(!gtu_dev_step(f->dev, 1000) && !fx_poll(f, 0, &c));
	gtu_dev_reset(f->dev);
	CHECK_EQ(fx_reg(f, GTU_REG_EPOCH, 4), 3);
}

TEST(regions_of_the_aperture_must_lie_inside_it)
{
	struct fx *f = fx_open(&(struct gtu_dev_config){ .aperture_bytes = 65536 }, 5);
	struct fx_buffer *a;
	const uint32_t ka = fx_memory(f, 4096, GTU_REGION_READ, &a);
	const uint32_t kp = fx_region(f, a, 0, 4096, GTU_REGION_READ | GTU_REGION_WRITE);
	struct gtu_hw_region *r = &f->table[GTU_KEY_SLOT(kp)];
	struct gtu_hw_desc d = copy(ka, 0, kp, 0, 4096, 0);
	struct gtu_hw_cpl c;

	r->flags |= GTU_REGION_APERTURE;
	r->base = 65536 - 4096;
	for (unsigned i = 0; i < 4096; i++)
		a->at[i] = (uint8_t)(i * 7);
	EXPECT((void)0, GTU_CPL_OK, 0xff);
	for (unsigned i = 0; i < 4096; i += 8) {
		uint64_t v;

		memcpy(&v, a->at + i, 8);
		CHECK(gtu_dev_read(f->dev, GTU_BAR_APERTURE, 65536 - 4096 + i, 8) == v);
	}
	/* each part of the address may leave the aperture */
	EXPECT(r->base += 8, GTU_CPL_KEY, 1);
	EXPECT((r->base = 65536 + 8, r->length = 0), GTU_CPL_KEY, 1);
	EXPECT((r->base = 65536 - 8, r->offset = 16), GTU_CPL_KEY, 1);
	EXPECT((r->base = 0, r->offset = 65536 - 8, r->length = 16), GTU_CPL_KEY, 1);
	EXPECT((r->offset = 0, r->length = 4096), GTU_CPL_OK, 0xff);
}

TEST(monitor_counts_requests)
{
	struct fx *f = fx_open(NULL, 5);
	struct fx_buffer *a, *b;
	const uint32_t ka = fx_memory(f, 8192, GTU_REGION_READ, &a), kb = fx_memory(f, 8192, GTU_REGION_WRITE, &b);
	/*
	 * bytes 96 .. 96+1000: sector 3 alone, 7 whole lines, then sectors 0 to 2 of the last line
	 */
	struct gtu_hw_desc d = copy(ka, 96, kb, 0, 1000, 0);
	const struct gtu_hw_cpl quiet = fx_do(f, &d, 0);
	uint64_t *shown = calloc(GTU_ZCM_COUNTERS, 8);
	struct gtu_hw_cpl c;

	fx_put(f, GTU_PAGE_ZCM + GTU_UREG_SET(GTU_ZCM_S_ENABLE), 4, 1);
	c = fx_do(f, &d, 1 << 20);
	CHECK(c.cycles == quiet.cycles && c.count == quiet.count);
	for (unsigned i = 0; i < 3; i++)
		gtu_dev_read(f->dev, GTU_BAR_APERTURE, 64 * i, 8);
	fx_put(f, GTU_PAGE_ZCM + GTU_UREG_CTRL, 4, GTU_CTRL_SNAPSHOT | GTU_CTRL_CLEAR);
	for (unsigned i = 0; i < GTU_ZCM_COUNTERS; i++)
		shown[i] = fx_reg(f, GTU_PAGE_ZCM + GTU_UREG_COUNTER(i), 8);
	CHECK_EQ(shown[GTU_ZCM_C_REQUESTS(GTU_ZCM_HOST_READ, 1)], 1);
	CHECK_EQ(shown[GTU_ZCM_C_REQUESTS(GTU_ZCM_HOST_READ, 3)], 1);
	CHECK_EQ(shown[GTU_ZCM_C_REQUESTS(GTU_ZCM_HOST_READ, 4)], 7);
	CHECK_EQ(shown[GTU_ZCM_C_BYTES(GTU_ZCM_HOST_READ)], 32 + 7 * 128 + 96);
	CHECK_EQ(shown[GTU_ZCM_C_REQUESTS(GTU_ZCM_HOST_WRITE, 4)], 8);	/* 7 lines and 104 bytes: 4 sectors */
	CHECK_EQ(shown[GTU_ZCM_C_REQUESTS(GTU_ZCM_APERTURE_READ, 1)], 3);
	CHECK_EQ(shown[GTU_ZCM_C_TRIP(7)], 17);		/* 200 cycles */
	CHECK_EQ(shown[GTU_ZCM_C_FLIGHT_SUM], 17 * 200 + 3);
	CHECK(shown[GTU_ZCM_C_FLIGHT_MAX] == 17 && shown[GTU_ZCM_C_MONITORED] == c.cycles);
	fx_put(f, GTU_PAGE_ZCM + GTU_UREG_CTRL, 4, GTU_CTRL_SNAPSHOT);
	for (unsigned i = 0; i < GTU_ZCM_COUNTERS; i++)
		CHECK_EQ(fx_reg(f, GTU_PAGE_ZCM + GTU_UREG_COUNTER(i), 8), 0);
	/* accesses of the aperture are none of the host's memory */
	f->table[GTU_KEY_SLOT(ka)].flags |= GTU_REGION_APERTURE;
	f->table[GTU_KEY_SLOT(ka)].base = 0;
	fx_do(f, &d, 1 << 20);
	fx_put(f, GTU_PAGE_ZCM + GTU_UREG_CTRL, 4, GTU_CTRL_SNAPSHOT);
	CHECK_EQ(fx_reg(f, GTU_PAGE_ZCM + GTU_UREG_COUNTER(GTU_ZCM_C_BYTES(GTU_ZCM_HOST_READ)), 8), 0);
	CHECK(fx_reg(f, GTU_PAGE_ZCM + GTU_UREG_COUNTER(GTU_ZCM_C_BYTES(GTU_ZCM_HOST_WRITE)), 8) > 0);
	fx_put(f, GTU_PAGE_ZCM + GTU_UREG_SET(0), 4, 2);
	CHECK_EQ(fx_reg(f, GTU_REG_ERROR, 4), GTU_ERROR_REGISTER);
	free(shown);
}

TEST_MAIN
