// SPDX-License-Identifier: MIT
/* Lists of devices, "model,model": every algorithm gives one device's results, with every unit and number of ranks. */
#include "gtu/ranks.h"
#include "subjects.h"

#define SIZES 4
static const unsigned sizes[SIZES] = { 2, 3, 5, 8 };
static struct gtu_device *list[SIZES];
#define FEATURES 3u

/* A list of sizes[i] devices, "model,model,...". */
static struct gtu_device *list_of(unsigned i)
{
	char name[80] = "model";

	for (unsigned k = 1; k < sizes[i]; k++)
		strcat(name, ",model");
	if (!list[i])
		OK(gtu_open(name, &list[i], &err));
	return list[i];
}

static const char *label(const char *what, unsigned size, const struct gtu_algorithm_options *opt)
{
	static char text[160];

	snprintf(text, sizeof(text), "%u ranks, %s", size, run_name(what, opt));
	return text;
}

#define RANKS_RUN(what, size, opt, call) CHECKF(!(call), "%s: %s", label(what, size, opt), err.text)

struct expected {
	uint64_t *level, *component, *core, *label;
	uint32_t *color;
	double *distance, *rank, *score, *features, *magnitude;
	uint64_t sources[2];
};

static void expect(const struct gtu_graph *g, struct expected *e)
{
	double change;

	e->magnitude = test_alloc(g->n * FEATURES, 8);
	e->color = test_alloc(g->n, 4);
	e->features = test_alloc(g->n * FEATURES, 8);
	e->level = test_alloc(g->n, 8);
	e->component = test_alloc(g->n, 8);
	e->core = test_alloc(g->n, 8);
	e->label = test_alloc(g->n, 8);
	e->distance = test_alloc(g->n, 8);
	e->rank = test_alloc(g->n, 8);
	e->score = test_alloc(g->n, 8);
	e->sources[0] = busiest(g);
	e->sources[1] = g->n - 1;
	CHECK(!reference_bfs(g, e->sources[0], e->level));
	CHECK(!reference_components(g, e->component));
	CHECK(!reference_cores(g, e->core));
	CHECK(!reference_labels(g, 5, e->label));
	CHECK(!reference_sssp(g, e->sources[0], e->distance));
	CHECK(!reference_pagerank(g, 0.85, 5, e->rank, &change));
	CHECK(!reference_betweenness(g, e->sources, 2, e->score));
	CHECK(!gtu_coloring(NULL, g, &(struct gtu_algorithm_options){ .unit = GTU_WITH_NONE }, e->color, NULL, &err));
	CHECK(!reference_gcn(g, FEATURES, 7, e->features, e->magnitude));
}

