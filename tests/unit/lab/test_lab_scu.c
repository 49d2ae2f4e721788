// SPDX-License-Identifier: MIT
/* The SCU: its pipeline against hand calculations, and the device model's results and cycles. */
#include "firmware-model/lab/engine/energy.h"
#include "firmware-model/lab/kernels/scu_graph.h"
#include "lab_test.h"
#include "tests/unit/scu_reference.h"

/* ---- The pipeline over a memory of constant latency ------------------------------------------ */

#define LATENCY	50u
#define REPLIES	(1u << 16)

/* Beats of one slot group each: @width sequential elements, then what they select. */
struct script {
	struct scu_pipe *pipe;
	uint32_t beats, at, width, elements;
	const uint64_t *data;		/* line of each element; NULL: no second stage */
	uint64_t now;
	struct scu_run *run;		/* not NULL: the beats are the core's */
	struct { uint64_t when; uint32_t tag; } reply[REPLIES];
	uint32_t first, last;		/* replies in flight, in order */
};

static bool next_beat(void *ctx, struct scu_pipe *p, uint32_t *cycles)
{
	struct script *s = ctx;
	uint32_t i, n;

	if (s->run)
		return scu_core_beat(s->run, cycles);
	if (s->at == s->beats)
		return false;
	n = s->elements - s->at * s->width < s->width ? s->elements - s->at * s->width : s->width;
	scu_pipe_access(p, SCU_VECTOR, GTU_SCU_INDEX, 4096 + 4ull * s->at * s->width, 4 * n, 4096 + 4ull * s->elements);
	for (i = 0; s->data && i < n; i++)
		scu_pipe_access(p, SCU_DATA, GTU_SCU_DATA, (1 << 20) + 128 * s->data[s->at * s->width + i], 4, 1 << 29);
	scu_pipe_access(p, SCU_WRITE, GTU_SCU_OUT, (1 << 30) + 4ull * s->at * s->width, 4 * n, 0);
	s->at++;
	*cycles = 1;
	return true;
}

static void ideal(void *ctx, uint32_t tag, uint64_t addr, unsigned sectors, bool write)
{
	struct script *s = ctx;

	(void)addr;
	CHECK(sectors && sectors < 16);
	if (write) {
		scu_pipe_reply(s->pipe, tag);
		return;
	}
	s->reply[s->last].when = s->now + LATENCY;
	s->reply[s->last++ % REPLIES].tag = tag;
	CHECK(s->last < REPLIES);
}

static struct script s;

/* Cycles of the script's beats. */
static uint64_t play_script(struct scu_pipe_shape shape, struct scu_pipe_counts *counts)
{
	uint64_t next = 0;

	CHECK(!scu_pipe_check(&shape));
	s.pipe = scu_pipe_create(&shape, &(struct scu_pipe_port){ &s, next_beat, ideal });
	if (s.run)
		s.run->port.pipe = s.pipe;
	scu_pipe_start(s.pipe, 0);
	while (!scu_pipe_ended(s.pipe)) {
		if (s.first < s.last && s.reply[s.first].when < next)
			next = s.reply[s.first].when;
		CHECKF(next != UINT64_MAX, "beat %u of %u: the pipeline is deadlocked", s.at, s.beats);
		s.now = next;
		while (s.first < s.last && s.reply[s.first].when == s.now)
			scu_pipe_reply(s.pipe, s.reply[s.first++].tag);
		next = scu_pipe_run(s.pipe, s.now);
	}
	*counts = *scu_pipe_counts(s.pipe);
	CHECK_EQ(counts->cycles, s.now);
	scu_pipe_free(s.pipe);
	return s.now;
}

/* Cycles for @elements elements; @data as above. */
static uint64_t play(struct scu_pipe_shape shape, uint32_t elements, const uint64_t *data, struct scu_pipe_counts *counts)
{
	s = (struct script){ .beats = (elements + shape.width - 1) / shape.width, .width = shape.width, .elements = elements,
			     .data = data };
	return play_script(shape, counts);
}

