// SPDX-License-Identifier: MIT
/*
 * PageRank's edges in blocks (kernels/pagerank_blocks.cuh): a second form of a list on the card, in 4 bytes per
 * edge, made by the first run that uses it. A run adds 4 bytes per edge for values. Without memory for them, runs
 * read the list.
 */
#include <stdio.h>
#include <stdlib.h>

#include "gpu.h"

#define BITS_MOST	14u		/* a range and one vertex more fit into 16 bits */
#define ITERATIONS_LEAST 6u		/* making the blocks takes as long as they save in so many iterations */
#define EDGE_BYTES	8u		/* of blocks and values */
#define ENTRIES_MOST	(1ull << 33)	/* a quarter of the entries, which blocks add, is counted in 32 bits */
#define ERROR_MOST	1e-7		/* of a rank, by fixed-point numbers */
#define L2_SHARE	16u		/* ranges as near as a share of the L2 cache are read from it, */
#define NEAR_MOST	0.75		/* and with that share of all edges between them, lists are read faster than blocks */
#define BLOCKS_A_PROCESSOR 16u		/* thread blocks of a kernel, at least, so that processors end together */

/* Bytes of shared memory for a range's sums. */
static uint64_t range_bytes(uint32_t bits)
{
	return 8ull << bits;
}

static uint32_t bits_of(const struct gpu *gpu)
{
	uint32_t bits = BITS_MOST;

	while (bits && range_bytes(bits) > gpu->shared_bytes)
		bits--;
	return bits;
}

static uint32_t ranges_of(const struct gpu *gpu)
{
	return (uint32_t)((gpu->placed.args.n + (1ull << bits_of(gpu)) - 1) >> bits_of(gpu));
}

/* How many ranges farther on a contribution is near; 0: unknown. */
static uint32_t near_of(const struct gpu *gpu)
{
	return (uint32_t)(gpu->info.l2_bytes / L2_SHARE / range_bytes(bits_of(gpu)));
}

/* Bytes of shared memory that dividing the lists takes. */
static uint64_t divide_bytes(const struct gpu *gpu)
{
	return 12ull * ranges_of(gpu) + 4 + (2ull << bits_of(gpu));
}

/*
 * The greatest error of a rank by a contribution's fixed-point number, relative to the least rank, (1 - damping) / n. A
 * contribution is 1 / (n * (1 - damping * s)) at most, where s is the share of vertices without edges.
 */
static double error_of(uint64_t n, uint64_t connected, double damping)
{
	const double alone = 1 - (double)connected / (double)n;

	return damping / (1 - damping * alone) / (1 - damping) * 0x1p-32;
}

bool gpu_blocks_help(const struct gpu *gpu, bool undirected, uint64_t connected, uint64_t iterations, double damping)
{
	const struct gpu_placed *p = &gpu->placed;
	const uint64_t most = p->options.gpu_memory;

	/* the limit of memory for edges holds for these, too */
	if (most && gpu->placement.list_bytes + EDGE_BYTES * p->args.m > most)
		return false;
	return gpu->placement.edges == GTU_EDGES_DEVICE && gpu->placement.edge_bytes && p->args.m && p->args.m < ENTRIES_MOST &&
	       !p->no_blocks && damping > 0 && damping < 1 && error_of(p->args.n, connected, damping) <= ERROR_MOST &&
	       undirected && 8 * p->args.n > gpu->info.l2_bytes &&
	       bits_of(gpu) && divide_bytes(gpu) <= gpu->shared_bytes &&
	       (p->block_start.kind || iterations >= ITERATIONS_LEAST);
}

/* Thread blocks that share a range. */
static uint32_t parts_of(const struct gpu *gpu)
{
	return BLOCKS_A_PROCESSOR * gpu->info.multiprocessors / ranges_of(gpu) + 1;
}

/* Launch @parts thread blocks for each range, with @bytes of shared memory. */
static int launch(struct gpu *gpu, const char *kernel, bool format, uint32_t parts, uint64_t bytes, void **args,
		  struct gtu_error *err)
{
	const uint32_t bits = bits_of(gpu), threads = 1u << bits < GPU_BLOCKS_THREADS ? 1u << bits : GPU_BLOCKS_THREADS;

	return gpu_launch_shared(gpu, kernel, format ? gpu_entry_name(gpu) : NULL, ranges_of(gpu) * parts,
				 threads < 32 ? 32 : threads, (uint32_t)bytes, args, err);
}

