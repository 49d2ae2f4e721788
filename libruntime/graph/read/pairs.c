// SPDX-License-Identifier: MIT
/*
 * Reader of lines "u v [weight or anything]". Properties that the file does not declare are derived
 * from its lines. The third column of the first line with three determines whether there are
 * weights. A first line of two numbers "n m" is a header if exactly m lines follow and n matches
 * their ids.
 */
#include <ctype.h>
#include <strings.h>

#include "libruntime/graph/graph_names.h"
#include "reader.h"

/* A first line that matches this many edges is not a coincidence. */
#define HEADER_SURE 16

struct pairs_reader {
	struct gtu_input *in;
	const struct gtu_pairs *how;
	struct gtu_raw_graph raw;
	int32_t weight_column;		/* 1: first after the ids; 0: none */
	bool weight_known;		/* weight_column has been determined */
	bool first_short;		/* the first line had two columns, a later line had a weight */
	uint64_t first_line;		/* its line number */
	bool comment_undirected;
	bool named;			/* ids are words */
	struct gtu_name_table names;
};

static bool is_comment(uint8_t c)
{
	return c == '#' || c == '%';
}

/* Comments that mark edges as stored once: SNAP has "# Undirected graph", KONECT "% sym". */
static void read_comment(struct pairs_reader *r, const uint8_t *p, const uint8_t *end)
{
	static const char *const words[] = { "undirected", "sym " };
	size_t i, n;

	if (r->raw.edges.m)
		return;
	while (p < end && (is_comment(*p) || gtu_is_blank(*p)))
		p++;
	for (i = 0; i < 2; i++) {
		n = strlen(words[i]);
		if ((size_t)(end - p) >= n && !strncasecmp((const char *)p, words[i], n))
			r->comment_undirected = true;
	}
}

/* Whether the line has column names, as written by spreadsheets: "source,target". */
static bool is_heading(const uint8_t *p, const uint8_t *end)
{
	const uint8_t *q = gtu_skip_separator(gtu_skip_column(p, end), end);

	return p < end && (isalpha(*p) || *p == '"') && q < end && (isalpha(*q) || *q == '"');
}

/* Determine, if still unknown, whether there are weights. @p is after the ids. */
static int decide_weights(struct pairs_reader *r, const struct gtu_read_options *opt, const uint8_t *p,
			  const uint8_t *end, struct gtu_error *err)
{
	double value;

	if (opt->weight_column) {
		r->weight_column = opt->weight_column > 0 ? opt->weight_column : 0;
	} else if (p == end) {
		/* two columns: possibly a header; the next line decides */
		if (!r->raw.edges.m)
			return 0;
	} else if (gtu_scan_real(&p, end, &value)) {
		r->weight_column = 1;
	} else if (gtu_looks_real(p, end)) {
		/* words are other columns; a malformed number would silently drop all weights */
		return gtu_input_fail_line(r->in, err, p, end,
					   "expected a weight or a word in column %u", r->how->skip + 3);
	}
	r->weight_known = true;
	r->first_short = r->weight_column && r->raw.edges.m;
	return 0;
}

static int read_weight(struct pairs_reader *r, const uint8_t *p, const uint8_t *end,
		       struct gtu_error *err)
{
	bool number, only_ids = p == end;
	int32_t i;
	int rc;

	for (i = 1; i < r->weight_column; i++)
		p = gtu_skip_separator(gtu_skip_column(p, end), end);
	rc = gtu_scan_weight(&r->raw.edges, &p, end, &number, err);
	if (rc || number)
		return rc;
	/* the first line may be a header without a weight: store 0 */
	if (r->raw.edges.m == 1 && only_ids) {
		r->first_short = true;
		return gtu_edges_weight_u64(&r->raw.edges, 0, err);
	}
	return gtu_input_fail_line(r->in, err, p, end, "expected a weight in column %u",
				   r->how->skip + 2 + (uint32_t)r->weight_column);
}

/* Read the id in @column, and skip the separator behind it. */
static int read_id(struct pairs_reader *r, const uint8_t **p, const uint8_t *end, uint32_t column, uint64_t *id,
		   struct gtu_error *err)
{
	const uint8_t *word = *p;

