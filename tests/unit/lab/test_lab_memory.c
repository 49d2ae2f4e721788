// SPDX-License-Identifier: MIT
/* Caches, crossbar, DRAM and link, in cases small enough for hand calculation. */
#include "firmware-model/lab/engine/internal.h"
#include "lab_test.h"

/* ---- Timing: one warp on a machine with round numbers ---------------------------------------- */

static const char *const keys[] = {
	"core.clock = 1000 MHz", "sm.count = 1", "sm.warps = 4", "sm.blocks = 4",
	"sm.schedulers = 1", "sm.policy = gto", "sm.atomics = free", "sm.alu_latency = 1 cycles",
	"sm.shared = 1 KiB", "sm.shared_latency = 20 cycles", "launch.latency = 100 cycles",
	"coalesce.load = 128 B", "coalesce.store = 128 B", "coalesce.atomic = 32 B",
	"l1.size = 1 KiB", "l1.ways = 4", "l1.index = linear", "l1.sectored = no",
	"l1.latency = 30 cycles", "l1.mshrs = 4", "l1.merges = 2", "l1.miss_queue = 8",
	"noc.flit = 40 B", "noc.header = 8 B", "noc.latency = 10 cycles", "noc.outstanding = 64",
	"l2.slices = 1", "l2.size = 1 KiB", "l2.ways = 2", "l2.index = linear",
	"l2.latency = 50 cycles", "dram.channels = 1", "dram.latency = 70 cycles",
	"dram.bandwidth = 8 GB/s", "dram.banks = 2", "dram.row = 256 B", "dram.hit = 10 ns",
	"dram.miss = 25 ns", "link.bandwidth = 10 GB/s", "link.header = 18 B", "link.requests = 2",
	"link.round_trip = 1000 ns", "link.host_atom = 64 B", "link.cache = none",
};

struct args {
	struct lab_array a, b;
	uint32_t step[8];		/* element of lane 0 of each access; ~0u ends */
	bool store, atomic, spread, mixed; /* mixed: every other access is a store */
	uint64_t begin[8], end[8];
};

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
			lab_atomic(w, 0, &a->a, LAB_ADD_U32, at, lab_all(1));
		else
			lab_load32(w, 0, &a->a, at);
		lab_wait_for(w, 1u << LAB_LOADS);
		a->end[i] = lab_now(w->lab);
	}
}
ONE_KERNEL(one_by_one);

static struct lab *lab;			/* of the current test */
static const struct lab_stats *s;	/* its counters */

static void open_lab(struct lab_machine m)
{
	lab_destroy(lab);
	lab = NULL;
	CHECKF(!lab_create(&m, &lab, &err), "%s", err.text);
	s = lab_stats(lab);
}

static struct lab_machine hand_machine(const char *set)
{
	char text[4096] = "machine = hand\n";
	size_t n = strlen(text), i;
	struct lab_machine m;

	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		n += (size_t)sprintf(text + n, "%s # source: by hand\n", keys[i]);
	CHECKF(!lab_machine_parse(text, n, "hand", &m, &err) &&
	       (!set || !lab_machine_set(&m, set, &err)), "%s", err.text);
	return m;
}

static void hand(const char *set)
{
	open_lab(hand_machine(set));
}

static void run(struct args *a, enum lab_space space)
{
	int rc = a->a.data ? 0 : lab_alloc(lab, "a", 4096, space, &a->a, &err);

	rc = rc ? rc : launch(lab, &one_by_one_kernel, a, 1, 32);
	CHECKF(!rc, "%s", err.text);
}

TEST(full_miss_latency_is_the_sum_of_all_stages)
{
	struct args a = { .step = { 0, 0, 32, ~0u } };

	hand(NULL);
	run(&a, LAB_DEVICE);
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
}