/* As the device charges: one fetch, then ceil(n / width) cycles. */
TEST(compaction_takes_one_fetch_plus_slots)
{
	struct scu_pipe_shape shape = lab_scu_published;
	struct scu_pipe_counts c;

	CHECK_EQ(play(shape, 4096, NULL, &c), LATENCY + 1024);
	CHECK_EQ(c.reads, 4096 / 32);		/* each line once */
	CHECK_EQ(c.writes, 4096 / 32);
	CHECK_EQ(play(shape, 4097, NULL, &c), LATENCY + 1025);
	CHECK_EQ(play(shape, 1, NULL, &c), LATENCY + 1);
	shape.width = 1;
	CHECK_EQ(play(shape, 1000, NULL, &c), LATENCY + 1000);
	/* a vector buffer of 32 elements: one line per latency */
	shape.vector_bytes = 128;
	CHECK(play(shape, 1024, NULL, &c) > 1024 / 32 * LATENCY);
}

/* A second fetch follows the first; at most 32 requests are in flight, one per element. */
TEST(requests_in_flight_limit_gathers)
{
	static uint64_t line[8192];
	struct scu_pipe_shape shape = lab_scu_published;
	struct scu_pipe_counts c;
	uint64_t cycles;
	unsigned i;

	shape.in_flight = 1024;
	for (i = 0; i < 8192; i++)
		line[i] = 7 * i;
	CHECK_EQ(play(shape, 4096, line, &c), 2 * LATENCY + 1024);
	CHECK_EQ(c.reads, 4096 + 4096 / 32);
	CHECK_EQ(c.full[0], 0);
	shape.in_flight = 32;
	cycles = play(shape, 4096, line, &c);
	CHECKF(cycles >= 4096 / 32 * LATENCY && cycles <= 4096 / 32 * LATENCY * 11 / 10, "%llu cycles",
	       (unsigned long long)cycles);
	CHECK(c.full[0]);
}

/* Accesses cycle through @lines lines: merged up to the window, beyond it not at all. */
TEST(merge_window_is_four_accesses)
{
	static uint64_t line[1024];
	struct scu_pipe_counts c;
	unsigned i, lines;

	for (lines = 1; lines < 8; lines++) {
		for (i = 0; i < 1024; i++)
			line[i] = i % lines;
		play(lab_scu_published, 1024, line, &c);
		CHECK_EQ(c.reads - 1024 / 32, lines <= 4 ? lines : 1024);
	}
}

/*
 * Accesses cycle through 8 lines, which the window does not merge. A request in flight answers that many of its line: a
 * request for every fourth, for every one, and for as many as come within the latency.
 */
TEST(requests_in_flight_merge_accesses)
{
	static const struct { uint32_t merge, requests; } row[] = {
		{ 0, 1024 }, { 1, 1024 }, { 4, 1024 / 4 }, { 4096, 8 * ((256 + LATENCY - 1) / LATENCY) },
	};
	static uint64_t line[1024];
	struct scu_pipe_shape shape = lab_scu_published;
	struct scu_pipe_counts c;
	unsigned i;

	shape.in_flight = 1024;
	for (i = 0; i < 1024; i++)
		line[i] = i % 8;
	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		shape.in_flight_merge = row[i].merge;
		CHECK_EQ(play(shape, 1024, line, &c), 2 * LATENCY + 256);
		CHECK_EQ(c.reads - 1024 / 32, row[i].requests);
	}
	shape.in_flight_merge = 4097;
	CHECK(scu_pipe_check(&shape));
}

/* ---- One timing ---------------------------------------------------------------------------------- */

static struct scu_run run;
static struct scu_state state;

static uint8_t *no_span(void *ctx, unsigned slot, uint64_t byte, uint64_t want, uint64_t *got)
{
	(void)ctx, (void)want, (void)got;
	CHECKF(false, "operand %u, byte %llu is outside", slot, (unsigned long long)byte);
	return NULL;
}

static void no_error(void *ctx, unsigned status, unsigned slot, uint64_t element, uint64_t value)
{
	(void)ctx, (void)element, (void)value;
	CHECKF(false, "status %u at operand %u", status, slot);
}

