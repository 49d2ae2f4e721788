// SPDX-License-Identifier: MIT
/*
 * Shortest paths over several GPUs, in buckets as in sssp.c. A rank keeps the lowest distance that it knows of
 * every vertex. Before the vertices below the bound are expanded, it sends those distances of other ranks' vertices that
 * fell below it to the owners, who alone expand them (but for loop_steps()). If buckets are no wider than the least weight,
 * a bucket is expanded once: no path to one of its vertices leads over another one.
 *
 * Where kernels read the other cards' memory, and the lists are on the cards, the first buckets are those of
 * kernels/sssp_final.cuh: each card lowers numbers of all vertices, and an owner takes the lowest of its vertices from all
 * cards.
 */
#include "parts.h"
#include "ranks.h"

#define DUE	(4ull * SSSP_SMALL)	/* most vertices due, also beyond a bucket, for which buckets become wider */
#define MANY	1024			/* a bucket is large if one of so many vertices has a work item in it */

struct paths {
	struct gpu_ranks *k;
	struct gpu_distances of;
	bool undirected;
	bool once;			/* a bucket is expanded once */
	bool keeps;			/* settled vertices, which saves time where the lists are in the cards' memory */
	CUdeviceptr distance;		/* of all vertices */
	CUdeviceptr expanded;		/* of own ones */
	struct gpu_bits final;		/* bits of vertices whose distance is final, */
	CUdeviceptr settled;		/* which is this bitmap (0: not kept) */
	CUdeviceptr fell;		/* bits of others' vertices to send */
	CUdeviceptr queue, outbox;
	struct gpu_cards cards;		/* for steps of few vertices, whose queues are these */
	CUdeviceptr near, far;
	double most;			/* the greatest weight */
	bool sent;			/* no distance is left to send */
	uint64_t items, left, min;	/* due below the bound; vertices due above it, also of others, and the least distance of one */
	struct gpu_numbers numbers;	/* of all vertices; those of own ones are complete, */
	CUdeviceptr at;			/* and the other cards' are at these addresses */
	uint64_t base;			/* distances below are final, though not noted as expanded */
	bool too_narrow;		/* a path may need more than 32 bits */
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
	/* ranks whose lists are on the card, of them those with plain lists; ranks that have met a long path */
	uint64_t on_card[3] = { k->r.gpu->placement.edges == GTU_EDGES_DEVICE, 0, p->long_paths };
	int rc;

	on_card[1] = on_card[0] && k->r.gpu->placement.edge_bytes;
	rc = gtu_agree(k->x, gpu_sssp_check(&k->r, edges ? g->row[k->first] : 0), on_card, 3);

	/* the least weight is the negative of the largest negative one */
	falling = -least;
	if (!rc)
		rc = gtu_reduce(k->x, GTU_MAX_F64, &most);
	if (!rc)
		rc = gtu_reduce(k->x, GTU_MAX_F64, &falling);
	if (!rc)
		rc = gtu_reduce(k->x, GTU_SUM_F64, &sum);
	s->most = most;
	if (!rc)
		gpu_sssp_choose(&s->of, &k->r, g->n, g->m, -falling, most, g->m ? sum / (double)g->m : 0,
				on_card[2]);
	s->undirected = !(g->flags & GTU_GRAPH_DIRECTED);
	s->once = s->of.delta <= -falling;
	s->keeps = s->once && on_card[0] == k->size;
	if (s->keeps && on_card[1] == k->size && gpu_link_loads(k))
		gpu_numbers_choose(&s->numbers, &s->of, most);
	return rc;
}

static const char *width_suffix(const struct paths *s)
{
	return s->of.width == 4 ? "_32" : "_64";
}