TEST(atomic_bypasses_l1_and_hits_l2)
{
	struct args a = { .step = { 0, 0, ~0u }, .atomic = true };

	hand(NULL);
	run(&a, LAB_DEVICE);
	CHECK_EQ(s->transactions[LAB_ATOMIC], 8);
	CHECK_EQ(s->request[LAB_ATOMIC][1], 8);
	CHECK_EQ(s->l1_load[LAB_MISS] + s->l1_load[LAB_HIT], 0);
	/* the last of four sectors leaves in cycle 3: a flit, 10 over, 50 in the L2, 10 back, a flit */
	CHECK_EQ(a.end[1] - a.begin[1], 3 + 1 + 10 + 50 + 10 + 1);
	CHECK_EQ(((uint32_t *)a.a.data)[31], 2);
}

/* The L2 has 4 sets of 2 ways: the third line of a set evicts the LRU line. */
TEST(l2_writes_back_dirty_victims)
{
	struct args a = { .step = { 0, 128, 0, 256, ~0u }, .store = true }; /* lines 0, 4, 0, 8: one set */

	hand(NULL);
	run(&a, LAB_DEVICE);
	CHECK_EQ(s->request[LAB_STORE][4], 4);
	CHECK_EQ(s->request_bytes[LAB_STORE], 4 * 136);
	CHECK_EQ(s->l2_write[LAB_MISS], 3);
	CHECK_EQ(s->l2_write[LAB_SECTOR_MISS], 9);
	CHECK_EQ(s->l2_write[LAB_HIT], 4);
	CHECK_EQ(s->dram_reads, 0);			/* written without being read */
	CHECK_EQ(s->dram_writes, 4);			/* line 4, the older one */
}

/* Every write goes to DRAM, and none allocates: the loads in between miss. */
TEST(l2_writes_through)
{
	struct args a = { .step = { 0, 0, 0, 0, ~0u }, .mixed = true }; /* load, store, load, store */

	hand("l2.writes=through");
	run(&a, LAB_DEVICE);
	CHECK_EQ(s->dram_reads, 4);
	CHECK_EQ(s->dram_writes, 8);
	CHECK_EQ(s->l2_write[LAB_HIT], 8);
	CHECK_EQ(s->l2_read[LAB_HIT], 4);		/* the store evicted the line from the L1 only */
	CHECK_EQ(s->l2_evicted_sectors, 0);
	hand("l2.writes=through");
	a = (struct args){ .step = { 0, 0, ~0u }, .atomic = true };
	run(&a, LAB_DEVICE);
	CHECK_EQ(s->dram_reads, 0);
	CHECK_EQ(s->dram_writes, 8);
	CHECK_EQ(s->l2_write[LAB_MISS], 8);
	CHECK_EQ(((uint32_t *)a.a.data)[31], 2);
}

/* A load of a partly written sector must fetch the rest. */
TEST(partial_sector_is_fetched_before_a_load)
{
	struct args a = { .step = { 0, ~0u }, .store = true, .spread = true }; /* a word in each of 32 lines */

	hand("l2.size=16384 B");
	run(&a, LAB_DEVICE);
	CHECK_EQ(s->request[LAB_STORE][1], 32);
	CHECK_EQ(s->dram_reads, 0);
	a.store = false;
	run(&a, LAB_DEVICE);
	CHECK_EQ(s->l2_read[LAB_MISS], 0);
	/* of each line, three sectors never written and one partly written */
	CHECK_EQ(s->l2_read[LAB_SECTOR_MISS], 128);
}

TEST(store_hit_invalidates_l1_line)
{
	struct args a = { .step = { 0, 0, 0, 32, 0, ~0u }, .mixed = true }; /* load, store, load; store elsewhere; load */

	hand(NULL);
	run(&a, LAB_DEVICE);
	CHECK_EQ(s->l1_load[LAB_MISS], 2);
	CHECK_EQ(s->l1_load[LAB_HIT], 1);
	CHECK_EQ(s->l1_store[LAB_HIT], 1);
	CHECK_EQ(s->l1_store[LAB_MISS], 1);
	a.mixed = false;
	run(&a, LAB_DEVICE);			/* a launch invalidates the L1 */
	CHECK_EQ(s->l1_load[LAB_MISS], 4);
}

