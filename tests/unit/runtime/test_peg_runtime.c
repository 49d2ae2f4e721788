// SPDX-License-Identifier: MIT
/*
 * GraphPEG's intrinsics and Weaver's instructions as used by algorithms, compared with plain loops.
 */
#include <pthread.h>
#include <unistd.h>

#include "tests/unit/library.h"
#include "tools/reference/reference.h"

struct bed {
	struct gtu_device *dev;
	struct gtu_queue *q;
	struct gtu_region row, col, weight, list[2];
	uint64_t n, m;
	unsigned wide;
};

static void bed_open(struct bed *b, const char *model, uint64_t n, bool wide, uint64_t seed)
{
	uint64_t *row;

	memset(b, 0, sizeof(*b));
	b->n = n;
	b->wide = wide ? 8 : 4;
	b->dev = open_model(model);
	b->q = open_queue(b->dev, NULL);
	OK(gtu_region_alloc(b->dev, 8 * (n + 1), &b->row, &err));
	row = b->row.addr;
	for (uint64_t v = 0; v < n; v++)
		row[v + 1] = row[v] + (test_random(&seed) % 50 ? test_random(&seed) % 6 : test_random(&seed) % 700);
	b->m = row[n];
	OK(gtu_region_alloc(b->dev, b->wide * b->m + 8, &b->col, &err));
	OK(gtu_region_alloc(b->dev, 4 * b->m + 8, &b->weight, &err));
	for (uint64_t i = 0; i < b->m; i++) {
		const uint64_t to = test_random(&seed) % n;

		if (wide)
			((uint64_t *)b->col.addr)[i] = to;
		else
			((uint32_t *)b->col.addr)[i] = (uint32_t)to;
		((uint32_t *)b->weight.addr)[i] = (uint32_t)i * 3 - 1;	/* edge 0 has weight -1 */
	}
	for (unsigned i = 0; i < 2; i++)
		OK(gtu_region_alloc(b->dev, b->wide * (b->m + n) + 8, &b->list[i], &err));
}

static uint64_t id(const struct bed *b, const void *at, uint64_t i)
{
	return b->wide == 8 ? ((const uint64_t *)at)[i] : ((const uint32_t *)at)[i];
}

static struct gtu_peg_config config(const struct bed *b, uint32_t flags, uint64_t in)
{
	return (struct gtu_peg_config){
		.flags = flags,
		.row = gtu_array(&b->row, 0, b->n + 1, 8),
		.col = gtu_array(&b->col, 0, b->m, b->wide),
		.weight = flags & GTU_PEG_WITH_WEIGHT ? gtu_array(&b->weight, 0, b->m, 4) : (struct gtu_array){ 0 },
		.in = gtu_array(&b->list[0], 0, in, b->wide),
	};
}

/* The order of records returned by GTU_PEG_ANY: (engine, first edge). */
static uint64_t order_of_any(const struct bed *b, uint32_t ring_log2, bool slow, uint64_t *order)
{
	struct gtu_peg_config c = config(b, GTU_PEG_WITH_INDEX | GTU_PEG_BALANCE_EDGES, 0);
	struct gtu_peg_edges edges;
	struct gtu_peg *peg = NULL;
	uint64_t n = 0;
	int rc;

	c.in = (struct gtu_array){ 0 };
	c.engines = 4;
	c.ring_log2 = ring_log2;
	OK(gtu_peg_configure(b->q, &c, &peg, &err));
	while ((rc = gtu_peg_next(peg, GTU_PEG_ANY, &edges, &err)) > 0) {
		order[n] = edges.cycle << 32 | (uint64_t)edges.engine << 24;
		order[n++] |= ((const uint64_t *)edges.index)[__builtin_ctz(edges.active)];
		if (slow && n % 7 == 0)
			usleep(50);
	}
	CHECKF(!rc, "%s", err.text);
	OK(gtu_peg_finish(peg, NULL, &err));
	gtu_peg_close(peg);
	CHECK(n > 100);
	return n;
}

