// SPDX-License-Identifier: MIT
/*
 * Label propagation and clustering coefficients with every unit that supports them, compared with
 * the reference code: isolated vertices, self-loops, parallel edges, directed and undirected
 * graphs, chunks so small that ranges are split, unsorted lists; and refused, interrupted, damaged
 * and too large inputs.
 */
#include <malloc.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "subjects.h"

static void check_labels(const struct gtu_graph *g, const struct gtu_algorithm_options *opt, const uint64_t *want)
{
	uint64_t *got = test_alloc(g->n, 8);
	struct gtu_algorithm_stats stats;

	RUNS("labels", opt, gtu_label_propagation(dev, g, opt, got, &stats, &err));
	CHECK(stats.iterations >= 1 && stats.iterations <= opt->iterations);
	CHECK_EQ(stats.edges, stats.iterations * g->m * (g->flags & GTU_GRAPH_DIRECTED ? 2 : 1));
	same_integers(got, want, g->n, run_name("labels", opt));
}

static void check_clustering(const struct gtu_graph *g, const struct gtu_algorithm_options *opt, const double *want)
{
	double *got = test_alloc(g->n, 8);

	if (opt->unit == GTU_WITH_IRU) {
		FAILS(gtu_clustering(dev, g, opt, got, NULL, &err), GTU_ERR_UNSUPPORTED, "no indexed accesses");
		return;
	}
	RUNS("clustering", opt, gtu_clustering(dev, g, opt, got, NULL, &err));
	same_reals(got, want, g->n, 1e-9, run_name("clustering", opt));
}

static void check_graph(const struct gtu_graph *g)
{
	static const uint32_t chunks[] = { 0, 3 }, rounds[] = { 1, 2, 7 };
	uint64_t *label = test_alloc(g->n, 8);
	double *coefficient = test_alloc(g->n, 8);

	open_device();
	CHECK(!reference_clustering(g, coefficient));
	for (unsigned i = 0; i < 3; i++) {
		CHECK(!reference_labels(g, rounds[i], label));
		for (uint32_t unit = 0; unit < UNITS; unit++)
			for (unsigned c = 0; c < 2; c++) {
				struct gtu_algorithm_options opt = { .unit = unit, .chunk_log2 = chunks[c],
								     .iterations = rounds[i] };

				check_labels(g, &opt, label);
				if (!i)
					check_clustering(g, &opt, coefficient);
			}
	}
}

static struct gtu_graph *kronecker(uint32_t scale, uint32_t directed)
{
	return generate((struct gtu_generate_options){ .kind = GTU_GEN_KRONECKER, .scale = scale, .seed = 3, .directed = directed });
}

/*
 * Run in a child process limited to @spare more bytes. 0: done; 1: refused with an error; 2:
 * anything else.
 */
static int with_limited_memory(const struct gtu_graph *g, uint64_t spare, bool cluster)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		struct gtu_algorithm_options opt = { .iterations = 2 };
		struct gtu_error err = { 0 };
		struct rlimit limit;
		unsigned long pages = 0;
		void *to = calloc(g->n, 8);
		FILE *f = fopen("/proc/self/statm", "r");
		int rc;

		if (!f || fscanf(f, "%lu", &pages) != 1 || !to)
			_exit(3);
		fclose(f);
		limit.rlim_cur = limit.rlim_max = pages * (unsigned long)sysconf(_SC_PAGESIZE) + spare;
		setrlimit(RLIMIT_AS, &limit);
		rc = cluster ? gtu_clustering(NULL, g, &opt, to, NULL, &err) :
			       gtu_label_propagation(NULL, g, &opt, to, NULL, &err);
		_exit(!rc ? 0 : rc == GTU_ERR_NOMEM && strstr(err.text, "memory") ? 1 : 2);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return 4;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 5;
}

/*
 * Every failed allocation gives an error, never a crash or a partial result. Must be the first
 * test: threads leave malloc arenas behind, which provide memory beyond the limit.
 */
