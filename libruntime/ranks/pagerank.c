// SPDX-License-Identifier: MIT
/*
 * PageRank over ranks, as in libruntime/algorithm/pagerank.c. Pushing: a rank adds the shares of its rows
 * to their targets; owners send shares within the row of the grid and get sums from the column. Pulling: a
 * rank adds the shares of the targets of its rows' edges, reversed if they are directed, to the rows, which it
 * alone writes; owners send shares within the column and get sums from the row. An owner adds the sums in
 * the order of ranks. Every iteration traverses all edges.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"

#define DAMPING			0.85
#define ITERATIONS		20
#define ITERATIONS_EPSILON	1000

struct pagerank {
	struct gtu_ranked *k;
	bool pull;
	double damping;
	uint32_t iterations;
	double *rank;			/* of this rank's vertices */
	/* Of vertices from `*_first` on: rank by number of edges, and what their neighbours contribute. */
	double *share, *sum;
	uint64_t share_first, sum_first;
	struct gtu_part_edges reversed;	/* pulling in a directed graph */
};

static int push_share(void *context, const struct gtu_alg_batch *batch)
{
	struct pagerank *s = context;
	unsigned i;

	for (i = 0; i < batch->n; i++)
		s->sum[batch->target[i]] += s->share[batch->source[i]];
	return 0;
}

static int pull_share(void *context, const struct gtu_alg_batch *batch)
{
	struct pagerank *s = context;
	unsigned i;

	for (i = 0; i < batch->n; i++)
		s->sum[batch->source[i]] += s->share[batch->target[i]];
	return 0;
}

/* The ranks of this rank's row of the grid, or of its column. */
struct line {
	bool row;
	uint32_t count;
};

static struct line line_of(const struct gtu_part *p, bool row)
{
	return (struct line){ row, row ? p->cols : p->rows };
}

static uint32_t rank_in(const struct gtu_part *p, const struct line *l, uint32_t i)
{
	return l->row ? gtu_part_in_row(p, i) : gtu_part_in_column(p, i);
}

/* Send this rank's shares to those that have edges for them; *dangling += the ranks of its vertices without edges. */
static int expand(struct pagerank *s, double *dangling)
{
	struct gtu_ranked *k = s->k;
	struct gtu_part *p = &k->part;
	const struct line l = line_of(p, !s->pull);
	double *own = s->share + (p->first - s->share_first);
	const void *values;
	uint64_t v, degree;
	uint32_t i, from;
	int rc = 0;

	for (v = 0; v < gtu_ranked_own(k); v++) {
		degree = gtu_ranked_degree(k, v);
		own[v] = degree ? s->rank[v] / (double)degree : 0;
		*dangling += degree ? 0 : s->rank[v];
	}
	if (l.count == 1)
		return 0;
	for (i = 0; i < l.count && !rc; i++)
		if (rank_in(p, &l, i) != k->x->ranks.rank)
			rc = gtu_part_send_array(p, &k->box, rank_in(p, &l, i), own, gtu_ranked_own(k));
	rc = gtu_outbox_exchange(k->x, &k->box, GTU_CARGO_VALUES, rc);
	for (i = 0; i < l.count && !rc; i++) {
		from = rank_in(p, &l, i);
		if (from == k->x->ranks.rank)
			continue;
		values = gtu_part_receive_array(p, &k->box, from, gtu_part_range(p, from));
		if (!values)
			return GTU_ERR_FAIL;
		memcpy(s->share + (p->cut[from] - s->share_first), values, gtu_part_range(p, from) * 8);
	}
	return rc;
}

/* Send the sums to the owners; s->sum of this rank's vertices = those of all ranks. */
static int fold(struct pagerank *s, int rc)
{
	struct gtu_ranked *k = s->k;
	struct gtu_part *p = &k->part;
	const struct line l = line_of(p, s->pull);
	double *own = s->sum + (p->first - s->sum_first);
	const double *values;
	uint64_t v;
	uint32_t i, rank;

	if (l.count == 1)
		return rc;
	for (i = 0; i < l.count && !rc; i++) {
		rank = rank_in(p, &l, i);
		rc = gtu_part_send_array(p, &k->box, rank, s->sum + (p->cut[rank] - s->sum_first), gtu_part_range(p, rank));
	}
	rc = gtu_outbox_exchange(k->x, &k->box, GTU_CARGO_VALUES, rc);
	if (!rc && gtu_ranked_own(k))
		memset(own, 0, gtu_ranked_own(k) * 8);
	for (i = 0; i < l.count && !rc; i++) {
		values = gtu_part_receive_array(p, &k->box, rank_in(p, &l, i), gtu_ranked_own(k));
		if (!values)
			return GTU_ERR_FAIL;
		for (v = 0; v < gtu_ranked_own(k); v++)
			own[v] += values[v];
	}
	return rc;
}

