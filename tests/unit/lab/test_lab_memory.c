// SPDX-License-Identifier: MIT
/* Coalescer, caches, crossbar, DRAM and link, each in cases small enough to be worked out by hand. */
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

TEST(a_misaligned_warp_touches_one_more)
{
	uint32_t index[32], i;

	for (i = 0; i < 32; i++)
		index[i] = 1 + i;
	coalesce(index, ~0u, 2, 128, LAB_LOAD);
	CHECK_EQ(c.n, 2);
	CHECK_EQ(c.bits[0], 0x1);			/* word 32 is in the second line's first sector */
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

/* For each sector as many as the most lanes on one word of it. */
TEST(atomics_serve_a_word_once_a_transaction)
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

/* GPGPU-Sim before sectors: a line, half a warp at a time. */
TEST(atomics_by_lines_are_of_half_a_warp)
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

TEST(stores_know_which_sectors_they_fill)
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

/* The processor's form and the portable one agree, and both with a count by definition. */
TEST(all_forms_agree)
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

/* ---- Calendar ---------------------------------------------------------------------------------- */

TEST(events_come_in_order_of_time_and_of_entry)
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
	lab_schedule(&k, k.now + 1000000, 1, EV_WAKE);	/* far beyond the ring, from an empty calendar */
	CHECK_EQ(lab_calendar_pop(&k), 1);
	CHECK_EQ(k.now, last + 1000000);
	lab_calendar_free(&k);
}

/* ---- Timing: one warp on a machine of round numbers ---------------------------------------------- */

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

/* One access after the other, each waited for, with its time taken. */
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

TEST(a_load_that_misses_everything_takes_the_sum_of_the_way)
{
	struct args a = { .step = { 0, 0, 32, ~0u } };
	struct lab *lab = hand(NULL);
	const struct lab_stats *s = lab_stats(lab);

	run(lab, &a, 4096, LAB_DEVICE);
	CHECK_EQ(a.begin[0], 100);			/* the launch */
	/*
	 * 30 in the L1; 1 flit out and 10 over the crossbar; 50 in the L2 and 70 to DRAM; row miss 25, then 4 sectors
	 * of 4 cycles each on the bus of 8 bytes a cycle, and 1 to hand them over; 10 back and 4 flits
	 */
	CHECK_EQ(a.end[0] - a.begin[0], 30 + 1 + 10 + 50 + 70 + 25 + 16 + 1 + 10 + 4);
	CHECK_EQ(a.end[1] - a.begin[1], 30);		/* the L1 has it */
	/* the next line lies in the same row of 256 bytes */
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

TEST(an_atomic_goes_past_the_l1_and_finds_its_sector_in_the_l2)
{
	struct args a = { .step = { 0, 0, ~0u }, .atomic = true };
	struct lab *lab = hand(NULL);
	const struct lab_stats *s = lab_stats(lab);

	run(lab, &a, 4096, LAB_DEVICE);
	CHECK_EQ(s->transactions[LAB_ATOMIC], 8);
	CHECK_EQ(s->request[LAB_ATOMIC][1], 8);
	CHECK_EQ(s->l1_load[LAB_MISS] + s->l1_load[LAB_HIT], 0);
	/* the last of four sectors leaves in cycle 3: one flit, 10 over, 50 in the L2, 10 back, one flit */
	CHECK_EQ(a.end[1] - a.begin[1], 3 + 1 + 10 + 50 + 10 + 1);
	CHECK_EQ(((uint32_t *)a.a.data)[31], 2);
	lab_destroy(lab);
}

/* 2 ways of 4 sets in the L2: the third line of a set takes the least recently used one's place. */
TEST(the_l2_writes_back_what_it_drops_dirty)
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

/* A load of what was written in part must fetch the rest. */
TEST(a_sector_written_in_part_is_read_before_it_is_used)
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
	CHECK_EQ(s->l2_read[LAB_SECTOR_MISS], 128);	/* of each line three never written, one written in part */
	lab_destroy(lab);
}

TEST(a_store_that_hits_takes_the_line_out_of_the_l1)
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
	run(lab, &a, 4096, LAB_DEVICE);			/* a launch empties the L1 */
	CHECK_EQ(s->l1_load[LAB_MISS], 4);
	lab_destroy(lab);
}

/* 32 lines at once, 4 MSHRs, 8 lines of L1: the LSU waits, and all of them come. */
TEST(an_lsu_without_mshrs_waits)
{
	struct args a = { .step = { 0, 0, ~0u }, .spread = true };
	struct lab *lab = hand(NULL);
	const struct lab_stats *s = lab_stats(lab);

	run(lab, &a, 4096, LAB_DEVICE);
	CHECK_EQ(s->l1_load[LAB_MISS], 64);		/* 8 lines hold none of the first 24 until they return */
	CHECK(s->lsu_stalled > 0);
	lab_destroy(lab);
}

