// SPDX-License-Identifier: MIT
/*
 * Regression tests of the device core: fences and queues that they wait for, exclusive units,
 * limits at any step size, events of disabled queues, halves of registers.
 */
#include "firmware-model/device/core.h"
#include "tests/unit/fixture.h"

static const struct gtu_hw_desc fence = { .opcode = GTU_OP_FENCE }, nop = { .opcode = GTU_OP_NOP };

TEST(a_fence_passes_after_a_rejected_job)
{
	const struct gtu_hw_desc bad = { .opcode = 0xff };
	struct fx *f = fx_open_queues(2);
	struct gtu_hw_cpl c;

	fx_submit_to(f, 1, &bad);
	fx_submit_run(f, 0, &fence);
	CHECK(fx_poll(f, 1, &c) && fx_poll(f, 0, &c));
}

TEST(fences_stop_waiting_for_reset_or_disabled_queues)
{
	struct fx *f = fx_open_queues(2);
	struct gtu_hw_desc s = fx_stream(f, 100000, 2, 0, NULL);
	struct gtu_hw_cpl c;

	fx_submit_run(f, 1, &s);
	fx_submit_run(f, 0, &fence);
	CHECK(!fx_poll(f, 0, &c));
	/* reset, and busy again before the fence is checked */
	fx_queue_restart(f, GTU_MBOX_QUEUE_RESET, 1);
	fx_submit_run(f, 1, &s);
	CHECK(fx_poll(f, 0, &c));
	/* the same queue in another context */
	fx_submit_run(f, 0, &fence);
	CHECK(!fx_poll(f, 0, &c));
	fx_context_open(f, 1, 1);
	fx_queue_restart(f, GTU_MBOX_QUEUE_DISABLE, 1);
	fx_queue_open(f, 1, 1, GTU_RING_NONE);
	fx_submit_run(f, 1, &s);
	CHECK(fx_poll(f, 0, &c));
}

TEST(a_fence_does_not_wait_for_another_fence)
{
	struct fx *f = fx_open_queues(3);
	struct gtu_hw_ring *ring;
	struct gtu_hw_desc s = fx_stream(f, 1000, 2, 0, &ring), other = fx_stream(f, 100000, 2, 0, NULL);
	struct gtu_hw_cpl c;

	fx_submit_to(f, 1, &s);
	fx_submit_run(f, 1, &fence);
	fx_submit_run(f, 0, &fence);	/* waits for queue 1 */
	fx_submit_run(f, 2, &other);
	CHECK(!fx_poll(f, 0, &c));
	/* the fence of queue 1 starts, and waits for queue 2: a queue at a fence is not waited for */
	while (!fx_poll(f, 1, &c)) {
		CHECK_EQ(ring->waiting, 1);
		__atomic_store_n(&ring->consumer, ring->producer, __ATOMIC_RELEASE);
		fx_doorbell(f, 1, GTU_DB_KICK, 1);
		fx_run(f, 1 << 16);
	}
	CHECK(fx_poll(f, 0, &c) && !fx_poll(f, 1, &c));
}

static struct gtu_hw_cpl limited(bool iru, uint64_t budget, uint32_t *ended)
{
	struct fx *f = fx_open(NULL, 1);
	struct gtu_hw_ring *ring = NULL;
	struct gtu_hw_desc d = iru ? fx_stream(f, 6000, 1024, 0, &ring) : fx_fill(f, 32000);
	struct gtu_hw_cpl c;

	d.limit = 1;
	c = fx_do(f, &d, budget);
	*ended = ring ? ring->ended : 1;
	return c;
}

TEST(limits_hold_at_any_step_size)
{
	static const uint64_t budget[] = { 1 << 20, 100, 1 };
	uint32_t ended;
	unsigned i, iru;

	for (iru = 0; iru < 2; iru++) {
		for (i = 0; i < 3; i++) {
			const struct gtu_hw_cpl c = limited(iru, budget[i], &ended);

			CHECKF(c.status == GTU_CPL_LIMIT && c.cycles <= 1024 && (!iru || c.cycles == 1024),
			       "%s in steps of %" PRIu64 ": status %u after %" PRIu64 " cycles", iru ? "IRU" : "FILL",
			       budget[i], c.status, c.cycles);
			CHECK_EQ(ended, 1);
		}
	}
}

