// SPDX-License-Identifier: MIT
/*
 * The GPU kernels as CPU code where something is short: each driver call and each allocation of the
 * library fails in turn, for each algorithm, and a run either ends with an error or with the right
 * result, leaves nothing behind, and a second one succeeds. More than 2^32 stored entries, by lists
 * that take no memory. And the pages of a list that a run reads, in order, by page faults.
 */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include "gtu/gpu.h"
#include "gtu/ranks.h"
#include "gpu_algorithms.h"
#include "tests/fake/built.h"
#include "tests/fake/cpu_kernels.h"
#include "tests/fake/fake_cuda.h"

static struct fake_cuda *fake, fresh;
static const unsigned *block;		/* the simulated GPU: blockIdx.x, */
static unsigned *warp_passes;		/* and how often a warp runs before another one (kernels_cpu.cpp) */

static void use_fake(void)
{
	void *library;

	if (!fake) {
		setenv("GTU_CUDA_LIBRARY", simulated_gpu(), 1);
		CHECKF(gtu_gpu_count(&err) >= 0, "%s", err.text);
		library = dlopen(simulated_gpu(), RTLD_NOW);
		CHECKF(library, "%s", dlerror());
		fake = dlsym(library, "fake_cuda");
		block = dlsym(library, "blockIdx");
		warp_passes = dlsym(library, "cpu_warp_passes");
		CHECK(fake && block && warp_passes);
		fresh = *fake;
	}
	*fake = fresh;
}

/* ---- Allocations of the library ------------------------------------------------------------------- */

static atomic_long allocations, refused_at;	/* counted from 1; 0: none is refused */

