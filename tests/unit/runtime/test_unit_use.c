// SPDX-License-Identifier: MIT
/*
 * The algorithms use what the units offer, shown by the units' counters: GraphPEG's output lists are
 * the next frontiers, its vertex-list mode splits near and far vertices, and weights come from the
 * unit, as Weaver's do. The IRU adds ranks.
 */
#include "libruntime/device/backend.h"
#include "subjects.h"

static uint64_t counter[GTU_UREG_COUNTERS];

static void clear(uint32_t unit)
{
	OK(gtu_counters(dev, unit, true, counter, &err));
}

static void read_counters(uint32_t unit)
{
	OK(gtu_counters(dev, unit, false, counter, &err));
}

static const struct gtu_graph *some_graph(uint32_t edge_bytes, uint32_t weight_type, const void *weight)
{
	uint64_t seed = 3;
	struct edges e = skewed(2000, 12000, &seed);

	open_device();
	return weighted_edges(e.n, e.m, e.src, e.dst, weight_type, weight, GTU_UNDIRECTED, edge_bytes);
}

TEST(peg_collects_the_frontiers)
{
	static const uint32_t direction[] = { GTU_PUSH, GTU_PULL, GTU_PUSH_OR_PULL };

	for (uint32_t bytes = 4; bytes <= 8; bytes += 4) {
		const struct gtu_graph *g = some_graph(bytes, GTU_WEIGHT_NONE, NULL);
		struct gtu_algorithm_options opt = { .unit = GTU_WITH_PEG, .source = busiest(g), .target = 1999 };
		uint64_t *level = test_alloc(g->n, 8), reached = 0, distance;
		double *score = test_alloc(g->n, 8);

		for (unsigned i = 0; i < LENGTH(direction); i++) {
			opt.direction = direction[i];
			clear(GTU_UNIT_PEG);
			RUNS("bfs", &opt, gtu_bfs(dev, g, &opt, level, NULL, &err));
			read_counters(GTU_UNIT_PEG);
			reached = 0;
			for (uint64_t v = 0; v < g->n; v++)
				reached += level[v] != GTU_UNREACHED;
			CHECK(reached > 1000);
			CHECK_EQ(counter[GTU_PEG_C_PUSHED], reached - 1);	/* all but the source */
		}
		opt.direction = GTU_PUSH;
		clear(GTU_UNIT_PEG);
		RUNS("components", &opt, gtu_components(dev, g, &opt, level, NULL, &err));
		read_counters(GTU_UNIT_PEG);
		CHECK(counter[GTU_PEG_C_PUSHED] > 1000);
		clear(GTU_UNIT_PEG);
		RUNS("cores", &opt, gtu_cores(dev, g, &opt, level, NULL, &err));
		read_counters(GTU_UNIT_PEG);
		CHECK(counter[GTU_PEG_C_PUSHED] > 0);
		clear(GTU_UNIT_PEG);
		RUNS("stcon", &opt, gtu_stcon(dev, g, &opt, &distance, NULL, &err));
		read_counters(GTU_UNIT_PEG);
		CHECK(counter[GTU_PEG_C_PUSHED] > 0);
		opt.sources = &opt.source;
		opt.source_count = 1;
		clear(GTU_UNIT_PEG);
		RUNS("betweenness", &opt, gtu_betweenness(dev, g, &opt, score, NULL, &err));
		read_counters(GTU_UNIT_PEG);
		CHECK_EQ(counter[GTU_PEG_C_PUSHED], reached - 1);
		test_end(NULL);
	}
}

/*
 * Vertices, then, are those of frontiers and of lists: more than the edge streams' frontiers alone,
 * which `iteration` reports.
 */
static void add_frontier(void *user, const struct gtu_iteration *it)
{
	*(uint64_t *)user += it->frontier;
}

TEST(peg_splits_near_and_far_in_vertex_list_mode)
{
	uint32_t weight[12000];
	uint64_t seed = 9, expanded = 0;
	const struct gtu_graph *g;
	struct gtu_algorithm_options opt = { .delta = 20, .iteration = add_frontier, .iteration_user = &expanded };
	double *want, *got;

	for (unsigned i = 0; i < LENGTH(weight); i++)
		weight[i] = 1 + (uint32_t)(test_random(&seed) % 100);
	g = some_graph(4, GTU_WEIGHT_U32, weight);
	want = test_alloc(g->n, 8);
	got = test_alloc(g->n, 8);
	opt.source = busiest(g);
	RUNS("sssp", &opt, gtu_sssp(dev, g, &opt, want, NULL, &err));
	expanded = 0;
	opt.unit = GTU_WITH_PEG;
	clear(GTU_UNIT_PEG);
	RUNS("sssp", &opt, gtu_sssp(dev, g, &opt, got, NULL, &err));
	read_counters(GTU_UNIT_PEG);
	same_reals(got, want, g->n, 0, run_name("sssp", &opt));
	CHECK(counter[GTU_PEG_C_VERTICES] > expanded);
	/* every vertex but the source enters a frontier through a list */
	CHECK(counter[GTU_PEG_C_PUSHED] >= expanded - 1);
}

