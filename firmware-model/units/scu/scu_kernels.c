// SPDX-License-Identifier: MIT
/* The SCU's inner loops in portable C, and the choice between instruction sets. */
#include <string.h>

#include "uapi/gtu/hw.h"
#include "scu_kernels.h"

/* ---- Compaction ------------------------------------------------------------------------------ */

/*
 * Words of mostly set bits go without branches (a dropped element is overwritten by the next), sparse
 * ones bit by bit.
 */
#define COMPACT(name, type)                                                                        \
	static size_t name(void *to, const void *from, const uint64_t *bits, size_t n)             \
	{                                                                                          \
		const type *in = from;                                                             \
		type *out = to;                                                                    \
		size_t i, j, k = 0;                                                                \
												   \
		for (i = 0; i < n; i += 64) {                                                      \
			uint64_t w = bits[i / 64];                                                 \
			const size_t end = n - i < 64 ? n - i : 64;                                \
												   \
			if (w == ~0ull) {                                                          \
				memcpy(out + k, in + i, 64 * sizeof(*in));                         \
				k += 64;                                                           \
			} else if (__builtin_popcountll(w) >= 16) {                                \
				for (j = 0; j < end; j++) {                                        \
					out[k] = in[i + j];                                        \
					k += w >> j & 1;                                           \
				}                                                                  \
			} else {                                                                   \
				for (; w; w &= w - 1)                                              \
					out[k++] = in[i + __builtin_ctzll(w)];                     \
			}                                                                          \
		}                                                                                  \
		return k;                                                                          \
	}
COMPACT(compact1, uint8_t)
COMPACT(compact2, scu_u16)
COMPACT(compact4, scu_u32)
COMPACT(compact8, scu_u64)

static size_t count(const uint64_t *bits, size_t words)
{
	size_t i, sum = 0;

	for (i = 0; i < words; i++)
		sum += __builtin_popcountll(bits[i]);
	return sum;
}

static void widen(uint64_t *to, const uint32_t *from, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		to[i] = from[i];
}

/* ---- Comparison ------------------------------------------------------------------------------ */

#define COMPARE_BITS(test)                                                                         \
	for (j = 0; j < end; j++) {                                                                \
		x = in[i + j];                                                                     \
		w |= (uint64_t)(test) << j;                                                        \
	}                                                                                          \
	break

/* One word of bits at a time: the switch is taken once for 64 elements. */
#define COMPARE(name, load, type)                                                                  \
	static void name(uint64_t *bits, const void *from, size_t n, unsigned cmp, type ref)       \
	{                                                                                          \
		const load *in = from;                                                             \
		size_t i, j;                                                                       \
												   \
		for (i = 0; i < n; i += 64) {                                                      \
			const size_t end = n - i < 64 ? n - i : 64;                                \
			uint64_t w = 0;                                                            \
			type x;                                                                    \
												   \
			switch (cmp) {                                                             \
			case GTU_CMP_EQ:                                                           \
				COMPARE_BITS(x == ref);                                            \
			case GTU_CMP_NE:                                                           \
				COMPARE_BITS(x != ref);                                            \
			case GTU_CMP_LT:                                                           \
				COMPARE_BITS(x < ref);                                             \
			case GTU_CMP_LE:                                                           \
				COMPARE_BITS(x <= ref);                                            \
			case GTU_CMP_GT:                                                           \
				COMPARE_BITS(x > ref);                                             \
			case GTU_CMP_GE:                                                           \
				COMPARE_BITS(x >= ref);                                            \
			}                                                                          \
			bits[i / 64] = w;                                                          \
		}                                                                                  \
	}
