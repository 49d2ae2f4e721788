// SPDX-License-Identifier: MIT
/*
 * WebGraph's BVGraph (Boldi, Vigna, "The WebGraph framework I: compression techniques", 2004).
 * X.graph is a bit stream; X.properties has its parameters. A successor list consists of parts
 * copied from one of the last `window` lists, intervals of consecutive successors, and the gaps of
 * the remaining ones. Only default codings are supported: gamma for outdegrees, blocks and
 * intervals, unary for references, zeta for residuals.
 */
#include <stdlib.h>

#include "reader.h"

/* Limit of arcs per byte, against decompression bombs: even well-compressed lists need bits. */
#define MOST_ARCS_A_BYTE 1024

struct bits {
	const uint8_t *data;
	uint64_t at, end;		/* in bits */
	bool overrun;
};

struct list {
	uint64_t *v;
	uint64_t count, capacity;
};

struct bvgraph {
	struct gtu_input *in;
	struct bits bits;
	uint64_t n, arcs, window, min_interval, zeta;
	uint64_t *row;
	struct list col;		/* all lists so far, concatenated */
	struct list shared, run, rest;	/* the three parts of the current list */
};

/* The next 64 bits; zeros after the end. */
static uint64_t peek(const struct bits *b)
{
	uint64_t byte = b->at / 8, last = (b->end + 7) / 8, word = 0, i;
	unsigned int shift = b->at % 8;

	if (byte + 9 <= last) {
		memcpy(&word, b->data + byte, 8);
		word = __builtin_bswap64(word) << shift;
		return shift ? word | b->data[byte + 8] >> (8 - shift) : word;
	}
	for (i = 0; i < 8 && byte + i < last; i++)
		word |= (uint64_t)b->data[byte + i] << (56 - 8 * i);
	word <<= shift;
	return shift && byte + 8 < last ? word | b->data[byte + 8] >> (8 - shift) : word;
}

static uint64_t take_bits(struct bits *b, unsigned int count)
{
	uint64_t word;

	if (!count)
		return 0;
	if (count > b->end - b->at) {
		b->overrun = true;
		b->at = b->end;
		return 0;
	}
	word = peek(b);
	b->at += count;
	return word >> (64 - count);
}

/* Count the zeros before the next one bit. */
static uint64_t take_unary(struct bits *b)
{
	uint64_t zeros = 0, word;
	unsigned int n;

	for (;;) {
		word = peek(b);
		n = word ? (unsigned int)__builtin_clzll(word) : 64;
		if (n >= b->end - b->at) {
			b->overrun = true;
			b->at = b->end;
			return 0;
		}
		zeros += n;
		b->at += n;
		if (word) {
			b->at++;
			return zeros;
		}
	}
}

/* Values are limited to 2^56, so that sums below cannot overflow; larger ones set overrun. */
static uint64_t take_gamma(struct bits *b)
{
	uint64_t n = take_unary(b);

	if (n > 55) {
		b->overrun = true;
		return 0;
	}
	return (1ull << n | take_bits(b, (unsigned int)n)) - 1;
}

static uint64_t take_zeta(struct bits *b, uint64_t k)
{
	uint64_t h = take_unary(b), left, m;

	if (h * k + k > 56) {
		b->overrun = true;
		return 0;
	}
	left = 1ull << (h * k);
	m = take_bits(b, (unsigned int)(h * k + k - 1));
	if (m < left)
		return m + left - 1;
	return (m << 1 | take_bits(b, 1)) - 1;
}

static int64_t zigzag(uint64_t x)
{
	return (int64_t)(x >> 1) ^ -(int64_t)(x & 1);
}

static int append(struct list *l, uint64_t v, struct gtu_error *err)
{
	if (gtu_unlikely(l->count == l->capacity)) {
		uint64_t capacity = l->capacity ? l->capacity * 2 : 256;
		uint64_t *bigger = realloc(l->v, capacity * sizeof(*bigger));

		if (!bigger)
			return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for %llu arcs",
					(unsigned long long)capacity);
		l->v = bigger;
		l->capacity = capacity;
	}
	l->v[l->count++] = v;
	return 0;
}