static void check_over(const struct gtu_graph *g, const struct expected *e, struct gtu_device *over, unsigned size,
		       uint32_t unit)
{
	struct gtu_algorithm_options opt = { .unit = unit, .source = e->sources[0], .iterations = 5, .chunk_log2 = 7,
					     .sources = e->sources, .source_count = 2, .features = FEATURES, .seed = 7 };
	uint64_t *integer = test_alloc(g->n, 8), reached = 0;
	uint32_t *color = test_alloc(g->n, 4);
	double *real = test_alloc(g->n, 8), *features = test_alloc(g->n * FEATURES, 8);
	struct gtu_algorithm_stats s;

	for (uint64_t v = 0; v < g->n; v++)
		reached += e->level[v] != GTU_UNREACHED;
	for (opt.direction = GTU_PUSH; opt.direction <= GTU_PUSH_OR_PULL; opt.direction++) {
		if (opt.direction && unit != GTU_WITH_NONE && unit != GTU_WITH_PEG && unit != GTU_WITH_WEAVER)
			continue;
		memset(integer, 0x55, g->n * 8);
		RANKS_RUN("bfs", size, &opt, gtu_bfs(over, g, &opt, integer, &s, &err));
		same_integers(integer, e->level, g->n, label("bfs", size, &opt));
		CHECK_EQ(s.vertices, reached);
		CHECK(opt.direction != GTU_PULL || s.pull_end - s.pull_first == s.iterations);
		RANKS_RUN("pagerank", size, &opt, gtu_pagerank(over, g, &opt, real, &s, &err));
		same_reals(real, e->rank, g->n, 1e-9, label("pagerank", size, &opt));
		CHECK_EQ(s.edges, 5 * g->m);
		CHECK_EQ(s.pull_end, opt.direction == GTU_PULL || (opt.direction && !(g->flags & GTU_GRAPH_DIRECTED)) ? 5 : 0);
	}
	opt.direction = GTU_PUSH;
	RANKS_RUN("sssp", size, &opt, gtu_sssp(over, g, &opt, real, &s, &err));
	same_reals(real, e->distance, g->n, 0, label("sssp", size, &opt));
	opt.delta = 1e-3;
	if (unit == GTU_WITH_NONE) {
		RANKS_RUN("sssp", size, &opt, gtu_sssp(over, g, &opt, real, &s, &err));
		same_reals(real, e->distance, g->n, 0, label("sssp", size, &opt));
	}
	RANKS_RUN("components", size, &opt, gtu_components(over, g, &opt, integer, &s, &err));
	same_integers(integer, e->component, g->n, label("components", size, &opt));
	/* ranks traverse every edge once */
	CHECK_EQ(s.edges, g->m);
	RANKS_RUN("cores", size, &opt, gtu_cores(over, g, &opt, integer, &s, &err));
	same_integers(integer, e->core, g->n, label("cores", size, &opt));
	RANKS_RUN("labels", size, &opt, gtu_label_propagation(over, g, &opt, integer, &s, &err));
	same_integers(integer, e->label, g->n, label("labels", size, &opt));
	RANKS_RUN("betweenness", size, &opt, gtu_betweenness(over, g, &opt, real, &s, &err));
	same_reals(real, e->score, g->n, 1e-9, label("betweenness", size, &opt));
	RANKS_RUN("coloring", size, &opt, gtu_coloring(over, g, &opt, color, &s, &err));
	CHECKF(!memcmp(color, e->color, g->n * 4), "%s: other colors", label("coloring", size, &opt));
	CHECK_EQ(s.vertices, g->n);
	/* near, far or not reached */
	for (unsigned i = 0; i < 4; i++) {
		opt.target = i ? g->n * i / 4 : opt.source;
		RANKS_RUN("stcon", size, &opt, gtu_stcon(over, g, &opt, integer, &s, &err));
		CHECKF(*integer == e->level[opt.target], "%s: %" PRIu64 " edges to vertex %" PRIu64 ", not %" PRIu64,
		       label("stcon", size, &opt), *integer, opt.target, e->level[opt.target]);
	}
	RANKS_RUN("gcn", size, &opt, gtu_gcn(over, g, &opt, features, &s, &err));
	for (uint64_t i = 0; i < g->n * FEATURES; i++)
		CHECKF(fabs(features[i] - e->features[i]) <= 1e-9 * e->magnitude[i], "%s: feature %" PRIu64 " is %.17g, not %.17g",
		       label("gcn", size, &opt), i, features[i], e->features[i]);
}

static uint32_t units_from, units_to;

static void check(const struct gtu_graph *g)
{
	static unsigned turn;
	void *mark = test_mark();
	struct expected e;

	expect(g, &e);
	/* two sizes in turn: on a loaded machine threads wait long for each other */
	for (unsigned i = turn++ % 2; i < SIZES; i += 2)
		for (uint32_t unit = units_from; unit <= units_to; unit++)
			check_over(g, &e, list_of(i), sizes[i], unit);
	test_end(mark);
}

static void one_shape(void)
{
	uint64_t seed = 1;

	each_graph(skewed(200, 1500, &seed), check);
}

