// SPDX-License-Identifier: MIT
/*
 * bringup: lock step. The device and the model of the same build run the same random descriptors in
 * batches; completions, every byte of the arena and the units' counters are compared. A batch that
 * differs is repeated one descriptor at a time from the same memory, to find the first descriptor
 * that differs.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bringup_consumer.h"
#include "bringup_jobs.h"
#include "libruntime/support/clock.h"
#include "tools/support/cli.h"

#define COUNT_EVERY	64u		/* batches between comparisons of counters */
#define CONSUME_EVERY	4u		/* batches between streams with a consumer */
#define WATCHED		2048u		/* descriptors that the monitor counts for the histogram */

struct pair {
	struct bringup *b;
	struct side device, model;
	struct jobs jobs;
	uint64_t done;
	unsigned probes;		/* descriptors before the comparison */
	bool logical;			/* the device reports logical cycles */
	uint8_t *before;		/* the arena before the batch */
	struct job job[SIDE_BATCH];
	struct gtu_hw_cpl cpl[2][SIDE_BATCH];
};

/* ---- Comparing -------------------------------------------------------------------------------------------------------- */

/* The first field in which two completions differ; NULL: none. */
static const char *field_that_differs(const struct pair *p, unsigned i, uint64_t *x, uint64_t *y)
{
	const struct gtu_hw_cpl *a = &p->cpl[0][i], *b = &p->cpl[1][i];
	const bool timed = !p->logical && p->job[i].desc.opcode >= GTU_OP_IRU_STREAM;

#define FIELD(name) do { if (a->name != b->name) return *x = a->name, *y = b->name, #name; } while (0)
	FIELD(status);
	FIELD(cookie);
	FIELD(sq_index);
	FIELD(operand);
	FIELD(element);
	FIELD(needed);
	if (!timed) {
		FIELD(count);
		FIELD(dropped);
	}
	if (p->logical)
		FIELD(cycles);
	FIELD(reserved);
	FIELD(reserved1);
	FIELD(reserved2);
#undef FIELD
	return NULL;
}

static bool completions_agree(struct pair *p, unsigned n, unsigned *which)
{
	uint64_t x, y;

	for (*which = 0; *which < n; ++*which)
		if (field_that_differs(p, *which, &x, &y))
			return false;
	return true;
}

static uint32_t first_byte(const struct pair *p)
{
	uint32_t i = 0;

	while (i < JOBS_COMPARED && p->device.arena[i] == p->model.arena[i])
		i++;
	return i;
}

/* Run @n jobs from number @first of the batch on both sides. */
static int run_both(struct pair *p, unsigned first, unsigned n, struct gtu_error *err)
{
	struct gtu_hw_ring *device = jobs_at(p->device.arena, JOBS_RING), *model = jobs_at(p->model.arena, JOBS_RING);
	struct gtu_hw_desc desc[SIDE_BATCH];
	unsigned i;
	int rc;

	for (i = 0; i < n; i++) {
		const struct job *job = &p->job[first + i];

		desc[i] = job->desc;
		if (job->desc.flags & GTU_DESC_BLOCK && job->desc.operand[0].key == JOBS_BLOCK) {
			jobs_put_block(&p->device, job);
			jobs_put_block(&p->model, job);
		}
	}
	rc = p->model.run(&p->model, desc, n, &p->cpl[1][first], err);
	if (!rc)
		rc = p->device.run(&p->device, desc, n, &p->cpl[0][first], err);
	/* the number of notifications depends on the size of the device's steps: ignore it */
	device->changes = model->changes;
	/* with real clocks, only the last stream of a run is in the ring: run_batch() stops at each */
	if (!rc && !p->logical && desc[n - 1].opcode >= GTU_OP_IRU_STREAM)
		consumer_match(p->device.arena, p->model.arena, &desc[n - 1]);
	return rc;
}

