// SPDX-License-Identifier: MIT
/*
 * Counts: a million jobs through one small ring; 64 contexts that get the same share; a job whose
 * result and cycles do not depend on who else is there.
 *
 * Indices that count past 2^32 are not reached here: a queue starts at 0, and four thousand million
 * jobs take hours. The model's own tests start theirs where they like.
 */
#include <pthread.h>

#include "gtu_trust.h"

FIXTURE(count)
{
	int fd;
};

FIXTURE_SETUP(count)
{
	self->fd = -1;
	OPEN_OR_SKIP(self->fd);
}

FIXTURE_TEARDOWN(count)
{
	if (self->fd >= 0)
		close(self->fd);
}

/*
 * GTU_JOBS jobs in batches of half a ring. Each completion is looked at: phase, cookie, index, and
 * that it is not one of an earlier pass.
 */
TEST_F_TIMEOUT(count, a_million_jobs, 600)
{
	enum { LOG2 = 8, RING = 1 << LOG2 };
	const uint32_t jobs = (uint32_t)setting("GTU_JOBS", 1000000);
	const uint64_t start = now_ns();
	uint32_t i, seen = 0, wrong = 0;
	uint64_t ms, idle = 0;
	struct queue q;

	ASSERT_EQ(0, queue_create(self->fd, LOG2, LOG2, &q));
	while (seen < jobs) {
		const uint32_t before = q.submitted;

		while (q.submitted != jobs && q.submitted - q.consumed < RING) {
			struct gtu_hw_desc *d = &q.sq[q.submitted % RING];

			/* NOP with nothing but a cookie: what was there is one, too */
			d->cookie = 0x9E3779B97F4A7C15ull * ++q.submitted;
			if (q.submitted - before == RING / 2)
				break;
		}
		if (q.submitted != before || idle % 64 == 63)
			doorbell(&q, q.submitted, q.consumed);
		for (i = 0; i < RING / 2 && completed(&q, q.consumed); i++) {
			const struct gtu_hw_cpl *c = &q.cq[q.consumed % RING];

			wrong += c->cookie != 0x9E3779B97F4A7C15ull * (q.consumed + 1) ||
				 c->sq_index != q.consumed || c->status != GTU_CPL_OK ||
				 c->phase != (q.consumed & RING ? 0 : 1) || c->cycles != 1;
			q.consumed++;
			seen++;
		}
		idle = i ? 0 : idle + 1;
		if (idle > 1000) {
			queue_wait(&q, q.consumed, now_ns() + 5 * SECOND);
			ASSERT_TRUE(completed(&q, q.consumed)) {
				TH_LOG("job %u of %u never ends", q.consumed, q.submitted);
			}
		}
	}
	ms = (now_ns() - start) / 1000000;
	EXPECT_EQ(0u, wrong);
	EXPECT_EQ(jobs, q.status->sq_head);
	EXPECT_EQ(jobs, q.status->cq_tail);
	/* not one too many */
	EXPECT_FALSE(completed(&q, q.consumed));
	TH_LOG("%u jobs, %u passes of the ring, %llu ms", jobs, jobs / RING,
	       (unsigned long long)ms);
}

static uint64_t device_cycles(int fd)
{
	struct gtu_ioctl_reg r = { .size = sizeof(r), .offset = GTU_REG_CYCLES };

	return call(fd, GTU_IOCTL_REG_READ, &r) ? 0 : r.value;
}

#define CONTEXTS	64
#define JOB_BYTES	65536u
#define JOB_LOG2	9	/* of the jobs of a context */

/*
 * All contexts have the same jobs to do, more than there is time for: while all of them have work
 * each gets the same share of the device's cycles, to a fifth of the mean.
 */
