// SPDX-License-Identifier: MIT
/*
 * A generated graph of which every rank makes its part. Ranks draw blocks of edges in turn: first they send
 * the ends to ranks that count the edges of n / p vertices each, and agree where to cut the graph; then they
 * draw the blocks again and send the edges to the owners. The blocks arrive in their order, so that edges of
 * equal ends keep theirs.
 */
#include <stdlib.h>
#include <string.h>

#include "libruntime/graph/graph_part.h"
#include "libruntime/support/array.h"
#include "run.h"

struct maker {
	struct gtu_exchange *x;
	struct gtu_outbox box;
	struct gtu_blocks *b;
	const struct gtu_progress *progress;
	uint64_t chunk;			/* vertices that a rank counts edges for */
	uint64_t *degree;		/* of those */
	uint64_t *cut;
	struct gtu_part part;		/* only for gtu_part_owner() */
	struct gtu_graph *g;
	uint64_t *row, *filled;		/* g->row; edges received, of the rank's vertices */
};

static uint64_t chunk_start(const struct maker *m, uint64_t rank)
{
	return rank * m->chunk < m->b->n ? rank * m->chunk : m->b->n;
}

static int send_end(struct maker *m, uint64_t v)
{
	void *at = gtu_outbox_add(&m->box, (uint32_t)(v / m->chunk), m->b->edge_bytes);

	if (!at)
		return gtu_outbox_full(m->x);
	gtu_store_id(at, m->b->edge_bytes, v);
	return 0;
}

static int send_edge(struct maker *m, uint64_t from, uint64_t to, uint64_t e)
{
	const uint32_t width = m->b->edge_bytes, weight = m->b->opt.random_weights ? 4 : 0;
	char *at = gtu_outbox_add(&m->box, gtu_part_owner(&m->part, from), 2 * width + weight);

	if (!at)
		return gtu_outbox_full(m->x);
	gtu_store_id(at, width, from);
	gtu_store_id(at + width, width, to);
	if (weight)
		memcpy(at + 2 * width, &m->b->weight[e], 4);
	return 0;
}

static int count_ends(struct maker *m, uint32_t from)
{
	const uint64_t first = chunk_start(m, m->x->ranks.rank), end = chunk_start(m, m->x->ranks.rank + 1ull);
	const struct gtu_message *message = &m->box.from[from];
	uint64_t at, v;

	if (message->bytes % m->b->edge_bytes)
		return gtu_part_bad_message(&m->part, from);
	for (at = 0; at < message->bytes; at += m->b->edge_bytes) {
		v = gtu_load_id(message->data + at, m->b->edge_bytes);
		if (v < first || v >= end)
			return gtu_part_bad_message(&m->part, from);
		m->degree[v - first]++;
	}
	return 0;
}

static int take_edges(struct maker *m, uint32_t from)
{
	const uint32_t width = m->b->edge_bytes, weight = m->b->opt.random_weights ? 4 : 0;
	const uint64_t first = m->cut[m->x->ranks.rank], end = m->cut[m->x->ranks.rank + 1];
	const struct gtu_message *message = &m->box.from[from];
	const uint64_t bytes = 2ull * width + weight;
	uint64_t at, v, to, edge;

	if (message->bytes % bytes)
		return gtu_part_bad_message(&m->part, from);
	for (at = 0; at < message->bytes; at += bytes) {
		v = gtu_load_id(message->data + at, width);
		to = gtu_load_id(message->data + at + width, width);
		if (v < first || v >= end || to >= m->b->n || m->filled[v - first] == m->row[v + 1] - m->row[v])
			return gtu_part_bad_message(&m->part, from);
		edge = m->row[v] + m->filled[v - first]++;
		gtu_put((void *)m->g->col, width, edge, to);
		if (weight)
			memcpy((char *)m->g->weight + edge * 4, message->data + at + 2 * width, 4);
	}
	return 0;
}

/* Draw all blocks, and send the ends of their edges, or the edges. */
static int draw(struct maker *m, bool edges, int rc)
{
	const uint32_t rank = m->x->ranks.rank, ranks = m->x->ranks.size;
	const struct gtu_blocks *b = m->b;
	uint64_t block, e, length;
	uint32_t from;

	for (block = rank; block < rank + (b->count + ranks - 1) / ranks * ranks; block += ranks) {
		length = rc || block >= b->count ? 0 : gtu_blocks_draw(m->b, block);
		for (e = 0; e < length && !rc; e++) {
			rc = edges ? send_edge(m, b->src[e], b->dst[e], e) : send_end(m, b->src[e]);
			if (!rc && !b->opt.directed && b->src[e] != b->dst[e])
				rc = edges ? send_edge(m, b->dst[e], b->src[e], e) : send_end(m, b->dst[e]);
		}
		gtu_beat(m->x, true);
		rc = gtu_outbox_exchange(m->x, &m->box, GTU_CARGO_EDGES, rc);
		for (from = 0; from < ranks && !rc; from++)
			rc = edges ? take_edges(m, from) : count_ends(m, from);
		if (!rc && gtu_tick(m->progress, "drawing edges", block < b->count ? block : b->count, b->count))
			rc = gtu_fail(m->x->err, GTU_ERR_INTERRUPTED, "generating was stopped");
	}
	return rc;
}

