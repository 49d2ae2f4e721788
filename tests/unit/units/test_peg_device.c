// SPDX-License-Identifier: MIT
/*
 * GraphPEG through its descriptor: exactly the edges of the listed vertices, in every width and
 * with every number of engines; complete output lists with any amount of space; the same records,
 * cycles and lists for any consumer speed and step size.
 */
#include "peg_bed.h"

/* The records hold exactly the edges of the input list, with correct fields in each lane. */
static void check_all(const struct bed *b, const struct run *r, uint64_t seed)
{
	const bool list = b->param & GTU_PEG_VERTEX_LIST, ids8 = b->param & GTU_PEG_IDS_8;
	uint64_t *want, *got, n = 0, m = 0, total = 0, rec = 0;

	CHECKF(r->cpl.status == GTU_CPL_OK, "seed %" PRIu64 ": status %u at operand %u, element %" PRIu64, seed,
	       r->cpl.status, r->cpl.operand, r->cpl.element);
	for (uint64_t i = 0; i < b->inputs; i++)
		total += list ? 1 : b->row[b->input[i] + 1] - b->row[b->input[i]];
	want = test_alloc(total + 1, 8);
	got = test_alloc(total + 1, 8);
	for (uint64_t i = 0; i < b->inputs; i++) {
		const uint64_t v = b->input[i];

		if (list)
			want[n++] = v;
		for (uint64_t e = b->row[v]; !list && e < b->row[v + 1]; e++)
			want[n++] = e;
	}
	for (unsigned e = 0; e < b->engines; e++) {
		rec += r->count[e];
		for (size_t i = 0; i < r->count[e]; i++) {
			const uint8_t *at = r->records[e] + i * b->record_bytes;
			const struct gtu_hw_warp *w = (const void *)at;

			CHECK_EQ(w->sequence, i);
			CHECK(w->active && !(w->active & (w->active + 1)));
			for (unsigned l = 0; l < 32; l++) {
				uint64_t value[4] = { 0 };
				bool wide;

				for (unsigned f = 0; f < 4; f++) {
					if (list ? f : !(b->param & GTU_PEG_WITH_SRC << f))
						continue;
					value[f] = list ? get(at + 64, l, ids8) : get(at + field(b, f, &wide), l, (field(b, f, &wide), wide));
					if (!(w->active >> l & 1)) {
						wide = list ? ids8 : (field(b, f, &wide), wide);
						CHECK_EQ(value[f], wide ? ~0ull : ~0u);
					}
				}
				if (!(w->active >> l & 1))
					continue;
				CHECK(m < total);
				if (list) {
					got[m++] = value[0];
					continue;
				}
				/* identify the edge by its index, if records carry it */
				if (b->param & GTU_PEG_WITH_INDEX) {
					const uint64_t x = value[3];
					const unsigned near = b->param & GTU_PEG_PULL ? 1 : 0;

					CHECK(x < b->m);
					got[m++] = x;
					if (b->param & GTU_PEG_WITH_SRC << near)
						CHECK(b->row[value[near]] <= x && x < b->row[value[near] + 1]);
					if (b->param & GTU_PEG_WITH_SRC << !near)
						CHECK_EQ(value[!near], x * 7 % b->n);
					if (b->param & GTU_PEG_WITH_WEIGHT)
						CHECK_EQ(value[2], b->param & GTU_PEG_WEIGHTS_8 ? ~x * 5 : (uint32_t)(~x * 5));
				} else {
					got[m++] = 0;
				}
			}
		}
	}
	CHECK_EQ(r->cpl.count, rec);
	CHECKF(m == total, "seed %" PRIu64 ": %" PRIu64 " lanes were output, expected %" PRIu64, seed, m, total);
	qsort(want, n, 8, by_value);
	qsort(got, m, 8, by_value);
	if (list || b->param & GTU_PEG_WITH_INDEX)
		CHECKF(!memcmp(want, got, 8 * n), "seed %" PRIu64 ": the output is not the requested edges", seed);
	if (!b->return_log2)
		return;
	/* the lists of all engines in turn, each in push order */
	n = 0;
	for (unsigned e = 0; e < b->engines; e++)
		for (size_t i = 0; i < 32 * r->count[e]; i++) {
			const struct gtu_hw_warp *w = (const void *)(r->records[e] + i / 32 * b->record_bytes);

			if (!(w->active >> i % 32 & 1) || i % 3)
				continue;
			CHECKF(n < r->listed && r->list[n] == 1000000 * e + i, "seed %" PRIu64 ": entry %" PRIu64
			       " of %" PRIu64 " of the output list is wrong", seed, n, r->listed);
			n++;
		}
	CHECK_EQ(n, r->listed);
}

