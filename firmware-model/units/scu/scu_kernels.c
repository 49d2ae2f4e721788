// SPDX-License-Identifier: MIT
/* The SCU's inner loops in portable C, and the selection of the instruction set. */
#include <string.h>

#include "uapi/gtu/hw.h"
#include "scu_kernels.h"

/* ---- Compaction ------------------------------------------------------------------------------ */

/*
 * Words with many set bits are compacted without branches: a dropped element is overwritten by the next one.
 * Sparse words are processed bit by bit.
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

/* ---- Comparison ------------------------------------------------------------------------------ */

#define COMPARE_BITS(test)                                                                         \
	for (j = 0; j < end; j++) {                                                                \
		x = in[i + j];                                                                     \
		w |= (uint64_t)(test) << j;                                                        \
	}                                                                                          \
	break

/* Process one word of bits at a time, so that the switch is evaluated once per 64 elements. */
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

/* ---- The rest -------------------------------------------------------------------------------- */

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

#define SCU_ISA portable
#define TARGET
#define VECTOR 16
#define COPY64(to, from) memcpy(to, from, 64)
#define WIDEN __builtin_convertvector
#include "scu_loops.h"

/* ---- Selection ------------------------------------------------------------------------------- */

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