/* *base = the sum of @mine of all lower ranks, *total = of all ranks. */
static int sums_of_lower(struct maker *m, uint64_t mine, uint64_t *base, uint64_t *total)
{
	uint64_t *all = calloc(m->x->ranks.size, sizeof(*all)), none = 0;
	uint32_t i;
	int rc = gtu_agree(m->x, all ? 0 : gtu_outbox_full(m->x), &none, 1);

	if (!rc)
		rc = m->x->ranks.all_gather(m->x->ranks.context, &mine, sizeof(mine), all, m->x->err) ?
			     gtu_give_up(m->x, m->x->err->code) : 0;
	for (*base = *total = 0, i = 0; i < m->x->ranks.size && !rc; i++) {
		*base += i < m->x->ranks.rank ? all[i] : 0;
		*total += all[i];
	}
	free(all);
	return rc;
}

/*
 * m->cut = the cuts of gtu_graph_cut(): the first vertices before which there are r / p of the graph. All cuts are
 * searched at once.
 */
static int find_cuts(struct maker *m, uint64_t base, uint64_t edges)
{
	const uint32_t ranks = m->x->ranks.size;
	const uint64_t first = chunk_start(m, m->x->ranks.rank), end = chunk_start(m, m->x->ranks.rank + 1ull);
	uint64_t *high = calloc(ranks + 1ull, sizeof(*high)), *row = calloc(ranks + 1ull, sizeof(*row));
	uint64_t *before = calloc(end - first + 1, sizeof(*before)), r, v, step, none = 0;
	int rc = high && row && before ? 0 : gtu_outbox_full(m->x);

	for (v = 0; v < end - first && !rc; v++)
		before[v + 1] = before[v] + m->degree[v];
	for (r = 0; r <= ranks && !rc; r++)
		high[r] = r ? m->b->n : 0;
	m->cut[ranks] = m->b->n;
	rc = gtu_agree(m->x, rc, &none, 1);
	for (step = 0; step <= gtu_bits_for(m->b->n) && !rc; step++) {
		for (r = 0; r <= ranks; r++) {
			v = m->cut[r] + (high[r] - m->cut[r]) / 2;
			row[r] = v >= first && v < end ? base + before[v - first] : 0;
		}
		rc = m->x->ranks.all_reduce(m->x->ranks.context, GTU_SUM_U64, row, ranks + 1ull, m->x->err) ?
			     gtu_give_up(m->x, m->x->err->code) : 0;
		for (r = 1; r < ranks && !rc; r++) {
			v = m->cut[r] + (high[r] - m->cut[r]) / 2;
			if (m->cut[r] == high[r])
				continue;
			if (((unsigned __int128)row[r] + v) * ranks < ((unsigned __int128)m->b->n + edges) * r)
				m->cut[r] = v + 1;
			else
				high[r] = v;
		}
	}
	free(high);
	free(row);
	free(before);
	return rc;
}

/* Send the numbers of edges to the owners; m->row = the first edges of this rank's vertices. */
static int spread_degrees(struct maker *m, uint64_t edges)
{
	const uint32_t rank = m->x->ranks.rank, ranks = m->x->ranks.size;
	const uint64_t first = chunk_start(m, rank), end = chunk_start(m, rank + 1ull);
	uint64_t v = m->cut[rank], i, low, high, mine = 0, base, total, none = 0;
	uint32_t r;
	int rc = 0;

	for (r = 0; r < ranks && !rc; r++) {
		low = m->cut[r] > first ? m->cut[r] : first;
		high = m->cut[r + 1] < end ? m->cut[r + 1] : end;
		if (low < high)
			rc = gtu_part_send_array(&m->part, &m->box, r, m->degree + (low - first), high - low);
	}
	rc = gtu_outbox_exchange(m->x, &m->box, GTU_CARGO_VALUES, rc);
	if (!rc)
		rc = gtu_graph_make_part(m->b, m->cut, ranks, edges, &m->g, m->x->err);
	m->filled = calloc(m->cut[rank + 1] - m->cut[rank] + 1, sizeof(*m->filled));
	if (!rc && !m->filled)
		rc = gtu_outbox_full(m->x);
	m->row = rc ? NULL : (uint64_t *)m->g->row;
	for (r = 0; r < ranks && !rc; r++) {
		if (m->box.from[r].bytes % 8 || m->box.from[r].bytes / 8 > m->cut[rank + 1] - v)
			rc = gtu_part_bad_message(&m->part, r);
		for (i = 0; i < m->box.from[r].bytes / 8 && !rc; i++, v++) {
			m->row[v] = mine;
			mine += ((const uint64_t *)(const void *)m->box.from[r].data)[i];
		}
	}
	rc = gtu_agree(m->x, rc, &none, 1);
	if (!rc)
		rc = sums_of_lower(m, mine, &base, &total);
	if (!rc && total != edges)
		rc = gtu_part_bad_message(&m->part, rank);
	if (rc)
		return rc;
	for (v = m->cut[rank]; v < m->cut[rank + 1]; v++)
		m->row[v] += base;
	m->row[v] = base + mine;
	return 0;
}

