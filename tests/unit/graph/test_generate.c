// SPDX-License-Identifier: MIT
/* Properties of the generators, as defined, and identical output for equal seeds. */
#include <math.h>
#include <stdbool.h>

#include "libruntime/graph/generate/generate.h"
#include "libruntime/graph/graph_build_parallel.h"
#include "tests/unit/library.h"

static bool has_edge(const struct gtu_graph *g, uint64_t u, uint64_t v)
{
	uint64_t low = g->row[u], high = g->row[u + 1];

	while (low < high) {
		uint64_t mid = low + (high - low) / 2;

		if (gtu_graph_target(g, mid) < v)
			low = mid + 1;
		else
			high = mid;
	}
	return low < g->row[u + 1] && gtu_graph_target(g, low) == v;
}

static void check_symmetric(const struct gtu_graph *g)
{
	uint64_t v, e;

	CHECK(!(g->flags & GTU_GRAPH_DIRECTED));
	for (v = 0; v < g->n; v++)
		for (e = g->row[v]; e < g->row[v + 1]; e++)
			CHECKF(has_edge(g, gtu_graph_target(g, e), v), "%s: %" PRIu64 " -> %" PRIu64 " has no opposite",
			       g->name, v, gtu_graph_target(g, e));
}

static struct gtu_graph_stat measure(const struct gtu_graph *g)
{
	struct gtu_graph_stat stat;

	OK(gtu_graph_measure(g, NULL, &stat, &err));
	return stat;
}

static void check_same(const struct gtu_graph *a, const struct gtu_graph *b)
{
	CHECK(a->n == b->n && a->m == b->m && a->edge_bytes == b->edge_bytes && a->weight_type == b->weight_type);
	CHECK(!memcmp(a->row, b->row, (a->n + 1) * 8));
	CHECK(!memcmp(a->col, b->col, a->m * a->edge_bytes));
	if (a->weight)
		CHECK(!memcmp(a->weight, b->weight, a->m * gtu_weight_bytes(a->weight_type)));
}

static const struct gtu_generate_options kinds[] = {
	{ .kind = GTU_GEN_KRONECKER, .scale = 13 },
	{ .kind = GTU_GEN_UNIFORM, .n = 9001 },
	{ .kind = GTU_GEN_POWERLAW, .n = 9001 },
	{ .kind = GTU_GEN_DELAUNAY, .n = 9001 },
	{ .kind = GTU_GEN_PLANAR, .n = 9001 },
	{ .kind = GTU_GEN_ROAD, .n = 9001 },
	/* not all 26 neighbours of a node, which do not depend on the seed */
	{ .kind = GTU_GEN_FEM3D, .n = 9001, .degree = 20 },
};
#define KINDS (LENGTH(kinds))

TEST(output_depends_on_seed_not_on_threads)
{
	for (size_t i = 0; i < KINDS; i++) {
		struct gtu_generate_options o = kinds[i];
		struct gtu_graph *a, *b, *c;

		o.seed = 7;
		o.random_weights = 100;
		o.threads = 1;
		a = generate(o);
		o.threads = 5;
		b = generate(o);
		check_same(a, b);
		check_symmetric(a);
		o.seed = 8;
		c = generate(o);
		CHECKF(c->m != a->m || memcmp(a->row, c->row, (a->n + 1) * 8) || memcmp(a->col, c->col, a->m * a->edge_bytes),
		       "%s: two seeds, the same edges", a->name);
	}
}

/* All nodes of a full mesh have the same neighbours, but other weights. */
TEST(weights_depend_on_seed)
{
	struct gtu_generate_options o = { .kind = GTU_GEN_FEM3D, .n = 1000, .seed = 7, .random_weights = 100 };
	struct gtu_graph *a = generate(o), *b;

	o.seed = 8;
	b = generate(o);
	CHECK(a->m == b->m && !memcmp(a->col, b->col, a->m * a->edge_bytes));
	CHECK(memcmp(a->weight, b->weight, a->m * 4));
}

TEST(random_weights_are_in_range_and_symmetric)
{
	struct gtu_graph *g = generate((struct gtu_generate_options){
		.kind = GTU_GEN_DELAUNAY, .n = 2000, .seed = 3, .random_weights = 10 });
	const uint32_t *w = g->weight;
	uint64_t v, e, f, count[11] = { 0 };

	for (v = 0; v < g->n; v++)
		for (e = g->row[v]; e < g->row[v + 1]; e++) {
			uint64_t t = gtu_graph_target(g, e);

			CHECK(w[e] >= 1 && w[e] <= 10);
			count[w[e]]++;
			for (f = g->row[t]; gtu_graph_target(g, f) != v; f++)
				;
			CHECK_EQ(w[f], w[e]);
		}
	for (v = 1; v <= 10; v++)
		CHECKF(fabs((double)count[v] / (double)g->m - 0.1) < 0.02, "weight %" PRIu64 ": %" PRIu64, v, count[v]);
}

