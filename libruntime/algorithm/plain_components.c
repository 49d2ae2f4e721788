// SPDX-License-Identifier: MIT
/*
 * Weakly connected components on all CPUs by Afforest (Sutton, Ben-Nun, Barak: Optimizing parallel
 * graph connectivity computation via subgraph sampling, IPDPS 2018): the first edges of every vertex
 * are linked, which finds most of the largest component; its vertices are then skipped if each edge
 * is stored in both directions, since their other ends link them. Links go from the higher to the
 * lower root, so that a component's root is its lowest vertex.
 */
#include "gtu/splitmix64.h"
#include "plain.h"

#define LEAST	256u			/* vertices per share */
#define ROUNDS	2u			/* edges per vertex of the sampled graph */
#define SAMPLES	1024u

struct afforest {
	struct gtu_plain *p;
	void *parent;			/* n of id_width bytes */
	uint64_t round;			/* ROUNDS: all remaining edges */
	uint64_t largest;		/* root whose vertices are skipped; GTU_NO_VERTEX: none */
	uint64_t *component;		/* output */
};

GTU_PER_WIDTH uint64_t parent_of(const struct afforest *f, uint64_t v, uint32_t width)
{
	return width == 8 ? __atomic_load_n((uint64_t *)f->parent + v, __ATOMIC_RELAXED) :
			    __atomic_load_n((uint32_t *)f->parent + v, __ATOMIC_RELAXED);
}

