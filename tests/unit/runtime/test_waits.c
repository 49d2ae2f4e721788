// SPDX-License-Identifier: MIT
/*
 * libgtu with a slow or faulty device: timeouts, canceled jobs, impossible completions. A stalled
 * stream makes a job that never completes.
 */
#include "libruntime/device/queue.h"
#include "tests/unit/library.h"

static const struct gtu_hw_desc nop = { .opcode = GTU_OP_NOP };

/* At 1 MHz no stalled stream reaches the model's limit while a test runs. */
static struct gtu_device *device(struct gtu_queue **q, uint32_t sq_log2, uint32_t cq_log2)
{
	const struct gtu_queue_options opt = { .sq_log2 = sq_log2, .cq_log2 = cq_log2 };
	struct gtu_device *dev = open_model("model:clock_hz=1000000");

	*q = open_queue(dev, &opt);
	return dev;
}

/* A stream without a consumer. */
static struct gtu_hw_desc stuck(struct gtu_device *dev, struct gtu_region *r)
{
	OK(gtu_region_alloc(dev, 65536, r, &err));
	return (struct gtu_hw_desc){
		.opcode = GTU_OP_IRU_STREAM,
		.param = GTU_IRU_DEMAND,
		.operand = { { r->key, 1000, 32768 }, { 0 }, { r->key, 16, 0 } },
	};
}

/* GTU_TIME_SCALE multiplies timeouts, for a simulated device that is slow. */
TEST(timeouts_are_scaled)
{
	struct gtu_device *dev;
	struct gtu_completion c;
	struct gtu_queue *q;
	struct gtu_region r;
	struct gtu_hw_desc d;

	CHECK(!setenv("GTU_TIME_SCALE", "0", 1));
	FAILS(gtu_open("model", &dev, &err), GTU_ERR_USAGE, "GTU_TIME_SCALE=0 is not a number from 1 to 1000000");
	CHECK(!setenv("GTU_TIME_SCALE", "20", 1));
	dev = device(&q, 3, 3);
	CHECK(!unsetenv("GTU_TIME_SCALE"));
	d = stuck(dev, &r);
	gtu_set_timeout(dev, 1000000);
	OK(gtu_submit(q, &d, NULL, &err));
	FAILS(gtu_next(q, GTU_FOREVER, &c, &err), GTU_ERR_TIMEOUT, "has not completed job 0 within 0.02 s");
	FAILS(gtu_next(q, 500000, &c, &err), GTU_ERR_TIMEOUT, "within 0.01 s");
	FAILS(gtu_next(q, 0, &c, &err), GTU_ERR_TIMEOUT, "within 0 s");
	OK(gtu_queue_reset(q, &err));
}

TEST(waits_time_out)
{
	struct gtu_queue *q, *other;
	struct gtu_device *dev = device(&q, 3, 3);
	struct gtu_region r, s;
	struct gtu_hw_desc d = stuck(dev, &r);
	struct gtu_iru_config config = { .target_width = 4 };
	struct gtu_iru *iru = NULL;
	struct gtu_completion c;
	struct gtu_warp warp;
	struct gtu_array a;

	gtu_set_timeout(dev, 5000000);
	other = open_queue(dev, NULL);
	OK(gtu_submit(q, &d, NULL, &err));
	FAILS(gtu_next(q, GTU_FOREVER, &c, &err), GTU_ERR_TIMEOUT, "has not completed job 0 within 0.005 s");
	FAILS(gtu_next(q, 1000000, &c, &err), GTU_ERR_TIMEOUT, "within 0.001 s");
	/* a full ring without progress */
	for (unsigned i = 1; i < 8; i++)
		OK(gtu_submit(q, &nop, NULL, &err));
	FAILS(gtu_submit(q, &nop, NULL, &err), GTU_ERR_TIMEOUT, "has not completed job 0");
	/* a unit blocked by another stream */
	OK(gtu_region_alloc(dev, 4096, &s, &err));
	config.indices = gtu_array(&s, 0, 1000, 4);
	OK(gtu_iru_configure(other, &config, &iru, &err));
	FAILS(gtu_iru_load(iru, &warp, &err), GTU_ERR_TIMEOUT, "has not written record 0 of a stream within 0.005 s");
	gtu_iru_close(iru);
	a = gtu_array(&s, 0, 16, 4);
	OK(gtu_queue_reset(q, &err));
	OK(gtu_copy(other, &a, &a, &c, &err));
}