/* Run the batch on both sides. With real clocks, streams are compared one by one. */
static int run_batch(struct pair *p, unsigned n, struct gtu_error *err)
{
	unsigned first = 0, end;
	int rc = 0;

	for (; first < n && !rc; first = end) {
		for (end = first + 1; end < n && (p->logical || p->job[end - 1].desc.opcode < GTU_OP_IRU_STREAM); end++)
			;
		rc = run_both(p, first, end - first, err);
	}
	return rc;
}

static void hex(char *text, size_t size, const uint8_t *at_byte)
{
	unsigned i;

	for (i = 0, *text = 0; i < 16; i++)
		snprintf(text + 3 * i, size - 3 * i, "%02x ", at_byte[i]);
	text[3 * 16 - 1] = 0;
}

static void say_completion(struct pair *p, uint64_t number, unsigned i)
{
	const struct job *job = &p->job[i];
	uint64_t x = 0, y = 0;
	const char *field = field_that_differs(p, i, &x, &y), *bug = jobs_cover_name[job->cover];
	char names[64] = "";

	if (!strcmp(field, "status"))
		snprintf(names, sizeof(names), ": %s, not %s", rig_status((unsigned)x), rig_status((unsigned)y));
	if (!bug && !strcmp(field, "cycles"))
		bug = x > y && job->desc.opcode == GTU_OP_COPY ? "cut" : "cycles";
	if (!bug && !strcmp(field, "count"))
		bug = "completion-count";
	bringup_say(p->b, BRINGUP_FAIL, bug, "descriptor %" PRIu64 " of seed %" PRIu64 ": %s: the completion's %s is %" PRIu64 ", the model's %" PRIu64
		    "%s", number, p->b->seed, jobs_text(job), field, x, y, names);
}

static void say_byte(struct pair *p, uint64_t number, unsigned i)
{
	const uint32_t byte = first_byte(p);
	const char *region, *bug = jobs_cover_name[p->job[i].cover];
	char is[64], want[64];
	uint32_t inside;

	region = jobs_region_at(byte, &inside);
	hex(is, sizeof(is), p->device.arena + (byte & ~15u));
	hex(want, sizeof(want), p->model.arena + (byte & ~15u));
	bringup_say(p->b, BRINGUP_FAIL, bug ? bug : "data", "descriptor %" PRIu64 " of seed %" PRIu64 ": %s: byte 0x%x of %s is 0x%02x, the model's 0x%02x; "
		    "from 0x%x on: %s; model: %s", number, p->b->seed, jobs_text(&p->job[i]), inside, region, p->device.arena[byte],
		    p->model.arena[byte], inside & ~15u, is, want);
}

/* Describe the difference after a batch, in case it does not occur again. */
static void remember(struct pair *p, unsigned n, char *text, size_t size)
{
	uint64_t x = 0, y = 0;
	const char *field, *region;
	uint32_t byte, inside;
	unsigned which;

	if (!completions_agree(p, n, &which)) {
		field = field_that_differs(p, which, &x, &y);
		snprintf(text, size, "descriptor %" PRIu64 ", %s: %s is %" PRIu64 ", the model's %" PRIu64, p->done + which, jobs_text(&p->job[which]), field, x, y);
		return;
	}
	byte = first_byte(p);
	region = jobs_region_at(byte, &inside);
	snprintf(text, size, "byte 0x%x of %s is 0x%02x, the model's 0x%02x", inside, region, p->device.arena[byte], p->model.arena[byte]);
}

