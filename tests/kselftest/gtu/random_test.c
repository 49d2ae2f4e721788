// SPDX-License-Identifier: MIT
/*
 * Tests random descriptors and doorbells from several contexts, while a thread rewrites
 * descriptors, parameter blocks, operands and stream rings, with resets and revocations.
 *
 * Nothing changes around the regions or in read-only regions, the other queues' jobs are correct,
 * and each queue works after its reset.
 *
 * GTU_SEED is the seed that an earlier run printed; it does not reproduce races. GTU_SECONDS is the
 * duration [12].
 */
#include <sched.h>

#include "gtu_trust.h"

#define PLAYERS		3
#define REGIONS		4
#define SQ_LOG2		4
#define GOOD_BYTES	8192u

/* The regions that jobs name; each may hold blocks, indices, counts, tables and rings. */
static const struct {
	uint32_t length, skip, rights;
} shape[REGIONS] = {
	{ 13 * PAGE + 512, 104, RW },
	{ 4 * PAGE + 8, 0, GTU_RIGHT_READ },
	{ 3 * PAGE - 64, 2048, GTU_RIGHT_WRITE },
	{ 2 * PAGE, 64, RW },
};

struct player {
	int fd;
	struct queue q, sound;		/* @sound gets valid jobs only */
	struct guarded m[REGIONS];
	uint32_t key[REGIONS];
	uint32_t *good, good_key;	/* never named by random jobs */
	uint32_t tag, seen;		/* number of completions of @q that were checked */
};

FIXTURE(random)
{
	struct player p[PLAYERS];
	uint64_t seed;
	uint64_t status[GTU_CPL_COUNT + 1];
};

FIXTURE_SETUP(random)
{
	unsigned int i, r;

	self->seed = random_seed();
	TH_LOG("GTU_SEED=0x%llx", (unsigned long long)self->seed);
	for (i = 0; i < PLAYERS; i++) {
		struct player *p = &self->p[i];

		OPEN_OR_SKIP(p->fd);
		p->tag = 0x10 * (i + 1);
		for (r = 0; r < REGIONS; r++) {
			guarded_new(&p->m[r], shape[r].length, shape[r].skip);
			fill_pattern(p->m[r].at, shape[r].length, p->tag);
			ASSERT_EQ(0, region_add(p->fd, p->m[r].at, shape[r].length,
						shape[r].rights, &p->key[r]));
		}
		p->good = pages(2 * GOOD_BYTES);
		ASSERT_EQ(0, region_add(p->fd, p->good, 2 * GOOD_BYTES, RW, &p->good_key));
		ASSERT_EQ(0, queue_create(p->fd, SQ_LOG2, SQ_LOG2, &p->q));
		ASSERT_EQ(0, queue_create(p->fd, SQ_LOG2, SQ_LOG2, &p->sound));
	}
}

NO_TEARDOWN(random);

/*
 * ---- Random jobs and doorbells ------------------------------------------------------------------
 */

static uint32_t pick(uint64_t *s, uint32_t n)
{
	return (uint32_t)(next_random(s) >> 33) % n;
}

/* Return a plausible word: a small number, a count, an offset, a key, all ones, or a random one. */
static uint32_t random_word(uint64_t *s, const struct player *p)
{
	uint32_t word;

	switch (pick(s, 8)) {
	case 0:
		return pick(s, 4);
	case 1:
		return pick(s, 64);
	case 2:
		return pick(s, 4 * PAGE);
	case 3:
		return 8 * pick(s, 8192);
	case 4:
		return __atomic_load_n(&p->key[pick(s, REGIONS)], __ATOMIC_RELAXED);
	case 5:
		return ~0u - pick(s, 3);
	case 6:
		return 1u << pick(s, 32);
	}
	do
		word = (uint32_t)(next_random(s) >> 32);
	while (word == p->good_key);
	return word;
}

static struct gtu_hw_operand random_operand(uint64_t *s, const struct player *p)
{
	unsigned int r = pick(s, REGIONS);
	struct gtu_hw_operand o = { .key = p->key[r] };