/* The sanitizers have allocators of their own. */
#ifndef __SANITIZE_ADDRESS__
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t n, size_t bytes);
void *__libc_realloc(void *at, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

static bool refused(void)
{
	return atomic_load(&refused_at) && atomic_fetch_add(&allocations, 1) + 1 == atomic_load(&refused_at);
}

void *malloc(size_t bytes)
{
	return refused() ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t n, size_t bytes)
{
	return refused() ? NULL : __libc_calloc(n, bytes);
}

void *realloc(void *at, size_t bytes)
{
	return refused() ? NULL : __libc_realloc(at, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
	return refused() ? NULL : __libc_memalign(alignment, bytes);
}

int posix_memalign(void **out, size_t alignment, size_t bytes)
{
	*out = refused() ? NULL : __libc_memalign(alignment, bytes);
	return *out ? 0 : ENOMEM;
}
#endif

/* ---- Algorithms ------------------------------------------------------------------------------------ */

static uint32_t kernel;			/* enum gtu_kernel of the runs */

static int run(const struct gpu_algorithm *a, struct gtu_device *on, const struct gtu_graph *g, uint32_t unit, void *values)
{
	return gpu_algorithm_run(a, on, g, unit, kernel, 0, values, NULL);
}

static uint32_t transposed;		/* the subject is directed, and placed with its transposed lists */

static struct gtu_graph *subject(void)
{
	return generate((struct gtu_generate_options){ .kind = GTU_GEN_KRONECKER, .scale = 6, .degree = 4, .seed = 3,
						       .random_weights = 20, .directed = transposed });
}

/* Place and run with call @call of the driver, or @allocation of the library, failing. */
static int place_and_run(const struct gpu_algorithm *a, const struct gtu_graph *g, uint32_t edges, CUresult failure, long call,
			 long allocation, void *values)
{
	struct gtu_placement_options place = { .edges = edges, .gpu_memory = edges ? 4096 : GTU_GPU_MEMORY_ALL,
					       .transpose = transposed };
	int rc;

	fake->failed = NULL;
	fake->failure = failure;
	fake->fail_at = call ? fake->calls + call : 0;
	atomic_store(&allocations, 0);
	atomic_store(&refused_at, allocation);
	rc = gtu_placement_create(dev, g, &place, &err);
	if (!rc)
		rc = run(a, dev, g, GTU_WITH_GPU, values);
	fake->fail_at = 0;
	atomic_store(&refused_at, 0);
	return rc;
}

#ifdef __SANITIZE_ADDRESS__
/* Every call fails without the sanitizers; with them, for which a run takes 5 times as long, one in 7. */
#define CALL_STEP 7
#define PLACES_STEP 3
#else
#define CALL_STEP 1
#define PLACES_STEP 1
#endif

/* Whichever call fails: an error or the right result, and then a run without failures succeeds. */
static void fail_each(const struct gpu_algorithm *a, uint32_t edges, CUresult failure, int code)
{
	struct gtu_graph *g = subject();
	uint64_t *got = test_alloc(g->n, 8 * TEST_FEATURES), *want = test_alloc(g->n, 8 * TEST_FEATURES);
	unsigned results = 0;
	long live, i;
	int rc;

	use_fake();
	OK(run(a, NULL, g, GTU_WITH_NONE, want));
	OK(gtu_open("cuda:0", &dev, &err));
	live = fake->live;
	for (i = 1 + (a - gpu_algorithms) % CALL_STEP;; i += CALL_STEP) {
		rc = place_and_run(a, g, edges, failure, i, 0, got);
		if (!fake->failed)
			break;
		CHECKF(!rc || rc == code, "%s: call %ld, %s: %d, %s", a->name, i, fake->failed, rc, err.text);
		if (!rc)
			gpu_algorithm_check(a, g, got, want, fake->failed);
		results += !rc;
		gtu_placement_destroy(dev);
		CHECKF(!fake->pushed, "%s: call %ld, %s", a->name, i, fake->failed);
		/* without the context, memory is released with it */
		if (!strncmp(fake->failed, "cuCtxPush", 9)) {
			live = fake->live;
			continue;
		}
		CHECKF(fake->live == live, "%s: call %ld, %s: %ld allocations are left", a->name, i, fake->failed, fake->live - live);
	}
	CHECK(i > 20);
	OK(rc);
	gpu_algorithm_check(a, g, got, want, "without a failure");
	/* memory that is refused once is a cache that is left out, or another kind of memory; few calls see it */
	CHECKF(failure != CUDA_ERROR_OUT_OF_MEMORY || results || CALL_STEP > 1, "%s ended with an error each time", a->name);
	gtu_close(dev);
	dev = NULL;
	CHECK(!fake->contexts && !fake->pushed);
}

/* Whichever allocation of the library fails. */
static void refuse_each(const struct gpu_algorithm *a)
{
	struct gtu_graph *g = subject();
	uint64_t *got = test_alloc(g->n, 8 * TEST_FEATURES), *want = test_alloc(g->n, 8 * TEST_FEATURES);
	long i;
	int rc;

#ifdef __SANITIZE_ADDRESS__
	SKIP("the sanitizer has an allocator of its own");
#endif
	use_fake();
	OK(run(a, NULL, g, GTU_WITH_NONE, want));
	OK(gtu_open("cuda:0", &dev, &err));
	/* what the simulated GPU allocates, once */
	OK(place_and_run(a, g, GTU_EDGES_PINNED, 0, 0, 0, got));
	for (i = 1;; i++) {
		rc = place_and_run(a, g, GTU_EDGES_PINNED, 0, 0, i, got);
		if (atomic_load(&allocations) < i)
			break;
		CHECKF(!rc || rc == GTU_ERR_NOMEM, "%s: allocation %ld: %d, %s", a->name, i, rc, err.text);
		if (!rc)
			gpu_algorithm_check(a, g, got, want, "an allocation failed");
	}
	CHECKF(i > 5, "%s: only %ld allocations", a->name, i - 1);
	OK(rc);
	gpu_algorithm_check(a, g, got, want, "without a failure");
	gtu_close(dev);
	dev = NULL;
}

TEST(every_failed_call_gives_an_error_or_the_result)
{
	for (unsigned i = 0; i < GPU_ALGORITHMS; i++)
		fail_each(&gpu_algorithms[i], GTU_EDGES_MANAGED, 719, GTU_ERR_FAIL);
}

TEST(refused_memory_gives_an_error_or_the_result)
{
	for (unsigned i = 0; i < GPU_ALGORITHMS; i++) {
		fail_each(&gpu_algorithms[i], GTU_EDGES_PINNED, CUDA_ERROR_OUT_OF_MEMORY, GTU_ERR_NOMEM);
		fail_each(&gpu_algorithms[i], GTU_EDGES_AUTO, CUDA_ERROR_OUT_OF_MEMORY, GTU_ERR_NOMEM);
	}
}

/* A run of enough iterations to divide the list into blocks of edges, with values; without memory, it reads the list. */
TEST(failed_blocks_give_an_error_or_the_result)
{
	gpu_iterations = 10;
	fail_each(&gpu_algorithms[3], GTU_EDGES_AUTO, 719, GTU_ERR_FAIL);
	fail_each(&gpu_algorithms[3], GTU_EDGES_AUTO, CUDA_ERROR_OUT_OF_MEMORY, GTU_ERR_NOMEM);
	gpu_iterations = 3;
}

TEST(failed_transposed_lists_give_an_error_or_the_result)
{
	transposed = 1;
	for (unsigned i = 0; i < GPU_FIRST_VISIT; i += 3) {
		fail_each(&gpu_algorithms[i], GTU_EDGES_MANAGED, 719, GTU_ERR_FAIL);
		fail_each(&gpu_algorithms[i], GTU_EDGES_PINNED, CUDA_ERROR_OUT_OF_MEMORY, GTU_ERR_NOMEM);
		refuse_each(&gpu_algorithms[i]);
	}
	transposed = 0;
}

TEST(failed_allocations_give_an_error_or_the_result)
{
	for (unsigned i = 0; i < GPU_ALGORITHMS; i++)
		refuse_each(&gpu_algorithms[i]);
}

/* ---- Needs by part, and what gives way --------------------------------------------------------------- */

static unsigned plans;
static struct gtu_placement planned;
static long live_at_plan;

static void see_plan(void *user, const struct gtu_placement *p)
{
	CHECK(user == &plans);
	live_at_plan = fake->live;
	planned = *p;
	plans++;
}

TEST(the_plan_is_reported_before_memory_is_allocated)
{
	struct gtu_placement_options place = { .planned = see_plan, .planned_user = &plans };
	struct gtu_graph *g = subject();
	long live;

	use_fake();
	OK(gtu_open("cuda:0", &dev, &err));
	live = fake->live;
	plans = 0;
	OK(gtu_placement_create(dev, g, &place, &err));
	CHECK(plans == 1 && live_at_plan == live);
	CHECK_EQ(planned.edges, GTU_EDGES_DEVICE);
	CHECK_EQ(planned.free_bytes, fake->free_bytes);
	CHECK(planned.run_bytes && planned.reserved_bytes && planned.vertex_bytes == 8 * (g->n + 1));
	CHECK(!*gtu_get_placement(dev)->given_up);
	/* too little memory: the parts are named */
	fake->free_bytes = planned.vertex_bytes + planned.run_bytes;
	FAILS(gtu_placement_create(dev, g, &place, &err), GTU_ERR_NOMEM, "(rows ");
	CHECKF(strstr(err.text, ", a run ") && strstr(err.text, ", reserved "), "%s", err.text);
	CHECK_EQ(plans, 1);
	fake->free_bytes = fresh.free_bytes;
	OK(gtu_placement_create(dev, g, &place, &err));
	fake->free_bytes = 1000;
	FAILS(run(&gpu_algorithms[0], dev, g, GTU_WITH_GPU, test_alloc(g->n, 8 * TEST_FEATURES)), GTU_ERR_NOMEM, "bfs needs ");
	CHECKF(strstr(err.text, "(visited vertices ") && strstr(err.text, ", queue ") && strstr(err.text, "of which 1000 are free"),
	       "%s", err.text);
	gtu_close(dev);
	dev = NULL;
}

/* Refuse the list on the card, then the pinned copy: the graph's own memory is left. */
TEST(refused_memory_gives_way_to_the_next_kind)
{
	static const uint32_t kinds[] = { GTU_EDGES_DEVICE, GTU_EDGES_PINNED, GTU_EDGES_REGISTERED };
	struct gtu_placement_options place = { .planned = see_plan, .planned_user = &plans };
	struct gtu_graph *g = subject();
	uint64_t *got = test_alloc(g->n, 8 * TEST_FEATURES), *want = test_alloc(g->n, 8 * TEST_FEATURES);

	use_fake();
	OK(run(&gpu_algorithms[1], NULL, g, GTU_WITH_NONE, want));
	for (unsigned refusals = 0; refusals < LENGTH(kinds); refusals++) {
		use_fake();
		OK(gtu_open("cuda:0", &dev, &err));
		plans = 0;
		fake->refuse_above = 4 * g->m;
		fake->refusals = refusals;
		OK(gtu_placement_create(dev, g, &place, &err));
		CHECK_EQ(plans, refusals + 1);
		CHECK_EQ(gtu_get_placement(dev)->edges, kinds[refusals]);
		CHECKF(!refusals == !*gtu_get_placement(dev)->given_up, "%s", gtu_get_placement(dev)->given_up);
		fake->refuse_above = 0;
		OK(run(&gpu_algorithms[1], dev, g, GTU_WITH_GPU, got));
		gpu_algorithm_check(&gpu_algorithms[1], g, got, want, "another kind of memory");
		gtu_close(dev);
		dev = NULL;
	}
}

/* Buffers of a run that do not fit beside the cached edges: the cache gives way, by as much as needed. */
TEST(the_cache_gives_way_to_buffers_of_a_run)
{
	struct gtu_placement_options place = { .edges = GTU_EDGES_PINNED, .gpu_memory = 3 << 20 };
	struct gtu_graph *g = generate((struct gtu_generate_options){ .kind = GTU_GEN_UNIFORM, .n = 20000, .degree = 16 });
	uint64_t *got = test_alloc(g->n, 8 * TEST_FEATURES), *want = test_alloc(g->n, 8 * TEST_FEATURES), cache;

	use_fake();
	OK(run(&gpu_algorithms[0], NULL, g, GTU_WITH_NONE, want));
	OK(gtu_open("cuda:0", &dev, &err));
	OK(gtu_placement_create(dev, g, &place, &err));
	cache = gtu_get_placement(dev)->cache_bytes;
	CHECK(cache > 2 << 20);
	for (unsigned refusals = 1; refusals < 3; refusals++) {
		/* the items that loops share; then also what would be left of the cache */
		fake->refuse_above = 240000;
		fake->refusals = refusals;
		OK(run(&gpu_algorithms[0], dev, g, GTU_WITH_GPU, got));
		gpu_algorithm_check(&gpu_algorithms[0], g, got, want, "a smaller cache");
		CHECK(gtu_get_placement(dev)->cache_bytes < cache);
		CHECKF(strstr(gtu_get_placement(dev)->given_up, "bfs needs the rest"), "%s", gtu_get_placement(dev)->given_up);
		CHECK(!gtu_get_placement(dev)->cache_bytes == (refusals == 2));
		cache = gtu_get_placement(dev)->cache_bytes;
	}
	gtu_close(dev);
	dev = NULL;
}

/* Filling the cache takes longer than components take without it. */
TEST(components_fill_no_cache)
{
	struct gtu_graph *g = generate((struct gtu_generate_options){ .kind = GTU_GEN_UNIFORM, .n = 2000, .degree = 8 });
	uint64_t *got = test_alloc(g->n, 8 * TEST_FEATURES), *want = test_alloc(g->n, 8 * TEST_FEATURES);
	long launches[2];

	use_fake();
	OK(run(&gpu_algorithms[2], NULL, g, GTU_WITH_NONE, want));
	for (unsigned cached = 0; cached < 2; cached++) {
		struct gtu_placement_options place = { .edges = GTU_EDGES_PINNED,
						       .gpu_memory = cached ? 1 << 20 : GTU_GPU_MEMORY_NONE };

		OK(gtu_open("cuda:0", &dev, &err));
		OK(gtu_placement_create(dev, g, &place, &err));
		launches[cached] = fake->launches;
		OK(run(&gpu_algorithms[2], dev, g, GTU_WITH_GPU, got));
		launches[cached] = fake->launches - launches[cached];
		gpu_algorithm_check(&gpu_algorithms[2], g, got, want, "memory for a cache");
		gtu_close(dev);
		dev = NULL;
	}
	CHECK_EQ(launches[1], launches[0]);
}

/* A run over lists of 4-byte entries in pinned memory, with nothing cached, reads from @least bytes of them to less than @most. */
static void reads_lists(const struct gpu_algorithm *a, const struct gtu_graph *g, uint64_t least, uint64_t most)
{
	const struct gtu_placement_options place = { .edges = GTU_EDGES_PINNED, .edge_bytes = 4, .gpu_memory = GTU_GPU_MEMORY_NONE };
	uint64_t *got = test_alloc(g->n, 8), *want = test_alloc(g->n, 8);
	struct gtu_algorithm_stats s;

	use_fake();
	OK(gpu_algorithm_run(a, NULL, g, GTU_WITH_NONE, 0, 0, want, NULL));
	OK(gtu_open("cuda:0", &dev, &err));
	OK(gtu_placement_create(dev, g, &place, &err));
	OK(gpu_algorithm_run(a, dev, g, GTU_WITH_GPU, GTU_KERNEL_AUTO, 0, got, &s));
	gpu_algorithm_check(a, g, got, want, "over the link");
	CHECKF(s.list_bytes >= least && s.list_bytes < most, "%s read %" PRIu64 " bytes of lists of %" PRIu64 " vertices and %" PRIu64
	       " bytes, not %" PRIu64 " to %" PRIu64, a->name, s.list_bytes, g->n, 4 * g->m, least, most);
	gtu_close(dev);
	dev = NULL;
}

/* Short lists are read together: no sector more than once, except at the ends of what a warp reads. */
TEST(components_read_short_lists_once)
{
	struct gtu_graph *road = generate((struct gtu_generate_options){ .kind = GTU_GEN_ROAD, .n = 1 << 14 }),
			 *sparse = generate((struct gtu_generate_options){ .kind = GTU_GEN_UNIFORM, .n = 1 << 14, .degree = 2 });

	reads_lists(&gpu_algorithms[2], road, 4 * road->m, 5 * road->m);
	reads_lists(&gpu_algorithms[2], sparse, 4 * sparse->m, 5 * sparse->m);
}

/* Of a frontier of most vertices, a part is pushed, and reaches most of those that would search by a line each. */
TEST(bfs_pushes_to_the_last)
{
	struct gtu_graph *g = generate((struct gtu_generate_options){ .kind = GTU_GEN_UNIFORM, .n = 1 << 15, .degree = 16 });

	reads_lists(&gpu_algorithms[0], g, g->n, 24 * g->n);
}

/* Over the link, too, a large bucket is pulled by the vertices that are left, so that less than the list is read. */
TEST(sssp_pulls_lists)
{
	static const uint32_t kind[] = { GTU_GEN_KRONECKER, GTU_GEN_UNIFORM };

	for (unsigned k = 0; k < 2; k++) {
		struct gtu_graph *g = generate((struct gtu_generate_options){ .kind = kind[k], .scale = 14, .n = k << 14, .degree = 16,
									      .random_weights = 65 });

		for (uint64_t i = 0; i < g->m; i++)
			((uint32_t *)g->weight)[i] += 7;
		reads_lists(&gpu_algorithms[1], g, g->n, 4 * g->m * 19 / 20);
	}
}

/* Bottom-up, a line that has the end of a list and the start of the next serves both vertices. */
TEST(bfs_shares_lines)
{
	struct gtu_graph *g = generate((struct gtu_generate_options){ .kind = GTU_GEN_KRONECKER, .scale = 14, .degree = 16 });

	reads_lists(&gpu_algorithms[0], g, g->n, 32 * g->n * 9 / 10);
}

/*
 * Lists of several pieces and of more than a slice of triangles, colors of several windows, and memory
 * for the tables of a few lists of label propagation at a time.
 */
TEST(results_on_long_lists_match_the_cpu)
{
	static const struct gtu_placement_options places[] = {
		{ .edges = GTU_EDGES_PINNED, .edge_bytes = 8 }, { .edges = GTU_EDGES_PINNED, .edge_bytes = 4 },
		{ .edges = GTU_EDGES_PINNED, .compressed = 1 },
	};
	const struct edges e = clique(270);
	struct gtu_graph *g = from_edges(e.n, e.m, e.src, e.dst, GTU_UNDIRECTED, 8);
	uint64_t *got = test_alloc(g->n, 8 * TEST_FEATURES), *want = test_alloc(g->n, 8 * TEST_FEATURES);

	use_fake();
	OK(gtu_open("cuda:0", &dev, &err));
	for (unsigned i = GPU_FIRST_VISIT; i < GPU_ALGORITHMS; i++) {
		const struct gpu_algorithm *a = &gpu_algorithms[i];

		OK(run(a, NULL, g, GTU_WITH_NONE, want));
		for (unsigned p = i % PLACES_STEP; p < LENGTH(places); p += PLACES_STEP) {
			OK(gtu_placement_create(dev, g, &places[p], &err));
			/* clustering places its graph in the run */
			fake->free_bytes = a->reals == gtu_clustering ? fresh.free_bytes : 200000;
			CHECKF(!run(a, dev, g, GTU_WITH_GPU, got), "%s: %s", a->name, err.text);
			fake->free_bytes = fresh.free_bytes;
			gpu_algorithm_check(a, g, got, want, "long lists");
		}
	}
	gtu_close(dev);
	dev = NULL;
}

/* ---- More than 2^32 stored entries --------------------------------------------------------------------- */

#define MANY	((1ull << 32) + 40)	/* entries before those that runs read, in an unaligned line */

/*
 * @g with MANY entries before its own, which lie in inaccessible memory: an index cut to 32 bits ends
 * the program. With @hub, they are self-loops of vertex 0 by zero pages, and readable.
 */
static struct gtu_graph far_graph(const struct gtu_graph *g, bool hub)
{
	const uint64_t bytes = (MANY + g->m) * g->edge_bytes, own = MANY * g->edge_bytes & ~4095ull;
	struct gtu_graph far = *g;
	uint64_t *row = test_alloc(g->n + 1, 8), v;
	char *col = mmap(NULL, bytes, hub ? PROT_READ : PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	CHECK(col != MAP_FAILED);
	CHECK(!mprotect(col + own, bytes - own, PROT_READ | PROT_WRITE));
	memcpy(col + MANY * g->edge_bytes, g->col, g->m * g->edge_bytes);
	for (v = 0; v <= g->n; v++)
		row[v] = (hub && !v ? 0 : MANY) + g->row[v];
	far.row = row;
	far.col = col;
	far.m += MANY;
	return far;
}

static void check_far(const struct gpu_algorithm *a, uint32_t edge_bytes)
{
	struct gtu_placement_options place = { .edges = GTU_EDGES_REGISTERED };
	struct gtu_graph *g = generate((struct gtu_generate_options){ .kind = GTU_GEN_KRONECKER, .scale = 6, .degree = 4,
								      .seed = 3, .edge_bytes = edge_bytes });
	struct gtu_graph far = far_graph(g, false);
	uint64_t *got = test_alloc(g->n, 8 * TEST_FEATURES), *want = test_alloc(g->n, 8 * TEST_FEATURES);

	use_fake();
	OK(run(a, NULL, g, GTU_WITH_NONE, want));
	OK(gtu_open("cuda:0", &dev, &err));
	OK(gtu_placement_create(dev, &far, &place, &err));
	/* the library's PageRank takes tiles of all entries, the paper's kernels take lists */
	kernel = a->reals == gtu_pagerank ? GTU_KERNEL_ALIGNED : GTU_KERNEL_AUTO;
	CHECKF(!run(a, dev, &far, GTU_WITH_GPU, got), "%s: %s", a->name, err.text);
	kernel = GTU_KERNEL_AUTO;
	gpu_algorithm_check(a, g, got, want, "beyond 2^32 entries");
	gtu_close(dev);
	dev = NULL;
	munmap((void *)far.col, far.m * far.edge_bytes);
}

TEST(results_beyond_2_32_entries_match_the_cpu)
{
	for (unsigned i = 0; i < GPU_ALGORITHMS; i++) {
		check_far(&gpu_algorithms[i], 4);
		check_far(&gpu_algorithms[i], 8);
	}
}

/* The hub is in the giant component by the edges that a search has cached, so its 2^32 entries are not read. */
TEST(a_hub_of_2_32_entries_is_not_read)
{
	struct gtu_placement_options place = { .edges = GTU_EDGES_REGISTERED, .gpu_memory = 4096 };
	struct edges e = edges(300, 900);
	struct gtu_graph *g, far;
	uint64_t *got = test_alloc(300, 8), *want = test_alloc(300, 8);

	for (uint64_t v = 1; v < 280; v++) {
		add_edge(&e, v, 0);
		add_edge(&e, v, v % 7 ? v + 1 : v);
	}
	for (uint64_t v = 281; v < 299; v += 2)
		add_edge(&e, v, v + 1);
	g = from_edges(300, e.m, e.src, e.dst, GTU_UNDIRECTED, 4);
	far = far_graph(g, true);
	use_fake();
	CHECK(!reference_components(g, want));
	OK(gtu_open("cuda:0", &dev, &err));
	OK(gtu_placement_create(dev, &far, &place, &err));
	OK(gtu_bfs(dev, &far, &(struct gtu_algorithm_options){ .unit = GTU_WITH_GPU, .source = 281 }, got, NULL, &err));
	OK(gtu_components(dev, &far, &(struct gtu_algorithm_options){ .unit = GTU_WITH_GPU }, got, NULL, &err));
	same_integers(got, want, g->n, "components of a hub of 2^32 edges");
	gtu_close(dev);
	dev = NULL;
	munmap((void *)far.col, far.m * far.edge_bytes);
}

/* A list whose registration is refused is registered in parts; if a part is refused, too, none stays. */
TEST(a_refused_registration_is_made_in_parts)
{
	struct gtu_placement_options place = { .edges = GTU_EDGES_REGISTERED };
	struct gtu_graph *g = subject(), far = far_graph(g, false);
	uint64_t *got = test_alloc(g->n, 8 * TEST_FEATURES), *want = test_alloc(g->n, 8 * TEST_FEATURES);
	long live;

	/* without weights, whose list would be as long */
	far.weight = NULL;
	far.weight_type = GTU_WEIGHT_NONE;
	use_fake();
	OK(run(&gpu_algorithms[0], NULL, g, GTU_WITH_NONE, want));
	OK(gtu_open("cuda:0", &dev, &err));
	live = fake->live;
	fake->refuse_above = 5ull << 30;
	fake->refusals = 1;
	OK(gtu_placement_create(dev, &far, &place, &err));
	CHECK_EQ(gtu_get_placement(dev)->edges, GTU_EDGES_REGISTERED);
	/* the rows, and parts of at most 4 GiB of more than 16 GiB */
	CHECKF(fake->live - live >= 1 + 5, "%ld", fake->live - live);
	OK(run(&gpu_algorithms[0], dev, &far, GTU_WITH_GPU, got));
	gpu_algorithm_check(&gpu_algorithms[0], g, got, want, "registered in parts");
	gtu_placement_destroy(dev);
	CHECK_EQ(fake->live, live);
	fake->refuse_above = 1ull << 30;
	fake->refusals = 2;
	FAILS(gtu_placement_create(dev, &far, &place, &err), GTU_ERR_NOMEM, "cuMemHostRegister of ");
	CHECK_EQ(fake->live, live);
	gtu_close(dev);
	dev = NULL;
	munmap((void *)far.col, far.m * far.edge_bytes);
}

/*
 * A thread of another library may read the environment at any time: the runtime sets no variable, and
 * does without NCCL where none says whether it may use multicast.
 */
TEST(runs_leave_the_environment)
{
	struct gtu_graph *g = subject();
	uint64_t *got = test_alloc(g->n, 8 * TEST_FEATURES), *want = test_alloc(g->n, 8 * TEST_FEATURES);
	char *before[512];
	size_t i, n;

	use_fake();
	/* as if it were not set */
	setenv("NCCL_NVLS_ENABLE", "", 1);
	for (n = 0; n < LENGTH(before) && environ[n]; n++)
		before[n] = environ[n];
	CHECK(n && n < LENGTH(before));
	OK(run(&gpu_algorithms[0], NULL, g, GTU_WITH_NONE, want));
	OK(gtu_open("cuda:0,0", &dev, &err));
	OK(run(&gpu_algorithms[0], dev, g, GTU_WITH_GPU, got));
	gpu_algorithm_check(&gpu_algorithms[0], g, got, want, "over two ranks");
	for (i = 0; i < n; i++)
		CHECKF(environ[i] == before[i], "a run changes %s to %s", before[i], environ[i]);
	CHECKF(!environ[n], "a run sets %s", environ[n]);
	CHECKF(strstr(gtu_ranks_link(dev), "copies between the cards, without NCCL: NCCL_NVLS_ENABLE is not set"),
	       "they exchange by %s", gtu_ranks_link(dev));
	gtu_close(dev);
	dev = NULL;
}

/* ---- The order of reads ------------------------------------------------------------------------------ */

#define PAGE	4096u
#define BLOCKS	8			/* most that the simulated GPU is given */

static char *watched;			/* the list of the first card; one page of it at a time is accessible */
static uint64_t watched_pages, open_page, window, near_pages, furthest[BLOCKS];
/* of reads of a page: those of a block further back than @window pages; those further than @near_pages from the read before */
static unsigned restarts, jumps, faults;

static void see_fault(int number, siginfo_t *info, void *context)
{
	const uint64_t page = (uint64_t)((char *)info->si_addr - watched) / PAGE;

	(void)number;
	(void)context;
	if ((char *)info->si_addr < watched || page >= watched_pages || *block >= BLOCKS)
		_exit(99);
	faults++;
	jumps += (page > open_page ? page - open_page : open_page - page) > near_pages;
	if (page + window < furthest[*block]) {
		restarts++;
		furthest[*block] = page;
	}
	furthest[*block] = page > furthest[*block] ? page : furthest[*block];
	mprotect(watched + open_page * PAGE, PAGE, PROT_NONE);
	mprotect(watched + page * PAGE, PAGE, PROT_READ);
	open_page = page;
}

/*
 * A step's queue ascends, so a block goes back only where a step begins, or where the simulated blocks
 * drifted apart when they filled the queue: less than one read of a page in 50. In the order in which
 * vertices were reached it is one in 23 or 31. And reads that follow each other are near: no more than @most in 1000
 * are further apart than a @part of the list. @most is well above what random interleavings of the warps lead to.
 * In the order in which vertices were reached, over 60 are further apart than a quarter; where each block takes every so many
 * items at its own pace, over 130 than a 64th, by which SSSP is judged.
 */
static void read_in_windows(const struct gpu_algorithm *a, const char *device, uint64_t n, double degree, unsigned part,
			    unsigned most)
{
	struct gtu_graph *g = generate((struct gtu_generate_options){ .kind = GTU_GEN_UNIFORM, .n = n, .degree = degree, .seed = 5 });
	struct gtu_placement_options place = { .edges = GTU_EDGES_REGISTERED };
	struct sigaction act = { .sa_sigaction = see_fault, .sa_flags = SA_SIGINFO | SA_NODEFER }, old;
	const uint64_t bytes = (g->m * g->edge_bytes + PAGE - 1) & ~(PAGE - 1ull);
	uint64_t *got = test_alloc(g->n, 8 * TEST_FEATURES), *want = test_alloc(g->n, 8 * TEST_FEATURES);
	struct gtu_algorithm_stats stats;
	struct gtu_graph far = *g;
	unsigned usual;

	use_fake();
	usual = *warp_passes;
	watched = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(watched != MAP_FAILED);
	memcpy(watched, g->col, g->m * g->edge_bytes);
	far.col = watched;
	far.flags |= GTU_GRAPH_CHECKED;
	/* two ranks have about half of the list each */
	watched_pages = bytes / PAGE / (strchr(device, ',') ? 2 : 1);
	window = watched_pages / 4;
	near_pages = watched_pages / part;
	open_page = restarts = jumps = faults = 0;
	memset(furthest, 0, sizeof(furthest));
	OK(gpu_algorithm_run(a, NULL, g, GTU_WITH_NONE, 0, 0, want, NULL));
	OK(gtu_open(device, &dev, &err));
	OK(gtu_placement_create(dev, &far, &place, &err));
	/* warps progress alike */
	*warp_passes = 1;
	CHECK(!mprotect(watched, watched_pages * PAGE, PROT_NONE));
	CHECK(!sigaction(SIGSEGV, &act, &old));
	OK(gpu_algorithm_run(a, dev, &far, GTU_WITH_GPU, GTU_KERNEL_AUTO, 0, got, &stats));
	CHECK(!sigaction(SIGSEGV, &old, NULL));
	CHECK(!mprotect(watched, bytes, PROT_READ | PROT_WRITE));
	*warp_passes = usual;
	gpu_algorithm_check(a, g, got, want, "in windows");
	gtu_close(dev);
	dev = NULL;
	munmap(watched, bytes);
	CHECKF(faults > watched_pages / 2 && restarts < faults / 50 && 1000ull * jumps <= (uint64_t)most * faults,
	       "%s on %s: of %u reads of a page, of %" PRIu64 " pages, %u go back and %u jump, in %u steps", a->name, device, faults,
	       watched_pages, restarts, jumps, (unsigned)stats.iterations);
}

TEST(bfs_reads_in_windows)
{
	read_in_windows(&gpu_algorithms[0], "cuda:0", 1 << 16, 8, 4, 20);
}

TEST(sssp_reads_in_windows)
{
	/* lists of several pieces, for which no loop stays on the GPU */
	read_in_windows(&gpu_algorithms[1], "cuda:0", 1 << 11, 256, 64, 100);
}

TEST(components_read_in_windows)
{
	read_in_windows(&gpu_algorithms[2], "cuda:0", 1 << 15, 8, 4, 20);
}

TEST(ranks_read_in_windows)
{
	read_in_windows(&gpu_algorithms[0], "cuda:0,0", 1 << 16, 8, 4, 20);
}

TEST_MAIN
