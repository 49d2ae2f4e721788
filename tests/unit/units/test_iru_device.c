// SPDX-License-Identifier: MIT
/*
 * The IRU through its descriptor: a canonical stream gives the same records in the same cycles for
 * any consumer speed, ring size, memory layout and step size; every stream keeps its invariants; no
 * value in user memory makes the unit access memory outside its operands. One file: every test
 * compares with the same reference run.
 */
#include "tests/unit/fixture.h"
#include "iru_naive.h"

struct run {
	struct gtu_hw_desc desc;
	uint8_t *records;		/* all records of the stream, contiguous */
	size_t record_bytes, room, count;
	struct gtu_hw_cpl cpl;
};

struct bed {
	struct fx *f;
	struct fx_buffer *indices, *secondary, *ring;
	uint32_t *index, *second;
	uint32_t key[3];
	uint64_t n;
	uint64_t ring_offset;
};

static const struct gtu_hw_warp *head_of(const struct run *r, size_t i)
{
	return (const void *)(r->records + i * r->record_bytes);
}

/* Field @f of record @i. */
static const uint32_t *field_of(const struct run *r, size_t i, unsigned f)
{
	return (const void *)(r->records + i * r->record_bytes + 64 + 128 * f);
}

static void bed_open(struct bed *b, const struct gtu_dev_config *config, uint64_t n, bool scattered,
		     uint64_t seed)
{
	const uint64_t index_offset = 4 * (seed % 50), ring_bytes = 64 + 1024 * 448;

	memset(b, 0, sizeof(*b));
	b->f = fx_open(config, seed);
	b->n = n;
	b->indices = fx_buffer(b->f, index_offset + 4 * n + 8);
	b->secondary = fx_buffer(b->f, 4 * n + 16);
	b->ring = fx_buffer(b->f, ring_bytes + 128);
	b->ring_offset = 64 * (seed % 2);
	b->index = (uint32_t *)(b->indices->at + index_offset);
	b->second = (uint32_t *)(b->secondary->at + 8);
	if (scattered) {
		b->key[0] = fx_region_scattered(b->f, b->indices, 0, b->indices->bytes, GTU_REGION_READ, 2);
		b->key[1] = fx_region_scattered(b->f, b->secondary, 8, 4 * n + 4, GTU_REGION_READ, 1 + (n > 500000));
		b->key[2] = fx_region_scattered(b->f, b->ring, 8, ring_bytes + 64,
						GTU_REGION_READ | GTU_REGION_WRITE, 3);
	} else {
		b->key[0] = fx_region(b->f, b->indices, 0, b->indices->bytes, GTU_REGION_READ);
		b->key[1] = fx_region(b->f, b->secondary, 8, 4 * n + 4, GTU_REGION_READ);
		b->key[2] = fx_region(b->f, b->ring, 8, ring_bytes + 64,
				      GTU_REGION_READ | GTU_REGION_WRITE);
	}
}

static struct gtu_hw_ring *header(struct bed *b)
{
	return (void *)(b->ring->at + 8 + b->ring_offset);
}

static struct gtu_hw_desc describe(struct bed *b, uint32_t param, bool secondary, uint32_t ring)
{
	return (struct gtu_hw_desc){
		.opcode = GTU_OP_IRU_STREAM,
		.param = param,
		.imm = 4096 + 20,
		.operand = {
			{ b->key[0], (uint32_t)b->n, (uint64_t)((uint8_t *)b->index - b->indices->at) },
			{ secondary ? b->key[1] : 0, secondary ? (uint32_t)b->n : 0, 0 },
			{ b->key[2], ring, b->ring_offset },
		},
	};
}

static unsigned fields(uint32_t param)
{
	return 1 + !!(param & GTU_IRU_WITH_SECONDARY) + !!(param & GTU_IRU_WITH_POSITION);
}

/* Behaviour of a consumer. */
struct pace {
	uint64_t budget;		/* cycles per step; 0: random */
	unsigned lazy;			/* polls once in lazy + 1 rounds, then reads a random share */
	bool only_waiting;		/* acts only while the device waits for it */
	uint32_t ask;			/* DEMAND: requests up to this many more at a time */
};

