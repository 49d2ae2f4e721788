// SPDX-License-Identifier: MIT
/*
 * Reader of Matrix Market coordinate files (Boisvert, Pozo, Remington, NISTIR 5935): a square
 * sparse matrix is the graph with an edge for each entry. Files without banner and size line are
 * read as 1-based edge lists.
 */
#include <ctype.h>
#include <stdlib.h>
#include <strings.h>

#include "reader.h"

static const char banner[] = "%%MatrixMarket";

struct matrix {
	struct gtu_raw_graph raw;
	uint64_t entries;		/* declared by the size line */
	bool pattern, complex_values;
};

static bool has_banner(const struct gtu_input *in)
{
	size_t n = sizeof(banner) - 1;

	return (size_t)(in->end - in->cur) >= n && !strncasecmp((const char *)in->cur, banner, n);
}

static bool detect(const struct gtu_input *in)
{
	return has_banner(in) || gtu_path_ends(in->path, ".mtx");
}

/* Whether the next word of the banner is @word; advances *p only if so. */
static bool word_is(const uint8_t **p, const uint8_t *end, const char *word)
{
	const uint8_t *q = gtu_skip_blanks(*p, end);
	size_t n = strlen(word);

	if ((size_t)(end - q) < n || strncasecmp((const char *)q, word, n) ||
	    ((size_t)(end - q) > n && !gtu_is_blank(q[n])))
		return false;
	*p = q + n;
	return true;
}

static int read_banner(struct gtu_input *in, struct matrix *m, const uint8_t *p, const uint8_t *end,
		       struct gtu_error *err)
{
	p += sizeof(banner) - 1;
	if (!word_is(&p, end, "matrix"))
		return gtu_input_fail_line(in, err, gtu_skip_blanks(p, end), end, "expected the "
					   "object 'matrix'");
	if (word_is(&p, end, "array"))
		return gtu_input_fail_line(in, err, NULL, NULL,
					   "'array' is a dense matrix: a graph needs the "
					   "'coordinate' format");
	if (!word_is(&p, end, "coordinate"))
		return gtu_input_fail_line(in, err, gtu_skip_blanks(p, end), end, "expected 'coordinate'");
	m->pattern = word_is(&p, end, "pattern");
	m->complex_values = !m->pattern && word_is(&p, end, "complex");
	if (!m->pattern && !m->complex_values && !word_is(&p, end, "integer") &&
	    !word_is(&p, end, "unsigned-integer") && !word_is(&p, end, "real") && !word_is(&p, end, "double"))
		return gtu_input_fail_line(in, err, gtu_skip_blanks(p, end), end,
					   "expected 'pattern', 'integer', 'real' or 'complex'");
	if (word_is(&p, end, "general"))
		return 0;
	m->raw.undirected = true;
	m->raw.skew = word_is(&p, end, "skew-symmetric");
	if (m->raw.skew || word_is(&p, end, "symmetric") || word_is(&p, end, "hermitian"))
		return 0;
	return gtu_input_fail_line(in, err, gtu_skip_blanks(p, end), end,
				   "expected 'general', 'symmetric' or 'skew-symmetric'");
}

static int read_size(struct gtu_input *in, struct matrix *m, const uint8_t *p, const uint8_t *end,
		     struct gtu_error *err)
{
	uint64_t size[3];
	int i;

	for (i = 0; i < 3; i++) {
		if (!gtu_scan_u64(&p, end, &size[i]))
			return gtu_input_fail_line(in, err, p, end, "expected rows, columns and entries");
		p = gtu_skip_blanks(p, end);
	}
	if (size[0] != size[1])
		return gtu_input_fail_line(in, err, NULL, NULL, "a matrix of %llu x %llu is not "
					   "square",
					   (unsigned long long)size[0], (unsigned long long)size[1]);
	m->raw.n = size[0];
	m->entries = size[2];
	return 0;
}

