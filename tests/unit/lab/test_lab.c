// SPDX-License-Identifier: MIT
/* The laboratory as a whole: oracles, conservation, the warp language, machine files, units. */
#include <sys/stat.h>

#include "firmware-model/lab/engine/context.h"
#include "firmware-model/lab/kernels/kernels.h"
#include "firmware-model/lab/oracle/oracle.h"
#include "lab_test.h"

#ifdef LAB_ASAN
#include <sanitizer/asan_interface.h>
#endif

TEST(the_sanitizer_keeps_no_second_stack_for_warps)
{
#ifdef LAB_ASAN
	CHECK(!__asan_get_current_fake_stack());
#else
	SKIP("the build has no AddressSanitizer");
#endif
}

/* ---- Oracles ----------------------------------------------------------------------------------- */

struct tally {
	unsigned exact, equal, inputs_wrong, outside;
	char first[256];
};

static void count_row(void *user, const struct lab_oracle_row *r)
{
	struct tally *t = user;

	t->outside += r->verdict == LAB_OUTSIDE;
	t->inputs_wrong += !strcmp(r->class_name, "input") && r->verdict != LAB_EQUAL;
	if (strcmp(r->class_name, "exact"))
		return;
	t->exact++;
	t->equal += r->verdict == LAB_EQUAL;
	if (r->verdict != LAB_EQUAL && !*t->first)
		snprintf(t->first, sizeof(t->first), "%s %s %s %s is %.0f, ours %llu", r->graph, r->kernel, r->config,
			 r->counter, r->value, (unsigned long long)r->ours);
}

static void oracles(const char *only, unsigned least)
{
	const char *shared = getenv("GTU_SHARED");
	struct tally t = { 0 };
	char dir[512];
	struct stat st;
	int rc;

	snprintf(dir, sizeof(dir), "%s/oracles", shared ? shared : "../shared");
	if (stat(dir, &st))
		SKIP("no oracle counts at %s (GTU_SHARED names their folder)", dir);
	rc = lab_oracle_check(dir, only, count_row, &t, NULL, &err);
	CHECKF(!rc, "%s", err.text);
	CHECKF(t.equal == t.exact, "%u of %u exact rows are equal; the first that is not: %s", t.equal, t.exact, t.first);
	CHECKF(t.exact >= least, "only %u exact rows, of at least %u", t.exact, least);
	CHECK_EQ(t.inputs_wrong, 0);
	CHECK_EQ(t.outside, 0);
}

TEST(exact_oracle_rows_match)
{
	oracles(NULL, 4679);
}

TEST(malformed_oracle_folder_is_rejected)
{
	char path[400];
	FILE *f;

	CHECK_EQ(lab_oracle_check("/nowhere", NULL, count_row, NULL, NULL, &err), GTU_ERR_INPUT);
	snprintf(path, sizeof(path), "%s/counts.csv", test_tmpdir());
	f = fopen(path, "w");
	CHECK(f);
	fputs("graph,kernel\n", f);
	fclose(f);
	CHECK_EQ(lab_oracle_check(test_tmpdir(), NULL, count_row, NULL, NULL, &err), GTU_ERR_INPUT);
	CHECK(strstr(err.text, "the head is not"));
	f = fopen(path, "w");
	fputs("graph,kernel,config,statement_or_counter,value,class\na,b,c\n", f);
	fclose(f);
	CHECK_EQ(lab_oracle_check(test_tmpdir(), NULL, count_row, NULL, NULL, &err), GTU_ERR_INPUT);
	CHECK(strstr(err.text, ":2: a line has 6 fields"));
}

/* ---- Conservation ---------------------------------------------------------------------------- */

