// SPDX-License-Identifier: MIT
/*
 * Second copies of the edge list.
 *
 * Cached: neighbours of each vertex, the first entries, or some packed tiles, in GPU memory.
 *
 * Packed: the edge list with as many bits per entry as vertex numbers need (25 for 2^25 vertices), for
 * PageRank, which reads all of it in order. Tiles of GPU_TILE entries are whole 128-byte lines, so
 * that each can be located and read independently. The first run that uses it creates it in pinned
 * memory, which is as fast as any other for sequential reads. Without memory for it, runs read the
 * plain list.
 *
 * Transposed: the lists that lead to each vertex of a directed graph, placed as the graph is.
 */
#include <stdio.h>
#include <string.h>

#include "gpu.h"

struct packing {
	const struct gtu_graph *g;
	uint32_t *to, bits;
};

static int pack_tiles(void *arg, uint64_t first, uint64_t end)
{
	struct packing *p = arg;
	uint64_t tile, e, stop, value;
	uint32_t *to, at;

	/* a share consists of whole tiles */
	for (tile = first / GPU_TILE; tile * GPU_TILE < end; tile++) {
		to = p->to + tile * (GPU_TILE / 32 * p->bits);
		memset(to, 0, GPU_TILE / 8 * p->bits);
		stop = (tile + 1) * GPU_TILE < end ? (tile + 1) * GPU_TILE : end;
		for (e = tile * GPU_TILE, at = 0; e < stop; e++, at += p->bits) {
			value = gtu_graph_target(p->g, e) << (at & 31);
			to[at >> 5] |= (uint32_t)value;
			if ((at & 31) + p->bits > 32)
				to[(at >> 5) + 1] |= (uint32_t)(value >> 32);
		}
	}
	return 0;
}

static uint32_t bits_of(uint64_t n)
{
	return n > 2 ? 64 - (uint32_t)__builtin_clzll(n - 1) : 1;
}

bool gpu_packed_helps(const struct gpu *gpu)
{
	const struct gpu_placed *p = &gpu->placed;

	return p->any_width && gpu->placement.edge_bytes && bits_of(p->args.n) <= 28 && p->args.m &&
	       (gpu->placement.edges == GTU_EDGES_MANAGED || gpu->placement.edges == GTU_EDGES_PINNED);
}

static int create_packed(struct gpu *gpu, struct gtu_error *err)
{
	struct gpu_placed *p = &gpu->placed;
	struct packing k = { .g = p->graph, .bits = bits_of(p->args.n) };
	uint64_t tiles = (p->args.m + GPU_TILE - 1) / GPU_TILE;
	int rc = gpu_memory_alloc(gpu, GTU_EDGES_PINNED, tiles * (GPU_TILE / 8) * k.bits, &p->bits_list, err);

	if (rc == GTU_ERR_NOMEM)
		p->any_width = false;	/* do not try again */
	if (rc)
		return rc;
	k.to = p->bits_list.host;
	p->bits = k.bits;
	return gtu_parallel(pack_tiles, &k, p->args.m);
}

int gpu_packed_fill(struct gpu *gpu, struct gtu_error *err)
{
	struct gpu_placed *p = &gpu->placed;
	uint64_t tile, tiles, all, share;
	void *args[] = { &p->bits_list.device, &p->cache.device, &share, &p->bits, &all };
	int rc = 0;

	if (!p->bits_list.kind)
		rc = create_packed(gpu, err);
	if (rc || p->holds == GPU_CACHE_BITS)
		return rc;
	gpu_cache_drop(p);
	tile = (uint64_t)(GPU_TILE / 8) * p->bits;
	tiles = p->cache.bytes / tile;
	all = p->bits_list.bytes / tile;
	share = ((tiles < all ? tiles : all) << 32) / all;
	if (share)
		rc = gpu_launch(gpu, "pagerank_cached_fill", all * GPU_BLOCK, args, err);
	if (!rc && share)
		rc = gpu_wait(gpu, "the cache", err);
	if (!rc) {
		p->cached_share = share;
		p->holds = GPU_CACHE_BITS;
	}
	return rc;
}

/* ---- The cache ------------------------------------------------------------------------------------- */

