// SPDX-License-Identifier: MIT
/*
 * Breadth-first search over several GPUs. Top-down, a rank sends the targets that it sees for the first
 * time to their owners, as numbers or as a bitmap, whichever is smaller; in a large step over lists on the cards it marks
 * them in a bitmap, of which the owners read their part. Bottom-up, all ranks gather the frontier as a bitmap, and search
 * their own unvisited vertices; of undirected graphs only.
 */
#include <stdlib.h>

#include "parts.h"
#include "ranks.h"

#define LOOP_FROM	3		/* first level that may be part of a loop */
#define WIDTH		4.0		/* bytes of an entry, for a decision that all ranks take alike */
#define GROWS		8		/* levels by which a component's search has a large frontier, or ends */
#define FEW		128		/* it also ends if no more than one in so many vertices is not reached: to join them is faster */

struct search {
	struct gpu_ranks *k;
	struct gpu_push push;		/* top-down */
	struct gpu_bits front;		/* this rank's part of the frontier, in one of two bitmaps, */
	uint32_t turn;			/* this one, if push.bits is set */
	CUdeviceptr frontier;		/* bits of all vertices; of those visited before a step */
	CUdeviceptr marks;		/* addresses of the ranks' marks of own vertices */
	struct gpu_cards cards;		/* for levels of small frontiers */
	bool on_card;			/* the lists are in the card's memory, */
	bool all_on_card;		/* and those of all ranks in theirs */
	bool undirected;
	uint64_t connected, unvisited;	/* vertices of all ranks with edges; not reached of them */
	uint64_t frontier_vertices, frontier_edges;	/* of all ranks */
};

enum direction { PUSH, MARK, PULL };

/* As in bfs.c, where the first levels are left to the steps, too. */
static bool is_small(const struct search *s)
{
	return s->cards.usable && s->push.now >= LOOP_FROM && s->frontier_vertices <= GPU_LOOP_ITEMS / 8 &&
	       s->frontier_edges <= GPU_LOOP_EDGES;
}

/* As in bfs.c, without a cache of neighbours, in units that are the same on all ranks. */
static enum direction direction_of(const struct search *s)
{
	const struct gtu_graph *g = s->k->run->graph;
	const double n = (double)g->n, vertices = (double)s->frontier_vertices, edges = (double)s->frontier_edges;
	double part, list, lines, queue, mark;

	if (!s->undirected || !s->frontier_edges || !s->connected)
		return PUSH;
	part = edges / (double)g->m;
	list = (double)g->m / (double)s->connected;
	if (s->all_on_card) {
		queue = gpu_queue_cost(vertices, edges);
		mark = gpu_mark_cost(vertices, edges, n);
		if (gpu_pull_cost(n, (double)s->unvisited, part, list) < fmin(queue, mark) + (s->push.have_queue ? 0 : n * CARD_PASS))
			return PULL;
		return mark < queue ? MARK : PUSH;
	}
	lines = gpu_lines_to_hit(WIDTH, part, list * WIDTH / LINE + 1, (double)s->unvisited / (double)s->connected);
	return (double)s->unvisited * lines * LINE + n * 8 * CARD_TO_LINK < edges * WIDTH + vertices * LINE ? PULL : PUSH;
}

/* Set the bits of this rank's part of the frontier, and agree that they are set. Collective. */
static int set_front(struct search *s)
{
	struct gpu_ranks *k = s->k;
	struct gpu_run *r = &k->r;
	CUdeviceptr bits = gpu_bits_at(k, &s->front, s->turn);
	uint64_t none = 0;
	void *levels[] = { &s->push.level, &s->push.now, &bits, NULL }, *queued[] = { &s->push.queue[0], &s->push.items, &bits, NULL };
	int rc = 0;

	if (s->push.bits)
		return 0;
	if (s->push.have_queue && s->on_card) {
		rc = gpu_bits_clear(k, &s->front, s->turn);
		if (!rc)
			rc = gpu_run_launch(r, "bfs_queue_bits", NULL, false, s->push.items, queued);
	} else {
		rc = gpu_run_launch(r, "ranks_front", NULL, false, k->own + 64, levels);
	}
	if (!rc && gpu_link_loads(k))
		rc = gpu_wait(r->gpu, r->name, r->err);
	return gtu_agree(k->x, rc, &none, 1);
}

