// SPDX-License-Identifier: MIT
/*
 * PageRank with an epsilon, with the GPU's kernels as CPU code: ranks of undirected graphs are compared with converged
 * ones, by the bound that gtu_pagerank() states, and with those of power iterations that stop by the same epsilon.
 */
#include <dlfcn.h>

#include "gtu/gpu.h"
#include "subjects.h"
#include "tests/fake/built.h"
#include "tests/fake/cpu_kernels.h"
#include "tests/fake/fake_cuda.h"

#define DAMPING		0.85
#define CONVERGED	260u		/* power iterations: 0.85^260 is below 2^-60 */
#define ROUNDING	1e-12
#define BLOCKS_MOST	256u

static const struct placing {
	const char *name;
	bool card;			/* the list is on the card, in a form that can be divided into blocks */
	struct gtu_placement_options place;
} placings[] = {
	{ "device", true, { .edges = GTU_EDGES_DEVICE } },
	{ "device, 8", true, { .edges = GTU_EDGES_DEVICE, .edge_bytes = 8 } },
	{ "managed, bits", false, { .edges = GTU_EDGES_MANAGED } },
	{ "pinned, bits, cache", false, { .edges = GTU_EDGES_PINNED, .gpu_memory = 9000 } },
	{ "managed, 4", false, { .edges = GTU_EDGES_MANAGED, .edge_bytes = 4 } },
	{ "pinned, 4, cache", false, { .edges = GTU_EDGES_PINNED, .edge_bytes = 4, .gpu_memory = 9000 } },
	{ "managed, 8, cache", false, { .edges = GTU_EDGES_MANAGED, .edge_bytes = 8, .gpu_memory = 9000 } },
	{ "registered", false, { .edges = GTU_EDGES_REGISTERED } },
	{ "compressed", false, { .edges = GTU_EDGES_MANAGED, .compressed = 1 } },
	{ "compressed, cache", false, { .edges = GTU_EDGES_PINNED, .compressed = 1, .gpu_memory = 3000 } },
	{ "compressed, device", false, { .edges = GTU_EDGES_DEVICE, .compressed = 1 } },
};

static void open_gpu(void)
{
	if (dev)
		return;
	setenv("GTU_CUDA_LIBRARY", simulated_gpu(), 1);
	CHECKF(gtu_gpu_count(&err) >= 0, "%s", err.text);
	OK(gtu_open("cuda:0", &dev, &err));
}

/* The total distance of two results. */
static double distance(const double *x, const double *y, uint64_t n)
{
	double sum = 0;

	for (uint64_t v = 0; v < n; v++)
		sum += fabs(x[v] - y[v]);
	return sum;
}

static void count_call(void *user, const struct gtu_iteration *it)
{
	uint64_t *calls = user;

	CHECK(it->number == *calls);
	++*calls;
}

/* Whether power iterations by blocks of edges serve this run. */
static bool divided(const struct placing *p, const struct gtu_graph *g, double epsilon)
{
	return p->card && (double)g->n * epsilon >= 1e-6;
}

