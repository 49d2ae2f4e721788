// SPDX-License-Identifier: MIT
/*
 * Betweenness centrality over ranks (Brandes): a search from each source counts shortest paths level by
 * level; then dependencies are added up from the last level to the first. Values of targets go to their
 * owners on the way forth, and from their owners on the way back.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libruntime/support/distance.h"
#include "run.h"

#define UNVISITED UINT32_MAX

struct centrality {
	struct gtu_ranked *k;
	double *score;			/* of this rank's vertices, as the next three */
	uint32_t *level;
	double *paths, *share;
	uint32_t depth;			/* of the level that is being found */
	double *row_value;		/* of this rank's rows: paths; then sums of what the targets pass back */
	double *value;			/* of all vertices: paths found; then what a target passes back */
	struct gtu_list touched;	/* targets whose value is not 0 */
	struct gtu_list order;		/* this rank's vertices in the order of their levels */
	struct gtu_list begin;		/* start of each level in `order` */
};

static int add_paths(void *context, const struct gtu_alg_batch *batch)
{
	struct centrality *s = context;
	unsigned i;
	int rc = 0;

	for (i = 0; i < batch->n && !rc; i++) {
		double *value = &s->value[batch->target[i]];

		if (*value == 0)
			rc = gtu_list_push(&s->touched, batch->target[i], s->k->x);
		*value += s->row_value[batch->source[i]];
	}
	return rc;
}

static int take_shares(void *context, const struct gtu_alg_batch *batch)
{
	struct centrality *s = context;
	unsigned i;

	for (i = 0; i < batch->n; i++)
		s->row_value[batch->source[i]] += s->value[batch->target[i]];
	return 0;
}

static int take_row_value(void *context, uint64_t v, uint64_t bits)
{
	struct centrality *s = context;

	if (!gtu_part_has_row(&s->k->part, v))
		return gtu_part_bad_message(&s->k->part, gtu_part_owner(&s->k->part, v));
	s->row_value[v - s->k->part.row_first] = bits_f64(bits);
	gtu_alg_push(&s->k->a, &s->k->rows, v - s->k->part.row_first);
	return 0;
}

static int take_paths(void *context, uint64_t v, uint64_t bits)
{
	struct centrality *s = context;
	const uint64_t own = v - s->k->part.first;

	if (s->level[own] != UNVISITED && s->level[own] != s->depth)
		return 0;
	s->paths[own] += bits_f64(bits);
	if (s->level[own] == s->depth)
		return 0;
	s->level[own] = s->depth;
	return gtu_list_push(&s->order, v, s->k->x);
}

static int take_value(void *context, uint64_t v, uint64_t bits)
{
	struct centrality *s = context;

	s->value[v] = bits_f64(bits);
	return gtu_list_push(&s->touched, v, s->k->x);
}

static int take_share(void *context, uint64_t v, uint64_t bits)
{
	struct centrality *s = context;
	const uint64_t own = v - s->k->part.first;

	s->share[own] += s->paths[own] * bits_f64(bits);
	return 0;
}

/* The vertices of level @l that this rank owns. */
static uint64_t level_of(const struct centrality *s, uint64_t l, const uint64_t **v)
{
	const uint64_t first = s->begin.at[l], end = l + 1 < s->begin.count ? s->begin.at[l + 1] : s->order.count;

	*v = s->order.at + first;
	return end - first;
}

/* k->rows = the rows of level @l, with the paths that lead to them. */
static int expand(struct centrality *s, uint64_t l, int rc)
{
	struct gtu_ranked *k = s->k;
	struct gtu_part *p = &k->part;
	const uint64_t *v;
	uint64_t i, count = rc ? 0 : level_of(s, l, &v);
	uint32_t to;

	k->rows.count = 0;
	k->rows.all = false;
	for (i = 0; i < count && !rc; i++) {
		if (p->cols == 1)
			rc = take_row_value(s, v[i], f64_bits(s->paths[v[i] - p->first]));
		for (to = 0; p->cols > 1 && to < p->cols && !rc; to++)
			rc = gtu_part_send_pair(p, &k->box, gtu_part_in_row(p, to), k->x->ranks.rank, v[i],
						f64_bits(s->paths[v[i] - p->first]));
	}
	if (p->cols == 1)
		return rc;
	rc = gtu_outbox_exchange(k->x, &k->box, GTU_CARGO_VALUES, rc);
	return rc ? rc : gtu_part_receive_pairs(p, &k->box, GTU_SENDERS, take_row_value, s);
}

static void clear_values(struct centrality *s)
{
	uint64_t i;

	for (i = 0; i < s->touched.count; i++)
		s->value[s->touched.at[i]] = 0;
	s->touched.count = 0;
}

