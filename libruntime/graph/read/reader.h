/* SPDX-License-Identifier: MIT */
/* One reader, one file; table.c lists them all. */
#ifndef GTU_READ_READER_H
#define GTU_READ_READER_H

#include "libruntime/graph/graph_internal.h"
#include "input.h"

struct gtu_reader {
	const char *name;		/* as a person calls the format */
	/*
	 * Whether @in, of which up to 1 MiB lie in the window and nothing has been consumed, is of this
	 * format. Asked in the order of the table.
	 */
	bool (*detect)(const struct gtu_input *in);
	/* Read it whole. Progress is the input's own. On failure *out is NULL. */
	int (*read)(struct gtu_input *in, const struct gtu_read_options *opt, struct gtu_graph **out,
		    struct gtu_error *err);
	bool binary;			/* no text: a byte order mark means nothing */
};

/* All readers, ending in NULL. */
extern const struct gtu_reader *const gtu_readers[];

extern const struct gtu_reader gtu_reader_matrix_market, gtu_reader_dimacs, gtu_reader_metis,
	gtu_reader_ldbc, gtu_reader_cedge, gtu_reader_coordinates, gtu_reader_edge_list,
	gtu_reader_emogi, gtu_reader_gap, gtu_reader_gap_weighted, gtu_reader_bvgraph,
	gtu_reader_graphml, gtu_reader_graph_tool;

/*
 * Read @in with @reader, or with the one that recognizes it if NULL; name the graph after in->path. For
 * files (gtu_graph_open() calls it) and for memory.
 */
int gtu_graph_read(struct gtu_input *in, const struct gtu_reader *reader,
		   const struct gtu_read_options *opt, struct gtu_graph **out, struct gtu_error *err);

/* What pairs.c reads: lines "u v [more]", the common ground of edge lists and matrices without header. */
struct gtu_pairs {
	bool matrix;			/* ids begin at 1, and entries in one triangle stand for both */
	bool undirected;
	bool counted;			/* if ids begin at 0, all up to the greatest are vertices */
	uint32_t skip;			/* columns before the two ids */
};

int gtu_read_pairs(struct gtu_input *in, const struct gtu_pairs *how,
		   const struct gtu_read_options *opt, struct gtu_graph **out, struct gtu_error *err);

/* The window's lines for detect(): moves *p behind a line and gives its columns' bounds; false at the end. */
bool gtu_window_line(const struct gtu_input *in, const uint8_t **at, const uint8_t **p,
		     const uint8_t **end);
/* The next line of the window that is neither blank nor a comment (# or %). */
bool gtu_window_data_line(const struct gtu_input *in, const uint8_t **at, const uint8_t **p,
			  const uint8_t **end);

#endif
