// SPDX-License-Identifier: MIT
/*
 * A level of a search from its frontier, over several GPUs. A rank sends the targets that it sees for the
 * first time to their owners, as numbers or as a bitmap, whichever is smaller.
 */
#include "ranks.h"

#define BITMAP		(1ull << 63)	/* in a message's word: a bitmap, not numbers */

int gpu_push_begin(struct gpu_ranks *k, struct gpu_push *p, uint64_t source, uint32_t skip)
{
	/* by the vertices' numbers */
	CUdeviceptr isolated = k->r.gpu->placed.isolated.device, level = p->level ? p->level - 4 * k->first : 0;
	uint32_t from = (uint32_t)source;
	/* all ranks know that the source is reached */
	void *begin[] = { &isolated, &skip, &source, &p->visited, NULL }, *start[] = { &from, &p->visited, &level, &p->queue[0], NULL };
	int rc = p->level ? gpu_fill(k->r.gpu, p->level, 0xff, 4 * k->own, k->r.err) : 0;

	p->have_queue = true;
	if (!rc)
		rc = gpu_run_launch(&k->r, "ranks_begin", NULL, false, (k->r.graph.n + 31) / 32, begin);
	if (rc || source < k->first || source >= k->end)
		return rc;
	rc = gpu_run_clear(&k->r);
	if (!rc)
		rc = gpu_run_launch(&k->r, "bfs_start", NULL, true, GPU_BLOCK, start);
	if (!rc)
		rc = gpu_run_read(&k->r);
	p->items = k->r.counters.items;
	return rc;
}

uint64_t gpu_push_bits(const struct gpu_ranks *k)
{
	return 4 * ((k->run->graph->n + 31) / 32);
}

uint64_t gpu_push_bitmaps(const struct gpu_ranks *k)
{
	uint64_t bytes = 0;
	uint32_t i;

	for (i = 0; i < k->size; i++)
		bytes += gpu_ranks_bitmap(k, i);
	return bytes;
}

int gpu_push_collect(struct gpu_ranks *k, struct gpu_push *p)
{
	struct gpu_run *r = &k->r;
	uint32_t flip = 0;
	/* by the vertices' numbers */
	CUdeviceptr level = p->level ? p->level - 4 * k->first : 0;
	void *levels[] = { &level, &p->now, &p->queue[0], NULL }, *bits[] = { &p->bits, &flip, &p->queue[0], NULL };
	int rc = p->have_queue ? 0 : gpu_run_clear(r);

	if (rc || p->have_queue)
		return rc;
	/* compressed lists have no such kernel; it does not ascend in parts of a window */
	if (p->bits && r->gpu->placement.edge_bytes && !gpu_run_orders(r))
		rc = gpu_run_launch(r, "bfs_collect_bits", NULL, true, k->own / 32 + 64, bits);
	else
		rc = gpu_run_launch_vertices(r, &r->graph, "visit_collect", NULL, true, GPU_STRIP, levels);
	if (!rc)
		rc = gpu_run_read(r);
	p->items = r->counters.items;
	p->have_queue = true;
	return rc;
}

/* Prepare the message to each rank: its word, its address and its bytes. */
static int address(struct gpu_ranks *k, const struct gpu_push *p)
{
	uint64_t at = 0, bitmap;
	void *args[3];
	CUdeviceptr ids;
	uint32_t i;
	int rc = 0;

	for (i = 0; i < k->size && !rc; i++) {
		ids = p->outbox + 4 * k->section[i];
		bitmap = gpu_ranks_bitmap(k, i);
		k->outgoing[i] = k->count[i];
		k->send[i] = ids;
		k->send_bytes[i] = 4 * k->count[i];
		if (k->send_bytes[i] <= bitmap)
			continue;
		k->outgoing[i] |= BITMAP;
		k->send[i] = p->bitmaps + at;
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
static int settle(struct gpu_ranks *k, struct gpu_push *p)
{
	uint32_t next = p->now + 1, i;
	uint64_t count;
	CUdeviceptr ids, bits;
	void *args[] = { &ids, &bits, &count, &p->visited, &p->level, &next, &p->queue[1], NULL };
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

int gpu_push(struct gpu_ranks *k, struct gpu_push *p)
{
	struct gpu_run *r = &k->r;
	uint32_t next = p->now + 1, i;
	void *args[] = { &p->visited, &p->level, &next, &p->queue[1], &k->cuts, &k->size, &k->sent, &p->outbox, NULL };
	int rc = gpu_push_collect(k, p);

	if (!rc)
		rc = gpu_ranks_clear(k);
	if (!rc)
		rc = gpu_run_launch_items(r, &r->graph, "ranks_push", NULL, p->queue[0], p->items, args);
	if (!rc)
		rc = gpu_run_read(r);
	if (!rc)
		rc = gpu_ranks_counts(k);
	if (!rc)
		rc = address(k, p);
	rc = gpu_ranks_words(k, BITMAP, k->own, rc);
	if (rc)
		return rc;
	for (i = 0; i < k->size; i++)
		k->receive_bytes[i] = k->incoming[i] & BITMAP ? gpu_ranks_bitmap(k, k->rank) : 4 * k->incoming[i];
	rc = gpu_link_exchange(k, GTU_CARGO_VERTICES, true);
	if (!rc)
		rc = gpu_link_release(k, settle(k, p));
	p->items = r->counters.items;
	p->have_queue = gpu_run_keeps_queue(r);
	p->bits = 0;
	gpu_swap(p->queue);
	return rc;
}
