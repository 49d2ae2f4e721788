// SPDX-License-Identifier: MIT
/*
 * The GPU backend without a GPU: errors name what is missing, plans respect GPU memory, and
 * whichever driver call fails, the run ends with the name of that call and releases everything.
 */
#include <dlfcn.h>
#include <math.h>
#include <unistd.h>

#include "tests/fake/built.h"
#include "tests/fake/cpu_kernels.h"
#include "tests/fake/fake_cuda.h"
#include "libruntime/backend/cuda/gpu.h"
#include "tests/unit/library.h"

static struct fake_cuda *fake, fresh;
static char fake_path[512];

static void use_fake(void)
{
	void *library;

	if (!fake) {
		snprintf(fake_path, sizeof(fake_path), "%s", fake_built("libcuda.so.1"));
		library = dlopen(fake_path, RTLD_NOW);
		CHECKF(library, "%s", dlerror());
		fake = dlsym(library, "fake_cuda");
		CHECK(fake);
		fresh = *fake;
		setenv("GTU_CUDA_LIBRARY", fake_path, 1);
	}
	*fake = fresh;
}

/* ---- Missing components ----------------------------------------------------------------------------- */

static void load_says(const char *library, int major, const char *want)
{
	struct cuda_api api;

	FAILS(gtu_cuda_load(&api, library, major, &err), GTU_ERR_UNSUPPORTED, want);
	CHECK_EQ(err.code, GTU_ERR_UNSUPPORTED);
}

TEST(a_missing_driver_is_reported) { load_says("libcuda-that-nobody-has.so.1", 12, "no CUDA driver on this computer"); }
TEST(a_driver_without_a_function_is_reported) { load_says(fake_built("libcuda-old.so.1"), 12, "has no cuGetErrorName"); }

TEST(a_computer_without_a_gpu_is_reported)
{
	use_fake();
	fake->init = CUDA_ERROR_NO_DEVICE;
	load_says(fake_path, 12, "finds no GPU");
	use_fake();
	fake->devices = 0;
	load_says(fake_path, 12, "finds no GPU");
}

TEST(a_failed_start_of_the_driver_is_reported)
{
	use_fake();
	fake->init = CUDA_ERROR_SYSTEM_DRIVER_MISMATCH;
	load_says(fake_path, 12, "does not start: cuInit failed");
}

TEST(an_old_driver_is_refused_for_new_kernels)
{
	struct cuda_api api;

	use_fake();
	fake->version = 11040;
	load_says(fake_path, 13, "supports CUDA 11.4, but the kernels of this build need 13.0");
	CHECK(!gtu_cuda_load(&api, fake_path, 11, &err));
	CHECK_EQ(api.devices, 1);
	gtu_cuda_unload(&api);
}

static void open_says(const char *name, int code, const char *want)
{
	struct gtu_device *dev;

	FAILS(gtu_open(name, &dev, &err), code, want);
	CHECK(!fake || (!fake->contexts && !fake->pushed && !fake->live));
}

TEST(invalid_device_names_are_refused)
{
	use_fake();
	open_says("cuda:", GTU_ERR_USAGE, "use \"cuda:0\"");
	open_says("cuda:-1", GTU_ERR_USAGE, "use \"cuda:0\"");
	open_says("cuda:0x", GTU_ERR_USAGE, "use \"cuda:0\"");
	open_says("cuda:99999999999999999999", GTU_ERR_USAGE, "use \"cuda:0\"");
	open_says("cudax", GTU_ERR_USAGE, "no device \"cudax\"");
	open_says("cuda:1", GTU_ERR_USAGE, "this computer has 1 GPU");
	fake->compute_major = 7;
	open_says("cuda:0", GTU_ERR_UNSUPPORTED, "compute capability 7");
}

/* ---- Refusals ------------------------------------------------------------------------------------------ */

static struct gtu_device *open_fake(void)
{
	struct gtu_device *dev;

	use_fake();
	OK(gtu_open("cuda:0", &dev, &err));
	return dev;
}

/* Nothing of the driver is left. */
static void close_fake(struct gtu_device *dev)
{
	gtu_close(dev);
	CHECK(!fake->contexts && !fake->pushed && !fake->live);
}

