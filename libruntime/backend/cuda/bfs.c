// SPDX-License-Identifier: MIT
/*
 * Breadth-first search. The paper's kernels run top-down, level by level, over all vertices. The
 * default kernels choose the direction of each level by its cost on the link.
 */
#include <stdlib.h>

#include "parts.h"

#define LOOP_FROM	3		/* first level that may stay on the GPU */
#define GROWS		8		/* levels by which a component's search has a large frontier, or ends */
#define WARPS		64		/* warps of a multiprocessor that search lists, before one takes several */
#define PUSH_PARTS	64u		/* parts of the vertices, one of which is pushed at a time in a step bottom-up */
#define WORTH		1.25		/* lines that a part should save for each that it reads */
#define SHALLOW		16		/* levels after which a graph is deep: its last levels are for the loop */

struct bfs {
	struct gpu_run *r;
	uint64_t source;
	struct gpu_graph *back;		/* the lists that lead to each vertex */
	bool pulls;			/* there are such lists */
	bool in_place;			/* they are searched on the card, not their copy in the cache */
	CUdeviceptr level, visited, bits[2], queue[2];	/* level 0: bits are enough */
	CUdeviceptr loop_space, loop_log; /* of levels that stay on the GPU; 0: compressed lists */
	bool have_bits, have_queue;	/* valid representations of the frontier: bits[0], queue[0] */
	uint64_t items;			/* work items in queue[0] */
	uint64_t frontier, frontier_edges, unvisited;
	uint64_t left_edges;		/* of unvisited vertices */
	uint32_t now;
};

/* ---- The paper's kernels ------------------------------------------------------------------------- */

static int run_paper_kernels(struct bfs *b)
{
	struct gpu_run *r = b->r;
	void *args[] = { &b->level, &b->now, NULL };
	int rc;

	for (b->now = 0; b->now < GPU_UNREACHED - 1; b->now++) {
		rc = gpu_run_clear(r);
		if (!rc)
			rc = gpu_run_launch(r, "emogi_bfs", gpu_run_mode(r), true, r->graph.n, args);
		if (!rc)
			rc = gpu_run_read(r);
		if (rc)
			return rc;
		gpu_run_iteration(r, 0);
		if (!r->counters.changed)
			break;
	}
	return 0;
}

/* ---- Direction-optimizing ------------------------------------------------------------------------- */

/* Vertices that have lists to pull by. */
static uint64_t connected(const struct bfs *b)
{
	return b->r->undirected ? b->r->gpu->placed.connected : b->r->gpu->back.connected;
}

/*
 * Cost of a bottom-up step, in bytes over the link. The link serves a fixed number of requests per
 * second, of 32 or 128 bytes alike, so each request counts as a whole line. A vertex without a hit
 * in the cache reads lines until the first hit. (Of a directed graph, frontier_edges after a bottom-up
 * step counts the edges that lead to the frontier, about as many as leave it.)
 */
static double bottom_up_cost(const struct bfs *b)
{
	const struct gpu_graph *g = b->back;
	double width = gpu_entry_bytes(b->r->gpu), part = (double)b->frontier_edges / (double)g->m,
	       list = (double)g->m / (double)connected(b) * width / LINE + 1, lines, cached, asks;

	if (b->in_place)
		return gpu_pull_cost((double)g->n, (double)b->unvisited, part, (double)g->m / (double)connected(b));
	/*
	 * share of vertices with cached neighbours, then share of vertices without a hit among them
	 */
	cached = (double)g->cache_end / (double)g->n;
	asks = 1 - cached + cached * pow(1 - fmin(part, 1), g->cache_degree);
	lines = gpu_lines_to_hit(width, part, list, (double)b->unvisited * asks / (double)connected(b));
	return (double)b->unvisited * asks * lines * LINE +
	       (double)g->n * (8 + 4.0 * g->cache_degree * cached) * CARD_TO_LINK;
}