TEST(very_large_limits_end_no_job)
{
	struct fx *f = fx_open(NULL, 1);
	struct gtu_hw_desc d = fx_fill(f, 64);

	fx_put(f, GTU_REG_CYCLE_LIMIT, 8, 1ull << 59);
	CHECK_EQ(fx_do(f, &d, 0).status, GTU_CPL_OK);
	fx_put(f, GTU_REG_CYCLE_LIMIT, 8, ~0ull);
	CHECK_EQ(fx_do(f, &d, 0).status, GTU_CPL_OK);
}

/* A limit that a job just reaches is no error, at any step size. */
TEST(a_limit_is_exceeded_by_one_cycle)
{
	static const uint64_t budget[] = { 1 << 20, 100, 1 };
	struct gtu_hw_desc d[2];
	struct gtu_hw_cpl c;
	uint64_t need;
	unsigned i, k;
	struct fx *f = fx_open(NULL, 1);

	d[0] = fx_fill(f, 32000);
	d[1] = fx_stream(f, 1000, 1024, 0, NULL);
	for (k = 0; k < 2; k++) {
		fx_put(f, GTU_REG_CYCLE_LIMIT, 8, 1ull << 40);
		need = fx_do(f, &d[k], 0).cycles;
		for (i = 0; i < LENGTH(budget); i++) {
			fx_put(f, GTU_REG_CYCLE_LIMIT, 8, need);
			c = fx_do(f, &d[k], budget[i]);
			CHECKF(c.status == GTU_CPL_OK && c.cycles == need, "job %u: status %u after %" PRIu64 " cycles", k, c.status,
			       (uint64_t)c.cycles);
			fx_put(f, GTU_REG_CYCLE_LIMIT, 8, need - 1);
			CHECK_EQ(fx_do(f, &d[k], budget[i]).status, GTU_CPL_LIMIT);
		}
	}
}

TEST(a_reset_frees_units)
{
	struct fx *f = fx_open(NULL, 1);
	struct gtu_hw_desc s = fx_stream(f, 100000, 2, 0, NULL);
	const uint32_t status = GTU_PAGE_IRU + GTU_UREG_STATUS;

	fx_submit_run(f, 0, &s);
	CHECK_EQ(fx_reg(f, status, 4), 3);
	fx_put(f, GTU_REG_RESET, 4, GTU_RESET_KEY);
	CHECK_EQ(fx_reg(f, status, 4), 1);
}

TEST(queue_state_reports_both_rings_and_the_state)
{
	const struct gtu_hw_desc bad = { .opcode = 0xff, .reserved0 = 1 };
	struct fx *f = fx_open_queues(2);
	const uint64_t n = 1;

	fx_command(f, GTU_MBOX_QUEUE_STATE, 1, &n);
	CHECK_EQ(fx_reg(f, GTU_REG_MBOX_RESULT(2), 8), GTU_QUEUE_ENABLED);
	fx_submit_run(f, 1, &bad);
	fx_submit_run(f, 1, &nop);
	fx_command(f, GTU_MBOX_QUEUE_STATE, 1, &n);
	CHECK_EQ(fx_reg(f, GTU_REG_MBOX_RESULT(0), 8), 2 | 2ull << 32);
	CHECK_EQ(fx_reg(f, GTU_REG_MBOX_RESULT(1), 8), 2);
	fx_command(f, GTU_MBOX_QUEUE_DISABLE, 1, &n);
	fx_command(f, GTU_MBOX_QUEUE_STATE, 1, &n);
	CHECK_EQ(fx_reg(f, GTU_REG_MBOX_RESULT(2), 8), GTU_QUEUE_DISABLED);
}

static void unmap(struct fx *f, const void *at)
{
	for (unsigned i = 0; i < f->buffers; i++)
		if (f->buffer[i].at == at)
			fx_buffer_free(&f->buffer[i]);
}

TEST(an_unmapped_completion_ring_puts_its_queue_in_error)
{
	struct fx *f = fx_open_queues(2);
	const uint64_t n = 1;

	unmap(f, f->queue[1].cq);
	fx_submit_run(f, 1, &nop);
	CHECK_EQ(fx_reg(f, GTU_REG_ERROR, 4), GTU_ERROR_DMA | GTU_ERROR_QUEUE);
	fx_command(f, GTU_MBOX_QUEUE_STATE, 1, &n);
	CHECK_EQ(fx_reg(f, GTU_REG_MBOX_RESULT(2), 8), GTU_QUEUE_E_DMA);
}

