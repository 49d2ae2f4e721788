/* SPDX-License-Identifier: MIT */
/*
 * Common code of libgtu's tests: the error of the last call, and graphs, devices and queues that
 * are released when the test ends.
 */
#ifndef GTU_LIBRARY_H
#define GTU_LIBRARY_H

#include <signal.h>
#include <sys/resource.h>

#include "gtu/gtu.h"
#include "tests/unit/test.h"

static struct gtu_error err __attribute__((unused));

#define OK(call)                                                                                   \
	do {                                                                                       \
		int rc_ = (call);                                                                  \
		CHECKF(!rc_, "%s: %d %s", #call, rc_, err.text);                                   \
	} while (0)
/* The call fails with this code, and its message, not an earlier one, has these words. */
#define FAILS(call, code_, words)                                                                  \
	do {                                                                                       \
		int rc_ = (err.text[0] = 0, (call));                                               \
		CHECKF(rc_ == (code_) && strstr(err.text, words), "%s gave %d \"%s\", expected %d and \"%s\"", \
		       #call, rc_, err.text, code_, words);                                        \
	} while (0)

/* Refuse writes beyond @bytes of a file, as a full disk does; RLIM_INFINITY removes the limit. */
static inline void limit_files(rlim_t bytes)
{
	struct rlimit limit;

	signal(SIGXFSZ, SIG_IGN);
	CHECK(!getrlimit(RLIMIT_FSIZE, &limit));
	limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
	CHECK(!setrlimit(RLIMIT_FSIZE, &limit));
}

static inline void release_graph(void *g)
{
	gtu_graph_close(g);
}

static inline struct gtu_graph *keep_graph(struct gtu_graph *g)
{
	test_at_end(release_graph, g);
	return g;
}

static inline struct gtu_graph *generate(struct gtu_generate_options how)
{
	struct gtu_graph *g;

	OK(gtu_graph_generate(&how, NULL, &g, &err));
	return keep_graph(g);
}

static inline struct gtu_graph *open_graph(const char *path, const struct gtu_read_options *how)
{
	struct gtu_graph *g;

	OK(gtu_graph_open(path, how, NULL, &g, &err));
	return keep_graph(g);
}

/* @direction: GTU_DIRECTED or GTU_UNDIRECTED; @weight as for gtu_graph_from_edges(). */
static inline struct gtu_graph *weighted_edges(uint64_t n, uint64_t m, const uint64_t *src, const uint64_t *dst,
					       uint32_t weight_type, const void *weight, uint32_t direction, uint32_t edge_bytes)
{
	const struct gtu_read_options how = { .direction = direction, .edge_bytes = edge_bytes };
	struct gtu_graph *g;

	OK(gtu_graph_from_edges(n, m, src, dst, weight_type, weight, &how, &g, &err));
	return keep_graph(g);
}

static inline struct gtu_graph *from_edges(uint64_t n, uint64_t m, const uint64_t *src, const uint64_t *dst,
					   uint32_t direction, uint32_t edge_bytes)
{
	return weighted_edges(n, m, src, dst, GTU_WEIGHT_NONE, NULL, direction, edge_bytes);
}

/* The vertex with the maximum degree. */
static inline uint64_t busiest(const struct gtu_graph *g)
{
	uint64_t v, best = 0;

	for (v = 0; v < g->n; v++)
		if (g->row[v + 1] - g->row[v] > g->row[best + 1] - g->row[best])
			best = v;
	return best;
}

static inline void release_device(void *dev)
{
	gtu_close(dev);
}

/* A model with little memory of its own, unless @name says how much: clearing 16 MiB takes longer than most tests. */
static inline struct gtu_device *open_model(const char *name)
{
	struct gtu_device *dev;
	char full[200];

	snprintf(full, sizeof(full), "%s%saperture_bytes=65536", name, strchr(name, ':') ? "," : ":");
	OK(gtu_open(strstr(name, "aperture_bytes") ? name : full, &dev, &err));
	test_at_end(release_device, dev);
	return dev;
}

static inline void release_queue(void *q)
{
	gtu_queue_destroy(q);
}

/* @options may be NULL. */
static inline struct gtu_queue *open_queue(struct gtu_device *dev, const struct gtu_queue_options *options)
{
	struct gtu_queue *q;

	OK(gtu_queue_create(dev, options, &q, &err));
	test_at_end(release_queue, q);
	return q;
}

#endif
