// SPDX-License-Identifier: MIT
/*
 * Weakly connected components over several GPUs. A search over all ranks finds most of the giant component of an undirected
 * graph whose lists are on the cards. The vertices "outside" are those with edges that it has not reached: if there are some,
 * all ranks get the bits of the others, each joins the ends of the edges of its own vertices outside, and all exchange which
 * vertices outside are no roots any more. Then each labels its own vertices.
 *
 * If that are many, or a search reaches few vertices, a rank joins the ends of all of its edges. Then the ranks exchange which
 * roots have ceased to be roots, or all labels, in a logarithmic number of steps after which all have the same labels (joining
 * twice does no harm). Over lists of an undirected graph in host memory they do that twice: after a slice of the lists, which
 * joins most of the giant component, and after the other lists of vertices outside that component.
 */
#include "parts.h"
#include "ranks.h"

#define WHOLE	(1ull << 63)		/* in a message's word: the labels of all vertices, not pairs; or too many pairs */

struct forest {
	struct gpu_ranks *k;
	CUdeviceptr label, queue;
	/* after a search: */
	CUdeviceptr inside;		/* bits of vertices; see kernels/ranks.cuh */
	CUdeviceptr moved;		/* at most @most pairs of a vertex and its label */
	uint64_t most;
	/* without one: */
	CUdeviceptr base;		/* labels that all ranks have */
	CUdeviceptr pairs;		/* at most n / 2: more are not smaller than all labels */
	CUdeviceptr samples;		/* to find the giant component; 0: all lists are joined at once */
	uint64_t edges, connected;	/* of all ranks, whose slices are alike: each waits for the slowest */
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
		rc = gpu_link_exchange(k, GTU_CARGO_VALUES, true);
		if (!rc)
			rc = gpu_link_release(k, take(f, k->incoming[source], k->receive[source]));
		gpu_run_iteration(&k->r, k->r.graph.n);
	}
	if (!rc)
		rc = gpu_run_launch(&k->r, "ranks_copy", NULL, false, k->r.graph.n, copy);
	return gtu_agree(k->x, rc, &none, 1);
}

/* Queue own vertices outside; *lowest: the lowest vertex that the ranks have reached. Collective. */
static int find_outside(struct forest *f, const struct gpu_reached *found, uint32_t *lowest)
{
	struct gpu_ranks *k = f->k;
	struct gpu_run *r = &k->r;
	CUdeviceptr isolated = r->gpu->placed.isolated.device, bits = gpu_bits_at(k, &found->bits, 0);
	CUdeviceptr visited = found->visited;
	void *args[] = { &visited, &isolated, &bits, &f->queue, NULL };
	uint64_t none = 0, least;
	int rc = gpu_run_clear(r), failed;

	if (!rc)
		rc = gpu_run_launch(r, "ranks_outside", NULL, true, k->own / 32 + 64, args);
	if (!rc)
		rc = gpu_run_read(r);
	/* one step for the minimum and failures */
	least = rc ? 0 : ~r->counters.not_min;
	failed = gtu_reduce(k->x, GTU_MIN_U64, &least);
	if (failed)
		return rc ? rc : failed;
	*lowest = (uint32_t)(least - 1);
	return least ? 0 : gtu_agree(k->x, rc, &none, 1);
}

/*
 * Join the queue's vertices with their neighbours, and exchange the labels of those outside that are no roots any more; *many:
 * they are too many. Collective; others may still read the pairs until gpu_link_release().
 */
static int join_outside(struct forest *f, struct gpu_reached *found, uint32_t lowest, bool *many)
{
	struct gpu_ranks *k = f->k;
	struct gpu_run *r = &k->r;
	struct gpu_graph all = r->graph;
	const uint64_t items = r->counters.items, words = all.n / 32 + 64;
	CUdeviceptr pairs;
	uint64_t count;
	void *begin[] = { &f->inside, &lowest, &f->label, NULL }, *join[] = { &f->inside, &lowest, &f->label, NULL },
	     *moved[] = { &f->inside, &f->label, &f->moved, &f->most, NULL },
	     *take[] = { &pairs, &count, &f->inside, &f->label, NULL };
	uint32_t i;
	int rc = gpu_bits_join(k, &found->bits, 0, f->inside, f->inside);

	all.first = 0;
	all.end = all.n;
	if (!rc)
		rc = gpu_run_launch_over(r, &all, "ranks_begin_outside", NULL, false, words, begin);
	if (!rc && items)
		rc = gpu_run_launch_items(r, &r->graph, "ranks_join_outside", NULL, f->queue, items, join);
	if (!rc)
		rc = gpu_run_clear(r);
	if (!rc)
		rc = gpu_run_launch_over(r, &all, "ranks_moved", NULL, false, words, moved);
	if (!rc)
		rc = gpu_run_read(r);
	for (i = 0; i < k->size; i++)
		k->outgoing[i] = r->counters.items > f->most ? WHOLE : r->counters.items;
	rc = gpu_ranks_words(k, WHOLE, f->most, rc);
	*many = r->counters.items > f->most;
	for (i = 0; i < k->size; i++) {
		*many = *many || k->incoming[i] == WHOLE;
		k->send[i] = f->moved;
	}
	if (rc || *many)
		return rc;
	rc = gpu_link_exchange_elements(k, 8, true);
	for (i = 0; i < k->size && !rc; i++) {
		count = i == k->rank ? 0 : k->incoming[i];
		pairs = k->receive[i];
		if (count)
			rc = gpu_run_launch(r, "ranks_join_moved", NULL, false, count, take);
	}
	return rc;
}

