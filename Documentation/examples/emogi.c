/* SPDX-License-Identifier: MIT */
/*
 * EMOGI: BFS over an edge list in host memory: emogi GRAPH [DEVICE]. On a GPU (cuda:0) the library
 * places the list and reports the reason; on other devices the zero-copy monitor counts the
 * requests that a link would carry.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <gtu/gpu.h>

int main(int argc, char **argv)
{
	const char *device = argc > 2 ? argv[2] : "model";
	const bool gpu = !strncmp(device, "cuda:", 5);
	struct gtu_algorithm_options opt = { .unit = gpu ? GTU_WITH_GPU : GTU_WITH_PEG };
	struct gtu_placement_options place = { .edges = GTU_EDGES_PINNED, .edge_bytes = 4 };
	uint64_t counter[GTU_UREG_COUNTERS], reached = 0, v, *level = NULL;
	struct gtu_algorithm_stats stats;
	struct gtu_device *dev;
	struct gtu_graph *g;
	struct gtu_error err;
	unsigned sectors;

	if (argc < 2)
		return fprintf(stderr, "a graph file is missing\n"), 2;
	if (gtu_graph_open(argv[1], NULL, NULL, &g, &err) || gtu_open(device, &dev, &err) ||
	    (gpu && gtu_placement_create(dev, g, &place, &err)) ||
	    (!gpu && gtu_setting(dev, GTU_UNIT_ZCM, GTU_ZCM_S_ENABLE, 1, &err)))
		goto failed;
	level = malloc((g->n + 1) * sizeof(*level));
	if (!level)
		return fprintf(stderr, "out of memory\n"), 1;
	if (gtu_bfs(dev, g, &opt, level, &stats, &err))
		goto failed;
	for (v = 0; v < g->n; v++)
		reached += level[v] != GTU_UNREACHED;
	printf("%" PRIu64 " vertices within %" PRIu64 " hops\n", reached, stats.iterations - 1);
	if (gpu) {
		printf("edges: %s\n%" PRIu64 " bytes requested\n", gtu_get_placement(dev)->why, stats.list_bytes);
		return 0;
	}
	if (gtu_counters(dev, GTU_UNIT_ZCM, false, counter, &err))
		goto failed;
	for (sectors = 1; sectors <= 4; sectors++)
		printf("%3u-byte reads %" PRIu64 "\n", sectors * 32, counter[GTU_ZCM_C_REQUESTS(0, sectors)]);
	return 0;
failed:
	fprintf(stderr, "%s\n", err.text);
	return 1;
}
