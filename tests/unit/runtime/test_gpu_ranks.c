// SPDX-License-Identifier: MIT
/*
 * GPUs as ranks, "cuda:0,1": the kernels as CPU code on several fake devices, which exchange data by a fake NCCL,
 * by copies between devices, or through host memory. Results are those of one device.
 */
#include <dlfcn.h>
#include <unistd.h>

#include "gtu/gpu.h"
#include "gtu/ranks.h"
#include "socket_ranks.h"
#include "subjects.h"
#include "tests/fake/built.h"
#include "tests/fake/cpu_kernels.h"
#include "tests/fake/fake_cuda.h"
#include "tests/fake/fake_nccl.h"

static struct fake_cuda *cuda;
static struct fake_nccl *nccl;
static enum gtu_ranks_exchange by;	/* what open_list() asks for */
static bool far;			/* run_components() places lists in host memory */

static void *symbol(const char *library, const char *name)
{
	void *handle = dlopen(library, RTLD_NOW | RTLD_NODELETE), *at = handle ? dlsym(handle, name) : NULL;

	CHECKF(at, "%s: %s", library, dlerror());
	return at;
}

static void open_fakes(void)
{
	setenv("GTU_CUDA_LIBRARY", simulated_gpu(), 1);
	setenv("FAKE_CUDA_DEVICES", "8", 1);
	cuda = symbol(getenv("GTU_CUDA_LIBRARY"), "fake_cuda");
	setenv("NCCL_NVLS_ENABLE", "0", 1);
	setenv("GTU_NCCL_LIBRARY", fake_built("libnccl.so.2"), 1);
	nccl = symbol(getenv("GTU_NCCL_LIBRARY"), "fake_nccl");
	by = GTU_EXCHANGE_NCCL;
	far = false;
}

/* ---- Results ------------------------------------------------------------------------------------- */

static struct gtu_device *over;	/* the list of the current test */
static const char *over_name;
static bool every;		/* all algorithms with all options */

static void run_gcn(const struct gtu_graph *g)
{
	struct gtu_algorithm_options opt = { .unit = GTU_WITH_GPU, .features = 3, .seed = 7 };
	double *real = test_alloc(3 * g->n, 8), *want = test_alloc(3 * g->n, 8), *magnitude = test_alloc(3 * g->n, 8);
	struct gtu_algorithm_stats s;

	CHECK(!reference_gcn(g, opt.features, opt.seed, want, magnitude));
	CHECKF(!gtu_gcn(over, g, &opt, real, &s, &err), "%s: %s", over_name, err.text);
	CHECK_EQ(s.edges, 2 * g->m);
	CHECK_EQ(s.vertices, g->n);
	for (uint64_t i = 0; i < 3 * g->n; i++)
		CHECKF(fabs(real[i] - want[i]) <= 1e-9 * magnitude[i], "%s: value %llu is %g instead of %g", over_name,
		       (unsigned long long)i, real[i], want[i]);
}

static void run_coloring(const struct gtu_graph *g)
{
	void *mark = test_mark();
	uint32_t *color = test_alloc(g->n, 4), *want = test_alloc(g->n, 4);
	struct gtu_algorithm_options opt = { .unit = GTU_WITH_GPU };
	struct gtu_algorithm_stats s;

	CHECK(!gtu_coloring(NULL, g, &(struct gtu_algorithm_options){ .unit = GTU_WITH_NONE }, want, NULL, &err));
	memset(color, 0x55, g->n * 4);
	CHECKF(!gtu_coloring(over, g, &opt, color, &s, &err), "%s: %s", over_name, err.text);
	for (uint64_t v = 0; v < g->n; v++)
		CHECKF(color[v] == want[v], "%s: vertex %llu has color %u instead of %u", over_name, (unsigned long long)v,
		       color[v], want[v]);
	CHECK_EQ(s.vertices, g->n);
	test_end(mark);
}