TEST(canonical_streams_do_not_depend_on_their_consumers)
{
	for (uint64_t seed = 1; seed <= 250; seed++) {
		struct run want, got;
		struct bed b;

		make(&b, NULL, seed);
		lay_out(&b, false, seed);
		drive(&b, &want, 1 << 20, 0, seed);
		check_all(&b, &want, seed);
		for (unsigned i = 0; i < 3; i++) {
			uint64_t r = seed + i;

			b.ring = 1u << pick(&r, 0, 4);
			if (b.return_log2)
				b.return_log2 = pick(&r, 5, 9);
			lay_out(&b, i == 2, seed);
			drive(&b, &got, i == 1 ? pick(&r, 1, 40) : 0, i ? pick(&r, 1, 4) : 0, seed + i);
			CHECK_EQ(got.cpl.status, GTU_CPL_OK);
			for (unsigned e = 0; e < b.engines; e++) {
				CHECK_EQ(got.count[e], want.count[e]);
				CHECKF(!got.count[e] || !memcmp(got.records[e], want.records[e], got.count[e] * b.record_bytes),
				       "seed %" PRIu64 ": records of engine %u differ", seed, e);
			}
			CHECK_EQ(got.cpl.cycles, want.cpl.cycles);
			CHECK_EQ(got.listed, want.listed);
			CHECK(!got.listed || !memcmp(got.list, want.list, 8 * got.listed));
		}
		test_end(NULL);
	}
}

TEST(demand_loses_and_repeats_no_edge)
{
	const struct gtu_dev_config small = { .peg_entries = 3, .peg_list_bytes = 64, .peg_edge_bytes = 1024,
					      .peg_latency = 30, .peg_interval = 100, .peg_message = 5 };

	for (uint64_t seed = 1; seed <= 250; seed++) {
		struct run got;
		struct bed b;

		make(&b, seed % 3 ? NULL : &small, seed + 5000);
		b.param |= GTU_PEG_DEMAND;
		b.imm = seed % 3 ? b.imm : 0;
		b.ring = 1u << seed % 6;
		lay_out(&b, seed % 2, seed);
		drive(&b, &got, 0, 1 + (unsigned)(seed % 3), seed);
		check_all(&b, &got, seed);
		test_end(NULL);
	}
}

TEST(a_stream_without_a_list_returns_edges_in_order)
{
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct gtu_hw_operand *op;
		struct gtu_hw_desc d;
		struct gtu_hw_cpl c;
		uint64_t edges = 0;
		struct bed b;

		make(&b, NULL, seed);
		b.param = GTU_PEG_WITH_SRC | GTU_PEG_WITH_DST | (seed % 2 ? GTU_PEG_IDS_8 : 0) | 1 << GTU_PEG_ENGINES_SHIFT;
		b.engines = 1;
		b.return_log2 = 0;
		lay_out(&b, false, seed);
		d = describe(&b);
		op = (void *)(b.buffer[BLOCK]->at + 8 + d.operand[0].offset);
		memset(&op[3], 0, sizeof(op[3]));
		memset(ring(&b, 0), 0, 64);
		fx_submit_to(b.f, 0, &d);
		for (uint64_t v = 0, left = 0; !fx_poll(b.f, 0, &c);) {
			struct gtu_hw_ring *h = ring(&b, 0);

			gtu_dev_step(b.f->dev, 500);
			for (; h->consumer != h->producer; h->consumer++) {
				const uint8_t *at = (uint8_t *)h + 64 + (h->consumer & (b.ring - 1)) * b.record_bytes;
				const struct gtu_hw_warp *w = (const void *)at;

				for (unsigned l = 0; l < 32 && w->active >> l & 1; l++, edges++) {
					/* in graph order */
					while (!left && v < b.n)
						left = b.row[v + 1] - b.row[v], v++;
					CHECK_EQ(get(at + 64, l, seed % 2), v - 1);
					CHECK_EQ(get(at + 64 + (seed % 2 ? 256 : 128), l, seed % 2), edges * 7 % b.n);
					left--;
				}
			}
			if (h->waiting)
				fx_doorbell(b.f, 0, GTU_DB_KICK, 1);
		}
		CHECK_EQ(c.status, GTU_CPL_OK);
		CHECK_EQ(edges, b.m);
		test_end(NULL);
	}
}

