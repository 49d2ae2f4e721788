/* SPDX-License-Identifier: MIT */
/*
 * Parsing of numbers and columns in a text line, without a library call in the common case. All
 * functions work on [p, end) and never read *end.
 */
#ifndef GTU_TEXT_SCAN_H
#define GTU_TEXT_SCAN_H

#include <stdbool.h>
#include <stdint.h>

static inline bool gtu_is_blank(uint8_t c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static inline bool gtu_is_separator(uint8_t c)
{
	return gtu_is_blank(c) || c == ',' || c == ';' || c == '|';
}

static inline const uint8_t *gtu_skip_blanks(const uint8_t *p, const uint8_t *end)
{
	while (p < end && gtu_is_blank(*p))
		p++;
	return p;
}

/* Skip to the next column: blanks with at most one comma, so that an empty column is noticed. */
static inline const uint8_t *gtu_skip_separator(const uint8_t *p, const uint8_t *end)
{
	p = gtu_skip_blanks(p, end);
	if (p < end && (*p == ',' || *p == ';' || *p == '|'))
		p = gtu_skip_blanks(p + 1, end);
	return p;
}

static inline const uint8_t *gtu_skip_column(const uint8_t *p, const uint8_t *end)
{
	while (p < end && !gtu_is_separator(*p))
		p++;
	return p;
}

/*
 * Parse a decimal number below 2^63 that fills its column, and advance *p. Otherwise return false
 * and leave *p unchanged.
 */
static inline bool gtu_scan_u64(const uint8_t **p, const uint8_t *end, uint64_t *value)
{
	const uint64_t limit = 1ull << 63;
	const uint8_t *q = *p;
	uint64_t x = 0;
	unsigned int digit;

	while (q < end && (digit = (unsigned int)*q - '0') < 10) {
		if (__builtin_expect(x >= limit / 10 && (x > limit / 10 || digit >= limit % 10), 0))
			return false;
		x = x * 10 + digit;
		q++;
	}
	if (q == *p || (q < end && !gtu_is_separator(*q)))
		return false;
	*value = x;
	*p = q;
	return true;
}

/*
 * Parse a number in strtod() syntax (including hexadecimal and "inf"; not NaN or an overflow) that
 * fills its column, correctly rounded and independent of the locale.
 */
bool gtu_scan_real(const uint8_t **p, const uint8_t *end, double *value);

/* Whether the column looks like a number, including those that gtu_scan_real() rejects. */
bool gtu_looks_real(const uint8_t *p, const uint8_t *end);

#endif
