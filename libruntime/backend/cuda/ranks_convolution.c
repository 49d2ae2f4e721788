// SPDX-License-Identifier: MIT
/*
 * A graph convolution over several GPUs. A rank knows the features of all vertices from their numbers; after the first
 * pass the ranks gather the sums, and the roots of the degrees. Its results are those of one device but for the
 * order of additions.
 */
#include "libruntime/support/features.h"
#include "parts.h"
#include "ranks.h"

/* All ranks get the values of all, @width bytes for each vertex. */
static int gather(struct gpu_ranks *k, CUdeviceptr values, uint64_t width)
{
	uint32_t i;

	for (i = 0; i < k->size; i++) {
		k->send[i] = values + width * k->first;
		k->send_bytes[i] = width * k->own;
		k->receive[i] = values + width * k->cut[i];
		k->receive_bytes[i] = width * gpu_ranks_range(k, i);
	}
	return gpu_link_exchange(k, GTU_CARGO_VALUES, false);
}

int gpu_ranked_convolution(struct gpu_ranks *k)
{
	struct gpu_run *r = &k->r;
	struct gpu_convolution c = { .features = gtu_features(k->run->opt) };
	const uint64_t width = 8ull * c.features;
	uint64_t none = 0;
	int rc = gtu_check_feature_count(k->run->graph, c.features, r->err);

	if (!rc)
		rc = gpu_convolution_begin(r, &c, gpu_ranks_queue_bytes(k));
	if (!rc)
		rc = gpu_convolution_sum(r, &c, r->graph.m ? k->run->graph->row[k->first] : 0);
	rc = gtu_agree(k->x, rc, &none, 1);
	gtu_phase(&r->phases, "exchange");
	if (!rc)
		rc = gather(k, c.y, width);
	if (!rc)
		rc = gather(k, c.root, 8);
	gtu_phase(&r->phases, "traverse");
	if (!rc)
		rc = gpu_convolution_root(r, &c);
	gtu_phase(&r->phases, "result");
	if (!rc)
		rc = gpu_download(r->gpu, k->run->result, c.x + width * k->first, width * k->own, r->err);
	if (!rc)
		rc = gtu_check_features(k->run->graph, k->run->result, k->first, k->own, c.features, r->err);
	r->stats->vertices = k->own;
	r->stats->iterations = 2;
	return rc;
}