TEST(record_order_does_not_depend_on_consumers_or_rings)
{
	for (uint64_t seed = 1; seed <= 6; seed++) {
		uint64_t *want, *got, n;
		struct bed b;

		bed_open(&b, seed % 2 ? "model" : "model:peg_entries=3", 3000, false, seed);
		want = test_alloc(b.m + 1, 8);
		got = test_alloc(b.m + 1, 8);
		n = order_of_any(&b, 12, false, want);
		for (uint32_t ring = 1; ring <= 8; ring += ring < 3 ? 1 : 5) {
			CHECK_EQ(order_of_any(&b, ring, ring == 2, got), n);
			CHECKF(!memcmp(want, got, 8 * n), "another order with rings of 2^%u", ring);
		}
	}
}

/* Records taken from one engine leave the order of those that GTU_PEG_ANY takes as it is. */
TEST(single_engine_records_keep_the_order_of_the_rest)
{
	uint64_t *want, n, draw = 3;
	struct gtu_peg_edges edges;
	struct gtu_peg *peg = NULL;
	struct gtu_peg_config c;
	struct bed b;
	bool *taken;

	bed_open(&b, "model", 3000, false, 9);
	want = test_alloc(b.m + 1, 8);
	taken = test_alloc(b.m + 1, 1);
	n = order_of_any(&b, 12, false, want);
	c = config(&b, GTU_PEG_WITH_INDEX | GTU_PEG_BALANCE_EDGES, 0);
	c.in = (struct gtu_array){ 0 };
	c.engines = 4;
	c.ring_log2 = 5;
	OK(gtu_peg_configure(b.q, &c, &peg, &err));
	for (uint64_t left = n, first = 0; left; left--) {
		const bool any = test_random(&draw) % 3;
		uint64_t i, at;
		uint32_t engine;

		while (taken[first])
			first++;
		at = first + (any ? 0 : test_random(&draw) % 8);
		if (at >= n || taken[at])
			at = first;
		engine = want[at] >> 24 & 0xff;
		for (i = first; taken[i] || (want[i] >> 24 & 0xff) != engine; i++)
			;
		CHECK_EQ(gtu_peg_next(peg, any ? GTU_PEG_ANY : engine, &edges, &err), 1);
		CHECK_EQ(edges.cycle << 32 | (uint64_t)edges.engine << 24 |
			 ((const uint64_t *)edges.index)[__builtin_ctz(edges.active)], want[i]);
		taken[i] = true;
	}
	CHECK_EQ(gtu_peg_next(peg, GTU_PEG_ANY, &edges, &err), 0);
	OK(gtu_peg_finish(peg, NULL, &err));
	gtu_peg_close(peg);
}

/* GraphPEG, figure 4(a), level by level: pushed vertices are the next level's list. */
TEST(bfs_of_figure_4_matches_the_reference)
{
	for (uint64_t seed = 1; seed <= 12; seed++) {
		const bool demand = seed % 3 == 0;
		struct gtu_peg *peg = NULL;
		uint64_t *want = test_alloc(2000, 8), *got = test_alloc(2000, 8), listed = 1;
		struct gtu_graph g;
		struct bed b;

		bed_open(&b, seed % 4 ? "model" : "model:peg_list_bytes=64,peg_entries=3", 2000, seed % 2, seed);
		g = (struct gtu_graph){ .n = b.n, .m = b.m, .edge_bytes = b.wide, .row = b.row.addr, .col = b.col.addr };
		CHECK(!reference_bfs(&g, 5, want));
		memset(got, 0xff, 8 * b.n);
		got[5] = 0;
		if (b.wide == 8)
			*(uint64_t *)b.list[0].addr = 5;
		else
			*(uint32_t *)b.list[0].addr = 5;
		for (uint64_t level = 1; listed; level++) {
			struct gtu_peg_config c = config(&b, GTU_PEG_WITH_DST | (demand ? GTU_PEG_DEMAND : 0) |
							     (seed % 5 ? GTU_PEG_BALANCE_EDGES : 0), listed);
			struct gtu_region swap;
			uint64_t dst[32];
			uint32_t valid;
			int rc;

			c.engines = 1 + seed % 4;
			c.ring_log2 = 1 + seed % 5;
			c.push_log2 = 5;
			c.out = gtu_array(&b.list[1], 0, b.m + b.n, b.wide);
			OK(gtu_peg_configure(b.q, &c, &peg, &err));
			for (;;) {
				uint32_t fresh = 0;

				rc = gtu_peg_pop_edge_dst(peg, GTU_PEG_ANY, ~0u, dst, &valid, &err);
				CHECKF(rc >= 0, "%s", err.text);
				if (!rc)
					break;
				for (unsigned l = 0; l < 32; l++) {
					CHECK((dst[l] == ~0ull) == !(valid >> l & 1));
					if (valid >> l & 1 && level < got[dst[l]]) {
						got[dst[l]] = level;
						fresh |= 1u << l;
					}
				}
				OK(gtu_peg_push_vert(peg, GTU_PEG_ANY, fresh, dst, &err));
			}
			OK(gtu_peg_finish(peg, &listed, &err));
			swap = b.list[0], b.list[0] = b.list[1], b.list[1] = swap;
		}
		for (uint64_t v = 0; v < b.n; v++)
			CHECKF(got[v] == want[v], "seed %" PRIu64 ": vertex %" PRIu64 " has level %" PRId64 ", not %" PRId64,
			       seed, v, got[v], want[v]);
		gtu_peg_close(peg);
		test_end(NULL);
	}
}

