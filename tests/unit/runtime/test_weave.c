// SPDX-License-Identifier: MIT
/*
 * BFS, SSSP, PageRank and components written over gtu/weave.h, with every unit, pushing and
 * pulling, over whole and split vertices, compared with the reference code; and custom storages.
 */
#include "gtu/weave.h"
#include "subjects.h"

#define FAR UINT64_MAX

struct data {
	const struct gtu_graph *g;
	uint64_t source;
	uint64_t *level;		/* or component */
	double *value, *sum;		/* distance, or rank */
	uint8_t *active, *next;
	double dangling, dangling_next;
};

/* ---- BFS ---------------------------------------------------------------------------------------- */

static void bfs_init(const struct gtu_weave_iteration *t, uint64_t v)
{
	struct data *d = t->context;

	d->level[v] = v == d->source ? 0 : FAR;
}

static bool bfs_old(const struct gtu_weave_iteration *t, uint64_t v)
{
	return ((struct data *)t->context)->level[v] != t->iteration;
}

static bool bfs_reached(const struct gtu_weave_iteration *t, uint64_t v)
{
	return ((struct data *)t->context)->level[v] != FAR;
}

static void bfs_gather(const struct gtu_weave_iteration *t, uint64_t source, uint64_t target, double weight)
{
	struct data *d = t->context;

	(void)weight;
	CHECK_EQ(d->level[source], t->iteration);
	CHECK_EQ(d->level[target], FAR);
	d->level[target] = t->iteration + 1;
}

static bool bfs_apply(const struct gtu_weave_iteration *t, uint64_t v)
{
	return ((struct data *)t->context)->level[v] == t->iteration + 1;
}

static const struct gtu_weave_functions bfs = { .init = bfs_init, .filter_source = bfs_old,
							.filter_target = bfs_reached, .gather = bfs_gather, .apply = bfs_apply };

/* ---- SSSP --------------------------------------------------------------------------------------- */

static void sssp_init(const struct gtu_weave_iteration *t, uint64_t v)
{
	struct data *d = t->context;

	d->value[v] = v == d->source ? 0 : INFINITY;
	d->active[v] = v == d->source;
	d->next[v] = 0;
}

static bool sleeps(const struct gtu_weave_iteration *t, uint64_t v)
{
	return !((struct data *)t->context)->active[v];
}

static void sssp_gather(const struct gtu_weave_iteration *t, uint64_t source, uint64_t target, double weight)
{
	struct data *d = t->context;

	if (d->value[source] + weight >= d->value[target])
		return;
	d->value[target] = d->value[source] + weight;
	d->next[target] = 1;
}

static bool wake(const struct gtu_weave_iteration *t, uint64_t v)
{
	struct data *d = t->context;

	d->active[v] = d->next[v];
	d->next[v] = 0;
	return d->active[v];
}

static const struct gtu_weave_functions sssp = { .init = sssp_init, .filter_source = sleeps,
							.gather = sssp_gather, .apply = wake };

/* ---- Components ----------------------------------------------------------------------------------- */

static void cc_init(const struct gtu_weave_iteration *t, uint64_t v)
{
	struct data *d = t->context;

	d->level[v] = v;
	d->active[v] = 1;
	d->next[v] = 0;
}

static void cc_gather(const struct gtu_weave_iteration *t, uint64_t source, uint64_t target, double weight)
{
	struct data *d = t->context;

	(void)weight;
	if (d->level[source] >= d->level[target])
		return;
	d->level[target] = d->level[source];
	d->next[target] = 1;
}

static const struct gtu_weave_functions cc = { .init = cc_init, .filter_source = sleeps,
							.gather = cc_gather, .apply = wake };

/* ---- PageRank --------------------------------------------------------------------------------------- */

static uint64_t degree(const struct data *d, uint64_t v)
{
	return d->g->row[v + 1] - d->g->row[v];
}

