// SPDX-License-Identifier: MIT
/*
 * PageRank over several GPUs. Over an undirected graph a rank pulls: it sums what all vertices contribute to
 * its own, and the ranks gather the contributions after each iteration. Over a directed graph it pushes, and
 * sends the sums to the owners.
 */
#include "parts.h"
#include "ranks.h"

struct pagerank {
	struct gpu_ranks *k;
	double damping, dangling, change;
	double bound, scale;		/* as in pagerank.c: with blocks, contributions are fixed-point numbers */
	uint64_t iterations, tiles, items;
	bool pulls;
	CUdeviceptr rank;		/* of own vertices */
	CUdeviceptr contrib;		/* of all, */
	uint32_t width;			/* of so many bytes */
	CUdeviceptr sum;		/* of own, or if ranks push, of all */
	CUdeviceptr first, queue;	/* tiles; compressed lists: work items */
	bool blocks;			/* pull by the edges in blocks, of which */
	CUdeviceptr value;		/* each has a value */
};

/* The address by which kernels reach the sums with the numbers of the whole graph. */
static CUdeviceptr sum_by_number(const struct pagerank *p)
{
	return p->pulls ? p->sum - 8 * p->k->first : p->sum;
}

/* Ranks from sums, and contributions. Collective. */
static int update(struct pagerank *p, uint32_t begin, int rc)
{
	struct gpu_ranks *k = p->k;
	CUdeviceptr sum = sum_by_number(p);
	const double n = (double)k->run->graph->n, base = (1 - p->damping + p->damping * p->dangling) / n;
	void *args[] = { &p->rank, &sum, &p->contrib, &p->scale, &p->damping, &p->dangling, &begin, NULL };
	uint64_t none = 0;

	p->bound = begin ? 1 / n : base + p->damping * p->bound;
	p->scale = p->blocks ? GPU_FIXED_MOST / p->bound : 0;

	if (!rc)
		rc = gpu_run_clear(&k->r);
	if (!rc)
		rc = gpu_run_launch(&k->r, "ranks_update", NULL, false, k->own, args);
	if (!rc)
		rc = gpu_run_read(&k->r);
	p->dangling = k->r.counters.dangling;
	p->change = k->r.counters.max;
	rc = gtu_agree(k->x, rc, &none, 1);
	return rc ? rc : gtu_reduce(k->x, GTU_SUM_F64, &p->dangling);
}

/* The owners add the sums of all ranks, in their order. */
static int fold(struct pagerank *p)
{
	struct gpu_ranks *k = p->k;
	CUdeviceptr inbox;
	void *args[] = { &inbox, &p->sum, NULL };
	uint32_t i;
	int rc;

	for (i = 0; i < k->size; i++) {
		k->send[i] = p->sum + 8 * k->cut[i];
		k->send_bytes[i] = 8 * gpu_ranks_range(k, i);
		k->receive_bytes[i] = 8 * k->own;
	}
	rc = gpu_link_exchange(k, GTU_CARGO_VALUES, true);
	for (i = 0; i < k->size && !rc; i++) {
		inbox = k->receive[i];
		if (i != k->rank)
			rc = gpu_run_launch(&k->r, "ranks_add", NULL, false, k->own, args);
	}
	if (!rc && gpu_link_loads(k))
		rc = gpu_wait(k->r.gpu, k->r.name, k->r.err);
	return gpu_link_release(k, rc);
}

static int pass(struct pagerank *p)
{
	struct gpu_run *r = &p->k->r;
	CUdeviceptr sum = sum_by_number(p);
	void *tiles[] = { &p->first, &p->tiles, &p->contrib, &sum, NULL }, *push[] = { &p->contrib, &sum, NULL };
	void *items[] = { &p->queue, &p->items, &p->contrib, &sum, NULL };
	int rc = gpu_fill(r->gpu, p->sum, 0, 8 * (p->pulls ? p->k->own : r->graph.n), r->err);

	if (rc)
		return rc;
	if (p->blocks && !r->graph.m)
		return 0;
	if (p->blocks)
		return gpu_blocks_pass(r, p->value, p->scale, p->contrib, sum);
	if (p->queue)
		return gpu_run_launch(r, p->pulls ? "pagerank_pull" : "pagerank_push", NULL, true, p->items * 32, items);
	if (p->pulls)
		return gpu_run_launch(r, "pagerank_pull", NULL, true, p->tiles * GPU_BLOCK, tiles);
	return gpu_run_launch(r, "emogi_push", "_aligned", true, r->graph.n, push);
}

