/* SPDX-License-Identifier: MIT */
/* Files that the tool writes: whole, or the one that was there before. */
#ifndef GTU_WHOLE_FILE_H
#define GTU_WHOLE_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "gtu/error.h"

struct whole_file {
	FILE *file;
	const char *path;		/* as given, for sentences */
	char *target;			/* what the name leads to, behind symbolic links */
	char *temporary;		/* beside the target; NULL: written in place (stdout, a pipe, a device) */
};

/* "-", or its name as a file, is standard output wherever a file is written. */
bool whole_file_is_stdout(const char *path);
/*
 * Whether two names, given for writing or for reading, mean the same file: the same text, the same
 * inode, or names of one file that is still to be made. Either may be NULL, which is no file.
 */
bool whole_file_same(const char *a, const char *b);
/*
 * Find out before long work whether the file can be begun: GTU_ERR_FAIL with a sentence where not.
 * Nothing is left behind, and what is there stays as it is.
 */
int whole_file_try(const char *path, struct gtu_error *err);
/*
 * Open @path (kept, not copied) for writing. A regular file, or one that is not there, is written under
 * another name in the same folder until whole_file_close() renames it; a pipe or a device is written in
 * place and never removed. GTU_ERR_FAIL with a sentence where that fails; then there is nothing to close.
 */
int whole_file_open(struct whole_file *w, const char *path, struct gtu_error *err);
/* The sentence for a write that failed, from errno as it left it; returns GTU_ERR_FAIL, for whole_file_close(). */
int whole_file_failed(const struct whole_file *w, struct gtu_error *err);
/*
 * End with @rc, what the writing came to: 0 puts the file in its place, anything else (and a write that
 * failed) removes it. Where only its name cannot be had any more, it stays under its temporary one, which is said. Returns @rc, or GTU_ERR_FAIL with a sentence where only the end failed.
 */
int whole_file_close(struct whole_file *w, int rc, struct gtu_error *err);

#endif