/* 32 lines at once, 4 MSHRs, 8 lines of L1: the LSU stalls, and all loads complete. */
TEST(lsu_stalls_without_free_mshr)
{
	struct args a = { .step = { 0, 0, ~0u }, .spread = true };

	hand(NULL);
	run(&a, LAB_DEVICE);
	/* 8 lines hold none of the first 24 until they return */
	CHECK_EQ(s->l1_load[LAB_MISS], 64);
	CHECK(s->lsu_stalled > 0);
}

/* Each of four warps loads two lines of its own, and waits for both. */
static void two_lines(struct lab_warp *w, const void *p)
{
	struct args *a = (struct args *)(uintptr_t)p;

	lab_load32(w, 0, &a->a, lab_lane() + w->in_block * 64);
	lab_load32(w, 0, &a->a, lab_lane() + w->in_block * 64 + 32);
	lab_wait(w);
	a->end[w->in_block] = lab_now(w->lab);
}
ONE_KERNEL(two_lines);

/* sm.loads: an instruction enters the LSU when another's data has arrived. */
TEST(loads_in_flight_are_limited)
{
	static const char *const set[] = { "sm.loads=1", "sm.loads=2", "sm.loads=8", "sm.loads=0" };
	const uint64_t miss = 30 + 1 + 10 + 50 + 70 + 25 + 16 + 1 + 10 + 4, same_row = miss - 15;
	uint64_t last[4];
	unsigned i, k;

	for (i = 0; i < 4; i++) {
		struct args a = { 0 };

		hand(set[i]);
		a.a = array_of(lab, "a", 1024);
		CHECKF(!launch(lab, &two_lines_kernel, &a, 1, 128), "%s", err.text);
		CHECK_EQ(s->l1_load[LAB_MISS], 8);
		for (last[i] = k = 0; k < 4; k++)
			last[i] = a.end[k] > last[i] ? a.end[k] : last[i];
	}
	/* one at a time: of each pair, the second line is in an open row */
	CHECK_EQ(last[0], 100 + 4 * (miss + same_row));
	/* a pair at a time: the second line is 16 cycles of the bus behind the first */
	CHECK_EQ(last[1], 100 + 4 * (miss + 16));
	CHECK(last[2] < last[1]);
	CHECK_EQ(last[3], last[2]);
}

/* sm.lines: with one, a line is requested when the one before it has arrived, as with one MSHR. */
TEST(lines_in_flight_are_limited)
{
	static const char *const set[] = { "sm.lines=1", "l1.mshrs=1", "sm.lines=0" };
	uint64_t end[3];
	unsigned i;

	for (i = 0; i < 3; i++) {
		struct args a = { .step = { 0, ~0u }, .spread = true };

		hand(set[i]);
		run(&a, LAB_DEVICE);
		CHECK_EQ(s->l1_load[LAB_MISS], 32);
		end[i] = a.end[0];
	}
	CHECK_EQ(end[0], end[1]);
	CHECK(end[2] < end[0]);
}

/* l2.mshrs: with one, the slice looks at the next line when DRAM has answered. */
TEST(l2_misses_in_flight_are_limited)
{
	struct args a = { .step = { 0, ~0u }, .spread = true };

	hand("l2.mshrs=1");
	run(&a, LAB_DEVICE);
	/* every other line is in an open row */
	CHECK_EQ(a.end[0] - a.begin[0], 30 + 1 + 10 + 16 * (50 + 70 + 25 + 16 + 1) + 16 * (50 + 70 + 10 + 16 + 1) + 10 + 4);
	CHECK_EQ(s->dram_reads, 128);
}

/* sm.policy = barrel, 4 warps: an instruction in every fourth cycle, also of a warp alone. */
TEST(barrel_gives_each_warp_its_turn)
{
	struct args a = { .step = { 0, 0, 0, ~0u } };

	hand("sm.policy=barrel");
	run(&a, LAB_DEVICE);
	CHECK_EQ(a.begin[0] % 4, 0);
	/* a hit takes 30 cycles, and the next turn is in cycle 32 */
	CHECK_EQ(a.end[1] - a.begin[1], 32);
	CHECK_EQ(a.end[2] - a.begin[2], 32);
}

