// SPDX-License-Identifier: MIT
/*
 * Breadth-first search on all CPUs, pushing from a frontier or pulling by unreached vertices
 * (Beamer, Asanovic, Patterson: Direction-optimizing breadth-first search, SC 2012). A bitmap of
 * visited vertices takes the random accesses; a vertex' level is written once.
 */
#include <string.h>

#include "plain.h"

#define PUSH_LEAST 64u			/* vertices per share */
#define PULL_LEAST 512u			/* a multiple of 64: shares do not share words of a bitmap */
#define WORDS_LEAST 64u
#define BUFFER 256u

/* Words of a bitmap of the vertices. */
static inline uint64_t words(const struct gtu_graph *g)
{
	return (g->n + 63) / 64;
}

/* Vertices found by a share, before they are appended to the order. */
struct buffer {
	unsigned n;
	uint64_t v[BUFFER];
};

GTU_PER_WIDTH void flush(struct gtu_plain_bfs *s, struct buffer *b, uint32_t width)
{
	uint64_t at = atomic_fetch_add_explicit(&s->tail, b->n, memory_order_relaxed);
	unsigned i;

	for (i = 0; i < b->n; i++)
		gtu_put(s->order, width, at + i, b->v[i]);
	b->n = 0;
}

GTU_PER_WIDTH void append(struct gtu_plain_bfs *s, struct buffer *b, uint64_t v, uint32_t width)
{
	b->v[b->n++] = v;
	if (gtu_unlikely(b->n == BUFFER))
		flush(s, b, width);
}

/* Mark @v as visited; false if it is. */
static inline bool claim(struct gtu_plain_bfs *s, uint64_t v, bool alone)
{
	atomic_uint_fast64_t *word = &s->visited[v >> 6];
	const uint64_t bit = 1ull << (v & 63), was = atomic_load_explicit(word, memory_order_relaxed);

	if (was & bit)
		return false;
	if (!alone)
		return !(atomic_fetch_or_explicit(word, bit, memory_order_relaxed) & bit);
	atomic_store_explicit(word, was | bit, memory_order_relaxed);
	return true;
}

GTU_PER_WIDTH int push(struct gtu_plain_bfs *s, uint64_t first, uint64_t end, uint32_t width)
{
	struct gtu_plain *p = s->p;
	const struct gtu_graph *g = p->a->g;
	const bool alone = gtu_plain_alone(p), counts = s->direction == GTU_PUSH_OR_PULL && !s->pulled;
	uint64_t i, v, e, e_end, target, traversed = 0, leaving = 0, found = 0;
	struct buffer b;
	int rc;

	b.n = 0;
	for (i = s->first + first; i < s->first + end; i++) {
		v = gtu_get(s->order, width, i);
		if (gtu_unlikely(v < p->a->first || v >= p->a->end))
			continue;
		rc = gtu_plain_edges(p, g, v, &e, &e_end);
		if (rc)
			return rc;
		traversed += e_end - e;
		for (; e < e_end; e++) {
			target = gtu_get(g->col, width, e);
			if (gtu_unlikely(target >= g->n))
				return gtu_plain_bad(&p->bad_edge, e);
			if (!claim(s, target, alone))
				continue;
			if (s->level)
				s->level[target] = s->next_level;
			if (counts)
				leaving += g->row[target + 1] - g->row[target];
			found++;
			append(s, &b, target, width);
		}
	}
	flush(s, &b, width);
	atomic_fetch_add_explicit(&s->found, found, memory_order_relaxed);
	atomic_fetch_add_explicit(&s->edges, leaving, memory_order_relaxed);
	return gtu_alg_shares_progress(&p->shares, traversed);
}

static int push_share(void *arg, unsigned thread, uint64_t first, uint64_t end)
{
	struct gtu_plain_bfs *s = arg;

	(void)thread;
	return s->p->a->id_width == 8 ? push(s, first, end, 8) : push(s, first, end, 4);
}

