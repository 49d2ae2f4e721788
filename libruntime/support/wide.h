/* SPDX-License-Identifier: MIT */
/*
 * Numbers >= 0 beyond the range of a double, in 64 bits, for numbers of shortest paths: some 2^2000
 * lead from corner to corner of a grid of 1000 by 1000. 20 bits of exponent, then 44 of fraction;
 * relative error 2^-45 an operation, so that a sum of d numbers is d 2^-45 away at most. 0 is 0, and
 * greater numbers are greater integers. Valid C and CUDA C++.
 */
#ifndef GTU_SUPPORT_WIDE_H
#define GTU_SUPPORT_WIDE_H

#include <stdint.h>
#include <string.h>

#ifdef __CUDACC__
#define GTU_WIDE_FN __host__ __device__ static inline
#else
#define GTU_WIDE_FN static inline
#endif

typedef uint64_t gtu_wide;

#define GTU_WIDE_BIAS	(1ll << 19)
#define GTU_WIDE_ONE	((gtu_wide)GTU_WIDE_BIAS << 44)
#define GTU_WIDE_MOST	(~(gtu_wide)0)		/* 2^524287 or more */

/* m 2^e, m = 0 or from 1 to 2: sums as exact as those of doubles. */
struct gtu_wide_sum {
	double m;
	int64_t e;
};

/* From 1 to 2. */
GTU_WIDE_FN double gtu_wide_significand(gtu_wide a)
{
	const uint64_t bits = 1023ull << 52 | (a & ((1ull << 44) - 1)) << 8;
	double x;

	memcpy(&x, &bits, sizeof(x));
	return x;
}

GTU_WIDE_FN int64_t gtu_wide_exponent(gtu_wide a)
{
	return (int64_t)(a >> 44) - GTU_WIDE_BIAS;
}

/* 2^e, 0 below the range of a normal double; e < 1024. */
GTU_WIDE_FN double gtu_power_of_2(int64_t e)
{
	const uint64_t bits = e < -1022 ? 0 : (uint64_t)(e + 1023) << 52;
	double x;

	memcpy(&x, &bits, sizeof(x));
	return x;
}

/* x 2^e of a normal double x > 0, or of 0. */
GTU_WIDE_FN gtu_wide gtu_wide_of(double x, int64_t e)
{
	uint64_t bits;

	if (x == 0)
		return 0;
	memcpy(&bits, &x, sizeof(bits));
	e += (int64_t)(bits >> 52) - 1023 + GTU_WIDE_BIAS;
	if (e < 1)
		return 0;
	if (e >= 2 * GTU_WIDE_BIAS - 1)
		return GTU_WIDE_MOST;
	/* rounding can carry into the exponent */
	return ((uint64_t)e << 44) + (((bits & ((1ull << 52) - 1)) + 128) >> 8);
}

/* *s += x */
GTU_WIDE_FN void gtu_wide_sum_add(struct gtu_wide_sum *s, struct gtu_wide_sum x)
{
	struct gtu_wide_sum more = *s;

	if (more.m == 0 || (x.m != 0 && x.e > more.e)) {
		more = x;
		x = *s;
	}
	if (x.m != 0)
		more.m += x.m * gtu_power_of_2(x.e - more.e);
	if (more.m >= 2) {
		more.m /= 2;
		more.e++;
	}
	*s = more;
}

GTU_WIDE_FN struct gtu_wide_sum gtu_wide_sum_of(gtu_wide a)
{
	const struct gtu_wide_sum s = { a ? gtu_wide_significand(a) : 0, gtu_wide_exponent(a) };

	return s;
}

GTU_WIDE_FN gtu_wide gtu_wide_add(gtu_wide a, gtu_wide b)
{
	struct gtu_wide_sum s = gtu_wide_sum_of(a);

	gtu_wide_sum_add(&s, gtu_wide_sum_of(b));
	return gtu_wide_of(s.m, s.e);
}

/* @a / @b of @b > 0. */
GTU_WIDE_FN gtu_wide gtu_wide_quotient(gtu_wide a, gtu_wide b)
{
	return a ? gtu_wide_of(gtu_wide_significand(a) / gtu_wide_significand(b),
			       gtu_wide_exponent(a) - gtu_wide_exponent(b)) : 0;
}

/* @a as a double, of @a < 2^1024. */
GTU_WIDE_FN double gtu_wide_double(gtu_wide a)
{
	return a ? gtu_wide_significand(a) * gtu_power_of_2(gtu_wide_exponent(a)) : 0;
}

GTU_WIDE_FN gtu_wide gtu_wide_product(gtu_wide a, gtu_wide b)
{
	return a && b ? gtu_wide_of(gtu_wide_significand(a) * gtu_wide_significand(b),
				    gtu_wide_exponent(a) + gtu_wide_exponent(b)) : 0;
}

#endif