/* Warp 0 loads from 32 lines where 4 MSHRs are; warp 1 has an atomic behind it in the LSU. */
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

TEST(an_atomic_overtakes_loads_that_wait_in_the_l1)
{
	struct lab *lab = hand("l1.latency=40 cycles");
	struct args a = { 0 };
	struct lab_launch l = { &load_and_atomic_kernel, &a, 1, 64, NULL };
	struct gtu_error err = { 0 };

	CHECK(!lab_alloc(lab, "a", 4096, LAB_DEVICE, &a.a, &err));
	CHECK(!lab_alloc(lab, "b", 4096, LAB_DEVICE, &a.b, &err));
	CHECKF(!lab_run(lab, &l, NULL, &err), "%s", err.text);
	/*
	 * The launch; the LSU has the loads for 32 cycles; a flit, 10 over, 50 in the L2, 70 to DRAM: its row is opened
	 * in 25, four sectors on the bus take 4 each, 1 to hand them over, 10 back, a flit. The first load is looked
	 * up 40 cycles after it entered and is behind it everywhere.
	 */
	CHECK_EQ(a.end[1], 100 + 32 + 1 + 10 + 50 + 70 + 25 + 16 + 1 + 10 + 1);
	CHECK(a.end[0] > a.end[1] + 300);
	lab_destroy(lab);
}

/* A pipeline of one holds the fifth of 32 misses; the LSU has to keep the rest, and what is behind them. */
TEST(an_l1_pipeline_that_is_full_holds_the_lsu)
{
	struct lab *lab = hand("l1.latency=1 cycles");
	struct args a = { 0 };
	struct lab_launch l = { &load_and_atomic_kernel, &a, 1, 64, NULL };
	struct gtu_error err = { 0 };

	CHECK(!lab_alloc(lab, "a", 4096, LAB_DEVICE, &a.a, &err));
	CHECK(!lab_alloc(lab, "b", 4096, LAB_DEVICE, &a.b, &err));
	CHECKF(!lab_run(lab, &l, NULL, &err), "%s", err.text);
	/* 27 more misses, four at a time, of 4 sectors of 4 cycles each on DRAM's bus */
	CHECK(a.end[1] > 100 + 27 * 16);
	lab_destroy(lab);
}

/* Two inputs and two outputs of a crossbar of 10 cycles. */
TEST(the_head_of_a_queue_holds_up_what_is_behind_it)
{
	static struct lab_slots to[2];
	struct lab_input a = { 0 }, b = { 0 }, c = { 0 }, d = { 0 };
	struct lab *lab = hand(NULL);

	memset(to, 0, sizeof(to));
	CHECK_EQ(lab_cross(lab, &a, &to[0], 100, 4), 100 + 4 + 10);
	CHECK_EQ(lab_cross(lab, &b, &to[0], 100, 1), 104 + 1 + 10); /* the output is taken until then */
	/* this one's output is free, but it is behind: not before 104, then with it, as outputs choose in turn */
	CHECK_EQ(lab_cross(lab, &b, &to[1], 100, 1), 104 + 1 + 10);
	CHECK_EQ(lab_cross(lab, &b, &to[0], 100, 1), 105 + 1 + 10);
	/* who comes later in the model may be earlier in time */
	CHECK_EQ(lab_cross(lab, &c, &to[1], 200, 2), 202 + 10);
	CHECK_EQ(lab_cross(lab, &d, &to[1], 199, 2), 203 + 10); /* 199, then 200 and 201 are taken: 202 */
	/* a whole word of taken cycles is gone over, and what lies beyond the window still has its order */
	CHECK_EQ(lab_cross(lab, &a, &to[0], 1000, 200), 1200 + 10);
	CHECK_EQ(lab_cross(lab, &c, &to[0], 1001, 1), 1201 + 10);
	CHECK_EQ(lab_cross(lab, &a, &to[1], 10000, 3), 10003 + 10);
	CHECK_EQ(lab_cross(lab, &b, &to[1], 10000, 1), 10004 + 10);
	lab_destroy(lab);
}

/* A unit that asks for the line of its array, and again when that is there. */
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

