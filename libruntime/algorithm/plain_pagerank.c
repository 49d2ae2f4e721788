// SPDX-License-Identifier: MIT
/*
 * PageRank on all CPUs: every vertex gathers the contributions of the edges that lead to it, so that
 * no two threads add to one sum.
 *
 * Contributions are read at random, and their array should fit a cache. If it is large, they are
 * rounded to float: a relative error of 2^-24 per contribution, which the damping factor d limits to
 * d / (1 - d) * 2^-24 of a rank over all iterations. Sums and ranks are always double.
 */
#include <math.h>

#include "plain.h"

#define LEAST		256u		/* vertices per share */
#define NARROW_FROM	(1u << 17)	/* vertices: doubles of fewer fit a second-level cache */
#define NARROW_ERROR	5e-7

/* Sums of LEAST vertices; they are added up in order, whatever the threads. */
struct part {
	double dangling, change;
};

struct ranks {
	struct gtu_plain *p;
	const struct gtu_graph *in;	/* the transpose, or the graph */
	double damping, base, *rank;
	bool narrow, start;		/* start: write the first contributions only */
	bool compare, write;		/* whether the iteration reads and writes rank: the last one, or with an epsilon */
	void *now, *next;		/* contributions: rank / degree, of 4 or 8 bytes */
	struct part *part;		/* per LEAST vertices */
};

GTU_PER_WIDTH double contribution(const void *array, bool narrow, uint64_t v)
{
	return narrow ? (double)((const float *)array)[v] : ((const double *)array)[v];
}

GTU_PER_WIDTH int gather(struct ranks *r, uint64_t first, uint64_t end, uint32_t width, bool narrow)
{
	struct gtu_plain *p = r->p;
	const struct gtu_graph *g = p->a->g, *in = r->in;
	const void *const col = in->col, *const now = r->now;
	const uint64_t n = g->n;
	uint64_t v, e, e_end, source, degree, traversed = 0;
	double sum, rank, value;
	struct part part = { 0, 0 };
	int rc;

	for (v = first; v < end; v++) {
		if (gtu_unlikely(r->start)) {
			rank = 1 / (double)n;
		} else {
			rc = gtu_plain_edges(p, in, v, &e, &e_end);
			if (rc)
				return rc;
			traversed += e_end - e;
			for (sum = 0; e < e_end; e++) {
				source = gtu_get(col, width, e);
				if (gtu_unlikely(source >= n))
					return gtu_plain_bad(&p->bad_edge, e);
				sum += contribution(now, narrow, source);
			}
			rank = r->base + r->damping * sum;
			if (r->compare) {
				value = fabs(rank - r->rank[v]);
				part.change = value > part.change ? value : part.change;
			}
		}
		if (r->write)
			r->rank[v] = rank;
		degree = g->row[v + 1] - g->row[v];
		part.dangling += degree ? 0 : rank;
		value = degree ? rank / (double)degree : 0;
		if (narrow)
			((float *)r->next)[v] = (float)value;
		else
			((double *)r->next)[v] = value;
		if ((v + 1) % LEAST == 0 || v + 1 == end) {
			r->part[v / LEAST] = part;
			part = (struct part){ 0, 0 };
		}
	}
	return gtu_alg_shares_progress(&p->shares, traversed);
}

static int gather_share(void *arg, unsigned thread, uint64_t first, uint64_t end)
{
	struct ranks *r = arg;

	(void)thread;
	if (r->p->a->id_width == 8)
		return r->narrow ? gather(r, first, end, 8, true) : gather(r, first, end, 8, false);
	return r->narrow ? gather(r, first, end, 4, true) : gather(r, first, end, 4, false);
}

/* Compute the ranks of an iteration; *sum: those of dangling vertices, and the largest change. */
static int step(struct ranks *r, struct part *sum)
{
	const uint64_t n = r->p->a->g->n;
	uint64_t i;
	void *swap;
	int rc;

	r->base = (1 - r->damping) / (double)n + r->damping * (sum->dangling / (double)n);
	rc = gtu_plain_loop(r->p, r->in, LEAST, gather_share, r, n);
	*sum = (struct part){ 0, 0 };
	for (i = 0; i < (n + LEAST - 1) / LEAST && !rc; i++) {
		sum->dangling += r->part[i].dangling;
		sum->change = fmax(sum->change, r->part[i].change);
	}
	swap = r->now;
	r->now = r->next;
	r->next = swap;
	return rc;
}

static int iterate(struct ranks *r, const struct gtu_plain_ranks *options)
{
	struct gtu_alg *a = r->p->a;
	const uint64_t n = a->g->n, width = r->narrow ? 4 : 8;
	struct part sum = { 0, 0 };
	int rc;

	rc = gtu_plain_alloc(r->p, n, width, &r->now);
	if (!rc)
		rc = gtu_plain_alloc(r->p, n, width, &r->next);
	if (!rc)
		rc = gtu_plain_alloc(r->p, n / LEAST + 1, sizeof(*r->part), &r->part);
	r->start = true;
	r->compare = false;
	r->write = options->epsilon > 0 || !options->iterations;
	if (!rc)
		rc = step(r, &sum);
	r->start = false;
	gtu_phase(&a->phases, "pull");
	while (!rc && a->stats->iterations < options->iterations) {
		r->compare = options->epsilon > 0;
		r->write = r->compare || a->stats->iterations + 1 == options->iterations;
		rc = step(r, &sum);
		if (rc)
			break;
		a->stats->edges += atomic_exchange(&r->p->shares.edges, 0);
		gtu_phases_iteration(&a->phases, a->opt, n);
		a->stats->pull_end = a->stats->iterations;
		if (sum.change <= options->epsilon && options->epsilon > 0)
			break;
	}
	return rc;
}

int gtu_plain_pagerank(struct gtu_alg *a, const struct gtu_plain_ranks *options, double *rank)
{
	const double d = options->damping;
	struct ranks r = { .damping = d, .rank = rank };
	struct gtu_graph *transposed;
	struct gtu_plain p;
	int rc;

	rc = gtu_alg_transpose(a, &transposed);
	if (rc)
		return rc;
	gtu_plain_begin(&p, a);
	r.p = &p;
	r.in = transposed ? transposed : a->g;
	/* rounded ranks may never come as close as an epsilon asks for */
	r.narrow = a->g->n >= NARROW_FROM && !(options->epsilon > 0) && d / (1 - d) * 0x1p-24 < NARROW_ERROR;
	rc = iterate(&r, options);
	gtu_graph_close(transposed);
	return gtu_plain_end(&p, rc);
}
