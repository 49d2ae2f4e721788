// SPDX-License-Identifier: MIT
/*
 * The GPU kernels as CPU code over lists in registered memory: the pages of the list that a run reads, in
 * order, by page faults, and registrations that are refused as a whole.
 */
#include <dlfcn.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "gtu/gpu.h"
#include "gpu_algorithms.h"
#include "tests/fake/fake_cuda.h"

static struct fake_cuda *fake, fresh;
static const unsigned *block;		/* the simulated GPU's blockIdx.x */

static void use_fake(void)
{
	const char *root = getenv("GTU_ROOT");
	char path[512];
	void *library;

	if (!fake) {
		snprintf(path, sizeof(path), "%s/build/tests/fake/libcuda-cpu.so.1", root ? root : ".");
		if (access(path, F_OK))
			SKIP("%s was not built: there is no C++ compiler", path);
		setenv("GTU_CUDA_LIBRARY", path, 1);
		if (gtu_gpu_count(&err) < 0)
			SKIP("%s", err.text);
		library = dlopen(path, RTLD_NOW);
		CHECKF(library, "%s", dlerror());
		fake = dlsym(library, "fake_cuda");
		block = dlsym(library, "blockIdx");
		CHECK(fake && block);
		fresh = *fake;
	}
	*fake = fresh;
}

/* ---- The order of reads ------------------------------------------------------------------------------ */

#define PAGE	4096u
#define BLOCKS	8			/* most that the simulated GPU is given */

static char *watched;			/* the list; one page of it at a time is accessible */
static uint64_t watched_pages, open_page, window, furthest[BLOCKS];
static unsigned restarts, faults;	/* restarts: reads of a block further back than @window pages */

static void see_fault(int number, siginfo_t *info, void *context)
{
	const uint64_t page = (uint64_t)((char *)info->si_addr - watched) / PAGE;

	(void)number;
	(void)context;
	if ((char *)info->si_addr < watched || page >= watched_pages || *block >= BLOCKS)
		_exit(99);
	faults++;
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
 * drifted apart when they filled the queue: less than one read of a page in 10. In the order in which
 * vertices were reached it is one in 6.
 */
TEST(steps_read_in_windows)
{
	struct gtu_graph *g = generate((struct gtu_generate_options){ .kind = GTU_GEN_UNIFORM, .n = 1 << 15, .degree = 8, .seed = 5 });
	struct gtu_placement_options place = { .edges = GTU_EDGES_REGISTERED };
	struct sigaction act = { .sa_sigaction = see_fault, .sa_flags = SA_SIGINFO | SA_NODEFER }, old;
	const uint64_t bytes = (g->m * g->edge_bytes + PAGE - 1) & ~(PAGE - 1ull);
	uint64_t *got = test_alloc(g->n, 8 * TEST_FEATURES), *want = test_alloc(g->n, 8 * TEST_FEATURES);
	struct gtu_algorithm_stats stats;
	struct gtu_graph far = *g;

	use_fake();
	watched = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(watched != MAP_FAILED);
	memcpy(watched, g->col, g->m * g->edge_bytes);
	far.col = watched;
	far.flags |= GTU_GRAPH_CHECKED;
	watched_pages = bytes / PAGE;
	window = watched_pages / 4;
	OK(gpu_algorithm_run(&gpu_algorithms[0], NULL, g, GTU_WITH_NONE, 0, 0, want, NULL));
	OK(gtu_open("cuda:0", &dev, &err));
	OK(gtu_placement_create(dev, &far, &place, &err));
	CHECK(!mprotect(watched, bytes, PROT_NONE));
	CHECK(!sigaction(SIGSEGV, &act, &old));
	OK(gpu_algorithm_run(&gpu_algorithms[0], dev, &far, GTU_WITH_GPU, GTU_KERNEL_AUTO, 0, got, &stats));
	CHECK(!sigaction(SIGSEGV, &old, NULL));
	CHECK(!mprotect(watched, bytes, PROT_READ | PROT_WRITE));
	gpu_algorithm_check(&gpu_algorithms[0], g, got, want, "in windows");
	gtu_close(dev);
	dev = NULL;
	munmap(watched, bytes);
	CHECKF(faults > watched_pages && restarts < faults / 10, "%u of %u reads of a page go back more than %" PRIu64 " of %" PRIu64
	       " pages in %u steps", restarts, faults, window, watched_pages, (unsigned)stats.iterations);
}

/* ---- Registration in parts ------------------------------------------------------------------------------ */

#define MANY	((1ull << 32) + 40)	/* entries before the graph's own */

TEST(registered_in_parts)
{
	struct gtu_placement_options place = { .edges = GTU_EDGES_REGISTERED };
	struct gtu_graph *g = generate((struct gtu_generate_options){ .kind = GTU_GEN_KRONECKER, .scale = 6, .degree = 4, .seed = 3 });
	const uint64_t bytes = (MANY + g->m) * g->edge_bytes;
	uint64_t *got = test_alloc(g->n, 8 * TEST_FEATURES), *want = test_alloc(g->n, 8 * TEST_FEATURES);
	struct gtu_graph far = *g;
	uint64_t *row = test_alloc(g->n + 1, 8);
	char *col = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	long live;

	use_fake();
	CHECK(col != MAP_FAILED);
	memcpy(col + MANY * g->edge_bytes, g->col, g->m * g->edge_bytes);
	for (uint64_t v = 0; v <= g->n; v++)
		row[v] = MANY + g->row[v];
	far.row = row;
	far.col = col;
	far.m += MANY;
	far.flags |= GTU_GRAPH_CHECKED;
	OK(gpu_algorithm_run(&gpu_algorithms[0], NULL, g, GTU_WITH_NONE, 0, 0, want, NULL));
	OK(gtu_open("cuda:0", &dev, &err));
	live = fake->live;
	fake->refuse_above = 5ull << 30;
	fake->refusals = 1;
	OK(gtu_placement_create(dev, &far, &place, &err));
	CHECK_EQ(gtu_get_placement(dev)->edges, GTU_EDGES_REGISTERED);
	/* the rows, and parts of at most 4 GiB of more than 16 GiB */
	CHECKF(fake->live - live >= 1 + 5, "%ld", fake->live - live);
	OK(gpu_algorithm_run(&gpu_algorithms[0], dev, &far, GTU_WITH_GPU, GTU_KERNEL_AUTO, 0, got, NULL));
	gpu_algorithm_check(&gpu_algorithms[0], g, got, want, "registered in parts");
	gtu_placement_destroy(dev);
	CHECK_EQ(fake->live, live);
	/* a part is refused, too: nothing stays registered */
	fake->refuse_above = 1ull << 30;
	fake->refusals = 2;
	FAILS(gtu_placement_create(dev, &far, &place, &err), GTU_ERR_NOMEM, "cuMemHostRegister of ");
	CHECK_EQ(fake->live, live);
	gtu_close(dev);
	dev = NULL;
	munmap(col, bytes);
}

TEST_MAIN
