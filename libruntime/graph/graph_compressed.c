// SPDX-License-Identifier: MIT
/*
 * Encoder and decoder of compressed edge lists, parallel over shares of vertices. A first pass
 * counts the pieces and bits of each share, so that in the second pass all threads know their
 * offsets. Adjacent shares may share a word, so the first and last word of a piece are or'ed
 * atomically.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "graph_compressed.h"
#include "graph_internal.h"
#include "libruntime/support/parallel.h"

#define SHARE (1ull << GTU_COMPRESSED_SHARE_LOG2)

typedef unsigned long long ull;

struct work {
	const struct gtu_graph *g;
	struct gtu_compressed *c;
	uint32_t *stream;		/* output, or input if @col is set */
	void *col;
	uint32_t *weight;
	uint64_t *index, *table;
	atomic_uint_fast64_t bad;	/* an invalid vertex or piece */
	const struct gtu_progress *progress;
};

static uint64_t shares_of(const struct gtu_graph *g)
{
	return (g->n + SHARE - 1) / SHARE;
}

static uint32_t count_of(uint64_t degree, uint64_t piece)
{
	uint64_t left = degree - piece * GTU_COMPRESSED_PIECE;

	return left < GTU_COMPRESSED_PIECE ? (uint32_t)left : GTU_COMPRESSED_PIECE;
}

/* ---- Offsets of the shares --------------------------------------------------------------------------- */

static int count_pieces(void *arg, uint64_t first, uint64_t end)
{
	struct work *w = arg;
	struct gtu_compressed_share *s = &w->c->share[first >> GTU_COMPRESSED_SHARE_LOG2];
	uint64_t v, pieces;

	for (v = first; v < end; v++) {
		pieces = gtu_compressed_pieces(w->g->row[v + 1] - w->g->row[v]);
		s->piece += pieces;
		s->long_piece += pieces > 1 ? pieces : 0;
	}
	return 0;
}

/* Exclusive prefix sum over one member of the shares; returns the total. */
static uint64_t sum_up(struct gtu_compressed *c, uint64_t shares, size_t member)
{
	uint64_t i, sum = 0, have, *at;

	for (i = 0; i < shares; i++) {
		at = (uint64_t *)((char *)&c->share[i] + member);
		have = *at;
		*at = sum;
		sum += have;
	}
	return sum;
}

static int share_pieces(struct work *w, struct gtu_error *err)
{
	uint64_t shares = shares_of(w->g);

	w->c->share = calloc(shares + 1, sizeof(*w->c->share));
	if (!w->c->share)
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory encoding the lists of %llu "
				"vertices", (ull)w->g->n);
	gtu_parallel_by(SHARE, count_pieces, w, w->g->n);
	w->c->long_pieces = sum_up(w->c, shares, offsetof(struct gtu_compressed_share, long_piece));
	w->c->pieces = sum_up(w->c, shares, offsetof(struct gtu_compressed_share, piece));
	return 0;
}

/* ---- Encoding ------------------------------------------------------------------------------------------ */

static int find_widths(void *arg, uint64_t first, uint64_t end)
{
	struct work *w = arg;
	const struct gtu_graph *g = w->g;
	struct gtu_compressed *c = w->c;
	struct gtu_compressed_share *s = &c->share[first >> GTU_COMPRESSED_SHARE_LOG2];
	uint64_t v, e, last, piece = s->piece, target, before = 0;
	uint32_t mask = gtu_compressed_mask(c->entry_bits), all, i, count;

	for (v = first; v < end; v++) {
		for (e = g->row[v]; e < g->row[v + 1]; piece++) {
			count = count_of(g->row[v + 1] - e, 0);
			last = 0;
			for (i = 0, all = 0; i < count; i++, e++) {
				target = gtu_graph_target(g, e);
				last = target > last ? target : last;
				all |= i ? (uint32_t)(target - before) & mask : 0;
				before = target;
			}
			if (last >= g->n) {
				atomic_store(&w->bad, v);
				return GTU_ERR_INPUT;
			}
			c->width[piece] = (uint8_t)gtu_bits_for(all);
			s->bit += gtu_compressed_piece_bits(count, c->entry_bits, c->width[piece], c->weight_bits);
		}
	}
	return 0;
}

struct weight_range {
	const uint32_t *weight;
	atomic_uint_fast32_t min, max;
};