static int wrong(const struct bvgraph *g, uint64_t x, const char *what, struct gtu_error *err)
{
	return gtu_fail(err, GTU_ERR_INPUT, "%s: bit %llu: the list of node %llu %s", g->in->path,
			(unsigned long long)g->bits.at, (unsigned long long)x,
			g->bits.overrun ? "exceeds the end or has a number that is too large" : what);
}

/* Read the part copied from the list of @x - @back. */
static int read_shared(struct bvgraph *g, uint64_t x, uint64_t back, struct gtu_error *err)
{
	uint64_t blocks = take_gamma(&g->bits), at = g->row[x - back], end = g->row[x - back + 1], i, length;
	int rc = 0;

	for (i = 0; i <= blocks && !rc; i++) {
		if (i < blocks)
			length = take_gamma(&g->bits) + (i > 0);
		else if (blocks % 2 == 0)
			length = end - at;
		else
			break;
		if (g->bits.overrun || length > end - at)
			return wrong(g, x, "copies more than its reference has", err);
		if (i % 2) {
			at += length;
			continue;
		}
		for (; length && !rc; length--)
			rc = append(&g->shared, g->col.v[at++], err);
	}
	return rc;
}

/* Read the intervals of consecutive successors, at most @left successors in total. */
static int read_runs(struct bvgraph *g, uint64_t x, uint64_t left, struct gtu_error *err)
{
	uint64_t count = take_gamma(&g->bits), i, first, length;
	int64_t next = 0;
	int rc = 0;

	for (i = 0; i < count && !rc; i++) {
		if (i == 0)
			next = (int64_t)x + zigzag(take_gamma(&g->bits));
		else
			next += (int64_t)take_gamma(&g->bits) + 1;
		length = take_gamma(&g->bits) + g->min_interval;
		if (g->bits.overrun || length > left || next < 0 || (uint64_t)next > g->n ||
		    length > g->n - (uint64_t)next)
			return wrong(g, x, "has an interval out of bounds of the graph or its "
				     "degree", err);
		left -= length;
		for (first = (uint64_t)next; length && !rc; length--)
			rc = append(&g->run, first++, err);
		next = (int64_t)first;
	}
	return rc;
}

static int read_rest(struct bvgraph *g, uint64_t x, uint64_t count, struct gtu_error *err)
{
	int64_t v = 0;
	uint64_t i;
	int rc = 0;

	for (i = 0; i < count && !rc; i++) {
		if (i == 0)
			v = (int64_t)x + zigzag(take_zeta(&g->bits, g->zeta));
		else
			v += (int64_t)take_zeta(&g->bits, g->zeta) + 1;
		if (g->bits.overrun || v < 0 || (uint64_t)v >= g->n)
			return wrong(g, x, "has a successor outside the graph", err);
		rc = append(&g->rest, (uint64_t)v, err);
	}
	return rc;
}

/* Merge the three ascending parts. */
static int merge(struct bvgraph *g, uint64_t x, struct gtu_error *err)
{
	const struct list *part[3] = { &g->shared, &g->run, &g->rest };
	uint64_t at[3] = { 0, 0, 0 }, last = 0, least;
	bool any = false;
	int i, best, rc;

	for (;;) {
		for (i = 0, best = -1, least = 0; i < 3; i++)
			if (at[i] < part[i]->count && (best < 0 || part[i]->v[at[i]] < least)) {
				best = i;
				least = part[i]->v[at[i]];
			}
		if (best < 0)
			return 0;
		if (any && least <= last)
			return wrong(g, x, "has a successor twice", err);
		any = true;
		last = least;
		at[best]++;
		rc = append(&g->col, least, err);
		if (rc)
			return rc;
	}
}

