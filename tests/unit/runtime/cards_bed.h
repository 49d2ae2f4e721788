/* SPDX-License-Identifier: MIT */
/* Lists of fake GPUs as ranks, all algorithms over them, and graphs for them. */
#ifndef GTU_CARDS_BED_H
#define GTU_CARDS_BED_H

#include <dlfcn.h>

#include "gtu/gpu.h"
#include "gtu/ranks.h"
#include "subjects.h"
#include "tests/fake/built.h"
#include "tests/fake/cpu_kernels.h"
#include "tests/fake/fake_cuda.h"
#include "tests/fake/fake_nccl.h"

static struct fake_cuda *cuda;
static struct fake_nccl *nccl;
static enum gtu_ranks_exchange by;	/* what open_list() asks for */

static inline void *symbol(const char *library, const char *name)
{
	void *handle = dlopen(library, RTLD_NOW | RTLD_NODELETE), *at = handle ? dlsym(handle, name) : NULL;

	CHECKF(at, "%s: %s", library, dlerror());
	return at;
}

static inline void open_fakes(void)
{
	setenv("GTU_CUDA_LIBRARY", simulated_gpu(), 1);
	setenv("FAKE_CUDA_DEVICES", "8", 1);
	cuda = symbol(getenv("GTU_CUDA_LIBRARY"), "fake_cuda");
	setenv("NCCL_NVLS_ENABLE", "0", 1);
	setenv("GTU_NCCL_LIBRARY", fake_built("libnccl.so.2"), 1);
	nccl = symbol(getenv("GTU_NCCL_LIBRARY"), "fake_nccl");
	by = GTU_EXCHANGE_NCCL;
}

static struct gtu_device *over;	/* the list of the current test */
static const char *over_name;
static bool every;		/* all algorithms with all options */

static inline void run_gcn(const struct gtu_graph *g)
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

static inline void run_coloring(const struct gtu_graph *g)
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

static inline void run_all(const struct gtu_graph *g)
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

static inline void open_list(const char *name)
{
	over_name = name;
	OK(gtu_open(name, &over, &err));
	OK(gtu_ranks_set_exchange(over, by, &err));
	cuda->peer_loads = by == GTU_EXCHANGE_AUTO || by == GTU_EXCHANGE_LOADS;
}

static inline void close_list(const char *link)
{
	CHECKF(strstr(gtu_ranks_link(over), link), "%s exchanges by %s, not by %s", over_name, gtu_ranks_link(over), link);
	gtu_close(over);
	over = NULL;
	CHECK_EQ(cuda->live, 0);
	CHECK_EQ(cuda->contexts, 0);
	CHECK_EQ(nccl->live, 0);
}

static inline struct edges one_shape(uint64_t n, uint64_t m)
{
	uint64_t seed = 1;

	return skewed(n, m, &seed);
}

static const char *const lists[] = { "cuda:0,1", "cuda:2,cuda:0,1", "cuda:0,1,2,3,4", "cuda:all" };

/* Most tests take every second list, which differ in their number of cards only. */
#define NEXT_LIST 2

/* A random graph whose weights are at least @least. */
static inline struct gtu_graph *weighted(uint64_t n, uint64_t m, uint32_t type, uint32_t direction, uint32_t least)
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

/*
 * A dense part of half of the vertices, from @first on; a path of @tail vertices from its highest vertex over @first - 1 down to
 * @first - @tail; and @pairs pairs of other vertices, from both ends. The rest has no edges.
 */
static inline struct edges islands(uint64_t n, uint64_t first, uint64_t tail, uint64_t pairs)
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

#endif
