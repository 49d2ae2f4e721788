// SPDX-License-Identifier: MIT
/*
 * IRU and Weaver read an edge list in place. A stream over ranges of a list gives the records and
 * cycles of the same stream over a copy of its elements. Weaver's records carry the elements that
 * their edge ids name, in unchanged cycles.
 */
#include "tests/unit/fixture.h"

#define RANGES_MAX	300u
#define RECORDS		1024u		/* of the ring: no stream here waits for its consumer */
#define RING_BYTES	(64 + RECORDS * GTU_WARP_BYTES(4, 4))

enum { LIST, COPY, SECOND, FIRST, COUNT, RING, BUFFERS };

struct bed {
	struct fx *f;
	struct fx_buffer *buffer[BUFFERS];
	uint32_t key[BUFFERS];
	uint64_t space, n;		/* elements of the list; of the stream */
	unsigned ranges, wide, wide_first;
};

static void *at(const struct bed *b, unsigned i)
{
	return b->buffer[i]->at + 8;
}

static uint64_t get(const void *from, unsigned wide, uint64_t i)
{
	return wide ? ((const uint64_t *)from)[i] : ((const uint32_t *)from)[i];
}

static void put(void *to, unsigned wide, uint64_t i, uint64_t value)
{
	if (wide)
		((uint64_t *)to)[i] = value;
	else
		((uint32_t *)to)[i] = (uint32_t)value;
}

/* A list, ranges of it that may overlap, and a copy of their elements. */
static void bed_open(struct bed *b, uint64_t seed)
{
	static const uint32_t interleave[] = { 128, 256, 4096 };
	const struct gtu_dev_config config = { .iru_interleave = interleave[seed % 3],
					       .iru_partitions = seed % 4 ? 4 : 1 };
	uint64_t r = seed, first, bytes[BUFFERS];
	uint32_t n;

	memset(b, 0, sizeof(*b));
	b->wide = seed & 1;
	b->wide_first = seed >> 1 & 1;
	b->space = 1 + test_random(&r) % 5000;
	b->ranges = 1 + (unsigned)(test_random(&r) % RANGES_MAX);
	b->f = fx_open(&config, seed);
	bytes[LIST] = b->space << (b->wide ? 3 : 2);
	bytes[COPY] = bytes[SECOND] = 4ull * RANGES_MAX * 64;
	bytes[FIRST] = (uint64_t)b->ranges << (b->wide_first ? 3 : 2);
	bytes[COUNT] = 4ull * b->ranges;
	bytes[RING] = RING_BYTES;
	for (unsigned i = 0; i < BUFFERS; i++) {
		const uint32_t rights = GTU_REGION_READ | (i == RING ? GTU_REGION_WRITE : 0);

		b->buffer[i] = fx_buffer(b->f, bytes[i] + 8);
		b->key[i] = seed % 5 ? fx_region(b->f, b->buffer[i], 8, bytes[i], rights) :
				       fx_region_scattered(b->f, b->buffer[i], 8, bytes[i], rights, 1 + i % 3);
	}
	for (uint64_t i = 0; i < b->space; i++)
		put(at(b, LIST), b->wide, i, test_random(&r) % 4096);
	for (unsigned i = 0; i < b->ranges; i++) {
		first = test_random(&r) % b->space;
		n = 1 + (uint32_t)(test_random(&r) % (i % 7 ? 4 : 63));
		n = n < b->space - first ? n : (uint32_t)(b->space - first);
		put(at(b, FIRST), b->wide_first, i, first);
		put(at(b, COUNT), 0, i, n);
		for (uint32_t k = 0; k < n; k++, b->n++)
			put(at(b, COPY), 0, b->n, get(at(b, LIST), b->wide, first + k));
	}
	for (uint64_t i = 0; i < b->n; i++)
		put(at(b, SECOND), 0, i, test_random(&r) % 1000);
}

static struct gtu_hw_desc iru(const struct bed *b, bool ranges, uint32_t param)
{
	struct gtu_hw_desc d = {
		.opcode = GTU_OP_IRU_STREAM, .param = param,
		.operand = {
			[GTU_IRU_INDICES] = { b->key[COPY], (uint32_t)b->n, 0 },
			[GTU_IRU_SECONDARY] = { b->key[SECOND], (uint32_t)b->n, 0 },
			[GTU_IRU_RING] = { b->key[RING], RECORDS, 0 },
		},
	};

