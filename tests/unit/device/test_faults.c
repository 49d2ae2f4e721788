// SPDX-License-Identifier: MIT
/*
 * Fault injection (fault.c), seen from registers and rings and from the library: nothing hangs,
 * nothing outside is accessed, and the user gets an error message.
 */
#include "tests/unit/fixture.h"
#include "tests/unit/library.h"

/* Include the backend's source to reach its model. */
#include "libruntime/backend/backend_model.c"

#define SLOTS (1u << FX_RING_LOG2)

static const struct gtu_hw_desc nop = { .opcode = GTU_OP_NOP };

static void faults(struct gtu_dev *dev, uint64_t corrupt, uint64_t invalidate, uint64_t reset, uint64_t seed)
{
	gtu_dev_set_faults(dev, &(struct gtu_dev_faults){ .corrupt_completions = corrupt, .stuck_reset = reset, .seed = seed,
							  .mbox[GTU_FAULT_NO_INVALIDATE] = invalidate });
}

/*
 * Run a ring of NOPs with corruption from job @from on; copies the completion ring and its status
 * to @cq.
 */
static void ring_of_nops(uint64_t from, uint64_t seed, uint8_t cq[GTU_CQ_BYTES(FX_RING_LOG2)])
{
	struct fx *f = fx_open(NULL, 1);

	faults(f->dev, from, 0, 0, seed);
	fx_submit_many(f, 0, &nop, SLOTS);
	for (unsigned i = 0; i < 1000 && gtu_dev_step(f->dev, 100); i++)
		;
	memcpy(cq, f->queue[0].cq, GTU_CQ_BYTES(FX_RING_LOG2));
}

TEST(corruption_starts_at_the_given_completion_and_depends_on_the_seed)
{
	static uint8_t a[GTU_CQ_BYTES(FX_RING_LOG2)], b[sizeof(a)], right[sizeof(a)];
	unsigned different = 0;
	uint64_t seed;

	ring_of_nops(0, 1, right);
	for (seed = 1; seed < 20; seed++) {
		ring_of_nops(4, seed, a);
		ring_of_nops(4, seed, b);
		CHECK(!memcmp(a, b, sizeof(a)));
		CHECK(!memcmp(a, right, 3 * sizeof(struct gtu_hw_cpl)));
		CHECK(memcmp(a, right, SLOTS * sizeof(struct gtu_hw_cpl)));
		ring_of_nops(4, seed + 100, b);
		different += memcmp(a, b, sizeof(a)) != 0;
	}
	CHECK(different > 15);
}

/*
 * A function-level reset with power loss: random aperture contents, a new epoch sequence. RESET
 * does neither.
 */
TEST(only_a_power_loss_overwrites_aperture_and_epoch)
{
	struct fx *f = fx_open(NULL, 1);
	uint64_t at, same = 0;

	gtu_dev_set_faults(f->dev, &(struct gtu_dev_faults){ .power_loss = 2, .seed = 7 });
	for (at = 0; at < 65536; at += 8)
		gtu_dev_write(f->dev, GTU_BAR_APERTURE, at, 8, at);
	gtu_dev_reset(f->dev);
	fx_put(f, GTU_REG_RESET, 4, GTU_RESET_KEY);
	CHECK(fx_reg(f, GTU_REG_EPOCH, 4) > 2);
	for (at = 0; at < 65536; at += 8)
		same += gtu_dev_read(f->dev, GTU_BAR_APERTURE, at, 8) == at;
	CHECK_EQ(same, 65536 / 8);
	gtu_dev_reset(f->dev);
	CHECK_EQ(fx_reg(f, GTU_REG_EPOCH, 4), 1);
	for (same = at = 0; at < 65536; at += 8)
		same += gtu_dev_read(f->dev, GTU_BAR_APERTURE, at, 8) == at;
	CHECK(same < 4);
}