TEST(lists_without_a_unit_match_the_reference)
{
	units_from = units_to = GTU_WITH_NONE;
	tiny_graphs(check);
	each_graph(path(11), check);
	each_graph(ladder(4), check);
	each_graph(clique(12), check);
	one_shape();
}

TEST(lists_with_the_scu_match_the_reference)
{
	units_from = GTU_WITH_SCU_BASIC;
	units_to = GTU_WITH_SCU;
	one_shape();
}

TEST(lists_with_the_iru_match_the_reference)
{
	units_from = units_to = GTU_WITH_IRU;
	one_shape();
}

TEST(lists_with_the_peg_match_the_reference)
{
	units_from = units_to = GTU_WITH_PEG;
	one_shape();
}

TEST(lists_with_the_weaver_match_the_reference)
{
	units_from = units_to = GTU_WITH_WEAVER;
	one_shape();
}

/* Weights of every type, directed and undirected, each with another unit. */
TEST(lists_match_the_reference_with_every_weight_type)
{
	static const uint32_t types[] = { GTU_WEIGHT_U32, GTU_WEIGHT_F32, GTU_WEIGHT_F64 };
	uint64_t seed = 3;
	struct edges e = skewed(300, 2000, &seed);
	void *weight = test_alloc(e.m, 8);

	for (unsigned t = 0; t < 6; t++) {
		for (uint64_t i = 0; i < e.m; i++) {
			const uint64_t w = test_random(&seed) % 100;

			if (types[t % 3] == GTU_WEIGHT_U32)
				((uint32_t *)weight)[i] = (uint32_t)w;
			else if (types[t % 3] == GTU_WEIGHT_F32)
				((float *)weight)[i] = (float)w / 7;
			else
				((double *)weight)[i] = (double)w / 7;
		}
		units_from = units_to = t;
		check(weighted_edges(e.n, e.m, e.src, e.dst, types[t % 3], weight, t < 3 ? GTU_DIRECTED : GTU_UNDIRECTED, 4));
	}
}

/* A vertex with most of the edges is more than one rank's share: ranks beside it have few vertices or none. */
TEST(lists_match_the_reference_with_a_hub)
{
	struct edges e = edges(64, 4096);

	for (unsigned i = 0; i < 2000; i++)
		add_edge(&e, 31, i % 64);
	for (unsigned i = 0; i < 64; i++)
		add_edge(&e, i, (i + 1) % 64);
	units_from = units_to = GTU_WITH_NONE;
	each_graph(e, check);
}

TEST(epsilon_stops_all_ranks)
{
	struct gtu_graph *g = generate((struct gtu_generate_options){ .kind = GTU_GEN_KRONECKER, .scale = 8, .seed = 1 });
	struct gtu_algorithm_options opt = { .unit = GTU_WITH_NONE, .epsilon = 1e-4 };
	double *one = test_alloc(g->n, 8), *many = test_alloc(g->n, 8);
	struct gtu_algorithm_stats s, t;

	open_device();
	OK(gtu_pagerank(dev, g, &opt, one, &s, &err));
	OK(gtu_pagerank(list_of(1), g, &opt, many, &t, &err));
	CHECK_EQ(s.iterations, t.iterations);
	same_reals(many, one, g->n, 1e-9, "pagerank");
}

/* ---- The device ------------------------------------------------------------------------------------ */

TEST(names_of_lists_are_parsed_and_checked)
{
	struct gtu_device *d;
	uint32_t rank, size;

	OK(gtu_open("model:scu_width=2,queues=4,model,none", &d, &err));
	gtu_ranks_of(d, &rank, &size);
	CHECK_EQ(size, 3);
	/* the plain CPU has no units, so the list has none */
	CHECK_EQ(gtu_get_info(d)->units, 0);
	CHECK(!strcmp(gtu_get_info(d)->path, "model:scu_width=2,queues=4,model,none"));
	gtu_close(d);
	FAILS(gtu_open("model,cuda:0", &d, &err), GTU_ERR_UNSUPPORTED, "GPUs alone or no GPU");
	FAILS(gtu_open("model,/dev/no-such", &d, &err), GTU_ERR_FAIL, "/dev/no-such");
	FAILS(gtu_open("model,model:colour=1", &d, &err), GTU_ERR_USAGE, "colour");
	FAILS(gtu_open("model,", &d, &err), GTU_ERR_USAGE, "there is no device \"model,\"");
}

