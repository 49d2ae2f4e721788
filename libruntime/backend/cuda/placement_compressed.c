// SPDX-License-Identifier: MIT
/*
 * Places compressed edge lists. Always encodes from the graph, so that kernels read checked data.
 */
#include <stdlib.h>

#include "gpu.h"

typedef unsigned long long ull;

int gpu_compressed_measure(struct gpu *gpu, const struct gtu_placement_options *opt, struct gtu_compressed *c,
		      struct gpu_plan_input *in, struct gtu_error *err)
{
	const struct gtu_graph *g = gpu->placed.graph;
	int rc;

	if (opt->edge_bytes)
		return gtu_fail(err, GTU_ERR_USAGE, "compressed edges cannot have a width of %u "
				"bytes: leave it 0", opt->edge_bytes);
	if (opt->edges == GTU_EDGES_REGISTERED)
		return gtu_fail(err, GTU_ERR_USAGE, "registered edges are read in place and cannot "
				"be compressed");
	rc = gtu_compressed_measure(g, !opt->separate_weights, c, err);
	if (rc)
		return rc;
	in->compressed = true;
	in->compressed_weighted = c->weighted;
	in->compressed_bytes = gtu_compressed_bytes(c->bits);
	in->index_bytes = 8 * (g->n + c->long_pieces);
	return 0;
}

static int place_index(struct gpu *gpu, const struct gtu_compressed *c, struct gtu_error *err)
{
	struct gpu_placed *p = &gpu->placed;
	uint64_t n = p->graph->n, bytes = 8 * (n + c->long_pieces), *host = malloc(bytes + 8);
	int rc;

	if (!host)
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for an index of %llu bytes", (ull)bytes);
	rc = gpu_memory_alloc(gpu, GTU_EDGES_DEVICE, bytes, &p->index, err);
	if (!rc) {
		gtu_compressed_index(p->graph, c, host, host + n);
		rc = gpu_upload(gpu, p->index.device, host, bytes, err);
	}
	free(host);
	return rc;
}

int gpu_compressed_upload(struct gpu *gpu, const struct gtu_compressed *c, struct gtu_error *err)
{
	struct gpu_placed *p = &gpu->placed;
	const struct gtu_placement *at = &gpu->placement;
	uint64_t bytes = gtu_compressed_bytes(c->bits);
	bool card = at->edges == GTU_EDGES_DEVICE;
	uint32_t *to;
	int rc = place_index(gpu, c, err);

	if (!rc)
		rc = gpu_memory_alloc(gpu, at->edges, bytes, &p->list, err);
	if (rc)
		return rc;
	to = card ? malloc(bytes + 4) : p->list.host;
	if (!to)
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for an edge list of %llu bytes", (ull)bytes);
	gtu_compressed_write(p->graph, c, to);
	if (card) {
		rc = gpu_upload(gpu, p->list.device, to, bytes, err);
		free(to);
	} else if (at->edges == GTU_EDGES_MANAGED) {
		rc = gpu_touch(gpu, &p->list, err);
	}
	return rc;
}

double gpu_entry_bytes(const struct gpu *gpu)
{
	const struct gtu_placement *p = &gpu->placement;
	double m = (double)gpu->placed.args.m;

	return p->edge_bytes ? p->edge_bytes : m > 0 ? (double)p->list_bytes / m - p->weight_bytes : 4;
}

const char *gpu_entry_name(const struct gpu *gpu)
{
	return gpu->placement.edge_bytes == 8 ? "8" : gpu->placement.edge_bytes ? "4" : "compressed";
}
