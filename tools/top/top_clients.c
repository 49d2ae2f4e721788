// SPDX-License-Identifier: MIT
/* gtu top: reads the programs that have a device open, from /proc/PID/fdinfo. */
#include "top.h"

#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The number behind @key in fdinfo's @text. @known: set to false if the driver or device lacks it. */
static uint64_t value_of(const char *text, const char *key, bool *known)
{
	const char *line = strstr(text, key);

	if (!line) {
		*known = false;
		return 0;
	}
	return strtoull(line + strlen(key), NULL, 10);
}

static struct top_device *device_of(struct top_sample *s, const char *text)
{
	const char *line = strstr(text, "gtu-device:\t");
	char name[32] = "";
	unsigned i;

	if (line)
		sscanf(line, "gtu-device:\t%31s", name);
	for (i = 0; i < s->devices; i++)
		if (!strcmp(s->device[i].name, name))
			return &s->device[i];
	return NULL;
}

static void add_client(struct top_sample *s, const char *text, unsigned pid, const char *process)
{
	struct top_device *d = device_of(s, text);
	struct top_client *c;
	bool any = true;
	uint64_t id;
	unsigned i;

	if (!d)
		return;
	/* processes may share an open file: the first one counts */
	id = value_of(text, "drm-client-id:", &any);
	for (i = 0; i < d->clients; i++)
		if (d->client[i].id == id)
			return;
	if (!any || d->clients == TOP_CLIENTS)
		return;
	c = &d->client[d->clients++];
	c->id = id;
	c->pid = pid;
	snprintf(c->process, sizeof(c->process), "%s", process);
	c->counted = true;
	c->cycles = value_of(text, "drm-cycles-gtu:", &c->counted);
	c->jobs = value_of(text, "gtu-jobs:", &c->counted);
	c->memory_kib = value_of(text, "drm-total-memory:", &any);
	c->aperture_kib = value_of(text, "drm-total-aperture:", &any);
}

static size_t read_text(const char *path, char *text, size_t size)
{
	FILE *f = fopen(path, "re");
	size_t n = f ? fread(text, 1, size - 1, f) : 0;

	text[n] = 0;
	if (f)
		fclose(f);
	return n;
}

static void read_process(struct top_sample *s, const char *proc, unsigned pid)
{
	char path[4300], link[64], text[2048], process[32], *c;
	struct dirent *e;
	ssize_t n;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/%u/fd", proc, pid);
	dir = opendir(path);
	while (dir && (e = readdir(dir))) {
		snprintf(path, sizeof(path), "%s/%u/fd/%.20s", proc, pid, e->d_name);
		n = readlink(path, link, sizeof(link) - 1);
		if (n < 8 || strncmp(link, "/dev/gtu", 8))
			continue;
		snprintf(path, sizeof(path), "%s/%u/comm", proc, pid);
		read_text(path, process, sizeof(process));
		process[strcspn(process, "\n")] = 0;
		/* the text goes to a terminal: replace control characters */
		for (c = process; *c; c++)
			if ((unsigned char)*c < ' ' || (unsigned char)*c > '~')
				*c = '?';
		snprintf(path, sizeof(path), "%s/%u/fdinfo/%.20s", proc, pid, e->d_name);
		if (read_text(path, text, sizeof(text)))
			add_client(s, text, pid, process);
	}
	if (dir)
		closedir(dir);
}

void top_read_clients(struct top_sample *s, const char *root)
{
	char proc[4200];
	struct dirent *e;
	DIR *dir;

	snprintf(proc, sizeof(proc), "%s/proc", root);
	dir = opendir(proc);
	while (dir && (e = readdir(dir)))
		if (isdigit((unsigned char)e->d_name[0]))
			read_process(s, proc, (unsigned)strtoul(e->d_name, NULL, 10));
	if (dir)
		closedir(dir);
}
