// SPDX-License-Identifier: MIT
/* One GPU of several: a run as a rank, and what its algorithms share. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "ranks.h"

#define ITEMS	(GPU_LOOP_ITEMS / 2)	/* most of a frontier with GPU_LOOP_ITEMS / 8 vertices and GPU_LOOP_EDGES edges */

static const struct {
	const char *name;
	gpu_ranked_fn *run;
	enum gpu_cache cache;
} algorithms[GTU_RANKED_ALGORITHMS] = {
	[GTU_RANKED_BFS] = { "bfs", gpu_ranked_bfs, GPU_CACHE_PREFIX },
	[GTU_RANKED_SSSP] = { "sssp", gpu_ranked_sssp, GPU_CACHE_PREFIX },
	[GTU_RANKED_PAGERANK] = { "pagerank", gpu_ranked_pagerank, GPU_CACHE_PREFIX },
	[GTU_RANKED_COMPONENTS] = { "components", gpu_ranked_components, GPU_CACHE_PREFIX },
	[GTU_RANKED_BETWEENNESS] = { "betweenness", gpu_ranked_betweenness, GPU_CACHE_PREFIX },
	[GTU_RANKED_CORES] = { "cores", gpu_ranked_cores, GPU_CACHE_PREFIX },
	[GTU_RANKED_LABELS] = { "label propagation", gpu_ranked_labels, GPU_CACHE_PREFIX },
	[GTU_RANKED_COLORING] = { "coloring", gpu_ranked_coloring, GPU_CACHE_PREFIX },
	[GTU_RANKED_GCN] = { "gcn", gpu_ranked_convolution, GPU_CACHE_PREFIX },
	[GTU_RANKED_STCON] = { "stcon", gpu_ranked_stcon, GPU_CACHE_PREFIX },
};

uint64_t gpu_ranks_outbox(const struct gpu_ranks *k)
{
	return k->section[k->size];
}

uint64_t gpu_ranks_queue_bytes(const struct gpu_ranks *k)
{
	const uint32_t width = k->r.gpu->placement.edge_bytes ? k->r.gpu->placement.edge_bytes : 4;

	return 8 * (k->own + k->own / 8 + k->r.graph.m / (GPU_CHUNK / width) + 64);
}

int gpu_ranks_clear(struct gpu_ranks *k)
{
	int rc = gpu_run_clear(&k->r);

	return rc ? rc : gpu_fill(k->r.gpu, k->sent, 0, 8ull * k->size, k->r.err);
}

int gpu_ranks_counts(struct gpu_ranks *k)
{
	return gpu_download(k->r.gpu, k->count, k->sent, 8ull * k->size, k->r.err);
}

int gpu_ranks_bad_message(struct gpu_ranks *k)
{
	return gtu_fail(k->r.err, GTU_ERR_FAIL, "another rank sent vertices out of range: it runs another version or another "
			"graph");
}

int gpu_ranks_check(struct gpu_ranks *k)
{
	return k->r.counters.changed ? gpu_ranks_bad_message(k) : 0;
}

int gpu_ranks_words(struct gpu_ranks *k, uint64_t flags, uint64_t most, int rc)
{
	uint32_t i;

	rc = gtu_exchange_words(k->x, k->outgoing, k->incoming, rc);
	for (i = 0; i < k->size && !rc; i++)
		if ((k->incoming[i] & ~flags) > most)
			rc = gtu_give_up(k->x, gpu_ranks_bad_message(k));
	return rc;
}

/* ---- Bitmaps ---------------------------------------------------------------------------------------- */

uint64_t gpu_bits_bytes(const struct gpu_ranks *k, uint32_t rank)
{
	return gpu_ranks_range(k, rank) ? 4 * ((k->cut[rank + 1] + 31) / 32 - k->cut[rank] / 32) : 0;
}

CUdeviceptr gpu_bits_word(const struct gpu_ranks *k, CUdeviceptr bits, uint32_t rank)
{
	return bits + 4 * (k->cut[rank] / 32);
}

CUdeviceptr gpu_bits_at(const struct gpu_ranks *k, const struct gpu_bits *b, uint32_t which)
{
	return b->bits + which * gpu_push_bits(k);
}

int gpu_bits_clear(struct gpu_ranks *k, const struct gpu_bits *b, uint32_t which)
{
	return gpu_fill(k->r.gpu, gpu_bits_word(k, gpu_bits_at(k, b, which), k->rank), 0, gpu_bits_bytes(k, k->rank), k->r.err);
}

int gpu_bits_begin(struct gpu_ranks *k, struct gpu_bits *b, uint32_t count)
{
	uint64_t widest = 0;
	uint32_t i;
	int rc;

	for (i = 0; i < k->size; i++)
		widest = gpu_bits_bytes(k, i) > widest ? gpu_bits_bytes(k, i) : widest;
	b->stride = gpu_round_up(widest);
	/* all ranks may send as many words as that with the most: behind the last bitmap, too */
	rc = gpu_run_allocate(&k->r, (struct gpu_part[]){ { "own bits", count * gpu_push_bits(k) + b->stride, &b->bits },
							  { "bits of all ranks", (b->stride + 8) * k->size, &b->all } }, 2);
	b->at = b->all + b->stride * k->size;
	for (i = 0; i < k->size; i++)
		k->count[i] = b->all + i * b->stride;
	return rc ? rc : gpu_upload(k->r.gpu, b->at, k->count, 8ull * k->size, k->r.err);
}