TEST(a_unit_in_the_partition_is_behind_the_l2s_pipeline)
{
	static const enum lab_attach_point place[] = { LAB_IN_PARTITION, LAB_ON_CROSSBAR };
	unsigned i;

	for (i = 0; i < 2; i++) {
		struct asker a = { .lab = hand(NULL) };
		struct lab_unit u = { .name = "asker", .attach_point = place[i], .ctx = &a, .reply = line_came, .clock = ask_line };
		struct gtu_error err = { 0 };
		struct lab_array array;
		uint64_t way = i ? 1 + 10 + 50 : 1 + 1, back = i ? 10 + 4 : 0;

		CHECK(!lab_alloc(a.lab, "a", 4096, LAB_DEVICE, &array, &err));
		a.addr = array.addr;
		a.unit = lab_attach(a.lab, &u, &err);
		CHECK(a.unit >= 0);
		lab_unit_wake(a.lab, a.unit, 5);
		CHECKF(!lab_run_units(a.lab, &err), "%s", err.text);
		/* there: a cycle, or a flit, the crossbar and the pipeline; 70 to DRAM, a row, four sectors, a cycle */
		CHECK_EQ(a.came[0] - a.asked[0], way + 70 + 25 + 16 + 1 + back);
		CHECK_EQ(a.came[1] - a.asked[1], way + back);
		lab_destroy(a.lab);
	}
}

TEST(rows_and_bandwidth_of_dram_bound_a_stream)
{
	struct args a = { .step = { 0, ~0u }, .spread = true };
	struct lab *lab = hand("l1.mshrs=64");
	const struct lab_stats *s = lab_stats(lab);

	run(lab, &a, 4096, LAB_DEVICE);
	CHECK_EQ(s->dram_reads, 128);
	CHECK_EQ(s->dram_row_misses, 16);		/* 32 lines, two a row */
	CHECK(a.end[0] - a.begin[0] >= 128 * 4);	/* 32 bytes are 4 cycles of the bus */
	lab_destroy(lab);
}

/* ---- Link -------------------------------------------------------------------------------------- */

TEST(a_read_over_the_link_takes_the_round_trip)
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
	CHECK_EQ(s->l1_load[LAB_MISS], 0);		/* past the caches */
	lab_destroy(lab);
}

/* 32 requests of 32 bytes, two at a time: 16 round trips; and host memory reads twice what is asked. */
TEST(requests_in_flight_bound_the_link)
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

/* With requests enough, 50 bytes each at 10 GB/s are 5 ns apart. */
TEST(bandwidth_bounds_the_link)
{
	struct args a = { .step = { 0, ~0u }, .spread = true };
	struct lab *lab = hand("link.requests=256");

	run(lab, &a, 4096, LAB_HOST);
	CHECK(a.end[0] - a.begin[0] >= 1000 + 31 * 5 && a.end[0] - a.begin[0] < 1000 + 31 * 5 + 50);
	lab_destroy(lab);
}

/* Words 40 to 71: 96 bytes of one line, 32 of the next. Again: nothing. Words 32 to 63: one sector is new. */
TEST(an_l1_that_keeps_host_memory_asks_for_what_it_lacks)
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

/* Sectors 0 and 2 of a line are two requests and one MSHR: it is filled when both are there. */
static void two_runs(struct lab_warp *w, const void *p)
{
	struct args *a = (struct args *)(uintptr_t)p;

	lab_load32(w, 0, &a->a, (lab_lane() & 1) * 16);
	lab_wait(w);
	lab_load32(w, 0, &a->a, (lab_lane() & 1) * 16);
}
static const struct lab_kernel two_runs_kernel = { .name = "two_runs", .warp = two_runs, .statement = names,
						   .statements = 1 };

TEST(runs_of_sectors_share_a_miss)
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
 * Warp 0 loads sector 0, which is long in coming; warp 1 loads sector 1 of that line, which the L2 has, stores to it once
 * it is there, and loads it again while sector 0 is still on its way.
 */
static void again_while_pending(struct lab_warp *w, const void *p)
{
	struct args *a = (struct args *)(uintptr_t)p;

	if (!w->in_block)		/* who comes last to the barrier goes on first: sector 0 is asked for before sector 1 */
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

/* The second load of sector 1 once joined the MSHR of the first, which had gone: nobody woke it. */
TEST(nobody_joins_an_mshr_that_has_gone)
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
	CHECK_EQ(s->l1_load[LAB_SECTOR_MISS], 2);	/* both loads of sector 1 are requests of their own */
	CHECK_EQ(s->l1_load[LAB_PENDING] + s->l1_load[LAB_HIT], 0);
	CHECK_EQ(s->l1_store[LAB_HIT], 1);
	CHECK(a.end[2] < a.end[0]);			/* sector 0 was on its way all the time */
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

/* No guard page is between the stacks of warps: a program that comes near its end is stopped before. */
TEST(a_program_that_goes_too_deep_is_stopped)
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
