// SPDX-License-Identifier: MIT
/* gtu bench gpu: the graph under test, its sources, and memory for results. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bench_gpu.h"
#include "bench_gpu_rule.h"
#include "libruntime/support/clock.h"
#include "tools/experiments/end_weights.h"
#include "tools/support/cli.h"
#include "tools/support/graph_options.h"

static int open_graph(struct gpu_bench *b, const char *name, struct gtu_error *err)
{
	struct gtu_generate_options make = { .degree = 16, .seed = 1 };
	const char *colon = strchr(name, ':');
	uint64_t scale = 0;

	make.kind = !strncmp(name, "uniform:", 8) ? GTU_GEN_UNIFORM : GTU_GEN_KRONECKER;
	if (strncmp(name, "uniform:", 8) && strncmp(name, "kronecker:", 10))
		return gtu_graph_open(name, NULL, cli_progress(), &b->opened, err);
	if (!cli_u64("the scale of --graph", colon + 1, 1, 31, &scale))
		return gtu_fail(err, GTU_ERR_USAGE, "--graph %s is not a valid graph", name);
	make.scale = (uint32_t)scale;
	make.n = 1ull << scale;
	return gtu_graph_generate(&make, cli_progress(), &b->opened, err);
}

static int make_weights(struct gpu_bench *b, struct gtu_error *err)
{
	struct gtu_graph *g = &b->g;

	b->weight = end_weights(g, b->weight_min, b->weight_max);
	if (!b->weight)
		return gtu_fail(err, GTU_ERR_NOMEM, "no memory for %" PRIu64 " weights", g->m);
	g->weight = b->weight;
	g->weight_type = GTU_WEIGHT_U32;
	return 0;
}

int bench_gpu_graph_open(struct gpu_bench *b, const char *name, bool weighted, uint32_t words, struct gtu_error *err)
{
	double start = gtu_now_s();
	uint64_t v, state = 1;
	unsigned i;
	int rc = bench_rule_is(name) ? bench_rule_make(name, &b->g, err) : open_graph(b, name, err);

	if (rc)
		return rc;
	if (b->graphs_opened == BENCH_GRAPHS_OPENED)
		return gtu_fail(err, GTU_ERR_FAIL, "more than %d graphs", BENCH_GRAPHS_OPENED);
	snprintf(b->opened_graph[b->graphs_opened].name, sizeof(b->opened_graph[0].name), "%s", name);
	b->name = b->opened_graph[b->graphs_opened].name;
	b->by_rule = !b->opened;
	if (b->opened)
		b->g = *b->opened;
	if (!b->g.n || !b->g.m)
		return gtu_fail(err, GTU_ERR_INPUT, "%s has no edges", name);
	if (b->opened) {
		rc = gtu_graph_check(b->opened, cli_progress(), err);
		b->g.flags = b->opened->flags;
	}
	if (!rc && b->validate && b->g.flags & GTU_GRAPH_DIRECTED)
		rc = gtu_fail(err, GTU_ERR_USAGE, "--validate checks undirected graphs, but %s is directed", name);
	if (!rc && weighted && b->g.weight_type == GTU_WEIGHT_NONE)
		rc = make_weights(b, err);
	if (rc)
		return rc;
	b->result = malloc(8ull * words * b->g.n);
	b->source = malloc(64 * sizeof(*b->source));
	if (!b->result || !b->source)
		return gtu_fail(err, GTU_ERR_NOMEM, "no memory for the results of %" PRIu64 " vertices", b->g.n);
	for (i = 0; i < 64;) {
		v = gtu_splitmix64_hash(state++) % b->g.n;
		if (b->g.row[v] != b->g.row[v + 1])
			b->source[i++] = v;
	}
	b->opened_graph[b->graphs_opened].n = b->g.n;
	b->opened_graph[b->graphs_opened].m = b->g.m;
	memcpy(b->opened_graph[b->graphs_opened++].source, b->source, 64 * sizeof(*b->source));
	memset(b->hash, 0, sizeof(b->hash));
	memset(b->validated, 0, sizeof(b->validated));
	if (b->table)
		printf("\n%s: %s vertices, %s edges; ready in %.1f s\n", name, grouped(b->g.n), grouped(b->g.m), gtu_now_s() - start);
	return 0;
}

void bench_gpu_graph_close(struct gpu_bench *b)
{
	unsigned i;

	gtu_placement_destroy(b->dev);
	gtu_graph_close(b->opened);
	if (b->by_rule)
		bench_rule_free(&b->g);
	b->by_rule = false;
	free(b->weight);
	free(b->source);
	free(b->result);
	for (i = 0; i < BENCH_ALGORITHMS; i++) {
		free(b->first[i]);
		b->first[i] = NULL;
	}
	b->opened = NULL;
	b->weight = NULL;
	b->source = NULL;
	b->result = NULL;
}