static void arithmetic(struct lab_warp *w, const void *p)
{
	(void)p;
	lab_alu(w, 512);
}
ONE_KERNEL(arithmetic);

/* sm.socket: two SMs that can issue an instruction per cycle each, but fetch one per cycle together. */
TEST(a_socket_fetches_one_instruction_per_cycle)
{
	struct lab_machine m = hand_machine("sm.policy=barrel");
	uint64_t cycles[3];
	uint32_t socket;

	m.sms = 2;
	for (socket = 0; socket < 3; socket++) {
		m.socket = socket;
		open_lab(m);
		CHECKF(!launch(lab, &arithmetic_kernel, NULL, 2, 128), "%s", err.text);
		CHECK_EQ(s->warp_instructions, 8 * 512);
		cycles[socket] = lab_now(lab) - 100;
	}
	CHECKF(cycles[0] >= 2048 && cycles[0] < 2060, "%u", (unsigned)cycles[0]);
	CHECK_EQ(cycles[1], cycles[0]);
	CHECKF(cycles[2] >= 4096 && cycles[2] < 4110, "%u", (unsigned)cycles[2]);
}

/* The second SM loads a line long after the first one. */
static void after_each_other(struct lab_warp *w, const void *p)
{
	struct args *a = (struct args *)(uintptr_t)p;

	if (w->block)
		lab_alu(w, 1000);
	lab_load32(w, 0, &a->a, lab_lane());
	lab_wait(w);
}
ONE_KERNEL(after_each_other);

TEST(a_socket_shares_its_l1)
{
	struct lab_machine m = hand_machine("sm.policy=barrel");
	struct args a = { 0 };

	m.sms = 2;
	for (m.socket = 0; m.socket < 3; m.socket += 2) {
		open_lab(m);
		a.a = array_of(lab, "a", 1024);
		CHECKF(!launch(lab, &after_each_other_kernel, &a, 2, 32), "%s", err.text);
		CHECK_EQ(s->l1_load[LAB_MISS], m.socket ? 1 : 2);
		CHECK_EQ(s->l1_load[LAB_HIT], m.socket ? 1 : 0);
	}
}

/* Warp 0 loads from 32 lines with 4 MSHRs; warp 1's atomic is behind it in the LSU. */
static void load_and_atomic(struct lab_warp *w, const void *p)
{
	struct args *a = (struct args *)(uintptr_t)p;

	if (w->in_block)
		lab_atomic(w, 0, &a->b, LAB_ADD_U32, lab_lane(), lab_all(1));
	else
		lab_load32(w, 0, &a->a, lab_lane() * 32);
	lab_wait(w);
	a->end[w->in_block] = lab_now(w->lab);
}
ONE_KERNEL(load_and_atomic);

static struct args run_load_and_atomic(const char *set)
{
	struct args a = { 0 };

	hand(set);
	a.a = array_of(lab, "a", 1024);
	a.b = array_of(lab, "b", 1024);
	CHECKF(!launch(lab, &load_and_atomic_kernel, &a, 1, 64), "%s", err.text);
	return a;
}

TEST(atomic_overtakes_stalled_loads)
{
	struct args a = run_load_and_atomic("l1.latency=40 cycles");

	/*
	 * Launch latency; the loads occupy the LSU for 32 cycles; a flit, 10 over, 50 in the L2, 70
	 * to DRAM; a row is opened in 25, four sectors take 4 each on the bus, 1 to hand them over;
	 * 10 back, a flit. The first load is looked up 40 cycles after it entered and is behind the
	 * atomic everywhere.
	 */
	CHECK_EQ(a.end[1], 100 + 32 + 1 + 10 + 50 + 70 + 25 + 16 + 1 + 10 + 1);
	CHECK(a.end[0] > a.end[1] + 300);
}

