// SPDX-License-Identifier: MIT
/*
 * Tests how contexts and queues share a unit that belongs to one job until it ends (Documentation/hardware.md,
 * section 6).
 */
#include "firmware-model/device/core.h"
#include "tests/unit/fixture.h"

#define NEVER UINT64_MAX
#define G(group, weight) (GTU_MBOX_CTX_GROUP(group) | (weight))
#define STEP (1u << 23)			/* cycles of wall time between two looks at the rings */

/* A queue that always has two streams of @indices, in rings of @records. */
struct user {
	unsigned context, weight;	/* or weight | GTU_MBOX_CTX_GROUP(n) */
	uint32_t indices, records;
	uint64_t late;			/* wall time, in cycles, after which the consumer takes the records of a stream */
};

struct sharing {
	struct fx *f;
	const struct user *user;
	struct gtu_hw_desc job[FX_QUEUES][2];
	struct gtu_hw_ring *ring[FX_QUEUES][2];
	uint64_t waited[FX_QUEUES];	/* for the consumer, by the present stream */
	unsigned done[FX_QUEUES];
	uint64_t held[4];		/* by contexts: wall time for which their streams waited for consumers */
};

static void open_users(struct sharing *s, const struct user *user, unsigned n)
{
	*s = (struct sharing){ .f = fx_open(NULL, 1), .user = user };
	for (unsigned u = 0; u < n; u++) {
		if (user[u].context && user[u].context != user[u - 1].context)
			fx_context_open(s->f, user[u].context, user[u].weight);
		if (u)
			fx_queue_open(s->f, u, user[u].context, GTU_RING_NONE);
		for (unsigned i = 0; i < 2; i++)
			s->job[u][i] = fx_stream(s->f, user[u].indices, user[u].records, 0, &s->ring[u][i]);
	}
}

/* Count what queue @u has completed, and submit again. */
static void refill(struct sharing *s, unsigned u)
{
	struct fx_queue *q = &s->f->queue[u];
	struct gtu_hw_cpl c;

	for (; fx_poll(s->f, u, &c); s->done[u]++, s->waited[u] = 0)
		CHECK(c.status == GTU_CPL_OK || (s->user[u].late == NEVER && c.status >= GTU_CPL_STALLED));
	for (; q->tail - q->head < 2; fx_submit_to(s->f, u, &s->job[u][q->tail & 1]))
		s->ring[u][q->tail & 1]->consumer = 0;
}

static void take(struct sharing *s, unsigned u, struct gtu_hw_ring *ring)
{
	ring->consumer = ring->producer;
	fx_doorbell(s->f, u, GTU_DB_KICK, 1);
}

static struct gtu_hw_ring *ring_of(struct sharing *s, unsigned u)
{
	return s->ring[u][s->f->queue[u].head & 1];
}

/* Run what can run, then let @cycles of wall time pass. */
static void pass(struct sharing *s, uint64_t cycles)
{
	while (gtu_dev_pending(s->f->dev))
		gtu_dev_step(s->f->dev, 1 << 12);
	gtu_dev_idle(s->f->dev, cycles);
}

/* Take the records of a stream of user @u until it waits no more. */
static void drain(struct sharing *s, unsigned u, struct gtu_hw_ring *ring)
{
	for (unsigned n = 0; ring->waiting; n++) {
		CHECK(n < 100);
		take(s, u, ring);
		fx_run(s->f, 1 << 16);
	}
}

/* Submit a stream of user @u, whose records all fit, if the one before has ended. */
static void submit_one(struct sharing *s, unsigned u)
{
	struct gtu_hw_cpl c;

	s->done[u] += fx_poll(s->f, u, &c);
	if (s->f->queue[u].tail != s->f->queue[u].head)
		return;
	s->ring[u][0]->consumer = 0;
	fx_submit_to(s->f, u, &s->job[u][0]);
}

/* Count the wall time for which user @u waits for his consumer, who is late. */
static void wait_late(struct sharing *s, unsigned u)
{
	const uint64_t step = ring_of(s, u)->waiting ? STEP : 0;

	s->held[s->user[u].context] += step;
	s->waited[u] += step;
	if (s->waited[u] >= s->user[u].late)
		take(s, u, ring_of(s, u));
}