/* A small graph: 600 vertices, vertex v with v % 7 edges. */
static void graph_of(struct lab *lab, struct lab_csr_args *a)
{
	uint32_t v, k, at = 0, *row, *col;
	uint64_t seed = 5;

	memset(a, 0, sizeof(*a));
	a->n = 600;
	for (v = 0; v < a->n; v++)
		a->m += v % 7;
	a->row = array_of(lab, "row", a->n + 1);
	a->col = array_of(lab, "col", a->m);
	a->rank = array_of(lab, "rank", a->n);
	a->deg = array_of(lab, "deg", a->n);
	a->next = array_of(lab, "next", a->n);
	row = a->row.data;
	col = a->col.data;
	for (v = 0; v < a->n; v++) {
		row[v] = at;
		((uint32_t *)a->deg.data)[v] = v % 7 ? v % 7 : 1;
		((float *)a->rank.data)[v] = 1;
		for (k = 0; k < v % 7; k++)
			col[at++] = (uint32_t)(test_random(&seed) % a->n);
	}
	row[a->n] = at;
}

/* Instructions and results of a race-free kernel are independent of the memory system. */
TEST(instructions_and_results_are_the_same_on_every_machine)
{
	static const char *const sets[] = {
		NULL, "l1.mshrs=2", "l1.merges=1", "sm.policy=rr", "sm.warps=8", "l2.ways=4", "noc.latency=400 cycles", "l1.latency=1 cycles",
		"noc.outstanding=32", "dram.bandwidth=2 GB/s", "sm.schedulers=1", "coalesce.store=32 B", "sm.atomics=free",
	};
	uint64_t instructions = 0, threads = 0, lanes = 0;
	float next[600];
	unsigned i, k;

	for (k = 0; k < 2; k++) {
		for (i = 0; i < sizeof(sets) / sizeof(*sets); i++) {
			struct lab *lab = lab_of(k ? "oracle-titanx" : "oracle-gtx980", sets[i]);
			const struct lab_stats *s = lab_stats(lab);
			struct lab_csr_args a;

			graph_of(lab, &a);
			CHECKF(!launch(lab, &lab_pr_pull_vm, &a, 3, 256), "%s", err.text);
			if (!instructions) {
				instructions = s->warp_instructions;
				threads = s->thread_instructions;
				lanes = s->lanes[LAB_LOAD];
				memcpy(next, a.next.data, sizeof(next));
			}
			CHECK_EQ(s->warp_instructions, instructions);
			CHECK_EQ(s->thread_instructions, threads);
			CHECK_EQ(s->lanes[LAB_LOAD], lanes);
			CHECK_EQ(s->lanes[LAB_STORE], 600);
			CHECK(!memcmp(next, a.next.data, sizeof(next)));
			CHECKF(!lab_check(lab, &err), "%s", err.text);
			lab_destroy(lab);
		}
	}
	CHECK(instructions > 1000);
}

TEST(runs_are_deterministic)
{
	struct lab_stats first = { 0 };
	unsigned i;

	for (i = 0; i < 2; i++) {
		struct lab *lab = lab_of("gtx980", NULL);
		struct lab_csr_args a;

		graph_of(lab, &a);
		CHECKF(!launch(lab, &lab_pr_push_vm, &a, 3, 256), "%s", err.text);
		CHECK(!i || !memcmp(&first, lab_stats(lab), sizeof(first)));
		first = *lab_stats(lab);
		lab_destroy(lab);
	}
}

/* ---- The warp language ------------------------------------------------------------------------- */

struct out_args {
	struct lab_array out;
	int unit;
};

/* Lane i iterates i times; odd lanes break after 3, multiples of 5 continue in 2, lane 30 returns. */
static void control(struct lab_warp *w, const void *p)
{
	const struct out_args *a = p;
	lab_u32 i = { 0 }, sum = { 0 }, lane = lab_lane(), inner;

	LAB_WHILE(w, lab_lt(i, lane)) {
		i += 1;
		LAB_IF(w, lab_eq(lane & 1, lab_all(1)) & lab_ge(i, lab_all(4)))
			lab_break(w);
		LAB_IF(w, lab_eq(lane, lab_all(30)) & lab_eq(i, lab_all(7)))
			lab_return(w);
		LAB_IF(w, lab_eq(lane % 5, lab_all(0)) & lab_eq(i, lab_all(2)))
			lab_continue(w);
		inner = lab_all(0);
		LAB_WHILE(w, lab_lt(inner, lab_all(2))) {
			inner += 1;
			LAB_IF(w, lab_eq(lane, lab_all(8)))
				lab_break(w);
			sum = lab_select(w->mask, sum + 1, sum);
		}
	}
	lab_store32(w, 0, &a->out, lane, sum + 1000);
}
ONE_KERNEL(control);

