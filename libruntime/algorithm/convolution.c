// SPDX-License-Identifier: MIT
/*
 * Kernels of a graph convolution (SparseWeaver, section V-I). As in the paper's mapping for Weaver,
 * work is distributed by edge, and each edge processes all features; the factor of GraphSum is
 * computed once per edge, not once per feature.
 */
#include <math.h>

#include "for_each_edge.h"
#include "libruntime/support/features.h"
#include "libruntime/support/ranked.h"
#include "libruntime/support/traverse.h"
#include "libruntime/support/graph_access.h"

struct convolution {
	struct gtu_alg a;
	struct gtu_alg_for_each_edge edges;
	uint32_t features;
	const double *from;		/* features of the neighbours */
	double *to;
	struct gtu_alg_buffer x, y;	/* n * features doubles */
	struct gtu_alg_buffer root;	/* n doubles: 1 / sqrt(degree) */
};

static inline void add(struct convolution *c, uint64_t v, uint64_t u, double factor)
{
	const double *from = c->from + u * c->features;
	double *to = c->to + v * c->features;
	uint32_t f;

	for (f = 0; f < c->features; f++)
		to[f] += factor * from[f];
}

static int multiply(void *context, const struct gtu_alg_batch *batch)
{
	struct convolution *c = context;
	const struct gtu_graph *g = c->a.g;
	double weight;
	unsigned i;

	for (i = 0; i < batch->n; i++) {
		weight = gtu_weight_number(g->weight_type, batch->weight, i);
		if (gtu_unlikely(!isfinite(weight)))
			return gtu_fail(c->a.err, GTU_ERR_INPUT, "%s: edge %llu has the weight %g", g->name,
					(unsigned long long)batch->edge[i], weight);
		add(c, batch->source[i], batch->target[i], weight);
	}
	return 0;
}

static int aggregate(void *context, const struct gtu_alg_batch *batch)
{
	struct convolution *c = context;
	const double *root = c->root.region.addr;
	unsigned i;

	for (i = 0; i < batch->n; i++)
		add(c, batch->source[i], batch->target[i], root[batch->source[i]] * root[batch->target[i]]);
	return 0;
}

static int initialise(struct convolution *c, double *out)
{
	const struct gtu_graph *g = c->a.g;
	double *x, *root;
	uint64_t v, e, end;
	uint32_t f;
	int rc;

	rc = gtu_alg_reserve(&c->a, &c->x, g->n * c->features * 8, false);
	if (!rc)
		rc = gtu_alg_reserve(&c->a, &c->y, g->n * c->features * 8, false);
	if (!rc)
		rc = gtu_alg_reserve(&c->a, &c->root, g->n * 8, false);
	x = c->x.region.addr;
	root = c->root.region.addr;
	for (v = 0; v < g->n && !rc; v++) {
		rc = gtu_alg_edges(&c->a, g, v, &e, &end);
		root[v] = 1 / sqrt(end - e > 1 ? (double)(end - e) : 1);
		for (f = 0; f < c->features; f++) {
			x[v * c->features + f] = gtu_gcn_feature(c->a.opt->seed, v, f);
			out[v * c->features + f] = 0;
		}
	}
	return rc;
}

static int convolve(struct convolution *c, double *out)
{
	const struct gtu_alg_frontier all = { .count = c->a.g->n, .all = true };
	int rc;

	gtu_phase(&c->a.phases, "initialise");
	rc = initialise(c, out);
	gtu_phase(&c->a.phases, "spmm");
	c->from = c->x.region.addr;
	c->to = c->y.region.addr;
	c->edges.edge_indices = c->edges.weights = c->a.g->weight_type != GTU_WEIGHT_NONE;
	if (!rc)
		rc = gtu_alg_for_each_edge(&c->a, &c->edges, &all, multiply, c);
	gtu_phase(&c->a.phases, "graphsum");
	c->from = c->y.region.addr;
	c->to = out;
	c->edges.edge_indices = c->edges.weights = false;
	if (!rc)
		rc = gtu_alg_for_each_edge(&c->a, &c->edges, &all, aggregate, c);
	if (rc)
		return rc;
	gtu_phase(&c->a.phases, "setup");
	rc = gtu_check_features(c->a.g, out, 0, c->a.g->n, c->features, c->a.err);
	if (rc)
		return rc;
	c->a.stats->iterations = 2;
	c->a.stats->vertices = c->a.g->n;
	return 0;
}

int gtu_gcn(struct gtu_device *dev, const struct gtu_graph *g,
	    const struct gtu_algorithm_options *opt, double *out,
	    struct gtu_algorithm_stats *stats, struct gtu_error *err)
{
	struct convolution c = { .features = gtu_features(opt) };
	uint32_t width = 8;
	int rc;

	if (gtu_has_ranks(dev))
		return gtu_run_ranked(dev, g, GTU_RANKED_GCN, opt, out, stats, err);
	if (opt->unit == GTU_WITH_GPU)
		return gtu_traverse(dev, g, GTU_TRAVERSE_GCN, opt, out, stats, err);
	rc = gtu_alg_begin(&c.a, "gcn", dev, g, opt, stats, err);
	if (!rc)
		rc = gtu_alg_require_whole_graph(&c.a);
	if (!rc)
		rc = gtu_check_feature_count(g, c.features, err);
	/* a vertex' features, or one line of them */
	while (width < 128 && width < c.features * 8)
		width *= 2;
	if (!rc)
		rc = gtu_alg_edges_begin(&c.a, &c.edges, g, width);
	if (!rc && g->n)
		rc = convolve(&c, out);
	rc = gtu_alg_edges_end(&c.a, &c.edges, rc);
	return gtu_alg_end(&c.a, rc);
}
