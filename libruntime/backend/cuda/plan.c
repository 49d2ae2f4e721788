// SPDX-License-Identifier: MIT
/*
 * Chooses the placement of an edge list, a pure function of its input so that tests can simulate
 * any GPU.
 */
#include <stdio.h>
#include <string.h>

#include "gpu.h"

#define SPARE	(256ull << 20)		/* reserve for the driver and kernels */
#define RATIO	1.1			/* minimum speed-up of managed memory: it costs a copy */

typedef unsigned long long ull;

static const char *const edges_name[] = { "auto", "managed", "pinned", "registered", "device", "uvm", "aperture" };
static const char *const kernel_name[] = { "auto", "naive", "merged", "aligned" };

const char *gtu_edges_name(uint32_t edges)
{
	return edges < GTU_EDGES_KINDS ? edges_name[edges] : NULL;
}

const char *gtu_kernel_name(uint32_t kernel)
{
	return kernel < GTU_KERNELS ? kernel_name[kernel] : NULL;
}

uint64_t gpu_run_bytes(uint64_t n, uint64_t m)
{
	/* BFS needs the most: levels, three bitmaps, two queues of items and one of vertices */
	return 4 * n + n / 2 + 2 * 8 * (n + n / 4 + m / 64) + 8 * n + 8 * n;
}

/* Whether the weight fits into a 4-byte entry beside the vertex. */
static bool packs(const struct gpu_plan_input *in, const struct gtu_placement_options *opt, uint32_t *bits)
{
	*bits = 0;
	if (in->compressed)
		return in->compressed_weighted;
	if (in->weight_type != GTU_WEIGHT_U32 || opt->separate_weights || opt->edge_bytes == 8 ||
	    opt->edges == GTU_EDGES_REGISTERED || !in->n)
		return false;
	*bits = gtu_bits_for((uint64_t)in->weight_max - (uint64_t)in->weight_min);
	if (*bits < 32 && gtu_bits_for(in->n - 1) + *bits <= 32)
		return true;
	*bits = 0;
	return false;
}

/* Bytes of rows, and of a compressed list's index. */
static uint64_t vertex_bytes(const struct gpu_plan_input *in)
{
	return 8 * (in->n + 1) + in->index_bytes;
}

static uint64_t budget(const struct gpu_plan_input *in, const struct gtu_placement_options *opt)
{
	uint64_t used = vertex_bytes(in) + gpu_run_bytes(in->n, in->m) + SPARE,
		 space = in->free_bytes > used ? in->free_bytes - used : 0, wanted = opt->gpu_memory;

	if (!wanted && (opt->edges == GTU_EDGES_AUTO || opt->edges == GTU_EDGES_DEVICE))
		wanted = GTU_GPU_MEMORY_ALL;
	return wanted < space ? wanted : space;
}

static uint64_t list_bytes(const struct gpu_plan_input *in, const struct gtu_placement_options *opt)
{
	uint32_t bits, edge = opt->edge_bytes ? opt->edge_bytes :
			      opt->edges == GTU_EDGES_REGISTERED ? in->edge_bytes : 4;

	edge = in->compressed ? 0 : edge;
	return in->compressed_bytes + in->m * (edge + (packs(in, opt, &bits) ? 0 : gtu_weight_bytes(in->weight_type)));
}

uint64_t gpu_plan_probes(const struct gpu_plan_input *in, const struct gtu_placement_options *opt)
{
	uint64_t bytes = list_bytes(in, opt);

	return opt->edges == GTU_EDGES_AUTO && bytes > budget(in, opt) ? bytes : 0;
}

static int check(const struct gpu_plan_input *in, const struct gtu_placement_options *opt, struct gtu_error *err)
{
	uint64_t rows = vertex_bytes(in), run = gpu_run_bytes(in->n, in->m);

	if (opt->edges >= GTU_EDGES_KINDS)
		return gtu_fail(err, GTU_ERR_USAGE, "edges of kind %u do not exist: use 0 to %u", opt->edges,
				GTU_EDGES_KINDS - 1);
	if (opt->edge_bytes && opt->edge_bytes != 4 && opt->edge_bytes != 8)
		return gtu_fail(err, GTU_ERR_USAGE, "edges of %u bytes are not supported: use 4 or "
				"8", opt->edge_bytes);
	if (in->n > 0xfffffffe)
		return gtu_fail(err, GTU_ERR_UNSUPPORTED,
				"the graph has %llu vertices: the kernels support at most %u",
				(ull)in->n,
				0xfffffffe);
	if (opt->edges == GTU_EDGES_REGISTERED && opt->edge_bytes && opt->edge_bytes != in->edge_bytes)
		return gtu_fail(err, GTU_ERR_USAGE,
				"registered edges are read in place with %u bytes each, not %u",
				in->edge_bytes,
				opt->edge_bytes);
	if ((opt->edges == GTU_EDGES_APERTURE) != !!opt->board)
		return gtu_fail(err, GTU_ERR_USAGE, opt->board ? "edges of kind %s take no board: only aperture does" :
				"edges of kind %s need a board, whose aperture takes them", edges_name[opt->edges]);
	if (rows + run + SPARE > in->free_bytes)
		return gtu_fail(err, GTU_ERR_NOMEM,
				"%llu vertices need up to %llu bytes of GPU memory (rows %llu, a run %llu, "
				"reserved %llu), of which %llu are free",
				(ull)in->n, (ull)(rows + run + SPARE), (ull)rows, (ull)run, (ull)SPARE,
				(ull)in->free_bytes);
	return 0;
}

