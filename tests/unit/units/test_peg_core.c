// SPDX-License-Identifier: MIT
/*
 * GraphPEG's schedule against a reference model of its rules: the same records in the same cycles,
 * for random builds, graphs, latencies and requests, at any step size; the paper's examples, with
 * their numbers; and the exact multiset of edges for any sizes, engines, replies and exchanges.
 */
#include "peg_scene.h"

/* Lane @l of record @r carries edge @index of vertex @near. */
static void check_lane(const struct scene *s, const struct peg_core *c, const uint8_t *r, unsigned l,
		       uint64_t near, uint64_t index)
{
	const struct peg_stream *t = &s->stream;
	const uint64_t far = 7 * index + 3;
	const uint64_t want[4] = { t->pull ? far : near, t->pull ? near : far, 5 * index, index };

	for (unsigned f = 0; f < 4; f++) {
		if (!t->field[f])
			continue;
		CHECKF(get(r + c->at[f], l, c->log2[f]) == (c->log2[f] == 3 ? want[f] : (uint32_t)want[f]),
		       "seed %" PRIu64 ": field %u of lane %u is %" PRIu64 ", expected %" PRIu64, s->seed, f, l,
		       get(r + c->at[f], l, c->log2[f]), want[f]);
	}
}

static void check_rest(const struct scene *s, const struct peg_core *c, const uint8_t *r, unsigned l)
{
	for (unsigned f = 0; f < 4; f++)
		for (unsigned i = l; s->stream.field[f] && i < 32; i++)
			CHECK(get(r + c->at[f], i, c->log2[f]) == (c->log2[f] == 3 ? ~0ull : ~0u));
}

#define SAME(a, b)                                                                                 \
	CHECKF((a) == (b), "seed %" PRIu64 ", engine %u, record %" PRIu64 ": " #a " is %llu, expected %llu", \
	       s->seed, n, i, (unsigned long long)(a), (unsigned long long)(b))

static void play(struct scene *s, void *memory)
{
	struct peg_core *c = peg_core_init(memory, &s->shape);
	const struct peg_port port = port_of(s);
	size_t next[NV_ENGINES] = { 0 };
	enum peg_status status = PEG_MORE;
	uint64_t r = s->seed, last = 0;
	unsigned ask = 0;
	struct naive v;

	CHECKF(naive_run(&v, &s->cfg), "seed %" PRIu64 ": the reference model does not end", s->seed);
	CHECK(peg_core_start(c, &s->stream, &port));
	while (status != PEG_DONE) {
		uint64_t until = s->cut ? c->cycle + pick(&r, 0, 90) : c->cycle + 100000;

		for (; ask < s->cfg.asks && s->ask[ask].cycle <= c->cycle; ask++)
			peg_core_request(c, s->ask[ask].engine, s->ask[ask].requested);
		if (ask < s->cfg.asks && until > s->ask[ask].cycle)
			until = s->ask[ask].cycle;
		status = peg_core_run(c, until);
		CHECKF(status <= PEG_DONE, "seed %" PRIu64 ": status %u", s->seed, status);
		if (status == PEG_IDLE) {
			CHECKF(ask < s->cfg.asks, "seed %" PRIu64 ": idle without an end at cycle %" PRIu64, s->seed, c->cycle);
			peg_core_advance(c, s->ask[ask].cycle);
		}
		for (unsigned n = 0; n < s->cfg.engines; n++) {
			for (; peg_core_waiting(c, n); peg_core_taken(c, n)) {
				const uint8_t *rec = peg_core_out(c, n);
				const struct gtu_hw_warp *w = (const void *)rec;
				const uint64_t i = w->sequence;
				const struct nv_record *want;

				while (next[n] < v.out.tail && v.out.at[next[n]].engine != n)
					next[n]++;
				CHECKF(next[n] < v.out.tail, "seed %" PRIu64 ": engine %u outputs too many records", s->seed, n);
				want = &v.out.at[next[n]++];
				SAME(w->cycle, want->cycle);
				SAME((uint64_t)w->active, (1ull << want->lanes) - 1);
				SAME(w->reason, want->lanes < 32 ? GTU_WARP_END : GTU_WARP_FULL);
				for (unsigned l = 0; l < want->lanes; l++) {
					if (s->stream.vertex_list)
						SAME(get(rec + 64, l, s->stream.id_log2), want->lane[l].near);
					else
						check_lane(s, c, rec, l, want->lane[l].near, want->lane[l].index);
				}
				check_rest(s, c, rec, want->lanes);
			}
		}
	}
	for (unsigned n = 0; n < s->cfg.engines; n++) {
		const uint64_t i = 0;

		SAME(c->engine[n].records, v.e[n].records);
		SAME(c->engine[n].end, v.e[n].end);
		last = v.e[n].end > last ? v.e[n].end : last;
	}
	CHECK_EQ(c->cycle, last);
	CHECK_EQ(c->count.moves, v.moves);
	CHECK_EQ(c->count.moved, v.moved);
	CHECK_EQ(c->count.refused, v.refused);
}

