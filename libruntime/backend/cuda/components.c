// SPDX-License-Identifier: MIT
/*
 * Weakly connected components: sampling from the cache, then the lists of vertices outside the
 * giant component.
 */
#include <math.h>
#include <stdlib.h>

#include "parts.h"

#define LINE	128.0
#define SLICES_LEAST	2	/* one slice of the lists in so many is joined first, */
#define SLICES_MOST	32	/* at least and at most */
#define ENOUGH	0.9		/* share of the vertices with edges in the giant component that ends the sampling */

struct components {
	struct gpu_run r;
	struct gpu_forest f;
	CUdeviceptr active[2];
};

int gpu_components_flatten(struct gpu_run *r, CUdeviceptr label)
{
	void *args[] = { &label, NULL };

	return gpu_run_launch(r, "components_flatten", NULL, false, r->graph.n, args);
}

static int ascending(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

int gpu_components_giant(struct gpu_run *r, const struct gpu_forest *f, uint32_t *giant, uint32_t *votes)
{
	uint32_t answer[GPU_SAMPLES], i, run = 0;
	CUdeviceptr label = f->label, samples = f->answer;
	void *args[] = { &label, &samples, NULL };
	int rc = gpu_run_launch(r, "components_ask", NULL, false, GPU_SAMPLES, args);

	if (!rc)
		rc = gpu_download(r->gpu, answer, samples, sizeof(answer), r->err);
	if (rc)
		return rc;
	qsort(answer, GPU_SAMPLES, sizeof(*answer), ascending);
	*votes = 0;
	for (i = 0; i < GPU_SAMPLES; i++) {
		run = i && answer[i] == answer[i - 1] ? run + 1 : 1;
		if (run > *votes) {
			*votes = run;
			*giant = answer[i];
		}
	}
	return 0;
}

int gpu_components_join(struct gpu_run *r, const struct gpu_forest *f, uint32_t giant, uint32_t slice)
{
	CUdeviceptr label = f->label, queue = f->queue;
	uint64_t items;
	void *collect[] = { &label, &giant, &slice, &queue, NULL }, *join[] = { &label, NULL };
	int rc = gpu_run_clear(r);

	if (!rc)
		rc = gpu_run_launch_vertices(r, &r->graph, "components_collect", NULL, true, collect);
	if (!rc)
		rc = gpu_run_read(r);
	items = r->counters.items;
	if (!rc && items)
		rc = gpu_run_launch_items(r, &r->graph, "components_join", NULL, queue, items, join);
	return rc ? rc : gpu_components_flatten(r, label);
}

/* Whether @share of the vertices with edges have the label of @votes samples. */
static bool joined(const struct gpu_run *r, uint32_t votes, double share)
{
	return votes * (double)(r->graph.end - r->graph.first) >= share * GPU_SAMPLES * (double)r->gpu->placed.connected;
}

/*
 * One slice in how many to join first, to find the giant component. In a random graph of degree d, a share f of
 * the lists leaves about exp(-fd) of the others' vertices elsewhere, whose lists are read as well, with an own
 * line each: f + c exp(-fd) is least for f = ln(cd) / d.
 */
static uint32_t slices(const struct gpu_run *r)
{
	const double degree = (double)r->graph.m / (double)(r->gpu->placed.connected + 1),
		     cost = 1 + LINE / (gpu_entry_bytes(r->gpu) * degree + 1), share = log(fmax(cost * degree, 2)) / fmax(degree, 1);

	return (uint32_t)fmin(fmax(round(1 / share), SLICES_LEAST), SLICES_MOST);
}

/* Join vertices with a few neighbours each; the giant component is that of the most frequent label, by *votes samples. */
static int sample(struct gpu_run *r, struct gpu_forest *f, uint32_t *votes)
{
	const uint32_t rounds = f->in_place ? GPU_CACHE_MAX : r->graph.cache_degree;
	uint32_t i;
	void *args[] = { &f->label, &i, &f->giant, NULL }, *link[] = { &f->label, NULL };
	int rc = gpu_run_launch(r, f->in_place ? "components_link" : "components_begin", NULL, f->in_place, r->graph.n, link);

	if (!rc && f->in_place)
		rc = gpu_components_flatten(r, f->label);
	for (i = 0; i < rounds && !rc && !(f->in_place && joined(r, *votes, ENOUGH)); i++) {
		rc = gpu_run_launch(r, f->in_place ? "components_join_one" : "components_sample", NULL, f->in_place, r->graph.n, args);
		if (!rc)
			rc = gpu_components_flatten(r, f->label);
		if (!rc && f->skips)
			rc = gpu_components_giant(r, f, &f->giant, votes);
	}
	return rc;
}

int gpu_components_hook(struct gpu_run *r, struct gpu_forest *f)
{
	uint32_t votes = 0, rest = GPU_SLICE_ALL;
	int rc;

	f->giant = GPU_NO_VERTEX;
	rc = sample(r, f, &votes);
	/* without cached neighbours, or with few, less than half of the vertices with edges are joined */
	if (!rc && f->skips && !joined(r, votes, 0.5)) {
		rest = GPU_SLICE_REST | slices(r);
		rc = gpu_components_join(r, f, GPU_NO_VERTEX, slices(r));
		if (!rc)
			rc = gpu_components_giant(r, f, &f->giant, &votes);
	}
	return rc ? rc : gpu_components_join(r, f, f->giant, rest);
}

static int run_paper_kernels(struct components *c)
{
	struct gpu_run *r = &c->r;
	/*
	 * labels also propagate against edges: if an edge is stored once, its source must check
	 * again
	 */
	uint32_t all_vertices = !r->undirected || !r->whole;
	void *args[] = { &c->f.label, &c->active[0], &c->active[1], &all_vertices, NULL };
	int rc = gpu_fill(r->gpu, c->active[0], 1, r->graph.n, r->err);

	while (!rc) {
		rc = gpu_fill(r->gpu, c->active[1], 0, r->graph.n, r->err);
		if (!rc)
			rc = gpu_run_clear(r);
		if (!rc)
			rc = gpu_run_launch(r, "emogi_components", gpu_run_mode(r), true, r->graph.n, args);
		if (!rc)
			rc = gpu_run_read(r);
		gpu_swap(c->active);
		gpu_run_iteration(r, 0);
		if (!rc && !r->counters.changed)
			break;
	}
	return rc;
}

static int prepare(struct components *c)
{
	struct gpu_run *r = &c->r;
	void *args[] = { &c->f.label, NULL };
	const struct gpu_part part[] = {
		{ "labels", 4 * r->graph.n, &c->f.label }, { "samples", 4 * GPU_SAMPLES, &c->f.answer },
		{ "queue", gpu_run_queue_bytes(r), &c->f.queue },
	}, paper[] = {
		{ "labels", 4 * r->graph.n, &c->f.label }, { "active vertices", r->graph.n, &c->active[0] },
		{ "vertices active next", r->graph.n, &c->active[1] },
	};
	int rc;

	/* samples would join vertices outside the range */
	if (!r->whole || c->f.in_place)
		r->graph.cache_degree = 0;
	rc = gpu_run_allocate(r, r->opt->kernel == GTU_KERNEL_AUTO ? part : paper, 3);
	if (!rc)
		rc = gpu_wait(r->gpu, "setting up", r->err);
	gtu_phase(&r->phases, "traverse");
	return rc || r->opt->kernel == GTU_KERNEL_AUTO ? rc : gpu_run_launch(r, "components_begin", NULL, false, r->graph.n, args);
}

int gpu_components(struct gtu_device *dev, const struct gtu_algorithm_options *opt, void *component,
		   struct gtu_algorithm_stats *stats, struct gtu_error *err)
{
	const struct gpu *gpu = dev->backend;
	const struct gtu_graph *g = gpu->placed.graph;
	struct components c = {
		.f.in_place = gpu->placement.edges == GTU_EDGES_DEVICE && gpu->placement.edge_bytes && opt->kernel == GTU_KERNEL_AUTO &&
			    !(g->flags & GTU_GRAPH_DIRECTED) && !opt->first_vertex && (!opt->end_vertex || opt->end_vertex == g->n),
	};
	/* filling the cache takes longer than the run without it: neighbours are used that a search has cached */
	int rc = gpu_run_begin(&c.r, dev, "components", opt, stats, GPU_CACHE_EMPTY, err);

	if (!rc && c.r.graph.n) {
		/* a directed edge may be stored in the giant component only */
		c.f.skips = c.r.undirected && c.r.whole;
		c.r.stats->iterations = opt->kernel == GTU_KERNEL_AUTO;
		rc = prepare(&c);
		if (!rc)
			rc = opt->kernel == GTU_KERNEL_AUTO ? gpu_components_hook(&c.r, &c.f) : run_paper_kernels(&c);
		if (!rc)
			rc = gpu_run_read(&c.r);
		if (!rc)
			rc = gpu_visit_result(&c.r, component, c.f.label);
		c.r.stats->vertices = c.r.graph.n;
		c.r.stats->edges = c.r.graph.m;
	}
	return gpu_run_end(&c.r, rc);
}
