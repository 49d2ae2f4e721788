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

#include "bringup_rig.h"
#include "gtu/splitmix64.h"
#include "libruntime/support/clock.h"
#include "tools/support/cli.h"

enum { SRC = 1, IDX, CNT, REG, CSR, OUT, TABLE, RING, ERR, REGIONS = ERR };
#define RW	(GTU_REGION_READ | GTU_REGION_WRITE)
static const struct side_region regions[REGIONS] = {
	{ 0x00000, 0x8000, GTU_REGION_READ }, { 0x08000, 0x2000, GTU_REGION_READ }, { 0x0a000, 0x2000, GTU_REGION_READ },
	{ 0x0c000, 0x2000, GTU_REGION_READ }, { 0x0e000, 0x2000, GTU_REGION_READ }, { 0x10000, 0x8000, RW },
	{ 0x18000, 0x1000, RW }, { 0x1a000, 0x8000, RW }, { 0x22000, 0x1000, RW },
};
static const char *const region_name[] = { "-", "source", "indices", "counts", "registrations", "graph", "output", "tables", "ring", "errors" };
#define COMPARED	0x22000u	/* bytes of the arena: the content of ERR after errors is undefined */
#define WVR_ENTRIES	64u
#define VERTICES	64u
#define COUNT_EVERY	64u		/* batches between comparisons of counters */
#define WATCHED		2048u		/* descriptors that the monitor counts for the histogram */

struct pair {
	struct bringup *b;
	struct side device, model;
	uint64_t seed, done;
	uint8_t *before;		/* the arena before the batch */
	struct gtu_hw_desc desc[SIDE_BATCH];
	struct gtu_hw_cpl cpl[2][SIDE_BATCH];
};

static uint64_t draw(struct pair *p)
{
	return gtu_splitmix64_next(&p->seed);
}

static uint32_t below(struct pair *p, uint32_t n)
{
	return (uint32_t)((draw(p) >> 32) * n >> 32);
}

/* ---- Initial memory ------------------------------------------------------------------------------------ */

static void *at(uint8_t *arena, unsigned region)
{
	return arena + regions[region - 1].offset;
}

static void fill_arena(struct pair *p, uint8_t *arena)
{
	uint64_t *source = at(arena, SRC);
	uint32_t *index = at(arena, IDX), *count = at(arena, CNT), *csr = at(arena, CSR), i, edges = 0;
	struct gtu_hw_registration *reg = at(arena, REG);

	for (i = 0; i < 0x8000 / 8; i++)
		source[i] = draw(p);
	for (i = 0; i < 0x2000 / 4; i++) {
		index[i] = below(p, below(p, 4) ? 2048 : 64);
		count[i] = below(p, 4);
	}
	for (i = 0; i < WVR_ENTRIES; i++)
		reg[i] = (struct gtu_hw_registration){ .entry = i, .vid = below(p, 1000), .start = below(p, 100000), .degree = below(p, 6) };
	for (i = 0; i <= VERTICES; i++) {
		csr[i] = edges;
		edges += below(p, 8);
	}
	for (i = 0; i < 512; i++)
		csr[128 + i] = below(p, VERTICES);
}

/* ---- Descriptors ------------------------------------------------------------------------------------------------- */

/* A random aligned operand of up to @max elements of 2^@width bytes within @bytes of a region. */
static struct gtu_hw_operand part(struct pair *p, unsigned region, uint32_t from, uint32_t bytes, unsigned width, uint32_t max)
{
	const uint32_t elements = bytes >> width, n = 1 + below(p, max < elements ? max : elements);

	return (struct gtu_hw_operand){ region, n, from + ((uint64_t)below(p, elements - n + 1) << width) };
}

static void basic(struct pair *p, struct gtu_hw_desc *d)
{
	const unsigned width = below(p, 4);
	/* overwriting all of the output would hide earlier errors */
	const uint32_t max = below(p, 40) ? 200 : 0x8000;

	switch (below(p, 4)) {
	case 0:
		d->opcode = below(p, 8) ? GTU_OP_NOP : GTU_OP_FENCE;
		return;
	case 1:
		d->opcode = GTU_OP_FILL;
		d->imm = draw(p);
		break;
	default:
		d->opcode = GTU_OP_COPY;
		d->operand[0] = part(p, SRC, 0, 0x8000, width, max);
	}
	d->param = width;
	d->operand[1] = part(p, OUT, 0, 0x8000, width, max);
	if (d->opcode == GTU_OP_COPY && d->operand[0].count > d->operand[1].count)
		d->operand[0].count = d->operand[1].count;
}