	if (ranges) {
		d.param |= GTU_IRU_RANGES | (b->wide ? GTU_IRU_INDEX_8 : 0) | (b->wide_first ? GTU_IRU_FIRST_8 : 0);
		d.operand[GTU_IRU_INDICES].key = b->key[LIST];
		d.operand[GTU_IRU_FIRST] = (struct gtu_hw_operand){ b->key[FIRST], b->ranges, 0 };
		d.operand[GTU_IRU_COUNT] = (struct gtu_hw_operand){ b->key[COUNT], b->ranges, 0 };
	}
	return d;
}

static struct gtu_hw_cpl run(struct bed *b, const struct gtu_hw_desc *d, uint64_t budget)
{
	memset(at(b, RING), 0, RING_BYTES);
	return fx_do(b->f, d, budget);
}

struct observer {
	struct gtu_watch watch;
	uint64_t read[6], gathered[6];
	uint64_t cycle;
};

static void seen(struct gtu_watch *w, const struct gtu_access *a, uint64_t addr, uint64_t bytes)
{
	struct observer *o = (void *)w;

	(void)addr;
	if (a->write)
		return;
	CHECK(a->cycle >= o->cycle);
	o->cycle = a->cycle;
	o->read[a->slot] += bytes;
}

static void seen_gather(struct gtu_watch *w, const struct gtu_access *a, const uint64_t *addr, unsigned n,
			unsigned width)
{
	(void)addr;
	((struct observer *)w)->gathered[a->slot] += (uint64_t)n * width;
}

TEST(iru_ranges_equal_a_copy_of_their_elements)
{
	for (uint64_t seed = 1; seed <= 120; seed++) {
		const uint32_t param = seed % 5 | (seed % 2 ? GTU_IRU_WITH_POSITION : 0) | GTU_IRU_WITH_SECONDARY |
				       (uint32_t)(seed % 8) << GTU_IRU_TARGET_SHIFT | (seed % 3 ? 0 : GTU_IRU_ALL);
		struct observer o = { .watch = { seen, seen_gather } };
		struct gtu_hw_cpl want, got;
		struct gtu_hw_desc d;
		uint8_t *ring;
		struct bed b;

		bed_open(&b, seed);
		ring = test_alloc(RING_BYTES, 1);
		d = iru(&b, false, param);
		want = run(&b, &d, 1 << 20);
		CHECK_EQ(want.status, GTU_CPL_OK);
		memcpy(ring, at(&b, RING), RING_BYTES);
		d = iru(&b, true, param);
		for (unsigned i = 0; i < 3; i++) {
			if (i == 2)
				gtu_dev_watch(b.f->dev, &o.watch);
			got = run(&b, &d, i ? 0 : 1 << 20);
			CHECK_EQ(got.status, GTU_CPL_OK);
			CHECK_EQ(got.count, want.count);
			CHECK_EQ(got.cycles, want.cycles);
			CHECK_EQ(got.dropped, want.dropped);
			CHECKF(!memcmp(ring + 64, (char *)at(&b, RING) + 64, RING_BYTES - 64),
			       "seed %" PRIu64 ": records differ", seed);
		}
		gtu_dev_watch(b.f->dev, NULL);
		CHECK_EQ(o.read[GTU_IRU_INDICES], b.n << (b.wide ? 3 : 2));
		CHECK_EQ(o.read[GTU_IRU_FIRST], (uint64_t)b.ranges << (b.wide_first ? 3 : 2));
		CHECK_EQ(o.read[GTU_IRU_COUNT], 4 * b.ranges);
		test_end(NULL);
	}
}

#define EXPECT(change, status_, slot, element_, needed_)                                           \
	do {                                                                                       \
		bed_open(&b, seed);                                                                \
		d = iru(&b, true, 0);                                                              \
		change;                                                                            \
		cpl = run(&b, &d, 0);                                                              \
		CHECK_EQ(cpl.status, status_);                                                     \
		CHECK_EQ(cpl.operand, slot);                                                       \
		CHECK_EQ(cpl.element, element_);                                                   \
		CHECK_EQ(cpl.needed, needed_);                                                     \
		test_end(NULL);                                                                    \
	} while (0)