static void consume(struct bed *b, struct run *r, uint32_t ring, uint32_t n)
{
	struct gtu_hw_ring *h = header(b);

	for (; n; n--, h->consumer++) {
		const uint8_t *from = (uint8_t *)h + 64 + (h->consumer & (ring - 1)) * r->record_bytes;

		CHECK(r->count < r->room);
		memcpy(r->records + r->count++ * r->record_bytes, from, r->record_bytes);
	}
}

/* Run a stream to completion with a consumer of this behaviour. */
static void drive(struct bed *b, struct run *r, const struct gtu_hw_desc *desc, struct pace pace,
		  uint64_t seed)
{
	const uint32_t ring = desc->operand[2].count;
	struct gtu_hw_ring *h = header(b);

	memset(r, 0, sizeof(*r));
	memset(h, 0, sizeof(*h));
	r->desc = *desc;
	r->record_bytes = GTU_WARP_BYTES(fields(desc->param), 0);
	r->room = b->n + 2;
	r->records = test_alloc(r->room, r->record_bytes);
	fx_submit_to(b->f, 0, desc);
	while (!fx_poll(b->f, 0, &r->cpl)) {
		uint32_t there = h->producer - h->consumer;

		if (gtu_dev_pending(b->f->dev))
			gtu_dev_step(b->f->dev, pace.budget ? pace.budget : 1 + test_random(&seed) % 300);
		CHECK(h->producer - h->consumer <= ring);
		if (pace.only_waiting ? !h->waiting : test_random(&seed) % (pace.lazy + 1))
			continue;
		there = h->producer - h->consumer;
		consume(b, r, ring, pace.lazy && there ? 1 + test_random(&seed) % there : there);
		if (desc->param & GTU_IRU_DEMAND) {
			CHECK((int32_t)(h->requested - h->producer) >= 0);
			h->requested += 1 + test_random(&seed) % pace.ask;
		}
		if (h->waiting)
			fx_doorbell(b->f, 0, GTU_DB_KICK, 1);
	}
	consume(b, r, ring, h->producer - h->consumer);
	CHECK_EQ(h->ended, 1);
	CHECK_EQ(h->waiting, 0);
}

static void same(const struct run *a, const struct run *b, uint64_t seed)
{
	CHECK_EQ(a->cpl.status, GTU_CPL_OK);
	CHECK_EQ(b->cpl.status, GTU_CPL_OK);
	CHECKF(a->count == b->count, "seed %" PRIu64 ": %zu records and %zu", seed, a->count, b->count);
	for (size_t i = 0; i < a->count; i++)
		CHECKF(!memcmp(head_of(a, i), head_of(b, i), a->record_bytes),
		       "seed %" PRIu64 ": record %zu differs (cycles %" PRIu64 " and %" PRIu64
		       ", reasons %u and %u)", seed, i, head_of(a, i)->cycle, head_of(b, i)->cycle,
		       head_of(a, i)->reason, head_of(b, i)->reason);
	CHECK_EQ(a->cpl.cycles, b->cpl.cycles);
	CHECK_EQ(a->cpl.count, b->cpl.count);
	CHECK_EQ(a->cpl.count, a->count);
	CHECK_EQ(a->cpl.dropped, b->cpl.dropped);
}

static uint32_t float_bits(float f)
{
	return ((union { float f; uint32_t u; }){ f }).u;
}

static void fill(struct bed *b, uint64_t seed, unsigned op)
{
	const uint32_t range = 1u << test_random(&seed) % 22;
	const unsigned kind = test_random(&seed) % 3;

	for (uint64_t i = 0; i < b->n; i++) {
		const uint32_t any = (uint32_t)test_random(&seed);

		b->index[i] = kind == 0 ? any % range : kind == 1 ? (uint32_t)(i / 3) : i && any % 8 ?
			      b->index[i - 1] + 1 : any % range;
		b->second[i] = op == GTU_IRU_OP_ADD_F32 ? float_bits((float)(any % 64)) : any;
	}
}