typedef int16_t __attribute__((aligned(1), may_alias)) scu_s16;
typedef int32_t __attribute__((aligned(1), may_alias)) scu_s32;
typedef int64_t __attribute__((aligned(1), may_alias)) scu_s64;
typedef float __attribute__((aligned(1), may_alias)) scu_f32;
typedef double __attribute__((aligned(1), may_alias)) scu_f64;
COMPARE(compare_u8, uint8_t, uint8_t)
COMPARE(compare_s8, int8_t, int8_t)
COMPARE(compare_u16, scu_u16, uint16_t)
COMPARE(compare_s16, scu_s16, int16_t)
COMPARE(compare_u32, scu_u32, uint32_t)
COMPARE(compare_s32, scu_s32, int32_t)
COMPARE(compare_f32, scu_f32, float)
COMPARE(compare_u64, scu_u64, uint64_t)
COMPARE(compare_s64, scu_s64, int64_t)
COMPARE(compare_f64, scu_f64, double)

static void compare1(uint64_t *bits, const void *in, size_t n, unsigned cmp, unsigned type,
		     uint64_t ref)
{
	if (type == GTU_TYPE_SIGNED)
		compare_s8(bits, in, n, cmp, (int8_t)ref);
	else
		compare_u8(bits, in, n, cmp, (uint8_t)ref);
}

static void compare2(uint64_t *bits, const void *in, size_t n, unsigned cmp, unsigned type,
		     uint64_t ref)
{
	if (type == GTU_TYPE_SIGNED)
		compare_s16(bits, in, n, cmp, (int16_t)ref);
	else
		compare_u16(bits, in, n, cmp, (uint16_t)ref);
}

static void compare4(uint64_t *bits, const void *in, size_t n, unsigned cmp, unsigned type,
		     uint64_t ref)
{
	const uint32_t low = (uint32_t)ref;
	float f;

	memcpy(&f, &low, 4);
	if (type == GTU_TYPE_SIGNED)
		compare_s32(bits, in, n, cmp, (int32_t)low);
	else if (type == GTU_TYPE_FLOAT)
		compare_f32(bits, in, n, cmp, f);
	else
		compare_u32(bits, in, n, cmp, low);
}

static void compare8(uint64_t *bits, const void *in, size_t n, unsigned cmp, unsigned type,
		     uint64_t ref)
{
	double f;

	memcpy(&f, &ref, 8);
	if (type == GTU_TYPE_SIGNED)
		compare_s64(bits, in, n, cmp, (int64_t)ref);
	else if (type == GTU_TYPE_FLOAT)
		compare_f64(bits, in, n, cmp, f);
	else
		compare_u64(bits, in, n, cmp, ref);
}

/* ---- Runs ------------------------------------------------------------------------------------ */

static void copy_runs(void *to, const void *base, uint64_t bytes, unsigned log2,
		      const struct scu_segment *g, size_t n)
{
	const uint8_t *in = base;
	uint8_t *out = to;
	size_t i, b;

	for (i = 0; i < n; i++, g++) {
		const uint64_t at = g->from << log2, length = (uint64_t)g->length << log2;
		uint8_t *p = out + ((size_t)g->first << log2);

		if (i + SCU_FETCH_AHEAD < n) {
			const struct scu_segment *a = g + SCU_FETCH_AHEAD;

			__builtin_prefetch(in + (a->from << log2));
			__builtin_prefetch(in + ((a->from + a->length) << log2) - 1);
		}
		if (bytes - at < length + 64)
			memcpy(p, in + at, length);
		else
			for (b = 0; b < length; b += 64)
				memcpy(p + b, in + at + b, 64);
	}
}

static void expand(struct scu_expand *state)
{
	struct scu_expand x = *state;
	const uint64_t bytes = x.limit << x.log2;
	uint64_t from, n, b;

	for (; x.at < x.end && x.used < x.most && scu_whole_run(&x, x.at, &from, &n); x.at++) {
		uint8_t *p = x.to + (x.m << x.log2);
		const uint8_t *in;

		if (x.at + SCU_FETCH_AHEAD < x.end && x.index[x.at + SCU_FETCH_AHEAD] < x.limit) {
			const uint8_t *a = x.base + (x.index[x.at + SCU_FETCH_AHEAD] << x.log2);

			__builtin_prefetch(a);
			__builtin_prefetch(a + 63);
		}
		x.m += n;
		x.used += n + !n;
		n <<= x.log2;
		if (!n)
			continue;	/* its index may be anything */
		in = x.base + (from << x.log2);
		if (bytes - (from << x.log2) < n + 64)
			memcpy(p, in, n);
		else
			for (b = 0; b < n; b += 64)
				memcpy(p + b, in + b, 64);
	}
	state->at = x.at;
	state->m = x.m;
	state->used = x.used;
}