static double queue_cost(const struct bfs *b)
{
	return gpu_queue_cost((double)b->frontier, (double)b->frontier_edges);
}

static double mark_cost(const struct bfs *b)
{
	return gpu_mark_cost((double)b->frontier, (double)b->frontier_edges, (double)b->back->n);
}

/* Cost of a top-down step: a list starts and ends within a line. */
static double top_down_cost(const struct bfs *b)
{
	if (b->in_place)
		return fmin(queue_cost(b), mark_cost(b)) + (b->have_bits && b->now < SHALLOW ? (double)b->back->n * CARD_PASS : 0);
	return (double)b->frontier_edges * gpu_entry_bytes(b->r->gpu) + (double)b->frontier * LINE;
}

static int collect(struct bfs *b)
{
	uint32_t flip = 0;
	void *args[] = { &b->level, &b->now, &b->queue[0], NULL }, *bits[] = { &b->bits[0], &flip, &b->queue[0], NULL };
	int rc = b->in_place && b->have_bits ?
			 gpu_visit_step(b->r, "bfs_collect_bits", NULL, true, b->r->graph.n / 32 + 1, bits) :
			 gpu_run_pass(b->r, &b->r->graph, "visit_collect", NULL, true, GPU_STRIP, args);

	b->items = b->r->counters.items;
	b->have_queue = true;
	return rc;
}

static int top_down_step(struct bfs *b)
{
	uint32_t next = b->now + 1;
	void *args[] = { &b->visited, &b->level, &next, &b->queue[1], NULL };
	int rc = b->have_queue ? 0 : collect(b);

	if (!rc)
		rc = gpu_run_clear(b->r);
	if (!rc)
		rc = gpu_run_launch_items(b->r, &b->r->graph, "bfs_top_down", NULL, b->queue[0], b->items, args);
	if (!rc)
		rc = gpu_run_read(b->r);
	b->items = b->r->counters.items;
	b->have_queue = gpu_run_keeps_queue(b->r);
	gpu_swap(b->queue);
	b->have_bits = false;
	return rc;
}

/* The same for a large frontier of plain lists, whose next one is found by comparing bits. */
static int mark_step(struct bfs *b)
{
	uint32_t next = b->now + 1;
	void *copy[] = { &b->visited, &b->bits[0], NULL }, *mark[] = { &b->visited, NULL },
	     *settle[] = { &b->visited, &b->bits[0], &b->level, &next, NULL };
	int rc = b->have_queue ? 0 : collect(b);

	if (!rc)
		rc = gpu_run_launch(b->r, "bfs_copy", NULL, false, b->r->graph.n / 32 + 1, copy);
	if (!rc)
		rc = gpu_run_clear(b->r);
	if (!rc)
		rc = gpu_run_launch_items(b->r, &b->r->graph, "bfs_mark", NULL, b->queue[0], b->items, mark);
	if (!rc)
		rc = gpu_run_launch(b->r, "bfs_settle", NULL, false, b->r->graph.n / 32 + 1, settle);
	if (!rc)
		rc = gpu_run_read(b->r);
	b->have_queue = false;
	b->have_bits = true;
	return rc;
}

/* The frontier's bits, from its queue or, after levels that stayed on the GPU, from the levels. */
static int bits_of_frontier(struct bfs *b)
{
	void *levels[] = { &b->level, &b->now, &b->bits[0], NULL }, *queued[] = { &b->queue[0], &b->items, &b->bits[0], NULL };
	int rc;

	if (!b->in_place || !b->have_queue)
		return gpu_run_launch(b->r, "bfs_bits", NULL, false, b->r->graph.n, levels);
	rc = gpu_fill(b->r->gpu, b->bits[0], 0, (b->r->graph.n + 31) / 32 * 4, b->r->err);
	return rc ? rc : gpu_run_launch(b->r, "bfs_queue_bits", NULL, false, b->items, queued);
}