	if (r->named) {
		*p = gtu_skip_column(word, end);
		if (gtu_name_valid((const char *)word, (uint64_t)(*p - word))) {
			int rc = gtu_names_id(&r->names, word, (size_t)(*p - word), id, err);

			*p = gtu_skip_separator(*p, end);
			return rc;
		}
		return gtu_input_fail_line(r->in, err, word, end, "expected a name of 1 to %u bytes in column %u",
					   GTU_NAME_MAX, column);
	}
	if (gtu_unlikely(!gtu_scan_u64(p, end, id)))
		return gtu_input_fail_line(r->in, err, *p, end, "expected a vertex id in column %u (0 to 2^63 - 1%s)", column,
					   r->raw.edges.m || r->how->matrix || r->how->skip ? "" : "; --names reads words");
	*p = gtu_skip_separator(*p, end);
	return 0;
}

static int read_line(struct pairs_reader *r, const struct gtu_read_options *opt, const uint8_t *p,
		     const uint8_t *end, struct gtu_error *err)
{
	struct gtu_edge_list *l = &r->raw.edges;
	uint64_t u, v;
	uint32_t i;
	int rc;

	for (i = 0; i < r->how->skip; i++)
		p = gtu_skip_separator(gtu_skip_column(p, end), end);
	if (gtu_unlikely(!l->m && !r->named && !r->first_line && is_heading(p, end))) {
		r->first_line = r->in->line;
		return 0;
	}
	rc = read_id(r, &p, end, r->how->skip + 1, &u, err);
	if (!rc)
		rc = read_id(r, &p, end, r->how->skip + 2, &v, err);
	if (gtu_unlikely(rc))
		return rc;
	if (gtu_unlikely(r->how->matrix && (!u || !v)))
		return gtu_input_fail_line(r->in, err, NULL, NULL,
					   "entry %llu %llu is out of bounds: rows and columns of "
					   "a matrix start at 1",
					   (unsigned long long)u, (unsigned long long)v);
	if (gtu_unlikely(!r->weight_known)) {
		rc = decide_weights(r, opt, p, end, err);
		if (rc)
			return rc;
		if (!l->m)
			r->first_line = r->in->line;
		if (r->weight_column) {
			/* the list has at most one line, which may be a header */
			uint64_t first[2] = { 0 };
			bool had_first = l->m;

			if (had_first) {
				first[0] = gtu_get(l->src, l->id_bytes, 0);
				first[1] = gtu_get(l->dst, l->id_bytes, 0);
			}
			gtu_edges_free(l);
			gtu_edges_init(l, true);
			rc = had_first ? gtu_edges_push(l, first[0], first[1], err) : 0;
			if (!rc && had_first)
				rc = gtu_edges_weight_u64(l, 0, err);
			if (rc)
				return rc;
		}
	}
	rc = gtu_edges_push(l, u, v, err);
	if (!rc && l->weight_type)
		rc = read_weight(r, p, end, err);
	return rc;
}

/* Facts about the ids of edges from @first on. */
struct id_facts {
	uint64_t low, high;
	bool lower, upper;		/* all entries in that triangle */
};

static struct id_facts scan_ids(const struct gtu_edge_list *l, uint64_t first)
{
	struct id_facts f = { .low = UINT64_MAX, .lower = true, .upper = true };
	uint64_t e, u, v;

	for (e = first; e < l->m; e++) {
		u = gtu_get(l->src, l->id_bytes, e);
		v = gtu_get(l->dst, l->id_bytes, e);
		f.lower &= u >= v;
		f.upper &= u <= v;
		f.low = u < f.low ? u : f.low;
		f.low = v < f.low ? v : f.low;
		f.high = u > f.high ? u : f.high;
		f.high = v > f.high ? v : f.high;
	}
	return f;
}

static void drop_first(struct gtu_edge_list *l)
{
	size_t wb = gtu_weight_bytes(l->weight_type);

	l->m--;
	memmove(l->src, (char *)l->src + l->id_bytes, l->m * l->id_bytes);
	memmove(l->dst, (char *)l->dst + l->id_bytes, l->m * l->id_bytes);
	if (wb)
		memmove(l->weight, (char *)l->weight + wb, l->m * wb);
}

