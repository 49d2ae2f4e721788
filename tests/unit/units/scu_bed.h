/* SPDX-License-Identifier: MIT */
/* A device with memory for the SCU's operands, and random jobs. */
#ifndef SCU_BED_H
#define SCU_BED_H

#include "tests/unit/fixture.h"
#include "tests/unit/scu_reference.h"

#define POOL_BYTES	(192u << 10)
#define POOL_GUARD	64u		/* bytes around an operand that must not change */

/* Memory for the operands: one contiguous and one scattered buffer per operand, reused by all jobs. */
struct pool {
	struct fx_buffer *buffer;
	struct gtu_hw_region region;	/* gets a new key for each job */
};

struct bed {
	struct fx *f;
	struct pool linear[GTU_SCU_OPERANDS + 1], scattered[GTU_SCU_OPERANDS + 1];
	uint64_t seed;
	uint64_t streams, gathers;	/* reported by the device */
};
static struct bed *bed;

static uint64_t any(uint64_t below)
{
	return below ? test_random(&bed->seed) % below : 0;
}

static bool chance(unsigned percent)
{
	return any(100) < percent;
}

static struct pool pool_open(struct fx *f, bool scattered, unsigned levels)
{
	struct pool p = { .buffer = fx_buffer(f, POOL_BYTES) };
	const uint32_t rights = GTU_REGION_READ | GTU_REGION_WRITE;
	uint32_t key = scattered ? fx_region_scattered(f, p.buffer, 0, POOL_BYTES, rights, levels)
				 : fx_region(f, p.buffer, 0, POOL_BYTES, rights);

	p.region = f->table[GTU_KEY_SLOT(key)];
	return p;
}

static void bed_open(uint64_t seed, const struct gtu_dev_config *config)
{
	unsigned i;

	bed = test_alloc(1, sizeof(*bed));
	bed->seed = seed;
	bed->f = fx_open(config, seed);
	for (i = 0; i <= GTU_SCU_OPERANDS; i++) {
		bed->linear[i] = pool_open(bed->f, false, 0);
		bed->scattered[i] = pool_open(bed->f, true, 1 + i % 3);
	}
}

/* Make a region of @bytes at the end of the buffer (@at_end) or near its start. Returns its key; *at is its memory. */
static uint32_t place(unsigned which, bool scattered, uint64_t bytes, bool at_end, uint8_t **at)
{
	struct pool *p = scattered ? &bed->scattered[which] : &bed->linear[which];
	struct fx *f = bed->f;
	const uint32_t slot = 1 + which, old = f->table[slot].key;
	uint32_t generation = (GTU_KEY_GENERATION(old) + 1) & 0xffff;
	uint64_t offset = at_end ? (p->buffer->bytes - bytes) & ~7ull : 8 * any(600);

	CHECK(bytes + 8 * 600 <= p->buffer->bytes);
	f->table[slot] = p->region;
	f->table[slot].key = GTU_KEY(generation ? generation : 1, slot);
	f->table[slot].length = bytes;
	f->table[slot].offset = offset;
	*at = p->buffer->at + offset;
	return f->table[slot].key;
}

static uint64_t array_bytes(const struct ref_array *a, bool bits)
{
	return bits ? (a->count + 7) / 8 : a->count << a->log2;
}

static bool is_bits(const struct ref_job *j, unsigned i)
{
	return i == GTU_SCU_MASK || i == GTU_SCU_FILTER ||
	       (i == GTU_SCU_OUT && j->op == GTU_OP_SCU_BITMASK);
}

/* ---- Random jobs ------------------------------------------------------------------------------ */

static void array_make(struct ref_array *a, unsigned log2, uint64_t count, bool bits)
{
	a->given = true;
	a->log2 = log2;
	a->count = count;
	a->bytes = test_alloc(array_bytes(a, bits) + 8, 1);
}

static void array_random(struct ref_array *a, uint64_t count, unsigned percent)
{
	uint64_t i;

	array_make(a, 0, count, true);
	memset(a->bytes, 0, (count + 7) / 8);
	for (i = 0; i < (count + 7) / 8 * 8; i++)
		a->bytes[i / 8] |= (uint8_t)chance(percent) << (i % 8);
}

static void array_noise(struct ref_array *a, unsigned log2, uint64_t count, bool bits)
{
	uint64_t i;

	array_make(a, log2, count, bits);
	for (i = 0; i < array_bytes(a, bits); i++)
		a->bytes[i] = (uint8_t)test_random(&bed->seed);
}