/* A bottom-up step over lists on the card. Each kernel takes the number of vertices that the one before has left. */
static int search_lists(struct bfs *b)
{
	uint32_t next = b->now + 1;
	void *first[] = { &b->bits[0], &b->visited, &b->level, &next, &b->bits[1], &b->queue[1], NULL };
	void *more[] = { &b->queue[1], &b->bits[0], &b->visited, &b->level, &next, &b->bits[1], &b->queue[0], NULL };
	void *rest[] = { &b->queue[0], &b->bits[0], &b->visited, &b->level, &next, &b->bits[1], NULL };
	int rc = b->have_bits ? 0 : bits_of_frontier(b);

	if (!rc)
		rc = gpu_fill(b->r->gpu, b->bits[1], 0, (b->r->graph.n + 31) / 32 * 4, b->r->err);
	if (!rc)
		rc = gpu_run_clear(b->r);
	if (!rc)
		rc = gpu_run_launch_over(b->r, b->back, "bfs_up_first", NULL, true, b->back->n / 32 + 1, first);
	if (!rc)
		rc = gpu_run_launch_over(b->r, b->back, "bfs_up_next", NULL, true, b->unvisited * 8, more);
	if (!rc)
		rc = gpu_run_launch_over(b->r, b->back, "bfs_up_rest", NULL, true, b->unvisited * 32, rest);
	if (!rc)
		rc = gpu_run_read(b->r);
	gpu_swap(b->bits);
	b->have_bits = true;
	b->have_queue = false;
	return rc;
}

int gpu_bfs_search_left(struct gpu_run *r, struct gpu_graph *lists, CUdeviceptr left, double part, void *to[static 6])
{
	const uint64_t warps = (uint64_t)r->gpu->info.multiprocessors * WARPS;
	uint64_t count = r->counters.left;
	uint32_t per = (uint32_t)(count / warps < 1 ? 1 : count / warps < 16 ? count / warps : 16),
		 /* entries of which one is in the frontier, nine times in ten */
		 enough = (uint32_t)fmin(fmax(log(0.1) / log(1 - fmin(part, 0.9)), 1), 32);
	void *args[] = { &count, &per, &enough, to[0], to[1], to[2], to[3], to[4], NULL };
	int rc;

	if (!count)
		return 0;
	rc = gpu_run_launch_items(r, lists, "bfs_bottom_up_list", NULL, left, (count + per - 1) / per, args);
	return rc ? rc : gpu_run_read(r);
}

/*
 * Reach vertices from parts of the frontier, as long as a line that this reads saves more than one of a search by those of
 * counters.left that are not reached: in a random graph of degree d, a share f of the lists leaves a share of about exp(-fd).
 */
static int push_some(struct bfs *b, double part, void *to[static 6])
{
	const struct gpu_run *r = b->r;
	const double width = gpu_entry_bytes(r->gpu), degree = (double)b->frontier_edges / (double)b->frontier,
		     /* the share of lists that follow another one of the frontier */
		     adjacent = (double)b->frontier / (double)r->gpu->placed.connected,
		     /* lines of a part; adjacent lists share one */
		     lines = (double)b->frontier / PUSH_PARTS * (degree * width / LINE + 1 - adjacent),
		     /* lines that a vertex reached saves; where most search, another one reads its line, too */
		     search = gpu_lines_to_hit(width, part, degree * width / LINE + 1, 0) *
			      (1 - (double)r->counters.left / (double)connected(b)),
		     reached = (double)b->frontier_edges / PUSH_PARTS * (double)b->left_edges / (double)r->graph.m;
	struct gpu_graph some = r->graph;
	uint64_t before;
	int rc = 0;

	/* most vertices with cached neighbours have been reached by them; edges that leave a directed frontier are not counted */
	if (!r->gpu->placement.edge_bytes || !r->undirected || !r->whole || b->back->cache_end > b->back->n / 2 ||
	    reached * search < WORTH * lines)
		return 0;
	for (some.first = 0; some.first < r->graph.n; some.first = some.end) {
		some.end = some.first + (r->graph.n / PUSH_PARTS / GPU_BLOCK + 1) * GPU_BLOCK;
		some.end = some.end < r->graph.n ? some.end : r->graph.n;
		before = r->counters.vertices;
		rc = gpu_run_launch_over(b->r, &some, "bfs_push", NULL, true, some.end - some.first, to);
		if (!rc)
			rc = gpu_run_read(b->r);
		if (rc || (double)(r->counters.vertices - before) * search < lines)
			return rc;
	}
	return rc;
}

