// SPDX-License-Identifier: MIT
/* The SCU's inner loops for AVX-512 (F, BW, VL, VBMI2). Called only on processors that support them. */
#ifdef __x86_64__
#include <immintrin.h>
#include <string.h>

#include "uapi/gtu/hw.h"
#include "scu_kernels.h"

#define TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi2,popcnt,bmi,bmi2")))

/* ---- Compaction ------------------------------------------------------------------------------ */

/*
 * A vector is compressed in a register and stored whole, because compressing to memory is many times slower on
 * some processors. The last, partial vector is loaded with a mask, so no byte after the input is read.
 */
#define COMPACT(name, lanes, mask_t, bits_t, suffix, popcount)                                     \
	TARGET static size_t name(void *to, const void *from, const uint64_t *bits, size_t n)      \
	{                                                                                          \
		const uint8_t *in = from;                                                          \
		uint8_t *out = to;                                                                 \
		size_t i;                                                                          \
												   \
		for (i = 0; i + lanes <= n; i += lanes, in += 64) {                                \
			const mask_t m = ((const bits_t *)bits)[i / lanes];                        \
												   \
			_mm512_storeu_si512(out, _mm512_maskz_compress_##suffix(                   \
							 m, _mm512_loadu_si512(in)));              \
			out += popcount(m) * (64 / lanes);                                         \
		}                                                                                  \
		if (i < n) {                                                                       \
			const mask_t m = ((const bits_t *)bits)[i / lanes];                        \
												   \
			_mm512_storeu_si512(out, _mm512_maskz_compress_##suffix(                   \
							 m, _mm512_maskz_loadu_##suffix(m, in)));  \
			out += popcount(m) * (64 / lanes);                                         \
		}                                                                                  \
		return (size_t)(out - (uint8_t *)to) / (64 / lanes);                               \
	}
typedef uint8_t __attribute__((may_alias)) bits8;
typedef uint16_t __attribute__((may_alias)) bits16;
typedef uint32_t __attribute__((may_alias)) bits32;
COMPACT(compact1, 64, __mmask64, uint64_t, epi8, __builtin_popcountll)
COMPACT(compact2, 32, __mmask32, bits32, epi16, __builtin_popcount)
COMPACT(compact4, 16, __mmask16, bits16, epi32, __builtin_popcount)
COMPACT(compact8, 8, __mmask8, bits8, epi64, __builtin_popcount)

/* ---- Comparison ------------------------------------------------------------------------------ */

#define UNROLL _Pragma("GCC unroll 8")

/* Apply one comparison to all words: `parts` vectors compared with `r` give one word of 64 bits. */
#define WORDS(compare)                                                                             \
	for (; n; n -= 64, in += 64 * parts) {                                                     \
		uint64_t w = 0;                                                                    \
												   \
		UNROLL                                                                             \
		for (j = 0; j < parts; j++) {                                                      \
			const __m512i v = _mm512_loadu_si512(in + 64 * j);                         \
												   \
			w |= (uint64_t)(compare) << (j * (64 / parts));                            \
		}                                                                                  \
		*bits++ = w;                                                                       \
	}                                                                                          \
	break

