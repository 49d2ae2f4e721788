// SPDX-License-Identifier: MIT
/*
 * A context that lies in every field: descriptors of random bytes and of plausible ones, while another
 * thread rewrites parameter block, indices, counts, masks, tables and ring headers under the device's
 * hands. Whatever happens, nothing outside the context's regions changes (canaries around each region, and
 * inaccessible pages around each buffer), read-only regions keep their bytes, and every job ends.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "fixture.h"

#define REGIONS		8u
#define CANARY		0xa7

struct victim {
	struct fx *f;
	struct fx_buffer *b[REGIONS];
	uint64_t first[REGIONS], length[REGIONS];
	uint32_t key[REGIONS];
	atomic_bool stop;
	uint64_t seed;
};

/* Small numbers mostly: they reach further into the units than noise does. */
static uint64_t lie(uint64_t *seed, uint64_t length)
{
	const uint64_t r = test_random(seed);

	switch (r & 7) {
	case 0:
		return r;
	case 1:
		return length + (r >> 8) % 5 - 2;
	case 2:
		return ~0ull - (r >> 8) % 3;
	default:
		return (r >> 8) % 64;
	}
}

static void *rewrite(void *arg)
{
	struct victim *v = arg;
	uint64_t seed = v->seed ^ 0x5555;

	while (!atomic_load(&v->stop)) {
		const unsigned i = 1 + test_random(&seed) % (REGIONS - 1);	/* 0 is read-only and watched */
		const uint64_t at = test_random(&seed) % (v->length[i] / 8) * 8;
		uint64_t value = lie(&seed, v->length[i]);

		if (test_random(&seed) & 1)	/* operands of the block: plausible keys */
			value = v->key[value % REGIONS] | (lie(&seed, 64) & 0xff) << 32;
		*(volatile uint64_t *)(v->b[i]->at + v->first[i] + at) = value;
	}
	return NULL;
}

static struct gtu_hw_operand operand(struct victim *v)
{
	const unsigned i = test_random(&v->seed) % REGIONS;
	struct gtu_hw_operand op = { v->key[i], (uint32_t)lie(&v->seed, v->length[i]),
				     lie(&v->seed, v->length[i]) & ~7ull };

	switch (test_random(&v->seed) % 16) {
	case 0 ... 4:
		return (struct gtu_hw_operand){ 0 };
	case 5:
		op.key = (uint32_t)test_random(&v->seed);
		break;
	case 6 ... 12:
		op.offset = test_random(&v->seed) % 4 * 64;
		op.count = (uint32_t)(16u << test_random(&v->seed) % 5);
		break;
	}
	return op;
}

/* A parameter word that means something. */
static uint32_t scu_param(struct victim *v, unsigned opcode)
{
	const uint64_t r = test_random(&v->seed);
	uint32_t p = (r & 3) << GTU_SCU_WIDTH_SHIFT;
	const uint32_t how = r >> 16 & 7;

	if (opcode == GTU_OP_SCU_BITMASK)
		return p | (r >> 8 & 1) << GTU_SCU_TYPE_SHIFT | (r >> 9) % 6 << GTU_SCU_CMP_SHIFT;
	if (opcode == GTU_OP_SCU_ACCESS || opcode == GTU_OP_SCU_EXPAND)
		p |= (2 + (r >> 8 & 1)) << GTU_SCU_INDEX_SHIFT;
	if (opcode == GTU_OP_SCU_REPLICATE || opcode == GTU_OP_SCU_EXPAND)
		p |= (2 + (r >> 9 & 1)) << GTU_SCU_COUNT_SHIFT;
	if (how == 0)
		return p;
	if (how == 1)
		return p | GTU_STEP_APPLY << GTU_SCU_STEP_SHIFT;
	p |= (r >> 10 & 1 ? GTU_STEP_PRODUCE : GTU_STEP_FUSED) << GTU_SCU_STEP_SHIFT;
	p |= how & 1 ? GTU_SCU_KEEP : 0;
	p |= how & 2 ? GTU_SCU_GROUP | (r >> 20 & 7) << GTU_SCU_TARGET_SHIFT : 0;
	if (how & 4 || !(how & 2))
		p |= r >> 11 & 1 ? GTU_SCU_UNIQUE :
				   GTU_SCU_BEST | (r >> 12) % 3 << GTU_SCU_TYPE_SHIFT |
					   (2 + (r >> 14 & 1)) << GTU_SCU_COST_SHIFT;
	return p;
}

/* Give the operands that the parameter word asks for, of about the right size, through a block. */
static struct gtu_hw_desc wanted(struct victim *v, struct gtu_hw_desc d)
{
	struct gtu_hw_operand *op = (struct gtu_hw_operand *)(v->b[1]->at + v->first[1]);
	const bool iru = d.opcode == GTU_OP_IRU_STREAM, filters = d.param & (GTU_SCU_UNIQUE | GTU_SCU_BEST);
	const uint32_t n = 1u + test_random(&v->seed) % 300, step = d.param >> GTU_SCU_STEP_SHIFT & 3;
	const uint32_t lines = 16u << test_random(&v->seed) % 2;
	uint32_t need = iru ? 7 : 1u << GTU_SCU_DATA | 1u << GTU_SCU_OUT, i;

