// SPDX-License-Identifier: MIT
/*
 * gtu run hash: looks up edges in a hash table of the graph's edges.
 *
 * The key of an edge from u to v is u * n + v; the table has as many buckets as there are vertices.
 * Hashing keys, rather than using the graph's rows as buckets, keeps the paper's algorithm 1 as
 * printed, gives a realistic number of keys, and turns repeated edges into repeated keys. Rows as
 * buckets would measure edge lookups, as BFS does, and queries would follow the degrees.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "gtu/splitmix64.h"
#include "tools/support/cli.h"
#include "tools/support/graph_options.h"
#include "tools/support/json.h"
#include "run_request.h"

static uint64_t key_of(const struct gtu_graph *g, uint64_t u, uint64_t v)
{
	return u * g->n + v;
}

static int make_table(struct run *r, struct gtu_error *err)
{
	const struct gtu_graph *g = &r->graph;
	uint64_t *key, u, e, end, n = 0;
	int rc = 0;

	if (g->n > UINT32_MAX)
		return gtu_fail(err, GTU_ERR_UNSUPPORTED, "hash needs 64-bit keys for pairs of vertices: %llu vertices exceed the limit of %u",
				(unsigned long long)g->n, UINT32_MAX);
	key = malloc((g->m + 1) * sizeof(*key));
	if (!key)
		return gtu_fail(err, GTU_ERR_NOMEM, "no memory for %llu keys", (unsigned long long)g->m);
	for (u = 0; u < g->n && !rc; u++) {
		gtu_graph_edges(g, u, &e, &end);
		/* the rows of a damaged graph may overlap */
		if (end - e > g->m - n)
			rc = gtu_fail(err, GTU_ERR_INPUT, "%s has more edges in its rows than the %llu in its header: the graph is damaged",
				      g->name, (unsigned long long)g->m);
		for (; !rc && e < end; e++)
			key[n++] = key_of(g, u, gtu_graph_target(g, e));
	}
	if (!rc)
		rc = gtu_hash_build(key, n, g->n, &r->table, err);
	free(key);
	return rc;
}

/* Every other query asks for an existing edge, the others for a random pair. */
static int make_queries(struct run *r, struct gtu_error *err)
{
	const struct gtu_graph *g = &r->graph;
	uint64_t q, x;

	r->query = malloc((r->queries + 1) * sizeof(*r->query));
	if (!r->query)
		return gtu_fail(err, GTU_ERR_NOMEM, "no memory for %llu queries", (unsigned long long)r->queries);
	for (q = 0; q < r->queries; q++) {
		x = gtu_splitmix64_hash(gtu_splitmix64_hash(r->opt.seed) + q);
		r->query[q] = q % 2 == 0 && r->table.entries ?
				      r->table.key[x % r->table.entries] :
				      key_of(g, x % g->n, gtu_splitmix64_hash(x) % g->n);
	}
	return 0;
}

int run_compute_hash(struct run *r, struct gtu_error *err)
{
	int rc = make_table(r, err);

	if (!rc)
		rc = make_queries(r, err);
	if (!rc)
		rc = gtu_hash_lookup(r->dev, &r->table, &r->opt, r->query, r->queries, r->integer, &r->stats,
				     err);
	return rc;
}

/*
 * The table's slots by the first vertex of their keys, each group in the table's order: those of vertex u are slot[at[u]] to
 * slot[at[u + 1] - 1]. A key that is no pair of vertices is in no group.
 */
static void group_slots(const struct run *r, uint64_t *at, uint64_t *slot)
{
	const uint64_t n = r->graph.n, m = r->graph.m, *key = r->table.key;
	uint64_t u, e;

	memset(at, 0, (n + 2) * sizeof(*at));
	for (e = 0; e < m; e++)
		if (key[e] / n < n)
			at[key[e] / n + 2]++;
	for (u = 0; u < n; u++)
		at[u + 2] += at[u + 1];
	for (e = 0; e < m; e++)
		if (key[e] / n < n)
			slot[at[key[e] / n + 1]++] = e;
}

