/* SPDX-License-Identifier: MIT */
/*
 * How libgtu reports what went wrong, and how long work reports how far it is.
 *
 * Every function that can fail takes a `struct gtu_error *` as its last argument (NULL is allowed)
 * and returns 0 or one of the negative codes below. The text is one sentence that names what was
 * wrong, with the value and the limit; a caller prints it as it stands.
 */
#ifndef GTU_ERROR_H
#define GTU_ERROR_H

#include <stdarg.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum gtu_status {
	GTU_OK = 0,
	GTU_ERR_FAIL = -1,		/* failed at run time: I/O, a system call, the device */
	GTU_ERR_USAGE = -2,		/* the caller asked for something that has no meaning */
	GTU_ERR_INPUT = -3,		/* an input file or stream is wrong */
	GTU_ERR_VERIFY = -4,		/* a result differs from the reference */
	GTU_ERR_NOMEM = -5,		/* no memory, or a limit on it */
	GTU_ERR_TIMEOUT = -6,		/* a wait reached its limit */
	GTU_ERR_GONE = -7,		/* the device went away or was reset */
	GTU_ERR_INTERRUPTED = -8,	/* the user stopped it */
	GTU_ERR_UNSUPPORTED = -9,	/* known, but not on this device or in this build */
	GTU_ERR_SPACE = -10,		/* an output does not fit; the need is in the completion */
	GTU_ERR_PERMISSION = -11,	/* not allowed: rights of a region, of a file */
};

#define GTU_ERROR_TEXT 512

struct gtu_error {
	int32_t code;			/* an enum gtu_status */
	char text[GTU_ERROR_TEXT];	/* one sentence, NUL-terminated, no newline */
};

/* Set @err (may be NULL) to @code and the formatted sentence; returns @code, so: return gtu_fail(...). */
int gtu_fail(struct gtu_error *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
int gtu_vfail(struct gtu_error *err, int code, const char *fmt, va_list ap)
	__attribute__((format(printf, 3, 0)));

/* A few words for a code, for callers that have no text. Never NULL. */
const char *gtu_status_name(int code);

/*
 * Progress of long work. tick() is called at most every few milliseconds with what is being done
 * (static string), how far it is and the total (0: unknown), in units of its own; a return other
 * than 0 asks the work to stop, which then returns GTU_ERR_INTERRUPTED and leaves nothing behind.
 * A NULL struct or a NULL tick means: nobody watches.
 */
struct gtu_progress {
	int (*tick)(void *user, const char *what, uint64_t done, uint64_t total);
	void *user;
};

static inline int gtu_tick(const struct gtu_progress *p, const char *what, uint64_t done,
			   uint64_t total)
{
	return p && p->tick ? p->tick(p->user, what, done, total) : 0;
}

#ifdef __cplusplus
}
#endif
#endif