TEST(break_continue_and_return_act_per_lane)
{
	struct lab *lab = lab_of("tx1", NULL);
	struct out_args a = { .out = array_of(lab, "out", 32) };
	uint32_t lane, i, sum;

	CHECKF(!launch(lab, &control_kernel, &a, 1, 32), "%s", err.text);
	for (lane = 0; lane < 32; lane++) {
		for (sum = 0, i = 1; i <= lane && lane != 8; i++) {
			if (lane & 1 && i >= 4)
				break;
			if (!(lane % 5) && i == 2)
				continue;
			sum += 2;
		}
		CHECKF(((uint32_t *)a.out.data)[lane] == (lane == 30 ? 0 : sum + 1000), "lane %u has %u, expected %u", lane,
		       ((uint32_t *)a.out.data)[lane], lane == 30 ? 0 : sum + 1000);
	}
	CHECK_EQ(lab_stats(lab)->lanes[LAB_STORE], 31);
	lab_destroy(lab);
}

/* A compiler places 16-byte vectors in a frame without aligning it: the caller's stack is aligned. */
static void frame(struct lab_warp *w, const void *p)
{
	*(uintptr_t *)(uintptr_t)p = (uintptr_t)__builtin_frame_address(0) & 15;
	lab_wait(w);
}
ONE_KERNEL(frame);

TEST(programs_start_on_an_aligned_stack)
{
	struct lab *lab = lab_of("tx1", NULL);
	uintptr_t beyond = ~(uintptr_t)0;

	CHECKF(!launch(lab, &frame_kernel, &beyond, 1, 32), "%s", err.text);
	CHECK_EQ(beyond, 0);
	lab_destroy(lab);
}

TEST(lane_operations_match_scalar_code)
{
	uint64_t seed = 11, round;

	for (round = 0; round < 1000; round++) {
		lab_u32 a, b, r, sel;
		lab_mask m = (lab_mask)test_random(&seed), eq, lt, ge;
		unsigned i, below = 0;

		for (i = 0; i < 32; i++) {
			a[i] = (uint32_t)test_random(&seed) >> (test_random(&seed) % 32);
			b[i] = test_random(&seed) & 1 ? a[i] : (uint32_t)test_random(&seed);
		}
		eq = lab_eq(a, b);
		lt = lab_lt(a, b);
		ge = lab_ge(a, b);
		r = lab_rank(m);
		sel = lab_select(m, a, b);
		CHECK_EQ(lab_ne(a, b), (lab_mask)~eq);
		for (i = 0; i < 32; i++) {
			CHECK_EQ(eq >> i & 1, a[i] == b[i]);
			CHECK_EQ(lt >> i & 1, a[i] < b[i]);
			CHECK_EQ(ge >> i & 1, a[i] >= b[i]);
			CHECK_EQ(r[i], below);
			CHECK_EQ(sel[i], m >> i & 1 ? a[i] : b[i]);
			CHECK(lab_to_f32(a >> 1)[i] == (float)(a[i] >> 1));
			below += m >> i & 1;
		}
	}
}

/* A block's sum by halves in shared memory: wrong without barriers. */
static void reduce(struct lab_warp *w, const void *p)
{
	const struct out_args *a = p;
	lab_u32 t = lab_lane() + w->in_block * 32;
	uint32_t half;

	lab_shared_store(w, t, lab_thread(w));
	lab_barrier(w);
	for (half = w->block_warps * 16; half; half /= 2) {
		LAB_IF(w, lab_lt(t, lab_all(half))) {
			lab_u32 sum = lab_shared_load(w, t) + lab_shared_load(w, t + half);

			lab_shared_store(w, t, sum);
		}
		lab_barrier(w);
	}
	LAB_IF(w, lab_eq(t, lab_all(0)))
		lab_store32(w, 0, &a->out, lab_all((uint32_t)w->block), lab_shared_load(w, t));
}
static const struct lab_kernel reduce_kernel = { .name = "reduce", .warp = reduce, .statement = one_statement,
						 .statements = 1, .shared = 1024 };