static void pr_init(const struct gtu_weave_iteration *t, uint64_t v)
{
	struct data *d = t->context;

	d->value[v] = 1 / (double)d->g->n;
	d->sum[v] = 0;
	if (!v)
		d->dangling = d->dangling_next = 0;
	d->dangling += degree(d, v) ? 0 : d->value[v];
}

static void pr_gather(const struct gtu_weave_iteration *t, uint64_t source, uint64_t target, double weight)
{
	struct data *d = t->context;

	(void)weight;
	d->sum[target] += d->value[source] / (double)degree(d, source);
}

static bool pr_apply(const struct gtu_weave_iteration *t, uint64_t v)
{
	struct data *d = t->context;
	const double n = (double)d->g->n;

	d->value[v] = .15 / n + .85 * (d->sum[v] + d->dangling / n);
	d->sum[v] = 0;
	d->dangling_next += degree(d, v) ? 0 : d->value[v];
	if (v == d->g->n - 1) {
		d->dangling = d->dangling_next;
		d->dangling_next = 0;
	}
	return true;
}

static const struct gtu_weave_functions pr = { .init = pr_init, .gather = pr_gather,
							.apply = pr_apply };

/* ---- All algorithms ------------------------------------------------------------------------------------ */

static void check_one(const struct gtu_graph *g, const struct gtu_weave_storage *s, struct gtu_algorithm_options opt)
{
	uint64_t *number = test_alloc(g->n, 8);
	double *want = test_alloc(g->n, 8), change;
	struct data d = { .g = g, .source = g->n / 3, .level = test_alloc(g->n, 8), .value = test_alloc(g->n, 8),
			  .sum = test_alloc(g->n, 8), .active = test_alloc(g->n, 1), .next = test_alloc(g->n, 1) };
	struct gtu_algorithm_stats stats;

	RUNS("bfs", &opt, gtu_weave(dev, s, &bfs, &d, &opt, &stats, &err));
	CHECK(!reference_bfs(g, d.source, number));
	same_integers(d.level, number, g->n, run_name("bfs", &opt));
	CHECK_EQ(stats.pull_end, s->pull ? stats.iterations : 0);
	if (g->weight_type != GTU_WEIGHT_NONE) {
		RUNS("sssp", &opt, gtu_weave(dev, s, &sssp, &d, &opt, NULL, &err));
		CHECK(!reference_sssp(g, d.source, want));
		same_reals(d.value, want, g->n, 0, run_name("sssp", &opt));
	}
	if (!(g->flags & GTU_GRAPH_DIRECTED)) {
		RUNS("cc", &opt, gtu_weave(dev, s, &cc, &d, &opt, NULL, &err));
		CHECK(!reference_components(g, number));
		same_integers(d.level, number, g->n, run_name("cc", &opt));
	}
	opt.iterations = 6;
	RUNS("pr", &opt, gtu_weave(dev, s, &pr, &d, &opt, &stats, &err));
	CHECK_EQ(stats.iterations, 6);
	CHECK_EQ(stats.edges, 6 * g->m);
	CHECK(!reference_pagerank(g, .85, 6, want, &change));
	same_reals(d.value, want, g->n, 1e-9, run_name("pr", &opt));
}

static void check_graph(const struct gtu_graph *g)
{
	static const uint64_t part[] = { 0, 1, 7 };
	struct gtu_weave_storage s;

	open_device();
	for (unsigned i = 0; i < 6; i++) {
		CHECK(!(i % 2 ? gtu_weave_csc : gtu_weave_csr)(g, part[i / 2], &s, &err));
		CHECK(s.entries >= s.vertices && s.vertices == g->n);
		for (uint64_t entry = 0; entry < s.entries && part[i / 2]; entry++) {
			uint64_t base, first, edges;

			CHECK(!s.get_neighbor(&s, entry, &base, &first, &edges, &err));
			CHECK(edges <= part[i / 2]);
		}
		for (uint32_t unit = 0; unit < UNITS; unit++)
			for (uint32_t chunk = 0; chunk <= 4; chunk += 4)
				check_one(g, &s, (struct gtu_algorithm_options){ .unit = unit, .chunk_log2 = chunk });
		gtu_weave_close(&s);
	}
}