static struct gtu_graph *small_graph(uint32_t weights, uint32_t edge_bytes)
{
	return generate((struct gtu_generate_options){ .kind = GTU_GEN_UNIFORM, .n = 300, .degree = 4,
						       .random_weights = weights, .edge_bytes = edge_bytes });
}

TEST(a_gpu_has_no_units_queues_or_regions)
{
	struct gtu_device *dev = open_fake();
	struct gtu_graph *g = small_graph(0, 4);
	struct gtu_algorithm_options opt = { .unit = GTU_WITH_SCU };
	struct gtu_queue *q;
	struct gtu_region region;
	uint64_t level[300];

	CHECK_EQ(gtu_queue_create(dev, NULL, &q, &err), GTU_ERR_UNSUPPORTED);
	CHECK_EQ(gtu_region_add(dev, level, sizeof(level), GTU_READ, &region, &err), GTU_ERR_UNSUPPORTED);
	CHECK_EQ(gtu_region_alloc(dev, 4096, &region, &err), GTU_ERR_UNSUPPORTED);
	CHECK_EQ(gtu_setting(dev, GTU_UNIT_ZCM, GTU_ZCM_S_ENABLE, 1, &err), GTU_ERR_UNSUPPORTED);
	FAILS(gtu_bfs(dev, g, &opt, level, NULL, &err), GTU_ERR_UNSUPPORTED, "cuda:0 does not have the SCU");
	CHECK(!gtu_get_fdt(dev, NULL));
	close_fake(dev);
}

TEST(unit_gpu_needs_a_gpu)
{
	struct gtu_graph *g = small_graph(0, 4);
	struct gtu_algorithm_options opt = { .unit = GTU_WITH_GPU };
	struct gtu_device *model = open_model("model");
	uint64_t level[300];

	CHECK_EQ(gtu_bfs(NULL, g, &opt, level, NULL, &err), GTU_ERR_USAGE);
	CHECK_EQ(gtu_bfs(model, g, &opt, level, NULL, &err), GTU_ERR_UNSUPPORTED);
	CHECK_EQ(gtu_placement_create(model, g, NULL, &err), GTU_ERR_UNSUPPORTED);
	CHECK(!gtu_get_placement(model) && !gtu_get_gpu_info(model));
	gtu_placement_destroy(model);
}

TEST(options_out_of_range_are_refused)
{
	struct gtu_device *dev = open_fake();
	struct gtu_graph *g = small_graph(0, 4);
	struct gtu_algorithm_options opt = { .unit = GTU_WITH_GPU, .kernel = GTU_KERNELS };
	struct gtu_placement_options place = { .edges = GTU_EDGES_KINDS };
	uint64_t level[300];

	CHECK_EQ(gtu_bfs(dev, g, &opt, level, NULL, &err), GTU_ERR_USAGE);
	opt.kernel = 0;
	opt.source = 300;
	CHECK_EQ(gtu_bfs(dev, g, &opt, level, NULL, &err), GTU_ERR_USAGE);
	opt.source = 0;
	opt.first_vertex = 5;
	opt.end_vertex = 301;
	CHECK_EQ(gtu_bfs(dev, g, &opt, level, NULL, &err), GTU_ERR_USAGE);
	CHECK_EQ(gtu_placement_create(dev, g, &place, &err), GTU_ERR_USAGE);
	place.edges = GTU_EDGES_PINNED;
	place.edge_bytes = 3;
	CHECK_EQ(gtu_placement_create(dev, g, &place, &err), GTU_ERR_USAGE);
	place.edges = GTU_EDGES_REGISTERED;
	place.edge_bytes = 8;
	CHECK_EQ(gtu_placement_create(dev, g, &place, &err), GTU_ERR_USAGE);
	close_fake(dev);
}