struct observer {
	struct gtu_watch watch;
	uint64_t read[2], written, records;
};

static void seen(struct gtu_watch *w, const struct gtu_access *a, uint64_t addr, uint64_t bytes)
{
	struct observer *o = (void *)w;

	(void)addr;
	if (a->write) {
		o->written += bytes;
		o->records++;
	} else {
		CHECK(a->slot < 2);
		CHECK(bytes <= 128);
		o->read[a->slot] += bytes;
	}
}

static void seen_gather(struct gtu_watch *w, const struct gtu_access *a, const uint64_t *addr,
			unsigned n, unsigned width)
{
	(void)w, (void)a, (void)addr, (void)n, (void)width;
	test_fail(__FILE__, __LINE__, "the IRU reported a gather access, but it has none");
}

static uint32_t some_param(uint64_t *seed)
{
	const unsigned op = test_random(seed) % 2 ? 0 : test_random(seed) % 5;

	return op | (test_random(seed) % 8) << GTU_IRU_TARGET_SHIFT |
	       (test_random(seed) % 2 ? GTU_IRU_ALL : 0) |
	       (test_random(seed) % 2 ? GTU_IRU_WITH_SECONDARY : 0) |
	       (test_random(seed) % 2 ? GTU_IRU_WITH_POSITION : 0);
}

TEST(canonical_streams_do_not_depend_on_their_consumer)
{
	for (uint64_t seed = 1; seed <= 150; seed++) {
		uint64_t r = seed;
		const uint64_t n = test_random(&r) % 4 ? test_random(&r) % 3000 : test_random(&r) % 40000;
		const uint32_t param = some_param(&r);
		const uint32_t timeout = test_random(&r) % 2 ? 0 : 1 + test_random(&r) % 300;
		struct gtu_hw_desc desc;
		struct run want, got;
		struct bed b;

		bed_open(&b, NULL, n, false, seed);
		fill(&b, seed, param & 7);
		desc = describe(&b, param, true, 1024);
		desc.param2 = timeout;
		drive(&b, &want, &desc, (struct pace){ .budget = 1 << 20 }, seed);
		for (unsigned i = 0; i < 4; i++) {
			struct observer o = { { seen, seen_gather }, { 0, 0 }, 0, 0 };

			desc.operand[2].count = 1u << test_random(&r) % 5;
			if (i == 1)
				gtu_dev_watch(b.f->dev, &o.watch);
			if (i == 2) {
				bed_open(&b, NULL, n, true, seed);
				fill(&b, seed, param & 7);
				for (unsigned k = 0; k < 3; k++)
					desc.operand[k].key = b.key[k];
			}
			drive(&b, &got, &desc, (struct pace){ .lazy = i ? test_random(&r) % 6 : 0,
							      .only_waiting = i == 3 }, seed + i);
			same(&want, &got, seed);
			if (i == 1) {
				const bool second = param & GTU_IRU_WITH_SECONDARY || (param & 7) > 1;

				gtu_dev_watch(b.f->dev, NULL);
				CHECK_EQ(o.read[0], 4 * n);
				CHECK_EQ(o.read[1], second ? 4 * n : 0);
				CHECK_EQ(o.records, got.count);
				CHECK_EQ(o.written, got.count * got.record_bytes);
			}
		}
		test_end(NULL);
	}
}

static uint64_t published_latency(uint64_t first)
{
	(void)first;
	return 200;
}

