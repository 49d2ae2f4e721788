// SPDX-License-Identifier: MIT
/*
 * Betweenness centrality (Brandes) on all CPUs. Both passes gather, without atomic additions and
 * without a test per edge: the array that is read holds 0 for all vertices of other levels.
 *
 * There is one array for even levels and one for odd ones. Forwards, the paths to a vertex are the sum
 * over all edges that lead to it in the other array, where those of the next level are still 0.
 * Backwards, with c(v) = (1 + share(v)) / paths(v), the share of u is paths(u) * the sum of c over all
 * edges that leave it in the other array, where those of the level before are still 0.
 *
 * Numbers of paths are doubles; a search in which they overflow starts again with wide numbers.
 */
#include <math.h>

#include "libruntime/support/wide.h"
#include "plain.h"

#define LEAST 64u			/* vertices per share */

union number {
	double plain;
	gtu_wide wide;
};

struct betweenness {
	struct gtu_plain *p;
	struct gtu_plain_bfs bfs;
	bool wide;			/* which member of the numbers */
	union number *value[2];		/* paths, then c, of even and odd levels; read at random */
	union number *paths;		/* in the order of discovery */
	double *score;
	const struct gtu_graph *along;	/* graph of the current pass */
	uint64_t first, level;		/* of the current level: its start in the order */
	uint64_t source;
	atomic_bool too_many;
	uint64_t *begin, levels_max;	/* start of each level in the order; its capacity */
};

/* The sum over the edges of @v in the other array. */
GTU_PER_WIDTH int gather(struct betweenness *b, uint64_t v, uint32_t width, bool wide, union number *sum,
			 uint64_t *traversed)
{
	const struct gtu_graph *g = b->along;
	const union number *value = b->value[~b->level & 1];
	struct gtu_wide_sum all = { 0 };
	uint64_t e, end, target;
	int rc = gtu_plain_edges(b->p, g, v, &e, &end);

	if (rc)
		return rc;
	*traversed += end - e;
	for (sum->plain = 0; e < end; e++) {
		target = gtu_get(g->col, width, e);
		if (gtu_unlikely(target >= g->n))
			return gtu_plain_bad(&b->p->bad_edge, e);
		if (wide)
			gtu_wide_sum_add(&all, gtu_wide_sum_of(value[target].wide));
		else
			sum->plain += value[target].plain;
	}
	if (wide)
		sum->wide = gtu_wide_of(all.m, all.e);
	return 0;
}

/* The share of the vertex at @i in the order, whose sum over c is @sum, and its own c. */
GTU_PER_WIDTH double depend(const struct betweenness *b, uint64_t i, bool wide, union number sum, union number *own)
{
	const union number paths = b->paths[i];
	double share;

	if (wide) {
		share = gtu_wide_double(gtu_wide_product(paths.wide, sum.wide));
		own->wide = gtu_wide_quotient(gtu_wide_of(1 + share, 0), paths.wide);
	} else {
		share = paths.plain * sum.plain;
		own->plain = (1 + share) / paths.plain;
	}
	return share;
}

GTU_PER_WIDTH int gather_level(struct betweenness *b, uint64_t first, uint64_t end, uint32_t width, bool wide,
			       bool back)
{
	union number *const value = b->value[b->level & 1], sum;
	uint64_t i, v, traversed = 0;
	double share;
	int rc;

	for (i = b->first + first; i < b->first + end; i++) {
		v = gtu_get(b->bfs.order, width, i);
		rc = gather(b, v, width, wide, &sum, &traversed);
		if (rc)
			return rc;
		if (back) {
			share = depend(b, i, wide, sum, &value[v]);
			if (v != b->source)
				b->score[v] += share;
			continue;
		}
		/* there is one path to the source, of no edges */
		if (!b->level && wide)
			sum.wide = GTU_WIDE_ONE;
		else if (!b->level)
			sum.plain = 1;
		b->paths[i] = value[v] = sum;
		if (gtu_unlikely(wide ? sum.wide == GTU_WIDE_MOST : isinf(sum.plain)))
			atomic_store(&b->too_many, true);
	}
	return gtu_alg_shares_progress(&b->p->shares, traversed);
}

GTU_PER_WIDTH int share_of_level(struct betweenness *b, uint64_t first, uint64_t end, bool back)
{
	const bool long_ids = b->p->a->id_width == 8;

	if (b->wide)
		return long_ids ? gather_level(b, first, end, 8, true, back) : gather_level(b, first, end, 4, true, back);
	return long_ids ? gather_level(b, first, end, 8, false, back) : gather_level(b, first, end, 4, false, back);
}

static int count_share(void *arg, unsigned thread, uint64_t first, uint64_t end)
{
	(void)thread;
	return share_of_level(arg, first, end, false);
}

static int depend_share(void *arg, unsigned thread, uint64_t first, uint64_t end)
{
	(void)thread;
	return share_of_level(arg, first, end, true);
}

