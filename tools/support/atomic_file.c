// SPDX-License-Identifier: MIT
/* Writes output files under a temporary name and renames them when they are complete. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libruntime/support/advice.h"
#include "atomic_file.h"

#define LINKS_MAX 40			/* the kernel's limit */

bool atomic_file_is_stdout(const char *path)
{
	return !strcmp(path, "-") || !strcmp(path, "/dev/stdout");
}

/* Length of the folder part of @path including the slash; 0 for the current folder. */
static size_t folder_length(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (size_t)(slash + 1 - path) : 0;
}

/*
 * Whether another user may have made the links of the folder that holds @path: it is sticky (/tmp),
 * or belongs to neither this user nor root. The kernel refuses to follow such links
 * (fs.protected_symlinks), but rename() to the target would not be covered. True with errno set if
 * the folder cannot be examined.
 */
static bool others_make_links(const char *path)
{
	char *name = strndup(path, folder_length(path));
	struct stat st;
	bool is;

	errno = ENOMEM;
	if (!name)
		return true;
	is = stat(*name ? name : ".", &st);
	free(name);
	if (is)
		return true;
	errno = ELOOP;
	return st.st_mode & S_ISVTX || (st.st_uid && st.st_uid != geteuid());
}

/*
 * Resolve the symbolic links of @path. Unlike with realpath(), the final target need not exist. The
 * caller frees the result. NULL with errno, ELOOP also for a link that another user may have made.
 */
static char *follow_links(const char *path)
{
	char *at = strdup(path), *next, to[PATH_MAX];
	unsigned links;
	ssize_t length;
	int reason;

	for (links = 0; at; links++) {
		length = readlink(at, to, sizeof(to) - 1);
		/* not a link, or absent */
		if (length < 0 && (errno == EINVAL || errno == ENOENT))
			return at;
		if (length >= 0 && links == LINKS_MAX)
			errno = ELOOP;
		if (length < 0 || links == LINKS_MAX || others_make_links(at)) {
			reason = errno;
			free(at);
			errno = reason;
			return NULL;
		}
		to[length] = 0;
		if (*to == '/')
			next = strdup(to);
		else if (asprintf(&next, "%.*s%s", (int)folder_length(at), at, to) < 0)
			next = NULL;
		free(at);
		at = next;
	}
	errno = ENOMEM;
	return NULL;
}

/* Whether two names of files that do not exist yet would name the same file. */
static bool same_new_file(const char *a, const char *b)
{
	char *x = follow_links(a), *y = follow_links(b), *dx = NULL, *dy = NULL;
	struct stat sx, sy;
	bool same = false;

	if (x && y && !strcmp(x + folder_length(x), y + folder_length(y))) {
		dx = strndup(x, folder_length(x));
		dy = strndup(y, folder_length(y));
		same = dx && dy && !stat(*dx ? dx : ".", &sx) && !stat(*dy ? dy : ".", &sy) &&
		       sx.st_dev == sy.st_dev && sx.st_ino == sy.st_ino;
	}
	free(x);
	free(y);
	free(dx);
	free(dy);
	return same;
}

bool atomic_file_same(const char *a, const char *b)
{
	struct stat sa, sb;
	bool there_a, there_b;

	if (!a || !b)
		return false;
	if (atomic_file_is_stdout(a) || atomic_file_is_stdout(b))
		return atomic_file_is_stdout(a) && atomic_file_is_stdout(b);
	there_a = !stat(a, &sa);
	if (!there_a && errno != ENOENT)
		return !strcmp(a, b);
	there_b = !stat(b, &sb);
	if (!there_b && errno != ENOENT)
		return !strcmp(a, b);
	if (there_a && there_b)	/* two outputs may both go to /dev/null */
		return sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino && !S_ISCHR(sa.st_mode);
	return !there_a && !there_b && same_new_file(a, b);
}

static int cannot(const char *path, int reason, struct gtu_error *err)
{
	return gtu_advise_write(path, reason, err);
}

static void free_names(struct atomic_file *w)
{
	free(w->temporary);
	free(w->target);
	w->temporary = w->target = NULL;
}

static int open_temporary(struct atomic_file *w, const struct stat *old)
{
	mode_t mask;
	int fd, reason;

	if (asprintf(&w->temporary, "%s.XXXXXX", w->target) < 0) {
		w->temporary = NULL;
		return ENOMEM;
	}
	fd = mkstemp(w->temporary);
	if (fd < 0)
		return errno;
	w->file = fdopen(fd, "w");
	if (!w->file) {
		reason = errno;
		close(fd);
		unlink(w->temporary);
		return reason;
	}
	mask = umask(0);
	umask(mask);
	/* a rewritten file keeps its permissions */
	if (!fchmod(fd, old ? old->st_mode & 0777 : 0666 & ~mask))
		return 0;
	reason = errno;
	fclose(w->file);
	unlink(w->temporary);
	return reason;
}

