// SPDX-License-Identifier: MIT
/* gtu top: reads devices from sysfs and debugfs. */
#include "top.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libruntime/support/clock.h"

const char *const top_unit_name[TOP_UNITS] = { "scu", "iru", "peg", "wvr", "zcm" };

#define CLASS "/sys/class/gtu"

/* Read the first line of a file below @dir. Returns 0 or an errno. */
static int read_line(int dir, const char *name, char *text, size_t size)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC), rc = 0;
	ssize_t n;
	char *c;

	*text = 0;
	if (fd < 0)
		return errno;
	n = read(fd, text, size - 1);
	if (n < 0)
		rc = errno;
	close(fd);
	text[n < 0 ? 0 : n] = 0;
	text[strcspn(text, "\n")] = 0;
	/* the text goes to a terminal: replace control characters */
	for (c = text; *c; c++)
		if ((unsigned char)*c < ' ' || (unsigned char)*c > '~')
			*c = '?';
	return rc;
}

static int read_u64(int dir, const char *name, uint64_t *out)
{
	char text[40], *end;
	int rc = read_line(dir, name, text, sizeof(text));

	*out = 0;
	if (rc)
		return rc;
	errno = 0;
	*out = strtoull(text, &end, 0);
	if (!isdigit((unsigned char)*text) || *end || errno) {
		*out = 0;
		return EINVAL;
	}
	return 0;
}

static uint64_t number(int dir, const char *name)
{
	uint64_t value;

	read_u64(dir, name, &value);
	return value;
}

/* Read a unit's counters. Returns the errno of the first counter that could not be read, or 0. */
static int read_unit(int dir, unsigned u, struct top_unit *t)
{
	const char *const *name = gtu_counter_names(1u << u);
	char path[80];
	int rc, first = 0;
	unsigned k;

	for (k = 0; name[k]; k++) {
		/* sysfs has "state_s0" for Weaver's counter "s0" */
		bool state = u == 3 && name[k][0] == 's' && isdigit((unsigned char)name[k][1]);

		snprintf(path, sizeof(path), "%s_counters/%s%.40s", top_unit_name[u], state ? "state_" : "", name[k] + state);
		rc = read_u64(dir, path, &t->value[k]);
		t->has[k] = !rc;
		t->present |= !rc;
		first = first ? first : rc;
	}
	return first;
}

/* Parse lines "context 1: pid 42 (bfs) epoch 3, 2 queues, ..."; other lines are skipped. */
static void read_users(const char *root, struct top_device *d)
{
	char path[4200], line[256], *name, *end, *queues;
	FILE *f = NULL;

	if ((size_t)snprintf(path, sizeof(path), "%s/sys/kernel/debug/gtu/%s/contexts", root, d->name) < sizeof(path))
		f = fopen(path, "re");
	if (!f)
		return;
	d->users_known = true;
	while (fgets(line, sizeof(line), f)) {
		unsigned n;

		if (strncmp(line, "context ", 8))
			continue;
		d->contexts++;
		/* a process' name may contain brackets: search for the last one */
		name = strstr(line, ": pid ");
		end = strstr(line, ") epoch ");
		queues = end ? strchr(end, ',') : NULL;
		if (!name || !queues || sscanf(queues, ", %u queues", &n) != 1)
			continue;
		d->queues += n;
		if (d->users < TOP_USERS) {
			char *to = d->user[d->users].process;

			*end = 0;
			snprintf(to, sizeof(d->user[0].process), "%s)", name + 6);
			for (; *to; to++)
				if ((unsigned char)*to < ' ' || (unsigned char)*to > '~')
					*to = '?';
			d->user[d->users++].queues = n;
		}
	}
	fclose(f);
}

static int read_device(const char *root, int dir, struct top_device *d)
{
	int rc, first = 0;
	unsigned u;

	if (read_line(dir, "state", d->state, sizeof(d->state)))
		snprintf(d->state, sizeof(d->state), "dead");
	read_line(dir, "hw_version", d->version, sizeof(d->version));
	d->epoch = number(dir, "epoch");
	d->units = number(dir, "units");
	d->clock_hz = number(dir, "clock_hz");
	d->max_queues = number(dir, "max_queues");
	d->max_contexts = number(dir, "max_contexts");
	d->monitor_enabled = number(dir, "zcm/enable");
	for (u = 0; u < TOP_UNITS; u++) {
		if (!(d->units >> u & 1))
			continue;
		rc = read_unit(dir, u, &d->unit[u]);
		if (!d->unit[u].present)
			first = first ? first : rc;
	}
	read_users(root, d);
	return first;
}

static int wanted(const struct dirent *e)
{
	return !strncmp(e->d_name, "gtu", 3) && strlen(e->d_name) < sizeof(((struct top_device *)0)->name);
}

int top_read(struct top_sample *out, const char *root, const char *only, struct gtu_error *err)
{
	char class[4100];
	struct dirent **entry;
	int n, i, folder, dir, rc, denied = 0;

	memset(out, 0, sizeof(*out));
	snprintf(class, sizeof(class), "%s" CLASS, root);
	n = scandir(class, &entry, wanted, versionsort);
	if (n < 0)
		return gtu_fail(err, GTU_ERR_FAIL, errno == ENOENT ?
				"there is no %s: the module gtu is not loaded ('modprobe gtu' as root; 'gtu doctor' finds the cause)" :
				"%s cannot be read", class);
	folder = open(class, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	out->ns = gtu_now_ns();
	for (i = 0; i < n; i++) {
		struct top_device *d = &out->device[out->devices];

		if (out->devices < TOP_DEVICES && (!only || !strcmp(only, entry[i]->d_name))) {
			snprintf(d->name, sizeof(d->name), "%.31s", entry[i]->d_name);
			dir = openat(folder, d->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
			if (dir >= 0) {
				rc = read_device(root, dir, d);
				denied += rc == EACCES || rc == EPERM;
				close(dir);
				out->devices++;
			}
		}
		free(entry[i]);
	}
	free(entry);
	if (folder >= 0)
		close(folder);
	if (!out->devices && only && n)
		return gtu_fail(err, GTU_ERR_FAIL, "there is no %s/%s: this computer has %d other device%s", class, only, n, n > 1 ? "s" : "");
	if (!out->devices)
		return gtu_fail(err, GTU_ERR_FAIL, "the module gtu is loaded and has no device%s%s; 'gtu doctor' finds the cause",
				only ? " " : "", only ? only : "");
	top_read_clients(out, root);
	if (denied)
		return gtu_fail(err, GTU_ERR_FAIL,
				"the counters below %s/%s are for root alone (they tell what others do), and you are not root: sudo gtu top", class,
				out->device[0].name);
	return 0;
}
