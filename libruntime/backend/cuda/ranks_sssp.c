// SPDX-License-Identifier: MIT
/*
 * Shortest paths over several GPUs, in buckets as in sssp.c. A rank keeps the lowest distance that it knows of
 * every vertex. Before the vertices below the bound are expanded, it sends those distances of other ranks' vertices that
 * fell below it to the owners, who alone expand them. If buckets are no wider than the least weight, a bucket is expanded
 * once: no path to one of its vertices leads over another one.
 */
#include "parts.h"
#include "ranks.h"

#define MANY	1024			/* a bucket is large if one of so many vertices has a work item in it */

struct paths {
	struct gpu_ranks *k;
	struct gpu_distances of;
	bool once;			/* a bucket is expanded once */
	bool keeps;			/* settled vertices, which saves time where the lists are in the cards' memory */
	CUdeviceptr distance;		/* of all vertices */
	CUdeviceptr expanded;		/* of own ones */
	struct gpu_bits final;		/* bits of vertices whose distance is final, */
	CUdeviceptr settled;		/* which is this bitmap (0: not kept) */
	CUdeviceptr fell;		/* bits of others' vertices to send */
	CUdeviceptr queue, outbox;
	uint64_t items, min;		/* due below the bound; the least distance due above it */
};

/* The type of distances and the width of buckets: the same on all ranks, and that of one device. Collective. */
static int set_parameters(struct paths *s)
{
	struct gpu_ranks *k = s->k;
	const struct gpu_placed *p = &k->r.gpu->placed;
	const struct gtu_graph *g = k->run->graph;
	const bool edges = k->r.g->m;
	double least = edges ? p->weight_min : INFINITY, most = edges ? p->weight_max : 0;
	double sum = edges ? p->weight_mean * (double)k->r.g->m : 0, falling;
	uint64_t on_card = k->r.gpu->placement.edges == GTU_EDGES_DEVICE;
	int rc = gtu_agree(k->x, gpu_sssp_check(&k->r, edges ? g->row[k->first] : 0), &on_card, 1);

	/* the least weight is the negative of the largest negative one */
	falling = -least;
	if (!rc)
		rc = gtu_reduce(k->x, GTU_MAX_F64, &most);
	if (!rc)
		rc = gtu_reduce(k->x, GTU_MAX_F64, &falling);
	if (!rc)
		rc = gtu_reduce(k->x, GTU_SUM_F64, &sum);
	if (!rc)
		gpu_sssp_choose(&s->of, &k->r, g->n, g->m, -falling, most, g->m ? sum / (double)g->m : 0);
	s->once = s->of.delta <= -falling;
	s->keeps = s->once && on_card == k->size;
	return rc;
}

static const char *width_suffix(const struct paths *s)
{
	return s->of.width == 4 ? "_32" : "_64";
}

/* Send what fell below @bound to the owners, and take what the others sent. Collective. */
static int exchange(struct paths *s, uint64_t bound)
{
	struct gpu_ranks *k = s->k;
	struct gpu_run *r = &k->r;
	const uint64_t element = 4 + s->of.width;
	CUdeviceptr inbox;
	uint64_t count;
	void *send[] = { &s->distance, &s->fell, &bound, &s->settled, &k->cuts, &k->size, &k->sent, &s->outbox, NULL },
	     *lower[] = { &inbox, &count, &s->distance, NULL };
	uint32_t i;
	int rc = gpu_ranks_clear(k);

	if (!rc)
		rc = gpu_run_launch(r, "ranks_send", width_suffix(s), false, (r->graph.n + 31) / 32, send);
	if (!rc)
		rc = gpu_run_read(r);
	s->min = ~r->counters.not_min;
	if (!rc)
		rc = gpu_ranks_counts(k);
	for (i = 0; i < k->size; i++)
		k->outgoing[i] = k->count[i];
	rc = gpu_ranks_words(k, 0, k->own, rc);
	if (rc)
		return rc;
	for (i = 0; i < k->size; i++)
		k->send[i] = s->outbox + element * k->section[i];
	rc = gpu_link_exchange_elements(k, element, true);
	if (!rc)
		rc = gpu_run_clear(r);
	for (i = 0; i < k->size && !rc; i++) {
		count = k->incoming[i];
		inbox = k->receive[i];
		if (count)
			rc = gpu_run_launch(r, "ranks_lower", width_suffix(s), false, count, lower);
	}
	if (!rc && gpu_link_loads(k))
		rc = gpu_wait(r->gpu, r->name, r->err);
	return gpu_link_release(k, rc);
}