	o.count = pick(s, 4) ? 1u << pick(s, 12) : pick(s, shape[r].length);
	o.offset = pick(s, 3) ? 0 : 64ull * pick(s, shape[r].length / 64);
	switch (pick(s, 24)) {
	case 0:
		return (struct gtu_hw_operand){ 0 };
	case 1:
		o.key = random_word(s, p);
		break;
	case 2:
		o.count = random_word(s, p);
		break;
	case 3:
		o.offset = next_random(s);
		break;
	case 4:	/* ends at the region's last byte */
		o.offset = shape[r].length - 4ull * (o.count & 0xfff);
		break;
	}
	return o;
}

/* Build a job with mostly valid parameters and operands. */
static void random_job(uint64_t *s, const struct player *p, struct gtu_hw_desc *d)
{
	static const struct {
		uint8_t op;
		uint32_t param, mask, operands;
	} kind[] = {
		{ GTU_OP_NOP, 0, 0, 0 },
		{ GTU_OP_COPY, 2, 3, 3 },
		{ GTU_OP_FILL, 2, 3, 2 },
		{ GTU_OP_FENCE, 0, 0, 0 },
		{ GTU_OP_SCU_BITMASK, SCU_WORDS, 0x7c3, 0x11 },
		{ GTU_OP_SCU_DATA, SCU_WORDS, 3, 0x19 },
		{ GTU_OP_SCU_ACCESS, SCU_WORDS | SCU_INDEX_WORDS, 7, 0x1b },
		{ GTU_OP_SCU_REPLICATE, SCU_WORDS | SCU_COUNT_WORDS, 0x13, 0x1d },
		{ GTU_OP_SCU_EXPAND, SCU_WORDS | SCU_INDEX_WORDS | SCU_COUNT_WORDS, 0x17, 0x1f },
		{ GTU_OP_IRU_STREAM, 2 << GTU_IRU_TARGET_SHIFT, 0x3c7, 7 },
		{ GTU_OP_PEG_STREAM, GTU_PEG_WITH_DST, GTU_PEG_PARAM_MASK, 0x3f },
		{ GTU_OP_IRU_STREAM, GTU_IRU_RANGES, 0x1bc7, 0x1f },
		{ GTU_OP_WVR_STREAM, 0, 7, 3 },
		{ GTU_OP_WVR_STREAM, GTU_WVR_WITH_TARGET | GTU_WVR_WITH_WEIGHT, 0x67, 0xf },
	};
	unsigned int k = pick(s, sizeof(kind) / sizeof(*kind)), i, n = GTU_DESC_OPERANDS;
	struct gtu_hw_operand *o = d->operand;

	*d = job(kind[k].op, kind[k].param ^ (pick(s, 2) ? random_word(s, p) & kind[k].mask : 0));
	d->limit = 1 + pick(s, 64);
	d->imm = pick(s, 2) ? 0 : next_random(s);
	d->param2 = pick(s, 4) ? 0 : pick(s, 24);
	if (!pick(s, 5)) {	/* a parameter block: filters, tables, steps */
		n = GTU_BLOCK_OPERANDS;
		o = (void *)(p->m[3].at + 64 * pick(s, 100));
		d->flags = GTU_DESC_BLOCK;
		d->operand[0] = place(p->key[3], 1 + pick(s, 16),
				      (uint64_t)((uint8_t *)o - p->m[3].at));
		if (d->opcode >= GTU_OP_SCU_BITMASK && d->opcode <= GTU_OP_SCU_EXPAND)
			d->param |= random_word(s, p) & GTU_SCU_PARAM_MASK;
	}
	for (i = 0; i < n; i++)
		if (kind[k].operands >> i & 1 || !pick(s, n == GTU_BLOCK_OPERANDS ? 2 : 20))
			o[i] = random_operand(s, p);
	for (i = 0; !pick(s, 6) && i < 2; i++)
		((uint32_t *)d)[pick(s, sizeof(*d) / 4)] = random_word(s, p);
}

static void random_doorbell(uint64_t *s, struct queue *q)
{
	const uint32_t tail = q->status->sq_head, head = q->status->cq_tail;

	switch (pick(s, 40)) {
	case 0:
		doorbell(q, tail + pick(s, 64), head);
		break;
	case 1:
		doorbell(q, (uint32_t)next_random(s), (uint32_t)next_random(s));
		break;
	case 2:
		doorbell(q, tail - pick(s, 8), head - pick(s, 40));
		break;
	case 3:
		*(volatile uint32_t *)(q->db + GTU_DB_ARM) = head + pick(s, 20) - 5;
		break;
	case 4:
		*(volatile uint32_t *)(q->db + GTU_DB_KICK) = (uint32_t)next_random(s);
		break;
	case 5:
		*(volatile uint32_t *)(q->db + 4 * pick(s, PAGE / 4)) = (uint32_t)next_random(s);
		break;
	default:
		doorbell(q, q->submitted, head);
		break;
	}
}

