// SPDX-License-Identifier: MIT
/*
 * Events when a stream writes a record (ARM_STREAM), and cancelation of jobs in every state
 * (QUEUE_CANCEL).
 */
#include "firmware-model/device/core.h"
#include "tests/unit/fixture.h"

#define SLOTS	(1u << FX_RING_LOG2)

static const struct gtu_hw_desc fence = { .opcode = GTU_OP_FENCE }, nop = { .opcode = GTU_OP_NOP };

static uint32_t try_cancel(struct fx *f, uint64_t queue, uint64_t until)
{
	const uint64_t arg[2] = { queue, until };

	fx_mailbox(f, GTU_MBOX_QUEUE_CANCEL, 2, arg);
	return fx_mailbox_status(f);
}

static void cancel(struct fx *f, uint64_t queue, uint32_t until)
{
	CHECK_EQ(try_cancel(f, queue, until), GTU_MBOX_E_OK);
}

/* The next completion of queue @n exists and has status @status. */
static struct gtu_hw_cpl expect(struct fx *f, unsigned n, unsigned status)
{
	const uint32_t index = f->queue[n].head;
	struct gtu_hw_cpl c;

	CHECKF(fx_poll(f, n, &c), "queue %u has no completion %u", n, index);
	CHECK_EQ(c.status, status);
	CHECK_EQ(c.sq_index, index);
	CHECK_EQ(c.operand, 0xff);
	return c;
}

static void nothing_more(struct fx *f, unsigned n)
{
	struct gtu_hw_cpl c;

	CHECKF(!fx_poll(f, n, &c), "queue %u has an extra completion with status %u", n, c.status);
}

/* ---- Cancel ------------------------------------------------------------------------------------ */

TEST(cancel_ends_waiting_and_running_jobs_only)
{
	struct fx *f = fx_open(NULL, 1);
	struct gtu_hw_desc d = fx_fill(f, 1 << 20);

	fx_submit_run(f, 0, &nop);
	fx_submit_many(f, 0, &d, 4);
	gtu_dev_step(f->dev, 1000);
	cancel(f, 0, 3);
	fx_run(f, 1 << 16);
	expect(f, 0, GTU_CPL_OK);
	CHECKF(expect(f, 0, GTU_CPL_CANCELED).count > 0, "the running job had no output");
	CHECK_EQ(expect(f, 0, GTU_CPL_CANCELED).cycles, 0);
	CHECK_EQ(expect(f, 0, GTU_CPL_OK).count, 1 << 20);
	expect(f, 0, GTU_CPL_OK);
	nothing_more(f, 0);
}

TEST(cancel_is_idempotent_and_checks_its_range)
{
	struct fx *f = fx_open(NULL, 1);
	struct gtu_hw_desc d = fx_fill(f, 1 << 20);

	fx_submit_many(f, 0, &d, 6);
	CHECK_EQ(try_cancel(f, 0, 7), GTU_MBOX_E_ARG);
	CHECK_EQ(try_cancel(f, 0, 0x7fffffff), GTU_MBOX_E_ARG);
	CHECK_EQ(try_cancel(f, 0, 1ull << 32), GTU_MBOX_E_ARG);
	CHECK_EQ(try_cancel(f, 1, 0), GTU_MBOX_E_STATE);
	CHECK_EQ(try_cancel(f, 256, 0), GTU_MBOX_E_INDEX);
	cancel(f, 0, 0);
	cancel(f, 0, 0xfffffff0);		/* long ago */
	fx_run(f, 1 << 16);
	for (unsigned i = 0; i < 6; i++)
		expect(f, 0, GTU_CPL_OK);
	fx_submit_many(f, 0, &d, 6);
	cancel(f, 0, 9);
	cancel(f, 0, 10);			/* replaces the smaller one */
	cancel(f, 0, 10);
	cancel(f, 0, 8);			/* does not revoke the larger one */
	fx_run(f, 1 << 16);
	for (unsigned i = 6; i < 12; i++)
		expect(f, 0, i < 10 ? GTU_CPL_CANCELED : GTU_CPL_OK);
	cancel(f, 0, 12);			/* all have ended */
	fx_submit_run(f, 0, &nop);
	expect(f, 0, GTU_CPL_OK);
	nothing_more(f, 0);
}