/*
 * A lane keeps its edge until a field is popped a second time; other lanes keep theirs.
 */
TEST(lanes_hold_their_edges)
{
	struct gtu_peg *peg = NULL;
	struct gtu_peg_config c;
	uint64_t src[32], dst[32], wt[32], idx[32], again[32], seen = 0, r = 1;
	uint32_t valid, v2;
	const uint64_t *row;
	uint8_t *count;
	struct bed b;
	int rc;

	bed_open(&b, "model", 500, false, 3);
	row = b.row.addr;
	c = config(&b, GTU_PEG_WITH_SRC | GTU_PEG_WITH_DST | GTU_PEG_WITH_WEIGHT | GTU_PEG_WITH_INDEX, 0);
	c.in = (struct gtu_array){ 0 };		/* all vertices */
	OK(gtu_peg_configure(b.q, &c, &peg, &err));
	/* with one lane: src, dst, wt, idx are of one edge; a second src is of the next one */
	CHECK_EQ(gtu_peg_pop_edge_src(peg, 0, 1, src, &valid, &err), 1);
	CHECK_EQ(valid, 1);
	CHECK_EQ(src[1], ~0ull);
	CHECK_EQ(gtu_peg_pop_edge_dst(peg, 0, 1, dst, NULL, &err), 1);
	CHECK_EQ(gtu_peg_pop_edge_wt(peg, 0, 1, wt, &valid, &err), 1);
	CHECK_EQ(wt[0], 0xffffffff);		/* -1 is the edge's weight: the mask marks it as valid */
	CHECK_EQ(valid, 1);
	CHECK_EQ(gtu_peg_pop_edge_idx(peg, 0, 1, idx, NULL, &err), 1);
	CHECK_EQ(idx[0], 0);
	CHECK_EQ(dst[0], id(&b, b.col.addr, 0));
	CHECK_EQ(gtu_peg_pop_edge_idx(peg, 0, 1, idx, NULL, &err), 1);
	CHECK_EQ(idx[0], 1);
	CHECK_EQ(gtu_peg_pop_edge_src(peg, 0, 1, src, NULL, &err), 1);	/* of edge 1, which the lane holds */
	CHECK(row[src[0]] <= 1 && row[src[0] + 1] > 1);
	/*
	 * more lanes: lane 0 holds edge 1, whose idx is consumed; lanes 1 and 2 get the next edges,
	 * lowest lane first
	 */
	CHECK_EQ(gtu_peg_pop_edge_idx(peg, 0, 6, idx, NULL, &err), 1);
	CHECK_EQ(idx[1], 2);
	CHECK_EQ(idx[2], 3);
	CHECK_EQ(idx[0], ~0ull);
	CHECK_EQ(gtu_peg_pop_edge_dst(peg, 0, 7, dst, NULL, &err), 1);	/* edges 1, 2, 3: none consumed yet */
	for (unsigned l = 0; l < 3; l++)
		CHECK_EQ(dst[l], id(&b, b.col.addr, l + 1));
	CHECK_EQ(gtu_peg_pop_edge_idx(peg, 0, 7, idx, NULL, &err), 1);
	CHECK_EQ(idx[0], 4);
	CHECK_EQ(idx[2], 6);
	FAILS(gtu_peg_pop_vert(peg, 0, 1, src, NULL, &err), GTU_ERR_USAGE, "VERTEX_LIST");
	FAILS(gtu_peg_push_vert(peg, 0, 1, src, &err), GTU_ERR_USAGE, "no output list");
	FAILS(gtu_peg_pop_edge_dst(peg, 1, 1, src, NULL, &err), GTU_ERR_USAGE, "the stream has 1");
	FAILS(gtu_peg_finish(peg, NULL, &err), GTU_ERR_USAGE, "still has edges");
	FAILS(gtu_submit(b.q, &(struct gtu_hw_desc){ 0 }, NULL, &err), GTU_ERR_USAGE, "PEG stream");
	/* random lanes and fields until the end: every edge exactly once */
	count = test_alloc(b.m, 1);
	for (uint64_t i = 0; i < 7; i++)
		count[i] = 1;
	for (seen = 7;;) {
		const uint32_t lanes = (uint32_t)test_random(&r) | 1u << test_random(&r) % 32;

		rc = gtu_peg_pop_edge_idx(peg, 0, lanes, idx, &valid, &err);
		CHECK(rc >= 0);
		for (unsigned l = 0; l < 32; l++) {
			if (!(valid >> l & 1))
				continue;
			CHECK(idx[l] < b.m && !count[idx[l]]++);
			seen++;
		}
		if (test_random(&r) % 2) {
			CHECK(gtu_peg_pop_edge_dst(peg, 0, valid, dst, &v2, &err) >= 0);
			CHECK_EQ(v2, valid);	/* all hold an edge whose dst is not consumed */
			for (unsigned l = 0; l < 32; l++)
				if (valid >> l & 1)
					CHECK_EQ(dst[l], id(&b, b.col.addr, idx[l]));
		}
		if (!rc)
			break;
	}
	CHECK_EQ(seen, b.m);
	CHECK_EQ(gtu_peg_pop_edge_idx(peg, 0, ~0u, again, &valid, &err), 0);	/* remains at the end */
	CHECK_EQ(again[7], ~0ull);
	OK(gtu_peg_finish(peg, NULL, &err));
	CHECK_EQ(gtu_peg_result(peg)->count, (b.m + 31) / 32);
	FAILS(gtu_peg_finish(peg, NULL, &err), GTU_ERR_USAGE, "has ended");
	CHECK_EQ(gtu_peg_pop_edge_idx(peg, 0, ~0u, again, &valid, &err), 0);
	gtu_peg_close(peg);
}

