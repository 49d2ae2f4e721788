// SPDX-License-Identifier: MIT
/*
 * Road maps as "V E", V lines "id x y", E lines "u v": each edge once, undirected, its length the
 * distance of its ends. Blank lines separate as they like.
 */
#include <math.h>
#include <stdlib.h>

#include "reader.h"
#include "scan.h"

struct points {
	uint64_t count, room;
	double *xy;
};

/* A line of three numbers whose first is @id. */
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
 * A header, then points numbered 0, 1, ... for as many lines as the window has (but for one that it may
 * cut), and a pair behind the last point if that is still in it: a weighted path after a header would
 * have to be longer than the window to be taken for this.
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
	if (points->count == points->room) {
		uint64_t room = points->room ? points->room * 2 : 1024;
		double *bigger = realloc(points->xy, room * 2 * sizeof(*bigger));

		if (!bigger)
			return gtu_fail(err, GTU_ERR_NOMEM, "no memory for %llu points", (unsigned long long)room);
		points->xy = bigger;
		points->room = room;
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
		return gtu_input_fail_line(in, err, NULL, NULL, "edge %llu %llu: there are vertices 0 to %llu",
					   (unsigned long long)pair[0], (unsigned long long)pair[1],
					   (unsigned long long)header[0] - 1);
	if (raw->edges.m == header[1])
		return gtu_input_fail_line(in, err, NULL, NULL, "more edges than the %llu of the first line",
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