TEST(a_list_runs_whole_algorithms_only)
{
	struct gtu_graph *g = generate((struct gtu_generate_options){ .kind = GTU_GEN_UNIFORM, .n = 100, .seed = 1 });
	struct gtu_algorithm_options opt = { .unit = GTU_WITH_SCU, .end_vertex = 10, .first_vertex = 1 };
	uint64_t *value = test_alloc(g->n, 8), counter[GTU_UREG_COUNTERS];
	const struct edges paths = ladder(530);
	struct edges ends = edges(100, 18);
	struct gtu_device *d = list_of(0);
	struct gtu_region region;
	struct gtu_queue *q;

	FAILS(gtu_queue_create(d, NULL, &q, &err), GTU_ERR_UNSUPPORTED, "several ranks");
	FAILS(gtu_region_alloc(d, 4096, &region, &err), GTU_ERR_UNSUPPORTED, "several ranks");
	FAILS(gtu_bfs(d, g, &opt, value, NULL, &err), GTU_ERR_UNSUPPORTED, "vertex range");
	opt.first_vertex = opt.end_vertex = 0;
	FAILS(gtu_clustering(d, g, &opt, (double *)value, NULL, &err), GTU_ERR_UNSUPPORTED, "several devices");
	opt.target = 100;
	FAILS(gtu_stcon(d, g, &opt, value, NULL, &err), GTU_ERR_USAGE, "target vertex 100 is out of range");
	opt.target = 0;
	opt.sources = &opt.target;
	opt.source_count = 1;
	FAILS(gtu_betweenness(d, from_edges(paths.n, paths.m, paths.src, paths.dst, GTU_UNDIRECTED, 4), &opt, test_alloc(paths.n, 8), NULL, &err), GTU_ERR_UNSUPPORTED, "(1.8e308), the limit over several ranks; use one");
	opt.sources = NULL;
	opt.source_count = 0;
	opt.source = 100;
	FAILS(gtu_bfs(d, g, &opt, value, NULL, &err), GTU_ERR_USAGE, "out of range");
	/* counters are sums over the devices: each search stays within the vertices of one */
	for (uint64_t v = 0; v < 9; v++) {
		add_edge(&ends, v, v + 1);
		add_edge(&ends, 90 + v, 91 + v);
	}
	g = from_edges(ends.n, ends.m, ends.src, ends.dst, GTU_UNDIRECTED, 4);
	for (opt.source = 0; opt.source < 100; opt.source += 99) {
		OK(gtu_counters(d, GTU_UNIT_SCU, true, counter, &err));
		OK(gtu_bfs(d, g, &opt, value, NULL, &err));
		OK(gtu_counters(d, GTU_UNIT_SCU, false, counter, &err));
		CHECKF(counter[GTU_SCU_C_JOBS] > 0, "no job of the search from vertex %" PRIu64, opt.source);
	}
}

TEST(interruption_ends_all_ranks)
{
	struct gtu_graph *g = generate((struct gtu_generate_options){ .kind = GTU_GEN_KRONECKER, .scale = 12, .seed = 1 });
	unsigned asked = 0;
	const struct gtu_progress progress = { stop_at_once, &asked };
	struct gtu_algorithm_options opt = { .unit = GTU_WITH_NONE, .progress = &progress, .iterations = 100 };
	double *rank = test_alloc(g->n, 8);

	FAILS(gtu_pagerank(list_of(1), g, &opt, rank, NULL, &err), GTU_ERR_INTERRUPTED, "interrupted");
	/* the device is usable afterwards */
	opt.progress = NULL;
	opt.iterations = 1;
	OK(gtu_pagerank(list_of(1), g, &opt, rank, NULL, &err));
}