/* An entry of a row, to be sorted. */
struct entry {
	uint64_t target;
	uint32_t order, weight;
};

static int compare(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->target != y->target)
		return x->target < y->target ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static int sort_rows(struct maker *m)
{
	const uint64_t first = m->cut[m->x->ranks.rank], end = m->cut[m->x->ranks.rank + 1];
	const uint32_t width = m->b->edge_bytes;
	uint32_t *const weight = (uint32_t *)m->g->weight;
	void *const col = (void *)m->g->col;
	uint64_t v, i, degree, most = 0;
	struct entry *entry;

	for (v = first; v < end; v++)
		most = m->row[v + 1] - m->row[v] > most ? m->row[v + 1] - m->row[v] : most;
	entry = malloc((most + 1) * sizeof(*entry));
	if (!entry)
		return gtu_outbox_full(m->x);
	for (v = first; v < end; v++) {
		gtu_beat_at(m->x, v);
		degree = m->row[v + 1] - m->row[v];
		for (i = 0; i < degree; i++)
			entry[i] = (struct entry){ gtu_get(col, width, m->row[v] + i), (uint32_t)i,
						   weight ? weight[m->row[v] + i] : 0 };
		qsort(entry, degree, sizeof(*entry), compare);
		for (i = 0; i < degree; i++) {
			gtu_put(col, width, m->row[v] + i, entry[i].target);
			if (weight)
				weight[m->row[v] + i] = entry[i].weight;
		}
	}
	free(entry);
	return 0;
}

static int make(struct maker *m)
{
	const uint32_t ranks = m->x->ranks.size;
	uint64_t base, edges, v, mine = 0, none = 0;
	const uint64_t first = chunk_start(m, m->x->ranks.rank), end = chunk_start(m, m->x->ranks.rank + 1ull);
	int rc;

	m->degree = calloc(end - first + 1, sizeof(*m->degree));
	m->cut = calloc(ranks + 1ull, sizeof(*m->cut));
	m->part = (struct gtu_part){ .x = m->x, .ranks = ranks, .cut = m->cut };
	rc = gtu_agree(m->x, m->degree && m->cut ? 0 : gtu_outbox_full(m->x), &none, 1);
	if (!rc)
		rc = gtu_agree(m->x, draw(m, false, 0), &none, 1);
	for (v = first; v < end && !rc; v++)
		mine += m->degree[v - first];
	if (!rc)
		rc = sums_of_lower(m, mine, &base, &edges);
	if (!rc)
		rc = find_cuts(m, base, edges);
	if (!rc)
		rc = spread_degrees(m, edges);
	free(m->degree);
	if (!rc)
		rc = draw(m, true, 0);
	return rc ? rc : sort_rows(m);
}

int gtu_generate_rank(struct gtu_exchange *x, const struct gtu_generate_options *opt,
		      const struct gtu_progress *progress, struct gtu_graph **out)
{
	struct maker m = { .x = x, .progress = progress };
	uint64_t none = 0;
	int rc = gtu_outbox_begin(&m.box, x);

	if (!rc) {
		m.b = gtu_blocks_open(opt, x->err);
		rc = m.b ? 0 : x->err->code;
	}
	rc = gtu_agree(x, rc, &none, 1);
	if (!rc) {
		m.chunk = (m.b->n + x->ranks.size - 1) / x->ranks.size;
		rc = gtu_agree(x, make(&m), &none, 1);
	}
	gtu_beat(x, false);
	gtu_outbox_end(&m.box);
	gtu_blocks_close(m.b);
	free(m.cut);
	free(m.filled);
	if (rc)
		gtu_graph_close(m.g);
	else
		*out = m.g;
	return rc;
}
