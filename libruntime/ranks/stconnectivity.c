// SPDX-License-Identifier: MIT
/*
 * ST-connectivity over ranks, always 1-D, as in libruntime/algorithm/stconnectivity.c: the search with the smaller frontier
 * takes a level, from the target only if edges are stored in both directions. A rank sends each target to its owner
 * once. The first level that reaches a vertex of the other search ends both: all paths that are shorter have been seen.
 */
#include <stdlib.h>

#include "run.h"

struct side {
	uint64_t *seen;			/* bits of all vertices: sent to their owners */
	uint64_t *reached;		/* bits of this rank's */
	struct gtu_list frontier;	/* this rank's */
	uint64_t count, depth;		/* of all ranks' frontiers; edges to it */
};

struct stcon {
	struct gtu_ranked *k;
	struct side side[2];		/* from the source, from the target */
	struct side *active, *passive;	/* the search that takes a level, and the other one */
	struct gtu_list found, received;
	uint64_t best;
};

static int visit(void *context, const struct gtu_alg_batch *batch)
{
	struct stcon *s = context;
	unsigned i;
	int rc = 0;

	for (i = 0; i < batch->n && !rc; i++) {
		if (gtu_bit(s->active->seen, batch->target[i]))
			continue;
		gtu_set_bit(s->active->seen, batch->target[i]);
		rc = gtu_list_push(&s->found, batch->target[i], s->k->x);
	}
	return rc;
}

static int begin(struct stcon *s, struct side *side, uint64_t vertex)
{
	struct gtu_ranked *k = s->k;
	int rc = gtu_ranked_alloc(k, &side->seen, k->part.n / 64 + 1, 8);

	if (!rc)
		rc = gtu_ranked_alloc(k, &side->reached, gtu_ranked_own(k) / 64 + 1, 8);
	side->count = 1;
	if (rc || vertex < k->part.first || vertex >= k->part.end)
		return rc;
	gtu_set_bit(side->reached, vertex - k->part.first);
	k->a.stats->vertices++;
	return gtu_list_push(&side->frontier, vertex, k->x);
}

/* The received vertices that are new become the frontier; *met: those that the other search has reached. */
static int settle(struct stcon *s, uint64_t *met)
{
	uint64_t i, v;
	int rc = 0;

	for (i = 0; i < s->received.count && !rc; i++) {
		v = s->received.at[i] - s->k->part.first;
		if (gtu_bit(s->active->reached, v))
			continue;
		gtu_set_bit(s->active->reached, v);
		*met += gtu_bit(s->passive->reached, v);
		rc = gtu_list_push(&s->active->frontier, s->received.at[i], s->k->x);
	}
	return rc;
}

static int step(struct stcon *s)
{
	struct gtu_ranked *k = s->k;
	struct side *side = s->active;
	uint64_t sum[2] = { 0 };
	int rc;

	gtu_phase(&k->a.phases, "traverse");
	s->found.count = s->received.count = 0;
	gtu_ranked_take_rows(k, &side->frontier);
	rc = gtu_ranked_traverse(k, &k->edges, visit, s);
	gtu_phase(&k->a.phases, "exchange");
	if (!rc)
		rc = gtu_part_send_to_owners(&k->part, &k->box, &s->found);
	rc = gtu_outbox_exchange(k->x, &k->box, GTU_CARGO_VERTICES, rc);
	if (!rc)
		rc = gtu_part_receive_sets(&k->part, &k->box, GTU_RECEIVERS, &s->received);
	side->frontier.count = 0;
	if (!rc)
		rc = settle(s, &sum[1]);
	sum[0] = side->frontier.count;
	rc = gtu_agree(k->x, rc, sum, 2);
	gtu_phases_iteration(&k->a.phases, k->a.opt, side->count);
	k->a.stats->vertices += side->frontier.count;
	side->count = sum[0];
	side->depth++;
	if (!rc && sum[1])
		s->best = s->side[0].depth + s->side[1].depth;
	return rc;
}

int gtu_ranked_stcon(struct gtu_ranked *k)
{
	struct stcon s = { .k = k, .best = GTU_UNREACHED };
	const bool both = !(k->head.flags & GTU_GRAPH_DIRECTED);
	struct side *const from = &s.side[0], *const to = &s.side[1];
	uint64_t none = 0;
	int rc;

	rc = gtu_alg_check_vertex(&k->a, "source", k->a.opt->source);
	if (!rc)
		rc = gtu_alg_check_vertex(&k->a, "target", k->a.opt->target);
	if (!rc)
		rc = begin(&s, from, k->a.opt->source);
	if (!rc)
		rc = begin(&s, to, k->a.opt->target);
	rc = gtu_agree(k->x, rc, &none, 1);
	if (k->a.opt->source == k->a.opt->target)
		s.best = 0;
	while (!rc && s.best == GTU_UNREACHED && from->count && to->count) {
		s.active = both && to->count < from->count ? to : from;
		s.passive = s.active == from ? to : from;
		rc = step(&s);
	}
	if (!rc)
		*(uint64_t *)k->result = s.best;
	free(from->seen);
	free(from->reached);
	free(from->frontier.at);
	free(to->seen);
	free(to->reached);
	free(to->frontier.at);
	free(s.found.at);
	free(s.received.at);
	return rc;
}
