/* SPDX-License-Identifier: MIT */
/*
 * Error messages that state the problem and the remedy, for access to devices behind the kernel
 * driver and to files. The backend and `gtu doctor` use the same messages. Each function fills *err
 * and returns its code.
 */
#ifndef GTU_ADVICE_H
#define GTU_ADVICE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "gtu/error.h"

int gtu_advise_no_module(const char *path, struct gtu_error *err);
/* The driver is loaded, but the device node does not exist. */
int gtu_advise_no_node(const char *path, struct gtu_error *err);
/* No permission to open for reading and writing; @st is from stat(). */
int gtu_advise_permission(const char *path, const struct stat *st, struct gtu_error *err);
int gtu_advise_removed(const char *path, struct gtu_error *err);
int gtu_advise_was_reset(const char *path, struct gtu_error *err);
int gtu_advise_in_reset(const char *path, struct gtu_error *err);
/* The device node exists, but the driver has given up the device. */
int gtu_advise_dead(const char *path, struct gtu_error *err);
int gtu_advise_all_ones(const char *path, struct gtu_error *err);
int gtu_advise_timeout(const char *path, double seconds, struct gtu_error *err);
int gtu_advise_busy(const char *path, struct gtu_error *err);
/* Pinning @bytes failed: @limit bytes may be locked, @used are. */
int gtu_advise_memlock(uint64_t bytes, uint64_t limit, uint64_t used, struct gtu_error *err);

/* Why the graph file at @path could not be opened (errno @reason), and the remedy. */
int gtu_advise_open(const char *path, int reason, struct gtu_error *err);
/* Why the file at @path could not be written (errno @reason), and the remedy. */
int gtu_advise_write(const char *path, int reason, struct gtu_error *err);

/* Bytes pinned by this process (@status: path of its /proc/self/status), or 0 if unreadable. */
uint64_t gtu_pinned_bytes(const char *status);
/* Whether this process may read and write a file with this owner and mode. */
bool gtu_access_allowed(const struct stat *st);

#endif