/* An operand of @count elements at an address of its own, zeros. */
static void *give(unsigned slot, uint64_t count)
{
	const uint64_t bytes = scu_operand_bytes(&run.p, slot, count);

	free(run.mem[slot].base);
	run.mem[slot] = (struct scu_mem){ .base = calloc(1, bytes), .addr = (uint64_t)(slot + 1) << 32, .bytes = bytes,
					  .count = count, .given = true };
	return run.mem[slot].base;
}

/* The cycles that a fixed latency is charged are those of a pipeline with enough buffers over that latency. */
static void same_cycles(unsigned width)
{
	struct scu_pipe_shape shape = { .width = width, .merge = 4, .in_flight = 4096, .vector_bytes = 1 << 20,
					.fifo_bytes = 64 << 10, .hash_bytes = 32 << 10, .entry_bytes = 16 };
	struct scu_pipe_counts counts;
	uint64_t cycles;
	unsigned i;

	run.s = &state;
	run.lanes = width;
	run.merge = 4;
	run.limit = UINT64_MAX;
	run.port = (struct scu_port){ .span = no_span, .fail = no_error, .latency = LATENCY };
	state = (struct scu_state){ 0 };
	CHECK(scu_core_start(&run));
	do
		CHECK(scu_core_begin(&run));
	while (scu_core_run(&run, 100));
	cycles = state.cycles;

	run.port.latency = 0;
	for (i = 0; i < GTU_SCU_OPERANDS; i++)
		run.mem[i].monitored = run.mem[i].given;
	state = (struct scu_state){ 0 };
	s = (struct script){ .run = &run };
	CHECK_EQ(play_script(shape, &counts), cycles);
	CHECK_EQ(counts.full[0] + counts.full[1], 0);
	for (i = 0; i < GTU_SCU_OPERANDS; i++)
		run.mem[i].monitored = false;
}

TEST(fixed_latency_and_pipeline_take_the_same_cycles)
{
	const uint32_t widths = 2 << GTU_SCU_WIDTH_SHIFT, runs = 2 << GTU_SCU_INDEX_SHIFT | 2 << GTU_SCU_COUNT_SHIFT;
	uint32_t *data, *index, *counts, *cost, i;
	uint64_t seed = 5;
	unsigned width;

	for (width = 1; width <= 4; width *= 4) {
		run.p = scu_params_of(GTU_OP_SCU_EXPAND, widths | runs);
		data = give(GTU_SCU_DATA, 4000);
		index = give(GTU_SCU_INDEX, 600);
		counts = give(GTU_SCU_COUNT, 600);
		give(GTU_SCU_OUT, 6000);
		for (i = 0; i < 4000; i++)
			data[i] = (uint32_t)(test_random(&seed) % 1000);
		for (i = 0; i < 600; i++) {
			index[i] = (uint32_t)(test_random(&seed) % 3900);
			counts[i] = (uint32_t)(test_random(&seed) % 9);
		}
		same_cycles(width);

		run.p = scu_params_of(GTU_OP_SCU_EXPAND, widths | runs | GTU_SCU_BEST | 2 << GTU_SCU_COST_SHIFT |
							 GTU_STEP_PRODUCE << GTU_SCU_STEP_SHIFT);
		cost = give(GTU_SCU_COST_GATHERED, 4000);
		for (i = 0; i < 4000; i++)
			cost[i] = (uint32_t)(test_random(&seed) % 64);
		give(GTU_SCU_FILTER, 6000);
		give(GTU_SCU_FILTER_TABLE, 1024);
		same_cycles(width);
		run.mem[GTU_SCU_COST_GATHERED].given = run.mem[GTU_SCU_FILTER_TABLE].given = false;

		run.p = scu_params_of(GTU_OP_SCU_EXPAND, widths | runs | GTU_SCU_GROUP | 2 << GTU_SCU_TARGET_SHIFT |
							 GTU_STEP_PRODUCE << GTU_SCU_STEP_SHIFT);
		give(GTU_SCU_REORDER, 6000);
		give(GTU_SCU_GROUP_TABLE, 256);
		same_cycles(width);
		run.mem[GTU_SCU_FILTER].given = run.mem[GTU_SCU_REORDER].given = run.mem[GTU_SCU_GROUP_TABLE].given = false;

		run.p = scu_params_of(GTU_OP_SCU_DATA, widths);
		memset(give(GTU_SCU_MASK, 4000), 0x55, 500);
		run.mem[GTU_SCU_INDEX].given = run.mem[GTU_SCU_COUNT].given = false;
		same_cycles(width);
		run.mem[GTU_SCU_MASK].given = false;
	}
	for (i = 0; i < GTU_SCU_OPERANDS; i++)
		free(run.mem[i].base);
}