TEST(kronecker_graphs_have_the_expected_hub_and_loops)
{
	const uint32_t scale = 14;
	struct gtu_graph *g = generate((struct gtu_generate_options){
		.kind = GTU_GEN_KRONECKER, .scale = scale, .degree = 8, .seed = 1, .directed = 1 });
	struct gtu_graph_stat s = measure(g);
	double expected, found = 0;
	uint64_t v, best;

	CHECK_EQ(g->n, 1 << scale);
	CHECK_EQ(g->m, 8 << scale);
	CHECK_EQ(g->stored, 8 << scale);
	/*
	 * the vertex whose bits are all zero (before the permutation) has a + b of the edges at
	 * every level
	 */
	expected = (double)g->m * pow(0.76, scale);
	CHECKF(fabs((double)s.max_degree - expected) < 6 * sqrt(expected), "greatest degree %" PRIu64 ", expected %g",
	       s.max_degree, expected);
	/* self-loops: both diagonal quadrants at every level */
	expected = (double)g->m * pow(0.57 + 0.05, scale);
	CHECKF(fabs((double)s.self_loops - expected) < 6 * sqrt(expected), "%" PRIu64 " self loops, expected %g",
	       s.self_loops, expected);
	/* in-degrees: a + c = .76, too; the maximum is at the same vertex as for out-degrees */
	best = s.max_vertex;
	for (v = 0; v < g->n; v++)
		found += has_edge(g, v, best);
	CHECKF(found > 0.3 * (double)s.max_degree, "vertex %" PRIu64 " is no hub of in-edges: %g", best, found);
	CHECK(s.isolated > g->n / 20);
}

TEST(permutation_is_bijective)
{
	static const uint64_t sizes[] = { 1, 2, 3, 5, 64, 1000, 4097 };
	static uint8_t hit[5000];
	uint64_t x, y, fixed = 0;

	for (size_t i = 0; i < LENGTH(sizes); i++) {
		memset(hit, 0, sizeof(hit));
		for (x = 0, fixed = 0; x < sizes[i]; x++) {
			y = gtu_permute(x, sizes[i], 42 + i);
			CHECKF(y < sizes[i] && !hit[y], "%" PRIu64 " of %" PRIu64 " goes to %" PRIu64, x, sizes[i], y);
			hit[y] = 1;
			fixed += x == y;
		}
		CHECKF(sizes[i] < 64 || fixed < 16, "%" PRIu64 " fixed points of %" PRIu64, fixed, sizes[i]);
	}
}

TEST(degrees_of_uniform_graphs_have_the_expected_variance)
{
	struct gtu_graph *g = generate((struct gtu_generate_options){
		.kind = GTU_GEN_UNIFORM, .n = 20000, .degree = 16, .seed = 5, .directed = 1 });
	double variance = 0, d;

	CHECK_EQ(g->m, 320000);
	for (uint64_t v = 0; v < g->n; v++) {
		d = (double)(g->row[v + 1] - g->row[v]) - 16;
		variance += d * d / (double)g->n;
	}
	CHECKF(fabs(variance - 16) < 1, "variance %g", variance);
}

TEST(power_law_degrees_have_the_given_exponent)
{
	struct gtu_graph *g = generate((struct gtu_generate_options){
		.kind = GTU_GEN_POWERLAW, .n = 200000, .degree = 16, .exponent = 2.5, .seed = 5 });
	double sum = 0, count = 0, least = 40, estimate;
	uint64_t v, d;

	CHECKF(fabs((double)g->m / (double)g->n - 16) < 0.1, "mean degree %g", (double)g->m / (double)g->n);
	/* Hill's estimator over the tail */
	for (v = 0; v < g->n; v++) {
		d = g->row[v + 1] - g->row[v];
		if ((double)d >= least) {
			sum += log((double)d / (least - 0.5));
			count++;
		}
	}
	estimate = 1 + count / sum;
	CHECKF(fabs(estimate - 2.5) < 0.15, "exponent %g of %g vertices", estimate, count);
}

static double orient(const uint32_t *p, uint64_t a, uint64_t b, uint64_t c)
{
	return ((double)p[2 * b] - p[2 * a]) * ((double)p[2 * c + 1] - p[2 * a + 1]) -
	       ((double)p[2 * b + 1] - p[2 * a + 1]) * ((double)p[2 * c] - p[2 * a]);
}