/* A pipeline of one stage holds the fifth of 32 misses; the LSU must keep what is behind it. */
TEST(full_l1_pipeline_stalls_lsu)
{
	struct args a = run_load_and_atomic("l1.latency=1 cycles");

	/* 27 more misses, four at a time, with 4 sectors of 4 cycles each on the DRAM bus */
	CHECK(a.end[1] > 100 + 27 * 16);
}

/* Two inputs and two outputs of a crossbar with 10 cycles latency. */
TEST(crossbar_input_has_head_of_line_blocking)
{
	static struct lab_slots to[2];
	struct lab_input a = { 0 }, b = { 0 }, c = { 0 }, d = { 0 };

	hand(NULL);
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
	/* packets that are ready late, as behind a long queue, leave the cycles before them free */
	CHECK_EQ(lab_cross(lab, &d, &to[1], 300, 1), 301 + 10);
	CHECK_EQ(lab_cross(lab, &a, &to[1], 100000, 3), 100003 + 10);
	CHECK_EQ(lab_cross(lab, &b, &to[1], 100000, 1), 100004 + 10);
}

/* A unit that requests the line of its array, and again after the reply. */
struct asker {
	int unit;
	uint64_t addr, asked[2], came[2];
	unsigned n, sectors[2];
};

static void ask_line(void *ctx, uint64_t cycle)
{
	struct asker *a = ctx;

	a->asked[a->n] = cycle;
	lab_unit_memory(lab, a->unit, 0, LAB_LOAD, a->addr, a->sectors[a->n], a->n);
}

static void line_came(void *ctx, uint64_t tag, uint64_t cycle)
{
	struct asker *a = ctx;

	a->came[tag] = cycle;
	if (++a->n < 2)
		lab_unit_wake(lab, a->unit, cycle + 20);
}

TEST(units_have_their_own_path_to_the_l2)
{
	/* the last has a path of its own: 3 cycles before the look-up, a packet a cycle, and no delay before DRAM */
	static const enum lab_attach_point point[] = { LAB_IN_PARTITION, LAB_ON_CROSSBAR, LAB_ON_CROSSBAR };
	unsigned i;

	for (i = 0; i < 3; i++) {
		struct asker a = { .sectors = { 0xf, 0xf } };
		struct lab_unit u = { .name = "asker", .attach_point = point[i], .reply = line_came, .clock = ask_line };
		uint64_t way = i ? 1 + 10 + (i == 2 ? 3 : 50) : 1 + 1, back = i ? 10 + (i == 2 ? 1 : 4) : 0;

		hand(NULL);
		a.addr = array_of(lab, "a", 1024).addr;
		CHECK(!lab_attach(lab, &u, &a, &a.unit, &err));
		if (i == 2)
			lab_unit_path(lab, a.unit, &(struct lab_unit_path){ .l2_latency = 3, .packets = 1, .skips_dram_latency = 1 });
		lab_unit_wake(lab, a.unit, 5);
		CHECKF(!lab_run_units(lab, &err), "%s", err.text);
		/* request; 70 to DRAM, a row, four sectors, a cycle; reply */
		CHECK_EQ(a.came[0] - a.asked[0], way + (i == 2 ? 0 : 70) + 25 + 16 + 1 + back);
		CHECK_EQ(a.came[1] - a.asked[1], way + back);
	}
}

/* A unit that requests four lines in a cycle, each in a slice of its own, and once more after all replies. */
struct burst {
	int unit;
	uint64_t addr, asked, came[4];
	unsigned n;
};

static void ask_four(void *ctx, uint64_t cycle)
{
	struct burst *b = ctx;
	unsigned i;

	b->asked = cycle;
	for (i = 0; i < 4; i++)
		lab_unit_memory(lab, b->unit, 0, LAB_LOAD, b->addr + i * LAB_LINE, 0xf, i);
}

