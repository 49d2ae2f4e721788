// SPDX-License-Identifier: MIT
/*
 * Compares the device's SCU with the reference implementation on random jobs. Each job runs several times, with
 * different step budgets, kinds of regions and instruction sets, with and without observers. Bytes, completions and
 * cycles must equal those of the reference in every run.
 */
#include "firmware-model/units/scu/scu_kernels.h"
#include "scu_bed.h"

/* ---- Running one job -------------------------------------------------------------------------- */

struct variant {
	bool scattered, at_end, watched;
	uint64_t budget;		/* cycles per call; 0: random */
	const char *isa;
	uint64_t seed;
};

static bool is_table(unsigned i)
{
	return i == GTU_SCU_FILTER_TABLE || i == GTU_SCU_GROUP_TABLE;
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

	desc.operand[0] = (struct gtu_hw_operand){
		.key = place(GTU_SCU_OPERANDS, false, sizeof(*block) * GTU_SCU_OPERANDS, false, &block_at),
		.count = GTU_SCU_OPERANDS,
	};
	block = (void *)block_at;
	memset(block, 0, sizeof(*block) * GTU_SCU_OPERANDS);
	for (unsigned i = 0; i < GTU_SCU_OPERANDS; i++) {
		const struct ref_array *a = &j->a[i];
		const uint64_t bytes = is_table(i) ? after[i].count : array_bytes(a, is_bits(j, i));
		uint64_t align = is_table(i) ? 64 : is_bits(j, i) ? 1 : 1ull << a->log2, offset;
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
		memcpy(at[i], is_table(i) ? after[i].bytes : a->bytes, bytes);
		if (!v->at_end)
			memset(at[i] + bytes, 0x5a, 64);
	}
	gtu_scu_kernels_use(v->isa);
	gtu_dev_watch(bed->f->dev, v->watched ? &watch : NULL);
	bed->f->seed = v->seed;
	cpl = fx_do(bed->f, &desc, v->budget);
	CHECK(cpl.cookie == desc.cookie);
	for (unsigned i = 0; i < GTU_SCU_OPERANDS; i++) {
		const uint64_t bytes = is_table(i) ? after[i].count : array_bytes(&j->a[i], is_bits(j, i));

		if (!at[i])
			continue;
		memcpy(after[i].bytes, at[i], bytes);
		for (uint64_t k = 1; k <= before[i]; k++)
			CHECKF(at[i][-(int64_t)k] == 0xa5, "byte %lld of operand %u was written", -(long long)k, i);
		for (uint64_t k = 0; k < 64 && !v->at_end; k++)
			CHECKF(at[i][bytes + k] == 0x5a, "byte %llu behind operand %u was written",
			       (unsigned long long)k, i);
	}
	return cpl;
}

/* The filter table in memory must hold the reference's ways in the documented layout. */
static void check_filter_table(const struct ref_job *j, const struct ref_tables *t, const uint8_t *bytes)
{
	const uint64_t sets = j->a[GTU_SCU_FILTER_TABLE].count / 16;
	const unsigned id = j->a[GTU_SCU_DATA].log2 < 2 ? 4 : 1u << j->a[GTU_SCU_DATA].log2;
	const unsigned cost = j->best ? 1u << j->a[GTU_SCU_COST_GATHERED].log2 : 0;
	uint64_t s, x;

	for (s = 0; s < sets; s++) {
		const uint8_t *set = bytes + s * 16 * (id + cost), state = bytes[sets * 16 * (id + cost) + s];

		CHECK_EQ(state, t->next[s] | (t->filled[s] == 16 ? 0x80 : 0));
		for (unsigned w = 0; w < t->filled[s]; w++) {
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
	memset(after, 0, GTU_SCU_OPERANDS * sizeof(*after));
	for (unsigned i = 0; i < GTU_SCU_OPERANDS; i++) {
		if (!j->a[i].given)
			continue;
		after[i] = j->a[i];
		if (is_table(i)) {
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

		if (!j->a[i].given || is_table(i))
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

			if (!j->a[i].given || is_table(i))
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
	CHECKF(bed->streams > n && bed->gathers > n, "the device reported %" PRIu64 " streams and %" PRIu64 " gathers",
	       bed->streams, bed->gathers);
	gtu_scu_kernels_use(NULL);
}

TEST(random_jobs_match_the_reference) { random_cases(TEST_CASES(6000), 1, NULL); }

TEST(random_jobs_of_a_narrow_unit_match_the_reference)
{
	random_cases(TEST_CASES(3000), 2, &(struct gtu_dev_config){ .scu_width = 1, .scu_latency = 7, .scu_merge = 1 });
}

TEST(random_jobs_of_a_wide_unit_match_the_reference)
{
	random_cases(TEST_CASES(2000), 3, &(struct gtu_dev_config){ .scu_width = 64, .scu_latency = 33, .scu_merge = 32 });
}

TEST_MAIN