/* Run users 0 to @n - 1 for @time cycles of wall time. */
static void run_late(struct sharing *s, unsigned n, uint64_t time)
{
	for (uint64_t now = 0; now < time; now += STEP) {
		for (unsigned u = 0; u < n; u++) {
			refill(s, u);
			wait_late(s, u);
		}
		pass(s, STEP);
	}
}

/* Run users 0 to @n - 1 for @time cycles of the device in steps of @step; consumers do not keep it waiting. */
static void run_prompt(struct sharing *s, unsigned n, uint64_t time, uint64_t step)
{
	const uint64_t start = s->f->dev->cycles;

	while (s->f->dev->cycles - start < time) {
		for (unsigned u = 0; u < n; u++) {
			refill(s, u);
			if (ring_of(s, u)->waiting)
				take(s, u, ring_of(s, u));
		}
		gtu_dev_step(s->f->dev, step);
	}
}

static void check_part(double got, double fair, const char *what)
{
	CHECKF(got > 0.85 * fair && got < 1.15 * fair, "%s has %.3f, and should have about %.3f", what, got, fair);
}

/* ---- Contexts ---------------------------------------------------------------------------------- */

TEST(a_context_pays_for_the_time_it_keeps_a_unit_from_others)
{
	static const struct user users[] = {
		{ 0, 1, 1000, 2, NEVER }, { 0, 1, 1000, 2, NEVER }, { 0, 1, 1000, 2, NEVER }, { 1, 1, 1000, 2, 1 << 26 },
		{ 2, 2, 1000, 2, 1 << 24 }, { 3, 1, 1000, 2, 1 << 25 },
	};
	const uint64_t time = 1ull << 35;
	struct sharing s;
	unsigned n;

	open_users(&s, users, 6);
	run_late(&s, 5, time);
	for (n = 0; n < 3; n++)		/* weights 1, 1 and 2 */
		check_part((double)s.held[n] / (double)time, n < 2 ? 0.25 : 0.5, "a context of three");
	/* a context that did not use the unit before gets its part from then on, not what it did not use */
	memset(s.held, 0, sizeof(s.held));
	run_late(&s, 6, time);
	for (n = 0; n < 4; n++)
		check_part((double)s.held[n] / (double)time, n == 2 ? 0.4 : 0.2, "a context of four");
}

/* A job that fails before it runs: the next one of the queue that had the unit for which another waits. */
TEST(time_passes_with_all_cycles_of_the_device)
{
	static const struct user users[] = { { 0, 1, 1000, 2, 0 }, { 1, 1, 1000, 1024, 0 } };
	const struct gtu_hw_desc invalid = { .opcode = 0xff };
	struct gtu_hw_cpl c;
	struct sharing s;
	uint64_t cycles;

	open_users(&s, users, 2);
	cycles = s.f->dev->time - s.f->dev->cycles;
	for (unsigned u = 0; u < 2; u++) {
		fx_submit_run(s.f, u, &s.job[u][0]);
		fx_submit_run(s.f, u, &invalid);
	}
	drain(&s, 0, s.ring[0][0]);
	for (unsigned u = 0; u < 2; u++)
		CHECK(fx_poll(s.f, u, &c) && c.status == GTU_CPL_OK && fx_poll(s.f, u, &c) && c.status == GTU_CPL_OPCODE);
	CHECK_EQ(s.f->dev->time - s.f->dev->cycles, cycles);
}

