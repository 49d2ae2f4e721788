// SPDX-License-Identifier: MIT
/* Core numbers and graph coloring. */
#include "parts.h"

/* ---- Cores ---------------------------------------------------------------------------------------- */

struct cores {
	struct gpu_run r;
	CUdeviceptr left, core, queue[2], rest, log;
	uint64_t remaining, items;
	uint32_t k;			/* the least core number from here on */
};

/* Counts of neighbours have 32 bits. */
int gpu_cores_check(const struct gpu_run *r)
{
	uint64_t v;

	for (v = 0; r->g->m >> 32 && v < r->g->n; v++)
		if ((r->g->row[v + 1] - r->g->row[v]) >> 32)
			return gtu_fail(r->err, GTU_ERR_UNSUPPORTED,
					"%s on a GPU supports at most 2^32 - 1 edges of a vertex, but vertex %llu has more",
					r->name, (unsigned long long)gtu_graph_id(r->g, v));
	return 0;
}

int gpu_cores_begin(struct gpu_run *r, CUdeviceptr left, CUdeviceptr core, CUdeviceptr queue)
{
	uint64_t items;
	void *state[] = { &left, &core, NULL }, *loops[] = { &queue, &items, &left, NULL };
	int rc = gpu_run_launch(r, "cores_begin", NULL, false, r->graph.n, state);

	if (!rc)
		rc = gpu_visit_collect(r, 0, 0, queue, &items);
	if (!rc && items)
		rc = gpu_run_launch(r, "cores_loops", NULL, true, items * 32, loops);
	return rc;
}

/* One launch of many rounds. */
static int peel(struct cores *c)
{
	struct gpu_run *r = &c->r;
	struct gpu_level log[GPU_LOOP_STEPS];
	uint32_t steps = GPU_LOOP_STEPS, i;
	void *args[] = { &c->left, &c->core, &c->queue[0], &c->queue[1], &c->items, &c->remaining, &c->k, &c->rest, &steps,
			 &c->log, NULL };
	int rc = gpu_fill(r->gpu, c->log, 0, sizeof(log), r->err);

	if (!rc)
		rc = gpu_visit_rounds(r, "cores_rounds", args, c->queue, &c->items);
	if (!rc)
		rc = gpu_download(r->gpu, log, c->log, r->counters.loop.steps * sizeof(log[0]), r->err);
	c->k = (uint32_t)r->counters.loop.bound;
	for (i = 0; !rc && i < r->counters.loop.steps; i++) {
		c->remaining -= log[i].vertices;
		if (log[i].vertices || log[i].edges)
			gpu_run_iteration(r, log[i].vertices);
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
		{ "remaining vertices", 4 * (n / 2 + n / 4 + 1), &c->rest },
		{ "rounds", sizeof(struct gpu_level) * GPU_LOOP_STEPS, &c->log },
	};
	int rc = gpu_run_allocate(r, part, 6);

	gtu_phase(&r->phases, "traverse");
	if (!rc)
		rc = gpu_cores_begin(r, c->left, c->core, c->queue[0]);
	for (c->remaining = n; !rc && c->remaining;)
		rc = peel(c);
	return rc;
}

int gpu_cores(struct gtu_device *dev, const struct gtu_algorithm_options *opt, void *core,
	      struct gtu_algorithm_stats *stats, struct gtu_error *err)
{
	struct cores c = { 0 };
	int rc = gpu_visit_begin(&c.r, dev, "cores", opt, stats, err);

	if (!rc)
		rc = gpu_cores_check(&c.r);
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

struct coloring {
	struct gpu_run r;
	CUdeviceptr key, waiting, color, taken, queue[2];
	uint64_t items, colored;
};

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
	uint32_t steps = GPU_LOOP_STEPS, i;
	void *rounds[] = { &c->key, &c->waiting, &c->color, &c->taken, &c->queue[0], &c->queue[1], &c->items, &steps, NULL };
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
		rc = gpu_visit_rounds(r, "color_rounds", rounds, c->queue, &c->items);
		c->colored += r->counters.vertices;
		for (i = 0; !rc && i < r->counters.loop.steps; i++)
			gpu_run_iteration(r, 0);
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