TEST(invalid_pipeline_shapes_are_rejected)
{
	struct scu_pipe_shape s = lab_scu_published;

	CHECK(!scu_pipe_check(&s));
	s.width = 33;
	CHECK(scu_pipe_check(&s));
	s = lab_scu_published;
	s.fifo_bytes = 16;
	CHECK(scu_pipe_check(&s));
	s = lab_scu_published;
	s.hash_bytes = 1 << 20;
	CHECK(scu_pipe_check(&s));
}

/* ---- On a machine ------------------------------------------------------------------------------- */

static struct lab *lab;
static struct lab_scu *scu;
static struct lab_array held[GTU_SCU_OPERANDS];
static struct lab_scu_op op;
static struct ref_job ref;
static struct ref_tables tables;

static void open_machine(const char *machine, const struct scu_pipe_shape *shape)
{
	lab = lab_of(machine, NULL);
	CHECKF(!lab_scu_attach(lab, shape, &(struct lab_unit_path){ 0 }, &scu, &err), "%s", err.text);
	memset(&op, 0, sizeof(op));
	memset(&ref, 0, sizeof(ref));
	ref.lanes = shape->width;
	ref.limit = UINT64_MAX;
}

static void close_machine(void)
{
	unsigned i;

	for (i = 0; i < GTU_SCU_OPERANDS; i++)
		free(ref.a[i].bytes);
	lab_destroy(lab);
	lab_scu_free(scu);
}

/* An operand of @count elements of 1 << log2 bytes (log2 > 3: bits), and the reference's copy. */
static uint32_t *operand(unsigned slot, unsigned log2, uint64_t count)
{
	uint64_t bytes = log2 > 3 ? (count + 7) / 8 : count << log2;

	CHECK(!lab_alloc(lab, "operand", bytes, LAB_DEVICE, &held[slot], &err));
	op.operand[slot] = (struct lab_scu_operand){ &held[slot], count };
	ref.a[slot] = (struct ref_array){ true, log2 > 3 ? 0 : log2, count, calloc(1, bytes + 8) };
	return held[slot].data;
}

static void twins(void)
{
	unsigned i;

	for (i = 0; i < GTU_SCU_OPERANDS; i++)
		if (ref.a[i].given)
			memcpy(ref.a[i].bytes, held[i].data, held[i].bytes);
}

/* Run both and compare their output and counters. */
static void both(unsigned opcode, unsigned step, uint32_t param)
{
	struct lab_scu_counts before = *lab_scu_counts(scu), after;
	uint64_t count;
	unsigned i;

	op.opcode = (uint8_t)opcode;
	op.param = param | step << GTU_SCU_STEP_SHIFT | 2 << GTU_SCU_WIDTH_SHIFT;
	ref.op = opcode;
	ref.step = step;
	ref.unique = param & GTU_SCU_UNIQUE;
	ref.best = param & GTU_SCU_BEST;
	ref.group = param & GTU_SCU_GROUP;
	ref.target = param >> GTU_SCU_TARGET_SHIFT & 7;
	ref.imm = op.imm;
	twins();
	ref_run(&ref, &tables);
	CHECK_EQ(ref.status, GTU_CPL_OK);
	CHECKF(!lab_scu_run(scu, &op, &count, &err), "%s", err.text);
	after = *lab_scu_counts(scu);
	CHECK_EQ(count, ref.count);
	CHECK_EQ(after.count[GTU_SCU_C_DROPPED] - before.count[GTU_SCU_C_DROPPED], step == GTU_STEP_APPLY ? 0 : ref.dropped);
	CHECK_EQ(after.count[GTU_SCU_C_PROBES] - before.count[GTU_SCU_C_PROBES], ref.probes);
	CHECK_EQ(after.count[GTU_SCU_C_GROUPS] - before.count[GTU_SCU_C_GROUPS], ref.groups);
	/* without a latency, the reference's cycles are the slots' */
	CHECK_EQ(after.slots - before.slots, ref.cycles);
	CHECK(after.cycles - before.cycles > ref.cycles);
	for (i = 0; i < GTU_SCU_OPERANDS; i++)
		if (ref.a[i].given && i != GTU_SCU_FILTER_TABLE && i != GTU_SCU_GROUP_TABLE)
			CHECKF(!memcmp(ref.a[i].bytes, held[i].data, held[i].bytes), "operand %u differs", i);
}