TEST(damaged_graphs_are_reported)
{
	struct gtu_device *dev = open_fake();
	struct gtu_graph *g = small_graph(7, 4), bad = *g;
	uint64_t *row = test_alloc(g->n + 1, 8);
	uint32_t *col = test_alloc(g->m, 4);
	float *weight = test_alloc(g->m, 4);
	double *distance = test_alloc(g->n, 8);
	struct gtu_algorithm_options opt = { .unit = GTU_WITH_GPU };

	memcpy(row, g->row, 8 * (g->n + 1));
	memcpy(col, g->col, 4 * g->m);
	for (uint64_t e = 0; e < g->m; e++)
		weight[e] = 1;
	bad.flags &= ~GTU_GRAPH_CHECKED;
	bad.row = row;
	bad.col = col;
	OK(gtu_placement_create(dev, &bad, NULL, &err));
	row[17] = g->m + 1;
	FAILS(gtu_placement_create(dev, &bad, NULL, &err), GTU_ERR_INPUT, "vertex 1");
	CHECK(!gtu_get_placement(dev));
	row[17] = g->row[17];
	col[5] = 300;
	CHECK_EQ(gtu_placement_create(dev, &bad, NULL, &err), GTU_ERR_INPUT);
	CHECKF(strstr(err.text, "entry 5") && strstr(err.text, "vertex 300"), "%s", err.text);
	col[5] = 3;
	bad.weight = weight;
	bad.weight_type = GTU_WEIGHT_F32;
	weight[9] = -1;
	/* only shortest paths use weights */
	OK(gtu_placement_create(dev, &bad, NULL, &err));
	FAILS(gtu_sssp(dev, &bad, &opt, distance, NULL, &err), GTU_ERR_INPUT, "the weight of edge 9 is -1");
	weight[9] = NAN;
	OK(gtu_placement_create(dev, &bad, NULL, &err));
	FAILS(gtu_sssp(dev, &bad, &opt, distance, NULL, &err), GTU_ERR_INPUT, "the weight of edge 9 is nan");
	close_fake(dev);
}

/* ---- Placement -------------------------------------------------------------------------------------------- */

static int plan_of(struct gpu_plan_input in, struct gtu_placement_options opt, struct gtu_placement *p)
{
	uint32_t bits;

	return gpu_plan(&in, &opt, p, &bits, &err);
}

#define GB (1ull << 30)

TEST(the_plan_depends_on_free_memory_rates_and_weights)
{
	/* 2^25 vertices, 2^30 edges: 4 GiB of edges, 8 GiB with separate weights */
	struct gpu_plan_input in = { .n = 1 << 25, .m = 1 << 30, .edge_bytes = 4, .weight_min = 1, .weight_max = 1,
				     .free_bytes = 80 * GB, .managed = true, .registered = true };
	struct gtu_placement_options any = { 0 }, eighth = { .gpu_memory = GB / 2 };
	struct gtu_placement p;
	uint32_t bits;

	CHECK(!plan_of(in, any, &p));
	CHECK_EQ(p.edges, GTU_EDGES_DEVICE);
	CHECK_EQ(p.list_bytes, 4 * GB);
	/* no kernel reads neighbours in a cache if the list is beside it */
	CHECK_EQ(p.cache_bytes, 0);
	CHECK_EQ(gpu_plan_probes(&in, &any), 0);
	CHECK_EQ(gpu_plan_probes(&in, &eighth), 4 * GB);
	in.managed_gbps = 48;
	in.pinned_gbps = 5.5;
	CHECK(!plan_of(in, eighth, &p));
	CHECK_EQ(p.edges, GTU_EDGES_MANAGED);
	CHECK_EQ(p.cache_bytes, GB / 2);
	CHECK(strstr(p.why, "48.0") && strstr(p.why, "5.5"));
	in.pinned_gbps = 47;
	CHECK(!plan_of(in, eighth, &p));
	CHECK_EQ(p.edges, GTU_EDGES_PINNED);
	in.pinned_gbps = 5.5;
	in.managed = false;
	CHECK(!plan_of(in, eighth, &p));
	CHECK_EQ(p.edges, GTU_EDGES_PINNED);
	in.managed = true;
	/* GPU memory almost filled by the vertices: managed memory must not exceed the free rest */
	in.free_bytes = 8 * (in.n + 1) + gpu_run_bytes(in.n, in.m) + GB / 2;
	in.m = 1ull << 32;
	in.free_bytes = 8 * (in.n + 1) + gpu_run_bytes(in.n, in.m) + GB / 2;
	CHECK(!plan_of(in, any, &p));
	CHECK_EQ(p.edges, GTU_EDGES_PINNED);
	CHECK(p.cache_bytes <= GB / 2);
	CHECK_EQ(plan_of(in, (struct gtu_placement_options){ .edges = GTU_EDGES_MANAGED }, &p), GTU_ERR_NOMEM);
	CHECK_EQ(plan_of(in, (struct gtu_placement_options){ .edges = GTU_EDGES_UVM }, &p), GTU_ERR_NOMEM);
	CHECK_EQ(plan_of(in, (struct gtu_placement_options){ .edges = GTU_EDGES_DEVICE }, &p), GTU_ERR_NOMEM);
	in.free_bytes = GB / 4;
	CHECK_EQ(plan_of(in, any, &p), GTU_ERR_NOMEM);
	in.n = 1ull << 32;
	in.free_bytes = 1000 * GB;
	CHECK_EQ(plan_of(in, any, &p), GTU_ERR_UNSUPPORTED);
	/* weights */
	in.n = 1 << 25;
	in.m = 1 << 30;
	in.weight_type = GTU_WEIGHT_U32;
	in.weight_min = 8;
	in.weight_max = 8 + 127;
	OK(gpu_plan(&in, &any, &p, &bits, &err));
	CHECK(p.packed && bits == 7 && p.list_bytes == 4 * GB && !p.weight_bytes);
	in.weight_max++;
	OK(gpu_plan(&in, &any, &p, &bits, &err));
	CHECK(!p.packed && !bits && p.list_bytes == 8 * GB && p.weight_bytes == 4);
	in.weight_max = 8;
	OK(gpu_plan(&in, &(struct gtu_placement_options){ .separate_weights = 1 }, &p, &bits, &err));
	CHECK(!p.packed && p.list_bytes == 8 * GB);
	OK(gpu_plan(&in, &(struct gtu_placement_options){ .edge_bytes = 8 }, &p, &bits, &err));
	CHECK(!p.packed && p.list_bytes == 12 * GB);
}

