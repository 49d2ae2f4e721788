// SPDX-License-Identifier: MIT
/*
 * Delaunay triangulation by divide and conquer (Guibas and Stolfi, "Primitives for the manipulation
 * of general subdivisions and the computation of Voronoi diagrams", 1985), O(n log n). Points are
 * on an integer lattice, so both predicates are exact in 128 bits, including collinear and
 * cocircular points.
 */
#include <stdlib.h>
#include <string.h>

#include "generate.h"

#define LATTICE_BITS 28			/* incircle: 2 * 29 + 1 and 2 * 29 + 1 bits multiplied, 3 added: 121 */
#define NO_EDGE UINT32_MAX

struct point {
	int32_t x, y;
};

/* A directed edge; its opposite is e ^ 1. */
struct half_edge {
	uint32_t origin;
	uint32_t next, prev;		/* around the origin, counterclockwise and clockwise */
};

struct mesh {
	const struct point *p;		/* by x, then y */
	struct half_edge *e;
	uint32_t edges, free;		/* number allocated; free list, linked by next */
	uint64_t n, done;
	const struct gtu_progress *progress;
	bool stopped;
};

struct hull {
	uint32_t left, right;		/* ccw hull edge out of the leftmost point, cw one out of the rightmost */
};

static int64_t cross(const struct point *a, const struct point *b, const struct point *c)
{
	return (int64_t)(b->x - a->x) * (c->y - a->y) - (int64_t)(b->y - a->y) * (c->x - a->x);
}

/* Whether @d is inside the circle through @a, @b, @c (counterclockwise). */
static bool in_circle(const struct mesh *t, uint32_t ia, uint32_t ib, uint32_t ic, uint32_t id)
{
	const struct point *a = &t->p[ia], *b = &t->p[ib], *c = &t->p[ic], *d = &t->p[id];
	int64_t ax = a->x - d->x, ay = a->y - d->y, bx = b->x - d->x, by = b->y - d->y;
	int64_t cx = c->x - d->x, cy = c->y - d->y;
	__int128 sum = (__int128)(ax * ax + ay * ay) * (bx * cy - cx * by);

	sum += (__int128)(bx * bx + by * by) * (cx * ay - ax * cy);
	sum += (__int128)(cx * cx + cy * cy) * (ax * by - bx * ay);
	return sum > 0;
}

static uint32_t origin(const struct mesh *t, uint32_t e)
{
	return t->e[e].origin;
}

static uint32_t target(const struct mesh *t, uint32_t e)
{
	return t->e[e ^ 1].origin;
}

static bool left_of(const struct mesh *t, uint32_t point, uint32_t e)
{
	return cross(&t->p[point], &t->p[origin(t, e)], &t->p[target(t, e)]) > 0;
}

static bool right_of(const struct mesh *t, uint32_t point, uint32_t e)
{
	return cross(&t->p[point], &t->p[target(t, e)], &t->p[origin(t, e)]) > 0;
}

static uint32_t make_edge(struct mesh *t, uint32_t from, uint32_t to)
{
	uint32_t e = t->free;

	if (e != NO_EDGE) {
		t->free = t->e[e].next;
	} else {
		e = t->edges;
		t->edges += 2;
	}
	t->e[e] = (struct half_edge){ from, e, e };
	t->e[e ^ 1] = (struct half_edge){ to, e ^ 1, e ^ 1 };
	return e;
}

static void splice(struct mesh *t, uint32_t a, uint32_t b)
{
	uint32_t an = t->e[a].next, bn = t->e[b].next;

	t->e[a].next = bn;
	t->e[b].next = an;
	t->e[bn].prev = a;
	t->e[an].prev = b;
}

/* Connect the target of @a to the origin of @b, which share their left face. */
static uint32_t connect_edges(struct mesh *t, uint32_t a, uint32_t b)
{
	uint32_t e = make_edge(t, target(t, a), origin(t, b));

	splice(t, e, t->e[a ^ 1].prev);
	splice(t, e ^ 1, b);
	return e;
}

static void delete_edge(struct mesh *t, uint32_t e)
{
	splice(t, e, t->e[e].prev);
	splice(t, e ^ 1, t->e[e ^ 1].prev);
	e &= ~1u;
	t->e[e].origin = t->e[e ^ 1].origin = NO_EDGE;
	t->e[e].next = t->free;
	t->free = e;
}

static struct hull few_points(struct mesh *t, uint32_t first, uint32_t end)
{
	uint32_t a = make_edge(t, first, first + 1), b, c;
	int64_t turn;