/* One iteration; *change: the largest change of a rank on this rank. */
static int iterate(struct pagerank *s, double *change)
{
	struct gtu_ranked *k = s->k;
	struct gtu_part *p = &k->part;
	const struct line l = line_of(p, s->pull);
	const double n = (double)p->n;
	double rank, dangling = 0;
	uint64_t v, none = 0;
	uint32_t i, of;
	int rc;

	gtu_phase(&k->a.phases, "exchange");
	rc = expand(s, &dangling);
	gtu_phase(&k->a.phases, s->pull ? "pull" : "traverse");
	for (i = 0; i < l.count; i++) {
		of = rank_in(p, &l, i);
		memset(s->sum + (p->cut[of] - s->sum_first), 0, gtu_part_range(p, of) * 8);
	}
	gtu_ranked_take_all(k);
	if (!rc)
		rc = gtu_ranked_traverse(k, s->reversed.row ? &k->back : &k->edges, s->pull ? pull_share : push_share, s);
	gtu_phase(&k->a.phases, "exchange");
	rc = gtu_agree(k->x, fold(s, rc), &none, 1);
	if (!rc)
		rc = gtu_reduce(k->x, GTU_SUM_F64, &dangling);
	gtu_phase(&k->a.phases, "update");
	*change = 0;
	for (v = 0; v < gtu_ranked_own(k) && !rc; v++) {
		rank = (1 - s->damping) / n + s->damping * (s->sum[p->first - s->sum_first + v] + dangling / n);
		*change = fmax(*change, fabs(rank - s->rank[v]));
		s->rank[v] = rank;
	}
	return rc;
}

static int settle(struct pagerank *s)
{
	const struct gtu_algorithm_options *opt = s->k->a.opt;

	if (opt->float_sums)
		return gtu_fail(s->k->a.err, GTU_ERR_UNSUPPORTED, "sums of 32-bit floats are not supported over several "
				"ranks");
	s->damping = opt->damping == 0 ? DAMPING : opt->damping;
	if (!(s->damping > 0 && s->damping < 1))
		return gtu_fail(s->k->a.err, GTU_ERR_USAGE, "a damping factor of %g is out of range: it must be between 0 "
				"and 1", s->damping);
	if (!(opt->epsilon >= 0))
		return gtu_fail(s->k->a.err, GTU_ERR_USAGE, "an epsilon of %g is out of range: it must be 0 or more",
				opt->epsilon);
	s->iterations = opt->iterations ? opt->iterations : opt->epsilon > 0 ? ITERATIONS_EPSILON : ITERATIONS;
	/* edges that are stored in both directions need no other ones */
	s->pull = opt->direction == GTU_PULL ||
		  (opt->direction == GTU_PUSH_OR_PULL && !(s->k->head.flags & GTU_GRAPH_DIRECTED));
	s->share_first = s->pull ? 0 : s->k->part.row_first;
	s->sum_first = s->pull ? s->k->part.row_first : 0;
	return gtu_alg_direction(&s->k->a);
}

static int reverse(struct pagerank *s)
{
	struct gtu_ranked *k = s->k;
	int rc = gtu_part_edges_begin(&k->part, &s->reversed, k->whole, GTU_PART_REVERSED, false);

	return rc ? rc : gtu_ranked_edges_begin(k, &k->back, &s->reversed.graph, 8);
}

int gtu_ranked_pagerank(struct gtu_ranked *k)
{
	struct pagerank s = { .k = k, .rank = k->result };
	double change;
	uint64_t v, none = 0;
	int rc;

	rc = settle(&s);
	if (!rc)
		rc = gtu_ranked_alloc(k, &s.share, s.pull ? k->part.n : gtu_ranked_rows(k), 8);
	if (!rc)
		rc = gtu_ranked_alloc(k, &s.sum, s.pull ? gtu_ranked_rows(k) : k->part.n, 8);
	rc = gtu_agree(k->x, rc, &none, 1);
	if (!rc && s.pull && k->head.flags & GTU_GRAPH_DIRECTED)
		rc = gtu_agree(k->x, reverse(&s), &none, 1);
	for (v = 0; v < gtu_ranked_own(k) && !rc; v++)
		s.rank[v] = 1 / (double)k->part.n;
	while (!rc && k->a.stats->iterations < s.iterations) {
		rc = iterate(&s, &change);
		if (rc)
			break;
		gtu_phases_iteration(&k->a.phases, k->a.opt, k->part.n);
		if (s.pull)
			k->a.stats->pull_end = k->a.stats->iterations;
		if (!(k->a.opt->epsilon > 0))
			continue;
		rc = gtu_reduce(k->x, GTU_MAX_F64, &change);
		if (change <= k->a.opt->epsilon)
			break;
	}
	k->a.stats->vertices = gtu_ranked_own(k);
	rc = gtu_alg_edges_end(&k->a, &k->back, rc);
	gtu_part_edges_end(&s.reversed);
	free(s.share);
	free(s.sum);
	return rc;
}
