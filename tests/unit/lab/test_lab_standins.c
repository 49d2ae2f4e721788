// SPDX-License-Identifier: MIT
/* Stand-in graphs have the locality and the degrees that were measured on real graphs. */
#include "lab_test.h"
#include "tools/experiments/lab_standins.h"
#include "tools/reference/reference.h"
#include "tools/support/graph_community.h"
#include "tools/support/graph_order.h"

static struct gtu_graph *standin(struct gtu_generate_options o)
{
	struct gtu_graph *g;

	CHECKF(!lab_standin_generate(&o, NULL, &g, &err), "%s", err.text);
	return g;
}

static struct graph_order order_of(const struct gtu_graph *g)
{
	struct graph_order order;

	CHECKF(!graph_order_measure(g, NULL, &order, &err), "%s", err.text);
	return order;
}

/* Mean degree at the end of an edge. */
static double edge_degree(const struct gtu_graph *g)
{
	double sum = 0;
	uint64_t v;

	for (v = 0; v < g->n; v++)
		sum += (double)(g->row[v + 1] - g->row[v]) * (double)(g->row[v + 1] - g->row[v]);
	return sum / (double)g->m;
}

static bool near(double value, double expected, double part)
{
	return fabs(value / expected - 1) <= part;
}

/* 64 vertices, each with an edge to the one 32 before or behind: one line for each half. */
TEST(order_is_measured)
{
	static uint64_t row[65];
	static uint32_t col[64];
	const struct gtu_graph g = { .name = "pairs", .n = 64, .m = 64, .edge_bytes = 4, .row = row, .col = col };
	struct graph_order order;
	uint32_t v;

	for (v = 0; v < 64; v++) {
		row[v + 1] = v + 1;
		col[v] = v ^ 32;
	}
	order = order_of(&g);
	CHECKF(order.distance == 0.5 && order.lines == 1, "%g, %g", order.distance, order.lines);
	for (v = 0; v < 64; v++)
		col[v] = v % 2 ? 0 : 32;
	order = order_of(&g);
	CHECKF(order.lines == 2, "%g", order.lines);
}

/* The values of the real files, by `gtu stat`. */
TEST(standins_have_measured_locality)
{
	static const struct {
		struct gtu_generate_options o;
		double distance, lines, degree, edge_degree;
	} rows[] = {
		/* delaunay_n13, _n16, cond-mat-2005, bio-CE-CX */
		{ { .kind = LAB_STANDIN_DELAUNAY, .n = 8192 }, 0.196, 5.79, 6, 6.3 },
		{ { .kind = LAB_STANDIN_DELAUNAY, .n = 65536 }, 0.192, 5.90, 6, 6.3 },
		{ { .kind = LAB_STANDIN_COAUTHORS, .n = 40421, .degree = 8.7 }, 0.229, 18.6, 8.7, 27.3 },
		{ { .kind = LAB_STANDIN_MODULES, .n = 15229, .degree = 32.3 }, 0.165, 17.7, 32.3, 96.2 },
	};
	unsigned i;

	for (i = 0; i < LENGTH(rows); i++) {
		struct gtu_graph *g = standin(rows[i].o);
		struct graph_order order = order_of(g);

		CHECKF(near(order.lines, rows[i].lines, 0.15) && near(order.distance, rows[i].distance, 0.4), "%s: %g lines, distance %g",
		       g->name, order.lines, order.distance);
		CHECKF(near((double)g->m / (double)g->n, rows[i].degree, 0.1) && near(edge_degree(g), rows[i].edge_degree, 0.25),
		       "%s: degree %g, at an edge %g", g->name, (double)g->m / (double)g->n, edge_degree(g));
		gtu_graph_close(g);
	}
}

static bool adjacent(const struct gtu_graph *g, uint64_t v, uint64_t to)
{
	uint64_t begin = g->row[v], end = g->row[v + 1];

	while (begin < end) {
		uint64_t half = begin + (end - begin) / 2, at = gtu_graph_target(g, half);

		if (at == to)
			return true;
		if (at < to)
			begin = half + 1;
		else
			end = half;
	}
	return false;
}

/* Share of the pairs of a vertex's neighbours that are neighbours; mean over the vertices with two or more. */
static double clustering(const struct gtu_graph *g)
{
	uint64_t v, e, f, pairs, closed, counted = 0;
	double sum = 0;

	for (v = 0; v < g->n; v++) {
		for (pairs = closed = 0, e = g->row[v]; e < g->row[v + 1]; e++)
			for (f = e + 1; f < g->row[v + 1]; f++, pairs++)
				closed += adjacent(g, gtu_graph_target(g, e), gtu_graph_target(g, f));
		if (!pairs)
			continue;
		sum += (double)closed / (double)pairs;
		counted++;
	}
	return sum / (double)counted;
}