/* The own vertices of the next level are the bits of the other bitmap. */
static void turn(struct search *s)
{
	s->turn = !s->turn;
	s->push.bits = gpu_bits_at(s->k, &s->front, s->turn);
	s->push.have_queue = false;
}

/*
 * One level bottom-up, by the kernels of one card over this rank's vertices. The bits that a level sets are complete when the
 * ranks agree on its sums, and they stay until the level after the next.
 */
static int pull(struct search *s)
{
	struct gpu_ranks *k = s->k;
	struct gpu_run *r = &k->r;
	uint32_t next = s->push.now + 1;
	/* by the vertices' numbers */
	CUdeviceptr level = s->push.level ? s->push.level - 4 * k->first : 0, found = gpu_bits_at(k, &s->front, !s->turn);
	void *first[] = { &s->frontier, &s->push.visited, &level, &next, &found, &s->push.queue[1], NULL };
	void *more[] = { &s->push.queue[1], &s->frontier, &s->push.visited, &level, &next, &found, &s->push.queue[0], NULL };
	void *rest[] = { &s->push.queue[0], &s->frontier, &s->push.visited, &level, &next, &found, NULL };
	void *lists[] = { &s->frontier, &s->push.visited, &level, &next, &found, NULL };
	const double part = (double)s->frontier_edges / (double)k->run->graph->m;
	int rc = set_front(s);

	if (!rc)
		rc = gpu_bits_join(k, &s->front, s->turn, s->frontier, s->push.visited);
	if (!rc)
		rc = gpu_run_clear(r);
	if (!rc && s->on_card) {
		rc = gpu_bits_clear(k, &s->front, !s->turn);
		if (!rc)
			rc = gpu_run_launch(r, "bfs_up_first", NULL, true, k->own / 32 + 64, first);
		if (!rc)
			rc = gpu_run_launch(r, "bfs_up_next", NULL, true, k->own * 8, more);
		if (!rc)
			rc = gpu_run_launch(r, "bfs_up_rest", NULL, true, k->own * 32, rest);
		if (!rc)
			rc = gpu_run_read(r);
	} else if (!rc) {
		rc = gpu_run_launch_vertices(r, &r->graph, "bfs_bottom_up_cached", NULL, false, GPU_STRIP, first);
		if (!rc)
			rc = gpu_run_read(r);
		if (!rc)
			rc = gpu_bfs_search_left(r, &r->graph, s->push.queue[1], part, lists);
	}
	turn(s);
	return rc;
}

/* One level top-down that sets bits of targets only; the owners settle those that are new. */
static int mark(struct search *s)
{
	struct gpu_ranks *k = s->k;
	struct gpu_run *r = &k->r;
	uint32_t next = s->push.now + 1, i;
	uint64_t none = 0;
	CUdeviceptr found = gpu_bits_at(k, &s->front, !s->turn);
	void *copy[] = { &s->push.visited, &s->frontier, NULL }, *marks[] = { &s->push.visited, NULL },
	     *settle[] = { &s->marks, &k->size, &s->frontier, &s->push.visited, &found, &s->push.level, &next, NULL };
	int rc = gpu_push_collect(k, &s->push);

	if (!rc)
		rc = gpu_run_launch(r, "bfs_copy", NULL, false, r->graph.n / 32 + 1, copy);
	if (!rc)
		rc = gpu_run_launch_items(r, &r->graph, "bfs_mark", NULL, s->push.queue[0], s->push.items, marks);
	rc = gtu_agree(k->x, rc, &none, 1);
	if (rc)
		return rc;
	for (i = 0; i < k->size; i++) {
		k->send[i] = gpu_bits_word(k, s->push.visited, i);
		k->send_bytes[i] = gpu_bits_bytes(k, i);
		k->receive_bytes[i] = gpu_bits_bytes(k, k->rank);
	}
	rc = gpu_link_exchange(k, GTU_CARGO_VERTICES, true);
	k->receive[k->rank] = gpu_bits_word(k, s->push.visited, k->rank);
	if (!rc)
		rc = gpu_upload(r->gpu, s->marks, k->receive, 8ull * k->size, r->err);
	if (!rc)
		rc = gpu_run_clear(r);
	if (!rc)
		rc = gpu_run_launch(r, "ranks_settle_marks", NULL, false, k->own / 32 + 64, settle);
	if (!rc)
		rc = gpu_run_read(r);
	turn(s);
	return gpu_link_release(k, rc);
}