TEST(blocks_use_shared_memory_and_barriers)
{
	struct lab *lab = lab_of("gtx980", NULL);
	struct out_args a = { .out = array_of(lab, "out", 500) };
	uint64_t b, i, sum;

	CHECKF(!launch(lab, &reduce_kernel, &a, 500, 256), "%s", err.text);
	for (b = 0; b < 500; b++) {
		for (sum = 0, i = 0; i < 256; i++)
			sum += b * 256 + i;
		CHECK_EQ(((uint32_t *)a.out.data)[b], (uint32_t)sum);
	}
	CHECK_EQ(lab_stats(lab)->blocks, 500);
	CHECK_EQ(lab_stats(lab)->barriers, 500 * 8 * 9);
	lab_destroy(lab);
}

static void out_of_bounds(struct lab_warp *w, const void *p)
{
	const struct out_args *a = p;

	lab_load32(w, 0, &a->out, lab_thread(w));
}
ONE_KERNEL(out_of_bounds);

static void waits_for_silent_unit(struct lab_warp *w, const void *p)
{
	(void)p;
	if (!w->in_block)
		lab_unit_request(w, 0, 0, 7, NULL, 0); /* the unit never replies */
	lab_barrier(w);
}
ONE_KERNEL(waits_for_silent_unit);
static void silent_unit(void *ctx, uint32_t warp, unsigned at, uint64_t value, uint64_t cycle)
{
	(void)ctx, (void)warp, (void)at, (void)value, (void)cycle;
}

static void note_sm(struct lab_warp *w, const void *p)
{
	const struct lab_array *a = p;

	lab_store32(w, 0, a, lab_all((uint32_t)w->block), lab_all(w->sm));
}
ONE_KERNEL(note_sm);

/* sm.first: a launch's first block is on SM 0, or as in GPGPU-Sim after the SM that got the last one. */
TEST(sm_first_selects_the_first_sm_of_a_launch)
{
	static const struct { const char *set; uint32_t first[3]; } of[] = { { NULL, { 0, 0, 0 } }, { "sm.first=next", { 0, 3, 2 } } };
	static const uint64_t grid[] = { 3, 15, 1 };
	unsigned i, k, b;

	for (i = 0; i < LENGTH(of); i++) {
		struct lab *lab = lab_of("oracle-gtx980", of[i].set);
		struct lab_array a = array_of(lab, "sms", 16);

		CHECK_EQ(lab_machine_of(lab)->sms, 16);
		for (k = 0; k < LENGTH(grid); k++) {
			CHECKF(!launch(lab, &note_sm_kernel, &a, grid[k], 32), "%s", err.text);
			for (b = 0; b < grid[k]; b++)
				CHECK_EQ(((const uint32_t *)a.data)[b], (of[i].first[k] + b) % 16);
		}
		lab_destroy(lab);
	}
}

TEST(invalid_programs_are_reported)
{
	struct lab *lab = lab_of("tx1", NULL);
	struct out_args a = { .out = array_of(lab, "out", 40) };
	struct lab_unit unit = { .name = "deaf", .attach_point = LAB_IN_SM, .ask = silent_unit };

	CHECK_EQ(launch(lab, &out_of_bounds_kernel, &a, 1, 64), GTU_ERR_FAIL);
	CHECKF(strstr(err.text, "access in lane 8 of warp 1, block 0 is element 40 of array out, which has 40"), "%s", err.text);
	CHECK_EQ(launch(lab, &out_of_bounds_kernel, &a, 1, 32), GTU_ERR_USAGE);
	CHECK(strstr(err.text, "stopped inside a kernel"));
	lab_destroy(lab);
	lab = lab_of("tx1", NULL);
	a.out = array_of(lab, "out", 40);
	CHECK_EQ(launch(lab, &out_of_bounds_kernel, &a, 1, 48), GTU_ERR_USAGE);
	CHECK_EQ(launch(lab, &out_of_bounds_kernel, &a, 1, 512), GTU_ERR_USAGE);
	CHECKF(!launch(lab, &out_of_bounds_kernel, &a, 0, 32), "%s", err.text);
	CHECK(!lab_attach(lab, &unit, NULL, &a.unit, &err));
	CHECK_EQ(launch(lab, &waits_for_silent_unit_kernel, &a, 1, 64), GTU_ERR_FAIL);
	CHECKF(strstr(err.text, "1 blocks are deadlocked at a barrier or waiting for a unit"), "%s", err.text);
	CHECK(lab_alloc(lab, "h", 4, LAB_HOST, &a.out, &err) == GTU_ERR_USAGE); /* no link */
	lab_destroy(lab);
}

