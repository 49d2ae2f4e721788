/* SPDX-License-Identifier: MIT */
/*
 * gtu top: live devices, from the driver's sysfs files (Documentation/ABI/sysfs-class-gtu) and the
 * users in debugfs and fdinfo. top_read.c and top_clients.c take samples, top_show.c prints the
 * difference of two samples, cmd_top.c controls the terminal.
 */
#ifndef GTU_TOP_H
#define GTU_TOP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "gtu/gtu.h"

#define TOP_DEVICES	32u
#define TOP_UNITS	5u		/* SCU, IRU, PEG, WVR, ZCM, in the order of their pages */
#define TOP_ZCM		4u
#define TOP_USERS	8u
#define TOP_CLIENTS	64u

struct top_unit {
	bool present;			/* the device has the unit, and its counters can be read */
	uint64_t value[GTU_UREG_COUNTERS];
	bool has[GTU_UREG_COUNTERS];	/* false if the driver is older than this program */
};

/* An open file of the device. */
struct top_client {
	uint64_t id;
	unsigned pid;
	char process[32];
	bool counted;			/* cycles and jobs are known */
	uint64_t cycles, jobs, memory_kib, aperture_kib;
};

struct top_device {
	char name[32], state[24], version[24];
	uint64_t epoch, units, clock_hz, max_queues, max_contexts;
	bool monitor_enabled;			/* ZCM is enabled */
	struct top_unit unit[TOP_UNITS];
	bool users_known;		/* debugfs was readable */
	unsigned contexts, queues, users;
	struct {
		char process[32];
		unsigned queues;
	} user[TOP_USERS];
	unsigned clients;
	struct top_client client[TOP_CLIENTS];
};

struct top_sample {
	uint64_t ns;			/* time of the sample, CLOCK_MONOTONIC */
	unsigned devices;
	struct top_device device[TOP_DEVICES];
};

extern const char *const top_unit_name[TOP_UNITS];

/*
 * Sample all devices, or @only. Returns GTU_ERR_FAIL with the remedy if the driver or the device
 * (@only) is missing or this user may not read the counters. @root: prefix of the file system, ""
 * outside tests.
 */
int top_read(struct top_sample *out, const char *root, const char *only, struct gtu_error *err);

/* Add the open files of the sample's devices, as far as this user may read them. */
void top_read_clients(struct top_sample *s, const char *root);

/*
 * Print the activity between two samples; @before NULL: only the state. A line that starts with \1
 * is to be highlighted.
 */
void top_show(const struct top_sample *before, const struct top_sample *now, FILE *to);
void top_json(const struct top_sample *before, const struct top_sample *now, FILE *to);

#endif
