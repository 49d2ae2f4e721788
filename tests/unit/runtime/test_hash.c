// SPDX-License-Identifier: MIT
/* Hash lookups with every unit compared with a linear search; empty, full and single buckets. */
#include "gtu/hash.h"
#include "subjects.h"

static void check_table(const struct gtu_hash_table *t, const uint64_t *key, uint64_t m, uint64_t buckets)
{
	uint8_t *seen = test_alloc(m, 1);
	uint64_t b, i;

	CHECK_EQ(t->buckets, buckets);
	CHECK_EQ(t->entries, m);
	CHECK_EQ(t->offset[0], 0);
	CHECK_EQ(t->offset[buckets], m);
	for (b = 0; b < buckets; b++)
		for (i = t->offset[b]; i < t->offset[b + 1]; i++) {
			CHECK_EQ(gtu_hash_bucket(t->key[i], buckets), b);
			CHECK_EQ(t->key[i], key[t->number[i]]);
			CHECK(i == t->offset[b] || t->number[i] > t->number[i - 1]);
			CHECK(!seen[t->number[i]]++);
		}
}

static void check_lookups(const uint64_t *key, uint64_t m, uint64_t buckets, const uint64_t *query,
			  uint64_t count)
{
	uint64_t *got = test_alloc(count + 1, 8), *want = test_alloc(count, 8), found = 0, compared = 0, q, i;
	struct gtu_algorithm_stats stats;
	struct gtu_hash_table t;

	open_device();
	CHECK(!gtu_hash_build(key, m, buckets, &t, &err));
	check_table(&t, key, m, buckets);
	for (q = 0; q < count; q++) {
		for (i = 0; i < m && t.key[i] != query[q]; i++)
			;
		want[q] = i < m ? i : GTU_NOT_FOUND;
		found += i < m;
		i = gtu_hash_bucket(query[q], buckets);
		compared += t.offset[i + 1] - t.offset[i];
	}
	for (uint32_t unit = 0; unit < UNITS; unit++) {
		for (uint32_t chunk = 0; chunk <= 3; chunk += 3) {
			struct gtu_algorithm_options opt = { .unit = unit, .chunk_log2 = chunk };

			memset(got, 0x55, (count + 1) * 8);
			RUNS("hash", &opt, gtu_hash_lookup(dev, &t, &opt, query, count, got, &stats, &err));
			same_integers(got, want, count, run_name("hash", &opt));
			CHECK_EQ(stats.vertices, found);
			CHECK_EQ(stats.edges, compared);
			CHECK_EQ(got[count], 0x5555555555555555);
		}
	}
	gtu_hash_free(&t);
}

TEST(lookups_with_empty_tables_or_queries_find_nothing)
{
	const uint64_t query[] = { 0, 1, UINT64_MAX };

	check_lookups(NULL, 0, 1, query, 3);
	check_lookups(NULL, 0, 100, query, 3);
	check_lookups(query, 3, 2, NULL, 0);
}

/* Keys of all bit patterns, equal keys, and a table with one bucket. */
TEST(lookups_in_few_buckets_match_a_linear_search)
{
	const uint64_t key[] = { 7, UINT64_MAX, 0, 7, 1ull << 63, 0, UINT64_MAX, 5, 1ull << 32 };
	const uint64_t query[] = { 0, 7, UINT64_MAX, 6, 1ull << 63, 5, 1ull << 31, 7, 1ull << 32 };

	for (uint64_t buckets = 1; buckets < 12; buckets++)
		check_lookups(key, 9, buckets, query, 9);
}

TEST(lookups_of_random_keys_match_a_linear_search)
{
	static uint64_t key[2000], query[3000];
	uint64_t seed = 11;

	for (unsigned round = 0; round < 4; round++) {
		for (unsigned i = 0; i < 2000; i++)
			key[i] = test_random(&seed) % (round % 2 ? 500 : UINT64_MAX);
		for (unsigned i = 0; i < 3000; i++)
			query[i] = i % 2 ? key[test_random(&seed) % 2000] : test_random(&seed) % 1000;
		check_lookups(key, 2000, round < 2 ? 61 : 4000, query, 3000);
	}
}

/* More queries than fit one block. */
TEST(lookups_in_several_blocks_match_a_linear_search)
{
	const uint64_t count = 65536 + 100;
	uint64_t *query = test_alloc(count, 8), key[] = { 3, 65537, 65600, 70000 };

	for (uint64_t i = 0; i < count; i++)
		query[i] = i;
	check_lookups(key, 4, 3, query, count);
}

TEST(invalid_tables_are_refused)
{
	uint64_t key[] = { 1, 2, 3 }, position[3];
	struct gtu_algorithm_options opt = { 0 };
	struct gtu_hash_table t;

	open_device();
	CHECK_EQ(gtu_hash_build(key, 3, 0, &t, &err), GTU_ERR_USAGE);
	CHECK_EQ(gtu_hash_build(key, 3, UINT64_MAX, &t, &err), GTU_ERR_NOMEM);
	CHECK(!gtu_hash_build(key, 3, 1, &t, &err));
	opt.unit = GTU_WITH_GPU;
	CHECK_EQ(gtu_hash_lookup(dev, &t, &opt, key, 3, position, NULL, &err), GTU_ERR_UNSUPPORTED);
	for (opt.unit = 0; opt.unit < UNITS; opt.unit++) {
		t.offset[1] = 4;
		FAILS(gtu_hash_lookup(dev, &t, &opt, key, 3, position, NULL, &err), GTU_ERR_INPUT, "bucket 0 has entries [0, 4) of 3");
		t.offset[1] = 3;
		t.buckets = 0;
		CHECK_EQ(gtu_hash_lookup(dev, &t, &opt, key, 3, position, NULL, &err), GTU_ERR_USAGE);
		t.buckets = 1;
	}
	gtu_hash_free(&t);
}

TEST_MAIN