/* ---- Units ------------------------------------------------------------------------------------- */

/* Reads the sector that a warp names and replies with its first word doubled, after 100 cycles. */
struct doubler {
	struct lab *lab;
	int unit;
	const uint32_t *data;
	uint32_t warp[64];
	uint64_t value[64], due[64];
	unsigned n, answered;
};

static void doubler_ask(void *ctx, uint32_t warp, unsigned at, uint64_t value, uint64_t cycle)
{
	struct doubler *d = ctx;

	d->warp[d->n] = warp;
	d->value[d->n] = value;
	(void)cycle;
	lab_unit_memory(d->lab, d->unit, at, LAB_LOAD, LAB_BASE + value / 32 * 128, 1u << (value / 8 % 4), d->n++);
}
static void doubler_reply(void *ctx, uint64_t tag, uint64_t cycle)
{
	struct doubler *d = ctx;

	d->due[tag] = cycle + 100;
	lab_unit_wake(d->lab, d->unit, cycle + 100);
}
static void doubler_clock(void *ctx, uint64_t cycle)
{
	struct doubler *d = ctx;
	uint64_t next = UINT64_MAX;
	unsigned i;

	for (i = 0; i < d->n; i++) {
		uint32_t answer = 2 * d->data[d->value[i]];

		if (d->due[i] == cycle) {
			lab_unit_reply(d->lab, d->unit, d->warp[i], &answer, sizeof(answer), cycle);
			d->answered++;
			d->due[i] = 0;
		} else if (d->due[i] && d->due[i] < next) {
			next = d->due[i];
		}
	}
	if (next != UINT64_MAX)
		lab_unit_wake(d->lab, d->unit, next);
}

static void ask_double(struct lab_warp *w, const void *p)
{
	const struct out_args *a = p;
	uint32_t answer = 0;

	lab_unit_request(w, a->unit, 0, (w->block * 2 + w->in_block) * 13, &answer, sizeof(answer));
	lab_store32(w, 0, &a->out, lab_thread(w), lab_all(answer));
}
ONE_KERNEL(ask_double);

TEST(unit_replies_after_reading_memory)
{
	enum lab_attach_point points[] = { LAB_IN_SM, LAB_ON_CROSSBAR, LAB_IN_PARTITION };
	unsigned k, i;

	for (k = 0; k < 3; k++) {
		struct lab *lab = lab_of("tx1", NULL);
		struct doubler d = { .lab = lab };
		struct lab_unit unit = { "doubler", points[k], doubler_ask, doubler_reply, doubler_clock, false };
		struct lab_array in = array_of(lab, "in", 1024);
		struct out_args a = { .out = array_of(lab, "out", 16 * 64) };

		for (i = 0; i < 1024; i++)
			((uint32_t *)in.data)[i] = i * i;
		d.data = in.data;
		CHECK(!lab_attach(lab, &unit, &d, &d.unit, &err));
		a.unit = d.unit;
		CHECKF(!launch(lab, &ask_double_kernel, &a, 16, 64), "%s", err.text);
		CHECK_EQ(d.answered, 32);
		CHECK_EQ(lab_stats(lab)->unit_requests, 32);
		CHECK_EQ(lab_stats(lab)->unit_replies, 32);
		CHECK_EQ(lab_stats(lab)->unit_sectors, 32);
		/* a unit in the partition does not cross to its memory */
		CHECK_EQ(lab_stats(lab)->request[LAB_LOAD][0], points[k] == LAB_IN_PARTITION ? 0 : 32);
		for (i = 0; i < 16 * 64; i++)
			CHECK_EQ(((uint32_t *)a.out.data)[i], 2 * (i / 32 * 13) * (i / 32 * 13));
		lab_destroy(lab);
	}
}