/* Repeat the batch one by one from the memory before it, to find the first difference. */
static void narrow(struct pair *p, unsigned n)
{
	char first[440];
	struct gtu_error err;
	uint64_t x, y;
	unsigned i;

	remember(p, n, first, sizeof(first));
	memcpy(p->device.arena, p->before, JOBS_BYTES);
	memcpy(p->model.arena, p->before, JOBS_BYTES);
	for (i = 0; i < n; i++) {
		if (run_both(p, i, 1, &err)) {
			bringup_say(p->b, BRINGUP_FAIL, jobs_cover_name[p->job[i].cover], "descriptor %" PRIu64 " of seed %" PRIu64 ": %s: %s", p->done + i,
				    p->b->seed, jobs_text(&p->job[i]), err.text);
			return;
		}
		if (field_that_differs(p, i, &x, &y)) {
			say_completion(p, p->done + i, i);
			return;
		}
		if (memcmp(p->device.arena, p->model.arena, JOBS_COMPARED)) {
			say_byte(p, p->done + i, i);
			return;
		}
	}
	bringup_say(p->b, BRINGUP_FAIL, NULL, "descriptors %" PRIu64 " to %" PRIu64 " of seed %" PRIu64 " differ when they are queued together, not one by one: %s", p->done,
		    p->done + n - 1, p->b->seed, first);
}

static int snapshot(struct side *s, unsigned unit, uint64_t *value, struct gtu_error *err)
{
	unsigned n;
	int rc = s->write(s, gtu_unit_table[unit].page + GTU_UREG_CTRL, GTU_CTRL_SNAPSHOT, err);

	memset(value, 0, SIDE_COUNTERS * sizeof(*value));
	for (n = 0; !rc && gtu_unit_table[unit].counter_names[n]; n++)
		rc = s->read(s, gtu_unit_table[unit].page + GTU_UREG_COUNTER(n), &value[n], err);
	return rc;
}

/* With real clocks only the number of jobs of a unit is certain, and for the SCU all but its cycles. */
static bool counts(const struct pair *p, unsigned unit, unsigned n)
{
	return p->logical || n == 0 || (gtu_unit_table[unit].bit == GTU_UNIT_SCU && n != GTU_SCU_C_CYCLES);
}

static bool counters_agree(struct pair *p)
{
	uint64_t is[SIDE_COUNTERS], want[SIDE_COUNTERS];
	struct gtu_error err;
	unsigned u, n;

	for (u = 0; u < GTU_UNIT_COUNT; u++) {
		/* the model's monitor is off */
		if (!(p->b->units & ~GTU_UNIT_ZCM & gtu_unit_table[u].bit))
			continue;
		if (snapshot(&p->device, u, is, &err) || snapshot(&p->model, u, want, &err)) {
			bringup_say(p->b, BRINGUP_FAIL, NULL, "counters of %s: %s", gtu_unit_table[u].name, err.text);
			return false;
		}
		for (n = 0; n < SIDE_COUNTERS && (is[n] == want[n] || !counts(p, u, n)); n++)
			;
		if (n == SIDE_COUNTERS)
			continue;
		bringup_say(p->b, BRINGUP_FAIL, "counter", "after %" PRIu64 " descriptors of seed %" PRIu64 " counter %u of %s is %" PRIu64 ", the model's %" PRIu64
			    ", while every byte and completion agrees%s", p->done, p->b->seed, n, gtu_unit_table[u].name, is[n], want[n],
			    p->b->device ? " (does another process use the device?)" : "");
		return false;
	}
	return true;
}

static void clear_counters(struct pair *p)
{
	struct gtu_error ignored;
	unsigned u;

	for (u = 0; u < GTU_UNIT_COUNT; u++) {
		/* the model's monitor is off */
		if (!(p->b->units & ~GTU_UNIT_ZCM & gtu_unit_table[u].bit))
			continue;
		p->device.write(&p->device, gtu_unit_table[u].page + GTU_UREG_CTRL, GTU_CTRL_SNAPSHOT | GTU_CTRL_CLEAR, &ignored);
		p->model.write(&p->model, gtu_unit_table[u].page + GTU_UREG_CTRL, GTU_CTRL_SNAPSHOT | GTU_CTRL_CLEAR, &ignored);
	}
}

static bool counters_around(void *user, bool after)
{
	if (!after)
		return counters_agree(user);
	clear_counters(user);
	return true;
}

/* ---- The monitor, for the histogram -------------------------------------------------------------------------------------------- */

