/* SPDX-License-Identifier: MIT */
/*
 * Common code of the algorithms' tests: the model, shapes of graphs, and comparison with the
 * reference code.
 */
#ifndef GTU_SUBJECTS_H
#define GTU_SUBJECTS_H

#include <math.h>

#include "tests/unit/library.h"
#include "tools/reference/reference.h"

#define UNITS (GTU_WITH_WEAVER + 1)
static const char *const unit_name[] = { "none", "scu-basic", "scu", "iru", "peg", "weaver", "gpu" };
static const char *const direction_name[] = { "", ", pull", ", auto" };

static struct gtu_device *dev;	/* the model, or a device opened by the test */

/* The model, opened on first use and kept for all tests of the program. */
static inline void open_device(void)
{
	if (!dev)
		OK(gtu_open("model", &dev, &err));
}

/* ---- Results ------------------------------------------------------------------------------------- */

/* "bfs by peg (chunk 2^3, pull, delta 1)" */
static inline const char *run_name(const char *what, const struct gtu_algorithm_options *opt)
{
	static char text[120];

	snprintf(text, sizeof(text), "%s by %s (chunk 2^%u%s, delta %g)", what, unit_name[opt->unit], opt->chunk_log2,
		 direction_name[opt->direction % 3], opt->delta);
	return text;
}

/* The call of an algorithm with @opt succeeds. */
#define RUNS(what, opt, call) CHECKF(!(call), "%s: %s", run_name(what, opt), err.text)

static inline void same_integers(const uint64_t *got, const uint64_t *want, uint64_t n, const char *run)
{
	for (uint64_t v = 0; v < n; v++)
		CHECKF(got[v] == want[v], "%s: vertex %" PRIu64 " has %" PRId64 ", not %" PRId64, run, v, got[v], want[v]);
}

/* @tolerance: the share of the wanted value by which a value may differ. */
static inline void same_reals(const double *got, const double *want, uint64_t n, double tolerance, const char *run)
{
	for (uint64_t v = 0; v < n; v++)
		CHECKF(got[v] == want[v] || fabs(got[v] - want[v]) <= tolerance * want[v],
		       "%s: vertex %" PRIu64 " has %.17g, not %.17g", run, v, got[v], want[v]);
}

/* ---- Shapes -------------------------------------------------------------------------------------- */

struct edges {
	uint64_t n, m, *src, *dst;
};

/* @n vertices, with space for @most edges. */
static inline struct edges edges(uint64_t n, uint64_t most)
{
	return (struct edges){ n, 0, test_alloc(most, 8), test_alloc(most, 8) };
}

static inline void add_edge(struct edges *e, uint64_t from, uint64_t to)
{
	e->src[e->m] = from;
	e->dst[e->m++] = to;
}

/* Numbers descend along the path, so that labels have far to travel. */
static inline struct edges path(uint64_t n)
{
	struct edges e = edges(n, n);

	for (uint64_t i = 0; i + 1 < n; i++)
		add_edge(&e, i * 7 % n, (i + 1) * 7 % n);
	return e;
}

/* 4^(levels - 1) shortest paths from vertex 0 to each of the last four: a vertex is found once per path. */
static inline struct edges ladder(uint64_t levels)
{
	struct edges e = edges(4 * (levels + 1), 16 * levels);

	for (uint64_t level = 0; level < levels; level++)
		for (unsigned i = 0; i < 16; i++)
			add_edge(&e, level * 4 + i / 4, (level + 1) * 4 + i % 4);
	return e;
}

static inline struct edges clique(uint64_t n)
{
	struct edges e = edges(n, n * n);

	for (uint64_t u = 0; u < n; u++)
		for (uint64_t v = 0; v < u; v++)
			add_edge(&e, u, v);
	return e;
}

/* Random edges of which low numbers have most. */
static inline struct edges skewed(uint64_t n, uint64_t m, uint64_t *seed)
{
	struct edges e = edges(n, m);

	while (e.m < m) {
		uint64_t a = test_random(seed) % n, b = test_random(seed) % n;

		add_edge(&e, a * b / n, test_random(seed) % n);
	}
	return e;
}

/* Checks the graph of @e, directed and undirected, with edges of 4 and of 8 bytes. */
static inline void each_graph(struct edges e, void (*check)(const struct gtu_graph *))
{
	static const uint32_t direction[] = { GTU_DIRECTED, GTU_UNDIRECTED };

	open_device();
	for (unsigned i = 0; i < 4; i++)
		check(from_edges(e.n, e.m, e.src, e.dst, direction[i / 2], i % 2 ? 8 : 4));
}

/* One vertex without and with self-loops, vertices without edges, self-loops and duplicates. */
static inline void tiny_graphs(void (*check)(const struct gtu_graph *))
{
	static uint64_t zero[3], src[] = { 0, 0, 1, 1, 1, 2, 2, 3, 3, 3, 4, 0 }, dst[] = { 0, 1, 1, 2, 2, 2, 0, 3, 3, 1, 4, 1 };

	each_graph((struct edges){ 1, 0, zero, zero }, check);
	each_graph((struct edges){ 1, 3, zero, zero }, check);
	each_graph((struct edges){ 70, 0, zero, zero }, check);
	each_graph((struct edges){ 6, LENGTH(src), src, dst }, check);
}

static int stop_at_once(void *asked, const char *what, uint64_t done, uint64_t total) __attribute__((unused));
static int stop_at_once(void *asked, const char *what, uint64_t done, uint64_t total)
{
	(void)what, (void)done, (void)total;
	++*(unsigned *)asked;
	return 1;
}

#endif
