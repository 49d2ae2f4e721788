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

#define COMPARE_TYPES(name, bits_, float_)                                                         \
	static void name(uint64_t *bits, const void *in, size_t n, unsigned cmp, unsigned type,    \
			 uint64_t ref)                                                             \
	{                                                                                          \
		if (type == GTU_TYPE_SIGNED)                                                       \
			compare_s##bits_(bits, in, n, cmp, (int##bits_##_t)ref);                   \
		float_                                                                             \
		else                                                                               \
			compare_u##bits_(bits, in, n, cmp, (uint##bits_##_t)ref);                  \
	}
#define FLOAT(bits_, type_)                                                                        \
	else if (type == GTU_TYPE_FLOAT)                                                           \
		compare_f##bits_(bits, in, n, cmp,                                                 \
				 ((union { uint##bits_##_t bits; type_ value; }){ (uint##bits_##_t)ref }).value);
COMPARE_TYPES(compare1, 8,)
COMPARE_TYPES(compare2, 16,)
COMPARE_TYPES(compare4, 32, FLOAT(32, float))
COMPARE_TYPES(compare8, 64, FLOAT(64, double))

#define SCU_ISA portable
#define TARGET
#define VECTOR 16
#define COPY64(to, from) memcpy(to, from, 64)
#define WIDEN __builtin_convertvector
#define LANES(bytes) 1
#define EQUAL4(set, id) (*(const scu_u32 *)(set) == (id))
#define EQUAL8(set, id) (*(const scu_u64 *)(set) == (id))
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
