// SPDX-License-Identifier: MIT
/* The reported iterations add up to the run's statistics, with every unit. */
#include <stdlib.h>

#include "gtu/gtu.h"
#include "tests/unit/test.h"

static const uint32_t unit[] = { GTU_WITH_NONE, GTU_WITH_SCU_BASIC, GTU_WITH_SCU, GTU_WITH_IRU, GTU_WITH_PEG, GTU_WITH_WEAVER };
#define UNITS (sizeof(unit) / sizeof(unit[0]))

struct told {
	uint64_t times, frontier, edges, jobs, cycles;
	double seconds;
};

static void take(void *user, const struct gtu_iteration *it)
{
	struct told *t = user;

	CHECK_EQ(it->number, t->times);
	CHECK(it->frontier > 0);
	CHECK(it->seconds >= 0);
	CHECK_EQ(it->list_bytes, 0);
	t->times++;
	t->frontier += it->frontier;
	t->edges += it->edges;
	t->jobs += it->jobs;
	t->cycles += it->job_cycles;
	t->seconds += it->seconds;
}

static void adds_up(const struct told *t, const struct gtu_algorithm_stats *s)
{
	CHECK_EQ(t->times, s->iterations);
	CHECK_EQ(t->edges, s->edges);
	CHECK_EQ(t->jobs, s->jobs);
	CHECK_EQ(t->cycles, s->job_cycles);
	CHECK(t->seconds <= s->seconds * (1 + 1e-9));
}

static struct gtu_graph *graph(void)
{
	struct gtu_generate_options how = { .kind = GTU_GEN_KRONECKER, .scale = 9, .degree = 8, .seed = 1 };
	struct gtu_graph *g;
	struct gtu_error err;
	int rc = gtu_graph_generate(&how, NULL, &g, &err);

	CHECKF(!rc, "graph: %s", err.text);
	return g;
}

TEST(bfs_and_pagerank)
{
	struct gtu_graph *g = graph();
	uint64_t *level = calloc(g->n, 8), v, source = 0;
	double *rank = calloc(g->n, 8);
	struct gtu_algorithm_stats s;
	struct gtu_device *dev;
	struct gtu_error err;
	unsigned i;

	CHECK(!gtu_open("model", &dev, &err));
	for (v = 0; v < g->n; v++)
		if (g->row[v + 1] - g->row[v] > g->row[source + 1] - g->row[source])
			source = v;
	for (i = 0; i < UNITS; i++) {
		struct told t = { 0 };
		struct gtu_algorithm_options opt = { .unit = unit[i], .source = source, .iteration = take, .iteration_user = &t };
		int rc = gtu_bfs(dev, g, &opt, level, &s, &err);

		CHECKF(!rc, "bfs: %s", err.text);
		adds_up(&t, &s);
		/* a vertex is in one frontier only */
		CHECK_EQ(t.frontier, s.vertices);
		t = (struct told){ 0 };
		opt.iterations = 3;
		rc = gtu_pagerank(dev, g, &opt, rank, &s, &err);
		CHECKF(!rc, "pagerank: %s", err.text);
		adds_up(&t, &s);
		CHECK_EQ(t.times, 3);
		CHECK_EQ(t.frontier, 3 * g->n);
	}
	gtu_close(dev);
	gtu_graph_close(g);
	free(level);
	free(rank);
}

TEST(other_algorithms)
{
	struct gtu_graph *g = graph();
	uint64_t *integer = calloc(g->n, 8);
	uint32_t *color = calloc(g->n, 4);
	double *real = calloc(g->n, 8);
	struct gtu_algorithm_stats s;
	struct gtu_device *dev;
	struct gtu_error err;
	unsigned i, a;

	CHECK(!gtu_open("model", &dev, &err));
	for (i = 0; i < UNITS; i++)
		for (a = 0; a < (unit[i] == GTU_WITH_IRU ? 6 : 7); a++) {
			struct told t = { 0 };
			struct gtu_algorithm_options opt = { .unit = unit[i], .target = g->n / 2, .iteration = take, .iteration_user = &t };
			int rc = a == 0 ? gtu_sssp(dev, g, &opt, real, &s, &err) : a == 1 ? gtu_components(dev, g, &opt, integer, &s, &err) :
				 a == 2 ? gtu_coloring(dev, g, &opt, color, &s, &err) : a == 3 ? gtu_cores(dev, g, &opt, integer, &s, &err) :
				 a == 4 ? gtu_stcon(dev, g, &opt, integer, &s, &err) : a == 5 ?
				 gtu_label_propagation(dev, g, &opt, integer, &s, &err) : gtu_clustering(dev, g, &opt, real, &s, &err);

			CHECKF(!rc, "algorithm %u by unit %u: %s", a, unit[i], err.text);
			adds_up(&t, &s);
		}
	gtu_close(dev);
	gtu_graph_close(g);
	free(integer);
	free(color);
	free(real);
}

TEST_MAIN
