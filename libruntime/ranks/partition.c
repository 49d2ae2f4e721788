// SPDX-License-Identifier: MIT
/* The grid of ranks, and the edges of a rank. */
#include <stdlib.h>
#include <string.h>

#include "libruntime/graph/graph_part.h"
#include "libruntime/support/array.h"
#include "libruntime/support/graph_access.h"
#include "partition.h"

#define ROUND_EDGES (1u << 20)		/* of a rank that gtu_part_edges_begin() exchanges at a time */

int gtu_part_begin(struct gtu_part *p, struct gtu_exchange *x, const struct gtu_graph *g)
{
	const uint32_t ranks = x->ranks.size;
	uint64_t widest = 0;
	uint32_t i;
	int rc;

	*p = (struct gtu_part){ .x = x, .ranks = ranks, .cols = 1, .n = g->n };
	/* the most nearly square grid */
	for (i = 2; ranks >= GTU_GRID_RANKS && i * i <= ranks; i++)
		if (ranks % i == 0)
			p->cols = i;
	p->rows = ranks / p->cols;
	p->row = x->ranks.rank / p->cols;
	p->col = x->ranks.rank % p->cols;
	p->cut = calloc(ranks + 1ull, sizeof(*p->cut));
	if (!p->cut)
		return gtu_fail(x->err, GTU_ERR_NOMEM, "out of memory for a partition of %u ranks", ranks);
	rc = gtu_graph_cut(g, ranks, p->cut, x->err);
	if (rc)
		return rc;
	p->first = p->cut[x->ranks.rank];
	p->end = p->cut[x->ranks.rank + 1];
	p->row_first = p->cut[p->row * p->cols];
	p->row_end = p->cut[(p->row + 1) * p->cols];
	for (i = 0; i < ranks; i++)
		widest = gtu_part_range(p, i) > widest ? gtu_part_range(p, i) : widest;
	p->id_bytes = widest >> 32 ? 8 : 4;
	return 0;
}

void gtu_part_flatten(struct gtu_part *p)
{
	p->rows = p->ranks;
	p->cols = 1;
	p->row = p->x->ranks.rank;
	p->col = 0;
	p->row_first = p->first;
	p->row_end = p->end;
}

void gtu_part_end(struct gtu_part *p)
{
	free(p->cut);
	p->cut = NULL;
}

uint32_t gtu_part_owner(const struct gtu_part *p, uint64_t v)
{
	uint32_t low = 0, high = p->ranks, mid;

	/* the last rank whose range starts at or before v: those before it may be empty */
	while (high - low > 1) {
		mid = low + (high - low) / 2;
		if (p->cut[mid] <= v)
			low = mid;
		else
			high = mid;
	}
	return low;
}

/* ---- In place ------------------------------------------------------------------------------------ */

static int bad_row(struct gtu_part *p, const struct gtu_graph *g, uint64_t v)
{
	return gtu_fail_row(g->name, v, g->row[v], g->row[v + 1], g->m, p->x->err);
}

/* Without columns a rank has all edges of its vertices: the graph's arrays, used in place. */
static int take_in_place(struct gtu_part *p, struct gtu_part_edges *e, const struct gtu_graph *g, bool weights)
{
	const uint64_t rows = p->end - p->first;
	const uint32_t weight_bytes = (uint32_t)gtu_weight_bytes(g->weight_type);
	/* regions start at multiples of 8 bytes, so the first edge has an even index */
	const uint64_t base = rows ? g->row[p->first] & ~1ull : 0;
	uint64_t v, last = rows ? g->row[p->first] : 0;

	for (v = 0; v < rows; v++) {
		gtu_beat_at(p->x, v);
		e->row[v] = last - base;
		if (g->row[p->first + v + 1] < last || g->row[p->first + v + 1] > g->m)
			return bad_row(p, g, p->first + v);
		last = g->row[p->first + v + 1];
	}
	e->row[rows] = last - base;
	e->graph.m = last - base;
	if (e->graph.m)
		e->graph.col = (const char *)g->col + base * g->edge_bytes;
	if (e->graph.m && weights && g->weight)
		e->graph.weight = (const char *)g->weight + base * weight_bytes;
	return 0;
}

/* ---- By exchange ----------------------------------------------------------------------------------- */

/* Edges received: row, target and weight of each, one after the other. */
struct received {
	char *data;
	uint64_t count, capacity;
	uint32_t id_bytes, weight_bytes, bytes;	/* of one vertex, weight, edge */
};