static int find_range(void *arg, uint64_t first, uint64_t end)
{
	struct weight_range *r = arg;
	uint32_t min = UINT32_MAX, max = 0;
	uint_fast32_t seen;
	uint64_t e;

	for (e = first; e < end; e++) {
		min = r->weight[e] < min ? r->weight[e] : min;
		max = r->weight[e] > max ? r->weight[e] : max;
	}
	seen = atomic_load(&r->min);
	while (min < seen && !atomic_compare_exchange_weak(&r->min, &seen, min))
		;
	seen = atomic_load(&r->max);
	while (max > seen && !atomic_compare_exchange_weak(&r->max, &seen, max))
		;
	return 0;
}

static void choose_weight_bits(const struct gtu_graph *g, struct gtu_compressed *c)
{
	struct weight_range r = { .weight = g->weight, .min = UINT32_MAX };
	uint32_t bits;

	if (g->weight_type != GTU_WEIGHT_U32 || !g->m)
		return;
	gtu_parallel(find_range, &r, g->m);
	bits = gtu_bits_for(atomic_load(&r.max) - atomic_load(&r.min));
	if (c->entry_bits + bits > GTU_COMPRESSED_BITS_MAX)
		return;
	c->weighted = 1;
	c->weight_bits = bits;
	c->weight_min = (uint32_t)atomic_load(&r.min);
}

int gtu_compressed_measure(const struct gtu_graph *g, int weights, struct gtu_compressed *c, struct gtu_error *err)
{
	struct work w = { .g = g, .c = c };
	int rc;

	memset(c, 0, sizeof(*c));
	if (g->n > 1ull << 32)
		return gtu_fail(err, GTU_ERR_UNSUPPORTED,
				"%s has %llu vertices: compressed lists support at most "
				"4294967296", g->name, (ull)g->n);
	c->entry_bits = g->n > 2 ? gtu_bits_for(g->n - 1) : 1;
	if (weights)
		choose_weight_bits(g, c);
	rc = share_pieces(&w, err);
	if (rc)
		return rc;
	c->width = malloc(c->pieces + 1);
	if (!c->width)
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory encoding %llu edges", (ull)g->m);
	rc = gtu_parallel_by(SHARE, find_widths, &w, g->n);
	if (rc)
		return gtu_fail(err, rc, "%s: an edge of vertex %llu has a target beyond the %llu "
				"vertices: the graph is damaged",
				g->name, (ull)atomic_load(&w.bad), (ull)g->n);
	c->bits = sum_up(c, shares_of(g), offsetof(struct gtu_compressed_share, bit));
	return 0;
}

void gtu_compressed_free(struct gtu_compressed *c)
{
	free(c->width);
	free(c->share);
	memset(c, 0, sizeof(*c));
}

/* Bit writer. */
struct bit_writer {
	uint32_t *word;
	uint64_t held;
	uint32_t bits;
	bool shared;			/* the current word may contain bits of another piece */
};

static void put(struct bit_writer *p, uint32_t value, uint32_t bits)
{
	p->held |= (uint64_t)value << p->bits;
	p->bits += bits;
	if (p->bits < 32)
		return;
	if (p->shared)
		__atomic_fetch_or(p->word, (uint32_t)p->held, __ATOMIC_RELAXED);
	else
		*p->word = (uint32_t)p->held;
	p->shared = false;
	p->word++;
	p->held >>= 32;
	p->bits -= 32;
}

static void write_piece(const struct work *w, uint64_t at, uint64_t e, uint32_t count, uint32_t width)
{
	const struct gtu_compressed *c = w->c;
	const uint32_t *weight = w->g->weight;
	struct bit_writer p = { .word = w->stream + (at >> 5), .bits = (uint32_t)at & 31, .shared = true };
	uint32_t mask = gtu_compressed_mask(c->entry_bits), i;
	uint64_t before = gtu_graph_target(w->g, e), target;

	put(&p, (uint32_t)before, c->entry_bits);
	for (i = 1; i < count; i++, before = target) {
		target = gtu_graph_target(w->g, e + i);
		put(&p, (uint32_t)(target - before) & mask, width);
	}
	for (i = 0; i < count && c->weight_bits; i++)
		put(&p, weight[e + i] - c->weight_min, c->weight_bits);
	if (p.bits)
		__atomic_fetch_or(p.word, (uint32_t)p.held, __ATOMIC_RELAXED);
}

