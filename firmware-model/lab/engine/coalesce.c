// SPDX-License-Identifier: MIT
/* The coalescer: sort the lanes' indices, then merge runs of equal sectors or lines. */
#include <string.h>

#include "coalesce.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define BEFORE 4u /* words before the first sorted index, so that it has a predecessor */

/* All active indices in descending order, so that a transaction is a run. */
static unsigned sort_plain(const uint32_t *index, uint32_t mask, uint32_t *sorted)
{
	unsigned n = 0, i;
	bool up = true;
	uint32_t v;

	if (mask == ~0u) {
		for (i = 1; i < LAB_LANES; i++)
			up &= index[i - 1] <= index[i];
		if (up) {
			for (i = 0; i < LAB_LANES; i++)
				sorted[i] = index[LAB_LANES - 1 - i];
			return LAB_LANES;
		}
	}
	for (; mask; mask &= mask - 1) {
		v = index[__builtin_ctz(mask)];
		for (i = n++; i && sorted[i - 1] < v; i--)
			sorted[i] = sorted[i - 1];
		sorted[i] = v;
	}
	return n;
}

/* Sectors of a line whose 4-byte words are all in @words (one bit each). */
static uint8_t whole_sectors(uint32_t words)
{
	uint8_t whole = 0;
	unsigned s;

	for (s = 0; s < 4; s++)
		whole |= (uint8_t)((words >> (8 * s) & 0xff) == 0xff) << s;
	return whole;
}

/*
 * Append the transactions of sorted words to *@out: each unit's n-th transaction has the n-th lane
 * of each of its words, and the words' sectors.
 */
static void add_atomics(const uint32_t *sorted, unsigned n, unsigned width_log2, uint64_t base, unsigned unit,
			struct lab_coalesced *out)
{
	unsigned unit_shift = (unit == LAB_LINE ? 7 : 5) - width_log2, sector_shift = 5 - width_log2, i, first, run, k;
	uint32_t at;

	for (i = 0; i < n;) {
		at = sorted[i] >> unit_shift;
		first = out->n;
		for (run = 0; i < n && sorted[i] >> unit_shift == at; i++) {
			run = run && sorted[i] == sorted[i - 1] ? run + 1 : 1;
			k = first + run - 1;
			if (k == out->n) {
				out->unit[k] = base + (uint64_t)at * unit;
				out->bits[k] = out->partial[k] = 0;
				out->n++;
			}
			out->bits[k] |= (uint8_t)(1u << (sorted[i] >> sector_shift & 3));
		}
	}
}

typedef unsigned sort_lanes(const uint32_t *index, uint32_t mask, uint32_t *sorted);

/* Sectors are coalesced over the warp, lines over each half warp. */
static void atomics(const uint32_t *index, uint32_t mask, unsigned width_log2, uint64_t base, unsigned unit,
		    sort_lanes *sort, struct lab_coalesced *out)
{
	uint32_t sorted[LAB_LANES], lanes = unit == LAB_LINE ? 0xffffu : ~0u, i;

	out->n = out->sectors = 0;
	for (; mask; mask &= ~lanes, lanes = ~lanes)
		if (mask & lanes)
			add_atomics(sorted, sort(index, mask & lanes, sorted), width_log2, base, unit, out);
	for (i = 0; i < out->n; i++)
		out->sectors += lab_sectors(out->bits[i]);
}

/* Bits of sorted indices whose value >> @shift differs from the one before. Reads sorted[-1]. */
static uint32_t changes(const uint32_t *sorted, unsigned n, unsigned shift)
{
	uint32_t bits = 0;
	unsigned i;

#ifdef __SSE2__
	const __m128i by = _mm_cvtsi32_si128((int)shift);

	for (i = 0; i < n; i += 4) {
		__m128i a = _mm_srl_epi32(_mm_loadu_si128((const __m128i *)(sorted + i)), by);
		__m128i b = _mm_srl_epi32(_mm_loadu_si128((const __m128i *)(sorted + i - 1)), by);

		bits |= (~(uint32_t)_mm_movemask_ps(_mm_castsi128_ps(_mm_cmpeq_epi32(a, b))) & 0xf) << i;
	}
#else
	for (i = 1; i < n; i++)
		bits |= (uint32_t)(sorted[i] >> shift != sorted[i - 1] >> shift) << i;
#endif
	return (bits | 1) & ~0u >> (LAB_LANES - n);
}

/* Loads need only the set of sectors. */
static void merge_loads(const uint32_t *sorted, unsigned n, unsigned width_log2, uint64_t base, unsigned unit,
			struct lab_coalesced *out)
{
	unsigned shift = 5 - width_log2, unit_log2 = unit == LAB_LINE ? 7 : unit == 64 ? 6 : 5, line_log2 = unit_log2 - 5;
	uint32_t m = changes(sorted, n, shift), at, last = 0, k = 0, sector;

	out->sectors = 0;
	for (; m; m &= m - 1, out->sectors++) {
		sector = sorted[__builtin_ctz(m)] >> shift;
		at = sector >> line_log2;
		if (!k || at != last) {
			out->unit[k] = base + ((uint64_t)at << unit_log2);
			out->partial[k] = 0;
			out->bits[k++] = 0;
			last = at;
		}
		out->bits[k - 1] |= (uint8_t)(unit == 64 ? 3u << (sector & 2) : 1u << (sector & 3));
	}
	out->n = k;
	if (unit == 64)
		out->sectors = 2 * k;
}

static void merge_stores(const uint32_t *sorted, unsigned n, unsigned width_log2, uint64_t base, unsigned unit,
			 struct lab_coalesced *out)
{
	unsigned unit_log2 = unit == LAB_LINE ? 7 : unit == 64 ? 6 : 5, i, words_log2 = width_log2 - 2;
	unsigned shift = 5 - width_log2, unit_shift = unit_log2 - width_log2;
	uint32_t at, words = 0;

