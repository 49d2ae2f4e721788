// SPDX-License-Identifier: MIT
/*
 * Breadth-first search over several GPUs. Top-down, a rank sends the targets that it sees for the first
 * time to their owners, as numbers or as a bitmap, whichever is smaller. Bottom-up, all ranks gather
 * the frontier as a bitmap, and search their own unvisited vertices; of undirected graphs only.
 */
#include "parts.h"
#include "ranks.h"

#define WIDTH		4.0		/* bytes of an entry, for a decision that all ranks take alike */

struct search {
	struct gpu_ranks *k;
	struct gpu_push push;		/* top-down; its bitmaps are also for the frontier */
	CUdeviceptr frontier, all;	/* bits of all vertices; of each rank's */
	CUdeviceptr at;			/* addresses of the ranks' frontiers, behind `all` */
	uint64_t stride;		/* of the bitmaps in `all` */
	bool shared;			/* `at` has addresses on the other cards */
	uint64_t connected, unvisited;	/* vertices of all ranks with edges; not reached of them */
	uint64_t frontier_vertices, frontier_edges;	/* of all ranks */
};

/* As in bfs.c, without a cache of neighbours, in units that are the same on all ranks. */
static bool pulls(const struct search *s)
{
	const struct gtu_graph *g = s->k->run->graph;
	double part, list, lines;

	if (g->flags & GTU_GRAPH_DIRECTED || !s->frontier_edges || !s->connected)
		return false;
	part = (double)s->frontier_edges / (double)g->m;
	list = (double)g->m / (double)s->connected * WIDTH / LINE + 1;
	lines = gpu_lines_to_hit(WIDTH, part, list);
	return (double)s->unvisited * lines * LINE + (double)g->n * 8 * CARD_TO_LINK <
	       (double)s->frontier_edges * WIDTH + (double)s->frontier_vertices * LINE;
}

/* The cards read each other's bitmaps in place. They change after the next gtu_agree(). */
static int share_bitmaps(struct search *s)
{
	struct gpu_ranks *k = s->k;
	int rc = 0;

	gtu_exchange_count(k->x, GTU_CARGO_VERTICES, (k->size - 1) * gpu_ranks_bitmap(k, k->rank));
	if (s->shared)
		return 0;
	s->shared = true;
	rc = gpu_link_addresses(k, s->push.bitmaps, (CUdeviceptr *)k->count);
	return rc ? rc : gpu_upload(k->r.gpu, s->at, k->count, 8ull * k->size, k->r.err);
}

/* s->frontier = the frontier of all ranks. Collective. */
static int gather_frontier(struct search *s)
{
	struct gpu_ranks *k = s->k;
	struct gpu_run *r = &k->r;
	CUdeviceptr mine = s->push.bitmaps;
	uint64_t none = 0;
	void *front[] = { &s->push.level, &s->push.now, &mine, NULL },
	     *join[] = { &s->at, &k->cuts, &k->size, &s->frontier, &s->push.visited, NULL };
	uint32_t i;
	int rc = gpu_run_launch(r, "ranks_front", NULL, false, k->own, front);

	if (!rc && gpu_link_loads(k))
		rc = gpu_wait(r->gpu, r->name, r->err);
	rc = gtu_agree(k->x, rc, &none, 1);
	if (rc)
		return rc;
	if (gpu_link_loads(k)) {
		rc = share_bitmaps(s);
		return rc ? rc : gpu_run_launch(r, "ranks_join_bits", NULL, false, k->run->graph->n, join);
	}
	for (i = 0; i < k->size; i++)
		k->count[i] = gpu_ranks_bitmap(k, i);
	gtu_phase(&r->phases, "exchange");
	rc = gpu_link_gather(k, GTU_CARGO_VERTICES, mine, k->count, s->stride, s->all);
	gtu_phase(&r->phases, "traverse");
	return rc ? rc : gpu_run_launch(r, "ranks_join_bits", NULL, false, k->run->graph->n, join);
}

