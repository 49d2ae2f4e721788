// SPDX-License-Identifier: MIT
/* Tests waits for the records of a stream, and cancelled jobs. */
#include "gtu_stream.h"

EVENT_FIXTURE(stream);

/*
 * ---- Streams ------------------------------------------------------------------------------------
 */

TEST_F(stream, each_record_of_a_stream_wakes_its_consumer)
{
	volatile struct gtu_hw_ring *ring = (void *)self->memory;
	struct gtu_hw_desc d = stream_job(self->memory, self->key);
	uint32_t consumed = 0, elements = 0, early = 0, index, lane;
	struct gtu_hw_cpl c;
	bool done = false;

	NEEDS(GTU_CAP_STREAM_EVENTS | GTU_CAP_STREAMS);
	index = submit(&self->q, &d);
	while (!done) {
		ASSERT_EQ(0, wait_stream(&self->q, index, consumed, now_ns() + 10 * SECOND));
		done = completed(&self->q, index);
		early += ring->producer == consumed && !done;
		while (consumed != __atomic_load_n(&ring->producer, __ATOMIC_ACQUIRE)) {
			struct gtu_hw_warp *w =
				(void *)(self->memory + sizeof(*ring) +
					 (consumed & (RECORDS - 1)) * GTU_WARP_BYTES(1, 0));

			EXPECT_EQ(consumed, w->sequence);
			for (lane = 0; lane < GTU_WARP; lane++)
				elements += w->active >> lane & 1;
			consumed++;
		}
		__atomic_store_n(&ring->consumer, consumed, __ATOMIC_SEQ_CST);
		if (ring->waiting)
			*(volatile uint32_t *)(self->q.db + GTU_DB_KICK) = 1;
	}
	ASSERT_EQ(0, take(&self->q, &c));
	EXPECT_EQ(GTU_CPL_OK, c.status);
	EXPECT_EQ(INDICES, elements);
	EXPECT_EQ(consumed, c.count);
	TH_LOG("%u records, woken early %u times", consumed, early);
	EXPECT_GE(consumed / 4, early);
}

/* A record that does not fit in the ring cannot arrive before the consumer frees space. */
TEST_F(stream, a_wait_for_a_missing_record_is_bounded)
{
	volatile struct gtu_hw_ring *ring = (void *)self->memory;
	struct gtu_hw_desc d = stream_job(self->memory, self->key);
	unsigned int i, at_once = 0;
	uint64_t start;
	uint32_t index;

	NEEDS(GTU_CAP_STREAM_EVENTS | GTU_CAP_STREAMS);
	/* the queue is idle: returns at once */
	start = now_ns();
	EXPECT_EQ(0, wait_stream(&self->q, 0, 0, GTU_WAIT_FOREVER));
	EXPECT_EQ(ETIMEDOUT, wait_stream(&self->q, 0, 0, 0));
	EXPECT_GT(start + SECOND, now_ns());
	index = submit(&self->q, &d);
	while (ring->producer != RECORDS)
		ASSERT_GT(start + 5 * SECOND, now_ns());
	/*
	 * record RECORDS cannot arrive: a wait returns 0 after a while so that the caller polls
	 * again, or times out
	 */
	start = now_ns();
	EXPECT_EQ(0, wait_stream(&self->q, index, RECORDS, GTU_WAIT_FOREVER));
	EXPECT_LT(start + SECOND / 20, now_ns());
	EXPECT_GT(start + 5 * SECOND, now_ns());
	start = now_ns();
	EXPECT_EQ(ETIMEDOUT, wait_stream(&self->q, index, RECORDS, start + SECOND / 50));
	EXPECT_LE(start + SECOND / 50, now_ns());
	/* a wait for an existing record must return at once, not after the fallback interval */
	for (i = 0; i < 5; i++) {
		start = now_ns();
		EXPECT_EQ(0, wait_stream(&self->q, index, RECORDS - 1, GTU_WAIT_FOREVER));
		at_once += start + SECOND / 20 > now_ns();
	}
	EXPECT_LT(0u, at_once);
	signal_every(30000, SA_RESTART);
	EXPECT_EQ(EINTR, wait_stream(&self->q, index, RECORDS, GTU_WAIT_FOREVER));
	signal_every(0, 0);
	/* a reset drops the stream */
	EXPECT_EQ(0, queue_call(&self->q, GTU_IOCTL_QUEUE_RESET));
	/* an error ends it */
	doorbell(&self->q, 1000, 0);
	EXPECT_EQ(EIO, wait_stream(&self->q, 0, 0, GTU_WAIT_FOREVER));
}

