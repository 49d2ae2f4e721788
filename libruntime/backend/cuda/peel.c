// SPDX-License-Identifier: MIT
/* Core numbers and graph coloring. */
#include "gpu.h"

/* ---- Cores ---------------------------------------------------------------------------------------- */

struct cores {
	struct gpu_run r;
	CUdeviceptr left, core, queue[2];
	uint64_t remaining, items;
};

/* Counts of neighbours have 32 bits. */
static int check_degrees(const struct gpu_run *r)
{
	uint64_t v;

	for (v = 0; r->g->m >> 32 && v < r->g->n; v++)
		if ((r->g->row[v + 1] - r->g->row[v]) >> 32)
			return gtu_fail(r->err, GTU_ERR_UNSUPPORTED,
					"%s on a GPU supports at most 2^32 - 1 edges of a vertex, but vertex %llu has more",
					r->name, (unsigned long long)gtu_graph_id(r->g, v));
	return 0;
}

/* Remove the vertices of @k neighbours, and those that have no more without them. */
static int peel(struct cores *c, uint32_t k)
{
	struct gpu_run *r = &c->r;
	void *take[] = { &c->left, &c->core, &k, &c->queue[0], NULL };
	void *peel[] = { &c->queue[0], &c->items, &c->left, &c->core, &k, &c->queue[1], NULL };
	int rc = gpu_visit_step(r, "cores_take", NULL, true, r->graph.n, take);

	while (!rc) {
		c->remaining -= r->counters.vertices;
		gpu_run_iteration(r, r->counters.vertices);
		c->items = r->counters.items;
		if (!c->items)
			break;
		rc = gpu_visit_step(r, "cores_peel", NULL, true, c->items * 32, peel);
		gpu_swap(c->queue);
	}
	return rc;
}

static int peel_all(struct cores *c)
{
	struct gpu_run *r = &c->r;
	const uint64_t n = r->graph.n;
	const struct gpu_part part[] = {
		{ "neighbours left", 4 * n, &c->left }, { "cores", 4 * n, &c->core },
		{ "queue", gpu_run_queue_bytes(r), &c->queue[0] }, { "next queue", gpu_run_queue_bytes(r), &c->queue[1] },
	};
	void *state[] = { &c->left, &c->core, NULL }, *loops[] = { &c->queue[0], &c->items, &c->left, NULL };
	int rc = gpu_run_allocate(r, part, 4);

	gtu_phase(&r->phases, "traverse");
	if (!rc)
		rc = gpu_run_launch(r, "cores_begin", NULL, false, n, state);
	if (!rc)
		rc = gpu_visit_collect(r, 0, 0, c->queue[0], &c->items);
	if (!rc && c->items)
		rc = gpu_run_launch(r, "cores_loops", NULL, true, c->items * 32, loops);
	for (c->remaining = n; !rc && c->remaining;) {
		rc = gpu_visit_step(r, "cores_least", NULL, false, n, state);
		if (!rc)
			rc = peel(c, (uint32_t)r->counters.min);
	}
	return rc;
}

int gpu_cores(struct gtu_device *dev, const struct gtu_algorithm_options *opt, void *core,
	      struct gtu_algorithm_stats *stats, struct gtu_error *err)
{
	struct cores c = { 0 };
	int rc = gpu_visit_begin(&c.r, dev, "cores", opt, stats, err);

	if (!rc)
		rc = check_degrees(&c.r);
	if (!rc && c.r.graph.n) {
		rc = peel_all(&c);
		if (!rc)
			rc = gpu_visit_result(&c.r, core, c.core);
		c.r.stats->vertices = c.r.graph.n;
		c.r.stats->edges = 2 * c.r.graph.m;
	}
	return gpu_run_end(&c.r, rc);
}

/* ---- Colors --------------------------------------------------------------------------------------- */

#define WINDOW 64u		/* COLOR_WINDOW of peel.cuh */

struct coloring {
	struct gpu_run r;
	CUdeviceptr key, waiting, color, taken, queue[2];
	uint64_t items, colored;
};

/* Color the ready vertices, no two of which are neighbours, window by window. */
static int color_ready(struct coloring *c)
{
	struct gpu_run *r = &c->r;
	uint32_t base = 0;
	void *taken[] = { &c->queue[0], &c->items, &base, &c->color, &c->taken, NULL };
	int rc;

	do {
		rc = gpu_run_launch(r, "color_taken", NULL, true, c->items * 32, taken);
		if (!rc)
			rc = gpu_visit_step(r, "color_assign", NULL, false, c->items, taken);
		c->colored += r->counters.vertices;
		base += WINDOW;
	} while (!rc && r->counters.left);
	return rc;
}

static int color_all(struct coloring *c)
{
	struct gpu_run *r = &c->r;
	const uint64_t n = r->graph.n;
	const struct gpu_part part[] = {
		{ "order", 8 * n, &c->key }, { "waiting", 4 * n, &c->waiting }, { "colors", 4 * n, &c->color },
		{ "colors taken", 8 * n, &c->taken }, { "queue", gpu_run_queue_bytes(r), &c->queue[0] },
		{ "next queue", gpu_run_queue_bytes(r), &c->queue[1] },
	};
	void *begin[] = { &c->key, &c->waiting, &c->color, &c->taken, NULL };
	void *count[] = { &c->queue[0], &c->items, &c->key, &c->waiting, NULL };
	void *release[] = { &c->queue[0], &c->items, &c->key, &c->waiting, &c->queue[1], NULL };
	int rc = gpu_run_allocate(r, part, 6);

	gtu_phase(&r->phases, "traverse");
	if (!rc)
		rc = gpu_run_launch(r, "color_begin", NULL, false, n, begin);
	if (!rc)
		rc = gpu_visit_collect(r, 0, 0, c->queue[0], &c->items);
	if (!rc && c->items)
		rc = gpu_run_launch(r, "color_count", NULL, true, c->items * 32, count);
	if (!rc)
		rc = gpu_visit_collect(r, c->waiting, 0, c->queue[0], &c->items);
	/* vertices without edges have the first color */
	c->colored = n - r->gpu->placed.connected;
	while (!rc && c->items) {
		rc = color_ready(c);
		if (!rc)
			rc = gpu_visit_step(r, "color_release", NULL, true, c->items * 32, release);
		gpu_run_iteration(r, 0);
		c->items = r->counters.items;
		gpu_swap(c->queue);
	}
	if (!rc && c->colored != n)
		rc = gtu_fail(r->err, GTU_ERR_INPUT,
			      "%s: edges are declared undirected, but at least %llu vertices have edges stored in one "
			      "direction only: the graph is damaged",
			      r->g->name, (unsigned long long)(n - c->colored));
	return rc;
}

int gpu_coloring(struct gtu_device *dev, const struct gtu_algorithm_options *opt, void *color,
		 struct gtu_algorithm_stats *stats, struct gtu_error *err)
{
	struct coloring c = { 0 };
	int rc = gpu_visit_begin(&c.r, dev, "coloring", opt, stats, err);

	if (!rc)
		rc = c.r.graph.n ? color_all(&c) : 0;
	gtu_phase(&c.r.phases, "result");
	if (!rc)
		rc = gpu_download(c.r.gpu, color, c.color, 4 * c.r.graph.n, err);
	c.r.stats->vertices = rc ? 0 : c.r.graph.n;
	c.r.stats->edges = rc ? 0 : 3 * c.r.graph.m;
	return gpu_run_end(&c.r, rc);
}