TEST(an_unmapped_region_table_ends_jobs_with_dma_errors)
{
	struct fx *f = fx_open(NULL, 1);
	struct gtu_hw_desc d = fx_fill(f, 64);
	struct gtu_hw_cpl c;

	fx_command(f, GTU_MBOX_CTX_ENABLE, 4, (uint64_t[]){ 1, 1ull << 50, FX_TABLE_LOG2, 1 });
	fx_queue_open(f, 1, 1, GTU_RING_NONE);
	fx_submit_run(f, 1, &d);
	CHECK(fx_poll(f, 1, &c));
	CHECK(c.status == GTU_CPL_DMA && c.operand == 1);
}

TEST(unmapped_rings_end_their_stream_with_a_dma_error)
{
	struct fx *f = fx_open(NULL, 1);
	struct gtu_hw_ring *ring;
	struct gtu_hw_desc s = fx_stream(f, 100000, 2, 0, &ring);
	struct gtu_hw_cpl c;

	fx_submit_run(f, 0, &s);
	CHECK_EQ(ring->waiting, 1);
	unmap(f, ring);
	fx_doorbell(f, 0, GTU_DB_KICK, 1);
	fx_run(f, 1 << 16);
	CHECK(fx_poll(f, 0, &c));
	CHECK(c.status == GTU_CPL_DMA && c.operand == 2);
	/* from the beginning: nothing runs */
	c = fx_do(f, &s, 0);
	CHECK(c.status == GTU_CPL_DMA && c.operand == 2 && c.cycles == 1);
}

TEST(a_stalled_stream_loses_its_exclusive_unit)
{
	struct fx *f = fx_open_queues(2);
	struct gtu_hw_ring *ring;
	struct gtu_hw_desc s = fx_stream(f, 100000, 2, 0, &ring), other = fx_stream(f, 100, 4, 0, NULL);
	struct gtu_hw_cpl c;

	fx_submit_run(f, 0, &s);
	CHECK_EQ(ring->waiting, 1);
	CHECK(fx_reg(f, GTU_REG_STATUS, 4) & GTU_STATUS_BUSY);
	/* a waiter that is disabled again does not affect the owner */
	fx_submit_run(f, 1, &other);
	fx_queue_restart(f, GTU_MBOX_QUEUE_DISABLE, 1);
	gtu_dev_idle(f->dev, GTU_STALL_LIMIT);
	fx_run(f, 1 << 16);
	CHECK(!fx_poll(f, 0, &c));
	/* a waiter that stays does; the ring alone notifies the consumer */
	fx_queue_open(f, 1, 0, GTU_RING_NONE);
	fx_submit_run(f, 1, &other);
	gtu_dev_idle(f->dev, GTU_STALL_LIMIT * 3 / 4);
	/* a consumer that takes a record has all of the time again */
	__atomic_store_n(&ring->consumer, 1, __ATOMIC_RELEASE);
	fx_doorbell(f, 0, GTU_DB_KICK, 1);
	fx_run(f, 1 << 16);
	gtu_dev_idle(f->dev, GTU_STALL_LIMIT * 3 / 4);
	fx_run(f, 1 << 16);
	CHECK(!fx_poll(f, 0, &c));
	gtu_dev_idle(f->dev, GTU_STALL_LIMIT);
	fx_run(f, 1 << 16);
	CHECK(fx_poll(f, 0, &c));
	CHECK_EQ(c.status, GTU_CPL_STALLED);
	CHECK(ring->ended == 1 && ring->waiting == 0);
	CHECK(fx_poll(f, 1, &c) && c.status == GTU_CPL_OK);
}

TEST(stall_time_includes_work_of_other_queues)
{
	struct fx *f = fx_open_queues(3);
	struct gtu_hw_desc s = fx_stream(f, 100000, 2, 0, NULL), d = fx_fill(f, 1 << 20);
	struct gtu_hw_cpl c;
	uint64_t start, now;
	bool ended = false;

	fx_submit_run(f, 0, &s);
	fx_submit_to(f, 1, &s);
	/* most of the time passes idle, the rest while a third queue is busy */
	fx_run(f, 1 << 16);
	gtu_dev_idle(f->dev, GTU_STALL_LIMIT - (1 << 24));
	start = now = fx_reg(f, GTU_REG_CYCLES, 8);
	while (!ended && now - start < 1 << 25) {
		while (f->queue[2].tail - f->queue[2].head < 8)
			fx_submit_to(f, 2, &d);
		gtu_dev_step(f->dev, 1 << 16);
		while (fx_poll(f, 2, &c))
			;
		ended = fx_poll(f, 0, &c);
		now = fx_reg(f, GTU_REG_CYCLES, 8);
	}
	CHECK(ended && c.status == GTU_CPL_STALLED);
}

