// SPDX-License-Identifier: MIT
/*
 * Compares the device's SCU with the reference implementation on random jobs. Each job runs several times, with
 * different step budgets, kinds of regions and instruction sets, with and without observers. Bytes, completions and
 * cycles must equal those of the reference in every run.
 */
#include "tests/unit/fixture.h"
#include "firmware-model/units/scu/scu_kernels.h"
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

/* ---- Running one job -------------------------------------------------------------------------- */

struct variant {
	bool scattered, at_end, watched;
	uint64_t budget;		/* cycles per call; 0: random */
	const char *isa;
	uint64_t seed;
};

static uint64_t array_bytes(const struct ref_array *a, bool bits)
{
	return bits ? (a->count + 7) / 8 : a->count << a->log2;
}

static bool is_bits(const struct ref_job *j, unsigned i)
{
	return i == GTU_SCU_MASK || i == GTU_SCU_FILTER ||
	       (i == GTU_SCU_OUT && j->op == GTU_OP_SCU_BITMASK);
}

static uint32_t param_of(const struct ref_job *j)
{
	const bool runs = j->op == GTU_OP_SCU_REPLICATE || j->op == GTU_OP_SCU_EXPAND;
	const bool indexed = j->op == GTU_OP_SCU_ACCESS || j->op == GTU_OP_SCU_EXPAND;

	return j->a[GTU_SCU_DATA].log2 | (indexed ? j->a[GTU_SCU_INDEX].log2 << GTU_SCU_INDEX_SHIFT : 0) |
	       (runs ? j->a[GTU_SCU_COUNT].log2 << GTU_SCU_COUNT_SHIFT : 0) |
	       (j->best || j->op == GTU_OP_SCU_BITMASK ? j->type << GTU_SCU_TYPE_SHIFT : 0) |
	       j->cmp << GTU_SCU_CMP_SHIFT | j->step << GTU_SCU_STEP_SHIFT |
	       (j->unique ? GTU_SCU_UNIQUE : 0) | (j->best ? GTU_SCU_BEST : 0) |
	       (j->group ? GTU_SCU_GROUP : 0) | (j->keep ? GTU_SCU_KEEP : 0) |
	       (j->best ? j->a[GTU_SCU_COST_GATHERED].log2 << GTU_SCU_COST_SHIFT : 0) |
	       j->target << GTU_SCU_TARGET_SHIFT;
}

static void on_stream(struct gtu_watch *w, const struct gtu_access *a, uint64_t addr, uint64_t bytes)
{
	(void)w, (void)a, (void)addr;
	CHECK(bytes > 0);
	bed->streams++;
}

static void on_gather(struct gtu_watch *w, const struct gtu_access *a, const uint64_t *addr, unsigned n,
		      unsigned width)
{
	(void)w, (void)a, (void)addr, (void)width;
	CHECK(n >= 1 && n <= GTU_WARP);
	bed->gathers++;
}

/*
 * Run @j on the device, from copies of its arrays. @after receives the contents of the operands after the run.
 * Checks that the bytes around each operand did not change.
 */
static struct gtu_hw_cpl run_on_device(const struct ref_job *j, const struct variant *v,
				       struct ref_array after[GTU_SCU_OPERANDS])
{
	static struct gtu_watch watch = { .stream = on_stream, .gather = on_gather };
	struct gtu_hw_operand *block;
	uint8_t *at[GTU_SCU_OPERANDS], *block_at;
	uint64_t before[GTU_SCU_OPERANDS];
	struct gtu_hw_desc desc = {
		.opcode = j->op, .flags = GTU_DESC_BLOCK, .param = param_of(j), .cookie = any(UINT64_MAX),
		.imm = j->imm, .limit = j->limit / 1024,
	};
	struct gtu_hw_cpl cpl;
	unsigned i;
	uint64_t k;

