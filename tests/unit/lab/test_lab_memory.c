// SPDX-License-Identifier: MIT
/* Coalescer, caches, crossbar, DRAM and link, in cases small enough for hand calculation. */
#include "firmware-model/lab/engine/coalesce.h"
#include "firmware-model/lab/engine/internal.h"
#include "tests/unit/test.h"

/* ---- Coalescer --------------------------------------------------------------------------------- */

static struct lab_coalesced c;

static void coalesce(const uint32_t *index, uint32_t mask, unsigned width_log2, unsigned unit, enum lab_kind kind)
{
	lab_coalesce(index, mask, width_log2, LAB_BASE, unit, kind, &c);
}

TEST(consecutive_words_are_one_line_or_four_sectors)
{
	uint32_t index[32], i;

	for (i = 0; i < 32; i++)
		index[i] = 64 + i;
	coalesce(index, ~0u, 2, 128, LAB_LOAD);
	CHECK_EQ(c.n, 1);
	CHECK_EQ(c.unit[0], LAB_BASE + 256);
	CHECK_EQ(c.bits[0], 0xf);
	coalesce(index, ~0u, 2, 32, LAB_LOAD);
	CHECK_EQ(c.n, 4);
	CHECK_EQ(c.unit[0], LAB_BASE + 256 + 96);	/* descending */
	CHECK_EQ(c.unit[3], LAB_BASE + 256);
	CHECK_EQ(c.bits[0], 0x8);
}

TEST(misaligned_access_touches_one_more_line)
{
	uint32_t index[32], i;

	for (i = 0; i < 32; i++)
		index[i] = 1 + i;
	coalesce(index, ~0u, 2, 128, LAB_LOAD);
	CHECK_EQ(c.n, 2);
	CHECK_EQ(c.bits[0], 0x1); /* word 32 is in the second line's first sector */
	CHECK_EQ(c.bits[1], 0xf);
	CHECK_EQ(c.sectors, 5);
	coalesce(index, ~0u, 3, 128, LAB_LOAD);		/* 8-byte elements: bytes 8 to 263 */
	CHECK_EQ(c.n, 3);
	CHECK_EQ(c.sectors, 9);
}

TEST(only_active_lanes_count)
{
	uint32_t index[32] = { 0 };

	index[0] = 1000;
	index[31] = 2000;
	coalesce(index, 1, 2, 128, LAB_LOAD);
	CHECK_EQ(c.n, 1);
	CHECK_EQ(c.unit[0], LAB_BASE + 4000 / 128 * 128);
	coalesce(index, 0x80000001u, 2, 32, LAB_LOAD);
	CHECK_EQ(c.n, 2);
	CHECK_EQ(c.unit[0], LAB_BASE + 8000);
}

/* A sector takes as many transactions as the most lanes on one of its words. */
TEST(atomics_to_one_word_are_serialized)
{
	uint32_t index[32], i;

	for (i = 0; i < 32; i++)
		index[i] = i < 3 ? 5 : i < 5 ? 6 : i < 6 ? 7 : 8;
	coalesce(index, 0x3f, 2, 32, LAB_ATOMIC);	/* 3 on word 5, 2 on 6, 1 on 7: one sector */
	CHECK_EQ(c.n, 3);
	coalesce(index, 0x7f, 2, 32, LAB_ATOMIC);	/* and one on word 8: another */
	CHECK_EQ(c.n, 4);
	CHECK_EQ(c.unit[0], LAB_BASE + 32);
	CHECK_EQ(c.unit[1], LAB_BASE);
	coalesce(index, ~0u, 2, 32, LAB_ATOMIC);	/* 26 lanes on word 8 */
	CHECK_EQ(c.n, 29);
}

