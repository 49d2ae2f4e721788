// SPDX-License-Identifier: MIT
/* Sets error structures and names status codes. */
#include <stdio.h>

#include "gtu/error.h"

int gtu_vfail(struct gtu_error *err, int code, const char *fmt, va_list ap)
{
	if (err) {
		err->code = code;
		vsnprintf(err->text, sizeof(err->text), fmt, ap);
	}
	return code;
}

int gtu_fail(struct gtu_error *err, int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	gtu_vfail(err, code, fmt, ap);
	va_end(ap);
	return code;
}

const char *gtu_status_name(int code)
{
	switch (code) {
	case GTU_OK: return "done";
	case GTU_ERR_FAIL: return "failed";
	case GTU_ERR_USAGE: return "usage error";
	case GTU_ERR_INPUT: return "bad input";
	case GTU_ERR_VERIFY: return "verification failed";
	case GTU_ERR_NOMEM: return "out of memory";
	case GTU_ERR_TIMEOUT: return "timed out";
	case GTU_ERR_DEVICE_LOST: return "device removed or reset";
	case GTU_ERR_INTERRUPTED: return "interrupted";
	case GTU_ERR_UNSUPPORTED: return "not supported";
	case GTU_ERR_SPACE: return "output does not fit";
	case GTU_ERR_PERMISSION: return "not permitted";
	}
	return "unknown error";
}