static int clear(struct betweenness *b)
{
	int rc = gtu_plain_fill(b->p, b->value[0], 8, b->p->a->g->n, 0);

	return rc ? rc : gtu_plain_fill(b->p, b->value[1], 8, b->p->a->g->n, 0);
}

static int note_level(struct betweenness *b, uint64_t level, uint64_t first)
{
	const uint64_t most = level < 64 ? 128 : 2 * level;
	uint64_t *begin;

	if (level >= b->levels_max) {
		begin = realloc(b->begin, most * sizeof(*begin));
		if (!begin)
			return gtu_fail(b->p->a->err, GTU_ERR_NOMEM, "%s: out of memory for %llu levels", b->p->a->name,
					(unsigned long long)most);
		b->begin = begin;
		b->levels_max = most;
	}
	b->begin[level] = first;
	return 0;
}

/* Count the paths to all vertices, unless too_many; *levels: levels found. The end of the last is noted, too. */
static int forth(struct betweenness *b, uint64_t *levels)
{
	struct gtu_alg *a = b->p->a;
	struct gtu_plain_bfs *s = &b->bfs;
	int rc;

	gtu_phase(&a->phases, "count");
	rc = clear(b);
	if (!rc)
		rc = gtu_plain_bfs_start(s, b->source);
	b->along = s->in;
	atomic_store(&b->too_many, false);
	for (*levels = 0; !rc && s->frontier && !atomic_load(&b->too_many); ++*levels) {
		b->first = s->first;
		b->level = *levels;
		rc = note_level(b, *levels, s->first);
		if (!rc)
			rc = gtu_plain_loop(b->p, b->along, LEAST, count_share, b, s->end - s->first);
		a->stats->vertices += s->frontier;
		if (!rc)
			rc = gtu_plain_bfs_level(s);
		gtu_phase(&a->phases, "count");
	}
	return rc ? rc : note_level(b, *levels, atomic_load(&s->tail));
}

static int back(struct betweenness *b, uint64_t levels)
{
	const uint64_t *begin = b->begin;
	uint64_t l;
	int rc;

	gtu_phase(&b->p->a->phases, "depend");
	rc = clear(b);
	b->along = b->p->a->g;
	for (l = levels; l-- > 0 && !rc;) {
		b->first = begin[l];
		b->level = l;
		rc = gtu_plain_loop(b->p, b->along, LEAST, depend_share, b, begin[l + 1] - begin[l]);
	}
	return rc;
}

static int from_source(struct betweenness *b, uint64_t *levels)
{
	struct gtu_alg *a = b->p->a;
	const uint64_t vertices = a->stats->vertices;
	int rc = forth(b, levels);

	if (!rc && atomic_load(&b->too_many) && !b->wide) {
		/* the next sources in this graph have as many */
		b->wide = true;
		a->stats->vertices = vertices;
		rc = forth(b, levels);
	}
	if (!rc && atomic_load(&b->too_many))
		rc = gtu_fail(a->err, GTU_ERR_UNSUPPORTED, "the number of shortest paths from vertex %llu exceeds 2^524287",
			      (unsigned long long)gtu_graph_id(a->g, b->source));
	return rc ? rc : back(b, *levels);
}

static int from_sources(struct betweenness *b)
{
	struct gtu_alg *a = b->p->a;
	const struct gtu_algorithm_options *opt = a->opt;
	const uint64_t count = opt->sources ? opt->source_count : a->g->n;
	uint64_t i, levels = 0;
	int rc = 0;

	for (i = 0; i < count && !rc; i++) {
		b->source = opt->sources ? opt->sources[i] : i;
		rc = gtu_alg_check_vertex(a, "source", b->source);
		if (!rc)
			rc = from_source(b, &levels);
		if (!rc)
			a->stats->iterations += levels;
	}
	return rc;
}

int gtu_plain_betweenness(struct gtu_alg *a, double *score)
{
	struct betweenness b = { .score = score };
	const uint64_t n = a->g->n;
	struct gtu_plain p;
	int rc;

	gtu_plain_begin(&p, a);
	b.p = &p;
	rc = gtu_plain_alloc(&p, n, 8, &b.value[0]);
	if (!rc)
		rc = gtu_plain_alloc(&p, n, 8, &b.value[1]);
	if (!rc)
		rc = gtu_plain_alloc(&p, n, 8, &b.paths);
	if (!rc)
		rc = gtu_plain_bfs_begin(&b.bfs, &p, NULL, GTU_PUSH_OR_PULL, true);
	if (!rc)
		rc = gtu_plain_bfs_transpose(&b.bfs);
	if (!rc)
		rc = gtu_plain_fill(&p, score, 8, n, 0);
	if (!rc)
		rc = from_sources(&b);
	gtu_plain_bfs_end(&b.bfs);
	free(b.begin);
	return gtu_plain_end(&p, rc);
}