/* Count the entries of each block, and place the blocks; *help: they are faster than the lists. */
static int place_blocks(struct gpu *gpu, uint64_t *entries, bool *help, struct gtu_error *err)
{
	struct gpu_placed *p = &gpu->placed;
	const uint64_t ranges = ranges_of(gpu), totals = p->block_start.device + 8 * ranges * ranges;
	uint32_t bits = bits_of(gpu), parts = parts_of(gpu), count = (uint32_t)ranges, near = near_of(gpu);
	void *all[] = { &p->args, &p->block_start.device, &bits, &count, &parts };
	void *own[] = { &p->block_start.device, &count, &near }, *place[] = { &p->block_start.device, &count };
	uint64_t *first = malloc(8 * (ranges + 1));
	int rc = first ? gpu_fill(gpu, p->block_start.device, 0, p->block_start.bytes, err) :
			 gtu_fail(err, GTU_ERR_NOMEM, "out of memory for %u ranges of vertices", count);

	if (!rc)
		rc = launch(gpu, "pagerank_blocks_count", true, parts, 4 * ranges, all, err);
	if (!rc)
		rc = gpu_launch(gpu, "pagerank_blocks_total", ranges, own, err);
	if (!rc)
		rc = gpu_wait(gpu, "PageRank's blocks", err);
	if (!rc)
		rc = gpu_download(gpu, first, totals, 8 * (ranges + 1), err);
	if (!rc) {
		*help = !near || (double)first[ranges] <= NEAR_MOST * (double)p->args.m;
		*entries = gtu_prefix_sum(first, ranges);
		rc = gpu_upload(gpu, totals, first, 8 * ranges, err);
	}
	if (!rc)
		rc = gpu_launch(gpu, "pagerank_blocks_place", ranges, place, err);
	free(first);
	return rc;
}

/* *help: as above; otherwise they are not complete. */
static int create(struct gpu *gpu, bool *help, struct gtu_error *err)
{
	struct gpu_placed *p = &gpu->placed;
	const uint64_t ranges = ranges_of(gpu);
	uint32_t bits = bits_of(gpu), count = (uint32_t)ranges;
	void *args[] = { &p->args, &p->block_start.device, &p->block_from.device, &p->block_to.device, &bits, &count };
	int rc = gpu_memory_alloc(gpu, GTU_EDGES_DEVICE, 8 * (ranges * (ranges + 1) + 1), &p->block_start, err);

	if (!rc)
		rc = place_blocks(gpu, &p->block_entries, help, err);
	if (rc || !*help)
		return rc;
	rc = gpu_memory_alloc(gpu, GTU_EDGES_DEVICE, 2 * p->block_entries, &p->block_from, err);
	if (!rc)
		rc = gpu_memory_alloc(gpu, GTU_EDGES_DEVICE, 2 * p->block_entries, &p->block_to, err);
	/* one thread block a processor: more of them write to more lines than the L2 cache has */
	if (!rc)
		rc = launch(gpu, "pagerank_blocks_divide", true, 1, gpu->shared_bytes, args, err);
	if (!rc)
		rc = gpu_wait(gpu, "PageRank's blocks", err);
	return rc;
}

int gpu_blocks_fill(struct gpu *gpu, struct gtu_error *err)
{
	bool help = true;
	int rc = gpu->placed.block_start.kind ? 0 : create(gpu, &help, err);

	if (rc || !help)
		gpu_blocks_drop(gpu);
	/* do not try again */
	gpu->placed.no_blocks = rc == GTU_ERR_NOMEM || !help;
	if (rc != GTU_ERR_NOMEM)
		return rc;
	snprintf(gpu->placement.given_up, sizeof(gpu->placement.given_up), "PageRank's blocks of edges, whose memory was refused");
	return 0;
}

bool gpu_blocks_drop(struct gpu *gpu)
{
	struct gpu_placed *p = &gpu->placed;

	if (!p->block_start.kind)
		return false;
	gpu_memory_free(gpu, &p->block_start);
	gpu_memory_free(gpu, &p->block_from);
	gpu_memory_free(gpu, &p->block_to);
	return true;
}

bool gpu_blocks_values(struct gpu_run *r, CUdeviceptr *value)
{
	struct gpu_memory *m = &r->buffer[r->buffers];
	struct gtu_placement *at = &r->gpu->placement;
	const struct gpu_placed *p = &r->gpu->placed;

	if (!p->block_start.kind || r->buffers == GPU_BUFFERS)
		return false;
	if (gpu_memory_alloc(r->gpu, GTU_EDGES_DEVICE, 4 * p->block_entries, m, NULL)) {
		snprintf(at->given_up, sizeof(at->given_up), "values of PageRank's blocks of edges, whose memory was refused");
		return false;
	}
	r->buffers++;
	*value = m->device;
	return true;
}

int gpu_blocks_pass(struct gpu_run *r, CUdeviceptr value, double scale, CUdeviceptr contrib, CUdeviceptr sum)
{
	struct gpu *gpu = r->gpu;
	struct gpu_placed *p = &gpu->placed;
	uint32_t bits = bits_of(gpu), ranges = ranges_of(gpu), parts = parts_of(gpu);
	double unit = 1 / scale;
	void *spread[] = { &r->graph, &p->block_from.device, &p->block_start.device, &bits, &ranges, &parts, &contrib, &value };
	void *gather[] = { &r->graph, &p->block_to.device, &p->block_start.device, &bits, &ranges, &parts, &value, &sum, &unit };
	int rc = launch(gpu, "pagerank_blocks_spread", false, parts, range_bytes(bits) / 2, spread, r->err);

	return rc ? rc : launch(gpu, "pagerank_blocks_gather", false, parts, range_bytes(bits), gather, r->err);
}
