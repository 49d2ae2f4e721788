// SPDX-License-Identifier: MIT
/*
 * K-core decomposition over ranks: peels the vertices with the fewest neighbours, level by level. A rank
 * counts the peeled neighbours of every target, and sends the counts to the owners.
 */
#include <stdlib.h>

#include "run.h"

struct cores {
	struct gtu_ranked *k;
	uint64_t level;
	uint64_t *core;			/* of this rank's vertices: neighbours left; then the core number */
	uint64_t *peeled;		/* bits of them */
	uint64_t *lost;			/* of all vertices: neighbours peeled in this round */
	uint64_t *degree;		/* of this rank's rows: neighbours on this rank, without the vertex itself */
	struct gtu_list touched;	/* targets that lost neighbours */
	struct gtu_list now, next, row;	/* vertices to peel; those of this rank's row */
};

static int count_lost(void *context, const struct gtu_alg_batch *batch)
{
	struct cores *s = context;
	unsigned i;
	int rc = 0;

	for (i = 0; i < batch->n && !rc; i++) {
		if (s->k->part.row_first + batch->source[i] == batch->target[i])
			continue;
		if (!s->lost[batch->target[i]]++)
			rc = gtu_list_push(&s->touched, batch->target[i], s->k->x);
	}
	return rc;
}

static int count_neighbours(void *context, const struct gtu_alg_batch *batch)
{
	struct cores *s = context;
	unsigned i;

	for (i = 0; i < batch->n; i++)
		s->degree[batch->source[i]] += s->k->part.row_first + batch->source[i] != batch->target[i];
	return 0;
}

static int add_degree(void *context, uint64_t v, uint64_t degree)
{
	struct cores *s = context;

	s->core[v - s->k->part.first] += degree;
	return 0;
}

static int lose(void *context, uint64_t v, uint64_t count)
{
	struct cores *s = context;
	uint64_t *core = &s->core[v - s->k->part.first];

	if (gtu_bit(s->peeled, v - s->k->part.first) || *core <= s->level)
		return 0;
	*core = *core - s->level > count ? *core - count : s->level;
	return *core == s->level ? gtu_list_push(&s->next, v, s->k->x) : 0;
}

static int find_degrees(struct cores *s)
{
	struct gtu_ranked *k = s->k;
	struct gtu_part *p = &k->part;
	uint64_t row, v;
	uint32_t owner;
	int rc = 0;

	gtu_phase(&k->a.phases, "degrees");
	gtu_ranked_take_all(k);
	if (k->rows.count)
		rc = gtu_ranked_traverse(k, &k->edges, count_neighbours, s);
	for (row = 0; row < gtu_ranked_rows(k) && !rc; row++) {
		v = p->row_first + row;
		owner = gtu_part_owner(p, v);
		if (s->degree[row])
			rc = gtu_part_send_pair(p, &k->box, owner, owner, v, s->degree[row]);
	}
	rc = gtu_outbox_exchange(k->x, &k->box, GTU_CARGO_VALUES, rc);
	return rc ? rc : gtu_part_receive_pairs(p, &k->box, GTU_RECEIVERS, add_degree, s);
}

/* s->now = this rank's vertices with the fewest neighbours of all ranks, s->level; *left: vertices of all ranks. */
static int choose(struct cores *s, uint64_t *left, int rc)
{
	struct gtu_ranked *k = s->k;
	uint64_t v;

	*left = 0;
	s->level = UINT64_MAX;
	for (v = 0; v < gtu_ranked_own(k); v++)
		if (!gtu_bit(s->peeled, v)) {
			++*left;
			s->level = s->core[v] < s->level ? s->core[v] : s->level;
		}
	rc = gtu_agree(k->x, rc, left, 1);
	if (rc || !*left)
		return rc;
	rc = gtu_reduce(k->x, GTU_MIN_U64, &s->level);
	s->now.count = 0;
	for (v = 0; v < gtu_ranked_own(k) && !rc; v++)
		if (!gtu_bit(s->peeled, v) && s->core[v] == s->level)
			rc = gtu_list_push(&s->now, k->part.first + v, k->x);
	return rc;
}

static int peel(struct cores *s, int rc)
{
	struct gtu_ranked *k = s->k;
	struct gtu_list swap;
	uint64_t i, v, sum;
	uint32_t owner;

	for (;;) {
		sum = s->now.count;
		rc = gtu_agree(k->x, rc, &sum, 1);
		if (rc || !sum)
			return rc;
		for (i = 0; i < s->now.count; i++)
			gtu_set_bit(s->peeled, s->now.at[i] - k->part.first);
		rc = gtu_ranked_expand(k, &s->now, &s->row, 0);
		s->touched.count = 0;
		if (!rc) {
			gtu_ranked_take_rows(k, &s->row);
			rc = gtu_ranked_traverse(k, &k->edges, count_lost, s);
		}
		for (i = 0; i < s->touched.count && !rc; i++) {
			v = s->touched.at[i];
			owner = gtu_part_owner(&k->part, v);
			rc = gtu_part_send_pair(&k->part, &k->box, owner, owner, v, s->lost[v]);
			s->lost[v] = 0;
		}
		rc = gtu_outbox_exchange(k->x, &k->box, GTU_CARGO_VALUES, rc);
		s->next.count = 0;
		if (!rc)
			rc = gtu_part_receive_pairs(&k->part, &k->box, GTU_RECEIVERS, lose, s);
		gtu_phases_iteration(&k->a.phases, k->a.opt, sum);
		swap = s->now;
		s->now = s->next;
		s->next = swap;
	}
}

int gtu_ranked_cores(struct gtu_ranked *k)
{
	struct cores s = { .k = k, .core = k->result };
	uint64_t v, left = 1;
	int rc;

	rc = gtu_ranked_alloc(k, &s.peeled, gtu_ranked_own(k) / 64 + 1, 8);
	if (!rc)
		rc = gtu_ranked_alloc(k, &s.lost, k->part.n, 8);
	if (!rc)
		rc = gtu_ranked_alloc(k, &s.degree, gtu_ranked_rows(k), 8);
	rc = gtu_agree(k->x, rc, &left, 1);
	for (v = 0; v < gtu_ranked_own(k) && !rc; v++)
		s.core[v] = 0;
	if (!rc)
		rc = find_degrees(&s);
	while (!k->x->ended) {
		gtu_phase(&k->a.phases, "choose");
		rc = choose(&s, &left, rc);
		if (k->x->ended || !left)
			break;
		gtu_phase(&k->a.phases, "peel");
		rc = peel(&s, rc);
	}
	k->a.stats->vertices = gtu_ranked_own(k);
	free(s.peeled);
	free(s.lost);
	free(s.degree);
	free(s.touched.at);
	free(s.now.at);
	free(s.next.at);
	free(s.row.at);
	return rc;
}