static int send_edge(struct gtu_part *p, struct gtu_outbox *o, const struct received *r, uint64_t from, uint64_t to,
		     const char *weight)
{
	const uint32_t rank = gtu_part_owner(p, from) / p->cols * p->cols + gtu_part_owner(p, to) % p->cols;
	char *at = gtu_outbox_add(o, rank, r->bytes);

	if (!at)
		return gtu_outbox_full(p->x);
	gtu_store_id(at, r->id_bytes, from);
	gtu_store_id(at + r->id_bytes, r->id_bytes, to);
	if (r->weight_bytes)
		memcpy(at + 2 * r->id_bytes, weight, r->weight_bytes);
	return 0;
}

/* Send about ROUND_EDGES edges, those of vertices from *@v on. */
static int send_round(struct gtu_part *p, struct gtu_outbox *o, const struct received *r, const struct gtu_graph *g,
		      enum gtu_part_direction direction, uint64_t *v)
{
	uint64_t edge, end, target, edges = 0;
	int rc = 0;

	for (; *v < p->end && edges < ROUND_EDGES; ++*v) {
		gtu_beat_at(p->x, *v);
		edge = g->row[*v];
		end = g->row[*v + 1];
		if (edge > end || end > g->m)
			return bad_row(p, g, *v);
		for (; !rc && edge < end; edge++, edges++) {
			target = gtu_graph_target(g, edge);
			if (target >= g->n)
				return gtu_fail(p->x->err, GTU_ERR_INPUT,
						"%s: entry %llu of the edge list is vertex %llu, but there are %llu: "
						"the graph is damaged", g->name, (unsigned long long)edge,
						(unsigned long long)target, (unsigned long long)g->n);
			if (direction != GTU_PART_REVERSED)
				rc = send_edge(p, o, r, *v, target, (const char *)g->weight + edge * r->weight_bytes);
			if (!rc && direction != GTU_PART_STORED)
				rc = send_edge(p, o, r, target, *v, NULL);
		}
		if (rc)
			return rc;
	}
	return 0;
}

static int receive_round(struct gtu_part *p, const struct gtu_outbox *o, struct received *r)
{
	uint64_t wanted = r->count;
	uint32_t i;
	char *data;

	for (i = 0; i < o->size; i++)
		wanted += o->from[i].bytes / r->bytes;
	for (i = 0; i < o->size; i++)
		if (o->from[i].bytes % r->bytes)
			return gtu_part_bad_message(p, i);
	if (wanted > r->capacity) {
		r->capacity = wanted + wanted / 4;
		data = realloc(r->data, r->capacity * r->bytes);
		if (!data)
			return gtu_fail(p->x->err, GTU_ERR_NOMEM, "out of memory for %llu edges",
					(unsigned long long)r->capacity);
		r->data = data;
	}
	for (i = 0; i < o->size; i++) {
		if (o->from[i].bytes)
			memcpy(r->data + r->count * r->bytes, o->from[i].data, o->from[i].bytes);
		r->count += o->from[i].bytes / r->bytes;
	}
	return 0;
}

static int exchange_edges(struct gtu_part *p, struct received *r, const struct gtu_graph *g,
			  enum gtu_part_direction direction)
{
	struct gtu_outbox o;
	uint64_t v = p->first, left = 1;
	int rc = gtu_agree(p->x, gtu_outbox_begin(&o, p->x), &left, 1);

	while (!rc && left) {
		rc = send_round(p, &o, r, g, direction, &v);
		rc = gtu_outbox_exchange(p->x, &o, GTU_CARGO_EDGES, rc);
		if (!rc)
			rc = receive_round(p, &o, r);
		left = p->end - v;
		rc = gtu_agree(p->x, rc, &left, 1);
	}
	gtu_outbox_end(&o);
	return rc;
}

static uint64_t id_at(const struct received *r, uint64_t i, uint32_t which)
{
	return gtu_load_id(r->data + i * r->bytes + which * r->id_bytes, r->id_bytes);
}