/* Strictly inside, with a margin for the rounding of this function. */
static bool inside(const uint32_t *p, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	long double x[3], y[3], det;
	uint64_t v[3] = { a, b, c };

	for (int i = 0; i < 3; i++) {
		x[i] = (long double)p[2 * v[i]] - p[2 * d];
		y[i] = (long double)p[2 * v[i] + 1] - p[2 * d + 1];
	}
	det = (x[0] * x[0] + y[0] * y[0]) * (x[1] * y[2] - x[2] * y[1]) +
	      (x[1] * x[1] + y[1] * y[1]) * (x[2] * y[0] - x[0] * y[2]) +
	      (x[2] * x[2] + y[2] * y[2]) * (x[0] * y[1] - x[1] * y[0]);
	return (orient(p, a, b, c) > 0 ? det : -det) > 0x1p50L;
}

/* Check that every triangular face has an empty circumcircle, over all points. */
static void check_delaunay(uint64_t n, uint64_t seed)
{
	uint32_t *xy = test_alloc(2 * n, sizeof(*xy));
	struct gtu_raw_graph raw = { .declared = true, .undirected = true, .n = n };
	struct gtu_graph *g;
	uint64_t u, e, f, faces = 0, edges, hull = 0, d;

	gtu_edges_init(&raw.edges, false);
	CHECK(!gtu_random_points(n, seed, xy, &err));
	CHECK(!gtu_triangulate(n, xy, NULL, &raw.edges, &err));
	edges = raw.edges.m;
	CHECKF(n < 3 || edges <= 3 * n - 6 + (n == 3), "%" PRIu64 " edges of %" PRIu64 " points", edges, n);
	OK(gtu_raw_finish(&raw, NULL, NULL, &g, &err));
	keep_graph(g);
	for (u = 0; u < n; u++)
		for (e = g->row[u]; e < g->row[u + 1]; e++) {
			uint64_t v = gtu_graph_target(g, e), apex[2] = { n, n };

			/* on each side the apex with the empty circle among common neighbours */
			for (f = g->row[u]; f < g->row[u + 1]; f++) {
				uint64_t w = gtu_graph_target(g, f);
				int side;

				if (w == v || !has_edge(g, v, w))
					continue;
				side = orient(xy, u, v, w) > 0;
				if (apex[side] == n || inside(xy, u, v, apex[side], w))
					apex[side] = w;
			}
			CHECKF(apex[0] != n || apex[1] != n || n < 3, "edge %" PRIu64 " %" PRIu64 " is in no triangle", u, v);
			if (apex[1] != n) {
				faces++;
				for (d = 0; d < n; d++)
					if (d != u && d != v && d != apex[1])
						CHECKF(!inside(xy, u, v, apex[1], d), "point %" PRIu64 " lies in a circle", d);
			} else {
				hull++;
			}
		}
	/*
	 * Euler: V - E + F = 2 with the outer face; each inner face was counted from its three
	 * edges
	 */
	if (n >= 3)
		CHECKF(n - edges + faces / 3 + 1 == 2 && faces % 3 == 0 && edges == 3 * n - 3 - hull,
		       "%" PRIu64 " points, %" PRIu64 " edges, %" PRIu64 " thirds of faces, hull %" PRIu64, n, edges,
		       faces, hull);
}

TEST(delaunay_triangles_have_empty_circumcircles)
{
	uint64_t n, seed;

	for (n = 1; n < 40; n++)
		for (seed = 0; seed < 10; seed++)
			check_delaunay(n, seed);
	check_delaunay(1500, 99);
}

static uint64_t edges_between(const uint32_t *xy, uint64_t n)
{
	struct gtu_edge_list l;
	uint64_t m;

	gtu_edges_init(&l, false);
	CHECK(!gtu_triangulate(n, xy, NULL, &l, &err));
	m = l.m;
	gtu_edges_free(&l);
	return m;
}

