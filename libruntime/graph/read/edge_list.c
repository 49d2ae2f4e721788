// SPDX-License-Identifier: MIT
/*
 * SNAP-style edge lists: "u v" and perhaps more, blanks or commas, # and % comments. Any text may be one.
 * Vertices are the ids seen. The GAP benchmark suite's .el and .wel, which count from 0, have one for
 * every number up to the greatest.
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
