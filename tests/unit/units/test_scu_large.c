// SPDX-License-Identifier: MIT
/* Tests the SCU with megabytes of data: non-temporal stores, many quanta, page lists of several levels. */
#include "tests/unit/fixture.h"
#include "firmware-model/units/scu/scu_kernels.h"
#include "tests/unit/scu_reference.h"

#define RW (GTU_REGION_READ | GTU_REGION_WRITE)

static const char *const isas[] = { "portable", "avx2", "avx512" };

/* Run the reference job on the device and compare OUT and the bytes around it. */
static void compare(struct ref_job *j, uint32_t param, bool scattered, uint64_t seed)
{
	struct fx *f = fx_open(NULL, seed);
	struct gtu_hw_desc desc = { .opcode = j->op, .param = param };
	struct fx_buffer *out = NULL;
	uint64_t out_offset = 0, bytes, i;
	struct gtu_hw_cpl c;

	for (i = 0; i < GTU_DESC_OPERANDS; i++) {
		const bool bits = i == GTU_SCU_MASK;
		const uint64_t offset = 8 * (1 + test_random(&seed) % 100);
		struct fx_buffer *b;

		if (!j->a[i].given)
			continue;
		bytes = bits ? (j->a[i].count + 7) / 8 : j->a[i].count << j->a[i].log2;
		b = fx_buffer(f, offset + bytes + 64);
		memset(b->at, 0x3c, b->bytes);
		memcpy(b->at + offset, j->a[i].bytes, bytes);
		desc.operand[i] = (struct gtu_hw_operand){
			.key = scattered ? fx_region_scattered(f, b, 0, b->bytes, RW, 2 + i % 2) :
					   fx_region(f, b, 0, b->bytes, RW),
			.count = (uint32_t)j->a[i].count, .offset = offset,
		};
		if (i == GTU_SCU_OUT)
			out = b, out_offset = offset;
	}
	j->lanes = gtu_dev_config(f->dev)->scu_width;
	j->latency = gtu_dev_config(f->dev)->scu_latency;
	ref_run(j, NULL);
	bytes = j->a[GTU_SCU_OUT].count << j->a[GTU_SCU_OUT].log2;
	for (unsigned k = 0; k < 3; k++) {
		if (!gtu_scu_kernels_use(isas[k]))
			continue;
		memset(out->at + out_offset, 0, bytes);
		c = fx_do(f, &desc, 1 + test_random(&seed) % 50000);
		CHECK_EQ(c.status, j->status);
		CHECK_EQ(c.count, j->count);
		CHECK_EQ(c.cycles, j->cycles);
		CHECK(!memcmp(out->at + out_offset, j->a[GTU_SCU_OUT].bytes, bytes));
		for (i = 0; i < out_offset; i++)
			CHECK_EQ(out->at[i], 0x3c);
		for (i = out_offset + bytes; i < out->bytes; i++)
			CHECK_EQ(out->at[i], 0x3c);
	}
	gtu_scu_kernels_use(NULL);
}

static void give(struct ref_job *j, unsigned i, unsigned log2, uint64_t count, uint64_t bytes)
{
	j->a[i] = (struct ref_array){ true, log2, count, test_alloc(bytes + 8, 1) };
}

static void data(unsigned width, uint64_t n, bool scattered, uint64_t seed)
{
	struct ref_job j = { .op = GTU_OP_SCU_DATA, .a[GTU_SCU_DATA].log2 = width };

	give(&j, GTU_SCU_DATA, width, n, n << width);
	give(&j, GTU_SCU_MASK, 0, n, n / 8 + 1);
	give(&j, GTU_SCU_OUT, width, n, n << width);
	for (uint64_t i = 0; i < n << width; i++)
		j.a[GTU_SCU_DATA].bytes[i] = (uint8_t)test_random(&seed);
	for (uint64_t i = 0; i < n / 8 + 1; i++)
		j.a[GTU_SCU_MASK].bytes[i] = (uint8_t)(test_random(&seed) | test_random(&seed));
	compare(&j, width, scattered, seed);
	CHECK(j.count << width > 3 << 20);
	test_end(NULL);
}

TEST(compaction_of_megabytes_matches_the_reference)
{
	data(0, 6000001, false, 1);
	data(2, 1500003, false, 2);
	data(3, 1000007, false, 3);
	data(2, 1500003, true, 4);
}

static void expand(unsigned most, bool scattered, uint64_t seed)
{
	const uint64_t n = 3000000 / most, elements = 1 << 20;
	struct ref_job j = { .op = GTU_OP_SCU_EXPAND };
	uint64_t i, total = 0;

	give(&j, GTU_SCU_DATA, 2, elements, elements * 4);
	give(&j, GTU_SCU_INDEX, 3, n, n * 8);
	give(&j, GTU_SCU_COUNT, 2, n, n * 4);
	for (i = 0; i < elements; i++)
		ref_put(&j.a[GTU_SCU_DATA], i, test_random(&seed));
	for (i = 0; i < n; i++) {
		const uint64_t c = test_random(&seed) % (most + 1);

		ref_put(&j.a[GTU_SCU_COUNT], i, c);
		ref_put(&j.a[GTU_SCU_INDEX], i, c ? test_random(&seed) % (elements - c + 1) : UINT64_MAX);
		total += c;
	}
	give(&j, GTU_SCU_OUT, 2, total, total * 4);
	compare(&j, 2 | 3 << GTU_SCU_INDEX_SHIFT | 2 << GTU_SCU_COUNT_SHIFT, scattered, seed);
	CHECK(total * 4 > 3 << 20);
	test_end(NULL);
}

TEST(expansion_of_megabytes_matches_the_reference)
{
	expand(3, false, 1);
	expand(32, false, 2);
	expand(5000, false, 3);
	expand(32, true, 4);
}

TEST_MAIN