TEST(a_context_does_not_pay_for_a_unit_that_others_do_not_want)
{
	static const struct user users[] = { { 0, 1, 1000, 2, 0 }, { 0, 1, 1000, 2, 0 }, { 1, 1, 1000, 2, 0 } };
	struct sharing s;

	open_users(&s, users, 3);
	refill(&s, 0);
	fx_run(s.f, 1 << 16);
	refill(&s, 1);			/* waits, too, but of the same context */
	fx_run(s.f, 1 << 16);
	gtu_dev_idle(s.f->dev, 1 << 29);
	refill(&s, 2);
	fx_run(s.f, 1 << 16);
	gtu_dev_idle(s.f->dev, 1 << 24);
	/* charged 2^24 cycles, not 2^29: after 2^26 cycles of the other it is its turn again */
	drain(&s, 0, s.ring[0][0]);
	CHECK_EQ(s.ring[2][0]->waiting, 1);
	gtu_dev_idle(s.f->dev, 1 << 26);
	drain(&s, 2, s.ring[2][0]);
	CHECK(s.ring[0][1]->waiting + s.ring[1][0]->waiting == 1 && s.ring[2][1]->waiting == 0);
}

TEST(debts_end_while_no_job_waits)
{
	static const struct user users[] = { { 0, 1, 1000, 2, 0 }, { 1, 1, 1000, 1024, 0 } };
	struct sharing s;
	struct gtu_hw_cpl c;

	open_users(&s, users, 2);
	fx_submit_run(s.f, 0, &s.job[0][0]);
	fx_submit_run(s.f, 1, &s.job[1][0]);
	gtu_dev_idle(s.f->dev, 1 << 29);
	drain(&s, 0, s.ring[0][0]);
	CHECK(fx_poll(s.f, 0, &c) && fx_poll(s.f, 1, &c) && !gtu_dev_busy(s.f->dev));
	gtu_dev_idle(s.f->dev, 1 << 29);
	run_prompt(&s, 2, 2000000, 100);
	CHECKF(s.done[0] > 100 && s.done[0] > s.done[1] / 2, "%u and %u streams", s.done[0], s.done[1]);
}

/* Each queue fetches its next job before the unit is given to another: also after a job that did not end by itself. */
static void end_by(bool cancel, unsigned *done)
{
	static const struct user users[] = {
		{ 0, 1, 1000, 2, NEVER }, { 1, 16, 1000, 2, NEVER }, { 2, 1, 1000, 2, NEVER },
	};
	struct sharing s;

	open_users(&s, users, 3);
	for (unsigned n = 0; n < 2000; n++) {
		unsigned u;

		for (u = 1; u < 3; u++)
			refill(&s, u);
		pass(&s, 1 << 26);
		u = ring_of(&s, 1)->waiting ? 1 : 2;
		if (cancel)
			fx_command(s.f, GTU_MBOX_QUEUE_CANCEL, 2, (uint64_t[]){ u, s.f->queue[u].head + 1 });
	}
	memcpy(done, s.done, sizeof(s.done));
}

TEST(weights_count_for_streams_that_end_by_stalling_or_cancel)
{
	unsigned done[FX_QUEUES];

	for (unsigned cancel = 0; cancel < 2; cancel++) {
		end_by(cancel, done);
		CHECKF(done[1] > 10 * done[2] && done[2] > 2, "%u and %u streams by weights 16 and 1", done[1], done[2]);
	}
}

TEST(shares_do_not_depend_on_the_size_of_a_step)
{
	static const struct user users[] = { { 0, 1, 100000, 256, 0 }, { 1, 1, 100000, 8192, 0 } };

	for (uint64_t step = 256; step <= 1 << 20; step *= 16) {
		struct sharing s;

		open_users(&s, users, 2);
		run_prompt(&s, 2, 8000000, step);
		check_part((double)s.f->dev->context[0].cycles / (double)s.f->dev->cycles, 0.5, "a context whose ring fills");
		test_end(NULL);
	}
}