TEST(canonical_streams_equal_the_reference_model)
{
	for (uint64_t seed = 1; seed <= 60; seed++) {
		uint64_t r = seed + 1000;
		const uint32_t param = some_param(&r) | GTU_IRU_WITH_SECONDARY | GTU_IRU_WITH_POSITION;
		const uint64_t n = test_random(&r) % 20000;
		struct naive_config c;
		struct gtu_hw_desc d;
		struct naive v;
		struct run got;
		struct bed b;

		bed_open(&b, NULL, n, seed % 2, seed);
		fill(&b, seed, param & 7);
		d = describe(&b, param, true, 8);
		d.param2 = seed % 3 ? 0 : 50;
		drive(&b, &got, &d, (struct pace){ .lazy = 3 }, seed);
		c = (struct naive_config){
			.sets = 1024, .partitions = 4, .banks = 2, .interleave = 256, .prefetch = 8,
			.ring_depth = 64, .queue_depth = 64, .n = n, .addr = d.operand[0].offset,
			.base = d.imm, .timeout = d.param2 ? d.param2 : 1024,
			.target = param >> GTU_IRU_TARGET_SHIFT & 7, .op = param & 7,
			.all = param & GTU_IRU_ALL, .index = b.index, .secondary = b.second,
			.latency = published_latency,
		};
		CHECK(naive_run(&v, &c));
		CHECK_EQ(got.cpl.status, GTU_CPL_OK);
		CHECK_EQ(got.count, v.records);
		CHECK_EQ(got.cpl.cycles, n ? v.t : 1);
		CHECK_EQ(got.cpl.dropped, v.merged);
		for (size_t i = 0; i < got.count; i++) {
			CHECK_EQ(head_of(&got, i)->cycle, v.record[i].cycle);
			CHECK_EQ(head_of(&got, i)->reason, v.record[i].reason);
			CHECK_EQ(head_of(&got, i)->lines, v.record[i].lines);
			for (unsigned l = 0; l < 32; l++) {
				CHECK_EQ(field_of(&got, i, 0)[l], v.record[i].el[l].index);
				CHECK_EQ(field_of(&got, i, 1)[l], v.record[i].el[l].secondary);
				CHECK_EQ(field_of(&got, i, 2)[l], v.record[i].el[l].position);
			}
		}
		test_end(NULL);
	}
}

/*
 * ---- Invariants of every stream -----------------------------------------------------------------
 */

struct element {
	uint32_t index, second, position;
};

static int by_index(const void *a, const void *b)
{
	const struct element *x = a, *y = b;

	return x->index != y->index ? (x->index > y->index) - (x->index < y->index) :
	       (x->position > y->position) - (x->position < y->position);
}

static uint32_t less(unsigned op, uint32_t a, uint32_t b)
{
	return op == GTU_IRU_OP_MIN_S32 ? ((int32_t)a < (int32_t)b ? a : b) : a < b ? a : b;
}

static float as_float(uint32_t u)
{
	return ((union { uint32_t u; float f; }){ u }).f;
}