/* With and without weights. */
static void check_edges(struct edges e)
{
	uint32_t *weight = test_alloc(e.m, 4);
	uint64_t seed = 1;

	for (uint64_t i = 0; i < e.m; i++)
		weight[i] = (uint32_t)(test_random(&seed) % 20);
	for (uint32_t direction = GTU_DIRECTED; direction <= GTU_UNDIRECTED; direction++) {
		check_graph(from_edges(e.n, e.m, e.src, e.dst, direction, 4));
		check_graph(weighted_edges(e.n, e.m, e.src, e.dst, GTU_WEIGHT_U32, weight, direction, 8));
	}
}

TEST(results_on_small_graphs_match_the_reference)
{
	uint64_t src[] = { 0, 0, 1, 1, 2, 3, 3, 4, 6 }, dst[] = { 0, 1, 1, 2, 0, 1, 3, 2, 5 };

	check_edges((struct edges){ 1, 0, src, dst });
	check_edges((struct edges){ 1, 1, src, dst });
	check_edges((struct edges){ 9, 9, src, dst });
}

TEST(results_on_random_graphs_match_the_reference)
{
	uint64_t seed = 5;

	check_edges(skewed(90, 400, &seed));
	check_edges(skewed(700, 3000, &seed));
}

/* All vertices point at vertex 0: when pulling, one edge is enough, however the vertex is split. */
TEST(pulling_stops_at_the_first_edge_that_suffices)
{
	enum { N = 40000 };
	static uint64_t level[N + 1];
	struct data d = { .source = 5, .level = level };
	struct gtu_algorithm_stats stats;
	struct gtu_weave_storage s;
	struct edges e = edges(N + 1, N);
	struct gtu_graph *g;

	open_device();
	while (e.m < N)
		add_edge(&e, e.m + 1, 0);
	g = from_edges(e.n, e.m, e.src, e.dst, GTU_DIRECTED, 4);
	for (uint64_t part = 0; part <= 100; part += 100)
		for (uint32_t unit = 0; unit < UNITS; unit++) {
			struct gtu_algorithm_options opt = { .unit = unit };

			CHECK(!gtu_weave_csc(g, part, &s, &err));
			CHECK(!gtu_weave(dev, &s, &bfs, &d, &opt, &stats, &err));
			CHECK_EQ(level[0], 1);
			CHECK_EQ(level[1], FAR);
			if (unit == GTU_WITH_NONE)
				CHECK_EQ(stats.edges, 5);	/* the sixth is not traversed */
			else if (unit == GTU_WITH_WEAVER)
				CHECK(stats.edges < 600);	/* parts are skipped within a round */
			else
				CHECK_EQ(stats.edges, N);
			gtu_weave_close(&s);
		}
}

/* ---- Custom storage -------------------------------------------------------------------------------------- */

/* An implicit ring: v has one edge, number v, to v + 1; entries are in reverse order. */
struct ring {
	uint64_t bad;			/* which callback result is invalid; 0: none */
};

static int ring_neighbor(const struct gtu_weave_storage *s, uint64_t entry, uint64_t *base, uint64_t *first,
			 uint64_t *edges, struct gtu_error *err)
{
	const struct ring *r = s->context;

	*base = r->bad == 1 ? s->vertices : s->vertices - 1 - entry;
	*first = r->bad == 2 ? s->edges : *base;
	*edges = r->bad == 3 ? UINT64_MAX : 1;
	return r->bad == 4 ? gtu_fail(err, GTU_ERR_FAIL, "the ring is broken") : 0;
}

static int ring_edge(const struct gtu_weave_storage *s, uint64_t edge, uint64_t *other, double *weight,
		     struct gtu_error *err)
{
	const struct ring *r = s->context;

	*other = r->bad == 5 ? s->vertices : (edge + 1) % s->vertices;
	*weight = 1;
	return r->bad == 6 ? gtu_fail(err, GTU_ERR_FAIL, "the ring is broken") : 0;
}

