/* SPDX-License-Identifier: MIT */
/*
 * Hash lookup with its buckets' entries given out densely (sparseweaver.txt, section VII-A, algorithm 1). Line 3
 * of the algorithm, the loop over a bucket, is what a unit spreads over lanes: buckets are of unlike size, and
 * the offset array says how much work each one is, as it does for a vertex.
 */
#ifndef GTU_HASH_H
#define GTU_HASH_H

#include "gtu/gtu.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A table: bucket b holds entries offset[b] .. offset[b + 1] - 1, in the order in which keys were given. */
struct gtu_hash_table {
	uint64_t buckets, entries;
	uint64_t *offset;		/* buckets + 1 */
	uint64_t *key;			/* of each entry */
	uint64_t *number;		/* which of the given keys it is: where its value lies with the caller */
};

/* Bucket of @key: the finishing of splitmix64, modulo. @buckets is not 0. */
static inline uint64_t gtu_hash_bucket(uint64_t key, uint64_t buckets)
{
	key += 0x9e3779b97f4a7c15u;
	key = (key ^ key >> 30) * 0xbf58476d1ce4e5b9u;
	key = (key ^ key >> 27) * 0x94d049bb133111ebu;
	return (key ^ key >> 31) % buckets;
}

/*
 * Make a table of @count keys, which may be any and repeat; nothing of the caller's is kept. GTU_ERR_USAGE: no
 * buckets; GTU_ERR_NOMEM. gtu_hash_free() gives the memory back.
 */
int gtu_hash_build(const uint64_t *key, uint64_t count, uint64_t buckets, struct gtu_hash_table *out,
		   struct gtu_error *err);
void gtu_hash_free(struct gtu_hash_table *table);

#define GTU_NOT_FOUND UINT64_MAX

/*
 * position[q] = the first entry of the table whose key is query[q], GTU_NOT_FOUND where there is none: the same
 * for every unit. Every entry of a query's bucket is compared. Of the options, `unit`, `chunk_log2` and
 * `progress` count. stats->edges: entries compared; vertices: queries found; iterations: blocks of queries.
 *
 * By PEG a query is a vertex whose edges are its bucket; by Weaver it is registered with its bucket's offset and
 * size, as algorithm 1 has it; the SCU expands buckets and replicates queries; the IRU reorders the places that are
 * to be read, so that a warp's reads of the table meet in lines.
 *
 * Errors as of the algorithms in gtu.h. GTU_ERR_INPUT: offsets that do not ascend or lead outside the table.
 */
int gtu_hash_lookup(struct gtu_device *dev, const struct gtu_hash_table *table,
		    const struct gtu_algorithm_options *opt, const uint64_t *query, uint64_t count,
		    uint64_t *position, struct gtu_algorithm_stats *stats, struct gtu_error *err);

#ifdef __cplusplus
}
#endif
#endif