TEST(each_kind_of_memory_is_advised_or_registered)
{
	struct gtu_device *dev = open_fake();
	struct gtu_graph *g = small_graph(0, 4);
	struct gtu_placement_options place = { .edges = GTU_EDGES_MANAGED };
	struct gtu_backend_ops bus;

	OK(gtu_placement_create(dev, g, &place, &err));
	CHECK_EQ(fake->advised, 1u << CU_MEM_ADVISE_SET_PREFERRED_LOCATION | 1u << CU_MEM_ADVISE_SET_ACCESSED_BY);
	fake->advised = 0;
	place.edges = GTU_EDGES_UVM;
	OK(gtu_placement_create(dev, g, &place, &err));
	CHECK_EQ(fake->advised, 1u << CU_MEM_ADVISE_SET_READ_MOSTLY);
	place.edges = GTU_EDGES_REGISTERED;
	OK(gtu_placement_create(dev, g, &place, &err));
	CHECK_EQ(fake->register_flags, CU_MEMHOSTREGISTER_DEVICEMAP);
	/* a mapped container: read-only memory */
	fake->register_needs = CU_MEMHOSTREGISTER_READ_ONLY;
	OK(gtu_placement_create(dev, g, &place, &err));
	CHECK_EQ(fake->register_flags, CU_MEMHOSTREGISTER_DEVICEMAP | CU_MEMHOSTREGISTER_READ_ONLY);
	fake->register_needs = 0;
	/* a board's aperture: host memory of the model, or mapped from the bus */
	place.edges = GTU_EDGES_APERTURE;
	OK(gtu_open("model", &place.board, &err));
	OK(gtu_placement_create(dev, g, &place, &err));
	CHECK_EQ(fake->register_flags, CU_MEMHOSTREGISTER_DEVICEMAP);
	bus = *place.board->ops;
	bus.aperture_is_io = true;
	place.board->ops = &bus;
	OK(gtu_placement_create(dev, g, &place, &err));
	CHECK_EQ(fake->register_flags, CU_MEMHOSTREGISTER_DEVICEMAP | CU_MEMHOSTREGISTER_IOMEMORY);
	/* such memory is registered once, as what it is */
	fake->register_needs = CU_MEMHOSTREGISTER_READ_ONLY;
	FAILS(gtu_placement_create(dev, g, &place, &err), GTU_ERR_FAIL, "of a board's aperture");
	fake->register_needs = 0;
	gtu_close(dev);
	gtu_close(place.board);
	place.board = NULL;
	CHECK(!fake->live);
	use_fake();
	fake->managed = 0;
	OK(gtu_open("cuda:0", &dev, &err));
	place.edges = GTU_EDGES_MANAGED;
	CHECK_EQ(gtu_placement_create(dev, g, &place, &err), GTU_ERR_UNSUPPORTED);
	close_fake(dev);
}

