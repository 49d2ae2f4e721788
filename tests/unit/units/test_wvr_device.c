// SPDX-License-Identifier: MIT
/*
 * Weaver through its descriptor: the registered work, less the skipped work, in entry order; the
 * same records in the same cycles for any consumer speed and step size; no value in user memory
 * makes the unit access memory outside its operands.
 */
#include "tests/unit/fixture.h"
#include "firmware-model/units/wvr/wvr_core.h"

#define TABLE_MAX	4096u

struct bed {
	struct fx *f;
	struct fx_buffer *table, *ring;
	struct gtu_hw_registration *reg;
	uint32_t key[2];
	unsigned n;
};

struct run {
	uint8_t *records;
	size_t record_bytes, room, count;
	struct gtu_hw_cpl cpl;
};

static void bed_open(struct bed *b, const struct gtu_dev_config *config, bool scattered, uint64_t seed)
{
	const uint64_t ring = 64 + 256 * 576 + 8 * 1024;

	b->f = fx_open(config, seed);
	b->table = fx_buffer(b->f, TABLE_MAX * sizeof(*b->reg) + 64);
	b->ring = fx_buffer(b->f, ring + 64);
	b->reg = (void *)(b->table->at + 8);
	b->key[0] = scattered ? fx_region_scattered(b->f, b->table, 8, TABLE_MAX * sizeof(*b->reg), GTU_REGION_READ, 2) :
				fx_region(b->f, b->table, 8, TABLE_MAX * sizeof(*b->reg), GTU_REGION_READ);
	b->key[1] = scattered ? fx_region_scattered(b->f, b->ring, 8, ring, GTU_REGION_READ | GTU_REGION_WRITE, 1) :
				fx_region(b->f, b->ring, 8, ring, GTU_REGION_READ | GTU_REGION_WRITE);
	b->n = 0;
}

static struct gtu_hw_ring *header(struct bed *b)
{
	return (void *)(b->ring->at + 8);
}

static size_t record_bytes(uint32_t param)
{
	return 64 + (param & GTU_WVR_VIDS_8 ? 256 : 128) + (param & GTU_WVR_EIDS_8 ? 256 : 128);
}

static uint64_t *return_ring(struct bed *b, const struct gtu_hw_desc *d)
{
	return (void *)((uint8_t *)header(b) + 64 + d->operand[1].count * record_bytes(d->param));
}

static struct gtu_hw_desc describe(const struct bed *b, uint32_t param, uint32_t ring, uint32_t skip_log2)
{
	return (struct gtu_hw_desc){
		.opcode = GTU_OP_WVR_STREAM, .param = param, .param2 = skip_log2,
		.operand = { { b->key[0], b->n, 0 }, { b->key[1], ring, 0 } },
	};
}

static uint64_t lane(const struct run *r, uint32_t param, size_t i, unsigned field, unsigned l)
{
	const uint8_t *at = r->records + i * r->record_bytes + 64;
	const bool wide = param & (field ? GTU_WVR_EIDS_8 : GTU_WVR_VIDS_8);

	at += field ? (param & GTU_WVR_VIDS_8 ? 256 : 128) : 0;
	return wide ? ((const uint64_t *)(const void *)at)[l] : ((const uint32_t *)(const void *)at)[l];
}

static const struct gtu_hw_warp *head(const struct run *r, size_t i)
{
	return (const void *)(r->records + i * r->record_bytes);
}

/*
 * Run a stream to completion. The consumer polls once in @lazy + 1 rounds and skips one record in
 * @skip (0: none).
 */
