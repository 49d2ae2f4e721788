// SPDX-License-Identifier: MIT
/* Inner loops of the IRU over a line and over a warp, portable and AVX-512 (see iru_kernel.h). */
#include "iru_kernel.h"

#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#define IRU_AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512cd")))
#endif

/* Mask of the index bits beyond the build's width. */
static inline uint32_t wide_bits(const struct iru_core *c)
{
	return c->shape.index_bits >= 32 ? 0 : ~0u << c->shape.index_bits;
}

/* ---- Portable -------------------------------------------------------------------------------- */

static unsigned split_portable(const struct iru_core *c, unsigned p, const uint32_t *index,
			       const uint32_t *secondary, unsigned count, uint64_t first,
			       struct iru_split *to)
{
	const uint32_t wide = wide_bits(c);
	const unsigned shift = c->shape.sets_log2 - c->shape.partitions_log2;

	memset(to->share, 0, c->banks + 2u);
	memset(to->lanes, 0, (c->banks + 2u) * sizeof(to->lanes[0]));
	for (unsigned i = 0; i < count; i++) {
		const uint32_t x = *(const volatile uint32_t *)&index[i];
		const uint32_t set = iru_target_set(
			iru_target_line(c->stream.base, c->stream.target_log2, x), c->shape.sets_log2);
		const unsigned owner = set >> shift, bank = set & (c->banks - 1);
		unsigned k;

		to->pair[i] = x | (first + i) << 32;
		to->secondary[i] = secondary ? *(const volatile uint32_t *)&secondary[i] : 0;
		to->set[i] = (uint16_t)set;
		if (x & wide)
			return i;
		k = owner == p ? bank : c->banks + c->route_dir[p][owner];
		to->lanes[k] |= 1u << i;
		to->share[k]++;
	}
	to->count = (uint16_t)count;
	return IRU_LANES;
}

static void give_portable(struct iru_core *c, unsigned p, const struct iru_split *s)
{
	for (unsigned k = 0; k < c->banks + 2u; k++) {
		const unsigned q = iru_split_queue(c, p, k);
		size_t at = (size_t)q * c->slots + c->fifo_tail[q];

		for (uint32_t m = s->lanes[k]; m; m &= m - 1, at++) {
			const unsigned i = (unsigned)__builtin_ctz(m);

			c->fifo_pair[at] = s->pair[i];
			c->fifo_set[at] = s->set[i];
			if (c->carry)
				c->fifo_secondary[at] = s->secondary[i];
		}
		c->fifo_tail[q] += s->share[k];
	}
}

static int find_portable(const uint64_t *pair, unsigned count, uint32_t index)
{
	for (unsigned i = 0; i < count; i++)
		if ((uint32_t)pair[i] == index)
			return (int)i;
	return -1;
}

static void record_portable(const struct iru_core *c, const uint64_t *pair,
			    const uint32_t *secondary, unsigned count, struct iru_record *to)
{
	const struct iru_stream *s = &c->stream;
	uint32_t line[IRU_LANES], lines = 0;
	unsigned field = 1;

	memset(to->field, 0, iru_fields(s) * sizeof(to->field[0]));
	for (unsigned i = 0; i < count; i++) {
		unsigned j = 0;

		to->field[0][i] = (uint32_t)pair[i];
		line[i] = iru_target_line(s->base, s->target_log2, (uint32_t)pair[i]);
		while (line[j] != line[i])
			j++;
		lines += j == i;
	}
	if (s->secondary)
		memcpy(to->field[field++], secondary, count * sizeof(secondary[0]));
	if (s->position)
		for (unsigned i = 0; i < count; i++)
			to->field[field][i] = (uint32_t)(pair[i] >> 32);
	to->head.active = (uint32_t)((1ull << count) - 1);
	to->head.lines = lines;
}

const struct iru_kernel iru_kernel_portable = {
	.name = "portable",
	.split = split_portable,
	.give = give_portable,
	.find = find_portable,
	.record = record_portable,
};

/* ---- AVX-512 --------------------------------------------------------------------------------- */

#if defined(__x86_64__)

/* iru_target_line() of 16 indices, in 32 bits: the low bits of base and offset carry at most 1. */
IRU_AVX512 static inline __m512i lines_avx512(const struct iru_stream *s, __m512i index)
{
	const __m512i low = _mm512_set1_epi32(GTU_LINE_BYTES - 1);
	const __m512i carry = _mm512_srli_epi32(
		_mm512_add_epi32(_mm512_set1_epi32((int)(s->base & (GTU_LINE_BYTES - 1))),
				 _mm512_and_si512(_mm512_sll_epi32(index, _mm_cvtsi32_si128(s->target_log2)),
						  low)), 7);
	const __m512i line = _mm512_add_epi32(_mm512_set1_epi32((int)(uint32_t)(s->base >> 7)),
					      _mm512_srl_epi32(index, _mm_cvtsi32_si128(7 - s->target_log2)));

	return _mm512_add_epi32(line, carry);
}

