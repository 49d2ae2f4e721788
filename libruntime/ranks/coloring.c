// SPDX-License-Identifier: MIT
/*
 * Graph coloring over ranks, always 1-D, as in libruntime/algorithm/coloring.c: a round colors all vertices whose earlier
 * neighbours have colors, so ranks give the colors of the sequential greedy algorithm. Owners send the keys of their
 * vertices to all ranks once, and every color to the ranks of later neighbours. A rank has a list of its own vertices
 * for every earlier neighbour of another rank, which that neighbour's color releases.
 */
#include <stdlib.h>
#include <string.h>

#include "libruntime/support/array.h"
#include "libruntime/support/coloring.h"
#include "run.h"

#define UNCOLORED UINT32_MAX
#define WINDOW 64			/* colors considered per pass */

struct coloring {
	struct gtu_ranked *k;
	uint32_t *color;		/* of all vertices, as far as this rank has their edges */
	uint64_t *key;			/* of all vertices */
	uint64_t *waiting;		/* of this rank's: earlier neighbours without a color */
	uint64_t *taken;		/* of this rank's: colors of the window that neighbours have */
	uint32_t base;			/* first color of the window */
	uint64_t *start;		/* of all vertices: where released[] has the rows of another rank's */
	void *released;			/* rows, of k->part.id_bytes */
	uint64_t entries;		/* of released[] */
	uint64_t *last;			/* by rank: 1 + the last vertex that is due to it */
	struct gtu_list due;		/* a rank and a vertex of this one, as a number */
	struct gtu_list ready, next, uncolored;
};

static bool owns(const struct coloring *c, uint64_t v)
{
	return v >= c->k->part.first && v < c->k->part.end;
}

/* ---- Visitors ------------------------------------------------------------------------------------ */

static int count_before(void *context, const struct gtu_alg_batch *batch)
{
	struct coloring *c = context;
	unsigned i;

	for (i = 0; i < batch->n; i++) {
		const uint64_t v = c->k->part.first + batch->source[i], u = batch->target[i];

		if (u == v || !gtu_color_before(c->key, u, v))
			continue;
		c->waiting[batch->source[i]]++;
		c->start[u] += !owns(c, u);
	}
	return 0;
}

/* start[u] becomes the end of the rows of @u. */
static int list_released(void *context, const struct gtu_alg_batch *batch)
{
	struct coloring *c = context;
	unsigned i;

	for (i = 0; i < batch->n; i++) {
		const uint64_t v = c->k->part.first + batch->source[i], u = batch->target[i];

		/* another program may have changed a mapped file since the edges were counted */
		if (u != v && !owns(c, u) && gtu_color_before(c->key, u, v) && c->start[u] < c->entries)
			gtu_put(c->released, c->k->part.id_bytes, c->start[u]++, batch->source[i]);
	}
	return 0;
}

static int find_taken(void *context, const struct gtu_alg_batch *batch)
{
	struct coloring *c = context;
	unsigned i;

	for (i = 0; i < batch->n; i++) {
		const uint32_t color = c->color[batch->target[i]];

		if (color != UNCOLORED && color - c->base < WINDOW)
			c->taken[batch->source[i]] |= 1ull << (color - c->base);
	}
	return 0;
}

static int release_row(struct coloring *c, uint64_t row)
{
	if (!c->waiting[row] || --c->waiting[row])
		return 0;
	return gtu_list_push(&c->next, c->k->part.first + row, c->k->x);
}

/* Sources have been colored: release later neighbours here, and list the ranks of the others. */
static int release(void *context, const struct gtu_alg_batch *batch)
{
	struct coloring *c = context;
	struct gtu_part *p = &c->k->part;
	unsigned i;
	int rc = 0;

	for (i = 0; i < batch->n && !rc; i++) {
		const uint64_t v = p->first + batch->source[i], u = batch->target[i];
		uint32_t owner;

		if (u == v || !gtu_color_before(c->key, v, u))
			continue;
		if (owns(c, u)) {
			rc = release_row(c, u - p->first);
			continue;
		}
		owner = gtu_part_owner(p, u);
		if (c->last[owner] == v + 1)
			continue;
		c->last[owner] = v + 1;
		rc = gtu_list_push(&c->due, owner * gtu_ranked_own(c->k) + batch->source[i], c->k->x);
	}
	return rc;
}

