// SPDX-License-Identifier: MIT
/*
 * CSR building, transposing, symmetrizing, numbering and measuring, compared with simple reference
 * code.
 */
#include <stdbool.h>

#include "libruntime/graph/graph_internal.h"
#include "tests/unit/library.h"

#define MOST 400

struct edge {
	uint64_t u, v;
	double w;
	uint64_t order;
};

static struct edge list[2 * MOST];
static uint64_t listed;

static int by_ends_then_order(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	if (x->u != y->u)
		return x->u < y->u ? -1 : 1;
	if (x->v != y->v)
		return x->v < y->v ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static void sort_list(void)
{
	qsort(list, listed, sizeof(*list), by_ends_then_order);
}

/* Merge duplicates and drop self-loops in the sorted list. */
static void simplify_list(bool drop_loops)
{
	uint64_t i, kept = 0;

	for (i = 0; i < listed; i++)
		if (!(drop_loops && list[i].u == list[i].v) &&
		    !(kept && list[kept - 1].u == list[i].u && list[kept - 1].v == list[i].v))
			list[kept++] = list[i];
	listed = kept;
}

static double weight_of(const struct gtu_graph *g, uint64_t e)
{
	switch (g->weight_type) {
	case GTU_WEIGHT_U32: return ((const uint32_t *)g->weight)[e];
	case GTU_WEIGHT_F32: return (double)((const float *)g->weight)[e];
	case GTU_WEIGHT_F64: return ((const double *)g->weight)[e];
	}
	return 0;
}

/* Check that the graph equals the sorted list, entry by entry. */
static void check_is_list(const struct gtu_graph *g, uint64_t n, uint64_t seed)
{
	uint64_t v, e = 0;

	CHECKF(g->n == n && g->m == listed, "seed %" PRIu64 ": %" PRIu64 " edges, expected %" PRIu64, seed, g->m, listed);
	CHECK(g->row[0] == 0 && g->row[n] == listed);
	for (v = 0; v < n; v++)
		for (; e < g->row[v + 1]; e++)
			CHECKF(list[e].u == v && list[e].v == gtu_graph_target(g, e) &&
			       (!g->weight_type || list[e].w == weight_of(g, e)),
			       "seed %" PRIu64 ": entry %" PRIu64 " is %" PRIu64 " -> %" PRIu64 " (%g), expected %" PRIu64
			       " -> %" PRIu64 " (%g)", seed, e, v, gtu_graph_target(g, e), weight_of(g, e), list[e].u,
			       list[e].v, list[e].w);
}

struct random_graph {
	uint64_t n, m, src[MOST], dst[MOST];
	uint32_t weight_type;
	union {
		uint32_t u[MOST];
		float f[MOST];
		double d[MOST];
	} weight;
};

static void draw(struct random_graph *r, uint64_t seed)
{
	uint64_t state = seed, i;

	r->n = 1 + test_random(&state) % (seed % 3 ? 20 : 200);
	r->m = test_random(&state) % MOST;
	r->weight_type = (uint32_t)(seed % 4);
	for (i = 0; i < r->m; i++) {
		uint32_t w = (uint32_t)(test_random(&state) % 1000000);

		r->src[i] = test_random(&state) % r->n;
		r->dst[i] = test_random(&state) % r->n;
		if (r->weight_type == GTU_WEIGHT_F64)
			r->weight.d[i] = w + 0.3;
		else if (r->weight_type == GTU_WEIGHT_F32)
			r->weight.f[i] = (float)w;
		else
			r->weight.u[i] = w;
	}
}

static void list_edges(const struct random_graph *r, bool both, bool turned)
{
	for (uint64_t i = listed = 0; i < r->m; i++) {
		double w = r->weight_type == GTU_WEIGHT_F64 ? r->weight.d[i] :
			   r->weight_type == GTU_WEIGHT_F32 ? (double)r->weight.f[i] : r->weight.u[i];

		list[listed++] = (struct edge){ turned ? r->dst[i] : r->src[i], turned ? r->src[i] : r->dst[i], w, 2 * i };
		if (both && r->src[i] != r->dst[i])
			list[listed++] = (struct edge){ r->dst[i], r->src[i], w, 2 * i + 1 };
	}
	sort_list();
}

TEST(a_graph_built_from_edges_has_sorted_lists)
{
	static struct random_graph r;
	uint64_t seed;

	for (seed = 0; seed < 3000; seed++) {
		struct gtu_read_options o = { .edge_bytes = seed / 4 % 2 ? 8 : 0, .simplify = seed / 8 % 2,
					      .direction = seed / 16 % 2 ? GTU_UNDIRECTED : GTU_AS_STORED };
		struct gtu_graph *g;

		draw(&r, seed);
		OK(gtu_graph_from_edges(r.n, r.m, r.src, r.dst, r.weight_type, &r.weight, &o, &g, &err));
		list_edges(&r, o.direction == GTU_UNDIRECTED, false);
		if (o.simplify)
			simplify_list(true);
		check_is_list(g, r.n, seed);
		CHECK(g->edge_bytes == (o.edge_bytes ? 8 : 4) && g->stored == r.m && g->flags & GTU_GRAPH_SORTED);
		gtu_graph_close(g);
	}
}

TEST(transpose_and_symmetrize_match_a_sorted_edge_list)
{
	static struct random_graph r;
	struct gtu_graph *g, *t, *s;
	uint64_t seed;

	for (seed = 0; seed < 2000; seed++) {
		draw(&r, seed);
		CHECK(!gtu_graph_from_edges(r.n, r.m, r.src, r.dst, r.weight_type, &r.weight, NULL, &g, &err));
		CHECK(!gtu_graph_transpose(g, NULL, &t, &err));
		list_edges(&r, false, true);
		check_is_list(t, r.n, seed);
		CHECK(!gtu_graph_symmetrize(g, NULL, &s, &err));
		CHECK(!(s->flags & GTU_GRAPH_DIRECTED));
		/*
		 * of duplicates the first in CSR order is kept: order by the directed edge's index
		 * there
		 */
		list_edges(&r, false, false);
		{
			uint64_t i, m = listed;

			for (i = 0; i < m; i++) {
				list[i].order = 2 * i;
				if (list[i].u != list[i].v)
					list[listed++] = (struct edge){ list[i].v, list[i].u, list[i].w, 2 * i + 1 };
			}
		}
		sort_list();
		simplify_list(false);
		check_is_list(s, r.n, seed);
		gtu_graph_close(g);
		gtu_graph_close(t);
		gtu_graph_close(s);
	}
}

/* All numbering methods (dense, with gaps, sparse), compared with a linear search. */
TEST(an_id_map_numbers_ids_in_ascending_order)
{
	static const uint64_t spans[] = { 30, 1000, 1ull << 24, 1ull << 40, GTU_ID_LIMIT - 1 };
	uint64_t seed, i, state, ids[2][MOST], found;
	const void *arrays[2] = { ids[0], ids[1] };
	struct gtu_id_map map;

	for (seed = 0; seed < 1000; seed++) {
		uint64_t m = 1 + seed % MOST, span = spans[seed % 5];

		state = seed;
		for (i = 0; i < 2 * m; i++)
			ids[i / m][i % m] = test_random(&state) % span + (seed % 2 && span < 1ull << 50 ? 1ull << 33 : 0);
		CHECK(!gtu_id_map_build(&map, arrays, 2, m, 8, &err));
		for (i = 0; i < 2 * m; i++) {
			found = gtu_id_map_find(&map, ids[i / m][i % m]);
			CHECKF(found < map.n && (map.ids ? map.ids[found] : map.base + found) == ids[i / m][i % m],
			       "seed %" PRIu64 ": id %" PRIu64, seed, ids[i / m][i % m]);
		}
		for (i = 1; map.ids && i < map.n; i++)
			CHECK(map.ids[i] > map.ids[i - 1]);
		/*
		 * every vertex comes from an id: n is not greater than the ids seen, and missing
		 * ids have no vertex
		 */
		for (i = 0; i < map.n; i++) {
			uint64_t id = map.ids ? map.ids[i] : map.base + i, k, seen = 0;

			for (k = 0; k < 2 * m && !seen; k++)
				seen = ids[k / m][k % m] == id;
			CHECK(seen);
			if (map.ids && (i + 1 == map.n || map.ids[i + 1] > id + 1))
				CHECK(gtu_id_map_find(&map, id + 1) == GTU_NO_VERTEX);
		}
		gtu_id_map_free(&map);
	}
}

TEST(measure_counts_loops_duplicates_and_components)
{
	static struct random_graph r;
	static uint64_t label[200];
	struct gtu_graph_stat s;
	struct gtu_graph *g;
	uint64_t seed, v, i, changed;

	for (seed = 0; seed < 1000; seed++) {
		uint64_t loops = 0, duplicates = 0, isolated = 0, components = 0, largest = 0, in_histogram = 0;

		draw(&r, seed);
		r.m %= 60;
		CHECK(!gtu_graph_from_edges(r.n, r.m, r.src, r.dst, r.weight_type, &r.weight, NULL, &g, &err));
		if (seed % 2) /* measure without relying on sorted lists */
			g->flags &= ~GTU_GRAPH_SORTED;
		CHECK(!gtu_graph_measure(g, NULL, &s, &err));
		list_edges(&r, false, false);
		for (v = 0; v < r.n; v++)
			label[v] = v;
		for (i = 0; i < listed; i++) {
			loops += list[i].u == list[i].v;
			duplicates += i && list[i].u == list[i - 1].u && list[i].v == list[i - 1].v;
		}
		do
			for (i = changed = 0; i < listed; i++) {
				uint64_t *a = &label[list[i].u], *b = &label[list[i].v];

				changed += *a != *b;
				*a = *b = *a < *b ? *a : *b;
			}
		while (changed);
		for (v = 0; v < r.n; v++) {
			uint64_t size = 0, touched = 0;

			for (i = 0; i < r.n; i++)
				size += label[i] == v;
			for (i = 0; i < listed; i++)
				touched += list[i].u == v || list[i].v == v;
			components += size > 0;
			isolated += !touched;
			largest = size > largest ? size : largest;
		}
		CHECKF(s.self_loops == loops && s.duplicates == duplicates && s.isolated == isolated &&
		       s.components == components && s.largest_component == largest, "seed %" PRIu64, seed);
		for (i = 0; i < 65; i++)
			in_histogram += s.histogram[i];
		CHECK(in_histogram == r.n && g->row[s.max_vertex + 1] - g->row[s.max_vertex] == s.max_degree);
		gtu_graph_close(g);
	}
}

TEST(invalid_edges_are_refused)
{
	uint64_t src[] = { 0, 1 }, dst[] = { 1, 2 };
	struct gtu_graph *g;

	CHECK(gtu_graph_from_edges(2, 2, src, dst, 0, NULL, NULL, &g, &err) == GTU_ERR_USAGE && !g);
	CHECK(strstr(err.text, "edge 1 joins 1 and 2; there are 2 vertices"));
	CHECK(gtu_graph_from_edges(3, 2, src, dst, GTU_WEIGHT_U32, NULL, NULL, &g, &err) == GTU_ERR_USAGE);
	CHECK(gtu_graph_from_edges(3, 2, src, dst, 9, src, NULL, &g, &err) == GTU_ERR_USAGE);
	CHECK(!gtu_graph_from_edges(0, 0, NULL, NULL, 0, NULL, NULL, &g, &err) && g->n == 0 && g->m == 0);
	CHECK(gtu_graph_vertex(g, 0, src, &err) == GTU_ERR_USAGE);
	gtu_graph_close(g);
	gtu_graph_close(NULL);
}

/* Arrays on the stack: a wrapped graph, and one with a target that is not a vertex. */
TEST(a_wrapped_graph_uses_the_arrays_of_its_caller)
{
	uint64_t row[] = { 0, 2, 3, 4 }, hops[3], ids[] = { 10, 20, 40 }, v;
	_Alignas(8) uint32_t col[] = { 1, 2, 2, 0 };
	double weight[] = { 1, 4, 2, 1 };
	struct gtu_graph arrays = { .n = 3, .m = 4, .edge_bytes = 4, .weight_type = GTU_WEIGHT_F64, .row = row, .col = col,
				    .weight = weight, .ids = ids, .name = "three", .flags = GTU_GRAPH_DIRECTED |
				    GTU_GRAPH_SORTED | GTU_GRAPH_CHECKED };
	struct gtu_algorithm_options opt = { .unit = GTU_WITH_NONE };
	struct gtu_graph *g, *turned;

	CHECK(!gtu_graph_wrap(&arrays, &g, &err));
	CHECK(g->row == row && g->col == col && g->weight == weight && g->ids == ids && !strcmp(g->name, "three"));
	CHECK(g->flags == GTU_GRAPH_DIRECTED && g->stored == 4);
	CHECK(!gtu_graph_vertex(g, 20, &v, &err) && v == 1);
	CHECK(!gtu_graph_check(g, NULL, &err) && g->flags == (GTU_GRAPH_DIRECTED | GTU_GRAPH_CHECKED));
	CHECK(!gtu_bfs(NULL, g, &opt, hops, NULL, &err) && hops[0] == 0 && hops[1] == 1 && hops[2] == 1);
	CHECK(!gtu_graph_transpose(g, NULL, &turned, &err) && turned->row[1] == 1 && gtu_graph_target(turned, 0) == 2);
	gtu_graph_close(turned);
	gtu_graph_close(g);
	CHECK(col[0] == 1 && row[3] == 4);

	col[3] = 3;
	CHECK(!gtu_graph_wrap(&arrays, &g, &err));
	CHECK(gtu_graph_check(g, NULL, &err) == GTU_ERR_INPUT && strstr(err.text, "the target of edge 3 is vertex 3"));
	gtu_graph_close(g);
}

TEST(wrap_rejects_invalid_arrays)
{
	uint64_t row[] = { 0, 2, 3, 4 }, late[] = { 1, 2, 3, 4 };
	_Alignas(8) uint32_t col[] = { 1, 2, 2, 0, 0 };
	const struct gtu_graph good = { .n = 3, .m = 4, .edge_bytes = 4, .row = row, .col = col };
	struct gtu_graph *g = (struct gtu_graph *)&good, bad;
#define REFUSED(field, value, words)                                                                                   \
	do {                                                                                                           \
		bad = good;                                                                                            \
		bad.field = (value);                                                                                   \
		CHECK(gtu_graph_wrap(&bad, &g, &err) == GTU_ERR_USAGE && !g);                                          \
		CHECKF(strstr(err.text, words), "%s", err.text);                                                       \
	} while (0)

	REFUSED(edge_bytes, 0, "entry of 0 bytes");
	REFUSED(edge_bytes, 2, "entry of 2 bytes");
	REFUSED(n, (1ull << 32) + 1, "4-byte edges support 4294967296 vertices");
	REFUSED(n, 0, "4 edges without a vertex");
	REFUSED(n, UINT64_MAX, "too many for any memory");
	REFUSED(m, UINT64_MAX, "too many for any memory");
	REFUSED(id_base, UINT64_MAX, "too many for any memory");
	REFUSED(m, 3, "from 0 to 4; they must go from 0 to the 3 edges");
	REFUSED(row, late, "from 1 to 4");
	REFUSED(row, NULL, "row offsets, and none");
	REFUSED(col, NULL, "edges, and none");
	REFUSED(col, col + 1, "must be a multiple of 8");
	REFUSED(weight_type, GTU_WEIGHT_U32, "weights, and none");
	REFUSED(weight_type, 4, "weight type 4 is invalid: use 0 to 3");
#undef REFUSED
	CHECK(!gtu_graph_wrap(&good, &g, &err));
	gtu_graph_close(g);
}

TEST_MAIN