TEST_F_TIMEOUT(count, equal_shares, 120)
{
	static struct queue q[CONTEXTS];
	uint32_t first[CONTEXTS], last[CONTEXTS], key, n, i, least, most;
	uint64_t cycles, total = 0, each, from, to, start;
	struct gtu_hw_desc d = job(GTU_OP_FILL, 3);
	uint8_t *memory = pages(JOB_BYTES);

	for (n = 0; n < CONTEXTS; n++) {
		int fd = open(device_path(), O_RDWR | O_CLOEXEC);

		ASSERT_LE(0, fd);
		ASSERT_EQ(0, region_add(fd, memory, JOB_BYTES, RW, &key));
		ASSERT_EQ(0, queue_create(fd, JOB_LOG2, JOB_LOG2, &q[n]));
		d.operand[1] = place(key, JOB_BYTES / 8, 0);
		for (i = 0; i < 1u << JOB_LOG2; i++)
			put(&q[n], &d);
	}
	for (n = 0; n < CONTEXTS; n++)
		doorbell(&q[n], q[n].submitted, 0);
	from = device_cycles(q[0].fd);
	for (n = 0; n < CONTEXTS; n++)
		first[n] = q[n].status->cq_tail;
	/* until somebody has nearly all done */
	start = now_ns();
	do {
		usleep(1000);
		ASSERT_GT(60 * SECOND, now_ns() - start);
		for (most = n = 0; n < CONTEXTS; n++) {
			last[n] = q[n].status->cq_tail;
			most = last[n] > most ? last[n] : most;
		}
	} while (most < (7u << JOB_LOG2) / 8);
	to = device_cycles(q[0].fd);
	/* completions do not say how much of the device they took in between: each job costs the same */
	each = q[0].cq[0].cycles;
	for (least = ~0u, most = n = 0; n < CONTEXTS; n++) {
		ASSERT_GT(1u << JOB_LOG2, last[n]) {
			TH_LOG("context %u had nothing left to do: too slow to see", n);
		}
		for (i = 0; i < last[n]; i++) {
			ASSERT_EQ(GTU_CPL_OK, q[n].cq[i].status);
			ASSERT_EQ(each, q[n].cq[i].cycles);
		}
		i = last[n] - first[n];
		total += i;
		least = i < least ? i : least;
		most = i > most ? i : most;
	}
	cycles = total * each;
	TH_LOG("jobs of %llu cycles: %u to %u a context, mean %llu; %llu of %llu cycles",
	       (unsigned long long)each, least, most, (unsigned long long)total / CONTEXTS,
	       (unsigned long long)cycles, (unsigned long long)(to - from));
	EXPECT_LT(100u, most);
	EXPECT_LE((total / CONTEXTS) * 8 / 10, least);
	EXPECT_GE((total / CONTEXTS) * 12 / 10, most);
	/* and they have all of it: what the jobs took is what the clock of the device went on */
	EXPECT_GE(to - from + CONTEXTS * each, cycles);
	EXPECT_LE((to - from) / 2, cycles);
	for (n = 0; n < CONTEXTS; n++)
		close(q[n].fd);
}

/*
 * ---- One queue, alone and in company ------------------------------------------------------------
 */

#define WORDS	8192u
#define KINDS	4

struct bench {
	int fd;
	struct queue q;
	uint32_t *in, *out, in_key, out_key;
	struct gtu_hw_cpl cpl[KINDS];
	uint32_t *result[KINDS];
};

static int bench_open(struct bench *b)
{
	uint32_t i;

	b->fd = open(device_path(), O_RDWR | O_CLOEXEC);
	if (b->fd < 0)
		return errno;
	b->in = pages(2 * WORDS * 4);
	b->out = pages(16 * WORDS * 4);
	for (i = 0; i < 2 * WORDS; i++)
		b->in[i] = i * 2654435761u % WORDS;
	return region_add(b->fd, b->in, 2 * WORDS * 4, GTU_RIGHT_READ, &b->in_key) ?:
	       region_add(b->fd, b->out, 16 * WORDS * 4, RW, &b->out_key) ?:
	       queue_create(b->fd, 4, 4, &b->q);
}