/* Remove the first entry if it is a header "n m". */
static int settle_header(struct pairs_reader *r, struct gtu_error *err)
{
	struct gtu_edge_list *l = &r->raw.edges;
	struct id_facts f;
	uint64_t n, m;
	bool fits;

	if (l->m < 2)
		return 0;
	n = gtu_get(l->src, l->id_bytes, 0);
	m = gtu_get(l->dst, l->id_bytes, 0);
	if (m != l->m - 1 || !n)
		return 0;
	f = scan_ids(l, 1);
	fits = f.high < n || (f.high == n && f.low);
	if (fits && (f.high + 1 >= n || m >= HEADER_SURE)) {
		r->raw.declared = true;
		r->raw.n = n;
		r->raw.id_base = f.high == n;
	} else if (fits || m < HEADER_SURE) {
		return 0;
	} else {
		/* ids with gaps: a header if n distinct ids follow */
		const void *arrays[2] = { (char *)l->src + l->id_bytes, (char *)l->dst + l->id_bytes };
		struct gtu_id_map map;
		uint64_t distinct;
		int rc = gtu_id_map_build(&map, arrays, 2, m, l->id_bytes, err);

		if (rc)
			return rc;
		distinct = map.n;
		gtu_id_map_free(&map);
		if (distinct != n)
			return 0;
	}
	drop_first(l);
	r->first_short = false;
	return r->raw.declared ? gtu_input_check_declared(r->in, n, err) : 0;
}

int gtu_read_pairs(struct gtu_input *in, const struct gtu_pairs *how,
		   const struct gtu_read_options *opt, struct gtu_graph **out, struct gtu_error *err)
{
	struct pairs_reader r = { .in = in, .how = how, .named = opt && opt->names };
	const uint8_t *p, *end;
	int rc;

	*out = NULL;
	gtu_edges_init(&r.raw.edges, false);
	while ((rc = gtu_input_line(in, &p, &end, err)) > 0) {
		p = gtu_skip_blanks(p, end);
		if (p == end)
			continue;
		if (is_comment(*p)) {
			read_comment(&r, p, end);
			continue;
		}
		rc = read_line(&r, opt, p, end, err);
		if (rc)
			goto fail;
	}
	if (!rc && !r.raw.edges.m)
		rc = gtu_fail(err, GTU_ERR_INPUT, "%s: there are no edges in %llu line%s; an edge is a line of two ids, such as '1 2'",
			      in->path, (unsigned long long)in->line, in->line == 1 ? "" : "s");
	if (!rc && !r.named)
		rc = settle_header(&r, err);
	if (!rc && r.first_short) {
		in->line = r.first_line;
		rc = gtu_input_fail_line(in, err, NULL, NULL,
					 "two columns where later lines have a weight, and no header 'n m': %llu edges follow",
					 (unsigned long long)r.raw.edges.m - 1);
	}
	if (rc)
		goto fail;
	r.raw.undirected = how->undirected || r.comment_undirected;
	if (r.named) {
		r.raw.names = gtu_names_block(&r.names, &r.raw.names_bytes, err);
		if (!r.raw.names) {
			rc = GTU_ERR_NOMEM;
			goto fail;
		}
		r.raw.declared = true;
		r.raw.n = r.names.n;
		gtu_names_free(&r.names);
	} else if (how->matrix || (how->counted && !r.raw.declared)) {
		struct id_facts f = scan_ids(&r.raw.edges, 0);

		if (how->matrix) {
			r.raw.undirected = f.lower || f.upper;
		} else if (!f.low) {
			r.raw.declared = true;
			r.raw.n = f.high + 1;
			rc = gtu_input_check_declared(in, r.raw.n, err);
			if (rc)
				goto fail;
		}
	}
	return gtu_raw_finish(&r.raw, opt, in->progress, out, err);
fail:
	gtu_names_free(&r.names);
	gtu_edges_free(&r.raw.edges);
	return rc;
}
