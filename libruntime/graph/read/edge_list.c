// SPDX-License-Identifier: MIT
/*
 * Reader of SNAP-style edge lists: "u v" and optional columns, separated by blanks or commas, with
 * # and % comments. Any text may be one. Vertices are the ids that occur. In the GAP benchmark
 * suite's .el and .wel files, which count from 0, every number up to the greatest is a vertex.
 */
#include "reader.h"

static bool detect(const struct gtu_input *in)
{
	size_t bytes = (size_t)(in->end - in->cur);

	return bytes && !memchr(in->cur, 0, bytes < 4096 ? bytes : 4096);
}

static int read_edge_list(struct gtu_input *in, const struct gtu_read_options *opt,
			  struct gtu_graph **out, struct gtu_error *err)
{
	static const struct gtu_pairs plain, gap = { .counted = true };
	bool is_gap = gtu_path_ends(in->path, ".el") || gtu_path_ends(in->path, ".wel");

	return gtu_read_pairs(in, is_gap ? &gap : &plain, opt, out, err);
}

const struct gtu_reader gtu_reader_edge_list = { "edge list", detect, read_edge_list, false };
