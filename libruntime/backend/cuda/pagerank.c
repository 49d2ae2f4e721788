// SPDX-License-Identifier: MIT
/*
 * PageRank: pulls over an undirected graph; pushes over a directed one, as the paper's kernels do.
 */
#include <math.h>

#include "parts.h"

#define DAMPING			0.85
#define ITERATIONS		20
#define ITERATIONS_EPSILON	1000

struct pagerank {
	struct gpu_run r;
	double damping, dangling, bound;	/* bound: no vertex contributes more to a neighbour */
	uint64_t iterations, tiles;
	CUdeviceptr rank, sum, contrib, first;
	CUdeviceptr queue;		/* compressed lists: work items of all vertices */
	uint64_t items;
	bool bits;			/* read the bit-packed list */
	bool blocks;			/* read the edges in blocks, of which */
	CUdeviceptr value;		/* each has a value, */
	double scale;			/* in units of 1 / scale, as contributions are; 0: they are doubles */
	struct gpu_graph *back;		/* the lists that lead to each vertex */
	bool pulls;			/* there are such lists */
};

static double damping_of(const struct gtu_algorithm_options *opt)
{
	return opt->damping == 0 ? DAMPING : opt->damping;
}

static uint64_t iterations_of(const struct gtu_algorithm_options *opt)
{
	return opt->iterations ? opt->iterations : opt->epsilon > 0 ? ITERATIONS_EPSILON : ITERATIONS;
}

int gpu_pagerank_parameters(const struct gpu_run *r, double *damping, uint64_t *iterations)
{
	const struct gtu_algorithm_options *opt = r->opt;

	*damping = damping_of(opt);
	if (!(*damping > 0 && *damping < 1))
		return gtu_fail(r->err, GTU_ERR_USAGE, "a damping factor of %g is out of "
				"range: it must be between 0 and 1", *damping);
	if (!(opt->epsilon >= 0))
		return gtu_fail(r->err, GTU_ERR_USAGE, "an epsilon of %g is out of range: it "
				"must be 0 or more", opt->epsilon);
	*iterations = iterations_of(opt);
	return 0;
}

static int set_parameters(struct pagerank *p)
{
	if (!p->r.whole)
		return gtu_fail(p->r.err, GTU_ERR_UNSUPPORTED,
				"PageRank over a part of the vertices is not supported: it needs "
				"the ranks of the other parts after each iteration");
	return gpu_pagerank_parameters(&p->r, &p->damping, &p->iterations);
}

static int update(struct pagerank *p, uint32_t begin)
{
	const double base = (1 - p->damping + p->damping * p->dangling) / (double)p->r.graph.n;
	void *args[] = { &p->rank, &p->sum, &p->contrib, &p->scale, &p->damping, &p->dangling, &begin, NULL };
	int rc = gpu_run_clear(&p->r);

	/* of d neighbours, none contributes more than the bound: a rank is at most base + damping * d * bound */
	p->bound = begin ? 1 / (double)p->r.graph.n : base + p->damping * p->bound;
	if (p->blocks)
		p->scale = GPU_FIXED_MOST / p->bound;
	if (!rc)
		rc = gpu_run_launch(&p->r, "pagerank_update", NULL, false, p->r.graph.n, args);
	if (!rc)
		rc = gpu_run_read(&p->r);
	p->dangling = p->r.counters.dangling;
	return rc;
}

static int pass(struct pagerank *p)
{
	const char *mode = gpu_run_mode(&p->r);
	void *pull[] = { &p->first, &p->tiles, &p->contrib, &p->sum, NULL }, *push[] = { &p->contrib, &p->sum, NULL };
	struct gpu_placed *at = &p->r.gpu->placed;
	void *bits[] = { &at->bits_list.device, &at->cache.device, &at->cached_share, &at->bits, &p->first, &p->tiles,
			 &p->contrib, &p->sum, NULL };

	void *compressed[] = { &p->queue, &p->items, &p->contrib, &p->sum, NULL };

	if (p->blocks)
		return gpu_blocks_pass(&p->r, p->value, p->scale, p->contrib, p->sum);
	if (p->queue)
		return gpu_run_launch_over(&p->r, p->back, p->pulls ? "pagerank_pull" : "pagerank_push", NULL, true,
					   p->items * 32, compressed);
	if (p->bits)
		return gpu_run_launch(&p->r, "pagerank_pull_bits", NULL, false, p->tiles * GPU_BLOCK, bits);
	if (!mode && p->pulls)
		return gpu_run_launch_over(&p->r, p->back, "pagerank_pull", NULL, true, p->tiles * GPU_BLOCK, pull);
	return gpu_run_launch(&p->r, "emogi_push", mode ? mode : "_aligned", true, p->r.graph.n, push);
}