static void one_of_four_came(void *ctx, uint64_t tag, uint64_t cycle)
{
	struct burst *b = ctx;

	b->came[tag] = cycle;
	if (++b->n == 4)
		lab_unit_wake(lab, b->unit, cycle + 20);
}

/* Packet @i of a cycle leaves i / packets cycles after the first, and its reply takes no port of another's. */
TEST(port_passes_packets_of_a_cycle_at_once)
{
	static const struct lab_unit u = { .name = "burst", .attach_point = LAB_ON_CROSSBAR, .reply = one_of_four_came, .clock = ask_four };
	static const uint32_t packets[] = { 1, 2, 4, 8 };
	unsigned k, i;

	for (k = 0; k < sizeof(packets) / sizeof(packets[0]); k++) {
		struct burst b = { 0 };

		hand("l2.slices=4");
		b.addr = array_of(lab, "a", 1024).addr;
		CHECK(!lab_attach(lab, &u, &b, &b.unit, &err));
		lab_unit_path(lab, b.unit, &(struct lab_unit_path){ .l2_latency = 3, .packets = packets[k] });
		lab_unit_wake(lab, b.unit, 5);
		CHECKF(!lab_run_units(lab, &err), "%s", err.text);
		CHECK_EQ(b.n, 8);
		for (i = 0; i < 4; i++) /* these hit: a cycle, 10 over, 3 in the L2, a cycle for the packet, 10 back */
			CHECKF(b.came[i] - b.asked == 1 + 10 + 3 + 1 + 10 + i / packets[k], "%u packets a cycle, %u: %llu", packets[k], i,
			       (unsigned long long)(b.came[i] - b.asked));
	}
}

/* Four lines of one slice: it takes the four sectors of each in as many cycles, or a line in a cycle. */
TEST(slice_serves_sectors_or_blocks)
{
	static const struct lab_unit u = { .name = "burst", .attach_point = LAB_ON_CROSSBAR, .reply = one_of_four_came, .clock = ask_four };
	unsigned blocks, i;

	for (blocks = 0; blocks < 2; blocks++) {
		struct burst b = { 0 };

		hand("l2.slices=1");
		b.addr = array_of(lab, "a", 1024).addr;
		CHECK(!lab_attach(lab, &u, &b, &b.unit, &err));
		lab_unit_path(lab, b.unit, &(struct lab_unit_path){ .l2_latency = 3, .packets = 4, .l2_blocks = blocks });
		lab_unit_wake(lab, b.unit, 5);
		CHECKF(!lab_run_units(lab, &err), "%s", err.text);
		CHECK_EQ(b.n, 8);
		for (i = 0; i < 4; i++)
			CHECKF(b.came[i] - b.asked == 1 + 10 + 3 + 1 + 10 + i * (blocks ? 1 : 4), "blocks %u, %u: %llu", blocks, i,
			       (unsigned long long)(b.came[i] - b.asked));
	}
}

/* A miss fetches its sector, or with l2.sectored = no the line, so that the next sector hits. */
TEST(l2_miss_fetches_sector_or_line)
{
	static const struct lab_unit u = { .name = "asker", .attach_point = LAB_ON_CROSSBAR, .reply = line_came, .clock = ask_line };
	unsigned i;

	for (i = 0; i < 2; i++) {
		struct asker a = { .sectors = { 1, 2 } };

		hand(i ? "l2.sectored=no" : NULL);
		a.addr = array_of(lab, "a", 1024).addr;
		CHECK(!lab_attach(lab, &u, &a, &a.unit, &err));
		lab_unit_wake(lab, a.unit, 5);
		CHECKF(!lab_run_units(lab, &err), "%s", err.text);
		CHECK(!lab_check(lab, &err));
		CHECK_EQ(s->dram_reads, i ? 4 : 2);
		CHECK_EQ(s->l2_extra_sectors, i ? 3 : 0);
		CHECK_EQ(s->l2_read[LAB_HIT], i);
	}
}