/* Collinear points, lattices (every circle through four points), and the corners of the range. */
TEST(delaunay_triangulates_collinear_points_and_lattices)
{
	static const uint32_t line[][2] = { { 1, 0 }, { 0, 1 }, { 1, 1 }, { 3, 7 } };
	const uint32_t top = (1u << 28) - 1;
	uint32_t xy[2 * 400], corners[] = { 0, 0, 0, top, top, 0, top, top, top / 2, top / 2 };
	uint64_t i, k, n;

	for (size_t d = 0; d < 4; d++)
		for (n = 1; n < 50; n++) {
			for (i = 0; i < n; i++) {
				xy[2 * i] = (uint32_t)i * line[d][0];
				xy[2 * i + 1] = (uint32_t)i * line[d][1];
			}
			CHECKF(edges_between(xy, n) == n - 1, "%" PRIu64 " points on line %zu", n, d);
		}
	for (k = 2; k <= 20; k++) {
		for (i = 0; i < k * k; i++) {
			xy[2 * i] = (uint32_t)(i % k * 1000);
			xy[2 * i + 1] = (uint32_t)(i / k * 1000);
		}
		/* 3n - 3 - (points on the hull) */
		CHECKF(edges_between(xy, k * k) == 3 * k * k - 3 - 4 * (k - 1), "lattice of %" PRIu64, k);
	}
	CHECK_EQ(edges_between(corners, 5), 8);
}

TEST(delaunay_graphs_are_connected_with_mean_degree_6)
{
	struct gtu_graph *g = generate((struct gtu_generate_options){ .kind = GTU_GEN_DELAUNAY, .n = 100000 });
	struct gtu_graph_stat s = measure(g);

	CHECK_EQ(s.components, 1);
	CHECK_EQ(s.self_loops + s.duplicates, 0);
	CHECKF(g->m / 2 <= 3 * g->n - 6 && s.mean_degree > 5.98, "mean degree %g", s.mean_degree);
}

TEST(planar_and_road_graphs_are_connected_at_every_degree)
{
	static const double degrees[] = { 2, 2.6, 3.3, 4.9, 5.5 };

	for (size_t i = 0; i < 5; i++) {
		struct gtu_graph *g = generate((struct gtu_generate_options){
			.kind = GTU_GEN_PLANAR, .n = 30000, .degree = degrees[i], .seed = i });
		struct gtu_graph_stat s = measure(g);

		CHECKF(s.components == 1 && !s.duplicates, "%s: %" PRIu64 " components", g->name, s.components);
		CHECKF(fabs(s.mean_degree - degrees[i]) < 0.01, "%s: mean degree %g", g->name, s.mean_degree);
		CHECK(g->m / 2 <= 3 * g->n - 6);
	}
	for (size_t i = 0; i < 3; i++) {
		struct gtu_graph *g = generate((struct gtu_generate_options){
			.kind = GTU_GEN_ROAD, .n = 30000, .degree = degrees[i], .seed = i });
		struct gtu_graph_stat s = measure(g);
		const uint32_t *w = g->weight;

		CHECKF(s.components == 1 && fabs(s.mean_degree - degrees[i]) < 0.01 && s.max_degree <= 4,
		       "%s: %" PRIu64 " components, mean degree %g", g->name, s.components, s.mean_degree);
		CHECK(g->n >= 30000 && g->n < 30000 + 174 && g->weight_type == GTU_WEIGHT_U32);
		for (uint64_t e = 0; e < g->m; e++)
			CHECKF(w[e] >= 400 && w[e] <= 1800, "length %u", w[e]);
	}
}

TEST(fem3d_has_the_degrees_of_a_27_point_stencil)
{
	struct gtu_graph *g = generate((struct gtu_generate_options){
		.kind = GTU_GEN_FEM3D, .n = 8000 * 4, .unknowns = 4 });
	struct gtu_graph_stat s = measure(g);

	CHECK_EQ(g->n, 32000);
	CHECK_EQ(s.max_degree, 27 * 4 - 1);
	CHECK_EQ(s.min_degree, 8 * 4 - 1);
	CHECK_EQ(g->m, 58ll * 58 * 58 * 16 - 32000);
	CHECK_EQ(s.self_loops + s.duplicates, 0);

	g = generate((struct gtu_generate_options){ .kind = GTU_GEN_FEM3D, .n = 60000, .degree = 97, .seed = 4 });
	s = measure(g);
	CHECKF(fabs(s.mean_degree - 97) < 0.5, "mean degree %g", s.mean_degree);
}

