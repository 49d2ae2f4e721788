// SPDX-License-Identifier: MIT
/* One GPU of several: a run as a rank, and what its algorithms share. */
#include <stdlib.h>
#include <string.h>

#include "ranks.h"

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
