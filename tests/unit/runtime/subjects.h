/* SPDX-License-Identifier: MIT */
/* Common code of the algorithm tests: the device model, and graphs from edge lists. */
#ifndef GTU_SUBJECTS_H
#define GTU_SUBJECTS_H

#include "gtu/gtu.h"
#include "tests/unit/test.h"

static struct gtu_device *dev;	/* the model, or a device opened by the test */

/* The model, opened on first use and kept for all tests of the program. */
static inline void open_device(void)
{
	struct gtu_error err;

	if (!dev && gtu_open("model", &dev, &err))
		test_fail(__FILE__, __LINE__, "no device: %s", err.text);
}

/* @direction: GTU_DIRECTED or GTU_UNDIRECTED; @weight as for gtu_graph_from_edges(). */
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