	desc.operand[0] = (struct gtu_hw_operand){
		.key = place(GTU_SCU_OPERANDS, false, sizeof(*block) * GTU_SCU_OPERANDS, false, &block_at),
		.count = GTU_SCU_OPERANDS,
	};
	block = (void *)block_at;
	memset(block, 0, sizeof(*block) * GTU_SCU_OPERANDS);
	for (i = 0; i < GTU_SCU_OPERANDS; i++) {
		const struct ref_array *a = &j->a[i];
		const bool table = i == GTU_SCU_FILTER_TABLE || i == GTU_SCU_GROUP_TABLE;
		const uint64_t bytes = table ? after[i].count : array_bytes(a, is_bits(j, i));
		uint64_t align = table ? 64 : is_bits(j, i) ? 1 : 1ull << a->log2, offset;
		const bool rest = (i == GTU_SCU_DATA || i == GTU_SCU_COST_GATHERED) && chance(30) &&
				  (j->op == GTU_OP_SCU_ACCESS || j->op == GTU_OP_SCU_EXPAND);

		at[i] = NULL;
		if (!a->given)
			continue;
		/* @at_end: the region ends with the operand, at the buffer's end, so that an access beyond it faults */
		offset = POOL_GUARD + align * any(32);
		block[i].key = place(i, v->scattered && chance(80), offset + bytes + (v->at_end ? 0 : rest ? 0 : 64),
				     v->at_end, &at[i]);
		block[i].count = rest ? GTU_COUNT_TO_END : (uint32_t)a->count;
		block[i].offset = offset;
		before[i] = offset;
		memset(at[i], 0xa5, offset);
		at[i] += offset;
		memcpy(at[i], table ? after[i].bytes : a->bytes, bytes);
		if (!v->at_end)
			memset(at[i] + bytes, 0x5a, 64);
	}
	gtu_scu_kernels_use(v->isa);
	gtu_dev_watch(bed->f->dev, v->watched ? &watch : NULL);
	bed->f->seed = v->seed;
	cpl = fx_do(bed->f, &desc, v->budget);
	CHECK(cpl.cookie == desc.cookie);
	for (i = 0; i < GTU_SCU_OPERANDS; i++) {
		const bool table = i == GTU_SCU_FILTER_TABLE || i == GTU_SCU_GROUP_TABLE;
		const uint64_t bytes = table ? after[i].count : array_bytes(&j->a[i], is_bits(j, i));

		if (!at[i])
			continue;
		memcpy(after[i].bytes, at[i], bytes);
		for (k = 1; k <= before[i]; k++)
			CHECKF(at[i][-(int64_t)k] == 0xa5, "byte %lld of operand %u was written", -(long long)k, i);
		for (k = 0; k < 64 && !v->at_end; k++)
			CHECKF(at[i][bytes + k] == 0x5a, "byte %llu behind operand %u was written",
			       (unsigned long long)k, i);
	}
	return cpl;
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

/* The filter table in memory must hold the reference's ways in the documented layout. */
static void check_filter_table(const struct ref_job *j, const struct ref_tables *t, const uint8_t *bytes)
{
	const uint64_t sets = j->a[GTU_SCU_FILTER_TABLE].count / 16;
	const unsigned id = j->a[GTU_SCU_DATA].log2 < 2 ? 4 : 1u << j->a[GTU_SCU_DATA].log2;
	const unsigned cost = j->best ? 1u << j->a[GTU_SCU_COST_GATHERED].log2 : 0;
	uint64_t s, x;
	unsigned w;

	for (s = 0; s < sets; s++) {
		const uint8_t *set = bytes + s * 16 * (id + cost), state = bytes[sets * 16 * (id + cost) + s];

		CHECK_EQ(state, t->next[s] | (t->filled[s] == 16 ? 0x80 : 0));
		for (w = 0; w < t->filled[s]; w++) {
			x = 0;
			memcpy(&x, set + w * id, id);
			CHECK(x == t->way[16 * s + w].id);
			x = 0;
			memcpy(&x, set + 16 * id + w * cost, cost);
			CHECK(!cost || x == t->way[16 * s + w].cost);
		}
	}
}

static void after_make(const struct ref_job *j, const uint64_t *table_bytes, uint8_t *const *table,
		       struct ref_array after[GTU_SCU_OPERANDS])
{
	unsigned i;

	memset(after, 0, GTU_SCU_OPERANDS * sizeof(*after));
	for (i = 0; i < GTU_SCU_OPERANDS; i++) {
		const bool is_table = i == GTU_SCU_FILTER_TABLE || i == GTU_SCU_GROUP_TABLE;

		if (!j->a[i].given)
			continue;
		after[i] = j->a[i];
		if (is_table) {
			after[i].count = table_bytes[i - GTU_SCU_FILTER_TABLE];
			after[i].bytes = test_alloc(after[i].count, 1);
			memcpy(after[i].bytes, table[i - GTU_SCU_FILTER_TABLE], after[i].count);
		} else {
			after[i].bytes = test_alloc(array_bytes(&j->a[i], is_bits(j, i)) + 8, 1);
		}
	}
}

static const char *const isas[] = { "portable", "avx2", "avx512" };

/* @most: the job's cycles; only short jobs get the smallest budgets. */
static struct variant random_variant(uint64_t most)
{
	struct variant v = {
		.scattered = chance(40), .at_end = chance(50), .watched = chance(25),
		.isa = isas[any(3)], .seed = test_random(&bed->seed),
	};