static int bottom_up_step(struct bfs *b)
{
	uint32_t next = b->now + 1;
	const double part = (double)b->frontier_edges / (double)b->back->m;
	void *from_cache[] = { &b->bits[0], &b->visited, &b->level, &next, &b->bits[1], &b->queue[1], NULL };
	void *from_lists[] = { &b->bits[0], &b->visited, &b->level, &next, &b->bits[1], NULL };
	int rc;

	if (b->in_place)
		return search_lists(b);
	rc = b->have_bits ? 0 : bits_of_frontier(b);
	if (!rc)
		rc = gpu_run_pass(b->r, b->back, "bfs_bottom_up_cached", NULL, false, GPU_STRIP, from_cache);
	if (!rc)
		rc = push_some(b, part, from_lists);
	if (!rc)
		rc = gpu_bfs_search_left(b->r, b->back, b->queue[1], part, from_lists);
	gpu_swap(b->bits);
	b->have_bits = true;
	b->have_queue = false;
	return rc;
}

/*
 * Whether so few edges leave the frontier that its levels can stay on the GPU. The first frontiers
 * of every graph are small, and a loop over them costs more than it saves if the next is large.
 */
static bool is_small(const struct bfs *b)
{
	return b->loop_space && b->now >= LOOP_FROM && b->frontier <= GPU_LOOP_ITEMS / 8 && b->frontier_edges <= GPU_LOOP_EDGES;
}

/* A level ended that reached @vertices of @edges edges in sum. */
static void next_level(struct bfs *b, uint64_t vertices, uint64_t edges)
{
	if (b->level) {
		b->r->stats->edges += b->frontier_edges;
		gpu_run_iteration(b->r, b->frontier);
	}
	b->frontier = vertices;
	b->frontier_edges = edges;
	b->unvisited -= vertices < b->unvisited ? vertices : b->unvisited;
	b->left_edges -= edges < b->left_edges ? edges : b->left_edges;
	b->now++;
}

/* Levels of small frontiers, top-down, until one is large. */
static int loop_levels(struct bfs *b)
{
	struct gpu_level log[GPU_LOOP_STEPS];
	struct gpu_run *r = b->r;
	uint32_t next = b->now + 1, levels = GPU_UNREACHED - next, i;
	void *args[] = { &b->queue[0], &b->items, &b->visited, &b->level, &next, &levels, &b->loop_space,
			 &b->loop_log, NULL };
	int rc = b->have_queue ? 0 : collect(b);

	if (levels > GPU_LOOP_STEPS)
		levels = GPU_LOOP_STEPS;
	if (!rc)
		rc = gpu_run_clear(r);
	if (!rc)
		rc = gpu_fill(r->gpu, b->loop_log, 0, sizeof(log), r->err);
	if (!rc)
		rc = gpu_run_loop(r, "bfs_levels", NULL, GPU_LOOP_BLOCKS, args);
	if (!rc)
		rc = gpu_run_read(r);
	if (!rc)
		rc = gpu_download(r->gpu, log, b->loop_log, r->counters.loop.steps * sizeof(log[0]), r->err);
	for (i = 0; !rc && i < r->counters.loop.steps; i++)
		next_level(b, log[i].vertices, log[i].edges);
	/* no list of the frontier is in the vertex range of the run */
	if (!rc && !i)
		next_level(b, 0, 0);
	b->have_bits = false;
	b->have_queue = false;
	return rc;
}

