// SPDX-License-Identifier: MIT
/* Parses the options for reading graph files and describes graphs in words. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "libruntime/graph/graph_container.h"
#include "graph_options.h"
#include "libruntime/graph/read/reader.h"
#include "libruntime/support/memory.h"
#include "atomic_file.h"

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
	case GRAPH_OPTION_NAMES:
		read->names = 1;
		return true;
	}
	return false;
}

bool graph_memory(const char *value)
{
	uint64_t bytes;

	if (!cli_u64("--memory", value, 1, UINT64_MAX, &bytes))
		return false;
	gtu_set_memory_limit(bytes);
	return true;
}

static const struct {
	const char *own, *beside;	/* suffixes: of the named file, of a file that belongs to it */
} companions[] = {
	{ ".e", ".v" }, { ".e", ".properties" }, { ".graph", ".properties" }, { ".col", ".dst" }, { ".col", ".val" },
	{ ".bel", ".bel.col" }, { ".bel", ".bel.dst" }, { ".bel", ".bel.val" }, { ".dst", ".col" }, { ".dst", ".val" },
	{ ".val", ".col" }, { ".val", ".dst" },
};

bool graph_is_part(const char *path, const char *target)
{
	const size_t base = gtu_path_base(path);	/* without .xz etc., which companions may lack */
	char beside[4096];
	struct stat st;
	size_t i, own;

	if (atomic_file_same(path, target))
		return true;
	for (i = 0; i < sizeof(companions) / sizeof(companions[0]); i++) {
		own = strlen(companions[i].own);
		if (base < own || strncmp(path + base - own, companions[i].own, own))
			continue;
		snprintf(beside, sizeof(beside), "%.*s%s", (int)(base - own), path, companions[i].beside);
		if (!stat(beside, &st) && atomic_file_same(beside, target))
			return true;
		snprintf(beside, sizeof(beside), "%.*s%s%s", (int)(base - own), path, companions[i].beside, path + base);
		if (path[base] && !stat(beside, &st) && atomic_file_same(beside, target))
			return true;
	}
	return false;
}

/* The name of a format that has no columns; NULL for a format that has, or may have, columns. */
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
				/* a graph-tool file's columns are its edge properties */
				if ((gtu_readers[i]->binary && gtu_readers[i] != &gtu_reader_graph_tool) ||
				    gtu_readers[i] == &gtu_reader_metis || gtu_readers[i] == &gtu_reader_coordinates)
					format = gtu_readers[i]->name;
				break;
			}
	}
	gtu_input_close(&in);
	return format;
}

int graph_check_column(const char *path, int32_t column, struct gtu_error *err)
{
	char emogi[4096];
	const char *format, *file = path;
	struct stat st;

	snprintf(emogi, sizeof(emogi), "%s.col", path);	/* X.bel names three files */
	if (stat(path, &st) && gtu_path_ends(path, ".bel"))
		file = emogi;
	if (column <= 0 || stat(file, &st) || !S_ISREG(st.st_mode))
		return 0;
	format = format_without_columns(file);
	return format ? gtu_fail(err, GTU_ERR_USAGE,
				 "--weights %d: %s is %s, which has no columns to choose from", column, path, format) :
			0;
}

const char *graph_kind(const struct gtu_graph *g, char text[64])
{
	static const char *const weights[] = { "no weights", "u32 weights", "f32 weights", "f64 weights" };

	snprintf(text, 64, "%s, %u-byte edges%s, %s",
		 g->flags & GTU_GRAPH_DIRECTED ? "directed" : "undirected", g->edge_bytes,
		 g->flags & GTU_GRAPH_COMPRESSED ? ", compressed" : "", weights[g->weight_type & 3]);
	return text;
}

const char *vertex_label(const struct gtu_graph *g, uint64_t v)
{
	static char buffer[4][256];
	static unsigned next;
	char *text = buffer[next++ % 4];
	size_t bytes;
	const char *name = gtu_graph_vertex_name(g, v, &bytes);

	if (name)
		snprintf(text, sizeof(buffer[0]), "%.*s", (int)bytes, name);
	else
		snprintf(text, sizeof(buffer[0]), "%" PRIu64, gtu_graph_id(g, v));
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

const char *counted(uint64_t n, const char *one, const char *many)
{
	static char buffer[8][64];
	static unsigned next;
	char *text = buffer[next++ % 8];

	snprintf(text, sizeof(buffer[0]), "%s %s", grouped(n), n == 1 ? one : many);
	return text;
}

const char *vertices(uint64_t n)
{
	return counted(n, "vertex", "vertices");
}

const char *edges(uint64_t n)
{
	return counted(n, "edge", "edges");
}