/* A value from a small or the full range, one that hashes to set 0, or a float such as NaN and -0. */
static uint64_t random_value(unsigned how, uint64_t spread, unsigned log2)
{
	static const float odd[] = { 0.0f, -0.0f, 1.0f, -1.5f, 3e38f };
	uint64_t x = test_random(&bed->seed);

	switch (how) {
	case 0:
		return x % spread;
	case 1:
		return x;
	case 2:				/* its product with 0x9E3779B1 is small: set 0 of any table */
		return (uint32_t)((x % 64) * 0x144cbc89u);
	case 3: {
		float f = chance(10) ? __builtin_nanf("") : odd[x % 5];
		double d = f;

		x = 0;
		if (log2 == 3)
			memcpy(&x, &d, 8);
		else
			memcpy(&x, &f, 4);
		return x;
	}
	default:
		return spread;
	}
}

static void array_values(struct ref_array *a, unsigned log2, uint64_t count, int how)
{
	const uint64_t spread = 1 + any(chance(50) ? 20 : 3000);
	uint64_t i;

	how = how < 0 ? (int)any(log2 >= 2 ? 5 : 3) : how;
	array_make(a, log2, count, false);
	for (i = 0; i < count; i++)
		ref_put(a, i, random_value(how, spread, log2));
}

static uint64_t random_size(void)
{
	switch (any(12)) {
	case 0:
		return any(3);
	case 1:
		return 1 + any(5000);
	case 2:
		return 64 * any(40);
	default:
		return any(200);
	}
}

/* Counts with a small sum, and in some jobs a few absurdly large ones. */
static void make_counts(struct ref_job *j, uint64_t n, uint64_t *total)
{
	struct ref_array *a = &j->a[GTU_SCU_COUNT];
	const uint64_t most = chance(20) ? 1 + any(600) : 1 + any(20);
	const bool absurd = chance(8);
	uint64_t i, c;

	array_make(a, 2 + any(2), n, false);
	for (i = 0, *total = 0; i < n; i++) {
		c = any(most + 1);
		if (*total + c > 12000)
			c = any(2);
		*total += c;
		if (absurd && chance(3))
			c = chance(50) ? UINT64_MAX - any(3) : (1ull << 32) - 1 - any(3);
		ref_put(a, i, c);
	}
}

static void make_indices(struct ref_job *j, uint64_t n, uint64_t data, bool runs)
{
	struct ref_array *a = &j->a[GTU_SCU_INDEX];
	const bool wrong = chance(10);
	uint64_t i, x, c;

	array_make(a, 2 + any(2), n, false);
	for (i = 0; i < n; i++) {
		c = runs ? ref_get(&j->a[GTU_SCU_COUNT], i) : 1;
		if (runs && c > data && c < 12000)
			ref_put(&j->a[GTU_SCU_COUNT], i, c = data ? any(data) : 0);
		x = c <= data ? any(data - c + 1) : any(data);
		if (!c)
			x = test_random(&bed->seed);	/* never used */
		if (wrong && chance(2))
			x = chance(50) ? data + any(3) : UINT64_MAX - any(2);
		ref_put(a, i, x);
	}
}

/* Capacity of an output: usually enough; sometimes exact, too small or 0. */
static uint64_t capacity(uint64_t wanted)
{
	switch (any(8)) {
	case 0:
		return any(wanted + 1);
	case 1:
		return any(4) ? wanted : 0;
	default:
		return wanted + any(70);
	}
}