static void choose(const struct gpu_plan_input *in, uint64_t space, struct gtu_placement *out)
{
	bool fits = out->list_bytes <= in->free_bytes / 10 * 9;

	if (out->list_bytes <= space) {
		out->edges = GTU_EDGES_DEVICE;
		snprintf(out->why, sizeof(out->why), "the edge list fits into GPU memory");
	} else if (in->managed && fits && in->managed_gbps > RATIO * in->pinned_gbps) {
		out->edges = GTU_EDGES_MANAGED;
		snprintf(out->why, sizeof(out->why),
			 "random 128-byte reads: %.1f GB/s from managed memory, %.1f GB/s from "
			 "pinned memory",
			 in->managed_gbps, in->pinned_gbps);
	} else {
		out->edges = GTU_EDGES_PINNED;
		snprintf(out->why, sizeof(out->why), in->managed && !fits ?
			 "managed memory must fit into %.1f GB of free GPU memory, and this list "
			 "does not" :
			 "managed memory is not faster (random 128-byte reads: %.1f GB/s, pinned "
			 "%.1f GB/s)",
			 in->managed && !fits ? 1e-9 * (double)in->free_bytes : in->managed_gbps, in->pinned_gbps);
	}
}

int gpu_plan(const struct gpu_plan_input *in, const struct gtu_placement_options *opt, struct gtu_placement *out,
	     uint32_t *weight_bits, struct gtu_error *err)
{
	uint64_t space;
	int rc = check(in, opt, err);

	memset(out, 0, sizeof(*out));
	if (rc)
		return rc;
	space = budget(in, opt);
	out->packed = packs(in, opt, weight_bits);
	out->edge_bytes = in->compressed ? 0 : opt->edge_bytes ? opt->edge_bytes :
			  opt->edges == GTU_EDGES_REGISTERED ? in->edge_bytes : 4;
	out->weight_bytes = out->packed ? 0 : (uint32_t)gtu_weight_bytes(in->weight_type);
	out->list_bytes = list_bytes(in, opt);
	out->vertex_bytes = vertex_bytes(in);
	out->run_bytes = gpu_run_bytes(in->n, in->m);
	out->reserved_bytes = SPARE;
	out->free_bytes = in->free_bytes;
	out->managed_gbps = in->managed_gbps;
	out->pinned_gbps = in->pinned_gbps;
	out->edges = opt->edges;
	snprintf(out->why, sizeof(out->why), "requested");
	if (opt->edges == GTU_EDGES_AUTO)
		choose(in, space, out);
	if (out->edges == GTU_EDGES_DEVICE) {
		if (out->list_bytes > space)
			return gtu_fail(err, GTU_ERR_NOMEM,
					"an edge list of %llu bytes does not fit into %llu bytes "
					"of GPU memory (%llu free, less rows %llu, a run %llu, reserved "
					"%llu, and within --gpu-memory): use managed or pinned edges",
					(ull)out->list_bytes, (ull)space, (ull)in->free_bytes,
					(ull)out->vertex_bytes, (ull)out->run_bytes, (ull)SPARE);
		/* only kernels of compressed lists use neighbours of lists on the card */
		space = out->edge_bytes ? 0 : space - out->list_bytes;
		if (space > 4ull * GPU_CACHE_MAX * in->n)
			space = 4ull * GPU_CACHE_MAX * in->n;
	} else if (out->edges == GTU_EDGES_MANAGED || out->edges == GTU_EDGES_UVM) {
		if (out->list_bytes > in->free_bytes / 10 * 9)
			return gtu_fail(err, GTU_ERR_NOMEM,
					"an edge list of %llu bytes is too large for managed "
					"memory: the limit is nine tenths of %llu bytes of free "
					"GPU memory; use pinned edges",
					(ull)out->list_bytes, (ull)in->free_bytes);
	}
	/* a cache larger than the list is useless */
	out->cache_bytes = space < out->list_bytes + 4ull * GPU_CACHE_MAX * in->n ? space :
			   out->list_bytes + 4ull * GPU_CACHE_MAX * in->n;
	return 0;
}