/* One run by an epsilon; @power: the distance of power iterations and their number, by the same. */
static void check_run(const struct gtu_graph *g, const struct placing *p, double epsilon, const double *want, double power,
		      uint64_t power_iterations, bool closer, bool fewer)
{
	const double n = (double)g->n, bound = n * epsilon;
	const bool blocks = divided(p, g, epsilon);
	uint64_t calls = 0, v;
	struct gtu_algorithm_options opt = { .unit = GTU_WITH_GPU, .epsilon = epsilon, .iteration = count_call, .iteration_user = &calls };
	struct gtu_algorithm_stats stats;
	double *got = test_alloc(g->n, 8), sum = 0, far;

	CHECKF(!gtu_pagerank(dev, g, &opt, got, &stats, &err), "%s: %s", p->name, err.text);
	for (v = 0; v < g->n; v++) {
		sum += got[v];
		CHECKF(fabs(got[v] - want[v]) <= (bound / (blocks ? 1 - DAMPING : 1) + ROUNDING) * want[v],
		       "%s, epsilon %g: vertex %" PRIu64 " has %.17g, not %.17g", p->name, epsilon, v, got[v], want[v]);
	}
	CHECKF(fabs(sum - 1) < (blocks ? 1e-7 : 1e-9), "%s, epsilon %g: the sum is %.17g", p->name, epsilon, sum);
	CHECKF(calls == stats.iterations && stats.edges == stats.iterations * g->m && stats.vertices == g->n,
	       "%s: %" PRIu64 " iterations with %" PRIu64 " edges, of %" PRIu64 " entries, in %" PRIu64 " calls", p->name,
	       stats.iterations, stats.edges, g->m, calls);
	if (blocks)
		return;
	far = distance(got, want, g->n);
	CHECKF(!closer || far <= power + ROUNDING, "%s, epsilon %g: total distance %g, by power iterations %g", p->name, epsilon, far,
	       power);
	CHECKF(!fewer || stats.iterations < power_iterations, "%s, epsilon %g: %" PRIu64 " iterations, not fewer than %" PRIu64, p->name,
	       epsilon, stats.iterations, power_iterations);
}

/* @closer: the ranks are no farther from the converged ones than by power iterations. @fewer: likewise iterations, below 1e-4 */
static void check(const struct gtu_graph *g, bool closer, bool fewer)
{
	static const double epsilon[] = { 1e-4, 1e-8, 1e-12 };
	double *want = test_alloc(g->n, 8), *plain = test_alloc(g->n, 8), power[LENGTH(epsilon)], change;
	struct gtu_algorithm_stats stats[LENGTH(epsilon)];

	open_gpu();
	CHECK(!reference_pagerank(g, DAMPING, CONVERGED, want, &change));
	for (unsigned e = 0; e < LENGTH(epsilon); e++) {
		struct gtu_algorithm_options opt = { .unit = GTU_WITH_NONE, .epsilon = epsilon[e] };

		OK(gtu_pagerank(NULL, g, &opt, plain, &stats[e], &err));
		power[e] = distance(plain, want, g->n);
	}
	for (unsigned i = 0; i < LENGTH(placings); i++) {
		OK(gtu_placement_create(dev, g, &placings[i].place, &err));
		for (unsigned e = 0; e < LENGTH(epsilon); e++)
			/* blocks iterate as before, which takes long on the simulated GPU */
			if (!divided(&placings[i], g, epsilon[e]) || g->n <= BLOCKS_MOST)
				check_run(g, &placings[i], epsilon[e], want, power[e], stats[e].iterations, closer, fewer && e > 0);
		gtu_placement_destroy(dev);
	}
}

static struct gtu_graph *random_graph(uint32_t kind, uint32_t scale)
{
	return generate((struct gtu_generate_options){ .kind = kind, .scale = scale, .n = 1ull << scale, .seed = 5 });
}

TEST(ranks_of_a_kronecker_graph_match_the_reference) { check(random_graph(GTU_GEN_KRONECKER, 9), true, true); }
TEST(ranks_of_a_uniform_graph_match_the_reference) { check(random_graph(GTU_GEN_UNIFORM, 8), true, true); }
TEST(ranks_of_a_road_graph_match_the_reference) { check(random_graph(GTU_GEN_ROAD, 8), true, true); }

/* A list that takes several tiles. */
TEST(ranks_of_a_star_match_the_reference)
{
	struct edges e = edges(3001, 3000);

	while (e.m < 3000)
		add_edge(&e, 1234, e.m + (e.m >= 1234));
	check(from_edges(e.n, e.m, e.src, e.dst, GTU_UNDIRECTED, 4), true, true);
}

TEST(ranks_of_a_long_path_match_the_reference)
{
	struct edges e = path(200);

	check(from_edges(e.n, e.m, e.src, e.dst, GTU_UNDIRECTED, 4), true, true);
}