/* The device has other weights than the CPU: the distances show whose are added. */
static uint32_t *cpu_weight, *unit_weight;

static int add(struct gtu_device *d, void *addr, uint64_t length, uint32_t rights, uint32_t *key,
	       struct gtu_error *e)
{
	return gtu_backend_model.region_add(d, addr == cpu_weight ? unit_weight : addr, length, rights, key, e);
}

TEST(weights_come_from_the_unit)
{
	static const uint32_t unit[] = { GTU_WITH_PEG, GTU_WITH_WEAVER };
	struct gtu_backend_ops ops = gtu_backend_model;
	const struct gtu_backend_ops *before;
	struct gtu_algorithm_options opt = { 0 };
	struct gtu_graph g = *some_graph(4, GTU_WEIGHT_NONE, NULL);
	double *want = test_alloc(g.n, 8), *got = test_alloc(g.n, 8);
	const uint64_t features = 16;

	ops.region_add = add;
	before = dev->ops;
	opt.source = busiest(&g);
	RUNS("sssp", &opt, gtu_sssp(dev, &g, &opt, want, NULL, &err));
	cpu_weight = test_alloc(g.m, 4);
	unit_weight = test_alloc(g.m, 4);
	for (uint64_t e = 0; e < g.m; e++) {
		cpu_weight[e] = 1;
		unit_weight[e] = 7;
	}
	g.weight = cpu_weight;
	g.weight_type = GTU_WEIGHT_U32;
	for (unsigned i = 0; i < LENGTH(unit); i++) {
		opt.unit = unit[i];
		dev->ops = &ops;
		RUNS("sssp", &opt, gtu_sssp(dev, &g, &opt, got, NULL, &err));
		dev->ops = before;
		for (uint64_t v = 0; v < g.n; v++)
			CHECKF(got[v] == 7 * want[v], "%s: vertex %" PRIu64 " has %g, not 7 times %g",
			       run_name("sssp", &opt), v, got[v], want[v]);
	}
	want = test_alloc(g.n * features, 8);
	got = test_alloc(g.n * features, 8);
	opt.unit = GTU_WITH_NONE;
	RUNS("gcn", &opt, gtu_gcn(dev, &g, &opt, want, NULL, &err));
	for (unsigned i = 0; i < LENGTH(unit); i++) {
		opt.unit = unit[i];
		dev->ops = &ops;
		RUNS("gcn", &opt, gtu_gcn(dev, &g, &opt, got, NULL, &err));
		dev->ops = before;
		for (uint64_t v = 0; v < g.n * features; v++)
			want[v] *= i ? 1 : 7;
		for (uint64_t v = 0; v < g.n * features; v++)
			CHECKF(fabs(got[v] - want[v]) <= 1e-9 * (1 + fabs(want[v])), "%s: value %" PRIu64 " is %g, not %g",
			       run_name("gcn", &opt), v, got[v], want[v]);
	}
}

TEST(iru_adds_ranks_as_floats)
{
	struct gtu_algorithm_options opt = { .iterations = 5 };
	const struct gtu_graph *g = some_graph(4, GTU_WEIGHT_NONE, NULL);
	double *want = test_alloc(g->n, 8), *got = test_alloc(g->n, 8);

	RUNS("pagerank", &opt, gtu_pagerank(dev, g, &opt, want, NULL, &err));
	opt.unit = GTU_WITH_IRU;
	for (unsigned narrow = 0; narrow < 2; narrow++) {
		opt.float_sums = narrow;
		clear(GTU_UNIT_IRU);
		RUNS("pagerank", &opt, gtu_pagerank(dev, g, &opt, got, NULL, &err));
		read_counters(GTU_UNIT_IRU);
		same_reals(got, want, g->n, narrow ? 1e-5 : 1e-12, run_name("pagerank", &opt));
		CHECK_EQ(counter[GTU_IRU_C_IN], 5 * g->m);
		CHECK(narrow ? counter[GTU_IRU_C_MERGED] > g->m : !counter[GTU_IRU_C_MERGED]);
	}
	opt.unit = GTU_WITH_PEG;
	FAILS(gtu_pagerank(dev, g, &opt, got, NULL, &err), GTU_ERR_UNSUPPORTED, "need the IRU");
}

TEST_MAIN