TEST(each_kind_of_corruption_occurs)
{
	unsigned phase = 0, index = 0, status = 0, cookie = 0, count = 0, state = 0, tail = 0;
	static uint8_t ring[GTU_CQ_BYTES(FX_RING_LOG2)];
	const struct gtu_hw_cpl *c = (void *)ring;
	const struct gtu_hw_queue_status *s = (void *)(ring + SLOTS * sizeof(*c));
	uint64_t seed;

	for (seed = 1; seed < 100; seed++) {
		ring_of_nops(1, seed, ring);
		for (unsigned i = 0; i < SLOTS; i++) {
			phase += c[i].phase != 1;
			index += c[i].sq_index != i;
			status += c[i].status >= GTU_CPL_COUNT;
			cookie += c[i].cookie != 0;
			count += c[i].count != 0;
		}
		state += s->state != GTU_QUEUE_ENABLED;
		tail += s->cq_tail != SLOTS;
	}
	CHECKF(phase && index && status && cookie && count && state && tail, "%u %u %u %u %u %u %u", phase, index,
	       status, cookie, count, state, tail);
}

TEST(events_name_wrong_queues)
{
	struct fx *f = fx_open(NULL, 1);
	struct fx_buffer *e = fx_buffer(f, 4096);
	const uint64_t ring[4] = { 0, e->bus, 8, 1 };
	unsigned wrong = 0, i;

	fx_mailbox(f, GTU_MBOX_EVENT_ENABLE, 4, ring);
	fx_queue_open(f, 1, 0, 0);
	faults(f->dev, 1, 0, 0, 5);
	for (i = 0; i < SLOTS; i++) {
		fx_doorbell(f, 1, GTU_DB_ARM, i);
		fx_submit_to(f, 1, &nop);
		while (gtu_dev_step(f->dev, 10))
			;
	}
	for (i = 0; i < SLOTS; i++) {
		const uint32_t word = ((uint32_t *)e->at)[i];

		CHECK(word & GTU_EVENT_PHASE);
		wrong += (word & ~GTU_EVENT_PHASE) != 1;
	}
	CHECKF(wrong > 2 && wrong < SLOTS, "%u of %u", wrong, SLOTS);
	CHECK_EQ(f->irqs[1], SLOTS);
}

TEST(a_stuck_invalidate_keeps_the_mailbox_busy_until_reset)
{
	struct fx *f = fx_open(NULL, 1);
	const uint64_t arg[2] = { 0, 3 };

	faults(f->dev, 0, 2, 0, 0);
	fx_command(f, GTU_MBOX_INVALIDATE, 2, arg);
	fx_mailbox(f, GTU_MBOX_INVALIDATE, 2, arg);
	CHECK_EQ(fx_mailbox_status(f), GTU_MBOX_BUSY);
	/* arguments and commands are ignored while it is busy */
	fx_put(f, GTU_REG_MBOX_ARG(1), 8, 77);
	CHECK_EQ(fx_reg(f, GTU_REG_MBOX_ARG(1), 8), 3);
	fx_mailbox(f, GTU_MBOX_NOP, 0, NULL);
	CHECK_EQ(fx_mailbox_status(f), GTU_MBOX_BUSY);
	/* jobs still run, and a reset clears the mailbox */
	CHECK_EQ(fx_do(f, &nop, 0).status, GTU_CPL_OK);
	gtu_dev_reset(f->dev);
	fx_command(f, GTU_MBOX_NOP, 0, NULL);
}

TEST(a_stuck_query_keeps_the_mailbox_busy_until_reset)
{
	struct fx *f = fx_open(NULL, 1);
	const uint64_t queue = 0, region[2] = { 0, 3 };

	gtu_dev_set_faults(f->dev, &(struct gtu_dev_faults){ .mbox[GTU_FAULT_NO_QUEUE_STATE] = 2 });
	fx_command(f, GTU_MBOX_QUEUE_STATE, 1, &queue);
	fx_command(f, GTU_MBOX_INVALIDATE, 2, region);
	fx_mailbox(f, GTU_MBOX_QUEUE_STATE, 1, &queue);
	CHECK_EQ(fx_mailbox_status(f), GTU_MBOX_BUSY);
	gtu_dev_reset(f->dev);
	fx_command(f, GTU_MBOX_NOP, 0, NULL);
}

