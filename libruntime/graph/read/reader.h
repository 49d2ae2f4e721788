/* SPDX-License-Identifier: MIT */
/* Interface of the readers, one per file, one word of GTU_READERS. */
#ifndef GTU_READ_READER_H
#define GTU_READ_READER_H

#include "libruntime/graph/graph_internal.h"
#include "libruntime/support/text/input.h"
#include "libruntime/support/text/scan.h"

struct gtu_reader {
	const char *name;		/* name of the format for users */
	/*
	 * Whether @in has this format. Up to 1 MiB is in the window, and nothing has been consumed.
	 * Called in the order of the table.
	 */
	bool (*detect)(const struct gtu_input *in);
	/* Read the whole input. @in has the progress callback. *out is NULL on error. */
	int (*read)(struct gtu_input *in, const struct gtu_read_options *opt, struct gtu_graph **out,
		    struct gtu_error *err);
	bool binary;			/* not text: a byte order mark is content */
};

/* All readers, terminated by NULL. */
extern const struct gtu_reader *const gtu_readers[];

/* In the order in which they are asked. The edge list takes any text: last. */
#define GTU_READERS(R) \
	R(matrix_market) R(graph_tool) R(graphml) R(emogi) R(gap) R(gap_weighted) R(ldbc) R(bvgraph) \
	R(metis) R(dimacs) R(cedge) R(coordinates) \
	R(edge_list)
#define GTU_READER(name) extern const struct gtu_reader gtu_reader_##name;
GTU_READERS(GTU_READER)

/*
 * Read @in with @reader, or, if NULL, with the one that detects it, and name the graph after
 * in->path. For files (gtu_graph_open() calls it) and for memory.
 */
int gtu_graph_read(struct gtu_input *in, const struct gtu_reader *reader,
		   const struct gtu_read_options *opt, struct gtu_graph **out, struct gtu_error *err);

/* Options of pairs.c, which reads lines "u v [more]": edge lists, and matrices without a header. */
struct gtu_pairs {
	bool matrix;			/* ids start at 1; entries in one triangle only stand for both */
	bool undirected;
	bool counted;			/* if ids start at 0, all numbers up to the greatest are vertices */
	uint32_t skip;			/* columns before the two ids */
};

int gtu_read_pairs(struct gtu_input *in, const struct gtu_pairs *how,
		   const struct gtu_read_options *opt, struct gtu_graph **out, struct gtu_error *err);

/*
 * Iterate over the window's lines in detect(): advances *at and sets the line's bounds; false at
 * the end.
 */
bool gtu_window_line(const struct gtu_input *in, const uint8_t **at, const uint8_t **p,
		     const uint8_t **end);
/* Likewise, skipping blank lines and comments (# or %). */
bool gtu_window_data_line(const struct gtu_input *in, const uint8_t **at, const uint8_t **p,
			  const uint8_t **end);

/*
 * Set the weight of the last edge; integers stay integers. *number is false if the column is not a
 * number.
 */
static inline int gtu_scan_weight(struct gtu_edge_list *l, const uint8_t **p, const uint8_t *end,
				  bool *number, struct gtu_error *err)
{
	uint64_t whole;
	double real;

	*number = true;
	if (gtu_scan_u64(p, end, &whole))
		return gtu_edges_weight_u64(l, whole, err);
	*number = gtu_scan_real(p, end, &real);
	return *number ? gtu_edges_weight_f64(l, real, err) : 0;
}

#endif
