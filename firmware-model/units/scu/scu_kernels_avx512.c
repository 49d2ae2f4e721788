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

#define INTEGER_CASES(bits_)                                                                       \
	case GTU_TYPE_UNSIGNED * 8 + GTU_CMP_EQ:                                                   \
	case GTU_TYPE_SIGNED * 8 + GTU_CMP_EQ:                                                     \
		WORDS(_mm512_cmpeq_epi##bits_##_mask(v, r));                                       \
	case GTU_TYPE_UNSIGNED * 8 + GTU_CMP_NE:                                                   \
	case GTU_TYPE_SIGNED * 8 + GTU_CMP_NE:                                                     \
		WORDS(_mm512_cmpneq_epi##bits_##_mask(v, r));                                      \
	case GTU_TYPE_UNSIGNED * 8 + GTU_CMP_LT:                                                   \
		WORDS(_mm512_cmplt_epu##bits_##_mask(v, r));                                       \
	case GTU_TYPE_UNSIGNED * 8 + GTU_CMP_LE:                                                   \
		WORDS(_mm512_cmple_epu##bits_##_mask(v, r));                                       \
	case GTU_TYPE_UNSIGNED * 8 + GTU_CMP_GT:                                                   \
		WORDS(_mm512_cmpgt_epu##bits_##_mask(v, r));                                       \
	case GTU_TYPE_UNSIGNED * 8 + GTU_CMP_GE:                                                   \
		WORDS(_mm512_cmpge_epu##bits_##_mask(v, r));                                       \
	case GTU_TYPE_SIGNED * 8 + GTU_CMP_LT:                                                     \
		WORDS(_mm512_cmplt_epi##bits_##_mask(v, r));                                       \
	case GTU_TYPE_SIGNED * 8 + GTU_CMP_LE:                                                     \
		WORDS(_mm512_cmple_epi##bits_##_mask(v, r));                                       \
	case GTU_TYPE_SIGNED * 8 + GTU_CMP_GT:                                                     \
		WORDS(_mm512_cmpgt_epi##bits_##_mask(v, r));                                       \
	case GTU_TYPE_SIGNED * 8 + GTU_CMP_GE:                                                     \
		WORDS(_mm512_cmpge_epi##bits_##_mask(v, r))

#define FLOAT_CASES(suffix, cast)                                                                  \
	case GTU_TYPE_FLOAT * 8 + GTU_CMP_EQ:                                                      \
		WORDS(_mm512_cmp_##suffix##_mask(cast(v), cast(r), _CMP_EQ_OQ));                   \
	case GTU_TYPE_FLOAT * 8 + GTU_CMP_NE:                                                      \
		WORDS(_mm512_cmp_##suffix##_mask(cast(v), cast(r), _CMP_NEQ_UQ));                  \
	case GTU_TYPE_FLOAT * 8 + GTU_CMP_LT:                                                      \
		WORDS(_mm512_cmp_##suffix##_mask(cast(v), cast(r), _CMP_LT_OQ));                   \
	case GTU_TYPE_FLOAT * 8 + GTU_CMP_LE:                                                      \
		WORDS(_mm512_cmp_##suffix##_mask(cast(v), cast(r), _CMP_LE_OQ));                   \
	case GTU_TYPE_FLOAT * 8 + GTU_CMP_GT:                                                      \
		WORDS(_mm512_cmp_##suffix##_mask(cast(v), cast(r), _CMP_GT_OQ));                   \
	case GTU_TYPE_FLOAT * 8 + GTU_CMP_GE:                                                      \
		WORDS(_mm512_cmp_##suffix##_mask(cast(v), cast(r), _CMP_GE_OQ))

/* Whole words are read in place. The last, partial word is read from a copy, so no byte after the input is read. */
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
	TARGET static void name(uint64_t *bits, const void *from, size_t n, unsigned cmp,          \
				unsigned type, uint64_t ref)                                       \
	{                                                                                          \
		const size_t whole = n & ~(size_t)63, left = n & 63;                               \
		uint8_t copy[64 * parts_] = { 0 };                                                 \
												   \
		name##_words(bits, from, whole, type * 8 + cmp, ref);                              \
		if (left) {                                                                        \
			memcpy(copy, (const uint8_t *)from + whole * parts_, left * parts_);       \
			name##_words(bits + whole / 64, copy, 64, type * 8 + cmp, ref);            \
			bits[whole / 64] = _bzhi_u64(bits[whole / 64], (unsigned)left);            \
		}                                                                                  \
	}
COMPARE(compare1, 1, _mm512_set1_epi8((char)ref), INTEGER_CASES(8))
COMPARE(compare2, 2, _mm512_set1_epi16((short)ref), INTEGER_CASES(16))
COMPARE(compare4, 4, _mm512_set1_epi32((int)ref), INTEGER_CASES(32);
	FLOAT_CASES(ps, _mm512_castsi512_ps))
COMPARE(compare8, 8, _mm512_set1_epi64((long long)ref), INTEGER_CASES(64);
	FLOAT_CASES(pd, _mm512_castsi512_pd))

/* ---- The rest -------------------------------------------------------------------------------- */

TARGET static size_t first_beyond4(const void *index, size_t n, uint64_t limit)
{
	const uint8_t *in = index;
	const __m512i r = _mm512_set1_epi32((int)limit);
	size_t i;

	if (limit > UINT32_MAX)
		return n;
	for (i = 0; i < n; i += 16) {
		const __mmask16 m = n - i >= 16 ? 0xffff : (__mmask16)((1u << (n - i)) - 1);
		const __mmask16 bad = _mm512_mask_cmpge_epu32_mask(
			m, _mm512_maskz_loadu_epi32(m, in + 4 * i), r);

		if (bad)
			return i + (size_t)__builtin_ctz(bad);
	}
	return n;
}

TARGET static size_t first_beyond8(const void *index, size_t n, uint64_t limit)
{
	const uint8_t *in = index;
	const __m512i r = _mm512_set1_epi64((long long)limit);
	size_t i;

	for (i = 0; i < n; i += 8) {
		const __mmask8 m = n - i >= 8 ? 0xff : (__mmask8)((1u << (n - i)) - 1);
		const __mmask8 bad = _mm512_mask_cmpge_epu64_mask(
			m, _mm512_maskz_loadu_epi64(m, in + 8 * i), r);

		if (bad)
			return i + (size_t)__builtin_ctz(bad);
	}
	return n;
}

TARGET static void stream(void *to, const void *from, size_t bytes)
{
	const uint8_t *in = from;
	uint8_t *out = to;

	for (; bytes; bytes -= 64, in += 64, out += 64)
		_mm512_stream_si512((__m512i *)(void *)out, _mm512_loadu_si512(in));
}

static void fence(void)
{
	_mm_sfence();
}

TARGET static inline unsigned match4(const uint8_t *set, uint32_t id)
{
	return _mm512_cmpeq_epi32_mask(_mm512_loadu_si512(set), _mm512_set1_epi32((int)id));
}

TARGET static inline unsigned match8(const uint8_t *set, uint64_t id)
{
	const __m512i x = _mm512_set1_epi64((long long)id);

	return _mm512_cmpeq_epi64_mask(_mm512_loadu_si512(set), x) |
	       (unsigned)_mm512_cmpeq_epi64_mask(_mm512_loadu_si512(set + 64), x) << 8;
}

#define SCU_ISA avx512
#define VECTOR 64
#define COPY64(to, from) _mm512_storeu_si512(to, _mm512_loadu_si512(from))
#define WIDEN __builtin_convertvector
#define FIRST_BEYOND
#include "scu_loops.h"
#endif
