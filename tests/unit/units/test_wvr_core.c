// SPDX-License-Identifier: MIT
/*
 * Weaver's tables and state machine: the paper's figures 6 and 7 with their numbers, and a
 * comparison with a reference machine that advances one state per cycle, for random registrations,
 * requests and skips.
 */
#include "tests/unit/test.h"
#include "firmware-model/units/wvr/wvr_core.h"

static struct wvr_core *make(const struct wvr_shape *shape)
{
	CHECK(!wvr_shape_check(shape));
	return wvr_core_init(test_aligned(wvr_core_bytes(shape)), shape);
}

static void answered(const struct wvr_work *w, unsigned lanes, const uint64_t *vid, const uint64_t *eid)
{
	for (unsigned l = 0; l < lanes; l++) {
		CHECK_EQ(w->vid[l], vid[l]);
		CHECK_EQ(w->eid[l], eid[l]);
		CHECK_EQ(w->active >> l & 1, vid[l] != WVR_NONE);
	}
	CHECK_EQ(w->active >> (lanes - 1) >> 1, 0);
}

/*
 * Figure 7: warps 0, 2 and 1 register, with 4 threads each; warp 1 requests first. Figure 6 is the
 * same table. The paper shows the entries of warp 0; the others' entries are this test's.
 */
TEST(warps_get_the_work_of_figures_6_and_7)
{
	const struct wvr_shape shape = { .entries = 12, .warps = 3, .table_latency = 10, .lanes = 4 };
	struct wvr_core *c = make(&shape);
	struct wvr_work w;

	for (unsigned warp = 0; warp < 3; warp++)
		for (unsigned l = 0; l < 4; l++)
			CHECK_EQ(wvr_core_dec_loc(c, warp)[l], WVR_NONE);	/* before any request */
	CHECK_EQ(wvr_core_register(c, 0, 0, 2, 1), WVR_OK);
	CHECK_EQ(wvr_core_register(c, 1, 2, 10, 2), WVR_OK);
	CHECK_EQ(wvr_core_register(c, 2, 4, 30, 5), WVR_OK);
	CHECK_EQ(wvr_core_register(c, 3, 6, 50, 0), WVR_OK);	/* filtered: degree 0 */
	CHECK_EQ(wvr_core_register(c, 8, 16, 80, 3), WVR_OK);
	CHECK_EQ(wvr_core_register(c, 11, 22, 90, 1), WVR_OK);
	CHECK_EQ(wvr_core_register(c, 4, 8, 60, 1), WVR_OK);
	CHECK_EQ(c->state, WVR_S0);
	wvr_core_dec_id(c, 1, &w);
	answered(&w, 4, (uint64_t[]){ 0, 2, 2, 4 }, (uint64_t[]){ 2, 10, 11, 30 });
	/* S1, S2, S3, S4, S2, S3, S4, S2, then S5: 10 + 1 + (10 + 1 + 1) * 2 */
	CHECK_EQ(w.cycle, 35);
	CHECK_EQ(c->cycle, 36);
	CHECK_EQ(c->state, WVR_S6);
	for (unsigned l = 0; l < 4; l++)
		CHECK_EQ(wvr_core_dec_loc(c, 1)[l], ((uint64_t[]){ 2, 10, 11, 30 })[l]);
	CHECK_EQ(wvr_core_dec_loc(c, 0)[0], WVR_NONE);
	/* entry (4, 30, 5) has four edges left: another warp gets them without a table read */
	wvr_core_dec_id(c, 0, &w);
	answered(&w, 4, (uint64_t[]){ 4, 4, 4, 4 }, (uint64_t[]){ 31, 32, 33, 34 });
	CHECK_EQ(w.cycle, 38);		/* S6, S2, S5 */
	wvr_core_dec_id(c, 2, &w);
	answered(&w, 4, (uint64_t[]){ 8, 16, 16, 16 }, (uint64_t[]){ 60, 80, 81, 82 });
	/* S6, S2 without remaining work, then three entries, the first of degree 0 */
	CHECK_EQ(w.cycle, 39 + 2 + 3 * 12);
	wvr_core_dec_id(c, 1, &w);
	answered(&w, 4, (uint64_t[]){ 22, WVR_NONE, WVR_NONE, WVR_NONE },
		 (uint64_t[]){ 90, WVR_NONE, WVR_NONE, WVR_NONE });
	CHECK_EQ(c->state, WVR_S8);
	CHECK_EQ(wvr_core_dec_loc(c, 1)[0], 90);
	wvr_core_dec_id(c, 1, &w);
	CHECK_EQ(w.active, 0);
	CHECK_EQ(w.vid[0], WVR_NONE);
	CHECK_EQ(wvr_core_dec_loc(c, 1)[0], WVR_NONE);
	CHECK_EQ(c->count.work, 13);
	CHECK_EQ(c->count.state[WVR_S1], 10);
	CHECK_EQ(c->count.state[WVR_S5], 3);
	CHECK_EQ(c->count.state[WVR_S7], 1);
	CHECK_EQ(c->count.state[WVR_S8], 1);
	/* the first registration after a request starts a round: the old entries are invalid */
	CHECK_EQ(wvr_core_register(c, 5, 100, 7, 2), WVR_OK);
	wvr_core_decode(c, &w);
	answered(&w, 4, (uint64_t[]){ 100, 100, WVR_NONE, WVR_NONE },
		 (uint64_t[]){ 7, 8, WVR_NONE, WVR_NONE });
	CHECK_EQ(c->count.rounds, 2);
}