static void run_all(const struct gtu_graph *g)
{
	void *mark = test_mark();
	uint64_t *integer = test_alloc(g->n, 8), *want = test_alloc(g->n, 8), reached = 0;
	double *real = test_alloc(g->n, 8), *wanted = test_alloc(g->n, 8), change;
	struct gtu_algorithm_options opt = { .unit = GTU_WITH_GPU, .source = busiest(g), .iterations = 4 };
	struct gtu_algorithm_stats s;

	CHECK(!reference_bfs(g, opt.source, want));
	for (uint64_t v = 0; v < g->n; v++)
		reached += want[v] != GTU_UNREACHED;
	memset(integer, 0x55, g->n * 8);
	CHECKF(!gtu_bfs(over, g, &opt, integer, &s, &err), "%s: %s", over_name, err.text);
	same_integers(integer, want, g->n, over_name);
	CHECK_EQ(s.vertices, reached);
	CHECK(!reference_components(g, want));
	CHECKF(!gtu_components(over, g, &opt, integer, &s, &err), "%s: %s", over_name, err.text);
	same_integers(integer, want, g->n, over_name);
	CHECK_EQ(s.edges, g->m);
	CHECK(!reference_sssp(g, opt.source, wanted));
	CHECKF(!gtu_sssp(over, g, &opt, real, &s, &err), "%s: %s", over_name, err.text);
	same_reals(real, wanted, g->n, 0, over_name);
	CHECK_EQ(s.vertices, reached);
	CHECK(!reference_pagerank(g, 0.85, 4, wanted, &change));
	CHECKF(!gtu_pagerank(over, g, &opt, real, &s, &err), "%s: %s", over_name, err.text);
	same_reals(real, wanted, g->n, 1e-9, over_name);
	CHECK_EQ(s.edges, 4 * g->m);
	CHECK(!reference_cores(g, want));
	memset(integer, 0x55, g->n * 8);
	CHECKF(!gtu_cores(over, g, &opt, integer, &s, &err), "%s: %s", over_name, err.text);
	same_integers(integer, want, g->n, over_name);
	CHECK_EQ(s.vertices, g->n);
	CHECK(!reference_labels(g, opt.iterations, want));
	memset(integer, 0x55, g->n * 8);
	CHECKF(!gtu_label_propagation(over, g, &opt, integer, &s, &err), "%s: %s", over_name, err.text);
	same_integers(integer, want, g->n, over_name);
	run_coloring(g);
	run_gcn(g);
	/* to some vertices */
	CHECK(!reference_bfs(g, opt.source, want));
	for (opt.target = 0; opt.target < g->n; opt.target += 1 + g->n / 2) {
		CHECKF(!gtu_stcon(over, g, &opt, integer, &s, &err), "%s: %s", over_name, err.text);
		CHECK_EQ(integer[0], want[opt.target]);
	}
	/* from a hub, from the last vertex, and from one twice */
	opt.sources = (uint64_t[]){ opt.source, g->n - 1, 0, opt.source };
	opt.source_count = 4;
	CHECK(!reference_betweenness(g, opt.sources, opt.source_count, wanted));
	CHECKF(!gtu_betweenness(over, g, &opt, real, &s, &err), "%s: %s", over_name, err.text);
	same_reals(real, wanted, g->n, 1e-9, over_name);
	CHECK_EQ(s.edges, 4 * g->m);
	opt.sources = NULL;
	opt.source_count = 0;
	if (every) {
		opt.source = g->n - 1;
		opt.delta = 1e-3;
		opt.epsilon = 1e-2;
		opt.iterations = 0;
		CHECK(!reference_bfs(g, opt.source, want));
		CHECKF(!gtu_bfs(over, g, &opt, integer, NULL, &err), "%s: %s", over_name, err.text);
		same_integers(integer, want, g->n, over_name);
		CHECK(!reference_sssp(g, opt.source, wanted));
		CHECKF(!gtu_sssp(over, g, &opt, real, NULL, &err), "%s: %s", over_name, err.text);
		same_reals(real, wanted, g->n, 0, over_name);
		CHECKF(!gtu_pagerank(over, g, &opt, real, NULL, &err), "%s: %s", over_name, err.text);
	}
	test_end(mark);
}

static void open_list(const char *name)
{
	over_name = name;
	OK(gtu_open(name, &over, &err));
	OK(gtu_ranks_set_exchange(over, by, &err));
	cuda->peer_loads = by == GTU_EXCHANGE_AUTO || by == GTU_EXCHANGE_LOADS;
}

static void close_list(const char *link)
{
	CHECKF(strstr(gtu_ranks_link(over), link), "%s exchanges by %s, not by %s", over_name, gtu_ranks_link(over), link);
	gtu_close(over);
	over = NULL;
	CHECK_EQ(cuda->live, 0);
	CHECK_EQ(cuda->contexts, 0);
	CHECK_EQ(nccl->live, 0);
}

static struct edges one_shape(uint64_t n, uint64_t m)
{
	uint64_t seed = 1;

	return skewed(n, m, &seed);
}

static const char *const lists[] = { "cuda:0,1", "cuda:2,cuda:0,1", "cuda:0,1,2,3,4", "cuda:all" };

/*
 * Most tests take every second list, which differ in their number of cards only. Under the sanitizers, where kernels take
 * three times as long, they take one list, and some of the calls that fail.
 */
#define NEXT_LIST 2
#ifdef __SANITIZE_ADDRESS__
#define FIRST_LIST 2
#define NEXT_CALL 3
#else
#define FIRST_LIST 0
#define NEXT_CALL 1
#endif

TEST(tiny_graphs_over_nccl)
{
	open_fakes();
	every = true;
	/* fewer vertices than ranks, and ranks without vertices */
	for (unsigned i = FIRST_LIST; i < LENGTH(lists); i += 1 + FIRST_LIST) {
		open_list(lists[i]);
		tiny_graphs(run_all);
		close_list("NCCL 2.28.9");
	}
	CHECK(nccl->sends);
}

TEST(shapes_over_nccl)
{
	open_fakes();
	every = false;
	for (unsigned i = FIRST_LIST; i < LENGTH(lists); i += NEXT_LIST) {
		open_list(lists[i]);
		each_graph(path(11), run_all);
		each_graph(clique(12), run_all);
		each_graph(one_shape(300, 2500), run_all);
		close_list("NCCL 2.28.9");
	}
	CHECK(nccl->sends && nccl->gathers);
}

/* Enough iterations to divide the lists into blocks, where contributions have 32 bits, also with a rank without edges. */
TEST(ranks_by_blocks)
{
	struct edges e = one_shape(300, 2500), p = path(3);
	struct gtu_graph *g[] = { from_edges(e.n, e.m, e.src, e.dst, GTU_UNDIRECTED, 4), from_edges(p.n, p.m, p.src, p.dst, GTU_UNDIRECTED, 4) };
	struct gtu_algorithm_options opt = { .unit = GTU_WITH_GPU, .iterations = 12 };
	double real[300], wanted[300], change;

	open_fakes();
	for (by = GTU_EXCHANGE_NCCL; by <= GTU_EXCHANGE_HOST; by++) {
		open_list(lists[2]);
		for (unsigned i = 0; i < LENGTH(g); i++) {
			CHECK(!reference_pagerank(g[i], 0.85, 12, wanted, &change));
			OK(gtu_pagerank(over, g[i], &opt, real, NULL, &err));
			same_reals(real, wanted, g[i]->n, 1e-8, over_name);
		}
		gtu_close(over);
	}
}

/* Bitmaps of a frontier, numbers of another, and a hub at the boundary of two ranges. */
static struct edges hub(uint64_t n)
{
	struct edges e = edges(n, 3 * n);

	for (uint64_t v = 0; v < n; v++) {
		add_edge(&e, n / 2, v);
		add_edge(&e, v, (v * 7 + 3) % n);
	}
	return e;
}