/* Output and merged elements account for all input elements; records are as full as possible. */
static void account(const struct bed *b, const struct run *r, bool exact_fill)
{
	const unsigned op = r->desc.param & 7, target = r->desc.param >> GTU_IRU_TARGET_SHIFT & 7;
	struct element *in = test_alloc(b->n + 1, sizeof(*in)), *out = test_alloc(b->n + 33, sizeof(*out));
	size_t outs = 0, partial = 0, disabled = 0;
	uint8_t *used = test_alloc(b->n + 1, 1);

	CHECK_EQ(r->cpl.status, GTU_CPL_OK);
	for (uint64_t i = 0; i < b->n; i++)
		in[i] = (struct element){ b->index[i], b->second[i], (uint32_t)i };
	for (size_t i = 0; i < r->count; i++) {
		const struct gtu_hw_warp *h = head_of(r, i);
		unsigned lines = 0;

		CHECK_EQ(h->sequence, i);
		CHECK(!(h->active & (h->active + 1)));		/* lanes are filled from lane 0 */
		partial += h->active && ~h->active;
		disabled += !h->active;
		CHECK(!h->active == (h->reason == GTU_WARP_DISABLED));
		for (unsigned l = 0; l < 32; l++) {
			const uint64_t line = (r->desc.imm + ((uint64_t)field_of(r, i, 0)[l] << target)) / 128;
			unsigned j = 0;

			if (!(h->active >> l & 1)) {
				CHECK(!field_of(r, i, 0)[l] && !field_of(r, i, 1)[l] && !field_of(r, i, 2)[l]);
				continue;
			}
			CHECK(outs < b->n);
			out[outs++] = (struct element){ field_of(r, i, 0)[l], field_of(r, i, 1)[l],
							field_of(r, i, 2)[l] };
			while ((r->desc.imm + ((uint64_t)field_of(r, i, 0)[j] << target)) / 128 != line)
				j++;
			lines += j == l;
		}
		CHECK_EQ(h->lines, lines);
	}
	CHECK_EQ(outs + r->cpl.dropped, b->n);
	CHECK(partial <= 1);
	if (r->desc.param & GTU_IRU_ALL)
		CHECK_EQ(r->count, (b->n + 31) / 32);
	else
		CHECK(!disabled && (!exact_fill || r->count == (outs + 31) / 32));
	for (size_t i = 0; i < outs; i++) {
		CHECK(out[i].position < b->n && !used[out[i].position]++);
		CHECK_EQ(b->index[out[i].position], out[i].index);
		if (op != GTU_IRU_OP_ADD_F32)
			CHECK_EQ(b->second[out[i].position], out[i].second);
	}
	qsort(in, b->n, sizeof(*in), by_index);
	qsort(out, outs, sizeof(*out), by_index);
	for (size_t i = 0, j = 0; i < b->n;) {
		const uint32_t index = in[i].index;
		uint32_t least = in[i].second, least_out;
		double sum = 0, sum_out = 0;

		for (; i < b->n && in[i].index == index; i++) {
			least = less(op, least, in[i].second);
			sum += as_float(in[i].second);
		}
		CHECKF(j < outs && out[j].index == index, "index %u is missing in the output", index);
		least_out = out[j].second;
		for (; j < outs && out[j].index == index; j++) {
			least_out = less(op, least_out, out[j].second);
			sum_out += as_float(out[j].second);
		}
		if (op == GTU_IRU_OP_MIN_U32 || op == GTU_IRU_OP_MIN_S32)
			CHECK_EQ(least, least_out);
		if (op == GTU_IRU_OP_ADD_F32)		/* small integers: the sum is exact in every order */
			CHECK(sum == sum_out);
		if (i == b->n)
			CHECK_EQ(j, outs);
	}
	if (!op)
		CHECK_EQ(outs, b->n);
}

TEST(output_accounts_for_every_element)
{
	for (uint64_t seed = 1; seed <= 120; seed++) {
		static const uint64_t sizes[] = { 0, 1, 2, 31, 32, 33, 64, 1000, 5000, 60000 };
		uint64_t r = seed;
		const uint32_t param = some_param(&r) | GTU_IRU_WITH_SECONDARY | GTU_IRU_WITH_POSITION;
		const unsigned kind = test_random(&r) % 4;
		struct gtu_hw_desc desc;
		struct run got;
		struct bed b;

		bed_open(&b, NULL, sizes[seed % 10], seed % 3 == 0, seed);
		fill(&b, seed, param & 7);
		for (uint64_t i = 0; kind < 2 && i < b.n; i++)
			b.index[i] = kind ? 7 : b.index[i] << 20;	/* all equal; few sets */
		desc = describe(&b, param, true, 64);
		desc.param2 = seed % 2 ? 0 : 1 + test_random(&r) % 30;
		drive(&b, &got, &desc, (struct pace){ .lazy = 2 }, seed);
		account(&b, &got, true);
		test_end(NULL);
	}
}