#define FILL(name, type)                                                                           \
	static void name(void *to, const void *from, uint64_t first, const struct scu_segment *g,  \
			 size_t n)                                                                 \
	{                                                                                          \
		const type *in = from;                                                             \
		size_t i, j, b;                                                                    \
												   \
		for (i = 0; i < n; i++, g++) {                                                     \
			const type x = in[g->element - first];                                     \
			type *out = (type *)to + g->first;                                         \
												   \
			for (j = 0; j < g->length; j += 16 / sizeof(type))                         \
				for (b = 0; b < 16 / sizeof(type); b++)                            \
					out[j + b] = x;                                            \
		}                                                                                  \
	}
FILL(fill1, uint8_t)
FILL(fill2, scu_u16)
FILL(fill4, scu_u32)
FILL(fill8, scu_u64)

/* ---- The rest -------------------------------------------------------------------------------- */

static size_t first_beyond4(const void *index, size_t n, uint64_t limit)
{
	const scu_u32 *x = index;
	size_t i;

	for (i = 0; i < n && x[i] < limit; i++)
		;
	return i;
}

static size_t first_beyond8(const void *index, size_t n, uint64_t limit)
{
	const scu_u64 *x = index;
	size_t i;

	for (i = 0; i < n && x[i] < limit; i++)
		;
	return i;
}

static void stream(void *to, const void *from, size_t bytes)
{
	memcpy(to, from, bytes);
}

static void fence(void)
{
}

static inline unsigned match4(const uint8_t *set, uint32_t id)
{
	unsigned i, hit = 0;

	for (i = 0; i < SCU_WAYS; i++)
		hit |= (unsigned)(((const scu_u32 *)set)[i] == id) << i;
	return hit;
}

static inline unsigned match8(const uint8_t *set, uint64_t id)
{
	unsigned i, hit = 0;

	for (i = 0; i < SCU_WAYS; i++)
		hit |= (unsigned)(((const scu_u64 *)set)[i] == id) << i;
	return hit;
}

static unsigned match_tags(const void *tags, uint64_t tag)
{
	return match8(tags, tag);
}

#define PROBE_TARGET
#define PROBE_MATCH4 match4
#define PROBE_MATCH8 match8
#include "scu_probe.h"

const struct scu_kernels gtu_scu_portable = {
	.isa = "portable",
	.compact = { compact1, compact2, compact4, compact8 },
	.widen = widen,
	.count = count,
	.compare = { compare1, compare2, compare4, compare8 },
	.copy_runs = copy_runs,
	.expand = expand,
	.fill_runs = { fill1, fill2, fill4, fill8 },
	.first_beyond = { first_beyond4, first_beyond8 },
	.stream = stream,
	.fence = fence,
	.filter = { filter4, filter8 },
	.match_tags = match_tags,
};

/* ---- Choice ---------------------------------------------------------------------------------- */

static const struct scu_kernels *chosen;

static const struct scu_kernels *by_name(const char *isa)
{
#ifdef __x86_64__
	const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
			    __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi2");

	if (avx512 && (!isa || !strcmp(isa, gtu_scu_avx512.isa)))
		return &gtu_scu_avx512;
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
	    (!isa || !strcmp(isa, gtu_scu_avx2.isa)))
		return &gtu_scu_avx2;
#endif
	return !isa || !strcmp(isa, gtu_scu_portable.isa) ? &gtu_scu_portable : NULL;
}

const struct scu_kernels *gtu_scu_kernels(void)
{
	return chosen ? chosen : by_name(NULL);
}

bool gtu_scu_kernels_use(const char *isa)
{
	const struct scu_kernels *k = by_name(isa);

	if (k)
		chosen = k;
	return k;
}
