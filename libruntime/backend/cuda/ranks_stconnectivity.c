// SPDX-License-Identifier: MIT
/*
 * ST-connectivity over several GPUs, as in libruntime/ranks/stconnectivity.c: the search with the smaller frontier takes
 * a level, from the target only if edges are stored in both directions. The first level that reaches a vertex
 * of the other search ends both.
 */
#include "parts.h"
#include "ranks.h"

struct side {
	struct gpu_push search;
	uint64_t vertices;		/* in its frontier, of all ranks */
	uint64_t edges;			/* that leave this rank's vertices of it */
};

static int start(struct gpu_ranks *k, struct side *side, uint64_t vertex)
{
	const uint64_t *row = k->r.g->row;

	side->vertices = 1;
	if (vertex >= k->first && vertex < k->end) {
		side->edges = row[vertex + 1] - row[vertex];
		k->r.stats->vertices++;
	}
	return gpu_push_begin(k, &side->search, vertex, 0);
}

/* The outbox and the bitmaps are for the side that takes a level. */
static int prepare(struct gpu_ranks *k, struct side side[2])
{
	const uint64_t level = 4 * k->own, bits = gpu_push_bits(k), queue = gpu_ranks_queue_bytes(k);
	struct gpu_push *from = &side[0].search, *to = &side[1].search;
	int rc = gpu_run_allocate(&k->r, (struct gpu_part[]){
		{ "levels from the source", level, &from->level }, { "vertices visited from the source", bits, &from->visited },
		{ "queue from the source", queue, &from->queue[0] }, { "next queue from the source", queue, &from->queue[1] },
		{ "levels from the target", level, &to->level }, { "vertices visited from the target", bits, &to->visited },
		{ "queue from the target", queue, &to->queue[0] }, { "next queue from the target", queue, &to->queue[1] },
		{ "outbox", 4 * gpu_ranks_outbox(k), &from->outbox }, { "bitmaps", gpu_push_bitmaps(k), &from->bitmaps } }, 10);

	to->outbox = from->outbox;
	to->bitmaps = from->bitmaps;
	if (!rc)
		rc = start(k, &side[0], k->run->opt->source);
	return rc ? rc : start(k, &side[1], k->run->opt->target);
}

/* *met: the new vertices that the other search has reached, of all ranks. Collective. */
static int step(struct gpu_ranks *k, struct side *active, const struct side *passive, uint64_t *met)
{
	struct gpu_run *r = &k->r;
	struct gpu_push *p = &active->search;
	CUdeviceptr theirs = passive->search.level;
	void *args[] = { &p->level, &p->now, &theirs, NULL };
	uint64_t sum[2] = { 0 };
	int rc = gpu_push(k, p);

	p->now++;
	sum[0] = r->counters.vertices;
	r->stats->vertices += sum[0];
	r->stats->edges += active->edges;
	active->edges = r->counters.edges;
	if (!rc)
		rc = gpu_visit_step(r, "ranks_meet", NULL, false, k->own, args);
	sum[1] = r->counters.vertices;
	gpu_run_iteration(r, active->vertices);
	rc = gtu_agree(k->x, rc, sum, 2);
	active->vertices = sum[0];
	*met = sum[1];
	return rc;
}

int gpu_ranked_stcon(struct gpu_ranks *k)
{
	const bool both = !(k->run->graph->flags & GTU_GRAPH_DIRECTED);
	struct side side[2] = { 0 }, *active;
	uint64_t met = k->run->opt->source == k->run->opt->target, none = 0;
	int rc = gtu_agree(k->x, prepare(k, side), &none, 1);

	gtu_phase(&k->r.phases, "traverse");
	while (!rc && !met && side[0].vertices && side[1].vertices) {
		active = both && side[1].vertices < side[0].vertices ? &side[1] : &side[0];
		rc = step(k, active, &side[active == &side[0]], &met);
	}
	if (!rc)
		*(uint64_t *)k->run->result = met ? side[0].search.now + (uint64_t)side[1].search.now : GTU_UNREACHED;
	return rc;
}