TEST(invalid_registrations_are_rejected)
{
	const struct wvr_shape shape = { .entries = 100, .warps = 1, .table_latency = 1, .lanes = 32 };
	struct wvr_core *c = make(&shape);
	struct wvr_work w;

	CHECK_EQ(wvr_core_register(c, 100, 1, 1, 1), WVR_OUTSIDE);
	CHECK_EQ(wvr_core_register(c, ~0u, 1, 1, 1), WVR_OUTSIDE);
	CHECK_EQ(wvr_core_register(c, 99, 1, 1, 1), WVR_OK);
	CHECK_EQ(wvr_core_register(c, 99, 1, 1, 1), WVR_TWICE);
	wvr_core_decode(c, &w);
	CHECK_EQ(w.active, 1);
	CHECK_EQ(wvr_core_register(c, 99, 1, 1, 0), WVR_OK);	/* another round */
	wvr_core_decode(c, &w);
	CHECK_EQ(w.active, 0);		/* degree 0 gives no work */
}

/* ---- The reference machine ------------------------------------------------------------------- */

#define ENTRIES 300u

struct machine {
	unsigned entries, latency, lanes;
	struct { bool valid; uint64_t vid, start, degree; } st[ENTRIES];
	unsigned at;			/* entries below it have been read */
	uint64_t vid, start, degree;	/* of the current entry */
	int state;
	uint64_t t, in_state[9], skipped;
};

static int next_of(const struct machine *m)
{
	for (unsigned i = m->at; i < m->entries; i++)
		if (m->st[i].valid)
			return (int)i;
	return -1;
}

static void tick(struct machine *m, int state)
{
	m->in_state[state]++;
	m->t++;
}

/* One request, state by state. */
static void request(struct machine *m, struct wvr_work *w)
{
	unsigned lane = 0;
	int s = m->state == 0 ? 1 : m->state == 6 ? 6 : 8, next;

	for (unsigned l = 0; l < 32; l++)
		w->vid[l] = w->eid[l] = WVR_NONE;
	for (;;) {
		switch (s) {
		case 1:
		case 3:
			next = next_of(m);
			if (next < 0) {
				tick(m, s);
				m->at = m->entries;
				s = 7;
				break;
			}
			for (unsigned i = 0; i < m->latency; i++)
				tick(m, s);
			m->vid = m->st[next].vid;
			m->start = m->st[next].start;
			m->degree = m->st[next].degree;
			m->at = (unsigned)next + 1;
			s = s == 1 ? 2 : 4;
			break;
		case 2:
			for (; lane < m->lanes && m->degree; lane++, m->degree--) {
				w->vid[lane] = m->vid;
				w->eid[lane] = m->start++;
			}
			tick(m, s);
			s = lane == m->lanes ? 5 : 3;
			break;
		case 4:
			tick(m, s);
			s = 2;
			break;
		case 6:
			tick(m, s);
			s = 2;
			break;
		case 5:
		case 7:
		case 8:
			w->cycle = m->t;
			tick(m, s);
			m->state = s == 5 ? 6 : 8;
			w->active = (uint32_t)((1ull << lane) - 1);
			return;
		}
	}
}

