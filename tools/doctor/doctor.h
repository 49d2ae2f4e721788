/* SPDX-License-Identifier: MIT */
/*
 * gtu doctor: what stands between a person and a working device. Findings come in the order in which one
 * would look: the computer (doctor_system.c, doctor_tree.c), the device through its driver (doctor_device.c), a GPU
 * (doctor_cuda.c). cmd_doctor.c runs them and shows what they found.
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
	const char *root;		/* of the file system that is looked at; "" */
	const char *device;		/* as gtu_open() takes it */
	const char *graph;		/* whose memory has to be pinned, or NULL */
	FILE *to;			/* findings are written here, a line each: see doctor_say() */
	bool behind_kernel;		/* device is a file of a driver's */
	bool blocked;			/* something before has failed: there is no use in trying the device */
	char node[64];			/* "gtu0": the device's name in sysfs */
	char function[64];		/* "0000:00:04.0", or "10000000.gtu" of a device tree, or "" */
};

/* "ok|warn|fail|skip TAB name TAB sentence": what is, and unless it is well, what to do. */
void doctor_say(struct doctor *d, enum finding finding, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* The first line of a file below the root; false when it cannot be read. */
bool doctor_read(const struct doctor *d, const char *path, char *text, size_t size);
bool doctor_exists(const struct doctor *d, const char *path);
/* @path below the root, in a buffer of the function's own. */
const char *doctor_path(const struct doctor *d, const char *path);

/* The last part of what a link below the root points at, or "". */
void doctor_link(const struct doctor *d, const char *path, char *name, size_t size);
/* A device that the device tree describes: false when there is none. What is between it and the driver is said. */
bool doctor_tree(struct doctor *d);

/* The parts, in their order. */
void doctor_system(struct doctor *d);
void doctor_device(struct doctor *d);
void doctor_cuda(struct doctor *d);

#endif
