// SPDX-License-Identifier: MIT
/*
 * Betweenness centrality (Brandes) on all CPUs. Both passes gather, without atomic additions and
 * without a test per edge: the array that is read holds 0 for all vertices of other levels.
 *
 * There is one array for even levels and one for odd ones. Forwards, the paths to a vertex are the sum
 * over all edges that lead to it in the other array, where those of the next level are still 0.
 * Backwards, with c(v) = (1 + share(v)) / paths(v), the share of u is paths(u) * the sum of c over all
 * edges that leave it in the other array, where those of the level before are still 0.
 */
#include <math.h>

#include "plain.h"

#define LEAST 64u			/* vertices per share */

struct betweenness {
	struct gtu_plain *p;
	struct gtu_plain_bfs bfs;
	double *value[2];		/* paths, then c, of even and odd levels; read at random */
	double *paths;			/* in the order of discovery */
	double *score;
	const struct gtu_graph *along;	/* graph of the current pass */
	uint64_t first, level;		/* of the current level: its start in the order */
	uint64_t source;
	atomic_bool too_many;
	uint64_t *begin, levels_max;	/* start of each level in the order; its capacity */
};

/* The sum over the edges of @v in the other array. */
GTU_PER_WIDTH int gather(struct betweenness *b, uint64_t v, uint32_t width, double *sum, uint64_t *traversed)
{
	const struct gtu_graph *g = b->along;
	const double *value = b->value[~b->level & 1];
	uint64_t e, end, target;
	int rc = gtu_plain_edges(b->p, g, v, &e, &end);

	if (rc)
		return rc;
	*traversed += end - e;
	for (*sum = 0; e < end; e++) {
		target = gtu_get(g->col, width, e);
		if (gtu_unlikely(target >= g->n))
			return gtu_plain_bad(&b->p->bad_edge, e);
		*sum += value[target];
	}
	return 0;
}

GTU_PER_WIDTH int gather_level(struct betweenness *b, uint64_t first, uint64_t end, uint32_t width, bool back)
{
	double *const value = b->value[b->level & 1], sum;
	uint64_t i, v, traversed = 0;
	int rc;

	for (i = b->first + first; i < b->first + end; i++) {
		v = gtu_get(b->bfs.order, width, i);
		rc = gather(b, v, width, &sum, &traversed);
		if (rc)
			return rc;
		if (back) {
			sum *= b->paths[i];
			value[v] = (1 + sum) / b->paths[i];
			if (v != b->source)
				b->score[v] += sum;
			continue;
		}
		/* there is one path to the source, of no edges */
		b->paths[i] = value[v] = b->level ? sum : 1;
		if (gtu_unlikely(isinf(sum)))
			atomic_store(&b->too_many, true);
	}
	return gtu_alg_shares_progress(&b->p->shares, traversed);
}

static int count_share(void *arg, unsigned thread, uint64_t first, uint64_t end)
{
	struct betweenness *b = arg;

	(void)thread;
	return b->p->a->id_width == 8 ? gather_level(b, first, end, 8, false) : gather_level(b, first, end, 4, false);
}

static int depend_share(void *arg, unsigned thread, uint64_t first, uint64_t end)
{
	struct betweenness *b = arg;

	(void)thread;
	return b->p->a->id_width == 8 ? gather_level(b, first, end, 8, true) : gather_level(b, first, end, 4, true);
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

/* Count the paths to all vertices; *levels: levels found. The end of the last is noted, too. */
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
	for (*levels = 0; !rc && s->frontier; ++*levels) {
		b->first = s->first;
		b->level = *levels;
		rc = note_level(b, *levels, s->first);
		if (!rc)
			rc = gtu_plain_loop(b->p, b->along, LEAST, count_share, b, s->end - s->first);
		if (!rc && atomic_load(&b->too_many))
			rc = gtu_fail(a->err, GTU_ERR_UNSUPPORTED,
				      "the number of shortest paths from vertex %llu exceeds the range of a "
				      "double (1.8e308)", (unsigned long long)gtu_graph_id(a->g, b->source));
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
			rc = forth(b, &levels);
		if (!rc)
			rc = back(b, levels);
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