static struct scene scene;

TEST(schedule_equals_the_reference_model)
{
	uint64_t moves = 0;

	for (uint64_t seed = 1; seed <= TEST_CASES(1500); seed++) {
		void *memory;

		make(&scene, seed);
		CHECK(!peg_shape_check(&scene.shape));
		memory = test_aligned(peg_core_bytes(&scene.shape));
		play(&scene, memory);
		moves += ((struct peg_core *)memory)->count.moves;
		test_end(NULL);
	}
	CHECK(moves > TEST_CASES(500));	/* balancing has taken place */
}

/* ---- Any timing ------------------------------------------------------------------------------ */

/* Number of occurrences of each edge or listed vertex; pushed vertices by engine, in order. */
struct tally {
	uint32_t edge[200000], vertex[VERTICES_MAX];
	struct { uint64_t at[4096]; unsigned n; } pushed[NV_ENGINES];
};
static struct tally got, want;

static void expect(const struct scene *s, uint64_t v)
{
	want.vertex[v]++;
	for (uint64_t i = s->row[v]; !s->stream.vertex_list && i < s->row[v + 1]; i++)
		want.edge[i]++;
}

/* Take a record; push some of its vertices to this engine's list. */
static void take(struct scene *s, struct peg_core *c, unsigned n, bool push)
{
	const uint8_t *r = peg_core_out(c, n);
	const struct gtu_hw_warp *w = (const void *)r;
	const unsigned lanes = (unsigned)__builtin_popcount(w->active);
	uint64_t vertex[32];
	unsigned some = 0;

	CHECK(lanes && !(w->active & (w->active + 1)));
	for (unsigned l = 0; l < lanes; l++) {
		if (s->stream.vertex_list) {
			const uint64_t v = get(r + 64, l, s->stream.id_log2);

			CHECK(v < s->cfg.vertices);
			got.vertex[v]++;
			vertex[some++] = v;
		} else {
			const uint64_t i = get(r + c->at[3], l, c->log2[3]);
			const uint64_t near = get(r + c->at[s->stream.pull], l, c->log2[0]);

			CHECK(i < s->row[s->cfg.vertices]);
			CHECK(near < s->cfg.vertices && s->row[near] <= i && i < s->row[near + 1]);
			got.edge[i]++;
			if (!pick(&s->random, 0, 3))
				vertex[some++] = near;
		}
	}
	for (unsigned i = 0; push && i < some && got.pushed[n].n < 300; i++)
		got.pushed[n].at[got.pushed[n].n++] = vertex[i];
	peg_core_taken(c, n);
}