static void scu(struct pair *p, struct gtu_hw_desc *d)
{
	const unsigned width = below(p, 2) ? 2 : below(p, 4);
	uint32_t n = 1 + below(p, 128);

	d->param = width << GTU_SCU_WIDTH_SHIFT;
	d->opcode = (uint8_t)(GTU_OP_SCU_BITMASK + below(p, 5));
	d->operand[GTU_SCU_DATA] = (struct gtu_hw_operand){ SRC, d->opcode >= GTU_OP_SCU_ACCESS && d->opcode != GTU_OP_SCU_REPLICATE ? 2048 + 8 : n, 0 };
	d->operand[GTU_SCU_OUT] = (struct gtu_hw_operand){ OUT, 512, (uint64_t)below(p, 64) * 64 };
	if (d->opcode != GTU_OP_SCU_BITMASK && below(p, 2))
		d->operand[GTU_SCU_MASK] = (struct gtu_hw_operand){ SRC, n, below(p, 1024) };
	switch (d->opcode) {
	case GTU_OP_SCU_BITMASK:
		d->param |= below(p, 6) << GTU_SCU_CMP_SHIFT | below(p, 2) << GTU_SCU_TYPE_SHIFT;
		d->imm = below(p, 2) ? draw(p) : 0;
		break;
	case GTU_OP_SCU_EXPAND:
		d->param |= 2 << GTU_SCU_COUNT_SHIFT | 2 << GTU_SCU_INDEX_SHIFT;
		d->operand[GTU_SCU_INDEX] = (struct gtu_hw_operand){ IDX, n, 4ull * below(p, 1024) };
		d->operand[GTU_SCU_COUNT] = (struct gtu_hw_operand){ CNT, n, 4ull * below(p, 1024) };
		break;
	case GTU_OP_SCU_ACCESS:
		d->param |= 2 << GTU_SCU_INDEX_SHIFT;
		d->operand[GTU_SCU_INDEX] = (struct gtu_hw_operand){ IDX, n, 4ull * below(p, 1024) };
		break;
	case GTU_OP_SCU_REPLICATE:
		d->param |= 2 << GTU_SCU_COUNT_SHIFT;
		d->operand[GTU_SCU_COUNT] = (struct gtu_hw_operand){ CNT, n, 4ull * below(p, 1024) };
		break;
	}
}

static void stream(struct pair *p, struct gtu_hw_desc *d)
{
	static const uint8_t unit[] = { 1, 1, 2, 3 };
	const unsigned u = unit[below(p, 4)];

	if (u == 1) {
		d->opcode = GTU_OP_IRU_STREAM;
		d->param = below(p, 4) << GTU_IRU_OP_SHIFT | below(p, 4) << GTU_IRU_TARGET_SHIFT | GTU_IRU_WITH_POSITION;
		d->operand[0] = (struct gtu_hw_operand){ IDX, 1 + below(p, 200), 4ull * below(p, 1024) };
		d->operand[1] = (struct gtu_hw_operand){ CNT, d->operand[0].count, 4ull * below(p, 1024) };
		d->param |= below(p, 2) ? GTU_IRU_WITH_SECONDARY : 0;
		d->operand[2] = (struct gtu_hw_operand){ RING, 32, 0 };
	} else if (u == 2) {
		d->opcode = GTU_OP_PEG_STREAM;
		d->param = GTU_PEG_WITH_SRC | GTU_PEG_WITH_DST | 1u << GTU_PEG_ENGINES_SHIFT;
		d->operand[0] = (struct gtu_hw_operand){ CSR, 2 + below(p, VERTICES), 0 };
		d->operand[1] = (struct gtu_hw_operand){ CSR, 512, 512 };
		d->operand[GTU_PEG_RINGS] = (struct gtu_hw_operand){ RING, 32, 0 };
	} else {
		d->opcode = GTU_OP_WVR_STREAM;
		d->operand[0] = (struct gtu_hw_operand){ REG, 1 + below(p, WVR_ENTRIES), 0 };
		d->operand[1] = (struct gtu_hw_operand){ RING, 32, 0 };
	}
	/* if the unit is absent, device and model both answer ABSENT */
}