/* Pairs of vertices, pairs by two edges, loops, a triangle and vertices without edges: the first start is not exact. */
TEST(ranks_of_small_components_match_the_reference)
{
	struct edges e = edges(300, 400);

	for (uint64_t v = 0; v < 100; v += 2)
		add_edge(&e, v, v + 1);
	for (uint64_t v = 100; v < 200; v++)
		add_edge(&e, v, v ^ 1);
	add_edge(&e, 200, 200);
	for (uint64_t v = 210; v < 213; v++)
		add_edge(&e, v, v == 212 ? 210 : v + 1);
	check(from_edges(e.n, e.m, e.src, e.dst, GTU_UNDIRECTED, 4), true, false);
}

/*
 * The start has the ranks of pairs, loops and vertices without edges, and so those of a clique beside them: one pass
 * confirms them, in every form of the list.
 */
TEST(one_pass_confirms_the_ranks_of_pairs_and_cliques)
{
	const struct gtu_algorithm_options opt = { .unit = GTU_WITH_GPU, .epsilon = 1e-13 };
	struct edges e = edges(300, 200);
	struct gtu_algorithm_stats stats;
	double *got = test_alloc(e.n, 8);
	struct gtu_graph *g;

	for (uint64_t v = 0; v < 200; v += 2)
		add_edge(&e, v, v + 1);
	for (uint64_t v = 250; v < 260; v++)
		add_edge(&e, v, v);
	for (uint64_t v = 270; v < 280; v++)
		for (uint64_t u = 270; u < v; u++)
			add_edge(&e, u, v);
	g = from_edges(e.n, e.m, e.src, e.dst, GTU_UNDIRECTED, 4);
	open_gpu();
	for (unsigned i = 0; i < LENGTH(placings); i++) {
		OK(gtu_placement_create(dev, g, &placings[i].place, &err));
		OK(gtu_pagerank(dev, g, &opt, got, &stats, &err));
		CHECKF(stats.iterations == 1, "%s: %" PRIu64 " iterations", placings[i].name, stats.iterations);
		gtu_placement_destroy(dev);
	}
	check(g, true, false);
}

/* Components of different degrees, whose shares of all ranks the start does not know. */
TEST(ranks_of_two_components_match_the_reference)
{
	uint64_t seed = 3;
	struct edges e = edges(400, 3600);

	while (e.m < 3200)
		add_edge(&e, 2 * (test_random(&seed) % 200), 2 * (test_random(&seed) % 200));
	while (e.m < 3600)
		add_edge(&e, 2 * (test_random(&seed) % 200) + 1, 2 * (test_random(&seed) % 200) + 1);
	check(from_edges(e.n, e.m, e.src, e.dst, GTU_UNDIRECTED, 4), false, true);
}

TEST(ranks_without_edges_match_the_reference) { check(from_edges(40, 0, NULL, NULL, GTU_UNDIRECTED, 4), true, false); }

TEST(the_rank_of_one_vertex_matches_the_reference)
{
	uint64_t zero = 0;

	check(from_edges(1, 0, NULL, NULL, GTU_UNDIRECTED, 4), true, false);
	check(from_edges(1, 1, &zero, &zero, GTU_UNDIRECTED, 4), true, false);
}

TEST(a_graph_without_vertices_takes_no_iterations)
{
	struct gtu_graph *g = from_edges(0, 0, NULL, NULL, GTU_UNDIRECTED, 4);
	struct gtu_algorithm_options opt = { .unit = GTU_WITH_GPU, .epsilon = 1e-9 };
	struct gtu_algorithm_stats stats;
	double rank;

	open_gpu();
	OK(gtu_placement_create(dev, g, NULL, &err));
	OK(gtu_pagerank(dev, g, &opt, &rank, &stats, &err));
	CHECK(!stats.iterations && !stats.edges);
	gtu_placement_destroy(dev);
}