static void drive(struct bed *b, struct run *r, const struct gtu_hw_desc *d, uint64_t budget, unsigned lazy,
		  unsigned skip, uint64_t seed)
{
	struct gtu_hw_ring *h = header(b);
	const uint32_t ring = d->operand[1].count, mask = (1u << d->param2) - 1;

	memset(r, 0, sizeof(*r));
	memset(h, 0, sizeof(*h));
	r->record_bytes = record_bytes(d->param);
	fx_submit_to(b->f, 0, d);
	for (bool done = false; !done;) {
		done = fx_poll(b->f, 0, &r->cpl);
		if (gtu_dev_pending(b->f->dev))
			gtu_dev_step(b->f->dev, budget ? budget : 1 + test_random(&seed) % 300);
		CHECK(h->producer - h->consumer <= ring);
		if (!done && test_random(&seed) % (lazy + 1))
			continue;
		while (h->consumer != h->producer) {
			if (r->count == r->room) {
				r->room = 2 * r->room + 64;
				r->records = test_grow(r->records, r->room * r->record_bytes);
			}
			memcpy(r->records + r->count++ * r->record_bytes,
			       (uint8_t *)h + 64 + (h->consumer & (ring - 1)) * r->record_bytes, r->record_bytes);
			h->consumer++;
			if (skip && !(test_random(&seed) % skip) && h->returned - h->received <= mask) {
				return_ring(b, d)[h->returned & mask] = lane(r, d->param, r->count - 1, 0, 0);
				h->returned++;
			}
		}
		if (d->param & GTU_WVR_DEMAND)
			h->requested = h->producer + 1 + (uint32_t)(test_random(&seed) % 3);
		if (h->waiting)
			fx_doorbell(b->f, 0, GTU_DB_KICK, 1);
	}
	CHECK_EQ(h->ended, 1);
	CHECK_EQ(h->waiting, 0);
}

/* Rounds of registrations in random order; the expected work, by round and entry. */
struct work {
	uint64_t vid, eid;
	uint32_t round;
};
static struct work *fill(struct bed *b, uint64_t seed, size_t *n)
{
	const unsigned rounds = (unsigned)(test_random(&seed) % 5);
	static struct work w[400000];

	*n = 0;
	b->n = 0;
	for (unsigned k = 0; k < rounds; k++) {
		const unsigned most = 1 + (unsigned)(test_random(&seed) % 512), first = b->n;
		struct gtu_hw_registration by_entry[512] = { { 0 } };
		bool used[512] = { false };

		for (unsigned i = 0; i < most; i++) {
			const uint32_t e = (uint32_t)(test_random(&seed) % 512);

			if (used[e])
				continue;
			used[e] = true;
			by_entry[e] = b->reg[b->n++] = (struct gtu_hw_registration){
				.entry = e, .vid = test_random(&seed) % 1000, .start = test_random(&seed) % 100000000,
				.degree = !(test_random(&seed) % 50) ? test_random(&seed) % 2000 :
					  test_random(&seed) % 12,
			};
		}
		b->reg[b->n - 1].flags = k + 1 < rounds || test_random(&seed) % 2 ? GTU_WVR_LAST : 0;
		CHECK(b->n > first);
		for (unsigned e = 0; e < 512; e++)
			for (uint64_t j = 0; used[e] && j < by_entry[e].degree; j++)
				w[(*n)++] = (struct work){ by_entry[e].vid, by_entry[e].start + j, k };
	}
	return w;
}

static void check_all(const struct run *r, uint32_t param, const struct work *w, size_t n)
{
	size_t at = 0;

	CHECK_EQ(r->cpl.status, GTU_CPL_OK);
	CHECK_EQ(r->cpl.count, r->count);
	for (size_t i = 0; i < r->count; i++) {
		const struct gtu_hw_warp *h = head(r, i);

		CHECK_EQ(h->sequence, i);
		CHECK(h->active && !(h->active & (h->active + 1)));
		CHECK_EQ(h->reason, ~h->active ? GTU_WARP_END : GTU_WARP_FULL);
		for (unsigned l = 0; l < 32; l++) {
			if (h->active >> l & 1) {
				CHECK(at < n);
				CHECK_EQ(lane(r, param, i, 0, l), w[at].vid);
				CHECK_EQ(lane(r, param, i, 1, l), w[at].eid);
				CHECK_EQ(h->lines, w[at].round);
				at++;
			} else {
				CHECK_EQ(lane(r, param, i, 0, l), param & GTU_WVR_VIDS_8 ? ~0ull : ~0u);
				CHECK_EQ(lane(r, param, i, 1, l), param & GTU_WVR_EIDS_8 ? ~0ull : ~0u);
			}
		}
	}
	CHECK_EQ(at, n);
}

