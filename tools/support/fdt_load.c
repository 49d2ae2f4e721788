// SPDX-License-Identifier: MIT
/* Loads a device tree from a blob's file, a folder like /proc/device-tree, or a device. */
#include <dirent.h>
#include <errno.h>
#include <libfdt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fdt_blob.h"
#include "gtu/gtu.h"
#include "libruntime/support/fdt.h"

#define SYSTEM		"/proc/device-tree"
#define BYTES_MAX	(16u << 20)
#define PROPERTY_MAX	(1u << 20)
#define DEPTH_MAX	32

/* Read a whole file of at most @max bytes. NULL with a message. */
static void *read_whole(const char *path, size_t max, size_t *bytes, struct gtu_error *err)
{
	FILE *f = fopen(path, "re");
	uint8_t *data = NULL, *more;
	size_t capacity = 0;

	*bytes = 0;
	if (!f) {
		gtu_fail(err, errno == ENOENT ? GTU_ERR_INPUT : GTU_ERR_FAIL, "cannot read %s: %s", path, strerror(errno));
		return NULL;
	}
	for (;;) {
		if (*bytes == capacity) {
			capacity = capacity ? capacity * 2 : 4096;
			more = realloc(data, capacity);
			if (!more) {
				gtu_fail(err, GTU_ERR_NOMEM, "no memory for %s", path);
				break;
			}
			data = more;
		}
		*bytes += fread(data + *bytes, 1, capacity - *bytes, f);
		if (*bytes > max) {
			gtu_fail(err, GTU_ERR_INPUT, "%s has more than %zu bytes", path, max);
			break;
		}
		if (ferror(f)) {
			gtu_fail(err, GTU_ERR_INPUT, "cannot read %s: %s", path, strerror(errno));
			break;
		}
		if (feof(f)) {
			fclose(f);
			return data;
		}
	}
	fclose(f);
	free(data);
	return NULL;
}

/* ---- A folder ------------------------------------------------------------------------------------------ */

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int add_property(void *fdt, const char *path, const char *name, struct gtu_error *err)
{
	size_t bytes;
	void *value = read_whole(path, PROPERTY_MAX, &bytes, err);
	int rc;

	if (!value)
		return err->code;
	rc = fdt_property(fdt, name, value, (int)bytes);
	free(value);
	return rc ? gtu_fail(err, GTU_ERR_INPUT, "%s: %s", path, fdt_strerror(rc)) : 0;
}

/* Add one node: its properties before its children, as the format requires. */
static int add_node(void *fdt, const char *folder, const char *name, unsigned depth, struct gtu_error *err)
{
	struct dirent **entry = NULL;
	int n = scandir(folder, &entry, NULL, by_name), i, pass, rc = 0;
	char path[PATH_MAX];
	struct stat st;

	if (n < 0 || depth > DEPTH_MAX)
		return gtu_fail(err, GTU_ERR_INPUT, "cannot read the folder %s: %s", folder, n < 0 ? strerror(errno) : "too deep");
	if (fdt_begin_node(fdt, name))
		rc = gtu_fail(err, GTU_ERR_NOMEM, "the tree has more than %u bytes", BYTES_MAX);
	for (pass = 0; pass < 2; pass++) {
		for (i = 0; i < n && !rc; i++) {
			const char *is = entry[i]->d_name;

			/* the kernel adds "name" itself: blobs do not have it */
			if (!strcmp(is, ".") || !strcmp(is, "..") || (!pass && !strcmp(is, "name")) ||
			    snprintf(path, sizeof(path), "%s/%s", folder, is) >= (int)sizeof(path) || lstat(path, &st))
				continue;
			if (!pass && S_ISREG(st.st_mode))
				rc = add_property(fdt, path, is, err);
			else if (pass && S_ISDIR(st.st_mode))
				rc = add_node(fdt, path, is, depth + 1, err);
		}
	}
	if (!rc && fdt_end_node(fdt))
		rc = gtu_fail(err, GTU_ERR_NOMEM, "the tree has more than %u bytes", BYTES_MAX);
	while (n-- > 0)
		free(entry[n]);
	free(entry);
	return rc;
}

static void *from_folder(const char *folder, struct gtu_error *err)
{
	void *fdt = calloc(1, BYTES_MAX);
	int rc;

	if (!fdt || fdt_create(fdt, BYTES_MAX) || fdt_finish_reservemap(fdt)) {
		gtu_fail(err, GTU_ERR_NOMEM, "no memory for a device tree");
		free(fdt);
		return NULL;
	}
	rc = add_node(fdt, folder, "", 0, err);
	if (!rc && fdt_finish(fdt))
		rc = gtu_fail(err, GTU_ERR_NOMEM, "the tree has more than %u bytes", BYTES_MAX);
	if (rc) {
		free(fdt);
		return NULL;
	}
	return fdt;
}

/* ---- The rest ------------------------------------------------------------------------------------------- */

static void *from_device(const char *name, struct gtu_error *err)
{
	struct gtu_device *dev;
	const void *blob;
	void *copy = NULL;
	size_t bytes = 0;

	if (gtu_open(name, &dev, err))
		return NULL;
	blob = gtu_get_fdt(dev, &bytes);
	if (blob && bytes)
		copy = malloc(bytes);
	if (copy)
		memcpy(copy, blob, bytes);
	else
		gtu_fail(err, GTU_ERR_UNSUPPORTED, "%s has no device tree", name);
	gtu_close(dev);
	return copy;
}

static void *from_file(const char *path, struct gtu_error *err)
{
	struct gtu_error why;
	size_t bytes;
	void *blob = read_whole(path, BYTES_MAX, &bytes, err);

	if (blob && gtu_fdt_check(blob, bytes, &why)) {
		gtu_fail(err, GTU_ERR_INPUT, "%s: %s", path, why.text);
		free(blob);
		blob = NULL;
	}
	return blob;
}

void *fdt_blob_load(const char *where, struct gtu_error *err)
{
	struct stat st;

	if (!strcmp(where, "system")) {
		if (stat(SYSTEM, &st)) {
			gtu_fail(err, GTU_ERR_INPUT, "this system was not started with a device tree (no " SYSTEM ")");
			return NULL;
		}
		return from_folder(SYSTEM "/", err);
	}
	if (!strncmp(where, "model", 5) || !strncmp(where, "/dev/gtu", 8))
		return from_device(where, err);
	if (!stat(where, &st) && S_ISDIR(st.st_mode))
		return from_folder(where, err);
	return from_file(where, err);
}
