// SPDX-License-Identifier: MIT
/*
 * PageRank over ranks, as in libruntime/algorithm/pagerank.c: a rank adds what its edges contribute to
 * every target, and sends the sums to the owners, who add those of all ranks in their order. Ranks push
 * whatever opt->direction says: every iteration traverses all edges.
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
	double damping;
	uint32_t iterations;
	double *rank;			/* of this rank's vertices */
	double *share;			/* of its rows: rank by number of edges */
	double *sum;			/* of all vertices; those of this column are used */
};

static int add_share(void *context, const struct gtu_alg_batch *batch)
{
	struct pagerank *s = context;
	unsigned i;

	for (i = 0; i < batch->n; i++)
		s->sum[batch->target[i]] += s->share[batch->source[i]];
	return 0;
}

/* The shares of this rank's rows; *dangling += the ranks of its vertices without edges. */
static int expand(struct pagerank *s, double *dangling)
{
	struct gtu_ranked *k = s->k;
	struct gtu_part *p = &k->part;
	double *own = s->share + (p->first - p->row_first);
	const void *values;
	uint64_t v, degree;
	uint32_t i, from;
	int rc = 0;

	for (v = 0; v < gtu_ranked_own(k); v++) {
		degree = gtu_ranked_degree(k, v);
		own[v] = degree ? s->rank[v] / (double)degree : 0;
		*dangling += degree ? 0 : s->rank[v];
	}
	if (p->cols == 1)
		return 0;
	for (i = 0; i < p->cols && !rc; i++)
		if (i != p->col)
			rc = gtu_part_send_array(p, &k->box, gtu_part_in_row(p, i), own, gtu_ranked_own(k));
	rc = gtu_outbox_exchange(k->x, &k->box, GTU_CARGO_VALUES, rc);
	for (i = 0; i < p->cols && !rc; i++) {
		from = gtu_part_in_row(p, i);
		if (i == p->col)
			continue;
		values = gtu_part_receive_array(p, &k->box, from, gtu_part_range(p, from));
		if (!values)
			return GTU_ERR_FAIL;
		memcpy(s->share + (p->cut[from] - p->row_first), values, gtu_part_range(p, from) * 8);
	}
	return rc;
}

/* Send the sums to the owners; s->sum of this rank's vertices = those of all ranks. */
static int fold(struct pagerank *s, int rc)
{
	struct gtu_ranked *k = s->k;
	struct gtu_part *p = &k->part;
	double *own = s->sum + p->first;
	const double *values;
	uint64_t v;
	uint32_t i, rank;

	for (i = 0; i < p->rows && !rc; i++) {
		rank = gtu_part_in_column(p, i);
		rc = gtu_part_send_array(p, &k->box, rank, s->sum + p->cut[rank], gtu_part_range(p, rank));
	}
	rc = gtu_outbox_exchange(k->x, &k->box, GTU_CARGO_VALUES, rc);
	if (!rc && gtu_ranked_own(k))
		memset(own, 0, gtu_ranked_own(k) * 8);
	for (i = 0; i < p->rows && !rc; i++) {
		values = gtu_part_receive_array(p, &k->box, gtu_part_in_column(p, i), gtu_ranked_own(k));
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
	const double n = (double)p->n;
	double rank, dangling = 0;
	uint64_t v, none = 0;
	uint32_t i;
	int rc;

	gtu_phase(&k->a.phases, "exchange");
	rc = expand(s, &dangling);
	gtu_phase(&k->a.phases, "traverse");
	for (i = 0; i < p->rows; i++)
		memset(s->sum + p->cut[gtu_part_in_column(p, i)], 0, gtu_part_range(p, gtu_part_in_column(p, i)) * 8);
	k->rows.all = true;
	k->rows.count = gtu_ranked_rows(k);
	if (!rc)
		rc = gtu_ranked_traverse(k, &k->edges, add_share, s);
	gtu_phase(&k->a.phases, "exchange");
	rc = gtu_agree(k->x, fold(s, rc), &none, 1);
	if (!rc)
		rc = gtu_reduce(k->x, GTU_SUM_F64, &dangling);
	gtu_phase(&k->a.phases, "update");
	*change = 0;
	for (v = 0; v < gtu_ranked_own(k) && !rc; v++) {
		rank = (1 - s->damping) / n + s->damping * (s->sum[p->first + v] + dangling / n);
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
	return 0;
}

int gtu_ranked_pagerank(struct gtu_ranked *k)
{
	struct pagerank s = { .k = k, .rank = k->result };
	double change;
	uint64_t v, none = 0;
	int rc;

	rc = settle(&s);
	if (!rc)
		rc = gtu_ranked_alloc(k, &s.share, gtu_ranked_rows(k), 8);
	if (!rc)
		rc = gtu_ranked_alloc(k, &s.sum, k->part.n, 8);
	rc = gtu_agree(k->x, rc, &none, 1);
	for (v = 0; v < gtu_ranked_own(k) && !rc; v++)
		s.rank[v] = 1 / (double)k->part.n;
	while (!rc && k->a.stats->iterations < s.iterations) {
		rc = iterate(&s, &change);
		if (rc)
			break;
		gtu_phases_iteration(&k->a.phases, k->a.opt, k->part.n);
		if (!(k->a.opt->epsilon > 0))
			continue;
		rc = gtu_reduce(k->x, GTU_MAX_F64, &change);
		if (change <= k->a.opt->epsilon)
			break;
	}
	k->a.stats->vertices = gtu_ranked_own(k);
	free(s.share);
	free(s.sum);
	return rc;
}
