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
	struct gpu_push push;		/* top-down */
	struct gpu_bits front;		/* this rank's part of the frontier, in one of two bitmaps, */
	uint32_t turn;			/* this one, */
	bool have_front;		/* if its bits are set */
	CUdeviceptr frontier;		/* bits of all vertices */
	bool on_card;			/* the lists are in the card's memory, */
	bool all_on_card;		/* and those of all ranks in theirs */
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
	list = (double)g->m / (double)s->connected;
	if (s->all_on_card)
		return gpu_pull_cost_on_card((double)g->n, (double)s->unvisited, part, list) <
		       gpu_push_cost_on_card((double)s->frontier_vertices, (double)s->frontier_edges,
					     s->push.have_queue ? 0 : (double)g->n);
	lines = gpu_lines_to_hit(WIDTH, part, list * WIDTH / LINE + 1);
	return (double)s->unvisited * lines * LINE + (double)g->n * 8 * CARD_TO_LINK <
	       (double)s->frontier_edges * WIDTH + (double)s->frontier_vertices * LINE;
}

/*
 * s->frontier = the frontier of all ranks. The bits that a level sets are complete when the ranks agree on its sums, and
 * they stay until the level after the next. Collective.
 */
static int gather_frontier(struct search *s)
{
	struct gpu_ranks *k = s->k;
	struct gpu_run *r = &k->r;
	CUdeviceptr bits = gpu_bits_at(k, &s->front, s->turn);
	uint64_t none = 0;
	void *front[] = { &s->push.level, &s->push.now, &bits, NULL };
	int rc = 0;

	if (!s->have_front) {
		rc = gpu_run_launch(r, "ranks_front", NULL, false, k->own + 64, front);
		if (!rc && gpu_link_loads(k))
			rc = gpu_wait(r->gpu, r->name, r->err);
		rc = gtu_agree(k->x, rc, &none, 1);
	}
	return rc ? rc : gpu_bits_join(k, &s->front, s->turn, s->frontier, s->push.visited);
}

/* One level bottom-up, by the kernels of one card over this rank's vertices. */
static int pull(struct search *s)
{
	struct gpu_ranks *k = s->k;
	struct gpu_run *r = &k->r;
	uint32_t next = s->push.now + 1;
	/* by the vertices' numbers */
	CUdeviceptr level = s->push.level - 4 * k->first, found = gpu_bits_at(k, &s->front, !s->turn);
	void *search[] = { &s->frontier, &s->push.visited, &level, &next, &found, &s->push.queue[1], NULL };
	void *lists[] = { &s->frontier, &s->push.visited, &level, &next, &found, NULL };
	int rc = gather_frontier(s);

	if (!rc)
		rc = gpu_run_clear(r);
	if (!rc)
		rc = gpu_run_launch_vertices(r, &r->graph, s->on_card ? "bfs_bottom_up_scan" : "bfs_bottom_up_cached", NULL,
					     s->on_card, search);
	if (!rc)
		rc = gpu_run_read(r);
	if (!rc && r->counters.left) {
		rc = gpu_run_launch_items(r, &r->graph, "bfs_bottom_up_list", NULL, s->push.queue[1], r->counters.left, lists);
		if (!rc)
			rc = gpu_run_read(r);
	}
	s->turn = !s->turn;
	s->have_front = true;
	s->push.have_queue = false;
	return rc;
}

static int prepare(struct search *s)
{
	struct gpu_ranks *k = s->k;
	const struct gtu_placement *at = &k->r.gpu->placement;
	const uint64_t words = gpu_push_bits(k);
	int rc = gpu_run_allocate(&k->r, (struct gpu_part[]){
		{ "levels", 4 * k->own, &s->push.level }, { "visited vertices", words, &s->push.visited }, { "frontier", words, &s->frontier },
		{ "queue", gpu_ranks_queue_bytes(k), &s->push.queue[0] }, { "next queue", gpu_ranks_queue_bytes(k), &s->push.queue[1] },
		{ "outbox", 4 * gpu_ranks_outbox(k), &s->push.outbox }, { "bitmaps", gpu_push_bitmaps(k), &s->push.bitmaps } }, 7);

	s->on_card = at->edges == GTU_EDGES_DEVICE && at->edge_bytes;
	if (!rc)
		rc = gpu_bits_begin(k, &s->front, 2);
	return rc ? rc : gpu_push_begin(k, &s->push, k->run->opt->source, !(k->run->graph->flags & GTU_GRAPH_DIRECTED));
}

static int levels(struct search *s)
{
	struct gpu_ranks *k = s->k;
	struct gpu_run *r = &k->r;
	const uint64_t *row = r->g->row, source = k->run->opt->source;
	uint64_t sum[4] = { 0, 0, r->gpu->placed.connected };
	int rc = prepare(s);

	if (!rc && source >= k->first && source < k->end) {
		sum[0] = 1;
		sum[1] = row[source + 1] - row[source];
	}
	sum[3] = s->on_card;
	gtu_phase(&r->phases, "traverse");
	for (;;) {
		rc = gtu_agree(k->x, rc, sum, s->push.now ? 2 : 4);
		if (rc || !sum[0])
			return rc;
		if (!s->push.now) {
			s->connected = s->unvisited = sum[2];
			s->all_on_card = sum[3] == k->size;
		}
		s->frontier_vertices = sum[0];
		s->frontier_edges = sum[1];
		s->unvisited -= sum[0] < s->unvisited ? sum[0] : s->unvisited;
		if (s->push.now == GPU_UNREACHED - 1)
			return gtu_fail(r->err, GTU_ERR_UNSUPPORTED,
					"the search has more than %u levels, the maximum of a label", s->push.now);
		if (pulls(s)) {
			rc = pull(s);
		} else {
			rc = gpu_push(k, &s->push);
			s->have_front = false;
		}
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