/* GPGPU-Sim before sectors: one line per half warp. */
TEST(line_atomics_coalesce_per_half_warp)
{
	uint32_t index[32], i;

	for (i = 0; i < 32; i++)
		index[i] = 31 - i;			/* a line */
	coalesce(index, ~0u, 2, 128, LAB_ATOMIC);
	CHECK_EQ(c.n, 2);
	CHECK_EQ(c.bits[0], 0xc);			/* lanes 0 to 15 are words 31 to 16 */
	CHECK_EQ(c.bits[1], 0x3);
	CHECK_EQ(c.sectors, 4);
	for (i = 0; i < 32; i++)
		index[i] = i < 3 ? 5 : i < 5 ? 20 : i < 6 ? 40 : 70;
	coalesce(index, 0x3f, 2, 128, LAB_ATOMIC);	/* 3 on word 5, 2 on 20: 3 of line 0; one of line 1 */
	CHECK_EQ(c.n, 4);
	CHECK_EQ(c.unit[0], LAB_BASE + 128);
	CHECK_EQ(c.unit[1], LAB_BASE);
	CHECK_EQ(c.bits[0], 0x2);
	CHECK_EQ(c.bits[1], 0x5);
	CHECK_EQ(c.bits[3], 0x1);
	coalesce(index, 0x00018000, 2, 128, LAB_ATOMIC); /* lanes 15 and 16 on one word */
	CHECK_EQ(c.n, 2);
	for (i = 0; i < 32; i++)
		index[i] = 9;
	coalesce(index, ~0u, 2, 128, LAB_ATOMIC);
	CHECK_EQ(c.n, 32);
}

TEST(stores_mark_partial_sectors)
{
	uint32_t index[32], i;

	for (i = 0; i < 32; i++)
		index[i] = i;
	coalesce(index, 0x000fffff, 2, 128, LAB_STORE);	/* words 0 to 19: sectors 0, 1 whole, 2 half */
	CHECK_EQ(c.n, 1);
	CHECK_EQ(c.bits[0], 0x7);
	CHECK_EQ(c.partial[0], 0x4);
	coalesce(index, 0x0000000f, 3, 128, LAB_STORE);	/* four 8-byte elements: a sector */
	CHECK_EQ(c.partial[0], 0);
}

/* The SIMD and the portable implementation agree with each other and with a direct count. */
TEST(simd_and_portable_coalescers_agree)
{
	uint64_t seed = 7, round;
	struct lab_coalesced d;
	uint32_t index[32], mask, i, j, distinct;

	for (round = 0; round < 20000; round++) {
		unsigned width = 2 + (test_random(&seed) & 1), kind = test_random(&seed) % 3;
		unsigned unit = test_random(&seed) & 1 ? 32 : 128;
		uint32_t range = 1u << (1 + test_random(&seed) % 24);

		for (i = 0; i < 32; i++)
			index[i] = (uint32_t)(test_random(&seed) % range);
		mask = round % 3 ? (uint32_t)test_random(&seed) | 1u << (round & 31) : ~0u;
		lab_coalesce(index, mask, width, LAB_BASE, unit, kind, &c);
		lab_coalesce_plain(index, mask, width, LAB_BASE, unit, kind, &d);
		CHECK_EQ(c.n, d.n);
		CHECK_EQ(c.sectors, d.sectors);
		CHECK(!memcmp(c.unit, d.unit, c.n * sizeof(*c.unit)));
		CHECK(!memcmp(c.bits, d.bits, c.n));
		CHECK(kind != LAB_STORE || !memcmp(c.partial, d.partial, c.n));
		if (kind == LAB_ATOMIC)
			continue;
		for (i = distinct = 0; i < 32; i++) {
			for (j = 0; j < i; j++)
				if (mask >> j & 1 && (index[j] << width) / unit == (index[i] << width) / unit)
					break;
			distinct += mask >> i & 1 && j == i;
		}
		CHECK_EQ(c.n, distinct);
	}
}

/* ---- Event queue ----------------------------------------------------------------------------- */

TEST(events_are_ordered_by_time_then_insertion)
{
	static struct lab_calendar k;
	static struct lab_node node[5000];
	uint64_t when[5000], last = 0, seed = 3;
	uint32_t i, n, before = 0;

	k.node = node;
	CHECK(lab_calendar_init(&k));
	for (i = 1; i < 5000; i++) {
		when[i] = i % 3 ? test_random(&seed) % 4000 : test_random(&seed) % 100000;
		lab_schedule(&k, when[i], i, EV_WAKE);
	}
	for (i = 1; i < 5000; i++) {
		n = lab_calendar_pop(&k);
		CHECK(n);
		CHECK_EQ(k.now, when[n]);
		CHECK(k.now > last || n > before);
		last = k.now;
		before = n;
	}
	CHECK_EQ(lab_calendar_pop(&k), 0);
	/* far beyond the ring, from an empty queue */
	lab_schedule(&k, k.now + 1000000, 1, EV_WAKE);
	CHECK_EQ(lab_calendar_pop(&k), 1);
	CHECK_EQ(k.now, last + 1000000);
	lab_calendar_free(&k);
}