TEST(demand_outputs_the_requested_records_and_loses_none)
{
	for (uint64_t seed = 1; seed <= 100; seed++) {
		uint64_t r = seed;
		const uint32_t param = some_param(&r) | GTU_IRU_WITH_SECONDARY | GTU_IRU_WITH_POSITION |
				       GTU_IRU_DEMAND;
		const bool waits = seed % 2;
		struct pace pace = { .lazy = test_random(&r) % 5, .only_waiting = waits,
				     .ask = 1 + test_random(&r) % 20 };
		struct gtu_hw_desc desc;
		struct run got, again;
		struct bed b;

		bed_open(&b, NULL, test_random(&r) % 6000, false, seed);
		fill(&b, seed, param & 7);
		desc = describe(&b, param, true, 32);
		desc.param2 = seed % 3 ? 0 : 1 + test_random(&r) % 100;
		drive(&b, &got, &desc, pace, seed);
		account(&b, &got, true);
		if (waits) {
			/*
			 * requests made only while the device waits have cycles independent of the
			 * step size
			 */
			pace.budget = 1 + test_random(&r) % 5000;
			pace.lazy = 0;
			pace.ask = 1;
			drive(&b, &again, &desc, pace, seed);
			pace.budget = 1;
			drive(&b, &got, &desc, pace, seed);
			same(&got, &again, seed);
		}
		test_end(NULL);
	}
}

TEST(other_builds_account_for_every_element)
{
	for (uint64_t seed = 1; seed <= 60; seed++) {
		uint64_t r = seed;
		struct gtu_dev_config config = {
			.iru_partitions = 1u << test_random(&r) % 4,
			.iru_banks = 1u << test_random(&r) % 3,
			.iru_sets = 32u << test_random(&r) % 7,
			.iru_interleave = 128u << test_random(&r) % 3,
			.iru_prefetch = 1 + (uint32_t)test_random(&r) % 20,
			.iru_latency = 1 + (uint32_t)test_random(&r) % 300,
			.iru_ring_depth = 1 + (uint32_t)test_random(&r) % 100,
			.iru_queue_depth = 32 + (uint32_t)test_random(&r) % 100,
			.iru_timeout = 1 + (uint32_t)test_random(&r) % 2000,
		};
		const uint32_t param = some_param(&r) | GTU_IRU_WITH_SECONDARY | GTU_IRU_WITH_POSITION;
		struct gtu_hw_desc desc;
		struct run got;
		struct bed b;

		bed_open(&b, &config, test_random(&r) % 8000, false, seed);
		fill(&b, seed, param & 7);
		desc = describe(&b, param, true, 16);
		drive(&b, &got, &desc, (struct pace){ .lazy = 2 }, seed);
		account(&b, &got, true);
		test_end(NULL);
	}
}

/*
 * ---- Errors -------------------------------------------------------------------------------------
 */

TEST(invalid_descriptors_are_rejected)
{
	struct bed b;
	struct gtu_hw_cpl cpl;
	struct gtu_hw_desc good, d;

	bed_open(&b, NULL, 1000, false, 2);
	good = describe(&b, 0, false, 64);
	memset(header(&b), 0, 64);
#define REFUSED(change, status_, place_)                                                           \
	do {                                                                                       \
		d = good;                                                                          \
		change;                                                                            \
		cpl = fx_do(b.f, &d, 1 << 20);                                                     \
		CHECK_EQ(cpl.status, status_);                                                     \
		CHECK_EQ(cpl.operand, place_);                                                     \
		CHECK_EQ(cpl.count, 0);                                                            \
	} while (0)
	REFUSED(d.param = 1u << 13, GTU_CPL_RESERVED, 0xff);
	REFUSED(d.param = 5, GTU_CPL_PARAM, 0xff);
	REFUSED(d.param = 7, GTU_CPL_PARAM, 0xff);
	REFUSED(d.param = GTU_IRU_OP_MIN_U32, GTU_CPL_OPERAND, GTU_IRU_SECONDARY);
	REFUSED(d.param = GTU_IRU_WITH_SECONDARY, GTU_CPL_OPERAND, GTU_IRU_SECONDARY);
	REFUSED((d.operand[1].key = b.key[1], d.operand[1].count = 999), GTU_CPL_OPERAND, GTU_IRU_SECONDARY);
	REFUSED((d.operand[1].key = b.key[1], d.operand[1].count = 1003), GTU_CPL_BOUNDS, GTU_IRU_SECONDARY);
	REFUSED(d.operand[2].count = 0, GTU_CPL_OPERAND, GTU_IRU_RING);
	REFUSED(d.operand[2].count = 3, GTU_CPL_OPERAND, GTU_IRU_RING);
	REFUSED(d.operand[2].count = 1u << 31, GTU_CPL_BOUNDS, GTU_IRU_RING);
	REFUSED(d.operand[2].offset += 32, GTU_CPL_OPERAND, GTU_IRU_RING);
	REFUSED(d.operand[0].offset += 2, GTU_CPL_OPERAND, GTU_IRU_INDICES);
	REFUSED(d.operand[0].count = GTU_COUNT_TO_END, GTU_CPL_OPERAND, GTU_IRU_INDICES);
	REFUSED(d.operand[0].key = 0, GTU_CPL_OPERAND, GTU_IRU_INDICES);
	REFUSED(d.operand[2].key = b.key[0], GTU_CPL_RIGHTS, GTU_IRU_RING);
	REFUSED(d.operand[3].count = 1, GTU_CPL_OPERAND, 3);
	/* a consumer index ahead of the producer, or more than the ring size behind it */
	header(&b)->consumer = 5;
	REFUSED((void)0, GTU_CPL_INDEX, GTU_IRU_RING);
	CHECK_EQ(cpl.needed, 5);
	CHECK_EQ(header(&b)->ended, 1);
	header(&b)->consumer = (uint32_t)-65;
	REFUSED((void)0, GTU_CPL_INDEX, GTU_IRU_RING);
	header(&b)->consumer = 0;
	cpl = fx_do(b.f, &good, 1 << 20);
	CHECK_EQ(cpl.status, GTU_CPL_OK);
	CHECK_EQ(cpl.count, 32);
}

