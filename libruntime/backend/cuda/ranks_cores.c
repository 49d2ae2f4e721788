// SPDX-License-Identifier: MIT
/*
 * Core numbers over several GPUs. A rank removes vertices until none of its own is due, and counts the
 * neighbours that others' vertices lose by that; then it sends the counts to the owners.
 */
#include "parts.h"
#include "ranks.h"

#define ELEMENT	8ull			/* bytes: a number and a count */

struct cores {
	struct gpu_ranks *k;
	uint32_t core_number;		/* of the vertices that are removed now */
	CUdeviceptr left, core;		/* of all vertices */
	CUdeviceptr queue[2], outbox;
	uint64_t items, removed;	/* in queue[0]; vertices since the last exchange */
};

/* Remove the own vertices that are due; *stay: those that are not. */
static int take_due(struct cores *c, uint64_t *stay)
{
	struct gpu_run *r = &c->k->r;
	void *args[] = { &c->left, &c->core, &c->core_number, &c->queue[0], NULL };
	int rc = gpu_visit_step(r, "ranks_cores_due", NULL, true, c->k->own + 32, args);

	c->items = r->counters.items;
	c->removed = r->counters.vertices;
	*stay = r->counters.left;
	return rc;
}

/* Peel until no own vertex is due; the outbox has the vertices of others that lost neighbours. */
static int peel(struct cores *c)
{
	struct gpu_ranks *k = c->k;
	CUdeviceptr elements, lost;
	void *args[] = { &c->queue[0], &c->items, &c->left, &c->core, &c->core_number, &c->queue[1], &k->cuts, &k->size, &k->sent,
			 &c->outbox, NULL };
	void *give[] = { &elements, NULL, &lost, NULL };
	uint32_t i;
	int rc = gpu_fill(k->r.gpu, k->sent, 0, 8ull * k->size, k->r.err);

	while (!rc && c->items) {
		rc = gpu_visit_step(&k->r, "ranks_cores_peel", NULL, true, c->items * 32, args);
		c->items = k->r.counters.items;
		c->removed += k->r.counters.vertices;
		gpu_swap(c->queue);
	}
	if (!rc)
		rc = gpu_ranks_counts(k);
	for (i = 0; i < k->size && !rc; i++) {
		elements = c->outbox + ELEMENT * k->section[i];
		lost = c->left + 4 * k->cut[i];
		give[1] = &k->count[i];
		k->outgoing[i] = k->count[i];
		if (k->count[i])
			rc = gpu_launch(k->r.gpu, "ranks_give_lost", k->count[i], give, k->r.err);
	}
	return rc;
}

/* Take what the others counted. */
static int take_lost(struct cores *c)
{
	struct gpu_ranks *k = c->k;
	CUdeviceptr inbox;
	uint64_t count;
	void *args[] = { &inbox, &count, &c->left, &c->core, &c->core_number, &c->queue[0], NULL };
	uint32_t i;
	int rc = gpu_run_clear(&k->r);

	for (i = 0; i < k->size && !rc; i++) {
		inbox = k->receive[i];
		count = k->incoming[i];
		if (count)
			rc = gpu_run_launch(&k->r, "ranks_take_lost", NULL, true, count, args);
	}
	if (!rc)
		rc = gpu_run_read(&k->r);
	c->items = k->r.counters.items;
	c->removed += k->r.counters.vertices;
	return rc ? rc : gpu_ranks_check(k);
}

/* One exchange; *items: what is due after it on all ranks. Collective. */
static int round_of(struct cores *c, uint64_t *items)
{
	struct gpu_ranks *k = c->k;
	uint64_t removed;
	uint32_t i;
	int rc = gpu_ranks_words(k, 0, k->own, peel(c));

	if (rc)
		return rc;
	for (i = 0; i < k->size; i++)
		k->send[i] = c->outbox + ELEMENT * k->section[i];
	rc = gpu_link_exchange_elements(k, ELEMENT, true);
	removed = c->removed;
	c->removed = 0;
	if (!rc)
		rc = gpu_link_release(k, take_lost(c));
	*items = c->items;
	gpu_run_iteration(&k->r, removed);
	return gtu_agree(k->x, rc, items, 1);
}

static int prepare(struct cores *c)
{
	struct gpu_ranks *k = c->k;
	struct gpu_run *r = &k->r;
	const uint64_t n = r->graph.n;
	int rc = gpu_run_allocate(r, (struct gpu_part[]){
		{ "neighbours left", 4 * n, &c->left }, { "cores", 4 * n, &c->core },
		{ "queue", gpu_ranks_queue_bytes(k), &c->queue[0] }, { "next queue", gpu_ranks_queue_bytes(k), &c->queue[1] },
		{ "outbox", ELEMENT * gpu_ranks_outbox(k), &c->outbox } }, 5);

	gtu_phase(&r->phases, "traverse");
	return rc ? rc : gpu_cores_begin(r, c->left, c->core, c->queue[0]);
}

static int peel_all(struct cores *c)
{
	struct gpu_ranks *k = c->k;
	uint64_t sum[2], items, least;
	int rc = gpu_cores_check(&k->r);

	if (!rc)
		rc = prepare(c);
	for (;;) {
		sum[1] = 0;
		if (!rc)
			rc = take_due(c, &sum[1]);
		least = ~k->r.counters.not_min;
		sum[0] = c->removed;
		rc = gtu_agree(k->x, rc, sum, 2);
		if (rc)
			return rc;
		for (items = sum[0]; items && !rc;)
			rc = round_of(c, &items);
		if (rc || (!sum[0] && !sum[1]))
			return rc;
		if (sum[0]) {
			c->core_number++;
			continue;
		}
		rc = gtu_reduce(k->x, GTU_MIN_U64, &least);
		c->core_number = (uint32_t)least;
	}
}

int gpu_ranked_cores(struct gpu_ranks *k)
{
	struct cores c = { .k = k };
	int rc = peel_all(&c);

	k->r.stats->vertices = k->own;
	k->r.stats->edges = 2 * k->r.graph.m;
	return rc ? rc : gpu_visit_values(&k->r, k->run->result, c.core + 4 * k->first, k->own);
}