/* A search of a @component in lists on the card has no levels. */
static int prepare(struct search *s, uint64_t source, bool component)
{
	struct gpu_ranks *k = s->k;
	const struct gtu_placement *at = &k->r.gpu->placement;
	const uint64_t words = gpu_push_bits(k), marks = (words + 7) & ~7ull;
	const struct gpu_part part[] = {
		{ "visited vertices", words, &s->push.visited }, { "frontier", marks + 8ull * k->size, &s->frontier },
		{ "queue", gpu_ranks_queue_bytes(k), &s->push.queue[0] }, { "next queue", gpu_ranks_queue_bytes(k), &s->push.queue[1] },
		{ "outbox", 4 * gpu_ranks_outbox(k), &s->push.outbox }, { "bitmaps", gpu_push_bitmaps(k), &s->push.bitmaps },
		{ "levels", 4 * k->own, &s->push.level },
	};
	uint64_t none = 0;
	int rc;

	s->undirected = !(k->run->graph->flags & GTU_GRAPH_DIRECTED);
	s->on_card = at->edges == GTU_EDGES_DEVICE && at->edge_bytes;
	rc = gpu_run_allocate(&k->r, part, component && s->on_card ? 6 : 7);
	s->marks = s->frontier + marks;
	if (!rc)
		rc = gpu_bits_begin(k, &s->front, 2);
	/* a rank that failed tells the others there */
	if (!component && gpu_link_loads(k)) {
		rc = gtu_agree(k->x, rc, &none, 1);
		if (!rc)
			rc = gpu_cards_begin(k, &s->cards, s->push.level - 4 * k->first, s->push.visited, true);
	}
	gtu_phase(&k->r.phases, "traverse");
	return rc ? rc : gpu_push_begin(k, &s->push, source, s->undirected);
}

/*
 * Levels from a small frontier, which the card of rank 0 runs over all of them until one is large. @sum becomes the last
 * one's vertices and edges, as all ranks have them together.
 */
static int loop_levels(struct search *s, uint64_t sum[2])
{
	struct gpu_ranks *k = s->k;
	struct gpu_run *r = &k->r;
	struct gpu_level *log = calloc(GPU_LOOP_STEPS, sizeof(*log));
	uint64_t items = 0, levels = 0, i;
	uint32_t next = s->push.now + 1, most = GPU_UNREACHED - next < GPU_LOOP_STEPS ? GPU_UNREACHED - next : GPU_LOOP_STEPS;
	void *args[] = { &s->cards.queue, &items, &next, &most, &s->cards.space, &s->cards.log, &s->cards.cards, &k->cuts, &k->size,
			 NULL };
	int rc = log ? gpu_push_collect(k, &s->push) : gtu_outbox_full(k->x);

	rc = gpu_cards_result(k, rc, NULL, 0);
	if (!rc)
		rc = gpu_cards_gather(k, 0, s->push.queue[0], s->push.items, 8, s->cards.queue, &items);
	if (!rc && !k->rank) {
		rc = gpu_fill(r->gpu, s->cards.log, 0, GPU_LOOP_STEPS * sizeof(*log), r->err);
		if (!rc)
			rc = gpu_cards_loop(k, &s->cards, "bfs_levels_cards", NULL, args);
		levels = r->counters.loop.steps;
		if (!rc)
			rc = gpu_download(r->gpu, log, s->cards.log, levels * sizeof(*log), r->err);
	}
	rc = gpu_cards_result(k, rc, &levels, sizeof(levels));
	if (!rc && levels)
		rc = gpu_cards_result(k, rc, log, levels * sizeof(*log));
	for (i = 0; !rc && i < levels; i++) {
		gpu_run_iteration(r, s->frontier_vertices);
		s->frontier_vertices = log[i].vertices;
		/* levels() counts the last one */
		if (i + 1 < levels)
			s->unvisited -= log[i].vertices < s->unvisited ? log[i].vertices : s->unvisited;
	}
	/* the frontier has no edges */
	if (!rc && !levels)
		gpu_run_iteration(r, s->frontier_vertices);
	sum[0] = k->rank || !levels ? 0 : log[levels - 1].vertices;
	sum[1] = k->rank || !levels ? 0 : log[levels - 1].edges;
	s->push.now += (uint32_t)levels - 1;
	s->push.have_queue = false;
	s->push.bits = 0;
	free(log);
	return rc;
}

