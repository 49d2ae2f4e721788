/* SPDX-License-Identifier: MIT */
/* What tests of algorithms run on: the model, and graphs out of a few edges. */
#ifndef GTU_SUBJECTS_H
#define GTU_SUBJECTS_H

#include "gtu/gtu.h"
#include "tests/unit/test.h"

static struct gtu_device *dev;	/* the model, or what a test has opened itself */

/* The model, opened by the first who asks and kept for all tests of the program. */
static inline void open_device(void)
{
	struct gtu_error err;

	if (!dev && gtu_open("model", &dev, &err))
		test_fail(__FILE__, __LINE__, "no device: %s", err.text);
}

/* @direction: GTU_DIRECTED or GTU_UNDIRECTED; @weight as gtu_graph_from_edges() takes it. */
static inline struct gtu_graph *weighted_edges(uint64_t n, uint64_t m, const uint64_t *src, const uint64_t *dst,
					       uint32_t weight_type, const void *weight, uint32_t direction, uint32_t edge_bytes)
{
	struct gtu_read_options opt = { .direction = direction, .edge_bytes = edge_bytes };
	struct gtu_error err;
	struct gtu_graph *g;
	int rc = gtu_graph_from_edges(n, m, src, dst, weight_type, weight, &opt, &g, &err);

	CHECKF(!rc, "graph: %s", err.text);
	return g;
}

static inline struct gtu_graph *from_edges(uint64_t n, uint64_t m, const uint64_t *src, const uint64_t *dst,
					   uint32_t direction, uint32_t edge_bytes)
{
	return weighted_edges(n, m, src, dst, GTU_WEIGHT_NONE, NULL, direction, edge_bytes);
}

#endif
