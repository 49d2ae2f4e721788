// SPDX-License-Identifier: MIT
/*
 * Weakly connected components over several GPUs. A rank joins the ends of its edges as one device does, so it skips the lists
 * of its own giant component. Then it sends to all others which vertices are in that, as a bitmap, and the labels of
 * the few that are in another tree. All ranks join what they receive, and have the same labels.
 *
 * An edge that the ranks of both of its ends skipped is joined if their giant components are: else, which is rare, they
 * process all of their lists.
 *
 * Trees of many vertices are more than fits in short messages. Then ranks exchange which roots have ceased to be
 * roots, or all labels, in a logarithmic number of steps after which all have the same (joining twice does no harm).
 */
#include <stdlib.h>

#include "parts.h"
#include "ranks.h"

#define WHOLE	(1ull << 63)		/* in a message's word: the labels of all vertices, not pairs */
#define MANY	(1ull << 31)		/* in a word with a giant component above: more pairs than are sent */

struct forest {
	struct gpu_ranks *k;
	struct gpu_forest f;		/* of this rank's lists, then of all */
	CUdeviceptr base;
	CUdeviceptr pairs;		/* at most n / 2: more are not smaller than all labels */
	CUdeviceptr bits, all;		/* of the giant component; of those of all ranks, behind each other */
	CUdeviceptr at, giants;		/* arrays over the ranks: addresses of their bits; vertices of those components */
	uint32_t giant;			/* of this rank; GPU_NO_VERTEX: none */
	uint32_t *giant_of;		/* on the host */
};

/* *word: what this rank has to send at *from. */
static int describe(struct forest *f, uint64_t *word, CUdeviceptr *from)
{
	struct gpu_run *r = &f->k->r;
	uint64_t most = r->graph.n / 2;
	void *args[] = { &f->f.label, &f->base, &f->pairs, &most, NULL }, *copy[] = { &f->f.label, &f->pairs, NULL };
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
			*from = f->f.label;
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
	void *args[] = { &pairs, &labels, &count, &f->f.label, NULL };
	int rc = gpu_run_clear(r);

	if (!rc && count)
		rc = gpu_run_launch(r, "ranks_join", NULL, false, count, args);
	if (!rc)
		rc = gpu_components_flatten(r, f->f.label);
	if (!rc)
		rc = gpu_run_read(r);
	return rc ? rc : gpu_ranks_check(f->k);
}

