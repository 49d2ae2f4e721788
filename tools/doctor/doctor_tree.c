// SPDX-License-Identifier: MIT
/* gtu doctor without PCI: finds the device's node in the device tree, and its driver. */
#include <glob.h>
#include <libgen.h>
#include <string.h>

#include "doctor.h"

#define COMPATIBLE	"gtu,gtu-1"

/* Whether the device's node is compatible with a GTU. */
static bool is_ours(const struct doctor *d, const char *device)
{
	char path[320], text[256];
	size_t n, at;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/bus/platform/devices/%.200s/of_node/compatible", device);
	f = fopen(doctor_path(d, path), "re");
	if (!f)
		return false;
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = 0;
	for (at = 0; at < n; at += strlen(text + at) + 1)
		if (!strcmp(text + at, COMPATIBLE))
			return true;
	return false;
}

/* Find the device of the device file, or else the first one. */
static bool find(struct doctor *d)
{
	char path[128];
	glob_t all = { 0 };
	size_t i;

	snprintf(path, sizeof(path), "/sys/class/gtu/%s/device", d->node);
	doctor_link(d, path, d->function, sizeof(d->function));
	if (d->function[0] && is_ours(d, d->function))
		return true;
	d->function[0] = 0;
	glob(doctor_path(d, "/sys/bus/platform/devices/*"), 0, NULL, &all);
	for (i = 0; i < all.gl_pathc && !d->function[0]; i++)
		if (is_ours(d, basename(all.gl_pathv[i])))
			snprintf(d->function, sizeof(d->function), "%s", basename(all.gl_pathv[i]));
	globfree(&all);
	return d->function[0];
}

bool doctor_tree(struct doctor *d)
{
	char path[160], driver[64];

	if (!find(d))
		return false;
	doctor_say(d, FOUND_OK, "bus", "%s is a node of the device tree that is compatible with " COMPATIBLE, d->function);
	snprintf(path, sizeof(path), "/sys/bus/platform/devices/%s/driver", d->function);
	doctor_link(d, path, driver, sizeof(driver));
	if (!strcmp(driver, "gtu")) {
		doctor_say(d, FOUND_OK, "driver", "the driver gtu has %s", d->function);
		return true;
	}
	d->blocked = true;
	doctor_say(d, FOUND_FAIL, "driver", "%s%s has %s: `gtu fdt check system` checks its node; as root: "
		   "echo %s > /sys/bus/platform/drivers/gtu/bind, and see dmesg | grep gtu for earlier errors",
		   driver[0] ? "the driver " : "no driver", driver, d->function, d->function);
	return true;
}
