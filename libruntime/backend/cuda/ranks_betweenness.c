// SPDX-License-Identifier: MIT
/*
 * Betweenness over several GPUs, as in paths.c. On the way forth a rank sends the targets that it sees for the
 * first time to their owners, with the paths that its own edges lead there. The elements of all levels are kept: on the
 * way back the owner replies by the same elements, so no rank sends a vertex that the other does not need.
 */
#include <stdlib.h>
#include <string.h>

#include "parts.h"
#include "ranks.h"

#define ELEMENT	12ull			/* bytes: a number and a double */

struct centrality {
	struct gpu_ranks *k;
	CUdeviceptr level, paths, share;	/* of all vertices */
	CUdeviceptr score;			/* of own */
	CUdeviceptr queue, outbox, received;	/* of all levels, behind each other */
	uint64_t stride;			/* elements that a rank can send to this one in a search */
	/*
	 * The state before each level: its first item, and by rank the elements sent and received.
	 */
	uint64_t *before, most;
	uint64_t items;				/* of the last level */
};

static uint64_t *before(const struct centrality *c, uint64_t level)
{
	return c->before + level * (1 + 2ull * c->k->size);
}

static uint64_t *sent_before(const struct centrality *c, uint64_t level)
{
	return before(c, level) + 1;
}

static uint64_t *received_before(const struct centrality *c, uint64_t level)
{
	return before(c, level) + 1 + c->k->size;
}

static int reserve_level(struct centrality *c, uint64_t level)
{
	const uint64_t most = level < 64 ? 128 : 2 * level;
	uint64_t *more;

	if (level < c->most)
		return 0;
	more = realloc(c->before, most * (1 + 2ull * c->k->size) * sizeof(*more));
	if (!more)
		return gtu_fail(c->k->r.err, GTU_ERR_NOMEM, "%s: out of memory for %llu levels", c->k->r.name,
				(unsigned long long)most);
	c->before = more;
	c->most = most;
	return 0;
}

static CUdeviceptr sent_at(const struct centrality *c, uint64_t level, uint32_t rank)
{
	return c->outbox + ELEMENT * (c->k->section[rank] + sent_before(c, level)[rank]);
}

static CUdeviceptr received_at(const struct centrality *c, uint64_t level, uint32_t rank)
{
	return c->received + ELEMENT * (rank * c->stride + received_before(c, level)[rank]);
}

/* Follow the edges of level @l; others' vertices are in the outbox. */
static int count(struct centrality *c, uint32_t l)
{
	struct gpu_ranks *k = c->k;
	CUdeviceptr from = c->queue + 8 * before(c, l)[0], out = from + 8 * c->items, elements, paths;
	uint32_t next = l + 1, i;
	uint64_t fresh;
	void *args[] = { &from, &c->items, &c->level, &next, &c->paths, &out, &k->cuts, &k->size, &k->sent, &c->outbox, NULL };
	void *give[] = { &elements, &fresh, &paths, NULL };
	int rc = gpu_run_clear(&k->r);

	if (!rc && c->items)
		rc = gpu_run_launch(&k->r, "ranks_count", NULL, true, c->items * 32, args);
	if (!rc)
		rc = gpu_run_read(&k->r);
	if (!rc)
		rc = gpu_ranks_counts(k);
	for (i = 0; i < k->size && !rc; i++) {
		elements = sent_at(c, l, i);
		paths = c->paths + 8 * k->cut[i];
		k->outgoing[i] = fresh = k->count[i] - sent_before(c, l)[i];
		if (fresh)
			rc = gpu_launch(k->r.gpu, "ranks_give_paths", fresh, give, k->r.err);
	}
	return rc;
}

/* Find level @l + 1. Collective. */
static int forth_step(struct centrality *c, uint32_t l)
{
	struct gpu_ranks *k = c->k;
	CUdeviceptr out = c->queue + 8 * (before(c, l)[0] + c->items), elements;
	uint32_t next = l + 1, i;
	uint64_t arrived;
	void *args[] = { &elements, &arrived, &c->level, &next, &c->paths, &out, NULL };
	int rc = reserve_level(c, next);

	if (!rc)
		rc = count(c, l);
	rc = gpu_ranks_words(k, 0, k->own, rc);
	if (rc)
		return rc;
	before(c, next)[0] = before(c, l)[0] + c->items;
	for (i = 0; i < k->size; i++) {
		if (received_before(c, l)[i] + k->incoming[i] > k->own)
			return gtu_give_up(k->x, gpu_ranks_bad_message(k));
		k->send[i] = sent_at(c, l, i);
		k->receive[i] = received_at(c, l, i);
		sent_before(c, next)[i] = sent_before(c, l)[i] + k->outgoing[i];
		received_before(c, next)[i] = received_before(c, l)[i] + k->incoming[i];
	}
	rc = gpu_link_exchange_elements(k, ELEMENT, false);
	for (i = 0; i < k->size && !rc; i++) {
		elements = received_at(c, l, i);
		arrived = k->incoming[i];
		if (arrived)
			rc = gpu_run_launch(&k->r, "ranks_take_paths", NULL, true, arrived, args);
	}
	if (!rc)
		rc = gpu_run_read(&k->r);
	c->items = k->r.counters.items;
	return rc ? rc : gpu_ranks_check(k);
}

