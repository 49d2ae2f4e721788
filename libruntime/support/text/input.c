// SPDX-License-Identifier: MIT
/* Input of the readers: opens, buffers and bounds the content of a file or of memory. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libruntime/support/advice.h"
#include "libruntime/support/memory.h"
#include "input.h"
#include "scan.h"

#define WINDOW (1u << 20)
#define DECLARED_ALWAYS (1u << 24)
#define ARRAY_STEP (16u << 20)
#define LINE_MAX_BYTES (256u << 20)

static const char *const compressed[] = { ".gz", ".xz", ".zst", ".zstd" };

size_t gtu_path_base(const char *path)
{
	size_t length = strlen(path), i, n;

	for (i = 0; i < sizeof(compressed) / sizeof(compressed[0]); i++) {
		n = strlen(compressed[i]);
		if (length > n && !strcmp(path + length - n, compressed[i]))
			return length - n;
	}
	return length;
}

bool gtu_path_ends(const char *path, const char *suffix)
{
	size_t length = gtu_path_base(path), n = strlen(suffix);

	return length > n && !strncmp(path + length - n, suffix, n);
}

void gtu_input_memory(struct gtu_input *in, const void *data, size_t size, const char *path)
{
	memset(in, 0, sizeof(*in));
	in->path = path;
	in->fd = -1;
	in->window = (uint8_t *)data;
	in->cur = data;
	in->end = size ? in->cur + size : in->cur;
	in->ended = true;
	in->plain = true;
	in->file_bytes = size;
}

int gtu_input_open(struct gtu_input *in, const char *path, const struct gtu_progress *progress,
		   struct gtu_error *err)
{
	struct stat st;
	int rc;

	memset(in, 0, sizeof(*in));
	in->path = path;
	in->progress = progress;
	in->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (in->fd < 0)
		return gtu_advise_open(path, errno, err);
	if (fstat(in->fd, &st) || S_ISDIR(st.st_mode)) {
		rc = gtu_advise_open(path, S_ISDIR(st.st_mode) ? EISDIR : errno, err);
		close(in->fd);
		in->fd = -1;
		return rc;
	}
	in->file_bytes = S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
	posix_fadvise(in->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	in->window = malloc(WINDOW);
	if (!in->window) {
		gtu_input_close(in);
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory reading %s", path);
	}
	in->room = WINDOW;
	in->cur = in->end = in->window;
	rc = gtu_stream_open(in, err);
	if (rc)
		gtu_input_close(in);
	return rc;
}

void gtu_input_close(struct gtu_input *in)
{
	if (in->stream)
		in->stream->close(in->stream);
	if (in->fd >= 0)
		close(in->fd);
	if (in->room)
		free(in->window);
	memset(in, 0, sizeof(*in));
	in->fd = -1;
}

int gtu_input_companion(const struct gtu_input *in, const char *own, const char *suffix,
		     struct gtu_input *other, char **path, struct gtu_error *err)
{
	size_t stem = gtu_path_base(in->path), i;
	const struct gtu_companion *b;

	*path = NULL;
	if (stem > strlen(own) && !strncmp(in->path + stem - strlen(own), own, strlen(own)))
		stem -= strlen(own);
	for (b = in->beside; b; b = b->next)
		if (!strcmp(b->suffix, suffix)) {
			if (asprintf(path, "%.*s%s", (int)stem, in->path, suffix) < 0)
				goto no_memory;
			gtu_input_memory(other, b->data, b->size, *path);
			return 1;
		}
	if (in->fd < 0)
		return 0;
	for (i = 0; i <= sizeof(compressed) / sizeof(compressed[0]); i++) {
		int rc;

		if (asprintf(path, "%.*s%s%s", (int)stem, in->path, suffix, i ? compressed[i - 1] : "") < 0)
			goto no_memory;
		if (!access(*path, F_OK)) {
			rc = gtu_input_open(other, *path, in->progress, err);
			if (!rc)
				return 1;
			free(*path);
			*path = NULL;
			return rc;
		}
		free(*path);
		*path = NULL;
	}
	return 0;
no_memory:
	*path = NULL;
	return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for a file name");
}

int gtu_input_fill(struct gtu_input *in, struct gtu_error *err)
{
	uint64_t left = (uint64_t)(in->end - in->cur);
	uint8_t *bigger;
	int64_t got;

	if (in->ended)
		return 0;
	in->passed += (uint64_t)(in->cur - in->window);
	if (left == in->room) {
		/* a line, or a format read as a whole, exceeds the window */
		if (gtu_check_memory(in->room * 2, in->path, "a buffer for its content", err))
			return GTU_ERR_NOMEM;
		bigger = realloc(in->window, in->room * 2);
		if (!bigger)
			return gtu_fail(err, GTU_ERR_NOMEM, "%s: out of memory for a buffer of "
					"%llu bytes", in->path,
					(unsigned long long)in->room * 2);
		in->window = bigger;
		in->room *= 2;
	} else if (left) {
		memmove(in->window, in->cur, left);
	}
	in->cur = in->window;
	in->end = in->window + left;
	if (gtu_tick(in->progress, "reading", in->file_passed, in->file_bytes))
		return gtu_fail(err, GTU_ERR_INTERRUPTED, "reading %s was stopped", in->path);
	got = in->stream->read(in->stream, in->window + left, in->room - left, err);
	if (got < 0)
		return (int)got;
	if (!got)
		in->ended = true;
	in->end += got;
	return got > 0;
}

