// SPDX-License-Identifier: MIT
/*
 * The IRU's schedule against a reference model of its rules: the same records in the same cycles,
 * for random builds, streams, latencies and requests, at any step size.
 */
#include "firmware-model/units/iru/iru_core.h"
#include "firmware-model/units/iru/iru_kernel.h"
#include "iru_naive.h"
#include "tests/unit/test.h"

struct scene {
	uint64_t seed;
	struct naive_config cfg;
	struct iru_shape shape;
	struct iru_stream stream;
	uint32_t *index, *secondary;
	struct naive_ask ask[64];
	bool fixed, cut;
	const struct iru_kernel *kernel;
};

static uint64_t latency_of, latency_spread;
static struct scene *playing;

static uint64_t latency(uint64_t first)
{
	uint64_t state = first * 977 + playing->seed;

	return latency_of + (latency_spread ? test_random(&state) % latency_spread : 0);
}

static uint64_t fetch(void *ctx, unsigned p, unsigned slot, uint64_t first, unsigned count,
		      uint64_t cycle)
{
	(void)ctx, (void)p, (void)slot, (void)count;
	return cycle + latency(first);
}

static bool load(void *ctx, uint64_t first, unsigned count, const uint32_t **index,
		 const uint32_t **secondary, uint32_t (*copy)[IRU_LANES])
{
	struct scene *s = ctx;

	(void)copy;
	CHECK(first + count <= s->cfg.n);
	*index = s->index + first;
	if (s->secondary)
		*secondary = s->secondary + first;
	return true;
}

static unsigned pick(uint64_t *r, unsigned low, unsigned high)
{
	return low + (unsigned)(test_random(r) % (high - low + 1));
}

static uint32_t some_secondary(uint64_t *r, unsigned op)
{
	const uint32_t bits = (uint32_t)test_random(r);
	float f;

	if (op != GTU_IRU_OP_ADD_F32 || bits % 37 == 0)
		return bits % 3 ? bits : bits % 5;
	f = (float)((int32_t)bits % 1000) * 0.37f;
	return ((union { float f; uint32_t u; }){ f }).u;
}

/*
 * Indices of one of several kinds: random, in runs, few values, one set only, ascending, all equal.
 */
static void fill(struct scene *s, uint64_t *r)
{
	const unsigned kind = pick(r, 0, 6);
	const uint32_t range = 1u << pick(r, 0, 20);
	uint32_t x = (uint32_t)test_random(r) % range;

	for (uint64_t i = 0; i < s->cfg.n; i++) {
		if (kind == 0)
			x = (uint32_t)test_random(r) % range;
		else if (kind == 1)
			x = pick(r, 0, 15) ? x + 1 : (uint32_t)test_random(r) % range;
		else if (kind == 2)
			x = (uint32_t)test_random(r) % 5;
		else if (kind == 3)
			x = (uint32_t)test_random(r);
		else if (kind == 4)
			while (naive_set_of(&s->cfg, ++x) != 0 && s->cfg.sets <= 64)
				;
		else if (kind == 5)
			x++;
		s->index[i] = x;
		if (s->secondary)
			s->secondary[i] = some_secondary(r, s->cfg.op);
	}
}

