// SPDX-License-Identifier: MIT
/*
 * Hash lookups as loops over edges: a block of queries forms a temporary graph. Query q is vertex 2q
 * with row [row[2q], row[2q + 1]), its bucket; edges are the table's entries. Odd vertices are
 * unused and never in the frontier.
 */
#include <stdlib.h>
#include <string.h>

#include "for_each_edge.h"
#include "gtu/hash.h"

#define BLOCK 65536u			/* queries per temporary graph */

int gtu_hash_build(const uint64_t *key, uint64_t count, uint64_t buckets, struct gtu_hash_table *out,
		   struct gtu_error *err)
{
	uint64_t i, b, at;

	memset(out, 0, sizeof(*out));
	if (!buckets)
		return gtu_fail(err, GTU_ERR_USAGE, "a hash table of 0 buckets is too small: the "
				"minimum is 1");
	out->buckets = buckets;
	out->entries = count;
	out->offset = buckets < UINT64_MAX ? calloc(buckets + 1, sizeof(*out->offset)) : NULL;
	out->key = calloc(count + !count, sizeof(*out->key));
	out->number = calloc(count + !count, sizeof(*out->number));
	if (!out->offset || !out->key || !out->number) {
		gtu_hash_free(out);
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for a table of %llu keys in "
				"%llu buckets",
				(unsigned long long)count, (unsigned long long)buckets);
	}
	for (i = 0; i < count; i++)
		out->offset[gtu_hash_bucket(key[i], buckets) + 1]++;
	for (b = 0; b < buckets; b++)
		out->offset[b + 1] += out->offset[b];
	/* filling moves each bucket's start to its end, which is the next one's start */
	for (i = 0; i < count; i++) {
		at = out->offset[gtu_hash_bucket(key[i], buckets)]++;
		out->key[at] = key[i];
		out->number[at] = i;
	}
	for (b = buckets; b > 0; b--)
		out->offset[b] = out->offset[b - 1];
	out->offset[0] = 0;
	return 0;
}

void gtu_hash_free(struct gtu_hash_table *table)
{
	free(table->offset);
	free(table->key);
	free(table->number);
	memset(table, 0, sizeof(*table));
}

struct lookup {
	struct gtu_alg a;
	struct gtu_alg_for_each_edge edges;
	const struct gtu_hash_table *table;
	const uint64_t *query;		/* queries of the block */
	uint64_t *position;
	uint64_t *row;			/* 2 * BLOCK + 1 */
	struct gtu_alg_frontier even;
};

static int compare(void *context, const struct gtu_alg_batch *batch)
{
	struct lookup *l = context;
	unsigned i;

	for (i = 0; i < batch->n; i++) {
		const uint64_t q = batch->source[i] / 2;

		if (gtu_unlikely(q >= l->even.count))
			return gtu_fail(l->a.err, GTU_ERR_FAIL,
					"the unit gives an entry of query %llu, of %llu: it cannot be trusted",
					(unsigned long long)q, (unsigned long long)l->even.count);
		/* the order of entries depends on the unit: take the lowest */
		if (batch->target[i] == l->query[q] && batch->edge[i] < l->position[q])
			l->position[q] = batch->edge[i];
	}
	return 0;
}

static int look_up_block(struct lookup *l, uint64_t n)
{
	const struct gtu_hash_table *t = l->table;
	uint64_t q, b;

	gtu_phase(&l->a.phases, "hash");
	l->even.count = 0;
	for (q = 0; q < n; q++) {
		b = gtu_hash_bucket(l->query[q], t->buckets);
		if (gtu_unlikely(t->offset[b] > t->offset[b + 1] || t->offset[b + 1] > t->entries))
			return gtu_fail(l->a.err, GTU_ERR_INPUT,
					"bucket %llu has entries [%llu, %llu) of %llu: the table "
					"is damaged",
					(unsigned long long)b, (unsigned long long)t->offset[b],
					(unsigned long long)t->offset[b + 1], (unsigned long long)t->entries);
		l->row[2 * q] = t->offset[b];
		l->row[2 * q + 1] = t->offset[b + 1];
		l->position[q] = GTU_NOT_FOUND;
		gtu_alg_push(&l->a, &l->even, 2 * q);
	}
	gtu_phase(&l->a.phases, "compare");
	return gtu_alg_for_each_edge(&l->a, &l->edges, &l->even, compare, l);
}

static int look_up(struct lookup *l, const uint64_t *query, uint64_t count, uint64_t *position)
{
	uint64_t at, n, q;
	int rc;

	rc = gtu_alg_reserve(&l->a, &l->even.ids, (uint64_t)BLOCK * l->a.id_width, false);
	for (at = 0; !rc && at < count; at += n) {
		n = count - at < BLOCK ? count - at : BLOCK;
		l->query = query + at;
		l->position = position + at;
		rc = look_up_block(l, n);
		gtu_phases_iteration(&l->a.phases, l->a.opt, n);
	}
	for (q = 0; !rc && q < count; q++)
		l->a.stats->vertices += position[q] != GTU_NOT_FOUND;
	return rc;
}

int gtu_hash_lookup(struct gtu_device *dev, const struct gtu_hash_table *table,
		    const struct gtu_algorithm_options *opt, const uint64_t *query, uint64_t count,
		    uint64_t *position, struct gtu_algorithm_stats *stats, struct gtu_error *err)
{
	const struct gtu_algorithm_options only = {
		.unit = opt->unit, .chunk_log2 = opt->chunk_log2, .progress = opt->progress,
		.iteration = opt->iteration, .iteration_user = opt->iteration_user,
	};
	/* col holds 8-byte keys, not vertices */
	struct gtu_graph g = {
		.n = 2 * BLOCK, .m = table->entries, .stored = table->entries, .edge_bytes = 8,
		.col = table->key, .name = "the table",
	};
	struct lookup l = { .table = table };
	int rc;

	if (!table->buckets)
		return gtu_fail(err, GTU_ERR_USAGE, "a hash table of 0 buckets is too small: the "
				"minimum is 1");
	l.row = calloc(2 * BLOCK + 1, sizeof(*l.row));
	if (!l.row)
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for a block of %u queries",
				BLOCK);
	g.row = l.row;
	rc = gtu_alg_begin(&l.a, "hash", dev, &g, &only, stats, err);
	l.edges.values = l.edges.edge_indices = true;
	if (!rc)
		rc = gtu_alg_edges_begin(&l.a, &l.edges, &g, 8);
	if (!rc)
		rc = look_up(&l, query, count, position);
	rc = gtu_alg_edges_end(&l.a, &l.edges, rc);
	rc = gtu_alg_end(&l.a, rc);
	free(l.row);
	return rc;
}
