/* SPDX-License-Identifier: MIT */
/* Breadth-first search with GraphPEG's intrinsics: graphpeg GRAPH [DEVICE], from vertex 0. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <gtu/gtu.h>

int main(int argc, char **argv)
{
	uint64_t src[32], dst[32], *list, n = 1, reached = 1, depth;
	uint32_t valid, fresh, lane;
	struct gtu_peg_config config = { .flags = GTU_PEG_WITH_DST, .engines = 1 };
	struct gtu_peg *peg = NULL;
	struct gtu_mapped_graph mg;
	struct gtu_region lists;
	struct gtu_device *dev;
	struct gtu_graph *g;
	struct gtu_queue *q;
	struct gtu_error err;
	char *seen;
	int rc;

	if (argc < 2)
		return fprintf(stderr, "a graph file is missing\n"), 2;
	if (gtu_graph_open(argv[1], &(struct gtu_read_options){ .edge_bytes = 8 }, NULL, &g, &err) ||
	    gtu_graph_check(g, NULL, &err) || gtu_open(argc > 2 ? argv[2] : "model", &dev, &err) ||
	    gtu_queue_create(dev, NULL, &q, &err) || gtu_graph_map(dev, g, &mg, &err) ||
	    gtu_region_alloc(dev, (g->n + 1) * 16, &lists, &err))
		goto failed;
	seen = calloc(g->n + 1, 1);
	if (!seen || !g->n)
		return fprintf(stderr, "out of memory, or an empty graph\n"), 1;
	list = lists.addr;
	list[0] = 0;
	seen[0] = 1;
	config.row = mg.row;
	config.col = mg.col;
	for (depth = 0; n; depth++, reached += n) {	/* double buffer: this round's list and the next one's */
		config.in = gtu_array(&lists, depth % 2 * (g->n + 1) * 8, n, 8);
		config.out = gtu_array(&lists, (depth + 1) % 2 * (g->n + 1) * 8, g->n + 1, 8);
		if (configure_peg(q, &config, &peg, &err))
			goto failed;
		while ((rc = pop_edge_dst(peg, 0, ~0u, dst, &valid, &err)) > 0) {
			for (lane = fresh = 0; lane < 32; lane++)
				if (valid >> lane & 1 && !seen[dst[lane]])
					fresh |= 1u << lane, seen[dst[lane]] = 1, src[lane] = dst[lane];
			if (fresh && push_vert(peg, 0, fresh, src, &err))
				goto failed;
		}
		if (rc || gtu_peg_finish(peg, &n, &err))
			goto failed;
	}
	printf("%" PRIu64 " vertices within %" PRIu64 " hops\n", reached, depth - 1);
	return 0;
failed:
	return fprintf(stderr, "%s\n", err.text), 1;
}
