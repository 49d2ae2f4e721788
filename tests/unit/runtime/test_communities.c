// SPDX-License-Identifier: MIT
/*
 * Label propagation and clustering coefficients with every unit that supports them, compared with
 * the reference code: isolated vertices, self-loops, parallel edges, directed and undirected
 * graphs, chunks so small that ranges are split, unsorted lists; and refused, interrupted, damaged
 * and too large inputs.
 */
#include <malloc.h>
#include <math.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gtu/gtu.h"
#include "subjects.h"
#include "tests/unit/test.h"
#include "tools/reference/reference.h"

#define UNITS (GTU_WITH_WEAVER + 1)
static const char *const unit_name[UNITS] = { "none", "scu-basic", "scu", "iru", "peg", "weaver" };
static void check_labels(const struct gtu_graph *g, const struct gtu_algorithm_options *opt, const uint64_t *want)
{
	uint64_t *got = calloc(g->n, 8);
	struct gtu_algorithm_stats stats;
	struct gtu_error err;
	int rc = gtu_label_propagation(dev, g, opt, got, &stats, &err);

	CHECKF(!rc, "labels by %s: %s", unit_name[opt->unit], err.text);
	CHECK(stats.iterations >= 1 && stats.iterations <= opt->iterations);
	CHECK_EQ(stats.edges, stats.iterations * g->m * (g->flags & GTU_GRAPH_DIRECTED ? 2 : 1));
	for (uint64_t v = 0; v < g->n; v++)
		CHECKF(got[v] == want[v], "labels by %s (chunk 2^%u, %u iterations): vertex %llu has %llu, not %llu",
		       unit_name[opt->unit], opt->chunk_log2, opt->iterations, (unsigned long long)v,
		       (unsigned long long)got[v], (unsigned long long)want[v]);
	free(got);
}

static void check_clustering(const struct gtu_graph *g, const struct gtu_algorithm_options *opt, const double *want)
{
	double *got = calloc(g->n, 8);
	struct gtu_error err;
	int rc = gtu_clustering(dev, g, opt, got, NULL, &err);

	if (opt->unit == GTU_WITH_IRU) {
		CHECK_EQ(rc, GTU_ERR_UNSUPPORTED);
		free(got);
		return;
	}
	CHECKF(!rc, "clustering by %s: %s", unit_name[opt->unit], err.text);
	for (uint64_t v = 0; v < g->n; v++)
		CHECKF(fabs(got[v] - want[v]) <= 1e-9 * want[v],
		       "clustering by %s (chunk 2^%u): vertex %llu has %.17g, not %.17g", unit_name[opt->unit],
		       opt->chunk_log2, (unsigned long long)v, got[v], want[v]);
	free(got);
}

static void check_graph(const struct gtu_graph *g)
{
	static const uint32_t chunks[] = { 0, 3 }, rounds[] = { 1, 2, 7 };
	uint64_t *label = calloc(g->n, 8);
	double *coefficient = calloc(g->n, 8);

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
	free(label);
	free(coefficient);
}

static void check_edges(uint64_t n, uint64_t m, const uint64_t *src, const uint64_t *dst)
{
	static const uint32_t direction[] = { GTU_DIRECTED, GTU_UNDIRECTED };

	for (unsigned i = 0; i < 2; i++)
		for (uint32_t bytes = 4; bytes <= 8; bytes += 4) {
			struct gtu_graph *g = from_edges(n, m, src, dst, direction[i], bytes);

			check_graph(g);
			gtu_graph_close(g);
		}
}

static struct gtu_graph *kronecker(uint32_t scale, uint32_t directed)
{
	struct gtu_generate_options opt = { .kind = GTU_GEN_KRONECKER, .scale = scale, .seed = 3, .directed = directed };
	struct gtu_error err;
	struct gtu_graph *g;
	int rc = gtu_graph_generate(&opt, NULL, &g, &err);

	CHECKF(!rc, "%s", err.text);
	return g;
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
TEST(out_of_memory)
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
	gtu_graph_close(g);
}

