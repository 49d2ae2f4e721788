// SPDX-License-Identifier: MIT
/*
 * Reader of DIMACS shortest path graphs (9th implementation challenge): "p sp n m", then m arcs "a
 * u v weight", 1-based.
 */
#include "reader.h"

struct dimacs {
	struct gtu_raw_graph raw;
	uint64_t arcs;
	bool have_size;
};

static bool detect(const struct gtu_input *in)
{
	const uint8_t *at = in->cur, *p, *end;

	if (gtu_path_ends(in->path, ".gr"))
		return true;
	while (gtu_window_line(in, &at, &p, &end)) {
		if (p == end || (*p == 'c' && (p + 1 == end || gtu_is_blank(p[1]))))
			continue;
		return end - p > 5 && !memcmp(p, "p sp ", 5);
	}
	return false;
}

static int read_size(struct gtu_input *in, struct dimacs *d, const uint8_t *p, const uint8_t *end,
		     struct gtu_error *err)
{
	uint64_t size[2];
	int i;

	if (d->have_size)
		return gtu_input_fail_line(in, err, NULL, NULL, "there is a second 'p' line");
	p = gtu_skip_blanks(p + 1, end);
	if (end - p < 3 || memcmp(p, "sp ", 3))
		return gtu_input_fail_line(in, err, p, end, "expected 'p sp vertices arcs'");
	p += 2;
	for (i = 0; i < 2; i++) {
		p = gtu_skip_blanks(p, end);
		if (!gtu_scan_u64(&p, end, &size[i]))
			return gtu_input_fail_line(in, err, p, end, "expected 'p sp vertices arcs'");
	}
	d->raw.n = size[0];
	d->arcs = size[1];
	d->have_size = true;
	return 0;
}

static int read_arc(struct gtu_input *in, struct dimacs *d, int32_t weight_column, const uint8_t *p,
		    const uint8_t *end, struct gtu_error *err)
{
	uint64_t u, v;
	bool number;
	int rc;

	if (!d->have_size)
		return gtu_input_fail_line(in, err, NULL, NULL, "an arc precedes the 'p' line");
	p = gtu_skip_blanks(p + 1, end);
	if (!gtu_scan_u64(&p, end, &u))
		return gtu_input_fail_line(in, err, p, end, "expected a vertex id");
	p = gtu_skip_blanks(p, end);
	if (!gtu_scan_u64(&p, end, &v))
		return gtu_input_fail_line(in, err, p, end, "expected a vertex id");
	if (gtu_unlikely(u - 1 >= d->raw.n || v - 1 >= d->raw.n))
		return gtu_input_fail_line(in, err, NULL, NULL, "arc %llu %llu is out of bounds: "
					   "vertices are 1 to %llu",
					   (unsigned long long)u, (unsigned long long)v,
					   (unsigned long long)d->raw.n);
	if (gtu_unlikely(d->raw.edges.m == d->arcs))
		return gtu_input_fail_line(in, err, NULL, NULL, "there are more arcs than the %llu "
					   "of the 'p' line",
					   (unsigned long long)d->arcs);
	rc = gtu_edges_push(&d->raw.edges, u, v, err);
	if (rc || !d->raw.edges.weight_type)
		return rc;
	for (p = gtu_skip_blanks(p, end); weight_column > 1; weight_column--)
		p = gtu_skip_blanks(gtu_skip_column(p, end), end);
	rc = gtu_scan_weight(&d->raw.edges, &p, end, &number, err);
	if (!rc && !number)
		return gtu_input_fail_line(in, err, p, end, "expected a weight");
	return rc;
}

static int read_dimacs(struct gtu_input *in, const struct gtu_read_options *opt, struct gtu_graph **out,
		       struct gtu_error *err)
{
	struct dimacs d = { .raw = { .declared = true, .id_base = 1 } };
	const uint8_t *p, *end;
	int rc;

	*out = NULL;
	gtu_edges_init(&d.raw.edges, opt->weight_column >= 0);
	while ((rc = gtu_input_line(in, &p, &end, err)) > 0) {
		p = gtu_skip_blanks(p, end);
		if (p == end || *p == 'c')
			continue;
		if (gtu_likely(*p == 'a'))
			rc = read_arc(in, &d, opt->weight_column, p, end, err);
		else if (*p == 'p')
			rc = read_size(in, &d, p, end, err);
		else
			rc = gtu_input_fail_line(in, err, p, end, "expected a line 'c', 'p' or 'a'");
		if (rc)
			break;
	}
	if (!rc && !d.have_size)
		rc = gtu_fail(err, GTU_ERR_INPUT, "%s: no 'p sp' line in %llu lines", in->path,
			      (unsigned long long)in->line);
	if (!rc && d.raw.edges.m < d.arcs)
		rc = gtu_fail(err, GTU_ERR_INPUT, "%s: cut short: ends in line %llu after %llu of %llu arcs",
			      in->path, (unsigned long long)in->line, (unsigned long long)d.raw.edges.m,
			      (unsigned long long)d.arcs);
	if (!rc)
		rc = gtu_input_check_declared(in, d.raw.n, err);
	if (rc) {
		gtu_edges_free(&d.raw.edges);
		return rc;
	}
	return gtu_raw_finish(&d.raw, opt, in->progress, out, err);
}

const struct gtu_reader gtu_reader_dimacs = { "DIMACS .gr", detect, read_dimacs, false };
