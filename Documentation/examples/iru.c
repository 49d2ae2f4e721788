/* SPDX-License-Identifier: MIT */
/*
 * In-degrees with the irregular accesses reorder unit: iru GRAPH [DEVICE]. The unit groups edges
 * into warps whose targets share cache lines; the program prints the lines per warp.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <gtu/gtu.h>

int main(int argc, char **argv)
{
	struct gtu_iru_config config = { .target_width = 4, .operation = GTU_IRU_OP_NONE, .all = true };
	uint64_t warps = 0, lines = 0, edges = 0, most = 0, v;
	struct gtu_iru *iru = NULL;
	struct gtu_mapped_graph mg;
	struct gtu_device *dev;
	struct gtu_graph *g;
	struct gtu_queue *q;
	struct gtu_error err;
	struct gtu_warp warp;
	uint32_t *degree;
	int rc, lane;

	if (argc < 2)
		return fprintf(stderr, "a graph file is missing\n"), 2;
	if (gtu_graph_open(argv[1], &(struct gtu_read_options){ .edge_bytes = 4 }, NULL, &g, &err) ||
	    gtu_graph_check(g, NULL, &err) || gtu_open(argc > 2 ? argv[2] : "model", &dev, &err) ||
	    gtu_queue_create(dev, NULL, &q, &err) || gtu_graph_map(dev, g, &mg, &err))
		goto failed;
	degree = calloc(g->n + 1, sizeof(*degree));
	if (!degree)
		return fprintf(stderr, "out of memory\n"), 1;
	config.indices = mg.col;
	if (configure_iru(q, &config, &iru, &err))
		goto failed;
	while ((rc = load_iru(iru, &warp, &err)) > 0) {
		warps++;
		lines += warp.lines;
		for (lane = 0; lane < 32; lane++)
			if (warp.active >> lane & 1)
				degree[warp.index[lane]]++, edges++;
	}
	if (rc)
		goto failed;
	for (v = 0; v < g->n; v++)
		most = degree[v] > most ? degree[v] : most;
	printf("%" PRIu64 " edges, the greatest in-degree is %" PRIu64 "\n", edges, most);
	printf("%" PRIu64 " warps of %.2f lines\n", warps, warps ? (double)lines / warps : 0);
	return 0;
failed:
	fprintf(stderr, "%s\n", err.text);
	return 1;
}
