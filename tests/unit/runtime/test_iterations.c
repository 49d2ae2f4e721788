// SPDX-License-Identifier: MIT
/* The reported iterations add up to the run's statistics, with every unit. */
#include "subjects.h"

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
	return generate((struct gtu_generate_options){ .kind = GTU_GEN_KRONECKER, .scale = 9, .degree = 8, .seed = 1 });
}

TEST(iterations_of_bfs_and_pagerank_add_up)
{
	struct gtu_graph *g = graph();
	uint64_t *level = test_alloc(g->n, 8);
	double *rank = test_alloc(g->n, 8);
	struct gtu_algorithm_stats s;

	open_device();
	for (uint32_t unit = 0; unit < UNITS; unit++) {
		struct told t = { 0 };
		struct gtu_algorithm_options opt = { .unit = unit, .source = busiest(g), .iteration = take, .iteration_user = &t };

		RUNS("bfs", &opt, gtu_bfs(dev, g, &opt, level, &s, &err));
		adds_up(&t, &s);
		/* a vertex is in one frontier only */
		CHECK_EQ(t.frontier, s.vertices);
		t = (struct told){ 0 };
		opt.iterations = 3;
		RUNS("pagerank", &opt, gtu_pagerank(dev, g, &opt, rank, &s, &err));
		adds_up(&t, &s);
		CHECK_EQ(t.times, 3);
		CHECK_EQ(t.frontier, 3 * g->n);
	}
}

TEST(iterations_of_other_algorithms_add_up)
{
	struct gtu_graph *g = graph();
	void *out = test_alloc(g->n, 8);
	struct gtu_algorithm_stats s;

	open_device();
	for (uint32_t unit = 0; unit < UNITS; unit++)
		for (unsigned a = 0; a < (unit == GTU_WITH_IRU ? 6 : 7); a++) {
			struct told t = { 0 };
			struct gtu_algorithm_options opt = { .unit = unit, .target = g->n / 2, .iteration = take, .iteration_user = &t };
			int rc = a == 0 ? gtu_sssp(dev, g, &opt, out, &s, &err) : a == 1 ? gtu_components(dev, g, &opt, out, &s, &err) :
				 a == 2 ? gtu_coloring(dev, g, &opt, out, &s, &err) : a == 3 ? gtu_cores(dev, g, &opt, out, &s, &err) :
				 a == 4 ? gtu_stcon(dev, g, &opt, out, &s, &err) : a == 5 ?
				 gtu_label_propagation(dev, g, &opt, out, &s, &err) : gtu_clustering(dev, g, &opt, out, &s, &err);

			CHECKF(!rc, "algorithm %u by unit %u: %s", a, unit, err.text);
			adds_up(&t, &s);
		}
}

TEST_MAIN
