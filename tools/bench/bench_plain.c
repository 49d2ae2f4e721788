// SPDX-License-Identifier: MIT
/*
 * Plain software for comparison with the units: straightforward C loops without intrinsics,
 * compiled with the same flags. Their results are also the reference for the units' results.
 */
#include <string.h>

#include "bench.h"

#define BITMASK(type)                                                                              \
	static uint64_t bitmask_##type(const type *in, uint64_t n, type reference, uint64_t *bits)   \
	{                                                                                          \
		uint64_t i, word = 0;                                                              \
                                                                                                   \
		for (i = 0; i < n; i++) {                                                          \
			word |= (uint64_t)(in[i] < reference) << (i & 63);                         \
			if ((i & 63) == 63) {                                                      \
				bits[i / 64] = word;                                               \
				word = 0;                                                          \
			}                                                                          \
		}                                                                                  \
		if (n & 63)                                                                        \
			bits[n / 64] = word;                                                       \
		return n;                                                                          \
	}

#define DATA(type)                                                                                 \
	static uint64_t data_##type(const type *in, uint64_t n, const uint64_t *mask, type *out)     \
	{                                                                                          \
		uint64_t i, k = 0, word;                                                           \
                                                                                                   \
		for (i = 0; i < n; i += 64)                                                        \
			for (word = mask[i / 64]; word; word &= word - 1)                          \
				out[k++] = in[i + __builtin_ctzll(word)];                          \
		return k;                                                                          \
	}

BITMASK(uint8_t)
BITMASK(uint16_t)
BITMASK(uint32_t)
BITMASK(uint64_t)
DATA(uint8_t)
DATA(uint16_t)
DATA(uint32_t)
DATA(uint64_t)

uint64_t plain_bitmask(const void *in, uint64_t n, uint32_t width, uint64_t reference,
		       uint64_t *bits)
{
	switch (width) {
	case 1: return bitmask_uint8_t(in, n, reference, bits);
	case 2: return bitmask_uint16_t(in, n, reference, bits);
	case 4: return bitmask_uint32_t(in, n, reference, bits);
	}
	return bitmask_uint64_t(in, n, reference, bits);
}

uint64_t plain_data(const void *in, uint64_t n, uint32_t width, const uint64_t *mask, void *out)
{
	switch (width) {
	case 1: return data_uint8_t(in, n, mask, out);
	case 2: return data_uint16_t(in, n, mask, out);
	case 4: return data_uint32_t(in, n, mask, out);
	}
	return data_uint64_t(in, n, mask, out);
}

uint64_t plain_access(const uint32_t *data, const uint32_t *index, uint64_t n,
		      const uint64_t *mask, uint32_t *out)
{
	uint64_t i, k = 0, word;

	if (!mask) {
		for (i = 0; i < n; i++)
			out[i] = data[index[i]];
		return n;
	}
	for (i = 0; i < n; i += 64)
		for (word = mask[i / 64]; word; word &= word - 1)
			out[k++] = data[index[i + __builtin_ctzll(word)]];
	return k;
}

uint64_t plain_replicate(const uint32_t *in, const uint32_t *count, uint64_t n, uint32_t *out)
{
	uint64_t i, k = 0;
	uint32_t c;

	for (i = 0; i < n; i++)
		for (c = 0; c < count[i]; c++)
			out[k++] = in[i];
	return k;
}

uint64_t plain_expand(const uint32_t *data, const uint32_t *index, const uint32_t *count,
		      uint64_t n, uint32_t *out)
{
	uint64_t i, k = 0;

	for (i = 0; i < n; i++) {
		memcpy(out + k, data + index[i], count[i] * sizeof(*out));
		k += count[i];
	}
	return k;
}

uint64_t plain_unique(const uint32_t *id, uint64_t n, uint64_t *seen, uint64_t range, uint32_t *out)
{
	uint64_t i, k = 0;

	memset(seen, 0, (range + 63) / 64 * sizeof(*seen));
	for (i = 0; i < n; i++) {
		uint64_t bit = 1ull << (id[i] & 63);

		if (seen[id[i] / 64] & bit)
			continue;
		seen[id[i] / 64] |= bit;
		out[k++] = id[i];
	}
	return k;
}