TEST(canonical_streams_do_not_depend_on_their_consumer)
{
	for (uint64_t seed = 1; seed <= 200; seed++) {
		const uint32_t param = (uint32_t)(seed % 4);
		struct gtu_hw_desc d;
		struct run want, got;
		struct work *w;
		struct bed b;
		size_t n;

		bed_open(&b, NULL, false, seed);
		w = fill(&b, seed, &n);
		d = describe(&b, param, 256, 0);
		drive(&b, &want, &d, 1 << 20, 0, 0, seed);
		check_all(&want, param, w, n);
		for (unsigned i = 0; i < 3; i++) {
			if (i == 2) {
				bed_open(&b, NULL, true, seed);
				fill(&b, seed, &n);
			}
			d = describe(&b, param, 1u << (seed + i) % 6, i ? 4 : 0);
			drive(&b, &got, &d, i == 1 ? 1 : 0, i * 3, 0, seed + i);
			CHECK_EQ(got.count, want.count);
			CHECKF(!got.count || !memcmp(got.records, want.records, got.count * got.record_bytes),
			       "seed %" PRIu64 ": records differ", seed);
			CHECK_EQ(got.cpl.cycles, want.cpl.cycles);
		}
		/* on demand, each work item once */
		d = describe(&b, param | GTU_WVR_DEMAND, 8, 0);
		drive(&b, &got, &d, 0, 2, 0, seed);
		check_all(&got, param, w, n);
		test_end(NULL);
	}
}

/* The output is a subsequence of the work; the missing items were skipped and counted. */
TEST(skips_remove_work_that_no_warp_holds)
{
	uint64_t skipped = 0;

	for (uint64_t seed = 1; seed <= 300; seed++) {
		const uint32_t param = seed % 2 ? GTU_WVR_DEMAND : 0;
		struct gtu_hw_desc d;
		size_t n, at = 0, came = 0;
		struct work *w;
		struct run got;
		struct bed b;

		bed_open(&b, NULL, false, seed);
		w = fill(&b, seed, &n);
		d = describe(&b, param, 2, 3 + (uint32_t)(seed % 4));
		drive(&b, &got, &d, 0, 1, 1 + (unsigned)(seed % 3), seed);
		CHECK_EQ(got.cpl.status, GTU_CPL_OK);
		for (size_t i = 0; i < got.count; i++) {
			for (unsigned l = 0; l < 32 && head(&got, i)->active >> l & 1; l++, came++) {
				while (at < n && (w[at].vid != lane(&got, param, i, 0, l) ||
						  w[at].eid != lane(&got, param, i, 1, l)))
					at++;
				CHECKF(at < n, "seed %" PRIu64 ": a work item is unknown or out of order", seed);
				at++;
			}
		}
		CHECK_EQ(came + got.cpl.dropped, n);
		skipped += got.cpl.dropped;
		test_end(NULL);
	}
	CHECK(skipped > 1000);
}

#define EXPECT(change, what, place, element_, needed_)                                             \
	do {                                                                                       \
		change;                                                                            \
		struct run r_;                                                                     \
		drive(&b, &r_, &d, 0, 0, 0, 1);                                                    \
		CHECK_EQ(r_.cpl.status, what);                                                     \
		CHECK_EQ(r_.cpl.operand, place);                                                   \
		CHECK_EQ(r_.cpl.element, element_);                                                \
		CHECK_EQ(r_.cpl.needed, needed_);                                                  \
	} while (0)