TEST(a_custom_storage_is_used_and_checked)
{
	enum { N = 3000 };
	static uint64_t level[N];
	struct data d = { .source = 7, .level = level };
	struct ring ring = { 0 };
	struct gtu_weave_storage s = {
		.vertices = N, .edges = N, .entries = N, .get_neighbor = ring_neighbor,
		.get_edge = ring_edge, .context = &ring,
	};
	struct gtu_algorithm_options opt = { .iterations = 40 };
	struct gtu_weave_functions none = bfs;

	open_device();
	for (opt.unit = 0; opt.unit < UNITS; opt.unit++) {
		CHECK(!gtu_weave(dev, &s, &bfs, &d, &opt, NULL, &err));
		for (uint64_t v = 0; v < N; v++)
			CHECK_EQ(level[v], v >= 7 && v <= 47 ? v - 7 : FAR);
		for (ring.bad = 1; ring.bad <= 6; ring.bad++)
			CHECK_EQ(gtu_weave(dev, &s, &bfs, &d, &opt, NULL, &err),
				 ring.bad % 3 == 1 && ring.bad > 3 ? GTU_ERR_FAIL :
				 ring.bad == 6 ? GTU_ERR_FAIL : GTU_ERR_INPUT);
		ring.bad = 0;
	}
	none.gather = NULL;
	CHECK_EQ(gtu_weave(dev, &s, &none, &d, &opt, NULL, &err), GTU_ERR_USAGE);
}

TEST(damaged_graphs_are_reported)
{
	uint64_t row[] = { 0, 2, 3, 4 }, level[3];
	uint32_t col[] = { 1, 2, 9, 0 };
	struct gtu_graph g = { .n = 3, .m = 4, .edge_bytes = 4, .row = row, .col = col, .name = "bad" };
	struct data d = { .level = level };
	struct gtu_weave_storage s;

	open_device();
	for (uint32_t unit = 0; unit < UNITS; unit++) {
		struct gtu_algorithm_options opt = { .unit = unit };

		col[2] = 9;
		row[2] = 3;
		for (uint64_t part = 0; part < 2; part++) {
			CHECK(!gtu_weave_csr(&g, part, &s, &err));
			CHECK_EQ(gtu_weave(dev, &s, &bfs, &d, &opt, NULL, &err), GTU_ERR_INPUT);
			gtu_weave_close(&s);
		}
		col[2] = 1;
		row[2] = 1ull << 40;
		CHECK_EQ(gtu_weave_csr(&g, 1, &s, &err), GTU_ERR_INPUT);
		CHECK(!gtu_weave_csr(&g, 0, &s, &err));
		CHECK_EQ(gtu_weave(dev, &s, &bfs, &d, &opt, NULL, &err), GTU_ERR_INPUT);
		gtu_weave_close(&s);
	}
}

/* ---- Frontiers and edge ids ----------------------------------------------------------------------- */

struct listed {
	struct data d;
	uint64_t *list[2], count[2];	/* of even and odd iterations */
	uint64_t calls;			/* of get_neighbor */
	struct gtu_weave_storage csr;
};

static uint64_t listed_count(const struct gtu_weave_iteration *t)
{
	return ((struct listed *)t->context)->count[t->iteration & 1];
}

static uint64_t listed_entry(const struct gtu_weave_iteration *t, uint64_t i)
{
	return ((struct listed *)t->context)->list[t->iteration & 1][i];
}

static void listed_gather(const struct gtu_weave_iteration *t, uint64_t source, uint64_t target, double weight)
{
	struct listed *l = t->context;
	const unsigned next = !(t->iteration & 1);

	(void)weight;
	CHECK(t->edge >= l->d.g->row[source] && t->edge < l->d.g->row[source + 1]);
	CHECK_EQ(gtu_graph_target(l->d.g, t->edge), target);
	if (l->d.level[target] != FAR)
		return;
	l->d.level[target] = t->iteration + 1;
	l->list[next][l->count[next]++] = target;
}