static int write_share(void *arg, uint64_t first, uint64_t end)
{
	struct work *w = arg;
	const struct gtu_compressed *c = w->c;
	const struct gtu_compressed_share *s = &c->share[first >> GTU_COMPRESSED_SHARE_LOG2];
	uint64_t v, k, degree, piece = s->piece, bit = s->bit;
	uint32_t count;

	for (v = first; v < end; v++) {
		degree = w->g->row[v + 1] - w->g->row[v];
		for (k = 0; k < gtu_compressed_pieces(degree); k++, piece++) {
			count = count_of(degree, k);
			write_piece(w, bit, w->g->row[v] + k * GTU_COMPRESSED_PIECE, count, c->width[piece]);
			bit += gtu_compressed_piece_bits(count, c->entry_bits, c->width[piece], c->weight_bits);
		}
	}
	return 0;
}

static int clear_share(void *arg, uint64_t first, uint64_t end)
{
	memset((char *)arg + first, 0, end - first);
	return 0;
}

void gtu_compressed_write(const struct gtu_graph *g, const struct gtu_compressed *c, uint32_t *stream)
{
	struct work w = { .g = g, .c = (struct gtu_compressed *)c, .stream = stream };

	gtu_parallel(clear_share, stream, gtu_compressed_bytes(c->bits));
	gtu_parallel_by(SHARE, write_share, &w, g->n);
}

static int index_share(void *arg, uint64_t first, uint64_t end)
{
	struct work *w = arg;
	const struct gtu_compressed *c = w->c;
	const struct gtu_compressed_share *s = &c->share[first >> GTU_COMPRESSED_SHARE_LOG2];
	uint64_t v, k, degree, pieces, piece = s->piece, bit = s->bit, row = s->long_piece;

	for (v = first; v < end; v++) {
		degree = w->g->row[v + 1] - w->g->row[v];
		pieces = gtu_compressed_pieces(degree);
		w->index[v] = pieces > 1 ? row : 0;
		for (k = 0; k < pieces; k++, piece++) {
			*(pieces > 1 ? &w->table[row++] : &w->index[v]) = gtu_compressed_word(bit, c->width[piece]);
			bit += gtu_compressed_piece_bits(count_of(degree, k), c->entry_bits, c->width[piece],
						    c->weight_bits);
		}
	}
	return 0;
}

void gtu_compressed_index(const struct gtu_graph *g, const struct gtu_compressed *c, uint64_t *index, uint64_t *table)
{
	struct work w = { .g = g, .c = (struct gtu_compressed *)c, .index = index, .table = table };

	gtu_parallel_by(SHARE, index_share, &w, g->n);
}

/* ---- Decoding ------------------------------------------------------------------------------------------- */

/* Sum the bits of each share; stops at an invalid width. */
static int count_bits(void *arg, uint64_t first, uint64_t end)
{
	struct work *w = arg;
	struct gtu_compressed *c = w->c;
	struct gtu_compressed_share *s = &c->share[first >> GTU_COMPRESSED_SHARE_LOG2];
	uint64_t v, k, degree, piece = s->piece;

	for (v = first; v < end; v++) {
		degree = w->g->row[v + 1] - w->g->row[v];
		for (k = 0; k < gtu_compressed_pieces(degree); k++, piece++) {
			if (c->width[piece] > c->entry_bits) {
				atomic_store(&w->bad, piece);
				return GTU_ERR_INPUT;
			}
			s->bit += gtu_compressed_piece_bits(count_of(degree, k), c->entry_bits, c->width[piece],
						       c->weight_bits);
		}
	}
	return 0;
}

/* Decode a piece; returns its greatest target. */
static uint32_t read_piece(const struct work *w, uint64_t at, uint64_t e, uint32_t count, uint32_t width)
{
	const struct gtu_compressed *c = w->c;
	uint32_t mask = gtu_compressed_mask(c->entry_bits), target = gtu_compressed_take(w->stream, at, c->entry_bits),
		 max = target, i;
	uint32_t *narrow = w->g->edge_bytes == 4 ? (uint32_t *)w->col + e : NULL;
	uint64_t bit = at + c->entry_bits;

	gtu_put(w->col, w->g->edge_bytes, e, target);
	for (i = 1; i < count; i++, bit += width) {
		target = (target + gtu_compressed_take(w->stream, bit, width)) & mask;
		max = target > max ? target : max;
		if (narrow)
			narrow[i] = target;
		else
			((uint64_t *)w->col)[e + i] = target;
	}
	for (i = 0; i < count && c->weighted; i++, bit += c->weight_bits)
		w->weight[e + i] = c->weight_min + gtu_compressed_take(w->stream, bit, c->weight_bits);
	return max;
}