static int prepare(struct pagerank *p)
{
	struct gpu_ranks *k = p->k;
	struct gpu_run *r = &k->r;
	const uint64_t n = r->graph.n;
	void *tiles[] = { &p->first, &p->tiles, NULL };
	int rc;

	p->tiles = (r->graph.m + GPU_TILE - 1) / GPU_TILE;
	rc = gpu_run_allocate(r, (struct gpu_part[]){
		{ "ranks", 8 * k->own, &p->rank }, { "contributions", 8 * n, &p->contrib },
		{ "sums", 8 * (p->pulls ? k->own : n), &p->sum }, { "tiles", 4 * (p->tiles + 1), &p->first } }, 4);
	p->blocks = !rc && p->blocks && gpu_blocks_values(r, &p->value);
	if (!rc && r->gpu->placement.edge_bytes)
		return gpu_run_launch(r, "pagerank_tiles", NULL, false, p->tiles + 1, tiles);
	if (!rc)
		rc = gpu_run_allocate(r, &(struct gpu_part){ "queue", gpu_ranks_queue_bytes(k), &p->queue }, 1);
	return rc ? rc : gpu_visit_collect(r, 0, 0, p->queue, &p->items);
}

/* Divide the list of an undirected graph into blocks, if that helps all ranks. Collective. */
static int fill_blocks(struct pagerank *p)
{
	struct gpu_ranks *k = p->k;
	struct gpu_run *r = &k->r;
	uint64_t sum = r->gpu->placed.connected;
	int rc = gtu_agree(k->x, 0, &sum, 1);

	if (rc)
		return rc;
	p->blocks = gpu_blocks_help(r->gpu, p->pulls, sum, p->iterations, p->damping);
	gtu_phase(&r->phases, "cache");
	rc = p->blocks ? gpu_cache_fill(r->gpu, GPU_CACHE_BLOCKS, r->err) : 0;
	gtu_phase(&r->phases, "setup");
	if (!rc)
		rc = prepare(p);
	sum = p->blocks || !r->graph.m;
	rc = gtu_agree(k->x, rc, &sum, 1);
	p->blocks = sum == k->size;
	p->width = p->blocks ? 4 : 8;
	return rc;
}

static int iterate(struct pagerank *p)
{
	struct gpu_ranks *k = p->k;
	struct gpu_run *r = &k->r;
	uint64_t none = 0;
	int rc = fill_blocks(p);

	gtu_phase(&r->phases, "traverse");
	if (!rc)
		rc = update(p, 1, 0);
	while (!rc && r->stats->iterations < p->iterations) {
		if (p->pulls)
			rc = gpu_link_gather_values(k, p->contrib, p->width);
		if (!rc)
			rc = pass(p);
		if (!p->pulls) {
			rc = gtu_agree(k->x, rc, &none, 1);
			if (!rc)
				rc = fold(p);
		}
		rc = update(p, 0, rc);
		r->stats->edges += r->graph.m;
		gpu_run_iteration(r, r->graph.n);
		if (rc || !(k->run->opt->epsilon > 0))
			continue;
		rc = gtu_reduce(k->x, GTU_MAX_F64, &p->change);
		if (p->change <= k->run->opt->epsilon)
			break;
	}
	return rc;
}

int gpu_ranked_pagerank(struct gpu_ranks *k)
{
	struct pagerank p = { .k = k, .pulls = !(k->run->graph->flags & GTU_GRAPH_DIRECTED) };
	int rc = gpu_pagerank_parameters(&k->r, &p.damping, &p.iterations);

	/* all ranks have the same options */
	if (rc)
		return rc;
	rc = iterate(&p);
	gtu_phase(&k->r.phases, "result");
	if (!rc)
		rc = gpu_download(k->r.gpu, k->run->result, p.rank, 8 * k->own, k->r.err);
	k->r.stats->vertices = k->own;
	return rc;
}