/* ---- Timing: one warp on a machine with round numbers ---------------------------------------- */

static const char machine_text[] =
	"machine = hand\ncore.clock = 1000 MHz # source: by hand\nsm.count = 1 # source: by hand\n"
	"sm.warps = 4 # source: by hand\nsm.blocks = 4 # source: by hand\nsm.schedulers = 1 # source: by hand\n"
	"sm.policy = gto # source: by hand\nsm.atomics = free # source: by hand\nsm.alu_latency = 1 cycles # source: by hand\n"
	"sm.shared = 1 KiB # source: by hand\nsm.shared_latency = 20 cycles # source: by hand\n"
	"launch.latency = 100 cycles # source: by hand\ncoalesce.load = 128 B # source: by hand\n"
	"coalesce.store = 128 B # source: by hand\ncoalesce.atomic = 32 B # source: by hand\n"
	"l1.size = 1 KiB # source: by hand\nl1.ways = 4 # source: by hand\nl1.index = linear # source: by hand\n"
	"l1.sectored = no # source: by hand\nl1.latency = 30 cycles # source: by hand\nl1.mshrs = 4 # source: by hand\n"
	"l1.merges = 2 # source: by hand\nl1.miss_queue = 8 # source: by hand\nnoc.flit = 40 B # source: by hand\n"
	"noc.header = 8 B # source: by hand\nnoc.latency = 10 cycles # source: by hand\n"
	"noc.outstanding = 64 # source: by hand\nl2.slices = 1 # source: by hand\nl2.size = 1 KiB # source: by hand\n"
	"l2.ways = 2 # source: by hand\nl2.index = linear # source: by hand\nl2.latency = 50 cycles # source: by hand\n"
	"dram.channels = 1 # source: by hand\ndram.latency = 70 cycles # source: by hand\n"
	"dram.bandwidth = 8 GB/s # source: by hand\ndram.banks = 2 # source: by hand\ndram.row = 256 B # source: by hand\n"
	"dram.hit = 10 ns # source: by hand\ndram.miss = 25 ns # source: by hand\n"
	"link.bandwidth = 10 GB/s # source: by hand\nlink.header = 18 B # source: by hand\n"
	"link.requests = 2 # source: by hand\nlink.round_trip = 1000 ns # source: by hand\n"
	"link.host_atom = 64 B # source: by hand\nlink.cache = none # source: by hand\n";

struct args {
	struct lab_array a, b;
	uint32_t step[8];		/* element of lane 0 of each access; ~0u ends */
	bool store, atomic, spread, mixed; /* mixed: every other access is a store */
	uint64_t begin[8], end[8];
};

static const char *const names[] = { "access" };

/* Accesses in sequence, each waited for and timed. */
static void one_by_one(struct lab_warp *w, const void *p)
{
	struct args *a = (struct args *)(uintptr_t)p;
	unsigned i;

	for (i = 0; i < 8 && a->step[i] != ~0u; i++) {
		lab_u32 at = lab_all(a->step[i]) + (a->spread ? lab_lane() * 32 : lab_lane());

		a->begin[i] = lab_now(w->lab);
		if (a->store || (a->mixed && i & 1))
			lab_store32(w, 0, &a->a, at, lab_lane());
		else if (a->atomic)
			lab_atomic_add(w, 0, &a->a, at, lab_all(1));
		else
			lab_load32(w, 0, &a->a, at);
		lab_wait_for(w, 1u << LAB_LOADS);
		a->end[i] = lab_now(w->lab);
	}
}
static const struct lab_kernel one_by_one_kernel = { .name = "one_by_one", .warp = one_by_one, .statement = names,
						     .statements = 1 };

static struct lab *hand(const char *set)
{
	struct gtu_error err = { 0 };
	struct lab_machine m;
	struct lab *lab;
	int rc = lab_machine_parse(machine_text, sizeof(machine_text) - 1, "hand", &m, &err);

	CHECKF(!rc, "%s", err.text);
	rc = set ? lab_machine_set(&m, set, &err) : 0;
	CHECKF(!rc, "%s", err.text);
	rc = lab_create(&m, &lab, &err);
	CHECKF(!rc, "%s", err.text);
	return lab;
}

static void run(struct lab *lab, struct args *a, uint64_t bytes, enum lab_space space)
{
	struct lab_launch l = { .kernel = &one_by_one_kernel, .args = a, .grid = 1, .block = 32 };
	struct gtu_error err = { 0 };
	int rc = a->a.data ? 0 : lab_alloc(lab, "a", bytes, space, &a->a, &err);

	rc = rc ? rc : lab_run(lab, &l, NULL, &err);
	CHECKF(!rc, "%s", err.text);
}