IRU_AVX512 static unsigned split_avx512(const struct iru_core *c, unsigned p, const uint32_t *index,
					const uint32_t *secondary, unsigned count, uint64_t first,
					struct iru_split *to)
{
	const __m512i routes = _mm512_loadu_si512(c->route_queue[p]);	/* 32 bits each */
	const __m512i wide = _mm512_set1_epi32((int)wide_bits(c));
	const __m128i owner_shift =
		_mm_cvtsi32_si128(c->shape.sets_log2 - c->shape.partitions_log2);
	const __m512i banks = _mm512_set1_epi32((int)(c->banks - 1));
	__m512i queue[2];
	__mmask16 lanes[2];

	for (unsigned half = 0; half < 2; half++) {
		const unsigned at = 16 * half;
		const __mmask16 live = (__mmask16)(((1ull << count) - 1) >> at);
		__m512i x = _mm512_maskz_loadu_epi32(live, index + at);
		__m512i y = secondary ? _mm512_maskz_loadu_epi32(live, secondary + at) :
					_mm512_setzero_si512();
		__m512i set, owner, mine, position, low, high;
		__mmask16 bad;

		/*
		 * load once: the checked and hashed values are the stored ones, even if memory
		 * changes
		 */
		__asm__ volatile("" : "+v"(x), "+v"(y));
		set = _mm512_srl_epi32(_mm512_mullo_epi32(lines_avx512(&c->stream, x),
							  _mm512_set1_epi32((int)GTU_HASH)),
				       _mm_cvtsi32_si128(32 - c->shape.sets_log2));
		owner = _mm512_srl_epi32(set, owner_shift);
		mine = _mm512_and_si512(set, banks);
		queue[half] = _mm512_mask_mov_epi32(
			_mm512_permutexvar_epi32(owner, routes),
			_mm512_cmpeq_epi32_mask(owner, _mm512_set1_epi32((int)p)), mine);
		lanes[half] = live;
		_mm256_storeu_si256((void *)&to->set[at], _mm512_cvtepi32_epi16(set));
		_mm512_storeu_si512(&to->secondary[at], y);

		position = _mm512_add_epi32(
			_mm512_set1_epi32((int)(uint32_t)(first + at)),
			_mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
		low = _mm512_unpacklo_epi32(x, position);	/* pairs 0 1 4 5 8 9 12 13 */
		high = _mm512_unpackhi_epi32(x, position);	/* 2 3 6 7 10 11 14 15 */
		_mm512_store_si512(&to->pair[at], _mm512_permutex2var_epi64(
			low, _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11), high));
		_mm512_store_si512(&to->pair[at + 8], _mm512_permutex2var_epi64(
			low, _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15), high));
		bad = _mm512_test_epi32_mask(x, wide);
		if (bad)
			return at + (unsigned)__builtin_ctz(bad);
	}
	for (unsigned k = 0; k < c->banks + 2u; k++) {
		const __m512i v = _mm512_set1_epi32((int)k);

		to->lanes[k] = _mm512_mask_cmpeq_epi32_mask(lanes[0], queue[0], v) |
			       (uint32_t)_mm512_mask_cmpeq_epi32_mask(lanes[1], queue[1], v) << 16;
		to->share[k] = (uint8_t)__builtin_popcount(to->lanes[k]);
	}
	to->count = (uint16_t)count;
	return IRU_LANES;
}

/* Store the first @n of 16 numbers as 16 bits each. */
IRU_AVX512 static inline void store_low16(uint16_t *to, unsigned n, __m512i v)
{
	_mm256_mask_storeu_epi16(to, (__mmask16)((1u << n) - 1), _mm512_cvtepi32_epi16(v));
}

IRU_AVX512 static void give_avx512(struct iru_core *c, unsigned p, const struct iru_split *s)
{
	const __m512i pair0 = _mm512_load_si512(s->pair), pair1 = _mm512_load_si512(s->pair + 8);
	const __m512i pair2 = _mm512_load_si512(s->pair + 16), pair3 = _mm512_load_si512(s->pair + 24);
	const __m512i set0 = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)s->set));
	const __m512i set1 = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)(s->set + 16)));

	for (unsigned k = 0; k < c->banks + 2u; k++) {
		const unsigned q = iru_split_queue(c, p, k);
		const size_t at = (size_t)q * c->slots + c->fifo_tail[q];
		const uint32_t m = s->lanes[k];
		const unsigned half = (unsigned)__builtin_popcount(m & 0xffff);
		uint64_t *pair = &c->fifo_pair[at];

		/*
		 * each store overwrites up to a vector beyond its end, which is rewritten or never
		 * read
		 */
		_mm512_storeu_si512(pair, _mm512_maskz_compress_epi64((__mmask8)m, pair0));
		pair += __builtin_popcount(m & 0xff);
		_mm512_storeu_si512(pair, _mm512_maskz_compress_epi64((__mmask8)(m >> 8), pair1));
		pair = &c->fifo_pair[at + half];
		_mm512_storeu_si512(pair, _mm512_maskz_compress_epi64((__mmask8)(m >> 16), pair2));
		pair += __builtin_popcount(m >> 16 & 0xff);
		_mm512_storeu_si512(pair, _mm512_maskz_compress_epi64((__mmask8)(m >> 24), pair3));
		store_low16(&c->fifo_set[at], half, _mm512_maskz_compress_epi32((__mmask16)m, set0));
		store_low16(&c->fifo_set[at + half], s->share[k] - half,
			    _mm512_maskz_compress_epi32((__mmask16)(m >> 16), set1));
		if (c->carry) {
			_mm512_mask_storeu_epi32(
				&c->fifo_secondary[at], (__mmask16)((1u << half) - 1),
				_mm512_maskz_compress_epi32((__mmask16)m, _mm512_loadu_si512(s->secondary)));
			_mm512_mask_storeu_epi32(
				&c->fifo_secondary[at + half],
				(__mmask16)((1u << (s->share[k] - half)) - 1),
				_mm512_maskz_compress_epi32((__mmask16)(m >> 16),
							    _mm512_loadu_si512(s->secondary + 16)));
		}
		c->fifo_tail[q] += s->share[k];
	}
}