TEST(one_vertex)
{
	const uint64_t loop[] = { 0, 0, 0 };

	check_edges(1, 0, loop, loop);
	check_edges(1, 3, loop, loop);
}

TEST(no_vertices)
{
	struct gtu_graph *g = from_edges(0, 0, NULL, NULL, GTU_DIRECTED, 4);
	struct gtu_error err;

	open_device();
	for (uint32_t unit = 0; unit < UNITS; unit++) {
		struct gtu_algorithm_options opt = { .unit = unit };

		CHECK_EQ(gtu_label_propagation(dev, g, &opt, NULL, NULL, &err), 0);
		CHECK_EQ(gtu_clustering(dev, g, &opt, NULL, NULL, &err),
			 unit == GTU_WITH_IRU ? GTU_ERR_UNSUPPORTED : 0);
	}
	gtu_graph_close(g);
}

TEST(no_edges)
{
	check_edges(70, 0, NULL, NULL);
}

/* Isolated vertices at both ends and in the middle. */
TEST(loops_duplicates_and_isolated_vertices)
{
	const uint64_t src[] = { 1, 1, 2, 2, 2, 3, 3, 5, 5, 5, 7, 1, 3, 3, 3 };
	const uint64_t dst[] = { 1, 2, 2, 3, 3, 3, 1, 5, 5, 2, 7, 2, 5, 5, 5 };

	check_edges(10, 15, src, dst);
}

/* The specification's directed example, with its published results. */
TEST(published_example)
{
	const uint64_t src[] = { 0, 0, 1, 1, 1, 2, 2, 2, 2, 3, 4, 5, 6, 7, 8, 8, 8 };
	const uint64_t dst[] = { 2, 4, 3, 4, 9, 0, 4, 7, 9, 9, 9, 2, 2, 2, 0, 3, 4 };

	check_edges(10, 17, src, dst);
}

/* Two ends of an edge swap labels forever: this must not count as converged. */
TEST(oscillating_labels)
{
	const uint64_t src[] = { 0 }, dst[] = { 1 };
	struct gtu_graph *g = from_edges(2, 1, src, dst, GTU_UNDIRECTED, 4);
	struct gtu_algorithm_options opt = { 0 };
	struct gtu_algorithm_stats stats;
	struct gtu_error err;
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
	gtu_graph_close(g);
}

TEST(clique)
{
	uint64_t src[90 * 89], dst[90 * 89], m = 0;

	for (unsigned u = 0; u < 90; u++)
		for (unsigned v = 0; v < u; v++) {
			src[m] = u;
			dst[m++] = v;
		}
	check_edges(93, m, src, dst);
}

/* A wheel with parallel spokes: short and long lists, counted by sorting and by hashing. */
TEST(wheel)
{
	uint64_t src[900], dst[900], m = 0;

	for (unsigned i = 0; i < 300; i++) {
		src[m] = 300;
		dst[m++] = i;
		src[m] = i;
		dst[m++] = (i + 1) % 300;
		if (i % 3)
			continue;
		src[m] = i;
		dst[m++] = 300;
	}
	check_edges(301, m, src, dst);
}

TEST(random_graphs)
{
	uint64_t seed = 77, src[3000], dst[3000];

	for (unsigned round = 0; round < (unsigned)TEST_CASES(5); round++) {
		const uint64_t n = round % 3 ? 120 : 900, m = round % 2 ? 3000 : n;

		for (uint64_t e = 0; e < m; e++) {
			uint64_t a = test_random(&seed) % n, b = test_random(&seed) % n;

			/* skewed: low numbers have most edges */
			src[e] = a * b / n;
			dst[e] = test_random(&seed) % n;
		}
		check_edges(n, m, src, dst);
	}
}

/* Unsorted lists, even if the graph claims to be sorted. */
TEST(unsorted_lists)
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
		gtu_graph_close(g);
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
	struct gtu_error err;

	b->rc[0] = gtu_label_propagation(NULL, b->g, &opt, b->label, NULL, &err);
	b->rc[1] = gtu_clustering(NULL, b->g, &opt, b->coefficient, NULL, &err);
	return NULL;
}