	if (end - first == 2)
		return (struct hull){ a, a ^ 1 };
	b = make_edge(t, first + 1, first + 2);
	splice(t, a ^ 1, b);
	turn = cross(&t->p[first], &t->p[first + 1], &t->p[first + 2]);
	if (!turn)
		return (struct hull){ a, b ^ 1 };
	c = connect_edges(t, b, a);
	return turn > 0 ? (struct hull){ a, b ^ 1 } : (struct hull){ c ^ 1, c };
}

static uint32_t neighbour(const struct mesh *t, uint32_t e, bool left)
{
	return left ? t->e[e].next : t->e[e].prev;
}

/* Find the left or right candidate: its triangle with the base must not contain another point of its side. */
static uint32_t candidate(struct mesh *t, uint32_t base, bool left)
{
	uint32_t c = neighbour(t, left ? base ^ 1 : base, left), next;

	if (!right_of(t, target(t, c), base))
		return NO_EDGE;
	for (;;) {
		next = neighbour(t, c, left);
		if (!in_circle(t, target(t, base), origin(t, base), target(t, c), target(t, next)))
			return c;
		delete_edge(t, c);
		c = next;
	}
}

static struct hull merge(struct mesh *t, struct hull l, struct hull r)
{
	uint32_t left = l.right, right = r.left, base, lc, rc;

	/* find the lower common tangent */
	for (;;) {
		if (left_of(t, origin(t, right), left))
			left = t->e[left ^ 1].prev;
		else if (right_of(t, origin(t, left), right))
			right = t->e[right ^ 1].next;
		else
			break;
	}
	base = connect_edges(t, right ^ 1, left);
	if (origin(t, left) == origin(t, l.left))
		l.left = base ^ 1;
	if (origin(t, right) == origin(t, r.right))
		r.right = base;
	/* merge upwards, edge by edge */
	for (;;) {
		lc = candidate(t, base, true);
		rc = candidate(t, base, false);
		if (lc == NO_EDGE && rc == NO_EDGE)
			return (struct hull){ l.left, r.right };
		if (lc == NO_EDGE || (rc != NO_EDGE && in_circle(t, target(t, lc), origin(t, lc),
								 origin(t, rc), target(t, rc))))
			base = connect_edges(t, rc, base ^ 1);
		else
			base = connect_edges(t, base ^ 1, lc ^ 1);
	}
}

/* Recursion depth is log2(n): the halves differ by one at most. */
static struct hull triangulate(struct mesh *t, uint32_t first, uint32_t end)
{
	uint32_t middle = first + (end - first) / 2;
	struct hull left, right;

	if (end - first <= 3) {
		t->done += end - first;
		if (t->done % 65536 < end - first && gtu_tick(t->progress, "triangulating", t->done, t->n))
			t->stopped = true;
		return few_points(t, first, end);
	}
	left = triangulate(t, first, middle);
	if (t->stopped)
		return left;
	right = triangulate(t, middle, end);
	if (t->stopped)
		return right;
	return merge(t, left, right);
}

/* Position of a lattice point on the Hilbert curve. */
static uint64_t hilbert(uint32_t x, uint32_t y)
{
	uint32_t bit, flip;
	uint64_t d = 0;

	for (bit = 1u << (LATTICE_BITS - 1); bit; bit >>= 1) {
		uint32_t rx = (x & bit) != 0, ry = (y & bit) != 0;

		d = d << 2 | ((3 * rx) ^ ry);
		if (!ry) {
			if (rx) {
				x = ~x;
				y = ~y;
			}
			flip = x;
			x = y;
			y = flip;
		}
	}
	return d;
}

struct keyed {
	uint64_t key;
	struct point p;
	uint32_t vertex;
};

/*
 * LSD radix sort by key; @spare has the same length. Returns the sorted array; the other one is
 * garbage.
 */
static struct keyed *sort_keyed(struct keyed *a, struct keyed *spare, uint64_t n)
{
	uint64_t start[256], i;
	struct keyed *swap;
	unsigned int shift;

	for (shift = 0; shift < 2 * LATTICE_BITS; shift += 8) {
		memset(start, 0, sizeof(start));
		for (i = 0; i < n; i++)
			start[a[i].key >> shift & 255]++;
		gtu_prefix_sum(start, 256);
		for (i = 0; i < n; i++)
			spare[start[a[i].key >> shift & 255]++] = a[i];
		swap = a;
		a = spare;
		spare = swap;
	}
	return a;
}

static void draw_point(struct keyed *k, uint64_t *state)
{
	uint64_t r = gtu_splitmix64_next(state);

	k->p.x = (int32_t)(r & ((1u << LATTICE_BITS) - 1));
	k->p.y = (int32_t)(r >> 32 & ((1u << LATTICE_BITS) - 1));
	k->key = hilbert((uint32_t)k->p.x, (uint32_t)k->p.y);
}