static void stream(struct scene *s, struct peg_core *c, bool push)
{
	unsigned had[NV_ENGINES] = { 0 };
	enum peg_status status = PEG_MORE;
	uint64_t stuck = 0;

	while (status != PEG_DONE) {
		const unsigned due = s->replies;

		status = peg_core_run(c, c->cycle + pick(&s->random, 0, 400));
		CHECKF(status <= PEG_DONE, "seed %" PRIu64 ": status %u", s->seed, status);
		for (unsigned n = 0; n < s->cfg.engines; n++) {
			for (unsigned k = pick(&s->random, 0, 20); k && peg_core_waiting(c, n); k--)
				take(s, c, n, push);
			while (had[n] < got.pushed[n].n) {
				const unsigned k = pick(&s->random, 1, got.pushed[n].n - had[n]);

				CHECK(peg_core_push(c, n, &got.pushed[n].at[had[n]], k));
				had[n] += k;
			}
			if (s->stream.demand && !pick(&s->random, 0, 3))
				peg_core_request(c, n, c->engine[n].records + pick(&s->random, 0, 9));
		}
		for (unsigned i = 0; i < due; i++) {
			if (s->reply[i].open && (pick(&s->random, 0, 1) || status == PEG_IDLE)) {
				peg_core_reply(c, s->reply[i].engine, s->reply[i].kind, s->reply[i].slot,
					       s->reply[i].cycle > c->cycle ? s->reply[i].cycle : c->cycle);
				s->reply[i].open = false;
			}
		}
		for (unsigned i = 0, to = 0, n = s->replies; i < n; i++) {
			if (s->reply[i].open)
				s->reply[to++] = s->reply[i];
			s->replies = to;
		}
		CHECKF(++stuck < 3000000, "seed %" PRIu64 ": the stream does not end at cycle %" PRIu64, s->seed, c->cycle);
	}
	for (unsigned n = 0; n < s->cfg.engines; n++)
		while (peg_core_waiting(c, n))
			take(s, c, n, false);
}

static void compare(const struct scene *s)
{
	if (s->stream.vertex_list)
		for (unsigned v = 0; v < s->cfg.vertices; v++)
			CHECKF(got.vertex[v] == want.vertex[v], "seed %" PRIu64 ": vertex %u was output %u times, expected %u",
			       s->seed, v, got.vertex[v], want.vertex[v]);
	else
		for (uint64_t i = 0; i < s->row[s->cfg.vertices]; i++)
			CHECKF(got.edge[i] == want.edge[i], "seed %" PRIu64 ": edge %" PRIu64 " was output %u times, expected %u",
			       s->seed, i, got.edge[i], want.edge[i]);
}

static void forget(const struct scene *s)
{
	memset(got.edge, 0, s->row[s->cfg.vertices] * sizeof(got.edge[0]));
	memset(want.edge, 0, s->row[s->cfg.vertices] * sizeof(want.edge[0]));
	memset(got.vertex, 0, sizeof(got.vertex));
	memset(want.vertex, 0, sizeof(want.vertex));
}

