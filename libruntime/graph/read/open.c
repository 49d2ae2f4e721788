// SPDX-License-Identifier: MIT
/* Opens a graph by path: maps a container, reads any other format. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libruntime/graph/graph_container.h"
#include "reader.h"

/*
 * An EMOGI graph is named X.bel, but its files are X.bel.col, X.bel.dst and X.bel.val; the reader
 * opens the .col.
 */
static char *emogi_path(const char *path)
{
	size_t base = gtu_path_base(path);
	char *col = NULL;

	if (gtu_path_ends(path, ".bel.dst") || gtu_path_ends(path, ".bel.val"))
		base -= 4;
	else if (!gtu_path_ends(path, ".bel") || !access(path, F_OK))
		return NULL;
	return asprintf(&col, "%.*s.col%s", (int)base, path, path + gtu_path_base(path)) < 0 ? NULL : col;
}

static int open_container(const char *path, const struct gtu_read_options *opt,
			  const struct gtu_progress *progress, struct gtu_graph **out,
			  struct gtu_error *err)
{
	struct stat st;
	int fd, rc;

	/* never open a pipe twice; the reader reports files that cannot be opened */
	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	rc = gtu_container_open(fd, path, progress, out, err);
	close(fd);
	if (rc == 1 && opt)
		rc = gtu_graph_reshape(out, opt, progress, err) ? : 1;
	return rc;
}

int gtu_graph_open(const char *path, const struct gtu_read_options *opt,
		   const struct gtu_progress *progress, struct gtu_graph **out, struct gtu_error *err)
{
	struct gtu_input in;
	char *other = emogi_path(path);
	int rc;

	*out = NULL;
	if (opt && (opt->direction > GTU_UNDIRECTED || opt->weight_column < -1)) {
		free(other);
		return gtu_fail(err, GTU_ERR_USAGE, "direction %u and weight column %d are "
				"invalid: use 0 to 2, and -1 or more",
				opt->direction, opt->weight_column);
	}
	rc = other ? 0 : open_container(path, opt, progress, out, err);
	if (!rc) {
		rc = gtu_input_open(&in, other ? other : path, progress, err);
		if (!rc) {
			rc = gtu_graph_read(&in, NULL, opt, out, err);
			gtu_input_close(&in);
		}
	}
	free(other);
	return rc > 0 ? 0 : rc;
}