static int read_share(void *arg, uint64_t first, uint64_t end)
{
	struct work *w = arg;
	const struct gtu_compressed *c = w->c;
	const struct gtu_compressed_share *s = &c->share[first >> GTU_COMPRESSED_SHARE_LOG2];
	uint64_t v, k, degree, piece = s->piece, bit = s->bit;
	uint32_t count;

	for (v = first; v < end; v++) {
		degree = w->g->row[v + 1] - w->g->row[v];
		for (k = 0; k < gtu_compressed_pieces(degree); k++, piece++) {
			count = count_of(degree, k);
			if (read_piece(w, bit, w->g->row[v] + k * GTU_COMPRESSED_PIECE, count,
				       c->width[piece]) >= w->g->n) {
				atomic_store(&w->bad, v);
				return GTU_ERR_INPUT;
			}
			bit += gtu_compressed_piece_bits(count, c->entry_bits, c->width[piece], c->weight_bits);
		}
	}
	return 0;
}

/* Vertices decoded between two progress calls. */
#define STRIDE (64 * SHARE)

static int read_all(struct work *w, const char *name, struct gtu_error *err)
{
	struct gtu_graph part = *w->g;
	struct gtu_compressed_share *share = w->c->share;
	uint64_t first, end;
	int rc = 0;

	/*
	 * shares are indexed from a part's first vertex, so each part is passed as a separate graph
	 */
	for (first = 0; first < w->g->n && !rc; first = end) {
		struct work p = { .g = &part, .c = w->c, .stream = w->stream, .col = w->col, .weight = w->weight };

		end = w->g->n - first > STRIDE ? first + STRIDE : w->g->n;
		part.row = w->g->row + first;
		w->c->share = share + (first >> GTU_COMPRESSED_SHARE_LOG2);
		rc = gtu_parallel_by(SHARE, read_share, &p, end - first);
		if (rc)
			gtu_fail(err, rc, "%s: an edge of vertex %llu has a target beyond the %llu "
				 "vertices", name,
				 (ull)(first + atomic_load(&p.bad)), (ull)w->g->n);
		else if (gtu_tick(w->progress, "decoding", w->g->row[end], w->g->m))
			rc = gtu_fail(err, GTU_ERR_INTERRUPTED, "opening %s was stopped", name);
	}
	w->c->share = share;
	return rc;
}

int gtu_compressed_read(const struct gtu_graph *g, struct gtu_compressed *c, const uint32_t *stream, void *col, uint32_t *weight,
		   const char *name, const struct gtu_progress *progress, struct gtu_error *err)
{
	struct work w = { .g = g, .c = c, .stream = (uint32_t *)stream, .col = col, .weight = weight,
			  .progress = progress };
	uint64_t pieces = c->pieces, bits = c->bits, found;
	int rc = gtu_graph_check_rows(g, name, NULL, err);

	c->share = NULL;
	if (!rc)
		rc = share_pieces(&w, err);
	if (!rc && c->pieces != pieces)
		rc = gtu_fail(err, GTU_ERR_INPUT, "%s: the rows give %llu pieces of edge lists, "
			      "but the header has %llu",
			      name, (ull)c->pieces, (ull)pieces);
	if (!rc && gtu_parallel_by(SHARE, count_bits, &w, g->n)) {
		found = atomic_load(&w.bad);
		rc = gtu_fail(err, GTU_ERR_INPUT, "%s: piece %llu of the edge lists has steps of "
			      "%u bits: a vertex has %u bits",
			      name, (ull)found, c->width[found], c->entry_bits);
	}
	found = rc ? bits : sum_up(c, shares_of(g), offsetof(struct gtu_compressed_share, bit));
	if (!rc && found != bits)
		rc = gtu_fail(err, GTU_ERR_INPUT, "%s: the edge lists have %llu bits, but the "
			      "header has %llu", name,
			      (ull)found, (ull)bits);
	if (!rc)
		rc = read_all(&w, name, err);
	free(c->share);
	c->share = NULL;
	return rc;
}
