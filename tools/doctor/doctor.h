/* SPDX-License-Identifier: MIT */
/*
 * gtu doctor: checks what a working device needs, in order: the computer (doctor_system.c,
 * doctor_tree.c), the device through its driver (doctor_device.c), a GPU (doctor_cuda.c).
 * cmd_doctor.c runs the checks and prints the findings.
 */
#ifndef GTU_DOCTOR_H
#define GTU_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "gtu/error.h"

enum finding { FOUND_OK, FOUND_WARN, FOUND_FAIL, FOUND_SKIP };

struct doctor {
	const char *root;		/* prefix of all paths that are examined; "" outside tests */
	const char *device;		/* a name for gtu_open() */
	const char *graph;		/* compare its size with the limit on pinned memory; or NULL */
	FILE *to;			/* for findings, one per line: see doctor_say() */
	bool behind_kernel;		/* device is a driver's device file */
	bool blocked;			/* a check has failed: do not test the device */
	char node[64];			/* "gtu0": the device's name in sysfs */
	char function[64];		/* "0000:00:04.0", or "10000000.gtu" of a device tree, or "" */
};

/*
 * Write a finding, "ok|warn|fail|skip TAB name TAB message"; the message includes the remedy if
 * there is a problem.
 */
void doctor_say(struct doctor *d, enum finding finding, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Read the first line of a file below the root; false if it cannot be read. */
bool doctor_read(const struct doctor *d, const char *path, char *text, size_t size);
bool doctor_exists(const struct doctor *d, const char *path);
/* @path below the root, in a static buffer. */
const char *doctor_path(const struct doctor *d, const char *path);

/* The last component of the target of a link below the root, or "". */
void doctor_link(const struct doctor *d, const char *path, char *name, size_t size);
/* Find a device that the device tree describes and report its driver; false if there is none. */
bool doctor_tree(struct doctor *d);

/* The groups of checks, in order. */
void doctor_system(struct doctor *d);
void doctor_device(struct doctor *d);
void doctor_cuda(struct doctor *d);

#endif