GTU_PER_WIDTH int pull(struct gtu_plain_bfs *s, uint64_t first, uint64_t end, uint32_t width)
{
	struct gtu_plain *p = s->p;
	const struct gtu_graph *in = s->in;
	const uint64_t *now = s->now;
	uint64_t word, left, bits, v, e, e_end, source, traversed = 0, found = 0;
	int rc;

	for (word = first / 64; word < (end + 63) / 64; word++) {
		const uint64_t visited = atomic_load_explicit(&s->visited[word], memory_order_relaxed);

		left = ~visited;
		if (word == in->n / 64)
			left &= (1ull << (in->n & 63)) - 1;
		for (bits = 0; left; left &= left - 1) {
			v = word * 64 + (unsigned)__builtin_ctzll(left);
			rc = gtu_plain_edges(p, in, v, &e, &e_end);
			if (rc)
				return rc;
			for (; e < e_end; e++) {
				source = gtu_get(in->col, width, e);
				if (gtu_unlikely(source >= in->n))
					return gtu_plain_bad(&p->bad_edge, e);
				traversed++;
				if (!(now[source >> 6] >> (source & 63) & 1))
					continue;
				bits |= 1ull << (v & 63);
				if (s->level)
					s->level[v] = s->next_level;
				break;
			}
		}
		s->next[word] = bits;
		atomic_store_explicit(&s->visited[word], visited | bits, memory_order_relaxed);
		found += (unsigned)__builtin_popcountll(bits);
	}
	atomic_fetch_add_explicit(&s->found, found, memory_order_relaxed);
	return gtu_alg_shares_progress(&p->shares, traversed);
}

static int pull_share(void *arg, unsigned thread, uint64_t first, uint64_t end)
{
	struct gtu_plain_bfs *s = arg;

	(void)thread;
	return s->p->a->id_width == 8 ? pull(s, first, end, 8) : pull(s, first, end, 4);
}

/* ---- The two forms of a frontier -------------------------------------------------------------------- */

static int mark_share(void *arg, unsigned thread, uint64_t first, uint64_t end)
{
	struct gtu_plain_bfs *s = arg;
	uint64_t i, v;

	(void)thread;
	for (i = s->first + first; i < s->first + end; i++) {
		v = gtu_get(s->order, s->p->a->id_width, i);
		__atomic_fetch_or(&s->now[v >> 6], 1ull << (v & 63), __ATOMIC_RELAXED);
	}
	return 0;
}

/* Set the bits of the frontier in now. */
static int to_bits(struct gtu_plain_bfs *s)
{
	const struct gtu_graph *g = s->p->a->g;
	int rc = gtu_plain_fill(s->p, s->now, 8, words(g), 0);

	return rc ? rc : gtu_plain_loop(s->p, g, PUSH_LEAST, mark_share, s, s->end - s->first);
}

static int list_share(void *arg, unsigned thread, uint64_t first, uint64_t end)
{
	struct gtu_plain_bfs *s = arg;
	const uint32_t width = s->p->a->id_width;
	uint64_t word, bits;
	struct buffer b;

	(void)thread;
	b.n = 0;
	for (word = first; word < end; word++)
		for (bits = s->now[word]; bits; bits &= bits - 1)
			append(s, &b, word * 64 + (unsigned)__builtin_ctzll(bits), width);
	flush(s, &b, width);
	return 0;
}

/* Append the frontier of now to order. */
static int to_list(struct gtu_plain_bfs *s)
{
	int rc;

	s->listed = true;
	s->first = atomic_load(&s->tail);
	rc = gtu_plain_loop(s->p, s->p->a->g, WORDS_LEAST, list_share, s, words(s->p->a->g));
	s->end = atomic_load(&s->tail);
	return rc;
}

/* ---- Levels ----------------------------------------------------------------------------------------- */

/* Choose the direction by the rule of GTU_PUSH_OR_PULL (gtu.h). */
static bool pulls(struct gtu_plain_bfs *s, uint64_t before)
{
	const uint64_t edges = atomic_load(&s->edges);

	if (s->direction != GTU_PUSH_OR_PULL || s->pulled)
		return s->direction == GTU_PULL;
	if (s->pulling)
		return s->frontier >= before || s->frontier >= s->p->a->g->n / GTU_PULL_SHARE;
	s->unreached_edges -= edges < s->unreached_edges ? edges : s->unreached_edges;
	return edges > s->unreached_edges / GTU_PULL_FACTOR_NONE;
}

int gtu_plain_bfs_transpose(struct gtu_plain_bfs *s)
{
	int rc;

	if (s->in)
		return 0;
	gtu_phase(&s->p->a->phases, "setup");
	rc = gtu_alg_transpose(s->p->a, &s->transposed);
	s->in = s->transposed ? s->transposed : s->p->a->g;
	return rc;
}