/* Send what fell below @bound to the owners, and take what the others sent; if @wide it is not final yet. Collective. */
static int exchange(struct paths *s, uint64_t bound, bool wide)
{
	struct gpu_ranks *k = s->k;
	struct gpu_run *r = &k->r;
	const uint64_t element = 4 + s->of.width;
	CUdeviceptr settled = wide ? 0 : s->settled;
	CUdeviceptr inbox;
	uint64_t count;
	void *send[] = { &s->distance, &s->fell, &bound, &settled, &k->cuts, &k->size, &k->sent, &s->outbox, NULL },
	     *lower[] = { &inbox, &count, &s->distance, NULL };
	uint32_t i;
	int rc = gpu_ranks_clear(k);

	if (!rc)
		rc = gpu_run_launch(r, "ranks_send", width_suffix(s), false, (r->graph.n + 31) / 32, send);
	if (!rc)
		rc = gpu_run_read(r);
	s->min = ~r->counters.not_min;
	s->left = r->counters.left;
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

/* Queue own vertices due below @bound, likewise. */
static int collect(struct paths *s, uint64_t bound, bool wide)
{
	struct gpu_ranks *k = s->k;
	struct gpu_run *r = &k->r;
	/* by the vertices' numbers */
	CUdeviceptr expanded = s->expanded - s->of.width * k->first, settled = wide ? 0 : s->settled;
	void *due[] = { &s->distance, &expanded, &s->base, &bound, &s->queue, &settled, NULL };
	int rc = gpu_run_launch_vertices(r, &r->graph, "sssp_collect", width_suffix(s), true, GPU_STRIP, due);

	if (!rc)
		rc = gpu_run_read(r);
	s->items = r->counters.items;
	s->left += r->counters.left;
	s->min = ~r->counters.not_min < s->min ? ~r->counters.not_min : s->min;
	return rc ? rc : gpu_ranks_check(k);
}

static int prepare(struct paths *s)
{
	struct gpu_ranks *k = s->k;
	const uint64_t n = k->run->graph->n, source = k->run->opt->source, zero = 0, bits = gpu_push_bits(k);
	uint64_t none = 0;
	int rc = gpu_run_allocate(&k->r, (struct gpu_part[]){
		{ "distances", n * s->of.width, &s->distance }, { "expanded vertices", k->own * s->of.width, &s->expanded },
		{ "queue", gpu_ranks_queue_bytes(k), &s->queue }, { "vertices to send", bits, &s->fell },
		{ "outbox", (4 + s->of.width) * gpu_ranks_outbox(k), &s->outbox },
		{ "near queues", 2 * 4 * GPU_LOOP_ITEMS, &s->near }, { "far queues", 2 * 4ull * GPU_LOOP_FAR, &s->far } },
				  gpu_link_loads(k) ? 7 : 5);

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
	if (!rc && s->numbers.bits)
		rc = gpu_numbers_begin(&k->r, &s->numbers, s->undirected);
	if (!rc && s->numbers.bits)
		rc = gpu_run_allocate(&k->r, &(struct gpu_part){ "addresses", 8ull * k->size, &s->at }, 1);
	/* the owner alone knows the source */
	if (!rc && source >= k->first && source < k->end) {
		rc = gpu_upload(k->r.gpu, s->distance + source * s->of.width, &zero, s->of.width, k->r.err);
		if (!rc && s->numbers.bits)
			rc = gpu_numbers_source(&k->r, &s->numbers, source);
	}
	if (!rc)
		rc = gpu_wait(k->r.gpu, "setting up", k->r.err);
	if (!gpu_link_loads(k))
		return rc;
	rc = gtu_agree(k->x, rc, &none, 1);
	return rc ? rc : gpu_cards_begin(k, &s->cards, s->distance, s->expanded - s->of.width * k->first, false);
}

/* Let kernels read the numbers of all cards. Collective. */
static int share_numbers(struct paths *s)
{
	struct gpu_ranks *k = s->k;
	int rc = gpu_link_addresses(k, s->numbers.number, k->send);

	return rc ? rc : gpu_upload(k->r.gpu, s->at, k->send, 8ull * k->size, k->r.err);
}

/* Take the numbers of other ranks' vertices from the owners, too; those that a rank has of them are only upper bounds. */
static int take_numbers(struct paths *s, uint32_t width)
{
	struct gpu_ranks *k = s->k;
	struct gpu_numbers *n = &s->numbers;
	void *args[] = { &n->number, &s->at, &k->cuts, &k->size, &width, &n->open, &n->bucket, NULL };

	gtu_exchange_count(k->x, GTU_CARGO_VALUES, (k->size - 1) * k->own * n->bits / 8);
	return gpu_run_launch(&k->r, "ranks_numbers", gpu_numbers_suffix(n), false, k->r.graph.n / 8 + 1, args);
}

/*
 * Buckets of final distances, as run_finals() of sssp.c, until no vertex is due (*done) or few are. A card lowers numbers
 * after all agreed that the owners' are complete, and an owner reads them after all agreed that they are lowered; what it
 * finds lower before is a distance all the same. Collective.
 */
static int run_finals(struct paths *s, int rc, bool *done)
{
	struct gpu_ranks *k = s->k;
	struct gpu_run *r = &k->r;
	struct gpu_numbers *n = &s->numbers;
	struct gpu_smalls smalls = { 0 };
	uint32_t width = (uint32_t)distance_above(s->of.type, 0, s->of.delta), above = 0;
	uint64_t base = 0, left = k->run->graph->m, none = 0;
	void *next[] = { &n->number, &s->at, &k->size, &above, &width, &base, &s->distance, &s->queue, NULL },
	     *flush[] = { &n->number, &base, &s->distance, NULL };
	bool pulls;

	rc = gtu_agree(k->x, rc, &none, 1);
	if (!rc)
		rc = share_numbers(s);
	for (;;) {
		uint64_t sum[3] = { 0 }, min;

		s->too_narrow = !rc && !gpu_sssp_fits(&s->of, base + width);
		if (s->too_narrow)
			return 0;
		if (!rc)
			rc = gpu_run_clear(r);
		if (!rc)
			rc = gpu_run_launch(r, "ranks_bucket", gpu_numbers_suffix(n), true, k->own / 8 + 64, next);
		if (!rc)
			rc = gpu_run_read(r);
		gtu_exchange_count(k->x, GTU_CARGO_VALUES, (r->graph.n - k->own) * n->bits / 8);
		s->items = r->counters.items;
		sum[0] = s->items;
		sum[1] = r->counters.left;
		sum[2] = r->counters.edges;
		min = ~r->counters.not_min;
		rc = gtu_agree(k->x, rc, sum, 3);
		if (rc)
			return rc;
		*done = !sum[0] && !sum[1];
		if (*done)
			return 0;
		if (!sum[0]) {
			rc = gtu_reduce(k->x, GTU_MIN_U64, &min);
			above = (uint32_t)min - 1;
			base += above;
			continue;
		}
		if (gpu_smalls(&smalls, sum[0], sum[1]))
			break;
		left -= sum[2] < left ? sum[2] : left;
		pulls = s->undirected && gpu_numbers_pull(r, sum[2], left);
		/* a large bucket leads to many vertices that are final */
		if (pulls || sum[2] > r->graph.n / 8)
			rc = take_numbers(s, width);
		if (!rc)
			rc = gpu_numbers_expand(r, &s->of, n, s->queue, s->items, pulls, left);
		if (!rc)
			rc = gpu_wait(r->gpu, r->name, r->err);
		gpu_run_iteration(r, sum[0]);
		rc = gtu_agree(k->x, rc, &none, 1);
		above = width;
		base += width;
	}
	s->base = base;
	return gtu_agree(k->x, gpu_run_launch(r, "sssp_flush", gpu_numbers_suffix(n), false, k->own, flush), &none, 1);
}

/*
 * Steps of few vertices, as loop_steps() of sssp.c: the card of rank 0 runs them over all. No distance waits to be sent before.
 * Collective.
 */
static int loop_steps(struct paths *s, uint64_t *bound, bool *small, bool *done)
{
	struct gpu_ranks *k = s->k;
	struct gpu_run *r = &k->r;
	/* by the vertices' numbers */
	CUdeviceptr expanded = s->expanded - s->of.width * k->first;
	uint64_t near, far, result[3];
	uint32_t steps;
	double delta = SSSP_WIDER * s->of.delta;
	void *due[] = { &s->distance, &expanded, &s->base, bound, &s->near, &s->far, NULL };
	void *args[] = { &s->near, &s->far, &near, &far, bound, &delta, &steps, &s->cards.cards, &k->cuts, &k->size, NULL };
	int rc = s->sent ? 0 : exchange(s, UINT64_MAX, true);

	s->sent = true;
	do {
		uint64_t sum[2] = { 0 };

		if (!rc)
			rc = gpu_run_clear(r);
		if (!rc)
			rc = gpu_run_launch(r, "sssp_due", width_suffix(s), false, k->own + 64, due);
		if (!rc)
			rc = gpu_run_read(r);
		sum[0] = near = r->counters.items;
		sum[1] = far = r->counters.left;
		rc = gtu_agree(k->x, rc, sum, 2);
		*done = !sum[0] && !sum[1];
		*small = sum[0] <= SSSP_SMALL && sum[1] <= GPU_LOOP_FAR / 8;
		if (rc || *done || !*small)
			return rc;
		steps = gpu_sssp_steps(&s->of, *bound, s->most);
		s->too_narrow = !steps;
		if (s->too_narrow)
			return 0;
		rc = gpu_cards_gather(k, 0, s->near, near, 4, s->near, &near);
		rc = gpu_cards_gather(k, rc, s->far, far, 4, s->far, &far);
		if (!rc && !k->rank) {
			rc = gpu_cards_loop(k, &s->cards, "sssp_steps_cards", s->of.kernel, args);
			result[0] = r->counters.loop.bound;
			result[1] = r->counters.loop.done;
			result[2] = r->counters.loop.steps;
		}
		rc = gpu_cards_result(k, rc, result, sizeof(result));
		if (rc)
			return rc;
		*bound = result[0];
		*done = result[1];
		r->stats->iterations += result[2];
	} while (!*done && result[2] == steps);
	return 0;
}

static int search(struct paths *s)
{
	struct gpu_ranks *k = s->k;
	struct gpu_run *r = &k->r;
	uint64_t bound, items = 1, due[2], none = 0, pause = 0, tries = 1;
	void *relax[] = { &s->distance, &s->settled, &s->fell, NULL };
	bool done = false, wide, few = false, small;
	int rc = prepare(s);

	gtu_phase(&r->phases, "traverse");
	if (s->numbers.bits) {
		rc = run_finals(s, rc, &done);
		if (rc || done || s->too_narrow)
			return rc;
	}
	/* else few vertices are due, for which there is a loop, or wider buckets */
	wide = s->numbers.bits && !s->cards.usable;
	bound = distance_above(s->of.type, s->base, wide ? SSSP_WIDER * s->of.delta : s->of.delta);
	s->sent = true;
	for (;;) {
		s->too_narrow = !gpu_sssp_fits(&s->of, bound);
		if (s->too_narrow)
			return gtu_agree(k->x, rc ? rc : gpu_wait(r->gpu, r->name, r->err), &none, 1);
		if (!rc && s->cards.usable && items && items <= SSSP_SMALL && !pause--) {
			rc = loop_steps(s, &bound, &small, &done);
			if (rc || done || s->too_narrow)
				return rc;
			/* back to buckets of the usual width, and less often if that cost only a scan, as in sssp.c */
			bound = 0;
			pause = tries = small ? 1 : 2 * tries;
		}
		/* a rank that failed tells the others with the lengths */
		rc = rc ? gpu_ranks_words(k, 0, k->own, rc) : exchange(s, bound, wide);
		if (rc)
			return rc;
		rc = collect(s, bound, wide);
		s->sent = false;
		due[0] = s->items;
		due[1] = s->left;
		rc = gtu_agree(k->x, rc, due, 2);
		if (rc)
			return rc;
		items = due[0];
		few = (items ? items <= SSSP_SMALL : few) && due[1] <= DUE;
		if (!items) {
			rc = gtu_reduce(k->x, GTU_MIN_U64, &s->min);
			if (rc || s->min == UINT64_MAX)
				return rc;
			wide = few;
			bound = distance_above(s->of.type, s->min, wide ? SSSP_WIDER * s->of.delta : s->of.delta);
			continue;
		}
		/* a large bucket leads to more settled vertices than a pass over their bits takes */
		if (s->keeps && items > r->graph.n / MANY)
			rc = gpu_bits_join(k, &s->final, 0, 0, s->settled);
		if (!rc)
			rc = gpu_run_launch_items(r, &r->graph, "sssp_relax", s->of.kernel, s->queue, s->items, relax);
		gpu_run_iteration(r, items);
		if (wide && items > SSSP_SMALL)
			bound = 0;	/* back to the usual width, from the least distance that is due */
		else if (s->once && !wide)
			bound = distance_above(s->of.type, bound, s->of.delta);
	}
}

int gpu_ranked_sssp(struct gpu_ranks *k)
{
	const unsigned buffers = k->r.buffers;
	struct paths s = { .k = k };
	int rc = set_parameters(&s);

	if (!rc)
		rc = search(&s);
	if (!rc && s.too_narrow) {
		k->r.gpu->placed.long_paths = true;
		gtu_phase(&k->r.phases, "setup");
		gpu_run_free(&k->r, buffers);
		s = (struct paths){ .k = k };
		rc = set_parameters(&s);
		if (!rc)
			rc = search(&s);
	}
	return rc ? rc : gpu_sssp_result(&k->r, &s.of, s.distance + k->first * s.of.width, k->r.g->row + k->first, k->own,
					 k->run->result);
}