TEST(cancel_selects_jobs_across_index_wraparound)
{
	struct fx *f = fx_open(NULL, 1);
	struct gtu_hwq *q = &f->dev->queue[0];

	/* four jobs before 2^32; the ring's slots and phases do not change */
	q->sq_head = q->sq_tail = q->cq_head = q->cq_tail = 0u - 4;
	f->queue[0].tail = f->queue[0].head = 0u - 4;
	memset(f->queue[0].cq, 0xff, SLOTS * sizeof(*f->queue[0].cq));
	fx_submit_many(f, 0, &nop, 8);
	CHECK_EQ(try_cancel(f, 0, 5), GTU_MBOX_E_ARG);
	cancel(f, 0, 2);
	fx_run(f, 1 << 16);
	for (unsigned i = 0; i < 4; i++)
		CHECK_EQ(f->queue[0].cq[SLOTS - 4 + i].status, GTU_CPL_CANCELED);
	for (unsigned i = 0; i < 4; i++)
		CHECK_EQ(f->queue[0].cq[i].status, i < 2 ? GTU_CPL_CANCELED : GTU_CPL_OK);
}

TEST(cancel_of_a_stalled_demand_stream_releases_its_unit)
{
	struct fx *f = fx_open_queues(2);
	struct gtu_hw_ring *ring;
	struct gtu_hw_desc s = fx_stream(f, 10000, 4, GTU_IRU_DEMAND, &ring);
	struct gtu_hw_desc other = fx_stream(f, 100, 128, 0, NULL);
	struct gtu_hw_cpl c;

	fx_submit_to(f, 0, &s);
	fx_submit_run(f, 0, &nop);
	CHECK_EQ(ring->waiting, 1);
	fx_submit_run(f, 1, &other);
	CHECK(!fx_poll(f, 1, &c));
	cancel(f, 0, 1);
	/* the ring alone notifies the consumer; the waiter for the unit is woken */
	CHECK(ring->ended == 1 && ring->waiting == 0);
	expect(f, 0, GTU_CPL_CANCELED);
	fx_run(f, 1 << 16);
	expect(f, 1, GTU_CPL_OK);
	expect(f, 0, GTU_CPL_OK);
	/* the unit still works */
	fx_submit_run(f, 0, &other);
	expect(f, 0, GTU_CPL_OK);
}

TEST(cancel_ends_a_stream_that_waits_for_space)
{
	struct fx *f = fx_open(NULL, 1);
	struct gtu_hw_ring *ring;
	struct gtu_hw_desc s = fx_stream(f, 10000, 2, 0, &ring);

	fx_submit_run(f, 0, &s);
	CHECK(ring->waiting == 1 && ring->producer == 2);
	cancel(f, 0, 1);
	CHECK_EQ(expect(f, 0, GTU_CPL_CANCELED).count, 2);
	CHECK_EQ(ring->ended, 1);
}

TEST(a_canceled_job_leaves_no_claim_to_a_unit)
{
	struct fx *f = fx_open_queues(3);
	struct gtu_hw_ring *ring;
	struct gtu_hw_desc s = fx_stream(f, 10000, 2, 0, &ring), other = fx_stream(f, 100, 128, 0, NULL);

	fx_submit_run(f, 0, &s);
	fx_submit_run(f, 1, &other);
	fx_submit_run(f, 2, &other);
	cancel(f, 1, 1);
	CHECK_EQ(expect(f, 1, GTU_CPL_CANCELED).cycles, 0);
	/* only queue 2 waits now: it must get the unit, without a leftover claim of queue 1 */
	cancel(f, 0, 1);
	fx_run(f, 1 << 16);
	expect(f, 0, GTU_CPL_CANCELED);
	expect(f, 2, GTU_CPL_OK);
	fx_submit_run(f, 1, &other);
	expect(f, 1, GTU_CPL_OK);
}