static int prepare(struct bfs *b)
{
	struct gpu_run *r = b->r;
	const struct gpu_placed *in = r->undirected ? &r->gpu->placed : &r->gpu->back;
	uint32_t source = (uint32_t)b->source;
	uint64_t words = (r->graph.n + 31) / 32;
	CUdeviceptr isolated = b->pulls ? in->isolated.device : 0;
	void *args[] = { &b->visited, &isolated, NULL }, *start[] = { &source, &b->visited, &b->level, &b->queue[0], NULL };
	const struct gpu_part part[] = {
		{ "visited vertices", 4 * words, &b->visited },
		{ "frontier", 4 * words, &b->bits[0] }, { "next frontier", 4 * words, &b->bits[1] },
		{ "queue", gpu_run_queue_bytes(r), &b->queue[0] }, { "next queue", gpu_run_queue_bytes(r), &b->queue[1] },
		{ "shared items of loops", 8 * GPU_LOOP_BLOCKS * GPU_LOOP_PART, &b->loop_space },
		{ "loop log", sizeof(struct gpu_level) * GPU_LOOP_STEPS, &b->loop_log },
	};
	/* compressed lists have no loops */
	int rc = gpu_run_allocate(r, part, r->gpu->placement.edge_bytes && b->level ? 7 : 5);

	gtu_phase(&r->phases, "traverse");
	if (!rc)
		rc = gpu_run_launch(r, "bfs_begin", NULL, false, words, args);
	if (!rc)
		rc = gpu_run_clear(r);
	if (!rc)
		rc = gpu_run_launch(r, "bfs_start", NULL, true, GPU_BLOCK, start);
	if (!rc)
		rc = gpu_run_read(r);
	b->items = r->counters.items;
	b->have_queue = true;
	return rc;
}

/* The present iteration pulls. */
static void note_pull(struct gtu_algorithm_stats *s)
{
	if (!s->pull_end)
		s->pull_first = s->iterations;
	s->pull_end = s->iterations + 1;
}

static int begin(struct bfs *b)
{
	struct gpu_run *r = b->r;
	const struct gtu_graph *g = r->g, *in;
	int rc = gpu_run_back(r, b->in_place ? GPU_CACHE_EMPTY : GPU_CACHE_NEIGHBOURS, &b->back, &b->pulls);

	if (!rc)
		rc = prepare(b);
	in = b->pulls && !r->undirected ? r->gpu->transposed : g;
	b->frontier = 1;
	b->frontier_edges = g->row[b->source + 1] - g->row[b->source];
	b->left_edges = r->graph.m - b->frontier_edges;
	b->unvisited = (b->pulls ? connected(b) : r->gpu->placed.connected) - (in->row[b->source + 1] > in->row[b->source]);
	return rc;
}

/* The next level, in the direction that costs less; several if they stay on the GPU. */
static int step(struct bfs *b)
{
	struct gpu_run *r = b->r;
	const bool up = b->pulls && bottom_up_cost(b) < top_down_cost(b),
		   marks = b->pulls && r->gpu->placement.edge_bytes && mark_cost(b) < queue_cost(b);
	int rc;

	if (!up && is_small(b))
		return loop_levels(b);
	rc = up ? bottom_up_step(b) : marks ? mark_step(b) : top_down_step(b);
	if (up && !r->undirected)
		note_pull(r->stats);
	next_level(b, r->counters.vertices, r->counters.edges);
	return rc;
}

static int direction_optimizing(struct bfs *b)
{
	int rc = begin(b);

	/* where lists are pulled by, what is left has been counted */
	while (!rc && b->frontier && (b->unvisited || !b->pulls)) {
		if (b->now == GPU_UNREACHED - 1)
			return gtu_fail(b->r->err, GTU_ERR_UNSUPPORTED,
					"the search has more than %u levels, the maximum of a "
					"label", b->now);
		rc = step(b);
	}
	/* the last frontier, whose edges were not traversed */
	if (!rc && b->frontier)
		gpu_run_iteration(b->r, b->frontier);
	return rc;
}

