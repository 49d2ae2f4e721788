// SPDX-License-Identifier: MIT
/*
 * GraphPEG in the SMs: it returns exactly the edges of its vertices; fetches and timing against
 * hand calculations; all strategies compute the same results for the six benchmarks.
 */
#include <math.h>
#include <stdlib.h>

#include "firmware-model/lab/kernels/peg_graph.h"
#include "tests/unit/test.h"
#include "tools/reference/reference.h"

static struct gtu_error err;
static struct lab_machine machine;

/* ---- A stream alone -------------------------------------------------------------------------- */

#define N 700u
#define M 20000u

static const char *const stream_names[] = { "met" };
struct stream_args {
	struct lab_peg *peg;
	struct lab_array met, times;
	bool push, vertices;
	const uint32_t *row, *col, *weight;
	bool wrong;
	uint64_t last;			/* cycle of the last reply */
};

/* Pop all edges and count them; an edge's weight is its index. */
static void take(struct lab_warp *w, const void *p)
{
	struct stream_args *a = (struct stream_args *)(uintptr_t)p;
	struct lab_peg_lanes l;
	lab_mask m;

	for (;;) {
		lab_pop(w, a->peg, &l);
		a->last = lab_now(w->lab);
		if (!l.active)
			return;
		w->mask = l.active;
		lab_atomic_add(w, 0, &a->met, a->vertices ? l.source : l.weight, lab_all(1));
		for (m = l.active; m && !a->vertices; m &= m - 1) {
			unsigned i = (unsigned)__builtin_ctz(m);
			uint32_t e = l.weight[i];

			a->wrong |= a->col[e] != l.destination[i] || e < a->row[l.source[i]] || e >= a->row[l.source[i] + 1];
		}
		lab_wait(w);
		if (a->push)
			lab_push(w, a->peg, lab_eq(l.source & 1, lab_all(1)), &l.destination);
		w->mask = ~0u;
	}
}
static const struct lab_kernel take_kernel = { .name = "take", .warp = take, .statement = stream_names, .statements = 1 };

struct bench {
	struct lab *lab;
	struct lab_array row, col, weight, list;
	struct stream_args a;
	uint32_t n, m;
};

/* Vertex v has degree(v) edges to random targets; multiples of 3 are not listed. */
static uint32_t bench_init(struct bench *b, const struct lab_peg_build *build, uint32_t n, uint32_t (*degree)(uint32_t v))
{
	uint64_t seed = n;
	uint32_t v, e, listed = 0, *row, *list;

	CHECK(!lab_create(&machine, &b->lab, &err));
	CHECKF(!lab_peg_attach(b->lab, build, &b->a.peg, &err), "%s", err.text);
	CHECK(!lab_alloc(b->lab, "row", 4 * (N + 1), LAB_DEVICE, &b->row, &err));
	CHECK(!lab_alloc(b->lab, "col", 4 * M, LAB_DEVICE, &b->col, &err));
	CHECK(!lab_alloc(b->lab, "weight", 4 * M, LAB_DEVICE, &b->weight, &err));
	CHECK(!lab_alloc(b->lab, "list", 4 * N, LAB_DEVICE, &b->list, &err));
	CHECK(!lab_alloc(b->lab, "met", 4 * M, LAB_DEVICE, &b->a.met, &err));
	row = b->row.data;
	list = b->list.data;
	for (v = 0; v < n; v++) {
		row[v + 1] = row[v] + degree(v);
		if (v % 3)
			list[listed++] = v;
	}
	CHECK(row[n] <= M);
	for (e = 0; e < row[n]; e++) {
		((uint32_t *)b->col.data)[e] = (uint32_t)(test_random(&seed) % n);
		((uint32_t *)b->weight.data)[e] = e;
	}
	b->n = n;
	b->m = row[n];
	b->a.row = row;
	b->a.col = b->col.data;
	b->a.weight = b->weight.data;
	return listed;
}

static struct lab_peg_stream stream_of(const struct bench *b, uint32_t listed)
{
	return (struct lab_peg_stream){ .source = true, .destination = true, .with_weight = true, .row = &b->row, .col = &b->col,
					.weight = &b->weight, .list = &b->list, .vertices = b->n, .edges = b->m, .count = listed };
}

static void go(struct bench *b, const struct lab_peg_stream *s)
{
	const struct lab_launch l = { &take_kernel, &b->a, 2 * machine.sms, 64, NULL };

	memset(b->a.met.data, 0, 4 * M);
	CHECKF(!lab_peg_begin(b->a.peg, s, &err), "%s", err.text);
	CHECKF(!lab_run(b->lab, &l, NULL, &err), "%s", err.text);
	CHECKF(!lab_peg_end(b->a.peg, &err), "%s", err.text);
	CHECK(!b->a.wrong);
}