TEST(invalid_options_are_refused)
{
	static const struct gtu_generate_options wrong[] = {
		{ .kind = GTU_GENERATORS, .n = 5 },
		{ .kind = GTU_GEN_KRONECKER, .scale = 0 },
		{ .kind = GTU_GEN_KRONECKER, .scale = 41 },
		{ .kind = GTU_GEN_UNIFORM, .n = 0 },
		{ .kind = GTU_GEN_UNIFORM, .n = 10, .degree = -1 },
		{ .kind = GTU_GEN_UNIFORM, .n = 10, .degree = NAN },
		{ .kind = GTU_GEN_UNIFORM, .n = 10, .exponent = 3 },
		{ .kind = GTU_GEN_POWERLAW, .n = 10, .exponent = 2 },
		{ .kind = GTU_GEN_PLANAR, .n = 10, .degree = 6.5 },
		{ .kind = GTU_GEN_DELAUNAY, .n = 10, .degree = 5 },
		{ .kind = GTU_GEN_ROAD, .n = 10, .directed = 1 },
		{ .kind = GTU_GEN_FEM3D, .n = 1000, .degree = 300, .unknowns = 2 },
		{ .kind = GTU_GEN_UNIFORM, .n = 10, .edge_bytes = 5 },
	};
	struct gtu_graph *g;

	for (size_t i = 0; i < LENGTH(wrong); i++) {
		err.text[0] = 0;
		CHECKF(gtu_graph_generate(&wrong[i], NULL, &g, &err) == GTU_ERR_USAGE && !g && *err.text, "case %zu", i);
	}
}

static int stop_at(void *user, const char *what, uint64_t done, uint64_t total)
{
	int *left = user;

	(void)what, (void)done, (void)total;
	return (*left)-- <= 0;
}

TEST(every_generator_can_be_canceled)
{
	struct gtu_graph *g;
	int after;

	for (size_t i = 0; i < KINDS; i++)
		for (after = 0; after < 3; after++) {
			int left = after;
			struct gtu_progress progress = { stop_at, &left };

			CHECKF(gtu_graph_generate(&kinds[i], &progress, &g, &err) == GTU_ERR_INTERRUPTED && !g,
			       "%s after %d ticks", gtu_generator_name(kinds[i].kind), after);
		}
}

/* Lists below and above the sorting threshold. */
TEST(the_parallel_builder_equals_the_serial_one)
{
	const uint64_t n = 1200, pairs = 60000, base = 5;
	uint64_t *from = test_alloc(pairs, 8), *to = test_alloc(pairs, 8), state = 3, e, m, *row, both;
	uint32_t *src = test_alloc(pairs, 4), *dst = test_alloc(pairs, 4), *col;
	struct gtu_graph *g;

	for (e = 0; e < pairs; e++) {
		from[e] = e % 3 ? test_random(&state) % n : 7;
		to[e] = e % 5 ? test_random(&state) % (n / 2) : from[e];
		src[e] = (uint32_t)(from[e] + base);
		dst[e] = (uint32_t)(to[e] + base);
	}
	for (both = 0; both < 2; both++) {
		g = from_edges(n, pairs, from, to, both ? GTU_UNDIRECTED : GTU_DIRECTED, 4);
		CHECK(!gtu_build_parallel(src, dst, pairs, n, base, both, NULL, &row, &col, &m));
		CHECK_EQ(m, g->m);
		CHECK(!memcmp(row, g->row, 8 * (n + 1)) && !memcmp(col, g->col, 4 * m));
		free(row), free(col);
	}
}

static void check_transpose(uint64_t n, uint64_t m)
{
	uint64_t *from = test_alloc(m > n ? m : n + 1, 8), *to = test_alloc(m, 8), state = 4, e, *row;
	uint32_t *col, *changed = test_alloc(m, 4);
	struct gtu_graph *g, *t;

	for (e = 0; e < m; e++) {
		from[e] = test_random(&state) % n;
		to[e] = e % 3 ? test_random(&state) % (n / 2) : 7;
	}
	g = from_edges(n, m, from, to, GTU_DIRECTED, 4);
	OK(gtu_graph_transpose(g, NULL, &t, &err));
	CHECK(!gtu_transpose_parallel(g->row, g->col, m, n, NULL, &row, &col));
	CHECK(!memcmp(row, t->row, 8 * (n + 1)) && !memcmp(col, t->col, 4 * m));
	free(row), free(col);
	memcpy(changed, g->col, 4 * m);
	changed[777] = (uint32_t)n;
	CHECK_EQ(gtu_transpose_parallel(g->row, changed, m, n, NULL, &row, &col), GTU_ERR_INPUT);
	memcpy(from, g->row, 8 * (n + 1));
	from[n / 2] = m + 1;
	CHECK_EQ(gtu_transpose_parallel(from, g->col, m, n, NULL, &row, &col), GTU_ERR_INPUT);
	memcpy(from, g->row, 8 * (n + 1));
	from[n]--;
	CHECK_EQ(gtu_transpose_parallel(from, g->col, m, n, NULL, &row, &col), GTU_ERR_INPUT);
	gtu_graph_close(t);
}

/* Also of several blocks; a graph that has changed since its check is reported. */
TEST(the_parallel_transpose_equals_the_serial_one)
{
	check_transpose(1200, 60000);
	check_transpose(200000, 60000);
}

TEST_MAIN