int gtu_plain_bfs_level(struct gtu_plain_bfs *s)
{
	const struct gtu_graph *g = s->p->a->g;
	const uint64_t before = s->frontier;
	const bool was = s->pulling;
	uint64_t *swap;
	int rc = 0;

	atomic_store(&s->found, 0);
	if (s->pulling) {
		rc = gtu_plain_bfs_transpose(s);
		gtu_phase(&s->p->a->phases, "pull");
		rc = rc ? rc : gtu_plain_loop(s->p, s->in, PULL_LEAST, pull_share, s, g->n);
		swap = s->now;
		s->now = s->next;
		s->next = swap;
		s->listed = false;
	} else {
		atomic_store(&s->edges, 0);
		gtu_phase(&s->p->a->phases, "traverse");
		rc = gtu_plain_loop(s->p, g, PUSH_LEAST, push_share, s, s->end - s->first);
		s->first = s->end;
		s->end = atomic_load(&s->tail);
	}
	if (rc)
		return rc;
	s->next_level++;
	s->frontier = atomic_load(&s->found);
	if (!s->frontier)
		return 0;
	s->pulling = pulls(s, before);
	s->pulled |= was && !s->pulling;
	if (s->pulling && !was)
		return to_bits(s);
	return !s->listed && (s->list || !s->pulling) ? to_list(s) : 0;
}

int gtu_plain_bfs_begin(struct gtu_plain_bfs *s, struct gtu_plain *p, uint64_t *level, uint32_t direction, bool list)
{
	const uint64_t n = p->a->g->n, bits = words(p->a->g);
	int rc;

	memset(s, 0, sizeof(*s));
	s->p = p;
	s->level = level;
	s->direction = direction;
	s->list = list;
	rc = gtu_plain_alloc(p, n, p->a->id_width, &s->order);
	if (!rc)
		rc = gtu_plain_alloc(p, bits, 8, &s->visited);
	if (!rc)
		rc = gtu_plain_alloc(p, bits, 8, &s->now);
	return rc ? rc : gtu_plain_alloc(p, bits, 8, &s->next);
}

int gtu_plain_bfs_start(struct gtu_plain_bfs *s, uint64_t source)
{
	const struct gtu_graph *g = s->p->a->g;
	uint64_t first, end;
	int rc;

	rc = gtu_alg_edges(s->p->a, g, source, &first, &end);
	if (!rc && s->level)
		rc = gtu_plain_fill(s->p, s->level, 8, g->n, GTU_UNREACHED);
	if (!rc)
		rc = gtu_plain_fill(s->p, s->visited, 8, words(g), 0);
	if (rc)
		return rc;
	if (s->level)
		s->level[source] = 0;
	claim(s, source, true);
	gtu_put(s->order, s->p->a->id_width, 0, source);
	s->first = 0;
	s->end = s->frontier = 1;
	s->next_level = 1;
	s->listed = true;
	s->pulled = false;
	s->unreached_edges = g->m;
	atomic_store(&s->tail, 1);
	atomic_store(&s->edges, end - first);
	s->pulling = s->direction == GTU_PULL;
	return s->pulling ? to_bits(s) : 0;
}

void gtu_plain_bfs_end(struct gtu_plain_bfs *s)
{
	gtu_graph_close(s->transposed);
}

int gtu_plain_search(struct gtu_alg *a, uint64_t *level)
{
	struct gtu_plain_bfs s = { 0 };
	struct gtu_plain p;
	uint64_t frontier;
	bool pulling;
	int rc;

	gtu_plain_begin(&p, a);
	rc = gtu_plain_bfs_begin(&s, &p, level, a->opt->direction, false);
	if (!rc)
		rc = gtu_plain_bfs_start(&s, a->opt->source);
	while (!rc && s.frontier) {
		frontier = s.frontier;
		pulling = s.pulling;
		a->stats->vertices += frontier;
		rc = gtu_plain_bfs_level(&s);
		if (rc)
			break;
		if (pulling && !a->stats->pull_end)
			a->stats->pull_first = a->stats->iterations;
		a->stats->edges += atomic_exchange(&p.shares.edges, 0);
		gtu_phases_iteration(&a->phases, a->opt, frontier);
		if (pulling)
			a->stats->pull_end = a->stats->iterations;
	}
	gtu_plain_bfs_end(&s);
	return gtu_plain_end(&p, rc);
}