static int forth(struct centrality *s, uint64_t source)
{
	struct gtu_ranked *k = s->k;
	struct gtu_part *p = &k->part;
	uint64_t i, v, newest, end, sum[2];
	uint32_t owner;
	int rc = 0;

	gtu_phase(&k->a.phases, "count");
	memset(s->level, 0xff, gtu_ranked_own(k) * sizeof(*s->level));
	memset(s->paths, 0, gtu_ranked_own(k) * sizeof(*s->paths));
	s->order.count = s->begin.count = 0;
	s->depth = 0;
	if (source >= p->first && source < p->end)
		rc = take_paths(s, source, f64_bits(1));
	for (newest = 0;; newest = end) {
		end = s->order.count;
		sum[0] = end - newest;
		sum[1] = 0;
		for (i = newest; i < end; i++)
			sum[1] += isinf(s->paths[s->order.at[i] - p->first]);
		if (!rc)
			rc = gtu_list_push(&s->begin, newest, k->x);
		rc = gtu_agree(k->x, rc, sum, 2);
		if (rc)
			return rc;
		if (sum[1])
			return gtu_fail(k->a.err, GTU_ERR_UNSUPPORTED,
					"the number of shortest paths from vertex %llu exceeds the range of a double "
					"(1.8e308), the limit over several ranks; use one", (unsigned long long)gtu_graph_id(&k->head, source));
		if (!sum[0])
			return 0;
		rc = expand(s, s->begin.count - 1, 0);
		if (!rc)
			rc = gtu_ranked_traverse(k, &k->edges, add_paths, s);
		for (i = 0; i < s->touched.count && !rc; i++) {
			v = s->touched.at[i];
			owner = gtu_part_owner(p, v);
			rc = gtu_part_send_pair(p, &k->box, owner, owner, v, f64_bits(s->value[v]));
		}
		clear_values(s);
		rc = gtu_outbox_exchange(k->x, &k->box, GTU_CARGO_VALUES, rc);
		s->depth++;
		if (!rc)
			rc = gtu_part_receive_pairs(p, &k->box, GTU_RECEIVERS, take_paths, s);
	}
}

/* Every rank of this column learns what the vertices of level @l pass back along an edge. */
static int spread_values(struct centrality *s, uint64_t l, int rc)
{
	struct gtu_ranked *k = s->k;
	struct gtu_part *p = &k->part;
	const uint64_t *v;
	uint64_t i, own, count = rc ? 0 : level_of(s, l, &v);
	uint32_t to;

	for (i = 0; i < count && !rc; i++) {
		own = v[i] - p->first;
		for (to = 0; to < p->rows && !rc; to++)
			rc = gtu_part_send_pair(p, &k->box, gtu_part_in_column(p, to), k->x->ranks.rank, v[i],
						f64_bits((1 + s->share[own]) / s->paths[own]));
	}
	rc = gtu_outbox_exchange(k->x, &k->box, GTU_CARGO_VALUES, rc);
	return rc ? rc : gtu_part_receive_pairs(p, &k->box, GTU_SENDERS, take_value, s);
}

static int back(struct centrality *s, uint64_t source)
{
	struct gtu_ranked *k = s->k;
	struct gtu_part *p = &k->part;
	uint64_t i, l, v;
	uint32_t owner;
	int rc = 0;

	gtu_phase(&k->a.phases, "depend");
	memset(s->share, 0, gtu_ranked_own(k) * sizeof(*s->share));
	/* the last level of the list is empty on all ranks, and no edge leads beyond the one before it */
	for (l = s->begin.count - 1; l-- > 1;) {
		rc = spread_values(s, l, rc);
		rc = expand(s, l - 1, rc);
		for (i = 0; i < k->rows.count && !rc; i++)
			s->row_value[gtu_alg_vertex(&k->a, &k->rows, i)] = 0;
		if (!rc)
			rc = gtu_ranked_traverse(k, &k->edges, take_shares, s);
		clear_values(s);
		for (i = 0; i < k->rows.count && !rc; i++) {
			v = p->row_first + gtu_alg_vertex(&k->a, &k->rows, i);
			owner = gtu_part_owner(p, v);
			rc = gtu_part_send_pair(p, &k->box, owner, owner, v, f64_bits(s->row_value[v - p->row_first]));
		}
		rc = gtu_outbox_exchange(k->x, &k->box, GTU_CARGO_VALUES, rc);
		if (!rc)
			rc = gtu_part_receive_pairs(p, &k->box, GTU_RECEIVERS, take_share, s);
	}
	for (i = 0; i < s->order.count && !rc; i++) {
		v = s->order.at[i];
		if (v != source)
			s->score[v - p->first] += s->share[v - p->first];
	}
	return rc;
}

static int from_source(struct centrality *s, uint64_t source)
{
	struct gtu_ranked *k = s->k;
	uint64_t none = 0;
	int rc = gtu_alg_check_vertex(&k->a, "source", source);

	if (!rc)
		rc = forth(s, source);
	if (!rc)
		rc = back(s, source);
	if (!rc) {
		k->a.stats->iterations += s->begin.count - 1;
		k->a.stats->vertices += s->order.count;
	}
	return gtu_agree(k->x, rc, &none, 1);
}

int gtu_ranked_betweenness(struct gtu_ranked *k)
{
	const struct gtu_algorithm_options *opt = k->a.opt;
	const uint64_t own = gtu_ranked_own(k), count = opt->sources ? opt->source_count : k->part.n;
	struct centrality s = { .k = k, .score = k->result };
	uint64_t i, none = 0;
	int rc = 0;

	if (opt->source_count && !opt->sources)
		rc = gtu_fail(k->a.err, GTU_ERR_USAGE, "source_count is %llu, but sources is NULL: pass a list",
			      (unsigned long long)opt->source_count);
	if (!rc)
		rc = gtu_ranked_alloc(k, &s.level, own, sizeof(*s.level));
	if (!rc)
		rc = gtu_ranked_alloc(k, &s.paths, own, 8);
	if (!rc)
		rc = gtu_ranked_alloc(k, &s.share, own, 8);
	if (!rc)
		rc = gtu_ranked_alloc(k, &s.row_value, gtu_ranked_rows(k), 8);
	if (!rc)
		rc = gtu_ranked_alloc(k, &s.value, k->part.n, 8);
	rc = gtu_agree(k->x, rc, &none, 1);
	if (!rc)
		memset(s.score, 0, own * 8);
	for (i = 0; i < count && !rc; i++)
		rc = from_source(&s, opt->sources ? opt->sources[i] : i);
	free(s.level);
	free(s.paths);
	free(s.share);
	free(s.row_value);
	free(s.value);
	free(s.touched.at);
	free(s.order.at);
	free(s.begin.at);
	return rc;
}