/* Vertices that have no neighbour among those chosen before: about one for each of separate cliques. */
static uint64_t independent(const struct gtu_graph *g)
{
	uint8_t *near = calloc(g->n, 1);
	uint64_t v, e, n = 0;

	for (v = 0; v < g->n; v++) {
		if (near[v])
			continue;
		n++;
		for (e = g->row[v]; e < g->row[v + 1]; e++)
			near[gtu_graph_target(g, e)] = 1;
	}
	free(near);
	return n;
}

/* The values of web-uk-2005: mean degree 181; 127,774 of its 129,632 pages cover all links. */
TEST(pages_are_in_cliques)
{
	struct gtu_graph *g = standin((struct gtu_generate_options){ .kind = LAB_STANDIN_PAGES, .n = 16384, .degree = 181 });

	CHECKF(near((double)g->m / (double)g->n, 181, 0.15) && near((double)independent(g) / (double)g->n, 0.0143, 0.25),
	       "degree %g, %g of the vertices are independent", (double)g->m / (double)g->n, (double)independent(g) / (double)g->n);
	CHECKF(clustering(g) > 0.95, "%g", clustering(g));
	gtu_graph_close(g);
}

/* The values of COLLAB: 5000 networks of 74.5 vertices, of 32 at least, and 2457.8 edges, each listed twice. */
TEST(ego_networks_are_separate)
{
	struct gtu_graph *g = standin((struct gtu_generate_options){ .kind = LAB_STANDIN_EGOS, .n = 37000, .seed = 3 });
	struct gtu_graph_stat stat;
	double networks;

	CHECK(!gtu_graph_measure(g, NULL, &stat, &err));
	networks = (double)stat.components;
	CHECKF(near((double)g->n / networks, 74.5, 0.1) && near((double)g->m / 4 / networks, 2457.8, 0.1), "%g vertices, %g edges",
	       (double)g->n / networks, (double)g->m / 4 / networks);
	CHECK_EQ(2 * stat.duplicates, g->m);
	CHECK_EQ(stat.isolated, 0);
	CHECK(g->n >= 37000 && g->n < 37000 + 1000);
	gtu_graph_close(g);
}

/* Every vertex but the first ten has ten edges to earlier ones; the oldest have the most. */
TEST(attached_vertices_are_numbered_by_age)
{
	struct gtu_graph *g = standin((struct gtu_generate_options){ .kind = LAB_STANDIN_ATTACHED, .n = 4000, .degree = 20, .seed = 3 });
	struct gtu_graph_stat stat;
	uint64_t v, e, earlier;

	CHECK(!gtu_graph_measure(g, NULL, &stat, &err));
	CHECK_EQ(stat.self_loops + stat.duplicates, 0);
	CHECK_EQ(g->m, 2 * 10 * (4000 - 10));
	for (v = 10; v < g->n; v++) {
		for (earlier = 0, e = g->row[v]; e < g->row[v + 1]; e++)
			earlier += gtu_graph_target(g, e) < v;
		CHECK_EQ(earlier, 10);
	}
	/* a vertex's degree falls with the root of its number */
	CHECK(g->row[100] > 5 * (g->row[4000] - g->row[3900]));
	gtu_graph_close(g);
}

/* Eight cliques, whose members are not numbered one after the other, in a ring. */
TEST(communities_are_numbered_one_after_the_other)
{
	enum { CLIQUES = 8, SIZE = 16 };
	static uint64_t from[CLIQUES * SIZE * SIZE], to[CLIQUES * SIZE * SIZE];
	const struct gtu_read_options o = { .direction = GTU_UNDIRECTED };
	struct gtu_graph *g, *ordered;
	struct gtu_graph_stat a, b;
	uint64_t m = 0, c, i, k, outside = 0, v, e;

	for (c = 0; c < CLIQUES; c++) {
		for (i = 0; i < SIZE; i++)
			for (k = i + 1; k < SIZE; k++, m++) {
				from[m] = i * CLIQUES + c;
				to[m] = k * CLIQUES + c;
			}
		from[m] = c;
		to[m++] = (c + 1) % CLIQUES;
	}
	CHECKF(!gtu_graph_from_edges(CLIQUES * SIZE, m, from, to, GTU_WEIGHT_NONE, NULL, &o, &g, &err), "%s", err.text);
	CHECKF(!graph_community_order(g, &ordered, &err), "%s", err.text);
	CHECK(!gtu_graph_measure(g, NULL, &a, &err) && !gtu_graph_measure(ordered, NULL, &b, &err));
	CHECK_EQ(a.m, b.m);
	CHECK_EQ(b.components, 1);
	CHECK(!memcmp(a.histogram, b.histogram, sizeof(a.histogram)));
	for (v = 0; v < ordered->n; v++)
		for (e = ordered->row[v]; e < ordered->row[v + 1]; e++)
			outside += gtu_graph_target(ordered, e) / SIZE != v / SIZE;
	CHECK_EQ(outside, 2 * CLIQUES);
	gtu_graph_close(ordered);
	gtu_graph_close(g);
}