TEST(full_miss_latency_is_the_sum_of_all_stages)
{
	struct args a = { .step = { 0, 0, 32, ~0u } };
	struct lab *lab = hand(NULL);
	const struct lab_stats *s = lab_stats(lab);

	run(lab, &a, 4096, LAB_DEVICE);
	CHECK_EQ(a.begin[0], 100);			/* the launch latency */
	/*
	 * 30 in the L1; 1 flit and 10 cycles over the crossbar; 50 in the L2 and 70 to DRAM; row
	 * miss 25; then 4 sectors of 4 cycles each on the 8-byte bus and 1 to hand them over; 10
	 * back and 4 flits
	 */
	CHECK_EQ(a.end[0] - a.begin[0], 30 + 1 + 10 + 50 + 70 + 25 + 16 + 1 + 10 + 4);
	CHECK_EQ(a.end[1] - a.begin[1], 30);		/* L1 hit */
	/* the next line is in the same row of 256 bytes */
	CHECK_EQ(a.end[2] - a.begin[2], 30 + 1 + 10 + 50 + 70 + 10 + 16 + 1 + 10 + 4);
	CHECK_EQ(s->l1_load[LAB_HIT], 1);
	CHECK_EQ(s->l1_load[LAB_MISS], 2);
	CHECK_EQ(s->l2_read[LAB_MISS], 2);
	CHECK_EQ(s->l2_read[LAB_SECTOR_MISS], 6);
	CHECK_EQ(s->dram_reads, 8);
	CHECK_EQ(s->dram_row_misses, 1);
	CHECK_EQ(s->dram_row_hits, 7);
	lab_destroy(lab);
}

TEST(atomic_bypasses_l1_and_hits_l2)
{
	struct args a = { .step = { 0, 0, ~0u }, .atomic = true };
	struct lab *lab = hand(NULL);
	const struct lab_stats *s = lab_stats(lab);

	run(lab, &a, 4096, LAB_DEVICE);
	CHECK_EQ(s->transactions[LAB_ATOMIC], 8);
	CHECK_EQ(s->request[LAB_ATOMIC][1], 8);
	CHECK_EQ(s->l1_load[LAB_MISS] + s->l1_load[LAB_HIT], 0);
	/* the last of four sectors leaves in cycle 3: a flit, 10 over, 50 in the L2, 10 back, a flit */
	CHECK_EQ(a.end[1] - a.begin[1], 3 + 1 + 10 + 50 + 10 + 1);
	CHECK_EQ(((uint32_t *)a.a.data)[31], 2);
	lab_destroy(lab);
}

/* The L2 has 4 sets of 2 ways: the third line of a set evicts the LRU line. */
TEST(l2_writes_back_dirty_victims)
{
	struct args a = { .step = { 0, 128, 0, 256, ~0u }, .store = true }; /* lines 0, 4, 0, 8: one set */
	struct lab *lab = hand(NULL);
	const struct lab_stats *s = lab_stats(lab);

	run(lab, &a, 4096, LAB_DEVICE);
	CHECK_EQ(s->request[LAB_STORE][4], 4);
	CHECK_EQ(s->request_bytes[LAB_STORE], 4 * 136);
	CHECK_EQ(s->l2_write[LAB_MISS], 3);
	CHECK_EQ(s->l2_write[LAB_SECTOR_MISS], 9);
	CHECK_EQ(s->l2_write[LAB_HIT], 4);
	CHECK_EQ(s->dram_reads, 0);			/* written without being read */
	CHECK_EQ(s->dram_writes, 4);			/* line 4, the older one */
	lab_destroy(lab);
}

/* A load of a partly written sector must fetch the rest. */
TEST(partial_sector_is_fetched_before_a_load)
{
	struct args a = { .step = { 0, ~0u }, .store = true, .spread = true }; /* a word in each of 32 lines */
	struct lab *lab = hand("l2.size=16384 B");
	const struct lab_stats *s = lab_stats(lab);

	run(lab, &a, 4096, LAB_DEVICE);
	CHECK_EQ(s->request[LAB_STORE][1], 32);
	CHECK_EQ(s->dram_reads, 0);
	a.store = false;
	run(lab, &a, 4096, LAB_DEVICE);
	CHECK_EQ(s->l2_read[LAB_MISS], 0);
	/* of each line, three sectors never written and one partly written */
	CHECK_EQ(s->l2_read[LAB_SECTOR_MISS], 128);
	lab_destroy(lab);
}