int gpu_bfs_component(struct gpu_run *r, struct gpu_component *found)
{
	struct bfs b = { .r = r, .in_place = true, .source = r->gpu->placed.busiest };
	uint64_t before = 0;
	int rc = begin(&b);

	while (!rc && b.frontier && b.unvisited &&
	       (b.frontier_edges > GPU_LOOP_EDGES || (b.frontier_edges > before && b.now < GROWS))) {
		before = b.frontier_edges;
		rc = step(&b);
	}
	*found = (struct gpu_component){ b.visited, b.queue[0], connected(&b) - b.unvisited };
	return rc;
}

/* ---- Results --------------------------------------------------------------------------------------- */

struct levels {
	const uint64_t *row;
	const uint32_t *from;
	uint64_t *to;
	struct gtu_algorithm_stats *stats;
};

static int widen(void *arg, uint64_t first, uint64_t end)
{
	struct levels *l = arg;
	uint64_t v, reached = 0, edges = 0;

	for (v = first; v < end; v++) {
		const uint32_t level = l->from[v];

		l->to[v] = level == GPU_UNREACHED ? GTU_UNREACHED : level;
		if (level == GPU_UNREACHED)
			continue;
		reached++;
		edges += l->row[v + 1] - l->row[v];
	}
	__atomic_fetch_add(&l->stats->vertices, reached, __ATOMIC_RELAXED);
	__atomic_fetch_add(&l->stats->edges, edges, __ATOMIC_RELAXED);
	return 0;
}

int gpu_bfs_result(struct gpu_run *r, CUdeviceptr level, const uint64_t *row, uint64_t n, uint64_t *result)
{
	struct levels l = { .row = row, .to = result, .stats = r->stats };
	uint32_t *narrow = (uint32_t *)result + n;
	int rc;

	gtu_phase(&r->phases, "result");
	rc = gpu_download(r->gpu, narrow, level, 4 * n, r->err);
	l.from = narrow;
	l.stats->edges = 0;
	return rc ? rc : gpu_widen(widen, &l, n);
}

int gpu_bfs(struct gtu_device *dev, const struct gtu_algorithm_options *opt, void *level,
	    struct gtu_algorithm_stats *stats, struct gtu_error *err)
{
	const struct gpu *gpu = dev->backend;
	struct bfs b = { .in_place = gpu->placement.edges == GTU_EDGES_DEVICE && gpu->placement.edge_bytes &&
				     (!(gpu->placed.graph->flags & GTU_GRAPH_DIRECTED) ||
				      gpu->back_placement.edges == GTU_EDGES_DEVICE) };
	struct gpu_run r;
	uint32_t zero = 0;
	int rc = gpu_run_begin(&r, dev, "bfs", opt, stats, b.in_place ? GPU_CACHE_EMPTY : GPU_CACHE_NEIGHBOURS, err);

	b.r = &r;
	b.source = opt->source;
	if (!rc)
		rc = gpu_run_allocate(&r, &(struct gpu_part){ "levels", 4 * r.graph.n, &b.level }, 1);
	if (!rc)
		rc = gpu_fill(r.gpu, b.level, 0xff, 4 * r.graph.n, err);
	if (!rc)
		rc = gpu_upload(r.gpu, b.level + 4 * opt->source, &zero, 4, err);
	if (!rc && opt->kernel != GTU_KERNEL_AUTO)
		gtu_phase(&r.phases, "traverse");
	if (!rc)
		rc = opt->kernel == GTU_KERNEL_AUTO ? direction_optimizing(&b) : run_paper_kernels(&b);
	if (!rc)
		rc = gpu_bfs_result(&r, b.level, r.g->row, r.graph.n, level);
	return gpu_run_end(&r, rc);
}
