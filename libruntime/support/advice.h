/* SPDX-License-Identifier: MIT */
/*
 * What a person is told when something stands between him and a device behind the kernel's driver: what is
 * wrong, and what to do. The backend says it when a call fails, `gtu doctor` when it looks: in the same words.
 * Each fills *err and returns its code.
 */
#ifndef GTU_ADVICE_H
#define GTU_ADVICE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "gtu/error.h"

int gtu_advise_no_module(const char *path, struct gtu_error *err);
/* The driver is there, the device's file is not. */
int gtu_advise_no_node(const char *path, struct gtu_error *err);
/* May not be opened for reading and writing; @st is the file's. */
int gtu_advise_permission(const char *path, const struct stat *st, struct gtu_error *err);
int gtu_advise_removed(const char *path, struct gtu_error *err);
int gtu_advise_was_reset(const char *path, struct gtu_error *err);
int gtu_advise_in_reset(const char *path, struct gtu_error *err);
/* Its file is there, but the driver has given the device up. */
int gtu_advise_dead(const char *path, struct gtu_error *err);
int gtu_advise_all_ones(const char *path, struct gtu_error *err);
int gtu_advise_silent(const char *path, double seconds, struct gtu_error *err);
int gtu_advise_busy(const char *path, struct gtu_error *err);
/* @bytes more are wanted, @limit may be locked in all, @used are. */
int gtu_advise_memlock(uint64_t bytes, uint64_t limit, uint64_t used, struct gtu_error *err);

/* Why a graph's file at @path could not be opened (errno @reason), and what helps. */
int gtu_advise_open(const char *path, int reason, struct gtu_error *err);
/* Why a file at @path could not be written (errno @reason), and what helps. */
int gtu_advise_write(const char *path, int reason, struct gtu_error *err);

/* Bytes that this process has pinned (@status: its /proc/self/status), 0 where that cannot be read. */
uint64_t gtu_pinned_bytes(const char *status);
/* Whether this process may read and write a file of that owner and mode. */
bool gtu_may_use(const struct stat *st);

#endif