static void make(struct scene *s, uint64_t seed)
{
	uint64_t r = seed;
	struct naive_config *c = &s->cfg;
	struct iru_shape *h = &s->shape;
	const bool published = pick(&r, 0, 1);

	memset(s, 0, sizeof(*s));
	s->seed = seed;
	h->partitions_log2 = published ? 2 : (uint8_t)pick(&r, 0, 3);
	h->banks_log2 = published ? 1 : (uint8_t)pick(&r, 0, 2);
	h->sets_log2 = published ? 10 :
		       (uint8_t)pick(&r, h->partitions_log2 + h->banks_log2, 8);
	h->interleave_log2 = published ? 8 : (uint8_t)pick(&r, 7, 10);
	h->prefetch = published ? 8 : (uint16_t)pick(&r, 1, 12);
	h->ring_depth = published ? 64 : (uint16_t)pick(&r, 1, 70);
	h->queue_depth = published ? 64 : (uint16_t)pick(&r, 32, 70);
	h->index_bits = h->position_bits = 32;
	latency_of = published ? 200 : pick(&r, 1, 300);
	s->fixed = pick(&r, 0, 3);
	latency_spread = s->fixed ? 0 : 100;
	c->sets = 1u << h->sets_log2;
	c->partitions = 1u << h->partitions_log2;
	c->banks = 1u << h->banks_log2;
	c->interleave = 1u << h->interleave_log2;
	c->prefetch = h->prefetch;
	c->ring_depth = h->ring_depth;
	c->queue_depth = h->queue_depth;
	c->n = pick(&r, 0, 9) ? pick(&r, 0, 1200) : pick(&r, 0, 3);
	if (!pick(&r, 0, published ? 7 : 31))
		c->n = pick(&r, 2000, 9000);
	c->addr = 4 * pick(&r, 0, 100);
	c->base = pick(&r, 0, 1) ? pick(&r, 0, 1000) : test_random(&r) >> 20;
	c->timeout = pick(&r, 0, 1) ? pick(&r, 1, 40) : pick(&r, 100, 3000);
	c->target = pick(&r, 0, 7);
	c->op = pick(&r, 0, 1) ? 0 : pick(&r, 1, 4);
	c->all = pick(&r, 0, 1);
	c->private_hash = h->private_hash = !pick(&r, 0, 5);
	c->latency = latency;
	s->index = test_alloc(c->n + 1, 4);
	s->secondary = c->op > 1 || pick(&r, 0, 1) ? test_alloc(c->n + 1, 4) : NULL;
	c->index = s->index;
	c->secondary = s->secondary;
	fill(s, &r);
	if (!pick(&r, 0, 3)) {
		uint64_t cycle = 0, requested = 0;

		c->ask = s->ask;
		c->asks = pick(&r, 1, 63);
		for (unsigned i = 0; i < c->asks; i++) {
			s->ask[i].cycle = cycle += pick(&r, 0, 1) ? pick(&r, 0, 20) : pick(&r, 0, 800);
			s->ask[i].requested = requested += pick(&r, 0, 20);
		}
		/* at the end, request all records */
		s->ask[c->asks++] = (struct naive_ask){ cycle + pick(&r, 0, 3000), c->n + 1 };
	}
	s->cut = pick(&r, 0, 1);
	s->kernel = pick(&r, 0, 3) ? iru_kernel_best() : &iru_kernel_portable;
	s->stream = (struct iru_stream){
		.n = c->n, .addr = c->addr, .base = c->base, .requested = c->ask ? 0 : IRU_NEVER,
		.timeout = c->timeout, .target_log2 = (uint8_t)c->target, .op = (uint8_t)c->op,
		.all = c->all, .secondary = s->secondary != NULL, .position = pick(&r, 0, 1),
	};
}

#define SAME(a, b)                                                                                 \
	CHECKF((a) == (b), "seed %" PRIu64 ", record %" PRIu64 ": " #a " is %llu, expected %llu",   \
	       s->seed, i, (unsigned long long)(a), (unsigned long long)(b))

static void compare(struct scene *s, const struct naive *v, uint64_t i, const struct iru_record *r)
{
	const struct naive_record *want = &v->record[i];
	const unsigned position = 1 + s->stream.secondary;

	CHECKF(i < v->records, "seed %" PRIu64 ": more records than the expected %" PRIu64, s->seed,
	       v->records);
	SAME(r->head.sequence, i);
	SAME(r->head.reason, want->reason);
	SAME(r->head.cycle, want->cycle);
	SAME(r->head.lines, want->lines);
	SAME((uint64_t)r->head.active, (1ull << want->n) - 1);
	for (unsigned l = 0; l < 32; l++) {
		SAME(r->field[0][l], want->el[l].index);
		if (s->stream.secondary)
			SAME(r->field[1][l], want->el[l].secondary);
		if (s->stream.position)
			SAME(r->field[position][l], want->el[l].position);
	}
}

