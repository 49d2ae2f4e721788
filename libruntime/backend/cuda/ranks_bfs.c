// SPDX-License-Identifier: MIT
/*
 * Breadth-first search over several GPUs. Top-down, a rank sends the targets that it sees for the first
 * time to their owners, as numbers or as a bitmap, whichever is smaller. Bottom-up, all ranks gather
 * the frontier as a bitmap, and search their own unvisited vertices; of undirected graphs only.
 */
#include "parts.h"
#include "ranks.h"

#define WIDTH		4.0		/* bytes of an entry, for a decision that all ranks take alike */
#define BITMAP		(1ull << 63)	/* in a message's word: a bitmap, not numbers */

struct search {
	struct gpu_ranks *k;
	CUdeviceptr level;		/* of own vertices */
	CUdeviceptr visited, frontier;	/* bits of all vertices */
	CUdeviceptr queue[2], outbox, bitmaps, all;
	CUdeviceptr at;			/* addresses of the ranks' frontiers, behind `all` */
	uint64_t stride;		/* of the bitmaps in `all` */
	uint64_t items;			/* in queue[0] */
	bool have_queue, shared;	/* shared: `at` has addresses on the other cards */
	uint64_t connected, unvisited;	/* vertices of all ranks with edges; not reached of them */
	uint64_t frontier_vertices, frontier_edges;	/* of all ranks */
	uint32_t now;
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

static int collect(struct search *s)
{
	struct gpu_run *r = &s->k->r;
	void *args[] = { &s->level, &s->now, &s->queue[0], NULL };
	int rc = gpu_run_clear(r);

	if (!rc)
		rc = gpu_run_launch(r, "ranks_collect", NULL, true, s->k->own, args);
	if (!rc)
		rc = gpu_run_read(r);
	s->items = r->counters.items;
	s->have_queue = true;
	return rc;
}

/* Prepare the message to each rank: its word, its address and its bytes. */
static int address(struct search *s)
{
	struct gpu_ranks *k = s->k;
	uint64_t at = 0, bitmap;
	void *args[3];
	CUdeviceptr ids;
	uint32_t i;
	int rc = 0;

	for (i = 0; i < k->size && !rc; i++) {
		ids = s->outbox + 4 * k->section[i];
		bitmap = gpu_ranks_bitmap(k, i);
		k->outgoing[i] = k->count[i];
		k->send[i] = ids;
		k->send_bytes[i] = 4 * k->count[i];
		if (k->send_bytes[i] <= bitmap)
			continue;
		k->outgoing[i] |= BITMAP;
		k->send[i] = s->bitmaps + at;
		k->send_bytes[i] = bitmap;
		at += bitmap;
		args[0] = &ids;
		args[1] = &k->count[i];
		args[2] = &k->send[i];
		rc = gpu_fill(k->r.gpu, k->send[i], 0, bitmap, k->r.err);
		if (!rc)
			rc = gpu_launch(k->r.gpu, "ranks_bits", k->count[i], args, k->r.err);
	}
	return rc;
}

/* Settle what the others sent; it joins queue[1] and the counters of this step. */
static int settle(struct search *s)
{
	struct gpu_ranks *k = s->k;
	uint32_t next = s->now + 1, i;
	uint64_t count;
	CUdeviceptr ids, bits;
	void *args[] = { &ids, &bits, &count, &s->visited, &s->level, &next, &s->queue[1], NULL };
	int rc = 0;

	for (i = 0; i < k->size && !rc; i++) {
		count = k->incoming[i] & ~BITMAP;
		if (!count)
			continue;
		ids = k->receive[i];
		bits = k->incoming[i] & BITMAP ? k->receive[i] : 0;
		rc = gpu_run_launch(&k->r, "ranks_settle", NULL, true, bits ? k->own : count, args);
	}
	if (!rc)
		rc = gpu_run_read(&k->r);
	return rc ? rc : gpu_ranks_check(k);
}

static int push(struct search *s)
{
	struct gpu_ranks *k = s->k;
	struct gpu_run *r = &k->r;
	uint32_t next = s->now + 1, i;
	void *args[] = { &s->queue[0], &s->items, &s->visited, &s->level, &next, &s->queue[1], &k->cuts, &k->size, &k->sent,
			 &s->outbox, NULL };
	int rc = s->have_queue ? 0 : collect(s);

	if (!rc)
		rc = gpu_ranks_clear(k);
	if (!rc)
		rc = gpu_run_launch(r, "ranks_push", NULL, true, s->items * 32, args);
	if (!rc)
		rc = gpu_run_read(r);
	if (!rc)
		rc = gpu_ranks_counts(k);
	if (!rc)
		rc = address(s);
	rc = gpu_ranks_words(k, BITMAP, k->own, rc);
	if (rc)
		return rc;
	for (i = 0; i < k->size; i++)
		k->receive_bytes[i] = k->incoming[i] & BITMAP ? gpu_ranks_bitmap(k, k->rank) : 4 * k->incoming[i];
	gtu_phase(&r->phases, "exchange");
	rc = gpu_link_exchange(k, GTU_CARGO_VERTICES, true);
	gtu_phase(&r->phases, "traverse");
	if (!rc)
		rc = gpu_link_release(k, settle(s));
	s->items = r->counters.items;
	gpu_swap(s->queue);
	return rc;
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
	rc = gpu_link_addresses(k, s->bitmaps, (CUdeviceptr *)k->count);
	return rc ? rc : gpu_upload(k->r.gpu, s->at, k->count, 8ull * k->size, k->r.err);
}

/* s->frontier = the frontier of all ranks. Collective. */
static int gather_frontier(struct search *s)
{
	struct gpu_ranks *k = s->k;
	struct gpu_run *r = &k->r;
	CUdeviceptr mine = s->bitmaps;
	uint64_t none = 0;
	void *front[] = { &s->level, &s->now, &mine, NULL },
	     *join[] = { &s->at, &k->cuts, &k->size, &s->frontier, &s->visited, NULL };
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
	uint32_t next = s->now + 1;
	uint64_t left;
	void *unvisited[] = { &s->visited, &s->queue[1], NULL };
	void *lists[] = { &s->queue[1], &left, &s->frontier, &s->visited, &s->level, &next, NULL };
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
	s->have_queue = false;
	return rc;
}

static int prepare(struct search *s)
{
	struct gpu_ranks *k = s->k;
	const uint64_t n = k->run->graph->n, source = k->run->opt->source, words = 4 * ((n + 31) / 32);
	uint64_t bitmaps = 0, widest = 0;
	const uint32_t zero = 0, bit = 1u << (source & 31);
	uint32_t i;
	int rc;

	for (i = 0; i < k->size; i++) {
		const uint64_t bytes = gpu_ranks_bitmap(k, i);

		bitmaps += bytes;
		widest = bytes > widest ? bytes : widest;
	}
	s->stride = widest;
	rc = gpu_run_allocate(&k->r, (struct gpu_part[]){
		{ "levels", 4 * k->own, &s->level }, { "visited vertices", words, &s->visited }, { "frontier", words, &s->frontier },
		{ "queue", gpu_ranks_queue_bytes(k), &s->queue[0] }, { "next queue", gpu_ranks_queue_bytes(k), &s->queue[1] },
		{ "outbox", 4 * gpu_ranks_outbox(k), &s->outbox }, { "bitmaps", bitmaps, &s->bitmaps },
		{ "frontiers of all ranks", (widest + 8) * k->size, &s->all } }, 8);
	s->at = s->all + widest * k->size;
	for (i = 0; i < k->size; i++)
		k->count[i] = s->all + i * widest;
	if (!rc)
		rc = gpu_upload(k->r.gpu, s->at, k->count, 8ull * k->size, k->r.err);
	if (!rc)
		rc = gpu_fill(k->r.gpu, s->level, 0xff, 4 * k->own, k->r.err);
	if (!rc)
		rc = gpu_fill(k->r.gpu, s->visited, 0, words, k->r.err);
	/* all ranks know that the source is reached */
	if (!rc)
		rc = gpu_upload(k->r.gpu, s->visited + source / 32 * 4, &bit, 4, k->r.err);
	if (!rc && source >= k->first && source < k->end)
		rc = gpu_upload(k->r.gpu, s->level + 4 * (source - k->first), &zero, 4, k->r.err);
	return rc;
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
		if (!s->now)
			s->connected = s->unvisited = sum[2];
		s->frontier_vertices = sum[0];
		s->frontier_edges = sum[1];
		s->unvisited -= sum[0] < s->unvisited ? sum[0] : s->unvisited;
		if (s->now == GPU_UNREACHED - 1)
			return gtu_fail(r->err, GTU_ERR_UNSUPPORTED,
					"the search has more than %u levels, the maximum of a label", s->now);
		up = pulls(s);
		rc = up ? pull(s) : push(s);
		gpu_run_iteration(r, s->frontier_vertices);
		sum[0] = r->counters.vertices;
		sum[1] = r->counters.edges;
		s->now++;
	}
}

int gpu_ranked_bfs(struct gpu_ranks *k)
{
	struct search s = { .k = k };
	int rc = levels(&s);

	return rc ? rc : gpu_bfs_result(&k->r, s.level, k->r.g->row + k->first, k->own, k->run->result);
}