static void skip(struct machine *m, uint64_t vid)
{
	unsigned looked = 0;

	if (m->state == 8)
		return;
	if (m->vid == vid) {
		m->skipped += m->degree;
		m->degree = 0;
	}
	for (unsigned i = m->at; i < m->entries; i++) {
		looked += m->st[i].valid;
		if (m->st[i].valid && m->st[i].vid == vid) {
			m->skipped += m->st[i].degree;
			m->st[i].valid = false;
		}
	}
	for (unsigned i = 0; i < (looked ? m->latency + looked - 1 : 1); i++)
		tick(m, m->state);
}

TEST(state_machine_equals_the_reference)
{
	for (uint64_t seed = 1; seed <= TEST_CASES(10000); seed++) {
		uint64_t r = seed, sum = 0;
		const struct wvr_shape shape = {
			.entries = 1 + (uint32_t)(test_random(&r) % ENTRIES), .warps = 4,
			.table_latency = 1 + (uint32_t)(test_random(&r) % 40),
			.lanes = test_random(&r) % 3 ? 32 : 1 + (uint32_t)(test_random(&r) % 32),
		};
		struct wvr_core *c = make(&shape);
		static struct machine m;
		unsigned rounds = 1 + (unsigned)(test_random(&r) % 3);

		memset(&m, 0, sizeof(m));
		m.entries = shape.entries;
		m.latency = shape.table_latency;
		m.lanes = shape.lanes;
		while (rounds--) {
			const unsigned kind = test_random(&r) % 4;
			const unsigned n = (unsigned)(test_random(&r) % (shape.entries + 1));
			const unsigned vids = 1 + (unsigned)(test_random(&r) % 20);
			struct wvr_work got, want;
			bool first = true;

			for (unsigned i = 0; i < n; i++) {
				const uint32_t e = (uint32_t)(test_random(&r) % shape.entries);
				const uint64_t vid = test_random(&r) % vids, start = test_random(&r) >> 20;
				const uint64_t degree = kind == 0 ? test_random(&r) % 3 : kind == 1 ? 0 :
							test_random(&r) % 20 ? test_random(&r) % 10 :
							test_random(&r) % 300;
				const enum wvr_answer a = wvr_core_register(c, e, vid, start, degree);

				if (first)
					memset(m.st, 0, sizeof(m.st));
				first = false;
				CHECK_EQ(a, m.st[e].valid ? WVR_TWICE : WVR_OK);
				if (a == WVR_OK) {
					m.st[e].valid = true;
					m.st[e].vid = vid;
					m.st[e].start = start;
					m.st[e].degree = degree;
					sum += degree;
				}
			}
			if (!n)
				continue;
			m.state = 0;
			m.at = 0;
			m.degree = 0;
			do {
				if (!(test_random(&r) % 4)) {
					const uint64_t vid = test_random(&r) % vids;

					wvr_core_skip(c, vid);
					skip(&m, vid);
				}
				wvr_core_decode(c, &got);
				request(&m, &want);
				CHECKF(got.active == want.active && got.cycle == want.cycle &&
				       !memcmp(got.vid, want.vid, sizeof(got.vid)) &&
				       !memcmp(got.eid, want.eid, sizeof(got.eid)),
				       "seed %" PRIu64 ": lanes %x in cycle %" PRIu64 ", expected %x in %" PRIu64,
				       seed, got.active, got.cycle, want.active, want.cycle);
				sum -= (unsigned)__builtin_popcount(got.active);
			} while (got.active || c->state != WVR_S8);
		}
		CHECK_EQ(sum, m.skipped);	/* the output is the registered work less the skipped work */
		CHECK_EQ(c->count.skipped, m.skipped);
		CHECK_EQ(c->cycle, m.t);
		for (unsigned s = 0; s < 9; s++)
			CHECK_EQ(c->count.state[s], m.in_state[s]);
		test_end(NULL);
	}
}

TEST_MAIN