TEST(a_context_pays_for_time_in_which_its_other_jobs_run)
{
	static const struct user users[] = {
		{ 0, 1, 100000, 8192, 0 }, { 0, 1, 100, 8, 0 }, { 0, 1, 100, 8, 0 }, { 0, 1, 100, 8, 0 }, { 1, 1, 100000, 8192, 0 },
	};
	uint64_t held[2] = { 0 }, start, owned;
	struct sharing s;

	open_users(&s, users, 5);
	for (unsigned u = 1; u < 4; u++)
		s.job[u][0] = s.job[u][1] = fx_fill(s.f, 1 << 20);
	start = s.f->dev->cycles;
	while ((owned = s.f->dev->cycles) - start < 12000000) {
		const struct gtu_hwq *owner = s.f->dev->page[__builtin_ctz(GTU_UNIT_IRU)].owner;

		run_prompt(&s, 5, 1, 1000);
		if (owner)
			held[owner->context] += s.f->dev->cycles - owned;
	}
	check_part((double)held[0] / (double)(held[0] + held[1]), 0.5, "a context that also fills memory");
}

/*
 * Run contexts 1 to @n - 1, without consumers, beside context 0, which submits a stream at the first look after the one
 * before has ended. Returns the part of the time in which no other context's stream waited.
 */
static double run_beside_hogs(struct sharing *s, unsigned n, uint64_t time, void (*before_look)(struct sharing *s))
{
	uint64_t held = 0;

	for (uint64_t now = 0; now < time; now += STEP) {
		if (before_look)
			before_look(s);
		submit_one(s, 0);
		for (unsigned u = 1; u < n; u++) {
			refill(s, u);
			held += ring_of(s, u)->waiting ? STEP : 0;
		}
		pass(s, STEP);
	}
	return 1 - (double)held / (double)time;
}

TEST(a_context_with_one_stream_at_a_time_has_its_part_beside_hangs)
{
	static const struct user users[] = { { 0, 1, 1000, 1024, 0 }, { 1, 1, 1000, 2, NEVER }, { 2, 1, 1000, 2, NEVER } };
	const uint64_t time = 1ull << 36;

	for (unsigned n = 2; n <= 3; n++) {
		struct sharing s;

		open_users(&s, users, n);
		check_part(run_beside_hogs(&s, n, time, NULL), 1.0 / n, "a context with one stream at a time");
		check_part((double)s.done[0] * STEP / (double)time, 1.0 / n, "its streams, one a look");
		test_end(NULL);
	}
}

/* The same with a stream that runs for long, and never waits. */
TEST(a_context_with_one_stream_at_a_time_has_its_part_beside_long_streams)
{
	static const struct user users[] = { { 0, 1, 1000, 1024, 0 }, { 1, 1, 100000, 8192, 0 } };
	uint64_t start, spent = 0;
	struct gtu_hw_cpl c;
	struct sharing s;

	open_users(&s, users, 2);
	for (start = s.f->dev->cycles; s.f->dev->cycles - start < 1 << 24; gtu_dev_step(s.f->dev, 1 << 10)) {
		refill(&s, 1);
		if (fx_poll(s.f, 0, &c))
			spent += c.cycles;
		else if (s.f->queue[0].tail != s.f->queue[0].head)
			continue;
		s.ring[0][0]->consumer = 0;
		fx_submit_to(s.f, 0, &s.job[0][0]);
	}
	check_part((double)spent / (1 << 24), 0.5, "a context with one stream at a time");
}

/* A stream of context 1 ends while another one of context 0 waits, which has kept the unit from it. */
static void keep_free(struct sharing *s)
{
	static const struct user users[] = { { 0, 1, 1000, 2, NEVER }, { 1, 1, 1000, 1024, 0 } };
	struct gtu_hw_cpl c;

	open_users(s, users, 2);
	fx_submit_run(s->f, 0, &s->job[0][0]);
	fx_submit_run(s->f, 0, &s->job[0][1]);
	fx_submit_run(s->f, 1, &s->job[1][0]);
	gtu_dev_idle(s->f->dev, 1 << 29);
	fx_command(s->f, GTU_MBOX_QUEUE_CANCEL, 2, (uint64_t[]){ 0, 1 });
	fx_run(s->f, 1 << 16);
	CHECK(fx_poll(s->f, 0, &c) && fx_poll(s->f, 1, &c));
}