/* With too little SPILL or OUTPUT, the stream reports the size it needs, and that size suffices. */
TEST(overflow_reports_the_needed_size)
{
	unsigned spills = 0, outputs = 0;

	for (uint64_t seed = 1; seed <= 120; seed++) {
		struct run got;
		struct bed b;

		make(&b, NULL, seed + 900);
		b.return_log2 = 6;
		b.imm = 64;	/* 8 or 4 vertices per list on chip */
		b.outputs = seed % 7;
		b.spill_lines = seed % 5;
		for (unsigned tries = 0;; tries++) {
			CHECK(tries < 4);
			lay_out(&b, seed % 3 == 0, seed);
			drive(&b, &got, 0, 0, seed);
			if (got.cpl.status == GTU_CPL_OK)
				break;
			CHECK_EQ(got.cpl.status, GTU_CPL_OVERFLOW);
			if (got.cpl.operand == GTU_PEG_SPILL) {
				CHECK(got.cpl.needed > b.spill_lines);
				b.spill_lines = got.cpl.needed;
				spills++;
			} else {
				CHECK_EQ(got.cpl.operand, GTU_PEG_OUTPUT);
				CHECK(got.cpl.needed > b.outputs);
				b.outputs = got.cpl.needed;
				outputs++;
			}
		}
		check_all(&b, &got, seed);
		test_end(NULL);
	}
	CHECK(spills > 30 && outputs > 30);
}

/* With vertex-list balancing the order depends on timing; the set of vertices does not. */
TEST(balanced_lists_lose_no_vertex)
{
	uint64_t moved = 0;

	for (uint64_t seed = 1; seed <= 120; seed++) {
		uint64_t *want, n = 0;
		struct run got;
		struct bed b;

		make(&b, NULL, seed + 1200);
		b.return_log2 = 6;
		b.outputs = b.m + b.n + 64;
		b.spill_lines = b.outputs / 15 + 40;
		b.param |= GTU_PEG_BALANCE_LISTS;
		b.imm = seed % 2 ? 64 : 0;
		lay_out(&b, false, seed);
		drive(&b, &got, 0, 0, seed);
		CHECK_EQ(got.cpl.status, GTU_CPL_OK);
		want = test_alloc(got.listed + 1, 8);
		for (unsigned e = 0; e < b.engines; e++)
			for (size_t i = 0; i < 32 * got.count[e]; i += 3) {
				const struct gtu_hw_warp *w = (const void *)(got.records[e] + i / 32 * b.record_bytes);

				if (!(w->active >> i % 32 & 1))
					continue;
				CHECK(n < got.listed);
				want[n++] = 1000000 * e + i;
			}
		CHECK_EQ(n, got.listed);
		qsort(want, n, 8, by_value);
		qsort(got.list, n, 8, by_value);
		CHECK(!memcmp(want, got.list, 8 * n));
		fx_put(b.f, GTU_PAGE_PEG + GTU_UREG_CTRL, 4, GTU_CTRL_SNAPSHOT);
		moved += fx_reg(b.f, GTU_PAGE_PEG + GTU_UREG_COUNTER(GTU_PEG_C_LIST_MOVED), 8);
		test_end(NULL);
	}
	CHECK(moved > 1000);
}

TEST_MAIN