int gtu_input_peek(struct gtu_input *in, uint64_t bytes, struct gtu_error *err)
{
	int rc;

	while ((uint64_t)(in->end - in->cur) < bytes) {
		rc = gtu_input_fill(in, err);
		if (rc <= 0)
			return rc;
	}
	return 0;
}

/*
 * Readers treat a carriage return as a blank, since many files have one before each newline. A file
 * with carriage returns only would become one line, so reject those from @from to the window's end.
 */
static int check_returns(const struct gtu_input *in, const uint8_t *from, struct gtu_error *err)
{
	const uint8_t *p = from;

	while (p < in->end && (p = memchr(p, '\r', (size_t)(in->end - p))) && ++p < in->end)
		if (*p != '\n' && *p != '\r')
			return gtu_input_fail_byte(in, err, in->passed + (uint64_t)(p - 1 - in->window),
						   "a carriage return without a newline does not "
						   "end a line; convert the file: tr '\\r' '\\n'");
	return 0;
}

int gtu_input_line_slow(struct gtu_input *in, const uint8_t **p, const uint8_t **end,
			struct gtu_error *err)
{
	uint64_t seen;
	const uint8_t *nl;
	int rc;

	if (!in->line) {
		rc = gtu_input_peek(in, 3, err);
		if (rc < 0)
			return rc;
		gtu_input_skip_mark(in);
		rc = check_returns(in, in->cur, err);
		if (rc)
			return rc;
		nl = in->cur == in->end ? NULL : memchr(in->cur, '\n', (size_t)(in->end - in->cur));
		if (nl)
			goto found;
	}
	for (;;) {
		seen = (uint64_t)(in->end - in->cur);
		if (seen > LINE_MAX_BYTES)
			return gtu_fail(err, GTU_ERR_INPUT, "%s:%llu: the line has more than %u bytes, which is the limit",
					in->path, (unsigned long long)in->line + 1, LINE_MAX_BYTES);
		rc = gtu_input_fill(in, err);
		if (rc < 0)
			return rc;
		if (!rc)
			break;
		/*
		 * the byte after a carriage return at the end of the last piece is known only now
		 */
		rc = check_returns(in, in->cur + (seen && in->cur[seen - 1] == '\r' ? seen - 1 : seen), err);
		if (rc)
			return rc;
		nl = memchr(in->cur + seen, '\n', (size_t)(in->end - in->cur) - seen);
		if (nl)
			goto found;
	}
	if (in->cur == in->end)
		return 0;
	*p = in->cur;
	*end = in->end;
	in->cur = in->end;
	in->line++;
	return 1;
found:
	*p = in->cur;
	*end = nl;
	in->cur = nl + 1;
	in->line++;
	return 1;
}

static int fail_short(const struct gtu_input *in, uint64_t bytes, const char *what,
		      struct gtu_error *err)
{
	return gtu_fail(err, GTU_ERR_INPUT, "%s: cut short: ends at byte %llu, %llu bytes before the end of %s",
			in->path, (unsigned long long)gtu_input_offset(in), (unsigned long long)bytes, what);
}

int gtu_input_read(struct gtu_input *in, void *to, uint64_t bytes, const char *what,
		   struct gtu_error *err)
{
	uint8_t *p = to;
	uint64_t piece;
	int64_t got;
	int rc;

	while (bytes) {
		piece = (uint64_t)(in->end - in->cur);
		if (!piece && !in->ended && bytes >= in->room) {
			/* the window is empty: read directly into the destination */
			in->passed += (uint64_t)(in->cur - in->window);
			in->cur = in->end = in->window;
			if (gtu_tick(in->progress, "reading", in->file_passed, in->file_bytes))
				return gtu_fail(err, GTU_ERR_INTERRUPTED, "reading %s was stopped", in->path);
			got = in->stream->read(in->stream, p, bytes > 4 * WINDOW ? 4 * WINDOW : bytes, err);
			if (got < 0)
				return (int)got;
			in->ended = !got;
			in->passed += (uint64_t)got;
			p += got;
			bytes -= (uint64_t)got;
			continue;
		}
		if (!piece) {
			rc = gtu_input_fill(in, err);
			if (rc < 0)
				return rc;
			if (!rc)
				return fail_short(in, bytes, what, err);
			continue;
		}
		piece = piece < bytes ? piece : bytes;
		memcpy(p, in->cur, piece);
		in->cur += piece;
		p += piece;
		bytes -= piece;
	}
	return 0;
}

