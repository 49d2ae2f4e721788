// SPDX-License-Identifier: MIT
/*
 * The SCU's inner loops for AVX2 and BMI2. Loops that do not gain from them use the portable version. Called only
 * on processors that support both.
 */
#ifdef __x86_64__
#include <immintrin.h>
#include <stdbool.h>
#include <string.h>

#include "uapi/gtu/hw.h"
#include "scu_kernels.h"

#define TARGET __attribute__((target("avx2,popcnt,bmi,bmi2")))

/* ---- Compaction ------------------------------------------------------------------------------ */

/* Permutation that moves the lanes selected by @mask to the front: the indices of its set bits. */
TARGET static inline __m256i front_lanes(unsigned mask)
{
	const uint64_t lanes = _pext_u64(0x0706050403020100ull, _pdep_u64(mask, 0x0101010101010101ull) * 0xff);

	return _mm256_cvtepu8_epi32(_mm_cvtsi64_si128((long long)lanes));
}

/* Elements of 4 or 8 bytes, of which `lanes` fill a vector; @mask selects its 4-byte lanes. */
#define COMPACT(name, lanes, mask, portable)                                                       \
	TARGET static size_t name(void *to, const void *from, const uint64_t *bits, size_t n)      \
	{                                                                                          \
		const size_t whole = n & ~(size_t)63;                                              \
		const uint8_t *in = from;                                                          \
		uint8_t *out = to;                                                                 \
		size_t i;                                                                          \
		unsigned b;                                                                        \
												   \
		for (i = 0; i < whole; i += 64) {                                                  \
			const uint64_t w = bits[i / 64];                                           \
												   \
			for (b = 0; b < 64; b += lanes, in += 32) {                                \
				const unsigned m = w >> b & ((1u << lanes) - 1);                   \
				const __m256i v = _mm256_loadu_si256((const __m256i_u *)in);       \
												   \
				_mm256_storeu_si256((__m256i_u *)out,                              \
						    _mm256_permutevar8x32_epi32(v, front_lanes(mask))); \
				out += 32 / lanes * __builtin_popcount(m);                         \
			}                                                                          \
		}                                                                                  \
		return (size_t)(out - (uint8_t *)to) / (32 / lanes) +                              \
		       gtu_scu_portable.compact[portable](out, in, bits + whole / 64, n - whole);  \
	}
COMPACT(compact4, 8, m, 2)
COMPACT(compact8, 4, _pdep_u32(m, 0x55) * 3, 3)

#define COMPACT_PORTABLE(name, portable)                                                           \
	static size_t name(void *to, const void *from, const uint64_t *bits, size_t n)             \
	{                                                                                          \
		return gtu_scu_portable.compact[portable](to, from, bits, n);                      \
	}
COMPACT_PORTABLE(compact1, 0)
COMPACT_PORTABLE(compact2, 1)

/* ---- Comparison ------------------------------------------------------------------------------ */

/*
 * AVX2 has only "equal" and "signed greater". Unsigned elements are compared with their top bit inverted. The other
 * comparisons swap the operands or invert the result.
 */
#define COMPARE(name, parts_, bits_, top, broadcast, mask)                                         \
	TARGET static void name(uint64_t *bits, const void *from, size_t n, unsigned cmp,          \
				unsigned type, uint64_t ref)                                       \
	{                                                                                          \
		enum { parts = parts_, lanes = 64 / parts };                                       \
		const size_t whole = n & ~(size_t)63;                                              \
		const __m256i flip = type == GTU_TYPE_SIGNED ? _mm256_setzero_si256() : broadcast(top); \
		const __m256i r = _mm256_xor_si256(broadcast(ref), flip);                          \
		const bool not = cmp == GTU_CMP_NE || cmp == GTU_CMP_LE || cmp == GTU_CMP_GE;      \
		const bool equal = cmp == GTU_CMP_EQ || cmp == GTU_CMP_NE;                         \
		const bool greater = cmp == GTU_CMP_GT || cmp == GTU_CMP_LE;                       \
		const uint8_t *in = from;                                                          \
		size_t i, j;                                                                       \
												   \
		if (type == GTU_TYPE_FLOAT) {                                                      \
			gtu_scu_portable.compare[__builtin_ctz(bits_) - 3](bits, from, n, cmp, type, ref); \
			return;                                                                    \
		}                                                                                  \
		for (i = 0; i < whole; i += 64) {                                                  \
			uint64_t w = 0;                                                            \
												   \
			for (j = 0; j < parts; j++, in += 32) {                                    \
				const __m256i v = _mm256_xor_si256(                                \
					_mm256_loadu_si256((const __m256i_u *)in), flip);          \
				const __m256i c = equal ? _mm256_cmpeq_epi##bits_(v, r) :          \
					greater ? _mm256_cmpgt_epi##bits_(v, r) :                  \
						  _mm256_cmpgt_epi##bits_(r, v);                   \
												   \
				w |= (uint64_t)mask(c) << (j * lanes);                             \
			}                                                                          \
			bits[i / 64] = not ? ~w : w;                                               \
		}                                                                                  \
		gtu_scu_portable.compare[__builtin_ctz(bits_) - 3](bits + whole / 64, in, n - whole, cmp, \
								      type, ref);                  \
	}
#define MASK1(c) (uint32_t)_mm256_movemask_epi8(c)
#define MASK2(c) _pext_u32((uint32_t)_mm256_movemask_epi8(c), 0x55555555)
#define MASK4(c) (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(c))
#define MASK8(c) (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(c))
#define ALL1(x) _mm256_set1_epi8((char)(x))
#define ALL2(x) _mm256_set1_epi16((short)(x))
#define ALL4(x) _mm256_set1_epi32((int)(x))
#define ALL8(x) _mm256_set1_epi64x((long long)(x))
COMPARE(compare1, 2, 8, 1u << 7, ALL1, MASK1)
COMPARE(compare2, 4, 16, 1u << 15, ALL2, MASK2)
COMPARE(compare4, 8, 32, 1u << 31, ALL4, MASK4)
COMPARE(compare8, 16, 64, 1ull << 63, ALL8, MASK8)

#define SCU_ISA avx2
#define VECTOR 32
#define COPY64(to, from) memcpy(to, from, 64)
#define WIDEN(x, type) (type)_mm256_cvtepu32_epi64((__m128i)(x))
#define LOAD(from) _mm256_loadu_si256((const __m256i_u *)(from))
#define STREAM(to, from) _mm256_stream_si256((__m256i *)(void *)(to), LOAD(from))
#define LANES(bytes) (32 / (bytes))
#define EQUAL4(set, id) MASK4(_mm256_cmpeq_epi32(LOAD(set), ALL4(id)))
#define EQUAL8(set, id) MASK8(_mm256_cmpeq_epi64(LOAD(set), ALL8(id)))
#include "scu_loops.h"
#endif