/* ---- Fault injection: each call fails once --------------------------------------------------------------- */

struct job {
	uint32_t edges, kernel, memory, weights, compressed;
};

#define PROBED 1u			/* one byte of GPU memory cannot hold the list, so a probe decides */

/* A whole run: open, place, four algorithms. */
static int whole_run(const struct job *j, const struct gtu_graph *g, void *result, struct gtu_error *err)
{
	struct gtu_placement_options place = { .edges = j->edges, .gpu_memory = j->memory, .compressed = j->compressed };
	struct gtu_algorithm_options opt = { .unit = GTU_WITH_GPU, .kernel = j->kernel, .iterations = 2 };
	struct gtu_device *dev;
	int rc = gtu_open("cuda:0", &dev, err);

	if (rc)
		return rc;
	if (j->edges == GTU_EDGES_APERTURE)
		CHECK_EQ(gtu_open("model", &place.board, err), 0);
	rc = gtu_placement_create(dev, g, &place, err);
	if (!rc)
		rc = gtu_bfs(dev, g, &opt, result, NULL, err);
	if (!rc)
		rc = gtu_sssp(dev, g, &opt, result, NULL, err);
	if (!rc)
		rc = gtu_components(dev, g, &opt, result, NULL, err);
	if (!rc)
		rc = gtu_pagerank(dev, g, &opt, result, NULL, err);
	gtu_close(dev);
	gtu_close(place.board);
	return rc;
}

static void fail_each(const struct job *j, CUresult failure, int code)
{
	struct gtu_graph *g = small_graph(j->weights, 4);
	uint64_t *result = test_alloc(g->n, 8);
	long calls, i;
	int rc;

	use_fake();
	OK(whole_run(j, g, result, &err));
	CHECK(fake->launches > 3);
	calls = fake->calls;
	CHECK(calls > 40);
	for (i = 1; i <= calls; i++) {
		use_fake();
		fake->fail_at = i;
		fake->failure = failure;
		err.text[0] = 0;
		rc = whole_run(j, g, result, &err);
		/* the kind that the probe found faster took fewer calls this time */
		if (!fake->failed && j->memory == PROBED && i > calls - 10) {
			CHECK(!rc);
			continue;
		}
		CHECKF(fake->failed, "call %ld was not reached", i);
		/*
		 * registration is tried twice; a failed context push leaves the release to the end
		 * of the context
		 */
		if (!rc && !strncmp(fake->failed, "cuCtxPush", 9)) {
			CHECK(i > calls - 20 && !fake->contexts && !fake->pushed);
			continue;
		}
		if (rc || strcmp(fake->failed, "cuMemHostRegister_v2")) {
			CHECKF(rc == code, "call %ld, %s: %d, %s", i, fake->failed, rc, err.text);
			CHECKF(strstr(err.text, " failed: ") && !strncmp(strstr(err.text, "cu"), fake->failed, 8),
			       "call %ld, %s: %s", i, fake->failed, err.text);
		}
		CHECKF(!fake->live && !fake->contexts && !fake->pushed,
		       "call %ld, %s: %ld pieces of memory, %ld contexts, %ld entered are left", i, fake->failed,
		       fake->live, fake->contexts, fake->pushed);
	}
}