/* The first slot of the key. */
static uint64_t first_of(const struct run *r, const uint64_t *at, const uint64_t *slot, uint64_t key)
{
	uint64_t u = key / r->graph.n, i;

	for (i = u < r->graph.n ? at[u] : 0; u < r->graph.n && i < at[u + 1]; i++)
		if (r->table.key[slot[i]] == key)
			return slot[i];
	return GTU_NOT_FOUND;
}

static bool has_edge(const struct gtu_graph *g, uint64_t key)
{
	uint64_t u = key / g->n, e;

	for (e = u < g->n ? g->row[u] : 0; u < g->n && e < g->row[u + 1]; e++)
		if (key_of(g, u, gtu_graph_target(g, e)) == key)
			return true;
	return false;
}

/*
 * Check that a key is found exactly if the graph has the edge, and that the slot is the first in
 * the table.
 */
int run_verify_hash(struct run *r, struct gtu_error *err)
{
	const struct gtu_graph *g = &r->graph;
	uint64_t *at = malloc((g->n + 2) * sizeof(*at)), *slot = malloc((g->m + 1) * sizeof(*slot));
	uint64_t q, want, first = 0, differing = 0;
	int rc = 0;

	if (!at || !slot) {
		rc = gtu_fail(err, GTU_ERR_NOMEM, "no memory for verification");
		goto out;
	}
	group_slots(r, at, slot);
	for (q = 0; q < r->queries; q++) {
		want = first_of(r, at, slot, r->query[q]);
		if ((r->integer[q] != want || (want == GTU_NOT_FOUND) == has_edge(g, r->query[q])) && !differing++)
			first = q;
	}
	r->verdict = differing ? RUN_DIFFERENT : RUN_EQUAL;
	if (differing)
		rc = gtu_fail(err, GTU_ERR_VERIFY,
			      "hash by %s gives slot %lld for query %llu, the sorted list gives %lld; %llu of %llu queries differ",
			      r->unit, (long long)r->integer[first], (unsigned long long)first,
			      (long long)first_of(r, at, slot, r->query[first]), (unsigned long long)differing,
			      (unsigned long long)r->queries);
out:
	free(at);
	free(slot);
	return rc;
}

/* Write the ids of the queried pair, and its slot in the table. */
void run_write_slot(const struct run *r, const void *values, uint64_t q, FILE *f)
{
	const uint64_t slot = ((const uint64_t *)values)[q], key = r->query[q];

	fprintf(f, "%s %s", vertex_label(&r->graph, key / r->graph.n), vertex_label(&r->graph, key % r->graph.n));
	if (slot == GTU_NOT_FOUND)
		fputs(" none\n", f);
	else
		fprintf(f, " %" PRIu64 "\n", slot);
}

static uint64_t fullest(const struct gtu_hash_table *t)
{
	uint64_t b, max = 0;

	for (b = 0; b < t->buckets; b++)
		if (t->offset[b + 1] - t->offset[b] > max)
			max = t->offset[b + 1] - t->offset[b];
	return max;
}

void run_json_hash(const struct run *r, struct json *j)
{
	json_u64(j, "queries", r->queries);
	json_u64(j, "seed", r->opt.seed);
	json_u64(j, "found", r->stats.vertices);
	json_u64(j, "buckets", r->table.buckets);
	json_u64(j, "fullest", fullest(&r->table));
}

void run_print_hash(const struct run *r, FILE *to)
{
	fprintf(to, "\ntable     %s keys in %s buckets, %s in the fullest\n", grouped(r->table.entries),
		grouped(r->table.buckets), grouped(fullest(&r->table)));
	fprintf(to, "found     %s of %s queries, seed %" PRIu64 "\n", grouped(r->stats.vertices),
		grouped(r->queries), r->opt.seed);
}