/* Collect the work items of all lists, once for all iterations. */
static int list_items(struct pagerank *p)
{
	struct gpu_run *r = &p->r;
	uint32_t no_giant = GPU_NO_VERTEX, slice = GPU_SLICE_ALL;
	void *args[] = { &p->first, &no_giant, &slice, &p->queue, NULL };
	int rc = gpu_run_allocate(r, &(struct gpu_part){ "queue", gpu_run_queue_bytes(r), &p->queue }, 1);

	p->back->cache_degree = 0;
	if (!rc)
		rc = gpu_run_clear(r);
	if (!rc)
		rc = gpu_run_launch_over(r, p->back, "components_collect", NULL, true, r->graph.n, args);
	if (!rc)
		rc = gpu_run_read(r);
	p->items = r->counters.items;
	return rc;
}

static int iterate(struct pagerank *p)
{
	struct gpu_run *r = &p->r;
	uint64_t n = r->graph.n;
	const uint64_t tiles = (r->graph.m + GPU_TILE - 1) / GPU_TILE;
	const struct gpu_part part[] = {
		{ "ranks", 8 * n, &p->rank }, { "sums", 8 * n, &p->sum }, { "contributions", 8 * n, &p->contrib },
		{ "tiles", 4 * (tiles + 1), &p->first },
	};
	void *args[] = { &p->first, &p->tiles, NULL };
	int rc = gpu_run_allocate(r, part, 4);

	p->blocks = !rc && p->blocks && gpu_blocks_values(r, &p->value);
	if (!rc)
		rc = gpu_run_back(r, GPU_CACHE_PREFIX, &p->back, &p->pulls);
	p->tiles = tiles;
	if (!rc)
		rc = gpu_run_launch_over(r, p->back, "pagerank_tiles", NULL, false, p->tiles + 1, args);
	if (!rc && !r->gpu->placement.edge_bytes)
		rc = list_items(p);
	if (!rc)
		rc = gpu_wait(r->gpu, "setting up", r->err);
	gtu_phase(&r->phases, "traverse");
	if (!rc)
		rc = update(p, 1);
	while (!rc && r->stats->iterations < p->iterations) {
		rc = pass(p);
		if (!rc)
			rc = update(p, 0);
		r->stats->edges += r->graph.m;
		gpu_run_iteration(r, n);
		if (p->pulls && !r->undirected)
			r->stats->pull_end = r->stats->iterations;
		if (!rc && r->opt->epsilon > 0 && r->counters.max <= r->opt->epsilon)
			break;
	}
	return rc;
}

int gpu_pagerank(struct gtu_device *dev, const struct gtu_algorithm_options *opt, void *rank,
		 struct gtu_algorithm_stats *stats, struct gtu_error *err)
{
	const struct gpu *gpu = dev->backend;
	const bool undirected = !(gpu->placed.graph->flags & GTU_GRAPH_DIRECTED);
	struct pagerank p = { .bits = opt->kernel == GTU_KERNEL_AUTO && gpu_packed_helps(gpu) && undirected };
	int rc;

	p.blocks = opt->kernel == GTU_KERNEL_AUTO &&
		   gpu_blocks_help(gpu, undirected, gpu->placed.connected, iterations_of(opt), damping_of(opt));
	rc = gpu_run_begin(&p.r, dev, "pagerank", opt, stats,
			   p.bits ? GPU_CACHE_BITS : p.blocks ? GPU_CACHE_BLOCKS : GPU_CACHE_PREFIX, err);

	p.bits = p.bits && gpu_packed_helps(gpu);
	if (!rc)
		rc = set_parameters(&p);
	if (!rc && p.r.graph.n) {
		rc = iterate(&p);
		gtu_phase(&p.r.phases, "result");
		if (!rc)
			rc = gpu_download(p.r.gpu, rank, p.rank, 8 * p.r.graph.n, err);
		p.r.stats->vertices = p.r.graph.n;
	}
	return gpu_run_end(&p.r, rc);
}