TEST(every_failed_call_with_managed_edges_is_reported)
{
	fail_each(&(struct job){ GTU_EDGES_MANAGED, GTU_KERNEL_AUTO, 3000, 9, 0 }, 719, GTU_ERR_FAIL);
}
TEST(every_failed_call_with_pinned_edges_is_reported)
{
	fail_each(&(struct job){ GTU_EDGES_PINNED, GTU_KERNEL_ALIGNED, 0, 0x7fffffff, 0 }, CUDA_ERROR_OUT_OF_MEMORY,
		  GTU_ERR_NOMEM);
}
TEST(every_failed_call_with_registered_edges_is_reported)
{
	fail_each(&(struct job){ GTU_EDGES_REGISTERED, GTU_KERNEL_NAIVE, 0, 9, 0 }, 700, GTU_ERR_FAIL);
}
TEST(every_failed_call_with_aperture_edges_is_reported)
{
	fail_each(&(struct job){ GTU_EDGES_APERTURE, GTU_KERNEL_ALIGNED, 0, 9, 0 }, 700, GTU_ERR_FAIL);
}
TEST(every_failed_call_with_device_edges_is_reported)
{
	fail_each(&(struct job){ GTU_EDGES_AUTO, GTU_KERNEL_MERGED, 0, 0, 0 }, 700, GTU_ERR_FAIL);
}
TEST(every_failed_call_with_compressed_edges_is_reported)
{
	fail_each(&(struct job){ GTU_EDGES_MANAGED, GTU_KERNEL_AUTO, 3000, 9, 1 }, 700, GTU_ERR_FAIL);
	fail_each(&(struct job){ GTU_EDGES_PINNED, GTU_KERNEL_AUTO, 0, 0x7fffffff, 1 }, CUDA_ERROR_OUT_OF_MEMORY, GTU_ERR_NOMEM);
	fail_each(&(struct job){ GTU_EDGES_DEVICE, GTU_KERNEL_AUTO, 0, 0, 1 }, 719, GTU_ERR_FAIL);
}
/* including the probe */
TEST(every_failed_call_with_chosen_memory_is_reported)
{
	fail_each(&(struct job){ GTU_EDGES_AUTO, GTU_KERNEL_AUTO, PROBED, 0, 0 }, 999, GTU_ERR_FAIL);
}

static int widen_sum(void *arg, uint64_t first, uint64_t end)
{
	uint64_t *to = arg;
	const uint32_t *from = (const uint32_t *)to + 1000001;

	for (uint64_t v = first; v < end; v++)
		to[v] = from[v] + (1ull << 33);
	return 0;
}

/* Results of 4 bytes in the upper half of their array, widened by several threads. */
TEST(widening_in_place_keeps_every_result)
{
	const uint64_t n = 1000001;
	uint64_t *to = test_alloc(n, 8);

	for (uint64_t v = 0; v < n; v++)
		((uint32_t *)to + n)[v] = (uint32_t)(v * 2654435761u);
	OK(gpu_widen(widen_sum, to, n));
	for (uint64_t v = 0; v < n; v++)
		CHECK(to[v] == (uint32_t)(v * 2654435761u) + (1ull << 33));
}

/* Without pinned memory for its packed copy of the list, PageRank reads the plain list. */
TEST(pagerank_runs_without_its_packed_copy)
{
	struct gtu_placement_options place = { .edges = GTU_EDGES_PINNED };
	struct gtu_algorithm_options opt = { .unit = GTU_WITH_GPU, .iterations = 2 };
	struct gtu_graph *g = small_graph(0, 4);
	double *rank = test_alloc(g->n, 8);
	unsigned copies = 0;
	bool more = true;

	for (long i = 1; more; i++) {
		struct gtu_device *dev = open_fake();
		int rc;

		OK(gtu_placement_create(dev, g, &place, &err));
		fake->fail_at = fake->calls + i;
		fake->failure = CUDA_ERROR_OUT_OF_MEMORY;
		rc = gtu_pagerank(dev, g, &opt, rank, NULL, &err);
		fake->fail_at = 0;
		more = fake->failed;
		if (more && !strcmp(fake->failed, "cuMemHostAlloc")) {
			copies++;
			OK(rc);
		}
		close_fake(dev);
	}
	CHECK_EQ(copies, 1);
}

TEST_MAIN
