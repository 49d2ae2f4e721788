/* SPDX-License-Identifier: MIT */
/* Output files that are written completely or not at all. */
#ifndef GTU_ATOMIC_FILE_H
#define GTU_ATOMIC_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "gtu/error.h"

struct atomic_file {
	FILE *file;
	const char *path;		/* as given, for messages */
	char *target;			/* the path with symbolic links resolved */
	char *temporary;		/* beside @target; NULL: writing in place (stdout, pipe, device) */
};

/* Whether @path means standard output: "-" or "/dev/stdout". */
bool atomic_file_is_stdout(const char *path);
/*
 * Whether two names refer to the same file: the same text, the same inode, or two names of one file
 * that does not exist yet. Either may be NULL, which matches nothing.
 */
bool atomic_file_same(const char *a, const char *b);
/*
 * Check before long work whether the file can be created. Returns GTU_ERR_FAIL with a message if
 * not. Leaves no file behind and does not change an existing one.
 */
int atomic_file_try(const char *path, struct gtu_error *err);
/*
 * Open @path (kept, not copied) for writing. A regular or new file is written under a temporary
 * name in the same folder until atomic_file_close() renames it. A pipe or a device is written in
 * place and never removed. A link is followed only in a folder of this user or root that is not
 * sticky; a file that is replaced keeps its mode. Returns GTU_ERR_FAIL with a message; then there is
 * nothing to close.
 */
int atomic_file_open(struct atomic_file *w, const char *path, struct gtu_error *err);
/* Describe a failed write from errno before atomic_file_close(), and return GTU_ERR_FAIL for it. */
int atomic_file_failed(const struct atomic_file *w, struct gtu_error *err);
/*
 * Close the file; @rc is the caller's result so far. If @rc is 0 and no write failed, rename the file
 * to its final name, else remove it. The reason of a failed write is errno, which atomic_file_open() clears. If only the rename fails, keep the temporary file and report
 * its name. Returns @rc, or GTU_ERR_FAIL with a message if only closing failed.
 */
int atomic_file_close(struct atomic_file *w, int rc, struct gtu_error *err);

#endif