TEST(a_hub_at_a_boundary)
{
	open_fakes();
	every = true;
	for (unsigned i = 0; i < 2; i += NEXT_LIST) {
		open_list(lists[i]);
		each_graph(hub(600), run_all);
		close_list("NCCL");
	}
}

/* A random graph whose weights are at least @least. */
static struct gtu_graph *weighted(uint64_t n, uint64_t m, uint32_t type, uint32_t direction, uint32_t least)
{
	struct edges e = one_shape(n, m);
	uint32_t *integer = test_alloc(e.m, 4);
	float *narrow = test_alloc(e.m, 4);
	double *wide = test_alloc(e.m, 8);
	uint64_t seed = 5;

	for (uint64_t i = 0; i < e.m; i++) {
		integer[i] = least + (uint32_t)(test_random(&seed) % 100);
		narrow[i] = (float)integer[i] / 7;
		wide[i] = integer[i] / 7.0;
	}
	return weighted_edges(e.n, e.m, e.src, e.dst, type,
			      type == GTU_WEIGHT_U32 ? (void *)integer : type == GTU_WEIGHT_F32 ? (void *)narrow : (void *)wide,
			      direction, 4);
}

/* More colors than a window of 64, of vertices with one work item and with several. */
TEST(many_colors)
{
	struct edges e = clique(150);

	open_fakes();
	open_list(lists[1]);
	run_coloring(from_edges(e.n, e.m, e.src, e.dst, GTU_UNDIRECTED, 4));
	run_coloring(from_edges(e.n, e.m, e.src, e.dst, GTU_UNDIRECTED, 8));
	close_list("NCCL");
}

/* An undirected graph with edges in one direction only: a vertex waits for a neighbour that does not know it. */
TEST(coloring_of_edges_in_one_direction)
{
	uint64_t row[] = { 0, 1, 3, 5 };
	uint32_t col[] = { 1, 2, 2, 1, 1 }, color[3];
	struct gtu_graph g = { .n = 3, .m = 5, .row = row, .col = col, .edge_bytes = 4, .name = "odd" };
	struct gtu_algorithm_options opt = { .unit = GTU_WITH_GPU };

	open_fakes();
	for (unsigned i = 0; i < LENGTH(lists); i++) {
		open_list(lists[i]);
		FAILS(gtu_coloring(over, &g, &opt, color, NULL, &err), GTU_ERR_INPUT, "stored in one direction only");
		gtu_close(over);
	}
}

TEST(random_weights)
{
	open_fakes();
	for (unsigned type = GTU_WEIGHT_U32; type <= GTU_WEIGHT_F64; type++) {
		open_list("cuda:0,1,2");
		run_all(weighted(300, 2500, type, GTU_UNDIRECTED, 0));
		/* distances of 8 bytes */
		run_all(weighted(300, 2500, type, GTU_DIRECTED, 1u << 30));
		close_list("NCCL");
	}
}

TEST(placements)
{
	static const struct gtu_placement_options place[] = {
		{ .edges = GTU_EDGES_PINNED, .gpu_memory = 4000 }, { .edges = GTU_EDGES_DEVICE, .edge_bytes = 8 },
		{ .edges = GTU_EDGES_MANAGED, .separate_weights = 1 }, { .edges = GTU_EDGES_PINNED, .compressed = 1 },
	};
	struct gtu_graph *g;

	open_fakes();
	for (unsigned i = 0; i < LENGTH(place) * 2; i++) {
		g = generate((struct gtu_generate_options){ .kind = GTU_GEN_KRONECKER, .scale = 8, .seed = 3,
							    .random_weights = 50, .directed = i % 2 });
		open_list("cuda:0,1,2");
		OK(gtu_placement_create(over, g, &place[i / 2], &err));
		CHECK_EQ(gtu_get_placement(over)->edges, place[i / 2].edges);
		run_all(g);
		close_list("NCCL");
	}
}

/*
 * Buckets that are expanded once, of lists on the cards. Integer distances are numbers of one or two bytes, which owners take
 * from all cards.
 */
TEST(distances_by_loads)
{
	static const struct {
		uint32_t type, least, direction;
		uint64_t n, m;
	} of[] = { { GTU_WEIGHT_U32, 8, GTU_UNDIRECTED, 3001, 60000 }, { GTU_WEIGHT_U32, 8, GTU_DIRECTED, 300, 2500 },
		   { GTU_WEIGHT_U32, 300, GTU_UNDIRECTED, 1000, 9000 }, { GTU_WEIGHT_U32, 8, GTU_UNDIRECTED, 3, 4 },
		   { GTU_WEIGHT_F32, 8, GTU_UNDIRECTED, 3001, 60000 },
		   /* the longest path, but no shortest one, would need more than 32 bits */
		   { GTU_WEIGHT_U32, 60000, GTU_UNDIRECTED, 72000, 90000 } };
	struct gtu_placement_options place = { .edges = GTU_EDGES_DEVICE };
	struct gtu_algorithm_options opt = { .unit = GTU_WITH_GPU };
	struct gtu_ranks_traffic traffic;

	open_fakes();
	by = GTU_EXCHANGE_LOADS;
	for (unsigned i = 0; i < LENGTH(of); i++) {
		void *mark = test_mark();
		const struct gtu_graph *g = weighted(of[i].n, of[i].m, of[i].type, of[i].direction, of[i].least);
		double *real = test_alloc(g->n, 8), *wanted = test_alloc(g->n, 8);

		opt.source = busiest(g);
		opt.delta = of[i].type == GTU_WEIGHT_U32 ? fmin(of[i].least, 5000) : (float)of[i].least / 7;
		CHECK(!reference_sssp(g, opt.source, wanted));
		for (unsigned k = FIRST_LIST; k < LENGTH(lists); k += of[i].n > 10000 ? LENGTH(lists) : NEXT_LIST / 2 + FIRST_LIST / 2) {
			open_list(lists[k]);
			place.edge_bytes = k % 2 ? 8 : 4;
			OK(gtu_placement_create(over, g, &place, &err));
			cuda->watch = "ranks_bucket";
			cuda->watched = 0;
			CHECKF(!gtu_sssp(over, g, &opt, real, NULL, &err), "%s: %s", over_name, err.text);
			cuda->watch = NULL;
			same_reals(real, wanted, g->n, 0, over_name);
			CHECKF(!cuda->watched == (of[i].type != GTU_WEIGHT_U32), "%s: %ld buckets of numbers", over_name, cuda->watched);
			/* in each bucket, of which there are two, an owner reads its numbers on each other card */
			gtu_ranks_get_traffic(over, &traffic);
			CHECKF(of[i].type != GTU_WEIGHT_U32 || traffic.value_bytes >= 2 * g->n, "%s: %llu bytes", over_name,
			       (unsigned long long)traffic.value_bytes);
			close_list("loads");
		}
		test_end(mark);
	}
}