TEST(store_hit_invalidates_l1_line)
{
	struct args a = { .step = { 0, 0, 0, 32, 0, ~0u }, .mixed = true }; /* load, store, load; store elsewhere; load */
	struct lab *lab = hand(NULL);
	const struct lab_stats *s = lab_stats(lab);

	run(lab, &a, 4096, LAB_DEVICE);
	CHECK_EQ(s->l1_load[LAB_MISS], 2);
	CHECK_EQ(s->l1_load[LAB_HIT], 1);
	CHECK_EQ(s->l1_store[LAB_HIT], 1);
	CHECK_EQ(s->l1_store[LAB_MISS], 1);
	a.mixed = false;
	run(lab, &a, 4096, LAB_DEVICE);			/* a launch invalidates the L1 */
	CHECK_EQ(s->l1_load[LAB_MISS], 4);
	lab_destroy(lab);
}

/* 32 lines at once, 4 MSHRs, 8 lines of L1: the LSU stalls, and all loads complete. */
TEST(lsu_stalls_without_free_mshr)
{
	struct args a = { .step = { 0, 0, ~0u }, .spread = true };
	struct lab *lab = hand(NULL);
	const struct lab_stats *s = lab_stats(lab);

	run(lab, &a, 4096, LAB_DEVICE);
	/* 8 lines hold none of the first 24 until they return */
	CHECK_EQ(s->l1_load[LAB_MISS], 64);
	CHECK(s->lsu_stalled > 0);
	lab_destroy(lab);
}

/* Warp 0 loads from 32 lines with 4 MSHRs; warp 1's atomic is behind it in the LSU. */
static void load_and_atomic(struct lab_warp *w, const void *p)
{
	struct args *a = (struct args *)(uintptr_t)p;

	if (w->in_block)
		lab_atomic_add(w, 0, &a->b, lab_lane(), lab_all(1));
	else
		lab_load32(w, 0, &a->a, lab_lane() * 32);
	lab_wait(w);
	a->end[w->in_block] = lab_now(w->lab);
}
static const struct lab_kernel load_and_atomic_kernel = { .name = "load_and_atomic", .warp = load_and_atomic,
							  .statement = names, .statements = 1 };

TEST(atomic_overtakes_stalled_loads)
{
	struct lab *lab = hand("l1.latency=40 cycles");
	struct args a = { 0 };
	struct lab_launch l = { &load_and_atomic_kernel, &a, 1, 64, NULL };
	struct gtu_error err = { 0 };

	CHECK(!lab_alloc(lab, "a", 4096, LAB_DEVICE, &a.a, &err));
	CHECK(!lab_alloc(lab, "b", 4096, LAB_DEVICE, &a.b, &err));
	CHECKF(!lab_run(lab, &l, NULL, &err), "%s", err.text);
	/*
	 * Launch latency; the loads occupy the LSU for 32 cycles; a flit, 10 over, 50 in the L2, 70
	 * to DRAM; a row is opened in 25, four sectors take 4 each on the bus, 1 to hand them over;
	 * 10 back, a flit. The first load is looked up 40 cycles after it entered and is behind the
	 * atomic everywhere.
	 */
	CHECK_EQ(a.end[1], 100 + 32 + 1 + 10 + 50 + 70 + 25 + 16 + 1 + 10 + 1);
	CHECK(a.end[0] > a.end[1] + 300);
	lab_destroy(lab);
}

/*
 * A pipeline of one stage holds the fifth of 32 misses; the LSU must keep the rest and the
 * operations behind them.
 */
TEST(full_l1_pipeline_stalls_lsu)
{
	struct lab *lab = hand("l1.latency=1 cycles");
	struct args a = { 0 };
	struct lab_launch l = { &load_and_atomic_kernel, &a, 1, 64, NULL };
	struct gtu_error err = { 0 };

	CHECK(!lab_alloc(lab, "a", 4096, LAB_DEVICE, &a.a, &err));
	CHECK(!lab_alloc(lab, "b", 4096, LAB_DEVICE, &a.b, &err));
	CHECKF(!lab_run(lab, &l, NULL, &err), "%s", err.text);
	/* 27 more misses, four at a time, with 4 sectors of 4 cycles each on the DRAM bus */
	CHECK(a.end[1] > 100 + 27 * 16);
	lab_destroy(lab);
}

