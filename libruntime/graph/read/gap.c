// SPDX-License-Identifier: MIT
/*
 * Reader of serialized graphs of the GAP benchmark suite (github.com/sbeamer/gapbs, src/writer.h):
 * one byte "directed", i64 edges, i64 vertices, vertices + 1 i64 offsets, then the edges as i32; in
 * .wsg files an i32 weight follows each edge. All little-endian. The transpose, which follows in
 * directed graphs, is ignored.
 */
#include <stdlib.h>

#include "reader.h"

#define HEADER_BYTES 17

static bool detect(const struct gtu_input *in)
{
	return gtu_path_ends(in->path, ".sg");
}

static bool detect_weighted(const struct gtu_input *in)
{
	return gtu_path_ends(in->path, ".wsg");
}

/* Split {target, weight} pairs; weights stay integers if none is negative. */
static int split_pairs(struct gtu_graph *g, int32_t *pairs, bool weights, struct gtu_error *err)
{
	struct gtu_graph_backing *b = g->backing;
	bool negative = false;
	void *smaller;
	uint64_t e;

	if (weights) {
		for (e = 0; e < g->m; e++)
			negative |= pairs[2 * e + 1] < 0;
		g->weight_type = negative ? GTU_WEIGHT_F64 : GTU_WEIGHT_U32;
		g->weight = b->weight = gtu_array_alloc(g->m * gtu_weight_bytes(g->weight_type));
		if (!b->weight)
			return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for %llu weights",
					(unsigned long long)g->m);
		for (e = 0; e < g->m; e++)
			if (negative)
				((double *)b->weight)[e] = pairs[2 * e + 1];
			else
				((uint32_t *)b->weight)[e] = (uint32_t)pairs[2 * e + 1];
	}
	for (e = 0; e < g->m; e++)
		pairs[e] = pairs[2 * e];
	/* release half of the memory; if realloc() fails, keep it */
	b->col = pairs;
	smaller = realloc(pairs, g->m ? g->m * 4 : 1);
	if (smaller)
		b->col = smaller;
	return 0;
}

static int read_body(struct gtu_input *in, const struct gtu_read_options *opt, struct gtu_graph *g,
		     bool weighted, struct gtu_error *err)
{
	struct gtu_graph_backing *b = g->backing;
	uint8_t directed;
	int64_t count[2];
	int rc;

	rc = gtu_input_read(in, &directed, 1, "the header", err);
	if (!rc)
		rc = gtu_input_read(in, count, sizeof(count), "the header", err);
	if (rc)
		return rc;
	if (directed > 1 || count[0] < 0 || count[1] < 0 || count[1] > 1ll << 31)
		return gtu_input_fail_byte(in, err, 0,
					   "directed %u, %lld edges, %lld vertices are not a valid "
					   "header of a serialized graph",
					   directed, (long long)count[0], (long long)count[1]);
	g->m = g->stored = (uint64_t)count[0];
	g->n = (uint64_t)count[1];
	g->edge_bytes = 4;
	g->flags = directed ? GTU_GRAPH_DIRECTED : 0;
	gtu_graph_set_name(g, in->path);
	rc = gtu_input_array(in, g->n + 1, 8, &b->row, "row offsets", err);
	if (rc)
		return rc;
	g->row = b->row;
	rc = gtu_input_array(in, g->m, weighted ? 8 : 4, &b->col, "edges", err);
	if (!rc && weighted)
		rc = split_pairs(g, b->col, opt->weight_column >= 0, err);
	g->col = b->col;
	return rc ? rc : gtu_graph_check(g, in->progress, err);
}

static int read_graph(struct gtu_input *in, const struct gtu_read_options *opt, bool weighted,
		      struct gtu_graph **out, struct gtu_error *err)
{
	struct gtu_graph *g = gtu_graph_new();
	int rc;

	*out = NULL;
	if (!g)
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for a graph");
	rc = read_body(in, opt, g, weighted, err);
	if (rc) {
		gtu_graph_close(g);
		return rc;
	}
	*out = g;
	return gtu_graph_reshape(out, opt, in->progress, err);
}

static int read_gap(struct gtu_input *in, const struct gtu_read_options *opt, struct gtu_graph **out,
		    struct gtu_error *err)
{
	return read_graph(in, opt, false, out, err);
}

static int read_gap_weighted(struct gtu_input *in, const struct gtu_read_options *opt,
			     struct gtu_graph **out, struct gtu_error *err)
{
	return read_graph(in, opt, true, out, err);
}

const struct gtu_reader gtu_reader_gap = { "GAP .sg", detect, read_gap, true };
const struct gtu_reader gtu_reader_gap_weighted = { "GAP .wsg", detect_weighted, read_gap_weighted, true };