struct consumer {
	struct gtu_peg *peg;
	unsigned engine;
	uint64_t edges, pushed;
};

static void *consume(void *arg)
{
	struct consumer *c = arg;
	struct gtu_error e = { 0 };
	uint64_t dst[32];
	uint32_t valid;

	while (gtu_peg_pop_edge_dst(c->peg, c->engine, ~0u, dst, &valid, &e) > 0) {
		c->edges += (unsigned)__builtin_popcount(valid);
		if (gtu_peg_push_vert(c->peg, c->engine, valid & 0x11111111, dst, &e))
			break;
		c->pushed += (unsigned)__builtin_popcount(valid & 0x11111111);
	}
	return NULL;
}

TEST(one_thread_per_engine_takes_every_edge)
{
	struct consumer c[4] = { { 0 } };
	struct gtu_peg *peg = NULL;
	struct gtu_peg_config conf;
	uint64_t edges = 0, pushed = 0, listed;
	pthread_t t[4];
	struct bed b;

	bed_open(&b, "model", 20000, false, 9);
	conf = config(&b, GTU_PEG_WITH_DST | GTU_PEG_BALANCE_EDGES | GTU_PEG_STAND_BY, 0);
	conf.in = (struct gtu_array){ 0 };
	conf.engines = 4;
	conf.ring_log2 = 3;
	conf.out = gtu_array(&b.list[1], 0, b.m, 4);
	OK(gtu_peg_configure(b.q, &conf, &peg, &err));
	for (unsigned i = 0; i < 4; i++) {
		c[i] = (struct consumer){ .peg = peg, .engine = i };
		CHECK(!pthread_create(&t[i], NULL, consume, &c[i]));
	}
	for (unsigned i = 0; i < 4; i++) {
		pthread_join(t[i], NULL);
		edges += c[i].edges;
		pushed += c[i].pushed;
	}
	CHECK_EQ(edges, b.m);
	OK(gtu_peg_finish(peg, &listed, &err));
	CHECK_EQ(listed, pushed);
	gtu_peg_close(peg);
}

