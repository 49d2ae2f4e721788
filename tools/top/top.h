/* SPDX-License-Identifier: MIT */
/*
 * gtu top: live devices from what the driver shows in sysfs (Documentation/ABI/sysfs-class-gtu), and of debugfs who has
 * them open. top_read.c looks, top_show.c shows the difference of two looks, cmd_top.c has the terminal.
 */
#ifndef GTU_TOP_H
#define GTU_TOP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "gtu/gtu.h"

#define TOP_DEVICES	32u
#define TOP_UNITS	5u		/* SCU, IRU, PEG, WVR, ZCM, as their pages are */
#define TOP_ZCM		4u
#define TOP_USERS	8u

struct top_unit {
	bool there;			/* the device has it, and its counters can be read */
	uint64_t value[GTU_UREG_COUNTERS];
	bool has[GTU_UREG_COUNTERS];	/* a driver may be older than this program */
};

struct top_device {
	char name[32], state[24], version[24];
	uint64_t epoch, units, clock_hz, max_queues, max_contexts;
	bool watching;			/* ZCM counts */
	struct top_unit unit[TOP_UNITS];
	bool users_known;		/* debugfs could be read */
	unsigned contexts, queues, users;
	struct {
		char process[32];
		unsigned queues;
	} user[TOP_USERS];
};

struct top_look {
	uint64_t ns;			/* when, CLOCK_MONOTONIC */
	unsigned devices;
	struct top_device device[TOP_DEVICES];
};

extern const char *const top_unit_name[TOP_UNITS];

/*
 * Look at all devices, or at @only. GTU_ERR_FAIL with what to do: no driver, no device (@only: not that one), counters that
 * this user may not read. @root: of the file system, "" but for tests.
 */
int top_look(struct top_look *out, const char *root, const char *only, struct gtu_error *err);

/* Lines of what happened between two looks; @before NULL: only what is. A line that begins with \1 is to stand out. */
void top_show(const struct top_look *before, const struct top_look *now, FILE *to);
int top_json(const struct top_look *before, const struct top_look *now, FILE *to);

#endif