TEST(iru_errors_name_the_range)
{
	for (uint64_t seed = 1; seed <= 8; seed++) {
		struct gtu_hw_desc d;
		struct gtu_hw_cpl cpl;
		struct bed b;
		unsigned last;

		bed_open(&b, seed);
		last = b.ranges - 1;
		EXPECT(put(at(&b, COUNT), 0, last, 0), GTU_CPL_INDEX, GTU_IRU_COUNT, last, 0);
		EXPECT(put(at(&b, FIRST), b.wide_first, last, b.space), GTU_CPL_INDEX, GTU_IRU_FIRST, last, b.space);
		EXPECT(put(at(&b, COUNT), 0, last, 6000), GTU_CPL_INDEX, GTU_IRU_FIRST, last,
		       get(at(&b, FIRST), b.wide_first, last));
		/* the stream is longer than its ranges */
		EXPECT((d.operand[GTU_IRU_INDICES].count++, d.operand[GTU_IRU_SECONDARY].count++), GTU_CPL_OPERAND,
		       GTU_IRU_COUNT, b.ranges, b.n);
		EXPECT(d.operand[GTU_IRU_COUNT].count--, GTU_CPL_OPERAND, GTU_IRU_COUNT, 0, 0);
		EXPECT(d.operand[GTU_IRU_FIRST] = (struct gtu_hw_operand){ 0 }, GTU_CPL_OPERAND, GTU_IRU_FIRST, 0, 0);
		EXPECT(d.param &= ~GTU_IRU_RANGES, b.wide || b.wide_first ? GTU_CPL_PARAM : GTU_CPL_OPERAND,
		       b.wide || b.wide_first ? 0xff : GTU_IRU_FIRST, 0, 0);
		if (b.wide) {
			bed_open(&b, seed);
			d = iru(&b, true, 0);
			put(at(&b, LIST), 1, get(at(&b, FIRST), b.wide_first, last), 1ull << 40);
			cpl = run(&b, &d, 0);
			CHECK_EQ(cpl.status, GTU_CPL_WIDTH);
			CHECK_EQ(cpl.operand, GTU_IRU_INDICES);
			CHECK_EQ(cpl.needed, 1ull << 40);
		}
		test_end(NULL);
	}
}

/* ---- Weaver ---------------------------------------------------------------------------------------- */

/* The ranges as registrations of one round, in SECOND: range i is entry and vertex i. */
static struct gtu_hw_desc weaver(struct bed *b, uint32_t param)
{
	struct gtu_hw_registration *reg = at(b, SECOND);

	for (unsigned i = 0; i < b->ranges; i++)
		reg[i] = (struct gtu_hw_registration){ .entry = i, .vid = i,
						       .start = get(at(b, FIRST), b->wide_first, i),
						       .degree = get(at(b, COUNT), 0, i) };
	return (struct gtu_hw_desc){
		.opcode = GTU_OP_WVR_STREAM, .param = param,
		.operand = {
			[GTU_WVR_TABLE] = { b->key[SECOND], b->ranges, 0 },
			[GTU_WVR_RING] = { b->key[RING], RECORDS, 0 },
			[GTU_WVR_EDGES] = { param & GTU_WVR_WITH_TARGET ? b->key[LIST] : 0,
					    param & GTU_WVR_WITH_TARGET ? GTU_COUNT_TO_END : 0, 0 },
			[GTU_WVR_WEIGHTS] = { param & GTU_WVR_WITH_WEIGHT ? b->key[COPY] : 0,
					      param & GTU_WVR_WITH_WEIGHT ? 64 * RANGES_MAX : 0, 0 },
		},
	};
}

