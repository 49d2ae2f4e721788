/* SPDX-License-Identifier: MIT */
/*
 * What readers read: the bytes of a file or of memory, with compression undone, as lines, as arrays or
 * as a whole. Text passes through a window, so that it is never all in memory.
 */
#ifndef GTU_READ_INPUT_H
#define GTU_READ_INPUT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "gtu/error.h"

/* A source of decompressed bytes. read() returns how many came, 0 at the end, negative an error. */
struct gtu_stream {
	int64_t (*read)(struct gtu_stream *s, void *to, uint64_t room, struct gtu_error *err);
	void (*close)(struct gtu_stream *s);
};

/* A file beside the one being read, for inputs in memory. */
struct gtu_beside {
	const char *suffix;		/* replaces the input's own: ".v" */
	const void *data;
	size_t size;
	struct gtu_beside *next;
};

struct gtu_input {
	const char *path;		/* for messages and to find files beside it */
	uint8_t *window;
	uint64_t room;			/* of window; 0: the window is the caller's memory, all of it */
	const uint8_t *cur, *end;	/* what is left of the window */
	uint64_t line;			/* number of the line returned last */
	uint64_t passed;		/* bytes of content that lie before the window */
	bool ended;			/* nothing comes after the window */
	int fd;				/* -1: memory */
	uint64_t file_bytes;		/* compressed size, 0 if unknown */
	uint64_t file_passed;		/* of those, read */
	bool plain;			/* not compressed: file_bytes is the size of the content */
	struct gtu_stream *stream;
	const struct gtu_progress *progress;
	const struct gtu_beside *beside;
};

/* Open @path, which must outlive the input. The compression is found from the content. */
int gtu_input_open(struct gtu_input *in, const char *path, const struct gtu_progress *progress,
		   struct gtu_error *err);
/* Read @size bytes at @data, taken as the content of a file called @path. */
void gtu_input_memory(struct gtu_input *in, const void *data, size_t size, const char *path);
void gtu_input_close(struct gtu_input *in);

/*
 * The file whose name is that of @in with @own replaced by @suffix (both may follow a .gz, .xz or
 * .zst, and the file found may have one). 1: opened, 0: there is none, negative an error. @path is
 * what the new input is called: freed by the caller after closing it.
 */
int gtu_input_beside(const struct gtu_input *in, const char *own, const char *suffix,
		     struct gtu_input *other, char **path, struct gtu_error *err);

/* Length of @path without a compression's suffix, and whether it then ends in @suffix. */
size_t gtu_path_base(const char *path);
bool gtu_path_ends(const char *path, const char *suffix);

/* More into the window, keeping what is left of it: 1 more came, 0 the end, negative an error. */
int gtu_input_fill(struct gtu_input *in, struct gtu_error *err);

/* Move behind a UTF-8 byte order mark, if the window begins with one. */
static inline bool gtu_input_skip_mark(struct gtu_input *in)
{
	if (in->end - in->cur < 3 || memcmp(in->cur, "\xef\xbb\xbf", 3))
		return false;
	in->cur += 3;
	return true;
}

/* At least @bytes in the window, unless the input ends before. */
int gtu_input_peek(struct gtu_input *in, uint64_t bytes, struct gtu_error *err);

/* Where the next byte lies in the content. */
static inline uint64_t gtu_input_offset(const struct gtu_input *in)
{
	return in->passed + (uint64_t)(in->cur - in->window);
}

/* Exactly @bytes, or an error that says where the input ends and that @what was expected. */
int gtu_input_read(struct gtu_input *in, void *to, uint64_t bytes, const char *what,
		   struct gtu_error *err);
int gtu_input_skip(struct gtu_input *in, uint64_t bytes, const char *what, struct gtu_error *err);

/*
 * @count elements of @bytes each in memory of their own, *out, to be freed. Memory grows with what has
 * come, so that a count that lies costs nothing.
 */
int gtu_input_array(struct gtu_input *in, uint64_t count, uint64_t bytes, void **out,
		    const char *what, struct gtu_error *err);

/* All that is left, contiguous, at in->cur: for formats that are one piece. */
int gtu_input_all(struct gtu_input *in, struct gtu_error *err);

int gtu_input_line_slow(struct gtu_input *in, const uint8_t **p, const uint8_t **end,
			struct gtu_error *err);

/* The next line as [*p, *end) without its newline: 1, 0 at the end, negative an error. */
static inline int gtu_input_line(struct gtu_input *in, const uint8_t **p, const uint8_t **end,
				 struct gtu_error *err)
{
	const uint8_t *nl = in->cur == in->end ? NULL :
			    memchr(in->cur, '\n', (size_t)(in->end - in->cur));

	/* The first line too: there what may precede text is dealt with. */
	if (__builtin_expect(!nl || !in->line, 0))
		return gtu_input_line_slow(in, p, end, err);
	*p = in->cur;
	*end = nl;
	in->cur = nl + 1;
	in->line++;
	return 1;
}

/* GTU_ERR_INPUT: "path:line: sentence, found 'token'" with the token at @p (at or before @end). */
int gtu_input_fail_line(const struct gtu_input *in, struct gtu_error *err, const uint8_t *p,
			const uint8_t *end, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));
/* GTU_ERR_INPUT: "path: byte N: sentence". */
int gtu_input_fail_byte(const struct gtu_input *in, struct gtu_error *err, uint64_t byte,
			const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/*
 * A file may declare vertices that it never mentions, but not so many that a few bytes cost gigabytes:
 * 2^24, whose rows take 128 MiB, or if that is more, 64 for each byte of its content (which has then been
 * read). @n beyond that is an error.
 */
int gtu_input_check_declared(const struct gtu_input *in, uint64_t n, struct gtu_error *err);

/* Set in->stream to the one for the compression that the first bytes show. */
int gtu_stream_open(struct gtu_input *in, struct gtu_error *err);

#endif
