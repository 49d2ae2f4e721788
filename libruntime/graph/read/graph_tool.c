// SPDX-License-Identifier: MIT
/*
 * Reader of graph-tool's binary format, version 1 (graph-tool manual, "The gt file format"). Each
 * vertex has a count and that many neighbours, in the smallest width that holds a vertex; then
 * property maps follow. An undirected edge is listed once. Weights are the edge property "weight",
 * else "value".
 */
#include <math.h>
#include <stdlib.h>

#include "reader.h"

static const uint8_t magic[] = { 0xE2, 0x9B, 0xBE, ' ', 'g', 't' };

enum value_type { BOOL, INT16, INT32, INT64, DOUBLE, LONG_DOUBLE, STRING, VECTORS, STRINGS = 13, OBJECT };
static const uint8_t value_bytes[] = { 1, 2, 4, 8, 8, 16, 1 };

struct graph_tool {
	struct gtu_input *in;
	struct gtu_raw_graph raw;
	bool big_endian;
	int32_t column;			/* column of the weights among numeric edge properties, as in the options */
	int32_t seen;			/* numeric edge properties so far */
	int rank;			/* of the current weights: 0 none, 1 "value", 2 "weight" or the requested column */
};

static bool detect(const struct gtu_input *in)
{
	return (size_t)(in->end - in->cur) >= sizeof(magic) && !memcmp(in->cur, magic, sizeof(magic));
}

static int take(struct graph_tool *g, unsigned int bytes, uint64_t *value, const char *what,
		struct gtu_error *err)
{
	uint8_t b[8];
	unsigned int i;
	int rc;

	rc = gtu_input_read(g->in, b, bytes, what, err);
	*value = 0;
	for (i = 0; i < bytes && !rc; i++)
		*value |= (uint64_t)b[i] << 8 * (g->big_endian ? bytes - 1 - i : i);
	return rc;
}

static int read_header(struct graph_tool *g, struct gtu_error *err)
{
	uint64_t version, value;
	int rc;

	rc = gtu_input_skip(g->in, sizeof(magic), "the magic", err);
	if (!rc)
		rc = take(g, 1, &version, "the version", err);
	if (!rc)
		rc = take(g, 1, &value, "the byte order", err);
	if (rc)
		return rc;
	if (version != 1 || value > 1)
		return gtu_input_fail_byte(g->in, err, 6, "version %llu, byte order %llu is not "
					   "supported: only version 1, byte order 0 or 1",
					   (unsigned long long)version, (unsigned long long)value);
	g->big_endian = value;
	rc = take(g, 8, &value, "the comment", err);
	if (!rc)
		rc = gtu_input_skip(g->in, value, "the comment", err);
	if (!rc)
		rc = take(g, 1, &value, "the direction", err);
	g->raw.undirected = !value;
	if (!rc)
		rc = take(g, 8, &g->raw.n, "the number of vertices", err);
	if (!rc && g->raw.n >= GTU_ID_LIMIT)
		rc = gtu_input_fail_byte(g->in, err, gtu_input_offset(g->in) - 8, "%llu vertices "
					 "exceed 2^63",
					 (unsigned long long)g->raw.n);
	return rc;
}

static int read_edges(struct graph_tool *g, struct gtu_error *err)
{
	uint64_t n = g->raw.n, v, t, count;
	unsigned int bytes = n <= 1 << 8 ? 1 : n <= 1 << 16 ? 2 : n <= 1ull << 32 ? 4 : 8;
	int rc = 0;

	for (v = 0; v < n && !rc; v++) {
		rc = take(g, 8, &count, "the neighbours of a vertex", err);
		for (; count && !rc; count--) {
			rc = take(g, bytes, &t, "the neighbours of a vertex", err);
			if (!rc && t >= n)
				return gtu_input_fail_byte(g->in, err, gtu_input_offset(g->in) - bytes,
							   "vertex %llu has neighbour %llu, but "
							   "there are %llu vertices",
							   (unsigned long long)v, (unsigned long long)t,
							   (unsigned long long)n);
			if (!rc)
				rc = gtu_edges_push(&g->raw.edges, v, t, err);
		}
	}
	return rc;
}

static int skip_strings(struct graph_tool *g, uint64_t count, unsigned int bytes, struct gtu_error *err)
{
	uint64_t length;
	int rc = 0;

	for (; count && !rc; count--) {
		rc = take(g, 8, &length, "a property", err);
		if (!rc && length > UINT64_MAX / bytes)
			return gtu_input_fail_byte(g->in, err, gtu_input_offset(g->in) - 8,
						   "a value of %llu elements is too large for any "
						   "file",
						   (unsigned long long)length);
		if (!rc)
			rc = gtu_input_skip(g->in, length * bytes, "a property", err);
	}
	return rc;
}

