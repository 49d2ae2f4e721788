/* SPDX-License-Identifier: MIT */
/*
 * Breadth-first search with frontiers expanded by the stream compaction unit: scu GRAPH [DEVICE],
 * from vertex 0.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <gtu/gtu.h>

int main(int argc, char **argv)
{
	uint64_t *index, *count, *next, reached = 1, frontier = 1, edges, i, v, level = 0;
	struct gtu_region in, out;
	struct gtu_array starts, counts, to;
	struct gtu_mapped_graph mg;
	struct gtu_completion done;
	struct gtu_device *dev;
	struct gtu_graph *g;
	struct gtu_queue *q;
	struct gtu_error err;
	char *seen;

	if (argc < 2)
		return fprintf(stderr, "a graph file is missing\n"), 2;
	if (gtu_graph_open(argv[1], &(struct gtu_read_options){ .edge_bytes = 8 }, NULL, &g, &err) ||
	    gtu_graph_check(g, NULL, &err) || gtu_open(argc > 2 ? argv[2] : "model", &dev, &err) ||
	    gtu_queue_create(dev, NULL, &q, &err) || gtu_graph_map(dev, g, &mg, &err) ||
	    gtu_region_alloc(dev, (g->n + 1) * 16, &in, &err) || gtu_region_alloc(dev, (g->m + 1) * 8, &out, &err))
		goto failed;
	seen = calloc(g->n + 1, 1);
	if (!seen || !g->n)
		return fprintf(stderr, "out of memory, or an empty graph\n"), 1;
	index = in.addr;
	count = index + g->n;
	next = out.addr;
	next[0] = 0;
	for (seen[0] = 1; frontier; level++) {
		for (i = 0, edges = 0; i < frontier; i++, edges += count[i - 1]) {
			index[i] = g->row[next[i]];
			count[i] = g->row[next[i] + 1] - index[i];
		}
		starts = gtu_array(&in, 0, frontier, 8);
		counts = gtu_array(&in, g->n * 8, frontier, 8);
		to = gtu_array(&out, 0, edges, 8);
		/* the concatenated adjacency lists of the frontier */
		if (gtu_scu_expand(q, &mg.col, &starts, &counts, NULL, NULL, &to, &done, &err))
			goto failed;
		for (i = 0, frontier = 0; i < done.count; i++)
			if (!seen[v = next[i]])
				seen[v] = 1, next[frontier++] = v;
		reached += frontier;
	}
	printf("%" PRIu64 " vertices within %" PRIu64 " hops\n", reached, level - 1);
	return 0;
failed:
	fprintf(stderr, "%s\n", err.text);
	return 1;
}