int gtu_input_skip(struct gtu_input *in, uint64_t bytes, const char *what, struct gtu_error *err)
{
	uint64_t piece;
	int rc;

	while (bytes) {
		piece = (uint64_t)(in->end - in->cur);
		if (!piece) {
			rc = gtu_input_fill(in, err);
			if (rc < 0)
				return rc;
			if (!rc)
				return fail_short(in, bytes, what, err);
			continue;
		}
		piece = piece < bytes ? piece : bytes;
		in->cur += piece;
		bytes -= piece;
	}
	return 0;
}

int gtu_input_array(struct gtu_input *in, uint64_t count, uint64_t bytes, void **out, const char *what,
		    struct gtu_error *err)
{
	uint64_t total, have = 0, room, left;
	uint8_t *array = NULL, *bigger;
	int rc;

	*out = NULL;
	if (count > (uint64_t)INT64_MAX / bytes)
		return gtu_input_fail_byte(in, err, gtu_input_offset(in), "%llu elements in %s are "
					   "too many for any file",
					   (unsigned long long)count, what);
	total = count * bytes;
	/*
	 * if the size is known, a false count is detected at once, and the array is allocated in
	 * one step
	 */
	left = in->plain && in->file_bytes > gtu_input_offset(in) ? in->file_bytes - gtu_input_offset(in) : 0;
	if (in->plain && in->file_bytes && total > left)
		return gtu_input_fail_byte(in, err, gtu_input_offset(in),
					   "%s needs %llu bytes, but the file has %llu left", what,
					   (unsigned long long)total, (unsigned long long)left);
	rc = gtu_check_memory(total, in->path, what, err);
	if (rc)
		return rc;
	room = in->plain && in->file_bytes ? total : total < ARRAY_STEP ? total : ARRAY_STEP;
	do {
		bigger = realloc(array, room ? room : 1);
		if (!bigger) {
			free(array);
			return gtu_fail(err, GTU_ERR_NOMEM, "%s: out of memory for %llu bytes of "
					"%s", in->path,
					(unsigned long long)room, what);
		}
		array = bigger;
		rc = gtu_input_read(in, array + have, room - have, what, err);
		if (rc) {
			free(array);
			return rc;
		}
		have = room;
		room = total - room < room ? total : room * 2;
	} while (have < total);
	*out = array;
	return 0;
}

int gtu_input_all(struct gtu_input *in, struct gtu_error *err)
{
	int rc;

	do
		rc = gtu_input_fill(in, err);
	while (rc > 0);
	return rc;
}

static void print_token(char *to, size_t room, const uint8_t *p, const uint8_t *end)
{
	size_t at = 0;

	while (p < end && at + 8 < room && !strchr(" \t,;\r", *p ? *p : 1)) {
		if (isprint(*p))
			to[at++] = (char)*p;
		else
			at += (size_t)snprintf(to + at, room - at, "\\x%02x", *p);
		p++;
	}
	to[at] = 0;
}

/* Whether the column has digits that gtu_scan_u64() rejects as too large. */
static bool is_too_large(const uint8_t *p, const uint8_t *end)
{
	const uint8_t *q = p;
	uint64_t value;

	while (q < end && *q >= '0' && *q <= '9')
		q++;
	return q > p && (q == end || gtu_is_separator(*q)) && !gtu_scan_u64(&p, end, &value);
}

int gtu_input_fail_line(const struct gtu_input *in, struct gtu_error *err, const uint8_t *p,
			const uint8_t *end, const char *fmt, ...)
{
	char sentence[200], token[48];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(sentence, sizeof(sentence), fmt, ap);
	va_end(ap);
	if (!p)
		return gtu_fail(err, GTU_ERR_INPUT, "%s:%llu: %s", in->path, (unsigned long long)in->line,
				sentence);
	print_token(token, sizeof(token), p, end);
	return gtu_fail(err, GTU_ERR_INPUT, "%s:%llu: %s, found %s%s%s%s", in->path,
			(unsigned long long)in->line, sentence, *token ? "'" : "", *token ? token :
			p < end ? "a separator" : "the end of the line", *token ? "'" : "",
			is_too_large(p,
				     end) ? ", which is too large: the maximum is 2^63 - 1" : "");
}

int gtu_input_fail_byte(const struct gtu_input *in, struct gtu_error *err, uint64_t byte,
			const char *fmt, ...)
{
	char sentence[300];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(sentence, sizeof(sentence), fmt, ap);
	va_end(ap);
	return gtu_fail(err, GTU_ERR_INPUT, "%s: byte %llu: %s", in->path, (unsigned long long)byte,
			sentence);
}

int gtu_input_check_declared(const struct gtu_input *in, uint64_t n, struct gtu_error *err)
{
	uint64_t limit = 64 * gtu_input_offset(in);

	limit = limit > DECLARED_ALWAYS ? limit : DECLARED_ALWAYS;

	if (n <= limit)
		return 0;
	return gtu_fail(err, GTU_ERR_INPUT,
			"%s: %llu declared vertices are too many for %llu bytes of content: the "
			"limit is %llu (2^24, or 64 per byte if that is more)",
			in->path, (unsigned long long)n, (unsigned long long)gtu_input_offset(in),
			(unsigned long long)limit);
}