static int read_node(struct bvgraph *g, uint64_t x, struct gtu_error *err)
{
	uint64_t degree = take_gamma(&g->bits), back = 0, left;
	int rc = 0;

	g->shared.count = g->run.count = g->rest.count = 0;
	if (g->bits.overrun || degree > g->n || degree > g->arcs - g->col.count)
		return wrong(g, x, "is longer than the graph's arcs", err);
	if (degree && g->window)
		back = take_unary(&g->bits);
	if (back > x || back > g->window)
		return wrong(g, x, "refers to a list outside the window", err);
	if (back)
		rc = read_shared(g, x, back, err);
	if (!rc && g->shared.count > degree)
		return wrong(g, x, "copies more than its degree", err);
	left = degree - g->shared.count;
	if (!rc && left && g->min_interval)
		rc = read_runs(g, x, left, err);
	if (!rc)
		rc = read_rest(g, x, left - g->run.count, err);
	if (!rc)
		rc = merge(g, x, err);
	g->row[x + 1] = g->col.count;
	return rc;
}

static bool property(const uint8_t *p, const uint8_t *end, const char *key, const uint8_t **value)
{
	size_t n = strlen(key);

	if ((size_t)(end - p) <= n || memcmp(p, key, n) || p[n] != '=')
		return false;
	*value = p + n + 1;
	return true;
}

static int read_properties(struct bvgraph *g, struct gtu_input *in, struct gtu_error *err)
{
	struct { const char *key; uint64_t *value, max; } numbers[] = {
		{ "nodes", &g->n, 1ull << 40 },	       { "arcs", &g->arcs, 1ull << 50 },
		{ "windowsize", &g->window, 1 << 20 }, { "minintervallength", &g->min_interval, 1 << 20 },
		{ "zetak", &g->zeta, 16 },
	};
	const uint8_t *p, *end, *value;
	unsigned int seen = 0;
	size_t i;
	int rc;

	while ((rc = gtu_input_line(in, &p, &end, err)) > 0) {
		while (end > p && gtu_is_blank(end[-1]))
			end--;
		if (property(p, end, "compressionflags", &value) && value < end)
			return gtu_input_fail_line(in, err, value, end, "only default codings are "
						   "supported");
		for (i = 0; i < 5; i++) {
			if (!property(p, end, numbers[i].key, &value))
				continue;
			if (!gtu_scan_u64(&value, end, numbers[i].value) || *numbers[i].value > numbers[i].max)
				return gtu_input_fail_line(in, err, value, end, "expected a number up to %llu",
							   (unsigned long long)numbers[i].max);
			seen |= 1u << i;
		}
	}
	if (rc)
		return rc;
	if (!(seen & 1) || !(seen & 2) || !g->zeta)
		return gtu_fail(err, GTU_ERR_INPUT, "%s: nodes, arcs or a zetak above 0 is "
				"missing", in->path);
	return 0;
}

static int check_size(struct bvgraph *g, struct gtu_error *err)
{
	uint64_t bytes = g->bits.end / 8;

	/* a node has at least one bit: its degree of zero */
	if (g->n > g->bits.end || g->arcs > bytes * MOST_ARCS_A_BYTE)
		return gtu_fail(err, GTU_ERR_INPUT, "%s: %llu bytes cannot hold the %llu nodes and %llu arcs declared",
				g->in->path, (unsigned long long)bytes, (unsigned long long)g->n,
				(unsigned long long)g->arcs);
	return 0;
}

/* Move the lists to a graph. */
static int make_graph(struct bvgraph *g, struct gtu_graph **out, struct gtu_error *err)
{
	struct gtu_graph *new = gtu_graph_new();
	uint64_t e;

	if (!new)
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for a graph");
	new->n = g->n;
	new->m = new->stored = g->col.count;
	new->flags = GTU_GRAPH_DIRECTED | GTU_GRAPH_SORTED | GTU_GRAPH_CHECKED;
	new->edge_bytes = g->n > 1ull << 32 ? 8 : 4;
	if (new->edge_bytes == 4)
		for (e = 0; e < g->col.count; e++)
			((uint32_t *)g->col.v)[e] = (uint32_t)g->col.v[e];
	new->col = new->backing->col = realloc(g->col.v, new->m ? new->m * new->edge_bytes : 1);
	if (!new->col)
		new->col = new->backing->col = g->col.v;
	new->row = new->backing->row = g->row;
	g->col.v = NULL;
	g->row = NULL;
	*out = new;
	return 0;
}