TEST(a_damaged_graph_ends_all_ranks)
{
	static const uint64_t src[] = { 0, 1, 2, 3, 4, 5, 6, 7 }, dst[] = { 1, 2, 3, 4, 5, 6, 7, 0 };
	struct gtu_graph *g = from_edges(8, 8, src, dst, GTU_DIRECTED, 4), view = *g;
	uint32_t col[8];
	uint64_t row[9], *value = test_alloc(8, 8);

	memcpy(col, g->col, sizeof(col));
	col[7] = 1000;
	view.col = col;
	for (unsigned i = 0; i < SIZES; i++)
		for (uint32_t unit = 0; unit < UNITS; unit++) {
			struct gtu_algorithm_options opt = { .unit = unit };

			FAILS(gtu_components(list_of(i), &view, &opt, value, NULL, &err), GTU_ERR_INPUT, "damaged");
		}
	memcpy(row, g->row, sizeof(row));
	row[7] = 1000;
	view.col = g->col;
	view.row = row;
	for (unsigned i = 0; i < SIZES; i++) {
		struct gtu_algorithm_options opt = { .unit = GTU_WITH_NONE };

		FAILS(gtu_components(list_of(i), &view, &opt, value, NULL, &err), GTU_ERR_INPUT, "damaged");
	}
}

/* An undirected graph with edges in one direction only: a vertex waits for a neighbour that does not know it. */
TEST(coloring_refuses_edges_in_one_direction)
{
	uint64_t row[] = { 0, 1, 3, 5 };
	uint32_t col[] = { 1, 2, 2, 1, 1 }, color[3];
	struct gtu_graph g = { .n = 3, .m = 5, .row = row, .col = col, .edge_bytes = 4, .name = "odd" };
	struct gtu_algorithm_options opt = { .unit = GTU_WITH_SCU };

	for (unsigned i = 0; i < SIZES; i++)
		FAILS(gtu_coloring(list_of(i), &g, &opt, color, NULL, &err), GTU_ERR_INPUT, "stored in one direction only");
}

TEST(features_and_sums_out_of_range_are_refused)
{
	static const uint64_t src[] = { 0, 1, 2 }, dst[] = { 1, 2, 0 };
	static const double weight[] = { 1, INFINITY, 1 }, huge[] = { 1.7e308, 1.7e308, 1.7e308, 1.7e308, 1.7e308, 1 };
	uint64_t row[] = { 0, 5, 5, 6 };
	uint32_t col[] = { 1, 1, 1, 1, 1, 0 };
	struct gtu_algorithm_options opt = { .unit = GTU_WITH_NONE, .features = GTU_FEATURES_MAX + 1 };
	struct gtu_graph *g = weighted_edges(3, 3, src, dst, GTU_WEIGHT_F64, weight, GTU_DIRECTED, 4);
	struct gtu_graph sums = { .n = 3, .m = 6, .row = row, .col = col, .weight = huge, .weight_type = GTU_WEIGHT_F64,
				  .edge_bytes = 4, .flags = GTU_GRAPH_DIRECTED, .name = "sums" };
	double *features = test_alloc(3 * 2, 8);

	FAILS(gtu_gcn(list_of(0), g, &opt, features, NULL, &err), GTU_ERR_USAGE, "features per vertex are too many");
	opt.features = 2;
	FAILS(gtu_gcn(list_of(0), g, &opt, features, NULL, &err), GTU_ERR_INPUT, "an edge of vertex 1 has the weight inf");
	FAILS(gtu_gcn(list_of(0), &sums, &opt, features, NULL, &err), GTU_ERR_UNSUPPORTED, "exceeds the range of a double");
}

TEST_MAIN
