// SPDX-License-Identifier: MIT
/* gtu bench gpu --ranks, with the GPU's kernels as CPU code: the fewest iterations that are as accurate as another program. */
#include <math.h>

#include "gtu/gpu.h"
#include "tests/fake/built.h"
#include "tests/fake/cpu_kernels.h"
#include "tests/unit/library.h"
#include "tools/bench/bench_gpu_ranks.h"
#include "tools/reference/reference.h"

static struct gtu_device *dev;	/* kept open, with the memory of the simulated GPU's threads */

/* Ranks of a program whose power iterations stop after @iterations; their sum need not be 1. */
static void write_ranks(const struct gtu_graph *g, uint64_t iterations, const char *path)
{
	double *rank = test_alloc(g->n, 8), change;
	FILE *f = fopen(path, "wb");

	CHECK(f && !reference_pagerank(g, 0.85, iterations, rank, &change));
	for (uint64_t v = 0; v < g->n; v++) {
		const float scaled = (float)(2 * rank[v]);

		CHECK(fwrite(&scaled, 4, 1, f) == 1);
	}
	CHECK(!fclose(f));
}

TEST(the_fewest_iterations_that_match_are_found)
{
	static const uint64_t theirs[] = { 0, 5, 14 };
	struct gtu_graph *g = generate((struct gtu_generate_options){ .kind = GTU_GEN_KRONECKER, .scale = 8, .seed = 5 });
	const struct gtu_placement_options place = { .edges = GTU_EDGES_PINNED };
	struct bench_ranks r[LENGTH(theirs)];
	char path[LENGTH(theirs)][512];
	double *want = test_alloc(g->n, 8), *rank = test_alloc(g->n, 8), change;

	setenv("GTU_CUDA_LIBRARY", simulated_gpu(), 1);
	CHECKF(gtu_gpu_count(&err) >= 0, "%s", err.text);
	OK(gtu_open("cuda:0", &dev, &err));
	OK(gtu_placement_create(dev, g, &place, &err));
	CHECK(!reference_pagerank(g, 0.85, 260, want, &change));
	for (unsigned i = 0; i < LENGTH(theirs); i++) {
		snprintf(path[i], sizeof(path[i]), "%s/%u", test_tmpdir(), i);
		write_ranks(g, theirs[i], path[i]);
		r[i] = (struct bench_ranks){ .name = "other", .path = path[i] };
	}
	OK(bench_ranks_run(dev, g, r, LENGTH(theirs), &err));
	for (unsigned i = 0; i < LENGTH(theirs); i++) {
		double sum = 0;

		CHECK(!reference_pagerank(g, 0.85, theirs[i], rank, &change));
		for (uint64_t v = 0; v < g->n; v++)
			sum += fabs(rank[v] - want[v]);
		CHECKF(fabs(sum - r[i].error) < 1e-6 * (1 + sum), "error %g, not %g", r[i].error, sum);
		CHECKF(r[i].iterations && r[i].own_error <= r[i].error, "%u iterations, %g > %g", r[i].iterations, r[i].own_error,
		       r[i].error);
		CHECKF(theirs[i] ? r[i].iterations < theirs[i] : r[i].iterations == 1, "%u iterations, theirs %" PRIu64, r[i].iterations,
		       theirs[i]);
		CHECK(!i || r[i].iterations >= r[i - 1].iterations);
	}
	/* a file that has no ranks */
	r[0].path = "/dev/null";
	CHECK(bench_ranks_run(dev, g, r, 1, &err) == GTU_ERR_INPUT);
	gtu_placement_destroy(dev);
}

TEST_MAIN