/* Two inputs and two outputs of a crossbar with 10 cycles latency. */
TEST(crossbar_input_has_head_of_line_blocking)
{
	static struct lab_slots to[2];
	struct lab_input a = { 0 }, b = { 0 }, c = { 0 }, d = { 0 };
	struct lab *lab = hand(NULL);

	memset(to, 0, sizeof(to));
	CHECK_EQ(lab_cross(lab, &a, &to[0], 100, 4), 100 + 4 + 10);
	/* the output is taken until then */
	CHECK_EQ(lab_cross(lab, &b, &to[0], 100, 1), 104 + 1 + 10);
	/* this output is free, but the packet is behind another: it leaves at 104 */
	CHECK_EQ(lab_cross(lab, &b, &to[1], 100, 1), 104 + 1 + 10);
	CHECK_EQ(lab_cross(lab, &b, &to[0], 100, 1), 105 + 1 + 10);
	/* a packet that is simulated later may be earlier in time */
	CHECK_EQ(lab_cross(lab, &c, &to[1], 200, 2), 202 + 10);
	/* 199; 200 and 201 are taken: 202 */
	CHECK_EQ(lab_cross(lab, &d, &to[1], 199, 2), 203 + 10);
	/* a whole word of taken cycles is skipped, and order is kept beyond the window */
	CHECK_EQ(lab_cross(lab, &a, &to[0], 1000, 200), 1200 + 10);
	CHECK_EQ(lab_cross(lab, &c, &to[0], 1001, 1), 1201 + 10);
	CHECK_EQ(lab_cross(lab, &a, &to[1], 10000, 3), 10003 + 10);
	CHECK_EQ(lab_cross(lab, &b, &to[1], 10000, 1), 10004 + 10);
	lab_destroy(lab);
}

/* A unit that requests the line of its array, and again after the reply. */
struct asker {
	struct lab *lab;
	int unit;
	uint64_t addr, asked[2], came[2];
	unsigned n;
};

static void ask_line(void *ctx, uint64_t cycle)
{
	struct asker *a = ctx;

	a->asked[a->n] = cycle;
	lab_unit_memory(a->lab, a->unit, 0, LAB_LOAD, a->addr, 0xf, a->n);
}

static void line_came(void *ctx, uint64_t tag, uint64_t cycle)
{
	struct asker *a = ctx;

	a->came[tag] = cycle;
	if (++a->n < 2)
		lab_unit_wake(a->lab, a->unit, cycle + 20);
}

TEST(partition_unit_skips_l2_latency)
{
	static const enum lab_attach_point point[] = { LAB_IN_PARTITION, LAB_ON_CROSSBAR };
	unsigned i;

	for (i = 0; i < 2; i++) {
		struct asker a = { .lab = hand(NULL) };
		struct lab_unit u = { .name = "asker", .attach_point = point[i], .reply = line_came, .clock = ask_line };
		struct gtu_error err = { 0 };
		struct lab_array array;
		uint64_t way = i ? 1 + 10 + 50 : 1 + 1, back = i ? 10 + 4 : 0;

		CHECK(!lab_alloc(a.lab, "a", 4096, LAB_DEVICE, &array, &err));
		a.addr = array.addr;
		CHECK(!lab_attach(a.lab, &u, &a, &a.unit, &err));
		lab_unit_wake(a.lab, a.unit, 5);
		CHECKF(!lab_run_units(a.lab, &err), "%s", err.text);
		/*
		 * request: a cycle, or a flit, the crossbar and the pipeline; 70 to DRAM, a row,
		 * four sectors, a cycle
		 */
		CHECK_EQ(a.came[0] - a.asked[0], way + 70 + 25 + 16 + 1 + back);
		CHECK_EQ(a.came[1] - a.asked[1], way + back);
		lab_destroy(a.lab);
	}
}

TEST(dram_rows_and_bandwidth_limit_a_stream)
{
	struct args a = { .step = { 0, ~0u }, .spread = true };
	struct lab *lab = hand("l1.mshrs=64");
	const struct lab_stats *s = lab_stats(lab);

	run(lab, &a, 4096, LAB_DEVICE);
	CHECK_EQ(s->dram_reads, 128);
	CHECK_EQ(s->dram_row_misses, 16);		/* 32 lines, two per row */
	CHECK(a.end[0] - a.begin[0] >= 128 * 4);	/* 32 bytes take 4 cycles of the bus */
	lab_destroy(lab);
}