/* On all CPUs, three runs at a time: always equal to the reference. */
TEST(threads)
{
	for (uint32_t directed = 0; directed < 2; directed++) {
		struct gtu_graph *g = kronecker(12, directed);
		uint64_t *label = calloc(g->n, 8);
		double *coefficient = calloc(g->n, 8);
		struct both run[3];
		pthread_t thread[3];

		CHECK(!reference_labels(g, 10, label) && !reference_clustering(g, coefficient));
		for (unsigned i = 0; i < 3; i++) {
			run[i] = (struct both){ g, calloc(g->n, 8), calloc(g->n, 8), { -1, -1 } };
			CHECK(!pthread_create(&thread[i], NULL, run_both, &run[i]));
		}
		for (unsigned i = 0; i < 3; i++) {
			pthread_join(thread[i], NULL);
			CHECK_EQ(run[i].rc[0], 0);
			CHECK_EQ(run[i].rc[1], 0);
			CHECK(!memcmp(run[i].label, label, g->n * 8));
			CHECK(!memcmp(run[i].coefficient, coefficient, g->n * 8));
			free(run[i].label);
			free(run[i].coefficient);
		}
		free(label);
		free(coefficient);
		gtu_graph_close(g);
	}
}

static int stop_at_once(void *context, const char *phase, uint64_t done, uint64_t total)
{
	(void)phase;
	(void)done;
	(void)total;
	return ++*(unsigned *)context > 0;
}

TEST(interrupted)
{
	struct gtu_graph *g = kronecker(14, 1);
	uint64_t *label = calloc(g->n, 8);
	double *coefficient = calloc(g->n, 8);
	struct gtu_error err;

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
	free(label);
	free(coefficient);
	gtu_graph_close(g);
}

TEST(refusals)
{
	const uint64_t src[] = { 0, 1 }, dst[] = { 1, 2 };
	struct gtu_graph *g = from_edges(3, 2, src, dst, GTU_DIRECTED, 4), huge = *g;
	struct gtu_algorithm_options opt = { .end_vertex = 2 };
	struct gtu_error err;
	uint64_t label[3];
	double coefficient[3];

	CHECK_EQ(gtu_label_propagation(NULL, g, &opt, label, NULL, &err), GTU_ERR_UNSUPPORTED);
	CHECK_EQ(gtu_clustering(NULL, g, &opt, coefficient, NULL, &err), GTU_ERR_UNSUPPORTED);
	opt = (struct gtu_algorithm_options){ .unit = GTU_WITH_GPU };
	CHECK_EQ(gtu_label_propagation(NULL, g, &opt, label, NULL, &err), GTU_ERR_UNSUPPORTED);
	CHECK_EQ(gtu_clustering(NULL, g, &opt, coefficient, NULL, &err), GTU_ERR_UNSUPPORTED);
	opt.unit = GTU_WITH_IRU;
	CHECK_EQ(gtu_clustering(dev, g, &opt, coefficient, NULL, &err), GTU_ERR_UNSUPPORTED);
	CHECKF(strstr(err.text, "no indexed accesses"), "%s", err.text);
	opt.unit = GTU_WITH_NONE;
	huge.n = 1ull << 32;
	huge.edge_bytes = 8;
	CHECK_EQ(gtu_clustering(dev, &huge, &opt, coefficient, NULL, &err), GTU_ERR_UNSUPPORTED);
	CHECKF(strstr(err.text, "4294967296"), "%s", err.text);
	gtu_graph_close(g);
}

TEST(damaged_graphs)
{
	uint64_t row[] = { 0, 2, 3, 4 }, label[3];
	uint32_t col[] = { 1, 2, 9, 0 };
	double coefficient[3];
	struct gtu_graph g = { .n = 3, .m = 4, .edge_bytes = 4, .row = row, .col = col, .name = "bad" };
	struct gtu_error err;

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

TEST_MAIN