/* Queue own vertices due below @bound. */
static int collect(struct paths *s, uint64_t bound)
{
	struct gpu_ranks *k = s->k;
	struct gpu_run *r = &k->r;
	/* by the vertices' numbers */
	CUdeviceptr expanded = s->expanded - s->of.width * k->first;
	uint64_t least = 0;
	void *due[] = { &s->distance, &expanded, &least, &bound, &s->queue, &s->settled, NULL };
	int rc = gpu_run_launch_vertices(r, &r->graph, "sssp_collect", width_suffix(s), true, due);

	if (!rc)
		rc = gpu_run_read(r);
	s->items = r->counters.items;
	s->min = ~r->counters.not_min < s->min ? ~r->counters.not_min : s->min;
	return rc ? rc : gpu_ranks_check(k);
}

static int prepare(struct paths *s)
{
	struct gpu_ranks *k = s->k;
	const uint64_t n = k->run->graph->n, source = k->run->opt->source, zero = 0, bits = gpu_push_bits(k);
	int rc = gpu_run_allocate(&k->r, (struct gpu_part[]){
		{ "distances", n * s->of.width, &s->distance }, { "expanded vertices", k->own * s->of.width, &s->expanded },
		{ "queue", gpu_ranks_queue_bytes(k), &s->queue }, { "vertices to send", bits, &s->fell },
		{ "outbox", (4 + s->of.width) * gpu_ranks_outbox(k), &s->outbox } }, 5);

	if (!rc)
		rc = gpu_fill(k->r.gpu, s->distance, 0xff, n * s->of.width, k->r.err);
	if (!rc)
		rc = gpu_fill(k->r.gpu, s->expanded, 0xff, k->own * s->of.width, k->r.err);
	if (!rc)
		rc = gpu_fill(k->r.gpu, s->fell, 0, bits, k->r.err);
	if (!rc && s->keeps)
		rc = gpu_bits_begin(k, &s->final, 1);
	s->settled = s->keeps ? gpu_bits_at(k, &s->final, 0) : 0;
	if (!rc && s->keeps)
		rc = gpu_fill(k->r.gpu, s->settled, 0, bits, k->r.err);
	/* the owner alone knows the source */
	if (!rc && source >= k->first && source < k->end)
		rc = gpu_upload(k->r.gpu, s->distance + source * s->of.width, &zero, s->of.width, k->r.err);
	return rc ? rc : gpu_wait(k->r.gpu, "setting up", k->r.err);
}

static int search(struct paths *s)
{
	struct gpu_ranks *k = s->k;
	struct gpu_run *r = &k->r;
	uint64_t bound = distance_above(s->of.type, 0, s->of.delta), items;
	void *relax[] = { &s->distance, &s->settled, &s->fell, NULL };
	int rc = prepare(s);

	gtu_phase(&r->phases, "traverse");
	for (;;) {
		/* a rank that failed tells the others with the lengths */
		rc = rc ? gpu_ranks_words(k, 0, k->own, rc) : exchange(s, bound);
		if (rc)
			return rc;
		rc = collect(s, bound);
		items = s->items;
		rc = gtu_agree(k->x, rc, &items, 1);
		if (rc)
			return rc;
		if (!items) {
			rc = gtu_reduce(k->x, GTU_MIN_U64, &s->min);
			if (rc || s->min == UINT64_MAX)
				return rc;
			bound = distance_above(s->of.type, s->min, s->of.delta);
			continue;
		}
		/* a large bucket leads to more settled vertices than a pass over their bits takes */
		if (s->keeps && items > r->graph.n / MANY)
			rc = gpu_bits_join(k, &s->final, 0, 0, s->settled);
		if (!rc)
			rc = gpu_run_launch_items(r, &r->graph, "sssp_relax", s->of.kernel, s->queue, s->items, relax);
		gpu_run_iteration(r, items);
		if (s->once)
			bound = distance_above(s->of.type, bound, s->of.delta);
	}
}

int gpu_ranked_sssp(struct gpu_ranks *k)
{
	struct paths s = { .k = k };
	int rc = set_parameters(&s);

	if (!rc)
		rc = search(&s);
	return rc ? rc : gpu_sssp_result(&k->r, &s.of, s.distance + k->first * s.of.width, k->r.g->row + k->first, k->own,
					 k->run->result);
}