/* Cache @degree neighbours of each vertex below @end. */
static int hold_neighbours(struct gpu *gpu, uint32_t degree, uint64_t end, struct gtu_error *err)
{
	struct gpu_placed *p = &gpu->placed;
	uint64_t n = p->args.n;
	struct gpu_memory counters;
	CUdeviceptr to = p->cache.device;
	struct gpu_graph args = p->args;
	void *launch[] = { &args, &to };
	char kernel[32];
	int rc;

	/* unused by the kernel, but it must be a valid address */
	rc = gpu_memory_alloc(gpu, GTU_EDGES_DEVICE, sizeof(struct gpu_counters), &counters, err);
	if (rc)
		return rc;
	args.counters = counters.device;
	args.cache_degree = degree;
	args.cache_end = end;
	args.end = n;
	snprintf(kernel, sizeof(kernel), "cache_fill_%s", gpu_entry_name(gpu));
	rc = gpu_launch(gpu, kernel, end * 32, launch, err);
	if (!rc)
		rc = gpu_wait(gpu, "the cache", err);
	gpu_memory_free(gpu, &counters);
	if (rc)
		return rc;
	p->args.cache = p->cache.device;
	p->args.cache_degree = degree;
	p->args.cache_end = end;
	return 0;
}

/* Cache the first words of a compressed list, in whole lines. */
static int hold_words(struct gpu *gpu, CUdeviceptr at, uint64_t space, struct gtu_error *err)
{
	struct gpu_placed *p = &gpu->placed;
	uint64_t bytes = space < p->list.bytes ? space & ~127ull : p->list.bytes & ~3ull;
	int rc = gpu_upload(gpu, at, p->list.host, bytes, err);

	if (!rc) {
		p->args.prefix = at;
		p->args.prefix_end = bytes / 4;
	}
	return rc;
}

/* Cache the first entries of the list in the space after @used bytes. */
static int hold_prefix(struct gpu *gpu, uint64_t used, struct gtu_error *err)
{
	struct gpu_placed *p = &gpu->placed;
	uint32_t edge = gpu->placement.edge_bytes, weight = gpu->placement.weight_bytes;
	uint64_t space = p->cache.bytes > used ? p->cache.bytes - used : 0, count;
	CUdeviceptr at = p->cache.device + used;
	int rc;

	if (!edge)
		return space && gpu->placement.edges != GTU_EDGES_DEVICE ? hold_words(gpu, at, space, err) : 0;
	/* whole lines of entries and of weights */
	count = space / (edge + weight) & ~255ull;
	if (count > p->args.m)
		count = p->args.m;
	if (!count || gpu->placement.edges == GTU_EDGES_DEVICE)
		return 0;
	rc = gpu_upload(gpu, at, p->list.host, count * edge, err);
	if (!rc && weight)
		rc = gpu_upload(gpu, at + count * edge, p->weight.host, count * weight, err);
	if (rc)
		return rc;
	p->args.prefix = at;
	p->args.weight_prefix = at + count * edge;
	p->args.prefix_end = count;
	p->args.weight_prefix_end = count;
	return 0;
}

void gpu_cache_drop(struct gpu_placed *p)
{
	p->holds = GPU_CACHE_EMPTY;
	p->args.prefix_end = 0;
	p->args.weight_prefix_end = 0;
	p->args.cache_degree = 0;
	p->args.cache_end = 0;
	p->cached_share = 0;
}

bool gpu_cache_shrink(struct gpu *gpu, uint64_t bytes)
{
	struct gpu_placed *p = &gpu->placed;
	const uint64_t left = p->cache.bytes > bytes ? (p->cache.bytes - bytes) & ~255ull : 0;
	const enum gpu_cache holds = p->holds;

	if (!p->cache.bytes)
		return false;
	gpu_cache_drop(p);
	gpu_memory_free(gpu, &p->cache);
	if (left < GPU_CACHE_LEAST || gpu_memory_alloc(gpu, GTU_EDGES_DEVICE, left, &p->cache, NULL))
		return true;
	/* without the cached edges, a run reads the list */
	if (gpu_cache_fill(gpu, holds, NULL)) {
		gpu_cache_drop(p);
		gpu_memory_free(gpu, &p->cache);
	}
	return true;
}