static struct gtu_hw_desc bench_job(const struct bench *b, unsigned int kind)
{
	struct gtu_hw_desc d;

	switch (kind) {
	case 0:
		return copy_job(b->in_key, 0, b->out_key, 64, WORDS, 2);
	case 1:
		d = job(GTU_OP_SCU_ACCESS, SCU_WORDS | SCU_INDEX_WORDS);
		break;
	case 2:
		d = job(GTU_OP_SCU_BITMASK,
			SCU_WORDS | (uint32_t)GTU_CMP_LT << GTU_SCU_CMP_SHIFT);
		d.imm = WORDS / 3;
		d.operand[GTU_SCU_DATA] = place(b->in_key, WORDS, 0);
		d.operand[GTU_SCU_OUT] = place(b->out_key, WORDS, 0);
		return d;
	default:
		d = job(GTU_OP_IRU_STREAM, GTU_IRU_OP_FILTER | 2u << GTU_IRU_TARGET_SHIFT |
						   GTU_IRU_WITH_POSITION);
		d.operand[GTU_IRU_INDICES] = place(b->in_key, WORDS, 0);
		d.operand[GTU_IRU_RING] = place(b->out_key, 1024, 0);
		return d;
	}
	d.operand[GTU_SCU_DATA] = place(b->in_key, WORDS, 0);
	d.operand[GTU_SCU_INDEX] = place(b->in_key, WORDS, WORDS * 4);
	d.operand[GTU_SCU_OUT] = place(b->out_key, WORDS, 0);
	return d;
}

static bool bench_run(struct bench *b, unsigned int kind)
{
	struct gtu_hw_desc d = bench_job(b, kind);

	memset(b->out, 0, 16 * WORDS * 4);
	return run(&b->q, &d, &b->cpl[kind]) == GTU_CPL_OK;
}

static bool stop;

/* A neighbour who keeps the device, and its units, busy with the same kinds of jobs. */
static void *neighbour(void *arg)
{
	struct bench *b = arg;
	unsigned int kind;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
		for (kind = 0; kind < KINDS; kind++)
			if (!bench_run(b, kind))
				return "failed";
	return NULL;
}

TEST_F_TIMEOUT(count, alone_and_in_company, 60)
{
	static struct bench b, noise[3];
	unsigned int kind, round, i;
	pthread_t thread[3];
	uint64_t busy = 0;
	void *end;

	ASSERT_EQ(0, bench_open(&b));
	for (kind = 0; kind < KINDS; kind++) {
		ASSERT_TRUE(bench_run(&b, kind));
		b.result[kind] = malloc(16 * WORDS * 4);
		memcpy(b.result[kind], b.out, 16 * WORDS * 4);
	}
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, bench_open(&noise[i]));
		pthread_create(&thread[i], NULL, neighbour, &noise[i]);
	}
	for (round = 0; round < 40; round++)
		for (kind = 0; kind < KINDS; kind++) {
			const struct gtu_hw_cpl alone = b.cpl[kind], *now = &b.cpl[kind];

			ASSERT_TRUE(bench_run(&b, kind));
			ASSERT_EQ(alone.cycles, now->cycles);
			ASSERT_EQ(alone.count, now->count);
			ASSERT_EQ(alone.dropped, now->dropped);
			ASSERT_EQ(0, memcmp(b.result[kind], b.out, 16 * WORDS * 4)) {
				TH_LOG("job of kind %u, round %u", kind, round);
			}
		}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (i = 0; i < 3; i++) {
		pthread_join(thread[i], &end);
		EXPECT_EQ(NULL, end);
		busy += noise[i].q.submitted;
		close(noise[i].fd);
	}
	TH_LOG("160 jobs beside %llu of the neighbours'", (unsigned long long)busy);
	EXPECT_LT(100u, busy);
	close(b.fd);
}

TEST_HARNESS_MAIN