TEST(a_queue_in_error_passes_its_unit_on)
{
	struct fx *f = fx_open_queues(2);
	struct gtu_hw_desc d = fx_stream(f, 1000, 1024, 0, NULL);
	const uint64_t n = 0;
	struct gtu_hw_cpl c;

	fx_submit_many(f, 0, &d, 2);
	gtu_dev_step(f->dev, 10);
	fx_submit_to(f, 1, &d);
	gtu_dev_step(f->dev, 10);
	unmap(f, f->queue[0].cq);
	fx_run(f, 1 << 16);
	CHECK(fx_poll(f, 1, &c) && c.status == GTU_CPL_OK);
	fx_command(f, GTU_MBOX_QUEUE_STATE, 1, &n);
	CHECK_EQ(fx_reg(f, GTU_REG_MBOX_RESULT(2), 8), GTU_QUEUE_E_DMA);
	/* the second job was not fetched */
	CHECK_EQ(fx_reg(f, GTU_REG_MBOX_RESULT(0), 8), 1 | 2ull << 32);
}

TEST(queues_of_a_context_take_turns)
{
	struct fx *f = fx_open_queues(3);
	struct gtu_hw_desc d = fx_fill(f, 1 << 16);
	unsigned ended[3] = { 0 }, n;
	struct gtu_hw_cpl c;

	for (n = 0; n < 3; n++)
		fx_submit_many(f, n, &d, 12);
	while (ended[0] + ended[1] + ended[2] < 18) {
		gtu_dev_step(f->dev, 100);
		for (n = 0; n < 3; n++)
			ended[n] += fx_poll(f, n, &c);
	}
	CHECKF(ended[0] > 3 && ended[1] > 3 && ended[2] > 3, "%u, %u and %u of 12 jobs", ended[0], ended[1], ended[2]);
}

TEST(pending_events_wait_for_rings_and_end_with_queues)
{
	struct fx *f = fx_open(NULL, 1);
	unsigned before;

	/* pending before its ring is enabled: raised when it is */
	fx_queue_open(f, 1, 0, 0);
	fx_queue_open(f, 2, 0, 0);
	fx_doorbell(f, 1, GTU_DB_ARM, 0);
	fx_submit_to(f, 1, &nop);
	fx_submit_run(f, 2, &nop);
	fx_event_ring_open(f, 0, 1, 1);
	CHECK_EQ(f->irqs[1], 1);
	/* pending with a full ring when the queue is disabled: no event of a disabled queue */
	fx_doorbell(f, 2, GTU_DB_ARM, 0);
	fx_doorbell(f, 1, GTU_DB_ARM, 0);
	fx_queue_restart(f, GTU_MBOX_QUEUE_DISABLE, 1);
	before = f->irqs[1];
	fx_put(f, GTU_REG_EVENT_HEAD(0), 4, 2);
	CHECK_EQ(f->irqs[1], before);
}

TEST(read_only_registers_ignore_writes_and_latches_expire)
{
	struct fx *f = fx_open(NULL, 1);
	const uint64_t caps = fx_reg(f, GTU_REG_CAPS, 8), result = fx_reg(f, GTU_REG_MBOX_RESULT(1), 8);

	/* a latch serves only the next read */
	fx_reg(f, GTU_REG_SCRATCH, 4);
	fx_reg(f, GTU_REG_MAGIC, 4);
	fx_put(f, GTU_REG_SCRATCH + 4, 4, 5);
	CHECK_EQ(fx_reg(f, GTU_REG_SCRATCH + 4, 4), 5);
	/* writes to read-only registers are ignored, whole or in halves */
	fx_put(f, GTU_REG_CAPS, 8, 5);
	fx_put(f, GTU_REG_CAPS + 4, 4, 5);
	fx_put(f, GTU_REG_MBOX_RESULT(1), 8, 5);
	CHECK_EQ(fx_reg(f, GTU_REG_ERROR, 4), 0);
	CHECK_EQ(fx_reg(f, GTU_REG_CAPS, 8), caps);
	CHECK_EQ(fx_reg(f, GTU_REG_MBOX_RESULT(1), 8), result);
	CHECK(caps && caps != 5 && caps >> 32 != 5 && result != 5);
}