/* The reply to a load of a line is a packet for each sector, or one. */
TEST(reply_is_a_packet_for_each_sector_or_one)
{
	static const struct lab_unit u = { .name = "asker", .attach_point = LAB_ON_CROSSBAR, .reply = line_came, .clock = ask_line };
	unsigned i;

	for (i = 0; i < 2; i++) {
		struct asker a = { .sectors = { 0xf, 0xf } };
		uint64_t packets = i ? 2 : 8;

		hand(i ? "noc.replies=whole" : NULL);
		a.addr = array_of(lab, "a", 1024).addr;
		CHECK(!lab_attach(lab, &u, &a, &a.unit, &err));
		lab_unit_wake(lab, a.unit, 5);
		CHECKF(!lab_run_units(lab, &err), "%s", err.text);
		CHECK(!lab_check(lab, &err));
		CHECK_EQ(s->reply_bytes[LAB_LOAD], 2 * LAB_LINE + packets * lab_machine_of(lab)->noc_header);
		CHECK_EQ(s->reply_flits, packets * ((2 * LAB_LINE / packets + lab_machine_of(lab)->noc_header +
						     lab_machine_of(lab)->noc_flit - 1) / lab_machine_of(lab)->noc_flit));
	}
}

TEST(dram_rows_and_bandwidth_limit_a_stream)
{
	struct args a = { .step = { 0, ~0u }, .spread = true };

	hand("l1.mshrs=64");
	run(&a, LAB_DEVICE);
	CHECK_EQ(s->dram_reads, 128);
	CHECK_EQ(s->dram_row_misses, 16);		/* 32 lines, two per row */
	CHECK(a.end[0] - a.begin[0] >= 128 * 4);	/* 32 bytes take 4 cycles of the bus */
}

/* ---- Link -------------------------------------------------------------------------------------- */

TEST(link_read_takes_one_round_trip)
{
	struct args a = { .step = { 0, ~0u } };

	hand(NULL);
	run(&a, LAB_HOST);
	CHECK_EQ(s->link_request[4], 1);		/* one request of 128 bytes */
	CHECK_EQ(s->link_bytes, 128);
	CHECK_EQ(s->link_header_bytes, 18);
	CHECK_EQ(s->link_host_bytes, 128);
	/* a flit and 10 out, 1000 ns, 10 and four flits back */
	CHECK_EQ(a.end[0] - a.begin[0], 1 + 10 + 1000 + 10 + 4);
	CHECK_EQ(s->l1_load[LAB_MISS], 0);		/* bypasses the caches */
}

/* 32 requests of 32 bytes, two at a time: 16 round trips. Host memory reads twice the bytes. */
TEST(requests_in_flight_limit_the_link)
{
	struct args a = { .step = { 0, ~0u }, .spread = true };

	hand(NULL);
	run(&a, LAB_HOST);
	CHECK_EQ(s->link_request[1], 32);
	CHECK_EQ(s->link_host_bytes, 64 * 32);
	CHECK_EQ(s->link_in_flight_max, 2);
	CHECK(a.end[0] - a.begin[0] >= 16000 && a.end[0] - a.begin[0] < 16200);
}

/* The far side takes 600 ns for a request: with two in flight, a round trip takes 1200 ns. */
TEST(far_side_serves_requests_one_by_one)
{
	struct args a = { .step = { 0, ~0u }, .spread = true };

	hand("link.request=600 ns");
	run(&a, LAB_HOST);
	CHECK(a.end[0] - a.begin[0] >= 1000 + 31 * 600 && a.end[0] - a.begin[0] < 1000 + 31 * 600 + 100);
	hand("link.request=600 ns");
	a = (struct args){ .step = { 0, ~0u } };
	run(&a, LAB_HOST);
	CHECK_EQ(a.end[0] - a.begin[0], 1 + 10 + 1000 + 10 + 4);	/* a request alone: as without */
}

