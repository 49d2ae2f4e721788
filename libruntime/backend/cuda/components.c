// SPDX-License-Identifier: MIT
/*
 * Weakly connected components: sampling, or a search in lists on the card, then the lists of vertices outside
 * the giant component.
 */
#include <math.h>
#include <stdlib.h>

#include "parts.h"

#define SLICES_LEAST	2	/* one slice of the lists in so many is joined first, */
#define SLICES_MOST	32	/* at least and at most */
#define ENOUGH	0.9		/* share of the vertices with edges in the giant component that ends the sampling */

struct components {
	struct gpu_run r;
	bool in_place;			/* search or sample the lists, which are on the card, not the cache */
	CUdeviceptr label, queue, answer, active[2];
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

int gpu_components_giant(struct gpu_run *r, CUdeviceptr label, CUdeviceptr samples, uint32_t *giant, uint32_t *votes)
{
	uint32_t answer[GPU_SAMPLES], i, run = 0;
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

int gpu_components_join_items(struct gpu_run *r, CUdeviceptr label, CUdeviceptr queue, uint64_t items)
{
	void *join[] = { &label, NULL };
	int rc = items ? gpu_run_launch_items(r, &r->graph, "components_join", NULL, queue, items, join) : 0;

	return rc ? rc : gpu_components_flatten(r, label);
}

int gpu_components_join(struct gpu_run *r, CUdeviceptr label, CUdeviceptr queue, uint32_t giant, uint32_t slice)
{
	void *collect[] = { &label, &giant, &slice, &queue, NULL };
	int rc = gpu_run_pass(r, &r->graph, "components_collect", NULL, true, GPU_RUN, collect);

	return rc ? rc : gpu_components_join_items(r, label, queue, r->counters.items);
}

/* Whether @share of the vertices with edges have the label of @votes samples. */
static bool joined(const struct components *c, uint32_t votes, double share)
{
	const struct gpu_run *r = &c->r;

	return votes * (double)r->graph.n >= share * GPU_SAMPLES * (double)r->gpu->placed.connected;
}

/*
 * One slice in how many to join first, to find the giant component. In a random graph of degree d, a share f of
 * the lists leaves about exp(-fd) of the others' vertices elsewhere, whose lists are read as well, with an own
 * line each: f + c exp(-fd) is least for f = ln(cd) / d. Lists of few neighbours are read at once.
 */
uint32_t gpu_components_slices(const struct gpu *gpu, uint64_t edges, uint64_t connected)
{
	const double degree = (double)edges / (double)(connected + 1),
		     cost = 1 + LINE / (gpu_entry_bytes(gpu) * degree + 1), share = log(fmax(cost * degree, 2)) / fmax(degree, 1),
		     slices = fmin(fmax(round(1 / share), SLICES_LEAST), SLICES_MOST);

	return 1 / slices + cost * exp(-degree / slices) < 1 ? (uint32_t)slices : GPU_SLICE_ALL;
}

/* Join vertices with a few neighbours each; *giant: the most frequent label, by *votes samples. */
static int sample(struct components *c, bool skips, uint32_t *giant, uint32_t *votes)
{
	struct gpu_run *r = &c->r;
	const uint32_t rounds = c->in_place ? GPU_CACHE_MAX : r->graph.cache_degree;
	uint32_t i;
	void *args[] = { &c->label, &i, giant, NULL }, *link[] = { &c->label, NULL };
	int rc = 0;

	if (c->in_place)
		rc = gpu_run_launch(r, "components_link", NULL, true, r->graph.n, link);
	if (!rc && c->in_place)
		rc = gpu_components_flatten(r, c->label);
	for (i = 0; i < rounds && !rc && !(c->in_place && joined(c, *votes, ENOUGH)); i++) {
		rc = gpu_run_launch(r, c->in_place ? "components_join_one" : "components_sample", NULL, c->in_place, r->graph.n, args);
		if (!rc)
			rc = gpu_components_flatten(r, c->label);
		if (!rc && skips)
			rc = gpu_components_giant(r, c->label, c->answer, giant, votes);
	}
	return rc;
}

/* Label a connected set of vertices, and join the others with their neighbours. */
static int join_others(struct components *c, struct gpu_component *found)
{
	struct gpu_run *r = &c->r;
	uint32_t flip = ~0u;
	CUdeviceptr isolated = r->gpu->placed.isolated.device;
	void *least[] = { &found->visited, &isolated, &c->answer, NULL },
	     *paint[] = { &found->visited, &isolated, &c->answer, &c->label, NULL },
	     *collect[] = { &found->visited, &flip, &found->queue, NULL };
	int rc = gpu_fill(r->gpu, c->answer, 0xff, 4, r->err);

	if (!rc)
		rc = gpu_run_launch(r, "components_least", NULL, false, r->graph.n / 32 + 1, least);
	if (!rc)
		rc = gpu_run_launch(r, "components_paint", NULL, false, r->graph.n, paint);
	if (!rc)
		rc = gpu_run_clear(r);
	if (!rc)
		rc = gpu_run_launch(r, "bfs_collect_bits", NULL, true, r->graph.n / 32 + 1, collect);
	if (!rc)
		rc = gpu_run_read(r);
	return rc || !r->counters.items ? rc : gpu_components_join_items(r, c->label, found->queue, r->counters.items);
}

/*
 * Find most of the giant component by a search; *done: it was found, and the labels are complete. Sampling needs less
 * memory.
 */
static int search(struct components *c, bool *done)
{
	struct gpu_component found;
	int rc = gpu_bfs_component(&c->r, &found);

	c->queue = found.queue;
	if (rc == GTU_ERR_NOMEM)
		return gpu_run_allocate(&c->r, &(struct gpu_part){ "queue", gpu_run_queue_bytes(&c->r), &c->queue }, 1);
	*done = !rc && 2 * found.vertices >= c->r.gpu->placed.connected;
	return *done ? join_others(c, &found) : rc;
}

static int hook(struct components *c)
{
	struct gpu_run *r = &c->r;
	/*
	 * skipping is only valid if each edge is stored at both ends: a directed edge may be stored
	 * in the giant only
	 */
	bool skips = r->undirected && r->whole;
	const uint32_t slices = gpu_components_slices(r->gpu, r->graph.m, r->gpu->placed.connected);
	uint32_t giant = GPU_NO_VERTEX, votes = 0, rest = GPU_SLICE_ALL;
	bool done = false;
	int rc = c->in_place ? search(c, &done) : 0;

	r->stats->iterations = 1;
	if (rc || done)
		return rc;
	rc = sample(c, skips, &giant, &votes);
	/* without cached neighbours, or with few, less than half of the vertices with edges are joined */
	if (!rc && skips && slices && !joined(c, votes, 0.5)) {
		rest = GPU_SLICE_REST | slices;
		rc = gpu_components_join(r, c->label, c->queue, GPU_NO_VERTEX, slices);
		if (!rc)
			rc = gpu_components_giant(r, c->label, c->answer, &giant, &votes);
	}
	if (!rc)
		rc = gpu_components_join(r, c->label, c->queue, giant, rest);
	return rc;
}

static int run_paper_kernels(struct components *c)
{
	struct gpu_run *r = &c->r;
	/*
	 * labels also propagate against edges: if an edge is stored once, its source must check
	 * again
	 */
	uint32_t all_vertices = !r->undirected || !r->whole;
	void *args[] = { &c->label, &c->active[0], &c->active[1], &all_vertices, NULL };
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
	void *args[] = { &c->label, NULL };
	const struct gpu_part part[] = {
		{ "labels", 4 * r->graph.n, &c->label }, { "samples", 4 * GPU_SAMPLES, &c->answer },
		{ "queue", gpu_run_queue_bytes(r), &c->queue },
	}, paper[] = {
		{ "labels", 4 * r->graph.n, &c->label }, { "active vertices", r->graph.n, &c->active[0] },
		{ "vertices active next", r->graph.n, &c->active[1] },
	};
	int rc;

	/* samples would join vertices outside the range */
	if (!r->whole || c->in_place)
		r->graph.cache_degree = 0;
	/* the search has a queue, and components_link or the search writes all labels */
	rc = gpu_run_allocate(r, r->opt->kernel == GTU_KERNEL_AUTO ? part : paper, c->in_place ? 2 : 3);
	if (!rc)
		rc = gpu_wait(r->gpu, "setting up", r->err);
	if (rc || c->in_place)
		return rc;
	gtu_phase(&r->phases, "traverse");
	return gpu_run_launch(r, "components_begin", NULL, false, r->graph.n, args);
}

int gpu_components(struct gtu_device *dev, const struct gtu_algorithm_options *opt, void *component,
		   struct gtu_algorithm_stats *stats, struct gtu_error *err)
{
	const struct gpu *gpu = dev->backend;
	const struct gtu_graph *g = gpu->placed.graph;
	struct components c = {
		.in_place = gpu->placement.edges == GTU_EDGES_DEVICE && gpu->placement.edge_bytes && opt->kernel == GTU_KERNEL_AUTO &&
			    !(g->flags & GTU_GRAPH_DIRECTED) && !opt->first_vertex && (!opt->end_vertex || opt->end_vertex == g->n),
	};
	/* filling the cache takes longer than the run without it: neighbours are used that a search has cached */
	int rc = gpu_run_begin(&c.r, dev, "components", opt, stats, GPU_CACHE_EMPTY, err);

	if (!rc && c.r.graph.n) {
		rc = prepare(&c);
		if (!rc)
			rc = opt->kernel == GTU_KERNEL_AUTO ? hook(&c) : run_paper_kernels(&c);
		if (!rc)
			rc = gpu_run_read(&c.r);
		if (!rc)
			rc = gpu_visit_result(&c.r, component, c.label);
		c.r.stats->vertices = c.r.graph.n;
		c.r.stats->edges = c.r.graph.m;
	}
	return gpu_run_end(&c.r, rc);
}
