// SPDX-License-Identifier: MIT
/*
 * PageRank by pushing (SCU, algorithm 3; IRU, figure 11), as defined by LDBC Graphalytics. Ranks
 * start at 1/n; each iteration computes
 *
 *	rank'(v) = (1 - d)/n + d * (sum over edges (u, v) of rank(u)/degree(u) + D/n)
 *
 * where D is the sum of the ranks of dangling vertices.
 *
 * SCU: expands the edge frontier and replicates each source's contribution. Filtering and grouping
 * do not apply (SCU, section 4.6), so the enhanced unit works as the basic one.
 *
 * IRU: in figure 11 the unit adds contributions with equal targets as 32-bit floats. A sum of k
 * contributions then has a relative error of up to k * 2^-24, which accumulates over the iterations
 * and exceeds the 1e-6 within which units must agree. Therefore, unless opt->float_sums is set, the
 * unit reorders the edge frontier with positions, and the CPU looks up the contributions by position
 * and adds them as doubles.
 */
#include <math.h>
#include <string.h>

#include "libruntime/support/distance.h"
#include "libruntime/support/ranked.h"
#include "libruntime/support/traverse.h"
#include "for_each_edge.h"
#include "plain.h"

#define DAMPING			0.85
#define ITERATIONS		20
#define ITERATIONS_EPSILON	1000

struct pagerank {
	struct gtu_alg a;
	struct gtu_graph *transposed;	/* transpose for pulling; NULL: the graph itself */
	bool pull;
	struct gtu_alg_for_each_edge edges;
	double damping;
	uint32_t iterations;
	double *rank;
	struct gtu_alg_buffer sum;	/* n doubles: contributions received in this iteration */
	struct gtu_alg_buffer share;	/* one double per entry taken; float_sums: one float */
	struct gtu_alg_buffer shares;	/* likewise, per edge */
};

static double share_of(const struct pagerank *p, uint64_t v)
{
	return p->rank[v] / (double)(p->a.g->row[v + 1] - p->a.g->row[v]);
}

static int take_shares(struct pagerank *p)
{
	const bool narrow = p->a.opt->float_sums;
	double share;
	uint64_t i;
	int rc;

	rc = gtu_alg_reserve(&p->a, &p->share, p->edges.w.n * 8, false);
	for (i = 0; i < p->edges.w.n && !rc; i++) {
		share = share_of(p, gtu_get(p->edges.w.vertex.region.addr, p->a.id_width, i));
		gtu_put(p->share.region.addr, narrow ? 4 : 8, i, narrow ? f32_bits((float)share) : f64_bits(share));
	}
	return rc;
}

static int scu_push(struct pagerank *p)
{
	double *sum = p->sum.region.addr;
	const double *shares;
	uint64_t i, target;
	int rc;

	gtu_phase(&p->a.phases, "expand");
	rc = gtu_alg_expand(&p->a, &p->edges.w, NULL);
	if (!rc)
		rc = gtu_alg_replicate(&p->a, &p->edges.w, &p->share, 8, NULL, &p->shares);
	if (rc)
		return rc;
	gtu_phase(&p->a.phases, "contract");
	shares = p->shares.region.addr;
	for (i = 0; i < p->edges.w.out; i++) {
		target = gtu_get(p->edges.w.edge.region.addr, p->a.id_width, i);
		if (gtu_unlikely(target >= p->a.g->n))
			return gtu_alg_bad_work(&p->a, &p->edges.w);
		sum[target] += shares[i];
	}
	return 0;
}

static int iru_push(struct pagerank *p)
{
	const bool narrow = p->a.opt->float_sums;
	double *sum = p->sum.region.addr;
	const double *shares;
	struct gtu_warp warp;
	uint32_t lanes;
	unsigned lane;
	int rc;

	gtu_phase(&p->a.phases, "expand");
	rc = gtu_alg_replicate_cpu(&p->a, &p->edges.w, &p->share, narrow ? 4 : 8, &p->shares);
	gtu_phase(&p->a.phases, "contract");
	if (!rc)
		rc = gtu_alg_reorder(&p->a, &p->edges.w, narrow ? GTU_IRU_OP_ADD_F32 : GTU_IRU_OP_NONE,
				     narrow ? &p->shares : NULL, !narrow, sizeof(*sum));
	if (rc)
		return rc;
	shares = p->shares.region.addr;
	while ((rc = gtu_alg_load(&p->a, &warp)) > 0) {
		for (lanes = warp.active; lanes; lanes &= lanes - 1) {
			lane = (unsigned)__builtin_ctz(lanes);
			sum[warp.index[lane]] += narrow ? bits_f32(warp.secondary[lane]) :
							  shares[warp.position[lane]];
		}
	}
	return rc;
}

static int push_share(void *context, const struct gtu_alg_batch *batch)
{
	struct pagerank *p = context;
	double *sum = p->sum.region.addr;
	unsigned i;

	for (i = 0; i < batch->n; i++)
		sum[batch->target[i]] += share_of(p, batch->source[i]);
	return 0;
}

/* Visitor for pulling over the transpose: sums the contributions to one vertex. */
static int pull_share(void *context, const struct gtu_alg_batch *batch)
{
	struct pagerank *p = context;
	double *sum = p->sum.region.addr;
	unsigned i;

	for (i = 0; i < batch->n; i++)
		sum[batch->source[i]] += share_of(p, batch->target[i]);
	return 0;
}