/*
 * Steps of few vertices, which one card runs over the memories of all, if it can change them: a hub on a path ends such loops
 * for a step.
 */
TEST(loops_over_cards)
{
	const uint64_t path = 40, leaves = 5000, n = 2 * path + 1 + leaves;
	struct gtu_placement_options place = { .edges = GTU_EDGES_DEVICE };
	struct gtu_algorithm_options opt = { .unit = GTU_WITH_GPU };
	uint64_t *integer = test_alloc(n, 8), *want = test_alloc(n, 8);
	double *real = test_alloc(n, 8), *wanted = test_alloc(n, 8);
	struct edges e = edges(n, n);
	void *weight = test_alloc(n, 8);

	open_fakes();
	by = GTU_EXCHANGE_LOADS;
	/* neighbours on the path have different owners */
	for (uint64_t v = 0; v + 1 < n; v++)
		add_edge(&e, (v < 2 * path ? v : path) * 2221 % n, (v + 1) * 2221 % n);
	for (unsigned kind = 0; kind < 5; kind++) {
		static const uint32_t types[] = { GTU_WEIGHT_U32, GTU_WEIGHT_U32, GTU_WEIGHT_F32, GTU_WEIGHT_NONE, GTU_WEIGHT_F64 };
		const uint32_t type = types[kind];
		void *mark = test_mark();
		struct gtu_graph *g;

		for (uint64_t i = 0; i < e.m; i++) {
			const uint32_t w = (uint32_t)(1 + i * 7 % 50);

			if (type == GTU_WEIGHT_F64)
				((double *)weight)[i] = w / 7.0;
			else if (type == GTU_WEIGHT_F32)
				((float *)weight)[i] = (float)w / 7;
			else
				((uint32_t *)weight)[i] = w;
		}
		g = weighted_edges(n, e.m, e.src, e.dst, type, type ? weight : NULL, kind == 1 ? GTU_DIRECTED : GTU_UNDIRECTED, 4);
		CHECK(!reference_bfs(g, 0, want) && !reference_sssp(g, 0, wanted));
		place.separate_weights = kind == 1;
		for (unsigned k = FIRST_LIST; k < LENGTH(lists); k += NEXT_LIST) {
			struct gtu_algorithm_stats s;

			for (cuda->no_peer_atomics = 0; cuda->no_peer_atomics < 2; cuda->no_peer_atomics++) {
				open_list(lists[k]);
				place.edge_bytes = k % 4 ? 8 : 4;
				OK(gtu_placement_create(over, g, &place, &err));
				cuda->watch = "_levels_cards";
				cuda->watched = 0;
				OK(gtu_bfs(over, g, &opt, integer, &s, &err));
				same_integers(integer, want, n, over_name);
				CHECKF((cuda->watched == 0) == cuda->no_peer_atomics, "%s: %ld loops", over_name, cuda->watched);
				CHECK_EQ(s.iterations, 2 * path + 1);
				cuda->watch = "_steps_cards";
				cuda->watched = 0;
				OK(gtu_sssp(over, g, &opt, real, NULL, &err));
				same_reals(real, wanted, n, 0, over_name);
				CHECKF((cuda->watched == 0) == cuda->no_peer_atomics, "%s: %ld loops", over_name, cuda->watched);
				cuda->watch = NULL;
				close_list("loads");
			}
			cuda->no_peer_atomics = 0;
		}
		test_end(mark);
	}
}

/* A search that meets a path of more than 32 bits starts again, on all ranks. */
TEST(long_paths)
{
	struct edges e = path(139);
	struct gtu_algorithm_options opt = { .unit = GTU_WITH_GPU };
	double real[139], wanted[139];
	uint32_t weight[139];
	struct gtu_graph *g;

	for (uint64_t i = 0; i < e.m; i++)
		weight[i] = 33000000;
	g = weighted_edges(e.n, e.m, e.src, e.dst, GTU_WEIGHT_U32, weight, GTU_UNDIRECTED, 4);
	CHECK(!reference_sssp(g, 0, wanted));
	open_fakes();
	for (by = GTU_EXCHANGE_NCCL; by <= GTU_EXCHANGE_LOADS; by += GTU_EXCHANGE_LOADS - GTU_EXCHANGE_NCCL) {
		open_list(lists[0]);
		for (unsigned k = 0; k < 3; k++) {
			opt.delta = k ? 0 : 33000000;
			OK(gtu_sssp(over, g, &opt, real, NULL, &err));
			same_reals(real, wanted, e.n, 0, over_name);
		}
		gtu_close(over);
	}
}

/* Edges between the vertices of two ranks only. */
static struct gtu_graph *two_sides(uint64_t n, uint64_t m)
{
	struct edges e = edges(n, m);
	uint32_t *weight = test_alloc(m, 4);
	uint64_t seed = 7;