static void forget(unsigned slot)
{
	op.operand[slot].array = NULL;
	free(ref.a[slot].bytes);
	ref.a[slot] = (struct ref_array){ 0 };
}

#define EXPAND_PARAM	(2u << GTU_SCU_INDEX_SHIFT | 2u << GTU_SCU_COUNT_SHIFT)

/* The operations of BFS and SSSP on a frontier, against the element-by-element reference. */
static void frontier(const char *machine, const struct scu_pipe_shape *shape, uint32_t n, uint32_t edges)
{
	uint32_t *index, *count, *data, *weight, *base, i, total = 0;
	uint64_t seed = n + edges;
	const struct lab_scu_counts *c;

	open_machine(machine, shape);
	ref_tables_open(&tables, 64, 16);
	data = operand(GTU_SCU_DATA, 2, edges);
	for (i = 0; i < edges; i++)
		data[i] = (uint32_t)(test_random(&seed) % (edges / 4));
	index = operand(GTU_SCU_INDEX, 2, n);
	count = operand(GTU_SCU_COUNT, 2, n);
	for (i = 0; i < n; i++) {
		count[i] = i % 7 ? (uint32_t)(test_random(&seed) % 9) : (uint32_t)(test_random(&seed) % 200);
		index[i] = (uint32_t)(test_random(&seed) % (edges - 200));
		total += count[i];
	}
	operand(GTU_SCU_OUT, 2, total);
	both(GTU_OP_SCU_EXPAND, GTU_STEP_PLAIN, EXPAND_PARAM);

	/* filter by best cost, group, apply */
	forget(GTU_SCU_OUT);
	operand(GTU_SCU_FILTER, 4, total);
	operand(GTU_SCU_FILTER_TABLE, 6, 1024);
	weight = operand(GTU_SCU_COST_GATHERED, 2, edges);
	base = operand(GTU_SCU_COST_INPUT, 2, n);
	for (i = 0; i < edges; i++)
		weight[i] = (uint32_t)(test_random(&seed) % 64);
	for (i = 0; i < n; i++)
		base[i] = (uint32_t)(test_random(&seed) % 64);
	/* the unit defines the tables' layout: compare the output, not the tables' bytes */
	held[GTU_SCU_FILTER_TABLE] = (struct lab_array){ 0 };
	CHECK(!lab_alloc(lab, "table", GTU_FILTER_TABLE_BYTES(1024, 4, 4), LAB_DEVICE, &held[GTU_SCU_FILTER_TABLE], &err));
	ref.a[GTU_SCU_FILTER_TABLE].given = false;
	both(GTU_OP_SCU_EXPAND, GTU_STEP_PRODUCE, EXPAND_PARAM | GTU_SCU_BEST | 2u << GTU_SCU_COST_SHIFT);
	forget(GTU_SCU_FILTER_TABLE);
	forget(GTU_SCU_COST_GATHERED);
	forget(GTU_SCU_COST_INPUT);

	operand(GTU_SCU_REORDER, 2, total);
	operand(GTU_SCU_GROUP_TABLE, 6, 256);
	CHECK(!lab_alloc(lab, "table", GTU_GROUP_TABLE_BYTES(256), LAB_DEVICE, &held[GTU_SCU_GROUP_TABLE], &err));
	ref.a[GTU_SCU_GROUP_TABLE].given = false;
	both(GTU_OP_SCU_EXPAND, GTU_STEP_PRODUCE, EXPAND_PARAM | GTU_SCU_GROUP | 2u << GTU_SCU_TARGET_SHIFT);
	c = lab_scu_counts(scu);
	/* both steps count dropped elements */
	CHECK(c->count[GTU_SCU_C_GROUPED] && c->count[GTU_SCU_C_DROPPED]);
	CHECK_EQ(c->count[GTU_SCU_C_GROUPED] + c->count[GTU_SCU_C_DROPPED] / 2, total);
	forget(GTU_SCU_GROUP_TABLE);
	forget(GTU_SCU_FILTER);
	operand(GTU_SCU_OUT, 2, c->count[GTU_SCU_C_GROUPED]);
	both(GTU_OP_SCU_EXPAND, GTU_STEP_APPLY, EXPAND_PARAM);

	close_machine();
}