/* Make a descriptor that must be refused without effect. */
static void wrong(struct pair *p, struct gtu_hw_desc *d)
{
	d->opcode = GTU_OP_COPY;
	d->operand[0] = (struct gtu_hw_operand){ SRC, 16, 0 };
	d->operand[1] = (struct gtu_hw_operand){ ERR, 16, 0 };
	switch (below(p, 9)) {
	case 0: d->opcode = (uint8_t)(0x50 + below(p, 100)); break;
	case 1: d->reserved0 = 1; break;
	case 2: d->flags = 0x8000; break;
	case 3: d->param = 0x10 << below(p, 20); break;
	case 4: d->operand[0].key = 0xfff0fff0u; break;
	case 5: d->operand[1].key = SRC; break;
	case 6: d->operand[1].offset = 0x1000 - below(p, 16); break;
	case 7: d->operand[1].count = below(p, 16); break;
	case 8: d->operand[2 + below(p, 4)].count = 1; break;
	}
}

static void describe(struct pair *p, struct gtu_hw_desc *d, uint64_t number)
{
	const uint32_t kind = below(p, 100);

	memset(d, 0, sizeof(*d));
	if (kind < 45)
		basic(p, d);
	else if (kind < 80)
		scu(p, d);
	else if (kind < 90)
		stream(p, d);
	else
		wrong(p, d);
	d->cookie = number;
}

/* ---- Comparing -------------------------------------------------------------------------------------------------------- */

static const char *opcode_name(unsigned opcode)
{
	switch (opcode) {
	case GTU_OP_NOP: return "NOP";
	case GTU_OP_COPY: return "COPY";
	case GTU_OP_FILL: return "FILL";
	case GTU_OP_FENCE: return "FENCE";
	case GTU_OP_SCU_BITMASK: return "SCU BITMASK";
	case GTU_OP_SCU_DATA: return "SCU DATA";
	case GTU_OP_SCU_ACCESS: return "SCU ACCESS";
	case GTU_OP_SCU_REPLICATE: return "SCU REPLICATE";
	case GTU_OP_SCU_EXPAND: return "SCU EXPAND";
	case GTU_OP_IRU_STREAM: return "IRU STREAM";
	case GTU_OP_PEG_STREAM: return "PEG STREAM";
	case GTU_OP_WVR_STREAM: return "WVR STREAM";
	}
	return "no operation";
}

/* A descriptor as text, so that it can be repeated by hand. */
static const char *words_of(const struct gtu_hw_desc *d)
{
	static char text[360];
	size_t used;
	unsigned i;

	used = (size_t)snprintf(text, sizeof(text), "%s (0x%02x) param 0x%x", opcode_name(d->opcode), d->opcode, d->param);
	if (d->imm)
		used += (size_t)snprintf(text + used, sizeof(text) - used, " imm 0x%" PRIx64, d->imm);
	for (i = 0; i < GTU_DESC_OPERANDS && used < sizeof(text); i++)
		if (d->operand[i].key)
			used += (size_t)snprintf(text + used, sizeof(text) - used, ", %u: %u of %s + 0x%" PRIx64, i, d->operand[i].count,
						 d->operand[i].key <= REGIONS ? region_name[d->operand[i].key] : "no region",
						 d->operand[i].offset);
	return text;
}

static const char *region_at(uint32_t offset, uint32_t *inside)
{
	unsigned i;

	for (i = 0; i < REGIONS; i++) {
		*inside = offset - regions[i].offset;
		if (offset >= regions[i].offset && *inside < regions[i].bytes)
			return region_name[i + 1];
	}
	*inside = offset;
	return "no region";
}