	while (e.m < m) {
		weight[e.m] = 1 + (uint32_t)(test_random(&seed) % 64);
		add_edge(&e, test_random(&seed) % (n / 2), n / 2 + test_random(&seed) % (n / 2));
	}
	return weighted_edges(e.n, e.m, e.src, e.dst, GTU_WEIGHT_U32, weight, GTU_UNDIRECTED, 4);
}

/*
 * Buckets are wider where few vertices are due. After a small bucket of a large frontier they are not: else most vertices
 * are expanded before their distance is final.
 */
TEST(few_lists_are_read_twice)
{
	struct gtu_graph *g = generate((struct gtu_generate_options){ .kind = GTU_GEN_UNIFORM, .n = 1 << 16, .seed = 5,
								      .random_weights = 64 });
	struct gtu_graph *across = two_sides(1 << 16, 1 << 20);
	struct gtu_algorithm_options opt = { .unit = GTU_WITH_GPU, .source = busiest(g) };
	uint64_t *component = test_alloc(g->n, 8), bytes;
	double *real = test_alloc(g->n, 8);
	struct gtu_algorithm_stats s;

	open_fakes();
	open_list("cuda:0,1");
	OK(gtu_placement_create(over, g, &(struct gtu_placement_options){ .edges = GTU_EDGES_PINNED }, &err));
	OK(gtu_sssp(over, g, &opt, real, &s, &err));
	bytes = s.list_bytes;
	/* a slice finds the giant component; a search reads most lists */
	OK(gtu_components(over, g, &opt, component, &s, &err));
	CHECKF(s.list_bytes > 0 && s.list_bytes < g->m, "%llu bytes of a list of %llu were read for components",
	       (unsigned long long)s.list_bytes, 4ull * g->m);
	CHECKF(bytes > 4 * g->m && bytes < 8 * g->m, "%llu bytes of a list of %llu were read for distances",
	       (unsigned long long)bytes, 4ull * g->m);
	gtu_placement_destroy(over);
	OK(gtu_placement_create(over, across, &(struct gtu_placement_options){ .edges = GTU_EDGES_PINNED }, &err));
	opt.source = busiest(across);
	OK(gtu_sssp(over, across, &opt, real, &s, &err));
	gtu_close(over);
	CHECKF(s.list_bytes < 8 * across->m, "%llu bytes of a list of %llu were read, over edges between ranks",
	       (unsigned long long)s.list_bytes, 4ull * across->m);
}

/*
 * A dense part of half of the vertices, from @first on; a path of @tail vertices from its highest vertex over @first - 1 down to
 * @first - @tail; and @pairs pairs of other vertices, from both ends. The rest has no edges.
 */
static struct edges islands(uint64_t n, uint64_t first, uint64_t tail, uint64_t pairs)
{
	struct edges e = edges(n, 4 * n + tail + pairs);
	uint64_t seed = 3, end = first + n / 2, low = 0, high = n - 1;

	for (uint64_t v = first + 1; v < end; v++) {
		add_edge(&e, first, v);
		for (unsigned i = 0; i < 3; i++)
			add_edge(&e, v, first + test_random(&seed) % (n / 2));
	}
	for (uint64_t v = first; v > first - tail; v--)
		add_edge(&e, v == first ? end - 1 : v, v - 1);
	for (; pairs; pairs--) {
		while (low >= first - tail && low < end)
			low++;
		while (high >= first - tail && high < end)
			high--;
		add_edge(&e, low++, high--);
	}
	return e;
}

static struct gtu_graph *dense, *chain, *apart, *lengths;	/* of small_graph(): have few levels and rounds */

#define ALGORITHMS 11u		/* of attempt(), */
#define LOOPS	9u		/* and those from this on run loops over all cards */

static struct gtu_graph *small_graph(uint64_t **want)
{
	struct gtu_graph *g = generate((struct gtu_generate_options){ .kind = GTU_GEN_KRONECKER, .scale = 7, .seed = 1 });
	struct edges e = clique(12), p = path(4), i = islands(64, 20, 1, 1);
	static float weight[] = { 1, 2, 3, 1, 2, 3, 1, 2, 3, 1 };

	dense = from_edges(e.n, e.m, e.src, e.dst, GTU_UNDIRECTED, 4);
	chain = from_edges(p.n, p.m, p.src, p.dst, GTU_UNDIRECTED, 4);
	apart = from_edges(i.n, i.m, i.src, i.dst, GTU_UNDIRECTED, 4);
	p = path(11);
	/* no numbers of distances */
	lengths = weighted_edges(p.n, p.m, p.src, p.dst, GTU_WEIGHT_F32, weight, GTU_UNDIRECTED, 4);
	*want = test_alloc(g->n, 8);
	CHECK(!reference_bfs(g, 0, *want));
	return g;
}

/* ---- Without NCCL ---------------------------------------------------------------------------------- */

TEST(copies_between_cards)
{
	open_fakes();
	by = GTU_EXCHANGE_COPIES;
	open_list(lists[2]);
	tiny_graphs(run_all);
	each_graph(one_shape(200, 1500), run_all);
	close_list("copies between the cards");
}

TEST(host_memory)
{
	open_fakes();
	setenv("GTU_NCCL_LIBRARY", fake_built("libnccl-old.so.2"), 1);
	cuda->no_peers = 1;
	by = GTU_EXCHANGE_AUTO;
	open_list(lists[2]);
	tiny_graphs(run_all);
	each_graph(one_shape(200, 1500), run_all);
	close_list("has no ncclGetLastError: NCCL is too old; install 2.14 or newer; cards ");
	cuda->no_peers = 0;
}