/* All ranks get the joins of all; afterwards f->base has the common labels. Collective. */
static int merge(struct forest *f, int rc)
{
	struct gpu_ranks *k = f->k;
	void *copy[] = { &f->f.label, &f->base, NULL };
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

/*
 * Prepare this rank's bits and pairs, and its word: a vertex of its giant component, and the number of pairs or MANY.
 * @words[rank]: those of all ranks. Collective.
 */
static int summarize(struct forest *f, uint64_t *words, int rc)
{
	struct gpu_ranks *k = f->k;
	struct gpu_run *r = &k->r;
	const struct gtu_ranks *ranks = &k->x->ranks;
	uint64_t most = r->graph.n / (8 * k->size), word, none = 0;
	uint32_t votes;
	void *args[] = { &f->f.label, &f->giant, &f->bits, &f->pairs, &most, NULL };

	f->giant = GPU_NO_VERTEX;
	if (!rc && r->gpu->placed.connected)
		rc = f->f.giant == GPU_NO_VERTEX ? gpu_components_giant(r, &f->f, &f->giant, &votes) :
						   gpu_download(r->gpu, &f->giant, f->f.label + 4ull * f->f.giant, 4, r->err);
	if (!rc)
		rc = gpu_run_clear(r);
	if (!rc)
		rc = gpu_run_launch(r, "ranks_summarize", NULL, false, r->graph.n, args);
	if (!rc)
		rc = gpu_run_read(r);
	word = (uint64_t)f->giant << 32 | (r->counters.items > most ? MANY : r->counters.items);
	rc = gtu_agree(k->x, rc, &none, 1);
	if (!rc)
		rc = ranks->all_gather(ranks->context, &word, sizeof(word), words, r->err);
	return rc ? gtu_give_up(k->x, rc) : 0;
}

/* f->at: the bits of all ranks, here or on their cards. */
static int gather_bits(struct forest *f)
{
	struct gpu_ranks *k = f->k;
	const uint64_t bytes = gpu_push_bits(k), stride = gpu_round_up(bytes);
	uint32_t i;
	int rc;

	if (gpu_link_loads(k)) {
		gtu_exchange_count(k->x, GTU_CARGO_VERTICES, (k->size - 1) * bytes);
		rc = gpu_link_addresses(k, f->bits, (CUdeviceptr *)k->count);
	} else {
		for (i = 0; i < k->size; i++)
			k->count[i] = bytes;
		rc = gpu_link_gather(k, GTU_CARGO_VERTICES, f->bits, k->count, stride, f->all);
		for (i = 0; i < k->size; i++)
			k->count[i] = f->all + i * stride;
	}
	return rc ? rc : gpu_upload(k->r.gpu, f->at, k->count, 8ull * k->size, k->r.err);
}

/* Join the pairs of all ranks, whose words are @words. Collective. */
static int join_pairs(struct forest *f, const uint64_t *words, int rc)
{
	struct gpu_ranks *k = f->k;
	struct gpu_run *r = &k->r;
	CUdeviceptr pairs, labels = 0;
	uint64_t count, none = 0;
	void *args[] = { &pairs, &labels, &count, &f->f.label, NULL };
	uint32_t i;

	for (i = 0; i < k->size; i++) {
		k->send[i] = f->pairs;
		k->send_bytes[i] = 8 * (uint32_t)words[k->rank];
		k->receive_bytes[i] = 8 * (uint32_t)words[i];
	}
	rc = gtu_agree(k->x, rc, &none, 1);
	if (rc)
		return rc;
	gtu_phase(&r->phases, "exchange");
	rc = gpu_link_exchange(k, GTU_CARGO_VALUES, true);
	gtu_phase(&r->phases, "traverse");
	if (!rc)
		rc = gpu_run_clear(r);
	for (i = 0; i < k->size && !rc; i++) {
		count = (uint32_t)words[i];
		pairs = k->receive[i];
		if (i != k->rank && count)
			rc = gpu_run_launch(r, "ranks_join", NULL, false, count, args);
	}
	if (!rc)
		rc = gpu_components_flatten(r, f->f.label);
	if (!rc)
		rc = gpu_run_read(r);
	return gpu_link_release(k, rc ? rc : gpu_ranks_check(k));
}

/* *one: whether the giant components of all ranks, of which lists were skipped, are one. */
static int compare_giants(struct forest *f, bool *one)
{
	struct gpu_ranks *k = f->k;
	void *args[] = { &f->f.label, &f->giants, &k->size, &f->f.answer };
	uint32_t i, other = GPU_NO_VERTEX;
	int rc = gpu_launch(k->r.gpu, "ranks_ask", k->size, args, k->r.err);

	if (!rc)
		rc = gpu_download(k->r.gpu, f->giant_of, f->f.answer, 4ull * k->size, k->r.err);
	*one = true;
	for (i = 0; i < k->size && !rc; i++) {
		if (f->giant_of[i] == GPU_NO_VERTEX)
			continue;
		*one = *one && (other == GPU_NO_VERTEX || f->giant_of[i] == other);
		other = f->giant_of[i];
	}
	return rc;
}

/* Join the trees of all ranks, whose words are @words. Collective. */
static int join_trees(struct forest *f, const uint64_t *words)
{
	struct gpu_ranks *k = f->k;
	struct gpu_run *r = &k->r;
	void *giants[] = { &f->at, &f->giants, &k->size, &k->rank, &f->f.label, NULL };
	int rc;

	gtu_phase(&r->phases, "exchange");
	rc = gather_bits(f);
	gtu_phase(&r->phases, "traverse");
	if (!rc)
		rc = gpu_run_launch(r, "ranks_join_giants", NULL, false, (r->graph.n + 31) / 32, giants);
	/* the others' bits stay until all have agreed */
	if (!rc && gpu_link_loads(k))
		rc = gpu_wait(r->gpu, r->name, r->err);
	rc = join_pairs(f, words, rc);
	gpu_run_iteration(r, r->graph.n);
	return rc;
}

static int allocate(struct forest *f)
{
	struct gpu_ranks *k = f->k;
	struct gpu_run *r = &k->r;
	const uint64_t n = r->graph.n, bits = gpu_round_up(gpu_push_bits(k));
	int rc = gpu_run_allocate(r, (struct gpu_part[]){
		{ "labels", 4 * n, &f->f.label }, { "common labels", 4 * n, &f->base }, { "changed labels", 4 * n, &f->pairs },
		{ "samples", 4 * (GPU_SAMPLES > k->size ? GPU_SAMPLES : k->size), &f->f.answer },
		{ "queue", gpu_ranks_queue_bytes(k), &f->f.queue }, { "giant component", bits, &f->bits },
		{ "giant components of all ranks", (bits + 16) * k->size, &f->all } }, 7);

	f->at = f->all + bits * k->size;
	f->giants = f->at + 8ull * k->size;
	if (rc)
		return rc;
	f->giant_of = calloc(k->size, sizeof(*f->giant_of));
	if (!f->giant_of)
		return gtu_fail(r->err, GTU_ERR_NOMEM, "out of memory for %u ranks", k->size);
	return gpu_wait(r->gpu, "setting up", r->err);
}

/* Join the trees of all ranks' lists as far as no list was skipped. *one: no skipped edge is missing. Collective. */
static int hook(struct forest *f, bool *one)
{
	struct gpu_ranks *k = f->k;
	struct gpu_run *r = &k->r;
	void *base[] = { &f->base, NULL };
	uint64_t *words = k->outgoing, none = 0;
	bool many = false;
	uint32_t i;
	int rc = allocate(f);

	gtu_phase(&r->phases, "traverse");
	if (!rc)
		rc = gpu_components_hook(r, &f->f);
	rc = summarize(f, words, rc);
	if (rc)
		return rc;
	for (i = 0; i < k->size; i++) {
		f->giant_of[i] = (uint32_t)(words[i] >> 32);
		many = many || words[i] & MANY;
	}
	rc = gpu_upload(r->gpu, f->giants, f->giant_of, 4ull * k->size, r->err);
	if (!rc && many)
		rc = gpu_run_launch(r, "components_begin", NULL, false, r->graph.n, base);
	rc = gtu_agree(k->x, rc, &none, 1);
	if (!rc)
		rc = many ? merge(f, 0) : join_trees(f, words);
	if (rc || !f->f.skips)
		return rc;
	return gtu_agree(k->x, compare_giants(f, one), &none, 1);
}

/* The ranks have the same labels, but not all edges. Collective. */
static int join_skipped(struct forest *f)
{
	struct gpu_run *r = &f->k->r;
	void *copy[] = { &f->f.label, &f->base, NULL };
	int rc = gpu_run_launch(r, "ranks_copy", NULL, false, r->graph.n, copy);

	if (!rc)
		rc = gpu_components_join(r, &f->f, GPU_NO_VERTEX, GPU_SLICE_ALL);
	return merge(f, rc);
}

int gpu_ranked_components(struct gpu_ranks *k)
{
	const struct gtu_placement *at = &k->r.gpu->placement;
	const bool undirected = !(k->run->graph->flags & GTU_GRAPH_DIRECTED);
	struct forest f = {
		.k = k, .f.skips = undirected,
		.f.in_place = undirected && at->edges == GTU_EDGES_DEVICE && at->edge_bytes,
	};
	bool one = true;
	int rc;

	/* the cache, if there is one, has the first entries of lists, not neighbours of each vertex */
	k->r.graph.cache_degree = 0;
	rc = hook(&f, &one);
	if (!rc && !one)
		rc = join_skipped(&f);
	free(f.giant_of);
	k->r.stats->vertices = k->own;
	k->r.stats->edges = k->r.graph.m;
	return rc ? rc : gpu_visit_values(&k->r, k->run->result, f.f.label + 4 * k->first, k->own);
}
