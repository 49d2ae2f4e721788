// SPDX-License-Identifier: MIT
/*
 * Memory behind a device's aperture: regions in it, and a GPU that reads an edge list there (EMOGI,
 * figure 2). On a GPU with GTU_TEST_GPU=1, otherwise with the kernels as CPU code; the board is
 * GTU_TEST_BOARD, otherwise the model, whose aperture is host memory.
 */
#include <unistd.h>

#include "gtu/gpu.h"
#include "libruntime/backend/cuda/api.h"
#include "libruntime/device/backend.h"
#include "tests/fake/built.h"
#include "tests/unit/runtime/subjects.h"

static struct gtu_device *board;

static void open_board(void)
{
	const char *name = getenv("GTU_TEST_BOARD");

	if (!board)
		OK(gtu_open(name ? name : "model:aperture_bytes=1048576", &board, &err));
}

static void open_gpu(void)
{
	if (dev)
		return;
	if (!getenv("GTU_TEST_GPU"))
		setenv("GTU_CUDA_LIBRARY", simulated_gpu(), 1);
	if (!gtu_cuda_kernels_bytes)
		SKIP("the library was built without nvcc");
	if (getenv("GTU_TEST_GPU") && gtu_gpu_count(&err) < 0)
		SKIP("%s", err.text);
	CHECKF(gtu_gpu_count(&err) >= 0, "%s", err.text);
	OK(gtu_open("cuda:0", &dev, &err));
}

TEST(aperture_regions_are_pages_of_their_own)
{
	struct gtu_region a, b, c, whole;
	uint64_t page = 4096;

	open_board();
	if (!board->info.aperture_bytes)
		SKIP("the board has no aperture");
	OK(gtu_region_alloc_aperture(board, 100, &a, &err));
	OK(gtu_region_alloc_aperture(board, page + 1, &b, &err));
	OK(gtu_region_alloc_aperture(board, 1, &c, &err));
	CHECK(!((uintptr_t)a.addr % page) && !((uintptr_t)b.addr % page) && !((uintptr_t)c.addr % page));
	memset(b.addr, 0xff, page + 1);
	CHECK_EQ(*(uint8_t *)a.addr, 0);
	CHECK_EQ(*(uint8_t *)c.addr, 0);
	CHECK_EQ(b.io_memory, board->ops->aperture_is_io);
	OK(gtu_region_remove(board, &b, &err));
	/* freed memory is given out again, and zeroed */
	OK(gtu_region_alloc_aperture(board, page + 1, &b, &err));
	CHECK_EQ(*(uint8_t *)b.addr, 0);
	CHECK_EQ(((uint8_t *)b.addr)[page], 0);
	FAILS(gtu_region_alloc_aperture(board, board->info.aperture_bytes, &whole, &err), GTU_ERR_NOMEM, "no contiguous range");
	FAILS(gtu_region_alloc_aperture(board, 2 * board->info.aperture_bytes, &whole, &err), GTU_ERR_NOMEM, "no contiguous range");
	FAILS(gtu_region_alloc_aperture(board, 0, &whole, &err), GTU_ERR_USAGE, "0 bytes");
	OK(gtu_region_remove(board, &a, &err));
	OK(gtu_region_remove(board, &b, &err));
	OK(gtu_region_remove(board, &c, &err));
}

TEST(the_device_reads_and_writes_its_aperture)
{
	struct gtu_region a, host;
	struct gtu_completion done;
	struct gtu_array from, to;
	struct gtu_queue *q;
	uint32_t i;

	open_board();
	OK(gtu_queue_create(board, NULL, &q, &err));
	OK(gtu_region_alloc_aperture(board, 8192, &a, &err));
	OK(gtu_region_alloc(board, 8192, &host, &err));
	for (i = 0; i < 1024; i++)
		((uint32_t *)host.addr)[i] = 7 * i;
	from = gtu_array(&host, 0, 1024, 4);
	to = gtu_array(&a, 0, 1024, 4);
	OK(gtu_copy(q, &from, &to, &done, &err));
	for (i = 0; i < 1024; i++)
		CHECK_EQ(((uint32_t *)a.addr)[i], 7 * i);
	((uint32_t *)a.addr)[5] = 1234;
	OK(gtu_copy(q, &to, &from, &done, &err));
	CHECK_EQ(((uint32_t *)host.addr)[5], 1234);
	OK(gtu_region_remove(board, &host, &err));
	OK(gtu_region_remove(board, &a, &err));
	gtu_queue_destroy(q);
}