/* The caller chooses; another choice holds from the next run on. */
TEST(chosen_exchanges)
{
	static const char *const name[] = { "loads from the other cards", "NCCL 2.28.9", "copies between the cards", "loads from the other cards",
					    "host memory" };
	struct gtu_graph *g;
	uint64_t *value;

	open_fakes();
	g = small_graph(&value);
	for (unsigned i = FIRST_LIST; i < 3; i += NEXT_LIST) {
		by = i ? GTU_EXCHANGE_AUTO : GTU_EXCHANGE_LOADS;
		open_list(lists[i]);
		every = !i;
		tiny_graphs(run_all);
		each_graph(one_shape(200, 1500), run_all);
		close_list("loads from the other cards");
	}
	open_list("cuda:0,1,2");
	for (unsigned way = GTU_EXCHANGE_NCCL; way <= GTU_EXCHANGE_HOST; way++) {
		cuda->peer_loads = way == GTU_EXCHANGE_LOADS;
		OK(gtu_ranks_set_exchange(over, way, &err));
		run_all(g);
		CHECKF(!strcmp(gtu_ranks_link(over), name[way]), "exchange %u is by %s", way, gtu_ranks_link(over));
	}
	OK(gtu_ranks_set_exchange(over, GTU_EXCHANGE_AUTO, &err));
	cuda->peer_loads = 1;
	run_all(g);
	close_list(name[GTU_EXCHANGE_AUTO]);
}

TEST(exchanges_that_are_refused)
{
	struct gtu_algorithm_options opt = { .unit = GTU_WITH_GPU };
	struct gtu_graph *g;
	uint64_t *value;

	open_fakes();
	g = small_graph(&value);
	open_device();
	FAILS(gtu_ranks_set_exchange(NULL, GTU_EXCHANGE_NCCL, &err), GTU_ERR_UNSUPPORTED, "no device is not a device of GPUs");
	FAILS(gtu_ranks_set_exchange(dev, GTU_EXCHANGE_NCCL, &err), GTU_ERR_UNSUPPORTED, "is not a device of GPUs as ranks");
	open_list("cuda:0,1,2");
	FAILS(gtu_ranks_set_exchange(over, GTU_EXCHANGE_HOST + 1, &err), GTU_ERR_USAGE, "exchange 5 does not exist: use 0 to 4");
	cuda->no_peers = 1;
	for (unsigned way = GTU_EXCHANGE_COPIES; way <= GTU_EXCHANGE_LOADS; way++) {
		OK(gtu_ranks_set_exchange(over, way, &err));
		FAILS(gtu_bfs(over, g, &opt, value, NULL, &err), GTU_ERR_UNSUPPORTED, "cannot access each other's memory");
		CHECK(!gtu_ranks_link(over));
	}
	cuda->no_peers = 0;
	gtu_close(over);
	open_list("cuda:0,0");
	OK(gtu_ranks_set_exchange(over, GTU_EXCHANGE_NCCL, &err));
	FAILS(gtu_bfs(over, g, &opt, value, NULL, &err), GTU_ERR_UNSUPPORTED,
	      "cannot exchange data by NCCL: ranks 0 and 1 share one card");
	gtu_close(over);
}

TEST(an_old_version_of_nccl)
{
	open_fakes();
	by = GTU_EXCHANGE_AUTO;
	cuda->no_peers = 1;
	nccl->version = 21003;
	open_list("cuda:0,1");
	each_graph(path(11), run_all);
	close_list("NCCL has version code 21003, which is too old: install 2.14 or newer");
	nccl->version = 22809;
	cuda->no_peers = 0;
}

TEST(two_ranks_on_one_card)
{
	open_fakes();
	by = GTU_EXCHANGE_AUTO;
	open_list("cuda:0,0,0");
	each_graph(one_shape(200, 1500), run_all);
	close_list("copies between the cards, without NCCL: ranks 0 and 1 share one card, which NCCL does not support");
}

/* ---- Components ------------------------------------------------------------------------------------- */

/* The components of @e over the list; returns the bytes of labels that its cards sent. *launches: the kernels that they ran. */
static uint64_t run_components(struct edges e, unsigned edge_bytes, long *launches)
{
	const struct gtu_graph *g = from_edges(e.n, e.m, e.src, e.dst, GTU_UNDIRECTED, edge_bytes);
	struct gtu_algorithm_options opt = { .unit = GTU_WITH_GPU };
	uint64_t *got = test_alloc(g->n, 8), *want = test_alloc(g->n, 8);
	struct gtu_ranks_traffic before, after;
	const long launched = cuda->launches;

	CHECK(!reference_components(g, want));
	memset(got, 0x55, g->n * 8);
	if (far)
		OK(gtu_placement_create(over, g, &(struct gtu_placement_options){ .edges = GTU_EDGES_PINNED }, &err));
	gtu_ranks_get_traffic(over, &before);
	CHECKF(!gtu_components(over, g, &opt, got, NULL, &err), "%s: %s", over_name, err.text);
	gtu_ranks_get_traffic(over, &after);
	if (far)
		gtu_placement_destroy(over);
	same_integers(got, want, g->n, over_name);
	if (launches)
		*launches = cuda->launches - launched;
	return after.value_bytes - before.value_bytes;
}

/* A search reaches the dense part, or more; the list has @size cards. */
static void components_of_islands(uint32_t size)
{
	const uint64_t n = 1100;
	uint64_t bytes;

	/* nothing outside: no labels are sent */
	CHECK_EQ(run_components(islands(n, 301, 0, 0), 4, NULL), 0);
	/* the higher end of each pair is no root any more, for its ranks at most */
	bytes = run_components(islands(n, 301, 1, 3), 8, NULL);
	CHECKF(bytes && bytes <= 2 * 3 * 8 * (size - 1ull), "%llu bytes", (unsigned long long)bytes);
	/* the lowest vertex is outside */
	CHECK(run_components(islands(n, 301, 1, 1), 4, NULL));
	CHECK(run_components(islands(n, 301, 2, 1), 4, NULL));
	CHECK(run_components(islands(n, n / 2, 12, 0), 8, NULL));
	CHECK(run_components(islands(n, 31, 15, 1), 4, NULL));
	/* so many are no roots that all labels are sent */
	CHECK(run_components(islands(n, 64, 0, 200), 4, NULL) >= 4 * n);
	/* fewer vertices than cards, and a hub at a boundary */
	run_components(islands(4, 1, 1, 0), 4, NULL);
	run_components(hub(600), 4, NULL);
}