TEST(errors_name_the_registration)
{
	struct gtu_hw_desc d;
	struct bed b;

	bed_open(&b, NULL, false, 3);
	b.n = 3;
	for (unsigned i = 0; i < 3; i++)
		b.reg[i] = (struct gtu_hw_registration){ .entry = i, .vid = i, .start = 5 * i, .degree = 2 };
	d = describe(&b, 0, 4, 0);
	EXPECT(b.reg[2].entry = 512, GTU_CPL_INDEX, 0, 2, 512);
	EXPECT(b.reg[2].entry = 0, GTU_CPL_INDEX, 0, 2, 0);
	/* in another round the entry may be registered again */
	EXPECT(b.reg[1].flags = GTU_WVR_LAST, GTU_CPL_OK, 0xff, 0, 0);
	EXPECT(b.reg[2].flags = 2, GTU_CPL_RESERVED, 0, 2, 2);
	b.reg[2].flags = 0;
	EXPECT(b.reg[2].vid = 0xffffffff, GTU_CPL_WIDTH, 0, 2, 0xffffffff);
	b.reg[2].vid = 7;
	b.reg[2].start = 0xfffffff0;
	EXPECT(b.reg[2].degree = 15, GTU_CPL_OK, 0xff, 0, 0);
	EXPECT(b.reg[2].degree = 16, GTU_CPL_WIDTH, 0, 2, 16);
	EXPECT(d.param = GTU_WVR_EIDS_8, GTU_CPL_OK, 0xff, 0, 0);
	EXPECT(b.reg[2].degree = ~0ull, GTU_CPL_WIDTH, 0, 2, ~0ull);
	b.reg[2].degree = 1;
	d.param = 0x80;
	fx_submit_to(b.f, 0, &d);
	gtu_dev_step(b.f->dev, 1000);
	{
		struct gtu_hw_cpl c;

		CHECK(fx_poll(b.f, 0, &c));
		CHECK_EQ(c.status, GTU_CPL_RESERVED);
		d = describe(&b, 0, 4, 2);
		CHECK_EQ(fx_do(b.f, &d, 0).status, GTU_CPL_PARAM);
		d = describe(&b, 0, 3, 0);
		CHECK_EQ(fx_do(b.f, &d, 0).status, GTU_CPL_OPERAND);
		d = describe(&b, 0, 512, 0);
		c = fx_do(b.f, &d, 0);
		CHECK_EQ(c.status, GTU_CPL_BOUNDS);
		CHECK_EQ(c.operand, GTU_WVR_RING);
		/* invalid indices in the ring header */
		b.n = 3;
		d = describe(&b, 0, 4, 3);
		memset(header(&b), 0, 64);
		header(&b)->returned = 9;
		c = fx_do(b.f, &d, 0);
		CHECK_EQ(c.status, GTU_CPL_INDEX);
		CHECK_EQ(c.needed, 9);
		memset(header(&b), 0, 64);
		header(&b)->consumer = 1;
		c = fx_do(b.f, &d, 0);
		CHECK_EQ(c.status, GTU_CPL_INDEX);
		CHECK_EQ(c.operand, GTU_WVR_RING);
		d.limit = 1;		/* 1024 cycles */
		b.reg[0].degree = 100000000;
		memset(header(&b), 0, 64);
		header(&b)->consumer = 0;
		d.operand[1].count = 256;
		fx_submit_to(b.f, 0, &d);
		while (!fx_poll(b.f, 0, &c)) {
			gtu_dev_step(b.f->dev, 100);
			header(&b)->consumer = header(&b)->producer;
			if (header(&b)->waiting)
				fx_doorbell(b.f, 0, GTU_DB_KICK, 1);
		}
		CHECK_EQ(c.status, GTU_CPL_LIMIT);
		CHECK_EQ(c.cycles, 1024);
		CHECK_EQ(header(&b)->ended, 1);
	}
}

