// SPDX-License-Identifier: MIT
/* Parses real numbers of text columns, correctly rounded and independent of the locale. */
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "scan.h"

/* Powers of ten that are exact in a double. */
static const double power[] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,	1e8,  1e9,  1e10, 1e11,
				1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };

static locale_t c_locale;

static void make_locale(void)
{
	c_locale = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
}

#define TOKEN_ROOM 400

/* Parse the column at @p with strtod(), via @token; false unless all of it is a number. */
static bool parse_column(const uint8_t *p, const uint8_t *stop, char token[TOKEN_ROOM], double *x)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	size_t length = (size_t)(stop - p);
	char *parsed;

	if (!length || length >= TOKEN_ROOM)
		return false;
	pthread_once(&once, make_locale);
	if (!c_locale)
		return false;
	memcpy(token, p, length);
	token[length] = 0;
	*x = strtod_l(token, &parsed, c_locale);
	return parsed == token + length;
}

static bool scan_slowly(const uint8_t **p, const uint8_t *end, double *value)
{
	const uint8_t *stop = gtu_skip_column(*p, end);
	char token[TOKEN_ROOM];
	double x;

	/*
	 * accept infinity only when written as such (some collections have it), not from overflow
	 */
	if (!parse_column(*p, stop, token, &x) || isnan(x) || (isinf(x) && strpbrk(token, "0123456789")))
		return false;
	*value = x;
	*p = stop;
	return true;
}

bool gtu_looks_real(const uint8_t *p, const uint8_t *end)
{
	const uint8_t *stop = gtu_skip_column(p, end);
	char token[TOKEN_ROOM];
	double x;

	if (stop - p < TOKEN_ROOM)
		return parse_column(p, stop, token, &x);
	while (p < stop && ((*p >= '0' && *p <= '9') || *p == '.'))
		p++;
	return p == stop;
}

bool gtu_scan_real(const uint8_t **p, const uint8_t *end, double *value)
{
	const uint8_t *q = *p, *first;
	bool negative = false;
	uint64_t mantissa = 0;
	int digits = 0, scale = 0;
	double x;

	if (q < end && (*q == '-' || *q == '+'))
		negative = *q++ == '-';
	for (first = q; q < end && *q >= '0' && *q <= '9'; q++)
		mantissa = mantissa * 10 + (*q - '0');
	digits = (int)(q - first);
	if (q < end && *q == '.') {
		first = ++q;
		for (; q < end && *q >= '0' && *q <= '9'; q++)
			mantissa = mantissa * 10 + (*q - '0');
		scale = (int)(q - first);
		digits += scale;
	}
	/* with both factors exact there is one rounding; leave other numbers to strtod() */
	if (!digits || digits > 18 || mantissa > 1ull << 53 || scale > 22 ||
	    (q < end && !gtu_is_separator(*q)))
		return scan_slowly(p, end, value);
	x = (double)mantissa / power[scale];
	*value = negative ? -x : x;
	*p = q;
	return true;
}