static int by_value(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The lists hold every pushed vertex once: by engine and in order, unless lists were balanced. */
static void check_lists(struct scene *s, struct peg_core *c, bool balanced)
{
	static uint64_t all[2][NV_ENGINES * 300];
	unsigned n_all[2] = { 0, 0 };

	for (unsigned n = 0; n < s->cfg.engines; n++) {
		const struct peg_engine *e = &c->engine[n];

		CHECK_EQ(e->spilled, s->off_chip[n].n);
		CHECK(e->out.count <= c->list_cap && (e->out.count == c->list_cap || !e->spilled || balanced));
		CHECK(balanced || peg_core_pushed(c, n) == got.pushed[n].n);
		for (unsigned i = 0; i < got.pushed[n].n; i++)
			all[0][n_all[0]++] = got.pushed[n].at[i];
		for (unsigned i = 0; i < peg_core_pushed(c, n); i++) {
			const uint64_t v = i < e->out.count ? peg_list_get(c, &e->out, i) :
							      s->off_chip[n].at[i - e->out.count];

			CHECK(balanced || v == got.pushed[n].at[i]);
			CHECK(n_all[1] < sizeof(all[1]) / sizeof(all[1][0]));
			all[1][n_all[1]++] = v;
			expect(s, v);
		}
	}
	CHECK_EQ(n_all[0], n_all[1]);
	qsort(all[0], n_all[0], 8, by_value);
	qsort(all[1], n_all[1], 8, by_value);
	CHECKF(!memcmp(all[0], all[1], 8 * n_all[0]), "seed %" PRIu64 ": the lists lost or repeated a vertex", s->seed);
}

TEST(no_edge_is_lost_or_repeated_at_any_timing)
{
	uint64_t spilled = 0, moves = 0, list_moves = 0;

	for (uint64_t seed = 1; seed <= TEST_CASES(2500); seed++) {
		struct scene *s = &scene;
		struct peg_core *c;
		struct peg_port port;
		bool balanced;

		make(s, seed + 100000);
		s->stream.field[0] = true;
		if (!s->stream.vertex_list) {
			s->stream.field[1] = s->stream.field[3] = true;
			s->stream.offset_log2 = 3;
		}
		s->random_latency = pick(&s->random, 0, 1);
		s->stream.balance_lists = balanced = pick(&s->random, 0, 1);
		port = port_of(s);
		c = peg_core_init(test_aligned(peg_core_bytes(&s->shape)), &s->shape);
		forget(s);
		for (unsigned n = 0; n < s->cfg.engines; n++) {
			got.pushed[n].n = 0;
			for (uint64_t i = 0; i < s->cfg.inputs[n]; i++)
				expect(s, s->cfg.input[n][i]);
		}
		CHECK(peg_core_start(c, &s->stream, &port));
		stream(s, c, true);
		compare(s);
		forget(s);
		check_lists(s, c, balanced);
		spilled += c->count.spilled;
		moves += c->count.moves;
		list_moves += c->count.list_moves;
		/* the pushed vertices are the next stream's input, where they are */
		s->stream.left = NULL;
		for (unsigned n = 0; n < s->cfg.engines; n++) {
			s->cfg.input[n] = test_grow(s->cfg.input[n], (s->off_chip[n].n + 1) * sizeof(uint64_t));
			memcpy(s->cfg.input[n], s->off_chip[n].at, s->off_chip[n].n * sizeof(uint64_t));
			s->cfg.inputs[n] = s->off_chip[n].n;
			s->off_chip[n].n = 0;
		}
		CHECK(peg_core_start(c, &s->stream, &port));
		stream(s, c, false);
		compare(s);
		test_end(NULL);
	}
	CHECK(spilled > TEST_CASES(2500) && moves > TEST_CASES(250) && list_moves > TEST_CASES(250));
}

/* ---- The paper's examples -------------------------------------------------------------------- */

/* A scene of engines with the published sizes over @vertices rows of @row. */
static void published(struct scene *s, unsigned engines, unsigned latency, unsigned vertices, const uint64_t *row)
{
	memset(s, 0, offsetof(struct scene, off_chip));
	s->shape = (struct peg_shape){ .engines = engines, .entries = 24, .edge_bytes = 2048, .list_bytes = 46 * 1024 };
	s->cfg = (struct nv_config){ .engines = engines, .latency = latency, .vertices = vertices, .id_bytes = 4 };
	memcpy(s->row, row, (vertices + 1) * sizeof(*row));
}

static struct peg_core *start(struct scene *s)
{
	struct peg_core *c = peg_core_init(test_aligned(peg_core_bytes(&s->shape)), &s->shape);
	const struct peg_port port = port_of(s);

	CHECK(peg_core_start(c, &s->stream, &port));
	return c;
}

/*
 * Figure 6: engine 0 has 896 edges more than engine 1; 448 edges of its entry move, from edge 1304
 * on.
 */
TEST(balancing_moves_the_edges_of_figure_6)
{
	struct scene *s = &scene;
	struct peg_core *c;
	const struct peg_engine *e;

	/* 3: gathered, fills the space on chip; 4: to be split; 2: the other engine's, of 360 edges */
	published(s, 2, 100, 5, (uint64_t[]){ 0, 0, 688, 1048, 1304, 2304 });
	s->cfg.input[0] = (uint64_t[]){ 3, 4 };
	s->cfg.input[1] = (uint64_t[]){ 2 };
	s->cfg.inputs[0] = s->left[0] = 2;
	s->cfg.inputs[1] = s->left[1] = 1;
	s->stream = (struct peg_stream){
		.engines = 2, .demand = true, .id_log2 = 2, .offset_log2 = 2, .weight_log2 = 2,
		.field = { true, true }, .vertices = 5, .edges = 2304, .balance_edges = true, .interval = 512,
		.floor = 32, .shift = 4, .message = 16, .left = s->left,
	};
	c = start(s);
	e = c->engine;
	CHECK_EQ(peg_core_run(c, 512), PEG_MORE);		/* T0 */
	CHECK_EQ(e[0].efs, 256 + 1000);
	CHECK_EQ(e[1].efs, 360);
	CHECK_EQ(e[0].bc, GTU_PEG_BC_NONE);
	CHECK_EQ(peg_core_run(c, 512 + 17), PEG_MORE);		/* T1 */
	CHECK_EQ(e[0].bc, GTU_PEG_BC_ED);
	CHECK_EQ(e[1].bc, GTU_PEG_BC_ERS);
	CHECK_EQ(e[1].bs, GTU_PEG_BS_READY);
	CHECK_EQ(e[0].efs, 1256);
	CHECK_EQ(peg_core_run(c, 512 + 33), PEG_MORE);		/* T2 */
	CHECK_EQ(e[0].bs, GTU_PEG_BS_DONE);
	CHECK_EQ(e[0].bw[0], 1304);
	CHECK_EQ(e[0].bw[1], 1752);
	CHECK_EQ(e[0].bw[2], 4);
	CHECK_EQ(e[0].efs, 808);
	CHECK_EQ(e[1].efs, 360);
	CHECK_EQ(e[0].entry[1].start, 1752);	/* of the second entry */
	CHECK_EQ(e[0].entry[1].end, 2304);
	CHECK_EQ(peg_core_run(c, 512 + 49), PEG_MORE);
	CHECK_EQ(e[1].bc, GTU_PEG_BC_ER);
	CHECK_EQ(e[1].bs, GTU_PEG_BS_DONE);
	CHECK_EQ(e[1].bw[0], 1304);
	CHECK_EQ(e[1].bw[1], 1752);
	CHECK_EQ(e[1].bw[2], 4);
	CHECK_EQ(e[1].efs, 808);
	CHECK_EQ(e[1].entry[1].start, 1304);
	CHECK_EQ(e[1].entry[1].end, 1752);
	CHECK_EQ(c->count.moved, 448);
}

/* Figure 5: a warp holds edges of several vertices, in the order in which they were gathered. */
TEST(a_warp_holds_edges_of_several_vertices)
{
	static uint64_t input[] = { 2, 0, 1, 3 };
	struct scene *s = &scene;
	const struct gtu_hw_warp *w;
	const uint32_t *src, *dst;
	struct peg_core *c;

	published(s, 1, 200, 4, (uint64_t[]){ 0, 10, 10, 15, 41 });
	s->cfg.input[0] = input;
	s->cfg.inputs[0] = s->left[0] = 4;
	s->stream = (struct peg_stream){
		.engines = 1, .id_log2 = 2, .offset_log2 = 2, .weight_log2 = 2, .field = { true, true },
		.vertices = 4, .edges = 41, .interval = 512, .left = s->left,
	};
	c = start(s);
	CHECK_EQ(peg_core_run(c, 100000), PEG_DONE);
	CHECK_EQ(peg_core_waiting(c, 0), 2);
	w = (const void *)peg_core_out(c, 0);
	src = (const void *)(w + 1);
	dst = src + 32;
	CHECK_EQ(w->active, ~0u);
	for (unsigned l = 0; l < 32; l++) {
		const uint32_t i = l < 5 ? 10 + l : l < 15 ? l - 5 : l;

		CHECK_EQ(src[l], l < 5 ? 2 : l < 15 ? 0 : 3);
		CHECK_EQ(dst[l], 7 * i + 3);
	}
	peg_core_taken(c, 0);
	w = (const void *)peg_core_out(c, 0);
	CHECK_EQ(w->active, 0x1ff);
	CHECK_EQ(w->reason, GTU_WARP_END);
	/*
	 * By the rules: the list is fetched in cycle 0 and arrives in 200; its first vertex is
	 * taken in 201, its offsets arrive in 401, its line is fetched in 402 and arrives in 602.
	 * Vertex 0's line follows in 403, vertex 3's two lines in 405 and 406 (vertex 1 has none,
	 * so 404 fetches nothing). The first warp's last edge arrives in 605, the warp is output in
	 * 606 and the rest in 607.
	 */
	CHECK_EQ(w->cycle, 607);
	CHECK_EQ(c->cycle, 608);
}

TEST_MAIN