/* The device refuses the commands from the second on, or every second one. */
TEST(refused_commands_change_nothing)
{
	struct fx *f = fx_open(NULL, 1);
	const uint64_t queue = 0, context = 1;
	unsigned i;

	gtu_dev_set_faults(f->dev, &(struct gtu_dev_faults){ .mbox[GTU_FAULT_REFUSE_QUEUE_STATE] = 2,
							     .mbox[GTU_FAULT_REFUSE_DISABLE] = 2 });
	fx_context_open(f, context, 1);
	fx_command(f, GTU_MBOX_QUEUE_STATE, 1, &queue);
	fx_command(f, GTU_MBOX_CTX_DISABLE, 1, &context);
	for (i = 0; i < 3; i++) {
		fx_mailbox(f, GTU_MBOX_QUEUE_STATE, 1, &queue);
		CHECK_EQ(fx_mailbox_status(f), GTU_MBOX_E_INDEX);
		fx_mailbox(f, GTU_MBOX_QUEUE_DISABLE, 1, &queue);
		CHECK_EQ(fx_mailbox_status(f), GTU_MBOX_E_INDEX);
	}
	CHECK_EQ(fx_do(f, &nop, 0).status, GTU_CPL_OK);
	gtu_dev_set_faults(f->dev, &(struct gtu_dev_faults){ .mbox[GTU_FAULT_REFUSE_ENABLE] = 2 });
	for (i = 0; i < 4; i++) {
		const uint64_t arg[4] = { context, f->buffer[0].bus, FX_TABLE_LOG2, 1 };

		fx_mailbox(f, GTU_MBOX_CTX_ENABLE, 4, arg);
		CHECK_EQ(fx_mailbox_status(f), i % 2 ? GTU_MBOX_E_INDEX : GTU_MBOX_E_OK);
		if (i % 2 == 0)
			fx_command(f, GTU_MBOX_CTX_DISABLE, 1, &context);
	}
}

TEST(false_counters_start_at_the_given_command)
{
	struct fx *f = fx_open(NULL, 1);
	const uint64_t context = 0;

	gtu_dev_set_faults(f->dev, &(struct gtu_dev_faults){ .mbox[GTU_FAULT_FALSE_COUNTERS] = 2 });
	fx_command(f, GTU_MBOX_CTX_COUNTERS, 1, &context);
	CHECK_EQ(gtu_dev_read(f->dev, 0, GTU_REG_MBOX_RESULT(0), 8), 0);
	fx_command(f, GTU_MBOX_CTX_COUNTERS, 1, &context);
	CHECK_EQ(gtu_dev_read(f->dev, 0, GTU_REG_MBOX_RESULT(2), 8), UINT64_MAX);
}

TEST(a_late_status_delays_the_step_of_a_completion)
{
	const struct gtu_hw_desc nop = { .opcode = GTU_OP_NOP };
	struct fx *f = fx_open(NULL, 1);
	struct timespec from, to;

	gtu_dev_set_faults(f->dev, &(struct gtu_dev_faults){ .late_status = 1 });
	clock_gettime(CLOCK_MONOTONIC, &from);
	CHECK_EQ(fx_do(f, &nop, 0).status, GTU_CPL_OK);
	clock_gettime(CLOCK_MONOTONIC, &to);
	CHECK((to.tv_sec - from.tv_sec) * 1000000000 + to.tv_nsec - from.tv_nsec >= 500000);
}

TEST(a_stuck_reset_leaves_the_device_not_ready)
{
	struct fx *f = fx_open(NULL, 1);

	faults(f->dev, 0, 0, 2, 0);
	gtu_dev_reset(f->dev);
	CHECK(fx_reg(f, GTU_REG_STATUS, 4) & GTU_STATUS_READY);
	for (unsigned i = 0; i < 3; i++) {
		fx_put(f, GTU_REG_RESET, 4, GTU_RESET_KEY);
		CHECK(!(fx_reg(f, GTU_REG_STATUS, 4) & GTU_STATUS_READY));
		fx_mailbox(f, GTU_MBOX_NOP, 0, NULL);
		CHECK_EQ(fx_mailbox_status(f), GTU_MBOX_BUSY);
		CHECK_EQ(fx_reg(f, GTU_REG_MAGIC, 4), GTU_MAGIC);
	}
}

/* ---- The library ----------------------------------------------------------------------------- */

static void check_message(int rc, uint64_t seed, const char *what)
{
	CHECKF(!rc || strlen(err.text) > 10, "seed %" PRIu64 ", %s: error %d has no message", seed, what, rc);
}

