// SPDX-License-Identifier: MIT
/*
 * Tests with many jobs: a million jobs through one small ring, fair shares for 64 contexts, and
 * results and cycles that do not depend on other contexts.
 *
 * Indices beyond 2^32 are not tested here: a queue starts at 0, and 2^32 jobs take hours. The unit
 * tests of the device model start their indices near 2^32.
 */
#include "gtu_trust.h"

DEVICE_FIXTURE(count);

/*
 * Run GTU_JOBS jobs in batches of half a ring. Check the phase, cookie and index of each
 * completion, and that it is not a completion from an earlier pass of the ring.
 */
TEST_F_TIMEOUT(count, many_jobs_complete_in_order_through_one_small_ring, 600)
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

			/* the ring holds NOPs already: only the cookie is new */
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
				TH_LOG("job %u of %u did not complete within 5 s",
				       q.consumed, q.submitted);
			}
		}
	}
	ms = (now_ns() - start) / 1000000;
	EXPECT_EQ(0u, wrong);
	EXPECT_EQ(jobs, q.status->sq_head);
	EXPECT_EQ(jobs, q.status->cq_tail);
	/* no completion beyond the last job */
	EXPECT_FALSE(completed(&q, q.consumed));
	TH_LOG("%u jobs, %u passes of the ring, %llu ms", jobs, jobs / RING,
	       (unsigned long long)ms);
}

/*
 * ---- Shares -------------------------------------------------------------------------------------
 */

#define CONTEXTS	64
#define JOB_BYTES	65536u
#define LOG2		9
#define JOBS		((1u << LOG2) - 1)	/* jobs of a context after its gate job */
#define SAMPLES		(JOBS / 2)

/*
 * A context, the memory that its jobs write, and a small stream that delays them until the start.
 */
struct runner {
	int fd;
	struct queue q;
	uint8_t *memory;
	uint32_t key, gate_key;
	void *gate;
};

static int runner_open(struct runner *r)
{
	r->fd = open(device_path(), O_RDWR | O_CLOEXEC);
	if (r->fd < 0)
		return errno;
	r->memory = pages(JOB_BYTES);
	r->gate = pages(8 * PAGE);
	return region_add(r->fd, r->memory, JOB_BYTES, RW, &r->key) ?:
	       region_add(r->fd, r->gate, 8 * PAGE, RW, &r->gate_key) ?:
	       queue_create(r->fd, LOG2, LOG2, &r->q);
}

/*
 * A stream of @n indices. All streams share one unit, so a consumer that stalls blocks the others.
 */
static struct gtu_hw_desc gate_job(const struct runner *r, uint32_t n)
{
	struct gtu_hw_desc d =
		job(GTU_OP_IRU_STREAM, GTU_IRU_OP_NONE | 2u << GTU_IRU_TARGET_SHIFT);

	memset(r->gate, 0, 8 * PAGE);
	d.operand[GTU_IRU_INDICES] = place(r->gate_key, n, 4 * PAGE);
	d.operand[GTU_IRU_RING] = place(r->gate_key, 4, 0);
	return d;
}

/* Job @i of a context writes i + 1 to its first word. */
static void put_jobs(struct runner *r)
{
	struct gtu_hw_desc d = gate_job(r, 32);
	uint32_t i;

	put(&r->q, &d);
	for (i = 0; i < JOBS; i++) {
		d = job(GTU_OP_FILL, 3);
		d.imm = i + 1;
		d.operand[1] = place(r->key, JOB_BYTES / 8, 0);
		put(&r->q, &d);
	}
}

/*
 * Every second job gathers the first words of all contexts at one device time into one row of @log.
 */
static int put_samples(struct runner *r, uint8_t *all, uint32_t *log)
{
	struct gtu_hw_desc gather = job(GTU_OP_SCU_ACCESS, SCU_WORDS | SCU_INDEX_WORDS);
	struct gtu_hw_desc d = gate_job(r, 32);
	uint32_t all_key, log_key, *index = r->gate, i;

	put(&r->q, &d);
	for (i = 0; i < CONTEXTS; i++)
		index[6 * PAGE / 4 + i] = i * (JOB_BYTES / 4);
	if (region_add(r->fd, all, CONTEXTS * JOB_BYTES, GTU_RIGHT_READ, &all_key) ||
	    region_add(r->fd, log, SAMPLES * CONTEXTS * 4, RW, &log_key))
		return EIO;
	for (i = 0; i < SAMPLES; i++) {
		gather.operand[GTU_SCU_DATA] = place(all_key, CONTEXTS * JOB_BYTES / 4, 0);
		gather.operand[GTU_SCU_INDEX] = place(r->gate_key, CONTEXTS, 6 * PAGE);
		gather.operand[GTU_SCU_OUT] = place(log_key, CONTEXTS, i * CONTEXTS * 4);
		put(&r->q, &gather);
		d = job(GTU_OP_FILL, 3);
		d.operand[1] = place(r->key, JOB_BYTES / 8, 0);
		put(&r->q, &d);
	}
	return 0;
}