static void watch(struct pair *p, bool on)
{
	const uint32_t page = GTU_PAGE_ZCM;
	struct gtu_error err;
	unsigned d, s;

	if (!(p->b->units & GTU_UNIT_ZCM))
		return;
	if (on) {
		p->b->watched = !p->device.write(&p->device, page + GTU_UREG_CTRL, GTU_CTRL_CLEAR, &err) &&
				!p->device.write(&p->device, page + GTU_UREG_SET(GTU_ZCM_S_ENABLE), 1, &err);
		return;
	}
	if (!p->b->watched || p->device.write(&p->device, page + GTU_UREG_CTRL, GTU_CTRL_SNAPSHOT, &err))
		return;
	for (d = 0; d < GTU_ZCM_DIRECTIONS; d++)
		for (s = 1; s <= 4; s++)
			p->device.read(&p->device, page + GTU_UREG_COUNTER(GTU_ZCM_C_REQUESTS(d, s)), &p->b->requests[d][s - 1], &err);
	p->device.write(&p->device, page + GTU_UREG_SET(GTU_ZCM_S_ENABLE), 0, &err);
}

/* ---- The loop ------------------------------------------------------------------------------------------------------------------ */

/* Processor time of this process. */
static double busy_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool agree(struct pair *p)
{
	const unsigned max = p->device.batch < p->model.batch ? p->device.batch : p->model.batch;
	const unsigned batch = max < SIDE_BATCH ? max : SIDE_BATCH;
	const struct gtu_progress *progress = cli_progress();
	unsigned n, i, which, batches = 0;
	struct gtu_error err;

	while (p->done < p->b->lockstep) {
		n = p->b->lockstep - p->done < batch ? (unsigned)(p->b->lockstep - p->done) : batch;
		for (i = 0; i < n; i++)
			jobs_describe(&p->jobs, &p->job[i], p->done + i);
		memcpy(p->before, p->model.arena, JOBS_BYTES);
		if (run_batch(p, n, &err)) {
			bringup_say(p->b, BRINGUP_FAIL, NULL, "descriptors %" PRIu64 " to %" PRIu64 " of seed %" PRIu64 ": %s", p->done, p->done + n - 1, p->b->seed, err.text);
			return false;
		}
		if (!completions_agree(p, n, &which) || memcmp(p->device.arena, p->model.arena, JOBS_COMPARED)) {
			narrow(p, n);
			return false;
		}
		p->done += n;
		if (p->b->watched && p->done >= WATCHED && p->done - n < WATCHED)
			watch(p, false);
		/* a reset of the device ends the monitor's work: not before its part */
		if (batches % CONSUME_EVERY == 0 && !consumer_agrees(p->b, &p->device, &p->model, &p->jobs, p->logical, p->done >= WATCHED,
								  counters_around, p))
			return false;
		if ((++batches % COUNT_EVERY == 1 || p->done == p->b->lockstep) && !counters_agree(p))
			return false;
		if (progress->tick(progress->user, "lock step", p->done, p->b->lockstep)) {
			bringup_say(p->b, BRINGUP_WARN, NULL, "interrupted after %" PRIu64 " descriptors", p->done);
			return false;
		}
	}
	return true;
}

