// SPDX-License-Identifier: MIT
/*
 * Reader of road maps: "V E", V lines "id x y", E lines "u v". Each edge is listed once, is
 * undirected, and has the distance of its ends as weight. Blank lines are ignored.
 */
#include <math.h>
#include <stdlib.h>

#include "reader.h"

struct points {
	uint64_t count, capacity;
	double *xy;
};

/* Whether the line has three numbers, the first being @id. */
static bool is_point(const uint8_t *p, const uint8_t *end, uint64_t id, double xy[2])
{
	uint64_t found;
	int i;

	if (!gtu_scan_u64(&p, end, &found) || found != id)
		return false;
	for (i = 0; i < 2; i++) {
		p = gtu_skip_separator(p, end);
		if (!gtu_scan_real(&p, end, &xy[i]))
			return false;
	}
	return gtu_skip_separator(p, end) == end;
}

static bool is_pair(const uint8_t *p, const uint8_t *end, uint64_t pair[2])
{
	int i;

	for (i = 0; i < 2; i++) {
		if (!gtu_scan_u64(&p, end, &pair[i]))
			return false;
		p = gtu_skip_separator(p, end);
	}
	return p == end;
}

/*
 * Detect a header, then points numbered 0, 1, ... in all lines of the window (except a truncated
 * last one), and an edge after the last point if it is in the window. A weighted path after a
 * header would have to exceed the window to be mistaken for this.
 */
static bool detect(const struct gtu_input *in)
{
	const uint8_t *at = in->cur, *p, *end;
	uint64_t header[2], pair[2], v;
	double xy[2];

	if (!gtu_window_data_line(in, &at, &p, &end) || !is_pair(p, end, header) || !header[0])
		return false;
	for (v = 0; v < header[0]; v++) {
		if (!gtu_window_data_line(in, &at, &p, &end) || (end == in->end && !in->ended))
			return v > 0 && !in->ended;
		if (!is_point(p, end, v, xy))
			return false;
	}
	if (!gtu_window_data_line(in, &at, &p, &end))
		return !header[1] || !in->ended;
	return is_pair(p, end, pair) || (end == in->end && !in->ended);
}

static int add_point(struct points *points, const double xy[2], struct gtu_error *err)
{
	if (points->count == points->capacity) {
		uint64_t capacity = points->capacity ? points->capacity * 2 : 1024;
		double *bigger = realloc(points->xy, capacity * 2 * sizeof(*bigger));

		if (!bigger)
			return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for %llu points",
					(unsigned long long)capacity);
		points->xy = bigger;
		points->capacity = capacity;
	}
	points->xy[2 * points->count] = xy[0];
	points->xy[2 * points->count + 1] = xy[1];
	points->count++;
	return 0;
}

static int read_line(struct gtu_input *in, const uint64_t header[2], struct points *points,
		     struct gtu_raw_graph *raw, const uint8_t *p, const uint8_t *end,
		     struct gtu_error *err)
{
	uint64_t pair[2];
	double xy[2];
	int rc;

	if (points->count < header[0]) {
		if (!is_point(p, end, points->count, xy))
			return gtu_input_fail_line(in, err, p, end, "expected 'id x y' of vertex %llu",
						   (unsigned long long)points->count);
		return add_point(points, xy, err);
	}
	if (!is_pair(p, end, pair))
		return gtu_input_fail_line(in, err, p, end, "expected two vertex ids");
	if (pair[0] >= header[0] || pair[1] >= header[0])
		return gtu_input_fail_line(in, err, NULL, NULL, "edge %llu %llu is out of bounds: "
					   "vertices are 0 to %llu",
					   (unsigned long long)pair[0], (unsigned long long)pair[1],
					   (unsigned long long)header[0] - 1);
	if (raw->edges.m == header[1])
		return gtu_input_fail_line(in, err, NULL, NULL, "there are more edges than the "
					   "%llu of the first line",
					   (unsigned long long)header[1]);
	rc = gtu_edges_push(&raw->edges, pair[0], pair[1], err);
	if (!rc && raw->edges.weight_type)
		rc = gtu_edges_weight_f64(&raw->edges,
					  hypot(points->xy[2 * pair[0]] - points->xy[2 * pair[1]],
						points->xy[2 * pair[0] + 1] - points->xy[2 * pair[1] + 1]),
					  err);
	return rc;
}

static int read_coordinates(struct gtu_input *in, const struct gtu_read_options *opt,
			    struct gtu_graph **out, struct gtu_error *err)
{
	struct gtu_raw_graph raw = { .declared = true, .undirected = true };
	struct points points = { 0 };
	const uint8_t *p, *end;
	uint64_t header[2];
	bool have_header = false;
	int rc;

	*out = NULL;
	gtu_edges_init(&raw.edges, opt->weight_column >= 0);
	while ((rc = gtu_input_line(in, &p, &end, err)) > 0) {
		p = gtu_skip_blanks(p, end);
		if (p == end || *p == '#' || *p == '%')
			continue;
		if (have_header) {
			rc = read_line(in, header, &points, &raw, p, end, err);
		} else {
			rc = is_pair(p, end, header) ? 0 :
			     gtu_input_fail_line(in, err, p, end, "expected the numbers of vertices and edges");
			have_header = true;
		}
		if (rc)
			goto fail;
	}
	if (!rc && (!have_header || points.count < header[0] || raw.edges.m < header[1]))
		rc = gtu_fail(err, GTU_ERR_INPUT, "%s: cut short: %llu vertices and %llu edges of %llu and %llu",
			      in->path, (unsigned long long)points.count, (unsigned long long)raw.edges.m,
			      (unsigned long long)(have_header ? header[0] : 0),
			      (unsigned long long)(have_header ? header[1] : 0));
	if (rc)
		goto fail;
	free(points.xy);
	raw.n = header[0];
	return gtu_raw_finish(&raw, opt, in->progress, out, err);
fail:
	free(points.xy);
	gtu_edges_free(&raw.edges);
	return rc;
}

const struct gtu_reader gtu_reader_coordinates = { "edges with coordinates", detect, read_coordinates, false };