	out->n = out->sectors = 0;
	for (i = 0; i < n; i++) {
		at = sorted[i] >> unit_shift;
		if (!i || at != sorted[i - 1] >> unit_shift) {
			words = 0;
			out->unit[out->n] = base + ((uint64_t)at << unit_log2);
			out->bits[out->n++] = 0;
		}
		out->bits[out->n - 1] |= (uint8_t)(unit == 64 ? 3u << (sorted[i] >> shift & 2) : 1u << (sorted[i] >> shift & 3));
		words |= (width_log2 == 3 ? 3u : 1u) << ((sorted[i] << words_log2) & 31);
		if (i + 1 == n || at != sorted[i + 1] >> unit_shift)
			out->partial[out->n - 1] = out->bits[out->n - 1] & (uint8_t)~whole_sectors(words);
	}
	for (i = 0; i < out->n; i++)
		out->sectors += lab_sectors(out->bits[i]);
}

/* A single lane needs no vector sort. */
static inline void coalesce(sort_lanes *sort, const uint32_t *index, uint32_t mask, unsigned width_log2,
			    uint64_t base, unsigned unit, enum lab_kind kind, struct lab_coalesced *out)
{
	uint32_t buffer[BEFORE + LAB_LANES], *sorted = buffer + BEFORE;
	unsigned n;

	if (!(mask & (mask - 1)))
		sort = sort_plain;
	if (kind == LAB_ATOMIC) {
		atomics(index, mask, width_log2, base, unit, sort, out);
		return;
	}
	n = sort(index, mask, sorted);
	if (kind == LAB_LOAD)
		merge_loads(sorted, n, width_log2, base, unit, out);
	else
		merge_stores(sorted, n, width_log2, base, unit, out);
}

void lab_coalesce_plain(const uint32_t *index, uint32_t mask, unsigned width_log2, uint64_t base,
			unsigned unit, enum lab_kind kind, struct lab_coalesced *out)
{
	coalesce(sort_plain, index, mask, width_log2, base, unit, kind, out);
}

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

/* A step of Batcher's bitonic sort: lane i keeps the smaller of i and i ^ d where @low is set. */
#define STEP(v, perm, low)                                                                         \
	do {                                                                                       \
		__m512i other_ = _mm512_permutexvar_epi32(perm, v);                                \
		v = _mm512_mask_min_epu32(_mm512_max_epu32(v, other_), low, v, other_);            \
	} while (0)

/* Descending. Inactive lanes count as 0 and sort last; the number of active lanes cuts them off. */
__attribute__((target("avx512f,avx512vl,avx512bw,avx512dq")))
static unsigned sort_avx512(const uint32_t *index, uint32_t mask, uint32_t *sorted)
{
	const __m512i lane = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
	const __m512i x1 = _mm512_xor_si512(lane, _mm512_set1_epi32(1));
	const __m512i x2 = _mm512_xor_si512(lane, _mm512_set1_epi32(2));
	const __m512i x4 = _mm512_xor_si512(lane, _mm512_set1_epi32(4));
	const __m512i x8 = _mm512_xor_si512(lane, _mm512_set1_epi32(8));
	__m512i a = _mm512_maskz_loadu_epi32((__mmask16)mask, index);
	__m512i b = _mm512_maskz_loadu_epi32((__mmask16)(mask >> 16), index + 16);
	__m512i c;

	/* a descends, b ascends: then one bitonic merge of both */
	STEP(a, x1, 0x6666); STEP(b, x1, 0x9999);
	STEP(a, x2, 0x3c3c); STEP(b, x2, 0xc3c3);
	STEP(a, x1, 0x5a5a); STEP(b, x1, 0xa5a5);
	STEP(a, x4, 0x0ff0); STEP(b, x4, 0xf00f);
	STEP(a, x2, 0x33cc); STEP(b, x2, 0xcc33);
	STEP(a, x1, 0x55aa); STEP(b, x1, 0xaa55);
	STEP(a, x8, 0xff00); STEP(b, x8, 0x00ff);
	STEP(a, x4, 0xf0f0); STEP(b, x4, 0x0f0f);
	STEP(a, x2, 0xcccc); STEP(b, x2, 0x3333);
	STEP(a, x1, 0xaaaa); STEP(b, x1, 0x5555);
	c = _mm512_max_epu32(a, b);
	b = _mm512_min_epu32(a, b);
	a = c;
	STEP(a, x8, 0xff00); STEP(b, x8, 0xff00);
	STEP(a, x4, 0xf0f0); STEP(b, x4, 0xf0f0);
	STEP(a, x2, 0xcccc); STEP(b, x2, 0xcccc);
	STEP(a, x1, 0xaaaa); STEP(b, x1, 0xaaaa);
	_mm512_storeu_si512(sorted, a);
	_mm512_storeu_si512(sorted + 16, b);
	return (unsigned)__builtin_popcount(mask);
}

static sort_lanes *sort_best(void)
{
	static sort_lanes *best;

	if (!best)
		best = __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
		       __builtin_cpu_supports("avx512dq") ? sort_avx512 : sort_plain;
	return best;
}
#else
static sort_lanes *sort_best(void)
{
	return sort_plain;
}
#endif

void lab_coalesce(const uint32_t *index, uint32_t mask, unsigned width_log2, uint64_t base, unsigned unit,
		  enum lab_kind kind, struct lab_coalesced *out)
{
	coalesce(sort_best(), index, mask, width_log2, base, unit, kind, out);
}