/*
 * ---- The rewriting thread -----------------------------------------------------------------------
 */

static struct {
	struct player *p;
	uint64_t seed, writes;
	bool stop, hold, held;
	pthread_t thread;
} hand;

static void *rewrite(void *unused)
{
	uint64_t *s = &hand.seed;

	(void)unused;
	while (!__atomic_load_n(&hand.stop, __ATOMIC_ACQUIRE)) {
		struct player *p = &hand.p[pick(s, PLAYERS)];
		unsigned int r = pick(s, REGIONS), i;
		volatile uint32_t *at;

		if (__atomic_load_n(&hand.hold, __ATOMIC_ACQUIRE)) {
			__atomic_store_n(&hand.held, true, __ATOMIC_RELEASE);
			sched_yield();
			continue;
		}
		__atomic_store_n(&hand.held, false, __ATOMIC_RELEASE);
		for (i = 0; i < 256; i++) {
			at = (void *)p->q.sq;
			at += pick(s, sizeof(struct gtu_hw_desc) << SQ_LOG2) / 4;
			if (i && shape[r].rights & GTU_RIGHT_WRITE)
				at = (volatile uint32_t *)(void *)p->m[r].at +
				     pick(s, shape[r].length / 4);
			/* the consumer fields of a stream ring */
			if (!pick(s, 4) && shape[r].rights == RW)
				at = (volatile uint32_t *)(void *)p->m[r].at + 8 + pick(s, 2);
			*at = pick(s, 4) ? pick(s, 64) : random_word(s, p);
		}
		hand.writes += i;
		sched_yield();
	}
	return NULL;
}

static void hold_still(bool still)
{
	__atomic_store_n(&hand.held, false, __ATOMIC_RELEASE);
	__atomic_store_n(&hand.hold, still, __ATOMIC_RELEASE);
	while (still && !__atomic_load_n(&hand.held, __ATOMIC_ACQUIRE))
		sched_yield();
}

/*
 * ---- Checks -------------------------------------------------------------------------------------
 */

static bool works(struct player *p, struct queue *q, uint32_t n)
{
	struct gtu_hw_desc d = copy_job(p->good_key, 0, p->good_key, GOOD_BYTES, GOOD_BYTES / 4, 2);
	struct gtu_hw_cpl c;

	fill_pattern(p->good, GOOD_BYTES, p->tag + n);
	return run(q, &d, &c) == GTU_CPL_OK && c.count == GOOD_BYTES / 4 &&
	       is_pattern(p->good + GOOD_BYTES / 4, GOOD_BYTES, p->tag + n);
}

static bool guards_hold(const struct player *p)
{
	bool ok = is_pattern(p->m[1].at, shape[1].length, p->tag);
	unsigned int r;

	for (r = 0; r < REGIONS; r++)
		ok = ok && guarded_ok(&p->m[r]);
	return ok;
}

/*
 * Count new completions by status. Return false if there are impossibly many or a status is
 * invalid.
 */
static bool count_completions(struct player *p, uint64_t *status)
{
	const uint32_t tail = p->q.status->cq_tail;
	bool ok = tail - p->seen <= 1u << 20;

	for (; ok && p->seen != tail; p->seen++) {
		const struct gtu_hw_cpl *c = &p->q.cq[p->seen & ((1u << SQ_LOG2) - 1)];

		ok = c->status < GTU_CPL_COUNT;
		status[ok ? c->status : GTU_CPL_COUNT]++;
	}
	return ok;
}

static int reset(struct player *p)
{
	p->seen = 0;
	return queue_call(&p->q, GTU_IOCTL_QUEUE_RESET);
}