/* A PEG stream of 1000 vertices with 4 edges each, and a ring for 64 edges. */
static struct gtu_peg *peg_stream(struct gtu_queue *q, struct gtu_region *r)
{
	struct gtu_peg_config config = { .flags = GTU_PEG_WITH_DST, .ring_log2 = 1 };
	struct gtu_peg *peg = NULL;
	uint64_t *row;
	unsigned v;

	OK(gtu_region_alloc(gtu_queue_device(q), 65536, r, &err));
	row = r->addr;
	for (v = 0; v <= 1000; v++)
		row[v] = 4 * v;
	config.row = gtu_array(r, 0, 1001, 8);
	config.col = gtu_array(r, 32768, 4000, 4);
	OK(gtu_peg_configure(q, &config, &peg, &err));
	return peg;
}

/* A Weaver stream with work for its ring of 2 records and more; its first record is taken. */
static struct gtu_weaver *weaver_stream(struct gtu_queue *q, int rc, const char *words)
{
	const struct gtu_weaver_config config = { .ring_log2 = 1 };
	uint64_t vid[32] = { 0 }, start[32] = { 0 }, degree[32];
	struct gtu_weaver *w = NULL;
	unsigned l;

	for (l = 0; l < 32; l++)
		degree[l] = 1000;
	OK(gtu_weaver_configure(q, &config, &w, &err));
	OK(gtu_weaver_reg(w, 0, ~0u, vid, start, degree, &err));
	FAILS(gtu_weaver_dec_id(w, 0, vid, NULL, &err), rc, words);
	return w;
}

TEST(streams_blocked_by_others_time_out)
{
	struct gtu_queue *q, *other;
	struct gtu_device *dev = device(&q, 4, 4);
	struct gtu_weaver *weaver[2];
	struct gtu_peg_edges edges;
	struct gtu_region r[2];
	struct gtu_peg *peg[2];

	gtu_set_timeout(dev, 5000000);
	OK(gtu_queue_create(dev, NULL, &other, &err));
	peg[0] = peg_stream(q, &r[0]);
	CHECK_EQ(gtu_peg_next(peg[0], 0, &edges, &err), 1);
	peg[1] = peg_stream(other, &r[1]);
	FAILS(gtu_peg_next(peg[1], 0, &edges, &err), GTU_ERR_TIMEOUT, " made no progress within 0.005 s");
	gtu_peg_close(peg[1]);
	gtu_peg_close(peg[0]);
	weaver[0] = weaver_stream(q, 1, "");
	weaver[1] = weaver_stream(other, GTU_ERR_TIMEOUT, " made no progress within 0.005 s");
	gtu_weaver_close(weaver[1]);
	gtu_weaver_close(weaver[0]);
	gtu_queue_destroy(other);
}

TEST(a_submission_waits_for_a_full_ring)
{
	struct gtu_queue *q;
	struct gtu_device *dev = device(&q, 2, 6);
	struct gtu_hw_desc batch[4] = { nop, nop, nop, nop };
	struct gtu_completion c;
	unsigned i;

	gtu_set_timeout(dev, 10000000000u);
	for (i = 0; i < 15; i++)
		OK(gtu_submit_batch(q, batch, 1 + i % 4, NULL, &err));
	/* the status block is only informative: the content of the ring decides */
	((struct gtu_hw_queue_status *)(uintptr_t)q->rings.status)->sq_head = 0xdeadbeef;
	for (; i < 25; i++)
		OK(gtu_submit_batch(q, batch, 1 + i % 4, NULL, &err));
	FAILS(gtu_submit_batch(q, (struct gtu_hw_desc[5]){ nop }, 5, NULL, &err), GTU_ERR_USAGE, "has 4 entries");
	while (!gtu_submit_batch(q, batch, 4, NULL, &err))
		;
	CHECKF(err.code == GTU_ERR_USAGE && strstr(err.text, "take completions"), "%s", err.text);
	for (i = 0; q->consumed < q->submitted; i++) {
		OK(gtu_next(q, GTU_FOREVER, &c, &err));
		CHECK_EQ(c.job, i);
	}
	CHECKF(i > 60 && i <= 68, "%u jobs went in", i);
}