/* The options of the SCU that the device answers with ABSENT. Reports them, and the operations, which are known. */
static uint32_t find_absent(struct pair *p)
{
	static const struct {
		uint32_t bit;
		const char *name;
		struct gtu_hw_desc desc;
	} probe[] = {
#define FUSED (2u << GTU_SCU_WIDTH_SHIFT | GTU_STEP_FUSED << GTU_SCU_STEP_SHIFT)
		{ GTU_ABSENT_SCU_FILTER, "filtering", { .opcode = GTU_OP_SCU_DATA, .param = FUSED | GTU_SCU_UNIQUE } },
		{ GTU_ABSENT_SCU_GROUP, "grouping", { .opcode = GTU_OP_SCU_DATA, .param = FUSED | GTU_SCU_GROUP } },
	};
	struct gtu_hw_cpl cpl;
	struct gtu_error err;
	const struct gtu_operation *op;
	uint32_t absent = 0;
	char names[160] = "";
	size_t used = 0;
	unsigned i;

	for (i = 0; (op = gtu_unit_operation(i)); i++)
		if (p->b->absent_operations >> i & 1)
			used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s", used ? ", " : "", op->name);
	for (i = 0; i < sizeof(probe) / sizeof(probe[0]) && p->b->units & GTU_UNIT_SCU; i++) {
		if (p->device.run(&p->device, &probe[i].desc, 1, &cpl, &err))
			continue;
		p->probes++;
		if (cpl.status != GTU_CPL_ABSENT)
			continue;
		absent |= probe[i].bit;
		used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s", used ? ", " : "", probe[i].name);
	}
	if (used)
		bringup_say(p->b, BRINGUP_OK, NULL, "the device answers ABSENT to: %s", names);
	return absent;
}

static int begin(struct pair *p, struct gtu_error *err)
{
	const struct gtu_hw_desc nop = { .opcode = GTU_OP_NOP };
	struct gtu_error ignored;
	int rc = side_of_device(&p->device, p->b, jobs_region, JOBS_REGIONS, err);

	if (rc)
		return rc;
	p->b->absent_operations = side_find_absent(&p->device, p->b->units);
	p->b->absent_scu = p->jobs.absent_scu = find_absent(p);
	rc = side_of_model(&p->model, p->b, jobs_region, JOBS_REGIONS, err);
	if (rc) {
		p->device.close(&p->device);
		return rc;
	}
	/* both rings must be at the same index */
	side_find_absent(&p->model, p->b->units);
	/* both sides have the same indices */
	while (p->probes && !p->model.run(&p->model, &nop, 1, &p->cpl[1][0], &ignored))
		p->probes--;
	p->before = calloc(1, JOBS_BYTES);
	if (!p->before) {
		p->device.close(&p->device);
		p->model.close(&p->model);
		return gtu_fail(err, GTU_ERR_NOMEM, "no memory");
	}
	jobs_fill(&p->jobs, p->model.arena);
	memcpy(p->device.arena, p->model.arena, JOBS_BYTES);
	clear_counters(p);
	return 0;
}

void bringup_lockstep(struct bringup *b)
{
	struct pair *p = calloc(1, sizeof(*p));
	struct gtu_error err = { .text = "no memory", .code = GTU_ERR_NOMEM };
	double start, busy;

	if (p) {
		p->b = b;
		p->jobs = (struct jobs){ .seed = b->seed, .units = b->units, .real_clocks = !(b->caps & GTU_CAP_LOGICAL_CYCLES) };
		p->logical = b->caps & GTU_CAP_LOGICAL_CYCLES;
	}
	if (!p || begin(p, &err)) {
		bringup_say(b, err.code == GTU_ERR_FAIL ? BRINGUP_FAIL : BRINGUP_SKIP, NULL, "%s", err.text);
		free(p);
		return;
	}
	watch(p, true);
	start = gtu_now_s();
	busy = busy_s();
	if (agree(p)) {
		b->rate = (double)p->done / (gtu_now_s() - start);
		busy = (double)p->done / (busy_s() - busy);
		bringup_say(b, BRINGUP_OK, NULL, "%" PRIu64 " descriptors of seed %" PRIu64 " on %s and on the model of the same build: every completion, byte and "
			    "counter agrees%s; %.0f descriptors/s, %.0f per second of this process's CPU time", p->done, b->seed, p->device.name,
			    p->logical ? "" : ", except for cycles and the order of streams (no LOGICAL_CYCLES)", b->rate, busy);
	}
	b->compared = p->done;
	p->model.close(&p->model);
	p->device.close(&p->device);
	free(p->before);
	free(p);
}