/* Replace the parent of @v, which is @was; false if another thread has. */
GTU_PER_WIDTH bool replace(struct afforest *f, uint64_t v, uint64_t was, uint64_t parent, uint32_t width)
{
	uint32_t narrow = (uint32_t)was;

	if (gtu_plain_alone(f->p)) {
		gtu_put(f->parent, width, v, parent);
		return true;
	}
	return width == 8 ? __atomic_compare_exchange_n((uint64_t *)f->parent + v, &was, parent, false,
							__ATOMIC_RELAXED, __ATOMIC_RELAXED) :
			    __atomic_compare_exchange_n((uint32_t *)f->parent + v, &narrow, (uint32_t)parent, false,
							__ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

GTU_PER_WIDTH void join(struct afforest *f, uint64_t u, uint64_t v, uint32_t width)
{
	uint64_t high, low, above;

	u = parent_of(f, u, width);
	v = parent_of(f, v, width);
	while (u != v) {
		high = u > v ? u : v;
		low = u > v ? v : u;
		above = parent_of(f, high, width);
		if (above == low || (above == high && replace(f, high, high, low, width)))
			return;
		u = parent_of(f, parent_of(f, high, width), width);
		v = parent_of(f, low, width);
	}
}

GTU_PER_WIDTH int join_edges(struct afforest *f, uint64_t first, uint64_t end, uint32_t width)
{
	struct gtu_plain *p = f->p;
	const struct gtu_graph *g = p->a->g;
	uint64_t v, e, e_end, target, traversed = 0;
	int rc;

	for (v = p->a->first + first; v < p->a->first + end; v++) {
		if (f->round == ROUNDS && parent_of(f, v, width) == f->largest)
			continue;
		rc = gtu_plain_edges(p, g, v, &e, &e_end);
		if (rc)
			return rc;
		e = e_end - e < f->round ? e_end : e + f->round;
		if (f->round < ROUNDS && e < e_end)
			e_end = e + 1;
		traversed += e_end - e;
		for (; e < e_end; e++) {
			target = gtu_get(g->col, width, e);
			if (gtu_unlikely(target >= g->n))
				return gtu_plain_bad(&p->bad_edge, e);
			join(f, v, target, width);
		}
	}
	return gtu_alg_shares_progress(&p->shares, traversed);
}

static int join_share(void *arg, unsigned thread, uint64_t first, uint64_t end)
{
	struct afforest *f = arg;

	(void)thread;
	return f->p->a->id_width == 8 ? join_edges(f, first, end, 8) : join_edges(f, first, end, 4);
}

static int start_share(void *arg, unsigned thread, uint64_t first, uint64_t end)
{
	struct afforest *f = arg;
	const uint32_t width = f->p->a->id_width;
	uint64_t v;

	(void)thread;
	for (v = first; v < end; v++)
		gtu_put(f->parent, width, v, v);
	return 0;
}

/* The root of @v. Other threads only shorten paths meanwhile. */
GTU_PER_WIDTH uint64_t root_of(const struct afforest *f, uint64_t v, uint32_t width)
{
	uint64_t parent = parent_of(f, v, width), above;

	for (above = parent_of(f, parent, width); parent != above; above = parent_of(f, parent, width))
		parent = above;
	return parent;
}

/* Point every vertex to its root. */
GTU_PER_WIDTH void compress(struct afforest *f, uint64_t first, uint64_t end, uint32_t width)
{
	uint64_t v, root;

	for (v = first; v < end; v++) {
		root = root_of(f, v, width);
		if (root == parent_of(f, v, width))
			continue;
		if (width == 8)
			__atomic_store_n((uint64_t *)f->parent + v, root, __ATOMIC_RELAXED);
		else
			__atomic_store_n((uint32_t *)f->parent + v, (uint32_t)root, __ATOMIC_RELAXED);
	}
}

static int compress_share(void *arg, unsigned thread, uint64_t first, uint64_t end)
{
	struct afforest *f = arg;

	(void)thread;
	if (f->p->a->id_width == 8)
		compress(f, first, end, 8);
	else
		compress(f, first, end, 4);
	return gtu_alg_shares_poll(&f->p->shares);
}

static int write_share(void *arg, unsigned thread, uint64_t first, uint64_t end)
{
	struct afforest *f = arg;
	const uint32_t width = f->p->a->id_width;
	uint64_t v;

	(void)thread;
	for (v = first; v < end; v++)
		f->component[v] = root_of(f, v, width);
	return gtu_alg_shares_poll(&f->p->shares);
}

/* The root that most of a sample of the vertices have. */
static uint64_t sample_largest(const struct afforest *f)
{
	struct { uint64_t root, count; } slot[2 * SAMPLES] = { 0 };
	uint64_t state = 1, root, i, at, best = 0;

	for (i = 0; i < SAMPLES; i++) {
		root = gtu_get(f->parent, f->p->a->id_width, gtu_splitmix64_next(&state) % f->p->a->g->n);
		for (at = root % (2 * SAMPLES); slot[at].count && slot[at].root != root; at = (at + 1) % (2 * SAMPLES))
			;
		slot[at].root = root;
		if (++slot[at].count > slot[best].count)
			best = at;
	}
	return slot[best].root;
}

static int join_all(struct afforest *f)
{
	struct gtu_plain *p = f->p;
	const struct gtu_alg *a = p->a;
	const struct gtu_graph *g = a->g;
	int rc = gtu_plain_loop(p, g, LEAST, start_share, f, g->n);

	for (f->round = 0; !rc && f->round <= ROUNDS; f->round++) {
		f->largest = GTU_NO_VERTEX;
		if (f->round == ROUNDS && !(g->flags & GTU_GRAPH_DIRECTED) && !a->first && a->end == g->n)
			f->largest = sample_largest(f);
		rc = gtu_plain_loop(p, g, LEAST, join_share, f, a->end - a->first);
		if (!rc)
			rc = gtu_plain_loop(p, g, LEAST, f->round < ROUNDS ? compress_share : write_share, f, g->n);
	}
	return rc;
}

int gtu_plain_components(struct gtu_alg *a, uint64_t *component)
{
	struct afforest f = { .component = component };
	struct gtu_plain p;
	int rc;

	gtu_phase(&a->phases, "traverse");
	gtu_plain_begin(&p, a);
	f.p = &p;
	rc = gtu_plain_alloc(&p, a->g->n, a->id_width, &f.parent);
	if (!rc && a->g->n)
		rc = join_all(&f);
	rc = gtu_plain_end(&p, rc);
	if (!rc)
		gtu_phases_iteration(&a->phases, a->opt, a->g->n);
	return rc;
}
