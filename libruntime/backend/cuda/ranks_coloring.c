// SPDX-License-Identifier: MIT
/*
 * Coloring over several GPUs, in the order of libruntime/algorithm/coloring.c. A rank colors its own vertices until none
 * is ready, and counts the colored neighbours of others' vertices. Then it sends all ranks the new colors, and the owners
 * the counts.
 */
#include "parts.h"
#include "ranks.h"

#define ELEMENT	8ull			/* bytes: a number and a color or a count */
#define WINDOW	64u			/* colors considered at a time: COLOR_WINDOW of peel.cuh */

struct coloring {
	struct gpu_ranks *k;
	CUdeviceptr key, color;		/* of all vertices */
	CUdeviceptr waiting;		/* of own vertices; of others, earlier neighbours colored since the last message */
	CUdeviceptr taken;		/* of own vertices, by the numbers of the whole graph */
	CUdeviceptr pairs;		/* an own vertex and its color, in the order of coloring */
	CUdeviceptr queue[2], outbox;
	uint64_t items;			/* in queue[0]: ready vertices */
	uint64_t sent, listed;		/* of pairs */
	uint64_t alone;			/* own vertices without edges */
};

static int prepare(struct coloring *c)
{
	struct gpu_run *r = &c->k->r;
	const uint64_t n = r->graph.n, own = c->k->own, queue = gpu_ranks_queue_bytes(c->k);
	CUdeviceptr taken;
	void *begin[] = { &c->key, &c->waiting, &c->color, &c->taken, NULL };
	int rc = gpu_run_allocate(r, (struct gpu_part[]){
		{ "order", 8 * n, &c->key }, { "waiting", 4 * n, &c->waiting }, { "colors", 4 * n, &c->color },
		{ "colors taken", 8 * own, &taken }, { "new colors", ELEMENT * own, &c->pairs }, { "queue", queue, &c->queue[0] },
		{ "next queue", queue, &c->queue[1] }, { "outbox", ELEMENT * gpu_ranks_outbox(c->k), &c->outbox } }, 8);

	c->taken = taken - 8 * c->k->first;
	gtu_phase(&r->phases, "traverse");
	if (!rc)
		rc = gpu_visit_step(r, "ranks_color_begin", NULL, false, n, begin);
	c->alone = r->counters.vertices;
	return rc;
}

/* Count the earlier neighbours of own vertices, and queue those that have none. */
static int count(struct coloring *c)
{
	struct gpu_run *r = &c->k->r;
	void *args[] = { &c->queue[0], &c->items, &c->key, &c->waiting, NULL };
	int rc = gpu_visit_collect(r, 0, 0, c->queue[0], &c->items);

	if (!rc && c->items)
		rc = gpu_run_launch(r, "color_count", NULL, true, c->items * 32, args);
	return rc ? rc : gpu_visit_collect(r, c->waiting, 0, c->queue[0], &c->items);
}

/* Color the vertices of queue[0], which are no neighbours of each other, window by window. */
static int color_ready(struct coloring *c)
{
	struct gpu_run *r = &c->k->r;
	uint32_t base = 0, inverted = 0;
	CUdeviceptr pairs;
	uint64_t most;
	void *used[] = { &c->queue[0], &c->items, &base, &inverted, &c->color, &c->taken, NULL };
	void *color[] = { &c->queue[0], &c->items, &base, &inverted, &c->taken, &c->color, &pairs, &most, NULL };
	int rc;

	do {
		pairs = c->pairs + ELEMENT * c->listed;
		most = c->k->own - c->listed;
		rc = gpu_visit_step(r, "ranks_colors_used", NULL, true, c->items * 32, used);
		if (!rc)
			rc = gpu_visit_step(r, "ranks_color", NULL, false, c->items, color);
		/* edges that change during a run can make a vertex ready twice */
		c->listed += r->counters.left < most ? r->counters.left : most;
		base += WINDOW;
		inverted = !inverted;
	} while (!rc && r->counters.changed);
	return rc;
}

/* Color until no own vertex is ready; the outbox has others' vertices with neighbours among those. */
static int color_own(struct coloring *c)
{
	struct gpu_ranks *k = c->k;
	CUdeviceptr elements, waiting;
	void *args[] = { &c->queue[0], &c->items, &c->key, &c->waiting, &c->queue[1], &k->cuts, &k->size, &k->sent, &c->outbox,
			 NULL };
	void *give[] = { &elements, NULL, &waiting, NULL };
	uint32_t i;
	int rc = gpu_fill(k->r.gpu, k->sent, 0, 8ull * k->size, k->r.err);

	while (!rc && c->items) {
		rc = color_ready(c);
		if (!rc)
			rc = gpu_visit_step(&k->r, "ranks_color_release", NULL, true, c->items * 32, args);
		c->items = k->r.counters.items;
		gpu_swap(c->queue);
	}
	if (!rc)
		rc = gpu_ranks_counts(k);
	for (i = 0; i < k->size && !rc; i++) {
		elements = c->outbox + ELEMENT * k->section[i];
		waiting = c->waiting + 4 * k->cut[i];
		give[1] = &k->count[i];
		if (k->count[i])
			rc = gpu_launch(k->r.gpu, "ranks_give_lost", k->count[i], give, k->r.err);
	}
	return rc;
}