static void play(struct scene *s, void *memory)
{
	struct iru_core *c = iru_core_init(memory, &s->shape);
	const struct iru_port port = { s, fetch, load, s->fixed ? (uint32_t)latency_of : 0, NULL };
	enum iru_status status = IRU_MORE;
	uint64_t seen = 0, r = s->seed ^ 77;
	unsigned ask = 0;
	struct naive v;

	playing = s;
	CHECKF(naive_run(&v, &s->cfg), "seed %" PRIu64 ": the reference model does not end", s->seed);
	iru_core_start(c, &s->stream, &port);
	c->kernel = s->kernel;
	while (status != IRU_DONE) {
		uint64_t until = s->cut ? c->cycle + pick(&r, 0, 60) : c->cycle + 100000;

		while (ask < s->cfg.asks && s->ask[ask].cycle <= c->cycle)
			iru_core_request(c, s->ask[ask++].requested);
		if (ask < s->cfg.asks && s->ask[ask].cycle < until)
			until = s->ask[ask].cycle;
		status = iru_core_run(c, until);
		CHECKF(status != IRU_UNREAD && status != IRU_WIDE, "seed %" PRIu64, s->seed);
		if (status == IRU_IDLE) {
			CHECKF(ask < s->cfg.asks, "seed %" PRIu64 ": idle without an end", s->seed);
			iru_core_advance(c, s->ask[ask].cycle);
		}
		CHECK(c->out_count <= IRU_OUT_SIZE);
		for (unsigned i = 0; i < c->out_count; i++)
			compare(s, &v, seen++, iru_core_out(c, i));
		iru_core_taken(c);
	}
	uint64_t i = seen;
	SAME(seen, v.records);
	SAME(c->cycle, v.t);
	SAME(c->count.merged, v.merged);
	SAME(c->count.hops, v.hops);
	SAME(c->count.blocked, v.blocked);
}

TEST(schedule_equals_the_reference_model)
{
	const struct iru_shape largest = { .sets_log2 = 10, .partitions_log2 = 4, .banks_log2 = 2,
					   .interleave_log2 = 7, .prefetch = 64, .ring_depth = 128,
					   .queue_depth = 128, .index_bits = 32, .position_bits = 32 };
	void *memory = test_aligned(iru_core_bytes(&largest)), *mark = test_mark();
	const char *one = getenv("GTU_TEST_SEED");
	struct scene s;

	for (uint64_t seed = one ? strtoull(one, NULL, 0) : 1; seed <= TEST_CASES(12000); seed++) {
		make(&s, seed);
		CHECK(!iru_shape_check(&s.shape));
		CHECK(iru_core_bytes(&s.shape) <= iru_core_bytes(&largest));
		play(&s, memory);
		test_end(mark);
		if (one)
			break;
	}
}

/* Long enough to fill every buffer that is not drained. */
TEST(long_regular_streams_equal_the_reference_model)
{
	struct scene s;

	for (unsigned kind = 0; kind < 4; kind++) {
		make(&s, 4 * kind);
		s.shape = (struct iru_shape){ 10, 2, 1, 8, 32, 32, 8, 64, 64, false };
		s.cfg.private_hash = false;
		s.cfg.sets = 1024, s.cfg.partitions = 4, s.cfg.banks = 2, s.cfg.interleave = 256;
		s.cfg.prefetch = 8, s.cfg.ring_depth = s.cfg.queue_depth = 64;
		s.cfg.n = s.stream.n = 60000;
		s.cfg.op = s.stream.op = 0;
		s.cfg.target = s.stream.target_log2 = 2;
		s.cfg.timeout = s.stream.timeout = 1024;
		s.cfg.ask = NULL, s.cfg.asks = 0, s.stream.requested = IRU_NEVER;
		s.fixed = true, s.cut = false, s.kernel = iru_kernel_best();
		latency_of = 200, latency_spread = 0;
		s.cfg.secondary = s.secondary = NULL, s.stream.secondary = false;
		s.cfg.index = s.index = test_alloc(s.cfg.n, 4);
		for (uint32_t i = 0; i < s.cfg.n; i++)
			s.index[i] = kind == 0 ? i : kind == 1 ? i / 64 : kind == 2 ? 9 : i * 32;
		play(&s, test_aligned(iru_core_bytes(&s.shape)));
	}
}

TEST_MAIN