TEST(every_failed_allocation_is_reported)
{
	struct gtu_graph *g;
	unsigned refused = 0;
	int got = 0;

#ifdef __SANITIZE_ADDRESS__
	SKIP("AddressSanitizer's memory cannot be limited");
#endif
	g = kronecker(13, 1);
	/* freed memory must return to the system: use mmap() for every array */
	mallopt(M_MMAP_THRESHOLD, 1 << 16);
	malloc_trim(0);
	for (unsigned cluster = 0; cluster < 2; cluster++) {
		for (uint64_t spare = 0; spare <= 32 << 20; spare = spare * 5 / 4 + 50000) {
			got = with_limited_memory(g, spare, cluster);
			CHECKF(got < 2, "with %llu bytes more it ended with %d", (unsigned long long)spare, got);
			refused += got;
		}
		CHECK_EQ(got, 0);
	}
	CHECKF(refused > 10, "%u", refused);
}

TEST(results_on_tiny_graphs_match_the_reference) { tiny_graphs(check_graph); }
TEST(results_on_a_clique_match_the_reference) { each_graph(clique(93), check_graph); }

TEST(a_graph_without_vertices_is_no_error)
{
	struct gtu_graph *g = from_edges(0, 0, NULL, NULL, GTU_DIRECTED, 4);

	open_device();
	for (uint32_t unit = 0; unit < UNITS; unit++) {
		struct gtu_algorithm_options opt = { .unit = unit };

		CHECK_EQ(gtu_label_propagation(dev, g, &opt, NULL, NULL, &err), 0);
		CHECK_EQ(gtu_clustering(dev, g, &opt, NULL, NULL, &err),
			 unit == GTU_WITH_IRU ? GTU_ERR_UNSUPPORTED : 0);
	}
}

/* Isolated vertices at both ends and in the middle. */
TEST(loops_duplicates_and_isolated_vertices_match_the_reference)
{
	uint64_t src[] = { 1, 1, 2, 2, 2, 3, 3, 5, 5, 5, 7, 1, 3, 3, 3 };
	uint64_t dst[] = { 1, 2, 2, 3, 3, 3, 1, 5, 5, 2, 7, 2, 5, 5, 5 };

	each_graph((struct edges){ 10, LENGTH(src), src, dst }, check_graph);
}

/* The specification's directed example; cli/published-results compares with its published results. */
TEST(results_on_the_published_example_match_the_reference)
{
	uint64_t src[] = { 0, 0, 1, 1, 1, 2, 2, 2, 2, 3, 4, 5, 6, 7, 8, 8, 8 };
	uint64_t dst[] = { 2, 4, 3, 4, 9, 0, 4, 7, 9, 9, 9, 2, 2, 2, 0, 3, 4 };

	each_graph((struct edges){ 10, LENGTH(src), src, dst }, check_graph);
}

/* Two ends of an edge swap labels forever. */
TEST(oscillating_labels_do_not_count_as_converged)
{
	const uint64_t src[] = { 0 }, dst[] = { 1 };
	struct gtu_graph *g = from_edges(2, 1, src, dst, GTU_UNDIRECTED, 4);
	struct gtu_algorithm_options opt = { 0 };
	struct gtu_algorithm_stats stats;
	uint64_t label[2];

	for (opt.iterations = 1; opt.iterations < 5; opt.iterations++) {
		CHECK(!gtu_label_propagation(NULL, g, &opt, label, &stats, &err));
		CHECK_EQ(stats.iterations, opt.iterations);
		CHECK_EQ(label[0], opt.iterations % 2);
		CHECK_EQ(label[1], !label[0]);
	}
	opt.iterations = 0;
	CHECK(!gtu_label_propagation(NULL, g, &opt, label, &stats, &err));
	CHECK_EQ(stats.iterations, 10);
}

/* A wheel with parallel spokes: short and long lists, counted by sorting and by hashing. */
TEST(results_on_a_wheel_match_the_reference)
{
	struct edges e = edges(301, 900);

	for (unsigned i = 0; i < 300; i++) {
		add_edge(&e, 300, i);
		add_edge(&e, i, (i + 1) % 300);
		if (i % 3 == 0)
			add_edge(&e, i, 300);
	}
	each_graph(e, check_graph);
}

TEST(results_on_random_graphs_match_the_reference)
{
	uint64_t seed = 77;

	for (unsigned round = 0; round < TEST_CASES(5u); round++) {
		const uint64_t n = round % 3 ? 120 : 900;

		each_graph(skewed(n, round % 2 ? 3000 : n, &seed), check_graph);
	}
}