static void bench_end(struct bench *b)
{
	lab_destroy(b->lab);
	lab_peg_free(b->a.peg);
}

static uint32_t few(uint32_t v)
{
	return v * 7 % 11;
}

static uint32_t hub(uint32_t v)
{
	return v == 1 ? 9000 : v % 3;
}

/* The popped edges are those of the list for any build; so are those of the pushed list. */
static void exactly(const struct lab_peg_build *build, uint32_t (*degree)(uint32_t v))
{
	struct bench b = { 0 };
	uint32_t listed = bench_init(&b, build, N, degree), e, v, *times = calloc(N, 4), *out = malloc(4 * M), edges = 0, all = 0;
	struct lab_peg_stream s = stream_of(&b, listed);
	const uint32_t *met = b.a.met.data;
	uint64_t i, k;

	b.a.push = true;
	go(&b, &s);
	for (v = 0; v < N; v++) {
		for (e = b.a.row[v]; e < b.a.row[v + 1]; e++) {
			CHECK_EQ(met[e], v % 3 != 0);
			edges += v % 3 != 0;
			times[b.a.col[e]] += v % 3 && v % 2;
			all += v % 3 && v % 2;
		}
	}
	CHECK_EQ(lab_peg_counts(b.a.peg)->core.edges, edges);
	CHECK_EQ(lab_peg_counts(b.a.peg)->core.vertices, listed);
	CHECK_EQ(lab_peg_pushed(b.a.peg), all);
	for (k = 0; k < machine.sms; k++)
		for (i = lab_peg_listed(b.a.peg, (unsigned)k, out); i-- > 0;)
			times[out[i]]--;
	for (v = 0; v < N; v++)
		CHECK_EQ(times[v], 0);

	/* the pushed vertices are read next: as edges */
	b.a.push = false;
	s.list = NULL;
	memset(times, 0, 4 * N);
	for (v = 0; v < N; v++)
		for (e = b.a.row[v]; e < b.a.row[v + 1]; e++)
			times[b.a.col[e]] += v % 3 && v % 2;
	go(&b, &s);
	for (v = 0; v < N; v++)
		for (e = b.a.row[v]; e < b.a.row[v + 1]; e++)
			CHECK_EQ(met[e], times[v]);
	bench_end(&b);
	free(times);
	free(out);
}

/* The vertex-list mode returns the list. */
static void vertices(const struct lab_peg_build *build)
{
	struct bench b = { 0 };
	uint32_t listed = bench_init(&b, build, N, few), v;
	struct lab_peg_stream s = stream_of(&b, listed);

	s.vertex_list = b.a.vertices = true;
	go(&b, &s);
	for (v = 0; v < N; v++)
		CHECK_EQ(((const uint32_t *)b.a.met.data)[v], v % 3 != 0);
	CHECK_EQ(lab_peg_counts(b.a.peg)->core.refills, (listed + 31) / 32);
	bench_end(&b);
}

static uint32_t forty(uint32_t v)
{
	return v == 1 ? 40 : 0;
}

/*
 * One vertex of 40 edges, alone on SM 0, without balancing. The engine fetches its chunk of the
 * list, two offsets, 32 edges (the first line, aligned) and 8 edges: 4 fetches, the last two
 * overlapping. A fetch of a cold line takes the crossbar there and back, L2 and DRAM.
 */
static void by_hand(void)
{
	struct lab_peg_build build = lab_peg_published;
	struct bench b = { 0 };
	struct lab_peg_stream s;
	const struct lab_peg_counts *c;
	uint64_t trip = 2ull * machine.noc_latency + machine.l2_latency + machine.dram_latency;

	build.balance_edges = false;
	bench_init(&b, &build, 6, forty);
	((uint32_t *)b.list.data)[0] = 1;
	s = stream_of(&b, 1);
	s.with_weight = false;
	s.weight = NULL;
	b.a.vertices = true; /* count sources, as there are no weights to identify edges */
	go(&b, &s);
	c = lab_peg_counts(b.a.peg);
	CHECK_EQ(((const uint32_t *)b.a.met.data)[1], 40);
	CHECK_EQ(c->core.refills, 1);
	CHECK_EQ(c->core.index_fetches, 1);
	CHECK_EQ(c->core.edge_fetches, 2);
	CHECK_EQ(c->core.records, 2);
	CHECK_EQ(c->core.partial, 1);
	CHECK_EQ(lab_stats(b.lab)->request[LAB_LOAD][0], 4);
	CHECK_EQ(lab_stats(b.lab)->unit_sectors, 1 + 1 + 4 + 1);
	CHECKF(b.a.last > 3 * trip && b.a.last < 6 * trip, "%llu of %llu", (unsigned long long)b.a.last, (unsigned long long)trip);
	bench_end(&b);
}