#define ORDER_CASES(type, sign, bits_)                                                             \
	case type * 8 + GTU_CMP_LT:                                                                \
		WORDS(_mm512_cmplt_##sign##bits_##_mask(v, r));                                    \
	case type * 8 + GTU_CMP_LE:                                                                \
		WORDS(_mm512_cmple_##sign##bits_##_mask(v, r));                                    \
	case type * 8 + GTU_CMP_GT:                                                                \
		WORDS(_mm512_cmpgt_##sign##bits_##_mask(v, r));                                    \
	case type * 8 + GTU_CMP_GE:                                                                \
		WORDS(_mm512_cmpge_##sign##bits_##_mask(v, r))

#define INTEGER_CASES(bits_)                                                                       \
	case GTU_TYPE_UNSIGNED * 8 + GTU_CMP_EQ:                                                   \
	case GTU_TYPE_SIGNED * 8 + GTU_CMP_EQ:                                                     \
		WORDS(_mm512_cmpeq_epi##bits_##_mask(v, r));                                       \
	case GTU_TYPE_UNSIGNED * 8 + GTU_CMP_NE:                                                   \
	case GTU_TYPE_SIGNED * 8 + GTU_CMP_NE:                                                     \
		WORDS(_mm512_cmpneq_epi##bits_##_mask(v, r));                                      \
	ORDER_CASES(GTU_TYPE_UNSIGNED, epu, bits_);                                                \
	ORDER_CASES(GTU_TYPE_SIGNED, epi, bits_)

#define FLOAT_CASE(cmp, suffix, cast, predicate)                                                   \
	case GTU_TYPE_FLOAT * 8 + cmp:                                                             \
		WORDS(_mm512_cmp_##suffix##_mask(cast(v), cast(r), predicate))

#define FLOAT_CASES(suffix, cast)                                                                  \
	FLOAT_CASE(GTU_CMP_EQ, suffix, cast, _CMP_EQ_OQ);                                          \
	FLOAT_CASE(GTU_CMP_NE, suffix, cast, _CMP_NEQ_UQ);                                         \
	FLOAT_CASE(GTU_CMP_LT, suffix, cast, _CMP_LT_OQ);                                          \
	FLOAT_CASE(GTU_CMP_LE, suffix, cast, _CMP_LE_OQ);                                          \
	FLOAT_CASE(GTU_CMP_GT, suffix, cast, _CMP_GT_OQ);                                          \
	FLOAT_CASE(GTU_CMP_GE, suffix, cast, _CMP_GE_OQ)

/*
 * Whole words are read in place. The last, partial word is read from a copy, so no byte after the input is read. The copy
 * is in a function of its own: the loop's function then needs neither the array nor the stack protector's check.
 */
#define COMPARE(name, parts_, broadcast, cases)                                                    \
	TARGET static void name##_words(uint64_t *bits, const uint8_t *in, size_t n, unsigned what, \
					uint64_t ref)                                              \
	{                                                                                          \
		enum { parts = parts_ };                                                           \
		const __m512i r = broadcast;                                                       \
		size_t j;                                                                          \
												   \
		switch (what) {                                                                    \
			cases;                                                                     \
		}                                                                                  \
	}                                                                                          \
	TARGET static __attribute__((noinline)) void name##_left(uint64_t *bits, const uint8_t *in, size_t left, \
								 unsigned what, uint64_t ref)      \
	{                                                                                          \
		uint8_t copy[64 * parts_] = { 0 };                                                 \
												   \
		memcpy(copy, in, left * parts_);                                                   \
		name##_words(bits, copy, 64, what, ref);                                           \
		*bits = _bzhi_u64(*bits, (unsigned)left);                                          \
	}                                                                                          \
	TARGET static void name(uint64_t *bits, const void *from, size_t n, unsigned cmp,          \
				unsigned type, uint64_t ref)                                       \
	{                                                                                          \
		const size_t whole = n & ~(size_t)63, left = n & 63;                               \
												   \
		name##_words(bits, from, whole, type * 8 + cmp, ref);                              \
		if (left)                                                                          \
			name##_left(bits + whole / 64, (const uint8_t *)from + whole * parts_, left, \
				    type * 8 + cmp, ref);                                          \
	}
COMPARE(compare1, 1, _mm512_set1_epi8((char)ref), INTEGER_CASES(8))
COMPARE(compare2, 2, _mm512_set1_epi16((short)ref), INTEGER_CASES(16))
COMPARE(compare4, 4, _mm512_set1_epi32((int)ref), INTEGER_CASES(32);
	FLOAT_CASES(ps, _mm512_castsi512_ps))
COMPARE(compare8, 8, _mm512_set1_epi64((long long)ref), INTEGER_CASES(64);
	FLOAT_CASES(pd, _mm512_castsi512_pd))

/* ---- The rest -------------------------------------------------------------------------------- */

#define BEYOND(name, lanes, mask_t, bits_, limit_t, most)                                          \
	TARGET static size_t name(const void *index, size_t n, uint64_t limit)                     \
	{                                                                                          \
		const uint8_t *in = index;                                                         \
		const __m512i r = _mm512_set1_epi##bits_((limit_t)limit);                          \
		size_t i;                                                                          \
												   \
		if (limit > most)                                                                  \
			return n;                                                                  \
		for (i = 0; i < n; i += lanes) {                                                   \
			const mask_t m = n - i >= lanes ? (mask_t)-1 : (mask_t)((1u << (n - i)) - 1); \
			const mask_t bad = _mm512_mask_cmpge_epu##bits_##_mask(                    \
				m, _mm512_maskz_loadu_epi##bits_(m, in + 64 / lanes * i), r);      \
												   \
			if (bad)                                                                   \
				return i + (size_t)__builtin_ctz(bad);                             \
		}                                                                                  \
		return n;                                                                          \
	}
BEYOND(first_beyond4, 16, __mmask16, 32, int, UINT32_MAX)
BEYOND(first_beyond8, 8, __mmask8, 64, long long, UINT64_MAX)

#define SCU_ISA avx512
#define VECTOR 64
#define COPY64(to, from) _mm512_storeu_si512(to, _mm512_loadu_si512(from))
#define WIDEN __builtin_convertvector
#define STREAM(to, from) _mm512_stream_si512((__m512i *)(void *)(to), _mm512_loadu_si512(from))
#define LANES(bytes) (64 / (bytes))
#define EQUAL4(set, id) _mm512_cmpeq_epi32_mask(_mm512_loadu_si512(set), _mm512_set1_epi32((int)(id)))
#define EQUAL8(set, id) _mm512_cmpeq_epi64_mask(_mm512_loadu_si512(set), _mm512_set1_epi64((long long)(id)))
#define FIRST_BEYOND
#include "scu_loops.h"
#endif