uint64_t plain_unique_bits(const uint32_t *id, uint64_t n, uint64_t *seen, uint64_t range,
			   uint64_t *bits)
{
	uint64_t i, k = 0;

	memset(seen, 0, (range + 63) / 64 * sizeof(*seen));
	memset(bits, 0, (n + 63) / 64 * sizeof(*bits));
	for (i = 0; i < n; i++) {
		uint64_t bit = 1ull << (id[i] & 63);

		if (seen[id[i] / 64] & bit)
			continue;
		seen[id[i] / 64] |= bit;
		bits[i / 64] |= 1ull << (i & 63);
		k++;
	}
	return k;
}

uint64_t plain_best(const uint32_t *id, const uint32_t *cost, uint64_t n, uint32_t *best,
		    uint64_t range, uint32_t *out)
{
	uint64_t i, k = 0;

	memset(best, 0xff, range * sizeof(*best));
	for (i = 0; i < n; i++) {
		if (cost[i] >= best[id[i]])
			continue;
		best[id[i]] = cost[i];
		out[k++] = id[i];
	}
	return k;
}

uint64_t plain_gather(const uint32_t *row, const uint32_t *col, const uint32_t *list, uint64_t n,
		      uint32_t *out)
{
	uint64_t i, k = 0;
	uint32_t e, v;

	for (i = 0; i < n; i++) {
		v = list ? list[i] : i;
		for (e = row[v]; e < row[v + 1]; e++) {
			out[k++] = v;
			out[k++] = col[e];
		}
	}
	return k / 2;
}

uint64_t plain_weave(const struct gtu_hw_registration *r, uint64_t n, uint32_t *out)
{
	uint64_t i, j, k = 0;

	for (i = 0; i < n; i++) {
		for (j = 0; j < r[i].degree; j++) {
			out[k++] = r[i].vid;
			out[k++] = r[i].start + j;
		}
	}
	return k / 2;
}

void plain_scatter(const uint32_t *in, const uint32_t *to, uint64_t n, uint32_t *out)
{
	uint64_t i;

	for (i = 0; i < n; i++)
		out[to[i]] = in[i];
}

/* One pass; @words is a constant in each call, so that elements are moved in registers. */
static inline __attribute__((always_inline)) void sort_pass(const uint32_t *from, uint32_t *to,
							     uint64_t n, unsigned words,
							     unsigned shift, uint64_t *start)
{
	uint64_t i, k;
	unsigned w;

	for (i = 0; i < n; i++) {
		k = start[from[i * words] >> shift & 255]++ * words;
		for (w = 0; w < words; w++)
			to[k + w] = from[i * words + w];
	}
}

uint32_t *plain_sort_lines(const uint32_t *in, uint32_t *a, uint32_t *b, uint64_t n, unsigned words)
{
	uint64_t count[4][256] = { 0 }, i, sum, c;
	uint32_t *t, greatest = 0;
	unsigned pass, d;

	for (i = 0; i < n; i++) {
		uint32_t line = in[i * words] >> 5;

		greatest = line > greatest ? line : greatest;
		for (pass = 0; pass < 4; pass++)
			count[pass][line >> 8 * pass & 255]++;
	}
	for (pass = 0; pass < 4 && (!pass || greatest >> 8 * pass); pass++) {
		for (d = 0, sum = 0; d < 256; d++) {
			c = count[pass][d];
			count[pass][d] = sum;
			sum += c;
		}
		switch (words) {
		case 1: sort_pass(in, a, n, 1, 5 + 8 * pass, count[pass]); break;
		case 2: sort_pass(in, a, n, 2, 5 + 8 * pass, count[pass]); break;
		default: sort_pass(in, a, n, 3, 5 + 8 * pass, count[pass]);
		}
		in = a;
		t = a;
		a = b;
		b = t;
	}
	return b;
}