static int pull(struct search *s)
{
	struct gpu_run *r = &s->k->r;
	uint32_t next = s->push.now + 1;
	uint64_t left;
	void *unvisited[] = { &s->push.visited, &s->push.queue[1], NULL };
	void *lists[] = { &s->push.queue[1], &left, &s->frontier, &s->push.visited, &s->push.level, &next, NULL };
	int rc = gather_frontier(s);

	if (!rc)
		rc = gpu_run_clear(r);
	if (!rc)
		rc = gpu_run_launch(r, "ranks_unvisited", NULL, false, s->k->own + 32, unvisited);
	if (!rc)
		rc = gpu_run_read(r);
	left = r->counters.left;
	if (!rc && left) {
		rc = gpu_run_launch(r, "ranks_pull", NULL, true, left * 32, lists);
		if (!rc)
			rc = gpu_run_read(r);
	}
	s->push.have_queue = false;
	return rc;
}

static int prepare(struct search *s)
{
	struct gpu_ranks *k = s->k;
	const uint64_t words = gpu_push_bits(k);
	uint64_t widest = 0;
	uint32_t i;
	int rc;

	for (i = 0; i < k->size; i++)
		widest = gpu_ranks_bitmap(k, i) > widest ? gpu_ranks_bitmap(k, i) : widest;
	s->stride = widest;
	rc = gpu_run_allocate(&k->r, (struct gpu_part[]){
		{ "levels", 4 * k->own, &s->push.level }, { "visited vertices", words, &s->push.visited }, { "frontier", words, &s->frontier },
		{ "queue", gpu_ranks_queue_bytes(k), &s->push.queue[0] }, { "next queue", gpu_ranks_queue_bytes(k), &s->push.queue[1] },
		{ "outbox", 4 * gpu_ranks_outbox(k), &s->push.outbox }, { "bitmaps", gpu_push_bitmaps(k), &s->push.bitmaps },
		{ "frontiers of all ranks", (widest + 8) * k->size, &s->all } }, 8);
	s->at = s->all + widest * k->size;
	for (i = 0; i < k->size; i++)
		k->count[i] = s->all + i * widest;
	if (!rc)
		rc = gpu_upload(k->r.gpu, s->at, k->count, 8ull * k->size, k->r.err);
	return rc ? rc : gpu_push_begin(k, &s->push, k->run->opt->source);
}

static int levels(struct search *s)
{
	struct gpu_ranks *k = s->k;
	struct gpu_run *r = &k->r;
	const uint64_t *row = r->g->row, source = k->run->opt->source;
	uint64_t sum[3] = { 0, 0, r->gpu->placed.connected };
	bool up;
	int rc = prepare(s);

	if (!rc && source >= k->first && source < k->end) {
		sum[0] = 1;
		sum[1] = row[source + 1] - row[source];
	}
	gtu_phase(&r->phases, "traverse");
	for (;;) {
		rc = gtu_agree(k->x, rc, sum, 3);
		if (rc || !sum[0])
			return rc;
		if (!s->push.now)
			s->connected = s->unvisited = sum[2];
		s->frontier_vertices = sum[0];
		s->frontier_edges = sum[1];
		s->unvisited -= sum[0] < s->unvisited ? sum[0] : s->unvisited;
		if (s->push.now == GPU_UNREACHED - 1)
			return gtu_fail(r->err, GTU_ERR_UNSUPPORTED,
					"the search has more than %u levels, the maximum of a label", s->push.now);
		up = pulls(s);
		rc = up ? pull(s) : gpu_push(k, &s->push);
		gpu_run_iteration(r, s->frontier_vertices);
		sum[0] = r->counters.vertices;
		sum[1] = r->counters.edges;
		s->push.now++;
	}
}

int gpu_ranked_bfs(struct gpu_ranks *k)
{
	struct search s = { .k = k };
	int rc = levels(&s);

	return rc ? rc : gpu_bfs_result(&k->r, s.push.level, k->r.g->row + k->first, k->own, k->run->result);
}