/* Remove and re-add a region while jobs use it, which changes its key. */
static int renew(uint64_t *s, struct player *p)
{
	unsigned int r = pick(s, REGIONS);
	uint32_t key;
	int ret = region_remove(p->fd, p->key[r]);

	if (!ret)
		ret = region_add(p->fd, p->m[r].at, shape[r].length, shape[r].rights, &key);
	if (!ret)
		__atomic_store_n(&p->key[r], key, __ATOMIC_RELAXED);
	return ret;
}

/* Return whether the counts prove that the test exercised errors and jobs. */
static bool exercised(const uint64_t *status, unsigned int errors)
{
	unsigned int i, kinds = 0;
	uint64_t jobs = 0;

	for (i = 0; i < GTU_CPL_COUNT; i++) {
		jobs += status[i];
		kinds += !!status[i];
	}
	return errors > 20 && jobs > 500 && kinds >= 9 && status[GTU_CPL_OK] > 20;
}

TEST_F_TIMEOUT(random, random_jobs_harm_no_memory_and_no_other_queue, 24 * 3600)
{
	const uint64_t end = now_ns() + setting("GTU_SECONDS", 12) * SECOND;
	unsigned int round, i, n, resets = 0, errors = 0;
	const uint32_t ring = 1u << SQ_LOG2;
	uint64_t *s = &self->seed, jobs = 0;
	struct player *p;
	char text[256] = "";

	hand.p = self->p;
	hand.seed = *s ^ 0x9E3779B97F4A7C15ull;
	pthread_create(&hand.thread, NULL, rewrite, NULL);
	/* a slow machine needs longer for its share */
	for (round = 0; now_ns() < end || (!exercised(self->status, errors) &&
					   now_ns() < end + 60 * SECOND); round++) {
		for (i = 0; i < PLAYERS; i++) {
			p = &self->p[i];
			n = pick(s, ring + 1 - (p->q.submitted - p->q.status->sq_head));
			for (; n; n--)
				random_job(s, p, &p->q.sq[p->q.submitted++ % ring]);
			for (n = 1 + pick(s, 4); n; n--)
				random_doorbell(s, &p->q);
			if (!pick(s, 8))
				ASSERT_EQ(0, renew(s, p));
		}
		for (i = 0; i < PLAYERS; i++) {
			p = &self->p[i];
			queue_wait(&p->q, p->q.status->cq_tail, now_ns() + SECOND / 1000);
			ASSERT_TRUE(count_completions(p, self->status));
			ASSERT_TRUE(guards_hold(p)) {
				TH_LOG("memory outside the jobs' operands changed: round %u, "
				       "context %u", round, i);
			}
			errors += queue_state(&p->q) != GTU_QUEUE_ENABLED;
			if (queue_state(&p->q) != GTU_QUEUE_ENABLED || !pick(s, 16)) {
				hold_still(true);
				ASSERT_EQ(0, reset(p));
				for (n = 0; n < ring; n++)
					ASSERT_FALSE(completed(&p->q, n)) {
						TH_LOG("a completion from before the reset looks "
						       "new");
					}
				ASSERT_TRUE(works(p, &p->q, round)) {
					TH_LOG("a job failed after a reset: round %u, context %u",
					       round, i);
				}
				ASSERT_EQ(0, reset(p));
				hold_still(false);
				resets++;
			}
		}
		p = &self->p[round % PLAYERS];
		ASSERT_TRUE(works(p, &p->sound, round)) {
			TH_LOG("a job on the undisturbed queue failed: round %u", round);
		}
	}
	__atomic_store_n(&hand.stop, true, __ATOMIC_RELEASE);
	pthread_join(hand.thread, NULL);
	for (i = 0; i < PLAYERS; i++) {
		ASSERT_EQ(0, reset(&self->p[i]));
		EXPECT_TRUE(works(&self->p[i], &self->p[i].q, 1));
		EXPECT_TRUE(guards_hold(&self->p[i]));
	}
	for (i = 0; i < GTU_CPL_COUNT; i++) {
		jobs += self->status[i];
		snprintf(text + strlen(text), sizeof(text) - strlen(text), " %llu",
			 (unsigned long long)self->status[i]);
	}
	TH_LOG("%u rounds, %u resets (%u queue errors), %llu words rewritten", round, resets,
	       errors, (unsigned long long)hand.writes);
	TH_LOG("%llu jobs, by status:%s", (unsigned long long)jobs, text);
	EXPECT_TRUE(exercised(self->status, errors));
}

TEST_HARNESS_MAIN