/* Draw n distinct points in Hilbert curve order; duplicates are drawn again. */
static struct keyed *draw_points(struct keyed *a, struct keyed *spare, uint64_t n, uint64_t seed)
{
	uint64_t state = gtu_rand_stream(seed, 0), i;
	struct keyed *sorted = a;
	bool again = true;

	for (i = 0; i < n; i++)
		draw_point(&a[i], &state);
	while (again) {
		sorted = sort_keyed(sorted, sorted == a ? spare : a, n);
		for (i = 1, again = false; i < n; i++)
			if (sorted[i].key == sorted[i - 1].key) {
				draw_point(&sorted[i - 1], &state);
				again = true;
			}
	}
	return sorted;
}

/* Sort the points by x, then y; vertex[] keeps their numbers. */
static int sort_points(uint64_t n, const uint32_t *xy, struct point *p, uint32_t *vertex)
{
	struct keyed *a = malloc(n * sizeof(*a)), *b = malloc(n * sizeof(*b)), *k;
	uint64_t i;

	if (!a || !b) {
		free(a);
		free(b);
		return -1;
	}
	for (i = 0; i < n; i++) {
		a[i].p = (struct point){ (int32_t)xy[2 * i], (int32_t)xy[2 * i + 1] };
		a[i].key = (uint64_t)xy[2 * i] << LATTICE_BITS | xy[2 * i + 1];
		a[i].vertex = (uint32_t)i;
	}
	k = sort_keyed(a, b, n);
	for (i = 0; i < n; i++) {
		p[i] = k[i].p;
		vertex[i] = k[i].vertex;
	}
	free(a);
	free(b);
	return 0;
}

int gtu_triangulate(uint64_t n, const uint32_t *xy, const struct gtu_progress *progress,
		    struct gtu_edge_list *l, struct gtu_error *err)
{
	struct mesh t = { .n = n, .free = NO_EDGE, .progress = progress };
	struct point *p = malloc(n * sizeof(*p));
	uint32_t *vertex = malloc(n * sizeof(*vertex)), e;
	int rc = 0;

	if (!p || !vertex || sort_points(n, xy, p, vertex))
		goto no_memory;
	t.p = p;
	/* the mesh is always planar: at most 3n edges */
	t.e = malloc(6 * n * sizeof(*t.e));
	if (!t.e)
		goto no_memory;
	if (n >= 2)
		triangulate(&t, 0, (uint32_t)n);
	if (t.stopped)
		rc = gtu_fail(err, GTU_ERR_INTERRUPTED, "generating was stopped");
	for (e = 0; e < t.edges && !rc; e += 2)
		if (t.e[e].origin != NO_EDGE)
			rc = gtu_edges_push(l, vertex[t.e[e].origin], vertex[t.e[e ^ 1].origin], err);
	goto out;
no_memory:
	rc = gtu_fail(err, GTU_ERR_NOMEM, "out of memory for %llu points", (unsigned long long)n);
out:
	free(p);
	free(vertex);
	free(t.e);
	return rc;
}

int gtu_random_points(uint64_t n, uint64_t seed, uint32_t *xy, struct gtu_error *err)
{
	struct keyed *a = malloc(n * sizeof(*a)), *b = malloc(n * sizeof(*b)), *k;
	uint64_t i;
	int rc = 0;

	if (a && b) {
		k = draw_points(a, b, n, seed);
		for (i = 0; i < n; i++) {
			xy[2 * i] = (uint32_t)k[i].p.x;
			xy[2 * i + 1] = (uint32_t)k[i].p.y;
		}
	} else {
		rc = gtu_fail(err, GTU_ERR_NOMEM, "out of memory for %llu points",
			      (unsigned long long)n);
	}
	free(a);
	free(b);
	return rc;
}

int gtu_delaunay(uint64_t n, uint64_t seed, const struct gtu_progress *progress,
		 struct gtu_edge_list *l, struct gtu_error *err)
{
	uint32_t *xy = malloc(n * 2 * sizeof(*xy));
	int rc;

	if (!xy)
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for %llu points",
				(unsigned long long)n);
	rc = gtu_random_points(n, seed, xy, err);
	if (!rc)
		rc = gtu_triangulate(n, xy, progress, l, err);
	free(xy);
	return rc;
}

static int generate(const struct gtu_generate_options *opt, const struct gtu_progress *progress,
		    struct gtu_raw_graph *raw, struct gtu_error *err)
{
	raw->n = opt->n;
	return gtu_delaunay(opt->n, opt->seed, progress, &raw->edges, err);
}

/* half-edges have 32-bit indices */
const struct gtu_generator_entry gtu_generator_delaunay = { "delaunay", 1ull << 29, 0, 0, 0, generate, NULL };