/*
 * Resolve @path into w->target. Returns 1 if a file is there, described by *@st, 0 if none is, or an
 * error.
 */
static int find_target(struct atomic_file *w, const char *path, struct stat *st, struct gtu_error *err)
{
	int reason;

	*w = (struct atomic_file){ .path = path, .target = follow_links(path) };
	if (!w->target && errno == ELOOP)
		return gtu_fail(err, GTU_ERR_FAIL, "%s: cannot be written: it is a symbolic link that another user may have "
				"made, or one of a loop; name the file itself, or a file in a folder of your own", path);
	if (w->target && !stat(path, st))
		return 1;
	reason = errno;
	if (w->target && reason == ENOENT)
		return 0;
	free_names(w);
	return cannot(path, reason, err);
}

static int open_target(struct atomic_file *w, const char *path, struct gtu_error *err)
{
	struct stat st;
	int there, reason;

	if (atomic_file_is_stdout(path)) {
		*w = (struct atomic_file){ .path = path, .file = stdout };
		return 0;
	}
	there = find_target(w, path, &st, err);
	if (there < 0)
		return there;
	if (there && !S_ISREG(st.st_mode)) {
		/* not the target: a link of /proc/self/fd has a text that is no path */
		free_names(w);
		w->file = fopen(path, "w");
		return w->file ? 0 : cannot(path, errno, err);
	}
	/* renaming would replace a read-only file: refuse */
	reason = there && access(w->target, W_OK) ? errno : open_temporary(w, there ? &st : NULL);
	if (!reason)
		return 0;
	free_names(w);
	return cannot(path, reason, err);
}

int atomic_file_open(struct atomic_file *w, const char *path, struct gtu_error *err)
{
	const int rc = open_target(w, path, err);

	errno = 0;
	return rc;
}

/*
 * In a folder with the sticky bit (/tmp) only the owner of a file or of the folder may replace the
 * file.
 */
static bool sticky_forbids(const struct atomic_file *w)
{
	const uid_t self = geteuid();
	struct stat file, folder;
	char *name;
	bool is;

	if (!self || stat(w->target, &file))
		return false;
	name = strndup(w->target, folder_length(w->target));
	is = name && !stat(*name ? name : ".", &folder) && folder.st_mode & S_ISVTX && file.st_uid != self &&
	     folder.st_uid != self;
	free(name);
	return is;
}

int atomic_file_try(const char *path, struct gtu_error *err)
{
	struct atomic_file w;
	struct stat st;
	int rc;

	if (atomic_file_is_stdout(path))
		return 0;
	rc = find_target(&w, path, &st, err);
	if (rc < 0)
		return rc;
	/*
	 * opening a pipe would block until it has a reader, and closing it would end the reader's
	 * input
	 */
	if (rc && !S_ISREG(st.st_mode)) {
		rc = S_ISDIR(st.st_mode) ? EISDIR : access(path, W_OK) ? errno : 0;
		free_names(&w);
		return rc ? cannot(path, rc, err) : 0;
	}
	free_names(&w);
	rc = atomic_file_open(&w, path, err);
	if (rc)
		return rc;
	rc = sticky_forbids(&w) ? cannot(path, EPERM, err) : 0;
	fclose(w.file);
	unlink(w.temporary);
	free_names(&w);
	return rc;
}

int atomic_file_failed(const struct atomic_file *w, struct gtu_error *err)
{
	return cannot(w->path, errno, err);
}

int atomic_file_close(struct atomic_file *w, int rc, struct gtu_error *err)
{
	int reason = 0;

	if (ferror(w->file) || fflush(w->file))
		reason = errno ? errno : EIO;
	if (w->file != stdout && fclose(w->file) && !reason)
		reason = errno;
	/* if only the rename fails, keep the result: it may have taken hours to compute */
	if (!rc && !reason && w->temporary && rename(w->temporary, w->target)) {
		rc = gtu_fail(err, GTU_ERR_FAIL, "%s: cannot rename the complete temporary file to this name: %s; the result is in %s", w->path,
			      strerror(errno), w->temporary);
		free_names(w);
		return rc;
	}
	if (!rc && reason)
		rc = cannot(w->path, reason, err);
	if (rc && w->temporary)
		unlink(w->temporary);
	free_names(w);
	return rc;
}