/*
 * All contexts have the same jobs. While all of them run, each gets the same share of the device's
 * cycles, within 20% of the mean. The device takes the samples, so this program's scheduling has no
 * effect.
 */
TEST_F_TIMEOUT(count, contexts_get_equal_shares_of_the_device, 120)
{
	static struct runner r[CONTEXTS], gate, sampler;
	uint8_t *all = pages(CONTEXTS * JOB_BYTES);
	uint32_t *log = pages(SAMPLES * CONTEXTS * 4), *line, n, i, first = 0, last = 0;
	uint32_t least = ~0u, most = 0;
	uint64_t cycles = 0, total = 0, from, to;
	struct gtu_hw_desc d;

	for (n = 0; n < CONTEXTS; n++) {
		ASSERT_EQ(0, runner_open(&r[n]));
		/* replace the region by one in @all, which the sampler can read */
		ASSERT_EQ(0, region_remove(r[n].fd, r[n].key));
		ASSERT_EQ(0, region_add(r[n].fd, all + n * JOB_BYTES, JOB_BYTES, RW, &r[n].key));
		put_jobs(&r[n]);
	}
	ASSERT_EQ(0, runner_open(&sampler));
	ASSERT_EQ(0, put_samples(&sampler, all, log));
	ASSERT_EQ(0, runner_open(&gate));
	from = reg_read(gate.fd, GTU_REG_CYCLES);
	d = gate_job(&gate, 1024);
	submit(&gate.q, &d);
	while (!__atomic_load_n(&((struct gtu_hw_ring *)gate.gate)->waiting, __ATOMIC_ACQUIRE))
		usleep(100);
	for (n = 0; n < CONTEXTS; n++)
		doorbell(&r[n].q, r[n].q.submitted, 0);
	doorbell(&sampler.q, sampler.q.submitted, 0);
	ASSERT_EQ(0, queue_call(&gate.q, GTU_IOCTL_QUEUE_RESET));
	for (n = 0; n < CONTEXTS; n++)
		ASSERT_EQ(0, queue_wait(&r[n].q, JOBS, now_ns() + 60 * SECOND));
	ASSERT_EQ(0, queue_wait(&sampler.q, 2 * SAMPLES, now_ns() + 60 * SECOND));
	to = reg_read(gate.fd, GTU_REG_CYCLES);

	for (i = 0; i < SAMPLES; i++) {
		bool started = true, going = true;

		for (n = 0; n < CONTEXTS; n++) {
			started = started && log[i * CONTEXTS + n] > 0;
			going = going && log[i * CONTEXTS + n] < JOBS;
		}
		first = started ? first : i + 1;
		last = going ? i : last;
	}
	ASSERT_LT(first + 20, last) {
		TH_LOG("samples %u to %u: the contexts did not start at the same time",
		       first, last);
	}
	for (n = 0; n < CONTEXTS; n++) {
		line = log + n;
		i = line[last * CONTEXTS] - line[first * CONTEXTS];
		total += i;
		least = i < least ? i : least;
		most = i > most ? i : most;
		for (i = 0; i <= JOBS; i++) {
			ASSERT_EQ(GTU_CPL_OK, r[n].q.cq[i].status);
			cycles += r[n].q.cq[i].cycles;
		}
		/* all jobs cost the same, so job counts measure cycles */
		ASSERT_EQ(r[0].q.cq[1].cycles, r[n].q.cq[JOBS].cycles);
	}
	TH_LOG("jobs of %llu cycles, %u samples: %u to %u a context, mean %llu",
	       (unsigned long long)r[0].q.cq[1].cycles, last - first, least, most,
	       (unsigned long long)total / CONTEXTS);
	EXPECT_LT(50u, least);
	EXPECT_LE(total / CONTEXTS * 8 / 10, least);
	EXPECT_GE(total / CONTEXTS * 12 / 10, most);
	/* the sum of the completions' cycles matches the device's clock */
	for (i = 0; i <= 2 * SAMPLES; i++)
		cycles += sampler.q.cq[i].cycles;
	TH_LOG("%llu cycles of jobs, %llu of the device", (unsigned long long)cycles,
	       (unsigned long long)(to - from));
	EXPECT_LE(cycles, to - from);
	EXPECT_GE(cycles + cycles / 100, to - from);
	for (n = 0; n < CONTEXTS; n++)
		close(r[n].fd);
	close(gate.fd);
	close(sampler.fd);
}

/*
 * ---- One queue, alone and beside others ---------------------------------------------------------
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

/* Keep the device and its units busy with the same kinds of jobs from another context. */
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

TEST_F_TIMEOUT(count, results_and_cycles_do_not_depend_on_other_contexts, 60)
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
	TH_LOG("160 jobs, concurrent with %llu jobs of other contexts", (unsigned long long)busy);
	EXPECT_LT(100u, busy);
	close(b.fd);
}

TEST_HARNESS_MAIN