/* Registrations, ring and skips change while the stream runs. It completes and leaves no state. */
TEST(hostile_memory_does_not_affect_later_streams)
{
	unsigned ok = 0, bad = 0;

	for (uint64_t seed = 1; seed <= 300; seed++) {
		uint64_t r = seed;
		struct gtu_hw_cpl c;
		struct gtu_hw_desc d;
		struct bed b;
		size_t n;

		bed_open(&b, NULL, seed % 2, seed);
		fill(&b, seed, &n);
		d = describe(&b, seed % 8, 8, seed % 3 ? 3 : 0);
		d.limit = 100;
		memset(header(&b), 0, 64);
		fx_submit_to(b.f, 0, &d);
		for (unsigned i = 0; !fx_poll(b.f, 0, &c); i++) {
			uint32_t *word = (void *)header(&b);

			gtu_dev_step(b.f->dev, 1 + test_random(&r) % 200);
			if (test_random(&r) % 3 == 0)
				b.reg[test_random(&r) % TABLE_MAX].entry = (uint32_t)test_random(&r) % 600;
			if (seed % 5 == 0 && test_random(&r) % 50 == 0)
				word[test_random(&r) % 16] = (uint32_t)test_random(&r);
			else
				header(&b)->consumer = header(&b)->producer;
			header(&b)->requested = header(&b)->producer + 5;
			fx_doorbell(b.f, 0, GTU_DB_KICK, 1);
			CHECK(i < 1000000);
		}
		ok += c.status == GTU_CPL_OK;
		bad += c.status != GTU_CPL_OK;
		/* the unit is free and works */
		b.n = 1;
		b.reg[0] = (struct gtu_hw_registration){ .entry = 1, .vid = 2, .start = 3, .degree = 4 };
		d = describe(&b, 0, 8, 0);
		memset(header(&b), 0, 64);
		c = fx_do(b.f, &d, 0);
		CHECK_EQ(c.status, GTU_CPL_OK);
		CHECK_EQ(c.count, 1);
		test_end(NULL);
	}
	CHECK(ok > 50 && bad > 20);
}

/* A cancel and a queue reset in mid-stream leave the unit usable. */
TEST(a_stream_ends_by_cancel_or_reset)
{
	for (unsigned how = 0; how < 2; how++) {
		const uint64_t arg[2] = { 0, 1 };
		struct gtu_hw_desc d;
		struct gtu_hw_cpl c;
		struct bed b;

		bed_open(&b, NULL, false, 9);
		b.n = 1;
		b.reg[0] = (struct gtu_hw_registration){ .entry = 0, .vid = 1, .start = 0, .degree = 1 << 20 };
		d = describe(&b, 0, 4, 0);
		memset(header(&b), 0, 64);
		fx_submit_to(b.f, 0, &d);
		while (gtu_dev_pending(b.f->dev))
			gtu_dev_step(b.f->dev, 100);
		CHECK_EQ(header(&b)->producer, 4);
		CHECK_EQ(header(&b)->waiting, 1);
		if (how == 0) {
			fx_mailbox(b.f, GTU_MBOX_QUEUE_CANCEL, 2, arg);
			CHECK_EQ(fx_mailbox_status(b.f), GTU_MBOX_E_OK);
			CHECK(fx_poll(b.f, 0, &c));
			CHECK_EQ(c.status, GTU_CPL_CANCELED);
			CHECK_EQ(header(&b)->ended, 1);
			CHECK_EQ(header(&b)->waiting, 0);
		} else {
			fx_mailbox(b.f, GTU_MBOX_QUEUE_RESET, 1, arg);
			b.f->queue[0].tail = b.f->queue[0].head = 0;
		}
		b.reg[0].degree = 40;
		memset(header(&b), 0, 64);
		c = fx_do(b.f, &d, 0);
		CHECK_EQ(c.status, GTU_CPL_OK);
		CHECK_EQ(c.count, 2);
		test_end(NULL);
	}
}

TEST_MAIN