/* Count the shortest paths from @source; *levels: levels that edges leave. Collective. */
static int forth(struct centrality *c, uint32_t source, uint32_t *levels)
{
	struct gpu_ranks *k = c->k;
	struct gpu_run *r = &k->r;
	uint64_t sum[2], found = source >= k->first && source < k->end;
	uint64_t one = 1023ull << 52;		/* 1.0 */
	void *begin[] = { &source, &one, &c->level, &c->paths, &c->share, NULL };
	int rc = reserve_level(c, 0);

	if (!rc) {
		memset(before(c, 0), 0, (1 + 2ull * k->size) * sizeof(*c->before));
		rc = gpu_ranks_clear(k);
	}
	if (!rc)
		rc = gpu_run_launch(r, "paths_begin", NULL, false, r->graph.n, begin);
	if (!rc)
		rc = gpu_visit_collect(r, c->level, 0, c->queue, &c->items);
	for (*levels = 0;; ++*levels) {
		sum[0] = c->items;
		sum[1] = found;
		rc = gtu_agree(k->x, rc, sum, 2);
		if (rc)
			return rc;
		r->stats->vertices += found;
		r->stats->iterations += sum[1] > 0;
		if (!sum[0])
			return 0;
		rc = forth_step(c, *levels);
		found = r->counters.vertices;
	}
}

/* The dependencies of level @next - 1 on level @next. Collective. */
static int back_step(struct centrality *c, uint32_t next)
{
	struct gpu_ranks *k = c->k;
	const uint32_t l = next - 1;
	CUdeviceptr elements, share, from = c->queue + 8 * before(c, l)[0];
	uint64_t some, range, none = 0, items = before(c, next)[0] - before(c, l)[0];
	void *give[] = { &elements, &some, &c->level, &next, &c->paths, &c->share, NULL };
	void *take[] = { &elements, &some, &share, &range, NULL };
	void *depend[] = { &from, &items, &c->level, &next, &c->paths, &c->share, NULL };
	uint32_t i;
	int rc = 0;

	for (i = 0; i < k->size && !rc; i++) {
		elements = received_at(c, l, i);
		some = received_before(c, next)[i] - received_before(c, l)[i];
		k->send[i] = elements;
		k->send_bytes[i] = ELEMENT * some;
		if (some)
			rc = gpu_run_launch(&k->r, "ranks_give_shares", NULL, false, some, give);
	}
	rc = gtu_agree(k->x, rc, &none, 1);
	if (rc)
		return rc;
	for (i = 0; i < k->size; i++) {
		k->receive[i] = sent_at(c, l, i);
		k->receive_bytes[i] = ELEMENT * (sent_before(c, next)[i] - sent_before(c, l)[i]);
	}
	rc = gpu_link_exchange(k, GTU_CARGO_VALUES, false);
	for (i = 0; i < k->size && !rc; i++) {
		elements = k->receive[i];
		some = k->receive_bytes[i] / ELEMENT;
		share = c->share + 8 * k->cut[i];
		range = gpu_ranks_range(k, i);
		if (some)
			rc = gpu_launch(k->r.gpu, "ranks_take_shares", some, take, k->r.err);
	}
	if (!rc && items)
		rc = gpu_run_launch(&k->r, "ranks_depend", NULL, true, items * 32, depend);
	return gtu_agree(k->x, rc, &none, 1);
}

static int from_source(struct centrality *c, uint32_t source)
{
	struct gpu_ranks *k = c->k;
	void *end[] = { &source, &c->paths, &c->share, &c->score, NULL };
	uint64_t none = 0;
	uint32_t levels;
	int rc = forth(c, source, &levels);

	for (; levels && !rc; levels--)
		rc = back_step(c, levels);
	if (rc)
		return rc;
	rc = gpu_visit_step(&k->r, "ranks_score", NULL, false, k->own, end);
	if (!rc && k->r.counters.changed)
		rc = gtu_fail(k->r.err, GTU_ERR_UNSUPPORTED,
			      "the number of shortest paths from vertex %llu exceeds the range of a double (1.8e308), the "
			      "limit over several GPUs; use one", (unsigned long long)gtu_graph_id(k->r.g, source));
	k->r.stats->edges += k->r.graph.m;
	return gtu_agree(k->x, rc, &none, 1);
}

static int from_sources(struct centrality *c)
{
	struct gpu_ranks *k = c->k;
	const struct gtu_algorithm_options *opt = k->run->opt;
	const uint64_t n = k->r.graph.n, sources = opt->sources ? opt->source_count : n;
	uint64_t i, source, none = 0;
	int rc;

	c->stride = (k->own + 3) & ~3ull;
	rc = gpu_run_allocate(&k->r, (struct gpu_part[]){
		{ "levels", 4 * n, &c->level }, { "paths", 8 * n, &c->paths }, { "shares", 8 * n, &c->share },
		{ "scores", 8 * k->own, &c->score }, { "queue", gpu_ranks_queue_bytes(k), &c->queue },
		{ "outbox", ELEMENT * gpu_ranks_outbox(k), &c->outbox },
		{ "received elements", ELEMENT * c->stride * k->size, &c->received } }, 7);
	if (!rc)
		rc = gpu_fill(k->r.gpu, c->score, 0, 8 * k->own, k->r.err);
	gtu_phase(&k->r.phases, "traverse");
	rc = gtu_agree(k->x, rc, &none, 1);
	for (i = 0; i < sources && !rc; i++) {
		source = opt->sources ? opt->sources[i] : i;
		rc = gpu_visit_check_vertex(&k->r, "source", source);
		if (!rc)
			rc = from_source(c, (uint32_t)source);
	}
	return rc;
}

int gpu_ranked_betweenness(struct gpu_ranks *k)
{
	struct centrality c = { .k = k };
	/* all ranks have the same options */
	int rc = gpu_betweenness_check(&k->r);

	if (!rc)
		rc = from_sources(&c);
	gtu_phase(&k->r.phases, "result");
	if (!rc)
		rc = gpu_download(k->r.gpu, k->run->result, c.score, 8 * k->own, k->r.err);
	free(c.before);
	return rc;
}
