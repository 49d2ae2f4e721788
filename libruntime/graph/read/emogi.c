// SPDX-License-Identifier: MIT
/*
 * Reader of EMOGI's graphs (github.com/illinois-impact/EMOGI, README and bfs.cu). X.bel.col has the
 * row offsets, X.bel.dst the edge list, X.bel.val the weights. Each file starts with two u64: the
 * number of its elements, and one that is ignored. Offsets and edges are u64, weights u32, all
 * little-endian. A graph is named X.bel, which need not exist, or by one of the three files.
 */
#include <stdlib.h>

#include "reader.h"

#define HEADER_BYTES 16

static bool detect(const struct gtu_input *in)
{
	return gtu_path_ends(in->path, ".bel.col");
}

static int read_section(struct gtu_input *in, uint64_t bytes, const char *what, uint64_t *count, void **out,
			struct gtu_error *err)
{
	uint64_t header[HEADER_BYTES / 8];
	int rc;

	rc = gtu_input_read(in, header, sizeof(header), "the header", err);
	if (rc)
		return rc;
	*count = header[0];
	return gtu_input_array(in, *count, bytes, out, what, err);
}

static int read_edges(struct gtu_input *col, struct gtu_graph *g, const struct gtu_read_options *opt,
		      struct gtu_error *err)
{
	struct gtu_graph_backing *b = g->backing;
	struct gtu_input in;
	uint64_t count, e;
	uint64_t *wide;
	char *path;
	int rc;

	rc = gtu_input_companion(col, ".col", ".dst", &in, &path, err);
	if (!rc)
		rc = gtu_fail(err, GTU_ERR_INPUT, "%s: its .dst file is missing", col->path);
	if (rc < 0)
		return rc;
	rc = read_section(&in, 8, "edges", &count, &b->col, err);
	for (e = 0, wide = b->col; !rc && e < count; e++)
		if (wide[e] >= g->n)
			rc = gtu_input_fail_byte(&in, err, HEADER_BYTES + 8 * e,
						 "the target of edge %llu is vertex %llu, but "
						 "there are %llu",
						 (unsigned long long)e, (unsigned long long)wide[e],
						 (unsigned long long)g->n);
	gtu_input_close(&in);
	free(path);
	if (rc)
		return rc;
	g->m = g->stored = count;
	g->edge_bytes = 8;
	if (opt->edge_bytes != 8 && g->n <= 1ull << 32) {
		uint32_t *narrow = b->col;

		for (e = 0; e < count; e++)
			narrow[e] = (uint32_t)wide[e];
		narrow = realloc(b->col, count ? count * 4 : 1);
		b->col = narrow ? narrow : b->col;
		g->edge_bytes = 4;
	}
	g->col = b->col;
	return 0;
}

static int read_weights(struct gtu_input *col, struct gtu_graph *g, struct gtu_error *err)
{
	struct gtu_input in;
	uint64_t count;
	char *path;
	int rc;

	rc = gtu_input_companion(col, ".col", ".val", &in, &path, err);
	if (rc <= 0)
		return rc;
	rc = read_section(&in, 4, "weights", &count, &g->backing->weight, err);
	if (!rc && count != g->m)
		rc = gtu_input_fail_byte(&in, err, 0, "the file has %llu weights for %llu edges",
					 (unsigned long long)count,
					 (unsigned long long)g->m);
	gtu_input_close(&in);
	free(path);
	if (rc)
		return rc;
	g->weight = g->backing->weight;
	g->weight_type = GTU_WEIGHT_U32;
	return 0;
}

static int read_emogi(struct gtu_input *in, const struct gtu_read_options *opt, struct gtu_graph **out,
		      struct gtu_error *err)
{
	struct gtu_graph *g = gtu_graph_new();
	uint64_t count;
	int rc;

	*out = NULL;
	if (!g)
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for a graph");
	rc = read_section(in, 8, "row offsets", &count, &g->backing->row, err);
	if (!rc && !count)
		rc = gtu_input_fail_byte(in, err, 0, "there are 0 row offsets: even an empty graph "
					 "has one");
	if (!rc) {
		g->n = count - 1;
		g->row = g->backing->row;
		g->flags = GTU_GRAPH_DIRECTED;
		gtu_graph_set_name(g, in->path);
		rc = read_edges(in, g, opt, err);
	}
	if (!rc && opt->weight_column >= 0)
		rc = read_weights(in, g, err);
	if (!rc)
		rc = gtu_graph_check(g, in->progress, err);
	if (rc) {
		gtu_graph_close(g);
		return rc;
	}
	*out = g;
	return gtu_graph_reshape(out, opt, in->progress, err);
}

const struct gtu_reader gtu_reader_emogi = { "EMOGI .bel", detect, read_emogi, true };