static int compare_4(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static int compare_8(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Sort every row and drop duplicates. */
static void merge_duplicates(struct gtu_part *p, struct gtu_part_edges *e)
{
	const uint32_t width = e->graph.edge_bytes;
	uint64_t v, i, first = 0, end, to = 0, target;

	for (v = 0; v < e->graph.n; v++, first = end) {
		gtu_beat_at(p->x, v);
		end = e->row[v + 1];
		qsort((char *)e->col + first * width, end - first, width, width == 4 ? compare_4 : compare_8);
		e->row[v] = to;
		for (i = first; i < end; i++) {
			target = gtu_get(e->col, width, i);
			if (to == e->row[v] || gtu_get(e->col, width, to - 1) != target)
				gtu_put(e->col, width, to++, target);
		}
	}
	e->row[e->graph.n] = to;
	e->graph.m = to;
}

/* Order the edges received by row. */
static int build(struct gtu_part *p, struct gtu_part_edges *e, const struct received *r)
{
	const uint32_t width = e->graph.edge_bytes;
	uint64_t i, v, at, *next = e->row;

	e->col = gtu_array_alloc((r->count + 1) * width);
	e->weight = r->weight_bytes ? gtu_array_alloc((r->count + 1) * r->weight_bytes) : NULL;
	if (!e->col || (r->weight_bytes && !e->weight))
		return gtu_fail(p->x->err, GTU_ERR_NOMEM, "out of memory for a part with %llu edges",
				(unsigned long long)r->count);
	for (i = 0; i < r->count; i++) {
		gtu_beat_at(p->x, i);
		v = id_at(r, i, 0);
		if (!gtu_part_has_row(p, v) || id_at(r, i, 1) >= p->n)
			return gtu_fail(p->x->err, GTU_ERR_FAIL, "another rank sent an edge from vertex %llu to vertex "
					"%llu, which does not belong to this rank", (unsigned long long)v,
					(unsigned long long)id_at(r, i, 1));
		next[v - p->row_first]++;
	}
	e->row[e->graph.n] = gtu_prefix_sum(e->row, e->graph.n);
	for (i = 0; i < r->count; i++) {
		gtu_beat_at(p->x, i);
		at = next[id_at(r, i, 0) - p->row_first]++;
		gtu_put(e->col, width, at, id_at(r, i, 1));
		if (r->weight_bytes)
			memcpy((char *)e->weight + at * r->weight_bytes, r->data + i * r->bytes + 2 * r->id_bytes,
			       r->weight_bytes);
	}
	/* each entry is now the end of its row, which is the start of the next */
	memmove(e->row + 1, e->row, e->graph.n * sizeof(*e->row));
	e->row[0] = 0;
	e->graph.m = r->count;
	e->graph.col = e->col;
	e->graph.weight = e->weight;
	return 0;
}

int gtu_part_edges_begin(struct gtu_part *p, struct gtu_part_edges *e, const struct gtu_graph *g,
			 enum gtu_part_direction direction, bool weights)
{
	const uint64_t rows = p->row_end - p->row_first;
	struct received r = { .id_bytes = g->edge_bytes };
	uint64_t none = 0;
	int rc = 0;

	weights = weights && g->weight && direction == GTU_PART_STORED;
	memset(e, 0, sizeof(*e));
	e->graph = *g;
	e->graph.n = rows;
	e->graph.m = 0;
	e->graph.flags = GTU_GRAPH_DIRECTED;
	e->graph.col = e->graph.weight = NULL;
	e->graph.ids = NULL;
	e->graph.backing = NULL;
	e->graph.weight_type = weights ? g->weight_type : GTU_WEIGHT_NONE;
	e->row = calloc(rows + 1, sizeof(*e->row));
	if (!e->row)
		rc = gtu_fail(p->x->err, GTU_ERR_NOMEM, "out of memory for a part with %llu vertices",
			      (unsigned long long)rows);
	e->graph.row = e->row;
	if (!rc && p->cols == 1 && direction == GTU_PART_STORED)
		rc = take_in_place(p, e, g, weights);
	rc = gtu_agree(p->x, rc, &none, 1);
	if (rc || (p->cols == 1 && direction == GTU_PART_STORED))
		return rc;
	r.weight_bytes = weights ? (uint32_t)gtu_weight_bytes(g->weight_type) : 0;
	r.bytes = 2 * r.id_bytes + r.weight_bytes;
	rc = exchange_edges(p, &r, g, direction);
	if (!rc)
		rc = build(p, e, &r);
	free(r.data);
	if (!rc && direction == GTU_PART_BOTH)
		merge_duplicates(p, e);
	return gtu_agree(p->x, rc, &none, 1);
}

void gtu_part_edges_end(struct gtu_part_edges *e)
{
	free(e->row);
	free(e->col);
	free(e->weight);
	memset(e, 0, sizeof(*e));
}