TEST(too_wide_indices_and_positions_are_reported)
{
	const struct gtu_dev_config config = { .iru_index_bits = 24, .iru_position_bits = 10 };
	struct gtu_hw_cpl cpl;
	struct gtu_hw_desc d;
	struct run got;
	struct bed b;

	bed_open(&b, &config, 1025, false, 4);
	d = describe(&b, GTU_IRU_WITH_POSITION, false, 64);
	cpl = fx_do(b.f, &d, 1000);
	CHECK_EQ(cpl.status, GTU_CPL_WIDTH);
	CHECK_EQ(cpl.element, 1024);
	CHECK_EQ(cpl.needed, 1024);
	CHECK_EQ(cpl.count, 0);

	bed_open(&b, &config, 1024, false, 4);
	d = describe(&b, GTU_IRU_WITH_POSITION, false, 64);
	for (unsigned bad = 0; bad < 1024; bad += 37) {
		memset(b.index, 0, 4096);
		b.index[bad] = 0x1000000;
		drive(&b, &got, &d, (struct pace){ .lazy = 2 }, bad);
		CHECK_EQ(got.cpl.status, GTU_CPL_WIDTH);
		CHECK_EQ(got.cpl.element, bad);
		CHECK_EQ(got.cpl.needed, 0x1000000);
		CHECK_EQ(got.cpl.operand, GTU_IRU_INDICES);
		CHECK_EQ(got.cpl.count, got.count);
		b.index[bad] = 0xffffff;
		drive(&b, &got, &d, (struct pace){ .lazy = 2 }, bad);
		CHECK_EQ(got.cpl.status, GTU_CPL_OK);
	}
}

TEST(a_limit_ends_a_stream_and_leaves_no_state)
{
	struct gtu_hw_desc d;
	struct gtu_hw_cpl cpl;
	struct run want, got;
	struct bed b;

	bed_open(&b, NULL, 50000, false, 6);
	fill(&b, 3, 0);
	d = describe(&b, GTU_IRU_WITH_POSITION, false, 1024);
	drive(&b, &want, &d, (struct pace){ .budget = 100000 }, 1);
	CHECK(want.cpl.cycles > 4096);
	d.limit = 2;
	memset(header(&b), 0, 64);
	cpl = fx_do(b.f, &d, 100);
	CHECK_EQ(cpl.status, GTU_CPL_LIMIT);
	d.limit = 0;
	drive(&b, &got, &d, (struct pace){ .lazy = 1 }, 1);
	same(&want, &got, 6);
}