static void random_job(struct ref_job *j, struct ref_tables *t, uint64_t *table_bytes)
{
	const uint64_t n = random_size();
	unsigned width = any(4);
	uint64_t total = n, filter_lines = 16ull << any(5), group_lines = 16ull << any(4), i;
	bool indexed, runs;

	memset(j, 0, sizeof(*j));
	j->op = GTU_OP_SCU_BITMASK + any(5);
	j->lanes = gtu_dev_config(bed->f->dev)->scu_width;
	j->latency = gtu_dev_config(bed->f->dev)->scu_latency;
	indexed = j->op == GTU_OP_SCU_ACCESS || j->op == GTU_OP_SCU_EXPAND;
	runs = j->op == GTU_OP_SCU_REPLICATE || j->op == GTU_OP_SCU_EXPAND;
	if (j->op == GTU_OP_SCU_BITMASK) {
		j->type = any(width >= 2 ? 3 : 2);
		j->cmp = any(6);
		array_values(&j->a[GTU_SCU_DATA], width, n, j->type == GTU_TYPE_FLOAT ? 3 : -1);
		j->imm = n && chance(80) ? ref_get(&j->a[GTU_SCU_DATA], any(n)) : any(20);
		array_noise(&j->a[GTU_SCU_OUT], 0, chance(90) ? n + any(20) : any(n + 1), true);
		return;
	}
	if (runs)
		make_counts(j, n, &total);
	if (indexed && (runs || chance(80))) {
		const uint64_t data = chance(5) ? any(2) : 1 + any(6000);

		array_values(&j->a[GTU_SCU_DATA], width, data, -1);
		make_indices(j, n, data, runs);
	} else if (indexed) {
		width = 2 + any(2);
		array_values(&j->a[GTU_SCU_INDEX], width, n, -1);
		j->a[GTU_SCU_DATA].log2 = width;	/* not given, but defines the width */
	} else {
		array_values(&j->a[GTU_SCU_DATA], width, n, -1);
	}
	if (chance(60))
		array_random(&j->a[GTU_SCU_MASK], n + any(9), any(6) * 20);
	j->step = any(4);
	if (j->step == GTU_STEP_PRODUCE || j->step == GTU_STEP_FUSED) {
		const unsigned kind = any(5);

		j->unique = kind == 0 || kind == 3;
		j->best = kind == 1 || kind == 4;
		j->group = kind >= 2;
		j->keep = false;
	}
	if (j->best) {
		const unsigned log2 = 2 + any(2), which = 1 + any(3);
		const int how = (j->type = any(3)) == GTU_TYPE_FLOAT ? 3 : -1;

		j->a[GTU_SCU_COST_GATHERED].log2 = j->a[GTU_SCU_COST_INPUT].log2 = log2;
		if (which & 1)
			array_values(&j->a[GTU_SCU_COST_GATHERED], log2,
				     indexed ? (j->a[GTU_SCU_DATA].given && chance(80) ?
						j->a[GTU_SCU_DATA].count : any(3000)) : n, how);
		if (which & 2)
			array_values(&j->a[GTU_SCU_COST_INPUT], log2, n + any(3), how);
	}
	if (j->group) {
		j->target = any(8);
		j->imm = chance(50) ? any(1000) : test_random(&bed->seed);
	}
	if (j->step != GTU_STEP_PRODUCE)
		array_noise(&j->a[GTU_SCU_OUT], width, capacity(total), false);
	if (j->unique || j->best) {
		const uint64_t set = 16 * ((1u << (width < 2 ? 2 : width)) +
					   (j->best ? 1u << j->a[GTU_SCU_COST_GATHERED].log2 : 0));

		if ((j->step == GTU_STEP_PRODUCE && !j->group) || chance(70))
			array_noise(&j->a[GTU_SCU_FILTER], 0, capacity(total), true);
		j->a[GTU_SCU_FILTER_TABLE].given = true;
		j->a[GTU_SCU_FILTER_TABLE].count = filter_lines;
		table_bytes[0] = filter_lines / 16 * (set + 1);
	} else if (j->group && chance(50)) {
		array_random(&j->a[GTU_SCU_FILTER], capacity(total), 60);
	}
	if (j->group) {
		array_noise(&j->a[GTU_SCU_REORDER], 2, capacity(total), false);
		j->a[GTU_SCU_GROUP_TABLE].given = true;
		j->a[GTU_SCU_GROUP_TABLE].count = group_lines;
		table_bytes[1] = group_lines / 16 * 1024;
	}
	if (j->step == GTU_STEP_APPLY && chance(50)) {
		array_random(&j->a[GTU_SCU_FILTER], capacity(total), any(6) * 20);
	} else if (j->step == GTU_STEP_APPLY) {
		struct ref_array *a = &j->a[GTU_SCU_REORDER];

		/* random positions with holes, sometimes one out of range */
		array_make(a, 2, capacity(total), false);
		for (i = 0; i < a->count; i++)
			ref_put(a, i, chance(20) ? 0xffffffff : any(j->a[GTU_SCU_OUT].count ?
								   j->a[GTU_SCU_OUT].count : 1));
		if (chance(10) && a->count)
			ref_put(a, any(a->count), j->a[GTU_SCU_OUT].count + any(2));
	}
	/* without an operand that limits the output, an absurd count would run forever: replace it */
	if (j->op == GTU_OP_SCU_REPLICATE && j->unique + j->best && !j->group && !j->a[GTU_SCU_FILTER].given)
		for (i = 0; i < n; i++)
			if (ref_get(&j->a[GTU_SCU_COUNT], i) > 12000)
				ref_put(&j->a[GTU_SCU_COUNT], i, 3);
	ref_tables_open(t, filter_lines / 16, group_lines / 16);
}

#endif