	if (!iru && d.opcode != GTU_OP_SCU_BITMASK && test_random(&v->seed) & 1)
		need |= 1u << GTU_SCU_MASK;
	if (d.opcode == GTU_OP_SCU_ACCESS || d.opcode == GTU_OP_SCU_EXPAND)
		need |= 1u << GTU_SCU_INDEX;
	if (d.opcode == GTU_OP_SCU_REPLICATE || d.opcode == GTU_OP_SCU_EXPAND)
		need |= 1u << GTU_SCU_COUNT;
	if (!iru && step) {
		need |= filters || step == GTU_STEP_APPLY ? 1u << GTU_SCU_FILTER : 0;
		need |= filters ? 1u << GTU_SCU_FILTER_TABLE : 0;
		need |= d.param & GTU_SCU_GROUP ? 1u << GTU_SCU_GROUP_TABLE | 1u << GTU_SCU_REORDER : 0;
		need |= d.param & GTU_SCU_BEST ? 1u << GTU_SCU_COST_INPUT : 0;
		need &= step == GTU_STEP_PRODUCE ? ~(1u << GTU_SCU_OUT) : ~0u;
	}
	for (i = 0; i < GTU_SCU_OPERANDS; i++) {
		const bool table = !iru && (i == GTU_SCU_FILTER_TABLE || i == GTU_SCU_GROUP_TABLE);

		op[i] = (struct gtu_hw_operand){ 0 };
		if (need >> i & 1) {
			op[i].key = v->key[1 + test_random(&v->seed) % (REGIONS - 1)];
			op[i].offset = test_random(&v->seed) % 8 * 64;
			op[i].count = table ? lines : iru && i == GTU_IRU_RING ? 4 : n;
		}
	}
	if (!iru && test_random(&v->seed) & 1)
		op[GTU_SCU_DATA].key = v->key[0];
	d.flags = GTU_DESC_BLOCK;
	d.operand[0] = (struct gtu_hw_operand){ v->key[1], iru ? 3 : GTU_SCU_OPERANDS, 0 };
	return d;
}

static struct gtu_hw_desc descriptor(struct victim *v)
{
	struct gtu_hw_desc d = { 0 };
	uint64_t r = test_random(&v->seed);
	unsigned i;

	if (r % 8 == 0) {
		for (i = 0; i < sizeof(d) / 8; i++)
			((uint64_t *)&d)[i] = test_random(&v->seed);
		d.limit = 64;
		return d;
	}
	d.opcode = (r >> 8) % 8 < 5 ? GTU_OP_SCU_BITMASK + (r >> 8) % 8 :
		   (r >> 8) % 8 < 7 ? GTU_OP_IRU_STREAM : (uint8_t)(r >> 16);
	d.param = (uint32_t)test_random(&v->seed) &
		  (d.opcode == GTU_OP_IRU_STREAM ? GTU_IRU_PARAM_MASK & ~GTU_IRU_DEMAND : GTU_SCU_PARAM_MASK);
	if (d.opcode <= GTU_OP_SCU_EXPAND && r >> 40 & 7)
		d.param = scu_param(v, d.opcode);
	d.imm = d.opcode == GTU_OP_IRU_STREAM || d.param & GTU_SCU_GROUP ? lie(&v->seed, 4096) : 0;
	d.limit = 64;
	if (r >> 33 & 3)
		return wanted(v, d);
	if (r >> 32 & 1) {
		d.flags = GTU_DESC_BLOCK;
		d.operand[0] = (struct gtu_hw_operand){ v->key[1], 11, 0 };
		for (i = 0; i < 11; i++)
			((struct gtu_hw_operand *)(v->b[1]->at + v->first[1]))[i] = operand(v);
	} else {
		for (i = 0; i < GTU_DESC_OPERANDS; i++)
			d.operand[i] = operand(v);
	}
	return d;
}

static void canaries(struct victim *v, uint64_t crc_of_0)
{
	uint64_t i, n, sum = 0;

	for (i = 0; i < REGIONS; i++) {
		for (n = 0; n < v->b[i]->bytes; n++) {
			if (n >= v->first[i] && n < v->first[i] + v->length[i])
				sum += i ? 0 : v->b[0]->at[n] * (n + 1);
			else
				CHECKF(v->b[i]->at[n] == CANARY, "byte %" PRIu64 " of buffer %" PRIu64
				       " changed, its region is %" PRIu64 " from %" PRIu64, n, i, v->length[i],
				       v->first[i]);
		}
	}
	CHECK_EQ(sum, crc_of_0);
}