TEST(results_match_the_device)
{
	struct scu_pipe_shape narrow = lab_scu_published, tight = lab_scu_published;

	narrow.width = 1;
	tight.in_flight = 1;
	tight.vector_bytes = 128;
	tight.fifo_bytes = tight.hash_bytes = 64;
	frontier("gtx980", &lab_scu_published, 3000, 20000);
	frontier("tx1", &narrow, 500, 5000);
	frontier("gtx980", &tight, 300, 2000);
}

/* Sequential data with a mask: each input line is read once, each output line written once. */
TEST(each_line_is_transferred_once)
{
	const struct lab_scu_counts *c;
	uint32_t *data, i;
	uint8_t *mask;

	open_machine("gtx980", &lab_scu_published);
	data = operand(GTU_SCU_DATA, 2, 4096);
	for (i = 0; i < 4096; i++)
		data[i] = 3 * i;
	mask = (uint8_t *)operand(GTU_SCU_MASK, 4, 4096);
	memset(mask, 0x55, 512);
	operand(GTU_SCU_OUT, 2, 2048);
	both(GTU_OP_SCU_DATA, GTU_STEP_PLAIN, 0);
	c = lab_scu_counts(scu);
	CHECK_EQ(c->pipe.reads, 4096 / 32 + 512 / 128);
	CHECK_EQ(c->pipe.writes, 2048 / 32);
	CHECK_EQ(lab_stats(lab)->unit_sectors, 4 * (c->pipe.reads + c->pipe.writes));
	CHECK_EQ(lab_stats(lab)->dram_reads, 4 * c->pipe.reads);
	CHECK_EQ(c->count[GTU_SCU_C_IN], 4096);
	CHECK_EQ(c->count[GTU_SCU_C_OUT], 2048);
	close_machine();
}

/* A probe for the best cost: one request for the set, which is a line, and one written sector, of its way. */
TEST(a_probe_is_one_request)
{
	struct scu_pipe_shape shape = lab_scu_published;
	const struct lab_scu_counts *c;
	uint32_t *data, *cost, i;

	shape.merge = 1;
	open_machine("gtx980", &shape);
	ref_tables_open(&tables, 1024, 16);
	data = operand(GTU_SCU_DATA, 2, 64);
	cost = operand(GTU_SCU_COST_GATHERED, 2, 64);
	for (i = 0; i < 64; i++) {
		data[i] = 1000 * i;
		cost[i] = i;
	}
	operand(GTU_SCU_FILTER, 4, 64);
	operand(GTU_SCU_FILTER_TABLE, 6, 16384);
	CHECK(!lab_alloc(lab, "table", GTU_FILTER_TABLE_BYTES(16384, 4, 4), LAB_DEVICE, &held[GTU_SCU_FILTER_TABLE], &err));
	ref.a[GTU_SCU_FILTER_TABLE].given = false;
	op.state_in_set = true;
	both(GTU_OP_SCU_DATA, GTU_STEP_PRODUCE, GTU_SCU_BEST | 2u << GTU_SCU_COST_SHIFT);
	c = lab_scu_counts(scu);
	CHECK_EQ(c->pipe.reads, 2 + 2 + 64);
	/* writes: the cleared states, a byte a set, in whole lines; sectors of the ways, and of the filter's mask */
	CHECK_EQ(lab_stats(lab)->unit_sectors, 4 * c->pipe.reads + 1024 / 32 + c->pipe.writes - 1024 / 128);
	CHECK(c->pipe.writes >= 1024 / 128 + 64 + 1);
	close_machine();
}