TEST(cancel_ends_fences_and_the_jobs_they_wait_for)
{
	struct fx *f = fx_open_queues(3);
	struct gtu_hw_desc s = fx_stream(f, 10000, 2, 0, NULL);

	fx_submit_to(f, 0, &s);
	fx_submit_to(f, 1, &fence);
	fx_submit_to(f, 1, &nop);
	fx_submit_run(f, 2, &fence);
	nothing_more(f, 1);
	cancel(f, 1, 1);
	fx_run(f, 1 << 16);
	expect(f, 1, GTU_CPL_CANCELED);
	expect(f, 1, GTU_CPL_OK);
	nothing_more(f, 2);
	cancel(f, 0, 1);
	fx_run(f, 1 << 16);
	expect(f, 0, GTU_CPL_CANCELED);
	expect(f, 2, GTU_CPL_OK);
	CHECK_EQ(f->dev->fences, 0);
}

TEST(cancel_loses_no_completion_of_a_full_ring)
{
	struct fx *f = fx_open(NULL, 1);
	struct fx_queue *q = &f->queue[0];

	for (unsigned i = 0; i < SLOTS; i++)
		fx_submit_run(f, 0, &nop);
	for (unsigned i = 0; i < SLOTS; i++)
		fx_submit_run(f, 0, &nop);
	CHECK_EQ(q->status->cq_tail, SLOTS);
	cancel(f, 0, SLOTS + 10);
	fx_run(f, 1 << 16);
	CHECK_EQ(q->status->cq_tail, SLOTS);	/* no free slot, no completion: none is lost */
	for (unsigned i = 0; i < SLOTS; i++) {
		expect(f, 0, GTU_CPL_OK);
		fx_doorbell(f, 0, GTU_DB_SUBMIT, q->tail | (uint64_t)q->head << 32);
		fx_run(f, 1 << 16);
		CHECK_EQ(q->status->cq_tail, SLOTS + i + 1);
	}
	for (unsigned i = 0; i < SLOTS; i++)
		expect(f, 0, i < 10 ? GTU_CPL_CANCELED : GTU_CPL_OK);
}

TEST(cancel_ends_with_a_reset_or_an_error)
{
	struct fx *f = fx_open(NULL, 1);
	struct fx_queue *q = &f->queue[0];

	fx_submit_many(f, 0, &nop, 8);
	cancel(f, 0, 8);
	fx_queue_restart(f, GTU_MBOX_QUEUE_RESET, 0);
	for (unsigned i = 0; i < 8; i++)
		fx_submit_run(f, 0, &nop);
	for (unsigned i = 0; i < 8; i++)
		expect(f, 0, GTU_CPL_OK);
	fx_doorbell(f, 0, GTU_DB_SUBMIT, (8 + SLOTS + 1) | 8ull << 32);
	CHECK_EQ(q->status->state, GTU_QUEUE_E_TAIL);
	CHECK_EQ(try_cancel(f, 0, 8), GTU_MBOX_E_STATE);
}

TEST(a_canceled_job_raises_the_armed_events)
{
	struct fx *f = fx_open(NULL, 1);
	struct gtu_hw_desc s = fx_stream(f, 10000, 2, 0, NULL);

	fx_event_ring_open(f, 0, 10, 1);
	fx_queue_open(f, 1, 0, 0);
	fx_submit_run(f, 1, &s);
	fx_doorbell(f, 1, GTU_DB_ARM, 0);
	CHECK_EQ(f->irqs[1], 0);
	cancel(f, 1, 1);
	CHECK_EQ(f->irqs[1], 1);
	fx_submit_run(f, 1, &s);
	fx_doorbell(f, 1, GTU_DB_ARM_STREAM, 100);
	CHECK_EQ(f->irqs[1], 1);
	cancel(f, 1, 2);
	CHECK_EQ(f->irqs[1], 2);
}

/* ---- Stream events --------------------------------------------------------------------------- */

/* A device with queue 1 on event ring 0, vector 1. */
static struct fx *armed_open(void)
{
	struct fx *f = fx_open(NULL, 1);

	fx_event_ring_open(f, 0, 10, 1);
	fx_queue_open(f, 1, 0, 0);
	return f;
}