static int read_entry(struct gtu_input *in, struct matrix *m, int32_t weight_column, const uint8_t *p,
		      const uint8_t *end, struct gtu_error *err)
{
	const uint8_t *first = p;
	uint64_t u, v;
	bool number;
	int rc;

	if (!gtu_scan_u64(&p, end, &u))
		return gtu_input_fail_line(in, err, p, end, "expected a row");
	p = gtu_skip_blanks(p, end);
	if (!gtu_scan_u64(&p, end, &v))
		return gtu_input_fail_line(in, err, p, end, "expected a column");
	if (gtu_unlikely(u - 1 >= m->raw.n || v - 1 >= m->raw.n))
		return gtu_input_fail_line(in, err, NULL, NULL, "entry %llu %llu is out of bounds: "
					   "rows and columns are 1 to %llu",
					   (unsigned long long)u, (unsigned long long)v,
					   (unsigned long long)m->raw.n);
	if (gtu_unlikely(m->raw.edges.m == m->entries))
		return gtu_input_fail_line(in, err, first, end, "there are more entries than the "
					   "%llu of the size line",
					   (unsigned long long)m->entries);
	rc = gtu_edges_push(&m->raw.edges, u, v, err);
	if (rc || !m->raw.edges.weight_type)
		return rc;
	for (p = gtu_skip_blanks(p, end); weight_column > 1; weight_column--)
		p = gtu_skip_blanks(gtu_skip_column(p, end), end);
	rc = gtu_scan_weight(&m->raw.edges, &p, end, &number, err);
	if (!rc && !number)
		return gtu_input_fail_line(in, err, p, end, "expected a value");
	return rc;
}

static int read_body(struct gtu_input *in, struct matrix *m, const struct gtu_read_options *opt,
		     struct gtu_error *err)
{
	const uint8_t *p, *end;
	bool have_size = false;
	int rc;

	while ((rc = gtu_input_line(in, &p, &end, err)) > 0) {
		if (in->line == 1) {
			rc = read_banner(in, m, p, end, err);
			if (rc)
				return rc;
			if (m->complex_values && opt->weight_column == 0)
				return gtu_input_fail_line(in, err, NULL, NULL,
							   "complex values cannot be weights; "
							   "choose a column or none");
			gtu_edges_init(&m->raw.edges, m->pattern ? opt->weight_column > 0 :
								   opt->weight_column >= 0);
			continue;
		}
		p = gtu_skip_blanks(p, end);
		if (p == end || *p == '%')
			continue;
		rc = have_size ? read_entry(in, m, opt->weight_column, p, end, err) :
				 read_size(in, m, p, end, err);
		if (rc)
			return rc;
		have_size = true;
	}
	if (rc)
		return rc;
	if (!have_size)
		return gtu_fail(err, GTU_ERR_INPUT, "%s: no size line in %llu lines", in->path,
				(unsigned long long)in->line);
	if (m->raw.edges.m < m->entries)
		return gtu_fail(err, GTU_ERR_INPUT, "%s: cut short: ends in line %llu after %llu of %llu entries",
				in->path, (unsigned long long)in->line, (unsigned long long)m->raw.edges.m,
				(unsigned long long)m->entries);
	return gtu_input_check_declared(in, m->raw.n, err);
}

static int read_matrix(struct gtu_input *in, const struct gtu_read_options *opt, struct gtu_graph **out,
		       struct gtu_error *err)
{
	static const struct gtu_pairs bare = { .matrix = true };
	struct matrix m = { .raw = { .declared = true, .id_base = 1 } };
	int rc;

	*out = NULL;
	if (!has_banner(in))
		return gtu_read_pairs(in, &bare, opt, out, err);
	gtu_edges_init(&m.raw.edges, false);
	rc = read_body(in, &m, opt, err);
	if (rc) {
		gtu_edges_free(&m.raw.edges);
		return rc;
	}
	return gtu_raw_finish(&m.raw, opt, in->progress, out, err);
}

const struct gtu_reader gtu_reader_matrix_market = { "Matrix Market", detect, read_matrix, false };
