// SPDX-License-Identifier: MIT
/*
 * Breadth-first search over ranks (direction-optimizing: Beamer, SC 2012; over a grid: Buluc and
 * Madduri, SC 2011).
 *
 * Pushing: a rank traverses the frontier's rows and sends the targets that it sees for the first time
 * to their owners; a large frontier in pieces, of which one is under way while the next is traversed. Pulling: the ranks of a column exchange the frontier; a rank searches the edges of
 * its unreached rows for a vertex of the frontier, and sends the rows found to their owners. Every
 * message is a list or a bitmap, whichever is smaller.
 */
#include <stdlib.h>
#include <string.h>

#include "run.h"

#define PIECE_EDGES (1u << 18)		/* of the frontier, that a rank traverses between two exchanges, about */

struct search {
	struct gtu_ranked *k;
	uint64_t *level;		/* of this rank's vertices */
	uint64_t *seen;			/* bits of all vertices: targets known to be reached */
	uint64_t *reached;		/* bits of this rank's rows */
	uint64_t *front;		/* bits of all vertices, while pulling: the frontier */
	struct gtu_list fresh;		/* this rank's vertices of the newest level */
	struct gtu_list row;		/* the same of all ranks of its row */
	struct gtu_list found, received;
	struct gtu_part_edges reversed;	/* directed: the edges that enter this rank's rows */
	bool prepared;
	bool pulling, pulled;		/* the current level pulls; pulling has ended */
	uint64_t unreached_edges;	/* edges that leave unreached vertices */
};

static int push_visit(void *context, const struct gtu_alg_batch *batch)
{
	struct search *s = context;
	unsigned i;
	int rc = 0;

	for (i = 0; i < batch->n && !rc; i++)
		if (!gtu_bit(s->seen, batch->target[i])) {
			gtu_set_bit(s->seen, batch->target[i]);
			rc = gtu_list_push(&s->found, batch->target[i], s->k->x);
		}
	return rc;
}

static int pull_visit(void *context, const struct gtu_alg_batch *batch)
{
	struct search *s = context;
	unsigned i;
	int rc = 0;

	for (i = 0; i < batch->n && !rc; i++)
		if (gtu_bit(s->front, batch->target[i]) && !gtu_bit(s->reached, batch->source[i])) {
			gtu_set_bit(s->reached, batch->source[i]);
			rc = gtu_list_push(&s->found, s->k->part.row_first + batch->source[i], s->k->x);
		}
	return rc;
}

static bool is_reached(void *context, uint64_t row)
{
	const struct search *s = context;

	return gtu_bit(s->reached, row);
}

/* Give the vertices of s->received, which this rank owns, their level; the new ones are s->fresh. */
static int settle(struct search *s, uint64_t level)
{
	uint64_t i, v;
	int rc = 0;

	s->fresh.count = 0;
	for (i = 0; i < s->received.count && !rc; i++) {
		v = s->received.at[i];
		gtu_set_bit(s->seen, v);
		if (s->level[v - s->k->part.first] != GTU_UNREACHED)
			continue;
		s->level[v - s->k->part.first] = level;
		rc = gtu_list_push(&s->fresh, v, s->k->x);
	}
	return rc;
}

/* Wait for the exchange under way; add what arrived to s->received. */
static int receive(struct search *s, int rc)
{
	rc = gtu_outbox_finish(s->k->x, &s->k->box, rc);
	return rc ? rc : gtu_part_receive_sets(&s->k->part, &s->k->box, GTU_RECEIVERS, &s->received);
}

/* @edges: those of the frontier on all ranks, which therefore take as many pieces. */
static int push(struct search *s, uint64_t edges, int rc)
{
	struct gtu_ranked *k = s->k;
	const uint64_t pieces = 1 + edges / k->part.ranks / PIECE_EDGES;
	uint64_t i;

	s->received.count = 0;
	for (i = 0; i < pieces; i++) {
		const uint64_t first = s->row.count * i / pieces, end = s->row.count * (i + 1) / pieces;
		const struct gtu_list part = { .at = s->row.at + first, .count = end - first };

		gtu_phase(&k->a.phases, "traverse");
		s->found.count = 0;
		if (!rc) {
			gtu_ranked_take_rows(k, &part);
			rc = gtu_ranked_traverse(k, &k->edges, push_visit, s);
		}
		gtu_phase(&k->a.phases, "exchange");
		rc = receive(s, rc);
		if (!rc)
			rc = gtu_part_send_to_owners(&k->part, &k->box, &s->found);
		rc = gtu_outbox_start(k->x, &k->box, GTU_CARGO_VERTICES, rc);
	}
	return receive(s, rc);
}

/* s->front = the frontier's vertices of this column. */
static int spread_frontier(struct search *s, int rc)
{
	struct gtu_ranked *k = s->k;
	struct gtu_part *p = &k->part;
	uint64_t i;
	uint32_t rank;

	for (rank = 0; rank < p->rows && !rc; rank++)
		rc = gtu_part_send_set(p, &k->box, gtu_part_in_column(p, rank), k->x->ranks.rank, s->fresh.at,
				       s->fresh.count);
	rc = gtu_outbox_exchange(k->x, &k->box, GTU_CARGO_VERTICES, rc);
	s->received.count = 0;
	if (!rc)
		rc = gtu_part_receive_sets(p, &k->box, GTU_SENDERS, &s->received);
	if (rc)
		return rc;
	memset(s->front, 0, (p->n + 63) / 64 * 8);
	for (i = 0; i < s->received.count; i++) {
		gtu_set_bit(s->front, s->received.at[i]);
		gtu_set_bit(s->seen, s->received.at[i]);
	}
	return 0;
}