/* Run jobs one by one until one fails; returns the number that succeeded. */
static unsigned nops(struct gtu_queue *q, uint64_t seed)
{
	struct gtu_completion c;
	unsigned i;
	int rc = 0;

	for (i = 0; i < 30 && !rc; i++) {
		err.text[0] = 0;
		rc = gtu_do(q, &nop, GTU_FOREVER, &c, &err);
		check_message(rc, seed, "nop");
	}
	return i - !!rc;
}

TEST(the_library_reports_corruption_and_recovers)
{
	unsigned failed = 0, reset = 0;
	uint64_t seed;

	for (seed = 1; seed <= 200; seed++) {
		struct gtu_device *dev = open_model("model");
		struct gtu_queue *q = open_queue(dev, NULL);

		gtu_set_timeout(dev, 2000000);
		faults(((struct model *)dev->backend)->dev, 5, 0, 0, seed);
		CHECK(nops(q, seed) >= 4);
		failed += nops(q, seed) < 30;
		/* without faults, a reset queue works again */
		faults(((struct model *)dev->backend)->dev, 0, 0, 0, 0);
		OK(gtu_queue_reset(q, &err));
		CHECK_EQ(nops(q, seed), 30);
		reset++;
		test_end(NULL);
	}
	CHECKF(failed > 150 && reset == 200, "%u of 200", failed);
}

TEST(algorithms_report_corruption)
{
	static const uint32_t unit[] = { GTU_WITH_SCU_BASIC, GTU_WITH_SCU, GTU_WITH_IRU };
	struct gtu_graph *g = generate((struct gtu_generate_options){ .kind = GTU_GEN_KRONECKER, .scale = 8, .degree = 8 });
	uint64_t *level = test_alloc(g->n, 8), seed;
	unsigned failed = 0;
	void *mark = test_mark();

	for (seed = 1; seed <= 150; seed++) {
		struct gtu_algorithm_options opt = { .unit = unit[seed % 3], .chunk_log2 = 6 };
		struct gtu_device *dev = open_model("model");
		int rc;

		gtu_set_timeout(dev, 2000000);
		faults(((struct model *)dev->backend)->dev, 1 + seed % 40, 0, 0, seed);
		err.text[0] = 0;
		rc = gtu_bfs(dev, g, &opt, level, NULL, &err);
		check_message(rc, seed, "bfs");
		failed += rc != 0;
		test_end(mark);
	}
	CHECKF(failed > 100, "%u of 150", failed);
}

/*
 * Every algorithm on every unit that outputs records: forged records must not index outside its
 * arrays.
 */
TEST(forged_records_are_reported)
{
	static const uint32_t unit[] = { GTU_WITH_IRU, GTU_WITH_PEG, GTU_WITH_WEAVER };
	struct gtu_graph *g = generate((struct gtu_generate_options){
		.kind = GTU_GEN_KRONECKER, .scale = 8, .degree = 8, .random_weights = 9 });
	uint64_t *integer = test_alloc(g->n, 8), seed;
	double *real = test_alloc(g->n, 8);
	unsigned failed = 0, detected = 0;
	void *mark = test_mark();

	for (seed = 1; seed <= 240; seed++) {
		struct gtu_algorithm_options opt = { .unit = unit[seed % 3], .chunk_log2 = 6, .iterations = 2 };
		struct gtu_device *dev = open_model("model");
		int rc;

		gtu_set_timeout(dev, 2000000);
		gtu_dev_set_faults(((struct model *)dev->backend)->dev,
				   &(struct gtu_dev_faults){ .forge_records = 1 + seed % 50, .seed = seed });
		err.text[0] = 0;
		switch (seed / 3 % 4) {
		case 0: rc = gtu_bfs(dev, g, &opt, integer, NULL, &err); break;
		case 1: rc = gtu_sssp(dev, g, &opt, real, NULL, &err); break;
		case 2: rc = gtu_pagerank(dev, g, &opt, real, NULL, &err); break;
		default: rc = gtu_components(dev, g, &opt, integer, NULL, &err);
		}
		check_message(rc, seed, "forged");
		failed += rc != 0;
		detected += rc == GTU_ERR_FAIL && strstr(err.text, "trusted");
		test_end(mark);
	}
	/* a missing lane, or another vertex of the graph, cannot be detected */
	CHECKF(failed > 120 && detected > 60, "%u of 240 failed, %u as untrusted", failed, detected);
}

TEST_MAIN