int gpu_cache_fill(struct gpu *gpu, enum gpu_cache what, struct gtu_error *err)
{
	struct gpu_placed *p = &gpu->placed;
	uint64_t n = p->args.n, degree = 0, end = n, used;
	int rc = 0;

	if (what == GPU_CACHE_BITS) {
		rc = gpu_packed_fill(gpu, err);
		if (rc != GTU_ERR_NOMEM || gpu_packed_helps(gpu))
			return rc;
		what = GPU_CACHE_PREFIX;
		rc = 0;
	}
	if (what == GPU_CACHE_BLOCKS)
		return gpu_blocks_fill(gpu, err);
	if (!p->cache.bytes || p->holds == what || what == GPU_CACHE_EMPTY || !p->args.m)
		return 0;
	gpu_cache_drop(p);
	if (what == GPU_CACHE_NEIGHBOURS) {
		degree = p->cache.bytes / (4 * n);
		degree = degree > GPU_CACHE_MAX ? GPU_CACHE_MAX : degree;
		/* too small for one neighbour per vertex: cache one for the first vertices */
		if (!degree) {
			end = p->cache.bytes / 4 & ~31ull;
			degree = end > 0;
		}
		if (degree)
			rc = hold_neighbours(gpu, (uint32_t)degree, end, err);
	}
	used = (4 * end * degree + 255) & ~255ull;
	if (!rc)
		rc = hold_prefix(gpu, used, err);
	if (!rc)
		p->holds = what;
	return rc;
}

/* ---- Transposed lists -------------------------------------------------------------------------------- */

/* Exchange the placed graph and the transposed one, for functions that work on the placed graph. */
static void exchange(struct gpu *gpu)
{
	const struct gpu_placed placed = gpu->placed;
	const struct gtu_placement placement = gpu->placement;

	gpu->placed = gpu->back;
	gpu->placement = gpu->back_placement;
	gpu->back = placed;
	gpu->back_placement = placement;
}

void gpu_unplace_transposed(struct gpu *gpu)
{
	exchange(gpu);
	gpu_unplace(gpu);
	exchange(gpu);
	gtu_graph_close(gpu->transposed);
	gpu->transposed = NULL;
	gpu->transposed_of = NULL;
}

int gpu_place_transposed(struct gpu *gpu, struct gtu_error *err)
{
	const struct gtu_graph *g = gpu->placed.graph;
	struct gtu_placement *p = &gpu->placement;
	struct gtu_placement_options opt = gpu->placed.options;
	struct gtu_graph plain = *g;
	int rc;

	plain.weight = NULL;
	plain.weight_type = GTU_WEIGHT_NONE;
	/* kernels read both kinds of lists in one format */
	opt.edge_bytes = p->edge_bytes;
	opt.compressed = !p->edge_bytes;
	rc = gtu_graph_transpose(&plain, NULL, &gpu->transposed, err);
	if (!rc) {
		exchange(gpu);
		rc = gpu_place(gpu, gpu->transposed, &opt, err);
		exchange(gpu);
	}
	if (!rc) {
		gpu->transposed_of = g;
		p->transposed_bytes = gpu->back_placement.list_bytes;
		p->transposed_edges = gpu->back_placement.edges;
		p->seconds += gpu->back_placement.seconds;
		return 0;
	}
	gtu_graph_close(gpu->transposed);
	gpu->transposed = NULL;
	if (rc == GTU_ERR_NOMEM)
		snprintf(p->given_up, sizeof(p->given_up), "transposed lists, whose memory was refused: runs push");
	return rc == GTU_ERR_NOMEM ? 0 : rc;
}

int gpu_run_back(struct gpu_run *r, enum gpu_cache cache, struct gpu_graph **back, bool *found)
{
	struct gpu *gpu = r->gpu;
	int rc;

	*back = &r->graph;
	*found = r->whole && r->undirected;
	if (*found || !r->whole || !gpu->transposed_of || gpu->transposed_of != gpu->placed.graph)
		return 0;
	exchange(gpu);
	rc = gpu_cache_fill(gpu, cache, r->err);
	exchange(gpu);
	r->back = gpu->back.args;
	r->back.counters = r->graph.counters;
	r->back.end = r->back.n;
	*back = &r->back;
	*found = !rc;
	return rc;
}