/* With enough requests in flight, 50 bytes each at 10 GB/s are 5 ns apart. */
TEST(bandwidth_limits_the_link)
{
	struct args a = { .step = { 0, ~0u }, .spread = true };

	hand("link.requests=256");
	run(&a, LAB_HOST);
	CHECK(a.end[0] - a.begin[0] >= 1000 + 31 * 5 && a.end[0] - a.begin[0] < 1000 + 31 * 5 + 50);
}

/* Words 40 to 71: 96 bytes of a line, 32 of the next. Again: hits. Words 32 to 63: one new sector. */
TEST(l1_fetches_only_missing_host_sectors)
{
	struct args a = { .step = { 40, 40, 32, ~0u } };

	open_lab(machine_of("v100", NULL));
	run(&a, LAB_HOST);
	CHECK_EQ(s->link_request[1], 2);
	CHECK_EQ(s->link_request[3], 1);
	CHECK_EQ(s->link_request[2] + s->link_request[4], 0);
	CHECK_EQ(s->link_host_bytes, 64 + 128 + 64);
	CHECK_EQ(s->l1_host[LAB_MISS], 2);
	CHECK_EQ(s->l1_host[LAB_HIT], 2);
	CHECK_EQ(s->l1_host[LAB_SECTOR_MISS], 1);
	CHECK_EQ(s->l1_load[LAB_MISS], 0);
	CHECK_EQ(a.end[1] - a.begin[1], 28 + 1);	/* two lines of the L1 */
}

/* Sectors 0 and 2 of a line are two requests with one MSHR, released when both have arrived. */
static void two_runs(struct lab_warp *w, const void *p)
{
	struct args *a = (struct args *)(uintptr_t)p;

	lab_load32(w, 0, &a->a, (lab_lane() & 1) * 16);
	lab_wait(w);
	lab_load32(w, 0, &a->a, (lab_lane() & 1) * 16);
}
ONE_KERNEL(two_runs);

TEST(sector_runs_share_one_mshr)
{
	struct args a = { 0 };

	open_lab(machine_of("v100", NULL));
	CHECK(!lab_alloc(lab, "a", 4096, LAB_HOST, &a.a, &err));
	CHECKF(!launch(lab, &two_runs_kernel, &a, 1, 32), "%s", err.text);
	CHECK_EQ(s->link_request[1], 2);
	CHECK_EQ(s->l1_host[LAB_MISS], 1);
	CHECK_EQ(s->l1_host[LAB_HIT], 1);
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
		lab_atomic(w, 0, &a->a, LAB_ADD_U32, lab_all(8), lab_all(1));
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
ONE_KERNEL(again_while_pending);

/* Regression: the second load of sector 1 merged with the first one's released MSHR. */
TEST(loads_do_not_merge_with_a_released_mshr)
{
	struct lab_machine m = hand_machine("l1.sectored=yes");
	struct args a = { 0 };

	CHECK(!lab_machine_set(&m, "dram.latency=1000 cycles", &err));
	open_lab(m);
	a.a = array_of(lab, "a", 1024);
	CHECKF(!launch(lab, &again_while_pending_kernel, &a, 1, 64), "%s", err.text);
	CHECK_EQ(s->l1_load[LAB_MISS], 1);
	CHECK_EQ(s->l1_load[LAB_SECTOR_MISS], 2);	/* both loads of sector 1 send a request */
	CHECK_EQ(s->l1_load[LAB_PENDING] + s->l1_load[LAB_HIT], 0);
	CHECK_EQ(s->l1_store[LAB_HIT], 1);
	CHECK(a.end[2] < a.end[0]);			/* sector 0 was in flight the whole time */
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
ONE_KERNEL(deep);

/* Warp stacks have no guard pages: a program near the end of its stack must be stopped. */
TEST(stack_overflow_is_reported)
{
	struct args a = { 0 };

	hand(NULL);
	a.a = array_of(lab, "a", 1024);
	CHECK_EQ(launch(lab, &deep_kernel, &a, 1, 32), GTU_ERR_FAIL);
	CHECKF(strstr(err.text, "deep: warp 0 of block 0 has") && strstr(err.text, "of its stack"), "%s", err.text);
}

TEST_MAIN
