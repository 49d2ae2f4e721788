// SPDX-License-Identifier: MIT
/* Streams that decompress plain, gzip, xz and zstd files. */
#include <errno.h>
#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "input.h"

#define CHUNK (256u << 10)
#define XZ_MEMORY (1ull << 30)		/* memory limit of the decoder; xz -9 takes 65 MiB */
/* Content above EXPANSION_ALWAYS bytes must have come from this many compressed bytes. */
#define EXPANSION_MAX 1024u
#define EXPANSION_ALWAYS (64u << 20)

struct file_stream {
	struct gtu_stream stream;
	struct gtu_input *in;
	uint8_t *raw;			/* CHUNK bytes of the file */
	size_t raw_at, raw_end;
	bool raw_ended;			/* end of the file reached */
	bool done;			/* the compressed content is complete */
	uint64_t content;		/* decompressed bytes so far */
	z_stream gz;
	lzma_stream xz;
	ZSTD_DStream *zstd;
};

static int64_t read_file(struct file_stream *s, void *to, uint64_t room, struct gtu_error *err)
{
	ssize_t got;

	while ((got = read(s->in->fd, to, room > (1u << 30) ? 1u << 30 : room)) < 0 && errno == EINTR)
		/* a pipe may bring nothing for hours, so a signal cannot wait for the next bytes */
		if (gtu_tick(s->in->progress, "reading", s->in->file_passed, s->in->file_bytes))
			return gtu_fail(err, GTU_ERR_INTERRUPTED, "reading %s was stopped", s->in->path);
	if (got < 0)
		return gtu_fail(err, GTU_ERR_FAIL, "%s: %s", s->in->path, strerror(errno));
	s->in->file_passed += (uint64_t)got;
	return got;
}

/* Read more of the file if the buffer is empty. */
static int refill(struct file_stream *s, struct gtu_error *err)
{
	int64_t got;

	if (s->raw_at < s->raw_end || s->raw_ended)
		return 0;
	got = read_file(s, s->raw, CHUNK, err);
	if (got < 0)
		return (int)got;
	s->raw_at = 0;
	s->raw_end = (size_t)got;
	s->raw_ended = !got;
	return 0;
}

static int damaged(const struct file_stream *s, const char *kind, const char *why, struct gtu_error *err)
{
	return gtu_fail(err, GTU_ERR_INPUT, "%s: byte %llu: the %s data is damaged: %s", s->in->path,
			(unsigned long long)(s->in->file_passed - (s->raw_end - s->raw_at)), kind, why);
}

/* Count @bytes of content; returns them, or an error if they are too many for the compressed file. */
static int64_t expanded(struct file_stream *s, uint64_t bytes, struct gtu_error *err)
{
	uint64_t consumed = s->in->file_passed - (s->raw_end - s->raw_at);

	s->content += bytes;
	if (s->content <= EXPANSION_ALWAYS || s->content / EXPANSION_MAX <= consumed)
		return (int64_t)bytes;
	return gtu_fail(err, GTU_ERR_INPUT, "%s: %llu compressed bytes expand to more than %llu, the limit is %u for each byte; "
			"decompress the file first if you trust it", s->in->path, (unsigned long long)consumed,
			(unsigned long long)s->content, EXPANSION_MAX);
}

static void close_plain(struct gtu_stream *stream)
{
	struct file_stream *s = (struct file_stream *)stream;

	free(s->raw);
	free(s);
}

static int64_t read_plain(struct gtu_stream *stream, void *to, uint64_t room, struct gtu_error *err)
{
	struct file_stream *s = (struct file_stream *)stream;
	size_t n = s->raw_end - s->raw_at;

	if (!n)
		return read_file(s, to, room, err);
	n = n < room ? n : room;
	memcpy(to, s->raw + s->raw_at, n);
	s->raw_at += n;
	return (int64_t)n;
}

static void close_gz(struct gtu_stream *stream)
{
	inflateEnd(&((struct file_stream *)stream)->gz);
	close_plain(stream);
}

static int64_t read_gz(struct gtu_stream *stream, void *to, uint64_t room, struct gtu_error *err)
{
	struct file_stream *s = (struct file_stream *)stream;
	int rc;

	s->gz.next_out = to;
	s->gz.avail_out = (uInt)(room > (1u << 30) ? 1u << 30 : room);
	room = s->gz.avail_out;
	while (s->gz.avail_out == room) {
		rc = refill(s, err);
		if (rc)
			return rc;
		if (s->raw_at == s->raw_end) {
			if (s->done)
				return 0;
			return damaged(s, "gzip", "it ends before its end mark", err);
		}
		if (s->done) {
			/* gzip members may be concatenated; anything else after one is padding */
			if (s->raw[s->raw_at] != 0x1f)
				return 0;
			inflateReset(&s->gz);
			s->done = false;
		}
		s->gz.next_in = s->raw + s->raw_at;
		s->gz.avail_in = (uInt)(s->raw_end - s->raw_at);
		rc = inflate(&s->gz, Z_NO_FLUSH);
		s->raw_at = s->raw_end - s->gz.avail_in;
		if (rc == Z_STREAM_END)
			s->done = true;
		else if (rc != Z_OK && rc != Z_BUF_ERROR)
			return damaged(s, "gzip", s->gz.msg ? s->gz.msg : "unknown reason", err);
	}
	return expanded(s, room - s->gz.avail_out, err);
}