/* ---- Rounds -------------------------------------------------------------------------------------- */

static int traverse(struct coloring *c, const struct gtu_list *l, gtu_alg_edge_fn *visitor)
{
	gtu_ranked_take_rows(c->k, l);
	return gtu_ranked_traverse(c->k, &c->k->edges, visitor, c);
}

/* Color the ready vertices, window by window. No two of them are neighbours. */
static int color_ready(struct coloring *c)
{
	const uint64_t first = c->k->part.first;
	uint64_t i, v, kept;
	int rc = 0;

	c->uncolored.count = 0;
	for (i = 0; i < c->ready.count && !rc; i++)
		rc = gtu_list_push(&c->uncolored, c->ready.at[i], c->k->x);
	for (c->base = 0; c->uncolored.count && !rc; c->base += WINDOW) {
		for (i = 0; i < c->uncolored.count; i++)
			c->taken[c->uncolored.at[i] - first] = 0;
		rc = traverse(c, &c->uncolored, find_taken);
		for (i = kept = 0; i < c->uncolored.count && !rc; i++) {
			v = c->uncolored.at[i];
			if (~c->taken[v - first])
				c->color[v] = c->base + (uint32_t)__builtin_ctzll(~c->taken[v - first]);
			else
				c->uncolored.at[kept++] = v;
		}
		c->uncolored.count = kept;
	}
	return rc;
}