/* ---- Link -------------------------------------------------------------------------------------- */

TEST(link_read_takes_one_round_trip)
{
	struct args a = { .step = { 0, ~0u } };
	struct lab *lab = hand(NULL);
	const struct lab_stats *s = lab_stats(lab);

	run(lab, &a, 4096, LAB_HOST);
	CHECK_EQ(s->link_request[4], 1);		/* one request of 128 bytes */
	CHECK_EQ(s->link_bytes, 128);
	CHECK_EQ(s->link_header_bytes, 18);
	CHECK_EQ(s->link_host_bytes, 128);
	/* a flit and 10 out, 1000 ns, 10 and four flits back */
	CHECK_EQ(a.end[0] - a.begin[0], 1 + 10 + 1000 + 10 + 4);
	CHECK_EQ(s->l1_load[LAB_MISS], 0);		/* bypasses the caches */
	lab_destroy(lab);
}

/* 32 requests of 32 bytes, two at a time: 16 round trips. Host memory reads twice the bytes. */
TEST(requests_in_flight_limit_the_link)
{
	struct args a = { .step = { 0, ~0u }, .spread = true };
	struct lab *lab = hand(NULL);
	const struct lab_stats *s = lab_stats(lab);

	run(lab, &a, 4096, LAB_HOST);
	CHECK_EQ(s->link_request[1], 32);
	CHECK_EQ(s->link_host_bytes, 64 * 32);
	CHECK_EQ(s->link_in_flight_most, 2);
	CHECK(a.end[0] - a.begin[0] >= 16000 && a.end[0] - a.begin[0] < 16200);
	lab_destroy(lab);
}

/* With enough requests in flight, 50 bytes each at 10 GB/s are 5 ns apart. */
TEST(bandwidth_limits_the_link)
{
	struct args a = { .step = { 0, ~0u }, .spread = true };
	struct lab *lab = hand("link.requests=256");

	run(lab, &a, 4096, LAB_HOST);
	CHECK(a.end[0] - a.begin[0] >= 1000 + 31 * 5 && a.end[0] - a.begin[0] < 1000 + 31 * 5 + 50);
	lab_destroy(lab);
}

/* Words 40 to 71: 96 bytes of a line, 32 of the next. Again: hits. Words 32 to 63: one new sector. */
TEST(l1_fetches_only_missing_host_sectors)
{
	struct args a = { .step = { 40, 40, 32, ~0u } };
	struct gtu_error err = { 0 };
	struct lab_machine m;
	struct lab *lab;
	const struct lab_stats *s;

	CHECK(!lab_machine_open("v100", &m, &err));
	CHECK(!lab_create(&m, &lab, &err));
	s = lab_stats(lab);
	run(lab, &a, 4096, LAB_HOST);
	CHECK_EQ(s->link_request[1], 2);
	CHECK_EQ(s->link_request[3], 1);
	CHECK_EQ(s->link_request[2] + s->link_request[4], 0);
	CHECK_EQ(s->link_host_bytes, 64 + 128 + 64);
	CHECK_EQ(s->l1_host[LAB_MISS], 2);
	CHECK_EQ(s->l1_host[LAB_HIT], 2);
	CHECK_EQ(s->l1_host[LAB_SECTOR_MISS], 1);
	CHECK_EQ(s->l1_load[LAB_MISS], 0);
	CHECK_EQ(a.end[1] - a.begin[1], 28 + 1);	/* two lines of the L1 */
	lab_destroy(lab);
}

/* Sectors 0 and 2 of a line are two requests with one MSHR, released when both have arrived. */
static void two_runs(struct lab_warp *w, const void *p)
{
	struct args *a = (struct args *)(uintptr_t)p;

	lab_load32(w, 0, &a->a, (lab_lane() & 1) * 16);
	lab_wait(w);
	lab_load32(w, 0, &a->a, (lab_lane() & 1) * 16);
}
static const struct lab_kernel two_runs_kernel = { .name = "two_runs", .warp = two_runs, .statement = names,
						   .statements = 1 };

