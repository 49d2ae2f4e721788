// SPDX-License-Identifier: MIT
/*
 * GPUs as ranks, "cuda:0,1", on fake devices: how they exchange data, what is refused, and calls of the driver and of NCCL that
 * fail. Results are in test_gpu_ranks.c.
 */
#include "cards_bed.h"

static struct gtu_graph *dense, *chain, *apart, *lengths;	/* of small_graph(): have few levels and rounds */

#define ALGORITHMS 11u		/* of run_one(), */
#define LOOPS	9u		/* and those from this on run loops over all cards */

/* Algorithm @i over @d, with one iteration or source. @values: 8 bytes for each vertex of @g. */
static int run_one(unsigned i, struct gtu_device *d, uint32_t unit, const struct gtu_graph *g, void *values)
{
	struct gtu_algorithm_options opt = { .unit = unit, .iterations = 1 }, some = opt, ends = opt;

	some.sources = (uint64_t[]){ 0 };
	some.source_count = 1;
	ends.target = dense->n - 1;
	ends.features = 1;
	return i == 0 ? gtu_bfs(d, g, &opt, values, NULL, &err) :
	       i == 1 ? gtu_pagerank(d, g, &opt, values, NULL, &err) :
	       i == 2 ? gtu_cores(d, dense, &opt, values, NULL, &err) :
	       i == 3 ? gtu_betweenness(d, dense, &some, values, NULL, &err) :
	       i == 4 ? gtu_label_propagation(d, dense, &opt, values, NULL, &err) :
	       i == 5 ? gtu_coloring(d, chain, &opt, values, NULL, &err) :
	       i == 6 ? gtu_gcn(d, dense, &ends, values, NULL, &err) :
	       i == 7 ? gtu_stcon(d, dense, &ends, values, NULL, &err) :
	       i == 8 ? gtu_components(d, apart, &opt, values, NULL, &err) :
	       i == 9 ? gtu_sssp(d, lengths, &opt, values, NULL, &err) :
			gtu_bfs(d, lengths, &opt, values, NULL, &err);
}

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

TEST(results_by_copies_between_cards_match_the_reference)
{
	open_fakes();
	by = GTU_EXCHANGE_COPIES;
	open_list(lists[2]);
	tiny_graphs(run_all);
	each_graph(one_shape(200, 1500), run_all);
	close_list("copies between the cards");
}

TEST(ranks_without_nccl_and_peers_use_host_memory)
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
TEST(ranks_exchange_by_the_chosen_way)
{
	static const char *const name[] = { "loads from the other cards", "NCCL 2.28.9", "copies between the cards", "loads from the other cards",
					    "host memory" };
	struct gtu_graph *g;
	uint64_t *value;

	open_fakes();
	g = small_graph(&value);
	for (unsigned i = 0; i < 3; i += NEXT_LIST) {
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

TEST(impossible_exchanges_are_refused)
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

TEST(an_old_version_of_nccl_is_not_used)
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

TEST(two_ranks_on_one_card_exchange_by_copies)
{
	open_fakes();
	by = GTU_EXCHANGE_AUTO;
	open_list("cuda:0,0,0");
	each_graph(one_shape(200, 1500), run_all);
	close_list("copies between the cards, without NCCL: ranks 0 and 1 share one card, which NCCL does not support");
}

/* ---- Failures ---------------------------------------------------------------------------------------- */

/* The results of all algorithms, by the plain path. */
static void *results[ALGORITHMS];

static const struct gtu_graph *with_results(void)
{
	uint64_t *unused;
	const struct gtu_graph *g = small_graph(&unused);

	for (unsigned i = 0; i < ALGORITHMS; i++) {
		results[i] = test_alloc(g->n, 8);
		OK(run_one(i, NULL, GTU_WITH_NONE, g, results[i]));
	}
	return g;
}

/* Whether runs of @algorithms, a bit for each, succeed over a new list, with the right results. A failure has a sentence. */
static bool attempt(const struct gtu_graph *g, unsigned algorithms)
{
	void *mark = test_mark(), *got = test_alloc(g->n, 8);
	int rc = gtu_open("cuda:0,1,2", &over, &err);
	char name[32];

	for (unsigned i = 0; i < ALGORITHMS && !rc; i++) {
		if (!(algorithms >> i & 1))
			continue;
		memset(got, 0, 8 * g->n);
		rc = run_one(i, over, GTU_WITH_GPU, g, got);
		snprintf(name, sizeof(name), "algorithm %u", i);
		if (!rc && (i == 1 || i == 3 || i == 6 || i == 9))
			same_reals(got, results[i], g->n, 1e-9, name);
		else if (!rc)
			same_integers(got, results[i], g->n, name);
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
	test_end(mark);
	return !rc;
}

TEST(failed_nccl_calls_give_an_error_or_the_result)
{
	const struct gtu_graph *g;
	const char *before = NULL;
	unsigned calls = 0;
	bool done;

	open_fakes();
	g = with_results();
	cuda->no_peers = 1;
	/* of each algorithm: a failure does not wait for what was right before */
	for (unsigned i = 0; i < LOOPS; i++) {
		done = false;
		for (long at = 1; !done; at++, calls++) {
			nccl->calls = 0;
			nccl->fail_at = at;
			nccl->failed = NULL;
			done = attempt(g, 1u << i) && !nccl->failed;
			/* a library that does not tell its version is not used */
			CHECKF(done || nccl->failed, "call %ld", at);
			nccl->fail_at = 0;
			if (done || (before && !strcmp(before, nccl->failed)))
				continue;
			before = nccl->failed;
			CHECK(attempt(g, 1));
		}
	}
	cuda->no_peers = 0;
	CHECKF(calls >= 300, "only %u calls", calls);
}

TEST(failed_driver_calls_give_an_error_or_the_result)
{
	const struct gtu_graph *g;

	open_fakes();
	g = with_results();
	cuda->peer_loads = 1;
	cuda->failure = 999;
	for (unsigned i = 0; i < ALGORITHMS; i++) {
		unsigned failed = 0;
		bool done = false;

		for (long at = 1; !done; at += i < LOOPS ? 1 + at / 16 : 1) {
			cuda->calls = 0;
			cuda->fail_at = at;
			cuda->failed = NULL;
			done = attempt(g, 1u << i) && !cuda->failed;
			failed += cuda->failed != NULL;
			cuda->fail_at = 0;
		}
		CHECKF(failed >= 40, "algorithm %u: only %u calls failed", i, failed);
	}
	CHECK(attempt(g, ~0u));
}

TEST(invalid_lists_and_options_are_refused)
{
	struct gtu_algorithm_options opt = { .unit = GTU_WITH_NONE };
	const struct edges paths = ladder(530);
	struct gtu_graph *g, *bad, *many;
	uint64_t *value;
	uint32_t rank, size;
	char edge[64];

	open_fakes();
	g = small_graph(&value);
	many = from_edges(paths.n, paths.m, paths.src, paths.dst, GTU_UNDIRECTED, 4);
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
	opt.sources = &(uint64_t){ 0 };
	FAILS(gtu_betweenness(over, many, &opt, test_alloc(many->n, 8), NULL, &err), GTU_ERR_UNSUPPORTED, "(1.8e308), the limit over several GPUs; use one");
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

TEST_MAIN