TEST(register_errors_give_the_offset_until_cleared)
{
	struct fx *f = fx_open(NULL, 1);

	/* a doorbell page has no such register: reported with its offset, until the error is cleared */
	fx_doorbell(f, 0, 0x7c, 1);
	CHECK_EQ(fx_reg(f, GTU_REG_ERROR, 4), GTU_ERROR_REGISTER);
	CHECK_EQ(fx_reg(f, GTU_REG_ERROR_INFO, 8), 0x7c);
	fx_put(f, GTU_REG_ERROR, 4, GTU_ERROR_DMA);
	CHECK_EQ(fx_reg(f, GTU_REG_ERROR_INFO, 8), 0x7c);
	fx_put(f, GTU_REG_ERROR, 4, GTU_ERROR_REGISTER);
	CHECK_EQ(fx_reg(f, GTU_REG_ERROR, 4), 0);
	CHECK_EQ(fx_reg(f, GTU_REG_ERROR_INFO, 8), 0);
}

TEST(the_last_register_of_the_page_is_readable)
{
	struct fx *f = fx_open(NULL, 1);

	/* an access of the last bytes is inside the window */
	f->dev->fdt[GTU_BAR_REGS_SIZE - GTU_FDT_WINDOW - 4] = 0x5a;
	CHECK_EQ(fx_reg(f, GTU_BAR_REGS_SIZE - 4, 4) & 0xff, 0x5a);
}

TEST(a_doorbell_in_halves_takes_effect_at_the_second)
{
	struct fx *f = fx_open(NULL, 1);
	struct gtu_hw_cpl c;

	f->queue[0].sq[0] = nop;
	gtu_dev_write(f->dev, GTU_BAR_DOORBELL, GTU_DB_SUBMIT, 4, 1);
	CHECK(!fx_poll(f, 0, &c));
	gtu_dev_write(f->dev, GTU_BAR_DOORBELL, GTU_DB_SUBMIT + 4, 4, 0);
	fx_run(f, 1 << 16);
	CHECK(fx_poll(f, 0, &c));
}

TEST(a_byte_of_the_aperture_can_be_written_alone)
{
	struct fx *f = fx_open(NULL, 1);

	gtu_dev_write(f->dev, GTU_BAR_APERTURE, 64, 4, 0x44332211);
	gtu_dev_write(f->dev, GTU_BAR_APERTURE, 65, 1, 0x5a);
	CHECK_EQ(gtu_dev_read(f->dev, GTU_BAR_APERTURE, 64, 4), 0x44335a11);
}

TEST(epoch_0_is_never_used)
{
	struct fx *f = fx_open(NULL, 1);

	f->dev->epoch = ~0u;
	fx_put(f, GTU_REG_RESET, 4, GTU_RESET_KEY);
	CHECK_EQ(fx_reg(f, GTU_REG_EPOCH, 4), 1);
}

TEST(a_rejected_job_takes_a_cycle)
{
	const struct gtu_hw_desc bad = { .opcode = 0xff };
	struct fx *f = fx_open(NULL, 1);
	struct gtu_hw_desc fill = fx_fill(f, 4096);

	CHECK(fx_do(f, &fill, 0).cycles > 1);
	CHECK_EQ(fx_do(f, &bad, 0).cycles, 1);
}

TEST(a_completion_has_no_bytes_of_its_predecessor)
{
	struct fx *f = fx_open(NULL, 1);
	struct gtu_hw_cpl c;

	memset(f->queue[0].cq, 0x5c, sizeof(c));
	f->queue[0].cq[0].phase = 0;
	c = fx_do(f, &nop, 0);
	CHECK(!c.reserved && !c.reserved1 && !c.reserved2);
}

TEST(operands_are_checked_before_their_regions)
{
	struct fx *f = fx_open(NULL, 1);
	struct gtu_hw_desc d = { .opcode = GTU_OP_FILL, .param = 3 };
	struct fx_buffer *b = fx_buffer(f, 4096);

	d.operand[1] = (struct gtu_hw_operand){ GTU_KEY(1, 200), 4, 3 };	/* misaligned, no such key */
	CHECK_EQ(fx_do(f, &d, 0).status, GTU_CPL_OPERAND);
	d.operand[1] = (struct gtu_hw_operand){ fx_region(f, b, 0, 4096, GTU_REGION_READ), GTU_COUNT_TO_END, 0 };
	CHECK_EQ(fx_do(f, &d, 0).status, GTU_CPL_OPERAND);
	f->table[200] = (struct gtu_hw_region){
		.key = GTU_KEY(1, 200),
		.flags = GTU_REGION_VALID | FX_RW | GTU_REGION_APERTURE | 12u << GTU_REGION_PAGE_SHIFT,
		.length = 64,
		.offset = 4,
	};
	d.operand[1] = (struct gtu_hw_operand){ GTU_KEY(1, 200), 4, 0 };
	CHECK_EQ(fx_do(f, &d, 0).status, GTU_CPL_KEY);
}

TEST_MAIN
