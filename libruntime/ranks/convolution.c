// SPDX-License-Identifier: MIT
/*
 * A graph convolution over ranks, always 1-D, as in libruntime/algorithm/convolution.c. Every rank makes the initial
 * features of all vertices, so SpMM exchanges nothing; before GraphSum the owners send all other ranks the sums of
 * their vertices, and 1 / sqrt(degree). Memory for the features of all vertices holds both, one after the other.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libruntime/support/features.h"
#include "libruntime/support/graph_access.h"
#include "run.h"

struct convolution {
	struct gtu_ranked *k;
	uint32_t features;
	double *from;			/* of all vertices */
	double *to;			/* of this rank's */
	double *root;			/* of all vertices: 1 / sqrt(degree) */
};

static inline void add(struct convolution *c, uint64_t row, uint64_t u, double factor)
{
	const double *from = c->from + u * c->features;
	double *to = c->to + row * c->features;
	uint32_t f;

	for (f = 0; f < c->features; f++)
		to[f] += factor * from[f];
}

static int multiply(void *context, const struct gtu_alg_batch *batch)
{
	struct convolution *c = context;
	const struct gtu_graph *g = &c->k->local.graph;
	double weight;
	unsigned i;

	for (i = 0; i < batch->n; i++) {
		weight = gtu_weight_number(g->weight_type, batch->weight, i);
		if (gtu_unlikely(!isfinite(weight)))
			return gtu_fail(c->k->a.err, GTU_ERR_INPUT, "%s: an edge of vertex %llu has the weight %g", g->name,
					(unsigned long long)gtu_graph_id(c->k->whole, c->k->part.first + batch->source[i]), weight);
		add(c, batch->source[i], batch->target[i], weight);
	}
	return 0;
}

static int aggregate(void *context, const struct gtu_alg_batch *batch)
{
	struct convolution *c = context;
	const double *own = c->root + c->k->part.first;
	unsigned i;

	for (i = 0; i < batch->n; i++)
		add(c, batch->source[i], batch->target[i], own[batch->source[i]] * c->root[batch->target[i]]);
	return 0;
}

/* Send the sums and roots of this rank's vertices to all ranks. */
static int gather(struct convolution *c, int rc)
{
	struct gtu_ranked *k = c->k;
	struct gtu_part *p = &k->part;
	const uint64_t own = gtu_ranked_own(k), bytes = c->features * 8ull;
	const double *values;
	uint64_t count;
	uint32_t r;

	for (r = 0; r < p->ranks && !rc; r++) {
		if (r == k->x->ranks.rank)
			continue;
		rc = gtu_part_send_array(p, &k->box, r, c->to, own * c->features);
		if (!rc)
			rc = gtu_part_send_array(p, &k->box, r, c->root + p->first, own);
	}
	rc = gtu_outbox_exchange(k->x, &k->box, GTU_CARGO_VALUES, rc);
	for (r = 0; r < p->ranks && !rc; r++) {
		count = gtu_part_range(p, r);
		if (r == k->x->ranks.rank)
			continue;
		values = gtu_part_receive_array(p, &k->box, r, count * (c->features + 1));
		if (!values)
			return GTU_ERR_FAIL;
		memcpy(c->from + p->cut[r] * c->features, values, count * bytes);
		memcpy(c->root + p->cut[r], values + count * c->features, count * 8);
	}
	if (own && !rc)
		memcpy(c->from + p->first * c->features, c->to, own * bytes);
	return rc;
}

static void initialise(struct convolution *c)
{
	struct gtu_ranked *k = c->k;
	uint64_t v, degree;
	uint32_t f;

	for (v = 0; v < k->part.n; v++) {
		gtu_beat_at(k->x, v);
		for (f = 0; f < c->features; f++)
			c->from[v * c->features + f] = gtu_gcn_feature(k->a.opt->seed, v, f);
	}
	for (v = 0; v < gtu_ranked_own(k); v++) {
		degree = gtu_ranked_degree(k, v);
		c->root[k->part.first + v] = 1 / sqrt(degree > 1 ? (double)degree : 1);
	}
}

static int convolve(struct convolution *c)
{
	struct gtu_ranked *k = c->k;
	const uint64_t own = gtu_ranked_own(k) * c->features;
	double *const out = k->result;
	int rc;

	gtu_phase(&k->a.phases, "initialise");
	initialise(c);
	gtu_phase(&k->a.phases, "spmm");
	gtu_ranked_take_all(k);
	rc = gtu_ranked_traverse(k, &k->edges, multiply, c);
	gtu_phase(&k->a.phases, "exchange");
	rc = gather(c, rc);
	gtu_phase(&k->a.phases, "graphsum");
	k->edges.edge_indices = k->edges.weights = false;
	c->to = out;
	if (own)
		memset(out, 0, own * 8);
	if (!rc)
		rc = gtu_ranked_traverse(k, &k->edges, aggregate, c);
	return rc ? rc : gtu_check_features(k->whole, out, k->part.first, gtu_ranked_own(k), c->features, k->a.err);
}

int gtu_ranked_convolution(struct gtu_ranked *k)
{
	struct convolution c = { .k = k, .features = gtu_features(k->a.opt) };
	double *sums = NULL;
	uint64_t none = 0;
	int rc = gtu_check_feature_count(k->whole, c.features, k->a.err);

	if (!rc)
		rc = gtu_ranked_alloc(k, &c.from, k->part.n * c.features, 8);
	if (!rc)
		rc = gtu_ranked_alloc(k, &sums, gtu_ranked_own(k) * c.features, 8);
	if (!rc)
		rc = gtu_ranked_alloc(k, &c.root, k->part.n, 8);
	c.to = sums;
	rc = gtu_agree(k->x, rc, &none, 1);
	if (!rc)
		rc = gtu_agree(k->x, convolve(&c), &none, 1);
	k->a.stats->iterations = 2;
	k->a.stats->vertices = gtu_ranked_own(k);
	free(c.from);
	free(sums);
	free(c.root);
	return rc;
}
