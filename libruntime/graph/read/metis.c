// SPDX-License-Identifier: MIT
/*
 * Reader of METIS and Chaco graphs (METIS manual, section 4.1.1): "n m [fmt [ncon]]", then line i
 * lists the 1-based neighbours of vertex i, each with its weight if the last digit of fmt is 1. m
 * counts an undirected edge once; a list entry is one direction. Two deviations found in practice
 * are accepted: m may be the number of entries, which makes the graph directed, and fmt 100 may
 * have the DIMACS10 meaning ("loops and duplicates possible" instead of "vertex sizes").
 */
#include "reader.h"

struct metis {
	struct gtu_raw_graph raw;
	uint64_t n, m, row;		/* declared counts; vertex of the next line */
	uint64_t loops;
	uint64_t vertex_columns;	/* columns before the neighbours */
	bool weighted;
};

static bool detect(const struct gtu_input *in)
{
	return gtu_path_ends(in->path, ".graph") || gtu_path_ends(in->path, ".metis") ||
	       gtu_path_ends(in->path, ".chaco");
}

/*
 * Whether lines start with a vertex size: with fmt 1xx they do in METIS 5 files, but not in
 * DIMACS10 files. Only the former have no empty lines.
 */
static bool has_sizes(const struct gtu_input *in)
{
	const uint8_t *at = in->cur, *p, *end;
	uint64_t lines = 0;

	while (gtu_window_line(in, &at, &p, &end)) {
		if (p < end && *p == '%')
			continue;
		if (p == end && !(at == in->end && in->ended))
			return false;
		lines++;
	}
	return lines > 0;
}

static int read_header(struct gtu_input *in, struct metis *g, const uint8_t *p, const uint8_t *end,
		       struct gtu_error *err)
{
	uint64_t value[4] = { 0, 0, 0, 0 };
	int i;

	for (i = 0; i < 4 && p < end; i++) {
		if (!gtu_scan_u64(&p, end, &value[i]))
			return gtu_input_fail_line(in, err, p, end, "expected 'vertices edges [fmt [ncon]]'");
		p = gtu_skip_blanks(p, end);
	}
	if (i < 2 || p < end)
		return gtu_input_fail_line(in, err, p, end, "expected 'vertices edges [fmt [ncon]]'");
	if (value[2] > 111 || value[2] / 10 % 10 > 1 || value[2] % 10 > 1)
		return gtu_input_fail_line(in, err, NULL, NULL, "fmt %llu is invalid: it must be 3 "
					   "digits of 0 and 1",
					   (unsigned long long)value[2]);
	if (value[3] > 1000)
		return gtu_input_fail_line(in, err, NULL, NULL, "%llu weights per vertex are too "
					   "many: the limit is 1000",
					   (unsigned long long)value[3]);
	g->n = value[0];
	g->m = value[1];
	g->weighted = value[2] % 10;
	if (value[2] / 10 % 10)
		g->vertex_columns = i == 4 ? value[3] : 1;
	if (value[2] / 100 && has_sizes(in))
		g->vertex_columns++;
	return 0;
}

static int read_row(struct gtu_input *in, struct metis *g, const uint8_t *p, const uint8_t *end,
		    struct gtu_error *err)
{
	uint64_t i, v;
	bool number;
	int rc;

	for (i = 0; i < g->vertex_columns; i++) {
		if (!gtu_scan_u64(&p, end, &v))
			return gtu_input_fail_line(in, err, p, end, "expected the weights of vertex %llu",
						   (unsigned long long)g->row + 1);
		p = gtu_skip_blanks(p, end);
	}
	while (p < end) {
		if (!gtu_scan_u64(&p, end, &v))
			return gtu_input_fail_line(in, err, p, end, "expected a neighbour of vertex %llu",
						   (unsigned long long)g->row + 1);
		if (v - 1 >= g->n)
			return gtu_input_fail_line(in, err, NULL, NULL,
						   "vertex %llu has neighbour %llu: vertices are 1 "
						   "to %llu",
						   (unsigned long long)g->row + 1, (unsigned long long)v,
						   (unsigned long long)g->n);
		g->loops += v == g->row + 1;
		rc = gtu_edges_push(&g->raw.edges, g->row + 1, v, err);
		if (rc)
			return rc;
		p = gtu_skip_blanks(p, end);
		if (!g->weighted)
			continue;
		number = true;
		if (g->raw.edges.weight_type)
			rc = gtu_scan_weight(&g->raw.edges, &p, end, &number, err);
		else if (p == end)
			number = false;
		else
			p = gtu_skip_column(p, end);
		if (rc)
			return rc;
		if (!number)
			return gtu_input_fail_line(in, err, p, end, "expected the weight of edge %llu %llu",
						   (unsigned long long)g->row + 1, (unsigned long long)v);
		p = gtu_skip_blanks(p, end);
	}
	g->row++;
	return 0;
}