TEST(the_armed_record_raises_one_event)
{
	struct fx *f = armed_open();
	struct gtu_hw_ring *ring;
	struct gtu_hw_desc s = fx_stream(f, 10000, 4, GTU_IRU_DEMAND, &ring);

	fx_submit_run(f, 1, &s);
	CHECK_EQ(ring->producer, 0);
	fx_doorbell(f, 1, GTU_DB_ARM_STREAM, 1);
	__atomic_store_n(&ring->requested, 1, __ATOMIC_RELEASE);
	fx_doorbell(f, 1, GTU_DB_KICK, 1);
	fx_run(f, 1 << 16);
	CHECK_EQ(ring->producer, 1);
	CHECK_EQ(f->irqs[1], 0);		/* record 0 is written, 1 was armed */
	__atomic_store_n(&ring->requested, 3, __ATOMIC_RELEASE);
	fx_doorbell(f, 1, GTU_DB_KICK, 1);
	fx_run(f, 1 << 16);
	CHECK_EQ(f->irqs[1], 1);
	__atomic_store_n(&ring->consumer, 3, __ATOMIC_RELEASE);
	__atomic_store_n(&ring->requested, 4, __ATOMIC_RELEASE);
	fx_doorbell(f, 1, GTU_DB_KICK, 1);
	fx_run(f, 1 << 16);
	CHECK_EQ(ring->producer, 4);
	CHECK_EQ(f->irqs[1], 1);		/* only once */
	fx_doorbell(f, 1, GTU_DB_ARM_STREAM, 3);
	CHECK_EQ(f->irqs[1], 2);		/* already written */
}

TEST(stream_events_may_be_armed_before_their_job_starts)
{
	struct fx *f = armed_open();
	struct gtu_hw_desc s = fx_stream(f, 1000, 1024, 0, NULL);

	fx_submit_to(f, 1, &s);
	fx_doorbell(f, 1, GTU_DB_ARM_STREAM, 0);
	CHECK_EQ(f->irqs[1], 0);
	while (f->irqs[1] == 0 && gtu_dev_step(f->dev, 10))
		;
	CHECK_EQ(f->irqs[1], 1);
	nothing_more(f, 1);			/* raised by the record, not by the completion */
	fx_run(f, 1 << 16);
	expect(f, 1, GTU_CPL_OK);
	CHECK_EQ(f->irqs[1], 1);
}

TEST(arming_without_a_running_job_raises_an_event_immediately)
{
	struct fx *f = armed_open();
	struct gtu_hw_desc s = fx_stream(f, 1000, 1024, 0, NULL);

	fx_doorbell(f, 1, GTU_DB_ARM_STREAM, 0);
	CHECK_EQ(f->irqs[1], 1);
	fx_submit_run(f, 1, &s);
	CHECK_EQ(f->irqs[1], 1);		/* the first arming was consumed */
	fx_doorbell(f, 1, GTU_DB_ARM_STREAM, 1000000);	/* after its end */
	CHECK_EQ(f->irqs[1], 2);
	expect(f, 1, GTU_CPL_OK);
	/* jobs are pending but none can start: the completion ring is full */
	for (unsigned i = 0; i < SLOTS; i++)
		fx_submit_run(f, 1, &nop);
	fx_submit_run(f, 1, &nop);
	fx_doorbell(f, 1, GTU_DB_ARM_STREAM, 0);
	CHECK_EQ(f->irqs[1], 3);
}

TEST(jobs_that_end_before_their_record_raise_the_event)
{
	struct fx *f = armed_open();
	struct gtu_hw_desc s = fx_stream(f, 1000, 1024, 0, NULL), d = fx_fill(f, 1 << 20);

	fx_submit_to(f, 1, &s);
	fx_doorbell(f, 1, GTU_DB_ARM_STREAM, 100000);
	fx_run(f, 1 << 16);
	expect(f, 1, GTU_CPL_OK);
	CHECK_EQ(f->irqs[1], 1);
	/* a job that is no stream: the event comes with its completion */
	fx_submit_to(f, 1, &d);
	gtu_dev_step(f->dev, 100);
	fx_doorbell(f, 1, GTU_DB_ARM_STREAM, 0);
	CHECK_EQ(f->irqs[1], 1);
	fx_run(f, 1 << 16);
	CHECK_EQ(f->irqs[1], 2);
	fx_submit_run(f, 1, &nop);
	CHECK_EQ(f->irqs[1], 2);		/* only once */
}

