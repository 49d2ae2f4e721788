// SPDX-License-Identifier: MIT
/* The coalescer and the event queue. */
#include "firmware-model/lab/engine/coalesce.h"
#include "firmware-model/lab/engine/events.h"
#include "tests/unit/test.h"

/* ---- Coalescer --------------------------------------------------------------------------------- */

static struct lab_coalesced c;
static uint32_t at[32];			/* index of each lane */

static void ramp(uint32_t first, int step)
{
	unsigned i;

	for (i = 0; i < 32; i++)
		at[i] = first + i * (unsigned)step;
}

static void coalesce(uint32_t mask, unsigned width_log2, unsigned unit, enum lab_kind kind)
{
	lab_coalesce(at, mask, width_log2, LAB_BASE, unit, kind, &c);
}

TEST(consecutive_words_are_one_line_or_four_sectors)
{
	ramp(64, 1);
	coalesce(~0u, 2, 128, LAB_LOAD);
	CHECK_EQ(c.n, 1);
	CHECK_EQ(c.unit[0], LAB_BASE + 256);
	CHECK_EQ(c.bits[0], 0xf);
	coalesce(~0u, 2, 32, LAB_LOAD);
	CHECK_EQ(c.n, 4);
	CHECK_EQ(c.unit[0], LAB_BASE + 256 + 96);	/* descending */
	CHECK_EQ(c.unit[3], LAB_BASE + 256);
	CHECK_EQ(c.bits[0], 0x8);
}

TEST(misaligned_access_touches_one_more_line)
{
	ramp(1, 1);
	coalesce(~0u, 2, 128, LAB_LOAD);
	CHECK_EQ(c.n, 2);
	CHECK_EQ(c.bits[0], 0x1); /* word 32 is in the second line's first sector */
	CHECK_EQ(c.bits[1], 0xf);
	CHECK_EQ(c.sectors, 5);
	coalesce(~0u, 3, 128, LAB_LOAD);		/* 8-byte elements: bytes 8 to 263 */
	CHECK_EQ(c.n, 3);
	CHECK_EQ(c.sectors, 9);
}

TEST(only_active_lanes_count)
{
	ramp(0, 0);
	at[0] = 1000;
	at[31] = 2000;
	coalesce(1, 2, 128, LAB_LOAD);
	CHECK_EQ(c.n, 1);
	CHECK_EQ(c.unit[0], LAB_BASE + 4000 / 128 * 128);
	coalesce(0x80000001u, 2, 32, LAB_LOAD);
	CHECK_EQ(c.n, 2);
	CHECK_EQ(c.unit[0], LAB_BASE + 8000);
}

/* A sector takes as many transactions as the most lanes on one of its words. */
TEST(atomics_to_one_word_are_serialized)
{
	uint32_t i;

	for (i = 0; i < 32; i++)
		at[i] = i < 3 ? 5 : i < 5 ? 6 : i < 6 ? 7 : 8;
	coalesce(0x3f, 2, 32, LAB_ATOMIC);	/* 3 on word 5, 2 on 6, 1 on 7: one sector */
	CHECK_EQ(c.n, 3);
	coalesce(0x7f, 2, 32, LAB_ATOMIC);	/* and one on word 8: another */
	CHECK_EQ(c.n, 4);
	CHECK_EQ(c.unit[0], LAB_BASE + 32);
	CHECK_EQ(c.unit[1], LAB_BASE);
	coalesce(~0u, 2, 32, LAB_ATOMIC);	/* 26 lanes on word 8 */
	CHECK_EQ(c.n, 29);
}

/* GPGPU-Sim before sectors: one line per half warp. */
TEST(line_atomics_coalesce_per_half_warp)
{
	uint32_t i;

	ramp(31, -1);
	coalesce(~0u, 2, 128, LAB_ATOMIC);
	CHECK_EQ(c.n, 2);
	CHECK_EQ(c.bits[0], 0xc);			/* lanes 0 to 15 are words 31 to 16 */
	CHECK_EQ(c.bits[1], 0x3);
	CHECK_EQ(c.sectors, 4);
	for (i = 0; i < 32; i++)
		at[i] = i < 3 ? 5 : i < 5 ? 20 : i < 6 ? 40 : 70;
	coalesce(0x3f, 2, 128, LAB_ATOMIC);	/* 3 on word 5, 2 on 20: 3 of line 0; one of line 1 */
	CHECK_EQ(c.n, 4);
	CHECK_EQ(c.unit[0], LAB_BASE + 128);
	CHECK_EQ(c.unit[1], LAB_BASE);
	CHECK_EQ(c.bits[0], 0x2);
	CHECK_EQ(c.bits[1], 0x5);
	CHECK_EQ(c.bits[3], 0x1);
	coalesce(0x00018000, 2, 128, LAB_ATOMIC); /* lanes 15 and 16 on one word */
	CHECK_EQ(c.n, 2);
	ramp(9, 0);
	coalesce(~0u, 2, 128, LAB_ATOMIC);
	CHECK_EQ(c.n, 32);
}