TEST(cancel_ends_jobs_up_to_the_given_one)
{
	struct gtu_queue *q;
	struct gtu_device *dev = device(&q, 4, 4);
	struct gtu_region r;
	struct gtu_hw_desc d = stuck(dev, &r);
	struct gtu_completion c;

	OK(gtu_cancel(q, GTU_ALL_JOBS, &err));
	FAILS(gtu_cancel(q, 0, &err), GTU_ERR_USAGE, "job 0 cannot be canceled: 0 were submitted");
	OK(gtu_submit(q, &d, NULL, &err));
	for (unsigned i = 1; i < 6; i++)
		OK(gtu_submit(q, &nop, NULL, &err));
	FAILS(gtu_next(q, 1000000, &c, &err), GTU_ERR_TIMEOUT, "job 0");
	FAILS(gtu_cancel(q, 6, &err), GTU_ERR_USAGE, "6 were submitted");
	OK(gtu_cancel(q, 2, &err));
	for (unsigned i = 0; i < 6; i++) {
		OK(gtu_next(q, GTU_FOREVER, &c, &err));
		CHECK_EQ(c.status, i <= 2 ? GTU_CPL_CANCELED : GTU_CPL_OK);
		if (i == 1)
			FAILS(gtu_completion_error(&nop, &c, &err), GTU_ERR_INTERRUPTED,
			      "nop: canceled before it started");
	}
	OK(gtu_cancel(q, 2, &err));		/* completed long ago */
	OK(gtu_cancel(q, GTU_ALL_JOBS, &err));
	for (unsigned i = 0; i < 3; i++)
		OK(gtu_submit(q, i ? &nop : &d, NULL, &err));
	OK(gtu_cancel(q, GTU_ALL_JOBS, &err));
	for (unsigned i = 0; i < 3; i++) {
		OK(gtu_next(q, GTU_FOREVER, &c, &err));
		CHECK_EQ(c.status, GTU_CPL_CANCELED);
	}
	OK(gtu_do(q, &nop, GTU_FOREVER, &c, &err));
	dev->info.caps &= ~GTU_CAP_CANCEL;	/* a device of version 1.0 */
	OK(gtu_submit(q, &nop, NULL, &err));
	FAILS(gtu_cancel(q, GTU_ALL_JOBS, &err), GTU_ERR_UNSUPPORTED, "cannot cancel jobs");
}

TEST(a_canceled_stream_ends_and_the_next_one_runs)
{
	struct gtu_queue *q;
	struct gtu_device *dev = device(&q, 4, 4);
	struct gtu_iru_config config = { .target_width = 4, .ring_log2 = 2 };
	struct gtu_iru *iru = NULL;
	struct gtu_region r;
	struct gtu_warp warp;
	unsigned records = 0;
	int rc;

	OK(gtu_region_alloc(dev, 400000, &r, &err));
	config.indices = gtu_array(&r, 0, 100000, 4);
	OK(gtu_iru_configure(q, &config, &iru, &err));
	CHECK_EQ(gtu_iru_load(iru, &warp, &err), 1);
	OK(gtu_cancel(q, GTU_ALL_JOBS, &err));
	while ((rc = gtu_iru_load(iru, &warp, &err)) == 1)
		records++;
	CHECKF(rc == GTU_ERR_INTERRUPTED && strstr(err.text, "canceled") && records < 1000, "%d %s", rc, err.text);
	OK(gtu_iru_configure(q, &config, &iru, &err));	/* the next stream works */
	for (records = 0; (rc = gtu_iru_load(iru, &warp, &err)) == 1; records++)
		;
	CHECK_EQ(rc, 0);
	CHECK(records > 3000);
	gtu_iru_close(iru);
}

/* Complete one job of @q without consuming its completion. */
static struct gtu_hw_cpl *completed(struct gtu_queue *q, struct gtu_queue *other)
{
	struct gtu_completion c;
	const uint64_t slot = q->submitted & ((1u << q->rings.cq_log2) - 1);

