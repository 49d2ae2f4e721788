// SPDX-License-Identifier: MIT
/* Measures the locality of a graph's vertex order. */
#include "graph_order.h"

#include <stdbool.h>

#define WARP		32u
#define LINE_VERTICES	32u		/* of 4-byte data in 128 bytes */

struct window {
	uint64_t line[WARP];
	unsigned edges, lines;
};

static void add(struct window *w, uint64_t line)
{
	bool found = false;
	unsigned i;

	for (i = 0; i < w->lines && !found; i++)
		found = w->line[i] == line;
	if (!found)
		w->line[w->lines++] = line;
	w->edges++;
}

int graph_order_measure(const struct gtu_graph *g, const struct gtu_progress *progress, struct graph_order *order,
			struct gtu_error *err)
{
	struct window w = { 0 };
	uint64_t u, v, edge, lines = 0, windows = 0;
	double distance = 0;

	*order = (struct graph_order){ 0 };
	for (u = 0; u < g->n; u++) {
		for (edge = g->row[u]; edge < g->row[u + 1]; edge++) {
			v = gtu_graph_target(g, edge);
			distance += (double)(u < v ? v - u : u - v);
			add(&w, v / LINE_VERTICES);
			if (w.edges < WARP && edge + 1 < g->m)
				continue;
			lines += w.lines;
			windows++;
			w.edges = w.lines = 0;
		}
		if (!(u & 0xffff) && gtu_tick(progress, "measuring the order", u, g->n))
			return gtu_fail(err, GTU_ERR_INTERRUPTED, "interrupted");
	}
	if (g->m) {
		order->distance = distance / (double)g->m / (double)g->n;
		order->lines = (double)lines / (double)windows;
	}
	return 0;
}