/*
 * A hub's 9000 edges on SM 0: balancing moves some to other SMs and saves time; balancing vertex
 * lists cannot help.
 */
static void balancing(void)
{
	struct lab_peg_build build = lab_peg_published;
	uint64_t cycles[3], moved[3];
	unsigned i;

	for (i = 0; i < 3; i++) {
		struct bench b = { 0 };
		struct lab_peg_stream s;

		build.balance_edges = i > 0;
		build.free = i == 2;
		s = stream_of(&b, bench_init(&b, &build, N, hub));
		go(&b, &s);
		cycles[i] = lab_stats(b.lab)->cycles;
		moved[i] = lab_peg_counts(b.a.peg)->core.moved;
		bench_end(&b);
	}
	CHECK_EQ(moved[0], 0);
	CHECK(moved[1] > 1000);
	CHECK(cycles[1] * 3 < cycles[0] * 2);
	CHECK(cycles[2] < cycles[1]);
}

/* ---- Algorithms --------------------------------------------------------------------------------- */

static struct gtu_graph *weighted(unsigned kind, uint64_t n, double degree, uint32_t **weight, uint32_t **col)
{
	struct gtu_generate_options o = { .kind = kind, .n = n, .scale = 9, .degree = degree, .seed = 5, .simplify = 1 };
	struct gtu_graph *g;
	uint64_t v, e, t;

	CHECKF(!gtu_graph_generate(&o, NULL, &g, &err), "%s", err.text);
	*weight = malloc(4 * g->m);
	*col = malloc(4 * g->m);
	for (v = 0; v < g->n; v++) {
		for (e = g->row[v]; e < g->row[v + 1]; e++) {
			t = gtu_graph_target(g, e);
			(*weight)[e] = 1 + (uint32_t)((v + t) * 2654435761u % 61);
			(*col)[e] = (uint32_t)t;
		}
	}
	return g;
}

static void check_result(const struct gtu_graph *g, const struct lab_pg_config *config, const struct lab_pg_result *r)
{
	uint64_t *whole = calloc(g->n + 1, 8), v, source = config->source;
	double *real = calloc(g->n + 1, 8);
	const char *what = lab_pg_algorithm_name[config->algorithm], *by = lab_pg_strategy_name[config->strategy];

	CHECKF(r->whole, "%s, %s", what, by);
	switch (config->algorithm) {
	case LAB_PG_BFS:
		reference_bfs(g, source, whole);
		break;
	case LAB_PG_SSSP:
		reference_sssp(g, source, real);
		for (v = 0; v < g->n; v++)
			whole[v] = isinf(real[v]) ? UINT64_MAX : (uint64_t)real[v];
		break;
	case LAB_PG_BC:
		reference_betweenness(g, &source, 1, real);
		reference_bfs(g, source, whole);
		for (v = 0; v < g->n; v++)
			CHECKF(v == source || fabs((double)r->score[v] - real[v]) <= 1e-4 * real[v], "%s, %s: %g of %g", what, by,
			       (double)r->score[v], real[v]);
		break;
	case LAB_PG_STCON:
		reference_bfs(g, source, whole);
		CHECKF(r->met == (whole[config->target] != UINT64_MAX), "%s, %s", what, by);
		memset(whole, 0, 8 * g->n);
		break;
	case LAB_PG_GC:
		CHECKF(reference_same_color(g, r->value) == UINT64_MAX, "%s, %s", what, by);
		break;
	default:
		reference_cores(g, whole);
	}
	for (v = 0; v < g->n && config->algorithm != LAB_PG_GC && config->algorithm != LAB_PG_STCON; v++)
		CHECKF(r->value[v] == (uint32_t)whole[v], "%s, %s: %u of %u at %u", what, by, r->value[v], (uint32_t)whole[v], (unsigned)v);
	free(whole);
	free(real);
}