TEST(components_outside_of_a_search)
{
	static const char *const list[] = { "cuda:0,1", "cuda:0,1,2,3,4", "cuda:2,cuda:0,1", "cuda:all" };
	uint32_t rank, size;

	open_fakes();
	for (by = GTU_EXCHANGE_NCCL; by <= GTU_EXCHANGE_HOST; by++)
		for (unsigned i = 0; i < LENGTH(list); i += 1 + FIRST_LIST) {
			void *mark = test_mark();

			open_list(list[i]);
			gtu_ranks_of(over, &rank, &size);
			components_of_islands(size);
			gtu_close(over);
			test_end(mark);
		}
}

/*
 * Two cards each run eight kernels at most if a search of one level reaches all vertices with edges: one of the placement, five of
 * the search, and two to label own vertices.
 */
TEST(components_of_one_search)
{
	long reached, outside;

	open_fakes();
	by = GTU_EXCHANGE_LOADS;
	open_list("cuda:0,1");
	run_components(islands(1100, 301, 0, 0), 4, &reached);
	run_components(islands(1100, 301, 0, 1), 4, &outside);
	CHECKF(reached <= 2 * 8 && outside > reached, "%ld kernels, %ld", reached, outside);
	close_list("loads");
}

/* A slice of the lists, and then those outside the giant component, which may be one of many or cross no card. */
TEST(components_by_slices)
{
	open_fakes();
	far = true;
	for (by = GTU_EXCHANGE_NCCL; by <= GTU_EXCHANGE_LOADS; by++) {
		open_list("cuda:0,1,2");
		run_components(islands(1100, 301, 0, 0), 4, NULL);
		run_components(islands(1100, 301, 2, 3), 8, NULL);
		run_components(islands(1100, 64, 0, 200), 4, NULL);
		run_components(islands(1100, 550, 12, 270), 4, NULL);
		run_components(clique(12), 4, NULL);
		run_components(path(300), 4, NULL);
		run_components(islands(4, 1, 1, 0), 4, NULL);
		gtu_close(over);
	}
}

/* ---- Failures ---------------------------------------------------------------------------------------- */

/* Whether runs of @algorithms, a bit for each, succeed over a new list. The first is right; a failure has a sentence. */
static bool attempt(const struct gtu_graph *g, const uint64_t *want, unsigned algorithms)
{
	struct gtu_algorithm_options opt = { .unit = GTU_WITH_GPU, .iterations = 1 }, some = opt, ends = opt;
	uint64_t *integer = test_alloc(g->n, 8);
	double *real = test_alloc(g->n, 8);
	int rc = gtu_open("cuda:0,1,2", &over, &err);

	some.sources = (uint64_t[]){ 0 };
	some.source_count = 1;
	ends.target = dense->n - 1;
	ends.features = 1;
	for (unsigned i = 0; i < ALGORITHMS && !rc; i++) {
		if (!(algorithms >> i & 1))
			continue;
		rc = i == 0 ? gtu_bfs(over, g, &opt, integer, NULL, &err) :
		     i == 1 ? gtu_pagerank(over, g, &opt, real, NULL, &err) :
		     i == 2 ? gtu_cores(over, dense, &opt, integer, NULL, &err) :
		     i == 3 ? gtu_betweenness(over, dense, &some, real, NULL, &err) :
		     i == 4 ? gtu_label_propagation(over, dense, &opt, integer, NULL, &err) :
		     i == 5 ? gtu_coloring(over, chain, &opt, (uint32_t *)integer, NULL, &err) :
		     i == 6 ? gtu_gcn(over, dense, &ends, real, NULL, &err) :
		     i == 7 ? gtu_stcon(over, dense, &ends, integer, NULL, &err) :
		     i == 8 ? gtu_components(over, apart, &opt, integer, NULL, &err) :
		     i == 9 ? gtu_sssp(over, lengths, &opt, real, NULL, &err) :
			      gtu_bfs(over, lengths, &opt, integer, NULL, &err);
		if (!rc && !i)
			same_integers(integer, want, g->n, "bfs");
	}
	CHECKF(!rc || (rc == GTU_ERR_FAIL && err.text[0]), "error %d: %s", rc, err.text);
	gtu_close(over);
	over = NULL;
	/* without its context no memory can be freed: it ends with the context */
	if (cuda->failed && !strcmp(cuda->failed, "cuCtxPushCurrent_v2"))
		cuda->live = 0;
	CHECK_EQ(cuda->live, 0);
	CHECK_EQ(cuda->contexts, 0);
	CHECK_EQ(nccl->live, 0);
	return !rc;
}

TEST(every_call_of_nccl_fails)
{
	struct gtu_graph *g;
	const char *before = NULL;
	uint64_t *want;
	unsigned calls = 0;
	bool done;

	open_fakes();
	g = small_graph(&want);
	cuda->no_peers = 1;
	/* of each algorithm: a failure does not wait for what was right before */
	for (unsigned i = 0; i < LOOPS; i++) {
		done = false;
		for (long at = 1; !done; at += NEXT_CALL, calls += NEXT_CALL) {
			nccl->calls = 0;
			nccl->fail_at = at;
			nccl->failed = NULL;
			done = attempt(g, want, 1u << i) && !nccl->failed;
			/* a library that does not tell its version is not used */
			CHECKF(done || nccl->failed, "call %ld", at);
			nccl->fail_at = 0;
			if (done || (before && !strcmp(before, nccl->failed)))
				continue;
			before = nccl->failed;
			CHECK(attempt(g, want, 1));
		}
	}
	cuda->no_peers = 0;
	CHECKF(calls >= 300, "only %u calls", calls);
}