TEST(device_errors_are_reported)
{
	uint64_t count;
	uint32_t *index;

	open_machine("gtx980", &lab_scu_published);
	operand(GTU_SCU_DATA, 2, 100);
	index = operand(GTU_SCU_INDEX, 2, 64);
	operand(GTU_SCU_OUT, 2, 64);
	index[40] = 100;
	op.opcode = GTU_OP_SCU_ACCESS;
	op.param = 2 << GTU_SCU_WIDTH_SHIFT | 2 << GTU_SCU_INDEX_SHIFT;
	CHECK_EQ(lab_scu_run(scu, &op, &count, &err), GTU_ERR_FAIL);
	CHECKF(strstr(err.text, "element 40"), "%s", err.text);
	index[40] = 99;
	CHECKF(!lab_scu_run(scu, &op, &count, &err), "%s", err.text);
	CHECK_EQ(count, 64);
	op.operand[GTU_SCU_OUT].count = 63;
	CHECK_EQ(lab_scu_run(scu, &op, &count, &err), GTU_ERR_FAIL);
	op.param |= GTU_SCU_GROUP | GTU_STEP_FUSED << GTU_SCU_STEP_SHIFT;
	CHECK_EQ(lab_scu_run(scu, &op, &count, &err), GTU_ERR_USAGE);
	close_machine();
}

/* ---- Graphs --------------------------------------------------------------------------------------- */

static void all_variants(const char *machine, const struct gtu_graph *g, uint32_t lines, uint32_t group_max)
{
	static uint32_t result[4096];
	struct lab_scu_config config = { .graph = g, .source = 3, .state_bytes = group_max == 32, .exact = group_max == 32, .skips_excluded = lines == 16 || group_max == 32, .iterations = 2, .shape = lab_scu_published, .bfs_bytes = 4 * lines,
				   .sssp_bytes = 8 * lines, .group_bytes = 4 * group_max * lines, .group_max = group_max };
	struct lab_scu_result r[LAB_SCU_VARIANTS];
	static const enum lab_expect_what what[] = { LAB_LEVELS, LAB_DISTANCES, LAB_RANKS };
	struct lab_machine m = machine_of(machine, NULL);
	unsigned a, w;

	while (g->row[config.source] == g->row[config.source + 1])
		config.source++;
	for (a = 0; a < SCU_REGION_COUNT; a++)
		config.instructions[a] = 1;
	for (a = 0; a < LAB_IRU_ALGORITHMS; a++) {
		for (w = 0; w < LAB_SCU_VARIANTS; w++) {
			config.algorithm = a;
			config.variant = w;
			if (!lab_scu_has_variant(a, w)) {
				CHECK_EQ(lab_scu_graph_run(&m, &config, NULL, result, &r[w], &err), GTU_ERR_USAGE);
				continue;
			}
			memset(result, 0xab, sizeof(result));
			CHECKF(!lab_scu_graph_run(&m, &config, NULL, result, &r[w], &err), "%s %s, %s: %s", g->name,
			       lab_iru_algorithm_name[a], lab_scu_variant_name[w], err.text);
			CHECKF(same(g, what[a], config.source, config.iterations, result), "%s %s differs with %s", g->name, lab_iru_algorithm_name[a],
			       lab_scu_variant_name[w]);
			CHECK(!r[w].unit.operations == (w < LAB_SCU_BASIC));
			/* the total is the sum of the parts */
			CHECK_EQ(r[w].gpu.cycles, r[w].processing + r[w].compaction + r[w].gpu.launches * m.launch_latency);
			CHECK_EQ(r[w].scu.cycles, r[w].unit.cycles);
			CHECK(r[w].unit.slots <= r[w].unit.cycles);
		}
		/* GPU and SCU pass the same elements to the kernels; filtering passes fewer */
		if (a == LAB_IRU_PR)
			CHECK_EQ(r[LAB_SCU_BASIC].elements, r[LAB_SCU_SPLIT].elements);
		else if (lines > g->n)
			CHECKF(r[LAB_SCU_FILTERED].elements < r[LAB_SCU_BASIC].elements, "%s", lab_iru_algorithm_name[a]);
	}
}

