// SPDX-License-Identifier: MIT
/* Buffered output to a temporary file, renamed when it is complete. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libruntime/graph/graph_internal.h"
#include "libruntime/support/advice.h"
#include "output.h"

static int cannot(const struct gtu_output *o, int reason, struct gtu_error *err)
{
	return gtu_advise_write(o->path, reason, err);
}

static void forget(struct gtu_output *o)
{
	free(o->buffer);
	free(o->path);
	free(o->temporary);
	memset(o, 0, sizeof(*o));
	o->fd = -1;
}

int gtu_output_open(struct gtu_output *o, const char *base, size_t length, const char *suffix, struct gtu_error *err)
{
	struct stat st;
	int rc = 0;

	memset(o, 0, sizeof(*o));
	o->fd = -1;
	if (asprintf(&o->path, "%.*s%s", (int)length, base, suffix) < 0)
		o->path = NULL;
	if (!o->path || asprintf(&o->temporary, "%s.XXXXXX", o->path) < 0)
		o->temporary = NULL;
	o->buffer = malloc(GTU_OUTPUT_BUFFER);
	if (!o->temporary || !o->buffer) {
		rc = gtu_fail(err, GTU_ERR_NOMEM, "out of memory writing %.*s%s", (int)length, base,
			      suffix);
	} else if (!stat(o->path, &st) && !S_ISREG(st.st_mode)) {
		rc = gtu_fail(err, GTU_ERR_USAGE, "%s is not a regular file: use another name for "
			      "the graph", o->path);
	} else {
		o->fd = mkostemp(o->temporary, O_CLOEXEC);
		if (o->fd < 0)
			rc = cannot(o, errno, err);
	}
	if (rc)
		forget(o);
	return rc;
}

void gtu_output_flush(struct gtu_output *o)
{
	const uint8_t *at = o->buffer;
	ssize_t n;

	while (o->used && !o->reason) {
		n = write(o->fd, at, o->used);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			o->reason = n ? errno : EIO;
			break;
		}
		at += n;
		o->used -= (size_t)n;
		o->written += (uint64_t)n;
	}
	o->used = 0;
}

void gtu_output_bytes(struct gtu_output *o, const void *data, uint64_t bytes)
{
	const uint8_t *from = data;
	size_t piece;

	while (bytes) {
		if (o->used == GTU_OUTPUT_BUFFER)
			gtu_output_flush(o);
		piece = GTU_OUTPUT_BUFFER - o->used;
		if (piece > bytes)
			piece = (size_t)bytes;
		memcpy(o->buffer + o->used, from, piece);
		o->used += piece;
		from += piece;
		bytes -= piece;
	}
}

void gtu_output_real(struct gtu_output *o, double x, char end)
{
	char *to = (char *)gtu_output_reserve(o), *at;
	int digits, n = 0;

	for (digits = 15; digits <= 17; digits++) {
		n = snprintf(to, GTU_OUTPUT_ITEM - 4, "%.*g", digits, x);
		if (digits == 17 || strtod(to, NULL) == x)
			break;
	}
	/* the locale's decimal point may differ */
	for (at = to; at < to + n; at++)
		if (!strchr("0123456789+-e", *at))
			*at = '.';
	if (!memchr(to, '.', (size_t)n) && !memchr(to, 'e', (size_t)n)) {
		to[n++] = '.';
		to[n++] = '0';
	}
	to[n++] = end;
	o->used += (size_t)n;
}

/* Flush the temporary file to disk and set its mode. */
static int complete(struct gtu_output *o, struct gtu_error *err)
{
	gtu_output_flush(o);
	if (!o->reason && (fchmod(o->fd, gtu_output_mode(o->path)) || fsync(o->fd)))
		o->reason = errno;
	if (close(o->fd) && !o->reason)
		o->reason = errno;
	o->fd = -1;
	return o->reason ? cannot(o, o->reason, err) : 0;
}

int gtu_output_close(struct gtu_output *o, unsigned count, int rc, struct gtu_error *err)
{
	unsigned i, placed = 0;

	for (i = 0; i < count && !rc; i++)
		rc = complete(&o[i], err);
	for (; placed < count && !rc; placed++)
		if (rename(o[placed].temporary, o[placed].path)) {
			rc = gtu_fail(err, GTU_ERR_FAIL, "%s: cannot rename the temporary file: "
				      "%s%s", o[placed].path, strerror(errno),
				      placed ? "; the graph's other files have already been replaced" : "");
			break;
		}
	for (i = 0; i < count; i++) {
		if (o[i].fd >= 0)
			close(o[i].fd);
		if (i >= placed)
			unlink(o[i].temporary);
		forget(&o[i]);
	}
	return rc;
}