/* ---- Machine files ----------------------------------------------------------------------------- */

static char text[8192];

/* Replace @from by @to in a built-in machine description. Returns the parser's message. */
static const char *parser_message(const char *from, const char *to)
{
	struct lab_machine m;
	FILE *f = fopen("firmware-model/machines/oracle-gtx980.machine", "rb");
	static char changed[8400];
	size_t n;
	char *at;

	if (!f)
		SKIP("firmware-model/machines is not in the current folder");
	n = fread(text, 1, sizeof(text) - 1, f);
	text[n] = 0;
	fclose(f);
	at = strstr(text, from);
	CHECK(at);
	snprintf(changed, sizeof(changed), "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
	err.text[0] = 0;
	CHECK_EQ(lab_machine_parse(changed, strlen(changed), "m", &m, &err), GTU_ERR_INPUT);
	return err.text;
}
#define REJECTS(from, to, what) CHECKF(strstr(parser_message(from, to), what), "%s", err.text)

TEST(invalid_machine_files_are_rejected)
{
	REJECTS("sm.count = 16			# source: README, the two machines\n", "", "the key 'sm.count' is missing");
	REJECTS("sm.count = 16	", "sm.count = 16\nsm.count = 16	", "has no '# source:");
	REJECTS("sm.count = 16	", "sm.count = 0	", "'sm.count' must be between 1 and 256, not 0");
	REJECTS("sm.count = 16	", "sm.count = 16 cycles	", "'sm.count' has no unit");
	REJECTS("sm.count = 16	", "sm.count = many	", "needs a number, not 'many'");
	REJECTS("sm.count = 16	", "sm.count = 1.5	", "whole number");
	REJECTS("sm.count = 16	", "sm.counts = 16	", "unknown key 'sm.counts'");
	REJECTS("sm.policy = gto", "sm.policy = fifo", "'sm.policy' is gto or rr or barrel, not 'fifo'");
	REJECTS("l1.size = 32 KiB", "l1.size = 32 ns", "'l1.size' is given in B, not in 'ns'");
	REJECTS("l1.size = 32 KiB", "l1.size = 24 KiB", "not a power of two of sets");
	REJECTS("l2.slices = 16", "l2.slices = 15", "not a multiple of dram.channels 8");
	REJECTS("machine = oracle-gtx980\n", "machine = oracle-gtx980\nnonsense\n", "'nonsense' is not 'key = value'");
	REJECTS("machine = oracle-gtx980\n", "machine = a\nlink.header = 18 B # source: x\n",
	     "'link.header' is given, but 'link.cache' is missing");
	REJECTS("machine = oracle-gtx980\n", "machine = a\nmachine = b\n", "'machine' was given in line");
}

TEST(built_in_machines_are_valid)
{
	struct lab_machine m;
	unsigned i;

	for (i = 0; lab_machine_builtin(i); i++) {
		CHECKF(!lab_machine_open(lab_machine_builtin(i), &m, &err), "%s", err.text);
		CHECK(!strcmp(m.name, lab_machine_builtin(i)));
		lab_destroy(lab_of(m.name, NULL));
	}
	CHECK(i >= 4);
	CHECK_EQ(lab_machine_open("gtx981", &m, &err), GTU_ERR_USAGE);
	CHECK_EQ(lab_machine_open("./none", &m, &err), GTU_ERR_FAIL);
	CHECK_EQ(lab_machine_set(&m, "sm.count", &err), GTU_ERR_USAGE);
	CHECK_EQ(lab_machine_set(&m, "link.header=1 B", &err), GTU_ERR_USAGE);
}

TEST_MAIN