/* Edges to vertices whose contributions are in the L2 cache are read as they are, others in blocks. */
TEST(only_far_edges_are_read_in_blocks)
{
	const struct gtu_algorithm_options opt = { .unit = GTU_WITH_GPU, .iterations = 6 }, plain = { .unit = GTU_WITH_NONE, .iterations = 6 };
	const struct gtu_placement_options place = { .edges = GTU_EDGES_DEVICE };
	struct gtu_graph *g[] = { random_graph(GTU_GEN_ROAD, 14), random_graph(GTU_GEN_UNIFORM, 14) };
	/* stays loaded, with its memory */
	struct fake_cuda *fake = dlsym(dlopen(simulated_gpu(), RTLD_NOW | RTLD_NODELETE), "fake_cuda");

	fake->l2_bytes = 65536;
	fake->watch = "pagerank_blocks_spread";
	for (unsigned i = 0; i < LENGTH(g); i++) {
		double *got = test_alloc(g[i]->n, 8), *want = test_alloc(g[i]->n, 8);

		gtu_close(dev);
		dev = NULL;
		fake->watched = 0;
		open_gpu();
		OK(gtu_placement_create(dev, g[i], &place, &err));
		OK(gtu_pagerank(NULL, g[i], &plain, want, NULL, &err));
		OK(gtu_pagerank(dev, g[i], &opt, got, NULL, &err));
		same_reals(got, want, g[i]->n, 1e-6, "near edges");
		CHECKF(!fake->watched == !i, "%s: %ld", g[i]->name, fake->watched);
		OK(gtu_pagerank(dev, g[i], &opt, got, NULL, &err));
		same_reals(got, want, g[i]->n, 1e-6, "near edges, again");
		gtu_close(dev);
		dev = NULL;
	}
	fake->watch = NULL;
	fake->l2_bytes = 0;
}

/* The rules by which power iterations remain: a number of iterations, the paper's kernels, a directed graph. */
TEST(power_iterations_remain_where_a_rule_requires_them)
{
	static const struct gtu_algorithm_options choices[] = {
		{ .iterations = 7 }, { .iterations = 100, .epsilon = 1e-6 }, { .iterations = 3, .epsilon = 1e-9 },
		{ .epsilon = 1e-6, .kernel = GTU_KERNEL_ALIGNED }, { .epsilon = 1e-6 },
	};
	const struct gtu_placement_options place = { .edges = GTU_EDGES_MANAGED };
	struct gtu_graph *g[] = { random_graph(GTU_GEN_KRONECKER, 9), NULL };
	double *got = test_alloc(g[0]->n, 8), *want = test_alloc(g[0]->n, 8);
	struct gtu_algorithm_stats stats, plain;

	open_gpu();
	g[1] = generate((struct gtu_generate_options){ .kind = GTU_GEN_KRONECKER, .scale = 9, .seed = 5, .directed = 1 });
	for (unsigned i = 0; i < LENGTH(choices); i++) {
		const bool directed = i == LENGTH(choices) - 1;
		struct gtu_algorithm_options opt = choices[i];

		OK(gtu_pagerank(NULL, g[directed], &opt, want, &plain, &err));
		OK(gtu_placement_create(dev, g[directed], &place, &err));
		opt.unit = GTU_WITH_GPU;
		OK(gtu_pagerank(dev, g[directed], &opt, got, &stats, &err));
		CHECKF(stats.iterations == plain.iterations, "choice %u: %" PRIu64 " iterations, not %" PRIu64, i, stats.iterations,
		       plain.iterations);
		same_reals(got, want, g[directed]->n, 1e-9, "power iterations");
		gtu_placement_destroy(dev);
	}
}

