// SPDX-License-Identifier: MIT
/*
 * Shortest paths over several GPUs, in buckets as in sssp.c. A rank keeps the lowest distance that it knows of
 * every vertex; when one of another rank's vertices is due, it sends the distance to the owner instead of
 * expanding the vertex.
 */
#include "parts.h"
#include "ranks.h"

struct paths {
	struct gpu_ranks *k;
	struct gpu_distances of;
	CUdeviceptr distance, expanded;	/* of all vertices */
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
	uint64_t none = 0;
	int rc = gtu_agree(k->x, gpu_sssp_check(&k->r, edges ? g->row[k->first] : 0), &none, 1);

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
	return rc;
}

/* Own vertices due below @bound go to the queue, others' to the outbox: k->count. */
static int collect(struct paths *s, uint64_t bound)
{
	struct gpu_ranks *k = s->k;
	struct gpu_run *r = &k->r;
	void *args[] = { &s->distance, &s->expanded, &bound, &s->queue, &k->cuts, &k->size, &k->sent, &s->outbox, NULL };
	int rc = gpu_ranks_clear(k);

	if (!rc)
		rc = gpu_run_launch(r, "ranks_due", s->of.width == 4 ? "_32" : "_64", true, r->graph.n, args);
	if (!rc)
		rc = gpu_run_read(r);
	s->items = r->counters.items;
	s->min = r->counters.min;
	return rc ? rc : gpu_ranks_counts(k);
}

/* Expand the queue while the ranks exchange the lengths of their messages, and then take what they sent. */
static int round_of(struct paths *s)
{
	struct gpu_ranks *k = s->k;
	struct gpu_run *r = &k->r;
	const uint64_t element = 4 + s->of.width;
	uint64_t count;
	/* a bit of a settled vertex is not kept: another rank may lower its distance */
	CUdeviceptr inbox, settled = 0;
	void *relax[] = { &s->queue, &s->items, &s->distance, &settled, NULL }, *lower[] = { &inbox, &count, &s->distance, NULL };
	uint32_t i;
	int rc = s->items ? gpu_run_launch(r, "sssp_relax", s->of.kernel, true, s->items * 32, relax) : 0;

	for (i = 0; i < k->size; i++)
		k->outgoing[i] = k->count[i];
	rc = gpu_ranks_words(k, 0, k->own, rc);
	if (rc)
		return rc;
	for (i = 0; i < k->size; i++) {
		k->send[i] = s->outbox + element * k->section[i];
		k->send_bytes[i] = element * k->outgoing[i];
		k->receive_bytes[i] = element * k->incoming[i];
	}
	gtu_phase(&r->phases, "exchange");
	rc = gpu_link_exchange(k, GTU_CARGO_VALUES, true);
	gtu_phase(&r->phases, "traverse");
	if (!rc)
		rc = gpu_run_clear(r);
	for (i = 0; i < k->size && !rc; i++) {
		count = k->incoming[i];
		inbox = k->receive[i];
		if (count)
			rc = gpu_run_launch(r, "ranks_lower", s->of.width == 4 ? "_32" : "_64", false, count, lower);
	}
	if (!rc)
		rc = gpu_run_read(r);
	return gpu_link_release(k, rc ? rc : gpu_ranks_check(k));
}

static int prepare(struct paths *s)
{
	struct gpu_ranks *k = s->k;
	const uint64_t n = k->run->graph->n, source = k->run->opt->source, zero = 0;
	int rc = gpu_run_allocate(&k->r, (struct gpu_part[]){
		{ "distances", n * s->of.width, &s->distance }, { "expanded vertices", n * s->of.width, &s->expanded },
		{ "queue", gpu_ranks_queue_bytes(k), &s->queue },
		{ "outbox", (4 + s->of.width) * gpu_ranks_outbox(k), &s->outbox } }, 4);

	if (!rc)
		rc = gpu_fill(k->r.gpu, s->distance, 0xff, n * s->of.width, k->r.err);
	if (!rc)
		rc = gpu_fill(k->r.gpu, s->expanded, 0xff, n * s->of.width, k->r.err);
	/* the owner alone knows the source */
	if (!rc && source >= k->first && source < k->end)
		rc = gpu_upload(k->r.gpu, s->distance + source * s->of.width, &zero, s->of.width, k->r.err);
	return rc;
}

static int search(struct paths *s)
{
	struct gpu_ranks *k = s->k;
	struct gpu_run *r = &k->r;
	uint64_t bound = distance_above(s->of.type, 0, s->of.delta), sum[2];
	uint32_t i;
	int rc = prepare(s);

	gtu_phase(&r->phases, "traverse");
	for (;;) {
		if (!rc)
			rc = collect(s, bound);
		sum[0] = s->items;
		sum[1] = 0;
		for (i = 0; i < k->size; i++)
			sum[1] += k->count[i];
		rc = gtu_agree(k->x, rc, sum, 2);
		if (rc)
			return rc;
		if (sum[0] || sum[1]) {
			rc = round_of(s);
			gpu_run_iteration(r, sum[0]);
			continue;
		}
		rc = gtu_reduce(k->x, GTU_MIN_U64, &s->min);
		if (rc || s->min == UINT64_MAX)
			return rc;
		bound = distance_above(s->of.type, s->min, s->of.delta);
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