	if (!gtu_scu_kernels_use(v.isa))
		v.isa = NULL;
	switch (any(4)) {
	case 0:
		v.budget = most < 600 ? 1 : 1 + any(most / 8);
		break;
	case 1:
		v.budget = most < 5000 ? 0 : 1 + any(most / 32);
		break;
	case 2:
		v.budget = 1 + any(3000);
		break;
	default:
		v.budget = 1ull << 40;
	}
	return v;
}

/*
 * Run @j on the reference, then on the device in @variants variants. Returns the reference's status. @table: contents
 * of the tables before the job, replaced by those after it.
 */
static unsigned check_job(struct ref_job *j, struct ref_tables *t, const uint64_t *table_bytes,
		      uint8_t *const *table, unsigned variants, uint64_t seed)
{
	struct ref_job ran = *j;
	unsigned i, k;

	/* the reference works on copies: the device starts from the same bytes */
	for (i = 0; i < GTU_SCU_OPERANDS; i++) {
		const uint64_t bytes = array_bytes(&j->a[i], is_bits(j, i));

		if (!j->a[i].given || i == GTU_SCU_FILTER_TABLE || i == GTU_SCU_GROUP_TABLE)
			continue;
		ran.a[i].bytes = test_alloc(bytes + 8, 1);
		memcpy(ran.a[i].bytes, j->a[i].bytes, bytes);
	}
	ref_run(&ran, t);
	for (k = 0; k < variants; k++) {
		const struct variant v = random_variant(ran.cycles);
		struct ref_array after[GTU_SCU_OPERANDS];
		struct gtu_hw_cpl c;

		after_make(j, table_bytes, table, after);
		c = run_on_device(j, &v, after);
#define SAME(field, what)                                                                          \
	CHECKF(c.field == ran.what, "case %" PRIu64 " op 0x%x step %u param 0x%x %s budget %" PRIu64        \
	       ": " #field " is %" PRIu64 ", expected %" PRIu64 " (status %u)", seed, j->op, j->step,     \
	       param_of(j), v.isa, v.budget, (uint64_t)c.field, (uint64_t)ran.what, c.status)
		SAME(status, status);
		SAME(operand, place);
		SAME(element, element);
		SAME(needed, needed);
		SAME(count, count);
		SAME(dropped, dropped);
		SAME(cycles, cycles);
		for (i = 0; i < GTU_SCU_OPERANDS; i++) {
			const uint64_t bytes = array_bytes(&j->a[i], is_bits(j, i));

			if (!j->a[i].given || i == GTU_SCU_FILTER_TABLE || i == GTU_SCU_GROUP_TABLE)
				continue;
			CHECKF(!memcmp(after[i].bytes, ran.a[i].bytes, bytes),
			       "case %" PRIu64 " op 0x%x step %u param 0x%x %s budget %" PRIu64
			       ": operand %u differs (status %u)", seed, j->op, j->step, param_of(j), v.isa, v.budget, i,
			       c.status);
		}
		if (j->unique || j->best)
			check_filter_table(j, t, after[GTU_SCU_FILTER_TABLE].bytes);
		if (k + 1 == variants)
			for (i = 0; i < 2; i++)
				if (table_bytes[i])
					memcpy(table[i], after[GTU_SCU_FILTER_TABLE + i].bytes, table_bytes[i]);
	}
	return ran.status;
}

static void random_cases(unsigned n, uint64_t seed, const struct gtu_dev_config *config)
{
	unsigned i, b;
	void *mark;

	bed_open(seed, config);
	mark = test_mark();
	for (i = 0; i < n; i++) {
		const uint64_t this_seed = bed->seed;
		uint64_t table_bytes[2] = { 0, 0 };
		struct ref_tables t = { 0 };
		uint8_t *table[2] = { NULL, NULL };
		struct ref_job j;
		unsigned status;

		random_job(&j, &t, table_bytes);
		for (b = 0; b < 2; b++) {
			table[b] = test_alloc(table_bytes[b] + 1, 1);
			memset(table[b], (int)any(256), table_bytes[b]);
		}
		status = check_job(&j, &t, table_bytes, table, 3, this_seed);
		/* run again with the tables kept; a group table is valid only after a successful job */
		if (j.unique || j.best || (j.group && status == GTU_CPL_OK)) {
			j.keep = true;
			if (!j.group || status == GTU_CPL_OK)
				check_job(&j, &t, table_bytes, table, 1, this_seed);
		}
		test_end(mark);
	}
	gtu_scu_kernels_use(NULL);
}

TEST(random_jobs)
{
	random_cases(TEST_CASES(6000), 1, NULL);
}

TEST(random_jobs_of_a_narrow_unit)
{
	random_cases(TEST_CASES(3000), 2, &(struct gtu_dev_config){ .scu_width = 1, .scu_latency = 7, .scu_merge = 1 });
}

TEST(random_jobs_of_an_odd_unit)
{
	random_cases(TEST_CASES(2000), 3, &(struct gtu_dev_config){ .scu_width = 13, .scu_latency = 33, .scu_merge = 32 });
}

TEST_MAIN