/* The first field in which two completions differ; NULL: none. */
static const char *field_that_differs(const struct gtu_hw_cpl *a, const struct gtu_hw_cpl *b, uint64_t *x, uint64_t *y)
{
#define FIELD(name) do { if (a->name != b->name) return *x = a->name, *y = b->name, #name; } while (0)
	FIELD(status);
	FIELD(cookie);
	FIELD(sq_index);
	FIELD(operand);
	FIELD(element);
	FIELD(count);
	FIELD(needed);
	FIELD(dropped);
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
		if (field_that_differs(&p->cpl[0][*which], &p->cpl[1][*which], &x, &y))
			return false;
	return true;
}

static uint32_t first_byte(const struct pair *p)
{
	uint32_t i = 0;

	while (i < COMPARED && p->device.arena[i] == p->model.arena[i])
		i++;
	return i;
}

/* Run the batch on both sides. */
static int run_both(struct pair *p, const struct gtu_hw_desc *d, unsigned n, struct gtu_error *err)
{
	struct gtu_hw_ring *device = at(p->device.arena, RING), *model = at(p->model.arena, RING);
	int rc = p->model.run(&p->model, d, n, p->cpl[1], err);

	if (!rc)
		rc = p->device.run(&p->device, d, n, p->cpl[0], err);
	/* the number of notifications depends on the size of the device's steps: ignore it */
	device->changes = model->changes;
	return rc;
}

static void hex(char *text, size_t size, const uint8_t *at_byte)
{
	unsigned i;

	for (i = 0, *text = 0; i < 16; i++)
		snprintf(text + 3 * i, size - 3 * i, "%02x ", at_byte[i]);
	text[3 * 16 - 1] = 0;
}

static void say_completion(struct pair *p, uint64_t number, const struct gtu_hw_desc *d, unsigned i)
{
	uint64_t x = 0, y = 0;
	const char *field = field_that_differs(&p->cpl[0][i], &p->cpl[1][i], &x, &y);
	char names[64] = "";

	if (!strcmp(field, "status"))
		snprintf(names, sizeof(names), ": %s, not %s", rig_status((unsigned)x), rig_status((unsigned)y));

	bringup_say(p->b, BRINGUP_FAIL, !strcmp(field, "cycles") ? "cycles" : !strcmp(field, "count") ? "completion-count" : NULL,
		    "descriptor %" PRIu64 " of seed %" PRIu64 ": %s: the completion's %s is %" PRIu64 ", the model's %" PRIu64 "%s", number, p->b->seed, words_of(d), field, x, y, names);
}

static void say_byte(struct pair *p, uint64_t number, const struct gtu_hw_desc *d)
{
	const uint32_t byte = first_byte(p);
	char is[64], want[64];
	const char *region;
	uint32_t inside;

	region = region_at(byte, &inside);
	hex(is, sizeof(is), p->device.arena + (byte & ~15u));
	hex(want, sizeof(want), p->model.arena + (byte & ~15u));
	bringup_say(p->b, BRINGUP_FAIL, "data", "descriptor %" PRIu64 " of seed %" PRIu64 ": %s: byte 0x%x of %s is 0x%02x, the model's 0x%02x; from 0x%x on: %s; model: %s",
		    number, p->b->seed, words_of(d), inside, region, p->device.arena[byte], p->model.arena[byte], inside & ~15u, is, want);
}

/* Describe the difference after a batch, in case it does not occur again. */
static void remember(struct pair *p, unsigned n, char *text, size_t size)
{
	uint64_t x = 0, y = 0;
	const char *field, *region;
	uint32_t byte, inside;
	unsigned which;

	if (!completions_agree(p, n, &which)) {
		field = field_that_differs(&p->cpl[0][which], &p->cpl[1][which], &x, &y);
		snprintf(text, size, "descriptor %" PRIu64 ", %s: %s is %" PRIu64 ", the model's %" PRIu64, p->done + which, words_of(&p->desc[which]), field, x, y);
		return;
	}
	byte = first_byte(p);
	region = region_at(byte, &inside);
	snprintf(text, size, "byte 0x%x of %s is 0x%02x, the model's 0x%02x", inside, region, p->device.arena[byte], p->model.arena[byte]);
}