static int take_colors(struct coloring *c)
{
	struct gpu_ranks *k = c->k;
	CUdeviceptr none = 0;
	uint32_t i;
	int rc = gpu_run_clear(&k->r);

	for (i = 0; i < k->size && !rc; i++) {
		uint64_t first = k->cut[i], range = gpu_ranks_range(k, i);
		void *args[] = { &k->receive[i], &none, &k->incoming[i], &first, &range, &c->color, NULL };

		if (k->incoming[i])
			rc = gpu_run_launch(&k->r, "ranks_settle_labels", NULL, false, k->incoming[i], args);
	}
	if (!rc)
		rc = gpu_run_read(&k->r);
	return rc ? rc : gpu_ranks_check(k);
}

static int take_counts(struct coloring *c)
{
	struct gpu_ranks *k = c->k;
	uint32_t i;
	int rc = gpu_run_clear(&k->r);

	for (i = 0; i < k->size && !rc; i++) {
		void *args[] = { &k->receive[i], &k->incoming[i], &c->waiting, &c->queue[0], NULL };

		if (k->incoming[i])
			rc = gpu_run_launch(&k->r, "ranks_color_take", NULL, true, k->incoming[i], args);
	}
	if (!rc)
		rc = gpu_run_read(&k->r);
	c->items = k->r.counters.items;
	return rc ? rc : gpu_ranks_check(k);
}

/* Color what is ready and tell the others; *items: what is ready then on all ranks. Collective; @rc: of what was done before. */
static int round_of(struct coloring *c, int rc, uint64_t *items)
{
	struct gpu_ranks *k = c->k;
	uint64_t fresh;
	uint32_t i;

	if (!rc)
		rc = color_own(c);
	fresh = c->listed - c->sent;
	for (i = 0; i < k->size; i++) {
		k->outgoing[i] = i == k->rank ? 0 : fresh;
		k->send[i] = c->pairs + ELEMENT * c->sent;
	}
	rc = gpu_ranks_words(k, 0, k->r.graph.n, rc);
	if (rc)
		return rc;
	rc = gpu_link_exchange_elements(k, ELEMENT, true);
	if (!rc)
		rc = gpu_link_release(k, take_colors(c));
	c->sent = c->listed;
	for (i = 0; i < k->size; i++) {
		k->outgoing[i] = k->count[i];
		k->send[i] = c->outbox + ELEMENT * k->section[i];
	}
	rc = gpu_ranks_words(k, 0, k->own, rc);
	if (rc)
		return rc;
	rc = gpu_link_exchange_elements(k, ELEMENT, true);
	if (!rc)
		rc = gpu_link_release(k, take_counts(c));
	*items = c->items;
	gpu_run_iteration(&k->r, fresh);
	return gtu_agree(k->x, rc, items, 1);
}

static int color_all(struct coloring *c)
{
	struct gpu_ranks *k = c->k;
	uint64_t items = 1, missing = 0;
	int rc = prepare(c);

	rc = gtu_agree(k->x, rc, &missing, 1);
	if (!rc)
		rc = gpu_link_gather_values(c->k, c->key, 8);
	if (!rc)
		rc = count(c);
	while (items) {
		rc = round_of(c, rc, &items);
		if (rc)
			return rc;
	}
	missing = k->own - c->alone - c->listed;
	rc = gtu_agree(k->x, rc, &missing, 1);
	if (!rc && missing)
		rc = gtu_fail(k->r.err, GTU_ERR_INPUT,
			      "%s: edges are declared undirected, but at least %llu vertices have edges stored in one "
			      "direction only: the graph is damaged", k->run->graph->name, (unsigned long long)missing);
	return rc;
}

int gpu_ranked_coloring(struct gpu_ranks *k)
{
	struct coloring c = { .k = k };
	int rc = color_all(&c);

	k->r.stats->vertices = k->own;
	k->r.stats->edges = 3 * k->r.graph.m;
	gtu_phase(&k->r.phases, "result");
	return rc ? rc : gpu_download(k->r.gpu, k->run->result, c.color + 4 * k->first, 4 * k->own, k->r.err);
}