/*
 * Overwrite all user memory between steps; guard pages detect accesses outside. The stream ends, and leaves no state
 * for a later one.
 */
TEST(memory_that_changes_does_not_affect_later_streams)
{
	unsigned status[GTU_CPL_COUNT] = { 0 };

	for (uint64_t seed = 1; seed <= 60; seed++) {
		uint64_t r = seed;
		struct gtu_hw_desc d;
		struct gtu_hw_cpl cpl;
		struct run after;
		struct bed b;

		bed_open(&b, NULL, 20000, seed % 2, seed);
		fill(&b, seed, 0);
		d = describe(&b, some_param(&r) | (seed % 3 ? GTU_IRU_DEMAND : 0), true, 1u << seed % 4);
		d.limit = 200;
		memset(header(&b), 0, 64);
		fx_submit_to(b.f, 0, &d);
		for (unsigned step = 0; !fx_poll(b.f, 0, &cpl); step++) {
			struct gtu_hw_ring *h = header(&b);
			uint32_t *words = (void *)h;

			CHECK(step < 20000);
			gtu_dev_step(b.f->dev, 1 + test_random(&r) % 200);
			for (unsigned i = 0; i < 50; i++)
				b.index[test_random(&r) % b.n] = (uint32_t)test_random(&r);
			if (test_random(&r) % 500 == 0)
				words[test_random(&r) % 16] = (uint32_t)test_random(&r);
			h->requested += test_random(&r) % 3;
			h->consumer += h->producer != h->consumer;
			fx_doorbell(b.f, 0, GTU_DB_KICK, 1);
		}
		status[cpl.status]++;
		b.n = 512;
		d = describe(&b, 0, false, 1024);
		drive(&b, &after, &d, (struct pace){ .budget = 1 << 20 }, seed);
		CHECK_EQ(after.cpl.status, GTU_CPL_OK);
		CHECK(after.count >= 512 / 32);
		test_end(NULL);
	}
	CHECK(status[GTU_CPL_OK] > 30 && status[GTU_CPL_INDEX]);
	CHECK_EQ(status[GTU_CPL_OK] + status[GTU_CPL_INDEX], 60);
}

TEST(counters_equal_the_completion_and_records)
{
	uint64_t c[GTU_IRU_COUNTERS], lines = 0;
	struct gtu_hw_desc d;
	struct run got;
	struct bed b;

	bed_open(&b, NULL, 30000, false, 8);
	fill(&b, 12, GTU_IRU_OP_FILTER);
	d = describe(&b, GTU_IRU_OP_FILTER | GTU_IRU_ALL, false, 4);
	drive(&b, &got, &d, (struct pace){ .lazy = 3 }, 1);
	fx_put(b.f, GTU_PAGE_IRU + GTU_UREG_CTRL, 4, GTU_CTRL_SNAPSHOT);
	for (unsigned i = 0; i < GTU_IRU_COUNTERS; i++)
		c[i] = fx_reg(b.f, GTU_PAGE_IRU + GTU_UREG_COUNTER(i), 8);
	for (size_t i = 0; i < got.count; i++)
		lines += head_of(&got, i)->lines;
	CHECK_EQ(c[GTU_IRU_C_JOBS], 1);
	CHECK_EQ(c[GTU_IRU_C_CYCLES], got.cpl.cycles);
	CHECK_EQ(c[GTU_IRU_C_IN], 30000);
	CHECK_EQ(c[GTU_IRU_C_MERGED], got.cpl.dropped);
	CHECK_EQ(c[GTU_IRU_C_RECORDS], got.count);
	CHECK_EQ(c[GTU_IRU_C_FULL] + c[GTU_IRU_C_TIMEOUT] + c[GTU_IRU_C_END] + c[GTU_IRU_C_DISABLED],
		 got.count);
	CHECK_EQ(c[GTU_IRU_C_LINES], lines);
	CHECK(c[GTU_IRU_C_HOPS] > 20000);
}

TEST_MAIN