/* The cards read each other's words in place. */
static int share(struct gpu_ranks *k, struct gpu_bits *b)
{
	uint32_t i;
	int rc;

	gtu_exchange_count(k->x, GTU_CARGO_VERTICES, (k->size - 1) * gpu_bits_bytes(k, k->rank));
	if (b->shared)
		return 0;
	b->shared = true;
	rc = gpu_link_addresses(k, b->bits, (CUdeviceptr *)k->count);
	for (i = 0; i < k->size && !rc; i++)
		k->count[i] = gpu_bits_word(k, k->count[i], i);
	return rc ? rc : gpu_upload(k->r.gpu, b->at, k->count, 8ull * k->size, k->r.err);
}

int gpu_bits_join(struct gpu_ranks *k, struct gpu_bits *b, uint32_t which, CUdeviceptr all, CUdeviceptr also)
{
	const bool loads = gpu_link_loads(k);
	uint64_t offset = loads ? which * gpu_push_bits(k) : 0;
	void *args[] = { &b->at, &offset, &k->cuts, &k->size, &all, &also, NULL };
	uint32_t i;
	int rc;

	if (loads) {
		rc = share(k, b);
	} else {
		for (i = 0; i < k->size; i++)
			k->count[i] = gpu_bits_bytes(k, i);
		rc = gpu_link_gather(k, GTU_CARGO_VERTICES, gpu_bits_word(k, gpu_bits_at(k, b, which), k->rank), k->count, b->stride,
				     b->all);
	}
	return rc ? rc : gpu_run_launch(&k->r, "ranks_join_bits", NULL, false, (k->r.graph.n + 31) / 32, args);
}

/* ---- Small frontiers over several cards --------------------------------------------------------------- */

/*
 * To expand them, each on its owner's card, and to exchange what was found takes longer than to reach for lists and values in the
 * others' memory. So the card of rank 0 runs such steps for all, in one launch (kernels/loop.cuh), while the others wait.
 */

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
		{ "first items", 8ull * ITEMS, &c->queue }, { "shared items of loops", 8ull * GPU_LOOP_BLOCKS * GPU_LOOP_PART, &c->space },
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

/* ---- The run ---------------------------------------------------------------------------------------- */

/* Arrays over the ranks, in one block at k->section. */
static int take_arrays(struct gpu_ranks *k)
{
	const uint64_t count = k->size + 1ull;
	uint64_t *at = calloc(8 * count, sizeof(*at)), next = 0;
	uint32_t i;

	if (!at)
		return gtu_fail(k->r.err, GTU_ERR_NOMEM, "out of memory for %u ranks", k->size);
	k->section = at;
	k->count = at + count;
	k->outgoing = at + 2 * count;
	k->incoming = at + 3 * count;
	k->send_bytes = at + 4 * count;
	k->receive_bytes = at + 5 * count;
	k->send = (CUdeviceptr *)(at + 6 * count);
	k->receive = (CUdeviceptr *)(at + 7 * count);
	/* sections of elements of 4 bytes begin at multiples of 16 bytes */
	for (i = 0; i < k->size; i++) {
		k->section[i] = next;
		next += (gpu_ranks_range(k, i) + 3) & ~3ull;
	}
	k->section[k->size] = next;
	return 0;
}

static int begin(struct gpu_ranks *k)
{
	const struct gtu_rank_run *run = k->run;
	const uint64_t bytes = 8 * (k->size + 1ull);
	int rc = gpu_run_begin(&k->r, k->dev, algorithms[run->what].name, &k->opt, run->stats, algorithms[run->what].cache,
			       k->x->err);

	/* an empty range at vertex 0 means all vertices to gpu_run_begin() */
	k->r.graph.first = k->first;
	k->r.graph.end = k->end;
	if (!rc && run->opt->kernel != GTU_KERNEL_AUTO)
		return gtu_fail(k->r.err, GTU_ERR_UNSUPPORTED, "the paper's kernels (%s) do not run over several GPUs: use auto",
				gtu_kernel_name(run->opt->kernel));
	if (!rc)
		rc = take_arrays(k);
	if (!rc)
		rc = gpu_run_allocate(&k->r, (struct gpu_part[]){ { "ranges", 2 * bytes, &k->cuts },
								  { "counts", bytes, &k->sent } }, 2);
	if (!rc)
		rc = gpu_upload(k->r.gpu, k->cuts, k->cut, bytes, k->r.err);
	return rc ? rc : gpu_upload(k->r.gpu, k->cuts + bytes, k->section, bytes, k->r.err);
}

int gpu_ranked(struct gtu_device *dev, const struct gtu_rank_run *run)
{
	struct gpu *gpu = dev->backend;
	struct gpu_ranks *k = calloc(1, sizeof(*k));
	uint64_t linked = 0;
	int rc;

	if (!k)
		return gtu_agree(run->x, gtu_fail(run->x->err, GTU_ERR_NOMEM, "out of memory for a run"), &linked, 1);
	k->dev = dev;
	k->run = run;
	k->x = run->x;
	k->rank = k->x->ranks.rank;
	k->size = k->x->ranks.size;
	k->cut = run->cut;
	k->first = run->cut[k->rank];
	k->end = run->cut[k->rank + 1];
	k->own = k->end - k->first;
	k->opt = *run->opt;
	k->opt.first_vertex = k->first;
	k->opt.end_vertex = k->end;
	k->opt.kernel = GTU_KERNEL_AUTO;
	rc = begin(k);
	linked = gpu_link_is(gpu, k->x->way);
	rc = gtu_agree(k->x, rc, &linked, 1);
	k->link = gpu->link;
	if (!rc && linked < k->size) {
		gpu_link_close(gpu);
		rc = gpu_link_open(k);
	}
	if (!rc)
		rc = algorithms[run->what].run(k);
	/* after a failure ranks may not agree on the state of the link any more */
	if (rc)
		gpu_link_close(gpu);
	gpu_memory_free(gpu, &k->inbox);
	free(k->section);
	rc = gpu_run_end(&k->r, rc);
	free(k);
	return rc;
}