TEST(every_variant_matches_the_reference)
{
	struct gtu_generate_options o = { .kind = GTU_GEN_KRONECKER, .scale = 10, .n = 1024, .degree = 8, .seed = 5, .simplify = 1,
					  .random_weights = 64 };
	struct gtu_graph *g = generated(o);

	all_variants("gtx980", g, 1 << 12, 8);
	all_variants("tx1", g, 16, 8);		/* tables that forget nearly everything */
	gtu_graph_close(g);
	o.kind = GTU_GEN_PLANAR;	/* many levels, a long far list */
	o.degree = 5;
	g = generated(o);
	all_variants("tx1", g, 1 << 12, 32);
	all_variants("tx1", g, 3000, 8);	/* 187 sets, of table 2's kind */
	gtu_graph_close(g);
}

/* ---- Energy --------------------------------------------------------------------------------------- */

TEST(energy_is_counts_times_costs)
{
	static const struct lab_energy_cost cost[LAB_EVENTS] = {
		[LAB_E_INSTRUCTION] = { "i", "", { 1, 2, 4 } },
		[LAB_E_DRAM] = { "d", "", { 100, 200, 300 } },
		[LAB_E_SECOND] = { "s", "", { 1, 1, 2 } },
	};
	struct lab_energy a = { 0 }, b = { 0 };
	struct lab_stats s = { .thread_instructions = 1000, .dram_reads = 6, .dram_writes = 4, .cycles = 99 };
	struct lab_energy_range r;
	struct lab_machine m = machine_of("tx1", NULL);

	CHECK(lab_energy_costs(&m));
	CHECK(m.gpuwattch);
	m.gpuwattch = false;		/* no chip of such a bandwidth was measured */
	m.dram_gbs = 4000;
	CHECK(!lab_energy_costs(&m));
	lab_energy_add(&a, &m, &s, 2, 0);	/* 2 cycles of 1 ns */
	r = lab_energy_joules(cost, &a);
	CHECK(fabs(r.min * 1e12 - (1000 + 1000 + 2000)) < 1e-6);
	CHECK(fabs(r.likely * 1e12 - (2000 + 2000 + 2000)) < 1e-6);
	CHECK(fabs(r.max * 1e12 - (4000 + 3000 + 4000)) < 1e-6);
	/* half the instructions: the ratio is highest where these are expensive and the rest is cheap */
	s.thread_instructions = 500;
	lab_energy_add(&b, &m, &s, 2, 0);
	r = lab_energy_ratio(cost, &a, &b);
	CHECK(fabs(r.likely - 6000.0 / 5000) < 1e-9);
	CHECK(fabs(r.max - 7000.0 / 5000) < 1e-9);
	CHECK(fabs(r.min - 8000.0 / 7500) < 1e-9);
}

TEST(a_units_accesses_to_the_l2_are_its_own_event)
{
	struct lab_stats s = { .l2_read = { 3, 2 }, .l2_write = { 1 }, .dram_reads = 4 };
	struct lab_machine m = machine_of("gtx980", NULL);
	const struct lab_energy_cost *cost = lab_energy_costs(&m);
	struct lab_energy e = { 0 };

	lab_energy_add(&e, &m, &s, 5, 0);
	lab_energy_add_unit(&e, &m, &s, 7, 8);
	CHECK(e.count[LAB_E_L2] == 6 && e.count[LAB_E_UNIT_L2] == 6 && e.count[LAB_E_DRAM] == 8 && e.count[LAB_E_UNIT] == 8);
	CHECK(fabs(e.count[LAB_E_SECOND] - lab_seconds(&m, 12)) < 1e-15);
	CHECK(cost[LAB_E_UNIT_L2].cost.max == cost[LAB_E_L2].cost.max);
}

TEST_MAIN
