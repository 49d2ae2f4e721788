/* SPDX-License-Identifier: MIT */
/* Parts of a graph by ranges of vertices with about the same number of edges. */
#ifndef GTU_GRAPH_PART_H
#define GTU_GRAPH_PART_H

#include "gtu/graph.h"

/*
 * cut[0] = 0, ..., cut[parts] = n: part p has the vertices from cut[p] up to cut[p + 1], and about
 * (n + m) / parts vertices and edges. The same graph gives the same cut in every process, also where
 * only one part is open.
 */
int gtu_graph_cut(const struct gtu_graph *g, uint32_t parts, uint64_t *cut, struct gtu_error *err);

/* gtu_graph_open_part() for part @part of @parts. */
int gtu_graph_map_part(const char *path, uint32_t part, uint32_t parts, const struct gtu_progress *progress,
		       struct gtu_graph **out, struct gtu_error *err);

/*
 * A generated graph in blocks of edges, of which each can be drawn alone: those of gtu_graph_generate(), in the
 * same order. (generate/table.c)
 */
struct gtu_blocks {
	struct gtu_generate_options opt;	/* with the defaults */
	uint64_t n, pairs, count;	/* edges, each for both directions unless opt.directed; blocks */
	uint32_t edge_bytes;
	uint64_t *src, *dst;		/* of the block drawn last */
	uint32_t *weight;		/* with opt.random_weights */
};

/* NULL with an error: edges of this generator depend on each other, ... */
struct gtu_blocks *gtu_blocks_open(const struct gtu_generate_options *opt, struct gtu_error *err);
void gtu_blocks_close(struct gtu_blocks *b);
/* Draw block @block; the number of its edges. */
uint64_t gtu_blocks_draw(struct gtu_blocks *b, uint64_t block);
/* Set everything of @g that does not depend on the edges. */
void gtu_blocks_describe(const struct gtu_blocks *b, struct gtu_graph *g);

/*
 * A part of the graph of @b, which is cut at cut[0..@parts] and has @m entries. Rows, edges and weights are zeros,
 * which take no memory; the caller writes those of its part, at the indices of the whole graph.
 */
int gtu_graph_make_part(const struct gtu_blocks *b, const uint64_t *cut, uint32_t parts, uint64_t m,
			struct gtu_graph **out, struct gtu_error *err);

#endif