IRU_AVX512 static int find_avx512(const uint64_t *pair, unsigned count, uint32_t index)
{
	const __m512i v = _mm512_set1_epi64((int64_t)index);
	const __m512i low = _mm512_set1_epi64(0xffffffff);
	uint32_t hit = 0;

	for (unsigned i = 0; i < 4; i++)
		hit |= (uint32_t)_mm512_testn_epi64_mask(
			       low, _mm512_xor_si512(v, _mm512_loadu_si512(pair + 8 * i))) << (8 * i);
	hit &= (uint32_t)((1ull << count) - 1);
	return hit ? __builtin_ctz(hit) : -1;
}

IRU_AVX512 static void record_avx512(const struct iru_core *c, const uint64_t *pair,
				     const uint32_t *secondary, unsigned count,
				     struct iru_record *to)
{
	const struct iru_stream *s = &c->stream;
	const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
	const __m512i odd = _mm512_or_si512(even, _mm512_set1_epi32(1));
	const uint32_t active = (uint32_t)((1ull << count) - 1);
	const __mmask16 low = (__mmask16)active, high = (__mmask16)(active >> 16);
	const __m512i p0 = _mm512_loadu_si512(pair), p1 = _mm512_loadu_si512(pair + 8);
	const __m512i p2 = _mm512_loadu_si512(pair + 16), p3 = _mm512_loadu_si512(pair + 24);
	const __m512i x0 = _mm512_maskz_permutex2var_epi32(low, p0, even, p1);
	const __m512i x1 = _mm512_maskz_permutex2var_epi32(high, p2, even, p3);
	uint32_t *field = to->field[1];
	__m512i l0, l1;
	__mmask16 first, again = 0;

	_mm512_storeu_si512(to->field[0], x0);
	_mm512_storeu_si512(to->field[0] + 16, x1);
	if (s->secondary) {
		_mm512_storeu_si512(field, _mm512_maskz_loadu_epi32(low, secondary));
		_mm512_storeu_si512(field + 16, _mm512_maskz_loadu_epi32(high, secondary + 16));
		field += IRU_LANES;
	}
	if (s->position) {
		_mm512_storeu_si512(field, _mm512_maskz_permutex2var_epi32(low, p0, odd, p1));
		_mm512_storeu_si512(field + 16, _mm512_maskz_permutex2var_epi32(high, p2, odd, p3));
	}

	/* Unused lanes repeat lane 0's line, so that they do not count as distinct lines. */
	l0 = lines_avx512(s, x0);
	l1 = lines_avx512(s, x1);
	l0 = _mm512_mask_mov_epi32(_mm512_broadcastd_epi32(_mm512_castsi512_si128(l0)), low, l0);
	first = _mm512_mask_testn_epi32_mask(low, _mm512_conflict_epi32(l0), _mm512_set1_epi32(-1));
	if (high) {
		__mmask16 own = _mm512_mask_testn_epi32_mask(high, _mm512_conflict_epi32(l1),
							     _mm512_set1_epi32(-1));

		for (unsigned i = 0; i < 16; i++) {
			again |= _mm512_cmpeq_epi32_mask(l0, l1);
			l0 = _mm512_alignr_epi32(l0, l0, 1);
		}
		own &= (__mmask16)~again;
		to->head.lines = (uint32_t)(__builtin_popcount(first) + __builtin_popcount(own));
	} else {
		to->head.lines = (uint32_t)__builtin_popcount(first);
	}
	to->head.active = active;
}

static const struct iru_kernel kernel_avx512 = {
	.name = "avx512",
	.split = split_avx512,
	.give = give_avx512,
	.find = find_avx512,
	.record = record_avx512,
};

#endif

static bool only_portable;

const struct iru_kernel *iru_kernel_best(void)
{
#if defined(__x86_64__)
	if (!only_portable && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
	    __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
	    __builtin_cpu_supports("avx512cd"))
		return &kernel_avx512;
#endif
	return &iru_kernel_portable;
}

void iru_kernel_use_portable(void)
{
	only_portable = true;
}