TEST(calls_of_the_driver_fail)
{
	struct gtu_graph *g;
	uint64_t *want;
	bool done = false;

	open_fakes();
	g = small_graph(&want);
	cuda->peer_loads = 1;
	cuda->failure = 999;
	for (unsigned i = 0; i < ALGORITHMS; i++) {
		done = false;
		for (long at = 1; !done; at += i < LOOPS ? 1 + at / 16 : NEXT_CALL) {
			cuda->calls = 0;
			cuda->fail_at = at;
			cuda->failed = NULL;
			done = attempt(g, want, 1u << i) && !cuda->failed;
			cuda->fail_at = 0;
		}
	}
	CHECK(attempt(g, want, ~0u));
}

TEST(what_is_refused)
{
	struct gtu_algorithm_options opt = { .unit = GTU_WITH_NONE };
	struct gtu_graph *g, *bad;
	uint64_t *value;
	uint32_t rank, size;
	char edge[64];

	open_fakes();
	g = small_graph(&value);
	FAILS(gtu_open("cuda:0,8", &over, &err), GTU_ERR_USAGE, "this computer has 8 GPUs");
	FAILS(gtu_open("cuda:0,model", &over, &err), GTU_ERR_UNSUPPORTED, "GPUs alone or no GPU");
	FAILS(gtu_open("model,cuda:0", &over, &err), GTU_ERR_UNSUPPORTED, "GPUs alone or no GPU");
	open_list("cuda:all");
	gtu_ranks_of(over, &rank, &size);
	CHECK_EQ(size, 8);
	CHECK(!gtu_ranks_link(over));
	CHECK(!strcmp(gtu_get_gpu_info(over)->name, "Fake GPU"));
	FAILS(gtu_bfs(over, g, &opt, value, NULL, &err), GTU_ERR_UNSUPPORTED, "choose the unit gpu");
	opt.unit = GTU_WITH_GPU;
	FAILS(gtu_clustering(over, g, &opt, (double *)value, NULL, &err), GTU_ERR_UNSUPPORTED, "clustering does not run over several GPUs: only bfs, sssp, pagerank, components, betweenness, cores, label propagation, coloring, stcon and gcn do");
	opt.source_count = 1;
	FAILS(gtu_betweenness(over, g, &opt, (double *)value, NULL, &err), GTU_ERR_USAGE, "sources is NULL: pass a list");
	opt.sources = &g->n;
	FAILS(gtu_betweenness(over, g, &opt, (double *)value, NULL, &err), GTU_ERR_USAGE, "source vertex 128 is out of range");
	opt.sources = NULL;
	opt.source_count = 0;
	opt.features = GTU_FEATURES_MAX + 1;
	FAILS(gtu_gcn(over, g, &opt, (double *)value, NULL, &err), GTU_ERR_USAGE, "features per vertex are too many");
	opt.features = 0;
	opt.target = g->n;
	FAILS(gtu_stcon(over, g, &opt, value, NULL, &err), GTU_ERR_USAGE, "target vertex 128 is out of range");
	opt.target = 0;
	opt.kernel = GTU_KERNEL_NAIVE;
	FAILS(gtu_bfs(over, g, &opt, value, NULL, &err), GTU_ERR_UNSUPPORTED, "the paper's kernels (naive)");
	opt.kernel = 0;
	opt.source = g->n;
	FAILS(gtu_bfs(over, g, &opt, value, NULL, &err), GTU_ERR_USAGE, "out of range");
	opt.source = 0;
	opt.damping = 2;
	FAILS(gtu_pagerank(over, g, &opt, (double *)value, NULL, &err), GTU_ERR_USAGE, "damping");
	opt.damping = 0;
	bad = weighted(300, 2500, GTU_WEIGHT_F32, GTU_DIRECTED, 0);
	((float *)(uintptr_t)bad->weight)[bad->m - 1] = -1;
	FAILS(gtu_sssp(over, bad, &opt, (double *)value, NULL, &err), GTU_ERR_INPUT, "is -1: weights must be 0 or more");
	((float *)(uintptr_t)bad->weight)[bad->m - 1] = INFINITY;
	snprintf(edge, sizeof(edge), "edge %llu has the weight inf", (unsigned long long)bad->m - 1);
	opt.features = 1;
	FAILS(gtu_gcn(over, bad, &opt, (double *)value, NULL, &err), GTU_ERR_INPUT, edge);
	opt.features = 0;
	OK(gtu_bfs(over, g, &opt, value, NULL, &err));
	gtu_close(over);
	/* one card is no list */
	setenv("FAKE_CUDA_DEVICES", "1", 1);
	OK(gtu_open("cuda:all", &over, &err));
	CHECK(!strcmp(gtu_get_info(over)->path, "cuda:0"));
	gtu_close(over);
}

/* ---- Processes ----------------------------------------------------------------------------------------- */

TEST(local_cards_of_one_rank)
{
	struct socket_ranks alone = { .size = 1 };
	struct gtu_ranks one = { .bytes = sizeof(one), .size = 1, .context = &alone, .broadcast = socket_broadcast,
				 .all_gather = socket_all_gather, .all_to_all_v = socket_all_to_all_v,
				 .all_reduce = socket_all_reduce, .barrier = socket_barrier };

	open_fakes();
	over_name = "cuda:local";
	OK(gtu_open_ranks("cuda:local", &one, &over, &err));
	OK(gtu_ranks_set_exchange(over, GTU_EXCHANGE_NCCL, &err));
	tiny_graphs(run_all);
	each_graph(one_shape(200, 1500), run_all);
	run_components(islands(1100, 301, 12, 3), 4, NULL);
	close_list("NCCL");
}

TEST_MAIN