TEST(vertex_lists_are_read_and_overflow_is_reported)
{
	struct gtu_peg *peg = NULL;
	struct gtu_peg_config c = { 0 };
	uint64_t v[32], listed, n = 0;
	uint32_t valid;
	struct bed b;
	int rc;

	bed_open(&b, "model", 1000, true, 5);
	for (uint64_t i = 0; i < 1000; i++)
		((uint64_t *)b.list[0].addr)[i] = i * i;
	c.flags = GTU_PEG_VERTEX_LIST;
	c.in = gtu_array(&b.list[0], 0, 1000, 8);
	c.out = gtu_array(&b.list[1], 0, 10, 8);
	c.list_bytes = 64;
	OK(gtu_peg_configure(b.q, &c, &peg, &err));
	while ((rc = gtu_peg_pop_vert(peg, 0, ~0u, v, &valid, &err)) > 0)
		for (unsigned l = 0; l < 32; l++, n++) {
			if (!(valid >> l & 1))
				break;
			CHECK_EQ(v[l], n * n);
			if (n % 5 == 0)
				OK(gtu_peg_push_vert(peg, 0, 1u << l, v, &err));
		}
	CHECK_EQ(rc, 0);
	CHECK_EQ(n, 1000);
	FAILS(gtu_peg_finish(peg, &listed, &err), GTU_ERR_SPACE, "does not fit");
	FAILS(gtu_peg_pop_edge_dst(peg, 0, 1, v, NULL, &err), GTU_ERR_USAGE, "no edges");
	c.out.count = 200;
	OK(gtu_peg_configure(b.q, &c, &peg, &err));
	while (gtu_peg_pop_vert(peg, 0, 0xff, v, &valid, &err) > 0)
		OK(gtu_peg_push_vert(peg, 0, valid & 1, v, &err));
	OK(gtu_peg_finish(peg, &listed, &err));
	CHECK_EQ(listed, 125);
	for (uint64_t i = 0; i < 125; i++)
		CHECK_EQ(((uint64_t *)b.list[1].addr)[i], i * i * 64);
	/* closing a stream early leaves the queue usable */
	OK(gtu_peg_configure(b.q, &c, &peg, &err));
	CHECK_EQ(gtu_peg_pop_vert(peg, 0, 1, v, &valid, &err), 1);
	gtu_peg_close(peg);
	OK(gtu_do(b.q, &(struct gtu_hw_desc){ 0 }, GTU_FOREVER, NULL, &err));
}

/* ---- Weaver ---------------------------------------------------------------------------------------------- */