/* Hops within which 90% of the reached vertices are, linear between levels; mean over @sources sources. */
static double effective_diameter(const struct gtu_graph *g, unsigned sources)
{
	uint64_t *level = malloc(8 * g->n), count[64], v, reached, within;
	double sum = 0, part;
	unsigned i, hops;

	for (i = 0; i < sources; i++) {
		CHECK(!reference_bfs(g, (i + 1) * g->n / (sources + 1), level));
		memset(count, 0, sizeof(count));
		for (reached = v = 0; v < g->n; v++) {
			if (level[v] == UINT64_MAX)
				continue;
			count[level[v] < 63 ? level[v] : 63]++;
			reached++;
		}
		part = 0.9 * (double)reached;
		for (hops = 0, within = count[0]; (double)within < part; within += count[hops])
			hops++;
		sum += hops - ((double)within - part) / (double)count[hops];
	}
	free(level);
	return sum / sources;
}

/* The values of com-Friendster: mean degree 55, effective diameter 5.8, whatever the size. */
TEST(friends_have_the_effective_diameter)
{
	static const uint64_t sizes[] = { 16384, 65536 };
	unsigned i;

	for (i = 0; i < LENGTH(sizes); i++) {
		struct gtu_graph *g = standin((struct gtu_generate_options){ .kind = LAB_STANDIN_FRIENDS, .n = sizes[i], .degree = 55 });
		double diameter = effective_diameter(g, 8), distance = order_of(g).distance;

		CHECKF(near((double)g->m / (double)g->n, 55, 0.1) && near(diameter, 5.8, 0.1), "%s: degree %g, effective diameter %g",
		       g->name, (double)g->m / (double)g->n, diameter);
		CHECKF(near(distance, 1 / 3.0, 0.03), "%s: mean distance %g is not that of random numbers", g->name, distance);
		gtu_graph_close(g);
	}
}

/* Another number for each vertex, the same graph: degrees and components stay. */
TEST(rounds_renumber_a_triangulation)
{
	struct gtu_graph *real = generated((struct gtu_generate_options){ .kind = GTU_GEN_DELAUNAY, .n = 5000, .seed = 3 });
	struct gtu_graph *g = standin((struct gtu_generate_options){ .kind = LAB_STANDIN_DELAUNAY, .n = 5000, .seed = 3 });
	struct gtu_graph_stat a, b;

	CHECK(!gtu_graph_measure(real, NULL, &a, &err) && !gtu_graph_measure(g, NULL, &b, &err));
	CHECK_EQ(a.m, b.m);
	CHECK_EQ(b.components, 1);
	CHECK(!memcmp(a.histogram, b.histogram, sizeof(a.histogram)));
	CHECK_EQ(b.self_loops + b.duplicates, 0);
	gtu_graph_close(real);
	gtu_graph_close(g);
}

/* Graph500's graph without its isolated vertices: the others keep their order and their neighbours. */
TEST(graph500_has_no_isolated_vertices)
{
	const struct gtu_generate_options kronecker = { .kind = GTU_GEN_KRONECKER, .n = 1024, .scale = 10, .degree = 4, .simplify = 1, .seed = 3 };
	struct gtu_graph *real = generated(kronecker);
	struct gtu_graph *g = standin((struct gtu_generate_options){ .kind = LAB_STANDIN_GRAPH500, .n = 1024, .scale = 10, .degree = 4, .seed = 3 });
	uint64_t *id = calloc(real->n, sizeof(*id)), n = 0, v, e;

	for (v = 0; v < real->n; v++) {
		id[v] = n;
		n += real->row[v + 1] > real->row[v];
	}
	CHECK(n < real->n);
	CHECK_EQ(g->n, n);
	CHECK_EQ(g->m, real->m);
	for (v = 0; v < real->n; v++) {
		if (real->row[v + 1] == real->row[v])
			continue;
		CHECK_EQ(g->row[id[v] + 1] - g->row[id[v]], real->row[v + 1] - real->row[v]);
		for (e = real->row[v]; e < real->row[v + 1]; e++)
			CHECK_EQ(gtu_graph_target(g, g->row[id[v]] + e - real->row[v]), id[gtu_graph_target(real, e)]);
	}
	free(id);
	gtu_graph_close(real);
	gtu_graph_close(g);
}

TEST_MAIN
