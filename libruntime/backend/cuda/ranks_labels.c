// SPDX-License-Identifier: MIT
/*
 * Label propagation over several GPUs. A rank counts the labels of its own vertices' neighbours, and knows the labels
 * of all vertices: after each iteration it sends all others those that changed, or all of its own if that is smaller.
 */
#include "parts.h"
#include "ranks.h"

#define WHOLE	(1ull << 63)		/* in a message's word: the labels of all of a rank's vertices, not pairs */

struct propagation {
	struct gpu_ranks *k;
	struct gpu_labels of;
	CUdeviceptr pairs;		/* at most own / 2: more are not smaller than all labels */
};

static int prepare(struct propagation *p)
{
	struct gpu_ranks *k = p->k;
	const uint64_t queue = gpu_ranks_queue_bytes(k);
	CUdeviceptr best;
	int rc = gpu_run_allocate(&k->r, (struct gpu_part[]){
		{ "labels", 4 * k->r.graph.n, &p->of.label }, { "counts", 8 * k->own, &best },
		{ "queue of short lists", queue, &p->of.few }, { "queue of long lists", queue, &p->of.many },
		{ "changed labels", 4 * k->own, &p->pairs } }, 5);

	/* kernels reach the counts with the numbers of the whole graph */
	p->of.best = best - 8 * k->first;
	return rc ? rc : gpu_labels_begin(&k->r, &p->of);
}

/* The next labels of own vertices; *changed: how many are new. */
static int propagate(struct propagation *p, uint64_t *changed)
{
	struct gpu_ranks *k = p->k;
	uint64_t most = k->own / 2;
	void *args[] = { &p->of.label, &p->of.best, &p->pairs, &most, NULL };
	int rc = gpu_labels_count(&k->r, &p->of);

	if (!rc)
		rc = gpu_visit_step(&k->r, "ranks_take_labels", NULL, false, k->own + 32, args);
	*changed = k->r.counters.items;
	return rc;
}

static uint64_t bytes_of(const struct gpu_ranks *k, uint32_t rank, uint64_t word)
{
	return word == WHOLE ? 4 * gpu_ranks_range(k, rank) : 8 * word;
}

/* Take the labels that the others sent. */
static int settle(struct propagation *p)
{
	struct gpu_ranks *k = p->k;
	CUdeviceptr pairs, labels;
	uint64_t count, first, range;
	void *args[] = { &pairs, &labels, &count, &first, &range, &p->of.label, NULL };
	uint32_t i;
	int rc = gpu_run_clear(&k->r);

	for (i = 0; i < k->size && !rc; i++) {
		const bool whole = k->incoming[i] == WHOLE;

		first = k->cut[i];
		range = gpu_ranks_range(k, i);
		count = whole ? range : k->incoming[i];
		pairs = whole ? 0 : k->receive[i];
		labels = whole ? k->receive[i] : 0;
		if (count)
			rc = gpu_run_launch(&k->r, "ranks_settle_labels", NULL, false, count, args);
	}
	if (!rc)
		rc = gpu_run_read(&k->r);
	return rc ? rc : gpu_ranks_check(k);
}

/* One iteration; *changed: the labels that are new, of all ranks. Collective; @rc: of what this rank did before. */
static int iterate(struct propagation *p, int rc, uint64_t *changed)
{
	struct gpu_ranks *k = p->k;
	uint64_t word, new = 0;
	bool whole;
	uint32_t i;

	if (!rc)
		rc = propagate(p, &new);
	whole = new > k->own / 2;
	word = whole ? WHOLE : new;
	for (i = 0; i < k->size; i++)
		k->outgoing[i] = i == k->rank ? 0 : word;
	rc = gpu_ranks_words(k, WHOLE, k->r.graph.n / 2, rc);
	if (rc)
		return rc;
	for (i = 0; i < k->size; i++) {
		k->send[i] = whole ? p->of.label + 4 * k->first : p->pairs;
		k->send_bytes[i] = bytes_of(k, k->rank, k->outgoing[i]);
		k->receive_bytes[i] = bytes_of(k, i, k->incoming[i]);
	}
	rc = gpu_link_exchange(k, GTU_CARGO_VALUES, true);
	if (!rc)
		rc = gpu_link_release(k, settle(p));
	k->r.stats->edges += k->r.graph.m;
	gpu_run_iteration(&k->r, k->run->graph->n);
	*changed = new;
	return gtu_agree(k->x, rc, changed, 1);
}

int gpu_ranked_labels(struct gpu_ranks *k)
{
	struct propagation p = { .k = k };
	const uint64_t iterations = gpu_labels_iterations(k->run->opt);
	uint64_t i, changed = 1;
	int rc = prepare(&p);

	gtu_phase(&k->r.phases, "traverse");
	for (i = 0; i < iterations && changed && (!rc || !i); i++)
		rc = iterate(&p, rc, &changed);
	k->r.stats->vertices = k->own;
	return rc ? rc : gpu_visit_values(&k->r, k->run->result, p.of.label + 4 * k->first, k->own);
}