/* The gather kernel (SparseWeaver, figure 9) over a list of vertices, 512 per round. */
TEST(weaver_gathers_every_edge_once_in_order)
{
	for (uint64_t seed = 1; seed <= 8; seed++) {
		struct gtu_weaver_config c = { .demand = seed % 2, .wide_vids = seed % 3 == 0, .wide_eids = seed % 4 == 0,
					       .ring_log2 = 1 + seed % 4 };
		struct gtu_weaver *w = NULL;
		const uint64_t *row;
		uint64_t next = 0, rounds = 0, r = seed;
		uint8_t *count;
		struct bed b;

		bed_open(&b, "model", 3000, false, seed);
		row = b.row.addr;
		count = test_alloc(b.m + 1, 1);
		OK(gtu_weaver_configure(b.q, &c, &w, &err));
		for (uint64_t base = 0; base < b.n; base += 512 * (1 + seed % 3)) {
			const uint64_t bound = base + 512 * (1 + seed % 3) < b.n ? base + 512 * (1 + seed % 3) : b.n;
			unsigned ends = 0, want = 0;

			for (uint64_t at = base; at < bound; at += 512, want++) {
				for (unsigned k = 0; k < 16; k++) {
					const unsigned warp = (k * 7 + 3) % 16;	/* out of order */
					uint64_t vid[32], start[32], degree[32];
					uint32_t lanes = 0;

					for (unsigned l = 0; l < 32; l++) {
						const uint64_t v = at + warp * 32 + l;

						if (v >= bound)
							continue;
						lanes |= 1u << l;
						vid[l] = v;
						start[l] = row[v];
						degree[l] = row[v + 1] - row[v];
					}
					OK(gtu_weaver_reg(w, warp, lanes, vid, start, degree, &err));
				}
				OK(gtu_weaver_sync(w, &err));
			}
			while (ends < want) {
				const uint32_t warp = (uint32_t)(test_random(&r) % 32);
				uint64_t vid[32], eid[32], other[32];
				uint32_t active;
				int rc = gtu_weaver_dec_id(w, warp, vid, &active, &err);

				CHECKF(rc >= 0, "%s", err.text);
				OK(gtu_weaver_dec_loc(w, warp, eid, &err));
				ends += !rc;
				rounds += !rc;
				for (unsigned l = 0; l < 32; l++) {
					if (!(active >> l & 1)) {
						CHECK_EQ(vid[l], ~0ull);
						CHECK_EQ(eid[l], ~0ull);
						continue;
					}
					CHECK_EQ(eid[l], next);		/* in entry order: that of the graph */
					CHECK(row[vid[l]] <= next && next < row[vid[l] + 1]);
					CHECK(!count[next++]++);
				}
				OK(gtu_weaver_dec_loc(w, (warp + 1) % 32, other, &err));	/* other warps are not affected */
				if (active)
					CHECK(other[0] != eid[0]);
			}
		}
		CHECK_EQ(next, b.m);
		CHECK_EQ(rounds, (b.n + 511) / 512);
		gtu_weaver_close(w);
		test_end(NULL);
	}
}

TEST(weaver_skips_a_vertex_and_reports_wrong_use)
{
	struct gtu_weaver_config c = { .demand = true };
	uint64_t vid[32], start[32], degree[32], work = 0, r = 1;
	struct gtu_weaver *w = NULL;
	uint32_t active;
	struct bed b;

	bed_open(&b, "model", 10, false, 1);
	OK(gtu_weaver_configure(b.q, &c, &w, &err));
	CHECK_EQ(gtu_weaver_dec_id(w, 0, vid, &active, &err), 0);	/* nothing registered */
	for (unsigned l = 0; l < 32; l++) {
		vid[l] = l % 2;			/* split vertices: 0 and 1, 16 parts each */
		start[l] = 1000 * l;
		degree[l] = 100;
	}
	OK(gtu_weaver_reg(w, 0, ~0u, vid, start, degree, &err));
	FAILS(gtu_weaver_reg(w, 0, 1, vid, start, degree, &err), GTU_ERR_USAGE, "already registered");
	FAILS(gtu_weaver_reg(w, 16, 1, vid, start, degree, &err), GTU_ERR_USAGE, "the table has 512");
	CHECK_EQ(gtu_weaver_dec_id(w, 3, vid, &active, &err), 1);
	FAILS(gtu_weaver_reg(w, 1, 1, vid, start, degree, &err), GTU_ERR_USAGE, "work of the last round");
	work += 32;
	OK(gtu_weaver_skip(w, 1, &err));
	while (gtu_weaver_dec_id(w, (uint32_t)(test_random(&r) % 32), vid, &active, &err) == 1) {
		for (unsigned l = 0; l < 32; l++)
			CHECK(!(active >> l & 1) || vid[l] == 0);	/* on demand: no work of vertex 1 is produced ahead */
		work += (unsigned)__builtin_popcount(active);
	}
	CHECK_EQ(work, 1600);
	CHECK_EQ(gtu_weaver_result(w)->dropped, 1600);
	OK(gtu_weaver_skip(w, 0, &err));
	vid[0] = 0xffffffff;
	OK(gtu_weaver_reg(w, 0, 1, vid, start, degree, &err));
	FAILS(gtu_weaver_dec_id(w, 0, vid, &active, &err), GTU_ERR_UNSUPPORTED, "too wide");
	gtu_weaver_close(w);
}

TEST_MAIN