/* Repeat the batch one by one from the memory before it, to find the first difference. */
static void narrow(struct pair *p, unsigned n)
{
	char first[440];
	struct gtu_error err;
	unsigned i, which;

	remember(p, n, first, sizeof(first));
	memcpy(p->device.arena, p->before, RIG_DATA_BYTES);
	memcpy(p->model.arena, p->before, RIG_DATA_BYTES);
	for (i = 0; i < n; i++) {
		if (run_both(p, &p->desc[i], 1, &err)) {
			bringup_say(p->b, BRINGUP_FAIL, NULL, "descriptor %" PRIu64 " of seed %" PRIu64 ": %s: %s", p->done + i, p->b->seed, words_of(&p->desc[i]), err.text);
			return;
		}
		if (!completions_agree(p, 1, &which)) {
			say_completion(p, p->done + i, &p->desc[i], 0);
			return;
		}
		if (memcmp(p->device.arena, p->model.arena, COMPARED)) {
			say_byte(p, p->done + i, &p->desc[i]);
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
		for (n = 0; n < SIDE_COUNTERS && is[n] == want[n]; n++)
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
			describe(p, &p->desc[i], p->done + i);
		memcpy(p->before, p->model.arena, COMPARED);
		if (run_both(p, p->desc, n, &err)) {
			bringup_say(p->b, BRINGUP_FAIL, NULL, "descriptors %" PRIu64 " to %" PRIu64 " of seed %" PRIu64 ": %s", p->done, p->done + n - 1, p->b->seed, err.text);
			return false;
		}
		if (!completions_agree(p, n, &which) || memcmp(p->device.arena, p->model.arena, COMPARED)) {
			narrow(p, n);
			return false;
		}
		p->done += n;
		if (p->b->watched && p->done >= WATCHED && p->done - n < WATCHED)
			watch(p, false);
		if ((++batches % COUNT_EVERY == 1 || p->done == p->b->lockstep) && !counters_agree(p))
			return false;
		if (progress->tick(progress->user, "lock step", p->done, p->b->lockstep)) {
			bringup_say(p->b, BRINGUP_WARN, NULL, "interrupted after %" PRIu64 " descriptors", p->done);
			return false;
		}
	}
	return true;
}

static int begin(struct pair *p, struct gtu_error *err)
{
	struct gtu_error ignored;
	unsigned u;
	int rc = side_of_device(&p->device, p->b, regions, REGIONS, err);

	if (rc)
		return rc;
	rc = side_of_model(&p->model, p->b, regions, REGIONS, err);
	if (rc) {
		p->device.close(&p->device);
		return rc;
	}
	p->before = calloc(1, RIG_DATA_BYTES);
	if (!p->before) {
		p->device.close(&p->device);
		p->model.close(&p->model);
		return gtu_fail(err, GTU_ERR_NOMEM, "no memory");
	}
	fill_arena(p, p->model.arena);
	memcpy(p->device.arena, p->model.arena, RIG_DATA_BYTES);
	for (u = 0; u < GTU_UNIT_COUNT; u++) {
		/* the model's monitor is off */
		if (!(p->b->units & ~GTU_UNIT_ZCM & gtu_unit_table[u].bit))
			continue;
		p->device.write(&p->device, gtu_unit_table[u].page + GTU_UREG_CTRL, GTU_CTRL_SNAPSHOT | GTU_CTRL_CLEAR, &ignored);
		p->model.write(&p->model, gtu_unit_table[u].page + GTU_UREG_CTRL, GTU_CTRL_SNAPSHOT | GTU_CTRL_CLEAR, &ignored);
	}
	return 0;
}

void bringup_lockstep(struct bringup *b)
{
	struct pair *p = calloc(1, sizeof(*p));
	struct gtu_error err = { .text = "no memory", .code = GTU_ERR_NOMEM };
	double start, busy;

	if (p) {
		p->b = b;
		p->seed = b->seed;
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
			    "counter agrees; %.0f descriptors/s, %.0f per second of this process's CPU time", p->done, b->seed, p->device.name, b->rate,
			    busy);
	}
	b->compared = p->done;
	p->model.close(&p->model);
	p->device.close(&p->device);
	free(p->before);
	free(p);
}