/* Unsorted lists, even if the graph claims to be sorted. */
TEST(results_on_unsorted_lists_match_the_reference)
{
	uint64_t seed = 5, src[2000], dst[2000];

	for (unsigned e = 0; e < 2000; e++) {
		src[e] = test_random(&seed) % 100;
		dst[e] = test_random(&seed) % 100;
	}
	for (unsigned way = GTU_DIRECTED; way <= GTU_UNDIRECTED; way++) {
		struct gtu_graph *g = from_edges(100, 2000, src, dst, way, 4);
		uint32_t *col = (uint32_t *)g->col;

		for (uint64_t v = 0; v < g->n; v++)
			for (uint64_t e = g->row[v]; e + 1 < g->row[v + 1]; e++) {
				uint64_t other = e + test_random(&seed) % (g->row[v + 1] - e);
				uint32_t x = col[e];

				col[e] = col[other];
				col[other] = x;
			}
		check_graph(g);
		g->flags &= ~GTU_GRAPH_SORTED;
		check_graph(g);
	}
}

struct both {
	const struct gtu_graph *g;
	uint64_t *label;
	double *coefficient;
	int rc[2];
};

static void *run_both(void *arg)
{
	struct both *b = arg;
	struct gtu_algorithm_options opt = { .iterations = 10 };
	struct gtu_error err;	/* of this thread */

	b->rc[0] = gtu_label_propagation(NULL, b->g, &opt, b->label, NULL, &err);
	b->rc[1] = gtu_clustering(NULL, b->g, &opt, b->coefficient, NULL, &err);
	return NULL;
}

/* Three runs at a time, on all CPUs. */
TEST(runs_at_the_same_time_equal_the_reference)
{
	for (uint32_t directed = 0; directed < 2; directed++) {
		struct gtu_graph *g = kronecker(12, directed);
		uint64_t *label = test_alloc(g->n, 8);
		double *coefficient = test_alloc(g->n, 8);
		struct both run[3];
		pthread_t thread[3];

		CHECK(!reference_labels(g, 10, label) && !reference_clustering(g, coefficient));
		for (unsigned i = 0; i < 3; i++) {
			run[i] = (struct both){ g, test_alloc(g->n, 8), test_alloc(g->n, 8), { -1, -1 } };
			CHECK(!pthread_create(&thread[i], NULL, run_both, &run[i]));
		}
		for (unsigned i = 0; i < 3; i++) {
			pthread_join(thread[i], NULL);
			CHECK_EQ(run[i].rc[0], 0);
			CHECK_EQ(run[i].rc[1], 0);
			CHECK(!memcmp(run[i].label, label, g->n * 8));
			CHECK(!memcmp(run[i].coefficient, coefficient, g->n * 8));
		}
	}
}

TEST(each_algorithm_stops_at_the_first_interruption)
{
	struct gtu_graph *g = kronecker(14, 1);
	uint64_t *label = test_alloc(g->n, 8);
	double *coefficient = test_alloc(g->n, 8);

	open_device();
	for (uint32_t unit = 0; unit < UNITS; unit++) {
		unsigned asked = 0;
		const struct gtu_progress progress = { .tick = stop_at_once, .user = &asked };
		struct gtu_algorithm_options opt = { .unit = unit, .progress = &progress };

		CHECK_EQ(gtu_label_propagation(dev, g, &opt, label, NULL, &err), GTU_ERR_INTERRUPTED);
		CHECK_EQ(asked, 1);
		if (unit == GTU_WITH_IRU)
			continue;
		CHECK_EQ(gtu_clustering(dev, g, &opt, coefficient, NULL, &err), GTU_ERR_INTERRUPTED);
		CHECK_EQ(asked, 2);
	}
}