static int unit_push(struct pagerank *p)
{
	const struct gtu_alg_frontier all = { .count = p->a.g->n, .all = true };
	struct gtu_alg_cursor c = { 0 };
	int rc;

	if (gtu_alg_streams_edges(&p->a)) {
		gtu_phase(&p->a.phases, p->pull ? "pull" : "traverse");
		return gtu_alg_for_each_edge(&p->a, &p->edges, &all, p->pull ? pull_share : push_share, p);
	}
	while (c.at < all.count) {
		gtu_phase(&p->a.phases, "prepare");
		rc = gtu_alg_take(&p->a, &p->edges.w, &all, &c);
		if (!rc && p->edges.w.n) {
			rc = take_shares(p);
			if (!rc)
				rc = gtu_alg_scu(&p->a) ? scu_push(p) : iru_push(p);
		}
		if (rc)
			return rc;
	}
	return 0;
}

/* Compute the new ranks from the sums; returns the largest change. */
static double update(struct pagerank *p, double dangling)
{
	const double *sum = p->sum.region.addr;
	const double n = (double)p->a.g->n;
	double rank, change, max = 0;
	uint64_t v;

	for (v = 0; v < p->a.g->n; v++) {
		rank = (1 - p->damping) / n + p->damping * (sum[v] + dangling / n);
		change = fabs(rank - p->rank[v]);
		if (change > max)
			max = change;
		p->rank[v] = rank;
	}
	return max;
}

static int iterate(struct pagerank *p)
{
	const struct gtu_graph *g = p->a.g;
	double dangling, change;
	uint64_t v;
	int rc;

	rc = gtu_alg_reserve(&p->a, &p->sum, g->n * 8, false);
	if (rc)
		return rc;
	for (v = 0; v < g->n; v++)
		p->rank[v] = 1 / (double)g->n;
	while (p->a.stats->iterations < p->iterations) {
		gtu_phase(&p->a.phases, "update");
		memset(p->sum.region.addr, 0, g->n * 8);
		dangling = 0;
		for (v = 0; v < g->n; v++)
			if (g->row[v] == g->row[v + 1])
				dangling += p->rank[v];
		rc = unit_push(p);
		if (rc)
			return rc;
		gtu_phase(&p->a.phases, "update");
		change = update(p, dangling);
		gtu_phases_iteration(&p->a.phases, p->a.opt, g->n);
		if (p->pull)
			p->a.stats->pull_end = p->a.stats->iterations;
		if (change <= p->a.opt->epsilon && p->a.opt->epsilon > 0)
			break;
	}
	return 0;
}

static int settle(struct pagerank *p)
{
	const struct gtu_algorithm_options *opt = p->a.opt;
	int rc;

	rc = gtu_alg_require_whole_graph(&p->a);
	if (rc)
		return rc;
	if (opt->float_sums && opt->unit != GTU_WITH_IRU)
		return gtu_fail(p->a.err, GTU_ERR_UNSUPPORTED,
				"sums of 32-bit floats need the IRU: the other units do not add");
	p->damping = opt->damping == 0 ? DAMPING : opt->damping;
	if (!(p->damping > 0 && p->damping < 1))
		return gtu_fail(p->a.err, GTU_ERR_USAGE, "a damping factor of %g is out of range: "
				"it must be between 0 and 1",
				p->damping);
	if (!(opt->epsilon >= 0))
		return gtu_fail(p->a.err, GTU_ERR_USAGE, "an epsilon of %g is out of range: it "
				"must be 0 or more",
				opt->epsilon);
	p->iterations = opt->iterations ? opt->iterations :
			opt->epsilon > 0 ? ITERATIONS_EPSILON : ITERATIONS;
	rc = gtu_alg_direction(&p->a);
	p->pull = opt->direction == GTU_PULL ||
		  (opt->direction == GTU_PUSH_OR_PULL && !(p->a.g->flags & GTU_GRAPH_DIRECTED));
	return rc || !p->pull || opt->unit == GTU_WITH_NONE ? rc : gtu_alg_transpose(&p->a, &p->transposed);
}

int gtu_pagerank(struct gtu_device *dev, const struct gtu_graph *g,
		 const struct gtu_algorithm_options *opt, double *rank,
		 struct gtu_algorithm_stats *stats, struct gtu_error *err)
{
	struct pagerank p = { .rank = rank };
	int rc;

	if (gtu_has_ranks(dev))
		return gtu_run_ranked(dev, g, GTU_RANKED_PAGERANK, opt, rank, stats, err);
	if (opt->unit == GTU_WITH_GPU)
		return gtu_traverse(dev, g, GTU_TRAVERSE_PAGERANK, opt, rank, stats, err);
	rc = gtu_alg_begin(&p.a, "pagerank", dev, g, opt, stats, err);
	if (!rc)
		rc = settle(&p);
	if (!rc && g->n && opt->unit == GTU_WITH_NONE) {
		rc = gtu_plain_pagerank(&p.a, &(struct gtu_plain_ranks){ p.damping, opt->epsilon, p.iterations }, rank);
	} else if (!rc && g->n) {
		rc = gtu_alg_edges_begin(&p.a, &p.edges, p.transposed ? p.transposed : g, 8);
		p.edges.pull = p.pull;
		if (!rc)
			rc = iterate(&p);
	}
	if (!rc)
		p.a.stats->vertices = g->n;
	rc = gtu_alg_edges_end(&p.a, &p.edges, rc);
	gtu_graph_close(p.transposed);
	return gtu_alg_end(&p.a, rc);
}
