// SPDX-License-Identifier: MIT
/*
 * Small frontiers over several cards. To expand them, each on its owner's card, and to exchange what was found takes longer
 * than to reach for lists and values in the others' memory. So the card of rank 0 runs such steps for all, in one launch
 * (kernels/loop.cuh), while the others wait.
 */
#include <stdlib.h>
#include <string.h>

#include "ranks.h"

#define ITEMS	(GPU_LOOP_ITEMS / 2)	/* of a frontier with GPU_LOOP_ITEMS / 8 vertices and GPU_LOOP_EDGES edges */

/* A rank's message about its lists and arrays. */
struct told {
	struct gpu_card card;
	uint64_t writes;
	uint32_t edges, edge_bytes, weight_bytes, weight_bits, weight_min, weight_type;
};

static void describe(const struct gpu_ranks *k, CUdeviceptr first, CUdeviceptr second, struct told *t)
{
	const struct gtu_placement *at = &k->r.gpu->placement;
	const struct gpu_graph *g = &k->r.graph;

	memset(t, 0, sizeof(*t));
	t->card = (struct gpu_card){ g->row, g->list, g->weight, first, second };
	t->writes = gpu_link_writes(k);
	t->edges = at->edges;
	t->edge_bytes = at->edge_bytes;
	t->weight_bytes = at->weight_bytes;
	t->weight_bits = g->weight_bits;
	t->weight_min = g->weight_min;
	t->weight_type = k->r.gpu->placed.weight_type;
}

/* Entries mean the same on both cards, and are in their memory. */
static bool agree(const struct told *a, const struct told *b)
{
	return a->writes && a->edges == GTU_EDGES_DEVICE && a->edge_bytes &&
	       !memcmp(&a->edges, &b->edges, sizeof(*a) - offsetof(struct told, edges));
}

int gpu_cards_begin(struct gpu_ranks *k, struct gpu_cards *c, CUdeviceptr first, CUdeviceptr second, bool levels)
{
	const struct gpu_part part[] = {
		{ "cards", sizeof(struct gpu_card) * k->size, &c->cards },
		{ "first items", 8ull * ITEMS, &c->queue }, { "queues of all cards", 16ull * GPU_LOOP_ITEMS, &c->space },
		{ "levels of all cards", sizeof(struct gpu_level) * GPU_LOOP_STEPS, &c->log },
	};
	struct told own, *all = calloc(k->size, sizeof(*all));
	struct gpu_card card[GPU_LOOP_CARDS];
	uint64_t none = 0;
	uint32_t i;
	int rc = all ? 0 : gtu_outbox_full(k->x);

	describe(k, first, second, &own);
	rc = gtu_agree(k->x, rc, &none, 1);
	if (!rc)
		rc = k->x->ranks.all_gather(k->x->ranks.context, &own, sizeof(own), all, k->x->err);
	c->usable = !rc && k->size <= GPU_LOOP_CARDS;
	for (i = 0; i < k->size && c->usable; i++) {
		c->usable = agree(&all[i], &all[0]);
		card[i] = all[i].card;
		c->list = i && c->list < card[i].list ? c->list : card[i].list;
	}
	free(all);
	if (rc)
		return gtu_give_up(k->x, rc);
	if (!c->usable)
		return 0;
	if (!k->rank)
		rc = gpu_run_allocate(&k->r, part, levels ? 4 : 1);
	if (!rc && !k->rank)
		rc = gpu_upload(k->r.gpu, c->cards, card, sizeof(card[0]) * k->size, k->r.err);
	return gpu_cards_result(k, rc, NULL, 0);
}

int gpu_cards_loop(struct gpu_ranks *k, const struct gpu_cards *c, const char *kernel, const char *suffix, void **args)
{
	struct gpu_run *r = &k->r;
	const uint64_t list = r->graph.list;
	int rc = gpu_run_clear(r);

	r->graph.list = c->list;
	if (!rc)
		rc = gpu_run_loop(r, kernel, suffix, GPU_LOOP_BLOCKS, args);
	r->graph.list = list;
	return rc ? rc : gpu_run_read(r);
}

int gpu_cards_gather(struct gpu_ranks *k, int rc, CUdeviceptr from, uint64_t count, uint32_t bytes, CUdeviceptr to,
		     uint64_t *all)
{
	uint64_t mine[2] = { from, count }, theirs[2 * GPU_LOOP_CARDS], words;
	uint32_t i;
	int failed = k->x->ranks.all_gather(k->x->ranks.context, mine, sizeof(mine), theirs, rc ? NULL : k->x->err);

	if (failed)
		return gtu_give_up(k->x, rc ? rc : failed);
	for (i = 0, *all = 0; i < k->size; i++) {
		CUdeviceptr at = to + *all * bytes;
		void *args[] = { &at, &theirs[2 * i], &words };

		words = theirs[2 * i + 1] * bytes / 4;
		*all += theirs[2 * i + 1];
		if (!rc && !k->rank && words && at != theirs[2 * i])
			rc = gpu_launch(k->r.gpu, "ranks_fetch", words, args, k->r.err);
	}
	return rc;
}

int gpu_cards_result(struct gpu_ranks *k, int rc, void *data, uint64_t bytes)
{
	uint64_t none = 0;

	/* the others may free their memory after a failure: no kernel reads it then */
	if (rc && !k->rank)
		gpu_wait(k->r.gpu, k->r.name, NULL);
	rc = gtu_agree(k->x, rc, &none, 1);
	if (rc || !bytes)
		return rc;
	rc = k->x->ranks.broadcast(k->x->ranks.context, 0, data, bytes, k->x->err);
	return rc ? gtu_give_up(k->x, rc) : 0;
}
