// SPDX-License-Identifier: MIT
/* gtu run pr --epsilon --verify, for a GPU that need not take power iterations: right ranks pass and wrong ones do not. */
#include <math.h>

#include "gtu/gpu.h"
#include "tests/unit/library.h"
#include "tools/reference/reference.h"
#include "tools/run/run.h"

static double *want;

static struct run converged(double epsilon)
{
	struct gtu_graph *g = generate((struct gtu_generate_options){ .kind = GTU_GEN_KRONECKER, .scale = 8, .seed = 5 });
	struct run r = { .kind = run_kind("pr"), .unit = "gpu", .graph = *g, .stats.iterations = 9,
			 .opt = { .unit = GTU_WITH_GPU, .epsilon = epsilon } };
	double change;

	want = test_alloc(g->n, 8);
	r.real = test_alloc(g->n, 8);
	CHECK(!reference_pagerank(g, 0.85, 260, want, &change));
	memcpy(r.real, want, g->n * 8);
	return r;
}

static void check(struct run *r, bool right, const char *why)
{
	const int rc = run_verify(r, &err);

	CHECKF(right ? !rc && r->verdict == RUN_EQUAL : rc == GTU_ERR_VERIFY && r->verdict == RUN_DIFFERENT, "%d: %s", rc, err.text);
	CHECKF(right || strstr(err.text, why), "%s", err.text);
}

/* Ranks before and after a power iteration that changes none by more than epsilon. */
TEST(converged_ranks_are_accepted)
{
	struct run r = converged(1e-7);
	const uint64_t n = r.graph.n;
	double change;

	check(&r, true, NULL);
	for (uint64_t v = 0; v < n; v++)
		r.real[v] = want[v] + (v % 2 ? 2e-8 : -2e-8);
	CHECK(!reference_pagerank_from(&r.graph, 0.85, 1, r.real, &change) && change <= 1e-7);
	check(&r, true, NULL);
}

TEST(wrong_ranks_are_refused)
{
	struct run r = converged(1e-7);
	const uint64_t n = r.graph.n, hub = busiest(&r.graph);
	double change;

	/* one rank */
	r.real[hub] += 1e-5;
	check(&r, false, "has not converged");
	r.real[hub] = NAN;
	check(&r, false, "has not converged");
	/* ranks that still change */
	CHECK(!reference_pagerank(&r.graph, 0.85, 4, r.real, &change));
	check(&r, false, "has not converged");
	/* another damping factor */
	CHECK(!reference_pagerank(&r.graph, 0.84, 260, r.real, &change));
	check(&r, false, "has not converged");
	/* an epsilon that permits any change */
	r.opt.epsilon = 1;
	for (uint64_t v = 0; v < n; v++)
		r.real[v] = want[v] * 0.99;
	check(&r, false, "sum");
}

TEST(power_iterations_are_compared_value_by_value)
{
	struct run r = converged(1e-7);
	double change;

	r.opt.kernel = GTU_KERNEL_ALIGNED;
	check(&r, false, "values differ");
	r.opt.kernel = GTU_KERNEL_AUTO;
	r.opt.iterations = 9;
	check(&r, false, "values differ");
	CHECK(!reference_pagerank(&r.graph, 0.85, 9, r.real, &change));
	check(&r, true, NULL);
}

TEST_MAIN
