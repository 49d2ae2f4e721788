// SPDX-License-Identifier: MIT
/*
 * The edge list with as many bits per entry as vertex numbers need (25 for 2^25 vertices), for
 * PageRank, which reads all of it in order. Tiles of GPU_TILE entries are whole 128-byte lines, so
 * that each can be located and read independently. The first run that uses it creates it in pinned
 * memory, which is as fast as any other for sequential reads. Without memory for it, runs read the
 * plain list.
 */
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