TEST(a_run_ends_at_an_epsilon_below_rounding)
{
	const struct gtu_graph *g = random_graph(GTU_GEN_KRONECKER, 6);
	double *got = test_alloc(g->n, 8), *want = test_alloc(g->n, 8), change;
	const struct gtu_placement_options place = { .edges = GTU_EDGES_PINNED };
	struct gtu_algorithm_stats stats;

	open_gpu();
	OK(gtu_placement_create(dev, g, &place, &err));
	for (double damping = 0.45; damping < 1; damping += 0.5) {
		struct gtu_algorithm_options opt = { .unit = GTU_WITH_GPU, .damping = damping, .epsilon = 1e-300 };

		CHECK(!reference_pagerank(g, damping, 2000, want, &change));
		OK(gtu_pagerank(dev, g, &opt, got, &stats, &err));
		same_reals(got, want, g->n, 1e-11, "epsilon 1e-300");
	}
	gtu_placement_destroy(dev);
}

static int stop(void *user, const char *what, uint64_t done, uint64_t total)
{
	unsigned *left = user;

	(void)what, (void)done, (void)total;
	return !--*left;
}

TEST(a_run_after_an_interruption_matches_the_reference)
{
	const struct gtu_graph *g = random_graph(GTU_GEN_KRONECKER, 8);
	double *got = test_alloc(g->n, 8), *want = test_alloc(g->n, 8), change;
	const struct gtu_placement_options place = { .edges = GTU_EDGES_PINNED };
	struct gtu_algorithm_stats stats;

	open_gpu();
	CHECK(!reference_pagerank(g, DAMPING, CONVERGED, want, &change));
	OK(gtu_placement_create(dev, g, &place, &err));
	for (unsigned k = 1; k < 6; k++) {
		unsigned left = k;
		const struct gtu_progress progress = { stop, &left };
		struct gtu_algorithm_options opt = { .unit = GTU_WITH_GPU, .epsilon = 1e-13, .progress = &progress };

		CHECK(gtu_pagerank(dev, g, &opt, got, &stats, &err) == GTU_ERR_INTERRUPTED);
		opt.progress = NULL;
		OK(gtu_pagerank(dev, g, &opt, got, &stats, &err));
		same_reals(got, want, g->n, 1e-10, "after an interruption");
	}
	gtu_placement_destroy(dev);
}

/* Whichever driver call fails, the run reports it, leaves no memory allocated, and the next run is right. */
TEST(every_failed_call_is_reported)
{
	const struct gtu_graph *g = random_graph(GTU_GEN_KRONECKER, 5);
	const struct gtu_algorithm_options opt = { .unit = GTU_WITH_GPU, .epsilon = 1e-9 };
	const struct gtu_placement_options place = { .edges = GTU_EDGES_PINNED, .edge_bytes = 4 };
	double *got = test_alloc(g->n, 8), *want = test_alloc(g->n, 8), change;
	struct fake_cuda *fake;
	long live, call;
	int rc;

	open_gpu();
	fake = dlsym(dlopen(simulated_gpu(), RTLD_NOW), "fake_cuda");
	CHECK(fake && !reference_pagerank(g, DAMPING, CONVERGED, want, &change));
	OK(gtu_placement_create(dev, g, &place, &err));
	live = fake->live;
	for (call = 1;; call++) {
		fake->failed = NULL;
		fake->failure = 719;
		fake->fail_at = fake->calls + call;
		rc = gtu_pagerank(dev, g, &opt, got, NULL, &err);
		fake->fail_at = 0;
		if (!fake->failed)
			break;
		CHECKF(rc || strstr(fake->failed, "Free") || strstr(fake->failed, "Pop"), "call %ld, %s: no error", call, fake->failed);
		CHECKF(strstr(fake->failed, "Free") || fake->live == live, "call %ld, %s: %ld allocations are left", call, fake->failed,
		       fake->live - live);
		live = fake->live;
	}
	OK(rc);
	CHECK(call > 50);
	same_reals(got, want, g->n, 1e-6, "without a failure");
	gtu_placement_destroy(dev);
}

TEST_MAIN