static int skip_values(struct graph_tool *g, uint64_t count, uint64_t type, struct gtu_error *err)
{
	uint64_t strings;
	int rc = 0;

	if (type < STRING)
		return gtu_input_skip(g->in, count * value_bytes[type], "a property", err);
	if (type == STRING || type == OBJECT)
		return skip_strings(g, count, 1, err);
	if (type < STRINGS)
		return skip_strings(g, count, value_bytes[type - VECTORS], err);
	for (; count && !rc; count--) {
		rc = take(g, 8, &strings, "a property", err);
		if (!rc)
			rc = skip_strings(g, strings, 1, err);
	}
	return rc;
}

/* Integers outside u32, and real numbers, become doubles. */
static int read_weights(struct graph_tool *g, uint64_t type, struct gtu_error *err)
{
	struct gtu_edge_list *l = &g->raw.edges;
	unsigned int bytes = value_bytes[type];
	bool whole = type != DOUBLE;
	double *weight;
	uint64_t e, bits;
	int rc = 0;

	free(l->weight);
	l->weight_type = GTU_WEIGHT_NONE;
	l->weight = weight = malloc(l->m ? l->m * sizeof(*weight) : 1);
	if (!weight)
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for %llu weights",
				(unsigned long long)l->m);
	for (e = 0; e < l->m && !rc; e++) {
		rc = take(g, bytes, &bits, "the weights", err);
		if (type == DOUBLE) {
			memcpy(&weight[e], &bits, sizeof(bits));
		} else {
			/* Sign-extend. */
			int64_t x = (int64_t)(bits << (64 - 8 * bytes)) >> (64 - 8 * bytes);

			weight[e] = (double)x;
			whole &= x >= 0 && x <= UINT32_MAX;
		}
		if (!rc && isnan(weight[e]))
			return gtu_input_fail_byte(g->in, err, gtu_input_offset(g->in) - bytes,
						   "the weight of edge %llu is not a number", (unsigned long long)e);
	}
	for (e = 0; e < l->m && whole && !rc; e++)
		((uint32_t *)l->weight)[e] = (uint32_t)weight[e];
	l->weight_type = whole ? GTU_WEIGHT_U32 : GTU_WEIGHT_F64;
	return rc;
}

/* Priority of a numeric edge property of that name as weights; 0: not used. */
static int rank_of(struct graph_tool *g, const char *name)
{
	if (g->column)
		return g->column == g->seen ? 2 : 0;
	return !strcmp(name, "weight") ? 2 : !strcmp(name, "value") ? 1 : 0;
}

static int read_property(struct graph_tool *g, struct gtu_error *err)
{
	uint64_t key, length = 0, type = 0, keep;
	char name[16] = "";
	int rc, rank = 0;

	rc = take(g, 1, &key, "a property", err);
	if (!rc)
		rc = take(g, 8, &length, "a property's name", err);
	keep = length < sizeof(name) ? length : 0;
	if (!rc)
		rc = gtu_input_read(g->in, name, keep, "a property's name", err);
	if (!rc)
		rc = gtu_input_skip(g->in, length - keep, "a property's name", err);
	if (!rc)
		rc = take(g, 1, &type, "a property", err);
	if (rc)
		return rc;
	if (key > 2 || type > OBJECT)
		return gtu_input_fail_byte(g->in, err, gtu_input_offset(g->in) - 1,
					   "a property has key %llu and type %llu: known are keys "
					   "0 to 2 and types 0 to 14",
					   (unsigned long long)key, (unsigned long long)type);
	if (key == 2 && type >= INT16 && type <= DOUBLE) {
		g->seen++;
		rank = rank_of(g, name);
	}
	if (rank <= g->rank)
		return skip_values(g, key == 0 ? 1 : key == 1 ? g->raw.n : g->raw.edges.m, type, err);
	g->rank = rank;
	return read_weights(g, type, err);
}

static int read_graph_tool(struct gtu_input *in, const struct gtu_read_options *opt,
			   struct gtu_graph **out, struct gtu_error *err)
{
	struct graph_tool g = { .in = in, .raw = { .declared = true }, .column = opt->weight_column };
	uint64_t properties = 0;
	int rc;

	*out = NULL;
	gtu_edges_init(&g.raw.edges, false);
	rc = read_header(&g, err);
	if (!rc)
		rc = read_edges(&g, err);
	if (!rc && opt->weight_column >= 0)
		rc = take(&g, 8, &properties, "the number of properties", err);
	for (; properties && !rc; properties--)
		rc = read_property(&g, err);
	if (!rc && g.column > 0 && !g.rank)
		rc = gtu_fail(err, GTU_ERR_USAGE, "%s: the file has %d numeric edge properties, "
			      "but number %d was requested as weights",
			      in->path, g.seen, g.column);
	if (rc) {
		gtu_edges_free(&g.raw.edges);
		return rc;
	}
	return gtu_raw_finish(&g.raw, opt, in->progress, out, err);
}

const struct gtu_reader gtu_reader_graph_tool = { "graph-tool .gt", detect, read_graph_tool, true };
