/* SPDX-License-Identifier: MIT */
/* Buffered output to a file that appears under its name only when it is complete. */
#ifndef GTU_WRITE_OUTPUT_H
#define GTU_WRITE_OUTPUT_H

#include <stdint.h>
#include <string.h>

#include "gtu/error.h"

struct gtu_output {
	char *path, *temporary;
	int fd;
	int reason;			/* errno of the first failed write */
	uint8_t *buffer;
	size_t used;
	uint64_t written;		/* bytes written from the buffer */
};

#define GTU_OUTPUT_BUFFER	(1u << 20)
#define GTU_OUTPUT_ITEM		64u	/* longest number */

/*
 * Open the file named by @base (first @length bytes) and @suffix. GTU_ERR_FAIL or _USAGE with a
 * sentence.
 */
int gtu_output_open(struct gtu_output *o, const char *base, size_t length, const char *suffix, struct gtu_error *err);
/*
 * Close @count files; @rc is the result so far. 0 renames all to their final names, in order; any
 * other value, or a failed write, removes all. Returns @rc, or GTU_ERR_FAIL with a sentence if
 * closing failed.
 */
int gtu_output_close(struct gtu_output *o, unsigned count, int rc, struct gtu_error *err);

void gtu_output_flush(struct gtu_output *o);
void gtu_output_bytes(struct gtu_output *o, const void *data, uint64_t bytes);

static inline void gtu_output_text(struct gtu_output *o, const char *text)
{
	gtu_output_bytes(o, text, strlen(text));
}

/* Reserve GTU_OUTPUT_ITEM bytes of the buffer. */
static inline uint8_t *gtu_output_reserve(struct gtu_output *o)
{
	if (o->used > GTU_OUTPUT_BUFFER - GTU_OUTPUT_ITEM)
		gtu_output_flush(o);
	return o->buffer + o->used;
}

static inline void gtu_output_u64(struct gtu_output *o, uint64_t x, char end)
{
	uint8_t *to = gtu_output_reserve(o), digit[20];
	unsigned n = 0;

	do {
		digit[n++] = (uint8_t)('0' + x % 10);
		x /= 10;
	} while (x);
	o->used += n + 1;
	while (n)
		*to++ = digit[--n];
	*to = (uint8_t)end;
}

/*
 * Write @x so that reading gives the same double; always with a point or an exponent, so that it is
 * not an integer.
 */
void gtu_output_real(struct gtu_output *o, double x, char end);

#endif