static int pull(struct search *s, int rc)
{
	struct gtu_ranked *k = s->k;
	uint64_t row;

	gtu_phase(&k->a.phases, "exchange");
	rc = spread_frontier(s, rc);
	gtu_phase(&k->a.phases, "pull");
	k->rows.count = 0;
	k->rows.all = false;
	for (row = 0; row < gtu_ranked_rows(k) && !rc; row++)
		if (!gtu_bit(s->reached, row))
			gtu_alg_push(&k->a, &k->rows, row);
	s->found.count = 0;
	if (!rc && k->rows.count)
		rc = gtu_ranked_traverse(k, &k->back, pull_visit, s);
	gtu_phase(&k->a.phases, "exchange");
	if (!rc)
		rc = gtu_part_send_to_owners(&k->part, &k->box, &s->found);
	rc = gtu_outbox_start(k->x, &k->box, GTU_CARGO_VERTICES, rc);
	s->received.count = 0;
	return receive(s, rc);
}

/* Decide by the rule of gtu_bfs() whether the next level pulls. */
static void choose_direction(struct search *s, uint64_t frontier, uint64_t edges)
{
	const struct gtu_algorithm_options *opt = s->k->a.opt;
	const uint64_t factor = opt->unit == GTU_WITH_PEG ? GTU_PULL_FACTOR_PEG :
				opt->unit == GTU_WITH_WEAVER ? GTU_PULL_FACTOR_WEAVER : GTU_PULL_FACTOR_NONE;
	const bool large = frontier >= s->k->part.n / GTU_PULL_SHARE;

	if (opt->direction != GTU_PUSH_OR_PULL) {
		s->pulling = opt->direction == GTU_PULL;
		return;
	}
	if (s->pulling) {
		s->pulling = large;
		s->pulled = !large;
	} else if (!s->pulled) {
		s->pulling = large && edges > s->unreached_edges / factor;
	}
}

static int prepare_pulling(struct search *s)
{
	struct gtu_ranked *k = s->k;
	const bool directed = k->head.flags & GTU_GRAPH_DIRECTED;
	uint64_t none = 0;
	int rc;

	if (s->prepared)
		return 0;
	rc = directed ? gtu_part_edges_begin(&k->part, &s->reversed, k->whole, GTU_PART_REVERSED, false) : 0;
	if (!rc)
		rc = gtu_ranked_edges_begin(k, &k->back, directed ? &s->reversed.graph : &k->local.graph, 4);
	k->back.enough = is_reached;
	s->prepared = true;
	return gtu_agree(k->x, rc, &none, 1);
}

static int search(struct search *s)
{
	struct gtu_ranked *k = s->k;
	const uint64_t source = k->a.opt->source;
	struct gtu_algorithm_stats *stats = k->a.stats;
	uint64_t i, sum[2];
	int rc = 0;

	s->unreached_edges = k->whole->m;
	for (i = 0; i < gtu_ranked_own(k); i++)
		s->level[i] = GTU_UNREACHED;
	if (source >= k->part.first && source < k->part.end)
		rc = gtu_list_push(&s->received, source, k->x);
	for (;;) {
		if (!rc)
			rc = settle(s, stats->iterations);
		/* count the frontier and its edges */
		sum[0] = s->fresh.count;
		sum[1] = 0;
		for (i = 0; i < s->fresh.count; i++)
			sum[1] += gtu_ranked_degree(k, s->fresh.at[i] - k->part.first);
		rc = gtu_agree(k->x, rc, sum, 2);
		if (rc || !sum[0])
			return rc;
		stats->vertices += s->fresh.count;
		s->unreached_edges -= sum[1];
		choose_direction(s, sum[0], sum[1]);
		rc = s->pulling ? prepare_pulling(s) : 0;
		rc = gtu_ranked_expand(k, &s->fresh, &s->row, rc);
		for (i = 0; i < s->row.count && !rc; i++)
			gtu_set_bit(s->reached, s->row.at[i] - k->part.row_first);
		if (s->pulling && !stats->pull_end)
			stats->pull_first = stats->iterations;
		rc = s->pulling ? pull(s, rc) : push(s, sum[1], rc);
		if (s->pulling)
			stats->pull_end = stats->iterations + 1;
		gtu_phases_iteration(&k->a.phases, k->a.opt, sum[0]);
	}
}

int gtu_ranked_bfs(struct gtu_ranked *k)
{
	struct search s = { .k = k, .level = k->result };
	uint64_t none = 0;
	int rc;

	rc = gtu_alg_check_vertex(&k->a, "source", k->a.opt->source);
	if (!rc)
		rc = gtu_alg_direction(&k->a);
	if (!rc)
		rc = gtu_ranked_alloc(k, &s.seen, k->part.n / 64 + 1, 8);
	if (!rc)
		rc = gtu_ranked_alloc(k, &s.front, k->part.n / 64 + 1, 8);
	if (!rc)
		rc = gtu_ranked_alloc(k, &s.reached, gtu_ranked_rows(k) / 64 + 1, 8);
	rc = gtu_agree(k->x, rc, &none, 1);
	if (!rc)
		rc = search(&s);
	rc = gtu_alg_edges_end(&k->a, &k->back, rc);
	gtu_part_edges_end(&s.reversed);
	free(s.seen);
	free(s.front);
	free(s.reached);
	free(s.fresh.at);
	free(s.row.at);
	free(s.found.at);
	free(s.received.at);
	return rc;
}
