// SPDX-License-Identifier: MIT
/*
 * Weakly connected components over several GPUs. A search over all ranks finds the giant component of an undirected graph.
 * All ranks get its bits and label its vertices; then each joins the ends of the edges of its other vertices, and all
 * exchange which of their vertices are no roots any more.
 *
 * If that are many, or a search reaches few vertices, a rank joins the ends of all of its edges. Then the ranks exchange
 * which roots have ceased to be roots, or all labels, in a logarithmic number of steps after which all have the same labels
 * (joining twice does no harm).
 */
#include "parts.h"
#include "ranks.h"

#define WHOLE	(1ull << 63)		/* in a message's word: the labels of all vertices, not pairs */

struct forest {
	struct gpu_ranks *k;
	CUdeviceptr label, base, queue;
	CUdeviceptr pairs;		/* at most n / 2: more are not smaller than all labels */
	CUdeviceptr least;		/* the lowest vertex of the giant component */
	CUdeviceptr giant;		/* the bits of its vertices */
	struct gpu_bits own;		/* those of own ones */
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

/* Label the giant component, whose own vertices are among the bits @visited, and join own others. Collective. */
static int join_others(struct forest *f, CUdeviceptr visited)
{
	struct gpu_ranks *k = f->k;
	struct gpu_run *r = &k->r;
	uint64_t none = 0;
	CUdeviceptr isolated = r->gpu->placed.isolated.device, bits = gpu_bits_at(k, &f->own, 0), nothing = gpu_bits_at(k, &f->own, 1);
	void *reached[] = { &visited, &isolated, &bits, NULL }, *others[] = { &f->giant, &isolated, &visited, NULL },
	     *least[] = { &f->giant, &nothing, &f->least, NULL }, *paint[] = { &f->giant, &nothing, &f->least, &f->label, NULL },
	     *collect[] = { &visited, &f->queue, NULL };
	const uint64_t words = k->own / 32 + 64;
	int rc = gpu_fill(r->gpu, f->least, 0xff, 4, r->err);

	if (!rc)
		rc = gpu_fill(r->gpu, nothing, 0, gpu_push_bits(k), r->err);
	if (!rc)
		rc = gpu_run_launch(r, "ranks_reached", NULL, false, words, reached);
	if (!rc && gpu_link_loads(k))
		rc = gpu_wait(r->gpu, r->name, r->err);
	rc = gtu_agree(k->x, rc, &none, 1);
	if (!rc)
		rc = gpu_bits_join(k, &f->own, 0, f->giant, f->giant);
	if (!rc)
		rc = gpu_run_launch(r, "components_least", NULL, false, r->graph.n / 32 + 1, least);
	if (!rc)
		rc = gpu_run_launch(r, "components_paint", NULL, false, r->graph.n, paint);
	if (!rc)
		rc = gpu_run_launch(r, "ranks_others", NULL, false, words, others);
	if (!rc)
		rc = gpu_run_clear(r);
	if (!rc)
		rc = gpu_run_launch(r, "ranks_collect_bits", NULL, true, k->own, collect);
	if (!rc)
		rc = gpu_run_read(r);
	return rc ? rc : gpu_components_join_items(r, f->label, f->queue, r->counters.items);
}

/* Exchange the labels of vertices that are no roots any more; *many: they are too many. Collective. */
static int exchange_moved(struct forest *f, bool *many, int rc)
{
	struct gpu_ranks *k = f->k;
	struct gpu_run *r = &k->r;
	CUdeviceptr pairs = f->pairs, labels = 0;
	uint64_t most = r->graph.n / (8 * k->size), count;
	void *moved[] = { &f->label, &f->giant, &f->least, &f->pairs, &most, NULL },
	     *join[] = { &pairs, &labels, &count, &f->label, NULL };
	uint32_t i;

	if (!rc)
		rc = gpu_run_clear(r);
	if (!rc)
		rc = gpu_run_launch(r, "ranks_moved", NULL, false, r->graph.n, moved);
	if (!rc)
		rc = gpu_run_read(r);
	for (i = 0; i < k->size; i++)
		k->outgoing[i] = r->counters.items > most ? WHOLE : r->counters.items;
	rc = gpu_ranks_words(k, WHOLE, most, rc);
	*many = r->counters.items > most;
	for (i = 0; i < k->size; i++) {
		*many = *many || k->incoming[i] == WHOLE;
		k->send[i] = f->pairs;
	}
	if (rc || *many)
		return rc;
	rc = gpu_link_exchange_elements(k, 8, true);
	if (!rc)
		rc = gpu_run_clear(r);
	for (i = 0; i < k->size && !rc; i++) {
		count = i == k->rank ? 0 : k->incoming[i];
		pairs = k->receive[i];
		if (count)
			rc = gpu_run_launch(r, "ranks_join", NULL, false, count, join);
	}
	if (!rc)
		rc = gpu_components_flatten(r, f->label);
	if (!rc)
		rc = gpu_run_read(r);
	return gpu_link_release(k, rc ? rc : gpu_ranks_check(k));
}

/* *done: a search has found most vertices, and the labels are complete. Collective. */
static int search(struct forest *f, bool *done)
{
	struct gpu_ranks *k = f->k;
	CUdeviceptr visited;
	uint64_t reached, connected;
	bool many = false;
	int rc = gpu_ranks_component(k, &visited, &f->queue, &reached, &connected);

	gpu_run_iteration(&k->r, k->r.graph.n);
	if (rc || 2 * reached < connected)
		return rc;
	rc = exchange_moved(f, &many, join_others(f, visited));
	*done = !many;
	return rc;
}

/* Join the ends of all own edges, and then those of all ranks. Collective. */
static int join_all(struct forest *f)
{
	struct gpu_run *r = &f->k->r;
	void *label[] = { &f->label, NULL }, *base[] = { &f->base, NULL };
	int rc = gpu_run_launch(r, "components_begin", NULL, false, r->graph.n, label);

	if (!rc)
		rc = gpu_run_launch(r, "components_begin", NULL, false, r->graph.n, base);
	if (!rc)
		rc = gpu_components_join(r, f->label, f->queue, GPU_NO_VERTEX, GPU_SLICE_ALL);
	return merge(f, rc);
}

static int prepare(struct forest *f, bool searches)
{
	struct gpu_ranks *k = f->k;
	const uint64_t n = k->r.graph.n;
	int rc = gpu_run_allocate(&k->r, (struct gpu_part[]){
		{ "labels", 4 * n, &f->label }, { "common labels", 4 * n, &f->base }, { "changed labels", 4 * n, &f->pairs },
		{ "giant component", gpu_push_bits(k) + 16, &f->giant } }, 4);

	f->least = f->giant + ((gpu_push_bits(k) + 15) & ~15ull);
	/* a search has a queue */
	if (!rc && searches)
		rc = gpu_bits_begin(k, &f->own, 2);
	else if (!rc)
		rc = gpu_run_allocate(&k->r, &(struct gpu_part){ "queue", gpu_ranks_queue_bytes(k), &f->queue }, 1);
	return rc ? rc : gpu_wait(k->r.gpu, "setting up", k->r.err);
}

int gpu_ranked_components(struct gpu_ranks *k)
{
	const bool searches = !(k->run->graph->flags & GTU_GRAPH_DIRECTED) && k->run->graph->m;
	struct forest f = { .k = k };
	uint64_t none = 0;
	bool done = false;
	int rc;

	/* the cache, if there is one, has the first entries of lists, not neighbours of each vertex */
	k->r.graph.cache_degree = 0;
	rc = gtu_agree(k->x, prepare(&f, searches), &none, 1);
	if (!rc && searches)
		rc = search(&f, &done);
	gtu_phase(&k->r.phases, "traverse");
	if (!rc && !done)
		rc = join_all(&f);
	k->r.stats->vertices = k->own;
	k->r.stats->edges = k->r.graph.m;
	return rc ? rc : gpu_visit_values(&k->r, k->run->result, f.label + 4 * k->first, k->own);
}