TEST(weaver_records_carry_edges_and_weights)
{
	for (uint64_t seed = 1; seed <= 60; seed++) {
		const uint32_t ids = (uint32_t)(seed & 3);	/* VIDS_8, EIDS_8 */
		struct observer o = { .watch = { seen, seen_gather } };
		struct gtu_hw_cpl want, got;
		uint32_t param = ids;
		struct gtu_hw_desc d;
		uint64_t edges = 0;
		struct bed b;

		bed_open(&b, seed);
		d = weaver(&b, ids);
		want = run(&b, &d, 0);
		CHECK_EQ(want.status, GTU_CPL_OK);
		param |= GTU_WVR_WITH_TARGET | (b.wide ? GTU_WVR_TARGETS_8 : 0) |
			 (seed % 3 ? GTU_WVR_WITH_WEIGHT : 0) | (seed % 3 == 1 ? GTU_WVR_WEIGHTS_8 : 0);
		d = weaver(&b, param);
		if (seed % 3 == 1)
			d.operand[GTU_WVR_WEIGHTS].count = GTU_COUNT_TO_END;
		gtu_dev_watch(b.f->dev, &o.watch);
		got = run(&b, &d, 0);
		gtu_dev_watch(b.f->dev, NULL);
		CHECK_EQ(got.status, GTU_CPL_OK);
		CHECK_EQ(got.count, want.count);
		CHECK_EQ(got.cycles, want.cycles);
		for (uint64_t i = 0, bytes = 64 + (ids & 1 ? 256 : 128) + (ids & 2 ? 256 : 128) + (b.wide ? 256 : 128) +
					     (seed % 3 ? (seed % 3 == 1 ? 256 : 128) : 0); i < got.count; i++) {
			const uint8_t *record = (uint8_t *)at(&b, RING) + 64 + i * bytes;
			const uint8_t *eid = record + 64 + (ids & 1 ? 256 : 128);
			const uint8_t *target = eid + (ids & 2 ? 256 : 128), *weight = target + (b.wide ? 256 : 128);
			const uint32_t active = ((const struct gtu_hw_warp *)(const void *)record)->active;

			for (unsigned l = 0; l < 32; l++) {
				const uint64_t e = get(eid, ids >> 1, l);
				const bool on = active >> l & 1;

				CHECK_EQ(get(target, b.wide, l),
					 on ? get(at(&b, LIST), b.wide, e) : b.wide ? UINT64_MAX : UINT32_MAX);
				if (seed % 3)
					CHECK_EQ(get(weight, seed % 3 == 1, l),
						 on ? get(at(&b, COPY), seed % 3 == 1, e) :
						 seed % 3 == 1 ? UINT64_MAX : UINT32_MAX);
				edges += on;
			}
		}
		CHECK_EQ(edges, b.n);
		CHECK_EQ(o.gathered[GTU_WVR_EDGES], b.n << (b.wide ? 3 : 2));
		test_end(NULL);
	}
}

TEST(weaver_errors_name_the_edge)
{
	for (uint64_t seed = 1; seed <= 4; seed++) {
		struct gtu_hw_registration *reg;
		struct gtu_hw_desc d;
		struct gtu_hw_cpl cpl;
		struct bed b;

		bed_open(&b, seed);
		d = weaver(&b, GTU_WVR_WITH_TARGET | (b.wide ? GTU_WVR_TARGETS_8 : 0));
		reg = at(&b, SECOND);
		reg[b.ranges - 1].start = b.space + 3;
		cpl = run(&b, &d, 0);
		CHECK_EQ(cpl.status, GTU_CPL_INDEX);
		CHECK_EQ(cpl.operand, GTU_WVR_EDGES);
		CHECK_EQ(cpl.element, b.space + 3);
		CHECK_EQ(cpl.needed, b.ranges - 1);
		CHECK(cpl.count * 32 + 32 > b.n - reg[b.ranges - 1].degree);	/* earlier records are written */
		d = weaver(&b, GTU_WVR_TARGETS_8);
		CHECK_EQ(fx_do(b.f, &d, 0).status, GTU_CPL_PARAM);
		d = weaver(&b, GTU_WVR_WEIGHTS_8);
		CHECK_EQ(fx_do(b.f, &d, 0).status, GTU_CPL_PARAM);
		d = weaver(&b, GTU_WVR_WITH_WEIGHT);
		d.operand[GTU_WVR_WEIGHTS] = (struct gtu_hw_operand){ 0 };
		cpl = fx_do(b.f, &d, 0);
		CHECK_EQ(cpl.status, GTU_CPL_OPERAND);
		CHECK_EQ(cpl.operand, GTU_WVR_WEIGHTS);
		test_end(NULL);
	}
}

TEST_MAIN
