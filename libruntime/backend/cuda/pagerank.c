// SPDX-License-Identifier: MIT
/*
 * PageRank: pulls over an undirected graph; pushes over a directed one, as the paper's kernels do. Iterations are power
 * iterations, except to converge on an undirected graph: these are conjugate gradients (kernels/pagerank_converge.cuh).
 */
#include <math.h>

#include "parts.h"

#define DAMPING			0.85
#define ITERATIONS		20
#define ITERATIONS_EPSILON	1000
#define BLOCKS_EPSILON		1e-6	/* least epsilon for which blocks are accurate enough, in units of 1 / n */
/*
 * The greatest residual, in units of (1 - damping) * epsilon: each rank is then within CONVERGED * n * epsilon of its
 * converged value, relatively. Less than 1, because conjugate gradients leave residuals at all vertices, and power
 * iterations at few: with 1, ranks of a road network were farther from converged ones in total.
 */
#define CONVERGED		0.25

struct pagerank {
	struct gpu_run r;
	double damping, dangling, bound;	/* bound: no vertex contributes more to a neighbour */
	uint64_t iterations, tiles;
	CUdeviceptr rank, sum, contrib, residual, first;
	CUdeviceptr queue;		/* compressed lists: work items of all vertices */
	uint64_t items;
	bool bits;			/* read the bit-packed list */
	bool blocks;			/* read the edges in blocks, of which */
	CUdeviceptr value;		/* each has a value, */
	double scale;			/* in units of 1 / scale, as contributions are; 0: they are doubles */
	struct gpu_graph *back;		/* the lists that lead to each vertex */
	bool pulls;			/* there are such lists */
	bool converges;			/* by conjugate gradients, with residuals */
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
	CUdeviceptr all = 0;
	uint32_t unused = 0;
	void *args[] = { &all, &unused, &p->queue, NULL };
	int rc = gpu_run_allocate(r, &(struct gpu_part){ "queue", gpu_run_queue_bytes(r), &p->queue }, 1);

	if (!rc)
		rc = gpu_run_pass(r, p->back, "visit_collect", NULL, true, GPU_STRIP, args);
	p->items = r->counters.items;
	return rc;
}

static int prepare(struct pagerank *p)
{
	struct gpu_run *r = &p->r;
	uint64_t n = r->graph.n;
	const uint64_t tiles = (r->graph.m + GPU_TILE - 1) / GPU_TILE;
	const struct gpu_part part[] = {
		{ "ranks", 8 * n, &p->rank }, { "sums", 8 * n, &p->sum }, { "contributions", 8 * n, &p->contrib },
		{ "tiles", 4 * (tiles + 1), &p->first }, { "residuals", 8 * n, &p->residual },
	};
	void *args[] = { &p->first, &p->tiles, NULL };
	int rc = gpu_run_allocate(r, part, p->converges ? 5 : 4);

	p->blocks = !rc && p->blocks && gpu_blocks_values(r, &p->value);
	if (!rc)
		rc = gpu_run_back(r, GPU_CACHE_PREFIX, &p->back, &p->pulls);
	p->tiles = tiles;
	if (!rc)
		rc = gpu_run_launch_over(r, p->back, "pagerank_tiles", NULL, false, p->tiles + 1, args);
	if (!rc && !r->gpu->placement.edge_bytes)
		rc = list_items(p);
	return rc ? rc : gpu_wait(r->gpu, "setting up", r->err);
}

static void count_iteration(struct pagerank *p)
{
	p->r.stats->edges += p->r.graph.m;
	gpu_run_iteration(&p->r, p->r.graph.n);
	if (p->pulls && !p->r.undirected)
		p->r.stats->pull_end = p->r.stats->iterations;
}

static int iterate(struct pagerank *p)
{
	struct gpu_run *r = &p->r;
	int rc = update(p, 1);

	while (!rc && r->stats->iterations < p->iterations) {
		rc = pass(p);
		if (!rc)
			rc = update(p, 0);
		count_iteration(p);
		if (!rc && r->opt->epsilon > 0 && r->counters.max <= r->opt->epsilon)
			break;
	}
	return rc;
}

/* Launch a kernel that adds up counters.product, or other counters, of all vertices. */
static int reduce(struct pagerank *p, const char *kernel, bool widths, void **args)
{
	int rc = gpu_run_clear(&p->r);

	if (!rc)
		rc = gpu_run_launch(&p->r, kernel, NULL, widths, p->r.graph.n, args);
	return rc ? rc : gpu_run_read(&p->r);
}