static int read_lists(struct bvgraph *g, struct gtu_graph **out, struct gtu_error *err)
{
	uint64_t x;
	int rc;

	rc = gtu_input_all(g->in, err);
	if (rc)
		return rc;
	g->bits.data = g->in->cur;
	g->bits.end = 8 * (uint64_t)(g->in->end - g->in->cur);
	rc = check_size(g, err);
	if (rc)
		return rc;
	g->row = calloc(g->n + 1, sizeof(*g->row));
	if (!g->row)
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for %llu nodes",
				(unsigned long long)g->n);
	for (x = 0; x < g->n && !rc; x++) {
		rc = read_node(g, x, err);
		if (!rc && x % 65536 == 0 && gtu_tick(g->in->progress, "decoding", x, g->n))
			rc = gtu_fail(err, GTU_ERR_INTERRUPTED, "reading %s was stopped", g->in->path);
	}
	if (!rc && g->col.count != g->arcs)
		rc = gtu_fail(err, GTU_ERR_INPUT, "%s: the file has %llu arcs, but %llu are "
			      "declared", g->in->path,
			      (unsigned long long)g->col.count, (unsigned long long)g->arcs);
	return rc ? rc : make_graph(g, out, err);
}

/*
 * Whether the content is not text: METIS graphs with the same suffix start with a digit, a blank or
 * a comment.
 */
static bool is_binary(const struct gtu_input *in)
{
	const uint8_t *p = in->cur, *end = in->end - in->cur > 4096 ? in->cur + 4096 : in->end;

	if (p < end && *p >= 0x80)
		return true;
	while (p < end && (*p >= ' ' || (*p >= '\t' && *p <= '\r')))
		p++;
	return p < end;
}

static bool detect(const struct gtu_input *in)
{
	struct gtu_input other;
	bool is_bvgraph = false;
	char *path;
	int rc;

	if (!gtu_path_ends(in->path, ".graph"))
		return false;
	rc = gtu_input_companion(in, ".graph", ".properties", &other, &path, NULL);
	/* claim a binary file without .properties, so that read_bvgraph() can report it */
	if (rc <= 0)
		return !rc && is_binary(in);
	if (!gtu_input_peek(&other, 65536, NULL))
		is_bvgraph = memmem(other.cur, (size_t)(other.end - other.cur), "BVGraph", 7) != NULL;
	gtu_input_close(&other);
	free(path);
	return is_bvgraph;
}

static int read_bvgraph(struct gtu_input *in, const struct gtu_read_options *opt, struct gtu_graph **out,
			struct gtu_error *err)
{
	struct bvgraph g = { .in = in, .window = 7, .min_interval = 4, .zeta = 3 };
	struct gtu_input other;
	char *path;
	int rc;

	*out = NULL;
	rc = gtu_input_companion(in, ".graph", ".properties", &other, &path, err);
	if (!rc)
		return gtu_fail(err, GTU_ERR_INPUT, "%s: a binary .graph file is a BVGraph and "
				"needs its .properties file, which is missing",
				in->path);
	if (rc < 0)
		return rc;
	rc = read_properties(&g, &other, err);
	gtu_input_close(&other);
	free(path);
	if (!rc)
		rc = read_lists(&g, out, err);
	free(g.row);
	free(g.col.v);
	free(g.shared.v);
	free(g.run.v);
	free(g.rest.v);
	return rc ? rc : gtu_graph_reshape(out, opt, in->progress, err);
}

const struct gtu_reader gtu_reader_bvgraph = { "BVGraph", detect, read_bvgraph, true };