TEST(a_unit_is_kept_free_for_a_context_that_had_it_for_a_short_time)
{
	uint64_t waited = 0;
	struct sharing s;

	keep_free(&s);
	for (; !s.ring[0][1]->waiting && waited < 1ull << 34; waited += STEP / 8) {
		gtu_dev_idle(s.f->dev, STEP / 8);
		fx_run(s.f, 1 << 16);
	}
	CHECK_EQ(waited, GTU_EXPECTED);
}

/* The doorbell comes in time, and the device looks at it late. */
TEST(a_unit_is_not_given_away_while_the_doorbell_of_its_context_waits)
{
	struct gtu_hw_cpl c;
	struct sharing s;

	keep_free(&s);
	s.ring[1][0]->consumer = 0;
	fx_submit_to(s.f, 1, &s.job[1][0]);
	gtu_dev_idle(s.f->dev, GTU_EXPECTED);
	fx_run(s.f, 1 << 16);
	CHECK(fx_poll(s.f, 1, &c));
}

/* Context 2 has the unit for itself, after a debt of context 1; then context 0 comes. */
TEST(a_context_that_nobody_waits_for_has_no_credit_against_those_that_come)
{
	static const struct user users[] = {
		{ 0, 1, 1000, 1024, 0 }, { 1, 1, 1000, 2, NEVER }, { 2, 1, 1000, 2, NEVER },
	};
	struct gtu_hw_cpl c;
	struct sharing s;

	open_users(&s, users, 3);
	fx_submit_run(s.f, 1, &s.job[1][0]);
	fx_submit_run(s.f, 2, &s.job[2][0]);
	fx_submit_run(s.f, 2, &s.job[2][1]);
	gtu_dev_idle(s.f->dev, 1 << 29);
	fx_command(s.f, GTU_MBOX_QUEUE_CANCEL, 2, (uint64_t[]){ 1, 1 });
	fx_run(s.f, 1 << 16);
	gtu_dev_idle(s.f->dev, 1 << 29);	/* no job waits */
	fx_submit_run(s.f, 0, &s.job[0][0]);
	fx_submit_run(s.f, 0, &s.job[0][1]);
	gtu_dev_idle(s.f->dev, 1 << 28);
	CHECK(!fx_poll(s.f, 0, &c) && s.ring[2][0]->waiting);
	fx_command(s.f, GTU_MBOX_QUEUE_CANCEL, 2, (uint64_t[]){ 2, 1 });
	fx_run(s.f, 1 << 16);
	CHECK(fx_poll(s.f, 0, &c) && fx_poll(s.f, 0, &c) && c.status == GTU_CPL_OK);
}

/* Streams of one index of three contexts do not keep out a context whose consumer is slow. */
TEST(contexts_pay_for_the_time_in_which_a_unit_is_kept_free_for_them)
{
	static const struct user users[] = {
		{ 0, 1, 1000, 2, 1 << 26 }, { 1, 1, 1, 2, 0 }, { 2, 1, 1, 2, 0 }, { 3, 1, 1, 2, 0 },
	};
	const uint64_t time = 1ull << 34;
	struct sharing s;

	open_users(&s, users, 4);
	for (uint64_t now = 0; now < time; now += STEP) {
		refill(&s, 0);
		for (unsigned u = 1; u < 4; u++)
			submit_one(&s, u);
		wait_late(&s, 0);
		pass(&s, STEP);
	}
	CHECKF((double)s.held[0] / (double)time > 0.2, "a context of four has %.3f", (double)s.held[0] / (double)time);
}

static void renew_hog(struct sharing *s)
{
	const uint64_t hog = 1;

	s->waited[hog] += ring_of(s, hog)->waiting ? STEP : 0;
	if (s->waited[hog] < 1 << 26)
		return;
	s->waited[hog] = ring_of(s, hog)->waiting = 0;
	fx_command(s->f, GTU_MBOX_CTX_DISABLE, 1, &hog);
	fx_context_open(s->f, hog, 1);
	fx_queue_open(s->f, 1, hog, GTU_RING_NONE);
}

TEST(a_new_context_owes_what_the_last_one_of_its_number_did)
{
	static const struct user users[] = { { 0, 1, 1000, 1024, 0 }, { 1, 1, 1000, 2, NEVER } };
	struct sharing s;

	open_users(&s, users, 2);
	check_part(run_beside_hogs(&s, 2, 1ull << 33, renew_hog), 0.5, "a context beside one that is always new");
}