TEST(unsupported_options_are_refused)
{
	const uint64_t src[] = { 0, 1 }, dst[] = { 1, 2 };
	struct gtu_graph *g = from_edges(3, 2, src, dst, GTU_DIRECTED, 4), huge = *g;
	struct gtu_algorithm_options opt = { .end_vertex = 2 };
	uint64_t label[3];
	double coefficient[3];

	CHECK_EQ(gtu_label_propagation(NULL, g, &opt, label, NULL, &err), GTU_ERR_UNSUPPORTED);
	CHECK_EQ(gtu_clustering(NULL, g, &opt, coefficient, NULL, &err), GTU_ERR_UNSUPPORTED);
	opt = (struct gtu_algorithm_options){ .unit = GTU_WITH_GPU };
	CHECK_EQ(gtu_label_propagation(NULL, g, &opt, label, NULL, &err), GTU_ERR_USAGE);
	CHECK_EQ(gtu_clustering(NULL, g, &opt, coefficient, NULL, &err), GTU_ERR_USAGE);
	CHECK_EQ(gtu_label_propagation(dev, g, &opt, label, NULL, &err), GTU_ERR_UNSUPPORTED);
	CHECK_EQ(gtu_clustering(dev, g, &opt, coefficient, NULL, &err), GTU_ERR_UNSUPPORTED);
	opt.unit = GTU_WITH_IRU;
	FAILS(gtu_clustering(dev, g, &opt, coefficient, NULL, &err), GTU_ERR_UNSUPPORTED, "no indexed accesses");
	opt.unit = GTU_WITH_NONE;
	huge.n = 1ull << 32;
	huge.edge_bytes = 8;
	FAILS(gtu_clustering(dev, &huge, &opt, coefficient, NULL, &err), GTU_ERR_UNSUPPORTED, "4294967296");
}

TEST(damaged_graphs_are_reported)
{
	uint64_t row[] = { 0, 2, 3, 4 }, label[3];
	uint32_t col[] = { 1, 2, 9, 0 };
	double coefficient[3];
	struct gtu_graph g = { .n = 3, .m = 4, .edge_bytes = 4, .row = row, .col = col, .name = "bad" };

	open_device();
	for (unsigned round = 0; round < 4; round++) {
		g.flags = round % 2 ? GTU_GRAPH_DIRECTED : 0;
		for (uint32_t unit = 0; unit < UNITS; unit++) {
			struct gtu_algorithm_options opt = { .unit = unit };

			CHECK_EQ(gtu_label_propagation(dev, &g, &opt, label, NULL, &err), GTU_ERR_INPUT);
			CHECK_EQ(gtu_clustering(dev, &g, &opt, coefficient, NULL, &err),
				 unit == GTU_WITH_IRU ? GTU_ERR_UNSUPPORTED : GTU_ERR_INPUT);
		}
		if (round == 1) {
			col[2] = 1;
			row[2] = 1ull << 40;
		}
	}
}

/* ---- Arrays that change after their check ------------------------------------------------------ */

#define CHANGED_EDGES 4096u

static int change_targets(void *user, const char *what, uint64_t done, uint64_t total)
{
	uint32_t *col = user;
	unsigned i;

	for (i = 0; !strcmp(what, "checking edges") && done == total && i < CHANGED_EDGES; i++)
		col[i] = 0x3fffff00;
	return 0;
}

/*
 * Another program may write to the file of a mapped graph during a run. Results are wrong then, but
 * no access is out of bounds (checked by sanitizers).
 */
TEST(targets_that_change_cause_no_access_out_of_bounds)
{
	const uint64_t n = 256;
	static uint64_t row[257], labels[256];
	static uint32_t col[CHANGED_EDGES];
	static double share[256];
	struct gtu_graph arrays = { .n = n, .m = CHANGED_EDGES, .edge_bytes = 4, .row = row, .col = col }, *g;
	const struct gtu_progress progress = { change_targets, col };
	struct gtu_algorithm_options o = { .unit = GTU_WITH_NONE, .progress = &progress };
	struct gtu_algorithm_stats stats;
	struct gtu_error err = { .text = "" };
	unsigned i, kind;

	for (kind = 0; kind < 2; kind++) {
		for (i = 0; i <= n; i++)
			row[i] = i * (CHANGED_EDGES / n);
		for (i = 0; i < CHANGED_EDGES; i++)
			col[i] = (i / 16 + 1 + i % 16) % n;
		CHECKF(!gtu_graph_wrap(&arrays, &g, &err), "%s", err.text);
		if (kind)
			gtu_label_propagation(NULL, g, &o, labels, &stats, &err);
		else
			gtu_clustering(NULL, g, &o, share, &stats, &err);
		CHECK_EQ(col[0], 0x3fffff00);
		gtu_graph_close(g);
	}
}

TEST_MAIN