TEST(sector_runs_share_one_mshr)
{
	struct args a = { 0 };
	struct gtu_error err = { 0 };
	struct lab_launch l = { &two_runs_kernel, &a, 1, 32, NULL };
	struct lab_machine m;
	struct lab *lab;

	CHECK(!lab_machine_open("v100", &m, &err));
	CHECK(!lab_create(&m, &lab, &err));
	CHECK(!lab_alloc(lab, "a", 4096, LAB_HOST, &a.a, &err));
	CHECKF(!lab_run(lab, &l, NULL, &err), "%s", err.text);
	CHECK_EQ(lab_stats(lab)->link_request[1], 2);
	CHECK_EQ(lab_stats(lab)->l1_host[LAB_MISS], 1);
	CHECK_EQ(lab_stats(lab)->l1_host[LAB_HIT], 1);
	lab_destroy(lab);
}

/*
 * Warp 0 loads sector 0, which takes long. Warp 1 loads sector 1 of that line, which hits the L2,
 * stores to it once it has arrived, and loads it again while sector 0 is still in flight.
 */
static void again_while_pending(struct lab_warp *w, const void *p)
{
	struct args *a = (struct args *)(uintptr_t)p;

	if (!w->in_block)		/* the last warp at the barrier continues first: sector 0
					 * must be requested before sector 1 */
		lab_atomic_add(w, 0, &a->a, lab_all(8), lab_all(1));
	lab_wait(w);
	lab_barrier(w);
	lab_load32(w, 0, &a->a, lab_all(8 * w->in_block));
	lab_wait(w);
	a->end[w->in_block] = lab_now(w->lab);
	if (w->in_block) {
		lab_store32(w, 0, &a->a, lab_all(8), lab_lane());
		lab_load32(w, 0, &a->a, lab_all(8));
		lab_wait(w);
		a->end[2] = lab_now(w->lab);
	}
}
static const struct lab_kernel again_while_pending_kernel = { .name = "again_while_pending", .warp = again_while_pending,
							      .statement = names, .statements = 1 };

/*
 * Regression: the second load of sector 1 once merged with the first one's released MSHR and never
 * completed.
 */
TEST(loads_do_not_merge_with_a_released_mshr)
{
	struct args a = { 0 };
	struct gtu_error err = { 0 };
	struct lab_launch l = { &again_while_pending_kernel, &a, 1, 64, NULL };
	const struct lab_stats *s;
	struct lab_machine m;
	struct lab *lab;

	CHECK(!lab_machine_parse(machine_text, sizeof(machine_text) - 1, "hand", &m, &err));
	CHECK(!lab_machine_set(&m, "l1.sectored=yes", &err));
	CHECK(!lab_machine_set(&m, "dram.latency=1000 cycles", &err));
	CHECK(!lab_create(&m, &lab, &err));
	CHECK(!lab_alloc(lab, "a", 4096, LAB_DEVICE, &a.a, &err));
	CHECKF(!lab_run(lab, &l, NULL, &err), "%s", err.text);
	s = lab_stats(lab);
	CHECK_EQ(s->l1_load[LAB_MISS], 1);
	CHECK_EQ(s->l1_load[LAB_SECTOR_MISS], 2);	/* both loads of sector 1 send a request */
	CHECK_EQ(s->l1_load[LAB_PENDING] + s->l1_load[LAB_HIT], 0);
	CHECK_EQ(s->l1_store[LAB_HIT], 1);
	CHECK(a.end[2] < a.end[0]);			/* sector 0 was in flight the whole time */
	lab_destroy(lab);
}

static void deep(struct lab_warp *w, const void *p)
{
	struct args *a = (struct args *)(uintptr_t)p;
	volatile uint8_t frame[LAB_STACK - LAB_STACK_LEAST + 2048];

	frame[0] = 1;
	lab_load32(w, 0, &a->a, lab_lane());
	lab_wait(w);
	a->end[0] = frame[0];
}
static const struct lab_kernel deep_kernel = { .name = "deep", .warp = deep, .statement = names, .statements = 1 };

/* Warp stacks have no guard pages: a program near the end of its stack must be stopped. */
TEST(stack_overflow_is_reported)
{
	struct args a = { 0 };
	struct gtu_error err = { 0 };
	struct lab_launch l = { &deep_kernel, &a, 1, 32, NULL };
	struct lab *lab = hand(NULL);

	CHECK(!lab_alloc(lab, "a", 4096, LAB_DEVICE, &a.a, &err));
	CHECK_EQ(lab_run(lab, &l, NULL, &err), GTU_ERR_FAIL);
	CHECKF(strstr(err.text, "deep: warp 0 of block 0 has") && strstr(err.text, "of its stack"), "%s", err.text);
	lab_destroy(lab);
}

TEST_MAIN
