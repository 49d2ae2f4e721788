// SPDX-License-Identifier: MIT
/*
 * GraphPEG in the SMs: it returns exactly the edges of its vertices; fetches and timing against
 * hand calculations; all strategies compute the same results for the six benchmarks.
 */
#include "firmware-model/lab/kernels/peg_graph.h"
#include "lab_test.h"
#include "tools/reference/reference.h"

static struct lab_machine machine;

/* ---- A stream alone -------------------------------------------------------------------------- */

#define N 700u
#define M 20000u

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
		lab_atomic(w, 0, &a->met, LAB_ADD_U32, a->vertices ? l.source : l.weight, lab_all(1));
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
ONE_KERNEL(take);

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
	b->row = array_of(b->lab, "row", N + 1);
	b->col = array_of(b->lab, "col", M);
	b->weight = array_of(b->lab, "weight", M);
	b->list = array_of(b->lab, "list", N);
	b->a.met = array_of(b->lab, "met", M);
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
	memset(b->a.met.data, 0, 4 * M);
	CHECKF(!lab_peg_begin(b->a.peg, s, &err), "%s", err.text);
	CHECKF(!launch(b->lab, &take_kernel, &b->a, 2 * machine.sms, 64), "%s", err.text);
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
TEST(one_vertex_takes_the_fetches_counted_by_hand)
{
	struct lab_peg_build build = lab_peg_published;
	struct bench b = { 0 };
	struct lab_peg_stream s;
	const struct lab_peg_counts *c;
	uint64_t trip;

	machine = machine_of("graphpeg", NULL);
	trip = 2ull * machine.noc_latency + machine.l2_latency + machine.dram_latency;
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

/* Cycles of the stream of one_vertex_takes_the_fetches_counted_by_hand(). */
static uint64_t cycles_of_one_vertex(const struct lab_peg_build *build)
{
	struct bench b = { 0 };
	struct lab_peg_stream s;
	uint64_t cycles;

	bench_init(&b, build, 6, forty);
	((uint32_t *)b.list.data)[0] = 1;
	s = stream_of(&b, 1);
	b.a.vertices = true;
	go(&b, &s);
	CHECK_EQ(((const uint32_t *)b.a.met.data)[1], 40);
	cycles = lab_peg_counts(b.a.peg)->cycles;
	bench_end(&b);
	return cycles;
}

/*
 * The end of balanced engines. By messages: the engines' last report and the control processor's answer
 * after nothing is left to fetch, each of the crossbar's latency + 1. By polls: a multiple of 512 cycles.
 */
TEST(engines_end_by_messages_or_at_a_poll)
{
	struct lab_peg_build build = lab_peg_published;
	uint64_t alone, reported, polled;

	machine = machine_of("graphpeg", NULL);
	build.balance_edges = false;
	alone = cycles_of_one_vertex(&build);
	build.balance_edges = true;
	build.floor = 1000;		/* nothing moves */
	reported = cycles_of_one_vertex(&build);
	build.end_polled = true;
	polled = cycles_of_one_vertex(&build);
	CHECKF(reported >= alone && reported <= alone + 2 * (machine.noc_latency + 1) + 1, "%llu, alone %llu", (unsigned long long)reported,
	       (unsigned long long)alone);
	CHECKF(polled % 512 == 0 && polled >= alone && polled < alone + 512 + 32, "%llu, alone %llu", (unsigned long long)polled,
	       (unsigned long long)alone);
}

/* A hub's 9000 edges on SM 0: balancing moves some to other SMs and saves time. */
TEST(balancing_saves_time)
{
	struct lab_peg_build build = lab_peg_published;
	uint64_t cycles[3], moved[3];
	unsigned i;

	machine = machine_of("graphpeg", NULL);
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

static void check_result(const struct gtu_graph *g, const struct lab_pg_config *config, const struct lab_pg_result *r)
{
	static const enum lab_expect_what what[] = { LAB_LEVELS, LAB_DISTANCES, LAB_LEVELS, LAB_LEVELS, 0, LAB_CORES };
	const char *name = lab_pg_algorithm_name[config->algorithm], *by = lab_pg_strategy_name[config->strategy];
	uint64_t *levels, *shares, v;
	double real;

	CHECKF(r->whole, "%s, %s", name, by);
	if (config->algorithm == LAB_PG_GC) {
		CHECKF(reference_same_color(g, r->value) == UINT64_MAX, "%s, %s", name, by);
	} else if (config->algorithm == LAB_PG_STCON) {
		levels = lab_expect(g, LAB_LEVELS, config->source, 0, &err);
		CHECKF(r->met == (levels[config->target] != UINT64_MAX), "%s, %s", name, by);
		free(levels);
	} else {
		CHECKF(same(g, what[config->algorithm], config->source, 0, r->value), "%s, %s differs", name, by);
	}
	if (config->algorithm != LAB_PG_BC)
		return;
	shares = lab_expect(g, LAB_SHARES, config->source, 0, &err);
	for (v = 0; v < g->n; v++) {
		memcpy(&real, &shares[v], 8);
		CHECKF(v == config->source || fabs((double)r->score[v] - real) <= 1e-4 * real, "%s, %s: %g of %g", name, by,
		       (double)r->score[v], real);
	}
	free(shares);
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
				memset(r.value, 0xab, 4 * g->n);
				memset(r.score, 0xab, 4 * g->n);
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

/* Stopped in the cycle in which the edge limit is reached. */
static void cut(const struct gtu_graph *g)
{
	struct lab_pg_result r = { .value = malloc(4 * g->n) };
	struct lab_pg_config config = { .graph = g, .source = 1, .edges = 1, .peg = lab_peg_published };
	uint64_t cycles;
	unsigned a;

	for (a = 0; a < LAB_PG_ALGORITHMS; a++) {
		config.algorithm = a;
		config.strategy = a % 2 ? LAB_PG_PEG : LAB_PG_BALANCED;
		CHECKF(!lab_pg_run(&machine, &config, NULL, &r, &err), "%s", err.text);
		CHECK(r.inside && !r.whole);
		CHECK_EQ(r.iterations, 1);
		CHECK(r.edges && r.edges <= LAB_LANES);
		cycles = r.cycles;
		/* the warps go on until the limit, whatever the iteration */
		config.edges = 2 * g->m;
		CHECKF(!lab_pg_run(&machine, &config, NULL, &r, &err), "%s", err.text);
		CHECK(r.whole || (r.inside && r.edges >= 2 * g->m && r.edges < 2 * g->m + LAB_LANES));
		CHECK(r.cycles > cycles);
		config.edges = 1;
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

/* A table without limit, which exceeds the largest of a device, returns the same edges; none is larger. */
TEST(an_unlimited_table_returns_the_same_edges)
{
	struct lab_peg_build build = lab_peg_published;

	machine = machine_of("graphpeg", NULL);
	build.entries = LAB_PEG_UNLIMITED;
	exactly(&build, few);
	exactly(&build, hub);
	CHECK(!lab_peg_check(&machine, &build));
	build.entries = LAB_PEG_UNLIMITED + 1;
	CHECK(lab_peg_check(&machine, &build));
}

/*
 * Section 4.4: Gunrock executes several times PEG's instructions. Its counts are those of compiled
 * code, and this graph has an iteration that fills the machine.
 */
TEST(gunrock_executes_more_instructions)
{
	static const enum lab_pg_strategy by[] = { LAB_PG_PEG, LAB_PG_BALANCED };
	struct gtu_graph *g = generated((struct gtu_generate_options){
		.kind = GTU_GEN_KRONECKER, .scale = 11, .degree = 16, .seed = 5, .simplify = 1 });
	double instructions[2];
	unsigned i;

	machine = machine_of("graphpeg", NULL);
	for (i = 0; i < 2; i++) {
		struct lab_pg_result r = { .value = malloc(4 * g->n) };
		struct lab_pg_config config = { .algorithm = LAB_PG_KC, .strategy = by[i], .graph = g, .peg_blocks = 4,
						.peg = lab_peg_published, .edges = g->m };

		CHECKF(!lab_pg_run(&machine, &config, NULL, &r, &err), "%s", err.text);
		instructions[i] = (double)r.stats.warp_instructions / (double)r.edges;
		free(r.value);
	}
	CHECKF(instructions[1] > 5 * instructions[0], "%g and %g an edge", instructions[1], instructions[0]);
	gtu_graph_close(g);
}

/* A chain of 300 diamonds has 2^300 shortest paths, more than a float can count. */
TEST(betweenness_matches_the_reference_beyond_a_float)
{
	enum { DIAMONDS = 300, VERTICES = 3 * DIAMONDS + 1 };
	static uint64_t from[4 * DIAMONDS], to[4 * DIAMONDS];
	const struct gtu_read_options build = { .direction = GTU_UNDIRECTED };
	struct lab_pg_result r = { .value = malloc(4 * VERTICES), .score = malloc(4 * VERTICES) };
	struct lab_pg_config config = { .algorithm = LAB_PG_BC, .peg = lab_peg_published, .peg_blocks = 1 };
	struct gtu_graph *g;
	unsigned i;

	for (i = 0; i < 4 * DIAMONDS; i++) {
		uint64_t middle = 3 * (i / 4) + 1 + i % 2;

		from[i] = i % 4 < 2 ? 3 * (i / 4) : middle;
		to[i] = i % 4 < 2 ? middle : 3 * (i / 4) + 3;
	}
	CHECKF(!gtu_graph_from_edges(VERTICES, LENGTH(from), from, to, GTU_WEIGHT_NONE, NULL, &build, &g, &err), "%s", err.text);
	config.graph = g;
	machine = machine_of("graphpeg", FEWER_SMS);
	for (i = 0; i < 2; i++) {
		config.strategy = i ? LAB_PG_PEG : LAB_PG_SIMPLE;
		CHECKF(!lab_pg_run(&machine, &config, NULL, &r, &err), "%s", err.text);
		check_result(g, &config, &r);
	}
	free(r.value);
	free(r.score);
	gtu_graph_close(g);
}

/* Gunrock's lists of fewer edges than light_edges are not partitioned: without its sorted search. */
TEST(light_lists_are_not_partitioned)
{
	struct gtu_graph *g = generated((struct gtu_generate_options){ .kind = GTU_GEN_ROAD, .n = 300, .seed = 5 });
	struct lab_pg_result r = { .value = malloc(4 * g->n) };
	struct lab_pg_config config = { .algorithm = LAB_PG_BFS, .strategy = LAB_PG_BALANCED, .graph = g, .peg = lab_peg_published };
	uint64_t launches[2];
	unsigned i;

	machine = machine_of("graphpeg", FEWER_SMS);
	for (i = 0; i < 2; i++) {
		config.light_edges = i ? 4096 : 0;
		CHECKF(!lab_pg_run(&machine, &config, NULL, &r, &err), "%s", err.text);
		check_result(g, &config, &r);
		launches[i] = r.stats.launches;
	}
	/* a search is one launch more for each level */
	CHECK_EQ(launches[0] - launches[1], r.iterations);
	free(r.value);
	gtu_graph_close(g);
}

TEST(engines_return_exactly_the_listed_edges)
{
	struct lab_peg_build build = lab_peg_published;

	machine = machine_of("graphpeg", NULL);
	exactly(&build, few);
	exactly(&build, hub);
	build.entries = 4;
	build.list_bytes = 256;
	build.edge_bytes = 1024;
	exactly(&build, few);
	build.balance_lists = build.free = true;
	exactly(&build, hub);
}

TEST(vertex_list_mode_returns_the_list)
{
	struct lab_peg_build build = lab_peg_published;

	machine = machine_of("graphpeg", NULL);
	vertices(&build);
	build.list_bytes = 256;
	vertices(&build);
}

static void over(unsigned kind)
{
	struct gtu_graph *g = generated((struct gtu_generate_options){
		.kind = kind, .n = 300, .scale = 9, .degree = kind == GTU_GEN_KRONECKER ? 16 : 0, .seed = 5, .simplify = 1,
		.random_weights = 61 });

	machine = machine_of("graphpeg", FEWER_SMS);
	algorithms(g, 3, 200);
	cut(g);
	refused(g);
	gtu_graph_close(g);
}

TEST(algorithms_match_the_reference_on_a_road_graph)
{
	over(GTU_GEN_ROAD);
}

TEST(algorithms_match_the_reference_on_a_kronecker_graph)
{
	over(GTU_GEN_KRONECKER);
}

TEST_MAIN