/* Every algorithm by every strategy, with large and with small on-chip memory and push only. */
static void algorithms(const struct gtu_graph *g, uint32_t source, uint32_t target)
{
	struct lab_pg_result r = { .value = malloc(4 * g->n), .score = malloc(4 * g->n) };
	uint32_t *first = malloc(4 * g->n);
	struct lab_pg_config config = { .graph = g, .source = source, .target = target, .peg = lab_peg_published, .worklist_bytes = 48 << 10 };
	unsigned a, s, small;

	for (a = 0; a < LAB_PG_ALGORITHMS; a++) {
		for (s = 0; s < LAB_PG_STRATEGIES; s++) {
			for (small = 0; small < 2; small++) {
				config.algorithm = a;
				config.strategy = s;
				config.push_only = small;
				config.peg.list_bytes = small ? 512 : 46 << 10;
				config.peg.balance_lists = small;
				config.peg.entries = small ? 3 : 24;
				config.worklist_bytes = small ? 256 : 48 << 10;
				CHECKF(!lab_pg_run(&machine, &config, NULL, &r, &err), "%s, %s: %s", lab_pg_algorithm_name[a],
				       lab_pg_strategy_name[s], err.text);
				check_result(g, &config, &r);
				CHECK(r.balancing < r.cycles && !r.balancing == (s != LAB_PG_BALANCED));
				if (s == LAB_PG_SIMPLE)
					memcpy(first, r.value, 4 * g->n);
				if (a == LAB_PG_GC) /* the colours depend on the random numbers
						     * only, not on the strategy */
					CHECK(!memcmp(first, r.value, 4 * g->n));
				CHECK(s != LAB_PG_PEG || r.peg.core.edges == r.edges);
			}
		}
	}
	free(r.value);
	free(r.score);
	free(first);
}

/* Stopped early: no iteration starts after the edge limit, and the partial result is correct. */
static void cut(const struct gtu_graph *g)
{
	struct lab_pg_result r = { .value = malloc(4 * g->n) };
	struct lab_pg_config config = { .graph = g, .source = 1, .edges = 1, .peg = lab_peg_published };
	unsigned a;

	for (a = 0; a < LAB_PG_ALGORITHMS; a++) {
		config.algorithm = a;
		config.strategy = a % 2 ? LAB_PG_PEG : LAB_PG_BALANCED;
		CHECKF(!lab_pg_run(&machine, &config, NULL, &r, &err), "%s", err.text);
		CHECK(!r.whole || a == LAB_PG_STCON);
		CHECK_EQ(r.iterations, 1);
	}
	free(r.value);
}

static void refused(const struct gtu_graph *g)
{
	struct lab_pg_result r = { .value = malloc(4 * g->n) };
	struct lab_pg_config config = { .graph = g, .source = (uint32_t)g->n, .peg = lab_peg_published, .strategy = LAB_PG_PEG };
	struct lab_machine many = machine;

	CHECK_EQ(lab_pg_run(&machine, &config, NULL, &r, &err), GTU_ERR_USAGE);
	config.source = 0;
	config.peg.list_bytes = 64 << 10;
	CHECK_EQ(lab_pg_run(&machine, &config, NULL, &r, &err), GTU_ERR_USAGE);
	config.peg = lab_peg_published;
	many.sms = 65;
	CHECK_EQ(lab_pg_run(&many, &config, NULL, &r, &err), GTU_ERR_USAGE);
	config.strategy = LAB_PG_HWWL;
	CHECK_EQ(lab_pg_run(&machine, &config, NULL, &r, &err), GTU_ERR_USAGE);
	free(r.value);
}

static void open_machine(void)
{
	CHECKF(!lab_machine_open("graphpeg", &machine, &err), "%s", err.text);
}

TEST(by_hand)
{
	open_machine();
	by_hand();
}

TEST(balancing)
{
	open_machine();
	balancing();
}

TEST(pops_exactly_the_listed_edges)
{
	struct lab_peg_build build = lab_peg_published;

	open_machine();
	exactly(&build, few);
	exactly(&build, hub);
	build.entries = 4;
	build.list_bytes = 256;
	build.edge_bytes = 1024;
	exactly(&build, few);
	build.balance_lists = build.free = true;
	exactly(&build, hub);
}

TEST(vertex_list)
{
	struct lab_peg_build build = lab_peg_published;

	open_machine();
	vertices(&build);
	build.list_bytes = 256;
	vertices(&build);
}

static void over(unsigned kind)
{
	uint32_t *weight, *col;
	struct gtu_graph *g = weighted(kind, 300, kind == GTU_GEN_KRONECKER ? 16 : 0, &weight, &col), mine = *g;

	open_machine();
	mine.col = col;
	mine.edge_bytes = 4;
	mine.weight = weight;
	mine.weight_type = GTU_WEIGHT_U32;
	algorithms(&mine, 3, 200);
	cut(&mine);
	refused(&mine);
	gtu_graph_close(g);
	free(weight);
	free(col);
}

TEST(algorithms_on_a_road_graph)
{
	over(GTU_GEN_ROAD);
}

TEST(algorithms_on_a_kronecker_graph)
{
	over(GTU_GEN_KRONECKER);
}

TEST_MAIN
