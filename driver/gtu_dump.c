// SPDX-License-Identifier: GPL-2.0-only
/*
 * State dumps: saves the state of a device as a device coredump, with one line
 * in the log. The kernel keeps the dump for some minutes or until it is written
 * to, and takes no second one meanwhile.
 */
#include <linux/devcoredump.h>
#include <linux/ratelimit.h>
#include <linux/vmalloc.h>

#include "gtu_surface.h"

#define GTU_DUMP_MAX		(8u << 20)
#define GTU_DUMP_SLACK		4096u	/* space for text added since the length was counted */

static void gtu_dump_keep(struct gtu_device *gtu, struct gtu_ctx *held, const char *why)
{
	struct gtu_text t = {};

	gtu_state_all(&t, gtu, held);
	t.bytes = min_t(size_t, t.used + strlen(why) + GTU_DUMP_SLACK, GTU_DUMP_MAX);
	t.buf = vmalloc(t.bytes);
	if (!t.buf)
		return;
	t.used = scnprintf(t.buf, t.bytes, "%s\n", why);
	gtu_state_all(&t, gtu, held);
	/* takes ownership of the buffer */
	dev_coredumpv(gtu->parent, t.buf, min(t.used, t.bytes - 1), GFP_KERNEL);
}

/*
 * Save the device's state for the reason given by @format. @held: context whose
 * lock the caller holds, or NULL. The caller holds no other lock of the driver.
 */
void gtu_dump(struct gtu_device *gtu, struct gtu_ctx *held, const char *format, ...)
{
	char why[128];
	va_list args;

	if (!__ratelimit(&gtu->dump_limit))
		return;
	va_start(args, format);
	vscnprintf(why, sizeof(why), format, args);
	va_end(args);
	dev_warn(gtu->parent, "%s%s\n", why,
		 IS_ENABLED(CONFIG_DEV_COREDUMP) ? "; state dump in /sys/class/devcoredump" : "");
	if (IS_ENABLED(CONFIG_DEV_COREDUMP))
		gtu_dump_keep(gtu, held, why);
}