/* ---- Groups ------------------------------------------------------------------------------------ */

TEST(a_group_has_the_part_of_one_context_and_its_contexts_share_that)
{
	static const struct user users[] = {
		{ 0, 1, 1000, 2, NEVER }, { 1, G(9, 1), 1000, 2, NEVER }, { 2, G(9, 2), 1000, 2, 1 << 26 },
		{ 3, G(9, 1), 1000, 2, NEVER },
	};
	static const double part[] = { 0.5, 0.125, 0.25, 0.125 };
	const uint64_t time = 1ull << 36;
	struct sharing s;

	open_users(&s, users, 4);
	run_late(&s, 4, time);
	for (unsigned n = 0; n < 4; n++)
		check_part((double)s.held[n] / (double)time, part[n], n ? "a context of a group" : "the context alone");
}

/* The same of jobs that can be interrupted, and weights of groups: that of the context that joined last. */
TEST(groups_share_the_time_of_jobs_that_can_be_interrupted)
{
	static const uint64_t how[] = { 0, G(9, 1), G(9, 2), G(9, 2) };
	static const double part[] = { 1. / 3, 2. / 15, 4. / 15, 4. / 15 };
	struct fx *f = fx_open(NULL, 1);
	struct gtu_hw_desc job = fx_fill(f, 1 << 20);
	uint64_t start;
	unsigned n;

	for (n = 1; n < 4; n++) {
		fx_context_open(f, n, how[n]);
		fx_queue_open(f, n, n, GTU_RING_NONE);
	}
	for (start = f->dev->cycles; f->dev->cycles - start < 40000000; gtu_dev_step(f->dev, 10000)) {
		for (n = 0; n < 4; n++) {
			struct gtu_hw_cpl c;

			while (fx_poll(f, n, &c))
				;
			while (f->queue[n].tail - f->queue[n].head < 2)
				fx_submit_to(f, n, &job);
		}
	}
	for (n = 0; n < 4; n++)
		check_part((double)f->dev->context[n].cycles / (double)(f->dev->cycles - start), part[n], "a context");
}

/* A fetch takes two turns at once, after which the deficits of all groups are negative. */
TEST(long_fetches_leave_each_group_its_part)
{
	const struct gtu_dev_config config = { .scu_latency = 2 * GTU_QUANTUM };
	struct fx *f = fx_open(&config, 1);
	const struct gtu_hw_desc job[] = { fx_fill(f, 32), fx_fill(f, 32 * GTU_QUANTUM) };

	fx_context_open(f, 1, 1);
	fx_queue_open(f, 1, 1, GTU_RING_NONE);
	for (uint64_t start = f->dev->cycles; f->dev->cycles - start < 40000000; gtu_dev_step(f->dev, 20000)) {
		for (unsigned n = 0; n < 2; n++) {
			struct gtu_hw_cpl c;

			while (fx_poll(f, n, &c))
				CHECK_EQ(c.status, GTU_CPL_OK);
			while (f->queue[n].tail - f->queue[n].head < 8)
				fx_submit_to(f, n, &job[n]);
		}
	}
	check_part((double)f->dev->context[0].cycles / (double)f->dev->cycles, 0.5, "the context of the shorter jobs");
}

/* The turn of the context would be 16 times as long. */
TEST(a_long_job_ends_with_the_turn_of_its_group)
{
	struct fx *f = fx_open(NULL, 1);
	const struct gtu_hw_desc job = fx_fill(f, 10 * GTU_QUANTUM * 32);

	fx_context_open(f, 1, G(9, 16));
	fx_context_open(f, 2, G(9, 1));
	fx_queue_open(f, 1, 1, GTU_RING_NONE);
	for (unsigned i = 0; i < 2; i++)
		fx_submit_to(f, i, &job);
	gtu_dev_step(f->dev, 4 * GTU_QUANTUM);
	for (unsigned n = 0; n < 2; n++)
		check_part((double)f->dev->context[n].cycles, 2 * GTU_QUANTUM, "each context");
}