static int compare(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Send the color of every ready vertex to each rank with later neighbours once. */
static int send_colors(struct coloring *c)
{
	struct gtu_ranked *k = c->k;
	uint64_t i, v;
	int rc;

	c->due.count = 0;
	rc = traverse(c, &c->ready, release);
	/* a unit may return the edges of a vertex apart */
	if (c->due.count)
		qsort(c->due.at, c->due.count, sizeof(*c->due.at), compare);
	for (i = 0; i < c->due.count && !rc; i++) {
		if (i && c->due.at[i] == c->due.at[i - 1])
			continue;
		v = k->part.first + c->due.at[i] % gtu_ranked_own(k);
		rc = gtu_part_send_pair(&k->part, &k->box, (uint32_t)(c->due.at[i] / gtu_ranked_own(k)), k->x->ranks.rank, v,
					c->color[v]);
	}
	return rc;
}

static int take_color(void *context, uint64_t v, uint64_t color)
{
	struct coloring *c = context;
	uint64_t i;
	int rc = 0;

	/* every vertex is colored once, with a color below the number of vertices */
	if (color >= c->k->part.n || color >= UNCOLORED || owns(c, v) || c->color[v] != UNCOLORED)
		return gtu_part_bad_message(&c->k->part, gtu_part_owner(&c->k->part, v));
	c->color[v] = (uint32_t)color;
	/* the rows of v end where those of the next vertex begin */
	for (i = v ? c->start[v - 1] : 0; i < c->start[v] && !rc; i++)
		rc = release_row(c, gtu_get(c->released, c->k->part.id_bytes, i));
	return rc;
}

static int rounds(struct coloring *c)
{
	struct gtu_ranked *k = c->k;
	uint64_t sum, colored = 0;
	struct gtu_list swap;
	int rc = 0;

	for (;;) {
		sum = c->ready.count;
		rc = gtu_agree(k->x, rc, &sum, 1);
		if (rc || !sum)
			break;
		colored += sum;
		gtu_phase(&k->a.phases, "color");
		rc = color_ready(c);
		gtu_phase(&k->a.phases, "release");
		c->next.count = 0;
		if (!rc)
			rc = send_colors(c);
		gtu_phase(&k->a.phases, "exchange");
		rc = gtu_outbox_exchange(k->x, &k->box, GTU_CARGO_VALUES, rc);
		if (!rc)
			rc = gtu_part_receive_pairs(&k->part, &k->box, GTU_SENDERS, take_color, c);
		gtu_phases_iteration(&k->a.phases, k->a.opt, sum);
		swap = c->ready;
		c->ready = c->next;
		c->next = swap;
	}
	if (!rc && colored != k->part.n)
		return gtu_fail(k->a.err, GTU_ERR_INPUT,
				"%s: edges are declared undirected, but at least %llu vertices "
				"have edges stored in one direction only: the graph is damaged",
				k->whole->name, (unsigned long long)(k->part.n - colored));
	return rc;
}

/* ---- Preparation --------------------------------------------------------------------------------- */

static int exchange_keys(struct coloring *c)
{
	struct gtu_ranked *k = c->k;
	struct gtu_part *p = &k->part;
	const uint64_t *row = k->local.graph.row;
	const void *values;
	uint64_t v;
	uint32_t r;
	int rc = 0;

	for (v = 0; v < gtu_ranked_own(k); v++)
		c->key[p->first + v] = gtu_color_key(row[v + 1] - row[v], p->first + v);
	for (r = 0; r < p->ranks && !rc; r++)
		if (r != k->x->ranks.rank)
			rc = gtu_part_send_array(p, &k->box, r, c->key + p->first, gtu_ranked_own(k));
	rc = gtu_outbox_exchange(k->x, &k->box, GTU_CARGO_VALUES, rc);
	for (r = 0; r < p->ranks && !rc; r++) {
		if (r == k->x->ranks.rank)
			continue;
		values = gtu_part_receive_array(p, &k->box, r, gtu_part_range(p, r));
		if (!values)
			return GTU_ERR_FAIL;
		memcpy(c->key + p->cut[r], values, gtu_part_range(p, r) * 8);
	}
	return rc;
}

static int count(struct coloring *c)
{
	struct gtu_ranked *k = c->k;
	uint64_t v;
	int rc;

	gtu_phase(&k->a.phases, "count");
	gtu_ranked_take_all(k);
	rc = gtu_ranked_traverse(k, &k->edges, count_before, c);
	if (rc)
		return rc;
	c->entries = gtu_prefix_sum(c->start, k->part.n);
	rc = gtu_ranked_alloc(k, &c->released, c->entries, k->part.id_bytes);
	if (!rc)
		rc = gtu_ranked_traverse(k, &k->edges, list_released, c);
	for (v = 0; v < gtu_ranked_own(k) && !rc; v++)
		if (!c->waiting[v])
			rc = gtu_list_push(&c->ready, k->part.first + v, k->x);
	return rc;
}

int gtu_ranked_coloring(struct gtu_ranked *k)
{
	struct coloring c = { .k = k };
	uint64_t v, none = 0;
	int rc;

	rc = gtu_ranked_alloc(k, &c.color, k->part.n, 4);
	if (!rc)
		rc = gtu_ranked_alloc(k, &c.key, k->part.n, 8);
	if (!rc)
		rc = gtu_ranked_alloc(k, &c.start, k->part.n, 8);
	if (!rc)
		rc = gtu_ranked_alloc(k, &c.waiting, gtu_ranked_own(k), 8);
	if (!rc)
		rc = gtu_ranked_alloc(k, &c.taken, gtu_ranked_own(k), 8);
	if (!rc)
		rc = gtu_ranked_alloc(k, &c.last, k->part.ranks, 8);
	rc = gtu_agree(k->x, rc, &none, 1);
	for (v = 0; v < k->part.n && !rc; v++)
		c.color[v] = UNCOLORED;
	if (!rc)
		rc = gtu_agree(k->x, exchange_keys(&c), &none, 1);
	if (!rc)
		rc = gtu_agree(k->x, count(&c), &none, 1);
	if (!rc)
		rc = rounds(&c);
	if (!rc && gtu_ranked_own(k))
		memcpy(k->result, c.color + k->part.first, gtu_ranked_own(k) * 4);
	k->a.stats->vertices = gtu_ranked_own(k);
	free(c.color);
	free(c.key);
	free(c.start);
	free(c.waiting);
	free(c.taken);
	free(c.last);
	free(c.released);
	free(c.due.at);
	free(c.ready.at);
	free(c.next.at);
	free(c.uncolored.at);
	return rc;
}