/* *done: a search has found most vertices, and the labels of own ones are complete. Collective. */
static int search(struct forest *f, bool *done)
{
	struct gpu_ranks *k = f->k;
	struct gpu_run *r = &k->r;
	CUdeviceptr isolated = r->gpu->placed.isolated.device;
	struct gpu_reached found;
	uint32_t lowest = 0, joined;
	bool many = false;
	void *label[] = { &found.visited, &isolated, &lowest, &joined, &f->label, NULL };
	int rc = gpu_ranks_component(k, &found);

	f->queue = found.queue;
	gpu_run_iteration(r, r->graph.n);
	if (rc || 2 * found.vertices < found.connected)
		return rc;
	rc = find_outside(f, &found, &lowest);
	joined = found.vertices < found.connected;
	if (!rc && joined)
		rc = join_outside(f, &found, lowest, &many);
	*done = !many;
	if (many)
		return rc;
	if (!rc)
		rc = gpu_run_launch(r, "ranks_label", NULL, false, k->own / 32 + 64, label);
	if (!rc)
		rc = gpu_run_read(r);
	return gpu_link_release(k, rc ? rc : gpu_ranks_check(k));
}

/* Memory for labels of all ranks. */
static int allocate_merge(struct forest *f)
{
	const uint64_t bytes = 4 * f->k->r.graph.n;

	return gpu_run_allocate(&f->k->r, (struct gpu_part[]){ { "common labels", bytes, &f->base },
							       { "changed labels", bytes, &f->pairs } }, 2);
}

/* Join the ends of all own edges, and then those of all ranks; with f->samples by slices, as above. Collective. */
static int join_all(struct forest *f)
{
	struct gpu_run *r = &f->k->r;
	const uint32_t slices = f->samples ? gpu_components_slices(r->gpu, f->edges, f->connected) : GPU_SLICE_ALL;
	uint32_t giant, votes;
	void *label[] = { &f->label, NULL }, *base[] = { &f->base, NULL };
	int rc = f->base ? 0 : allocate_merge(f);

	if (!rc)
		rc = gpu_run_launch(r, "components_begin", NULL, false, r->graph.n, label);
	if (!rc)
		rc = gpu_run_launch(r, "components_begin", NULL, false, r->graph.n, base);
	if (!rc)
		rc = gpu_components_join(r, f->label, f->queue, GPU_NO_VERTEX, slices);
	rc = merge(f, rc);
	if (rc || !f->samples)
		return rc;
	/* the same on all ranks: an edge is stored with both of its ends */
	if (slices)
		rc = gpu_components_giant(r, f->label, f->samples, &giant, &votes);
	if (!rc && slices)
		rc = gpu_components_join(r, f->label, f->queue, giant, GPU_SLICE_REST | slices);
	return merge(f, rc);
}

static int prepare(struct forest *f, bool searches, bool slices)
{
	struct gpu_ranks *k = f->k;
	const uint64_t n = k->r.graph.n;
	int rc = gpu_run_allocate(&k->r, &(struct gpu_part){ "labels", 4 * n, &f->label }, 1);

	f->most = n / (8 * k->size);
	/* a search has a queue */
	if (!rc && searches)
		rc = gpu_run_allocate(&k->r, (struct gpu_part[]){ { "giant component", gpu_push_bits(k), &f->inside },
								  { "changed labels", 8 * f->most, &f->moved } }, 2);
	else if (!rc)
		rc = gpu_run_allocate(&k->r, &(struct gpu_part){ "queue", gpu_ranks_queue_bytes(k), &f->queue }, 1);
	if (!rc && slices)
		rc = gpu_run_allocate(&k->r, &(struct gpu_part){ "samples", 4 * GPU_SAMPLES, &f->samples }, 1);
	if (!rc && !searches)
		rc = allocate_merge(f);
	return rc ? rc : gpu_wait(k->r.gpu, "setting up", k->r.err);
}

int gpu_ranked_components(struct gpu_ranks *k)
{
	const bool undirected = !(k->run->graph->flags & GTU_GRAPH_DIRECTED) && k->run->graph->m;
	struct forest f = { .k = k };
	/* ranks whose lists are not on the card; edges; vertices with edges */
	uint64_t sum[] = { k->r.gpu->placement.edges != GTU_EDGES_DEVICE, k->r.graph.m, k->r.gpu->placed.connected }, none = 0;
	bool searches, done = false;
	int rc = gtu_agree(k->x, 0, sum, 3);

	if (rc)
		return rc;
	searches = undirected && !sum[0];
	f.edges = sum[1];
	f.connected = sum[2];

	/* the cache, if there is one, has the first entries of lists, not neighbours of each vertex */
	k->r.graph.cache_degree = 0;
	rc = gtu_agree(k->x, prepare(&f, searches, undirected && sum[0]), &none, 1);
	if (!rc && searches)
		rc = search(&f, &done);
	gtu_phase(&k->r.phases, "traverse");
	if (!rc && !done)
		rc = join_all(&f);
	k->r.stats->vertices = k->own;
	k->r.stats->edges = k->r.graph.m;
	return rc ? rc : gpu_visit_values(&k->r, k->run->result, f.label + 4 * k->first, k->own);
}