/* Each job takes the group's turn exactly; the turn of the context would be twice as long. */
TEST(a_turn_of_a_group_ends_before_that_of_its_context)
{
	struct fx *f = fx_open(NULL, 1);
	const struct gtu_hw_desc job = fx_fill(f, (GTU_QUANTUM - 200) * 32);
	struct gtu_hw_cpl c;

	fx_context_open(f, 1, G(9, 2));
	fx_context_open(f, 2, G(9, 1));
	fx_queue_open(f, 1, 1, GTU_RING_NONE);
	for (unsigned i = 0; i < 4; i++)
		fx_submit_to(f, i & 1, &job);
	for (unsigned i = 0; i < 4; i++) {
		gtu_dev_step(f->dev, GTU_QUANTUM);
		CHECK(fx_poll(f, i & 1, &c) && c.cycles == GTU_QUANTUM);
	}
}

/* A user whose contexts are new, each with another number, and who has the same group. */
static void move_hog(struct sharing *s)
{
	const uint64_t from = s->f->dev->queue[1].context, to = 3 - from;

	s->waited[1] += ring_of(s, 1)->waiting ? STEP : 0;
	if (s->waited[1] < 1 << 26)
		return;
	s->waited[1] = ring_of(s, 1)->waiting = 0;
	fx_command(s->f, GTU_MBOX_CTX_DISABLE, 1, &from);
	fx_context_open(s->f, to, G(9, 1));
	fx_queue_open(s->f, 1, to, GTU_RING_NONE);
}

TEST(a_group_owes_what_contexts_did_that_have_left_it)
{
	static const struct user users[] = { { 0, 1, 1000, 1024, 0 }, { 1, G(9, 1), 1000, 2, NEVER } };
	struct sharing s;

	open_users(&s, users, 2);
	check_part(run_beside_hogs(&s, 2, 1ull << 33, move_hog), 0.5, "a context beside contexts that are always new");
}

/* The group of the last context of a number does not count, and nor does what that context owed within it. */
TEST(a_context_that_changes_its_group_owes_nothing_there)
{
	static const struct user users[] = {
		{ 0, 1, 1000, 2, NEVER }, { 1, G(9, 1), 1000, 2, NEVER }, { 2, G(9, 1), 1000, 2, NEVER },
		{ 3, G(8, 1), 1000, 2, NEVER },
	};
	const uint64_t time = 1ull << 35, moved = 1;
	struct sharing s;

	open_users(&s, users, 4);
	run_late(&s, 3, time);
	fx_command(s.f, GTU_MBOX_CTX_DISABLE, 1, &moved);
	fx_context_open(s.f, moved, G(8, 1));
	fx_queue_open(s.f, 1, moved, GTU_RING_NONE);
	ring_of(&s, 1)->waiting = 0;
	s.f->queue[1].head = s.f->queue[1].tail;
	memset(s.held, 0, sizeof(s.held));
	run_late(&s, 4, time);
	for (unsigned n = 0; n < 4; n++)
		check_part((double)s.held[n] / (double)time, n % 2 ? 1. / 6 : 1. / 3, "a context after one of them moved");
}

/* A unit is kept free for a context between two of its streams. It ends, and one of another group takes its number. */
TEST(a_new_context_is_not_charged_for_the_last_of_its_number)
{
	static const struct user users[] = { { 0, 1, 1000, 1024, 0 }, { 1, G(8, 1), 1000, 2, NEVER } };
	const uint64_t ended = 0;
	struct gtu_unit_page *page;
	struct sharing s;

	open_users(&s, users, 2);
	run_beside_hogs(&s, 2, 1 << 30, NULL);
	page = &s.f->dev->page[__builtin_ctz(GTU_UNIT_IRU)];
	for (unsigned n = 0; page->expected != &s.f->dev->context[0]; n++) {
		CHECK(n < 1 << 16);
		if (!gtu_dev_step(s.f->dev, 100)) {
			submit_one(&s, 0);
			gtu_dev_idle(s.f->dev, STEP);
		}
	}
	fx_command(s.f, GTU_MBOX_CTX_DISABLE, 1, &ended);
	fx_context_open(s.f, 0, G(9, 1));
	gtu_dev_idle(s.f->dev, 1 << 20);
	CHECK_EQ(s.f->dev->group[8].share[__builtin_ctz(GTU_UNIT_IRU)].charge, 0);
}

