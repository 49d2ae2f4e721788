// SPDX-License-Identifier: MIT
/*
 * Weakly connected components over several GPUs. A rank joins the ends of its edges; then the ranks
 * exchange which roots have ceased to be roots, in a logarithmic number of steps after which all
 * have the same labels (joining twice does no harm). As on one device, the lists of an eighth of the
 * vertices are joined first: with the labels of all ranks that sample determines the giant component,
 * whose vertices' lists are skipped. An edge from it to another vertex is stored at that vertex, too.
 */
#include "parts.h"
#include "ranks.h"

#define WHOLE	(1ull << 63)		/* in a message's word: the labels of all vertices, not pairs */

struct forest {
	struct gpu_ranks *k;
	CUdeviceptr label, base, queue, answer;
	CUdeviceptr pairs;		/* at most n / 2: more are not smaller than all labels */
};

/* *word: what this rank has to send at *from. */
static int describe(struct forest *f, uint64_t *word, CUdeviceptr *from)
{
	struct gpu_run *r = &f->k->r;
	uint64_t most = r->graph.n / 2;
	void *args[] = { &f->label, &f->base, &f->pairs, &most, NULL }, *copy[] = { &f->label, &f->pairs, NULL };
	int rc = gpu_run_clear(r);

	if (!rc)
		rc = gpu_run_launch(r, "ranks_changed", NULL, false, r->graph.n, args);
	if (!rc)
		rc = gpu_run_read(r);
	*word = r->counters.items;
	*from = f->pairs;
	if (*word > most) {
		*word = WHOLE;
		/* labels change while another card reads them */
		if (!rc && gpu_link_loads(f->k))
			rc = gpu_run_launch(r, "ranks_copy", NULL, false, r->graph.n, copy);
		else
			*from = f->label;
	}
	return rc;
}

static uint64_t bytes_of(const struct forest *f, uint64_t word)
{
	return word == WHOLE ? 4 * f->k->r.graph.n : 8 * word;
}

static int take(struct forest *f, uint64_t word, CUdeviceptr from)
{
	struct gpu_run *r = &f->k->r;
	CUdeviceptr pairs = word == WHOLE ? 0 : from, labels = word == WHOLE ? from : 0;
	uint64_t count = word == WHOLE ? r->graph.n : word;
	void *args[] = { &pairs, &labels, &count, &f->label, NULL };
	int rc = gpu_run_clear(r);

	if (!rc && count)
		rc = gpu_run_launch(r, "ranks_join", NULL, false, count, args);
	if (!rc)
		rc = gpu_components_flatten(r, f->label);
	if (!rc)
		rc = gpu_run_read(r);
	return rc ? rc : gpu_ranks_check(f->k);
}

/* All ranks get the joins of all; afterwards f->base has the common labels. Collective. */
static int merge(struct forest *f, int rc)
{
	struct gpu_ranks *k = f->k;
	void *copy[] = { &f->label, &f->base, NULL };
	uint64_t step, word = 0, none = 0;
	CUdeviceptr from = 0;
	uint32_t i, to, source;

	for (step = 1; step < k->size; step *= 2) {
		to = (uint32_t)((k->rank + step) % k->size);
		source = (uint32_t)((k->rank + k->size - step) % k->size);
		if (!rc)
			rc = describe(f, &word, &from);
		for (i = 0; i < k->size; i++)
			k->outgoing[i] = i == to ? word : 0;
		rc = gpu_ranks_words(k, WHOLE, k->r.graph.n / 2, rc);
		if (rc)
			return rc;
		for (i = 0; i < k->size; i++) {
			k->send[i] = from;
			k->send_bytes[i] = bytes_of(f, k->outgoing[i]);
			k->receive_bytes[i] = bytes_of(f, k->incoming[i]);
		}
		gtu_phase(&k->r.phases, "exchange");
		rc = gpu_link_exchange(k, GTU_CARGO_VALUES, true);
		gtu_phase(&k->r.phases, "traverse");
		if (!rc)
			rc = gpu_link_release(k, take(f, k->incoming[source], k->receive[source]));
		gpu_run_iteration(&k->r, k->r.graph.n);
	}
	if (!rc)
		rc = gpu_run_launch(&k->r, "ranks_copy", NULL, false, k->r.graph.n, copy);
	return gtu_agree(k->x, rc, &none, 1);
}

static int hook(struct forest *f)
{
	struct gpu_ranks *k = f->k;
	const uint64_t n = k->r.graph.n;
	const bool skips = !(k->run->graph->flags & GTU_GRAPH_DIRECTED) && k->size > 1;
	uint32_t giant = GPU_NO_VERTEX, votes;
	void *label[] = { &f->label, NULL }, *base[] = { &f->base, NULL };
	int rc = gpu_run_allocate(&k->r, (struct gpu_part[]){
		{ "labels", 4 * n, &f->label }, { "common labels", 4 * n, &f->base }, { "changed labels", 4 * n, &f->pairs },
		{ "samples", 4 * GPU_SAMPLES, &f->answer }, { "queue", gpu_ranks_queue_bytes(k), &f->queue } }, 5);

	gtu_phase(&k->r.phases, "traverse");
	if (!rc)
		rc = gpu_run_launch(&k->r, "components_begin", NULL, false, n, label);
	if (!rc)
		rc = gpu_run_launch(&k->r, "components_begin", NULL, false, n, base);
	if (skips) {
		if (!rc)
			rc = gpu_components_join(&k->r, f->label, f->queue, GPU_NO_VERTEX, GPU_SLICE_ONE);
		rc = merge(f, rc);
		if (rc)
			return rc;
		/* the same samples on all ranks */
		rc = gpu_components_giant(&k->r, f->label, f->answer, &giant, &votes);
	}
	if (!rc)
		rc = gpu_components_join(&k->r, f->label, f->queue, giant, skips ? GPU_SLICE_OTHERS : GPU_SLICE_ALL);
	return merge(f, rc);
}

int gpu_ranked_components(struct gpu_ranks *k)
{
	struct forest f = { .k = k };
	int rc = hook(&f);

	k->r.stats->vertices = k->own;
	k->r.stats->edges = k->r.graph.m;
	return rc ? rc : gpu_visit_values(&k->r, k->run->result, f.label + 4 * k->first, k->own);
}