TEST_F(stream, stream_records_signal_the_eventfd)
{
	struct gtu_hw_desc d = stream_job(self->memory, self->key);
	volatile struct gtu_hw_ring *ring = (void *)self->memory;

	NEEDS(GTU_CAP_STREAM_EVENTS | GTU_CAP_STREAMS);
	ASSERT_EQ(0, set_eventfd(&self->q, self->efd));
	submit(&self->q, &d);
	*(volatile uint32_t *)(self->q.db + GTU_DB_ARM_STREAM) = RECORDS - 1;
	EXPECT_EQ(POLLIN, polled(self->efd, 10000));
	EXPECT_EQ(RECORDS, ring->producer);
	counted(self->efd);
	*(volatile uint32_t *)(self->q.db + GTU_DB_ARM_STREAM) = RECORDS;
	EXPECT_EQ(0, polled(self->efd, 200));
	ring->consumer = RECORDS;
	*(volatile uint32_t *)(self->q.db + GTU_DB_KICK) = 1;
	EXPECT_EQ(POLLIN, polled(self->efd, 10000));
	EXPECT_LT(RECORDS, ring->producer);
}

/*
 * ---- Cancel -------------------------------------------------------------------------------------
 */

TEST_F(stream, invalid_cancels_are_refused)
{
	struct queue none = self->q;

	NEEDS(GTU_CAP_CANCEL);
	none.c.id = 77777;
	EXPECT_EQ(ENOENT, cancel(&none, 0, 0));
	EXPECT_EQ(EINVAL, cancel(&self->q, GTU_CANCEL_ALL, 1));
	EXPECT_EQ(EINVAL, cancel(&self->q, 0, 1));
	EXPECT_EQ(0, cancel(&self->q, 0, 0));
	EXPECT_EQ(0, cancel(&self->q, GTU_CANCEL_ALL, 0));
	doorbell(&self->q, 1000, 0);
	EXPECT_EQ(EIO, cancel(&self->q, 0, 0));
}

/*
 * Cancel a stream without a consumer and jobs behind it: all complete in order; the queue stays
 * enabled.
 */
TEST_F(stream, cancelled_jobs_complete_in_order)
{
	struct gtu_hw_desc d = stream_job(self->memory, self->key);
	struct gtu_hw_cpl c;
	uint32_t i;

	NEEDS(GTU_CAP_CANCEL | GTU_CAP_STREAMS);
	put(&self->q, &d);
	for (i = 1; i < 8; i++)
		put(&self->q, &NO_JOB);
	doorbell(&self->q, 8, 0);
	EXPECT_EQ(ETIMEDOUT, queue_wait(&self->q, 0, now_ns() + SECOND / 20));
	ASSERT_EQ(0, cancel(&self->q, 0, 5));
	for (i = 0; i < 8; i++) {
		ASSERT_EQ(0, take(&self->q, &c));
		EXPECT_EQ(i, c.sq_index);
		EXPECT_EQ(i < 5 ? GTU_CPL_CANCELED : GTU_CPL_OK, c.status);
	}
	/* cancelling completed jobs has no effect */
	EXPECT_EQ(0, cancel(&self->q, 0, 3));
	EXPECT_EQ(0, cancel(&self->q, GTU_CANCEL_ALL, 0));
	EXPECT_EQ(GTU_CPL_OK, run(&self->q, &NO_JOB, &c));

	d = stream_job(self->memory, self->key);
	put(&self->q, &d);
	put(&self->q, &NO_JOB);
	doorbell(&self->q, self->q.submitted, self->q.consumed);
	ASSERT_EQ(0, cancel(&self->q, GTU_CANCEL_ALL, 0));
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, take(&self->q, &c));
		EXPECT_EQ(GTU_CPL_CANCELED, c.status);
	}
	doorbell(&self->q, self->q.submitted, self->q.consumed);
	EXPECT_EQ(GTU_CPL_OK, run(&self->q, &NO_JOB, &c));
}

TEST_F(stream, a_cancelled_job_wakes_its_waiters)
{
	struct gtu_hw_desc d = stream_job(self->memory, self->key);
	struct reader r;

	NEEDS(GTU_CAP_CANCEL | GTU_CAP_STREAMS);
	start_reader(&r, self->fd);
	arm(&self->q, 0);
	submit(&self->q, &d);
	usleep(50000);
	ASSERT_EQ(0, cancel(&self->q, GTU_CANCEL_ALL, 0));
	pthread_join(r.thread, NULL);
	EXPECT_EQ(1, r.ret);
	EXPECT_EQ(1, r.e[0].cq_tail);
	EXPECT_TRUE(completed(&self->q, 0));
}

TEST_HARNESS_MAIN