/* ---- Queues ------------------------------------------------------------------------------------ */

TEST(queues_of_a_context_take_turns_in_a_unit)
{
	static const struct user users[] = {
		{ 0, 1, 1000, 1024, 0 }, { 0, 1, 1000, 1024, 0 }, { 0, 1, 1000, 1024, 0 }, { 1, 1, 1000, 1024, 0 },
	};

	for (unsigned n = 3; n <= 4; n++) {	/* alone, and beside another context */
		struct sharing s;

		open_users(&s, users, n);
		run_prompt(&s, n, 2000000, 100);
		for (unsigned u = 0; u < 3; u++)
			check_part(s.done[u], (s.done[0] + s.done[1] + s.done[2]) / 3.0, "a queue");
		if (n == 4)
			check_part(s.done[3], s.done[0] + s.done[1] + s.done[2], "the other context");
		test_end(NULL);
	}
}

TEST(a_queue_with_many_jobs_does_not_starve_another)
{
	static const struct user users[] = { { 0, 1, 2000, 1024, 0 }, { 1, 1, 100, 1024, 0 } };
	struct gtu_hw_cpl c;
	struct sharing s;

	open_users(&s, users, 2);
	run_prompt(&s, 1, 100000, 100);
	s.done[0] = 0;
	fx_submit_to(s.f, 1, &s.job[1][0]);
	while (!fx_poll(s.f, 1, &c)) {	/* it waits for its scheduling round, then for one stream */
		run_prompt(&s, 1, 1, 100);
		CHECKF(s.done[0] < 16, "%u streams of one context ran before the other context's one", s.done[0]);
	}
}

/* ---- Stalls ------------------------------------------------------------------------------------ */

/*
 * The consumer of a stream of @indices, for whose unit another waits, takes a record after each @pause. Returns the
 * number of records, and the status.
 */
static unsigned take_slowly(struct sharing *s, uint32_t indices, uint64_t pause, uint16_t *status)
{
	static struct user users[] = { { 0, 1, 0, 2, 0 }, { 1, 1, 100, 8, 0 } };
	struct gtu_hw_cpl c;
	unsigned taken = 0;

	users[0].indices = indices;
	open_users(s, users, 2);
	fx_submit_run(s->f, 0, &s->job[0][0]);
	fx_submit_run(s->f, 1, &s->job[1][0]);
	for (; !fx_poll(s->f, 0, &c); taken++) {
		gtu_dev_idle(s->f->dev, pause);
		s->ring[0][0]->consumer++;
		fx_doorbell(s->f, 0, GTU_DB_KICK, 1);
		fx_run(s->f, 1 << 16);
	}
	*status = c.status;
	return taken;
}

/* Records that are composed already are delivered in no cycles: that is a response, too. */
TEST(a_consumer_that_takes_one_record_at_a_time_responds)
{
	struct sharing s;
	uint16_t status;
	unsigned taken = take_slowly(&s, 1000, 1 << 27, &status);

	CHECKF(status == GTU_CPL_OK && taken > 16, "status %u after %u records", status, taken);
	/* without the cycles in which it ran */
	CHECK_EQ(s.f->dev->queue[0].stalled_total, (uint64_t)taken << 27);
}

TEST(a_consumer_that_responds_now_and_then_keeps_a_unit_for_a_limited_time)
{
	struct sharing s;
	uint16_t status;
	unsigned taken = take_slowly(&s, 10000, 1 << 29, &status);

	CHECK_EQ(status, GTU_CPL_STALLED);
	CHECK_EQ(taken, GTU_STALL_TOTAL >> 29);
}

TEST_MAIN