/* The largest power of two that the aperture can hold now. */
static uint64_t largest_free(void)
{
	struct gtu_region r;
	uint64_t bytes;

	for (bytes = board->info.aperture_bytes; bytes; bytes /= 2) {
		if (gtu_region_alloc_aperture(board, bytes, &r, &err))
			continue;
		OK(gtu_region_remove(board, &r, &err));
		break;
	}
	return bytes;
}

TEST(the_kernels_of_a_gpu_read_a_list_in_the_aperture)
{
	struct gtu_graph *g = generate((struct gtu_generate_options){
		.kind = GTU_GEN_KRONECKER, .scale = 7, .degree = 8, .seed = 3, .random_weights = 9 });
	struct gtu_placement_options place[] = {
		{ .edges = GTU_EDGES_APERTURE }, { .edges = GTU_EDGES_APERTURE, .edge_bytes = 8 },
		{ .edges = GTU_EDGES_APERTURE, .separate_weights = 1 },
		{ .edges = GTU_EDGES_APERTURE, .gpu_memory = 600 }, { .edges = GTU_EDGES_APERTURE, .compressed = 1 },
	};
	uint64_t *hops = test_alloc(g->n, 8), *got = test_alloc(g->n, 8), before;
	double *distance = test_alloc(g->n, 8);
	struct gtu_algorithm_stats stats;

	open_board();
	open_gpu();
	CHECK(!reference_bfs(g, 1, hops) && !reference_sssp(g, 1, distance));
	before = largest_free();
	for (unsigned p = 0; p < sizeof(place) / sizeof(place[0]); p++) {
		place[p].board = board;
		OK(gtu_placement_create(dev, g, &place[p], &err));
		CHECK_EQ(gtu_get_placement(dev)->edges, GTU_EDGES_APERTURE);
		CHECK(largest_free() < before);
		for (uint32_t k = 0; k < (place[p].compressed ? 1 : GTU_KERNELS); k++) {
			struct gtu_algorithm_options opt = { .unit = GTU_WITH_GPU, .kernel = k, .source = 1 };

			RUNS("bfs", &opt, gtu_bfs(dev, g, &opt, got, &stats, &err));
			same_integers(got, hops, g->n, "bfs");
			CHECK(stats.list_bytes > 0);
			RUNS("sssp", &opt, gtu_sssp(dev, g, &opt, (double *)got, &stats, &err));
			same_reals((double *)got, distance, g->n, 0, "sssp");
		}
		gtu_placement_destroy(dev);
		CHECK_EQ(largest_free(), before);
	}
}

TEST(a_list_that_the_aperture_cannot_take_is_refused)
{
	struct gtu_graph *g = generate((struct gtu_generate_options){ .kind = GTU_GEN_UNIFORM, .n = 1 << 12, .degree = 64, .seed = 1 });
	struct gtu_placement_options place = { .edges = GTU_EDGES_APERTURE };
	struct gtu_device *small;

	open_gpu();
	FAILS(gtu_placement_create(dev, g, &place, &err), GTU_ERR_USAGE, "need a board");
	OK(gtu_open("model:aperture_bytes=65536", &small, &err));
	place.board = small;
	FAILS(gtu_placement_create(dev, g, &place, &err), GTU_ERR_NOMEM, "aperture of 65536 bytes");
	place.edges = GTU_EDGES_PINNED;
	FAILS(gtu_placement_create(dev, g, &place, &err), GTU_ERR_USAGE, "take no board");
	place = (struct gtu_placement_options){ .edges = GTU_EDGES_APERTURE, .board = dev };
	FAILS(gtu_placement_create(dev, g, &place, &err), GTU_ERR_UNSUPPORTED, "regions");
	gtu_close(small);
}

TEST_MAIN