/* The other thread writes to what this one's stack holds: it ends first. */
static void fail(struct victim *v, pthread_t thread, unsigned job, unsigned opcode, const char *what)
{
	atomic_store(&v->stop, true);
	pthread_join(thread, NULL);
	test_fail(__FILE__, __LINE__, "job %u (operation 0x%02x) %s", job, opcode, what);
}

static void attack(unsigned jobs, uint64_t seed)
{
	static const struct gtu_dev_config small = {
		.iru_sets = 32, .iru_latency = 20, .scu_latency = 20, .queues = 4, .contexts = 2,
	};
	struct victim v = { .f = fx_open(&small, seed), .seed = seed };
	uint64_t sum = 0, done[GTU_CPL_COUNT] = { 0 };
	struct gtu_hw_cpl c;
	pthread_t thread;
	unsigned i, steps;

	for (i = 0; i < REGIONS; i++) {
		const uint32_t rights = i ? GTU_REGION_READ | GTU_REGION_WRITE : GTU_REGION_READ;

		v.b[i] = fx_buffer(v.f, i % 2 ? 12000 : 70000);
		v.first[i] = 8 * (test_random(&v.seed) % 200);
		v.length[i] = v.b[i]->bytes - v.first[i] - 8 * (test_random(&v.seed) % 200);
		memset(v.b[i]->at, CANARY, v.b[i]->bytes);
		for (uint64_t n = 0; n < v.length[i]; n++)
			v.b[i]->at[v.first[i] + n] = (uint8_t)(test_random(&v.seed) % 7 ? 0 : test_random(&v.seed));
		v.key[i] = i % 3 == 2 ? fx_region_scattered(v.f, v.b[i], v.first[i], v.length[i], rights, 1) :
					fx_region(v.f, v.b[i], v.first[i], v.length[i], rights);
	}
	for (uint64_t n = v.first[0]; n < v.first[0] + v.length[0]; n++)
		sum += v.b[0]->at[n] * (n + 1);
	CHECK(!pthread_create(&thread, NULL, rewrite, &v));
	for (i = 0; i < jobs; i++) {
		const struct gtu_hw_desc d = descriptor(&v);
		bool ended = false;

		fx_submit_to(v.f, 0, &d);
		for (steps = 0; !ended; steps++) {
			const uint64_t until[2] = { 0, v.f->queue[0].tail };

			if (test_random(&v.seed) % 32 == 0)
				fx_doorbell(v.f, 0, GTU_DB_ARM_STREAM, (uint32_t)lie(&v.seed, 64));
			/* a stream that waits for its consumer: let it go, in either way; others now and then too */
			if ((!gtu_dev_pending(v.f->dev) && test_random(&v.seed) & 1) || test_random(&v.seed) % 512 == 0) {
				fx_mailbox(v.f, GTU_MBOX_QUEUE_CANCEL, 2, until);
				gtu_dev_step(v.f->dev, 1);
				ended = fx_poll(v.f, 0, &c);
				if (!ended)
					fail(&v, thread, i, d.opcode, "was canceled and has no completion");
				break;
			}
			if (!gtu_dev_pending(v.f->dev)) {
				const uint64_t queue = 0;

				memset(v.f->queue[0].cq, 0, GTU_CQ_BYTES(FX_RING_LOG2));
				fx_mailbox(v.f, GTU_MBOX_QUEUE_RESET, 1, &queue);
				v.f->queue[0].tail = v.f->queue[0].head = 0;
				break;
			}
			gtu_dev_step(v.f->dev, 1 + test_random(&v.seed) % 500);
			ended = fx_poll(v.f, 0, &c);
			if (!ended && steps == 1000000)
				fail(&v, thread, i, d.opcode, "does not end");
		}
		if (ended && c.status >= GTU_CPL_COUNT)
			fail(&v, thread, i, d.opcode, "ended with a status that does not exist");
		if (ended)
			done[c.status]++;
	}
	atomic_store(&v.stop, true);
	pthread_join(thread, NULL);
	canaries(&v, sum);
	printf("# of %u jobs %" PRIu64 " were done, %" PRIu64 " met an index outside, %" PRIu64
	       " an output too small, %" PRIu64 " ended behind a region, %" PRIu64 " were canceled\n", jobs,
	       done[GTU_CPL_OK], done[GTU_CPL_INDEX], done[GTU_CPL_OVERFLOW], done[GTU_CPL_BOUNDS],
	       done[GTU_CPL_CANCELED]);
	CHECKF(done[GTU_CPL_OK] > jobs / 1000 && done[GTU_CPL_INDEX] && done[GTU_CPL_BOUNDS] &&
	       done[GTU_CPL_CANCELED],
	       "the lies were too wild to reach the units");
	fx_close(v.f);
}

TEST(random_descriptors_under_rewriting)
{
	const char *many = getenv("GTU_HOSTILE_JOBS");
	uint64_t seed;

	for (seed = 1; seed <= 4; seed++)
		attack(many ? (unsigned)strtoul(many, NULL, 10) : 50000, seed * 77);
}

TEST_MAIN
