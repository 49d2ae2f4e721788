/* SPDX-License-Identifier: MIT */
/* The options that say how a graph file is to be read, the same for every verb that takes one. */
#ifndef GTU_TOOLS_GRAPH_OPTIONS_H
#define GTU_TOOLS_GRAPH_OPTIONS_H

#include "cli.h"
#include "gtu/graph.h"

enum {
	GRAPH_OPTION_DIRECTED = 0x1000,
	GRAPH_OPTION_UNDIRECTED,
	GRAPH_OPTION_SIMPLIFY,
};

/* For a verb's table of long options. */
#define GRAPH_OPTIONS                                                                              \
	{ "directed", no_argument, NULL, GRAPH_OPTION_DIRECTED },                                  \
	{ "undirected", no_argument, NULL, GRAPH_OPTION_UNDIRECTED },                              \
	{ "simplify", no_argument, NULL, GRAPH_OPTION_SIMPLIFY }

#define GRAPH_OPTIONS_HELP                                                                         \
	"  --directed            take every entry once, as written, whatever the file says\n"         \
	"  --undirected          enter every edge both ways; duplicates that this makes are merged\n" \
	"  --simplify            drop self loops and duplicate edges (the first weight stays)\n"

/* Take what getopt_long() returned if it is one of these; false if it is not. */
bool graph_option(int returned, struct gtu_read_options *read);

/*
 * Whether a column for weights means something in the file at @path. GTU_ERR_USAGE with a sentence for a
 * native container and for binary formats without columns; 0 for the others, for what is no regular file (a
 * pipe can be read only once) and for what cannot be read, of which the reader complains.
 */
int graph_check_column(const char *path, int32_t column, struct gtu_error *err);

/* "directed", with the edges' width and weights in words: "directed, 4-byte edges, u32 weights". */
const char *graph_kind(const struct gtu_graph *g, char text[64]);

/* "1,234,567" in one of a few buffers, for one printf. */
const char *grouped(uint64_t x);
/* "1 vertex", "1,234 vertices"; likewise. */
const char *vertices(uint64_t n);
const char *edges(uint64_t n);
const char *counted(uint64_t n, const char *one, const char *many);

/*
 * Whether @target is one of the files that the graph named @path is made of: itself, or what lies beside it
 * (the .v and .properties of an .e, the .dst and .val of an EMOGI graph, the .properties of a BVGraph).
 */
bool graph_is_part(const char *path, const char *target);

#endif