static bool listed_apply(const struct gtu_weave_iteration *t, uint64_t v)
{
	struct listed *l = t->context;

	if (!v)
		l->count[t->iteration & 1] = 0;
	return l->count[!(t->iteration & 1)];
}

static int counted_neighbors(const struct gtu_weave_storage *s, uint64_t entry, uint64_t *base, uint64_t *first,
			     uint64_t *degree, struct gtu_error *e)
{
	struct listed *l = s->context;

	l->calls++;
	return l->csr.get_neighbor(&l->csr, entry, base, first, degree, e);
}

static int counted_edge(const struct gtu_weave_storage *s, uint64_t edge, uint64_t *other, double *weight,
			struct gtu_error *e)
{
	struct listed *l = s->context;

	return l->csr.get_edge(&l->csr, edge, other, weight, e);
}

/* Only the entries of a frontier are looked at, and gather knows its edge, with every unit. */
TEST(only_the_entries_of_a_frontier_are_gathered)
{
	static const struct gtu_weave_functions listed = { .gather = listed_gather, .apply = listed_apply,
							   .frontier = listed_count, .get_frontier = listed_entry };
	struct edges e = path(500);
	const struct gtu_graph *g = from_edges(e.n, e.m, e.src, e.dst, GTU_UNDIRECTED, 4);
	struct listed l = { .d = { .g = g, .source = 3, .level = test_alloc(g->n, 8) } };
	struct gtu_weave_functions half = listed;
	struct gtu_weave_storage custom;
	uint64_t *want = test_alloc(g->n, 8);

	open_device();
	l.list[0] = test_alloc(g->n, 8);
	l.list[1] = test_alloc(g->n, 8);
	CHECK(!reference_bfs(g, l.d.source, want));
	OK(gtu_weave_csr(g, 0, &l.csr, &err));
	for (unsigned own = 0; own < 2; own++) {
		for (uint32_t unit = 0; unit < UNITS; unit++) {
			const struct gtu_algorithm_options opt = { .unit = unit };

			for (uint64_t v = 0; v < g->n; v++)
				l.d.level[v] = v == l.d.source ? 0 : FAR;
			l.list[0][0] = l.d.source;
			l.count[0] = 1;
			l.count[1] = l.calls = 0;
			custom = l.csr;
			custom.parts = NULL;
			custom.context = &l;
			custom.get_neighbor = counted_neighbors;
			custom.get_edge = counted_edge;
			RUNS("listed", &opt, gtu_weave(dev, own ? &custom : &l.csr, &listed, &l, &opt, NULL, &err));
			for (uint64_t v = 0; v < g->n; v++)
				CHECK_EQ(l.d.level[v], want[v] == GTU_UNREACHED ? FAR : want[v]);
			/* an entry is listed once, and then registered: 500 iterations over all would be 250,000 */
			CHECK(!own || l.calls <= (unit == GTU_WITH_NONE || unit == GTU_WITH_WEAVER ? 2u : 3u) * g->n);
		}
	}
	half.get_frontier = NULL;
	FAILS(gtu_weave(dev, &l.csr, &half, &l, &(struct gtu_algorithm_options){ 0 }, NULL, &err), GTU_ERR_USAGE,
	      "get_frontier is NULL");
	l.count[0] = 1;
	l.list[0][0] = g->n;
	FAILS(gtu_weave(dev, &l.csr, &listed, &l, &(struct gtu_algorithm_options){ 0 }, NULL, &err), GTU_ERR_USAGE,
	      "entry 500 of the frontier does not exist");
	l.count[0] = g->n + 1;
	FAILS(gtu_weave(dev, &l.csr, &listed, &l, &(struct gtu_algorithm_options){ 0 }, NULL, &err), GTU_ERR_USAGE,
	      "a frontier of 501 entries");
	gtu_weave_close(&l.csr);
}

TEST_MAIN
