/* SPDX-License-Identifier: MIT */
/*
 * Hash table lookup with dense distribution of bucket entries (SparseWeaver, section VII-A,
 * algorithm 1). A unit distributes line 3 of the algorithm, the loop over a bucket, over the lanes.
 * Buckets differ in size; the offset array gives the work of each, as row offsets do for vertices.
 */
#ifndef GTU_HASH_H
#define GTU_HASH_H

#include "gtu/gtu.h"
#include "gtu/splitmix64.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bucket b holds entries offset[b] .. offset[b + 1] - 1, in the order of the keys passed. */
struct gtu_hash_table {
	uint64_t buckets, entries;
	uint64_t *offset;		/* buckets + 1 */
	uint64_t *key;			/* key of each entry */
	uint64_t *number;		/* index of the key as passed, and of the caller's value */
};

/* Bucket of @key; @buckets must not be 0. */
static inline uint64_t gtu_hash_bucket(uint64_t key, uint64_t buckets)
{
	return gtu_splitmix64_hash(key) % buckets;
}

/*
 * Build a table of @count keys; duplicates are allowed. The keys are copied. GTU_ERR_USAGE:
 * @buckets is 0; GTU_ERR_NOMEM. Release it with gtu_hash_free().
 */
int gtu_hash_build(const uint64_t *key, uint64_t count, uint64_t buckets, struct gtu_hash_table *out,
		   struct gtu_error *err);
void gtu_hash_free(struct gtu_hash_table *table);

#define GTU_NOT_FOUND UINT64_MAX

/*
 * position[q] = the first entry of the table whose key is query[q], or GTU_NOT_FOUND; the same for
 * every unit. Every entry of a query's bucket is compared. The options `unit`, `chunk_log2` and
 * `progress` apply. stats->edges: entries compared; vertices: queries found; iterations: blocks of
 * queries.
 *
 * With PEG, a query is a vertex whose edges are its bucket. With Weaver, it is registered with its
 * bucket's offset and size, as in algorithm 1. The SCU expands buckets and replicates queries. The
 * IRU reorders the entries to read, so that a warp's reads of the table share cache lines.
 *
 * Errors are those of the algorithms in gtu.h. GTU_ERR_INPUT: offsets do not ascend or are out of
 * bounds.
 */
int gtu_hash_lookup(struct gtu_device *dev, const struct gtu_hash_table *table,
		    const struct gtu_algorithm_options *opt, const uint64_t *query, uint64_t count,
		    uint64_t *position, struct gtu_algorithm_stats *stats, struct gtu_error *err);

#ifdef __cplusplus
}
#endif
#endif