TEST(stores_mark_partial_sectors)
{
	ramp(0, 1);
	coalesce(0x000fffff, 2, 128, LAB_STORE);	/* words 0 to 19: sectors 0, 1 whole, 2 half */
	CHECK_EQ(c.n, 1);
	CHECK_EQ(c.bits[0], 0x7);
	CHECK_EQ(c.partial[0], 0x4);
	coalesce(0x0000000f, 3, 128, LAB_STORE);	/* four 8-byte elements: a sector */
	CHECK_EQ(c.partial[0], 0);
	coalesce(0x000000ff, 2, 64, LAB_STORE);		/* 64-byte units have both sectors: the second is not written */
	CHECK_EQ(c.bits[0], 0x3);
	CHECK_EQ(c.partial[0], 0x2);
}

/* The SIMD and the portable implementation agree with each other and with a direct count. */
TEST(simd_and_portable_coalescers_agree)
{
	uint64_t seed = 7, round;
	struct lab_coalesced d;
	uint32_t mask, i, j, distinct;

	for (round = 0; round < 20000; round++) {
		unsigned width = 2 + (test_random(&seed) & 1), kind = test_random(&seed) % 3;
		unsigned unit = kind == LAB_ATOMIC ? 32u << test_random(&seed) % 2 * 2 : 32u << test_random(&seed) % 3;
		uint32_t range = 1u << (1 + test_random(&seed) % 24);

		for (i = 0; i < 32; i++)
			at[i] = (uint32_t)(test_random(&seed) % range);
		mask = round % 3 ? (uint32_t)test_random(&seed) | 1u << (round & 31) : ~0u;
		lab_coalesce(at, mask, width, LAB_BASE, unit, kind, &c);
		lab_coalesce_plain(at, mask, width, LAB_BASE, unit, kind, &d);
		CHECK_EQ(c.n, d.n);
		CHECK_EQ(c.sectors, d.sectors);
		CHECK(!memcmp(c.unit, d.unit, c.n * sizeof(*c.unit)));
		CHECK(!memcmp(c.bits, d.bits, c.n));
		CHECK(kind != LAB_STORE || !memcmp(c.partial, d.partial, c.n));
		if (kind == LAB_ATOMIC)
			continue;
		for (i = 0; i < c.n && unit == 64; i++)
			CHECK_EQ(c.bits[i], 3u << (c.unit[i] / LAB_SECTOR & 2));
		for (i = distinct = 0; i < 32; i++) {
			for (j = 0; j < i; j++)
				if (mask >> j & 1 && (at[j] << width) / unit == (at[i] << width) / unit)
					break;
			distinct += mask >> i & 1 && j == i;
		}
		CHECK_EQ(c.n, distinct);
	}
}

/* ---- Event queue ----------------------------------------------------------------------------- */

TEST(events_are_ordered_by_time_then_insertion)
{
	static struct lab_calendar k;
	static struct lab_node node[5000];
	uint64_t when[5000], last = 0, seed = 3;
	uint32_t i, n, before = 0;

	k.node = node;
	CHECK(lab_calendar_init(&k));
	for (i = 1; i < 5000; i++) {
		when[i] = i % 3 ? test_random(&seed) % 4000 : test_random(&seed) % 100000;
		lab_schedule(&k, when[i], i, EV_WAKE);
	}
	for (i = 1; i < 5000; i++) {
		n = lab_calendar_pop(&k);
		CHECK(n);
		CHECK_EQ(k.now, when[n]);
		CHECK(k.now > last || n > before);
		last = k.now;
		before = n;
	}
	CHECK_EQ(lab_calendar_pop(&k), 0);
	/* far beyond the ring, from an empty queue */
	lab_schedule(&k, k.now + 1000000, 1, EV_WAKE);
	CHECK_EQ(lab_calendar_pop(&k), 1);
	CHECK_EQ(k.now, last + 1000000);
	lab_calendar_free(&k);
}

TEST_MAIN