	OK(gtu_submit(q, &nop, NULL, &err));
	OK(gtu_do(other, &nop, GTU_FOREVER, &c, &err));
	OK(gtu_do(other, &nop, GTU_FOREVER, &c, &err));
	CHECK(gtu_completed(&q->rings, (uint32_t)(q->submitted - 1)));
	return &q->rings.cq[slot];
}

TEST(invalid_completions_are_reported)
{
	struct gtu_queue *q, *other;
	struct gtu_device *dev = device(&q, 4, 4);
	struct gtu_hw_queue_status *status = (void *)(uintptr_t)q->rings.status;
	struct gtu_hw_cpl *cpl;
	struct gtu_completion c;

	gtu_set_timeout(dev, 5000000);
	other = open_queue(dev, NULL);
	cpl = completed(q, other);
	cpl->sq_index = 7;
	FAILS(gtu_next(q, GTU_FOREVER, &c, &err), GTU_ERR_FAIL, "(ring entry 7) instead of job 0");
	cpl->sq_index = 0;
	cpl->cookie = ~0ull;
	FAILS(gtu_next(q, GTU_FOREVER, &c, &err), GTU_ERR_FAIL, "cannot be trusted");
	cpl->cookie = 0;
	cpl->status = GTU_CPL_COUNT;
	FAILS(gtu_next(q, GTU_FOREVER, &c, &err), GTU_ERR_FAIL, "status 16, which is undefined");
	cpl->status = 0;
	cpl->phase = 2;
	FAILS(gtu_next(q, GTU_FOREVER, &c, &err), GTU_ERR_TIMEOUT, "has not completed job 0");
	cpl->phase = 1;
	OK(gtu_next(q, GTU_FOREVER, &c, &err));
	/* an undefined state */
	OK(gtu_submit(q, &nop, NULL, &err));
	status->state = 77;
	FAILS(gtu_next(q, GTU_FOREVER, &c, &err), GTU_ERR_FAIL, "state reads 0x4d, which is undefined");
	FAILS(gtu_submit(q, &nop, NULL, &err), GTU_ERR_FAIL, "state reads 0x4d, which is undefined");
	status->state = ~0u;
	FAILS(gtu_next(q, GTU_FOREVER, &c, &err), GTU_ERR_DEVICE_LOST, "reads as all ones");
	status->state = GTU_QUEUE_ENABLED;
	OK(gtu_next(q, GTU_FOREVER, &c, &err));
}

TEST(an_invalid_index_of_a_stream_is_reported)
{
	struct gtu_queue *q, *other;
	struct gtu_device *dev = device(&q, 4, 4);
	struct gtu_iru_config config = { .target_width = 4, .ring_log2 = 2 };
	struct gtu_hw_desc hold;
	struct gtu_iru *iru = NULL;
	struct gtu_region r, s;
	struct gtu_warp warp;

	gtu_set_timeout(dev, 5000000);
	other = open_queue(dev, NULL);
	hold = stuck(dev, &s);
	OK(gtu_submit(other, &hold, NULL, &err));
	FAILS(gtu_next(other, 100000, &(struct gtu_completion){ 0 }, &err), GTU_ERR_TIMEOUT, "");
	OK(gtu_region_alloc(dev, 4096, &r, &err));
	config.indices = gtu_array(&r, 0, 1000, 4);
	OK(gtu_iru_configure(q, &config, &iru, &err));
	/* another stream owns the unit, so the device does not write these words */
	((struct gtu_hw_ring *)gtu_iru_ring(iru))->producer = 5;
	FAILS(gtu_iru_load(iru, &warp, &err), GTU_ERR_FAIL, "5 records written to a ring of 4");
	((struct gtu_hw_ring *)gtu_iru_ring(iru))->producer = 0;
	((struct gtu_hw_ring *)gtu_iru_ring(iru))->ended = 1;
	FAILS(gtu_iru_load(iru, &warp, &err), GTU_ERR_TIMEOUT, "has not completed job 0");
	gtu_iru_close(iru);
}

TEST_MAIN
