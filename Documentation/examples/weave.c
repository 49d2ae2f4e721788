/* SPDX-License-Identifier: MIT */
/*
 * Breadth-first search over SparseWeaver's interface: weave GRAPH [UNIT(0-5) [push|pull]]; prints
 * "vertex level".
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <gtu/weave.h>

#define FAR UINT64_MAX

static void init(const struct gtu_weave_iteration *t, uint64_t v)
{
	((uint64_t *)t->context)[v] = v ? FAR : 0;
}

static bool not_in_frontier(const struct gtu_weave_iteration *t, uint64_t v)
{
	return ((uint64_t *)t->context)[v] != t->iteration;
}

static bool visited(const struct gtu_weave_iteration *t, uint64_t v)
{
	return ((uint64_t *)t->context)[v] != FAR;
}

static void gather(const struct gtu_weave_iteration *t, uint64_t source, uint64_t target, double weight)
{
	((uint64_t *)t->context)[target] = ((uint64_t *)t->context)[source] + 1;
	(void)weight;
}

static bool apply(const struct gtu_weave_iteration *t, uint64_t v)
{
	return ((uint64_t *)t->context)[v] == t->iteration + 1;
}

int main(int argc, char **argv)
{
	const struct gtu_weave_functions bfs = { .init = init, .filter_source = not_in_frontier,
						 .filter_target = visited, .gather = gather, .apply = apply };
	struct gtu_algorithm_options opt = { .unit = argc > 2 ? atoi(argv[2]) : GTU_WITH_WEAVER };
	const bool pull = argc > 3 && !strcmp(argv[3], "pull");
	struct gtu_weave_storage s = { 0 };
	struct gtu_device *dev = NULL;
	struct gtu_graph *g = NULL;
	struct gtu_error err;
	uint64_t *level = NULL, v;
	int rc = argc < 2 || gtu_graph_open(argv[1], NULL, NULL, &g, &err) || gtu_open("model", &dev, &err) ||
		 (pull ? gtu_weave_csc : gtu_weave_csr)(g, 64, &s, &err) ||
		 !(level = malloc((g->n + 1) * sizeof(*level))) || gtu_weave(dev, &s, &bfs, level, &opt, NULL, &err);

	for (v = 0; !rc && v < g->n; v++)
		printf("%" PRIu64 " %" PRId64 "\n", gtu_graph_id(g, v), (int64_t)level[v]);
	return rc ? (fprintf(stderr, "%s\n", argc < 2 ? "a graph file is missing" : err.text), 1) : 0;
}
