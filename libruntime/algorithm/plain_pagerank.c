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
	atomic_bool any;		/* a part of this iteration is not 0 */
};

GTU_PER_WIDTH double contribution(const void *array, bool narrow, uint64_t v)
{
	return narrow ? (double)((const float *)array)[v] : ((const double *)array)[v];
}

/*
 * Gather the contributions of [@first, @end); @first is a multiple of LEAST. @inner: an iteration that
 * only reads and writes contributions, along a graph that is its own transpose. Local variables hold
 * fields that the compiler would load again after every store.
 */
GTU_PER_WIDTH int gather(struct ranks *r, uint64_t first, uint64_t end, uint32_t width, bool narrow, bool inner)
{
	struct gtu_plain *p = r->p;
	const uint64_t *const row = r->in->row, *const out_row = inner ? row : p->a->g->row;
	const bool start = !inner && r->start, compare = !inner && r->compare, write = !inner && r->write;
	const void *const col = r->in->col, *const now = r->now;
	const uint64_t n = p->a->g->n, m = r->in->m;
	const double base = r->base, damping = r->damping;
	void *const next = r->next;
	uint64_t v, block, e, e_end, source, degree;
	double sum, rank, value;
	bool any = false;

	for (block = first; block < end; block += LEAST) {
		const uint64_t block_end = end - block < LEAST ? end : block + LEAST;
		struct part part = { 0, 0 };

		for (v = block; v < block_end; v++) {
			degree = out_row[v + 1] - out_row[v];
			if (gtu_unlikely(start)) {
				rank = 1 / (double)n;
			} else {
				e = row[v];
				e_end = row[v + 1];
				if (gtu_unlikely(e > e_end || e_end > m))
					return gtu_plain_bad(&p->bad_row, v);
				for (sum = 0; e < e_end; e++) {
					source = gtu_get(col, width, e);
					if (gtu_unlikely(source >= n))
						return gtu_plain_bad(&p->bad_edge, e);
					sum += contribution(now, narrow, source);
				}
				rank = base + damping * sum;
				if (compare) {
					value = fabs(rank - r->rank[v]);
					part.change = value > part.change ? value : part.change;
				}
			}
			if (write)
				r->rank[v] = rank;
			value = 0;
			if (gtu_likely(degree))
				value = rank / (double)(int64_t)degree;
			else
				part.dangling += rank;
			if (narrow)
				((float *)next)[v] = (float)value;
			else
				((double *)next)[v] = value;
		}
		r->part[block / LEAST] = part;
		any |= part.dangling != 0 || part.change != 0;
	}
	if (any)
		atomic_store_explicit(&r->any, true, memory_order_relaxed);
	return gtu_alg_shares_progress(&p->shares, start ? 0 : row[end] - row[first]);
}

GTU_PER_WIDTH int gather_any(struct ranks *r, uint64_t first, uint64_t end, bool inner)
{
	if (r->p->a->id_width == 8)
		return r->narrow ? gather(r, first, end, 8, true, inner) : gather(r, first, end, 8, false, inner);
	return r->narrow ? gather(r, first, end, 4, true, inner) : gather(r, first, end, 4, false, inner);
}

static int gather_share(void *arg, unsigned thread, uint64_t first, uint64_t end)
{
	struct ranks *r = arg;

	(void)thread;
	if (r->start || r->compare || r->write || r->in != r->p->a->g)
		return gather_any(r, first, end, false);
	return gather_any(r, first, end, true);
}

/* Compute the ranks of an iteration; *sum: those of dangling vertices, and the largest change. */
static int step(struct ranks *r, struct part *sum)
{
	const uint64_t n = r->p->a->g->n;
	uint64_t i;
	void *swap;
	bool any;
	int rc;

	r->base = (1 - r->damping) / (double)n + r->damping * (sum->dangling / (double)n);
	atomic_store(&r->any, false);
	rc = gtu_plain_loop(r->p, r->in, LEAST, gather_share, r, n);
	any = atomic_load(&r->any);
	*sum = (struct part){ 0, 0 };
	for (i = 0; any && i < (n + LEAST - 1) / LEAST && !rc; i++) {
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
