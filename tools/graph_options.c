// SPDX-License-Identifier: MIT
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "graph_container.h"
#include "graph_options.h"
#include "read/reader.h"

bool graph_option(int returned, struct gtu_read_options *read)
{
	switch (returned) {
	case GRAPH_OPTION_DIRECTED:
		read->direction = GTU_DIRECTED;
		return true;
	case GRAPH_OPTION_UNDIRECTED:
		read->direction = GTU_UNDIRECTED;
		return true;
	case GRAPH_OPTION_SIMPLIFY:
		read->simplify = 1;
		return true;
	}
	return false;
}

/* The format of a file that has no columns, in words; NULL if it has, or may have. */
static const char *format_without_columns(const char *path)
{
	const char *format = NULL;
	struct gtu_input in;
	unsigned i;

	if (gtu_input_open(&in, path, NULL, NULL))
		return NULL;
	if (!gtu_input_peek(&in, 1u << 20, NULL)) {
		if (in.end - in.cur >= GTU_CONTAINER_MAGIC_BYTES &&
		    !memcmp(in.cur, GTU_CONTAINER_MAGIC, GTU_CONTAINER_MAGIC_BYTES))
			format = "a native container";
		for (i = 0; !format && gtu_readers[i]; i++)
			if (gtu_readers[i]->detect(&in)) {
				/* graph-tool's properties of edges are its columns */
				if (gtu_readers[i]->binary && gtu_readers[i] != &gtu_reader_graph_tool)
					format = gtu_readers[i]->name;
				break;
			}
	}
	gtu_input_close(&in);
	return format;
}

int graph_check_column(const char *path, int32_t column, struct gtu_error *err)
{
	const char *format;
	struct stat st;

	if (column <= 0 || stat(path, &st) || !S_ISREG(st.st_mode))
		return 0;
	format = format_without_columns(path);
	return format ? gtu_fail(err, GTU_ERR_USAGE,
				 "--weights %d: %s is %s, which has no columns to choose from", column, path, format) :
			0;
}

const char *graph_kind(const struct gtu_graph *g, char text[64])
{
	static const char *const weights[] = { "no weights", "u32 weights", "f32 weights", "f64 weights" };

	snprintf(text, 64, "%s, %u-byte edges, %s",
		 g->flags & GTU_GRAPH_DIRECTED ? "directed" : "undirected", g->edge_bytes,
		 weights[g->weight_type & 3]);
	return text;
}

const char *grouped(uint64_t x)
{
	static char buffer[8][32];
	static unsigned next;
	char digits[24], *to = buffer[next++ % 8], *start = to;
	int n = snprintf(digits, sizeof(digits), "%" PRIu64, x), i;

	for (i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0)
			*to++ = ',';
		*to++ = digits[i];
	}
	*to = 0;
	return start;
}
