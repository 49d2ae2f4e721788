// SPDX-License-Identifier: MIT
/* Unified memory with page migration: times, prefetch and eviction against hand calculations. */
#include "lab_test.h"

/*
 * A cycle is a nanosecond. A page of 4 KiB takes 1000 cycles; four pages are a block; two blocks
 * fit the device. A batch costs 700 cycles before its pages move. No region is ever more than 100
 * percent full: no prefetch.
 */
static const char *const settings[] = {
	"core.clock=1000 MHz", "uvm.block=64 KiB", "uvm.page=4 KiB", "uvm.block=16 KiB", "uvm.memory=32 KiB", "uvm.batch=256", "uvm.prefetch=100",
	"uvm.fault=700 ns", "uvm.bandwidth=4.096 GB/s", "uvm.advice=read_mostly", "launch.latency=0 cycles",
};
#define BATCH 700u
#define PAGE 1000u

static struct lab_machine machine;

static void set(const char *assignment)
{
	CHECKF(!lab_machine_set(&machine, assignment, &err), "%s", err.text);
}

static void machine_for_tests(void)
{
	unsigned i;

	machine = machine_of("v100", NULL);
	for (i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		set(settings[i]);
}

struct args {
	struct lab_array a;
	const uint32_t *page;		/* one word is accessed per step; | WRITE: written */
	unsigned steps;
	uint32_t stride; /* pages between lanes, in one step of all lanes; 0: lane 0 only */
};
#define WRITE 0x80000000u
#define WORDS 1024u			/* per page */

LAB_PROGRAM static void touch(struct lab_warp *w, const void *p)
{
	const struct args *a = p;
	lab_u32 at;
	unsigned i;

	if (a->stride) {
		lab_load32(w, 0, &a->a, lab_lane() * lab_all(a->stride * WORDS));
		lab_wait(w);
		return;
	}
	LAB_IF(w, lab_eq(lab_lane(), lab_all(0))) {
		for (i = 0; i < a->steps; i++) {
			/* another line each time: a resident page is accessed past the caches */
			at = lab_all((a->page[i] & ~WRITE) * WORDS + i * 32);
			if (a->page[i] & WRITE)
				lab_store32(w, 0, &a->a, at, lab_all(i));
			else
				lab_load32(w, 0, &a->a, at);
			lab_wait(w);
		}
	}
}

ONE_KERNEL(touch);

/* Run one warp over 64 pages. Returns the counters. */
static struct lab_stats run(enum lab_space space, const uint32_t *page, unsigned steps, uint32_t stride)
{
	struct args a = { .page = page, .steps = steps, .stride = stride };
	struct lab_launch l = { &touch_kernel, &a, 1, 32, NULL };
	struct lab_stats s = { 0 };
	struct lab *lab;
	int rc = lab_create(&machine, &lab, &err);

	rc = rc ? rc : lab_alloc(lab, "a", 64 * 4096, space, &a.a, &err);
	rc = rc ? rc : lab_run(lab, &l, NULL, &err);
	CHECKF(!rc, "%s", err.text);
	if (!rc)
		s = *lab_stats(lab);
	lab_destroy(lab);
	return s;
}

TEST(fault_latency_is_driver_plus_transfer)
{
	static const uint32_t once[] = { 5 }, again[] = { 5, 5, 5 };
	struct lab_stats s, without;

	machine_for_tests();
	s = run(LAB_MANAGED, once, 1, 0);
	without = run(LAB_DEVICE, once, 1, 0);
	CHECKF(s.cycles - without.cycles == BATCH + PAGE, "%lu cycles more", (unsigned long)(s.cycles - without.cycles));
	CHECK(s.uvm_faults == 1 && s.uvm_batches == 1 && s.uvm_pages == 1 && s.uvm_bytes_in == 4096 && !s.uvm_bytes_out);
	CHECK(s.uvm_busy_cycles == BATCH + PAGE && s.dram_reads == without.dram_reads);
	s = run(LAB_MANAGED, again, 3, 0);
	without = run(LAB_DEVICE, again, 3, 0);
	CHECKF(s.cycles - without.cycles == BATCH + PAGE, "%lu cycles more", (unsigned long)(s.cycles - without.cycles));
}

/* Lanes access 32 pages at once: as many batches as needed, each with its cost. */
TEST(faults_are_batched)
{
	struct lab_stats s, without;

	machine_for_tests();
	set("uvm.batch=6");
	set("uvm.memory=512 KiB");
	s = run(LAB_MANAGED, NULL, 0, 1);	/* 32 pages */
	CHECKF(s.uvm_batches == 6 && s.uvm_faults == 32 && s.uvm_pages == 32, "%lu batches", (unsigned long)s.uvm_batches);
	CHECK(s.uvm_busy_cycles == 6 * BATCH + 32 * PAGE && s.uvm_held == 32);
	set("uvm.batch=32");
	s = run(LAB_MANAGED, NULL, 0, 1);
	without = run(LAB_DEVICE, NULL, 0, 1);
	CHECK(s.uvm_batches == 1 && s.uvm_busy_cycles == BATCH + 32 * PAGE);
	CHECKF(s.cycles > without.cycles + BATCH + 31 * PAGE, "%lu", (unsigned long)s.cycles);
}

struct beside {
	struct lab_array managed, device;
	uint64_t faulted, passed;	/* when warp 0 has its page, and warp 1 its lines */
};

/* Warp 0 waits for a page. Warp 1 then loads three lines of device memory of the same set of the L1. */
LAB_PROGRAM static void load_beside(struct lab_warp *w, const void *p)
{
	struct beside *b = (struct beside *)(uintptr_t)p;
	unsigned i;

	if (!w->in_block)
		lab_load32(w, 0, &b->managed, lab_lane());
	lab_barrier(w);
	for (i = 0; i < 3 && w->in_block; i++) {
		lab_load32(w, 0, &b->device, lab_lane() + lab_all(i * 4 * 32));
		lab_wait(w);
	}
	lab_wait(w);
	*(w->in_block ? &b->passed : &b->faulted) = lab_now(w->lab);
}
ONE_KERNEL(load_beside);

/* The line that waits for the page is the oldest of its set's two. */
TEST(pending_fault_stops_the_l1_only_if_the_oldest_line_is_its_victim)
{
	static const char *const victim[] = { "l1.victim=oldest", "l1.victim=filled" };
	unsigned i;

	for (i = 0; i < 2; i++) {
		struct beside b = { 0 };
		struct lab *lab;

		machine_for_tests();
		set("l1.ways=2");
		set("l1.size=1 KiB");		/* four sets */
		set(victim[i]);
		CHECK(!lab_create(&machine, &lab, &err));
		CHECK(!lab_alloc(lab, "managed", 4096, LAB_MANAGED, &b.managed, &err) &&
		      !lab_alloc(lab, "device", 4096, LAB_DEVICE, &b.device, &err));
		CHECKF(!launch(lab, &load_beside_kernel, &b, 1, 64), "%s", err.text);
		CHECK(b.faulted > BATCH + PAGE);
		CHECKF((b.passed < b.faulted) == (i == 1), "%s: lines after %lu cycles, the page after %lu", victim[i],
		       (unsigned long)b.passed, (unsigned long)b.faulted);
		lab_destroy(lab);
	}
}

/* More blocks than fit in one batch: two at a time, and none evicts another of its batch. */
TEST(batch_is_limited_by_device_memory)
{
	struct lab_stats s;

	machine_for_tests();
	s = run(LAB_MANAGED, NULL, 0, 2);	/* 32 pages, two per block: 16 blocks */
	CHECKF(s.uvm_batches == 8 && s.uvm_pages == 32 && s.uvm_evictions == 14, "%lu batches, %lu evictions",
	       (unsigned long)s.uvm_batches, (unsigned long)s.uvm_evictions);
}

/* Blocks 0 and 1, 0 again, 2, 0: the driver does not see hits: 2 evicts 0, and 0 evicts 1. */
TEST(victim_has_the_oldest_new_page)
{
	static const uint32_t steps[] = { 0, 4, 0, 8, 0, 8, 4 }, fresh[] = { 0, 4, 1, 8, 0 };
	struct lab_stats s;

	machine_for_tests();
	s = run(LAB_MANAGED, steps, 5, 0);
	CHECKF(s.uvm_pages == 4 && s.uvm_evictions == 2 && !s.uvm_bytes_out, "%lu pages", (unsigned long)s.uvm_pages);
	s = run(LAB_MANAGED, steps, 7, 0);	/* 8 is still resident, 4 is not */
	CHECK(s.uvm_pages == 5 && s.uvm_evictions == 3);
	/* a new page of block 0 makes it the newest: 2 evicts 1 */
	s = run(LAB_MANAGED, fresh, 5, 0);
	CHECKF(s.uvm_pages == 4 && s.uvm_evictions == 1, "%lu pages", (unsigned long)s.uvm_pages);
}

/* At 51 percent: 0 alone; 1 completes the pair, half of the four; 2 makes it three of four. */
TEST(dense_region_is_prefetched)
{
	static const uint32_t steps[] = { 0, 1, 2, 3 };
	struct lab_stats s;

	machine_for_tests();
	set("uvm.prefetch=51");
	s = run(LAB_MANAGED, steps, 3, 0);
	CHECKF(s.uvm_faults == 3 && s.uvm_pages == 4, "%lu faults, %lu pages", (unsigned long)s.uvm_faults, (unsigned long)s.uvm_pages);
	CHECK(s.uvm_busy_cycles == 3 * BATCH + 4 * PAGE);
	s = run(LAB_MANAGED, steps, 4, 0);
	CHECK(s.uvm_faults == 3);
	set("uvm.prefetch=49");		/* a pair is half full with one */
	s = run(LAB_MANAGED, steps, 4, 0);
	CHECKF(s.uvm_faults == 2 && s.uvm_pages == 4, "%lu faults", (unsigned long)s.uvm_faults);
}

TEST(dirty_or_uncopied_pages_are_written_back)
{
	/* block 0 is evicted with two pages; the store shares a batch with the next fault */
	static const uint32_t steps[] = { 0, 1 | WRITE, 4, 8 };
	struct lab_stats s;

	machine_for_tests();
	s = run(LAB_MANAGED, steps, 4, 0);
	CHECKF(s.uvm_evictions == 1 && s.uvm_bytes_out == 4096, "%lu bytes", (unsigned long)s.uvm_bytes_out);
	CHECK(s.uvm_busy_cycles == 3 * BATCH + 5 * PAGE);
	set("uvm.advice=none");
	s = run(LAB_MANAGED, steps, 4, 0);
	CHECK(s.uvm_bytes_out == 2 * 4096 && s.uvm_busy_cycles == 3 * BATCH + 6 * PAGE);
}

TEST(inconsistent_uvm_keys_are_rejected)
{
	machine_for_tests();
	CHECK(lab_machine_set(&machine, "uvm.block=48 KiB", &err) && strstr(err.text, "powers of two"));
	CHECK(lab_machine_set(&machine, "uvm.memory=8 KiB", &err) && strstr(err.text, "less than a block"));
	machine = machine_of("gtx980", NULL);
	CHECK(lab_machine_set(&machine, "uvm.batch=1", &err) && strstr(err.text, "has no unified memory, so"));
}

TEST_MAIN
