// SPDX-License-Identifier: MIT
/*
 * Reader of LDBC Graphalytics graphs (specification, section 2.2.3). X.v lists the vertices, one id
 * per line; X.e lists the edges "u v [weight]", an undirected one once. X.properties has the
 * direction; without it the caller must pass one. A graph is named by its .e file.
 */
#include <stdlib.h>

#include "reader.h"

/*
 * Detect by name only: without its .v file the content would silently be read as an edge list and
 * lose vertices. Formats recognized by their first bytes come earlier in the table.
 */
static bool detect(const struct gtu_input *in)
{
	return gtu_path_ends(in->path, ".e");
}

static int read_vertices(struct gtu_input *in, struct gtu_id_map *map, struct gtu_error *err)
{
	struct gtu_edge_list l; /* used as a growing list of ids: both columns hold the same id */
	const uint8_t *p, *end;
	const void *array;
	uint64_t id;
	int rc;

	memset(map, 0, sizeof(*map));
	gtu_edges_init(&l, false);
	while ((rc = gtu_input_line(in, &p, &end, err)) > 0) {
		p = gtu_skip_blanks(p, end);
		if (p == end || *p == '#')
			continue;
		rc = gtu_scan_u64(&p, end, &id) ? gtu_edges_push(&l, id, id, err) :
		     gtu_input_fail_line(in, err, p, end, "expected a vertex id (0 to 2^63 - 1)");
		if (rc)
			break;
	}
	array = l.src;
	if (!rc)
		rc = gtu_id_map_build(map, &array, 1, l.m, l.id_bytes, err);
	if (!rc && map->n != l.m) {
		rc = gtu_fail(err, GTU_ERR_INPUT, "%s: %llu of its %llu vertices are listed twice", in->path,
			      (unsigned long long)(l.m - map->n), (unsigned long long)l.m);
		gtu_id_map_free(map);
	}
	gtu_edges_free(&l);
	return rc;
}

/* graph.NAME.directed = true | false */
static int read_properties(struct gtu_input *in, bool *undirected, bool *said, struct gtu_error *err)
{
	static const char key[] = ".directed";
	const uint8_t *p, *end, *equals, *q;
	int rc;

	while ((rc = gtu_input_line(in, &p, &end, err)) > 0) {
		p = gtu_skip_blanks(p, end);
		equals = p == end || *p == '#' ? NULL : memchr(p, '=', (size_t)(end - p));
		if (!equals)
			continue;
		for (q = equals; q > p && gtu_is_blank(q[-1]); q--)
			;
		if ((size_t)(q - p) < sizeof(key) - 1 || memcmp(q - (sizeof(key) - 1), key, sizeof(key) - 1))
			continue;
		q = gtu_skip_blanks(equals + 1, end);
		*said = true;
		if ((size_t)(end - q) >= 5 && !memcmp(q, "false", 5))
			*undirected = true;
		else if ((size_t)(end - q) < 4 || memcmp(q, "true", 4))
			return gtu_input_fail_line(in, err, q, end, "expected 'true' or 'false'");
	}
	return rc;
}

static int read_edges(struct gtu_input *in, const struct gtu_id_map *map, int32_t weight_column,
		      struct gtu_raw_graph *raw, struct gtu_error *err)
{
	const uint8_t *p, *end;
	uint64_t id[2], v[2];
	bool number;
	int rc, i;

	while ((rc = gtu_input_line(in, &p, &end, err)) > 0) {
		p = gtu_skip_blanks(p, end);
		if (p == end || *p == '#')
			continue;
		for (i = 0; i < 2; i++, p = gtu_skip_separator(p, end)) {
			if (!gtu_scan_u64(&p, end, &id[i]))
				return gtu_input_fail_line(in, err, p, end, "expected a vertex id");
			v[i] = gtu_id_map_find(map, id[i]);
			if (gtu_unlikely(v[i] == GTU_NO_VERTEX))
				return gtu_input_fail_line(in, err, NULL, NULL,
							   "vertex %llu is not among the %llu of the .v file",
							   (unsigned long long)id[i], (unsigned long long)map->n);
			if (!map->ids) /* no gaps: keep the ids, gtu_raw_finish() subtracts the lowest */
				v[i] = id[i];
		}
		if (!raw->edges.m)
			gtu_edges_init(&raw->edges, weight_column > 0 || (weight_column == 0 && p < end));
		rc = gtu_edges_push(&raw->edges, v[0], v[1], err);
		if (!rc && raw->edges.weight_type) {
			for (i = 1; i < weight_column; i++)
				p = gtu_skip_separator(gtu_skip_column(p, end), end);
			rc = gtu_scan_weight(&raw->edges, &p, end, &number, err);
			if (!rc && !number)
				rc = gtu_input_fail_line(in, err, p, end, "expected a weight");
		}
		if (rc)
			return rc;
	}
	return rc;
}

static int read_ldbc(struct gtu_input *in, const struct gtu_read_options *opt, struct gtu_graph **out,
		     struct gtu_error *err)
{
	struct gtu_raw_graph raw = { .declared = true };
	struct gtu_input other;
	struct gtu_id_map map;
	bool said = opt->direction != GTU_AS_STORED;
	char *path;
	int rc;

	*out = NULL;
	rc = gtu_input_companion(in, ".e", ".v", &other, &path, err);
	if (!rc)
		return gtu_fail(err, GTU_ERR_INPUT, "%s: the .v file with the vertices of the LDBC "
				"graph is missing; "
				"if this is a plain edge list, use another suffix (.txt)",
				in->path);
	if (rc < 0)
		return rc;
	rc = read_vertices(&other, &map, err);
	gtu_input_close(&other);
	free(path);
	if (rc)
		return rc;
	rc = gtu_input_companion(in, ".e", ".properties", &other, &path, err);
	if (rc == 1) {
		rc = read_properties(&other, &raw.undirected, &said, err);
		gtu_input_close(&other);
		free(path);
	}
	if (rc >= 0 && !said)
		rc = gtu_fail(err, GTU_ERR_INPUT, "%s: the .properties file with "
			      "'graph.NAME.directed', the direction of the edges, is missing; "
			      "read it with --directed or --undirected", in->path);
	gtu_edges_init(&raw.edges, false);
	if (!rc)
		rc = read_edges(in, &map, opt->weight_column, &raw, err);
	if (rc) {
		gtu_edges_free(&raw.edges);
		gtu_id_map_free(&map);
		return rc;
	}
	raw.n = map.n;
	raw.ids = map.ids;
	raw.id_base = map.base;
	map.ids = NULL;
	gtu_id_map_free(&map);
	return gtu_raw_finish(&raw, opt, in->progress, out, err);
}

const struct gtu_reader gtu_reader_ldbc = { "LDBC Graphalytics", detect, read_ldbc, false };
