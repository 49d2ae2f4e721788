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

#endif