TEST(each_doorbell_keeps_its_own_last_arm)
{
	struct fx *f = armed_open();
	struct gtu_hw_ring *ring;
	struct gtu_hw_desc s = fx_stream(f, 10000, 4, GTU_IRU_DEMAND, &ring);

	fx_submit_run(f, 1, &s);
	fx_doorbell(f, 1, GTU_DB_ARM_STREAM, 0);
	fx_doorbell(f, 1, GTU_DB_ARM_STREAM, 2);	/* replaces the first */
	fx_doorbell(f, 1, GTU_DB_ARM, 0);
	__atomic_store_n(&ring->requested, 2, __ATOMIC_RELEASE);
	fx_doorbell(f, 1, GTU_DB_KICK, 1);
	fx_run(f, 1 << 16);
	CHECK(ring->producer == 2 && f->irqs[1] == 0);
	__atomic_store_n(&ring->requested, 3, __ATOMIC_RELEASE);
	fx_doorbell(f, 1, GTU_DB_KICK, 1);
	fx_run(f, 1 << 16);
	CHECK_EQ(f->irqs[1], 1);
	cancel(f, 1, 1);				/* ARM is still armed */
	CHECK_EQ(f->irqs[1], 2);
	/* a stream event does not consume ARM */
	fx_submit_to(f, 1, &nop);
	fx_submit_to(f, 1, &nop);
	fx_doorbell(f, 1, GTU_DB_ARM, 2);
	fx_doorbell(f, 1, GTU_DB_ARM_STREAM, 5);
	gtu_dev_step(f->dev, 1);
	CHECK_EQ(f->irqs[1], 3);
	fx_run(f, 1 << 16);
	CHECK_EQ(f->irqs[1], 4);
}

TEST(a_reset_disarms_events)
{
	struct fx *f = armed_open();
	struct gtu_hw_desc s = fx_stream(f, 1000, 2, 0, NULL);

	fx_submit_run(f, 1, &s);
	fx_doorbell(f, 1, GTU_DB_ARM_STREAM, 50);
	fx_queue_restart(f, GTU_MBOX_QUEUE_RESET, 1);
	fx_submit_run(f, 1, &nop);
	CHECK_EQ(f->irqs[1], 0);
	CHECK(fx_reg(f, GTU_REG_CAPS, 8) & GTU_CAP_CANCEL);
	CHECK(fx_reg(f, GTU_REG_CAPS, 8) & GTU_CAP_STREAM_EVENTS);
}

/* No division of the work into steps may lose the event: a waiter would sleep forever. */
TEST(no_event_is_lost_at_any_step_size)
{
	uint64_t seed = 3;
	unsigned round;

	for (round = 0; round < 300; round++) {
		struct fx *f = armed_open();
		struct gtu_hw_ring *ring;
		struct gtu_hw_desc s = fx_stream(f, 500, 2, 0, &ring);
		uint32_t taken = 0;
		unsigned events = 0;
		struct gtu_hw_cpl c;

		fx_submit_to(f, 1, &s);
		while (!fx_poll(f, 1, &c)) {
			unsigned i = (unsigned)(test_random(&seed) % 20);

			for (; i; i--)
				gtu_dev_step(f->dev, 1 + test_random(&seed) % 60);
			if (ring->producer != taken) {
				taken++;
				__atomic_store_n(&ring->consumer, taken, __ATOMIC_RELEASE);
				continue;
			}
			if (ring->waiting)
				fx_doorbell(f, 1, GTU_DB_KICK, 1);
			events = f->irqs[1];
			fx_doorbell(f, 1, GTU_DB_ARM_STREAM, taken);
			fx_run(f, 1 << 16);	/* the consumer sleeps */
			CHECKF(f->irqs[1] == events + 1, "record %u raised no event; the ring's producer is %u", taken,
			       ring->producer);
			fx_put(f, GTU_REG_EVENT_HEAD(0), 4, f->irqs[1]);
		}
		test_end(NULL);
	}
}

TEST_MAIN
