// SPDX-License-Identifier: MIT
/* Wide numbers (libruntime/support/wide.h) beside long doubles, and at the ends of their range. */
#include <math.h>
#include <stdbool.h>

#include "libruntime/support/wide.h"
#include "tests/unit/test.h"

#define AT(e)	((uint64_t)(GTU_WIDE_BIAS + (e)) << 44)		/* 2^e */

static long double value(gtu_wide a)
{
	return a ? ldexpl(gtu_wide_significand(a), (int)gtu_wide_exponent(a)) : 0;
}

static bool near(gtu_wide got, long double want)
{
	return fabsl(value(got) - want) <= ldexpl(want, -45);
}

/* From 2^-3000 to 2^3000, often close to each other. */
static gtu_wide draw(uint64_t *seed)
{
	const int64_t wide = test_random(seed) % 2 ? 30 : 3000;

	return AT((int64_t)(test_random(seed) % (2 * wide)) - wide) | (test_random(seed) & ((1ull << 44) - 1));
}

TEST(operations_agree_with_long_doubles)
{
	uint64_t seed = 8;

	for (unsigned i = 0; i < 20000; i++) {
		const gtu_wide a = draw(&seed), b = draw(&seed);

		CHECK(near(gtu_wide_add(a, b), value(a) + value(b)));
		CHECK_EQ(gtu_wide_add(a, b), gtu_wide_add(b, a));
		CHECK(near(gtu_wide_quotient(a, b), value(a) / value(b)));
		CHECK(near(gtu_wide_product(a, b), value(a) * value(b)));
		CHECK_EQ(a < b, value(a) < value(b));
		/* the same far away */
		CHECK_EQ(gtu_wide_add(a + AT(0) / 2, b + AT(0) / 2), gtu_wide_add(a, b) + AT(0) / 2);
	}
}

TEST(sums_of_many_numbers_keep_their_precision)
{
	struct gtu_wide_sum sum = { 0 };
	uint64_t seed = 9;
	long double want = 0;

	for (unsigned i = 0; i < 300000; i++) {
		const gtu_wide a = draw(&seed);

		gtu_wide_sum_add(&sum, gtu_wide_sum_of(a));
		want += value(a);
	}
	CHECK(fabsl(ldexpl(sum.m, (int)sum.e) - want) <= ldexpl(want, -53) * 300000);
	/* the same number each time, which always rounds the same way */
	sum = (struct gtu_wide_sum){ 0 };
	for (unsigned i = 0; i < 300000; i++)
		gtu_wide_sum_add(&sum, (struct gtu_wide_sum){ 4 / 3.0, 700 });
	CHECK(fabsl(ldexpl(sum.m, (int)sum.e - 700) - 400000) <= ldexpl(400000, -53) * 300000);
	CHECK(sum.m >= 1 && sum.m < 2);
}

TEST(operations_saturate_at_the_ends_of_the_range)
{
	const gtu_wide greatest = GTU_WIDE_MOST - (1ull << 44), least = 1ull << 44;

	CHECK_EQ(gtu_wide_of(0, 7), 0);
	CHECK_EQ(gtu_wide_of(1, 0), GTU_WIDE_ONE);
	CHECK_EQ(gtu_wide_of(1, GTU_WIDE_BIAS - 1), GTU_WIDE_MOST);
	CHECK(gtu_wide_of(2 - 0x1p-52, GTU_WIDE_BIAS - 3) < GTU_WIDE_MOST);
	CHECK_EQ(gtu_wide_of(1.5, 2), AT(2) | 1ull << 43);
	CHECK_EQ(gtu_wide_add(0, 0), 0);
	CHECK_EQ(gtu_wide_add(0, AT(-7)), AT(-7));
	CHECK_EQ(gtu_wide_product(0, greatest), 0);
	CHECK_EQ(gtu_wide_quotient(0, greatest), 0);
	/* a significand that rounds to 2 */
	CHECK_EQ(gtu_wide_of(2 - 0x1p-52, 3), AT(4));
	CHECK_EQ(gtu_wide_add(greatest, greatest), GTU_WIDE_MOST);
	CHECK_EQ(gtu_wide_add(GTU_WIDE_MOST, GTU_WIDE_ONE), GTU_WIDE_MOST);
	CHECK_EQ(gtu_wide_product(greatest, AT(1)), GTU_WIDE_MOST);
	CHECK_EQ(gtu_wide_quotient(least, AT(1)), 0);
	CHECK(gtu_wide_double(AT(-5)) == 0.03125);
	CHECK(gtu_wide_double(AT(-1022)) == 0x1p-1022);
	CHECK(gtu_wide_double(AT(-1023)) == 0);
	CHECK(gtu_wide_double(0) == 0);
}

TEST_MAIN
