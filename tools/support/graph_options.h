/* SPDX-License-Identifier: MIT */
/* The options that control how a graph file is read, and words to describe a graph. */
#ifndef GTU_TOOLS_GRAPH_OPTIONS_H
#define GTU_TOOLS_GRAPH_OPTIONS_H

#include "cli.h"
#include "gtu/graph.h"

enum {
	GRAPH_OPTION_DIRECTED = 0x1000,
	GRAPH_OPTION_UNDIRECTED,
	GRAPH_OPTION_SIMPLIFY,
	GRAPH_OPTION_MEMORY,
	GRAPH_OPTION_NAMES,
};

/* For a verb's table of long options. */
#define GRAPH_OPTIONS                                                                              \
	{ "directed", no_argument, NULL, GRAPH_OPTION_DIRECTED },                                  \
	{ "undirected", no_argument, NULL, GRAPH_OPTION_UNDIRECTED },                              \
	{ "simplify", no_argument, NULL, GRAPH_OPTION_SIMPLIFY },                                  \
	{ "names", no_argument, NULL, GRAPH_OPTION_NAMES },                                        \
	{ "memory", required_argument, NULL, GRAPH_OPTION_MEMORY }

#define GRAPH_OPTIONS_HELP                                                                         \
	"  --directed            read every entry once, as written, whatever the file declares\n"     \
	"  --undirected          enter every edge in both directions; merge duplicates that result\n" \
	"  --simplify            drop self loops and duplicate edges (the first weight stays)\n"    \
	"  --names               the ids of an edge list are words, such as 'alice bob'; they are kept\n" \
	"  --memory SIZE         most bytes of one array that the file's content may cause\n"        \
	"                        [$GTU_MEMORY, or 3/4 of the machine's memory]\n"

/* Process what getopt_long() returned. Returns false if it is not one of these options. */
bool graph_option(int returned, struct gtu_read_options *read);
/* Process the value of --memory. Returns false after a message. */
bool graph_memory(const char *value);

/*
 * Check that the file at @path can have a weight column. Returns GTU_ERR_USAGE with a message for a
 * native container and for binary formats without columns. Returns 0 for all other formats, for a
 * file that is not regular (a pipe can be read only once), and for an unreadable file (the reader
 * reports that).
 */
int graph_check_column(const char *path, int32_t column, struct gtu_error *err);

/* Direction, edge width and weight type in words: "directed, 4-byte edges, u32 weights". */
const char *graph_kind(const struct gtu_graph *g, char text[64]);

/* The name of vertex @v, or its id; in one of four static buffers: use the result at once. */
const char *vertex_label(const struct gtu_graph *g, uint64_t v);
/* "1,234,567", in one of eight static buffers: use the result at once. */
const char *grouped(uint64_t x);
/* "1 vertex", "1,234 vertices"; in static buffers, too. */
const char *vertices(uint64_t n);
const char *edges(uint64_t n);
const char *counted(uint64_t n, const char *one, const char *many);

/*
 * Whether @target is one of the files that hold the graph named @path: the file itself, or one
 * beside it (the .v and .properties of an .e, the .dst and .val of an EMOGI graph, the .properties
 * of a BVGraph).
 */
bool graph_is_part(const char *path, const char *target);

#endif
