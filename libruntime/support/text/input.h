/* SPDX-License-Identifier: MIT */
/*
 * Input of the readers: the decompressed bytes of a file or of memory, as lines, as arrays or as a
 * whole. Text passes through a window, so that it is never in memory as a whole.
 */
#ifndef GTU_TEXT_INPUT_H
#define GTU_TEXT_INPUT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "gtu/error.h"

/*
 * A source of decompressed bytes. read() returns the number of bytes, 0 at the end, or a negative
 * error.
 */
struct gtu_stream {
	int64_t (*read)(struct gtu_stream *s, void *to, uint64_t room, struct gtu_error *err);
	void (*close)(struct gtu_stream *s);
};

/* A companion file of the input, for inputs in memory. */
struct gtu_companion {
	const char *suffix;		/* replaces the input's own: ".v" */
	const void *data;
	size_t size;
	struct gtu_companion *next;
};

struct gtu_input {
	const char *path;		/* for messages and to find companion files */
	uint8_t *window;
	uint64_t room;			/* capacity of window; 0: the window is the caller's memory, all of it */
	const uint8_t *cur, *end;	/* unread part of the window */
	uint64_t line;			/* number of the last line returned */
	uint64_t passed;		/* bytes of content before the window */
	bool ended;			/* the window holds the end of the content */
	int fd;				/* -1: memory */
	uint64_t file_bytes;		/* compressed size, 0 if unknown */
	uint64_t file_passed;		/* compressed bytes read */
	bool plain;			/* not compressed: file_bytes is the size of the content */
	struct gtu_stream *stream;
	const struct gtu_progress *progress;
	const struct gtu_companion *beside;
};

/* Open @path, which must outlive the input. The content determines the compression. */
int gtu_input_open(struct gtu_input *in, const char *path, const struct gtu_progress *progress,
		   struct gtu_error *err);
/* Use @size bytes at @data as the content of a file called @path. */
void gtu_input_memory(struct gtu_input *in, const void *data, size_t size, const char *path);
void gtu_input_close(struct gtu_input *in);

/*
 * Open the companion file whose name is that of @in with @own replaced by @suffix. Both may be
 * followed by a .gz, .xz or .zst. 1: opened; 0: not found; negative: an error. The caller must free
 * *@path, the new input's name, after closing it.
 */
int gtu_input_companion(const struct gtu_input *in, const char *own, const char *suffix,
		     struct gtu_input *other, char **path, struct gtu_error *err);

/* Length of @path without a compression suffix, and whether it then ends in @suffix. */
size_t gtu_path_base(const char *path);
bool gtu_path_ends(const char *path, const char *suffix);

/* Read more into the window, keeping its unread part. 1: more data; 0: end; negative: an error. */
int gtu_input_fill(struct gtu_input *in, struct gtu_error *err);

/* Skip a UTF-8 byte order mark at the start of the window. */
static inline bool gtu_input_skip_mark(struct gtu_input *in)
{
	if (in->end - in->cur < 3 || memcmp(in->cur, "\xef\xbb\xbf", 3))
		return false;
	in->cur += 3;
	return true;
}

/* Make at least @bytes available in the window, unless the input ends before. */
int gtu_input_peek(struct gtu_input *in, uint64_t bytes, struct gtu_error *err);

/* Offset of the next byte in the content. */
static inline uint64_t gtu_input_offset(const struct gtu_input *in)
{
	return in->passed + (uint64_t)(in->cur - in->window);
}

/* Read exactly @bytes, or fail with the offset of the end and @what was expected. */
int gtu_input_read(struct gtu_input *in, void *to, uint64_t bytes, const char *what,
		   struct gtu_error *err);
int gtu_input_skip(struct gtu_input *in, uint64_t bytes, const char *what, struct gtu_error *err);

/*
 * Read @count elements of @bytes each into *out, which the caller must free. Memory grows with the
 * data read, so that a false count costs nothing.
 */
int gtu_input_array(struct gtu_input *in, uint64_t count, uint64_t bytes, void **out,
		    const char *what, struct gtu_error *err);

/* Read the rest of the input, contiguous at in->cur. */
int gtu_input_all(struct gtu_input *in, struct gtu_error *err);

int gtu_input_line_slow(struct gtu_input *in, const uint8_t **p, const uint8_t **end,
			struct gtu_error *err);

/* The next line as [*p, *end) without its newline. 1: a line; 0: end; negative: an error. */
static inline int gtu_input_line(struct gtu_input *in, const uint8_t **p, const uint8_t **end,
				 struct gtu_error *err)
{
	const uint8_t *nl = in->cur == in->end ? NULL :
			    memchr(in->cur, '\n', (size_t)(in->end - in->cur));

	/* the first line, too: a byte order mark may precede it */
	if (__builtin_expect(!nl || !in->line, 0))
		return gtu_input_line_slow(in, p, end, err);
	*p = in->cur;
	*end = nl;
	in->cur = nl + 1;
	in->line++;
	return 1;
}

/*
 * Fail with GTU_ERR_INPUT: "path:line: sentence, found 'token'"; the token is at @p (at or before
 * @end).
 */
int gtu_input_fail_line(const struct gtu_input *in, struct gtu_error *err, const uint8_t *p,
			const uint8_t *end, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));
/* Fail with GTU_ERR_INPUT: "path: byte N: sentence". */
int gtu_input_fail_byte(const struct gtu_input *in, struct gtu_error *err, uint64_t byte,
			const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/*
 * Check the number of declared vertices. A file may declare vertices that it never mentions, but a
 * few bytes must not cost gigabytes. The limit is 2^24, whose rows take 128 MiB, or 64 per byte of
 * content if that is more. Call it after reading the content.
 */
int gtu_input_check_declared(const struct gtu_input *in, uint64_t n, struct gtu_error *err);

/* Set in->stream to a decompressor according to the first bytes. */
int gtu_stream_open(struct gtu_input *in, struct gtu_error *err);

#endif