/* Levels until none is left or, of a @component, until few vertices are, or the frontier becomes small or does not grow. */
static int levels(struct search *s, uint64_t source, bool component)
{
	struct gpu_ranks *k = s->k;
	struct gpu_run *r = &k->r;
	const uint64_t *row = r->g->row;
	uint64_t sum[4] = { 0, 0, r->gpu->placed.connected }, before = 0;
	int rc = prepare(s, source, component);

	if (!rc && source >= k->first && source < k->end) {
		sum[0] = 1;
		sum[1] = row[source + 1] - row[source];
	}
	sum[3] = s->on_card;
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
		/* what has edges is reached: the next level would find nothing */
		if (s->undirected && !s->unvisited) {
			if (!component)
				gpu_run_iteration(r, s->frontier_vertices);
			return 0;
		}
		if (component && s->unvisited * FEW <= s->connected)
			return 0;
		if (component && s->frontier_edges <= GPU_LOOP_EDGES && (s->frontier_edges <= before || s->push.now >= GROWS))
			return 0;
		before = s->frontier_edges;
		if (s->push.now == GPU_UNREACHED - 1)
			return gtu_fail(r->err, GTU_ERR_UNSUPPORTED,
					"the search has more than %u levels, the maximum of a label", s->push.now);
		if (is_small(s)) {
			rc = loop_levels(s, sum);
		} else {
			switch (direction_of(s)) {
			case PULL: rc = pull(s); break;
			case MARK: rc = mark(s); break;
			case PUSH: rc = gpu_push(k, &s->push); break;
			}
			if (!component)
				gpu_run_iteration(r, s->frontier_vertices);
			sum[0] = r->counters.vertices;
			sum[1] = r->counters.edges;
		}
		s->push.now++;
	}
}

int gpu_ranks_component(struct gpu_ranks *k, struct gpu_reached *found)
{
	const struct gpu_placed *p = &k->r.gpu->placed;
	const uint64_t *row = k->r.g->row;
	struct search s = { .k = k };
	uint64_t busiest = k->own ? p->busiest : 0, degree = k->own ? row[busiest + 1] - row[busiest] : 0, best;
	int rc;

	/* the highest degree, and of those with it the highest vertex */
	best = (degree < UINT32_MAX ? degree : UINT32_MAX) << 32 | busiest;
	rc = gtu_reduce(k->x, GTU_MAX_U64, &best);
	if (!rc)
		rc = levels(&s, (uint32_t)best, true);
	*found = (struct gpu_reached){ s.push.visited, s.connected - s.unvisited, s.connected, s.push.queue[0], s.front };
	return rc;
}

int gpu_ranked_bfs(struct gpu_ranks *k)
{
	struct search s = { .k = k };
	int rc = levels(&s, k->run->opt->source, false);

	return rc ? rc : gpu_bfs_result(&k->r, s.push.level, k->r.g->row + k->first, k->own, k->run->result);
}