/*
 * Choose ranks to start from. Vertices without edges have the rank @base. Each other component has base / (1 - d) for
 * each of its vertices, and ranks in it depend on degrees. The components are unknown, except for pairs of vertices:
 * the only small ones of which random graphs have many.
 */
static int start(struct pagerank *p, double base)
{
	struct gpu_run *r = &p->r;
	double paired = base / (1 - p->damping), share, left;
	void *mark[] = { &p->rank, NULL }, *args[] = { &p->rank, &p->contrib, &p->sum, &base, &paired, &share, NULL };
	int rc = reduce(p, "pagerank_pairs", true, mark);

	left = (double)(r->graph.m - r->counters.vertices);
	share = left > 0 ? p->damping * paired * (double)(r->gpu->placed.connected - r->counters.vertices) / left : 0;
	return rc ? rc : gpu_run_launch(r, "pagerank_start", NULL, false, r->graph.n, args);
}

static int converge(struct pagerank *p)
{
	struct gpu_run *r = &p->r;
	const double n = (double)r->graph.n, alone = n - (double)r->gpu->placed.connected;
	const double most = CONVERGED * (1 - p->damping) * r->opt->epsilon;
	double base = (1 - p->damping) / (n - p->damping * alone), step = 0, keep = 0, square = 0;
	uint32_t begin = 1;
	void *curvature[] = { &p->contrib, &p->sum, &p->damping, NULL };
	void *residual[] = { &p->rank, &p->residual, &p->contrib, &p->sum, &base, &p->damping, &step, &begin, NULL };
	void *direction[] = { &p->residual, &p->contrib, &p->sum, &keep, NULL }, *finish[] = { &p->rank, &p->residual, NULL };
	int rc = start(p, base);

	for (; !rc; begin = 0) {
		rc = pass(p);
		if (!rc && !begin)
			rc = reduce(p, "pagerank_curvature", false, curvature);
		/* a product of 0 is an underflow: the ranks have converged */
		step = !begin && r->counters.product > 0 ? square / r->counters.product : 0;
		if (!rc)
			rc = reduce(p, "pagerank_residual", false, residual);
		count_iteration(p);
		if (rc || r->counters.max <= most || r->stats->iterations == p->iterations)
			break;
		keep = square > 0 ? r->counters.product / square : 0;
		square = r->counters.product;
		rc = gpu_run_launch(r, "pagerank_direction", NULL, false, r->graph.n, direction);
	}
	return rc ? rc : gpu_run_launch(r, "pagerank_finish", NULL, false, r->graph.n, finish);
}

int gpu_pagerank(struct gtu_device *dev, const struct gtu_algorithm_options *opt, void *rank,
		 struct gtu_algorithm_stats *stats, struct gtu_error *err)
{
	const struct gpu *gpu = dev->backend;
	const bool undirected = !(gpu->placed.graph->flags & GTU_GRAPH_DIRECTED);
	/* a caller who gives a number of iterations gets power iterations */
	const bool converging = opt->epsilon > 0 && !opt->iterations && opt->kernel == GTU_KERNEL_AUTO && undirected;
	struct pagerank p = { .bits = opt->kernel == GTU_KERNEL_AUTO && gpu_packed_helps(gpu) && undirected };
	int rc;

	/* blocks are for contributions that are not negative, whose fixed-point numbers limit the accuracy */
	p.blocks = opt->kernel == GTU_KERNEL_AUTO && !(converging && opt->epsilon * (double)gpu->placed.args.n < BLOCKS_EPSILON) &&
		   gpu_blocks_help(gpu, undirected, gpu->placed.connected, iterations_of(opt), damping_of(opt));
	rc = gpu_run_begin(&p.r, dev, "pagerank", opt, stats,
			   p.bits ? GPU_CACHE_BITS : p.blocks ? GPU_CACHE_BLOCKS : GPU_CACHE_PREFIX, err);

	p.bits = p.bits && gpu_packed_helps(gpu);
	p.blocks = p.blocks && gpu->placed.block_start.kind;
	p.converges = converging && !p.blocks;
	if (!rc)
		rc = set_parameters(&p);
	if (!rc && p.r.graph.n) {
		rc = prepare(&p);
		gtu_phase(&p.r.phases, "traverse");
		if (!rc)
			rc = p.converges ? converge(&p) : iterate(&p);
		gtu_phase(&p.r.phases, "result");
		if (!rc)
			rc = gpu_download(p.r.gpu, rank, p.rank, 8 * p.r.graph.n, err);
		p.r.stats->vertices = p.r.graph.n;
	}
	return gpu_run_end(&p.r, rc);
}