/* Derive the direction from the counts. */
static int set_direction(struct gtu_input *in, struct metis *g, struct gtu_error *err)
{
	uint64_t entries = g->raw.edges.m;

	/*
	 * rows missing at the end are vertices without neighbours, if the number of entries is
	 * right
	 */
	if (entries == 2 * g->m || entries + g->loops == 2 * g->m)
		g->raw.symmetric = true;
	else if (entries != g->m || g->row < g->n)
		return gtu_fail(err, GTU_ERR_INPUT,
				"%s: line %llu is the last, with %llu of %llu vertices and %llu "
				"entries, but %llu edges have %llu",
				in->path, (unsigned long long)in->line, (unsigned long long)g->row,
				(unsigned long long)g->n, (unsigned long long)entries,
				(unsigned long long)g->m, (unsigned long long)g->m * 2);
	return gtu_input_check_declared(in, g->n, err);
}

/* Verify symmetry, on which algorithms rely. Both graphs are sorted. */
static int check_symmetry(struct gtu_input *in, const struct gtu_graph *g, struct gtu_error *err)
{
	struct gtu_graph *transposed;
	uint64_t v, e, listed, lists;
	int rc;

	rc = gtu_graph_transpose(g, in->progress, &transposed, err);
	if (rc)
		return rc;
	for (v = 0; v < g->n && !rc; v++) {
		for (e = g->row[v]; e < g->row[v + 1] && e < transposed->row[v + 1]; e++)
			if (gtu_graph_target(g, e) != gtu_graph_target(transposed, e))
				break;
		listed = e < g->row[v + 1] ? gtu_graph_target(g, e) : UINT64_MAX;
		lists = e < transposed->row[v + 1] ? gtu_graph_target(transposed, e) : UINT64_MAX;
		if (listed != lists)
			rc = gtu_fail(err, GTU_ERR_INPUT,
				      "%s: edges are declared undirected, but vertex %llu lists vertex "
				      "%llu as its neighbour, and not the reverse", in->path,
				      (unsigned long long)(listed < lists ? v : lists) + 1,
				      (unsigned long long)(listed < lists ? listed : v) + 1);
	}
	gtu_graph_close(transposed);
	return rc;
}

static int read_metis(struct gtu_input *in, const struct gtu_read_options *opt, struct gtu_graph **out,
		      struct gtu_error *err)
{
	struct metis g = { .raw = { .declared = true, .id_base = 1 } };
	bool have_header = false, symmetric;
	const uint8_t *p, *end;
	int rc;

	*out = NULL;
	gtu_edges_init(&g.raw.edges, false);
	while ((rc = gtu_input_line(in, &p, &end, err)) > 0) {
		p = gtu_skip_blanks(p, end);
		if (p < end && *p == '%')
			continue;
		if (have_header && (g.row < g.n || p < end)) {
			if (g.row == g.n)
				rc = gtu_input_fail_line(in, err, p, end, "there is a line after "
							 "vertex %llu, the last",
							 (unsigned long long)g.n);
			else
				rc = read_row(in, &g, p, end, err);
		} else if (!have_header && p < end) {
			rc = read_header(in, &g, p, end, err);
			have_header = true;
			gtu_edges_init(&g.raw.edges, g.weighted && opt->weight_column >= 0);
		} else {
			rc = 0;
		}
		if (rc)
			break;
	}
	if (!rc && !have_header)
		rc = gtu_fail(err, GTU_ERR_INPUT, "%s: there is no header in %llu lines", in->path,
			      (unsigned long long)in->line);
	if (!rc)
		rc = set_direction(in, &g, err);
	if (rc) {
		gtu_edges_free(&g.raw.edges);
		return rc;
	}
	g.raw.n = g.n;
	symmetric = g.raw.symmetric;
	rc = gtu_raw_finish(&g.raw, opt, in->progress, out, err);
	if (!rc && symmetric) {
		rc = check_symmetry(in, *out, err);
		if (rc) {
			gtu_graph_close(*out);
			*out = NULL;
		}
	}
	return rc;
}

const struct gtu_reader gtu_reader_metis = { "METIS", detect, read_metis, false };