static void close_xz(struct gtu_stream *stream)
{
	lzma_end(&((struct file_stream *)stream)->xz);
	close_plain(stream);
}

static const char *xz_reason(lzma_ret rc)
{
	switch (rc) {
	case LZMA_MEM_ERROR: return "out of memory for its dictionary";
	case LZMA_MEMLIMIT_ERROR: return "its dictionary needs more than 1 GiB";
	case LZMA_FORMAT_ERROR: return "something else follows";
	case LZMA_OPTIONS_ERROR: return "it uses options unknown to liblzma";
	case LZMA_DATA_ERROR: return "its checksum or coding is wrong";
	case LZMA_BUF_ERROR: return "it ends before its end mark";
	default: return "unknown reason";
	}
}

static int64_t read_xz(struct gtu_stream *stream, void *to, uint64_t room, struct gtu_error *err)
{
	struct file_stream *s = (struct file_stream *)stream;
	lzma_ret got;
	int rc;

	s->xz.next_out = to;
	s->xz.avail_out = room;
	while (s->xz.avail_out == room && !s->done) {
		rc = refill(s, err);
		if (rc)
			return rc;
		s->xz.next_in = s->raw + s->raw_at;
		s->xz.avail_in = s->raw_end - s->raw_at;
		got = lzma_code(&s->xz, s->raw_ended ? LZMA_FINISH : LZMA_RUN);
		s->raw_at = s->raw_end - s->xz.avail_in;
		if (got == LZMA_STREAM_END)
			s->done = true;
		else if (got != LZMA_OK)
			return damaged(s, "xz", xz_reason(got), err);
	}
	return expanded(s, room - s->xz.avail_out, err);
}

static void close_zstd(struct gtu_stream *stream)
{
	ZSTD_freeDStream(((struct file_stream *)stream)->zstd);
	close_plain(stream);
}

static int64_t read_zstd(struct gtu_stream *stream, void *to, uint64_t room, struct gtu_error *err)
{
	struct file_stream *s = (struct file_stream *)stream;
	ZSTD_outBuffer out = { to, room, 0 };
	ZSTD_inBuffer in;
	size_t got;
	int rc;

	while (!out.pos) {
		rc = refill(s, err);
		if (rc)
			return rc;
		in = (ZSTD_inBuffer){ s->raw, s->raw_end, s->raw_at };
		if (s->done && in.pos == in.size)
			return 0;
		got = ZSTD_decompressStream(s->zstd, &out, &in);
		if (ZSTD_isError(got))
			return damaged(s, "zstd", ZSTD_getErrorName(got), err);
		/* input exhausted with space left in the output: nothing is buffered */
		if (s->raw_ended && !out.pos && got)
			return damaged(s, "zstd", "it ends before its end mark", err);
		s->raw_at = in.pos;
		s->done = got == 0;
	}
	return expanded(s, out.pos, err);
}

int gtu_stream_open(struct gtu_input *in, struct gtu_error *err)
{
	static const uint8_t gz[] = { 0x1f, 0x8b }, xz[] = { 0xfd, '7', 'z', 'X', 'Z', 0 },
			     zstd[] = { 0x28, 0xb5, 0x2f, 0xfd };
	struct file_stream *s = calloc(1, sizeof(*s));
	const char *missing = NULL;
	int rc;

	if (s)
		s->raw = malloc(CHUNK);
	if (!s || !s->raw) {
		free(s);
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory reading %s", in->path);
	}
	s->in = in;
	s->stream.read = read_plain;
	s->stream.close = close_plain;
	rc = refill(s, err);
	if (rc) {
		close_plain(&s->stream);
		return rc;
	}
	if (s->raw_end >= sizeof(gz) && !memcmp(s->raw, gz, sizeof(gz))) {
		if (inflateInit2(&s->gz, 15 + 16) != Z_OK)
			missing = "gzip";
		s->stream.read = read_gz;
		s->stream.close = close_gz;
	} else if (s->raw_end >= sizeof(xz) && !memcmp(s->raw, xz, sizeof(xz))) {
		if (lzma_stream_decoder(&s->xz, XZ_MEMORY, LZMA_CONCATENATED) != LZMA_OK)
			missing = "xz";
		s->stream.read = read_xz;
		s->stream.close = close_xz;
	} else if (s->raw_end >= sizeof(zstd) && !memcmp(s->raw, zstd, sizeof(zstd))) {
		s->zstd = ZSTD_createDStream();
		if (!s->zstd || ZSTD_isError(ZSTD_initDStream(s->zstd)))
			missing = "zstd";
		s->stream.read = read_zstd;
		s->stream.close = close_zstd;
	} else {
		in->plain = true;
	}
	if (missing) {
		s->stream.close(&s->stream);
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for %s decompression of %s",
				missing,
				in->path);
	}
	in->stream = &s->stream;
	return 0;
}
