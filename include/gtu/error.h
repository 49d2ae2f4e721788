/* SPDX-License-Identifier: MIT */
/*
 * Status codes, error messages and progress reports of libgtu.
 *
 * Every function that can fail takes a `struct gtu_error *` as its last argument (NULL is allowed).
 * It returns 0 or one of the negative codes below. The text is one sentence with the offending
 * value and the limit; callers can print it unchanged.
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
	GTU_ERR_FAIL = -1,		/* run-time failure: I/O, a system call, the device */
	GTU_ERR_USAGE = -2,		/* invalid argument or call sequence */
	GTU_ERR_INPUT = -3,		/* invalid input file or stream */
	GTU_ERR_VERIFY = -4,		/* a result differs from the reference */
	GTU_ERR_NOMEM = -5,		/* out of memory, or a memory limit was reached */
	GTU_ERR_TIMEOUT = -6,		/* a wait timed out */
	GTU_ERR_DEVICE_LOST = -7,		/* the device was removed or reset */
	GTU_ERR_INTERRUPTED = -8,	/* canceled by the user */
	GTU_ERR_UNSUPPORTED = -9,	/* not supported by this device or this build */
	GTU_ERR_SPACE = -10,		/* an output is too small; the completion has the required size */
	GTU_ERR_PERMISSION = -11,	/* access rights of a region or a file do not allow it */
};

#define GTU_ERROR_TEXT 512

struct gtu_error {
	int32_t code;			/* an enum gtu_status */
	char text[GTU_ERROR_TEXT];	/* one sentence, NUL-terminated, no newline */
};

/*
 * Set @err (may be NULL) to @code and the formatted sentence. Returns @code: return gtu_fail(...).
 */
int gtu_fail(struct gtu_error *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
int gtu_vfail(struct gtu_error *err, int code, const char *fmt, va_list ap)
	__attribute__((format(printf, 3, 0)));

/* Short name of a status code, for callers that have no error text. Never NULL. */
const char *gtu_status_name(int code);

/*
 * Progress callback for long-running functions. @what is a static string that names the current
 * step. @done and @total count units of that step; a @total of 0 means unknown. tick() is called
 * every few milliseconds at most. A non-zero return cancels the function: it frees its partial
 * results and returns GTU_ERR_INTERRUPTED. A NULL struct or a NULL tick disables progress reports.
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
