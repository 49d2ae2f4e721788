// SPDX-License-Identifier: MIT
/* Error messages with remedies for devices and files (advice.h). */
#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "advice.h"
#include "uapi/gtu/hw.h"

int gtu_advise_no_module(const char *path, struct gtu_error *err)
{
	return gtu_fail(err, GTU_ERR_FAIL, "there is no %s: the driver is not loaded; as root: modprobe gtu", path);
}

int gtu_advise_no_node(const char *path, struct gtu_error *err)
{
	return gtu_fail(err, GTU_ERR_FAIL,
			"there is no %s: the driver is loaded but has no such device; is it on the bus "
			"(lspci -d %04x:%04x), and what does the kernel report (dmesg | grep "
			"gtu)?", path,
			GTU_PCI_VENDOR, GTU_PCI_DEVICE);
}

int gtu_advise_permission(const char *path, const struct stat *st, struct gtu_error *err)
{
	const struct group *group;

	if (!st->st_gid || (st->st_mode & 0060) != 0060)
		return gtu_fail(err, GTU_ERR_PERMISSION,
				"only root may use %s (mode %04o): install packaging/60-gtu.rules "
				"in "
				"/etc/udev/rules.d, then as root: udevadm control --reload && udevadm trigger; "
				"or use sudo", path, (unsigned)st->st_mode & 07777);
	group = getgrgid(st->st_gid);
	if (!group)
		return gtu_fail(err, GTU_ERR_PERMISSION,
				"%s belongs to the group with number %u, which has no name and "
				"does not include you",
				path, (unsigned)st->st_gid);
	return gtu_fail(err, GTU_ERR_PERMISSION,
			"%s belongs to the group %s, which does not include you; as root: usermod "
			"-aG %s $USER, then log in "
			"anew", path, group->gr_name, group->gr_name);
}

int gtu_advise_removed(const char *path, struct gtu_error *err)
{
	return gtu_fail(err, GTU_ERR_DEVICE_LOST, "%s was removed, or its driver was unloaded; open "
			"handles must be "
			"closed", path);
}

int gtu_advise_was_reset(const char *path, struct gtu_error *err)
{
	return gtu_fail(err, GTU_ERR_DEVICE_LOST, "%s was reset after it was opened: its regions, queues "
			"and jobs are "
			"lost; open it again", path);
}

int gtu_advise_in_reset(const char *path, struct gtu_error *err)
{
	return gtu_fail(err, GTU_ERR_DEVICE_LOST, "%s is being reset, which takes seconds: try again, and "
			"if it persists check "
			"dmesg | grep gtu", path);
}

int gtu_advise_dead(const char *path, struct gtu_error *err)
{
	return gtu_fail(err, GTU_ERR_DEVICE_LOST, "%s exists, but its device is dead: it did not recover "
			"from a reset or does "
			"not respond (dmesg | grep gtu); unbind and rebind its driver, or "
			"power-cycle it", path);
}

int gtu_advise_all_ones(const char *path, struct gtu_error *err)
{
	return gtu_fail(err, GTU_ERR_DEVICE_LOST, "%s reads as all ones: it was removed, has no power or its process has ended",
			path);
}

int gtu_advise_timeout(const char *path, double seconds, struct gtu_error *err)
{
	return gtu_fail(err, GTU_ERR_TIMEOUT, "%s did not respond within %g s; run `gtu doctor` "
			"for a diagnosis", path,
			seconds);
}

int gtu_advise_busy(const char *path, struct gtu_error *err)
{
	return gtu_fail(err, GTU_ERR_NOMEM, "all contexts of %s are in use: another process must "
			"close one first",
			path);
}

int gtu_advise_memlock(uint64_t bytes, uint64_t limit, uint64_t used, struct gtu_error *err)
{
	const unsigned long long want = bytes, kib = (used + bytes + 8191) >> 10;

	return gtu_fail(err, GTU_ERR_NOMEM,
			"%llu bytes cannot be pinned for the device: the limit on locked memory is %llu bytes, of which "
			"%llu are in use; raise it to %llu KiB: `ulimit -l` in this shell, "
			"\"@GROUP - memlock KIB\" in "
			"/etc/security/limits.conf, LimitMEMLOCK= for a systemd service", want,
			(unsigned long long)limit, (unsigned long long)used, kib);
}

int gtu_advise_open(const char *path, int reason, struct gtu_error *err)
{
	switch (reason) {
	case ENOENT:
	case ENOTDIR:
		return gtu_fail(err, GTU_ERR_INPUT, "%s: there is no such file (%s); check its "
				"name and directory", path,
				strerror(reason));
	case EISDIR:
		return gtu_fail(err, GTU_ERR_INPUT, "%s is a directory, not a graph file; name a "
				"file in it", path);
	case EACCES:
	case EPERM:
		return gtu_fail(err, GTU_ERR_FAIL, "%s: permission to read it is denied (%s); ask "
				"its owner, or get permission to "
				"read it and to enter its directory", path, strerror(reason));
	case EMFILE:
	case ENFILE:
		return gtu_fail(err, GTU_ERR_FAIL, "%s: %s; close some, or raise the limit (`ulimit -n`)", path, strerror(reason));
	}
	return gtu_fail(err, GTU_ERR_FAIL, "%s: cannot open it: %s; check its disk", path,
			strerror(reason));
}

int gtu_advise_write(const char *path, int reason, struct gtu_error *err)
{
	const char *what = "name another file";

	switch (reason) {
	case ENOENT:
	case ENOTDIR: what = "create its directory first, or name another"; break;
	case EISDIR: what = "it is a directory: name a file in it"; break;
	case EACCES:
	case EPERM:
	case EROFS: what = "name a file in a writable directory"; break;
	case ENOSPC:
	case EDQUOT: what = "free space there, or name a file on another disk"; break;
	case EFBIG: what = "raise the limit on a file's size (`ulimit -f`), or name a file on another disk"; break;
	}
	return gtu_fail(err, GTU_ERR_FAIL, "%s: cannot be written: %s; %s", !strcmp(path, "-") ? "standard output" : path,
			strerror(reason), what);
}

uint64_t gtu_pinned_bytes(const char *status)
{
	unsigned long long kib = 0;
	char line[128];
	FILE *f = fopen(status, "re");

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "VmPin: %llu", &kib) == 1)
			break;
	if (f)
		fclose(f);
	return kib << 10;
}

static bool in_group(gid_t gid)
{
	int n = getgroups(0, NULL), i;
	gid_t *list;
	bool found = getegid() == gid;

	if (found || n <= 0)
		return found;
	list = malloc((size_t)n * sizeof(*list));
	n = list ? getgroups(n, list) : 0;
	for (i = 0; i < n && !found; i++)
		found = list[i] == gid;
	free(list);
	return found;
}

bool gtu_access_allowed(const struct stat *st)
{
	const unsigned both = st->st_uid == geteuid() ? 0600 : in_group(st->st_gid) ? 0060 : 0006;

	return !geteuid() || (st->st_mode & both) == both;
}
